//! Compares the parallel loops of the methods of dissimilarities with the table in docs/design/engines.md. The loops
//! are read from traces.

use std::collections::BTreeSet;

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_mining::anneal::Observer;
use lehr_mining::{Engine, Execution, pairwise, smacof};
use lehr_numerics::random::Stream;
use lehr_ranks::trace::{Activity, Trace};

struct Traced(Trace);

impl Observer for Traced {
    fn trace(&self) -> Option<&Trace> {
        Some(&self.0)
    }
}

const ITEMS: usize = 60;

/// Returns the distances of random points in the plane. Pairs are missing if the sum of their numbers is a multiple of
/// `gap`.
fn matrix(gap: Option<usize>) -> Dissimilarities {
    let stream = Stream::new(3, "plane");
    let at = |item: usize| [stream.uniform(2 * item as u64), stream.uniform(2 * item as u64 + 1)];
    let mut pairs = Vec::new();
    for i in 0..ITEMS {
        for j in i + 1..ITEMS {
            let is_gap = gap.is_some_and(|gap| (i + j).is_multiple_of(gap));
            let ([a, b], [c, d]) = (at(i), at(j));
            pairs.push(if is_gap { f64::NAN } else { (a - c).hypot(b - d) });
        }
    }
    Dissimilarities::new(ITEMS, Form::Condensed, Values::F64(pairs), 1.0).unwrap()
}

/// Returns the names of the loops that both ranks ran.
fn loops(run: impl FnOnce(&mut Traced, &Execution)) -> BTreeSet<String> {
    let mut traced = Traced(Trace::new());
    run(&mut traced, &Execution { engine: Engine::Ranks, ranks: 2, threads: 2, job: None });
    let of = |rank: usize| -> BTreeSet<String> {
        let spans = traced.0.spans(rank).into_iter().filter(|span| span.activity == Activity::Compute);
        // The computation between rounds has no name of its own.
        spans.map(|span| span.name.to_owned()).filter(|name| name != "compute").collect()
    };
    assert_eq!(of(0), of(1));
    of(0)
}

/// Returns the loops of a method in the table.
fn documented(method: &str) -> BTreeSet<String> {
    let page = include_str!("../../../../docs/design/engines.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ").and_then(|row| row.strip_prefix(method)));
    rows.map(|row| row.split(" | ").nth(1).unwrap().to_owned()).collect()
}

#[test]
fn every_parallel_loop_is_named() {
    let weights: Vec<f64> = (0..ITEMS).map(|item| (item % 3) as f64).collect();
    let (mut clustered, mut laid_out) = (BTreeSet::new(), BTreeSet::new());
    for matrix in [matrix(None), matrix(Some(7))] {
        for weights in [None, Some(&weights[..])] {
            clustered.extend(loops(|traced, execution| {
                let parameters = pairwise::Parameters { clusters: Some(3), ..Default::default() };
                pairwise::cluster(&matrix, weights, &parameters, execution, traced).unwrap();
            }));
            laid_out.extend(loops(|traced, execution| {
                let input = smacof::Input { weights, ..smacof::Input::new(&matrix) };
                smacof::embed(&input, &smacof::Parameters::default(), execution, traced).unwrap();
            }));
        }
    }
    assert_eq!(clustered, documented("pairwise"));
    assert_eq!(laid_out, documented("smacof"));
}
