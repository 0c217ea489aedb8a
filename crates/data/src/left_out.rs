//! Non-numeric columns of a table. If you choose no columns, Lehr leaves these columns out and reports each of
//! them.

use std::fmt;

use crate::error::quoted;
use crate::read::is_infinite;

/// A column that was left out because it has no numbers.
///
/// Displays as its name and the reason why it is not numeric, with an example.
///
/// # Example
/// ```
/// use lehr_data::read::{Selection, points_from};
/// let table = "site;share;area;note\nA;5%;20;\nB;high;30;\nC;low;40;\n";
/// let points = points_from(table.as_bytes(), "t.csv", &Selection::default())?;
/// assert_eq!(points.columns(), ["area"]);
/// let told: Vec<String> = points.left_out().iter().map(ToString::to_string).collect();
/// assert_eq!(told, ["site (\"A\")", "share (\"5%\", with a percent sign)", "note (empty)"]);
/// assert_eq!(points.left_out()[1].slip, Some("with a percent sign"));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The column's name in the data.
    pub column: String,
    /// The first value of the column; empty if there is none.
    pub example: String,
    /// The reason why this value is not a number, if the value is probably a mistake and not text
    /// ([`slip`](crate::read::slip)).
    pub slip: Option<&'static str>,
    /// The type of the values, if the file declares it and they are neither numbers nor text.
    pub kind: Option<String>,
}

impl LeftOut {
    /// Returns whether the column was probably left out by mistake: its values would be numbers except for a slip, are
    /// infinite, or are all missing.
    pub fn is_unexpected(&self) -> bool {
        self.slip.is_some() || (self.kind.is_none() && (self.example.is_empty() || is_infinite(&self.example)))
    }

    /// Returns notes on columns that were probably left out by mistake: numbers except for a slip, or columns without
    /// values.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{LeftOut, read::{Selection, points_from}};
    /// let points = points_from("x,share\n1,5%\n2,high\n3,low\n".as_bytes(), "t.csv", &Selection::default())?;
    /// let warning = LeftOut::warning(points.left_out()).unwrap();
    /// assert_eq!(warning, "left out share (\"5%\", with a percent sign)");
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn warning(left_out: &[Self]) -> Option<String> {
        let columns: Vec<String> =
            left_out.iter().filter(|left| left.is_unexpected()).map(ToString::to_string).collect();
        (!columns.is_empty()).then(|| format!("left out {}", columns.join(", ")))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, example, slip, kind } = self;
        let column = if column.is_empty() { "a column without a name" } else { column.as_str() };
        match (kind, slip) {
            (Some(kind), _) => write!(f, "{column} ({kind})"),
            (None, _) if example.is_empty() => write!(f, "{column} (empty)"),
            (None, None) => write!(f, "{column} ({})", quoted(example)),
            (None, Some(slip)) => write!(f, "{column} ({}, {slip})", quoted(example)),
        }
    }
}
