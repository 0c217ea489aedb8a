//! Reads files of data and models from unchecked bytes: each is read, or refused with a message. The checks confirm
//! that the results keep the promises of their types.

use std::fmt::Display;

use lehr_data::read::fasta::{self, Expected};
use lehr_data::read::molecules::{Compounds, Notation, compounds_from, of_structures};
use lehr_data::read::{self, Batches, Selection, TableForm};
use lehr_data::{FingerprintKind, Incomplete, Points};
use lehr_methods::ModelFile;
use lehr_methods::predict::Predicted;

/// The name of the input in messages.
const NAME: &str = "fuzz";

/// Returns the value that was read, or `None` if the input was refused with a message.
fn read_or_refused<T, E: Display>(read: Result<T, E>) -> Option<T> {
    match read {
        Ok(read) => Some(read),
        Err(refusal) => {
            let words = refusal.to_string();
            assert!(!words.is_empty());
            None
        }
    }
}

/// Reads a table of any format, by each way to read tables.
pub fn table(bytes: &[u8]) {
    let selection = Selection::default();
    let points = read_or_refused(read::points_from(bytes, NAME, &selection));
    if let Some(points) = &points {
        check_points(points);
    }
    if let Some(rows) = read_or_refused(read::incomplete_from(bytes, NAME, &selection)) {
        check_incomplete(&rows, points.as_ref());
    }
    if let Some(batches) = read_or_refused(Batches::new(bytes, NAME, &selection)) {
        check_batches(batches, points.as_ref());
    }
    if let Some(frame) = read_or_refused(read::data_frame_from(bytes, NAME, &TableForm::default())) {
        for column in frame.columns() {
            let texts = read_or_refused(frame.texts(&column.name));
            assert!(texts.is_none_or(|texts| texts.len() == frame.rows()), "{}", column.name);
            assert!(column.missing() <= frame.rows());
        }
    }
}

fn check_points(points: &Points) {
    assert_eq!(points.values().len(), points.len() * points.dimension());
    assert_eq!(points.columns().len(), points.dimension());
    assert!(points.len() > 0 && points.values().iter().all(|value| value.is_finite()));
}

/// Checks rows that may have missing values. If no value is missing, they must equal the rows of the other reader.
fn check_incomplete(rows: &Incomplete, points: Option<&Points>) {
    assert_eq!(rows.values().len(), rows.len() * rows.dimension());
    assert!(rows.values().iter().all(|value| !value.is_infinite()));
    if let Some(points) = points.filter(|points| points.columns() == rows.columns()) {
        assert_eq!(points.values(), rows.values(), "a table without gaps");
    }
}

/// Checks batches of a table: together, they must have its rows.
fn check_batches(mut batches: Batches<'_>, points: Option<&Points>) {
    let (mut values, mut is_whole) = (Vec::new(), true);
    loop {
        match batches.next(2) {
            Ok(Some(batch)) => values.extend_from_slice(batch.values()),
            Ok(None) => break,
            Err(refusal) => {
                assert!(!refusal.to_string().is_empty());
                is_whole = false;
                break;
            }
        }
    }
    if let Some(points) = points.filter(|points| is_whole && points.values().len() == values.len()) {
        assert_eq!(points.values(), values, "batches are the rows of the table");
    }
}

/// Reads an array of numbers, or of packed bits.
pub fn array(bytes: &[u8]) {
    table(bytes);
    for bits in [None, Some(11)] {
        if let Some(rows) = read_or_refused(read::packed::fingerprints_from(bytes, NAME, bits)) {
            assert!(rows.bits() > 0 && rows.len() > 0);
        }
    }
}

/// Reads sequences, aligned and not, and fingerprints.
pub fn sequences(bytes: &[u8]) {
    for is_aligned in [false, true] {
        let expected = Expected { is_aligned, ..Expected::default() };
        if let Some(found) = read_or_refused(fasta::sequences_from(bytes, NAME, expected)) {
            assert!(found.len() > 0 && found.len() == found.ids().len());
        }
    }
    if let Some(found) = read_or_refused(read::fps::fingerprints_from(bytes, NAME)) {
        assert!(found.len() > 0 && found.bits() > 0);
    }
}

/// Reads molecules in SMILES and in SD files. The SMILES of a molecule has the same fingerprints as the file.
pub fn molecules(bytes: &[u8]) {
    for notation in [Notation::Smiles, Notation::Sd] {
        for kind in FingerprintKind::ALL {
            let read = compounds_from(bytes, NAME, notation, kind, u64::MAX);
            let Some(Compounds { fingerprints, fields }) = read_or_refused(read) else { continue };
            assert!(fields.iter().all(|(_, values)| values.len() == fingerprints.len()));
            let structures = fingerprints.smiles().unwrap();
            let again = of_structures(structures, NAME, kind).unwrap();
            assert!((0..again.len()).all(|row| again.row(row) == fingerprints.row(row)), "{structures:?}");
        }
    }
}

/// Reads sparse rows in both formats.
pub fn sparse(bytes: &[u8]) {
    let read = [read::matrix_market::rows_from(bytes, NAME), read::svmlight::rows_from(bytes, NAME, None)];
    for rows in read.into_iter().filter_map(read_or_refused) {
        let columns = rows.dimension();
        for row in 0..rows.len() {
            let (places, values) = rows.row(row);
            assert!(places.is_sorted() && places.iter().all(|column| (*column as usize) < columns));
            assert!(values.iter().all(|value| value.is_finite()));
        }
    }
}

/// Reads dissimilarities: a header, and an array after it.
pub fn matrix(bytes: &[u8]) {
    if let Some(matrix) = read_or_refused(read::dissimilarities::matrix_from(bytes, NAME)) {
        for (i, j) in (0..matrix.items()).flat_map(|i| [(i, 0), (0, i)]) {
            assert!(matrix.get(i, j).is_none_or(|value| value.is_finite() && value >= 0.0));
        }
    }
}

/// Reads a model, which then labels two rows: as numbers, and as the table that its preparation takes.
pub fn model(bytes: &[u8]) {
    let Ok(mut value) = serde_json::from_slice::<serde_json::Value>(bytes) else { return };
    // With a checksum, hardly any mutated model would be read.
    if let Some(fields) = value.as_object_mut() {
        fields.remove("checksum");
    }
    let Some(model) = read_or_refused(ModelFile::of_json(value, NAME)) else { return };
    let text = model.text().expect("a model that was read is written");
    let again = serde_json::from_str(&text).expect("what is written is JSON");
    assert!(ModelFile::of_json(again, NAME).is_ok_and(|again| again == model), "what is written is read as it was");
    let rows = |values: [f64; 2]| -> Vec<f64> { values.iter().flat_map(|v| vec![*v; model.columns.len()]).collect() };
    if let Ok(points) = Points::new(rows([0.25, -1e300]), model.columns.len()) {
        read_or_refused(Predicted::of_points(&model, &points, true));
    }
    if let Ok(incomplete) = Incomplete::new(rows([0.25, f64::NAN]), model.columns.len()) {
        read_or_refused(Predicted::of_records(&model, &incomplete, false));
    }
    if model.preparation.is_some() {
        let table = format!("{}\n{}\n", model.columns.join(","), vec!["1.5"; model.columns.len()].join(","));
        let form = model.form_with(None, Some(','), Some(true));
        if let Some(frame) = read_or_refused(read::data_frame_from(table.as_bytes(), NAME, &form)) {
            read_or_refused(Predicted::of_table(&model, &frame, None, true));
        }
    }
}
