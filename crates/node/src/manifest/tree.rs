//! A TOML file as a value, with the line of every field, so that later findings can name their place.

use std::collections::BTreeMap;

use lehr_sync::Arc;
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::findings::{Finding, Findings};

/// The maximum nesting depth, so that a file of brackets does not exhaust the stack.
const DEPTH_MAX: usize = 64;

/// The maximum size of a file, in bytes.
const BYTES_MAX: usize = 1 << 20;

/// The maximum length of a field's name, in bytes. The maximum limits memory, because the path of every field in a
/// table includes the table's name.
const NAME_MAX: usize = 1000;

/// The path to a field: names of tables and positions in lists.
///
/// # Example
/// ```
/// use lehr_node::manifest::Field;
/// let field = Field::default().name("services").name("/notes").name("cores").place(0);
/// assert_eq!(field.to_string(), "services.\"/notes\".cores[0]");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Field(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Name(Arc<str>),
    Place(usize),
}

impl Field {
    /// Returns the path to a field of this table.
    pub fn name(&self, name: impl Into<String>) -> Self {
        self.with(Segment::Name(name.into().into()))
    }

    /// Returns the path to an entry of this list; entries are counted from 0.
    pub fn place(&self, place: usize) -> Self {
        self.with(Segment::Place(place))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl std::fmt::Display for Field {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Place(place) => write!(formatter, "[{place}]")?,
                Segment::Name(name) => {
                    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                    let dot = if index == 0 { "" } else { "." };
                    match !name.is_empty() && name.bytes().all(is_bare) {
                        true => write!(formatter, "{dot}{name}")?,
                        false => write!(formatter, "{dot}{name:?}")?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// A description file as a value, with the line of each of its fields.
///
/// # Example
/// ```
/// use lehr_node::manifest::{Field, Tree};
/// let tree = Tree::read("a.toml", "x = 1\n[y]\nz = [true, 'b']\n").unwrap();
/// assert_eq!(tree.value()["y"]["z"][1], "b");
/// assert_eq!(tree.line(&Field::default().name("y").name("z")), Some(3));
/// assert_eq!(Tree::read("a.toml", "x = \n").unwrap_err().shown()[0].line, Some(1));
/// ```
#[derive(Clone, Debug)]
pub struct Tree {
    file: String,
    value: Value,
    lines: BTreeMap<Field, usize>,
}

impl Tree {
    /// Reads TOML.
    ///
    /// # Errors
    /// Returns faults for invalid TOML and for `nan` and `inf`, each with its line.
    ///
    /// # Example
    /// See [`Tree`].
    pub fn read(file: &str, text: &str) -> Result<Self, Findings> {
        let (starts, last) = (line_starts(text), text.trim_end().len().saturating_sub(1));
        let mut reading = Reading { starts, last, file, lines: BTreeMap::new(), findings: Findings::default() };
        if text.len() > BYTES_MAX {
            reading.find(None, &Field::default(), format!("expected at most {BYTES_MAX} bytes, found {}", text.len()));
            return Err(reading.findings);
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let line = error.span().map(|span| reading.line(span.start));
            reading.find(line, &Field::default(), error.message().replace('\n', "; "));
        }
        let value = reading.table(table.get_ref(), &Field::default(), 0);
        let Reading { lines, findings, .. } = reading;
        findings.into_result()?;
        Ok(Self { file: file.to_owned(), value, lines })
    }

    /// Creates a tree of a value that is in no file, such as the body of a request; its faults have no line.
    ///
    /// # Example
    /// ```
    /// let tree = lehr_node::manifest::Tree::of("the request", serde_json::json!({ "x": 1 }));
    /// assert_eq!(tree.value()["x"], 1);
    /// ```
    pub fn of(name: &str, value: Value) -> Self {
        Self { file: name.to_owned(), value, lines: BTreeMap::new() }
    }

    /// Returns the name for messages: the name of the file, or the name that [`Tree::of`] was given.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the whole value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the line of a field, or of the nearest table around it that has a line.
    pub fn line(&self, field: &Field) -> Option<usize> {
        let mut segments = field.0.clone();
        loop {
            if let Some(line) = self.lines.get(&Field(segments.clone())) {
                return Some(*line);
            }
            segments.pop()?;
        }
    }

    /// Creates a finding about a field, with the field's line.
    pub fn finding(&self, field: &Field, text: impl Into<String>) -> Finding {
        Finding { file: self.file.clone(), line: self.line(field), field: field.to_string(), text: text.into() }
    }
}

struct Reading<'a> {
    /// The position of the first byte of each line.
    starts: Vec<usize>,
    /// The position of the last byte that is not white space: an error at the end of the text belongs to its line.
    last: usize,
    file: &'a str,
    lines: BTreeMap<Field, usize>,
    findings: Findings,
}

fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
    std::iter::once(0).chain(breaks).collect()
}

impl Reading<'_> {
    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte.min(self.last)).max(1)
    }

