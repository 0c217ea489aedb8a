//! Rounds of one thread over its own rows, for passes that take less time than ranks need to synchronise.

use std::ops::Range;

use lehr_ranks::{Fold, Node, Partition, Pending, Round, Rounds};

/// The rounds of one loop over so few rows that other threads would not help. The other threads wait until the loop has
/// ended. The results have the same bits as on any layout.
pub(crate) struct Alone<'a> {
    /// The rounds of the run that this loop is a part of.
    outer: &'a mut dyn Rounds,
    partition: Partition,
    fold: Fold,
}

impl<'a> Alone<'a> {
    /// Creates rounds over `rows` rows, within a run over other rows.
    pub fn new(outer: &'a mut dyn Rounds, rows: usize) -> Self {
        Self { outer, partition: Partition::new(rows, 1), fold: Fold::new(0) }
    }
}

impl Rounds for Alone<'_> {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        assert_eq!(total.len(), round.len(), "the total has the length of a partial");
        let combine = |left: &mut [f64], right: &[f64]| round.combine(left, right);
        self.fold.clear(round.len());
        for leaf in self.leaves() {
            self.fold.push(Node::leaf(leaf), &combine, |partial| round.map(leaf, partial));
        }
        if let Some(root) = self.fold.root(&combine) {
            total.copy_from_slice(root);
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn agree(&mut self, flag: bool) -> Pending<'_, bool> {
        Box::pin(std::future::ready(Ok(flag)))
    }

    fn is_lead(&self) -> bool {
        self.outer.is_lead()
    }

    fn note_phase(&mut self, name: &'static str) {
        self.outer.note_phase(name);
    }

    fn partition(&self) -> Partition {
        self.partition
    }

    fn leaves(&self) -> Range<usize> {
        0..self.partition.leaves()
    }
}
