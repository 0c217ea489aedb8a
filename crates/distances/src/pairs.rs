//! Computes all pairs of items, step by step, and distributes them over ranks. A run reports progress, and can be
//! stopped and resumed.
//!
//! Every step is one round of an engine: each leaf computes its tile of this step ([`Schedule`]) and stores it. No
//! results are combined, so values cannot depend on the rank that computed them. A stop between two rounds loses
//! nothing, and a resumed run gives bit-identical values.

use lehr_ranks::observe::{Control, Observer, Progress};
use lehr_ranks::{Execution, LeafCells, Program, Round, Rounds, drive};

use crate::Error;
use crate::checkpoint::LogReader;
use crate::half::{Half, Precision};
use crate::metric::Metric;
use crate::schedule::Schedule;

/// The finished steps, for callers that store them.
pub struct Finished<'a> {
    /// The number of finished steps: all steps with a lower number are finished.
    pub steps: usize,
    /// Appends the values of a finished step to bytes.
    pub(crate) write: &'a dyn Fn(usize, &mut Vec<u8>),
}

impl std::fmt::Debug for Finished<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Finished").field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// Computes the dissimilarities of all pairs, with the same bits under any engine and on any number of ranks. It starts
/// from the beginning, or from the steps that an interrupted run has stored.
///
/// After each step, it reports to the observer its stage, `comparing`, and two [figures](Progress::figures): the
/// finished pairs, `done`, and all `pairs`. It does not check for an interrupt within a step. It offers no checkpoint;
/// for checkpoints, use [`all_pairs_keeping`].
///
/// Memory: [`Half::bytes`] in each process. With several processes, give each the same metric and the same stored
/// steps.
///
/// # Errors
/// Returns [`Error::Stopped`] if the observer requested a stop, and [`Error::Ranks`] if a rank failed. Returns
/// [`Error::TooLarge`] if no memory could hold the values; to check the memory of this machine, call [`Half::fits`].
/// Also returns the errors of reading the stored steps.
///
/// # Example
/// ```
/// use lehr_data::Fingerprints;
/// use lehr_distances::{Silent, all_pairs, tanimoto::Tanimoto};
/// let compounds = Fingerprints::new(vec![0b0111, 0b0011, 0b1000], 4)?;
/// let half = all_pairs::<f32>(&Tanimoto::new(&compounds), &lehr_ranks::Execution::default(), None, &mut Silent)?;
/// assert_eq!((half.items(), half.get(2, 0)), (3, 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// An observer that stops once half of all pairs are finished:
/// ```
/// use lehr_data::Incomplete;
/// use lehr_distances::{Control, Error, Observer, Progress, all_pairs, rows::{Compared, Measure}};
///
/// struct Half;
///
/// impl Observer for Half {
///     fn progress(&mut self, progress: &Progress) -> Control {
///         if progress.fraction >= Some(0.5) { Control::Stop } else { Control::Continue }
///     }
/// }
///
/// let rows = Incomplete::new((0..300).map(f64::from).collect(), 1)?;
/// let metric = Compared::new(&rows, Measure::Euclidean)?;
/// let stopped = all_pairs::<f32>(&metric, &lehr_ranks::Execution::default(), None, &mut Half);
/// assert!(matches!(stopped, Err(Error::Stopped)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn all_pairs<T: Precision>(
    metric: &dyn Metric,
    execution: &Execution,
    kept: Option<&mut LogReader>,
    observer: &mut dyn Observer,
) -> Result<Half<T>, Error> {
    all_pairs_keeping(metric, execution, kept, observer, &mut |_| {})
}

