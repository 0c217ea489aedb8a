//! Tests that files appear whole or not at all, and that the same data give the same bytes.

use std::io::Write;

use lehr_data::read::{self, Selection};
use lehr_data::write::{self, AtomicFile};
use lehr_data::{Error, Points};
use proptest::prelude::*;

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_that_is_not_committed_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(&[b'x'; 100_000]).unwrap();
    assert!(!path.exists());
    assert_eq!(names(&folder).len(), 1);
    drop(file);
    assert!(names(&folder).is_empty());
}

#[test]
fn a_panic_while_writing_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "old").unwrap();
    let result = std::panic::catch_unwind(|| {
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        panic!("while writing");
    });
    assert!(result.is_err());
    assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names(&folder)), ("old", vec!["a.csv".to_string()]));
}

#[test]
fn two_writers_of_one_file_do_not_meet() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let (mut first, mut second) = (AtomicFile::create(&path).unwrap(), AtomicFile::create(&path).unwrap());
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    second.commit().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
    first.commit().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
    assert_eq!(names(&folder), ["a.csv"]);
}

#[test]
fn places_that_cannot_be_written_to_are_the_environments_fault() {
    let folder = tempfile::tempdir().unwrap();
    let error = AtomicFile::create(&folder.path().join("no/such/a.csv")).unwrap_err();
    assert!(error.to_string().ends_with("a.csv: cannot be written: no such directory"), "{error}");
    assert!(error.is_environment());
    let error = AtomicFile::create(folder.path()).unwrap_err();
    assert!(matches!(error, Error::Directory { .. }) && error.is_environment());
    // A directory takes the name between opening and committing, so the old state stays.
    let path = folder.path().join("late");
    let file = AtomicFile::create(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("inside"), "").unwrap();
    assert!(file.commit().unwrap_err().is_environment());
    assert_eq!(names(&folder), ["late"]);
}

#[test]
fn a_full_disk_is_reported_with_its_name() {
    // A device that refuses every byte acts as a full disk. Not every system has this device.
    let Ok(mut full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let cause = full.write_all(b"x").unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    let file = AtomicFile::create(&folder.path().join("a.csv")).unwrap();
    let error = file.failed(cause);
    assert!(error.to_string().ends_with("a.csv: cannot be written: no space left on the disk"), "{error}");
    assert!(error.is_environment());
}

#[test]
fn numbers_are_written_in_their_shortest_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let values = vec![0.1, -7.0, 1e300, 1e16, 123456789012345.0, 1.0 / 3.0, 5e-324, 1e-7];
    write::csv::points(&path, &Points::new(values, 1).unwrap()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "x0\n0.1\n-7\n1e300\n1e16\n123456789012345\n0.3333333333333333\n5e-324\n1e-7\n");
}

#[test]
#[should_panic(expected = "fields in a row of a table")]
fn a_row_of_the_wrong_length_is_our_bug() {
    let mut table = write::csv::Table::new(Vec::new(), &["a", "b"]).unwrap();
    table.count(1).unwrap();
    table.end_row().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Checks that points survive writing and reading: CSV keeps all bits, weights, ids and names, and NPY keeps all
    /// bits.
    #[test]
    fn points_survive_a_file(
        rows in prop::collection::vec(
            (prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO, -1e9..1e9, 0.0..1e3, "[^\0]{0,8}"),
            1..40,
        ),
        (has_weights, has_ids) in any::<(bool, bool)>(),
    ) {
        let mut points = Points::new(rows.iter().flat_map(|row| [row.0, row.1]).collect(), 2).unwrap();
        points = points.with_columns(vec!["first one".into(), "a \"b\", c".into()]).unwrap();
        if has_weights {
            points = points.with_weights(rows.iter().map(|row| row.2 + 1e-3).collect()).unwrap();
        }
        if has_ids {
            points = points.with_ids(rows.iter().map(|row| row.3.clone()).collect()).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write::csv::points(&path, &points).unwrap();
        let selection = Selection {
            columns: Some(points.columns().to_vec()),
            weights: has_weights.then(|| "weight".into()),
            id: has_ids.then(|| "id".into()),
            delimiter: Some(b','),
            ..Selection::default()
        };
        let again = read::points(&path, &selection).unwrap();
        prop_assert_eq!(again.fingerprint(), points.fingerprint());
        prop_assert_eq!(&again.with_name(points.name()), &points);
        let path = folder.path().join("a.npy");
        write::npy::points(&path, &points).unwrap();
        let again = read::points(&path, &Selection::default()).unwrap();
        prop_assert_eq!(again.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>(), points.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    }
}
