//! The display of numbers: grouped, with few digits, and with their unit.
//!
//! Files for programs (`labels.csv`, `centers.csv`, `summary.json`) do not use these functions, because they contain
//! every digit.

/// Formats a whole number with commas: `201174` becomes `201,174`.
pub fn grouped(number: u64) -> String {
    group(&number.to_string())
}

/// Formats `value` with `digits` significant digits, grouped. Numbers from 10^7 upwards and below 10^-4 become powers
/// of ten.
///
/// Whole numbers below 10^7 keep all their digits. Zero is `0`.
pub fn significant(value: f64, digits: usize) -> String {
    let digits = digits.max(1);
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{:.*e}", digits - 1, value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if value < 0.0 { "-" } else { "" };
    if !(-4..7).contains(&exponent) {
        return format!("{sign}{}e{exponent}", without_trailing_zeros(mantissa));
    }
    if value.fract() == 0.0 {
        return format!("{sign}{}", group(&format!("{:.0}", value.abs())));
    }
    fixed(value, usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0))
}

/// Formats values for a column. All have the number of decimals that gives the largest value `digits` significant
/// digits. If the smallest value would have fewer than two digits, [`significant`] formats each value.
pub fn column(values: &[f64], digits: usize) -> Vec<String> {
    let sizes = || values.iter().map(|value| value.abs()).filter(|size| *size > 0.0 && size.is_finite());
    let (low, high) = sizes().fold((f64::INFINITY, 0.0_f64), |(low, high), size| (low.min(size), high.max(size)));
    let exponent = |size: f64| libm::log10(size).floor() as i32;
    if high == 0.0 || exponent(high) >= 7 || exponent(low) < -4 {
        return values.iter().map(|&value| significant(value, digits)).collect();
    }
    let whole = values.iter().all(|value| value.fract() == 0.0);
    let decimals = if whole { 0 } else { (digits as i32 - 1 - exponent(high)).max(0) };
    if !whole && decimals + exponent(low) < 1 {
        return values.iter().map(|&value| significant(value, digits)).collect();
    }
    values.iter().map(|&value| fixed(value, decimals as usize)).collect()
}

/// Formats a weight or a count that may have been computed. Whole numbers keep all digits; other numbers have four.
pub fn amount(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{}{}", if value < 0.0 { "-" } else { "" }, group(&format!("{:.0}", value.abs())));
    }
    significant(value, 4)
}

/// Formats a value with its unit, if it has one: `12.5 km²`.
pub fn quantity(value: f64, unit: &str) -> String {
    if unit.is_empty() { significant(value, 4) } else { format!("{} {unit}", significant(value, 4)) }
}

/// Formats a share as a percentage with one decimal: `9.1 %`.
pub fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{:.1} %", 100.0 * part / whole) } else { "0.0 %".to_owned() }
}

/// Formats seconds in readable form: `0.042 s`, `3.21 s`, `2 min 05 s`, `1 h 02 min`.
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    if seconds < 0.0995 {
        format!("{seconds:.3} s")
    } else if seconds < 59.95 {
        format!("{} s", significant(seconds, if seconds < 10.0 { 3 } else { 2 }))
    } else if seconds < 3600.0 {
        let whole = seconds.round() as u64;
        format!("{} min {:02} s", whole / 60, whole % 60)
    } else {
        let minutes = (seconds / 60.0).round() as u64;
        format!("{} h {:02} min", minutes / 60, minutes % 60)
    }
}

/// Formats a count with its noun: `1 point`, `201,174 points`.
pub fn counted(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(number)) }
}

/// Names rows by their numbers from 1, with the verb that follows: `row 4 has`, `rows 3 and 7 have`,
/// `12 rows (1, 2, 3, 4, 5 and 7 more) have`. Returns `None` for no rows.
pub fn named_rows(rows: &[usize]) -> Option<String> {
    const NAMED: usize = 5;
    let names: Vec<String> = rows.iter().take(NAMED).map(|row| (row + 1).to_string()).collect();
    Some(match rows {
        [] => return None,
        [_] => format!("row {} has", names[0]),
        [.., _] if rows.len() <= NAMED => {
            let (last, first) = names.split_last()?;
            format!("rows {} and {last} have", first.join(", "))
        }
        _ => format!("{} rows ({} and {} more) have", rows.len(), names.join(", "), rows.len() - NAMED),
    })
}

