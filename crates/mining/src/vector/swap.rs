//! The swap search: moves the centre whose removal costs least to the place where it gains most.
//!
//! Annealing decides the centres from the coarse to the fine and never undoes a decision. If density varies by orders
//! of magnitude, some regions end with one centre too many, others with one too few. Each pass of the hard assignment
//! estimates two figures for every centre. One is the cost of its removal: its rows go to their second nearest centre.
//! The other is the gain of dividing it by a plane. So the pairs (remove this, divide that) can be tried in the order
//! of their promise. A trial costs little, because only leaves near the two are recomputed. If clusters are so far
//! apart that even the cheapest removal costs several times the best division's gain, no pair can help. Then no swap is
//! tried. When none of those helps any more, each removal and each division is carried out to its end before pairs are
//! tried again. When that helps no more, several centres are added and as many removed at once (a breathing step,
//! Fritzke). This escapes some optima of single swaps. When neither improves anything, the solution is perturbed: a
//! random swap is made, whatever it costs, and the search continues from there. Unless the result is lower, it goes
//! back. If none of the most promising pairs improves annealing's result, there is most often nothing to fix. Then the
//! perturbation comes at once, and less often.
//!
//! The seed draws these swaps, and turns the planes that divisions begin with; nothing else is left to chance.

use lehr_numerics::random::Stream;
use serde::{Deserialize, Serialize};

use super::parameters::PATIENCE;
use super::prospects::{PLANE_STEPS, Prospects, pairs, prospects};
use crate::Error;
use crate::lloyd::{Centers, Lloyd, Patience};
use crate::round::Rounds;
use crate::rows::Scalar;

/// Steps of two-means of the last check over all rows, each of which is a pass. After fewer steps the gain of a
/// division is estimated less well, but never too high.
const LAST_PLANE_STEPS: usize = 2;
/// Trials between two looks at the observer.
const TRIALS_AT_ONCE: usize = 32;
/// Centres added and removed at once, at first; one fewer after each failure.
const BREATH: usize = 6;
/// The number of unsuccessful perturbations in a row that end the search; each is a look at the solutions beyond the
/// present optimum. With ten all ten seeds of `uci_statlog` reach its optimum (`make quality`), six of which end 0.36 %
/// above without. With many clusters one perturbation reaches few, so more are made. On Indiana's block groups at K =
/// 80, with ten, one seed in ten ends 0.14 % above the best known. With twenty, two of ten end 0.12 % above; with
/// forty, none more than 0.1 %. Each costs a few passes and as many trials as clusters, so there are not many more.
const DISTURBED_IN_VAIN: std::ops::RangeInclusive<usize> = 10..=40;
/// At least this many on a summary, over which a pass costs next to nothing.
const DISTURBED_SUMMARY: usize = 30;
/// Clusters for each unsuccessful disturbance, between these bounds.
const CLUSTERS_PER_DISTURBANCE: usize = 2;
/// One in this many if no trial has been better: that solution is most often the best. `tests/mining/swap.rs` counts
/// how often it is not, in 300 uniform squares.
const FEWER_IF_UNBETTERED: usize = 2;
/// Iterations after a perturbation, before trials continue from there. With many clusters, pairs that are tried before
/// all have settled lead to lower optima.
const DISTURBED_SWEEPS: u64 = 8;
/// A trial is accepted if it lowers the cost by more than this share.
const WORTHWHILE: f64 = 1e-6;
/// A perturbation has ended where it began if its result costs no more than this share more. Iterations of trials are
/// given up some way before the fixed point, most often within a few 1e-5 of it.
const BACK: f64 = 1e-4;
/// At least this many trials, for any number of clusters.
const LEAST_TRIALS: usize = 40;

/// The attempts of the search from its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "LevelAndBreath", into = "LevelAndBreath")]
pub(crate) enum Effort {
    /// Swaps that look best by one pass over the rows.
    Quick,
    /// Swaps that look best once each removal and each division has been carried out to the end. When they are
    /// exhausted, the first breathing step follows.
    Careful,
    /// Next a breathing step of this many centres, because larger ones led to nothing better.
    Breathing(usize),
    /// Nothing: the search is over.
    Over,
}

