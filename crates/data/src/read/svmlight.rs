//! Reads sparse rows from SVMlight text, which LIBSVM and others write too:
//! `label column:value column:value … # comment`, one row on each line.
//!
//! Clustering does not use classes, so labels (a number, or several numbers separated by commas) are read, checked and
//! left out. A line may have no label. `qid:number`, by which SVMlight groups the rows of a ranking, is not a column
//! and is left out too. Text after `#` is a comment, and a line with only a comment is not a row. Columns may come in
//! any order, but each only once; values of 0 are dropped.
//!
//! The format does not say whether columns count from 1, as in SVMlight itself, or from 0, as some programs write them.
//! Unless you specify it, they count from 0 if a column 0 occurs, and otherwise from 1.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::object;
use crate::read::source::{Source, foreign_format, open};
use crate::sparse::{FirstColumn, Sparse};

/// The length at which a line means that the file is of another kind.
const LINE_MAX: usize = 1 << 28;

/// The number of bytes of a file that are examined to detect its format.
const LOOKED_AT: usize = 1 << 14;

/// The number of rows that are examined to detect the format.
const ROWS_ASKED: usize = 3;

/// Returns whether a source is called `.svm`, `.svmlight` or `.libsvm`.
pub(super) fn is_called_svmlight(source: &Source<'_>) -> bool {
    let name = source.name().to_lowercase();
    let stem = name.trim_end_matches(".gz");
    [".svm", ".svmlight", ".libsvm"].iter().any(|ending| stem.ends_with(ending))
}

/// Returns whether a source begins as SVMlight text: its first three rows are labels followed only by ascending columns
/// with values. One row must have two columns or a `qid`: a table of numbers and times of day (`5 12:30`) looks like
/// rows with one column.
pub(super) fn begins_as_svmlight(source: &mut Source<'_>) -> bool {
    let head = source.peek(LOOKED_AT);
    let is_whole = head.len() < LOOKED_AT;
    let (mut asked, mut is_shown) = (0, false);
    // Each of the two bytes ends a line; a line end with both leaves an empty line, which is ignored.
    for line in head.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
        let ends = is_whole || line.ends_with(b"\n") || line.ends_with(b"\r");
        let Ok(text) = std::str::from_utf8(before_comment(line)) else { return false };
        let mut fields: Vec<&str> = text.split_ascii_whitespace().collect();
        if !ends {
            // The last field may be cut.
            fields.pop();
        }
        let [label, pairs @ ..] = &fields[..] else { continue };
        let Ok(pairs) = pairs.iter().map(|field| pair(field)).collect::<Result<Vec<_>, _>>() else { return false };
        let columns: Vec<u32> = pairs.iter().flatten().map(|(column, _)| *column).collect();
        if !is_label(label) || !columns.windows(2).all(|pair| pair[0] < pair[1]) {
            return false;
        }
        is_shown |= pairs.len() > 1;
        asked += 1;
        if asked == ROWS_ASKED {
            break;
        }
    }
    is_shown
}

/// Reads sparse rows from SVMlight text, plain or gzip. `first_column` is the number of the first column; `None` means
/// that it is detected.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it is of another kind or if no row has a value; [`Error::Empty`] if it has no rows;
///   [`Error::Encoding`].
/// - [`Error::Faults`] with every invalid field, every repeated column in a line, and every blank line between rows.
pub fn rows(path: &Path, first_column: Option<FirstColumn>) -> Result<Sparse, Error> {
    rows_from(open(path)?, &object::shown(path), first_column)
}

/// Reads sparse rows from a reader of SVMlight text; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`rows`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::svmlight::rows_from;
/// let rows = rows_from("+1 1:0.5 3:2 # a comment\n-1 qid:7 2:1\n".as_bytes(), "t.svm", None)?;
/// assert_eq!((rows.len(), rows.dimension(), rows.row(0)), (2, 3, (&[0, 2][..], &[0.5, 2.0][..])));
/// assert_eq!(rows.column_name(2), "x3");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn rows_from(reader: impl Read, name: &str, first_column: Option<FirstColumn>) -> Result<Sparse, Error> {
    read(Source::new(reader, name)?, first_column)
}

