//! `lab/definitions/runtime/ports.json`: the cells, the sizes, the aims, and the figures that earlier measurements and
//! the papers reached.

use serde::Deserialize;

use super::pattern::{Form, Pattern, Run};
use crate::bench::figure::Figure;
use crate::bench::table::Reached;

/// The definition in the form of its file: two sizes of the measurement, and the best figures of others.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few cases that take under two minutes.
    pub quick: Definition,
    /// The best figures known before, from the shared specification.
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
    /// The numbers of workers for a single computation, which spare workers must not slow down.
    pub spare_workers: Vec<usize>,
    /// Only peers take part whose engines' names contain one of these texts; all peers if the list is empty.
    pub peers: Vec<String>,
    /// Whether to leave out Lehr with one worker for each rank.
    pub is_quick: bool,
    /// The number of pending receives of Lehr.
    pub pending: usize,
    /// The number of pending receives of the peers.
    pub pending_of_peers: usize,
    /// The lengths of posted arrays.
    pub posting_doubles: Vec<usize>,
    /// The numbers of units of computation between postings.
    pub posting_units: Vec<u32>,
    /// The minimum number of bytes that a sample of posting copies.
    pub posting_bytes: f64,
    /// The computation that is divided into more and more stages.
    pub staged: Staged,
    /// The numbers of workers of the idle dispatchers.
    pub idle_workers: Vec<usize>,
    /// The seconds for which an idle dispatcher is observed.
    pub idle_seconds: f64,
    /// The numbers of clients of a service.
    pub clients: Vec<usize>,
    /// The sizes of the rings whose exchange stages must end with each number of workers.
    pub ring_ranks: Vec<usize>,
    /// The numbers of workers for the rings.
    pub ring_workers: Vec<usize>,
}

/// A fixed computation, and its divisions into stages.
#[derive(Clone, Debug, Deserialize)]
pub struct Staged {
    /// The number of units of computation of each rank, a multiple of each number of stages.
    pub units: usize,
    /// The numbers of stages.
    pub stages: Vec<usize>,
    /// The patterns of messages after each stage.
    pub patterns: Vec<Pattern>,
    /// The lengths of the arrays that each stage copies, in cases of their own.
    pub array_doubles: Vec<usize>,
    /// Only floors take part, and peers whose engines' names contain one of these texts.
    pub peers: Vec<String>,
}

/// The cells of every combination of patterns, ranks and computation in one form.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// The form: rendezvous or spawned.
    pub form: Form,
    /// Patterns.
    pub patterns: Vec<Pattern>,
    /// The numbers of ranks.
    pub ranks: Vec<usize>,
    /// The numbers of units of computation in a stage.
    pub units: Vec<u32>,
}

/// The best figure of another program for a cell, and the figure of a C program, in microseconds for each stage.
#[derive(Clone, Debug, Deserialize)]
pub struct Holder {
    /// The form: rendezvous or spawned.
    pub form: Form,
    /// The pattern.
    pub pattern: Pattern,
    /// The number of ranks.
    pub ranks: usize,
    /// The number of units of computation in a stage.
    pub units: u32,
    /// The number of cores that the ranks had: one or several.
    pub cores: usize,
    /// The figure with near cores.
    pub near: f64,
    /// The figure with far cores.
    pub far: f64,
    /// The name of the program that reached the figure.
    pub who: String,
}

impl Staged {
    /// Returns whether an engine of that name takes part.
    pub fn wants_peer(&self, name: &str) -> bool {
        name.starts_with("floor") || self.peers.iter().any(|part| name.contains(part))
    }
}

impl Definition {
    /// Returns every cell, with the stages of a sample; the measurement sets the number of workers.
    pub fn cells(&self) -> Vec<Run> {
        let mut all = Vec::new();
        for group in &self.groups {
            for &units in &group.units {
                for &ranks in &group.ranks {
                    for &pattern in &group.patterns {
                        all.push(Run { form: group.form, pattern, ranks, workers: 1, units, stages: self.stages });
                    }
                }
            }
        }
        all
    }

    /// Returns whether an engine of that name takes part.
    pub fn wants_peer(&self, name: &str) -> bool {
        name.starts_with("floor") || self.peers.is_empty() || self.peers.iter().any(|part| name.contains(part))
    }
}

/// Returns the holder's figures for a figure's case, if the case has a holder.
pub fn reached(holders: &[Holder], figure: &Figure, one_core: bool) -> Option<Reached> {
    let is_its = |holder: &&Holder| {
        holder.form.to_string() == figure.experiment
            && figure.case == format!("{}, P = {}, {} units", holder.pattern, holder.ranks, holder.units)
            && (holder.cores == 1) == one_core
    };
    holders.iter().find(is_its).map(|holder| Reached { near: holder.near, far: holder.far })
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/runtime/ports.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::pattern::COUNTED_STAGES;

    #[test]
    fn the_file_names_each_cell_once_and_holders_belong_to_cells() {
        let file = file();
        let cells = file.full.cells();
        for (index, cell) in cells.iter().enumerate() {
            assert!(!cells[..index].contains(cell), "{cell:?} twice");
        }
        for holder in &file.holders {
            let is_its = |cell: &Run| {
                (cell.form, cell.pattern, cell.ranks, cell.units)
                    == (holder.form, holder.pattern, holder.ranks, holder.units)
            };
            assert!(cells.iter().any(is_its), "{holder:?} belongs to no cell");
            assert!(holder.near > 0.0 && holder.far > 0.0);
        }
    }

    #[test]
    fn messages_that_are_counted_in_pairs_never_meet_in_one_place() {
        let rings = file().full.cells();
        let counted = rings.iter().filter(|cell| cell.form == Form::Spawned);
        assert!(counted.clone().count() > 0);
        counted.for_each(|cell| assert_eq!(COUNTED_STAGES % cell.ranks, 0, "{}", cell.case()));
    }

    #[test]
    fn quick_is_a_part_of_the_whole() {
        let file = file();
        let cells: Vec<_> = file.full.cells().iter().map(Run::case).collect();
        assert!(file.quick.cells().iter().all(|cell| cells.contains(&cell.case())));
        assert!(file.quick.wants_peer("floor: C") && !file.quick.wants_peer("std mpsc, threads"));
    }
}
