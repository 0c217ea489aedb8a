//! A choice between several branches: takes from the first branch that is ready, and only from that branch.
//!
//! A choice polls its branches in order. Each branch is a future that holds nothing while it waits ([`Cancellable`]). A
//! branch that becomes ready takes its items in that one step. The other branches are dropped before the choice gives
//! its output, and leave their items in their ports in their positions. Branches need not agree on the winner: one task
//! polls them one after the other, and the first that claims ends the choice. An item that is being handed to a losing
//! branch is still counted by its port. When the choice is decided, the port offers the item to the next waiter in
//! line.
//!
//! If several branches are ready, the branch that was declared first wins (*biased*, the default). Each *fair* choice
//! draws a new order. Branches keep their registrations from one poll to the next; only the end of the choice ends the
//! registrations.

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Pending, Ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::thread_local;

use super::exchange::{Exchange, Rule, Sources};
use super::gather::{Gather, Results};
use super::join::{Branches, Join};
use super::receive::Receive;
use super::take::Take;
use crate::context::WithContext;
use crate::dispatch::{as_one_wait, may_go_on};
use crate::port::gauges::Drained;
use crate::port::permit::{PostWait, Reserve};
use crate::reply::Answer;
use crate::task::{Task, YieldNow};
use crate::timer::{Sleep, Tick, Timeout};

/// Seals [`Cancellable`] and [`Choices`].
mod sealed {
    pub trait Future {}
    pub trait Choices {}
}

/// A future that may be dropped at any moment without losing anything, as a branch of a choice must be.
///
/// Sealed. Implemented for the waits of this crate, such as receives, joins, choices, reservations, timers, answers and
/// tasks. References to branches and boxes of branches are branches too. [`std::future::ready`] is a branch that is
/// always ready. A task that loses is cancelled, and an answer that loses is given up, as always when their handles are
/// dropped. Use `&mut task` as the branch to let the task continue. A waiting post holds an item, so it can be a branch
/// only as `&mut post`. For your own futures, see [`cancel_safe`].
///
/// A persistent receiver cannot be a branch, because it would have to be registered again after each choice that it
/// loses:
/// ```compile_fail,E0277
/// # use lehr_runtime::{Dispatcher, Port, choice};
/// # async fn wrong(dispatcher: Dispatcher, port: Port<u8>) {
/// let receiver = port.on(dispatcher.handle(), 1, |_| async {});
/// choice! { _ = receiver => () }
/// # }
/// ```
///
/// A future that may hold an item when it is dropped cannot be a branch either:
/// ```compile_fail,E0277
/// # use lehr_runtime::{Port, choice};
/// # async fn wrong(port: Port<u8>) {
/// choice! { sum = Box::pin(async { port.receive().await.unwrap() + port.receive().await.unwrap() }) => () }
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a branch of a choice",
    label = "not known to lose nothing when it is dropped",
    note = "branches are receives, takes, joins, gathers, exchanges, timers, replies and tasks; a persistent receiver is none",
    note = "if dropping this future at any await loses nothing, say so with `cancel_safe(future)`"
)]
pub trait Cancellable: Future + Unpin + sealed::Future {
    /// Returns the same branch with its output changed, so that branches with different outputs fit into one `Vec`.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Cancellable, Port, block_on, choose};
    /// let (numbers, words) = (Port::<u32>::new(), Port::<&str>::new());
    /// words.post("seven").unwrap();
    /// let branches: Vec<Box<dyn Cancellable<Output = usize>>> = vec![
    ///     Box::new(numbers.receive().map(|number| number.unwrap() as usize)),
    ///     Box::new(words.receive().map(|word| word.unwrap().len())),
    /// ];
    /// assert_eq!(block_on(choose(branches)), (1, 5));
    /// ```
    fn map<F, U>(self, change: F) -> Mapped<Self, F>
    where
        Self: Sized,
        F: FnOnce(Self::Output) -> U + Unpin,
    {
        Mapped { branch: self, change: Some(change) }
    }
}

