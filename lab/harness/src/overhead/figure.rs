//! The record of `lehr-lab overhead`: a figure for each experiment, case and engine, with its samples.

use serde::{Deserialize, Serialize};

use crate::measure::Spread;

/// A figure; `--json` prints an array of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The kind of measurement: `run`, `overhead`, `fit`, `deviation over mean`, …
    pub experiment: String,
    /// The case of the experiment.
    pub case: String,
    /// The name of the measured quantity: an engine and a layout, or a coefficient.
    pub engine: String,
    /// The unit of minimum, median and maximum; `1` for shares.
    pub unit: String,
    /// The minimum of the samples.
    pub min: f64,
    /// The median of the samples.
    pub median: f64,
    /// The maximum of the samples.
    pub max: f64,
    /// The number of samples.
    pub runs: usize,
    /// The samples, one for each round, in order.
    pub samples: Vec<f64>,
    /// `pairs` for pairwise clustering; absent for points.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<String>,
    /// The number of rows of the whole problem, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<usize>,
    /// The number of clusters, if there are clusters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clusters: Option<usize>,
    /// The layout: threads x processes x nodes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layout: Option<String>,
    /// The maximum number of rows of a rank, divided by the mean.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imbalance: Option<f64>,
    /// A note that readers of the figure need.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

impl Figure {
    /// Summarises some samples as a figure.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn new(experiment: &str, case: &str, engine: &str, unit: &str, samples: Vec<f64>) -> Self {
        let Spread { min, median, max } = Spread::of(&samples);
        Self {
            experiment: experiment.into(),
            case: case.into(),
            engine: engine.into(),
            unit: unit.into(),
            min,
            median,
            max,
            runs: samples.len(),
            samples,
            method: None,
            rows: None,
            clusters: None,
            layout: None,
            imbalance: None,
            note: None,
        }
    }

    /// Sets the problem and the layout.
    pub fn of(mut self, rows: usize, clusters: usize, layout: impl ToString) -> Self {
        (self.rows, self.clusters, self.layout) = (Some(rows), Some(clusters), Some(layout.to_string()));
        self
    }

    /// Returns whether the figure has this experiment and case.
    pub fn is(&self, experiment: &str, case: &str) -> bool {
        self.experiment == experiment && self.case == case
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_fields_that_every_record_has() {
        let figure = Figure::new("overhead", "N = 10, K = 2", "ranks 2x1x1", "1", vec![3.0, 1.0, 2.0]);
        let json = serde_json::to_value(&figure).unwrap();
        for field in ["experiment", "case", "engine", "unit", "min", "median", "max", "runs"] {
            assert!(!json[field].is_null(), "{field}");
        }
        assert_eq!((figure.min, figure.median, figure.max, figure.runs), (1.0, 2.0, 3.0, 3));
        assert!(json.get("rows").is_none());
        let placed = figure.of(10, 2, "2x1x1");
        assert_eq!(serde_json::from_str::<Figure>(&serde_json::to_string(&placed).unwrap()).unwrap(), placed);
    }
}
