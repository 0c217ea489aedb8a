//! An ordinary table: named columns of numbers, categories or times, with missing values.
//!
//! Methods take [`Points`](crate::Points): finite numbers, row by row. A [`DataFrame`] is the step before: the columns
//! of a spreadsheet or an export, each with a record of how it was read. A preparation then decides, and reports,
//! whether each column is used, left out, scaled or turned into several.

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::read::Dialect;

/// A table of typed columns.
///
/// # Example
/// ```
/// use lehr_data::frame::{Categories, DataFrame, FrameColumn, Values};
/// let age = FrameColumn::numbers("age", vec![41.0, f64::NAN, 37.0]);
/// let city = FrameColumn::texts("city", ["Bern", "", "Bern"].map(str::to_owned));
/// let frame = DataFrame::new("people.csv", vec![age, city])?;
/// assert_eq!((frame.rows(), frame.column("age").unwrap().missing()), (3, 1));
/// let Values::Categories(cities) = &frame.column("city").unwrap().values else { unreachable!() };
/// assert_eq!((cities.levels(), cities.code(1)), (&["Bern".to_owned()][..], None));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DataFrame {
    name: String,
    rows: usize,
    columns: Vec<FrameColumn>,
    /// Decisions about the whole table when it was read, one sentence each.
    notes: Vec<String>,
    dialect: Option<Dialect>,
}

/// A column of a [`DataFrame`].
#[derive(Clone, Debug, PartialEq)]
pub struct FrameColumn {
    /// The name of the column.
    pub name: String,
    /// The values of the column.
    pub values: Values,
    /// How the column was read.
    pub read_as: ReadAs,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; NaN means missing.
    Numbers(Vec<f64>),
    /// Texts, each with a code.
    Categories(Categories),
    /// Seconds since 1970-01-01 00:00 UTC; NaN means missing.
    Times(Vec<f64>),
}

/// The texts of a column; each different text is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Categories {
    /// The code of each row; [`Categories::MISSING`] means missing.
    codes: Vec<u32>,
    /// The different texts, in the order of their first occurrence.
    levels: Vec<String>,
}

/// How a column's text became its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ReadAs {
    /// Numbers in the notation of programming languages, or from a file with typed columns.
    #[default]
    Number,
    /// Numbers as people write them, for example with thousands separators, currencies or percent signs.
    WrittenNumber(NumberForm),
    /// Two words for yes and no; yes is 1 and no is 0.
    Truth {
        /// The word that became 1.
        yes: String,
        /// The word that became 0; empty if there is no such word.
        no: String,
    },
    /// Dates, perhaps with a time of day.
    Date {
        /// The order of the parts, such as `year-month-day` or `day.month.year`.
        form: String,
        /// Whether the dates have a time of day.
        has_time: bool,
    },
    /// Times of day, in seconds since midnight.
    TimeOfDay,
    /// Text.
    Text,
}

/// The notation of a column's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NumberForm {
    /// The decimal separator.
    pub decimal: char,
    /// The thousands separator.
    pub thousands: Option<char>,
    /// The symbol or code of the currency.
    pub currency: Option<String>,
    /// Whether the numbers are percentages; 1.7% becomes 1.7.
    pub is_percent: bool,
    /// Whether some values have a suffix such as K or M: $56.7M is 56,700,000.
    pub has_powers: bool,
    /// Whether each value may have any currency, a percent sign or neither, because the user asked for numbers.
    pub is_mixed: bool,
    /// Whether the values can be read in several ways, and neither the column nor the rest of the table shows which is
    /// right.
    pub is_ambiguous: bool,
}

impl Default for NumberForm {
    fn default() -> Self {
        Self {
            decimal: '.',
            thousands: None,
            currency: None,
            is_percent: false,
            has_powers: false,
            is_mixed: false,
            is_ambiguous: false,
        }
    }
}

impl fmt::Display for ReadAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number => write!(f, "number"),
            Self::WrittenNumber(form) => {
                write!(f, "number")?;
                if form.decimal != '.' {
                    write!(f, ", decimal {:?}", form.decimal)?;
                }
                if let Some(thousands) = form.thousands {
                    write!(f, ", thousands {thousands:?}")?;
                }
                if let Some(currency) = &form.currency {
                    write!(f, ", {currency}")?;
                }
                if form.is_percent {
                    write!(f, ", per cent")?;
                }
                if form.has_powers {
                    write!(f, ", K and M")?;
                }
                if form.is_mixed {
                    write!(f, ", of any currency or per cent")?;
                }
                if form.is_ambiguous {
                    write!(f, ", ambiguous")?;
                }
                Ok(())
            }
            Self::Truth { yes, no } if no.is_empty() => write!(f, "yes or no ({yes:?} is 1, an empty field is 0)"),
            Self::Truth { yes, no } => write!(f, "yes or no ({yes:?} is 1, {no:?} is 0)"),
            Self::Date { form, has_time: false } => write!(f, "date, {form}"),
            Self::Date { form, has_time: true } => write!(f, "date and time, {form}"),
            Self::TimeOfDay => write!(f, "time of day"),
            Self::Text => write!(f, "text"),
        }
    }
}

