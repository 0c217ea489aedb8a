//! The checksum of a model file. It covers the values and not the text. So it stays the same if a program
//! reformats the JSON, sorts its names, or writes `1.0` as `1`, as JavaScript does.

use serde_json::Value;
use xxhash_rust::xxh3::Xxh3Default;

/// The name of the field with the checksum.
pub const CHECKSUM: &str = "checksum";

/// Returns the checksum of a JSON document without its own field `checksum`: XXH3 (64 bits), in hexadecimal.
///
/// # Example
/// ```
/// use lehr_methods::model_checksum;
/// use serde_json::json;
/// let sum = model_checksum(&json!({ "a": [1.0, -0.0], "b": "x" }));
/// assert_eq!(sum, model_checksum(&json!({ "b": "x", "a": [1, 0], "checksum": sum })));
/// assert_ne!(sum, model_checksum(&json!({ "a": [1.0, 0.5], "b": "x" })));
/// ```
pub fn model_checksum(document: &Value) -> String {
    let mut hash = Xxh3Default::new();
    match document {
        Value::Object(fields) => add_fields(fields.iter().filter(|(name, _)| *name != CHECKSUM), &mut hash),
        other => add(other, &mut hash),
    }
    format!("{:016x}", hash.digest())
}

/// Adds a value: a byte for its type, its length if it has parts, and its content.
fn add(value: &Value, hash: &mut Xxh3Default) {
    match value {
        Value::Null => hash.update(b"n"),
        Value::Bool(is_true) => hash.update(if *is_true { b"t" } else { b"f" }),
        Value::Number(number) => {
            hash.update(b"d");
            // The sum turns -0 into 0.
            hash.update(&(number.as_f64().unwrap_or(f64::NAN) + 0.0).to_le_bytes());
        }
        Value::String(text) => add_text(text, hash),
        Value::Array(parts) => {
            hash.update(b"a");
            hash.update(&(parts.len() as u64).to_le_bytes());
            parts.iter().for_each(|part| add(part, hash));
        }
        Value::Object(fields) => add_fields(fields.iter(), hash),
    }
}

fn add_text(text: &str, hash: &mut Xxh3Default) {
    hash.update(b"s");
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn add_fields<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>, hash: &mut Xxh3Default) {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(name, _)| *name);
    hash.update(b"o");
    hash.update(&(fields.len() as u64).to_le_bytes());
    for (name, value) in fields {
        add_text(name, hash);
        add(value, hash);
    }
}
