//! Long messages between processes of one machine, through memory that they share.
//!
//! By MPI, a long message is copied three times. The sender copies it, because a send does not wait. MPI copies it into
//! memory of the receiver's process, and the receiver copies it to its destination. Here, the sender announces the
//! message by a short frame. Then it copies the message, piece by piece, into *places* in its segment of the window, and
//! the receiver follows. So two copies are left, and they overlap. For the meaning of the announcement, see
//! [`lehr_ranks::fabric::pipeline`].
//!
//! A message gets a few places at the start. The receiver returns each place that it has read, and the sender uses it
//! again. If the places are full and the receiver has not begun, the sender does not wait. It copies the rest of the
//! message to memory of its own. The receiver has the system copy the rest from there, as Linux offers by
//! `process_vm_readv`. Containers and security modules may forbid this. So each process tries at the start to read a
//! word of each other process, and tells that process. A process that may not read gets only messages that fit into
//! their places; the others go by MPI.
//!
//! | part of a segment | content |
//! | --- | --- |
//! | a *slot* for each message on its way | its progress ([`lehr_ranks::fabric::progress`]) |
//! | places | pieces of messages |
//!
//! The sender keeps its slot, its places and its memory until the receiver has finished. All accesses end before the
//! processes meet in `settle`: before that, a receiver drops the messages that nobody has received.
#![allow(unsafe_code, reason = "memory that another process shares, or that the system reads, is known by its address")]

use std::mem::MaybeUninit;
use std::slice;

use lehr_ranks::fabric::memory::Memory;
use lehr_ranks::fabric::pipeline::{AHEAD, PIECE, Pipelined, follow};
use lehr_ranks::fabric::progress::{self, Progress};
use lehr_ranks::fabric::ring::{self, Word};
use lehr_ranks::fabric::streaming;
use lehr_ranks::{Error, Layout};
use lehr_sync::unix_ms;

use crate::window::SEGMENT_BYTES;

/// The number of slots of a process: the maximum number of its long messages that are on their way at once.
const SLOTS: usize = 32;
/// The number of words of a piece.
const PIECE_WORDS: usize = PIECE / size_of::<usize>();
/// The maximum number of places of a process.
const PLACES_MAX: usize = 64;
/// The number of bytes that the places and the rings of the processes of a machine take together, unless the rings take
/// more. Containers often have 64 MiB of shared memory, of which MPI takes some.
const SHARED_BYTES: usize = 1 << 25;
// The rest of a message has a place too.
const _: () = assert!(AHEAD < progress::PLACES);
/// The bit of a place that says that it is the address of the rest of the message, in memory of the sender.
const REST: usize = 1 << (usize::BITS - 1);

/// A word that other processes read to find out whether they may, and whether they read this process. In another
/// container, the same number can belong to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) address: usize,
    pub(crate) value: usize,
}

impl Check {
    /// Creates the word of this process, which is number `process` of the job. The word stays until the program ends.
    pub(crate) fn new(process: usize) -> Self {
        // The job and the process in it.
        let value = (unix_ms() as usize).wrapping_mul(Layout::RANKS_MAX).wrapping_add(process);
        Self { address: (&raw const *Box::leak(Box::new(value))).addr(), value }
    }

    /// Whether this process may read the memory of the process with this word and this number in the system.
    pub(crate) fn may_be_read_in(self, process: usize) -> bool {
        let mut bytes = [0; size_of::<usize>()];
        // SAFETY: the bytes are memory of this process that nothing else uses.
        let read = unsafe { read(process, self.address, bytes.as_mut_ptr(), bytes.len()) };
        read.is_ok_and(|count| count == bytes.len()) && usize::from_ne_bytes(bytes) == self.value
    }
}

/// Copies up to `length` bytes from an address in another process to `to`; returns the number of bytes copied.
///
/// # Safety
/// At `to` are `length` bytes that may be written, and nothing else accesses them.
#[cfg(target_os = "linux")]
unsafe fn read(process: usize, address: usize, to: *mut u8, length: usize) -> Result<usize, std::io::Error> {
    let local = libc::iovec { iov_base: to.cast(), iov_len: length };
    let remote = libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: length };
    let process = libc::pid_t::try_from(process).map_err(std::io::Error::other)?;
    // SAFETY: the caller vouches for the local memory, and the system checks the remote memory.
    let read = unsafe { libc::process_vm_readv(process, &local, 1, &remote, 1, 0) };
    usize::try_from(read).map_err(|_| std::io::Error::last_os_error())
}

