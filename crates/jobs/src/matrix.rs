//! Dissimilarities of all pairs as tables: the result of the distances method, and the input of declared methods on a
//! matrix.
//!
//! | table of a matrix of N items | rows | columns of numbers |
//! | --- | --- | --- |
//! | condensed: the pairs (0,1), (0,2), …, (1,2), … | N (N - 1) / 2 | 1 |
//! | full: symmetric, 0 on the diagonal | N | N |
//!
//! A missing dissimilarity is NaN. A second table with N rows has the names of the items and, if there are any, their
//! weights and the structures of compounds. A third table has known classes of the items.

use std::borrow::Cow;
use std::collections::HashMap;

use lehr_data::dissimilarities::{Dissimilarities, Form, MISSING_U16, Values};
use lehr_methods::{Classes, Matrix};
use lehr_services::{Code, Fault};

use crate::method::{Failure, Inputs};
use crate::table::{Builder, Kind, Table};

/// The name of the input with the matrix.
pub(crate) const MATRIX: &str = "matrix";
pub(crate) const ITEMS: &str = "items";
/// The name of the input with known classes of the items.
pub(crate) const LABELS: &str = "labels";

/// The name of the column with the structures of compounds.
pub(crate) const SMILES: &str = "smiles";

/// The name of the column with the numbers of clusters.
const CLUSTER: &str = "cluster";

/// The name of the column in a condensed matrix that this module writes.
pub(crate) const COLUMN: &str = "dissimilarity";

/// Reads the matrix from the inputs, and its items and their classes if the inputs include them.
///
/// # Errors
/// Returns [`Failure::Input`] for a table that is not a matrix, for invalid dissimilarities, and for a wrong number of
/// items. Also returns it for classes that belong to none of the items.
pub(crate) fn of_inputs(inputs: &Inputs) -> Result<Matrix, Failure> {
    let mut matrix = without_classes(inputs)?;
    if let Some(labels) = inputs.optional(LABELS) {
        matrix.classes = classes(labels, inputs.dataset(LABELS), &matrix.ids)?;
    }
    Ok(matrix)
}

/// Reads the classes of items from a table with their ids: its column `cluster`, and each column of texts.
fn classes(table: &Table, name: &str, ids: &[String]) -> Result<Vec<Classes>, Failure> {
    let failure = |reason: String| Failure::input(format!("{name}: {reason}"));
    let key = table.id().unwrap_or("id");
    let own = table.texts(key).ok_or_else(|| failure(format!("expected ids of items in a column {key:?}")))?;
    let row_of: HashMap<&str, usize> = own.iter().enumerate().rev().map(|(row, id)| (&**id, row)).collect();
    // Equal ids are told apart by their positions, if the tables have the same items.
    let row = |item: usize| if own == ids { Some(item) } else { row_of.get(&*ids[item]).copied() };
    let rows: Vec<Option<usize>> = (0..ids.len()).map(row).collect();
    if rows.iter().all(Option::is_none) {
        let first = ids.first().map(String::as_str).unwrap_or_default();
        return Err(failure(format!("expected ids of items, such as {first:?}, found none in the column {key:?}")));
    }
    let found: Vec<Classes> = table
        .columns()
        .filter(|(column, kind)| *column != key && (*kind == Kind::Text || *column == CLUSTER))
        .filter_map(|(column, _)| {
            let texts = table.texts(column)?;
            let of_items: Vec<&str> = rows.iter().map(|row| row.map_or("", |row| &*texts[row])).collect();
            Some(Classes::new(column, &of_items))
        })
        .collect();
    if found.is_empty() {
        return Err(failure(format!("expected classes in a column {CLUSTER:?} or in columns of texts, found none")));
    }
    Ok(found)
}

fn without_classes(inputs: &Inputs) -> Result<Matrix, Failure> {
    let table = inputs.table(MATRIX)?;
    let dissimilarities = table.dissimilarities(inputs.dataset(MATRIX))?;
    let number = dissimilarities.items();
    let numbered = || (0..number).map(|item| item.to_string()).collect();
    let Some(items) = inputs.optional(ITEMS) else {
        // A full matrix may have a column with the names of its rows.
        let own = table.id().filter(|_| table.rows() == number).and_then(|id| table.texts(id));
        return Ok(Matrix {
            dissimilarities,
            ids: own.unwrap_or_else(numbered),
            weights: None,
            classes: Vec::new(),
            smiles: None,
        });
    };
    if items.rows() != number {
        let reason = format!(
            "{}: expected {number} rows, one for each item of {}, found {}",
            inputs.dataset(ITEMS),
            inputs.dataset(MATRIX),
            items.rows()
        );
        return Err(Failure::input(reason));
    }
    let ids = items.id().and_then(|id| items.texts(id)).unwrap_or_else(numbered);
    let weights = items.weights().and_then(|weights| items.numbers(weights)).map(Cow::into_owned);
    Ok(Matrix { dissimilarities, ids, weights, classes: Vec::new(), smiles: items.texts(SMILES) })
}

