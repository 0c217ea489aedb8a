//! Seconds of multidimensional scaling, its efficiency, and ports against the loop: 003 section 5.2, figures 15 to 20.
//!
//! The dissimilarities of a set are computed once and written to a file that every job reads. Each side makes the same
//! map of them, from the same random positions and with the same maximum number of iterations. The longer steps of the
//! method are off, because 003 has none. The sides are ranks, a parallel loop and ports on threads, and ranks in
//! processes.

use std::path::Path;

use anyhow::{Result, bail, ensure};
use lehr_data::dissimilarities::{Dissimilarities, Element, Form};
use lehr_data::write::{AtomicFile, dissimilarities};
use lehr_ranks::{Engine, Layout};

use super::definition::Definition;
use super::figure::Figure;
use super::launch::Starter;
use super::task::{Answer, Scaling, Task};
use super::turns::Side;
use crate::definition::MapSet;
use crate::measure::Spread;

/// The names of the three experiments in records. The first is the seconds (003 figures 15, 17 and 19), the second the
/// efficiency. The third is the time of ports divided by that of the loop on as many threads. The efficiency is p_ref
/// T(p_ref) / (p T(p)) with one thread of the same engine as p_ref (figures 16, 18 and 20).
pub const SECONDS: &str = "scaling";
/// The experiment of efficiencies; see [`SECONDS`].
pub const EFFICIENCY: &str = "efficiency of scaling";
/// The experiment that compares ports with the loop; see [`SECONDS`].
pub const PORTS: &str = "ports over loop";

/// Returns the name of a set's case in records.
pub fn name(set: &MapSet) -> String {
    format!("scaling, {}", set.name)
}

/// Returns the sides: each engine on one thread and on as many as the machine has cores for, and ranks in processes if
/// they can be started.
pub fn sides(definition: &Definition, cores: usize, starter: &Starter) -> Vec<Side> {
    let one = std::iter::once(Layout::threads(1));
    let layouts: Vec<Layout> = one.chain(definition.layouts.iter().copied()).collect();
    let mut sides = Vec::new();
    for engine in [Engine::Ranks, Engine::Loop, Engine::Ports] {
        let fits = |layout: &&Layout| {
            let is_one_process = layout.processes * layout.nodes == 1;
            layout.ranks() <= cores && starter.can_start(**layout) && (is_one_process || engine == Engine::Ranks)
        };
        sides.extend(layouts.iter().filter(fits).map(|&layout| Side { engine, layout }));
    }
    sides
}

/// Measures the map of a set's dissimilarities. Returns `None` if `stop` asked to end.
///
/// # Errors
/// Returns an error if a file cannot be written, a job fails, or results are not bit-identical.
pub fn measure(
    (set, matrix): (&MapSet, Dissimilarities),
    definition: &Definition,
    rounds: usize,
    sides: &[Side],
    starter: &Starter,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Figure>>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("matrix.npy");
    let items = matrix.items();
    write(&path, &matrix)?;
    drop(matrix);
    let mut seconds = vec![Vec::with_capacity(rounds); sides.len()];
    let mut expected = None;
    for round in 0..rounds {
        for turn in 0..sides.len() {
            let place = (turn + round) % sides.len();
            let Side { engine, layout } = sides[place];
            if stop() {
                return Ok(None);
            }
            let task = Task::Scale(Scaling {
                matrix: path.clone(),
                dimension: definition.scaling.dimension,
                iterations: definition.scaling.iterations,
                engine: engine.to_string(),
                threads: layout.threads,
                runs: definition.runs,
            });
            let answer = match starter.run(layout, &task) {
                // Ctrl-C ends the job too.
                Err(_) if stop() => return Ok(None),
                answer => answer?,
            };
            let Answer::Cluster { seconds: taken, bits, iterations, .. } = answer else {
                bail!("{} answered something else", sides[place].name())
            };
            ensure!(
                *expected.get_or_insert((bits, iterations)) == (bits, iterations),
                "{}: {} ends with other bits: no measurement",
                name(set),
                sides[place].name()
            );
            seconds[place].push(Spread::of(&taken).median);
        }
    }
    Ok(Some(figures(&name(set), items, sides, &seconds)))
}

/// Writes a matrix for the processes of jobs.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(super) fn write(path: &Path, matrix: &Dissimilarities) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let row = |i: usize, row: &mut [f64]| {
        for (j, value) in row.iter_mut().enumerate() {
            *value = matrix.get(i, j).unwrap_or(f64::NAN);
        }
    };
    dissimilarities::numbers(&mut file, matrix.items(), Form::Condensed, Element::F32, 1.0, row)?;
    Ok(file.commit()?)
}

