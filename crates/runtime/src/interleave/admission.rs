//! Decides which operation may start: the state machine of an interleave. Admission knows no ports, no state and no
//! handlers. The callers of admission report arrivals and ends, and admission grants starts.
//!
//! Every item or call that arrives gets a stamp, in the order in which posts reach the interleave's lock. An item that
//! cannot start yet is recorded in the lane of its branch. For each lane below its limit, the oldest stamp is in the
//! list of the lane's group (`heads`). So a decision compares two numbers, regardless of the number of branches and
//! pending items.
//!
//! | arriving item | no handler runs | concurrent handlers run | an exclusive handler runs |
//! | --- | --- | --- | --- |
//! | concurrent | starts | starts, unless an exclusive item waits (see [`Order`]) or `max_concurrent` handlers run | waits |
//! | exclusive | starts | waits | waits |
//! | independent | starts | starts | starts |
//! | teardown | closes the interleave; starts | closes the interleave; starts when all handlers have ended | closes the interleave; starts when all handlers have ended |

mod activity;
mod heads;
mod lane;
mod loans;
mod running;

use std::collections::VecDeque;
use std::task::Waker;

use lehr_sync::Arc;

pub use activity::Activity;
use heads::Heads;
use lane::Entry;
pub(super) use lane::{Grant, Lane, Next};
use running::Running;

use crate::calls::Frame;
pub(super) use crate::calls::Operation;
use crate::port::waiters::Ticket;
use crate::port::wake::Wake;

/// The order in which an interleave starts waiting items.
///
/// # Example
/// ```
/// assert_eq!(lehr_runtime::Order::default(), lehr_runtime::Order::Arrival);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Starts items in order of arrival, in any group; adjacent concurrent items run together. The effect is as if the
    /// items had been handled one after the other in order of arrival. So a reader sees the earlier changes of its own
    /// poster. No exclusive item overtakes an earlier concurrent item.
    #[default]
    Arrival,
    /// Alternates between phases: when an exclusive handler ends, all waiting concurrent items start; when these have
    /// ended, the oldest exclusive item starts. A concurrent item waits for at most one exclusive handler, even if many
    /// exclusive items are queued before it.
    PhaseFair,
    /// Starts exclusive items first, in order of arrival. A steady stream of exclusive items starves concurrent items;
    /// [`Activity::passes`] shows this.
    ExclusiveBias,
}

/// The group of a branch, which determines the handlers that may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Concurrent,
    Exclusive,
    Independent,
    Teardown,
}

/// The phase of an interleave. The phase only moves down this list, with one exception. If another receiver takes the
/// teardown item before it is accepted, the phase goes back from `Closing` to `Open`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Open,
    /// A teardown item has arrived. Only items that running handlers wait for may still start.
    Closing,
    /// Only the teardown handler and independent handlers run.
    Tearing,
    Ended,
}

/// The state of admission; see the documentation of this module.
pub(super) struct Admission {
    identity: u64,
    order: Order,
    max_concurrent: usize,
    pub(super) phase: Phase,
    next_stamp: u64,
    lanes: Vec<Option<Lane>>,
    free_lanes: Vec<usize>,
    /// The concurrent and the exclusive lanes that have pending entries and are below their limits, by their oldest
    /// stamps.
    heads: [Heads; 2],
    pending: [usize; 2],
    operations: Vec<(u32, Option<Running>)>,
    free_operations: Vec<u32>,
    concurrent: usize,
    independent: usize,
    /// The exclusive operations; the running operation is last, and the operations below it have lent their
    /// exclusivity.
    stack: Vec<Operation>,
    /// Calls from a chain whose handler has lent its exclusivity. These calls wait for another call of such a chain to
    /// end.
    nested: VecDeque<(usize, Entry)>,
    /// Whether an exclusive handler has the state without leaving a copy that independent handlers could see.
    is_state_out: bool,
    /// For [`Order::PhaseFair`]: concurrent entries with stamps below this one go before the next exclusive entry.
    phase_end: u64,
    /// The branches that have left since the interleave's lock was last taken, with their positions.
    retired: Vec<(usize, Lane)>,
    /// The waker to call when no handler runs any more, once the interleave is closing.
    on_idle: Option<Waker>,
    activity: Activity,
}

const CONCURRENT: usize = 0;
const EXCLUSIVE: usize = 1;

impl Group {
    fn list(self) -> Option<usize> {
        match self {
            Self::Concurrent => Some(CONCURRENT),
            Self::Exclusive => Some(EXCLUSIVE),
            Self::Independent | Self::Teardown => None,
        }
    }
}

