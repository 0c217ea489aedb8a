//! Tests that results are bit-identical with any engine, and after a stop at any step.

use std::fs;
use std::path::Path;

use lehr_data::sequences::Alphabet;
use lehr_distances::checkpoint::{Log, LogReader};
use lehr_distances::{
    Control, Error, Finished, Half, Metric, Observer, Progress, Schedule, Silent, all_pairs, all_pairs_keeping,
};
use lehr_distances::{columns, rows, sequence, tanimoto};
use lehr_ranks::{Engine, Execution};

use super::data;

fn on(engine: Engine, ranks: usize, threads: usize) -> Execution {
    Execution { engine, ranks, threads, job: None }
}

fn bits(half: &Half<f64>) -> Vec<u64> {
    let items = half.items();
    let mut row = vec![0.0; items];
    (0..items)
        .flat_map(|i| {
            half.row(i, &mut row);
            row.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        })
        .collect()
}

/// Runs a check with every metric, over enough items for several leaves and an incomplete last leaf.
fn each_metric(check: impl Fn(&dyn Metric)) {
    let genes = data::genes(101, 24, Alphabet::Dna, 1);
    for (measure, mode) in [
        (sequence::Measure::Identity, lehr_distances::alignment::Mode::Local),
        (sequence::Measure::Kimura, lehr_distances::alignment::Mode::Global),
        (sequence::Measure::ScoreOverMean, lehr_distances::alignment::Mode::SemiGlobal),
    ] {
        let parameters = sequence::Parameters { measure, mode, ..Default::default() };
        check(&sequence::Aligned::new(&genes, &parameters).unwrap());
    }
    let aligned = data::aligned(133, 70, 2);
    check(&columns::Compared::new(&aligned, columns::Measure::Kimura).unwrap());
    check(&columns::Compared::new(&aligned, columns::Measure::Hamming).unwrap());
    check(&tanimoto::Tanimoto::new(&data::fingerprints(129, 100, 3)));
    for measure in rows::Measure::ALL {
        check(&rows::Compared::new(&data::records(97, 5, 4, 4), measure).unwrap());
    }
}

#[test]
fn every_layout_gives_the_same_bits() {
    each_metric(|metric| {
        let whole = all_pairs::<f64>(metric, &on(Engine::Ranks, 1, 1), None, &mut Silent).unwrap();
        for execution in [
            on(Engine::Ranks, 2, 2),
            on(Engine::Ranks, 3, 2),
            on(Engine::Ranks, 8, 8),
            on(Engine::Loop, 1, 2),
            on(Engine::Ports, 1, 8),
            on(Engine::MapReduce, 1, 1),
            on(Engine::MapReduce, 3, 2),
            on(Engine::MapReduce, 8, 8),
        ] {
            let half = all_pairs::<f64>(metric, &execution, None, &mut Silent).unwrap();
            assert!(bits(&half) == bits(&whole), "{} under {execution:?}", metric.name());
        }
    });
}

#[test]
fn a_value_does_not_depend_on_its_block() {
    each_metric(|metric| {
        let half = all_pairs::<f64>(metric, &on(Engine::Ranks, 1, 1), None, &mut Silent).unwrap();
        for (i, j) in [(0, 1), (3, 95), (33, 64), (90, 96), (31, 32)] {
            let mut value = [f64::MAX];
            metric.tile(i..i + 1, j..j + 1, &mut value);
            let mut mirrored = [f64::MAX];
            metric.tile(j..j + 1, i..i + 1, &mut mirrored);
            assert_eq!(value[0].to_bits(), half.get(i, j).to_bits(), "{} of ({i}, {j})", metric.name());
            assert_eq!(value[0].to_bits(), mirrored[0].to_bits(), "{} of ({j}, {i})", metric.name());
        }
    });
}

