//! Tests that byte order marks, line ends and compression are handled alike by every reader.

use lehr_data::read::classes::classes_from;
use lehr_data::read::fasta::{Expected, sequences_from};
use lehr_data::read::fps::fingerprints_from;
use lehr_data::read::{
    Selection, Table, TableForm, data_frame_from, incomplete_from, matrix_market, points_from, svmlight, table_from,
};

use crate::gzip;

/// Returns a text in all the ways in which programs write it.
fn forms(text: &str) -> Vec<(String, Vec<u8>)> {
    let mut forms = Vec::new();
    for mark in ["", "\u{feff}"] {
        for end in ["\n", "\r\n", "\r"] {
            let lines = text.replace('\n', end);
            let last = lines.trim_end_matches(['\r', '\n']);
            // The last line may end with a line end or not, and an editor may have put a line feed after carriage
            // returns.
            for whole in [lines.clone(), last.to_owned(), format!("{last}\n")] {
                let whole = format!("{mark}{whole}").into_bytes();
                let shown = String::from_utf8_lossy(&whole).escape_debug().to_string();
                forms.push((format!("{shown}, packed"), gzip(&whole)));
                forms.push((shown, whole));
            }
        }
    }
    forms
}

/// Checks that a reader returns the same result for a text in all its forms.
fn reads_all<T: PartialEq + std::fmt::Debug>(text: &str, read: impl Fn(&[u8]) -> T) {
    let expected = read(text.as_bytes());
    for (shown, bytes) in forms(text) {
        assert_eq!(read(&bytes), expected, "{shown}");
    }
}

#[test]
fn every_reader_of_text_takes_marks_line_ends_and_packing() {
    let selection = Selection::default();
    reads_all("x,y\n1,2\n\"3\",4\n", |bytes| points_from(bytes, "t", &selection).unwrap());
    reads_all("x y\n1 2\n3 4\n", |bytes| points_from(bytes, "t", &selection).unwrap());
    reads_all("x,y\n1,\n3,4\n", |bytes| format!("{:?}", incomplete_from(bytes, "t", &selection).unwrap()));
    reads_all("id,class\na,1\nb,2\n", |bytes| classes_from(bytes, "t", "id", "class").unwrap());
    reads_all(">a\nACGT\nAC\n>b\nACGA\n", |bytes| sequences_from(bytes, "t", Expected::default()).unwrap());
    reads_all("#FPS1\n#num_bits=8\n0f\tone\nf0\ttwo\n", |bytes| fingerprints_from(bytes, "t").unwrap());
    reads_all("1 1:2 3:4\n-1 2:5\n", |bytes| svmlight::rows_from(bytes, "t", None).unwrap());
    let matrix = "%%MatrixMarket matrix coordinate real general\n% a comment\n2 3 2\n1 3 0.5\n2 1 4\n";
    reads_all(matrix, |bytes| matrix_market::rows_from(bytes, "t").unwrap());
}

#[test]
fn what_a_text_holds_is_seen_behind_a_mark_and_before_any_line_end() {
    let kind = |bytes: &[u8]| match table_from(bytes, "t", &Selection::default(), None) {
        Ok(Table::Numbers(_)) => "numbers".to_owned(),
        Ok(Table::Bits(_)) => "bits".to_owned(),
        Ok(Table::Sparse(_)) => "sparse".to_owned(),
        Err(error) => error.to_string(),
    };
    reads_all("#FPS1\n0f\tone\n", |bytes| kind(bytes));
    assert_eq!(kind(b"\xef\xbb\xbf#FPS1\r0f\tone\r"), "bits");
    assert_eq!(kind(b"\xef\xbb\xbf%%MatrixMarket matrix coordinate real general\r1 1 1\r1 1 5\r"), "sparse");
    assert_eq!(kind(b"\xef\xbb\xbf1 1:2 3:4\r-1 2:5\r"), "sparse");
    assert!(kind(b"\xef\xbb\xbf>a\rACGT\r>b\rACGA\r").ends_with("found sequences in FASTA"));
    assert!(
        kind(b"\xef\xbb\xbf{\"x\": 1}")
            .ends_with("found a document in JSON other than an array of objects, or an object on each line")
    );
}

