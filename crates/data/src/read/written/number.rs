//! Numbers in the notation of people: `1,818.99`, `1.818,99 €`, `(12.50)`, `1.7%`, `$56.7M`.
//!
//! A single number does not show the meaning of a comma or a point. In one country, `1,234` is more than one thousand;
//! in another, slightly more than one. So each text is read in both ways ([`Mark`]), and all values of the column
//! decide which way is right. The text around the digits (a sign, a currency, a percent sign) is the same in both. The
//! digits are assembled and parsed once, so that the number has the same bits as in the notation of programming
//! languages.

use std::borrow::Cow;

use crate::frame::NumberForm;

/// The decimal separator of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Point,
    Comma,
}

impl Mark {
    pub(crate) const BOTH: [Mark; 2] = [Mark::Point, Mark::Comma];

    pub(crate) fn character(self) -> char {
        match self {
            Mark::Point => '.',
            Mark::Comma => ',',
        }
    }
}

/// The symbols and codes of currencies.
const CURRENCIES: [&str; 58] = [
    "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "₫", "₪", "฿", "₴", "₦", "R$", "US$", "A$", "C$", "HK$", "NZ$", "S$", "zł",
    "Kč", "kr", "kr.", "Fr.", "Ft", "lei", "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "RMB", "INR", "RUB", "KRW", "TRY",
    "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "RON", "AUD", "CAD", "NZD", "SGD", "HKD", "ZAR", "BRL", "MXN", "ILS",
    "THB", "UAH", "SFr.", "Rs.",
];

/// The parts of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts<'t> {
    pub(crate) is_negative: bool,
    pub(crate) currency: Option<&'static str>,
    pub(crate) is_percent: bool,
    /// The power of ten of a word after the digits: 6 for the M of `$56.7M`. `None` without a currency, because `5M`
    /// alone may mean anything.
    pub(crate) power: Option<u32>,
    /// The digits, their separators, and perhaps an exponent.
    pub(crate) digits: &'t str,
}

/// Returns whether a character is a space that may come between thousands or before a symbol.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\t')
}

fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
}

fn currency_before(text: &str) -> Option<(&'static str, &str)> {
    let found = CURRENCIES.iter().filter(|sign| text.starts_with(**sign)).max_by_key(|sign| sign.len())?;
    let rest = &text[found.len()..];
    rest.starts_with(|next: char| {
        next.is_ascii_digit() || is_space(next) || matches!(next, '-' | '\u{2212}' | '.' | ',' | '(')
    })
    .then_some((found, trim(rest)))
}

fn currency_behind(text: &str) -> Option<(&'static str, &str)> {
    let found = CURRENCIES.iter().filter(|sign| text.ends_with(**sign)).max_by_key(|sign| sign.len())?;
    let rest = &text[..text.len() - found.len()];
    rest.ends_with(|last: char| last.is_ascii_digit() || is_space(last) || matches!(last, '-' | '.' | ',' | ')'))
        .then_some((found, trim(rest)))
}

/// Lower-case suffixes of money amounts, such as `k` and `mn`, with their powers of ten.
const POWERS: [(&str, u32); 15] = [
    ("k", 3),
    ("tsd.", 3),
    ("tsd", 3),
    ("m", 6),
    ("mm", 6),
    ("mn", 6),
    ("mio.", 6),
    ("mio", 6),
    ("million", 6),
    ("b", 9),
    ("bn", 9),
    ("mrd.", 9),
    ("mrd", 9),
    ("billion", 9),
    ("t", 12),
];

fn power_behind(text: &str) -> Option<(u32, &str)> {
    let word = text.rfind(|character: char| character.is_ascii_digit()).map(|last| &text[last + 1..])?;
    let lower = word.trim_start_matches(is_space).to_lowercase();
    let (_, power) = POWERS.iter().find(|(word, _)| *word == lower)?;
    Some((*power, &text[..text.len() - word.len()]))
}

/// Returns the text before a dash that means no cents: `12.-`, `12,-`.
fn without_cents(text: &str) -> Option<&str> {
    let rest = text.strip_suffix(['-', '\u{2013}', '\u{2014}'])?;
    rest.trim_end_matches('-').strip_suffix(['.', ','])
}

