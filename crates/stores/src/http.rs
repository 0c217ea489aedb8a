//! The HTTP client of the stores: connections that are kept for the next request, TLS, and redirections.
//!
//! The library `object_store` knows stores and their signatures, and takes its HTTP client from here. So Lehr has one
//! HTTP library, one TLS library and one list of trusted authorities.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use lehr_node::Trust;
use lehr_sync::{Arc, Moment, Mutex};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::Url;

/// The maximum time until a host accepts a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The same for the address at which a cloud's machines find their role. Elsewhere nobody answers there.
const CONNECT_TO_ROLE: Duration = Duration::from_secs(1);
const ROLE: &str = "169.254.169.254";
/// The maximum time until the head of a response arrives.
const ANSWER: Duration = Duration::from_secs(20);
/// The maximum time for which an idle connection is used again. Later, a router may have forgotten it.
const FRESH: Duration = Duration::from_secs(15);
/// The maximum number of redirections.
const REDIRECTS: usize = 5;
/// The number of idle connections that are kept for each host.
const IDLE: usize = 8;

/// The client. Clones share their connections.
#[derive(Clone, Default)]
pub struct Http {
    shared: Arc<Shared>,
}

/// A connection, and the time since which it is idle.
struct Idle {
    sender: SendRequest<HttpRequestBody>,
    since: Moment,
}

#[derive(Default)]
struct Shared {
    idle: Mutex<HashMap<String, Vec<Idle>>>,
    trust: Mutex<Option<Trust>>,
}

impl std::fmt::Debug for Http {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Http")
    }
}

impl HttpConnector for Http {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Http {
    /// Sends a request. Follows redirections of a request without credentials, but not from TLS to plain HTTP.
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        for _ in 0..=REDIRECTS {
            let (method, uri) = (request.method().clone(), request.uri().clone());
            let headers = request.headers().clone();
            let response = self.exchange(request).await?;
            let is_open = matches!(method, Method::GET | Method::HEAD) && !headers.contains_key(header::AUTHORIZATION);
            let is_redirection = is_open && matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
            let location = response.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
            let Some(location) = location.filter(|_| is_redirection) else { return Ok(response) };
            let next = joined(&uri, location).ok_or_else(|| refused(&uri, "redirects to what is no URL"))?;
            if uri.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
                return Err(refused(&uri, "redirects from TLS to no TLS"));
            }
            let mut again = HttpRequest::new(HttpRequestBody::empty());
            (*again.method_mut(), *again.uri_mut(), *again.headers_mut()) = (method, next, headers);
            request = again;
        }
        Err(refused(request.uri(), &format!("redirects more than {REDIRECTS} times")))
    }
}

