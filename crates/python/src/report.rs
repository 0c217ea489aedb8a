//! Reports of estimators: what is around the words and figures that Python makes.

use pyo3::prelude::*;

/// The page around markup and figures as JSON; `headline` and `lead` are texts. Its policy lets one script run, that of
/// reports.
#[pyfunction]
pub(crate) fn report_page(headline: &str, lead: &str, main: &str, figures: &str) -> String {
    lehr_report::markup::page_of(headline, lead, lead, main, figures)
}
