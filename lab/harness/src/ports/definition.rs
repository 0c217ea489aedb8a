//! `lab/definitions/runtime/ports.json`: the cells, the sizes, the aims, and the figures that earlier measurements and
//! the papers reached.

use serde::Deserialize;

use super::pattern::{Form, Pattern, Run};
use crate::bench::figure::Figure;
use crate::bench::table::Reached;

/// The definition as its file has it: two sizes of the same thing, and what others reached.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few cells in under two minutes.
    pub quick: Definition,
    /// Figures of the shared specification.
    pub holders: Vec<Holder>,
}

/// One size.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds, unless the command line says otherwise.
    pub rounds: usize,
    /// Stages of a sample.
    pub stages: usize,
    /// A sample that would last longer has fewer stages.
    pub seconds_per_sample_max: f64,
    /// The cells.
    pub groups: Vec<Group>,
    /// Numbers of workers of the single computation that spare workers must not slow.
    pub spare_workers: Vec<usize>,
    /// Peers whose engines' names contain one of these; all if empty.
    pub peers: Vec<String>,
    /// Whether ours leaves out one worker a rank.
    pub is_quick: bool,
    /// Ten million, or fewer.
    pub pending: usize,
    /// How many of the peers' pending receives.
    pub pending_of_peers: usize,
    /// Lengths of posted arrays.
    pub posting_doubles: Vec<usize>,
    /// Units of computation between postings.
    pub posting_units: Vec<u32>,
    /// Bytes that each sample of posting copies at least.
    pub posting_bytes: f64,
    /// Numbers of workers of the idle dispatchers.
    pub idle_workers: Vec<usize>,
    /// Seconds that an idle dispatcher is watched.
    pub idle_seconds: f64,
    /// Numbers of clients of a service.
    pub clients: Vec<usize>,
    /// Sizes of rings whose exchange stages must end on each number of workers.
    pub ring_ranks: Vec<usize>,
    /// Numbers of workers for the rings.
    pub ring_workers: Vec<usize>,
}

/// Cells that differ in form, pattern, ranks and computation.
#[derive(Clone, Debug, Deserialize)]
pub struct Group {
    /// Rendezvous or spawned.
    pub form: Form,
    /// Patterns.
    pub patterns: Vec<Pattern>,
    /// Numbers of ranks.
    pub ranks: Vec<usize>,
    /// Units of computation a stage.
    pub units: Vec<u32>,
}

/// The best figure known for a cell before ours, and what a C program reached, in microseconds a stage.
#[derive(Clone, Debug, Deserialize)]
pub struct Holder {
    /// Rendezvous or spawned.
    pub form: Form,
    /// The pattern.
    pub pattern: Pattern,
    /// Ranks.
    pub ranks: usize,
    /// Units of computation a stage.
    pub units: u32,
    /// Whether the ranks had one core or several.
    pub cores: usize,
    /// While the cores were near.
    pub near: f64,
    /// While the cores were far.
    pub far: f64,
    /// Who holds it.
    pub who: String,
}

impl Definition {
    /// Every cell, with the stages of a sample; the number of workers is set where it is measured.
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

    /// Whether an engine of that name takes part.
    pub fn wants_peer(&self, name: &str) -> bool {
        name.starts_with("floor") || self.peers.is_empty() || self.peers.iter().any(|part| name.contains(part))
    }
}

/// What the holder of a figure's case reached, if the case has one.
pub fn reached(holders: &[Holder], figure: &Figure, one_core: bool) -> Option<Reached> {
    let is_its = |holder: &&Holder| {
        holder.form.to_string() == figure.experiment
            && figure.case == format!("{}, P = {}, {} units", holder.pattern, holder.ranks, holder.units)
            && (holder.cores == 1) == one_core
    };
    holders.iter().find(is_its).map(|holder| Reached { near: holder.near, far: holder.far })
}

/// The definition as it is compiled in, so that the command needs no folder.
///
/// # Panics
/// If the file is no definition, which a test would have found.
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
