//! A workflow file: steps, parameters and links, read from TOML. Every fault is reported with its line and field.

use std::collections::{BTreeMap, BTreeSet};

use lehr_node::manifest::{Field, Findings, Manifest, Schema, ServiceRecord, Stands, Tree};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::condition::Condition;
use crate::machine::Node;
use crate::notice::Notice;
use crate::template::{Source, Template, skipped};
use crate::trigger::Trigger;

/// The names that references use for sources other than steps. A step cannot have such a name.
const RESERVED: [&str; 4] = ["parameters", "item", "index", "run"];

/// The maximum number of steps in a workflow.
const STEPS_MAX: usize = 1000;

/// A workflow that was checked as far as possible without its services.
///
/// # Example
/// ```
/// let text = r#"
/// name = "greeting"
///
/// [parameters]
/// whom = "world"
///
/// [services."/notes"]
/// contract = "lehr/records"
///
/// [steps.note]
/// service = "/notes"
/// operation = "upsert"
/// with = { key = "greeting", value = "hello, ${parameters.whom}" }
///
/// [steps.read]
/// service = "/notes"
/// operation = "find"
/// with = { key = "greeting" }
/// after = ["note"]
/// "#;
/// let workflow = lehr_workflow::Workflow::read("greeting.toml", text).unwrap();
/// assert_eq!(workflow.steps().collect::<Vec<_>>(), ["note", "read"]);
/// ```
#[derive(Clone, Debug)]
pub struct Workflow {
    tree: Tree,
    definition: Definition,
    /// The steps in an order in which each step comes after the steps that it needs.
    order: Vec<String>,
    /// For each step: the steps that it needs.
    needs: BTreeMap<String, BTreeSet<String>>,
    services: Manifest,
}

/// The contents of a workflow file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    /// The name of the workflow; its runs have the same name.
    #[schemars(length(min = 1, max = 60))]
    pub(crate) name: String,
    /// The purpose of the workflow.
    #[serde(default)]
    pub(crate) about: String,
    /// The values that can be set for each run. A value is a default, which also sets the type, or a table with `type`.
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
    /// The services that the workflow needs, as in a node's manifest. A run without a node starts them.
    #[serde(default)]
    pub(crate) services: BTreeMap<String, ServiceRecord>,
    /// The steps by name.
    pub(crate) steps: BTreeMap<String, Step>,
    /// The answer of the run, which may contain references. Default: nothing.
    #[serde(default)]
    pub(crate) output: Value,
    /// The maximum number of items that are processed at the same time, over all steps. Default: 8.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) parallel: Option<usize>,
    /// Whether steps take the answer of an earlier run if their inputs are unchanged. A step may say otherwise. Default:
    /// no.
    #[serde(default)]
    pub(crate) cache: bool,
    /// When a node begins a run by itself, once a client has scheduled the workflow.
    #[serde(default)]
    pub(crate) triggers: BTreeMap<String, Trigger>,
    /// Requests that are sent when a run has ended, to tell someone.
    #[serde(default)]
    pub(crate) notify: BTreeMap<String, Notice>,
}

/// A parameter: a plain default, or a description of the parameter's value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// A described parameter, with or without a default.
    Described(Described),
    /// A default.
    Default(Plain),
}

/// A default whose type is the parameter's type.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Plain {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
}

/// A parameter with a description.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Described {
    /// The type of the value.
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// The purpose of the parameter.
    #[serde(default)]
    pub(crate) about: String,
    /// The value if no value is given. Without a default, a value must be given.
    #[serde(default)]
    pub(crate) default: Option<Value>,
    /// The minimum of a number.
    #[serde(default)]
    pub(crate) minimum: Option<f64>,
    /// The maximum of a number.
    #[serde(default)]
    pub(crate) maximum: Option<f64>,
    /// The values that are allowed. Default: all values of the type.
    #[serde(default)]
    pub(crate) one_of: Vec<Value>,
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// True or false.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    String,
    /// A list.
    Array,
}

impl Kind {
    /// Returns the schema of the values of this type.
    pub(crate) fn schema(self) -> Value {
        let name = serde_json::to_value(self).unwrap_or_default();
        serde_json::json!({ "type": name })
    }
}

