//! Spellings of a missing value in files.

/// The spellings that are treated as a missing value, in lower case.
///
/// # Example
/// ```
/// use lehr_data::read::gap::{GAPS, is_gap};
/// assert!(GAPS.contains(&"n/a") && is_gap(" N/A ", &[]) && is_gap("", &[]));
/// assert!(is_gap("-999", &["-999".to_owned()]) && !is_gap("-999", &[]) && !is_gap("0", &[]));
/// ```
pub const GAPS: [&str; 30] = [
    "", "?", "-", "--", "---", ".", "..", "...", "na", "<na>", "n/a", "n.a.", "n.a", "#n/a", "#na", "nan", "-nan",
    "null", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!", "none", "nil", "k.a.", "k. a.", "missing",
    "\\n",
];

/// Returns whether a word for a missing value may also be a text, such as "none" for no damage, or a person called Nan.
pub(crate) fn is_doubtful(field: &str) -> bool {
    field.eq_ignore_ascii_case("none") || field == "Nan"
}

/// Returns whether a field marks a missing value; `further` has the user's own spellings.
pub fn is_gap(field: &str, further: &[String]) -> bool {
    let field = field.trim();
    let Some(first) = field.bytes().next() else { return true };
    if first.is_ascii_digit() {
        // Common case: the field cannot be a known spelling.
        return further.iter().any(|gap| gap == field);
    }
    let is_known = field.len() <= 8 && GAPS.iter().any(|gap| gap.eq_ignore_ascii_case(field));
    is_known || matches!(field, "–" | "—") || further.iter().any(|gap| gap == field)
}
