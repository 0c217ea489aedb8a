//! Rounds of one thread over its own rows, for passes that take less time than ranks need to synchronise.

use lehr_ranks::{OneThread, Partition, Pending, Round, Rounds};

/// The rounds of one loop over so few rows that other threads would not help. The other threads wait until the loop has
/// ended. The results have the same bits as on any layout.
pub(crate) struct Alone<'a> {
    /// The rounds of the run that this loop is a part of.
    outer: &'a mut dyn Rounds,
    own: OneThread,
}

impl<'a> Alone<'a> {
    /// Creates rounds over `rows` rows, within a run over other rows.
    pub fn new(outer: &'a mut dyn Rounds, rows: usize) -> Self {
        Self { outer, own: OneThread::new(rows) }
    }
}

impl Rounds for Alone<'_> {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        self.own.round(round, total)
    }

    fn is_lead(&self) -> bool {
        self.outer.is_lead()
    }

    fn note_phase(&mut self, name: &'static str) {
        self.outer.note_phase(name);
    }

    fn partition(&self) -> Partition {
        self.own.partition()
    }
}
