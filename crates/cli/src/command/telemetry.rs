//! The OpenTelemetry collector that a node sends spans to. Its environment variables are read as OpenTelemetry
//! prescribes: variables for traces take precedence over those for all signals.

use std::path::PathBuf;

use lehr_node::{Log, Telemetry, Trust};

use super::ask::{refused, variable};
use crate::exit::Failure;
use crate::output;

/// Returns the collector that the command line or else the environment names. An error in the environment is only a
/// warning, because the variables may be set for the whole machine.
///
/// # Errors
/// Returns [`Kind::Usage`](crate::exit::Kind::Usage) if the address on the command line cannot be used.
pub fn of(address: Option<&str>, log: &Log) -> Result<Option<Telemetry>, Failure> {
    let of_traces = |name: &str| {
        variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{name}"))
            .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")))
    };
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || variable("OTEL_TRACES_EXPORTER").is_some_and(|value| value == "none");
    let below = |base: String| format!("{}/v1/traces", base.trim_end_matches('/').trim_end_matches("/v1/traces"));
    let (endpoint, is_asked) = match address {
        Some(address) => (Some(below(address.to_owned())), true),
        None if is_off => (None, false),
        None => {
            let of_all = || variable("OTEL_EXPORTER_OTLP_ENDPOINT").map(below);
            (variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").or_else(of_all), false)
        }
    };
    let Some(endpoint) = endpoint else { return Ok(None) };
    if let Some(protocol) = of_traces("PROTOCOL").filter(|protocol| protocol != "http/protobuf") {
        output::warning(&format!(
            "telemetry: OTEL_EXPORTER_OTLP_PROTOCOL is {protocol}, and this node speaks http/protobuf"
        ));
    }
    let file = |name: &str| of_traces(name).map(PathBuf::from);
    let (authority, identity) = (file("CERTIFICATE"), file("CLIENT_CERTIFICATE").zip(file("CLIENT_KEY")));
    let made = || {
        let identity = identity.as_ref().map(|(certificate, key)| (certificate.as_path(), key.as_path()));
        let is_trusted = authority.is_some() || identity.is_some();
        let trust = is_trusted.then(|| Trust::from_files(authority.as_deref(), identity)).transpose()?;
        Telemetry::new(&endpoint, trust, Some(log.clone()))
    };
    match made() {
        Ok(telemetry) => Ok(Some(telemetry)),
        Err(fault) if is_asked => Err(refused(&fault)),
        Err(fault) => {
            output::warning(&format!(
                "the environment variables request telemetry, but Lehr cannot send it: {}",
                fault.reason()
            ));
            Ok(None)
        }
    }
}
