//! Sends one request to an allowed host, follows redirects up to a limit, and passes the response on as it arrives.

use std::fmt;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use lehr_node::{TokioThread, Trust};
use lehr_services::{Code, Fault};
use lehr_sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::allowed::{Allowed, Target, without_secrets};

/// The limits of a transfer: its size, redirects, waiting time and attempts.
///
/// # Example
/// ```
/// use lehr_sources::Bounds;
/// assert_eq!(Bounds::default().redirects, 5);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The maximum size of a file, in bytes. Default: 4 GiB.
    pub bytes: u64,
    /// The maximum number of redirects that are followed. Default: 5.
    pub redirects: usize,
    /// The maximum time without any data from a host. Default: 60 s.
    pub silence: Duration,
    /// The maximum number of consecutive attempts that bring no new bytes. Default: 5.
    pub tries: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { bytes: 4 << 30, redirects: 5, silence: Duration::from_secs(60), tries: 5 }
    }
}

/// A client that sends requests to hosts: a thread, the allowed hosts and the trusted certificates. Clones share all of
/// these.
///
/// # Example
/// ```
/// use lehr_sources::{Allowed, Bounds, Getter};
/// let getter = Getter::new(Allowed::new(["data.example.org"])?, Bounds::default(), None)?;
/// assert!(format!("{getter:?}").contains("data.example.org"));
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone)]
pub struct Getter {
    shared: Arc<Shared>,
}

struct Shared {
    allowed: Arc<Allowed>,
    bounds: Bounds,
    trust: Option<Trust>,
    thread: TokioThread,
}

impl fmt::Debug for Getter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Getter").field("allowed", &self.shared.allowed).finish_non_exhaustive()
    }
}

/// A request.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransferRequest {
    pub(crate) url: String,
    /// The position of the first requested byte, and the validator of the version to which the earlier bytes belong.
    pub(crate) from: Option<(u64, String)>,
    /// What to post; without it, the request is a GET.
    pub(crate) post: Option<Post>,
}

/// The body of a POST.
#[derive(Clone, Debug)]
pub(crate) enum Post {
    /// A URL-encoded form.
    Form(String),
    /// JSON.
    Json(String),
}

/// The response: its status and headers, and the bytes as they arrive. Dropping the response ends the transfer.
pub(crate) struct Answered {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: mpsc::Receiver<Result<Bytes, String>>,
}

impl Getter {
    /// Creates a client that contacts only these hosts. The client trusts the given certificate authorities. Without
    /// `trust`, it trusts the authorities that the machine trusts, and looks these up when it connects.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if no thread can be started.
    ///
    /// # Example
    /// See [`Getter`].
    pub fn new(allowed: Allowed, bounds: Bounds, trust: Option<Trust>) -> Result<Self, Fault> {
        let scarce = |error| Fault::new(Code::InsufficientResources, format!("no thread for data sources: {error}"));
        let thread = TokioThread::start("lehr-sources").map_err(scarce)?;
        Ok(Self { shared: Arc::new(Shared { allowed: Arc::new(allowed), bounds, trust, thread }) })
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.shared.bounds
    }

    pub(crate) fn allowed(&self) -> &Allowed {
        &self.shared.allowed
    }

