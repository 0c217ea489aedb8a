//! A run as a series of steps: the sample is annealed, then each batch is processed once. The run can be resumed after
//! each batch.

use lehr_data::Points;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::Checkpoint;
use super::e_step::{Pass, numbers};
use super::m_step::{Center, Given, kept};
use super::model::{Cluster, Model};
use super::parameters::Parameters;
use super::source::Source;
use crate::Error;
use crate::anneal::{AnyCheckpoint, Control, Interrupt, Observer, Progress, Stage};
use crate::lloyd::Centers;
use crate::round::{Execution, drive};
use crate::rows::{Precision, Rows, Scalar};
use crate::vector;

/// The part of a stream that has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Passed {
    /// The number of batches, including the sample.
    batches: u64,
    /// The hash of the hashes of all batches, in order.
    fingerprint: u64,
}

impl Passed {
    fn and(self, batch: &Points) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&self.fingerprint.to_le_bytes());
        hash.update(&batch.fingerprint().to_le_bytes());
        Passed { batches: self.batches + 1, fingerprint: hash.digest() }
    }
}

/// The whole state of a run; checkpoints store it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum State {
    /// The sample is being annealed.
    Sample(Box<vector::Checkpoint>),
    /// The sample has been annealed, and batches are being processed.
    Stream(Stream),
}

impl State {
    pub(super) fn batches(&self) -> u64 {
        match self {
            State::Sample(_) => 0,
            State::Stream(stream) => stream.passed.batches,
        }
    }
}

/// A stream whose sample has passed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    passed: Passed,
    columns: Vec<String>,
    centers: Vec<Center>,
    /// The number of rows of positive weight.
    rows: u64,
    weight: f64,
    objective: f64,
    last_objective: f64,
    /// The warnings from the annealing of the sample.
    warnings: Vec<String>,
}

/// A run in progress.
pub(super) struct Fit<'a> {
    pub source: &'a mut dyn Source,
    pub parameters: &'a Parameters,
    pub execution: &'a Execution,
    pub observer: &'a mut dyn Observer,
}

