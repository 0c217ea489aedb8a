//! The tables of an annealing's course: its temperatures, and the divisions and merges of its components.

use lehr_mining::anneal::{AnyCheckpoint, Split, Step};
use lehr_mining::{pairwise, vector};

use crate::table::Table;

/// Returns the divisions so far of a run with this checkpoint; none if the method does not anneal.
pub fn splits_so_far(checkpoint: &dyn AnyCheckpoint) -> &[Split] {
    if let Some(checkpoint) = checkpoint.downcast_ref::<vector::Checkpoint>() {
        return checkpoint.splits();
    }
    checkpoint.downcast_ref::<pairwise::Checkpoint>().map_or(&[], pairwise::Checkpoint::splits)
}

/// Returns the table `history`, with one row for each temperature.
pub(crate) fn history(steps: &[Step]) -> Table<'static> {
    let numbers = |of: fn(&Step) -> f64| steps.iter().map(of).collect();
    let counts = |of: fn(&Step) -> u64| steps.iter().map(of).collect();
    Table::new("history")
        .counts("index", counts(|step| step.index))
        .numbers("temperature", numbers(|step| step.temperature))
        .counts("clusters", counts(|step| step.clusters as u64))
        .numbers("free_energy", numbers(|step| step.free_energy))
        .numbers("mean_cost", numbers(|step| step.mean_cost))
        .numbers("information", numbers(|step| step.information))
        .numbers("softness", numbers(|step| step.softness))
        .counts("sweeps", counts(|step| step.sweeps))
        .numbers("max_move", numbers(|step| step.max_move))
        .numbers("next_critical", numbers(|step| step.next_critical))
}

/// Returns the table `splits`, with one row for each division. The last two columns have gaps where the new component
/// lasted.
pub(crate) fn splits(splits: &[Split]) -> Table<'static> {
    let numbers = |of: fn(&Split) -> f64| splits.iter().map(of).collect();
    let counts = |of: fn(&Split) -> u64| splits.iter().map(of).collect();
    Table::new("splits")
        .numbers("temperature", numbers(|split| split.temperature))
        .numbers("critical_temperature", numbers(|split| split.critical_temperature))
        .counts("parent", counts(|split| split.parent as u64))
        .counts("clusters", counts(|split| split.clusters as u64))
        .numbers("merged_at", numbers(|split| split.merged_at.unwrap_or(f64::NAN)))
        .numbers("merged_into", numbers(|split| split.merged_into.map_or(f64::NAN, |other| other as f64)))
}
