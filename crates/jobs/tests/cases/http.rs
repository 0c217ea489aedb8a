//! The same services over HTTP: typed references in MessagePack, and bodies in JSON in the form that `curl` sends.

use std::io::{Read as _, Write};
use std::net::TcpStream;

use lehr_jobs::datasets::{Append, Begin, Datasets, Finish, Grow, Put, Read, Settle, Take};
use lehr_jobs::declared::TableOptions;
use lehr_jobs::jobs::{Ended, Jobs, Order, Outcome, Run, State};
use lehr_jobs::{Bytes, Form, Handle, RowFormat, Setup, Table, fetch, store};
use lehr_methods::cluster::{Cluster, Options};
use lehr_node::{Client, Node, Settings};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{
    Action, Code, Event, Format, Host, Link, Message, Options as Ask, Reference, Subscribe, Verb, Version,
};
use serde_json::{Value, json};

use super::samples::*;

/// Runs a test with a node that has data sets and clustering, and with a client.
pub fn on_a_node(behaviour: impl AsyncFn(&Host, Client, String)) {
    let dispatcher = Dispatcher::new(2).unwrap();
    let host = Host::new(dispatcher.handle());
    block_on(async {
        let setup = Setup::default();
        setup.start_datasets(&host, "/datasets").await.unwrap();
        setup.start_declared(&host, "/clustering", &Cluster).await.unwrap();
    });
    let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
    let node = Node::start(host.clone(), settings).unwrap();
    let url = format!("http://{}", node.address());
    block_on(behaviour(&host, Client::new(None).unwrap(), url));
    drop(node);
    block_on(host.shutdown(std::time::Duration::from_secs(3600)));
}

fn clustering(client: &Client, url: &str) -> Reference<Jobs> {
    let jobs = Reference::<Jobs>::over(client.link(&format!("{url}/clustering")).unwrap()).within(DAY);
    jobs.of_contract(CLUSTERING, Version::new(1, 0)).unwrap()
}

/// The name of the contract of clustering.
const CLUSTERING: &str = "lehr.clustering";

/// A time limit that even a slow machine does not reach.
const DAY: std::time::Duration = std::time::Duration::from_secs(3000);

