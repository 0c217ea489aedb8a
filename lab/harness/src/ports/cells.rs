//! The cells of the four patterns: ours, the peers and the floors in turns, as overhead a stage.
//!
//! Overhead is the time of all stages less that of the same computation without messages, measured next to each sample, divided by the stages. Without
//! computation it is the time of a stage. A sample has as many stages as the definition asks for, or as many as fit into its time limit.
//!
//! Ours and the peers' pools are measured on one worker, on one a core and, in the whole measurement, on one a rank (001 tables 1 and 2: match and default).
//! What has a thread or process a rank takes all cores and says that it is absent in the other forms.

use anyhow::Result;

use super::bench::{Bench, PeerEngine};
use super::definition::Definition;
use super::figure::Figure;
use super::pattern::{Form, Pattern, Run};
use super::{rendezvous, spawned};

/// One of ours.
type Ours = fn(&Run) -> Result<f64>;

/// The forms of ours, by the form they are compared in.
const OURS: [(Form, &str, Ours); 4] = [
    (Form::Rendezvous, "lehr ports", rendezvous::run),
    (Form::Spawned, "lehr persistent receivers", spawned::persistent),
    (Form::Spawned, "lehr closures", spawned::closures),
    (Form::Spawned, "lehr fresh tasks", spawned::fresh),
];

/// Stages of the first look at a side: engines differ by a million in what a stage costs.
const FIRST_LOOK: usize = 20;

/// A look that lasts this part of a sample tells how many stages fit into a sample.
const TELLING: f64 = 0.05;

/// A side of a cell.
#[derive(Clone, Copy)]
enum Engine {
    Ours(Ours),
    Peer(PeerEngine),
}

struct Side {
    name: String,
    engine: Engine,
    run: Run,
}

/// Measures every cell of the definition whose name contains `only`.
///
/// # Errors
/// A wrong result, a peer that ended.
pub fn run(bench: &mut Bench, definition: &Definition, only: Option<&str>, rounds: usize) -> Result<()> {
    for cell in definition.cells() {
        let name = format!("{} {}", cell.form, cell.case());
        if only.is_some_and(|part| !name.contains(part)) {
            continue;
        }
        if bench.is_over() || bench.knows(&cell.form.to_string(), &cell.case(), None) {
            continue;
        }
        bench.progress(&name);
        measure(bench, definition, cell, rounds)?;
    }
    if only.is_none_or(|part| "spare workers".contains(part)) {
        for &workers in &definition.spare_workers {
            let spare = Run {
                form: Form::Rendezvous,
                pattern: Pattern::Pipeline,
                ranks: 1,
                workers,
                units: 0,
                stages: definition.stages,
            };
            if bench.is_over() || bench.knows("spare workers", &spare.case(), Some(workers)) {
                continue;
            }
            bench.progress(&format!("spare workers, {workers}"));
            let sides = vec![Side { name: "lehr ports".into(), engine: Engine::Ours(rendezvous::run), run: spare }];
            measure_sides(bench, definition, "spare workers", &spare, sides, rounds)?;
        }
    }
    Ok(())
}

/// The numbers of workers that a cell is measured with: one, one a core, one a rank.
fn workers(cores: usize, ranks: usize, is_quick: bool) -> Vec<usize> {
    let mut all = vec![1, cores];
    if !is_quick {
        all.push(ranks);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn measure(bench: &mut Bench, definition: &Definition, cell: Run, rounds: usize) -> Result<()> {
    let mut sides = Vec::new();
    let peers: Vec<_> = bench.engines().into_iter().filter(|(_, name)| definition.wants_peer(name)).collect();
    for workers in workers(bench.cores, cell.ranks, definition.is_quick) {
        let run = Run { workers, ..cell };
        for (form, name, ours) in OURS {
            if form == cell.form {
                sides.push(Side { name: name.into(), engine: Engine::Ours(ours), run });
            }
        }
        for (engine, name) in &peers {
            sides.push(Side { name: name.clone(), engine: Engine::Peer(*engine), run });
        }
    }
    measure_sides(bench, definition, &cell.form.to_string(), &cell, sides, rounds)
}

fn measure_sides(
    bench: &mut Bench,
    definition: &Definition,
    experiment: &str,
    cell: &Run,
    sides: Vec<Side>,
    rounds: usize,
) -> Result<()> {
    let mut measured = Vec::new();
    for mut side in sides {
        if let Some(stages) = fitting_stages(bench, definition, &side)? {
            side.run.stages = stages;
            measured.push(side);
        }
    }
    let cores = bench.cores;
    let taken = bench.take_turns(rounds, &mut measured, |bench, side| overhead_us(bench, side, cores))?;
    for (side, samples) in measured.iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let unit = if cell.units == 0 { "us a stage" } else { "us a stage over the computation" };
        let figure = Figure::new(experiment, &cell.case(), &side.name, unit, &samples, bench.unit_ns)
            .with_workers(side.run.workers)
            .with_stages(side.run.stages);
        bench.add(figure);
    }
    Ok(())
}

/// As many stages as a sample may have; none if the engine does not do this cell. Warms the side up.
fn fitting_stages(bench: &mut Bench, definition: &Definition, side: &Side) -> Result<Option<usize>> {
    let (most, limit) = (definition.stages, definition.seconds_per_sample_max);
    let mut stages = most.min(FIRST_LOOK);
    loop {
        let Some(seconds) = seconds(bench, side, &Run { stages, ..side.run })? else { return Ok(None) };
        if seconds >= TELLING * limit || stages == most {
            return Ok(Some(fitting(stages, seconds, limit, most)));
        }
        stages = most.min(8 * stages);
    }
}

/// The stages that fit into `limit` seconds where so many took so long; no fewer than the first look has and no more than asked for.
fn fitting(stages: usize, seconds: f64, limit: f64, most: usize) -> usize {
    ((limit / seconds * stages as f64) as usize).clamp(most.min(FIRST_LOOK), most)
}

fn overhead_us(bench: &mut Bench, side: &Side, cores: usize) -> Result<Option<f64>> {
    let mut computation = 0.0;
    if side.run.units > 0 {
        let (alone, times) = side.run.computation(cores);
        let Some(seconds) = seconds(bench, side, &alone)? else { return Ok(None) };
        computation = times * seconds;
    }
    let seconds = seconds(bench, side, &side.run)?;
    Ok(seconds.map(|seconds| (seconds - computation) / side.run.stages as f64 * 1e6))
}

fn seconds(bench: &mut Bench, side: &Side, run: &Run) -> Result<Option<f64>> {
    match side.engine {
        Engine::Ours(ours) => ours(run).map(Some),
        Engine::Peer(PeerEngine { peer, engine }) => bench.peers[peer].seconds(&run.request(engine)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_as_many_stages_as_fit_into_its_time() {
        assert_eq!(fitting(20, 0.02, 0.5, 500_000), 500);
        assert_eq!(fitting(20, 1e-6, 0.5, 500_000), 500_000);
        assert_eq!(fitting(20, 30.0, 0.5, 500_000), FIRST_LOOK);
        assert_eq!(fitting(3, 30.0, 0.5, 3), 3);
    }

    #[test]
    fn workers_are_one_as_many_as_cores_and_as_many_as_ranks() {
        assert_eq!(workers(2, 8, false), [1, 2, 8]);
        assert_eq!(workers(2, 1, false), [1, 2]);
        assert_eq!(workers(2, 8, true), [1, 2]);
    }
}
