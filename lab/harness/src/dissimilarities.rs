//! The dissimilarities of measurements: items of the project or of the data folder, compared as `lehr demo genes` and
//! `lehr demo patients` compare them.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::read::{self, Selection, fasta};
use lehr_data::sequences::Alphabet;
use lehr_data::{Incomplete, Sequences, datasets};
use lehr_distances::columns;
use lehr_distances::sequence::{Aligned, Parameters};
use lehr_distances::{Half, Metric, Silent, all_pairs, rows};
use lehr_ranks::Execution;

use crate::definition::MapSet;
use crate::output;

/// Returns the dissimilarities of a set; nothing if its table is not below the data folder.
///
/// # Errors
/// Returns an error if the set names no items, and the errors of [`alu_repeats`] and [`patients`].
pub fn of_set(set: &MapSet, data: Option<&Path>) -> Result<Option<Dissimilarities>> {
    match (set.alu, set.patients, &set.table) {
        (Some(items), None, None) => Ok(Some(alu_repeats(items)?.0)),
        (None, Some(items), None) => patients(items, None).map(Some),
        (None, Some(items), Some(table)) => {
            let table = data.map(|data| data.join(table)).filter(|path| path.is_file());
            table.map(|path| patients(items, Some(&path))).transpose()
        }
        _ => bail!("{}: expected alu or patients", set.name),
    }
}

/// Compares this many Alu repeats by local alignments and identity; also returns the family of each.
///
/// # Errors
/// Returns an error if `items` is below two or above the number of repeats.
pub fn alu_repeats(items: usize) -> Result<(Dissimilarities, Vec<String>)> {
    let (all, subfamilies) = datasets::alu_repeats();
    let rows = chosen(items, all.len())?;
    let texts: Vec<&[u8]> = rows.iter().map(|row| all.sequence(*row)).collect();
    let genes = Sequences::new(&texts, Alphabet::Dna)?;
    let aligned = Aligned::new(&genes, &Parameters::default())?;
    // The family is `Alu` and the letter after it.
    let families = rows.iter().map(|row| subfamilies[*row][..4].to_owned()).collect();
    Ok((compared(&aligned)?, families))
}

/// Compares this many adults of a health survey by the Euclidean distances of standardised features that both have. The
/// adults are those of the project, or those of a table with the ids in `row`.
///
/// # Errors
/// Returns an error if `items` is below two or above the number of patients, or if the table cannot be read.
pub fn patients(items: usize, table: Option<&Path>) -> Result<Dissimilarities> {
    let of_rows = || Selection { id: Some("row".into()), header: Some(true), ..Selection::default() };
    let all = table.map_or_else(|| Ok(datasets::patients()), |path| read::incomplete(path, &of_rows()))?;
    let rows = chosen(items, all.len())?;
    let values = rows.iter().flat_map(|row| all.row(*row)).copied().collect();
    let records = Incomplete::new(values, all.dimension())?.standardised();
    compared(&rows::Compared::new(&records, rows::Measure::Euclidean)?)
}

/// Compares the first sequences of a file of aligned ones by the share of positions where they differ; also returns
/// their ids. A gap counts as a letter.
///
/// # Errors
/// Returns an error if the file cannot be read, its sequences are not aligned, or there are fewer than `first` or than
/// two.
pub fn aligned(path: &Path, first: usize) -> Result<(Dissimilarities, Vec<String>)> {
    let all = fasta::sequences(path, fasta::Expected { alphabet: None, is_aligned: true })?;
    ensure!((2..=all.len()).contains(&first), "the first {first} sequences of {}", all.len());
    let texts: Vec<&[u8]> = (0..first).map(|row| all.sequence(row)).collect();
    let genes = Sequences::new(&texts, all.alphabet())?;
    let matrix = compared(&columns::Compared::new(&genes, columns::Measure::Hamming)?)?;
    Ok((matrix, all.ids()[..first].to_vec()))
}

fn chosen(items: usize, from: usize) -> Result<Vec<usize>> {
    ensure!((2..=from).contains(&items), "{items} items, where there are 2 to {from}");
    Ok((0..items).map(|item| item * from / items).collect())
}

fn compared(metric: &dyn Metric) -> Result<Dissimilarities> {
    let items = metric.items();
    let half: Half<f32> = all_pairs(metric, &Execution::default(), None, &mut Silent)?;
    let mut row = vec![0.0; items];
    let mut values = Vec::with_capacity(items * (items - 1) / 2);
    for item in 0..items {
        half.row(item, &mut row);
        values.extend(row[item + 1..].iter().map(|value| *value as f32));
    }
    Ok(Dissimilarities::new(items, Form::Condensed, Values::F32(values), 1.0)?)
}

/// Returns the pairs (0,1), (0,2), …, (1,2), … in the form that runners read; NaN if a pair has no value.
pub fn condensed(matrix: &Dissimilarities) -> Vec<f64> {
    let items = matrix.items();
    let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j)));
    pairs.map(|(i, j)| matrix.get(i, j).unwrap_or(f64::NAN)).collect()
}

/// Fills missing values for sides that accept none: a pair without a value gets the largest value of the matrix. It
/// reports the number of filled pairs.
///
/// # Errors
/// Returns an error if the matrix has no value.
pub fn complete(name: &str, matrix: Dissimilarities) -> Result<Dissimilarities> {
    let mut pairs = condensed(&matrix);
    let missing = pairs.iter().filter(|value| value.is_nan()).count();
    if missing == 0 {
        return Ok(matrix);
    }
    let largest = pairs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    ensure!(largest.is_finite(), "{name}: no pair has a value");
    output::note(&format!("{name}: {missing} of {} pairs have no value, and are given the largest", pairs.len()));
    pairs.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = largest);
    let values = Values::F32(pairs.into_iter().map(|value| value as f32).collect());
    Ok(Dissimilarities::new(matrix.items(), Form::Condensed, values, 1.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_chosen_evenly_and_compared_once() {
        let (genes, families) = alu_repeats(40).unwrap();
        assert_eq!((genes.items(), condensed(&genes).len()), (40, 780));
        assert!(["AluJ", "AluS", "AluY"].iter().all(|family| families.iter().any(|found| found == family)));
        let pairs = condensed(&patients(30, None).unwrap());
        assert_eq!(pairs.len(), 435);
        assert!(pairs.iter().all(|value| *value > 0.0));
        assert!(patients(1, None).is_err() && alu_repeats(1 << 20).is_err());
    }

    #[test]
    fn gaps_are_filled_with_the_largest_value() {
        let of = |values: Vec<f32>| Dissimilarities::new(3, Form::Condensed, Values::F32(values), 1.0).unwrap();
        let filled = complete("x", of(vec![1.0, f32::NAN, 2.0])).unwrap();
        assert_eq!(condensed(&filled), [1.0, 2.0, 2.0]);
        assert_eq!(condensed(&complete("x", of(vec![1.0, 3.0, 2.0])).unwrap()), [1.0, 3.0, 2.0]);
        assert!(complete("x", of(vec![f32::NAN; 3])).is_err());
    }

    #[test]
    fn a_set_names_its_items_and_where_they_are() {
        let few = MapSet { patients: Some(20), ..MapSet::default() };
        assert_eq!(of_set(&few, None).unwrap().unwrap().items(), 20);
        let elsewhere = MapSet { table: Some("patients/none.csv.gz".into()), ..few.clone() };
        assert!(
            of_set(&elsewhere, None).unwrap().is_none() && of_set(&elsewhere, Some(Path::new("."))).unwrap().is_none()
        );
        assert!(of_set(&MapSet { patients: None, ..few }, None).is_err());
    }
}
