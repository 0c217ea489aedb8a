//! Describes the columns of a table: the role, the range, the missing values and the skewness of each.
//!
//! A method needs numbers, and users need to know which columns these are. [`describe_columns`] examines each column
//! once and assigns it a role, so that users see the description before a method runs.

use std::collections::HashSet;
use std::fmt;

use lehr_numerics::compensated::Sum;
use serde::{Deserialize, Serialize};

use crate::frame::{Categories, DataFrame, FrameColumn, ReadAs, Values};
use crate::read::is_value;

/// The maximum number of different texts in a category, unless each text has many rows.
pub const LEVELS_MAX: usize = 50;

/// With more than [`LEVELS_MAX`] texts, a category needs at least `ROWS_A_LEVEL` rows for each, as with states or
/// makes. It has at most `LEVELS_AT_MOST` texts.
const ROWS_A_LEVEL: usize = 20;
const LEVELS_AT_MOST: usize = 200;

/// The number of a column's most frequent texts that its description lists.
const LEVELS_SHOWN: usize = 5;

/// The role of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum Role {
    /// Numbers that may be compared by their differences.
    Measure,
    /// Few different values without an order.
    Category,
    /// Dates or times.
    Date,
    /// Names or numbers that stand for something, such as keys, postcodes and row counters. They may repeat, and their
    /// differences mean nothing.
    Id,
    /// Texts that rarely repeat.
    Text,
    /// The same value in all rows.
    Constant,
    /// No value in any row.
    Empty,
    /// The same values as an earlier column.
    Duplicate {
        /// The name of the earlier column.
        of: String,
    },
}

/// The description of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnAccount {
    /// The name of the column.
    pub name: String,
    /// The role of the column.
    #[serde(flatten)]
    pub role: Role,
    /// The reason for the role, if the values alone do not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the text of the column was read.
    pub read_as: ReadAs,
    /// The number of rows in the table.
    pub rows: usize,
    /// The number of rows without a value.
    pub missing: usize,
    /// The number of different values.
    pub distinct: usize,
    /// The facts about the values.
    pub facts: Facts,
}

/// Facts about the values of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Facts {
    /// The column has no values.
    None,
    /// The column has numbers.
    Numbers(NumberFacts),
    /// The most frequent texts, each with its number of rows.
    Levels(Vec<(String, usize)>),
    /// Times as seconds since 1970-01-01 00:00 UTC.
    Times {
        /// The first time.
        low: f64,
        /// The last time.
        high: f64,
    },
}

/// Facts about numbers: range, centre and skewness. Each row counts once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberFacts {
    /// The smallest value of the column.
    pub low: f64,
    /// The largest value of the column.
    pub high: f64,
    /// The median.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The population standard deviation.
    pub deviation: f64,
    /// The mean cube of the standardised values: 0 for a symmetric distribution, positive for a long tail of large
    /// values.
    pub skewness: f64,
    /// The skewness of the logarithms, if no value is negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_skewness: Option<f64>,
    /// The number added before taking logarithms: 0 if all values are positive; otherwise 1 for whole numbers, and the
    /// smallest positive value for others.
    pub log_offset: f64,
    /// The few rows that account for nearly all of the variance, if there are such rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dominant: Option<Dominant>,
    /// Whether all values of the column are whole numbers.
    pub is_whole: bool,
}

/// A few rows that account for nearly all of a column's variance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dominant {
    /// The number of rows that account for nearly all of the variance.
    pub rows: usize,
    /// The share of these rows in the sum of squared differences from the mean.
    pub share: f64,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Measure => "measure",
            Self::Category => "category",
            Self::Date => "date",
            Self::Id => "id",
            Self::Text => "text",
            Self::Constant => "constant",
            Self::Empty => "empty",
            Self::Duplicate { of } => return write!(f, "the same as {of}"),
        })
    }
}

impl Dominant {
    /// Returns a clause such as `12 of 5060 rows make 99.8 % of its variance`.
    pub fn words(&self, rows: usize) -> String {
        let verb = if self.rows == 1 { "makes" } else { "make" };
        format!("{} of {rows} rows {verb} {:.1} % of its variance", self.rows, 100.0 * self.share)
    }
}

