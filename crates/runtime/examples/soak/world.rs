//! A random world: ports, posters, consumers, panics, cancellations, and an end.

use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lehr_runtime::{
    DiscardedItem, Dispatcher, Exclusive, Handlers, Interleave, Overflow, Port, Shutdown, Snapshot, Task, block_on,
    choice, exchange, gather, join, yield_now,
};

use crate::ledger::{End, Item, Ledger, Summary};

/// The message of injected panics.
pub const INJECTED: &str = "injected";

/// A source of arbitrary but repeatable numbers (xorshift).
struct Arbitrary(u64);

impl Arbitrary {
    fn new(seed: u64) -> Self {
        let mut arbitrary = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            arbitrary.below(2);
        });
        arbitrary
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    /// Returns another source, for another task.
    fn fork(&mut self) -> Self {
        Self::new(self.0)
    }
}

/// The ports of a world.
#[derive(Clone)]
struct Ports {
    /// The ports from which consumers of all kinds take items.
    plain: Vec<Port<Item>>,
    /// The port from which one persistent receiver takes items, in order.
    ordered: Port<Item>,
    results: Port<Result<Item, Item>>,
    sourced: Port<(u8, Item)>,
    reads: Port<Item>,
    writes: Port<Item>,
}

impl Ports {
    fn new(arbitrary: &mut Arbitrary) -> Self {
        let plain = (0..2 + arbitrary.below(3)).map(|_| random_port(arbitrary)).collect();
        Self {
            plain,
            ordered: random_port(arbitrary),
            results: Port::new(),
            sourced: Port::new(),
            reads: random_port(arbitrary),
            writes: random_port(arbitrary),
        }
    }

    fn items(&self) -> impl Iterator<Item = &Port<Item>> {
        self.plain.iter().chain([&self.ordered, &self.reads, &self.writes])
    }

    fn close(&self) {
        self.items().for_each(Port::close);
        self.results.close();
        self.sourced.close();
    }

    fn waiting(&self) -> usize {
        self.items().map(Port::waiting).sum::<usize>() + self.results.waiting() + self.sourced.waiting()
    }

    /// Ends the items that no consumer took.
    fn sweep(&self) {
        self.items().flat_map(Port::drain).for_each(|item| item.ends(End::Left));
        self.results.drain().into_iter().for_each(|result| result.unwrap_or_else(|item| item).ends(End::Left));
        self.sourced.drain().into_iter().for_each(|(_, item)| item.ends(End::Left));
    }
}

fn random_port(arbitrary: &mut Arbitrary) -> Port<Item> {
    let mut builder = Port::builder().on_discard(|discarded: DiscardedItem<Item>| discarded.item.ends(End::Discarded));
    if arbitrary.one_in(3) {
        builder = builder.fair();
    }
    let overflow = match arbitrary.below(6) {
        0 => Overflow::Wait,
        1 => Overflow::Reject,
        2 => Overflow::DropOldest,
        3 => Overflow::DropNewest,
        _ => return if arbitrary.one_in(2) { Port::new() } else { builder.build() },
    };
    builder.capacity(1 + arbitrary.below(8), overflow).build()
}

/// The state that the tasks of a world share.
#[derive(Clone)]
struct Shared {
    ledger: Arc<Ledger>,
    ports: Ports,
    /// The first fault that a task has seen.
    fault: Arc<Mutex<Option<String>>>,
    /// The running handlers of the interleave: each reader adds 1, and a writer subtracts a large number.
    inside: Arc<AtomicIsize>,
    /// Descriptions of the tasks that have not ended.
    alive: Arc<Mutex<Vec<String>>>,
    is_aborted: Arc<AtomicBool>,
}

impl Shared {
    /// Lists a task as alive until the returned value is dropped.
    fn live(&self, what: String) -> impl Drop + Send + use<> {
        struct Alive(Arc<Mutex<Vec<String>>>, String);
        impl Drop for Alive {
            fn drop(&mut self) {
                let mut alive = self.0.lock().unwrap();
                let place = alive.iter().position(|known| *known == self.1).expect("it was written down");
                alive.swap_remove(place);
            }
        }
        self.alive.lock().unwrap().push(what.clone());
        Alive(self.alive.clone(), what)
    }