#[cfg(not(target_os = "linux"))]
unsafe fn read(_: usize, _: usize, _: *mut u8, _: usize) -> Result<usize, std::io::Error> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// The slots and the places in the segment of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    slots: &'static [Word],
    /// The address of the first place.
    places: *mut u8,
    count: usize,
}

// SAFETY: the memory is shared between processes; the progress of a message says who may access a place.
unsafe impl Send for Area {}
// SAFETY: as above.
unsafe impl Sync for Area {}

/// Returns the number of places of each of `near` processes of a machine.
fn places_of(near: usize) -> usize {
    (SHARED_BYTES.saturating_sub(near * SEGMENT_BYTES) / PIECE / near).min(PLACES_MAX)
}

impl Area {
    /// The number of words of the slots, with which an area begins.
    pub(crate) const SLOT_WORDS: usize = SLOTS * progress::WORDS;

    /// Returns the number of words of an area, if a machine has `near` processes.
    pub(crate) fn words(near: usize) -> usize {
        Self::SLOT_WORDS + places_of(near) * PIECE_WORDS
    }

    /// Returns the area at an address.
    ///
    /// # Safety
    /// The words of an area are at the address; those of its slots are zero at first. They stay as long as an area, a
    /// message in it or its announcement is used, and nothing else accesses them.
    pub(crate) unsafe fn at(address: *mut usize, near: usize) -> Self {
        // SAFETY: the caller vouches for the memory; the places begin behind the slots.
        let (slots, places) = unsafe { (ring::at(address, Self::SLOT_WORDS), address.add(Self::SLOT_WORDS).cast()) };
        Self { slots, places, count: places_of(near) }
    }

    fn progress(self, slot: usize) -> Option<Progress<&'static [Word]>> {
        self.slots.as_chunks::<{ progress::WORDS }>().0.get(slot).map(|words| Progress::new(&words[..]))
    }

    /// Returns the address of a place.
    fn place(self, number: usize) -> *mut u8 {
        assert!(number < self.count, "place {number} of {}", self.count);
        // SAFETY: there are this many places.
        unsafe { self.places.add(number * PIECE) }
    }
}

/// The long messages that this process sends.
pub(crate) struct Sending {
    area: Area,
    /// For each slot, what its message uses; `None` if the slot is free.
    uses: Vec<Option<Use>>,
    free: Vec<usize>,
}

/// The places and the memory of a message, until its receiver has finished.
struct Use {
    places: Vec<usize>,
    rest: Vec<u8>,
    /// Whether the sender is still copying.
    is_copying: bool,
}

/// A message that is being sent, with its slot and its places.
pub(crate) struct Loan {
    slot: usize,
    area: Area,
    progress: Progress<&'static [Word]>,
    places: Vec<usize>,
}

impl Sending {
    pub(crate) fn new(area: Area) -> Self {
        Self { area, uses: (0..SLOTS).map(|_| None).collect(), free: (0..area.count).collect() }
    }

    /// Returns a slot and places for a message of `length` bytes that is about to be announced; `None` if all slots are
    /// taken. If the receiver cannot read a rest, the places must suffice.
    pub(crate) fn begin(&mut self, length: usize, may_have_rest: bool) -> Option<Loan> {
        let count = self.free.len().min(AHEAD).min(length.div_ceil(PIECE));
        if !may_have_rest && count * PIECE < length {
            return None;
        }
        let slot = self.uses.iter().position(Option::is_none)?;
        let progress = self.area.progress(slot)?;
        progress.reset();
        let places = self.free.split_off(self.free.len() - count);
        self.uses[slot] = Some(Use { places: places.clone(), rest: Vec::new(), is_copying: true });
        Some(Loan { slot, area: self.area, progress, places })
    }

    /// Notes that a message has been copied, and keeps its rest until the receiver has finished.
    pub(crate) fn copied(&mut self, loan: &Loan, rest: Vec<u8>) {
        if let Some(used) = &mut self.uses[loan.slot] {
            (used.rest, used.is_copying) = (rest, false);
        }
    }

    /// Frees the slots and the places of messages whose receivers have finished, and passes their memory to `reuse`.
    pub(crate) fn free(&mut self, mut reuse: impl FnMut(Vec<u8>)) {
        for (slot, place) in self.uses.iter_mut().enumerate() {
            if let Some(used) = place
                && !used.is_copying
                && self.area.progress(slot).is_some_and(|progress| progress.is_finished())
            {
                self.free.append(&mut used.places);
                reuse(std::mem::take(&mut used.rest));
                *place = None;
            }
        }
    }
}

