//! The common part of all summaries: the program that wrote them, and the method that tells a folder which command
//! wrote it.

use lehr_ranks::{Execution, Layout};
use serde_json::json;

use crate::exit::{Failure, Kind};

/// The program's name in Lehr's summaries.
pub const PROGRAM: &str = "lehr";

// The names of methods in summaries, which tell a folder which command wrote it. Those of the methods of `lehr-methods`
// are in their declarations.

/// The method of `lehr place`.
pub const PLACING: &str = "interpolation in a map";

/// Returns the text of a summary that a command composed itself.
///
/// # Errors
/// Returns [`Kind::NoResult`] for a number that JSON cannot hold, which would be a bug of Lehr.
pub fn text(summary: &serde_json::Value) -> Result<String, Failure> {
    serde_json::to_string_pretty(summary)
        .map(|text| text + "\n")
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the summary cannot be written as JSON: {cause}")))
}

/// Returns the text of a demonstration's summary: its results, the program that wrote it and how it was computed.
///
/// # Errors
/// Returns the same errors as [`text`].
pub fn of_demonstration(
    method: &str,
    mut facts: serde_json::Value,
    execution: &Execution,
    layout: Layout,
) -> Result<String, Failure> {
    facts["program"] = json!(PROGRAM);
    facts["version"] = json!(env!("CARGO_PKG_VERSION"));
    facts["method"] = json!(method);
    facts["execution"]["engine"] = json!(execution.engine.to_string());
    facts["execution"]["ranks"] = json!(layout.ranks());
    facts["execution"]["threads"] = json!(execution.threads * layout.processes * layout.nodes);
    facts["execution"]["layout"] = json!(layout.to_string());
    text(&facts)
}

/// Returns the method of a summary, if `lehr` wrote it.
pub fn method_of(bytes: &[u8]) -> Option<String> {
    let summary: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let is_ours = summary["program"] == PROGRAM && summary["version"].is_string();
    summary["method"].as_str().filter(|_| is_ours).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_summaries_have_a_method() {
        let ours = br#"{"program": "lehr", "version": "0.1.0", "method": "k-means", "anything": 1}"#;
        assert_eq!(method_of(ours).as_deref(), Some("k-means"));
        for other in [
            &b"{}"[..],
            b"",
            b"[1]",
            br#"{"program": "other", "version": "1", "method": "k-means"}"#,
            br#"{"program": "lehr", "version": "1"}"#,
            b"{\"program\": \"lehr\"",
            b"\xff",
        ] {
            assert_eq!(method_of(other), None);
        }
    }
}
