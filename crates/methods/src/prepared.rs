//! Rows of an ordinary table, prepared: the columns that were chosen, as a method compares them, and the table that
//! they came from, by which clusters are explained.

use lehr_data::describe::{ColumnAccount, Facts, NumberFacts, Role, describe_columns};
use lehr_data::frame::{DataFrame, FrameColumn, Values, date};
use lehr_data::preparation::{ColumnUse, Missing, Preparation, Prepared, Wishes};
use lehr_data::stand_ins::without_stand_ins;
use lehr_data::{Error, Incomplete, Points};
use serde::Serialize;

use crate::isolated::isolated;
use crate::numbers::{counted, left_aligned, significant};
use crate::rows::Rows;

/// The table that prepared rows came from.
#[derive(Clone, Debug)]
pub struct Origin {
    /// All its columns; rows that were left out are not there.
    pub frame: DataFrame,
    /// What its columns are.
    pub accounts: Vec<ColumnAccount>,
    /// What became of them.
    pub preparation: Preparation,
    /// What was decided about the table and its rows, a sentence each.
    pub notes: Vec<String>,
}

/// Which columns of a table say what rows are called and what they weigh.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keys<'a> {
    /// The column of identifiers.
    pub id: Option<&'a str>,
    /// The column of weights.
    pub weights: Option<&'a str>,
}

/// A table whose columns have been described and decided on.
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

    /// Decides what becomes of them.
    ///
    /// # Errors
    /// Those of [`Preparation::new`].
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

    /// What the columns are, as people read it, where nothing was decided.
    pub fn text(&self) -> String {
        account_text(&self.accounts, None)
    }
}

/// A table of whose columns it is decided what becomes of them.
#[derive(Clone, Debug)]
pub struct Decided {
    frame: DataFrame,
    accounts: Vec<ColumnAccount>,
    preparation: Preparation,
}

impl Decided {
    /// What becomes of the columns.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// What the columns are and what becomes of them, a line each.
    pub fn text(&self) -> String {
        account_text(&self.accounts, Some(&self.preparation.uses))
    }

    /// The rows as a method takes them; `sets_aside` if rows that lie alone get the weight 0.
    ///
    /// # Errors
    /// Those of [`Preparation::apply`]; weights and identifiers that are none.
    pub fn rows(self, keys: Keys<'_>, sets_aside: bool) -> Result<Rows, Error> {
        let Self { frame, accounts, preparation } = self;
        let mut notes = frame.notes().to_vec();
        let prepared = preparation.apply(&frame)?;
        notes.extend(prepared.notes.iter().cloned());
        let Prepared { table, features, kept, filled, .. } = prepared;
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
        if sets_aside {
            let alone = isolated(&features, width);
            if !alone.is_empty() {
                let weights = weights.get_or_insert_with(|| vec![1.0; frame.rows()]);
                alone.iter().for_each(|row| weights[*row] = 0.0);
                notes.push(format!(
                    "{} of {} rows lie alone: they influence no cluster, and outliers.csv lists them",
                    alone.len(),
                    frame.rows()
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
        // A gap has the fill of its column where a method has no way for gaps, and in pictures.
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
        Ok(Rows::prepared(table, clustered, gaps, Origin { frame, accounts, preparation, notes }))
    }
}

/// The identifiers of the rows that are kept; numbers from 0 in the whole table where rows were left out.
fn ids(frame: &DataFrame, column: Option<&str>, kept: Option<&[usize]>) -> Result<Option<Vec<String>>, Error> {
    let Some(name) = column else { return Ok(kept.map(|kept| kept.iter().map(usize::to_string).collect())) };
    let all = frame.texts(name)?;
    Ok(Some(kept.map_or_else(|| all.clone(), |rows| rows.iter().map(|row| all[*row].clone()).collect())))
}

/// The weights of the rows that are kept.
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

/// What `summary.json` says of the columns.
#[derive(Serialize)]
pub(crate) struct ColumnFacts<'a> {
    #[serde(flatten)]
    account: &'a ColumnAccount,
    is_used: bool,
    how: &'a str,
}

impl Origin {
    /// A head, and a line for each column: name, role, how it was read, gaps, range, use.
    pub fn lines(&self) -> Vec<[String; 6]> {
        account_lines(&self.accounts, |index| Some(&self.preparation.uses[index].how))
    }

    /// What is known of each column and what became of it.
    pub(crate) fn column_facts(&self) -> Vec<ColumnFacts<'_>> {
        let uses = self.accounts.iter().zip(&self.preparation.uses);
        uses.map(|(account, used)| ColumnFacts { account, is_used: used.is_used, how: &used.how }).collect()
    }
}

/// What the columns of a table are, as people read it, a line each; with what becomes of them where that is decided.
///
/// # Panics
/// If there is not one use for each account.
///
/// # Example
/// ```
/// use lehr_data::describe::describe_columns;
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_methods::prepared::account_text;
/// let frame = DataFrame::new("t", vec![FrameColumn::numbers("height", vec![1.7, 1.8, f64::NAN, 1.6])])?;
/// let text = account_text(&describe_columns(&frame), None);
/// assert!(text.lines().nth(1).unwrap().contains("25 %"), "{text}");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn account_text(accounts: &[ColumnAccount], uses: Option<&[ColumnUse]>) -> String {
    left_aligned(&account_lines(accounts, |index| uses.map(|uses| &uses[index].how)))
}

/// The account of columns, a line each: name, role, how it was read, gaps, range, use.
fn account_lines<'a>(accounts: &[ColumnAccount], how: impl Fn(usize) -> Option<&'a String>) -> Vec<[String; 6]> {
    let mut lines = vec![["column", "role", "read as", "missing", "range", "use"].map(str::to_owned)];
    for (index, account) in accounts.iter().enumerate() {
        let missing = match account.missing {
            0 => "-".to_owned(),
            missing => format!("{} %", significant(100.0 * missing as f64 / account.rows as f64, 2)),
        };
        let how = how(index).or(account.reason.as_ref()).cloned().unwrap_or_default();
        let (role, read_as) = (account.role.to_string(), account.read_as.to_string());
        lines.push([account.name.clone(), role, read_as, missing, range(account), how]);
    }
    lines
}

/// From the smallest to the largest value; of texts, how many there are.
pub fn range(account: &ColumnAccount) -> String {
    match &account.facts {
        Facts::None => String::new(),
        Facts::Numbers(NumberFacts { low, high, .. }) => {
            format!("{} to {}", significant(*low, 3), significant(*high, 3))
        }
        Facts::Times { low, high } => format!("{} to {}", date(*low), date(*high)),
        Facts::Levels(levels) if account.role == Role::Constant => {
            levels.first().map(|(text, _)| text.clone()).unwrap_or_default()
        }
        Facts::Levels(_) => counted(account.distinct as u64, "text"),
    }
}
