//! Tests how the table in a file is found: the text above it, below it and between its rows, and the report of each
//! decision.

use lehr_data::read::{Ragged, Selection, TableForm, data_frame_from, incomplete_from, points_from};

use crate::frame::{numbers, plain, texts, with};

fn names(frame: &lehr_data::frame::DataFrame) -> Vec<&str> {
    frame.columns().iter().map(|column| &*column.name).collect()
}

fn refused(text: &str) -> String {
    data_frame_from(text.as_bytes(), "t.csv", &TableForm::default()).unwrap_err().to_string()
}

/// Checks that a text is read as columns `a` and `b` with these numbers, and with these notes.
fn reads(text: &str, a: &[f64], b: &[f64], notes: &[&str]) {
    let frame = plain(text);
    assert_eq!(names(&frame), ["a", "b"], "{text}");
    assert_eq!((&*numbers(&frame, "a"), &*numbers(&frame, "b")), (a, b), "{text}");
    assert_eq!(frame.notes(), notes, "{text}");
}

#[test]
fn a_first_line_may_name_the_separator() {
    let note = |line: &str| format!("line 1, {line:?}, names the separator; left out");
    reads("sep=;\na;b\n1;2\n3;4\n", &[1.0, 3.0], &[2.0, 4.0], &[&note("sep=;")]);
    reads("\u{feff}\"sep=|\"\r\na|b\r\n1|2\r\n3|4\r\n", &[1.0, 3.0], &[2.0, 4.0], &[&note("\"sep=|\"")]);
    let fault = data_frame_from("sep=;\na;b\n1;2\n3\n".as_bytes(), "t.csv", &TableForm::default()).unwrap_err();
    assert_eq!(fault.to_string(), "t.csv, line 4: expected 2 fields, found 1");
}

#[test]
fn title_lines_are_left_out() {
    reads(
        "Sales of 2021\n\na,b\n1,2\n3,4\n",
        &[1.0, 3.0],
        &[2.0, 4.0],
        &["line 1 is a title, \"Sales of 2021\"; left out"],
    );
    let frame = plain("PREAMBLE,,\n,,\na,b,c\n1,2,x\n3,4,y\n");
    assert_eq!(
        (names(&frame), frame.notes()),
        (vec!["a", "b", "c"], &["lines 1 to 2 are a title, \"PREAMBLE\"; left out".to_owned()][..])
    );
    let frame = plain("Report;of;all;shops;and;towns\nmade 2021-04-23\na;b\n1,5;2\n3;4\n5;6\n");
    assert_eq!(names(&frame), ["a", "b"]);
    assert_eq!(frame.notes(), ["lines 1 to 2 are a title, \"Report\"; left out"]);
    assert_eq!(frame.dialect().unwrap().skipped, 2);
    let asked = with("1,2\nx,y\n3,4\n", &TableForm { skip: Some(1), ..TableForm::default() });
    assert_eq!((names(&asked), asked.rows()), (vec!["x", "y"], 1));
}

#[test]
fn names_in_two_rows_are_put_together() {
    let frame = plain("weight,height,name\n(kg),(cm),\n70,180,A\n80,190,B\n");
    assert_eq!(names(&frame), ["weight (kg)", "height (cm)", "name"]);
    assert_eq!(frame.notes(), ["lines 1 to 2 name the columns; their names are put together"]);
    let frame = plain("Sales,,Cost,\nQ1,Q2,Q1,Q2\n1,2,3,4\n5,6,7,8\n");
    assert_eq!(names(&frame), ["Sales Q1", "Sales Q2", "Cost Q1", "Cost Q2"]);
    assert_eq!(names(&plain("DATE,x\nDATE,x\nDATE,x\n2021-01-02,5\n2021-01-03,6\n")), ["DATE", "x"]);
    // A missing value with its own spelling is not a name.
    assert_eq!(plain("a,b,c\nx,1,2\n5,1,2\n6,1,2\n").rows(), 3);
}

