//! Reads the options of a method from the JSON schema of the struct that declares them.
//!
//! A method declares one struct. Its fields give names and types, its doc comments the help, its schema the ranges, and
//! its `Default` the defaults. The command derives its arguments from the struct, the services their OpenAPI
//! description, Python its parameters, and the reference a table. So front ends do not repeat the options.

use std::fmt;

use lehr_mining::Error;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value, json};

/// Options by name, in JSON.
pub type Options = Map<String, Value>;

/// One option, as its struct declares it.
///
/// # Example
/// ```
/// use lehr_methods::{options, gtm};
/// let declared = options::of::<gtm::Options>();
/// let width = declared.iter().find(|option| option.name == "width").unwrap();
/// assert_eq!((width.default.as_f64(), width.range().as_deref()), (Some(1.0), Some("0.1 to 10")));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OptionOf {
    /// The name in JSON.
    pub name: String,
    /// The kind of the value.
    pub kind: Kind,
    /// The default. It is null if it depends on the data.
    pub default: Value,
    /// The default in words, if it depends on the data.
    pub default_text: Option<String>,
    /// The help text: a sentence that begins with a verb or a noun and has no full stop.
    pub help: String,
    /// The short option of the command.
    pub short: Option<char>,
    /// The name of the option on the command line, if it is not the name with hyphens.
    pub command: Option<String>,
    /// The option that cannot be combined with this option on the command line.
    pub conflicts: Option<String>,
    /// The placeholder for the value in the command's help.
    pub value_name: Option<String>,
    /// The name of the option in Python, if scikit-learn has another name.
    pub python: Option<String>,
    /// The former name of the option, and the current value for each former value, as JSON. Other values are unchanged.
    pub formerly: Option<(String, Options)>,
    /// The heading above the option in help, if it is not the heading of the method.
    pub heading: Option<String>,
    /// Whether few users need the option, so that short help leaves it out.
    pub is_advanced: bool,
}

/// The kind of an option's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Flag,
    /// A whole number in an inclusive range.
    Count {
        /// The smallest value.
        least: u64,
        /// The largest value, if there is one.
        most: Option<u64>,
    },
    /// A finite number in an inclusive range.
    Number {
        /// The smallest value, if there is one.
        least: Option<f64>,
        /// The largest value, if there is one.
        most: Option<f64>,
        /// Whether the smallest value itself is excluded.
        is_above: bool,
    },
    /// One of several words, with the meaning of each.
    Choice(Vec<(String, String)>),
    /// Text.
    Text,
    /// Several texts.
    Texts,
}

impl OptionOf {
    /// Returns the name of the option on the command line, without the two hyphens.
    pub fn long(&self) -> String {
        self.command.clone().unwrap_or_else(|| self.name.replace('_', "-"))
    }

    /// Returns whether the option is a switch of the command, which takes no value.
    pub fn is_switch(&self) -> bool {
        self.kind == Kind::Flag && self.default == Value::Bool(false)
    }

    /// Returns the range in words, such as `0.1 to 10` or `at least 1`; `None` if any value is allowed.
    pub fn range(&self) -> Option<String> {
        match self.kind {
            Kind::Count { least, most: Some(most) } => Some(format!("{least} to {most}")),
            Kind::Count { least: 0, most: None } => None,
            Kind::Count { least, most: None } => Some(format!("at least {least}")),
            Kind::Number { least: Some(least), most: Some(most), is_above: false } => {
                Some(format!("{} to {}", Plain(least), Plain(most)))
            }
            Kind::Number { least: Some(least), most: Some(most), is_above: true } => {
                Some(format!("above {}, at most {}", Plain(least), Plain(most)))
            }
            Kind::Number { least: Some(least), most: None, is_above } => {
                Some(format!("{} {}", if is_above { "above" } else { "at least" }, Plain(least)))
            }
            _ => None,
        }
    }

    /// Returns the default in words; `None` if there is no default to show.
    pub fn default_words(&self) -> Option<String> {
        match (&self.default_text, &self.default) {
            (Some(text), _) => Some(text.clone()),
            (None, Value::Null | Value::Bool(false)) => None,
            (None, default) => Some(shown(default)),
        }
    }

