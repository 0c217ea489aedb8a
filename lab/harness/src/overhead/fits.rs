//! Fits laws to the overheads of a record. For points, the law is `a + b/n` for each layout and number of clusters (002
//! and 004 figure 1, E25). For pairs and sequences (003's own method) and for points, there are 003's models without
//! intercept, for threads and for processes.
//!
//! Every law is fitted to each round separately, so that a coefficient has a minimum, a median and a maximum like every
//! other figure. The record also names the points that a law leaves out.

use lehr_ranks::Layout;

use super::figure::Figure;
use super::model::{Fit, LINEAR_BELOW, factors, line};

/// The experiments that are derived from others and computed again each time.
pub const DERIVED: [&str; 4] = ["fit", "residual", "left out", "not fitted"];

/// One overhead: its case, and its value in each round.
#[derive(Clone, Debug)]
struct Point {
    /// The method; `None` for points.
    method: Option<String>,
    rows: f64,
    clusters: usize,
    layout: Layout,
    rounds: Vec<f64>,
    median: f64,
}

impl Point {
    fn name(&self) -> String {
        format!("N = {}, {}", self.rows, self.layout)
    }

    /// Returns the method and the number of clusters.
    fn problem(&self) -> String {
        let method = self.method.as_ref().map_or(String::new(), |method| format!("{method}, "));
        format!("{method}K = {}", self.clusters)
    }

    fn ranks(&self) -> f64 {
        self.layout.ranks() as f64
    }

    fn nodes(&self) -> f64 {
        self.layout.nodes as f64
    }
}

/// A law and the names of its coefficients; `x` gives the factors of a point.
struct Law {
    name: &'static str,
    coefficients: &'static [&'static str],
    has_intercept: bool,
    x: fn(&Point) -> Vec<f64>,
}

/// The law of 002 and 004 figure 1, for points: against the reciprocal of the grain size.
const BY_GRAIN: Law = Law {
    name: "a + b/n",
    coefficients: &["a", "b"],
    has_intercept: true,
    x: |point| vec![point.ranks() / point.rows],
};

/// The laws of 003 sections 4.2 and 4.3, for one number of rows.
const BY_RANKS: [Law; 3] = [
    Law { name: "a₁p", coefficients: &["a₁"], has_intercept: false, x: |point| vec![point.ranks()] },
    Law {
        name: "a₁p + a₂·nodes",
        coefficients: &["a₁", "a₂"],
        has_intercept: false,
        x: |point| vec![point.ranks(), point.nodes()],
    },
    Law {
        name: "a₁p + a₂p²",
        coefficients: &["a₁", "a₂"],
        has_intercept: false,
        x: |point| vec![point.ranks(), point.ranks().powi(2)],
    },
];

/// The law of 003 section 4.2, figure 8: over all numbers of rows.
const BY_RANKS_AND_ROWS: Law =
    Law { name: "a₁p/N", coefficients: &["a₁"], has_intercept: false, x: |point| vec![point.ranks() / point.rows] };

/// Fits all laws to the overheads among `figures`.
pub fn figures(figures: &[Figure]) -> Vec<Figure> {
    let points: Vec<Point> = figures.iter().filter_map(point).collect();
    let mut found = Vec::new();
    let distinct = |of: &dyn Fn(&Point) -> Option<String>| {
        let mut names: Vec<String> = Vec::new();
        for name in points.iter().filter_map(of) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    // Points without a key do not belong to the law.
    let mut group = |law: &Law, key: &dyn Fn(&Point) -> Option<String>| {
        for name in distinct(key) {
            let members: Vec<&Point> = points.iter().filter(|point| key(point).as_ref() == Some(&name)).collect();
            found.extend(fitted(law, &name, &members));
        }
    };
    group(&BY_GRAIN, &|point| point.method.is_none().then(|| format!("{}, {}", point.problem(), point.layout)));
    group(&BY_RANKS_AND_ROWS, &|point| Some(format!("{}, {}", point.problem(), kind(point.layout))));
    for law in &BY_RANKS {
        group(law, &|point| Some(format!("{}, N = {}, {}", point.problem(), point.rows, kind(point.layout))));
    }
    found
}

fn point(figure: &Figure) -> Option<Point> {
    // The census has one number of rows, so no law in the number of rows can be fitted to it.
    (figure.experiment == "overhead" && figure.method.as_deref() != Some("census")).then_some(())?;
    Some(Point {
        method: figure.method.clone(),
        rows: figure.rows? as f64,
        clusters: figure.clusters?,
        layout: figure.layout.as_deref()?.parse().ok()?,
        rounds: figure.samples.clone(),
        median: figure.median,
    })
}

/// Returns the kind of a layout: 003 treats threads in a node, processes in a node, and both, separately.
fn kind(layout: Layout) -> &'static str {
    match (layout.threads, layout.processes * layout.nodes) {
        (_, 1) => "threads",
        (1, _) => "processes",
        _ => "threads in processes",
    }
}

