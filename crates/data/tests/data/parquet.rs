//! Tests Parquet files: rows are the same as with other readers, in memory and in a file, whole and in batches. Also
//! tests the messages for files that cannot be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lehr_data::read::{Batches, Selection, Table, array_shape, incomplete, points, points_from, spilled_table};
use lehr_data::{Error, Points, Spill};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::{columns, gzip};

/// Returns the path of a file that another program wrote (`parquet/README.md`).
fn foreign(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parquet").join(name)
}

/// Returns the error message without the folder of the file.
fn said(path: &Path, selection: &Selection) -> String {
    let text = points(path, selection).unwrap_err().to_string();
    text.replace(&path.display().to_string(), "f")
}

/// A row of the tables that the tests write: a number, a whole number if there is one, and a name.
type Row = (f64, Option<i64>, String);

fn rows(count: usize) -> Vec<Row> {
    (0..count)
        .map(|row| {
            (row as f64 / 3.0, (row % 5 != 4).then_some(row as i64 - 7), format!("common beginning {}", row % 11))
        })
        .collect()
}

/// Writes the columns `x`, `n` and `name`, with `group` rows in each group.
fn write(path: &Path, rows: &[Row], group: usize, properties: WriterProperties) {
    let schema = "message rows { REQUIRED DOUBLE x; OPTIONAL INT64 n; REQUIRED BINARY name (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let numbers: Vec<f64> = rows.iter().map(|row| row.0).collect();
        column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let levels: Vec<i16> = rows.iter().map(|row| row.1.is_some().into()).collect();
        let there: Vec<i64> = rows.iter().filter_map(|row| row.1).collect();
        column.typed::<Int64Type>().write_batch(&there, Some(&levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let names: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(row.2.as_str())).collect();
        column.typed::<ByteArrayType>().write_batch(&names, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn chosen(wanted: &[&str], id: Option<&str>) -> Selection {
    Selection { columns: columns(wanted), id: id.map(str::to_owned), ..Selection::default() }
}

#[test]
fn rows_of_a_file_are_those_that_were_written_in_every_packing_encoding_and_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    // Blocks have at most 8192 rows, so groups end both within a block and at its end.
    let rows = rows(20_000);
    for codec in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(Default::default())] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (group, encoding) in
                [(8192, None), (7000, Some(Encoding::DELTA_BYTE_ARRAY)), (20_000, Some(Encoding::PLAIN))]
            {
                let mut properties = WriterProperties::builder().set_compression(codec).set_writer_version(version);
                if let Some(encoding) = encoding {
                    properties = properties.set_dictionary_enabled(false).set_column_encoding("name".into(), encoding);
                }
                write(&path, &rows, group, properties.build());
                let read = points(&path, &chosen(&["x"], Some("name"))).unwrap();
                assert!(read.values().iter().eq(rows.iter().map(|row| &row.0)), "{codec:?} {version:?} {group}");
                assert!(read.ids().unwrap().iter().eq(rows.iter().map(|row| &row.2)), "{codec:?} {version:?} {group}");
                let gaps = incomplete(&path, &chosen(&["n", "x"], None)).unwrap();
                assert_eq!((gaps.len(), gaps.missing()), (rows.len(), rows.len() / 5));
                for (row, (x, n, _)) in rows.iter().enumerate() {
                    let number = n.map_or(f64::NAN, |number| number as f64);
                    assert_eq!(
                        gaps.row(row).iter().map(|value| value.to_bits()).collect::<Vec<_>>(),
                        [number.to_bits(), x.to_bits()]
                    );
                }
            }
        }
    }
}

#[test]
fn rows_are_the_same_in_memory_in_a_file_and_some_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut rows = rows(10_000);
    // Some of the weights are 0.
    rows.iter_mut().enumerate().for_each(|(row, of)| of.1 = Some((row % 3) as i64));
    write(&path, &rows, 3333, WriterProperties::builder().set_compression(Compression::SNAPPY).build());
    let selection = Selection { weights: Some("n".into()), ..chosen(&["x"], Some("name")) };
    let whole = points(&path, &selection).unwrap();
    let spill = Spill::new(folder.path());
    let Table::Numbers(spilled) = spilled_table(&path, &selection, None, &spill).unwrap() else { panic!("no numbers") };
    assert!(spilled.spill() == Some(&spill) && spilled == whole);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left of the file");
    let heavy: Vec<usize> = (0..rows.len()).filter(|row| row % 3 > 0).collect();
    for count in [1000, 5000, 20_000] {
        let mut batches = Batches::open(&path, &selection).unwrap();
        let (mut at, mut before) = (0, 0.0);
        while let Some(batch) = batches.next(count).unwrap() {
            assert_eq!(batch.len(), count.min(heavy.len() - at));
            for (place, &row) in heavy[at..at + batch.len()].iter().enumerate() {
                assert_eq!((batch.row(place), batch.weight(place)), (whole.row(row), whole.weight(row)));
                assert_eq!(batch.ids().unwrap()[place], whole.ids().unwrap()[row]);
            }
            at += batch.len();
            let fraction = batches.fraction().unwrap();
            assert!(fraction > before && fraction <= 1.0, "{fraction} after {before}");
            before = fraction;
        }
        assert_eq!((at, batches.fraction()), (heavy.len(), Some(1.0)));
        assert!(batches.next(count).unwrap().is_none());
    }
}

