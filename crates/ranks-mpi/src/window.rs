//! Memory that the processes of one machine share, for short frames: a ring from each process to each other process.
//!
//! Matching an MPI message costs its sender and its receiver some hundred nanoseconds, even between neighbouring cores.
//! Between processes of one machine, a short frame can travel as it does between threads, in the cache line that
//! announces it ([`lehr_ranks::fabric::ring`]). For such frames, each process gets a segment of an MPI window at the
//! start, because MPI knows how to share memory on this machine. A segment has a ring for the frames from each other
//! process.
//!
//! Frames that are too long for a ring go by MPI. If a ring is full, `link.rs` holds frames back, and keeps all frames
//! in order. Lehr uses a window only for its memory: it uses no epochs and no one-sided calls.
//!
//! | words of a segment | content |
//! | --- | --- |
//! | the first 16 | in the first word: the number of the segment's process in the job |
//! | the words of one ring, for each process of the machine | the ring from that process |
#![allow(unsafe_code, reason = "memory that another process shares is known by its address")]

use lehr_ranks::fabric::ring::{self, Receiver, Sender, Word};
use lehr_sync::thread::yield_now;

use crate::abi::{Comm, Win};
use crate::error::Error;
use crate::mpi::Mpi;

/// The number of words at the head of a segment.
const HEAD: usize = 16;
/// The maximum number of bytes that the rings to one process take together, unless rings of the smallest size take
/// more.
const SEGMENT_BYTES: usize = 1 << 20;
/// The smallest and the largest size of one ring in bytes. The largest ring has room for some messages of 8 KiB, and
/// the smallest for many short messages.
const RING_BYTES: (usize, usize) = (1 << 12, 1 << 16);

/// The rings between this process and the other processes of its machine, in both directions.
pub(crate) struct Window {
    comm: Comm,
    window: Win,
    /// The ring to each process of the job; `None` for this process and for processes on other machines.
    outgoing: Vec<Option<Sender<&'static [Word]>>>,
    /// The ring from each other process of this machine, with the number of that process.
    pub(crate) incoming: Vec<(usize, Receiver<&'static [Word]>)>,
}

impl Window {
    /// Opens the rings between this process (number `process` of `processes`) and the other processes of its machine,
    /// where its number is `place`. All processes of the communicator, which are the two or more processes of this
    /// machine, call this function together.
    pub(crate) fn open(
        mpi: &Mpi,
        comm: Comm,
        place: usize,
        near: usize,
        process: usize,
        processes: usize,
    ) -> Result<Self, Error> {
        let (least, most) = RING_BYTES;
        let ring_words = ring::words((SEGMENT_BYTES / near).clamp(least, most));
        let count = HEAD + near * ring_words;
        let (window, own) = mpi.share_memory(comm, count * size_of::<usize>())?;
        for word in 0..count {
            // SAFETY: MPI has given this process `count` words at this address, and the others do not access them
            // before the barrier.
            unsafe { own.add(word).write(0) };
        }
        // SAFETY: as above; a segment is never empty.
        unsafe { own.write(process) };
        meet(mpi, comm)?;
        let mut outgoing: Vec<_> = (0..processes).map(|_| None).collect();
        let mut incoming = Vec::new();
        for other in (0..near).filter(|&other| other != place) {
            let theirs = mpi.shared_memory(window, other)?;
            // SAFETY: after the barrier, the head of each segment has been written for the last time. The other
            // process's segment has as many words as ours. It stays until `close`, after which no ring is used (`close`
            // consumes the window). After the head, everything is accessed through rings.
            unsafe {
                let number = theirs.read();
                outgoing[number] = Some(Sender::new(ring::at(theirs.add(HEAD + place * ring_words), ring_words)));
                incoming.push((number, Receiver::new(ring::at(own.add(HEAD + other * ring_words), ring_words))));
            }
        }
        Ok(Self { comm, window, outgoing, incoming })
    }

    /// Whether the ring to a process takes frames of this many bytes.
    pub(crate) fn takes(&self, process: usize, length: usize) -> bool {
        self.outgoing[process].as_ref().is_some_and(|ring| length <= ring.longest())
    }

    /// Sends a frame made of parts through a ring, if there is room. Each part but the last must be a whole number of
    /// words.
    pub(crate) fn send(&mut self, process: usize, number: usize, parts: &[&[u8]]) -> bool {
        self.outgoing[process].as_mut().is_some_and(|ring| ring.send_parts(number, parts))
    }

    /// Releases the window's memory and the communicator. All processes of the machine call this method together, after
    /// all frames have been received.
    pub(crate) fn close(self, mpi: &Mpi) -> Result<(), Error> {
        let Self { comm, window, .. } = self;
        mpi.give_memory_back(window)?;
        mpi.free(comm)
    }
}

/// Waits for all processes of a communicator.
fn meet(mpi: &Mpi, comm: Comm) -> Result<(), Error> {
    let mut barrier = mpi.barrier(comm)?;
    while !mpi.test(&mut barrier)? {
        yield_now();
    }
    Ok(())
}
