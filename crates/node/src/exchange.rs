//! One request and its answer: who asks, what for, whether it may, and what comes of it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::task::{Context as Polling, Waker};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use lehr_runtime::TraceParent;
use lehr_services::{
    Action, Code, Endpoint, Fault, Format, Link, Message, OperationDescription, Options, Phase, Verb, Version,
    raw_document,
};
use lehr_sync::{Arc, spin_loop, thread::yield_now};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use crate::body::Answer;
use crate::conditions::{Tags, tag};
use crate::connection::Turn;
use crate::edge::{Edge, Looks, Peer};
use crate::encode::{Sent, accepted, is_for_people, problem, sent_as, status};
use crate::events::Source;
use crate::form::Form;
use crate::log::Level;
use crate::policy::ANONYMOUS;
use crate::route::{EVENTS, Route, allowed, route, service_of, without_slash};
use crate::tables::Rows;
use crate::{coding, events, metrics, openapi, origin, page, proxy, range, shapes, tables, viewer};

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

/// The most tags of one `If-Match`: each that is wrong costs a message.
const TAGS_MAX: usize = 16;

/// A fault with its status, where that is not the one of its code.
struct Refused {
    status: StatusCode,
    fault: Fault,
    allow: Option<String>,
    /// What the client may see instead.
    services: Option<Vec<String>>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        let status = StatusCode::from_u16(status(fault.code())).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, fault, allow: None, services: None }
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
    let began = edge.host.clock().now();
    let (parts, mut body) = request.into_parts();
    let request = Request::from_parts(parts, ());
    let client = proxy::client(&edge.settings.proxies, peer.address.ip().to_canonical(), request.headers());
    let mut asked = Asked { client, caller: None, contract: String::new() };
    let origin = origin::allowed(&edge.settings.origins, request.headers());
    let is_preflight = origin.is_some() && origin::is_preflight(&request);
    let answered = if is_preflight {
        Ok(methods("GET, HEAD, POST, PUT, DELETE, OPTIONS"))
    } else {
        answer(&edge, &peer, turn, &request, &mut body, &mut asked).await
    };
    let status = answered.as_ref().map_or_else(|refused| refused.status, Response::status);
    let took = edge.host.clock().now().saturating_sub(began);
    edge.traffic.count(status, took);
    tell(&edge, &peer, &request, &asked, (status, took), answered.as_ref().err().map(|refused| &refused.fault));
    let mut response = match answered {
        Ok(response) => response,
        Err(refused) => {
            pass_over(&edge, &request, &mut body).await;
            refuse(refused)
        }
    };
    if request.method() == Method::GET {
        response = range::cut(request.headers(), response);
        response = coding::packed(&edge, &peer, request.headers(), response).await;
    }
    if let Some(origin) = origin {
        origin::tell(&mut response, origin, is_preflight);
    }
    Ok(response)
}

/// Says in the log what was asked and what came of it.
fn tell(
    edge: &Edge,
    peer: &Peer,
    request: &Request<()>,
    asked: &Asked,
    (status, took): (StatusCode, Duration),
    fault: Option<&Fault>,
) {
    let Some(log) = &edge.settings.log else { return };
    let path = request.uri().path();
    log.line(level(path, status), path, &asked.contract, || {
        let trace = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        // The port is that of the other end, which a proxy's is not the client's.
        let is_direct = asked.client == peer.address.ip().to_canonical();
        let address = if is_direct { peer.address.to_string() } else { asked.client.to_string() };
        let fields = [
            ("event", Value::from("request")),
            ("method", Value::from(request.method().as_str())),
            ("caller", Value::from(asked.caller.clone())),
            ("address", Value::from(address)),
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
}

/// How long the rest of a body is read that belongs to a request which has been refused.
const PASS_OVER_TIME: Duration = Duration::from_secs(5);

/// Reads the rest of a body and forgets it, as far as a body may go. Many clients read no answer before they have sent all, and report a
/// stream that closes before that as broken. A client that sent `Expect` waits for the answer, so nothing of it is read.
async fn pass_over(edge: &Edge, request: &Request<()>, body: &mut Incoming) {
    if hyper::body::Body::is_end_stream(body) || request.headers().contains_key(header::EXPECT) {
        return;
    }
    let mut left = edge.limits().body_bytes;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = timeout(PASS_OVER_TIME, reading).await;
}

/// What a request has turned out to be, for the log.
struct Asked {
    /// Where the client is, as far as is known.
    client: IpAddr,
    caller: Option<String>,
    contract: String,
}

/// How much it matters that a request was answered like this.
fn level(path: &str, status: StatusCode) -> Level {
    let is_refused = status.is_client_error() || matches!(status.as_u16(), 503 | 504 | 507 | 508);
    match status {
        _ if is_refused => Level::Warn,
        status if status.is_server_error() => Level::Error,
        _ if matches!(path, "/health" | "/healthz" | "/livez" | "/ready" | "/readyz" | "/metrics") => Level::Debug,
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
        headers.insert(header::ALLOW, HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("")));
    }
    if refused.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lehr\""));
    }
    response
}