    /// Returns the help with range and default, as terminals and references show it.
    pub fn help_line(&self) -> String {
        let range = self.range().map_or_else(String::new, |range| format!(", {range}"));
        let default = self.default_words().map_or_else(String::new, |default| format!(" [default: {default}]"));
        format!("{}{range}{default}", self.help)
    }

    /// Returns a description of the fault in a value, if it has one. Null is a fault, unless the default itself is
    /// null.
    pub fn fault(&self, value: &Value) -> Option<String> {
        let is_right = match &self.kind {
            _ if value.is_null() => self.default.is_null(),
            Kind::Flag => value.is_boolean(),
            Kind::Count { least, most } => {
                value.as_u64().is_some_and(|found| found >= *least && most.is_none_or(|most| found <= most))
            }
            Kind::Number { least, most, is_above } => value.as_f64().is_some_and(|found| {
                let is_enough = least.is_none_or(|least| if *is_above { found > least } else { found >= least });
                found.is_finite() && is_enough && most.is_none_or(|most| found <= most)
            }),
            Kind::Choice(words) => value.as_str().is_some_and(|found| words.iter().any(|(word, _)| word == found)),
            Kind::Text => value.is_string(),
            Kind::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
        };
        if is_right {
            return None;
        }
        let expected = self.range().unwrap_or_else(|| match &self.kind {
            Kind::Flag => "true or false".to_owned(),
            Kind::Count { .. } => "a whole number".to_owned(),
            Kind::Number { .. } => "a finite number".to_owned(),
            Kind::Choice(words) => words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>().join(", "),
            Kind::Text => "text".to_owned(),
            Kind::Texts => "a list of texts".to_owned(),
        });
        Some(format!("{}: expected {expected}, found {}", self.name, shown(value)))
    }
}

/// A number that displays as the shortest text that reads back as the same number. Short texts have no exponent.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 != 0.0 && self.0.abs() < 1e-4 {
            write!(formatter, "{:e}", self.0)
        } else {
            write!(formatter, "{}", self.0)
        }
    }
}

/// Formats a value for messages.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if !number.is_u64() && !number.is_i64() => {
            number.as_f64().map_or_else(|| number.to_string(), |number| Plain(number).to_string())
        }
        other => other.to_string(),
    }
}

/// Returns the JSON schema of a struct of options, without references to other schemas. It includes former names of
/// options as deprecated.
pub fn schema_of<O: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<O>().to_value();
    if let Some(properties) = schema["properties"].as_object_mut() {
        add_former_names(properties);
    }
    schema
}

/// Adds each former name to the properties of a schema, as deprecated.
pub(crate) fn add_former_names(properties: &mut Options) {
    let former: Vec<(String, Value)> = properties
        .iter()
        .filter_map(|(name, schema)| {
            let (former, values) = formerly(schema)?;
            let values: Vec<Value> = values.keys().filter_map(|value| serde_json::from_str(value).ok()).collect();
            let mut property = if values.is_empty() { schema.clone() } else { json!({ "enum": values }) };
            let fields = property.as_object_mut()?;
            fields.retain(|key, _| key != "default" && !key.starts_with("x-"));
            fields.insert("description".to_owned(), format!("The former name of {name}").into());
            fields.insert("deprecated".to_owned(), true.into());
            Some((former, property))
        })
        .collect();
    properties.extend(former);
}

/// Returns the former name of an option, and the current value for each former value.
fn formerly(schema: &Value) -> Option<(String, Options)> {
    let (name, values) = schema["x-formerly"].as_object()?.iter().next()?;
    Some((name.clone(), values.as_object()?.clone()))
}

