//! One request and its answer: who asks, what for, whether it may, and what comes of it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context as Polling, Waker};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use lehr_runtime::TraceParent;
use lehr_services::{
    Action, Code, Endpoint, Fault, Format, Link, Message, OperationDescription, Options, Phase, Verb, Version,
    raw_document,
};
use lehr_sync::{Arc, spin_loop, thread::yield_now};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::body::Answer;
use crate::connection::Turn;
use crate::edge::{Edge, Looks, Peer};
use crate::encode::{Sent, accepted, problem, read_tag, sent_as, status, tag};
use crate::log::Level;
use crate::policy::ANONYMOUS;
use crate::route::{Route, allowed, route};
use crate::{events, metrics, openapi};

/// How long an answer is of use to the client, in milliseconds.
pub(crate) const TIMEOUT: &str = "lehr-timeout-ms";
/// The contract that the client was built with: name, space, version.
pub(crate) const CONTRACT: &str = "lehr-contract";
/// Which life of the service is meant, or has answered.
pub(crate) const INCARNATION: &str = "lehr-incarnation";
/// Makes sending it again harmless.
pub(crate) const KEY: &str = "idempotency-key";

/// The version that the state must have, whichever life it is of.
pub(crate) const IF_VERSION: &str = "lehr-if-version";

/// A fault with its status, where that is not the one of its code.
struct Refused {
    status: StatusCode,
    fault: Fault,
    allow: Option<&'static str>,
    /// What the client may see instead.
    services: Option<Vec<String>>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        let status = StatusCode::from_u16(status(fault.code())).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let allow = (status == StatusCode::METHOD_NOT_ALLOWED).then_some("GET, HEAD, OPTIONS");
        Self { status, fault, allow, services: None }
    }
}

impl Refused {
    fn with(status: StatusCode, fault: Fault) -> Self {
        Self { status, ..Self::from(fault) }
    }
}

/// Answers a request, whatever it is.
pub(crate) async fn exchange(
    edge: Arc<Edge>,
    peer: Peer,
    turn: Turn,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    let Some(log) = edge.settings.log.clone() else {
        let answered = answer(&edge, &peer, turn, request, &mut Asked::default()).await;
        return Ok(answered.unwrap_or_else(refuse));
    };
    let mut asked = Asked::default();
    let began = edge.host.clock().now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let trace = request.headers().get("traceparent").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let answered = answer(&edge, &peer, turn, request, &mut asked).await;
    let status = answered.as_ref().map_or_else(|refused| refused.status, Response::status);
    let fault = answered.as_ref().err().map(|refused| &refused.fault);
    log.line(level(&path, status), &path, &asked.contract, || {
        let took = edge.host.clock().now().saturating_sub(began);
        let fields = [
            ("event", Value::from("request")),
            ("method", Value::from(method.as_str())),
            ("caller", Value::from(asked.caller)),
            ("address", Value::from(peer.address.to_string())),
            ("status", Value::from(status.as_u16())),
            ("code", Value::from(fault.map(|fault| fault.code().as_str()))),
            ("reason", Value::from(fault.map(Fault::reason))),
            ("log", Value::from(fault.and_then(Fault::log_text))),
            ("causality", Value::from(fault.and_then(Fault::causality))),
            ("trace", Value::from(trace)),
            ("took_us", Value::from(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    });
    Ok(answered.unwrap_or_else(refuse))
}

/// What a request has turned out to be, for the log.
#[derive(Default)]
struct Asked {
    caller: Option<String>,
    contract: String,
}

/// How much it matters that a request was answered like this.
fn level(path: &str, status: StatusCode) -> Level {
    let is_refused = status.is_client_error() || matches!(status.as_u16(), 503 | 504 | 507 | 508);
    match status {
        _ if is_refused => Level::Warn,
        status if status.is_server_error() => Level::Error,
        _ if matches!(path, "/health" | "/ready" | "/metrics") => Level::Debug,
        _ => Level::Info,
    }
}

/// A response with a body of this type.
fn response(status: StatusCode, media_type: &'static str, body: Answer) -> Response<Answer> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn refuse(refused: Refused) -> Response<Answer> {
    let mut body = problem(&refused.fault, refused.status);
    if let Some(services) = refused.services
        && let Ok(Value::Object(mut document)) = serde_json::from_slice(&body)
    {
        document.insert("services".to_owned(), json!(services));
        body = Value::Object(document).to_string().into_bytes();
    }
    let mut response = response(refused.status, "application/problem+json", Answer::whole(body));
    let headers = response.headers_mut();
    if let Some(after) = refused.fault.retry_hint() {
        // Whole seconds, and not before.
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_millis().div_ceil(1000).max(1) as u64));
    } else if matches!(refused.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(1));
    }
    if let Some(allow) = refused.allow {
        headers.insert(header::ALLOW, HeaderValue::from_static(allow));
    }
    if refused.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lehr\""));
    }
    response
}

