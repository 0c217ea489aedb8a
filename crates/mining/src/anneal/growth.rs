//! Growth from one component, the first part of every annealed run.
//!
//! Growth handles one temperature at a time. It ends when the requested number of components is reached, plus the
//! surplus that will be merged again. It also ends at the final temperature, or when the temperature is so low that
//! nothing more can divide. If no number is requested, growth records the plateaus, and the components to which the run
//! returns.

use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use super::plateau::{Plateau, widest};
use super::schedule::{COLDEST_PLAIN, COLDEST_PLATEAU, FLOOR, HARD, START, next};
use super::{Change, Measured, Removed, Settled, Split, Step};

/// The conditions that end growth, and the precision of each fixed point. Temperatures are in stored units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The requested number of components.
    pub wanted: Option<usize>,
    /// The number of components at which growth ends. If a number is requested, it includes the surplus components that
    /// are merged again. Otherwise it is the maximum allowed.
    pub most: usize,
    /// The final temperature.
    pub last: Option<f64>,
    /// The number of rows or items.
    pub rows: usize,
    /// The factor from one temperature to the next.
    pub cooling: f64,
    /// The tolerance of a fixed point, as a share of the temperature.
    pub tolerance: f64,
    /// The tolerance at the final temperature, whose state is the result.
    pub last_tolerance: f64,
}

impl Limits {
    /// Whether the run has to find the number of components.
    fn is_open(&self) -> bool {
        self.wanted.is_none() && self.last.is_none()
    }
}

/// The state of growth, in stored units. It is part of the state of every annealed method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Grown<C> {
    pub components: C,
    pub critical_temperature: f64,
    pub temperature: f64,
    pub last_soft_temperature: f64,
    /// The history, in the input's unit, like `splits` and `plateaus`.
    pub history: Vec<Step>,
    pub splits: Vec<Split>,
    /// The numbers of the present components: 0 for the first, and k for the one that the k-th division created.
    numbers: Vec<usize>,
    pub plateaus: Vec<Plateau>,
    /// The components and the temperature when the requested number was first reached. If no number is requested, the
    /// latest components and temperature of the present plateau.
    snapshot: Option<(C, f64)>,
    /// The last components of the widest plateau so far, and their temperature.
    persistent: Option<(C, f64)>,
}

impl<C: Clone> Grown<C> {
    /// Starts with one component, just above the temperature at which it becomes unstable.
    pub fn new(components: C, critical_temperature: f64) -> Self {
        Self {
            components,
            critical_temperature,
            temperature: START * critical_temperature,
            last_soft_temperature: START * critical_temperature,
            history: Vec::new(),
            splits: Vec::new(),
            numbers: vec![0],
            plateaus: Vec::new(),
            snapshot: None,
            persistent: None,
        }
    }

    /// Returns the last step of the history, in the input's unit. Before the first step, it is one component at
    /// `mean_cost`, which is in the input's unit. A stored unit is `unit` units of the input.
    pub fn step(&self, unit: f64, mean_cost: f64) -> Step {
        self.history.last().cloned().unwrap_or(Step {
            index: 0,
            temperature: self.temperature * unit,
            clusters: 1,
            free_energy: mean_cost,
            mean_cost,
            information: 0.0,
            softness: 0.0,
            sweeps: 0,
            max_move: 0.0,
            next_critical: self.critical_temperature * unit,
            sponge: 0.0,
        })
    }

    /// The limits for settling at the present temperature: the tolerance and the maximum number of components.
    pub fn bounds(&self, limits: &Limits) -> (f64, usize) {
        let at_last = limits.last.is_some_and(|last| self.temperature <= last);
        let tolerance = if at_last { limits.tolerance.min(limits.last_tolerance) } else { limits.tolerance };
        match limits.wanted {
            Some(clusters) if self.snapshot.is_none() => (tolerance, clusters),
            _ => (tolerance, limits.most),
        }
    }

    /// Appends the present temperature to the history, after the system has settled with `clusters` components.
    pub fn record(&mut self, settled: &Settled, clusters: usize, unit: f64) {
        let (temperature, measured) = (self.temperature, &settled.measured);
        self.last_soft_temperature = temperature;
        settled.changes.iter().for_each(|&change| self.change(change, unit));
        self.history.push(Step {
            index: self.history.len() as u64,
            temperature: temperature * unit,
            clusters,
            free_energy: measured.free_energy * unit,
            mean_cost: measured.mean_cost * unit,
            information: (measured.free_energy - measured.mean_cost) / temperature,
            softness: measured.softness,
            sweeps: settled.sweeps,
            // Before the first sweep the move is infinite, which JSON cannot represent.
            max_move: if settled.largest_move.is_finite() { settled.largest_move } else { 0.0 },
            next_critical: highest(measured) * unit,
            sponge: measured.sponge,
        });
    }

