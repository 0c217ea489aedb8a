//! Tests that tables read into a file have the same points and the same messages as tables in memory.

use std::path::{Path, PathBuf};

use lehr_data::read::{Selection, Table, points_from, spilled_table, table};
use lehr_data::scale::{Scale, Scaling};
use lehr_data::{Error, Points, Spill, geography};

use crate::{columns, gzip};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn spill(&self) -> Spill {
        Spill::new(self.0.path())
    }

    /// Returns the points in a file, after checking that they equal the points in memory.
    fn spilled(&self, path: &Path, selection: &Selection) -> Points {
        let read = spilled_table(path, selection, None, &self.spill()).unwrap();
        assert_eq!(read, table(path, selection, None).unwrap(), "{}", path.display());
        let Table::Numbers(points) = read else { panic!("rows of bits") };
        assert_eq!(points.spill(), Some(&self.spill()));
        points
    }
}

/// Returns an array of 64-bit floats in either byte order, and in either order of its values.
fn array(shape: [usize; 2], is_fortran: bool, is_little: bool, value: impl Fn(usize, usize) -> f64) -> Vec<u8> {
    let (order, [rows, width]) = (if is_little { '<' } else { '>' }, shape);
    let fortran = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{order}f8', 'fortran_order': {fortran}, 'shape': ({rows}, {width}), }}\n");
    let mut bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    let mut push = |value: f64| bytes.extend(if is_little { value.to_le_bytes() } else { value.to_be_bytes() });
    if is_fortran {
        (0..width).for_each(|column| (0..rows).for_each(|row| push(value(row, column))));
    } else {
        (0..rows).for_each(|row| (0..width).for_each(|column| push(value(row, column))));
    }
    bytes
}

#[test]
fn tables_of_either_kind_are_the_same_points_in_a_file() {
    let folder = Folder::new();
    let text = b"name;x;y;w\none;1;-2;3\ntwo;4;5e-3;0\n";
    let all = Selection { weights: Some("w".into()), id: Some("name".into()), ..Selection::default() };
    for path in [folder.file("t.csv", text), folder.file("t.csv.gz", &gzip(text))] {
        let points = folder.spilled(&path, &all);
        assert_eq!(
            (points.row(1), points.weights(), points.ids().unwrap()[1].as_str()),
            (&[4.0, 5e-3][..], Some(&[3.0, 0.0][..]), "two")
        );
    }
    // Rows begin in one block and end in the next or the one after, because 5000 columns are 40,000 bytes.
    let value = |row: usize, column: usize| (row * 7919 + column) as f64 / 3.0;
    for shape in [[7, 5000], [20_000, 3], [3, 9000], [1, 20_000]] {
        for (is_fortran, is_little) in [(false, true), (false, false), (true, true)] {
            let path = folder.file("a.npy", &array(shape, is_fortran, is_little, value));
            let points = folder.spilled(&path, &Selection::default());
            assert_eq!((points.len(), points.dimension()), (shape[0], shape[1]));
            assert_eq!(points.row(shape[0] - 1)[shape[1] - 1], value(shape[0] - 1, shape[1] - 1));
            let some = Selection {
                columns: columns(&["2", "x0"]),
                weights: Some("1".into()),
                id: Some("0".into()),
                ..Selection::default()
            };
            assert_eq!(folder.spilled(&path, &some).row(0), [value(0, 2), value(0, 0)]);
        }
    }
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 3, "what the test wrote, and nothing more");
}

#[test]
fn an_array_of_columns_is_the_same_rows_by_blocks_of_a_file_and_as_a_stream() {
    // With 9000 columns, a block has its minimum of 512 rows, so 600 rows are two blocks.
    let folder = Folder::new();
    for (shape, rows) in [([600, 9000], [0, 511, 512, 599]), ([4, 2], [0, 1, 2, 3])] {
        let bytes = array(shape, true, false, |row, column| (row * 10_007 + column) as f64 / 7.0);
        let path = folder.file("a.npy", &bytes);
        let streamed = points_from(&bytes[..], "a.npy", &Selection::default()).unwrap();
        let Table::Numbers(read) = table(&path, &Selection::default(), None).unwrap() else { panic!("rows of bits") };
        assert_eq!(read.fingerprint(), streamed.fingerprint());
        for row in rows {
            assert_eq!(read.row(row)[1], (row * 10_007 + 1) as f64 / 7.0);
        }
        // A compressed file is read as a stream.
        let packed = folder.spilled(&folder.file("a.npy.gz", &gzip(&bytes)), &Selection::default());
        assert_eq!(packed.fingerprint(), streamed.fingerprint());
    }
    let holes = array([700, 2], true, true, |row, column| if row % 350 == 7 && column == 0 { f64::NAN } else { 1.0 });
    let error = table(&folder.file("holes.npy", &holes), &Selection::default(), None).unwrap_err();
    let words = "holes.npy, row 358, column 1: expected a finite number, found NaN";
    assert!(error.to_string().contains(words) && error.gaps() == 2, "{error}");
}

#[test]
fn what_is_wrong_is_said_in_the_same_words() {
    let folder = Folder::new();
    let holes =
        array([3000, 5], false, true, |row, column| if (row + column) % 200 == 7 { f64::NAN } else { row as f64 });
    let cut = array([3000, 5], true, true, |row, _| row as f64);
    for (name, content) in [
        ("holes.npy", &holes[..]),
        ("cut.npy", &cut[..cut.len() - 4]),
        ("short.npy", &cut[..90]),
        ("holes.csv", b"x,y\n1,2\n3,n/a\n5\n"),
        ("empty.csv", b""),
    ] {
        let path = folder.file(name, content);
        let words = |read: Result<Table, Error>| read.unwrap_err().to_string();
        let selection = Selection::default();
        let said = words(spilled_table(&path, &selection, None, &folder.spill()));
        assert_eq!(said, words(table(&path, &selection, None)));
        if name == "holes.npy" {
            let lines: Vec<&str> = said.lines().collect();
            assert!(lines[0].ends_with("row 4, column 5: expected a finite number, found NaN"), "{said}");
            assert!(lines.len() == 11 && lines[10].ends_with("75 faults in all; the first 10 are shown"), "{said}");
        }
    }
    let nowhere = Spill::new(folder.0.path().join("nowhere"));
    let error = spilled_table(&folder.file("t.csv", b"1,2\n"), &Selection::default(), None, &nowhere).unwrap_err();
    assert!(
        error.is_environment()
            && error.to_string().ends_with("nowhere: cannot hold what memory should not: no such directory"),
        "{error}"
    );
}

#[test]
fn what_is_made_of_points_in_a_file_is_in_a_file_and_the_same() {
    let folder = Folder::new();
    let degrees: Vec<f64> = (0..200).map(|index| f64::from(index * 37 % 83)).collect();
    let points = Points::new(degrees, 2).unwrap().with_weights((0..100).map(f64::from).collect()).unwrap();
    let spilled = points.clone().spilled(&folder.spill()).unwrap();
    for scale in [Scale::Std, Scale::Robust] {
        let fitted = Scaling::fit(&spilled, scale);
        assert_eq!(fitted, Scaling::fit(&points, scale));
        let scaled = fitted.apply(&spilled).unwrap();
        assert!(scaled.spill().is_some() && scaled == fitted.apply(&points).unwrap());
    }
    let sphere = geography::on_sphere(&spilled).unwrap();
    assert!(sphere.spill().is_some() && sphere == geography::on_sphere(&points).unwrap());
}
