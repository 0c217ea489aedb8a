//! The course of a run: one start a step, each of which can be resumed; the best is kept.

use lehr_data::Points;
use serde::{Deserialize, Serialize};

use super::parameters::{Parameters, Sweeps};
use super::seeding::{Near, draw};
use crate::Error;
use crate::anneal::{Stage, Step, run};
use crate::round::{LeafCells, Rounds};
use crate::vector::e_step::Kept;
use crate::vector::hard::{Centers, Lloyd, Patience, Remembered};
use crate::vector::rows::Rows;

/// Everything that a run is, in stored units: a checkpoint of it is a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The sum of squares that each start came to.
    pub(super) costs: Vec<f64>,
    /// The starts that were ended before their fixed point.
    pub(super) unfinished: usize,
    best: Option<(Vec<f64>, f64)>,
    pub(super) sweeps: u64,
}

/// A run.
pub(super) struct Course<'a, T: Kept> {
    points: &'a Points,
    rows: &'a Rows<T>,
    parameters: &'a Parameters,
    memory: &'a LeafCells<Remembered>,
    near: &'a LeafCells<Near>,
    pub state: State,
}

impl<'a, T: Kept> Course<'a, T> {
    pub fn new(
        points: &'a Points,
        rows: &'a Rows<T>,
        parameters: &'a Parameters,
        memory: &'a LeafCells<Remembered>,
        near: &'a LeafCells<Near>,
        state: State,
    ) -> Self {
        Self { points, rows, parameters, memory, near, state }
    }

    /// The best centres, once the run is done.
    pub fn centers(&self) -> Centers {
        let values = self.state.best.as_ref().map(|(values, _)| values.clone()).unwrap_or_default();
        Centers { dimension: self.rows.dimension, values }
    }
}

impl<T: Kept> run::Course<Parameters> for Course<'_, T> {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    fn is_done(&self) -> bool {
        self.state.costs.len() >= self.parameters.starts
    }

    fn stage(&self) -> Stage {
        Stage::Refining
    }

    fn step(&self) -> Step {
        let cost = self.state.best.as_ref().map_or(self.rows.square, |(_, cost)| *cost);
        Step {
            index: self.state.costs.len() as u64,
            temperature: 0.0,
            clusters: self.centers().len(),
            free_energy: self.rows.squared(cost / self.rows.total_weight),
            mean_cost: self.rows.squared(cost / self.rows.total_weight),
            information: 0.0,
            softness: 0.0,
            sweeps: self.state.sweeps,
            max_move: 0.0,
            next_critical: 0.0,
        }
    }

    fn sweeps(&self) -> u64 {
        self.state.sweeps
    }

    fn fraction(&mut self) -> f64 {
        self.state.costs.len() as f64 / self.parameters.starts as f64
    }

    async fn advance<R: Rounds>(&mut self, rounds: &mut R) -> Result<(), Error> {
        let Parameters { clusters, seed, max_sweeps, tolerance, sweeps, .. } = *self.parameters;
        let start = self.state.costs.len() as u64;
        let mut centers = draw(self.points, self.rows, self.near, rounds, (clusters, seed, start)).await?;
        let mut lloyd = Lloyd::new(self.rows, self.memory);
        lloyd.is_plain = sweeps == Sweeps::Plain;
        // One pass more than sweeps: the last says what the sweeps before came to.
        let patience = Patience { sweeps: max_sweeps + 1, tolerance, to_beat: None };
        let cost = lloyd.run(rounds, &mut centers, patience).await?;
        self.state.unfinished += usize::from(lloyd.sweeps > max_sweeps);
        self.state.sweeps += lloyd.sweeps;
        self.state.costs.push(cost);
        if self.state.best.as_ref().is_none_or(|(_, best)| cost < *best) {
            self.state.best = Some((centers.values, cost));
        }
        Ok(())
    }
}