impl Categories {
    /// The code of a row without a text.
    pub const MISSING: u32 = u32::MAX;

    /// Creates categories from the texts of rows; an empty text means missing.
    pub fn of(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut known = HashMap::new();
        let mut categories = Self::default();
        for text in texts {
            let text = text.as_ref();
            let code = if text.is_empty() {
                Self::MISSING
            } else if let Some(code) = known.get(text) {
                *code
            } else {
                let code = categories.levels.len() as u32;
                categories.levels.push(text.to_owned());
                known.insert(text.to_owned(), code);
                code
            };
            categories.codes.push(code);
        }
        categories
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Returns the different texts.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// Returns the index of a row's text among [`levels`](Self::levels), if it has one.
    ///
    /// # Panics
    /// Panics if the row does not exist.
    pub fn code(&self, row: usize) -> Option<usize> {
        let code = self.codes[row];
        (code != Self::MISSING).then_some(code as usize)
    }

    /// Returns the text of a row; `None` if it is missing.
    ///
    /// # Panics
    /// Panics if the row does not exist.
    pub fn text(&self, row: usize) -> Option<&str> {
        self.code(row).map(|code| &*self.levels[code])
    }

    /// Returns the number of rows with each of the texts.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.levels.len()];
        (0..self.len()).filter_map(|row| self.code(row)).for_each(|code| counts[code] += 1);
        counts
    }
}

impl Values {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Times(values) => values.len(),
            Self::Categories(categories) => categories.len(),
        }
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether a row has no value.
    ///
    /// # Panics
    /// Panics if the row does not exist.
    pub fn is_missing(&self, row: usize) -> bool {
        match self {
            Self::Numbers(values) | Self::Times(values) => values[row].is_nan(),
            Self::Categories(categories) => categories.code(row).is_none(),
        }
    }
}

/// Formats a time: `2024-02-29`, with hours and minutes unless it is midnight.
///
/// # Example
/// ```
/// use lehr_data::frame::date;
/// assert_eq!(date(0.0), "1970-01-01");
/// assert_eq!(date(951_782_400.0 + 3600.0 * 13.5), "2000-02-29 13:30");
/// assert_eq!(date(-86_400.0), "1969-12-31");
/// ```
pub fn date(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as i64;
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = civil(days);
    let time = if minute == 0 { String::new() } else { format!(" {:02}:{:02}", minute / 60, minute % 60) };
    format!("{year:04}-{month:02}-{day:02}{time}")
}

/// Returns the year, month and day of a date, given the number of days since 1970-01-01.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    // Years begin in March, so that the leap day is the last day; eras of 400 years all have the same number of days.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    (year + 400 * era + i64::from(month >= 10), if month < 10 { month + 3 } else { month - 9 }, day)
}

impl FrameColumn {
    /// Creates a column of numbers; NaN means missing.
    pub fn numbers(name: &str, values: Vec<f64>) -> Self {
        Self { name: name.to_owned(), values: Values::Numbers(values), read_as: ReadAs::Number }
    }

    /// Creates a column of texts; an empty text means missing.
    pub fn texts(name: &str, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { name: name.to_owned(), values: Values::Categories(Categories::of(texts)), read_as: ReadAs::Text }
    }

    /// Returns the number of rows without a value.
    pub fn missing(&self) -> usize {
        (0..self.values.len()).filter(|row| self.values.is_missing(*row)).count()
    }
}