/// Describes the columns of a table, in their order.
///
/// Cost: a sort of each numeric column, a pass over each other column, and a comparison of each column with the earlier
/// columns.
///
/// # Example
/// ```
/// use lehr_data::describe::{Facts, Role, describe_columns};
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// let columns = vec![
///     FrameColumn::numbers("customer_id", vec![101.0, 102.0, 103.0, 104.0]),
///     FrameColumn::numbers("revenue", vec![10.0, 12.5, f64::NAN, 11.0]),
///     FrameColumn::texts("country", ["DE", "CH", "DE", "DE"]),
/// ];
/// let accounts = describe_columns(&DataFrame::new("shop.csv", columns)?);
/// assert_eq!(accounts.iter().map(|account| &account.role).collect::<Vec<_>>(), [&Role::Id, &Role::Measure, &Role::Category]);
/// assert_eq!((accounts[1].missing, accounts[2].distinct), (1, 2));
/// let Facts::Numbers(facts) = &accounts[1].facts else { unreachable!() };
/// assert_eq!((facts.low, facts.median, facts.high), (10.0, 11.0, 12.5));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn describe_columns(frame: &DataFrame) -> Vec<ColumnAccount> {
    let mut accounts: Vec<ColumnAccount> = Vec::new();
    for (index, column) in frame.columns().iter().enumerate() {
        let mut account = account_of(column);
        let before = &frame.columns()[..index];
        let is_told = matches!(account.role, Role::Constant | Role::Empty);
        if let Some(same) = before.iter().find(|before| !is_told && are_same(&before.values, &column.values)) {
            account.role = Role::Duplicate { of: same.name.clone() };
            account.reason = None;
        }
        accounts.push(account);
    }
    accounts
}

fn account_of(column: &FrameColumn) -> ColumnAccount {
    let rows = column.values.len();
    let missing = column.missing();
    let (distinct, facts) = match &column.values {
        Values::Numbers(values) => of_numbers(values),
        Values::Categories(categories) => of_categories(categories),
        Values::Times(values) => of_times(values),
    };
    let (role, reason) = role(column, rows - missing, distinct, &facts);
    let (name, read_as) = (column.name.clone(), column.read_as.clone());
    ColumnAccount { name, role, reason, read_as, rows, missing, distinct, facts }
}

/// Returns the role of a column, and the reason if its values alone do not show it.
fn role(column: &FrameColumn, present: usize, distinct: usize, facts: &Facts) -> (Role, Option<String>) {
    if present == 0 {
        return (Role::Empty, None);
    }
    // A single row is not enough to call a column constant.
    if distinct == 1 && present > 1 {
        return (Role::Constant, None);
    }
    if column.read_as == ReadAs::TimeOfDay {
        return (Role::Date, Some("times of day".to_owned()));
    }
    match (&column.values, facts) {
        (Values::Times(_), _) => (Role::Date, None),
        (Values::Numbers(values), Facts::Numbers(facts)) => role_of_numbers(column, values, present, distinct, facts),
        (Values::Categories(categories), _) => role_of_texts(column, categories, present, distinct),
        _ => (Role::Measure, None),
    }
}

fn role_of_numbers(
    column: &FrameColumn,
    values: &[f64],
    present: usize,
    distinct: usize,
    facts: &NumberFacts,
) -> (Role, Option<String>) {
    if let ReadAs::Truth { .. } = column.read_as {
        return (Role::Category, Some("yes or no".to_owned()));
    }
    let is_of_each_row = facts.is_whole && distinct == present && present > 2;
    if is_of_each_row && is_called(&column.name, &ID_WORDS) {
        return (Role::Id, Some("a different whole number in each row, and a name of identifiers".to_owned()));
    }
    let there = || values.iter().filter(|value| !value.is_nan());
    if is_of_each_row && present > 9 && there().zip(there().skip(1)).all(|(a, b)| b - a == 1.0) {
        return (Role::Id, Some("it counts the rows".to_owned()));
    }
    if facts.is_whole && present > 9 && counts_within_parts(there()) {
        return (Role::Id, Some("it counts rows, and begins again".to_owned()));
    }
    if facts.is_whole && is_called(&column.name, &CODE_WORDS) {
        return (Role::Id, Some("numbers that name something, by the column's name".to_owned()));
    }
    if distinct == 2 && facts.low == 0.0 && facts.high == 1.0 {
        return (Role::Category, Some("0 and 1 only".to_owned()));
    }
    (Role::Measure, None)
}

