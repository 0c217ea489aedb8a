//! One request and its answer: how it is routed, carried out and logged.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use lehr_runtime::TraceParent;
use lehr_services::{Action, Code, Endpoint, Fault, Format, Link, Phase, Verb};
use lehr_sync::{Arc, wall_time};
use serde_json::{Value, json};

use crate::access::{caller, host, permitted, same_site, seen, still_permitted};
use crate::body::Answer;
use crate::connection::Ticket;
use crate::edge::{Edge, Peer};
use crate::encode::is_for_people;
use crate::events::Source;
use crate::headers::options;
use crate::incoming::pass_over;
use crate::inspector::INSPECTOR;
use crate::log::{LOG, Level};
use crate::refusal::{Refused, refuse, stopping};
use crate::response::{document, event_stream, methods, page};
use crate::route::{Route, allowed, route, service_of, without_slash};
use crate::send::send;
use crate::telemetry::Served;
use crate::viewer::shown;
use crate::{coding, events, metrics, openapi, origin, page, proxy, range, telemetry};

/// Answers any request.
pub(crate) async fn exchange(
    edge: Arc<Edge>,
    peer: Peer,
    turn: Ticket,
    request: Request<Incoming>,
) -> Result<Response<Answer>, Infallible> {
    let (began, wall) = (edge.host.clock().now(), wall_time());
    let (mut parts, mut body) = request.into_parts();
    let (span, parent) = telemetry::spans(&parts.headers, edge.settings.telemetry.is_some());
    if let Some(span) = span {
        parts.extensions.insert(span);
    }
    let request = Request::from_parts(parts, ());
    let client = proxy::client(&edge.settings.proxies, peer.address.ip().to_canonical(), request.headers());
    let mut asked = RequestFacts { client, caller: None, contract: String::new(), route: None };
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
    let fault = answered.as_ref().err().map(|refused| &refused.fault);
    tell(&edge, &peer, &request, &asked, (status, took), fault);
    if let (Some(telemetry), Some(span)) = (&edge.settings.telemetry, span) {
        telemetry.served(&Served {
            request: &request,
            span,
            parent,
            began: wall,
            took,
            route: asked.route.as_deref(),
            contract: &asked.contract,
            client: asked.client.to_string(),
            scheme: if edge.settings.tls.is_some() { "https" } else { "http" },
            status,
            fault,
        });
    }
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

/// Logs the request and its outcome.
fn tell(
    edge: &Edge,
    peer: &Peer,
    request: &Request<()>,
    asked: &RequestFacts,
    (status, took): (StatusCode, Duration),
    fault: Option<&Fault>,
) {
    let Some(log) = &edge.settings.log else { return };
    let path = request.uri().path();
    log.line(level(path, status), path, &asked.contract, || {
        let trace = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        // The port belongs to the peer, so it is left out if the peer is a proxy.
        let is_direct = asked.client == peer.address.ip().to_canonical();
        let address = if is_direct { peer.address.to_string() } else { asked.client.to_string() };
        // If there is a collector, the line names the span that the collector gets.
        let span = edge.settings.telemetry.as_ref().and_then(|_| request.extensions().get::<TraceParent>());
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
            ("trace_id", Value::from(span.map(|span| format!("{:032x}", span.trace)))),
            ("span_id", Value::from(span.map(|span| format!("{:016x}", span.span)))),
            ("took_us", Value::from(u64::try_from(took.as_micros()).unwrap_or(u64::MAX))),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    });
}

/// The facts about a request, for the log and its span.
struct RequestFacts {
    /// The client's address, as far as known.
    client: IpAddr,
    caller: Option<String>,
    contract: String,
    /// The path of the service with the operation, or the path of the page.
    route: Option<String>,
}

/// Returns the log level for a request with this answer.
fn level(path: &str, status: StatusCode) -> Level {
    let is_refused = status.is_client_error() || matches!(status.as_u16(), 503 | 504 | 507 | 508);
    match status {
        _ if is_refused => Level::Warn,
        status if status.is_server_error() => Level::Error,
        _ if matches!(path, "/health" | "/healthz" | "/livez" | "/ready" | "/readyz" | "/metrics") => Level::Debug,
        _ if matches!(path.split_once(':'), Some((INSPECTOR, "look") | (LOG, "tail"))) => Level::Debug,
        _ => Level::Info,
    }
}

async fn answer(
    edge: &Arc<Edge>,
    peer: &Peer,
    turn: Ticket,
    request: &Request<()>,
    body: &mut Incoming,
    asked: &mut RequestFacts,
) -> Result<Response<Answer>, Refused> {
    let _place = edge.request()?;
    let host = host(request).map_err(|fault| Refused::with(StatusCode::BAD_REQUEST, fault))?;
    same_site(edge, request.headers(), host)?;
    edge.count(asked.client)?;
    if let Some(shown) = shown(edge, request) {
        asked.route = shown.is_ok().then(|| "/~/".to_owned());
        return shown;
    }
    let caller = caller(edge, peer, request.headers())?;
    asked.caller = Some(caller.clone());
    let path = without_slash(request.uri().path()).to_owned();
    let answered = routed((edge, peer), turn, caller.clone(), &path, (request, body), asked).await;
    answered.map_err(|mut refused| {
        if refused.status == StatusCode::METHOD_NOT_ALLOWED {
            // A caller that may not see a service gets the same answer as if the service did not exist.
            let seen = service_of(&path).and_then(|at| permitted(edge, &caller, at, None, Verb::Lookup).ok());
            refused.allow = Some(allowed(&path, seen.as_ref()));
        }
        refused
    })
}

/// Carries out a request, once its caller is known.
async fn routed(
    (edge, peer): (&Arc<Edge>, &Peer),
    turn: Ticket,
    caller: String,
    path: &str,
    (request, body): (&Request<()>, &mut Incoming),
    asked: &mut RequestFacts,
) -> Result<Response<Answer>, Refused> {
    let route = route(request.method(), path)?;
    if route.service().is_some() && edge.is_closing() {
        // This check comes before the look-up: services end one after the other, and a service that has ended would
        // seem never to have existed.
        return Err(stopping().into());
    }
    // The service is looked up once, for all routes that concern a service.
    let found = route.service().map(|service| edge.host.endpoint(service));
    let is_told = edge.settings.log.is_some() || edge.settings.telemetry.is_some();
    if let (true, Some(Ok(endpoint))) = (is_told, &found) {
        asked.contract = endpoint.contract().to_owned();
    }
    if edge.settings.telemetry.is_some() {
        asked.route = route.pattern(path, found.as_ref().and_then(|found| found.as_ref().ok()));
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
            page(edge, peer, metrics::MEDIA_TYPE, metrics::text(edge, &endpoints))
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
            // If there is no such operation, the check assumes the most likely verb.
            let endpoint = permitted(edge, &caller, &service, found, verb.unwrap_or(Verb::Submit))?;
            // An operation that does not exist is refused below, without advice to POST it.
            if is_in_query && verb.is_some_and(|verb| verb != Verb::Query) {
                let fault = Fault::new(Code::ActionNotSupported, format!("{name:?} is no query: POST it"));
                return Err(fault.into());
            }
            let verb = verb.unwrap_or(Verb::Submit);
            send((edge, peer), &endpoint, (Action::Operation(name), verb), turn, caller, (request, body)).await
        }
        Route::Events(service) => {
            let endpoint = permitted(edge, &caller, &service, found, Verb::Subscribe)?;
            events_of_one((edge, peer), service, &endpoint, turn, caller, request).await
        }
        Route::EventsOfMany => events_of_many((edge, peer), turn, caller, request).await,
    }
}

