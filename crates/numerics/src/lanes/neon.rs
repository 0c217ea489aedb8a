//! Lines in the vector registers of aarch64; only this file contains its instructions.
//!
//! Every processor of this family has these instructions, and programs for it are compiled with them. So kernels need
//! no check of the processor, and only one compiled copy.

use std::arch::aarch64::*;

use super::{F32Line, F64Line, Lanes};

/// Runs instructions of this set.
macro_rules! instructions {
    ($e:expr) => {
        // SAFETY: the target that this file is compiled for has the instruction set. Loads and stores go through
        // references to lines, or through slices that were just cut to the numbers read.
        unsafe { $e }
    };
}

/// The constant from which half of a number's bits are subtracted to estimate the inverse square root, as in
/// `lanes/plain.rs`.
const ROOT_F64: i64 = 0x5fe6_eb50_c7b5_37a9;
const ROOT_F32: i32 = 0x5f37_5a86;
const SQRT_HALF_F64: i64 = 0x3fe6_a09e_667f_3bcd;
const SQRT_HALF_F32: i32 = 0x3f35_04f3;

/// One line in four 128-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct NeonF64(float64x2_t, float64x2_t, float64x2_t, float64x2_t);

/// One line in four 128-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct NeonF32(float32x4_t, float32x4_t, float32x4_t, float32x4_t);

/// Applies the same instruction to each of the four registers.
macro_rules! each {
    ($function:ident($($line:expr),*)) => {
        instructions!(Self($function($($line.0),*), $function($($line.1),*), $function($($line.2),*), $function($($line.3),*)))
    };
}

/// Applies the same function to each of the four registers.
macro_rules! each_by {
    ($function:path, $($line:expr),*) => {
        Self($function($($line.0),*), $function($($line.1),*), $function($($line.2),*), $function($($line.3),*))
    };
}

/// The code that both precisions share: the same operations, in 64 or in 32 bits.
macro_rules! helpers {
    ($of:ident, $register:ty, $number:ty, $whole:ident, $fraction_bits:literal, $root:expr, $sqrt_half:expr,
     $select:ident, $greater:ident, $less:ident, $equal:ident, $and:ident, $splat_whole:ident, $add:ident, $sub:ident, $left:ident, $right:ident, $half:ident,
     $to_whole:ident, $to_unsigned:ident, $from_whole:ident, $whole_of_unsigned:ident, $unsigned_of_whole:ident, $from_unsigned:ident, $convert:ident) => {
        mod $of {
            use super::*;

            // The instruction for the maximum is not used, because it returns NaN if either number is NaN, and the
            // larger of two zeros.
            #[inline(always)]
            pub(super) fn larger(a: $register, b: $register) -> $register {
                instructions!($select($greater(a, b), a, b))
            }
            #[inline(always)]
            pub(super) fn smaller(a: $register, b: $register) -> $register {
                instructions!($select($less(a, b), a, b))
            }
            #[inline(always)]
            pub(super) fn select_less(a: $register, b: $register, then: $register, otherwise: $register) -> $register {
                instructions!($select($less(a, b), then, otherwise))
            }
            #[inline(always)]
            pub(super) fn where_equal(a: $register, b: $register, then: $register) -> $register {
                instructions!($from_unsigned($and($equal(a, b), $to_unsigned(then))))
            }
            #[inline(always)]
            pub(super) fn raise(value: $register, shifted: $register) -> $register {
                instructions!($from_whole($add($to_whole(value), $left::<$fraction_bits>($to_whole(shifted)))))
            }
            #[inline(always)]
            pub(super) fn inverse_root_guess(value: $register) -> $register {
                let half = instructions!($whole_of_unsigned($half::<1>($to_unsigned(value))));
                instructions!($from_whole($sub($splat_whole($root), half)))
            }
            #[inline(always)]
            fn power(value: $register) -> $whole {
                instructions!($right::<$fraction_bits>($sub($to_whole(value), $splat_whole($sqrt_half))))
            }
            #[inline(always)]
            pub(super) fn exponent(value: $register) -> $register {
                instructions!($convert(power(value)))
            }
            #[inline(always)]
            pub(super) fn fraction(value: $register) -> $register {
                instructions!($from_whole($sub($to_whole(value), $left::<$fraction_bits>(power(value)))))
            }
        }
    };
}

