//! `clusterings`: a clustering job on a core, alone, while another service clusters on the other core, and while
//! another clusters on the same core.
//!
//! The services run on one `lehr serve`, which gets their cores from a manifest like a user's. The other service has a
//! job that does not end by itself. This job runs before the timed job starts, and is cancelled after it. Every job
//! must find the same centres.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use lehr_data::synthetic::{gaussian_mixture, random_components};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

use super::definition::{Clusterings, Definition};
use super::server::{Form, Node};
use crate::bench::Bench;
use crate::bench::estimate::{AROUND_SAMPLE, Plan};
use crate::bench::figure::Figure;
use crate::bench::session::Options;
use crate::measure::timed;

/// The name of the experiment.
pub const EXPERIMENT: &str = "clusterings";

/// The seconds for starting a node and uploading its data, before anything is timed.
const BEFORE: f64 = 2.0;

/// The time limit of an answer, which is longer than any job here.
const LIMIT_MS: u64 = 3_600_000;

/// The services and their cores.
const MANIFEST: &str = r#"
[services."/one"]
contract = "lehr.clustering"
cores = [0]

[services."/elsewhere"]
contract = "lehr.clustering"
cores = [1]

[services."/beside"]
contract = "lehr.clustering"
cores = [0]
"#;

/// The other service that clusters at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    Nobody,
    OnItsOwnCore,
    OnTheSameCore,
}

impl Company {
    const ALL: [Self; 3] = [Self::Nobody, Self::OnItsOwnCore, Self::OnTheSameCore];

    fn engine(self) -> &'static str {
        match self {
            Self::Nobody => "lehr serve, alone",
            Self::OnItsOwnCore => "lehr serve, another on its own core",
            Self::OnTheSameCore => "lehr serve, another on the same core",
        }
    }

    /// Returns the path of the other service.
    fn path(self) -> Option<&'static str> {
        match self {
            Self::Nobody => None,
            Self::OnItsOwnCore => Some("/elsewhere"),
            Self::OnTheSameCore => Some("/beside"),
        }
    }
}

fn case(definition: &Clusterings) -> String {
    format!("{} rows into {} clusters", definition.rows, definition.clusters)
}

fn is_wanted(bench: &Bench, definition: &Clusterings, options: &Options) -> bool {
    let case = case(definition);
    bench.cores > 1 && options.wants(&format!("{EXPERIMENT} {case}")) && !bench.knows(EXPERIMENT, &case, None)
}

/// Adds an upper bound of the duration to the plan.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options, plan: &mut Plan) {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    let clusterings = &definition.clusterings;
    if is_wanted(bench, clusterings, options) {
        // In the third case, each service has half a core.
        let samples = rounds * (4.0 * clusterings.seconds + 3.0 * AROUND_SAMPLE);
        plan.add(format!("{EXPERIMENT} {}", case(clusterings)), BEFORE + samples);
    }
}

/// Measures all three cases, in turns, on one node of `program`.
///
/// # Errors
/// Returns an error if a job fails, or finds other centres than the previous job.
pub fn run(bench: &mut Bench, program: &Path, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let clusterings = definition.clusterings;
    if !is_wanted(bench, &clusterings, options) || bench.is_over() {
        return Ok(());
    }
    bench.progress(&format!("{EXPERIMENT} {}", case(&clusterings)));
    let mut asking = Asking::start(program, clusterings, bench.cores)?;
    let mut sides = Company::ALL;
    let taken = bench.take_turns(rounds, &mut sides, |_, company| asking.measure(clusterings, *company).map(Some))?;
    for (company, samples) in sides.into_iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let figure =
            Figure::new(EXPERIMENT, &case(&clusterings), company.engine(), "ms a job", &samples, bench.unit_ns);
        bench.add(figure.with_workers(1));
    }
    Ok(())
}

/// A node with the services and the data, and a connection to it.
struct Asking {
    runtime: Runtime,
    sender: SendRequest<Full<Bytes>>,
    /// The centres that every job must find.
    centers: Option<Value>,
    node: Node,
}

