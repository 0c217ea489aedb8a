//! Anneals a summary instead of the rows, if there are many rows in few columns ([`summary`](crate::summary)).
//!
//! The lead anneals the summary alone, including the swaps, because a pass over a summary takes less time than
//! synchronising ranks. The other ranks wait. Iterations over all rows then start from the result. A resumed run
//! computes the same summary again.

use lehr_numerics::tiles::DIRECT_DIMENSION;
use lehr_ranks::timing::Phases;

use super::fit::{Fit, State, Summarized};
use super::{Parameters, Run};
use crate::Error;
use crate::anneal::{Stage, run as shared};
use crate::lloyd::Remembered;
use crate::number::Number;
use crate::round::{Alone, CancellableRounds, LeafCells, Rounds};
use crate::rows::{Rows, Scalar, Storage};
use crate::summary::{Wanted, divide_leaves, merge};

/// The minimum number of rows for which a summary is worthwhile.
const LEAST_ROWS: usize = 5_000;
/// The minimum number of rows for each cell.
const ROWS_A_CELL: usize = 4;
/// The number of cells for each cluster, and the minimum with which cells represent the shape of a cluster.
const CELLS_A_CLUSTER: usize = 50;
const LEAST_CELLS_A_CLUSTER: usize = 10;
/// The limits of the number of cells, whatever the number of clusters.
const CELLS: std::ops::RangeInclusive<usize> = 2_000..=20_000;
/// A search over few clusters takes little time, so they get more cells. The number of cells is `PAIRS` divided by the
/// number of clusters, but at most `CELLS_OF_FEW`. This many cells can distinguish optima whose costs differ by a
/// thousandth.
const PAIRS: usize = 200_000;
const CELLS_OF_FEW: usize = 10_000;
/// The share of the cost below which hidden cost does not matter.
const SHARE: f64 = 1e-3;

/// Returns the size of the summary; `None` if the rows themselves are annealed.
fn wanted<T: Scalar>(rows: &Rows<T>, parameters: &Parameters) -> Option<Wanted> {
    let clusters = parameters.clusters.filter(|&clusters| clusters > 1)?;
    let is_plain = parameters.cost.is_squared() && parameters.sponge.is_none();
    let is_fit = rows.storage == Storage::Numbers && rows.dimension <= DIRECT_DIMENSION && rows.count >= LEAST_ROWS;
    if parameters.exact || parameters.final_temperature().is_some() || !is_plain || !is_fit {
        return None;
    }
    let of_few = (PAIRS / clusters).min(CELLS_OF_FEW);
    let cells = clusters.saturating_mul(CELLS_A_CLUSTER).max(of_few).clamp(*CELLS.start(), *CELLS.end());
    let cells = cells.min(rows.count / ROWS_A_CELL);
    (cells >= LEAST_CELLS_A_CLUSTER * clusters).then_some(Wanted { cells, clusters, share: SHARE })
}

/// Anneals a summary, and returns the state from which the run continues over all rows; `None` if the run starts
/// without such a state.
pub(super) async fn anneal_summary<T: Scalar>(
    run: &Run<'_, '_, T>,
    rounds: &mut dyn Rounds,
    phases: &mut Phases,
    parameters: &Parameters,
) -> Result<Option<State>, Error> {
    let state = run.shared.state.as_ref();
    let Some(wanted) = wanted(&run.rows, parameters) else { return Ok(state.cloned()) };
    if state.is_some_and(State::is_of_all_rows) {
        return Ok(state.cloned());
    }
    shared::begin(rounds, phases, "summarizing");
    let interrupt = run.shared.interrupt(rounds).await?;
    let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
    let divided = divide_leaves(&mut cancellable, &run.rows, wanted, &run.cells).await;
    let hidden = cancellable.outcome(divided)?;
    phases.leave();
    let mut stopped = false;
    if rounds.is_lead() {
        match anneal_alone(run, rounds, phases, parameters, wanted, hidden).await {
            Ok(state) => run.handed_over.with(0, |cell| *cell = Some(state)),
            // All ranks stop together.
            Err(Error::Stopped) => stopped = true,
            Err(error) => return Err(error),
        }
    }
    shared::begin(rounds, phases, Stage::Annealing.name());
    let stopped = rounds.agree(stopped).await?;
    phases.leave();
    if stopped {
        return Err(Error::Stopped);
    }
    let write = |state: &Option<State>, bytes: &mut Vec<u8>| {
        bytes.extend(serde_json::to_vec(state).expect("a state has string keys and finite numbers"));
    };
    let read = |state: &mut Option<State>, bytes: &[u8]| {
        *state = serde_json::from_slice(bytes).expect("what a rank of this run has written");
    };
    rounds.share(&run.handed_over, write, read).await?;
    Ok(run.handed_over.with(0, |state| state.clone()))
}

/// Anneals the summary on the lead.
async fn anneal_alone<T: Scalar>(
    run: &Run<'_, '_, T>,
    rounds: &mut dyn Rounds,
    phases: &mut Phases,
    parameters: &Parameters,
    wanted: Wanted,
    hidden: f64,
) -> Result<State, Error> {
    shared::begin(rounds, phases, "summarizing");
    let summary = merge(run.rows.dimension, &run.cells, hidden, wanted);
    let rows = Rows::standing_for(&run.rows, summary)?;
    phases.leave();
    let memory = LeafCells::new(rows.leaves.len(), |_| Remembered::default());
    let mut rounds = Alone::new(rounds, rows.dealt);
    let mut course = begin(run, &mut rounds, phases, &rows, parameters, run.number.clone(), &memory).await?;
    let hidden = rows.units.squared(rows.hidden.unwrap_or(0.0) / rows.total_weight);
    course.state.finish.summary = Some(Summarized { cells: rows.count, hidden });
    run.shared.walk(&mut rounds, phases, &mut course).await?;
    Ok(course.state)
}

/// Resumes a run over these rows from the run's state, or starts a new one.
async fn begin<'r, T: Scalar>(
    run: &Run<'_, '_, T>,
    rounds: &mut dyn Rounds,
    phases: &mut Phases,
    rows: &'r Rows<T>,
    parameters: &'r Parameters,
    number: Option<Number>,
    memory: &'r LeafCells<Remembered>,
) -> Result<Fit<'r, T>, Error> {
    if let Some(state) = &run.shared.state {
        return Ok(Fit::resume(rows, parameters, memory, state.clone()));
    }
    shared::begin(rounds, phases, Stage::Annealing.name());
    let interrupt = run.shared.interrupt(rounds).await?;
    let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
    let begun = Fit::begin(rows, parameters, number, memory, &mut cancellable).await;
    let begun = cancellable.outcome(begun)?;
    phases.leave();
    Ok(begun)
}
