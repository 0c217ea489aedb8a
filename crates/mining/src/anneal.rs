//! The annealing loop: find a fixed point at each temperature, divide unstable clusters, cool, repeat.
//!
//! Every annealed method implements `System` for this loop: a system has components that can be relaxed at a
//! temperature. The loop asks the system how stable each component is, and tells it to divide or merge components. The
//! loop decides when, and the system decides how. The loop knows neither rows nor ranks. Paper 004 section 7 and
//! `docs/design/annealing.md` say why one loop serves the whole family.
//!
//! The loop follows three rules. Coinciding components are merged *before* stability is computed, because duplicates
//! would use up the allowed number of components. After a division the temperature stays the same until no further
//! component divides. The temperature never jumps past the next transition.
//!
//! All methods report their progress to an [`Observer`], with [`figures`](Progress::figures) by name.
//! [`kmedoids`](crate::kmedoids) reports `clusters`, `sweeps`, `swaps` and `cost`, and
//! [`hierarchy`](crate::hierarchy) the `clusters` that are left while it joins. [`hdbscan`](crate::hdbscan) reports the
//! `clusters` once it has chosen them. The other methods report:
//!
//! | method | figures |
//! | --- | --- |
//! | [`vector`](crate::vector), [`pairwise`](crate::pairwise) | `clusters`, `sweeps`; while annealing and hardening `temperature` (where it is above 0) and `free_energy` |
//! | [`kmeans`](crate::kmeans) | `clusters`, `sweeps`, `starts` (those finished), `mean_cost` |
//! | [`minibatch`](crate::minibatch) | those of [`vector`](crate::vector) in stages `sample: ...`, whose share of the stream is unknown; then `batches`, `clusters`, `sweeps`, `mean_cost` |
//! | [`mixture`](crate::mixture) | `components`, `sweeps`; while clustering `temperature`, while fitting `log_likelihood` |
//! | [`gtm`](crate::gtm) | `sweeps`, `temperature` (once it is known), `objective` (after the first sweep at it); stages end with `from the plane` if the map began as the plane |
//! | [`smacof`](crate::smacof) | `start`, `iteration`, `stress`, `temperature` (where it is above 0) |
//!
//! # Example
//! A run that is cancelled within a step, and resumed:
//! ```
//! use std::sync::{Arc, OnceLock};
//! use lehr_data::Points;
//! use lehr_mining::anneal::{AnyCheckpoint, Control, Interrupt, Observer, Progress, Silent};
//! use lehr_mining::{Error, Execution, vector};
//!
//! struct Impatient(Arc<OnceLock<()>>, Option<vector::Checkpoint>);
//! impl Observer for Impatient {
//!     fn progress(&mut self, _: &Progress) -> Control {
//!         // After the first step; from another thread it might come at any time.
//!         let _ = self.0.set(());
//!         Control::Continue
//!     }
//!     fn interrupt(&self) -> Option<Interrupt> {
//!         let said = self.0.clone();
//!         Some(Interrupt::when(move || said.get().is_some()))
//!     }
//!     fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
//!         self.1 = checkpoint.downcast_ref().cloned();
//!     }
//! }
//! let points = Points::new(vec![0.0, 1.0, 2.0, 10.0, 12.0, 14.0], 1)?;
//! let parameters = vector::Parameters { clusters: Some(2), ..Default::default() };
//! let mut observer = Impatient(Arc::default(), None);
//! let execution = Execution::default();
//! assert!(matches!(vector::cluster(&points, &parameters, &execution, &mut observer), Err(Error::Stopped)));
//! let model = vector::resume(&points, observer.1.unwrap(), &execution, &mut Silent)?;
//! assert_eq!(model.clusters.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod checkpoint;
pub(crate) mod climb;
pub(crate) mod growth;
pub(crate) mod observe;
pub(crate) mod plateau;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod split;

pub use checkpoint::{Checkpoint, Resumable};
pub use lehr_ranks::observe::{AnyCheckpoint, Control, Interrupt, Observer, Progress, Silent};
pub use observe::{Split, Stage, Step};
pub use plateau::{Plateau, Suggestion};

use crate::Error;
use crate::round::Rounds;

/// The outcome of a relaxation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Relaxed {
    pub sweeps: u64,
    /// The largest squared move in the last sweep, divided by the temperature.
    pub largest_move: f64,
}

/// A system measured at a fixed point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// The free energy per unit of weight.
    pub free_energy: f64,
    /// The mean squared distance under the soft assignment.
    pub mean_cost: f64,
    /// The mean of 1 minus the largest membership.
    pub softness: f64,
    /// The share of the weight that is in the noise component, and so in no cluster.
    pub sponge: f64,
    /// For each component, the temperature below which it divides.
    pub critical: Vec<f64>,
    /// The number of passes over the rows that measuring took.
    pub sweeps: u64,
}

/// A model that can be annealed.
pub(crate) trait System: Send {
    /// The number of components.
    fn components(&self) -> usize;
    /// Iterates to a fixed point at a temperature: until squared moves are at most `tolerance` times the temperature.
    fn relax(
        &mut self,
        rounds: &mut dyn Rounds,
        temperature: f64,
        tolerance: f64,
    ) -> impl Future<Output = Result<Relaxed, Error>> + Send;
    /// Measures the present system, and the stability of each component.
    fn measure(
        &mut self,
        rounds: &mut dyn Rounds,
        temperature: f64,
    ) -> impl Future<Output = Result<Measured, Error>> + Send;
    /// Merges components that coincide, and returns the removed ones in the order of their removal.
    fn merge(&mut self, temperature: f64) -> Vec<Removed>;
    /// The temperature to which a component waits before it may divide; infinite if it need not wait.
    fn hold_until(&self, component: usize) -> f64;
    /// Divides a component along the direction in which it was found unstable.
    fn divide(&mut self, component: usize, temperature: f64);
}

/// A component that a merge removed; later components moved up by one. Positions are those before the removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removed {
    pub position: usize,
    /// The component that it was merged into; `None` if it had hardly any weight.
    pub into: Option<usize>,
}

/// A change of the components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Change {
    /// The component at `position` was divided, and a new one appended.
    Divided {
        position: usize,
        critical_temperature: f64,
    },
    Removed(Removed),
}

/// The state at one temperature.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settled {
    pub measured: Measured,
    /// The changes of the components, in order.
    pub changes: Vec<Change>,
    pub sweeps: u64,
    pub largest_move: f64,
}

/// Brings a system to a stable fixed point at one temperature, with at most `cap` components.
pub(crate) async fn settle<S: System>(
    system: &mut S,
    rounds: &mut dyn Rounds,
    temperature: f64,
    tolerance: f64,
    cap: usize,
) -> Result<Settled, Error> {
    let mut settled = Settled::default();
    loop {
        let relaxed = system.relax(rounds, temperature, tolerance).await?;
        settled.sweeps += relaxed.sweeps;
        settled.largest_move = relaxed.largest_move;
        let removed = system.merge(temperature);
        if !removed.is_empty() {
            settled.changes.extend(removed.into_iter().map(Change::Removed));
            continue;
        }
        settled.measured = system.measure(rounds, temperature).await?;
        settled.sweeps += settled.measured.sweeps;
        let chosen = split::choose(
            &settled.measured.critical,
            |k| system.hold_until(k),
            temperature,
            cap.saturating_sub(system.components()),
        );
        if chosen.is_empty() {
            return Ok(settled);
        }
        for position in chosen {
            system.divide(position, temperature);
            let critical_temperature = settled.measured.critical[position];
            settled.changes.push(Change::Divided { position, critical_temperature });
        }
    }
}