impl Admission {
    pub(super) fn new(identity: u64, order: Order, max_concurrent: usize) -> Self {
        Self {
            identity,
            order,
            max_concurrent,
            phase: Phase::Open,
            next_stamp: 1,
            lanes: Vec::new(),
            free_lanes: Vec::new(),
            heads: Default::default(),
            pending: [0; 2],
            operations: Vec::new(),
            free_operations: Vec::new(),
            concurrent: 0,
            independent: 0,
            stack: Vec::new(),
            nested: VecDeque::new(),
            is_state_out: false,
            phase_end: 0,
            retired: Vec::new(),
            on_idle: None,
            activity: Activity::default(),
        }
    }

    /// Reserves a lane number for a branch that is being made.
    pub(super) fn reserve(&mut self) -> usize {
        self.free_lanes.pop().unwrap_or_else(|| {
            self.lanes.push(None);
            self.lanes.len() - 1
        })
    }

    /// Adds the branch for which the lane number was reserved.
    pub(super) fn add(&mut self, index: usize, lane: Lane) {
        self.lanes[index] = Some(lane);
    }

    pub(super) fn lane(&self, index: usize) -> &Lane {
        self.lanes[index].as_ref().expect("a branch knows its lane until it removes it")
    }

    pub(super) fn lane_mut(&mut self, index: usize) -> &mut Lane {
        self.lanes[index].as_mut().expect("a branch knows its lane until it removes it")
    }

    /// Removes a spent branch without running handlers and pending items. Returns its lane, to be dropped after the
    /// lock is released.
    pub(super) fn remove_if_done(&mut self, index: usize, identity: u64) -> Option<Lane> {
        let lane = self.lanes[index].as_ref()?;
        if lane.identity != identity || !lane.is_spent || lane.running > 0 || !lane.pending.is_empty() {
            return None;
        }
        self.free_lanes.push(index);
        self.lanes[index].take()
    }

    /// Records an item or call that has arrived, and starts it if it may start now.
    pub(super) fn arrive(
        &mut self,
        lane: usize,
        item: Option<(Ticket, u64)>,
        call: Option<&Arc<Frame>>,
        wake: &mut Wake,
    ) {
        let stamp = self.next_stamp;
        self.next_stamp += 1;
        let mut entry = Entry { stamp, item, call: call.cloned() };
        if let Some(call) = call {
            match self.arrive_in_call(lane, entry, call, wake) {
                Ok(()) => return,
                Err(same) => entry = same,
            }
        }
        let Lane { group, limit, running, .. } = *self.lane(lane);
        let has_room = running < limit && self.lane(lane).pending.is_empty();
        let starts = has_room
            && match group {
                Group::Concurrent => self.may_start_concurrent(stamp),
                Group::Exclusive => self.heads[EXCLUSIVE].is_empty() && self.may_start_exclusive(stamp),
                Group::Independent => !self.is_state_out,
                Group::Teardown => false,
            };
        if starts {
            self.start(lane, entry, group == Group::Exclusive, wake);
        } else {
            self.lane_mut(lane).pending.push_back(entry);
            self.count_pending(group, 1);
            self.relist(lane);
        }
    }

    /// Ends an operation for one of its holders.
    #[inline]
    pub(super) fn release(&mut self, operation: Operation, wake: &mut Wake) {
        let Some(running) = self.running_mut(operation) else { return };
        running.holders -= 1;
        if running.holders == 0 {
            self.leave(operation, wake);
        }
    }

    /// Frees the place of an operation when all its holders have left it.
    fn leave(&mut self, operation: Operation, wake: &mut Wake) {
        let slot = &mut self.operations[operation.slot()];
        slot.0 = slot.0.wrapping_add(1);
        let ended = slot.1.take().expect("it was there a moment ago");
        self.free_operations.push(operation.into_slot());
        let lane = self.lane_mut(ended.lane);
        lane.running -= 1;
        let group = lane.group;
        if ended.is_stacked {
            self.stack.retain(|other| *other != operation);
            if self.stack.is_empty() {
                self.phase_end = self.next_stamp;
            }
        } else {
            match group {
                Group::Concurrent => self.concurrent -= 1,
                Group::Independent => self.independent -= 1,
                Group::Exclusive | Group::Teardown => {}
            }
        }
        if group == Group::Independent {
            self.start_independent(ended.lane, wake);
        } else {
            self.relist(ended.lane);
        }
        self.pump(wake);
        self.retire_if_done(ended.lane, wake);
    }

    /// Removes a spent branch if its last running handler has ended; [`take_retired`](Self::take_retired) then returns
    /// it.
    fn retire_if_done(&mut self, index: usize, wake: &mut Wake) {
        let Some(lane) = &self.lanes[index] else { return };
        if !lane.is_spent || self.nested.iter().any(|(lane, _)| *lane == index) {
            return;
        }
        if let Some(mut lane) = self.remove_if_done(index, lane.identity) {
            // These turns are woken now, because no later event would wake them.
            lane.idle.drain(..).for_each(|(_, waker)| wake.add(Some(waker)));
            self.retired.push((index, lane));
        }
    }

