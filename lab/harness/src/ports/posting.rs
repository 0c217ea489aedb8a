//! `posting`: arrays of doubles as messages, as in section 3 of paper 001.
//!
//! A message is an array and six integers. Each rank, one a core, posts to itself and receives; what is timed is the post with its copy, the receive, and the
//! computation between. *By copy*: the array is copied into a new array each stage (inside), into an array of the rank that comes back when it was received
//! (outside), or element by element into a large array with wrap (stepped, 2 and 20 million doubles), of which the message names the place. *By handle*: the
//! array itself is posted, and comes back; nothing is copied. The source array is made before the clock starts. The computation alone is subtracted. The
//! floor copies the same bytes in C with nothing else.

use anyhow::{Result, ensure};
use lehr_runtime::{Dispatcher, Port, all, block_on};

use super::bench::{Bench, PeerEngine};
use super::definition::Definition;
use super::figure::Figure;
use super::pattern::units;
use crate::measure::timed;

/// Where the copy goes.
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

/// The message of the paper: an array (none where the place in the large array is the message) and six integers.
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
}

enum Side {
    Ours,
    Floor(PeerEngine),
}

/// Measures every array length and mode, on one core and on all.
///
/// # Errors
/// A copy that differs from its source.
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
                for &cores in &core_counts {
                    // Enough bytes to be measured, but no hours of computation.
                    let by_bytes = definition.posting_bytes / (8 * doubles) as f64;
                    let by_time =
                        definition.seconds_per_sample_max / (f64::from(computation).max(1e-9) * bench.unit_ns * 1e-9);
                    let times = (by_bytes.min(by_time) as usize).clamp(2, definition.stages);
                    let posting = Posting { mode, doubles, cores, units: computation, times };
                    measure(bench, posting, word, floor, rounds)?;
                }
            }
        }
    }
    Ok(())
}

fn measure(bench: &mut Bench, posting: Posting, word: &str, floor: Option<PeerEngine>, rounds: usize) -> Result<()> {
    let Posting { doubles, cores, units, times, .. } = posting;
    let case = format!("{word}, {doubles} doubles, {units} units, {cores} cores");
    bench.progress(&format!("posting {case}"));
    let mut sides = vec![Side::Ours];
    sides.extend(floor.filter(|_| posting.mode != Mode::Handle).map(Side::Floor));
    let taken = bench.take_turns(rounds, &mut sides, |bench, side| {
        let seconds = match side {
            Side::Ours => Some(ours(posting)?),
            Side::Floor(PeerEngine { peer, engine }) => {
                bench.peers[*peer].seconds(&format!("{engine} copy {word} {doubles} {cores} {times} {units}"))?
            }
        };
        let Some(seconds) = seconds else { return Ok(None) };
        let alone = if units == 0 { 0.0 } else { compute(posting) };
        Ok(Some((seconds - alone) / times as f64 * 1e6))
    })?;
    for (side, samples) in sides.iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let name = if matches!(side, Side::Ours) { "lehr ports" } else { "floor: C memcpy" };
        let figure = |unit: &str, samples| Figure::new("posting", &case, name, unit, samples, bench.unit_ns);
        let time = figure("us a message over the computation", &samples).with_workers(cores).with_stages(times);
        bench.figures.push(time);
        if units == 0 {
            // The same samples as a rate: here more is better, and the aim is 0.9 of the floor.
            let rates = samples.map(|microseconds| gigabytes_a_second(doubles, cores, microseconds));
            let rate = Figure::new("posting rate", &case, name, "GB/s", &rates, bench.unit_ns);
            bench.figures.push(rate.with_workers(cores).with_stages(times));
        }
    }
    Ok(())
}

/// Bytes a second, summed over the cores, of a message that takes so many microseconds.
pub fn gigabytes_a_second(doubles: usize, cores: usize, microseconds: f64) -> f64 {
    (8 * doubles * cores) as f64 / (microseconds * 1e3)
}

/// Seconds of the computation of a posting without its messages.
fn compute(posting: Posting) -> f64 {
    timed(|| (0..posting.times).fold(1, |x, _| units(x, posting.units))).0
}

fn ours(posting: Posting) -> Result<f64> {
    let dispatcher = Dispatcher::new(posting.cores)?;
    let ranks: Vec<_> = (0..posting.cores).map(|_| rank(posting)).collect();
    let ended = block_on(all(ranks.into_iter().map(|rank| dispatcher.spawn(rank)).collect()));
    // Ranks that share no message differ only in when they were started: the longest is the time of all.
    let mut longest = 0.0_f64;
    for seconds in ended {
        longest = longest.max(seconds?);
    }
    ensure!(longest > 0.0, "no time has passed");
    Ok(longest)
}

/// One rank: it yields once before the clock starts, so that the other ranks are taken by the other workers.
async fn rank(posting: Posting) -> f64 {
    let Posting { mode, doubles, units: computation, times, .. } = posting;
    let source: Vec<f64> = (0..doubles).map(|index| index as f64).collect();
    let mut large = if let Mode::Stepped(wrap) = mode { vec![0.0; wrap] } else { Vec::new() };
    let mut spare = if mode == Mode::Inside || !large.is_empty() { Vec::new() } else { source.clone() };
    let port: Port<Message> = Port::new();
    lehr_runtime::yield_now().await;
    let mut at = 0;
    let mut x = 1;
    let mut seconds = 0.0;
    // The first quarter warms caches and pages up.
    for (part, times) in [(0, 1 + times / 4), (1, times)] {
        let (taken, ()) = timed(|| {
            for stage in 0..times as u64 {
                let payload = match mode {
                    Mode::Inside => source.clone(),
                    Mode::Outside => {
                        let mut array = std::mem::take(&mut spare);
                        array.copy_from_slice(&source);
                        array
                    }
                    Mode::Stepped(wrap) => {
                        at = if at + 2 * doubles > wrap { 0 } else { at + doubles };
                        for (to, from) in large[at..at + doubles].iter_mut().zip(&source) {
                            *to = *from;
                        }
                        std::hint::black_box(&mut large);
                        Vec::new()
                    }
                    Mode::Handle => std::mem::take(&mut spare),
                };
                let integers = [stage, at as u64, doubles as u64, 0, 0, 0];
                port.post(Message { payload, integers }).expect("the port stays open");
                let message = port.try_receive().expect("it was just posted");
                assert_eq!(message.integers[0], stage, "a message of another stage");
                let place = message.integers[1] as usize;
                let array = if large.is_empty() { &message.payload[..] } else { &large[place..place + doubles] };
                // Ends that can only be right if the copy is whole and in its place.
                assert_eq!(
                    (array[0], array[doubles - 1]),
                    (0.0, (doubles - 1) as f64),
                    "a copy differs from its source"
                );
                if matches!(mode, Mode::Outside | Mode::Handle) {
                    spare = message.payload;
                }
                if computation > 0 {
                    x = units(x, computation);
                }
            }
        });
        if part == 1 {
            seconds = taken;
        }
    }
    std::hint::black_box(x);
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_copies_whole_arrays() {
        for (mode, _) in MODES {
            for cores in [1, 2] {
                assert!(ours(Posting { mode, doubles: 1000, cores, units: 1, times: 5 }).unwrap() > 0.0);
            }
        }
    }

    #[test]
    fn a_rate_counts_the_bytes_of_all_cores() {
        assert_eq!(gigabytes_a_second(1000, 2, 1.0), 16.0);
    }
}
