//! PubChem's substructure fingerprints: 881 yes-or-no questions about a compound, packed as text.

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
    let bytes = from_base64(packed)?;
    let (length, bits) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let is_whole =
        u32::from_be_bytes(*length) as usize == FINGERPRINT_BITS && bits.len() == FINGERPRINT_BITS.div_ceil(8);
    is_whole.then(|| bits.iter().map(|byte| format!("{:02x}", byte.reverse_bits())).collect())
}

/// Decodes padded Base64. Returns `None` if the text has another form.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.as_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    if !text.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (index, four) in text.chunks(4).enumerate() {
        let is_last = index + 1 == text.len() / 4;
        let mut word = 0_u32;
        for (place, byte) in four.iter().enumerate() {
            let six = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if is_last && place >= 4 - padding => 0,
                _ => return None,
            };
            word = word << 6 | u32::from(six);
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_question_is_the_lowest_bit_of_the_first_digits() {
        // Bits 0, 8 and 880 are set.
        let packed = format!("AAADcYCA{}gA==", "A".repeat(144));
        assert_eq!(fingerprint_digits(&packed).unwrap(), format!("0101{}01", "00".repeat(108)));
        assert_eq!(fingerprint_digits("AAADcQ=="), None);
    }

    #[test]
    fn base64_is_read_with_its_padding_and_nothing_else() {
        for (text, bytes) in [("", ""), ("bQ==", "m"), ("bG8=", "lo"), ("bG9v", "loo"), ("bG9vbQ==", "loom")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["b", "bG9", "b===", "=bG9", "bG 9", "bQ==bQ==", "bG9\u{e9}"] {
            assert_eq!(from_base64(text), None, "{text}");
        }
    }
}
