//! Iterative map-reduce: compares k-means on every fabric with a plain Lloyd's algorithm; the bits are the same on all
//! fabrics.

use std::collections::BTreeMap;
use std::ops::Range;

use lehr_ranks::fabric::Kind;
use lehr_ranks::{Iterated, Layout, MapReduce, Step, run_on};
use lehr_runtime::Dispatcher;

/// K-means for points in the plane.
struct KMeans(Vec<[f64; 2]>);

impl KMeans {
    fn nearest(&self, point: [f64; 2], centres: &[[f64; 2]]) -> usize {
        let distance = |centre: usize| {
            let [x, y] = centres[centre];
            (point[0] - x).powi(2) + (point[1] - y).powi(2)
        };
        (0..centres.len()).min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap()
    }
}

impl MapReduce for KMeans {
    type State = Vec<[f64; 2]>;

    fn width(&self) -> usize {
        3
    }

    fn map(&self, rows: Range<usize>, centres: &Vec<[f64; 2]>, emit: &mut dyn FnMut(u64, &[f64])) {
        for point in &self.0[rows] {
            emit(self.nearest(*point, centres) as u64, &[point[0], point[1], 1.0]);
        }
    }

    fn reduce(&self, _: u64, value: &mut [f64], _: &Vec<[f64; 2]>) {
        value[0] /= value[2];
        value[1] /= value[2];
    }

    fn next(&self, mut centres: Vec<[f64; 2]>, means: &BTreeMap<u64, Vec<f64>>) -> Step<Vec<[f64; 2]>> {
        let before = centres.clone();
        for (key, mean) in means {
            centres[*key as usize] = [mean[0], mean[1]];
        }
        if centres == before { Step::Converged(centres) } else { Step::Again(centres) }
    }
}

/// Returns points in three clouds. One cloud has only few rows, so most leaves do not emit its key.
fn points(count: usize) -> KMeans {
    let wave = |i: usize, f: f64| (i as f64 * f).sin();
    KMeans(
        (0..count)
            .map(|i| match i % 97 {
                0 => [50.0 + wave(i, 1.3), -20.0 + wave(i, 0.7)],
                k if k % 2 == 0 => [wave(i, 2.1), wave(i, 3.1)],
                _ => [10.0 + wave(i, 1.9), 10.0 + wave(i, 0.3)],
            })
            .collect(),
    )
}

#[test]
fn k_means_is_lloyds_and_has_the_same_bits_on_any_layout() {
    let method = points(3000);
    let start = vec![[0.0, 1.0], [1.0, 0.0], [40.0, 0.0]];
    // Lloyd's algorithm, in the order of the rows.
    let mut lloyd = start.clone();
    let mut lloyds_rounds = 0;
    loop {
        lloyds_rounds += 1;
        let mut sums = [[0.0; 3]; 3];
        for point in &method.0 {
            let sum = &mut sums[method.nearest(*point, &lloyd)];
            *sum = [sum[0] + point[0], sum[1] + point[1], sum[2] + 1.0];
        }
        let moved: Vec<_> = sums.iter().map(|[x, y, n]| [x / n, y / n]).collect();
        let far = moved.iter().zip(&lloyd).map(|(a, b)| (a[0] - b[0]).abs() + (a[1] - b[1]).abs()).fold(0.0, f64::max);
        lloyd = moved;
        if far < 1e-12 {
            break;
        }
    }

    let dispatcher = Dispatcher::new(2).unwrap();
    let mut first: Option<Iterated<Vec<[f64; 2]>>> = None;
    for kind in Kind::ALL {
        for size in [1, 2, 3, 5, 8] {
            let ends = run_on(&dispatcher, kind, Layout::threads(size), |mut comm| {
                let (method, start) = (&method, start.clone());
                async move { comm.map_reduce(method.0.len(), method, start, 100).await }
            })
            .unwrap();
            for end in ends {
                let end = end.unwrap();
                assert!(end.has_converged && end.rounds.abs_diff(lloyds_rounds) <= 1, "{} {lloyds_rounds}", end.rounds);
                for (found, expected) in end.state.iter().zip(&lloyd) {
                    assert!((found[0] - expected[0]).abs() + (found[1] - expected[1]).abs() < 1e-9);
                }
                let bits =
                    |end: &Iterated<Vec<[f64; 2]>>| end.state.concat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(first.get_or_insert_with(|| end.clone())), bits(&end), "{kind:?}, {size} ranks");
            }
        }
    }
}

#[test]
fn keys_small_and_large_are_counted_once_for_each_row() {
    struct Count;
    impl MapReduce for Count {
        type State = BTreeMap<u64, Vec<f64>>;

        fn width(&self) -> usize {
            1
        }

        fn map(&self, rows: Range<usize>, _: &Self::State, emit: &mut dyn FnMut(u64, &[f64])) {
            for row in rows {
                emit(row as u64 % 5, &[1.0]);
                emit(u64::MAX - row as u64 % 3, &[1.0]);
                emit(4095 + row as u64 % 2, &[row as f64]);
            }
        }

        fn next(&self, _: Self::State, results: &BTreeMap<u64, Vec<f64>>) -> Step<Self::State> {
            Step::Converged(results.clone())
        }
    }
    let rows = 1001;
    let mut expected = BTreeMap::<u64, Vec<f64>>::new();
    for row in 0..rows as u64 {
        for (key, value) in [(row % 5, 1.0), (u64::MAX - row % 3, 1.0), (4095 + row % 2, row as f64)] {
            expected.entry(key).or_insert(vec![0.0])[0] += value;
        }
    }
    let dispatcher = Dispatcher::new(2).unwrap();
    for size in [1, 3, 4] {
        let ends = run_on(&dispatcher, Kind::Threads, Layout::threads(size), |mut comm| async move {
            comm.map_reduce(rows, &Count, BTreeMap::new(), 1).await.unwrap().state
        });
        assert!(ends.unwrap().into_iter().all(|counts| counts == expected));
    }
}

#[test]
fn rounds_end_at_their_limit_and_nothing_emitted_is_no_result() {
    struct Silent;
    impl MapReduce for Silent {
        type State = usize;

        fn width(&self) -> usize {
            1
        }

        fn map(&self, _: Range<usize>, _: &usize, _: &mut dyn FnMut(u64, &[f64])) {}

        fn next(&self, rounds: usize, results: &BTreeMap<u64, Vec<f64>>) -> Step<usize> {
            assert!(results.is_empty());
            Step::Again(rounds + 1)
        }
    }
    let dispatcher = Dispatcher::new(2).unwrap();
    for rows in [0, 1, 100] {
        let ends = run_on(&dispatcher, Kind::Threads, Layout::threads(3), |mut comm| async move {
            comm.map_reduce(rows, &Silent, 0, 4).await
        });
        assert!(ends.unwrap().into_iter().all(|end| end == Ok(Iterated { state: 4, rounds: 4, has_converged: false })));
    }
}
