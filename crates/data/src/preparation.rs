//! Prepares the columns of a table for a method: which are used, and how.
//!
//! [`Preparation::new`] decides for each column whether it is used and how, and records each decision with its reason.
//! So you can read the decisions before the run, and apply them to next month's file.
//!
//! - A **number** stays as it is or becomes its logarithm; it is shifted and divided according to [`Scale`].
//! - A **category** becomes one feature for each text: 1 in rows with this text, and 0 elsewhere. With scaling, Lehr
//!   divides all these features by one number, so that together they have the variance of one column. A category then
//!   has the same influence on distances as one column of numbers. Without scaling ([`Scale::None`]), they stay 0 and
//!   1. Rare texts share the feature `other`.
//! - A **date** becomes the days since 1970, or its weekday and its month, as categories ([`DatePart`]).
//! - A **missing value** stays missing, for methods that leave it out of distances, or is filled according to
//!   [`Missing`].
//!
//! Source of the coding of categories: factor analysis of mixed data (Pagès 2004), which divides each feature by the
//! root of its share. With it, a category of L texts would have the variance L - 1, and rows with rare texts would be
//! far from all other rows. The category with the most texts would dominate distances, so here the total variance is
//! scaled to 1.

mod choose;
mod fill;

use std::fmt;
use std::str::FromStr;

use lehr_numerics::elementary;
use serde::{Deserialize, Serialize};

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::frame::{DataFrame, ReadAs, Values, civil};
use crate::scale::Scale;

pub use choose::log_reason;

/// Seconds in a day.
const DAY: f64 = 86_400.0;

/// How missing values are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Missing values are errors.
    #[default]
    Fault,
    /// Missing values stay: the method leaves them out of distances and likelihoods.
    Skip,
    /// Missing values become the median of their column; in a category, they become the shares of its texts.
    Median,
    /// Missing values become the most frequent value of their column.
    Mode,
    /// Missing values become the median of the five nearest rows that have a value there. In a category, they become
    /// the shares of its texts in these rows. Rows are compared by the features that both have. If no such row shares a
    /// feature, values are filled as with [`Missing::Median`].
    Nearest,
    /// Lehr leaves out rows with missing values.
    Drop,
}

/// A part of a date by which rows are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// The days since 1970-01-01: nearby dates are similar.
    Days,
    /// The day of the week, as a category: all Mondays are alike.
    Weekday,
    /// The month of the year, as a category: all Januaries are alike.
    Month,
}

impl Missing {
    /// The ways to handle missing values that users can choose, in the order in which help lists them.
    pub const ALL: [Missing; 5] = [Missing::Skip, Missing::Median, Missing::Mode, Missing::Nearest, Missing::Drop];
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Fault => "fault",
            Missing::Skip => "skip",
            Missing::Median => "median",
            Missing::Mode => "mode",
            Missing::Nearest => "nearest",
            Missing::Drop => "drop",
        })
    }
}

/// The text does not name a way to handle missing values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected skip, median, mode, nearest or drop, found {0:?}")]
pub struct NoSuchMissing(
    /// The given text.
    pub String,
);

impl FromStr for Missing {
    type Err = NoSuchMissing;

    fn from_str(text: &str) -> Result<Self, NoSuchMissing> {
        Missing::ALL.into_iter().find(|way| way.to_string() == text).ok_or_else(|| NoSuchMissing(text.into()))
    }
}

/// A user's options for a preparation; the table decides the rest.
///
/// Columns are given by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// The columns to use, of any role but [`Text`](crate::describe::Role::Text) and
    /// [`Empty`](crate::describe::Role::Empty). `None`: all measures, and the columns in `log`. With `is_auto`, Lehr
    /// leaves out measures that are mostly missing or at least 95 % equal. If no measure is left, it uses the
    /// categories.
    pub columns: Option<Vec<String>>,
    /// The columns to leave out.
    pub exclude: Vec<String>,
    /// Columns whose logarithms are used.
    pub log: Vec<String>,
    /// How columns are scaled. `None`: [`Scale::Robust`] with `is_auto`, and otherwise no scaling.
    pub scale: Option<Scale>,
    /// How missing values are handled. `None`: the method's own way with `is_auto`; otherwise they are errors.
    pub missing: Option<Missing>,
    /// Whether the data decide about logarithms, scaling and missing values where the user does not.
    pub is_auto: bool,
    /// The method's own way to handle missing values.
    pub missing_of_method: Missing,
    /// The parts of dates to use. If empty: the days.
    pub date_parts: Vec<DatePart>,
    /// The columns with another purpose: identifiers, weights.
    pub reserved: Vec<String>,
}

