//! Tests reading of ordinary tables as data frames: each decision, and its report.

use lehr_data::frame::{DataFrame, FrameColumn, ReadAs, Values};
use lehr_data::read::{InputColumn, TableForm, data_frame_from, data_frame_of};

/// Reads a table without any options.
pub(crate) fn plain(text: impl AsRef<[u8]>) -> DataFrame {
    with(text, &TableForm::default())
}

pub(crate) fn with(text: impl AsRef<[u8]>, form: &TableForm) -> DataFrame {
    data_frame_from(text.as_ref(), "t.csv", form).unwrap()
}

/// Returns the numbers of a column.
pub(crate) fn numbers(frame: &DataFrame, column: &str) -> Vec<f64> {
    match &frame.column(column).unwrap_or_else(|| panic!("{column} in {frame:?}")).values {
        Values::Numbers(values) | Values::Times(values) => values.clone(),
        Values::Categories(_) => panic!("{column} is text: {:?}", frame.notes()),
    }
}

/// Returns the texts of a column; empty where there is no text.
pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<String> {
    let Values::Categories(categories) = &frame.column(column).unwrap().values else { panic!("{column} is no text") };
    (0..categories.len()).map(|row| categories.text(row).unwrap_or_default().to_owned()).collect()
}

pub(crate) fn read_as(frame: &DataFrame, column: &str) -> String {
    frame.column(column).unwrap().read_as.to_string()
}

#[test]
fn a_table_of_numbers_gaps_and_text_needs_no_word() {
    let frame = plain("name,x,y\nA,1.5,NA\nB,,2e3\n,-3,4\n");
    assert_eq!(frame.notes(), [] as [String; 0]);
    assert_eq!(texts(&frame, "name"), ["A", "B", ""]);
    assert_eq!(numbers(&frame, "y")[1..], [2000.0, 4.0]);
    assert_eq!((frame.column("x").unwrap().missing(), frame.column("y").unwrap().missing()), (1, 1));
    assert_eq!(frame.column("x").unwrap().read_as, ReadAs::Number);
}

#[test]
fn the_form_of_a_column_explains_all_of_its_values() {
    let table = "euro;dollar;share;loss;swiss;french\n\
                 1.818,99 €;$1,818.99;1,7%;(12,50);1'818.99;1 818,99\n\
                 5 €;-$5.00;0;3,25;-2.50;12\n";
    let frame = plain(table);
    assert_eq!(numbers(&frame, "euro"), [1818.99, 5.0]);
    assert_eq!(numbers(&frame, "dollar"), [1818.99, -5.0]);
    assert_eq!(numbers(&frame, "share"), [1.7, 0.0]);
    assert_eq!(numbers(&frame, "loss"), [-12.5, 3.25]);
    assert_eq!(numbers(&frame, "swiss"), [1818.99, -2.5]);
    assert_eq!(numbers(&frame, "french"), [1818.99, 12.0]);
    assert_eq!(frame.notes(), ["4 columns have a decimal comma and 2 columns have a decimal point"]);
    assert_eq!(read_as(&frame, "swiss"), "number, thousands '\\''");
}

#[test]
fn an_ambiguous_column_is_read_as_the_others_are() {
    assert_eq!(numbers(&plain("a;b\n1.234;1,5\n2.345;2,5\n"), "a"), [1234.0, 2345.0]);
    assert_eq!(numbers(&plain("a;b\n1.234;1.5\n2.345;2.5\n"), "a"), [1.234, 2.345]);
    assert_eq!(numbers(&plain("a;b\n1,234;1,5\n2,345;2,5\n"), "a"), [1.234, 2.345]);
}

