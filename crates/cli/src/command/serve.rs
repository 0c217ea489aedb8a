//! `lehr serve`: a node of services.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use lehr_demos::samples::Samples;
use lehr_jobs::Setup;
use lehr_node::manifest::{Apply, MANIFEST, Manifest, ManifestText, Manifests};
use lehr_node::{
    CONSTRUCTOR, Client, Constructor, Create, INSPECTOR, Inspector, Joining, LOG, Limits, Log, Logging, NODES, Node,
    Origins, Policy, Rate, Records, Settings, Tls, Trust, Viewer, ViewerFile,
};
use lehr_runtime::{Builder, Idle, block_on};
use lehr_services::{Contract, Fault, Host, Placement};
use lehr_sources::{Allowed, Bounds, FETCH, Fetch, Getter, PUBCHEM, PubChem, PubChemState, WEBHOOK, Webhook};
use lehr_workflow::{WORKFLOWS, Workflows};

use crate::arguments::{CheckPolicyArguments, PlacedSettings, ServeArguments};
use crate::command::apply::texts;
use crate::command::ask::{bad_file, expect_there, failure, refused, token, token_or, variable};
use crate::command::{cluster_environment, telemetry};
use crate::exit::{Failure, Kind};
use crate::interrupt::{Signal, Signals, raise_descriptors};
use crate::output;