#[test]
fn what_polars_writes_is_read_and_what_is_no_number_is_left_out_and_told() {
    let path = foreign("polars.parquet");
    assert_eq!(array_shape(&path).unwrap(), Some([5, 6]));
    let wanted = Selection {
        columns: columns(&["x", "n", "u", "is_open", "half"]),
        id: Some("site".into()),
        ..Selection::default()
    };
    let read = points(&path, &wanted).unwrap();
    assert_eq!(read.row(2), [2.5, 3.0, 4_294_967_295.0, 1.0, 0.75]);
    assert_eq!(read.ids().unwrap(), ["a", "b", "c", "d", "e"]);
    let rows = incomplete(&path, &Selection { id: Some("u".into()), ..Selection::default() }).unwrap();
    assert_eq!(rows.columns(), ["x", "n", "is_open", "half", "gap"]);
    assert_eq!((rows.missing(), rows.row(4)[4], rows.ids().unwrap()[2].as_str()), (2, 5.0, "4294967295"));
    let told: Vec<String> = rows.left_out().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["site (\"a\")", "day (dates)"]);
    assert_eq!(
        said(&path, &Selection::default()),
        "f, row 2, column 8 (\"gap\"): expected a finite number, found no value\n\
         f, row 4, column 8 (\"gap\"): expected a finite number, found no value\n\
         f: 2 faults in all"
    );
    assert_eq!(points(&path, &Selection::default()).unwrap_err().gaps(), 2);

    let groups = points(&foreign("polars_groups.parquet"), &Selection::default()).unwrap();
    assert_eq!(groups.len(), 3000);
    assert!((0..3000).all(|row| groups.row(row) == [(row % 7) as f64, (row / 10) as f64]));
}

#[test]
fn the_index_of_a_pandas_table_is_none_of_its_data_unless_it_is_asked_for() {
    let path = foreign("pandas.parquet");
    let read = points(&path, &Selection::default()).unwrap();
    assert_eq!((read.columns(), read.row(1)), (&["x".to_owned(), "is_open".to_owned()][..], &[1.5, 0.0][..]));
    let told: Vec<String> = read.left_out().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["kind (\"a\")", "when (times)", "number (the index of a pandas table)"]);
    let named = points(&path, &chosen(&["number"], Some("kind"))).unwrap();
    assert_eq!((named.values(), &named.ids().unwrap()[1]), (&[11.0, 12.0, 13.0][..], &"b".to_owned()));
    let unnamed = points(&foreign("pandas_unnamed.parquet"), &Selection::default()).unwrap();
    assert_eq!(
        (unnamed.columns(), unnamed.values()),
        (&["x".to_owned(), "y".to_owned()][..], &[1.0, 3.0, 2.0, 4.0][..])
    );
    let numbered = Selection { id: Some("__index_level_0__".into()), ..Selection::default() };
    assert_eq!(points(&foreign("pandas_unnamed.parquet"), &numbered).unwrap().ids().unwrap(), ["5", "9"]);
}

#[test]
fn columns_that_cannot_be_meant_are_told() {
    let path = foreign("polars.parquet");
    for (selection, words) in [
        (
            chosen(&["site", "x", "day"], None),
            "f, column 1 (\"site\"): expected a column of numbers, found text\nf, column 6 (\"day\"): expected a column of numbers, found dates\nf: 2 faults in all",
        ),
        (chosen(&["x"], Some("day")), "f, column 6 (\"day\"): expected a column of text or numbers, found dates"),
        (
            Selection { weights: Some("site".into()), ..Selection::default() },
            "f, column 1 (\"site\"): expected a column of numbers, found text",
        ),
        (chosen(&["x", "1"], None), "f: expected each column to be chosen once, found \"x\" twice"),
        (
            Selection { columns: Some(Vec::new()), ..Selection::default() },
            "f: expected a choice of at least one column, found none",
        ),
    ] {
        assert_eq!(said(&path, &selection), words);
    }
    assert!(
        said(&path, &chosen(&["X"], None)).starts_with("f: expected a column \"X\", found the columns \"site\", \"x\"")
    );
    // A missing weight is a fault for every reader, even for readers of missing values.
    let weights = Selection { weights: Some("gap".into()), ..chosen(&["x"], None) };
    assert!(
        said(&path, &weights).starts_with("f, row 2, column 8 (\"gap\"): expected a finite number, found no value\n")
    );
    assert_eq!(points(&path, &weights).unwrap_err().gaps(), 0);
}

