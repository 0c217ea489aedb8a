//! The operations of a stage, and their names in requests, records and definitions.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The operation that all ranks do together in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// No operation: only the computation, which is subtracted to get overheads.
    None,
    /// Each rank sends to its right neighbour, on a ring.
    Shift,
    /// A right shift, then a left one.
    TwoShifts,
    /// Each rank sends to both neighbours and receives one message from each.
    Exchange,
    /// All ranks wait for all.
    Barrier,
    /// Rank 0 sends its numbers to all. Rank 0 may run ahead.
    Broadcast,
    /// Rank 0 gets the sum of all ranks' numbers. The other ranks may run ahead.
    Reduce,
    /// All ranks get the sum of all ranks' numbers.
    AllReduce,
}

/// The kind of a cell, which is the experiment of its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Experiment {
    /// Messages between neighbours.
    Patterns,
    /// Barrier, broadcast, reductions.
    Collectives,
    /// Messages between neighbours that are long enough for a rate.
    Arrays,
}

impl Operation {
    /// The computation alone, and the seven operations.
    pub const ALL: [Self; 8] = [
        Self::None,
        Self::Shift,
        Self::TwoShifts,
        Self::Exchange,
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::AllReduce,
    ];

    /// Returns the name of the operation in requests, records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Shift => "shift",
            Self::TwoShifts => "two-shifts",
            Self::Exchange => "exchange",
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::AllReduce => "all-reduce",
        }
    }

    /// Returns the operation of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == word)
    }

    /// Returns the number of messages that a rank receives from its neighbours.
    pub fn messages(self) -> usize {
        match self {
            Self::Shift => 1,
            Self::TwoShifts | Self::Exchange => 2,
            _ => 0,
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Experiment {
    /// Returns the name of the experiment in records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Patterns => "patterns",
            Self::Collectives => "collectives",
            Self::Arrays => "arrays",
        }
    }

    /// Returns the name of the experiment of rates, if this experiment has rates.
    pub fn rate(self) -> Option<&'static str> {
        (self == Self::Arrays).then_some("arrays rate")
    }
}

/// The work of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The operation of a stage.
    pub operation: Operation,
    /// The number of ranks.
    pub ranks: usize,
    /// The number of worker threads if ranks are tasks, otherwise the number of cores that the ranks may use.
    pub workers: usize,
    /// The length of a message in doubles, 8 bytes each.
    pub doubles: usize,
    /// The number of units of computation in a stage.
    pub units: u32,
    /// The number of stages.
    pub stages: usize,
}

impl Work {
    /// Returns the computation of this work without its messages, on as many ranks as compute at once, and how many
    /// times it fits into the work.
    pub fn computation(&self, cores: usize) -> (Self, f64) {
        let at_once = self.ranks.min(self.workers).min(cores);
        (Self { operation: Operation::None, ranks: at_once, ..*self }, self.ranks.div_ceil(at_once) as f64)
    }

    /// Returns the request of the line protocol, for engine `number` of a runner.
    pub fn request(&self, number: usize) -> String {
        let Self { operation, ranks, workers, doubles, units, stages } = self;
        format!("{number} ranks {operation} {ranks} {workers} {doubles} {units} {stages}")
    }

    /// Parses the request to a program with a fixed number of ranks: `ranks exchange 1 0 500000`; `None` if the line is
    /// another request.
    pub fn read(line: &str, ranks: usize) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["ranks", operation, doubles, units, stages] = words[..] else { return None };
        let (operation, doubles) = (Operation::parse(operation)?, doubles.parse().ok()?);
        Some(Self { operation, ranks, workers: 1, doubles, units: units.parse().ok()?, stages: stages.parse().ok()? })
    }
}

/// The work of a cell of the definition, with the kind of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The kind of the cell.
    pub experiment: Experiment,
    /// The work; the measurement sets workers and stages.
    pub work: Work,
}

impl Cell {
    /// Returns the name of the cell: `all-reduce, P = 2, 8 KiB, 0 units`.
    pub fn case(&self) -> String {
        let Work { operation, ranks, doubles, units, .. } = self.work;
        match self.experiment {
            Experiment::Arrays => format!("{operation}, P = {ranks}, {doubles} doubles"),
            _ if operation == Operation::Barrier => format!("{operation}, P = {ranks}, {units} units"),
            _ => format!("{operation}, P = {ranks}, {}, {units} units", size(8 * doubles)),
        }
    }

    /// Returns the gigabytes a second that all ranks together receive, if a stage takes this many microseconds.
    pub fn gigabytes_a_second(&self, us_a_stage: f64) -> f64 {
        let Work { operation, ranks, doubles, .. } = self.work;
        (operation.messages() * ranks * 8 * doubles) as f64 / us_a_stage * 1e-3
    }
}

/// Formats bytes for people.
fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        _ if bytes.is_multiple_of(1024) => format!("{} KiB", bytes / 1024),
        _ => format!("{} KB", bytes as f64 / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work =
        Work { operation: Operation::AllReduce, ranks: 7, workers: 4, doubles: 1024, units: 20, stages: 500 };

    #[test]
    fn a_request_is_a_line_of_words() {
        assert_eq!(WORK.request(3), "3 ranks all-reduce 7 4 1024 20 500");
        assert_eq!(Work::read("ranks all-reduce 1024 20 500", 7), Some(Work { workers: 1, ..WORK }));
        for line in ["", "unit", "ranks gather 1 0 5", "ranks shift -1 0 5", "ranks shift 1 0", "ranks shift 1 0 5 6"] {
            assert_eq!(Work::read(line, 2), None, "{line:?}");
        }
    }

    #[test]
    fn a_cell_is_called_by_what_it_does() {
        let case = |experiment, work| Cell { experiment, work }.case();
        assert_eq!(case(Experiment::Collectives, WORK), "all-reduce, P = 7, 8 KiB, 20 units");
        let large = Work { doubles: 100_000, units: 0, ..WORK };
        assert_eq!(case(Experiment::Collectives, large), "all-reduce, P = 7, 800 KB, 0 units");
        assert_eq!(case(Experiment::Arrays, large), "all-reduce, P = 7, 100000 doubles");
        let barrier = Work { operation: Operation::Barrier, doubles: 0, ..WORK };
        assert_eq!(case(Experiment::Collectives, barrier), "barrier, P = 7, 20 units");
    }

    #[test]
    fn every_name_is_read_as_it_is_written() {
        for operation in Operation::ALL {
            assert_eq!(Operation::parse(operation.name()), Some(operation));
            assert_eq!(serde_json::to_value(operation).unwrap(), operation.name());
        }
        for experiment in [Experiment::Patterns, Experiment::Collectives, Experiment::Arrays] {
            assert_eq!(serde_json::to_value(experiment).unwrap(), experiment.name());
        }
        assert_eq!(Operation::parse("gather"), None);
    }

    #[test]
    fn the_computation_alone_is_counted_for_as_many_ranks_as_there_are_cores() {
        let (work, times) = WORK.computation(2);
        assert_eq!((work.operation, work.ranks, times), (Operation::None, 2, 4.0));
        assert_eq!(Work { workers: 1, ..WORK }.computation(2).1, 7.0);
    }

    #[test]
    fn a_rate_counts_what_all_ranks_receive() {
        let work = Work { operation: Operation::Exchange, ranks: 2, doubles: 1000, ..WORK };
        // Two ranks receive two messages of 8,000 bytes each: 32,000 bytes in 4 us.
        assert_eq!(Cell { experiment: Experiment::Arrays, work }.gigabytes_a_second(4.0), 8.0);
    }
}
