//! A discrete-event simulation (paper 001, table 4: "queued", figure 15 b): messages carry a time, are queued at their
//! destination process, and are taken in the order of these times.
//!
//! ```text
//! customers (rate 0.30) --+
//!                          merge by time -> [server, rate 1] -> [server, rate 1] -> departures
//! customers (rate 0.20) --+
//! ```
//!
//! Every process is a task with its own clock; no process reads the machine's clock. A process with two inputs may
//! continue only when it knows the next event of *both* inputs (Chandy, Misra and Bryant). It holds the first event of
//! each input, and receives the next event only from the input that it has just used. Fast processes run ahead, and
//! their messages queue in the ports.
//!
//! Checked: each departure, bit for bit, by comparison with a simulation without processes. Also checked: the mean time
//! in the system, by comparison with the closed form for an open network of two M/M/1 servers, 2 / (1 - 0.5) = 4.
//! `cargo run --release -p lehr-runtime --example discrete_event_simulation`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, all, block_on};

const CUSTOMERS: [usize; 2] = [240_000, 160_000];
const ARRIVALS: [f64; 2] = [0.3, 0.2];
const SERVICE: f64 = 1.0;

/// An event of a customer: its time, and the time of the customer's arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The time at which the event takes place.
    pub time: f64,
    /// The time at which the customer arrived.
    pub arrived: f64,
}

/// Exponentially distributed times between events, by inversion of numbers from a multiplicative generator (Lehmer,
/// modulus 2^61 - 1).
struct Exponential {
    state: u64,
    rate: f64,
}

impl Exponential {
    fn new(seed: u64, rate: f64) -> Self {
        Self { state: seed, rate }
    }

    fn draw(&mut self) -> f64 {
        const MODULUS: u64 = (1 << 61) - 1;
        self.state = (u128::from(self.state) * 437_799_614_237_992_725 % u128::from(MODULUS)) as u64;
        -(self.state as f64 / MODULUS as f64).ln() / self.rate
    }
}

fn arrivals(source: usize) -> impl Iterator<Item = Event> {
    let mut gaps = Exponential::new(1_000_003 + source as u64, ARRIVALS[source]);
    let mut time = 0.0;
    (0..CUSTOMERS[source]).map(move |_| {
        time += gaps.draw();
        Event { time, arrived: time }
    })
}

/// A server, which serves customers in order of arrival.
struct Server {
    service: Exponential,
    free_at: f64,
}

impl Server {
    fn new(seed: u64) -> Self {
        Self { service: Exponential::new(seed, SERVICE), free_at: 0.0 }
    }

    fn serve(&mut self, customer: Event) -> Event {
        self.free_at = self.free_at.max(customer.time) + self.service.draw();
        Event { time: self.free_at, arrived: customer.arrived }
    }
}

/// Returns the departures of a simulation without processes.
pub fn sequential() -> Vec<Event> {
    let mut customers: Vec<Event> = (0..2).flat_map(arrivals).collect();
    customers.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut servers = [Server::new(77), Server::new(78)];
    customers
        .into_iter()
        .map(|customer| servers.iter_mut().fold(customer, |event, server| server.serve(event)))
        .collect()
}

/// Takes events from two ports in order of time: the earlier of the two first events, once both are known.
async fn merge(inputs: [Port<Event>; 2], mut each: impl FnMut(Event)) {
    let mut heads = [inputs[0].receive().await.ok(), inputs[1].receive().await.ok()];
    loop {
        let first = match heads {
            [Some(a), Some(b)] => usize::from(b.time < a.time),
            [Some(_), None] => 0,
            [None, Some(_)] => 1,
            [None, None] => return,
        };
        let next = inputs[first].receive().await.ok();
        each(std::mem::replace(&mut heads[first], next).expect("the head that was looked at"));
    }
}

/// Runs the simulation as four processes, and returns the departures in order.
pub fn simulate(dispatcher: &Dispatcher) -> Vec<Event> {
    let sources: [Port<Event>; 2] = std::array::from_fn(|_| Port::new());
    let (between, departures) = (Port::<Event>::new(), Port::new());
    let mut processes: Vec<_> = (0..2)
        .map(|source| {
            let out = sources[source].clone();
            dispatcher.spawn(async move {
                for (i, customer) in arrivals(source).enumerate() {
                    out.post(customer).unwrap();
                    if i % 64 == 63 {
                        lehr_runtime::yield_now().await;
                    }
                }
                out.close();
            })
        })
        .collect();
    let out = between.clone();
    processes.push(dispatcher.spawn(async move {
        let mut server = Server::new(77);
        merge(sources, |customer| out.post(server.serve(customer)).unwrap()).await;
        out.close();
    }));
    let out = departures.clone();
    processes.push(dispatcher.spawn(async move {
        let mut server = Server::new(78);
        while let Ok(customer) = between.receive().await {
            out.post(server.serve(customer)).unwrap();
        }
    }));
    assert!(block_on(all(processes)).iter().all(Result::is_ok));
    departures.drain()
}

/// Checks the departures, and returns the mean time in the system.
pub fn check(seen: &[Event], expected: &[Event]) -> f64 {
    assert!(seen.windows(2).all(|pair| pair[0].time <= pair[1].time), "events take place in order of time");
    assert!(seen == expected, "the same departures to the last bit");
    let mean = seen.iter().map(|event| event.time - event.arrived).sum::<f64>() / seen.len() as f64;
    // With 400,000 customers at half load, the mean has a standard error of about half a per cent.
    assert!((mean - 4.0).abs() < 0.1, "mean time in the system {mean}");
    mean
}

fn main() {
    let expected = sequential();
    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let start = Instant::now();
        let seen = simulate(&dispatcher);
        let seconds = start.elapsed().as_secs_f64();
        let mean = check(&seen, &expected);
        println!(
            "{} customers through 2 servers on {threads} workers: mean time {mean:.3} (4 expected), {:.2} million events/s",
            seen.len(),
            3.0 * seen.len() as f64 / seconds / 1e6
        );
    }
}