impl Fit<'_> {
    /// Starts a run at the first row.
    pub fn begin(mut self) -> Result<Model, Error> {
        let sample = self.sample();
        if self.asks_to_stop(Vec::new()) {
            return Err(Error::Stopped);
        }
        let sample = sample?;
        let stream = self.anneal(&sample, None)?;
        drop(sample);
        self.walk(stream)
    }

    /// Resumes a run from a checkpoint; the source must supply the stream from its beginning.
    pub fn go_on(mut self, checkpoint: Checkpoint) -> Result<Model, Error> {
        let sample = self.sample();
        let figures = match &checkpoint.state {
            State::Sample(_) => Vec::new(),
            State::Stream(stream) => stream.figures(),
        };
        if self.asks_to_stop(figures.clone()) {
            self.observer.checkpoint(&checkpoint);
            return Err(Error::Stopped);
        }
        let sample = sample?;
        let mut passed = Passed::default().and(&sample);
        let sample = Some(sample).filter(|_| checkpoint.batches() == 0);
        while passed.batches < checkpoint.batches() {
            let batch = self.source.next(self.parameters.batch_rows);
            if self.asks_to_stop(figures.clone()) {
                self.observer.checkpoint(&checkpoint);
                return Err(Error::Stopped);
            }
            // If the stream ends too early, it is not the stream of the checkpoint.
            let Some(batch) = batch? else { break };
            passed = passed.and(&batch);
        }
        match (checkpoint.state_on(passed.fingerprint)?, sample) {
            (State::Sample(state), Some(sample)) => {
                let stream = self.anneal(&sample, Some(*state))?;
                drop(sample);
                self.walk(stream)
            }
            (State::Stream(stream), _) => self.walk(stream),
            (State::Sample(_), None) => unreachable!("no batch is behind a sample"),
        }
    }

    fn sample(&mut self) -> Result<Points, Error> {
        let sample = self.source.next(self.parameters.sample())?;
        let empty = || lehr_data::Error::Empty { name: "the stream".into(), found: "no rows" };
        Ok(sample.ok_or_else(empty)?)
    }

    /// Reports the progress in the stream, and returns whether the observer wants to stop. It is called after a batch
    /// has been read and before it is processed. Ctrl-C stops every program of a pipe, so the program that feeds the
    /// stream may have been stopped too. Then the last row of the batch may be truncated, which is not an error in the
    /// data.
    ///
    /// `figures` is empty before the sample has been clustered.
    fn asks_to_stop(&mut self, figures: Vec<(&'static str, f64)>) -> bool {
        let progress = Progress { stage: Stage::Streaming.name().into(), fraction: self.source.fraction(), figures };
        self.observer.progress(&progress) == Control::Stop
    }

    /// Anneals the sample to find the first centres.
    fn anneal(&mut self, sample: &Points, state: Option<vector::Checkpoint>) -> Result<Stream, Error> {
        let Parameters { clusters, seed, precision, .. } = *self.parameters;
        let passed = Passed::default().and(sample);
        let mut watch =
            SampleWatch { observer: &mut *self.observer, parameters: self.parameters, fingerprint: passed.fingerprint };
        let model = match state {
            Some(state) => vector::resume(sample, state, self.execution, &mut watch)?,
            None => {
                let parameters =
                    vector::Parameters { clusters: Some(clusters), seed, precision, ..vector::Parameters::default() };
                vector::cluster(sample, &parameters, self.execution, &mut watch)?
            }
        };
        let mut rows = vec![0; model.clusters.len()];
        for (row, &label) in model.labels.iter().enumerate() {
            rows[label as usize] += u64::from(sample.weight(row) > 0.0);
        }
        let found = model.centers.chunks_exact(model.dimension).zip(&model.clusters).zip(&rows);
        let centers = found.filter(|(_, rows)| **rows > 0).map(|((position, cluster), &rows)| Center {
            position: position.to_vec(),
            counts: cluster.weight,
            rows,
            later: 0,
            weight: cluster.weight,
            square: cluster.spread * cluster.spread,
        });
        let centers: Vec<Center> = centers.collect();
        Ok(Stream {
            passed,
            columns: sample.columns().to_vec(),
            rows: rows.iter().sum(),
            weight: centers.iter().map(|center| center.weight).sum(),
            objective: model.objective,
            last_objective: model.objective,
            centers,
            warnings: model.warnings.iter().map(|warning| format!("of the sample: {warning}")).collect(),
        })
    }

    /// Processes all remaining batches.
    fn walk(mut self, mut stream: Stream) -> Result<Model, Error> {
        loop {
            // The checkpoint borrows the stream for the call instead of copying it.
            let fingerprint = stream.passed.fingerprint;
            let checkpoint = Checkpoint::new(fingerprint, self.parameters.clone(), State::Stream(stream));
            self.observer.checkpoint(&checkpoint);
            let State::Stream(back) = checkpoint.state else { unreachable!("a stream was lent") };
            stream = back;
            let batch = self.source.next(self.parameters.batch_rows);
            if self.asks_to_stop(stream.figures()) {
                let (fingerprint, state) = (stream.passed.fingerprint, State::Stream(stream));
                self.observer.checkpoint(&Checkpoint::new(fingerprint, self.parameters.clone(), state));
                return Err(Error::Stopped);
            }
            let Some(batch) = batch? else { break };
            match self.parameters.precision {
                Precision::F64 => stream.add::<f64>(&batch, self.parameters, self.execution)?,
                Precision::F32 => stream.add::<f32>(&batch, self.parameters, self.execution)?,
            }
        }
        Ok(stream.model())
    }
}

impl Stream {
    /// Updates the centres with a batch.
    fn add<T: Scalar>(&mut self, batch: &Points, parameters: &Parameters, execution: &Execution) -> Result<(), Error> {
        let dimension = self.columns.len();
        let shape = |expected, found| lehr_data::Error::Shape { what: batch.name().into(), expected, found };
        if batch.dimension() != dimension {
            let expected = format!("{dimension} columns, as in the first batch");
            return Err(shape(expected, batch.dimension().to_string()).into());
        }
        if let Some((own, other)) = self.columns.iter().zip(batch.columns()).find(|(own, other)| own != other) {
            return Err(shape(format!("the column {own:?} where the first batch has it"), format!("{other:?}")).into());
        }
        let added = batch.total_weight();
        let weight = self.weight + added;
        if !weight.is_finite() {
            let expected = "weights with a finite sum over all batches".to_owned();
            return Err(shape(expected, "a sum beyond the largest number".to_owned()).into());
        }
        let positions: Vec<f64> = self.centers.iter().flat_map(|center| &center.position).copied().collect();
        let rows = Rows::<T>::among(batch, &positions)?;
        let stored = |(index, x): (usize, f64)| (x - rows.units.origin[index % dimension]) / rows.units.length;
        let centers = Centers { dimension, values: positions.into_iter().enumerate().map(stored).collect() };
        let told = drive(execution, rows.dealt, &Pass { rows: &rows, centers: &centers })?;
        let keeps = parameters.half_life.map_or(1.0, |half_life| kept(rows.count as u64, half_life));
        let mut cost = 0.0;
        for (center, told) in self.centers.iter_mut().zip(told.chunks_exact(numbers(dimension))) {
            center.forget(keeps);
            if let Some(given) = given(told, &rows) {
                center.take(&given);
            }
            cost += told[1 + dimension];
        }
        self.last_objective = rows.units.squared(cost / rows.total_weight);
        self.weight = weight;
        self.objective += added / self.weight * (self.last_objective - self.objective);
        self.rows += rows.count as u64;
        self.passed = self.passed.and(batch);
        Ok(())
    }