/// Replaces former names and values of options by the current ones.
///
/// If both the former and the current name are given, the former name remains, so that [`faults`] reports it. A value
/// that was never valid also remains.
///
/// # Example
/// ```
/// use lehr_methods::{cluster, options};
/// let given = serde_json::json!({ "clusters": 3, "bits": 32 });
/// let renamed = options::renamed(&options::of::<cluster::Options>(), given.as_object().unwrap());
/// assert_eq!(serde_json::Value::Object(renamed), serde_json::json!({ "clusters": 3, "precision": "f32" }));
/// let given = serde_json::json!({ "precision": null, "bits": 32 });
/// let renamed = options::renamed(&options::of::<cluster::Options>(), given.as_object().unwrap());
/// assert_eq!(serde_json::Value::Object(renamed), serde_json::json!({ "precision": "f32" }));
/// ```
pub fn renamed(declared: &[OptionOf], options: &Options) -> Options {
    let mut options = options.clone();
    for option in declared {
        let Some((former, values)) = &option.formerly else { continue };
        // `null` means that the option was not given.
        if options.get(&option.name).is_some_and(|value| !value.is_null()) {
            continue;
        }
        if let Some(given) = options.remove(former) {
            let value = values.get(&shown(&given)).cloned().unwrap_or(given);
            options.insert(option.name.clone(), value);
        }
    }
    options
}

/// The names of the library's parameters, and the names of the corresponding options.
const NAMES: [(&str, &str); 10] = [
    ("latent", "dimensions"),
    ("dimension", "dimensions"),
    ("sponge", "outlier_radius"),
    ("starts", "n_init"),
    ("start", "init"),
    ("max_sweeps", "max_iterations"),
    ("most_iterations", "max_iterations"),
    ("max_passes", "max_iterations"),
    ("sweeps", "algorithm"),
    ("regularisation", "regularization"),
];

/// Replaces a parameter's name in an error of the library by the option's name.
pub(crate) fn as_option(error: Error) -> Error {
    match error {
        Error::Parameter { name, expected, found } => {
            let name = NAMES.iter().find(|(own, _)| *own == name).map_or(name, |(_, option)| *option);
            Error::Parameter { name, expected, found }
        }
        error => error,
    }
}

/// Returns the options that a struct declares, in the order of its fields.
///
/// Reads the schema attribute `range`. From `extend`, it reads `x-short`, `x-command`, `x-conflicts`, `x-value`,
/// `x-default`, `x-python`, `x-heading`, `x-advanced` and `x-formerly`; [`OptionOf`] explains each.
///
/// # Panics
/// Panics if no front end supports the type of a field. This is a mistake in the declaration, which the test of all
/// methods finds.
pub fn of<O: JsonSchema + Default + Serialize>() -> Vec<OptionOf> {
    let schema = schema_of::<O>();
    let text = serde_json::to_string(&O::default()).expect("options are JSON");
    let InOrder(defaults) = serde_json::from_str(&text).expect("options are an object");
    let properties = &schema["properties"];
    defaults.into_iter().map(|(name, default)| option_of(&properties[&name], name, default)).collect()
}

/// Reads one property of the schema.
fn option_of(schema: &Value, name: String, default: Value) -> OptionOf {
    let text = |key: &str| schema[key].as_str().map(str::to_owned);
    // The schema of an optional value allows its type or null.
    let own =
        schema["anyOf"].as_array().and_then(|any| any.iter().find(|form| form["type"] != "null")).unwrap_or(schema);
    let is_of = |wanted: &str| match &own["type"] {
        Value::String(found) => found == wanted,
        Value::Array(found) => found.iter().any(|found| found == wanted),
        _ => false,
    };
    let words = choices(own);
    let number = |key: &str| schema[key].as_f64().or(own[key].as_f64());
    let kind = if !words.is_empty() {
        Kind::Choice(words)
    } else if is_of("boolean") {
        Kind::Flag
    } else if is_of("integer") {
        Kind::Count {
            least: number("minimum").map_or(0, |least| least as u64),
            most: number("maximum").map(|most| most as u64),
        }
    } else if is_of("number") {
        let above = number("exclusiveMinimum");
        Kind::Number { least: above.or(number("minimum")), most: number("maximum"), is_above: above.is_some() }
    } else if is_of("string") {
        Kind::Text
    } else if is_of("array") {
        Kind::Texts
    } else {
        panic!("the option {name} is of no type that a front end can ask for: {schema}")
    };
    let help = text("description").unwrap_or_default();
    OptionOf {
        kind,
        default,
        default_text: text("x-default"),
        help: help.trim_end_matches('.').replace('\n', " "),
        short: text("x-short").and_then(|short| short.chars().next()),
        command: text("x-command"),
        conflicts: text("x-conflicts"),
        value_name: text("x-value"),
        python: text("x-python"),
        formerly: formerly(schema),
        heading: text("x-heading"),
        is_advanced: schema["x-advanced"] == true,
        name,
    }
}

