//! The communicator of a rank: its number, the other ranks, and the calls that reach them.
//!
//! A communicator is a group of ranks with its own context in the fabric, so that its messages never mix with messages
//! of other communicators. Messages between two ranks are in `point_to_point.rs`, collectives in `collective/` (one per
//! file), and new communicators in `group.rs`.

use std::fmt;
use std::future::poll_fn;

use lehr_runtime::Elapsed;
use lehr_sync::Arc;

use crate::check::{Made, dissent, mismatch};
use crate::collective::{Calls, Pace};
use crate::error::Error;
use crate::fabric::Fabric;
use crate::fabric::threads::exchange::{CALL_BITS, Deposits, Disagreement, Endpoint, Trouble};
use crate::group::Group;
use crate::message::Reader;
use crate::reduction::Fold;
use crate::settings::Settings;
use crate::trace::Activity;

/// One rank's end of a group of ranks.
///
/// Messages between two ranks need only a shared reference to the communicator, so that several messages can be in
/// progress at once. Collectives need an exclusive reference, because all ranks call the same collectives in the same
/// order. To run a collective at the same time as messages or another collective, make a [duplicate](Self::duplicate).
///
/// If a rank ends, by returning or by a panic, all ranks that wait for it get [`Error::RankLeft`].
///
/// The future of a collective may be dropped while it waits. Between threads, the rank's part is then already done, and
/// its next collective first waits until the abandoned collective is complete. A collective that is dropped during this
/// wait has not begun. On other fabrics, every later collective of this communicator returns [`Error::Abandoned`] on
/// this rank. After a failed collective, later collectives return the same error. Other ranks learn of the abandoned
/// collective when this rank ends.
pub struct Communicator {
    pub(crate) fabric: Arc<dyn Fabric>,
    pub(crate) group: Group,
    /// This rank's end of the exchange, which collectives between threads use; `None` on every other fabric.
    pub(crate) exchange: Option<Endpoint>,
    pub(crate) settings: Settings,
    /// The collectives over messages that this rank has begun.
    pub(crate) calls: Calls,
    /// Limits how many one-way messages this rank may be ahead of other ranks, in collectives over messages.
    pub(crate) pace: Pace,
    /// The reason why no further collective over messages can begin: an earlier collective failed or was abandoned.
    pub(crate) stopped: Option<Error>,
    /// This rank's fold of its own leaves.
    pub(crate) own: Fold,
    /// This rank's fold of all ranks' covers, which it uses if it is the last rank to arrive, or if each rank folds for
    /// itself.
    pub(crate) whole: Fold,
}

impl fmt::Debug for Communicator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Communicator")
            .field("rank", &self.rank())
            .field("size", &self.size())
            .field("fabric", &self.fabric.name())
            .finish()
    }
}

macro_rules! calls {
    ($($call:ident $name:literal,)*) => {
        /// The collective that a message belongs to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Call { Unknown = 0, $($call,)* }

        impl Call {
            pub(crate) const fn name(self) -> &'static str {
                match self { Self::Unknown => "an unknown collective", $(Self::$call => $name,)* }
            }

            pub(crate) fn of(word: u64) -> Self {
                $(if word == Self::$call as u64 { return Self::$call; })*
                Self::Unknown
            }
        }
    };
}

calls! {
    Barrier "barrier",
    Broadcast "broadcast",
    Gather "gather",
    Scatter "scatter",
    ScatterV "scatter_v",
    AllGather "all_gather",
    AllGatherV "all_gather_v",
    AllToAll "all_to_all",
    AllToAllV "all_to_all_v",
    Reduce "reduce",
    AllReduce "all_reduce",
    AllReduceLeaves "all_reduce_leaves",
    AllReduceElementwise "all_reduce_elementwise",
    ReduceScatter "reduce_scatter",
    Scan "scan",
    ExclusiveScan "exclusive_scan",
    Split "split",
    Shift "shift",
    Exchange "exchange",
    ExchangeOn "exchange_on",
}

