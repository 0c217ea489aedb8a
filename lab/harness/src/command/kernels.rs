//! `bench kernels`: one fused E+M step for each point and centre, Lehr in process against C loops that are compiled for
//! the measurement.
//!
//! The loops (`lab/runners/c`) do the arithmetic of one step in the layout that suits them best, with a polynomial
//! exponential, compiled by `cc -O3 -march=native -ffast-math`. This is the speed that a careful programmer would reach
//! for this machine alone. Lehr's side is the kernel that users run, in leaves whose size depends on the rows, with
//! instructions chosen at run time. Threads take equal shares and do not synchronise; `bench overhead` measures the
//! cost of synchronising. Rows of bits (`bits`) and sparse rows (`sparse`) are compared with the same rows as numbers.

mod bits;
mod sparse;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use lehr_data::Points;
use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::lanes::Real;
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;
use lehr_ranks::Partition;

use crate::arguments::MeasurementArguments;
use crate::compare::{ratios, verdict};
use crate::definition::{self, Kernels};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

/// The approximate length of a turn, so that the time of reading the clock and starting threads does not matter.
const TURN_SECONDS: f64 = 0.04;
const WIDTHS: [usize; 6] = [30, 20, 20, 20, 16, 12];

/// Measures every case of `mining/kernels.json`.
///
/// # Errors
/// Returns an error if there is no C compiler, an answer of either side is wrong, or a file cannot be written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let definition: Kernels = definition::read("mining/kernels.json")?;
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "kernels");
    let floor = compile()?;
    let rounds = arguments.rounds.unwrap_or(15);
    output::line(&format!("E+M step, ns per point and centre, min / median / max of {rounds} rounds in turns"));
    output::line(&format!("{}; ours with {:?}", machine.line(), lehr_numerics::dispatch::instruction_set()));
    let heads = ["case", "lehr", "C loop", "ratio by round", "aim", "error"];
    output::row(&WIDTHS, &heads.map(String::from));
    for case in &definition.cases {
        for &clusters in &case.clusters {
            if !arguments.wants(&format!("{}-D K={clusters}", case.dimension)) {
                continue;
            }
            let problem = Problem::new(case.rows, case.dimension, clusters, case.temperature)?;
            let mut runner = Runner::start("C floor", &floor, [problem.write()?])?;
            for precision in &definition.precisions {
                let tolerance = definition.tolerance[precision];
                for &threads in &definition.threads {
                    let measured = match precision.as_str() {
                        "f32" => compare::<f32>(&problem, &mut runner, precision, threads, rounds, tolerance)?,
                        "f64" => compare::<f64>(&problem, &mut runner, precision, threads, rounds, tolerance)?,
                        other => bail!("mining/kernels.json: unknown precision {other:?}"),
                    };
                    let name = format!(
                        "{}-D {precision} K={clusters}, {threads} thread{}",
                        case.dimension,
                        if threads == 1 { "" } else { "s" }
                    );
                    let Measured { ours, floor, error } = measured;
                    report(&name, ["lehr", "c"], [&ours, &floor], (error, definition.aim), &mut record);
                }
            }
        }
    }
    bits::run(arguments, &definition, rounds, &mut record)?;
    sparse::run(arguments, &definition, rounds, &mut record)?;
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// The nanoseconds for each point and centre of both sides, round by round, and the larger of their errors.
struct Measured {
    ours: Vec<f64>,
    floor: Vec<f64>,
    error: f64,
}

/// Prints a line and records it: the times of two engines round by round, their ratios, and the larger of their errors.
fn report(name: &str, engines: [&str; 2], [first, second]: [&[f64]; 2], (error, aim): (f64, f64), record: &mut Record) {
    let ratio = ratios(first, second);
    let (count, times) = (first.len(), [first, second].map(Spread::of));
    let shown = |spread: Spread| {
        let places = if spread.max < 10.0 { 3 } else { 1 };
        format!("{:.places$} {:.places$} {:.places$}", spread.min, spread.median, spread.max)
    };
    let cells = [
        name.to_string(),
        shown(times[0]),
        shown(times[1]),
        format!("{:.3} {:.3} {:.3}", ratio.min, ratio.median, ratio.max),
        verdict(ratio.median, aim),
        format!("{error:.1e}"),
    ];
    output::row(&WIDTHS, &cells);
    for (engine, time) in engines.iter().zip(times) {
        record.add(name, engine, "time per point and centre", "ns", count, time);
    }
    record.add(name, &engines.join("/"), "ratio", "1", count, ratio);
}

