//! The post office of a process: it sorts arrived frames into the inboxes of the process's ranks.
//!
//! One lock protects both MPI and the sorting. So frames reach the inboxes in the order of their arrival, whichever
//! task of the process fetched them. Waiting tasks fetch frames ([`Post::fetch`]), so no extra thread is needed. If one
//! task is fetching, the other tasks need not fetch, because that task sorts frames for all of them.
//!
//! If another process is one run ahead of this process, its messages are kept until the run begins here.

use std::collections::VecDeque;

use lehr_ranks::fabric::Label;
use lehr_ranks::fabric::inbox::{Arrival, Body, Inbox};
use lehr_ranks::fabric::memory::Memory;
use lehr_sync::{Arc, Mutex};

use crate::error::Error;
use crate::lent::Lent;
use crate::link::{Link, SHORT, Traffic};
use crate::trailer::{Kind, Trailer};

/// This process's connection to the other processes, and the frames that arrived over it.
pub(crate) struct Post {
    process: usize,
    processes: usize,
    near: (usize, usize),
    looks: u32,
    memory: Memory,
    counter: Mutex<Counter>,
}

/// The state that the lock of [`Post`] protects.
pub(crate) struct Counter {
    link: Link,
    /// The number of the current run, from 1; 0 before the first run.
    run: u32,
    /// The inboxes of this process's ranks; empty between runs.
    inboxes: Arc<[Inbox]>,
    /// The frames of later runs, in order of arrival, each with its sender and its trailer.
    early: VecDeque<(usize, Trailer, Vec<u8>)>,
    /// The frames that are for a process and not for a rank (reports, verdicts and words, see [`Kind`]), in order of
    /// arrival.
    papers: VecDeque<(usize, Kind, Vec<u8>)>,
    /// The error of MPI after which no more frames arrive.
    broken: Option<Error>,
}

impl Post {
    pub(crate) fn new(mut link: Link) -> Self {
        let memory = link.traffic().memory().clone();
        let (process, processes, near, looks) = (link.process(), link.processes(), link.near(), link.looks());
        let (early, papers) = (VecDeque::new(), VecDeque::new());
        let counter = Counter { link, run: 0, inboxes: Arc::new([]), early, papers, broken: None };
        Self { process, processes, near, looks, memory, counter: Mutex::new(counter) }
    }

    pub(crate) fn process(&self) -> usize {
        self.process
    }

    pub(crate) fn processes(&self) -> usize {
        self.processes
    }

    /// Returns this process's number among the processes of its machine, and the number of those processes.
    pub(crate) fn near(&self) -> (usize, usize) {
        self.near
    }

    /// Returns the store of reusable memory for long frames.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the number of fetches for each poll of MPI: 1 if every fetch polls MPI.
    pub(crate) fn looks(&self) -> u32 {
        self.looks
    }

    /// Passes exclusive use of MPI to `use_it`. Waits while another thread uses MPI, which takes only a few calls.
    pub(crate) fn with<R>(&self, use_it: impl FnOnce(&mut Traffic) -> R) -> R {
        use_it(self.counter.lock().link.traffic())
    }

    /// Begins a run with `threads` ranks in this process; returns their inboxes and the number of the run.
    pub(crate) fn begin(&self, threads: usize) -> Result<(Arc<[Inbox]>, u32), Error> {
        let size = threads * self.processes;
        let inboxes: Arc<[Inbox]> =
            (0..threads).map(|thread| Inbox::new(self.process * threads + thread, size)).collect();
        let mut counter = self.counter.lock();
        counter.run += 1;
        counter.inboxes.iter().for_each(Inbox::clear);
        counter.inboxes = inboxes.clone();
        for (source, trailer, bytes) in std::mem::take(&mut counter.early) {
            counter.sort(self.process, source, trailer, bytes)?;
        }
        Ok((inboxes, counter.run))
    }

    /// Returns the number of the run that began last.
    pub(crate) fn run(&self) -> u32 {
        self.counter.lock().run
    }

    /// Sends a process a frame of these bytes and this trailer.
    pub(crate) fn send(&self, process: usize, mut bytes: Vec<u8>, trailer: Trailer) -> Result<(), Error> {
        bytes.extend_from_slice(&trailer.bytes());
        let mut counter = self.counter.lock();
        counter.link.traffic().send(process, bytes)
    }

    /// Sends a long message to a process of this machine: announces the message, and then copies it. Returns whether
    /// this was possible; otherwise the message must go as a frame.
    pub(crate) fn lend(&self, process: usize, (body, end): (&[u8], &[u8]), trailer: Trailer) -> Result<bool, Error> {
        let mut counter = self.counter.lock();
        let traffic = counter.link.traffic();
        let Some(loan) = traffic.lend(process, body.len()) else { return Ok(false) };
        let fields = loan.announcement(body.len());
        let sent = traffic.send(process, [&fields, end, &trailer.bytes()].concat());
        drop(counter);
        let rest = if sent.is_ok() { loan.fill(body, &self.memory) } else { Vec::new() };
        self.counter.lock().link.traffic().lent(&loan, rest);
        sent.map(|()| true)
    }

    /// Drops the messages that nobody has received. Call this method when no rank receives any more.
    pub(crate) fn drop_messages(&self) {
        self.counter.lock().inboxes.iter().for_each(Inbox::clear);
    }

    /// Sends a short frame made of parts to a process of this machine, if this is possible at once. Returns whether the
    /// frame was sent. Each part but the last must be a whole number of words.
    pub(crate) fn send_near(&self, process: usize, parts: &[&[u8]]) -> bool {
        self.counter.lock().link.traffic().send_near(process, parts)
    }

