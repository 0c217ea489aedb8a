//! Prepares the columns of a table for a method: which are used, and how.
//!
//! Nothing is done in silence. [`Preparation::new`] decides for each column whether it is used and how, gives a reason,
//! and keeps all of it. So you can read the decisions before the run, and apply them to next month's file.
//!
//! - A **number** stays as it is or becomes its logarithm, and is shifted and divided as [`Scale`] says.
//! - A **category** becomes one feature for each of its texts, 1 where a row has that text and 0 elsewhere. All are
//!   divided by one number, so that together they have the variance of one column. A category then weighs as much in
//!   distances as one column of numbers. Rare categories share the feature `other`.
//! - A **date** becomes the days since 1970, or the day of its week and its month, as categories ([`DatePart`]).
//! - A **gap** stays one, for methods that leave it out of distances, or is filled as [`Missing`] says.
//!
//! Source of the coding of categories: factor analysis of mixed data (Pagès 2004), which divides each feature by the
//! root of its share. A category of L texts would then have the variance L - 1, and rare texts would be far from
//! everything. The category with most texts would then dominate distances, so the sum is brought to 1 here.

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
    /// They are faults.
    #[default]
    Fault,
    /// They stay: the method leaves them out of distances and likelihoods.
    Skip,
    /// They get the middle value of their column; of a category the shares of its texts.
    Median,
    /// They get the most frequent value of their column.
    Mode,
    /// They get the mean of the five nearest rows that have a value there, by the features that both rows have.
    Nearest,
    /// Rows with gaps are left out.
    Drop,
}

/// A part of a date that rows are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// The days since 1970-01-01: dates that are near each other in time are alike.
    Days,
    /// The day of the week, as a category: all Mondays are alike.
    Weekday,
    /// The month of the year, as a category: all Januaries are alike.
    Month,
}

impl Missing {
    /// The ways that a user can ask for, in the order in which help lists them.
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

/// The text is no way to treat gaps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected skip, median, mode, nearest or drop, found {0:?}")]
pub struct NoSuchMissing(
    /// The text.
    pub String,
);

impl FromStr for Missing {
    type Err = NoSuchMissing;

    fn from_str(text: &str) -> Result<Self, NoSuchMissing> {
        Missing::ALL.into_iter().find(|way| way.to_string() == text).ok_or_else(|| NoSuchMissing(text.into()))
    }
}

/// A user's options for a preparation; the table decides those that are left open.
///
/// A column is given by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// The columns to use, of any role but [`Text`](crate::describe::Role::Text); `None`: all measures.
    pub columns: Option<Vec<String>>,
    /// Columns that are not used.
    pub exclude: Vec<String>,
    /// Columns whose logarithms are used.
    pub log: Vec<String>,
    /// How columns are scaled; `None`: [`Scale::Robust`] if all is to be chosen, else not at all.
    pub scale: Option<Scale>,
    /// The treatment of gaps; `None`: the method's own way if all is to be chosen, else they are faults.
    pub missing: Option<Missing>,
    /// Whether to choose logarithms, scale and the treatment of gaps from the data unless they are given.
    pub is_auto: bool,
    /// How missing values are handled where that is chosen from the data.
    pub missing_of_method: Missing,
    /// The parts of dates to use; none: the days.
    pub date_parts: Vec<DatePart>,
    /// Columns that say something else: identifiers, weights.
    pub reserved: Vec<String>,
}

impl Wishes {
    /// How missing values are handled, by the user's choice or the default.
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
    /// The method's input, in this order; at least one feature.
    pub features: Vec<Feature>,
    /// How missing values are handled.
    pub missing: Missing,
    /// How features are scaled.
    pub scale: Scale,
    /// The use of each column of the table, in their order, with the reason.
    pub uses: Vec<ColumnUse>,
}

/// One number for each row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Its name in results.
    pub name: String,
    /// The column that it is made of.
    pub column: String,
    /// How the column was read when this was decided.
    pub read_as: ReadAs,
    /// The part of the column's value that it is.
    pub value: FeatureValue,
    /// The number that is added before the logarithm is taken, if one is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub log_offset: Option<f64>,
    /// The number that is subtracted, after the logarithm.
    pub shift: f64,
    /// The divisor of the difference.
    pub divisor: f64,
    /// The value that fills a missing one, before the logarithm.
    pub fill: f64,
}

/// The part of a column's value that a feature is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureValue {
    /// The number.
    Number,
    /// The days since 1970-01-01.
    Days,
    /// 1 if the date is on this day of the week, from 1 for Monday to 7, else 0.
    Weekday(u8),
    /// 1 if the date is in this month, from 1 to 12, else 0.
    Month(u8),
    /// 1 if the text is this one, else 0.
    Level(String),
    /// 1 if the text is none of these, else 0.
    OtherThan(Vec<String>),
}

/// The use of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnUse {
    /// Its name.
    pub column: String,
    /// Whether it is turned into features.
    pub is_used: bool,
    /// How, or why not, in words.
    pub how: String,
}

