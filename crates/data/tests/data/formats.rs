//! Tests one table in every supported format: data frames and points have bit-identical values.

use lehr_data::frame::{DataFrame, Values};
use lehr_data::read::{Format, Selection, TableForm, data_frame_from, incomplete_from, points_from};

use crate::frame::{numbers, texts, with};

const ENGLISH: &str = "shop,day,sales,share,open,visits\n\
    Bern,4/23/2021,\"$1,818.99\",1.7%,yes,\"1,204\"\n\
    Zürich,4/24/2021,($12.50),0.3%,no,980\n\
    Genève,5/1/2021,N/A,12.25%,yes,\"15,300\"\n\
    Basel,12/31/2020,\"$1,000,000.01\",0.1%,yes,\n";

const GERMAN: &str = "sep=;\n\
    shop;day;sales;share;open;visits\n\
    Bern;23.04.2021;1.818,99 €;1,7;ja;1.204\n\
    Zürich;24.04.2021;-12,50 €;0,3;nein;980\n\
    Genève;01.05.2021;k.A.;12,25;ja;15.300\n\
    Basel;31.12.2020;1.000.000,01 €;0,1;ja;-\n\
    Summe;;1.001.806,50 €;14,35;;17.484\n";

const FRENCH: &str = "Ventes des magasins\n\n\
    shop\tday\tsales\tshare\topen\tvisits\n\
    Bern\t23/04/2021\t1 818,99\t1,7 %\toui\t1 204\n\
    Zürich\t24/04/2021\t-12,5\t0,3 %\tnon\t980\n\
    Genève\t01/05/2021\t\t12,25 %\toui\t15 300\n\
    Basel\t31/12/2020\t1 000 000,01\t0,1 %\toui\tNA\n";

const LINES: &str = r#"{"shop": "Bern", "day": "2021-04-23", "sales": 1818.99, "share": 1.7, "open": true, "visits": 1204}
{"shop": "Zürich", "day": "2021-04-24", "sales": -12.5, "share": 0.3, "open": false, "visits": 980}
{"shop": "Genève", "day": "2021-05-01", "sales": null, "share": 12.25, "open": true, "visits": 15300}
{"shop": "Basel", "day": "2020-12-31", "sales": 1000000.01, "share": 0.1, "open": true}
"#;