/// A document as JSON.
fn document(value: &Value) -> Response<Answer> {
    response(StatusCode::OK, Format::Json.media_type(), Answer::whole(value.to_string()))
}

async fn answer(
    edge: &Arc<Edge>,
    peer: &Peer,
    turn: Turn,
    request: Request<Incoming>,
    asked: &mut Asked,
) -> Result<Response<Answer>, Refused> {
    let _place = edge.request()?;
    same_site(edge, request.headers(), request.uri().authority().map(|authority| authority.as_str()))?;
    edge.count(peer.address.ip())?;
    let caller = caller(edge, peer, request.headers())?;
    asked.caller = Some(caller.clone());
    let path = request.uri().path();
    let route = route(request.method(), path).map_err(|fault| {
        let mut refused = Refused::from(fault);
        if refused.status == StatusCode::METHOD_NOT_ALLOWED {
            refused.allow = Some(allowed(path));
        }
        refused
    })?;
    // Looked up once: routes that are about a service use it.
    let found = route.service().map(|service| edge.host.endpoint(service));
    if let (Some(_), Some(Ok(endpoint))) = (&edge.settings.log, &found) {
        asked.contract = endpoint.contract().to_owned();
    }
    match route {
        Route::Index => Ok(document(&index(edge, &caller))),
        Route::Health => Ok(document(&json!({ "status": "up" }))),
        Route::Ready => Ok(ready(edge)),
        Route::Metrics => {
            let endpoints = visible(edge, &caller);
            let text = metrics::text(endpoints.iter().map(Endpoint::info));
            Ok(response(StatusCode::OK, metrics::MEDIA_TYPE, Answer::whole(text)))
        }
        Route::OpenApi => {
            let infos = visible(edge, &caller).iter().map(Endpoint::info).collect::<Vec<_>>();
            Ok(document(&openapi::document(&infos)))
        }
        Route::Options(service) => {
            let allow = allowed(path);
            permitted(edge, &caller, &service, found, Verb::Lookup)?;
            let mut response = response(StatusCode::NO_CONTENT, Format::Json.media_type(), Answer::Whole(None));
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
            Ok(response)
        }
        Route::Get(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Get)?;
            send(edge, &endpoint, Action::Get, Verb::Get, turn, caller, request).await
        }
        Route::Lookup(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Lookup)?;
            send(edge, &endpoint, Action::Lookup, Verb::Lookup, turn, caller, request).await
        }
        Route::Drop(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Drop)?;
            send(edge, &endpoint, Action::Drop, Verb::Drop, turn, caller, request).await
        }
        Route::Operation(service, name, is_in_query) => {
            let known = found.as_ref().and_then(|found| found.as_ref().ok());
            let verb = known.and_then(|endpoint| Some(endpoint.operation(&name)?.verb));
            // What is not there is refused as what it would most likely be.
            let endpoint = permitted(edge, &caller, &service, found, verb.unwrap_or(Verb::Submit))?;
            let verb = verb.unwrap_or(Verb::Submit);
            if is_in_query && verb != Verb::Query {
                let fault = Fault::new(Code::ActionNotSupported, format!("{name:?} is no query: POST it"));
                return Err(Refused { allow: Some("POST, OPTIONS"), ..Refused::from(fault) });
            }
            send(edge, &endpoint, Action::Operation(name), verb, turn, caller, request).await
        }
        Route::Events(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Subscribe)?;
            let place = edge.subscription()?;
            let wishes = events::wishes(request.uri().query().unwrap_or_default())?;
            let options = options(edge, request.headers(), caller)?;
            let mut turn = turn;
            turn.come().await;
            let subscribed = endpoint.subscribe(wishes, Format::Json, options);
            drop(turn);
            let events = subscribed.await?;
            let body = events::stream(events, edge.limits().heartbeat, place);
            let mut response = response(StatusCode::OK, "text/event-stream", Answer::Events(body));
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            Ok(response)
        }
    }
}