/// Says which methods there are.
fn methods(allow: &str) -> Response<Answer> {
    let mut response = response(StatusCode::NO_CONTENT, Format::Json.media_type(), Answer::Whole(None));
    response.headers_mut().insert(header::ALLOW, HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("")));
    response
}

/// A page of the node itself.
fn page(edge: &Edge, peer: &Peer, media_type: &'static str, text: String) -> Result<Response<Answer>, Refused> {
    Ok(response(StatusCode::OK, media_type, Answer::whole(edge.counted(peer, text.into_bytes())?)))
}

/// A document as JSON.
fn document(edge: &Edge, peer: &Peer, value: &Value) -> Result<Response<Answer>, Refused> {
    page(edge, peer, Format::Json.media_type(), value.to_string())
}

async fn answer(
    edge: &Arc<Edge>,
    peer: &Peer,
    turn: Turn,
    request: &Request<()>,
    body: &mut Incoming,
    asked: &mut Asked,
) -> Result<Response<Answer>, Refused> {
    let _place = edge.request()?;
    let host = host(request).map_err(|fault| Refused::with(StatusCode::BAD_REQUEST, fault))?;
    same_site(edge, request.headers(), host)?;
    edge.count(asked.client)?;
    if let Some(shown) = shown(edge, request) {
        return shown;
    }
    let caller = caller(edge, peer, request.headers())?;
    asked.caller = Some(caller.clone());
    let path = without_slash(request.uri().path()).to_owned();
    let answered = routed((edge, peer), turn, caller.clone(), &path, (request, body), asked).await;
    answered.map_err(|mut refused| {
        if refused.status == StatusCode::METHOD_NOT_ALLOWED {
            // What a caller may not see looks as if nothing were there.
            let seen = service_of(&path).and_then(|at| permitted(edge, &caller, at, None, Verb::Lookup).ok());
            refused.allow = Some(allowed(&path, seen.as_ref()));
        }
        refused
    })
}

