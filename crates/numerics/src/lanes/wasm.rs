//! Lines in the 128-bit registers of WebAssembly; only this file contains its instructions.
//!
//! A browser checks a program before it runs any of it, so kernels need no check of the processor. A program is
//! compiled twice: once with the instruction for a multiply-add (`relaxed-simd`), and once with `simd128` alone, for
//! browsers that lack this instruction.
//!
//! The multiply-add may round once or twice, depending on the processor. If it rounds once, results have the same bits
//! as on every other machine. [`crate::dispatch::is_fused`] returns whether it rounds once.

use std::arch::wasm32::*;

use super::{F32Line, F64Line, Lanes};

/// The constant from which half of a number's bits are subtracted to estimate the inverse square root, as in
/// `lanes/plain.rs`.
const ROOT_F64: i64 = 0x5fe6_eb50_c7b5_37a9;
const ROOT_F32: i32 = 0x5f37_5a86;
const SQRT_HALF_F64: i64 = 0x3fe6_a09e_667f_3bcd;
const SQRT_HALF_F32: i32 = 0x3f35_04f3;

/// One line in four 128-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct WasmF64(v128, v128, v128, v128);

/// One line in four 128-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct WasmF32(v128, v128, v128, v128);

/// Applies the same function to each of the four registers.
macro_rules! each {
    ($function:path, $($line:expr),*) => {
        Self($function($($line.0),*), $function($($line.1),*), $function($($line.2),*), $function($($line.3),*))
    };
}

/// The two multiply-adds of a type of number, with the `relaxed-simd` instruction or without it.
macro_rules! products {
    ($madd:ident, $nmadd:ident, $add:ident, $sub:ident, $mul:ident) => {
        #[inline(always)]
        pub(super) fn mul_add(a: v128, b: v128, c: v128) -> v128 {
            #[cfg(target_feature = "relaxed-simd")]
            return $madd(a, b, c);
            #[cfg(not(target_feature = "relaxed-simd"))]
            return $add($mul(a, b), c);
        }
        #[inline(always)]
        pub(super) fn neg_mul_add(a: v128, b: v128, c: v128) -> v128 {
            #[cfg(target_feature = "relaxed-simd")]
            return $nmadd(a, b, c);
            #[cfg(not(target_feature = "relaxed-simd"))]
            return $sub(c, $mul(a, b));
        }
    };
}

/// The code that both precisions share: the same operations, in 64 or in 32 bits.
macro_rules! helpers {
    ($of:ident, $fraction_bits:literal, $root:expr, $sqrt_half:expr, $less:ident, $equal:ident, $pmax:ident, $pmin:ident, $splat_whole:ident, $add:ident,
     $sub:ident, $left:ident, $right:ident, $half:ident, $convert:path, $products:tt) => {
        mod $of {
            use super::*;

            products! $products;

            // The instruction returns its first operand unless the second is larger.
            #[inline(always)]
            pub(super) fn larger(a: v128, b: v128) -> v128 {
                $pmax(b, a)
            }
            #[inline(always)]
            pub(super) fn smaller(a: v128, b: v128) -> v128 {
                $pmin(b, a)
            }
            #[inline(always)]
            pub(super) fn select_less(a: v128, b: v128, then: v128, otherwise: v128) -> v128 {
                v128_bitselect(then, otherwise, $less(a, b))
            }
            #[inline(always)]
            pub(super) fn where_equal(a: v128, b: v128, then: v128) -> v128 {
                v128_and(then, $equal(a, b))
            }
            #[inline(always)]
            pub(super) fn raise(value: v128, shifted: v128) -> v128 {
                $add(value, $left(shifted, $fraction_bits))
            }
            #[inline(always)]
            pub(super) fn inverse_root_guess(value: v128) -> v128 {
                $sub($splat_whole($root), $half(value, 1))
            }
            #[inline(always)]
            fn power(value: v128) -> v128 {
                $right($sub(value, $splat_whole($sqrt_half)), $fraction_bits)
            }
            #[inline(always)]
            pub(super) fn exponent(value: v128) -> v128 {
                $convert(power(value))
            }
            #[inline(always)]
            pub(super) fn fraction(value: v128) -> v128 {
                $sub(value, $left(power(value), $fraction_bits))
            }
        }
    };
}

/// Converts two whole numbers that fit into 32 bits to floating-point numbers.
#[inline(always)]
fn f64x2_of_small(whole: v128) -> v128 {
    f64x2_convert_low_i32x4(i32x4_shuffle::<0, 2, 0, 2>(whole, whole))
}

helpers!(
    of_f64,
    52,
    ROOT_F64,
    SQRT_HALF_F64,
    f64x2_lt,
    f64x2_eq,
    f64x2_pmax,
    f64x2_pmin,
    i64x2_splat,
    i64x2_add,
    i64x2_sub,
    i64x2_shl,
    i64x2_shr,
    u64x2_shr,
    f64x2_of_small,
    (f64x2_relaxed_madd, f64x2_relaxed_nmadd, f64x2_add, f64x2_sub, f64x2_mul)
);
helpers!(
    of_f32,
    23,
    ROOT_F32,
    SQRT_HALF_F32,
    f32x4_lt,
    f32x4_eq,
    f32x4_pmax,
    f32x4_pmin,
    i32x4_splat,
    i32x4_add,
    i32x4_sub,
    i32x4_shl,
    i32x4_shr,
    u32x4_shr,
    f32x4_convert_i32x4,
    (f32x4_relaxed_madd, f32x4_relaxed_nmadd, f32x4_add, f32x4_sub, f32x4_mul)
);

