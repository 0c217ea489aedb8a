//! Who belongs to a communicator, under which number, and in which context its messages travel.

use crate::sync::Arc;

/// Contexts of a communicator: one for each kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// Sends and receives of the program.
    Messages = 0,
    /// Collectives.
    Collectives = 1,
}

/// How many contexts a communicator has.
const KINDS: u32 = 4;

/// The ranks of a communicator.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    rank: usize,
    size: usize,
    /// The world's number of each rank; none if the numbers are the same.
    members: Option<Arc<[usize]>>,
    /// The number of this communicator: the same on all its ranks, and no other communicator of one of them has it.
    number: u32,
}

impl Group {
    /// All ranks of a fabric.
    pub(crate) fn all(rank: usize, size: usize) -> Self {
        Self { rank, size, members: None, number: 0 }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The world's number of a rank.
    pub(crate) fn world(&self, rank: usize) -> usize {
        self.members.as_ref().map_or(rank, |members| members[rank])
    }

    /// The number in this group of one of its ranks.
    pub(crate) fn local(&self, world: usize) -> usize {
        let Some(members) = &self.members else { return world };
        members.iter().position(|&member| member == world).expect("who sends in a group's context belongs to it")
    }

    /// The context of a kind of traffic.
    pub(crate) fn context(&self, traffic: Traffic) -> u32 {
        self.number * KINDS + traffic as u32
    }
}
