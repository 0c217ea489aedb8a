//! Ranks in several processes: messages between ranks of one process go straight to the inbox of the receiver, all
//! other messages as frames over MPI.
//!
//! Each process has the same number t of ranks. Process p has the ranks from p t to (p + 1) t - 1, so that most
//! neighbours are in the same process. With one rank in each process, the fabric is the fabric `mpi` of the papers.
//! With several ranks in each process, the fabric is the hybrid of the papers: threads within a process, MPI between
//! processes.
//!
//! **Progress.** MPI moves messages only when it is called. A waiting rank calls MPI from its own task, several times
//! in a row, because the message is often only a microsecond away. Then the rank yields the processor to other
//! processes and asks to be polled again, so that other tasks of the same worker can run. A waiting rank therefore
//! holds no thread. After some milliseconds without success, the rank naps between its polls, if every rank has its own
//! worker. So waiting for a late rank costs hardly any processor time.
//!
//! **Short messages** between processes of one machine go directly from the sender's memory into a ring in shared
//! memory (`window.rs`). From the ring they go directly to the receiver's memory, if the receiver waits for them and
//! nothing older has arrived. A message that goes this way needs no allocation and no search of an inbox. All other
//! messages go through an inbox.
//!
//! **Long messages** within a machine are announced before they are copied, and the receiver follows the copying
//! ([`pipeline`]). Between processes, the pieces go through shared memory (`lent.rs`).
//!
//! If a machine has more ranks than cores, a waiting rank yields after its first look at MPI. While all ranks of a
//! process compute, its long messages pause, as in any MPI program.

use std::borrow::Cow;
use std::task::{Context, Poll};
use std::time::Duration;

use lehr_ranks::fabric::inbox::{Arrival, Body, Inbox};
use lehr_ranks::fabric::pipeline::{self, Incoming, Pipeline};
use lehr_ranks::fabric::{Envelope, Fabric, Label, Message, Pattern, Reader, Ticket};
use lehr_ranks::{Error, Layout};
use lehr_sync::{
    Arc, Count, Mutex,
    thread::{sleep, yield_now},
};

use crate::cores::cores;
use crate::link::{NUMBER, SHORT};
use crate::post::Post;
use crate::trailer::{self, Kind, Trailer};

/// The number of looks at MPI before a waiting rank yields, if it may spin: some microseconds. Looks at shared memory
/// are cheaper, so there are more of them ([`Post::looks`]).
const SPINS: u32 = 64;

/// The maximum number of parts of a message that are joined in a ring.
const PARTS: usize = 4;

/// The number of unsuccessful polls after which a waiting rank naps: a few milliseconds, about a hundred times as long
/// as a nap.
const POLLS: u64 = 512;
/// The duration of a nap, for which a waiting rank sleeps.
const NAP: Duration = Duration::from_micros(50);

/// The state that the ranks of one process share during a run.
struct Here {
    post: Arc<Post>,
    inboxes: Arc<[Inbox]>,
    run: u32,
    spins: u32,
    /// Whether waiting ranks may nap, because every rank has its own worker.
    may_nap: bool,
}

/// One rank's end of the fabric, in a run.
pub(crate) struct Endpoint {
    here: Arc<Here>,
    /// The number of this rank among the ranks of this process.
    thread: usize,
    culprit: Mutex<Option<usize>>,
    /// The number of unsuccessful polls since the last success.
    in_vain: Count,
}

/// Creates the ends of this process's ranks for a new run, in order of rank. Returns them and the number of the run.
/// `may_spin` says that every rank has its own worker.
pub(crate) fn endpoints(post: &Arc<Post>, threads: usize, may_spin: bool) -> Result<(Vec<Endpoint>, u32), Error> {
    let ranks = threads.checked_mul(post.processes());
    if !ranks.is_some_and(|ranks| (1..=Layout::RANKS_MAX).contains(&ranks)) {
        let message =
            format!("{threads} ranks in each of {} processes: 1 to {} in all", post.processes(), Layout::RANKS_MAX);
        return Err(Error::Invalid { message });
    }
    let (inboxes, run) = post.begin(threads).map_err(transport)?;
    let is_roomy = post.near().1 * threads <= cores();
    let spins = if may_spin && is_roomy { SPINS * post.looks() } else { 1 };
    let here = Arc::new(Here { post: post.clone(), inboxes, run, spins, may_nap: may_spin });
    let end = |thread| Endpoint { here: here.clone(), thread, culprit: Mutex::default(), in_vain: Count::default() };
    Ok(((0..threads).map(end).collect(), run))
}

/// Returns the error that ranks get when MPI fails, given MPI's error.
pub(crate) fn transport(error: crate::Error) -> Error {
    Error::Transport { message: error.to_string() }
}

