//! `neighbours`: a service that computes, alone, beside another service that computes on its own core, and beside one
//! on the same core.
//!
//! Each service has a host on a dispatcher that is bound to one core. While one service is measured, a client keeps the
//! other one busy.

use anyhow::{Result, anyhow, ensure};
use lehr_runtime::{Builder, Dispatcher, block_on};
use lehr_services::{Host, Reference};

use super::counter::{Compute, Counter, PATH};
use super::definition::{Definition, Neighbours};
use crate::bench::Bench;
use crate::bench::estimate::{AROUND_SAMPLE, Plan};
use crate::bench::figure::Figure;
use crate::bench::session::Options;
use crate::measure::timed;
use crate::unit::units;

/// The name of the experiment.
pub const EXPERIMENT: &str = "neighbours";

/// The other service that computes at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    Nobody,
    OnItsOwnCore,
    OnTheSameCore,
}

impl Company {
    const ALL: [Self; 3] = [Self::Nobody, Self::OnItsOwnCore, Self::OnTheSameCore];

    fn engine(self) -> &'static str {
        match self {
            Self::Nobody => "lehr services, alone",
            Self::OnItsOwnCore => "lehr services, another on its own core",
            Self::OnTheSameCore => "lehr services, another on the same core",
        }
    }

    /// Returns the core of the other service.
    fn core(self) -> Option<usize> {
        match self {
            Self::Nobody => None,
            Self::OnItsOwnCore => Some(1),
            Self::OnTheSameCore => Some(0),
        }
    }
}

fn case(definition: &Neighbours) -> String {
    format!("{} units a request", definition.units)
}

fn is_wanted(bench: &Bench, definition: &Neighbours, options: &Options) -> bool {
    let case = case(definition);
    bench.cores > 1 && options.wants(&format!("{EXPERIMENT} {case}")) && !bench.knows(EXPERIMENT, &case, None)
}

/// Adds an upper bound of the duration to the plan.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options, plan: &mut Plan) {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    let neighbours = &definition.neighbours;
    if is_wanted(bench, neighbours, options) {
        let sample = neighbours.requests as f64 * f64::from(neighbours.units) * bench.unit_ns * 1e-9;
        // In the third case, each service has half a core.
        plan.add(format!("{EXPERIMENT} {}", case(neighbours)), rounds * (4.0 * sample + 3.0 * AROUND_SAMPLE));
    }
}

/// Measures all three cases, in turns.
///
/// # Errors
/// Returns an error if an answer is wrong.
pub fn run(bench: &mut Bench, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let neighbours = definition.neighbours;
    if !is_wanted(bench, &neighbours, options) || bench.is_over() {
        return Ok(());
    }
    bench.progress(&format!("{EXPERIMENT} {}", case(&neighbours)));
    let mut sides = Company::ALL;
    let taken = bench.take_turns(rounds, &mut sides, |_, company| measure(neighbours, *company).map(Some))?;
    for (company, samples) in sides.into_iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let figure =
            Figure::new(EXPERIMENT, &case(&neighbours), company.engine(), "us a request", &samples, bench.unit_ns);
        bench.add(figure.with_workers(1).with_stages(neighbours.requests));
    }
    Ok(())
}

/// Starts a host with the service, bound to a core.
fn bound(core: usize) -> Result<(Dispatcher, Host, Reference<Counter>)> {
    let dispatcher = Builder::new().threads(1).cores([core]).start()?;
    let host = Host::new(dispatcher.handle());
    let counter = block_on(host.start(PATH, Counter::default)).map_err(|fault| anyhow!("{fault}"))?;
    Ok((dispatcher, host, counter))
}

/// Returns the microseconds for each request.
fn measure(definition: Neighbours, company: Company) -> Result<f64> {
    let Neighbours { units: count, requests } = definition;
    let (dispatcher, _host, counter) = bound(0)?;
    let other = company.core().map(bound).transpose()?;
    let busy = other.as_ref().map(|(dispatcher, _, counter)| {
        let counter = counter.clone();
        dispatcher.spawn(async move {
            // The loop runs until it is cancelled. Its answers are not checked here, but those of the measured service
            // are.
            while counter.call(Compute { seed: 3, units: count }).await.is_ok() {}
        })
    });
    let expected = units(7, count);
    let (seconds, asked) = timed(|| {
        block_on(dispatcher.spawn(async move {
            for _ in 0..requests {
                let answered =
                    counter.call(Compute { seed: 7, units: count }).await.map_err(|fault| anyhow!("{fault}"))?;
                ensure!(answered == expected, "a wrong result of ours: {answered} instead of {expected}");
            }
            Ok(())
        }))
    });
    asked??;
    drop(busy);
    Ok(seconds / requests as f64 * 1e6)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::services::{LAB, definition};

    #[test]
    fn each_company_has_its_figure() {
        let mut bench = Bench::start(&LAB, Path::new("no such folder"), Box::new(|| false)).unwrap();
        let mut definition = definition::file().quick;
        definition.neighbours = Neighbours { units: 2, requests: 20 };
        run(&mut bench, &definition, &Options { rounds: Some(1), ..Options::default() }).unwrap();
        let found: Vec<_> = bench.figures.iter().map(|figure| figure.engine.as_str()).collect();
        // On a machine with one core, there is nothing to compare.
        let expected: Vec<_> = Company::ALL.iter().map(|company| company.engine()).collect();
        assert_eq!(found, if bench.cores > 1 { expected } else { Vec::new() });
    }
}
