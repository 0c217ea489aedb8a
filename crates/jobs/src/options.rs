//! The options of a method, as JSON. A service stores the options and passes them on; only the method knows their type.
//!
//! Fields keep their order, so that documents have them in the order of the method's type.

use std::borrow::Cow;
use std::fmt;

use lehr_services::{Code, Fault, in_words};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The name in this crate's schemas that is replaced by the schema of a method's options.
pub(crate) const PLACE: &str = "Options";

/// The options of a method, in the method's own form.
///
/// # Example
/// ```
/// use lehr_jobs::jobs::Options;
/// use lehr_methods::cluster;
/// let options = Options::of(&cluster::Options { clusters: Some(7), ..cluster::Options::default() });
/// assert_eq!(options.read::<cluster::Options>()?.clusters, Some(7));
/// let slip: Options = serde_json::from_str(r#"{ "seed": 1, "clusters": "two" }"#).unwrap();
/// let fault = slip.read::<cluster::Options>().unwrap_err();
/// let with_a_point: Options = serde_json::from_str(r#"{ "clusters": 7.0 }"#).unwrap();
/// assert_eq!(with_a_point.read::<cluster::Options>()?.clusters, Some(7));
/// assert!(fault.reason().ends_with("options.clusters: invalid type: string \"two\", expected a whole number of at least 0"), "{fault}");
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options(Json);

#[derive(Clone, Debug, PartialEq)]
enum Json {
    /// A value that is neither an object nor a list.
    Plain(Value),
    List(Vec<Json>),
    Fields(Vec<(String, Json)>),
}

impl Options {
    /// Converts options to JSON. A number that JSON cannot represent, such as NaN, becomes null. Methods read null as
    /// `None` for an `Option`, and refuse it for any other field. If the options cannot be converted at all, the result
    /// is null, which methods refuse.
    ///
    /// # Example
    /// See [`Options`].
    pub fn of(options: &impl Serialize) -> Self {
        let text = serde_json::to_vec(options).ok();
        let options = text.and_then(|text| serde_json::from_slice(&text).ok());
        options.unwrap_or(Self(Json::Plain(Value::Null)))
    }

    /// Reads the options as a method's type.
    ///
    /// # Errors
    /// Returns [`Code::MessageNotSupported`] with the name of the faulty field.
    ///
    /// # Example
    /// See [`Options`].
    pub fn read<O: DeserializeOwned>(&self) -> Result<O, Fault> {
        let value = self.to_value();
        serde_json::from_value(value.clone()).map_err(|error| {
            refused(value, &error.to_string(), &|value| {
                serde_json::from_value::<O>(value).err().map(|error| error.to_string())
            })
        })
    }

    /// Returns the options as JSON. Whole numbers lose their decimal point, because a client may write `7.0` for 7.
    pub(crate) fn to_value(&self) -> Value {
        with_whole_numbers(self.0.to_value())
    }

    /// Keeps only the fields with these names, if the options are an object.
    pub(crate) fn only(self, names: &[&str]) -> Self {
        match self.0 {
            Json::Fields(mut fields) => {
                fields.retain(|(name, _)| names.contains(&name.as_str()));
                Self(Json::Fields(fields))
            }
            others => Self(others),
        }
    }

    /// Returns these fields followed by the fields of `others`, if both are objects; otherwise returns `others`.
    pub(crate) fn and(self, others: Self) -> Self {
        match (self.0, others.0) {
            (Json::Fields(mut own), Json::Fields(others)) => {
                own.extend(others);
                Self(Json::Fields(own))
            }
            (_, others) => Self(others),
        }
    }
}

impl Default for Options {
    /// Returns an empty object.
    fn default() -> Self {
        Self(Json::Fields(Vec::new()))
    }
}

impl From<Value> for Options {
    fn from(value: Value) -> Self {
        Self(Json::from(value))
    }
}

