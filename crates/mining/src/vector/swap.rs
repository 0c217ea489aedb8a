//! The search by swaps: moves the centre that costs least to remove to the place where an additional centre gains most.
//!
//! Annealing decides from coarse to fine, and never undoes a decision. If the density varies by orders of magnitude,
//! some regions end with one centre too many, other regions with one too few. A pass of hard assignment estimates two
//! figures for every centre. The first figure is the cost of removing the centre, so that its rows move to their second
//! nearest centre. The second is the gain of dividing the centre's rows by a plane. So pairs (a centre to remove, a
//! centre to divide) can be tried in the order of their promise. A trial costs little, because it recomputes only
//! leaves near the two centres. If even the cheapest removal costs several times the gain of the best division,
//! clusters are far apart. Then no pair can help, and no pair is tried. When these pairs no longer help, each removal
//! and each division is carried out completely before pairs are tried again. When single swaps no longer help, several
//! centres are added and as many removed at once (a breathing step, Fritzke). A breathing step escapes some optima of
//! single swaps. When neither improves anything, the solution is perturbed: a random swap is made, whatever its cost,
//! and the search continues from there. If the result does not have a lower cost, the search returns to the solution
//! before the perturbation. If none of the most promising pairs improves the result of annealing, there is usually
//! nothing to improve. Then perturbations begin at once, and fewer perturbations are made.
//!
//! The seed determines these swaps, and the initial planes of divisions; nothing else is random.

use lehr_numerics::random::Stream;
use serde::{Deserialize, Serialize};

use super::parameters::PATIENCE;
use super::prospects::{PLANE_STEPS, Prospects, pairs, prospects};
use crate::Error;
use crate::lloyd::{Centers, Lloyd, Patience};
use crate::round::Rounds;
use crate::rows::Scalar;

/// The number of steps of two-means in the last check over all rows; each step is a pass. The gain of a division is
/// never overestimated, but with fewer steps it is underestimated more.
const LAST_PLANE_STEPS: usize = 2;
/// The number of trials between two reports to the observer.
const TRIALS_AT_ONCE: usize = 32;
/// The number of centres in the first breathing step; each failure lowers it by one.
const BREATH: usize = 6;
/// The number of successive unsuccessful perturbations after which the search ends. Each perturbation explores
/// solutions beyond the present optimum. With ten perturbations, all ten seeds of `uci_statlog` reach its optimum
/// (`make quality`); without perturbations, six of the seeds end 0.36 % above it. With many clusters, a perturbation
/// changes only a few clusters, so more perturbations are made. On Indiana's block groups at K = 80, with ten
/// perturbations, one seed in ten ends 0.14 % above the best known cost. With twenty, two seeds in ten end 0.12 % above
/// it; with forty, no seed ends more than 0.1 % above it. The number is limited because a perturbation costs a few
/// passes, and as many trials as there are clusters.
const DISTURBED_IN_VAIN: std::ops::RangeInclusive<usize> = 10..=40;
/// The minimum number of unsuccessful perturbations on a summary, where a pass takes almost no time.
const DISTURBED_SUMMARY: usize = 30;
/// The number of clusters for each unsuccessful perturbation, within the limits above.
const CLUSTERS_PER_DISTURBANCE: usize = 2;
/// The divisor of the number of perturbations if no trial has lowered the cost, because such a solution is usually the
/// best. `tests/mining/swap.rs` counts how often it is not the best, for 300 sets of uniform squares.
const FEWER_IF_UNBETTERED: usize = 2;
/// The number of iterations after a perturbation before trials continue. With many clusters, the search ends at worse
/// optima if pairs are tried before the centres have settled.
const DISTURBED_SWEEPS: u64 = 8;
/// A trial is accepted if it lowers the cost by more than this share.
const WORTHWHILE: f64 = 1e-6;
/// On a summary, a trial must gain more than this share of what the summary hides. With a smaller gain on the summary,
/// the cost over all rows might rise.
const TELLING: f64 = 1e-3;
/// On a summary, the number of perturbations falls as the hidden share of the cost rises, to [`FEWEST_DISTURBED`] if a
/// quarter is hidden. So much is hidden for rows without groups, whose many optima hardly differ.
const HIDDEN_TOO_MUCH: f64 = 0.25;
const FEWEST_DISTURBED: usize = 3;
/// A perturbation has returned to its start if the cost of its result is higher by no more than this share. Trials stop
/// iterating some way before the fixed point, usually within a few 1e-5 of it.
const BACK: f64 = 1e-4;
/// The minimum number of trials, whatever the number of clusters.
const LEAST_TRIALS: usize = 40;