#[test]
fn what_nothing_decides_is_said_to_be_ambiguous() {
    let frame = plain("a;b\n1,234;x\n2,345;y\n");
    assert_eq!(numbers(&frame, "a"), [1234.0, 2345.0]);
    assert_eq!(
        frame.notes(),
        [
            "\"a\" is ambiguous: the mark in \"1,234\" may separate thousands or a fraction, and no column shows which; read as thousands"
        ]
    );
    let asked = with("a;b\n1,234;x\n2,345;y\n", &TableForm { decimal: Some(','), ..TableForm::default() });
    assert_eq!(numbers(&asked, "a"), [1.234, 2.345]);
    assert_eq!(asked.notes(), [] as [String; 0]);
}

#[test]
fn numbers_that_are_none_are_text_and_said_to_be() {
    let frame = plain("a,zip,money,share\n1,01234,$5,5%\n2,12345,5 €,3\n3,x,$3,2\n4o,99999,3,1%\n5,00001,4,2\n");
    assert!(frame.columns().iter().all(|column| column.read_as == ReadAs::Text), "{frame:?}");
    assert_eq!(
        frame.notes(),
        [
            "\"a\" is read as text: 4 of its 5 values are numbers, but \"4o\" in line 5 is not; if it means a missing value, name it with --na",
            "\"zip\" is read as text: 4 of its 5 values are numbers, but \"x\" in line 4 is not; if it means a missing value, name it with --na",
            "\"money\" is read as text: it has several currencies, $, €; convert them, or ask for numbers (--as-number) to read them as they are",
            "\"share\" is read as text: 2 of its values are per cent and 3 are not; convert them, or ask for numbers (--as-number) to read them as they are",
        ]
    );
    let asked = TableForm { number: vec!["money".into(), "share".into()], ..TableForm::default() };
    let asked = with("money,share\n$5,5%\n5 €,3\n\"1,250.50 €\",2\n", &asked);
    assert_eq!((numbers(&asked, "money"), numbers(&asked, "share")), (vec![5.0, 5.0, 1250.5], vec![5.0, 3.0, 2.0]));
    assert_eq!(asked.notes(), [] as [String; 0]);
    let dates = plain("d,e\n2024-04-13,x1\n13.04.2024,x2\n2024-05-01,x3\n");
    assert_eq!(
        dates.notes(),
        [
            "\"d\" is read as text: 3 of its 3 values are dates, in more than one order of day, month and year; write them in one"
        ]
    );
    let dates = plain("d\n2024-04-13\n2024-04-14\nsoon\n2024-05-01\n");
    assert_eq!(
        dates.notes(),
        [
            "\"d\" is read as text: 3 of its 4 values are dates, but \"soon\" in line 4 is not; if it means a missing value, name it with --na"
        ]
    );
    let codes = plain("zip,x\n01234,1\n12345,2\n");
    assert_eq!(texts(&codes, "zip"), ["01234", "12345"]);
    assert_eq!(
        codes.notes(),
        ["\"zip\" is read as text: \"01234\" in line 2 begins with a 0, as codes do and numbers do not"]
    );
}

#[test]
fn a_column_is_read_as_it_was_before() {
    let before = plain("a;b\n1.234;1,5\n2.345;2,5\n");
    let columns = before.columns().iter().map(|column| (column.name.clone(), column.read_as.clone())).collect();
    let form = TableForm { columns, ..before.dialect().unwrap().form() };
    // Without the option, it would be 3.456.
    assert_eq!(numbers(&with("a;c\n3.456;x\n", &form), "a"), [3456.0]);
    let error = data_frame_from("a;b\n1,5;2\n3.456,5;\nz;1\n".as_bytes(), "t.csv", &form).unwrap_err().to_string();
    assert_eq!(
        error,
        "t.csv, line 4, column 1 (\"a\"): expected a value as this column had before (number, decimal ',', thousands '.'), found \"z\""
    );
}

