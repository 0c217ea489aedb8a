//! Tests that a table read in batches has the same rows as a whole table, and that faults of a batch are reported
//! together.

use lehr_data::read::{Batches, Selection, points_from};
use lehr_data::{Error, Points, write};

use crate::{columns, gzip};

fn weighted() -> Selection {
    Selection { weights: Some("2".into()), id: Some("0".into()), ..Selection::default() }
}

/// Returns all batches of some bytes.
fn batches(bytes: &[u8], selection: &Selection, rows: usize) -> Result<Vec<Points>, Error> {
    let mut batches = Batches::new(bytes, "t", selection)?;
    let mut all = Vec::new();
    while let Some(batch) = batches.next(rows)? {
        all.push(batch);
    }
    assert!(batches.next(rows)?.is_none() && batches.fraction().is_none());
    Ok(all)
}

#[test]
fn batches_are_the_rows_of_the_table_without_those_that_weigh_nothing() {
    let value =
        |row: usize, column: usize| if column == 2 { (row % 3) as f64 } else { (row * 7 + column) as f64 / 3.0 };
    let values: Vec<f64> = (0..1000 * 4).map(|index| value(index / 4, index % 4)).collect();
    let points = Points::new(values, 4).unwrap();
    let (mut array, mut text) = (Vec::new(), String::new());
    write::npy::array(&mut array, points.values(), points.dimension()).unwrap();
    for row in points.values().chunks_exact(4) {
        text.push_str(&format!("{},{},{},{}\n", row[0], row[1], row[2], row[3]));
    }
    for bytes in [&array, text.as_bytes(), &gzip(&array), &gzip(text.as_bytes())] {
        let whole = points_from(bytes, "t", &weighted()).unwrap();
        let heavy: Vec<usize> = (0..1000).filter(|row| row % 3 > 0).collect();
        for rows in [1, 7, 666, 667, 5000] {
            let batches = batches(bytes, &weighted(), rows).unwrap();
            assert_eq!(batches.len(), heavy.len().div_ceil(rows));
            for (batch, of) in batches.iter().zip(heavy.chunks(rows)) {
                assert_eq!((batch.len(), batch.columns(), batch.name()), (of.len(), whole.columns(), "t"));
                for (place, &row) in of.iter().enumerate() {
                    assert_eq!((batch.row(place), batch.weight(place)), (whole.row(row), whole.weight(row)));
                    assert_eq!(batch.ids().unwrap()[place], whole.ids().unwrap()[row]);
                }
            }
        }
        let all = batches(bytes, &Selection { columns: columns(&["3", "1"]), ..Selection::default() }, 300).unwrap();
        assert_eq!((all.len(), all[3].len(), all[1].row(2)), (4, 100, &[value(302, 3), value(302, 1)][..]));
    }
}

#[test]
fn batches_have_the_columns_of_the_whole_table_where_two_delimiters_are_possible() {
    // Between commas, the fields are plain numbers. Between tabs there are more fields, some of which are numbers as
    // people write them.
    for text in [
        "x,1,,[6e,1,,[6e3\u{14}3\u{14}id\ta\u{1f}e\tifcoe\t9 m,099&0\t0,\t\tp\n",
        ": 4''tf>rae',2 TFHB(2, 3 3: '>f4', 'f,2, 33),nnn ,n#trae',3: '>f4', 'f,2, 33),nnn ,n#trae', T#B(2,, ,,,3,}\u{1a}  UO   3 3,   ",
        // One reading has codes with leading zeros, or a number that is too large.
        "6;8,,04,6807",
        "892  4963,099009907E77777963,09",
        // A text column with one number in it is left out.
        "x,note\n1,a\n2,7\n3,b\n4,c\n5,d\n6,e\n7,f\n8,g\n9,h\n10,i\n11,j\n12,k\n",
    ] {
        let whole = points_from(text.as_bytes(), "t", &Selection::default()).unwrap();
        let all = batches(text.as_bytes(), &Selection::default(), 100).unwrap();
        assert_eq!((all[0].columns(), all[0].values()), (whole.columns(), whole.values()));
    }
}

