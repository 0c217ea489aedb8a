//! What a rank holds of the others: its number, theirs, and the collectives.

use std::fmt;
use std::future::poll_fn;

use crate::error::Error;
use crate::fabric::{Deposits, Fabric};
use crate::message::Reader;
use crate::reduction::Fold;

/// One rank's end of the group. The collectives are in `collective/`, one a file.
///
/// All ranks call the same collectives in the same order. A rank that ends, by returning or by a panic, while others wait for
/// it, ends their waiting with [`Error::RankLeft`]. The future of a collective may be dropped while it waits: the rank's part
/// has been sent, and the rank's next collective first waits for the abandoned one to be complete.
pub struct Communicator {
    pub(crate) fabric: Box<dyn Fabric>,
    /// What this rank folds of its own leaves.
    pub(crate) own: Fold,
    /// What this rank folds of all ranks' covers when it is the last to arrive.
    pub(crate) whole: Fold,
}

impl fmt::Debug for Communicator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Communicator").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}

/// Which collective a message belongs to: its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Barrier = 1,
    Broadcast,
    Gather,
    AllReduce,
    AllReduceLeaves,
}

impl Call {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Gather => "gather",
            Self::AllReduce => "all_reduce",
            Self::AllReduceLeaves => "all_reduce_leaves",
        }
    }

    fn name_of(word: u64) -> &'static str {
        [Self::Barrier, Self::Broadcast, Self::Gather, Self::AllReduce, Self::AllReduceLeaves]
            .into_iter()
            .find(|call| *call as u64 == word)
            .map_or("an unknown collective", Self::name)
    }
}

/// First word of what a fold makes: all is well.
const AGREED: u64 = 0;
/// First word of what a fold makes: the rank in the second word disagrees with rank 0 in its first words, which follow, first
/// those of rank 0.
const DISAGREED: u64 = 1;

/// Words at the head of each message that must be the same on all ranks: the call, and one number of its own (a root, a
/// length).
pub(crate) const HEAD: usize = 2;

impl Communicator {
    /// A communicator over one end of a fabric.
    pub fn new(fabric: Box<dyn Fabric>) -> Self {
        Self { fabric, own: Fold::new(0), whole: Fold::new(0) }
    }

    /// This rank's number, from 0.
    pub fn rank(&self) -> usize {
        self.fabric.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.fabric.size()
    }

    /// Waits for an exchange that was abandoned.
    pub(crate) async fn settle(&mut self, call: Call) -> Result<(), Error> {
        while self.fabric.is_waiting() {
            poll_fn(|context| self.fabric.poll_complete(call.name(), context)).await?;
        }
        Ok(())
    }

    /// Deposits a message and arrives. The two words of the head are compared; `fold` runs only if all ranks agree on them.
    pub(crate) fn begin(
        &mut self,
        call: Call,
        number: usize,
        write: impl FnOnce(&mut Vec<u64>, &Fold),
        mut fold: impl FnMut(&dyn Deposits, &mut Vec<u64>, &mut Fold),
    ) {
        let message = self.fabric.deposit();
        message.extend([call as u64, number as u64]);
        write(message, &self.own);
        let whole = &mut self.whole;
        self.fabric.arrive(&mut |deposits, folded| {
            let head = |rank| &deposits.of(rank)[..HEAD];
            if let Some(rank) = (1..deposits.size()).find(|&rank| head(rank) != head(0)) {
                folded.extend([DISAGREED, rank as u64]);
                folded.extend(head(0));
                folded.extend(head(rank));
            } else {
                folded.push(AGREED);
                fold(deposits, folded, whole);
            }
        });
    }

    /// Waits until the exchange is complete and all ranks have been found to agree.
    pub(crate) async fn complete(&mut self, call: Call) -> Result<(), Error> {
        poll_fn(|context| self.fabric.poll_complete(call.name(), context)).await?;
        let folded = self.fabric.folded();
        if folded[0] == AGREED {
            return Ok(());
        }
        let describe = |head: &[u64]| format!("{} with {}", Call::name_of(head[0]), head[1]);
        let (first, other) = (describe(&folded[2..2 + HEAD]), describe(&folded[2 + HEAD..]));
        let detail = format!("rank 0 calls {first}, rank {} calls {other}", folded[1]);
        Err(Error::Mismatch { collective: call.name(), detail })
    }

    /// The body of a rank's message in the exchange completed last.
    pub(crate) fn deposited(&self, rank: usize) -> Reader<'_> {
        Reader::new(&self.fabric.deposited(rank)[HEAD..])
    }

    /// What the fold wrote in the exchange completed last.
    pub(crate) fn folded(&self) -> Reader<'_> {
        Reader::new(&self.fabric.folded()[1..])
    }
}