/// Returns the table in all formats, each with its file name and kind of file.
fn forms() -> Vec<(&'static str, Vec<u8>, Format)> {
    let array = format!("[{}]", LINES.trim_end().replace('\n', ",\n"));
    let utf16: Vec<u8> = format!("\u{feff}{GERMAN}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin: Vec<u8> = FRENCH.chars().map(|letter| letter as u8).collect();
    vec![
        ("english.csv", ENGLISH.into(), Format::Delimited),
        ("german.csv", GERMAN.into(), Format::Delimited),
        ("french.tsv", FRENCH.replace(' ', "\u{202f}").into(), Format::Delimited),
        ("utf16.csv", utf16, Format::Delimited),
        ("latin.tsv", latin, Format::Delimited),
        ("packed.csv.gz", crate::gzip(GERMAN.as_bytes()), Format::Delimited),
        ("lines.jsonl", LINES.into(), Format::JsonLines),
        ("array.json", array.into(), Format::Json),
        #[cfg(feature = "sheets")]
        ("shops.xlsx", include_bytes!("tables/shops.xlsx").to_vec(), Format::Xlsx),
        #[cfg(feature = "sheets")]
        ("shops.ods", include_bytes!("tables/shops.ods").to_vec(), Format::Ods),
    ]
}

fn read(name: &str, bytes: &[u8]) -> DataFrame {
    data_frame_from(bytes, name, &TableForm::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn check(name: &str, frame: &DataFrame) {
    let bits = |column: &str| numbers(frame, column).iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let of = |values: [f64; 4]| values.map(f64::to_bits).to_vec();
    let day = |days: f64| days * 86_400.0;
    assert_eq!(texts(frame, "shop"), ["Bern", "Zürich", "Genève", "Basel"], "{name}");
    assert_eq!(bits("day"), of([day(18_740.0), day(18_741.0), day(18_748.0), day(18_627.0)]), "{name}");
    assert!(matches!(frame.column("day").unwrap().values, Values::Times(_)), "{name}");
    assert_eq!(bits("sales"), of([1818.99, -12.5, f64::NAN, 1_000_000.01]), "{name}");
    assert_eq!(bits("share"), of([1.7, 0.3, 12.25, 0.1]), "{name}");
    assert_eq!(bits("open"), of([1.0, 0.0, 1.0, 1.0]), "{name}");
    assert_eq!(bits("visits"), of([1204.0, 980.0, 15_300.0, f64::NAN]), "{name}");
}

#[test]
fn one_table_has_the_same_values_in_every_form() {
    for (name, bytes, format) in forms() {
        let frame = read(name, &bytes);
        check(name, &frame);
        assert_eq!(frame.dialect().unwrap().format, format, "{name}");
    }
}

#[test]
fn methods_are_given_the_same_rows_of_numbers_in_every_form() {
    let selection = Selection { id: Some("shop".into()), ..Selection::default() };
    let mut all = forms().into_iter();
    let (name, bytes, _) = all.next().unwrap();
    let first = incomplete_from(&bytes[..], name, &selection).unwrap();
    assert_eq!(first.columns(), ["sales", "share", "visits"]);
    assert_eq!(first.missing(), 2);
    for (name, bytes, _) in all {
        let rows = incomplete_from(&bytes[..], name, &selection).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rows.fingerprint(), first.fingerprint(), "{name}");
        assert_eq!((rows.columns(), rows.ids()), (first.columns(), first.ids()), "{name}");
        let chosen = Selection { columns: crate::columns(&["share"]), ..selection.clone() };
        let points = points_from(&bytes[..], name, &chosen).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(points.values(), [1.7, 0.3, 12.25, 0.1], "{name}");
    }
}

#[test]
fn a_table_that_was_read_once_is_read_so_again() {
    for (name, bytes, _) in forms() {
        let frame = read(name, &bytes);
        let saved = serde_json::to_string(frame.dialect().unwrap()).unwrap();
        let dialect: lehr_data::read::Dialect = serde_json::from_str(&saved).unwrap();
        assert_eq!(&dialect, frame.dialect().unwrap());
        let columns = frame.columns().iter().map(|column| (column.name.clone(), column.read_as.clone())).collect();
        let form = TableForm { columns, ..dialect.form() };
        check(name, &data_frame_from(&bytes[..], name, &form).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
}

#[test]
fn objects_in_json_are_flattened_and_told() {
    let text = r#"[{"a": {"b": 1, "c": {"d": "u"}}, "l": [1, "y"]}, {"a": {"b": 2.5}, "e": "3,5"}]"#;
    let frame = read("t.json", text.as_bytes());
    let names: Vec<&str> = frame.columns().iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["a.b", "a.c.d", "l", "e"]);
    assert_eq!(numbers(&frame, "a.b"), [1.0, 2.5]);
    assert_eq!(texts(&frame, "l"), ["[1, \"y\"]", ""]);
    assert_eq!(numbers(&frame, "e")[1], 3.5);
    assert_eq!(
        frame.notes(),
        ["objects within \"a\", \"a.c\" are columns of their own", "lists in \"l\" are read as text"]
    );
    let said = |text: &str| data_frame_from(text.as_bytes(), "t.json", &TableForm::default()).unwrap_err().to_string();
    assert_eq!(said("[{\"a\": 1}, 5]"), "t.json, row 2: expected an object, as the rows before it are, found \"5\"");
    assert!(said("{\"a\": 1}\n{\"a\": }\n").starts_with("t.json, line 2: expected an object in JSON on each line"));
    assert!(
        said("{\"a\": {\"b\": 1}}")
            .ends_with("found a document in JSON other than an array of objects, or an object on each line")
    );
}

#[test]
fn what_json_does_not_hold_is_told_with_its_place_28() {
    let said = |text: &str| data_frame_from(text.as_bytes(), "t.jsonl", &TableForm::default()).unwrap_err().to_string();
    assert_eq!(said("[{\"a\": 1, \"a\": 2}]"), "t.jsonl, row 1: expected each name once, found \"a\" twice");
    assert_eq!(
        said("{\"a\": 1}\n{\"b\": {\"c\": 1}, \"b.c\": 2}\n"),
        "t.jsonl, line 2: expected each name once, found \"b.c\" twice"
    );
    let no_number = "which is no number of JSON; write null for a missing value";
    // Python writes these words.
    for word in ["NaN", "Infinity", "-Infinity"] {
        let found = said(&format!("{{\"a\": 1}}\n{{\"a\": {word}}}\n"));
        assert!(found.starts_with("t.jsonl, line 2: expected an object in JSON on each line"), "{found}");
        assert!(found.contains(&format!("found {word} at byte 7, {no_number}")), "{found}");
    }
    assert!(
        said("[{\"a\": 1},\n {\"a\": NaN}]")
            .starts_with("t.jsonl, line 2: expected an array in JSON, found NaN at byte 8")
    );
}

#[test]
fn lines_of_json_may_end_as_those_of_tables_do_28() {
    for end in ["\n", "\r\n", "\r"] {
        for name in ["t.jsonl", "t.json"] {
            let text = ["{\"a\": 1}", "{\"a\": 2}", ""].join(end);
            assert_eq!(numbers(&read(name, text.as_bytes()), "a"), [1.0, 2.0], "{name} {end:?}");
        }
    }
}

#[cfg(feature = "sheets")]
#[test]
fn a_workbook_says_which_sheet_and_rows_are_read() {
    let bytes = include_bytes!("tables/shops.xlsx");
    let frame = read("shops.xlsx", bytes);
    assert_eq!(
        frame.notes(),
        [
            "the first sheet with cells, \"data\", is read; there are also \"more\"",
            "lines 1 to 2 are a title, \"Sales of the shops\"; left out",
            "line 8, \"Total\", has the sums of the rows above; left out",
        ]
    );
    let dialect = frame.dialect().unwrap();
    assert_eq!((dialect.sheet.as_deref(), dialect.skipped, dialect.footer_rows), (Some("data"), 2, 1));
    let asked = |sheet: &str| {
        data_frame_from(&bytes[..], "shops.xlsx", &TableForm { sheet: Some(sheet.into()), ..TableForm::default() })
    };
    for sheet in ["more", "3"] {
        let more = asked(sheet).unwrap();
        assert_eq!((numbers(&more, "x"), numbers(&more, "when")), (vec![1.0], vec![1_619_172_930.0]));
        assert_eq!(crate::frame::read_as(&more, "when"), "date and time, year-month-day");
    }
    assert_eq!(
        asked("none").unwrap_err().to_string(),
        "shops.xlsx: expected a sheet \"none\", found the sheets \"cover\", \"data\", \"more\""
    );
    // A damaged file is reported, and nothing panics.
    for end in (4..bytes.len()).step_by(97) {
        assert!(data_frame_from(&bytes[..end], "shops.xlsx", &TableForm::default()).is_err());
    }
}

#[cfg(feature = "parquet")]
#[test]
fn columns_of_parquet_have_the_types_of_the_file() {
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tables/shops.parquet"));
    let frame = lehr_data::read::data_frame(path, &TableForm::default()).unwrap();
    check("shops.parquet", &frame);
    assert_eq!(numbers(&frame, "when")[0], 18_740.0 * 86_400.0 + 36_900.0);
    assert_eq!((frame.dialect().unwrap().format, frame.notes()), (Format::Parquet, &[][..]));
}

#[test]
fn an_array_of_numpy_is_a_table_of_numbers() {
    let mut bytes = Vec::new();
    lehr_data::write::npy::array(&mut bytes, &[1.0, f64::NAN, 3.0, 4.0], 2).unwrap();
    let frame = with(&bytes, &TableForm::default());
    assert_eq!((numbers(&frame, "x0"), frame.column("x1").unwrap().missing()), (vec![1.0, 3.0], 1));
    assert_eq!(frame.dialect().unwrap().format, Format::Npy);
}

/// Returns a table of the lab: `lab/tables` has real tables, with the correct types of their columns.
#[cfg(feature = "sheets")]
fn real(name: &str) -> DataFrame {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/tables").join(name);
    lehr_data::read::data_frame(&path, &TableForm::default()).unwrap()
}

#[cfg(feature = "sheets")]
#[test]
fn a_page_about_the_data_is_not_taken_for_them() {
    let frame = real("breast_tissue.xls");
    assert_eq!((frame.rows(), &*frame.columns()[1].name), (106, "Class"));
    assert!(
        frame.notes()[0].starts_with("the first sheet that is not small beside others, \"Data\", is read"),
        "{:?}",
        frame.notes()
    );
}

#[cfg(feature = "sheets")]
#[test]
fn a_workbook_with_a_title_three_rows_of_names_and_sums_below_is_read_as_its_text() {
    let (book, text) = (real("hamburg_districts.xlsx"), real("hamburg_districts.csv"));
    assert_eq!((book.rows(), text.rows()), (99, 99));
    for column in text.columns().iter().skip(1).filter(|column| !column.name.starts_with("Preise")) {
        let named = |other: &&lehr_data::frame::FrameColumn| other.name.contains(&column.name);
        let of_book = book.columns().iter().find(named).unwrap_or_else(|| panic!("{}", column.name));
        assert!(
            matches!((&column.values, &of_book.values), (Values::Numbers(_), Values::Numbers(_))),
            "{}",
            column.name
        );
    }
}

#[test]
fn numbers_of_lists_that_are_all_of_one_length_are_columns() {
    let read = |text: &str| data_frame_from(text.as_bytes(), "t.jsonl", &TableForm::default()).unwrap();
    let frame = read(
        "{\"place\": [7.5, 46.9], \"tags\": [1, 2], \"n\": 1}\n{\"place\": [8.5, 47.4], \"tags\": [1], \"n\": 2}\n{\"n\": 3}\n",
    );
    let names: Vec<&str> = frame.columns().iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["place.0", "place.1", "tags", "n"]);
    assert_eq!(
        (numbers(&frame, "place.1")[..2].to_vec(), frame.column("place.0").unwrap().missing()),
        (vec![46.9, 47.4], 1)
    );
    assert_eq!(texts(&frame, "tags"), ["[1, 2]", "[1]", ""]);
    assert_eq!(
        frame.notes(),
        ["the numbers of lists in \"place\" are columns of their own", "lists in \"tags\" are read as text"]
    );
}
