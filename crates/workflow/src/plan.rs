//! Plans a run before it does anything: checks that the services exist, have the operations, and accept the bodies.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use lehr_jobs::datasets::Datasets;
use lehr_node::manifest::{Field, Findings, Schema, Stands};
use lehr_services::{Contract, Fault, Info};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::definition::{Step, Workflow};
use crate::notice::{FIELDS, Notice};
use crate::surroundings::{DATASETS, Known, Surroundings};
use crate::template::{Reference, Scope, Source, Template, fill, with_plain_values};

/// The name of the operation that waits for a job.
pub(crate) const WAIT: &str = "wait";

/// The name of the operation that cancels a job.
pub(crate) const CANCEL: &str = "cancel";

static ANYTHING: Value = Value::Bool(true);

/// A step of a plan.
///
/// # Example
/// See [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStep {
    /// The name of the step.
    pub name: String,
    /// The node of the service; `None` for the node of the run.
    pub node: Option<String>,
    /// The path of the service.
    pub service: String,
    /// The operation of the service.
    pub operation: String,
    /// The steps that this step needs.
    pub needs: BTreeSet<String>,
    /// Whether the step is done for each item of a list.
    pub is_mapped: bool,
    /// Whether the step has a condition, and may be skipped.
    #[serde(default)]
    pub is_conditional: bool,
}

/// A workflow that can be run, with the values of its parameters.
///
/// # Example
/// ```
/// use lehr_workflow::Plan;
/// let plan = Plan { steps: vec![], parameters: serde_json::json!({}) };
/// assert!(plan.steps.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The steps, each after all steps that it needs.
    pub steps: Vec<PlannedStep>,
    /// The values of the parameters.
    pub parameters: Value,
}

/// Plans a run. Reports all faults together.
pub(crate) async fn plan(
    workflow: &Workflow,
    given: &BTreeMap<String, Value>,
    placed: &BTreeMap<String, String>,
    places: &Surroundings,
) -> Result<Plan, Findings> {
    let parameters = workflow.parameters(given)?;
    let mut findings = Findings::default();
    let nodes = nodes(workflow, &parameters, placed, &mut findings);
    let mut known = Known::new();
    let of_steps = nodes.iter().map(|(name, node)| (node.clone(), &workflow.definition().steps[name].service));
    let of_notices = notices(workflow, &parameters, placed, &mut findings);
    let services = of_steps.chain(of_notices.iter().map(|(_, notice, node)| (node.clone(), &notice.service)));
    for (node, service) in services {
        if let Entry::Vacant(unknown) = known.entry((node.clone(), service.clone())) {
            unknown.insert(places.lookup(node.as_deref(), service).await);
        }
    }
    let fetched = fetched(workflow, &nodes, &parameters, &mut findings);
    for node in fetched.iter().flat_map(|(_, nodes)| nodes) {
        if let Entry::Vacant(unknown) = known.entry((node.clone(), DATASETS.to_owned())) {
            unknown.insert(places.lookup(node.as_deref(), DATASETS).await);
        }
    }
    for (field, nodes) in &fetched {
        check_fetched(workflow, field, nodes, &known, &mut findings);
    }
    check(workflow, &nodes, &known, &of_notices, &mut findings);
    findings.into_result()?;
    let steps = workflow.steps().enumerate().map(|(number, name)| {
        let (_, step) = workflow.step(number);
        let needs = workflow.nodes()[number].needs.iter().map(|need| workflow.step(*need).0.to_owned()).collect();
        PlannedStep {
            name: name.to_owned(),
            node: nodes.get(name).cloned().flatten(),
            service: step.service.clone(),
            operation: step.operation.clone(),
            needs,
            is_mapped: step.map.is_some(),
            is_conditional: step.when.is_some(),
        }
    });
    Ok(Plan { steps: steps.collect(), parameters })
}