#[test]
fn a_column_is_read_as_numbers_or_text_where_that_is_asked_for() {
    let text = "code,class,paid\n00042,1,yes\n00007,2,no\n00019,1,yes\n";
    assert_eq!(texts(&plain(text), "code"), ["00042", "00007", "00019"]);
    let form = |number: &[&str], text: &[&str]| {
        let [number, text] = [number, text].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        TableForm { number, text, ..TableForm::default() }
    };
    let frame = with(text, &form(&["code"], &["class"]));
    assert_eq!(numbers(&frame, "code"), [42.0, 7.0, 19.0]);
    assert_eq!(texts(&frame, "class"), ["1", "2", "1"]);
    assert_eq!(frame.notes(), [] as [String; 0]);
    // The next table is read in the same way, even if its columns have types.
    let columns = frame.columns().iter().map(|column| (column.name.clone(), column.read_as.clone())).collect();
    let saved = TableForm { columns, ..TableForm::default() };
    assert_eq!(numbers(&with("code,class,paid\n00003,2,no\n", &saved), "code"), [3.0]);
    let typed = ["code", "class", "paid"].map(|name| InputColumn::Read(FrameColumn::numbers(name, vec![1.0, 2.5])));
    let frame = data_frame_of("t", typed.to_vec(), &saved).unwrap();
    assert_eq!((numbers(&frame, "code"), texts(&frame, "class")), (vec![1.0, 2.5], vec!["1".into(), "2.5".into()]));
    // Values that are not numbers are faults, each with its line.
    let refused = data_frame_from(text.as_bytes(), "t.csv", &form(&["paid"], &[])).unwrap_err().to_string();
    let words =
        "line 2, column 3 (\"paid\"): expected a number, since the column is to be read as numbers, found \"yes\"";
    assert!(refused.contains(words), "{refused}");
    let refused = data_frame_from(text.as_bytes(), "t.csv", &form(&["kode"], &[])).unwrap_err().to_string();
    assert!(refused.contains("\"kode\""), "{refused}");
}

#[test]
fn dates_show_in_which_order_they_are() {
    let frame = plain("joined;left;seen\n23.04.2021;4/23/2021;2021-04-23T10:15:00+02:00\n1.2.2020;1/2/2020;NA\n");
    assert_eq!(numbers(&frame, "joined"), [18_740.0 * 86_400.0, 18_293.0 * 86_400.0]);
    assert_eq!(numbers(&frame, "left"), [18_740.0 * 86_400.0, 18_263.0 * 86_400.0]);
    assert_eq!(numbers(&frame, "seen")[0], 18_740.0 * 86_400.0 + 8.25 * 3600.0);
    assert!(matches!(frame.column("seen").unwrap().values, Values::Times(_)));
    assert_eq!(
        frame.notes(),
        [
            "dates in \"joined\" are day first: \"23.04.2021\" cannot be month first",
            "dates in \"left\" are month first: \"4/23/2021\" cannot be day first",
        ]
    );
    assert_eq!(
        ["joined", "left", "seen"].map(|column| read_as(&frame, column)),
        ["date, day.month.year", "date, month/day/year", "date and time, year-month-day"]
    );
}

#[test]
fn dates_that_are_ambiguous_are_read_as_others_are_or_said_to_be() {
    let alone = plain("d,x\n3/4/2021,1\n5/6/2021,2\n");
    assert_eq!(alone.notes(), ["dates in \"d\" are ambiguous: no day is above 12; read as month first"]);
    assert_eq!(numbers(&alone, "d")[0], 18_690.0 * 86_400.0 + 0.0);
    let asked = TableForm { dates: Some(lehr_data::read::DateOrder::DayFirst), ..TableForm::default() };
    assert_eq!(numbers(&with("d,x\n3/4/2021,1\n5/6/2021,2\n", &asked), "d")[0], 18_720.0 * 86_400.0);
    let beside = plain("d,e\n3/4/2021,13/1/2021\n5/6/2021,1/2/2021\n");
    assert_eq!(numbers(&beside, "d")[0], 18_720.0 * 86_400.0);
    assert_eq!(beside.notes(), ["dates in \"e\" are day first: \"13/1/2021\" cannot be month first"]);
    assert_eq!(
        plain("d\n3.4.2021\n").notes(),
        ["dates in \"d\" are ambiguous: no day is above 12; read as day first, as dates with points are"]
    );
}