/// A node on loopback without a policy trusts whoever sits at the machine, and not the pages that their browser has open.
fn same_site(edge: &Edge, headers: &HeaderMap, authority: Option<&str>) -> Result<(), Fault> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).or(authority).unwrap_or_default();
    if edge.settings.policy.is_none() && edge.address.ip().is_loopback() {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_here =
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if !is_here {
            return Err(Fault::new(Code::PermissionDenied, format!("this node is not {host:?}")));
        }
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let is_same = origin.split_once("://").is_some_and(|(_, origin)| origin == host);
    if is_same {
        Ok(())
    } else {
        Err(Fault::new(Code::PermissionDenied, format!("pages of {origin:?} may not ask here")))
    }
}

/// Who asks.
fn caller(edge: &Edge, peer: &Peer, headers: &HeaderMap) -> Result<String, Fault> {
    let Some(policy) = &edge.settings.policy else { return Ok(ANONYMOUS.to_owned()) };
    let token = match headers.get(header::AUTHORIZATION) {
        None => None,
        Some(value) => {
            let text = value.to_str().unwrap_or_default();
            let token = text.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            let token = token.map(|(_, token)| token.trim());
            Some(token.ok_or_else(|| Fault::new(Code::Unauthenticated, "expected \"Bearer\" and a token"))?)
        }
    };
    match (token, &peer.names) {
        (None, Some(names)) => policy.holder(names).map(str::to_owned),
        (token, _) => policy.caller(token).map(str::to_owned),
    }
}

/// The service at a path, if the caller may do this there.
fn permitted(
    edge: &Edge,
    caller: &str,
    path: &str,
    found: Option<Result<Endpoint, Fault>>,
    verb: Verb,
) -> Result<Endpoint, Refused> {
    let found = found.unwrap_or_else(|| edge.host.endpoint(path));
    if let Some(policy) = &edge.settings.policy {
        let contract = found.as_ref().map(Endpoint::contract).unwrap_or_default();
        // Before it is said whether anything is there.
        policy.check(caller, verb, path, contract)?;
    }
    found.map_err(|fault| {
        let is_unknown = fault.code() == Code::UnknownService;
        let services = is_unknown.then(|| visible(edge, caller).iter().map(|endpoint| endpoint.info().path).collect());
        Refused { services, ..Refused::from(fault) }
    })
}

/// The services that a caller may see.
fn visible(edge: &Edge, caller: &str) -> Vec<Endpoint> {
    let may = |path: &str, contract: &str| {
        let policy = edge.settings.policy.as_ref();
        policy.is_none_or(|policy| policy.check(caller, Verb::Lookup, path, contract).is_ok())
    };
    let found = edge.host.paths().into_iter().filter_map(|path| {
        let endpoint = edge.host.endpoint(&path).ok()?;
        may(&path, endpoint.contract()).then_some(endpoint)
    });
    found.collect()
}

fn index(edge: &Edge, caller: &str) -> Value {
    let services = visible(edge, caller).into_iter().map(|endpoint| {
        let info = endpoint.info();
        json!({
            "path": info.path,
            "contract": info.contract.name,
            "version": info.contract.version.to_string(),
            "phase": info.phase,
        })
    });
    json!({ "services": services.collect::<Vec<_>>() })
}

