//! Chooses the number of groups in rows by the valleys in their density.
//!
//! Rows are divided into more cells than there are groups; then cells are merged, two at a time, until one is left. Two
//! neighbours are separate groups if the density has a valley between them. To test this, their rows are projected onto
//! a line, where two modes must be much more likely than one. Rows without structure almost never pass this test. Lehr
//! chooses the largest number at which every two neighbours have a valley between them. If there is no such number, the
//! rows are one group. `docs/design/number.md` compares other methods, and describes the limits of this one.
//!
//! | file | subject |
//! | --- | --- |
//! | `sample.rs` | the rows that are examined |
//! | `rounding.rs` | the rounding of the values |
//! | `partition.rs` | cells: centres and the rows nearest to them |
//! | `valley.rs` | the statistic: two modes against one |
//! | `separation.rs` | the projection of two cells onto a line, and counts on it |
//! | `hierarchy.rs` | merging from many cells to one |
//!
//! All arithmetic runs on one thread in a fixed order, so results have the same bits everywhere.

mod hierarchy;
mod partition;
mod rounding;
mod sample;
mod separation;
mod valley;

use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use hierarchy::{Step, compare_neighbors, divide_all, merge_all};
use partition::Partition;
pub(crate) use sample::Sample;

use crate::Error;
use crate::anneal::Control;

/// The gain in log-likelihood that a valley between two groups must bring, in nats. Uniform rows, which look most like
/// two groups, reach it in fewer than one of a hundred data sets (`docs/design/number.md`).
pub const NEEDED: f64 = 6.0;
/// The maximum number of cells, and the initial number.
const MOST_CELLS: usize = 1_024;
const FIRST_CELLS: usize = 32;
/// The minimum average number of rows in a cell.
const ROWS_A_CELL: usize = 4;

/// Clusters count as different from the merged cells if their cost is less than this share of the cells' cost.
const ANOTHER: f64 = 0.75;

/// The number of clusters that was chosen, and the evidence for it.
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
    /// The number chosen; 1 if the rows are one group.
    pub clusters: usize,
    /// The numbers that were compared, in descending order. They run from twice the largest separated number plus ten,
    /// down to 1.
    pub candidates: Vec<Candidate>,
    /// The number of rows that were examined: all rows of positive weight, or a sample of them.
    pub rows: usize,
    /// The number of rows that have positive weight.
    pub rows_of: usize,
    /// The maximum number of clusters that could be found, if there may be more.
    pub limit: Option<usize>,
}

/// A number of clusters and the evidence for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The number of clusters.
    pub clusters: usize,
    /// The mean squared distance of the examined rows from the centres, in the squared unit of the input.
    pub mean_cost: f64,
    /// The gain in log-likelihood, in nats, of a valley between the two neighbours that are separated least. `None` for
    /// one cluster.
    pub separation: Option<f64>,
    /// The largest gain in log-likelihood of a valley within a cluster, in nats.
    pub division: f64,
    /// Whether every two neighbours are separated, and no valley within a cluster is deeper than the valleys between
    /// neighbours.
    pub is_separated: bool,
}

impl Number {
    /// The candidate that was chosen.
    pub fn chosen(&self) -> &Candidate {
        let chosen = self.candidates.iter().find(|candidate| candidate.clusters == self.clusters);
        chosen.unwrap_or(&self.candidates[self.candidates.len() - 1])
    }

    /// The best smaller candidate and the best larger candidate. The smaller candidate is the largest number that is
    /// separated or, if no number is separated, the number with the highest separation. The larger candidate has the
    /// highest separation.
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

    /// The candidates to show if there is little space: the chosen candidate, the next two smaller ones, the next three
    /// larger ones, and the runners-up.
    pub fn shortlist(&self) -> Vec<&Candidate> {
        let runners_up = self.runners_up();
        let near = self.clusters.saturating_sub(2)..=self.clusters + 3;
        let is_shown = |candidate: &&Candidate| near.contains(&candidate.clusters) || runners_up.contains(candidate);
        self.candidates.iter().filter(is_shown).collect()
    }

    /// The reason for this number, as a sentence without a full stop.
    pub fn reason(&self) -> String {
        let nats = |candidate: &Candidate| format!("{:.1} nats", candidate.separation.unwrap_or(0.0));
        let sample = match self.rows < self.rows_of {
            true => format!("; {} of {} rows were looked at", self.rows, self.rows_of),
            false => String::new(),
        };
        if self.clusters > 1 {
            return format!(
                "{} clusters: the density has a valley between every two neighbouring clusters (the weakest reaches {}; {NEEDED} are needed){sample}",
                self.clusters,
                nats(self.chosen())
            );
        }
        let best = self.runners_up();
        match best.last().filter(|best| best.separation.is_some()) {
            Some(best) if best.separation.is_some_and(|nats| nats >= NEEDED) => format!(
                "1 cluster: no division holds (the best, {} clusters, reaches {}, but a valley within one of them is deeper){sample}",
                best.clusters,
                nats(best)
            ),
            Some(best) => format!(
                "1 cluster: in every division some neighbouring clusters have no valley in the density between them (the best, {} clusters, reaches {}; {NEEDED} are needed){sample}",
                best.clusters,
                nats(best)
            ),
            None => "1 cluster: there are too few rows, or too few different ones, to divide".to_owned(),
        }
    }

