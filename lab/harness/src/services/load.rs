//! Generates requests over HTTP/1.1. In the closed loop, each connection sends its next request after a response. In
//! the open loop, requests follow a clock, and their time includes the wait for a connection. Every answer is compared,
//! byte by byte, with the expected answer.
//!
//! The requests are operations of the records of `lehr serve`: getting the state, and replacing a record, whose answer
//! is the previous record.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use lehr_runtime::Builder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::measure::now;

/// The path of the service of records.
pub const PATH: &str = "/records";

/// The number of records in every measurement, so that the state has about 1.4 kB.
const RECORDS: usize = 16;

/// The text of a record, which also has a count.
const TEXT: &str = "sixteen records of some ninety bytes each are a small state";

/// The length of the warm-up of a load, as a share of the measured time.
const WARMING: f64 = 0.25;

/// The resolution of the timer of the generator's runtime; for the rest of a wait, the generator polls the clock.
const COARSE: Duration = Duration::from_micros(1500);

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gets the state.
    Get,
    /// Replaces a record.
    Post,
}

impl Kind {
    /// Returns the name of the kind in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET state",
            Self::Post => "POST operation",
        }
    }
}

/// The subscribers during the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Listening {
    /// The number of subscribers that read every event.
    pub reading: usize,
    /// The number of subscribers that read no event.
    pub silent: usize,
}

/// A load of requests.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The address of the server.
    pub address: SocketAddr,
    /// The kind of the requests.
    pub kind: Kind,
    /// The number of connections.
    pub connections: usize,
    /// The requests a second of all connections together, for the open loop.
    pub rate: Option<f64>,
    /// The measured seconds.
    pub seconds: f64,
    /// The subscribers.
    pub listening: Listening,
}

/// The result of a load.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The seconds from the first measured request to the last answer.
    pub seconds: f64,
    /// The nanoseconds from when each request was due to its answer, in ascending order.
    nanoseconds: Vec<u64>,
    /// The last state that was received, to compare servers.
    pub state: Bytes,
}

impl Heard {
    /// Returns the microseconds for each request: the whole time divided by all requests.
    pub fn us_a_request(&self) -> f64 {
        self.seconds * 1e6 / self.nanoseconds.len() as f64
    }

    /// Returns the number of measured requests.
    pub fn requests(&self) -> usize {
        self.nanoseconds.len()
    }

    /// Returns the quantile of the requests' times for this share, in microseconds.
    pub fn quantile_us(&self, part: f64) -> f64 {
        let place = (part * self.nanoseconds.len() as f64).ceil() as usize;
        self.nanoseconds[place.clamp(1, self.nanoseconds.len()) - 1] as f64 * 1e-3
    }
}

/// Runs a load on the calling thread.
///
/// # Errors
/// Returns an error if an answer is wrong, or if a connection has ended.
pub fn run(load: &Load) -> Result<Heard> {
    run_and(load, || ())
}

/// Runs a load, and calls `look` at its end, while the connections are still open.
///
/// # Errors
/// Returns the errors of [`run`].
pub fn run_and(load: &Load, look: impl FnOnce()) -> Result<Heard> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    runtime.block_on(measure(load, look))
}

/// Runs a load on a thread that is bound to a core.
///
/// # Errors
/// Returns the errors of [`run`], and an error if the thread cannot be bound to the core.
pub fn run_on_core(load: &Load, core: usize) -> Result<Heard> {
    let dispatcher = Builder::new().threads(1).cores([core]).start()?;
    dispatcher.handle().install(|| run(load))
}