/// The kind of trial that the search makes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "LevelAndBreath", into = "LevelAndBreath")]
pub(crate) enum Effort {
    /// Swaps that look best after one pass over the rows.
    Quick,
    /// Swaps that look best after each removal and each division has been carried out completely. When all such swaps
    /// have been tried, the first breathing step follows.
    Careful,
    /// A breathing step of this many centres, because larger steps improved nothing.
    Breathing(usize),
    /// Nothing: the search is over.
    Over,
}

/// The serialised form of [`Effort`] in checkpoints.
#[derive(Serialize, Deserialize)]
struct LevelAndBreath {
    level: Level,
    /// The number of centres in the next breathing step; 0 when the search is over.
    breath: usize,
}

#[derive(Serialize, Deserialize)]
enum Level {
    Quick,
    Careful,
}

impl From<LevelAndBreath> for Effort {
    fn from(LevelAndBreath { level, breath }: LevelAndBreath) -> Self {
        match (level, breath) {
            (_, 0) => Self::Over,
            (Level::Quick, _) => Self::Quick,
            (Level::Careful, BREATH) => Self::Careful,
            (Level::Careful, breath) => Self::Breathing(breath),
        }
    }
}

impl From<Effort> for LevelAndBreath {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Quick => Self { level: Level::Quick, breath: BREATH },
            Effort::Careful => Self { level: Level::Careful, breath: BREATH },
            Effort::Breathing(breath) => Self { level: Level::Careful, breath },
            Effort::Over => Self { level: Level::Quick, breath: 0 },
        }
    }
}

/// The incumbent: the solution before a perturbation, to which the search may return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Incumbent {
    centers: Vec<f64>,
    cost: f64,
    taken: u64,
}

/// The state of the search. A resumed run needs nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Search {
    /// The centres, K x D, in stored units.
    pub centers: Vec<f64>,
    pub cost: f64,
    pub tried: u64,
    pub taken: u64,
    /// The number of unsuccessful trials since the last accepted one.
    pub in_vain: usize,
    #[serde(flatten)]
    pub effort: Effort,
    /// The number of passes that prepared the present trials. These passes have been counted.
    #[serde(default)]
    preparation: u64,
    /// The number of perturbations so far.
    #[serde(default)]
    disturbed: u64,
    /// The number of perturbations since the last perturbation that lowered the cost.
    #[serde(default)]
    disturbed_in_vain: usize,
    /// The solution before the present perturbation.
    #[serde(default)]
    ground: Option<Incumbent>,
}

/// State between calls of [`Searcher::advance`] that can be computed again.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    prospects: Option<Prospects>,
    /// The number of centres whose removal and division have been carried out instead of being estimated.
    measured: usize,
    /// The pairs (centre to remove, centre to divide), the most promising first.
    pairs: Vec<(usize, usize)>,
    /// The number of passes that this preparation took.
    passes: u64,
    /// The number of passes that a resumed run repeats, and that [`Search`] has already counted.
    pub repeated: u64,
}

impl Prepared {
    /// Counts the passes that prepared trials.
    fn spend(&mut self, passes: u64, search: &mut Search) {
        self.passes += passes;
        let unseen = self.passes.saturating_sub(search.preparation).min(passes);
        self.repeated += passes - unseen;
        search.preparation += unseen;
    }
}

impl Search {
    pub fn new(centers: Centers, cost: f64) -> Self {
        Self {
            centers: centers.values,
            cost,
            tried: 0,
            taken: 0,
            in_vain: 0,
            effort: Effort::Quick,
            preparation: 0,
            disturbed: 0,
            disturbed_in_vain: 0,
            ground: None,
        }
    }

    pub fn is_over(&self) -> bool {
        self.effort == Effort::Over
    }

    /// Whether a trial with this cost is worth accepting. `least` is the minimum share of the cost that a trial has to
    /// gain.
    fn is_bettered_by(&self, cost: f64, least: f64) -> bool {
        cost < self.cost * (1.0 - least)
    }

    /// Whether no trial has lowered the cost since annealing, with the default patience or less.
    fn seems_best(&self, patience: usize) -> bool {
        self.taken == 0 && patience <= PATIENCE
    }

