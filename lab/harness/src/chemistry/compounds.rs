//! The compounds that are clustered: the built-in ones or compounds from files, as packed bits and as numbers; and any
//! number of synthetic ones.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lehr_data::read::{classes, fps};
use lehr_data::write::{AtomicFile, npy, packed};
use lehr_data::{Fingerprints, Points, datasets};
use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::elementary::ln;
use lehr_numerics::random::Stream;
use serde::Deserialize;

/// Files with the user's compounds, in the format of `lehr demo chemistry`.
#[derive(Clone, Debug)]
pub struct Files {
    /// The file of fingerprints, in FPS.
    pub fingerprints: PathBuf,
    /// The path of a table with the columns `id` and `active` (1 or 0).
    pub activities: PathBuf,
}

/// Fingerprints, and which compounds are active.
pub struct Compounds {
    /// The fingerprint of each compound.
    pub rows: Fingerprints,
    /// Whether each compound is active.
    pub are_active: Vec<bool>,
}

impl Compounds {
    /// Reads the compounds of the files, or the built-in ones; at most `most` of them, evenly chosen.
    ///
    /// # Errors
    /// Returns an error if a file is invalid, or if the files do not say whether a compound is active.
    pub fn read(files: Option<&Files>, most: Option<usize>) -> Result<Self> {
        let all = match files {
            Some(files) => Self::of_files(files)?,
            None => {
                let (rows, compounds) = datasets::compounds();
                let are_active = compounds.iter().map(|compound| compound.activity != "CI").collect();
                Self { rows, are_active }
            }
        };
        let from = all.rows.len();
        let items = most.map_or(from, |most| most.min(from));
        let chosen: Vec<usize> = (0..items).map(|item| item * from / items).collect();
        let words = chosen.iter().flat_map(|&row| all.rows.row(row)).copied().collect();
        let rows = Fingerprints::new(words, all.rows.bits())?;
        Ok(Self { rows, are_active: chosen.iter().map(|&row| all.are_active[row]).collect() })
    }

    fn of_files(files: &Files) -> Result<Self> {
        let rows = fps::fingerprints(&files.fingerprints)?;
        let are_active = classes::flags(&files.activities, "id", "active", rows.ids())?;
        Ok(Self { rows, are_active })
    }

    /// Writes the compounds to a folder: `bits.npy` with packed bits, and `numbers.npy` with numbers of 64 bits.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Inputs> {
        let inputs = Inputs { bits: folder.join("bits.npy"), numbers: folder.join("numbers.npy") };
        packed::fingerprints(&inputs.bits, &self.rows)?;
        let columns = self.rows.bits();
        let mut values = vec![0.0; self.rows.len() * columns];
        for (row, values) in values.chunks_exact_mut(columns).enumerate() {
            for_each_set_bit(self.rows.row(row), |j| values[j] = 1.0);
        }
        npy::points(&inputs.numbers, &Points::new(values, columns)?)?;
        Ok(inputs)
    }

    /// Computes the sum of squared distances of all rows from the means of their clusters, counted bit by bit. A bit
    /// that `c` of `n` rows have contributes `c (n - c) / n`.
    ///
    /// # Panics
    /// Panics if there is not one label for each row.
    pub fn sum_of_squares(&self, labels: &[u32]) -> f64 {
        assert_eq!(labels.len(), self.rows.len(), "a label a row");
        let clusters = labels.iter().max().map_or(0, |most| *most as usize + 1);
        let columns = self.rows.bits();
        let (mut counts, mut members) = (vec![0u64; clusters * columns], vec![0u64; clusters]);
        for (row, &label) in labels.iter().enumerate() {
            members[label as usize] += 1;
            let counts = &mut counts[label as usize * columns..][..columns];
            for_each_set_bit(self.rows.row(row), |j| counts[j] += 1);
        }
        let of_cluster = |(counts, &rows): (&[u64], &u64)| {
            let squares = counts.iter().map(|&set| (set * (rows - set)) as f64);
            if rows > 0 { squares.sum::<f64>() / rows as f64 } else { 0.0 }
        };
        counts.chunks_exact(columns).zip(&members).map(of_cluster).sum()
    }
}

/// Two files with the same compounds.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The packed array, with eight columns in a byte.
    pub bits: PathBuf,
    /// The array with a number for each column.
    pub numbers: PathBuf,
}

/// The parameters of synthetic compounds: each is a template with some flipped bits.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Templates {
    /// The number of templates.
    pub templates: usize,
    /// The number of columns.
    pub bits: usize,
    /// The share of a compound's bits that are set.
    pub density: f64,
    /// The share of bits in which a compound differs from its template.
    pub flip: f64,
}