impl Http {
    /// Sends one request, on an idle connection if there is one.
    async fn exchange(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (mut parts, body) = request.into_parts();
        let uri = std::mem::take(&mut parts.uri);
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(refused(&uri, "is no address of a web server"));
        };
        // Text before an @ would be a password, or make one host look like another.
        if authority.as_str().contains('@') {
            return Err(refused(&uri, "must not follow a user name or a password"));
        }
        let key = format!("{scheme}://{authority}");
        let mut sender = match self.idle(&key) {
            Some(sender) => sender,
            None => self.connection(&uri, scheme == "https").await?,
        };
        let host = HeaderValue::try_from(authority.as_str()).map_err(|error| wrong(HttpErrorKind::Unknown, error))?;
        parts.headers.insert(header::HOST, host);
        parts.headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("lehr/", env!("CARGO_PKG_VERSION"))));
        // A compressed body would have other ranges.
        parts.headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        parts.uri = path.parse().map_err(|error| wrong(HttpErrorKind::Unknown, error))?;
        let answered = timeout(ANSWER, sender.send_request(HttpRequest::from_parts(parts, body))).await;
        let late = |_| wrong(HttpErrorKind::Timeout, io::Error::other(format!("no answer within {ANSWER:?}")));
        // A connection that was idle may have been closed meanwhile, so the request may be sent again.
        let response = answered.map_err(late)?.map_err(|error| wrong(HttpErrorKind::Request, error))?;
        self.keep(key, sender);
        let (parts, body) = response.into_parts();
        let body = body.map_err(|error| wrong(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }

    fn idle(&self, key: &str) -> Option<SendRequest<HttpRequestBody>> {
        let mut idle = self.shared.idle.lock();
        let kept = idle.get_mut(key)?;
        kept.retain(|one| one.sender.is_ready() && one.since.elapsed() < FRESH);
        kept.pop().map(|one| one.sender)
    }

    /// Keeps a connection as soon as the body of its response has been read.
    fn keep(&self, key: String, mut sender: SendRequest<HttpRequestBody>) {
        let shared = Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            let is_ready = sender.ready().await.is_ok();
            if let Some(shared) = shared.upgrade().filter(|_| is_ready) {
                let mut idle = shared.idle.lock();
                let kept = idle.entry(key).or_default();
                if kept.len() < IDLE {
                    kept.push(Idle { sender, since: Moment::now() });
                }
            }
        });
    }

    async fn connection(&self, uri: &Uri, is_tls: bool) -> Result<SendRequest<HttpRequestBody>, HttpError> {
        let host = uri.host().unwrap_or_default();
        // Only a cloud has an address of roles, so asking again would not help.
        let kind = if host == ROLE { HttpErrorKind::Unknown } else { HttpErrorKind::Connect };
        let unreachable = |why: String| wrong(kind, io::Error::other(why));
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let limit = if host == ROLE { CONNECT_TO_ROLE } else { CONNECT };
        let stream = match timeout(limit, TcpStream::connect((bare, port))).await {
            Err(_) => return Err(unreachable(format!("{host} does not answer within {limit:?}"))),
            Ok(Err(error)) => return Err(unreachable(format!("{host} cannot be reached: {error}"))),
            Ok(Ok(stream)) => stream,
        };
        // A request is small, and its answer is waited for.
        let _ = stream.set_nodelay(true);
        if !is_tls {
            return speak(stream).await;
        }
        let trust = self.trust().map_err(unreachable)?;
        let secured = timeout(CONNECT, trust.connect(host, stream, &["http/1.1"])).await;
        let late = |_| unreachable(format!("{host} does not finish the TLS handshake within {CONNECT:?}"));
        let why = |why| unreachable(format!("{host} cannot be reached: {why}"));
        speak(secured.map_err(late)?.map_err(why)?).await
    }

    /// Returns the authorities that this machine trusts. They are read once, when they are first needed.
    fn trust(&self) -> Result<Trust, String> {
        let mut trust = self.shared.trust.lock();
        if let Some(trust) = &*trust {
            return Ok(trust.clone());
        }
        let read = Trust::from_files(None, None).map_err(|fault| fault.reason().to_owned())?;
        Ok(trust.insert(read).clone())
    }
}

async fn speak<T>(stream: T) -> Result<SendRequest<HttpRequestBody>, HttpError>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = http1::Builder::new().handshake(TokioIo::new(stream)).await;
    let (sender, connection) = handshake.map_err(|error| wrong(HttpErrorKind::Connect, error))?;
    // The reader of the response receives the error of a broken connection too.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

/// Returns the URL of a redirection, which may be relative.
fn joined(from: &Uri, location: &str) -> Option<Uri> {
    Url::parse(&from.to_string()).ok()?.join(location).ok()?.as_str().parse().ok()
}

fn wrong(kind: HttpErrorKind, error: impl std::error::Error + Send + Sync + 'static) -> HttpError {
    HttpError::new(kind, error)
}

fn refused(uri: &Uri, what: &str) -> HttpError {
    wrong(HttpErrorKind::Unknown, io::Error::other(format!("{} {what}", uri.host().unwrap_or("the URL"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirection_may_be_relative() {
        let from: Uri = "https://a.example/x/y.csv?z=1".parse().unwrap();
        for (location, expected) in [
            ("https://b.example/z", "https://b.example/z"),
            ("//b.example/z", "https://b.example/z"),
            ("/z", "https://a.example/z"),
            ("z?q=1", "https://a.example/x/z?q=1"),
            ("?page=2", "https://a.example/x/y.csv?page=2"),
            ("../z", "https://a.example/z"),
            ("/login?next=http://c.example/", "https://a.example/login?next=http://c.example/"),
        ] {
            assert_eq!(joined(&from, location).unwrap().to_string(), expected);
        }
    }
}
