//! Memory that the processes of one machine share, for short frames: a ring from each process to each other process.
//!
//! Matching an MPI message costs its sender and its receiver some hundred nanoseconds, even between neighbouring cores.
//! Between processes of one machine, a short frame can travel as it does between threads, in the cache line that
//! announces it ([`lehr_ranks::fabric::ring`]). For such frames, each process gets a segment of an MPI window at the
//! start, because MPI knows how to share memory on this machine. A segment has a ring for the frames from each other
//! process.
//!
//! Frames that are too long for a ring go by MPI, unless they are lent (`lent.rs`). If a ring is full, `link.rs` holds
//! frames back, and keeps all frames in order. Lehr uses a window only for its memory: it uses no epochs and no
//! one-sided calls.
//!
//! | words of a segment | content |
//! | --- | --- |
//! | the first 16 | the number of the segment's process in the job, its number in the system, and its [`Check`] |
//! | the words of one ring, for each process of the machine | the ring from that process |
//! | one for each process of the machine, and words up to the end of a line | 1 if the segment's process may read the memory of that process |
//! | the words of an area | the long messages of the process (`lent.rs`) |
#![allow(unsafe_code, reason = "memory that another process shares is known by its address")]

use lehr_ranks::fabric::ring::{self, Receiver, Sender, Word};
use lehr_sync::thread::yield_now;

use crate::abi::{Comm, Win};
use crate::error::Error;
use crate::lent::{Area, Check, Loan, Neighbour, Sending};
use crate::mpi::Mpi;

/// The number of words at the head of a segment.
const HEAD: usize = 16;
/// The maximum number of bytes that the rings to one process take together, unless rings of the smallest size take
/// more.
pub(crate) const SEGMENT_BYTES: usize = 1 << 20;
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
    /// The long messages that this process sends.
    pub(crate) sending: Sending,
    /// The other processes of this machine, by their number in the job.
    neighbours: Vec<Option<Neighbour>>,
    /// For each process of the job, whether it may read the memory of this process.
    readers: Vec<bool>,
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
        let readers_at = HEAD + near * ring_words;
        let area_at = (readers_at + near).next_multiple_of(HEAD);
        let (window, own) = mpi.share_memory(comm, (area_at + Area::words(near)) * size_of::<usize>())?;
        // The system provides the places of an area when they are used.
        for word in 0..area_at + Area::SLOT_WORDS {
            // SAFETY: MPI has given this process these words at this address, and the others do not access them before
            // the barrier.
            unsafe { own.add(word).write(0) };
        }
        let check = Check::new(process);
        // SAFETY: as above; the head has more words than these.
        unsafe {
            own.write(process);
            own.add(1).write(std::process::id() as usize);
            own.add(2).write(check.address);
            own.add(3).write(check.value);
        }
        meet(mpi, comm)?;
        let mut outgoing: Vec<_> = (0..processes).map(|_| None).collect();
        let mut incoming = Vec::new();
        let (mut neighbours, mut readers) = (vec![None; processes], vec![false; processes]);
        let others = (0..near).filter(|&other| other != place);
        let segments = others.map(|other| Ok((other, mpi.shared_memory(window, other)?)));
        let segments: Vec<(usize, *mut usize)> = segments.collect::<Result<_, Error>>()?;
        for &(other, theirs) in &segments {
            // SAFETY: after the barrier, the head of each segment has been written for the last time. The other
            // process's segment has as many words as ours. It stays until `close`, after which no ring and no slot is
            // used: `close` consumes the window, and no message of another process is left (`lent.rs`). After the
            // head, everything is accessed through rings and slots. Only the words at `readers_at` are written here
            // and read after the next barrier.
            unsafe {
                let (number, system_number) = (theirs.read(), theirs.add(1).read());
                let check = Check { address: theirs.add(2).read(), value: theirs.add(3).read() };
                outgoing[number] = Some(Sender::new(ring::at(theirs.add(HEAD + place * ring_words), ring_words)));
                incoming.push((number, Receiver::new(ring::at(own.add(HEAD + other * ring_words), ring_words))));
                if check.may_be_read_in(system_number) {
                    own.add(readers_at + other).write(1);
                }
                neighbours[number] =
                    Some(Neighbour { process: system_number, area: Area::at(theirs.add(area_at), near) });
            }
        }
        meet(mpi, comm)?;
        for (_, theirs) in segments {
            // SAFETY: after the second barrier, these words have been written for the last time.
            unsafe { readers[theirs.read()] = theirs.add(readers_at + place).read() == 1 };
        }
        // SAFETY: as above, for our own segment.
        let sending = Sending::new(unsafe { Area::at(own.add(area_at), near) });
        Ok(Self { comm, window, outgoing, incoming, sending, neighbours, readers })
    }

    /// Begins a long message of `length` bytes to a process; `None` if it must go by MPI.
    pub(crate) fn lend(&mut self, process: usize, length: usize) -> Option<Loan> {
        self.neighbours[process]?;
        self.sending.begin(length, self.readers[process])
    }

    /// Returns another process of this machine.
    pub(crate) fn neighbour(&self, process: usize) -> Option<Neighbour> {
        self.neighbours[process]
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
