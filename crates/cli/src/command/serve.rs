//! `lehr serve`: a node of services.

use std::path::Path;
use std::time::Duration;

use lehr_node::{CONSTRUCTOR, Constructor, Create, Limits, Node, Policy, Rate, Records, Settings};
use lehr_runtime::{Builder, block_on};
use lehr_services::{Code, Fault, Host};

use crate::arguments::ServeArguments;
use crate::command::ask::failure;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::output;

/// Runs a node until Ctrl-C. Its address goes to standard output when it listens.
///
/// # Errors
/// [`Kind::Usage`] for settings that cannot be meant, [`Kind::BadData`] for a policy that cannot, [`Kind::Environment`] if the address
/// cannot be had or services had to be cut off at the end.
pub fn run(arguments: ServeArguments) -> Result<(), Failure> {
    let settings = settings(&arguments)?;
    let environment = |cause: &dyn std::fmt::Display| Failure::new(Kind::Environment, cause.to_string());
    let mut builder = Builder::new();
    if let Some(threads) = arguments.threads {
        builder = builder.threads(threads);
    }
    let dispatcher = builder.start().map_err(|cause| environment(&cause))?;
    let interrupt = Interrupt::listen()?;
    let host = Host::new(dispatcher.handle());
    host.register(Records::default);
    block_on(start(&host, &arguments.start)).map_err(|fault| failure(&fault))?;
    // Last: who can reach the node finds its services there.
    let node = Node::start(host, settings).map_err(|fault| refused(&fault))?;
    output::result(&format!("http://{}\n", node.address()))?;
    output::note("Ctrl-C ends the node; a second one ends it at once");
    interrupt.wait();
    let report = block_on(node.shutdown(Duration::from_secs(arguments.grace)));
    if report.cut_off.is_empty() {
        return Ok(());
    }
    let paths = report.cut_off.join(", ");
    Err(Failure::new(Kind::Environment, format!("cut off after {} s: {paths}", arguments.grace)))
}

async fn start(host: &Host, services: &[(String, String)]) -> Result<(), Fault> {
    let constructor = host.start(CONSTRUCTOR, Constructor::default).await?;
    for (contract, path) in services {
        constructor.call(Create::new(contract.clone(), path.clone())).await?;
    }
    Ok(())
}

/// Settings that cannot be meant are the command line's fault; an address that cannot be had is not.
fn refused(fault: &Fault) -> Failure {
    let kind = match fault.code() {
        Code::PermissionDenied | Code::InvalidValue => Kind::Usage,
        _ => Kind::Environment,
    };
    Failure::new(kind, fault.reason())
}

fn settings(arguments: &ServeArguments) -> Result<Settings, Failure> {
    let policy = arguments.policy.as_deref().map(policy).transpose()?;
    let rate = arguments.rate.map(|per_second| Rate { per_second, burst: per_second.ceil().max(1.0) as u32 });
    let limits = Limits { body_bytes: arguments.body_max, rate, ..Limits::default() };
    let (address, is_insecure) = (arguments.listen, arguments.insecure);
    let settings = Settings { address, policy, is_insecure, limits, ..Settings::new() };
    settings.check().map_err(|fault| refused(&fault))?;
    Ok(settings)
}

fn policy(path: &Path) -> Result<Policy, Failure> {
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", path.display())))?;
    Policy::from_json(&text)
        .map_err(|fault| Failure::new(Kind::BadData, format!("{}: {}", path.display(), fault.reason())))
}
