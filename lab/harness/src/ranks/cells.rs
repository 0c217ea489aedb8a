//! The cells: Lehr in its forms, every MPI and the floors in turns, as the overhead of a stage; arrays as rates too.
//!
//! In one process, Lehr is measured with one worker and with one worker for each core. A side with a process or a
//! thread for each rank uses all cores, and reports that it is absent in the form with one core. The floor has both
//! forms.

use anyhow::Result;
use lehr_ranks::fabric::Kind;

use super::definition::Definition;
use super::in_process;
use super::operation::{Cell, Work};
use crate::bench::estimate::{AROUND_SAMPLE, Plan};
use crate::bench::figure::{Figure, Samples};
use crate::bench::session::Options;
use crate::bench::stages::{self, Limits, TakenOf, overheads_us};
use crate::bench::{Bench, PeerEngine};

/// The forms of Lehr in this process.
const OURS: [(&str, Kind); 2] = [("lehr threads", Kind::Threads), ("lehr ports", Kind::Ports)];

/// The time limit of a sample of some sides with more ranks than cores: those that yield for whole time slices of the
/// system. Twenty stages of such a side take this long.
const TIME_SLICES: f64 = 0.3;

/// A side of a cell.
#[derive(Clone, Copy)]
enum Engine {
    Ours(Kind),
    Peer(PeerEngine),
}

struct Side {
    name: String,
    engine: Engine,
    work: Work,
}

/// Returns the requested cells that no earlier session has measured.
fn wanted(bench: &Bench, definition: &Definition, options: &Options) -> Vec<Cell> {
    let mut cells = definition.cells();
    cells.retain(|cell| options.wants(&name(cell)) && !bench.knows(cell.experiment.name(), &cell.case(), None));
    cells
}

fn name(cell: &Cell) -> String {
    format!("{} {}", cell.experiment.name(), cell.case())
}

/// Returns the plan of a session, with an upper bound of its duration.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options) -> Plan {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    let peers = bench.engines().iter().filter(|(_, name)| definition.wants_peer(name)).count() as f64;
    let mut plan = Plan::default();
    for cell in wanted(bench, definition, options) {
        // With computation, each sample is followed by the same computation alone.
        let parts = if cell.work.units > 0 { 2.0 } else { 1.0 };
        let each = parts * definition.seconds_per_sample_max + AROUND_SAMPLE;
        let slices = if cell.work.ranks > bench.cores { peers * TIME_SLICES } else { 0.0 };
        plan.add(name(&cell), rounds * ((2.0 * OURS.len() as f64 + peers) * each + slices));
    }
    plan
}

/// Measures every requested cell.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong.
pub fn run(bench: &mut Bench, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    for cell in wanted(bench, definition, options) {
        if bench.is_over() {
            break;
        }
        bench.progress(&name(&cell));
        measure(bench, definition, cell, rounds)?;
    }
    Ok(())
}

fn measure(bench: &mut Bench, definition: &Definition, cell: Cell, rounds: usize) -> Result<()> {
    let mut sides = Vec::new();
    let mut workers = vec![1, bench.cores];
    workers.dedup();
    let peers: Vec<_> = bench.engines().into_iter().filter(|(_, name)| definition.wants_peer(name)).collect();
    for workers in workers {
        let work = Work { workers, ..cell.work };
        sides.extend(OURS.map(|(name, kind)| Side { name: name.into(), engine: Engine::Ours(kind), work }));
        sides.extend(peers.iter().map(|(engine, name)| Side {
            name: name.clone(),
            engine: Engine::Peer(*engine),
            work,
        }));
    }
    let limits = Limits { stages: definition.stages, seconds: definition.seconds_per_sample_max };
    for TakenOf { side, stages, samples } in overheads_us(bench, limits, rounds, sides)? {
        let unit = if cell.work.units == 0 { "us a stage" } else { "us a stage over the computation" };
        let figure = |experiment: &str, unit: &str, samples: &Samples| {
            Figure::new(experiment, &cell.case(), &side.name, unit, samples, bench.unit_ns)
                .with_workers(side.work.workers)
                .with_stages(stages)
        };
        let time = figure(cell.experiment.name(), unit, &samples);
        let rates =
            cell.experiment.rate().map(|rate| figure(rate, "GB/s", &samples.map(|us| cell.gigabytes_a_second(us))));
        bench.add(time);
        rates.into_iter().for_each(|rate| bench.add(rate));
    }
    Ok(())
}

impl Side {
    fn seconds_of(&self, bench: &mut Bench, work: &Work) -> Result<Option<f64>> {
        match self.engine {
            Engine::Ours(kind) => in_process::run(kind, work).map(Some),
            Engine::Peer(PeerEngine { peer, engine }) => bench.peers[peer].seconds(&work.request(engine)),
        }
    }
}

impl stages::Side for Side {
    fn seconds(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>> {
        self.seconds_of(bench, &Work { stages, ..self.work })
    }

    fn computation(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>> {
        if self.work.units == 0 {
            return Ok(Some(0.0));
        }
        let (alone, times) = Work { stages, ..self.work }.computation(bench.cores);
        let seconds = self.seconds_of(bench, &alone)?;
        Ok(seconds.map(|seconds| times * seconds))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::ranks::{LAB, definition};

    fn bench() -> Bench {
        Bench::start(&LAB, Path::new("no such folder"), Box::new(|| false)).unwrap()
    }

    fn options(only: &str) -> Options {
        Options { only: Some(only.into()), rounds: Some(1), ..Options::default() }
    }

    #[test]
    fn ours_alone_is_measured_on_one_worker_and_on_one_a_core() {
        let mut bench = bench();
        let definition = Definition { stages: 40, ..definition::file().full };
        run(&mut bench, &definition, &options("arrays exchange, P = 2, 1000 doubles")).unwrap();
        let of = |experiment: &str, engine: &str| {
            let is_it = |figure: &&Figure| figure.experiment == experiment && figure.engine == engine;
            bench.figures.iter().filter(is_it).count()
        };
        let forms = if bench.cores == 1 { 1 } else { 2 };
        for engine in ["lehr threads", "lehr ports"] {
            assert_eq!((of("arrays", engine), of("arrays rate", engine)), (forms, forms), "{engine}");
        }
    }

    #[test]
    fn a_plan_has_the_cells_that_are_asked_for() {
        let (bench, full) = (bench(), definition::file().full);
        assert_eq!(plan(&bench, &full, &Options::default()).len(), full.cells().len());
        assert_eq!(plan(&bench, &full, &options("collectives barrier, P = 2")).len(), 2);
        assert!(plan(&bench, &full, &options("gather")).is_empty());
    }
}
