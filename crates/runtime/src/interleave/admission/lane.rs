//! A lane is a branch as admission sees it: its waiting and granted items, and its turns.

use std::collections::VecDeque;
use std::task::Waker;

use lehr_sync::Arc;

use super::running::Running;
use super::{Admission, CONCURRENT, EXCLUSIVE, Group, Operation, Order, Phase};
use crate::calls::Frame;
use crate::port::waiters::Ticket;
use crate::port::wake::Wake;

/// An item or call that wants to start.
#[derive(Debug)]
pub(in crate::interleave) struct Entry {
    pub(super) stamp: u64,
    /// The item, by its ticket and its sequence number; `None` if the branch takes its items only when it starts.
    pub(in crate::interleave) item: Option<(Ticket, u64)>,
    /// The chain of calls that waits for the item.
    pub(super) call: Option<Arc<Frame>>,
}

/// The right to start an operation, which a turn of the branch picks up.
#[derive(Debug)]
pub(in crate::interleave) struct Grant {
    pub(in crate::interleave) operation: Operation,
    pub(in crate::interleave) item: Option<(Ticket, u64)>,
    pub(in crate::interleave) call: Option<Arc<Frame>>,
}

/// A branch as admission sees it.
pub(in crate::interleave) struct Lane {
    /// An identity that differs for each use of a position among the lanes.
    pub(in crate::interleave) identity: u64,
    pub(in crate::interleave) group: Group,
    /// The maximum number of handlers of the branch that may run at once.
    pub(super) limit: usize,
    pub(super) running: usize,
    /// The entries that wait to start, by ascending stamp.
    pub(super) pending: VecDeque<Entry>,
    /// The stamp under which the lane is in `heads`; `None` if the lane is not in `heads`.
    pub(super) listed: Option<u64>,
    pub(super) granted: VecDeque<Grant>,
    /// The turns without work, by number; the turn that was added last is woken first.
    pub(super) idle: Vec<(u64, Waker)>,
    /// The maximum number of turns that are kept although they have no work.
    pub(super) turns_kept: usize,
    /// The number of turns that were made for a start and have not ended. A branch that makes all its turns when it is
    /// created does not count them.
    pub(super) turns: usize,
    /// Whether a turn has ended its handler and will ask for the next grant anyway, so that the next grant needs no
    /// wake-up.
    pub(super) is_one_coming: bool,
    /// The number of threads that are giving items back because no handler can take them. Until they are done, offers
    /// are ignored.
    pub(super) declining: usize,
    /// A waker that makes a new turn when it is called.
    pub(super) spawner: Waker,
    pub(in crate::interleave) name: String,
    /// Whether the branch takes no more items. The branch is removed when its last handler has ended.
    pub(in crate::interleave) is_spent: bool,
}

impl Lane {
    pub(in crate::interleave) fn new(
        identity: u64,
        group: Group,
        limit: usize,
        turns_kept: usize,
        spawner: Waker,
        name: String,
    ) -> Self {
        Self {
            identity,
            group,
            limit,
            running: 0,
            pending: VecDeque::new(),
            listed: None,
            granted: VecDeque::new(),
            idle: Vec::new(),
            turns_kept,
            turns: 0,
            is_one_coming: false,
            declining: 0,
            spawner,
            name,
            is_spent: false,
        }
    }

    /// Returns whether items are being given back to the port, while the branch may take no items.
    pub(in crate::interleave) fn is_declining(&self) -> bool {
        self.declining > 0
    }

    /// Returns the waker that makes a turn.
    pub(in crate::interleave) fn spawner(&self) -> Waker {
        self.spawner.clone()
    }

    pub(in crate::interleave) fn pending(&self) -> usize {
        self.pending.len()
    }
}

/// The next step of a branch's turn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::interleave) enum Next {
    /// Run the handler for the granted item.
    Run,
    /// Wait until the turn is woken.
    Park,
    End,
}

/// The remaining work of a branch whose last turn was dropped.
#[derive(Default)]
pub(in crate::interleave) struct Abandoned {
    /// Items that the branch had taken, to be given back.
    pub(in crate::interleave) items: Vec<(Ticket, u64)>,
    /// Operations that had been granted, to be released.
    pub(in crate::interleave) operations: Vec<Operation>,
}

impl Admission {
    /// Returns the next step of a turn. If the step is [`Next::Run`], puts the grant of its item into `granted`.
    /// `is_held` says that the branch needs the turn even if it has no work.
    pub(in crate::interleave) fn next(
        &mut self,
        (index, identity): (usize, u64),
        turn: u64,
        is_held: bool,
        waker: &Waker,
        granted: &mut Option<Grant>,
    ) -> Next {
        let is_over = self.phase == Phase::Ended;
        let lane = self.lanes[index].as_mut().filter(|lane| lane.identity == identity);
        let Some(lane) = lane else { return Next::End };
        lane.idle.retain(|(other, _)| *other != turn);
        if !lane.granted.is_empty() {
            *granted = lane.granted.pop_front();
            return Next::Run;
        }
        if is_over || lane.is_spent || (!is_held && lane.idle.len() >= lane.turns_kept) {
            lane.turns -= usize::from(!is_held);
            return Next::End;
        }
        lane.idle.push((turn, waker.clone()));
        Next::Park
    }

