//! Weights of rows of bits and of sparse rows, whose files cannot hold them: read from a separate table.

use std::collections::HashMap;
use std::path::Path;

use lehr_data::Points;
use lehr_data::object;
use lehr_data::read::{self, Selection};

use crate::exit::{Failure, Kind};

/// Returns the weights of the rows with these ids, from the weight column of the selection. If the selection names a
/// column of ids, each weight comes from the row with the same id. Otherwise, the weights are in the order of the rows.
///
/// # Errors
/// Returns [`Kind::BadData`] for a table that cannot be read, that lacks a row for an id, or that has two rows with one
/// id.
pub fn of_rows(rows: &[String], path: &Path, selection: &Selection) -> Result<Vec<f64>, Failure> {
    let columns = selection.weights.clone().map(|column| vec![column]);
    let table = read::points(path, &Selection { columns, weights: None, ..selection.clone() })?;
    let bad = |message: String| Failure::new(Kind::BadData, format!("{}: {message}", object::shown(path)));
    match table.ids() {
        Some(ids) => by_id(rows, ids, &table).map_err(bad),
        None if table.len() == rows.len() => Ok(table.column(0).collect()),
        None => {
            let message =
                format!("expected {} rows, one for each that is clustered, found {}", rows.len(), table.len());
            Err(bad(message).with_hint("--id names the column of ids by which rows are found"))
        }
    }
}

fn by_id(rows: &[String], ids: &[String], table: &Points) -> Result<Vec<f64>, String> {
    let mut weights = HashMap::with_capacity(ids.len());
    for (id, weight) in ids.iter().zip(table.column(0)) {
        if weights.insert(id.as_str(), weight).is_some() {
            return Err(format!("expected one row for each id, found two for {id:?}"));
        }
    }
    let of = |id: &String| {
        let weight = weights.get(id.as_str()).copied();
        weight.ok_or_else(|| format!("expected a row for each that is clustered, found none for {id:?}"))
    };
    rows.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(table: &str, id: Option<&str>) -> Result<Vec<f64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.csv");
        std::fs::write(&path, table).unwrap();
        let rows = ["a", "b", "c"].map(String::from);
        let selection = Selection { weights: Some("doses".into()), id: id.map(String::from), ..Selection::default() };
        of_rows(&rows, &path, &selection).map_err(|failure| failure.message)
    }

    #[test]
    fn weights_are_found_by_id_or_stand_row_by_row() {
        let table = "name,doses,other\nc,3,9\na,1,9\nb,0.5,9\nz,7,9\n";
        assert_eq!(weighted(table, Some("name")).unwrap(), [1.0, 0.5, 3.0]);
        assert_eq!(weighted("doses,x\n4,1\n5,1\n6,1\n", None).unwrap(), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn what_is_missing_or_there_twice_is_told() {
        let fault = |table, id| weighted(table, id).unwrap_err();
        assert!(fault("name,doses\na,1\nb,2\n", Some("name")).contains("found none for \"c\""));
        assert!(fault("name,doses\na,1\nb,2\na,3\nc,1\n", Some("name")).contains("found two for \"a\""));
        let two = fault("name,doses\na,1\nb,2\n", None);
        assert!(two.contains("expected 3 rows, one for each that is clustered, found 2"), "{two}");
        assert!(fault("name,dose\na,1\n", None).contains("doses"));
    }
}