    /// Records a change of the components at the present temperature.
    fn change(&mut self, change: Change, unit: f64) {
        let temperature = self.temperature * unit;
        match change {
            Change::Divided { position, critical_temperature } => {
                self.splits.push(Split {
                    temperature,
                    critical_temperature: critical_temperature * unit,
                    parent: self.numbers[position],
                    clusters: self.numbers.len() + 1,
                    merged_at: None,
                    merged_into: None,
                });
                self.numbers.push(self.splits.len());
            }
            Change::Removed(Removed { position, into }) => {
                let mut into = into.map(|other| self.numbers[other]);
                let mut removed = self.numbers.remove(position);
                // No division created component 0, so its end has no row. If it is removed, the component that is now
                // first continues as component 0.
                if removed == 0 {
                    removed = std::mem::replace(&mut self.numbers[0], 0);
                    into = Some(0);
                }
                let split = &mut self.splits[removed - 1];
                (split.merged_at, split.merged_into) = (Some(temperature), into);
            }
        }
    }

    /// Records the components at the end of a temperature, and cools. Returns false if growth is over.
    pub fn goes_on(&mut self, limits: &Limits, clusters: usize, measured: &Measured, unit: f64) -> bool {
        if limits.wanted == Some(clusters) && self.snapshot.is_none() {
            self.snapshot = Some((self.components.clone(), self.temperature));
        }
        if limits.is_open() {
            self.note_plateau(clusters, unit);
        }
        let at_last = limits.last.is_some_and(|last| self.temperature <= last);
        let is_grown = clusters >= limits.most;
        let is_cold = self.temperature <= FLOOR * self.critical_temperature
            || (measured.softness < HARD && highest(measured) <= FLOOR * self.critical_temperature)
            || (limits.is_open() && self.temperature <= COLDEST_PLATEAU * self.critical_temperature);
        if at_last || (is_grown && limits.last.is_none()) || is_cold {
            if limits.is_open() && !is_grown {
                self.close_plateau(highest(measured), limits.rows, unit);
            }
            return false;
        }
        let temperature = next(self.temperature, limits.cooling, measured.softness, &measured.critical);
        self.temperature = limits.last.map_or(temperature, |last| temperature.max(last));
        true
    }

    /// Records how long each number of components persists, and stores the components of the widest plateau.
    fn note_plateau(&mut self, clusters: usize, unit: f64) {
        // The run returns to the coldest state with the chosen number of components.
        let before = self.snapshot.replace((self.components.clone(), self.temperature));
        if self.plateaus.last().is_some_and(|plateau| plateau.clusters == clusters) {
            return;
        }
        let temperature = self.temperature * unit;
        let widest_before = widest(&self.plateaus).map_or(0.0, Plateau::width);
        if let Some(plateau) = self.plateaus.last_mut() {
            plateau.to = Some(temperature);
            if plateau.clusters > 1 && plateau.width() > widest_before {
                self.persistent = before;
            }
        }
        self.plateaus.push(Plateau { clusters, from: temperature, to: None });
    }

    /// Closes the last plateau at the temperature at which growth ends: when no component can divide any more, or at
    /// the coldest temperature. `highest` is the highest critical temperature of a component. The plateau stays open if
    /// there are fewer than two rows for each cluster.
    fn close_plateau(&mut self, highest: f64, rows: usize, unit: f64) {
        let least = COLDEST_PLATEAU * self.critical_temperature;
        let coldest = self.temperature.min(highest.max(least)) * unit;
        let widest_before = widest(&self.plateaus).map_or(0.0, Plateau::width);
        if let Some(plateau) = self.plateaus.last_mut().filter(|plateau| 2 * plateau.clusters <= rows) {
            plateau.to = Some(coldest);
            if plateau.width() > widest_before {
                // The widest plateau is the present one, so the run need not return to earlier components.
                self.persistent = None;
            }
        }
    }

    /// Returns to the components that will be hardened. If the number is chosen, they are the components of the widest
    /// plateau. If a number is requested, they are the components that first reached it. Otherwise the present
    /// components stay.
    pub fn go_back(&mut self) {
        let snapshot = self.snapshot.take();
        if let Some((components, temperature)) = self.persistent.take().or(snapshot) {
            self.components = components;
            self.temperature = temperature;
        }
    }

    /// The share of the growth that is done, 0 to 1.
    pub fn share_grown(&self, limits: &Limits, clusters: usize) -> f64 {
        let by_number = clusters as f64 / limits.most as f64;
        within(match (limits.wanted, limits.last) {
            (_, Some(last)) => self.share_cooled(last),
            (Some(_), None) => by_number,
            (None, None) => by_number.max(self.share_cooled(COLDEST_PLATEAU * self.critical_temperature)),
        })
    }

