//! A fixed number of lanes side by side, in which every kernel of this crate computes.
//!
//! The number of lanes depends on the *type of the numbers*, not on the machine: 8 for `f64` or 16 for `f32`. The lanes
//! fill one cache line, called a *line*. A processor with wide registers handles a line in one instruction, and a
//! processor with narrow registers in two or four. Without vector registers, lanes are handled one by one. All
//! processors add the same numbers in the same order, with a fused multiply-add. So a result has the same bits on every
//! machine.
//!
//! [`F64Line`] and [`F32Line`] are lines in memory. A kernel is written once over [`Lanes`], and [`crate::dispatch`]
//! compiles it for each instruction set. Only `lanes/x86.rs`, `lanes/neon.rs` and `lanes/wasm.rs` contain instructions; `lanes/plain.rs`
//! is the reference for their tests.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod plain;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(crate) mod wasm;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use std::fmt::Debug;

/// The ways to handle a line of numbers. The trait is private to this crate: with access to a register type, code could
/// run an instruction that the processor lacks.
pub(crate) trait Registers: crate::compact::PairKernels + Sized + 'static {
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
    /// A line in four 128-bit registers of WebAssembly.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    type Wasm: Lanes<Number = Self>;
}

/// A type of number in which rows may be stored: `f64` or `f32`. Sums over rows are `f64` for both.
///
/// Other crates can neither implement this trait nor access its registers:
///
/// ```compile_fail
/// use lehr_numerics::lanes::{Lanes, Real};
/// fn run<T: Real>(number: T) {
///     T::Avx512::splat(number);
/// }
/// ```
#[expect(private_bounds, reason = "sealed: see Registers")]
pub trait Real:
    Registers + Copy + Debug + Default + PartialOrd + std::ops::Add<Output = Self> + Send + Sync + 'static
{
    /// One cache line of numbers of this type.
    type Line: Line<Number = Self>;
    /// The distance from 1 to the next larger number.
    const EPSILON: f64;
    /// The smallest exponent: [`Lanes::exp2`] raises smaller exponents to it. Its power of two is negligible compared
    /// with 1. Multiplied by a weight or by 1 / K, it is still a normal number. Denormal numbers cost a hundred cycles
    /// each.
    const LEAST_EXPONENT: Self;
    /// 1.5 times two to the power of the number of fraction bits. Adding this number rounds to a whole number, which is
    /// then in the low bits of the sum.
    const SHIFTER: Self;
    /// The number of Newton steps in [`Lanes::inverse_root`].
    const ROOT_STEPS: usize;
    /// The coefficients of `2^r` for `|r| <= 1/2`, lowest first, interpolated at the Chebyshev points of
    /// `(2^r - 1) / r`.
    const EXP2: &'static [Self];
    /// The coefficients of `log2 m = t (c0 + c1 t^2 + ...)` with `t = (m - 1) / (m + 1)`: the series of the inverse
    /// hyperbolic tangent.
    const LOG2: &'static [Self];
    /// Converts to the nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// Converts to `f64`, exactly.
    fn to_f64(self) -> f64;
}

/// One cache line of numbers in memory.
pub trait Line: bytemuck::Pod + Debug + Default + Send + Sync {
    /// The number in a lane.
    type Number: Real<Line = Self>;
    /// The number of lanes in a line.
    const COUNT: usize;
    /// Returns the lanes.
    fn lanes(&self) -> &[Self::Number];
    /// Returns the lanes, for writing.
    fn lanes_mut(&mut self) -> &mut [Self::Number];
    /// Adds up the lanes in `f64`, in a fixed order: the upper half onto the lower half, until one number is left.
    fn sum(&self) -> f64;
}

/// A line in registers. Every operation works lane by lane, and rounds once.
pub trait Lanes: Copy + Debug {
    /// The number in a lane.
    type Number: Real;
    /// Whether a line is a single register. There are 32 such registers, so larger blocks of sums fit into them.
    const IN_ONE_REGISTER: bool;

