//! The only file of this crate that uses ranks: the interface of a round, and functions that run a round or a program.
//!
//! E-steps compute the sums of a leaf, and M-steps turn totals into parameters.

mod alone;
mod cancellable;
#[cfg(test)]
mod traffic;

pub(crate) use alone::Alone;
pub(crate) use cancellable::CancellableRounds;

use lehr_ranks::Engine;
#[cfg(not(test))]
pub(crate) use lehr_ranks::drive;
pub(crate) use lehr_ranks::{Execution, LeafCells, Partition, Program, Round, Rounds};
#[cfg(test)]
pub(crate) use traffic::drive;

use crate::Error;

/// Runs a round over all leaves, and writes the root of the reduction tree to `total`, whose memory is reused.
pub(crate) async fn total_of(rounds: &mut dyn Rounds, round: &dyn Round, total: &mut Vec<f64>) -> Result<(), Error> {
    total.clear();
    total.resize(round.len(), 0.0);
    rounds.round(round, total).await?;
    Ok(())
}

/// The maximum number of work units. If there are more items, each unit contains several.
const HANDED_OUT: usize = 256;
/// The minimum number of rows of a leaf. A run with this many rows for each work unit has one leaf for each unit.
const ROWS_OF_A_LEAF: usize = 32;

/// Calls `work` once for each number below `count`, on several threads of this process, in any order.
///
/// # Errors
/// Returns the [`Error`] of the threads.
pub(crate) fn on_threads(threads: usize, count: usize, work: impl Fn(usize) + Sync) -> Result<(), Error> {
    if threads == 1 || count <= 1 {
        (0..count).for_each(work);
        return Ok(());
    }
    let execution = Execution { engine: Engine::Loop, ranks: 1, threads, job: None };
    let hands = count.min(HANDED_OUT);
    drive(&execution, hands * ROWS_OF_A_LEAF, &Work { count, hands, work })
}

/// The program that calls `work` once for each number below `count`.
struct Work<F> {
    count: usize,
    hands: usize,
    work: F,
}

impl<F: Fn(usize) + Sync> Program for Work<F> {
    type Output = ();
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        debug_assert_eq!(rounds.leaves(), 0..self.hands);
        rounds.round(self, &mut []).await?;
        Ok(())
    }
}

impl<F: Fn(usize) + Sync> Round for Work<F> {
    fn len(&self) -> usize {
        0
    }

    fn map(&self, hand: usize, _: &mut [f64]) {
        (hand..self.count).step_by(self.hands).for_each(&self.work);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once_on_any_number_of_threads() {
        for count in [0, 1, 2, 3, 255, 256, 257, 1000] {
            for threads in [1, 2, 4] {
                let done = LeafCells::new(count, |_| 0);
                on_threads(threads, count, |index| done.with(index, |times| *times += 1)).unwrap();
                assert!(done.into_values().all(|times| times == 1), "{count} on {threads} threads");
            }
        }
    }
}