macro_rules! cancellable {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> sealed::Future for $type {}
        impl<$($generics)*> Cancellable for $type {}
    )*};
}

cancellable! {
    ['a, T] Receive<'a, T>;
    ['a, T] Take<'a, T>;
    [B: Branches] Join<B>;
    [R: Results] Gather<R>;
    ['a, T, L: Sources, R: Rule<T, Source = L::Source>] Exchange<'a, T, L, R>;
    [B: Choices] Choice<B>;
    [T] Answer<T>;
    ['a, T] Drained<'a, T>;
    ['a, T] Reserve<'a, T>;
    ['r, 'a, T] &'r mut PostWait<'a, T>;
    [T] Task<T>;
    [] YieldNow;
    [] Sleep;
    ['a] Tick<'a>;
    [F: Cancellable] Timeout<F>;
    [F: Cancellable + Future<Output = Result<U, E>>, U, E] WithContext<F>;
    [T] Ready<T>;
    [T] Pending<T>;
    ['a, F: Cancellable + ?Sized] &'a mut F;
    [F: Cancellable + ?Sized] Box<F>;
    [F: Cancellable, U, M: FnOnce(F::Output) -> U + Unpin] Mapped<F, M>;
    [F: Future + Unpin] CancelSafe<F>;
}

/// See [`Cancellable::map`].
///
/// # Example
/// See [`Cancellable::map`].
#[must_use = "futures do nothing unless awaited"]
pub struct Mapped<F, M> {
    branch: F,
    change: Option<M>,
}

impl<F, M> fmt::Debug for Mapped<F, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Mapped").finish_non_exhaustive()
    }
}

impl<F: Cancellable, U, M: FnOnce(F::Output) -> U + Unpin> Future for Mapped<F, M> {
    type Output = U;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<U> {
        let this = &mut *self;
        Pin::new(&mut this.branch).poll(context).map(|output| {
            let change = this.change.take().expect("a mapped branch is not polled after it has ended");
            change(output)
        })
    }
}

/// Lets any future be a branch; you guarantee that dropping it while it waits loses nothing.
///
/// Pin a future that must not move in memory first: `cancel_safe(pin!(future))`.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, cancel_safe, choice};
/// let port = Port::<u8>::new();
/// // One await on something that holds nothing: dropping the block loses nothing.
/// let first = std::pin::pin!(async { port.receive().await.map(|item| item * 2) });
/// port.post(21).unwrap();
/// assert_eq!(block_on(async { choice! { doubled = cancel_safe(first) => doubled } }), Ok(42));
/// ```
pub fn cancel_safe<F: Future + Unpin>(future: F) -> CancelSafe<F> {
    CancelSafe(future)
}

/// See [`cancel_safe`].
///
/// # Example
/// See [`cancel_safe`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct CancelSafe<F>(F);

impl<F: Future + Unpin> Future for CancelSafe<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

/// The winning branch of a choice, with its output. Variants for which the choice has no branch cannot occur.
///
/// # Example
/// ```
/// use lehr_runtime::{OneOf, Port, block_on, choose};
/// let (a, b) = (Port::<u8>::new(), Port::<char>::new());
/// b.post('b').unwrap();
/// match block_on(choose((a.receive(), b.receive()))) {
///     OneOf::First(number) => unreachable!("{number:?} was never posted"),
///     OneOf::Second(letter) => assert_eq!(letter, Ok('b')),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the positions of the branches")]
pub enum OneOf<
    A,
    B = Infallible,
    C = Infallible,
    D = Infallible,
    E = Infallible,
    F = Infallible,
    G = Infallible,
    H = Infallible,
> {
    First(A),
    Second(B),
    Third(C),
    Fourth(D),
    Fifth(E),
    Sixth(F),
    Seventh(G),
    Eighth(H),
}

/// The branches of a choice. A tuple of one to eight branches of any kinds gives a [`OneOf`]. A `Vec` with any number
/// of branches of one kind gives the position of the winner and its output. Sealed.
pub trait Choices: sealed::Choices + Unpin {
    /// The output of the choice: which branch has won, and its output.
    type Output;
    /// The positions of the branches, in the order in which they are polled.
    #[doc(hidden)]
    type Order: AsMut<[usize]> + Unpin;

    #[doc(hidden)]
    fn order(&self) -> Self::Order;
    #[doc(hidden)]
    fn poll(&mut self, order: &mut Self::Order, context: &mut Context<'_>) -> Poll<Self::Output>;
}

impl<F: Cancellable> sealed::Choices for Vec<F> {}

impl<F: Cancellable> Choices for Vec<F> {
    type Output = (usize, F::Output);
    type Order = Vec<usize>;

    fn order(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    fn poll(&mut self, order: &mut Vec<usize>, context: &mut Context<'_>) -> Poll<Self::Output> {
        for &branch in &*order {
            if let Poll::Ready(output) = Pin::new(&mut self[branch]).poll(context) {
                return Poll::Ready((branch, output));
            }
        }
        Poll::Pending
    }
}

macro_rules! choices {
    ($count:literal: $($branch:ident $variant:ident $index:tt),+) => {
        impl<$($branch: Cancellable),+> sealed::Choices for ($($branch,)+) {}

        impl<$($branch: Cancellable),+> Choices for ($($branch,)+) {
            type Output = OneOf<$($branch::Output),+>;
            type Order = [usize; $count];

            fn order(&self) -> Self::Order {
                [$($index),+]
            }

            fn poll(&mut self, order: &mut Self::Order, context: &mut Context<'_>) -> Poll<Self::Output> {
                for &mut branch in order {
                    match branch {
                        $($index => {
                            if let Poll::Ready(output) = Pin::new(&mut self.$index).poll(context) {
                                return Poll::Ready(OneOf::$variant(output));
                            }
                        })+
                        _ => unreachable!("a choice has no branch {branch}"),
                    }
                }
                Poll::Pending
            }
        }
    };
}

choices!(1: A First 0);
choices!(2: A First 0, B Second 1);
choices!(3: A First 0, B Second 1, C Third 2);
choices!(4: A First 0, B Second 1, C Third 2, D Fourth 3);
choices!(5: A First 0, B Second 1, C Third 2, D Fourth 3, E Fifth 4);
choices!(6: A First 0, B Second 1, C Third 2, D Fourth 3, E Fifth 4, F Sixth 5);
choices!(7: A First 0, B Second 1, C Third 2, D Fourth 3, E Fifth 4, F Sixth 5, G Seventh 6);
choices!(8: A First 0, B Second 1, C Third 2, D Fourth 3, E Fifth 4, F Sixth 5, G Seventh 6, H Eighth 7);

/// Waits for the first of several branches. Use this function in place of [`choice!`](crate::choice) for branches whose
/// number is known only at run time, or that are made elsewhere.
///
/// If several branches are ready, the first in order wins, unless the choice is made [`fair`](Choice::fair). The other
/// branches are dropped before the choice gives its output: their items stay in their ports in their positions.
/// Cancel-safe, because the branches are.
///
/// Cost: a poll of each branch up to the winner, each time the choice is woken. Branches after the winner that were
/// never polled have not registered. A tuple needs no allocation.
///
/// # Panics
/// Panics if there are no branches: such a choice would wait for ever.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, choose};
/// let ports: Vec<Port<char>> = (0..3).map(|_| Port::new()).collect();
/// ports[1].post('b').unwrap();
/// ports[2].post('c').unwrap();
/// let winner = block_on(choose(ports.iter().map(Port::receive).collect::<Vec<_>>()));
/// assert_eq!(winner, (1, Ok('b')));
/// assert_eq!(ports[2].len(), 1);
/// ```
pub fn choose<B: Choices>(branches: B) -> Choice<B> {
    let mut order = branches.order();
    assert!(!order.as_mut().is_empty(), "a choice of no branches would wait for ever");
    Choice { branches: Some(branches), order }
}

thread_local! {
    /// The position in this thread's sequence of draws.
    #[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
    static DRAWS: Cell<u64> = Cell::new(0);
}

/// See [`choose`].
///
/// # Example
/// See [`choose`].
#[must_use = "a choice does nothing unless awaited"]
pub struct Choice<B: Choices> {
    /// The branches; `None` once the choice has been made.
    branches: Option<B>,
    order: B::Order,
}

impl<B: Choices> Choice<B> {
    /// Draws a random order in which this choice polls its branches. Each order is equally likely, so over many choices
    /// no branch is preferred.
    ///
    /// The draws of a thread follow one sequence, which is the same in every run. But the dispatcher decides which
    /// thread makes which choice. For reproducible draws, use [`fair_by`](Self::fair_by).
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on, choose};
    /// let (a, b) = (Port::new(), Port::new());
    /// (0..64).for_each(|i| [&a, &b].iter().for_each(|port| port.post(i).unwrap()));
    /// (0..64).for_each(|_| drop(block_on(choose((a.receive(), b.receive())).fair())));
    /// assert!(!a.is_empty() && !b.is_empty());
    /// ```
    pub fn fair(self) -> Self {
        DRAWS.with(|draws| {
            let mut ties = TieBreaker { state: draws.get() };
            let choice = self.fair_by(&mut ties);
            draws.set(ties.state);
            choice
        })
    }

    /// Does the same as [`fair`](Self::fair), with draws from your own sequence.
    ///
    /// # Example
    /// See [`TieBreaker`].
    pub fn fair_by(mut self, ties: &mut TieBreaker) -> Self {
        ties.shuffle(self.order.as_mut());
        self
    }
}

impl<B: Choices> fmt::Debug for Choice<B> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Choice").field("is_made", &self.branches.is_none()).finish_non_exhaustive()
    }
}

impl<B: Choices> Future for Choice<B> {
    type Output = B::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let branches = this.branches.as_mut().expect("a choice is not polled after it has been made");
        if !may_go_on(context) {
            return Poll::Pending;
        }
        let output = as_one_wait(|| branches.poll(&mut this.order, context));
        if output.is_ready() {
            // The losing branches are dropped before the winner's handler runs.
            this.branches = None;
        }
        output
    }
}

/// Breaks ties between the branches of fair choices, with a sequence of numbers that is the same for the same seed.
///
/// # Example
/// ```
/// use lehr_runtime::{OneOf, Port, TieBreaker, block_on, choose};
/// let winners = |seed| {
///     let (a, b) = (Port::new(), Port::new());
///     let mut ties = TieBreaker::seeded(seed);
///     (0..32).for_each(|_| { a.post(()).unwrap(); b.post(()).unwrap() });
///     let mut one = || block_on(choose((a.receive(), b.receive())).fair_by(&mut ties));
///     (0..32).map(|_| matches!(one(), OneOf::First(_))).collect::<Vec<bool>>()
/// };
/// assert_eq!(winners(7), winners(7));
/// assert_ne!(winners(7), winners(8));
/// ```
#[derive(Clone, Debug)]
pub struct TieBreaker {
    state: u64,
}

impl TieBreaker {
    /// Creates a tie breaker with the sequence of this seed.
    ///
    /// # Example
    /// See [`TieBreaker`].
    pub fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number: SplitMix64 (Steele, Lea and Flood 2014), whose only state is a counter.
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.state;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Shuffles an order of branches. Every order is equally likely, except for one part in 2^64 over the number of
    /// branches.
    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let bound = last as u128 + 1;
            let place = (u128::from(self.draw()) * bound) >> 64;
            order.swap(last, place as usize);
        }
    }
}

/// Checks each branch for the macro, so that the compiler's error points at an unsuitable branch.
#[doc(hidden)]
pub fn branch<F: Cancellable>(future: F) -> F {
    future
}

/// Waits for the first of several branches and runs its handler.
///
/// Each branch is `pattern = future => handler`. There are at most eight branches, and their futures are
/// [`Cancellable`]. The handler is any expression of the surrounding code; `.await`, `?`, `break` and `return` work in
/// it as usual. All handlers must have the same type. Exactly one handler runs. Before it does, the other branches are
/// dropped: their items stay in their ports in their positions, and no registration remains. Cancel-safe while it
/// waits.
///
/// If several branches are ready at once, the first declared wins. With `fair;` before the branches, each choice draws
/// an order instead; with `fair(&mut ties);` it draws the order from a [`TieBreaker`].
///
/// The patterns must always match, because a branch gives the output of its future. The output of a receive is a
/// `Result`, so the handler must deal with a closed port.
///
/// For branches made at run time, use [`choose`].
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, choice, join};
/// let (words, left, right) = (Port::<&str>::new(), Port::new(), Port::new());
/// left.post(1).unwrap();
/// right.post(2).unwrap();
/// let sum = block_on(async {
///     choice! {
///         word = words.receive() => word.unwrap().len(),
///         pair = join((&left, &right)) => {
///             let (a, b) = pair.unwrap();
///             a + b
///         }
///     }
/// });
/// assert_eq!(sum, 3);
/// assert_eq!(words.waiting(), 0);
/// ```
#[macro_export]
macro_rules! choice {
    (biased; $($branches:tt)+) => { $crate::__choice!([] () () $($branches)+) };
    (fair; $($branches:tt)+) => { $crate::__choice!([.fair()] () () $($branches)+) };
    (fair($ties:expr); $($branches:tt)+) => { $crate::__choice!([.fair_by($ties)] () () $($branches)+) };
    ($($branches:tt)+) => { $crate::__choice!([] () () $($branches)+) };
}

