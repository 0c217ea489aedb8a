//! The costs of a command of `lehr` in its own process, and their figures: time, memory, passes over the input, and the
//! time of a pass.

pub mod power;
pub mod table;

use crate::bench::Bench;
use crate::bench::figure::{Figure, Place, Samples};
use crate::process::Taken;

/// The seconds from the start of the process to its end.
pub const TIME: &str = "time";
/// The peak memory of the process.
pub const MEMORY: &str = "memory";
/// The number of passes over the input.
pub const PASSES: &str = "passes";
/// The time of one pass over the input.
pub const PASS: &str = "time of a pass";

/// The costs of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The seconds from the start of the process to its end.
    pub seconds: f64,
    /// The peak resident memory, in bytes; `None` if the system does not account for it.
    pub peak_bytes: Option<f64>,
    /// The number of passes over the input, and the seconds that the command reports for them; `None` for a command
    /// without passes.
    pub passes: Option<(f64, f64)>,
}

impl Cost {
    /// Returns the costs of a process without passes.
    pub fn of(taken: Taken) -> Self {
        Self { seconds: taken.seconds, peak_bytes: taken.peak_bytes, passes: None }
    }

    /// Adds the number of passes over the input, and their seconds.
    #[must_use]
    pub fn with_passes(self, passes: f64, seconds: f64) -> Self {
        Self { passes: Some((passes, seconds)), ..self }
    }
}

/// Returns the figures of a case that was measured in rounds, with the value of each round. It omits quantities that no
/// round has.
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