/// Writes numbers without a fraction as whole numbers. A number beyond 2^53 may have lost digits, so it stays
/// unchanged.
fn with_whole_numbers(options: Value) -> Value {
    match options {
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < EXACT => Value::from(value as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(with_whole_numbers).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, with_whole_numbers(value))).collect(),
        other => other,
    }
}

/// The limit above which neighbouring whole numbers have the same double: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the fault for options that a method cannot read. `reason` is the reader's message, and `read` returns its
/// message for other options, if they are invalid too.
pub(crate) fn refused(value: Value, reason: &str, read: &dyn Fn(Value) -> Option<String>) -> Fault {
    let field = field_to_blame(value, reason, read).map(|name| format!(".{name}")).unwrap_or_default();
    let reason = in_words(reason);
    Fault::new(Code::MessageNotSupported, format!("not what is expected here: options{field}: {reason}"))
}

/// Returns the field whose removal changes the message, because serde does not name the faulty field. Returns `None` if
/// there is no such field, or if the message names the field already.
fn field_to_blame(value: Value, reason: &str, read: &dyn Fn(Value) -> Option<String>) -> Option<String> {
    let Value::Object(fields) = value else { return None };
    let is_to_blame = |name: &str| {
        let mut others = fields.clone();
        others.remove(name);
        !reason.contains(&format!("field `{name}`")) && read(Value::Object(others)).as_deref() != Some(reason)
    };
    fields.keys().find(|name| is_to_blame(name)).cloned()
}