impl Table {
    /// Reads a table as the dissimilarities of all pairs: one column of N (N - 1) / 2 numbers, or N columns of N
    /// numbers. Messages call the table `name`.
    ///
    /// # Errors
    /// Returns [`Failure::Input`] for a table of another shape, or for invalid dissimilarities.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Table;
    /// let table = Table::builder().numbers("dissimilarity", vec![3.0, 4.0, 5.0]).build()?;
    /// let matrix = table.dissimilarities("triangle")?;
    /// assert_eq!((matrix.items(), matrix.get(2, 0)), (3, Some(4.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dissimilarities(&self, name: &str) -> Result<Dissimilarities, Failure> {
        let free = self.columns().filter(|(column, _)| Some(*column) != self.id() && Some(*column) != self.weights());
        let columns: Vec<&str> = free.filter(|(_, kind)| *kind != Kind::Text).map(|(column, _)| column).collect();
        let rows = self.rows();
        let named = |error: lehr_data::Error| match Failure::from(error) {
            Failure::Input(reason) => Failure::Input(format!("{name}: {reason}")),
            failure => failure,
        };
        if let [column] = columns[..]
            && let Some(items) = items_of(rows)
        {
            let (values, scale) = match (self.singles(column), self.fixed(column)) {
                (Some(singles), _) => (Values::F32(singles.to_vec()), 1.0),
                (None, Some((values, scale))) => (Values::U16(values.to_vec()), scale),
                (None, None) => (Values::F64(self.numbers(column).unwrap_or_default().into_owned()), 1.0),
            };
            return Dissimilarities::new(items, Form::Condensed, values, scale).map_err(named);
        }
        if columns.len() == rows && rows > 0 {
            let columns: Vec<Cow<'_, [f64]>> = columns.iter().filter_map(|column| self.numbers(column)).collect();
            let values = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
            return Dissimilarities::new(rows, Form::Full, Values::F64(values), 1.0).map_err(named);
        }
        let expected =
            "expected dissimilarities of all pairs: N (N - 1) / 2 rows of one column, or N rows of N columns";
        Err(Failure::input(format!("{name}: {expected}; found {rows} rows, {} columns of numbers", columns.len())))
    }
}

/// Returns the pairs of a matrix as a table with one column, in condensed order.
pub(crate) fn table_of(matrix: Dissimilarities, name: &str) -> Result<Table, Fault> {
    if matrix.items() < 2 {
        let reason = format!("{name}: expected at least 2 items, which make a pair, found {}", matrix.items());
        return Err(Fault::new(Code::InvalidValue, reason));
    }
    let scale = matrix.scale();
    let (has_gaps, builder) = match matrix.into_condensed() {
        Values::U16(values) => (values.contains(&MISSING_U16), Table::builder().fixed(COLUMN, values, scale)),
        Values::F32(values) if scale == 1.0 => {
            (values.iter().any(|value| value.is_nan()), Table::builder().singles(COLUMN, values))
        }
        Values::F32(values) => of_numbers(values.into_iter().map(|value| f64::from(value) * scale).collect()),
        Values::F64(values) => of_numbers(values.into_iter().map(|value| value * scale).collect()),
    };
    builder.gaps(has_gaps).build()
}

fn of_numbers(values: Vec<f64>) -> (bool, Builder) {
    (values.iter().any(|value| value.is_nan()), Table::builder().numbers(COLUMN, values))
}

