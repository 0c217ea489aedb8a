//! Measures the kernel in stages that all ranks begin together. It shows how much the times of ranks fluctuate, on
//! threads and in processes (000 figures 6 to 8, 004 figures 4 and 5). It also shows the time for each point and centre
//! as ranks are added, at a fixed number of rows of each rank (000 figures 3 to 5, 004 figure 3).

use anyhow::{Result, bail};
use lehr_ranks::{Engine, Layout};

use super::definition::Definition;
use super::figure::Figure;
use super::fluctuation::{deviation_over_mean, median, range_over_mean};
use super::launch::Starter;
use super::task::{Answer, Task};
use super::turns::Side;

/// The standard deviation of all samples, divided by their mean.
pub const DEVIATION: &str = "deviation over mean";
/// The range over the ranks of a stage divided by their mean, averaged over stages.
pub const RANGE: &str = "range over mean";
/// The kernel's time for each point and centre.
pub const KERNEL: &str = "kernel";

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
    let mut taken = vec![Taken::default(); layouts.len()];
    for round in 0..rounds {
        for turn in 0..layouts.len() {
            let place = (turn + round) % layouts.len();
            if stop() {
                return Ok(None);
            }
            let task = Task::Stages {
                rows: case.rows,
                dimension: definition.dimension,
                clusters: case.clusters,
                threads: layouts[place].threads,
                stages: definition.stages,
                seconds_max: definition.stage_seconds_max / rounds as f64,
            };
            match starter.run(layouts[place], &task) {
                Err(_) if stop() => return Ok(None),
                Ok(Answer::Stages { seconds }) => taken[place].add(&seconds, case),
                Ok(_) => bail!("{} answered something else", layouts[place]),
                Err(error) => return Err(error),
            }
        }
    }
    let each = layouts.iter().zip(&taken).flat_map(|(layout, taken)| taken.figures(case, *layout));
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

    fn figures(&self, case: Staged, layout: Layout) -> Vec<Figure> {
        let of = |experiment: &str, unit: &str, samples: &[f64]| {
            let note = format!("{} samples a round", self.samples);
            let figure = Figure::new(experiment, &case.name(), &layout.to_string(), unit, samples.to_vec());
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
    fn figures_are_a_value_a_round() {
        let case = Staged { rows: 100, clusters: 10 };
        let mut taken = Taken::default();
        taken.add(&[vec![1e-6, 3e-6], vec![3e-6, 5e-6]], case);
        taken.add(&[vec![2e-6; 2], vec![2e-6; 2]], case);
        let figures = taken.figures(case, Layout::threads(2));
        let of = |experiment: &str| figures.iter().find(|figure| figure.experiment == experiment).unwrap();
        assert!((of(DEVIATION).samples[0] - 2f64.sqrt() / 3.0).abs() < 1e-12 && of(DEVIATION).samples[1] == 0.0);
        assert!((of(RANGE).max - 0.75).abs() < 1e-12);
        // The kernel takes 3 µs and 2 µs for a thousand points and centres.
        assert!((of(KERNEL).max - 3.0).abs() < 1e-12 && (of(KERNEL).min - 2.0).abs() < 1e-12);
        assert_eq!(of(KERNEL).note.as_deref(), Some("4 samples a round"));
        assert_eq!(taken.figures(case, Layout::threads(1)).len(), 2);
    }
}
