//! The options of a message, and their headers.

use std::time::Duration;

use hyper::{Request, StatusCode};
use lehr_runtime::TraceParent;
use lehr_services::{Code, Fault, Options, Version};

use crate::edge::Edge;
use crate::refusal::Refused;

/// The header for the time limit of a request, in milliseconds.
pub(crate) const TIMEOUT: &str = "lehr-timeout-ms";

/// The header for the contract that the client expects: name, space, version.
pub(crate) const CONTRACT: &str = "lehr-contract";

/// The header for the incarnation of the service: in a request the expected incarnation, in an answer the incarnation
/// that answered.
pub(crate) const INCARNATION: &str = "lehr-incarnation";

/// The header for a key that makes it safe to repeat the request.
pub(crate) const KEY: &str = "idempotency-key";
/// The maximum length of an idempotency key, in bytes.
pub(crate) const KEY_BYTES: usize = 255;

/// The header for the version that the state must have, in any incarnation.
pub(crate) const IF_VERSION: &str = "lehr-if-version";

/// Reads the options from the headers, including the span of the request.
pub(crate) fn options(edge: &Edge, request: &Request<()>, caller: String) -> Result<Options, Refused> {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"));
    let bad = |name: &str, expected: &str, found: &str| {
        Refused::with(
            StatusCode::BAD_REQUEST,
            Fault::new(Code::InvalidValue, format!("header {name}: expected {expected}, found {found:?}")),
        )
    };
    let limits = edge.limits();
    let within = match text(TIMEOUT) {
        None => limits.answer_time,
        Some(found) => match found.parse::<u64>() {
            Ok(time) if time > 0 => Duration::from_millis(time).min(limits.answer_time_max),
            _ => return Err(bad(TIMEOUT, "milliseconds", found)),
        },
    };
    let incarnation = match text(INCARNATION) {
        None => None,
        Some(found) => Some(found.parse::<u64>().map_err(|_| bad(INCARNATION, "a number", found))?),
    };
    let contract = match text(CONTRACT) {
        None => None,
        Some(found) => Some(read_contract(found).ok_or_else(|| bad(CONTRACT, "a name and a version", found))?),
    };
    let key = match text(KEY) {
        Some(found) if found.is_empty() || found.len() > KEY_BYTES => {
            return Err(bad(KEY, "1 to 255 characters", found));
        }
        found => found.map(str::to_owned),
    };
    let trace = request.extensions().get::<TraceParent>().copied();
    let mut options =
        Options { within: Some(within), key, incarnation, trace, contract, caller: Some(caller), if_version: None };
    if let Some(found) = text(IF_VERSION) {
        options.if_version = Some(found.parse().map_err(|_| bad(IF_VERSION, "a number", found))?);
    }
    Ok(options)
}

fn read_contract(text: &str) -> Option<(String, Version)> {
    let (name, version) = text.rsplit_once(' ')?;
    let (major, minor) = version.split_once('.')?;
    Some((name.to_owned(), Version::new(major.parse().ok()?, minor.parse().ok()?)))
}
