//! `lab/definitions/services/services.json`: the cases and their sizes; `papers.json`: the papers' figures for
//! comparison.

use serde::Deserialize;

/// The definition in the form of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few cases that take under two minutes.
    pub quick: Definition,
    /// The goals.
    pub aims: Aims,
}

/// The upper limits of our time divided by the other's time.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Aims {
    /// The limit for a message in this process, against the fastest peer.
    pub messages: f64,
    /// The limit for a request over HTTP, against the bare handler.
    pub http: f64,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds, unless the command line gives another.
    pub rounds: usize,
    /// The numbers of messages in a group.
    pub groups: Vec<usize>,
    /// The approximate number of messages in a sample of warm groups.
    pub messages_of_a_sample: usize,
    /// The histogram of the papers.
    pub histogram: Histogram,
    /// The closed loop, in which each connection sends its next request after a response.
    pub closed: Closed,
    /// The open loop, in which requests follow a clock.
    pub open: Open,
    /// Subscribers during requests.
    pub listeners: Listeners,
    /// Two services that compute.
    pub neighbours: Neighbours,
    /// Two services whose jobs compute.
    pub clusterings: Clusterings,
}

/// A number of groups of equal size.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Histogram {
    /// The number of messages in a group.
    pub group: usize,
    /// The number of groups.
    pub groups: usize,
}

/// A closed loop.
#[derive(Clone, Debug, Deserialize)]
pub struct Closed {
    /// The numbers of connections.
    pub connections: Vec<usize>,
    /// The length of a sample in seconds.
    pub seconds: f64,
}

/// An open loop.
#[derive(Clone, Debug, Deserialize)]
pub struct Open {
    /// The number of connections.
    pub connections: usize,
    /// The requests a second of all connections together.
    pub rates: Vec<usize>,
    /// The length of a sample in seconds.
    pub seconds: f64,
}

/// Subscribers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Listeners {
    /// The number of subscribers beside requests, one of which may be slow.
    pub few: usize,
    /// The number of subscribers whose memory is measured.
    pub many: usize,
    /// The length of a sample in seconds.
    pub seconds: f64,
}

/// Computing services.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Neighbours {
    /// The number of units of computation of a request.
    pub units: u32,
    /// The number of requests of a sample.
    pub requests: usize,
}

/// Clusterings as jobs.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Clusterings {
    /// The number of rows of the data.
    pub rows: usize,
    /// The number of clusters of a job.
    pub clusters: usize,
    /// The approximate seconds of a job that has its core for itself, for the plan.
    pub seconds: f64,
}

impl Definition {
    /// Returns the number of groups of a sample, so that it has about the intended number of messages.
    pub fn warm_groups(&self, group: usize) -> usize {
        (self.messages_of_a_sample / group).clamp(4, 500)
    }
}

/// The measurements of the papers, for readers of a table.
#[derive(Clone, Debug, Deserialize)]
pub struct Papers {
    /// The rows, one for each figure.
    pub rows: Vec<Paper>,
}

/// A figure of a paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Paper {
    /// The number of the paper and of the figure.
    pub figure: String,
    /// The measured quantity.
    pub what: String,
    /// The machine of the measurement.
    pub machine: String,
    /// The minimum and maximum of the messages a second.
    pub messages_a_second: [f64; 2],
    /// The minimum and maximum of the microseconds for each message.
    pub us: [f64; 2],
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/services/services.json")).expect("checked by a test")
}

/// Returns the papers' figures, which are compiled in.
///
/// # Panics
/// Panics in the same cases as [`file()`].
pub fn papers() -> Papers {
    serde_json::from_str(include_str!("../../../definitions/services/papers.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_are_those_that_were_asked_for() {
        let File { full, quick, aims } = file();
        assert_eq!((full.groups.first(), full.groups.last()), (Some(&1), Some(&10_000)));
        assert_eq!((full.histogram.group, full.histogram.groups), (200, 30));
        assert_eq!((full.closed.connections.first(), full.closed.connections.last()), (Some(&1), Some(&64)));
        assert_eq!(full.listeners.many, 1000);
        assert!(full.clusterings.rows > quick.clusterings.rows);
        // The goal is 80 % of the bare handler's requests a second.
        assert_eq!(1.0 / aims.http, 0.8);
        assert!(quick.groups.iter().all(|group| full.groups.contains(group)));
        assert!(quick.closed.connections.iter().all(|connections| full.closed.connections.contains(connections)));
    }

    #[test]
    fn the_papers_rates_and_times_are_the_same_thing() {
        for Paper { figure, messages_a_second: [least, most], us: [shortest, longest], .. } in papers().rows {
            assert!(least <= most && shortest <= longest, "{figure}");
            // Some papers round, and one gives a wider range for the time.
            assert!((1e6 / most) / shortest < 1.4 && (1e6 / least) / longest < 1.1, "{figure}");
        }
    }

    #[test]
    fn samples_of_large_groups_are_not_empty_and_of_small_ones_not_endless() {
        let definition = file().full;
        assert_eq!([1, 200, 1_000_000].map(|group| definition.warm_groups(group)), [500, 100, 4]);
    }
}