fn ready(edge: &Edge) -> Response<Answer> {
    let unready: Vec<String> =
        edge.host.paths().into_iter().filter(|path| edge.host.phase(path) != Some(Phase::Ready)).collect();
    let mut response = document(&json!({ "is_ready": unready.is_empty(), "unready": unready.len() }));
    if !unready.is_empty() {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// What comes along in the headers.
fn options(edge: &Edge, headers: &HeaderMap, caller: String) -> Result<Options, Refused> {
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
        Some(found) if found.is_empty() || found.len() > 255 => return Err(bad(KEY, "1 to 255 characters", found)),
        found => found.map(str::to_owned),
    };
    // A trace that cannot be read is none: tracing must not break what it traces.
    let trace = text("traceparent").and_then(|text| text.parse::<TraceParent>().ok());
    let mut options =
        Options { within: Some(within), key, incarnation, trace, contract, caller: Some(caller), if_version: None };
    if let Some(found) = text(IF_VERSION) {
        options.if_version = Some(found.parse().map_err(|_| bad(IF_VERSION, "a number", found))?);
    }
    match text("if-match") {
        None | Some("*") => {}
        Some(found) => match read_tag(found) {
            Some((incarnation, version)) => {
                options.if_version = Some(version);
                options.incarnation = Some(incarnation);
            }
            None => {
                let fault = Fault::new(Code::PreconditionFailed, format!("{found} is no version of this service"));
                return Err(fault.into());
            }
        },
    }
    Ok(options)
}

fn read_contract(text: &str) -> Option<(String, Version)> {
    let (name, version) = text.rsplit_once(' ')?;
    let (major, minor) = version.split_once('.')?;
    Some((name.to_owned(), Version::new(major.parse().ok()?, minor.parse().ok()?)))
}

/// Sends what is asked to the service.
async fn send(
    edge: &Arc<Edge>,
    endpoint: &Endpoint,
    action: Action,
    verb: Verb,
    mut turn: Turn,
    caller: String,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Refused> {
    let (parts, body) = request.into_parts();
    let accept = accepted(&parts.headers).map_err(|fault| Refused::with(StatusCode::NOT_ACCEPTABLE, fault))?;
    let options = options(edge, &parts.headers, caller)?;
    let is_conditional = parts.headers.contains_key(header::IF_MATCH);
    let (format, body) = match &action {
        Action::Operation(name) if parts.method == Method::GET => {
            let fields = query(parts.uri.query().unwrap_or_default(), endpoint.operation(name));
            let body = if fields.is_empty() { Vec::new() } else { Value::Object(fields).to_string().into_bytes() };
            (Format::Json, body)
        }
        Action::Operation(name) => match sent_as(&parts.headers, endpoint.operation(name)) {
            Ok(Sent::Document(format)) => (format, read(edge, body).await?),
            Ok(Sent::Bytes(media_type)) => {
                let fields = query(parts.uri.query().unwrap_or_default(), endpoint.operation(name));
                (Format::MessagePack, raw_document(&fields, &media_type, &read(edge, body).await?)?)
            }
            Err(fault) => return Err(Refused::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault)),
        },
        _ => (Format::Json, Vec::new()),
    };
    let known = parts.headers.get(header::IF_NONE_MATCH).and_then(|tag| tag.to_str().ok()).and_then(read_tag);
    // Those of this connection that came before it go before it.
    turn.come().await;
    let sent = endpoint.send(Message { action, verb, body, format, accept, options });
    drop(turn);
    let answered = looked_for(sent, edge.looks, || edge.has_one_request()).await.map_err(|fault| {
        // A tag of an earlier life is a version that is no more.
        let is_old = is_conditional && fault.code() == Code::StaleReference;
        if is_old { Refused::with(StatusCode::PRECONDITION_FAILED, fault) } else { Refused::from(fault) }
    })?;
    let is_known = known.is_some() && known == answered.version.map(|version| (answered.incarnation, version));
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Answer::Whole(None))
    } else {
        (StatusCode::OK, Answer::whole(answered.body))
    };
    let mut response = response(status, accept.media_type(), body);
    let headers = response.headers_mut();
    headers.insert(INCARNATION, HeaderValue::from(answered.incarnation));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Some(version) = answered.version
        && let Ok(tag) = HeaderValue::try_from(tag(answered.incarnation, version))
    {
        headers.insert(header::ETAG, tag);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    Ok(response)
}