#[test]
fn lines_are_counted_by_their_own_ends_and_encodings_are_told_by_every_reader() {
    let fps = |bytes: &[u8]| fingerprints_from(bytes, "t").unwrap_err().to_string();
    assert_eq!(
        fps(b"#num_bits=8\r0f\ta\r0x\tb\r"),
        "t, line 3: expected hexadecimal digits of 8 bits, found \"0x\" at digit 1"
    );
    let points = |bytes: &[u8]| points_from(bytes, "t", &Selection::default()).unwrap_err().to_string();
    assert_eq!(points(b"x,y\r1,2\r3,4z\r"), "t, line 3, column 2 (\"y\"): expected a finite number, found \"4z\"");
    // A quoted field may have another line end than the rows.
    let rows = points_from(&b"\"a\rb\",y\r\n1,2\r\n3,4\r\n"[..], "t", &Selection::default()).unwrap();
    assert_eq!((rows.columns()[0].as_str(), rows.len()), ("a\rb", 2));
    // Tables in this encoding are read.
    let words = "expected UTF-8, found FF FE, the byte order mark of UTF-16";
    let utf16 =
        |text: &str| [&[0xff, 0xfe][..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat();
    let sequences = |bytes: &[u8]| sequences_from(bytes, "t", Expected::default()).unwrap_err().to_string();
    let sparse = |bytes: &[u8]| svmlight::rows_from(bytes, "t", None).unwrap_err().to_string();
    let matrix = |bytes: &[u8]| matrix_market::rows_from(bytes, "t").unwrap_err().to_string();
    for said in
        [fps(&utf16("#FPS1\n")), sequences(&utf16(">a\nAC\n")), sparse(&utf16("1 1:2\n")), matrix(&utf16("%%\n"))]
    {
        assert!(said.ends_with(words), "{said}");
    }
    let table = |bytes: &[u8]| data_frame_from(bytes, "t", &TableForm::default()).unwrap_err().to_string();
    for order in [u32::to_le_bytes, u32::to_be_bytes] {
        let utf32 = |text: &str| text.chars().flat_map(|letter| order(u32::from(letter))).collect::<Vec<u8>>();
        for (text, read) in [
            ("x,y\n1,2\n", &points as &dyn Fn(&[u8]) -> String),
            ("x,y\n1,2\n", &table),
            ("#FPS1\n", &fps),
            (">a\nAC\n", &sequences),
            ("1 1:2\n", &sparse),
            ("%%\n", &matrix),
        ] {
            for mark in ["", "\u{feff}"] {
                let said = read(&utf32(&format!("{mark}{text}")));
                assert!(
                    said.contains("expected UTF-8, found ") && said.contains("UTF-32") && !said.contains("UTF-16"),
                    "{said}"
                );
            }
        }
    }
    assert!(
        fps(b"0f\ta\xe9\n").contains("line 1, byte 4 of the text: expected UTF-8, found the byte E9 ('é' in Latin-1)")
    );
    assert!(sequences(b">a\nAC\n>b\xe9\nAC\n").contains("line 3, byte 8 of the text"));
}

#[test]
fn a_gzip_file_that_is_cut_damaged_or_nested_is_told_by_every_reader() {
    let whole = gzip(b"x,y\n1,2\n3,4\n");
    let said = |bytes: &[u8]| points_from(bytes, "t", &Selection::default()).unwrap_err();
    for end in 3..whole.len() {
        let error = said(&whole[..end]);
        assert!(matches!(error, lehr_data::Error::CutShort { .. }), "cut at {end}: {error}");
        assert!(!error.is_environment(), "cut at {end}");
    }
    let nested = said(&gzip(&whole)).to_string();
    assert_eq!(nested, "t: expected a file that is packed once, found a gzip file within a gzip file; unpack it first");
}

#[test]
fn whole_numbers_that_are_rounded_are_told_by_every_reader() {
    let told = |number: &str, of: &str| {
        vec![format!(
            "{of} has whole numbers that are rounded to 53 bits, such as {number}: for names of rows, use --id"
        )]
    };
    let text = "n,x\n9007199254740992,1\n9007199254740993,2\n-9007199254740995,3\n";
    let json = r#"[{"n": 9007199254740992, "x": 1}, {"n": 9007199254740993, "x": 2}]"#;
    let of_n = told("9007199254740993", "\"n\"");
    let chosen = Selection { columns: Some(vec!["n".into(), "x".into()]), ..Selection::default() };
    // The second column is read in the notation of people, the first in the notation of programming languages.
    let written = "n;x\n9007199254740992;1,5\n9007199254740993;2,5\n-9007199254740995;3,5\n";
    for text in [text, written, json] {
        assert_eq!(points_from(text.as_bytes(), "t", &chosen).unwrap().notes().last(), of_n.last(), "{text}");
        assert_eq!(incomplete_from(text.as_bytes(), "t", &chosen).unwrap().notes().last(), of_n.last(), "{text}");
        let frame = data_frame_from(text.as_bytes(), "t", &TableForm::default()).unwrap();
        assert_eq!(frame.notes().last(), of_n.last(), "{text}");
    }
    // No note is about a column that was not requested.
    let other = Selection { columns: Some(vec!["x".into()]), ..Selection::default() };
    assert!(points_from(text.as_bytes(), "t", &other).unwrap().notes().is_empty());
    let array = |of: &str, numbers: &[[u8; 8]]| {
        let header = format!("{{'descr': '{of}', 'fortran_order': False, 'shape': ({}, 1), }}", numbers.len());
        [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &numbers.concat()].concat()
    };
    let signed = array("<i8", &[1, -9_007_199_254_740_993, 3].map(i64::to_le_bytes));
    let unsigned = array(">u8", &[1, u64::MAX, 3].map(u64::to_be_bytes));
    for (bytes, number) in [(signed, "-9007199254740993"), (unsigned, "18446744073709551615")] {
        let expected = told(number, "the array");
        assert_eq!(points_from(&*bytes, "t", &Selection::default()).unwrap().notes(), expected);
        assert_eq!(incomplete_from(&*bytes, "t", &Selection::default()).unwrap().notes(), expected);
    }
    let exact = array("<i8", &[1, 1 << 60, 3].map(i64::to_le_bytes));
    assert!(points_from(&*exact, "t", &Selection::default()).unwrap().notes().is_empty());
}
