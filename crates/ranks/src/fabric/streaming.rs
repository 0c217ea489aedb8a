//! Copies for another core, which write past the caches.
//!
//! A copy that another core reads next leaves each of its lines, changed, in the cache of the core that wrote it. The
//! other core fetches these lines one by one. How long this takes depends on where the two cores are: between cores
//! without a common cache, longer than reading memory. Stores past the caches ("non-temporal") write whole lines
//! to memory, from where the other core reads at the usual speed. `make bench-ranks-python` shows the result.
//!
//! On processors other than x86-64, these functions copy as usual.
#![allow(unsafe_code, reason = "stores past the caches are instructions of the processor")]

use std::mem::MaybeUninit;

/// The number of bytes that are stored at a time.
#[cfg(target_arch = "x86_64")]
const STORE: usize = 16;

/// The minimum length, in bytes, of a message that its receiver copies past the caches too.
const RECEIVED_MIN: usize = 1 << 22;

/// Copies bytes to memory that another core reads next. After the call, the bytes are visible to every core that
/// synchronises with this one, as after other stores.
///
/// # Panics
/// Panics if the lengths differ.
///
/// # Example
/// ```
/// use std::mem::MaybeUninit;
/// let mut to = [MaybeUninit::uninit(); 3];
/// lehr_ranks::fabric::streaming::copy(&[1, 2, 3], &mut to);
/// ```
pub fn copy(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    assert_eq!(from.len(), to.len(), "the lengths of a copy");
    let from = bytes(from);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

        let head = to.as_ptr().align_offset(STORE).min(to.len());
        let (from_head, from) = from.split_at(head);
        let (to_head, to) = to.split_at_mut(head);
        to_head.copy_from_slice(from_head);
        let (whole, rest) = from.as_chunks::<STORE>();
        let (to_whole, to_rest) = to.as_chunks_mut::<STORE>();
        for (from, to) in whole.iter().zip(to_whole) {
            // SAFETY: both have 16 bytes, and `to` is aligned for a store of 16 bytes.
            unsafe { _mm_stream_si128(to.as_mut_ptr().cast::<__m128i>(), _mm_loadu_si128(from.as_ptr().cast())) };
        }
        to_rest.copy_from_slice(rest);
        // SAFETY: x86-64 has the instruction. It orders the stores past the caches before all later stores, which
        // Release does not.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

/// Returns bytes as bytes that may be uninitialised.
fn bytes(bytes: &[u8]) -> &[MaybeUninit<u8>] {
    // SAFETY: initialised bytes may be taken for such bytes, and nobody can write through the reference.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// Copies a piece of a message to where its receiver wants it. Copies past the caches if the `length` of the message, in
/// bytes, is so large that the message would fill them.
///
/// # Panics
/// Panics if the lengths of the piece and of its room differ.
///
/// # Example
/// ```
/// use std::mem::MaybeUninit;
/// let mut to = [MaybeUninit::uninit(); 3];
/// lehr_ranks::fabric::streaming::receive(&[1, 2, 3], &mut to, 1 << 30);
/// ```
pub fn receive(piece: &[u8], to: &mut [MaybeUninit<u8>], length: usize) {
    if length >= RECEIVED_MIN { copy(piece, to) } else { to.copy_from_slice(bytes(piece)) }
}

/// Copies a piece of a message over other bytes, like [`receive`].
pub(super) fn overwrite(piece: &[u8], to: &mut [u8], length: usize) {
    // SAFETY: `receive` only writes initialised bytes.
    receive(piece, unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), to.len()) }, length);
}

/// Appends bytes to a vector that another core reads next, like [`copy`].
///
/// # Example
/// ```
/// let mut bytes = vec![1];
/// lehr_ranks::fabric::streaming::append(&[2, 3], &mut bytes);
/// assert_eq!(bytes, [1, 2, 3]);
/// ```
pub fn append(from: &[u8], to: &mut Vec<u8>) {
    to.reserve(from.len());
    copy(from, &mut to.spare_capacity_mut()[..from.len()]);
    // SAFETY: this many bytes behind the end have just been written.
    unsafe { to.set_len(to.len() + from.len()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_at_any_address_and_of_any_length_are_copied() {
        let from: Vec<u8> = (0..300).map(|place| (place % 251) as u8).collect();
        for start in 0..20 {
            for length in [0, 1, 15, 16, 17, 100, 255] {
                let mut to = vec![0xff; start];
                to.reserve(300);
                append(&from[start..start + length], &mut to);
                assert_eq!(to[start..], from[start..start + length]);
                assert!(to[..start].iter().all(|&byte| byte == 0xff));
            }
        }
    }
}