helpers!(
    of_f64,
    float64x2_t,
    f64,
    int64x2_t,
    52,
    ROOT_F64,
    SQRT_HALF_F64,
    vbslq_f64,
    vcgtq_f64,
    vcltq_f64,
    vceqq_f64,
    vandq_u64,
    vdupq_n_s64,
    vaddq_s64,
    vsubq_s64,
    vshlq_n_s64,
    vshrq_n_s64,
    vshrq_n_u64,
    vreinterpretq_s64_f64,
    vreinterpretq_u64_f64,
    vreinterpretq_f64_s64,
    vreinterpretq_s64_u64,
    vreinterpretq_u64_s64,
    vreinterpretq_f64_u64,
    vcvtq_f64_s64
);
helpers!(
    of_f32,
    float32x4_t,
    f32,
    int32x4_t,
    23,
    ROOT_F32,
    SQRT_HALF_F32,
    vbslq_f32,
    vcgtq_f32,
    vcltq_f32,
    vceqq_f32,
    vandq_u32,
    vdupq_n_s32,
    vaddq_s32,
    vsubq_s32,
    vshlq_n_s32,
    vshrq_n_s32,
    vshrq_n_u32,
    vreinterpretq_s32_f32,
    vreinterpretq_u32_f32,
    vreinterpretq_f32_s32,
    vreinterpretq_s32_u32,
    vreinterpretq_u32_s32,
    vreinterpretq_f32_u32,
    vcvtq_f32_s32
);

/// The operations that take one instruction for each register, or one helper.
macro_rules! operations {
    ($number:ty, $line:ident, $of:ident, $per_register:literal, $read:ident, $write:ident, $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident,
     $multiply_add:ident, $multiply_subtract:ident) => {
        type Number = $number;
        const IN_ONE_REGISTER: bool = false;

        #[inline(always)]
        fn load(line: &$line) -> Self {
            Self::load_at(&line.0)
        }
        #[inline(always)]
        fn load_at(numbers: &[$number]) -> Self {
            let numbers = numbers[..4 * $per_register].as_ptr();
            instructions!(Self(
                $read(numbers),
                $read(numbers.add($per_register)),
                $read(numbers.add(2 * $per_register)),
                $read(numbers.add(3 * $per_register)),
            ))
        }
        #[inline(always)]
        fn prefetch<N>(numbers: &[N], place: usize) {
            prefetch(numbers.as_ptr().wrapping_add(place).cast());
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
            each!($add(self, other))
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            each!($sub(self, other))
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            each!($mul(self, other))
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            each!($div(self, other))
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            each!($multiply_add(addend, self, factor))
        }
        #[inline(always)]
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
            each!($multiply_subtract(addend, self, factor))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            each_by!($of::larger, self, other)
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            each_by!($of::smaller, self, other)
        }
        #[inline(always)]
        fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
            each_by!($of::select_less, a, b, then, otherwise)
        }
        #[inline(always)]
        fn where_equal(a: Self, b: Self, then: Self) -> Self {
            each_by!($of::where_equal, a, b, then)
        }
        #[inline(always)]
        fn raise_exponent(self, shifted: Self) -> Self {
            each_by!($of::raise, self, shifted)
        }
        #[inline(always)]
        fn inverse_root_guess(self) -> Self {
            each_by!($of::inverse_root_guess, self)
        }
        #[inline(always)]
        fn split_exponent(self) -> (Self, Self) {
            (each_by!($of::exponent, self), each_by!($of::fraction, self))
        }
    };
}

/// Prefetches a cache line.
#[inline(always)]
fn prefetch(address: *const u8) {
    // SAFETY: a prefetch is a hint, which reads nothing into the program and never faults, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, readonly, preserves_flags));
    }
}

impl NeonF64 {
    /// Adds the upper four numbers onto the lower four, and then the upper two of these onto the lower two.
    #[inline(always)]
    fn two(self) -> float64x2_t {
        instructions!(vaddq_f64(vaddq_f64(self.0, self.2), vaddq_f64(self.1, self.3)))
    }
}

impl NeonF32 {
    /// Adds the upper eight numbers onto the lower eight, as `f64`.
    #[inline(always)]
    fn eight(self) -> NeonF64 {
        instructions!({
            let (a, b, c, d) = (self.0, self.1, self.2, self.3);
            NeonF64(
                vaddq_f64(vcvt_f64_f32(vget_low_f32(a)), vcvt_f64_f32(vget_low_f32(c))),
                vaddq_f64(vcvt_high_f64_f32(a), vcvt_high_f64_f32(c)),
                vaddq_f64(vcvt_f64_f32(vget_low_f32(b)), vcvt_f64_f32(vget_low_f32(d))),
                vaddq_f64(vcvt_high_f64_f32(b), vcvt_high_f64_f32(d)),
            )
        })
    }
}

/// Adds up each of eight pairs of numbers.
#[inline(always)]
fn pair_sums(twos: [float64x2_t; 8]) -> [f64; 8] {
    let mut sums = [0.0; 8];
    for n in 0..4 {
        instructions!(vst1q_f64(sums[2 * n..][..2].as_mut_ptr(), vpaddq_f64(twos[2 * n], twos[2 * n + 1])));
    }
    sums
}