    /// Loads a line.
    fn load(line: &<Self::Number as Real>::Line) -> Self;
    /// Loads the first numbers of a slice, which need not be aligned. Panics if the slice has fewer numbers than a
    /// line.
    fn load_at(numbers: &[Self::Number]) -> Self;
    /// Loads the first numbers of a slice of 16-bit whole numbers, exactly. Panics if the slice has fewer numbers than
    /// a line.
    fn load_u16(numbers: &[u16]) -> Self;
    /// Prefetches this position of a slice, which may be beyond the slice's end. It has no other effect.
    fn prefetch<N>(numbers: &[N], place: usize);
    /// Stores a line.
    fn store(self, line: &mut <Self::Number as Real>::Line);
    /// Returns a line with the same number in every lane.
    fn splat(value: Self::Number) -> Self;
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self - other`.
    fn sub(self, other: Self) -> Self;
    /// `self * other`.
    fn mul(self, other: Self) -> Self;
    /// `self / other`.
    fn div(self, other: Self) -> Self;
    /// `self * factor + addend`.
    fn mul_add(self, factor: Self, addend: Self) -> Self;
    /// `addend - self * factor`.
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self;
    /// Returns the larger number; `other` if they are equal.
    fn max(self, other: Self) -> Self;
    /// Returns the smaller number; `other` if they are equal.
    fn min(self, other: Self) -> Self;
    /// `if a < b { then } else { otherwise }`.
    fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self;
    /// `if a == b { then } else { 0 }`.
    fn where_equal(a: Self, b: Self, then: Self) -> Self;
    /// Adds the lanes of `other` whose bit in `bits` is set. Lane 0 has the lowest bit. The numbers must be finite.
    #[inline(always)]
    fn add_where(self, bits: u32, other: Self) -> Self {
        let mut kept = <Self::Number as Real>::Line::default();
        for (lane, kept) in kept.lanes_mut().iter_mut().enumerate() {
            *kept = Self::Number::from_f64(f64::from(bits >> lane & 1));
        }
        other.mul_add(Self::load(&kept), self)
    }
    /// Adds the bits of `shifted`, moved into the exponent, to the bits of `self`. This multiplies by the power of two
    /// that adding the shifter left in `shifted`.
    fn raise_exponent(self, shifted: Self) -> Self;
    /// Splits positive normal numbers: `(e, m)` with `self = 2^e m` and `m` in `[sqrt(1/2), sqrt(2))`.
    fn split_exponent(self) -> (Self, Self);

    /// Estimates the inverse square root of each lane, for positive normal numbers. The estimate is within 3.5 %. It
    /// takes one subtraction of bits, which halves the exponent.
    fn inverse_root_guess(self) -> Self;

    /// Adds up the lanes in `f64`, the upper half onto the lower half until one number is left, as [`Line::sum`] does.
    fn sum(self) -> f64;

    /// Transposes a square of lines: writes lane `l` of each line of `from`, one after another, to line `l` of `to`.
    /// Panics if `from` does not have as many lines as a line has lanes, or if `to` has fewer.
    #[inline(always)]
    fn transpose(from: &[<Self::Number as Real>::Line], to: &mut [<Self::Number as Real>::Line]) {
        let count = <Self::Number as Real>::Line::COUNT;
        assert_eq!(from.len(), count);
        for lane in 0..count {
            let to = to[lane].lanes_mut();
            for place in 0..count {
                to[place] = from[place].lanes()[lane];
            }
        }
    }

    /// Adds up each of eight lines, in the order of [`Line::sum`].
    #[inline(always)]
    fn sums(lines: &[<Self::Number as Real>::Line; 8]) -> [f64; 8] {
        let mut sums = [0.0; 8];
        for n in 0..8 {
            sums[n] = Self::load(&lines[n]).sum();
        }
        sums
    }

    /// Returns two to the power of each lane. Lanes below [`Real::LEAST_EXPONENT`] are raised to it; lanes above 1023
    /// (127 for `f32`) are not allowed.
    ///
    /// The relative error is below 2.5 units of [`Real::EPSILON`] (tested against the standard library).
    #[inline(always)]
    fn exp2(self) -> Self {
        let clamped = self.max(Self::splat(Self::Number::LEAST_EXPONENT));
        let shifter = Self::splat(Self::Number::SHIFTER);
        let shifted = clamped.add(shifter);
        let rest = clamped.sub(shifted.sub(shifter));
        horner(Self::Number::EXP2, rest).raise_exponent(shifted)
    }

    /// Returns the inverse square root of each lane, for positive normal numbers.
    ///
    /// The relative error is below 2 units of [`Real::EPSILON`] (tested against the standard library). The function
    /// improves the estimate by Newton's steps, each of which doubles the digits; the last step uses the residual,
    /// which rounds less. The processor's square root and division would take three times as long.
    #[inline(always)]
    fn inverse_root(self) -> Self {
        let mut y = self.inverse_root_guess();
        let half = self.mul(Self::splat(Self::Number::from_f64(0.5)));
        let three_halves = Self::splat(Self::Number::from_f64(1.5));
        let mut step = 1;
        while step < Self::Number::ROOT_STEPS {
            y = y.mul(half.mul(y).neg_mul_add(y, three_halves));
            step += 1;
        }
        let residual = self.mul(y).neg_mul_add(y, Self::splat(Self::Number::from_f64(1.0)));
        y.mul(Self::splat(Self::Number::from_f64(0.5))).mul_add(residual, y)
    }

    /// Returns the binary logarithm of each lane, for positive normal numbers.
    ///
    /// The error is below 2.5 units of [`Real::EPSILON`] times the larger of 1 and the logarithm (tested against the
    /// standard library).
    #[inline(always)]
    fn log2(self) -> Self {
        let (exponent, fraction) = self.split_exponent();
        let one = Self::splat(Self::Number::from_f64(1.0));
        let t = fraction.sub(one).div(fraction.add(one));
        horner(Self::Number::LOG2, t.mul(t)).mul_add(t, exponent)
    }
}

// This function loops by index instead of using `fold`. All functions that take or return a line in registers must be
// inlined into the kernel, and the compiler may not inline the standard library's adapters. A function that is not
// inlined is compiled without the vector instructions. Caller and function may then disagree on how a line is passed.
#[inline(always)]
fn horner<V: Lanes>(coefficients: &'static [V::Number], x: V) -> V {
    let mut n = coefficients.len() - 1;
    let mut value = V::splat(coefficients[n]);
    while n > 0 {
        n -= 1;
        value = value.mul_add(x, V::splat(coefficients[n]));
    }
    value
}

macro_rules! line {
    ($line:ident, $number:ty, $count:literal, $avx2:ident, $avx512:ident, $neon:ident, $wasm:ident, least: $least:literal, shifter: $shifter:expr, root_steps: $root_steps:literal,
     exp2: [$($exp2:expr),+ $(,)?], log2: [$($log2:expr),+ $(,)?], $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(C, align(64))]
        pub struct $line(pub(crate) [$number; $count]);

        // SAFETY: the numbers are side by side and fill the line, with no byte between or after them. Any pattern of
        // bits is a number, and so are zero bits.
        unsafe impl bytemuck::Zeroable for $line {}
        // SAFETY: as above, and a copy of the bits is the same line.
        unsafe impl bytemuck::Pod for $line {}

        impl Line for $line {
            type Number = $number;
            const COUNT: usize = $count;

            #[inline(always)]
            fn lanes(&self) -> &[$number] {
                &self.0
            }

            #[inline(always)]
            fn lanes_mut(&mut self) -> &mut [$number] {
                &mut self.0
            }

            fn sum(&self) -> f64 {
                let mut lanes = self.0.map(|lane| lane as f64);
                let mut half = $count / 2;
                while half > 0 {
                    for lane in 0..half {
                        lanes[lane] += lanes[lane + half];
                    }
                    half /= 2;
                }
                lanes[0]
            }
        }

        impl Registers for $number {
            type Plain = plain::Plain<$line>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = x86::$avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = x86::$avx512;
            #[cfg(target_arch = "aarch64")]
            type Neon = neon::$neon;
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            type Wasm = wasm::$wasm;
        }

        impl Real for $number {
            type Line = $line;
            const EPSILON: f64 = <$number>::EPSILON as f64;
            const LEAST_EXPONENT: $number = $least;
            const SHIFTER: $number = $shifter;
            const ROOT_STEPS: usize = $root_steps;
            const EXP2: &'static [$number] = &[$($exp2),+];
            const LOG2: &'static [$number] = &[$($log2),+];

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $number
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}

line!(
    F64Line, f64, 8, Avx2F64, Avx512F64, NeonF64, WasmF64,
    least: -1000.0, shifter: 1.5 * (1u64 << 52) as f64, root_steps: 4,
    exp2: [
        1.0,
        std::f64::consts::LN_2,
        0.24022650695910097,
        0.0555041086648216,
        0.009618129107606888,
        0.0013333558146416936,
        0.0001540353044173605,
        1.525273382983612e-05,
        1.321544258792169e-06,
        1.0178062445845774e-07,
        7.072585949269223e-09,
        4.4549605981865186e-10,
    ],
    log2: [
        2.8853900817779268,
        0.9617966939259756,
        0.5770780163555853,
        0.4121985831111324,
        0.3205988979753252,
        0.2623081892525388,
        0.22195308321368667,
        0.19235933878519512,
        0.16972882833987804,
        0.15186263588304877,
        0.1373995277037108,
    ],
    "Eight `f64`."
);
line!(
    F32Line, f32, 16, Avx2F32, Avx512F32, NeonF32, WasmF32,
    least: -110.0, shifter: 1.5 * (1u64 << 23) as f32, root_steps: 3,
    exp2: [
        1.0,
        0.6931471880262288,
        0.24022650760568126,
        0.05550357114219078,
        0.009618082557277852,
        0.0013390863364671234,
        0.0001545316294512069,
    ],
    log2: [
        2.8853900817779268,
        0.9617966939259756,
        0.5770780163555853,
        0.4121985831111324,
        0.3205988979753252,
    ],
    "Sixteen `f32`."
);