/// Loads a register from the start of a slice.
#[inline(always)]
fn read<T: bytemuck::Pod>(numbers: &[T]) -> v128 {
    let bytes: &[u8] = bytemuck::cast_slice(numbers);
    // SAFETY: the slice is cut to the 16 bytes that are read, and no alignment is needed.
    unsafe { v128_load(bytes[..16].as_ptr().cast()) }
}

#[inline(always)]
fn write<T: bytemuck::Pod>(register: v128, numbers: &mut [T]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(numbers);
    // SAFETY: the slice is cut to the 16 bytes that are written, and no alignment is needed.
    unsafe { v128_store(bytes[..16].as_mut_ptr().cast(), register) }
}

/// The operations that take one instruction for each register, or one helper.
macro_rules! operations {
    ($number:ty, $line:ident, $of:ident, $per_register:literal, $splat:ident, $add:path, $sub:path, $mul:path, $div:path) => {
        type Number = $number;
        const IN_ONE_REGISTER: bool = false;

        #[inline(always)]
        fn load(line: &$line) -> Self {
            Self::load_at(&line.0)
        }
        #[inline(always)]
        fn load_at(numbers: &[$number]) -> Self {
            let numbers = &numbers[..4 * $per_register];
            Self(
                read(numbers),
                read(&numbers[$per_register..]),
                read(&numbers[2 * $per_register..]),
                read(&numbers[3 * $per_register..]),
            )
        }
        #[inline(always)]
        fn prefetch<N>(_: &[N], _: usize) {}
        #[inline(always)]
        fn store(self, line: &mut $line) {
            write(self.0, &mut line.0);
            write(self.1, &mut line.0[$per_register..]);
            write(self.2, &mut line.0[2 * $per_register..]);
            write(self.3, &mut line.0[3 * $per_register..]);
        }
        #[inline(always)]
        fn splat(value: $number) -> Self {
            let register = $splat(value);
            Self(register, register, register, register)
        }
        #[inline(always)]
        fn add(self, other: Self) -> Self {
            each!($add, self, other)
        }
        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            each!($sub, self, other)
        }
        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            each!($mul, self, other)
        }
        #[inline(always)]
        fn div(self, other: Self) -> Self {
            each!($div, self, other)
        }
        #[inline(always)]
        fn mul_add(self, factor: Self, addend: Self) -> Self {
            each!($of::mul_add, self, factor, addend)
        }
        #[inline(always)]
        fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
            each!($of::neg_mul_add, self, factor, addend)
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            each!($of::larger, self, other)
        }
        #[inline(always)]
        fn min(self, other: Self) -> Self {
            each!($of::smaller, self, other)
        }
        #[inline(always)]
        fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
            each!($of::select_less, a, b, then, otherwise)
        }
        #[inline(always)]
        fn where_equal(a: Self, b: Self, then: Self) -> Self {
            each!($of::where_equal, a, b, then)
        }
        #[inline(always)]
        fn raise_exponent(self, shifted: Self) -> Self {
            each!($of::raise, self, shifted)
        }
        #[inline(always)]
        fn inverse_root_guess(self) -> Self {
            each!($of::inverse_root_guess, self)
        }
        #[inline(always)]
        fn split_exponent(self) -> (Self, Self) {
            (each!($of::exponent, self), each!($of::fraction, self))
        }
    };
}

impl WasmF32 {
    /// Adds the upper eight numbers onto the lower eight, as `f64`.
    #[inline(always)]
    fn eight(self) -> WasmF64 {
        let high = |register: v128| f64x2_promote_low_f32x4(i64x2_shuffle::<1, 1>(register, register));
        let (a, b, c, d) = (self.0, self.1, self.2, self.3);
        WasmF64(
            f64x2_add(f64x2_promote_low_f32x4(a), f64x2_promote_low_f32x4(c)),
            f64x2_add(high(a), high(c)),
            f64x2_add(f64x2_promote_low_f32x4(b), f64x2_promote_low_f32x4(d)),
            f64x2_add(high(b), high(d)),
        )
    }
}

impl Lanes for WasmF64 {
    operations!(f64, F64Line, of_f64, 2, f64x2_splat, f64x2_add, f64x2_sub, f64x2_mul, f64x2_div);

    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let whole = read(&numbers[..8]);
        let two =
            |four: v128| (f64x2_convert_low_u32x4(four), f64x2_convert_low_u32x4(i64x2_shuffle::<1, 1>(four, four)));
        let (a, b) = two(u32x4_extend_low_u16x8(whole));
        let (c, d) = two(u32x4_extend_high_u16x8(whole));
        Self(a, b, c, d)
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        // Add the upper four numbers onto the lower four, and then the upper two of these onto the lower two.
        let two = f64x2_add(f64x2_add(self.0, self.2), f64x2_add(self.1, self.3));
        f64x2_extract_lane::<0>(two) + f64x2_extract_lane::<1>(two)
    }
}

impl Lanes for WasmF32 {
    operations!(f32, F32Line, of_f32, 4, f32x4_splat, f32x4_add, f32x4_sub, f32x4_mul, f32x4_div);

    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let (low, high) = (read(&numbers[..8]), read(&numbers[8..16]));
        Self(
            f32x4_convert_u32x4(u32x4_extend_low_u16x8(low)),
            f32x4_convert_u32x4(u32x4_extend_high_u16x8(low)),
            f32x4_convert_u32x4(u32x4_extend_low_u16x8(high)),
            f32x4_convert_u32x4(u32x4_extend_high_u16x8(high)),
        )
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        self.eight().sum()
    }
}
