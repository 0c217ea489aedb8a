//! Checks values against JSON schemas and reports every fault; supports the part of the standard that Lehr's derived
//! schemas use.
//!
//! One rule is stricter than the standard: a table with named fields accepts no other fields, unless the schema allows
//! them. In a file that a person wrote, an unknown field is usually a misspelt one.
//!
//! A text may represent a value that is not known yet (a reference of a workflow). For such a text, the schema of the
//! future value is compared with the expected schema.

use serde_json::{Map, Value};

use super::findings::Findings;
use super::tree::{Field, Tree};

/// The maximum length of a chain of references within a schema.
const DEPTH_MAX: usize = 64;

/// The schema that every value satisfies.
static ANYTHING: Value = Value::Bool(true);

/// A schema, and the document that its references point into.
///
/// # Example
/// ```
/// use lehr_node::manifest::Schema;
/// use serde_json::json;
/// let root = json!({ "type": "object", "properties": { "x": { "type": "integer" } } });
/// let schema = Schema::of(&root);
/// assert_eq!(schema.field("x").unwrap().words(), "a whole number");
/// assert!(schema.field("y").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Schema<'a> {
    at: &'a Value,
    root: &'a Value,
}

/// The meaning of a text.
#[derive(Clone, Copy, Debug)]
pub enum Stands<'a> {
    /// The text is the value itself.
    Itself,
    /// The text stands for a later value, which will have this schema.
    For(Schema<'a>),
    /// The text stands for a later value of which nothing is known.
    Anything,
}

impl<'a> Schema<'a> {
    /// Creates a schema that is a whole document.
    pub fn of(root: &'a Value) -> Self {
        Self { at: root, root }
    }

    fn at(self, at: &'a Value) -> Self {
        Self { at, ..self }
    }

    /// Returns this schema and the schemas that it refers to: a value must satisfy all of them.
    fn together(self) -> Vec<Self> {
        let (mut open, mut found) = (vec![self], Vec::new());
        while let Some(schema) = open.pop() {
            if found.len() > DEPTH_MAX {
                break;
            }
            if let Some(target) = schema.at.get("$ref").and_then(Value::as_str)
                && let Some(target) = target.strip_prefix('#').and_then(|path| schema.root.pointer(path))
            {
                open.push(schema.at(target));
            }
            open.extend(schema.list("allOf"));
            found.push(schema);
        }
        found
    }