#[test]
fn rows_below_the_table_are_left_out_if_they_show_what_they_are() {
    let sums = "line 4, \"Total\", has the sums of the rows above; left out";
    let frame = plain("shop,a,b\nx,1,2.5\ny,3,4.5\nTotal,4,7\n");
    assert_eq!((frame.rows(), frame.notes()), (2, &[sums.to_owned()][..]));
    let frame = plain("day,a\n2021-01-01,1.000\n2021-01-02,3\nSumme:,4\nMittelwert,2\n");
    assert_eq!(frame.rows(), 2);
    assert_eq!(frame.notes()[0], "line 4, \"Summe:\", has the sums of the rows above; left out");
    assert_eq!(frame.notes()[1], "line 5, \"Mittelwert\", has the means of the rows above; left out");
    let bare = plain("firm,a\nShell,1\nBP,3\nTotal,\n");
    assert_eq!((bare.rows(), bare.notes()), (2, &["line 4, \"Total\", has no values; left out".to_owned()][..]));
    let kept = plain("firm,a\nShell,1\nBP,3\nTotal,17\n");
    assert_eq!(kept.rows(), 3);
    assert_eq!(
        kept.notes(),
        [
            "line 4, \"Total\", is named as a total, but its numbers are not the sums of the rows above: it is kept as a row; delete the line if it is a total"
        ]
    );
    let frame = plain("a,b\n1,2\n3,4\n\nSource: Office of Statistics\n");
    assert_eq!(frame.notes(), ["line 5, \"Source: Office of Statistics\", is a note below the table; left out"]);
    assert_eq!(plain("a,b\n1,2\n3,4\n,\n,\n").notes(), ["2 rows of empty fields at the end; left out"]);
    // The last line of a file that was cut short is not a footer.
    assert_eq!(refused("town,b,c\nBern,2,3\nBasel,3,4\nGen"), "t.csv, line 4: expected 3 fields, found 1");
}

#[test]
fn rows_of_empty_fields_around_a_table_are_no_rows_with_missing_values_either() {
    let selection = Selection::default();
    let of_texts = [
        ("a,b\n1,2\n3,4\n,\n,\n", "2 rows of empty fields at the end; left out"),
        (",\n1,2\n3,4\n", "line 1 is a title, an empty field; left out"),
        (" , \r1,2\r3,4\r", "line 1 is a title, an empty field; left out"),
    ];
    for (text, note) in of_texts {
        let points = points_from(text.as_bytes(), "t.csv", &selection).unwrap();
        let incomplete = incomplete_from(text.as_bytes(), "t.csv", &selection).unwrap();
        assert_eq!((points.values(), points.notes()), (&[1.0, 2.0, 3.0, 4.0][..], &[note.to_owned()][..]), "{text:?}");
        assert_eq!((incomplete.values(), incomplete.notes()), (points.values(), points.notes()), "{text:?}");
    }
    // A note below an empty row, a line that names the delimiter, and a title padded with delimiters are no rows either.
    for text in [
        "x,y\nA2,5\n,\na9,\n",
        "sep=,\n~,277777777777",
        ",N ,\r2,,\r2,,3 3   ",
        ",,\u{306}$ \r2,?2, )\u{306}$ \r2,?2, )",
        "Sales,,\n1,2,3\n4,5,6\n",
    ] {
        let points = points_from(text.as_bytes(), "t.csv", &selection).unwrap();
        let incomplete = incomplete_from(text.as_bytes(), "t.csv", &selection).unwrap();
        assert_eq!((incomplete.values(), incomplete.columns()), (points.values(), points.columns()), "{text:?}");
    }
    // A missing value that stands alone in the last row is no note.
    for text in ["a,b\n1,2\n.,\n", "a,b\n1,2\nNA,\n", "x,4\n53.,,\n.,,\n\n"] {
        let refused = points_from(text.as_bytes(), "t.csv", &selection).unwrap_err().to_string();
        assert!(refused.starts_with("t.csv, line 3"), "{text:?}: {refused}");
        let incomplete = incomplete_from(text.as_bytes(), "t.csv", &selection).unwrap();
        assert!(incomplete.len() == 2 && incomplete.notes().iter().all(|note| !note.contains("note")), "{text:?}");
    }
    // Between other rows, they are rows without values.
    let between = incomplete_from(&b"a,b\n1,2\n,\n3,4\n"[..], "t.csv", &selection).unwrap();
    assert_eq!((between.len(), between.missing()), (3, 2));
}

#[test]
fn what_stands_between_rows_is_left_out_and_told() {
    let note = "the names of the columns occur once more among the rows, first in line 3; left out";
    reads("a,b\n1,2\na,b\n3,4\n", &[1.0, 3.0], &[2.0, 4.0], &[note]);
    reads(
        "a,b\n1,2\n\n3,4\n",
        &[1.0, 3.0],
        &[2.0, 4.0],
        &["1 empty line among the rows, the first at line 3; left out"],
    );
    let one = plain("a\n1\n\n3\n");
    assert_eq!((one.rows(), one.column("a").unwrap().missing()), (3, 1));
}

