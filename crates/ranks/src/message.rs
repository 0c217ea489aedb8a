//! Slices of plain values in messages: as bytes or, in the exchange between threads, packed into 64-bit words.
//!
//! Words are aligned for every type of number, so numbers of type `f64`, the usual case, can be used in place.

use std::borrow::Cow;

use crate::communicator::HEAD;
use crate::fabric::threads::exchange::Deposits;

/// Types that are sent as their bytes: numbers, arrays of numbers, and structs that `bytemuck` declares plain.
pub trait Plain: bytemuck::Pod + Send + Sync {}

impl<T: bytemuck::Pod + Send + Sync> Plain for T {}

/// Copies values out of bytes, which need not be aligned.
///
/// # Panics
/// Panics if the bytes are not a whole number of values.
pub(crate) fn collect<T: Plain>(bytes: &[u8]) -> Vec<T> {
    if size_of::<T>() == 0 {
        return Vec::new();
    }
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut::<T, u8>(&mut values).copy_from_slice(bytes);
    values
}

/// Returns the values in bytes: borrowed if the bytes are aligned for the type, otherwise copied.
///
/// # Panics
/// Panics if the bytes are not a whole number of values.
pub(crate) fn view<T: Plain>(bytes: &[u8]) -> Cow<'_, [T]> {
    bytemuck::try_cast_slice(bytes).map_or_else(|_| Cow::Owned(collect(bytes)), Cow::Borrowed)
}

/// Appends a slice: its length in values, then its bytes, padded with zeros to a whole word.
pub(crate) fn write<T: Plain>(words: &mut Vec<u64>, values: &[T]) {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    words.push(values.len() as u64);
    if let Ok(whole) = bytemuck::try_cast_slice(bytes) {
        // The bytes are whole, aligned words, as numbers of eight bytes are.
        return words.extend_from_slice(whole);
    }
    let start = words.len();
    words.resize(start + bytes.len().div_ceil(size_of::<u64>()), 0);
    bytemuck::cast_slice_mut::<u64, u8>(&mut words[start..])[..bytes.len()].copy_from_slice(bytes);
}

/// Reads slices back in the order in which they were written.
pub(crate) struct Reader<'a> {
    words: &'a [u64],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Self { words }
    }

    /// Creates a reader of the body of a rank's deposit.
    pub(crate) fn of(deposits: &Deposits<'a>, rank: usize) -> Self {
        Self { words: &deposits.of(rank)[HEAD..] }
    }

    /// Returns the number of values of the next slice.
    pub(crate) fn length(&self) -> usize {
        self.words[0] as usize
    }

    /// Copies the next slice, which must have the length of `values`.
    pub(crate) fn read<T: Plain>(&mut self, values: &mut [T]) {
        assert_eq!(self.length(), values.len(), "a message is read with the length it was written with");
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let (words, rest) = self.words[1..].split_at(bytes.len().div_ceil(size_of::<u64>()));
        bytes.copy_from_slice(&bytemuck::cast_slice(words)[..bytes.len()]);
        self.words = rest;
    }

    /// Returns the next slice, borrowed if its memory is aligned for the type, otherwise copied; the reader does not
    /// advance.
    pub(crate) fn view<T: Plain>(&self) -> Cow<'a, [T]> {
        let bytes: &'a [u8] = bytemuck::cast_slice(&self.words[1..]);
        if size_of::<T>() == 0 {
            Cow::Owned(vec![T::zeroed(); self.length()])
        } else {
            view(&bytes[..self.length() * size_of::<T>()])
        }
    }

    /// Copies the part of the next slice that begins at value `start`; the reader does not advance.
    pub(crate) fn read_part<T: Plain>(&self, start: usize, values: &mut [T]) {
        let start = start * size_of::<T>();
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        bytes.copy_from_slice(&bytemuck::cast_slice(&self.words[1..])[start..start + bytes.len()]);
    }

    /// Reads the next slice into a `Vec`.
    pub(crate) fn collect<T: Plain>(&mut self) -> Vec<T> {
        let mut values = vec![T::zeroed(); self.length()];
        self.read(&mut values);
        values
    }

    /// Skips the next slice, which was written as `T`.
    pub(crate) fn skip<T: Plain>(&mut self) {
        self.words = &self.words[1 + (self.length() * size_of::<T>()).div_ceil(size_of::<u64>())..];
    }

    /// Returns the next slice, which must have been written as `f64`, without copying it.
    pub(crate) fn numbers(&mut self) -> &'a [f64] {
        let (numbers, rest) = self.words[1..].split_at(self.length());
        self.words = rest;
        bytemuck::cast_slice(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_different_types_come_back_in_order() {
        let mut words = Vec::new();
        write(&mut words, &[1_u8, 2, 3]);
        write(&mut words, &[-0.0_f64, f64::NAN]);
        write::<u32>(&mut words, &[]);
        write(&mut words, &[[7_u16, 8, 9]]);
        let mut reader = Reader::new(&words);
        let mut bytes = [0_u8; 3];
        reader.read(&mut bytes);
        assert_eq!(bytes, [1, 2, 3]);
        let numbers = reader.numbers();
        assert_eq!(numbers[0].to_bits(), (-0.0_f64).to_bits());
        assert!(numbers[1].is_nan());
        reader.read::<u32>(&mut []);
        let mut triples = [[0_u16; 3]];
        reader.read(&mut triples);
        assert_eq!(triples, [[7, 8, 9]]);
    }
}
