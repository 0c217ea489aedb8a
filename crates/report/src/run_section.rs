//! The section of a report about its run. Every reader sees the data, the method, the command, and when and how long it
//! ran. The remaining facts are for readers who compare runs, so the reader opens them.

use lehr_data::frame::date;
use lehr_methods::numbers::duration;
use maud::{Markup, Render, html};

use crate::Run;
use crate::markup::{self, section, typeset};

/// Returns the section about a run of a method. The list of facts in `details` is closed at first, with the time of
/// each phase and `beyond` below it.
pub(crate) fn of_method<const N: usize>(
    run: &Run<'_>,
    details: [Vec<(&str, String)>; N],
    beyond: impl Render,
) -> Markup {
    let seconds = (!run.phases.is_empty()).then(|| run.seconds());
    let seen = seen(run.source, format!("{}.", run.about.line), run.command, run.finished, seconds);
    of_facts(&seen, html! { (markup::facts(details)) (phases(run)) (beyond) })
}

/// Returns the facts that every reader sees.
pub(crate) fn seen(
    data: &str,
    method: String,
    command: Option<&str>,
    finished_unix_ms: Option<u64>,
    seconds: Option<f64>,
) -> Vec<(&'static str, String)> {
    let mut seen = vec![("Data", data.to_owned()), ("Method", method)];
    seen.extend(command.map(|command| ("Command", command.to_owned())));
    seen.extend(finished_unix_ms.map(|unix_ms| ("Finished", finished(unix_ms))));
    seen.extend(seconds.map(|seconds| ("Time", duration(seconds))));
    seen
}

/// Returns the section about a run. Every reader sees the facts in `seen`; `details` is closed at first.
pub fn of_facts(seen: &[(&str, String)], details: impl Render) -> Markup {
    let content = html! {
        dl.seen {
            @for (name, value) in seen {
                dt { (name) }
                dd { @if *name == "Command" { code { (value) } } @else { (value) } }
            }
        }
        details { summary { "All facts of the run" } (details) }
    };
    section("run", "The run", "", content)
}

/// Returns the time at which a run finished, in words. `unix_ms` is Unix time in milliseconds.
pub fn finished(unix_ms: u64) -> String {
    format!("{} UTC", date(unix_ms as f64 / 1000.0))
}

/// Returns a bar and a list with the time of each phase.
fn phases(run: &Run<'_>) -> Markup {
    let (phases, total) = (run.phases, run.seconds().max(f64::MIN_POSITIVE));
    let mix = |place: usize| format!("--mix:{}%", 100 - 72 * place / phases.len().max(2).saturating_sub(1).max(1));
    html! {
        @if !phases.is_empty() {
            h3 { "Where the time went" }
            div.phasebar aria-hidden="true" {
                @for (place, (_, seconds)) in phases.iter().enumerate() {
                    span style=(format!("{};flex:{:.4}", mix(place), seconds / total)) {}
                }
            }
            ul.phases {
                @for (place, (name, seconds)) in phases.iter().enumerate() {
                    li { i style=(mix(place)) {} (name) " " b { (typeset(&duration(*seconds))) } }
                }
            }
        }
    }
}