/// Streams the changes of one service.
async fn events_of_one(
    (edge, peer): (&Arc<Edge>, &Peer),
    service: String,
    endpoint: &Endpoint,
    mut turn: Ticket,
    caller: String,
    request: &Request<()>,
) -> Result<Response<Answer>, Refused> {
    let place = edge.subscription()?;
    let wishes = events::wishes(request.uri().query().unwrap_or_default())?;
    let options = options(edge, request, caller)?;
    turn.come().await;
    let subscribed = endpoint.subscribe(wishes, Format::Json, options);
    drop(turn);
    let events = subscribed.await?;
    let still = still_permitted(edge, peer, request.headers(), service);
    Ok(event_stream(events::stream(Vec::new(), vec![Source { service: None, events, place, still }], edge, peer)))
}

/// Streams the changes of several services.
async fn events_of_many(
    (edge, peer): (&Arc<Edge>, &Peer),
    mut turn: Ticket,
    caller: String,
    request: &Request<()>,
) -> Result<Response<Answer>, Refused> {
    let (services, wishes) = events::wishes_of_many(request.uri().query().unwrap_or_default())?;
    turn.come().await;
    drop(turn);
    let (mut sources, mut refused) = (Vec::new(), Vec::new());
    for service in services {
        let options = options(edge, request, caller.clone())?;
        let subscribed = async {
            let endpoint = permitted(edge, &caller, &service, None, Verb::Subscribe)?;
            let place = edge.subscription()?;
            let events = endpoint.subscribe(wishes.clone(), Format::Json, options).await?;
            Ok::<_, Refused>((events, place))
        };
        // A service that is forbidden or gone does not affect the other services.
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
    // The answer has no details, because this request needs no token. `lehr ls` shows them.
    let degraded = edge.host.reports().len();
    let is_ready = unready.is_empty() && !edge.is_closing();
    let state = json!({ "is_ready": is_ready, "unready": unready.len(), "degraded": degraded });
    let mut response = document(edge, peer, &state)?;
    if !is_ready {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    Ok(response)
}
