//! The log of a node: lines of JSON that pass the filters. There is a line for each request. Refused connections,
//! failed TLS handshakes, changed certificates and lost spans get lines too. You can change the filters while the node
//! runs.
//!
//! Only the operator of the node gets the log. The log contains texts of faults that clients and state documents don't
//! get. The log never contains tokens, bodies or the query string of a URL. The service `/log` also shows the latest
//! lines, but without these texts.

use std::collections::VecDeque;
use std::fmt;

use lehr_services::{Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Operation, Service, Version};
use lehr_sync::{Arc, Moment, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The path of the service for the filters of a node's log.
pub const LOG: &str = "/log";

/// The level of a line.
///
/// # Example
/// ```
/// use lehr_node::Level;
/// assert!(Level::Error < Level::Debug);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// No lines.
    Off,
    /// The node failed to answer a request.
    Error,
    /// A request was refused.
    Warn,
    /// A request was answered.
    Info,
    /// A request that watches the node was answered: a health check, metrics, a look of the inspector, lines of the log.
    Debug,
}

const LEVELS: [(&str, Level); 5] = [
    ("off", Level::Off),
    ("error", Level::Error),
    ("warn", Level::Warn),
    ("info", Level::Info),
    ("debug", Level::Debug),
];

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = LEVELS.iter().find(|(_, level)| level == self).map_or("off", |(name, _)| name);
        formatter.write_str(name)
    }
}

type Sink = dyn Fn(&str) + Send + Sync;

/// Lines of JSON, filtered by path and contract. Cheap to clone: clones share the filters and the sink.
///
/// Filters are separated by commas. A level alone (`warn`) applies to everything, `/path=level` to a service and the
/// services below it, `contract=level` to all services with that contract. The filter with the longest path takes
/// precedence, then the filter of the contract, then the level alone. Anything to which no filter applies has the level
/// `off`.
///
/// # Example
/// ```
/// use lehr_node::Log;
/// let log = Log::new("warn,/jobs=debug,lehr/directory=off", |_line| ()).unwrap();
/// assert_eq!(log.filters(), "warn,/jobs=debug,lehr/directory=off");
/// assert_eq!(
///     log.filter("loud").unwrap_err().reason(),
///     "filter \"loud\": expected off, error, warn, info or debug"
/// );
/// ```
#[derive(Clone)]
pub struct Log {
    filters: Arc<Mutex<Filters>>,
    recent: Arc<Mutex<Recent>>,
    sink: Arc<Sink>,
}

/// The most lines that [`Tail`] can show, and the most bytes of these lines.
const RECENT_MAX: usize = 500;
const RECENT_BYTES: usize = 1 << 18;

/// The latest lines, without the texts that only the operator gets.
#[derive(Debug, Default)]
struct Recent {
    lines: VecDeque<Kept>,
    bytes: usize,
    /// The number of lines that have been dropped, which is also the number of the first line here.
    dropped: u64,
}

#[derive(Debug)]
struct Kept {
    at: Moment,
    fields: Map<String, Value>,
    /// The length of the line as text.
    bytes: usize,
}

