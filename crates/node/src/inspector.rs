//! The inspector of a node as a service. The inspector shows waiting handlers, ports with their requests, subscribers,
//! and the workers with their queues.

use std::time::Duration;

use lehr_runtime::{DispatcherView, Gauges};
use lehr_services::{
    Call, Concurrent, Contract, Fault, Handlers, Inspected, Operation, Phase, Service, ServiceView, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path of a node's inspector.
pub const INSPECTOR: &str = "/inspector";

/// The document of the inspector, which is empty. The answer to [`Look`] has the state.
///
/// # Example
/// ```
/// use lehr_node::{INSPECTOR, Inspector, Look};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let inspector = host.start(INSPECTOR, Inspector::default).await?;
///     let seen = inspector.call(Look::default()).await?;
///     assert_eq!((seen.services[0].path.as_str(), seen.workers), ("/directory", 2));
///     let stuck = inspector.call(Look { older_than_ms: 60_000, ..Look::default() }).await?;
///     assert!(stuck.services.is_empty());
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Inspector {}

impl Contract for Inspector {
    const NAME: &'static str = "lehr/inspector";
    const VERSION: Version = Version::new(1, 0);
}

/// Looks at the node. By default, shows everything.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(default, deny_unknown_fields)]
#[operation(contract = Inspector, verb = Query, name = "look", reply = Seen)]
pub struct Look {
    /// Show only the service at this path and the services below it. Default: all.
    pub path: String,
    /// Show only services with a handler that has waited at least this many milliseconds, and only these handlers.
    /// Default: 0.
    pub older_than_ms: u64,
}

/// The state of a node, as the answer to [`Look`].
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The services.
    pub services: Vec<SeenService>,
    /// The ports that services watch by a name, besides those of operations.
    pub ports: Vec<SeenPort>,
    /// The dispatchers, which run all handlers.
    pub dispatchers: Vec<SeenDispatcher>,
    /// The number of the node's workers.
    pub workers: usize,
    /// The number of workers that are running a job.
    pub workers_busy: usize,
    /// The number of jobs that wait for a worker.
    pub jobs_queued: usize,
    /// The number of tasks that have not ended.
    pub tasks: usize,
    /// The number of timers that have not fired.
    pub timers: usize,
}

/// A service in the answer.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenService {
    /// The path of the service.
    pub path: String,
    /// The phase of the service.
    pub phase: Phase,
    /// The handlers that have begun and now wait.
    pub running: Vec<SeenHandler>,
    /// The ports of the operations.
    pub ports: Vec<SeenPort>,
    /// The subscribers to the service's changes.
    pub subscribers: Vec<SeenSubscriber>,
}

/// A handler that waits.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenHandler {
    /// The name of the operation.
    pub operation: String,
    /// The caller of the operation.
    pub caller: Option<String>,
    /// The time since the handler first waited, in milliseconds.
    pub age_ms: u64,
    /// The reasons of the handler's wait, as far as known.
    pub waits_for: Vec<String>,
}

/// A port.
///
/// Items are numbered in the order in which they arrive. So the oldest waiting item has the number `taken`, and a
/// program that looks regularly can tell since when the item has been there.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenPort {
    /// The name of the port, which is the operation's name for a port of requests.
    pub name: String,
    /// The number of waiting items.
    pub waiting: usize,
    /// The number of places; `None` if there is no limit.
    pub capacity: Option<usize>,
    /// The number of items that the port has accepted.
    pub posted: u64,
    /// The number of items that have left the port.
    pub taken: u64,
}

/// A dispatcher: workers and the queues of jobs that they serve.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenDispatcher {
    /// The name of the dispatcher.
    pub name: String,
    /// The workers.
    pub workers: Vec<SeenWorker>,
    /// The number of jobs that no worker has taken into its own queue yet.
    pub queued: usize,
    /// The named queues.
    pub queues: Vec<SeenQueue>,
}