/// Like [`all_pairs`], and offers the finished part to `keep` after each step but the last, on the lead only.
/// [`Log::append`](crate::checkpoint::Log::append) stores the steps that the log does not have yet. The observer sees a
/// step before `keep` does. If the observer stops the run after a step, `keep` still receives that step.
///
/// # Errors
/// Returns the same errors as [`all_pairs`].
///
/// # Example
/// See [`Log`](crate::checkpoint::Log).
pub fn all_pairs_keeping<T: Precision>(
    metric: &dyn Metric,
    execution: &Execution,
    kept: Option<&mut LogReader>,
    observer: &mut dyn Observer,
    keep: &mut (dyn FnMut(&Finished<'_>) + Send),
) -> Result<Half<T>, Error> {
    let items = metric.items();
    Half::<T>::fits(items, isize::MAX as u64)?;
    let schedule = Schedule::new(items);
    let mut tiles: Vec<Vec<Vec<T>>> = vec![Vec::with_capacity(schedule.steps()); schedule.leaves()];
    let mut first = 0;
    if let Some(kept) = kept {
        while let Some(bytes) = kept.next_step()? {
            let mut rest = &bytes[..];
            for (leaf, tiles) in tiles.iter_mut().enumerate() {
                let values = schedule.tile(leaf, first).map_or(0, |(rows, columns)| rows.len() * columns.len());
                let (mine, after) = rest.split_at(values * T::BYTES);
                tiles.push(mine.chunks_exact(T::BYTES).map(T::read).collect());
                rest = after;
            }
            first += 1;
        }
    }
    let mut told = Some(Reporting { observer, keep });
    let mut tiles = tiles.into_iter();
    let run = Run {
        metric,
        schedule,
        first,
        cells: LeafCells::new(schedule.leaves(), |_| tiles.next().expect("one a leaf")),
        told: LeafCells::new(1, |_| told.take().expect("one cell")),
    };
    drive(execution, items, &run)?;
    Ok(Half::new(items, run.cells))
}

struct Run<'m, 'o, T> {
    metric: &'m dyn Metric,
    schedule: Schedule,
    /// The first step that is not finished.
    first: usize,
    /// The tiles of each leaf, by step.
    cells: LeafCells<Vec<Vec<T>>>,
    /// The observer and the function that stores steps, in a single cell that only the lead uses.
    told: LeafCells<Reporting<'o>>,
}

/// The observer of the steps, and the function that stores them.
struct Reporting<'o> {
    observer: &'o mut dyn Observer,
    keep: &'o mut (dyn FnMut(&Finished<'_>) + Send),
}

impl<T: Precision> Run<'_, '_, T> {
    /// Reports a step; returns true if the observer wants to stop. Only the lead calls it.
    fn observe(&self, steps: usize, done: u64) -> bool {
        let items = self.metric.items() as u64;
        let write = |step: usize, bytes: &mut Vec<u8>| {
            for leaf in 0..self.schedule.leaves() {
                self.cells.with(leaf, |tiles| tiles[step].iter().for_each(|value| value.write(bytes)));
            }
        };
        let pairs = items * (items - 1) / 2;
        let progress = Progress {
            stage: "comparing".into(),
            fraction: Some(done as f64 / pairs.max(1) as f64),
            figures: vec![("done", done as f64), ("pairs", pairs as f64)],
        };
        self.told.with(0, |told| {
            let control = told.observer.progress(&progress);
            if steps < self.schedule.steps() {
                (told.keep)(&Finished { steps, write: &write });
            }
            control == Control::Stop
        })
    }

    fn pairs_before(&self, step: usize) -> u64 {
        (0..step).map(|step| (0..self.schedule.leaves()).map(|leaf| self.schedule.pairs(leaf, step)).sum::<u64>()).sum()
    }
}

impl<T: Precision> Program for Run<'_, '_, T> {
    type Output = ();
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let mut done = self.pairs_before(self.first);
        for step in self.first..self.schedule.steps() {
            let tiles = Tiles { metric: self.metric, schedule: self.schedule, cells: &self.cells, step };
            let mut computed = [0.0];
            rounds.round(&tiles, &mut computed).await?;
            let write =
                |tiles: &Vec<Vec<T>>, bytes: &mut Vec<u8>| tiles[step].iter().for_each(|value| value.write(bytes));
            let read =
                |tiles: &mut Vec<Vec<T>>, bytes: &[u8]| tiles.push(bytes.chunks_exact(T::BYTES).map(T::read).collect());
            rounds.share(&self.cells, write, read).await?;
            // The conversion is exact: a round has fewer pairs than 2^53.
            done += computed[0] as u64;
            let stop = rounds.is_lead() && self.observe(step + 1, done);
            if rounds.agree(stop).await? && step + 1 < self.schedule.steps() {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }
}

/// One step of all leaves.
struct Tiles<'a, T> {
    metric: &'a dyn Metric,
    schedule: Schedule,
    cells: &'a LeafCells<Vec<Vec<T>>>,
    step: usize,
}

impl<T: Precision> Round for Tiles<'_, T> {
    fn len(&self) -> usize {
        1
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial[0] = self.schedule.pairs(leaf, self.step) as f64;
        let tile = self.schedule.tile(leaf, self.step).map_or(Vec::new(), |(rows, columns)| {
            let mut values = vec![0.0; rows.len() * columns.len()];
            self.metric.tile(rows, columns, &mut values);
            values.into_iter().map(T::from_f64).collect()
        });
        self.cells.with(leaf, |tiles| tiles.push(tile));
    }
}
