//! Frames of bytes between processes. Sending never waits, and any task that polls receives frames for the whole
//! process.
//!
//! A frame is a run of bytes that belongs to the link once it is passed to [`Link::send`]. So nothing that a task does
//! later, such as dropping its future or ending, can disturb a transfer. A matched probe finds incoming frames and
//! their lengths, and the link receives each frame straight into memory of its length. So the length has no limit,
//! nothing is copied in between, and no receive is left posted.
//!
//! All frames have the same MPI tag. The content of a frame says which rank of the process it is for. The link delivers
//! frames in the order in which each process sent them. A long frame that is still arriving comes before a later, short
//! frame that is complete already.
//!
//! Between processes of one machine, short frames go through shared memory (`window.rs`). Because frames can take two
//! ways, each frame has a sequence number: 0, 1, 2 ... from one process to another. The receiver uses the sequence
//! numbers to put the frames of both ways in order.
//!
//! A long message to a process of this machine goes through memory that both share (`lent.rs`). Only its announcement is
//! a frame.
//!
//! [`Traffic`] makes every call of MPI after the start, under exclusive access. Tasks that share the traffic use one
//! lock, as the thread level "serialised" requires.
#![allow(unsafe_code, reason = "buffers are lent to MPI until their requests are complete")]

use std::collections::VecDeque;

use lehr_ranks::fabric::memory::Memory;
use lehr_ranks::fabric::ring::NUMBERS;
use lehr_sync::thread::yield_now;

use crate::abi::Comm;
use crate::environment;
use crate::error::Error;
use crate::lent::{Loan, Neighbour};
use crate::mpi::{Mpi, Pending};
use crate::window::Window;

/// The MPI tag of all frames.
const TAG: i32 = 1;

/// The size in bytes of the number that follows each frame sent by MPI.
pub(crate) const NUMBER: usize = size_of::<u32>();

/// The number of frames that are taken straight out of rings before MPI is polled again.
const NEAR: u32 = 128;

/// The maximum length, in bytes, of a frame that is read directly from a ring: the capacity of one line.
pub(crate) const SHORT: usize = 56;

/// The number of looks at the window for each poll of MPI. This number applies if all processes are on this machine, so
/// that MPI has only long messages, and no transfer by MPI is in progress.
const LOOKS: u32 = 16;

/// A frame that MPI is sending. The bytes are on the heap, so they do not move when this struct moves.
struct Sending {
    request: Pending,
    /// The bytes of the frame, kept until the request is complete.
    frame: Vec<u8>,
}

/// An incoming frame: memory of the length from the probe, filled when the request is complete.
struct Arriving {
    request: Pending,
    /// Memory with enough capacity for the frame; its length is set when the request is complete.
    frame: Vec<u8>,
    length: usize,
    is_complete: bool,
}

/// MPI itself, and the frames in transit.
pub(crate) struct Traffic {
    mpi: Mpi,
    comm: Comm,
    /// The frames that are being sent, by destination, in order of sending. Only the first frame of each destination is
    /// tested, because frames complete nearly in order.
    sending: Vec<VecDeque<Sending>>,
    /// The frames that are arriving, by source, in order of matching, which is the order of sending.
    arriving: Vec<VecDeque<Arriving>>,
    /// The number of frames in `sending`, and the number of frames in `arriving`.
    counts: (usize, usize),
    /// The short frames for which a ring had no room, with their numbers, by destination, in order of sending.
    held: Vec<VecDeque<(usize, Vec<u8>)>>,
    held_count: usize,
    memory: Memory,
    /// `None` if there are no other processes on this machine.
    window: Option<Window>,
    /// The number of looks at the window until the next poll of MPI, and the number of looks between two polls of MPI.
    looks: (u32, u32),
    /// The number of frames taken straight out of rings since [`NEAR`] of them last caused a poll of MPI.
    taken_near: u32,
    /// The sequence number of the next frame to each process and, in `next_received`, of the next frame from each
    /// process.
    next_sent: Vec<usize>,
    next_received: Vec<usize>,
    /// The frames that are complete and in order, each with the process that sent it.
    come: VecDeque<(usize, Vec<u8>)>,
    frames_sent: u64,
    frames_received: u64,
}

