//! axum: does what `lehr serve` does for two requests, without anything else. It serves the same document in the same
//! format under the same paths. One request returns the state of records as JSON. The other replaces one record and
//! returns the previous one.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, HeaderName};
use axum::routing::{get, post};
use axum::{Json, Router};
use lehr_service_peers::{Answer, Job, pin, serve, tokio_runtime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

#[derive(Default, Serialize)]
struct Records {
    records: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Put {
    key: String,
    value: Value,
}

type Shared = Arc<Mutex<Records>>;

async fn state(State(shared): State<Shared>) -> ([(HeaderName, &'static str); 1], Vec<u8>) {
    // The document is serialised under the lock, since it is small, and this is faster than copying it.
    let body = serde_json::to_vec(&*shared.lock().expect("no handler panics")).expect("records are JSON");
    ([(CONTENT_TYPE, "application/json")], body)
}

async fn upsert(State(shared): State<Shared>, Json(Put { key, value }): Json<Put>) -> Json<()> {
    shared.lock().expect("no handler panics").records.insert(key, value);
    Json(())
}

async fn update(State(shared): State<Shared>, Json(Put { key, value }): Json<Put>) -> Result<Json<Value>, StatusCode> {
    let mut shared = shared.lock().expect("no handler panics");
    let record = shared.records.get_mut(&key).ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(std::mem::replace(record, value)))
}

/// A running server, which ends when this is dropped.
struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(workers: usize, core: Option<usize>) -> (Self, SocketAddr) {
        let (stop, stopped) = oneshot::channel();
        let (bound, address) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            if let Some(core) = core {
                // The thread is pinned before the runtime starts its threads, which inherit this.
                pin(core);
            }
            tokio_runtime(workers).block_on(async {
                let routes = Router::new()
                    .route("/records", get(state))
                    .route("/records:upsert", post(upsert))
                    .route("/records:update", post(update))
                    .with_state(Shared::default());
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
                bound.send(listener.local_addr().expect("bound")).expect("the runner waits");
                let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
                    let _ = stream.set_nodelay(true);
                });
                tokio::select! {
                    served = axum::serve(listener, routes) => served.expect("it serves until it is stopped"),
                    _ = stopped => {}
                }
            });
        });
        let address = address.recv().expect("the server listens");
        (Self { stop: Some(stop), thread: Some(thread) }, address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn main() {
    let mut running: Option<Server> = None;
    serve(&["axum", "hyper", "tokio"], &["axum"], |_, job| match job {
        Job::Serve { workers, core } => {
            drop(running.take());
            let (server, address) = Server::start(workers, core);
            running = Some(server);
            Answer::Address(address)
        }
        _ => Answer::Absent,
    });
}
