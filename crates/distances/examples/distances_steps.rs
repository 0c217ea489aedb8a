//! Compares 512 synthetic items with each other a given number of times, so that `tools/instructions.py` can count the
//! instructions.
//!
//! `distances_steps bits|alignments STEPS`: fingerprints of 1,047 bits, or sequences of 300 nucleotides aligned
//! locally.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use lehr_data::Fingerprints;
use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::Metric;
use lehr_distances::alignment::{Aligner, Counted, Mode};
use lehr_distances::scoring::Scoring;
use lehr_distances::tanimoto::Tanimoto;
use lehr_numerics::random::Stream;

const ITEMS: usize = 512;
const BITS: usize = 1047;
const LETTERS: usize = 300;
/// The number of sequences: a pair of them takes as long as thousands of pairs of fingerprints.
const SEQUENCES: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, kernel, steps] = words.as_slice() else {
        return Err("usage: distances_steps bits|alignments STEPS".into());
    };
    let stream = Stream::new(1, "items");
    let steps: usize = steps.parse()?;
    if kernel == "bits" {
        let width = BITS.div_ceil(64);
        let last = !0 >> (64 * width - BITS);
        let word = |at: usize| stream.bits(at as u64) & if at % width == width - 1 { last } else { !0 };
        let items = Fingerprints::new((0..ITEMS * width).map(word).collect(), BITS)?;
        let compared = Tanimoto::new(&items);
        let mut values = vec![0.0; ITEMS * ITEMS];
        (0..steps).for_each(|_| compared.tile(0..ITEMS, 0..ITEMS, &mut values));
        println!("{}", values.iter().sum::<f64>());
    } else {
        let letter = |at: usize| b"ACGT"[(stream.bits(at as u64) % 4) as usize];
        let texts: Vec<Vec<u8>> =
            (0..SEQUENCES).map(|i| (0..LETTERS).map(|j| letter(i * LETTERS + j)).collect()).collect();
        let items = Sequences::new(&texts, Alphabet::Dna)?;
        let aligner = Aligner::new(&items, &Scoring::usual(Alphabet::Dna), Mode::Local, Counted::Score)?;
        println!("{} bits a lane", aligner.lane_bits());
        let mut sum = 0;
        let half = SEQUENCES / 2;
        (0..steps).for_each(|_| aligner.tile(0..half, half..SEQUENCES, |_, _, found| sum += found.score));
        println!("{sum}");
    }
    Ok(())
}