/// [`Effort`] in the form of checkpoints.
#[derive(Serialize, Deserialize)]
struct LevelAndBreath {
    level: Level,
    /// Centres of the next breath; 0 when the search is over.
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

/// The incumbent: the solution before a perturbation, to go back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Incumbent {
    centers: Vec<f64>,
    cost: f64,
    taken: u64,
}

/// The progress of the search. All that a resumed run needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Search {
    /// K x D, stored positions.
    pub centers: Vec<f64>,
    pub cost: f64,
    pub tried: u64,
    pub taken: u64,
    /// Unsuccessful trials since the last one that was accepted.
    pub in_vain: usize,
    #[serde(flatten)]
    pub effort: Effort,
    /// The passes that prepared the present trials, already counted.
    #[serde(default)]
    preparation: u64,
    /// Disturbances so far.
    #[serde(default)]
    disturbed: u64,
    /// The trials since the last that led to something better.
    #[serde(default)]
    disturbed_in_vain: usize,
    /// The start of the present perturbation.
    #[serde(default)]
    ground: Option<Incumbent>,
}

/// The state kept between calls of [`Searcher::advance`], which can be made again.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    prospects: Option<Prospects>,
    /// Centres whose removal and division have been carried out to the end, instead of estimated.
    measured: usize,
    /// (centre to remove, centre to divide), the most promising first.
    pairs: Vec<(usize, usize)>,
    /// Passes that all this took.
    passes: u64,
    /// The trials among the last passes that [`Search`] has counted before: a resumed run makes them once more.
    pub repeated: u64,
}

impl Prepared {
    /// Takes note of passes made to prepare.
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

    /// Whether a trial with this cost is worth accepting.
    fn is_bettered_by(&self, cost: f64) -> bool {
        cost < self.cost * (1.0 - WORTHWHILE)
    }

    /// Whether nothing has been better than annealing's result, with the default patience or less.
    fn seems_best(&self, patience: usize) -> bool {
        self.taken == 0 && patience <= PATIENCE
    }

    /// Whether a disturbance has led to where it began, from where nothing better was found.
    fn is_back(&self) -> bool {
        let back = 1.0 - WORTHWHILE..=1.0 + BACK;
        self.ground.as_ref().is_some_and(|ground| back.contains(&(self.cost / ground.cost)))
    }

    /// Keeps the result of the present disturbance, if there is one and it is better, and goes back if it is not.
    fn judge_disturbance(&mut self) {
        let Some(ground) = self.ground.take() else { return };
        if self.cost < ground.cost * (1.0 - WORTHWHILE) {
            self.disturbed_in_vain = 0;
        } else {
            self.disturbed_in_vain += 1;
            (self.centers, self.cost, self.taken) = (ground.centers, ground.cost, ground.taken);
        }
    }