#[test]
fn a_row_is_its_values_one_by_one() {
    // The leaves have 32 items. Their number is even or odd, and the last leaf is complete or not. The last case has
    // leaves of two parts.
    for items in [2, 33, 64, 97, 128, 150, 8_300] {
        let records = data::records(items, 1, 0, 6);
        let metric = rows::Compared::new(&records, rows::Measure::Manhattan).unwrap();
        let half = all_pairs::<f32>(&metric, &on(Engine::Loop, 1, 2), None, &mut Silent).unwrap();
        let mut row = vec![f64::MAX; items];
        for i in (0..items).step_by(1 + items / 50) {
            half.row(i, &mut row);
            for (j, value) in row.iter().enumerate() {
                assert_eq!(*value, half.get(i, j), "({i}, {j}) of {items}");
            }
        }
    }
}

#[test]
fn each_pair_is_counted_once() {
    struct Count(Vec<u64>);
    impl Observer for Count {
        fn progress(&mut self, progress: &Progress) -> Control {
            let [done, pairs] = ["done", "pairs"].map(|name| progress.figure(name).unwrap());
            assert_eq!((pairs, progress.fraction), (200.0 * 199.0 / 2.0, Some(done / pairs)));
            self.0.push(done as u64);
            Control::Continue
        }
    }
    let records = data::records(200, 3, 0, 1);
    let metric = rows::Compared::new(&records, rows::Measure::Euclidean).unwrap();
    let mut count = Count(Vec::new());
    all_pairs::<f32>(&metric, &on(Engine::Ranks, 3, 2), None, &mut count).unwrap();
    assert_eq!(count.0.len(), Schedule::new(200).steps());
    assert!(count.0.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(count.0.last(), Some(&(200 * 199 / 2)));
}

/// An observer that stops after some steps.
struct StopAfter(usize);

impl Observer for StopAfter {
    fn progress(&mut self, _: &Progress) -> Control {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 { Control::Stop } else { Control::Continue }
    }
}

/// Stops a new run after `steps` steps. The file has the steps that it kept.
fn stop(metric: &dyn Metric, path: &Path, steps: usize) {
    let mut log = Log::create::<f64>(path, metric).unwrap();
    let mut keep = |finished: &Finished<'_>| log.append(finished).unwrap();
    let two = on(Engine::Ranks, 2, 2);
    let stopped = all_pairs_keeping::<f64>(metric, &two, None, &mut StopAfter(steps), &mut keep);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
}

fn go_on(metric: &dyn Metric, path: &Path) -> Half<f64> {
    let mut kept = LogReader::open::<f64>(path, metric).unwrap();
    all_pairs::<f64>(metric, &on(Engine::Loop, 1, 3), Some(&mut kept), &mut Silent).unwrap()
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits() {
    let genes = data::genes(230, 12, Alphabet::Protein, 5);
    let metric = sequence::Aligned::new(&genes, &Default::default()).unwrap();
    let whole = bits(&all_pairs::<f64>(&metric, &on(Engine::Ranks, 1, 1), None, &mut Silent).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let steps = Schedule::new(230).steps();
    for stop_after in 1..steps {
        stop(&metric, &path, stop_after);
        // The run is stopped a second time, and continues the log.
        let mut kept = LogReader::open::<f64>(&path, &metric).unwrap();
        let mut log = Log::resume::<f64>(&path, &metric).unwrap();
        assert_eq!(log.steps(), stop_after);
        let mut keep = |finished: &Finished<'_>| log.append(finished).unwrap();
        let ports = on(Engine::Ports, 1, 2);
        let again = all_pairs_keeping::<f64>(&metric, &ports, Some(&mut kept), &mut StopAfter(1), &mut keep);
        assert!(stop_after + 1 == steps || matches!(again, Err(Error::Stopped)));
        assert!(bits(&go_on(&metric, &path)) == whole, "stopped after {stop_after} of {steps} steps");
    }
}

#[test]
fn a_log_that_was_cut_or_damaged_is_good_up_to_there() {
    let records = data::records(150, 3, 5, 2);
    let metric = rows::Compared::new(&records, rows::Measure::Manhattan).unwrap();
    let whole = bits(&all_pairs::<f64>(&metric, &on(Engine::Ranks, 1, 1), None, &mut Silent).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    stop(&metric, &path, 2);
    let good = fs::read(&path).unwrap();
    let head = good.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 1;
    for end in [head, head + 1, head + 16, good.len() - 1, good.len()] {
        fs::write(&path, &good[..end]).unwrap();
        assert!(bits(&go_on(&metric, &path)) == whole, "cut at {end} of {}", good.len());
    }
    let mut damaged = good.clone();
    damaged[head + 100] ^= 1;
    fs::write(&path, &damaged).unwrap();
    assert_eq!(Log::resume::<f64>(&path, &metric).unwrap().steps(), 0, "the first record is the damaged one");
    fs::write(&path, &damaged).unwrap();
    assert!(bits(&go_on(&metric, &path)) == whole);
}

#[test]
fn a_log_says_the_same_from_memory() {
    let records = data::records(150, 3, 5, 2);
    let metric = rows::Compared::new(&records, rows::Measure::Manhattan).unwrap();
    let whole = bits(&all_pairs::<f64>(&metric, &on(Engine::Ranks, 1, 1), None, &mut Silent).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    stop(&metric, &path, 2);
    let bytes = fs::read(&path).unwrap();
    let mut kept = LogReader::of_bytes::<f64>(bytes, &path, &metric).unwrap();
    let half = all_pairs::<f64>(&metric, &on(Engine::MapReduce, 2, 2), Some(&mut kept), &mut Silent).unwrap();
    assert!(bits(&half) == whole);
    assert!(LogReader::of_bytes::<f64>(b"no log\n".to_vec(), &path, &metric).is_err());
}

#[test]
fn what_no_memory_can_hold_is_refused_before_anything_is_computed() {
    struct Endless;
    impl Metric for Endless {
        fn items(&self) -> usize {
            1 << 40
        }
        fn name(&self) -> &'static str {
            "endless"
        }
        fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
            serde_json::Map::new()
        }
        fn fingerprint(&self) -> u64 {
            0
        }
        fn tile(&self, _: std::ops::Range<usize>, _: std::ops::Range<usize>, _: &mut [f64]) {
            unreachable!("nothing is computed")
        }
    }
    let refused = all_pairs::<f32>(&Endless, &on(Engine::Ranks, 1, 1), None, &mut Silent);
    assert!(matches!(refused, Err(Error::TooLarge { items: 0x100_0000_0000, element: "f32", .. })), "{refused:?}");
}

#[test]
fn the_bytes_that_are_told_beforehand_are_enough() {
    for items in [2, 31, 33, 97, 150, 1000] {
        let schedule = Schedule::new(items);
        let tile = |leaf, step| schedule.tile(leaf, step).map_or(0, |(rows, columns)| rows.len() * columns.len());
        let kept: usize = (0..schedule.leaves())
            .flat_map(|leaf| (0..schedule.steps()).map(move |step| (leaf, step)))
            .map(|(leaf, step)| tile(leaf, step))
            .sum();
        let told = Half::<f32>::bytes(items);
        assert!(4 * kept as u64 <= told, "{items} items: {kept} values are kept, and {told} bytes told");
        assert!(told <= 4 * (kept + 32 * items) as u64, "{items} items: {told} bytes are told for {kept} values");
    }
}

#[test]
fn a_log_of_something_else_is_refused() {
    let records = data::records(100, 3, 0, 2);
    let metric = rows::Compared::new(&records, rows::Measure::Manhattan).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    stop(&metric, &path, 1);
    let open = |metric: &dyn Metric| LogReader::open::<f64>(&path, metric);
    assert!(open(&metric).is_ok());
    assert!(matches!(
        open(&rows::Compared::new(&records, rows::Measure::Euclidean).unwrap()),
        Err(Error::OtherRun { .. })
    ));
    let others = data::records(100, 3, 0, 3);
    assert!(matches!(
        open(&rows::Compared::new(&others, rows::Measure::Manhattan).unwrap()),
        Err(Error::OtherRun { .. })
    ));
    assert!(matches!(LogReader::open::<f32>(&path, &metric), Err(Error::OtherRun { .. })));
    fs::write(&path, b"lehr checkpoint 1 xxh3 0\n{}\n").unwrap();
    assert!(matches!(open(&metric), Err(Error::CheckpointDamaged { .. })));
    fs::write(&path, b"").unwrap();
    assert!(matches!(open(&metric), Err(Error::CheckpointDamaged { .. })));
}
