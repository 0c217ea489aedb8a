//! `posting`: arrays of doubles as messages, as in section 3 of paper 001.
//!
//! A message is an array and six integers. There is one rank for each core, which posts to itself and receives. The
//! time includes the copy, the post and the receive. If there is computation between messages, all sides read the clock
//! before and after each message. Otherwise a copy of a tenth of a microsecond would be lost in the difference of two
//! long times. The source array is made before the clock starts.
//!
//! *By copy*, there are three destinations. *Inside* copies the array into a new array in each stage. *Outside* copies
//! it into an array of the rank, which is reused after it was received. *Stepped* copies it element by element into a
//! large array with wrap-around (2 and 20 million doubles), and the message names the position. *By handle*, the array
//! itself is posted and returned, without a copy.
//!
//! There are two floors in C. One is the copy alone. The other is the copy and a message through a ring under a lock,
//! which is the minimum work of a port with several senders and receivers.

use std::time::Instant;

use anyhow::{Result, ensure};
use lehr_runtime::{Dispatcher, Port, all, block_on, yield_now};

use super::definition::Definition;
use super::pattern::units;
use crate::bench::figure::{Figure, Samples};
use crate::bench::{Bench, PeerEngine};
use crate::measure::now;

/// The maximum number of stages before the clock starts.
const WARM_UP_MAX: usize = 100_000;

/// The engine that only copies.
pub const COPY: &str = "floor: C memcpy";

/// The engine that copies an array and passes a message on.
pub const HAND_OVER: &str = "floor: C memcpy and a hand-over";

/// The destination of the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Inside,
    Outside,
    Stepped(usize),
    Handle,
}

const MODES: [(Mode, &str); 5] = [
    (Mode::Inside, "inside"),
    (Mode::Outside, "outside"),
    (Mode::Stepped(2_000_000), "stepped"),
    (Mode::Stepped(20_000_000), "stepped20"),
    (Mode::Handle, "handle"),
];

/// The message of the paper: six integers and an array, which is absent if the message names a position in the large
/// array.
struct Message {
    payload: Vec<f64>,
    integers: [u64; 6],
}

#[derive(Clone, Copy)]
struct Posting {
    mode: Mode,
    doubles: usize,
    cores: usize,
    units: u32,
    times: usize,
    /// Whether the messages are timed apart from the computation between them.
    is_timed_apart: bool,
}

#[derive(Clone, Copy)]
enum Side {
    Ours,
    Floor { request: &'static str, name: &'static str },
}

