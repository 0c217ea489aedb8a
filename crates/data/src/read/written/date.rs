//! Dates and times in the notation of people, in seconds since 1970-01-01 00:00 UTC.
//!
//! `3/4/2021` is a day in March or in April. A date is read in every order that its parts allow ([`Date::orders`]). All
//! dates of the column together decide which order is right. Months may be words of five languages. A time without a
//! zone is taken as UTC.

use crate::read::DateOrder;

/// The first letters of months in English, German, French, Spanish and Italian, as many as are needed to distinguish
/// the months.
const MONTHS: [(&str, u32); 59] = [
    ("january", 1),
    ("januar", 1),
    ("jänner", 1),
    ("janvier", 1),
    ("enero", 1),
    ("gennaio", 1),
    ("february", 2),
    ("februar", 2),
    ("février", 2),
    ("fevrier", 2),
    ("febrero", 2),
    ("febbraio", 2),
    ("march", 3),
    ("märz", 3),
    ("maerz", 3),
    ("mars", 3),
    ("marzo", 3),
    ("mrz", 3),
    ("april", 4),
    ("avril", 4),
    ("abril", 4),
    ("aprile", 4),
    ("may", 5),
    ("mai", 5),
    ("mayo", 5),
    ("maggio", 5),
    ("june", 6),
    ("juni", 6),
    ("juin", 6),
    ("junio", 6),
    ("giugno", 6),
    ("july", 7),
    ("juli", 7),
    ("juillet", 7),
    ("julio", 7),
    ("luglio", 7),
    ("august", 8),
    ("août", 8),
    ("aout", 8),
    ("agosto", 8),
    ("september", 9),
    ("septembre", 9),
    ("septiembre", 9),
    ("settembre", 9),
    ("sept", 9),
    ("october", 10),
    ("oktober", 10),
    ("octobre", 10),
    ("octubre", 10),
    ("ottobre", 10),
    ("okt", 10),
    ("november", 11),
    ("novembre", 11),
    ("noviembre", 11),
    ("december", 12),
    ("dezember", 12),
    ("décembre", 12),
    ("diciembre", 12),
    ("dicembre", 12),
];

/// The first letters of weekdays in English, German, French, Spanish and Italian.
const WEEKDAYS: [&str; 22] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "mo", "di", "mi", "do", "fr", "sa", "so", "lun", "mar", "mer",
    "jeu", "ven", "sam", "dim", "dom",
];

/// A set of possible orders of the parts of a date.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Orders(u8);

impl Orders {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(7);

    pub(crate) fn of(order: DateOrder) -> Self {
        Self(match order {
            DateOrder::DayFirst => 1,
            DateOrder::MonthFirst => 2,
            DateOrder::YearFirst => 4,
        })
    }

    pub(crate) fn has(self, order: DateOrder) -> bool {
        self.0 & Self::of(order).0 != 0
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// The parts of a date.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Date {
    /// The parts in their written order; a month in words is its number.
    parts: [u32; 3],
    /// The orders that give an existing day.
    pub(crate) orders: Orders,
    /// Whether the year has two digits.
    pub(crate) is_short: bool,
    /// The separator between the parts; `None` if the month is a word.
    pub(crate) separator: Option<char>,
    /// The seconds since midnight.
    pub(crate) time: Option<f64>,
    /// The offset of the clock from UTC, in seconds.
    pub(crate) zone: Option<f64>,
}

impl Date {
    /// Returns the date in a text; `None` if it is not a date in any order.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = without_weekday(text.trim());
        if !(6..=48).contains(&text.len()) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (date, clock) = match text.find(':') {
            None => (text, None),
            Some(colon) => {
                let hour = text[..colon].trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
                // The last character before the hour separates it from the date.
                let (date, clock) = text.split_at(hour);
                (date.strip_suffix(['T', 't', ' ', ','])?, Some(clock))
            }
        };
        let (time, zone) = match clock {
            None => (None, None),
            Some(clock) => time_of(clock).map(|(time, zone)| (Some(time), zone))?,
        };
        let date = date.trim_end_matches([',', ' ']);
        let (parts, orders, is_short, separator) = day_of(date)?;
        Some(Self { parts, orders, is_short, separator, time, zone })
    }

