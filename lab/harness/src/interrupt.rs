//! Handles Ctrl-C and termination signals: the first asks the session to stop after its sample, the second ends the
//! process at once.

use std::sync::{Arc, OnceLock};

use crate::bench::Stop;
use crate::exit::{Failure, Kind};

/// Listens for Ctrl-C (`SIGINT`), `SIGTERM` and `SIGHUP`; the returned function reports whether one has come.
///
/// # Errors
/// Returns [`Kind::Environment`] if the operating system refuses the handler.
pub fn listen() -> Result<Stop, Failure> {
    let said = Arc::<OnceLock<()>>::default();
    let saying = said.clone();
    ctrlc::set_handler(move || {
        if saying.set(()).is_err() {
            // After the second signal, the user should not wait.
            std::process::exit(i32::from(Kind::Stopped.code()));
        }
    })
    .map_err(|cause| Failure::new(Kind::Environment, format!("cannot listen for Ctrl-C: {cause}")))?;
    Ok(Box::new(move || said.get().is_some()))
}

/// Ignores requests to stop, for a process that only waits for another process which gets them too.
pub fn ignore() {
    // If the system refuses the handler, a request ends this process and the processes that it waits for, as the user
    // wants.
    let _ = ctrlc::set_handler(|| ());
}