impl Loan {
    /// Returns the bytes of the announcement before the end of the message: the slot and the length of the body.
    pub(crate) fn announcement(&self, length: usize) -> [u8; 16] {
        announcement(self.slot, length)
    }

    /// Copies the body, after the announcement. Returns the rest that did not get a place.
    pub(crate) fn fill(&self, body: &[u8], memory: &Memory) -> Vec<u8> {
        for (number, piece) in body.chunks(PIECE).enumerate() {
            // The piece goes where an earlier piece is, once that has been read. The first pieces need no earlier one.
            let earlier = (number + 1).saturating_sub(self.places.len()) * PIECE;
            let is_read = || self.progress.read() >= earlier;
            if !is_read() {
                if self.places.is_empty() || !self.progress.has_begun() {
                    return self.fill_rest(body, number, memory);
                }
                if !follow(|| is_read().then_some(true).or(self.progress.is_finished().then_some(false))) {
                    // The receiver wanted no more.
                    return Vec::new();
                }
            }
            let place = self.places[number % self.places.len()];
            // SAFETY: a place has room for a piece. No other message uses the place, and its receiver reads no more
            // from it: it has read the earlier piece, or there was none.
            streaming::copy(piece, unsafe { slice::from_raw_parts_mut(self.area.place(place).cast(), piece.len()) });
            self.progress.put(number, place);
            self.progress.report_copied(number * PIECE + piece.len());
        }
        Vec::new()
    }

    /// Copies the body from a piece on to memory of this process.
    fn fill_rest(&self, body: &[u8], number: usize, memory: &Memory) -> Vec<u8> {
        let start = number * PIECE;
        let mut rest = memory.take(body.len() - start);
        let address = rest.as_ptr();
        self.progress.put(number, address.addr() | REST);
        for piece in body[start..].chunks(PIECE) {
            streaming::append(piece, &mut rest);
            self.progress.report_copied(start + rest.len());
        }
        debug_assert_eq!(rest.as_ptr(), address, "there was room for all pieces");
        rest
    }
}

fn announcement(slot: usize, length: usize) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (bytes, field) in bytes.as_chunks_mut().0.iter_mut().zip([slot, length]) {
        *bytes = (field as u64).to_le_bytes();
    }
    bytes
}

/// Another process of this machine: its number in the system, and the area of its messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) process: usize,
    pub(crate) area: Area,
}

/// A message from another process, as its receiver reads it.
pub(crate) struct Lent {
    neighbour: Neighbour,
    length: usize,
    end: Vec<u8>,
    progress: Progress<&'static [Word]>,
    /// Whether the message has been read. The sender may then use the slot for another message.
    has_finished: bool,
}

impl Lent {
    /// Reads an announcement from a neighbour; `None` if it is none.
    pub(crate) fn announced(neighbour: Neighbour, announcement: &[u8]) -> Option<Self> {
        let (fields, end) = announcement.split_first_chunk::<16>()?;
        let field = |place: usize| usize::try_from(u64::from_le_bytes(fields.as_chunks::<8>().0[place])).ok();
        let (slot, length) = (field(0)?, field(1)?);
        let progress = neighbour.area.progress(slot)?;
        Some(Self { neighbour, length, end: end.to_vec(), progress, has_finished: false })
    }

