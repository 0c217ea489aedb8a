//! Rows of a table as methods of columns take them: chosen, scaled, perhaps with gaps; and the way back to the columns' own units.

use lehr_data::counter::{counts_rows, counts_rows_incomplete};
use lehr_data::scale::{Scale, Scaling, scales_differ, scales_differ_incomplete};
use lehr_data::{Incomplete, Points};

use crate::clustering::ColumnScale;
use crate::method::{Failure, Inputs};
use crate::table::Columns;

/// The name of the input.
pub(crate) const POINTS: &str = "points";

/// Rows, and what is known of them.
#[derive(Debug)]
pub(crate) struct Scaled {
    /// What the data set is called.
    pub name: String,
    /// One a row: the data set's, or the row's number.
    pub ids: Vec<String>,
    /// In the order of the rows' values.
    pub columns: Vec<String>,
    pub total_weight: f64,
    /// What their owner should know before trusting distances among them.
    pub warnings: Vec<String>,
    scaling: Scaling,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    Whole(Points),
    WithGaps(Incomplete),
}

fn scale_of(scale: ColumnScale) -> Scale {
    match scale {
        ColumnScale::None => Scale::None,
        ColumnScale::Std => Scale::Std,
        ColumnScale::Robust => Scale::Robust,
    }
}

impl Scaled {
    /// The rows of the input, all of whose values are there.
    ///
    /// # Errors
    /// [`Failure::Input`] for columns that are not there, and for values that cannot be meant, with their places.
    pub fn whole(inputs: &Inputs, columns: &Columns, scale: ColumnScale) -> Result<Self, Failure> {
        let name = inputs.dataset(POINTS).to_owned();
        let table = inputs.table(POINTS)?.points(&name, columns)?;
        let mut warnings: Vec<String> = match scale {
            ColumnScale::None => scales_differ(&table).into_iter().collect(),
            _ => Vec::new(),
        };
        warnings.extend(counts_rows(&table));
        let scaling = Scaling::fit(&table, scale_of(scale));
        Ok(Self {
            ids: table.ids().map_or_else(|| numbers(table.len()), <[String]>::to_vec),
            columns: table.columns().to_vec(),
            total_weight: table.total_weight(),
            warnings,
            rows: Rows::Whole(scaling.apply(&table)?),
            scaling,
            name,
        })
    }

    /// The same, or rows with missing values where the data set says that there may be some.
    ///
    /// # Errors
    /// As for [`whole`](Self::whole); weights are for rows without gaps.
    pub fn with_gaps(inputs: &Inputs, columns: &Columns, scale: ColumnScale) -> Result<Self, Failure> {
        let table = inputs.table(POINTS)?;
        if !table.has_gaps() {
            return Self::whole(inputs, columns, scale);
        }
        let name = inputs.dataset(POINTS).to_owned();
        if let Some(weights) = columns.weights.as_deref().or(table.weights()) {
            let reason = format!("{name}: weights: expected none of a data set with gaps, found {weights:?}");
            return Err(Failure::Input(reason));
        }
        let records = table.records(&name, columns)?;
        let mut warnings: Vec<String> = match scale {
            ColumnScale::None => scales_differ_incomplete(&records).into_iter().collect(),
            _ => Vec::new(),
        };
        warnings.extend(counts_rows_incomplete(&records));
        let scaling = Scaling::fit_incomplete(&records, scale_of(scale));
        let id = columns.id.as_deref().or(table.id());
        Ok(Self {
            ids: id.and_then(|id| table.texts(id)).unwrap_or_else(|| numbers(records.len())),
            columns: records.columns().to_vec(),
            total_weight: records.len() as f64,
            warnings,
            rows: Rows::WithGaps(scaling.apply_incomplete(&records)),
            scaling,
            name,
        })
    }

    /// The rows for a method that can do with gaps.
    pub fn input(&self) -> lehr_mining::Input<'_> {
        match &self.rows {
            Rows::Whole(points) => points.into(),
            Rows::WithGaps(records) => records.into(),
        }
    }

    /// A place among the scaled rows in the columns' own units.
    pub fn unscaled(&self, place: &[f64]) -> Vec<f64> {
        let mut place = place.to_vec();
        self.scaling.invert(&mut place);
        place
    }

    /// How many of a column's own units are one of the scaled.
    pub fn unit(&self, column: usize) -> f64 {
        if self.scaling.scale() == Scale::None { 1.0 } else { self.scaling.divisors()[column] }
    }

    /// Why the method has no result, with the name of the data set whose rows it is about.
    pub fn failure(&self, error: lehr_mining::Error) -> Failure {
        match error {
            // It names the data itself.
            lehr_mining::Error::Data(error) => error.into(),
            error => match Failure::from(error) {
                Failure::Input(reason) => Failure::Input(format!("{}: {reason}", self.name)),
                failure => failure,
            },
        }
    }
}

fn numbers(rows: usize) -> Vec<String> {
    (0..rows).map(|row| row.to_string()).collect()
}
