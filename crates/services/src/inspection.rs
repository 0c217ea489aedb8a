//! The activity of the services of a host: which handlers wait and why, the requests that wait, and the subscribers.

use std::time::Duration;

use lehr_runtime::{Inspection, Port};

use crate::host::Host;
use crate::info::{Info, Waiting};
use crate::lifecycle::Phase;
use crate::main_port::Local;

/// The state of a host at one moment.
///
/// # Example
/// See [`Host::inspect`].
#[derive(Clone, Debug)]
pub struct Inspected {
    /// The services, by path.
    pub services: Vec<ServiceView>,
    /// The tasks, workers and timers of the runtime.
    pub runtime: Inspection,
}

/// The state of a service at the moment of the inspection.
///
/// # Example
/// See [`Host::inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceView {
    /// The path of the service.
    pub path: String,
    /// The phase of the service.
    pub phase: Phase,
    /// The handlers that wait, in the order in which they began to wait.
    pub running: Vec<Running>,
    /// The number of requests that wait for each operation.
    pub waiting: Vec<Waiting>,
    /// The subscribers to changes.
    pub subscribers: Vec<SubscriberView>,
}

/// A handler that has begun and waits.
///
/// # Example
/// See [`Host::inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The operation that the handler handles.
    pub operation: String,
    /// The caller, if the request came over a network edge.
    pub caller: Option<String>,
    /// The time since the handler first waited, on the host's clock.
    pub age: Duration,
    /// Descriptions of the events that the handler waits for: several if it waits for the first of several events. The
    /// list is empty if the handler has just been woken, or if the host cannot see the wait. The host sees waits for
    /// answers of services, for timers, and at ports that it [watches](Host::watch_port).
    pub waits_for: Vec<String>,
}

/// A subscriber to the changes of a service.
///
/// # Example
/// See [`Host::inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberView {
    /// The name of the subscriber, if it gave one.
    pub name: Option<String>,
    /// The number of changes that the subscriber has not yet taken.
    pub queued: usize,
    /// The number of dropped changes that the subscriber has not been told about yet.
    pub missed: u64,
}

impl Host {
    /// Inspects all services: waiting handlers, waiting requests, subscribers.
    ///
    /// Cost: proportional to the numbers of services, waiting handlers, subscribers and living tasks. Each of these
    /// lists is locked once. A handler that never waits pays nothing for the inspection.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = Host::new(dispatcher.handle());
    /// lehr_runtime::block_on(host.ready());
    /// let seen = host.inspect();
    /// assert_eq!(seen.services[0].path, DIRECTORY);
    /// assert!(seen.services[0].running.is_empty());
    /// assert_eq!(seen.runtime.dispatchers.len(), 1);
    /// ```
    pub fn inspect(&self) -> Inspected {
        let runtime = self.inspector().look();
        let now = self.clock().now();
        let services = self.paths().into_iter().filter_map(|path| {
            let phase = self.phase(&path)?;
            let Ok(local) = self.find(&path) else {
                let (running, waiting, subscribers) = (Vec::new(), Vec::new(), Vec::new());
                return Some(ServiceView { path, phase, running, waiting, subscribers });
            };
            Some(view(&local, &runtime, now))
        });
        Inspected { services: services.collect(), runtime }
    }

    /// Lets inspections name a service's own port when a handler waits at it, for as long as the port exists.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// let orders = lehr_runtime::Port::<u32>::named("orders");
    /// host.watch_port(&orders);
    /// assert!(host.inspect().runtime.ports.iter().any(|port| port.name.contains("orders")));
    /// ```
    pub fn watch_port<T: Send + 'static>(&self, port: &Port<T>) {
        self.inspector().watch_port(port);
    }
}

fn view(local: &Local, runtime: &Inspection, now: Duration) -> ServiceView {
    let Info { path, phase, waiting, .. } = Info::of(local);
    let shared = local.shared();
    let running = shared.handling.entries().into_iter().map(|entry| {
        let mut waits_for: Vec<String> = entry.reason.into_iter().collect();
        let mut tasks = runtime.dispatchers.iter().flat_map(|dispatcher| &dispatcher.tasks);
        if let Some(task) = tasks.find(|task| task.identity == entry.task) {
            waits_for.extend(task.waits.iter().map(ToString::to_string));
        }
        Running {
            operation: entry.operation.to_owned(),
            caller: entry.caller.map(String::from),
            age: entry.since.map_or(Duration::ZERO, |since| now.saturating_sub(since)),
            waits_for,
        }
    });
    let running = running.collect();
    ServiceView { path, phase, running, waiting, subscribers: shared.publisher.views() }
}
