//! Messages to users, word for word. `UPDATE_EXPECT=1` rewrites the expected texts; review the difference like code.

use std::path::Path;

use expect_test::{Expect, expect};
use lehr_data::error::Class;
use lehr_data::read::{self, Selection};

use crate::{columns, gzip, table};

fn refused(text: impl AsRef<[u8]>, selection: &Selection, expected: &Expect) {
    let error = table(text, selection).unwrap_err();
    assert_eq!(error.class(), Class::Data);
    expected.assert_eq(&error.to_string());
}

fn by_default(text: impl AsRef<[u8]>, expected: &Expect) {
    refused(text, &Selection::default(), expected);
}

fn weighted() -> Selection {
    Selection { weights: Some("pop".into()), ..Selection::default() }
}

fn chosen(names: &[&str]) -> Selection {
    Selection { columns: columns(names), ..Selection::default() }
}

#[test]
fn text_in_a_numeric_column() {
    let text = "id,width,area\na,1,2\nb,2,3\nc,1,1\nd,4,5\ne,2,2\nf,1,n/a\n";
    by_default(text, &expect![[r#"points.csv, line 7, column 3 ("area"): expected a finite number, found "n/a""#]]);
}

#[test]
fn numbers_that_are_not_finite() {
    by_default(
        "a,b\n1,2\nNaN,inf\n1e999,\n-Infinity,0x10\n",
        &expect![[r#"
        points.csv, line 3, column 1 ("a"): expected a finite number, found "NaN"
        points.csv, line 3, column 2 ("b"): expected a finite number, found "inf"
        points.csv, line 4, column 1 ("a"): expected a finite number, found "1e999"
        points.csv, line 4, column 2 ("b"): expected a finite number, found an empty field
        points.csv, line 5, column 1 ("a"): expected a finite number, found "-Infinity"
        points.csv, line 5, column 2 ("b"): expected a finite number, found "0x10"
        points.csv: 6 faults in all"#]],
    );
}

#[test]
fn more_faults_than_anybody_reads() {
    let text = format!("a,b\n1,2\n{}", "x,y\n".repeat(600));
    by_default(
        text,
        &expect![[r#"
        points.csv, line 3, column 1 ("a"): expected a finite number, found "x"
        points.csv, line 3, column 2 ("b"): expected a finite number, found "y"
        points.csv, line 4, column 1 ("a"): expected a finite number, found "x"
        points.csv, line 4, column 2 ("b"): expected a finite number, found "y"
        points.csv, line 5, column 1 ("a"): expected a finite number, found "x"
        points.csv, line 5, column 2 ("b"): expected a finite number, found "y"
        points.csv, line 6, column 1 ("a"): expected a finite number, found "x"
        points.csv, line 6, column 2 ("b"): expected a finite number, found "y"
        points.csv, line 7, column 1 ("a"): expected a finite number, found "x"
        points.csv, line 7, column 2 ("b"): expected a finite number, found "y"
        points.csv: 1200 faults in all; the first 10 are shown"#]],
    );
}

#[test]
fn ragged_rows() {
    by_default(
        "a,b,c,d\n1,2,3,4\n1,2,3\n1,2,3,4,5\n\n1,2,3,4\n",
        &expect![[r#"
        points.csv, line 3: expected 4 fields, found 3
        points.csv, line 4: expected 4 fields, found 5
        points.csv: 2 faults in all"#]],
    );
}

#[test]
fn rows_that_are_too_short_hide_no_other_fault() {
    by_default(
        "name;a;b\nx;1,5;2\ny;2,5\nz;3,5;\nu;4,5;u\n",
        &expect![[r#"
            points.csv, line 3: expected 3 fields, found 2
            points.csv, line 4, column 3 ("b"): expected a finite number, found an empty field
            points.csv, line 5, column 3 ("b"): expected a finite number, found "u"
            points.csv: 3 faults in all"#]],
    );
}

#[test]
fn no_header_and_a_gap_in_the_first_row() {
    by_default(
        "1,2,n/a\n3,4,5\n",
        &expect![[r#"points.csv, line 1, column 3: expected a finite number, found "n/a""#]],
    );
}

#[test]
fn no_header_and_a_slip_in_the_first_row() {
    by_default(
        "1,2,3.5x\n3,4,5\n",
        &expect![[r#"points.csv, line 1, column 3: expected a finite number, found "3.5x""#]],
    );
    // There is no number beside them, so these are names.
    assert_eq!(table("1st,2nd\n3,4\n", &Selection::default()).unwrap().columns(), ["1st", "2nd"]);
    // These are names beside numbers that are names too.
    assert_eq!(table("age,2019\n3,4\n", &Selection::default()).unwrap().columns(), ["age", "2019"]);
}

#[test]
fn nothing_to_read() {
    by_default("", &expect!["points.csv: expected rows of numbers, found an empty file"]);
    by_default("\n \r\n", &expect!["points.csv: expected rows of numbers, found an empty file"]);
    by_default("a,b,c\n", &expect!["points.csv: expected rows of numbers, found a header and no rows"]);
    refused(
        "lon,lat\n",
        &chosen(&["lon", "lat"]),
        &expect!["points.csv: expected rows of numbers, found a header and no rows"],
    );
    refused(
        "lon,lat\n",
        &chosen(&["lon", "lon2"]),
        &expect![[r#"points.csv: expected a column "lon2", found the columns "lon", "lat"; did you mean "lon"?"#]],
    );
    by_default(
        "name,kind\na,b\nc,d\n",
        &expect![[r#"points.csv: expected a column of numbers, found none among the columns "name", "kind""#]],
    );
}

#[test]
fn numbers_with_commas_are_read_and_what_is_none_is_refused() {
    // The delimiter is the semicolon, although commas split these rows into more numbers.
    let points = table("width;height\n1,5;2,5\n3,25;4\n", &Selection::default()).unwrap();
    assert_eq!(points.values(), [1.5, 2.5, 3.25, 4.0]);
    assert_eq!(table("name;width\na;1,5\nb;1.234,5\n", &Selection::default()).unwrap().values(), [1.5, 1234.5]);
    refused(
        "name,width\na,\"1,5\"\nb,\"one, two\"\n",
        &chosen(&["width"]),
        &expect![[r#"points.csv, line 3, column 2 ("width"): expected a finite number, found "one, two""#]],
    );
}

#[test]
fn all_columns_that_cannot_be_read_are_told_at_once() {
    by_default(
        "name;a;b;c\nx;1,5;3 %;€ 5\ny;2,5;4 %;\nz;3,5;n/a;€ 6\nu;4,x;5 %;€ 7\n",
        &expect![[r#"
            points.csv, line 3, column 4 ("c"): expected a finite number, found an empty field
            points.csv, line 4, column 3 ("b"): expected a finite number, found "n/a"
            points.csv, line 5, column 2 ("a"): expected a finite number, found "4,x"
            points.csv: 3 faults in all"#]],
    );
}

#[test]
fn missing_values_are_counted_among_the_faults() {
    let gaps = |text: &str| table(text, &Selection::default()).unwrap_err().gaps();
    assert_eq!(gaps("a,b\n1,2\n,NaN\n3,n/a\n"), 3);
    assert_eq!(gaps("a,b\n1,2\ninf,x\n3\n"), 0, "text, infinities and rows that are too short are no gaps");
}

#[test]
fn what_another_reader_takes() {
    let said =
        |text: &str| read::points_from(text.as_bytes(), "points.csv", &Selection::default()).unwrap_err().to_string();
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found sequences in FASTA"]
        .assert_eq(&said(">a\nACGT\n>b\nACGA\n"));
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found sequences with qualities, in FASTQ"]
        .assert_eq(&said("@r1\nACGT\n+\nIIII\n"));
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found dissimilarities of all pairs"]
        .assert_eq(&said("{\"format\": \"lehr dissimilarities 1\", \"items\": 2}"));
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found a document in JSON other than an array of objects, or an object on each line"]
        .assert_eq(&said("{\"a\": 1}\n"));
}

#[test]
fn columns_that_are_not_there() {
    let text = "id,area,lon,lat\n1,2,3,4\n";
    refused(
        text,
        &chosen(&["aera", "lat", "height", "9"]),
        &expect![[r#"
            points.csv: expected a column "aera", found the columns "id", "area", "lon", "lat"; did you mean "area"?
            points.csv: expected a column "height", found the columns "id", "area", "lon", "lat"
            points.csv: expected a column of index 9 (counted from 0), found 4 columns: "id", "area", "lon", "lat""#]],
    );
    refused(
        text,
        &weighted(),
        &expect![[r#"points.csv: expected a column "pop", found the columns "id", "area", "lon", "lat""#]],
    );
    refused(
        text,
        &chosen(&["lon", "lat", "2"]),
        &expect![[r#"points.csv: expected each column to be chosen once, found "lon" twice"#]],
    );
}

#[test]
fn wrong_weights() {
    refused(
        "x,pop\n1,5\n2,-3\n3,many\n4,nan\n",
        &weighted(),
        &expect![[r#"
        points.csv, line 3, column 2 ("pop"): expected a weight of 0 or more, found "-3"
        points.csv, line 4, column 2 ("pop"): expected a finite number, found "many"
        points.csv, line 5, column 2 ("pop"): expected a finite number, found "nan"
        points.csv: 3 faults in all"#]],
    );
    refused(
        "x,pop\n1,0\n2,0\n",
        &weighted(),
        &expect![[r#"points.csv, column 2 ("pop"): expected at least one weight above 0, found 0 in all 2 rows"#]],
    );
}

#[test]
fn a_column_that_becomes_numeric_later() {
    let text = format!("a,income\n{}{}", "1,\n".repeat(100), "1,7\n".repeat(900));
    by_default(
        text,
        &expect![[
            r#"points.csv, column 2 ("income"): expected a number in the first 100 rows of a numeric column, or a choice of columns, found none there, and numbers in 900 of 1000 rows"#
        ]],
    );
}

#[test]
fn wrong_encodings() {
    by_default(
        "é,x\nü,1\n?,2\n".bytes().map(|byte| if byte == b'?' { 0xfc } else { byte }).collect::<Vec<u8>>(),
        &expect!["points.csv, line 3, byte 10 of the text: expected UTF-8, found the byte FC ('ü' in Latin-1)"],
    );
    by_default(
        b"a,b\n1,2\n3\0,4\n",
        &expect![
            "points.csv, line 3, byte 9 of the text: expected UTF-8, found a zero byte, as UTF-16, UTF-32 and binary files have"
        ],
    );
    // Text in another known encoding is read.
    let points = table(b"name,x\nZ\xfcrich,1\n", &Selection::default()).unwrap();
    assert_eq!(points.left_out()[0].example, "Zürich");
    assert_eq!(table(b"\xff\xfea\0,\0b\0\n\x001\0,\x002\0\n\0", &Selection::default()).unwrap().len(), 1);
    assert_eq!(table(b"\xfe\xff\0a\0,\0b\0\n\x001\0,\x002", &Selection::default()).unwrap().len(), 1);
    assert_eq!(table(b"a\0,\0b\0\n\x001\0,\x002\0\n\0", &Selection::default()).unwrap().len(), 1);
}

#[test]
fn files_cut_short_or_damaged() {
    let text = (0..20_000).map(|row| format!("{row},{}\n", row * 7919 % 10_007)).collect::<String>();
    let whole = gzip(text.as_bytes());
    let cut = table(&whole[..whole.len() / 2], &Selection::default()).unwrap_err().to_string();
    // The decompressor decides how much of a cut file it unpacks, so compare only the words and the unit.
    let (before, after) = cut.split_once(" after ").unwrap();
    expect!["points.csv: expected the rest of a gzip file, found the end of the file"].assert_eq(before);
    assert!(after.contains(" unpacked bytes (") && after.ends_with(" lines)"), "{cut}");
    let mut damaged = gzip(b"a,b\n1,2\n");
    let checksum = damaged.len() - 8;
    damaged[checksum] ^= 1;
    by_default(
        damaged,
        &expect![
            "points.csv: expected a sound gzip file, found damage after 8 unpacked bytes (0 lines): corrupt gzip stream does not have a matching checksum"
        ],
    );
    by_default(
        "a,b\n1,2\n3,\"4\n5,6\n",
        &expect![[
            r#"points.csv, line 3: expected a quote that opens a field to be closed, found none closing in the record that starts "3,\"4\n5,6\n""#
        ]],
    );
}

#[test]
fn formats_that_are_not_read() {
    let said = |bytes: &[u8]| read::points_from(bytes, "points.csv", &Selection::default()).unwrap_err().to_string();
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found a ZIP archive (as .npz and .xlsx files are)"]
        .assert_eq(&said(b"PK\x03\x04 and so on"));
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found an HDF5 file"]
        .assert_eq(&said(b"\x89HDF\r\n\x1a\n and so on"));
    expect!["points.csv: expected a table of text, an NPY or a Parquet file, found a Zstandard file"]
        .assert_eq(&said(b"\x28\xb5\x2f\xfd and so on"));
}

#[test]
fn files_that_cannot_be_opened() {
    let error = read::points(Path::new("no/such/points.csv"), &Selection::default()).unwrap_err();
    assert_eq!(error.class(), Class::Environment);
    expect!["no/such/points.csv: no such file"].assert_eq(&error.to_string());
    let error = read::points(Path::new("src"), &Selection::default()).unwrap_err();
    assert_eq!(error.class(), Class::Environment);
    expect!["src: expected a file, found a directory"].assert_eq(&error.to_string());
}