/// Returns the node of each step, with the values of parameters filled in.
fn nodes(
    workflow: &Workflow,
    parameters: &Value,
    placed: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> BTreeMap<String, Option<String>> {
    let mut nodes = BTreeMap::new();
    for (name, step) in &workflow.definition().steps {
        let field = Field::default().name("steps").name(name).name("node");
        match node_of_service(step.node.as_deref(), &step.service, parameters, placed) {
            Ok(node) => {
                nodes.insert(name.clone(), node);
            }
            Err(text) => findings.add(workflow.tree().finding(&field, text)),
        }
    }
    nodes
}

/// Lists the messages about the end of a run, each with its position in the file and its node.
fn notices<'a>(
    workflow: &'a Workflow,
    parameters: &Value,
    placed: &BTreeMap<String, String>,
    findings: &mut Findings,
) -> Vec<(Field, &'a Notice, Option<String>)> {
    let mut notices = Vec::new();
    for (name, notice) in &workflow.definition().notify {
        let field = Field::default().name("notify").name(name);
        match node_of_service(notice.node.as_deref(), &notice.service, parameters, placed) {
            Ok(node) => notices.push((field, notice, node)),
            Err(text) => findings.add(workflow.tree().finding(&field.name("node"), text)),
        }
    }
    notices
}

/// Returns the node of a service; `None` for the node of the run. A node that the file names comes before one that the
/// client has chosen for the service's path.
pub(crate) fn node_of_service(
    node: Option<&str>,
    service: &str,
    parameters: &Value,
    placed: &BTreeMap<String, String>,
) -> Result<Option<String>, String> {
    match node {
        Some(node) => node_of(node, parameters).map(Some),
        None => Ok(placed.get(service).cloned()),
    }
}

/// Returns the address of a node, with the values of parameters filled in.
pub(crate) fn node_of(text: &str, parameters: &Value) -> Result<String, String> {
    let scope = Scope { parameters, output: &|_| None, is_skipped: &|_| false, item: None, run: None };
    match fill(&Value::String(text.to_owned()), &scope)? {
        Value::String(node) => Ok(node),
        other => Err(format!("expected an address such as http://127.0.0.1:8420, found {other}")),
    }
}

/// Lists the data sets that are copied from one node to another: the position in the file, the source and the target.
fn fetched(
    workflow: &Workflow,
    nodes: &BTreeMap<String, Option<String>>,
    parameters: &Value,
    findings: &mut Findings,
) -> Vec<(Field, [Option<String>; 2])> {
    let mut fetched = Vec::new();
    for (name, step) in &workflow.definition().steps {
        let Some(to) = nodes.get(name) else { continue };
        for (place, wanted) in step.fetch.iter().enumerate() {
            let field = Field::default().name("steps").name(name).name("fetch").place(place);
            match wanted.from.as_deref().map(|node| node_of(node, parameters)).transpose() {
                Ok(from) if from == *to => {}
                Ok(from) => fetched.push((field, [from, to.clone()])),
                Err(text) => findings.add(workflow.tree().finding(&field.name("from"), text)),
            }
        }
    }
    fetched
}

fn check_fetched(
    workflow: &Workflow,
    field: &Field,
    nodes: &[Option<String>; 2],
    known: &Known,
    findings: &mut Findings,
) {
    for node in nodes {
        let found = match known.get(&(node.clone(), DATASETS.to_owned())) {
            Some(Ok(info)) if info.contract.name == Datasets::NAME => continue,
            Some(Ok(info)) => format!("{DATASETS} with {}", info.contract.name),
            Some(Err(fault)) => format!("none: {}", fault.reason()),
            None => continue,
        };
        let place = node.as_deref().unwrap_or("the node of the run");
        let text = format!("expected data sets at {place} ({DATASETS} with {}), found {found}", Datasets::NAME);
        findings.add(workflow.tree().finding(field, text));
    }
}

