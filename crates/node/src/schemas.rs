//! Schemas of contracts as generators of clients read them best: each with a name, each at one place, choices of words as plain enumerations.
//!
//! What they mean stays as it is. Generators differ in how much of JSON Schema they know: many give each inline object a name that two may share, read `oneOf` with a
//! constant each as types without anything in common, and take `true` for no schema.

use serde_json::{Map, Value, json};

/// Schemas on their way from a contract, where each has its definitions within, into one document, where they have a place of their own.
pub(crate) struct Described<'a> {
    schemas: &'a mut Map<String, Value>,
    /// Before the names of definitions: contracts may use one name for different things.
    prefix: String,
}

impl<'a> Described<'a> {
    /// For the schemas of a contract.
    pub(crate) fn new(schemas: &'a mut Map<String, Value>, contract: &str) -> Self {
        Self { schemas, prefix: contract.replace('/', ".") }
    }

    /// The schema as a reference to a place of its own, under its title or else under a name, so that both forms of a document have one type. Numbers, texts and
    /// the like need none.
    pub(crate) fn named(&mut self, schema: &Value, name: &str) -> Value {
        let placed = self.place(schema);
        let is_plain = ["properties", "items", "anyOf", "oneOf", "enum", "additionalProperties", "prefixItems"]
            .iter()
            .all(|key| placed.get(key).is_none());
        if is_plain {
            return placed;
        }
        let title = schema["title"].as_str().filter(|title| title.chars().all(|letter| letter.is_ascii_alphanumeric()));
        let mut full = format!("{}.{}", self.prefix, title.unwrap_or(name));
        // Two that share a title are not one.
        if self.schemas.get(&full).is_some_and(|there| *there != placed) {
            full = format!("{}.{name}", self.prefix);
        }
        let reference = json!({ "$ref": format!("#/components/schemas/{full}") });
        self.schemas.insert(full, placed);
        reference
    }

    /// The schema with its references as they are here; its definitions are moved out.
    pub(crate) fn place(&mut self, schema: &Value) -> Value {
        let mut placed = schema.clone();
        let Some(fields) = placed.as_object_mut() else { return placed };
        // The whole document has one dialect.
        fields.remove("$schema");
        let definitions = fields.remove("$defs");
        // One that speaks of itself needs a name.
        let own = schema["title"].as_str().unwrap_or("Document").to_owned();
        self.lead(&mut placed, &own);
        let placed = simplified(&placed);
        if let Some(Value::Object(definitions)) = definitions {
            for (name, mut definition) in definitions {
                self.lead(&mut definition, &own);
                self.schemas.insert(format!("{}.{name}", self.prefix), simplified(&definition));
            }
        }
        if speaks_of_itself(schema) {
            self.schemas.insert(format!("{}.{own}", self.prefix), placed.clone());
        }
        placed
    }

    /// Makes references lead to where the definitions are.
    fn lead(&self, value: &mut Value, own: &str) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields.iter_mut() {
                    let Some(to) = field.as_str().filter(|_| name == "$ref") else {
                        self.lead(field, own);
                        continue;
                    };
                    let to = if to == "#" { Some(own) } else { to.strip_prefix("#/$defs/") };
                    if let Some(to) = to {
                        *field = Value::from(format!("#/components/schemas/{}.{to}", self.prefix));
                    }
                }
            }
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.lead(entry, own)),
            _ => {}
        }
    }
}

fn speaks_of_itself(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("$ref").is_some_and(|to| to == "#") || fields.values().any(speaks_of_itself)
        }
        Value::Array(entries) => entries.iter().any(speaks_of_itself),
        _ => false,
    }
}

/// The same schema in simpler words.
fn simplified(schema: &Value) -> Value {
    let fields = match schema {
        Value::Bool(true) => return json!({}),
        Value::Object(fields) => fields,
        other => return other.clone(),
    };
    let mut simple = Map::new();
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            // Types are named by where they are; two of one title would be taken for one.
            ("title", Value::String(_)) => continue,
            // Examples are Rust's.
            ("description", Value::String(text)) => Value::from(text.split("\n\n# ").next().unwrap_or_default()),
            ("properties" | "$defs", Value::Object(parts)) => {
                parts.iter().map(|(name, part)| (name.clone(), simplified(part))).collect()
            }
            ("items" | "not", part) => simplified(part),
            ("additionalProperties", part @ Value::Object(_)) => simplified(part),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter().map(simplified).collect()
            }
            _ => value.clone(),
        };
        simple.insert(key.clone(), value);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(Value::Array(forms)) = simple.remove(key) {
            let forms = with_one_enumeration(forms);
            match <[Value; 1]>::try_from(forms) {
                Ok([Value::Object(only)]) => enumerated(&mut simple, only),
                Ok([only]) => _ = simple.insert(key.to_owned(), json!([only])),
                Err(forms) => _ = simple.insert(key.to_owned(), Value::Array(forms)),
            }
        }
    }
    Value::Object(simple)
}