    /// Returns the seconds since 1970 with the parts in this order, if they are a valid day.
    pub(crate) fn seconds(&self, order: DateOrder) -> Option<f64> {
        if !self.orders.has(order) {
            return None;
        }
        // With a month in words, the parts are unambiguous and have one order.
        let order = if self.separator.is_none() { DateOrder::DayFirst } else { order };
        let [year, month, day] = arranged(self.parts, order, self.is_short);
        let days = days_since_1970(i64::from(year), month, day);
        Some(days as f64 * 86_400.0 + self.time.unwrap_or(0.0) - self.zone.unwrap_or(0.0))
    }
}

/// Returns the seconds since midnight, if a text is only a time of day.
pub(crate) fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim();
    // 18.30.00 is a time, as in Italy; 18.30 is a number.
    let is_pointed = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && text.split('.').count() == 3
        && text.split('.').skip(1).all(|part| part.len() == 2);
    let colons = is_pointed.then(|| text.replace('.', ":"));
    match time_of(colons.as_deref().unwrap_or(text))? {
        (time, None) => Some(time),
        _ => None,
    }
}

fn without_weekday(text: &str) -> &str {
    let Some((word, rest)) = text.split_once([' ', ',']) else { return text };
    let word = word.trim_end_matches('.').to_lowercase();
    let is_weekday = word.len() >= 2
        && WEEKDAYS.iter().any(|day| word.starts_with(day))
        && month_of(&word).is_none()
        && word.chars().all(char::is_alphabetic);
    if is_weekday { rest.trim_start_matches([' ', ',']) } else { text }
}

fn month_of(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_lowercase();
    if word.chars().count() < 3 {
        return None;
    }
    MONTHS.iter().find(|(name, _)| name.starts_with(&*word)).map(|(_, month)| *month)
}

/// Returns the parts of a date, the orders in which they are valid, whether the year is short, and the separator.
fn day_of(text: &str) -> Option<([u32; 3], Orders, bool, Option<char>)> {
    let tokens: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|token| !token.is_empty()).collect();
    let [a, b, c] = tokens[..] else { return None };
    let digits =
        |token: &str| token.bytes().all(|byte| byte.is_ascii_digit()).then(|| token.parse::<u32>().ok()).flatten();
    let is_year = |token: &str| matches!(token.len(), 2 | 4);
    if let Some(month) = month_of(b) {
        // 23-Apr-2021, 23. April 2021, 2021-Apr-23
        let (first, last) = (digits(a)?, digits(c)?);
        let order = if a.len() == 4 { DateOrder::YearFirst } else { DateOrder::DayFirst };
        let (year, day) = if a.len() == 4 { (a, last) } else { (c, first) };
        let is_day =
            is_year(year) && is_day(arranged([first, month, last], order, year.len() == 2)) && (1..=31).contains(&day);
        // With a month in words, the date is valid in any requested order.
        return is_day.then_some((normal([first, month, last], order), Orders::ALL, year.len() == 2, None));
    }
    if let Some(month) = month_of(a) {
        // Apr 23, 2021
        let (day, year) = (digits(b)?, digits(c)?);
        let is_day = is_year(c) && is_day(arranged([day, month, year], DateOrder::DayFirst, c.len() == 2));
        return is_day.then_some(([day, month, year], Orders::ALL, c.len() == 2, None));
    }
    let parts = [digits(a)?, digits(b)?, digits(c)?];
    let mut separators = text.chars().filter(|character| !character.is_ascii_digit());
    let (first, second) = (separators.next()?, separators.next()?);
    if first != second || separators.next().is_some() || !matches!(first, '-' | '/' | '.') {
        return None;
    }
    let is_short = |token: &str| (1..=2).contains(&token.len());
    if a.len() == 4 {
        let is_date = is_short(b) && is_short(c) && is_day(parts);
        return is_date.then(|| (parts, Orders::of(DateOrder::YearFirst), false, Some(first)));
    }
    // Version numbers have points too, but rarely two digits in each part.
    let is_plain = c.len() == 4 || (c.len() == 2 && (first != '.' || (a.len() == 2 && b.len() == 2)));
    if !is_short(a) || !is_short(b) || !is_plain {
        return None;
    }
    let mut orders = Orders::NONE;
    for order in [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst] {
        let has_year = order != DateOrder::YearFirst || (a.len() == 2 && c.len() == 2);
        if has_year && is_day(arranged(parts, order, c.len() == 2)) {
            orders = orders.with(Orders::of(order));
        }
    }
    (orders != Orders::NONE).then_some((parts, orders, c.len() == 2, Some(first)))
}