#[test]
fn data_come_in_are_clustered_and_go_out_over_http() {
    on_a_node(async |host, client, url| {
        let datasets = Reference::<Datasets>::over(client.link(&format!("{url}/datasets")).unwrap()).within(DAY);
        let clustering = clustering(&client, &url);
        let begin =
            Begin { weights: Some("people".into()), id: Some("site".into()), ..Begin::new("clouds", Form::Csv) };
        assert_eq!(upload(&datasets, begin, clouds().as_bytes()).await.unwrap().rows, 300);
        let mut changes = clustering.subscribe(Subscribe::default().operations(["ended"])).await.unwrap();
        assert!(matches!(changes.next().await.unwrap(), Event::Seed(_)));
        let options: Options = serde_json::from_str(r#"{ "clusters": 3 }"#).unwrap();
        let job = run(&clustering, Order::new("clouds", &options)).await.unwrap();
        let done = wait(&clustering, &job).await;
        assert_eq!((done.state, done.options::<Value>().unwrap()["clusters"].as_u64()), (State::Done, Some(3)));
        let Event::Change(change) = changes.next().await.unwrap() else { panic!("no change") };
        assert_eq!(change.operation::<Ended>().unwrap().body.job, job);
        // The table over HTTP equals the table in this process.
        let here = host.reference::<Datasets>("/datasets").unwrap();
        let take = || Take { name: format!("{job}/labels") };
        assert_eq!(datasets.call(take()).await.unwrap(), here.call(take()).await.unwrap());
        let table = datasets.call(take()).await.unwrap();
        let copy = datasets.call(Put { name: "copy".into(), table, replace: false }).await.unwrap();
        assert_eq!(copy.checksum, here.get().await.unwrap().datasets[&take().name].checksum);
    });
}

#[test]
fn people_send_json() {
    on_a_node(async |_, client, url| {
        let send = async |path: &str, operation: &str, body: Value| {
            let link = client.link(&format!("{url}{path}")).unwrap();
            let message = Message {
                action: Action::Operation(operation.to_owned()),
                verb: Verb::Submit,
                body: body.to_string().into_bytes(),
                format: Format::Json,
                accept: Format::Json,
                options: Ask { within: Some(DAY), ..Ask::default() },
            };
            let answered = link.send(message).await?;
            Ok::<Value, lehr_services::Fault>(serde_json::from_slice(&answered.body).unwrap())
        };
        let begun = send("/datasets", "begin", json!({ "name": "line", "format": "csv" })).await.unwrap();
        assert_eq!(begun["offset"], 0);
        // "x\n0\n1\n10\n11\n"
        let data = "eAowCjEKMTAKMTEK";
        let grown = send("/datasets", "append", json!({ "name": "line", "offset": 0, "data": data })).await.unwrap();
        assert_eq!(grown["offset"], 12);
        let line = send("/datasets", "finish", json!({ "name": "line" })).await.unwrap();
        assert_eq!((&line["rows"], &line["columns"][0]["name"]), (&json!(4), &json!("x")));
        let order = json!({ "input": "line", "options": { "clusters": 2 } });
        let job = send("/clustering", "run", order).await.unwrap()["job"].clone();
        let done = send("/clustering", "wait", json!({ "job": job })).await.unwrap();
        assert_eq!((&done["state"], &done["outputs"]["centers"]), (&json!("done"), &json!("clustering-1/centers")));
        let rows = json!({ "job": job, "table": "centers" });
        let centers = send("/clustering", "result", rows).await.unwrap();
        assert_eq!(
            centers["json"][0],
            json!({ "cluster": 0, "x": 10.5, "weight": 2.0, "spread": 0.5, "probability": 1.0, "silhouette": 0.949_874_686_716_792,
                    "merges_with": "1", "joins": "", "joins_at": "", "name": "like the average" })
        );
        // Options that were left out have their defaults, in the order of the method's fields, wherever options are
        // shown.
        let completed =
            serde_json::to_string(&TableOptions::default().with(&Options { clusters: Some(2), ..Options::default() }));
        let completed = completed.unwrap();
        let link = client.link(&format!("{url}/clustering")).unwrap();
        let ask = Message {
            action: Action::Get,
            verb: Verb::Get,
            body: Vec::new(),
            format: Format::Json,
            accept: Format::Json,
            options: Ask { within: Some(DAY), ..Ask::default() },
        };
        let state = String::from_utf8(link.send(ask).await.unwrap().body.to_vec()).unwrap();
        assert!(state.contains(&format!(r#""options":{completed},"#)), "{state}");
        let jobs = clustering(&client, &url);
        let mut changes = jobs.subscribe(Subscribe::default().operations(["run"])).await.unwrap();
        assert!(matches!(changes.next().await.unwrap(), Event::Seed(_)));
        let order = json!({ "input": "line", "options": { "clusters": 2 } });
        send("/clustering", "run", order).await.unwrap();
        let Event::Change(change) = changes.next().await.unwrap() else { panic!("no change") };
        let told = serde_json::to_value(&change.operation::<Run>().unwrap().body.options).unwrap();
        assert_eq!(told, serde_json::from_str::<Value>(&completed).unwrap());
        // Misspelt options and invalid values are reported.
        for (path, operation, body, reason) in [
            (
                "/clustering",
                "run",
                json!({ "input": "line", "options": { "cluster": 2 } }),
                "options: unknown field `cluster`",
            ),
            (
                "/clustering",
                "run",
                json!({ "input": "line", "options": { "cooling": 0.9, "clusters": "two" } }),
                "options.clusters: invalid type: string \"two\", expected a whole number of at least 0",
            ),
            ("/clustering", "run", json!({ "input": 7, "options": {} }), "not what is expected here"),
            ("/datasets", "begin", json!({ "name": "x", "format": "xlsx" }), "unknown variant `xlsx`"),
            ("/datasets", "begin", json!({ "name": "x", "format": "csv", "colums": [] }), "unknown field `colums`"),
            ("/datasets", "append", json!({ "name": "x", "offset": 0, "data": "?" }), "expected base64"),
        ] {
            let fault = send(path, operation, body).await.unwrap_err();
            assert!(fault.reason().contains(reason), "{fault}");
            assert_eq!(fault.code(), Code::MessageNotSupported);
        }
    });
}

#[test]
fn the_page_of_a_result_is_answered_as_a_page_and_jobs_are_counted_28() {
    on_a_node(async |_, client, url| {
        let datasets = Reference::<Datasets>::over(client.link(&format!("{url}/datasets")).unwrap()).within(DAY);
        let clustering = clustering(&client, &url);
        upload(&datasets, Begin::new("clouds", Form::Csv), clouds().as_bytes()).await.unwrap();
        let options: Options = serde_json::from_str(r#"{ "clusters": 3 }"#).unwrap();
        let job = run(&clustering, Order::new("clouds", &options)).await.unwrap();
        assert_eq!(wait(&clustering, &job).await.outputs["report"], format!("{job}/report"));
        let get = |path: &str, accept: &str| {
            let (head, body) = curl(&url, &format!("GET {path}"), &format!("accept: {accept}\r\n"), "");
            (head, String::from_utf8(body).unwrap())
        };
        let path = format!("/clustering:report?job={job}");
        // The `accept` headers of curl and of a browser.
        for accept in ["*/*", "text/html,application/xhtml+xml,*/*;q=0.8"] {
            let (head, page) = get(&path, accept);
            assert!(head.starts_with("http/1.1 200") && head.contains("text/html"), "{head}");
            // The scripts of the page have no rights on the node.
            assert!(head.contains("content-security-policy: sandbox allow-scripts"), "{head}");
            assert!(page.starts_with("<!doctype html>") && page.contains("300 rows in 3 clusters"), "{page}");
        }
        let (head, text) = get(&path, "application/json");
        assert!(head.contains("application/json"), "{head}");
        assert!(serde_json::from_str::<String>(&text).unwrap().contains("300 rows in 3 clusters"));
        let (head, body) = get("/clustering:report?job=nothing", "text/html");
        assert!(head.starts_with("http/1.1 404") && body.contains("there is no job"), "{head}{body}");

        let (_, metrics) = get("/metrics", "*/*");
        let value = |line: &str| {
            let found = metrics.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '));
            found.unwrap_or_else(|| panic!("{line} in {metrics}")).parse::<f64>().unwrap()
        };
        let of = |name: &str, state: &str| value(&format!("{name}{{service=\"/clustering\",state=\"{state}\"}}"));
        assert_eq!([of("lehr_jobs", "done"), of("lehr_jobs", "queued"), of("lehr_jobs", "running")], [1.0, 0.0, 0.0]);
        assert_eq!(of("lehr_job_runs_total", "done"), 1.0);
        assert!(of("lehr_job_run_seconds_total", "done") >= 0.0);
        assert!(value("lehr_job_wait_seconds_total{service=\"/clustering\"}") >= 0.0);
        assert!(value("lehr_jobs_queue_limit{service=\"/clustering\"}") > 0.0);
    });
}

#[test]
fn a_service_is_of_the_contract_of_its_method() {
    on_a_node(async |host, client, url| {
        let setup = Setup::default();
        setup.start_declared(host, "/gtm", &lehr_methods::gtm::Gtm).await.unwrap();
        let to = |path: &str| Reference::<Jobs>::over(client.link(&format!("{url}{path}")).unwrap()).within(DAY);
        let (clustering, gtm) = (to("/clustering"), to("/gtm"));
        let [clusters, map] = [clustering.lookup().await.unwrap().contract, gtm.lookup().await.unwrap().contract];
        assert_eq!((clusters.name.as_str(), map.name.as_str()), (CLUSTERING, "lehr.gtm"));
        let options = |schema: &Value| schema["$defs"]["Options"]["properties"].clone();
        let order = |contract: &lehr_services::Description| contract.operations["run"].body.clone();
        let job = |contract: &lehr_services::Description| contract.operations["wait"].reply.clone();
        for (contract, own, other) in [(&clusters, "clusters", "nodes"), (&map, "nodes", "clusters")] {
            for schema in [order(contract), job(contract), contract.state.clone()] {
                assert!(options(&schema)[own].is_object() && options(&schema)[other].is_null(), "{schema}");
            }
            assert_eq!(order(contract)["properties"]["options"]["$ref"], "#/$defs/Options");
        }
        // A client that expects another contract gets an error.
        let other = gtm.of_contract(CLUSTERING, Version::new(1, 0)).unwrap();
        let order = Order::new("line", &Options::default());
        assert_eq!(other.call(Run::of(order)).await.unwrap_err().code(), Code::ContractMismatch);
    });
}

#[test]
fn what_a_service_sends_to_itself_is_refused_from_others() {
    on_a_node(async |_, client, url| {
        let datasets = Reference::<Datasets>::over(client.link(&format!("{url}/datasets")).unwrap()).within(DAY);
        let clustering = clustering(&client, &url);
        datasets.call(Begin::new("a", Form::Csv)).await.unwrap();
        let data = Bytes::from(b"x\n1\n".to_vec());
        datasets.call(Append { name: "a".into(), offset: 0, data }).await.unwrap();
        let grow: Grow = serde_json::from_value(json!({ "name": "a", "offset": 4, "bytes": 1 })).unwrap();
        assert_eq!(datasets.call(grow).await.unwrap_err().code(), Code::PermissionDenied);
        let settle = json!({ "name": "a", "dataset": null, "fault": null, "replace": true, "read_from": null });
        let settle: Settle = serde_json::from_value(settle).unwrap();
        assert_eq!(datasets.call(settle).await.unwrap_err().code(), Code::PermissionDenied);
        let outcome =
            Outcome { job: "x".into(), outputs: None, figures: Default::default(), warnings: vec![], fault: None };
        let ended = clustering.call(Ended::of(outcome)).await.unwrap_err();
        assert_eq!(ended.code(), Code::PermissionDenied);
        assert_eq!(datasets.call(Finish { name: "a".into() }).await.unwrap().rows, 1);
    });
}

#[test]
fn large_tables_go_between_nodes_in_pieces() {
    on_a_node(async |host, client, url| {
        let here = host.reference::<Datasets>("/datasets").unwrap();
        let there = Reference::<Datasets>::over(client.link(&format!("{url}/datasets")).unwrap()).within(DAY);
        let table = Table::builder().numbers("x", vec![0.5; 9 << 20]).build().unwrap();
        here.call(Put { name: "large".into(), table: Handle(table), replace: false }).await.unwrap();
        let fault = there.call(Take { name: "large".into() }).await.unwrap_err();
        assert_eq!(fault.code(), Code::TooLarge);
        assert!(fault.reason().ends_with("read it in pieces"), "{fault}");
        let table = fetch(&there, "large").await.unwrap();
        let copy = store(&there, "copy", &table, false).await.unwrap();
        assert_eq!(copy.checksum, here.get().await.unwrap().datasets["large"].checksum);
    });
}

/// Sends bytes as `curl --data-binary` does. Returns the status and the document in the answer.
pub fn post(url: &str, target: &str, media_type: &str, body: &[u8]) -> (u16, Value) {
    let address = url.strip_prefix("http://").unwrap();
    let (kind, length, patience) = (media_type, body.len(), DAY.as_millis());
    let head = format!(
        "POST {target} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nlehr-timeout-ms: {patience}\r\n\r\n"
    );
    let mut stream = TcpStream::connect(address).unwrap();
    // Write everything at once, because a node that refuses the head may not read the body.
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_slice(&answer[end + 4..]).unwrap())
}

#[test]
fn a_file_is_sent_as_it_is_and_its_media_type_says_what_it_is() {
    on_a_node(async |host, _, url| {
        let datasets = host.reference::<Datasets>("/datasets").unwrap();
        let target = "/datasets:upload?name=clouds&weights=people&id=site";
        let (status, clouds) = post(&url, target, "text/csv; charset=utf-8", clouds().as_bytes());
        assert_eq!((status, &clouds["rows"], &clouds["weights"]), (200, &json!(300), &json!("people")), "{clouds}");
        // The same table as Arrow, under a name that looks like a number.
        let read = Read { name: "clouds".into(), format: RowFormat::Arrow, ..Read::default() };
        let arrow = datasets.call(read).await.unwrap().arrow.unwrap();
        let kind = "application/vnd.apache.arrow.stream";
        let (status, copy) = post(&url, "/datasets:upload?name=2026", kind, arrow.as_slice());
        assert_eq!((status, &copy["checksum"]), (200, &clouds["checksum"]), "{copy}");
        // If the media type says nothing, the query gives the format. A list may be words separated by commas.
        let bytes = "application/octet-stream";
        let (status, fault) = post(&url, "/datasets:upload?name=x", bytes, b"a\tb\n1\t2\n");
        assert_eq!(status, 422, "{fault}");
        assert!(
            fault["detail"].as_str().unwrap().contains("the media type (\"application/octet-stream\") does not say")
        );
        let target = "/datasets:upload?name=x&format=tsv&columns=a,b";
        let (status, table) = post(&url, target, bytes, b"a\tb\tc\n1\t2\t3\n");
        let names = |table: &Value| {
            table["columns"].as_array().unwrap().iter().map(|column| column["name"].clone()).collect::<Value>()
        };
        assert_eq!((status, names(&table)), (200, json!(["a", "b"])), "{table}");
        // A name that is in use, an unknown format, and faults in the file.
        let (status, _) = post(&url, "/datasets:upload?name=x", "text/csv", b"a\n1\n");
        assert_eq!(status, 409);
        assert_eq!(post(&url, "/datasets:upload?name=x&replace=true", "text/csv", b"a\n1\n").0, 200);
        let (status, fault) = post(&url, "/datasets:upload?name=y", "application/x-www-form-urlencoded", b"a\n1\n");
        assert_eq!(status, 415);
        assert!(fault["detail"].as_str().unwrap().contains("application/msgpack, text/csv, "), "{fault}");
        let (status, fault) = post(&url, "/datasets:upload?name=y", "text/csv", b"a,b\n1,2\n3\n");
        assert_eq!((status, &fault["detail"]), (422, &json!("y, line 3: expected 2 fields, found 1")));
        let (status, fault) = post(&url, "/datasets:upload?nmae=y", "text/csv", b"a\n1\n");
        assert_eq!(status, 400);
        assert!(fault["detail"].as_str().unwrap().contains("unknown field `nmae`"), "{fault}");
    });
}

#[test]
fn pieces_are_sent_as_they_are() {
    on_a_node(async |host, _, url| {
        let datasets = host.reference::<Datasets>("/datasets").unwrap();
        datasets.call(Begin::new("line", Form::Csv)).await.unwrap();
        let piece = |offset: u64, bytes: &[u8]| {
            post(&url, &format!("/datasets:append?name=line&offset={offset}"), "application/octet-stream", bytes)
        };
        assert_eq!(piece(0, b"x\n0\n").1["offset"], 4);
        assert_eq!(piece(6, b"1\n").0, 412);
        assert_eq!(piece(4, b"10\n").1["offset"], 7);
        assert_eq!(datasets.call(Finish { name: "line".into() }).await.unwrap().rows, 2);
    });
}

/// Sends a request by hand, as curl does. Returns the head and the body of the answer.
fn curl(url: &str, line: &str, headers: &str, body: &str) -> (String, Vec<u8>) {
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&answer[..end]).to_lowercase(), answer[end + 4..].to_vec())
}

#[test]
fn rows_come_as_a_file_for_who_accepts_it_and_options_may_be_left_out() {
    on_a_node(async |_, client, url| {
        // The table has more rows than one piece.
        let count = 70_000;
        let values: Vec<f64> = (0..count).map(|row| f64::from(row % 10)).collect();
        let table = Table::builder().numbers("x", values).build().unwrap();
        let datasets = Reference::<Datasets>::over(client.link(&format!("{url}/datasets")).unwrap()).within(DAY);
        datasets.call(Put { name: "rows".into(), table: Handle(table), replace: false }).await.unwrap();
        let (head, body) = curl(&url, "GET /datasets:read?name=rows", "accept: text/csv\r\n", "");
        assert!(head.starts_with("http/1.1 200") && head.contains("content-type: text/csv"), "{head}");
        assert!(head.contains(&format!("lehr-rows: 0-{count}/{count}")), "{head}");
        let text = String::from_utf8(body).unwrap();
        assert_eq!((text.lines().count(), text.lines().next()), (count as usize + 1, Some("x")));
        let (_, part) = curl(&url, "GET /datasets:read?name=rows&from=3&to=5", "accept: text/csv\r\n", "");
        assert_eq!(String::from_utf8(part).unwrap(), "3\n4\n");
        let arrow = "accept: application/vnd.apache.arrow.stream\r\n";
        let (head, body) = curl(&url, "POST /datasets:read", arrow, r#"{ "name": "rows", "to": 7 }"#);
        assert!(head.contains("content-type: application/vnd.apache.arrow.stream"), "{head}");
        // The marker before the first message of a stream.
        assert_eq!(body[..4], [0xff; 4]);
        let (head, _) = curl(&url, "GET /datasets:read?name=rows", "accept: image/png\r\n", "");
        assert!(head.starts_with("http/1.1 406"), "{head}");

        // The request gives neither options nor the type of the body.
        let (head, body) = curl(&url, "POST /clustering:run", "", r#"{ "input": "rows" }"#);
        assert!(head.starts_with("http/1.1 200"), "{head}{}", String::from_utf8_lossy(&body));
        let job: Value = serde_json::from_slice(&body).unwrap();
        let job = job["job"].as_str().unwrap();
        let (head, _) = curl(&url, "POST /clustering:cancel", "", &format!(r#"{{ "job": "{job}" }}"#));
        assert!(head.starts_with("http/1.1 200"), "{head}");
    });
}

/// Returns the answer to a request that accepts CSV.
pub fn csv(url: &str, target: &str, content_type: &str, body: &str) -> (String, String) {
    let headers = format!("accept: text/csv\r\ncontent-type: {content_type}\r\n");
    let (head, body) = curl(url, &format!("POST {target}"), &headers, body);
    (head, String::from_utf8(body).unwrap())
}

#[test]
fn a_model_of_a_job_labels_a_data_set_a_body_and_a_form_28() {
    on_a_node(async |_, client, url| {
        let rows = "site,x,y\na,0,0\nb,1,0\nc,10,10\nd,11,10\n";
        let form = format!(
            "--XX\r\ncontent-disposition: form-data; name=\"name\"\r\n\r\nsites\r\n--XX\r\ncontent-disposition: form-data; name=\"id\"\r\n\r\nsite\r\n\
             --XX\r\ncontent-disposition: form-data; name=\"file\"; filename=\"sites.csv\"\r\ncontent-type: application/octet-stream\r\n\r\n{rows}\r\n--XX--\r\n"
        );
        // The upload has the form that a browser sends.
        let (status, sites) = post(&url, "/datasets:upload", "multipart/form-data; boundary=XX", form.as_bytes());
        assert_eq!((status, &sites["rows"]), (200, &json!(4)), "{sites}");
        let clustering = clustering(&client, &url);
        let options: Options = serde_json::from_str(r#"{ "clusters": 2 }"#).unwrap();
        let job = run(&clustering, Order::new("sites", &options)).await.unwrap();
        assert_eq!(wait(&clustering, &job).await.state, State::Done);

        let asked = format!(r#"{{"job": "{job}", "dataset": "sites"}}"#);
        let (head, of_dataset) = csv(&url, "/clustering:predict", "application/json", &asked);
        assert!(head.starts_with("http/1.1 200"), "{head} {of_dataset}");
        let lines: Vec<&str> = of_dataset.lines().collect();
        assert_eq!((lines[0], lines.len()), ("id,cluster,probability,distance,score", 5));
        let cluster_of = |line: &str| line.split(',').nth(1).unwrap().to_owned();
        assert!(lines[1].starts_with("a,") && cluster_of(lines[1]) == cluster_of(lines[2]));
        assert_ne!(cluster_of(lines[1]), cluster_of(lines[3]));
        // The request sends the same rows as its body. Their ids are in the model's column of ids.
        let target = format!("/clustering:predict?job={job}");
        let (_, of_body) = csv(&url, &target, "text/csv", rows);
        assert_eq!(of_body, of_dataset);
        let (_, of_form) = csv(
            &url,
            &target,
            "multipart/form-data; boundary=XX",
            &form.replace("name=\"name\"", "name=\"job\"").replace("\r\n\r\nsites\r\n", &format!("\r\n\r\n{job}\r\n")),
        );
        assert_eq!(of_form, of_dataset);
        let (_, unnamed) = csv(&url, &format!("{target}&memberships=true"), "text/csv", "y,x\n10,10\n");
        assert!(unnamed.starts_with("id,cluster,probability,distance,score,membership0,membership1\n0,"), "{unnamed}");

        for (body, expected) in [
            (format!(r#"{{"job": "{job}"}}"#), "expected a data set, or a file as data, or rows, found neither"),
            (r#"{"job": "clustering-9", "dataset": "sites"}"#.to_owned(), "clustering-9"),
        ] {
            let (status, fault) = post(&url, "/clustering:predict", "application/json", body.as_bytes());
            assert!((400..500).contains(&status) && fault["detail"].as_str().unwrap().contains(expected), "{fault}");
        }
        let (status, fault) = post(&url, &target, "text/csv", b"x,z\n1,2\n");
        assert_eq!(status, 422, "{fault}");
        assert!(fault["detail"].as_str().unwrap().contains("expected a column \"y\""), "{fault}");
    });
}
