//! Logarithms, exponentials and cosines with the same bits on every machine.
//!
//! The standard library calls the system's functions, whose last digits differ between systems, and between processors
//! on the same system. Use the functions here if a result must be reproducible on other machines, or if ranks on
//! different machines base decisions on it. These functions compute sums, products and quotients in a fixed order, and
//! IEEE 754 fixes the results. (It fixes square roots too, so the standard library's square root can be used.)

use crate::dispatch::kernel;
use crate::lanes::Line;

/// Returns the natural logarithm.
///
/// The result is `-inf` for 0, and NaN for a negative number. The error is below 2 units in the last place (tested
/// against the standard library). Cost: about 20 operations.
///
/// # Example
/// ```
/// use lehr_numerics::elementary::ln;
/// assert_eq!(ln(1.0), 0.0);
/// assert!((ln(10.0) - std::f64::consts::LN_10).abs() < 1e-15);
/// assert_eq!(ln(0.0), f64::NEG_INFINITY);
/// ```
pub fn ln(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    // The upper part of ln 2 has so few digits that its product with any exponent is exact.
    const UPPER: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
    const LOWER: f64 = std::f64::consts::LN_2 - UPPER;
    if x <= 0.0 || !x.is_finite() {
        return if x == 0.0 {
            f64::NEG_INFINITY
        } else if x > 0.0 {
            x
        } else {
            f64::NAN
        };
    }
    let (bits, shift) = if x < f64::MIN_POSITIVE { ((x * 2f64.powi(54)).to_bits(), -54.0) } else { (x.to_bits(), 0.0) };
    // x = 2^power m with m between the square roots of 1/2 and 2.
    let power = (bits.wrapping_sub(SQRT_HALF) as i64) >> 52;
    let m = f64::from_bits(bits.wrapping_sub((power << 52) as u64));
    let power = power as f64 + shift;
    // ln m = 2 (t + t^3 / 3 + t^5 / 5 + ...) with t = (m - 1) / (m + 1), which is at most 0.172. The first omitted term
    // is below 2^-64 of the first.
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let mut series = 0.0;
    for odd in (3..=23).rev().step_by(2) {
        series = square * (series + 1.0 / f64::from(odd));
    }
    power * UPPER + (2.0 * t + (2.0 * t * series + power * LOWER))
}

/// Returns the cosine of a fraction of a full turn: `cos(2 pi turn)`.
///
/// The error is below 1e-15 (tested against the standard library). Multiples of a quarter turn give exactly 0, 1 or -1.
/// Cost: about 25 operations.
///
/// # Panics
/// Panics if `turn` is not between 0 and 1.
///
/// # Example
/// ```
/// use lehr_numerics::elementary::cos_turn;
/// assert_eq!([cos_turn(0.0), cos_turn(0.25), cos_turn(0.5)], [1.0, 0.0, -1.0]);
/// ```
pub fn cos_turn(turn: f64) -> f64 {
    assert!((0.0..=1.0).contains(&turn), "a share of a turn");
    let quarters = (4.0 * turn + 0.5).floor();
    // The difference is exact, because both numbers have few digits below the digits of `turn`.
    let angle = std::f64::consts::TAU * (turn - quarters / 4.0);
    let square = angle * angle;
    // Taylor's series, up to an eighth of a turn in either direction; the omitted terms are below 2^-57.
    let series = |last: i32| {
        let mut sum = 1.0;
        let mut n = last;
        while n > 1 {
            sum = 1.0 - square / f64::from(n * (n - 1)) * sum;
            n -= 2;
        }
        sum
    };
    match quarters as u8 % 4 {
        0 => series(18),
        1 => -angle * series(19),
        2 => -series(18),
        _ => angle * series(19),
    }
}

/// Returns e to the power of a number, with the same bits on every machine. The result is 0 below -745, and infinite
/// above 709.78.
///
/// The relative error is below 3 rounding units. The exponent is subtracted in two parts, and fourteen terms of the
/// series give the rest. Cost: about 35 operations, 12 of which wait for each other.
///
/// # Example
/// ```
/// use lehr_numerics::elementary::exp;
/// assert_eq!((exp(0.0), exp(f64::NEG_INFINITY)), (1.0, 0.0));
/// assert!((exp(1.0) - std::f64::consts::E).abs() < 1e-15);
/// ```
#[inline]
pub fn exp(x: f64) -> f64 {
    const HIGH: f64 = 0.693_147_180_369_123_8;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    if x.is_nan() || x > 709.782_712_893_384 {
        return if x.is_nan() { x } else { f64::INFINITY };
    }
    if x < -745.2 {
        return 0.0;
    }
    // Adding and subtracting this number rounds to a whole number. `round` would call a function of the system.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    let power = (x * std::f64::consts::LOG2_E + ROUNDING) - ROUNDING;
    let r = (x - power * HIGH) - power * LOW;
    // The terms from the third on, in groups that do not wait for each other (Estrin 1960).
    const TERMS: [f64; 14] = inverse_factorials();
    let (square, fourth) = (r * r, (r * r) * (r * r));
    let pair = |n: usize| TERMS[n] + TERMS[n + 1] * r;
    let four = |n: usize| pair(n) + pair(n + 2) * square;
    let series = four(2) + fourth * (four(6) + fourth * four(10));
    let sum = 1.0 + (r + square * series);
    // Multiply in two steps, because a power that leads to a denormal result is not a normal number itself.
    let half = power as i64 / 2;
    sum * power_of_two(half) * power_of_two(power as i64 - half)
}