/// Puts the day first, if the month is a word.
fn normal(parts: [u32; 3], order: DateOrder) -> [u32; 3] {
    if order == DateOrder::YearFirst { [parts[2], parts[1], parts[0]] } else { parts }
}

/// Returns the year, the month and the day.
fn arranged(parts: [u32; 3], order: DateOrder, is_short: bool) -> [u32; 3] {
    let [year, month, day] = match order {
        DateOrder::DayFirst => [parts[2], parts[1], parts[0]],
        DateOrder::MonthFirst => [parts[2], parts[0], parts[1]],
        DateOrder::YearFirst => parts,
    };
    // As in POSIX, 69 is 1969 and 68 is 2068.
    let year = if is_short && year < 100 { year + if year < 69 { 2000 } else { 1900 } } else { year };
    [year, month, day]
}

fn is_day([year, month, day]: [u32; 3]) -> bool {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(is_leap),
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Returns the days since 1970-01-01 in the Gregorian calendar (Hinnant's algorithm for civil dates).
fn days_since_1970(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((i64::from(month) + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns the seconds since midnight, and the clock's offset from UTC.
fn time_of(text: &str) -> Option<(f64, Option<f64>)> {
    let end = text
        .find(|character: char| !(character.is_ascii_digit() || matches!(character, ':' | '.' | ',')))
        .unwrap_or(text.len());
    let (clock, mut rest) = (&text[..end], text[end..].trim());
    let mut fields = clock.split(':');
    let (hour, minute, second) = (fields.next()?, fields.next()?, fields.next());
    let whole = |text: &str| {
        ((1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<u32>().ok())
            .flatten()
    };
    let (mut hour, minute) = (whole(hour)?, whole(minute).filter(|minute| *minute < 60)?);
    let second: f64 = match second {
        None => 0.0,
        Some(second) => {
            let second = second.replace(',', ".");
            whole(second.split('.').next()?).filter(|second| *second < 60)?;
            second.parse().ok()?
        }
    };
    if fields.next().is_some() {
        return None;
    }
    let lower = rest.to_lowercase();
    for (word, is_afternoon) in [("a.m.", false), ("p.m.", true), ("am", false), ("pm", true)] {
        if lower.starts_with(word) {
            if !(1..=12).contains(&hour) {
                return None;
            }
            hour = hour % 12 + if is_afternoon { 12 } else { 0 };
            rest = rest[word.len()..].trim();
            break;
        }
    }
    if hour > 23 {
        return None;
    }
    let time = f64::from(hour * 3600 + minute * 60) + second;
    if rest.is_empty() {
        return Some((time, None));
    }
    let zone = rest.strip_prefix("UTC").or_else(|| rest.strip_prefix("GMT")).unwrap_or(rest).trim();
    if matches!(zone, "Z" | "z") || (zone.is_empty() && !rest.is_empty()) {
        return Some((time, Some(0.0)));
    }
    let ahead = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits: String = zone.strip_prefix(['+', '-'])?.chars().filter(|character| *character != ':').collect();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes) = match digits.len() {
        1 | 2 => (digits.parse::<u32>().ok()?, 0),
        4 => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
        _ => return None,
    };
    (hours <= 14 && minutes < 60).then(|| (time, Some(ahead * f64::from(hours * 3600 + minutes * 60))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> [Option<f64>; 3] {
        [DateOrder::DayFirst, DateOrder::MonthFirst, DateOrder::YearFirst].map(|order| Date::of(text)?.seconds(order))
    }

    #[test]
    fn a_date_is_read_in_every_order_that_it_allows() {
        let day = |days: f64| Some(days * 86_400.0);
        // 2021-04-23 is day 18740.
        let is_named = [day(18_740.0); 3];
        assert_eq!(read("2021-04-23"), [None, None, day(18_740.0)]);
        assert_eq!(read("2021/4/23"), [None, None, day(18_740.0)]);
        assert_eq!(read("23.04.2021"), [day(18_740.0), None, None]);
        assert_eq!(read("4/23/2021"), [None, day(18_740.0), None]);
        assert_eq!(read("4/3/2021"), [day(18_690.0), day(18_720.0), None]);
        assert_eq!(read("23.04.21"), [day(18_740.0), None, day(19_468.0)]);
        for named in [
            "23-Apr-2021",
            "23 April 2021",
            "23. April 2021",
            "Apr 23, 2021",
            "2021-Apr-23",
            "23 avr. 2021",
            "Fri, 23 Apr 2021",
            "Freitag, 23. April 2021",
            "23-Apr-21",
        ] {
            assert_eq!(read(named), is_named, "{named}");
        }
        assert_eq!(read("1.1.1970")[0], Some(0.0));
        assert_eq!(read("29.2.2020")[0], day(18_321.0));
        for none in [
            "29.2.2021",
            "32.1.2021",
            "1.2.3",
            "1.2.10",
            "10.0.0.1",
            "2021",
            "04/2021",
            "1 2 2021",
            "044 123 45 67",
            "May",
            "abc-def-ghi",
            "2021-04-23-1",
            "12-2021-04",
        ] {
            assert_eq!(read(none), [None; 3], "{none}");
        }
    }

    #[test]
    fn times_have_clocks_and_zones() {
        let time = |text: &str| read(text)[2].map(|seconds| seconds - 18_740.0 * 86_400.0);
        assert_eq!(time("2021-04-23T10:15"), Some(36_900.0));
        assert_eq!(time("2021-04-23 10:15:30.5"), Some(36_930.5));
        assert_eq!(time("2021-04-23T10:15:00Z"), Some(36_900.0));
        assert_eq!(time("2021-04-23T10:15:00+02:00"), Some(29_700.0));
        assert_eq!(time("2021-04-23 10:15:00 -0500"), Some(54_900.0));
        assert_eq!(time("2021-04-23 1:15 PM"), Some(47_700.0));
        assert_eq!(time("2021-04-23, 12:15 a.m."), Some(900.0));
        for none in
            ["2021-04-23 25:00", "2021-04-23 10:61", "2021-04-23 13:00 PM", "2021-04-23 10:15 x", "2021-04-2310:15"]
        {
            assert_eq!(time(none), None, "{none}");
        }
        assert_eq!(
            (time_of_day("08:30"), time_of_day("8:30 pm"), time_of_day("8.30"), time_of_day("8:30Z")),
            (Some(30_600.0), Some(73_800.0), None, None)
        );
    }

    #[test]
    fn days_agree_with_a_count_from_the_epoch() {
        let mut days = 0;
        for year in 1970..2110 {
            for month in 1..=12 {
                for day in (1..=31).filter(|day| is_day([year, month, *day])) {
                    assert_eq!(days_since_1970(i64::from(year), month, day), days);
                    days += 1;
                }
            }
        }
    }
}
