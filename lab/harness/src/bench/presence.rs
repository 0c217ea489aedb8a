//! Records the time of a unit of computation on each side, and which peers are absent and why. Both follow the cases in
//! the record.

use anyhow::Result;

use super::Bench;
use super::figure::{Figure, Place, Samples};
use super::peers::NOT_BUILT;
use crate::measure::timed;
use crate::output;
use crate::unit::units;

/// The name of the experiment that measures units.
pub const UNIT: &str = "unit";

/// The name of the experiment for absent peers. Its figures have no runs: the case is the reason, the engine is the
/// peer.
pub const ABSENT: &str = "absent";

/// The number of measurements of our own unit, as many as a runner makes.
const LOOKS: usize = 9;

/// The smallest credible ratio of a peer's unit to ours. A shorter unit no longer consists of 960 dependent steps.
const FOLDED: f64 = 0.5;

/// Adds the unit of every engine that has a figure, in place of the unit of an earlier session. It also adds the absent
/// peers, and keeps those of earlier sessions: a session without peers does not affect the cases in which they took
/// part. It adds nothing if nothing was measured. If a peer's generator gives another value than ours, the peer does
/// different work. Then its figures are removed, and it is absent.
///
/// # Errors
/// Returns an error if a program of Lehr has ended.
pub fn record(bench: &mut Bench) -> Result<()> {
    if bench.figures.is_empty() {
        return Ok(());
    }
    let (experiments, absent): (Vec<Figure>, Vec<Figure>) =
        std::mem::take(&mut bench.figures).into_iter().partition(|figure| figure.experiment != ABSENT);
    let (units_before, cases): (Vec<Figure>, Vec<Figure>) =
        experiments.into_iter().partition(|figure| figure.experiment == UNIT);
    bench.figures = cases;
    let mut samples = Samples::default();
    for _ in 0..LOOKS {
        samples.push(timed(|| units(1, 100)).0 * 1e7, Place::Unknown);
    }
    let mut found = vec![figure("lehr", &samples, bench.unit_ns)];
    let engines = bench.engines();
    for (engine, name) in engines {
        if !bench.figures.iter().any(|figure| figure.engine == name) {
            continue;
        }
        let peer = &mut bench.peers[engine.peer];
        let Some(answer) = peer.ask(&format!("{} unit", engine.engine))? else { continue };
        if answer["value"].as_u64() != Some(units(7, 1)) {
            peer.leave_out(format!("its unit of computation is another: {answer}"));
            let names = peer.engines.clone();
            bench.figures.retain(|figure| !names.contains(&figure.engine));
            found.retain(|figure| !names.contains(&figure.engine));
            continue;
        }
        let Some(ns) = answer["ns"].as_f64() else { continue };
        if ns < FOLDED * bench.unit_ns {
            output::note(&format!(
                "{name}: a unit of computation lasts {ns:.0} ns there and {:.0} ns here",
                bench.unit_ns
            ));
        }
        let mut samples = Samples::default();
        samples.push(ns, Place::Unknown);
        found.push(figure(&name, &samples, bench.unit_ns));
    }
    let is_anew = |before: &Figure| found.iter().any(|unit| unit.engine == before.engine);
    let has_a_case = |before: &Figure| bench.figures.iter().any(|figure| figure.engine == before.engine);
    let kept: Vec<Figure> = units_before.into_iter().filter(|before| !is_anew(before) && has_a_case(before)).collect();
    bench.figures.extend(kept);
    bench.figures.extend(found);
    let is_there_now = |before: &Figure| {
        before.case.starts_with(NOT_BUILT)
            && bench.peers.iter().any(|peer| peer.name() == before.engine && !peer.engines.is_empty())
    };
    bench.figures.extend(absent.into_iter().filter(|before| !is_there_now(before)));
    for peer in &bench.peers {
        // A peer that took part before is not absent from those cases, even if it is not built now.
        let took_part_before = peer.engines.is_empty() && bench.took_part_before(&peer.name());
        for why in peer.absent.iter().filter(|_| !took_part_before) {
            let is_known =
                |figure: &Figure| figure.experiment == ABSENT && figure.case == *why && figure.engine == peer.name();
            if bench.figures.iter().any(is_known) {
                continue;
            }
            bench.figures.push(Figure {
                experiment: ABSENT.into(),
                case: why.clone(),
                engine: peer.name(),
                unit: "runs".into(),
                min: 0.0,
                median: 0.0,
                max: 0.0,
                runs: 0,
                workers: None,
                stages: None,
                unit_ns: bench.unit_ns,
                near: None,
                far: None,
                values: Vec::new(),
            });
        }
    }
    Ok(())
}

fn figure(engine: &str, samples: &Samples, unit_ns: f64) -> Figure {
    Figure::new(UNIT, "960 steps of the generator", engine, "ns", samples, unit_ns)
}