    /// The figures that the observer receives. `sweeps` equals `batches`, because each batch is processed once.
    fn figures(&self) -> Vec<(&'static str, f64)> {
        let (batches, clusters) = (self.passed.batches as f64, self.centers.len() as f64);
        vec![("batches", batches), ("clusters", clusters), ("sweeps", batches), ("mean_cost", self.objective)]
    }

    /// Puts the centres in the order that users see.
    fn model(mut self) -> Model {
        // The sort is stable, so centres of equal weight keep their order.
        self.centers.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        let mut warnings = std::mem::take(&mut self.warnings);
        let left = self.centers.iter().filter(|center| center.later == 0).count();
        if self.passed.batches > 1 && left > 0 {
            warnings.push(format!(
                "{left} of {} centres {} given no row after the sample: the rest of the stream differs from the sample, or has too few rows; shuffle the rows or take a larger sample",
                self.centers.len(),
                if left == 1 { "was" } else { "were" }
            ));
        }
        Model {
            dimension: self.columns.len(),
            centers: self.centers.iter().flat_map(|center| &center.position).copied().collect(),
            clusters: self
                .centers
                .iter()
                .map(|center| Cluster {
                    rows: center.rows,
                    weight: center.weight,
                    counts: center.counts,
                    spread: center.square.sqrt(),
                })
                .collect(),
            objective: self.objective,
            last_objective: self.last_objective,
            batches: self.passed.batches,
            rows: self.rows,
            weight: self.weight,
            fingerprint: self.passed.fingerprint,
            warnings,
        }
    }
}

/// Converts the sums of a pass for a centre to the unit of the points; `None` if the centre has no rows.
fn given<T: Scalar>(told: &[f64], rows: &Rows<T>) -> Option<Given> {
    let (mass, moments) = (told[0], &told[1..1 + rows.dimension]);
    let mean = || moments.iter().map(|moment| moment / mass).collect::<Vec<f64>>();
    (mass > 0.0).then(|| Given {
        rows: told[2 + rows.dimension] as u64,
        weight: mass * rows.units.weight,
        mean: rows.units.position(&mean()),
        square: rows.units.squared(told[1 + rows.dimension] / mass),
    })
}

/// Forwards the progress of the sample's annealing to the stream's observer.
struct SampleWatch<'a> {
    observer: &'a mut dyn Observer,
    parameters: &'a Parameters,
    fingerprint: u64,
}

impl SampleWatch<'_> {
    fn of_stream(&self, checkpoint: &dyn AnyCheckpoint) -> Checkpoint {
        let of_sample: &vector::Checkpoint = checkpoint.downcast_ref().expect("annealing offers its own");
        let state = State::Sample(Box::new(of_sample.clone()));
        Checkpoint::new(self.fingerprint, self.parameters.clone(), state)
    }
}

impl Observer for SampleWatch<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let (stage, figures) = (format!("sample: {}", progress.stage).into(), progress.figures.clone());
        // Until the sample has been processed, its share of the stream is unknown.
        self.observer.progress(&Progress { stage, fraction: None, figures })
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        let checkpoint = self.of_stream(checkpoint);
        self.observer.checkpoint(&checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        self.observer.interrupt()
    }

    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        let checkpoint = self.of_stream(checkpoint);
        self.observer.interrupted(&checkpoint);
    }
}
