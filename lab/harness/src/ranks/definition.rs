//! `lab/definitions/ranks/ranks.json`: the cells, the sizes, the goals, and the figures of the best MPI.

use serde::Deserialize;

use super::operation::{Cell, Experiment, Operation, Work};
use crate::bench::figure::Figure;
use crate::bench::table::Reached;

/// The definition in the form of its file: two sizes of the measurement, and the best figures of others.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few cells that take about two minutes.
    pub quick: Definition,
    /// The best figures of earlier measurements.
    pub holders: Vec<Holder>,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds, unless the command line gives another.
    pub rounds: usize,
    /// The number of stages of a sample.
    pub stages: usize,
    /// The time limit of a sample; a sample that would last longer has fewer stages.
    pub seconds_per_sample_max: f64,
    /// The cells.
    pub groups: Vec<Group>,
    /// Peers do not take part if their engines' names contain one of these texts.
    pub without: Vec<String>,
}

/// The cells of every combination of operations, ranks, lengths and computation.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// The kind of the cells.
    pub experiment: Experiment,
    /// Operations.
    pub operations: Vec<Operation>,
    /// The numbers of ranks.
    pub ranks: Vec<usize>,
    /// The lengths of a message, in doubles.
    pub doubles: Vec<usize>,
    /// The numbers of units of computation in a stage.
    pub units: Vec<u32>,
}

/// The best figure of another program for a cell, and the figure of a C program without MPI, in microseconds for each
/// stage.
#[derive(Clone, Debug, Deserialize)]
pub struct Holder {
    /// The kind of the cell.
    pub experiment: Experiment,
    /// The operation.
    pub operation: Operation,
    /// The number of ranks.
    pub ranks: usize,
    /// The length of a message, in doubles.
    pub doubles: usize,
    /// The number of units of computation in a stage.
    pub units: u32,
    /// The figure with near cores.
    pub near: f64,
    /// The figure with far cores.
    pub far: f64,
    /// The name of the program that reached the figure.
    pub who: String,
    /// The figures without MPI, with near and with far cores, if they are known.
    pub floor: Option<[f64; 2]>,
}

impl Definition {
    /// Returns every cell; the measurement sets workers and stages.
    pub fn cells(&self) -> Vec<Cell> {
        let mut all = Vec::new();
        for Group { experiment, operations, ranks, doubles, units } in &self.groups {
            for &units in units {
                for &ranks in ranks {
                    for &operation in operations {
                        for &doubles in doubles {
                            let work = Work { operation, ranks, workers: 1, doubles, units, stages: self.stages };
                            all.push(Cell { experiment: *experiment, work });
                        }
                    }
                }
            }
        }
        all
    }

    /// Returns whether an engine of that name takes part.
    pub fn wants_peer(&self, name: &str) -> bool {
        !self.without.iter().any(|part| name.contains(part))
    }
}

impl Holder {
    /// Returns the holder's cell.
    pub fn cell(&self) -> Cell {
        let Self { experiment, operation, ranks, doubles, units, .. } = *self;
        Cell { experiment, work: Work { operation, ranks, workers: 1, doubles, units, stages: 0 } }
    }
}

/// Returns the holder's figures for a figure's case on all cores, if the case has a holder.
pub fn reached(holders: &[Holder], figure: &Figure, one_core: bool) -> Option<Reached> {
    let is_its = |holder: &&Holder| {
        !one_core && holder.experiment.name() == figure.experiment && holder.cell().case() == figure.case
    };
    holders.iter().find(is_its).map(|holder| Reached { near: holder.near, far: holder.far })
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/ranks/ranks.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(definition: &Definition) -> Vec<String> {
        definition.cells().iter().map(|cell| format!("{} {}", cell.experiment.name(), cell.case())).collect()
    }

    #[test]
    fn the_file_names_each_cell_once_and_holders_belong_to_cells() {
        let file = file();
        let cells = names(&file.full);
        for (index, cell) in cells.iter().enumerate() {
            assert!(!cells[..index].contains(cell), "{cell} twice");
        }
        for holder in &file.holders {
            let name = format!("{} {}", holder.experiment.name(), holder.cell().case());
            assert!(cells.contains(&name), "{holder:?} belongs to no cell");
            assert!(holder.near > 0.0 && holder.far >= holder.near && !holder.who.is_empty(), "{holder:?}");
            assert!(holder.floor.is_none_or(|[near, far]| near > 0.0 && near <= holder.near && far >= near));
        }
    }

    #[test]
    fn the_cells_are_those_that_were_asked_for() {
        let file = file();
        let cells = file.full.cells();
        let has = |operation, ranks, doubles, units| {
            let is_it = |cell: &Cell| {
                let work = cell.work;
                (work.operation, work.ranks, work.doubles, work.units) == (operation, ranks, doubles, units)
            };
            assert!(cells.iter().any(is_it), "{operation}, {ranks} ranks, {doubles} doubles, {units} units");
        };
        for ranks in [2, 4, 8] {
            for units in [0, 20] {
                for operation in [Operation::Exchange, Operation::Shift, Operation::TwoShifts] {
                    has(operation, ranks, 1, units);
                }
                has(Operation::Barrier, ranks, 0, units);
                for doubles in [1, 1024, 100_000] {
                    for operation in [Operation::Broadcast, Operation::Reduce, Operation::AllReduce] {
                        has(operation, ranks, doubles, units);
                    }
                }
            }
            for doubles in [1000, 10_000, 100_000, 1_000_000] {
                for operation in [Operation::Exchange, Operation::Shift, Operation::TwoShifts] {
                    has(operation, ranks, doubles, 0);
                }
            }
        }
    }

    #[test]
    fn quick_is_a_part_of_the_whole() {
        let file = file();
        let cells = names(&file.full);
        assert!(names(&file.quick).iter().all(|cell| cells.contains(cell)));
    }

    #[test]
    fn a_holder_is_found_by_the_name_of_its_cell_on_all_cores() {
        let file = file();
        let mut samples = crate::bench::figure::Samples::default();
        samples.push(1.0, crate::bench::figure::Place::Near);
        let case = "exchange, P = 2, 8 B, 0 units";
        let figure = Figure::new("patterns", case, "lehr threads", "us a stage", &samples, 1000.0);
        assert_eq!(reached(&file.holders, &figure, false), Some(Reached { near: 0.46, far: 0.94 }));
        assert_eq!(reached(&file.holders, &figure, true), None);
    }
}
