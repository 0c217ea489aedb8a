//! The entries of a record of `lehr-lab`: a figure for each engine and case.

use serde::{Deserialize, Serialize};

use crate::measure::Spread;
use crate::output::three_digits;

/// The distance of the two cores during a sample, judged by the round trip of a cache line between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Up to 250 ns: the cores share a last-level cache.
    Near,
    /// More than 250 ns: the cores have different last-level caches.
    Far,
    /// The distance is unknown, or changed during the sample.
    Unknown,
}

impl Place {
    /// Returns the place on which the round trips before and after a sample agree.
    pub fn between(before: Option<f64>, after: Option<f64>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if before <= 250.0 && after <= 250.0 => Self::Near,
            (Some(before), Some(after)) if before > 250.0 && after > 250.0 => Self::Far,
            _ => Self::Unknown,
        }
    }
}

/// The samples of one engine in one case.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    values: Vec<f64>,
    places: Vec<Place>,
}

impl Samples {
    /// Adds a sample.
    pub fn push(&mut self, value: f64, place: Place) {
        self.values.push(value);
        self.places.push(place);
    }

    /// Returns all values, for any place.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Converts all samples to another unit.
    pub fn map(&self, to: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|value| to(*value)).collect(), places: self.places.clone() }
    }

    fn at(&self, place: Place) -> Option<Placed> {
        let values: Vec<f64> =
            self.values.iter().zip(&self.places).filter(|(_, at)| **at == place).map(|(value, _)| *value).collect();
        (!values.is_empty()).then(|| Placed { median: Spread::of(&values).median, runs: values.len() })
    }
}

/// A summary of the samples that were taken in one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// The median of these samples.
    pub median: f64,
    /// The number of these samples.
    pub runs: usize,
}

/// A figure; `--json` prints an array of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The kind of measurement: `rendezvous`, `pending`, `collectives`, …
    pub experiment: String,
    /// The case of the experiment.
    pub case: String,
    /// The engine that was measured.
    pub engine: String,
    /// The unit of minimum, median and maximum.
    pub unit: String,
    /// The minimum of the samples.
    pub min: f64,
    /// The median of the samples.
    pub median: f64,
    /// The maximum of the samples.
    pub max: f64,
    /// The number of samples.
    pub runs: usize,
    /// The number of worker threads if the engine has workers, otherwise the number of cores that it may use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workers: Option<usize>,
    /// The number of stages (or repetitions) of a sample.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stages: Option<usize>,
    /// The time of a unit of computation in this run, in nanoseconds.
    pub unit_ns: f64,
    /// The samples taken while the cores were near each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub near: Option<Placed>,
    /// The samples taken while the cores were far from each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub far: Option<Placed>,
    /// Every value, if the experiment is about a distribution.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub values: Vec<f64>,
}

impl Figure {
    /// Summarises some samples as a figure.
    ///
    /// # Panics
    /// Panics if there are no samples.
    pub fn new(experiment: &str, case: &str, engine: &str, unit: &str, samples: &Samples, unit_ns: f64) -> Self {
        let Spread { min, median, max } = Spread::of(samples.values());
        Self {
            experiment: experiment.into(),
            case: case.into(),
            engine: engine.into(),
            unit: unit.into(),
            min,
            median,
            max,
            runs: samples.values().len(),
            workers: None,
            stages: None,
            unit_ns,
            near: samples.at(Place::Near),
            far: samples.at(Place::Far),
            values: Vec::new(),
        }
    }

    /// Sets the number of workers.
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets the number of stages.
    pub fn with_stages(mut self, stages: usize) -> Self {
        self.stages = Some(stages);
        self
    }

    /// Sets the list of values.
    pub fn with_values(mut self, values: Vec<f64>) -> Self {
        self.values = values;
        self
    }

    /// Formats minimum, median and maximum for a table.
    pub fn spread(&self) -> String {
        [self.min, self.median, self.max].map(three_digits).join(" / ")
    }

    /// Returns whether the figure belongs to an engine of Lehr.
    pub fn is_ours(&self) -> bool {
        self.engine.starts_with("lehr")
    }

    /// Returns whether the figure belongs to a floor.
    pub fn is_floor(&self) -> bool {
        self.engine.starts_with("floor")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_fields_that_were_promised() {
        let mut samples = Samples::default();
        samples.push(3.0, Place::Far);
        samples.push(1.0, Place::Near);
        samples.push(2.0, Place::Unknown);
        let figure = Figure::new("rendezvous", "shift", "lehr ports", "us", &samples, 941.0);
        let json = serde_json::to_value(&figure).unwrap();
        for (name, value) in [("min", 1.0), ("median", 2.0), ("max", 3.0)] {
            assert_eq!(json[name], value);
        }
        assert_eq!((&json["experiment"], &json["case"]), (&"rendezvous".into(), &"shift".into()));
        assert_eq!((&json["engine"], &json["unit"], &json["runs"]), (&"lehr ports".into(), &"us".into(), &3.into()));
        assert_eq!(json["near"]["median"], 1.0);
        assert_eq!(serde_json::from_value::<Figure>(json).unwrap(), figure);
    }

    #[test]
    fn a_sample_has_a_place_if_both_probes_agree() {
        assert_eq!(Place::between(Some(110.0), Some(90.0)), Place::Near);
        assert_eq!(Place::between(Some(460.0), Some(500.0)), Place::Far);
        assert_eq!(Place::between(Some(110.0), Some(500.0)), Place::Unknown);
        assert_eq!(Place::between(None, Some(110.0)), Place::Unknown);
    }
}