    /// Returns whether [`take_retired`](Self::take_retired) would return a branch.
    #[inline]
    pub(super) fn has_retired(&self) -> bool {
        !self.retired.is_empty()
    }

    /// Returns the branches that left with their last handler, and their positions. The caller must remove their seats,
    /// and drop the branches after releasing the lock.
    pub(super) fn take_retired(&mut self) -> Vec<(usize, Lane)> {
        std::mem::take(&mut self.retired)
    }

    /// Starts every waiting handler that may start now.
    fn pump(&mut self, wake: &mut Wake) {
        if let Some(&top) = self.stack.last() {
            self.start_nested(top, wake);
            return;
        }
        if self.phase == Phase::Open {
            while let Some((stamp, lane)) = self.heads[CONCURRENT].first() {
                if !self.may_start_concurrent(stamp) {
                    break;
                }
                self.start_oldest(lane, wake);
                self.activity.passes = 0;
            }
            if let Some((stamp, lane)) = self.heads[EXCLUSIVE].first()
                && self.may_start_exclusive(stamp)
            {
                if self.heads[CONCURRENT].first().is_some_and(|(waiting, _)| waiting < stamp) {
                    self.activity.passes += 1;
                    self.activity.passes_max = self.activity.passes_max.max(self.activity.passes);
                }
                self.start_oldest(lane, wake);
            }
        }
        if self.phase == Phase::Closing && self.is_idle() && self.on_idle.is_some() {
            self.phase = Phase::Tearing;
            wake.add(self.on_idle.take());
        }
    }

    /// Returns whether no concurrent or exclusive handler runs, so that the teardown need not wait.
    fn is_idle(&self) -> bool {
        self.concurrent == 0 && self.stack.is_empty()
    }

    /// Returns whether a caller may look at the state now: no handler changes the state, and no exclusive item waits.
    pub(super) fn may_glance(&self) -> bool {
        self.phase == Phase::Open && self.stack.is_empty() && self.pending[EXCLUSIVE] == 0
    }

    fn may_start_concurrent(&self, stamp: u64) -> bool {
        let exclusive = self.heads[EXCLUSIVE].first().map(|(stamp, _)| stamp);
        let is_its_turn = exclusive.is_none_or(|exclusive| match self.order {
            Order::Arrival => stamp < exclusive,
            Order::PhaseFair => stamp < self.phase_end,
            Order::ExclusiveBias => false,
        });
        is_its_turn && self.phase == Phase::Open && self.stack.is_empty() && self.concurrent < self.max_concurrent
    }

    fn may_start_exclusive(&self, stamp: u64) -> bool {
        let concurrent = self.heads[CONCURRENT].first().map(|(stamp, _)| stamp);
        let is_its_turn = concurrent.is_none_or(|concurrent| match self.order {
            Order::Arrival => stamp < concurrent,
            Order::PhaseFair => concurrent >= self.phase_end,
            Order::ExclusiveBias => true,
        });
        is_its_turn && self.phase == Phase::Open && self.is_idle()
    }

    fn start_oldest(&mut self, index: usize, wake: &mut Wake) {
        let lane = self.lane_mut(index);
        let entry = lane.pending.pop_front().expect("a listed lane has something pending");
        let group = lane.group;
        self.count_pending(group, -1);
        self.start(index, entry, group == Group::Exclusive, wake);
        self.relist(index);
    }

    /// Starts the items that wait in an independent lane.
    fn start_independent(&mut self, index: usize, wake: &mut Wake) {
        while self.phase != Phase::Ended && !self.is_state_out && self.lane(index).running < self.lane(index).limit {
            let Some(entry) = self.lane_mut(index).pending.pop_front() else { break };
            self.start(index, entry, false, wake);
        }
    }

    fn start(&mut self, index: usize, entry: Entry, is_stacked: bool, wake: &mut Wake) {
        let slot = self.free_operations.pop().unwrap_or_else(|| {
            self.operations.push((0, None));
            u32::try_from(self.operations.len() - 1).expect("fewer than 2^32 handlers run at once")
        });
        let (generation, place) = &mut self.operations[slot as usize];
        let operation = Operation::new(slot, *generation);
        *place = Some(Running::new(index, is_stacked));
        self.activity.started += 1;
        let lane = self.lane_mut(index);
        lane.running += 1;
        let group = lane.group;
        lane.granted.push_back(Grant { operation, item: entry.item, call: entry.call });
        if !std::mem::take(&mut lane.is_one_coming) {
            wake.add(Some(match lane.idle.pop() {
                Some((_, waker)) => waker,
                None => {
                    lane.turns += 1;
                    lane.spawner.clone()
                }
            }));
        }
        if is_stacked {
            self.stack.push(operation);
        } else if group == Group::Concurrent {
            self.concurrent += 1;
        } else {
            self.independent += 1;
        }
    }

