//! `bench runs`: whole runs, ours beside scikit-learn's and faiss's k-means, judged by one sum of squares.
//!
//! The question is what a user waits for: how long until a result within 0.1 % of the best known? A method that reaches it in a share s of its seeds
//! needs 1/s runs, so the expected time is all its seconds over its hits; a method that never reached it has no such time. Each seed is a round in which
//! all engines take their turn on the same points.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_data::Points;
use serde_json::{Value, json};

use super::quality::ours;
use crate::arguments::Arguments;
use crate::compare::excess_percent;
use crate::definition::{self, BestKnown, VectorSets};
use crate::inputs;
use crate::machine::{Machine, available_threads};
use crate::measure::{Spread, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};
use crate::score::sum_of_squares;

const WIDTHS: [usize; 5] = [34, 26, 22, 12, 18];

/// A peer's k-means with a number of restarts.
struct Peer {
    name: &'static str,
    script: &'static str,
    restarts: &'static [usize],
}

const PEERS: [Peer; 2] = [
    Peer { name: "scikit-learn", script: "lab/runners/sklearn/runner.py", restarts: &[1, 10] },
    Peer { name: "faiss", script: "lab/runners/faiss/runner.py", restarts: &[1, 10] },
];

/// What one engine did on one set over the seeds.
#[derive(Default)]
struct Series {
    seconds: Vec<f64>,
    excess: Vec<f64>,
}

/// Runs every set of `mining/vector.json` that is here, with every engine.
///
/// # Errors
/// Peers that are not installed, a runner that fails, a set that cannot be read.
pub fn run(arguments: &Arguments) -> Result<()> {
    let sets: VectorSets = definition::read("mining/vector.json")?;
    let best_known: BestKnown = definition::read("mining/best_known.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs scikit-learn and faiss, or --peers names a Python that has them",
        arguments.peers.display()
    );
    let seeds = arguments.rounds.unwrap_or(3);
    let threads = arguments.threads.unwrap_or_else(available_threads);
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "runs");
    output::line(&format!(
        "Whole runs on {threads} threads, {seeds} seeds in turns; excess of the sum of squares over the best known"
    ));
    output::line(&machine.line());
    let heads = ["engine", "seconds min/med/max", "excess min/med/max, %", "within 0.1 %", "seconds to within"];
    for set in sets.sets.iter().filter(|set| (arguments.all || set.tier != "all") && arguments.wants(&set.name)) {
        let Some(path) = inputs::find(set, arguments.data.as_deref()) else {
            output::note(&format!("{} is not here (LEHR_DATA or --data)", set.name));
            continue;
        };
        let points = inputs::load(set, &path)?;
        let table = inputs::write_table("table.bin", &points)?;
        let mut runners = start_peers(arguments, &table, &mut record)?;
        for &clusters in &set.clusters {
            let best =
                best_known.get(&set.name, clusters).with_context(|| format!("no best known value of {}", set.name))?;
            let series = all_engines(&points, clusters, best, seeds, threads, &mut runners)?;
            output::line(&format!("\n{}, {} rows, K = {clusters}, best known {best:.8e}", set.name, points.len()));
            output::row(&WIDTHS, &heads.map(String::from));
            for (engine, series) in &series {
                report(&format!("{} K={clusters}", set.name), engine, series, 100.0 * sets.tolerance, &mut record);
            }
        }
    }
    output::line(&format!("\nrecord: {}", record.write(&machine)?.display()));
    Ok(())
}

fn start_peers(arguments: &Arguments, table: &Path, record: &mut Record) -> Result<Vec<(&'static Peer, Runner)>> {
    let mut started = Vec::new();
    for peer in &PEERS {
        let mut runner = Runner::start(peer.name, &arguments.peers, [peer.script])?;
        let answer = runner.ask(&json!({ "table": table }).to_string())?;
        record.versions(&answer["versions"].to_string());
        started.push((peer, runner));
    }
    Ok(started)
}

fn all_engines(
    points: &Points,
    clusters: usize,
    best: f64,
    seeds: usize,
    threads: usize,
    runners: &mut [(&'static Peer, Runner)],
) -> Result<Vec<(String, Series)>> {
    let mut all = vec![("lehr".to_string(), Series::default())];
    for (peer, _) in runners.iter() {
        all.extend(peer.restarts.iter().map(|restarts| {
            (
                format!("{} k-means, {restarts} start{}", peer.name, if *restarts == 1 { "" } else { "s" }),
                Series::default(),
            )
        }));
    }
    for seed in 0..seeds as u64 {
        let (seconds, model) = timed(|| ours(points, clusters, seed, Some(threads)));
        add(&mut all[0].1, points, seconds, &model?.centers, best);
        let mut engine = 1;
        for (peer, runner) in runners.iter_mut() {
            for restarts in peer.restarts {
                let request = json!({ "clusters": clusters, "seed": seed, "restarts": restarts, "threads": threads });
                let answer: Value = runner.ask(&request.to_string())?;
                let centers = numbers(&answer, "centers")?;
                ensure!(
                    centers.len() == clusters * points.dimension(),
                    "{} gave {} numbers as centres",
                    peer.name,
                    centers.len()
                );
                add(&mut all[engine].1, points, number(&answer, "seconds")?, &centers, best);
                engine += 1;
            }
        }
    }
    Ok(all)
}

fn add(series: &mut Series, points: &Points, seconds: f64, centers: &[f64], best: f64) {
    series.seconds.push(seconds);
    series.excess.push(excess_percent(sum_of_squares(points, centers), best));
}

/// Seconds until a result within `tolerance` percent is to be expected; none if no seed got there.
fn seconds_to_within(series: &Series, tolerance: f64) -> Option<f64> {
    let hits = series.excess.iter().filter(|&&percent| percent <= tolerance).count();
    (hits > 0).then(|| series.seconds.iter().sum::<f64>() / hits as f64)
}

fn report(case: &str, engine: &str, series: &Series, tolerance: f64, record: &mut Record) {
    let (time, excess) = (Spread::of(&series.seconds), Spread::of(&series.excess));
    let hits = series.excess.iter().filter(|&&percent| percent <= tolerance).count();
    let count = series.seconds.len();
    let expected = seconds_to_within(series, tolerance);
    let cells = [
        engine.to_string(),
        format!("{:.3} {:.3} {:.3}", time.min, time.median, time.max),
        format!("{:.3} {:.3} {:.3}", excess.min, excess.median, excess.max),
        format!("{hits} of {count}"),
        expected.map_or_else(|| "never".into(), |seconds| format!("{seconds:.3}")),
    ];
    output::row(&WIDTHS, &cells);
    record.add(case, engine, "run", "s", count, time);
    record.add(case, engine, "excess over the best known", "%", count, excess);
    if let Some(seconds) = expected {
        record.add(
            case,
            engine,
            "expected time to within the tolerance",
            "s",
            count,
            Spread { min: seconds, median: seconds, max: seconds },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_expected_time_counts_the_runs_that_missed() {
        let series = Series { seconds: vec![1.0, 2.0, 3.0], excess: vec![0.05, 4.0, 0.0] };
        assert_eq!(seconds_to_within(&series, 0.1), Some(3.0));
        assert_eq!(seconds_to_within(&Series { seconds: vec![1.0], excess: vec![9.0] }, 0.1), None);
    }
}