    /// Unsuccessful trials until single swaps of the present level are given up.
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

/// A search at work: its state, and its working memory.
pub(crate) struct Searcher<'s, 'l, T: Scalar> {
    pub search: &'s mut Search,
    pub prepared: &'s mut Prepared,
    pub lloyd: &'s mut Lloyd<'l, T>,
    pub rounds: &'s mut dyn Rounds,
    pub patience: usize,
    pub seed: u64,
}

impl<T: Scalar> Searcher<'_, '_, T> {
    /// Goes on until something better is found, a group of trials is done, or the search is over.
    pub async fn advance(&mut self) -> Result<(), Error> {
        let centers = self.centers();
        let trials = self.search.trials(centers.dimension, self.patience);
        if trials == 0 {
            self.search.effort = Effort::Over;
        }
        if self.search.is_over() {
            return Ok(());
        }
        if self.search.is_back() {
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
        // Beyond a disturbance quick trials say whether there is more, and where they have found nothing since
        // annealing ended.
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

    fn centers(&self) -> Centers {
        Centers { dimension: self.lloyd.rows.dimension, values: self.search.centers.clone() }
    }

    /// Looks where centres are least missed and where they gain most; whether there is hope.
    async fn look(&mut self, centers: &Centers, trials: usize) -> Result<bool, Error> {
        let before = self.lloyd.sweeps;
        let found = prospects(self.lloyd, self.rounds, centers, self.seed, self.search.taken, PLANE_STEPS).await?;
        if self.search.ground.is_none() && found.are_hopeless() {
            return Ok(false);
        }
        self.prepared.pairs = pairs(&found, trials);
        self.prepared.prospects = Some(found);
        // Trials differ from here.
        self.lloyd.pass(self.rounds, centers, None).await?;
        self.prepared.spend(self.lloyd.sweeps - before, self.search);
        Ok(true)
    }

    /// Carries out the removal and the division of some more centres.
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

    /// Tries the next pairs.
    async fn try_some(&mut self, centers: &Centers, limit: usize) -> Result<(), Error> {
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
            if self.search.is_bettered_by(cost) {
                self.take(trial, cost);
                break;
            }
        }
        Ok(())
    }

    /// Tries a breathing step of this many centres. After the smallest the search continues from a perturbation.
    async fn try_breath(&mut self, centers: &Centers, count: usize) -> Result<(), Error> {
        let found = self.prepared.prospects.as_ref().expect("looked for before");
        let breath = count.min(centers.len() - 1);
        self.search.tried += 1;
        let breathed = breathe(self.lloyd, self.rounds, centers, found, breath, self.seed, self.search).await?;
        match breathed.filter(|(_, cost)| self.search.is_bettered_by(*cost)) {
            Some((trial, cost)) => self.take(trial, cost),
            None if breath > 1 => self.search.effort = Effort::Breathing(breath - 1),
            None => self.disturb().await?,
        }
        Ok(())
    }

    /// Keeps the result of the last disturbance if it is better, goes back if it is not, and makes the next; or ends
    /// the search.
    async fn disturb(&mut self) -> Result<(), Error> {
        self.search.judge_disturbance();
        let mut centers = self.centers();
        let least = if self.lloyd.rows.hidden.is_some() { DISTURBED_SUMMARY } else { *DISTURBED_IN_VAIN.start() };
        let most = (centers.len() / CLUSTERS_PER_DISTURBANCE).clamp(least, *DISTURBED_IN_VAIN.end());
        let most = if self.search.seems_best(self.patience) { most / FEWER_IF_UNBETTERED } else { most };
        if self.search.disturbed_in_vain >= most {
            self.search.effort = Effort::Over;
            return Ok(());
        }
        // Halves by planes in any direction, not by the best: the best are what has been tried.
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

    /// Continues from other centres.
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

/// Tries the swaps that gain more than they cost by the figures of one pass, the most promising first. Returns the
/// centres of the first that lowers the cost. Few such swaps are left after the search on a summary.
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

/// The swap of a perturbation, drawn at random: the centre to remove and the one to divide; `None` if none can be
/// divided.
fn draw(found: &Prospects, seed: u64, disturbed: u64) -> Option<(usize, usize)> {
    // The name belongs to the random numbers: another would change results.
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

/// One of `of` positions, from a uniform number. All are equally probable, or the first ones, which promise most, come
/// more often. With nine clusters most pairs are worth a try; with 80 few are.
fn lot(uniform: f64, of: usize, prefers: bool) -> usize {
    let share = if prefers { uniform * uniform } else { uniform };
    ((share * of as f64) as usize).min(of - 1)
}

/// Replaces the estimates for one centre by the changes when it is removed, and when it is divided, and all the others
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

/// Adds `breath` centres where they gain most, lets all settle, removes as many where they are least missed, and lets
/// all settle again.
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
            // What takes over the removed centre's rows must stay.
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
        assert!(search(1.0 + 0.9 * BACK, ground.clone()).is_back());
        assert!(search(1.0 - 0.9 * WORTHWHILE, ground.clone()).is_back());
        assert!(!search(1.0 + 1.1 * BACK, ground.clone()).is_back(), "another optimum, from where more is tried");
        assert!(!search(1.0 - 1.1 * WORTHWHILE, ground).is_back(), "a better one");
        assert!(!search(1.0, None).is_back(), "no perturbation");
    }
}
