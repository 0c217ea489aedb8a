//! The tasks of the jobs of `lehr-lab overhead`. The same program runs in one process or in several, reads its task as
//! one line of JSON, and answers with one line.
//!
//! Every process of the job calls [`Task::work`]. Each process generates the points itself; they depend on their number
//! only, so they are the same everywhere.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use anyhow::{Result, ensure};
use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::{Points, datasets, read};
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Model, Parameters};
use lehr_mining::{pairwise, smacof};
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::{Engine, Error, Execution, Job, Partition, Program, Round, Rounds, drive};
use serde::{Deserialize, Serialize};

use crate::command::quality::run_with;
use crate::inputs;
use crate::measure::timed;

/// The standard deviation of a group of the generated points, whose centres are in the unit cube.
const DEVIATION: f64 = 0.05;
/// The number of rows of a block in a stage, which is the size of a leaf.
const BLOCK_ROWS: usize = 1024;
/// The temperature of the kernel's stages, in squared units of the points: soft for neighbouring centres, hard for
/// distant ones.
const TEMPERATURE: f64 = 0.01;

/// A task of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Makes whole clustering runs of points.
    Cluster(Problem),
    /// Makes whole clustering runs of the census blocks.
    Census(Problem),
    /// Makes whole pairwise clustering runs of the same points by their distances alone.
    Pairs(Problem),
    /// Makes whole pairwise clustering runs of dissimilarities.
    Sequences {
        /// The size of the problem and the engine.
        problem: Problem,
        /// The path of the dissimilarities.
        matrix: PathBuf,
    },
    /// Makes whole maps of dissimilarities.
    Scale(Scaling),
    /// Runs only the kernel, in stages that all ranks begin together.
    Stages {
        /// The number of rows of each rank.
        rows: usize,
        /// The number of coordinates of a point.
        dimension: usize,
        /// The number of centres.
        clusters: usize,
        /// The number of ranks in each process, each with a worker.
        threads: usize,
        /// The maximum number of stages.
        stages: usize,
        /// The time limit of the stages; there are fewer stages if they would last longer.
        seconds_max: f64,
    },
}

/// A clustering problem, the engine that solves it, and the number of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The number of rows of the whole problem.
    pub rows: usize,
    /// The number of coordinates of a point.
    pub dimension: usize,
    /// The requested number of clusters.
    pub clusters: usize,
    /// The name of the engine.
    pub engine: String,
    /// The number of ranks in each process, each with a worker.
    pub threads: usize,
    /// The number of timed runs, after one that is not timed.
    pub runs: usize,
}

/// A map, the engine that makes it, and the number of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The path of the dissimilarities.
    pub matrix: PathBuf,
    /// The number of dimensions of the map.
    pub dimension: usize,
    /// The maximum number of iterations.
    pub iterations: u64,
    /// The name of the engine.
    pub engine: String,
    /// The number of ranks in each process, each with a worker; for engines without ranks, the number of threads.
    pub threads: usize,
    /// The number of timed runs, after one that is not timed.
    pub runs: usize,
}

/// The answer of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The answer for whole runs.
    Cluster {
        /// The seconds of each timed run, from before its threads start until after they have ended.
        seconds: Vec<f64>,
        /// A hash of labels, centres and number of rounds, or of positions. It is equal for bit-identical results.
        bits: u64,
        /// The number of passes over the rows.
        iterations: u64,
        /// The maximum number of rows of a rank, divided by the mean.
        imbalance: f64,
    },
    /// The answer for stages.
    Stages {
        /// The seconds of the computation, as a list for each rank with one entry for each stage.
        seconds: Vec<Vec<f64>>,
    },
}