async fn measure(load: &Load, look: impl FnOnce()) -> Result<Heard> {
    let mut first = connect(load.address).await?;
    for number in 0..RECORDS {
        upsert(&mut first, load.address, &format!("record-{number}")).await?;
    }
    let mut askers = Vec::with_capacity(load.connections);
    for number in 0..load.connections {
        let mut sender = connect(load.address).await?;
        let key = format!("record-{number}");
        upsert(&mut sender, load.address, &key).await?;
        let state = Bytes::new();
        askers.push(Asker { sender, address: load.address, kind: load.kind, key, count: 0, state });
    }
    let state = get(&mut first, load.address).await?;
    let mut listeners = listen(load).await?;
    let begin = now() + Duration::from_secs_f64(WARMING * load.seconds);
    let end = begin + Duration::from_secs_f64(load.seconds);
    let mut tasks = JoinSet::new();
    for (number, mut asker) in askers.into_iter().enumerate() {
        asker.state = state.clone();
        let every = load.rate.map(|rate| Duration::from_secs_f64(load.connections as f64 / rate));
        let offset = every.map_or(Duration::ZERO, |every| every.mul_f64(number as f64 / load.connections as f64));
        tasks.spawn(async move {
            match every {
                None => asker.closed(begin, end).await,
                Some(every) => asker.open(begin, end, offset, every).await,
            }
        });
    }
    let (mut nanoseconds, mut last) = (Vec::new(), begin);
    while let Some(asked) = tasks.join_next().await {
        let (times, ended) = asked??;
        nanoseconds.extend(times);
        last = last.max(ended);
    }
    nanoseconds.sort_unstable();
    look();
    // The server has disconnected every subscriber that has ended by now, although it reads.
    while let Some(ended) = listeners.try_join_next() {
        ended??;
    }
    drop(listeners);
    let state = get(&mut first, load.address).await?;
    Ok(Heard { seconds: (last - begin).as_secs_f64(), nanoseconds, state })
}

async fn connect(address: SocketAddr) -> Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(address).await.with_context(|| format!("cannot connect to {address}"))?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    // If the connection ends, its requests fail.
    tokio::spawn(connection);
    Ok(sender)
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) -> Result<Bytes> {
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    ensure!(status == StatusCode::OK, "answered {status}: {}", String::from_utf8_lossy(&body));
    Ok(body)
}

fn request(method: Method, address: SocketAddr, path: &str, body: String) -> Result<Request<Full<Bytes>>> {
    let builder = Request::builder().method(method).uri(path).header(HOST, address.to_string());
    let builder = if body.is_empty() { builder } else { builder.header(CONTENT_TYPE, "application/json") };
    Ok(builder.body(Full::new(Bytes::from(body)))?)
}

async fn get(sender: &mut SendRequest<Full<Bytes>>, address: SocketAddr) -> Result<Bytes> {
    ask(sender, request(Method::GET, address, PATH, String::new())?).await
}

/// Returns a record as both servers write it.
fn record(count: usize) -> String {
    format!("{{\"count\":{count},\"text\":\"{TEXT}\"}}")
}

fn put(key: &str, count: usize) -> String {
    format!("{{\"key\":\"{key}\",\"value\":{}}}", record(count))
}

async fn upsert(sender: &mut SendRequest<Full<Bytes>>, address: SocketAddr, key: &str) -> Result<()> {
    let done = ask(sender, request(Method::POST, address, &format!("{PATH}:upsert"), put(key, 0))?).await?;
    ensure!(done == "null", "an upsert was answered {}", String::from_utf8_lossy(&done));
    Ok(())
}

/// A connection, and the answers that it must get.
struct Asker {
    sender: SendRequest<Full<Bytes>>,
    address: SocketAddr,
    kind: Kind,
    key: String,
    count: usize,
    state: Bytes,
}

impl Asker {
    async fn once(&mut self) -> Result<()> {
        let (answered, expected) = match self.kind {
            Kind::Get => (get(&mut self.sender, self.address).await?, self.state.clone()),
            Kind::Post => {
                let body = put(&self.key, self.count + 1);
                let request = request(Method::POST, self.address, &format!("{PATH}:update"), body)?;
                let answered = ask(&mut self.sender, request).await?;
                self.count += 1;
                (answered, Bytes::from(record(self.count - 1)))
            }
        };
        ensure!(
            answered == expected,
            "answered {:?}, expected {:?}",
            String::from_utf8_lossy(&answered),
            String::from_utf8_lossy(&expected)
        );
        Ok(())
    }

    async fn closed(mut self, begin: Instant, end: Instant) -> Result<(Vec<u64>, Instant)> {
        let mut times = Vec::new();
        loop {
            let start = now();
            // At least one request is measured, however busy the machine is.
            if start >= end && !times.is_empty() {
                return Ok((times, start));
            }
            self.once().await?;
            if start >= begin {
                times.push(nanoseconds(start));
            }
        }
    }

