//! The input of methods on dissimilarities: a matrix, the names of the items, their weights and their known classes.

use std::io;
use std::path::Path;

use lehr_data::error::{Column, Fault, Faults, Place};
use lehr_data::object;
use lehr_data::read::{self, Selection};
use lehr_methods::{Classes, Matrix};

use crate::exit::{Failure, Kind};
use crate::folder;
use crate::output;

/// Reads a matrix from a file or from a folder of `lehr distances`. If `lehr distances` wrote a table of items beside
/// it, reads this table too; otherwise numbers the items from 0.
///
/// # Errors
/// Returns a fault in a file, or a failure if the table's items are not the matrix's.
pub fn read_matrix(path: &Path, quiet: bool) -> Result<Matrix, Failure> {
    // A folder of `lehr distances` stands for the matrix in it.
    let inside = path.join(folder::HEADER);
    let path = if path.is_dir() && inside.is_file() { &inside } else { path };
    if path.is_dir() {
        let message =
            format!("{}: expected dissimilarities, found a folder without {}", object::shown(path), folder::HEADER);
        return Err(Failure::new(Kind::BadData, message).with_hint("lehr distances FILE --out FOLDER computes them"));
    }
    let dissimilarities = read::dissimilarities::matrix(path)?;
    let items = dissimilarities.items();
    let table = path.with_file_name(folder::IDS);
    if dissimilarities.header().is_none() || !object::exists(&table)? {
        let ids = (0..items).map(|item| item.to_string()).collect();
        return Ok(Matrix { dissimilarities, ids, weights: None, classes: Vec::new(), smiles: None });
    }
    let text = io::read_to_string(read::open(&table)?)
        .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", object::shown(&table))))?;
    let names: Vec<&str> = text.lines().next().unwrap_or_default().split(',').map(|name| name.trim()).collect();
    let is_weighted = names.contains(&"weight");
    let selection = Selection {
        columns: Some(vec!["item".into()]),
        weights: is_weighted.then(|| "weight".into()),
        id: Some("id".into()),
        header: Some(true),
        ..Selection::default()
    };
    let rows = read::points(&table, &selection)?;
    if rows.len() != items {
        let message =
            format!("{}: expected {items} items, as the matrix has, found {}", object::shown(&table), rows.len());
        return Err(Failure::new(Kind::BadData, message));
    }
    let index = names.iter().position(|name| *name == "item").unwrap_or_default();
    in_order(&table, index, rows.values())?;
    let has_structures = names.contains(&"smiles");
    let known = ["item", "id", "weight", "smiles"];
    let unknown: Vec<&str> = names.into_iter().filter(|name| !known.contains(name)).collect();
    if !unknown.is_empty() {
        output::warning(&format!(
            "{}: Lehr does not use the columns {}; a column named weight gives the items weights",
            object::shown(&table),
            unknown.join(", ")
        ));
    }
    let weights = rows.weights().map(<[f64]>::to_vec);
    if weights.is_some() && !quiet {
        output::note(&format!("each item counts as many times as there were equal ones ({})", object::shown(&table)));
    }
    let ids = rows.ids().map_or_else(|| (0..items).map(|item| item.to_string()).collect(), <[String]>::to_vec);
    let structures = || -> Result<Vec<String>, Failure> {
        let found = read::classes::classes_of(&table, "id", "smiles", &ids)?;
        Ok(found.into_iter().map(Option::unwrap_or_default).collect())
    };
    let smiles = if has_structures { Some(structures()?) } else { None };
    Ok(Matrix { dissimilarities, ids, weights, classes: Vec::new(), smiles })
}

/// Checks that the rows of the table of items are in the order of the matrix: names and weights go by position.
fn in_order(table: &Path, index: usize, items: &[f64]) -> Result<(), Failure> {
    let mut faults = Faults::new(object::shown(table));
    for (row, item) in items.iter().enumerate().filter(|(row, item)| **item != *row as f64) {
        faults.add_with(|| Fault {
            place: Place::Line(row as u64 + 2),
            column: Some(Column { index, name: Some("item".into()) }),
            expected: row.to_string(),
            found: item.to_string(),
        });
    }
    faults.or(()).map_err(|faults| {
        Failure::from(faults).with_hint("the rows have to be in the order of the matrix: sort them by the column item")
    })
}

/// Reads the classes of the items from a column of a table that has their ids in the column `id`. The labels.csv of
/// another run is such a table.
///
/// # Errors
/// Returns a fault in the file, or a failure if no item has a class in it. Also fails if items share an id, unless the
/// file has exactly these items.
pub fn classes(matrix: &Matrix, path: &Path, column: &str, quiet: bool) -> Result<Classes, Failure> {
    let found = read::classes::classes_of(path, "id", column, &matrix.ids)?;
    let missing: Vec<&str> =
        matrix.ids.iter().zip(&found).filter(|(_, class)| class.is_none()).map(|(id, _)| id.as_str()).collect();
    if missing.len() == found.len() {
        let shown = missing.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        let message = format!(
            "{}: expected a {column} for items by the column id, found none for any of them: {shown}",
            object::shown(path),
        );
        return Err(Failure::new(Kind::BadData, message));
    }
    if !missing.is_empty() && !quiet {
        let of = format!("{} of {} items have no {column}", missing.len(), found.len());
        output::note(&format!("{}: {of}; the map shows them in grey", object::shown(path)));
    }
    let texts: Vec<&str> = found.iter().map(|class| class.as_deref().unwrap_or_default()).collect();
    Ok(Classes::new(column, &texts))
}
