//! What a run tells while it goes on, and how it is told to stop.

use std::fmt;

use lehr_ranks::trace::Trace;
use serde::{Deserialize, Serialize};

use super::{Checkpoint, Interrupt};

/// One temperature of the history, in the input's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counting from 0.
    pub index: u64,
    /// In the squared unit of the points ("full" convention: memberships are `exp(-d / T)`).
    pub temperature: f64,
    /// Components at the end of this temperature.
    pub clusters: usize,
    /// `-T ln sum` per unit of weight.
    pub free_energy: f64,
    /// Weighted mean squared distance under the soft assignment.
    pub mean_cost: f64,
    /// While masses are learnt the mutual information of rows and components, in nats: `(free_energy - mean_cost) / T`. In plain mode less the entropy of the memberships.
    pub information: f64,
    /// Weighted mean of 1 less the largest membership.
    pub softness: f64,
    /// Passes over the rows.
    pub sweeps: u64,
    /// The largest squared move of a centre in the last sweep, over the temperature.
    pub max_move: f64,
    /// The highest temperature at which one of the components divides; 0 where none may any more, since nobody asks then: while memberships are made hard.
    pub next_critical: f64,
    /// The share of the weight in the sponge; 0, and not written down, where there is none.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub sponge: f64,
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

/// What a run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// Cooling, and dividing what becomes unstable.
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

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done.
    pub stage: Stage,
    /// The last temperature finished.
    pub step: &'a Step,
    /// Estimate of the share of the work that is done, 0 to 1.
    pub fraction: f64,
    /// Passes over the rows so far.
    pub sweeps: u64,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop at once: the checkpoint is handed over and the run ends with [`crate::Error::Stopped`].
    Stop,
}

/// Watches a run. Called on one rank only, between two temperatures or two groups of trials, so it may take its time and may
/// print; it should return within a fraction of a second. `C` is the method's checkpoint.
pub trait Observer<C = Checkpoint>: Send {
    /// After each temperature, and several times a second while refining.
    fn progress(&mut self, progress: &Progress<'_>) -> Control {
        let _ = progress;
        Control::Continue
    }

    /// After each temperature and each group of trials: all that is needed to go on from here. Writing it costs far more than
    /// being offered it, so an observer writes it every few seconds at most, and always after it said [`Control::Stop`].
    fn checkpoint(&mut self, checkpoint: &C) {
        let _ = checkpoint;
    }

    /// By what the run may be stopped within a step: asked once, before the run begins. In a job of several processes the observers of all of them should have
    /// one; that of the lead decides whether steps can be interrupted.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// Instead of the next progress, after an interrupt, of this or another process: where the step that was given up began. Not called before the first step, when there is nothing to go on from. The run ends with
    /// [`crate::Error::Stopped`]. By default as any checkpoint, but there is no other after it.
    fn interrupted(&mut self, checkpoint: &C) {
        self.checkpoint(checkpoint);
    }

    /// Where the run is to note what each rank does, if that is wanted: asked once, before the run begins. In a job of several processes the observers of all
    /// of them have a trace, or none has; at the end the lead's is whole.
    fn trace(&self) -> Option<&Trace> {
        None
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<C> Observer<C> for Silent {}
