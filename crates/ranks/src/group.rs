//! The members of a communicator, their numbers, the contexts of its messages, and the calls that make new
//! communicators.

use lehr_sync::{Arc, Mutex};

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::{Fabric, Pattern};

/// A kind of traffic; each has its own context in a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// The messages that the program sends and receives.
    Messages = 0,
    /// The messages of collectives.
    Collectives = 1,
    /// The receipts of synchronous sends.
    Receipts = 2,
    /// The heads that a checked communicator compares.
    Checks = 3,
    /// Notices between ranks that wait in collectives.
    Notices = 4,
    /// Credits, which limit how many one-way messages one rank may be ahead of another rank.
    Credits = 5,
}

/// The number of contexts reserved for each communicator.
const KINDS: u32 = 8;

/// The ranks of a communicator, and the communicator's number.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    rank: usize,
    size: usize,
    /// Each rank's number in the world; `None` if each rank has the same number in this group and in the world.
    members: Option<Arc<[usize]>>,
    /// The number of this communicator: the same on all its ranks, and different from the numbers of all other
    /// communicators of these ranks.
    number: u32,
    books: Arc<Mutex<Books>>,
}

/// The state that all communicators of a rank share.
#[derive(Debug)]
struct Books {
    /// The next free number, which is above the numbers of all communicators that this rank knows of.
    next: u32,
    /// The number of the last requested receipt.
    receipt: u32,
    /// The receipts, not arrived yet, of synchronous sends that no longer wait.
    owed: Vec<Pattern>,
    /// The rank because of which this rank cannot continue.
    culprit: Option<usize>,
}

impl Group {
    /// Creates the group of all ranks of a fabric.
    pub(crate) fn all(rank: usize, size: usize) -> Self {
        let books = Arc::new(Mutex::new(Books { next: 1, receipt: 0, owed: Vec::new(), culprit: None }));
        Self { rank, size, members: None, number: 0, books }
    }

    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns a rank's number in the world, given its number in this group.
    pub(crate) fn world(&self, rank: usize) -> usize {
        self.members.as_ref().map_or(rank, |members| members[rank])
    }

    /// Returns a rank's number in this group, given its number in the world.
    pub(crate) fn local(&self, world: usize) -> usize {
        let Some(members) = &self.members else { return world };
        members.iter().position(|&member| member == world).expect("who sends in a group's context belongs to it")
    }

    /// Returns the context of a kind of traffic in this communicator.
    pub(crate) fn context(&self, traffic: Traffic) -> u32 {
        self.number * KINDS + traffic as u32
    }

    /// Records a receipt that no send waits for any longer.
    pub(crate) fn owe(&self, receipt: Pattern) {
        self.books.lock().owed.push(receipt);
    }

    /// Returns a number, never 0, for a new receipt. Discards receipts that have arrived and that no send waits for.
    pub(crate) fn receipt(&self, fabric: &dyn Fabric) -> u32 {
        let owed = std::mem::take(&mut self.books.lock().owed);
        // If the fabric returns an error, the receipt will not arrive.
        let still: Vec<Pattern> =
            owed.into_iter().filter(|receipt| matches!(fabric.take_if_come(receipt), Ok(None))).collect();
        let mut books = self.books.lock();
        books.owed.extend(still);
        books.receipt = books.receipt.checked_add(1).unwrap_or(1);
        books.receipt
    }

    /// Records the rank because of which this rank cannot continue. Only the first call counts; returns the rank that
    /// the first call recorded.
    pub(crate) fn blame(&self, culprit: usize) -> usize {
        *self.books.lock().culprit.get_or_insert(culprit)
    }

    pub(crate) fn culprit(&self) -> Option<usize> {
        self.books.lock().culprit
    }
}

impl Communicator {
    /// Splits the ranks into groups, and makes a communicator for each group. All ranks with the same `color` are in
    /// one group, numbered by `key` and, among equal keys, by their numbers in this communicator. A rank without a
    /// `color` is in no group and gets `None`.
    ///
    /// The group's communicator is independent: you may drop the original communicator.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`], [`Error::Mismatch`] or [`Error::Transport`].
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sums = run(&dispatcher, Layout::threads(5), |mut comm| async move {
    ///     let rank = comm.rank();
    ///     // Even and odd ranks, each group numbered backwards.
    ///     let mut part = comm.split(Some(rank as u32 % 2), -(rank as i64)).await?.expect("a color was given");
    ///     let mut sum = [rank];
    ///     part.all_reduce(&mut sum, |left, right| left[0] += right[0]).await?;
    ///     Ok::<_, lehr_ranks::Error>((part.rank(), part.size(), sum[0]))
    /// });
    /// let expected = [(2, 3, 6), (1, 2, 4), (1, 3, 6), (0, 2, 4), (0, 3, 6)];
    /// assert_eq!(sums.unwrap(), expected.map(Ok));
    /// ```
    pub async fn split(&mut self, color: Option<u32>, key: i64) -> Result<Option<Self>, Error> {
        let (rank, size) = (self.rank(), self.size());
        let next = self.group.books.lock().next;
        let mut told = vec![[0_i64; 3]; size];
        let mine = [color.map_or(-1, i64::from), key, i64::from(next)];
        self.all_gather_as(Call::Split, &[mine], &mut told).await?;
        let number = told.iter().map(|told| told[2]).max().expect("there is a rank") as u32;
        self.group.books.lock().next = number + 1;
        if color.is_none() {
            return Ok(None);
        }
        let mut ranks: Vec<usize> = (0..size).filter(|&other| told[other][0] == mine[0]).collect();
        ranks.sort_by_key(|&rank| (told[rank][1], rank));
        let place = ranks.iter().position(|&other| other == rank).expect("this rank gave its own color");
        let members: Arc<[usize]> = ranks.iter().map(|&rank| self.group.world(rank)).collect();
        let exchange = self.exchange.as_ref().map(|exchange| exchange.part(number, &members));
        let books = self.group.books.clone();
        let group = Group { rank: place, size: members.len(), members: Some(members), number, books };
        let mut part = Self::on(self.fabric.clone(), group, exchange);
        part.settings = self.settings.clone();
        Ok(Some(part))
    }

    /// Makes a communicator of the same ranks, whose messages and collectives are separate from the original's.
    ///
    /// # Errors
    /// Returns the same errors as [`split`](Self::split).
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(2), |mut comm| async move {
    ///     let other = comm.duplicate().await?;
    ///     let peer = 1 - comm.rank();
    ///     comm.send(peer, 0, &[1_u8]).await?;
    ///     other.send(peer, 0, &[2_u8]).await?;
    ///     Ok::<_, lehr_ranks::Error>((other.receive::<u8>(peer, 0).await?, comm.receive::<u8>(peer, 0).await?))
    /// });
    /// assert_eq!(heard.unwrap(), [Ok((vec![2], vec![1])), Ok((vec![2], vec![1]))]);
    /// ```
    pub async fn duplicate(&mut self) -> Result<Self, Error> {
        let duplicate = self.split(Some(0), 0).await?;
        Ok(duplicate.expect("a color was given"))
    }
}