impl Templates {
    /// Writes this many compounds to a packed file, in turns by template. It makes them one by one, so their number
    /// does not affect its memory. A larger set begins with the smaller one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, items: usize, path: &Path) -> Result<()> {
        let templates = self.templates();
        let mut file = AtomicFile::create(path)?;
        packed::array(&mut file, items, self.bits, |item, words| self.fill(&templates, item, words))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(file.commit()?)
    }

    /// Returns the template of each compound.
    pub fn labels(&self, items: usize) -> Vec<u32> {
        (0..items).map(|item| (item % self.templates) as u32).collect()
    }

    fn templates(&self) -> Vec<Vec<u64>> {
        // With this share, compounds have the requested density after bits are flipped.
        let share = (self.density - self.flip) / (1.0 - 2.0 * self.flip);
        let draws = Stream::new(0, "synthetic templates");
        let template = |template: usize| {
            let mut words = vec![0u64; self.bits.div_ceil(64)];
            let set = (0..self.bits).filter(|j| draws.uniform((template * self.bits + j) as u64) < share);
            set.for_each(|j| words[j / 64] |= 1 << (j % 64));
            words
        };
        (0..self.templates).map(template).collect()
    }

    fn fill(&self, templates: &[Vec<u64>], item: usize, words: &mut [u64]) {
        words.copy_from_slice(&templates[item % templates.len()]);
        let draws = Stream::new(0, "synthetic compounds");
        // The distance from one flipped bit to the next has a geometric distribution, so fifty draws replace a
        // thousand.
        let stay = ln(1.0 - self.flip);
        let gap = |draw: usize| {
            // The draw is from 0 to below 1, so 1 minus the draw is never 0.
            let uniform = 1.0 - draws.uniform((item * (self.bits + 1) + draw) as u64);
            (ln(uniform) / stay) as usize
        };
        let (mut draw, mut place) = (0, gap(0));
        while place < self.bits {
            words[place / 64] ^= 1 << (place % 64);
            draw += 1;
            place = place.saturating_add(1).saturating_add(gap(draw));
        }
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::read;

    use super::*;

    const TEMPLATES: Templates = Templates { templates: 4, bits: 1047, density: 0.167, flip: 0.05 };

    #[test]
    fn synthetic_compounds_are_as_dense_and_as_far_from_their_templates_as_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.npy");
        TEMPLATES.write(400, &path).unwrap();
        let rows = read::packed::fingerprints(&path, Some(1047)).unwrap();
        let set: u32 = (0..400).map(|row| rows.count(row)).sum();
        // The tolerance exceeds 0.02, which is four standard deviations of the templates' share.
        assert!((f64::from(set) / (400.0 * 1047.0) - 0.167).abs() < 0.025, "{set}");
        let templates = TEMPLATES.templates();
        let flipped = |row: usize| -> u32 {
            rows.row(row).iter().zip(&templates[row % 4]).map(|(one, other)| (one ^ other).count_ones()).sum()
        };
        let mean = (0..400).map(|row| f64::from(flipped(row))).sum::<f64>() / 400.0;
        // The count of a compound has a standard deviation of 7, the mean of 400 counts one of 0.35.
        assert!((mean - 0.05 * 1047.0).abs() < 1.5, "{mean}");
        let flips: Vec<u32> = (0..400).map(flipped).collect();
        assert!(flips.iter().min() < flips.iter().max());
        let fewer = folder.path().join("fewer.npy");
        TEMPLATES.write(30, &fewer).unwrap();
        assert_eq!(read::packed::fingerprints(&fewer, Some(1047)).unwrap().row(29), rows.row(29));
        assert_eq!(TEMPLATES.labels(6), [0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn both_files_have_the_same_compounds_and_squares_are_counted() {
        let rows = Fingerprints::new(vec![0b011, 0b001, 0b111, 0b100], 3).unwrap();
        let compounds = Compounds { rows, are_active: vec![false; 4] };
        let folder = tempfile::tempdir().unwrap();
        let inputs = compounds.write(folder.path()).unwrap();
        let numbers = read::points(&inputs.numbers, &read::Selection::default()).unwrap();
        assert_eq!(numbers.row(0), [1.0, 1.0, 0.0]);
        assert_eq!(read::packed::fingerprints(&inputs.bits, Some(3)).unwrap().row(2), [0b111]);
        // The means are (1, 1/2, 0) and (1/2, 1/2, 1), so the sums are a half and twice a half.
        assert!((compounds.sum_of_squares(&[0, 0, 1, 1]) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn compounds_of_files_are_known_to_be_active_or_the_fault_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let fingerprints = write("keys.fps", "#FPS1\n07\ta\n01\tb\n03\tc\n");
        let read = |table: &str, most| {
            let activities = write("screen.csv", table);
            Compounds::read(Some(&Files { fingerprints: fingerprints.clone(), activities }), most)
        };
        let all = read("id,active\nc,1\nb,0\na,0\n", None).unwrap();
        assert_eq!((all.rows.len(), &all.are_active[..]), (3, &[false, false, true][..]));
        let two = read("id,active\nc,1\nb,0\na,0\n", Some(2)).unwrap();
        assert_eq!((two.rows.row(1), &two.are_active[..]), (&[1][..], &[false, false][..]));
        assert_eq!(read("id,active\nc,1\nb,0\na,0\n", Some(9)).unwrap().rows.len(), 3);
        let fault = |table: &str| read(table, None).err().unwrap().to_string();
        assert!(fault("id,active\nc,1\nb,0\n").contains("found none for a"));
        assert!(fault("id,active\nc,yes\nb,0\na,0\n").contains("for c, found \"yes\""));
    }
}