    /// Records that an exclusive handler has taken the state: independent items wait.
    pub(super) fn state_is_out(&mut self) {
        self.is_state_out = true;
    }

    /// Records that the state is back: items of independent branches may start.
    pub(super) fn state_is_back(&mut self, has_independents: bool, wake: &mut Wake) {
        if std::mem::take(&mut self.is_state_out) && has_independents {
            for index in 0..self.lanes.len() {
                if self.lanes[index].as_ref().is_some_and(|lane| lane.group == Group::Independent) {
                    self.start_independent(index, wake);
                }
            }
        }
    }

    /// Removes a pending item that another receiver has taken.
    pub(super) fn lose(&mut self, index: usize, sequence: u64, wake: &mut Wake) {
        let is_it = |entry: &Entry| entry.item.is_some_and(|(_, other)| other == sequence);
        let lane = self.lane_mut(index);
        let group = lane.group;
        // If the item is not in the lane, it has been granted or waits among the nested calls. A turn that was granted
        // the item will not find it.
        if let Some(place) = lane.pending.iter().position(is_it) {
            lane.pending.remove(place);
            self.count_pending(group, -1);
            self.relist(index);
            self.pump(wake);
        } else {
            self.nested.retain(|(lane, entry)| *lane != index || !is_it(entry));
        }
    }

    /// Gives up the oldest or the newest pending item of a branch, if more than this many are pending.
    pub(super) fn shed(
        &mut self,
        index: usize,
        newest: bool,
        deeper_than: usize,
        wake: &mut Wake,
    ) -> Option<(Ticket, u64)> {
        let lane = self.lane_mut(index);
        if lane.pending.len() <= deeper_than {
            return None;
        }
        let group = lane.group;
        let entry = if newest { lane.pending.pop_back() } else { lane.pending.pop_front() };
        self.count_pending(group, -1);
        self.relist(index);
        self.pump(wake);
        entry?.item
    }

    /// Forgets the pending items of a branch; they go back to their port.
    pub(super) fn clear(&mut self, index: usize, wake: &mut Wake) {
        let lane = self.lane_mut(index);
        let (group, count) = (lane.group, lane.pending.len());
        lane.pending = VecDeque::new();
        self.count_pending(group, -isize::try_from(count).expect("a length of memory"));
        self.nested.retain(|(lane, _)| *lane != index);
        self.relist(index);
        self.pump(wake);
    }

    /// Stops further starts, except of independent items and of calls that running handlers wait for. Returns false if
    /// the interleave was closing or ending already.
    pub(super) fn close(&mut self) -> bool {
        let was_open = self.phase == Phase::Open;
        if was_open {
            self.phase = Phase::Closing;
        }
        was_open
    }

    /// Registers `on_idle`, to be woken when no handler runs any more, after the teardown item has been fetched.
    pub(super) fn when_idle(&mut self, on_idle: Waker, wake: &mut Wake) {
        self.on_idle = Some(on_idle);
        self.pump(wake);
    }

    /// Undoes `close`, because another receiver took the teardown item before it was accepted.
    pub(super) fn reopen(&mut self, wake: &mut Wake) {
        if self.phase == Phase::Closing {
            self.phase = Phase::Open;
            self.pump(wake);
        }
    }

    /// Returns whether no operation is left, not even one that only a guard still holds.
    pub(super) fn is_empty(&self) -> bool {
        self.operations.len() == self.free_operations.len()
    }

    /// Ends the interleave at once: no more handlers start, running handlers are cancelled, and idle turns end.
    pub(super) fn abort(&mut self, wake: &mut Wake) {
        self.phase = Phase::Ended;
        self.nested.clear();
        let orphans: Vec<Grant> = self.lanes.iter_mut().flatten().flat_map(|lane| lane.granted.drain(..)).collect();
        orphans.into_iter().for_each(|grant| self.release(grant.operation, wake));
        self.cancel(|_| true, wake);
        self.wake_idle(wake);
    }

    /// Adds a lane to the list of its group, moves it there, or removes it from the list, according to the lane's
    /// present state.
    fn relist(&mut self, index: usize) {
        let Some(lane) = self.lanes[index].as_mut() else { return };
        let Some(list) = lane.group.list() else { return };
        let stamp = lane.pending.front().filter(|_| lane.running < lane.limit).map(|entry| entry.stamp);
        if lane.listed != stamp {
            let before = std::mem::replace(&mut lane.listed, stamp);
            self.heads[list].relist(index, before, stamp);
        }
    }
}