    fn accuse(&self, fault: String) {
        self.fault.lock().unwrap().get_or_insert(fault);
    }
}

/// Runs the world with this seed.
///
/// # Errors
/// Returns a text about items that were lost, doubled, out of order, or left behind.
pub fn run(seed: u64) -> Result<Summary, String> {
    let mut arbitrary = Arbitrary::new(seed);
    let dispatcher = Dispatcher::new([1, 2, 8][arbitrary.below(3)]).map_err(|error| error.to_string())?;
    let shared = Shared {
        ledger: Arc::default(),
        ports: Ports::new(&mut arbitrary),
        fault: Arc::default(),
        inside: Arc::default(),
        alive: Arc::default(),
        is_aborted: Arc::default(),
    };
    let mut tasks = Vec::new();
    let mut interleave = Some(interleave(&dispatcher, &shared));
    ordered(&dispatcher, &shared, seed.is_multiple_of(2));
    for _ in 0..4 + arbitrary.below(12) {
        tasks.push(consumer(&dispatcher, &shared, arbitrary.below(9), arbitrary.fork()));
    }
    let items = 200 + arbitrary.below(800);
    let mut posters: Vec<_> = (0..2 + arbitrary.below(4))
        .map(|poster| {
            let alive = shared.live(format!("poster {poster}"));
            let posting = post(shared.clone(), poster, items, arbitrary.fork());
            dispatcher.spawn(async move {
                let _alive = alive;
                posting.await;
            })
        })
        .collect();
    // Cancels some tasks in the middle of their work.
    for _ in 0..arbitrary.below(8) {
        let crowd = if arbitrary.one_in(4) { &mut posters } else { &mut tasks };
        if !crowd.is_empty() {
            drop(crowd.swap_remove(arbitrary.below(crowd.len())));
        }
        std::thread::yield_now();
    }
    let is_drained = arbitrary.one_in(2);
    if !is_drained {
        (0..arbitrary.below(2000)).for_each(|_| std::thread::yield_now());
        shared.is_aborted.store(true, Ordering::Relaxed);
    } else {
        // The remaining posters end, and then no more items come. A poster may wait for a place at a port whose
        // consumers have all been cancelled; this wait ends when the ports close.
        (0..arbitrary.below(2000)).for_each(|_| std::thread::yield_now());
        if arbitrary.one_in(2) {
            let begin = Instant::now();
            while posters.iter().any(|poster| !poster.is_finished()) && begin.elapsed() < Duration::from_millis(50) {
                std::thread::yield_now();
            }
        }
        shared.ports.close();
    }
    tasks.into_iter().chain(posters).for_each(Task::detach);
    let limit = Duration::from_secs(20);
    // An interleave that is dropped aborts its handlers; an interleave that is stopped lets its handlers end.
    let mut may_abort = !is_drained;
    if is_drained {
        let begin = Instant::now();
        while !shared.alive.lock().unwrap().is_empty() && begin.elapsed() < limit {
            std::thread::yield_now();
        }
        let alive = shared.alive.lock().unwrap();
        if !alive.is_empty() {
            return Err(format!("every port is closed, and yet there wait: {}", alive.join(", ")));
        }
        drop(alive);
        may_abort = arbitrary.one_in(2);
        if !may_abort {
            let stop = interleave.take().map(Interleave::stop).expect("it has not been stopped");
            block_on(stop).map_err(|error| format!("the interleave was stopped: {error}"))?;
        } else {
            drop(interleave.take());
        }
    }
    let report = dispatcher.shutdown(if is_drained { Shutdown::Drain { limit } } else { Shutdown::Abort });
    if report.leaked > 0 {
        return Err(format!("a worker did not come back: {report:?}"));
    }
    if !may_abort && report.aborted > 0 {
        return Err(format!("a task waited although every port was closed: {report:?}"));
    }
    drop(interleave);
    shared.ports.sweep();
    if shared.ports.waiting() > 0 && is_drained {
        return Err(format!("{} waiters are registered at ports nobody waits at", shared.ports.waiting()));
    }
    let Shared { ledger, ports, fault, .. } = shared;
    drop(ports);
    let fault = fault.lock().unwrap().take();
    fault.map_or_else(|| ledger.close(), Err)
}

