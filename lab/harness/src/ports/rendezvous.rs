//! Lehr in the form rendezvous: P tasks, each posting to its neighbours' ports and then receiving from its own.
//!
//! A rank has two ports, for messages from its left and from its right, so that a receive names its source. A message
//! is the number of its stage, and every rank checks each message that it gets.

use anyhow::{Result, ensure};
use lehr_runtime::{Dispatcher, Port, all, block_on};

use super::pattern::{Pattern, Run, units};
use crate::measure::timed;

/// Returns the seconds of a run on its own dispatcher, which is started before the clock and stopped after it.
///
/// # Errors
/// Returns an error if a rank gets a message of another stage, or if the dispatcher does not start.
pub fn run(run: &Run) -> Result<f64> {
    let dispatcher = Dispatcher::new(run.workers)?;
    let ports: Vec<[Port<u64>; 2]> = (0..run.ranks).map(|_| [Port::new(), Port::new()]).collect();
    let ranks: Vec<_> = (0..run.ranks).map(|rank| stages(rank, *run, &ports)).collect();
    let (seconds, wrong) = timed(|| block_on(all(ranks.into_iter().map(|rank| dispatcher.spawn(rank)).collect())));
    for wrong in wrong {
        ensure!(wrong? == 0, "a message of another stage");
    }
    Ok(seconds)
}

/// Runs the stages of one rank. Returns 0 if each message arrived in its own stage.
fn stages(rank: usize, run: Run, ports: &[[Port<u64>; 2]]) -> impl Future<Output = u64> + Send + 'static {
    let [from_left, from_right] = ports[rank].clone();
    let to_right = ports[(rank + 1) % run.ranks][0].clone();
    let to_left = ports[(rank + run.ranks - 1) % run.ranks][1].clone();
    async move {
        let mut wrong = 0;
        let mut x = rank as u64;
        for stage in 0..run.stages as u64 {
            match run.pattern {
                Pattern::None => {}
                Pattern::Pipeline => {
                    post(&from_left, stage);
                    wrong |= receive(&from_left).await ^ stage;
                }
                Pattern::Shift => {
                    post(&to_right, stage);
                    wrong |= receive(&from_left).await ^ stage;
                }
                Pattern::TwoShifts => {
                    post(&to_right, stage);
                    wrong |= receive(&from_left).await ^ stage;
                    post(&to_left, stage);
                    wrong |= receive(&from_right).await ^ stage;
                }
                Pattern::Exchange => {
                    post(&to_right, stage);
                    post(&to_left, stage);
                    wrong |= receive(&from_left).await ^ stage;
                    wrong |= receive(&from_right).await ^ stage;
                }
            }
            if run.units > 0 {
                x = units(x, run.units);
            }
        }
        std::hint::black_box(x);
        wrong
    }
}

fn post(port: &Port<u64>, stage: u64) {
    port.post(stage).expect("no port is closed during a run");
}

async fn receive(port: &Port<u64>) -> u64 {
    port.receive().await.expect("no port is closed during a run")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::pattern::Form;

    #[test]
    fn every_pattern_ends_with_the_right_messages_on_any_number_of_workers() {
        for pattern in [Pattern::None, Pattern::Pipeline, Pattern::Shift, Pattern::TwoShifts, Pattern::Exchange] {
            for ranks in [1, 2, 3] {
                for workers in [1, 2, 8] {
                    let form = Form::Rendezvous;
                    assert!(run(&Run { form, pattern, ranks, workers, units: 1, stages: 50 }).unwrap() > 0.0);
                }
            }
        }
    }
}