impl Recent {
    fn add(&mut self, fields: Map<String, Value>, bytes: usize) {
        self.bytes += bytes;
        self.lines.push_back(Kept { at: Moment::now(), fields, bytes });
        while self.lines.len() > RECENT_MAX || self.bytes > RECENT_BYTES {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.bytes;
            self.dropped += 1;
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Log").field("filters", &self.filters()).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default)]
struct Filters {
    text: String,
    rest: Option<Level>,
    paths: Vec<(String, Level)>,
    contracts: Vec<(String, Level)>,
}

impl Filters {
    fn read(text: &str) -> Result<Self, Fault> {
        let mut filters = Self { text: text.to_owned(), ..Self::default() };
        let mut faults = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (what, level) = part.rsplit_once('=').map_or((None, part), |(what, level)| (Some(what.trim()), level));
            let found = LEVELS.iter().find(|(name, _)| *name == level.trim()).map(|(_, level)| *level);
            let Some(level) = found else {
                faults.push(format!("filter {part:?}: expected off, error, warn, info or debug"));
                continue;
            };
            match what {
                None if filters.rest.replace(level).is_some() => {
                    faults.push(format!("filter {part:?}: it is the second one for everything"))
                }
                None => {}
                Some("") => faults.push(format!("filter {part:?}: expected a path or a contract before \"=\"")),
                Some(path) if path.starts_with('/') => {
                    filters.paths.push((path.trim_end_matches('/').to_owned(), level));
                }
                Some(contract) => filters.contracts.push((contract.to_owned(), level)),
            }
        }
        // Longest path first.
        filters.paths.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        if faults.is_empty() { Ok(filters) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }

    fn level(&self, path: &str, contract: &str) -> Level {
        let below = |prefix: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        };
        let path = self.paths.iter().find(|(prefix, _)| below(prefix));
        let found = path.or_else(|| self.contracts.iter().find(|(name, _)| name == contract));
        found.map(|(_, level)| *level).or(self.rest).unwrap_or(Level::Off)
    }
}

impl Log {
    /// Creates a log: lines that pass these filters go to `sink`, one at a time, without a line break.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] with every invalid filter.
    ///
    /// # Example
    /// See [`Log`].
    pub fn new(filters: &str, sink: impl Fn(&str) + Send + Sync + 'static) -> Result<Self, Fault> {
        let log = Self { filters: Arc::default(), recent: Arc::default(), sink: Arc::new(sink) };
        log.filter(filters)?;
        Ok(log)
    }

    /// Replaces the filters, for every line from now on.
    ///
    /// # Errors
    /// Returns the same errors as [`new`](Self::new); then the earlier filters stay.
    ///
    /// # Example
    /// See [`Log`].
    pub fn filter(&self, filters: &str) -> Result<(), Fault> {
        let read = Filters::read(filters)?;
        *self.filters.lock() = read;
        Ok(())
    }

    /// Returns the filters as they were given.
    ///
    /// # Example
    /// See [`Log`].
    pub fn filters(&self) -> String {
        self.filters.lock().text.clone()
    }

    /// Writes a line if it passes the filters. Its fields are computed only then.
    pub(crate) fn line(&self, level: Level, path: &str, contract: &str, fields: impl FnOnce() -> Map<String, Value>) {
        let wanted = self.filters.lock().level(path, contract);
        if level == Level::Off || level > wanted {
            return;
        }
        let mut line = Map::new();
        line.insert("level".to_owned(), Value::from(level.to_string()));
        if !path.is_empty() {
            line.insert("path".to_owned(), Value::from(path));
        }
        if !contract.is_empty() {
            line.insert("contract".to_owned(), Value::from(contract));
        }
        line.extend(fields().into_iter().filter(|(_, value)| !value.is_null()));
        let text = serde_json::to_string(&line).expect("texts and numbers");
        (self.sink)(&text);
        line.remove("log");
        self.recent.lock().add(line, text.len());
    }

    /// Returns the latest lines, beginning with the line that has the number `from`.
    fn tail(&self, from: u64) -> Lines {
        let recent = self.recent.lock();
        let skipped = usize::try_from(from.saturating_sub(recent.dropped)).unwrap_or(usize::MAX);
        let lines = recent.lines.iter().enumerate().skip(skipped).map(|(place, Kept { at, fields, .. })| Line {
            number: recent.dropped + place as u64,
            age_ms: u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX),
            fields: fields.clone(),
        });
        Lines { lines: lines.collect(), next: recent.dropped + recent.lines.len() as u64 }
    }
}

/// The log of a node as a service: read the filters with a get, change them with `filter`, read lines with `tail`.
///
/// # Example
/// ```
/// use lehr_node::{Filter, LOG, Log, Logging};
/// use lehr_services::{Fault, Host};
/// let log = Log::new("warn", |_line| ()).unwrap();
/// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let logging = Logging::new(log.clone());
///     let service = host.start(LOG, move || logging.clone()).await?;
///     service.call(Filter { filters: "info,/jobs=debug".to_owned() }).await?;
///     assert_eq!(log.filters(), "info,/jobs=debug");
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Logging {
    state: LogState,
    log: Log,
}

/// The filters of a node's log.
///
/// # Example
/// See [`Logging`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogState {
    /// The filters, as for [`Log`].
    pub filters: String,
}

impl Contract for LogState {
    const NAME: &'static str = "lehr/log";
    const VERSION: Version = Version::new(1, 0);
}