pub(super) fn read(mut source: Source<'_>, first_column: Option<FirstColumn>) -> Result<Sparse, Error> {
    let name = source.name().to_owned();
    let wrong = |found: String| Error::Format {
        name: name.clone(),
        expected: "sparse rows as SVMlight writes them, lines of a label and of column:value".into(),
        found,
    };
    if let Some(what) = foreign_format(source.fill(16, Some(0))?) {
        return Err(wrong(what.into()));
    }
    let mut faults = Faults::new(name.clone());
    let (mut starts, mut columns, mut values) = (vec![0], Vec::<u32>::new(), Vec::new());
    let (mut has_zero, mut largest) = (false, None);
    let mut row: Vec<(u32, f64)> = Vec::new();
    // The first of the most recent blank lines.
    let mut blank = None;
    let mut number = 0;
    while let Some(length) = source.line(number, LINE_MAX, || wrong("a line longer than 256 MiB".into()))? {
        let line = &source.window()[..length];
        number += 1;
        let bytes = before_comment(line);
        let is_comment = bytes.len() < line.len();
        let text = source.text(bytes, 0, number)?;
        let mut fault = |line: u64, expected: &str, found: String| {
            let expected = expected.to_owned();
            faults.add_with(|| Fault { place: Place::Line(line), column: None, expected, found });
        };
        let mut fields = text.split_ascii_whitespace().peekable();
        if fields.peek().is_none() {
            if !is_comment {
                blank = blank.or(Some(number));
            }
            source.consume(length);
            continue;
        }
        if let Some(line) = blank.take() {
            fault(line, "a row", "a blank line between rows".into());
        }
        if let Some(label) = fields.next_if(|field| !field.contains(':'))
            && !is_label(label)
        {
            fault(number, "a number as the label", quoted(label));
        }
        row.clear();
        for field in fields {
            match pair(field) {
                Ok(None) => {}
                Ok(Some((0, _))) if first_column == Some(FirstColumn::One) => {
                    fault(number, "columns from 1 on", quoted(field));
                }
                Ok(Some(entry)) => row.push(entry),
                Err(expected) => fault(number, expected, quoted(field)),
            }
        }
        if !row.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            row.sort_by_key(|(column, _)| *column);
            for twice in row.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                fault(number, "each column once", format!("column {} again", twice[0].0));
            }
        }
        if let (Some((first, _)), Some((last, _))) = (row.first(), row.last()) {
            has_zero |= *first == 0;
            largest = largest.max(Some(*last));
        }
        for &(column, value) in row.iter().filter(|(_, value)| *value != 0.0) {
            columns.push(column);
            values.push(value);
        }
        starts.push(columns.len());
        source.consume(length);
    }
    faults.or(())?;
    if starts.len() == 1 {
        let found = if number == 0 { "an empty file" } else { "no rows" };
        return Err(Error::Empty { name: name.clone(), found });
    }
    let Some(largest) = largest else { return Err(wrong("no row with a value".into())) };
    let first = first_column.unwrap_or(if has_zero { FirstColumn::Zero } else { FirstColumn::One });
    columns.iter_mut().for_each(|column| *column -= first.number());
    let dimension = (largest - first.number()) as usize + 1;
    if dimension > Sparse::COLUMNS_MAX {
        return Err(wrong(format!("a column {largest}, where there may be {} columns", Sparse::COLUMNS_MAX)));
    }
    Ok(Sparse::new(starts, columns, values, dimension)?.with_name(name).with_first_column(first))
}

/// Returns the text before a comment.
fn before_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
    &line[..end]
}

