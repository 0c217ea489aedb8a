//! The cells of the four patterns: the overhead of a stage of Lehr, the peers and the floors, measured in turns.
//!
//! Lehr and the peers' pools are measured with one worker and with one worker for each core. In the whole measurement,
//! they are also measured with one worker for each rank (001 tables 1 and 2: match and default). An engine with a
//! thread or process for each rank uses all cores, and reports that it is absent in the other forms.

use anyhow::Result;

use super::definition::Definition;
use super::pattern::{Form, Pattern, Run};
use super::{rendezvous, spawned};
use crate::bench::figure::Figure;
use crate::bench::stages::{self, Limits, overheads_us};
use crate::bench::{Bench, PeerEngine};

/// A function that runs a form of Lehr.
type Ours = fn(&Run) -> Result<f64>;

/// Lehr's engines, each with the form in which it is compared.
const OURS: [(Form, &str, Ours); 4] = [
    (Form::Rendezvous, "lehr ports", rendezvous::run),
    (Form::Spawned, "lehr persistent receivers", spawned::persistent),
    (Form::Spawned, "lehr closures", spawned::closures),
    (Form::Spawned, "lehr fresh tasks", spawned::fresh),
];

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
/// Returns an error if a result is wrong, or if a peer has ended.
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

/// Returns the numbers of workers of a cell: one, one for each core, one for each rank.
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
    let limits = Limits { stages: definition.stages, seconds: definition.seconds_per_sample_max };
    for taken in overheads_us(bench, limits, rounds, sides)? {
        let unit = if cell.units == 0 { "us a stage" } else { "us a stage over the computation" };
        let figure = Figure::new(experiment, &cell.case(), &taken.side.name, unit, &taken.samples, bench.unit_ns)
            .with_workers(taken.side.run.workers)
            .with_stages(taken.stages);
        bench.add(figure);
    }
    Ok(())
}

impl Side {
    fn seconds_of(&self, bench: &mut Bench, run: &Run) -> Result<Option<f64>> {
        match self.engine {
            Engine::Ours(ours) => ours(run).map(Some),
            Engine::Peer(PeerEngine { peer, engine }) => bench.peers[peer].seconds(&run.request(engine)),
        }
    }
}

impl stages::Side for Side {
    fn seconds(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>> {
        self.seconds_of(bench, &Run { stages, ..self.run })
    }

    fn computation(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>> {
        if self.run.units == 0 {
            return Ok(Some(0.0));
        }
        let (alone, times) = Run { stages, ..self.run }.computation(bench.cores);
        let seconds = self.seconds_of(bench, &alone)?;
        Ok(seconds.map(|seconds| times * seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_one_as_many_as_cores_and_as_many_as_ranks() {
        assert_eq!(workers(2, 8, false), [1, 2, 8]);
        assert_eq!(workers(2, 1, false), [1, 2]);
        assert_eq!(workers(2, 8, true), [1, 2]);
    }
}
