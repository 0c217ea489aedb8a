//! Columns of a table that are none of numbers: left out where nobody chose columns, and told, so that none is missed in silence.

use std::fmt;

use crate::error::quoted;

/// A column that was left out because there is no number in it.
///
/// It shows itself as its name and why it is none of numbers, by an example.
///
/// # Example
/// ```
/// use lehr_data::read::{Selection, points_from};
/// let table = "site;price;area;note\nA;3,14;20;\nB;2,5;30;\n";
/// let points = points_from(table.as_bytes(), "t.csv", &Selection::default())?;
/// assert_eq!(points.columns(), ["area"]);
/// let told: Vec<String> = points.left_out().iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["site (\"A\")", "price (\"3,14\", with a comma where numbers have a point)", "note (empty)"]);
/// assert!(points.left_out()[1].has_commas);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, as the data call it.
    pub column: String,
    /// The first value in it; empty if there is none.
    pub example: String,
    /// Whether that value would be a number if it had no commas: a mistake, most likely, and no text.
    pub has_commas: bool,
    /// What its values are, where the file says so and they are neither numbers nor text.
    pub kind: Option<String>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, example, has_commas, kind } = self;
        if let Some(kind) = kind {
            return write!(f, "{column} ({kind})");
        }
        match (example.is_empty(), has_commas) {
            (true, _) => write!(f, "{column} (empty)"),
            (false, false) => write!(f, "{column} ({})", quoted(example)),
            (false, true) => write!(f, "{column} ({}, with a comma where numbers have a point)", quoted(example)),
        }
    }
}
