//! The turns of a case. Every side is a job that solves the same problem in its own layout and engine, and all results
//! must be bit-identical.

use anyhow::{Result, ensure};
use lehr_ranks::{Engine, Layout};

use super::definition::{Case, Definition, Method};
use super::figure::Figure;
use super::launch::Starter;
use super::scaling;
use super::task::{Answer, Problem, Task};
use crate::measure::Spread;
use crate::{dissimilarities, output};

/// An engine in a layout, which solves the problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The engine: rounds of an all-reduce or of a map-reduce, a parallel loop, or ports.
    pub engine: Engine,
    /// The layout of the ranks.
    pub layout: Layout,
}

impl Side {
    /// Returns the name of the side in records.
    pub fn name(self) -> String {
        format!("{} {}", self.engine, self.layout)
    }

    /// Returns whether this side takes part for a method. Map-reduce is measured on points, and the engines of one
    /// process on pairs, as in 003.
    pub fn takes(self, method: Method) -> bool {
        let apart = match self.engine {
            Engine::Ranks => return true,
            Engine::MapReduce => Method::Points,
            Engine::Loop | Engine::Ports => Method::Pairs,
        };
        method == apart
    }
}

/// The experiment of 003 figure 9 in records: the overhead of ports minus that of the loop on as many threads.
pub const PORTS_LESS_LOOP: &str = "ports less loop";

/// Returns the reference of all overheads: one rank on one thread (p_ref = 1).
pub fn reference() -> Side {
    Side { engine: Engine::Ranks, layout: Layout::threads(1) }
}

/// Returns the sides for which this machine has enough cores and the starter a launcher; the reference comes first.
pub fn sides(definition: &Definition, cores: usize, starter: &Starter) -> Vec<Side> {
    let fits = |layout: &Layout| layout.ranks() <= cores && starter.can_start(*layout);
    let ranks = definition.layouts.iter().copied().filter(fits).map(|layout| Side { engine: Engine::Ranks, layout });
    let reduced =
        definition.map_reduce.iter().copied().filter(fits).map(|layout| Side { engine: Engine::MapReduce, layout });
    let in_one_process = |layout: &Layout| layout.processes * layout.nodes == 1 && layout.ranks() > 1;
    let inside = definition.layouts.iter().copied().filter(fits).filter(in_one_process);
    let engines = inside.flat_map(|layout| [Engine::Loop, Engine::Ports].map(|engine| Side { engine, layout }));
    std::iter::once(reference()).chain(ranks).chain(reduced).chain(engines).collect()
}

