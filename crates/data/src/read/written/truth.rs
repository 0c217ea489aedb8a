//! Pairs of words for yes and no.

/// Pairs of a word for yes and a word for no, in lower case.
const PAIRS: [(&str, &str); 20] = [
    ("yes", "no"),
    ("y", "n"),
    ("true", "false"),
    ("t", "f"),
    ("ja", "nein"),
    ("ja", "nee"),
    ("ja", "nej"),
    ("ja", "nei"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("o", "n"),
    ("vrai", "faux"),
    ("si", "no"),
    ("sí", "no"),
    ("sì", "no"),
    ("s", "n"),
    ("sim", "não"),
    ("tak", "nie"),
    ("on", "off"),
];

/// Marks for "yes" in columns where an empty cell means "no".
const CROSSES: [&str; 6] = ["x", "✓", "✔", "☑", "•", "*"];

/// Returns the words for yes and no, as written, if the column has at most two distinct values and they are such words.
/// Returns `None` for other words.
///
/// `has_gaps` says whether some rows have no value. `is_crossed` says whether many rows have the same text and many
/// other rows have none, as in answers to "which of these?".
pub(crate) fn pair(words: &[String], has_gaps: bool, is_crossed: bool) -> Option<(String, String)> {
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    match &lower[..] {
        [one, other] => PAIRS.iter().find_map(|(yes, no)| {
            let is = |a: &str, b: &str| a == *yes && b == *no;
            if is(one, other) {
                Some((words[0].clone(), words[1].clone()))
            } else if is(other, one) {
                Some((words[1].clone(), words[0].clone()))
            } else {
                None
            }
        }),
        [cross] if is_crossed || has_gaps && CROSSES.contains(&&**cross) => Some((words[0].clone(), String::new())),
        _ => None,
    }
}