/// Returns the number of items that have this many pairs, if there is such a number.
fn items_of(pairs: usize) -> Option<usize> {
    let items = pairs.checked_mul(8)?.checked_add(1)?.isqrt().div_ceil(2);
    (pairs > 0 && Form::Condensed.numbers(items) == pairs).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_items_follows_from_that_of_pairs() {
        for items in 2..2000 {
            assert_eq!(items_of(Form::Condensed.numbers(items)), Some(items));
        }
        for none in [0, 2, 4, 5, 7, 14, usize::MAX] {
            assert_eq!(items_of(none), None, "{none}");
        }
    }

    #[test]
    fn both_forms_are_one_matrix_and_others_are_refused() {
        let condensed = Table::builder().singles("d", vec![1.0, 2.0, f32::NAN]).gaps(true).build().unwrap();
        let found = condensed.dissimilarities("pairs").unwrap();
        assert_eq!((found.items(), found.get(0, 2), found.get(1, 2)), (3, Some(2.0), None));
        let fixed = Table::builder().fixed("d", vec![2, 4, u16::MAX], 0.5).gaps(true).build().unwrap();
        let found = fixed.dissimilarities("pairs").unwrap();
        assert_eq!((found.get(0, 1), found.get(0, 2), found.get(1, 2)), (Some(1.0), Some(2.0), None));
        let full = Table::builder().texts("id", ["a", "b"].map(String::from).to_vec()).id(Some("id".into()));
        let full = full.numbers("a", vec![0.0, 4.0]).numbers("b", vec![4.0, 0.0]).build().unwrap();
        assert_eq!(full.dissimilarities("square").unwrap().get(1, 0), Some(4.0));
        let inputs = Inputs::of([(MATRIX, full)]);
        assert_eq!(of_inputs(&inputs).unwrap().ids, ["a", "b"]);
        let items = Table::builder().texts("id", vec!["a".into()]).build().unwrap();
        let fault = of_inputs(&Inputs::of([(MATRIX, condensed), (ITEMS, items)])).err().unwrap();
        assert_eq!(fault.to_string(), "items: expected 3 rows, one for each item of matrix, found 1");
        let points = Table::builder().numbers("x", vec![1.0, 2.0]).numbers("y", vec![1.0, 2.0]);
        let fault = points.build().unwrap().dissimilarities("points").unwrap_err();
        assert!(
            fault.to_string().starts_with("points: dissimilarities, row 1, column 1: expected 0 on the diagonal"),
            "{fault}"
        );
        let three = Table::builder().numbers("x", vec![1.0, 2.0]).build().unwrap();
        assert!(three.dissimilarities("x").unwrap_err().to_string().ends_with("found 2 rows, 1 columns of numbers"));
    }

    #[test]
    fn classes_belong_to_items_by_id_and_by_position_if_ids_repeat() {
        let texts = |name: &str, values: &[&str]| {
            let ids = values.iter().map(|value| (*value).to_owned()).collect();
            Table::builder().texts(name, ids).id(Some(name.to_owned()))
        };
        let read = |items: &[&str], labels: Table| {
            let matrix = Table::builder().numbers("d", vec![1.0, 2.0, 3.0]).build().unwrap();
            let smiles = ["C", "CC", "CCC"].map(str::to_owned).to_vec();
            let items = texts("id", items).texts(SMILES, smiles).build().unwrap();
            of_inputs(&Inputs::of([(MATRIX, matrix), (ITEMS, items), (LABELS, labels)]))
        };
        let of = |matrix: &Matrix, place: usize| -> Vec<String> {
            (0..3).map(|item| matrix.classes[place].class(item).to_owned()).collect()
        };
        // Another order, one item missing, and one that is not an item.
        let labels =
            texts("id", &["c", "x", "a"]).counts("cluster", vec![1, 7, 0]).numbers("probability", vec![1.0; 3]);
        let labels = labels.texts("family", ["J", "X", "S"].map(str::to_owned).to_vec()).build().unwrap();
        let matrix = read(&["a", "b", "c"], labels).unwrap();
        assert_eq!(matrix.classes.iter().map(|classes| &*classes.name).collect::<Vec<_>>(), ["cluster", "family"]);
        assert_eq!(
            (of(&matrix, 0), of(&matrix, 1)),
            (vec!["0".into(), String::new(), "1".into()], vec!["S".into(), String::new(), "J".into()])
        );
        assert_eq!(matrix.smiles.unwrap()[2], "CCC");
        let same = texts("name", &["a", "a", "b"]).whole("cluster", vec![-1.0, 0.0, 1.0]).build().unwrap();
        assert_eq!(of(&read(&["a", "a", "b"], same).unwrap(), 0), ["-1", "0", "1"]);
        let strange = texts("id", &["x", "y"]).counts("cluster", vec![1, 2]).build().unwrap();
        let fault = read(&["a", "b", "c"], strange).unwrap_err().to_string();
        assert_eq!(fault, "labels: expected ids of items, such as \"a\", found none in the column \"id\"");
        let bare = texts("id", &["a"]).numbers("stress", vec![1.0]).build().unwrap();
        let fault = read(&["a", "b", "c"], bare).unwrap_err().to_string();
        assert_eq!(fault, "labels: expected classes in a column \"cluster\" or in columns of texts, found none");
    }
}