    fn list(self, name: &str) -> impl Iterator<Item = Self> + 'a {
        self.at.get(name).and_then(Value::as_array).into_iter().flatten().map(move |schema| self.at(schema))
    }

    /// Returns the schema's alternatives, one of which must hold; empty if it has none.
    fn alternatives(self) -> Vec<Self> {
        self.list("anyOf").chain(self.list("oneOf")).collect()
    }

    /// Returns the names of the types that the schema allows; empty if it does not restrict them.
    fn types(self, depth: usize) -> Vec<&'a str> {
        let mut types = Vec::new();
        if depth > DEPTH_MAX {
            return types;
        }
        for schema in self.together() {
            match schema.at.get("type") {
                Some(Value::String(name)) => types.push(name.as_str()),
                Some(Value::Array(names)) => types.extend(names.iter().filter_map(Value::as_str)),
                _ => {
                    let fixed = schema.at.get("const").into_iter();
                    let fixed = fixed.chain(schema.at.get("enum").and_then(Value::as_array).into_iter().flatten());
                    types.extend(fixed.map(|value| -> &'a str { kind(value) }));
                    let alternatives = schema.alternatives();
                    let each: Vec<Vec<&str>> = alternatives.iter().map(|one| one.types(depth + 1)).collect();
                    // An alternative without types allows everything.
                    if each.iter().all(|types| !types.is_empty()) {
                        types.extend(each.into_iter().flatten());
                    }
                }
            }
        }
        types.sort_unstable();
        types.dedup();
        types
    }

    /// Describes the value that the schema requires.
    ///
    /// # Example
    /// See [`Schema`].
    pub fn words(self) -> String {
        let fixed: Vec<String> = self.together().into_iter().flat_map(Schema::fixed).map(shown).collect();
        if let [one] = &fixed[..] {
            return one.clone();
        }
        if !fixed.is_empty() {
            return format!("one of {}", fixed.join(", "));
        }
        let words = self.types(0).into_iter().map(|name| match name {
            "string" => "a text",
            "integer" => "a whole number",
            "number" => "a number",
            "boolean" => "true or false",
            "array" => "a list",
            "object" => "a table",
            _ => "nothing",
        });
        let mut words: Vec<&str> = words.collect();
        // A message does not mention that a value may be left out.
        if words.len() > 1 {
            words.retain(|word| *word != "nothing");
        }
        if words.is_empty() { "something else".to_owned() } else { words.join(" or ") }
    }

    /// Returns the values that the schema allows, if they are listed.
    fn fixed(self) -> Vec<&'a Value> {
        let mut fixed: Vec<&Value> = self.at.get("const").into_iter().collect();
        fixed.extend(self.at.get("enum").and_then(Value::as_array).into_iter().flatten());
        let alternatives = self.alternatives();
        if fixed.is_empty() && !alternatives.is_empty() {
            let each: Vec<Vec<&Value>> = alternatives.into_iter().map(Schema::fixed).collect();
            if each.iter().all(|values| !values.is_empty()) {
                fixed = each.into_iter().flatten().collect();
            }
        }
        fixed
    }

    /// Returns the schema of a field of the described value; `None` if the value cannot have this field. If the schema
    /// does not restrict fields, returns a schema that every value satisfies.
    ///
    /// # Example
    /// See [`Schema`].
    pub fn field(self, name: &str) -> Option<Schema<'a>> {
        let together = self.together();
        for schema in &together {
            if let Some(found) = schema.at.get("properties").and_then(|fields| fields.get(name)) {
                return Some(schema.at(found));
            }
            if let (Some(entries), Ok(_)) = (schema.at.get("items"), name.parse::<usize>()) {
                return Some(schema.at(entries));
            }
            if let Some(rest) = schema.at.get("additionalProperties").filter(|rest| rest.is_object()) {
                return Some(schema.at(rest));
            }
            if let Some(found) = schema.alternatives().into_iter().find_map(|one| one.field(name)) {
                return Some(found);
            }
        }
        // A schema that does not restrict its fields accepts any name.
        let is_open = self.types(0).is_empty() || (self.known(0).is_empty() && self.types(0).contains(&"object"));
        is_open.then(|| self.at(&ANYTHING))
    }

    /// Returns the names of the fields of the schema and of its alternatives, in alphabetical order.
    ///
    /// # Example
    /// ```
    /// let root = serde_json::json!({ "properties": { "b": {}, "a": {} } });
    /// assert_eq!(lehr_node::manifest::Schema::of(&root).fields(), ["a", "b"]);
    /// ```
    pub fn fields(self) -> Vec<&'a str> {
        self.known(0)
    }

    fn known(self, depth: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        if depth > DEPTH_MAX {
            return names;
        }
        for schema in self.together() {
            let fields = schema.at.get("properties").and_then(Value::as_object);
            names.extend(fields.into_iter().flat_map(Map::keys).map(String::as_str));
            names.extend(schema.alternatives().into_iter().flat_map(|one| one.known(depth + 1)));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the schema of the items of the described list. If the schema has no `items`, returns a schema that every
    /// value satisfies.
    ///
    /// # Example
    /// ```
    /// let root = serde_json::json!({ "type": "array", "items": { "type": "string" } });
    /// assert_eq!(lehr_node::manifest::Schema::of(&root).entries().words(), "a text");
    /// ```
    pub fn entries(self) -> Schema<'a> {
        let entries = self.together().into_iter().find_map(|schema| schema.at.get("items").map(|of| schema.at(of)));
        entries.unwrap_or_else(|| self.at(&ANYTHING))
    }

    /// Returns whether a value of this schema can satisfy another schema; `false` only if no value can.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::Schema;
    /// use serde_json::json;
    /// let (whole, text) = (json!({ "type": "integer" }), json!({ "type": "string" }));
    /// assert!(Schema::of(&whole).fits(Schema::of(&json!({ "type": "number" }))));
    /// assert!(!Schema::of(&whole).fits(Schema::of(&text)));
    /// ```
    pub fn fits(self, expected: Schema<'_>) -> bool {
        let (found, wanted) = (self.types(0), expected.types(0));
        let meets = |name: &str| {
            wanted.contains(&name)
                || (name == "integer" && wanted.contains(&"number"))
                || (name == "number" && wanted.contains(&"integer"))
        };
        if found.is_empty() || wanted.is_empty() {
            return true;
        }
        // For a value that may be missing, only its other types are checked.
        if !found.iter().filter(|name| **name != "null").any(|name| meets(name)) {
            return false;
        }
        let is_list = found.contains(&"array") && wanted.contains(&"array") && wanted.len() == 1;
        !is_list || self.entries().fits(expected.entries())
    }

    /// Checks `value`, which is the part of `tree` at `field`, and adds every fault to `findings`. `stands` returns
    /// what a text represents.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::{Field, Findings, Schema, Stands, Tree};
    /// let root = serde_json::json!({ "type": "object", "properties": { "clusters": { "type": "integer", "minimum": 1 } } });
    /// let tree = Tree::read("a.toml", "clusters = 0\nclutsers = 2").unwrap();
    /// let mut findings = Findings::default();
    /// Schema::of(&root).check(&tree, &Field::default(), tree.value(), &|_| Stands::Itself, &mut findings);
    /// assert_eq!(
    ///     findings.to_string(),
    ///     "a.toml, line 1, clusters: expected at least 1, found 0\n\
    ///      a.toml, line 2, clutsers: expected one of the fields clusters, found an unknown one"
    /// );
    /// ```
    pub fn check(
        self,
        tree: &Tree,
        field: &Field,
        value: &Value,
        stands: &dyn Fn(&str) -> Stands<'a>,
        findings: &mut Findings,
    ) {
        Checking { tree, stands, findings }.value(self, field, value, true, 0);
    }
}

