//! What people write in the cells of a column, and what it means.
//!
//! Every value of a column is looked at before any is read ([`Survey`]): its form is one that explains all of them. Where several do, other columns of the table say which is
//! meant ([`decide`]); where these are silent too, the more usual one is taken and the column is said to be ambiguous.

pub mod gap;
pub(crate) mod number;

use std::collections::BTreeMap;

use super::TableForm;
use super::grid::{Grid, Kind};
use crate::error::quoted;
use crate::frame::{Categories, NumberForm, ReadAs, Values};
use number::{Mark, Parts};

/// What the values of a column could be, as far as they have been looked at.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// How many rows have a value.
    filled: usize,
    /// With a point and with a comma before the fraction.
    readings: [Reading; 2],
    /// Whether a value is another number in the other reading.
    differs: bool,
    currencies: Vec<&'static str>,
    percents: usize,
    /// Values that are not 0 and not per cent.
    plain: usize,
    /// Values that are not as programs write them.
    written: usize,
    /// The first number that begins with a 0 that no program writes, as codes and keys do.
    code: Option<usize>,
}

/// Numbers in one of the two readings.
#[derive(Debug, Default)]
struct Reading {
    /// How many values are none.
    misfits: usize,
    /// The row of the first of them.
    misfit: Option<usize>,
    thousands: Option<char>,
    /// Whether a value shows this reading: in the other one it is no number.
    is_shown: bool,
}

impl Survey {
    pub(super) fn look(&mut self, row: usize, field: &str, kind: Kind) {
        self.filled += 1;
        if kind == Kind::Number {
            return;
        }
        if is_whole(field) {
            // Common case: the same number in both readings.
            self.plain += usize::from(field != "0");
            if self.code.is_none() && field.len() > 1 && field.starts_with('0') {
                self.code = Some(row);
            }
            return;
        }
        let parts = Parts::of(field);
        let numbers = Mark::BOTH.map(|mark| parts.and_then(|parts| parts.number(mark)));
        for (reading, number) in self.readings.iter_mut().zip(&numbers) {
            match number {
                Some((_, Some(thousands))) if reading.thousands.is_some_and(|known| known != *thousands) => {
                    reading.miss(row)
                }
                Some((_, thousands)) => reading.thousands = reading.thousands.or(*thousands),
                None => reading.miss(row),
            }
        }
        match numbers {
            [Some((point, _)), Some((comma, _))] => self.differs |= point != comma,
            [Some(_), None] => self.readings[0].is_shown = true,
            [None, Some(_)] => self.readings[1].is_shown = true,
            [None, None] => return,
        }
        let Some(parts) = parts else { return };
        let is_zero = numbers.iter().flatten().all(|(number, _)| *number == 0.0);
        if parts.is_percent {
            self.percents += 1;
        } else if !is_zero {
            self.plain += 1;
        }
        if let Some(currency) = parts.currency
            && !self.currencies.contains(&currency)
        {
            self.currencies.push(currency);
        }
        self.written += usize::from(number::plain(field.trim()).is_none());
        let whole = parts.digits.len() > 1 && parts.digits.bytes().all(|byte| byte.is_ascii_digit());
        if self.code.is_none() && whole && parts.digits.starts_with('0') && parts.currency.is_none() {
            self.code = Some(row);
        }
    }

    /// The reading that all values fit, if one alone does.
    fn shown(&self) -> Option<Mark> {
        match [self.readings[0].misfits, self.readings[1].misfits] {
            [0, 0] => None,
            [0, _] => Some(Mark::Point),
            [_, 0] => Some(Mark::Comma),
            _ => None,
        }
    }

    fn is_number(&self) -> bool {
        self.filled > 0 && self.readings.iter().any(|reading| reading.misfits == 0)
    }
}

impl Reading {
    fn miss(&mut self, row: usize) {
        self.misfits += 1;
        self.misfit.get_or_insert(row);
    }
}