/// What the viewer is to answer, if the request is for it. Who asks does not matter: its files say nothing of the services.
fn shown(edge: &Edge, request: &Request<()>) -> Option<Result<Response<Answer>, Refused>> {
    let (viewer, path) = (&edge.settings.viewer, request.uri().path());
    if viewer.is_empty() || path == EVENTS {
        return None;
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let name = match path {
        "/" if is_read && is_for_people(request.headers()) => return Some(Ok(viewer::sent_on("~/"))),
        "/~" if is_read => return Some(Ok(viewer::sent_on("~/"))),
        path => path.strip_prefix(viewer::ROOT)?,
    };
    if !is_read {
        let fault = Fault::new(Code::ActionNotSupported, format!("{} means nothing for {path}", request.method()));
        return Some(Err(Refused { allow: Some("GET, HEAD".to_owned()), ..Refused::from(fault) }));
    }
    let fault = || Fault::new(Code::UnknownService, format!("the viewer has no file {name:?}: open {}", viewer::ROOT));
    Some(viewer.file(name, request.headers()).ok_or_else(|| fault().into()))
}

/// Does what a request asks for, once it is known who asks.
async fn routed(
    (edge, peer): (&Arc<Edge>, &Peer),
    turn: Turn,
    caller: String,
    path: &str,
    (request, body): (&Request<()>, &mut Incoming),
    asked: &mut Asked,
) -> Result<Response<Answer>, Refused> {
    let route = route(request.method(), path)?;
    if route.service().is_some() && edge.is_closing() {
        // Before it is looked for: services go one after the other, and one that has gone would seem never to have been.
        return Err(stopping().into());
    }
    // Looked up once: routes that are about a service use it.
    let found = route.service().map(|service| edge.host.endpoint(service));
    if let (Some(_), Some(Ok(endpoint))) = (&edge.settings.log, &found) {
        asked.contract = endpoint.contract().to_owned();
    }
    match route {
        Route::Index if is_for_people(request.headers()) => {
            page(edge, peer, "text/html; charset=utf-8", page::html(&seen(edge, &caller)?))
        }
        Route::Index => document(edge, peer, &index(&seen(edge, &caller)?)),
        Route::Health => document(edge, peer, &json!({ "status": "up" })),
        Route::Ready => ready(edge, peer),
        Route::Metrics => {
            let endpoints = seen(edge, &caller)?;
            page(edge, peer, metrics::MEDIA_TYPE, metrics::text(edge, endpoints.iter().map(Endpoint::info)))
        }
        Route::OpenApi => {
            let infos = seen(edge, &caller)?.iter().map(Endpoint::info).collect::<Vec<_>>();
            document(edge, peer, &openapi::document(&infos))
        }
        Route::OptionsOfPage => Ok(methods(&allowed(path, None))),
        Route::Options(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Lookup)?;
            Ok(methods(&allowed(path, Some(&endpoint))))
        }
        Route::Get(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Get)?;
            send((edge, peer), &endpoint, (Action::Get, Verb::Get), turn, caller, (request, body)).await
        }
        Route::Lookup(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Lookup)?;
            send((edge, peer), &endpoint, (Action::Lookup, Verb::Lookup), turn, caller, (request, body)).await
        }
        Route::Drop(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Drop)?;
            send((edge, peer), &endpoint, (Action::Drop, Verb::Drop), turn, caller, (request, body)).await
        }
        Route::Operation(service, name, is_in_query) => {
            let known = found.as_ref().and_then(|found| found.as_ref().ok());
            let verb = known.and_then(|endpoint| Some(endpoint.operation(&name)?.verb));
            // What is not there is refused as what it would most likely be.
            let endpoint = permitted(edge, &caller, &service, found, verb.unwrap_or(Verb::Submit))?;
            // One that is not there is refused below, and nobody is sent to a POST of it.
            if is_in_query && verb.is_some_and(|verb| verb != Verb::Query) {
                let fault = Fault::new(Code::ActionNotSupported, format!("{name:?} is no query: POST it"));
                return Err(fault.into());
            }
            let verb = verb.unwrap_or(Verb::Submit);
            send((edge, peer), &endpoint, (Action::Operation(name), verb), turn, caller, (request, body)).await
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
            let still = still_permitted(edge, peer, request.headers(), service);
            Ok(event_stream(events::stream(
                Vec::new(),
                vec![Source { service: None, events, place, still }],
                edge,
                peer,
            )))
        }
        Route::EventsOfMany => {
            let (services, wishes) = events::wishes_of_many(request.uri().query().unwrap_or_default())?;
            let mut turn = turn;
            turn.come().await;
            drop(turn);
            let (mut sources, mut refused) = (Vec::new(), Vec::new());
            for service in services {
                let options = options(edge, request.headers(), caller.clone())?;
                let subscribed = async {
                    let endpoint = permitted(edge, &caller, &service, None, Verb::Subscribe)?;
                    let place = edge.subscription()?;
                    let events = endpoint.subscribe(wishes.clone(), Format::Json, options).await?;
                    Ok::<_, Refused>((events, place))
                };
                // One that may not be had, or is gone, keeps nobody from the others.
                match subscribed.await {
                    Ok((events, place)) => {
                        let still = still_permitted(edge, peer, request.headers(), service.clone());
                        sources.push(Source { service: Some(service), events, place, still });
                    }
                    Err(found) => refused.push((service, found)),
                }
            }
            if sources.is_empty()
                && let Some((_, found)) = refused.pop()
            {
                return Err(found);
            }
            let refused = refused.into_iter().map(|(service, found)| (service, found.fault)).collect();
            Ok(event_stream(events::stream(refused, sources, edge, peer)))
        }
    }
}

/// Whether a subscriber may still have the changes of a service, by the policy that there is then.
fn still_permitted(
    edge: &Arc<Edge>,
    peer: &Peer,
    headers: &HeaderMap,
    service: String,
) -> impl Fn() -> Result<(), Fault> + Send + 'static {
    let (edge, peer, shown) = (edge.clone(), peer.clone(), headers.clone());
    move || {
        let caller = caller(&edge, &peer, &shown)?;
        permitted(&edge, &caller, &service, None, Verb::Subscribe).map(drop).map_err(|refused| refused.fault)
    }
}

