//! What a record of `lehr-lab` is an array of: one figure an engine and case.

use serde::{Deserialize, Serialize};

use crate::measure::Spread;
use crate::output::three_digits;

/// Where the two cores were while a sample was taken, as a round trip of a cache line between them tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Up to 250 ns: one last-level cache.
    Near,
    /// More: across caches.
    Far,
    /// Not known, or changed during the sample.
    Unknown,
}

impl Place {
    /// The place that the round trips before and after a sample agree on.
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

    /// All values.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The same samples in another unit.
    pub fn map(&self, to: impl Fn(f64) -> f64) -> Self {
        Self { values: self.values.iter().map(|value| to(*value)).collect(), places: self.places.clone() }
    }

    fn at(&self, place: Place) -> Option<Placed> {
        let values: Vec<f64> =
            self.values.iter().zip(&self.places).filter(|(_, at)| **at == place).map(|(value, _)| *value).collect();
        (!values.is_empty()).then(|| Placed { median: Spread::of(&values).median, runs: values.len() })
    }
}

/// The samples that were taken in one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placed {
    /// Their median.
    pub median: f64,
    /// Their number.
    pub runs: usize,
}

/// One figure: what `--json` prints an array of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What kind of measurement: `rendezvous`, `pending`, `collectives`, …
    pub experiment: String,
    /// Which of its cases.
    pub case: String,
    /// What was measured.
    pub engine: String,
    /// The unit of the three values.
    pub unit: String,
    /// The least.
    pub min: f64,
    /// The middle one.
    pub median: f64,
    /// The most.
    pub max: f64,
    /// How many samples.
    pub runs: usize,
    /// Worker threads, where the engine has workers; for the others, the cores that they may use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub workers: Option<usize>,
    /// Stages (or repetitions) of a sample.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stages: Option<usize>,
    /// What a unit of computation lasted in this run, in nanoseconds.
    pub unit_ns: f64,
    /// The samples taken while the cores were near each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub near: Option<Placed>,
    /// The samples taken while the cores were far from each other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub far: Option<Placed>,
    /// Every value, where a distribution is asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub values: Vec<f64>,
}

impl Figure {
    /// The figure of some samples.
    ///
    /// # Panics
    /// If there are no samples.
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

    /// The same with its number of workers.
    pub fn with_workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// The same with its number of stages.
    pub fn with_stages(mut self, stages: usize) -> Self {
        self.stages = Some(stages);
        self
    }

    /// The same with every value.
    pub fn with_values(mut self, values: Vec<f64>) -> Self {
        self.values = values;
        self
    }

    /// Least, median and most, as tables have them.
    pub fn spread(&self) -> String {
        [self.min, self.median, self.max].map(three_digits).join(" / ")
    }

    /// Whether it is one of ours.
    pub fn is_ours(&self) -> bool {
        self.engine.starts_with("lehr")
    }

    /// Whether it is a floor.
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
