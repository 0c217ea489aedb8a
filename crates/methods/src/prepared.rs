//! Prepares the rows of an ordinary table. Keeps the chosen columns in the form that a method compares, and the source
//! table, from which clusters are explained.

use lehr_data::describe::{ColumnAccount, describe_columns};
use lehr_data::frame::{DataFrame, FrameColumn, Values};
use lehr_data::preparation::{Missing, Preparation, Prepared, Wishes};
use lehr_data::stand_ins::without_stand_ins;
use lehr_data::{Error, Incomplete, Points};

use crate::isolated::isolated;
use crate::numbers::counted;
use crate::origin::{Origin, account_text};
use crate::rows::Rows;

/// The maximum number of rows that a warning names.
const NAMED_MAX: usize = 10;

/// The columns of a table that hold the ids and the weights of rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<'a> {
    /// The column of identifiers.
    pub id: Option<&'a str>,
    /// The column of weights.
    pub weights: Option<&'a str>,
}

/// A table with a description of each column.
///
/// # Example
/// ```
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_data::preparation::Wishes;
/// use lehr_methods::prepared::{Described, Keys};
/// let columns = vec![
///     FrameColumn::numbers("height", vec![1.7, 1.8, f64::NAN, 1.6]),
///     FrameColumn::texts("name", ["A", "B", "C", "D"]),
/// ];
/// let described = Described::new(DataFrame::new("people.csv", columns)?, &Keys { id: Some("name"), weights: None });
/// let wishes = Wishes { is_auto: true, missing_of_method: lehr_data::preparation::Missing::Nearest, ..Wishes::default() };
/// let rows = described.prepare(&wishes)?.rows(Keys { id: Some("name"), weights: None }, false)?;
/// assert_eq!((rows.columns(), rows.ids().unwrap()[2].as_str()), (&["height".to_owned()][..], "C"));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Described {
    frame: DataFrame,
    accounts: Vec<ColumnAccount>,
    reserved: Vec<String>,
}

impl Described {
    /// Describes the columns of a table.
    pub fn new(frame: DataFrame, keys: &Keys<'_>) -> Self {
        let accounts = describe_columns(&frame);
        let reserved = keys.id.iter().chain(&keys.weights).map(|name| (*name).to_owned()).collect();
        Self { frame, accounts, reserved }
    }

    /// Decides how the columns are used.
    ///
    /// # Errors
    /// Returns the errors of [`Preparation::new`].
    pub fn prepare(self, wishes: &Wishes) -> Result<Decided, Error> {
        let Self { mut frame, mut accounts, reserved } = self;
        let wishes = Wishes { reserved, ..wishes.clone() };
        if wishes.is_auto {
            let numbers;
            (frame, numbers) = without_stand_ins(frame)?;
            if !numbers.is_empty() {
                accounts = describe_columns(&frame);
            }
        }
        let preparation = Preparation::of_accounts(&frame, &accounts, &wishes)?;
        Ok(Decided { frame, accounts, preparation })
    }

    /// Describes the columns in text, before their use is decided.
    pub fn text(&self) -> String {
        account_text(&self.accounts, None)
    }
}

/// A table with a decided use of each column.
#[derive(Clone, Debug)]
pub struct Decided {
    frame: DataFrame,
    accounts: Vec<ColumnAccount>,
    preparation: Preparation,
}

/// Returns a note on rows that equal earlier rows in every column, if there are any.
fn repeated(frame: &DataFrame) -> Option<String> {
    let repeated = frame.repeated_rows();
    let (row, first) = *repeated.first()?;
    let (rows, verb) = (counted(repeated.len() as u64, "row"), if repeated.len() == 1 { "repeats" } else { "repeat" });
    Some(format!(
        "{rows} of {} {verb} an earlier row in every column (row {} repeats row {}, for example); each counts as a row of its own",
        frame.rows(),
        row + 1,
        first + 1
    ))
}

impl Decided {
    /// Returns the use of the columns.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Describes the columns and their use, one per line.
    pub fn text(&self) -> String {
        account_text(&self.accounts, Some(&self.preparation.uses))
    }

