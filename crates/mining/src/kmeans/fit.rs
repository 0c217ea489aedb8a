//! Divides a run into steps. The run can be stopped and resumed after each step. A step draws the centres of a start or
//! makes a few iterations. The run makes one start after another and keeps the best start.

use serde::{Deserialize, Serialize};

use super::parameters::{Parameters, Sweeps};
use super::seeding::{Near, Numbers, draw, farthest};
use crate::Error;
use crate::anneal::{Progress, Stage, run};
use crate::lloyd::{AWAY, Centers, LastMove, Lloyd, Patience, Remembered};
use crate::round::{LeafCells, Rounds};
use crate::rows::{Input, Rows, Scalar};

/// The maximum number of iterations in a step. A request to stop takes effect at the end of the step.
const STEP_SWEEPS: u64 = 8;

/// The state of the start in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Start {
    /// The current centres, K x D.
    centers: Vec<f64>,
    /// The number of iterations of this start so far, not counting repeated iterations.
    sweeps: u64,
    /// The cost in the last iteration. `None` before the first iteration, and before a repeated iteration.
    cost: Option<f64>,
    /// The number of iterations that were repeated because a centre had no rows. `u64::MAX` if a centre has no rows and
    /// every row coincides with another centre.
    #[serde(default)]
    redone: u64,
}

/// The complete state of a run, in stored units. A checkpoint saves this state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The final sum of squares of each start.
    pub(super) costs: Vec<f64>,
    /// The number of starts that reached the maximum number of iterations before they converged.
    pub(super) unfinished: usize,
    best: Option<(Vec<f64>, f64)>,
    /// Whether the best start reached its fixed point. Older checkpoints do not have this field.
    #[serde(default)]
    is_best_fixed: bool,
    /// The number of iterations of the best start.
    #[serde(default)]
    pub(super) best_sweeps: u64,
    current: Option<Start>,
    pub(super) sweeps: u64,
}

/// A k-means run in progress: its state, and the data for its next steps.
pub(super) struct Fit<'a, T: Scalar> {
    input: Input<'a>,
    rows: &'a Rows<T>,
    parameters: &'a Parameters,
    near: &'a LeafCells<Near<T>>,
    lloyd: Lloyd<'a, T>,
    pub state: State,
}

impl<'a, T: Scalar> Fit<'a, T> {
    pub fn new(
        input: Input<'a>,
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        memory: &'a LeafCells<Remembered>,
        near: &'a LeafCells<Near<T>>,
        state: State,
    ) -> Self {
        let mut lloyd = Lloyd::new(rows, memory);
        lloyd.is_plain = parameters.sweeps == Sweeps::Plain;
        Self { input, rows, parameters, near, lloyd, state }
    }

    /// Converts the centres that the user gave to stored units.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if a centre is so far from the points that its squared distances from them are
    /// meaningless.
    fn given(&self, centers: &[f64]) -> Result<Vec<f64>, Error> {
        let mut stored = centers.to_vec();
        for (center, given) in stored.chunks_exact_mut(self.rows.dimension).zip(centers.chunks(self.rows.dimension)) {
            for ((value, zero), given) in center.iter_mut().zip(&self.rows.units.origin).zip(given) {
                *value = (*value - zero) / self.rows.units.length;
                if value.abs() > AWAY {
                    let expected = "centres no farther from the points than 1e9 times as far as those are apart";
                    return Err(Error::Parameter { name: "centers", expected, found: format!("{given:e}") });
                }
            }
        }
        Ok(stored)
    }

    /// Moves each centre that had no rows in the last iteration to the row that adds most to the cost. Returns `None`
    /// if every row coincides with a centre.
    async fn without_empty(&mut self, rounds: &mut dyn Rounds, centers: &Centers) -> Result<Option<Vec<f64>>, Error> {
        let masses = self.lloyd.masses();
        let (empty, held): (Vec<usize>, Vec<usize>) = (0..centers.len()).partition(|&k| masses[k] == 0.0);
        let dimension = self.rows.dimension;
        let kept = Centers { dimension, values: held.iter().flat_map(|&k| centers.center(k)).copied().collect() };
        let all = farthest(self.input, self.rows, self.near, rounds, kept, centers.len()).await?;
        let mut values = centers.values.clone();
        // In `all`, the new positions of the empty centres follow the centres that were kept.
        let found = (held.len()..all.len()).map(|k| all.center(k));
        for (&k, row) in empty.iter().zip(found) {
            values[k * dimension..][..dimension].copy_from_slice(row);
        }
        Ok((all.len() > held.len()).then_some(values))
    }