impl DataFrame {
    /// Creates a table from columns; messages call it `name`.
    ///
    /// # Errors
    /// Returns [`Error::Shape`](crate::Error::Shape) if the columns differ in length, and
    /// [`Error::Empty`](crate::Error::Empty) if there are no columns or rows.
    pub fn new(name: &str, columns: Vec<FrameColumn>) -> Result<Self, crate::Error> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        if rows == 0 {
            return Err(crate::Error::Empty { name: name.into(), found: "no rows" });
        }
        if let Some(column) = columns.iter().find(|column| column.values.len() != rows) {
            let (expected, found) = (format!("{rows} rows, as the first has"), column.values.len().to_string());
            let what = format!("{name}, column {:?}", column.name);
            return Err(crate::Error::Shape { what, expected, found });
        }
        Ok(Self { name: name.to_owned(), rows, columns, notes: Vec::new(), dialect: None })
    }

    /// Sets the decisions about the whole table when it was read.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Sets how the source file was read.
    pub fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect: Some(dialect), ..self }
    }

    /// Returns each row that equals an earlier row in every column, together with the earlier row. Missing values count
    /// as equal.
    ///
    /// Cost: a pass over all values, and a hash table lookup per row.
    pub fn repeated_rows(&self) -> Vec<(usize, usize)> {
        let key_of = |column: &FrameColumn, row: usize| match &column.values {
            // NaN takes one form, and -0 becomes 0.
            Values::Numbers(values) | Values::Times(values) if values[row].is_nan() => f64::NAN.to_bits(),
            Values::Numbers(values) | Values::Times(values) => (values[row] + 0.0).to_bits(),
            Values::Categories(texts) => texts.code(row).map_or(u64::MAX, |code| code as u64),
        };
        // Hash each row to one number: with whole rows as keys of `Duplicates`, hashing took as long as reading the
        // file. The factor is 2^64 divided by the golden ratio (Knuth).
        let mut hashes = vec![0u64; self.rows];
        for column in &self.columns {
            for (row, hash) in hashes.iter_mut().enumerate() {
                *hash = (hash.rotate_left(29) ^ key_of(column, row)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
        }
        let are_equal = |a: usize, b: usize| self.columns.iter().all(|column| key_of(column, a) == key_of(column, b));
        let mut first: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut repeated = Vec::new();
        for (row, hash) in hashes.into_iter().enumerate() {
            let known = first.entry(hash).or_default();
            match known.iter().find(|known| are_equal(**known, row)) {
                Some(same) => repeated.push((row, *same)),
                None => known.push(row),
            }
        }
        repeated
    }

    /// Checks that there is a column for each name.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchColumns`](crate::Error::NoSuchColumns) with the names that do not exist.
    pub fn expect_columns(&self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), crate::Error> {
        let missing = names.into_iter().filter(|name| self.column(name.as_ref()).is_none());
        let wanted: Vec<String> = missing.map(|name| name.as_ref().to_owned()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let columns = self.columns.iter().map(|column| column.name.clone()).collect();
        Err(crate::Error::NoSuchColumns { name: self.name.clone(), wanted, columns })
    }

    /// Returns the values of a column as texts, one for each row; a missing value becomes an empty text. Yes and no
    /// become the words of the file.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchColumns`](crate::Error::NoSuchColumns) if there is no such column.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, crate::Error> {
        self.expect_columns([name])?;
        let column = self.column(name).expect("it is there");
        let shown = |values: &[f64], text: &dyn Fn(f64) -> String| {
            values.iter().map(|value| if value.is_nan() { String::new() } else { text(*value) }).collect()
        };
        Ok(match (&column.values, &column.read_as) {
            (Values::Numbers(values), ReadAs::Truth { yes, no }) => {
                shown(values, &|value| if value == 0.0 { no.clone() } else { yes.clone() })
            }
            (Values::Numbers(values), _) => shown(values, &|value| value.to_string()),
            (Values::Times(values), _) => shown(values, &date),
            (Values::Categories(texts), _) => {
                (0..texts.len()).map(|row| texts.text(row).unwrap_or_default().to_owned()).collect()
            }
        })
    }

    /// Returns some of the rows, in the given order.
    ///
    /// # Panics
    /// Panics if a row does not exist, or if no row is given.
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "a table has at least one row");
        let of = |values: &[f64]| rows.iter().map(|row| values[*row]).collect();
        let columns = self.columns.iter().map(|column| {
            let values = match &column.values {
                Values::Numbers(values) => Values::Numbers(of(values)),
                Values::Times(values) => Values::Times(of(values)),
                Values::Categories(texts) => {
                    Values::Categories(Categories::of(rows.iter().map(|row| texts.text(*row).unwrap_or_default())))
                }
            };
            FrameColumn { name: column.name.clone(), values, read_as: column.read_as.clone() }
        });
        Self { rows: rows.len(), columns: columns.collect(), ..self.clone() }
    }

    /// Returns the name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of rows, at least 1.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns, in order.
    pub fn columns(&self) -> &[FrameColumn] {
        &self.columns
    }

    /// Returns the decisions about the whole table when it was read, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns how the source file was read, if there is one.
    pub fn dialect(&self) -> Option<&Dialect> {
        self.dialect.as_ref()
    }

    /// Returns the first column with the given name.
    pub fn column(&self, name: &str) -> Option<&FrameColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}