    /// Whether the search has returned to the solution before the perturbation, which has no better solution nearby.
    fn is_back(&self, least: f64) -> bool {
        let back = 1.0 - least..=1.0 + BACK;
        self.ground.as_ref().is_some_and(|ground| back.contains(&(self.cost / ground.cost)))
    }

    /// Ends the present perturbation, if there is one: keeps its result if it is better, otherwise restores the
    /// solution before it.
    fn judge_disturbance(&mut self, least: f64) {
        let Some(ground) = self.ground.take() else { return };
        if self.cost < ground.cost * (1.0 - least) {
            self.disturbed_in_vain = 0;
        } else {
            self.disturbed_in_vain += 1;
            (self.centers, self.cost, self.taken) = (ground.centers, ground.cost, ground.taken);
        }
    }

    /// Returns the number of unsuccessful trials after which the search gives up single swaps at the present level.
    pub fn trials(&self, dimension: usize, patience: usize) -> usize {
        let clusters = self.centers.len() / dimension;
        let patience = if self.effort == Effort::Quick { patience.min(1) } else { patience };
        if patience == 0 || clusters < 2 {
            0
        } else {
            patience.saturating_mul(clusters).max(LEAST_TRIALS).min(clusters * (clusters - 1))
        }
    }
}

/// A search in progress: its state and its working memory.
pub(crate) struct Searcher<'s, 'l, T: Scalar> {
    pub search: &'s mut Search,
    pub prepared: &'s mut Prepared,
    pub lloyd: &'s mut Lloyd<'l, T>,
    pub rounds: &'s mut dyn Rounds,
    pub patience: usize,
    pub seed: u64,
}

impl<T: Scalar> Searcher<'_, '_, T> {
    /// Continues until the cost falls, a group of trials is done, or the search is over.
    pub async fn advance(&mut self) -> Result<(), Error> {
        let centers = self.centers();
        let trials = self.search.trials(centers.dimension, self.patience);
        if trials == 0 {
            self.search.effort = Effort::Over;
        }
        if self.search.is_over() {
            return Ok(());
        }
        if self.search.is_back(self.least_gain()) {
            return self.disturb().await;
        }
        if self.prepared.prospects.is_none() && !self.look(&centers, trials).await? {
            self.search.effort = Effort::Over;
            return Ok(());
        }
        if self.search.effort != Effort::Quick && self.prepared.measured < centers.len() {
            return self.measure_some(&centers, trials).await;
        }
        let limit = trials.min(self.prepared.pairs.len());
        if self.search.in_vain < limit {
            return self.try_some(&centers, limit).await;
        }
        // After a perturbation, or if no trial has lowered the cost since annealing, quick trials show whether there is
        // more to gain.
        if self.search.ground.is_some() || self.search.seems_best(self.patience) {
            return self.disturb().await;
        }
        match self.search.effort {
            Effort::Quick => (self.search.effort, self.search.in_vain) = (Effort::Careful, 0),
            Effort::Careful => self.try_breath(&centers, BREATH).await?,
            Effort::Breathing(count) => self.try_breath(&centers, count).await?,
            Effort::Over => {}
        }
        Ok(())
    }

    /// The share of the cost that a summary hides; 0 if the rows are no summary.
    fn hidden_share(&self) -> f64 {
        self.lloyd.rows.hidden.map_or(0.0, |hidden| hidden / self.search.cost)
    }

    /// Returns the minimum share of the cost that a trial has to gain.
    fn least_gain(&self) -> f64 {
        WORTHWHILE.max(TELLING * self.hidden_share())
    }

    fn centers(&self) -> Centers {
        Centers { dimension: self.lloyd.rows.dimension, values: self.search.centers.clone() }
    }

    /// Estimates which centres cost least to remove and which gain most when divided. Returns whether swaps may help.
    async fn look(&mut self, centers: &Centers, trials: usize) -> Result<bool, Error> {
        let before = self.lloyd.sweeps;
        let found = prospects(self.lloyd, self.rounds, centers, self.seed, self.search.taken, PLANE_STEPS).await?;
        if self.search.ground.is_none() && found.are_hopeless() {
            return Ok(false);
        }
        self.prepared.pairs = pairs(&found, trials);
        self.prepared.prospects = Some(found);
        // Trials are computed as changes from the results of this pass.
        self.lloyd.pass(self.rounds, centers, None).await?;
        self.prepared.spend(self.lloyd.sweeps - before, self.search);
        Ok(true)
    }