/// Replaces the filters.
///
/// # Example
/// See [`Logging`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = LogState, verb = Update, name = "filter")]
pub struct Filter {
    /// The filters, as for [`Log`].
    pub filters: String,
}

/// Asks for the latest lines that passed the filters, at most 500. The lines lack the field `log`, because only the
/// operator gets internal texts of faults.
///
/// # Example
/// ```
/// use lehr_node::{LOG, Log, Logging, Tail};
/// use lehr_services::{Fault, Host};
/// let log = Log::new("info", |_line| ()).unwrap();
/// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let service = host.start(LOG, move || Logging::new(log.clone())).await?;
///     let seen = service.call(Tail { from: 0 }).await?;
///     assert_eq!((seen.lines.len(), seen.next), (0, 0));
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(default, deny_unknown_fields)]
#[operation(contract = LogState, verb = Query, name = "tail", reply = Lines)]
pub struct Tail {
    /// The number of the first line to return. Lines are numbered from 0 since the node started. Default: 0.
    pub from: u64,
}

/// Lines of the log, as the answer to [`Tail`].
///
/// # Example
/// See [`Tail`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// The number of the next line that will be written: pass it as `from` to get only later lines.
    pub next: u64,
}

/// A line of the log.
///
/// # Example
/// See [`Tail`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The number of the line.
    pub number: u64,
    /// The time since the line was written, in milliseconds.
    pub age_ms: u64,
    /// The fields of the line, such as `level`, `path`, `status` and `reason`.
    pub fields: Map<String, Value>,
}

impl Logging {
    /// Creates the service for this log.
    ///
    /// # Example
    /// See [`Logging`].
    pub fn new(log: Log) -> Self {
        Self { state: LogState { filters: log.filters() }, log }
    }
}

impl Service for Logging {
    type Document = LogState;

    fn document(&self) -> &LogState {
        &self.state
    }

    fn document_mut(&mut self) -> &mut LogState {
        &mut self.state
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Filter>().concurrent::<Tail>().permanent();
    }
}

impl Concurrent<Tail> for Logging {
    async fn handle(&self, Tail { from }: Tail, _: &Call) -> Result<Lines, Fault> {
        Ok(self.log.tail(from))
    }
}

impl Exclusive<Filter> for Logging {
    async fn handle(&mut self, Filter { filters }: Filter, _: &Call) -> Result<(), Fault> {
        self.log.filter(&filters)?;
        self.state.filters = filters;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_lines_have_numbers_and_no_internal_texts() {
        let log = Log::new("info", |_| ()).unwrap();
        let write = |level, reason: &str| {
            let fields = [("reason", reason), ("log", "internal")].map(|(name, text)| (name.to_owned(), text.into()));
            log.line(level, "/a", "", || fields.into_iter().collect());
        };
        (0..RECENT_MAX + 3).for_each(|number| write(Level::Info, &number.to_string()));
        write(Level::Debug, "not wanted");
        let all = log.tail(0);
        assert_eq!((all.lines.len(), all.lines[0].number, all.next), (RECENT_MAX, 3, 503));
        let last = log.tail(502).lines;
        assert_eq!((last.len(), &last[0].fields["reason"]), (1, &Value::from("502")));
        assert!(
            !last[0].fields.contains_key("log")
                && log.tail(503).lines.is_empty()
                && log.tail(u64::MAX).lines.is_empty()
        );
        // Long lines use up the bytes before the number of lines.
        (0..6).for_each(|_| write(Level::Warn, &"x".repeat(RECENT_BYTES / 4)));
        assert_eq!((log.tail(0).lines.len(), log.tail(0).next), (3, 509));
    }

    #[test]
    fn the_longest_path_goes_before_the_contract_and_that_before_the_rest() {
        let filters = Filters::read("warn, /a=info, /a/b=off, lehr/jobs=debug").unwrap();
        let level = |path, contract| filters.level(path, contract);
        assert_eq!(
            [level("/a", ""), level("/a:get", "lehr/jobs"), level("/a/b/c", "")],
            [Level::Info, Level::Info, Level::Off]
        );
        assert_eq!([level("/ab", ""), level("/x", "lehr/jobs")], [Level::Warn, Level::Debug]);
        let fault = Filters::read("info,warn,=debug,/a=loud").unwrap_err();
        assert_eq!(fault.reason().matches("filter ").count(), 3, "{fault}");
    }
}