impl Wishes {
    /// Returns how missing values are handled, by the user's choice or by default.
    pub fn gaps(&self) -> Missing {
        self.missing.unwrap_or(if self.is_auto { self.missing_of_method } else { Missing::Fault })
    }
}

/// How a table becomes the features that a method computes with.
///
/// # Example
/// ```
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_data::preparation::{Preparation, Wishes};
/// let columns = vec![
///     FrameColumn::numbers("visits", vec![3.0, 5.0, 4.0, 6.0]),
///     FrameColumn::texts("city", ["Bern", "Basel", "Bern", "Bern"]),
/// ];
/// let frame = DataFrame::new("shop.csv", columns)?;
/// let wishes = Wishes { columns: Some(vec!["visits".into(), "city".into()]), ..Wishes::default() };
/// let preparation = Preparation::new(&frame, &wishes)?;
/// let names: Vec<&str> = preparation.features.iter().map(|feature| &*feature.name).collect();
/// assert_eq!(names, ["visits", "city = Bern", "city = Basel"]);
/// let prepared = preparation.apply(&frame)?;
/// assert_eq!(prepared.table[3..6], [5.0, 0.0, 1.0]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// The features, in the order of the method's input; at least one.
    pub features: Vec<Feature>,
    /// How missing values are handled.
    pub missing: Missing,
    /// How features are scaled.
    pub scale: Scale,
    /// How each column of the table is used, in order, with the reason.
    pub uses: Vec<ColumnUse>,
}

/// A feature: one number for each row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// The name in results.
    pub name: String,
    /// The column that the feature is made from.
    pub column: String,
    /// How the column's text became values in the table for which the preparation was made.
    pub read_as: ReadAs,
    /// The part of the column's value that the feature uses.
    pub value: FeatureValue,
    /// The number added before the logarithm, if there is a logarithm.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub log_offset: Option<f64>,
    /// The number that is subtracted from the value or its logarithm.
    pub shift: f64,
    /// The number by which the difference from `shift` is divided.
    pub divisor: f64,
    /// The value that replaces a missing one, before the logarithm.
    pub fill: f64,
}

/// The part of a column's value that a feature uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureValue {
    /// The number.
    Number,
    /// The days since 1970-01-01.
    Days,
    /// 1 if the date is on this weekday, from 1 for Monday to 7, and otherwise 0.
    Weekday(u8),
    /// 1 if the date is in this month, from 1 to 12, and otherwise 0.
    Month(u8),
    /// 1 if the row has this text, and otherwise 0.
    Level(String),
    /// 1 if the row has none of these texts, and otherwise 0.
    OtherThan(Vec<String>),
}

/// How a column is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnUse {
    /// The name of the column.
    pub column: String,
    /// Whether the column becomes features.
    pub is_used: bool,
    /// How the column is used, or why it is not used, in words.
    pub how: String,
}

impl ColumnUse {
    /// Returns whether the column is unused because the user excluded it.
    pub fn is_excluded(&self) -> bool {
        !self.is_used && self.how == EXCLUDED
    }
}

/// The reason for a column that the user excluded.
const EXCLUDED: &str = "excluded";

/// A table in the form that a method takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The value of each feature in the units of the columns, row by row. Missing values are filled, or NaN if they
    /// stay.
    pub table: Vec<f64>,
    /// The values of the features as the method compares them: as logarithms, shifted and divided.
    pub features: Vec<f64>,
    /// The rows that are kept, if some are left out.
    pub kept: Option<Vec<usize>>,
    /// The number of filled values.
    pub filled: usize,
    /// The kept rows without a value in any used column. All their values are filled, or all are missing.
    pub without_values: Vec<usize>,
    /// Notes for the user: texts without a feature, and rows that were left out.
    pub notes: Vec<String>,
}

