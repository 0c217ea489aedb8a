//! Ctrl-C and termination signals: the first asks the run to stop at its next step, the second ends the process at once.
//!
//! The handler runs on a thread of its own, says it once and for all and puts a mark into a channel. The run's observer looks once a
//! step, and whoever adds up rows before each leaf of them ([`Interrupt::within_steps`]); no lock or atomic of ours is needed here. The end of standard input may be such a request too: who starts the command and is killed cannot
//! send a signal, and the system closes what it held. A process that is ended at once leaves at most temporary files, which
//! the next run into the same folder removes ([`crate::folder`]).

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder};
use std::time::Duration;

use lehr_mining::anneal;

use crate::exit::{Failure, Kind};

/// Where requests to stop arrive.
pub struct Interrupt {
    requests: Receiver<()>,
    /// Whether there was one, for all threads.
    said: Arc<OnceLock<()>>,
}

impl Interrupt {
    /// Starts listening for Ctrl-C (`SIGINT`), `SIGTERM` and `SIGHUP`.
    ///
    /// # Errors
    /// [`Kind::Environment`] if the operating system refuses the handler.
    pub fn listen() -> Result<Self, Failure> {
        let (sender, requests) = channel();
        let said = Arc::<OnceLock<()>>::default();
        let saying = said.clone();
        let mut before = 0;
        ctrlc::set_handler(move || {
            before += 1;
            // The second ends the process below.
            let _ = saying.set(());
            if before > 1 || sender.send(()).is_err() {
                // Asked twice, or nobody listens any more: do not keep the user waiting.
                std::process::exit(i32::from(Kind::Stopped.code()));
            }
        })
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))?;
        Ok(Interrupt { requests, said })
    }

    /// Calls `said` at the first Ctrl-C, `SIGTERM` or `SIGHUP`, on the handler's thread; the second ends the process at once.
    ///
    /// # Errors
    /// [`Kind::Environment`] if the operating system refuses the handler.
    pub fn tell(said: impl Fn() + Send + 'static) -> Result<(), Failure> {
        let mut before = 0;
        ctrlc::set_handler(move || {
            before += 1;
            if before > 1 {
                std::process::exit(i32::from(Kind::Stopped.code()));
            }
            said();
        })
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))
    }

    /// Calls `said` at the end of standard input, if anything has come before it: a launcher that gives its processes an empty input asks for nothing.
    ///
    /// # Errors
    /// [`Kind::Environment`] if there is no thread to read with.
    pub fn tell_at_end_of_input(said: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
        let body = move || {
            if ends_after_something(io::stdin().lock()) {
                said();
            }
        };
        // It ends with the process, if its input does not end before.
        let started = Builder::new().name("lehr-input".to_owned()).spawn(body);
        started.map(drop).map_err(|cause| Failure::new(Kind::Environment, format!("cannot read the input: {cause}")))
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

    /// Waits as long as a Ctrl-C may take to be heard: it goes to every program of a pipe, and another one may have ended by it already.
    pub fn let_arrive() {
        thread::sleep(Duration::from_millis(200));
    }

    /// Whether a stop was asked for since [`Interrupt::listen`]. Does not wait.
    pub fn is_requested(&self) -> bool {
        self.said.get().is_some()
    }

    /// The same for a method's run, which is given up before its next leaf of rows.
    pub fn within_steps(&self) -> anneal::Interrupt {
        let said = self.said.clone();
        anneal::Interrupt::when(move || said.get().is_some())
    }
}

/// Waits for the end of an input; says whether anything came before it.
fn ends_after_something(mut input: impl Read) -> bool {
    // An input that breaks has ended.
    let first = input.by_ref().take(1).read_to_end(&mut Vec::new()).unwrap_or(0);
    let _ = io::copy(&mut input, &mut io::sink());
    first > 0
}

#[cfg(test)]
mod tests {
    use super::ends_after_something;

    #[test]
    fn an_input_that_was_empty_from_the_beginning_asks_for_nothing() {
        assert!(!ends_after_something(std::io::empty()));
        assert!(ends_after_something(&b"\n"[..]) && ends_after_something(&[b'x'; 100_000][..]));
    }
}
