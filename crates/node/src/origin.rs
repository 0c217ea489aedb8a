//! Pages of other origins (CORS): the allowed origins, and the headers for browsers.

use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use lehr_services::{Code, Fault};

use crate::headers::{CONTRACT, IF_VERSION, INCARNATION, KEY, TIMEOUT};

/// The headers of answers that pages may read.
const EXPOSED: &str = "etag, retry-after, allow, content-range, lehr-incarnation";

/// The time that a browser may cache the permission, in seconds.
const REMEMBERED: u64 = 600;

/// The origins whose pages may call a node, in addition to the node's own origin.
///
/// # Example
/// ```
/// use lehr_node::Origins;
/// let origins = Origins::new(["https://lab.example.org"]).unwrap();
/// assert!(origins.allow("https://lab.example.org") && !origins.allow("https://example.org"));
/// assert!(Origins::new(["*"]).unwrap().allow("https://example.org"));
/// assert!(Origins::new(["lab.example.org"]).is_err());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    named: Vec<String>,
    all: bool,
}

impl Origins {
    /// Allows these origins, each as a browser sends it: `https://name` or `https://name:port`. `*` allows all origins.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] for a text that is not an origin.
    ///
    /// # Example
    /// See [`Origins`].
    pub fn new(origins: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, Fault> {
        let mut allowed = Self::default();
        for origin in origins.into_iter().map(Into::into) {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            let is_origin =
                authority.is_some_and(|authority| !authority.is_empty() && !authority.contains(['/', '?', '#', '@']));
            match origin.as_str() {
                "*" => allowed.all = true,
                _ if is_origin => allowed.named.push(origin.to_ascii_lowercase()),
                _ => {
                    let reason = format!("expected an origin, such as https://lab.example.org, found {origin:?}");
                    return Err(Fault::new(Code::InvalidValue, reason));
                }
            }
        }
        Ok(allowed)
    }

    /// Returns whether pages of an origin may call the node.
    ///
    /// # Example
    /// See [`Origins`].
    pub fn allow(&self, origin: &str) -> bool {
        self.all || self.named.iter().any(|named| named.eq_ignore_ascii_case(origin))
    }

    /// Returns whether a host belongs to an allowed origin. Clients reach the node by the name of such a host, through
    /// a proxy.
    pub(crate) fn name(&self, host: &str) -> bool {
        let of =
            |named: &String| named.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host));
        self.named.iter().any(of)
    }
}

/// Returns the origin of the calling page, if it is allowed.
pub(crate) fn allowed(origins: &Origins, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    origin.to_str().is_ok_and(|origin| origins.allow(origin)).then(|| origin.clone())
}

/// Returns whether a request is a preflight, in which a browser asks whether a page may call. A preflight has no token.
pub(crate) fn is_preflight<B>(request: &Request<B>) -> bool {
    request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Adds the headers that allow a page of this origin to read the answer.
pub(crate) fn tell<B>(response: &mut Response<B>, origin: HeaderValue, is_preflight: bool) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    if is_preflight {
        let methods = HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE");
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from(REMEMBERED));
        for name in ["authorization", "content-type", "if-match", "if-none-match", "range", "traceparent"]
            .into_iter()
            .chain([TIMEOUT, CONTRACT, INCARNATION, KEY, IF_VERSION])
        {
            headers.append(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderName::from_static(name).into());
        }
    }
}