    /// The share of the hardening that is done, 0 to 1.
    pub fn share_hardened(&self) -> f64 {
        within(self.share_cooled(COLDEST_PLAIN * self.critical_temperature))
    }

    fn share_cooled(&self, to: f64) -> f64 {
        let from = self.critical_temperature;
        ln(from / self.temperature) / ln(from / to).max(f64::MIN_POSITIVE)
    }
}

fn highest(measured: &Measured) -> f64 {
    measured.critical.iter().copied().fold(0.0, f64::max)
}

fn within(share: f64) -> f64 {
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFT: f64 = 0.5;

    fn limits(wanted: Option<usize>, most: usize) -> Limits {
        Limits { wanted, most, last: None, rows: 100, cooling: 0.5, tolerance: 1e-4, last_tolerance: 1e-8 }
    }

    fn measured(softness: f64) -> Measured {
        Measured { softness, critical: vec![0.5], ..Measured::default() }
    }

    #[test]
    fn the_wanted_number_is_kept_while_growth_goes_beyond_it() {
        let limits = limits(Some(2), 3);
        let mut grown = Grown::new("one", 1.0);
        assert_eq!(grown.bounds(&limits), (1e-4, 2));
        grown.components = "two";
        assert!(grown.goes_on(&limits, 2, &measured(SOFT), 1.0));
        assert_eq!((grown.bounds(&limits), grown.temperature), ((1e-4, 3), 0.5 * START));
        grown.components = "three";
        assert!(!grown.goes_on(&limits, 3, &measured(SOFT), 1.0));
        grown.go_back();
        assert_eq!((grown.components, grown.temperature), ("two", START));
        grown.go_back();
        assert_eq!(grown.components, "two");
    }

    #[test]
    fn components_keep_their_numbers_when_others_are_removed() {
        let mut grown = Grown::new("any", 8.0);
        let divided = |position| Change::Divided { position, critical_temperature: 2.0 };
        let removed = |position, into| Change::Removed(Removed { position, into });
        // Components 1 and 2 come from 0. Component 1 is merged into 2, so 2 moves to position 1.
        for (temperature, change) in [
            (4.0, divided(0)),
            (3.0, divided(0)),
            (2.0, removed(1, Some(2))),
            (1.5, divided(1)),
            (1.0, removed(2, None)),
        ] {
            grown.temperature = temperature;
            grown.change(change, 10.0);
        }
        assert_eq!(grown.numbers, [0, 2]);
        // Component 0 has hardly any weight, so component 2 continues as 0.
        grown.change(removed(0, None), 10.0);
        assert_eq!(grown.numbers, [0]);
        let rows: Vec<_> = grown
            .splits
            .iter()
            .map(|split| (split.temperature, split.parent, split.clusters, split.merged_at, split.merged_into))
            .collect();
        assert_eq!(
            rows,
            [(40.0, 0, 2, Some(20.0), Some(2)), (30.0, 0, 3, Some(10.0), Some(0)), (15.0, 2, 3, Some(10.0), None),]
        );
        assert!(grown.splits.iter().all(|split| split.critical_temperature == 20.0));
    }

    #[test]
    fn where_no_number_is_wanted_the_coldest_components_of_the_widest_plateau_are_kept() {
        let limits = limits(None, 4);
        let mut grown = Grown::new("one", 1.0);
        for (components, clusters) in [("one", 1), ("two", 2), ("two, colder", 2), ("three", 3)] {
            grown.components = components;
            assert!(grown.goes_on(&limits, clusters, &measured(SOFT), 1.0));
        }
        grown.components = "four";
        assert!(!grown.goes_on(&limits, 4, &measured(SOFT), 1.0));
        let shown: Vec<_> = grown.plateaus.iter().map(|plateau| (plateau.clusters, plateau.to)).collect();
        let at = |halvings: i32| Some(START * 0.5f64.powi(halvings));
        assert_eq!(shown, [(1, at(1)), (2, at(3)), (3, at(4)), (4, None)]);
        grown.go_back();
        assert_eq!((grown.components, Some(grown.temperature)), ("two, colder", at(2)));
    }

    #[test]
    fn a_final_temperature_ends_growth_whatever_has_grown_and_is_settled_closely() {
        let limits = Limits { last: Some(0.7), ..limits(None, 1) };
        let mut grown = Grown::new((), 1.0);
        assert_eq!(grown.bounds(&limits), (1e-4, 1));
        assert!(grown.goes_on(&limits, 1, &measured(SOFT), 1.0));
        assert_eq!((grown.temperature, grown.bounds(&limits)), (0.7, (1e-8, 1)));
        assert!(!grown.goes_on(&limits, 1, &measured(SOFT), 1.0));
        assert!(grown.plateaus.is_empty());
    }
}