struct Checking<'c, 'a> {
    tree: &'c Tree,
    stands: &'c dyn Fn(&str) -> Stands<'a>,
    findings: &'c mut Findings,
}

impl<'a> Checking<'_, 'a> {
    fn find(&mut self, field: &Field, text: String) {
        self.findings.add(self.tree.finding(field, text));
    }

    /// Checks a value. If `is_whole` is true, the schema describes the value completely, so other fields are reported
    /// as unknown.
    fn value(&mut self, schema: Schema<'a>, field: &Field, value: &Value, is_whole: bool, depth: usize) {
        if depth > DEPTH_MAX {
            return self.find(field, format!("expected at most {DEPTH_MAX} levels, found more"));
        }
        if let Value::String(text) = value {
            match (self.stands)(text) {
                Stands::Itself => {}
                Stands::Anything => return,
                Stands::For(found) if found.fits(schema) => return,
                Stands::For(found) => {
                    return self.find(
                        field,
                        format!("expected {}, found a reference to {}: {text}", schema.words(), found.words()),
                    );
                }
            }
        }
        if schema.at == &Value::Bool(false) {
            return self.find(field, "expected nothing here".to_owned());
        }
        for part in schema.together() {
            // If the value is of another kind, further faults would only follow from this one, so they are not
            // reported.
            if !self.part(schema, part, field, value, depth) {
                return;
            }
        }
        if let (true, Value::Object(entries)) = (is_whole, value) {
            self.unknown(schema, field, entries);
        }
    }

    /// Checks a value against one part of a schema. Returns `false` if the value has another type than the schema
    /// allows, or is not one of the listed values.
    fn part(&mut self, whole: Schema<'a>, part: Schema<'a>, field: &Field, value: &Value, depth: usize) -> bool {
        let types: Vec<&str> = match part.at.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let found = kind(value);
        let is_of = |name: &&str| **name == *found || (**name == *"number" && found == "integer");
        if !types.is_empty() && !types.iter().any(is_of) {
            self.find(field, format!("expected {}, found {}", whole.words(), shown(value)));
            return false;
        }
        let mut fixed = part.at.get("const").into_iter().collect::<Vec<_>>();
        fixed.extend(part.at.get("enum").and_then(Value::as_array).into_iter().flatten());
        if !fixed.is_empty() && !fixed.contains(&value) {
            self.find(field, format!("expected {}, found {}", part.words(), shown(value)));
            return false;
        }
        self.alternatives(part, field, value, depth);
        self.limits(part, field, value);
        match value {
            Value::Object(entries) => self.entries(part, field, entries, depth),
            Value::Array(entries) => {
                let list = |name: &str| part.at.get(name);
                let first = list("prefixItems").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                for (place, entry) in entries.iter().enumerate() {
                    if let Some(schema) = first.get(place).or_else(|| list("items")) {
                        self.value(part.at(schema), &field.place(place), entry, true, depth + 1);
                    }
                }
            }
            _ => {}
        }
        true
    }

    fn entries(&mut self, part: Schema<'a>, field: &Field, entries: &Map<String, Value>, depth: usize) {
        let required = part.at.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !entries.contains_key(*name)) {
            let wanted = part.field(name).map_or_else(String::new, |schema| format!(" ({})", schema.words()));
            self.find(field, format!("expected the field {name}{wanted}, found none"));
        }
        let fields = part.at.get("properties").and_then(Value::as_object);
        let rest = part.at.get("additionalProperties").filter(|rest| rest.is_object());
        for (name, value) in entries {
            let known = fields.and_then(|fields| fields.get(name));
            if let Some(schema) = known.or(rest) {
                self.value(part.at(schema), &field.name(name), value, true, depth + 1);
            }
        }
    }

    /// Reports fields that the schema does not have.
    fn unknown(&mut self, schema: Schema<'a>, field: &Field, entries: &Map<String, Value>) {
        let is_open = schema.together().iter().any(|part| match part.at.get("additionalProperties") {
            Some(Value::Bool(is_open)) => *is_open,
            Some(_) => true,
            None => false,
        });
        let known = schema.known(0);
        let says_fields = schema.together().iter().any(|part| part.at.get("properties").is_some()) || !known.is_empty();
        let is_closed =
            schema.together().iter().any(|part| part.at.get("additionalProperties") == Some(&Value::Bool(false)));
        if is_open || !(says_fields || is_closed) {
            return;
        }
        for name in entries.keys().filter(|name| !known.contains(&name.as_str())) {
            let expected = match &known[..] {
                [] => "no fields".to_owned(),
                names => format!("one of the fields {}", names.join(", ")),
            };
            self.find(&field.name(name), format!("expected {expected}, found an unknown one"));
        }
    }

    /// Checks that at least one of the alternatives matches. If no alternative matches, reports the faults of the
    /// alternative with the fewest faults.
    fn alternatives(&mut self, part: Schema<'a>, field: &Field, value: &Value, depth: usize) {
        let alternatives = part.alternatives();
        if alternatives.is_empty() {
            return;
        }
        let mut nearest: Option<Findings> = None;
        let mut tried = 0;
        for alternative in &alternatives {
            let mut findings = Findings::default();
            Checking { tree: self.tree, stands: self.stands, findings: &mut findings }.value(
                *alternative,
                field,
                value,
                false,
                depth + 1,
            );
            if findings.is_empty() {
                return;
            }
            // Only alternatives that accept a value of this kind count.
            let types = alternative.types(0);
            let found = kind(value);
            if types.is_empty() || types.contains(&found) || (found == "integer" && types.contains(&"number")) {
                tried += 1;
                if nearest.as_ref().is_none_or(|nearest| findings.count() < nearest.count()) {
                    nearest = Some(findings);
                }
            }
        }
        match nearest {
            Some(findings) if tried == 1 || value.is_object() => self.findings.extend(findings),
            _ => self.find(field, format!("expected {}, found {}", part.words(), shown(value))),
        }
    }

    fn limits(&mut self, part: Schema<'a>, field: &Field, value: &Value) {
        let limit = |name: &str| part.at.get(name).and_then(Value::as_f64);
        if let Some(number) = value.as_f64() {
            type Limit = (&'static str, &'static str, fn(f64, f64) -> bool);
            let tests: [Limit; 4] = [
                ("minimum", "at least", |number, limit| number >= limit),
                ("maximum", "at most", |number, limit| number <= limit),
                ("exclusiveMinimum", "more than", |number, limit| number > limit),
                ("exclusiveMaximum", "less than", |number, limit| number < limit),
            ];
            for (name, words, holds) in tests {
                if let Some(limit) = limit(name).filter(|limit| !holds(number, *limit)) {
                    return self.find(field, format!("expected {words} {limit}, found {}", shown(value)));
                }
            }
        }
        let sizes = match value {
            Value::String(text) => Some((text.chars().count(), "minLength", "maxLength", "characters")),
            Value::Array(entries) => Some((entries.len(), "minItems", "maxItems", "entries")),
            _ => None,
        };
        if let Some((size, least, most, what)) = sizes {
            if let Some(limit) = limit(least).filter(|limit| (size as f64) < *limit) {
                self.find(field, format!("expected at least {limit} {what}, found {size}"));
            }
            if let Some(limit) = limit(most).filter(|limit| size as f64 > *limit) {
                self.find(field, format!("expected at most {limit} {what}, found {size}"));
            }
        }
    }
}

