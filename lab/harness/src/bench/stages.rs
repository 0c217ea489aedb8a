//! Measures sides that do stages: how many stages fit into a sample, and the overhead of a stage over its computation.
//!
//! The overhead is the time of all stages minus the time of the same computation without messages, divided by the
//! number of stages. That computation is measured next to each sample. Without computation, the overhead is the time of
//! a stage. A sample has as many stages as the definition requests, or as many as fit into its time limit.

use anyhow::Result;

use super::Bench;
use super::figure::Samples;

/// The number of stages of the first measurement of a side: the time of a stage differs between engines by a factor of
/// a million.
const FIRST_LOOK: usize = 20;

/// The part of a sample that a measurement must last to show how many stages fit into a sample.
const TELLING: f64 = 0.05;

/// An engine that does the stages of one case.
pub trait Side {
    /// Returns the seconds of this many stages; `None` if the engine does not do this case.
    ///
    /// # Errors
    /// Returns an error if a result of Lehr is wrong.
    fn seconds(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>>;

    /// Returns the seconds of the computation in this many stages, without messages; 0 if there is no computation.
    ///
    /// # Errors
    /// Returns the errors of [`seconds`](Self::seconds).
    fn computation(&self, bench: &mut Bench, stages: usize) -> Result<Option<f64>>;
}

/// The limits of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of stages of a sample.
    pub stages: usize,
    /// The time limit of a sample; a sample that would last longer has fewer stages.
    pub seconds: f64,
}

/// The samples of one side.
pub struct TakenOf<S> {
    /// The side that was measured.
    pub side: S,
    /// The number of stages of each sample.
    pub stages: usize,
    /// The overhead of a stage over the computation, in microseconds.
    pub samples: Samples,
}

/// Has all sides that do the case take turns for `rounds` rounds; returns nothing if the session is stopped meanwhile.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong.
pub fn overheads_us<S: Side>(
    bench: &mut Bench,
    limits: Limits,
    rounds: usize,
    sides: Vec<S>,
) -> Result<Vec<TakenOf<S>>> {
    let mut able = Vec::new();
    for side in sides {
        if let Some(stages) = fitting_stages(bench, limits, &side)? {
            able.push((side, stages));
        }
    }
    let taken = bench.take_turns(rounds, &mut able, |bench, (side, stages)| overhead_us(bench, side, *stages))?;
    let of =
        |((side, stages), samples): ((S, usize), Option<Samples>)| Some(TakenOf { side, stages, samples: samples? });
    Ok(able.into_iter().zip(taken).filter_map(of).collect())
}

/// Returns the number of stages of a sample, or `None` if the engine does not do this case. It also warms the side up.
fn fitting_stages(bench: &mut Bench, limits: Limits, side: &impl Side) -> Result<Option<usize>> {
    let mut stages = limits.stages.min(FIRST_LOOK);
    loop {
        let Some(seconds) = side.seconds(bench, stages)? else { return Ok(None) };
        if seconds >= TELLING * limits.seconds || stages == limits.stages {
            return Ok(Some(fitting(stages, seconds, limits)));
        }
        stages = limits.stages.min(8 * stages);
    }
}

/// Returns the number of stages that fit into the limit, given the time of a first measurement. It is at least that of
/// the first measurement, and at most the requested number.
fn fitting(stages: usize, seconds: f64, limits: Limits) -> usize {
    let most = limits.stages;
    ((limits.seconds / seconds * stages as f64) as usize).clamp(most.min(FIRST_LOOK), most)
}

fn overhead_us(bench: &mut Bench, side: &impl Side, stages: usize) -> Result<Option<f64>> {
    let Some(computation) = side.computation(bench, stages)? else { return Ok(None) };
    let seconds = side.seconds(bench, stages)?;
    Ok(seconds.map(|seconds| (seconds - computation) / stages as f64 * 1e6))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::bench::Lab;

    /// A side whose stage lasts three microseconds, two of them computation; or that does nothing.
    struct Clockwork(bool);

    impl Side for Clockwork {
        fn seconds(&self, _: &mut Bench, stages: usize) -> Result<Option<f64>> {
            Ok(self.0.then_some(stages as f64 * 3e-6))
        }

        fn computation(&self, _: &mut Bench, stages: usize) -> Result<Option<f64>> {
            Ok(Some(stages as f64 * 2e-6))
        }
    }

    #[test]
    fn overhead_is_what_is_left_of_a_stage_without_its_computation() {
        let lab = Lab { name: "none", folder: "no such folder", programs: &[], how_to_build: "there are none" };
        let mut bench = Bench::start(&lab, Path::new(lab.folder), Box::new(|| false)).unwrap();
        let limits = Limits { stages: 500_000, seconds: 0.003 };
        let taken = overheads_us(&mut bench, limits, 3, vec![Clockwork(true), Clockwork(false)]).unwrap();
        assert_eq!(taken.len(), 1);
        assert!((999..=1000).contains(&taken[0].stages));
        assert_eq!(taken[0].samples.values().len(), 3);
        assert!(taken[0].samples.values().iter().all(|overhead| (overhead - 1.0).abs() < 1e-9));
    }

    #[test]
    fn a_sample_has_as_many_stages_as_fit_into_its_time() {
        let limits = |stages| Limits { stages, seconds: 0.5 };
        assert_eq!(fitting(20, 0.02, limits(500_000)), 500);
        assert_eq!(fitting(20, 1e-6, limits(500_000)), 500_000);
        assert_eq!(fitting(20, 30.0, limits(500_000)), FIRST_LOOK);
        assert_eq!(fitting(3, 30.0, limits(3)), 3);
    }
}