impl Task {
    /// Does the task, in every process of the job; only the answer of the first process counts.
    ///
    /// # Errors
    /// Returns the errors of the method, and an error if runs are not bit-identical.
    pub fn work(&self, job: Option<Job>) -> Result<Answer> {
        match self {
            Self::Cluster(problem) | Self::Census(problem) => {
                let is_census = matches!(self, Self::Census(_));
                let points = if is_census { datasets::census_blocks() } else { problem.points()? };
                // Passes over all rows can be divided; passes over a summary are too short for that.
                let parameters = Parameters { clusters: Some(problem.clusters), exact: true, ..Parameters::default() };
                let execution = problem.execution(job)?;
                repeated(problem.runs, || Ok(Ended::of_points(&run_with(&points, &parameters, &execution)?)))
            }
            Self::Pairs(problem) => problem.pairwise(&distances(&problem.points()?)?, job),
            Self::Sequences { problem, matrix } => problem.pairwise(&read::dissimilarities::matrix(matrix)?, job),
            Self::Scale(scaling) => {
                let matrix = read::dissimilarities::matrix(&scaling.matrix)?;
                let execution = execution(&scaling.engine, scaling.threads, job)?;
                repeated(scaling.runs, || {
                    let input = smacof::Input::new(&matrix);
                    Ok(Ended::of_map(&smacof::embed(&input, &scaling.parameters(), &execution, &mut Silent)?))
                })
            }
            Self::Stages { rows, dimension, clusters, threads, stages, seconds_max } => {
                let ranks = threads * job.map_or(1, |Job(job)| job.processes());
                let execution = Execution { engine: Engine::Ranks, ranks: *threads, threads: *threads, job };
                let kernel = Kernel::new(*rows, *dimension, *clusters)?;
                let stages = Staged { kernel, ranks, stages: *stages, seconds_max: *seconds_max };
                // Each rank has one leaf, with as few rows as a leaf may have.
                let seconds = drive(&execution, ranks * Partition::new(1, 1).leaf_size(), &stages)?;
                Ok(Answer::Stages { seconds })
            }
        }
    }
}

impl Problem {
    fn points(&self) -> Result<Points> {
        Ok(inputs::mixture(self.rows, self.dimension, self.clusters, DEVIATION)?.0)
    }

    /// Makes whole pairwise clustering runs.
    fn pairwise(&self, matrix: &Dissimilarities, job: Option<Job>) -> Result<Answer> {
        let parameters = pairwise::Parameters { clusters: Some(self.clusters), ..pairwise::Parameters::default() };
        let execution = self.execution(job)?;
        repeated(self.runs, || {
            Ok(Ended::of_pairs(&pairwise::cluster(matrix, None, &parameters, &execution, &mut Silent)?))
        })
    }

    fn execution(&self, job: Option<Job>) -> Result<Execution> {
        execution(&self.engine, self.threads, job)
    }
}

impl Scaling {
    /// Returns the settings of the method of 003. It starts from random positions and makes steps of one length. It
    /// ends after the requested number of steps, or when nothing changes any more.
    fn parameters(&self) -> smacof::Parameters {
        smacof::Parameters {
            dimension: self.dimension,
            start: smacof::Start::Random,
            starts: 1,
            relaxed: false,
            tolerance: 1e-15,
            most_iterations: self.iterations,
            ..smacof::Parameters::default()
        }
    }
}

fn execution(engine: &str, threads: usize, job: Option<Job>) -> Result<Execution> {
    let engine: Engine = engine.parse()?;
    Ok(Execution { engine, ranks: if engine.has_ranks() { threads } else { 1 }, threads, job })
}

/// Solves the problem once untimed, and then in each timed run.
fn repeated(runs: usize, run: impl Fn() -> Result<Ended>) -> Result<Answer> {
    let first = run()?;
    let mut seconds = Vec::new();
    for _ in 0..runs {
        let (taken, ended) = timed(&run);
        ensure!(ended?.bits == first.bits, "a run ended with other bits than the one before");
        seconds.push(taken);
    }
    let Ended { bits, iterations, imbalance } = first;
    Ok(Answer::Cluster { seconds, bits, iterations, imbalance })
}

