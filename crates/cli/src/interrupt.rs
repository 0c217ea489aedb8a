//! Ctrl-C and termination signals: the first asks the run to stop at its next step, the second ends the process at once.
//!
//! The handler runs on a thread of its own and only puts a mark into a channel, which the run's observer looks at once a
//! step; so no lock or atomic of ours is needed here. A process that is ended at once leaves at most temporary files, which
//! the next run into the same folder removes ([`crate::folder`]).

use std::sync::mpsc::{Receiver, channel};

use crate::exit::{Failure, Kind};

/// Where requests to stop arrive.
pub struct Interrupt {
    requests: Receiver<()>,
    requested: bool,
}

impl Interrupt {
    /// Starts listening for Ctrl-C (`SIGINT`), `SIGTERM` and `SIGHUP`.
    ///
    /// # Errors
    /// [`Kind::Environment`] if the operating system refuses the handler.
    pub fn listen() -> Result<Self, Failure> {
        let (sender, requests) = channel();
        let mut before = 0;
        ctrlc::set_handler(move || {
            before += 1;
            if before > 1 || sender.send(()).is_err() {
                // Asked twice, or nobody listens any more: do not keep the user waiting.
                std::process::exit(i32::from(Kind::Stopped.code()));
            }
        })
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))?;
        Ok(Interrupt { requests, requested: false })
    }

    /// Lets requests to stop pass by, for a process that only waits for another which hears them too.
    pub fn ignore() {
        // If the system refuses, such a request ends this process, and with it those that it waits for: what was asked.
        let _ = ctrlc::set_handler(|| ());
    }

    /// Waits until a stop is asked for.
    pub fn wait(self) {
        // The handler's sender lives as long as the process.
        let _ = self.requests.recv();
        // The second request, while everything ends, is the handler's: it finds nobody listening, and ends the process.
    }

    /// Whether a stop was asked for since [`Interrupt::listen`]. Does not wait.
    pub fn is_requested(&mut self) -> bool {
        self.requested |= self.requests.try_recv().is_ok();
        self.requested
    }
}