/// Compiles the floors with this machine's compiler and has them check their exponentials.
fn compile() -> Result<PathBuf> {
    let target = Path::new("target/lab/floor").to_path_buf();
    std::fs::create_dir_all("target/lab").context("cannot make target/lab")?;
    let status = Command::new("cc")
        .args(["-O3", "-march=native", "-ffast-math", "-Wall", "-o"])
        .arg(&target)
        .args(["lab/runners/c/floor.c", "-lm", "-lpthread"])
        .status()
        .context("cannot start cc: a C compiler is needed for the floors")?;
    ensure!(status.success(), "cc did not compile lab/runners/c/floor.c");
    let check = Command::new(&target).arg("check").output().context("cannot start the compiled floor")?;
    ensure!(
        check.status.success(),
        "the floors' exponentials are off: {}",
        String::from_utf8_lossy(&check.stdout).trim()
    );
    Ok(target)
}

/// The problem of a case: points about the origin, centres near the true ones, a temperature. It is the same for both
/// sides, and has the right answer in f64 from a plain loop.
struct Problem {
    points: Points,
    centers: Vec<f64>,
    clusters: usize,
    temperature: f64,
    answer: Answer,
}

/// The result of one step: the free energy, and the mass and first moment of each centre.
struct Answer {
    free_energy: f64,
    sums: Vec<f64>,
}

impl Problem {
    fn new(rows: usize, dimension: usize, clusters: usize, temperature: f64) -> Result<Self> {
        let (raw, mut centers) = inputs::mixture(rows, dimension, clusters, 0.1)?;
        let centred = raw.values().iter().map(|value| value - 0.5).collect();
        let weights = (0..rows).map(|i| raw.weight(i)).collect();
        let points = Points::new(centred, dimension)?.with_weights(weights)?;
        centers.iter_mut().for_each(|value| *value -= 0.5);
        let answer = plain_step(&points, &centers, clusters, temperature);
        Ok(Self { points, centers, clusters, temperature, answer })
    }

    fn log_share(&self) -> f64 {
        -ln(self.clusters as f64)
    }

    /// Writes the problem in the format that `floor.c` describes.
    fn write(&self) -> Result<PathBuf> {
        let (rows, dimension) = (self.points.len(), self.points.dimension());
        let head = [rows as f64, dimension as f64, self.clusters as f64, self.temperature];
        let shares = vec![self.log_share(); self.clusters];
        let weights = self.points.weights().unwrap_or_default();
        inputs::write_numbers("problem.bin", &[&head, self.points.values(), weights, &self.centers, &shares])
    }

    /// Returns the largest error of `answer`, relative to the largest number of its kind.
    fn error(&self, answer: &Answer) -> f64 {
        let width = 1 + self.points.dimension();
        let mut worst = (answer.free_energy / self.answer.free_energy - 1.0).abs();
        for column in 0..width {
            let of = |sums: &[f64]| sums.iter().skip(column).step_by(width).copied().collect::<Vec<_>>();
            let (right, found) = (of(&self.answer.sums), of(&answer.sums));
            let largest = right.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            for (right, found) in right.iter().zip(&found) {
                worst = worst.max((right - found).abs() / largest);
            }
        }
        worst
    }
}

/// Computes the step from its equations, row by row.
fn plain_step(points: &Points, centers: &[f64], clusters: usize, temperature: f64) -> Answer {
    let dimension = points.dimension();
    let log_share = -ln(clusters as f64);
    let mut answer = Answer { free_energy: 0.0, sums: vec![0.0; clusters * (1 + dimension)] };
    let mut terms = vec![0.0; clusters];
    for i in 0..points.len() {
        let row = points.row(i);
        for (term, center) in terms.iter_mut().zip(centers.chunks_exact(dimension)) {
            let distance: f64 = row.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum();
            *term = log_share - distance / temperature;
        }
        let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let z: f64 = terms.iter().map(|term| exp(term - most)).sum();
        answer.free_energy -= temperature * points.weight(i) * (most + ln(z));
        for (term, sums) in terms.iter().zip(answer.sums.chunks_exact_mut(1 + dimension)) {
            let member = points.weight(i) * exp(term - most) / z;
            sums[0] += member;
            for (sum, x) in sums[1..].iter_mut().zip(row) {
                *sum += member * x;
            }
        }
    }
    answer
}

