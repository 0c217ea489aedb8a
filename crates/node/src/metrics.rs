//! What the services of a node have counted, in Prometheus's text format.

use std::fmt::Write as _;

use lehr_services::{Counts, Info};

/// The media type of the format.
pub(crate) const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A counter: its name, what it counts, and where it stands.
type Counter = (&'static str, &'static str, fn(&Counts) -> u64);

/// The counters of each service.
const COUNTERS: [Counter; 5] = [
    ("lehr_requests_total", "Requests whose handler has ended.", |counts| counts.handled),
    ("lehr_faults_total", "Requests that were answered with a fault.", |counts| counts.faults),
    ("lehr_panics_total", "Handlers that panicked.", |counts| counts.panics),
    ("lehr_late_answers_total", "Answers that nobody waited for any more.", |counts| counts.late),
    ("lehr_repeated_requests_total", "Requests answered from memory, by their key.", |counts| counts.repeated),
];

/// The page of metrics. Paths of services need no escaping: they have no quotes and no backslashes.
pub(crate) fn text(infos: impl Iterator<Item = Info>) -> String {
    let infos: Vec<Info> = infos.collect();
    let mut page = String::new();
    // Writing to a string does not fail.
    for (name, help, value) in COUNTERS {
        let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} counter\n");
        for info in &infos {
            let _ = writeln!(page, "{name}{{service=\"{}\"}} {}", info.path, value(&info.counts));
        }
    }
    let _ = write!(page, "# HELP lehr_subscribers Who hears of changes.\n# TYPE lehr_subscribers gauge\n");
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
    page
}