/// Waits for an answer. If `is_alone` says that this thread has nothing else to do, it looks for it a while, some microseconds at most: most
/// handlers take less than falling asleep and being woken does.
async fn looked_for<T>(answer: impl Future<Output = T>, most: Looks, is_alone: impl Fn() -> bool) -> T {
    let mut answer = pin!(answer);
    let mut looks = 0;
    poll_fn(move |polling| {
        loop {
            let is_last = looks >= most.spinning + most.yielding || !is_alone();
            // Nobody is to be woken while this thread looks: that would be a system call of the worker, and a turn of this task for nothing.
            let mut looking = Polling::from_waker(Waker::noop());
            let polled = answer.as_mut().poll(if is_last { &mut *polling } else { &mut looking });
            if polled.is_ready() || is_last {
                return polled;
            }
            looks += 1;
            if looks <= most.spinning {
                (0..8).for_each(|_| spin_loop());
            } else {
                yield_now();
            }
        }
    })
    .await
}

/// Reads a body, as far as it may go.
async fn read(edge: &Edge, body: Incoming) -> Result<Vec<u8>, Refused> {
    let limits = edge.limits();
    let too_large = || Fault::new(Code::TooLarge, format!("a body has at most {} bytes here", limits.body_bytes));
    if hyper::body::Body::size_hint(&body).lower() > limits.body_bytes as u64 {
        return Err(too_large().into());
    }
    match timeout(limits.body_time, Limited::new(body, limits.body_bytes).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large().into()),
        Ok(Err(_)) => {
            let fault = Fault::new(Code::MessageNotSupported, "the body ended too early");
            Err(Refused::with(StatusCode::BAD_REQUEST, fault))
        }
        Err(_) => {
            let fault = Fault::new(Code::ResponseTimeout, format!("the body took longer than {:?}", limits.body_time));
            Err(Refused::with(StatusCode::REQUEST_TIMEOUT, fault))
        }
    }
}

/// The fields of an operation that stand in the query of the address: `limit=4&name=ada` is `{"limit": 4, "name": "ada"}`. What can be read as JSON is
/// that, unless the field is a text; a list may also be words with commas between them; all else is text.
fn query(text: &str, operation: Option<&OperationDescription>) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, text) in form_urlencoded::parse(text.as_bytes()) {
        let kinds = operation.map(|operation| &operation.body["properties"][&*name]["type"]);
        let may_be = |wanted: &str| match kinds {
            Some(Value::String(kind)) => kind == wanted,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
            _ => false,
        };
        let value = match serde_json::from_str(&text) {
            Ok(value @ Value::String(_)) => value,
            Ok(Value::Null) if may_be("null") => Value::Null,
            Ok(value) if !may_be("string") => value,
            Err(_) if may_be("array") => text.split(',').map(Value::from).collect(),
            _ => Value::from(&*text),
        };
        fields.insert(name.into_owned(), value);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_the_operation_expects_it() {
        let body = json!({ "properties": {
            "name": { "type": "string" }, "weights": { "type": ["string", "null"] }, "columns": { "type": ["array", "null"] },
            "limit": { "type": "integer" }, "format": { "$ref": "#/$defs/Form" },
        } });
        let operation = OperationDescription { verb: Verb::Query, body, reply: Value::Null, raw: Vec::new() };
        let text = "name=2026&weights=null&columns=lon,lat&limit=4&format=csv&other=true";
        let expected = json!({ "name": "2026", "weights": null, "columns": ["lon", "lat"], "limit": 4, "format": "csv", "other": true });
        assert_eq!(Value::Object(query(text, Some(&operation))), expected);
        let quoted = query("name=%22a%22&columns=%5B%22x%22%5D&weights=7", Some(&operation));
        assert_eq!(Value::Object(quoted), json!({ "name": "a", "columns": ["x"], "weights": "7" }));
        assert_eq!(Value::Object(query("name=2026", None)), json!({ "name": 2026 }));
    }
}
