//! The state that handlers, references and subscriptions of one running service share, whatever the type of the
//! service.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::fmt;

use lehr_runtime::{Port, Reply};
use lehr_sync::{Arc, Count, Mutex};

use crate::contract::Description;
use crate::fault::Fault;
use crate::host::{Host, WeakHost};
use crate::lifecycle::{Phase, Restart, Stop};
use crate::measures::Measures;
use crate::placement::Placement;
use crate::publisher::Publisher;
use crate::running::Handling;
use crate::store::Store;

/// The maximum number of request keys that a service remembers; it forgets the oldest keys first.
const KEYS_MAX: usize = 4096;

/// The state that the handlers, references and subscriptions of one incarnation of a service share.
pub(crate) struct Shared {
    pub(crate) path: String,
    pub(crate) incarnation: u64,
    pub(crate) description: Arc<Description>,
    pub(crate) publisher: Publisher,
    pub(crate) stop: Port<StopRequest>,
    /// Whether a panic of an exclusive handler ends this incarnation of the service.
    pub(crate) stops_on_panic: bool,
    pub(crate) store: Option<Store>,
    pub(crate) host: WeakHost,
    /// The waiting handlers.
    pub(crate) handling: Handling,
    /// Problems at the start that were repaired. The service works, but an operator should look at them.
    reports: Mutex<Vec<String>>,
    phase: Mutex<Phase>,
    keys: Mutex<Keys>,
    pub(crate) counters: Counters,
    pub(crate) measures: Measures,
    /// The request that ended the service: its reason, and the waiters for the end.
    ended: Mutex<Option<StopRequest>>,
}

/// A request to end a service.
pub(crate) struct StopRequest {
    pub(crate) why: Stop,
    /// The reply, which is sent when nothing of the service remains.
    pub(crate) reply: Reply<Result<(), Fault>>,
}

/// The counts of a service's requests since it started.
///
/// # Example
/// See [`Host::counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct Counts {
    /// Requests that were handled, reads of the whole state included.
    pub handled: u64,
    /// Handled requests that ended in a fault.
    pub faults: u64,
    /// Handlers that panicked.
    pub panics: u64,
    /// Answers that came after the client had stopped waiting.
    pub late: u64,
    /// Requests that were sent again under the same key, and answered from memory.
    pub repeated: u64,
}

/// The counters behind [`Counts`]. Each counter is a separate atomic, because every request changes some of them.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) handled: Count,
    pub(crate) faults: Count,
    pub(crate) panics: Count,
    pub(crate) late: Count,
    pub(crate) repeated: Count,
}

/// An operation and a key.
type Name = (&'static str, Box<str>);

/// A result whose type only the operation knows.
type Outcome = Box<dyn Any + Send>;

/// Outcomes of requests with a key, for requests that are sent again.
#[derive(Default)]
struct Keys {
    /// The outcomes by key; `None` while the request is being carried out.
    outcomes: HashMap<Name, Option<Outcome>>,
    order: VecDeque<Name>,
}

/// The state of a request with a key.
pub(crate) enum Remembered<T> {
    /// The key is new, and is now noted as running.
    New,
    /// The request is being carried out.
    Running,
    /// The request was carried out, with this outcome.
    Done(T),
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Service")
            .field("path", &self.path)
            .field("incarnation", &self.incarnation)
            .field("contract", &self.description.name)
            .field("phase", &self.phase())
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(placement: &Placement, incarnation: u64, description: Description, host: WeakHost) -> Self {
        let path = &placement.path;
        let kept = placement.state.clone();
        Self {
            path: path.clone(),
            incarnation,
            store: kept.map(|file| Store::new(file, &description.name, description.version)),
            description: Arc::new(description),
            publisher: Publisher::default(),
            stop: Port::named(format!("drop of {path}")),
            stops_on_panic: placement.restart != Restart::Never,
            host,
            handling: Handling::default(),
            reports: Mutex::default(),
            phase: Mutex::new(Phase::Starting),
            keys: Mutex::default(),
            counters: Counters::default(),
            measures: Measures::default(),
            ended: Mutex::default(),
        }
    }

    pub(crate) fn host(&self) -> Option<Host> {
        self.host.upgrade()
    }

    pub(crate) fn phase(&self) -> Phase {
        *self.phase.lock()
    }

    pub(crate) fn set_phase(&self, phase: Phase) {
        *self.phase.lock() = phase;
    }

    /// Adds a report. Returns `false` if it was reported before.
    pub(crate) fn report(&self, text: String) -> bool {
        let mut reports = self.reports.lock();
        let is_new = !reports.contains(&text);
        if is_new {
            reports.push(text);
        }
        is_new
    }

    pub(crate) fn reports(&self) -> Vec<String> {
        self.reports.lock().clone()
    }

    pub(crate) fn counts(&self) -> Counts {
        let Counters { handled, faults, panics, late, repeated } = &self.counters;
        Counts {
            handled: handled.get(),
            faults: faults.get(),
            panics: panics.get(),
            late: late.get(),
            repeated: repeated.get(),
        }
    }

    pub(crate) fn leave_end(&self, request: StopRequest) {
        *self.ended.lock() = Some(request);
    }

    pub(crate) fn take_end(&self) -> Option<StopRequest> {
        self.ended.lock().take()
    }

    /// Looks up a key, and records it if it is new.
    pub(crate) fn remember<T: Clone + Send + 'static>(&self, operation: &'static str, key: &str) -> Remembered<T> {
        let mut keys = self.keys.lock();
        let name = (operation, Box::from(key));
        match keys.outcomes.get(&name) {
            Some(None) => return Remembered::Running,
            Some(Some(outcome)) => {
                if let Some(outcome) = outcome.downcast_ref::<T>() {
                    return Remembered::Done(outcome.clone());
                }
            }
            None => {}
        }
        keys.outcomes.insert(name, None);
        Remembered::New
    }

    /// Keeps the outcome of a request with a key. Without an outcome, the request counts as never made.
    pub(crate) fn settle<T: Send + 'static>(&self, operation: &'static str, key: &str, outcome: Option<T>) {
        let mut forgotten: Vec<Option<Outcome>> = Vec::new();
        let mut keys = self.keys.lock();
        let name = (operation, Box::<str>::from(key));
        match outcome {
            None => forgotten.push(keys.outcomes.remove(&name).flatten()),
            Some(outcome) => {
                forgotten.push(keys.outcomes.insert(name.clone(), Some(Box::new(outcome))).flatten());
                keys.order.push_back(name);
                while keys.order.len() > KEYS_MAX {
                    let Some(oldest) = keys.order.pop_front() else { break };
                    forgotten.push(keys.outcomes.remove(&oldest).flatten());
                }
            }
        }
        // The values have the user's types, so they are dropped after the lock is released.
        drop(keys);
        drop(forgotten);
    }
}
