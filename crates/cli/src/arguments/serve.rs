//! The arguments of `lehr serve`: the address, the callers, the services that it starts, the data that it keeps, the
//! nodes that it joins.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use lehr_jobs::{Settings, predictions};
use lehr_node::Network;
use lehr_services::Restart;
use lehr_services::{Contract, Fault};
use lehr_sources::PUBLIC;

use super::{at_least_one, positive, thread_count};

/// The arguments of `lehr serve`.
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArguments {
    /// Listen at this address; with port 0, the system chooses
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420", value_parser = address)]
    pub listen: SocketAddr,

    /// Enforce this policy; a JSON file with callers, their tokens, and rules
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// Listen beyond this machine without a policy; anyone may do anything
    #[arg(long)]
    pub insecure: bool,

    /// Use this many threads for handlers [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count, hide_short_help = true)]
    pub threads: Option<usize>,

    /// Start a service at a path; for a method, also with settings of its jobs, such as ,threads=2,cores=0-1 (may be
    /// repeated)
    #[arg(long, value_name = "CONTRACT=PATH[,NAME=VALUE...]", value_parser = placed)]
    pub start: Vec<PlacedService>,

    /// Start the services of a manifest; may be repeated, several are applied together
    #[arg(long, value_name = "FILE")]
    pub manifest: Vec<PathBuf>,

    /// Let clients open the files in this folder; as data sets. Clients can read no other file of this machine
    /// [default: none]
    #[arg(long, value_name = "DIR")]
    pub data_root: Option<PathBuf>,

    /// Keep states in this folder; data sets, jobs, workflow runs and states of services, for the next start [default:
    /// they end with the node]
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// Refuse bodies of more bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = at_least_one, hide_short_help = true)]
    pub body_max: usize,

    /// Allow this many requests per second from one address [default: any number]
    #[arg(long, value_name = "N", value_parser = positive, hide_short_help = true)]
    pub rate: Option<f64>,

    /// Close a connection if its client reads nothing of an answer for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive, hide_short_help = true)]
    pub take_time: f64,

    /// Give services this many seconds to end
    #[arg(long, value_name = "SECONDS", default_value_t = 10, hide_short_help = true)]
    pub grace: u64,

    /// Restart a service after a crash, at most this many times in this many seconds [default: never]
    #[arg(long, value_name = "TIMES/SECONDS", value_parser = restart, hide_short_help = true)]
    pub restart: Option<Restart>,

    /// Log to standard error at this level; off, error, warn, info or debug, also by path or contract
    #[arg(long, value_name = "FILTERS", default_value = "warn")]
    pub log: String,

    /// Write warnings and notes as JSON too, so that every line on standard error is JSON
    #[arg(long, hide_short_help = true)]
    pub log_json: bool,

    /// Send a span for each request to the OpenTelemetry collector at this address, by OTLP over HTTP [default:
    /// OTEL_EXPORTER_OTLP_ENDPOINT, else none]
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub telemetry: Option<String>,

    // Not a doc comment, in which an address must be a link.
    #[arg(
        long,
        value_name = "ORIGIN",
        hide_short_help = true,
        help = "Let web pages of this origin ask the node, such as https://lab.example.org; * means every origin (may be repeated)"
    )]
    pub allow_origin: Vec<String>,

    /// Take client addresses from the X-Forwarded-For (or else Forwarded) header of this reverse proxy; also a network
    /// such as 10.0.0.0/8 (may be repeated)
    #[arg(long, value_name = "ADDRESS", hide_short_help = true)]
    pub trust_proxy: Vec<Network>,

    /// Keep at most this many connections open; beyond that, a new one replaces an idle one
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = at_least_one, hide_short_help = true)]
    pub connections: usize,

    /// Keep at most this many connections open from one address
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = at_least_one, hide_short_help = true)]
    pub connections_per_address: usize,

    /// Hold at most this many bytes of answers that clients have not read; beyond that, answer 503
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 20, value_parser = at_least_one, hide_short_help = true, hide_short_help = true)]
    pub unsent_max: usize,

    /// The options of TLS.
    #[command(flatten)]
    pub tls: ServeTlsArguments,

    /// The options for other nodes.
    #[command(flatten)]
    pub join: JoinArguments,

    /// The options for fetching data from other hosts.
    #[command(flatten)]
    pub sources: SourceArguments,
}

/// The TLS options of `lehr serve`.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub struct ServeTlsArguments {
    /// Use TLS, with this certificate and its chain up to the authority, in PEM
    #[arg(long, value_name = "FILE", requires = "key", hide_short_help = true)]
    pub cert: Option<PathBuf>,

    /// Use this private key for the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "cert", hide_short_help = true)]
    pub key: Option<PathBuf>,

    /// Require a client certificate that one of these authorities signed; the policy names the clients
    #[arg(long, value_name = "FILE", requires = "cert", hide_short_help = true)]
    pub client_ca: Option<PathBuf>,
}

/// The nodes that `lehr serve` joins.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other nodes")]
pub struct JoinArguments {
    /// Find the services of this node too (may be repeated)
    #[arg(long, value_name = "URL")]
    pub join: Vec<String>,

    /// Ask the joined nodes to join this one, at this address
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub advertise: Option<String>,