    /// Returns the rows for a method. `sets_aside` says whether isolated rows get the weight 0.
    ///
    /// # Errors
    /// Returns the errors of [`Preparation::apply`], and errors for invalid weights and identifiers.
    pub fn rows(self, keys: Keys<'_>, sets_aside: bool) -> Result<Rows, Error> {
        let Self { frame, accounts, preparation } = self;
        let mut notes = frame.notes().to_vec();
        notes.extend(repeated(&frame));
        let prepared = preparation.apply(&frame)?;
        notes.extend(prepared.notes.iter().cloned());
        let Prepared { table, features, kept, filled, without_values, .. } = prepared;
        // If missing values stay, methods leave out rows without values themselves.
        let unlabelled = if preparation.missing == Missing::Skip { Vec::new() } else { without_values.clone() };
        if filled > 0 {
            notes.push(format!("filled {}, by --missing {}", counted(filled as u64, "gap"), preparation.missing));
        }
        let ids = ids(&frame, keys.id, kept.as_deref())?;
        let mut weights = weights(&frame, keys.weights, kept.as_deref())?;
        let frame = match kept {
            Some(rows) => frame.select(&rows),
            None => frame,
        };
        let width = preparation.features.len();
        let name = |row: &usize| ids.as_ref().map_or_else(|| row.to_string(), |ids| ids[*row].clone());
        let list = |rows: &[usize]| {
            let named = rows.iter().take(NAMED_MAX).map(name).collect::<Vec<_>>().join(", ");
            let more = rows.len().saturating_sub(NAMED_MAX);
            let id = if rows.len() == 1 { "id" } else { "ids" };
            if more > 0 { format!("{id} {named} and {more} more") } else { format!("{id} {named}") }
        };
        // All values of these rows are filled in, so the rows get the weight 0.
        if !unlabelled.is_empty() {
            let weights = weights.get_or_insert_with(|| vec![1.0; frame.rows()]);
            unlabelled.iter().for_each(|row| weights[*row] = 0.0);
            let (have, get) = if unlabelled.len() == 1 { ("has", "gets") } else { ("have", "get") };
            notes.push(format!(
                "{} {have} no value in any column used, and {get} no label: {}",
                counted(unlabelled.len() as u64, "row"),
                list(&unlabelled)
            ));
        }
        if sets_aside {
            // Rows without any value cannot be neighbours of other rows.
            let is_there = |row: &usize| without_values.binary_search(row).is_err();
            let there: Vec<usize> = (0..frame.rows()).filter(is_there).collect();
            let of_there: Vec<f64> = there.iter().flat_map(|row| &features[row * width..][..width]).copied().collect();
            let alone: Vec<usize> = isolated(&of_there, width).into_iter().map(|place| there[place]).collect();
            if !alone.is_empty() {
                let weights = weights.get_or_insert_with(|| vec![1.0; frame.rows()]);
                alone.iter().for_each(|row| weights[*row] = 0.0);
                let (lie, influence) = if alone.len() == 1 { ("lies", "influences") } else { ("lie", "influence") };
                notes.push(format!(
                    "{} of {} rows {lie} far from the nearest rows, and {influence} no cluster: {}",
                    alone.len(),
                    frame.rows(),
                    list(&alone)
                ));
            }
        }
        let names: Vec<String> = preparation.features.iter().map(|feature| feature.name.clone()).collect();
        let keeps_gaps = preparation.missing == Missing::Skip && table.iter().any(|value| value.is_nan());
        let gaps = if keeps_gaps {
            let gaps = Incomplete::named(features.clone(), names.clone(), frame.name())?;
            Some(if let Some(ids) = &ids { gaps.with_ids(ids.clone())? } else { gaps })
        } else {
            None
        };
        // For pictures, and for methods that do not support missing values, a missing value gets the filling of its
        // column.
        let filled = |values: Vec<f64>, fill: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let each = values.into_iter().enumerate();
            each.map(|(index, value)| if value.is_nan() { fill(index % width) } else { value }).collect()
        };
        let of = |index: usize| &preparation.features[index];
        let table = filled(table, &|index| of(index).fill);
        let features = filled(features, &|index| of(index).forward(of(index).fill));
        let points = |values: Vec<f64>| -> Result<Points, Error> {
            let mut points = Points::new(values, width)?.with_columns(names.clone())?.with_name(frame.name());
            if let Some(ids) = &ids {
                points = points.with_ids(ids.clone())?;
            }
            match &weights {
                Some(weights) => points.with_weights(weights.clone()),
                None => Ok(points),
            }
        };
        let (table, clustered) = (points(table)?, points(features)?);
        Ok(Rows::prepared(
            table,
            clustered,
            gaps,
            Origin { frame, accounts, preparation, without_values: unlabelled, notes },
        ))
    }
}

/// Returns the identifiers of the kept rows. If rows were left out, these are their numbers in the whole table.
fn ids(frame: &DataFrame, column: Option<&str>, kept: Option<&[usize]>) -> Result<Option<Vec<String>>, Error> {
    let Some(name) = column else { return Ok(kept.map(|kept| kept.iter().map(usize::to_string).collect())) };
    let all = frame.texts(name)?;
    Ok(Some(kept.map_or_else(|| all.clone(), |rows| rows.iter().map(|row| all[*row].clone()).collect())))
}

/// Returns the weights of the kept rows.
fn weights(frame: &DataFrame, column: Option<&str>, kept: Option<&[usize]>) -> Result<Option<Vec<f64>>, Error> {
    let Some(name) = column else { return Ok(None) };
    let column = named(frame, name)?;
    let Values::Numbers(values) = &column.values else {
        return Err(Error::Shape {
            what: format!("{}, column {name:?}", frame.name()),
            expected: "weights, which are numbers".into(),
            found: column.read_as.to_string(),
        });
    };
    Ok(Some(kept.map_or_else(|| values.clone(), |rows| rows.iter().map(|row| values[*row]).collect())))
}

fn named<'a>(frame: &'a DataFrame, name: &str) -> Result<&'a FrameColumn, Error> {
    frame.column(name).ok_or_else(|| Error::NoSuchColumns {
        name: frame.name().into(),
        wanted: vec![name.to_owned()],
        columns: frame.columns().iter().map(|column| column.name.clone()).collect(),
    })
}