impl Drop for Traffic {
    fn drop(&mut self) {
        // Frames that are still in transit belong to MPI. There are some only after a failure, when the process is
        // about to end.
        for sending in self.sending.drain(..).flatten() {
            std::mem::forget(sending);
        }
        for arriving in self.arriving.drain(..).flatten() {
            std::mem::forget(arriving);
        }
    }
}

/// This process's connection to the other processes.
pub(crate) struct Link {
    process: usize,
    processes: usize,
    near: (usize, usize),
    looks: u32,
    traffic: Traffic,
}

impl Link {
    /// Creates the link, which takes over MPI. All processes call this function together, right after their start.
    pub(crate) fn new(mpi: Mpi) -> Result<Self, Error> {
        let (comm, process, processes) = mpi.world()?;
        let (near, place, neighbours) = mpi.near()?;
        let window = if neighbours > 1 && environment::uses_window() {
            Some(Window::open(&mpi, near, place, neighbours, process, processes)?)
        } else {
            mpi.free(near)?;
            None
        };
        let looks = if window.is_some() && neighbours == processes { LOOKS } else { 1 };
        let traffic = Traffic {
            mpi,
            comm,
            sending: (0..processes).map(|_| VecDeque::new()).collect(),
            arriving: (0..processes).map(|_| VecDeque::new()).collect(),
            counts: (0, 0),
            held: (0..processes).map(|_| VecDeque::new()).collect(),
            held_count: 0,
            memory: Memory::default(),
            window,
            looks: (0, looks),
            taken_near: 0,
            next_sent: vec![0; processes],
            next_received: vec![0; processes],
            come: VecDeque::new(),
            frames_sent: 0,
            frames_received: 0,
        };
        Ok(Self { process, processes, near: (place, neighbours), looks, traffic })
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

    /// Returns the number of looks at the window for each poll of MPI: 1 if every look includes MPI.
    pub(crate) fn looks(&self) -> u32 {
        self.looks
    }

    pub(crate) fn traffic(&mut self) -> &mut Traffic {
        &mut self.traffic
    }
}

impl Traffic {
    pub(crate) fn mpi(&self) -> &Mpi {
        &self.mpi
    }

    /// Returns the store of reusable memory for long frames.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Returns the number of frames sent and received so far.
    pub(crate) fn frames(&self) -> (u64, u64) {
        (self.frames_sent, self.frames_received)
    }

    /// Sends a frame to a process, which may be this process. Does not wait.
    pub(crate) fn send(&mut self, process: usize, mut frame: Vec<u8>) -> Result<(), Error> {
        let number = self.next_sent[process];
        self.next_sent[process] = (number + 1) % NUMBERS;
        if self.window.as_ref().is_some_and(|window| window.takes(process, frame.len())) {
            self.held[process].push_back((number, frame));
            self.held_count += 1;
            self.frames_sent += 1;
            self.send_held(process);
            return Ok(());
        }
        frame.extend_from_slice(&(number as u32).to_le_bytes());
        // SAFETY: the bytes stay in `Sending` until the request is complete, or for ever (`Drop`).
        let mut request = unsafe { self.mpi.send(self.comm, process, TAG, &frame) }?;
        self.frames_sent += 1;
        // A short frame has usually been sent already.
        let is_sent = self.sending[process].is_empty() && self.mpi.test(&mut request)?;
        if !is_sent {
            self.sending[process].push_back(Sending { request, frame });
            self.counts.0 += 1;
        } else {
            self.memory.give_back(frame);
        }
        Ok(())
    }

    /// Sends a short frame made of parts to a process of this machine, if this is possible at once. Returns whether the
    /// frame was sent. Each part but the last must be a whole number of words.
    pub(crate) fn send_near(&mut self, process: usize, parts: &[&[u8]]) -> bool {
        let Some(window) = &mut self.window else { return false };
        let number = self.next_sent[process];
        let length = parts.iter().map(|part| part.len()).sum();
        let goes =
            self.held[process].is_empty() && window.takes(process, length) && window.send(process, number, parts);
        if goes {
            self.next_sent[process] = (number + 1) % NUMBERS;
            self.frames_sent += 1;
        }
        goes
    }

    /// Begins a long message of `length` bytes to a process of this machine. Returns `None` if the message must go by
    /// MPI.
    pub(crate) fn lend(&mut self, process: usize, length: usize) -> Option<Loan> {
        self.free_lent();
        self.window.as_mut()?.lend(process, length)
    }

