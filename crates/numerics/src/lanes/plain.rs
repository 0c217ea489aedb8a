//! A line handled lane by lane, for processors whose vector instructions Lehr does not use. The tests of the other
//! kinds of lines compare with it.

use super::{F32Line, F64Line, Lanes, Line, Real};

/// A line as an array.
#[derive(Clone, Copy, Debug)]
pub struct Plain<L: Line>(L);

/// Whether the processors that the program is built for have an instruction that multiplies and adds with one rounding.
/// On others, [`f64::mul_add`] calls the C library, and the C library of MinGW rounds twice.
const HAS_FUSED: bool =
    cfg!(any(target_feature = "fma", not(any(target_arch = "x86", target_arch = "x86_64", target_family = "wasm"))));

macro_rules! plain {
    ($line:ident, $number:ty, $bits:ty, $signed:ty, fused: $fused:path, fraction_bits: $fraction:literal, sqrt_half: $sqrt_half:literal, root: $root:literal) => {
        impl Plain<$line> {
            #[inline(always)]
            fn zip(mut self, other: Self, f: impl Fn($number, $number) -> $number) -> Self {
                for (a, b) in self.0.0.iter_mut().zip(other.0.0) {
                    *a = f(*a, b);
                }
                self
            }

            #[inline(always)]
            fn zip3(mut self, second: Self, third: Self, f: impl Fn($number, $number, $number) -> $number) -> Self {
                for ((a, b), c) in self.0.0.iter_mut().zip(second.0.0).zip(third.0.0) {
                    *a = f(*a, b, c);
                }
                self
            }
        }

        impl Lanes for Plain<$line> {
            type Number = $number;
            const IN_ONE_REGISTER: bool = false;

            #[inline(always)]
            fn load(line: &$line) -> Self {
                Self(*line)
            }

            #[inline(always)]
            fn load_at(numbers: &[$number]) -> Self {
                let mut line = $line::default();
                line.0.copy_from_slice(&numbers[..$line::COUNT]);
                Self(line)
            }

            #[inline(always)]
            fn load_u16(numbers: &[u16]) -> Self {
                let mut line = $line::default();
                for (lane, &number) in line.0.iter_mut().zip(&numbers[..$line::COUNT]) {
                    *lane = <$number>::from(number);
                }
                Self(line)
            }

            #[inline(always)]
            fn prefetch<N>(_: &[N], _: usize) {}
            #[inline(always)]
            fn store(self, line: &mut $line) {
                *line = self.0;
            }

            #[inline(always)]
            fn splat(value: $number) -> Self {
                Self($line([value; $line::COUNT]))
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.zip(other, |a, b| a + b)
            }

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.zip(other, |a, b| a - b)
            }

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.zip(other, |a, b| a * b)
            }

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.zip(other, |a, b| a / b)
            }

            #[inline(always)]
            #[allow(clippy::disallowed_methods)] // only where it is an instruction
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                self.zip3(factor, addend, |a, b, c| if HAS_FUSED { a.mul_add(b, c) } else { $fused(a, b, c) })
            }

            #[inline(always)]
            #[allow(clippy::disallowed_methods)] // only where it is an instruction
            fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
                self.zip3(factor, addend, |a, b, c| if HAS_FUSED { (-a).mul_add(b, c) } else { $fused(-a, b, c) })
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.zip(other, |a, b| if a > b { a } else { b })
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.zip(other, |a, b| if a < b { a } else { b })
            }

            #[inline(always)]
            fn select_less(a: Self, b: Self, mut then: Self, otherwise: Self) -> Self {
                for lane in 0..$line::COUNT {
                    // This comparison is not `>=`, which differs if a lane is NaN: the vector registers compare with
                    // "less".
                    let less = a.0.0[lane] < b.0.0[lane];
                    if !less {
                        then.0.0[lane] = otherwise.0.0[lane];
                    }
                }
                then
            }

            #[inline(always)]
            fn where_equal(a: Self, b: Self, then: Self) -> Self {
                a.zip3(b, then, |a, b, then| if a == b { then } else { 0.0 })
            }

            #[inline(always)]
            fn raise_exponent(self, shifted: Self) -> Self {
                self.zip(shifted, |v, s| <$number>::from_bits(v.to_bits().wrapping_add(s.to_bits() << $fraction)))
            }

            #[inline(always)]
            fn inverse_root_guess(self) -> Self {
                let mut guess = self;
                for lane in &mut guess.0.0 {
                    *lane = <$number>::from_bits($root - (lane.to_bits() >> 1));
                }
                guess
            }

            #[inline(always)]
            fn sum(self) -> f64 {
                self.0.sum()
            }

            #[inline(always)]
            fn split_exponent(self) -> (Self, Self) {
                const SQRT_HALF: $bits = $sqrt_half;
                let (mut exponents, mut fractions) = (self, self);
                for lane in 0..$line::COUNT {
                    let bits = self.0.0[lane].to_bits();
                    let power = (bits.wrapping_sub(SQRT_HALF) as $signed) >> $fraction;
                    exponents.0.0[lane] = power as $number;
                    fractions.0.0[lane] = <$number>::from_bits(bits.wrapping_sub((power << $fraction) as $bits));
                }
                (exponents, fractions)
            }
        }

        const _: () = assert!(<$number>::MANTISSA_DIGITS == $fraction + 1 && <$number as Real>::LEAST_EXPONENT < 0.0);
    };
}

plain!(F64Line, f64, u64, i64, fused: libm::fma, fraction_bits: 52, sqrt_half: 0x3fe6_a09e_667f_3bcd, root: 0x5fe6_eb50_c7b5_37a9);
plain!(F32Line, f32, u32, i32, fused: libm::fmaf, fraction_bits: 23, sqrt_half: 0x3f35_04f3, root: 0x5f37_5a86);
