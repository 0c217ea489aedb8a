//! The connections of a node: counts them by address, and closes idle connections if there are too many.
//!
//! A connection is idle while no answer is being sent on it. If there is no room for a new client, the connection that
//! has been idle longest is closed. Connections of the address with the most connections are closed first. So a client
//! that holds many connections open cannot lock out other clients.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use lehr_sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::unsent::Unsent;

/// All connections of a node.
#[derive(Debug)]
pub(crate) struct Connections {
    /// The maximum number of connections at once.
    limit: usize,
    /// The maximum number of connections at once from one address.
    per_address: usize,
    /// The maximum number of bytes of answers that are kept for one connection.
    unsent_bytes: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// The number of the latest change; it grows with each change.
    turn: u64,
    open: HashMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    address: IpAddr,
    /// The number of answers that are being sent.
    answers: usize,
    /// The turn in which the connection was last used.
    used: u64,
    evicted: Arc<Notify>,
}

impl Table {
    fn next(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// Returns the number of connections of each address.
    fn counts(&self) -> HashMap<IpAddr, usize> {
        let mut counts = HashMap::new();
        for open in self.open.values() {
            *counts.entry(open.address).or_default() += 1;
        }
        counts
    }

    /// Closes the idle connection that can best be spared, if there is one. If an address is given, considers only its
    /// connections.
    fn evict(&mut self, of: Option<IpAddr>) -> bool {
        let counts = self.counts();
        let idle = self.open.iter().filter(|(_, open)| open.answers == 0 && of.is_none_or(|of| of == open.address));
        let spared = idle.max_by_key(|(_, open)| (counts.get(&open.address), std::cmp::Reverse(open.used)));
        let Some(number) = spared.map(|(number, _)| *number) else { return false };
        if let Some(open) = self.open.remove(&number) {
            open.evicted.notify_one();
        }
        true
    }
}

impl Connections {
    pub(crate) fn new(limit: usize, per_address: usize, unsent_bytes: usize) -> Arc<Self> {
        Arc::new(Self { limit, per_address, unsent_bytes, table: Mutex::default() })
    }

    /// Returns a place for a connection; `None` if all places are in use. Connections of a proxy are not counted by
    /// address, because they belong to many clients.
    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr, is_proxy: bool) -> Option<Arc<Place>> {
        let mut table = self.table.lock();
        let of_address = table.open.values().filter(|open| open.address == address).count();
        if !is_proxy && of_address >= self.per_address && !table.evict(Some(address)) {
            return None;
        }
        if table.open.len() >= self.limit && !table.evict(None) {
            return None;
        }
        let (number, evicted) = (table.next(), Arc::new(Notify::new()));
        table.open.insert(number, Open { address, answers: 0, used: number, evicted: evicted.clone() });
        let unsent = Unsent::new(self.unsent_bytes);
        Some(Arc::new(Place { among: self.clone(), number, evicted, unsent }))
    }

    /// Closes an idle connection to free its descriptor; returns whether there was an idle connection.
    pub(crate) fn spare_one(&self) -> bool {
        self.table.lock().evict(None)
    }

    /// Returns the number of connections.
    pub(crate) fn count(&self) -> usize {
        self.table.lock().open.len()
    }
}

/// The place that one connection holds, until it is dropped or evicted.
#[derive(Debug)]
pub(crate) struct Place {
    among: Arc<Connections>,
    number: u64,
    evicted: Arc<Notify>,
    /// The bytes of answers that are kept for the connection.
    pub(crate) unsent: Arc<Unsent>,
}

impl Place {
    /// Counts an answer as being sent, until the returned guard is dropped.
    pub(crate) fn answering(self: &Arc<Self>) -> Answering {
        self.change(1);
        Answering { place: self.clone() }
    }

    fn change(&self, by: isize) {
        let mut table = self.among.table.lock();
        let turn = table.next();
        if let Some(open) = table.open.get_mut(&self.number) {
            (open.answers, open.used) = (open.answers.saturating_add_signed(by), turn);
        }
    }

    /// Waits until the connection must close: it was evicted, or has been idle for at least `limit` and at most twice
    /// as long.
    pub(crate) async fn ends(&self, limit: Duration) {
        let idle = async {
            let mut before = None;
            loop {
                let now = self.among.table.lock().open.get(&self.number).map(|open| (open.answers, open.used));
                match now {
                    None => return,
                    Some((0, used)) if before == Some(used) => return,
                    Some((_, used)) => before = Some(used),
                }
                sleep(limit).await;
            }
        };
        tokio::select! {
            () = self.evicted.notified() => {}
            () = idle => {}
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.among.table.lock().open.remove(&self.number);
    }
}

/// An answer that is being sent.
#[derive(Debug)]
pub(crate) struct Answering {
    place: Arc<Place>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.place.change(-1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn a_new_client_gets_the_place_of_who_is_idle_and_has_most() {
        let connections = Connections::new(4, 3, 1000);
        let enter = |last: u8| connections.enter(address(last), false);
        let (honest, first, second) = (enter(1).unwrap(), enter(2).unwrap(), enter(2).unwrap());
        let third = enter(2).unwrap();
        // The address has its three connections, and all are in use.
        let in_use = [&first, &second, &third].map(Place::answering);
        assert!(enter(2).is_none());
        drop(in_use);
        // The node is full, and the address with the most connections loses the one that was used least recently.
        let other = enter(3).unwrap();
        let open = || {
            let table = connections.table.lock();
            let mut numbers: Vec<u64> = table.open.keys().copied().collect();
            numbers.sort_unstable();
            numbers
        };
        let expected = |places: &[&Arc<Place>]| places.iter().map(|place| place.number).collect::<Vec<_>>();
        assert_eq!(open().len(), 4);
        assert!(open().contains(&honest.number) && open().contains(&other.number));
        drop((first, second, third));
        assert_eq!(open(), expected(&[&honest, &other]));
        // Connections of a proxy are not counted by address.
        let shared: Vec<_> = (0..4).filter_map(|_| connections.enter(address(9), true)).collect();
        assert_eq!(shared.len(), 4);
        let in_use: Vec<_> = shared.iter().chain([&honest, &other]).map(Place::answering).collect();
        assert!(enter(4).is_none() && !connections.spare_one());
        drop(in_use);
        assert!(connections.spare_one());
    }
}
