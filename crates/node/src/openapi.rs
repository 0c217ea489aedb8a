//! The OpenAPI 3.1 description of the services of a node, from their contracts.

use lehr_services::{Info, Verb};
use serde_json::{Map, Value, json};

/// Describes the services; golden file in `tests/golden`.
pub(crate) fn document(infos: &[Info]) -> Value {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    for info in infos {
        let described = Described { schemas: &mut schemas, prefix: info.contract.name.replace('/', ".") };
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

/// Schemas on their way from a contract, where each has its definitions within, into one document, where they have a place of their own.
struct Described<'a> {
    schemas: &'a mut Map<String, Value>,
    /// Before the names of definitions: contracts may use one name for different things.
    prefix: String,
}

impl Described<'_> {
    /// The schema with its references as they are here; its definitions are moved out.
    fn place(&mut self, schema: &Value) -> Value {
        let mut placed = schema.clone();
        let Some(fields) = placed.as_object_mut() else { return placed };
        // The whole document has one dialect.
        fields.remove("$schema");
        let definitions = fields.remove("$defs");
        // One that speaks of itself needs a name.
        let own = schema["title"].as_str().unwrap_or("Document").to_owned();
        self.lead(&mut placed, &own);
        if let Some(Value::Object(definitions)) = definitions {
            for (name, mut definition) in definitions {
                self.lead(&mut definition, &own);
                self.schemas.insert(format!("{}.{name}", self.prefix), definition);
            }
        }
        if speaks_of_itself(schema) {
            self.schemas.insert(format!("{}.{own}", self.prefix), placed.clone());
        }
        placed
    }

    /// Makes references lead to where the definitions are.
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

fn speaks_of_itself(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            fields.get("$ref").is_some_and(|to| to == "#") || fields.values().any(speaks_of_itself)
        }
        Value::Array(entries) => entries.iter().any(speaks_of_itself),
        _ => false,
    }
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
            "responses": responses("The state; its version is in ETag.", &described.place(&info.contract.state)),
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
        let (body, reply) = (described.place(&operation.body), described.place(&operation.reply));
        let mut bodies = content(&body);
        for media_type in &operation.raw {
            bodies[media_type] = json!({ "schema": { "type": "string", "format": "binary" } });
        }
        if !operation.raw.is_empty() {
            let fields = body["properties"].as_object().into_iter().flatten();
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

    #[test]
    fn references_lead_to_where_the_definitions_are() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Tree",
            "properties": { "leaf": { "$ref": "#/$defs/Leaf" }, "more": { "items": { "$ref": "#" } } },
            "$defs": { "Leaf": { "anyOf": [{ "$ref": "#/$defs/Vein" }] }, "Vein": { "type": "string" } },
        });
        let mut schemas = Map::new();
        let placed = Described { schemas: &mut schemas, prefix: "a.b".to_owned() }.place(&schema);
        assert_eq!(placed["properties"]["leaf"]["$ref"], "#/components/schemas/a.b.Leaf");
        assert_eq!(placed["properties"]["more"]["items"]["$ref"], "#/components/schemas/a.b.Tree");
        assert!(placed.get("$defs").is_none() && placed.get("$schema").is_none());
        assert_eq!(schemas["a.b.Leaf"]["anyOf"][0]["$ref"], "#/components/schemas/a.b.Vein");
        assert_eq!(schemas.keys().collect::<Vec<_>>(), ["a.b.Leaf", "a.b.Tree", "a.b.Vein"]);
    }
}