/// Fits a law to the points that belong to it. Returns a figure for each coefficient, a residual for each point, and
/// the points that were left out.
fn fitted(law: &Law, group: &str, points: &[&Point]) -> Vec<Figure> {
    let case = format!("{}; {group}", law.name);
    let (inside, outside): (Vec<&Point>, Vec<&Point>) =
        points.iter().copied().partition(|point| point.median < LINEAR_BELOW);
    let mut found: Vec<Figure> = outside
        .iter()
        .map(|point| Figure {
            note: Some(format!("f is not below {LINEAR_BELOW}")),
            ..Figure::new("left out", &case, &point.name(), "1", point.rounds.clone())
        })
        .collect();
    let rounds = inside.iter().map(|point| point.rounds.len()).min().unwrap_or(0);
    let fits: Option<Vec<Fit>> = (0..rounds).map(|round| law.fit(&inside, round)).collect();
    let Some(fits) = fits.filter(|fits| !fits.is_empty()) else {
        let needed = law.coefficients.len() + 1;
        // With one point, or the same number of ranks everywhere, nobody would expect this law, so no figure says that
        // it is missing.
        let medians: Vec<f64> = inside.iter().map(|point| point.median).collect();
        if inside.len() > 1 {
            found.push(Figure {
                note: Some(format!("{} points, of which {needed} must differ in their factors", inside.len())),
                ..Figure::new("not fitted", &case, "f", "1", medians)
            });
        }
        return found;
    };
    let each = |of: &dyn Fn(&Fit) -> f64| fits.iter().map(of).collect::<Vec<f64>>();
    for (place, name) in law.coefficients.iter().enumerate() {
        let figure = Figure::new("fit", &case, name, "1", each(&|fit| fit.coefficients[place]));
        found.push(Figure { note: Some(format!("{} points", inside.len())), ..figure });
    }
    found.push(Figure::new("fit", &case, "R²", "1", each(&|fit| fit.r_squared)));
    for (place, point) in inside.iter().enumerate() {
        found.push(Figure::new("residual", &case, &point.name(), "1", each(&|fit| fit.residuals[place])));
    }
    found
}

impl Law {
    fn fit(&self, points: &[&Point], round: usize) -> Option<Fit> {
        let x: Vec<Vec<f64>> = points.iter().map(|point| (self.x)(point)).collect();
        let y: Vec<f64> = points.iter().map(|point| point.rounds[round]).collect();
        let column = |place: usize| x.iter().map(|x| x[place]).collect::<Vec<f64>>();
        if self.has_intercept {
            line(&column(0), &y)
        } else {
            factors(&(0..self.coefficients.len()).map(column).collect::<Vec<_>>(), &y)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overhead(rows: usize, clusters: usize, layout: &str, samples: &[f64]) -> Figure {
        let case = format!("N = {rows}, K = {clusters}");
        Figure::new("overhead", &case, &format!("ranks {layout}"), "1", samples.to_vec()).of(rows, clusters, layout)
    }

    fn found<'a>(figures: &'a [Figure], experiment: &str, case: &str, engine: &str) -> &'a Figure {
        let is = |figure: &&Figure| figure.is(experiment, case) && figure.engine == engine;
        figures.iter().find(is).unwrap_or_else(|| panic!("{experiment}, {case}, {engine} in {figures:#?}"))
    }

