//! Messages between ranks of one process: each rank has an inbox, and who sends puts the message there.

use std::borrow::Cow;
use std::task::{Context, Poll};

use crossbeam_utils::CachePadded;

use crate::error::Error;
use crate::fabric::inbox::Inbox;
use crate::fabric::{Envelope, Fabric, Label, Message, Pattern, Turn};
use crate::sync::{Arc, Mutex};

/// One rank's end.
pub(crate) struct Mail {
    inboxes: Arc<[CachePadded<Inbox>]>,
    rank: usize,
    culprit: Mutex<Option<usize>>,
}

/// The ends of a new fabric for `size` ranks, in order of rank.
pub(crate) fn endpoints(size: usize, _may_spin: bool) -> Vec<Mail> {
    let inboxes: Arc<[_]> = (0..size).map(|rank| CachePadded::new(Inbox::new(rank, size))).collect();
    (0..size).map(|rank| Mail { inboxes: inboxes.clone(), rank, culprit: Mutex::default() }).collect()
}

impl Fabric for Mail {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.inboxes.len()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        self.inboxes[to].deliver(Message { source: self.rank, label, bytes: bytes.into_owned() });
        Ok(())
    }

    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Turn,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        self.inboxes[self.rank].poll_receive(pattern, turn, waiting_in, context)
    }

    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Turn,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>> {
        self.inboxes[self.rank].poll_probe(pattern, turn, waiting_in, context)
    }

    fn forget(&self, turn: &mut Turn) {
        self.inboxes[self.rank].forget(turn);
    }

    fn fail(&self, culprit: usize) {
        self.culprit.lock().get_or_insert(culprit);
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        let failed = std::thread::panicking().then_some(self.rank);
        let culprit = self.culprit.lock().or(failed);
        for (rank, inbox) in self.inboxes.iter().enumerate() {
            if rank != self.rank {
                inbox.end(self.rank, culprit);
            }
        }
    }
}
