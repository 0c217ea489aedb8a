//! The metrics of a node and its services, in Prometheus's text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use hyper::StatusCode;
use lehr_services::{Counts, Endpoint, Info, Measure};
use lehr_sync::Count;

use crate::edge::Edge;

/// The media type of the format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A counter: its name, its meaning, and its value.
type Counter = (&'static str, &'static str, fn(&Counts) -> u64);

/// The counters of each service.
const COUNTERS: [Counter; 5] = [
    ("lehr_requests_total", "Requests whose handler has ended.", |counts| counts.handled),
    ("lehr_faults_total", "Requests that were answered with a fault.", |counts| counts.faults),
    ("lehr_panics_total", "Handlers that panicked.", |counts| counts.panics),
    ("lehr_late_answers_total", "Answers whose client had stopped waiting.", |counts| counts.late),
    ("lehr_repeated_requests_total", "Requests answered from memory, by their key.", |counts| counts.repeated),
];

/// The bounds of the histogram of durations, in milliseconds.
const BOUNDS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 1000, 5000, 30_000, 300_000];

/// The counts of the network edge's answers.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// The number of answers by the first digit of the status.
    statuses: [Count; 6],
    /// The number of answers by duration: longer than the previous bound, and at most this bound. The last entry counts
    /// the answers that took longer than all bounds.
    within: [Count; BOUNDS.len() + 1],
    microseconds: Count,
}

impl Traffic {
    pub(crate) fn count(&self, status: StatusCode, took: Duration) {
        self.statuses[usize::from(status.as_u16() / 100).min(5)].add(1);
        let bound = BOUNDS.iter().position(|bound| took <= Duration::from_millis(*bound)).unwrap_or(BOUNDS.len());
        self.within[bound].add(1);
        self.microseconds.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    fn write(&self, page: &mut String) {
        let name = "lehr_http_responses_total";
        let _ = write!(page, "# HELP {name} Answers by the kind of their status.\n# TYPE {name} counter\n");
        for (digit, count) in self.statuses.iter().enumerate().skip(1) {
            let _ = writeln!(page, "{name}{{status=\"{digit}xx\"}} {}", count.get());
        }
        let name = "lehr_http_request_duration_seconds";
        let help = "From the head of a request to the head of its answer";
        let _ = write!(page, "# HELP {name} {help}.\n# TYPE {name} histogram\n");
        let mut all = 0;
        for (bound, count) in BOUNDS.iter().zip(&self.within) {
            all += count.get();
            let _ = writeln!(page, "{name}_bucket{{le=\"{}\"}} {all}", *bound as f64 / 1e3);
        }
        all += self.within[BOUNDS.len()].get();
        let seconds = self.microseconds.get() as f64 / 1e6;
        let _ = writeln!(page, "{name}_bucket{{le=\"+Inf\"}} {all}\n{name}_sum {seconds}\n{name}_count {all}");
    }
}

/// Returns the memory of the process in bytes, if the system reports it in a file.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Returns the page of metrics. Paths of services need no escaping, because they contain no quotes and no backslashes.
pub(crate) fn text(edge: &Edge, endpoints: &[Endpoint]) -> String {
    let infos: Vec<Info> = endpoints.iter().map(Endpoint::info).collect();
    let mut page = String::new();
    edge.traffic.write(&mut page);
    let (requests, subscriptions) = edge.in_flight();
    let gauges = [
        ("lehr_connections", "Connections that are open.", Some(edge.connections.count() as u64)),
        ("lehr_requests_in_flight", "Requests that are being answered.", Some(requests as u64)),
        ("lehr_subscriptions", "Subscriptions that are open.", Some(subscriptions as u64)),
        ("lehr_unsent_bytes", "Bytes of answers that clients have not taken.", Some(edge.unsent.bytes() as u64)),
        ("process_resident_memory_bytes", "Memory of the process.", memory()),
    ];
    for (name, help, value) in gauges.into_iter().filter_map(|(name, help, value)| Some((name, help, value?))) {
        let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
    // Writing to a string cannot fail.
    if let Some(telemetry) = &edge.settings.telemetry {
        let name = "lehr_telemetry_spans_total";
        let help = "Spans for the collector: sent, dropped because too many waited, or failed to be sent";
        let _ = write!(page, "# HELP {name} {help}.\n# TYPE {name} counter\n");
        for (outcome, spans) in telemetry.counts() {
            let _ = writeln!(page, "{name}{{outcome=\"{outcome}\"}} {spans}");
        }
    }
    for (name, help, value) in COUNTERS {
        let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} counter\n");
        for info in &infos {
            let _ = writeln!(page, "{name}{{service=\"{}\"}} {}", info.path, value(&info.counts));
        }
    }
    let _ = write!(page, "# HELP lehr_subscribers Subscribers to changes.\n# TYPE lehr_subscribers gauge\n");
    for info in &infos {
        let _ = writeln!(page, "lehr_subscribers{{service=\"{}\"}} {}", info.path, info.subscribers);
    }
    let _ = write!(page, "# HELP lehr_waiting_requests Requests that wait.\n# TYPE lehr_waiting_requests gauge\n");
    for info in &infos {
        for waiting in &info.waiting {
            let (operation, verb, requests) = (&waiting.operation, waiting.verb, waiting.requests);
            let labels = format!("service=\"{}\",operation=\"{operation}\",verb=\"{verb}\"", info.path);
            let _ = writeln!(page, "lehr_waiting_requests{{{labels}}} {requests}");
        }
    }
    measured(&mut page, endpoints);
    page
}

/// Writes the numbers that services report about themselves. Numbers with the same name are grouped over all services.
fn measured(page: &mut String, endpoints: &[Endpoint]) {
    let mut lines: BTreeMap<Measure, Vec<String>> = BTreeMap::new();
    for endpoint in endpoints {
        let path = endpoint.info().path;
        for (measure, label, value) in endpoint.measures().all() {
            let label = label.map_or(String::new(), |(name, value)| format!(",{name}=\"{value}\""));
            let line = format!("{}{{service=\"{path}\"{label}}} {value}", measure.name);
            lines.entry(measure).or_default().push(line);
        }
    }
    for (Measure { name, help, is_counter }, lines) in lines {
        let kind = if is_counter { "counter" } else { "gauge" };
        let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for line in lines {
            let _ = writeln!(page, "{line}");
        }
    }
}
