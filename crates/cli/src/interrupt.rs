//! Ctrl-C and termination signals: the first signal stops the run at its next step, the second ends the process at
//! once.
//!
//! The handler runs on its own thread, sets a flag for good and sends into a channel. The run's observer checks the
//! flag once a step, and the code that sums rows checks it before each leaf ([`Interrupt::within_steps`]). No lock or
//! atomic is needed here. The end of standard input may be a request to stop too. If the program that started the
//! command is killed, it cannot send a signal, but the system closes its files. A process that is ended at once leaves
//! at most temporary files, which the next run into the same folder removes ([`crate::folder`]).

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Builder};
use std::time::Duration;

use lehr_mining::anneal;

use crate::exit::{Failure, Kind};

/// A listener for requests to stop.
pub struct Interrupt {
    /// Once this receiver is dropped, nothing reads the channel, and the handler notices that.
    _looking: Receiver<()>,
    /// Set at the first request, for all threads.
    said: Arc<OnceLock<()>>,
}

impl Interrupt {
    /// Starts listening for Ctrl-C (`SIGINT`), `SIGTERM` and `SIGHUP`.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the operating system refuses the handler.
    pub fn listen() -> Result<Self, Failure> {
        let (sender, looking) = channel();
        let said = Arc::<OnceLock<()>>::default();
        let saying = said.clone();
        let mut before = 0;
        ctrlc::set_handler(move || {
            before += 1;
            // At the second signal, the process ends below.
            let _ = saying.set(());
            if before > 1 || sender.send(()).is_err() {
                // This is the second signal, or nothing listens any more: don't keep the user waiting.
                std::process::exit(i32::from(Kind::Stopped.code()));
            }
        })
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))?;
        Ok(Interrupt { _looking: looking, said })
    }

    /// Calls `said` at the first Ctrl-C, `SIGTERM` or `SIGHUP`, on the handler's thread; the second ends the process at
    /// once.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the operating system refuses the handler.
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

    /// Calls `said` at the end of standard input, if some input arrived before. A launcher that gives its processes an
    /// empty input does not request a stop.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if there is no thread to read with.
    pub fn tell_at_end_of_input(said: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
        let body = move || {
            if ends_after_something(io::stdin().lock()) {
                said();
            }
        };
        // The thread ends with the process, if its input does not end before.
        let started = Builder::new().name("lehr-input".to_owned()).spawn(body);
        started.map(drop).map_err(|cause| Failure::new(Kind::Environment, format!("cannot read the input: {cause}")))
    }

    /// Ignores requests to stop, for a process that only waits for another process, which receives them too.
    pub fn ignore() {
        // If the system refuses, such a request ends this process, and with it the processes that it waits for, as
        // requested.
        let _ = ctrlc::set_handler(|| ());
    }

    /// Waits as long as a Ctrl-C may take to arrive. It goes to every program of a pipe, and may already have ended
    /// another one.
    pub fn let_arrive() {
        thread::sleep(Duration::from_millis(200));
    }

    /// Whether a stop was requested since [`Interrupt::listen`]. Does not wait.
    pub fn is_requested(&self) -> bool {
        self.said.get().is_some()
    }

    /// Returns the interrupt for a method's run, which then stops before its next leaf of rows.
    pub fn within_steps(&self) -> anneal::Interrupt {
        let said = self.said.clone();
        anneal::Interrupt::when(move || said.get().is_some())
    }
}

/// A request that a signal makes to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End the node.
    Stop,
    /// Reload the policy, the certificates and the tokens.
    Reload,
}

/// The signals that a node reacts to.
pub struct Signals {
    heard: Receiver<Signal>,
}

impl Signals {
    /// Starts listening. `SIGINT` and `SIGTERM` end the node; the second one ends the process at once. `SIGHUP`
    /// reloads. `SIGUSR1` and `SIGUSR2`, which by default end a process, are ignored.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the operating system refuses the handler or the thread.
    #[cfg(unix)]
    pub fn listen() -> Result<Self, Failure> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
        let refused = |cause: io::Error| Failure::new(Kind::Environment, format!("cannot listen for signals: {cause}"));
        let heeded = [SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2];
        let mut signals = signal_hook::iterator::Signals::new(heeded).map_err(refused)?;
        let (sender, heard) = channel();
        let body = move || {
            let mut before = 0;
            for signal in signals.forever() {
                let asked = match signal {
                    SIGUSR1 | SIGUSR2 => continue,
                    SIGHUP => Signal::Reload,
                    _ => Signal::Stop,
                };
                before += usize::from(asked == Signal::Stop);
                let is_heard = sender.send(asked).is_ok();
                if asked == Signal::Stop && (before > 1 || !is_heard) {
                    // This is the second signal, or nothing listens any more: don't keep the user waiting.
                    std::process::exit(i32::from(Kind::Stopped.code()));
                }
            }
        };
        // The thread ends with the process.
        Builder::new().name("lehr-signals".to_owned()).spawn(body).map_err(refused)?;
        Ok(Self { heard })
    }

    /// Starts listening for Ctrl-C, the only signal on other systems.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the operating system refuses the handler.
    #[cfg(not(unix))]
    pub fn listen() -> Result<Self, Failure> {
        let (sender, heard) = channel();
        // Nobody may listen any more.
        Interrupt::tell(move || {
            let _ = sender.send(Signal::Stop);
        })?;
        Ok(Self { heard })
    }

    /// Waits for the next signal.
    pub fn next(&self) -> Signal {
        // The sender lives as long as the process.
        self.heard.recv().unwrap_or(Signal::Stop)
    }
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail with an error, which is reported like any other.
/// Without a handler, the signal that comes with it would end the process.
pub fn survive_file_size_limits() {
    #[cfg(unix)]
    if let Ok(signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGXFSZ]) {
        // The handler stays for the life of the process; nothing reads it.
        std::mem::forget(signals);
    }
}

/// Lets the process open as many files and connections as the system allows, and returns their number, if it is known.
pub fn raise_descriptors() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let raised = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
        if raised.is_ok() { limit.maximum } else { limit.current }
    }
    #[cfg(not(unix))]
    None
}

/// Waits for the end of an input; returns whether anything came before it.
fn ends_after_something(mut input: impl Read) -> bool {
    // An input that fails counts as ended.
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