impl Feature {
    /// Converts a value of the column to the form that the method compares.
    pub fn forward(&self, value: f64) -> f64 {
        let value = self.log_offset.map_or(value, |offset| elementary::ln(value + offset));
        // NaN stays NaN.
        ((value - self.shift) / self.divisor).clamp(-f64::MAX, f64::MAX)
    }

    /// Converts a result of the method to the unit of the column; with logarithms, to the geometric mean.
    pub fn back(&self, value: f64) -> f64 {
        let value = value * self.divisor + self.shift;
        self.log_offset.map_or(value, |offset| elementary::exp(value) - offset)
    }

    /// Returns the feature of a row; NaN if it is missing.
    fn of(&self, values: &Values, row: usize) -> f64 {
        match (&self.value, values) {
            (FeatureValue::Number, Values::Numbers(values)) => values[row],
            (FeatureValue::Days, Values::Times(values)) => values[row] / DAY,
            (FeatureValue::Weekday(day), Values::Times(values)) => is_part(values[row], *day, weekday_of),
            (FeatureValue::Month(month), Values::Times(values)) => is_part(values[row], *month, month_of),
            (FeatureValue::Level(level), Values::Categories(texts)) => {
                texts.text(row).map_or(f64::NAN, |text| f64::from(u8::from(text == level)))
            }
            (FeatureValue::OtherThan(levels), Values::Categories(texts)) => {
                texts.text(row).map_or(f64::NAN, |text| f64::from(u8::from(!levels.iter().any(|level| level == text))))
            }
            _ => f64::NAN,
        }
    }

    /// Describes the values that the column must have.
    fn expected(&self) -> &'static str {
        match self.value {
            FeatureValue::Number => "numbers",
            FeatureValue::Days | FeatureValue::Weekday(_) | FeatureValue::Month(_) => "dates",
            FeatureValue::Level(_) | FeatureValue::OtherThan(_) => "texts",
        }
    }

    fn takes(&self, values: &Values) -> bool {
        matches!(
            (&self.value, values),
            (FeatureValue::Number, Values::Numbers(_))
                | (FeatureValue::Days | FeatureValue::Weekday(_) | FeatureValue::Month(_), Values::Times(_))
                | (FeatureValue::Level(_) | FeatureValue::OtherThan(_), Values::Categories(_))
        )
    }
}

/// Returns 1 if a time in seconds since 1970-01-01 has the weekday or month `part`, and otherwise 0; NaN for a missing
/// time.
fn is_part(seconds: f64, part: u8, part_of: fn(f64) -> u8) -> f64 {
    if seconds.is_nan() { f64::NAN } else { f64::from(u8::from(part_of(seconds) == part)) }
}

/// Returns the weekday of a time in seconds since 1970-01-01, a Thursday: from 1 for Monday to 7.
fn weekday_of(seconds: f64) -> u8 {
    ((seconds / DAY).floor() as i64 + 3).rem_euclid(7) as u8 + 1
}

/// Returns the month of a time in seconds since 1970-01-01, from 1 to 12.
fn month_of(seconds: f64) -> u8 {
    civil((seconds / DAY).floor() as i64).1 as u8
}

