//! The tree of cancellation: stopping a node stops all nodes below it, and wakes their tasks so that they end.
//!
//! A node has weak references to its children, and the children have strong references to it. Lock order: while a
//! node's lock is held, no other lock is taken and no task is woken. A child that is made while its parent is being
//! stopped either is found on the list or sees that the parent has stopped.

use std::collections::HashMap;
use std::sync::Weak;
use std::task::Waker;
use std::time::Duration;

use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock, process::next_identity};

use crate::timer::{Clock, Scheduled};

const LIVE: usize = 0;
const CANCELLED: usize = 1;
const EXPIRED: usize = 2;

/// The reason why a context has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Cancelled,
    DeadlineExceeded,
}

/// The key under which a listener registers a waker, which is called when a node stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) owner: usize,
    pub(crate) number: u64,
}

impl Key {
    /// Creates a key that is unique in the process.
    pub(crate) fn unique() -> Self {
        Self { owner: 0, number: next_identity() }
    }
}

/// A node of the tree of cancellation; see the [module](self).
pub(crate) struct Node {
    id: u64,
    /// `LIVE`, or finally `CANCELLED` or `EXPIRED`; written under the lock of `listeners`.
    state: AtomicUsize,
    listeners: SpinLock<Listeners>,
    parent: Option<Arc<Node>>,
    deadline: SpinLock<Option<Scheduled>>,
}

#[derive(Default)]
struct Listeners {
    wakers: HashMap<Key, Waker>,
    children: HashMap<u64, Weak<Node>>,
}

impl Node {
    /// Creates a node that stops when its parent stops.
    pub(crate) fn below(parent: Option<&Arc<Self>>) -> Arc<Self> {
        let node = Arc::new(Self {
            id: next_identity(),
            state: AtomicUsize::new(LIVE),
            listeners: SpinLock::new(Listeners::default()),
            parent: parent.cloned(),
            deadline: SpinLock::new(None),
        });
        if let Some(parent) = parent {
            let stopped = {
                let mut listeners = parent.listeners.lock();
                let stopped = parent.stopped();
                if stopped.is_none() {
                    listeners.children.insert(node.id, Arc::downgrade(&node));
                }
                stopped
            };
            if let Some(how) = stopped {
                node.stop(how);
            }
        }
        node
    }

    /// Stops the node once this time has passed, unless the node has been dropped by then.
    pub(crate) fn stop_after(self: &Arc<Self>, clock: &Clock, time: Duration) {
        let node = Arc::downgrade(self);
        let timer = clock.schedule_in(time, move || {
            if let Some(node) = node.upgrade() {
                node.stop(Stop::DeadlineExceeded);
            }
        });
        *self.deadline.lock() = Some(timer);
    }

    /// Returns whether and why the node was stopped.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        // Acquire: pairs with the Release in `stop`, so that what the canceller did before is visible to the stopped
        // work.
        match self.state.load(Ordering::Acquire) {
            LIVE => None,
            CANCELLED => Some(Stop::Cancelled),
            _ => Some(Stop::DeadlineExceeded),
        }
    }

    /// Stops the node and all nodes below it; returns false if the node was stopped before.
    pub(crate) fn stop(self: &Arc<Self>, how: Stop) -> bool {
        // Uses a list and no recursion, because trees may be deep.
        let mut nodes = vec![self.clone()];
        let mut is_first = false;
        let mut is_root = true;
        while let Some(node) = nodes.pop() {
            let listeners = {
                let mut listeners = node.listeners.lock();
                if node.stopped().is_some() {
                    is_root = false;
                    continue;
                }
                is_first |= is_root;
                is_root = false;
                let state = if how == Stop::Cancelled { CANCELLED } else { EXPIRED };
                // Release: pairs with the Acquire in `stopped`.
                node.state.store(state, Ordering::Release);
                std::mem::take(&mut *listeners)
            };
            nodes.extend(listeners.children.into_values().filter_map(|child| child.upgrade()));
            listeners.wakers.into_values().for_each(Waker::wake);
        }
        is_first
    }

    /// Registers `waker`, which is called when the node stops. Returns false, and registers nothing, if the node has
    /// stopped.
    pub(crate) fn listen(&self, key: Key, waker: &Waker) -> bool {
        let _replaced = {
            let mut listeners = self.listeners.lock();
            if self.stopped().is_some() {
                return false;
            }
            match listeners.wakers.get(&key) {
                Some(known) if known.will_wake(waker) => None,
                _ => listeners.wakers.insert(key, waker.clone()),
            }
        };
        true
    }

    /// Ends [`listen`](Self::listen).
    pub(crate) fn forget(&self, key: Key) {
        let _forgotten = self.listeners.lock().wakers.remove(&key);
    }

    /// Returns the number of waiters that a stop would wake.
    #[cfg(test)]
    fn listening(&self) -> usize {
        self.listeners.lock().wakers.len()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut next = self.parent.take();
        let mut id = self.id;
        // Parents are dropped one by one in a loop, as the contexts themselves are.
        while let Some(parent) = next {
            parent.listeners.lock().children.remove(&id);
            id = parent.id;
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_stop_reaches_all_below_and_nobody_above_and_counts_once() {
        let root = Node::below(None);
        let middle = Node::below(Some(&root));
        let leaf = Node::below(Some(&middle));
        assert!(middle.stop(Stop::Cancelled) && !middle.stop(Stop::DeadlineExceeded));
        assert_eq!((root.stopped(), leaf.stopped()), (None, Some(Stop::Cancelled)));
        assert_eq!(Node::below(Some(&leaf)).stopped(), Some(Stop::Cancelled), "born stopped");
    }

    #[test]
    fn listeners_and_children_leave_nothing_behind() {
        let root = Node::below(None);
        let keys: Vec<Key> = (0..100).map(|_| Key::unique()).collect();
        assert!(keys.iter().all(|&key| root.listen(key, Waker::noop())));
        assert_eq!(root.listening(), 100);
        keys.iter().for_each(|&key| root.forget(key));
        (0..100).for_each(|_| drop(Node::below(Some(&root))));
        assert_eq!((root.listening(), root.listeners.lock().children.len()), (0, 0));
    }

    #[test]
    fn a_chain_of_a_million_nodes_is_dropped_without_recursion() {
        let mut node = Node::below(None);
        for _ in 0..1_000_000 {
            node = Node::below(Some(&node));
        }
        drop(node);
    }
}
