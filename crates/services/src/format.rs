//! The two forms of documents between processes: JSON for people, MessagePack between programs.
//!
//! Both carry the names of fields, so that an older and a newer contract can meet. Inside a process nothing is encoded.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::fault::{Code, Fault};

/// How a document is written.
///
/// # Example
/// ```
/// use lehr_services::Format;
/// for format in [Format::Json, Format::MessagePack] {
///     let bytes = format.encode(&vec![("ada", 36)]).unwrap();
///     assert_eq!(format.decode::<Vec<(String, u32)>>(&bytes).unwrap(), [("ada".to_owned(), 36)]);
/// }
/// let fault = Format::Json.decode::<u8>(b"300").unwrap_err();
/// assert_eq!(fault.reason(), "not what is expected here: invalid value: integer `300`, expected a whole number up to 255 at line 1 column 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// JSON, RFC 8259.
    Json,
    /// MessagePack, structures as maps.
    MessagePack,
}

impl Format {
    /// The media type.
    ///
    /// # Example
    /// ```
    /// assert_eq!(lehr_services::Format::Json.media_type(), "application/json");
    /// ```
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::MessagePack => "application/msgpack",
        }
    }

    /// Writes a document.
    ///
    /// # Errors
    /// [`Code::OperationFailed`] if the document has no form here: a map whose keys are no strings, in JSON.
    ///
    /// # Example
    /// See [`Format`].
    pub fn encode<T: Serialize + ?Sized>(self, document: &T) -> Result<Vec<u8>, Fault> {
        let failed = |error: &dyn std::fmt::Display| {
            Fault::new(Code::OperationFailed, "the answer cannot be written in the form asked for")
                .log(error.to_string())
        };
        match self {
            Self::Json => serde_json::to_vec(document).map_err(|error| failed(&error)),
            Self::MessagePack => rmp_serde::to_vec_named(document).map_err(|error| failed(&error)),
        }
    }

    /// Reads a document. No bytes at all are read as nothing (`null`, or a structure without fields).
    ///
    /// # Errors
    /// [`Code::MessageNotSupported`], with the place for JSON.
    ///
    /// # Example
    /// See [`Format`].
    pub fn decode<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, Fault> {
        let refuse = |error: &dyn std::fmt::Display| {
            Fault::new(Code::MessageNotSupported, in_words(&format!("not what is expected here: {error}")))
        };
        if bytes.is_empty() {
            let nothing = serde_json::from_slice(b"null").or_else(|_| serde_json::from_slice(b"{}"));
            return nothing.map_err(|error: serde_json::Error| refuse(&format!("an empty body: {error}")));
        }
        match self {
            Self::Json => serde_json::from_slice(bytes).or_else(|error| {
                // `2059.0` is a whole number in JSON Schema, and some languages write it so.
                let is_written_otherwise = error.is_data() && error.to_string().contains("floating point");
                let whole =
                    is_written_otherwise.then(|| serde_json::from_slice(bytes).ok().map(with_whole_numbers)).flatten();
                whole.and_then(|document| serde_json::from_value(document).ok()).ok_or_else(|| refuse(&error))
            }),
            Self::MessagePack => {
                let mut rest = bytes;
                let mut reader = rmp_serde::Deserializer::new(&mut rest);
                // As deep as JSON may be: whoever walks what was read needs the stack for it.
                reader.set_max_depth(128);
                let document = T::deserialize(&mut reader).map_err(|error| refuse(&error))?;
                if rest.is_empty() { Ok(document) } else { Err(refuse(&format!("{} bytes after the end", rest.len()))) }
            }
        }
    }
}

/// A document whose numbers without a fraction are written without a point. Beyond 2^53 a number has lost digits, and
/// stays as it is.
///
/// # Example
/// ```
/// use serde_json::json;
/// let document = json!({ "rows": 2059.0, "scales": [1.5, 1e300], "name": "1.0" });
/// let whole = json!({ "rows": 2059, "scales": [1.5, 1e300], "name": "1.0" });
/// assert_eq!(lehr_services::with_whole_numbers(document), whole);
/// // Where a document cannot be read otherwise, it is read so.
/// assert_eq!(lehr_services::Format::Json.decode::<Vec<u32>>(b"[2059.0, 1]").unwrap(), [2059, 1]);
/// assert!(lehr_services::Format::Json.decode::<Vec<u32>>(b"[2059.5]").is_err());
/// ```
pub fn with_whole_numbers(document: Value) -> Value {
    match document {
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => Value::from(value as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, with_whole_numbers(value))).collect(),
        other => other,
    }
}

/// Above this, neighbouring whole numbers have the same double: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The types that serde expects by their names in Rust, and what a client calls them.
const TYPES: [(&str, &str); 10] = [
    ("usize", "a whole number of at least 0"),
    ("u64", "a whole number of at least 0"),
    ("u32", "a whole number up to 4294967295"),
    ("u16", "a whole number up to 65535"),
    ("u8", "a whole number up to 255"),
    ("isize", "a whole number"),
    ("i64", "a whole number"),
    ("i32", "a whole number within 32 bits"),
    ("f64", "a number"),
    ("f32", "a number"),
];

/// A message of serde without names of Rust: clients do not know what a `usize` is.
///
/// # Example
/// ```
/// let message = "invalid type: string \"two\", expected usize at line 1 column 14";
/// let in_words = "invalid type: string \"two\", expected a whole number of at least 0 at line 1 column 14";
/// assert_eq!(lehr_services::in_words(message), in_words);
/// ```
pub fn in_words(message: &str) -> String {
    // The last one: what was found may be a text that has the word too.
    let Some((before, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let found =
        TYPES.iter().find_map(|(name, words)| Some((words, expected.strip_prefix(name).filter(|rest| is_end(rest))?)));
    match found {
        Some((words, rest)) => format!("{before}, expected {words}{rest}"),
        None => message.to_owned(),
    }
}

/// Bytes that a client sent as they are, as the document of an operation ([`Operation::RAW`](crate::Operation::RAW)),
/// in MessagePack: the other fields, `media_type` and `data`.
///
/// # Errors
/// [`Code::OperationFailed`] if a field has no form in MessagePack.
///
/// # Example
/// ```
/// use lehr_services::{Format, raw_document};
/// let fields = [("name".to_owned(), "poem".into())].into_iter().collect();
/// let document = raw_document(&fields, "text/plain", b"loom").unwrap();
/// #[derive(serde::Deserialize)]
/// struct Keep { name: String, media_type: String, data: Vec<u8> }
/// let keep: Keep = Format::MessagePack.decode(&document).unwrap();
/// assert_eq!((keep.name.as_str(), keep.media_type.as_str(), keep.data.as_slice()), ("poem", "text/plain", &b"loom"[..]));
/// ```
pub fn raw_document(fields: &Map<String, Value>, media_type: &str, data: &[u8]) -> Result<Vec<u8>, Fault> {
    Format::MessagePack.encode(&Raw { fields, media_type, data })
}

struct Raw<'a> {
    fields: &'a Map<String, Value>,
    media_type: &'a str,
    data: &'a [u8],
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // What the body says goes before what the address does.
        let others = self.fields.iter().filter(|(name, _)| *name != "data" && *name != "media_type");
        let mut map = serializer.serialize_map(Some(others.clone().count() + 2))?;
        for (name, value) in others {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("media_type", self.media_type)?;
        map.serialize_entry("data", &Bytes(self.data))?;
        map.end()
    }
}

/// Written as bytes, and not as a list of numbers.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}
