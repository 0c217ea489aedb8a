//! How many groups rows have, chosen by the valleys between them.
//!
//! Rows are given to more cells than there are groups; then cells are merged, two at a time, until one is left. Two neighbours are separate groups if the density has a valley between them:
//! if their rows, projected on a line, are so much likelier with two modes than with one that rows without structure hardly ever are. The number chosen is the largest at which every two neighbours
//! have a valley between them. If there is none, the rows are one group. See `docs/design/number.md` for what this was compared with, and where it fails.
//!
//! | file | subject |
//! | --- | --- |
//! | `sample.rs` | the rows that are looked at |
//! | `partition.rs` | cells: centres and the rows nearest to them |
//! | `valley.rs` | the statistic: two modes against one |
//! | `separation.rs` | from two cells to a line with counts on it |
//! | `hierarchy.rs` | merging from many cells to one |
//!
//! All of it is one thread's arithmetic in a fixed order, so it has the same bits wherever it is done.

mod hierarchy;
mod partition;
mod sample;
mod separation;
mod valley;

use serde::{Deserialize, Serialize};

use hierarchy::{Step, divide_all, merge_all};
use partition::Partition;
pub(crate) use sample::Sample;

use crate::Error;

/// How much likelier rows must be with a valley between two groups than without one, in nats. Uniform rows, which look most like two groups, come so far in less than one
/// of a hundred sets (`docs/design/number.md`).
pub const NEEDED: f64 = 6.0;
/// The most cells that numbers are looked for among, and how many there are at first.
const MOST_CELLS: usize = 1_024;
const FIRST_CELLS: usize = 32;
/// A cell has at least so many rows on average.
const ROWS_A_CELL: usize = 4;

/// The number of clusters that was chosen, and on what evidence.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, vector::{Parameters, cluster}};
/// // Thirty rows about 0 and thirty about 9.
/// let values = (0..60).map(|row| f64::from(9 * (row % 2)) + f64::from(row) / 60.0).collect();
/// let model = cluster(&Points::new(values, 1)?, &Parameters::default(), &Execution::default(), &mut Silent)?;
/// let number = model.number.unwrap();
/// assert_eq!((number.clusters, number.rows), (2, 60));
/// assert!(number.chosen().separation.unwrap() > lehr_mining::number::NEEDED);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Number {
    /// The number chosen; 1 where the rows are one group.
    pub clusters: usize,
    /// What was looked at, by falling number of clusters, down to 1.
    pub candidates: Vec<Candidate>,
    /// How many rows were looked at: all of positive weight, or a sample of them.
    pub rows: usize,
    /// The most clusters allowed, if there may be more of them.
    pub limit: Option<usize>,
}

/// A number of clusters, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The number.
    pub clusters: usize,
    /// Mean squared distance of the rows looked at from the centres, in the squared unit of the input.
    pub mean_cost: f64,
    /// How much likelier the rows are with a valley between the two neighbours that are separated least, in nats. Nothing for 1.
    pub separation: Option<f64>,
    /// How much likelier the rows of a cluster are with a valley within it, in nats, at most; looked for where separation suffices only.
    pub division: f64,
    /// Whether every two neighbours are separated, and none more than by what divides a cluster.
    pub is_separated: bool,
}

impl Number {
    /// The candidate chosen.
    pub fn chosen(&self) -> &Candidate {
        let chosen = self.candidates.iter().find(|candidate| candidate.clusters == self.clusters);
        chosen.unwrap_or(&self.candidates[self.candidates.len() - 1])
    }

    /// The best of the smaller numbers and the best of the larger ones: the largest of those that are separated, and the one with the highest separation.
    pub fn runners_up(&self) -> Vec<&Candidate> {
        let above = self.candidates.iter().filter(|candidate| candidate.clusters > self.clusters);
        let below =
            self.candidates.iter().filter(|candidate| candidate.clusters < self.clusters && candidate.clusters > 1);
        let separation = |candidate: &&Candidate| candidate.separation.unwrap_or(0.0);
        let above = above.max_by(|a, b| separation(a).total_cmp(&separation(b)));
        let below = below
            .clone()
            .find(|candidate| candidate.is_separated)
            .or_else(|| below.max_by(|a, b| separation(a).total_cmp(&separation(b))));
        below.into_iter().chain(above).collect()
    }

