//! Shows the waits of tasks, and their reasons. An inspector looks from outside and costs the tasks nothing.
//!
//! You give an [`Inspector`] the dispatchers and ports to look at. On request, the inspector walks the lists that
//! dispatchers and ports keep anyway (living tasks, waiters, timers) and combines these lists. A wait keeps a waker, a
//! waker belongs to a task, and a task has the context in which it was spawned. A task that was [`named`](crate::named)
//! also has a name. Nothing is recorded for the inspector on the path of a message, and there is no list of all ports.
//!
//! The start of a wait is not recorded either. An inspector that [remembers](Inspector::remembering) reports at which
//! of its own looks it first saw the wait. So the more often you look, the more exact the time is.
//!
//! An inspector cannot see waits at ports that it does not know, for a place in a queue, for answers, for tasks or for
//! locks. An inspector does not find out which of two tasks that wait for each other is at fault. An inspector does not
//! name threads outside the dispatchers.
//!
//! An inspector reads each part under its own lock, but not all parts at the same moment. Read next:
//! `inspect/exposition.rs` for counters in Prometheus's format.

mod exposition;

use std::collections::HashMap;
use std::fmt;
use std::sync::Weak;
use std::time::Duration;

use lehr_sync::{Arc, SpinLock};

use crate::dispatch::{Counters, Handle};
use crate::port::gauges::Gauges;
use crate::port::waiters::Reason;
use crate::port::{Core, Port};
use crate::queue::QueueCounters;
use crate::timer::Clock;

/// Looks at dispatchers and ports on request.
///
/// An inspector does not keep ports or tasks alive.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Inspector, Port, named};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let orders = Port::<u32>::named("orders");
/// let inspector = Inspector::new();
/// inspector.watch_dispatcher("main", dispatcher.handle());
/// inspector.watch_port(&orders);
/// let inbox = orders.clone();
/// let _desk = dispatcher.spawn(named("desk", async move { inbox.receive().await }));
/// while orders.waiting() == 0 {
///     std::thread::yield_now();
/// }
/// let seen = inspector.look();
/// let desk = &seen.dispatchers[0].tasks[0];
/// assert_eq!((desk.name.as_deref(), &*desk.waits[0].reason), (Some("desk"), "receive at port \"orders\""));
/// ```
#[derive(Default)]
pub struct Inspector {
    watched: SpinLock<Watched>,
    memory: Option<Memory>,
}

/// The waits that the last look saw, and the clock.
struct Memory {
    clock: Clock,
    seen: SpinLock<HashMap<Registration, Seen>>,
}

/// The identity of a wait: the port's number, the waiter's slot there, and its position in the order of registration.
type Registration = (u64, u32, u64);

/// A wait that an earlier look saw.
#[derive(Clone, Copy)]
struct Seen {
    since: Duration,
    /// At that look, the number of items that had been posted to the port, and the number of items in the port.
    traffic: (u64, usize),
}

impl Memory {
    /// Notes a wait of `port`, and returns the time since which the wait has been seen.
    fn compare(
        now: Duration,
        before: &HashMap<Registration, Seen>,
        after: &mut HashMap<Registration, Seen>,
        port: &Looked,
        reason: &Reason,
    ) -> Duration {
        let key = (port.identity, reason.registration.0, reason.registration.1);
        // A waiter that comes back to its position after each item has waited the whole time if no item came or went.
        let same = before.get(&key).filter(|seen| reason.is_for_once || seen.traffic == port.traffic);
        let since = same.map_or(now, |seen| seen.since);
        after.insert(key, Seen { since, traffic: port.traffic });
        since
    }
}

#[derive(Default)]
struct Watched {
    dispatchers: Vec<(String, Handle)>,
    ports: Vec<Weak<dyn Look>>,
}

impl fmt::Debug for Inspector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Inspector").finish_non_exhaustive()
    }
}

/// A port that can be looked at.
trait Look: Send + Sync {
    fn look(self: Arc<Self>) -> Looked;
}

struct Looked {
    identity: u64,
    view: PortView,
    reasons: Vec<Reason>,
    /// The number of items that were ever posted, and the number of items in the port.
    traffic: (u64, usize),
}

impl<T: Send> Look for Core<T> {
    fn look(self: Arc<Self>) -> Looked {
        let port = Port { core: self };
        let view = PortView { name: port.name(), gauges: port.gauges() };
        let state = port.core.state.lock();
        let traffic = (state.queue.pushed(), state.queue.len());
        Looked { identity: port.core.identity, view, reasons: state.waiters.reasons().collect(), traffic }
    }
}

