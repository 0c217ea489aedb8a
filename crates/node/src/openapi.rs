//! The OpenAPI 3.1 description of the services of a node, from their contracts.

use lehr_services::{Info, Verb};
use schemars::schema_for;
use serde_json::{Map, Value, json};

use crate::encode::page_of;
use crate::headers::{KEY, KEY_BYTES, TIMEOUT};
use crate::schemas::{Described, Field, name_all};
use crate::tables::Rows;

/// The introduction of the document, which applies to all operations.
const ABOUT: &str = "Each service has its state at its path and its operations behind a colon. Documents are JSON; with \
    `application/msgpack` in `Content-Type` or `Accept` they are MessagePack, with the same fields. Operations that only ask \
    can be asked with GET too, where their fields fit into an address.";

/// Returns the OpenAPI description of the services. A test compares a node's description with
/// `tests/golden/openapi.json`.
pub(crate) fn document(infos: &[Info]) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let info = Described::new(&mut schemas, "lehr").named(&schema_for!(Info).to_value(), "Info");
    let problem = Described::new(&mut schemas, "lehr").named(&problem(), "Problem");
    for service in infos {
        let described = Described::new(&mut schemas, &service.contract.name);
        describe(service, &info, described, &mut paths);
    }
    name_all(&mut schemas);
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Services of a Lehr node", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": {
                "Fault": {
                    "description": "The error, as a problem document (RFC 9457); its `code` tells how to react.",
                    "content": { "application/problem+json": { "schema": problem } },
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

fn problem() -> Value {
    json!({
        "title": "Problem",
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string" },
            "causes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "code": { "type": "string" }, "reason": { "type": "string" } },
                },
            },
            "causality": { "type": "string" },
            "retry_after_ms": { "type": "integer" },
            "services": { "type": "array", "items": { "type": "string" } },
        },
    })
}

/// Returns the responses of an operation. An empty answer has no content, and clients need not read it.
fn responses(description: &str, schema: &Value) -> Value {
    let mut page =
        json!({ "200": { "description": description }, "default": { "$ref": "#/components/responses/Fault" } });
    if schema["type"] != "null" {
        page["200"]["content"] = json!({ "application/json": { "schema": schema } });
    }
    page
}

fn header(name: &str, description: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "header", "description": description, "schema": { "type": kind } })
}