#[test]
fn ragged_rows_are_faults_unless_all_show_why() {
    assert_eq!(
        refused("a,b,c\n1,2,3\n1,2\n1,2,3,4\n"),
        "t.csv, line 3: expected 3 fields, found 2\nt.csv, line 4: expected 3 fields, found 4\nt.csv: 2 faults in all"
    );
    let frame = plain("a,b,c\n1,2,3\n1,2\n4\n1,2,3\n");
    assert_eq!((frame.rows(), frame.column("c").unwrap().missing()), (4, 2));
    assert_eq!(
        frame.notes(),
        [
            "2 rows have fewer than 3 fields. Some programs leave out empty fields at the end of a row; Lehr reads these as missing"
        ]
    );
    let text = "a,b,c\n1,2,3\n1,2\n4,5,\n";
    assert_eq!(refused(text), "t.csv, line 3: expected 3 fields, found 2");
    let frame = with(text, &TableForm { ragged: Some(Ragged::Fill), ..TableForm::default() });
    assert_eq!((frame.rows(), frame.notes().len()), (3, 1));
    let frame = with(text, &TableForm { ragged: Some(Ragged::LeaveOut), ..TableForm::default() });
    assert_eq!(frame.notes(), ["1 row has more or fewer than 3 fields, the first in line 3; left out"]);
    reads(
        "a;b;\n1;2;\n3;4;\n",
        &[1.0, 3.0],
        &[2.0, 4.0],
        &["rows end with a delimiter; no column is made of what is behind it"],
    );
    reads(
        "a;b\n1;2;\n3;4;\n",
        &[1.0, 3.0],
        &[2.0, 4.0],
        &["rows end with a delimiter; no column is made of what is behind it"],
    );
    assert_eq!(
        refused("a,b\n1,2\n3,4\n5,6\n7,8\nx,y,z\n1,2,3\n1,2,3\n"),
        "t.csv, line 6: expected one table, of 2 columns, found another one of 3; save each in a file of its own"
    );
}

#[test]
fn names_of_rows_without_a_name_of_their_own() {
    let frame = plain("mpg cyl\nMazda 21 6\nDatsun 22.8 4\n");
    assert_eq!(names(&frame), ["row", "mpg", "cyl"]);
    assert_eq!(texts(&frame, "row"), ["Mazda", "Datsun"]);
    assert_eq!(
        frame.notes(),
        ["rows have one field more than there are names; Lehr reads the first field as the row's name"]
    );
}

#[test]
fn names_are_made_different_and_told() {
    let frame = plain("a,a,,b  c\n1,2,3,4\n");
    assert_eq!(names(&frame), ["a", "a 2", "x2", "b c"]);
    assert_eq!(
        frame.notes(),
        ["column 2 is called \"a\" as one before it; called \"a 2\"", "column 3 has no name; called \"x2\""]
    );
}

#[test]
fn quotes_of_all_kinds_are_taken_off() {
    let text = |frame: &lehr_data::frame::DataFrame| texts(frame, "t");
    assert_eq!(text(&plain("t,x\n\"a, \"\"b\"\"\nc\",1\n d ,2\n")), ["a, \"b\"\nc", "d"]);
    assert_eq!(text(&plain("t, x\n\"a, b\", 1\nc, 2\n")), ["a, b", "c"]);
    let single = plain("t,x\n'a, b',1\n'c',2\nit's,3\n");
    assert_eq!(
        (text(&single), single.notes()),
        (vec!["a, b".into(), "c".into(), "it's".to_owned()], &["fields are within \"'\"".to_owned()][..])
    );
    let escaped = plain("t,x\n\"a \\\"b\\\", c\",1\n\"d\",2\n");
    assert_eq!(text(&escaped), ["a \"b\", c", "d"]);
    assert_eq!(escaped.notes(), ["quotes within quotes have a backslash before them"]);
}

#[test]
fn a_quote_that_nothing_closes_is_a_letter() {
    let stray = plain("t,u,x\na,\"b,1\nc,\"d, e\",2\nf,g,\"3\nh,i,4\n");
    assert_eq!(texts(&stray, "u"), ["\"b", "d, e", "g", "i"]);
    assert_eq!(texts(&stray, "x"), ["1", "2", "\"3", "4"]);
    assert!(
        stray.notes()[0].starts_with("line 2: Lehr reads an unclosed quote as an ordinary character (and 1 more)"),
        "{:?}",
        stray.notes()
    );
    assert_eq!(texts(&plain("t,x\na,1\n\"b,2\n"), "t"), ["a", "\"b"]);
}