/// Computes the Euclidean distances of all pairs, as the whole rows that the method reads.
fn distances(points: &Points) -> Result<Dissimilarities> {
    let (items, dimension) = (points.len(), points.dimension());
    let row = |item: usize| &points.values()[item * dimension..][..dimension];
    let mut values = vec![0.0_f32; items * items];
    for one in 0..items {
        for other in 0..one {
            let squares = row(one).iter().zip(row(other)).map(|(a, b)| (a - b).powi(2));
            let distance = squares.sum::<f64>().sqrt() as f32;
            values[one * items + other] = distance;
            values[other * items + one] = distance;
        }
    }
    Ok(Dissimilarities::new(items, Form::Full, Values::F32(values), 1.0)?)
}

/// The result of a run.
struct Ended {
    /// A hash of everything that must not depend on the layout.
    bits: u64,
    iterations: u64,
    imbalance: f64,
}

impl Ended {
    fn of_points(model: &Model) -> Self {
        let mut hasher = DefaultHasher::new();
        (&model.labels, model.iterations).hash(&mut hasher);
        model.centers.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        Self { bits: hasher.finish(), iterations: model.iterations, imbalance: model.imbalance }
    }

    fn of_map(map: &smacof::Map) -> Self {
        let mut hasher = DefaultHasher::new();
        map.positions.iter().chain([&map.stress]).for_each(|value| value.to_bits().hash(&mut hasher));
        Self { bits: hasher.finish(), iterations: map.passes, imbalance: map.imbalance }
    }

    fn of_pairs(model: &pairwise::Model) -> Self {
        let mut hasher = DefaultHasher::new();
        (&model.labels, model.iterations, model.cost.to_bits()).hash(&mut hasher);
        model.probabilities.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        Self { bits: hasher.finish(), iterations: model.iterations, imbalance: model.imbalance }
    }
}

/// A rank's points, and the centres of the kernel of 004 section 4.
struct Kernel {
    blocks: Vec<Tiles<f64>>,
    centers: SoftCenters<f64>,
    clusters: usize,
    dimension: usize,
}

impl Kernel {
    fn new(rows: usize, dimension: usize, clusters: usize) -> Result<Self> {
        let (points, centers) = inputs::mixture(rows, dimension, clusters, DEVIATION)?;
        let zero = vec![0.0; dimension];
        let blocks = (0..rows)
            .step_by(BLOCK_ROWS)
            .map(|start| {
                let row = |i: usize| &points.values()[(start + i) * dimension..][..dimension];
                Tiles::new(BLOCK_ROWS.min(rows - start), dimension, &zero, row, |_| 1.0)
            })
            .collect();
        let mut soft = SoftCenters::default();
        soft.begin(dimension, TEMPERATURE);
        centers.chunks_exact(dimension).for_each(|center| soft.push(center, 0.0));
        Ok(Self { blocks, centers: soft, clusters, dimension })
    }

    /// Makes one pass over the points.
    fn pass(&self, scratch: &mut SoftScratch<f64>, sums: &mut [f64]) {
        sums.fill(0.0);
        for block in &self.blocks {
            soft_sums(block, &self.centers, Sums::First, scratch, sums);
        }
    }
}

/// The program that runs the stages on all ranks.
struct Staged {
    kernel: Kernel,
    ranks: usize,
    stages: usize,
    seconds_max: f64,
}

/// A round in which each leaf passes on the numbers of its rank.
struct Told<'a> {
    own: &'a [f64],
    ranks: usize,
}

impl Round for Told<'_> {
    fn len(&self) -> usize {
        self.ranks * self.own.len()
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        partial[leaf * self.own.len()..][..self.own.len()].copy_from_slice(self.own);
    }
}

impl Staged {
    /// Returns every rank's numbers on all ranks, as a list for each rank.
    async fn tell(&self, rounds: &mut dyn Rounds, own: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
        let mut all = vec![0.0; self.ranks * own.len()];
        rounds.round(&Told { own, ranks: self.ranks }, &mut all).await?;
        Ok(all.chunks_exact(own.len()).map(<[f64]>::to_vec).collect())
    }
}

