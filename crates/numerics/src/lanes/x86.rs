//! Lines in the vector registers of x86-64; only this file contains its instructions.
//!
//! Values of these types exist only inside the copies of a kernel, and the types are private to the crate.
//! [`crate::dispatch`] enters a copy only after it has checked that the processor has the instruction set. Every
//! `unsafe` block here relies on this check.

use std::arch::x86_64::*;

use super::{F32Line, F64Line, Lanes, Registers};

/// Runs instructions of the set that the type represents.
macro_rules! instructions {
    ($e:expr) => {
        // SAFETY: a value of this type is only made inside a kernel copy compiled for this instruction set, which
        // `dispatch` enters after checking that the processor has it. Aligned loads and stores go through references to
        // lines, which are 64-byte aligned. Other loads and stores go through slices that were just cut to the numbers
        // read.
        unsafe { $e }
    };
}

/// The constant from which half of a number's bits are subtracted to estimate the inverse square root, as in
/// `lanes/plain.rs`.
const ROOT_F64: i64 = 0x5fe6_eb50_c7b5_37a9;
const ROOT_F32: i32 = 0x5f37_5a86;

/// Adds up four numbers: the upper two onto the lower two, then the second onto the first.
#[inline(always)]
fn halves(four: __m256d) -> f64 {
    instructions!({
        let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    })
}

/// Adds up the eight numbers of each of eight lines: the upper four onto the lower four, and so on.
#[inline(always)]
fn eight_sums(lines: [__m512d; 8]) -> [f64; 8] {
    instructions!({
        // Put halves of two lines side by side, then quarters of four lines, then single numbers of eight lines.
        let mut halves = [_mm512_setzero_pd(); 4];
        for n in 0..4 {
            let (a, b) = (lines[2 * n], lines[2 * n + 1]);
            halves[n] = _mm512_add_pd(_mm512_shuffle_f64x2::<0x44>(a, b), _mm512_shuffle_f64x2::<0xee>(a, b));
        }
        let mut quarters = [_mm512_setzero_pd(); 2];
        for n in 0..2 {
            let (a, b) = (halves[2 * n], halves[2 * n + 1]);
            quarters[n] = _mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
        }
        let (a, b) = (quarters[0], quarters[1]);
        // These are the sums of the lines 0 4 1 5 2 6 3 7.
        let sums = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let mut line = F64Line::default();
        _mm512_store_pd(line.0.as_mut_ptr(), _mm512_permutexvar_pd(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), sums));
        line.0
    })
}

/// One line in one 512-bit register.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F64(__m512d);

impl Lanes for Avx512F64 {
    type Number = f64;
    const IN_ONE_REGISTER: bool = true;