    /// Returns how the best centres move when rows are labelled.
    pub fn last_move(&self) -> LastMove {
        LastMove::after(self.state.is_best_fixed)
    }

    /// Returns the centres of the best start; none before the first start has ended.
    pub fn centers(&self) -> Centers {
        let values = self.state.best.as_ref().map(|(values, _)| values.clone()).unwrap_or_default();
        Centers { dimension: self.rows.dimension, values }
    }
}

impl<T: Scalar> run::Fit<Parameters> for Fit<'_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.state.costs.len() >= self.parameters.begun()
    }

    fn phase(&self) -> &'static str {
        Stage::Refining.name()
    }

    fn progress(&mut self) -> Progress {
        let State { best, current, costs, sweeps, .. } = &self.state;
        let cost = best.as_ref().map(|(_, cost)| *cost).or(current.as_ref().and_then(|start| start.cost));
        let cost = cost.unwrap_or(self.rows.square);
        let centers = best.as_ref().map(|(values, _)| values).or(current.as_ref().map(|start| &start.centers));
        // The total number of iterations of a start is unknown. Assume that a start is half done after fifty.
        let begun = current.as_ref().map_or(0.0, |start| start.sweeps as f64 / (start.sweeps as f64 + 50.0));
        Progress {
            stage: self.phase().into(),
            fraction: Some((costs.len() as f64 + begun) / self.parameters.begun() as f64),
            figures: vec![
                ("clusters", centers.map_or(0, |values| values.len() / self.rows.dimension) as f64),
                ("sweeps", *sweeps as f64),
                ("starts", costs.len() as f64),
                ("mean_cost", self.rows.units.squared(cost / self.rows.total_weight)),
            ],
        }
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let Parameters { clusters, seed, max_sweeps, tolerance, .. } = *self.parameters;
        let dimension = self.rows.dimension;
        let Some(Start { centers, sweeps: done, cost, redone }) = self.state.current.take() else {
            let start = self.state.costs.len() as u64;
            let centers = match &self.parameters.centers {
                Some(given) => self.given(given)?,
                None => {
                    let numbers = Numbers { seed, purpose: "k-means++", drawn: start * clusters as u64 };
                    let none = Centers { dimension, values: Vec::new() };
                    draw(self.input, self.rows, self.near, rounds, none, clusters, numbers).await?.values
                }
            };
            self.state.current = Some(Start { centers, sweeps: 0, cost: None, redone: 0 });
            return Ok(());
        };
        let mut centers = Centers { dimension, values: centers };
        if max_sweeps == 0 {
            let cost = self.lloyd.cost_of(rounds, &centers).await?;
            self.state.costs.push(cost);
            self.state.best = Some((centers.values, cost));
            return Ok(());
        }
        let left = max_sweeps.saturating_sub(done).max(1);
        // Limit the number of repetitions: rows that the precision cannot distinguish could cause an endless loop.
        let until_empty = redone < done + STEP_SWEEPS;
        let patience = Patience { sweeps: left.min(STEP_SWEEPS), tolerance, to_beat: None, until_empty };
        let before = self.lloyd.sweeps;
        let swept = self.lloyd.go_on(rounds, &mut centers, patience, cost).await?;
        let made = self.lloyd.sweeps - before;
        self.state.sweeps += made;
        if swept.has_empty {
            let moved = self.without_empty(rounds, &centers).await?;
            let redone = if moved.is_some() { redone + 1 } else { u64::MAX };
            let (centers, sweeps) = (moved.unwrap_or(centers.values), done + made - 1);
            self.state.current = Some(Start { centers, sweeps, cost: None, redone });
            return Ok(());
        }
        if !swept.has_ended && made < left {
            let sweeps = done + made;
            self.state.current = Some(Start { centers: centers.values, sweeps, cost: Some(swept.cost), redone });
            return Ok(());
        }
        self.state.unfinished += usize::from(!swept.has_ended);
        // Unless the start reached a fixed point, its last iteration moved the centres, so their cost is computed
        // again.
        let cost = if swept.is_fixed { swept.cost } else { self.lloyd.cost_of(rounds, &centers).await? };
        self.state.costs.push(cost);
        if self.state.best.as_ref().is_none_or(|(_, best)| cost < *best) {
            self.state.best = Some((centers.values, cost));
            self.state.is_best_fixed = swept.is_fixed;
            self.state.best_sweeps = done + made;
        }
        Ok(())
    }
}