    /// Measures how the removal and the division of each of the next few centres would change the cost.
    async fn measure_some(&mut self, centers: &Centers, trials: usize) -> Result<(), Error> {
        let before = self.lloyd.sweeps;
        let found = self.prepared.prospects.as_mut().expect("looked for before");
        let end = centers.len().min(self.prepared.measured + TRIALS_AT_ONCE);
        for k in self.prepared.measured..end {
            measure(self.lloyd, self.rounds, centers, self.search.cost, found, k).await?;
        }
        self.prepared.measured = end;
        if end == centers.len() {
            self.prepared.pairs = pairs(found, trials);
        }
        self.prepared.spend(self.lloyd.sweeps - before, self.search);
        Ok(())
    }

    /// Tries the next few pairs.
    async fn try_some(&mut self, centers: &Centers, limit: usize) -> Result<(), Error> {
        let least = self.least_gain();
        let found = self.prepared.prospects.as_ref().expect("looked for before");
        let next = self.search.in_vain..limit.min(self.search.in_vain + TRIALS_AT_ONCE);
        for &(from, to) in &self.prepared.pairs[next] {
            let mut trial = centers.clone();
            let (near, far) = found.sides[to].split_at(centers.dimension);
            trial.set(to, near);
            trial.set(from, far);
            let cost = self.lloyd.trial(self.rounds, &mut trial, trial_patience(self.search.cost)).await?;
            self.search.tried += 1;
            self.search.in_vain += 1;
            if self.search.is_bettered_by(cost, least) {
                self.take(trial, cost);
                break;
            }
        }
        Ok(())
    }

    /// Tries a breathing step of this many centres. After the smallest step, the search continues with a perturbation.
    async fn try_breath(&mut self, centers: &Centers, count: usize) -> Result<(), Error> {
        let found = self.prepared.prospects.as_ref().expect("looked for before");
        let breath = count.min(centers.len() - 1);
        self.search.tried += 1;
        let breathed = breathe(self.lloyd, self.rounds, centers, found, breath, self.seed, self.search).await?;
        let least = self.least_gain();
        match breathed.filter(|(_, cost)| self.search.is_bettered_by(*cost, least)) {
            Some((trial, cost)) => self.take(trial, cost),
            None if breath > 1 => self.search.effort = Effort::Breathing(breath - 1),
            None => self.disturb().await?,
        }
        Ok(())
    }

    /// Ends the last perturbation ([`Search::judge_disturbance`]). Then makes the next perturbation, or ends the
    /// search.
    async fn disturb(&mut self) -> Result<(), Error> {
        self.search.judge_disturbance(self.least_gain());
        let mut centers = self.centers();
        let least = if self.lloyd.rows.hidden.is_some() { DISTURBED_SUMMARY } else { *DISTURBED_IN_VAIN.start() };
        let most = (centers.len() / CLUSTERS_PER_DISTURBANCE).clamp(least, *DISTURBED_IN_VAIN.end());
        let most = if self.search.seems_best(self.patience) { most / FEWER_IF_UNBETTERED } else { most };
        let telling = 1.0 - self.hidden_share() / HIDDEN_TOO_MUCH;
        let most = most.min(FEWEST_DISTURBED).max((most as f64 * telling) as usize);
        if self.search.disturbed_in_vain >= most {
            self.search.effort = Effort::Over;
            return Ok(());
        }
        // The centre is divided by a random plane, because the best planes have already been tried.
        let disturbed = self.search.disturbed;
        let found = prospects(self.lloyd, self.rounds, &centers, self.seed, disturbed, 1).await?;
        let Some((from, to)) = draw(&found, self.seed, disturbed) else {
            self.search.effort = Effort::Over;
            return Ok(());
        };
        self.lloyd.pass(self.rounds, &centers, None).await?;
        let (near, far) = found.sides[to].split_at(centers.dimension);
        centers.set(to, near);
        centers.set(from, far);
        let patience = Patience { sweeps: DISTURBED_SWEEPS, to_beat: None, ..trial_patience(self.search.cost) };
        let cost = self.lloyd.trial(self.rounds, &mut centers, patience).await?;
        self.search.tried += 1;
        self.search.disturbed += 1;
        let Search { centers: before, cost: of_before, taken, .. } = &mut *self.search;
        let ground = Incumbent { centers: std::mem::take(before), cost: *of_before, taken: *taken };
        self.take(centers, cost);
        self.search.ground = Some(ground);
        Ok(())
    }

