//! `lehr lab`: starts the program that measures Lehr; this program does not depend on it.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::process::{self, ExitCode};

use crate::exit::{Failure, Kind};

/// The program's name.
const LAB: &str = "lehr-lab";

/// Starts `lehr-lab` with these arguments: the one in this program's folder, which was built with it, or else the one
/// on the path.
///
/// # Errors
/// Returns [`Kind::Environment`] if the program is not installed, or if it cannot be started.
pub fn run(arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let name = format!("{LAB}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&name)).filter(|file| file.is_file());
    let mut command = process::Command::new(beside.as_deref().unwrap_or(name.as_ref()));
    command.args(arguments);
    become_it(command).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound if beside.is_none() => {
            let message = "the lab is a program of its own, lehr-lab, which is neither beside lehr nor on the path";
            Failure::new(Kind::Environment, message).with_hint(
                "install it from a checkout of Lehr: cargo install --locked --path lab/harness --bin lehr-lab",
            )
        }
        _ => Failure::new(Kind::Environment, format!("cannot start {LAB}: {cause}")),
    })
}

/// Replaces this process by the program, so that the program receives all signals, and launchers see it.
#[cfg(unix)]
fn become_it(mut command: process::Command) -> io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Runs the program to its end.
#[cfg(not(unix))]
fn become_it(mut command: process::Command) -> io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(Kind::NoResult.code())))
}
