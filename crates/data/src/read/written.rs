//! The notations in which people write values, and their meanings.
//!
//! Every value of a column is examined before any is read ([`Survey`]), because the notation must explain all values.
//! If several notations explain them, other columns of the table may show the right one ([`decide`]). Otherwise Lehr
//! assumes the more usual notation and reports the column as ambiguous.

mod date;
pub mod gap;
pub(crate) mod number;
mod truth;

use std::collections::{BTreeMap, HashSet};

use super::grid::{Grid, Kind};
use super::{DateOrder, TableForm};
use crate::error::quoted;
use crate::frame::{Categories, NumberForm, ReadAs, Values};
use date::{Date, Orders};
use number::{Mark, Parts};

/// The types that a column may have, judging by the values examined so far.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The number of rows with a value.
    filled: usize,
    /// The readings with a decimal point and with a decimal comma.
    readings: [Reading; 2],
    /// Whether the two readings give different numbers for any value.
    differs: bool,
    currencies: Vec<&'static str>,
    percents: usize,
    /// The number of values with a word for thousands or millions after them.
    powers: usize,
    /// The number of values that are not 0 and not percentages.
    plain: usize,
    /// The number of values that are not in the notation of programming languages.
    written: usize,
    /// The row of the first number with a leading zero, as codes and keys have.
    code: Option<usize>,
    times: Times,
    /// Up to three distinct values that are not numbers, ignoring case, in order of appearance.
    words: Vec<String>,
    /// The number of empty rows.
    empty: usize,
    /// Words for a missing value, as written, that may be texts of the column.
    doubtful: Vec<String>,
}

/// The dates that a column may have.
#[derive(Debug)]
struct Times {
    /// The orders that all dates allow.
    orders: Orders,
    /// For each order, the row of the first date that excludes it.
    denied: [Option<usize>; 3],
    has_time: bool,
    zones: usize,
    is_short: bool,
    has_words: bool,
    separator: Option<char>,
    /// Whether all values are times of day.
    are_clocks: bool,
    /// The number of values that were examined as dates. Numbers such as 20210423 are dates for people, but stay
    /// numbers.
    seen: usize,
    /// The number of values that are dates in some order, until counting stopped.
    dates: usize,
    /// The number of values that are not dates, and the row of the first.
    others: usize,
    other: Option<usize>,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            orders: Orders::ALL,
            denied: [None; 3],
            has_time: false,
            zones: 0,
            is_short: false,
            has_words: false,
            separator: None,
            are_clocks: true,
            seen: 0,
            dates: 0,
            others: 0,
            other: None,
        }
    }
}

/// Counting dates stops when texts outnumber dates by more than this.
const FEW_TEXTS: usize = 16;

const ORDERS: [DateOrder; 3] = [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst];

impl Times {
    /// Examines a value that may be a date.
    fn look(&mut self, row: usize, field: &str) {
        self.seen += 1;
        self.are_clocks = self.are_clocks && date::time_of_day(field).is_some();
        // This is a text column, because a column of dates would have more dates.
        if self.others > self.dates + FEW_TEXTS {
            return;
        }
        let Some(date) = Date::of(field) else {
            self.orders = Orders::NONE;
            self.others += 1;
            self.other.get_or_insert(row);
            return;
        };
        self.dates += 1;
        if self.orders == Orders::NONE {
            return;
        }
        for (order, denied) in ORDERS.iter().zip(&mut self.denied) {
            if !date.orders.has(*order) {
                denied.get_or_insert(row);
            }
        }
        self.orders = self.orders.and(date.orders);
        self.has_time |= date.time.is_some();
        self.zones += usize::from(date.zone.is_some());
        self.is_short |= date.is_short;
        self.has_words |= date.separator.is_none();
        self.separator = self.separator.or(date.separator);
    }

    /// Returns the order that the column shows, if exactly one fits.
    fn shown(&self) -> Option<DateOrder> {
        let mut fitting = ORDERS.into_iter().filter(|order| self.orders.has(*order));
        let first = fitting.next()?;
        fitting.next().is_none().then_some(first)
    }
}

