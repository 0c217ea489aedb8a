//! Reads rows from JSON objects: one on each line, or all in an array.
//!
//! The keys are the columns, in the order of their first occurrence; a key that an object lacks is a missing value.
//! Nested objects become columns of their own (`a.b`). So do lists of numbers that all have the same length (`a.0`,
//! `a.1`); other lists stay text. The data frame's notes report these columns. A document with a single object is not a
//! table.

use std::collections::HashMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::grid::{Grid, Kind};
use super::source::Source;
use super::{Dialect, Format};
use crate::error::{Error, quoted};

/// The maximum depth of nested objects.
const DEPTH_MAX: usize = 16;

/// The maximum number of elements of a list that becomes columns.
const LIST_MAX: usize = 16;

/// A value; the keys of objects keep their order.
enum Json {
    Null,
    Truth(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
                Ok(Json::Truth(truth))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Number(number.to_string()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
                Ok(Json::Number(number.to_string()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
                Ok(Json::Number(number.to_string()))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<Json, E> {
                Ok(Json::Text(text))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = access.next_element()? {
                    list.push(value);
                }
                Ok(Json::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut object = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    object.push(entry);
                }
                Ok(Json::Object(object))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Truth(truth) => write!(f, "{truth}"),
            Json::Number(number) => f.write_str(number),
            Json::Text(text) => write!(f, "{text:?}"),
            Json::List(list) => {
                f.write_str("[")?;
                for (place, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if place > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(object) => {
                f.write_str("{")?;
                for (place, (key, value)) in object.iter().enumerate() {
                    write!(f, "{}{key:?}: {value}", if place > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Returns whether a text begins as rows in JSON: a list of objects, or an object on a line followed by another object.
/// A file name with the usual ending is enough too.
pub(super) fn begins_as_rows(head: &[u8], name: &str) -> bool {
    let text = head.trim_ascii_start();
    let name = name.to_lowercase();
    let is_called = [".jsonl", ".ndjson"].iter().any(|end| name.trim_end_matches(".gz").ends_with(end));
    match text.first() {
        Some(b'[') => text[1..].trim_ascii_start().first() == Some(&b'{'),
        Some(b'{') => {
            let end = line_end(text);
            let mut lines = text.split(|byte| *byte == end).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
            let is_whole =
                |line: &[u8]| line.starts_with(b"{") && serde_json::from_slice::<de::IgnoredAny>(line).is_ok();
            is_called || (lines.next().is_some_and(is_whole) && lines.next().is_some_and(|line| line.starts_with(b"{")))
        }
        _ => false,
    }
}

/// Returns the byte that ends lines: a line feed or, as in tables, a lone carriage return, which JSON text does not
/// contain.
fn line_end(text: &[u8]) -> u8 {
    if text.contains(&b'\n') { b'\n' } else { b'\r' }
}

/// Describes the fault of a text, with its byte and the word there. Recognises numbers that Python writes and JSON does
/// not allow.
fn trouble(text: &str, error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said.split(" at line ").next().unwrap_or_default();
    let line = text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default();
    // Positions are bytes, and may be inside a letter.
    let from = |place: usize| line.as_bytes().get(place..).unwrap_or_default();
    let mut place = error.column().saturating_sub(1);
    // The sign is read before the number.
    if place > 0 && from(place - 1).starts_with(b"-Infinity") {
        place -= 1;
    }
    match ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| from(place).starts_with(word.as_bytes())) {
        Some(word) => {
            format!("{word} at byte {}, which is no number of JSON; write null for a missing value", place + 1)
        }
        None => format!("at byte {}: {said}", error.column()),
    }
}

/// Rows, their columns, and notes about them.
pub(super) struct Objects {
    pub(super) grid: Grid,
    pub(super) names: Vec<String>,
    pub(super) dialect: Dialect,
    pub(super) notes: Vec<String>,
}

/// Reads all rows of a source.
pub(super) fn objects(mut source: Source<'_>) -> Result<Objects, Error> {
    let name = source.name().to_owned();
    while source.more(None)? {}
    let text = source.text(source.window(), 0, 1)?;
    let is_array = text.trim_start().starts_with('[');
    let mut rows: Vec<(u64, Vec<(String, Json)>)> = Vec::new();
    let wrong = |place: String, expected: &str, found: String| Error::Format {
        name: format!("{name}, {place}"),
        expected: expected.into(),
        found,
    };
    let mut add = |place: u64, what: &str, value: Json| match value {
        Json::Object(object) => {
            rows.push((place, object));
            Ok(())
        }
        other => {
            Err(wrong(format!("{what} {place}"), "an object, as the rows before it are", quoted(&other.to_string())))
        }
    };
    if is_array {
        let list: Vec<Json> = serde_json::from_str(text).map_err(|error| {
            wrong(format!("line {}", error.line().max(1)), "an array in JSON", trouble(text, &error))
        })?;
        for (place, value) in list.into_iter().enumerate() {
            add(place as u64 + 1, "row", value)?;
        }
    } else {
        for (line, text) in
            text.split(char::from(line_end(text.as_bytes()))).enumerate().filter(|(_, line)| !line.trim().is_empty())
        {
            let line = line as u64 + 1;
            let value = serde_json::from_str(text).map_err(|error| {
                wrong(format!("line {line}"), "an object in JSON on each line", trouble(text, &error))
            })?;
            add(line, "line", value)?;
        }
    }
    if rows.is_empty() {
        return Err(Error::Empty { name, found: "no objects" });
    }
    let mut columns = Columns::default();
    let rows: Vec<(u64, Vec<(usize, Json)>)> = rows
        .into_iter()
        .map(|(place, object)| {
            let mut fields = Vec::new();
            columns.flatten("", object, 0, &mut fields);
            (place, fields)
        })
        .collect();
    for (place, fields) in &rows {
        let mut seen: Vec<usize> = fields.iter().map(|(column, _)| *column).collect();
        seen.sort_unstable();
        if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
            let place = format!("{} {place}", if is_array { "row" } else { "line" });
            return Err(wrong(place, "each name once", format!("{:?} twice", columns.names[twice[0]])));
        }
    }
    let lengths = lengths_of_lists(&rows, columns.names.len());
    let mut grid = Grid::default();
    let mut row: Vec<Option<Json>> = Vec::new();
    for (place, fields) in rows {
        row.clear();
        row.resize_with(lengths.iter().map(|length| length.unwrap_or(1)).sum(), || None);
        for (column, value) in fields {
            let first: usize = lengths[..column].iter().map(|length| length.unwrap_or(1)).sum();
            match (value, lengths[column]) {
                (Json::List(list), Some(_)) => {
                    list.into_iter().enumerate().for_each(|(place, value)| row[first + place] = Some(value));
                }
                (_, Some(_)) => {}
                (value, None) => row[first] = Some(value),
            }
        }
        grid.begin(place);
        for value in &row {
            match value {
                None | Some(Json::Null) => grid.push_typed("", Kind::Text),
                Some(Json::Number(number)) => grid.push_typed(number, Kind::Number),
                Some(Json::Truth(truth)) => grid.push_typed(if *truth { "true" } else { "false" }, Kind::Truth),
                Some(Json::Text(text)) => grid.push_typed(text, Kind::Text),
                Some(other) => grid.push_typed(&other.to_string(), Kind::Text),
            }
        }
    }
    let mut notes = Vec::new();
    let list = |names: &[String]| names.iter().take(5).map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if !columns.nested.is_empty() {
        notes.push(format!("objects within {} are columns of their own", list(&columns.nested)));
    }
    let names = columns.names.iter().zip(&lengths);
    let of_numbers: Vec<String> =
        names.clone().filter(|(_, length)| length.is_some()).map(|(name, _)| name.clone()).collect();
    if !of_numbers.is_empty() {
        notes.push(format!("the numbers of lists in {} are columns of their own", list(&of_numbers)));
    }
    columns.lists.retain(|name| !of_numbers.contains(name));
    if !columns.lists.is_empty() {
        notes.push(format!("lists in {} are read as text", list(&columns.lists)));
    }
    let of_each = |(name, length): (&String, &Option<usize>)| match length {
        Some(length) => (0..*length).map(|place| format!("{name}.{place}")).collect(),
        None => vec![name.clone()],
    };
    let names = names.flat_map(of_each).collect();
    let format = if is_array { Format::Json } else { Format::JsonLines };
    Ok(Objects { grid, names, dialect: Dialect { format, ..Dialect::default() }, notes })
}

/// Returns, for each column that has only lists of numbers of equal length, this length. Such lists are positions,
/// colours and the like.
fn lengths_of_lists(rows: &[(u64, Vec<(usize, Json)>)], columns: usize) -> Vec<Option<usize>> {
    let mut lengths = vec![None; columns];
    let mut are_lists = vec![true; columns];
    for (column, value) in rows.iter().flat_map(|(_, fields)| fields) {
        match value {
            Json::Null => {}
            Json::List(list)
                if (2..=LIST_MAX).contains(&list.len())
                    && lengths[*column].is_none_or(|length| length == list.len())
                    && list.iter().all(|value| matches!(value, Json::Number(_) | Json::Null)) =>
            {
                lengths[*column] = Some(list.len());
            }
            _ => are_lists[*column] = false,
        }
    }
    lengths.into_iter().zip(are_lists).map(|(length, are_lists)| length.filter(|_| are_lists)).collect()
}

/// The columns found so far.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    places: HashMap<String, usize>,
    nested: Vec<String>,
    lists: Vec<String>,
}

impl Columns {
    fn flatten(&mut self, before: &str, object: Vec<(String, Json)>, depth: usize, fields: &mut Vec<(usize, Json)>) {
        for (key, value) in object {
            let name = if before.is_empty() { key } else { format!("{before}.{key}") };
            match value {
                Json::Object(inner) if depth < DEPTH_MAX && !inner.is_empty() => {
                    if !self.nested.contains(&name) {
                        self.nested.push(name.clone());
                    }
                    self.flatten(&name, inner, depth + 1, fields);
                }
                value => {
                    if matches!(value, Json::List(_) | Json::Object(_)) && !self.lists.contains(&name) {
                        self.lists.push(name.clone());
                    }
                    let next = self.names.len();
                    let place = *self.places.entry(name.clone()).or_insert(next);
                    if place == next {
                        self.names.push(name);
                    }
                    fields.push((place, value));
                }
            }
        }
    }
}