    /// Notes that a long message has been copied, and keeps its rest until the receiver has finished.
    pub(crate) fn lent(&mut self, loan: &Loan, rest: Vec<u8>) {
        if let Some(window) = &mut self.window {
            window.sending.copied(loan, rest);
        }
    }

    /// Returns another process of this machine.
    pub(crate) fn neighbour(&self, process: usize) -> Option<Neighbour> {
        self.window.as_ref().and_then(|window| window.neighbour(process))
    }

    /// Takes back the memory of long messages whose receivers have finished.
    fn free_lent(&mut self) {
        if let Some(window) = &mut self.window {
            window.sending.free(|rest| self.memory.give_back(rest));
        }
    }

    /// Looks up to `looks` times for the next frame from a process of this machine. If the frame is short and `accept`
    /// takes it, moves it out of the ring into `frame`. Otherwise returns `None`, also if other frames must be moved or
    /// delivered first.
    pub(crate) fn take_near<R>(
        &mut self,
        process: usize,
        looks: u32,
        frame: &mut [u8; SHORT],
        accept: impl FnOnce(&[u8]) -> Option<R>,
    ) -> Option<R> {
        // `progress` moves frames that are in transit by MPI or held back. A caller that always finds something here
        // must still poll MPI from time to time.
        if self.counts != (0, 0) || self.held_count > 0 || self.has_come() {
            return None;
        }
        if self.taken_near == NEAR {
            (self.taken_near, self.looks.0) = (0, 0);
            return None;
        }
        let (_, ring) = self.window.as_mut()?.incoming.iter_mut().find(|(source, _)| *source == process)?;
        let first = (0..looks).find_map(|_| ring.first());
        let (number, length) = first?;
        let frame = frame.get_mut(..length)?;
        if number != self.next_received[process] {
            return None;
        }
        ring.copy(frame);
        let accepted = accept(frame)?;
        ring.discard();
        self.taken_near += 1;
        self.next_received[process] = (number + 1) % NUMBERS;
        self.frames_received += 1;
        Some(accepted)
    }

    /// Sends short frames that are held back for a process, as many as the ring to that process has room for.
    fn send_held(&mut self, process: usize) {
        let (Some(window), held) = (&mut self.window, &mut self.held[process]) else { return };
        while let Some((number, frame)) = held.front()
            && window.send(process, *number, &[frame])
        {
            held.pop_front();
            self.held_count -= 1;
        }
    }

    /// Whether a complete frame is waiting, which [`next`](Self::next) returns.
    pub(crate) fn has_come(&self) -> bool {
        !self.come.is_empty()
    }

    /// Returns the next complete frame, and the process that sent it.
    pub(crate) fn next(&mut self) -> Option<(usize, Vec<u8>)> {
        self.come.pop_front()
    }

    /// Sends held-back frames and receives frames, as far as possible without waiting; [`next`](Self::next) then
    /// returns complete frames. The method takes at most `most` frames from each ring: [`take_near`](Self::take_near)
    /// can take the frames that stay there.
    pub(crate) fn progress(&mut self, most: usize) -> Result<(), Error> {
        if let Some(window) = &mut self.window {
            for place in 0..window.incoming.len() {
                self.hand_out_near(place, most)?;
            }
        }
        if self.held_count > 0 {
            (0..self.held.len()).for_each(|process| self.send_held(process));
        }
        let (until, between) = self.looks;
        self.looks.0 = until.checked_sub(1).unwrap_or(between - 1);
        // If MPI has transfers in progress, polls MPI at once. Otherwise, polls it for new messages only from time to
        // time.
        if until == 0 || self.counts != (0, 0) { self.progress_far() } else { Ok(()) }
    }