/// Returns whether values rise by one from row to row, and start again at 0 or 1 in a few places. Such a column numbers
/// the rows within parts of the table.
fn counts_within_parts<'v>(mut values: impl Iterator<Item = &'v f64>) -> bool {
    const PARTS: usize = 20;
    let Some(first) = values.next() else { return false };
    let (mut before, mut count, mut parts) = (*first, 1usize, 1usize);
    for value in values {
        if *value == *first {
            parts += 1;
        } else if *value != before + 1.0 {
            return false;
        }
        before = *value;
        count += 1;
    }
    (*first == 0.0 || *first == 1.0) && count >= PARTS * parts
}

fn role_of_texts(
    column: &FrameColumn,
    categories: &Categories,
    present: usize,
    distinct: usize,
) -> (Role, Option<String>) {
    if are_nearly_values(categories) {
        return (Role::Text, Some("most of its texts are numbers or dates, and it is read as text".to_owned()));
    }
    if distinct == present && present > 2 {
        let words: usize = categories.levels().iter().map(|text| text.split_whitespace().count()).sum();
        let is_short = words <= 3 * distinct;
        let role = if is_short || is_called(&column.name, &ID_WORDS) { Role::Id } else { Role::Text };
        return (role, Some("a different text in each row".to_owned()));
    }
    let is_often = distinct <= LEVELS_MAX || distinct <= LEVELS_AT_MOST && present >= ROWS_A_LEVEL * distinct;
    if !is_often || 2 * distinct > present && present > 10 {
        // A few rows that were entered twice may have the same key.
        let names_most = 10 * distinct >= 9 * present;
        let hint = if names_most { "; --id names the rows by it" } else { "" };
        return (Role::Text, Some(format!("{distinct} different texts in {present} rows{hint}")));
    }
    (Role::Category, None)
}

/// Returns whether most texts are numbers or dates but not codes. Codes are all digits, or have leading zeros.
fn are_nearly_values(categories: &Categories) -> bool {
    let is_code = |text: &&String| {
        let mut letters = text.bytes();
        letters.next() == Some(b'0') && letters.next().is_some_and(|second| second.is_ascii_digit())
    };
    let are_digits = |text: &String| text.bytes().all(|letter| letter.is_ascii_digit());
    let levels = categories.levels();
    // Most text columns fail this test.
    let has_digit = |text: &&String| text.bytes().any(|letter| letter.is_ascii_digit());
    if 2 * levels.iter().filter(has_digit).count() <= levels.len() || levels.iter().all(are_digits) {
        return false;
    }
    !levels.iter().any(|text| is_code(&text)) && 2 * levels.iter().filter(|text| is_value(text)).count() > levels.len()
}

/// Words in the names of columns that identify rows.
const ID_WORDS: [&str; 12] =
    ["id", "ids", "key", "no", "nr", "number", "nummer", "uuid", "guid", "index", "code", "identifier"];
/// Words in the names of columns whose numbers are not measures.
const CODE_WORDS: [&str; 12] =
    ["id", "zip", "zipcode", "plz", "postcode", "postal", "phone", "tel", "telefon", "fips", "geoid", "isbn"];