/// A step: an operation of a service.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The path of the service.
    #[schemars(length(min = 1))]
    pub(crate) service: String,
    /// The operation of the service.
    #[schemars(length(min = 1))]
    pub(crate) operation: String,
    /// The address of the node where the service runs, such as `http://127.0.0.1:8420`. The address may contain
    /// parameters. Default: the node of the run.
    #[serde(default)]
    pub(crate) node: Option<String>,
    /// The body of the operation, which may contain references to parameters and earlier steps. Default: an empty
    /// table.
    #[serde(default)]
    pub(crate) with: Option<Value>,
    /// Steps that must be done before this step, in addition to the steps that it refers to.
    #[serde(default)]
    pub(crate) after: Vec<String>,
    /// A list: the step is done once for each of its items. `${item}` stands for the item. The step's answer is the
    /// list of answers, in the order of the items.
    #[serde(default)]
    pub(crate) map: Option<Value>,
    /// The maximum number of items that are processed at the same time. Default: all.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub(crate) parallel: Option<usize>,
    /// Whether and how the step is tried again after a failure. Default: no.
    #[serde(default)]
    pub(crate) retry: Option<Retry>,
    /// The time limit of the operation or its job, in seconds. Copying data sets is not part of it. Default: no limit,
    /// but one hour for an operation without a job on another node.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 31_536_000))]
    pub(crate) timeout_seconds: Option<f64>,
    /// Whether the operation begins a job. If it does, the step is done when the job is done. The step's answer is then
    /// the answer of the operation `wait` of the service.
    #[serde(default)]
    pub(crate) job: bool,
    /// Data sets that are copied to the node of the step before it begins.
    #[serde(default)]
    pub(crate) fetch: Vec<Fetch>,
    /// The condition under which the step is done. Otherwise it is skipped. Default: the step is done.
    #[serde(default)]
    pub(crate) when: Option<Condition>,
    /// Whether the step takes the answer of an earlier run if its inputs are unchanged. Default: as the workflow says.
    #[serde(default)]
    pub(crate) cache: Option<bool>,
}

impl Step {
    /// Returns a skipped step without whose answer this step cannot be done, if there is one.
    pub(crate) fn needed_but(&self, is_skipped: &dyn Fn(&str) -> bool) -> Option<String> {
        let when = self.when.as_ref().map(Condition::written);
        let datasets = self.fetch.iter().map(|fetch| Value::String(fetch.dataset.clone()));
        let values = self.with.iter().chain(&self.map).cloned().chain(when).chain(datasets);
        values.into_iter().find_map(|value| skipped(&value, is_skipped))
    }
}

/// A data set that a step needs on its node.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fetch {
    /// The name of the data set, on both nodes. A data set of this name with other contents on the step's node is
    /// replaced. The name may contain references.
    pub(crate) dataset: String,
    /// The address of the node that has the data set. The address may contain parameters. Default: the node of the run.
    #[serde(default)]
    pub(crate) from: Option<String>,
}

/// How a step is tried again after a failure.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Retry {
    /// The maximum number of attempts after the first.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) count: u32,
    /// The wait before the second attempt, in seconds. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 86_400))]
    pub(crate) backoff_seconds: f64,
    /// The factor by which each wait is longer than the previous wait. Default: 2.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) factor: f64,
    /// The maximum wait, in seconds. Default: 60.
    #[serde(default = "sixty")]
    #[schemars(range(min = 0, max = 86_400))]
    pub(crate) backoff_seconds_max: f64,
}

fn one() -> f64 {
    1.0
}

fn two() -> f64 {
    2.0
}

fn sixty() -> f64 {
    60.0
}

impl Retry {
    /// Returns the wait after a failed attempt (counted from 1), in seconds.
    pub(crate) fn wait_seconds(self, attempt: u32) -> f64 {
        let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
        (self.backoff_seconds * self.factor.powi(exponent)).min(self.backoff_seconds_max)
    }
}