    /// Polls MPI: begins to receive new frames, and completes transfers. Also frees what was lent.
    fn progress_far(&mut self) -> Result<(), Error> {
        self.free_lent();
        while let Some(found) = self.mpi.find(self.comm, TAG)? {
            let (source, length) = (found.source, found.length);
            let mut frame = self.memory.take(length);
            // SAFETY: the capacity is at least the length; the frame stays in `Arriving`, untouched, until the request
            // is complete, or for ever (`Drop`).
            let request = unsafe { self.mpi.receive(found, frame.as_mut_ptr()) }?;
            self.arriving[source].push_back(Arriving { request, frame, length, is_complete: false });
            self.counts.1 += 1;
            self.hand_out(source)?;
        }
        if self.counts.1 > 0 {
            for source in 0..self.arriving.len() {
                self.hand_out(source)?;
            }
        }
        if self.counts.0 > 0 {
            for sending in &mut self.sending {
                while let Some(first) = sending.front_mut() {
                    if !self.mpi.test(&mut first.request)? {
                        break;
                    }
                    if let Some(Sending { frame, .. }) = sending.pop_front() {
                        self.memory.give_back(frame);
                    }
                    self.counts.0 -= 1;
                }
            }
        }
        Ok(())
    }

    /// Delivers the frames at the head of a ring, and the frames between them that have come by MPI.
    fn hand_out_near(&mut self, place: usize, most: usize) -> Result<(), Error> {
        for _ in 0..most {
            let Some(window) = &mut self.window else { return Ok(()) };
            let (source, ring) = &mut window.incoming[place];
            let source = *source;
            match ring.first() {
                Some((number, _)) if number == self.next_received[source] => {
                    let frame = ring.take();
                    self.received(source, frame);
                }
                Some(_) if self.hand_out_far(source)? => {}
                Some(_) => {
                    // The frame before this one comes by MPI.
                    self.looks.0 = 0;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Delivers the complete frames of a source, from MPI and from the ring, in order.
    fn hand_out(&mut self, source: usize) -> Result<(), Error> {
        while self.hand_out_far(source)? {
            let place = |window: &Window| window.incoming.iter().position(|(other, _)| *other == source);
            if let Some(place) = self.window.as_ref().and_then(place) {
                self.hand_out_near(place, usize::MAX)?;
            }
        }
        Ok(())
    }

    /// Delivers the first frame of a source that comes by MPI, if it is complete and the next in order. Returns whether
    /// the frame was delivered.
    fn hand_out_far(&mut self, source: usize) -> Result<bool, Error> {
        let Some(first) = self.arriving[source].front_mut() else { return Ok(false) };
        if !first.is_complete {
            if !self.mpi.test(&mut first.request)? {
                return Ok(false);
            }
            first.is_complete = true;
            // SAFETY: the request is complete, so MPI has written `length` bytes, and the capacity was made for them.
            unsafe { first.frame.set_len(first.length) };
        }
        let Some((_, number)) = first.frame.split_last_chunk::<NUMBER>() else {
            return Err(Error::Call { function: "MPI_Imrecv", message: format!("process {source} sent no frame") });
        };
        if u32::from_le_bytes(*number) as usize != self.next_received[source] {
            // The frames in between are in the ring, or about to be.
            return Ok(false);
        }
        let Some(Arriving { mut frame, length, .. }) = self.arriving[source].pop_front() else { return Ok(false) };
        frame.truncate(length - NUMBER);
        self.counts.1 -= 1;
        self.received(source, frame);
        Ok(true)
    }

    fn received(&mut self, source: usize, frame: Vec<u8>) {
        self.next_received[source] = (self.next_received[source] + 1) % NUMBERS;
        self.frames_received += 1;
        self.come.push_back((source, frame));
    }

    /// Ends the traffic, after all processes have reported that they have sent all their frames. Drops frames that
    /// still arrive. Waits until the other processes have ended their traffic too.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        while self.counts.0 > 0 || self.held_count > 0 {
            self.move_all()?;
            yield_now();
        }
        let mut barrier = self.mpi.barrier(self.comm)?;
        // While this process is in the barrier, other processes may still wait for it to receive their frames.
        while !self.mpi.test(&mut barrier)? || self.counts.1 > 0 {
            self.move_all()?;
            yield_now();
        }
        self.move_all()
    }

    /// Like [`progress`](Self::progress), but always polls MPI too.
    fn move_all(&mut self) -> Result<(), Error> {
        self.looks.0 = 0;
        self.progress(usize::MAX)
    }

    /// Frees the window and the communicator, after [`settle`](Self::settle).
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        if let Some(window) = self.window.take() {
            window.close(&self.mpi)?;
        }
        self.mpi.free(self.comm)
    }
}
