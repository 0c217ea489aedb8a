//! The sections of a `summary.json`, in a readable order.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// Named values in a chosen order. Each value is turned into JSON when it is added.
///
/// # Example
/// ```
/// use lehr_methods::Sections;
/// let mut sections = Sections::default();
/// sections.add("rows", &3).add("centre", &[0.5, 1.0]);
/// assert_eq!(sections.text(), "{\n  \"rows\": 3,\n  \"centre\": [\n    0.5,\n    1.0\n  ]\n}\n");
/// let mut sorted = Sections::sorted();
/// sorted.append(sections);
/// assert_eq!(sorted.text(), "{\n  \"centre\": [\n    0.5,\n    1.0\n  ],\n  \"rows\": 3\n}\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    members: Vec<(&'static str, String)>,
    is_sorted: bool,
}

impl Sections {
    /// Creates sections whose keys are all in alphabetical order, inside values too. The summaries of some methods have
    /// always used this order.
    pub fn sorted() -> Self {
        Self { members: Vec::new(), is_sorted: true }
    }

    /// Returns whether the text has all keys in alphabetical order, inside values too.
    pub fn are_sorted(&self) -> bool {
        self.is_sorted
    }

    /// Adds a section.
    ///
    /// # Panics
    /// Panics if the value cannot be JSON (a map whose keys are not text), which is a mistake in the code.
    pub fn add<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> &mut Self {
        self.members.push((name, serde_json::to_string_pretty(value).expect("a section is JSON")));
        self
    }

    /// Adds all sections of another list. The result is sorted if one of the lists is sorted.
    pub fn append(&mut self, mut others: Sections) -> &mut Self {
        self.members.append(&mut others.members);
        self.is_sorted |= others.is_sorted;
        self
    }

    /// Adds other sections as the members of one section.
    pub fn nest(&mut self, name: &'static str, others: &Sections) -> &mut Self {
        self.members.push((name, others.text().trim_end().to_owned()));
        self
    }

    /// Returns an object with a member for each section: indented JSON with a line end.
    pub fn text(&self) -> String {
        // JSON texts never contain a raw line end, so indenting the lines is safe.
        let member = |(name, value): &(&str, String)| format!("  \"{name}\": {}", value.replace('\n', "\n  "));
        let text = format!("{{\n{}\n}}\n", self.members.iter().map(member).collect::<Vec<_>>().join(",\n"));
        if !self.is_sorted {
            return text;
        }
        let sorted: Value = serde_json::from_str(&text).expect("sections are JSON");
        format!("{sorted:#}\n")
    }
}

/// Values by column name, in the order of the columns.
#[derive(Clone, Debug)]
pub struct Named<'a> {
    /// The names of the columns.
    pub names: &'a [String],
    /// The value of each column.
    pub values: Vec<f64>,
    /// Whether values of 0 are left out, as in sparse rows.
    pub leaves_zeros_out: bool,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_told = |(_, value): &(&String, &f64)| !self.leaves_zeros_out || **value != 0.0;
        serializer.collect_map(self.names.iter().zip(&self.values).filter(is_told))
    }
}
