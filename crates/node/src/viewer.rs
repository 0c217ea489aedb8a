//! The viewer: files for people who open a node in a browser, at paths that no service can have.
//!
//! A node sends the files unchanged to any client: they contain nothing about its services. The pages request data as
//! every client does, with the rights of their user. Read next: `docs/design/web.md`.

use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use lehr_services::{Code, Fault};
use sha2::{Digest, Sha256};

use crate::body::Answer;
use crate::conditions::GZIP;
use crate::edge::Edge;
use crate::encode::is_for_people;
use crate::refusal::Refused;
use crate::route::EVENTS;

/// The path of the viewer. No service's name contains a `~`.
const ROOT: &str = "/~/";

/// The policy for pages: they load only content of this node, and no inline code or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
    worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
    trusted-types lehr";

/// The policy for the page of a service: it loads only its own content.
const POLICY_OF_SERVICE: &str = "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// A file of the viewer.
///
/// # Example
/// See [`Viewer`].
#[derive(Clone, Copy, Debug)]
pub struct ViewerFile {
    /// The name relative to the address of the viewer, such as `app.js`. The first page of the viewer has the name
    /// `index.html`.
    pub name: &'static str,
    /// The media type, as in `Content-Type`.
    pub media_type: &'static str,
    /// The file's content.
    pub bytes: &'static [u8],
}

/// The files that a node shows to people, at `/~/`. A viewer is empty by default: then a browser gets a list of the
/// services.
///
/// # Example
/// ```
/// use lehr_node::{Settings, Viewer, ViewerFile};
/// let page = ViewerFile { name: "index.html", media_type: "text/html; charset=utf-8", bytes: b"<!doctype html>" };
/// let settings = Settings { viewer: Viewer::new([page]), ..Settings::new() };
/// assert!(!settings.viewer.is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Viewer {
    files: Vec<(ViewerFile, String)>,
}

impl Viewer {
    /// Creates a viewer of these files.
    ///
    /// # Example
    /// See [`Viewer`].
    pub fn new(files: impl IntoIterator<Item = ViewerFile>) -> Self {
        let tag = |bytes: &[u8]| {
            let digest = Sha256::digest(bytes);
            digest[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        Self { files: files.into_iter().map(|file| (file, tag(file.bytes))).collect() }
    }

    /// Returns whether there are no files.
    ///
    /// # Example
    /// See [`Viewer`].
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the answer to a request for a file; `None` if there is no such file.
    pub(crate) fn file(&self, name: &str, headers: &HeaderMap) -> Option<Response<Answer>> {
        let name = if name.is_empty() { "index.html" } else { name };
        let (file, tag) = self.files.iter().find(|(file, _)| file.name == name)?;
        let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        let is_known = known.flat_map(|line| line.split(',')).any(|known| {
            let bare = known.trim().trim_start_matches("W/").trim_matches('"');
            bare == "*" || bare.strip_suffix(GZIP).unwrap_or(bare) == tag
        });
        let mut response = Response::new(if is_known { Answer::Whole(None) } else { Answer::whole(file.bytes) });
        *response.status_mut() = if is_known { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
        if let Ok(tag) = HeaderValue::try_from(format!("\"{tag}\"")) {
            headers.insert(header::ETAG, tag);
        }
        // Browsers cache the files but revalidate them each time, because another build of the node has other files
        // under the same names.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Some(secured(response))
    }
}

/// Returns the viewer's answer, if the request is for the viewer. The viewer ignores the caller, because its files say
/// nothing about the services.
pub(crate) fn shown(edge: &Edge, request: &Request<()>) -> Option<Result<Response<Answer>, Refused>> {
    let (viewer, path) = (&edge.settings.viewer, request.uri().path());
    if viewer.is_empty() || path == EVENTS {
        return None;
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let name = match path {
        "/" if is_read && is_for_people(request.headers()) => return Some(Ok(sent_on("~/"))),
        "/~" if is_read => return Some(Ok(sent_on("~/"))),
        path => path.strip_prefix(ROOT)?,
    };
    if !is_read {
        let fault = Fault::new(Code::ActionNotSupported, format!("{} is not supported at {path}", request.method()));
        return Some(Err(Refused { allow: Some("GET, HEAD".to_owned()), ..Refused::from(fault) }));
    }
    let fault = || Fault::new(Code::UnknownService, format!("the viewer has no file {name:?}: open {ROOT}"));
    Some(viewer.file(name, request.headers()).ok_or_else(|| fault().into()))
}

/// Redirects from a node's address to its viewer. The path is relative, so that it works behind a proxy with a path
/// prefix.
fn sent_on(to: &'static str) -> Response<Answer> {
    let mut response = Response::new(Answer::Whole(None));
    *response.status_mut() = StatusCode::SEE_OTHER;
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_static(to));
    // Programs get the list of services at the same address.
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    secured(response)
}

/// Returns a page that a service has made. The scripts of the page are inline; a browser gives them no origin, so they
/// cannot call the node.
pub(crate) fn page_of_service(text: Bytes) -> Response<Answer> {
    let mut response = Response::new(Answer::whole(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    // Programs that ask for a document get the text in it.
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    held(response, POLICY_OF_SERVICE)
}

/// Adds the headers that restrict a page to its own content.
fn secured(response: Response<Answer>) -> Response<Answer> {
    held(response, POLICY)
}

fn held(mut response: Response<Answer>, policy: &'static str) -> Response<Answer> {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