/// Computes the figures from the seconds of each side in each round.
fn figures(case: &str, items: usize, sides: &[Side], seconds: &[Vec<f64>]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let of = |engine: Engine, layout: Layout| {
        sides.iter().position(|side| (side.engine, side.layout) == (engine, layout)).map(|place| &seconds[place])
    };
    for (side, taken) in sides.iter().zip(seconds) {
        let mut add = |experiment: &str, unit: &str, samples: Vec<f64>| {
            let figure = Figure::new(experiment, case, &side.name(), unit, samples);
            let layout = Some(side.layout.to_string());
            figures.push(Figure { method: Some("scaling".into()), rows: Some(items), layout, ..figure });
        };
        add(SECONDS, "s", taken.clone());
        let ratios = |over: &[f64], under: &[f64], factor: f64| {
            over.iter().zip(under).map(|(over, under)| over / (factor * under)).collect::<Vec<f64>>()
        };
        if side.layout.ranks() > 1
            && let Some(one) = of(side.engine, Layout::threads(1))
        {
            add(EFFICIENCY, "1", ratios(one, taken, side.layout.ranks() as f64));
        }
        if side.engine == Engine::Ports
            && let Some(by_loop) = of(Engine::Loop, side.layout)
        {
            add(PORTS, "of the loop", ratios(taken, by_loop, 1.0));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dissimilarities::of_set;

    #[test]
    fn efficiencies_are_of_the_same_engine_and_ports_stand_beside_the_loop() {
        let starter = Starter::find("lehr".into(), None).unwrap();
        let definition = super::super::definition::file().full;
        let sides: Vec<Side> = sides(&definition, 2, &starter)
            .into_iter()
            .filter(|side| side.layout.processes * side.layout.nodes == 1)
            .collect();
        let names: Vec<String> = sides.iter().map(|side| side.name()).collect();
        let expected = ["ranks 1x1x1", "ranks 2x1x1", "loop 1x1x1", "loop 2x1x1", "ports 1x1x1", "ports 2x1x1"];
        assert_eq!(names, expected);
        let seconds = [[8.0, 4.0], [5.0, 2.0], [6.0, 6.0], [4.0, 3.0], [9.0, 3.0], [6.0, 3.0]].map(|all| all.to_vec());
        let figures = figures("scaling, x", 10, &sides, &seconds);
        let of = |experiment: &str, engine: &str| {
            let found = figures.iter().find(|figure| figure.experiment == experiment && figure.engine == engine);
            found.map(|figure| figure.samples.clone())
        };
        assert_eq!(of(SECONDS, "loop 2x1x1"), Some(vec![4.0, 3.0]));
        assert_eq!(of(EFFICIENCY, "ranks 2x1x1"), Some(vec![0.8, 1.0]));
        assert_eq!(of(EFFICIENCY, "ports 2x1x1"), Some(vec![0.75, 0.5]));
        assert_eq!(of(EFFICIENCY, "ranks 1x1x1"), None);
        assert_eq!(of(PORTS, "ports 1x1x1"), Some(vec![1.5, 0.5]));
        assert_eq!(of(PORTS, "ports 2x1x1"), Some(vec![1.5, 1.0]));
        assert!(figures.iter().all(|figure| figure.method.as_deref() == Some("scaling") && figure.rows == Some(10)));
    }

    #[test]
    fn the_papers_sets_are_defined_and_their_matrices_are_read_back() {
        let full = super::super::definition::file().full.scaling;
        let sizes: Vec<(Option<usize>, Option<usize>)> = full.sets.iter().map(|set| (set.alu, set.patients)).collect();
        // These are the sizes of 003 section 5.2.
        assert_eq!(sizes, [(Some(3000), None), (Some(4499), None), (None, Some(10_000))]);
        assert_eq!(full.dimension, 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("matrix.npy");
        for set in &super::super::definition::file().quick.scaling.sets {
            let matrix = of_set(set, None).unwrap().unwrap();
            write(&path, &matrix).unwrap();
            let read = lehr_data::read::dissimilarities::matrix(&path).unwrap();
            assert_eq!((read.items(), read.get(1, 0)), (matrix.items(), matrix.get(1, 0)));
        }
    }
}
