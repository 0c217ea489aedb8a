//! PubChem's substructure fingerprints: 881 yes-or-no questions about a compound, packed as text.

/// The number of questions.
pub const FINGERPRINT_BITS: usize = 881;

/// The length of the prefix before the bits, in bytes.
const PREFIX_BYTES: usize = 4;

/// Returns the numbers of the questions that are answered with yes, in ascending order. The text is the Base64 of the
/// number of bits (four bytes, big-endian) and the bits (most significant bit first). Returns `None` if the text has
/// another form.
///
/// Source: PubChem's specification of its substructure fingerprint, version 1.3.
///
/// # Example
/// ```
/// // The text has 881 bits; the first, the ninth and the last are set.
/// let packed = format!("AAADcYCA{}gA==", "A".repeat(144));
/// assert_eq!(lehr_sources::fingerprint_bits(&packed).unwrap(), [0, 8, 880]);
/// assert_eq!(lehr_sources::fingerprint_bits("AAADcQ=="), None);
/// ```
pub fn fingerprint_bits(packed: &str) -> Option<Vec<u16>> {
    let bytes = from_base64(packed)?;
    let (length, bits) = bytes.split_first_chunk::<PREFIX_BYTES>()?;
    let is_whole =
        u32::from_be_bytes(*length) as usize == FINGERPRINT_BITS && bits.len() == FINGERPRINT_BITS.div_ceil(8);
    let is_set = |bit: &u16| bits[usize::from(bit / 8)] >> (7 - bit % 8) & 1 == 1;
    is_whole.then(|| (0..FINGERPRINT_BITS as u16).filter(is_set).collect())
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
    fn base64_is_read_with_its_padding_and_nothing_else() {
        for (text, bytes) in [("", ""), ("bQ==", "m"), ("bG8=", "lo"), ("bG9v", "loo"), ("bG9vbQ==", "loom")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["b", "bG9", "b===", "=bG9", "bG 9", "bQ==bQ==", "bG9\u{e9}"] {
            assert_eq!(from_base64(text), None, "{text}");
        }
    }
}
