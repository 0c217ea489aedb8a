//! The OpenAPI 3.1 description of the services of a node, from their contracts.

use lehr_services::{Info, Verb};
use serde_json::{Map, Value, json};

use crate::schemas::Described;

/// Describes the services; golden file in `tests/golden`.
pub(crate) fn document(infos: &[Info]) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for info in infos {
        let described = Described::new(&mut schemas, &info.contract.name);
        describe(info, described, &mut paths);
    }
    schemas.insert("Problem".to_owned(), problem());
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Services of a Lehr node", "version": env!("CARGO_PKG_VERSION") },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "paths": paths,
        "components": {
            "schemas": schemas,
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

fn describe(info: &Info, mut described: Described<'_>, paths: &mut Map<String, Value>) {
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
            "responses": responses("The state; its version is in ETag.", &described.named(&info.contract.state, "State")),
        }),
    );
    // One that its node alone ends answers 405, and so has none.
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
            parameters.push(header("idempotency-key", "Makes sending it again harmless.", "string"));
        }
        let body = described.named(&operation.body, &format!("{}_body", name.replace(['.', '/'], "_")));
        let reply = described.named(&operation.reply, &format!("{}_reply", name.replace(['.', '/'], "_")));
        let mut bodies = content(&body);
        for media_type in &operation.raw {
            bodies[media_type] = json!({ "schema": { "type": "string", "format": "binary" } });
        }
        if !operation.raw.is_empty() {
            // A form with a file, whose other fields are those of the query.
            let file = json!({ "file": { "type": "string", "format": "binary" } });
            bodies["multipart/form-data"] =
                json!({ "schema": { "type": "object", "required": ["file"], "properties": file } });
            let fields = described.place(&operation.body);
            let fields = fields["properties"].as_object().into_iter().flatten();
            let others = fields.filter(|(field, _)| *field != "data" && *field != "media_type");
            parameters.extend(others.map(|(field, schema)| {
                let description = "Where the body is bytes: the field of this name.";
                json!({ "name": field, "in": "query", "description": description, "schema": schema })
            }));
        }
        let page = json!({
            "operationId": identifier(name), "tags": [tag], "summary": format!("{name} ({})", operation.verb),
            "parameters": parameters,
            "requestBody": { "required": true, "content": bodies },
            "responses": responses("Done.", &reply),
        });
        if operation.verb == Verb::Replace && name == "replace" {
            whole.insert("put".to_owned(), page);
        } else {
            paths.insert(format!("{path}:{name}"), json!({ "post": page }));
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
        assert_eq!(page["requestBody"]["content"]["text/csv"]["schema"]["format"], "binary");
        let in_query = page["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == "query");
        assert_eq!(in_query.map(|parameter| &parameter["name"]).collect::<Vec<_>>(), ["name"]);
    }
}
