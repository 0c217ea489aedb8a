//! Tests tables in the notations of many countries and programs: the values are bit-identical after reading.

use lehr_data::frame::{DataFrame, Values};
use lehr_data::read::{TableForm, data_frame_from};
use proptest::prelude::*;

/// The notation in which a table is written.
#[derive(Debug, Clone, Copy)]
struct Manner {
    delimiter: char,
    decimal: char,
    thousands: Option<char>,
    currency: &'static str,
    is_behind: bool,
    has_parentheses: bool,
    day_first: bool,
    line_end: &'static str,
    gap: &'static str,
    title: bool,
}

fn manners() -> impl Strategy<Value = Manner> {
    let numbers = prop::sample::select(vec![
        (',', '.', Some(','), "$", false),
        (';', ',', Some('.'), "€", true),
        ('\t', ',', Some('\u{a0}'), "€", true),
        (';', '.', Some('\''), "CHF", false),
        (',', '.', None, "£", false),
        ('|', ',', None, "kr", true),
    ]);
    let rest = (
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec!["\n", "\r\n", "\r"]),
        prop::sample::select(vec!["", "NA", "n/a", "-", "?", "#N/A", "null"]),
        any::<bool>(),
    );
    (numbers, rest).prop_map(
        |((delimiter, decimal, thousands, currency, is_behind), (has_parentheses, day_first, line_end, gap, title))| {
            Manner {
                delimiter,
                decimal,
                thousands,
                currency,
                is_behind,
                has_parentheses,
                day_first,
                line_end,
                gap,
                title,
            }
        },
    )
}

impl Manner {
    fn number(&self, value: f64, decimals: usize) -> String {
        let plain = format!("{:.*}", decimals, value.abs());
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let mut grouped = String::new();
        for (place, digit) in whole.chars().enumerate() {
            if place > 0 && (whole.len() - place) % 3 == 0 {
                grouped.extend(self.thousands);
            }
            grouped.push(digit);
        }
        if decimals > 0 {
            grouped.push(self.decimal);
            grouped.push_str(fraction);
        }
        match (value < 0.0, self.has_parentheses) {
            (true, true) => format!("({grouped})"),
            (true, false) => format!("-{grouped}"),
            (false, _) => grouped,
        }
    }

    fn money(&self, value: f64) -> String {
        let number = self.number(value, 2);
        if self.is_behind { format!("{number} {}", self.currency) } else { format!("{} {number}", self.currency) }
    }

    fn field(&self, text: &str) -> String {
        if text.contains([self.delimiter, '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    }
}

fn numbers(frame: &DataFrame, column: &str) -> Vec<Option<u64>> {
    match &frame.column(column).unwrap().values {
        Values::Numbers(values) | Values::Times(values) => {
            values.iter().map(|value| (!value.is_nan()).then(|| value.to_bits())).collect()
        }
        Values::Categories(_) => panic!("{column} is text: {:?}", frame.notes()),
    }
}

proptest! {
    #[test]
    fn what_is_written_in_any_manner_is_read_back(
        manner in manners(),
        rows in prop::collection::vec((prop::option::of(-99_999_999_i64..99_999_999), -50_000_i64..50_000, 0_i64..20_000, "[a-z]{2,6}[ ,;\"é]{0,2}[a-z]{1,6}", any::<bool>()), 2..30),
    ) {
        // A number above a thousand with a fraction, and a day above 12, show the notation.
        let shown = (Some(123_456_789), 1, 19_004, "ab cd".to_owned(), true);
        let rows: Vec<_> = rows.into_iter().chain([shown.clone(), (Some(-99_950), -5, 12, "cd ef".to_owned(), false)]).collect();
        let end = manner.line_end;
        let mut text = String::new();
        if manner.title {
            text.push_str(&format!("Report of all shops{end}{end}"));
        }
        let line = |fields: [String; 5]| fields.join(&manner.delimiter.to_string()) + end;
        text.push_str(&line(["name", "money", "share", "day", "open"].map(str::to_owned)));
        for (cents, tenths, days, name, open) in &rows {
            let money = cents.map_or(manner.gap.to_owned(), |cents| manner.money(cents as f64 / 100.0));
            let (year, month, day) = (2000 + days / 372, days / 31 % 12 + 1, days % 28 + 1);
            let date = if manner.day_first { format!("{day}/{month}/{year}") } else { format!("{month}/{day}/{year}") };
            let open = if *open { "yes" } else { "no" };
            text.push_str(&line([manner.field(name), manner.field(&money), manner.field(&manner.number(*tenths as f64 / 10.0, 1)), date, open.to_owned()]));
        }
        let frame = data_frame_from(text.as_bytes(), "t.csv", &TableForm::default()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(frame.rows(), rows.len(), "{}", text);
        let bits = |value: f64| Some((value + 0.0).to_bits());
        let parsed = |value: f64, decimals: usize| format!("{value:.decimals$}").parse::<f64>().unwrap();
        prop_assert_eq!(numbers(&frame, "money"), rows.iter().map(|row| row.0.and_then(|cents| bits(parsed(cents as f64 / 100.0, 2)))).collect::<Vec<_>>(), "{}", text);
        prop_assert_eq!(numbers(&frame, "share"), rows.iter().map(|row| bits(parsed(row.1 as f64 / 10.0, 1))).collect::<Vec<_>>(), "{}", text);
        prop_assert_eq!(numbers(&frame, "open"), rows.iter().map(|row| bits(f64::from(u8::from(row.4)))).collect::<Vec<_>>(), "{}", text);
        let Values::Categories(names) = &frame.column("name").unwrap().values else { panic!("names are text") };
        for (row, (.., name, _)) in rows.iter().enumerate() {
            prop_assert_eq!(names.text(row), Some(name.trim()));
        }
        prop_assert!(matches!(frame.column("day").unwrap().values, Values::Times(_)), "{:?}", frame.notes());
        let said = if manner.day_first { "day first" } else { "month first" };
        prop_assert!(frame.notes().iter().any(|note| note.contains(said)), "{:?}", frame.notes());
    }

    #[test]
    fn any_bytes_are_a_table_or_an_error(bytes in prop::collection::vec(prop::sample::select(b"ab,;\t\"'\\\n\r 0129.-%$()/:\xff\xe9{}[]|=NAx".to_vec()), 0..200)) {
        if let Ok(frame) = data_frame_from(&bytes[..], "t", &TableForm::default()) {
            prop_assert!(frame.columns().iter().all(|column| column.values.len() == frame.rows()));
        }
    }
}