    /// Why this number, in a sentence.
    pub fn reason(&self) -> String {
        let nats = |candidate: &Candidate| format!("{:.1} nats", candidate.separation.unwrap_or(0.0));
        if self.clusters > 1 {
            return format!(
                "{} clusters: the density has a valley between every two neighbours (the shallowest makes the rows {} likelier; {NEEDED} are needed)",
                self.clusters,
                nats(self.chosen())
            );
        }
        let best = self.runners_up();
        match best.last().filter(|best| best.separation.is_some()) {
            Some(best) => format!(
                "1 group, no clusters: however the rows are divided, some two neighbours have no valley in the density between them (the best division, in {}, reaches {} of {NEEDED} that are needed)",
                best.clusters,
                nats(best)
            ),
            None => "1 group, no clusters: there are too few rows, or too few different ones, to divide".to_owned(),
        }
    }

    /// The runners-up, in a sentence; nothing if there are none.
    pub fn others(&self) -> Option<String> {
        let told = |candidate: &&Candidate| {
            let nats = candidate.separation.unwrap_or(0.0);
            let verdict = match () {
                () if candidate.is_separated => "separated too, but coarser",
                () if nats < NEEDED => "not separated",
                () => "but one of them divides more clearly",
            };
            format!("{} ({nats:.1} nats: {verdict})", candidate.clusters)
        };
        let told: Vec<String> = self.runners_up().iter().map(told).collect();
        (self.clusters > 1 && !told.is_empty()).then(|| format!("runners-up: {}", told.join(", ")))
    }

    /// That the limit was reached, if it was.
    pub(crate) fn warning(&self) -> Option<String> {
        let limit = self.limit?;
        Some(format!(
            "the number of clusters was chosen among up to {limit}, and there may be more: raise max_clusters, or give the number"
        ))
    }
}

/// Chooses the number of clusters of a sample, at most `most`. `grow` finds the centres of so many cells, and `goes_on` is asked now and then.
///
/// # Errors
/// Those of `grow`; [`Error::Stopped`] if `goes_on` says no.
pub(crate) fn choose(
    sample: &Sample,
    most: usize,
    mut grow: impl FnMut(usize) -> Result<Vec<f64>, Error>,
    goes_on: &dyn Fn() -> bool,
) -> Result<Number, Error> {
    let rows = sample.len();
    let most_cells = MOST_CELLS.min((rows / ROWS_A_CELL).max(rows.min(3)));
    let most_cells = most_cells.min(FIRST_CELLS.max(4 * most.min(MOST_CELLS)));
    let first = FIRST_CELLS.min(most_cells);
    if first < 2 {
        return Ok(Number::one(rows));
    }
    let grown = grow(first)?;
    let mut centers: Vec<Vec<f64>> = grown.chunks_exact(sample.dimension).map(<[f64]>::to_vec).collect();
    loop {
        let mut partition = Partition::new(sample, centers);
        let cells = partition.len();
        let (divided, most_divided) = divide_all(&partition);
        let may_grow = cells < most_cells && divided.len() > cells;
        // So many cells are looked at that one of them looks divided without cause.
        if may_grow && most_divided >= NEEDED + (cells as f64).ln() {
            centers = divided;
            continue;
        }
        let steps = merge_all(&mut partition, goes_on)?;
        let best = steps.iter().find(|step| step.is_separated()).map_or(1, |step| step.clusters);
        // Few cells a group leave some groups without one of their own.
        if may_grow && 5 * best > 3 * cells {
            centers = divided;
            continue;
        }
        let allowed = steps.iter().find(|step| step.is_separated() && step.clusters <= most);
        let clusters = allowed.map_or(1, |step| step.clusters);
        let is_short = best > clusters || (5 * best > 3 * cells && cells == MOST_CELLS);
        let limit = is_short.then_some(most.min(MOST_CELLS));
        let unit = sample.length * sample.length / rows as f64;
        let told = steps.into_iter().filter(|step| step.clusters <= 2 * clusters + 10);
        return Ok(Number { clusters, candidates: told.map(|step| Candidate::new(step, unit)).collect(), rows, limit });
    }
}

impl Number {
    /// Rows that nothing divides.
    fn one(rows: usize) -> Self {
        let candidate = Candidate { clusters: 1, mean_cost: 0.0, separation: None, division: 0.0, is_separated: true };
        Self { clusters: 1, candidates: vec![candidate], rows, limit: None }
    }
}

impl Candidate {
    fn new(step: Step, unit: f64) -> Self {
        Self {
            clusters: step.clusters,
            mean_cost: step.cost * unit,
            separation: (step.clusters > 1).then_some(step.separation),
            division: step.division,
            is_separated: step.clusters == 1 || step.is_separated(),
        }
    }
}
