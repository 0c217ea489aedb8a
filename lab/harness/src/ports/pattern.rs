//! The four patterns in their two forms.
//!
//! The peers' runners include this file (`lab/runners/ports/src/lib.rs`), so that both sides of a pipe give the names
//! the same meaning.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::unit::{UNIT_STEPS, units};

/// The number of places in which a rank counts messages that are handled in pairs: it counts by stage, modulo this
/// number.
///
/// In two shifts, the messages that start at each rank go around the ring independently, and may be any number of
/// stages ahead of another's. At one rank, the stages of two such messages differ by a number that is not a multiple of
/// the number of ranks. This constant is a multiple of each measured number of ranks, so two such messages never use
/// the same place. (With 16 places, rings of three and seven lost a message if a worker was delayed.)
pub const COUNTED_STAGES: usize = 168;

/// The way in which ranks receive their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// P long-running ranks each post and then receive.
    Rendezvous,
    /// Every message (or pair of messages) starts a handler.
    Spawned,
}

/// The messages of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// There are no messages: only the computation, which is subtracted to get overheads.
    None,
    /// Each rank posts to itself.
    Pipeline,
    /// Each rank posts to its right neighbour.
    Shift,
    /// In the form rendezvous, a right shift and then a left one. In the form spawned, two messages to the same port of
    /// the right neighbour, received as two items.
    TwoShifts,
    /// Each rank posts to both neighbours and receives one message from each.
    Exchange,
}

impl Form {
    /// Both forms.
    pub const ALL: [Self; 2] = [Self::Rendezvous, Self::Spawned];

    /// Returns the name of the form in requests, records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rendezvous => "rendezvous",
            Self::Spawned => "spawned",
        }
    }

    /// Returns the form of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == word)
    }
}

impl Pattern {
    /// The computation alone, and the four patterns.
    pub const ALL: [Self; 5] = [Self::None, Self::Pipeline, Self::Shift, Self::TwoShifts, Self::Exchange];

    /// Returns the name of the pattern in requests, records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pipeline => "pipeline",
            Self::Shift => "shift",
            Self::TwoShifts => "two-shifts",
            Self::Exchange => "exchange",
        }
    }

    /// Returns the pattern of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| pattern.name() == word)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A run of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The form: rendezvous or spawned.
    pub form: Form,
    /// The messages of a stage.
    pub pattern: Pattern,
    /// The number of logical ranks.
    pub ranks: usize,
    /// The number of worker threads, if the engine has workers.
    pub workers: usize,
    /// The number of units of computation in a stage.
    pub units: u32,
    /// The number of stages.
    pub stages: usize,
}

impl Run {
    /// Returns the computation of this run without its messages, on as many ranks as compute at once, and how many
    /// times it fits into the run.
    pub fn computation(&self, cores: usize) -> (Self, f64) {
        let at_once = self.ranks.min(self.workers).min(cores);
        let run = Self { form: Form::Rendezvous, pattern: Pattern::None, ranks: at_once, ..*self };
        (run, self.ranks.div_ceil(at_once) as f64)
    }

    /// Returns whether engines with a thread for each rank can do this run. They use every core, so they have no form
    /// with fewer workers; but a single rank may have one core.
    pub fn is_for_threads(&self) -> bool {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.form == Form::Rendezvous && (self.workers == cores || (self.workers, self.ranks) == (1, 1))
    }

    /// Returns the request of the line protocol, for engine `number` of a runner.
    pub fn request(&self, number: usize) -> String {
        let Self { form, pattern, ranks, workers, units, stages } = self;
        format!("{number} pattern {form} {pattern} {ranks} {workers} {units} {stages}")
    }

    /// Returns the name of the cell: `exchange, P = 2, 0 units`.
    pub fn case(&self) -> String {
        format!("{}, P = {}, {} units", self.pattern, self.ranks, self.units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Run =
        Run { form: Form::Rendezvous, pattern: Pattern::TwoShifts, ranks: 7, workers: 4, units: 20, stages: 500 };

    #[test]
    fn a_request_is_a_line_of_words() {
        assert_eq!(RUN.request(3), "3 pattern rendezvous two-shifts 7 4 20 500");
        assert_eq!(RUN.case(), "two-shifts, P = 7, 20 units");
    }

    #[test]
    fn every_name_is_read_as_it_is_written() {
        for form in Form::ALL {
            assert_eq!(Form::parse(form.name()), Some(form));
            assert_eq!(serde_json::to_value(form).unwrap(), form.name());
        }
        for pattern in Pattern::ALL {
            assert_eq!(Pattern::parse(pattern.name()), Some(pattern));
            assert_eq!(serde_json::to_value(pattern).unwrap(), pattern.name());
        }
        assert_eq!((Form::parse("both"), Pattern::parse("")), (None, None));
    }

    #[test]
    fn the_computation_alone_is_counted_for_as_many_ranks_as_there_are_cores() {
        let (run, times) = RUN.computation(2);
        assert_eq!((run.pattern, run.ranks, times), (Pattern::None, 2, 4.0));
        assert_eq!(Run { workers: 1, ..RUN }.computation(2).1, 7.0);
    }
}
