//! Tests first rows of numbers: some are names, and others are values.

use lehr_data::read::{Selection, csv_points, points_from};

fn columns(text: &str) -> Result<Vec<String>, String> {
    let read = csv_points(text.as_bytes(), "t.csv", &Selection::default());
    read.map(|points| points.columns().to_vec()).map_err(|error| error.to_string())
}

#[test]
fn years_above_numbers_beside_a_word_are_names() {
    let names = |text: &str| columns(text).unwrap();
    assert_eq!(names("country,2019,2020\nCH,5.5,6\nFR,7,8\n"), ["2019", "2020"]);
    assert_eq!(names("country,2020,2019\nCH,550,2019\nFR,7,8\nDE,9,10\n"), ["2020", "2019"]);
    assert_eq!(names("country;region;2010;2015;2020\nCH;Europe;1;2;3\nUS;America;4;5;6\n"), ["2010", "2015", "2020"]);
    // pandas writes a table with an index like this.
    assert_eq!(names(",2019,2020\nCH,5,6\nFR,7,8\n"), ["2019", "2020"]);
    assert_eq!(names(",0,1,2\na,5,6,7\nb,7,8,9\n"), ["0", "1", "2"]);
    assert_eq!(names(",0,1\n0,5,6\n1,7,8\n"), ["0", "1"]);
    // All rows below the header are rows of data.
    let points = csv_points("country,2019,2020\nCH,5,6\nFR,7,8\n".as_bytes(), "t.csv", &Selection::default()).unwrap();
    assert_eq!(points.values(), [5.0, 6.0, 7.0, 8.0]);
}

#[test]
fn numbers_that_belong_to_the_rows_below_are_values() {
    let is_of_values = |text: &str| assert_eq!(columns(text).unwrap()[0].chars().next(), Some('x'), "{text}");
    // These are years of birth and death, years of a rate, and a word that is repeated.
    is_of_values("Newton,1643,1727\nLeibniz,1646,1716\n");
    is_of_values("1999,5.1\n2000,5.2\n2001,5.0\n");
    is_of_values("CH,2019,2020\nFR,7,8\nCH,5,6\n");
    is_of_values("1,2,3\n4,5,6\n7,8,9\n");
    is_of_values("a,1,2,3\nb,4,5,6\n");
    is_of_values("a,1200,2400\nb,40,90\n");
    is_of_values("0,1\n0.5,0.25\n");
    is_of_values("5.1,3.5,1.4,0.2\n4.9,3.0,1.4,0.2\n");
}

#[test]
fn what_may_be_either_is_refused_and_said_to_be_so() {
    let said = columns("2019,2020,2021\n5.5,6,7\n7,8,9\n").unwrap_err();
    assert_eq!(
        said,
        "t.csv, line 1: expected names or values, and to know which, found \"2019\", \"2020\", \"2021\": numbers that may be the names of \
         columns; say whether there is a header, or give a name a letter (such as \"y2019\")"
    );
    for text in [
        "country,2019\nCH,5.5\nFR,7\n",
        "0,1,2\n0.5,1.5,2.5\n0.1,0.2,0.3\n",
        "gene,1,2,3\na,0.5,0.7,0.9\nb,0.1,0.2,0.3\n",
    ] {
        assert!(columns(text).is_err(), "{text}");
        for header in [true, false] {
            let selection = Selection { header: Some(header), ..Selection::default() };
            let points = csv_points(text.as_bytes(), "t.csv", &selection).unwrap();
            assert_eq!(points.len(), if header { 2 } else { 3 }, "{text}");
        }
    }
}

#[test]
fn structures_are_told_as_what_they_are_and_none_is_taken_for_a_name() {
    for text in ["CCO\nCCN\nc1ccccc1\n", "CCO,a\nCCN,b\nc1ccccc1O,c\n"] {
        let said = columns(text).unwrap_err();
        assert!(
            said.contains("found structures in SMILES (\"c1ccccc1") && said.contains("is read as molecules"),
            "{said}"
        );
    }
    // A column of numbers beside them decides, because its first row is a number too.
    let points = csv_points("CCO,46.07\nCCN,45.08\n".as_bytes(), "t.csv", &Selection::default()).unwrap();
    assert_eq!((points.len(), points.left_out()[0].example.as_str()), (2, "CCO"));
}

#[test]
fn columns_that_are_written_as_people_write_are_read_and_told() {
    let points =
        csv_points("x,share,price,note\n1,0.04%,$5,a\n2,0.05%,$6,b\n".as_bytes(), "t.csv", &Selection::default())
            .unwrap();
    let told: Vec<String> = points.left_out().iter().map(ToString::to_string).collect();
    assert_eq!(told, ["note (\"a\")"]);
    assert_eq!((points.columns().len(), points.row(0)), (3, &[1.0, 0.04, 5.0][..]));
    assert_eq!(points.notes(), ["\"share\" is read as number, per cent", "\"price\" is read as number, $"]);
    let said = csv_points("x\n1\n5%\n".as_bytes(), "t.csv", &Selection::default()).unwrap_err().to_string();
    assert_eq!(said, "t.csv, line 3, column 1 (\"x\"): expected a finite number, found \"5%\", with a percent sign");
    // In the opposite case, the plain number is the one that differs.
    let mixed = "x,y\n1%,1\n2,2\n3%,3\n4%,4\n5%,5\n";
    let said = csv_points(mixed.as_bytes(), "t.csv", &Selection::default()).unwrap_err().to_string();
    let expected = "t.csv, line 3, column 1 (\"x\"): expected a finite number, found \"2\", unlike the other rows (number, per cent)";
    assert_eq!(said, expected);
}