    /// Copies the first `length` bytes of the body to `to`, once, and returns the slot to the sender.
    ///
    /// # Safety
    /// At `to` are `length` bytes that may be written, and nothing else accesses them.
    unsafe fn take(&mut self, to: *mut u8, length: usize) -> Result<(), Error> {
        assert!(!self.has_finished, "a message is read once");
        // SAFETY: the caller vouches for the memory.
        let read = unsafe { self.follow(to, length) };
        self.finish();
        read
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.has_finished, true) {
            self.progress.finish();
        }
    }

    /// Copies the first `length` bytes of the body to `to`, as fast as the sender copies them.
    ///
    /// # Safety
    /// At `to` are `length` bytes that may be written, and nothing else accesses them.
    unsafe fn follow(&self, to: *mut u8, length: usize) -> Result<(), Error> {
        let Self { neighbour: Neighbour { process, area }, progress, .. } = self;
        progress.begin();
        let (mut done, mut rest) = (0, None);
        while done < length {
            let copied = follow(|| Some(progress.copied().min(length)).filter(|&copied| copied > done));
            // SAFETY: `done` is below `length`, so the rest of the caller's memory begins there.
            let to = unsafe { to.add(done) };
            if rest.is_none() {
                let number = done / PIECE;
                let place = progress.place(number);
                if place & REST == 0 {
                    let count = copied.min((number + 1) * PIECE) - done;
                    // SAFETY: the sender has copied these bytes to the place, and leaves them until they are reported
                    // as read.
                    let bytes = unsafe { slice::from_raw_parts(area.place(place).add(done % PIECE), count) };
                    // SAFETY: the caller's memory has room for these bytes.
                    let to = unsafe { slice::from_raw_parts_mut(to.cast::<MaybeUninit<u8>>(), count) };
                    streaming::receive(bytes, to, length);
                    done += count;
                    progress.report_read(done);
                    continue;
                }
                rest = Some((place & !REST, number * PIECE));
            }
            if let Some((address, start)) = rest {
                // SAFETY: as above.
                let read = unsafe { read(*process, address + done - start, to, copied - done) };
                done += match read {
                    Ok(0) => return Err(failed("nothing was read")),
                    Ok(count) => count,
                    Err(error) => return Err(failed(&error.to_string())),
                };
            }
        }
        Ok(())
    }
}

fn failed(why: &str) -> Error {
    Error::Transport { message: format!("cannot read a message from another process of this machine: {why}") }
}

impl Pipelined for Lent {
    fn length(&self) -> usize {
        self.length
    }

    fn end(&self) -> &[u8] {
        &self.end
    }

    fn copy(&mut self, into: &mut [u8]) -> Result<(), Error> {
        assert!(into.len() <= self.length, "{} bytes of a body of {}", into.len(), self.length);
        // SAFETY: the slice is exclusive.
        unsafe { self.take(into.as_mut_ptr(), into.len()) }
    }