/// Returns whether a field is a label: a number, or several numbers separated by commas.
fn is_label(field: &str) -> bool {
    field.split(',').all(|part| part.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Returns a column and its value; `None` for a `qid`, which names the query of a row in a ranking. The error is the
/// expected form.
fn pair(field: &str) -> Result<Option<(u32, f64)>, &'static str> {
    const EXPECTED: &str = "COLUMN:VALUE, a whole number and a finite one";
    let (column, value) = field.split_once(':').ok_or(EXPECTED)?;
    if column == "qid" {
        return if value.parse::<u64>().is_ok() { Ok(None) } else { Err("qid:NUMBER") };
    }
    if column.is_empty() || !column.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(EXPECTED);
    }
    let value = value.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or(EXPECTED)?;
    // If columns count from 1, the number of the last column equals the limit.
    match column.parse::<u32>() {
        Ok(column) if column as usize <= Sparse::COLUMNS_MAX => Ok(Some((column, value))),
        _ => Err("at most 16777216 columns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Sparse {
        rows_from(text.as_bytes(), "t.svm", None).unwrap()
    }

    fn message(text: &str) -> String {
        rows_from(text.as_bytes(), "t.svm", None).unwrap_err().to_string()
    }

    #[test]
    fn labels_rankings_and_comments_are_no_columns() {
        let found = rows("# written by hand\n1,2 qid:3 4:1.5 2:-2e1 # a: b\n\t3:0 \n+1\n-1 1:+7\r\n\n\n");
        assert_eq!((found.len(), found.dimension()), (4, 4));
        assert_eq!(found.row(0), (&[1, 3][..], &[-20.0, 1.5][..]));
        assert_eq!((found.row(1).0.len(), found.row(2).0.len(), found.value(3, 0)), (0, 0, 7.0));
    }

    #[test]
    fn a_column_0_makes_all_count_from_0_unless_it_is_said() {
        let first = |text: &str, first| rows_from(text.as_bytes(), "t.svm", first);
        assert_eq!((rows("1 1:5\n").dimension(), rows("1 1:5\n").first_column()), (1, FirstColumn::One));
        assert_eq!((rows("1 1:5\n1 0:2\n").dimension(), rows("1 1:5\n1 0:2\n").first_column()), (2, FirstColumn::Zero));
        let zero = first("1 1:5\n", Some(FirstColumn::Zero)).unwrap();
        assert_eq!((zero.dimension(), zero.value(0, 1), zero.column_name(1)), (2, 5.0, "x1".to_owned()));
        let refused = first("1 1:5\n1 0:2\n", Some(FirstColumn::One)).unwrap_err().to_string();
        assert_eq!(refused, "t.svm, line 2: expected columns from 1 on, found \"0:2\"");
    }

    #[test]
    fn every_wrong_field_is_a_fault_of_its_line() {
        assert_eq!(
            message("1 1:2\nyes 1:x 2\n\n1 3:1 1:1 3:2 qid:a\n1 -1:2 1:inf 99999999:1 1e3:4\n"),
            "t.svm, line 2: expected a number as the label, found \"yes\"\n\
             t.svm, line 2: expected COLUMN:VALUE, a whole number and a finite one, found \"1:x\"\n\
             t.svm, line 2: expected COLUMN:VALUE, a whole number and a finite one, found \"2\"\n\
             t.svm, line 3: expected a row, found a blank line between rows\n\
             t.svm, line 4: expected qid:NUMBER, found \"qid:a\"\n\
             t.svm, line 4: expected each column once, found column 3 again\n\
             t.svm, line 5: expected COLUMN:VALUE, a whole number and a finite one, found \"-1:2\"\n\
             t.svm, line 5: expected COLUMN:VALUE, a whole number and a finite one, found \"1:inf\"\n\
             t.svm, line 5: expected at most 16777216 columns, found \"99999999:1\"\n\
             t.svm, line 5: expected COLUMN:VALUE, a whole number and a finite one, found \"1e3:4\"\n\
             t.svm: 10 faults in all"
        );
    }

    #[test]
    fn what_has_no_rows_or_values_says_so() {
        assert_eq!(message(""), "t.svm: expected rows of numbers, found an empty file");
        assert_eq!(message("# nothing\n\n"), "t.svm: expected rows of numbers, found no rows");
        assert!(message("1\n-1\n").ends_with("found no row with a value"));
        assert!(message("PK\u{3}\u{4}").contains("a ZIP archive"));
        let last = rows_from("1 0:1 16777216:1\n".as_bytes(), "t.svm", None).unwrap_err().to_string();
        assert!(last.ends_with("found a column 16777216, where there may be 16777216 columns"), "{last}");
    }

    #[test]
    fn a_file_is_known_by_its_first_rows_or_its_name() {
        let begins = |text: &str| begins_as_svmlight(&mut Source::new(text.as_bytes(), "a.svm").unwrap());
        for rows in [
            "+1 3:1 9:2.5\n",
            "# c\n\n0 qid:1 3:1\n",
            // An empty row counts too, and rows after the third are not examined.
            "1\n0 3:1\n1,2 1:1 2:1\nx,y\n",
            "1 3:1 9:2.5 # 12:30\n\n-1 2:1",
        ] {
            assert!(begins(rows), "{rows:?}");
        }
        for table in [
            "x,y\n1,2\n",
            "1 2 3\n",
            "1 12:30 4.5\n",
            "2026-01-01 12:30\n",
            "a:1 2:3\n",
            "",
            "1\n",
            "1:2 3:4\n",
            // Times of day: one in each row; or two, the later not always second; or with a word in the third row.
            "5 12:30\n6 13:45\n7 9:15\n8 10:00\n",
            "12.5,3 10:20\n13,4 10:40\n",
            "5 9:30 12:30\n6 13:45 9:00\n",
            "5 9:30 12:30\n6 8:45 9:00\n7 late 12:00\n",
            "5 9:30 9:45\n",
        ] {
            assert!(!begins(table), "{table:?}");
        }
        let long = format!("1{}", (1..20_000).map(|j| format!(" {j}:0.25")).collect::<String>());
        assert!(begins(&long));
        let is_called = |name: &str| is_called_svmlight(&Source::new(&b""[..], name).unwrap());
        assert!(is_called("a.svm.gz") && is_called("A.LIBSVM") && is_called("a.svmlight") && !is_called("svm"));
    }
}
