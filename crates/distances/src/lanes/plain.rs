//! A line handled lane by lane, for processors whose vector instructions Lehr does not use. The tests of the other
//! kinds of lines compare with it.

use super::{I16Line, I32Line, I64Line, Lanes};

/// A line as an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<T, const N: usize>([T; N]);

macro_rules! plain {
    ($number:ty, $lanes:literal, $line:ident) => {
        impl Lanes for Plain<$number, $lanes> {
            type Number = $number;

            #[inline(always)]
            fn load(line: &$line) -> Self {
                Self(line.0)
            }
            #[inline(always)]
            fn store(self, line: &mut $line) {
                line.0 = self.0;
            }
            #[inline(always)]
            fn splat(value: $number) -> Self {
                Self([value; $lanes])
            }
            #[inline(always)]
            fn add(mut self, other: Self) -> Self {
                for lane in 0..$lanes {
                    self.0[lane] = self.0[lane].wrapping_add(other.0[lane]);
                }
                self
            }
            #[inline(always)]
            fn sub(mut self, other: Self) -> Self {
                for lane in 0..$lanes {
                    self.0[lane] = self.0[lane].wrapping_sub(other.0[lane]);
                }
                self
            }
            #[inline(always)]
            fn max(mut self, other: Self) -> Self {
                for lane in 0..$lanes {
                    self.0[lane] = if other.0[lane] > self.0[lane] { other.0[lane] } else { self.0[lane] };
                }
                self
            }
        }
    };
}

plain!(i16, 32, I16Line);
plain!(i32, 16, I32Line);
plain!(i64, 8, I64Line);
