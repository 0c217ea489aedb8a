//! Persistent receivers that get the numbers of blocks, and a countdown of the blocks that are left: paper 003 figure
//! 2.
//!
//! There are as many receivers as workers, and they stay at one port for the whole run. A round posts the numbers of
//! all groups of leaves to the port. A receiver runs each group that it gets and counts down. Unlike in the paper, the
//! loop does not sleep at the countdown. The loop takes numbers from the port itself until there are none, and then
//! waits only for the groups that receivers have begun. So a round needs no other worker, and one worker is enough.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crossbeam_utils::CachePadded;
use lehr_runtime::{Handle, Loan, Port, Receiver};
use lehr_sync::{Arc, AtomicUsize, Mutex, Ordering, spin_loop, thread::yield_now};

use super::groups::Groups;
use super::parallel_loop::Resetting;
use super::{Pending, Round, Rounds};
use crate::partition::Partition;

/// Runs the rounds of a method's one loop by posting groups of leaves to receivers.
pub(super) struct OnPorts {
    partition: Partition,
    groups: Groups,
    blocks: Port<usize>,
    floor: Arc<Floor>,
    _receiver: Receiver,
}

/// The part of a round that the receivers share.
struct Floor {
    /// The function that runs a group, lent to the receivers while a round lasts.
    round: Loan<usize>,
    /// The number of groups of the round that have not ended.
    left: CachePadded<AtomicUsize>,
    /// The payload of the first panic in the round.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Floor {
    /// Runs a group of the lent round and counts down, even if the group panics.
    fn run(&self, group: usize) {
        match catch_unwind(AssertUnwindSafe(|| self.round.call(group))) {
            Ok(was_lent) => debug_assert!(was_lent, "a round lasts until all its groups have ended"),
            Err(payload) => {
                self.panic.lock().get_or_insert(payload);
            }
        }
        // Release: pairs with the Acquire load in `round`, so that the loop sees what the group wrote.
        self.left.fetch_sub(1, Ordering::Release);
    }
}

impl OnPorts {
    pub(super) fn new(handle: &Handle, rows: usize) -> Self {
        let partition = Partition::new(rows, 1);
        let blocks = Port::named("blocks");
        let floor = Arc::new(Floor {
            round: Loan::new(),
            left: CachePadded::new(AtomicUsize::new(0)),
            panic: Mutex::new(None),
        });
        let receivers = floor.clone();
        let receiver = blocks.on(handle, handle.threads(), move |group| {
            receivers.run(group);
            std::future::ready(())
        });
        Self {
            partition,
            groups: Groups::new(partition.leaves(), handle.threads()),
            blocks,
            floor,
            _receiver: receiver,
        }
    }
}

impl Rounds for OnPorts {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        Box::pin(async move {
            assert_eq!(total.len(), round.len(), "the total has the length of a partial");
            let Self { groups, blocks, floor, .. } = self;
            // Relaxed: opening the loan publishes this count.
            floor.left.store(groups.len(), Ordering::Relaxed);
            floor.round.lend(&|group| groups.run(round, group), || {
                for group in 0..groups.len() {
                    blocks.post(group).expect("the port stays open as long as the engine");
                }
                while let Some(group) = blocks.try_receive() {
                    floor.run(group);
                }
                let mut looks = 0_u32;
                // Acquire: pairs with the Release in `Floor::run`.
                while floor.left.load(Ordering::Acquire) > 0 {
                    looks += 1;
                    if looks < 2000 { spin_loop() } else { yield_now() }
                }
            });
            let panic = floor.panic.lock().take();
            if let Some(payload) = panic {
                Resetting(groups);
                resume_unwind(payload);
            }
            groups.root(total);
            Ok(())
        })
    }

    fn partition(&self) -> Partition {
        self.partition
    }
}