impl Inspector {
    /// Creates an inspector that looks at nothing yet.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_runtime::Inspector::new().look().ports.is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an inspector that looks at nothing yet. For each wait, it will report the time of its first look that
    /// saw the wait, by this clock ([`WaitView::since`]).
    ///
    /// A wait that began between two looks counts from the second look, so its reported duration is at most the true
    /// duration. Cost: an entry for each wait that the last look saw; waiters pay nothing.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Clock, Dispatcher, Inspector, Port};
    /// let (dispatcher, clock, orders) = (Dispatcher::new(1).unwrap(), Clock::virtual_time(), Port::<u32>::new());
    /// let inspector = Inspector::remembering(&clock);
    /// inspector.watch_port(&orders);
    /// let inbox = orders.clone();
    /// let _desk = dispatcher.spawn(async move { inbox.receive().await });
    /// while orders.waiting() == 0 {
    ///     std::thread::yield_now();
    /// }
    /// clock.advance(Duration::from_secs(5));
    /// assert_eq!(inspector.look().other_waits[0].since, Some(Duration::from_secs(5)));
    /// clock.advance(Duration::from_secs(60));
    /// assert_eq!(inspector.look().other_waits[0].since, Some(Duration::from_secs(5)), "it waits since then, or longer");
    /// ```
    pub fn remembering(clock: &Clock) -> Self {
        Self { memory: Some(Memory { clock: clock.clone(), seen: SpinLock::default() }), ..Self::default() }
    }

    /// Adds a dispatcher with a name for people. From now on, looks show its workers, queues, tasks and timers.
    ///
    /// # Example
    /// See [`Inspector`].
    pub fn watch_dispatcher(&self, name: impl Into<String>, dispatcher: &Handle) {
        let dispatcher = (name.into(), dispatcher.clone());
        self.watched.lock().dispatchers.push(dispatcher);
    }

    /// Adds a port. From now on, looks show the port, as long as another owner keeps it.
    ///
    /// # Example
    /// See [`Inspector`].
    pub fn watch_port<T: Send + 'static>(&self, port: &Port<T>) {
        let core: Arc<dyn Look> = port.core.clone();
        let gone: Vec<_> = {
            let mut watched = self.watched.lock();
            let gone = watched.ports.extract_if(.., |port| port.strong_count() == 0).collect();
            watched.ports.push(Arc::downgrade(&core));
            gone
        };
        drop(gone);
    }

    /// Returns the present state of the dispatchers and ports that were added.
    ///
    /// Cost: proportional to the living tasks and waiters; each list is locked once while it is walked.
    ///
    /// # Example
    /// See [`Inspector`].
    pub fn look(&self) -> Inspection {
        let (dispatchers, ports) = {
            let watched = self.watched.lock();
            (watched.dispatchers.clone(), watched.ports.clone())
        };
        let mut waits: HashMap<usize, Vec<WaitView>> = HashMap::new();
        let mut others = Vec::new();
        let mut views = Vec::new();
        let before = self.memory.as_ref().map(|memory| (memory.clock.now(), memory.seen.lock().clone()));
        let mut after = HashMap::new();
        for port in ports.into_iter().filter_map(|port| port.upgrade()) {
            let port = port.look();
            for reason in &port.reasons {
                let since = before.as_ref().map(|(now, seen)| Memory::compare(*now, seen, &mut after, &port, reason));
                let wait = WaitView { reason: format!("{} {}", reason.text, port.view.name), since, until: None };
                match reason.task {
                    Some(task) => waits.entry(task).or_default().push(wait),
                    None => others.push(wait),
                }
            }
            views.push(port.view);
        }
        if let Some(memory) = &self.memory {
            let _replaced = std::mem::replace(&mut *memory.seen.lock(), after);
        }
        // A clock that several dispatchers share is read for each of them, but a task belongs to only one dispatcher.
        let dispatchers = dispatchers.into_iter().map(|(name, handle)| look_at(name, &handle, &mut waits)).collect();
        others.extend(waits.into_values().flatten());
        Inspection { dispatchers, ports: views, other_waits: others }
    }
}

fn look_at(name: String, handle: &Handle, waits: &mut HashMap<usize, Vec<WaitView>>) -> DispatcherView {
    let shared = &handle.shared;
    let mut sleepers: HashMap<usize, Vec<WaitView>> = HashMap::new();
    let due = shared.clock.sleepers();
    for (at, task) in due {
        let wait = WaitView { reason: "sleep".to_owned(), since: None, until: Some(at) };
        sleepers.entry(task).or_default().push(wait);
    }
    let names = shared.names.lock().clone();
    let tasks = shared.live.tasks().into_iter().map(|(task, context)| {
        let mut own = waits.remove(&task).unwrap_or_default();
        own.extend(sleepers.remove(&task).unwrap_or_default());
        TaskView {
            identity: task,
            name: names.get(&task).map(|name| name.to_string()),
            context: context.as_ref().and_then(|context| context.name().map(str::to_owned)),
            context_id: context.as_ref().map(crate::Context::id),
            deadline: context.as_ref().and_then(crate::Context::deadline),
            waits: own,
        }
    });
    let tasks = tasks.collect();
    let ended = shared.live.ended();
    DispatcherView {
        name,
        now: shared.clock.now(),
        workers: handle.counters(),
        queued: shared.stealers.iter().map(crossbeam_deque::Stealer::len).collect(),
        queued_outside: shared.injector.len(),
        queues: shared.queues.all().iter().map(|queue| (queue.name().to_owned(), queue.counters())).collect(),
        tasks,
        finished: ended.finished,
        aborted: ended.aborted,
        timers: shared.clock.pending(),
    }
}