/// The first word of a fold's result if all ranks agree.
const AGREED: u64 = 0;
/// The first word of a fold's result if two ranks disagree. The next words are the numbers of the two ranks, and then
/// their heads.
const DISAGREED: u64 = 1;

/// The number of words in the head of a message: the call, and one number. All ranks must have the same head.
pub(crate) const HEAD: usize = 2;

impl Communicator {
    /// Creates a communicator of all ranks over one end of a fabric.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Communicator, fabric::bytes};
    /// let world: Vec<_> = bytes::endpoints(2).into_iter().map(Communicator::over).collect();
    /// assert_eq!((world[1].rank(), world[1].size()), (1, 2));
    /// ```
    pub fn over(fabric: impl Fabric + 'static) -> Self {
        let fabric: Arc<dyn Fabric> = Arc::new(fabric);
        let group = Group::all(fabric.rank(), fabric.size());
        Self::on(fabric, group, None)
    }

    pub(crate) fn on_threads(fabric: Arc<dyn Fabric>, exchange: Endpoint) -> Self {
        let group = Group::all(fabric.rank(), fabric.size());
        Self::on(fabric, group, Some(exchange))
    }

    pub(crate) fn on(fabric: Arc<dyn Fabric>, group: Group, exchange: Option<Endpoint>) -> Self {
        let settings = Settings::default();
        let pace = Pace::new(if exchange.is_none() { group.size() } else { 0 });
        Self {
            fabric,
            group,
            exchange,
            settings,
            calls: Calls::default(),
            pace,
            stopped: None,
            own: Fold::new(0),
            whole: Fold::new(0),
        }
    }

    /// Returns this rank's number, from 0.
    pub fn rank(&self) -> usize {
        self.group.rank()
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.group.size()
    }

    pub(crate) fn assert_rank(&self, role: &str, rank: usize) {
        assert!(rank < self.size(), "{role} {rank} of {} ranks", self.size());
    }

    /// Returns this rank's end of the exchange, which collectives between threads use.
    pub(crate) fn shared(&self) -> &Endpoint {
        self.exchange.as_ref().expect("asked for only where there is one")
    }

    async fn wait(&mut self, call: Call) -> Result<(), Error> {
        let exchange = self.exchange.as_mut().expect("asked for only where there is one");
        let _waiting = self.settings.track.as_ref().map(|track| track.begin(Activity::Wait, call.name()));
        let complete = poll_fn(|context| exchange.poll_complete(context));
        let completed = match &self.settings.patience {
            None => complete.await,
            Some((clock, limit)) => match clock.timeout(*limit, complete).await {
                Ok(completed) => completed,
                Err(Elapsed) => {
                    let limit = *limit;
                    let rank = self.shared().absent();
                    return Err(self.failed(Error::Late { rank, waiting_in: call.name(), limit }));
                }
            },
        };
        completed.map_err(|trouble| self.troubled(call, trouble))
    }

    /// Returns the error of a call between threads that cannot complete.
    pub(crate) fn troubled(&self, call: Call, trouble: Trouble) -> Error {
        match trouble {
            Trouble::Left(rank) => self.failed(Error::RankLeft { rank, waiting_in: call.name() }),
            Trouble::Disagreement(Disagreement { usual, other }) => {
                self.blame(other.0);
                let made = |(rank, head): (usize, [u64; 2])| Made { rank, head };
                mismatch(call, self.size(), made(usual), made(other))
            }
        }
    }

    /// Returns the given error. If the error says that this rank cannot continue because of another rank, records the
    /// other rank for the ranks that wait for this rank.
    pub(crate) fn failed(&self, error: Error) -> Error {
        if let Error::RankLeft { rank, .. } | Error::Late { rank: Some(rank), .. } = error {
            self.blame(rank);
        }
        error
    }