fn check(
    workflow: &Workflow,
    nodes: &BTreeMap<String, Option<String>>,
    known: &Known,
    notices: &[(Field, &Notice, Option<String>)],
    findings: &mut Findings,
) {
    let info = |name: &str| -> Option<&Result<Info, Fault>> {
        let (node, step) = (nodes.get(name)?, workflow.definition().steps.get(name)?);
        known.get(&(node.clone(), step.service.clone()))
    };
    let parameters: BTreeMap<&str, Value> =
        workflow.definition().parameters.iter().map(|(name, parameter)| (name.as_str(), parameter.schema())).collect();
    let types = Types { workflow, info: &info, parameters };
    let tree = workflow.tree();
    for (name, step) in &workflow.definition().steps {
        let field = Field::default().name("steps").name(name);
        let mut needed = vec![("operation", step.operation.as_str())];
        if step.job {
            needed.extend([("job", WAIT), ("job", CANCEL)]);
        }
        let Some(body) = info(name).and_then(|info| operation(workflow, &field, info, &needed, findings)) else {
            continue;
        };
        let entries = step.map.as_ref().map(|map| types.entries(map));
        if let (Some(map), Some(Err(text))) = (&step.map, &entries) {
            let text = format!("expected a list, found {text}: {}", short(map));
            findings.add(tree.finding(&field.name("map"), text));
        }
        let item = entries.and_then(Result::ok).flatten();
        types.check_body(&field.name("with"), step.with.as_ref(), body, item, findings);
        if let Some(map) = &step.map {
            types.check_references(&field.name("map"), map, item, findings);
        }
        if let Some(when) = &step.when {
            let (field, when) = (field.name("when"), when.written());
            types.check_references(&field, &when, None, findings);
            if when.is_string() {
                let flag = serde_json::json!({ "type": "boolean" });
                let stands = |text: &str| types.stands(text, None, 0);
                Schema::of(&flag).check(tree, &field, &when, &stands, findings);
            }
        }
    }
    for (field, notice, node) in notices {
        let Some(info) = known.get(&(node.clone(), notice.service.clone())) else { continue };
        let needed = [("operation", notice.operation.as_str())];
        if let Some(body) = operation(workflow, field, info, &needed, findings) {
            types.check_body(&field.name("with"), notice.with.as_ref(), body, None, findings);
        }
    }
    types.check_references(&Field::default().name("output"), &workflow.definition().output, None, findings);
}

/// Returns the schema of the body of the first needed operation. Reports a missing service and missing operations.
fn operation<'a>(
    workflow: &Workflow,
    field: &Field,
    info: &'a Result<Info, Fault>,
    needed: &[(&str, &str)],
    findings: &mut Findings,
) -> Option<&'a Value> {
    let tree = workflow.tree();
    let info = match info {
        Ok(info) => info,
        Err(fault) => {
            let text = format!("expected a service, found none: {}", fault.reason());
            findings.add(tree.finding(&field.name("service"), text));
            return None;
        }
    };
    let operations = &info.contract.operations;
    for (at, operation) in needed {
        if !operations.contains_key(*operation) {
            let known: Vec<&str> = operations.keys().map(String::as_str).collect();
            let text =
                format!("expected an operation of {} ({}), found {operation:?}", info.contract.name, known.join(", "));
            findings.add(tree.finding(&field.name(*at), text));
        }
    }
    operations.get(needed.first()?.1).map(|operation| &operation.body)
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The types that the values of references will have.
struct Types<'a> {
    workflow: &'a Workflow,
    info: &'a dyn Fn(&str) -> Option<&'a Result<Info, Fault>>,
    parameters: BTreeMap<&'a str, Value>,
}

