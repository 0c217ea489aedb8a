//! Whole numbers with more digits than floating point has. Readers round them, and a note says so. Most are
//! identifiers, and two of them may become equal.

use std::fmt::Display;

/// The number (2⁵³) from which a floating-point number may represent several whole numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The minimum number of digits of a whole number that may be rounded.
const DIGITS: usize = 16;

/// Returns whether a whole number changes when it is read.
pub(super) fn is_rounded(number: i128) -> bool {
    let read = number as f64;
    read.abs() >= EXACT && read as i128 != number
}

/// The first rounded number of each column.
#[derive(Debug, Default)]
pub(super) struct Rounded {
    first: Vec<(usize, String)>,
    /// The number of columns whose notes were returned.
    told: usize,
}

impl Rounded {
    /// Examines a field that was read as a number.
    pub(super) fn look(&mut self, column: usize, field: &str) {
        if field.len() >= DIGITS && field.trim().parse().is_ok_and(is_rounded) {
            self.found(column, field.trim());
        }
    }

    /// Records a number that was rounded.
    pub(super) fn found(&mut self, column: usize, number: impl Display) {
        if self.first.iter().all(|(known, _)| *known != column) {
            self.first.push((column, number.to_string()));
        }
    }

    /// Returns the notes on columns that had no note before and that have a name in `names`.
    pub(super) fn notes<'n>(&mut self, names: impl Fn(usize) -> Option<&'n str>) -> Vec<String> {
        let first = &mut self.first[self.told..];
        first.sort();
        let notes = first.iter().filter_map(|(column, number)| Some(note(&format!("{:?}", names(*column)?), number)));
        let notes = notes.collect();
        self.told = self.first.len();
        notes
    }
}

/// Returns the note on rounded whole numbers in `of`.
pub(super) fn note(of: &str, number: impl Display) -> String {
    format!("{of} has whole numbers that are rounded to 53 bits, such as {number}: for names of rows, use --id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_that_become_others_are_told() {
        let mut rounded = Rounded::default();
        for exact in
            ["9007199254740992", "9007199254740994", "1e300", "9007199254740993.5", "-12", "10000000000000000000000"]
        {
            rounded.look(0, exact);
        }
        assert_eq!(rounded.notes(|_| Some("x")), Vec::<String>::new());
        rounded.look(1, " -9007199254740993 ");
        rounded.look(1, "9007199254740995");
        let told = "\"x\" has whole numbers that are rounded to 53 bits, such as -9007199254740993: for names of rows, use --id";
        assert_eq!(rounded.notes(|_| Some("x")), [told]);
        assert!(rounded.notes(|_| Some("x")).is_empty());
        rounded.look(1, "9007199254740997");
        assert!(rounded.notes(|_| Some("x")).is_empty(), "once for each column");
    }
}
