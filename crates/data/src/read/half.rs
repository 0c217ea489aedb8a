//! 16-bit floating point: NumPy's `float16` and the corresponding columns of Parquet and Arrow.

/// Returns the exact number that 16 bits represent in IEEE 754.
///
/// # Example
/// ```
/// use lehr_data::read::half;
/// assert_eq!([0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff].map(half), [1.0, -2.0, 0.333251953125, 2f64.powi(-24), 65504.0]);
/// assert!(half(0xfc00) == f64::NEG_INFINITY && half(0x7e00).is_nan());
/// ```
pub fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}