    fn find(&mut self, line: Option<usize>, field: &Field, text: String) {
        self.findings.add(Finding { file: self.file.to_owned(), line, field: field.to_string(), text });
    }

    fn table(&mut self, table: &DeTable<'_>, field: &Field, depth: usize) -> Value {
        let mut entries = Map::new();
        for (name, value) in table.iter() {
            let (length, line) = (name.get_ref().len(), self.line(name.span().start));
            if length > NAME_MAX {
                self.find(
                    Some(line),
                    field,
                    format!("expected names of at most {NAME_MAX} bytes, found one of {length}"),
                );
                continue;
            }
            let field = field.name(name.get_ref().as_ref());
            self.lines.insert(field.clone(), line);
            let value = self.value(value, &field, depth + 1);
            entries.insert(name.get_ref().to_string(), value);
        }
        Value::Object(entries)
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, field: &Field, depth: usize) -> Value {
        let line = Some(self.line(value.span().start));
        if depth > DEPTH_MAX {
            self.find(line, field, format!("expected at most {DEPTH_MAX} levels, found more"));
            return Value::Null;
        }
        match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Boolean(is) => Value::Bool(*is),
            DeValue::Datetime(time) => Value::String(time.to_string()),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Value::Number(number.into()),
                Err(_) => {
                    self.find(line, field, format!("expected a whole number of 64 bits, found {}", digits.as_str()));
                    Value::Null
                }
            },
            DeValue::Float(digits) => match digits.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Value::Number(number),
                None => {
                    self.find(line, field, format!("expected a finite number, found {}", digits.as_str()));
                    Value::Null
                }
            },
            DeValue::Array(entries) => {
                let entries = entries.iter().enumerate().map(|(place, entry)| {
                    let field = field.place(place);
                    let line = self.line(entry.span().start);
                    self.lines.insert(field.clone(), line);
                    self.value(entry, &field, depth + 1)
                });
                Value::Array(entries.collect())
            }
            DeValue::Table(table) => self.table(table, field, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_the_text_has_its_line() {
        let findings = Tree::read("a.toml", "a = 1\nb = nan\nc = 99999999999999999999\n").unwrap_err();
        assert_eq!(
            findings.to_string(),
            "a.toml, line 2, b: expected a finite number, found nan\n\
             a.toml, line 3, c: expected a whole number of 64 bits, found 99999999999999999999"
        );
        assert_eq!(Tree::read("a.toml", "a = 1\na = 2\n").unwrap_err().shown()[0].line, Some(2));
    }

    #[test]
    fn a_field_without_a_line_has_that_of_its_table() {
        let tree = Tree::read("a.toml", "[a]\n\n[a.b]\nc = 1\n").unwrap();
        let b = Field::default().name("a").name("b");
        assert_eq!((tree.line(&b.name("c")), tree.line(&b.name("d")), tree.line(&b)), (Some(4), Some(3), Some(3)));
    }

    #[test]
    fn a_file_of_brackets_is_refused() {
        let text = format!("a = {}{}", "[".repeat(5000), "]".repeat(5000));
        assert!(Tree::read("a.toml", &text).is_err());
    }

    /// Reads files of a mebibyte that could cost far more memory or time than their size. Lehr reads or refuses each of
    /// them quickly.
    #[test]
    fn no_file_takes_much_more_than_its_bytes() {
        let long = "n".repeat(NAME_MAX + 1);
        let findings = Tree::read("a.toml", &format!("x = 1\n[{long}]\ny = 1\n")).unwrap_err();
        assert_eq!(findings.to_string(), "a.toml, line 2: expected names of at most 1000 bytes, found one of 1001");
        let name = "n".repeat(NAME_MAX);
        let in_a_long_table: String = (0..50_000).map(|number| format!("k{number} = 1\n")).collect();
        assert!(Tree::read("a.toml", &format!("[{name}]\n{in_a_long_table}")).is_ok());
        // A fault in each line; all are counted.
        let faults: String = (0..50_000).map(|number| format!("k{number} = nan\n")).collect();
        let findings = Tree::read("a.toml", &faults).unwrap_err();
        assert_eq!((findings.count(), findings.shown().len(), findings.shown()[9].line), (50_000, 10, Some(10)));
        // Blank lines up to the end.
        assert!(Tree::read("a.toml", &format!("{in_a_long_table}{}", "\n".repeat(400_000))).is_ok());
        // Keys within keys; the parser stops first.
        assert!(Tree::read("a.toml", &format!("a{} = 1", ".a".repeat(100_000))).is_err());
        let too_large = Tree::read("a.toml", &"#".repeat(BYTES_MAX + 1)).unwrap_err();
        assert_eq!(too_large.to_string(), "a.toml: expected at most 1048576 bytes, found 1048577");
    }
}