impl<'t> Parts<'t> {
    /// Returns the parts of a text that may be a number; `None` if it certainly is not one.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let (mut parts, mut text, mut has_sign) = (Self::default(), trim(text), false);
        // Remove symbols from the outside in, each at most once.
        loop {
            if text.starts_with(|first: char| first.is_ascii_digit())
                && text.ends_with(|last: char| last.is_ascii_digit())
            {
                break;
            }
            if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).filter(|_| !has_sign) {
                (parts.is_negative, has_sign, text) = (true, true, trim(inner));
            } else if let Some(rest) = text.strip_prefix(['-', '+', '\u{2212}', '\u{2013}']).filter(|_| !has_sign) {
                (parts.is_negative, has_sign, text) = (!text.starts_with('+'), true, trim(rest));
            } else if let Some(rest) = without_cents(text) {
                text = rest;
            } else if let Some(rest) = text.strip_suffix(['-', '\u{2212}']).filter(|_| !has_sign) {
                (parts.is_negative, has_sign, text) = (true, true, trim(rest));
            } else if let Some(rest) = text.strip_suffix('%').filter(|_| !parts.is_percent) {
                (parts.is_percent, text) = (true, trim(rest));
            } else if let Some((sign, rest)) =
                currency_before(text).or_else(|| currency_behind(text)).filter(|_| parts.currency.is_none())
            {
                (parts.currency, text) = (Some(sign), rest);
            } else if let Some((power, rest)) =
                power_behind(text).filter(|_| parts.currency.is_some() && parts.power.is_none())
            {
                (parts.power, text) = (Some(power), rest);
            } else {
                break;
            }
        }
        if parts.is_percent && parts.currency.is_some() {
            return None;
        }
        let begins = text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '.' | ','));
        let is_plausible = |character: char| {
            character.is_ascii_digit()
                || matches!(character, '.' | ',' | '\'' | '\u{2019}' | '_' | 'e' | 'E' | '+' | '-')
                || is_space(character)
        };
        parts.digits = text;
        (begins && text.chars().all(is_plausible)).then_some(parts)
    }

    /// Returns the digits in the notation of programming languages, and the thousands separator, if they are a number
    /// with this decimal separator.
    pub(crate) fn plain(&self, mark: Mark) -> Option<(Cow<'t, str>, Option<char>)> {
        let digits = self.digits;
        let (mantissa, exponent) = match digits.find(['e', 'E']) {
            Some(place) => (&digits[..place], &digits[place..]),
            None => (digits, ""),
        };
        if let Some(exponent) = exponent.get(1..) {
            let power = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if power.is_empty() || !power.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
        }
        let (whole, fraction) = match mantissa.split_once(mark.character()) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(fraction.unwrap_or_default()) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
            return None;
        }
        let Some(thousands) = whole.chars().find(|character| !character.is_ascii_digit()) else {
            // Common case: there is no thousands separator.
            return Some(match (mark, fraction) {
                (Mark::Comma, Some(fraction)) => (Cow::Owned(format!("{whole}.{fraction}{exponent}")), None),
                _ => (Cow::Borrowed(digits), None),
            });
        };
        if !exponent.is_empty() || !divides_thousands(whole, thousands, mark) {
            return None;
        }
        let mut plain: String = whole.chars().filter(char::is_ascii_digit).collect();
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        Some((Cow::Owned(plain), Some(same(thousands))))
    }

    /// Returns the number that the digits mean with this decimal separator.
    pub(crate) fn number(&self, mark: Mark) -> Option<(f64, Option<char>)> {
        let (plain, thousands) = self.plain(mark)?;
        let plain = match self.power {
            // The digits are parsed once with their power, so that $56.7M has the bits of 56700000.
            Some(power) if !plain.contains(['e', 'E']) => Cow::Owned(format!("{plain}e{power}")),
            Some(_) => return None,
            None => plain,
        };
        let number: f64 = plain.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some((if self.is_negative { -number } else { number }, thousands))
    }
}

/// Maps thousands separators that look alike to one character.
fn same(thousands: char) -> char {
    match thousands {
        '\u{2019}' => '\'',
        space if is_space(space) => ' ',
        other => other,
    }
}

/// Returns whether a character separates only thousands: `1,234,567`, or `12,34,567` as in India.
fn divides_thousands(whole: &str, thousands: char, mark: Mark) -> bool {
    let can_divide = matches!(same(thousands), ' ' | '\'' | '_')
        || matches!((thousands, mark), (',', Mark::Point) | ('.', Mark::Comma));
    let groups = || whole.split(thousands);
    let are_digits = groups().all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    let count = groups().count();
    if !can_divide || !are_digits || count < 2 {
        return false;
    }
    let lengths: Vec<usize> = groups().map(str::len).collect();
    let (first, between, last) = (lengths[0], &lengths[1..count - 1], lengths[count - 1]);
    let is_usual = (1..=3).contains(&first) && between.iter().all(|length| *length == 3) && last == 3;
    let is_indian = thousands == ','
        && count > 2
        && (1..=2).contains(&first)
        && between.iter().all(|length| *length == 2)
        && last == 3;
    // 0,123 does not mean 123.
    (is_usual || is_indian) && !whole.starts_with('0')
}