/// Returns the words of an enumeration, and the meaning of each.
fn choices(schema: &Value) -> Vec<(String, String)> {
    let of = |form: &Value| {
        let meaning = form["description"].as_str().unwrap_or_default().trim_end_matches('.').to_owned();
        let words = form["const"]
            .as_str()
            .into_iter()
            .chain(form["enum"].as_array().into_iter().flatten().filter_map(Value::as_str));
        words.map(move |word| (word.to_owned(), meaning.clone())).collect::<Vec<_>>()
    };
    match schema["oneOf"].as_array() {
        Some(forms) => forms.iter().flat_map(of).collect(),
        None => of(schema),
    }
}

/// Reports all faults in options according to their declaration, one per line: unknown names, and values out of range.
pub fn faults(declared: &[OptionOf], options: &Options) -> Vec<String> {
    options
        .iter()
        .filter_map(|(name, value)| match declared.iter().find(|option| option.name == *name) {
            Some(option) => option.fault(value),
            None => Some(format!("{name}: there is no such option; there are {}", names(declared))),
        })
        .collect()
}

fn names(declared: &[OptionOf]) -> String {
    declared.iter().map(|option| option.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A JSON object whose members keep their order.
struct InOrder(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for InOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = InOrder;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<InOrder, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = members.next_entry()? {
                    all.push(member);
                }
                Ok(InOrder(all))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Form {
        /// Alike in every direction.
        Round,
        /// A matrix each.
        Full,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Sample {
        /// Its width.
        #[schemars(range(min = 0.1, max = 10.0))]
        width: f64,
        /// The number of them.
        #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-default" = "by BIC"))]
        components: Option<usize>,
        /// Their form.
        form: Form,
        /// An optional form.
        other: Option<Form>,
        /// Say more.
        loud: bool,
    }

    impl Default for Sample {
        fn default() -> Self {
            Self { width: 1.0, components: None, form: Form::Full, other: None, loud: false }
        }
    }

    #[test]
    fn a_struct_declares_its_options_in_order() {
        let declared = of::<Sample>();
        let names: Vec<&str> = declared.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["width", "components", "form", "other", "loud"]);
        let lines: Vec<String> = declared.iter().map(OptionOf::help_line).collect();
        assert_eq!(
            lines,
            [
                "Its width, 0.1 to 10 [default: 1]",
                "The number of them, at least 1 [default: by BIC]",
                "Their form [default: full]",
                "An optional form",
                "Say more"
            ]
        );
        assert_eq!((declared[1].short, declared[1].value_name.as_deref()), (Some('k'), Some("K")));
        let words = vec![
            ("round".to_owned(), "Alike in every direction".to_owned()),
            ("full".to_owned(), "A matrix each".to_owned()),
        ];
        assert_eq!([&declared[2].kind, &declared[3].kind], [&Kind::Choice(words.clone()), &Kind::Choice(words)]);
    }

    #[test]
    fn each_fault_says_what_was_expected_and_what_was_found() {
        let declared = of::<Sample>();
        let options = json!({
            "width": 11, "components": 0, "form": "square", "other": null, "loud": 1, "breadth": 2
        });
        let Value::Object(options) = options else { unreachable!() };
        assert_eq!(
            faults(&declared, &options),
            [
                "breadth: there is no such option; there are width, components, form, other, loud",
                "components: expected at least 1, found 0",
                "form: expected round, full, found square",
                "loud: expected true or false, found 1",
                "width: expected 0.1 to 10, found 11",
            ]
        );
        let right = json!({ "width": 0.1, "components": null, "form": "round", "loud": true });
        assert_eq!(faults(&declared, right.as_object().unwrap()), Vec::<String>::new());
    }
}