    #[inline(always)]
    fn load(line: &F64Line) -> Self {
        instructions!(Self(_mm512_load_pd(line.0.as_ptr())))
    }
    #[inline(always)]
    fn load_at(numbers: &[f64]) -> Self {
        let numbers = &numbers[..8];
        instructions!(Self(_mm512_loadu_pd(numbers.as_ptr())))
    }
    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = &numbers[..8];
        instructions!(Self(_mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_loadu_si128(numbers.as_ptr().cast())))))
    }
    #[inline(always)]
    fn prefetch<N>(numbers: &[N], place: usize) {
        // Any address is allowed, because nothing is read from it.
        instructions!(_mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().wrapping_add(place).cast()))
    }
    #[inline(always)]
    fn store(self, line: &mut F64Line) {
        instructions!(_mm512_store_pd(line.0.as_mut_ptr(), self.0))
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        instructions!(Self(_mm512_set1_pd(value)))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        instructions!(Self(_mm512_add_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        instructions!(Self(_mm512_sub_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        instructions!(Self(_mm512_mul_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        instructions!(Self(_mm512_div_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm512_fmadd_pd(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm512_fnmadd_pd(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        instructions!(Self(_mm512_max_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        instructions!(Self(_mm512_min_pd(self.0, other.0)))
    }
    #[inline(always)]
    fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        instructions!(Self(_mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(a.0, b.0), otherwise.0, then.0)))
    }
    #[inline(always)]
    fn where_equal(a: Self, b: Self, then: Self) -> Self {
        instructions!(Self(_mm512_maskz_mov_pd(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a.0, b.0), then.0)))
    }
    #[inline(always)]
    fn add_where(self, bits: u32, other: Self) -> Self {
        instructions!(Self(_mm512_mask_add_pd(self.0, bits as u8, self.0, other.0)))
    }
    #[inline(always)]
    fn raise_exponent(self, shifted: Self) -> Self {
        instructions!(Self(_mm512_castsi512_pd(_mm512_add_epi64(
            _mm512_castpd_si512(self.0),
            _mm512_slli_epi64::<52>(_mm512_castpd_si512(shifted.0))
        ))))
    }
    #[inline(always)]
    fn inverse_root_guess(self) -> Self {
        instructions!({
            let half = _mm512_srli_epi64::<1>(_mm512_castpd_si512(self.0));
            Self(_mm512_castsi512_pd(_mm512_sub_epi64(_mm512_set1_epi64(ROOT_F64), half)))
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        instructions!(halves(_mm256_add_pd(_mm512_castpd512_pd256(self.0), _mm512_extractf64x4_pd::<1>(self.0))))
    }
    #[inline(always)]
    fn transpose(from: &[F64Line], to: &mut [F64Line]) {
        assert_eq!(from.len(), 8);
        instructions!({
            let mut a = [_mm512_setzero_pd(); 8];
            for n in 0..8 {
                a[n] = _mm512_load_pd(from[n].0.as_ptr());
            }
            // Put the even lanes, and then the odd lanes, of two lines side by side.
            let mut pairs = a;
            for n in 0..4 {
                pairs[2 * n] = _mm512_unpacklo_pd(a[2 * n], a[2 * n + 1]);
                pairs[2 * n + 1] = _mm512_unpackhi_pd(a[2 * n], a[2 * n + 1]);
            }
            // Do the same for four lines and for eight: quarters 0 and 2 of both lines, and quarters 1 and 3.
            let mut fours = pairs;
            for n in 0..2 {
                for odd in 0..2 {
                    let (one, other) = (pairs[4 * n + odd], pairs[4 * n + 2 + odd]);
                    fours[4 * n + odd] = _mm512_shuffle_f64x2::<0x88>(one, other);
                    fours[4 * n + 2 + odd] = _mm512_shuffle_f64x2::<0xdd>(one, other);
                }
            }
            for lane in 0..4 {
                let (one, other) = (fours[lane], fours[4 + lane]);
                _mm512_store_pd(to[lane].0.as_mut_ptr(), _mm512_shuffle_f64x2::<0x88>(one, other));
                _mm512_store_pd(to[4 + lane].0.as_mut_ptr(), _mm512_shuffle_f64x2::<0xdd>(one, other));
            }
        })
    }
    #[inline(always)]
    fn sums(lines: &[F64Line; 8]) -> [f64; 8] {
        let mut eight = [Self::splat(0.0).0; 8];
        for n in 0..8 {
            eight[n] = Self::load(&lines[n]).0;
        }
        eight_sums(eight)
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        instructions!({
            let bits = _mm512_castpd_si512(self.0);
            let power = _mm512_srai_epi64::<52>(_mm512_sub_epi64(bits, _mm512_set1_epi64(0x3fe6_a09e_667f_3bcd)));
            let fraction = _mm512_sub_epi64(bits, _mm512_slli_epi64::<52>(power));
            (Self(_mm512_cvtepi64_pd(power)), Self(_mm512_castsi512_pd(fraction)))
        })
    }
}

/// One line in one 512-bit register.
#[derive(Clone, Copy, Debug)]
pub struct Avx512F32(__m512);

impl Lanes for Avx512F32 {
    type Number = f32;
    const IN_ONE_REGISTER: bool = true;

    #[inline(always)]
    fn load(line: &F32Line) -> Self {
        instructions!(Self(_mm512_load_ps(line.0.as_ptr())))
    }
    #[inline(always)]
    fn load_at(numbers: &[f32]) -> Self {
        let numbers = &numbers[..16];
        instructions!(Self(_mm512_loadu_ps(numbers.as_ptr())))
    }
    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = &numbers[..16];
        instructions!(Self(_mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(_mm256_loadu_si256(numbers.as_ptr().cast())))))
    }
    #[inline(always)]
    fn prefetch<N>(numbers: &[N], place: usize) {
        // Any address is allowed, because nothing is read from it.
        instructions!(_mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().wrapping_add(place).cast()))
    }
    #[inline(always)]
    fn store(self, line: &mut F32Line) {
        instructions!(_mm512_store_ps(line.0.as_mut_ptr(), self.0))
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        instructions!(Self(_mm512_set1_ps(value)))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        instructions!(Self(_mm512_add_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        instructions!(Self(_mm512_sub_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        instructions!(Self(_mm512_mul_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        instructions!(Self(_mm512_div_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm512_fmadd_ps(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm512_fnmadd_ps(self.0, factor.0, addend.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        instructions!(Self(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        instructions!(Self(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        instructions!(Self(_mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a.0, b.0), otherwise.0, then.0)))
    }
    #[inline(always)]
    fn where_equal(a: Self, b: Self, then: Self) -> Self {
        instructions!(Self(_mm512_maskz_mov_ps(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a.0, b.0), then.0)))
    }
    #[inline(always)]
    fn add_where(self, bits: u32, other: Self) -> Self {
        instructions!(Self(_mm512_mask_add_ps(self.0, bits as u16, self.0, other.0)))
    }
    #[inline(always)]
    fn raise_exponent(self, shifted: Self) -> Self {
        instructions!(Self(_mm512_castsi512_ps(_mm512_add_epi32(
            _mm512_castps_si512(self.0),
            _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted.0))
        ))))
    }
    #[inline(always)]
    fn inverse_root_guess(self) -> Self {
        instructions!({
            let half = _mm512_srli_epi32::<1>(_mm512_castps_si512(self.0));
            Self(_mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(ROOT_F32), half)))
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        instructions!({
            let low = _mm512_cvtps_pd(_mm512_castps512_ps256(self.0));
            let high = _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(self.0));
            Avx512F64(_mm512_add_pd(low, high)).sum()
        })
    }
    #[inline(always)]
    fn transpose(from: &[F32Line], to: &mut [F32Line]) {
        assert_eq!(from.len(), 16);
        instructions!({
            let mut a = [_mm512_setzero_ps(); 16];
            for n in 0..16 {
                a[n] = _mm512_load_ps(from[n].0.as_ptr());
            }
            // Within quarters of a line, put lanes that belong together side by side: first for two lines, then for
            // four.
            let mut pairs = a;
            for n in 0..8 {
                pairs[2 * n] = _mm512_unpacklo_ps(a[2 * n], a[2 * n + 1]);
                pairs[2 * n + 1] = _mm512_unpackhi_ps(a[2 * n], a[2 * n + 1]);
            }
            let mut fours = pairs;
            for n in 0..4 {
                for odd in 0..2 {
                    let one = _mm512_castps_pd(pairs[4 * n + odd]);
                    let other = _mm512_castps_pd(pairs[4 * n + 2 + odd]);
                    fours[4 * n + 2 * odd] = _mm512_castpd_ps(_mm512_unpacklo_pd(one, other));
                    fours[4 * n + 2 * odd + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(one, other));
                }
            }
            // Then move the quarters: 0 and 2 of both lines, and 1 and 3.
            let mut eights = fours;
            for n in 0..2 {
                for lane in 0..4 {
                    let (one, other) = (fours[8 * n + lane], fours[8 * n + 4 + lane]);
                    eights[8 * n + lane] = _mm512_shuffle_f32x4::<0x88>(one, other);
                    eights[8 * n + 4 + lane] = _mm512_shuffle_f32x4::<0xdd>(one, other);
                }
            }
            for lane in 0..8 {
                let (one, other) = (eights[lane], eights[8 + lane]);
                _mm512_store_ps(to[lane].0.as_mut_ptr(), _mm512_shuffle_f32x4::<0x88>(one, other));
                _mm512_store_ps(to[8 + lane].0.as_mut_ptr(), _mm512_shuffle_f32x4::<0xdd>(one, other));
            }
        })
    }
    #[inline(always)]
    fn sums(lines: &[F32Line; 8]) -> [f64; 8] {
        let mut eight = [Avx512F64::splat(0.0).0; 8];
        for n in 0..8 {
            let line = Self::load(&lines[n]).0;
            eight[n] = instructions!(_mm512_add_pd(
                _mm512_cvtps_pd(_mm512_castps512_ps256(line)),
                _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(line))
            ));
        }
        eight_sums(eight)
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        instructions!({
            let bits = _mm512_castps_si512(self.0);
            let power = _mm512_srai_epi32::<23>(_mm512_sub_epi32(bits, _mm512_set1_epi32(0x3f35_04f3)));
            let fraction = _mm512_sub_epi32(bits, _mm512_slli_epi32::<23>(power));
            (Self(_mm512_cvtepi32_ps(power)), Self(_mm512_castsi512_ps(fraction)))
        })
    }
}

/// One line in two 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F64(__m256d, __m256d);

impl Lanes for Avx2F64 {
    type Number = f64;
    const IN_ONE_REGISTER: bool = false;

    #[inline(always)]
    fn load(line: &F64Line) -> Self {
        instructions!(Self(_mm256_load_pd(line.0.as_ptr()), _mm256_load_pd(line.0[4..].as_ptr())))
    }
    #[inline(always)]
    fn load_at(numbers: &[f64]) -> Self {
        let numbers = &numbers[..8];
        instructions!(Self(_mm256_loadu_pd(numbers.as_ptr()), _mm256_loadu_pd(numbers[4..].as_ptr())))
    }
    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = &numbers[..8];
        instructions!({
            let whole = _mm_loadu_si128(numbers.as_ptr().cast());
            let (low, high) = (_mm_cvtepu16_epi32(whole), _mm_cvtepu16_epi32(_mm_unpackhi_epi64(whole, whole)));
            Self(_mm256_cvtepi32_pd(low), _mm256_cvtepi32_pd(high))
        })
    }
    #[inline(always)]
    fn prefetch<N>(numbers: &[N], place: usize) {
        // Any address is allowed, because nothing is read from it.
        instructions!(_mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().wrapping_add(place).cast()))
    }
    #[inline(always)]
    fn store(self, line: &mut F64Line) {
        instructions!({
            _mm256_store_pd(line.0.as_mut_ptr(), self.0);
            _mm256_store_pd(line.0[4..].as_mut_ptr(), self.1);
        })
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        instructions!(Self(_mm256_set1_pd(value), _mm256_set1_pd(value)))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        instructions!(Self(_mm256_add_pd(self.0, other.0), _mm256_add_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        instructions!(Self(_mm256_sub_pd(self.0, other.0), _mm256_sub_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        instructions!(Self(_mm256_mul_pd(self.0, other.0), _mm256_mul_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        instructions!(Self(_mm256_div_pd(self.0, other.0), _mm256_div_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm256_fmadd_pd(self.0, factor.0, addend.0), _mm256_fmadd_pd(self.1, factor.1, addend.1)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm256_fnmadd_pd(self.0, factor.0, addend.0), _mm256_fnmadd_pd(self.1, factor.1, addend.1)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        instructions!(Self(_mm256_max_pd(self.0, other.0), _mm256_max_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        instructions!(Self(_mm256_min_pd(self.0, other.0), _mm256_min_pd(self.1, other.1)))
    }
    #[inline(always)]
    fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        instructions!(Self(
            _mm256_blendv_pd(otherwise.0, then.0, _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, b.0)),
            _mm256_blendv_pd(otherwise.1, then.1, _mm256_cmp_pd::<_CMP_LT_OQ>(a.1, b.1))
        ))
    }
    #[inline(always)]
    fn where_equal(a: Self, b: Self, then: Self) -> Self {
        instructions!(Self(
            _mm256_and_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a.0, b.0), then.0),
            _mm256_and_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(a.1, b.1), then.1)
        ))
    }
    #[inline(always)]
    fn raise_exponent(self, shifted: Self) -> Self {
        instructions!(Self(
            _mm256_castsi256_pd(_mm256_add_epi64(
                _mm256_castpd_si256(self.0),
                _mm256_slli_epi64::<52>(_mm256_castpd_si256(shifted.0))
            )),
            _mm256_castsi256_pd(_mm256_add_epi64(
                _mm256_castpd_si256(self.1),
                _mm256_slli_epi64::<52>(_mm256_castpd_si256(shifted.1))
            ))
        ))
    }
    #[inline(always)]
    fn inverse_root_guess(self) -> Self {
        instructions!({
            let root = _mm256_set1_epi64x(ROOT_F64);
            let (low, high) = (_mm256_castpd_si256(self.0), _mm256_castpd_si256(self.1));
            let (low, high) = (_mm256_srli_epi64::<1>(low), _mm256_srli_epi64::<1>(high));
            Self(_mm256_castsi256_pd(_mm256_sub_epi64(root, low)), _mm256_castsi256_pd(_mm256_sub_epi64(root, high)))
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        instructions!(halves(_mm256_add_pd(self.0, self.1)))
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // 256-bit registers cannot shift 64-bit numbers arithmetically. This happens once for each row, not for each
        // row and centre.
        let mut line = F64Line::default();
        self.store(&mut line);
        let (exponents, fractions) = <f64 as Registers>::Plain::load(&line).split_exponent();
        let (mut exponent_line, mut fraction_line) = (F64Line::default(), F64Line::default());
        exponents.store(&mut exponent_line);
        fractions.store(&mut fraction_line);
        (Self::load(&exponent_line), Self::load(&fraction_line))
    }
}

/// One line in two 256-bit registers.
#[derive(Clone, Copy, Debug)]
pub struct Avx2F32(__m256, __m256);

impl Lanes for Avx2F32 {
    type Number = f32;
    const IN_ONE_REGISTER: bool = false;

    #[inline(always)]
    fn load(line: &F32Line) -> Self {
        instructions!(Self(_mm256_load_ps(line.0.as_ptr()), _mm256_load_ps(line.0[8..].as_ptr())))
    }
    #[inline(always)]
    fn load_at(numbers: &[f32]) -> Self {
        let numbers = &numbers[..16];
        instructions!(Self(_mm256_loadu_ps(numbers.as_ptr()), _mm256_loadu_ps(numbers[8..].as_ptr())))
    }
    #[inline(always)]
    fn load_u16(numbers: &[u16]) -> Self {
        let numbers = &numbers[..16];
        instructions!({
            let low = _mm256_cvtepu16_epi32(_mm_loadu_si128(numbers.as_ptr().cast()));
            let high = _mm256_cvtepu16_epi32(_mm_loadu_si128(numbers[8..].as_ptr().cast()));
            Self(_mm256_cvtepi32_ps(low), _mm256_cvtepi32_ps(high))
        })
    }
    #[inline(always)]
    fn prefetch<N>(numbers: &[N], place: usize) {
        // Any address is allowed, because nothing is read from it.
        instructions!(_mm_prefetch::<_MM_HINT_T0>(numbers.as_ptr().wrapping_add(place).cast()))
    }
    #[inline(always)]
    fn store(self, line: &mut F32Line) {
        instructions!({
            _mm256_store_ps(line.0.as_mut_ptr(), self.0);
            _mm256_store_ps(line.0[8..].as_mut_ptr(), self.1);
        })
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        instructions!(Self(_mm256_set1_ps(value), _mm256_set1_ps(value)))
    }
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        instructions!(Self(_mm256_add_ps(self.0, other.0), _mm256_add_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        instructions!(Self(_mm256_sub_ps(self.0, other.0), _mm256_sub_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        instructions!(Self(_mm256_mul_ps(self.0, other.0), _mm256_mul_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        instructions!(Self(_mm256_div_ps(self.0, other.0), _mm256_div_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm256_fmadd_ps(self.0, factor.0, addend.0), _mm256_fmadd_ps(self.1, factor.1, addend.1)))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, addend: Self) -> Self {
        instructions!(Self(_mm256_fnmadd_ps(self.0, factor.0, addend.0), _mm256_fnmadd_ps(self.1, factor.1, addend.1)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        instructions!(Self(_mm256_max_ps(self.0, other.0), _mm256_max_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        instructions!(Self(_mm256_min_ps(self.0, other.0), _mm256_min_ps(self.1, other.1)))
    }
    #[inline(always)]
    fn select_less(a: Self, b: Self, then: Self, otherwise: Self) -> Self {
        instructions!(Self(
            _mm256_blendv_ps(otherwise.0, then.0, _mm256_cmp_ps::<_CMP_LT_OQ>(a.0, b.0)),
            _mm256_blendv_ps(otherwise.1, then.1, _mm256_cmp_ps::<_CMP_LT_OQ>(a.1, b.1))
        ))
    }
    #[inline(always)]
    fn where_equal(a: Self, b: Self, then: Self) -> Self {
        instructions!(Self(
            _mm256_and_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a.0, b.0), then.0),
            _mm256_and_ps(_mm256_cmp_ps::<_CMP_EQ_OQ>(a.1, b.1), then.1)
        ))
    }
    #[inline(always)]
    fn raise_exponent(self, shifted: Self) -> Self {
        instructions!(Self(
            _mm256_castsi256_ps(_mm256_add_epi32(
                _mm256_castps_si256(self.0),
                _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted.0))
            )),
            _mm256_castsi256_ps(_mm256_add_epi32(
                _mm256_castps_si256(self.1),
                _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted.1))
            ))
        ))
    }
    #[inline(always)]
    fn inverse_root_guess(self) -> Self {
        instructions!({
            let root = _mm256_set1_epi32(ROOT_F32);
            let (low, high) = (_mm256_castps_si256(self.0), _mm256_castps_si256(self.1));
            let (low, high) = (_mm256_srli_epi32::<1>(low), _mm256_srli_epi32::<1>(high));
            Self(_mm256_castsi256_ps(_mm256_sub_epi32(root, low)), _mm256_castsi256_ps(_mm256_sub_epi32(root, high)))
        })
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        instructions!({
            let low = _mm256_add_pd(
                _mm256_cvtps_pd(_mm256_castps256_ps128(self.0)),
                _mm256_cvtps_pd(_mm256_castps256_ps128(self.1)),
            );
            let high = _mm256_add_pd(
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.0)),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self.1)),
            );
            halves(_mm256_add_pd(low, high))
        })
    }
    #[inline(always)]
    fn split_exponent(self) -> (Self, Self) {
        // 256-bit registers cannot shift 64-bit numbers arithmetically. This happens once for each row, not for each
        // row and centre.
        let mut line = F32Line::default();
        self.store(&mut line);
        let (exponents, fractions) = <f32 as Registers>::Plain::load(&line).split_exponent();
        let (mut exponent_line, mut fraction_line) = (F32Line::default(), F32Line::default());
        exponents.store(&mut exponent_line);
        fractions.store(&mut fraction_line);
        (Self::load(&exponent_line), Self::load(&fraction_line))
    }
}
