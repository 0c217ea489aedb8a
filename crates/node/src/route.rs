//! Routes a method and a path to an operation of a service.
//!
//! | request | asks for |
//! | --- | --- |
//! | `GET /counter` | the state |
//! | `GET /counter:lookup` | a description of the service |
//! | `GET /counter:events` | the changes of the state, as server-sent events |
//! | `GET /counter:is_above?limit=4` | an operation whose verb is query |
//! | `POST /counter:add` | any operation, with its body in the request's body |
//! | `PUT /counter` | the operation `replace` |
//! | `DELETE /counter` | the end of the service |
//! | `GET /~/events?services=/a,/b` | the changes of several services, in one stream |
//!
//! Names of services contain no colon, so every path is unambiguous.

use hyper::Method;
use lehr_services::{Code, Endpoint, Fault, Verb};

/// The path for the changes of several services in one stream. One stream for several services is needed because
/// browsers open at most six connections to a node, for all pages together.
pub(crate) const EVENTS: &str = "/~/events";

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The node's own pages.
    Index,
    Health,
    Ready,
    Metrics,
    OpenApi,
    /// The whole state of a service.
    Get(String),
    Lookup(String),
    Events(String),
    /// The changes of several services.
    EventsOfMany,
    /// An operation; the flag says whether its body is in the query string.
    Operation(String, String, bool),
    Drop(String),
    /// The methods that a service supports.
    Options(String),
    /// The methods that a page of the node supports.
    OptionsOfPage,
}

impl Route {
    /// Returns the service that the route concerns, if it concerns one.
    pub(crate) fn service(&self) -> Option<&str> {
        match self {
            Self::Index
            | Self::Health
            | Self::Ready
            | Self::Metrics
            | Self::OpenApi
            | Self::OptionsOfPage
            | Self::EventsOfMany => None,
            Self::Get(service)
            | Self::Lookup(service)
            | Self::Events(service)
            | Self::Operation(service, ..)
            | Self::Drop(service)
            | Self::Options(service) => Some(service),
        }
    }

    /// Returns a name for all requests of a kind: the path of a page, or of a service and an existing operation. Names
    /// that a client invents are left out, so that the number of patterns is bounded.
    pub(crate) fn pattern(&self, path: &str, endpoint: Option<&Endpoint>) -> Option<String> {
        let Some(service) = self.service() else { return Some(path.to_owned()) };
        let endpoint = endpoint?;
        let is_of_path = match self {
            Self::Operation(_, name, _) => path.contains(':') && endpoint.operation(name).is_some(),
            Self::Lookup(_) | Self::Events(_) => true,
            _ => false,
        };
        Some(if is_of_path { path } else { service }.to_owned())
    }
}

/// Finds the route of a request.
///
/// # Errors
/// Returns [`Code::ActionNotSupported`] for a method that is not supported there; [`Code::UnknownService`] for an
/// impossible path.
pub(crate) fn route(method: &Method, path: &str) -> Result<Route, Fault> {
    let is_read = method == Method::GET || method == Method::HEAD;
    if is_page(path) && !is_read {
        return match *method {
            Method::OPTIONS => Ok(Route::OptionsOfPage),
            _ => Err(Fault::new(Code::ActionNotSupported, format!("{method} is not supported at {path}"))),
        };
    }
    if is_read {
        match path {
            "/" => return Ok(Route::Index),
            "/health" | "/healthz" | "/livez" => return Ok(Route::Health),
            "/ready" | "/readyz" => return Ok(Route::Ready),
            "/metrics" => return Ok(Route::Metrics),
            "/openapi.json" => return Ok(Route::OpenApi),
            EVENTS if method == Method::GET => return Ok(Route::EventsOfMany),
            EVENTS => return Err(Fault::new(Code::ActionNotSupported, format!("{method} is not supported at {path}"))),
            _ => {}
        }
    }
    let (service, action) = match path.split_once(':') {
        Some((service, action)) => (service, Some(action)),
        None => (path, None),
    };
    let service = service.to_owned();
    if service.is_empty() || path.len() > 300 {
        return Err(Fault::new(Code::UnknownService, "there is no service at this path"));
    }
    match (action, method) {
        (None, _) if is_read => Ok(Route::Get(service)),
        (None, &Method::PUT) => Ok(Route::Operation(service, "replace".to_owned(), false)),
        (None, &Method::DELETE) => Ok(Route::Drop(service)),
        (_, &Method::OPTIONS) => Ok(Route::Options(service)),
        (Some("lookup"), _) if is_read => Ok(Route::Lookup(service)),
        (Some("events"), &Method::GET) => Ok(Route::Events(service)),
        // The answer to `:events` never ends, so HEAD could not describe it.
        (Some("events"), _) => {
            Err(Fault::new(Code::ActionNotSupported, format!("{method} is not supported at {path}")))
        }
        (Some(name), _) if is_read => Ok(Route::Operation(service, name.to_owned(), true)),
        (Some(name), &Method::POST) => Ok(Route::Operation(service, name.to_owned(), false)),
        _ => Err(Fault::new(Code::ActionNotSupported, format!("{method} is not supported at {path}"))),
    }
}