fn describe(info: &Info, of_info: &Value, mut described: Described<'_>, paths: &mut Map<String, Value>) {
    let path = &info.path;
    let tag = &info.contract.name;
    let identifier = |action: &str| format!("{}.{action}", path.trim_start_matches('/').replace('/', "."));
    let mut timeout = header(TIMEOUT, "The time limit of the answer, in milliseconds.", "integer");
    timeout["schema"]["minimum"] = Value::from(1);
    let mut whole = Map::new();
    let mut state = responses("The state; its version is in ETag.", &described.named(&info.contract.state, "State"));
    state["304"] = json!({ "description": "It has not changed since the version that is known." });
    whole.insert(
        "get".to_owned(),
        json!({
            "operationId": identifier("get"), "tags": [tag], "summary": "The state.",
            "parameters": [header("if-none-match", "A version that is known.", "string"), timeout],
            "responses": state,
        }),
    );
    // If only the node may end the service, DELETE is answered 405, so the description leaves it out.
    if !info.is_permanent {
        whole.insert(
            "delete".to_owned(),
            json!({
                "operationId": identifier("drop"), "tags": [tag], "summary": "Ends the service.",
                "responses": responses("It has ended.", &json!({ "type": "null" })),
            }),
        );
    }
    for (name, operation) in &info.contract.operations {
        let mut parameters = vec![timeout.clone()];
        if operation.verb.changes_state() {
            parameters.push(header("if-match", "Only if the state is of this version.", "string"));
        }
        if !operation.verb.is_idempotent() {
            let mut key = header(KEY, "A key that makes it safe to repeat the request.", "string");
            key["schema"]["minLength"] = Value::from(1);
            key["schema"]["maxLength"] = Value::from(KEY_BYTES);
            parameters.push(key);
        }
        let word = name.replace(['.', '/'], "_");
        let body = described.named(&operation.body, &format!("{word}_body"));
        let reply = described.named(&operation.reply, &format!("{word}_reply"));
        let mut answers = responses("Done.", &reply);
        if let Some(page) = page_of(operation) {
            // Clients that name no type get the page.
            answers["200"]["content"] = json!({ page: { "schema": { "type": "string" } } });
        }
        // The file types are described in words, because otherwise each generated client would have to distinguish
        // several types.
        let files: Vec<&str> = Rows::of(operation).map(Rows::media_type).collect();
        if !files.is_empty() {
            let about = format!("Done. With {} in `Accept` the rows come as a file.", files.join(" or "));
            answers["200"]["description"] = Value::from(about);
        }
        let mut page = json!({
            "operationId": identifier(name), "tags": [tag], "summary": format!("{name} ({})", operation.verb),
            "responses": answers,
        });
        let fields = described.fields(&operation.body);
        // Whether a field remains outside the body if the body is bytes.
        let is_beside =
            |field: &&Field| operation.raw.is_empty() || (field.name != "data" && field.name != "media_type");
        let is_query = operation.verb == Verb::Query;
        if is_query && fields.iter().all(|field| field.is_plain || !field.is_required) {
            let mut get = page.clone();
            get["operationId"] = Value::from(identifier(&format!("get_{name}")));
            let plain = fields.iter().filter(is_beside).filter(|field| field.is_plain).map(in_query);
            get["parameters"] = plain.chain([timeout.clone()]).collect();
            at(paths, &format!("{path}:{name}"), "get", get);
        }
        let mut bodies = json!({ "application/json": { "schema": body } });
        // The body may be left out if all its fields may.
        let is_required = !operation.raw.is_empty()
            || operation.body.get("$ref").is_some()
            || fields.iter().any(|field| field.is_required);
        page["requestBody"] = json!({ "required": is_required });
        if !operation.raw.is_empty() {
            let beside: Vec<Field> = fields.iter().filter(is_beside).cloned().collect();
            bodies["application/octet-stream"] = json!({ "schema": { "type": "string", "format": "binary" } });
            bodies["multipart/form-data"] = json!({ "schema": described.form(&beside, &operation.body["additionalProperties"], &format!("{word}_form")) });
            // These parameters are optional, because in a document or a form the fields are in the body.
            parameters.extend(beside.iter().map(|field| {
                let mut parameter = in_query(field);
                parameter["required"] = Value::from(false);
                parameter["description"] = Value::from("Where the body is bytes: the field of this name.");
                parameter
            }));
            let types = operation.raw.join(", ");
            let about = format!("A document, or a file, alone or in a form. Media types of files: {types}.");
            page["requestBody"]["description"] = Value::from(about);
        }
        if is_query && operation.raw.is_empty() && fields.is_empty() && operation.body["additionalProperties"].is_null()
        {
            // No body is needed: a body that may be any object would only add another form of the same call.
            page.as_object_mut().expect("a page has fields").remove("requestBody");
        } else {
            page["requestBody"]["content"] = bodies;
        }
        page["parameters"] = Value::Array(parameters);
        if operation.verb == Verb::Replace && name == "replace" {
            whole.insert("put".to_owned(), page);
        } else {
            at(paths, &format!("{path}:{name}"), "post", page);
        }
    }
    paths.insert(path.clone(), Value::Object(whole));
    paths.insert(
        format!("{path}:lookup"),
        json!({ "get": {
            "operationId": identifier("lookup"), "tags": [tag], "summary": "What the service is.",
            "responses": responses("Contract, phase, counts.", of_info),
        } }),
    );
    paths.insert(
        format!("{path}:events"),
        json!({ "get": {
            "operationId": identifier("subscribe"), "tags": [tag], "summary": "The state, then its changes.",
            "responses": {
                "200": { "description": "Events: seed, change, gap, end.", "content": { "text/event-stream": { "schema": { "type": "string" } } } },
                "default": { "$ref": "#/components/responses/Fault" },
            },
        } }),
    );
}

/// Adds the operation of an HTTP method to a path.
fn at(paths: &mut Map<String, Value>, path: &str, method: &str, page: Value) {
    paths.entry(path).or_insert_with(|| json!({}))[method] = page;
}

fn in_query(field: &Field) -> Value {
    json!({ "name": field.name, "in": "query", "required": field.is_required, "schema": field.schema })
}

#[cfg(test)]
mod tests {
    use lehr_services::{Description, OperationDescription};

    use super::*;

    #[test]
    fn an_operation_that_takes_bytes_has_its_fields_in_the_query() {
        let operation = OperationDescription {
            verb: Verb::Submit,
            body: json!({ "properties": { "name": { "type": "string" }, "data": {}, "media_type": {} } }),
            reply: json!({}),
            raw: vec!["text/csv".to_owned()],
        };
        let contract = Description::of::<crate::Records>([("keep".to_owned(), operation)].into());
        let info = Info {
            path: "/texts".to_owned(),
            incarnation: 1,
            phase: lehr_services::Phase::Ready,
            contract,
            is_permanent: false,
            subscribers: 0,
            counts: lehr_services::Counts::default(),
            waiting: Vec::new(),
            reports: Vec::new(),
        };
        let page = &document(&[info])["paths"]["/texts:keep"]["post"];
        let body = &page["requestBody"];
        assert_eq!(body["content"]["application/octet-stream"]["schema"]["format"], "binary");
        assert!(body["description"].as_str().unwrap().ends_with(": text/csv."));
        assert_eq!(
            body["content"]["multipart/form-data"]["schema"]["$ref"],
            "#/components/schemas/lehr.records.keep_form"
        );
        let in_query = page["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == "query");
        assert_eq!(in_query.map(|parameter| &parameter["name"]).collect::<Vec<_>>(), ["name"]);
    }
}
