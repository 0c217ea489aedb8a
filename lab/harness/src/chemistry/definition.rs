//! `lab/definitions/chemistry/chemistry.json`: in how many clusters, how many synthetic compounds, how often.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::compounds::Templates;

/// The definition as its file has it.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small cases in under two minutes.
    pub quick: Definition,
}

/// One size.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds of steps.
    pub step_rounds: usize,
    /// At most so many of the compounds, evenly chosen; all without it.
    pub items: Option<usize>,
    /// Numbers of clusters, of steps and of whole runs.
    pub runs: Vec<Runs>,
    /// Element types of the steps.
    pub precisions: Vec<String>,
    /// Largest relative error of a right step, by element type.
    pub tolerance: BTreeMap<String, f64>,
    /// Threads of the sides that have several.
    pub threads: usize,
    /// How synthetic compounds are made.
    pub synthetic: Templates,
    /// How many of them, rising.
    pub sizes: Vec<usize>,
    /// What a run of 10,000 compounds in ten clusters takes at most, for the plan.
    pub seconds_of_10000_in_10: f64,
    /// What a run of 100,000 synthetic compounds takes at most.
    pub seconds_of_100000: f64,
}

/// Whole runs in one number of clusters.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Runs {
    /// Clusters asked for.
    pub clusters: usize,
    /// Rounds, unless the command line says otherwise.
    pub rounds: usize,
}

/// One case of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub enum Case {
    /// The kernels over all compounds.
    Step {
        /// Compounds.
        items: usize,
        /// Centres.
        clusters: usize,
        /// Element type.
        precision: String,
    },
    /// Whole runs over all compounds.
    Runs {
        /// Compounds.
        items: usize,
        /// Clusters asked for.
        clusters: usize,
        /// Rounds.
        rounds: usize,
    },
    /// One run over synthetic compounds.
    Synthetic {
        /// Compounds.
        items: usize,
        /// Clusters asked for, as many as there are templates.
        clusters: usize,
    },
}

impl Case {
    /// What it is called in a record.
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
    /// All cases of so many compounds, in order; `rounds` in the place of the definition's.
    pub fn cases(&self, items: usize, rounds: Option<usize>) -> Vec<Case> {
        let step = |clusters, precision: &String| Case::Step { items, clusters, precision: precision.clone() };
        let steps = self
            .runs
            .iter()
            .flat_map(|runs| self.precisions.iter().map(move |precision| step(runs.clusters, precision)));
        let whole = |runs: &Runs| Case::Runs { items, clusters: runs.clusters, rounds: rounds.unwrap_or(runs.rounds) };
        steps.chain(self.runs.iter().map(whole)).chain(self.synthetic_cases()).collect()
    }

    /// Those of synthetic compounds, of rising size.
    pub fn synthetic_cases(&self) -> impl Iterator<Item = Case> + '_ {
        self.sizes.iter().map(|&items| Case::Synthetic { items, clusters: self.synthetic.templates })
    }

    /// What a case takes at most.
    pub fn seconds(&self, case: &Case) -> f64 {
        match case {
            // For a row and centre half a microsecond by either kernel and twice as much by the plain loop.
            Case::Step { items, clusters, .. } => 1e-6 * (2 + self.step_rounds) as f64 * (items * clusters) as f64,
            // Bits on all threads and on one, and numbers. More clusters take larger passes, and more of them.
            Case::Runs { items, clusters, rounds } => {
                let (items, clusters) = (*items as f64 / 1e4, *clusters as f64 / 10.0);
                3.0 * *rounds as f64 * self.seconds_of_10000_in_10 * items * clusters * clusters.sqrt()
            }
            Case::Synthetic { items, .. } => self.seconds_of_100000 * *items as f64 / 1e5,
        }
    }
}

/// The definition as it is compiled in, so that the command needs no folder.
///
/// # Panics
/// If the file is no definition, which a test would have found.
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