impl Workflow {
    /// Reads a workflow. Messages call the file `file`.
    ///
    /// # Errors
    /// Reports faults that can be found without the services, in stages. Invalid TOML, unknown fields and wrong types
    /// come first. Missing steps and parameters, and circular dependencies, are reported only without these.
    ///
    /// # Example
    /// See [`Workflow`].
    pub fn read(file: &str, text: &str) -> Result<Self, Findings> {
        let tree = Tree::read(file, text)?;
        let (schema, mut findings) = (Self::schema(), Findings::default());
        let root = Field::default();
        Schema::of(&schema).check(&tree, &root, tree.value(), &|_| Stands::Itself, &mut findings);
        findings.into_result()?;
        let mut findings = Findings::default();
        let definition: Definition = match serde_json::from_value(tree.value().clone()) {
            Ok(definition) => definition,
            Err(error) => {
                findings.add(tree.finding(&root, error.to_string()));
                return Err(findings);
            }
        };
        let services = Manifest::of_checked(&tree, &root.name("services"))?;
        let needs = links(&tree, &definition, &mut findings);
        let order = order(&tree, &needs, &mut findings);
        findings.into_result()?;
        Ok(Self { tree, definition, order, needs, services })
    }

    /// Returns the name of the workflow.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Returns the purpose of the workflow.
    pub fn about(&self) -> &str {
        &self.definition.about
    }

    /// Returns the steps, each after the steps that it needs.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(String::as_str)
    }

    /// Returns the services that a run without a node starts.
    pub fn services(&self) -> &Manifest {
        &self.services
    }

    /// Returns the JSON schema of workflow files, for editors and other programs.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_workflow::Workflow::schema()["properties"]["steps"].is_object());
    /// ```
    pub fn schema() -> Value {
        schemars::schema_for!(Definition).to_value()
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(crate) fn step(&self, number: usize) -> (&str, &Step) {
        let name = &self.order[number];
        (name, &self.definition.steps[name])
    }

    /// Returns whether a step takes the answer of an earlier run if its inputs are unchanged.
    pub(crate) fn is_cached(&self, step: &Step) -> bool {
        step.cache.unwrap_or(self.definition.cache)
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.order.iter().position(|step| step == name)
    }

    /// Returns the steps as the state machine sees them.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        let nodes = self.order.iter().map(|name| {
            let step = &self.definition.steps[name];
            Node {
                needs: self.needs[name].iter().filter_map(|need| self.number(need)).collect(),
                attempts: step.retry.map_or(1, |retry| retry.count.saturating_add(1)),
                parallel: step.parallel.unwrap_or(usize::MAX),
            }
        });
        nodes.collect()
    }

    /// Returns the maximum number of items that are processed at the same time.
    pub(crate) fn parallel(&self) -> usize {
        self.definition.parallel.unwrap_or(8)
    }

    /// Returns a step and all steps that need it, directly or indirectly.
    pub(crate) fn affected_by(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([name.to_owned()]);
        // The steps are in order, so each step comes after the steps that it needs.
        for step in &self.order {
            if self.needs[step].iter().any(|need| found.contains(need)) {
                found.insert(step.clone());
            }
        }
        found
    }

    /// Returns the description of a parameter; empty if the file has none.
    pub fn meaning(&self, parameter: &str) -> &str {
        match self.definition.parameters.get(parameter) {
            Some(Parameter::Described(described)) => &described.about,
            _ => "",
        }
    }

    /// Converts a parameter's value that was typed as text. Returns a value of the parameter's type if the text can be
    /// read as such a value, and a string otherwise.
    ///
    /// # Example
    /// ```
    /// let text = "name = 'a'\n[parameters]\nk = 20\nid = 'x'\n[steps.s]\nservice = '/x'\noperation = 'y'";
    /// let workflow = lehr_workflow::Workflow::read("a.toml", text).unwrap();
    /// assert_eq!((workflow.typed("k", "7"), workflow.typed("id", "7")), (7.into(), "7".into()));
    /// ```
    pub fn typed(&self, name: &str, text: &str) -> Value {
        let is_text = |parameter: &Parameter| parameter.schema()["type"] == "string";
        match self.definition.parameters.get(name) {
            Some(parameter) if !is_text(parameter) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
            }
            _ => Value::String(text.to_owned()),
        }
    }

    /// Returns the values of a run's parameters: the given values, and the defaults of all other parameters.
    ///
    /// # Errors
    /// Reports unknown parameters, values of another type, and missing values.
    ///
    /// # Example
    /// ```
    /// use std::collections::BTreeMap;
    /// let text = "name = 'a'\n[parameters]\nclusters = 20\n[steps.s]\nservice = '/x'\noperation = 'y'";
    /// let workflow = lehr_workflow::Workflow::read("a.toml", text).unwrap();
    /// let given = BTreeMap::from([("clusters".to_owned(), "many".into())]);
    /// assert_eq!(
    ///     workflow.parameters(&given).unwrap_err().to_string(),
    ///     "a.toml, line 3, parameters.clusters: expected a whole number, found \"many\""
    /// );
    /// ```
    pub fn parameters(&self, given: &BTreeMap<String, Value>) -> Result<Value, Findings> {
        let (mut values, mut findings) = (serde_json::Map::new(), Findings::default());
        let field = Field::default().name("parameters");
        for (name, parameter) in &self.definition.parameters {
            let field = field.name(name);
            let (schema, default) = (parameter.schema(), parameter.default_value());
            match given.get(name).cloned().or(default) {
                None => {
                    findings.add(self.tree.finding(&field, "expected a value, which must be given (--set), found none"))
                }
                Some(value) => {
                    Schema::of(&schema).check(&self.tree, &field, &value, &|_| Stands::Itself, &mut findings);
                    values.insert(name.clone(), value);
                }
            }
        }
        for name in given.keys().filter(|name| !self.definition.parameters.contains_key(*name)) {
            let known: Vec<&str> = self.definition.parameters.keys().map(String::as_str).collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            findings
                .add(self.tree.finding(&field.name(name), format!("expected a parameter of the workflow ({known})")));
        }
        findings.into_result().map(|()| Value::Object(values))
    }
}

