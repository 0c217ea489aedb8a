//! `lab/definitions/chemistry/chemistry.json`: the numbers of clusters, synthetic compounds and rounds.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::compounds::Templates;

/// The definition in the form of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small cases that take under two minutes.
    pub quick: Definition,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds of steps.
    pub step_rounds: usize,
    /// The maximum number of compounds, evenly chosen; all compounds if absent.
    pub items: Option<usize>,
    /// The numbers of clusters for steps and whole runs.
    pub runs: Vec<Runs>,
    /// The element types of the steps.
    pub precisions: Vec<String>,
    /// The largest relative error of a correct step, by element type.
    pub tolerance: BTreeMap<String, f64>,
    /// The number of threads of the sides with several threads.
    pub threads: usize,
    /// The parameters of synthetic compounds.
    pub synthetic: Templates,
    /// The numbers of synthetic compounds, in ascending order.
    pub sizes: Vec<usize>,
    /// The maximum seconds of a run of 10,000 compounds in ten clusters, for the plan.
    pub seconds_of_10000_in_10: f64,
    /// The maximum seconds of a run of 100,000 synthetic compounds, for the plan.
    pub seconds_of_100000: f64,
}

/// The whole runs with one number of clusters.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Runs {
    /// The requested number of clusters.
    pub clusters: usize,
    /// The number of rounds, unless the command line gives another.
    pub rounds: usize,
}

/// A case of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Case {
    /// A step of the kernels over all compounds.
    Step {
        /// The number of compounds.
        items: usize,
        /// The number of centres.
        clusters: usize,
        /// The element type.
        precision: String,
    },
    /// Whole runs over all compounds.
    Runs {
        /// The number of compounds.
        items: usize,
        /// The requested number of clusters.
        clusters: usize,
        /// The number of rounds.
        rounds: usize,
    },
    /// One run over synthetic compounds.
    Synthetic {
        /// The number of compounds.
        items: usize,
        /// The requested number of clusters, as many as there are templates.
        clusters: usize,
    },
}

impl Case {
    /// Returns the name of the case in a record.
    pub fn name(&self) -> String {
        match self {
            Self::Step { items, clusters, precision } => {
                format!("{items} compounds, K = {clusters}, step, {precision}")
            }
            Self::Runs { items, clusters, .. } => format!("{items} compounds, K = {clusters}, runs"),
            Self::Synthetic { items, clusters } => format!("{items} synthetic compounds, K = {clusters}"),
        }
    }
}

impl Definition {
    /// Returns all cases of this many compounds, in order; `rounds` replaces the definition's number.
    pub fn cases(&self, items: usize, rounds: Option<usize>) -> Vec<Case> {
        let step = |clusters, precision: &String| Case::Step { items, clusters, precision: precision.clone() };
        let steps = self
            .runs
            .iter()
            .flat_map(|runs| self.precisions.iter().map(move |precision| step(runs.clusters, precision)));
        let whole = |runs: &Runs| Case::Runs { items, clusters: runs.clusters, rounds: rounds.unwrap_or(runs.rounds) };
        steps.chain(self.runs.iter().map(whole)).chain(self.synthetic_cases()).collect()
    }

    /// Returns the cases of synthetic compounds, in ascending order of size.
    pub fn synthetic_cases(&self) -> impl Iterator<Item = Case> + '_ {
        self.sizes.iter().map(|&items| Case::Synthetic { items, clusters: self.synthetic.templates })
    }

    /// Returns the maximum seconds of a case.
    pub fn seconds(&self, case: &Case) -> f64 {
        match case {
            // Either kernel takes at most half a microsecond for each row and centre, the plain loop twice as much.
            Case::Step { items, clusters, .. } => 1e-6 * (2 + self.step_rounds) as f64 * (items * clusters) as f64,
            // A round runs bits on all threads and on one, and numbers. More clusters need larger passes, and more of
            // them.
            Case::Runs { items, clusters, rounds } => {
                let (items, clusters) = (*items as f64 / 1e4, *clusters as f64 / 10.0);
                3.0 * *rounds as f64 * self.seconds_of_10000_in_10 * items * clusters * clusters.sqrt()
            }
            Case::Synthetic { items, .. } => self.seconds_of_100000 * *items as f64 / 1e5,
        }
    }
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/chemistry/chemistry.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_clusters_and_the_largest_size_are_those_of_the_papers() {
        let File { full, quick } = file();
        let clusters: Vec<usize> = full.runs.iter().map(|runs| runs.clusters).collect();
        assert_eq!((&clusters[..], full.sizes.last()), (&[10, 20, 50][..], Some(&10_000_000)));
        assert!(full.sizes.is_sorted() && quick.sizes.is_sorted());
        for definition in [&full, &quick] {
            assert!(definition.precisions.iter().all(|precision| definition.tolerance.contains_key(precision)));
            let names: Vec<String> = definition.cases(41_119, None).iter().map(Case::name).collect();
            assert!(names.iter().enumerate().all(|(place, name)| !names[..place].contains(name)), "{names:?}");
        }
        let items = quick.items.unwrap();
        let seconds: f64 = quick.cases(items, None).iter().map(|case| quick.seconds(case)).sum();
        assert!(seconds < 120.0, "{seconds}");
    }
}
