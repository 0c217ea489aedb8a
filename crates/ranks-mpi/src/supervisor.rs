//! Reports which process died, if the process could not report it itself.
//!
//! A launcher ends a job when one of its processes is killed. The launcher does so too quickly for any other process to
//! report anything, and its own message names only a process ID. The usual cause is a lack of memory: the system kills
//! the process that uses the most memory. So under a launcher the program runs as a child of itself, and the parent,
//! its *supervisor*, does nothing but wait. If the child is killed, the supervisor reports which process of the job it
//! was and ends by the same signal. Every launcher then ends the other processes. (After an exit code other than 0,
//! MPICH's launcher ends them only if it sees the connection close first, which happens two times in three.)
//!
//! The child inherits everything that makes it part of the job: environment, connections, processor mask, and the
//! process group, to which launchers send their signals. The supervisor adds one variable to the environment: the
//! program that is next to the launcher's library (`library.rs`). The supervisor keeps the launcher's connection open
//! until it ends itself. So the launcher notices the closed connection and the end of its process at the same time.

use std::ffi::OsString;
use std::io::{PipeReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::environment;
use crate::launcher::Launcher;

/// The variable that marks the child; it holds the program that started the supervisor.
const KEPT: &str = "LEHR_MPI_KEPT";
/// The variable with the number of the pipe's end to which the child writes its notes.
const PIPE: &str = "LEHR_MPI_PIPE";

/// A note that the child sends its supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// The child has joined the job.
    Joined = b'j' as isize,
    /// The child has left the job in order, or is about to end the whole job.
    Left = b'l' as isize,
}

/// The result of [`keep`]: whether this process continues or must end.
#[derive(Debug)]
#[must_use]
pub enum Supervised {
    /// This process continues: it is the child, or there is no launcher and so no child.
    GoOn,
    /// The child has ended, and this process, its supervisor, must end with the same exit code.
    Ended {
        /// The exit code of the child.
        code: u8,
    },
    /// The child was killed, or ended in the middle of the job.
    Killed(Killed),
}

/// A child that was killed or ended in the middle of the job. Print the [`message`](Self::message), then call
/// [`follow`](Self::follow).
#[derive(Debug)]
#[must_use = "the launcher ends the job when the supervisor follows its child"]
pub struct Killed {
    /// The signal that ended the child.
    #[cfg_attr(not(unix), allow(dead_code))] // other systems send no signals
    signal: i32,
    message: String,
}

impl Killed {
    /// Returns the message for the user, which the child could not print.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Ends this process by the signal that ended its child, so that the launcher ends the job.
    pub fn follow(self) -> ! {
        #[cfg(unix)]
        if let Some(signal) = rustix::process::Signal::from_named_raw(self.signal) {
            // It does not matter whether the signal could be sent: an abort is a signal too.
            let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        }
        std::process::abort()
    }
}

/// Under a launcher, runs this program again as a child, with the same arguments, and waits for its end; see the
/// module's page.
///
/// Call `keep` first in your `main`. Signals that ask a program to end (Ctrl-C) reach both the supervisor and the
/// child, and the supervisor must survive them. Make it ignore them in `ignore_signals`, which is called only in the
/// supervisor.
///
/// # Errors
/// Fails if this program cannot be started again.
///
/// # Example
/// ```
/// use lehr_ranks_mpi::{Supervised, Launcher, keep};
/// if Launcher::of_this_process().is_none() {
///     assert!(matches!(keep(|| ()).unwrap(), Supervised::GoOn));
/// }
/// ```
pub fn keep(ignore_signals: impl FnOnce()) -> std::io::Result<Supervised> {
    let Some(launcher) = Launcher::of_this_process() else { return Ok(Supervised::GoOn) };
    if environment::path(KEPT).is_some() {
        return Ok(Supervised::GoOn);
    }
    ignore_signals();
    let mut arguments = std::env::args_os();
    #[cfg_attr(not(unix), allow(unused_variables))] // other systems let no parent choose a program's name
    let name = arguments.next();
    let mut command = Command::new(std::env::current_exe()?);
    #[cfg(unix)]
    if let Some(name) = name {
        use std::os::unix::process::CommandExt;
        command.arg0(name);
    }
    let starter = program_of_parent().map_or_else(|| OsString::from("unknown"), PathBuf::into_os_string);
    let (mut notes, pipe) = std::io::pipe()?;
    #[cfg(unix)]
    {
        use std::os::fd::AsRawFd;
        // The child inherits this end and opens it by its number.
        rustix::io::fcntl_setfd(&pipe, rustix::io::FdFlags::empty())?;
        command.env(PIPE, pipe.as_raw_fd().to_string());
    }
    let mut child = command.args(arguments).env(KEPT, starter).spawn()?;
    drop(pipe);
    let id = child.id();
    let status = child.wait()?;
    Ok(ended(status, is_in_the_middle(&mut notes), &launcher, id))
}

/// Sends a note to this process's supervisor, if the process has a supervisor.
pub(crate) fn note(note: Note) {
    let Some(number) = environment::variable(PIPE).and_then(|text| text.parse::<u32>().ok()) else { return };
    // Without `/dev/fd`, the supervisor gets no notes, and reports only a child that was killed by a signal.
    if let Ok(mut pipe) = std::fs::OpenOptions::new().append(true).open(format!("/dev/fd/{number}")) {
        let _ = pipe.write_all(&[note as u8]);
    }
}

/// Whether a child that has ended had joined the job and not left it.
fn is_in_the_middle(notes: &mut PipeReader) -> bool {
    // Children of the child may hold the pipe open, so this reads only what is already there.
    #[cfg(unix)]
    if rustix::io::ioctl_fionbio(&*notes, true).is_err() {
        return false;
    }
    let mut bytes = [0; 16];
    let length = if cfg!(unix) { notes.read(&mut bytes).unwrap_or(0) } else { 0 };
    bytes[..length].last() == Some(&(Note::Joined as u8))
}

/// Returns the launcher's program that started this process or, if this process has a supervisor, that started the
/// supervisor.
pub(crate) fn starter() -> Option<PathBuf> {
    environment::path(KEPT).map(PathBuf::from).filter(|program| program.is_absolute()).or_else(program_of_parent)
}

/// Returns the program of the parent process, if the system reports it.
fn program_of_parent() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    return std::fs::read_link(format!("/proc/{}/exe", std::os::unix::process::parent_id())).ok();
    #[cfg(not(target_os = "linux"))]
    return None;
}

fn ended(status: ExitStatus, is_in_the_middle: bool, launcher: &Launcher, id: u32) -> Supervised {
    let process = launcher.process();
    let of = launcher.processes().map_or_else(String::new, |count| format!(" of {count}"));
    if let Some(code) = status.code() {
        if is_in_the_middle {
            let message = format!(
                "process {process}{of} (process ID {id}) ended with exit code {code} in the middle of the job; all others are \
                 ended too"
            );
            return Supervised::Killed(Killed { signal: 9, message });
        }
        return Supervised::Ended { code: u8::try_from(code & 0xff).unwrap_or(1) };
    }
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0);
    #[cfg(not(unix))]
    let signal = 0;
    let reason = match signal {
        9 => " (killed from outside; the system does so when memory runs out)",
        6 => " (aborted)",
        4 | 7 | 8 | 11 => " (a fault in the program or a library)",
        _ => "",
    };
    let message = format!(
        "process {process}{of} (process ID {id}) was ended by signal {signal}{reason}; all others are ended too"
    );
    Supervised::Killed(Killed { signal, message })
}
