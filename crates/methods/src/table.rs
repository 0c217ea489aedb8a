//! Tables of results: named columns of one length, as methods give them to every front end.

use std::io::{self, Write};

use lehr_data::write::csv;

/// A column of a table of results.
#[derive(Clone, Debug, PartialEq)]
pub enum Column<'a> {
    /// The identifiers of the rows: those given, or the rows' numbers from 0.
    Ids {
        /// The identifiers, if the data have some.
        given: Option<&'a [String]>,
        /// How many rows there are.
        rows: usize,
    },
    /// Numbers.
    Numbers(Vec<f64>),
    /// Whole numbers from 0 on.
    Counts(Vec<u64>),
    /// Text.
    Texts(Vec<String>),
}

impl Column<'_> {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Ids { rows, .. } => *rows,
            Self::Numbers(values) => values.len(),
            Self::Counts(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
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
    /// What it is called: the file's name without its ending, the output's name in a service.
    pub name: &'static str,
    /// The columns by name.
    pub columns: Vec<(String, Column<'a>)>,
}

impl<'a> Table<'a> {
    /// A table without columns.
    pub fn new(name: &'static str) -> Self {
        Self { name, columns: Vec::new() }
    }

    /// Adds the column `id`.
    pub fn ids(self, given: Option<&'a [String]>, rows: usize) -> Self {
        self.with("id", Column::Ids { given, rows })
    }

    /// Adds a column of numbers.
    pub fn numbers(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.with(name, Column::Numbers(values))
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

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes it as CSV, a header first; numbers in the shortest form that reads back as the same bits. `out` should be buffered.
    ///
    /// # Errors
    /// Those of `out`.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let rows = self.rows();
        assert!(self.columns.iter().all(|(_, column)| column.len() == rows), "columns of one length");
        let mut table = csv::Table::new(out, &names)?;
        for row in 0..rows {
            for (_, column) in &self.columns {
                match column {
                    Column::Ids { given: Some(ids), .. } => table.text(&ids[row])?,
                    Column::Ids { given: None, .. } => table.count(row as u64)?,
                    Column::Numbers(values) => table.number(values[row])?,
                    Column::Counts(values) => table.count(values[row])?,
                    Column::Texts(values) => table.text(&values[row])?,
                }
            }
            table.end_row()?;
        }
        Ok(())
    }
}
