//! Measures the kernel in stages that all ranks begin together. It shows how much the times of ranks fluctuate, on
//! threads and in processes (000 figures 6 to 8, 004 figures 4 and 5). It also shows the time for each point and centre
//! as ranks are added, at a fixed number of rows of each rank (000 figures 3 to 5, 004 figure 3).
//!
//! Beside Lehr is a C program with a kernel of its own, whose threads or processes meet at a lock, as in the papers.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use lehr_ranks::{Engine, Layout};

use super::definition::Definition;
use super::figure::Figure;
use super::fluctuation::{deviation_over_mean, median, range_over_mean};
use super::launch::{Starter, printed};
use super::task::{Answer, Task};
use super::turns::Side;

/// The standard deviation of all samples, divided by their mean.
pub const DEVIATION: &str = "deviation over mean";
/// The range over the ranks of a stage divided by their mean, averaged over stages.
pub const RANGE: &str = "range over mean";
/// The kernel's time for each point and centre.
pub const KERNEL: &str = "kernel";

/// The program of the sides in C, which `make peers-overhead` compiles.
pub const PROGRAM: &str = "target/peers/overhead/kernel_stages";

/// A way to run the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Lehr's ranks in this layout.
    Lehr(Layout),
    /// The threads, or the processes, of a C program.
    C {
        /// The path of the program.
        program: PathBuf,
        /// The layout: only threads, or only processes.
        layout: Layout,
    },
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lehr(layout) => layout.fmt(formatter),
            Self::C { layout, .. } => write!(formatter, "C, {layout}"),
        }
    }
}

/// Returns the ways of these layouts: Lehr's ranks and, if the program is there, C's threads and processes.
pub fn ways(layouts: &[Layout], program: &Path) -> Vec<Way> {
    let in_c = |layout: &&Layout| layout.nodes == 1 && (layout.threads == 1 || layout.processes == 1);
    let in_c = layouts.iter().filter(in_c).map(|&layout| Way::C { program: program.to_owned(), layout });
    let ours = layouts.iter().map(|&layout| Way::Lehr(layout));
    if program.exists() { ours.chain(in_c).collect() } else { ours.collect() }
}

impl Way {
    fn layout(&self) -> Layout {
        match self {
            Self::Lehr(layout) | Self::C { layout, .. } => *layout,
        }
    }

    /// Returns the seconds of the stages, as a list for each rank.
    fn seconds(&self, case: Staged, limits: Limits, starter: &Starter) -> Result<Vec<Vec<f64>>> {
        let Staged { rows, clusters } = case;
        match self {
            Self::Lehr(layout) => {
                let Limits { dimension, stages, seconds_max } = limits;
                let task = Task::Stages { rows, dimension, clusters, threads: layout.threads, stages, seconds_max };
                match starter.run(*layout, &task)? {
                    Answer::Stages { seconds } => Ok(seconds),
                    _ => bail!("{layout} answered something else"),
                }
            }
            Self::C { program, layout } => {
                let kind = if layout.processes > 1 { "processes" } else { "threads" };
                let numbers = [layout.ranks(), rows, clusters, limits.stages].map(|number| number.to_string());
                let words = [&[kind.to_owned()], &numbers[..], &[limits.seconds_max.to_string()]].concat();
                read(&printed(program, &words)?, layout.ranks())
                    .with_context(|| format!("{} wrote something else", program.display()))
            }
        }
    }
}

/// Reads the answer of the C program: a line for each rank, with a time for each stage.
fn read(text: &str, ranks: usize) -> Result<Vec<Vec<f64>>> {
    let line = |line: &str| line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
    let seconds = text.lines().map(line).collect::<Result<Vec<_>, _>>()?;
    let stages = seconds.first().map_or(0, Vec::len);
    ensure!(seconds.len() == ranks && stages > 0, "{} lines of {stages} times", seconds.len());
    ensure!(seconds.iter().all(|rank| rank.len() == stages), "ranks with different numbers of stages");
    ensure!(seconds.iter().flatten().all(|&seconds| seconds > 0.0), "a time that is not above 0");
    Ok(seconds)
}

/// The limits of the stages of a job.
#[derive(Clone, Copy, Debug)]
struct Limits {
    dimension: usize,
    stages: usize,
    seconds_max: f64,
}

/// A size of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The number of rows of each rank.
    pub rows: usize,
    /// The number of centres.
    pub clusters: usize,
}

impl Staged {
    /// Returns the name of the case in records.
    pub fn name(self) -> String {
        format!("stages, n = {}, K = {}", self.rows, self.clusters)
    }
}

/// Returns every combination of a number of rows and a number of centres.
pub fn cases(definition: &Definition) -> Vec<Staged> {
    let of = |&clusters: &usize| definition.stage_rows.iter().map(move |&rows| Staged { rows, clusters });
    definition.stage_clusters.iter().flat_map(of).collect()
}

