//! Data that several tests share.

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_data::{Fingerprints, Incomplete};
use lehr_numerics::random::Stream;

/// Returns relatives of a few ancestors, with letters changed, removed and inserted.
pub fn genes(count: usize, length: usize, alphabet: Alphabet, seed: u64) -> Sequences {
    let stream = Stream::new(seed, "genes");
    let mut drawn = 0;
    let mut draw = |below: usize| {
        drawn += 1;
        (stream.bits(drawn) % below as u64) as usize
    };
    let letters = &alphabet.letters()[..if alphabet == Alphabet::Dna { 4 } else { 20 }];
    let ancestors: Vec<Vec<u8>> = (0..3).map(|_| (0..length).map(|_| letters[draw(letters.len())]).collect()).collect();
    let texts: Vec<Vec<u8>> = (0..count)
        .map(|row| {
            let mut text = Vec::new();
            for letter in &ancestors[row % ancestors.len()] {
                match draw(20) {
                    0 => text.push(letters[draw(letters.len())]),
                    1 => {}
                    2 => text.extend([*letter, letters[draw(letters.len())]]),
                    _ => text.push(*letter),
                }
            }
            if text.is_empty() { vec![letters[0]] } else { text }
        })
        .collect();
    Sequences::new(&texts, alphabet).unwrap()
}

/// Returns aligned sequences with gaps and a few ambiguous letters.
pub fn aligned(count: usize, places: usize, seed: u64) -> Sequences {
    let stream = Stream::new(seed, "aligned");
    let symbols = b"ACGTACGTACGTACGTN-R-";
    let letter = |at: u64| symbols[stream.bits(at) as usize % symbols.len()];
    let text = |row: usize| -> Vec<u8> {
        (0..places as u64)
            .map(|place| {
                if !stream.bits(1 << 32 | (row as u64 * places as u64 + place)).is_multiple_of(3) {
                    letter(place)
                } else {
                    letter((row as u64 + 1) * 100_000 + place)
                }
            })
            .collect()
    };
    let texts: Vec<Vec<u8>> = (0..count).map(text).collect();
    Sequences::new(&texts, Alphabet::Dna).unwrap()
}

pub fn fingerprints(count: usize, bits: usize, seed: u64) -> Fingerprints {
    let stream = Stream::new(seed, "fingerprints");
    let width = bits.div_ceil(64);
    let last = if bits.is_multiple_of(64) { !0 } else { (1 << (bits % 64)) - 1 };
    let word = |at: usize| {
        let word = stream.bits(2 * at as u64) & stream.bits(2 * at as u64 + 1);
        if at % width == width - 1 { word & last } else { word }
    };
    Fingerprints::new((0..count * width).map(word).collect(), bits).unwrap()
}

/// Returns rows of numbers; about one value in `gap_in` is missing, and none if it is 0.
pub fn records(count: usize, dimension: usize, gap_in: u64, seed: u64) -> Incomplete {
    let stream = Stream::new(seed, "records");
    let value = |at: usize| {
        if gap_in > 0 && stream.bits(1 << 40 | at as u64).is_multiple_of(gap_in) {
            f64::NAN
        } else {
            stream.normal(at as u64)
        }
    };
    Incomplete::new((0..count * dimension).map(value).collect(), dimension).unwrap()
}
