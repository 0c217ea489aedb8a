//! The activity of the services of a host: which handlers wait and why, the ports of the operations, and the subscribers.

use std::time::Duration;

use lehr_runtime::{Gauges, Inspection, Port};

use crate::host::Host;
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
    /// The port of each operation.
    pub ports: Vec<OperationPort>,
    /// The subscribers to changes.
    pub subscribers: Vec<SubscriberView>,
}

/// The port at which the requests for one operation arrive.
///
/// # Example
/// See [`Host::inspect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationPort {
    /// The name of the operation.
    pub operation: String,
    /// The state of the port; `len` is the number of waiting requests.
    pub gauges: Gauges,
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
    /// Inspects all services: waiting handlers, ports, subscribers.
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
                let (running, ports, subscribers) = (Vec::new(), Vec::new(), Vec::new());
                return Some(ServiceView { path, phase, running, ports, subscribers });
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
    let shared = local.shared();
    let ports = local.ports().map(|(name, _, gauges)| OperationPort { operation: name.to_owned(), gauges });
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
    ServiceView {
        path: shared.path.clone(),
        phase: shared.phase(),
        running: running.collect(),
        ports: ports.collect(),
        subscribers: shared.publisher.views(),
    }
}
