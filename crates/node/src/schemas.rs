//! Converts schemas of contracts to forms that client generators read well. Each schema has a name and one place, and
//! choices of words are plain enumerations.
//!
//! The meaning of the schemas stays the same. Generators differ in how much of JSON Schema they know. Many give each
//! inline object a name, and may give two objects the same name. Many read a `oneOf` of constants as unrelated types,
//! and ignore a schema that is `true`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Moves schemas from contracts, which contain their own definitions, into one document with one place for each
/// definition.
pub(crate) struct Described<'a> {
    schemas: &'a mut Map<String, Value>,
    /// The prefix of the names of definitions. Without a prefix, two contracts could use one name for different things.
    prefix: String,
}

impl<'a> Described<'a> {
    /// Creates a converter for the schemas of a contract.
    pub(crate) fn new(schemas: &'a mut Map<String, Value>, contract: &str) -> Self {
        Self { schemas, prefix: contract.replace('/', ".") }
    }

    /// Returns a reference to the schema, which gets a separate place under its title or else under `name`. So equal
    /// schemas with the same title become one type. Plain values, such as numbers and texts, stay inline.
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
        // Two different schemas with the same title need different names.
        if self.schemas.get(&full).is_some_and(|there| *there != placed) {
            full = format!("{}.{name}", self.prefix);
        }
        let reference = json!({ "$ref": format!("#/components/schemas/{full}") });
        self.schemas.insert(full, placed);
        reference
    }

    /// Returns the fields of an object, for a query string or a form. Each field has its schema, without null as a
    /// value, and whether it is required.
    pub(crate) fn fields(&mut self, schema: &Value) -> Vec<Field> {
        let mut placed = self.place(schema);
        let needed = placed["required"].take();
        let Some(Value::Object(fields)) = placed.get_mut("properties").map(Value::take) else { return Vec::new() };
        let is_needed = |name: &str| needed.as_array().is_some_and(|needed| needed.iter().any(|other| other == name));
        let field = |(name, schema): (String, Value)| {
            let (is_required, schema) = (is_needed(&name), without_null(schema));
            Field { is_plain: self.is_plain(&schema), name, schema, is_required }
        };
        fields.into_iter().map(field).collect()
    }

    /// Returns whether a value can be written in a query string: a text, a number, a boolean, a choice, or a list of
    /// these.
    fn is_plain(&self, schema: &Value) -> bool {
        if let Some(to) = schema["$ref"].as_str() {
            let to = to.strip_prefix("#/components/schemas/").and_then(|to| self.schemas.get(to));
            return to.is_some_and(|to| to.get("enum").is_some());
        }
        match schema["type"].as_str() {
            Some("string" | "integer" | "number" | "boolean") => true,
            Some("array") => self.is_plain(&schema["items"]),
            _ => false,
        }
    }

    /// Returns the schema of a form with a file and fields, under the name `name`. `others` is the body's schema of
    /// additional fields.
    pub(crate) fn form(&mut self, fields: &[Field], others: &Value, name: &str) -> Value {
        let mut properties: Map<String, Value> =
            fields.iter().map(|field| (field.name.clone(), field.schema.clone())).collect();
        properties
            .insert("file".to_owned(), json!({ "type": "string", "format": "binary", "description": "The file." }));
        let needed = fields.iter().filter(|field| field.is_required).map(|field| field.name.as_str());
        let needed: Vec<&str> = ["file"].into_iter().chain(needed).collect();
        let mut form = json!({ "type": "object", "required": needed, "properties": properties });
        if *others == Value::Bool(false) {
            form["additionalProperties"] = Value::Bool(false);
        }
        self.named(&form, name)
    }

    /// Returns the schema with its references adjusted to this document; moves its definitions out.
    pub(crate) fn place(&mut self, schema: &Value) -> Value {
        let mut placed = schema.clone();
        let Some(fields) = placed.as_object_mut() else { return placed };
        // The whole document has one dialect.
        fields.remove("$schema");
        let definitions = fields.remove("$defs");
        // A schema that refers to itself needs a name.
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

    /// Makes references point to the definitions' new places.
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

/// A field of an object in a query string or a form.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) is_required: bool,
    /// Whether a value of the field can be written in a query string.
    pub(crate) is_plain: bool,
}

