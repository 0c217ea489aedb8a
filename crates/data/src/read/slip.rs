//! Fields that people read as numbers but programs read differently, and the reason for each.
//!
//! If all values of a column have one notation, Lehr reads them in this notation (`written.rs`). Fields in another
//! notation than the rest of their column are reported with a reason. A column with several notations that is left out
//! is reported even under `--quiet`, because it is probably not meant as text.

/// Returns the reason why a field is not a number, if without a small slip it would be a finite number.
///
/// # Example
/// ```
/// use lehr_data::read::slip;
/// assert_eq!(slip("1,234.5"), Some("with a comma where numbers have a point"));
/// assert_eq!(slip("0.04%"), Some("with a percent sign"));
/// assert_eq!(slip("$12"), Some("with a currency sign"));
/// assert_eq!(slip("12 000"), Some("with marks between its digits"));
/// assert_eq!((slip("12"), slip("12 May"), slip("%")), (None, None, None));
/// ```
pub fn slip(field: &str) -> Option<&'static str> {
    const COMMA: &str = "with a comma where numbers have a point";
    let field = field.trim();
    if is_number(field) {
        return None;
    }
    if is_number_with_commas(field) {
        return Some(COMMA);
    }
    let is_loose = |text: &str| {
        let text = text.trim();
        is_number(text) || is_number_with_commas(text) || is_grouped(text)
    };
    if let Some(number) = field.strip_suffix(['%', '‰']).or_else(|| field.strip_prefix('%')) {
        return is_loose(number).then_some("with a percent sign");
    }
    // A sign may come before or after the currency: -$5, $-5.
    let unsigned = field.strip_prefix(['-', '+']).unwrap_or(field);
    const CURRENCIES: [char; 5] = ['$', '€', '£', '¥', '₹'];
    if let Some(number) = unsigned.strip_prefix(CURRENCIES).or_else(|| field.strip_suffix(CURRENCIES)) {
        return is_loose(number).then_some("with a currency sign");
    }
    is_grouped(field).then_some("with marks between its digits")
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns whether a field would be a finite number without its commas: `3,14` or `1,234.5`.
pub(crate) fn is_number_with_commas(field: &str) -> bool {
    field.contains(',') && is_number(&field.trim().replace(',', ""))
}

/// Returns whether a field is a number with spaces, apostrophes or underscores between thousands, such as `12 000`.
fn is_grouped(field: &str) -> bool {
    const MARKS: [char; 6] = [' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}', '_'];
    let unsigned = field.strip_prefix(['-', '+']).unwrap_or(field);
    let whole = unsigned.split(['.', ',']).next().unwrap_or_default();
    let mut groups = whole.split(MARKS);
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let begins = groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && is_digits(first));
    let rest: Vec<&str> = groups.collect();
    begins
        && !rest.is_empty()
        && rest.iter().all(|group| group.len() == 3 && is_digits(group))
        && is_number(&unsigned.replace(MARKS, "").replace(',', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_reads_as_a_number_is_told_from_text() {
        for field in ["5%", " 5 %", "-0,5 %", "12‰", "€ 5", "5€", "-$5.50", "$1,234", "12'000", "1 234 567,5", "1_000"]
        {
            assert!(slip(field).is_some(), "{field}");
        }
        for field in ["", "%", "$", "12A", "1 2", "044 123 45 67", "12 May", "3x", "1e5", "NaN", "inf", "A 100", "5 km"]
        {
            assert_eq!(slip(field), None, "{field}");
        }
    }
}