fn compare<T: Real>(
    problem: &Problem,
    runner: &mut Runner,
    precision: &str,
    threads: usize,
    rounds: usize,
    tolerance: f64,
) -> Result<Measured> {
    let rows = problem.points.len();
    let leaves = leaves::<T>(&problem.points);
    let mut centers = SoftCenters::<T>::default();
    centers.begin(problem.points.dimension(), problem.temperature);
    for center in problem.centers.chunks_exact(problem.points.dimension()) {
        centers.push(center, problem.log_share());
    }
    let (once, first) = our_steps(&leaves, &centers, threads, 1);
    let steps = ((TURN_SECONDS / once) as usize).clamp(1, 1000);
    let mut error = problem.error(&first);
    ensure!(
        error <= tolerance,
        "our step is wrong by {error:.1e} (K={}, {precision}): no measurement",
        problem.clusters
    );

    let floor_answer = runner.ask(&format!("{precision} {threads} 1"))?;
    // The loop omits the part of the exponent that all centres share.
    let squares: f64 =
        (0..rows).map(|i| problem.points.weight(i) * problem.points.row(i).iter().map(|x| x * x).sum::<f64>()).sum();
    let free_energy = squares - problem.temperature * number(&floor_answer, "free_energy")?;
    let floor_error = problem.error(&Answer { free_energy, sums: numbers(&floor_answer, "sums")? });
    ensure!(
        floor_error <= tolerance,
        "the C loop is wrong by {floor_error:.1e} (K={}, {precision}): no measurement",
        problem.clusters
    );
    error = error.max(floor_error);

    let request = format!("{precision} {threads} {steps}");
    let mut sides: Vec<Side<'_>> = vec![
        Box::new(|| Ok(our_steps(&leaves, &centers, threads, steps).0)),
        Box::new(|| number(&runner.ask(&request)?, "seconds")),
    ];
    let seconds = take_turns(rounds, &mut sides)?;
    drop(sides);
    let per = 1e9 / (steps as f64 * rows as f64 * problem.clusters as f64);
    let scaled = |seconds: &[f64]| seconds.iter().map(|second| second * per).collect();
    Ok(Measured { ours: scaled(&seconds[0]), floor: scaled(&seconds[1]), error })
}

/// Divides the points into the leaves that a run of the product makes.
fn leaves<T: Real>(points: &Points) -> Vec<Tiles<T>> {
    let partition = Partition::new(points.len(), 1);
    let origin = vec![0.0; points.dimension()];
    (0..partition.leaves())
        .map(|leaf| {
            let rows = partition.leaf_rows(leaf);
            let first = rows.start;
            Tiles::new(rows.len(), points.dimension(), &origin, |i| points.row(first + i), |i| points.weight(first + i))
        })
        .collect()
}

/// Returns the seconds of `steps` steps over all leaves, shared between `threads`, and the last step's answer.
fn our_steps<T: Real>(leaves: &[Tiles<T>], centers: &SoftCenters<T>, threads: usize, steps: usize) -> (f64, Answer) {
    let width = centers.len() * Sums::First.len(leaves[0].dimension());
    let work = |share: &[Tiles<T>]| {
        let mut scratch = SoftScratch::default();
        let mut answer = Answer { free_energy: 0.0, sums: vec![0.0; width] };
        for _ in 0..steps {
            answer.free_energy = 0.0;
            answer.sums.fill(0.0);
            for leaf in share {
                answer.free_energy += soft_sums(leaf, centers, Sums::First, &mut scratch, &mut answer.sums).free_energy;
            }
        }
        answer
    };
    let share = leaves.len().div_ceil(threads);
    timed(|| {
        std::thread::scope(|scope| {
            let mut shares = leaves.chunks(share);
            let mine = shares.next().expect("there is a leaf");
            let others: Vec<_> = shares.map(|share| scope.spawn(|| work(share))).collect();
            let mut total = work(mine);
            for other in others {
                let part = other.join().expect("the kernel does not panic");
                total.free_energy += part.free_energy;
                total.sums.iter_mut().zip(&part.sums).for_each(|(sum, more)| *sum += more);
            }
            total
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_gives_the_plain_answer_on_any_number_of_threads() {
        for (dimension, temperature) in [(2, 0.02), (64, 2.0)] {
            let problem = Problem::new(1000, dimension, 7, temperature).unwrap();
            for threads in [1, 2, 3] {
                let mut centers = SoftCenters::<f64>::default();
                centers.begin(dimension, temperature);
                problem.centers.chunks_exact(dimension).for_each(|center| centers.push(center, problem.log_share()));
                let (_, answer) = our_steps(&leaves::<f64>(&problem.points), &centers, threads, 2);
                assert!(
                    problem.error(&answer) < 1e-12,
                    "{dimension}-D on {threads} threads: {}",
                    problem.error(&answer)
                );
            }
        }
    }

    #[test]
    fn a_wrong_answer_has_a_large_error() {
        let problem = Problem::new(100, 2, 3, 0.02).unwrap();
        let mut sums = problem.answer.sums.clone();
        sums[0] *= 1.01;
        assert!(problem.error(&Answer { free_energy: problem.answer.free_energy, sums }) > 1e-3);
    }
}