impl Json {
    fn to_value(&self) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::List(items) => items.iter().map(Self::to_value).collect(),
            Self::Fields(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), value.to_value())).collect())
            }
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            Value::Object(fields) => {
                Self::Fields(fields.into_iter().map(|(name, value)| (name, Self::from(value))).collect())
            }
            plain => Self::Plain(plain),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Fields(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json::Plain(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Json::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Plain(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element()? {
            items.push(item);
        }
        Ok(Json::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let (mut fields, mut names) = (Vec::new(), std::collections::BTreeSet::new());
        while let Some((name, value)) = map.next_entry::<String, Json>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
            fields.push((name, value));
        }
        Ok(Json::Fields(fields))
    }
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Json::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Options {
    fn schema_name() -> Cow<'static, str> {
        PLACE.into()
    }

    /// Allows any value, because only a method knows which options are valid.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}

/// The schema of a method's options, and the schemas to which it refers.
pub(crate) struct OptionsSchema {
    schema: Map<String, Value>,
    named: Map<String, Value>,
}

impl OptionsSchema {
    pub(crate) fn of<O: JsonSchema>() -> Self {
        let mut generator = SchemaGenerator::default();
        let schema = generator.subschema_for::<O>().to_value();
        Self::new(schema, generator.take_definitions(true))
    }

    pub(crate) fn new(schema: Value, named: Map<String, Value>) -> Self {
        // The schema for any value is `true`, which is equivalent to an empty schema.
        let schema = match schema {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        Self { schema, named }
    }

    /// Puts this schema in the place of the placeholder in another schema.
    pub(crate) fn put_into(&self, schema: &mut Value) {
        let Some(names) = schema.get_mut("$defs").and_then(Value::as_object_mut) else { return };
        if names.remove(PLACE).is_none() {
            return;
        }
        let (mut own, mut named) = (Value::Object(self.schema.clone()), self.named.clone());
        // If a name is taken already, the method's type gets another name.
        for taken in self.named.keys().filter(|name| names.contains_key(*name)) {
            let free = (2..).map(|number| format!("{taken}{number}"));
            let free = free.into_iter().find(|name| !names.contains_key(name) && !named.contains_key(name));
            let Some((free, definition)) = free.zip(named.remove(taken)) else { continue };
            let (from, to) = (reference(taken), reference(&free));
            named.insert(free, definition);
            let renamed = |schema: &mut Map<String, Value>| {
                if schema.get("$ref") == Some(&from) {
                    schema.insert("$ref".to_owned(), to.clone());
                }
            };
            each(&mut own, &renamed);
            named.values_mut().for_each(|definition| each(definition, &renamed));
        }
        let place = reference(PLACE);
        let filled = |schema: &mut Map<String, Value>| {
            if schema.get("$ref") == Some(&place) {
                schema.remove("$ref");
                schema.extend(own.as_object().cloned().unwrap_or_default());
            }
        };
        each(schema, &filled);
        if let Some(names) = schema.get_mut("$defs").and_then(Value::as_object_mut) {
            names.extend(named);
        }
    }
}

fn reference(name: &str) -> Value {
    format!("#/$defs/{name}").into()
}

/// Applies a change to each object within a value.
fn each(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| each(field, change));
            change(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, change)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_keep_their_order_and_numbers_their_bits() {
        let text = r#"{"z":[1,-2,{"b":null,"a":0.30000000000000004}],"a":18446744073709551615,"text":"é"}"#;
        let options: Options = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&options).unwrap(), text);
        let packed = lehr_services::Format::MessagePack.encode(&options).unwrap();
        assert_eq!(lehr_services::Format::MessagePack.decode::<Options>(&packed).unwrap(), options);
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), options.to_value());
        let twice = serde_json::from_str::<Options>(r#"{"a":1,"a":2}"#).unwrap_err().to_string();
        assert!(twice.starts_with("duplicate field `a`"), "{twice}");
        let written = json!({ "rows": 2059.0, "scales": [1.5, 1e300], "name": "1.0" });
        let whole = json!({ "rows": 2059, "scales": [1.5, 1e300], "name": "1.0" });
        assert_eq!(with_whole_numbers(written), whole);
    }

    #[test]
    fn the_field_to_blame_is_named_once() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(dead_code)]
        struct Told {
            count: usize,
            width: Option<f64>,
        }
        for (told, reason) in [
            (
                json!({ "count": -2 }),
                "options.count: invalid value: integer `-2`, expected a whole number of at least 0",
            ),
            (json!({ "count": 2, "width": [1] }), "options.width: invalid type: sequence, expected a number"),
            (
                json!({ "width": "wide", "count": "two" }),
                "options.count: invalid type: string \"two\", expected a whole number of at least 0",
            ),
            (json!({ "cuont": 2 }), "options: unknown field `cuont`, expected `count` or `width`"),
            (json!({ "width": 2.0 }), "options: missing field `count`"),
            (json!(7), "options: invalid type: integer `7`, expected struct Told"),
        ] {
            let fault = Options::from(told).read::<Told>().unwrap_err();
            assert_eq!(fault.code(), Code::MessageNotSupported);
            assert_eq!(fault.reason(), format!("not what is expected here: {reason}"));
        }
    }

    #[test]
    fn a_methods_schema_stands_where_the_place_for_it_was() {
        /// A type of a method that has the same name as a type of this crate.
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct State {
            deep: bool,
        }
        #[derive(JsonSchema)]
        #[schemars(rename = "Told")]
        #[allow(dead_code)]
        struct Told {
            state: State,
        }
        let of = |schema: &Value| {
            let names: Vec<String> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
            names
        };
        let mut record = schemars::schema_for!(crate::jobs::Record).to_value();
        let before = of(&record);
        OptionsSchema::of::<Told>().put_into(&mut record);
        assert_eq!(record["properties"]["options"]["$ref"], "#/$defs/Told");
        assert_eq!(record["properties"]["state"]["$ref"], "#/$defs/State");
        assert_eq!(record["$defs"]["Told"]["properties"]["state"]["$ref"], "#/$defs/State2");
        assert!(record["$defs"]["State2"]["properties"]["deep"].is_object());
        let mut expected = before.clone();
        expected.retain(|name| name != PLACE);
        expected.extend(["State2".to_owned(), "Told".to_owned()]);
        expected.sort();
        assert_eq!(of(&record), expected);
        // A schema that needs no name replaces the placeholder directly.
        let mut record = schemars::schema_for!(crate::jobs::Record).to_value();
        OptionsSchema::of::<String>().put_into(&mut record);
        assert_eq!(record["properties"]["options"]["type"], "string");
    }
}