#[test]
fn the_header_of_a_table_that_follows_is_passed_over() {
    let header = "id, x ,w\n";
    let days = ["a,1,2\nb,2,0\n", "c,3,1\n", "", "d,4,1\n"].map(|rows| format!("{header}{rows}")).concat();
    let selection = Selection { weights: Some("w".into()), id: Some("id".into()), ..Selection::default() };
    for rows in [1, 2, 100] {
        let all = batches(days.as_bytes(), &selection, rows).unwrap();
        let values: Vec<f64> = all.iter().flat_map(|batch| batch.values()).copied().collect();
        assert_eq!(values, [1.0, 3.0, 4.0], "{rows}");
    }
    // A different header is a faulty row, and so is a header in a table that has none.
    for other in ["id,x,w\na,1,2\nid,y,w\n", "id,x,w\na,1,2\nid,x\n"] {
        assert!(matches!(batches(other.as_bytes(), &selection, 10), Err(Error::Faults(_))), "{other:?}");
    }
    let numbers = Selection { header: Some(true), ..Selection::default() };
    let all = batches(b"1,2\n3,4\n1,2\n", &numbers, 10).unwrap();
    assert_eq!(all[0].values(), [3.0, 4.0, 1.0, 2.0], "names that are numbers say nothing of a row");
}

#[test]
fn a_row_may_be_longer_than_a_block_of_the_file() {
    let points = Points::new((0..3 * 20_000).map(f64::from).collect(), 20_000).unwrap();
    let mut array = Vec::new();
    write::npy::array(&mut array, points.values(), points.dimension()).unwrap();
    let all = batches(&array, &Selection::default(), 2).unwrap();
    assert_eq!((all.len(), all[0].len(), all[1].values()), (2, 2, points.row(2)));
}

#[test]
fn how_much_of_a_file_is_behind_is_known_packed_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..50_000).map(|row| format!("{row},{}\n", row % 17)).collect();
    for (name, bytes) in [("t.csv", text.as_bytes().to_vec()), ("t.csv.gz", gzip(text.as_bytes()))] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut batches = Batches::open(&path, &Selection::default()).unwrap();
        let mut before = 0.0;
        while batches.next(10_000).unwrap().is_some() {
            let fraction = batches.fraction().unwrap();
            assert!(fraction > before && fraction <= 1.0, "{name}: {fraction} after {before}");
            before = fraction;
        }
        assert_eq!(batches.fraction(), Some(1.0));
    }
}

#[test]
fn faults_are_those_of_the_rows_that_are_read_together() {
    let text = "x,y,w\n1,2,1\n3,4,1\nNaN,6,1\n7\n9,10,-1\n11,12,1\n";
    let selection = Selection { weights: Some("w".into()), ..Selection::default() };
    let mut batches = Batches::new(text.as_bytes(), "t.csv", &selection).unwrap();
    assert_eq!(batches.next(2).unwrap().unwrap().len(), 2);
    assert_eq!(
        batches.next(2).unwrap_err().to_string(),
        "t.csv, line 4, column 1 (\"x\"): expected a finite number, found \"NaN\"\n\
         t.csv, line 5: expected 3 fields, found 1\n\
         t.csv: 2 faults in all"
    );
    assert_eq!(
        batches.next(2).unwrap_err().to_string(),
        "t.csv, line 6, column 3 (\"w\"): expected a weight of 0 or more, found \"-1\""
    );
    assert!(batches.next(2).unwrap().is_none());

    let points = Points::new(vec![1.0, 2.0, f64::MAX, 4.0, 5.0, 6.0], 1).unwrap();
    let mut array = Vec::new();
    write::npy::array(&mut array, points.values(), points.dimension()).unwrap();
    let at = array.len() - 3 * 8;
    array[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    let mut rows = Batches::new(&array[..], "a.npy", &Selection::default()).unwrap();
    assert_eq!(rows.next(2).unwrap().unwrap().values(), [1.0, 2.0]);
    let said = rows.next(2).unwrap_err().to_string();
    assert_eq!(said, "a.npy, row 4, column 1: expected a finite number, found NaN");
    let cut = Batches::new(&array[..array.len() - 1], "a.npy", &Selection::default()).unwrap().next(9).unwrap_err();
    assert!(matches!(cut, Error::CutShort { .. }), "{cut}");
}

#[test]
fn what_only_the_end_can_tell_is_told_there_and_once() {
    let weightless = "x,w\n1,0\n2,0\n";
    let selection = Selection { weights: Some("w".into()), ..Selection::default() };
    let mut batches = Batches::new(weightless.as_bytes(), "t.csv", &selection).unwrap();
    let said = batches.next(5).unwrap_err().to_string();
    assert_eq!(said, "t.csv, column 2 (\"w\"): expected at least one weight above 0, found 0 in all 2 rows");
    assert!(batches.next(5).unwrap().is_none());

    // The numbers begin after the part of the stream that decides about columns.
    let late: String =
        (0..30_000).map(|row| format!("{row},{}\n", if row < 12_000 { "a".into() } else { row.to_string() })).collect();
    let mut batches = Batches::new(late.as_bytes(), "t.csv", &Selection::default()).unwrap();
    assert_eq!(batches.next(50_000).unwrap().unwrap().dimension(), 1);
    let said = batches.next(5).unwrap_err().to_string();
    assert!(said.ends_with("found none there, and numbers in 18000 of 30000 rows"), "{said}");
}

#[test]
fn an_array_stored_by_columns_has_no_rows_to_begin_with() {
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }\n";
    let array = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &[0; 48]].concat();
    let error = Batches::new(&array[..], "a.npy", &Selection::default()).err().unwrap();
    assert!(error.to_string().starts_with("a.npy: expected an array that is stored row after row"), "{error}");
    let error = Batches::new(&b""[..], "t.csv", &Selection::default()).err().unwrap();
    assert!(matches!(error, Error::Empty { .. }), "{error}");
}

