//! Sparse rows from files: packed or not, of either format, they are the same rows; one cut short is told from one that is wrong.

use lehr_data::read::{Selection, Table, matrix_market, svmlight, table};
use lehr_data::{Error, Sparse, synthetic};

use crate::gzip;

fn texts() -> Sparse {
    synthetic::topics(2, 300, 500, 25, 9).0
}

fn as_svmlight(rows: &Sparse) -> String {
    let line = |row: usize| {
        let (columns, values) = rows.row(row);
        let pairs = columns.iter().zip(values).map(|(column, value)| format!(" {}:{value}", column + 1));
        format!("{}{}\n", row % 2, pairs.collect::<String>())
    };
    (0..rows.len()).map(line).collect()
}

fn as_matrix_market(rows: &Sparse) -> String {
    let mut text = String::from("%%MatrixMarket matrix coordinate real general\n%\n");
    text.push_str(&format!("{} {} {}\n", rows.len(), rows.dimension(), rows.nonzeros()));
    // From the last column to the first, as a file by columns may have them.
    for column in (0..rows.dimension()).rev() {
        for row in (0..rows.len()).filter(|row| rows.value(*row, column) != 0.0) {
            text.push_str(&format!("{} {} {}\n", row + 1, column + 1, rows.value(row, column)));
        }
    }
    text
}

#[test]
fn files_of_either_format_packed_or_not_have_the_same_rows() {
    let rows = texts();
    let folder = tempfile::tempdir().unwrap();
    let (svm, mtx) = (as_svmlight(&rows), as_matrix_market(&rows));
    let files = [
        ("texts.svm", svm.as_bytes().to_vec()),
        ("texts", gzip(svm.as_bytes())),
        ("texts.mtx", mtx.as_bytes().to_vec()),
        ("texts.mtx.gz", gzip(mtx.as_bytes())),
        ("matrix", mtx.as_bytes().to_vec()),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let Table::Sparse(found) = table(&path, &Selection::default(), None).unwrap() else { panic!("{name}") };
        let found = found.with_dimension(rows.dimension()).unwrap();
        assert_eq!(found.fingerprint(), rows.fingerprint(), "{name}");
        assert_eq!((found.name(), found.column_name(0)), (&*path.display().to_string(), "x1".to_owned()));
    }
}

#[test]
fn a_packed_file_cut_short_says_how_far_it_was_read() {
    let rows = texts();
    let whole = gzip(as_svmlight(&rows).as_bytes());
    let error = svmlight::rows_from(&whole[..whole.len() / 2], "t.svm.gz", None).unwrap_err();
    assert!(matches!(error, Error::CutShort { .. }) && error.to_string().contains(" lines)"), "{error}");
    let whole = gzip(as_matrix_market(&rows).as_bytes());
    let error = matrix_market::rows_from(&whole[..whole.len() / 2], "t.mtx.gz").unwrap_err();
    assert!(matches!(error, Error::CutShort { .. }) && error.to_string().contains(" lines)"), "{error}");
    let nowhere = svmlight::rows("nowhere.svm".as_ref(), None).unwrap_err();
    assert_eq!(nowhere.to_string(), "nowhere.svm: no such file");
}
