//! `lab/definitions/services/services.json`: the cases and their sizes; `papers.json`: what stands beside them.

use serde::Deserialize;

/// The definition as its file has it.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few cases in under two minutes.
    pub quick: Definition,
    /// What is aimed at.
    pub aims: Aims,
}

/// Ours over theirs, at most.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Aims {
    /// A message in this process, against the fastest peer.
    pub messages: f64,
    /// A request over HTTP, against the bare handler.
    pub http: f64,
}

/// One size.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds, unless the command line says otherwise.
    pub rounds: usize,
    /// Messages of a group.
    pub groups: Vec<usize>,
    /// A sample of warm groups has about so many messages.
    pub messages_of_a_sample: usize,
    /// The papers' histogram.
    pub histogram: Histogram,
    /// Connections that each ask again when they are answered.
    pub closed: Closed,
    /// Requests that come by a clock.
    pub open: Open,
    /// Subscribers beside requests.
    pub listeners: Listeners,
    /// Two services that compute.
    pub neighbours: Neighbours,
    /// Two services whose jobs compute.
    pub clusterings: Clusterings,
}

/// So many groups of so many messages.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Histogram {
    /// Messages of a group.
    pub group: usize,
    /// Groups.
    pub groups: usize,
}

/// A closed loop.
#[derive(Clone, Debug, Deserialize)]
pub struct Closed {
    /// How many connections.
    pub connections: Vec<usize>,
    /// How long a sample lasts.
    pub seconds: f64,
}

/// An open loop.
#[derive(Clone, Debug, Deserialize)]
pub struct Open {
    /// How many connections.
    pub connections: usize,
    /// Requests a second, of all connections together.
    pub rates: Vec<usize>,
    /// How long a sample lasts.
    pub seconds: f64,
}

/// Subscribers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Listeners {
    /// So many, one of which may be slow.
    pub few: usize,
    /// So many for the memory that they take.
    pub many: usize,
    /// How long a sample lasts.
    pub seconds: f64,
}

/// Computing services.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Neighbours {
    /// Units of computation of a request.
    pub units: u32,
    /// Requests of a sample.
    pub requests: usize,
}

/// Clusterings as jobs.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Clusterings {
    /// Rows of the data.
    pub rows: usize,
    /// Clusters of a job.
    pub clusters: usize,
    /// About how long a job takes that has its core for itself, for the plan.
    pub seconds: f64,
}

impl Definition {
    /// Groups of a sample, so that it has about as many messages as it is to have.
    pub fn warm_groups(&self, group: usize) -> usize {
        (self.messages_of_a_sample / group).clamp(4, 500)
    }
}

/// What the papers measured, for the reader of a table.
#[derive(Clone, Debug, Deserialize)]
pub struct Papers {
    /// A figure each.
    pub rows: Vec<Paper>,
}

/// A figure of a paper.
#[derive(Clone, Debug, Deserialize)]
pub struct Paper {
    /// Paper and figure.
    pub figure: String,
    /// What was measured.
    pub what: String,
    /// On what.
    pub machine: String,
    /// Messages a second, least and most.
    pub messages_a_second: [f64; 2],
    /// Microseconds a message, least and most.
    pub us: [f64; 2],
}

/// The definition as it is compiled in, so that the command needs no folder.
///
/// # Panics
/// If the file is no definition, which a test would have found.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/services/services.json")).expect("checked by a test")
}

/// The papers' figures, as they are compiled in.
///
/// # Panics
/// As [`file()`].
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
        // 80 % of the bare handler's requests a second.
        assert_eq!(1.0 / aims.http, 0.8);
        assert!(quick.groups.iter().all(|group| full.groups.contains(group)));
        assert!(quick.closed.connections.iter().all(|connections| full.closed.connections.contains(connections)));
    }

    #[test]
    fn the_papers_rates_and_times_are_the_same_thing() {
        for Paper { figure, messages_a_second: [least, most], us: [shortest, longest], .. } in papers().rows {
            assert!(least <= most && shortest <= longest, "{figure}");
            // Some of the papers round, and one gives a wider band for the time.
            assert!((1e6 / most) / shortest < 1.4 && (1e6 / least) / longest < 1.1, "{figure}");
        }
    }

    #[test]
    fn samples_of_large_groups_are_not_empty_and_of_small_ones_not_endless() {
        let definition = file().full;
        assert_eq!([1, 200, 1_000_000].map(|group| definition.warm_groups(group)), [500, 100, 4]);
    }
}