/// Returns whether a path is a page of the node itself.
fn is_page(path: &str) -> bool {
    matches!(
        path,
        "/" | "/health" | "/healthz" | "/livez" | "/ready" | "/readyz" | "/metrics" | "/openapi.json" | EVENTS
    )
}

/// Removes the slash at the end of a path, which many clients add.
pub(crate) fn without_slash(path: &str) -> &str {
    match path.strip_suffix('/') {
        Some(path) if !path.is_empty() => path,
        _ => path,
    }
}

/// Returns the service that a path concerns, if it concerns one.
pub(crate) fn service_of(path: &str) -> Option<&str> {
    let service = path.split_once(':').map_or(path, |(service, _)| service);
    (!is_page(path) && !service.is_empty()).then_some(service)
}

/// Returns the methods that a path supports, as `Allow` lists them. If no service is given, returns the methods of the
/// node's own pages.
pub(crate) fn allowed(path: &str, service: Option<&Endpoint>) -> String {
    let Some(service) = service else { return "GET, HEAD, OPTIONS".to_owned() };
    let methods: &[&str] = match path.split_once(':') {
        None => {
            let put: &[&str] = if service.operation("replace").is_some() { &["PUT"] } else { &[] };
            let delete: &[&str] = if service.info().is_permanent { &[] } else { &["DELETE"] };
            return [&["GET", "HEAD"], put, delete, &["OPTIONS"]].concat().join(", ");
        }
        Some((_, "lookup")) => &["GET", "HEAD", "OPTIONS"],
        Some((_, "events")) => &["GET", "OPTIONS"],
        Some((_, name)) => match service.operation(name).map(|operation| operation.verb) {
            Some(Verb::Query) => &["GET", "HEAD", "POST", "OPTIONS"],
            Some(_) => &["POST", "OPTIONS"],
            None => &["OPTIONS"],
        },
    };
    methods.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_and_a_path_mean_one_thing() {
        let at = |method: Method, path| route(&method, path).map_err(|fault| fault.code());
        let (path, name) = (|| "/a/b".to_owned(), |name: &str| name.to_owned());
        assert_eq!(at(Method::GET, "/a/b"), Ok(Route::Get(path())));
        assert_eq!(at(Method::PUT, "/a/b"), Ok(Route::Operation(path(), name("replace"), false)));
        assert_eq!(at(Method::DELETE, "/a/b"), Ok(Route::Drop(path())));
        assert_eq!(at(Method::GET, "/a/b:events"), Ok(Route::Events(path())));
        assert_eq!(at(Method::GET, "/a/b:find"), Ok(Route::Operation(path(), name("find"), true)));
        assert_eq!(at(Method::POST, "/a/b:find"), Ok(Route::Operation(path(), name("find"), false)));
        assert_eq!(at(Method::POST, "/a/b"), Err(Code::ActionNotSupported));
        assert_eq!(at(Method::PATCH, "/a/b:find"), Err(Code::ActionNotSupported));
        assert_eq!(at(Method::GET, ":x"), Err(Code::UnknownService));
        assert_eq!(at(Method::GET, "/"), Ok(Route::Index));
        assert_eq!(at(Method::OPTIONS, "/health"), Ok(Route::OptionsOfPage));
        assert_eq!(at(Method::GET, EVENTS), Ok(Route::EventsOfMany));
        assert_eq!(at(Method::HEAD, EVENTS), Err(Code::ActionNotSupported));
        assert_eq!(at(Method::POST, "/health"), Err(Code::ActionNotSupported));
        assert_eq!(at(Method::HEAD, "/a/b:find"), Ok(Route::Operation(path(), name("find"), true)));
        assert_eq!(["/", "/a/", "/a", "/a:b/"].map(without_slash), ["/", "/a", "/a", "/a:b"]);
        assert_eq!(["/", "/health", "/a:b", ":b"].map(service_of), [None, None, Some("/a"), None]);
    }
}