impl Parameter {
    /// Returns the schema of the parameter's value.
    pub(crate) fn schema(&self) -> Value {
        let kind = match self {
            Self::Described(described) => return described.schema(),
            Self::Default(Plain::Flag(_)) => Kind::Boolean,
            Self::Default(Plain::Whole(_)) => Kind::Integer,
            Self::Default(Plain::Number(_)) => Kind::Number,
            Self::Default(Plain::Text(_)) => Kind::String,
            Self::Default(Plain::List(_)) => Kind::Array,
        };
        kind.schema()
    }

    fn default_value(&self) -> Option<Value> {
        match self {
            Self::Described(described) => described.default.clone(),
            Self::Default(plain) => serde_json::to_value(plain).ok(),
        }
    }
}

impl Described {
    fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
        let bounds = [("minimum", self.minimum), ("maximum", self.maximum)];
        for (name, bound) in bounds {
            if let Some(bound) = bound {
                schema[name] = bound.into();
            }
        }
        if !self.one_of.is_empty() {
            schema["enum"] = self.one_of.clone().into();
        }
        schema
    }
}

/// Calls `see` with every text in a value and with the position of the text.
pub(crate) fn texts(value: &Value, field: &Field, see: &mut dyn FnMut(&Field, &str)) {
    match value {
        Value::String(text) => see(field, text),
        Value::Array(entries) => {
            entries.iter().enumerate().for_each(|(place, entry)| texts(entry, &field.place(place), see));
        }
        Value::Object(fields) => fields.iter().for_each(|(name, value)| texts(value, &field.name(name), see)),
        _ => {}
    }
}

/// Returns the steps that each step needs, according to its references and its field `after`.
fn links(tree: &Tree, definition: &Definition, findings: &mut Findings) -> BTreeMap<String, BTreeSet<String>> {
    let mut links = BTreeMap::new();
    let steps = Field::default().name("steps");
    if definition.steps.is_empty() || definition.steps.len() > STEPS_MAX {
        let found = definition.steps.len();
        findings.add(tree.finding(&steps, format!("expected 1 to {STEPS_MAX} steps, found {found}")));
    }
    for (name, step) in &definition.steps {
        let field = steps.name(name);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if RESERVED.contains(&name.as_str()) || name.is_empty() || !name.bytes().all(is_name) {
            let text = format!("expected letters, digits, _ and -, and not {}, found {name:?}", RESERVED.join(", "));
            findings.add(tree.finding(&field, text));
        }
        let mut references = References { tree, definition, findings, needs: BTreeSet::new() };
        references.read_step(&field, step);
        links.insert(name.clone(), references.needs);
    }
    for (name, trigger) in &definition.triggers {
        if let Some(text) = trigger.fault() {
            findings.add(tree.finding(&Field::default().name("triggers").name(name), text));
        }
    }
    let mut references = References { tree, definition, findings, needs: BTreeSet::new() };
    for (name, notice) in &definition.notify {
        references.read_notice(&Field::default().name("notify").name(name), notice);
    }
    texts(&definition.output, &Field::default().name("output"), &mut |field, text| {
        references.read(field, text, Sources::Steps);
    });
    links
}