#[test]
fn words_for_yes_and_no_are_numbers() {
    let frame = plain("a,b,c,d,e,f\nyes,J,TRUE,x,male,08:30\nno,N,false,,female,23:00\nNo,?,,x,male,\n");
    assert_eq!(numbers(&frame, "a"), [1.0, 0.0, 0.0]);
    assert_eq!(numbers(&frame, "b")[..2], [1.0, 0.0]);
    assert_eq!(numbers(&frame, "c")[..2], [1.0, 0.0]);
    assert_eq!(numbers(&frame, "d"), [1.0, 0.0, 1.0]);
    assert_eq!(texts(&frame, "e"), ["male", "female", "male"]);
    assert_eq!(numbers(&frame, "f")[..2], [30_600.0, 82_800.0]);
    assert_eq!(frame.column("b").unwrap().missing(), 1);
    assert_eq!(read_as(&frame, "a"), "yes or no (\"yes\" is 1, \"no\" is 0)");
    assert_eq!(frame.notes(), ["\"d\" has \"x\" or is empty; read as yes or no"]);
}

#[test]
fn text_in_other_encodings_is_read_and_told() {
    let text = "Ort;Umsatz\nZürich;5,5 €\nGenève;7,5 €\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let latin: Vec<u8> = text.chars().map(|letter| if letter == '€' { 0x80 } else { letter as u8 }).collect();
    let latin_note = "read as Windows-1252 (Latin-1): line 2 has the byte FC ('ü' in Latin-1), which is no UTF-8";
    let cases = [
        (little, "read as UTF-16 (lower byte first)"),
        (big, "read as UTF-16 (higher byte first)"),
        (latin.clone(), latin_note),
        (crate::gzip(&latin), latin_note),
        // The value is far after the rows that are examined first.
        (
            [&b"Ort;Umsatz\n"[..], &b"Bern;1,5\n".repeat(20_000), &latin[11..]].concat(),
            "read as Windows-1252 (Latin-1): line 20002 has the byte FC ('ü' in Latin-1), which is no UTF-8",
        ),
    ];
    for (bytes, note) in cases {
        let frame = plain(bytes);
        let rows = frame.rows();
        assert_eq!(texts(&frame, "Ort")[rows - 2..], ["Zürich", "Genève"]);
        assert_eq!(numbers(&frame, "Umsatz")[rows - 2..], [5.5, 7.5]);
        assert_eq!(frame.notes()[0], note);
    }
    // UTF-8 with an invalid letter does not count as another encoding.
    let broken = "a;b\nü;1\né;2\n?;3\n".replace('?', "\u{1}").into_bytes();
    let broken: Vec<u8> = broken.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    let error = data_frame_from(&broken[..], "t.csv", &TableForm::default()).unwrap_err().to_string();
    assert_eq!(error, "t.csv, line 4, byte 14 of the text: expected UTF-8, found the byte FF ('ÿ' in Latin-1)");
    let asked = TableForm { encoding: Some(lehr_data::read::Encoding::Windows1252), ..TableForm::default() };
    assert_eq!(texts(&with(&broken, &asked), "a")[2], "ÿ");
}

#[test]
fn amounts_of_money_may_have_words_for_thousands_and_millions() {
    let frame = plain("film,gross\nA,$56.7M\nB,$537K\nC,-\nD,$1.2bn\n");
    assert_eq!(numbers(&frame, "gross")[..2], [56_700_000.0, 537_000.0]);
    assert_eq!((numbers(&frame, "gross")[3], frame.column("gross").unwrap().missing()), (1.2e9, 1));
    assert_eq!(read_as(&frame, "gross"), "number, $, K and M");
    assert_eq!(numbers(&plain("n;p\na;1,2 Mio. €\nb;300 Tsd. €\n"), "p"), [1_200_000.0, 300_000.0]);
    // Without a currency, `5M` may mean metres, months or a size.
    assert_eq!(read_as(&plain("n,size\na,5M\nb,12M\n"), "size"), "text");
}