    /// Accepts new centres, and continues from them.
    fn take(&mut self, trial: Centers, cost: f64) {
        self.search.centers = trial.values;
        self.search.cost = cost;
        self.search.taken += 1;
        self.search.in_vain = 0;
        self.search.effort = Effort::Quick;
        self.search.preparation = 0;
        *self.prepared = Prepared { repeated: self.prepared.repeated, ..Prepared::default() };
    }
}

/// Tries the swaps that gain more than they cost by the estimates of a few passes, the most promising first. Returns
/// the centres of the first swap that lowers the cost. After the search on a summary, few such swaps are left.
pub(crate) async fn swap_that_must_gain<T: Scalar>(
    lloyd: &mut Lloyd<'_, T>,
    rounds: &mut dyn Rounds,
    centers: &Centers,
    cost: f64,
    seed: u64,
) -> Result<Option<Centers>, Error> {
    let found = prospects(lloyd, rounds, centers, seed, 0, LAST_PLANE_STEPS).await?;
    let promising = |&(from, to): &(usize, usize)| found.gain[to] - found.removal[from] > WORTHWHILE * cost;
    let mut promising = pairs(&found, centers.len()).into_iter().filter(promising).take(TRIALS_AT_ONCE).peekable();
    if promising.peek().is_none() {
        return Ok(None);
    }
    lloyd.pass(rounds, centers, None).await?;
    for (from, to) in promising {
        let mut trial = centers.clone();
        let (near, far) = found.sides[to].split_at(centers.dimension);
        trial.set(to, near);
        trial.set(from, far);
        if lloyd.trial(rounds, &mut trial, trial_patience(cost)).await? < cost * (1.0 - WORTHWHILE) {
            return Ok(Some(trial));
        }
    }
    Ok(None)
}

/// Draws the swap of a perturbation at random: the centre to remove and the centre to divide. Returns `None` if no
/// centre can be divided.
fn draw(found: &Prospects, seed: u64, disturbed: u64) -> Option<(usize, usize)> {
    // The name determines the random numbers, so another name would change results.
    let stream = Stream::new(seed.wrapping_add(disturbed), "disturbances");
    let prefers = disturbed % 2 == 1;
    let divisible = found.divisible();
    if divisible.is_empty() {
        return None;
    }
    let to = divisible[lot(stream.uniform(0), divisible.len(), prefers)];
    let removable: Vec<usize> = found.removable().into_iter().filter(|&k| k != to).collect();
    let from = removable[lot(stream.uniform(1), removable.len(), prefers)];
    Some((from, to))
}

/// Selects one of `of` positions from a uniform random number. With `prefers`, the first positions, which promise most,
/// are more probable; otherwise all positions are equally probable. With nine clusters, most pairs are worth trying;
/// with 80 clusters, few pairs are.
fn lot(uniform: f64, of: usize, prefers: bool) -> usize {
    let share = if prefers { uniform * uniform } else { uniform };
    ((share * of as f64) as usize).min(of - 1)
}

/// Replaces the estimates for one centre by measured changes: the centre is removed or divided, and all other centres
/// settle.
async fn measure<T: Scalar>(
    lloyd: &mut Lloyd<'_, T>,
    rounds: &mut dyn Rounds,
    centers: &Centers,
    cost: f64,
    found: &mut Prospects,
    k: usize,
) -> Result<(), Error> {
    let dimension = centers.dimension;
    let patience = Patience { sweeps: 30, tolerance: 1e-6, to_beat: None, until_empty: false };
    let mut without = centers.clone();
    without.set_away(k);
    found.removal[k] = lloyd.trial(rounds, &mut without, patience).await? - cost;
    if !found.sides[k].is_empty() {
        let mut with = centers.clone();
        let (near, far) = found.sides[k].split_at(dimension);
        with.set(k, near);
        with.push(far);
        found.gain[k] = cost - lloyd.trial(rounds, &mut with, patience).await?;
    }
    Ok(())
}

fn trial_patience(best: f64) -> Patience {
    Patience { sweeps: 60, tolerance: 1e-6, to_beat: Some(best), until_empty: false }
}

