//! Ctrl-C and termination signals: the first asks the session to stop after its sample, the second ends the process at
//! once.

use std::sync::{Arc, OnceLock};

use crate::bench::Stop;
use crate::exit::{Failure, Kind};

/// Starts listening for Ctrl-C (`SIGINT`), `SIGTERM` and `SIGHUP`; what it gives says whether one has come.
///
/// # Errors
/// [`Kind::Environment`] if the operating system refuses the handler.
pub fn listen() -> Result<Stop, Failure> {
    let said = Arc::<OnceLock<()>>::default();
    let saying = said.clone();
    ctrlc::set_handler(move || {
        if saying.set(()).is_err() {
            // Asked twice: do not keep the user waiting.
            std::process::exit(i32::from(Kind::Stopped.code()));
        }
    })
    .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))?;
    Ok(Box::new(move || said.get().is_some()))
}

/// Lets requests to stop pass by, for a process that only waits for another which hears them too.
pub fn ignore() {
    // If the system refuses, such a request ends this process, and with it those that it waits for: what was asked.
    let _ = ctrlc::set_handler(|| ());
}