/// Returns whether a name equals, begins with or ends with one of `words`: `customer_id`, `CustomerID`, `id`,
/// `zip code`.
fn is_called(name: &str, words: &[&str]) -> bool {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for letter in name.trim().chars() {
        let begins_word = letter.is_uppercase() && was_lower;
        if !letter.is_alphanumeric() || begins_word {
            parts.push(String::new());
        }
        if letter.is_alphanumeric() {
            let last = parts.last_mut().expect("there is always one");
            last.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    parts.retain(|part| !part.is_empty());
    let is_word = |part: Option<&String>| part.is_some_and(|part| words.contains(&&**part));
    is_word(parts.first()) || is_word(parts.last())
}

fn are_same(left: &Values, right: &Values) -> bool {
    match (left, right) {
        (Values::Numbers(a), Values::Numbers(b)) | (Values::Times(a), Values::Times(b)) => {
            a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan())
        }
        // Codes number texts in the order of first occurrence, so equal columns have equal codes.
        (Values::Categories(a), Values::Categories(b)) => a == b,
        _ => false,
    }
}

fn of_categories(categories: &Categories) -> (usize, Facts) {
    let counts = categories.counts();
    let mut levels: Vec<(String, usize)> = categories.levels().iter().cloned().zip(counts).collect();
    levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    levels.truncate(LEVELS_SHOWN);
    let facts = if levels.is_empty() { Facts::None } else { Facts::Levels(levels) };
    (categories.levels().len(), facts)
}

fn of_times(values: &[f64]) -> (usize, Facts) {
    let present = || values.iter().copied().filter(|value| !value.is_nan());
    let distinct: HashSet<u64> = present().map(f64::to_bits).collect();
    if distinct.is_empty() {
        return (0, Facts::None);
    }
    let (low, high) = (present().fold(f64::INFINITY, f64::min), present().fold(f64::NEG_INFINITY, f64::max));
    (distinct.len(), Facts::Times { low, high })
}

fn of_numbers(values: &[f64]) -> (usize, Facts) {
    let sorted = sorted(values.iter().copied());
    if sorted.is_empty() {
        return (0, Facts::None);
    }
    let distinct = 1 + sorted.windows(2).filter(|pair| pair[0] != pair[1]).count();
    (distinct, Facts::Numbers(NumberFacts::of_sorted(&sorted)))
}

/// Returns the values that are not missing, in ascending order, with -0 as 0.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

impl NumberFacts {
    /// Returns the facts about values, some of which may be missing (NaN); `None` if all are missing.
    pub(crate) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        (!sorted.is_empty()).then(|| Self::of_sorted(&sorted))
    }

    /// Returns the facts about at least one value in ascending order.
    fn of_sorted(sorted: &[f64]) -> Self {
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        let moments = Moments::of(sorted.iter().copied());
        let is_whole = sorted.iter().all(|value| value.fract() == 0.0);
        let least = sorted.iter().copied().find(|value| *value > 0.0);
        let log_offset = match least {
            Some(least) if low <= 0.0 && !is_whole => least,
            _ => f64::from(u8::from(low <= 0.0)),
        };
        let log_skewness = (low >= 0.0 && high > low).then(|| {
            let logs = sorted.iter().map(|x| lehr_numerics::elementary::ln(x + log_offset));
            Moments::of(logs).skewness
        });
        Self {
            low,
            high,
            median: median_of_sorted(sorted),
            mean: moments.mean,
            deviation: moments.deviation,
            skewness: moments.skewness,
            log_skewness,
            dominant: dominant(sorted, moments.mean),
            log_offset,
            is_whole,
        }
    }
}

/// Returns the median of values in ascending order.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { sorted[middle - 1] / 2.0 + sorted[middle] / 2.0 }
}

struct Moments {
    mean: f64,
    deviation: f64,
    skewness: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let largest = values.clone().fold(0.0f64, |most, value| most.max(value.abs()));
        if largest == 0.0 {
            return Self { mean: 0.0, deviation: 0.0, skewness: 0.0 };
        }
        // Scale values to about 1, so that no cube overflows.
        let scaled = || values.clone().map(|value| value / largest);
        let mean = sum(scaled()) / count;
        let power = |n: i32| sum(scaled().map(|value| (value - mean).powi(n))) / count;
        let variance = power(2);
        let deviation = variance.sqrt();
        // Smaller deviations are only rounding errors.
        let is_spread = deviation > 1e-12 * mean.abs();
        let skewness = if is_spread { power(3) / (variance * deviation) } else { 0.0 };
        Self { mean: mean * largest, deviation: deviation * largest, skewness }
    }
}

fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    values.for_each(|value| sum.add(value));
    sum.value()
}

