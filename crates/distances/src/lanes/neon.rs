//! Lines in the vector registers of aarch64; only this file contains its instructions.
//!
//! Every processor of this family has these instructions, and programs for it are compiled with them. So kernels need
//! no check of the processor.

use std::arch::aarch64::*;

use super::{I16Line, I32Line, I64Line, Lanes};
use crate::bits::{Counts, LANES, ROWS, Substitutions, Words};

/// Runs instructions of this set.
macro_rules! instructions {
    ($e:expr) => {
        // SAFETY: the target that this file is compiled for has the instruction set. Loads and stores go through
        // references to lines and to eight words, which are 64 bytes long.
        unsafe { $e }
    };
}

macro_rules! neon {
    ($name:ident, $line:ident, $number:ty, $register:ty, $per_register:literal, $read:ident, $write:ident, $splat:ident, $add:ident, $sub:ident, $max:ident) => {
        /// One line in four 128-bit registers.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name($register, $register, $register, $register);

        impl Lanes for $name {
            type Number = $number;

            #[inline(always)]
            fn load(line: &$line) -> Self {
                let numbers = line.0.as_ptr();
                instructions!({
                    Self(
                        $read(numbers),
                        $read(numbers.add($per_register)),
                        $read(numbers.add(2 * $per_register)),
                        $read(numbers.add(3 * $per_register)),
                    )
                })
            }
            #[inline(always)]
            fn store(self, line: &mut $line) {
                let numbers = line.0.as_mut_ptr();
                instructions!({
                    $write(numbers, self.0);
                    $write(numbers.add($per_register), self.1);
                    $write(numbers.add(2 * $per_register), self.2);
                    $write(numbers.add(3 * $per_register), self.3);
                })
            }
            #[inline(always)]
            fn splat(value: $number) -> Self {
                let register = instructions!($splat(value));
                Self(register, register, register, register)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                instructions!(Self(
                    $add(self.0, other.0),
                    $add(self.1, other.1),
                    $add(self.2, other.2),
                    $add(self.3, other.3)
                ))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                instructions!(Self(
                    $sub(self.0, other.0),
                    $sub(self.1, other.1),
                    $sub(self.2, other.2),
                    $sub(self.3, other.3)
                ))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                instructions!(Self(
                    $max(self.0, other.0),
                    $max(self.1, other.1),
                    $max(self.2, other.2),
                    $max(self.3, other.3)
                ))
            }
        }
    };
}

/// Returns the lane-wise maximum of 64-bit numbers, for which the processor has no instruction.
///
/// # Safety
/// The processor must have NEON.
#[inline(always)]
unsafe fn max_s64(a: int64x2_t, b: int64x2_t) -> int64x2_t {
    instructions!(vbslq_s64(vcgtq_s64(a, b), a, b))
}

neon!(NeonI16, I16Line, i16, int16x8_t, 8, vld1q_s16, vst1q_s16, vdupq_n_s16, vaddq_s16, vsubq_s16, vmaxq_s16);
neon!(NeonI32, I32Line, i32, int32x4_t, 4, vld1q_s32, vst1q_s32, vdupq_n_s32, vaddq_s32, vsubq_s32, vmaxq_s32);
neon!(NeonI64, I64Line, i64, int64x2_t, 2, vld1q_s64, vst1q_s64, vdupq_n_s64, vaddq_s64, vsubq_s64, max_s64);

/// The maximum number of counts that a byte can add up: each count is at most 8.
const BYTE_HOLDS: usize = 31;

/// Eight words, two in each register.
type Across = [uint64x2_t; LANES / 2];

#[inline(always)]
fn splat(word: u64) -> uint64x2_t {
    instructions!(vdupq_n_u64(word))
}

/// Returns counts of zero.
#[inline(always)]
fn none() -> [uint8x16_t; LANES / 2] {
    [instructions!(vdupq_n_u8(0)); LANES / 2]
}

#[inline(always)]
fn read(words: &Words) -> Across {
    let words = words.as_ptr();
    instructions!([vld1q_u64(words), vld1q_u64(words.add(2)), vld1q_u64(words.add(4)), vld1q_u64(words.add(6))])
}

/// Adds the number of set bits of each byte to `sums`.
#[inline(always)]
fn count(sums: &mut [uint8x16_t; LANES / 2], words: Across) {
    for n in 0..LANES / 2 {
        sums[n] = instructions!(vaddq_u8(sums[n], vcntq_u8(vreinterpretq_u8_u64(words[n]))));
    }
}