/// Removes `null` from a schema, because a query string or a form has no `null`.
fn without_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(kinds)) = fields.get("type") {
        let mut left = kinds.iter().filter(|kind| *kind != "null");
        if let (Some(kind), None) = (left.next(), left.next()) {
            fields["type"] = kind.clone();
        }
    }
    if let Some(Value::Array(forms)) = fields.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(only)] = forms.as_mut_slice() {
            let only = std::mem::take(only);
            fields.remove("anyOf");
            for (key, value) in only {
                fields.entry(key).or_insert(value);
            }
        }
    }
    schema
}

/// Names each object, each choice of words and each choice of forms inside another schema, after its position. For
/// schemas without names, generators invent names, and some use one name twice.
pub(crate) fn name_all(schemas: &mut Map<String, Value>) {
    let names: Vec<String> = schemas.keys().cloned().collect();
    let mut naming = Naming { taken: names.iter().map(|name| bare(name)).collect(), found: Vec::new() };
    for name in names {
        let Some(schema) = schemas.get_mut(&name) else { continue };
        naming.inside(schema, &name);
    }
    schemas.extend(naming.found);
}

/// Returns a name as generators compare it: in lower case, letters and digits only.
fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Capitalises a word, for the end of a name.
fn capital(word: &str) -> String {
    let of = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    word.split(|letter: char| !letter.is_ascii_alphanumeric()).map(of).collect()
}

struct Naming {
    taken: BTreeSet<String>,
    found: Vec<(String, Value)>,
}

impl Naming {
    /// Names the parts inside a schema with this name.
    fn inside(&mut self, schema: &mut Value, name: &str) {
        let Some(fields) = schema.as_object_mut() else { return };
        // If the form is an object with one field, as in a choice, its name already ends with that field.
        for (field, part) in fields.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
            let end = capital(field);
            let name = if name.ends_with(&end) { format!("{name}Fields") } else { format!("{name}{end}") };
            self.here(part, &name);
        }
        if let Some(part) = fields.get_mut("items") {
            self.here(part, &format!("{name}Item"));
        }
        if let Some(part) = fields.get_mut("additionalProperties") {
            self.here(part, &format!("{name}Value"));
        }
        for key in ["oneOf", "anyOf"] {
            let Some(Value::Array(forms)) = fields.get_mut(key) else { continue };
            let is_choice = of_substance(forms) > 1;
            let mut told = Vec::new();
            for (index, form) in forms.iter_mut().enumerate() {
                let constant = constant(form);
                let word = constant.as_ref().map(|(_, word)| word.clone());
                let word = word.or_else(|| only_word(form)).or_else(|| only_field(form));
                let end = word.map_or_else(|| index.to_string(), |word| capital(&word));
                let name = if is_choice { format!("{name}{end}") } else { name.to_owned() };
                self.here(form, &name);
                // Some generators read keys beside a reference in a choice as another form.
                if let Some(fields) = form.as_object_mut().filter(|fields| fields.contains_key("$ref")) {
                    fields.retain(|key, _| key == "$ref");
                }
                told.extend(constant.map(|(field, word)| (field, word, form["$ref"].clone())));
            }
            // All forms have a constant in the same field, which identifies them.
            if let Some((by, ..)) = told.first().cloned()
                && told.len() == forms.len()
                && told.iter().all(|(field, ..)| *field == by)
            {
                let mapping: Map<String, Value> = told.into_iter().map(|(_, word, to)| (word, to)).collect();
                fields.insert("discriminator".to_owned(), json!({ "propertyName": by, "mapping": mapping }));
            }
        }
    }

    /// Names the schema at a position, if it needs a name, and the parts inside it.
    fn here(&mut self, schema: &mut Value, name: &str) {
        let is_choice = |key: &str| schema[key].as_array().is_some_and(|forms| of_substance(forms) > 1);
        let is_of_parts = ["properties", "enum"].iter().any(|key| schema.get(key).is_some());
        let needs_name = is_of_parts || is_choice("oneOf") || is_choice("anyOf");
        if !needs_name {
            return self.inside(schema, name);
        }
        let mut name = name.to_owned();
        while !self.taken.insert(bare(&name)) {
            name.push_str("Other");
        }
        let mut reference = Map::new();
        if let Some(fields) = schema.as_object_mut() {
            // Keys that concern this position stay here.
            let stays = |key: &String| key == "default" || key.starts_with("x-");
            let here: Vec<String> = fields.keys().filter(|key| stays(key)).cloned().collect();
            reference.extend(here.into_iter().filter_map(|key| fields.remove_entry(&key)));
            if let Some(text) = fields.get("description") {
                reference.insert("description".to_owned(), text.clone());
            }
        }
        reference.insert("$ref".to_owned(), Value::from(format!("#/components/schemas/{name}")));
        let mut moved = std::mem::replace(schema, Value::Object(reference));
        self.inside(&mut moved, &name);
        self.found.push((name, moved));
    }
}