/// Formats a number of batches: "1 batch", "1,200 batches".
pub fn batches(number: u64) -> String {
    if number == 1 { "1 batch".to_owned() } else { format!("{} batches", grouped(number)) }
}

/// Formats a number with this many decimals, grouped. A value that rounds to zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let plain = format!("{:.decimals$}", value.abs());
    let sign = if value < 0.0 && plain.bytes().any(|digit| (b'1'..=b'9').contains(&digit)) { "-" } else { "" };
    match plain.split_once('.') {
        Some((whole, fraction)) => format!("{sign}{}.{fraction}", group(whole)),
        None => format!("{sign}{}", group(&plain)),
    }
}

fn group(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn without_trailing_zeros(mantissa: &str) -> &str {
    if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa }
}

/// Aligns rows of text on the left, in columns of the necessary width. The first row has the headers.
pub fn left_aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: Vec<usize> =
        (0..N).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Aligns columns of text on the right below their headers, with a line end after every row. All columns must have the
/// same number of cells.
pub fn aligned(columns: &[(&str, Vec<String>)]) -> String {
    let width = |(head, cells): &(&str, Vec<String>)| {
        cells.iter().map(|cell| cell.chars().count()).chain([head.chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let rows = columns.first().map_or(0, |(_, cells)| cells.len());
    let mut text = String::new();
    for line in 0..=rows {
        let cell =
            |(head, cells): &(&str, Vec<String>)| if line == 0 { (*head).to_owned() } else { cells[line - 1].clone() };
        let cells: Vec<String> =
            columns.iter().zip(&widths).map(|(column, &width)| format!("{:>width$}", cell(column))).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_grouped() {
        assert_eq!(
            [0, 7, 999, 1000, 201_174, 1_000_000].map(grouped),
            ["0", "7", "999", "1,000", "201,174", "1,000,000"]
        );
    }

    #[test]
    fn values_keep_the_digits_asked_for() {
        assert_eq!(significant(1234.5678, 4), "1,235");
        assert_eq!(significant(-115.139_83, 5), "-115.14");
        assert_eq!(significant(0.012_345_6, 3), "0.0123");
        assert_eq!(significant(99.996, 4), "100.0");
        assert_eq!(significant(1.5e9, 4), "1.5e9");
        assert_eq!(significant(2.5e-7, 4), "2.5e-7");
        assert_eq!(significant(12_345.0, 3), "12,345");
        assert_eq!(significant(0.0, 4), "0");
        assert_eq!(significant(-0.0, 4), "0");
    }

    #[test]
    fn a_column_has_the_same_decimals_throughout() {
        assert_eq!(column(&[-115.139_83, 81.6, 0.5], 5), ["-115.14", "81.60", "0.50"]);
        assert_eq!(column(&[1200.0, 7.0, 0.0], 4), ["1,200", "7", "0"]);
        assert_eq!(column(&[1234.5, 0.01, -1e-9], 4), ["1,234", "0.01000", "-1e-9"], "too unlike for one form");
        assert_eq!(column(&[12.5, 0.26, 0.0], 4), ["12.50", "0.26", "0.00"]);
        assert!(column(&[], 4).is_empty());
    }

    #[test]
    fn seconds_are_read_as_a_person_says_them() {
        assert_eq!(
            [0.0123, 3.21449, 42.03, 59.97, 125.2, 3720.0].map(duration),
            ["0.012 s", "3.21 s", "42 s", "1 min 00 s", "2 min 05 s", "1 h 02 min"]
        );
    }

    #[test]
    fn amounts_shares_and_counts() {
        assert_eq!(amount(6_827_000.0), "6,827,000");
        assert_eq!(amount(0.25), "0.2500");
        assert_eq!(share(1.0, 8.0), "12.5 %");
        assert_eq!(share(0.0, 0.0), "0.0 %");
        let rows: Vec<usize> = (2..15).collect();
        let named = |count: usize| named_rows(&rows[..count]);
        assert_eq!((named(0), named(1)), (None, Some("row 3 has".to_owned())));
        assert_eq!(named(3).unwrap(), "rows 3, 4 and 5 have");
        assert_eq!(named(13).unwrap(), "13 rows (3, 4, 5, 6, 7 and 8 more) have");
        assert_eq!((counted(1, "point"), counted(1200, "row")), ("1 point".to_owned(), "1,200 rows".to_owned()));
    }
}
