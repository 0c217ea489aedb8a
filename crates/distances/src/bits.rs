//! Counts of bits, one row against a block of others: the loops behind fingerprints and aligned sequences.
//!
//! The others lie *across*: word w of all of them, then word w + 1, so that a loop over them handles as many at a time as a register has words, whatever
//! the processor. The bodies are inlined into one copy for each instruction set ([`crate::dispatch`]).

/// How many rows are handled at a time: their counts stay in registers or the first cache.
const BLOCK: usize = 64;

/// `counts[j]` = bits that the row and row j of the others have in common. `others` lie across, `counts.len()` rows of `row.len()` words.
#[inline(always)]
pub(crate) fn common(row: &[u64], others: &[u64], counts: &mut [u64]) {
    let rows = counts.len();
    counts.fill(0);
    for (word, others) in row.iter().zip(others.chunks_exact(rows)) {
        for j in 0..rows {
            counts[j] += u64::from((word & others[j]).count_ones());
        }
    }
}

/// `counts[j]` = places in which the symbols of the row and of row j of the others differ. A symbol is `planes` bits, bit p of all places in plane p; a row
/// is its planes, one after another.
#[inline(always)]
pub(crate) fn differing(row: &[u64], others: &[u64], planes: usize, counts: &mut [u64]) {
    match planes {
        1 => differing_in::<1>(row, others, counts),
        2 => differing_in::<2>(row, others, counts),
        3 => differing_in::<3>(row, others, counts),
        4 => differing_in::<4>(row, others, counts),
        _ => differing_in::<5>(row, others, counts),
    }
}

#[inline(always)]
fn differing_in<const PLANES: usize>(row: &[u64], others: &[u64], counts: &mut [u64]) {
    let rows = counts.len();
    let words = row.len() / PLANES;
    for start in (0..rows).step_by(BLOCK) {
        let counts = &mut counts[start..rows.min(start + BLOCK)];
        counts.fill(0);
        let length = counts.len();
        for word in 0..words {
            let mut mine = [0; PLANES];
            let mut theirs: [&[u64]; PLANES] = [&[]; PLANES];
            for plane in 0..PLANES {
                mine[plane] = row[plane * words + word];
                theirs[plane] = &others[(plane * words + word) * rows + start..][..length];
            }
            for j in 0..length {
                let mut differ = 0;
                for plane in 0..PLANES {
                    differ |= mine[plane] ^ theirs[plane][j];
                }
                counts[j] += u64::from(differ.count_ones());
            }
        }
    }
}

/// Planes of a nucleotide: whether a letter is there at all, whether it is certain, and which of A 0, G 1, C 2, T 3 it is.
pub(crate) const NUCLEOTIDE_PLANES: usize = 4;

/// For each of the others: the places where both have a letter; of these, where both have the same certain nucleotide; where theirs is a transition apart.
#[inline(always)]
pub(crate) fn substitutions(
    row: &[u64],
    others: &[u64],
    compared: &mut [u64],
    equal: &mut [u64],
    transitions: &mut [u64],
) {
    let rows = compared.len();
    let words = row.len() / NUCLEOTIDE_PLANES;
    compared.fill(0);
    equal.fill(0);
    transitions.fill(0);
    let (equal, transitions) = (&mut equal[..rows], &mut transitions[..rows]);
    for word in 0..words {
        let mine = |plane: usize| row[plane * words + word];
        let theirs = |plane: usize| &others[(plane * words + word) * rows..][..rows];
        let (present, certain, low, high) = (mine(0), mine(1), mine(2), mine(3));
        let (presents, certains, lows, highs) = (theirs(0), theirs(1), theirs(2), theirs(3));
        for j in 0..rows {
            let same_kind = certain & certains[j] & !(high ^ highs[j]);
            let differ = low ^ lows[j];
            compared[j] += u64::from((present & presents[j]).count_ones());
            equal[j] += u64::from((same_kind & !differ).count_ones());
            transitions[j] += u64::from((same_kind & differ).count_ones());
        }
    }
}

/// Rows of `width` words laid across: word w of all rows, then word w + 1.
pub(crate) fn across<'a>(rows: impl ExactSizeIterator<Item = &'a [u64]>, width: usize) -> Vec<u64> {
    let count = rows.len();
    let mut words = vec![0; count * width];
    for (j, row) in rows.enumerate() {
        for (w, word) in row.iter().enumerate() {
            words[w * count + j] = *word;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::across;
    use crate::dispatch::{self, InstructionSet, MOST};
    use lehr_numerics::random::Stream;

    fn on_every_set(check: impl Fn()) {
        for most in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::Avx512Count] {
            MOST.set(most);
            check();
        }
    }

    fn words(count: usize, seed: u64) -> Vec<u64> {
        let stream = Stream::new(seed, "words");
        (0..count as u64).map(|at| stream.bits(2 * at) & stream.bits(2 * at + 1)).collect()
    }

    #[test]
    fn counts_are_those_of_a_loop_over_bits_on_every_instruction_set() {
        on_every_set(|| {
            for (width, rows) in [(1, 1), (2, 7), (3, 8), (17, 33), (5, 67), (4, 130)] {
                let (row, all) = (words(width, 1), words(width * rows, 2));
                let others = across(all.chunks_exact(width), width);
                let mut counts = vec![9; rows];
                dispatch::common(&row, &others, &mut counts);
                for j in 0..rows {
                    let bit = |words: &[u64], b: usize| words[b / 64] >> (b % 64) & 1 == 1;
                    let other = &all[j * width..][..width];
                    let expected = (0..64 * width).filter(|b| bit(&row, *b) && bit(other, *b)).count();
                    assert_eq!(counts[j], expected as u64);
                }
            }
        });
    }

    #[test]
    fn symbols_differ_if_any_plane_does() {
        on_every_set(|| {
            for planes in 1..=5 {
                for (places, rows) in [(1, 1), (2, 9), (3, 66)] {
                    let width = planes * places;
                    let (row, all) = (words(width, 3), words(width * rows, 4));
                    let others = across(all.chunks_exact(width), width);
                    let mut counts = vec![9; rows];
                    dispatch::differing(&row, &others, planes, &mut counts);
                    for j in 0..rows {
                        let symbol = |words: &[u64], place: usize| -> Vec<u64> {
                            (0..planes).map(|plane| words[plane * places + place / 64] >> (place % 64) & 1).collect()
                        };
                        let other = &all[j * width..][..width];
                        let expected = (0..64 * places).filter(|place| symbol(&row, *place) != symbol(other, *place));
                        assert_eq!(counts[j], expected.count() as u64);
                    }
                }
            }
        });
    }
}