#[test]
fn a_word_for_a_gap_is_a_text_unless_a_column_of_numbers_has_it_for_a_gap() {
    let frame = plain("host,damage,cost\nNan,None,5\nAnn,Minor,\nBob,None,7\n");
    assert_eq!(texts(&frame, "damage"), ["None", "Minor", "None"]);
    assert_eq!(texts(&frame, "host"), ["Nan", "Ann", "Bob"]);
    let note = |word: &str, column: &str| {
        format!("{word:?} in {column:?} is read as text; if it means a missing value, name it with --na")
    };
    assert_eq!(frame.notes(), [note("Nan", "host"), note("None", "damage")]);
    let frame = plain("damage,cost\nNone,5\nMinor,None\nNone,7\n");
    assert_eq!(
        (texts(&frame, "damage"), frame.column("cost").unwrap().missing()),
        (vec!["".into(), "Minor".into(), "".into()], 1)
    );
    let asked = TableForm { missing: vec!["None".into()], ..TableForm::default() };
    assert_eq!(texts(&with("damage,cost\nNone,5\nMinor,6\n", &asked), "damage"), ["", "Minor"]);
    assert_eq!(plain("a,b\nNone,1\nNone,2\n").column("a").unwrap().missing(), 2);
}

#[test]
fn one_text_or_nothing_is_a_cross_where_neither_is_rare() {
    let rows = |marked: usize, all: usize, other: &str| -> String {
        let row = |row: usize| format!("{row},{}\n", if row < marked { "Episode IV" } else { other });
        "id,seen\n".to_owned() + &(0..all).map(row).collect::<String>()
    };
    let frame = plain(rows(12, 20, ""));
    assert_eq!(numbers(&frame, "seen").iter().sum::<f64>(), 12.0);
    assert_eq!(read_as(&frame, "seen"), "yes or no (\"Episode IV\" is 1, an empty field is 0)");
    // One empty row of forty is a missing value, one row with the text is a remark, and `NA` means missing.
    for text in [rows(39, 40, ""), rows(1, 40, ""), rows(12, 20, "NA")] {
        assert_eq!(read_as(&plain(&text), "seen"), "text");
    }
}

#[test]
fn times_of_day_may_have_points() {
    let frame = plain("t;x\n18.00.00;2,6\n19.30.05;2\n");
    assert_eq!((read_as(&frame, "t"), numbers(&frame, "t")), ("time of day".to_owned(), vec![64_800.0, 70_205.0]));
    assert_eq!(read_as(&plain("t;x\n18.00;2\n19.30;2\n"), "t"), "number");
    assert_eq!(read_as(&plain("t;x\n18.00.0;2\n19.30.1;2\n"), "t"), "text");
}

#[test]
fn a_missing_number_is_missing_however_it_is_written() {
    let form = TableForm { missing: vec!["-200".into()], ..TableForm::default() };
    let frame = with("a;b\n-200;1,5\n3;-200,0\n4;-200\n", &form);
    assert_eq!((frame.column("a").unwrap().missing(), frame.column("b").unwrap().missing()), (1, 2));
}

#[test]
fn a_row_that_repeats_another_in_every_column_is_found() {
    let frame = plain("x,city\n1,Bern\n0,Basel\n,Bern\n1,Basel\n-0,Basel\n1,Bern\n,Bern\n1,\n1,\n");
    assert_eq!(frame.repeated_rows(), [(4, 1), (5, 0), (6, 2), (8, 7)]);
    assert_eq!(plain("x,y\n1,2\n2,1\n").repeated_rows(), []);
}
