//! The input of `lehr pairwise` and `lehr embed`: dissimilarities, the names of the items, their weights and their known classes.

use std::collections::HashMap;
use std::path::Path;

use lehr_data::read::{self, Selection};
use lehr_methods::Matrix;

use crate::exit::{Failure, Kind};
use crate::folder;
use crate::output;

/// Reads a matrix, and the table of items that `lehr distances` wrote beside it.
///
/// # Errors
/// What is wrong with a file; a table of other items than the matrix has.
pub fn read_matrix(path: &Path, quiet: bool) -> Result<Matrix, Failure> {
    let dissimilarities = read::dissimilarities::matrix(path)?;
    let items = dissimilarities.items();
    let table = path.with_file_name(folder::IDS);
    if dissimilarities.header().is_none() || !table.is_file() {
        let ids = (0..items).map(|item| item.to_string()).collect();
        return Ok(Matrix { dissimilarities, ids, weights: None });
    }
    let text = std::fs::read_to_string(&table)
        .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", table.display())))?;
    let is_weighted = text.lines().next().is_some_and(|head| head.split(',').any(|name| name == "weight"));
    let selection = Selection {
        columns: Some(vec!["item".into()]),
        weights: is_weighted.then(|| "weight".into()),
        id: Some("id".into()),
        header: Some(true),
        ..Selection::default()
    };
    let rows = read::points(&table, &selection)?;
    if rows.len() != items {
        let message = format!("{}: expected {items} items, as the matrix has, found {}", table.display(), rows.len());
        return Err(Failure::new(Kind::BadData, message));
    }
    let weights = rows.weights().map(<[f64]>::to_vec);
    if weights.is_some() && !quiet {
        output::note(&format!("items are weighted by how many equal ones they stand for ({})", table.display()));
    }
    let ids = rows.ids().map_or_else(|| (0..items).map(|item| item.to_string()).collect(), <[String]>::to_vec);
    Ok(Matrix { dissimilarities, ids, weights })
}

/// The classes of the items: a column of a table that has their ids in the column `id`, such as the labels.csv of another run.
///
/// # Errors
/// What is wrong with the file; an item that is not in it; items that share an id, if the file is not of just these items.
pub fn classes(matrix: &Matrix, path: &Path, column: &str) -> Result<Classes, Failure> {
    let found = read::classes::classes_of(path, "id", column, &matrix.ids)?;
    let missing: Vec<&str> =
        matrix.ids.iter().zip(&found).filter(|(_, class)| class.is_none()).map(|(id, _)| id.as_str()).collect();
    if !missing.is_empty() {
        let shown = missing.iter().take(10).copied().collect::<Vec<_>>().join(", ");
        let message = format!(
            "{}: expected a {column} for each item, found none for {} of them: {shown}",
            path.display(),
            missing.len()
        );
        return Err(Failure::new(Kind::BadData, message));
    }
    let texts: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
    Ok(Classes::new(column, &texts))
}

/// Classes of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    /// What they are: the name of their column.
    pub name: String,
    /// Each class, in order: by number if all are numbers.
    pub classes: Vec<String>,
    /// The class of each item.
    pub of: Vec<u32>,
}

impl Classes {
    /// Classes by their texts, one an item.
    pub fn new(name: &str, texts: &[&str]) -> Self {
        let mut classes = texts.to_vec();
        classes.sort_unstable();
        classes.dedup();
        let numbers: Option<Vec<u64>> = classes.iter().map(|class| class.parse().ok()).collect();
        if numbers.is_some() {
            classes.sort_by_key(|class| class.parse::<u64>().unwrap_or_default());
        }
        let place: HashMap<&str, u32> = classes.iter().copied().zip(0..).collect();
        let of = texts.iter().map(|text| place[text]).collect();
        Self { name: name.into(), classes: classes.into_iter().map(str::to_owned).collect(), of }
    }

    /// Clusters that were found, which have numbers.
    pub fn numbered(name: &str, labels: &[u32]) -> Self {
        let count = labels.iter().max().map_or(0, |most| most + 1);
        Self {
            name: name.into(),
            classes: (0..count).map(|cluster| cluster.to_string()).collect(),
            of: labels.to_vec(),
        }
    }

    /// The class of an item.
    pub fn class(&self, item: usize) -> &str {
        &self.classes[self.of[item] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_by_number_if_they_are_numbers() {
        let numbers = Classes::new("cluster", &["10", "9", "10"]);
        assert_eq!((numbers.classes, numbers.of), (vec!["9".to_owned(), "10".to_owned()], vec![1, 0, 1]));
        let words = Classes::new("family", &["AluY", "10", "AluJ"]);
        assert_eq!((words.class(0), words.class(2)), ("AluY", "AluJ"));
        assert_eq!(words.classes, ["10", "AluJ", "AluY"]);
        assert_eq!(Classes::numbered("cluster", &[1, 0, 1]).class(0), "1");
    }
}
