//! Reads known classes of items: two text columns of a table with a header, for an id and a class.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use crate::error::{Column, Error, Fault, Faults, Place, quoted};
use crate::object;
use crate::read::records::{Record, Records};
use crate::read::source::Source;

/// Reads ids and classes from the columns with these names, in the order of rows.
///
/// Ids and classes are text; spaces around them are ignored. Cost: one pass; memory for the texts.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`], [`Error::Encoding`]: the file cannot
///   be read to its end.
/// - [`Error::Empty`], [`Error::NoSuchColumns`]: there are no rows or no such columns.
/// - [`Error::Faults`]: rows without an id or a class, or ids with two classes; the first ten in full, and the total
///   number.
pub fn classes(path: &Path, id: &str, class: &str) -> Result<Vec<(String, String)>, Error> {
    told(Source::open(path)?, id, class, false, |_| false)
}

/// Like [`classes`], from a reader; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`classes`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::classes::classes_from;
/// let table = "item,id,family\n0,ALU1,AluY\n1,ALU2,AluJ\n";
/// let read = classes_from(table.as_bytes(), "ids.csv", "id", "family")?;
/// assert_eq!(read[1], ("ALU2".to_owned(), "AluJ".to_owned()));
/// let error = classes_from(table.as_bytes(), "ids.csv", "id", "cluster").unwrap_err();
/// assert!(error.to_string().contains("cluster"));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn classes_from(reader: impl Read, name: &str, id: &str, class: &str) -> Result<Vec<(String, String)>, Error> {
    told(Source::new(reader, name)?, id, class, false, |_| false)
}

/// Reads an id and a class from each row, in the order of rows. A row may have no class, which gives an empty text, and
/// rows may share an id.
///
/// # Errors
/// Returns the errors of [`classes`], except those about classes.
///
/// # Example
/// ```
/// use lehr_data::read::classes::rows;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// std::fs::write(&path, "id,cluster\na,0\nb,\n").unwrap();
/// assert_eq!(rows(&path, "id", "cluster")?[1], ("b".to_owned(), String::new()));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn rows(path: &Path, id: &str, class: &str) -> Result<Vec<(String, String)>, Error> {
    told(Source::open(path)?, id, class, true, |_| true)
}

/// Returns the class of each of these items; `None` for an item without a class or without a row. Rows of other items
/// are ignored.
///
/// If the table has exactly these items in this order, its rows give the classes, whatever the ids are. So items with
/// the same id have the classes of their own rows in the results of a run over them. In other tables, items are found
/// by their ids.
///
/// # Errors
/// Returns the errors of [`classes`]; ids with two classes are faults only if items are found by id.
///
/// # Example
/// ```
/// use lehr_data::read::classes::classes_of;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("labels.csv");
/// std::fs::write(&path, "id,cluster\na,0\na,1\nb,1\n").unwrap();
/// let items = |ids: &[&str]| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>();
/// let found = classes_of(&path, "id", "cluster", &items(&["a", "a", "b"]))?;
/// assert_eq!(found, [Some("0".to_owned()), Some("1".to_owned()), Some("1".to_owned())]);
/// let error = classes_of(&path, "id", "cluster", &items(&["b", "a"])).unwrap_err().to_string();
/// assert!(error.ends_with("line 3, column 2 (\"cluster\"): expected \"0\" for \"a\", as in line 2, found \"1\""), "{error}");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn classes_of(path: &Path, id: &str, class: &str, items: &[String]) -> Result<Vec<Option<String>>, Error> {
    let is_of_these = |told: &[(String, String)]| told.iter().map(|(id, _)| id).eq(items);
    let told = told(Source::open(path)?, id, class, true, is_of_these)?;
    let some = |class: String| (!class.is_empty()).then_some(class);
    if is_of_these(&told) {
        return Ok(told.into_iter().map(|(_, class)| some(class)).collect());
    }
    let known: HashMap<String, String> = told.into_iter().collect();
    Ok(items.iter().map(|item| known.get(item).cloned().and_then(some)).collect())
}