    pub(crate) fn blame(&self, culprit: usize) {
        self.fabric.fail(self.group.blame(culprit));
    }

    /// Waits until abandoned communication is complete: an exchange, or a one-way message that this rank must receive.
    pub(crate) async fn settle(&mut self, call: Call) -> Result<(), Error> {
        if self.shared().owed().is_some() {
            self.hear_what_is_owed(call).await?;
        }
        let _noting = if self.shared().is_waiting() { self.noting(Activity::Communication, call.name()) } else { None };
        while self.shared().is_waiting() {
            self.wait(call).await?;
        }
        Ok(())
    }

    /// Runs an exchange: deposits a message, whose body `write` appends, arrives, and waits until all ranks have
    /// arrived. Compares the heads of all messages; `fold` runs only if they are the same.
    pub(crate) async fn meet(
        &mut self,
        call: Call,
        number: usize,
        write: impl FnOnce(&mut Vec<u64>, &Fold),
        mut fold: impl FnMut(&Deposits<'_>, &mut Vec<u64>, &mut Fold),
    ) -> Result<(), Error> {
        let _noting = self.noting(Activity::Communication, call.name());
        let exchange = self.exchange.as_mut().expect("asked for only where there is one");
        // The head has the digest of all earlier calls, so that a rank that has left out a call is found here.
        let digest = exchange.digest();
        let message = exchange.deposit();
        message.extend([digest << CALL_BITS | call as u64, number as u64]);
        write(message, &self.own);
        let whole = &mut self.whole;
        exchange.arrive(&mut |deposits, folded| fold_agreed(deposits, folded, whole, &mut fold));
        self.wait(call).await?;
        let exchange = self.exchange.as_mut().expect("asked for only where there is one");
        let whole = &mut self.whole;
        exchange.fold(&mut |deposits, folded| fold_agreed(deposits, folded, whole, &mut fold));
        let folded = self.shared().folded();
        if folded[0] == AGREED {
            return Ok(());
        }
        let [_, usual, other, usual_call, usual_number, other_call, other_number] = folded[..] else {
            unreachable!("a disagreement has seven words")
        };
        if let Some(found) = self.shared().divergence(usual as usize, other as usize) {
            return Err(self.troubled(call, Trouble::Disagreement(found)));
        }
        let made =
            |rank: u64, call: u64, number: u64| (self.group.world(rank as usize), [call % (1 << CALL_BITS), number]);
        let (usual, other) = (made(usual, usual_call, usual_number), made(other, other_call, other_number));
        Err(self.troubled(call, Trouble::Disagreement(Disagreement { usual, other })))
    }

    /// Returns the body of a rank's message in the last completed exchange.
    pub(crate) fn deposited(&self, rank: usize) -> Reader<'_> {
        Reader::new(&self.shared().deposited(rank)[HEAD..])
    }

    /// Returns the result of the fold in the last completed exchange.
    pub(crate) fn folded(&self) -> Reader<'_> {
        Reader::new(&self.shared().folded()[1..])
    }
}

/// Folds the deposits if their heads agree; the first word of the result says whether they do.
fn fold_agreed(
    deposits: &Deposits<'_>,
    folded: &mut Vec<u64>,
    whole: &mut Fold,
    fold: &mut impl FnMut(&Deposits<'_>, &mut Vec<u64>, &mut Fold),
) {
    let head = |rank| &deposits.of(rank)[..HEAD];
    if let Some((usual, other)) = dissent(deposits.size(), head) {
        folded.extend([DISAGREED, usual as u64, other as u64]);
        folded.extend(head(usual));
        folded.extend(head(other));
    } else {
        folded.push(AGREED);
        fold(deposits, folded, whole);
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if let (Some(exchange), Some(culprit)) = (&mut self.exchange, self.group.culprit()) {
            exchange.blame(culprit);
        }
    }
}