/// Measures a case: the figures `run`, `overhead`, `map-reduce` and [`PORTS_LESS_LOOP`]. Returns `None` if `stop` asked
/// to end.
///
/// # Errors
/// Returns an error if a job fails, or if results are not bit-identical.
pub fn measure(
    case: Case,
    definition: &Definition,
    rounds: usize,
    sides: &[Side],
    starter: &Starter,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<Figure>>> {
    let sides: Vec<Side> = sides.iter().copied().filter(|side| side.takes(case.method)).collect();
    let mut seconds = vec![Vec::with_capacity(rounds); sides.len()];
    let mut imbalances = vec![1.0; sides.len()];
    let mut expected = None;
    let folder = tempfile::tempdir()?;
    let matrix = folder.path().join("matrix.npy");
    if case.method == Method::Sequences {
        output::note(&format!("{}: comparing all pairs", case.name()));
        scaling::write(&matrix, &dissimilarities::alu_repeats(case.rows)?.0)?;
    }
    // A job warms up by itself, so every round counts.
    for round in 0..rounds {
        for turn in 0..sides.len() {
            let place = (turn + round) % sides.len();
            let Side { engine, layout } = sides[place];
            if stop() {
                return Ok(None);
            }
            let problem = Problem {
                rows: case.rows,
                dimension: definition.dimension,
                clusters: case.clusters,
                engine: engine.to_string(),
                threads: layout.threads,
                runs: definition.runs,
            };
            let task = match case.method {
                Method::Points => Task::Cluster(problem),
                Method::Census => Task::Census(problem),
                Method::Pairs => Task::Pairs(problem),
                Method::Sequences => Task::Sequences { problem, matrix: matrix.clone() },
            };
            let answer = match starter.run(layout, &task) {
                // Ctrl-C ends the job too.
                Err(_) if stop() => return Ok(None),
                answer => answer?,
            };
            let Answer::Cluster { seconds: taken, bits, iterations, imbalance } = answer else {
                anyhow::bail!("{} answered something else", sides[place].name())
            };
            ensure!(
                *expected.get_or_insert((bits, iterations)) == (bits, iterations),
                "{}: {} ends with other bits: no measurement",
                case.name(),
                sides[place].name()
            );
            seconds[place].push(Spread::of(&taken).median);
            imbalances[place] = imbalance;
        }
    }
    Ok(Some(figures(case, &sides, &seconds, &imbalances)))
}

/// Computes the figures from the seconds of each side in each round.
fn figures(case: Case, sides: &[Side], seconds: &[Vec<f64>], imbalances: &[f64]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let name = case.name();
    for ((side, taken), imbalance) in sides.iter().zip(seconds).zip(imbalances) {
        let of = |experiment: &str, unit: &str, samples: Vec<f64>| {
            let figure = Figure::new(experiment, &name, &side.name(), unit, samples);
            let method = case.method.name().map(str::to_owned);
            Figure { method, ..figure.of(case.rows, case.clusters, side.layout) }
        };
        figures.push(Figure { imbalance: Some(*imbalance), ..of("run", "s", taken.clone()) });
        let ranks = side.layout.ranks();
        if *side != reference() && side.engine == Engine::Ranks {
            let by_round = taken.iter().zip(&seconds[0]).map(|(many, one)| overhead(ranks, *many, 1, *one));
            figures.push(of("overhead", "1", by_round.collect()));
        }
        let beside = |engine| {
            let beside = Side { engine, ..*side };
            sides.iter().position(|other| *other == beside).map(|place| &seconds[place])
        };
        if side.engine == Engine::MapReduce
            && let Some(by_ranks) = beside(Engine::Ranks)
        {
            let by_round = taken.iter().zip(by_ranks).map(|(reduced, ranks)| reduced / ranks);
            figures.push(of("map-reduce", "of ranks", by_round.collect()));
        }
        if side.engine == Engine::Ports
            && let Some(by_loop) = beside(Engine::Loop)
        {
            let rounds = taken.iter().zip(by_loop).zip(&seconds[0]);
            let by_round = rounds.map(|((ports, by_loop), one)| overhead(ranks, ports - by_loop, 1, *one) + 1.0);
            figures.push(of(PORTS_LESS_LOOP, "1", by_round.collect()));
        }
    }
    figures
}

/// Computes the overhead of 003 eq. 2 and 3: f = p T(p) / (p_ref T(p_ref)) - 1, if both sides solve the same problem.
/// With p_ref = 1 and n = N/p rows of each rank, this is the scaled form of 004 eq. 2, (P T(n,P) - T(Pn,1)) / T(Pn,1).
pub fn overhead(ranks: usize, seconds: f64, ranks_ref: usize, seconds_ref: f64) -> f64 {
    ranks as f64 * seconds / (ranks_ref as f64 * seconds_ref) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overheads_of_the_papers() {
        // The cases are perfect division, half of it lost, and 4 ranks compared with 2.
        assert_eq!(overhead(8, 1.0, 1, 8.0), 0.0);
        assert_eq!(overhead(2, 1.0, 1, 1.0), 1.0);
        assert_eq!(overhead(4, 3.0, 2, 4.0), 0.5);
        // This is the form of 004 with P = 4, T(n,P) = 3, T(Pn,1) = 10.
        assert!((overhead(4, 3.0, 1, 10.0) - (4.0 * 3.0 - 10.0) / 10.0).abs() < 1e-15);
    }

    #[test]
    fn figures_are_ratios_within_a_round() {
        let two: Layout = "2x1x1".parse().unwrap();
        let side = |engine, layout| Side { engine, layout };
        let sides = [
            reference(),
            side(Engine::Ranks, two),
            side(Engine::MapReduce, Layout::threads(1)),
            side(Engine::MapReduce, two),
        ];
        let seconds = [vec![4.0, 2.0], vec![3.0, 1.5], vec![6.0, 3.0], vec![6.0, 6.0]];
        let case = Case { method: Method::Points, rows: 100, clusters: 3 };
        let figures = figures(case, &sides, &seconds, &[1.0, 1.02, 1.0, 1.02]);
        let of = |experiment: &str, engine: &str| {
            let found = figures.iter().find(|figure| figure.experiment == experiment && figure.engine == engine);
            found.map(|figure| figure.samples.clone())
        };
        assert_eq!(of("run", "ranks 1x1x1"), Some(vec![4.0, 2.0]));
        assert_eq!(of("overhead", "ranks 2x1x1"), Some(vec![0.5, 0.5]));
        assert_eq!(of("overhead", "ranks 1x1x1"), None);
        assert_eq!(of("overhead", "map-reduce 2x1x1"), None);
        assert_eq!(of("map-reduce", "map-reduce 1x1x1"), Some(vec![1.5, 1.5]));
        assert_eq!(of("map-reduce", "map-reduce 2x1x1"), Some(vec![2.0, 4.0]));
        let parallel = figures.iter().find(|figure| figure.experiment == "overhead").unwrap();
        assert_eq!((parallel.rows, parallel.clusters, parallel.layout.as_deref()), (Some(100), Some(3), Some("2x1x1")));
        assert!(parallel.method.is_none());
    }

    #[test]
    fn pairs_are_solved_by_ranks_and_say_that_they_are_pairs() {
        let two: Layout = "2x1x1".parse().unwrap();
        let sides = [reference(), Side { engine: Engine::Ranks, layout: two }];
        let case = Case { method: Method::Pairs, rows: 100, clusters: 3 };
        let figures = figures(case, &sides, &[vec![4.0], vec![3.0]], &[1.0, 1.0]);
        let parallel = figures.iter().find(|figure| figure.experiment == "overhead").unwrap();
        assert_eq!((parallel.case.as_str(), parallel.method.as_deref()), ("pairs, N = 100, K = 3", Some("pairs")));
        assert_eq!(parallel.samples, [0.5]);
        let reduced = Side { engine: Engine::MapReduce, layout: two };
        assert!(reduced.takes(Method::Points) && !reduced.takes(Method::Pairs) && sides[1].takes(Method::Pairs));
    }

    #[test]
    fn ports_less_the_loop_is_a_difference_of_overheads_within_a_round() {
        let two: Layout = "2x1x1".parse().unwrap();
        let sides = [Engine::Loop, Engine::Ports].map(|engine| Side { engine, layout: two });
        assert!(sides.iter().all(|side| side.takes(Method::Pairs) && !side.takes(Method::Points)));
        let sides = [reference(), sides[0], sides[1]];
        let case = Case { method: Method::Pairs, rows: 100, clusters: 3 };
        let figures = figures(case, &sides, &[vec![4.0, 8.0], vec![2.5, 5.0], vec![3.0, 4.0]], &[1.0; 3]);
        // The overheads of ports are 0.5 and 0, those of the loop 0.25 and 0.25.
        let less = figures.iter().find(|figure| figure.experiment == PORTS_LESS_LOOP).unwrap();
        assert_eq!((less.engine.as_str(), &less.samples[..]), ("ports 2x1x1", &[0.25, -0.25][..]));
        assert!(figures.iter().all(|figure| figure.experiment != "overhead"), "laws are fitted to overheads of ranks");
    }

    #[test]
    fn a_machine_has_the_sides_that_it_has_the_cores_for() {
        let starter = Starter::find("lehr-lab".into(), None).unwrap();
        let full = super::super::definition::file().full;
        let one = sides(&full, 1, &starter);
        assert_eq!(one, [reference(), Side { engine: Engine::MapReduce, ..reference() }]);
        assert!(sides(&full, 4, &starter).iter().all(|side| side.layout.ranks() <= 4));
    }
}