/// The sources that a text may refer to, in addition to parameters.
#[derive(Clone, Copy, PartialEq)]
enum Sources {
    /// Only parameters.
    Parameters,
    /// Steps of the workflow.
    Steps,
    /// Steps, and the item of a step with `map`.
    StepsAndItem,
    /// Steps, and the run that has ended.
    StepsAndRun,
}

/// The references of a step, or of the output. A reference to something that does not exist is a fault.
struct References<'a> {
    tree: &'a Tree,
    definition: &'a Definition,
    findings: &'a mut Findings,
    /// The steps that the references lead to.
    needs: BTreeSet<String>,
}

impl References<'_> {
    fn read_step(&mut self, field: &Field, step: &Step) {
        for (place, other) in step.after.iter().enumerate() {
            if self.definition.steps.contains_key(other) {
                self.needs.insert(other.clone());
            } else {
                self.add(&field.name("after").place(place), unknown_step(self.definition, other));
            }
        }
        let of_body = if step.map.is_some() { Sources::StepsAndItem } else { Sources::Steps };
        if let Some(with) = &step.with {
            texts(with, &field.name("with"), &mut |field, text| self.read(field, text, of_body));
        }
        if let Some(map) = &step.map {
            texts(map, &field.name("map"), &mut |field, text| self.read(field, text, Sources::Steps));
        }
        if let Some(when) = &step.when {
            let field = field.name("when");
            if let Some(text) = when.fault() {
                self.add(&field, text);
            }
            texts(&when.written(), &field, &mut |field, text| self.read(field, text, Sources::Steps));
        }
        if let Some(node) = &step.node {
            self.read(&field.name("node"), node, Sources::Parameters);
        }
        for (place, fetch) in step.fetch.iter().enumerate() {
            let field = field.name("fetch").place(place);
            self.read(&field.name("dataset"), &fetch.dataset, of_body);
            if let Some(from) = &fetch.from {
                self.read(&field.name("from"), from, Sources::Parameters);
            }
        }
    }

    fn read_notice(&mut self, field: &Field, notice: &Notice) {
        if let Some(with) = &notice.with {
            texts(with, &field.name("with"), &mut |field, text| self.read(field, text, Sources::StepsAndRun));
        }
        if let Some(node) = &notice.node {
            self.read(&field.name("node"), node, Sources::Parameters);
        }
    }

    /// Reads a text that may refer to these sources.
    fn read(&mut self, field: &Field, text: &str, sources: Sources) {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(text) => return self.add(field, text),
        };
        let definition = self.definition;
        for reference in template.references() {
            let fault = match &reference.source {
                Source::Parameters if definition.parameters.contains_key(&reference.path[0]) => continue,
                Source::Parameters => {
                    let known: Vec<&str> = definition.parameters.keys().map(String::as_str).collect();
                    format!("expected a parameter ({}), found ${{{}}}", known.join(", "), reference.text)
                }
                Source::Item | Source::Index if sources == Sources::StepsAndItem => continue,
                Source::Item | Source::Index => {
                    format!("expected ${{{}}} in the body of a step with map only", reference.text)
                }
                Source::Run if sources == Sources::StepsAndRun => continue,
                Source::Run => format!("expected ${{{}}} in a message of notify only", reference.text),
                Source::Step(_) if sources == Sources::Parameters => {
                    format!("expected references to parameters only, found ${{{}}}", reference.text)
                }
                Source::Step(other) if definition.steps.contains_key(other) => {
                    self.needs.insert(other.clone());
                    continue;
                }
                Source::Step(other) => unknown_step(definition, other),
            };
            self.add(field, fault);
        }
    }

    fn add(&mut self, field: &Field, fault: String) {
        self.findings.add(self.tree.finding(field, fault));
    }
}