#[test]
fn a_table_without_names_is_seen_by_its_values() {
    let frame = plain("28/01/2018,00:00,2,\"$74.69\",Boots\n29/01/2018,00:15,0,$29.81,Jacket\n");
    assert_eq!((names(&frame), frame.rows()), (vec!["x0", "x1", "x2", "x3", "x4"], 2));
    assert_eq!(numbers(&frame, "x3"), [74.69, 29.81]);
    assert_eq!(names(&plain("28/01/2018;1,5\n29/01/2018;2\n")), ["x0", "x1"]);
}

#[test]
fn a_field_too_many_is_told_even_where_the_last_column_is_empty() {
    assert_eq!(refused("a,b,c,d\n1,2,3,\n4,,5,6,\n7,8,9,\n"), "t.csv, line 3: expected 4 fields, found 5");
}

#[test]
fn names_of_which_one_was_lost_are_no_title() {
    assert_eq!(
        refused("day,time,qty\n2021-01-01,10:15,2,5\n2021-01-02,10:15,2,6\n2021-01-02,10:15,2,6\n"),
        "t.csv, line 1: expected 4 fields, found 3"
    );
}

#[test]
fn a_quote_within_quotes_that_is_not_doubled_is_a_letter() {
    let frame = plain("t,x\n\"Boots, 10\" high\",1\n\"\"cut, fine\",2\n\"3.5\" disk,3\nplain,4\n");
    assert_eq!(texts(&frame, "t"), ["Boots, 10\" high", "\"cut, fine", "3.5 disk", "plain"]);
    assert_eq!(numbers(&frame, "x"), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn sums_at_the_end_are_left_out_whatever_they_are_called() {
    let districts: String = (1..=9).map(|k| format!("District {k};{};{},5;{k}\n", 100 + 7 * k, 40 + k)).collect();
    // The sums are 9 * 100 + 7 * 45, and 9 * 40.5 + 45.
    let frame = plain(format!("place;people;area;share\n{districts}The city;1215;409,5;5\n"));
    assert_eq!(frame.rows(), 9);
    assert_eq!(frame.notes(), ["the last row, line 11, \"The city\", has sums of the rows above; left out"]);
    let parts = "North;342;127,5;2\nEast;405;136,5;5\nSouth;468;145,5;8\n";
    let frame = plain(format!("place;people;area;share\n{districts}{parts}The city;1215;409,5;5\n"));
    assert_eq!((frame.rows(), frame.dialect().unwrap().footer_rows), (9, 4));
    assert!(frame.notes()[0].starts_with("the last 4 rows, from line 11, \"North\", on"), "{:?}", frame.notes());
    // A sum in a single column may be chance, and another number is not a sum.
    assert_eq!(plain(format!("place;people;area;share\n{districts}The city;1215;409;5\n")).rows(), 10);
    assert_eq!(plain("a,b\n1,2\n2,1\n3,3\n").rows(), 3);
    // Few of many columns have sums, each of one or two rows that are not 0.
    let sparse: String = (0..12)
        .map(|row| (0..12).map(|c| i32::from(c == row % 4).to_string() + ",").collect::<String>() + "x\n")
        .collect();
    assert_eq!(plain(format!("a,b,c,d,e,f,g,h,i,j,k,l,m\n{sparse}")).rows(), 12);
}

#[test]
fn a_title_may_stand_above_names_in_several_rows() {
    let table = "Cities of 2014,,,,,\nplace,People,,,Homes,\n,all,young,old,all,new\nNorth,10,2,3,5,1\nSouth,20,5,6,9,1\nEast,15,4,2,6,2\n";
    let frame = plain(table);
    assert_eq!(names(&frame), ["place", "People all", "young", "old", "Homes all", "new"]);
    assert_eq!((frame.rows(), numbers(&frame, "young")), (3, vec![2.0, 5.0, 4.0]));
}

#[test]
fn any_number_of_rows_of_nothing_may_stand_below() {
    let frame = plain(format!("a;b;;\n1;2;;\n3;4;;\n{}", ";;;\n".repeat(114)));
    assert_eq!((frame.rows(), frame.columns().len()), (2, 2));
}