/// Returns the type of a value, as schemas name it.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns a value as messages show it. Lists appear as their length and tables without their content. Texts are cut
/// after 60 characters.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Array(entries) => format!("a list of {}", entries.len()),
        Value::Object(_) => "a table".to_owned(),
        Value::String(text) if text.chars().count() > 60 => {
            format!("{:?}…", text.chars().take(60).collect::<String>())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(schema: &Value, text: &str) -> String {
        let tree = Tree::read("a.toml", text).unwrap();
        let mut findings = Findings::default();
        Schema::of(schema).check(&tree, &Field::default(), tree.value(), &|_| Stands::Itself, &mut findings);
        findings.to_string()
    }

    #[test]
    fn each_fault_is_told_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "cores": { "type": "array", "items": { "$ref": "#/$defs/core" }, "maxItems": 3 },
                "mode": { "oneOf": [{ "const": "fast" }, { "const": "slow" }] },
                "share": { "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "null" }] },
            },
            "required": ["name"],
            "$defs": { "core": { "type": "integer", "minimum": 0 } },
        });
        assert_eq!(faults(&schema, "name = 'a'\ncores = [0, 1]\nmode = 'slow'\nshare = 0.5"), "");
        assert_eq!(
            faults(&schema, "cores = [0, -1,\n 'x']\nmode = 'quick'\nshare = 0\nmoed = 1"),
            "a.toml: expected the field name (a text), found none\n\
             a.toml, line 1, cores[1]: expected at least 0, found -1\n\
             a.toml, line 2, cores[2]: expected a whole number, found \"x\"\n\
             a.toml, line 3, mode: expected one of \"fast\", \"slow\", found \"quick\"\n\
             a.toml, line 4, share: expected more than 0, found 0\n\
             a.toml, line 5, moed: expected one of the fields cores, mode, name, share, found an unknown one"
        );
    }

    #[test]
    fn alternatives_with_a_tag_are_told_apart_by_it() {
        let schema = json!({ "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "file" }, "path": { "type": "string" } }, "required": ["kind", "path"] },
            { "type": "object", "properties": { "kind": { "const": "url" }, "url": { "type": "string" } }, "required": ["kind", "url"] },
        ] });
        assert_eq!(faults(&schema, "kind = 'url'\nurl = 'x'"), "");
        assert_eq!(faults(&schema, "kind = 'url'\nurl = 5"), "a.toml, line 2, url: expected a text, found 5");
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#" });
        assert_eq!(faults(&schema, "a = 1"), "");
        assert_eq!(Schema::of(&schema).words(), "something else");
        assert!(Schema::of(&schema).field("a").is_some());
    }
}
