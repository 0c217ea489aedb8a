//! Linear forms of several centres, stored side by side for comparison with rows that list only their nonzero values.
//!
//! A form is a constant and a term for each column. Lines hold centres side by side: 8, or 16 in single precision. So
//! the values of all forms in a row are a sum of the constants and of a line of terms for each column.

use crate::lanes::{Line, Real};

/// The number of lines of centres that are handled together, so that their sums stay in registers.
pub(crate) const GROUP: usize = 4;

/// Returns the first line of the group of [`GROUP`] lines that a line is in, and the number of lines in the group.
#[inline(always)]
pub(crate) fn group_of(line: usize, lines: usize) -> (usize, usize) {
    group_of_size(GROUP, line, lines)
}

#[inline(always)]
fn group_of_size(size: usize, line: usize, lines: usize) -> (usize, usize) {
    let from = line / size * size;
    (from, size.min(lines - from))
}

/// The forms of several centres.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forms<T: Real> {
    pub columns: usize,
    /// The number of lines that hold the centres.
    pub lines: usize,
    pub constants: Vec<T::Line>,
    /// The number of lines that are stored together.
    group: usize,
    /// The lines of terms: a group of lines for all columns, then the next group.
    pub terms: Vec<T::Line>,
}

impl<T: Real> Forms<T> {
    /// Makes room for `count` centres in groups of [`GROUP`] lines; all terms are 0.
    pub fn begin(&mut self, columns: usize, count: usize) {
        self.begin_in_groups(GROUP, columns, count);
    }

    /// Makes room for `count` centres line by line: one line for all columns, then the next line.
    pub fn begin_line_by_line(&mut self, columns: usize, count: usize) {
        self.begin_in_groups(1, columns, count);
    }

    fn begin_in_groups(&mut self, group: usize, columns: usize, count: usize) {
        (self.group, self.columns) = (group, columns);
        self.lines = count.div_ceil(T::Line::COUNT);
        self.constants.clear();
        self.constants.resize(self.lines, T::Line::default());
        self.terms.clear();
        self.terms.resize(self.lines * columns, T::Line::default());
    }

    /// Sets the form of centre `k`: a constant, and a term for each column.
    pub fn set(&mut self, k: usize, constant: f64, terms: impl Iterator<Item = f64>) {
        let (line, lane) = (k / T::Line::COUNT, k % T::Line::COUNT);
        self.constants[line].lanes_mut()[lane] = T::from_f64(constant);
        let (from, width) = group_of_size(self.group, line, self.lines);
        let group = &mut self.terms[self.columns * from..][..self.columns * width];
        for (lines, term) in group.chunks_exact_mut(width).zip(terms) {
            lines[line - from].lanes_mut()[lane] = T::from_f64(term);
        }
    }
}