    /// Drop the services of a node that has not answered for this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive, hide_short_help = true)]
    pub lease: f64,

    /// Send the joined nodes the token in this file [default: the environment variable LEHR_JOIN_TOKEN]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub join_token: Option<PathBuf>,

    /// Trust the joined nodes if these authorities signed their certificates [default: those that this machine trusts]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ca: Option<PathBuf>,
}

/// The hosts that `lehr serve` may fetch files from, and the folder for the files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data from elsewhere")]
pub struct SourceArguments {
    /// Allow fetching files from this host: name, name:port, .name for all subdomains, or s3://bucket (may be repeated)
    #[arg(long, value_name = "HOST", requires = "fetch_into", hide_short_help = true)]
    pub fetch_from: Vec<String>,

    /// Put fetched files into this folder
    #[arg(long, value_name = "DIR", requires = "fetch_from", hide_short_help = true)]
    pub fetch_into: Option<PathBuf>,

    /// Allow those hosts to be in private networks and on this machine
    #[arg(long, requires = "fetch_from", hide_short_help = true)]
    pub fetch_private: bool,

    /// Refuse to fetch files of more bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30, value_parser = at_least_one, hide_short_help = true)]
    pub fetch_max: usize,

    /// Make data sets of chemical compounds from PubChem, or from another server with its interface; that server may
    /// be in a private network
    #[arg(long, value_name = "URL", num_args = 0..=1, require_equals = true, default_missing_value = PUBLIC, hide_short_help = true)]
    pub pubchem: Option<String>,

    /// Let workflows post messages to this address (/webhook) [default: the variable LEHR_WEBHOOK]
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub webhook: Option<String>,
}

/// A service to start.
#[derive(Debug, Clone)]
pub struct PlacedService {
    /// The service's contract.
    pub contract: String,
    /// The path of the service.
    pub path: String,
    /// The settings of the service, if the command line has any.
    pub settings: Option<PlacedSettings>,
}

/// The settings of a service on the command line.
#[derive(Debug, Clone)]
pub enum PlacedSettings {
    /// The settings of a method's jobs.
    Jobs(Settings),
    /// The limits of predictions.
    Predictions(predictions::Settings),
}

/// The arguments of `lehr check-policy`.
#[derive(Debug, Args)]
pub struct CheckPolicyArguments {
    /// The policy
    #[arg(value_name = "FILE")]
    pub policy: PathBuf,
}

const SERVE_HELP: &str = "\
Example:
  lehr serve --keep lehr-node
      a node with a dashboard at http://127.0.0.1:8420, which keeps its data sets and jobs

  lehr serve --listen 0.0.0.0:8443 --cert node.pem --key node.key --policy policy.json
      a node for others: over TLS, and with rules

  lehr serve --start lehr/records=/notes
  curl http://127.0.0.1:8420/notes:insert --json '{\"key\": \"loom\", \"value\": {\"shafts\": 8}}'
      a service for documents by key

  lehr serve --manifest node.toml --keep lehr-node
      start the services of a manifest; lehr apply changes them while the node runs

  lehr serve --listen 127.0.0.1:8421 --join http://127.0.0.1:8420
  curl http://127.0.0.1:8421/nodes:find?contract=lehr/records
      a second node, which finds the services of the first

SIGTERM and SIGINT end the services, then the node. SIGHUP reads the policy, the certificates and the
token again. SIGUSR1 does nothing.
Exit codes: 0 done, 2 usage, 3 data, 4 environment.";

fn placed(text: &str) -> Result<PlacedService, String> {
    let (place, settings) = text.split_once(',').map_or((text, None), |(place, settings)| (place, Some(settings)));
    let is_of_predictions = place.split('=').next() == Some(predictions::Predictions::NAME);
    let read = |settings: &str| match is_of_predictions {
        true => settings.parse().map(PlacedSettings::Predictions),
        false => settings.parse().map(PlacedSettings::Jobs),
    };
    let settings = settings.map(read).transpose().map_err(|fault: Fault| fault.reason().to_owned())?;
    match place.split_once('=') {
        Some((contract, path)) if !contract.is_empty() && path.starts_with('/') => {
            Ok(PlacedService { contract: contract.to_owned(), path: path.to_owned(), settings })
        }
        _ => Err("expected a contract and a path, such as lehr/records=/notes".to_owned()),
    }
}

fn restart(text: &str) -> Result<Restart, String> {
    let read = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number >= 1);
    let parts = text.split_once('/').and_then(|(max, within)| Some((read(max)?, read(within)?)));
    let (max, within) = parts.ok_or("expected times and seconds, such as 3/10")?;
    Ok(Restart::OnPanic { max: max as usize, within: Duration::from_secs(within.into()) })
}

/// Reads an address and a port. A name such as localhost means its first IPv4 address, or its first address if it has
/// no IPv4 address.
fn address(text: &str) -> Result<SocketAddr, String> {
    let found: Vec<SocketAddr> = text
        .to_socket_addrs()
        .map_err(|_| "expected an address and a port, such as 127.0.0.1:8420, [::1]:8420 or localhost:8420".to_owned())?
        .collect();
    let first = found.iter().find(|address| address.is_ipv4()).or(found.first());
    first.copied().ok_or_else(|| "the name has no address".to_owned())
}