/// Adds `breath` centres where they gain most, and lets all centres settle. Then it removes the `breath` centres that
/// cost least to remove, and lets the rest settle again.
async fn breathe<T: Scalar>(
    lloyd: &mut Lloyd<'_, T>,
    rounds: &mut dyn Rounds,
    centers: &Centers,
    found: &Prospects,
    breath: usize,
    seed: u64,
    search: &Search,
) -> Result<Option<(Centers, f64)>, Error> {
    let dimension = centers.dimension;
    let mut order = found.divisible();
    order.truncate(breath);
    if order.is_empty() {
        return Ok(None);
    }
    let mut trial = centers.clone();
    for &k in &order {
        let (near, far) = found.sides[k].split_at(dimension);
        trial.set(k, near);
        trial.push(far);
    }
    lloyd.run(rounds, &mut trial, Patience { sweeps: 30, tolerance: 1e-5, to_beat: None, until_empty: false }).await?;
    let crowd = prospects(lloyd, rounds, &trial, seed, search.taken, 1).await?;
    let by_removal = crowd.removable();
    let mut removed: Vec<usize> = Vec::new();
    let mut spared = vec![false; trial.len()];
    for allow_neighbours in [false, true] {
        for &k in &by_removal {
            if removed.len() == order.len() {
                break;
            }
            if removed.contains(&k) || (spared[k] && !allow_neighbours) {
                continue;
            }
            removed.push(k);
            // The centre that takes over the removed centre's rows must stay.
            let nearest = (0..trial.len())
                .filter(|&other| other != k)
                .min_by(|&a, &b| trial.squared_distance(k, a).total_cmp(&trial.squared_distance(k, b)));
            if let Some(nearest) = nearest {
                spared[nearest] = true;
            }
        }
    }
    removed.sort_unstable();
    for &k in removed.iter().rev() {
        trial.remove(k);
    }
    let cost = lloyd.run(rounds, &mut trial, trial_patience(search.cost)).await?;
    Ok(Some((trial, cost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_stand_in_checkpoints_as_a_level_and_a_breath() {
        let search = Search::new(Centers { dimension: 1, values: vec![0.0, 1.0] }, 1.0);
        let written = |effort| serde_json::to_value(Search { effort, ..search.clone() }).unwrap();
        for (effort, level, breath) in [
            (Effort::Quick, "Quick", 6),
            (Effort::Careful, "Careful", 6),
            (Effort::Breathing(2), "Careful", 2),
            (Effort::Over, "Quick", 0),
        ] {
            let written = written(effort);
            assert_eq!((&written["level"], &written["breath"]), (&level.into(), &breath.into()));
            assert_eq!(serde_json::from_value::<Search>(written).unwrap().effort, effort);
        }
        let mut of_before = written(Effort::Over);
        of_before["level"] = "Careful".into();
        assert!(serde_json::from_value::<Search>(of_before).unwrap().is_over());
    }

    #[test]
    fn lots_are_equal_or_prefer_what_comes_first() {
        let counts = |prefers| {
            let mut counts = [0; 4];
            (0..1000).for_each(|n| counts[lot(f64::from(n) / 1000.0, 4, prefers)] += 1);
            counts
        };
        assert_eq!(counts(false), [250; 4]);
        assert_eq!(counts(true), [500, 208, 159, 133], "roots of quarters");
        assert_eq!(lot(1.0, 3, true), 2, "never beyond the last");
    }

    #[test]
    fn what_seems_best_is_what_nothing_betters_for_who_has_no_more_patience_than_by_default() {
        let search = Search::new(Centers { dimension: 1, values: vec![0.0, 1.0] }, 1.0);
        assert!(search.seems_best(PATIENCE) && search.seems_best(1) && !search.seems_best(PATIENCE + 1));
        assert!(!Search { taken: 1, ..search }.seems_best(PATIENCE));
    }

    #[test]
    fn a_disturbance_is_back_where_it_began_within_what_sweeps_of_trials_leave() {
        let ground = Some(Incumbent { centers: Vec::new(), cost: 2.0, taken: 0 });
        let search = |cost: f64, ground: Option<Incumbent>| {
            let centers = Centers { dimension: 1, values: Vec::new() };
            Search { ground, ..Search::new(centers, 2.0 * cost) }
        };
        assert!(search(1.0 + 0.9 * BACK, ground.clone()).is_back(WORTHWHILE));
        assert!(search(1.0 - 0.9 * WORTHWHILE, ground.clone()).is_back(WORTHWHILE));
        assert!(
            !search(1.0 + 1.1 * BACK, ground.clone()).is_back(WORTHWHILE),
            "another optimum, from where more is tried"
        );
        assert!(!search(1.0 - 1.1 * WORTHWHILE, ground).is_back(WORTHWHILE), "a better one");
        assert!(!search(1.0, None).is_back(WORTHWHILE), "no perturbation");
    }
}