/// A worker.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenWorker {
    /// Whether the worker is running a job.
    pub is_running: bool,
    /// The number of jobs in the worker's own queue.
    pub queued: usize,
    /// The number of jobs that the worker has run.
    pub jobs: usize,
    /// The number of times that the worker took jobs from another worker.
    pub steals: usize,
    /// The number of times that the worker fell asleep.
    pub sleeps: usize,
}

/// A named queue of tasks.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SeenQueue {
    /// The name of the queue.
    pub name: String,
    /// The number of tasks that have not begun.
    pub waiting: usize,
    /// The number of tasks that have begun and not ended.
    pub running: usize,
}

/// A subscriber.
///
/// # Example
/// See [`Inspector`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeenSubscriber {
    /// The subscriber's name, if it gave one.
    pub name: Option<String>,
    /// The number of changes that the subscriber has not taken.
    pub queued: usize,
    /// The number of dropped changes that the subscriber has not been told about yet.
    pub missed: u64,
}

fn seen(service: ServiceView, older_than: Duration) -> SeenService {
    let running = service.running.into_iter().filter(|handler| handler.age >= older_than).map(|handler| SeenHandler {
        operation: handler.operation,
        caller: handler.caller,
        age_ms: u64::try_from(handler.age.as_millis()).unwrap_or(u64::MAX),
        waits_for: handler.waits_for,
    });
    let subscribers = service.subscribers.into_iter();
    SeenService {
        path: service.path,
        phase: service.phase,
        running: running.collect(),
        ports: service.ports.into_iter().map(|port| seen_port(port.operation, &port.gauges)).collect(),
        subscribers: subscribers
            .map(|one| SeenSubscriber { name: one.name, queued: one.queued, missed: one.missed })
            .collect(),
    }
}

fn seen_port(name: String, gauges: &Gauges) -> SeenPort {
    SeenPort {
        name,
        waiting: gauges.len,
        capacity: gauges.capacity,
        posted: gauges.posted,
        taken: gauges.received + gauges.discarded,
    }
}

fn seen_dispatcher(dispatcher: &DispatcherView) -> SeenDispatcher {
    let workers = dispatcher.workers.iter().enumerate().map(|(number, worker)| SeenWorker {
        is_running: worker.is_running,
        // Spare threads have no queue of their own.
        queued: dispatcher.queued.get(number).copied().unwrap_or(0),
        jobs: worker.polls,
        steals: worker.steals,
        sleeps: worker.sleeps,
    });
    let queues = dispatcher.queues.iter().map(|(name, counters)| SeenQueue {
        name: name.clone(),
        waiting: counters.depth,
        running: counters.living.saturating_sub(counters.depth),
    });
    SeenDispatcher {
        name: dispatcher.name.clone(),
        workers: workers.collect(),
        queued: dispatcher.queued_outside,
        queues: queues.collect(),
    }
}

impl Service for Inspector {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Look>().permanent();
    }
}

impl Concurrent<Look> for Inspector {
    async fn handle(&self, Look { path, older_than_ms }: Look, call: &Call) -> Result<Seen, Fault> {
        let Inspected { services, runtime } = call.host()?.inspect();
        let older_than = Duration::from_millis(older_than_ms);
        let prefix = path.trim_end_matches('/');
        let is_meant = |path: &str| {
            path.strip_prefix(prefix).is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
        };
        let services = services.into_iter().filter(|service| is_meant(&service.path));
        let services = services.map(|service| seen(service, older_than));
        let mut seen = Seen {
            services: services.filter(|service| older_than.is_zero() || !service.running.is_empty()).collect(),
            ports: runtime.ports.iter().map(|port| seen_port(port.name.clone(), &port.gauges)).collect(),
            dispatchers: runtime.dispatchers.iter().map(seen_dispatcher).collect(),
            ..Seen::default()
        };
        for dispatcher in &runtime.dispatchers {
            seen.workers += dispatcher.workers.len();
            seen.workers_busy += dispatcher.workers.iter().filter(|worker| worker.is_running).count();
            seen.jobs_queued += dispatcher.queued.iter().sum::<usize>() + dispatcher.queued_outside;
            seen.tasks += dispatcher.tasks.len();
            seen.timers += dispatcher.timers;
        }
        Ok(seen)
    }
}
