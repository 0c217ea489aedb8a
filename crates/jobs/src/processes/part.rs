//! The part of one process in a job that several processes run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::CHECKPOINT;
use super::order::{Head, Order};
use super::outcome::Outcome;
use crate::job::{Job, Listener, Progress, Saved, Signal, Split, Stop};
use crate::method::{Failure, Inputs, text_of};
use crate::methods;

/// The part of one process in a job that several processes run. Each process makes the same calls.
#[derive(Debug)]
pub struct Part {
    head: Head,
    inputs: Inputs,
    saved: Saved,
    signal: Signal,
    /// The folder for the outcome, in the first process.
    folder: Option<PathBuf>,
}

/// A handle that asks a [`Part`] to save its state and to end.
#[derive(Clone, Debug)]
pub struct Stopper(Signal);

impl Stopper {
    /// Asks the part to stop. A request to the first process applies to all processes.
    pub fn stop(&self) {
        self.0.stop(Stop::Interrupted);
    }
}

impl Part {
    /// Creates the part of the first or only process. `folder` is the folder of the [`order`](super::order()).
    ///
    /// # Errors
    /// Returns an error if the order cannot be read.
    pub fn lead(order: &[u8], folder: &Path) -> Result<Self, Failure> {
        let Order { head, inputs, .. } = Order::read(order)?;
        let saved = Saved::File(folder.join(CHECKPOINT));
        Ok(Self { head, inputs, saved, signal: Signal::default(), folder: Some(folder.into()) })
    }

    /// Creates the part of another process, which needs no folder in common with the first.
    ///
    /// # Errors
    /// Returns an error if the order cannot be read, or if the state to resume from cannot be stored.
    pub fn follow(order: &[u8]) -> Result<Self, Failure> {
        let Order { head, inputs, checkpoint, log } = Order::read(order)?;
        let saved = Saved::copied(checkpoint, log)
            .map_err(|error| Failure::Environment(format!("a folder for what {} has saved: {error}", head.job)))?;
        Ok(Self { head, inputs, saved, signal: Signal::default(), folder: None })
    }

    /// Returns a handle that asks the part to stop.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.signal.clone())
    }

    /// Runs the method, together with the other processes if there are several. Only the first process reports its
    /// progress and writes the outcome into its folder.
    ///
    /// # Errors
    /// Returns an error that may concern this process alone. The other processes may wait for this process, so they
    /// must be ended. An error that ends the run in all processes alike is written as the outcome and is not returned.
    pub fn run(
        self,
        processes: Option<lehr_ranks::Job>,
        tell: impl FnMut(&Progress) + Send + 'static,
    ) -> Result<(), Failure> {
        let Self { head, inputs, saved, signal, folder } = self;
        let listener = folder.is_some().then(|| Box::new(TellEach(tell)) as Box<dyn Listener>);
        let job = Job::new(head.job.clone(), head.threads, signal, saved, listener).among(processes, folder.is_some());
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let unknown = || {
                let reason = format!("this program has no method {:?}: expected that of the node", head.contract);
                Err(Failure::Internal(reason))
            };
            methods::named(&head.contract)
                .map_or_else(unknown, |method| method.run(&job, &inputs, &head.options.clone().into()))
        }));
        let (ended, is_alone) = match ended {
            Ok(ended) => {
                let is_alone = matches!(ended, Err(Failure::Environment(_)));
                (ended, is_alone)
            }
            Err(panic) => (Err(Failure::Internal(format!("the method failed inside: {}", text_of(&*panic)))), true),
        };
        let alone = if is_alone { ended.as_ref().err().cloned() } else { None };
        if let Some(folder) = &folder {
            Outcome::keep(folder, ended)?;
        }
        alone.map_or(Ok(()), Err)
    }
}

/// A listener that passes on each progress report at once.
struct TellEach<F>(F);

impl<F: FnMut(&Progress) + Send> Listener for TellEach<F> {
    fn tell(&mut self, progress: &Progress, _: &[Split]) -> bool {
        (self.0)(progress);
        true
    }
}
