//! Tests reading of text tables in many layouts.

use lehr_data::read::{Selection, incomplete_from, points, points_from};
use proptest::prelude::*;

use crate::{columns, gzip, plain, table};

/// Returns the columns that were left out of a table, as messages show them.
fn left_out(text: &str) -> Vec<String> {
    let points = table(text, &Selection::default()).unwrap();
    points.left_out().iter().map(ToString::to_string).collect()
}

#[test]
fn columns_without_numbers_are_told_with_an_example() {
    // The example is the first text of the column, wherever it is. Ids and columns that were not chosen do not count as
    // left out.
    let rows: String = (0..150).map(|row| format!("{row},n/a,{}\n", if row == 140 { "late" } else { "" })).collect();
    assert_eq!(left_out(&format!("x,y,z\n{rows}")), ["y (empty)", "z (\"late\")"]);
    // A value that people read as a number is read as a number.
    assert_eq!(left_out("a;b;c\n1;2,5;x\n2;3,5;y\n3;4;z\n"), ["c (\"x\")"]);
    let selection = Selection { id: Some("c".into()), columns: columns(&["a"]), ..Selection::default() };
    assert!(table("a,b,c\n1,u,x\n2,v,y\n", &selection).unwrap().left_out().is_empty());
    let selection = Selection { id: Some("c".into()), ..Selection::default() };
    assert_eq!(table("a,b,c\n1,u,x\n2,v,y\n", &selection).unwrap().left_out().len(), 1);
    // The same holds for rows with missing values, and columns are in the order of the file.
    let rows = "a,b,c\n1,,\n2,,w\n";
    let told = incomplete_from(rows.as_bytes(), "r.csv", &Selection::default()).unwrap();
    let told: Vec<String> = told.left_out().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["b (empty)", "c (\"w\")"]);
}

#[test]
fn a_header_gives_names_and_its_absence_numbers_them() {
    let points = plain("a,b\n1,2\n3,4\n");
    assert_eq!((points.columns(), points.values()), (&["a".to_string(), "b".into()][..], &[1.0, 2.0, 3.0, 4.0][..]));
    let points = plain("1,2\n3,4\n");
    assert_eq!((points.columns(), points.len()), (&["x0".to_string(), "x1".into()][..], 2));
}

#[test]
fn a_header_can_be_said_to_be_there_or_not() {
    let with = |header| table("1,2\n3,4\n", &Selection { header: Some(header), ..Selection::default() }).unwrap();
    assert_eq!((with(true).columns(), with(true).len()), (&["1".to_string(), "2".into()][..], 1));
    assert_eq!(with(false).len(), 2);
}

