//! `lab/definitions/scale/scale.json`: the numbers of items, and the elements of their matrices.

use serde::Deserialize;

use super::given::Given;
use super::sequences::Mutations;

/// The definition in the form of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small sizes that take under two minutes.
    pub quick: Definition,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds of the growth, unless the command line gives another.
    pub rounds: usize,
    /// The parameters of the generated items.
    pub sequences: Mutations,
    /// The sizes to which exponents are fitted.
    pub growth: Growth,
    /// The sizes that are measured once.
    pub sizes: Vec<Size>,
    /// The placing of many items in the map of a sample.
    pub placing: Placing,
    /// The largest matrices that fit into memory.
    pub largest: Largest,
    /// The maximum seconds of the stages of 8,000 items, for the plan.
    pub seconds_of_8000: Seconds,
}

/// The sizes whose costs are compared.
#[derive(Clone, Debug, Deserialize)]
pub struct Growth {
    /// The numbers of items, in ascending order.
    pub items: Vec<usize>,
    /// The element type of the matrix.
    pub element: String,
}

/// A number of items and an element type.
#[derive(Clone, Debug, Deserialize)]
pub struct Size {
    /// The number of items.
    pub items: usize,
    /// The element type of the matrix.
    pub element: String,
}

/// The placing of items in the map of a sample of them.
#[derive(Clone, Debug, Deserialize)]
pub struct Placing {
    /// The number of items of the map.
    pub sample: usize,
    /// The number of all items.
    pub items: usize,
    /// The element type of the sample's matrix.
    pub element: String,
}

/// The largest matrices.
#[derive(Clone, Debug, Deserialize)]
pub struct Largest {
    /// The size of the matrix in GiB.
    pub gibibytes: f64,
    /// The element types.
    pub elements: Vec<String>,
    /// The number of iterations of the map.
    pub iterations: usize,
}

/// The seconds of each stage.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seconds {
    /// The seconds of comparing all pairs.
    pub distances: f64,
    /// The seconds of the clustering.
    pub pairwise: f64,
    /// The seconds of the map.
    pub embed: f64,
}

/// A case of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The number of items of the matrix.
    pub items: usize,
    /// The element type of the matrix: `f64`, `f32`, `u16`.
    pub element: String,
    /// The number of rounds.
    pub rounds: usize,
    /// The stages that use the matrix.
    pub extent: Extent,
    /// The file of the items, if they are not generated.
    pub given: Option<Given>,
}

/// The stages that use a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Clusters and a map.
    Whole,
    /// A map, and this many items placed in it, of which those of the matrix are the first.
    Placing(usize),
    /// A map of this many iterations. Reading one of the largest matrices takes seconds, and clusters would need a
    /// thousand readings.
    Iterations(usize),
}

impl Case {
    /// Returns the name of the case in a record, which does not depend on the machine's free memory.
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

    /// Returns the bytes of the matrix.
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
    /// Returns all cases, in order.
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
        // Stages with pairs need at least two items.
        let most = |element| ((memory / bytes(element)).sqrt() as usize).max(2);
        let few = Extent::Iterations(self.largest.iterations);
        let largest = self.largest.elements.iter().map(|element| case(most(element), element, 1, few));
        growth.chain(sizes).chain([placing]).chain(largest).collect()
    }

    /// Returns the maximum seconds of a case, whose stages take time in proportion to the numbers of the matrix.
    pub fn seconds(&self, case: &Case) -> f64 {
        let Seconds { distances, pairwise, embed } = self.seconds_of_8000;
        let share = (case.items as f64 / 8000.0).powi(2);
        let stages = match case.extent {
            Extent::Whole if case.given.is_some() => pairwise + embed,
            Extent::Whole => distances + pairwise + embed,
            // The sample has half of its pairs; every item is compared with the whole sample, and its neighbours are
            // chosen.
            Extent::Placing(all) => embed + distances * (1.0 + 4.0 * all as f64 / case.items as f64),
            // The map makes a few of the hundred iterations; the matrix is written to disk once.
            Extent::Iterations(_) => 8.0 * distances + embed / 10.0,
        };
        let aligning = case.given.as_ref().map_or(0.0, Given::seconds);
        case.rounds as f64 * (1.0 + aligning + share * stages)
    }
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
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
