//! Stopping, checkpoints and resuming.

use std::fs;

use lehr_data::{Points, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent, Stage};
use lehr_mining::vector::{Checkpoint, Model, Parameters, cluster, resume};
use lehr_mining::{Engine, Error, Execution};

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    seen: Vec<(String, Option<f64>)>,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.seen.push((progress.stage.to_string(), progress.fraction));
        if self.seen.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

fn points() -> Points {
    synthetic::gaussian_mixture(2000, &synthetic::random_components(12, 2, 10.0, 0.9, 1), 1).0
}

fn parameters() -> Parameters {
    Parameters { clusters: Some(12), ..Parameters::default() }
}

fn without_clock(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let points = points();
    let whole = without_clock(cluster(&points, &parameters(), &Execution::default(), &mut Silent).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut stages = Vec::new();
    for calls in (0..).step_by(17) {
        let mut observer = StopAfter { calls, seen: Vec::new(), last: None };
        match cluster(
            &points,
            &parameters(),
            &Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None },
            &mut observer,
        ) {
            Err(Error::Stopped) => {}
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                assert!(observer.seen.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[1].1.unwrap() < 1.0));
                break;
            }
            Err(error) => panic!("{error}"),
        }
        stages.push(observer.seen.pop().unwrap().0);
        let Some(last) = observer.last else { continue };
        last.write(&path).unwrap();
        let read = Checkpoint::read(&path).unwrap();
        assert_eq!(read, last);
        let resumed =
            resume(&points, read, &Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None }, &mut Silent)
                .unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
    for stage in [Stage::Annealing, Stage::Hardening, Stage::Refining] {
        assert!(stages.iter().any(|seen| seen == stage.name()), "stopped while {stage}");
    }
}

#[test]
fn a_checkpoint_of_other_data_another_format_or_with_a_changed_byte_is_refused() {
    let points = points();
    let mut observer = StopAfter { calls: 5, seen: Vec::new(), last: None };
    assert!(matches!(cluster(&points, &parameters(), &Execution::default(), &mut observer), Err(Error::Stopped)));
    let checkpoint = observer.last.unwrap();
    assert_eq!(checkpoint.fingerprint(), points.fingerprint());
    assert_eq!(checkpoint.parameters(), &parameters());

    let other = Points::new(points.values().iter().map(|value| value + 1.0).collect(), 2).unwrap();
    assert!(matches!(
        resume(&other, checkpoint.clone(), &Execution::default(), &mut Silent),
        Err(Error::OtherData { .. })
    ));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    checkpoint.write(&path).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let refused = |text: &str| {
        assert_ne!(text, good, "nothing was changed");
        fs::write(&path, text).unwrap();
        Checkpoint::read(&path).unwrap_err()
    };
    let (_, after_format) = good.strip_prefix("lehr checkpoint ").unwrap().split_once(' ').unwrap();
    let newer = format!("lehr checkpoint 99 {after_format}");
    assert!(matches!(refused(&newer), Error::CheckpointVersion { found, .. } if found == "99"));
    assert!(matches!(refused(&good.replacen("0.95", "0.96", 1)), Error::CheckpointDamaged { .. }));
    assert!(matches!(refused(&good[..good.len() / 2]), Error::CheckpointDamaged { .. }));
    assert!(matches!(refused(""), Error::CheckpointDamaged { .. }));
    fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
    assert!(matches!(Checkpoint::read(&path).unwrap_err(), Error::CheckpointDamaged { .. }));
    fs::remove_file(&path).unwrap();
    assert!(matches!(Checkpoint::read(&path).unwrap_err(), Error::File { .. }));
}

#[test]
fn a_run_stopped_at_any_moment_of_the_search_counts_each_pass_once() {
    let points = synthetic::gaussian_mixture(300, &synthetic::random_components(6, 2, 10.0, 1.5, 2), 2).0;
    let parameters = Parameters { clusters: Some(6), ..Parameters::default() };
    let whole = without_clock(cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap());
    let mut counting = StopAfter { calls: usize::MAX, seen: Vec::new(), last: None };
    cluster(&points, &parameters, &Execution::default(), &mut counting).unwrap();
    let first = counting.seen.iter().position(|seen| seen.0 == Stage::Refining.name()).unwrap();
    for calls in first..counting.seen.len() {
        let mut observer = StopAfter { calls, seen: Vec::new(), last: None };
        let stopped = cluster(&points, &parameters, &Execution::default(), &mut observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "stopped at call {calls}");
        let resumed = resume(&points, observer.last.unwrap(), &Execution::default(), &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
}

#[test]
fn whoever_says_stop_is_handed_a_checkpoint_even_at_the_last_step() {
    struct StopAt {
        calls: usize,
        seen: usize,
        /// The number of checkpoints offered since the observer asked to stop.
        since: Option<usize>,
    }
    impl Observer for StopAt {
        fn progress(&mut self, _: &Progress) -> Control {
            self.seen += 1;
            if self.seen < self.calls {
                return Control::Continue;
            }
            self.since = Some(0);
            Control::Stop
        }
        fn checkpoint(&mut self, _: &dyn AnyCheckpoint) {
            self.since = self.since.map(|count| count + 1);
        }
    }
    let points = synthetic::lattice(&[3], 20, 0.1, 1).0;
    let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
    for calls in 1.. {
        let mut observer = StopAt { calls, seen: 0, since: None };
        let result = cluster(&points, &parameters, &Execution::default(), &mut observer);
        if observer.since.is_none() {
            assert!(result.is_ok() && calls > 10);
            break;
        }
        assert!(matches!(result, Err(Error::Stopped)));
        assert_eq!(observer.since, Some(1), "stopped at call {calls}");
    }
}