    fn append(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        bytes.reserve(self.length);
        let room = bytes.spare_capacity_mut();
        // SAFETY: the capacity was reserved, and is exclusive.
        unsafe { self.take(room.as_mut_ptr().cast(), self.length) }?;
        // SAFETY: this many bytes have been written.
        unsafe { bytes.set_len(bytes.len() + self.length) };
        Ok(())
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Returns the messages that this process sends to itself.
    fn area() -> (Sending, Neighbour) {
        let words = Box::leak(vec![0_usize; Area::words(2)].into_boxed_slice());
        // SAFETY: the words are never freed, and nothing else uses them.
        let area = unsafe { Area::at(words.as_mut_ptr(), 2) };
        (Sending::new(area), Neighbour { process: std::process::id() as usize, area })
    }

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|place| (place % 251) as u8).collect()
    }

    /// Sends a message; returns what the receiver got of it, and the length of the rest.
    fn pass(sending: &mut Sending, neighbour: Neighbour, body: &[u8], receive: Receive) -> (Vec<u8>, usize) {
        let loan = sending.begin(body.len(), true).unwrap();
        let fields = loan.announcement(body.len());
        let mut lent = Lent::announced(neighbour, &[&fields[..], b"end"].concat()).unwrap();
        assert_eq!((lent.length(), lent.end()), (body.len(), &b"end"[..]));
        let (rest, received) = std::thread::scope(|scope| {
            let mut take = move || {
                let mut received = vec![0; receive.length.unwrap_or(0)];
                match receive.length {
                    None => lent.append(&mut received).unwrap(),
                    Some(_) => lent.copy(&mut received).unwrap(),
                }
                received
            };
            if receive.is_late {
                let rest = loan.fill(body, &Memory::default());
                let received = take();
                (rest, received)
            } else {
                let receiver = scope.spawn(take);
                while !loan.progress.has_begun() {}
                let rest = loan.fill(body, &Memory::default());
                (rest, receiver.join().unwrap())
            }
        });
        let length = rest.len();
        sending.copied(&loan, rest);
        let mut freed = 0;
        sending.free(|rest| freed += rest.len());
        assert_eq!(freed, length);
        (received, length)
    }

    #[derive(Clone, Copy)]
    struct Receive {
        /// The number of bytes that the receiver wants; `None` for all.
        length: Option<usize>,
        /// Whether the receiver begins after the sender has copied.
        is_late: bool,
    }

    #[test]
    fn a_receiver_gets_what_is_being_copied_and_what_has_been_copied() {
        let (mut sending, neighbour) = area();
        for length in [1, PIECE, PIECE + 1, AHEAD * PIECE, AHEAD * PIECE + 1, 3 * AHEAD * PIECE - 5] {
            let body = message(length);
            for is_late in [false, true] {
                for wanted in [None, Some(length), Some(length / 2), Some(0)] {
                    let receive = Receive { length: wanted, is_late };
                    let (received, rest) = pass(&mut sending, neighbour, &body, receive);
                    assert!(received == body[..wanted.unwrap_or(length)], "{length} {is_late} {wanted:?}");
                    assert_eq!(rest, if is_late { length.saturating_sub(AHEAD * PIECE) } else { 0 });
                }
            }
        }
        assert_eq!(sending.free.len(), places_of(2));
    }

    #[test]
    fn messages_that_get_no_place_are_read_from_the_memory_of_the_sender() {
        let (mut sending, neighbour) = area();
        let taken: Vec<Loan> = (0..places_of(2) / AHEAD).map(|_| sending.begin(AHEAD * PIECE, true).unwrap()).collect();
        let body = message(2 * PIECE + 9);
        let receive = Receive { length: None, is_late: false };
        assert!(pass(&mut sending, neighbour, &body, receive) == (body.clone(), body.len()));
        drop(taken);
    }

    #[test]
    fn a_receiver_that_cannot_read_a_rest_gets_what_fits() {
        let (mut sending, _) = area();
        assert!(sending.begin(AHEAD * PIECE + 1, false).is_none());
        while sending.free.len() > AHEAD {
            assert!(sending.begin(AHEAD * PIECE, false).is_some());
        }
        assert!(sending.begin((AHEAD - 1) * PIECE, false).is_some());
        assert!(sending.begin(PIECE + 1, false).is_none());
        assert!(sending.begin(PIECE, false).is_some());
    }

    #[test]
    #[should_panic(expected = "a message is read once")]
    fn a_message_is_not_read_again() {
        let (mut sending, neighbour) = area();
        let body = message(3 * AHEAD * PIECE);
        let loan = sending.begin(body.len(), true).unwrap();
        let mut lent = Lent::announced(neighbour, &loan.announcement(body.len())).unwrap();
        let rest = loan.fill(&body, &Memory::default());
        lent.copy(&mut [0; 9]).unwrap();
        sending.copied(&loan, rest);
        let _ = lent.append(&mut Vec::new());
    }

    #[test]
    fn shared_memory_is_limited() {
        for near in 2..=1024 {
            assert!(near * (SEGMENT_BYTES + places_of(near) * PIECE) <= SHARED_BYTES || places_of(near) == 0);
        }
        assert_eq!((places_of(2), places_of(8), places_of(64)), (64, 48, 0));
    }

    #[test]
    fn a_slot_is_kept_until_its_receiver_has_finished() {
        let (mut sending, neighbour) = area();
        let taken: Vec<Loan> = std::iter::from_fn(|| sending.begin(1, true)).collect();
        assert_eq!(taken.len(), SLOTS);
        let lent = Lent::announced(neighbour, &announcement(3, 1)).unwrap();
        sending.free(|_| panic!("no message has been copied"));
        sending.copied(&taken[3], vec![1]);
        sending.free(|_| panic!("the receiver has not finished"));
        drop(lent);
        let mut freed = Vec::new();
        sending.free(|rest| freed.extend(rest));
        assert_eq!(freed, [1]);
        assert_eq!(sending.begin(1, true).map(|loan| loan.slot), Some(3));
    }

    #[test]
    fn what_is_no_announcement_is_refused() {
        let (_, neighbour) = area();
        assert!(Lent::announced(neighbour, &[0; 15]).is_none());
        assert!(Lent::announced(neighbour, &announcement(SLOTS, 0)).is_none());
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let (mut sending, neighbour) = area();
        let loan = sending.begin(8, true).unwrap();
        loan.progress.put(0, REST | 8);
        loan.progress.report_copied(8);
        let mut lent = Lent::announced(neighbour, &loan.announcement(8)).unwrap();
        assert!(matches!(lent.copy(&mut [0; 8]), Err(Error::Transport { .. })));
        let check = Check::new(3);
        assert!(check.may_be_read_in(neighbour.process));
        assert!(!Check { value: check.value + 1, ..check }.may_be_read_in(neighbour.process));
        assert!(!Check { address: 8, ..check }.may_be_read_in(neighbour.process));
    }
}
