//! Starts ranks: one task each, on the workers of a dispatcher.

use std::future::Future;

use lehr_runtime::{Dispatcher, TaskError};

use crate::communicator::Communicator;
use crate::error::Error;
use crate::fabric::Kind;
use crate::layout::Layout;

/// Runs `program` once per rank, each time with the rank's communicator, and returns the results in order of rank.
///
/// Your futures may borrow, because your thread sleeps until they are done. There may be more ranks than workers and
/// more workers than cores. Between two awaits, nothing interrupts a rank.
///
/// # Errors
/// Returns [`Error::Invalid`] for a layout without ranks, with too many ranks, or with several processes. Returns
/// [`Error::Panicked`] for a rank whose code panicked. If several ranks panicked, the error names a rank whose panic
/// was not caused by another rank. The waits of the other ranks end with [`Error::RankLeft`], so no rank hangs. Returns
/// [`Error::Cancelled`] if the dispatcher was shut down.
///
/// # Panics
/// Panics if called on a worker of a dispatcher.
///
/// # Example
/// ```
/// use lehr_ranks::{Layout, run};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let numbers = run(&dispatcher, Layout::threads(4), |comm| async move { comm.rank() }).unwrap();
/// assert_eq!(numbers, [0, 1, 2, 3]);
/// ```
pub fn run<T, F, P>(dispatcher: &Dispatcher, layout: Layout, program: P) -> Result<Vec<T>, Error>
where
    P: Fn(Communicator) -> F,
    F: Future<Output = T> + Send,
    T: Send,
{
    run_on(dispatcher, Kind::Threads, layout, program)
}

/// Like [`run`], over a fabric of your choice whose ranks are in this process.
///
/// # Errors
/// Returns the same errors as [`run`].
///
/// # Panics
/// Panics if called on a worker of a dispatcher.
///
/// # Example
/// ```
/// use lehr_ranks::{Layout, fabric::Kind, run_on};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let told = run_on(&dispatcher, Kind::Bytes, Layout::threads(3), |mut comm| async move {
///     let mut value = [comm.rank()];
///     comm.broadcast(2, &mut value).await.map(|()| value[0])
/// });
/// assert_eq!(told.unwrap(), [Ok(2), Ok(2), Ok(2)]);
/// ```
pub fn run_on<T, F, P>(dispatcher: &Dispatcher, kind: Kind, layout: Layout, program: P) -> Result<Vec<T>, Error>
where
    P: Fn(Communicator) -> F,
    F: Future<Output = T> + Send,
    T: Send,
{
    layout.check()?;
    let size = layout.ranks();
    // Spinning ranks must not hold up ranks without a worker, nor workers without a core.
    let may_spin = size <= dispatcher.threads() && !dispatcher.handle().is_oversubscribed();
    let world = kind.communicators(size, may_spin);
    let groups: Vec<_> = world.iter().map(|communicator| communicator.group.clone()).collect();
    let ranks = world.into_iter().map(program);
    let ended = dispatcher.run_all(ranks.collect());
    let panicked = |(rank, outcome): (usize, &Result<T, TaskError>)| match outcome {
        Err(TaskError::Panicked { message }) => Some((rank, message.clone())),
        _ => None,
    };
    // A rank that learned of another's failure may have panicked because of it.
    let is_first = |(rank, _): &(usize, String)| groups[*rank].culprit().is_none_or(|culprit| culprit == *rank);
    let all = || ended.iter().enumerate().filter_map(panicked);
    if let Some((rank, message)) = all().find(is_first).or_else(|| all().next()) {
        return Err(Error::Panicked { rank, message });
    }
    ended.into_iter().enumerate().map(|(rank, outcome)| outcome.map_err(|_| Error::Cancelled { rank })).collect()
}
