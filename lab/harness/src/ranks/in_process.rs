//! Lehr in one process: ranks as tasks on their own dispatcher, over shared memory or over ports of the runtime.

use std::cell::RefCell;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::{Result, ensure};
use lehr_ranks::fabric::Kind;
use lehr_ranks::{Layout, run_on};
use lehr_runtime::Dispatcher;

use super::operation::Work;
use super::program::{self, Witness};

/// Returns the seconds of some work, from the first rank's start to the last rank's end. The dispatcher is started
/// before and stopped after it.
///
/// # Errors
/// Returns an error if a result is wrong, a rank fails, or the dispatcher does not start.
pub fn run(kind: Kind, work: &Work) -> Result<f64> {
    let dispatcher = Dispatcher::new(work.workers)?;
    let witnesses = RefCell::new(Channels::all(work.ranks));
    let parts = run_on(&dispatcher, kind, Layout::threads(work.ranks), |mut comm| {
        // Ranks are made in ascending order, so the last witness belongs to the last rank.
        let mut witness = witnesses.borrow_mut().remove(0);
        async move { program::run(&mut comm, work, &mut witness).await }
    })?;
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    for part in &parts {
        ensure!(part.wrong.is_none(), "{kind:?}: {}", part.wrong.as_deref().unwrap_or_default());
    }
    let start = parts.iter().map(|part| part.start).min();
    let end = parts.iter().map(|part| part.end).max();
    Ok(end.zip(start).map_or(0.0, |(end, start)| (end - start).as_secs_f64()))
}

/// A witness that uses channels of the standard library, which are separate from the ranks' messages.
struct Channels {
    others: Vec<Sender<()>>,
    told: Receiver<()>,
    heard: usize,
}

impl Channels {
    fn all(ranks: usize) -> Vec<Self> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let of = |(rank, told): (usize, Receiver<()>)| {
            let is_other = |(other, sender): (usize, &Sender<()>)| (other != rank).then(|| sender.clone());
            Self { others: senders.iter().enumerate().filter_map(is_other).collect(), told, heard: 0 }
        };
        receivers.into_iter().enumerate().map(of).collect()
    }
}

impl Witness for Channels {
    fn tell(&mut self) {
        for other in &self.others {
            // A rank that has failed reports this itself.
            let _ = other.send(());
        }
    }

    fn have_all_told(&mut self, barriers: usize) -> bool {
        self.heard += self.told.try_iter().count();
        self.heard == barriers * self.others.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::operation::Operation;

    #[test]
    fn every_operation_ends_with_the_right_numbers_on_any_number_of_workers() {
        for kind in [Kind::Threads, Kind::Ports] {
            for operation in Operation::ALL {
                for ranks in [1, 2, 3] {
                    for workers in [1, 2, 8] {
                        for doubles in [1, 20] {
                            let work = Work { operation, ranks, workers, doubles, units: 1, stages: 30 };
                            assert!(run(kind, &work).unwrap() > 0.0, "{kind:?}, {work:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn who_has_not_told_is_missed() {
        let mut witnesses = Channels::all(3);
        witnesses[1].tell();
        assert!(!witnesses[0].have_all_told(1));
        witnesses[2].tell();
        assert!(witnesses[0].have_all_told(1));
        assert!(!witnesses[0].have_all_told(2));
    }
}