/// Digits and perhaps a sign.
fn is_whole(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// What was decided of the columns of a table.
pub(super) struct Decided {
    /// How each is read.
    pub(super) read_as: Vec<ReadAs>,
    /// What stands before the fraction of numbers, where a column shows it.
    pub(super) decimal: Option<char>,
    pub(super) notes: Vec<String>,
}

/// Decides how columns are read, all together: a column that is ambiguous by itself is read as the others are.
pub(super) fn decide(names: &[String], surveys: &[Survey], grid: &Grid, form: &TableForm) -> Decided {
    let mut notes = Vec::new();
    let mut shown: BTreeMap<char, usize> = BTreeMap::new();
    for mark in surveys.iter().filter_map(|survey| survey.shown().filter(|_| survey.is_number())) {
        shown.entry(mark.character()).and_modify(|count| *count += 1).or_insert(1);
    }
    let decimal = match shown.len() {
        1 => shown.keys().next().copied(),
        _ => None,
    };
    let mut read_as = Vec::with_capacity(surveys.len());
    for (column, (name, survey)) in names.iter().zip(surveys).enumerate() {
        let given = form.columns.get(name).cloned();
        let one = if form.text.contains(name) {
            ReadAs::Text
        } else {
            given.unwrap_or_else(|| one(column, name, survey, decimal, grid, form, &mut notes))
        };
        read_as.push(one);
    }
    if let [(',', commas), ('.', points)] = shown.iter().map(|(mark, count)| (*mark, *count)).collect::<Vec<_>>()[..] {
        let columns =
            |count: usize| if count == 1 { "1 column has".to_owned() } else { format!("{count} columns have") };
        notes.push(format!("{} a decimal comma and {} a decimal point", columns(commas), columns(points)));
    }
    let decimal = form.decimal.or(decimal);
    Decided { read_as, decimal, notes }
}

fn one(
    column: usize,
    name: &str,
    survey: &Survey,
    decimal: Option<char>,
    grid: &Grid,
    form: &TableForm,
    notes: &mut Vec<String>,
) -> ReadAs {
    if survey.filled == 0 {
        return ReadAs::Text;
    }
    let example = |row: usize| quoted(grid.field(row, column).trim());
    if !survey.is_number() {
        // Numbers but for some: more likely a mistake than text.
        let best = survey.readings.iter().min_by_key(|reading| reading.misfits);
        if let Some(Reading { misfits, misfit: Some(row), .. }) = best
            && *misfits * 2 < survey.filled
        {
            let numbers = survey.filled - misfits;
            let line = grid.line(*row);
            notes.push(format!(
                "{name:?} is read as text: {numbers} of its {} values are numbers, and {} in line {line} is none; if it stands for a missing value, say so",
                survey.filled,
                example(*row)
            ));
        }
        return ReadAs::Text;
    }
    if survey.currencies.len() > 1 {
        notes.push(format!("{name:?} is read as text: it has several currencies, {}", survey.currencies.join(", ")));
        return ReadAs::Text;
    }
    if survey.percents > 0 && survey.plain > 0 {
        notes.push(format!(
            "{name:?} is read as text: {} of its values are per cent and {} are not",
            survey.percents, survey.plain
        ));
        return ReadAs::Text;
    }
    if let Some(row) = survey.code {
        notes.push(format!(
            "{name:?} is read as text: {} in line {} begins with a 0, as codes do and numbers do not",
            example(row),
            grid.line(row)
        ));
        return ReadAs::Text;
    }
    let asked = form.decimal.map(|mark| if mark == ',' { Mark::Comma } else { Mark::Point });
    let mut is_ambiguous = false;
    let mark = match survey.shown() {
        Some(mark) => mark,
        None if !survey.differs => Mark::Point,
        None => {
            let by_others = || decimal.map(|mark| if mark == ',' { Mark::Comma } else { Mark::Point });
            asked.or_else(by_others).unwrap_or_else(|| {
                is_ambiguous = true;
                Mark::Point
            })
        }
    };
    let reading = &survey.readings[mark as usize];
    if is_ambiguous {
        let row = (0..grid.rows()).find(|row| grid.field(*row, column).contains(['.', ','])).unwrap_or_default();
        let meant = if reading.thousands.is_some() { "thousands" } else { "a fraction" };
        notes.push(format!("{name:?} is ambiguous: the mark in {} may stand before thousands or a fraction, and no column shows which; read as {meant}", example(row)));
    }
    if survey.written == 0 && mark == Mark::Point && !is_ambiguous {
        return ReadAs::Number;
    }
    ReadAs::WrittenNumber(NumberForm {
        decimal: mark.character(),
        thousands: reading.thousands,
        currency: survey.currencies.first().map(|sign| (*sign).to_owned()),
        is_percent: survey.percents > 0,
        is_ambiguous,
    })
}

/// The values of a column that is read so, and the rows that are not written so.
pub(super) fn values(
    read_as: &ReadAs,
    column: usize,
    rows: impl Iterator<Item = usize>,
    grid: &Grid,
    missing: &[String],
) -> (Values, Vec<usize>) {
    let mut misfits = Vec::new();
    let mut numbers = |read: &dyn Fn(&str) -> Option<f64>, rows: &mut dyn Iterator<Item = usize>| {
        let mut values = Vec::new();
        for row in rows {
            let field = grid.field(row, column);
            let plain = || number::plain(field).filter(|_| grid.kind(row, column) == Kind::Number);
            let number = plain().or_else(|| read(field));
            if number.is_none() && !gap::is_gap(field, missing) {
                misfits.push(row);
            }
            values.push(number.filter(|_| missing.is_empty() || !gap::is_gap(field, missing)).unwrap_or(f64::NAN));
        }
        values
    };
    let mut rows = rows;
    let values = match read_as {
        ReadAs::Number => Values::Numbers(numbers(&|field| number::plain(field.trim()), &mut rows)),
        ReadAs::WrittenNumber(form) => Values::Numbers(numbers(&|field| form.number(field), &mut rows)),
        _ => {
            let texts = rows.map(|row| {
                let field = grid.field(row, column).trim();
                if gap::is_gap(field, missing) { "" } else { field }
            });
            Values::Categories(Categories::of(texts))
        }
    };
    (values, misfits)
}