    async fn open(
        mut self,
        begin: Instant,
        end: Instant,
        offset: Duration,
        every: Duration,
    ) -> Result<(Vec<u64>, Instant)> {
        let mut times = Vec::new();
        // The warm-up makes as many requests as fit into its time.
        let mut due = now() + offset;
        // At least one request is measured, however busy the machine is.
        while due < end || times.is_empty() {
            wait_until(due).await;
            self.once().await?;
            if due >= begin {
                times.push(nanoseconds(due));
            }
            due += every;
        }
        Ok((times, now()))
    }
}

fn nanoseconds(since: Instant) -> u64 {
    u64::try_from(now().saturating_duration_since(since).as_nanos()).unwrap_or(u64::MAX)
}

async fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(now());
        if left.is_zero() {
            return;
        }
        if left > COARSE {
            tokio::time::sleep(left - COARSE).await;
        } else {
            tokio::task::yield_now().await;
        }
    }
}

/// Subscribes, and spawns tasks that read the events, or that hold the connection and read nothing.
async fn listen(load: &Load) -> Result<JoinSet<Result<()>>> {
    let mut listeners = JoinSet::new();
    let Listening { reading, silent } = load.listening;
    for number in 0..reading + silent {
        let mut stream = TcpStream::connect(load.address).await?;
        let request = format!("GET {PATH}:events HTTP/1.1\r\nHost: {}\r\n\r\n", load.address);
        stream.write_all(request.as_bytes()).await?;
        let mut room = [0; 16 << 10];
        // After the seed, the subscriber gets every change.
        let count = stream.read(&mut room).await?;
        ensure!(room[..count].starts_with(b"HTTP/1.1 200"), "a subscription was refused");
        listeners.spawn(async move {
            if number >= reading {
                return std::future::pending().await;
            }
            loop {
                let mut room = [0; 16 << 10];
                ensure!(stream.read(&mut room).await? > 0, "a subscription ended");
            }
        });
    }
    Ok(listeners)
}

#[cfg(test)]
mod tests {
    use lehr_node::{Node, Records, Settings};
    use lehr_runtime::{Dispatcher, block_on};
    use lehr_services::Host;

    use super::*;

    /// Runs `work` with a node that has records.
    fn served<T>(work: impl FnOnce(SocketAddr) -> T) -> T {
        let dispatcher = Dispatcher::new(2).unwrap();
        let host = Host::new(dispatcher.handle());
        block_on(host.start(PATH, Records::default)).unwrap();
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        let node = Node::start(host, settings).unwrap();
        work(node.address())
    }

    fn load(address: SocketAddr, kind: Kind, rate: Option<f64>) -> Load {
        Load { address, kind, connections: 3, rate, seconds: 0.02, listening: Listening { reading: 2, silent: 1 } }
    }

    #[test]
    fn both_loops_have_right_answers_and_ordered_quantiles() {
        served(|address| {
            for kind in [Kind::Get, Kind::Post] {
                for rate in [None, Some(500.0)] {
                    let heard = run(&load(address, kind, rate)).unwrap();
                    assert!(heard.requests() >= 3 && heard.us_a_request() > 0.0);
                    let [half, most] = [0.5, 1.0].map(|part| heard.quantile_us(part));
                    assert!(0.0 < half && half <= most);
                    assert!(heard.state.starts_with(b"{\"records\":{\"record-0\":{\"count\":"));
                }
            }
        });
    }

    #[test]
    fn a_server_without_records_is_no_measurement() {
        let dispatcher = Dispatcher::new(1).unwrap();
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        let node = Node::start(Host::new(dispatcher.handle()), settings).unwrap();
        let error = run(&load(node.address(), Kind::Post, None)).unwrap_err();
        assert!(format!("{error:#}").contains("404"), "{error:#}");
    }

    #[test]
    fn a_quantile_is_the_time_that_so_many_took_at_most() {
        let heard = Heard { seconds: 1.0, nanoseconds: (1..=1000).map(|us| us * 1000).collect(), state: Bytes::new() };
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(|part| heard.quantile_us(part)), [500.0, 990.0, 999.0, 1000.0]);
        assert_eq!(heard.us_a_request(), 1000.0);
    }
}
