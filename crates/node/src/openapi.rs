//! The OpenAPI 3.1 description of the services of a node, from their contracts.

use lehr_services::{Info, Verb};
use serde_json::{Map, Value, json};

/// Describes the services; golden file in `tests/golden`.
pub(crate) fn document(infos: &[Info]) -> Value {
    let mut paths = Map::new();
    for info in infos {
        describe(info, &mut paths);
    }
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Services of a Lehr node", "version": env!("CARGO_PKG_VERSION") },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": paths,
        "components": {
            "schemas": { "Problem": problem() },
            "responses": {
                "Fault": {
                    "description": "Why there is no answer, as a problem document (RFC 9457); its `code` says what can be done.",
                    "content": { "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } },
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

fn problem() -> Value {
    json!({
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

/// A document in both forms.
fn content(schema: &Value) -> Value {
    json!({ "application/json": { "schema": schema }, "application/msgpack": { "schema": schema } })
}

fn responses(description: &str, schema: &Value) -> Value {
    json!({
        "200": { "description": description, "content": content(schema) },
        "default": { "$ref": "#/components/responses/Fault" },
    })
}

fn header(name: &str, description: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "header", "description": description, "schema": { "type": kind } })
}

fn describe(info: &Info, paths: &mut Map<String, Value>) {
    let path = &info.path;
    let tag = &info.contract.name;
    let identifier = |action: &str| format!("{}.{action}", path.trim_start_matches('/').replace('/', "."));
    let timeout = header("lehr-timeout-ms", "How long the answer is of use, in milliseconds.", "integer");
    let mut whole = Map::new();
    whole.insert(
        "get".to_owned(),
        json!({
            "operationId": identifier("get"), "tags": [tag], "summary": "The state.",
            "parameters": [header("if-none-match", "A version that is known.", "string"), timeout],
            "responses": responses("The state; its version is in ETag.", &info.contract.state),
        }),
    );
    whole.insert(
        "delete".to_owned(),
        json!({
            "operationId": identifier("drop"), "tags": [tag], "summary": "Ends the service.",
            "responses": responses("It has ended.", &json!({ "type": "null" })),
        }),
    );
    for (name, operation) in &info.contract.operations {
        let mut parameters = vec![timeout.clone()];
        if operation.verb.changes_state() {
            parameters.push(header("if-match", "Only if the state is of this version.", "string"));
        }
        if !operation.verb.is_idempotent() {
            parameters.push(header("idempotency-key", "Makes sending it again harmless.", "string"));
        }
        let described = json!({
            "operationId": identifier(name), "tags": [tag], "summary": format!("{name} ({})", operation.verb),
            "parameters": parameters,
            "requestBody": { "required": true, "content": content(&operation.body) },
            "responses": responses("Done.", &operation.reply),
        });
        if operation.verb == Verb::Replace && name == "replace" {
            whole.insert("put".to_owned(), described);
        } else {
            paths.insert(format!("{path}:{name}"), json!({ "post": described }));
        }
    }
    paths.insert(path.clone(), Value::Object(whole));
    paths.insert(
        format!("{path}:lookup"),
        json!({ "get": {
            "operationId": identifier("lookup"), "tags": [tag], "summary": "What the service is.",
            "responses": responses("Contract, phase, counts.", &json!({ "type": "object" })),
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