/// The result of a look of an [`Inspector`]. The format `{}` is for people, and [`prometheus`](Self::prometheus) gives
/// a format for machines.
///
/// # Example
/// ```
/// let seen = lehr_runtime::Inspector::new().look();
/// assert_eq!(seen.to_string(), "");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// The dispatchers, in the order in which they were added.
    pub dispatchers: Vec<DispatcherView>,
    /// The ports that still exist, in the order in which they were added.
    pub ports: Vec<PortView>,
    /// Waits that do not belong to a task of these dispatchers. Such a wait belongs to a thread, a one-time receiver,
    /// an interleave, or a waiter that was just woken.
    pub other_waits: Vec<WaitView>,
}

/// A dispatcher, as an [`Inspector`] saw it.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DispatcherView {
    /// The name with which the dispatcher was added.
    pub name: String,
    /// The present time on the dispatcher's clock.
    pub now: Duration,
    /// The counts of each worker, and after them of each spare thread that was started.
    pub workers: Vec<Counters>,
    /// The number of jobs in each worker's queue.
    pub queued: Vec<usize>,
    /// The number of jobs in the common queue.
    pub queued_outside: usize,
    /// The named queues by name, and their counters.
    pub queues: Vec<(String, QueueCounters)>,
    /// The dispatcher's living tasks.
    pub tasks: Vec<TaskView>,
    /// The number of tasks that ran to their end or panicked.
    pub finished: usize,
    /// The number of tasks that were dropped before their end.
    pub aborted: usize,
    /// The number of timers pending on the dispatcher's clock.
    pub timers: usize,
}

/// A living task, as an [`Inspector`] saw it.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskView {
    /// The address of the task's wakers, which is different for each living task.
    pub identity: usize,
    /// The name that [`named`](crate::named) gave the task.
    pub name: Option<String>,
    /// The name of the context in which the task was spawned.
    pub context: Option<String>,
    /// The number of the context in which the task was spawned.
    pub context_id: Option<u64>,
    /// The deadline of the context in which the task was spawned.
    pub deadline: Option<Duration>,
    /// The task's waits at watched ports and for timers; empty if the task is queued or runs, or waits for something
    /// else.
    pub waits: Vec<WaitView>,
}

/// A wait, as an [`Inspector`] saw it.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitView {
    /// The reason for the wait, as text.
    pub reason: String,
    /// The time of the first look that saw the wait, by the inspector's clock; the wait may have begun earlier. `None`
    /// for other waits than waits at ports, and if the inspector does not [remember](Inspector::remembering) waits.
    pub since: Option<Duration>,
    /// The time at which the wait ends by itself, for a wait for a timer.
    pub until: Option<Duration>,
}

/// A port, as an [`Inspector`] saw it.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PortView {
    /// The port's name.
    pub name: String,
    /// The port's gauges.
    pub gauges: Gauges,
}

impl fmt::Display for WaitView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)?;
        if let Some(since) = self.since {
            write!(formatter, " since {since:?}")?;
        }
        match self.until {
            None => Ok(()),
            Some(until) => write!(formatter, " until {until:?}"),
        }
    }
}

impl fmt::Display for TaskView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "task {name:?}")?,
            None => formatter.write_str("task")?,
        }
        if let Some(id) = self.context_id {
            write!(formatter, " in context {:?} ({id})", self.context.as_deref().unwrap_or("several"))?;
        }
        if let Some(deadline) = self.deadline {
            write!(formatter, ", until {deadline:?}")?;
        }
        if self.waits.is_empty() {
            return formatter.write_str(": queued, running, or waiting for what is not watched");
        }
        for (place, wait) in self.waits.iter().enumerate() {
            write!(formatter, "{}{wait}", if place == 0 { ": waits for " } else { ", or " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for dispatcher in &self.dispatchers {
            let (tasks, running) =
                (dispatcher.tasks.len(), dispatcher.workers.iter().filter(|worker| worker.is_running));
            writeln!(
                formatter,
                "dispatcher {:?}: {} of {} workers in a job, {} jobs queued, {tasks} tasks living, {} timers, time {:?}",
                dispatcher.name,
                running.count(),
                dispatcher.workers.len(),
                dispatcher.queued.iter().sum::<usize>() + dispatcher.queued_outside,
                dispatcher.timers,
                dispatcher.now,
            )?;
            for (name, counters) in &dispatcher.queues {
                writeln!(
                    formatter,
                    "  queue {name:?}: {} waiting to begin, {} living",
                    counters.depth, counters.living
                )?;
            }
            for task in &dispatcher.tasks {
                writeln!(formatter, "  {task}")?;
            }
        }
        for PortView { name, gauges } in &self.ports {
            let (items, receivers) = (gauges.len, gauges.receivers_waiting);
            writeln!(
                formatter,
                "{name}: {items} items, {receivers} receivers and {} posters waiting",
                gauges.posters_waiting
            )?;
        }
        for wait in &self.other_waits {
            writeln!(formatter, "somebody else waits for {wait}")?;
        }
        Ok(())
    }
}