fn read(text: &str) -> Result<lehr_data::Points, String> {
    points_from(text.as_bytes(), "t.csv", &Selection::default()).map_err(|error| error.to_string())
}

fn left_out(text: &str) -> Vec<String> {
    read(text).unwrap().left_out().iter().map(ToString::to_string).collect()
}

#[test]
fn numbers_of_rows_are_none_of_the_columns_28() {
    let told = "a column without a name (numbers of the rows, as an index of pandas)";
    // pandas writes such tables: a whole one, one of chosen rows, and a shuffled one.
    for text in [",a\n0,5\n1,7\n2,9\n", ",a\n0,5\n3,7\n4,9\n", ",a\n7,5\n2,7\n4,9\n"] {
        assert_eq!(columns(text).unwrap(), ["a"], "{text}");
        assert_eq!(left_out(text), [told], "{text}");
    }
    // Beside the row numbers are values that are not plain numbers.
    assert_eq!(read(",a,b\n0,5%,1\n1,7%,2\n2,9%,3\n").unwrap().columns(), ["a", "b"]);
    // R writes tables like this: there is one name less than there are columns.
    assert_eq!(read("\"a\",\"b\"\n\"1\",5,6\n\"2\",7,8\n").unwrap().columns(), ["a", "b"]);
    assert_eq!(left_out("\"a\",\"b\"\n\"1\",5,6\n\"2\",7,8\n"), ["row (names of the rows)"]);
    // A first column is an ordinary column if it has a name, a repeated number or fractions. It is also one if the
    // caller selects it.
    for text in ["n,a\n0,5\n1,7\n2,9\n", ",a\n0,5\n1,7\n1,9\n", ",a\n0.5,5\n1,7\n2,9\n"] {
        assert_eq!(columns(text).unwrap().len(), 2, "{text}");
    }
    let chosen = Selection { columns: Some(vec!["0".into(), "1".into()]), header: Some(true), ..Selection::default() };
    assert_eq!(csv_points(",a\n0,5\n1,7\n".as_bytes(), "t.csv", &chosen).unwrap().dimension(), 2);
}

#[test]
fn a_number_beyond_the_largest_is_no_name_28() {
    for (text, word) in
        [("a\ninf\n1\n2\n", "inf"), ("a\n1e309\n1\n2\n", "1e309"), ("a,b\nInfinity,3\n1,2\n2,5\n", "Infinity")]
    {
        let said = read(text).unwrap_err();
        assert!(said.contains("line 2, column 1 (\"a\")") && said.contains(&format!("found \"{word}\"")), "{said}");
    }
    // A column that has only such words is left out, and this is reported.
    for word in ["inf", "Infinity", "1e309"] {
        let points = read(&format!("a,b\n1,{word}\n2,{word}\n")).unwrap();
        assert_eq!(points.columns(), ["a"]);
        assert!(points.left_out()[0].is_unexpected(), "{word}");
    }
}

#[test]
fn a_first_row_that_counts_the_columns_is_told_28() {
    let notes = |text: &str| read(text).unwrap().notes().to_vec();
    // pandas.DataFrame(array).to_csv(index=False)
    let said = "line 1: 0, 1 are read as values; if they are names of columns, say that there is a header";
    assert_eq!(notes("0,1\n5,1\n6,2\n9,9\n"), [said]);
    assert_eq!(read("0,1\n5,1\n6,2\n9,9\n").unwrap().len(), 4);
    let many: String = (0..3).map(|row| format!("{row},7,8,9,10,11\n")).collect();
    assert!(notes(&format!("0,1,2,3,4,5\n{many}"))[0].starts_with("line 1: 0, 1, 2, 3, 4, … are read as values"));
    // Bits, and values that go on to count, are values without doubt.
    for text in ["0,1\n1,0\n1,1\n", "0,0\n0,1\n1,2\n", "1,2\n3,4\n", "0\n5\n6\n"] {
        assert_eq!(notes(text), [] as [String; 0], "{text}");
    }
    for header in [true, false] {
        let selection = Selection { header: Some(header), ..Selection::default() };
        let points = csv_points("0,1\n5,1\n6,2\n".as_bytes(), "t.csv", &selection).unwrap();
        assert!(points.notes().is_empty() && points.len() == 3 - usize::from(header));
    }
}

#[test]
fn names_that_are_given_twice_become_distinct_and_are_told_28() {
    let read = read("a,b,a,word,a,word\n1,2,3,x,4,y\n5,6,7,x,8,y\n").unwrap();
    assert_eq!(read.columns(), ["a", "b", "a 2", "a 3"]);
    assert_eq!(read.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    // The columns of words are left out, so their names matter to nobody.
    let told = [
        "column 3 is called \"a\" as one before it; called \"a 2\"",
        "column 5 is called \"a\" as one before it; called \"a 3\"",
    ];
    assert_eq!(read.notes(), told);
    // Each column can be chosen by its new name, as a model that was fitted to the table does.
    let chosen = Selection { columns: Some(vec!["a 2".into(), "a".into()]), ..Selection::default() };
    let text = "a,b,a\n1,2,3\n5,6,7\na,b,a\n8,9,4\n";
    let points = csv_points(text.as_bytes(), "t.csv", &chosen).unwrap();
    assert_eq!(points.values(), [3.0, 1.0, 7.0, 5.0, 4.0, 8.0], "the second header is no row");
    let repeated = "the names of the columns occur once more among the rows, first in line 4; left out";
    assert_eq!(points.notes(), [repeated, told[0]]);
    // A name that the file has already is given to no other column.
    assert_eq!(columns("a,a 2,a\n1,2,3\n").unwrap(), ["a", "a 2", "a 3"]);
}
