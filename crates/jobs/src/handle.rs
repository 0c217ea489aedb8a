//! Passes tables between services.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{read_bytes, write_bytes};
use crate::format::arrow;
use crate::table::Table;

/// A table passed between services: the table itself within the process, and an Arrow stream outside it.
///
/// # Example
/// ```
/// use lehr_jobs::{Handle, Table};
/// let table = Table::builder().numbers("x", vec![1.0, 2.0]).build()?;
/// let text = serde_json::to_string(&Handle(table.clone())).unwrap();
/// assert_eq!(serde_json::from_str::<Handle>(&text).unwrap().0, table);
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Handle(pub Table);

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} rows", self.0.rows())
    }
}

impl Serialize for Handle {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = arrow::write(&self.0).map_err(serde::ser::Error::custom)?;
        write_bytes(&bytes, serializer)
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = read_bytes(deserializer)?;
        arrow::read(&bytes, "a table").map(Self).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Handle {
    fn schema_name() -> Cow<'static, str> {
        "Table".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "contentEncoding": "base64",
            "contentMediaType": "application/vnd.apache.arrow.stream"
        })
    }
}
