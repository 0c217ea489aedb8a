//! What a node says of itself, against what it does: each operation of each service that `lehr serve` offers is in its
//! description, and what is there can be asked.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::nodes::ask;
use super::sandbox::Sandbox;
use super::services::Served;

/// The kinds that are placed by hand, each with a path.
const PLACED: [(&str, &str); 14] = [
    ("lehr/records", "/notes"),
    ("lehr/samples", "/samples"),
    ("lehr/reports", "/reports"),
    ("lehr/neighbors", "/neighbors"),
    ("lehr.distances", "/distances"),
    ("lehr.pairwise", "/pairwise"),
    ("lehr.embedding", "/embedding"),
    ("lehr.minibatch", "/minibatch"),
    ("lehr.mixture", "/mixture"),
    ("lehr.gtm", "/gtm"),
    ("lehr.kmedoids", "/kmedoids"),
    ("lehr.hierarchy", "/hierarchy"),
    ("lehr.hdbscan", "/hdbscan"),
    ("lehr.predictions", "/predictions"),
];

/// A node with every service that `lehr serve` offers.
fn node(sandbox: &Sandbox) -> Served {
    let folder = sandbox.path("fetched");
    std::fs::create_dir(&folder).unwrap();
    let placed = PLACED.map(|(contract, path)| format!("{contract}={path}"));
    let starts = placed.iter().flat_map(|place| ["--start", place.as_str()]);
    let mut options: Vec<&str> = starts.collect();
    options.extend(["--pubchem", "--fetch-from", "example.org", "--fetch-into", folder.to_str().unwrap()]);
    Served::start(&options)
}

fn document(node: &Served, path: &str) -> Value {
    let (status, document) = ask(&node.url, &format!("GET {path}"), "").unwrap();
    assert_eq!(status, 200, "{path}: {document}");
    document
}

/// The schemas that a description has for a request and for its answer; none for an answer that says nothing.
fn schemas<'a>(openapi: &'a Value, page: &'a Value) -> [&'a Value; 2] {
    [&page["requestBody"]["content"], &page["responses"]["200"]["content"]].map(|content| {
        // Generators take one schema for one type; MessagePack is described once, for all.
        assert!(content.get("application/msgpack").is_none());
        let schema = content.get("text/html").unwrap_or(&content["application/json"]);
        let schema = &schema["schema"];
        assert!(schema.get("properties").is_none(), "an object has a name: {schema}");
        let to = schema["$ref"].as_str().and_then(|to| openapi.pointer(to.strip_prefix('#')?));
        to.unwrap_or(schema)
    })
}

/// Whether a schema chooses between words in a way that generators take for types without anything in common.
fn has_constants(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            let forms = ["oneOf", "anyOf"].iter().filter_map(|key| fields.get(*key)?.as_array()).flatten();
            forms.filter(|form| form.get("const").is_some()).count() > 0 || fields.values().any(has_constants)
        }
        Value::Array(entries) => entries.iter().any(has_constants),
        _ => false,
    }
}

/// Where references in a value lead to.
fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|field| references(field, found));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| references(entry, found)),
        _ => {}
    }
}