/// Measures every array length and mode, on one core and on all cores.
///
/// # Errors
/// Returns an error if a copy differs from its source.
pub fn run(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    let floor = bench.engines().into_iter().find(|(_, name)| name.starts_with("floor")).map(|(engine, _)| engine);
    let mut core_counts = vec![1, bench.cores];
    core_counts.dedup();
    for &doubles in &definition.posting_doubles {
        for &computation in &definition.posting_units {
            for (mode, word) in MODES {
                if matches!(mode, Mode::Stepped(wrap) if wrap < doubles) {
                    continue;
                }
                let case = format!("{word}, {doubles} doubles, {computation} units");
                for &cores in &core_counts {
                    if bench.is_over() || bench.knows("posting", &case, Some(cores)) {
                        continue;
                    }
                    let times = times(definition, doubles, computation, bench.unit_ns);
                    let posting =
                        Posting { mode, doubles, cores, units: computation, times, is_timed_apart: computation > 0 };
                    measure(bench, posting, (word, &case), floor, rounds)?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the number of messages of a sample: enough bytes for a measurement, but without hours of computation.
fn times(definition: &Definition, doubles: usize, computation: u32, unit_ns: f64) -> usize {
    let by_bytes = definition.posting_bytes / (8 * doubles) as f64;
    let by_time = definition.seconds_per_sample_max / (f64::from(computation).max(1e-9) * unit_ns * 1e-9);
    (by_bytes.min(by_time) as usize).clamp(2, definition.stages)
}

fn measure(
    bench: &mut Bench,
    posting: Posting,
    (word, case): (&str, &str),
    floor: Option<PeerEngine>,
    rounds: usize,
) -> Result<()> {
    let Posting { doubles, cores, units, times, .. } = posting;
    bench.progress(&format!("posting {case}, {cores} cores"));
    let mut sides = vec![Side::Ours];
    if floor.is_some() {
        if posting.mode != Mode::Handle {
            sides.push(Side::Floor { request: "copy", name: COPY });
        }
        sides.push(Side::Floor { request: "hand-over", name: HAND_OVER });
    }
    let taken = bench.take_turns(rounds, &mut sides, |bench, side| {
        let seconds = match (*side, floor) {
            (Side::Floor { request, .. }, Some(PeerEngine { peer, engine })) => {
                bench.peers[peer].seconds(&format!("{engine} {request} {word} {doubles} {cores} {times} {units}"))?
            }
            _ => Some(ours(posting)?),
        };
        Ok(seconds.map(|seconds| seconds / times as f64 * 1e6))
    })?;
    for (side, samples) in sides.iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let name = if let Side::Floor { name, .. } = side { name } else { "lehr ports" };
        let unit_ns = bench.unit_ns;
        let figure = |experiment: &str, unit: &str, samples: &Samples| {
            Figure::new(experiment, case, name, unit, samples, unit_ns).with_workers(cores).with_stages(times)
        };
        bench.add(figure("posting", "us a message", &samples));
        if posting.mode != Mode::Handle {
            // The same samples as rates: here higher is better, and the goal is 0.9 of the floor.
            let rates = samples.map(|microseconds| gigabytes_a_second(doubles, cores, microseconds));
            bench.add(figure("posting rate", "GB/s", &rates));
        }
    }
    Ok(())
}

/// Returns the gigabytes a second, summed over the cores, if a message takes this many microseconds.
pub fn gigabytes_a_second(doubles: usize, cores: usize, microseconds: f64) -> f64 {
    (8 * doubles * cores) as f64 / (microseconds * 1e3)
}

/// The start and end of a rank's stages, and the seconds of the messages alone if they are timed apart.
struct Taken {
    from: Instant,
    to: Instant,
    messages: Option<f64>,
}

/// Returns the seconds of a run of `times` stages, each with `units` of computation and a copy to the next place of a
/// large array, on this many cores.
///
/// # Errors
/// Returns an error if the dispatcher does not start, or if no time has passed.
pub fn run_of(doubles: usize, cores: usize, units: u32, times: usize) -> Result<f64> {
    let (whole, _) =
        seconds(Posting { mode: Mode::Stepped(2_000_000), doubles, cores, units, times, is_timed_apart: false })?;
    Ok(whole)
}

fn ours(posting: Posting) -> Result<f64> {
    let (whole, messages) = seconds(posting)?;
    Ok(messages.unwrap_or(whole))
}

/// Returns the seconds from the first start to the last end, and the seconds of the messages alone if they are timed
/// apart.
fn seconds(posting: Posting) -> Result<(f64, Option<f64>)> {
    let dispatcher = Dispatcher::new(posting.cores)?;
    let ready: Vec<Port<()>> = (0..posting.cores).map(|_| Port::new()).collect();
    let ranks: Vec<_> = (0..posting.cores).map(|own| rank(posting, own, ready.clone())).collect();
    let taken: Vec<Taken> = block_on(all(ranks.into_iter().map(|rank| dispatcher.spawn(rank)).collect()))
        .into_iter()
        .collect::<Result<_, _>>()?;
    // The time is from the first start to the last end. Otherwise two ranks that one worker runs in sequence would look
    // as if each had a core.
    let from = taken.iter().map(|rank| rank.from).min();
    let to = taken.iter().map(|rank| rank.to).max();
    let whole = from.zip(to).map_or(0.0, |(from, to)| to.duration_since(from).as_secs_f64());
    let messages = taken.iter().filter_map(|rank| rank.messages).reduce(f64::max);
    ensure!(messages.unwrap_or(whole) > 0.0, "no time has passed");
    Ok((whole, messages))
}

/// Runs one rank: it warms up, waits for the others, and then measures.
async fn rank(posting: Posting, own: usize, ready: Vec<Port<()>>) -> Taken {
    let mut stages = Stages::new(posting);
    // Yielding lets other workers take the other ranks.
    yield_now().await;
    // The warm-up fills caches and touches pages.
    stages.run(1 + (posting.times / 4).min(WARM_UP_MAX));
    for (other, port) in ready.iter().enumerate() {
        if other != own {
            port.post(()).expect("the port stays open");
        }
    }
    for _ in 1..ready.len() {
        ready[own].receive().await.expect("the port stays open");
    }
    let from = now();
    let messages = stages.run(posting.times);
    Taken { from, to: now(), messages: posting.is_timed_apart.then_some(messages) }
}

/// The arrays of a rank.
struct Stages {
    posting: Posting,
    source: Vec<f64>,
    /// The large array of the stepped forms.
    large: Vec<f64>,
    /// The array that is returned after each message.
    spare: Vec<f64>,
    port: Port<Message>,
    at: usize,
    x: u64,
}

impl Stages {
    fn new(posting: Posting) -> Self {
        let source: Vec<f64> = (0..posting.doubles).map(|index| index as f64).collect();
        // The array has no zeros: the system would allocate its pages only at the first copy into them.
        let large = if let Mode::Stepped(wrap) = posting.mode { vec![f64::NAN; wrap] } else { Vec::new() };
        let comes_back = matches!(posting.mode, Mode::Outside | Mode::Handle);
        let spare = if comes_back { source.clone() } else { Vec::new() };
        Self { posting, source, large, spare, port: Port::new(), at: 0, x: 1 }
    }

    /// Runs this many stages; returns the seconds of their messages if they are timed apart, otherwise 0.
    fn run(&mut self, times: usize) -> f64 {
        let computation = self.posting.units;
        let mut seconds = 0.0;
        for stage in 0..times as u64 {
            if self.posting.is_timed_apart {
                let from = now();
                self.message(stage);
                seconds += now().duration_since(from).as_secs_f64();
            } else {
                self.message(stage);
            }
            if computation > 0 {
                self.x = units(self.x, computation);
            }
        }
        std::hint::black_box(self.x);
        seconds
    }

    /// Copies, posts and receives a message, and checks it.
    #[inline]
    fn message(&mut self, stage: u64) {
        let doubles = self.posting.doubles;
        let payload = match self.posting.mode {
            Mode::Inside => self.source.clone(),
            Mode::Outside => {
                let mut array = std::mem::take(&mut self.spare);
                array.copy_from_slice(&self.source);
                array
            }
            Mode::Stepped(wrap) => {
                self.at = if self.at + 2 * doubles > wrap { 0 } else { self.at + doubles };
                element_by_element(&mut self.large[self.at..self.at + doubles], &self.source);
                std::hint::black_box(&mut self.large);
                Vec::new()
            }
            Mode::Handle => std::mem::take(&mut self.spare),
        };
        let integers = [stage, self.at as u64, doubles as u64, 0, 0, 0];
        self.port.post(Message { payload, integers }).expect("the port stays open");
        let message = self.port.try_receive().expect("it was just posted");
        assert_eq!(message.integers[0], stage, "a message of another stage");
        let place = message.integers[1] as usize;
        let is_stepped = !self.large.is_empty();
        let array = if is_stepped { &self.large[place..place + doubles] } else { &message.payload[..] };
        // Both ends are right only if the whole copy is in its place.
        assert_eq!((array[0], array[doubles - 1]), (0.0, (doubles - 1) as f64), "a copy differs from its source");
        if matches!(self.posting.mode, Mode::Outside | Mode::Handle) {
            self.spare = message.payload;
        }
    }
}

/// Copies in the paper's third form. It is a separate function, so that the compiler knows that the arrays are
/// distinct, as the C floor's compiler does.
#[inline(never)]
fn element_by_element(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::definition;

    #[test]
    fn every_mode_copies_whole_arrays() {
        for (mode, _) in MODES {
            for cores in [1, 2] {
                for units in [0, 1] {
                    assert!(
                        ours(Posting { mode, doubles: 1000, cores, units, times: 5, is_timed_apart: units > 0 })
                            .unwrap()
                            > 0.0
                    );
                }
            }
        }
    }

    #[test]
    fn a_stepped_array_is_filled_place_by_place_and_wraps() {
        let mut stages = Stages::new(Posting {
            mode: Mode::Stepped(30),
            doubles: 10,
            cores: 1,
            units: 0,
            times: 4,
            is_timed_apart: false,
        });
        let mut places = Vec::new();
        for stage in 0..4 {
            stages.message(stage);
            places.push(stages.at);
        }
        assert_eq!(places, [10, 20, 0, 10]);
        assert!(stages.large.iter().all(|value| !value.is_nan()), "every place was copied into");
    }

    #[test]
    fn a_rate_counts_the_bytes_of_all_cores() {
        assert_eq!(gigabytes_a_second(1000, 2, 1.0), 16.0);
    }

    #[test]
    fn long_computation_means_few_messages_and_large_arrays_too() {
        let definition = &definition::file().full;
        let of = |doubles, units| times(definition, doubles, units, 1000.0);
        assert!(of(1000, 4000) < of(1000, 40) && of(1000, 40) < of(1000, 0));
        assert!(of(10_000_000, 0) < of(1000, 0) && of(10_000_000, 4000) >= 2);
    }
}
