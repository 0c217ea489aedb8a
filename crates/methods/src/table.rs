//! Tables of results: named columns of equal length, which methods return to every front end.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use lehr_data::write::csv;
use lehr_mining::vector::OUTLIER;

/// The label of a row without any value, shown as an empty cell.
pub const UNLABELLED: u32 = u32::MAX - 1;

/// A column of a table of results.
#[derive(Clone, Debug, PartialEq)]
pub enum Column<'a> {
    /// The identifiers of the rows, or the row numbers from 0 if the data have no identifiers.
    Ids {
        /// The identifiers, if the data have any.
        given: Option<&'a [String]>,
        /// The number of rows.
        rows: usize,
    },
    /// Numbers.
    Numbers(Cow<'a, [f64]>),
    /// Numbers that are the weights of the rows.
    Weights(Vec<f64>),
    /// Cluster labels.
    Labels {
        /// The label of each row: [`OUTLIER`] for no cluster, which is shown as -1; [`UNLABELLED`] for a row without
        /// values.
        of_rows: Cow<'a, [u32]>,
        /// Whether rows may be in no cluster.
        may_be_none: bool,
    },
    /// Non-negative whole numbers.
    Counts(Vec<u64>),
    /// Text.
    Texts(Vec<String>),
}

impl Column<'_> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Ids { rows, .. } => *rows,
            Self::Numbers(values) => values.len(),
            Self::Weights(values) => values.len(),
            Self::Labels { of_rows, .. } => of_rows.len(),
            Self::Counts(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table of results.
///
/// # Example
/// ```
/// use lehr_methods::Table;
/// let table = Table::new("labels").ids(None, 2).counts("cluster", vec![1, 0]).numbers("probability", vec![0.5, 1.0]);
/// let mut text = Vec::new();
/// table.write_csv(&mut text)?;
/// assert_eq!(text, b"id,cluster,probability\n0,1,0.5\n1,0,1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table<'a> {
    /// The name of the table: the file name without its extension, and the output's name in a service.
    pub name: &'static str,
    /// The columns by name.
    pub columns: Vec<(String, Column<'a>)>,
    /// The rows without any value, in ascending order: their labels are [`UNLABELLED`], and their numbers are NaN.
    pub without_values: Vec<usize>,
}

impl<'a> Table<'a> {
    /// Creates a table without columns.
    pub fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new(), without_values: Vec::new() }
    }

    /// Adds the column `id`.
    pub fn ids(self, given: Option<&'a [String]>, rows: usize) -> Self {
        self.with("id", Column::Ids { given, rows })
    }

    /// Adds a column of numbers.
    pub fn numbers(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(name, Column::Numbers(values.into()))
    }

    /// Adds a column of numbers without copying them.
    pub fn borrowed(self, name: impl Into<String>, values: &'a [f64]) -> Self {
        self.with(name, Column::Numbers(values.into()))
    }

    /// Adds the column of weights.
    pub fn weights(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(name, Column::Weights(values))
    }

    /// Adds a column of cluster numbers.
    pub fn labels(self, name: impl Into<String>, of_rows: &'a [u32], may_be_none: bool) -> Self {
        self.with(name, Column::Labels { of_rows: of_rows.into(), may_be_none })
    }

    /// Leaves out the labels and the numbers of the rows without any value, which are in ascending order.
    pub fn without_values(mut self, rows: &[usize]) -> Self {
        if rows.is_empty() {
            return self;
        }
        for (_, column) in &mut self.columns {
            match column {
                Column::Labels { of_rows, .. } => {
                    let labels = of_rows.to_mut();
                    rows.iter().for_each(|row| labels[*row] = UNLABELLED);
                }
                Column::Numbers(values) => {
                    let values = values.to_mut();
                    rows.iter().for_each(|row| values[*row] = f64::NAN);
                }
                _ => {}
            }
        }
        self.without_values = rows.to_vec();
        self
    }

    /// Adds a column of counts.
    pub fn counts(self, name: impl Into<String>, values: Vec<u64>) -> Self {
        self.with(name, Column::Counts(values))
    }

    /// Adds a column of text.
    pub fn texts(self, name: impl Into<String>, values: Vec<String>) -> Self {
        self.with(name, Column::Texts(values))
    }

    fn with(mut self, name: impl Into<String>, column: Column<'a>) -> Self {
        self.columns.push((name.into(), column));
        self
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// If the table has a column of identifiers, returns them, or `Some(None)` if they are row numbers.
    pub fn row_ids(&self) -> Option<Option<&'a [String]>> {
        self.columns
            .iter()
            .find_map(|(_, column)| if let Column::Ids { given, .. } = column { Some(*given) } else { None })
    }

    /// Writes the table as CSV with a header. Numbers have the shortest form that reads back bit-identically. `out`
    /// should be buffered.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    ///
    /// # Panics
    /// Panics if the columns differ in length.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        let rows = self.rows();
        assert!(self.columns.iter().all(|(_, column)| column.len() == rows), "columns of one length");
        self.write_head(&mut out)?;
        self.write_rows(out, 0..rows, self.row_ids().flatten())
    }

    /// Writes the header.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_head(&self, out: impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        csv::Table::new(out, &names).map(|_| ())
    }

    /// Writes the rows of a range. `ids` has an identifier for each row of the range; without it, rows are numbered.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    ///
    /// # Panics
    /// Panics if there are too few rows or identifiers.
    pub fn write_rows(&self, out: impl Write, rows: Range<usize>, ids: Option<&[String]>) -> io::Result<()> {
        let mut table = csv::Table::rows(out, self.columns.len());
        let first = rows.start;
        for row in rows {
            for (_, column) in &self.columns {
                match (column, ids) {
                    (Column::Ids { .. }, Some(ids)) => table.text(&ids[row - first])?,
                    (Column::Ids { .. }, None) => table.count(row as u64)?,
                    (Column::Numbers(_), _) if self.without_values.binary_search(&row).is_ok() => table.text("")?,
                    (Column::Numbers(values), _) => table.number(values[row])?,
                    (Column::Weights(values), _) => table.number(values[row])?,
                    (Column::Labels { of_rows, .. }, _) => match shown_label(of_rows[row]) {
                        Some(label) => table.integer(label)?,
                        None => table.text("")?,
                    },
                    (Column::Counts(values), _) => table.count(values[row])?,
                    (Column::Texts(values), _) => table.text(&values[row])?,
                }
            }
            table.end_row()?;
        }
        Ok(())
    }
}

/// Returns a label in the form of results: the number of a cluster, -1 for no cluster, or `None` for a row without
/// values.
pub fn shown_label(label: u32) -> Option<i64> {
    match label {
        OUTLIER => Some(-1),
        UNLABELLED => None,
        label => Some(i64::from(label)),
    }
}
