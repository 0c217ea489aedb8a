//! Decides whether a request is allowed: checks its host, its origin, and the caller's rights under the policy.

use hyper::Request;
use hyper::header::{self, HeaderMap};
use hyper::http::uri::Authority;
use lehr_services::{Code, Endpoint, Fault, Verb};
use lehr_sync::Arc;

use crate::edge::{Edge, Peer};
use crate::policy::ANONYMOUS;
use crate::refusal::Refused;

/// Returns the host that a request is for: from its target, or else from its `Host` header (RFC 9112, section 3.2).
///
/// # Errors
/// Returns [`Code::MessageNotSupported`] if the request has two `Host` headers, or one that is not a host and a port.
/// The same for a request in HTTP/2 that names two different hosts, and for one in HTTP/1.1 that names none.
pub(crate) fn host<B>(request: &Request<B>) -> Result<&str, Fault> {
    let refuse = |reason: &str| Err(Fault::new(Code::MessageNotSupported, reason));
    let mut lines = request.headers().get_all(header::HOST).iter();
    let (named, second) = (lines.next().map(|line| line.to_str().unwrap_or_default()), lines.next());
    if second.is_some() {
        return refuse("the request has two Host headers");
    }
    if named.is_some_and(|named| !is_authority(named)) {
        return refuse("the Host header is not a host and a port");
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

/// Returns whether a text is a host, with a port or without. It may be empty (RFC 9112, section 3.2).
fn is_authority(text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    // The port follows the last colon that is not within an address in brackets.
    let port = text.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.ends_with(']'));
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    text.parse::<Authority>().is_ok_and(|_| !text.contains('@')) && port.is_none_or(is_port)
}

/// Refuses requests that foreign web pages send. A node on loopback without a policy trusts the user of the machine,
/// but not the pages that are open in their browser.
pub(crate) fn same_site(edge: &Edge, headers: &HeaderMap, host: &str) -> Result<(), Fault> {
    let origins = &edge.settings.origins;
    if edge.policy().is_none() && edge.address.ip().is_loopback() && !origins.name(host) {
        let name = host.rsplit_once(':').map_or(host, |(name, port)| if port.ends_with(']') { host } else { name });
        let name = name.trim_start_matches('[').trim_end_matches(']');
        // Names have no case, and the root of all names may follow them (RFC 9110, section 4.2.3; RFC 3986, 3.2.2).
        let is_here = name.strip_suffix('.').unwrap_or(name).eq_ignore_ascii_case("localhost")
            || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if !is_here {
            return Err(Fault::new(Code::PermissionDenied, format!("this node is not {host:?}")));
        }
    }
    let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = headers.get(header::ORIGIN) else {
        // A browser sends `sec-fetch-site: cross-site` if another site's page loads something without an origin, such
        // as a picture or a script. Following a link is allowed.
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

/// Returns the name of the caller of a request.
pub(crate) fn caller(edge: &Edge, peer: &Peer, headers: &HeaderMap) -> Result<String, Fault> {
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

/// Returns the service at a path, if the caller may use this verb there.
pub(crate) fn permitted(
    edge: &Edge,
    caller: &str,
    path: &str,
    found: Option<Result<Endpoint, Fault>>,
    verb: Verb,
) -> Result<Endpoint, Refused> {
    let found = found.unwrap_or_else(|| edge.host.endpoint(path));
    if let Some(policy) = edge.policy() {
        let contract = found.as_ref().map(Endpoint::contract).unwrap_or_default();
        // The policy is checked first, so that the answer does not reveal whether a service is there.
        policy.check(caller, verb, path, contract)?;
    }
    found.map_err(|fault| {
        let is_unknown = fault.code() == Code::UnknownService;
        let services = is_unknown.then(|| visible(edge, caller).iter().map(|endpoint| endpoint.info().path).collect());
        Refused { services, ..Refused::from(fault) }
    })
}

/// Returns a function that checks whether a subscriber may still receive the changes of a service, under the policy at
/// the time of the call.
pub(crate) fn still_permitted(
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

/// Returns the services that a caller may see.
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

/// Returns the services that a caller may see, for a page about them.
///
/// # Errors
/// Returns [`Code::Unauthenticated`] or [`Code::PermissionDenied`] if the caller may see no service, because an empty
/// page would say that the node has no services.
pub(crate) fn seen(edge: &Edge, caller: &str) -> Result<Vec<Endpoint>, Fault> {
    let endpoints = visible(edge, caller);
    if !endpoints.is_empty() || edge.policy().is_none() {
        return Ok(endpoints);
    }
    Err(match caller {
        ANONYMOUS => Fault::new(Code::Unauthenticated, "a token is required to see what is here"),
        _ => Fault::new(Code::PermissionDenied, format!("{caller} may look up no service")),
    })
}