/// Puts what is left of a choice in its place.
fn enumerated(simple: &mut Map<String, Value>, only: Map<String, Value>) {
    for (key, value) in only {
        match (key.as_str(), simple.get("description").and_then(Value::as_str)) {
            ("description", Some(before)) => {
                let both = format!("{before}\n\n{}", value.as_str().unwrap_or_default());
                simple.insert(key, Value::from(both));
            }
            _ => _ = simple.insert(key, value),
        }
    }
}

/// The words that a form of a choice stands for, if it is of words, with what is said of them.
fn words(form: &Value) -> Option<(Vec<Value>, Option<String>)> {
    let fields = form.as_object()?;
    let is_of_words = fields.keys().all(|key| matches!(key.as_str(), "const" | "enum" | "type" | "description"));
    let found = match (fields.get("const"), fields.get("enum")) {
        (Some(word @ Value::String(_)), None) => vec![word.clone()],
        (None, Some(Value::Array(words))) if words.iter().all(Value::is_string) => words.clone(),
        _ => return None,
    };
    let said = fields.get("description").and_then(Value::as_str);
    let said = said.map(|said| {
        let named: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
        // Of one word it is said what that means; of several, of them all.
        if named.len() == 1 { format!("- `{}`: {said}", named[0]) } else { said.to_owned() }
    });
    is_of_words.then_some((found, said))
}

/// The forms of a choice, with those that are words put together, where the first of them was.
fn with_one_enumeration(forms: Vec<Value>) -> Vec<Value> {
    let (mut all, mut said, mut others, mut place) = (Vec::new(), Vec::new(), Vec::new(), None);
    for form in forms {
        match words(&form) {
            Some((words, text)) => {
                place.get_or_insert(others.len());
                all.extend(words);
                said.extend(text);
            }
            None => others.push(form),
        }
    }
    if let Some(place) = place {
        let mut enumeration = json!({ "type": "string", "enum": all });
        if !said.is_empty() {
            enumeration["description"] = Value::from(said.join("\n"));
        }
        others.insert(place, enumeration);
    }
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_words_is_an_enumeration() {
        let schema = json!({
            "title": "State", "description": "Where it is.\n\n# Example\nsome Rust",
            "oneOf": [
                { "type": "string", "const": "queued", "description": "It waits." },
                { "type": "string", "enum": ["running", "done"] },
            ],
        });
        let expected = json!({
            "description": "Where it is.\n\n- `queued`: It waits.", "type": "string", "enum": ["queued", "running", "done"],
        });
        assert_eq!(simplified(&schema), expected);
        // Other forms stay.
        let lost = json!({ "type": "object", "properties": { "lost": { "title": "Inner", "items": true } } });
        let mixed = json!({ "oneOf": [{ "const": "done" }, lost, { "const": "stopped" }] });
        let expected = json!({ "oneOf": [
            { "type": "string", "enum": ["done", "stopped"] },
            { "type": "object", "properties": { "lost": { "items": {} } } },
        ] });
        assert_eq!(simplified(&mixed), expected);
        // A field may be called as a keyword is.
        let field = json!({ "properties": { "title": { "type": "string" } }, "default": { "title": "a" } });
        assert_eq!(simplified(&field), field);
    }

    #[test]
    fn a_document_has_one_name_and_a_number_none() {
        let mut schemas = Map::new();
        let mut described = Described::new(&mut schemas, "a/b");
        let put = json!({ "title": "Put", "properties": { "key": { "type": "string" } } });
        let reference = json!({ "$ref": "#/components/schemas/a.b.Put" });
        assert_eq!(
            [described.named(&put, "put_body"), described.named(&put, "other_body")],
            [reference.clone(), reference]
        );
        assert_eq!(
            described.named(&json!({ "title": "int64", "type": "integer" }), "reply"),
            json!({ "type": "integer" })
        );
        let other = json!({ "title": "Put", "properties": { "value": { "type": "string" } } });
        assert_eq!(described.named(&other, "put_reply"), json!({ "$ref": "#/components/schemas/a.b.put_reply" }));
        let list = json!({ "title": "Array_of_string", "type": "array", "items": { "type": "string" } });
        assert_eq!(described.named(&list, "list_reply"), json!({ "$ref": "#/components/schemas/a.b.list_reply" }));
    }

    #[test]
    fn references_lead_to_where_the_definitions_are() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Tree",
            "properties": { "leaf": { "$ref": "#/$defs/Leaf" }, "more": { "items": { "$ref": "#" } } },
            "$defs": { "Leaf": { "anyOf": [{ "$ref": "#/$defs/Vein" }] }, "Vein": { "type": "string" } },
        });
        let mut schemas = Map::new();
        let placed = Described::new(&mut schemas, "a/b").place(&schema);
        assert_eq!(placed["properties"]["leaf"]["$ref"], "#/components/schemas/a.b.Leaf");
        assert_eq!(placed["properties"]["more"]["items"]["$ref"], "#/components/schemas/a.b.Tree");
        assert!(placed.get("$defs").is_none() && placed.get("$schema").is_none());
        assert_eq!(schemas["a.b.Leaf"]["$ref"], "#/components/schemas/a.b.Vein");
        assert_eq!(schemas.keys().collect::<Vec<_>>(), ["a.b.Leaf", "a.b.Tree", "a.b.Vein"]);
    }
}