#[test]
fn every_operation_of_every_service_is_described_and_everything_described_can_be_asked() {
    let sandbox = Sandbox::new();
    let node = node(&sandbox);
    let services = document(&node, "/");
    let services: Vec<(&str, &str)> = services["services"]
        .as_array()
        .unwrap()
        .iter()
        .map(|service| (service["path"].as_str().unwrap(), service["contract"].as_str().unwrap()))
        .collect();
    // Whatever kind can be made is made here, so that a new one is described and asked too.
    let constructor = document(&node, "/constructor");
    for contract in constructor["contracts"].as_array().unwrap() {
        assert!(services.iter().any(|(_, made)| contract == made), "no {contract} is tried here");
    }

    let openapi = document(&node, "/openapi.json");
    let paths = openapi["paths"].as_object().unwrap();
    let mut operations = 0;
    for (path, contract) in &services {
        let info = document(&node, &format!("{path}:lookup"));
        for (name, operation) in info["contract"]["operations"].as_object().unwrap() {
            let at = if name == "replace" { (*path).to_owned() } else { format!("{path}:{name}") };
            let page = &paths[&at][if name == "replace" { "put" } else { "post" }];
            assert!(page.is_object(), "{name} of {contract} is not described at {at}");
            for (schema, described) in ["body", "reply"].into_iter().zip(schemas(&openapi, page)) {
                if described.is_null() {
                    let is_nothing = match schema {
                        "body" => operation[schema]["properties"].is_null(),
                        _ => operation[schema]["type"] == "null",
                    };
                    assert!(is_nothing, "the {schema} of {name} of {contract} is not described");
                    continue;
                }
                let is_schema = described.is_object() || described.is_boolean();
                assert!(is_schema, "the {schema} of {name} of {contract} has no schema: {page}");
                // References lead elsewhere; what else a schema says is the contract's.
                let own = &operation[schema];
                let to = own["$ref"].as_str().and_then(|to| own.pointer(to.strip_prefix('#')?));
                let own = to.unwrap_or(own);
                assert_eq!(described["type"], own["type"], "the {schema} of {name} of {contract}");
                assert_eq!(described["required"], own["required"], "{schema} of {name} of {contract}");
            }
            operations += 1;
        }
    }
    assert!(operations > 40, "{operations} operations");
    assert!(!has_constants(&openapi["components"]), "a choice between words is an enumeration");
    let mut lead = BTreeSet::new();
    references(&openapi, &mut lead);
    for to in lead {
        let there = to.strip_prefix('#').and_then(|pointer| openapi.pointer(pointer));
        assert!(there.is_some(), "{to} leads nowhere");
    }

    // Every path is of a service that stands, and every method is one that it takes. What would change something is
    // sent half a document, and is told that.
    let mut ends = Vec::new();
    for (path, methods) in paths {
        let (service, action) = path.split_once(':').unwrap_or((path, ""));
        assert!(services.iter().any(|(there, _)| *there == service), "there is no service at {path}");
        for method in methods.as_object().unwrap().keys() {
            match method.as_str() {
                "delete" => ends.push(path),
                "get" if action == "events" => assert_eq!(first_word(&node.url, path), "HTTP/1.1 200", "{path}"),
                // One that lacks a field is told so.
                "get" => {
                    let (status, answer) = ask(&node.url, &format!("GET {path}"), "").unwrap();
                    let parameters = methods["get"]["parameters"].as_array();
                    let needs_more = parameters.into_iter().flatten().any(|parameter| parameter["required"] == true);
                    let expected = match path.as_str() {
                        // It answers the node itself alone.
                        "/workflows:reach" => 403,
                        _ if needs_more => 400,
                        _ => 200,
                    };
                    assert_eq!(status, expected, "GET {path}: {answer}");
                }
                method => {
                    let line = format!("{} {path}", method.to_uppercase());
                    let (status, answer) = ask_json(&node.url, &line, "{");
                    assert_eq!((status, &answer["code"]), (400, &json!("message_not_supported")), "{line}: {answer}");
                }
            }
        }
    }
    assert!(ends.len() >= PLACED.len());
    for path in ends {
        let (status, answer) = ask(&node.url, &format!("DELETE {path}"), "").unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
    }
    // What is not described to be ended cannot be.
    for (path, _) in services.iter().filter(|(path, _)| paths[*path]["delete"].is_null()) {
        assert_eq!(ask(&node.url, &format!("DELETE {path}"), "").unwrap().0, 405, "{path}");
    }
}

/// How an answer begins that has no end.
fn first_word(url: &str, path: &str) -> String {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    let mut word = [0; 12];
    stream.read_exact(&mut word).unwrap();
    String::from_utf8_lossy(&word).into_owned()
}

/// Sends a body that says it is JSON.
fn ask_json(url: &str, line: &str, body: &str) -> (u16, Value) {
    super::nodes::send(url, line, "content-type: application/json\r\n", body).unwrap()
}