#[test]
fn a_header_is_seen_in_the_wanted_columns_only() {
    // The first field is text in every row, so it does not make the first row a header.
    let selection = Selection { columns: columns(&["1", "2"]), ..Selection::default() };
    let points = table("A,1,2\nB,3,4\n", &selection).unwrap();
    assert_eq!((points.len(), points.columns()), (2, &["x1".to_string(), "x2".into()][..]));
    assert_eq!(table("id,p,q\nA,1,2\nB,3,4\n", &selection).unwrap().columns(), ["p", "q"]);
    assert_eq!(plain("A,1,2\nB,3,4\n").values(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(plain("A,1,2\n").values(), [1.0, 2.0]);
}

#[test]
fn columns_come_in_the_order_they_were_asked_for() {
    let selection = Selection { columns: columns(&["c", "0"]), ..Selection::default() };
    let points = table("a,b,c\n1,2,3\n4,5,6\n", &selection).unwrap();
    assert_eq!((points.columns(), points.values()), (&["c".to_string(), "a".into()][..], &[3.0, 1.0, 6.0, 4.0][..]));
}

#[test]
fn a_name_goes_before_an_index_of_the_same_text() {
    let selection = Selection { columns: columns(&["1"]), header: Some(true), ..Selection::default() };
    assert_eq!(table("1,0\n7,8\n", &selection).unwrap().values(), [7.0]);
}

#[test]
fn without_a_choice_all_numeric_columns_but_weights_and_id_are_taken() {
    let text = "site,x,kind,pop,y\nA,1,q,3,2\nB,4,r,0,5\n";
    let selection = Selection { weights: Some("pop".into()), id: Some("site".into()), ..Selection::default() };
    let points = table(text, &selection).unwrap();
    assert_eq!(points.columns(), ["x", "y"]);
    assert_eq!(points.weights().unwrap(), [3.0, 0.0]);
    assert_eq!(points.ids().unwrap(), ["A", "B"]);
    assert_eq!(points.name(), "points.csv");
}

#[test]
fn a_column_is_numeric_if_one_of_its_first_rows_is() {
    let mut text = String::from("a,b\n");
    text.push_str(&",1\n".repeat(99));
    text.push_str("5,1\n");
    // The 100th row has a number, so the column is numeric, and its missing values are faults.
    let error = table(&text, &Selection::default()).unwrap_err().to_string();
    assert!(error.ends_with("points.csv: 99 faults in all; the first 10 are shown"), "{error}");
}

#[test]
fn delimiters_are_found_out() {
    for delimiter in [",", ";", "\t", "|", " ", ", ", "  \t "] {
        let text = "a#b#c\n1.5#2#3\n4#5.25#-6e1\n".replace('#', delimiter);
        let points = plain(&text);
        assert_eq!(points.values(), [1.5, 2.0, 3.0, 4.0, 5.25, -60.0], "{delimiter:?}");
        assert_eq!(points.columns(), ["a", "b", "c"], "{delimiter:?}");
    }
    assert_eq!(plain("  1  2\n 3    4  \n").values(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(plain("one value\n1\n2\n").columns(), ["one value"]);
    assert_eq!(plain("when,what\n2020-01-01 00:00:00,5\n2020-01-02 00:00:00,6\n").columns(), ["what"]);
    assert_eq!(plain("name;x\n\"Doe, J\";1\n\"Roe, R\";2\n").columns(), ["x"]);
}

#[test]
fn a_mark_before_a_first_row_divided_by_spaces_makes_it_a_header() {
    assert_eq!(plain("# a b\n1 2\n3 4\n"), plain("a b\n1 2\n3 4\n"));
    // A row that was commented out must not be read as data.
    assert_eq!(plain("# 1 2\n3 4\n").values(), [3.0, 4.0]);
    assert_eq!(plain("#a,b\n1,2\n").columns(), ["#a", "b"]);
}

#[test]
fn a_given_delimiter_is_obeyed() {
    let selection = Selection { delimiter: Some(b';'), columns: columns(&["b"]), ..Selection::default() };
    assert_eq!(table("a,a;b\n1,2;3\n", &selection).unwrap().values(), [3.0]);
}

#[test]
fn line_ends_marks_and_blank_ends_do_not_matter() {
    let expected = plain("a,b\n1,2\n3,4\n");
    for text in [
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\n1,2\n3,4",
        "a,b\r1,2\r3,4\r",
        "\u{feff}a,b\n1,2\n3,4\n",
        "\n\na,b\n1,2\n3,4\n\n \n\r\n",
        "a,b\n 1, 2 \n3 ,4\n",
        "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
    ] {
        assert_eq!(plain(text), expected, "{text:?}");
    }
}

#[test]
fn quoted_fields_may_hold_anything() {
    let text = "id,x\n\"a,b\",1\n\"a\"\"b\",2\n\"two\nlines\",3\n\"\",4\nb\"c,5\n";
    let selection = Selection { id: Some("id".into()), ..Selection::default() };
    let points = table(text, &selection).unwrap();
    assert_eq!(points.ids().unwrap(), ["a,b", "a\"b", "two\nlines", "", "b\"c"]);
    assert_eq!(points.values(), [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn lines_are_counted_through_quotes_blank_lines_and_both_line_ends() {
    let text = "\nid,x\r\n\"two\r\nlines\",1\r\nb,oops\n";
    let selection = Selection { columns: columns(&["x"]), ..Selection::default() };
    assert_eq!(
        table(text, &selection).unwrap_err().to_string(),
        "points.csv, line 5, column 2 (\"x\"): expected a finite number, found \"oops\""
    );
}

#[test]
fn gzip_is_seen_by_its_bytes_and_members_are_one_text() {
    let expected = plain("a,b\n1,2\n3,4\n");
    assert_eq!(plain(gzip(b"a,b\n1,2\n3,4\n")), expected);
    assert_eq!(plain([gzip(b"a,b\n1,"), gzip(b"2\n3,4\n")].concat()), expected);
}

#[test]
fn files_are_read_by_content_whatever_their_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.csv", b"a,b\n1,2\n".to_vec()),
        ("a.csv.gz", b"a,b\n1,2\n".to_vec()),
        ("packed.csv", gzip(b"a,b\n1,2\n")),
        ("a.tsv", b"a\tb\n1\t2\n".to_vec()),
        ("a.tsv.gz", gzip(b"a\tb\n1\t2\n")),
        ("a.txt", b"a b\n1 2\n".to_vec()),
        ("table", b"a|b\n1|2\n".to_vec()),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let read = points(&path, &Selection::default()).unwrap();
        assert_eq!((read.values(), read.columns().len()), (&[1.0, 2.0][..], 2), "{name}");
        assert_eq!(read.name(), path.display().to_string());
    }
}

#[test]
fn a_table_longer_than_any_window_reads_whole() {
    let rows = 50_000;
    let text: String = (0..rows).map(|row| format!("{row},{}\n", row as f64 / 8.0)).collect();
    for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
        let points = points_from(&bytes[..], "long", &Selection::default()).unwrap();
        assert_eq!(points.len(), rows);
        assert!((0..rows).all(|row| points.row(row) == [row as f64, row as f64 / 8.0]));
    }
}

#[test]
fn bytes_that_arrive_one_by_one_make_the_same_table() {
    struct Slow<'a>(&'a [u8]);
    impl std::io::Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = 1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let text = "id,x\r\n\"a\"\"\nb\",1\r\n\"c\",2\r\n";
    let selection = Selection { id: Some("id".into()), ..Selection::default() };
    let slow = lehr_data::read::csv_points(Slow(text.as_bytes()), "points.csv", &selection).unwrap();
    assert_eq!(slow, table(text, &selection).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Checks that tables written by the `csv` crate, with any of our delimiters, are read correctly.
    #[test]
    fn tables_written_by_another_program_read_the_same(
        rows in prop::collection::vec((".{0,12}", any::<f64>().prop_filter("finite", |x| x.is_finite()), -1e6..1e6f64), 1..30),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|']),
        crlf in any::<bool>(),
    ) {
        // A zero byte is refused on purpose, because no text has one.
        prop_assume!(rows.iter().all(|(id, _, _)| !id.contains('\0')));
        let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).terminator(terminator).from_writer(Vec::new());
        writer.write_record(["name", "x", "y"]).unwrap();
        for (id, x, y) in &rows {
            writer.write_record([id.clone(), format!("{x:?}"), y.to_string()]).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let selection =
            Selection { id: Some("name".into()), delimiter: Some(delimiter), columns: columns(&["x", "y"]), ..Selection::default() };
        let points = table(&bytes, &selection).unwrap();
        prop_assert_eq!(points.len(), rows.len());
        for (row, (id, x, y)) in rows.iter().enumerate() {
            prop_assert_eq!(&points.ids().unwrap()[row], id);
            prop_assert_eq!(points.row(row), [*x, *y]);
        }
    }
}

fn with_gaps(table: &str) -> Result<lehr_data::Incomplete, lehr_data::Error> {
    lehr_data::read::incomplete_from(table.as_bytes(), "records.csv", &Selection::default())
}

#[test]
fn a_column_that_begins_with_gaps_is_numeric_if_numbers_follow() {
    // There are more missing values than rows that are examined first.
    let gaps: String = (0..150).map(|row| format!("{row},NA,\n")).collect();
    let records = with_gaps(&format!("x,late,nothing\n{gaps}150,5,\n151,,\n")).unwrap();
    assert_eq!(records.columns(), ["x", "late"]);
    assert_eq!((records.len(), records.missing(), records.row(150)), (152, 151, &[150.0, 5.0][..]));
}

#[test]
fn columns_with_gaps_keep_the_order_in_which_they_were_chosen() {
    let selection = Selection { columns: crate::columns(&["c", "a"]), id: Some("b".into()), ..Selection::default() };
    let records = lehr_data::read::incomplete_from("a,b,c\n1,p,3\n,q,6\n".as_bytes(), "r.csv", &selection).unwrap();
    assert_eq!((records.columns(), records.row(0)), (&["c".to_string(), "a".into()][..], &[3.0, 1.0][..]));
    assert!(records.row(1)[0] == 6.0 && records.row(1)[1].is_nan());
}

#[test]
fn text_behind_gaps_is_left_out_and_told_if_most_of_it_is_numbers() {
    let gaps: String = (0..120).map(|row| format!("{row},,\n")).collect();
    let records = with_gaps(&format!("x,text,late\n{gaps}120,5,1\n121,word,2\n")).unwrap();
    assert_eq!(records.columns(), ["x", "late"]);
    assert_eq!(records.row(121), [121.0, 2.0]);
    let numbers: String = (0..200).map(|row| format!("{row},{row},\n")).collect();
    let message = with_gaps(&format!("x,mixed,late\n{gaps}{numbers}320,word,\n")).unwrap_err().to_string();
    assert_eq!(
        message,
        "records.csv, column 2 (\"mixed\"): expected a number in the first 100 rows of a numeric column, or a choice of columns, \
         found none there, and numbers in 200 of 321 rows"
    );
}
