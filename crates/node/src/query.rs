//! The fields of an operation outside its body: in the query string of the URL, or in a form.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lehr_services::{Code, Fault, Format, OperationDescription, raw_document};
use serde_json::{Map, Value};

/// Reads the fields of an operation from the query string of the URL: `limit=4&name=ada` is `{"limit": 4, "name":
/// "ada"}`. A value that is valid JSON is read as JSON, unless the field is a text; everything else is text. A list may
/// be JSON, words separated by commas, or the field repeated for each item, like OpenAPI's `explode`.
///
/// # Errors
/// Returns [`Code::InvalidValue`] for a repeated field that is not a list.
pub(crate) fn query(text: &str, operation: Option<&OperationDescription>) -> Result<Map<String, Value>, Fault> {
    let mut fields = Map::new();
    for (name, text) in form_urlencoded::parse(text.as_bytes()) {
        let schema = operation.map(|operation| &operation.body["properties"][&*name]);
        let kinds = schema.map(|schema| &schema["type"]);
        let may_be = |wanted: &str| match kinds {
            Some(Value::String(kind)) => kind == wanted,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
            _ => false,
        };
        let is_of_texts = schema.is_some_and(|schema| schema["items"]["type"] == "string");
        let item = |text: &str| match serde_json::from_str(text) {
            Ok(value) if !is_of_texts => value,
            _ => Value::from(text),
        };
        if let Some(before) = fields.get_mut(&*name) {
            match before {
                Value::Array(items) if may_be("array") => items.push(item(&text)),
                // A field that the operation does not have is ignored, however often it occurs.
                _ if schema.is_some_and(Value::is_null) => (),
                _ => return Err(Fault::new(Code::InvalidValue, format!("{name}: given twice in the address"))),
            }
            continue;
        }
        let value = match serde_json::from_str(&text) {
            Ok(Value::Null) if may_be("null") => Value::Null,
            Ok(value @ Value::Array(_)) if may_be("array") => value,
            _ if may_be("array") && !may_be("string") => text.split(',').map(item).collect(),
            Ok(value @ Value::String(_)) => value,
            // Python writes booleans as `True` and `False`.
            Err(_) if may_be("boolean") && text.eq_ignore_ascii_case("true") => Value::Bool(true),
            Err(_) if may_be("boolean") && text.eq_ignore_ascii_case("false") => Value::Bool(false),
            Ok(value) if !may_be("string") => value,
            _ => Value::from(&*text),
        };
        fields.insert(name.into_owned(), value);
    }
    Ok(fields)
}

/// Encodes bytes and the fields beside them as the document of an operation; as JSON if `is_json`, because more fields
/// will then be added.
pub(crate) fn bytes_as(
    is_json: bool,
    mut fields: Map<String, Value>,
    media_type: &str,
    bytes: &[u8],
) -> Result<(Format, Vec<u8>), Fault> {
    if !is_json {
        return Ok((Format::MessagePack, raw_document(&fields, media_type, bytes)?));
    }
    fields.insert("media_type".to_owned(), media_type.into());
    fields.insert("data".to_owned(), STANDARD.encode(bytes).into());
    Ok((Format::Json, Format::Json.encode(&Value::Object(fields))?))
}

#[cfg(test)]
mod tests {
    use lehr_services::Verb;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_is_read_as_the_operation_expects_it() {
        let body = json!({ "properties": {
            "name": { "type": "string" }, "weights": { "type": ["string", "null"] }, "columns": { "type": ["array", "null"], "items": { "type": "string" } },
            "limit": { "type": "integer" }, "gaps": { "type": "boolean" }, "format": { "$ref": "#/$defs/Form" },
        } });
        let operation = OperationDescription { verb: Verb::Query, body, reply: Value::Null, raw: Vec::new() };
        let text = "name=2026&weights=null&columns=lon,lat&limit=4&format=csv&other=true";
        let expected = json!({ "name": "2026", "weights": null, "columns": ["lon", "lat"], "limit": 4, "format": "csv", "other": true });
        let read = |text: &str| query(text, Some(&operation)).map(Value::Object);
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("gaps=False&name=True"), Ok(json!({ "gaps": false, "name": "True" })));
        let quoted = read("name=%22a%22&columns=%5B%22x%22%5D&weights=7");
        assert_eq!(quoted, Ok(json!({ "name": "a", "columns": ["x"], "weights": "7" })));
        assert_eq!(query("name=2026", None).map(Value::Object), Ok(json!({ "name": 2026 })));
        // A list as OpenAPI clients write it.
        assert_eq!(read("columns=1&columns=b&columns=7"), Ok(json!({ "columns": ["1", "b", "7"] })));
        assert_eq!(read("columns=7"), Ok(json!({ "columns": ["7"] })));
        assert_eq!(read("limit=4&limit=5").unwrap_err().reason(), "limit: given twice in the address");
        // The type of a field may be behind a reference.
        assert_eq!(read("format=csv&format=tsv").unwrap_err().reason(), "format: given twice in the address");
        assert_eq!(read("other=1&other=2"), Ok(json!({ "other": 1 })));
    }
}