/// Returns the smallest number of rows that account for nine tenths of the variance, if it is at most 1 % of all rows.
fn dominant(sorted: &[f64], mean: f64) -> Option<Dominant> {
    const SHARE: f64 = 0.9;
    const ROWS: usize = 100;
    let most = sorted.len() / ROWS;
    let far = sorted.iter().fold(0.0f64, |most, value| most.max((value - mean).abs()));
    if most == 0 || far == 0.0 || !far.is_finite() {
        return None;
    }
    let square = |value: &f64| ((value - mean) / far).powi(2);
    let total = sum(sorted.iter().map(square));
    // The farthest values are at the two ends.
    let (mut low, mut high, mut farthest) = (0, sorted.len(), 0.0);
    for rows in 1..=most {
        if square(&sorted[low]) > square(&sorted[high - 1]) {
            farthest += square(&sorted[low]);
            low += 1;
        } else {
            high -= 1;
            farthest += square(&sorted[high]);
        }
        if farthest >= SHARE * total {
            return Some(Dominant { rows, share: farthest / total });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accounts(columns: Vec<FrameColumn>) -> Vec<ColumnAccount> {
        describe_columns(&DataFrame::new("t", columns).unwrap())
    }

    fn numbers(account: &ColumnAccount) -> &NumberFacts {
        let Facts::Numbers(facts) = &account.facts else { panic!("{account:?}") };
        facts
    }

    #[test]
    fn roles_follow_from_values_and_names() {
        let count = 40usize;
        let of = |name: &str, value: fn(usize) -> f64| FrameColumn::numbers(name, (0..count).map(value).collect());
        let texts = |name: &str, value: fn(usize) -> String| FrameColumn::texts(name, (0..count).map(value));
        let columns = vec![
            of("row", |row| row as f64 + 1.0),
            of("CustomerID", |row| (row * 7 % 40) as f64),
            of("price", |row| (row * 7 % 40) as f64 + 0.5),
            of("sold", |row| (row * 7 % 40) as f64 + 1.0),
            of("zip code", |row| 8000.0 + (row % 9) as f64),
            of("member", |row| (row % 2) as f64),
            of("year", |_| 2024.0),
            of("none", |_| f64::NAN),
            texts("city", |row| ["Bern", "Basel"][row % 2].to_owned()),
            texts("name", |row| format!("Muster {row}")),
            texts("remark", |row| format!("this is what somebody wrote about {row}")),
            texts("street", |row| format!("Street {}", row / 2)),
            texts("town", |row| ["Bern", "Basel"][row % 2].to_owned()),
            of("sample", |row| (row % 20) as f64 + 1.0),
            of("weekday", |row| (row % 7) as f64),
        ];
        let same = Role::Duplicate { of: "city".into() };
        let roles: Vec<Role> = accounts(columns).into_iter().map(|account| account.role).collect();
        use Role::{Category, Constant, Empty, Id, Measure, Text};
        assert_eq!(
            roles,
            [Id, Id, Measure, Measure, Id, Category, Constant, Empty, Category, Id, Text, Category, same, Id, Measure]
        );
    }

    #[test]
    fn a_key_of_rows_that_were_entered_twice_is_told_to_be_one() {
        let key = FrameColumn::texts("key", (0..40).map(|row| format!("C{}", row % 37)));
        let account = accounts(vec![key]).remove(0);
        let told = "37 different texts in 40 rows; --id names the rows by it".to_owned();
        assert_eq!((account.role, account.reason), (Role::Text, Some(told)));
    }

    #[test]
    fn a_few_rows_that_make_the_variance_are_counted() {
        let mut values: Vec<f64> = (0..1000).map(|row| f64::from(row % 10)).collect();
        values[3] = 1e6;
        values[500] = -1e6;
        let found = accounts(vec![FrameColumn::numbers("x", values.clone())]);
        let dominant = numbers(&found[0]).dominant.unwrap();
        assert_eq!(dominant.rows, 2);
        assert!(dominant.share > 0.999 && dominant.share <= 1.0);
        values[3] = 1.0;
        values[500] = 1.0;
        assert_eq!(numbers(&accounts(vec![FrameColumn::numbers("x", values)])[0]).dominant, None);
    }

    #[test]
    fn skewness_is_the_standardised_third_moment() {
        // For 0, 0, 0, 4, the mean is 1, the variance 3, and the third moment (3 * -1 + 27) / 4 = 6.
        let found = accounts(vec![FrameColumn::numbers("x", vec![0.0, 0.0, 0.0, 4.0])]);
        let facts = numbers(&found[0]);
        assert!((facts.skewness - 6.0 / 27f64.sqrt()).abs() < 1e-12, "{facts:?}");
        assert_eq!((facts.mean, facts.median), (1.0, 0.0));
        let found = accounts(vec![FrameColumn::numbers("x", vec![1e300, -1e300, 1e300, f64::NAN, -1e300])]);
        assert_eq!((numbers(&found[0]).skewness, numbers(&found[0]).deviation), (0.0, 1e300));
        let logs: Vec<f64> = [-2.0f64, -1.0, 0.0, 1.0, 2.0].iter().map(|x| libm::exp(3.0 * x)).collect();
        let found = accounts(vec![FrameColumn::numbers("x", logs)]);
        assert!(numbers(&found[0]).skewness > 1.0 && numbers(&found[0]).log_skewness.unwrap().abs() < 1e-12);
    }

    #[test]
    fn names_are_taken_apart_at_marks_and_capitals() {
        for name in ["id", "Customer ID", "customerId", "ID_1", "order-no", "Kunden-Nr."] {
            assert!(is_called(name, &ID_WORDS), "{name}");
        }
        for name in ["width", "idle", "note", "paid", "video"] {
            assert!(!is_called(name, &ID_WORDS), "{name}");
        }
    }
}
