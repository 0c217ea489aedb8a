//! Bytes in documents: raw in MessagePack and Base64 in JSON, so that both programs and `curl` can send them.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lehr_sync::Arc;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reference-counted bytes: a clone copies no data.
///
/// # Example
/// ```
/// use lehr_jobs::Bytes;
/// let bytes = Bytes::from(b"loom".to_vec());
/// assert_eq!(serde_json::to_string(&bytes).unwrap(), "\"bG9vbQ==\"");
/// assert_eq!(serde_json::from_str::<Bytes>("\"bG9vbQ==\"").unwrap(), bytes);
/// ```
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Bytes(Arc<Vec<u8>>);

impl Bytes {
    /// Returns the bytes.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_jobs::Bytes::from(vec![7]).as_slice(), [7]);
    /// ```
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(bytes))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_bytes(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_bytes(deserializer).map(Self::from)
    }
}

impl JsonSchema for Bytes {
    fn schema_name() -> Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The pattern is for validators that do not check the content encoding.
        let pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
        json_schema!({ "type": "string", "contentEncoding": "base64", "pattern": pattern })
    }
}

pub(crate) fn write_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_str(&STANDARD.encode(bytes))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

pub(crate) fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(Read)
    } else {
        deserializer.deserialize_byte_buf(Read)
    }
}

/// A visitor that reads raw bytes or Base64.
struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Vec<u8>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes (base64 in JSON)")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<u8>, E> {
        STANDARD.decode(text).map_err(|error| E::custom(format!("expected base64: {error}")))
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}