    /// A candidate's verdict, in a few words.
    pub fn verdict(&self, candidate: &Candidate) -> &'static str {
        match candidate {
            candidate if candidate.clusters == self.clusters => "chosen",
            candidate if candidate.clusters == 1 => "coarser",
            candidate if candidate.is_separated && candidate.clusters > self.clusters => {
                "separated, but above the limit"
            }
            candidate if candidate.is_separated => "separated, but coarser",
            candidate if candidate.separation.is_some_and(|nats| nats < NEEDED) => "not separated",
            _ => "a valley within a cluster is deeper",
        }
    }

    /// The runners-up, as a sentence without a full stop; `None` if there are none.
    pub fn others(&self) -> Option<String> {
        let told = |candidate: &&Candidate| {
            let nats = candidate.separation.unwrap_or(0.0);
            format!("{} ({nats:.1} nats: {})", candidate.clusters, self.verdict(candidate))
        };
        let told: Vec<String> = self.runners_up().iter().map(told).collect();
        (self.clusters > 1 && !told.is_empty()).then(|| format!("runners-up: {}", told.join(", ")))
    }

    /// The warning that the limit was reached, if it was; `allowed` is the user's limit.
    pub(crate) fn warning(&self, allowed: Option<usize>) -> Option<String> {
        let limit = self.limit?;
        let cure = if allowed == Some(limit) { "raise max_clusters, or give the number" } else { "give the number" };
        Some(format!("there may be more than {limit} clusters, the maximum number for this run: {cure}"))
    }
}

/// Chooses the number of clusters of a sample, at most `most`. `grow` finds the centres of the given number of cells.
/// `hear` receives the number of cells that are left after each merge.
///
/// # Errors
/// Returns the errors of `grow`, and [`Error::Stopped`] if `hear` stops it.
pub(crate) fn choose(
    sample: &Sample,
    most: usize,
    mut grow: impl FnMut(usize) -> Result<Vec<f64>, Error>,
    hear: &mut dyn FnMut(usize) -> Control,
) -> Result<Number, Error> {
    let (rows, rows_of) = (sample.len(), sample.rows_of);
    let most_cells = MOST_CELLS.min((rows / ROWS_A_CELL).max(rows.min(3)));
    let most_cells = most_cells.min(FIRST_CELLS.max(4 * most.min(MOST_CELLS)));
    let first = FIRST_CELLS.min(most_cells);
    if first < 2 {
        return Ok(Number::one(rows, rows_of));
    }
    let grown = grow(first)?;
    let mut centers: Vec<Vec<f64>> = grown.chunks_exact(sample.dimension).map(<[f64]>::to_vec).collect();
    loop {
        let mut partition = Partition::new(sample, centers);
        let cells = partition.len();
        let (divided, most_divided) = divide_all(&partition);
        let may_grow = cells < most_cells && divided.len() > cells;
        // The more cells there are, the more likely it is that one of them looks divided by chance.
        if may_grow && most_divided >= NEEDED + ln(cells as f64) {
            centers = divided;
            continue;
        }
        // If there are few cells for each group, some groups have no cell of their own.
        let few_groups = 3 * cells / 5;
        let steps = merge_all(&mut partition, if may_grow { few_groups } else { usize::MAX }, hear)?;
        let best = steps.iter().find(|step| step.is_separated()).map_or(1, |step| step.clusters);
        if may_grow && best > few_groups {
            centers = divided;
            continue;
        }
        let allowed = steps.iter().find(|step| step.is_separated() && step.clusters <= most);
        let clusters = allowed.map_or(1, |step| step.clusters);
        // There may be more groups than allowed, or than the possible number of cells can show.
        let limit = if best > clusters {
            Some(most)
        } else {
            (best > few_groups && cells >= most_cells).then_some(most.min(cells))
        };
        let unit = sample.length * sample.length / rows as f64;
        let near = steps.into_iter().filter(|step| step.clusters <= 2 * best + 10);
        let candidates = near.map(|step| Candidate::new(step, unit)).collect();
        return Ok(Number { clusters, candidates, rows, rows_of, limit });
    }
}

impl Number {
    /// Checks the clusters that annealing made for the chosen number. These clusters have the lowest cost, so they may
    /// differ from the merged cells, which have a valley between every two neighbours. If the clusters cost far less
    /// but lack a valley, the next smaller separated number is chosen instead. Returns whether the number has changed.
    pub(crate) fn gives_way(&mut self, sample: &Sample, centers: &[f64]) -> bool {
        let unit = sample.length * sample.length / self.rows as f64;
        let Some(at) = self.candidates.iter().position(|candidate| candidate.clusters == self.clusters) else {
            return false;
        };
        let Some(dimension) = centers.len().checked_div(self.clusters).filter(|_| self.clusters > 1) else {
            return false;
        };
        let centers = centers.chunks_exact(dimension).map(|center| sample.image(center)).collect();
        let partition = Partition::new(sample, centers);
        if partition.cost() * unit >= ANOTHER * self.candidates[at].mean_cost {
            return false;
        }
        let (step, _) = compare_neighbors(&partition, &mut Default::default());
        if step.separation >= NEEDED {
            return false;
        }
        self.candidates[at] = Candidate::new(step, unit);
        let smaller = self.candidates[at + 1..].iter().find(|candidate| candidate.is_separated);
        self.clusters = smaller.map_or(1, |candidate| candidate.clusters);
        true
    }

    /// The result for rows that cannot be divided.
    fn one(rows: usize, rows_of: usize) -> Self {
        let candidate = Candidate { clusters: 1, mean_cost: 0.0, separation: None, division: 0.0, is_separated: true };
        Self { clusters: 1, candidates: vec![candidate], rows, rows_of, limit: None }
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