fn unknown_step(definition: &Definition, found: &str) -> String {
    let known: Vec<&str> = definition.steps.keys().map(String::as_str).collect();
    format!("expected a step ({}), found {found:?}", known.join(", "))
}

/// Returns the steps in an order in which each step comes after the steps that it needs. Reports a circle with the
/// names of all its steps.
fn order(tree: &Tree, needs: &BTreeMap<String, BTreeSet<String>>, findings: &mut Findings) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut left: BTreeSet<&String> = needs.keys().collect();
    while !left.is_empty() {
        let ready: Vec<&String> =
            left.iter().copied().filter(|step| needs[*step].iter().all(|need| !left.contains(need))).collect();
        if ready.is_empty() {
            // Every step that is left needs another step that is left. So following the needs leads back to a step that
            // was visited before.
            let mut walk: Vec<&String> = left.iter().copied().take(1).collect();
            while let Some(next) = walk.last().and_then(|step| needs[*step].iter().find(|need| left.contains(need))) {
                let first = walk.iter().position(|step| *step == next);
                walk.push(next);
                if let Some(first) = first {
                    walk.drain(..first);
                    break;
                }
            }
            let circle: Vec<&str> = walk.iter().map(|step| step.as_str()).collect();
            let field = Field::default().name("steps").name(circle[0]);
            let text = format!("expected steps that need each other in no circle, found {}", circle.join(" -> "));
            findings.add(tree.finding(&field, text));
            return order;
        }
        for step in ready {
            left.remove(step);
            order.push(step.clone());
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> String {
        Workflow::read("a.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn every_fault_of_the_steps_is_told_with_its_line() {
        let text = "name = 'a'\n[parameters]\nk = 3\n[steps.one]\nservice = '/x'\noperation = 'y'\nwith = { a = '${two.b}', b = '${parameters.j}', c = '${item}' }\nafter = ['three']\n";
        assert_eq!(
            faults(text),
            "a.toml, line 7, steps.one.with.a: expected a step (one), found \"two\"\n\
             a.toml, line 7, steps.one.with.b: expected a parameter (k), found ${parameters.j}\n\
             a.toml, line 7, steps.one.with.c: expected ${item} in the body of a step with map only\n\
             a.toml, line 8, steps.one.after[0]: expected a step (one), found \"three\""
        );
    }

    #[test]
    fn a_circle_is_told_with_all_that_are_in_it() {
        let step =
            |name: &str, need: &str| format!("[steps.{name}]\nservice = '/x'\noperation = 'y'\nafter = ['{need}']\n");
        let text = format!("name = 'a'\n{}{}{}", step("a", "b"), step("b", "c"), step("c", "b"));
        assert_eq!(
            faults(&text),
            "a.toml, line 6, steps.b: expected steps that need each other in no circle, found b -> c -> b"
        );
    }

    #[test]
    fn waits_grow_up_to_their_limit() {
        let retry = Retry { count: 5, backoff_seconds: 1.5, factor: 2.0, backoff_seconds_max: 10.0 };
        assert_eq!([1, 2, 3, 4, 400].map(|attempt| retry.wait_seconds(attempt)), [1.5, 3.0, 6.0, 10.0, 10.0]);
    }

    #[test]
    fn what_depends_on_a_step_is_found_through_others() {
        let step =
            |name: &str, need: &str| format!("[steps.{name}]\nservice = '/x'\noperation = 'y'\nafter = [{need}]\n");
        let text = format!("name = 'a'\n{}{}{}{}", step("a", ""), step("b", "'a'"), step("c", "'b'"), step("d", "'a'"));
        let workflow = Workflow::read("a.toml", &text).unwrap();
        assert_eq!(workflow.affected_by("b"), ["b", "c"].map(str::to_owned).into());
        assert_eq!(workflow.affected_by("a").len(), 4);
    }
}