/// Measures a case in the layouts of `sides`. Returns `None` if `stop` asked to end.
///
/// # Errors
/// Returns an error if a job fails.
pub fn measure(
    case: Staged,
    definition: &Definition,
    rounds: usize,
    sides: &[Side],
    starter: &Starter,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Figure>>> {
    let layouts: Vec<Layout> =
        sides.iter().filter(|side| side.engine == Engine::Ranks).map(|side| side.layout).collect();
    let ways = ways(&layouts, Path::new(PROGRAM));
    let stages = definition.stages;
    let limits =
        Limits { dimension: definition.dimension, stages, seconds_max: definition.stage_seconds_max / rounds as f64 };
    let mut taken = vec![Taken::default(); ways.len()];
    for round in 0..rounds {
        for turn in 0..ways.len() {
            let place = (turn + round) % ways.len();
            if stop() {
                return Ok(None);
            }
            match ways[place].seconds(case, limits, starter) {
                Err(_) if stop() => return Ok(None),
                seconds => taken[place].add(&seconds?, case),
            }
        }
    }
    let each = ways.iter().zip(&taken).flat_map(|(way, taken)| taken.figures(case, way));
    Ok(Some(each.collect()))
}

/// The answers of the jobs of one layout, a value for each round.
#[derive(Clone, Debug, Default)]
struct Taken {
    deviations: Vec<f64>,
    ranges: Vec<f64>,
    nanoseconds: Vec<f64>,
    samples: usize,
}

impl Taken {
    fn add(&mut self, seconds: &[Vec<f64>], case: Staged) {
        self.deviations.push(deviation_over_mean(seconds));
        self.ranges.push(range_over_mean(seconds));
        self.nanoseconds.push(median(seconds) * 1e9 / (case.rows * case.clusters) as f64);
        self.samples = seconds.iter().map(Vec::len).sum();
    }

    fn figures(&self, case: Staged, way: &Way) -> Vec<Figure> {
        let layout = way.layout();
        let of = |experiment: &str, unit: &str, samples: &[f64]| {
            let note = format!("{} samples a round", self.samples);
            let figure = Figure::new(experiment, &case.name(), &way.to_string(), unit, samples.to_vec());
            Figure { note: Some(note), ..figure.of(case.rows * layout.ranks(), case.clusters, layout) }
        };
        let mut figures =
            vec![of(DEVIATION, "1", &self.deviations), of(KERNEL, "ns a point and centre", &self.nanoseconds)];
        // A single rank has no range.
        if layout.ranks() > 1 {
            figures.push(of(RANGE, "1", &self.ranges));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_has_threads_and_processes_and_no_mixture_of_them() {
        let layouts = ["1x1x1", "2x1x1", "1x2x1", "2x2x1", "1x1x2"].map(|text| text.parse::<Layout>().unwrap());
        let names = |program: &str| ways(&layouts, Path::new(program)).iter().map(Way::to_string).collect::<Vec<_>>();
        assert_eq!(names("/no/such/program"), ["1x1x1", "2x1x1", "1x2x1", "2x2x1", "1x1x2"]);
        assert_eq!(names("/")[5..], ["C, 1x1x1", "C, 2x1x1", "C, 1x2x1"]);
    }

    #[test]
    fn the_answer_of_the_c_program_has_a_line_for_each_rank() {
        assert_eq!(read("0.5 0.25\n1 2\n", 2).unwrap(), [[0.5, 0.25], [1.0, 2.0]]);
        for wrong in ["", "0.5\n", "0.5 1\n1\n", "0.5\nx\n", "0 1\n1 1\n"] {
            assert!(read(wrong, 2).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn figures_are_a_value_a_round() {
        let case = Staged { rows: 100, clusters: 10 };
        let mut taken = Taken::default();
        taken.add(&[vec![1e-6, 3e-6], vec![3e-6, 5e-6]], case);
        taken.add(&[vec![2e-6; 2], vec![2e-6; 2]], case);
        let figures = taken.figures(case, &Way::Lehr(Layout::threads(2)));
        let of = |experiment: &str| figures.iter().find(|figure| figure.experiment == experiment).unwrap();
        assert!((of(DEVIATION).samples[0] - 2f64.sqrt() / 3.0).abs() < 1e-12 && of(DEVIATION).samples[1] == 0.0);
        assert!((of(RANGE).max - 0.75).abs() < 1e-12);
        // The kernel takes 3 µs and 2 µs for a thousand points and centres.
        assert!((of(KERNEL).max - 3.0).abs() < 1e-12 && (of(KERNEL).min - 2.0).abs() < 1e-12);
        assert_eq!(of(KERNEL).note.as_deref(), Some("4 samples a round"));
        assert_eq!(taken.figures(case, &Way::Lehr(Layout::threads(1))).len(), 2);
    }
}
