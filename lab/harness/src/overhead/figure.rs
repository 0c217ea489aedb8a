//! The record of `lehr-lab overhead`: one figure an experiment, case and engine, with its samples.

use serde::{Deserialize, Serialize};

use crate::measure::Spread;

/// One figure: what `--json` prints an array of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What kind of measurement: `run`, `overhead`, `fit`, `deviation over mean`, …
    pub experiment: String,
    /// Which of its cases.
    pub case: String,
    /// What was measured: an engine and a layout, or a coefficient.
    pub engine: String,
    /// The unit of the three values; `1` for shares.
    pub unit: String,
    /// The least.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// The most.
    pub max: f64,
    /// How many samples.
    pub runs: usize,
    /// One a round, in order.
    pub samples: Vec<f64>,
    /// `pairs` for pairwise clustering; absent for points.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<String>,
    /// Rows of the whole problem, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rows: Option<usize>,
    /// Clusters, where there are some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clusters: Option<usize>,
    /// Threads x processes x nodes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub layout: Option<String>,
    /// The most rows of a rank over the mean.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imbalance: Option<f64>,
    /// What a reader must know of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

impl Figure {
    /// The figure of some samples.
    ///
    /// # Panics
    /// If there are none.
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

    /// The same with its problem and layout.
    pub fn of(mut self, rows: usize, clusters: usize, layout: impl ToString) -> Self {
        (self.rows, self.clusters, self.layout) = (Some(rows), Some(clusters), Some(layout.to_string()));
        self
    }

    /// Whether it is this one.
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
