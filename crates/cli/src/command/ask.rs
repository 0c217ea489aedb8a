//! `lehr ls`, `get`, `query`, `submit`, `watch`, `drop`: requests to services of a node.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use lehr_node::{Client, HttpLink, Trust};
use lehr_runtime::block_on;
use lehr_services::{Action, Code, End, Fault, Format, Link, LinkEvent, Message, Options, Subscribe, Verb};
use serde_json::{Value, json};

use crate::arguments::{DropArguments, GetArguments, LsArguments, RequestArguments, SendArguments, WatchArguments};
use crate::exit::{Failure, Kind};
use crate::output;
use lehr_methods::numbers::left_aligned;

/// Converts a fault to a failure of the command.
pub fn failure(fault: &Fault) -> Failure {
    let kind = match fault.code() {
        Code::MessageNotSupported | Code::InvalidValue | Code::TooLarge => Kind::BadData,
        Code::Unavailable | Code::ResponseTimeout | Code::InsufficientResources | Code::ServiceStopping => {
            Kind::Environment
        }
        _ => Kind::NoResult,
    };
    let mut lines = vec![format!("{} ({})", fault.reason(), fault.code())];
    lines.extend(fault.causes().iter().map(|cause| format!("because {} ({})", cause.reason, cause.code)));
    Failure::new(kind, lines.join("\n"))
}

/// Converts the fault of a file that was named and cannot be used.
pub fn bad_file(fault: &Fault) -> Failure {
    Failure::new(Kind::BadData, fault.reason())
}

/// Checks that named files or folders can be found, before anything else is done with them.
///
/// # Errors
/// Returns [`Kind::Environment`] for the first one that cannot.
pub fn expect_there<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), Failure> {
    for path in paths {
        std::fs::metadata(path)
            .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", path.display())))?;
    }
    Ok(())
}

/// Creates the client for a command line.
///
/// # Errors
/// Returns [`Kind::Environment`] for a token that cannot be read, [`Kind::BadData`] for certificates, [`Kind::Usage`]
/// for a token that cannot be sent.
pub fn client(request: &RequestArguments) -> Result<Client, Failure> {
    let token = token_or(request.token.as_deref(), TOKEN)?;
    let usage = |fault: Fault| Failure::new(Kind::Usage, fault.reason());
    let identity = request.cert.as_deref().zip(request.key.as_deref());
    expect_there([&request.ca, &request.cert, &request.key].into_iter().filter_map(Option::as_deref))?;
    if request.ca.is_some() || identity.is_some() {
        let trust = Trust::from_files(request.ca.as_deref(), identity).map_err(|fault| bad_file(&fault))?;
        Client::trusting(token.as_deref(), trust).map_err(usage)
    } else {
        Client::new(token.as_deref()).map_err(usage)
    }
}

/// Creates the link for a command line, with the time limit for an answer.
///
/// # Errors
/// Returns the same errors as [`client`]; [`Kind::Usage`] for an invalid address.
pub fn link(url: &str, request: &RequestArguments) -> Result<(HttpLink, Options), Failure> {
    let link = client(request)?.link(url).map_err(|fault| Failure::new(Kind::Usage, fault.reason()))?;
    let within = Duration::try_from_secs_f64(request.timeout).ok();
    Ok((link, Options { within, ..Options::default() }))
}

/// The environment variable with the token of a client.
const TOKEN: &str = "LEHR_TOKEN";

/// Returns the token in a file, or else in an environment variable, for programs that get secrets that way.
///
/// # Errors
/// Returns [`Kind::Environment`] if the file cannot be read, or the variable is not text.
pub fn token_or(file: Option<&Path>, variable: &str) -> Result<Option<String>, Failure> {
    if let Some(file) = file {
        return token(file).map(Some);
    }
    // An empty variable counts as unset.
    let Some(value) = std::env::var_os(variable).filter(|value| !value.is_empty()) else { return Ok(None) };
    let text = value.into_string();
    text.map(|text| Some(text.trim().to_owned()))
        .map_err(|_| Failure::new(Kind::Environment, format!("the environment variable {variable} is no text")))
}

/// Returns the value of an environment variable; `None` if it is not set, empty, or no text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

/// Converts the fault of a node that did not start: invalid settings are a usage error; an unavailable address is not.
pub fn refused(fault: &Fault) -> Failure {
    let kind = match fault.code() {
        Code::PermissionDenied | Code::InvalidValue => Kind::Usage,
        _ => Kind::Environment,
    };
    Failure::new(kind, fault.reason())
}

/// Reads the token from a file, without the white space around it.
///
/// # Errors
/// Returns [`Kind::Environment`] if the file cannot be read.
pub fn token(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|cause| {
        Failure::new(Kind::Environment, format!("{}: {cause}", path.display())).with_hint(format!(
            "--token names a file with the token; the environment variable {TOKEN} has the token itself"
        ))
    })?;
    Ok(text.trim().to_owned())
}

/// Sends a request in JSON and returns the answer.
fn send(link: &HttpLink, action: Action, verb: Verb, body: Vec<u8>, options: Options) -> Result<Value, Failure> {
    let message = Message { action, verb, body, format: Format::Json, accept: Format::Json, options };
    let answered = block_on(link.send(message)).map_err(|fault| failure(&fault))?;
    Format::Json.decode(&answered.body).map_err(|fault| failure(&fault))
}

fn print(value: &Value) -> Result<(), Failure> {
    output::result(&format!("{value:#}\n"))
}

