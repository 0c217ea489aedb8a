//! The plan of a session of `lehr-lab ports`, with an upper bound of its duration.

use super::definition::Definition;
use super::pattern::{Form, Run};
use super::stages;
use crate::bench::Bench;
use crate::bench::estimate::{AROUND_SAMPLE, Plan};
use crate::bench::session::Options;

/// The facts about a session that an estimate needs.
#[derive(Clone, Copy, Debug)]
struct Sides {
    /// The number of engines of peers in the patterns, including floors.
    peers: usize,
    /// The number of rounds.
    rounds: usize,
    /// The time of a unit of computation, in seconds.
    unit: f64,
}

/// Returns every requested case, in the order of measurement.
pub fn of(bench: &Bench, definition: &Definition, options: &Options) -> Plan {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let engines = bench.engines();
    let peers = engines.iter().filter(|(_, name)| definition.wants_peer(name)).count();
    let sides = Sides { peers, rounds, unit: bench.unit_ns * 1e-9 };
    let sample = definition.seconds_per_sample_max;
    let mut plan = Plan::default();
    add_cells(&mut plan, definition, sides, |cell| {
        let form = cell.form.to_string();
        options.wants(&format!("{form} {}", cell.case())) && !bench.knows(&form, &cell.case(), None)
    });
    if options.wants("spare workers") {
        plan.add("spare workers".into(), (definition.spare_workers.len() * rounds) as f64 * sample);
    }
    if options.wants("requests") {
        plan.add("requests".into(), (definition.clients.len() * 2 * (peers + 1) * rounds) as f64 * sample);
    }
    if options.wants("rings") {
        // A stage of a rank takes at most half a microsecond.
        let stages: usize = definition.ring_ranks.iter().map(|ranks| ranks * definition.stages).sum();
        plan.add("rings".into(), (stages * definition.ring_workers.len()) as f64 * 0.5e-6);
    }
    if options.wants("regions") {
        plan.add("regions".into(), (3 * 3 * rounds) as f64 * 0.1);
    }
    if options.wants("posting") {
        add_posting(&mut plan, definition, sides);
    }
    if options.wants(stages::STAGES) {
        let staged = &definition.staged;
        let sides = 1 + engines.iter().filter(|(_, name)| staged.wants_peer(name)).count();
        for divided in stages::cases(definition, bench.cores) {
            if bench.knows(stages::STAGES, &divided.case(), Some(divided.cores)) {
                continue;
            }
            // A stage of the slowest side takes at most ten microseconds.
            let each = staged.units as f64 * bench.unit_ns * 1e-9 + divided.stages as f64 * 1e-5 + AROUND_SAMPLE;
            plan.add(format!("{} {}", stages::STAGES, divided.case()), (sides * rounds) as f64 * each);
        }
    }
    if options.wants("allocations") {
        plan.add("allocations".into(), 5.0);
    }
    if options.wants("pending") {
        // Lehr has three forms; making and completing a receive takes at most a microsecond and a half.
        let receives = 3 * definition.pending + 2 * definition.pending_of_peers;
        plan.add("pending".into(), (receives * rounds.min(3)) as f64 * 1.5e-6);
    }
    if options.wants("idle") {
        plan.add("idle".into(), definition.idle_workers.len() as f64 * (definition.idle_seconds + 1.0));
    }
    plan
}

/// Adds the cells of the patterns that `wants` accepts.
fn add_cells(plan: &mut Plan, definition: &Definition, sides: Sides, mut wants: impl FnMut(&Run) -> bool) {
    for cell in definition.cells() {
        if !wants(&cell) {
            continue;
        }
        let ours = if cell.form == Form::Rendezvous { 1 } else { 3 };
        let workers = if definition.is_quick || cell.ranks <= 2 { 2 } else { 3 };
        let samples = workers * (ours + sides.peers);
        // With computation, each sample is followed by the same computation alone.
        let parts = if cell.units > 0 { 2.0 } else { 1.0 };
        let each = parts * definition.seconds_per_sample_max + AROUND_SAMPLE;
        plan.add(format!("{} {}", cell.form, cell.case()), (samples * sides.rounds) as f64 * each);
    }
}

/// Adds posted arrays: three sides on one core and on all cores, each with a quarter of its stages as a warm-up.
fn add_posting(plan: &mut Plan, definition: &Definition, sides: Sides) {
    for &doubles in &definition.posting_doubles {
        for &units in &definition.posting_units {
            let bytes = 8.0 * doubles as f64;
            let by_time = definition.seconds_per_sample_max / (f64::from(units).max(1e-9) * sides.unit);
            let times = (definition.posting_bytes / bytes).min(by_time).max(2.0);
            // Two gigabytes a second is the rate of copies from memory, and of making a source array.
            let stages = times * (bytes / 2e9 + f64::from(units) * sides.unit);
            let each = 1.25 * stages + bytes / 2e9 + AROUND_SAMPLE;
            // There are five forms and two numbers of cores.
            plan.add(format!("posting, {doubles} doubles, {units} units"), 30.0 * sides.rounds as f64 * each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::definition;

    const SIDES: Sides = Sides { peers: 10, rounds: 5, unit: 1e-6 };

    #[test]
    fn a_plan_is_the_sum_of_its_cases_and_more_rounds_cost_more() {
        let definition = definition::file().full;
        let plan = |rounds| {
            let mut plan = Plan::default();
            add_cells(&mut plan, &definition, Sides { rounds, ..SIDES }, |_| true);
            add_posting(&mut plan, &definition, Sides { rounds, ..SIDES });
            plan
        };
        let (five, ten) = (plan(5), plan(10));
        assert_eq!(five.len(), definition.cells().len() + 15);
        assert!((ten.seconds() / five.seconds() - 2.0).abs() < 1e-9);
    }
}