/// Returns the number of forms of a choice other than null.
fn of_substance(forms: &[Value]) -> usize {
    forms.iter().filter(|form| form["type"] != "null").count()
}

/// Returns the field of a form that has a constant, with its word.
fn constant(form: &Value) -> Option<(String, String)> {
    let mut words = form["properties"].as_object()?.iter();
    words.find_map(|(name, field)| Some((name.clone(), field["const"].as_str()?.to_owned())))
}

/// Returns the word of a choice with only one word.
fn only_word(form: &Value) -> Option<String> {
    match form["enum"].as_array()?.as_slice() {
        [word] => word.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Returns the only field of an object; `None` if there are several.
fn only_field(form: &Value) -> Option<String> {
    let mut fields = form["properties"].as_object()?.keys();
    let first = fields.next()?;
    fields.next().is_none().then(|| first.clone())
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

/// Returns an equivalent, simpler schema.
fn simplified(schema: &Value) -> Value {
    let fields = match schema {
        Value::Bool(true) => return json!({}),
        Value::Object(fields) => fields,
        other => return other.clone(),
    };
    let mut simple = Map::new();
    for (key, value) in fields {
        let value = match (key.as_str(), value) {
            // Types are named by their position, because generators would merge two types with the same title.
            ("title", Value::String(_)) => continue,
            // A default of null only says that there is no default, and generators would make the field required.
            ("default", Value::Null) => continue,
            // Generators know only OpenAPI's formats, and read a number without a known format as 32 bits.
            ("format", Value::String(format)) if format.starts_with("uint") => Value::from(match format.as_str() {
                "uint8" | "uint16" => "int32",
                _ => "int64",
            }),
            // The sections after the first heading, such as examples, are about Rust.
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
            let forms = with_one_object(with_one_enumeration(forms));
            match <[Value; 1]>::try_from(forms) {
                Ok([Value::Object(only)]) => enumerated(&mut simple, only),
                Ok([only]) => _ = simple.insert(key.to_owned(), json!([only])),
                Err(forms) => _ = simple.insert(key.to_owned(), Value::Array(forms)),
            }
        }
    }
    Value::Object(simple)
}

/// Returns the forms of a choice, with all single-field objects merged into one object that has one of these fields.
///
/// Java generators try to read a value as each of the forms, and ignore unknown fields. So one value would match two of
/// the forms.
fn with_one_object(forms: Vec<Value>) -> Vec<Value> {
    let is_single = |form: &Value| {
        let required = form["required"].as_array().and_then(|required| Some(required.first()?.as_str()?.to_owned()));
        only_field(form).is_some_and(|field| Some(field) == required)
    };
    let (singles, mut others): (Vec<Value>, Vec<Value>) = forms.into_iter().partition(is_single);
    if singles.len() < 2 {
        return singles.into_iter().chain(others).collect();
    }
    let mut properties = Map::new();
    for mut form in singles {
        let said = form["description"].as_str().map(str::to_owned);
        for (name, field) in std::mem::take(&mut form["properties"]).as_object_mut().into_iter().flatten() {
            if let (Some(said), Some(field)) = (&said, field.as_object_mut()) {
                field.insert("description".to_owned(), Value::from(said.clone()));
            }
            properties.insert(name.clone(), field.take());
        }
    }
    others.insert(
        0,
        json!({ "type": "object", "properties": properties, "additionalProperties": false,
            "minProperties": 1, "maxProperties": 1, "description": "One of these fields is present." }),
    );
    others
}

/// Merges the only remaining form of a choice into the schema.
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

/// Returns the words of a choice's form, if it consists of words, with their descriptions.
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
        // A description of one word is listed under that word; a description of several applies to all of them.
        if named.len() == 1 { format!("- `{}`: {said}", named[0]) } else { said.to_owned() }
    });
    is_of_words.then_some((found, said))
}

