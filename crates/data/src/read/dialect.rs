//! The detected format of a whole table, which is saved with the results.

use serde::{Deserialize, Serialize};

use super::{DateOrder, Encoding, TableForm};

/// How a table was read. A [`TableForm`] derived from it reads the next file of the same kind in the same way.
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
    /// The kind of file.
    pub format: Format,
    /// The character encoding.
    pub encoding: Encoding,
    /// The delimiter; a space means any run of spaces and tabs.
    pub delimiter: Option<char>,
    /// The number of lines above the header that are left out.
    pub skipped: usize,
    /// The number of rows that name the columns.
    pub header_rows: usize,
    /// The number of rows below the values that are left out.
    pub footer_rows: usize,
    /// The sheet of a workbook.
    pub sheet: Option<String>,
    /// The decimal separator of numbers, if a column shows it.
    pub decimal: Option<char>,
    /// The order of the parts of dates, if a column shows it.
    pub dates: Option<DateOrder>,
    /// The spellings of a missing value that the user requested, or the numbers that
    /// [`without_stand_ins`](crate::stand_ins::without_stand_ins) took as missing.
    pub missing: Vec<String>,
}

/// The kind of file that a table came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// Text with a delimiter between fields.
    #[default]
    Delimited,
    /// A JSON value on each line.
    JsonLines,
    /// A JSON array.
    Json,
    /// An Excel workbook.
    Xlsx,
    /// An Excel workbook in the old format.
    Xls,
    /// An OpenDocument spreadsheet.
    Ods,
    /// Parquet.
    Parquet,
    /// A NumPy array.
    Npy,
}

impl Dialect {
    /// Returns options to read the next table of the same kind. The position of its values is detected again.
    pub fn form(&self) -> TableForm {
        TableForm {
            delimiter: self.delimiter,
            header: Some(self.header_rows > 0),
            sheet: self.sheet.clone(),
            decimal: self.decimal,
            dates: self.dates,
            missing: self.missing.clone(),
            ..TableForm::default()
        }
    }
}