/// Lists the services of a node.
///
/// # Errors
/// Returns the reason why the node could not be asked.
pub fn ls(arguments: LsArguments) -> Result<(), Failure> {
    let (link, _) = link(&arguments.url, &arguments.request)?;
    let listed = block_on(link.index()).map_err(|fault| failure(&fault))?;
    if arguments.json {
        let rows = listed.iter().map(|service| {
            json!({ "path": service.path, "contract": service.contract, "version": service.version, "phase": service.phase, "reports": service.reports })
        });
        return print(&Value::Array(rows.collect()));
    }
    let mut rows = vec![["path", "contract", "version", "phase"].map(str::to_owned)];
    for service in &listed {
        let phase = if service.reports.is_empty() { service.phase.to_string() } else { "degraded".to_owned() };
        rows.push([service.path.clone(), service.contract.clone(), service.version.clone(), phase]);
    }
    output::result(&left_aligned(&rows))?;
    for service in &listed {
        service.reports.iter().for_each(|report| output::warning(&format!("{}: {report}", service.path)));
    }
    Ok(())
}

/// Prints the state of a service, or its description.
///
/// # Errors
/// Returns the reason why the service could not be asked.
pub fn get(arguments: GetArguments) -> Result<(), Failure> {
    let (link, options) = link(&arguments.url, &arguments.request)?;
    let (action, verb) = if arguments.lookup { (Action::Lookup, Verb::Lookup) } else { (Action::Get, Verb::Get) };
    print(&send(&link, action, verb, Vec::new(), options)?)
}

/// Queries a part of the state: only by operations with the verb query.
///
/// # Errors
/// Returns the reason why the service could not be asked; [`Kind::Usage`] if the operation is not a query.
pub fn query(arguments: SendArguments) -> Result<(), Failure> {
    let (link, _) = link(&arguments.url, &arguments.request)?;
    let info = block_on(link.lookup()).map_err(|fault| failure(&fault))?;
    match info.contract.operations.get(&arguments.operation) {
        Some(operation) if operation.verb != Verb::Query => {
            let (name, verb) = (&arguments.operation, operation.verb);
            let hint = format!("lehr submit {} {name} …", arguments.url);
            Err(Failure {
                hint: Some(hint),
                ..Failure::new(Kind::Usage, format!("{name} is no query: its verb is {verb}"))
            })
        }
        _ => operate(arguments, Verb::Query),
    }
}

/// Sends an operation.
///
/// # Errors
/// Returns the reason why the request could not be sent, or the fault in the answer.
pub fn submit(arguments: SendArguments) -> Result<(), Failure> {
    operate(arguments, Verb::Submit)
}

fn operate(arguments: SendArguments, verb: Verb) -> Result<(), Failure> {
    let (link, mut options) = link(&arguments.url, &arguments.request)?;
    let body = match arguments.body.as_deref() {
        None => String::new(),
        Some("-") => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|cause| Failure::new(Kind::Environment, format!("standard input: {cause}")))?;
            text
        }
        Some(text) => text.to_owned(),
    };
    if !body.trim().is_empty() {
        let checked: Result<Value, _> = serde_json::from_str(&body);
        checked.map_err(|error| Failure::new(Kind::BadData, format!("the body is no JSON: {error}")))?;
    }
    (options.key, options.if_version) = (arguments.idempotency_key, arguments.if_version);
    print(&send(&link, Action::Operation(arguments.operation), verb, body.trim().as_bytes().to_vec(), options)?)
}

/// Prints the state of a service and its changes, one line of JSON each, until the service ends.
///
/// # Errors
/// Returns the reason why the stream of changes ended, if the end was not requested.
pub fn watch(arguments: WatchArguments) -> Result<(), Failure> {
    let (link, options) = link(&arguments.url, &arguments.request)?;
    let mut wishes = Subscribe::default().operations(arguments.operations).keys(arguments.keys);
    if let Some(count) = arguments.count {
        wishes = wishes.count(count);
    }
    wishes.check().map_err(|fault| Failure::new(Kind::Usage, fault.reason()))?;
    let mut events = block_on(link.subscribe(wishes, Format::Json, options)).map_err(|fault| failure(&fault))?;
    loop {
        let line = match block_on(events.next()) {
            Ok(LinkEvent::Seed { version, format, body, .. }) => {
                let state: Value = format.decode(&body).map_err(|fault| failure(&fault))?;
                json!({ "version": version, "state": state })
            }
            Ok(LinkEvent::Change(change)) => {
                let body: Value = change
                    .body(Format::Json)
                    .and_then(|body| Format::Json.decode(&body))
                    .map_err(|fault| failure(&fault))?;
                json!({ "version": change.version(), "operation": change.name(), "key": change.key(), "body": body })
            }
            Ok(LinkEvent::Gap { missed }) => json!({ "missed": missed }),
            Err(End::Completed) => return Ok(()),
            Err(End::Lost(fault)) => return Err(failure(&fault)),
            Err(end) => return Err(Failure::new(Kind::NoResult, end.to_string())),
        };
        output::result(&format!("{line}\n"))?;
    }
}

/// Ends a service.
///
/// # Errors
/// Returns the reason why the service could not be ended.
pub fn drop_service(arguments: DropArguments) -> Result<(), Failure> {
    let (link, options) = link(&arguments.url, &arguments.request)?;
    send(&link, Action::Drop, Verb::Drop, Vec::new(), options).map(|_| ())
}
