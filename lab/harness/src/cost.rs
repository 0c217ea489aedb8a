//! What a command of `lehr` cost as a process of its own, and the figures of that: time, memory, passes over its input
//! and the time of one.

pub mod power;
pub mod table;

use crate::bench::Bench;
use crate::bench::figure::{Figure, Place, Samples};
use crate::process::Taken;

/// Seconds from the start of the process to its end.
pub const TIME: &str = "time";
/// Most memory that it had.
pub const MEMORY: &str = "memory";
/// How often it went through its input.
pub const PASSES: &str = "passes";
/// Time of going through it once.
pub const PASS: &str = "time of a pass";

/// What a command cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// From the start of the process to its end.
    pub seconds: f64,
    /// Most memory that was resident; none where the system keeps no such account.
    pub peak_bytes: Option<f64>,
    /// How often it went through its input, and the seconds that it says this took; none where that is not what it
    /// does.
    pub passes: Option<(f64, f64)>,
}

impl Cost {
    /// That of a process without passes.
    pub fn of(taken: Taken) -> Self {
        Self { seconds: taken.seconds, peak_bytes: taken.peak_bytes, passes: None }
    }

    /// The same of a command that went through its input so often, which took so many seconds.
    #[must_use]
    pub fn with_passes(self, passes: f64, seconds: f64) -> Self {
        Self { passes: Some((passes, seconds)), ..self }
    }
}

/// The figures of a case that was taken in rounds, with the value of each round. What no round has is left out.
pub fn figures(bench: &Bench, case: &str, engine: &str, costs: &[Cost]) -> Vec<Figure> {
    let figure = |experiment: &str, unit: &str, of: &dyn Fn(&Cost) -> Option<f64>| {
        let mut samples = Samples::default();
        costs.iter().filter_map(of).for_each(|value| samples.push(value, Place::Unknown));
        (!samples.values().is_empty()).then(|| {
            let figure = Figure::new(experiment, case, engine, unit, &samples, bench.unit_ns);
            figure.with_values(samples.values().to_vec()).with_workers(bench.cores)
        })
    };
    let all = [
        figure(TIME, "s", &|cost| Some(cost.seconds)),
        figure(MEMORY, "MiB", &|cost| Some(cost.peak_bytes? / (1u64 << 20) as f64)),
        figure(PASSES, "1", &|cost| Some(cost.passes?.0)),
        figure(PASS, "ms", &|cost| cost.passes.map(|(passes, seconds)| 1e3 * seconds / passes)),
    ];
    all.into_iter().flatten().collect()
}