impl Asking {
    fn start(program: &Path, definition: Clusterings, cores: usize) -> Result<Self> {
        let node = Node::with(program, Form { workers: cores, core: None }, &[])?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let sender = runtime.block_on(async {
            let stream = TcpStream::connect(node.address).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(stream)).await?;
            // If the connection ends, its requests fail.
            tokio::spawn(connection);
            anyhow::Ok(sender)
        })?;
        let mut asking = Self { runtime, sender, centers: None, node };
        let (points, _) =
            gaussian_mixture(definition.rows, &random_components(definition.clusters, 2, 20.0, 0.6, 5), 5);
        let rows = points.values().chunks(2).map(|row| format!("{},{}\n", row[0], row[1]));
        let text: String = std::iter::once("x,y\n".to_owned()).chain(rows).collect();
        asking.ask("/datasets:upload?name=points", "text/csv", text)?;
        let files = json!({ "files": [{ "file": "clusterings.toml", "text": MANIFEST }] });
        asking.operation("/manifest:apply", &files)?;
        Ok(asking)
    }

    fn ask(&mut self, path: &str, media_type: &str, body: String) -> Result<Value> {
        let request = Request::post(path)
            .header(HOST, self.node.address.to_string())
            .header(CONTENT_TYPE, media_type)
            .header("lehr-timeout-ms", LIMIT_MS)
            .body(Full::new(Bytes::from(body)))?;
        let sender = &mut self.sender;
        self.runtime.block_on(async {
            sender.ready().await?;
            let response = sender.send_request(request).await?;
            let status = response.status();
            let body = response.into_body().collect().await?.to_bytes();
            ensure!(status == StatusCode::OK, "{path} answered {status}: {}", String::from_utf8_lossy(&body));
            Ok(serde_json::from_slice(&body)?)
        })
    }

    fn operation(&mut self, path: &str, body: &Value) -> Result<Value> {
        self.ask(path, "application/json", body.to_string())
    }

    /// Starts a job; returns its name.
    fn order(&mut self, service: &str, options: Value) -> Result<Value> {
        let order = json!({ "input": "points", "options": options });
        self.operation(&format!("{service}:run"), &order)
    }

    /// Starts a job that does not end by itself; it is computing when this returns.
    fn endless(&mut self, service: &str) -> Result<Value> {
        let job = self.order(service, json!({ "stop_length": 1e-9 }))?;
        let wait = json!({ "job": job["job"], "timeout_ms": 10 });
        loop {
            let found = self.operation(&format!("{service}:wait"), &wait)?;
            match found["state"].as_str() {
                Some("queued" | "running") if found["progress"].is_null() => {}
                Some("running") => return Ok(job),
                _ => bail!("the job beside is {}", found["state"]),
            }
        }
    }

    /// Returns the milliseconds of a job, from its request to the answer that it is done.
    fn measure(&mut self, definition: Clusterings, company: Company) -> Result<f64> {
        let other = company.path().map(|path| anyhow::Ok((path, self.endless(path)?))).transpose()?;
        let options = json!({ "clusters": definition.clusters });
        let (seconds, done) = timed(|| {
            let job = self.order("/one", options)?;
            let done = self.operation("/one:wait", &job)?;
            ensure!(done["state"] == "done", "a job of ours is {}: {}", done["state"], done["fault"]);
            anyhow::Ok(job)
        });
        let job = done?;
        if let Some((path, job)) = other {
            self.operation(&format!("{path}:cancel"), &job)?;
            self.operation(&format!("{path}:wait"), &job)?;
        }
        let centers = json!({ "job": job["job"], "table": "centers" });
        let found = self.operation("/one:result", &centers)?["json"].take();
        ensure!(found.as_array().is_some_and(|rows| !rows.is_empty()), "a job of ours found no centres");
        let first = self.centers.get_or_insert_with(|| found.clone());
        ensure!(*first == found, "a wrong result of ours: other centres than those of the job before");
        Ok(seconds * 1e3)
    }
}