/// Reads a number in the notation of programming languages, which most fields of most tables use.
pub(crate) fn plain(text: &str) -> Option<f64> {
    let first = text.bytes().next()?;
    // Words such as `inf` and `NaN` are not numbers here.
    let begins = first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.');
    if !begins || text.as_bytes().last().is_some_and(|last| !last.is_ascii_digit() && *last != b'.') {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

impl NumberForm {
    /// Returns the number in a text with the notation `form`.
    ///
    /// Thousands separators and a currency may be absent, but no text may be present that the notation does not allow.
    ///
    /// # Example
    /// ```
    /// use lehr_data::frame::NumberForm;
    /// let form = NumberForm { decimal: ',', thousands: Some('.'), currency: Some("€".into()), ..NumberForm::default() };
    /// assert_eq!(form.number("1.818,99 €"), Some(1818.99));
    /// assert_eq!(form.number("-12,5"), Some(-12.5));
    /// assert_eq!((form.number("12.5"), form.number("$3")), (None, None));
    /// ```
    pub fn number(&self, text: &str) -> Option<f64> {
        let parts = Parts::of(text)?;
        let mark = if self.decimal == ',' { Mark::Comma } else { Mark::Point };
        let (number, thousands) = parts.number(mark)?;
        let fits = (thousands.is_none() || thousands == self.thousands)
            && (self.is_mixed || parts.currency.is_none() || parts.currency == self.currency.as_deref())
            && (parts.power.is_none() || self.has_powers)
            && (self.is_mixed || parts.is_percent == self.is_percent || (number == 0.0 && !parts.is_percent));
        fits.then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &str) -> [Option<f64>; 2] {
        Mark::BOTH.map(|mark| Parts::of(text)?.number(mark).map(|(number, _)| number))
    }

    #[test]
    fn a_number_is_read_in_both_ways() {
        for (text, point, comma) in [
            ("12", Some(12.0), Some(12.0)),
            ("1,818.99", Some(1818.99), None),
            ("1.818,99", None, Some(1818.99)),
            ("1 818,99", None, Some(1818.99)),
            ("1'818.99", Some(1818.99), None),
            ("1\u{202f}818\u{202f}000", Some(1_818_000.0), Some(1_818_000.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("1.234", Some(1.234), Some(1234.0)),
            ("0,123", None, Some(0.123)),
            ("1234,567", None, Some(1234.567)),
            ("12,34,567.5", Some(1_234_567.5), None),
            ("1,23", None, Some(1.23)),
            (",5", None, Some(0.5)),
            ("5.", Some(5.0), None),
            ("1e3", Some(1000.0), Some(1000.0)),
            ("2,5E-3", None, Some(0.0025)),
            ("(12.5)", Some(-12.5), None),
            ("12.5-", Some(-12.5), None),
            ("\u{2212}12.5", Some(-12.5), None),
            ("€1,818.99", Some(1818.99), None),
            ("-$5.50", Some(-5.5), None),
            ("$-5.50", Some(-5.5), None),
            ("($5.50)", Some(-5.5), None),
            ("1.818,99 €", None, Some(1818.99)),
            ("CHF 12.-", Some(12.0), Some(12.0)),
            ("12,\u{2013}", Some(12.0), Some(12.0)),
            ("12,-- €", Some(12.0), Some(12.0)),
            ("EUR 12", Some(12.0), Some(12.0)),
            ("12 kr", Some(12.0), Some(12.0)),
            ("1.7 %", Some(1.7), None),
            ("", None, None),
            ("-", None, None),
            ("€", None, None),
            ("1 2", None, None),
            ("044 123 45 67", None, None),
            ("12A", None, None),
            ("1.2.3", None, None),
            ("192.168.1.1", None, None),
            ("1e", None, None),
            ("1e999", None, None),
            ("nan", None, None),
            ("--5", None, None),
            ("(-5)", None, None),
            ("5 %€", None, None),
            ("$56.7M", Some(56_700_000.0), None),
            ("$537K", Some(537_000.0), Some(537_000.0)),
            ("-£1.2bn", Some(-1_200_000_000.0), None),
            ("1,2 Mio. €", None, Some(1_200_000.0)),
            ("56.7M", None, None),
            ("$5 metres", None, None),
            ("$M", None, None),
            ("A 100", None, None),
        ] {
            assert_eq!(both(text), [point, comma], "{text:?}");
        }
    }

    #[test]
    fn a_form_takes_what_it_has_and_nothing_else() {
        let form = NumberForm { thousands: Some(','), is_percent: true, ..NumberForm::default() };
        assert_eq!(form.number("1,234.5%"), Some(1234.5));
        assert_eq!(form.number("0"), Some(0.0));
        assert_eq!((form.number("5"), form.number("1'234%"), form.number("$5%")), (None, None, None));
        let form = NumberForm { currency: Some("$".into()), has_powers: true, ..NumberForm::default() };
        assert_eq!((form.number("$0.1M"), form.number("$7")), (Some(1e5), Some(7.0)));
        assert_eq!(NumberForm { has_powers: false, ..form }.number("$0.1M"), None);
    }
}
