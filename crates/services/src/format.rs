//! The two formats of documents between processes: JSON for people, MessagePack between programs.
//!
//! Both formats contain the names of fields, so that older and newer versions of a contract can communicate. Within a
//! process, documents are not encoded.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::fault::{Code, Fault};

/// The format of a document.
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
    /// MessagePack, with structures as maps.
    MessagePack,
}

impl Format {
    /// Returns the media type.
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
    /// Returns [`Code::OperationFailed`] if the format cannot express the document, such as a map in JSON whose keys
    /// are not strings.
    ///
    /// # Example
    /// See [`Format`].
    pub fn encode<T: Serialize + ?Sized>(self, document: &T) -> Result<Vec<u8>, Fault> {
        let failed = |error: &dyn std::fmt::Display| {
            Fault::new(Code::OperationFailed, "the answer cannot be written in the requested form")
                .log(error.to_string())
        };
        match self {
            Self::Json => serde_json::to_vec(document).map_err(|error| failed(&error)),
            Self::MessagePack => rmp_serde::to_vec_named(document).map_err(|error| failed(&error)),
        }
    }

    /// Reads a document. Empty input is read as nothing (`null`, or a structure without fields).
    ///
    /// # Errors
    /// Returns [`Code::MessageNotSupported`] if the bytes are not the expected document. For JSON, the reason contains
    /// the position.
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
                // JSON Schema counts `2059.0` as a whole number, and some languages write whole numbers in this form.
                let whole = error.is_data().then(|| serde_json::from_slice(&without_points(bytes)).ok()).flatten();
                whole.ok_or_else(|| refuse(&error))
            }),
            Self::MessagePack => {
                let mut rest = bytes;
                let mut reader = rmp_serde::Deserializer::new(&mut rest);
                // The same depth limit as for JSON: code that walks the document needs stack for each level.
                reader.set_max_depth(128);
                let document = T::deserialize(&mut reader).map_err(|error| refuse(&error))?;
                if rest.is_empty() { Ok(document) } else { Err(refuse(&format!("{} bytes after the end", rest.len()))) }
            }
        }
    }
}

/// Returns a JSON text with the decimal points of whole numbers removed: `2059.0` becomes `2059`. This function does
/// not parse the text into a tree, because a tree would hide duplicate fields, which are faults.
fn without_points(text: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let (mut is_text, mut is_escaped) = (false, false);
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let zeros = text[at + 1..].iter().take_while(|next| **next == b'0').count();
        let is_fraction = |next: &u8| next.is_ascii_digit() || matches!(next, b'e' | b'E');
        if !is_text && byte == b'.' && zeros > 0 && !text.get(at + 1 + zeros).is_some_and(is_fraction) {
            at += 1 + zeros;
            continue;
        }
        is_text ^= byte == b'"' && !is_escaped;
        is_escaped = is_text && byte == b'\\' && !is_escaped;
        kept.push(byte);
        at += 1;
    }
    kept
}

/// Rust's names of types, as messages of serde contain them, and the words for clients.
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

/// Replaces the Rust type that a message of serde expects by plain words: clients do not know what a `usize` is.
///
/// # Example
/// ```
/// let message = "invalid type: string \"two\", expected usize at line 1 column 14";
/// let in_words = "invalid type: string \"two\", expected a whole number of at least 0 at line 1 column 14";
/// assert_eq!(lehr_services::in_words(message), in_words);
/// ```
pub fn in_words(message: &str) -> String {
    // The message is split at the last occurrence, because the value found may be a text that contains the same words.
    let Some((before, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let is_end = |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    let found =
        TYPES.iter().find_map(|(name, words)| Some((words, expected.strip_prefix(name).filter(|rest| is_end(rest))?)));
    match found {
        Some((words, rest)) => format!("{before}, expected {words}{rest}"),
        None => message.to_owned(),
    }
}

/// Encodes bytes that a client sent unchanged as the document of an operation
/// ([`Operation::RAW`](crate::Operation::RAW)), in MessagePack. The document contains the other fields, `media_type`
/// and `data`.
///
/// # Errors
/// Returns [`Code::OperationFailed`] if MessagePack cannot express a field.
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
        // The fields of the body take precedence over the fields in the address.
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

/// A value that is written as bytes, and not as a list of numbers.
struct Bytes<'a>(&'a [u8]);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn whole_numbers_may_have_a_point_and_nothing_else_changes() {
        let text = br#"{"a":[2059.0,-0.000,1.50,1.0e3,1e2,10.01],"b.0":"7.0 \"8.0\" \\","c":3.0}"#;
        let expected = r#"{"a":[2059,-0,1.50,1.0e3,1e2,10.01],"b.0":"7.0 \"8.0\" \\","c":3}"#;
        assert_eq!(String::from_utf8(without_points(text)).unwrap(), expected);
        assert_eq!(Format::Json.decode::<Vec<u32>>(b"[2059.0, 1]").unwrap(), [2059, 1]);
        assert!(Format::Json.decode::<Vec<u32>>(b"[2059.5]").is_err());
        assert_eq!(Format::Json.decode::<Vec<f64>>(b"[2059.0]").unwrap(), [2059.0]);
    }

    #[test]
    fn a_field_that_is_there_twice_is_a_fault_beside_a_number_with_a_point_too() {
        #[derive(Debug, Deserialize)]
        struct Told {
            #[allow(dead_code, reason = "only read")]
            offset: u64,
            #[allow(dead_code, reason = "only read")]
            name: String,
        }
        assert!(Format::Json.decode::<Told>(br#"{"offset":1.0,"name":"a"}"#).is_ok());
        assert!(Format::Json.decode::<Told>(br#"{"offset":1.0,"name":"a","name":"b"}"#).is_err());
    }
}
