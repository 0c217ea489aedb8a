//! The columns that explain clusters, and how their values are shown.

use std::borrow::Cow;

use lehr_data::describe::{ColumnAccount, Role};
use lehr_data::frame::{Categories, DataFrame, FrameColumn, ReadAs, Values, date};

use crate::numbers::significant;

/// A column that explains clusters.
#[derive(Clone, Debug)]
pub(super) struct Shown<'a> {
    /// The column in the form that explains clusters: yes and no become texts.
    pub column: Cow<'a, FrameColumn>,
    /// The number added before the logarithm, if the clustering used the logarithm.
    pub log_offset: Option<f64>,
}

impl<'a> Shown<'a> {
    #[cfg(test)]
    pub fn plain(column: &'a FrameColumn) -> Self {
        Self { column: Cow::Borrowed(column), log_offset: None }
    }

    /// Returns the columns of a table that can explain clusters: measures, categories and dates.
    pub fn of(
        frame: &'a DataFrame,
        accounts: Option<&[ColumnAccount]>,
        log_offset: impl Fn(&str) -> Option<f64>,
    ) -> Vec<Self> {
        let says = |index: usize| {
            let Some(accounts) = accounts else { return true };
            matches!(accounts[index].role, Role::Measure | Role::Category | Role::Date)
        };
        let columns = frame.columns().iter().enumerate().filter(|(index, _)| says(*index));
        columns
            .map(|(index, column)| {
                let is_category = accounts.is_some_and(|accounts| accounts[index].role == Role::Category);
                let log_offset = log_offset(&column.name);
                let column = match &column.values {
                    Values::Numbers(values) if is_category => Cow::Owned(as_texts(column, values)),
                    _ => Cow::Borrowed(column),
                };
                Self { column, log_offset }
            })
            .collect()
    }

    pub fn name(&self) -> &str {
        &self.column.name
    }

    /// Returns a value in readable form.
    pub fn value(&self, value: f64) -> String {
        if matches!(self.column.values, Values::Times(_)) {
            return date(value);
        }
        let shown = significant(value, 4);
        let has_fraction = shown.contains('.') && !shown.contains('e');
        if has_fraction { shown.trim_end_matches('0').trim_end_matches('.').to_owned() } else { shown }
    }

    /// Returns a text by its index.
    pub fn level(&self, level: usize) -> &str {
        match &self.column.values {
            Values::Categories(texts) => &texts.levels()[level],
            Values::Numbers(_) | Values::Times(_) => "",
        }
    }
}

/// Turns yes and no, or 0 and 1, back into their texts.
fn as_texts(column: &FrameColumn, values: &[f64]) -> FrameColumn {
    let shown = |value: &f64| match &column.read_as {
        _ if value.is_nan() => String::new(),
        ReadAs::Truth { yes, .. } if *value == 1.0 => yes.clone(),
        ReadAs::Truth { no, .. } => no.clone(),
        _ => value.to_string(),
    };
    let texts = Categories::of(values.iter().map(shown));
    FrameColumn { values: Values::Categories(texts), ..column.clone() }
}
