//! Tests that every reader returns points or an error for any bytes, and for valid files with damage. It must never
//! panic, hang, or take memory that the file does not justify.

use lehr_data::read::{Selection, Table, csv_points, points_from, table_from};
use lehr_data::{Error, geography};
use proptest::prelude::*;

use crate::gzip;

/// Runs all readers over the bytes. Results must keep the promises of their types, and errors must have a text.
fn read_all_ways(bytes: &[u8], selection: &Selection) {
    let names = ["a", "a.tsv", "a.npy"];
    let results = names.into_iter().map(|name| points_from(bytes, name, selection));
    for result in results.chain([csv_points(bytes, "a", selection)]) {
        match result {
            Ok(points) => {
                assert_eq!(points.values().len(), points.len() * points.dimension());
                assert!(points.values().iter().all(|value| value.is_finite()));
                assert!(points.weights().is_none_or(|weights| weights.iter().sum::<f64>() > 0.0));
                assert!(points.ids().is_none_or(|ids| ids.len() == points.len()));
                assert_eq!(points.columns().len(), points.dimension());
                let _ = (points.fingerprint(), geography::looks_like_degrees(&points), geography::on_sphere(&points));
            }
            Err(error) => {
                assert!(error.to_string().starts_with('a'), "{error}");
                assert!(!error.is_environment(), "{error}");
                if let Error::Faults(faults) = error {
                    assert!(faults.kept().len() as u64 == faults.total().min(10) && faults.total() > 0);
                }
            }
        }
    }
}

/// Reads sparse rows, judging by the contents and by the name.
fn read_as_sparse(bytes: &[u8], name: &str) -> Result<lehr_data::Sparse, String> {
    let found = table_from(bytes, name, &Selection::default(), None).map_err(|error| {
        assert!(error.to_string().starts_with('a') && !error.is_environment(), "{error}");
        error.to_string()
    })?;
    let Table::Sparse(rows) = found else { return Err("another table".to_owned()) };
    assert!(rows.len() > 0 && rows.dimension() > 0 && rows.starts().len() == rows.len() + 1);
    for row in 0..rows.len() {
        let (columns, values) = rows.row(row);
        assert!(columns.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(columns.iter().all(|column| (*column as usize) < rows.dimension()));
        assert!(values.iter().all(|value| value.is_finite() && *value != 0.0));
    }
    Ok(rows)
}

fn selections() -> impl Strategy<Value = Selection> {
    let column = || prop::sample::select(vec!["a", "b", "0", "1", "7", "", "x1"]).prop_map(String::from);
    let delimiter = prop::sample::select(vec![b',', b' ', b'\t', b';', b'"', b'\n', b'\r', 0xff]);
    (
        prop::option::of(prop::collection::vec(column(), 0..3)),
        prop::option::of(column()),
        prop::option::of(column()),
        prop::option::of(delimiter),
        prop::option::of(any::<bool>()),
    )
        .prop_map(|(columns, weights, id, delimiter, header)| Selection {
            columns,
            weights,
            id,
            delimiter,
            header,
            ..Selection::default()
        })
}

/// A reader that returns a few bytes at a time.
struct Steps<'a>(&'a [u8], usize);

impl std::io::Read for Steps<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len()).min(self.0.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn valid_files() -> Vec<Vec<u8>> {
    let text = "a,b,c\n1,2,\"q\"\"r\"\n3.5,-4e2,s\n0,9,\"t\nu\"\n".as_bytes().to_vec();
    let mut array = Vec::new();
    lehr_data::write::npy::array(&mut array, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2).unwrap();
    vec![gzip(&text), gzip(&array), [gzip(&text), gzip(b"1,2,3\n")].concat(), text, array]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300), selection in selections()) {
        read_all_ways(&bytes, &selection);
        read_all_ways(&gzip(&bytes), &selection);
    }

    #[test]
    fn random_text_of_the_right_letters_is_answered(text in "[ab01,;\t |\"\r\n.eE+na-]{0,120}", selection in selections()) {
        read_all_ways(text.as_bytes(), &selection);
    }

    /// Checks that the end of the window does not matter: one byte at a time gives the same points or the same message.
    #[test]
    fn the_size_of_reads_changes_nothing(text in "[ab01,;\t \"\"\r\n.]{0,120}", selection in selections(), step in 1usize..7) {
        let said = |result: Result<lehr_data::Points, Error>| result.map_err(|error| error.to_string());
        let slow = csv_points(Steps(text.as_bytes(), step), "a", &selection);
        prop_assert_eq!(said(slow), said(csv_points(text.as_bytes(), "a", &selection)));
    }

    #[test]
    fn text_of_the_letters_of_sparse_rows_is_answered(
        text in "([+-]?[0-9]{0,3}( (qid|[0-9]{1,9}):[0-9.e+-]{0,4}){0,4}( #[a:]*)?\r?\n){0,6}",
        step in 1usize..7,
    ) {
        let fast = read_as_sparse(text.as_bytes(), "a.svm");
        let slow = table_from(Steps(text.as_bytes(), step), "a.svm", &Selection::default(), None);
        let slow = slow.map_err(|error| error.to_string());
        prop_assert_eq!(fast.map(Table::Sparse), slow);
        let _ = read_as_sparse(text.as_bytes(), "a");
        let _ = read_as_sparse(&gzip(text.as_bytes()), "a.libsvm.gz");
    }

    #[test]
    fn text_of_the_letters_of_matrix_market_is_answered(
        head in "%%MatrixMarket matrix coordinate (real|pattern|integer) general|%%[a-z ]{0,20}",
        text in "(%[a-z]*\n){0,2}[0-9]{1,12} [0-9]{1,9} [0-9]{1,2}\n([0-9]{1,2} [0-9]{1,2}( [0-9.e-]{0,5})?\n){0,6}",
    ) {
        let _ = read_as_sparse(format!("{head}\n{text}").as_bytes(), "a.mtx");
    }

    #[test]
    fn damaged_files_are_answered(
        which in 0usize..5,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3, any::<u8>()), 1..6),
        selection in selections(),
    ) {
        let mut bytes = valid_files().swap_remove(which);
        for (place, kind, byte) in edits {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                _ => bytes.insert(at, byte),
            }
        }
        read_all_ways(&bytes, &selection);
    }

    #[test]
    fn npy_headers_of_any_words_are_answered(text in "[{}'\\[\\](),:a-f<>|0-9 ]{0,60}|\\{'descr': '[<>|=][fiu][0-9]', 'fortran_order': (True|False), 'shape': \\([0-9]{0,19},? ?[0-9]{0,19}\\), \\}") {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend([0; 100]);
        read_all_ways(&bytes, &Selection::default());
    }
}

#[test]
fn brackets_without_end_cost_no_more_than_their_bytes() {
    let header = format!("{{'descr': {}", "[(".repeat(30_000));
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    assert!(matches!(points_from(&bytes[..], "a.npy", &Selection::default()), Err(Error::Format { .. })));
}

#[test]
fn an_open_quote_does_not_read_for_ever() {
    let text = [b"a,b\n1,\"2\n".to_vec(), b"3,4\n".repeat(5_000_000)].concat();
    let error = csv_points(&text[..], "a", &Selection::default()).unwrap_err().to_string();
    assert!(error.starts_with("a, line 2: expected a quote that opens a field to be closed"), "{error}");
}

#[test]
fn one_endless_line_is_refused() {
    let error = csv_points(&b"1 ".repeat(9_000_000)[..], "a", &Selection::default()).unwrap_err().to_string();
    assert_eq!(error, "a, line 1: expected a line of at most 16 MiB, found a longer one");
}
