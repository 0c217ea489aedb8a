//! Generates aligned sequences of known families by mutation. Unlike a table of real sequences, they can have any
//! number.
//!
//! Families are lineages of one ancestor, like subfamilies of Alu repeats. Each member has its own share of positions
//! at which it differs from the sequence of its lineage. There are only substitutions, so that sequences are aligned
//! and can be compared position by position.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lehr_numerics::random::Stream;
use serde::Deserialize;

/// The parameters of the generated sequences.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Mutations {
    /// The number of letters of a sequence.
    pub places: usize,
    /// The number of lineages.
    pub families: usize,
    /// The share of positions at which a lineage differs from the common ancestor.
    pub apart: f64,
    /// The smallest share of positions at which a member differs from its lineage.
    pub least: f64,
    /// The largest share of positions at which a member differs from its lineage; the share of each member is in
    /// between.
    pub most: f64,
}

/// Files of sequences.
#[derive(Clone, Debug)]
pub struct Items {
    /// The path of the sequences that are compared with each other.
    pub path: PathBuf,
    /// The number of compared sequences.
    pub compared: usize,
    /// The family of each compared sequence, if it is known.
    pub families: Option<Vec<u32>>,
    /// The path of all sequences, of which the compared ones are the first.
    pub all: PathBuf,
    /// The number of all sequences.
    pub every: usize,
}

impl Mutations {
    /// Writes `items.fasta` with this many sequences, in turns by family, to a folder; if `every` is larger, also
    /// `all.fasta` with `every` sequences. Equal arguments give equal files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write(&self, items: usize, every: usize, folder: &Path) -> Result<Items> {
        let path = folder.join("items.fasta");
        self.write_file(items, &path)?;
        let all = if every > items { folder.join("all.fasta") } else { path.clone() };
        if every > items {
            self.write_file(every, &all)?;
        }
        let families = (0..items).map(|item| (item % self.families) as u32).collect();
        Ok(Items { path, compared: items, families: Some(families), all, every: every.max(items) })
    }

    fn write_file(&self, items: usize, path: &Path) -> Result<()> {
        let lineages = self.lineages();
        let write = || -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(path)?);
            for item in 0..items {
                writeln!(file, ">sequence_{item}")?;
                file.write_all(&self.member(item, &lineages[item % self.families]))?;
                file.write_all(b"\n")?;
            }
            file.flush()
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    fn lineages(&self) -> Vec<Vec<u8>> {
        let letters = Stream::new(0, "common ancestor");
        let ancestor: Vec<u8> =
            (0..self.places as u64).map(|place| LETTERS[(letters.bits(place) % 4) as usize]).collect();
        let changes = Stream::new(0, "lineages");
        (0..self.families).map(|family| mutated(&ancestor, self.apart, &changes, family as u64)).collect()
    }

    fn member(&self, item: usize, lineage: &[u8]) -> Vec<u8> {
        let share = self.least + (self.most - self.least) * Stream::new(0, "shares").uniform(item as u64);
        mutated(lineage, share, &Stream::new(0, "members"), item as u64)
    }
}

const LETTERS: [u8; 4] = *b"ACGT";

/// Returns a copy in which about `share` of the letters are replaced.
fn mutated(text: &[u8], share: f64, changes: &Stream, copy: u64) -> Vec<u8> {
    let one = |place: usize, letter: u8| {
        let index = copy * text.len() as u64 + place as u64;
        // One draw decides whether the letter is replaced, and the rest of the draw decides by which of the three
        // others.
        let drawn = changes.uniform(index);
        if drawn >= share {
            return letter;
        }
        let own = LETTERS.iter().position(|own| *own == letter).expect("a letter of these four");
        LETTERS[(own + 1 + (3.0 * drawn / share) as usize) % 4]
    };
    text.iter().enumerate().map(|(place, letter)| one(place, *letter)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUTATIONS: Mutations = Mutations { places: 500, families: 3, apart: 0.2, least: 0.05, most: 0.1 };

    fn share_of_others(one: &[u8], other: &[u8]) -> f64 {
        one.iter().zip(other).filter(|(a, b)| a != b).count() as f64 / one.len() as f64
    }

    #[test]
    fn members_are_nearer_to_their_lineage_than_lineages_to_each_other() {
        let lineages = MUTATIONS.lineages();
        assert!(share_of_others(&lineages[0], &lineages[1]) > 0.25);
        for item in 0..30 {
            let lineage = &lineages[item % 3];
            let member = MUTATIONS.member(item, lineage);
            let share = share_of_others(&member, lineage);
            assert!((0.02..0.14).contains(&share), "{item}: {share}");
            assert!(member.iter().all(|letter| LETTERS.contains(letter)));
        }
        // Each of the three other letters is equally probable.
        let all: Vec<u8> = mutated(&[b'A'; 30_000], 0.3, &Stream::new(1, "one"), 0);
        for letter in b"CGT" {
            let share = all.iter().filter(|found| *found == letter).count() as f64 / 30_000.0;
            assert!((share - 0.1).abs() < 0.01, "{share}");
        }
    }

    #[test]
    fn the_file_has_the_sequences_in_turn_and_is_the_same_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            MUTATIONS.write(7, 9, &path).unwrap()
        });
        assert_eq!(one.families.unwrap(), [0, 1, 2, 0, 1, 2, 0]);
        let text = std::fs::read_to_string(&one.path).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with(">sequence_")).count(), 7);
        assert_eq!(text, std::fs::read_to_string(&other.path).unwrap());
        let all = std::fs::read_to_string(&one.all).unwrap();
        assert!(one.every == 9 && all.starts_with(&text) && all.len() > text.len());
        assert_eq!(MUTATIONS.write(7, 0, folder.path()).unwrap().all, folder.path().join("items.fasta"));
    }
}
