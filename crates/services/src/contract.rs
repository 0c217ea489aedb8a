//! Contracts: descriptions, as data, of services as their clients see them.
//!
//! A contract is a name, a version, the type of the state document and the operations. The schema of a contract is
//! derived from the types and hashed, so two builds can compare hashes to check whether they agree. A request is
//! compatible if its body can be read: fields with a default may be missing, and unknown fields are ignored.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::operation::Operation;
use crate::verb::{Kind, Verb};

/// The state document of a kind of service, and the public name of that kind.
///
/// # Example
/// ```
/// use lehr_services::{Contract, Version};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// struct Counter {
///     value: i64,
/// }
///
/// impl Contract for Counter {
///     const NAME: &'static str = "example.org/counter";
///     const VERSION: Version = Version::new(1, 0);
/// }
/// ```
pub trait Contract: Clone + Send + Sync + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// A unique name, such as `example.org/counter`.
    const NAME: &'static str;
    /// The version. Raise the minor number for changes that old clients can ignore, and the major number for changes
    /// that would mislead them.
    const VERSION: Version;
    /// Whether many contracts share this document type, with names that are known only when the program runs.
    /// [`Host::start_as`](crate::Host::start_as) starts services of these contracts. A reference of this type accepts
    /// every service whose document has the type's required fields, unless you limit it to [one
    /// contract](crate::Reference::of_contract). A partner with this document type must be
    /// [bound](crate::Placement::bind) by the placement, because it cannot be found by its name. Default: no.
    const IS_SHARED: bool = false;
}

/// The version of a contract.
///
/// # Example
/// ```
/// use lehr_services::Version;
/// assert_eq!(Version::new(1, 2).to_string(), "1.2");
/// assert!(Version::new(1, 2) > Version::new(1, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// The major version. A service refuses clients of another major version.
    pub major: u16,
    /// The minor version, which grows with additions.
    pub minor: u16,
}

impl Version {
    /// Creates a version.
    ///
    /// # Example
    /// See [`Version`].
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)
    }
}

/// A serialisable description of one operation of a contract.
///
/// # Example
/// See [`Description`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationDescription {
    /// The effect of the operation on the state.
    pub verb: Verb,
    /// The JSON schema of the body.
    pub body: Value,
    /// The JSON schema of the reply.
    pub reply: Value,
    /// The media types of bodies that a client may send as plain bytes instead of a document; see [`Operation::RAW`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<String>,
}

impl OperationDescription {
    pub(crate) fn of<O: Operation>() -> Self {
        let raw = O::RAW.iter().map(|&media_type| media_type.to_owned()).collect();
        Self { verb: O::Verb::VERB, body: schema::<O>(), reply: schema::<O::Reply>(), raw }
    }
}

/// A contract as data, as [`Verb::Lookup`](crate::Verb) returns it.
///
/// # Example
/// ```
/// # use lehr_services::{Contract, Description, Version};
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Counter { value: i64 }
/// # impl Contract for Counter {
/// #     const NAME: &'static str = "example.org/counter";
/// #     const VERSION: Version = Version::new(1, 0);
/// # }
/// let description = Description::of::<Counter>(Default::default());
/// assert_eq!((description.name.as_str(), description.hash.len()), ("example.org/counter", 16));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Description {
    /// The contract's name.
    pub name: String,
    /// The contract's version.
    pub version: Version,
    /// A hash of all other fields, as 16 hexadecimal digits.
    pub hash: String,
    /// The JSON schema of the state document.
    pub state: Value,
    /// The operations by name, apart from the operations that every service has.
    pub operations: BTreeMap<String, OperationDescription>,
}

impl Description {
    /// Describes the contract `D` with these operations.
    ///
    /// # Example
    /// See [`Description`].
    pub fn of<D: Contract>(operations: BTreeMap<String, OperationDescription>) -> Self {
        Self::new(D::NAME, D::VERSION, schema::<D>(), operations)
    }

    /// Returns whether a service with this description has a document of type `D`.
    pub(crate) fn speaks<D: Contract>(&self) -> bool {
        if D::IS_SHARED { has_fields(&self.state, &schema::<D>()) } else { self.is(D::NAME, D::VERSION) }
    }

    /// Returns whether the contract has this name and major version.
    pub(crate) fn is(&self, name: &str, version: Version) -> bool {
        self.name == name && self.version.major == version.major
    }

    pub(crate) fn new(
        name: &str,
        version: Version,
        state: Value,
        operations: BTreeMap<String, OperationDescription>,
    ) -> Self {
        // `serde_json` sorts the keys of maps, so equal schemas give equal texts.
        let text = serde_json::to_string(&(name, version, &state, &operations)).unwrap_or_default();
        let hash = format!("{:016x}", xxh3_64(text.as_bytes()));
        Self { name: name.to_owned(), version, hash, state, operations }
    }
}

/// Returns the JSON schema of a type.
fn schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Returns the schema of an operation's body, for comparison with the schema of another build.
pub(crate) fn body_schema<O: Operation>() -> Value {
    schema::<O>()
}

/// Lists the fields in which the schema that was sent differs from the expected schema, one line for each field.
///
/// # Example
/// ```
/// use serde_json::json;
/// let sent = json!({ "properties": { "amount": { "type": "string" } }, "required": ["amount"] });
/// let expected = json!({ "properties": { "amount": { "type": "integer" }, "unit": { "type": "string" } }, "required": ["amount", "unit"] });
/// let lines = lehr_services::schema_difference(&sent, &expected);
/// assert_eq!(lines, ["amount: string is sent, integer is expected", "unit: required, and not sent"]);
/// ```
pub fn schema_difference(sent: &Value, expected: &Value) -> Vec<String> {
    let fields = |schema: &Value| schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = |schema: &Value| -> Vec<String> {
        let names = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let (sends, expects, must) = (fields(sent), fields(expected), required(expected));
    let mut lines = Vec::new();
    if sends.is_empty() && expects.is_empty() && kind(sent) != kind(expected) {
        lines.push(format!("{} is sent, {} is expected", kind(sent), kind(expected)));
    }
    for (name, field) in &expects {
        match sends.get(name) {
            None if must.contains(name) => lines.push(format!("{name}: required, and not sent")),
            Some(other) if kind(other) != kind(field) => {
                lines.push(format!("{name}: {} is sent, {} is expected", kind(other), kind(field)));
            }
            _ => {}
        }
    }
    lines.extend(
        sends.keys().filter(|name| !expects.contains_key(*name)).map(|name| format!("{name}: sent, and not known")),
    );
    lines
}

/// Returns whether the schema of a document has all required fields of another schema, with the same types.
fn has_fields(document: &Value, other: &Value) -> bool {
    let required = other.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    required.iter().filter_map(Value::as_str).all(|name| {
        let field = |schema: &Value| schema.get("properties")?.get(name).map(kind);
        field(document).is_some_and(|found| field(other) == Some(found))
    })
}

/// Returns the type of a schema as text, for comparisons and messages.
fn kind(schema: &Value) -> String {
    match (schema.get("type"), schema.get("$ref")) {
        (Some(Value::String(name)), _) => name.clone(),
        (Some(names), _) => names.to_string(),
        (None, Some(Value::String(target))) => target.rsplit('/').next().unwrap_or(target).to_owned(),
        _ => "something else".to_owned(),
    }
}
