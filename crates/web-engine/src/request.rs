//! The request of a page, as JSON.

use lehr_data::scale::Scale;
use lehr_methods::Options;
use serde::Deserialize;

/// A run of a method.
///
/// # Example
/// ```
/// let request: lehr_web_engine::Request = serde_json::from_str(r#"{ "name": "t.csv", "method": "cluster", "auto": true }"#)?;
/// assert!(request.auto && request.options.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The name of the file, for messages and the report.
    pub name: String,
    /// The method, as its command is called: `cluster`, `mixture`, `gtm` or `embed`.
    pub method: String,
    /// Its options, by the names that services and Python have for them.
    pub options: Options,
    /// The columns to use; all numeric ones if there are none.
    pub columns: Vec<String>,
    /// The column of weights.
    pub weights: Option<String>,
    /// The column that names the rows.
    pub id: Option<String>,
    /// Whether the two columns are longitude and latitude in degrees.
    pub lonlat: bool,
    /// How columns are scaled.
    pub scale: Option<ScaleOf>,
    /// How rows are compared for a map of their dissimilarities; Gower's measure of a table that is prepared, and the
    /// Euclidean distance of others.
    pub metric: Option<String>,
    /// Whether to prepare an ordinary table: roles of columns, logarithms, scale and gaps.
    pub auto: bool,
    /// Columns that are not used, of a table that is prepared.
    pub exclude: Vec<String>,
}

/// How columns are scaled.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleOf {
    /// Not at all.
    None,
    /// By their standard deviations.
    Std,
    /// By their interquartile ranges.
    Robust,
}

impl From<ScaleOf> for Scale {
    fn from(scale: ScaleOf) -> Self {
        match scale {
            ScaleOf::None => Scale::None,
            ScaleOf::Std => Scale::Std,
            ScaleOf::Robust => Scale::Robust,
        }
    }
}