/// Adds up the bytes of each word, and adds the result to the counts of eight words.
#[inline(always)]
fn widen(counts: &mut Words, sums: [uint8x16_t; LANES / 2]) {
    for n in 0..LANES / 2 {
        let wide = instructions!(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(sums[n]))));
        let counts = counts[2 * n..][..2].as_mut_ptr();
        instructions!(vst1q_u64(counts, vaddq_u64(vld1q_u64(counts), wide)));
    }
}

/// Does the same as [`crate::bits::common`], with the instructions of this processor.
pub(crate) fn common(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts]) {
    let width = rows[0].len();
    let rows = rows.map(|row| &row[..width]);
    for (group, counts) in others.chunks_exact(width).zip(counts) {
        *counts = [[0; LANES]; ROWS];
        for start in (0..width).step_by(BYTE_HOLDS) {
            let end = width.min(start + BYTE_HOLDS);
            let mut sums = [none(); ROWS];
            for word in start..end {
                let theirs = read(&group[word]);
                for r in 0..ROWS {
                    let mine = splat(rows[r][word]);
                    let mut common = theirs;
                    for n in 0..LANES / 2 {
                        common[n] = instructions!(vandq_u64(mine, theirs[n]));
                    }
                    count(&mut sums[r], common);
                }
            }
            for r in 0..ROWS {
                widen(&mut counts[r], sums[r]);
            }
        }
    }
}

/// Does the same as [`crate::bits::differing`], with the instructions of this processor.
pub(crate) fn differing(rows: [&[u64]; ROWS], others: &[Words], planes: usize, counts: &mut [Counts]) {
    match planes {
        1 => differing_in::<1>(rows, others, counts),
        2 => differing_in::<2>(rows, others, counts),
        3 => differing_in::<3>(rows, others, counts),
        4 => differing_in::<4>(rows, others, counts),
        _ => differing_in::<5>(rows, others, counts),
    }
}

#[inline(always)]
fn differing_in<const PLANES: usize>(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts]) {
    let words = rows[0].len() / PLANES;
    let rows = rows.map(|row| &row[..PLANES * words]);
    for (group, counts) in others.chunks_exact(PLANES * words).zip(counts) {
        *counts = [[0; LANES]; ROWS];
        for start in (0..words).step_by(BYTE_HOLDS) {
            let end = words.min(start + BYTE_HOLDS);
            let mut sums = [none(); ROWS];
            for word in start..end {
                for r in 0..ROWS {
                    let mut differ = [splat(0); LANES / 2];
                    for plane in 0..PLANES {
                        let mine = splat(rows[r][plane * words + word]);
                        let theirs = read(&group[plane * words + word]);
                        for n in 0..LANES / 2 {
                            differ[n] = instructions!(vorrq_u64(differ[n], veorq_u64(mine, theirs[n])));
                        }
                    }
                    count(&mut sums[r], differ);
                }
            }
            for r in 0..ROWS {
                widen(&mut counts[r], sums[r]);
            }
        }
    }
}

/// Does the same as [`crate::bits::substitutions`], with the instructions of this processor.
pub(crate) fn substitutions(row: &[u64], others: &[Words], counts: &mut [Substitutions]) {
    const PLANES: usize = crate::bits::NUCLEOTIDE_PLANES;
    let words = row.len() / PLANES;
    let row = &row[..PLANES * words];
    for (group, counts) in others.chunks_exact(PLANES * words).zip(counts) {
        *counts = Substitutions::default();
        for start in (0..words).step_by(BYTE_HOLDS) {
            let end = words.min(start + BYTE_HOLDS);
            let mut sums = [none(); 3];
            for word in start..end {
                let mine = |plane: usize| splat(row[plane * words + word]);
                let theirs = |plane: usize| read(&group[plane * words + word]);
                let (present, certain, low, high) = (mine(0), mine(1), mine(2), mine(3));
                let (presents, certains, lows, highs) = (theirs(0), theirs(1), theirs(2), theirs(3));
                let mut found = [[splat(0); LANES / 2]; 3];
                for n in 0..LANES / 2 {
                    instructions!({
                        let same_kind = vbicq_u64(vandq_u64(certain, certains[n]), veorq_u64(high, highs[n]));
                        let differ = veorq_u64(low, lows[n]);
                        found[0][n] = vandq_u64(present, presents[n]);
                        found[1][n] = vbicq_u64(same_kind, differ);
                        found[2][n] = vandq_u64(same_kind, differ);
                    });
                }
                for n in 0..3 {
                    count(&mut sums[n], found[n]);
                }
            }
            widen(&mut counts.compared, sums[0]);
            widen(&mut counts.equal, sums[1]);
            widen(&mut counts.transitions, sums[2]);
        }
    }
}