#[test]
fn rows_some_at_a_time_are_written_as_the_first_ones_show() {
    let table = format!(
        "Ventes\n\nshop;price;n\n{}",
        (0..500).map(|row| format!("s{row};{},25 €;2\n", 1000 + row)).collect::<String>()
    );
    let latin: Vec<u8> = table.chars().map(|letter| if letter == '€' { 0x80 } else { letter as u8 }).collect();
    for bytes in [table.clone().into_bytes(), latin] {
        let selection = Selection { weights: Some("n".into()), id: Some("shop".into()), ..Selection::default() };
        let mut batches = Batches::new(&bytes[..], "t.csv", &selection).unwrap();
        let first = batches.next(400).unwrap().unwrap();
        assert_eq!(
            (first.values()[0], first.ids().unwrap()[0].as_str(), first.weights().unwrap()[0]),
            (1000.25, "s0", 2.0)
        );
        assert!(
            first.notes().contains(&"\"price\" is read as number, decimal ',', €, as the first rows show".to_owned()),
            "{:?}",
            first.notes()
        );
        assert_eq!(batches.next(400).unwrap().unwrap().values()[99], 1499.25);
        assert!(batches.next(400).unwrap().is_none());
    }
    let later = format!("a;b\n{}3.5;1\n", "1,5;2\n".repeat(60_000));
    let mut batches = Batches::new(later.as_bytes(), "t.csv", &Selection::default()).unwrap();
    let error = batches.next(100_000).unwrap_err().to_string();
    assert_eq!(error, "t.csv, line 60002, column 1 (\"a\"): expected a finite number, found \"3.5\"");
}

#[test]
fn quotes_in_the_wrong_place_are_the_same_letters_in_a_stream() {
    // By strict rules, the quotes of this line pair up differently, and its third field is 4.
    let odd = b"a,\"b\t,\"\"5,\"c\"\"\"c,\"\"4,\xff\xff\"c\"\"\"7\"\n";
    for text in [&odd[..], b"x,y\n5' 3\",1\n\"a \"b\" c\",2\n", b"name,x\n\"the \"old\" one\",3\nb,4\n"] {
        let selection = Selection::default();
        let points = points_from(text, "t.csv", &selection).unwrap();
        let mut batches = Batches::new(text, "t.csv", &selection).unwrap();
        let batch = batches.next(9).unwrap().unwrap();
        assert_eq!((batch.columns(), batch.values()), (points.columns(), points.values()));
        assert!(batches.next(9).unwrap().is_none());
    }
    // All rows are read with a note; a stream has already given out rows when it finds this out.
    let open = b"name,x\na,1\n\"b,2\nc,3\n";
    let points = points_from(&open[..], "t.csv", &Selection::default()).unwrap();
    assert_eq!(points.values(), [1.0, 2.0, 3.0]);
    assert!(
        points
            .notes()
            .iter()
            .any(|note| note.contains("line 3: Lehr reads an unclosed quote as an ordinary character"))
    );
    let refusal = Batches::new(&open[..], "t.csv", &Selection::default()).and_then(|mut batches| batches.next(9));
    let refusal = refusal.unwrap_err().to_string();
    assert!(
        refusal.contains("t.csv, line 3") && refusal.contains("a quote that opens a field to be closed"),
        "{refusal}"
    );
}

#[test]
fn marks_before_a_text_do_not_change_how_batches_read_it() {
    let table = "\t\nA\tb c\tyes\nr\t1,5 2\t3\n";
    let whole = points_from(table.as_bytes(), "t", &Selection::default()).unwrap();
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for marks in ["\u{feff}", "\u{feff}\u{feff}", "\u{feff}\u{feff}\u{feff}"] {
        let text = format!("{marks}{table}");
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes()), utf_16(&text)] {
            let found = points_from(&bytes[..], "t", &Selection::default()).unwrap();
            assert_eq!((found.columns(), found.values()), (whole.columns(), whole.values()), "{marks:?}");
            let batches = batches(&bytes, &Selection::default(), 9).unwrap();
            assert_eq!((batches[0].columns(), batches[0].values()), (whole.columns(), whole.values()), "{marks:?}");
        }
    }
}