/// An answer of events.
fn event_stream(events: Receiver<Bytes>) -> Response<Answer> {
    let mut response = response(StatusCode::OK, "text/event-stream", Answer::Events(events));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx keeps answers back until it has some kilobytes, unless told otherwise.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Which host a request is for: what its target says, and else its header (RFC 9112, section 3.2).
///
/// # Errors
/// [`Code::MessageNotSupported`] if that is not one host.
fn host<B>(request: &Request<B>) -> Result<&str, Fault> {
    let refuse = |reason: &str| Err(Fault::new(Code::MessageNotSupported, reason));
    let mut lines = request.headers().get_all(header::HOST).iter();
    let (named, second) = (lines.next().map(|line| line.to_str().unwrap_or_default()), lines.next());
    if second.is_some() {
        return refuse("the request has two Host headers");
    }
    match (request.uri().authority(), named) {
        (Some(target), Some(named))
            if request.version() == hyper::Version::HTTP_2 && !target.as_str().eq_ignore_ascii_case(named) =>
        {
            refuse("the request names two hosts: :authority and Host differ")
        }
        (Some(target), _) => Ok(target.as_str()),
        (None, Some(named)) => Ok(named),
        (None, None) if request.version() == hyper::Version::HTTP_11 => refuse("the request has no Host header"),
        (None, None) => Ok(""),
    }
}

/// A node on loopback without a policy trusts whoever sits at the machine, and not the pages that their browser has open.
fn same_site(edge: &Edge, headers: &HeaderMap, host: &str) -> Result<(), Fault> {
    let origins = &edge.settings.origins;
    if edge.policy().is_none() && edge.address.ip().is_loopback() && !origins.name(host) {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let is_here =
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if !is_here {
            return Err(Fault::new(Code::PermissionDenied, format!("this node is not {host:?}")));
        }
    }
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = headers.get(header::ORIGIN) else {
        // A browser says so if another site's page asks without an origin, as for a picture or a script. A link may be followed.
        let is_foreign = said("sec-fetch-site") == Some("cross-site") && said("sec-fetch-mode") != Some("navigate");
        let fault = || Fault::new(Code::PermissionDenied, "pages of other sites may not load anything here");
        return if is_foreign { Err(fault()) } else { Ok(()) };
    };
    let origin = origin.to_str().unwrap_or_default();
    let is_same = origin.split_once("://").is_some_and(|(_, origin)| origin == host);
    if is_same || origins.allow(origin) {
        Ok(())
    } else {
        Err(Fault::new(
            Code::PermissionDenied,
            format!("pages of {origin:?} may not ask here (lehr serve --allow-origin lets them)"),
        ))
    }
}

/// Who asks.
fn caller(edge: &Edge, peer: &Peer, headers: &HeaderMap) -> Result<String, Fault> {
    let Some(policy) = edge.policy() else { return Ok(ANONYMOUS.to_owned()) };
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
    if let Some(policy) = edge.policy() {
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
    let policy = edge.policy();
    let may = |path: &str, contract: &str| {
        policy.as_ref().is_none_or(|policy| policy.check(caller, Verb::Lookup, path, contract).is_ok())
    };
    let found = edge.host.paths().into_iter().filter_map(|path| {
        let endpoint = edge.host.endpoint(&path).ok()?;
        may(&path, endpoint.contract()).then_some(endpoint)
    });
    found.collect()
}

/// The same for a page about them.
///
/// # Errors
/// [`Code::Unauthenticated`] or [`Code::PermissionDenied`] if there is none: an empty page would say that nothing is there.
fn seen(edge: &Edge, caller: &str) -> Result<Vec<Endpoint>, Fault> {
    let endpoints = visible(edge, caller);
    if !endpoints.is_empty() || edge.policy().is_none() {
        return Ok(endpoints);
    }
    Err(match caller {
        ANONYMOUS => Fault::new(Code::Unauthenticated, "to see what is here takes a token"),
        _ => Fault::new(Code::PermissionDenied, format!("{caller} may look up no service")),
    })
}

/// The fault of a request while the services end.
fn stopping() -> Fault {
    Fault::new(Code::ServiceStopping, "the node is stopping").retry_after(Duration::from_secs(1))
}

fn index(services: &[Endpoint]) -> Value {
    let services = services.iter().map(|endpoint| {
        let info = endpoint.info();
        json!({
            "path": info.path,
            "contract": info.contract.name,
            "version": info.contract.version.to_string(),
            "phase": info.phase,
            "reports": info.reports,
        })
    });
    json!({ "services": services.collect::<Vec<_>>() })
}

fn ready(edge: &Edge, peer: &Peer) -> Result<Response<Answer>, Refused> {
    let unready: Vec<String> =
        edge.host.paths().into_iter().filter(|path| edge.host.phase(path) != Some(Phase::Ready)).collect();
    // Without a word of what: who asks here has shown no token. `lehr ls` says it.
    let degraded = edge.host.reports().len();
    let is_ready = unready.is_empty() && !edge.is_closing();
    let state = json!({ "is_ready": is_ready, "unready": unready.len(), "degraded": degraded });
    let mut response = document(edge, peer, &state)?;
    if !is_ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    Ok(response)
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
    Ok(options)
}

fn read_contract(text: &str) -> Option<(String, Version)> {
    let (name, version) = text.rsplit_once(' ')?;
    let (major, minor) = version.split_once('.')?;
    Some((name.to_owned(), Version::new(major.parse().ok()?, minor.parse().ok()?)))
}

/// Sends what is asked to the service.
async fn send(
    (edge, peer): (&Arc<Edge>, &Peer),
    endpoint: &Endpoint,
    (action, verb): (Action, Verb),
    mut turn: Turn,
    caller: String,
    (request, incoming): (&Request<()>, &mut Incoming),
) -> Result<Response<Answer>, Refused> {
    let rows = match &action {
        Action::Operation(name) => {
            endpoint.operation(name).and_then(|operation| Rows::wanted(request.headers(), operation))
        }
        _ => None,
    };
    let accept = match rows {
        // What the rows are taken out of.
        Some(_) => Format::Json,
        None => accepted(request.headers()).map_err(|fault| Refused::with(StatusCode::NOT_ACCEPTABLE, fault))?,
    };
    let options = options(edge, request.headers(), caller)?;
    let (demanded, known) = (Tags::demanded(request.headers()), Tags::known(request.headers()));
    let changes = request.method() != Method::GET && request.method() != Method::HEAD && verb != Verb::Query;
    if changes && known.is_some() {
        let reason = match known {
            Some(Tags::Any) => "If-None-Match: * asks that nothing be there, and a service always has a state",
            _ => "If-None-Match goes with reading; a change takes If-Match with the tag that it starts from",
        };
        return Err(Fault::new(Code::PreconditionFailed, reason).into());
    }
    let demanded = match demanded {
        None | Some(Tags::Any) => vec![None],
        Some(Tags::These(tags)) if tags.is_empty() => {
            let reason = "If-Match has no tag of a version of this service: read it, and use the ETag of the answer";
            return Err(Fault::new(Code::PreconditionFailed, reason).into());
        }
        Some(Tags::These(tags)) if tags.len() > TAGS_MAX => {
            return Err(Fault::new(Code::TooLarge, format!("If-Match has more than {TAGS_MAX} tags")).into());
        }
        Some(Tags::These(tags)) => tags.into_iter().map(Some).collect(),
    };
    let (format, body) = match &action {
        Action::Operation(name) if matches!(*request.method(), Method::GET | Method::HEAD) => {
            let fields = query(request.uri().query().unwrap_or_default(), endpoint.operation(name))?;
            let body = if fields.is_empty() { Vec::new() } else { Value::Object(fields).to_string().into_bytes() };
            (Format::Json, body)
        }
        Action::Operation(name) => match sent_as(request.headers(), endpoint.operation(name)) {
            Ok(Sent::Document(format)) => {
                let body = read(edge, incoming).await?;
                if let Some(operation) = endpoint.operation(name) {
                    shapes::check(format, &body, &operation.body)?;
                }
                (format, body)
            }
            Ok(Sent::Bytes(media_type)) => {
                let fields = query(request.uri().query().unwrap_or_default(), endpoint.operation(name))?;
                bytes_as(rows.is_some(), fields, &media_type, &read(edge, incoming).await?)?
            }
            Ok(Sent::Form(boundary)) => {
                let body = read(edge, incoming).await?;
                let form = Form::read(&body, &boundary)?;
                // Fields of the form stand in the place of those in the address.
                let mut said = form_urlencoded::Serializer::new(String::new());
                for (name, text) in form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes()) {
                    if !form.fields.iter().any(|(field, _)| *field == name) {
                        said.append_pair(&name, &text);
                    }
                }
                said.extend_pairs(&form.fields);
                let fields = query(&said.finish(), endpoint.operation(name))?;
                bytes_as(rows.is_some(), fields, form.media_type.unwrap_or("application/octet-stream"), form.file)?
            }
            Err(fault) => return Err(Refused::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault)),
        },
        _ => (Format::Json, Vec::new()),
    };
    // Those of this connection that came before it go before it.
    turn.come().await;
    let mut turn = Some(turn);
    let mut message = Message { action, verb, body, format, accept, options };
    if let Some(rows) = rows {
        (message.format, message.body) = (Format::Json, rows.asked(message.format, &message.body, None)?);
    }
    let for_more = rows.map(|rows| (rows, message.clone()));
    let last = demanded.len() - 1;
    let mut tried = 0;
    let answered = loop {
        if let Some((incarnation, version)) = demanded[tried] {
            message.options.incarnation = Some(incarnation);
            message.options.if_version = Some(version);
        }
        // Kept for the next tag, if there is one: a version that is another changes nothing.
        let next = (tried < last).then(|| message.clone());
        let sent = endpoint.send(message);
        drop(turn.take());
        match (looked_for(sent, edge.looks, || edge.has_one_request(), gives_up(edge, verb)).await, next) {
            (Ok(answered), _) => break answered,
            (Err(fault), next) => {
                let is_other = matches!(fault.code(), Code::StaleReference | Code::PreconditionFailed);
                match next {
                    Some(next) if is_other => (message, tried) = (next, tried + 1),
                    // A tag of an earlier life is a version that is no more.
                    _ if demanded[tried].is_some() && fault.code() == Code::StaleReference => {
                        return Err(Refused::with(StatusCode::PRECONDITION_FAILED, fault));
                    }
                    _ => return Err(fault.into()),
                }
            }
        }
    };
    if let Some((rows, message)) = for_more {
        return table(edge, peer, endpoint, rows, message, &answered.body).await;
    }
    let version = answered.version.map(|version| (answered.incarnation, version));
    let is_known = known.zip(version).is_some_and(|(known, version)| known.contain(version));
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Answer::Whole(None))
    } else {
        (StatusCode::OK, Answer::whole(edge.counted(peer, answered.body)?))
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

/// Answers with rows as a file: those of the first piece, and of as many more as were asked for.
async fn table(
    edge: &Edge,
    peer: &Peer,
    endpoint: &Endpoint,
    rows: Rows,
    message: Message,
    first: &[u8],
) -> Result<Response<Answer>, Refused> {
    let mut answered = tables::Answered::first(rows, first)?;
    let to = message.format.decode::<Value>(&message.body)?["to"].as_u64();
    while let Some(from) = answered.next(to)? {
        let body = rows.asked(message.format, &message.body, Some(from))?;
        let piece = endpoint.send(Message { body, ..message.clone() }).await?;
        answered.add(&piece.body)?;
    }
    let (bytes, mut response) = answered.into_response();
    *response.body_mut() = Answer::whole(edge.counted(peer, bytes)?);
    Ok(response)
}

/// Waits until a request that changes nothing need not be waited for: the services are ending, and what it waits for may take longer than they may.
async fn gives_up<T>(edge: &Edge, verb: Verb) -> Result<T, Fault> {
    if !matches!(verb, Verb::Query | Verb::Get | Verb::Lookup) {
        std::future::pending::<()>().await;
    }
    edge.closed().await;
    Err(stopping())
}

/// Waits for an answer, or for what is there instead. If `is_alone` says that this thread has nothing else to do, it looks for it a while, some microseconds at most: most
/// handlers take less than falling asleep and being woken does.
async fn looked_for<T>(
    answer: impl Future<Output = T>,
    most: Looks,
    is_alone: impl Fn() -> bool,
    instead: impl Future<Output = T>,
) -> T {
    let (mut answer, mut instead) = (pin!(answer), pin!(instead));
    let mut looks = 0;
    poll_fn(move |polling| {
        loop {
            let is_last = looks >= most.spinning + most.yielding || !is_alone();
            // Nobody is to be woken while this thread looks: that would be a system call of the worker, and a turn of this task for nothing.
            let mut looking = Polling::from_waker(Waker::noop());
            let polled = answer.as_mut().poll(if is_last { &mut *polling } else { &mut looking });
            if polled.is_ready() {
                return polled;
            }
            if is_last {
                return instead.as_mut().poll(polling);
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
async fn read(edge: &Edge, body: &mut Incoming) -> Result<Vec<u8>, Refused> {
    let limits = edge.limits();
    let too_large = || Fault::new(Code::TooLarge, format!("a body has at most {} bytes here", limits.body_bytes));
    if hyper::body::Body::size_hint(body).lower() > limits.body_bytes as u64 {
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
/// that, unless the field is a text; all else is text. A list may be JSON, words with commas between them, or the field named once for each item, as OpenAPI's `explode` has it.
///
/// # Errors
/// [`Code::InvalidValue`] for a field that is named twice and takes no list.
/// Bytes and the fields beside them, as the document of an operation; in JSON where more fields are to come.
fn bytes_as(
    is_json: bool,
    mut fields: Map<String, Value>,
    media_type: &str,
    bytes: &[u8],
) -> Result<(Format, Vec<u8>), Fault> {
    if !is_json {
        return Ok((Format::MessagePack, raw_document(&fields, media_type, bytes)?));
    }
    fields.insert("media_type".to_owned(), media_type.into());
    fields.insert("data".to_owned(), STANDARD.encode(bytes).into());
    Ok((Format::Json, Format::Json.encode(&Value::Object(fields))?))
}

fn query(text: &str, operation: Option<&OperationDescription>) -> Result<Map<String, Value>, Fault> {
    let mut fields = Map::new();
    for (name, text) in form_urlencoded::parse(text.as_bytes()) {
        let schema = operation.map(|operation| &operation.body["properties"][&*name]);
        let kinds = schema.map(|schema| &schema["type"]);
        let may_be = |wanted: &str| match kinds {
            Some(Value::String(kind)) => kind == wanted,
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == wanted),
            _ => false,
        };
        let is_of_texts = schema.is_some_and(|schema| schema["items"]["type"] == "string");
        let item = |text: &str| match serde_json::from_str(text) {
            Ok(value) if !is_of_texts => value,
            _ => Value::from(text),
        };
        if let Some(before) = fields.get_mut(&*name) {
            match before {
                Value::Array(items) if may_be("array") => items.push(item(&text)),
                _ => return Err(Fault::new(Code::InvalidValue, format!("{name}: given twice in the address"))),
            }
            continue;
        }
        let value = match serde_json::from_str(&text) {
            Ok(Value::Null) if may_be("null") => Value::Null,
            Ok(value @ Value::Array(_)) if may_be("array") => value,
            _ if may_be("array") && !may_be("string") => text.split(',').map(item).collect(),
            Ok(value @ Value::String(_)) => value,
            Ok(value) if !may_be("string") => value,
            _ => Value::from(&*text),
        };
        fields.insert(name.into_owned(), value);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_the_operation_expects_it() {
        let body = json!({ "properties": {
            "name": { "type": "string" }, "weights": { "type": ["string", "null"] }, "columns": { "type": ["array", "null"], "items": { "type": "string" } },
            "limit": { "type": "integer" }, "format": { "$ref": "#/$defs/Form" },
        } });
        let operation = OperationDescription { verb: Verb::Query, body, reply: Value::Null, raw: Vec::new() };
        let text = "name=2026&weights=null&columns=lon,lat&limit=4&format=csv&other=true";
        let expected = json!({ "name": "2026", "weights": null, "columns": ["lon", "lat"], "limit": 4, "format": "csv", "other": true });
        let read = |text: &str| query(text, Some(&operation)).map(Value::Object);
        assert_eq!(read(text), Ok(expected));
        let quoted = read("name=%22a%22&columns=%5B%22x%22%5D&weights=7");
        assert_eq!(quoted, Ok(json!({ "name": "a", "columns": ["x"], "weights": "7" })));
        assert_eq!(query("name=2026", None).map(Value::Object), Ok(json!({ "name": 2026 })));
        // A list as OpenAPI's clients write it.
        assert_eq!(read("columns=1&columns=b&columns=7"), Ok(json!({ "columns": ["1", "b", "7"] })));
        assert_eq!(read("columns=7"), Ok(json!({ "columns": ["7"] })));
        assert_eq!(read("limit=4&limit=5").unwrap_err().reason(), "limit: given twice in the address");
    }
}