impl Lanes for NeonF64 {
    operations!(
        f64,
        F64Line,
        of_f64,
        2,
        vld1q_f64,
        vst1q_f64,
        vdupq_n_f64,
        vaddq_f64,
        vsubq_f64,
        vmulq_f64,
        vdivq_f64,
        vfmaq_f64,
        vfmsq_f64
    );

    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = &numbers[..8];
        instructions!({
            let whole = vld1q_u16(numbers.as_ptr());
            let (low, high) = (vmovl_u16(vget_low_u16(whole)), vmovl_high_u16(whole));
            Self(
                vcvtq_f64_u64(vmovl_u32(vget_low_u32(low))),
                vcvtq_f64_u64(vmovl_high_u32(low)),
                vcvtq_f64_u64(vmovl_u32(vget_low_u32(high))),
                vcvtq_f64_u64(vmovl_high_u32(high)),
            )
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        let two = self.two();
        instructions!(vpaddd_f64(two))
    }
    #[inline(always)]
    fn sums(lines: &[F64Line; 8]) -> [f64; 8] {
        let mut twos = [Self::splat(0.0).0; 8];
        for n in 0..8 {
            twos[n] = Self::load(&lines[n]).two();
        }
        pair_sums(twos)
    }
    #[inline(always)]
    fn transpose(from: &[F64Line], to: &mut [F64Line]) {
        assert!(from.len() == 8 && to.len() >= 8);
        for down in 0..4 {
            for across in 0..4 {
                instructions!({
                    let one = vld1q_f64(from[2 * across].0[2 * down..][..2].as_ptr());
                    let other = vld1q_f64(from[2 * across + 1].0[2 * down..][..2].as_ptr());
                    vst1q_f64(to[2 * down].0[2 * across..][..2].as_mut_ptr(), vtrn1q_f64(one, other));
                    vst1q_f64(to[2 * down + 1].0[2 * across..][..2].as_mut_ptr(), vtrn2q_f64(one, other));
                })
            }
        }
    }
}

impl Lanes for NeonF32 {
    operations!(
        f32,
        F32Line,
        of_f32,
        4,
        vld1q_f32,
        vst1q_f32,
        vdupq_n_f32,
        vaddq_f32,
        vsubq_f32,
        vmulq_f32,
        vdivq_f32,
        vfmaq_f32,
        vfmsq_f32
    );

    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = numbers[..16].as_ptr();
        instructions!({
            let (low, high) = (vld1q_u16(numbers), vld1q_u16(numbers.add(8)));
            Self(
                vcvtq_f32_u32(vmovl_u16(vget_low_u16(low))),
                vcvtq_f32_u32(vmovl_high_u16(low)),
                vcvtq_f32_u32(vmovl_u16(vget_low_u16(high))),
                vcvtq_f32_u32(vmovl_high_u16(high)),
            )
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        self.eight().sum()
    }
    #[inline(always)]
    fn sums(lines: &[F32Line; 8]) -> [f64; 8] {
        let mut twos = [NeonF64::splat(0.0).0; 8];
        for n in 0..8 {
            twos[n] = Self::load(&lines[n]).eight().two();
        }
        pair_sums(twos)
    }
    #[inline(always)]
    fn transpose(from: &[F32Line], to: &mut [F32Line]) {
        assert!(from.len() == 16 && to.len() >= 16);
        for down in 0..4 {
            for across in 0..4 {
                instructions!({
                    let a = vld1q_f32(from[4 * across].0[4 * down..][..4].as_ptr());
                    let b = vld1q_f32(from[4 * across + 1].0[4 * down..][..4].as_ptr());
                    let c = vld1q_f32(from[4 * across + 2].0[4 * down..][..4].as_ptr());
                    let d = vld1q_f32(from[4 * across + 3].0[4 * down..][..4].as_ptr());
                    // Puts lanes that belong together side by side, first of two lines, then of four.
                    let (even, odd) =
                        (vreinterpretq_f64_f32(vtrn1q_f32(a, b)), vreinterpretq_f64_f32(vtrn2q_f32(a, b)));
                    let (more_even, more_odd) =
                        (vreinterpretq_f64_f32(vtrn1q_f32(c, d)), vreinterpretq_f64_f32(vtrn2q_f32(c, d)));
                    let columns = [
                        vtrn1q_f64(even, more_even),
                        vtrn1q_f64(odd, more_odd),
                        vtrn2q_f64(even, more_even),
                        vtrn2q_f64(odd, more_odd),
                    ];
                    for n in 0..4 {
                        vst1q_f32(
                            to[4 * down + n].0[4 * across..][..4].as_mut_ptr(),
                            vreinterpretq_f32_f64(columns[n]),
                        );
                    }
                })
            }
        }
    }
}