    /// Ends the handler of an exclusive branch, starts the branch's next item in the same turn and stores the grant in
    /// `granted`. If admission must decide anything else, changes nothing and returns false.
    ///
    /// This method decides as [`end`](Self::end) and [`next`](Self::next) would, for a queue of changes at one branch.
    /// But this method keeps the slot, the position on the stack and the turn, which the next item needs at once.
    pub(in crate::interleave) fn pass_on(
        &mut self,
        (index, identity): (usize, u64),
        operation: Operation,
        granted: &mut Option<Grant>,
    ) -> bool {
        let is_plain = self.phase == Phase::Open
            && self.nested.is_empty()
            && matches!(self.stack.as_slice(), [top] if *top == operation);
        let (Some((stamp, first)), true) = (self.heads[EXCLUSIVE].first(), is_plain) else { return false };
        // Waiting concurrent items may keep waiting only if the order is by arrival and these items came later.
        let concurrent = self.heads[CONCURRENT].first();
        if concurrent.is_some_and(|(waiting, _)| self.order != Order::Arrival || waiting < stamp) {
            return false;
        }
        let Some(lane) = self.lanes[index].as_mut().filter(|lane| lane.identity == identity) else { return false };
        if first != index || lane.is_spent || !lane.granted.is_empty() {
            return false;
        }
        let (generation, running) = &mut self.operations[operation.slot()];
        let Some(running) = running.as_mut().filter(|running| running.holders == 1) else { return false };
        let Some(entry) = lane.pending.pop_front() else { return false };
        debug_assert!(entry.stamp == stamp, "it leads its list");
        *generation = generation.wrapping_add(1);
        *running = Running::new(index, true);
        let operation = operation.next();
        self.stack[0] = operation;
        self.phase_end = self.next_stamp;
        self.activity.started += 1;
        self.count_pending(Group::Exclusive, -1);
        self.relist(index);
        *granted = Some(Grant { operation, item: entry.item, call: entry.call });
        true
    }

    /// Ends the operation whose handler a turn of the branch has finished. The branch's next start waits for this turn,
    /// which must call [`next`](Self::next) before it waits for anything else.
    pub(in crate::interleave) fn end(
        &mut self,
        (index, identity): (usize, u64),
        operation: Operation,
        wake: &mut Wake,
    ) {
        let is_ours = |lane: &&mut Lane| lane.identity == identity;
        if let Some(lane) = self.lanes[index].as_mut().filter(is_ours) {
            lane.is_one_coming = true;
        }
        self.release(operation, wake);
        if let Some(lane) = self.lanes[index].as_mut().filter(is_ours) {
            lane.is_one_coming = false;
        }
    }

    /// Handles the drop of a turn that was made for a start. A turn is dropped if its queue is closed or accepts no
    /// tasks from the thread that made the turn. If other turns of the branch live, they take over the dropped turn's
    /// items, and the result is empty. Otherwise returns all items that the branch has taken; the branch takes no more
    /// items until [`accept_again`](Self::accept_again) is called.
    pub(in crate::interleave) fn abandon_turn(
        &mut self,
        (index, identity): (usize, u64),
        turn: u64,
        wake: &mut Wake,
    ) -> Abandoned {
        let mut left = Abandoned::default();
        let Some(lane) = self.lanes[index].as_mut().filter(|lane| lane.identity == identity) else { return left };
        lane.turns -= 1;
        lane.idle.retain(|(other, _)| *other != turn);
        if lane.turns > 0 {
            if !lane.granted.is_empty()
                && let Some((_, waker)) = lane.idle.pop()
            {
                wake.add(Some(waker));
            }
            return left;
        }
        for grant in lane.granted.drain(..) {
            left.operations.push(grant.operation);
            left.items.extend(grant.item);
        }
        if !left.items.is_empty() {
            lane.declining += 1;
            left.items.extend(lane.pending.iter().filter_map(|entry| entry.item));
            let nested = self.nested.iter().filter(|(lane, _)| *lane == index);
            left.items.extend(nested.filter_map(|(_, entry)| entry.item));
            // Without this, granting, refusing and giving back items would be nested calls, as deep as the number of
            // waiting items.
            self.clear(index, wake);
        }
        left
    }

    /// Lets the branch take items again, which [`abandon_turn`](Self::abandon_turn) stopped.
    pub(in crate::interleave) fn accept_again(&mut self, (index, identity): (usize, u64)) {
        if let Some(lane) = self.lanes[index].as_mut().filter(|lane| lane.identity == identity) {
            lane.declining -= 1;
        }
    }

    /// Handles the drop of a turn by its dispatcher. Returns the grant for which the turn was woken, because no turn
    /// will use that grant now.
    pub(in crate::interleave) fn drop_turn(&mut self, (index, identity): (usize, u64), turn: u64) -> Option<Grant> {
        let lane = self.lanes[index].as_mut().filter(|lane| lane.identity == identity)?;
        let before = lane.idle.len();
        lane.idle.retain(|(other, _)| *other != turn);
        if lane.idle.len() < before { None } else { lane.granted.pop_front() }
    }

    /// Marks a branch as taking no more items.
    pub(in crate::interleave) fn spend(&mut self, (index, identity): (usize, u64)) {
        if let Some(lane) = self.lanes[index].as_mut().filter(|lane| lane.identity == identity) {
            lane.is_spent = true;
        }
    }

    /// Wakes all turns without work, so that they see the end.
    pub(in crate::interleave) fn wake_idle(&mut self, wake: &mut Wake) {
        for lane in self.lanes.iter_mut().flatten() {
            lane.idle.drain(..).for_each(|(_, waker)| wake.add(Some(waker)));
        }
    }
}
