//! Tests that sparse rows are the same in both formats, compressed or not. A file that was cut and a file with faults
//! get different messages.

use lehr_data::read::{Selection, Table, matrix_market, points_from, svmlight, table, table_from};
use lehr_data::sparse::FirstColumn;
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
    // Write from the last column to the first, as a file ordered by columns may do.
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

#[test]
fn a_table_with_times_of_day_is_not_taken_for_sparse_rows() {
    let any = Selection::default();
    for (text, delimiter, values) in [
        ("5 12:30\n6 13:45\n7 9:15\n", b' ', [5.0, 6.0, 7.0]),
        ("12.5,3 10:20\n13,4 9:40\n14,5 7:00\n", b',', [12.5, 13.0, 14.0]),
    ] {
        for text in [text, text.split_inclusive('\n').next().unwrap()] {
            let values = &values[..text.lines().count()];
            let Table::Numbers(points) = table_from(text.as_bytes(), "t", &any, None).unwrap() else {
                panic!("{text}")
            };
            assert_eq!((points.values(), &points), (values, &points_from(text.as_bytes(), "t", &any).unwrap()));
            // The name decides, whatever the rows are.
            let named =
                table_from(text.as_bytes(), "t.svm", &Selection { delimiter: Some(delimiter), ..any.clone() }, None);
            assert!(matches!(named.unwrap(), Table::Sparse(_)));
        }
    }
}

#[test]
fn what_is_said_of_a_table_makes_it_one_whose_rows_might_be_sparse() {
    let text = "5 9:30 12:30\n6 8:45 13:00\n7 9:00 14:15\n";
    let of = |selection: &Selection, first_column| table_from(text.as_bytes(), "t", selection, first_column).unwrap();
    let any = Selection::default();
    assert!(matches!(of(&any, None), Table::Sparse(rows) if (rows.len(), rows.dimension()) == (3, 14)));
    for said in [
        Selection { delimiter: Some(b' '), ..any.clone() },
        Selection { columns: Some(vec!["0".into()]), ..any.clone() },
        Selection { header: Some(false), ..any.clone() },
    ] {
        let Table::Numbers(points) = of(&said, None) else { panic!("{said:?}") };
        assert_eq!(points.values(), [5.0, 6.0, 7.0], "{said:?}");
        assert_eq!(points, points_from(text.as_bytes(), "t", &said).unwrap());
        // Only in SVMlight text can columns count from 0 or from 1.
        assert!(matches!(of(&said, Some(FirstColumn::One)), Table::Sparse(_)), "{said:?}");
    }
    let refused = points_from(text.as_bytes(), "t", &any).unwrap_err().to_string();
    assert!(refused.ends_with("found SVMlight's text, which has sparse rows"), "{refused}");
}