/// Returns 1 / n! for the terms of the exponential series.
const fn inverse_factorials() -> [f64; 14] {
    let mut terms = [1.0; 14];
    let (mut n, mut factorial) = (1, 1.0);
    while n < terms.len() {
        factorial *= n as f64;
        terms[n] = 1.0 / factorial;
        n += 1;
    }
    terms
}

/// Returns the power of two, for an exponent of a normal number.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

kernel! {
    fn exponentials[T; V](values: &mut [T]) {
        let per_power = V::splat(T::from_f64(std::f64::consts::LOG2_E));
        let mut line = T::Line::default();
        let mut start = 0;
        while start < values.len() {
            let count = if values.len() - start < T::Line::COUNT { values.len() - start } else { T::Line::COUNT };
            line.lanes_mut()[..count].copy_from_slice(&values[start..start + count]);
            V::load(&line).mul(per_power).exp2().store(&mut line);
            values[start..start + count].copy_from_slice(&line.lanes()[..count]);
            start += count;
        }
    }
}

/// Computes the exponential function of many numbers, a line at a time, with the same bits on every machine and
/// instruction set. It is faster than a call of [`exp`] for each number, and its last bits differ from [`exp`].
///
/// The numbers must be at most 0, as for memberships. The relative error is below 4 rounding units times the larger of
/// 1 and |x|. For numbers below `-1000 ln 2` (about -693.15), the result is 2^-1000.
///
/// # Example
/// ```
/// use lehr_numerics::elementary::exp_each;
/// let mut numbers = [0.0, -1.0];
/// exp_each(&mut numbers);
/// assert_eq!(numbers[0], 1.0);
/// assert!((numbers[1] * std::f64::consts::E - 1.0).abs() < 1e-15);
/// ```
pub fn exp_each(values: &mut [f64]) {
    exponentials(values);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_each;

    #[test]
    fn many_exponentials_are_good_to_four_units_on_every_instruction_set() {
        let numbers: Vec<f64> = (0..100_003).map(|i| -f64::from(i) * 0.005).collect();
        let mut first: Option<Vec<f64>> = None;
        on_each(|_| {
            let mut values = numbers.clone();
            exp_each(&mut values);
            let error = |(value, x): (&f64, &f64)| (value / x.exp() - 1.0).abs() / (f64::EPSILON * x.abs().max(1.0));
            assert!(values.iter().zip(&numbers).map(error).fold(0.0, f64::max) < 4.0);
            assert_eq!(first.get_or_insert_with(|| values.clone()), &values);
        });
        let mut least = [-700.0, f64::NEG_INFINITY];
        exp_each(&mut least);
        assert!(least[0] > 0.0 && least[0] == least[1] && least[0] < 1e-250);
    }

    #[test]
    fn logarithms_are_good_to_two_units_over_all_numbers() {
        let mut worst = 0.0f64;
        for i in 0..200_000u64 {
            // Test all exponents, including the subnormal ones, and numbers near 1.
            let x = f64::from_bits(1 + i * (f64::MAX.to_bits() / 200_000));
            let near = 1.0 + (i as f64 - 100_000.0) * 3e-6;
            for x in [x, near, 1.0 + (i as f64 - 100_000.0) * f64::EPSILON] {
                worst = worst.max((ln(x) - x.ln()).abs() / (f64::EPSILON * x.ln().abs()).max(f64::MIN_POSITIVE));
            }
        }
        assert!(worst < 2.0, "{worst} units");
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::INFINITY) == f64::INFINITY);
    }

    #[test]
    fn cosines_are_good_to_the_last_digits_of_1() {
        for i in 0..=100_000 {
            let turn = f64::from(i) / 100_000.0;
            assert!((cos_turn(turn) - (std::f64::consts::TAU * turn).cos()).abs() < 1e-15, "{turn}");
        }
    }

    #[test]
    fn the_bits_are_the_same_on_every_machine() {
        let bits = (1..1000).fold(0u64, |hash, i| {
            let x = f64::from(i) / 1001.0;
            hash.rotate_left(7) ^ ln(x).to_bits() ^ cos_turn(x).to_bits().rotate_left(23)
        });
        assert_eq!(bits, 12_670_368_967_001_219_547);
    }

    #[test]
    fn exponentials_are_those_of_the_standard_library_to_rounding() {
        for step in -70_000..=70_000 {
            let x = f64::from(step) * 0.01;
            let (found, expected) = (exp(x), x.exp());
            assert!((found - expected).abs() <= 3.0 * f64::EPSILON * expected, "exp({x}) = {found}, not {expected}");
        }
        assert_eq!((exp(-1e9), exp(1e9)), (0.0, f64::INFINITY));
        assert!(exp(f64::NAN).is_nan() && exp(-744.0) > 0.0);
    }
}