    /// Looks up to `looks` times at the next frame from a process of this machine. If the frame is a short message of
    /// the current run that `is_wanted` accepts, takes it out of the ring into `frame`. Returns the trailer and the
    /// length of the message. Returns `None` if there is no such message, or if other frames must be handled first:
    /// then call [`fetch`](Self::fetch).
    pub(crate) fn take_near(
        &self,
        process: usize,
        looks: u32,
        frame: &mut [u8; SHORT],
        mut is_wanted: impl FnMut(&Trailer) -> bool,
    ) -> Option<(Trailer, usize)> {
        let mut counter = self.counter.try_lock()?;
        let run = counter.run;
        if counter.broken.is_some() {
            return None;
        }
        counter.link.traffic().take_near(process, looks, frame, |frame| {
            let (trailer, length) = Trailer::behind(frame)?;
            let is_message = trailer.run == run && trailer.kind == Kind::Message;
            (is_message && is_wanted(&trailer)).then_some((trailer, length))
        })
    }

    /// Sends and receives frames, and sorts the frames that have arrived, unless another task is doing so. Looks up to
    /// `looks` times while nothing has arrived. Does not wait.
    ///
    /// # Errors
    /// Returns [`Error::Call`], and so does every later call.
    pub(crate) fn fetch(&self, looks: u32) -> Result<(), Error> {
        self.fetch_some(looks, usize::MAX)
    }

    /// Like [`fetch`](Self::fetch), but takes at most `most` frames from each ring.
    ///
    /// # Errors
    /// Returns the same errors.
    pub(crate) fn fetch_some(&self, looks: u32, most: usize) -> Result<(), Error> {
        match self.counter.try_lock() {
            Some(mut counter) => counter.fetch(self.process, looks, most),
            None => Ok(()),
        }
    }

    /// Returns the next frame of the wanted kind (a report, a verdict or a word), if one has arrived: its sender and
    /// its content. Frames of one kind may overtake frames of another kind.
    pub(crate) fn paper(&self, wanted: Kind) -> Result<Option<(usize, Vec<u8>)>, Error> {
        let mut counter = self.counter.lock();
        counter.fetch(self.process, 1, usize::MAX)?;
        let place = counter.papers.iter().position(|(_, kind, _)| *kind == wanted);
        let paper = place.and_then(|place| counter.papers.remove(place));
        Ok(paper.map(|(source, _, bytes)| (source, bytes)))
    }
}

impl Counter {
    fn fetch(&mut self, process: usize, looks: u32, most: usize) -> Result<(), Error> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let fetched = self.fetch_all(process, looks, most);
        if let Err(error) = &fetched {
            self.broken = Some(error.clone());
            // Waiting receives are polled again and get the error.
            self.inboxes.iter().for_each(Inbox::ring);
        }
        fetched
    }

    fn fetch_all(&mut self, process: usize, looks: u32, most: usize) -> Result<(), Error> {
        for _ in 0..looks {
            self.link.traffic().progress(most)?;
            if self.link.traffic().has_come() {
                break;
            }
        }
        while let Some((source, mut frame)) = self.link.traffic().next() {
            let Some(trailer) = Trailer::cut(&mut frame) else {
                return Err(Error::Call { function: "MPI_Imrecv", message: format!("process {source} sent no frame") });
            };
            self.sort(process, source, trailer, frame)?;
        }
        Ok(())
    }

    /// Delivers one frame to the inbox or the list that it is for. Keeps a frame of a later run, and drops a frame of
    /// an earlier run.
    fn sort(&mut self, process: usize, source: usize, trailer: Trailer, bytes: Vec<u8>) -> Result<(), Error> {
        let Trailer { run, context, tag, receipt, kind, .. } = trailer;
        if run > self.run {
            self.early.push_back((source, trailer, bytes));
            return Ok(());
        }
        if run < self.run {
            // The frame's receiver has ended, so nothing will miss the frame. Dropping a lent message returns its memory
            // to the sender.
            if kind == Kind::Lent {
                drop(self.lent(source, &bytes)?);
            }
            return Ok(());
        }
        let (from, to) = (trailer.source as usize, trailer.to as usize);
        match kind {
            Kind::Report | Kind::Verdict | Kind::Word => self.papers.push_back((source, kind, bytes)),
            Kind::Ended => self.inboxes.iter().for_each(|inbox| inbox.end(from, None)),
            Kind::Failed => self.inboxes.iter().for_each(|inbox| inbox.end(from, Some(context as usize))),
            Kind::Message | Kind::Lent => {
                let body = if kind == Kind::Lent {
                    Body::Pipelined(Box::new(self.lent(source, &bytes)?))
                } else {
                    Body::Bytes(bytes)
                };
                let threads = self.inboxes.len();
                let place = to.checked_sub(process * threads);
                let Some(inbox) = place.and_then(|place| self.inboxes.get(place)) else {
                    let message = format!(
                        "rank {from} in process {source} sent to rank {to}, which is not one of the {threads} in process \
                         {process}: the processes disagree in how many ranks each of them has"
                    );
                    return Err(Error::Call { function: "MPI_Imrecv", message });
                };
                inbox.deliver(Arrival { source: from, label: Label { context, tag, receipt }, body });
            }
        }
        Ok(())
    }

    /// Reads the announcement of a message that another process of this machine lends.
    fn lent(&mut self, source: usize, announcement: &[u8]) -> Result<Lent, Error> {
        let neighbour = self.link.traffic().neighbour(source);
        neighbour.and_then(|neighbour| Lent::announced(neighbour, announcement)).ok_or_else(|| {
            let message = format!("process {source} announced a message that cannot be read");
            Error::Call { function: "MPI_Win_shared_query", message }
        })
    }
}
