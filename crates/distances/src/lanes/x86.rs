//! Lines in the vector registers of x86-64; only this file contains its instructions.
//!
//! Values of these types exist only inside the copies of a kernel, and the types are private to the crate.
//! [`crate::dispatch`] enters a copy only after it has checked that the processor has the instruction set. Every
//! `unsafe` block here relies on this check.

use std::arch::x86_64::*;

use super::{I16Line, I32Line, I64Line, Lanes};

/// Runs instructions of the set that the type represents.
macro_rules! instructions {
    ($e:expr) => {
        // SAFETY: a value of this type is only made inside a kernel copy compiled for this instruction set, which
        // `dispatch` enters after checking that the processor has it. Loads and stores go through references to lines,
        // which are 64-byte aligned and 64 bytes long.
        unsafe { $e }
    };
}

macro_rules! avx512 {
    ($name:ident, $line:ident, $number:ty, $splat:ident, $add:ident, $sub:ident, $max:ident) => {
        /// One line in one 512-bit register.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(__m512i);

        impl Lanes for $name {
            type Number = $number;

            #[inline(always)]
            fn load(line: &$line) -> Self {
                instructions!(Self(_mm512_load_si512(line.0.as_ptr().cast())))
            }
            #[inline(always)]
            fn store(self, line: &mut $line) {
                instructions!(_mm512_store_si512(line.0.as_mut_ptr().cast(), self.0))
            }
            #[inline(always)]
            fn splat(value: $number) -> Self {
                instructions!(Self($splat(value)))
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                instructions!(Self($add(self.0, other.0)))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                instructions!(Self($sub(self.0, other.0)))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                instructions!(Self($max(self.0, other.0)))
            }
        }
    };
}

avx512!(Avx512I16, I16Line, i16, _mm512_set1_epi16, _mm512_add_epi16, _mm512_sub_epi16, _mm512_max_epi16);
avx512!(Avx512I32, I32Line, i32, _mm512_set1_epi32, _mm512_add_epi32, _mm512_sub_epi32, _mm512_max_epi32);
avx512!(Avx512I64, I64Line, i64, _mm512_set1_epi64, _mm512_add_epi64, _mm512_sub_epi64, _mm512_max_epi64);

/// Returns the lane-wise maximum of 64-bit numbers, for which 256-bit registers have no instruction.
#[inline(always)]
fn max_epi64(a: __m256i, b: __m256i) -> __m256i {
    instructions!(_mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)))
}

#[inline(always)]
fn max_epi32(a: __m256i, b: __m256i) -> __m256i {
    instructions!(_mm256_max_epi32(a, b))
}

#[inline(always)]
fn max_epi16(a: __m256i, b: __m256i) -> __m256i {
    instructions!(_mm256_max_epi16(a, b))
}

macro_rules! avx2 {
    ($name:ident, $line:ident, $number:ty, $splat:ident, $add:ident, $sub:ident, $max:ident) => {
        /// One line in two 256-bit registers.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name(__m256i, __m256i);

        impl Lanes for $name {
            type Number = $number;

            #[inline(always)]
            fn load(line: &$line) -> Self {
                let (low, high) = line.0.split_at(line.0.len() / 2);
                instructions!(Self(_mm256_load_si256(low.as_ptr().cast()), _mm256_load_si256(high.as_ptr().cast())))
            }
            #[inline(always)]
            fn store(self, line: &mut $line) {
                let half = line.0.len() / 2;
                let (low, high) = line.0.split_at_mut(half);
                instructions!({
                    _mm256_store_si256(low.as_mut_ptr().cast(), self.0);
                    _mm256_store_si256(high.as_mut_ptr().cast(), self.1);
                })
            }
            #[inline(always)]
            fn splat(value: $number) -> Self {
                instructions!(Self($splat(value), $splat(value)))
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                instructions!(Self($add(self.0, other.0), $add(self.1, other.1)))
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                instructions!(Self($sub(self.0, other.0), $sub(self.1, other.1)))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self($max(self.0, other.0), $max(self.1, other.1))
            }
        }
    };
}

avx2!(Avx2I16, I16Line, i16, _mm256_set1_epi16, _mm256_add_epi16, _mm256_sub_epi16, max_epi16);
avx2!(Avx2I32, I32Line, i32, _mm256_set1_epi32, _mm256_add_epi32, _mm256_sub_epi32, max_epi32);
avx2!(Avx2I64, I64Line, i64, _mm256_set1_epi64x, _mm256_add_epi64, _mm256_sub_epi64, max_epi64);
