//! The four patterns in their two forms.
//!
//! The peers' runners include this file (`lab/runners/ports/src/lib.rs`), so that both sides of a pipe mean the same by
//! a word.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::unit::{UNIT_STEPS, units};

/// In how many places a rank counts messages that are handled in pairs: by stage, modulo this.
///
/// In two shifts the messages of each rank run around the ring on their own, and may come any number of stages before
/// another's. What two of them are at one rank for differs by a stage that is no multiple of the number of ranks. So
/// this is a multiple of each number of ranks that is measured, and no two ever meet in one place. (With 16 places,
/// rings of three and seven lost a message where a worker was left behind.)
pub const COUNTED_STAGES: usize = 168;

/// How ranks meet their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// P long-running ranks, each posting and then receiving.
    Rendezvous,
    /// Every message (or pair of messages) starts a handler.
    Spawned,
}

/// Who posts to whom in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Nobody: the computation alone, from which overheads are counted.
    None,
    /// Each to itself.
    Pipeline,
    /// Each to the right.
    Shift,
    /// Rendezvous: a right shift, then a left one. Spawned: two messages to the same port of the right neighbour,
    /// received as two items.
    TwoShifts,
    /// Each to both neighbours, receiving one from each.
    Exchange,
}

impl Form {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Rendezvous, Self::Spawned];

    /// Its word in requests, records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rendezvous => "rendezvous",
            Self::Spawned => "spawned",
        }
    }

    /// The form of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == word)
    }
}

impl Pattern {
    /// The computation alone, and the four.
    pub const ALL: [Self; 5] = [Self::None, Self::Pipeline, Self::Shift, Self::TwoShifts, Self::Exchange];

    /// Its word in requests, records and definitions.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pipeline => "pipeline",
            Self::Shift => "shift",
            Self::TwoShifts => "two-shifts",
            Self::Exchange => "exchange",
        }
    }

    /// The pattern of that name.
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

/// What is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Rendezvous or spawned.
    pub form: Form,
    /// Who posts to whom.
    pub pattern: Pattern,
    /// Logical ranks.
    pub ranks: usize,
    /// Worker threads, where the engine has workers.
    pub workers: usize,
    /// Units of computation a stage.
    pub units: u32,
    /// Stages.
    pub stages: usize,
}

impl Run {
    /// The computation of this run without its messages, on as many ranks as compute at once, and how often that fits
    /// into the run.
    pub fn computation(&self, cores: usize) -> (Self, f64) {
        let at_once = self.ranks.min(self.workers).min(cores);
        let run = Self { form: Form::Rendezvous, pattern: Pattern::None, ranks: at_once, ..*self };
        (run, self.ranks.div_ceil(at_once) as f64)
    }

    /// Whether engines with a thread a rank can do this: they take every core, and so have no form with fewer workers;
    /// a single rank is at home on one core too.
    pub fn is_for_threads(&self) -> bool {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.form == Form::Rendezvous && (self.workers == cores || (self.workers, self.ranks) == (1, 1))
    }

    /// The request of the line protocol, for engine `number` of a runner.
    pub fn request(&self, number: usize) -> String {
        let Self { form, pattern, ranks, workers, units, stages } = self;
        format!("{number} pattern {form} {pattern} {ranks} {workers} {units} {stages}")
    }

    /// What the cell is called: `exchange, P = 2, 0 units`.
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
