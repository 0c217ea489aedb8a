//! Takes the rows of an array or of columns one by one, checks them, and assembles points.

use lehr_spill::{Builder, Spill};

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::left_out::LeftOut;
use crate::points::{Points, total_weight_fault, weight_fault};

/// The columns of the rows, as messages and results name them.
pub(super) struct Layout {
    /// The columns of the points, in order.
    pub columns: Vec<Column>,
    /// The names in results.
    pub names: Vec<String>,
    pub weights: Option<Column>,
    pub has_ids: bool,
    pub left_out: Vec<LeftOut>,
}

/// A row, as in the file.
pub(super) struct Row<'r> {
    /// The values, in the order of the layout.
    pub values: &'r [f64],
    /// Whether each value, and then the weight, is missing. Empty if the file cannot mark missing values.
    pub nulls: &'r [bool],
    pub weight: Option<f64>,
    pub id: Option<String>,
}

/// The chosen rows read so far, and the faults of the rows that were not accepted.
pub(super) struct Intake<'l> {
    layout: &'l Layout,
    faults: Faults,
    /// The number of rows read so far.
    pub row: usize,
    values: Builder<f64>,
    weights: Vec<f64>,
    ids: Vec<String>,
    /// Whether rows of weight 0 are checked but not kept.
    pub leaves_weightless: bool,
    /// The number of rows that are kept, plus the rows that a fault prevented from being kept.
    pub kept: usize,
}

impl<'l> Intake<'l> {
    /// Creates an intake for this many rows (0 if unknown) of the data that messages call `name`. The values are in
    /// memory, or in a file of a folder.
    pub fn new(name: &str, layout: &'l Layout, spill: Option<&Spill>, rows: usize) -> Result<Self, Error> {
        let values = Builder::new(spill, rows.saturating_mul(layout.columns.len()));
        let values = values.map_err(|error| Error::kept(name, error))?;
        let (weights, ids, leaves_weightless) = (Vec::new(), Vec::new(), false);
        Ok(Intake { layout, faults: Faults::new(name), row: 0, values, weights, ids, leaves_weightless, kept: 0 })
    }

    pub fn add(&mut self, row: Row<'_>) -> Result<(), Error> {
        let (place, faults) = (Place::Row(self.row as u64), &mut self.faults);
        let mut fault = |at: usize, column: &Column, expected: &str, value: f64| {
            let is_null = row.nulls.get(at) == Some(&true);
            let found = || if is_null { "no value".to_owned() } else { value.to_string() };
            let fault = || Fault { place, column: Some(column.clone()), expected: expected.into(), found: found() };
            // A row cannot have a missing weight.
            let is_gap = value.is_nan() && at < row.values.len();
            if is_gap { faults.add_gap_with(fault) } else { faults.add_with(fault) }
        };
        for (at, value) in row.values.iter().enumerate().filter(|(_, value)| !value.is_finite()) {
            fault(at, &self.layout.columns[at], "a finite number", *value);
        }
        self.row += 1;
        if let (Some(column), Some(weight)) = (&self.layout.weights, row.weight) {
            if let Some(expected) = weight_fault(weight) {
                fault(row.values.len(), column, expected, weight);
            }
            if self.leaves_weightless && weight == 0.0 {
                return Ok(());
            }
            self.weights.push(weight);
        }
        self.ids.extend(row.id);
        self.kept += 1;
        if !self.faults.is_empty() {
            // After a fault, the values are not needed.
            return Ok(());
        }
        self.values.extend(row.values).map_err(|error| Error::kept(self.faults.name(), error))
    }

    /// Checks that the weights are not all 0, and that their sum is finite.
    fn look_at_the_total_weight(&mut self) {
        if let (Some(column), true) = (&self.layout.weights, self.faults.is_empty())
            && let Some((expected, found)) = total_weight_fault(&self.weights, self.row)
        {
            self.faults.add(Fault { place: Place::Whole, column: Some(column.clone()), expected, found });
        }
    }

    /// Returns the faults of the rows that were read, if no row was kept. With `is_all`, these are all rows of the
    /// data, and the total weight is checked too.
    pub fn into_faults(mut self, is_all: bool) -> Result<(), Error> {
        if is_all {
            self.look_at_the_total_weight();
        }
        self.faults.or(())
    }

    /// Returns the points, if there are no faults.
    pub fn into_points(mut self) -> Result<Points, Error> {
        self.look_at_the_total_weight();
        let Layout { columns, names, weights, has_ids, left_out } = self.layout;
        let name = self.faults.name().to_owned();
        self.faults.or(())?;
        let points = Points::of_finite(self.values.finish()?, columns.len())?;
        let mut points = points.with_columns(names.clone())?.with_name(name).with_left_out(left_out.clone());
        if weights.is_some() {
            points = points.with_weights(self.weights)?;
        }
        if *has_ids {
            points = points.with_ids(self.ids)?;
        }
        Ok(points)
    }
}
