//! Packs numbers for a report as little-endian bytes in Base64, which the script reads as typed arrays.
//!
//! Coordinates and values take four bytes each, which hold about seven digits; the result tables have all digits.
//! Labels take two bytes each.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The packed label of a point without a label, and the packed probability for NaN.
pub const NO_LABEL: u16 = u16::MAX;

/// Packs values in four bytes each; NaN stays NaN.
pub fn floats(values: impl Iterator<Item = f64>) -> String {
    base64(&values.flat_map(|value| (value as f32).to_le_bytes()).collect::<Vec<u8>>())
}

/// Packs labels in two bytes each. A label that does not fit becomes [`NO_LABEL`].
pub fn labels(labels: impl Iterator<Item = u32>) -> String {
    let short = |label: u32| u16::try_from(label).unwrap_or(NO_LABEL);
    base64(&labels.flat_map(|label| short(label).to_le_bytes()).collect::<Vec<u8>>())
}

/// Packs row numbers in four bytes each.
pub fn rows(rows: impl Iterator<Item = usize>) -> String {
    base64(&rows.flat_map(|row| (row as u32).to_le_bytes()).collect::<Vec<u8>>())
}

/// Packs shares in one byte each: 0 to 254 for 0 to 1, and 255 for an unknown share.
pub fn shares(shares: impl Iterator<Item = Option<f64>>) -> String {
    let level = |share: Option<f64>| share.map_or(255, |share| (254.0 * share.clamp(0.0, 1.0)).round() as u8);
    base64(&shares.map(level).collect::<Vec<u8>>())
}

/// Packs probabilities in two bytes each: 0 to 65,534 for 0 to 1, and [`NO_LABEL`] for NaN. A single byte would turn
/// 0.999 into 1.
pub fn probabilities(probabilities: impl Iterator<Item = f64>) -> String {
    let most = f64::from(NO_LABEL - 1);
    let level = |p: f64| if p.is_nan() { NO_LABEL } else { (most * p.clamp(0.0, 1.0)).round() as u16 };
    base64(&probabilities.flat_map(|p| level(p).to_le_bytes()).collect::<Vec<u8>>())
}

/// Encodes bytes as Base64 (RFC 4648) with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = (bits >> (18 - 6 * place)) & 63;
            text.push(if place <= group.len() { ALPHABET[sextet as usize] as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_vectors_of_the_standard() {
        for (plain, coded) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn numbers_are_little_endian_and_what_does_not_fit_is_none() {
        assert_eq!(floats([1.0, -2.0].into_iter()), base64(&[0, 0, 128, 63, 0, 0, 0, 192]));
        assert_eq!(labels([3, 65_534, 65_535, u32::MAX].into_iter()), base64(&[3, 0, 254, 255, 255, 255, 255, 255]));
        assert_eq!(rows([258].into_iter()), base64(&[2, 1, 0, 0]));
        assert_eq!(shares([Some(0.0), Some(1.0), None].into_iter()), base64(&[0, 254, 255]));
        assert_eq!(probabilities([0.0, 0.5, 1.0, f64::NAN].into_iter()), base64(&[0, 0, 255, 127, 254, 255, 255, 255]));
    }
}