#[test]
fn what_is_wrong_in_rows_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let mut rows = rows(9000);
    rows.iter_mut().for_each(|row| row.1 = Some(1));
    rows[8500].0 = f64::INFINITY;
    rows[8999].0 = f64::NAN;
    write(&path, &rows, 4000, WriterProperties::new());
    let faults = "f, row 8501, column 1 (\"x\"): expected a finite number, found inf\n\
                  f, row 9000, column 1 (\"x\"): expected a finite number, found NaN\n\
                  f: 2 faults in all";
    assert_eq!(said(&path, &Selection::default()), faults);
    let infinite = incomplete(&path, &Selection::default()).unwrap_err().to_string();
    assert!(
        infinite.ends_with("row 8501, column 1 (\"x\"): expected a finite number, or a missing one, found inf"),
        "{infinite}"
    );
    let mut batches = Batches::open(&path, &Selection::default()).unwrap();
    assert_eq!(batches.next(8000).unwrap().unwrap().len(), 8000);
    assert!(matches!(batches.next(8000), Err(Error::Faults(faults)) if faults.total() == 2));
    assert!(batches.next(8000).unwrap().is_none());

    rows.iter_mut().for_each(|row| *row = (1.0, Some(0), String::new()));
    write(&path, &rows, 9000, WriterProperties::new());
    let weightless = Selection { weights: Some("n".into()), ..Selection::default() };
    let words = "f, column 2 (\"n\"): expected at least one weight above 0, found 0 in all 9000 rows";
    assert_eq!(said(&path, &weightless), words);
    let mut batches = Batches::open(&path, &weightless).unwrap();
    assert!(batches.next(10).unwrap_err().to_string().ends_with(words.trim_start_matches('f')));
    assert!(batches.next(10).unwrap().is_none());
    write(&path, &[], 1, WriterProperties::new());
    assert_eq!(said(&path, &Selection::default()), "f: expected rows of numbers, found a Parquet file of no rows");
}

#[test]
fn a_file_that_is_none_or_comes_as_a_stream_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(foreign("polars.parquet")).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let text = file("t.parquet", b"x,y\n1,2\n");
    assert!(said(&text, &Selection::default()).starts_with("f: expected a Parquet file that can be read here, found "));
    assert!(said(&file("empty.parquet", b""), &Selection::default()).ends_with("found 0 bytes in all"));
    let cut = file("cut.parquet", &whole[..whole.len() - 9]);
    assert!(said(&cut, &Selection::default()).starts_with("f: expected a Parquet file that can be read here, found "));
    // Under another name, the file is recognised by its first bytes.
    let renamed = file("t.data", &whole);
    assert_eq!(points(&renamed, &chosen(&["x"], None)).unwrap().len(), 5);
    let packed = said(&file("t.data.gz", &gzip(&whole)), &Selection::default());
    assert!(packed.ends_with("found a Parquet file in a stream, or packed by gzip as a whole"), "{packed}");
    let streamed = points_from(&whole[..], "s", &Selection::default()).unwrap_err().to_string();
    assert_eq!(
        streamed,
        "s: expected a table of text or an NPY file, or a Parquet file on a disk, whose end says what is in it, found a Parquet file in a stream, or packed by gzip as a whole"
    );
}

#[test]
fn ids_that_are_no_text_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write(&path, &rows(20), 20, WriterProperties::new());
    let mut bytes = std::fs::read(&path).unwrap();
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(b"common") {
            bytes[at] = 0xff;
        }
    }
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(points(&path, &chosen(&["x"], None)).unwrap().len(), 20);
    let said = said(&path, &chosen(&["x"], Some("name")));
    assert!(
        said.starts_with("f, column 3 (\"name\"): expected a Parquet file that can be read here, found "),
        "{said}"
    );
    assert!(said.ends_with("text that is not UTF-8"), "{said}");
}

#[test]
fn any_damage_is_told_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    for name in ["polars.parquet", "pandas.parquet"] {
        let whole = std::fs::read(foreign(name)).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            std::fs::write(&path, &bytes).unwrap();
            // Whatever was changed, the result is rows or an error.
            let read: Result<Points, Error> = points(&path, &chosen(&["x", "is_open"], None));
            if let Err(error) = read {
                assert!(!error.is_environment() || matches!(error, Error::Memory { .. }), "byte {at}: {error}");
            }
        }
    }
}

#[test]
fn whole_numbers_that_are_rounded_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.parquet");
    let large = |row: &Row| (row.0, row.1.map(|number| number + (1 << 53) + 8), row.2.clone());
    let rows: Vec<Row> = rows(4).iter().map(large).collect();
    write(&path, &rows, 2, WriterProperties::default());
    let told =
        "\"n\" has whole numbers that are rounded to 53 bits, such as 9007199254740993: for names of rows, use --id";
    assert_eq!(points(&path, &chosen(&["x", "n"], None)).unwrap().notes(), [told]);
    assert_eq!(incomplete(&path, &chosen(&["x", "n"], None)).unwrap().notes(), [told]);
    assert!(points(&path, &chosen(&["x"], None)).unwrap().notes().is_empty());
    let frame = lehr_data::read::data_frame(&path, &lehr_data::read::TableForm::default()).unwrap();
    assert_eq!(frame.notes(), [told]);
}
