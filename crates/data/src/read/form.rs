//! Requests about the form of a table before it is read. Without a request, the reader detects the form and reports it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::frame::ReadAs;

/// How to read a table. Each field that is `None` or empty is detected from the file.
///
/// # Example
/// ```
/// use lehr_data::frame::Values;
/// use lehr_data::read::{TableForm, data_frame_from};
/// let table = "name,price\nA,\"1,234\"\nB,-999\n";
/// let form = TableForm { decimal: Some(','), missing: vec!["-999".into()], ..TableForm::default() };
/// let frame = data_frame_from(table.as_bytes(), "t.csv", &form)?;
/// let Values::Numbers(prices) = &frame.column("price").unwrap().values else { unreachable!() };
/// assert!(prices[0] == 1.234 && prices[1].is_nan());
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableForm {
    /// The delimiter; a space means any run of spaces and tabs.
    pub delimiter: Option<char>,
    /// Whether the columns are named above the values.
    pub header: Option<bool>,
    /// The character encoding.
    pub encoding: Option<Encoding>,
    /// The number of lines above the header that are left out.
    pub skip: Option<usize>,
    /// The sheet of a workbook: its name, or its number counted from 1.
    pub sheet: Option<String>,
    /// The decimal separator: `.` or `,`.
    pub decimal: Option<char>,
    /// The thousands separator.
    pub thousands: Option<char>,
    /// The order of the parts of dates such as `3/4/2021`.
    pub dates: Option<DateOrder>,
    /// How rows with too many or too few fields are handled. By default they are faults, unless all rows show the
    /// reason.
    pub ragged: Option<Ragged>,
    /// Further spellings of a missing value, such as `-999`.
    pub missing: Vec<String>,
    /// The names of columns to read as text, whatever they contain.
    pub text: Vec<String>,
    /// The names of columns to read as numbers, even if their values look like codes, dates, times or yes and no. Other
    /// values in them are faults.
    pub number: Vec<String>,
    /// How to read columns, by name, as a [`DataFrame`](crate::frame::DataFrame) reported for a table of the same kind.
    pub columns: BTreeMap<String, ReadAs>,
}

/// How rows with too many or too few fields are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ragged {
    /// Rows with too many or too few fields are left out, and reported.
    LeaveOut,
    /// Absent fields become missing values; rows with too many fields are faults.
    Fill,
}

/// The character encoding of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, little-endian.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, big-endian.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// Windows-1252, which includes Latin-1.
    #[serde(rename = "windows-1252")]
    Windows1252,
}

/// The order of the parts of dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// `23.04.2021`.
    DayFirst,
    /// `4/23/2021`.
    MonthFirst,
    /// `2021-04-23`.
    YearFirst,
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16 (lower byte first)",
            Self::Utf16Be => "UTF-16 (higher byte first)",
            Self::Windows1252 => "Windows-1252 (Latin-1)",
        })
    }
}