impl Endpoint {
    /// Returns the trailer for a message from this rank to rank `to`.
    fn trailer(&self, to: usize, label: Label) -> Trailer {
        let Label { context, tag, receipt } = label;
        let (source, run) = (self.rank() as u32, self.here.run);
        Trailer { run, source, to: to as u32, context, tag, receipt, kind: Kind::Message }
    }

    /// Takes a message that matches straight out of a ring. The message must be short and the next in the ring, and
    /// this rank's inbox must be idle.
    fn take_near(&self, pattern: &Pattern, frame: &mut [u8; SHORT]) -> Option<(Envelope, usize)> {
        let (inbox, threads) = (&self.here.inboxes[self.thread], self.here.inboxes.len());
        let (source, me) = (pattern.source?, self.rank() as u32);
        let process = source / threads;
        if process == self.here.post.process() {
            return None;
        }
        // Looks only once if other ranks of this process may want the lock.
        let looks = if threads == 1 { self.here.post.looks() } else { 1 };
        // Checked under the lock under which all frames from other processes are put into inboxes. So no older message
        // from the source can arrive between the check and the taking of the message.
        let label = |trailer: &Trailer| Label { context: trailer.context, tag: trailer.tag, receipt: trailer.receipt };
        let is_wanted = |trailer: &Trailer| {
            let from = trailer.source as usize;
            trailer.to == me && from == source && pattern.matches(from, label(trailer)) && inbox.is_idle()
        };
        for _ in 0..self.here.spins.div_ceil(looks) {
            if !inbox.is_idle() {
                return None;
            }
            if let Some((trailer, length)) = self.here.post.take_near(process, looks, frame, is_wanted) {
                self.in_vain.set(0);
                return Some((Envelope { source, label: label(&trailer), length }, length));
            }
            if self.here.post.fetch_some(1, 1).is_err() {
                // The next fetch returns the same error.
                return None;
            }
        }
        None
    }

    /// Sends a frame without a body to all other processes.
    fn tell_all(&self, trailer: Trailer) {
        let post = &self.here.post;
        for process in (0..post.processes()).filter(|&process| process != post.process()) {
            // If MPI has failed, the other processes learn of the failure when the job ends.
            let _ = post.send(process, Vec::new(), trailer);
        }
    }

    /// Announces a long message to another rank, and then copies it. Returns whether this was possible.
    fn pipeline(&self, to: usize, label: Label, (body, end): (&[u8], &[u8])) -> Result<bool, Error> {
        let (threads, post) = (self.here.inboxes.len(), &self.here.post);
        if to / threads != post.process() {
            let trailer = Trailer { kind: Kind::Lent, ..self.trailer(to, label) };
            return post.lend(to / threads, (body, end), trailer).map_err(transport);
        }
        if to == self.rank() {
            return Ok(false);
        }
        let (pipeline, follower) = Pipeline::new(body.len(), end, post.memory().clone());
        let arrival = Arrival { source: self.rank(), label, body: Body::Pipelined(Box::new(follower)) };
        self.here.inboxes[to % threads].deliver(arrival);
        pipeline.fill(body);
        Ok(true)
    }

