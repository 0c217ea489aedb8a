//! Reports of estimators: builds the HTML page around the text and figures that Python creates.

use pyo3::prelude::*;

/// Builds the page from markup, and from figures as JSON. `headline` and `lead` are plain texts. The page's content
/// security policy allows only the script of reports.
#[pyfunction]
pub(crate) fn report_page(headline: &str, lead: &str, main: &str, figures: &str) -> String {
    lehr_report::markup::page_of(headline, lead, lead, main, figures)
}
