//! The only file that prints. Results go to standard output, everything else to standard error.
//!
//! If the reader goes away (`lehr … | head`), printing ends silently; other failures to print are environment failures.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use lehr_data::LeftOut;
use serde_json::json;

use crate::exit::{Failure, Kind};

/// The maximum number of left-out columns that are named.
const LEFT_OUT_MAX: usize = 10;

/// Writes `text` to standard output.
///
/// # Errors
/// Returns [`Kind::Environment`] if the text cannot be written; a closed pipe is not an error.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Kind::Environment, format!("cannot write to standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Set if every line on standard error must be JSON.
static IN_JSON: OnceLock<()> = OnceLock::new();

/// Writes every line on standard error as JSON from now on, for a program that collects the log of a node.
pub fn speak_json() {
    // A second call has no effect.
    let _ = IN_JSON.set(());
}

/// Reports on standard error that a node listens.
pub fn listening(url: &str) {
    if IN_JSON.get().is_some() {
        log(&json!({ "level": "info", "event": "listening", "address": url }).to_string());
    } else {
        note(&format!("listening at {url}"));
    }
}

/// Prints a warning for the user on standard error.
pub fn warning(message: &str) {
    say("warning", message);
}

/// Prints a note about an event on standard error.
pub fn note(message: &str) {
    say("note", message);
}

/// Prints help on standard error, for an incomplete command line.
pub fn usage(text: &str) {
    // If standard error is closed, Lehr has nowhere to report the failure.
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Prints the columns that a method uses when the user chose none, and those that it leaves out because they are not
/// numeric.
pub fn columns_taken(what: &str, taken: &[String], left_out: &[LeftOut]) {
    note(&columns_told(what, taken, left_out));
}

fn columns_told(what: &str, taken: &[String], left_out: &[LeftOut]) -> String {
    let mut text = format!("{what} {}; --columns chooses others", taken.join(", "));
    if !left_out.is_empty() {
        let told: Vec<String> = left_out.iter().take(LEFT_OUT_MAX).map(ToString::to_string).collect();
        let more = left_out.len() - told.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("\nleft out, without a number: {}{more}", told.join(", ")));
    }
    text
}

/// Prints on standard error why there is no result; returns the exit code.
pub fn failure(failure: &Failure) -> ExitCode {
    // Being stopped is not an error: the user asked for it.
    let label = if failure.kind == Kind::Stopped { "stopped" } else { "error" };
    say(label, &failure.message);
    if let Some(hint) = &failure.hint {
        say("hint", hint);
    }
    ExitCode::from(failure.kind.code())
}

/// Prints a line of progress on standard error.
pub fn progress(line: &str) {
    // If standard error is closed, Lehr has nowhere to report the failure.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a line of a node's log on standard error: a JSON document whose first field is the time in seconds since
/// 1970.
#[allow(clippy::disallowed_methods, reason = "the wall clock stamps what people read")]
pub fn log(line: &str) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (time, rest) = (since.as_secs_f64(), line.strip_prefix('{').unwrap_or(line));
    // If standard error is closed, Lehr has nowhere to report the failure.
    let _ = writeln!(io::stderr().lock(), "{{\"time\":{time:.6},{rest}");
}

/// Whether standard error is a terminal.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn say(label: &str, message: &str) {
    if IN_JSON.get().is_some() {
        let level = match label {
            "note" | "hint" => "info",
            "warning" => "warn",
            _ => "error",
        };
        return log(&json!({ "level": level, "event": label, "reason": message }).to_string());
    }
    let mut lines = message.lines();
    let mut text = format!("{label}: {}\n", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str(&format!("{:width$}{line}\n", "", width = label.len() + 2));
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_left_out_are_told_with_an_example_as_far_as_they_are_few() {
        let taken = ["x".to_owned(), "y".to_owned()];
        assert_eq!(columns_told("by", &taken, &[]), "by x, y; --columns chooses others");
        let left =
            |column: usize| LeftOut { column: format!("c{column}"), example: "a".into(), slip: None, kind: None };
        let left: Vec<LeftOut> = (0..12).map(left).collect();
        let told = columns_told("by", &taken, &left);
        assert!(
            told.ends_with(
                "\nleft out, without a number: c0 (\"a\"), c1 (\"a\"), c2 (\"a\"), c3 (\"a\"), c4 (\"a\"), \
            c5 (\"a\"), c6 (\"a\"), c7 (\"a\"), c8 (\"a\"), c9 (\"a\") and 2 more"
            ),
            "{told}"
        );
    }
}
