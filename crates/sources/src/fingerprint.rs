//! PubChem's substructure fingerprints: 881 yes-or-no questions about a compound, packed as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The number of questions.
const FINGERPRINT_BITS: usize = 881;

/// The length of the prefix before the bits, in bytes.
const PREFIX_BYTES: usize = 4;

/// Returns the bits as hexadecimal digits, as FPS files have them: the lowest bit of the first byte is the first
/// question. The text is the Base64 of the number of bits (four bytes, big-endian) and the bits (most significant bit
/// first). Returns `None` if the text has another form.
///
/// Source: PubChem's specification of its substructure fingerprint, version 1.3.
pub fn fingerprint_digits(packed: &str) -> Option<String> {
    let bytes = STANDARD.decode(packed).ok()?;
    let (length, bits) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let is_whole =
        u32::from_be_bytes(*length) as usize == FINGERPRINT_BITS && bits.len() == FINGERPRINT_BITS.div_ceil(8);
    is_whole.then(|| bits.iter().map(|byte| format!("{:02x}", byte.reverse_bits())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_question_is_the_lowest_bit_of_the_first_digits() {
        // Bits 0, 8 and 880 are set.
        let packed = format!("AAADcYCA{}gA==", "A".repeat(144));
        assert_eq!(fingerprint_digits(&packed).unwrap(), format!("0101{}01", "00".repeat(108)));
        let shorter = &packed[..packed.len() - 1];
        for other in ["", "AAADcQ==", "AAADcQ=", "=AAADcQ", "AAAD cQ==", "AAADcQ==AAADcQ==", "AAA\u{e9}", shorter] {
            assert_eq!(fingerprint_digits(other), None, "{other}");
        }
    }
}