impl<'a> Types<'a> {
    /// Returns the schema of a reference's value; `None` if it is not known.
    fn of(&'a self, reference: &Reference, item: Option<Schema<'a>>) -> Result<Option<Schema<'a>>, String> {
        match &reference.source {
            Source::Parameters => {
                let name = reference.path.first().map_or("", String::as_str);
                let schema = self.parameters.get(name).map(Schema::of);
                Ok(schema.and_then(|schema| follow(schema, &reference.path[1..]).ok()))
            }
            Source::Index => Ok(None),
            Source::Run => match reference.path.first() {
                Some(field) if !FIELDS.contains(&field.as_str()) => {
                    Err(format!("expected a field of the run ({}), found ${{{}}}", FIELDS.join(", "), reference.text))
                }
                _ => Ok(None),
            },
            Source::Item => item
                .map(|item| follow(item, &reference.path))
                .transpose()
                .map_err(|field| format!("expected a field of the item, found {field:?}: ${{{}}}", reference.text)),
            Source::Step(name) => {
                let Some(step) = self.workflow.definition().steps.get(name) else { return Ok(None) };
                let Some(reply) = self.reply(name, step) else { return Ok(None) };
                let mut path = &reference.path[..];
                if step.map.is_some() {
                    // The value is a list of answers. The reference means one of them or, with `*`, a field of all.
                    match path.split_first() {
                        None => return Ok(None),
                        Some((first, rest)) if first == "*" => {
                            let field =
                                follow(reply, rest).map_err(|field| no_field(name, reply, &field, reference))?;
                            let _of_each = field;
                            return Ok(None);
                        }
                        Some((first, rest)) => {
                            if first.parse::<usize>().is_err() {
                                let text = format!(
                                    "expected the place of an item or *, since {name} is mapped, found ${{{}}}",
                                    reference.text
                                );
                                return Err(text);
                            }
                            path = rest;
                        }
                    }
                }
                if path.iter().any(|segment| segment == "*") {
                    return Ok(None);
                }
                follow(reply, path).map(Some).map_err(|field| no_field(name, reply, &field, reference))
            }
        }
    }

    fn reply(&self, name: &str, step: &Step) -> Option<Schema<'a>> {
        let info = (self.info)(name)?.as_ref().ok()?;
        let operation = if step.job { WAIT } else { step.operation.as_str() };
        info.contract.operations.get(operation).map(|operation| Schema::of(&operation.reply))
    }

    /// Checks the body of a request against the schema of its operation, and the references in the body.
    fn check_body(
        &'a self,
        field: &Field,
        body: Option<&Value>,
        schema: &Value,
        item: Option<Schema<'a>>,
        findings: &mut Findings,
    ) {
        let empty = Value::Object(serde_json::Map::new());
        let body = body.unwrap_or(&empty);
        let mut ranks = 1;
        crate::definition::texts(body, field, &mut |_, text| {
            let choice = Template::parse(text).ok().and_then(|template| Some(template.whole()?.references.len()));
            ranks = ranks.max(choice.unwrap_or(1));
        });
        // Each alternative must fit.
        for rank in 0..ranks {
            let stands = |text: &str| self.stands(text, item, rank);
            Schema::of(schema).check(self.workflow.tree(), field, body, &stands, findings);
        }
        // So must plain values.
        if let Some(plain) = with_plain_values(body) {
            let stands = |text: &str| self.stands(text, item, 0);
            Schema::of(schema).check(self.workflow.tree(), field, &plain, &stands, findings);
        }
        self.check_references(field, body, item, findings);
    }

    /// Checks that the answers of steps have the fields to which a value refers.
    fn check_references(&'a self, field: &Field, value: &Value, item: Option<Schema<'a>>, findings: &mut Findings) {
        crate::definition::texts(value, field, &mut |field, text| {
            let Ok(template) = Template::parse(text) else { return };
            for reference in template.references() {
                if let Err(text) = self.of(reference, item) {
                    findings.add(self.workflow.tree().finding(field, text));
                }
            }
        });
    }

    /// Returns the kind of value for which a text in a body stands, if the alternative number `rank` has the value.
    fn stands(&'a self, text: &str, item: Option<Schema<'a>>, rank: usize) -> Stands<'a> {
        // A text that cannot be parsed is reported elsewhere.
        let Ok(template) = Template::parse(text) else { return Stands::Anything };
        match template.whole() {
            None => Stands::Itself,
            Some(choice) => match self.of(&choice.references[rank.min(choice.references.len() - 1)], item) {
                Ok(Some(schema)) => Stands::For(schema),
                _ => Stands::Anything,
            },
        }
    }

    /// Returns the schema of the entries of the list over which a step is mapped. If the value is not a list, returns
    /// its type as an error.
    fn entries(&'a self, map: &Value) -> Result<Option<Schema<'a>>, String> {
        match map {
            Value::Array(_) => Ok(None),
            Value::String(text) => {
                let Ok(template) = Template::parse(text) else { return Ok(None) };
                let Some(choice) = template.whole() else { return Err("a text".to_owned()) };
                let Ok(Some(schema)) = self.of(&choice.references[0], None) else { return Ok(None) };
                let list = serde_json::json!({ "type": "array" });
                if !schema.fits(Schema::of(&list)) {
                    return Err(format!("a reference to {}", schema.words()));
                }
                Ok(Some(schema.entries()))
            }
            _ => Err("something else".to_owned()),
        }
    }
}

/// Returns the schema of a nested field. If a name on the path does not exist, returns the first such name as an error.
fn follow<'a>(schema: Schema<'a>, path: &[String]) -> Result<Schema<'a>, String> {
    path.iter().try_fold(schema, |schema, name| {
        if schema.fields().is_empty() && schema.field(name).is_none() && schema.words() == "something else" {
            return Ok(Schema::of(&ANYTHING));
        }
        schema.field(name).ok_or_else(|| name.clone())
    })
}

fn no_field(step: &str, reply: Schema<'_>, field: &str, reference: &Reference) -> String {
    let known = reply.fields();
    let known = if known.is_empty() { reply.words() } else { known.join(", ") };
    format!("expected a field of the answer of {step} ({known}), found {field:?}: ${{{}}}", reference.text)
}