impl ColumnUse {
    /// Whether the column is not used because that was asked for.
    pub fn is_excluded(&self) -> bool {
        !self.is_used && self.how == EXCLUDED
    }
}

/// Why a column is not used that was excluded.
const EXCLUDED: &str = "excluded";

/// A table as a method takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Row after row, a value for each feature in the units of the columns; gaps are filled, or NaN if they stay.
    pub table: Vec<f64>,
    /// The same as the method compares them: logarithms, shifted and divided.
    pub features: Vec<f64>,
    /// The rows that are kept, where some are left out.
    pub kept: Option<Vec<usize>>,
    /// The number of values that were filled.
    pub filled: usize,
    /// The rows, of those that are kept, that had no value in any column used. All that they have was filled, or they
    /// are all gaps.
    pub without_values: Vec<usize>,
    /// Notes for the owner: texts without a feature, rows that were left out.
    pub notes: Vec<String>,
}

impl Feature {
    /// A value of the column as the method compares it.
    pub fn forward(&self, value: f64) -> f64 {
        let value = self.log_offset.map_or(value, |offset| elementary::ln(value + offset));
        // NaN stays NaN.
        ((value - self.shift) / self.divisor).clamp(-f64::MAX, f64::MAX)
    }

    /// A value that the method found, in the unit of the column: of logarithms, the geometric mean.
    pub fn back(&self, value: f64) -> f64 {
        let value = value * self.divisor + self.shift;
        self.log_offset.map_or(value, |offset| elementary::exp(value) - offset)
    }

    /// The feature of a row, NaN where there is a gap.
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

    /// The values that the column must hold, in words.
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

/// 1 if the part of a time, in seconds since 1970-01-01, is this one, else 0; NaN for a missing time.
fn is_part(seconds: f64, part: u8, part_of: fn(f64) -> u8) -> f64 {
    if seconds.is_nan() { f64::NAN } else { f64::from(u8::from(part_of(seconds) == part)) }
}

/// The day of the week of a time in seconds since 1970-01-01, which was a Thursday: from 1 for Monday to 7.
fn weekday_of(seconds: f64) -> u8 {
    ((seconds / DAY).floor() as i64 + 3).rem_euclid(7) as u8 + 1
}

/// The month of a time in seconds since 1970-01-01, from 1 to 12.
fn month_of(seconds: f64) -> u8 {
    civil((seconds / DAY).floor() as i64).1 as u8
}

impl Preparation {
    /// The columns that features are made of, each once, in the order of the features.
    pub fn columns(&self) -> Vec<&str> {
        let mut columns: Vec<&str> = self.features.iter().map(|feature| &*feature.column).collect();
        columns.dedup();
        columns
    }

    /// A row that the method found, in the units of the columns, in place.
    ///
    /// # Panics
    /// Panics if `values` has not one value a feature.
    pub fn back(&self, values: &mut [f64]) {
        assert_eq!(values.len(), self.features.len(), "one value a feature");
        values.iter_mut().zip(&self.features).for_each(|(value, feature)| *value = feature.back(*value));
    }

    /// A table with the same columns as a method takes it.
    ///
    /// Cost: a pass over the columns used; with [`Missing::Nearest`] of rows with gaps, a distance to each of 2,000
    /// rows at most.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumns`] if columns do not exist; [`Error::Shape`] if one holds something else than before.
    /// - [`Error::Faults`]: gaps where there may be none, values without a logarithm.
    /// - [`Error::Empty`] if no row is left.
    pub fn apply(&self, frame: &DataFrame) -> Result<Prepared, Error> {
        self.laid_out(frame, false)
    }

    /// The same for another table, such as next month's. A value that has no logarithm is a missing value there, with a
    /// note: one customer without sales does not stop all others.
    ///
    /// # Errors
    /// The same as for [`apply`](Self::apply); a value without a logarithm only if no value may be missing.
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
                // Once a column: a category or a date may have several features.
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
                fill::from_nearest(&mut features, width);
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

    /// The table column of each feature.
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

    /// The columns that the table of the preparation did not have, if there are such.
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

    /// Texts without a feature, which are 0 in all features of their category.
    fn unknown_texts(&self, frame: &DataFrame, columns: &[usize]) -> Vec<String> {
        let mut notes = Vec::new();
        for name in self.columns() {
            let of_column = || self.features.iter().zip(columns).filter(move |(feature, _)| feature.column == name);
            let place = of_column().map(|(_, place)| *place).next();
            let Some(Values::Categories(texts)) = place.map(|place| &frame.columns()[place].values) else { continue };
            let is_known = |text: &str| {
                of_column().any(|(feature, _)| match &feature.value {
                    FeatureValue::Level(level) => level == text,
                    // Whatever is none of the others.
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

    /// Leaves out rows with gaps, if that is wanted.
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
/// The rows, ascending, of which every one of `width` values is missing (NaN).
pub fn without_values(values: &[f64], width: usize) -> Vec<usize> {
    let is_without = |(_, row): &(usize, &[f64])| row.iter().all(|value| value.is_nan());
    values.chunks_exact(width).enumerate().filter(is_without).map(|(row, _)| row).collect()
}
