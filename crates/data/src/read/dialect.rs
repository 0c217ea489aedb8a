//! What was found out about a whole table while it was read, to be saved with what is made of it.

use serde::{Deserialize, Serialize};

use super::{DateOrder, TableForm};

/// How a table was read. It makes a [`TableForm`] that reads the next file of the same kind in the same way.
///
/// # Example
/// ```
/// use lehr_data::read::{TableForm, data_frame_from};
/// let frame = data_frame_from("a;b\n1,5;x\n2,5;y\n".as_bytes(), "t.csv", &TableForm::default())?;
/// let dialect = frame.dialect().unwrap();
/// assert_eq!((dialect.delimiter, dialect.header_rows, dialect.decimal), (Some(';'), 1, Some(',')));
/// let saved = serde_json::to_string(dialect).unwrap();
/// assert_eq!(&serde_json::from_str::<lehr_data::read::Dialect>(&saved).unwrap(), dialect);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dialect {
    /// What stands between fields; a space stands for any run of spaces and tabs.
    pub delimiter: Option<char>,
    /// How many rows name the columns.
    pub header_rows: usize,
    /// What stands before the fraction of numbers, where a column shows it.
    pub decimal: Option<char>,
    /// The order of the parts of dates, where a column shows it.
    pub dates: Option<DateOrder>,
    /// Spellings of a missing value that were asked for.
    pub missing: Vec<String>,
}

impl Dialect {
    /// What is to be asked of the next table of the same kind. Where its values begin and end is found out again.
    pub fn form(&self) -> TableForm {
        TableForm {
            delimiter: self.delimiter,
            header: Some(self.header_rows > 0),
            decimal: self.decimal,
            dates: self.dates,
            missing: self.missing.clone(),
            ..TableForm::default()
        }
    }
}