/// Posts items to random ports, in all ways of posting.
async fn post(shared: Shared, poster: usize, items: usize, mut arbitrary: Arbitrary) {
    for number in 0..items {
        let item = Item::new(&shared.ledger, poster, number);
        let ports = &shared.ports;
        let (port, whom) = match arbitrary.below(8) {
            0 => (&ports.ordered, "the ordered receiver"),
            1 => (&ports.reads, "a concurrent handler"),
            2 => (&ports.writes, "an exclusive handler"),
            3 => {
                let item = item.meant_for("a gather");
                let result = if arbitrary.one_in(2) { Ok(item) } else { Err(item) };
                give_back(ports.results.post(result).map_err(|refused| refused.item.unwrap_or_else(|item| item)));
                continue;
            }
            4 => {
                let (source, item) = (arbitrary.below(3) as u8, item.meant_for("an exchange"));
                give_back(ports.sourced.post((source, item)).map_err(|refused| refused.item.1));
                continue;
            }
            _ => (&ports.plain[arbitrary.below(ports.plain.len())], "the crowd"),
        };
        let item = item.meant_for(whom);
        match arbitrary.below(3) {
            0 => give_back(port.post(item).map_err(|refused| refused.item)),
            1 => {
                // The place is reserved before the item is made, because a cancelled wait must not have the item.
                item.ends(End::Returned);
                if let Ok(permit) = port.reserve().await {
                    permit.post(Item::new(&shared.ledger, poster, number).meant_for(whom));
                }
            }
            _ => {
                let mut item = item;
                // The post may be cancelled while it waits, or the port may lose the item afterwards. From here on, the
                // ledger cannot distinguish the two cases.
                item.may(End::Withdrawn);
                give_back(port.post_wait(item).await.map_err(|refused| refused.item));
            }
        }
        if arbitrary.one_in(50) {
            yield_now().await;
        }
    }
}

fn give_back(posted: Result<(), Item>) {
    if let Err(item) = posted {
        item.ends(End::Returned);
    }
}

/// Consumes an item that came out of a port.
fn consume(item: Item, arbitrary: &mut Arbitrary) {
    item.ends(End::Consumed);
    if arbitrary.one_in(500) {
        std::panic::panic_any(INJECTED);
    }
}

