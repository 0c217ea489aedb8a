//! Refuses lists where objects are expected.
//!
//! The library that reads documents accepts a list for any struct, with the fields by position. Lists in place of
//! structs suit a compact wire format. But if a client sends `[1, 2]` instead of `{"x": 1, "y": 2}` by mistake, the
//! request must not change the state. So a body that contains a list is checked against the schema of its operation.

use lehr_services::{Code, Fault, Format};
use serde_json::Value;

/// Checks that a body has no list where the schema has only objects.
///
/// # Errors
/// Returns [`Code::MessageNotSupported`] with the place of the first such list. A body that cannot be read is left to
/// the service to refuse.
pub(crate) fn check(format: Format, body: &[u8], schema: &Value) -> Result<(), Fault> {
    // Most bodies contain no list.
    if format == Format::Json && !body.contains(&b'[') {
        return Ok(());
    }
    let Ok(value) = format.decode::<Value>(body) else { return Ok(()) };
    let Some(place) = misplaced(&value, schema, schema, &mut String::new()) else { return Ok(()) };
    let place = place.strip_prefix('.').map_or_else(String::new, |place| format!("{place}: "));
    let reason = format!("{place}expected an object, found a list");
    Err(Fault::new(Code::MessageNotSupported, reason))
}

/// Returns the place of a list where the schema allows an object but no list.
fn misplaced(value: &Value, schema: &Value, root: &Value, place: &mut String) -> Option<String> {
    let schema = followed(schema, root);
    if value.is_array() && !allows(schema, root, "array") {
        return allows(schema, root, "object").then(|| place.clone());
    }
    if let Some(forms) = forms(schema) {
        let kind = if value.is_array() { "array" } else { "object" };
        // The value is correct if any form of its kind accepts it.
        let mut found = None;
        for form in forms.iter().filter(|form| allows(form, root, kind)) {
            found = Some(misplaced(value, form, root, place)?);
        }
        return found;
    }
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let of_item = schema["prefixItems"].get(index).unwrap_or(&schema["items"]);
            inside(item, of_item, root, place, &index.to_string())
        }),
        Value::Object(fields) => fields.iter().find_map(|(name, field)| {
            let of_field = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
            inside(field, of_field, root, place, name)
        }),
        _ => None,
    }
}

/// Returns the alternatives of a schema, one of which a value must satisfy.
fn forms(schema: &Value) -> Option<&Vec<Value>> {
    ["anyOf", "oneOf"].iter().find_map(|key| schema[key].as_array())
}

/// Returns whether a schema allows a kind of value.
fn allows(schema: &Value, root: &Value, kind: &str) -> bool {
    let schema = followed(schema, root);
    match (forms(schema), &schema["type"]) {
        (Some(forms), _) => forms.iter().any(|form| allows(form, root, kind)),
        (None, Value::String(found)) => found == kind,
        (None, Value::Array(found)) => found.iter().any(|found| found == kind),
        _ => true,
    }
}

fn inside(value: &Value, schema: &Value, root: &Value, place: &mut String, name: &str) -> Option<String> {
    // A quick exit, because most of a body is numbers and words.
    if !value.is_array() && !value.is_object() {
        return None;
    }
    let length = place.len();
    place.push('.');
    place.push_str(name);
    let found = misplaced(value, schema, root, place);
    place.truncate(length);
    found
}

/// Follows a schema's reference to its target.
fn followed<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    // The loop is bounded, because references may form a cycle.
    for _ in 0..16 {
        let Some(at) = schema["$ref"].as_str().and_then(|at| at.strip_prefix('#')) else { break };
        let Some(found) = root.pointer(at) else { break };
        schema = found;
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(body: &Value, schema: &Value) -> Option<String> {
        let check = |format: Format| {
            let bytes = format.encode(body).unwrap();
            check(format, &bytes, schema).err().map(|fault| fault.reason().to_owned())
        };
        let (json, packed) = (check(Format::Json), check(Format::MessagePack));
        assert_eq!(json, packed);
        json
    }

    #[test]
    fn a_list_is_refused_where_the_schema_has_an_object_and_nowhere_else() {
        let schema = json!({
            "type": "object",
            "properties": {
                "at": { "$ref": "#/$defs/Point" },
                "path": { "type": "array", "items": { "$ref": "#/$defs/Point" } },
                "names": { "type": ["array", "null"], "items": { "type": "string" } },
                "either": { "anyOf": [{ "$ref": "#/$defs/Point" }, { "type": "array" }] },
                "maybe": { "anyOf": [{ "$ref": "#/$defs/Point" }, { "type": "null" }] },
                "any": true,
            },
            "additionalProperties": { "$ref": "#/$defs/Point" },
            "$defs": { "Point": { "type": "object", "properties": { "x": { "type": "number" } } } },
        });
        for right in [
            json!({}),
            json!({ "at": { "x": 1 }, "path": [{ "x": 1 }], "names": ["a"], "either": [1], "any": [[1]] }),
            json!({ "names": null, "maybe": null, "else": { "x": [1] } }),
        ] {
            assert_eq!(refused(&right, &schema), None, "{right}");
        }
        let told = |body: Value| refused(&body, &schema).unwrap();
        assert_eq!(told(json!([1, 2])), "expected an object, found a list");
        assert_eq!(told(json!({ "at": [1] })), "at: expected an object, found a list");
        assert_eq!(told(json!({ "path": [{ "x": 1 }, [2]] })), "path.1: expected an object, found a list");
        assert_eq!(told(json!({ "maybe": [1] })), "maybe: expected an object, found a list");
        assert_eq!(told(json!({ "else": [1] })), "else: expected an object, found a list");
    }
}