    fn poll_take(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Arrival, Error>> {
        self.poll(context, |inbox, context| inbox.poll_take(pattern, turn, waiting_in, context))
    }

    fn poll<R>(
        &self,
        context: &mut Context<'_>,
        mut poll: impl FnMut(&Inbox, &mut Context<'_>) -> Poll<Result<R, Error>>,
    ) -> Poll<Result<R, Error>> {
        let inbox = &self.here.inboxes[self.thread];
        if self.here.post.processes() == 1 {
            // No message comes from other processes; the inbox wakes the waiters.
            return poll(inbox, context);
        }
        // Polls the inbox when it has something new, and once more at the end, where this receive registers as a
        // waiter.
        let (mut seen, mut is_new) = (inbox.news(), !inbox.is_empty());
        // Other ranks of this process may want the lock, and may have frames of their own to fetch.
        let looks = if self.here.inboxes.len() == 1 { self.here.post.looks() } else { 1 };
        for _ in 0..self.here.spins.div_ceil(looks) {
            if is_new && let Poll::Ready(outcome) = poll(inbox, context) {
                self.in_vain.set(0);
                return Poll::Ready(outcome);
            }
            self.here.post.fetch(looks).map_err(transport)?;
            let news = inbox.news();
            is_new = std::mem::replace(&mut seen, news) != news;
        }
        if let Poll::Ready(outcome) = poll(inbox, context) {
            self.in_vain.set(0);
            return Poll::Ready(outcome);
        }
        if self.in_vain.add(1) >= POLLS && self.here.may_nap {
            sleep(NAP);
        } else {
            yield_now();
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Fabric for Endpoint {
    fn name(&self) -> &'static str {
        if self.here.inboxes.len() == 1 { "mpi" } else { "hybrid" }
    }

    fn rank(&self) -> usize {
        self.here.post.process() * self.here.inboxes.len() + self.thread
    }

    fn size(&self) -> usize {
        self.here.post.processes() * self.here.inboxes.len()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        let threads = self.here.inboxes.len();
        if let Cow::Borrowed(bytes) = bytes
            && let Some(parts) = pipeline::divided(&[bytes])
            && self.pipeline(to, label, parts)?
        {
            return Ok(());
        }
        if to / threads == self.here.post.process() {
            let message = Message { source: self.rank(), label, bytes: bytes.into_owned() };
            self.here.inboxes[to % threads].deliver(message);
            return Ok(());
        }
        let bytes = match bytes {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(bytes) => {
                let mut frame = self.memory(bytes.len());
                frame.extend_from_slice(bytes);
                frame
            }
        };
        self.here.post.send(to / threads, bytes, self.trailer(to, label)).map_err(transport)
    }

    fn send_parts(&self, to: usize, label: Label, parts: &[&[u8]]) -> Result<(), Error> {
        if let Some(parts) = pipeline::divided(parts)
            && self.pipeline(to, label, parts)?
        {
            return Ok(());
        }
        let process = to / self.here.inboxes.len();
        let is_whole = parts.iter().all(|part| part.len().is_multiple_of(size_of::<usize>()));
        if is_whole && parts.len() <= PARTS && process != self.here.post.process() {
            let (trailer, mut all) = (self.trailer(to, label).bytes(), [&[][..]; PARTS + 1]);
            all[..parts.len()].copy_from_slice(parts);
            all[parts.len()] = &trailer;
            if self.here.post.send_near(process, &all[..=parts.len()]) {
                return Ok(());
            }
        }
        self.send(to, label, Cow::Owned(self.joined(parts)))
    }

    fn poll_read(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
        read: &mut Reader<'_>,
    ) -> Poll<Result<(), Error>> {
        if turn.number().is_none() {
            let mut frame = [0; SHORT];
            if let Some((envelope, length)) = self.take_near(pattern, &mut frame) {
                return Poll::Ready(read(envelope, &mut Incoming::complete(&frame[..length])));
            }
        }
        let arrived = self.poll_take(pattern, turn, waiting_in, context)?;
        arrived.map(|arrival| arrival.read(self.here.post.memory(), read))
    }

    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        let arrived = self.poll_take(pattern, turn, waiting_in, context)?;
        arrived.map(|arrival| arrival.into_message(self.here.post.memory()))
    }

    fn poll_in_background(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        if turn.number().is_none() {
            self.here.post.fetch(1).map_err(transport)?;
        }
        let arrived = self.here.inboxes[self.thread].poll_take(pattern, turn, waiting_in, context)?;
        arrived.map(|arrival| arrival.into_message(self.here.post.memory()))
    }

    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>> {
        self.poll(context, |inbox, context| inbox.poll_probe(pattern, turn, waiting_in, context))
    }

    fn memory(&self, length: usize) -> Vec<u8> {
        self.here.post.memory().take(length + trailer::LENGTH + NUMBER)
    }

    fn give_back(&self, bytes: Vec<u8>) {
        self.here.post.memory().give_back(bytes);
    }

    fn take_if_come(&self, pattern: &Pattern) -> Result<Option<Message>, Error> {
        self.here.post.fetch(1).map_err(transport)?;
        let arrived = self.here.inboxes[self.thread].take_if_come(pattern);
        arrived.map(|arrival| arrival.into_message(self.here.post.memory())).transpose()
    }

    fn asks_again(&self) -> bool {
        self.here.post.processes() > 1
    }

    fn forget(&self, turn: &mut Ticket) {
        self.here.inboxes[self.thread].forget(turn);
    }

    fn fail(&self, culprit: usize) {
        self.culprit.lock().get_or_insert(culprit);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let rank = self.rank();
        let culprit = self.culprit.lock().or(std::thread::panicking().then_some(rank));
        for (thread, inbox) in self.here.inboxes.iter().enumerate() {
            if thread != self.thread {
                inbox.end(rank, culprit);
            }
        }
        let kind = if culprit.is_some() { Kind::Failed } else { Kind::Ended };
        let context = culprit.unwrap_or(0) as u32;
        self.tell_all(Trailer { run: self.here.run, source: rank as u32, to: 0, context, tag: 0, receipt: 0, kind });
    }
}