    #[test]
    fn a_law_is_fitted_to_each_round_and_each_layout() {
        // f = a + 300/n with n = N/2, a = 0.02 and 0.04 in the two rounds; processes lose twice as much for each row.
        let rows = [4000, 8000, 16_000, 32_000];
        let mut measured = Vec::new();
        for n in rows {
            let x = 2.0 / n as f64;
            measured.push(overhead(n, 10, "2x1x1", &[0.02 + 300.0 * x, 0.04 + 300.0 * x]));
            measured.push(overhead(n, 10, "1x2x1", &[600.0 * x, 600.0 * x]));
        }
        let fits = figures(&measured);
        let a = found(&fits, "fit", "a + b/n; K = 10, 2x1x1", "a");
        assert!((a.min - 0.02).abs() < 1e-12 && (a.max - 0.04).abs() < 1e-12);
        assert!((found(&fits, "fit", "a + b/n; K = 10, 2x1x1", "b").median - 300.0).abs() < 1e-8);
        assert!((found(&fits, "fit", "a + b/n; K = 10, 1x2x1", "b").median - 600.0).abs() < 1e-8);
        // Without an intercept, over all rows, the fit is exact for the processes.
        assert!((found(&fits, "fit", "a₁p/N; K = 10, processes", "a₁").median - 600.0).abs() < 1e-8);
        let rest = found(&fits, "residual", "a₁p/N; K = 10, processes", "N = 4000, 1x2x1");
        assert!(rest.median.abs() < 1e-12);
        // With one number of ranks, nothing shows how the overhead depends on it.
        assert!(!fits.iter().any(|figure| figure.experiment == "fit" && figure.case.starts_with("a₁p;")));
    }

    #[test]
    fn pairs_and_sequences_have_the_models_of_003_to_themselves() {
        let pairs = |rows: usize, layout: &str, f: f64| Figure {
            method: Some("pairs".into()),
            ..overhead(rows, 10, layout, &[f])
        };
        let mut measured: Vec<Figure> =
            [("2x1x1", 2.0), ("4x1x1", 4.0), ("8x1x1", 8.0)].map(|(layout, p)| pairs(1000, layout, 0.03 * p)).into();
        measured.push(pairs(2000, "2x1x1", 0.03));
        measured.extend(
            [("2x1x1", 0.02), ("4x1x1", 0.04)]
                .map(|(layout, f)| Figure { method: Some("sequences".into()), ..overhead(1000, 10, layout, &[f]) }),
        );
        // These points have the same sizes, and ten times the loss.
        measured.extend([("2x1x1", 0.6), ("4x1x1", 0.7)].map(|(layout, f)| overhead(1000, 10, layout, &[f])));
        let fits = figures(&measured);
        assert!((found(&fits, "fit", "a₁p; pairs, K = 10, N = 1000, threads", "a₁").median - 0.03).abs() < 1e-12);
        assert!((found(&fits, "fit", "a₁p/N; pairs, K = 10, threads", "a₁").median - 30.0).abs() < 1e-9);
        assert!((found(&fits, "fit", "a₁p; sequences, K = 10, N = 1000, threads", "a₁").median - 0.01).abs() < 1e-12);
        assert!(!fits.iter().any(|figure| figure.case.starts_with("a + b/n; pairs")));
    }

    #[test]
    fn what_is_outside_the_linear_region_is_left_out_and_named() {
        let measured: Vec<Figure> = [(2, 0.1), (4, 0.2), (8, 0.4), (16, 1.7)]
            .iter()
            .map(|(ranks, f)| overhead(1000, 5, &format!("{ranks}x1x1"), &[*f]))
            .collect();
        let fits = figures(&measured);
        let case = "a₁p; K = 5, N = 1000, threads";
        assert!((found(&fits, "fit", case, "a₁").median - 0.05).abs() < 1e-12);
        assert!((found(&fits, "fit", case, "R²").median - 1.0).abs() < 1e-12);
        let out = found(&fits, "left out", case, "N = 1000, 16x1x1");
        assert_eq!((out.median, out.note.as_deref()), (1.7, Some("f is not below 1")));
        assert!(!fits.iter().any(|figure| figure.experiment == "residual" && figure.engine.contains("16x1x1")));
        // Two factors on three points: p and p², and p with a number of nodes that is always 1.
        let squared = found(&fits, "fit", "a₁p + a₂p²; K = 5, N = 1000, threads", "a₂");
        assert!(squared.median.abs() < 1e-12);
    }

    #[test]
    fn threads_processes_and_both_are_kinds_of_their_own() {
        let kinds = ["8x1x1", "1x8x1", "1x2x4", "2x4x1", "1x1x1"].map(|layout| kind(layout.parse().unwrap()));
        assert_eq!(kinds, ["threads", "processes", "processes", "threads in processes", "threads"]);
    }
}
