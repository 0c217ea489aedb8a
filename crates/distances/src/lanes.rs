//! Lanes of whole numbers, with one pair of sequences in each lane, in which alignments are computed.
//!
//! A *line* is 64 bytes: 32 numbers of 16 bits, 16 of 32 or 8 of 64. A kernel is written once over [`Lanes`] and
//! compiled for each instruction set ([`crate::dispatch`]). Whole numbers are exact, so all sets give the same results.
//! `lanes/plain.rs` is the reference, and runs where no other set is available. Only `lanes/x86.rs` and `lanes/neon.rs`
//! contain instructions.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod plain;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use std::fmt::Debug;

/// A type of number for the lanes.
pub(crate) trait Number: Copy + Debug + Default + Send + Sync + 'static {
    /// The number of lanes in a line.
    const LANES: usize;
    /// A line handled lane by lane.
    type Plain: Lanes<Number = Self>;
    /// A line in two 256-bit registers.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Number = Self>;
    /// A line in one 512-bit register.
    #[cfg(target_arch = "x86_64")]
    type Avx512: Lanes<Number = Self>;
    /// A line in four 128-bit registers.
    #[cfg(target_arch = "aarch64")]
    type Neon: Lanes<Number = Self>;
    /// A line in memory.
    type Line: Copy + Debug + Send + Sync;
    /// Returns a line with the same number in every lane.
    fn line(value: Self) -> Self::Line;
    /// Returns the lanes of a line.
    fn lanes(line: &Self::Line) -> &[Self];
    /// Returns the lanes of a line, for writing.
    fn lanes_mut(line: &mut Self::Line) -> &mut [Self];
    /// Converts a wider number that fits.
    fn narrow(value: i64) -> Self;
    /// Converts to the wider type.
    fn wide(self) -> i64;
}

/// A line in registers. Sums wrap, so the caller of a kernel must make sure that no sum overflows.
pub(crate) trait Lanes: Copy {
    /// The number in a lane.
    type Number: Number;
    /// Reads a line.
    fn load(line: &<Self::Number as Number>::Line) -> Self;
    /// Writes a line.
    fn store(self, line: &mut <Self::Number as Number>::Line);
    /// Returns a line with the same number in every lane.
    fn splat(value: Self::Number) -> Self;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// Returns the larger number in each lane.
    fn max(self, other: Self) -> Self;
}

macro_rules! number {
    ($number:ty, $line:ident, $lanes:literal, $avx2:ident, $avx512:ident, $neon:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        #[repr(C, align(64))]
        pub(crate) struct $line(pub(crate) [$number; $lanes]);

        impl Number for $number {
            const LANES: usize = $lanes;
            type Plain = plain::Plain<$number, $lanes>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = x86::$avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = x86::$avx512;
            #[cfg(target_arch = "aarch64")]
            type Neon = neon::$neon;
            type Line = $line;

            fn line(value: $number) -> $line {
                $line([value; $lanes])
            }

            #[inline(always)]
            fn lanes(line: &$line) -> &[$number] {
                &line.0
            }

            #[inline(always)]
            fn lanes_mut(line: &mut $line) -> &mut [$number] {
                &mut line.0
            }

            #[inline(always)]
            fn narrow(value: i64) -> $number {
                debug_assert!(<$number>::try_from(value).is_ok(), "{value} in {} bits", <$number>::BITS);
                value as $number
            }

            #[inline(always)]
            fn wide(self) -> i64 {
                i64::from(self)
            }
        }
    };
}

number!(i16, I16Line, 32, Avx2I16, Avx512I16, NeonI16, "Thirty-two `i16`.");
number!(i32, I32Line, 16, Avx2I32, Avx512I32, NeonI32, "Sixteen `i32`.");
number!(i64, I64Line, 8, Avx2I64, Avx512I64, NeonI64, "Eight `i64`.");
