//! Rows of a table as JSON objects, which are written straight from the columns. A JSON value for each cell would take
//! some twenty times the memory of the table.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::table::{Kind, Table};

/// Rows as JSON objects: a field for each column.
///
/// # Example
/// ```
/// use lehr_jobs::JsonRows;
/// let rows: JsonRows = serde_json::from_str(r#"[{ "x": 1, "y": null }, { "x": 2.5, "y": "a" }]"#).unwrap();
/// assert_eq!(rows.objects()[1]["x"], 2.5);
/// assert_eq!(serde_json::to_string(&rows).unwrap(), r#"[{"x":1,"y":null},{"x":2.5,"y":"a"}]"#);
/// ```
#[derive(Clone, Debug)]
pub struct JsonRows(Rows);

#[derive(Clone, Debug)]
enum Rows {
    /// The rows of a table that are yet to be written.
    Table(Table),
    /// Rows that were read.
    Objects(Vec<Map<String, Value>>),
}

impl JsonRows {
    pub(crate) fn of(table: Table) -> Self {
        Self(Rows::Table(table))
    }

    /// Returns an object for each row.
    ///
    /// # Panics
    /// Never panics, because the names of columns are texts.
    pub fn objects(&self) -> Vec<Map<String, Value>> {
        match &self.0 {
            Rows::Objects(objects) => objects.clone(),
            Rows::Table(_) => {
                let value = serde_json::to_value(self).expect("rows are JSON");
                serde_json::from_value(value).expect("rows are objects")
            }
        }
    }
}

impl PartialEq for JsonRows {
    fn eq(&self, other: &Self) -> bool {
        self.objects() == other.objects()
    }
}

impl JsonSchema for JsonRows {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonRows".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Map<String, Value>>::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for JsonRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|objects| Self(Rows::Objects(objects)))
    }
}

impl Serialize for JsonRows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = match &self.0 {
            Rows::Objects(objects) => return objects.serialize(serializer),
            Rows::Table(table) => table,
        };
        let cells = |(name, kind): (&'_ str, Kind)| match kind {
            Kind::Number => Cells::Numbers(table.numbers(name).unwrap_or_default(), table.is_whole(name)),
            Kind::Count => Cells::Counts(table.counts(name).unwrap_or_default()),
            Kind::Text => Cells::Texts(table.texts(name).unwrap_or_default()),
        };
        let mut columns: Vec<(&str, Cells<'_>)> = table.columns().map(|column| (column.0, cells(column))).collect();
        // The order of the fields in JSON objects that were read.
        columns.sort_by_key(|(name, _)| *name);
        let mut rows = serializer.serialize_seq(Some(table.rows()))?;
        for row in 0..table.rows() {
            rows.serialize_element(&Row { columns: &columns, row })?;
        }
        rows.end()
    }
}

enum Cells<'a> {
    /// Numbers, and whether they are whole.
    Numbers(Cow<'a, [f64]>, bool),
    Counts(&'a [u64]),
    Texts(Vec<String>),
}

struct Row<'a> {
    columns: &'a [(&'a str, Cells<'a>)],
    row: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(Some(self.columns.len()))?;
        for (name, cells) in self.columns {
            match cells {
                Cells::Numbers(numbers, is_whole) => {
                    let number = numbers[self.row];
                    // In a column of whole numbers, a number with a fraction is written unchanged.
                    let whole = number as i64;
                    if *is_whole && whole as f64 == number {
                        fields.serialize_entry(name, &whole)?;
                    } else {
                        // JSON has no number for a missing value.
                        fields.serialize_entry(name, &number.is_finite().then_some(number))?;
                    }
                }
                Cells::Counts(counts) => fields.serialize_entry(name, &counts[self.row])?,
                Cells::Texts(texts) => fields.serialize_entry(name, &texts[self.row])?,
            }
        }
        fields.end()
    }
}