/// Reads the branches of [`choice!`] one by one. The macro's arguments: how ties are broken, the futures so far, the
/// patterns and handlers so far, the remaining branches.
#[doc(hidden)]
#[macro_export]
macro_rules! __choice {
    ($how:tt ($($future:tt)*) ($($arm:tt)*) $pattern:pat = $branch:expr => $handler:block, $($rest:tt)*) => {
        $crate::__choice!($how ($($future)* [$branch]) ($($arm)* [$pattern => $handler]) $($rest)*)
    };
    ($how:tt ($($future:tt)*) ($($arm:tt)*) $pattern:pat = $branch:expr => $handler:block $($rest:tt)*) => {
        $crate::__choice!($how ($($future)* [$branch]) ($($arm)* [$pattern => $handler]) $($rest)*)
    };
    ($how:tt ($($future:tt)*) ($($arm:tt)*) $pattern:pat = $branch:expr => $handler:expr, $($rest:tt)*) => {
        $crate::__choice!($how ($($future)* [$branch]) ($($arm)* [$pattern => $handler]) $($rest)*)
    };
    ($how:tt ($($future:tt)*) ($($arm:tt)*) $pattern:pat = $branch:expr => $handler:expr) => {
        $crate::__choice!($how ($($future)* [$branch]) ($($arm)* [$pattern => $handler]))
    };
    ([$($how:tt)*] ($([$future:expr])+) $arms:tt) => {{
        // The choice is a separate statement, so that the handler can use the values that the branches borrowed.
        let chosen = $crate::choose(($($crate::__branch($future),)+))$($how)*.await;
        $crate::__chosen!(chosen () (First Second Third Fourth Fifth Sixth Seventh Eighth) $arms)
    }};
}

/// The `match` of [`choice!`]: assigns each pattern the variant of its position.
#[doc(hidden)]
#[macro_export]
macro_rules! __chosen {
    ($chosen:ident ($($arm:tt)*) $variants:tt ()) => {
        match $chosen { $($arm)* }
    };
    (
        $chosen:ident ($($arm:tt)*) ($variant:ident $($variants:ident)*)
        ([$pattern:pat => $handler:expr] $($rest:tt)*)
    ) => {
        $crate::__chosen!(
            $chosen ($($arm)* $crate::OneOf::$variant($pattern) => $handler,) ($($variants)*) ($($rest)*)
        )
    };
}