/// Spawns a task that consumes items in one of many ways until its ports are closed.
fn consumer(dispatcher: &Dispatcher, shared: &Shared, kind: usize, mut arbitrary: Arbitrary) -> Task<()> {
    let shared = shared.clone();
    let handle = dispatcher.handle().clone();
    let parity = arbitrary.below(2);
    let alive = shared.live(format!("consumer of kind {kind}"));
    dispatcher.spawn(async move {
        let _alive = alive;
        let ports = &shared.ports;
        let a = &ports.plain[arbitrary.below(ports.plain.len())];
        let b = ports.plain.iter().find(|port| !std::ptr::eq(*port, a)).expect("a world has two plain ports at least");
        for round in 0.. {
            let is_open = match kind {
                0 => a.receive().await.map(|item| consume(item, &mut arbitrary)).is_ok(),
                1 => {
                    let picked = a.receive_if(move |item| item.number % 2 == parity).await;
                    picked.map(|item| consume(item, &mut arbitrary)).is_ok()
                }
                2 => {
                    let count = 1 + arbitrary.below(3);
                    let taken = a.take(count).await;
                    taken.map(|items| items.into_iter().for_each(|item| item.ends(End::Consumed))).is_ok()
                }
                3 => match join((a, (b, 2))).await {
                    Ok((item, items)) => {
                        items.into_iter().for_each(|item| item.ends(End::Consumed));
                        consume(item, &mut arbitrary);
                        true
                    }
                    Err(_) => false,
                },
                4 => {
                    choice! {
                        fair;
                        item = a.receive() => item.map(|item| consume(item, &mut arbitrary)).is_ok(),
                        pair = join((a, b)) => pair.map(|(one, other)| {
                            one.ends(End::Consumed);
                            consume(other, &mut arbitrary);
                        }).is_ok(),
                        items = b.take(3) => {
                            items.map(|items| items.into_iter().for_each(|item| item.ends(End::Consumed))).is_ok()
                        }
                    }
                }
                5 => match gather(&ports.results, 5).await {
                    Ok((good, bad)) => {
                        assert_eq!(good.len() + bad.len(), 5);
                        good.into_iter().chain(bad).for_each(|item| item.ends(End::Consumed));
                        true
                    }
                    Err(_) => false,
                },
                6 => match exchange(&ports.sourced, [0_u8, 1, 2]).await {
                    Ok(items) => {
                        items.into_iter().for_each(|item| item.ends(End::Consumed));
                        true
                    }
                    Err(_) => false,
                },
                7 => {
                    // This wait is given up half of the time.
                    choice! {
                        item = a.receive() => item.map(|item| consume(item, &mut arbitrary)).is_ok(),
                        _ = yield_now() => round < 500,
                    }
                }
                _ => {
                    let once = b.once(&handle, |item| item.ends(End::Consumed));
                    yield_now().await;
                    if arbitrary.one_in(2) {
                        once.detach();
                    }
                    round < 200
                }
            };
            if !is_open {
                return;
            }
        }
    })
}

/// Starts the one consumer of the ordered port, which checks that each poster's items come in the poster's order.
fn ordered(dispatcher: &Dispatcher, shared: &Shared, is_checked: bool) {
    let last: Arc<Mutex<Vec<Option<usize>>>> = Arc::default();
    let port = shared.ports.ordered.clone();
    let shared = shared.clone();
    let receiver = port.on(dispatcher.handle(), 1, move |item: Item| {
        let mut last = last.lock().unwrap();
        let places = item.poster + 1;
        if last.len() < places {
            last.resize(places, None);
        }
        if is_checked && last[item.poster].is_some_and(|before| before >= item.number) {
            shared.accuse(format!("item {} of poster {} came after {:?}", item.number, item.poster, last[item.poster]));
        }
        last[item.poster] = Some(item.number);
        item.ends(End::Consumed);
        async {}
    });
    receiver.detach();
}

/// Starts the interleave, in which readers may run together and a writer runs alone.
fn interleave(dispatcher: &Dispatcher, shared: &Shared) -> Interleave<u64> {
    const WRITER: isize = 1 << 20;
    let (reading, writing) = (shared.clone(), shared.clone());
    let handlers = Handlers::new()
        .concurrent(&shared.ports.reads, move |_: Snapshot<u64>, mut item: Item| {
            // An abort may drop the handler with the item that it has begun to handle.
            item.may(End::Consumed);
            let shared = reading.clone();
            async move {
                // Relaxed: the counts are compared only with themselves, and the interleave orders the handlers.
                if shared.inside.fetch_add(1, Ordering::Relaxed) < 0 {
                    shared.accuse("a reader runs beside a writer".to_owned());
                }
                yield_now().await;
                shared.inside.fetch_sub(1, Ordering::Relaxed);
                item.ends(End::Consumed);
            }
        })
        .exclusive(&shared.ports.writes, move |mut state: Exclusive<u64>, mut item: Item| {
            item.may(End::Consumed);
            let shared = writing.clone();
            async move {
                if shared.inside.fetch_sub(WRITER, Ordering::Relaxed) != 0 {
                    shared.accuse("a writer does not run alone".to_owned());
                }
                *state += 1;
                yield_now().await;
                shared.inside.fetch_add(WRITER, Ordering::Relaxed);
                item.ends(End::Consumed);
            }
        });
    Interleave::start(dispatcher.handle(), 0, handlers)
}