/// How a text column would be read as numbers.
#[derive(Debug)]
pub(super) struct AsNumber {
    pub(super) form: NumberForm,
    /// Whether most values of the column are numbers.
    pub(super) is_nearly: bool,
}

/// The numbers of a column in one of the two readings.
#[derive(Debug, Default)]
struct Reading {
    /// The number of values that are not numbers.
    misfits: usize,
    /// The row of the first value that is not a number.
    misfit: Option<usize>,
    thousands: Option<char>,
    /// Whether a value proves this reading, because it is not a number in the other reading.
    is_shown: bool,
}

impl Survey {
    /// Examines a field that marks a missing value.
    pub(super) fn look_at_gap(&mut self, field: &str) {
        let field = field.trim();
        self.empty += usize::from(field.is_empty());
        if gap::is_doubtful(field) && !self.doubtful.iter().any(|known| known == field) {
            self.doubtful.push(field.to_owned());
        }
    }

    pub(super) fn look(&mut self, row: usize, field: &str, kind: Kind) {
        self.filled += 1;
        if kind == Kind::Number {
            return;
        }
        if is_whole(field) {
            // Common case: both readings give the same number.
            self.plain += usize::from(field != "0");
            if self.code.is_none() && field.len() > 1 && field.starts_with('0') {
                self.code = Some(row);
            }
            return;
        }
        if let Some((whole, fraction)) = pointed(field) {
            // Common case: a point before the fraction or before thousands.
            self.plain += 1;
            if (1..=3).contains(&whole) && fraction == 3 && !field.trim_start_matches('-').starts_with('0') {
                self.differs = true;
                match self.readings[1].thousands {
                    None | Some('.') => self.readings[1].thousands = Some('.'),
                    Some(_) => self.readings[1].miss(row),
                }
            } else {
                self.readings[0].is_shown = true;
                self.readings[1].miss(row);
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
            [None, None] => {
                self.times.look(row, field);
                if self.words.len() < 3 && !self.words.iter().any(|word| word.eq_ignore_ascii_case(field)) {
                    self.words.push(field.to_owned());
                }
                return;
            }
        }
        let Some(parts) = parts else { return };
        let is_zero = numbers.iter().flatten().all(|(number, _)| *number == 0.0);
        self.powers += usize::from(parts.power.is_some());
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

    /// Returns whether many rows have the same text and many other rows have none. With few rows of either kind, these
    /// are missing values or remarks.
    fn is_crossed(&self, rows: usize) -> bool {
        const ROWS: usize = 5;
        const PART: usize = 20;
        let least = ROWS.max(rows.div_ceil(PART));
        self.words.len() == 1 && self.filled + self.empty == rows && self.filled.min(self.empty) >= least
    }

    /// Returns how the column would be read as numbers, if some of its values are numbers.
    pub(super) fn as_number(&self, decimal: Option<char>) -> Option<AsNumber> {
        let misfits = |mark: Mark| self.readings[mark as usize].misfits;
        let mark = match misfits(Mark::Point).cmp(&misfits(Mark::Comma)) {
            std::cmp::Ordering::Less => Mark::Point,
            std::cmp::Ordering::Greater => Mark::Comma,
            _ if decimal == Some(',') => Mark::Comma,
            _ => Mark::Point,
        };
        let reading = &self.readings[mark as usize];
        let form = NumberForm {
            decimal: mark.character(),
            thousands: reading.thousands,
            currency: self.currencies.first().map(|sign| (*sign).to_owned()),
            is_percent: self.percents > self.plain,
            has_powers: self.powers > 0,
            is_mixed: false,
            is_ambiguous: false,
        };
        // Codes fit the reading, but are not numbers.
        let is_nearly = reading.misfits * 2 <= self.filled && self.code.is_none();
        (reading.misfits < self.filled).then_some(AsNumber { form, is_nearly })
    }

    /// Returns whether all values are dates.
    fn is_date(&self) -> bool {
        self.filled > 0 && self.times.seen == self.filled && self.times.orders != Orders::NONE
    }

    /// Returns the reading that all values fit, if exactly one does.
    fn shown(&self) -> Option<Mark> {
        match [self.readings[0].misfits, self.readings[1].misfits] {
            [0, 0] => None,
            [0, _] => Some(Mark::Point),
            [_, 0] => Some(Mark::Comma),
            _ => None,
        }
    }

    /// Returns the reading that fits most values.
    fn best(&self) -> Mark {
        if self.readings[1].misfits < self.readings[0].misfits { Mark::Comma } else { Mark::Point }
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

/// Returns whether a field is a number, a date or a time in any notation.
pub(crate) fn is_value(field: &str) -> bool {
    let is_number = |parts: Parts<'_>| Mark::BOTH.iter().any(|mark| parts.number(*mark).is_some());
    let field = field.trim();
    Parts::of(field).is_some_and(is_number) || Date::of(field).is_some() || date::time_of_day(field).is_some()
}

/// Like [`is_value`], for detecting the delimiter: if commas separate fields, a number cannot have a comma.
pub(super) fn is_value_between(field: &str, delimiter: u8) -> bool {
    if delimiter == b',' && field.contains(',') {
        return false;
    }
    is_value(field)
}

/// Returns whether a field has only digits, perhaps after a sign.
fn is_whole(field: &str) -> bool {
    let digits = field.strip_prefix('-').unwrap_or(field);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number of digits before and after the point of a number with a point and perhaps a sign.
fn pointed(field: &str) -> Option<(usize, usize)> {
    let bytes = field.as_bytes();
    let bytes = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || bytes.get(whole) != Some(&b'.') {
        return None;
    }
    let fraction = &bytes[whole + 1..];
    fraction.iter().all(u8::is_ascii_digit).then_some((whole, fraction.len()))
}

/// The decisions about the columns of a table.
pub(super) struct Decided {
    /// How each column is read.
    pub(super) read_as: Vec<ReadAs>,
    /// The decimal separator, if a column shows it.
    pub(super) decimal: Option<char>,
    /// The order of the parts of dates, if a column shows it.
    pub(super) dates: Option<DateOrder>,
    /// For each text column, the words for missing values that are texts in it, because no column of numbers or dates
    /// uses them.
    pub(super) texts: Vec<Vec<String>>,
    pub(super) notes: Vec<String>,
}

/// Decides how all columns are read. If a column is ambiguous, the other columns decide its notation.
pub(super) fn decide(
    names: &[String],
    surveys: &[Survey],
    grid: &Grid,
    form: &TableForm,
    rows: usize,
    has_commas_between: bool,
) -> Decided {
    let mut notes = Vec::new();
    let mut shown: BTreeMap<char, usize> = BTreeMap::new();
    for mark in surveys.iter().filter_map(|survey| survey.shown().filter(|_| survey.is_number())) {
        shown.entry(mark.character()).and_modify(|count| *count += 1).or_insert(1);
    }
    let decimal = match shown.len() {
        1 => shown.keys().next().copied(),
        _ => None,
    };
    let orders: Vec<DateOrder> = surveys
        .iter()
        .filter(|survey| survey.is_date())
        .filter_map(|survey| survey.times.shown().filter(|order| *order != DateOrder::YearFirst))
        .collect();
    let dates = orders.first().copied().filter(|first| orders.iter().all(|order| order == first));
    let others = Others { decimal, dates, has_commas_between };
    let mut read_as = Vec::with_capacity(surveys.len());
    for (column, (name, survey)) in names.iter().zip(surveys).enumerate() {
        let given = form.columns.get(name).cloned();
        let one = if form.text.contains(name) {
            ReadAs::Text
        } else {
            given.unwrap_or_else(|| one(column, name, survey, &others, grid, form, rows, &mut notes))
        };
        read_as.push(one);
    }
    if let [(',', commas), ('.', points)] = shown.iter().map(|(mark, count)| (*mark, *count)).collect::<Vec<_>>()[..] {
        let columns =
            |count: usize| if count == 1 { "1 column has".to_owned() } else { format!("{count} columns have") };
        notes.push(format!("{} a decimal comma and {} a decimal point", columns(commas), columns(points)));
    }
    let mut gaps: HashSet<&str> = form.missing.iter().map(String::as_str).collect();
    for (survey, _) in surveys.iter().zip(&read_as).filter(|(_, read_as)| **read_as != ReadAs::Text) {
        gaps.extend(survey.doubtful.iter().map(String::as_str));
    }
    let mut texts = Vec::with_capacity(surveys.len());
    for (name, survey) in names.iter().zip(surveys) {
        let mut own = survey.doubtful.clone();
        own.retain(|word| survey.filled > 0 && !gaps.contains(&**word));
        if let Some(word) = own.first() {
            let word = quoted(word);
            notes.push(format!("{word} in {name:?} is read as text; if it means a missing value, name it with --na"));
        }
        texts.push(own);
    }
    let (decimal, dates) = (form.decimal.or(decimal), form.dates.or(dates));
    Decided { read_as, decimal, dates, texts, notes }
}

/// The evidence from all columns of a table.
struct Others {
    decimal: Option<char>,
    dates: Option<DateOrder>,
    /// Whether commas separate fields.
    has_commas_between: bool,
}

/// Returns how a column is read, with notes about it. Some of the `rows` rows may have missing values.
#[allow(clippy::too_many_arguments)] // one call, of everything that there is
fn one(
    column: usize,
    name: &str,
    survey: &Survey,
    others: &Others,
    grid: &Grid,
    form: &TableForm,
    rows: usize,
    notes: &mut Vec<String>,
) -> ReadAs {
    if survey.filled == 0 {
        return ReadAs::Text;
    }
    let example = |row: usize| quoted(grid.field(row, column).trim());
    let must_be_number = form.number.iter().any(|number| number == name);
    if survey.is_date() && !must_be_number {
        return date(name, &survey.times, others, form, &example, notes);
    }
    if survey.times.seen == survey.filled && survey.times.are_clocks && !must_be_number {
        return ReadAs::TimeOfDay;
    }
    if survey.times.seen == survey.filled
        && !must_be_number
        && let Some((yes, no)) = truth::pair(&survey.words, survey.filled < rows, survey.is_crossed(rows))
    {
        if no.is_empty() {
            notes.push(format!("{name:?} has {yes:?} or is empty; read as yes or no"));
        }
        return ReadAs::Truth { yes, no };
    }
    if !survey.is_number() && !must_be_number {
        // Most values are numbers, so the other values are more likely mistakes than text.
        let best = survey.readings.iter().min_by_key(|reading| reading.misfits);
        if let Some(Reading { misfits, misfit: Some(row), .. }) = best
            && *misfits * 2 < survey.filled
        {
            let numbers = survey.filled - misfits;
            let line = grid.line(*row);
            notes.push(format!(
                "{name:?} is read as text: {numbers} of its {} values are numbers, but {} in line {line} is not; if it means a missing value, name it with --na",
                survey.filled,
                example(*row)
            ));
        }
        // Most values are dates, or dates contradict each other.
        let Times { dates, other, .. } = survey.times;
        if dates * 2 > survey.filled {
            let why = match other {
                Some(row) => format!(
                    "but {} in line {} is not; if it means a missing value, name it with --na",
                    example(row),
                    grid.line(row)
                ),
                None => "in more than one order of day, month and year; write them in one".to_owned(),
            };
            notes.push(format!("{name:?} is read as text: {dates} of its {} values are dates, {why}", survey.filled));
        }
        return ReadAs::Text;
    }
    const REMEDY: &str = "convert them, or ask for numbers (--as-number) to read them as they are";
    if survey.currencies.len() > 1 && !must_be_number {
        let currencies = survey.currencies.join(", ");
        notes.push(format!("{name:?} is read as text: it has several currencies, {currencies}; {REMEDY}"));
        return ReadAs::Text;
    }
    if survey.percents > 0 && survey.plain > 0 && !must_be_number {
        notes.push(format!(
            "{name:?} is read as text: {} of its values are per cent and {} are not; {REMEDY}",
            survey.percents, survey.plain
        ));
        return ReadAs::Text;
    }
    if let Some(row) = survey.code
        && !must_be_number
    {
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
        // The user asked for numbers although no reading fits all values: values that do not fit are faults.
        None if !survey.is_number() => asked.unwrap_or_else(|| survey.best()),
        None if !survey.differs => Mark::Point,
        None => {
            let by_others = || others.decimal.map(|mark| if mark == ',' { Mark::Comma } else { Mark::Point });
            asked.or_else(by_others).unwrap_or_else(|| {
                // If commas separate fields, an unquoted number has no comma, and a point is a decimal point.
                is_ambiguous = survey.readings[0].thousands.is_some() || !others.has_commas_between;
                Mark::Point
            })
        }
    };
    let reading = &survey.readings[mark as usize];
    if is_ambiguous {
        let row = (0..grid.rows()).find(|row| grid.field(*row, column).contains(['.', ','])).unwrap_or_default();
        let meant = if reading.thousands.is_some() { "thousands" } else { "a fraction" };
        notes.push(format!("{name:?} is ambiguous: the mark in {} may separate thousands or a fraction, and no column shows which; read as {meant}", example(row)));
    }
    if survey.written == 0 && mark == Mark::Point && !is_ambiguous {
        return ReadAs::Number;
    }
    // Only a column that the user asked to read as numbers gets here.
    let is_mixed = survey.currencies.len() > 1 || survey.percents > 0 && survey.plain > 0;
    ReadAs::WrittenNumber(NumberForm {
        decimal: mark.character(),
        thousands: reading.thousands,
        currency: survey.currencies.first().filter(|_| !is_mixed).map(|sign| (*sign).to_owned()),
        is_percent: survey.percents > 0 && !is_mixed,
        has_powers: survey.powers > 0,
        is_mixed,
        is_ambiguous,
    })
}

/// Returns how a column of dates is read.
fn date(
    name: &str,
    times: &Times,
    others: &Others,
    form: &TableForm,
    example: &dyn Fn(usize) -> String,
    notes: &mut Vec<String>,
) -> ReadAs {
    let words = |order: DateOrder| match order {
        DateOrder::DayFirst => "day first",
        DateOrder::MonthFirst => "month first",
        DateOrder::YearFirst => "year first",
    };
    let order = match times.shown() {
        Some(order) => {
            let other = if order == DateOrder::DayFirst { DateOrder::MonthFirst } else { DateOrder::DayFirst };
            if let Some(row) = times.denied[other as usize].filter(|_| order != DateOrder::YearFirst) {
                notes.push(format!(
                    "dates in {name:?} are {}: {} cannot be {}",
                    words(order),
                    example(row),
                    words(other)
                ));
            }
            order
        }
        // All months are words.
        None if times.separator.is_none() => DateOrder::DayFirst,
        None => {
            let asked = form.dates.filter(|order| times.orders.has(*order));
            let by_others = others.dates.filter(|order| times.orders.has(*order));
            asked.or(by_others).unwrap_or_else(|| {
                // With points, the day comes first wherever such dates are used.
                let is_day = times.separator == Some('.') || others.decimal == Some(',');
                let order = if is_day { DateOrder::DayFirst } else { DateOrder::MonthFirst };
                let why = match times.separator {
                    Some('.') => ", as dates with points are",
                    _ if is_day => ", as where numbers have a decimal comma",
                    _ => "",
                };
                notes.push(format!(
                    "dates in {name:?} are ambiguous: no day is above 12; read as {}{why}",
                    words(order)
                ));
                order
            })
        }
    };
    if times.is_short {
        notes.push(format!("years in {name:?} have two digits: 69 to 99 are of 19.., 00 to 68 of 20.."));
    }
    if times.zones > 0 && times.zones < times.seen {
        notes.push(format!(
            "{} of the {} times in {name:?} have a zone; the others are taken as UTC",
            times.zones, times.seen
        ));
    }
    let parts = match order {
        DateOrder::DayFirst => ["day", "month", "year"],
        DateOrder::MonthFirst => ["month", "day", "year"],
        DateOrder::YearFirst => ["year", "month", "day"],
    };
    let form = match times.separator {
        Some(separator) => parts.join(&separator.to_string()),
        None => "day month year, the month a word".into(),
    };
    ReadAs::Date { form, has_time: times.has_time }
}

/// Returns the number in a field of a numeric column.
pub(super) fn number_as(read_as: &ReadAs, field: &str) -> Option<f64> {
    match read_as {
        ReadAs::Number => number::plain(field.trim()),
        ReadAs::WrittenNumber(form) => form.number(field),
        _ => None,
    }
}

/// Returns the order of the parts that a date form names.
fn order_of(form: &str) -> DateOrder {
    if form.starts_with("year") {
        DateOrder::YearFirst
    } else if form.starts_with("month") {
        DateOrder::MonthFirst
    } else {
        DateOrder::DayFirst
    }
}

/// Returns the values of a column that is read as `read_as`, and the rows with another notation. `texts` are words for
/// missing values that are texts in this column.
pub(super) fn values(
    read_as: &ReadAs,
    column: usize,
    rows: &[usize],
    grid: &Grid,
    missing: &[String],
    texts: &[String],
) -> (Values, Vec<usize>) {
    let mut misfits = Vec::new();
    // -999 is missing in any notation of the column: -999.0, -999,00.
    let marks: Vec<f64> = missing.iter().filter_map(|text| number::plain(text)).collect();
    let is_asked_gap =
        |field: &str, value: f64| !missing.is_empty() && (marks.contains(&value) || gap::is_gap(field, missing));
    let mut numbers = |rows: &mut dyn Iterator<Item = usize>, read: &dyn Fn(&str) -> Option<f64>| -> Vec<f64> {
        rows.map(|row| {
            let field = grid.field(row, column).trim();
            let value = if grid.kind(row, column) == Kind::Number { number::plain(field) } else { read(field) };
            if value.is_none() && !gap::is_gap(field, missing) {
                misfits.push(row);
            }
            value.filter(|value| !is_asked_gap(field, *value)).unwrap_or(f64::NAN)
        })
        .collect()
    };
    let rows = &mut rows.iter().copied();
    let values = match read_as {
        ReadAs::Number => Values::Numbers(numbers(rows, &number::plain)),
        ReadAs::WrittenNumber(form) => Values::Numbers(numbers(rows, &|field| form.number(field))),
        ReadAs::Truth { yes, no } => {
            let (yes, no) = (yes.to_lowercase(), no.to_lowercase());
            Values::Numbers(numbers(rows, &|field| {
                let field = field.to_lowercase();
                if field == yes { Some(1.0) } else { (field == no).then_some(0.0) }
            }))
        }
        ReadAs::Date { form, .. } => {
            let order = order_of(form);
            Values::Times(numbers(rows, &|field| Date::of(field)?.seconds(order)))
        }
        ReadAs::TimeOfDay => Values::Numbers(numbers(rows, &date::time_of_day)),
        ReadAs::Text => {
            let texts = rows.map(|row| {
                let field = grid.field(row, column).trim();
                if gap::is_gap(field, missing) && !texts.iter().any(|text| text == field) { "" } else { field }
            });
            Values::Categories(Categories::of(texts))
        }
    };
    (values, misfits)
}