/// Returns the forms of a choice, with all words merged into one enumeration at the position of the first word.
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
    fn forms_with_a_field_each_are_one_object() {
        let form = |field: &str, said: &str| {
            let properties = Map::from_iter([(field.to_owned(), json!({ "type": "string" }))]);
            json!({ "type": "object", "description": said, "properties": properties, "required": [field] })
        };
        let choice = json!({ "oneOf": [form("upload", "In pieces."), form("file", "A file."), { "const": "table" }] });
        let found = simplified(&choice);
        let both = &found["oneOf"][0];
        assert_eq!(found["oneOf"].as_array().unwrap().len(), 2, "{found}");
        assert_eq!(
            (&both["minProperties"], &both["maxProperties"], both.get("required")),
            (&1.into(), &1.into(), None)
        );
        assert_eq!(both["properties"]["file"], json!({ "type": "string", "description": "A file." }));
        // A single object with one field does not change.
        let alone = json!({ "oneOf": [form("file", "A file."), { "type": "string" }] });
        assert_eq!(simplified(&alone)["oneOf"][0], form("file", "A file."));
    }

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
        // Other forms do not change.
        let lost = json!({ "type": "object", "properties": { "lost": { "title": "Inner", "items": true } } });
        let mixed = json!({ "oneOf": [{ "const": "done" }, lost, { "const": "stopped" }] });
        let expected = json!({ "oneOf": [
            { "type": "string", "enum": ["done", "stopped"] },
            { "type": "object", "properties": { "lost": { "items": {} } } },
        ] });
        assert_eq!(simplified(&mixed), expected);
        let counted = simplified(&json!({ "type": "integer", "format": "uint64", "minimum": 0 }));
        assert_eq!(counted, json!({ "type": "integer", "format": "int64", "minimum": 0 }));
        // A field may have the name of a keyword.
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
    fn what_stands_within_has_a_name_and_a_choice_says_by_which_field() {
        let object = |what: &str| json!({ "type": "object", "properties": { "what": { "const": what } } });
        let within = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        let file = json!({ "type": "object", "properties": { "file": within } });
        let words = json!({ "type": "string", "enum": ["a", "b"], "description": "Which." });
        let mut schemas = Map::from_iter([
            ("a.Event".to_owned(), json!({ "oneOf": [object("began"), object("ended")] })),
            (
                "a.Order".to_owned(),
                json!({ "properties": {
                "sort_by": { "anyOf": [words, { "type": "null" }] }, "from": { "oneOf": [file, { "type": "string" }] },
            } }),
            ),
            ("a.OrderSortby".to_owned(), json!({ "type": "integer" })),
        ]);
        name_all(&mut schemas);
        let to = |name: &str| format!("#/components/schemas/{name}");
        assert_eq!(
            schemas["a.Event"]["oneOf"],
            json!([{ "$ref": to("a.EventBegan") }, { "$ref": to("a.EventEnded") }])
        );
        let mapping = json!({ "began": to("a.EventBegan"), "ended": to("a.EventEnded") });
        assert_eq!(schemas["a.Event"]["discriminator"], json!({ "propertyName": "what", "mapping": mapping }));
        let order = &schemas["a.Order"]["properties"];
        // To generators, another schema already has this name.
        assert_eq!(order["sort_by"]["anyOf"][0], json!({ "$ref": to("a.OrderSortByOther") }));
        assert_eq!(order["from"]["$ref"], to("a.OrderFrom"));
        assert_eq!(schemas["a.OrderFrom"]["oneOf"][0]["$ref"], to("a.OrderFromFile"));
        assert_eq!(schemas["a.OrderFromFile"]["properties"]["file"]["$ref"], to("a.OrderFromFileFields"));
        assert_eq!(schemas["a.OrderFromFileFields"], within);
    }

    #[test]
    fn fields_of_an_address_have_no_null() {
        let mut schemas = Map::new();
        let mut described = Described::new(&mut schemas, "a/b");
        let fields = described.fields(&json!({
            "properties": {
                "id": { "type": ["string", "null"], "default": null },
                "form": { "anyOf": [{ "$ref": "#/$defs/Form" }, { "type": "null" }], "description": "Its form." },
                "any": {}, "names": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["id"],
            "$defs": { "Form": { "enum": ["csv", "npy"] } },
        }));
        let of = |name: &str| fields.iter().find(|field| field.name == name).unwrap();
        assert_eq!(
            (&of("id").schema, of("id").is_required, of("id").is_plain),
            (&json!({ "type": "string" }), true, true)
        );
        let form = json!({ "$ref": "#/components/schemas/a.b.Form", "description": "Its form." });
        assert_eq!((&of("form").schema, of("form").is_required, of("form").is_plain), (&form, false, true));
        assert!(of("names").is_plain && !of("any").is_plain);
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