/// Reads ids and classes in the order of rows. Each id must have one class, unless `may_differ` returns true for all
/// rows. If `may_be_missing`, a row without a class gets an empty text as its class; otherwise such a row is a fault.
fn told(
    source: Source<'_>,
    id: &str,
    class: &str,
    may_be_missing: bool,
    may_differ: impl Fn(&[(String, String)]) -> bool,
) -> Result<Vec<(String, String)>, Error> {
    let name = source.name().to_owned();
    let mut records = Records::new(source, None)?;
    let mut record = Record::default();
    let empty = |found| Error::Empty { name: name.clone(), found };
    if !records.read(&mut record)? {
        return Err(empty("an empty file"));
    }
    let columns: Vec<String> = record.fields().map(|field| field.trim().to_owned()).collect();
    let at = |wanted: &str| columns.iter().position(|column| column == wanted);
    let missing: Vec<String> = [id, class].into_iter().filter(|wanted| at(wanted).is_none()).map(Into::into).collect();
    let (Some(id_at), Some(class_at)) = (at(id), at(class)) else {
        return Err(Error::NoSuchColumns { name, wanted: missing, columns });
    };
    let (mut read, mut lines) = (Vec::new(), Vec::new());
    let mut faults = Faults::new(&name);
    let column = |index: usize| Some(Column { index, name: Some(columns[index].clone()) });
    while records.read(&mut record)? {
        let place = Place::Line(record.line);
        let mut field = |index: usize, what: &str| {
            let text = record.field(index).map(str::trim).filter(|text| !text.is_empty());
            if text.is_none() && index == class_at && may_be_missing {
                return Some(String::new());
            }
            if text.is_none() {
                let (expected, found) = (what.to_owned(), "nothing".to_owned());
                faults.add_with(|| Fault { place, column: column(index), expected, found });
            }
            text.map(str::to_owned)
        };
        let (Some(id), Some(class)) = (field(id_at, "an id"), field(class_at, "a class")) else { continue };
        read.push((id, class));
        lines.push(record.line);
    }
    if !may_differ(&read) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (row, (id, class)) in read.iter().enumerate() {
            let before = *first.entry(id).or_insert(row);
            if read[before].1 != *class {
                faults.add_with(|| Fault {
                    place: Place::Line(lines[row]),
                    column: column(class_at),
                    expected: format!("{} for {}, as in line {}", quoted(&read[before].1), quoted(id), lines[before]),
                    found: quoted(class),
                });
            }
        }
    }
    faults.or(())?;
    if read.is_empty() {
        return Err(empty("a header and no rows"));
    }
    Ok(read)
}

/// Returns, for each item, whether its value in the column `flag` is 1. All other values must be 0. Rows of other items
/// are ignored.
///
/// # Errors
/// Returns the errors of [`classes`]; [`Error::Format`] for an item whose class is missing or is neither 0 nor 1.
pub fn flags(path: &Path, id: &str, flag: &str, items: &[String]) -> Result<Vec<bool>, Error> {
    flags_of(classes(path, id, flag)?, &object::shown(path), flag, items)
}

fn flags_of(told: Vec<(String, String)>, name: &str, flag: &str, items: &[String]) -> Result<Vec<bool>, Error> {
    let told: HashMap<String, String> = told.into_iter().collect();
    let wrong = |expected: String, found| Err(Error::Format { name: name.to_owned(), expected, found });
    let is_set = |item: &String| match told.get(item).map(String::as_str) {
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(other) => wrong(format!("0 or 1 in the column {flag} for {item}"), quoted(other)),
        None => wrong("a row for each item".to_owned(), format!("none for {item}")),
    };
    items.iter().map(is_set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_those_of_the_items_in_their_order_and_what_is_none_is_told() {
        let flags = |table: &str| {
            let told = classes_from(table.as_bytes(), "t.csv", "id", "active").unwrap();
            flags_of(told, "t.csv", "active", &["b", "a"].map(String::from)).map_err(|error| error.to_string())
        };
        assert_eq!(flags("id,active\na,0\nb,1\nz,maybe\n").unwrap(), [true, false]);
        assert_eq!(flags("id,active\na,0\n").unwrap_err(), "t.csv: expected a row for each item, found none for b");
        let fault = flags("id,active\na,0\nb,yes\n").unwrap_err();
        assert_eq!(fault, "t.csv: expected 0 or 1 in the column active for b, found \"yes\"");
    }

    fn read(table: &str) -> Result<Vec<(String, String)>, String> {
        classes_from(table.as_bytes(), "t.csv", "id", "class").map_err(|error| error.to_string())
    }

    #[test]
    fn columns_are_found_by_name_wherever_they_stand() {
        let found = read("class;x;id\nred ;1;a\n\"blue;\";2; b\n").unwrap();
        assert_eq!(found, [("a".into(), "red".into()), ("b".into(), "blue;".into())]);
    }

    #[test]
    fn rows_without_a_class_and_ids_with_two_are_told_with_their_line() {
        let error = read("id,class\na,1\nb\nc,\na,2\na,1\n").unwrap_err();
        assert!(error.contains("t.csv, line 3, column 2 (\"class\"): expected a class, found nothing"), "{error}");
        assert!(error.contains("line 4, column 2 (\"class\"): expected a class, found nothing"), "{error}");
        assert!(
            error.contains("line 5, column 2 (\"class\"): expected \"1\" for \"a\", as in line 2, found \"2\""),
            "{error}"
        );
        assert!(error.ends_with("3 faults in all"), "{error}");
    }

    #[test]
    fn tables_without_rows_or_columns_are_refused() {
        for (table, words) in
            [("", "an empty file"), ("id,class\n", "a header and no rows"), ("id,klass\na,1\n", "class")]
        {
            let error = read(table).unwrap_err();
            assert!(error.contains(words), "{table:?}: {error}");
        }
    }
}
