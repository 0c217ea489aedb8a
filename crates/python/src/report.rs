//! Reports of estimators: builds the HTML page around the text and figures that Python creates.

use lehr_methods::cluster::merges::{joined, merges, partners};
use numpy::PyReadonlyArray2;
use pyo3::prelude::*;

use crate::arrays;

/// The cluster that absorbs another, and the number of clusters that remain; `None` for the one that absorbs all.
type Absorbed = Option<(usize, usize)>;

/// Returns how clusters merge as their number falls, by Ward's rule. The first list has, for each cluster, the clusters
/// that it merges with first. The second list has the cluster that absorbs it and the number of clusters that remain.
#[pyfunction]
pub(crate) fn merged_clusters(
    centers: PyReadonlyArray2<'_, f64>,
    weights: Vec<f64>,
) -> PyResult<(Vec<String>, Vec<Absorbed>)> {
    let centers = arrays::points(centers.as_any(), None)?;
    let (found, clusters) = (merges(centers.values(), &weights), weights.len());
    let absorbed = joined(&found, clusters).into_iter().map(|merge| merge.map(|merge| (merge.into, merge.left)));
    Ok((if found.is_empty() { Vec::new() } else { partners(&found, clusters) }, absorbed.collect()))
}

/// Builds the page from markup, and from figures as JSON. `headline` and `lead` are plain texts. The page's content
/// security policy allows only the script of reports.
#[pyfunction]
pub(crate) fn report_page(headline: &str, lead: &str, main: &str, figures: &str) -> String {
    lehr_report::markup::page_of(headline, lead, lead, main, figures)
}
