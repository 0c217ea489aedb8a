//! The one seam between ranks: an *exchange*. Each rank deposits a message, all arrive, and afterwards each rank may read
//! what every rank deposited and what the last to arrive made of it.
//!
//! Every collective is one exchange with its own messages and its own fold, so a new fabric (processes, nodes) has one thing
//! to do. Cost contract of an exchange: each rank's message is written once and read once by the fold; one synchronisation in
//! which each rank waits at most once; no allocation once the messages have reached their lengths.

pub mod threads;

use std::task::{Context, Poll};

use crate::error::Error;

/// What the ranks deposited, as the fold sees it.
pub trait Deposits {
    /// How many ranks there are.
    fn size(&self) -> usize;
    /// The message of a rank.
    fn of(&self, rank: usize) -> &[u64];
}

/// What the last to arrive makes of the deposits: written to a buffer that is empty at first.
pub type Fold<'a> = &'a mut dyn FnMut(&dyn Deposits, &mut Vec<u64>);

/// One rank's end of a fabric. The calls of an exchange come in the order of their declaration.
pub trait Fabric: Send {
    /// This rank's number, from 0.
    fn rank(&self) -> usize;
    /// How many ranks there are.
    fn size(&self) -> usize;
    /// Empty memory for this rank's message in the next exchange. Ends the reading of the last.
    fn deposit(&mut self) -> &mut Vec<u64>;
    /// Says that the message is complete. The last rank to say so folds all messages; if its fold panics, the exchange never
    /// completes, and the others are told when this end is dropped.
    fn arrive(&mut self, fold: Fold<'_>);
    /// Whether this rank has arrived in an exchange that it has not yet seen completed.
    fn is_waiting(&self) -> bool;
    /// Waits until all have arrived and the fold is done.
    ///
    /// Cancel-safe: it may be given up and taken up again.
    ///
    /// # Errors
    /// [`Error::RankLeft`] if a rank has ended without arriving.
    fn poll_complete(&mut self, waiting_in: &'static str, context: &mut Context<'_>) -> Poll<Result<(), Error>>;
    /// The message of a rank in the exchange that was completed last.
    fn deposited(&self, rank: usize) -> &[u64];
    /// What the fold made of the exchange that was completed last.
    fn folded(&self) -> &[u64];
}