/// Runs a node until Ctrl-C. Its address goes to standard output once it listens.
///
/// # Errors
/// Returns [`Kind::Usage`] for invalid settings, [`Kind::BadData`] for an invalid policy or certificates. Returns
/// [`Kind::Environment`] if a file or folder is missing, if the address is not available, or if services were cut off
/// at the end.
pub fn run(arguments: ServeArguments) -> Result<(), Failure> {
    if arguments.log_json {
        output::speak_json();
    }
    let settings = settings(&arguments)?;
    expect_there(arguments.data_root.as_deref())?;
    let manifests = texts(&arguments.manifest)?;
    let known = client(&arguments, true)?;
    let joining = joining(&arguments, known.clone())?;
    // The token for joined nodes must not be sent to any other node that a workflow names.
    let others = client(&arguments, false)?;
    let environment = |cause: &dyn std::fmt::Display| Failure::new(Kind::Environment, cause.to_string());
    let mut builder = Builder::new();
    if let Some(threads) = arguments.threads {
        builder = builder.threads(threads);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if arguments.threads.unwrap_or(cores) + settings.threads > cores {
        // A worker that spins while it looks for work would keep the core from the network threads.
        builder = builder.idle(Idle { spin: Duration::ZERO, ..Idle::default() });
    }
    let dispatcher = builder.start().map_err(|cause| environment(&cause))?;
    let signals = Signals::listen()?;
    let host = Host::new(dispatcher.handle());
    let asking = known.clone();
    host.reach_by(move |address| known.link(address));
    let log = settings.log.clone();
    block_on(start(&host, &arguments, manifests, joining, others, log)).map_err(|fault| failure(&fault))?;
    // The node starts last, so that clients that reach it find its services.
    let node = Node::start(host, settings).map_err(|fault| refused(&fault))?;
    let scheme = if arguments.tls.cert.is_some() { "https" } else { "http" };
    output::result(&format!("{scheme}://{}\n", node.address()))?;
    output::listening(&format!("{scheme}://{}", node.address()));
    output::note("Ctrl-C ends the node; a second one ends it at once");
    while signals.next() == Signal::Reload {
        reload(&node, &asking, &arguments);
    }
    let report = block_on(node.shutdown(Duration::from_secs(arguments.grace)));
    if report.cut_off.is_empty() {
        return Ok(());
    }
    let paths = report.cut_off.join(", ");
    Err(Failure::new(Kind::Environment, format!("cut off after {} s: {paths}", arguments.grace)))
}

/// Reads the policy, the certificates and the token for other nodes again. If one of them cannot be used, the earlier
/// one stays.
fn reload(node: &Node, asking: &Client, arguments: &ServeArguments) {
    let kept =
        |failure: Failure| output::warning(&format!("not reloaded, so the one before counts: {}", failure.message));
    if let Some(file) = &arguments.policy {
        match policy(file) {
            Ok(policy) => {
                warn_of(&policy);
                node.replace_policy(policy);
                output::note(&format!("{}: reloaded", file.display()));
            }
            Err(failure) => kept(failure),
        }
    }
    if let Some(file) = &arguments.join.join_token {
        let shown = token(file).and_then(|token| asking.show(&token).map_err(|fault| bad_file(&fault)));
        shown.unwrap_or_else(kept);
    }
    node.look_at_certificates();
}

/// Warns of entries that are probably mistakes.
fn warn_of(policy: &Policy) {
    policy.warnings().iter().for_each(|warning| output::warning(&format!("policy: {warning}")));
}

/// Reports the faults of a policy.
///
/// # Errors
/// Returns [`Kind::BadData`] with every fault; [`Kind::Environment`] if the file cannot be read.
pub fn check_policy(arguments: &CheckPolicyArguments) -> Result<(), Failure> {
    warn_of(&policy(&arguments.policy)?);
    output::result(&format!("{}: no fault found\n", arguments.policy.display()))
}

/// The contracts and paths of the services that start by default: data sets and clustering.
const STANDING: [(&str, &str); 2] = [("lehr.datasets", "/datasets"), ("lehr.clustering", "/clustering")];

/// Registers the kinds of services that this program can create by contract, for nodes and for `lehr run`.
pub fn kinds(host: &Host, setup: &Setup) {
    host.register(Records::default);
    host.register(Samples::default);
    setup.register(host);
}

async fn start(
    host: &Host,
    arguments: &ServeArguments,
    manifests: Vec<ManifestText>,
    joining: Joining,
    others: Client,
    log: Option<Log>,
) -> Result<(), Fault> {
    // In an allocation of Slurm, only srun reaches all of its machines.
    let launcher = cluster_environment::is_in_job().then(|| "srun".into());
    let (keep, data_root) = (arguments.keep.clone(), arguments.data_root.clone());
    let mut setup = Setup { keep, data_root, launcher, ..Setup::default() };
    kinds(host, &setup);
    let kinds = Constructor::new(arguments.keep.clone(), arguments.restart.unwrap_or_default())?;
    let constructor = host.start(CONSTRUCTOR, move || kinds.clone()).await?;
    host.start(INSPECTOR, Inspector::default).await?;
    if let Some(log) = log {
        host.start(LOG, move || Logging::new(log.clone())).await?;
    }
    host.start(NODES, move || joining.clone()).await?;
    if let Some(folder) = &arguments.sources.fetch_into {
        let sources = &arguments.sources;
        let allowed = Allowed::new(&sources.fetch_from)?;
        let allowed = if sources.fetch_private { allowed.private() } else { allowed };
        let bounds = Bounds { bytes: sources.fetch_max as u64, ..Bounds::default() };
        let fetch = Fetch::new(Getter::new(allowed, bounds, None)?, folder)?;
        let place = Placement::at(FETCH);
        // The node keeps the list of transfers, so that they continue after a restart.
        let place = match &arguments.keep {
            Some(folder) => place.keep(folder.join("fetch.json")),
            None => place,
        };
        host.start(place, move || fetch.clone()).await?;
    }
    if let Some(url) = arguments.sources.webhook.clone().or_else(|| variable(WEBHOOK_VARIABLE)) {
        let webhook = Webhook::new(&url)?;
        host.start(WEBHOOK, move || webhook.clone()).await?;
    }
    if let Some(base) = &arguments.sources.pubchem {
        PubChem::register(host, base);
    }
    // Faults of a manifest are reported when it is applied.
    let read = manifests.iter().filter_map(|text| Manifest::read(&text.file, &text.text).ok());
    let placed: BTreeSet<String> =
        read.flat_map(|manifest| manifest.services().keys().cloned().collect::<Vec<_>>()).collect();
    let wanted = |path: &str| placed.contains(path) || arguments.start.iter().any(|service| service.path == path);
    let pubchem = arguments.sources.pubchem.as_ref().map(|_| (PubChemState::NAME, PUBCHEM));
    let mut services: Vec<(&str, &str)> =
        STANDING.into_iter().chain(pubchem).filter(|(_, path)| !wanted(path)).collect();
    for service in &arguments.start {
        match &service.settings {
            Some(PlacedSettings::Jobs(settings)) => {
                setup.settings.insert(service.path.clone(), settings.clone());
            }
            Some(PlacedSettings::Predictions(settings)) => {
                setup.predictions.insert(service.path.clone(), settings.clone());
            }
            None => {}
        }
        services.push((&service.contract, &service.path));
    }
    let (keep, cores) = (arguments.keep.clone(), std::thread::available_parallelism().map_or(1, usize::from));
    let applied = host.start(MANIFEST, move || Manifests::new(keep.clone(), cores)).await?;
    let mut manifests = Some(manifests).filter(|manifests| !manifests.is_empty());
    // The data sets come first, because other services need them.
    services.sort_by_key(|(contract, _)| *contract != STANDING[0].0);
    if placed.contains(STANDING[0].1)
        && let Some(files) = manifests.take()
    {
        applied.call(Apply { files }).await?;
    }
    for (contract, path) in services {
        if !setup.start(host, contract, path).await? {
            constructor.call(Create::new(contract, path)).await?;
        }
    }
    if let Some(files) = manifests {
        applied.call(Apply { files }).await?;
    }
    // This service starts last, because it resumes the unfinished runs of an earlier node.
    let placement = match &arguments.keep {
        Some(folder) => Placement::at(WORKFLOWS).keep(folder.join("workflows.json")),
        None => Placement::at(WORKFLOWS),
    };
    host.start(placement, move || Workflows::new(Some(others.clone()))).await?;
    for (path, reports) in host.reports() {
        reports.iter().for_each(|report| output::warning(&format!("{path}: {report}")));
    }
    Ok(())
}

/// The environment variable with the address for messages, which is often a secret.
const WEBHOOK_VARIABLE: &str = "LEHR_WEBHOOK";

/// The environment variable with the token for joined nodes.
const JOIN_TOKEN: &str = "LEHR_JOIN_TOKEN";

/// Creates the client for other nodes. It sends the token only to nodes that the command line names, not to those that
/// a client names.
fn client(arguments: &ServeArguments, shows_token: bool) -> Result<Client, Failure> {
    let join = &arguments.join;
    let token = if shows_token { token_or(join.join_token.as_deref(), JOIN_TOKEN)? } else { None };
    let identity = arguments.tls.cert.as_deref().zip(arguments.tls.key.as_deref());
    expect_there(join.ca.as_deref())?;
    let client = if join.ca.is_some() || identity.is_some() {
        let trust = Trust::from_files(join.ca.as_deref(), identity).map_err(|fault| bad_file(&fault))?;
        Client::trusting(token.as_deref(), trust)
    } else {
        Client::new(token.as_deref())
    };
    client.map_err(|fault| Failure::new(Kind::Usage, fault.reason()))
}

/// Returns the nodes to join.
fn joining(arguments: &ServeArguments, client: Client) -> Result<Joining, Failure> {
    let usage = |fault: Fault| Failure::new(Kind::Usage, fault.reason());
    let join = &arguments.join;
    let lease = Duration::try_from_secs_f64(join.lease).unwrap_or(Duration::MAX).max(Duration::from_millis(1));
    let mut joining = Joining::new(client, lease);
    for address in &join.join {
        joining = joining.with(address).map_err(usage)?;
    }
    match &join.advertise {
        Some(address) => joining.advertise(address).map_err(usage),
        None => Ok(joining),
    }
}

fn settings(arguments: &ServeArguments) -> Result<Settings, Failure> {
    let policy = arguments.policy.as_deref().map(policy).transpose()?;
    let rate = arguments.rate.map(|per_second| Rate { per_second, burst: per_second.ceil().max(1.0) as u32 });
    let take_time = Duration::try_from_secs_f64(arguments.take_time).unwrap_or(Duration::MAX);
    let connections = connections(arguments.connections);
    let limits = Limits {
        body_bytes: arguments.body_max,
        take_time,
        rate,
        connections,
        connections_per_address: arguments.connections_per_address,
        unsent_bytes: arguments.unsent_max,
        ..Limits::default()
    };
    let origins = Origins::new(&arguments.allow_origin).map_err(|fault| refused(&fault))?;
    let proxies = arguments.trust_proxy.clone();
    let (address, is_insecure) = (arguments.listen, arguments.insecure);
    let tls = match (&arguments.tls.cert, &arguments.tls.key) {
        (Some(certificate), Some(key)) => {
            let clients = arguments.tls.client_ca.as_deref();
            expect_there([certificate.as_path(), key].into_iter().chain(clients))?;
            Some(Tls::from_files(certificate, key, clients).map_err(|fault| bad_file(&fault))?)
        }
        _ => None,
    };
    let log = Log::new(&arguments.log, output::log).map_err(|fault| refused(&fault))?;
    let telemetry = telemetry::of(arguments.telemetry.as_deref(), &log)?;
    let log = Some(log);
    let viewer = Viewer::new(lehr_web::FILES.iter().map(|&lehr_web::File { name, media_type, bytes }| ViewerFile {
        name,
        media_type,
        bytes,
    }));
    let settings = Settings {
        address,
        policy,
        origins,
        proxies,
        is_insecure,
        limits,
        tls,
        log,
        telemetry,
        viewer,
        ..Settings::new()
    };
    settings.check().map_err(|fault| refused(&fault))?;
    if let Some(policy) = &settings.policy {
        warn_of(policy);
    }
    let is_open = !address.ip().is_loopback();
    if is_open && settings.policy.is_none() {
        output::warning("--insecure without a policy: anyone who reaches this node may do everything");
    } else if is_open && settings.tls.is_none() {
        output::warning(
            "the policy counts without TLS: anyone who sees the traffic sees the tokens (--cert and --key, or TLS at a proxy)",
        );
    }
    Ok(settings)
}

/// The number of descriptors reserved for files, listeners and connections to other nodes.
const DESCRIPTORS_LEFT: u64 = 128;

/// Returns the number of connections that the process can have, at most `wanted`. Without free descriptors, it could
/// neither save nor read files.
fn connections(wanted: usize) -> usize {
    let Some(descriptors) = raise_descriptors() else { return wanted };
    let most = usize::try_from(descriptors.saturating_sub(DESCRIPTORS_LEFT).max(descriptors / 2)).unwrap_or(usize::MAX);
    wanted.min(most.max(1))
}

fn policy(path: &Path) -> Result<Policy, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", path.display())))?;
    Policy::from_json(&text).map_err(|fault| {
        let faults = fault.reason().split("; ").map(|fault| format!("{}: {fault}", path.display()));
        Failure::new(Kind::BadData, faults.collect::<Vec<_>>().join("\n"))
    })
}