    /// Sends a request, and returns as soon as the head of the response has arrived.
    pub(crate) async fn ask(&self, asked: TransferRequest) -> Result<Answered, Fault> {
        let (allowed, bounds) = (self.shared.allowed.clone(), self.shared.bounds.clone());
        let trust = self.shared.trust.clone();
        let (answer, answered) = oneshot::channel();
        self.shared.thread.handle().spawn(async move {
            let mut answer = answer;
            let outcome = tokio::select! {
                outcome = follow(&allowed, &bounds, trust, asked) => outcome,
                () = answer.closed() => return,
            };
            match outcome {
                Err(fault) => drop(answer.send(Err(fault))),
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    // The channel holds a few pieces, so that reading may run ahead of writing.
                    let (sender, bytes) = mpsc::channel(4);
                    let head = Answered { status: parts.status, headers: parts.headers, bytes };
                    if answer.send(Ok(head)).is_ok() {
                        bring(body, &sender, bounds.silence).await;
                    }
                }
            }
        });
        let gone = || Fault::new(Code::ServiceStopping, "the data source is stopping");
        answered.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// Passes a body on until it ends, the receiver is dropped, or the host is silent for too long.
async fn bring(mut body: Incoming, sender: &mpsc::Sender<Result<Bytes, String>>, silence: Duration) {
    loop {
        let piece = tokio::select! {
            piece = timeout(silence, body.frame()) => piece,
            () = sender.closed() => return,
        };
        let piece = match piece {
            Err(_) => Err(format!("nothing has come for {silence:?}")),
            Ok(None) => return,
            Ok(Some(Err(error))) => Err(format!("the connection broke: {error}")),
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => Ok(data),
                // The frame holds trailers.
                Err(_) => continue,
            },
        };
        let is_last = piece.is_err();
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// Sends the request, and follows redirects.
async fn follow(
    allowed: &Allowed,
    bounds: &Bounds,
    trust: Option<Trust>,
    asked: TransferRequest,
) -> Result<Response<Incoming>, Fault> {
    let mut target = match allowed.is_object(&asked.url)? {
        // The server's address is the operator's, as the bucket is. Each attempt has a signature of its own.
        true => {
            let signed = lehr_stores::signed(&asked.url).await.map_err(|error| unsigned(&error))?;
            Target::of(&signed).map_err(|_| Fault::new(Code::InvalidValue, "the address of the S3 server is wrong"))?
        }
        false => allowed.target(&asked.url)?,
    };
    let mut redirections = 0;
    loop {
        let response = exchange(allowed, bounds, trust.as_ref(), &target, &asked).await?;
        if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
            return Ok(response);
        }
        let refuse =
            |what: &str| Fault::new(Code::PermissionDenied, format!("{} redirects {what}", target.authority()));
        let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
        let location =
            target.join(location.ok_or_else(|| refuse("to nowhere"))?).ok_or_else(|| refuse("to what is no URL"))?;
        redirections += 1;
        if redirections > bounds.redirects {
            return Err(refuse(&format!("more than {} times", bounds.redirects)));
        }
        if asked.post.is_some() {
            return Err(refuse("what was posted"));
        }
        let place = without_secrets(&location);
        let next = allowed.target(&location).map_err(|fault| refuse(&format!("to {place:?}")).caused_by(&fault))?;
        if target.is_tls && !next.is_tls {
            return Err(refuse("from TLS to no TLS"));
        }
        target = next;
    }
}

fn unsigned(error: &std::io::Error) -> Fault {
    // What a cloud does not answer now, it may answer later; a wrong URL stays wrong.
    let code = if error.kind() == std::io::ErrorKind::InvalidInput { Code::InvalidValue } else { Code::Unavailable };
    Fault::new(code, format!("the request cannot be signed for S3: {error}"))
}

fn unreachable(target: &Target, why: impl fmt::Display) -> Fault {
    Fault::new(Code::Unavailable, format!("{} cannot be reached: {why}", target.authority()))
}

/// Sends one request on its own connection.
async fn exchange(
    allowed: &Allowed,
    bounds: &Bounds,
    trust: Option<&Trust>,
    target: &Target,
    asked: &TransferRequest,
) -> Result<Response<Incoming>, Fault> {
    let exchanged = async {
        let bare = target.host.trim_start_matches('[').trim_end_matches(']');
        let found = lookup_host((bare, target.port)).await.map_err(|error| unreachable(target, error))?;
        // Connect to an address that was checked, because the name may resolve to another address a moment later.
        let addresses = allowed.reachable(&target.host, found)?;
        let stream = TcpStream::connect(addresses.as_slice()).await.map_err(|error| unreachable(target, error))?;
        let request = request(target, asked)?;
        if !target.is_tls {
            return speak(target, stream, request).await;
        }
        let machine;
        let trust = match trust {
            Some(trust) => trust,
            None => {
                machine = Trust::from_files(None, None)?;
                &machine
            }
        };
        let stream = trust.connect(&target.host, stream, &["http/1.1"]).await;
        speak(target, stream.map_err(|why| unreachable(target, why))?, request).await
    };
    let late = || unreachable(target, format!("nothing has come for {:?}", bounds.silence));
    timeout(bounds.silence, exchanged).await.unwrap_or_else(|_| Err(late()))
}

fn request(target: &Target, asked: &TransferRequest) -> Result<Request<Full<Bytes>>, Fault> {
    let bad = |what: &dyn fmt::Display| Fault::new(Code::InvalidValue, format!("this cannot be asked: {what}"));
    let (media_type, body) = match &asked.post {
        None => (None, ""),
        Some(Post::Form(form)) => (Some("application/x-www-form-urlencoded"), form.as_str()),
        Some(Post::Json(json)) => (Some("application/json"), json.as_str()),
    };
    let mut request = Request::new(Full::new(Bytes::from(body.to_owned())));
    *request.uri_mut() = target.path.parse().map_err(|error: hyper::http::uri::InvalidUri| bad(&error))?;
    let value = |text: &str| HeaderValue::try_from(text).map_err(|error| bad(&error));
    let headers = request.headers_mut();
    headers.insert(header::HOST, value(&target.authority())?);
    headers.insert(header::USER_AGENT, HeaderValue::from_static(concat!("lehr/", env!("CARGO_PKG_VERSION"))));
    headers.insert(header::ACCEPT, HeaderValue::from_static("*/*"));
    // A compressed file would have another length and checksum.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some((from, mark)) = &asked.from {
        headers.insert(header::RANGE, value(&format!("bytes={from}-"))?);
        headers.insert(header::IF_RANGE, value(mark)?);
    }
    if let Some(media_type) = media_type {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        *request.method_mut() = Method::POST;
    }
    Ok(request)
}

async fn speak<T>(target: &Target, stream: T, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Fault>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let handshake = http1::Builder::new().max_buf_size(64 << 10).handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| unreachable(target, error))?;
    // The error of a broken connection is dropped here, because the reader of the body receives it too.
    tokio::spawn(async move { drop(connection.await) });
    sender.send_request(request).await.map_err(|error| unreachable(target, error))
}
