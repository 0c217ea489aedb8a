//! The tree of `lehr.AgglomerativeClustering` in Newick's format.

use lehr_mining::hierarchy;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::{arrays, errors};

/// Writes a tree in Newick's format, with these names of the items. `children` has the two nodes of each join, by
/// increasing height.
#[pyfunction]
pub(crate) fn newick(
    children: PyReadonlyArray2<'_, i64>,
    distances: PyReadonlyArray1<'_, f64>,
    names: Vec<String>,
) -> PyResult<String> {
    let (children, heights) = (children.as_array(), arrays::numbers(&distances));
    let (joins, items) = (children.nrows(), children.nrows() + 1);
    if names.len() != items {
        return Err(errors::value(format!("expected {items} names, one for each item, found {}", names.len())));
    }
    if children.ncols() != 2 || heights.len() != joins {
        return Err(errors::value("expected two nodes and a distance for each join"));
    }
    // The library writes a tree without these checks, and arrays may come from anywhere.
    let mut is_joined = vec![false; items + joins];
    let mut node = |place: usize, given: i64| {
        usize::try_from(given)
            .ok()
            .filter(|&node| node < items + place && !std::mem::replace(&mut is_joined[node], true))
            .ok_or_else(|| errors::value(format!("join {place}: expected a node without a parent, found {given}")))
    };
    let mut tree = Vec::with_capacity(joins);
    for (place, (pair, height)) in children.rows().into_iter().zip(heights).enumerate() {
        tree.push((node(place, pair[0])?, node(place, pair[1])?, height));
    }
    Ok(hierarchy::newick(&tree, &names))
}
