//! Writes counters as text in Prometheus's format: a line for each figure, under a header for each kind.

use std::fmt::{Display, Write};

use super::{DispatcherView, Inspection};

/// The lines of one kind of figure, which all begin with the same name.
struct Family<'a> {
    text: &'a mut String,
    name: &'a str,
}

impl<'a> Family<'a> {
    /// Begins a family by writing its header. If its figures only rise, its name must end in `_total`.
    fn begin(text: &'a mut String, name: &'a str, help: &str) -> Self {
        let kind = if name.ends_with("_total") { "counter" } else { "gauge" };
        // Writing to a `String` cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Self { text, name }
    }

    fn line(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(self.name);
        for (place, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{}{label}=\"{value}\"", if place == 0 { '{' } else { ',' });
        }
        let _ = writeln!(self.text, "}} {value}");
    }
}

type OfDispatcher = (&'static str, &'static str, fn(&DispatcherView) -> usize);

const DISPATCHERS: [OfDispatcher; 5] = [
    ("lehr_tasks_living", "Tasks that have not ended.", |dispatcher| dispatcher.tasks.len()),
    ("lehr_tasks_finished_total", "Tasks that have ended.", |dispatcher| dispatcher.finished),
    ("lehr_tasks_aborted_total", "Tasks dropped before their end.", |dispatcher| dispatcher.aborted),
    ("lehr_jobs_queued_outside", "Jobs in the queue for every worker.", |dispatcher| dispatcher.queued_outside),
    ("lehr_timers_pending", "Timers pending on the dispatcher's clock.", |dispatcher| dispatcher.timers),
];

impl Inspection {
    /// Returns the counters and gauges in Prometheus's text format, version 0.0.4. Two ports of the same name give two
    /// lines with the same labels, which a scraper refuses. So give different names to your ports.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Inspector, Port};
    /// let (inspector, orders) = (Inspector::new(), Port::named("orders"));
    /// inspector.watch_port(&orders);
    /// orders.post(1).unwrap();
    /// assert!(inspector.look().prometheus().contains("lehr_port_items{port=\"port \\\"orders\\\"\"} 1\n"));
    /// ```
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        for (name, help, value) in DISPATCHERS {
            let mut family = Family::begin(&mut text, name, help);
            for dispatcher in &self.dispatchers {
                family.line(&[("dispatcher", &dispatcher.name)], value(dispatcher));
            }
        }
        self.workers(&mut text);
        self.queues(&mut text);
        self.ports(&mut text);
        text
    }

    fn workers(&self, text: &mut String) {
        let mut family = |name, help, value: fn(&DispatcherView, usize) -> usize| {
            let mut family = Family::begin(text, name, help);
            for dispatcher in &self.dispatchers {
                for worker in 0..dispatcher.workers.len() {
                    let labels = [("dispatcher", &*dispatcher.name), ("worker", &worker.to_string())];
                    family.line(&labels, value(dispatcher, worker));
                }
            }
        };
        family("lehr_worker_polls_total", "Jobs run.", |dispatcher, worker| dispatcher.workers[worker].polls);
        family("lehr_worker_steals_total", "Steals.", |dispatcher, worker| dispatcher.workers[worker].steals);
        family("lehr_worker_sleeps_total", "Times it slept.", |dispatcher, worker| dispatcher.workers[worker].sleeps);
        family("lehr_worker_queued", "Jobs in its queue.", |dispatcher, worker| dispatcher.queued[worker]);
    }

    fn queues(&self, text: &mut String) {
        let mut family = |name, help, value: fn(&crate::QueueCounters) -> usize| {
            let mut family = Family::begin(text, name, help);
            for dispatcher in &self.dispatchers {
                for (queue, counters) in &dispatcher.queues {
                    family.line(&[("dispatcher", &dispatcher.name), ("queue", queue)], value(counters));
                }
            }
        };
        family("lehr_queue_depth", "Tasks that wait for their first poll.", |counters| counters.depth);
        family("lehr_queue_living", "Tasks admitted and not ended.", |counters| counters.living);
        family("lehr_queue_scheduled_total", "Tasks admitted.", |counters| counters.scheduled);
        family("lehr_queue_discarded_total", "Tasks thrown away by the policy.", |counters| counters.discarded);
        family("lehr_queue_rejected_total", "Spawns refused.", |counters| counters.rejected);
    }

    fn ports(&self, text: &mut String) {
        let mut family = |name, help, value: fn(&crate::Gauges) -> u64| {
            let mut family = Family::begin(text, name, help);
            for port in &self.ports {
                family.line(&[("port", &port.name)], value(&port.gauges));
            }
        };
        family("lehr_port_items", "Items in the port.", |gauges| gauges.len as u64);
        family("lehr_port_receivers_waiting", "Receivers that wait.", |gauges| gauges.receivers_waiting as u64);
        family("lehr_port_posters_waiting", "Posters that wait.", |gauges| gauges.posters_waiting as u64);
        family("lehr_port_posted_total", "Items accepted.", |gauges| gauges.posted);
        family("lehr_port_received_total", "Items taken out.", |gauges| gauges.received);
        family("lehr_port_discarded_total", "Items given up.", |gauges| gauges.discarded);
    }
}
