//! `lab/definitions/scale/scale.json`: how many items, and of which elements their matrices are.

use serde::Deserialize;

use super::given::Given;
use super::sequences::Mutations;

/// The definition as its file has it.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small sizes in under two minutes.
    pub quick: Definition,
}

/// One size.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds of the growth, unless the command line says otherwise.
    pub rounds: usize,
    /// How items are made.
    pub sequences: Mutations,
    /// Sizes that exponents are fitted to.
    pub growth: Growth,
    /// Sizes that are taken once.
    pub sizes: Vec<Size>,
    /// Many items in the map of a sample.
    pub placing: Placing,
    /// The largest that fit.
    pub largest: Largest,
    /// What the stages of 8,000 items take at most, for the plan.
    pub seconds_of_8000: Seconds,
}

/// Sizes whose costs are compared.
#[derive(Clone, Debug, Deserialize)]
pub struct Growth {
    /// Numbers of items, rising.
    pub items: Vec<usize>,
    /// How a number of the matrix is stored.
    pub element: String,
}

/// A size.
#[derive(Clone, Debug, Deserialize)]
pub struct Size {
    /// How many items.
    pub items: usize,
    /// How a number of the matrix is stored.
    pub element: String,
}

/// Items that are placed in the map of a sample of them.
#[derive(Clone, Debug, Deserialize)]
pub struct Placing {
    /// Items of the map.
    pub sample: usize,
    /// All of them.
    pub items: usize,
    /// How a number of the sample's matrix is stored.
    pub element: String,
}

/// The largest matrices.
#[derive(Clone, Debug, Deserialize)]
pub struct Largest {
    /// What the matrix fills.
    pub gibibytes: f64,
    /// How numbers are stored.
    pub elements: Vec<String>,
    /// Iterations of the map.
    pub iterations: usize,
}

/// Seconds of each stage.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seconds {
    /// All pairs.
    pub distances: f64,
    /// Clusters.
    pub pairwise: f64,
    /// The map.
    pub embed: f64,
}

/// One case of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// How many items.
    pub items: usize,
    /// How a number of the matrix is stored: `f64`, `f32`, `u16`.
    pub element: String,
    /// How often it is taken.
    pub rounds: usize,
    /// What is done with their matrix.
    pub extent: Extent,
    /// Where the items come from, if they are not made.
    pub given: Option<Given>,
}

/// What is done with a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Clusters and a map.
    Whole,
    /// A map, and so many items in it, of which those of the matrix are the first.
    Placing(usize),
    /// A map of so many iterations: one reading of the largest matrices takes seconds, and clusters want a thousand.
    Iterations(usize),
}

impl Case {
    /// What it is called in a record, whatever is free on a machine.
    pub fn name(&self) -> String {
        let Self { items, element, .. } = self;
        if let Some(given) = &self.given {
            return format!("{}: {items} items, {element}", given.name);
        }
        match self.extent {
            Extent::Whole => format!("{items} items, {element}"),
            Extent::Placing(all) => format!("{all} items among {items}, {element}"),
            Extent::Iterations(iterations) => format!("{items} items, {element}, {iterations} iterations"),
        }
    }

    /// What its matrix fills.
    pub fn matrix_bytes(&self) -> f64 {
        (self.items as f64).powi(2) * bytes(&self.element)
    }
}

fn bytes(element: &str) -> f64 {
    match element {
        "f64" => 8.0,
        "f32" => 4.0,
        _ => 2.0,
    }
}

impl Definition {
    /// All cases, in order.
    pub fn cases(&self, rounds: Option<usize>) -> Vec<Case> {
        let case = |items, element: &String, rounds, extent| Case {
            items,
            element: element.clone(),
            rounds,
            extent,
            given: None,
        };
        let rounds = rounds.unwrap_or(self.rounds);
        let growth = self.growth.items.iter();
        let growth = growth.map(|items| case(*items, &self.growth.element, rounds, Extent::Whole));
        let sizes = self.sizes.iter().map(|size| case(size.items, &size.element, 1, Extent::Whole));
        let Placing { sample, items, element } = &self.placing;
        let placing = case(*sample, element, 1, Extent::Placing(*items));
        let memory = self.largest.gibibytes * (1u64 << 30) as f64;
        // Two at least, which all that is done with pairs needs.
        let most = |element| ((memory / bytes(element)).sqrt() as usize).max(2);
        let few = Extent::Iterations(self.largest.iterations);
        let largest = self.largest.elements.iter().map(|element| case(most(element), element, 1, few));
        growth.chain(sizes).chain([placing]).chain(largest).collect()
    }

    /// What a case takes at most: all that is done with a matrix is done with each of its numbers.
    pub fn seconds(&self, case: &Case) -> f64 {
        let Seconds { distances, pairwise, embed } = self.seconds_of_8000;
        let share = (case.items as f64 / 8000.0).powi(2);
        let stages = match case.extent {
            Extent::Whole if case.given.is_some() => pairwise + embed,
            Extent::Whole => distances + pairwise + embed,
            // Of the sample one half of the pairs, of all each with the whole sample; and each has its neighbours to be
            // chosen.
            Extent::Placing(all) => embed + distances * (1.0 + 4.0 * all as f64 / case.items as f64),
            // Its map takes a few of the hundred iterations; the matrix is on disk once.
            Extent::Iterations(_) => 8.0 * distances + embed / 10.0,
        };
        let aligning = case.given.as_ref().map_or(0.0, Given::seconds);
        case.rounds as f64 * (1.0 + aligning + share * stages)
    }
}

/// The definition as it is compiled in, so that the command needs no folder.
///
/// # Panics
/// If the file is no definition, which a test would have found.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/scale/scale.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_are_those_of_the_paper_and_of_the_memory() {
        let File { full, quick } = file();
        let cases = full.cases(None);
        assert!(cases.iter().any(|case| case.name() == "35339 items, u16" && case.rounds == 1));
        for case in cases.iter().filter(|case| matches!(case.extent, Extent::Iterations(_))) {
            let (filled, more) = (case.matrix_bytes(), Case { items: case.items + 1, ..case.clone() }.matrix_bytes());
            assert!(filled <= 24.0 * (1u64 << 30) as f64 && more > 24.0 * (1u64 << 30) as f64, "{}", case.name());
        }
        assert!(cases.iter().any(|case| case.extent == Extent::Placing(100_000)));
        let names: Vec<String> = cases.iter().map(Case::name).collect();
        assert!(names.iter().enumerate().all(|(place, name)| !names[..place].contains(name)), "{names:?}");
        assert!(full.growth.items.is_sorted() && full.growth.items.len() >= 3);
        let quick_seconds: f64 = quick.cases(None).iter().map(|case| quick.seconds(case)).sum();
        assert!(quick_seconds < 120.0, "{quick_seconds}");
    }
}
