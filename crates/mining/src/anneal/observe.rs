//! Reports of an annealed run: its history, and how far it is.

use std::fmt;

use lehr_ranks::observe::Progress;
use serde::{Deserialize, Serialize};

/// One temperature of the history, in the input's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from 0.
    pub index: u64,
    /// In the squared unit of the points ("full" convention: memberships are `exp(-d / T)`).
    pub temperature: f64,
    /// Components at the end of this temperature.
    pub clusters: usize,
    /// `-T ln sum` per unit of weight.
    pub free_energy: f64,
    /// Weighted mean squared distance under the soft assignment.
    pub mean_cost: f64,
    /// While masses are learnt the mutual information of rows and components, in nats: `(free_energy - mean_cost) / T`.
    /// In plain mode less the entropy of the memberships.
    pub information: f64,
    /// Weighted mean of 1 less the largest membership.
    pub softness: f64,
    /// Passes over the rows.
    pub sweeps: u64,
    /// The largest squared move of a centre in the last sweep, over the temperature.
    pub max_move: f64,
    /// The highest temperature at which one of the components divides; 0 while memberships are made hard, because
    /// components may not divide then.
    pub next_critical: f64,
    /// The share of the weight outside the outlier radius; 0, and not written, without one.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub sponge: f64,
}

impl Step {
    /// The progress of an annealed run whose last temperature this is.
    pub(crate) fn progress(&self, stage: Stage, sweeps: u64, fraction: f64) -> Progress {
        let mut figures = vec![("clusters", self.clusters as f64), ("sweeps", sweeps as f64)];
        // Later the last temperature is behind: what it was is no news.
        if matches!(stage, Stage::Annealing | Stage::Hardening) {
            figures.extend((self.temperature > 0.0).then_some(("temperature", self.temperature)));
            figures.push(("free_energy", self.free_energy));
        }
        Progress { stage: stage.name().into(), fraction: Some(fraction), figures }
    }
}

fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// A component dividing, in the input's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The temperature at which it was divided.
    pub temperature: f64,
    /// The temperature below which it was unstable.
    pub critical_temperature: f64,
    /// The component that divided.
    pub parent: usize,
    /// Components after it.
    pub clusters: usize,
}

/// The stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Choosing the number of clusters.
    Choosing,
    /// Cooling, and dividing unstable clusters.
    Annealing,
    /// Cooling at a fixed number of components, until memberships are hard.
    Hardening,
    /// Looking for a better place for each centre.
    Refining,
    /// Climbing to the top of a mixture's likelihood.
    Fitting,
    /// Giving each row its cluster.
    Labelling,
    /// Taking in batches of a stream.
    Streaming,
}

impl Stage {
    /// Its name, in progress lines, timers and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Choosing => "choosing the number",
            Stage::Annealing => "annealing",
            Stage::Hardening => "hardening",
            Stage::Refining => "refining",
            Stage::Fitting => "fitting",
            Stage::Labelling => "labelling",
            Stage::Streaming => "streaming",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
