//! The rows of an array or of columns during reading: checked one after the other, and assembled into points.

use lehr_spill::{Builder, Spill};

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::left_out::LeftOut;
use crate::points::{Points, total_weight_fault, weight_fault};

/// The names of the rows' columns, as messages and results call them.
pub(super) struct Layout {
    /// The values of the points, in their order.
    pub columns: Vec<Column>,
    /// The names in results.
    pub names: Vec<String>,
    pub weights: Option<Column>,
    pub has_ids: bool,
    pub left_out: Vec<LeftOut>,
}

/// One row, as the file has it.
pub(super) struct Row<'r> {
    /// In the order of the layout.
    pub values: &'r [f64],
    /// Whether each value is missing, and then the weight. Empty if there is no such place in the file.
    pub nulls: &'r [bool],
    pub weight: Option<f64>,
    pub id: Option<String>,
}

/// Takes rows in: the chosen ones, and the faults of others.
pub(super) struct Intake<'l> {
    layout: &'l Layout,
    faults: Faults,
    /// Rows that are behind.
    pub row: usize,
    values: Builder<f64>,
    weights: Vec<f64>,
    ids: Vec<String>,
    /// Whether rows of weight 0 are examined, and not kept.
    pub leaves_weightless: bool,
    /// Rows that are kept, or would be without a fault.
    pub kept: usize,
}

impl<'l> Intake<'l> {
    /// For this many rows, or 0 if unknown, of the data called `name` in messages. Their values are in memory, or in a
    /// file of a folder.
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
            // No row may do without its weight.
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
            // Nobody will ask for the values.
            return Ok(());
        }
        self.values.extend(row.values).map_err(|error| Error::kept(self.faults.name(), error))
    }

    /// Checks that the weights are not all 0, and have a sum.
    fn look_at_the_total_weight(&mut self) {
        if let (Some(column), true) = (&self.layout.weights, self.faults.is_empty())
            && let Some((expected, found)) = total_weight_fault(&self.weights, self.row)
        {
            self.faults.add(Fault { place: Place::Whole, column: Some(column.clone()), expected, found });
        }
    }

    /// The faults if no row was kept: those of the rows that were read. If `is_all` says that there are no other rows,
    /// also those of their weights.
    pub fn into_faults(mut self, is_all: bool) -> Result<(), Error> {
        if is_all {
            self.look_at_the_total_weight();
        }
        self.faults.or(())
    }

    /// The points, if nothing was wrong.
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