impl Preparation {
    /// Returns the columns that features are made from, each once, in the order of the features.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.features.iter().map(|feature| &*feature.column).collect();
        columns.dedup();
        columns
    }

    /// Converts a row of the method's result to the units of the columns, in place.
    ///
    /// # Panics
    /// Panics if the number of values differs from the number of features.
    pub fn back(&self, values: &mut [f64]) {
        assert_eq!(values.len(), self.features.len(), "one value a feature");
        values.iter_mut().zip(&self.features).for_each(|(value, feature)| *value = feature.back(*value));
    }

    /// Converts a table with the same columns to the form that a method takes.
    ///
    /// Cost: a pass over the used columns. With [`Missing::Nearest`], for each row with missing values also a distance
    /// to each of at most 2,000 rows.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumns`] if columns do not exist; [`Error::Shape`] if a column has values of another type than
    ///   before.
    /// - [`Error::Faults`] for missing values that are not allowed, and for values without a logarithm.
    /// - [`Error::Empty`] if no row is left.
    pub fn apply(&self, frame: &DataFrame) -> Result<Prepared, Error> {
        self.laid_out(frame, false)
    }

    /// Converts another table, such as next month's. A value without a logarithm becomes a missing value, with a note,
    /// so that one customer without sales does not stop the whole run.
    ///
    /// # Errors
    /// Returns the errors of [`apply`](Self::apply). A value without a logarithm is an error only if values must not be
    /// missing.
    pub fn apply_to_other(&self, frame: &DataFrame) -> Result<Prepared, Error> {
        self.laid_out(frame, true)
    }

    fn laid_out(&self, frame: &DataFrame, is_other: bool) -> Result<Prepared, Error> {
        let columns = self.found(frame)?;
        let width = self.features.len();
        let mut faults = Faults::new(frame.name());
        let mut without_logarithm = vec![Vec::new(); width];
        let mut table = Vec::with_capacity(frame.rows() * width);
        for row in 0..frame.rows() {
            for (at, (feature, index)) in self.features.iter().zip(&columns).enumerate() {
                let column = &frame.columns()[*index];
                let mut value = feature.of(&column.values, row);
                let has_none = feature.log_offset.is_some_and(|offset| value + offset <= 0.0);
                if has_none && is_other && self.missing != Missing::Fault {
                    without_logarithm[at].push((row, value));
                    value = f64::NAN;
                }
                let place = |expected: &str, found: String| Fault {
                    place: Place::Row(row as u64),
                    column: Some(Column { index: *index, name: Some(column.name.clone()) }),
                    expected: expected.into(),
                    found,
                };
                // Report it once per column, because a category or a date may have several features.
                let is_first = at == 0 || columns[at - 1] != *index;
                if value.is_nan() && is_first && self.missing == Missing::Fault {
                    faults.add_gap_with(|| place("a value", "none".into()));
                }
                if let Some(offset) = feature.log_offset
                    && value + offset <= 0.0
                {
                    let expected = if offset == 0.0 {
                        "a number above 0, whose logarithm is taken".to_owned()
                    } else {
                        format!("a number above {}, as its logarithm is taken after adding {offset}", -offset)
                    };
                    faults.add_with(|| place(&expected, value.to_string()));
                }
                table.push(value);
            }
        }
        faults.or(())?;
        let mut notes: Vec<String> = self.new_columns(frame).into_iter().collect();
        notes.extend(self.unknown_texts(frame, &columns));
        for (feature, found) in self.features.iter().zip(&without_logarithm) {
            if let Some((row, value)) = found.first() {
                let (rows, have) = if found.len() == 1 { ("row", "has") } else { ("rows", "have") };
                notes.push(format!(
                    "{:?}: {} {rows} {have} a value without a logarithm, taken as missing; the first is {value} in row {}",
                    feature.column,
                    found.len(),
                    row + 1
                ));
            }
        }
        let kept = self.keep(frame, &mut table, &mut notes)?;
        let forward = |table: &[f64]| -> Vec<f64> {
            let features = self.features.iter().cycle();
            table.iter().zip(features).map(|(value, feature)| feature.forward(*value)).collect()
        };
        let mut features = forward(&table);
        let gaps = table.iter().filter(|value| value.is_nan()).count();
        let without_values = without_values(&table, width);
        let filled = if matches!(self.missing, Missing::Skip) { 0 } else { gaps };
        if filled > 0 {
            if self.missing == Missing::Nearest {
                let is_number =
                    |feature: usize| matches!(self.features[feature].value, FeatureValue::Number | FeatureValue::Days);
                fill::from_nearest(&mut features, width, is_number);
            }
            for (index, value) in table.iter_mut().enumerate().filter(|(_, value)| value.is_nan()) {
                let feature = &self.features[index % width];
                let from_rows = features[index];
                *value = if from_rows.is_nan() { feature.fill } else { feature.back(from_rows) };
                features[index] = if from_rows.is_nan() { feature.forward(feature.fill) } else { from_rows };
            }
        }
        Ok(Prepared { table, features, kept, filled, without_values, notes })
    }

    /// Returns the table column of each feature.
    fn found(&self, frame: &DataFrame) -> Result<Vec<usize>, Error> {
        let place = |name: &str| frame.columns().iter().position(|column| column.name == name);
        frame.expect_columns(self.columns())?;
        let columns: Vec<usize> =
            self.features.iter().map(|feature| place(&feature.column).expect("no column is missing")).collect();
        for (feature, index) in self.features.iter().zip(&columns) {
            let column = &frame.columns()[*index];
            let is_empty = column.missing() == frame.rows();
            if !feature.takes(&column.values) && !is_empty {
                return Err(Error::Shape {
                    what: format!("{}, column {:?}", frame.name(), column.name),
                    expected: format!("{}, as before ({})", feature.expected(), feature.read_as),
                    found: column.read_as.to_string(),
                });
            }
        }
        Ok(columns)
    }

    /// Returns a note on columns that the original table did not have, if there are any.
    fn new_columns(&self, frame: &DataFrame) -> Option<String> {
        const NAMED: usize = 5;
        let is_new = |name: &&str| self.uses.iter().all(|used| used.column != **name);
        let new: Vec<&str> = frame.columns().iter().map(|column| column.name.as_str()).filter(is_new).collect();
        if new.is_empty() || self.uses.is_empty() {
            return None;
        }
        let named: Vec<String> = new.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
        let more = if new.len() > NAMED { format!(" and {} more", new.len() - NAMED) } else { String::new() };
        let (verb, noun) = if new.len() == 1 { ("is", "a new column") } else { ("are", "new columns") };
        Some(format!("{}{more} {verb} {noun}, which the first table did not have: not used", named.join(", ")))
    }

    /// Returns notes on texts without a feature, which are 0 in all features of their category.
    fn unknown_texts(&self, frame: &DataFrame, columns: &[usize]) -> Vec<String> {
        let mut notes = Vec::new();
        for name in self.columns() {
            let of_column = || self.features.iter().zip(columns).filter(move |(feature, _)| feature.column == name);
            let place = of_column().map(|(_, place)| *place).next();
            let Some(Values::Categories(texts)) = place.map(|place| &frame.columns()[place].values) else { continue };
            let is_known = |text: &str| {
                of_column().any(|(feature, _)| match &feature.value {
                    FeatureValue::Level(level) => level == text,
                    // This feature takes any other text.
                    FeatureValue::OtherThan(_) => true,
                    _ => false,
                })
            };
            let unknown = || texts.levels().iter().zip(texts.counts()).filter(|(text, _)| !is_known(text));
            if let Some((example, _)) = unknown().next() {
                let rows: usize = unknown().map(|(_, count)| count).sum();
                notes.push(format!(
                    "{name}: texts that were not there before, such as {example:?}, in {rows} of {} rows; they are like none of the known ones",
                    frame.rows()
                ));
            }
        }
        notes
    }

    /// Leaves out rows with missing values, if requested.
    fn keep(
        &self,
        frame: &DataFrame,
        table: &mut Vec<f64>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Vec<usize>>, Error> {
        if self.missing != Missing::Drop {
            return Ok(None);
        }
        let width = self.features.len();
        let is_whole = |row: &usize| !table[row * width..][..width].iter().any(|value| value.is_nan());
        let kept: Vec<usize> = (0..frame.rows()).filter(is_whole).collect();
        if kept.len() == frame.rows() {
            return Ok(None);
        }
        if kept.is_empty() {
            return Err(Error::Empty { name: frame.name().into(), found: "a gap in every row" });
        }
        *table = kept.iter().flat_map(|row| &table[row * width..][..width]).copied().collect();
        notes.push(format!("left out {} of {} rows, which have gaps", frame.rows() - kept.len(), frame.rows()));
        Ok(Some(kept))
    }
}
/// Returns the rows, in ascending order, whose `width` values are all missing (NaN).
pub fn without_values(values: &[f64], width: usize) -> Vec<usize> {
    let is_without = |(_, row): &(usize, &[f64])| row.iter().all(|value| value.is_nan());
    values.chunks_exact(width).enumerate().filter(is_without).map(|(row, _)| row).collect()
}