impl Program for Staged {
    type Output = Vec<Vec<f64>>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<Vec<f64>>, Error> {
        // Each rank writes to its own memory.
        let (mut scratch, mut sums) =
            (SoftScratch::default(), vec![0.0; self.kernel.clusters * (1 + self.kernel.dimension)]);
        self.kernel.pass(&mut scratch, &mut sums);
        let (first, ()) = timed(|| self.kernel.pass(&mut scratch, &mut sums));
        // The slowest rank determines the number of stages, so it is the same on all ranks.
        let slowest = self.tell(rounds, &[first]).await?.concat().into_iter().fold(first, f64::max);
        let stages = self.stages.min((self.seconds_max / slowest) as usize).max(2);
        let mut seconds = Vec::with_capacity(stages);
        for _ in 0..stages {
            self.tell(rounds, &[0.0]).await?;
            seconds.push(timed(|| self.kernel.pass(&mut scratch, &mut sums)).0);
        }
        self.tell(rounds, &seconds).await
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::dissimilarities::Element;

    use super::*;

    fn problem(rows: usize, engine: &str, threads: usize) -> Problem {
        Problem { rows, dimension: 2, clusters: 3, engine: engine.into(), threads, runs: 2 }
    }

    fn cluster(engine: &str, threads: usize) -> Task {
        Task::Cluster(problem(700, engine, threads))
    }

    #[test]
    fn every_layout_and_engine_gives_the_same_bits() {
        let of = |task: Task| match task.work(None).unwrap() {
            Answer::Cluster { seconds, bits, iterations, .. } => {
                assert_eq!(seconds.len(), 2);
                (bits, iterations)
            }
            other => panic!("{other:?}"),
        };
        let one = of(cluster("ranks", 1));
        assert_eq!(of(cluster("ranks", 3)), one);
        assert_eq!(of(cluster("map-reduce", 2)), one);
        let pairs = |threads| of(Task::Pairs(problem(80, "ranks", threads)));
        assert_eq!(pairs(2), pairs(1));
        let folder = tempfile::tempdir().unwrap();
        let matrix = folder.path().join("matrix.npy");
        let mut file = lehr_data::write::AtomicFile::create(&matrix).unwrap();
        let row =
            |i: usize, row: &mut [f64]| row.iter_mut().enumerate().for_each(|(j, value)| *value = i.abs_diff(j) as f64);
        lehr_data::write::dissimilarities::numbers(&mut file, 90, Form::Condensed, Element::F32, 1.0, row).unwrap();
        file.commit().unwrap();
        let scale = |engine: &str, threads| {
            let (matrix, engine) = (matrix.clone(), engine.to_owned());
            of(Task::Scale(Scaling { matrix, dimension: 2, iterations: 5, engine, threads, runs: 2 }))
        };
        let one = scale("ranks", 1);
        for (engine, threads) in [("ranks", 3), ("loop", 1), ("loop", 2), ("ports", 2)] {
            assert_eq!(scale(engine, threads), one, "{engine}, {threads} threads");
        }
    }

    #[test]
    fn distances_are_those_of_the_points() {
        let points = Points::new(vec![0.0, 0.0, 3.0, 4.0, 3.0, 0.0], 2).unwrap();
        let matrix = distances(&points).unwrap();
        assert_eq!([matrix.get(0, 1), matrix.get(2, 1), matrix.get(2, 0)], [Some(5.0), Some(4.0), Some(3.0)]);
    }

    #[test]
    fn stages_have_a_time_for_each_rank_and_stage() {
        let task =
            Task::Stages { rows: 100, dimension: 2, clusters: 3, threads: 2, stages: 5, seconds_max: f64::INFINITY };
        let Answer::Stages { seconds } = task.work(None).unwrap() else { panic!("not the answer to stages") };
        assert_eq!(seconds.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5]);
        assert!(seconds.concat().iter().all(|time| *time >= 0.0));
    }

    #[test]
    fn tasks_and_answers_survive_a_line_of_json() {
        let task = cluster("ranks", 2);
        assert_eq!(serde_json::from_str::<Task>(&serde_json::to_string(&task).unwrap()).unwrap(), task);
        let answer = Answer::Cluster { seconds: vec![0.1], bits: u64::MAX, iterations: 3, imbalance: 1.0 };
        assert_eq!(serde_json::from_str::<Answer>(&serde_json::to_string(&answer).unwrap()).unwrap(), answer);
    }
}
