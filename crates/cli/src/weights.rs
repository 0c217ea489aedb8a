//! Weights of rows of bits, whose files have no place for them: from a table beside.

use std::collections::HashMap;
use std::path::Path;

use lehr_data::read::{self, Selection};
use lehr_data::{Fingerprints, Points};

use crate::exit::{Failure, Kind};

/// The same rows with the weights of a table: those of the column of weights of the selection, from the row with the same id if it names a column of ids, else row by row.
///
/// # Errors
/// [`Kind::BadData`] for a table that cannot be read, has not a row for each row of bits, or two with one id; for weights that are none.
pub fn with_table(rows: Fingerprints, path: &Path, selection: &Selection) -> Result<Fingerprints, Failure> {
    let columns = selection.weights.clone().map(|column| vec![column]);
    let table = read::points(path, &Selection { columns, weights: None, ..selection.clone() })?;
    let bad = |message: String| Failure::new(Kind::BadData, format!("{}: {message}", path.display()));
    let weights = match table.ids() {
        Some(ids) => by_id(&rows, ids, &table).map_err(bad)?,
        None if table.len() == rows.len() => table.column(0).collect(),
        None => {
            let message = format!("expected {} rows, one for each row of bits, found {}", rows.len(), table.len());
            return Err(bad(message).with_hint("--id names the column of ids by which rows are found"));
        }
    };
    Ok(rows.with_weights(weights)?)
}

fn by_id(rows: &Fingerprints, ids: &[String], table: &Points) -> Result<Vec<f64>, String> {
    let mut weights = HashMap::with_capacity(ids.len());
    for (id, weight) in ids.iter().zip(table.column(0)) {
        if weights.insert(id.as_str(), weight).is_some() {
            return Err(format!("expected one row for each id, found two for {id:?}"));
        }
    }
    let of = |id: &String| {
        let weight = weights.get(id.as_str()).copied();
        weight.ok_or_else(|| format!("expected a row for each row of bits, found none for {id:?}"))
    };
    rows.ids().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(table: &str, id: Option<&str>) -> Result<Vec<f64>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weights.csv");
        std::fs::write(&path, table).unwrap();
        let rows = Fingerprints::new(vec![1, 2, 3], 8).unwrap().with_ids(["a", "b", "c"].map(String::from).to_vec());
        let selection = Selection { weights: Some("doses".into()), id: id.map(String::from), ..Selection::default() };
        let rows = with_table(rows.unwrap(), &path, &selection).map_err(|failure| failure.message)?;
        Ok(rows.weights().unwrap().to_vec())
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
        assert!(fault("name,doses\na,1\nb,2\n", None).contains("expected 3 rows, one for each row of bits, found 2"));
        assert!(fault("name,doses\na,1\nb,-2\nc,1\n", None).contains("a weight of 0 or more"));
        assert!(fault("name,dose\na,1\n", None).contains("doses"));
    }
}
