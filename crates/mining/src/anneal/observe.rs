//! Reports of an annealed run: its history and its progress.

use std::fmt;

use lehr_ranks::observe::Progress;
use serde::{Deserialize, Serialize};

/// One temperature of the history, in the input's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The index of the temperature, counted from 0.
    pub index: u64,
    /// The temperature, in the squared unit of the points ("full" convention: memberships are `exp(-d / T)`).
    pub temperature: f64,
    /// The number of components at the end of this temperature.
    pub clusters: usize,
    /// The free energy `-T ln sum` per unit of weight. In plain mode, components have no masses, so with equal masses
    /// it would be higher by `T ln K`.
    pub free_energy: f64,
    /// The weighted mean squared distance under the soft assignment.
    pub mean_cost: f64,
    /// The value of `(free_energy - mean_cost) / T`, in nats. While masses are learnt, it is the mutual information of
    /// rows and components; in plain mode, minus the entropy of the memberships.
    pub information: f64,
    /// The weighted mean of 1 minus the largest membership.
    pub softness: f64,
    /// The number of passes over the rows.
    pub sweeps: u64,
    /// The largest squared move of a centre in the last sweep, divided by the temperature.
    pub max_move: f64,
    /// The highest temperature at which one of the components divides; 0 while memberships are made hard, because
    /// components may not divide then.
    pub next_critical: f64,
    /// The share of the weight outside the outlier radius. Without an outlier radius it is 0, and not serialised.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub sponge: f64,
}

impl Step {
    /// Returns the progress of an annealed run of which this is the latest temperature.
    pub(crate) fn progress(&self, stage: Stage, sweeps: u64, fraction: f64) -> Progress {
        let mut figures = vec![("clusters", self.clusters as f64), ("sweeps", sweeps as f64)];
        // In later stages, the last temperature no longer changes.
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

/// The division of a component, and the end of the component that it created. Temperatures are in the input's units.
///
/// A run begins with component 0. The first division creates component 1, the second component 2, and so on. These
/// numbers never change, so together the divisions are the tree of all components. They are not the numbers of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    /// The temperature at which the component was divided.
    pub temperature: f64,
    /// The temperature below which the component was unstable.
    pub critical_temperature: f64,
    /// The number of the component that was divided.
    pub parent: usize,
    /// The number of components after the division.
    pub clusters: usize,
    /// The temperature at which the new component was merged into another or removed; `None` if it lasted.
    pub merged_at: Option<f64>,
    /// The number of the component that it was merged into. `None` if it lasted, or was removed because it had hardly
    /// any weight.
    pub merged_into: Option<usize>,
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
    /// Searching for a better position for each centre.
    Refining,
    /// Maximising the likelihood of a mixture or a map.
    Fitting,
    /// Assigning each row to its cluster.
    Labelling,
    /// Processing the batches of a stream.
    Streaming,
}

impl Stage {
    /// The name of the stage in progress lines, timers and traces.
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
