//! Opens the object of a URL.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use lehr_data::object::{Object, install as install_opener};
use lehr_node::TokioThread;
use lehr_sync::{Arc, Mutex, OnceLock};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{BackoffConfig, Error, GetOptions, GetRange, ObjectStore, RetryConfig};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use crate::environment::has_credentials;
use crate::fault::{fault, is_of_range};
use crate::http::Http;
use crate::pieces::{Source, Stored, Version, changed, collected};

/// The number of bytes that the first request asks for. They are kept, because a reader looks at the first bytes
/// several times.
const HEAD: u64 = 64 * 1024;
/// The maximum number of pieces that are on their way. A table of a thousand columns would otherwise open as many
/// connections.
const REQUESTS: usize = 16;
/// The time for which a signed URL can be used.
const SIGNED: Duration = Duration::from_secs(60 * 60);

/// Which versions of an object the openings of one process may see.
///
/// # Example
/// See [`install`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Each opening sees the version of its time. This is for a process that lives long.
    Latest,
    /// All openings see the version of the first one, or fail. This is for a program that reads its data in several
    /// passes.
    First,
}

/// Lets all readers of `lehr-data` in this process take the URL of an object for a path.
///
/// # Example
/// ```
/// lehr_stores::install(lehr_stores::Versions::Latest);
/// let error = lehr_data::read::points("ftp://host/x.csv".as_ref(), &Default::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "ftp://host/x.csv: cannot be opened: expected a URL that begins with s3://, https:// or http://"
/// );
/// ```
pub fn install(versions: Versions) {
    install_opener(match versions {
        Versions::Latest => open,
        Versions::First => open_first,
    });
}

/// Opens an object: `s3://bucket/key`, `https://…` or `http://…`. Asks for its first 64 KiB. Blocks the calling thread.
///
/// If the server of a URL sends only whole files, the object can be read only from its beginning to its end.
///
/// # Errors
/// Returns an error if the URL has another form, or if the object does not exist or cannot be reached.
///
/// # Example
/// ```no_run
/// let object = lehr_stores::open("s3://bucket/places.parquet")?;
/// println!("{} bytes", object.bytes());
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn open(url: &str) -> io::Result<Arc<dyn Object>> {
    Ok(Arc::new(stored(client()?, url)?))
}

/// Like [`open`], but refuses another version than that of the first opening.
fn open_first(url: &str) -> io::Result<Arc<dyn Object>> {
    let client = client()?;
    let stored = stored(client, url)?;
    let mut versions = client.versions.lock();
    let first = versions.entry(url.to_owned()).or_insert_with(|| stored.version.clone());
    if *first == stored.version { Ok(Arc::new(stored)) } else { Err(changed()) }
}

fn stored(client: &Client, url: &str) -> io::Result<Stored> {
    let (answer, answered) = tokio::sync::oneshot::channel();
    let opening =
        Opening { http: client.http.clone(), handle: client.thread.handle().clone(), limit: client.limit.clone() };
    let url = url.to_owned();
    client.thread.handle().spawn(async move { answer.send(opening.find(&url).await) });
    answered.blocking_recv().map_err(|_| io::Error::other("the thread of the stores has ended"))?
}

/// The thread and the connections of all objects of this process, and the versions of those that were opened.
struct Client {
    process: u32,
    thread: TokioThread,
    http: Http,
    /// Limits the pieces that are on their way.
    limit: Arc<Semaphore>,
    versions: Mutex<HashMap<String, Version>>,
}

/// Returns the client of this process. It is made when it is first needed, and lives as long as the process. A forked
/// process has none of its parent's threads, so it gets a client of its own.
fn client() -> io::Result<&'static Client> {
    static CURRENT: OnceLock<Mutex<Option<&'static Client>>> = OnceLock::new();
    let mut current = CURRENT.get_or_init(Mutex::default).lock();
    let process = std::process::id();
    if let Some(client) = current.filter(|client| client.process == process) {
        return Ok(client);
    }
    let thread = TokioThread::start("lehr-stores")?;
    let limit = Arc::new(Semaphore::new(REQUESTS));
    let client = Client { process, thread, http: Http::default(), limit, versions: Mutex::default() };
    Ok(current.insert(Box::leak(Box::new(client))))
}

/// The parts of a client that an opening needs.
struct Opening {
    http: Http,
    handle: Handle,
    limit: Arc<Semaphore>,
}

impl Opening {
    async fn find(&self, url: &str) -> io::Result<Stored> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        match &*scheme.to_ascii_lowercase() {
            "s3" => self.find_in_s3(rest).await,
            scheme @ ("https" | "http") => {
                let url = format!("{scheme}://{rest}");
                let builder = HttpBuilder::new().with_url(url).with_retry(retry());
                let store = builder.with_http_connector(self.http.clone()).build().map_err(|error| fault(&error))?;
                self.begin(Arc::new(store), &Path::default()).await.map_err(|error| fault(&error))
            }
            _ => Err(io::Error::other("expected a URL that begins with s3://, https:// or http://")),
        }
    }

    async fn find_in_s3(&self, place: &str) -> io::Result<Stored> {
        let (bucket, path) = bucket_and_path(place)?;
        let is_signed = has_credentials();
        let store = Arc::new(s3(bucket, &self.http, is_signed)?);
        match self.begin(store, &path).await {
            Err(error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) if !is_signed => {
                // The bucket is not public. The machine may have a role that may read it.
                self.begin(Arc::new(s3(bucket, &self.http, true)?), &path).await.map_err(|_| fault(&error))
            }
            other => other.map_err(|error| fault(&error)),
        }
    }

    /// Requests the first bytes of an object, which also tells its length and its version.
    async fn begin(&self, store: Arc<dyn ObjectStore>, path: &Path) -> Result<Stored, Error> {
        let options = GetOptions { range: Some(GetRange::Bounded(0..HEAD)), ..GetOptions::default() };
        let (version, head, has_ranges) = match store.get_opts(path, options).await {
            Ok(got) => (Version::of(&got.meta), collected(got).await?, true),
            Err(error) if is_of_range(&error) => {
                let got = store.get_opts(path, GetOptions::default()).await?;
                (Version::of(&got.meta), Bytes::new(), false)
            }
            Err(error) => return Err(error),
        };
        let (handle, limit) = (self.handle.clone(), self.limit.clone());
        Ok(Stored { source: Source { store, path: path.clone(), limit }, handle, version, head, has_ranges })
    }
}

/// Returns a URL of an object in S3, with a signature that lasts for an hour. Who has the URL can read the object.
///
/// # Errors
/// Returns an error if the URL is not of the form `s3://bucket/key`, or if there are no credentials.
///
/// # Example
/// ```
/// use tokio::runtime::Builder;
/// let runtime = Builder::new_current_thread().build()?;
/// let error = runtime.block_on(lehr_stores::signed("s3://bucket")).unwrap_err();
/// assert_eq!(error.to_string(), "expected s3://BUCKET/KEY, a bucket and the name of an object");
/// # Ok::<(), std::io::Error>(())
/// ```
pub async fn signed(url: &str) -> io::Result<String> {
    let place = url.strip_prefix("s3://").unwrap_or_default();
    let (bucket, path) = bucket_and_path(place)?;
    let client = client()?;
    let store = s3(bucket, &client.http, true)?;
    // The role of a machine is found over HTTP, which takes the thread of the stores.
    let signing = client.thread.handle().spawn(async move { store.signed_url(Method::GET, &path, SIGNED).await });
    let signed = signing.await.map_err(io::Error::other)?;
    signed.map(|url| url.to_string()).map_err(|error| fault(&error))
}

fn bucket_and_path(place: &str) -> io::Result<(&str, Path)> {
    let (bucket, key) = place
        .split_once('/')
        .filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty())
        .ok_or_else(|| invalid("expected s3://BUCKET/KEY, a bucket and the name of an object".to_owned()))?;
    Ok((bucket, Path::parse(key).map_err(|error| invalid(error.to_string()))?))
}

/// Returns the error for a URL of a wrong form.
fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

fn s3(bucket: &str, http: &Http, is_signed: bool) -> io::Result<AmazonS3> {
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
    let builder = if is_signed { builder } else { builder.with_skip_signature(true) };
    builder.with_allow_http(true).with_http_connector(http.clone()).build().map_err(|error| fault(&error))
}

/// Returns how failed requests are repeated: four times, with pauses of up to five seconds.
fn retry() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(200), max_backoff: Duration::from_secs(5), base: 2.0 };
    RetryConfig { backoff, max_retries: 4, retry_timeout: Duration::from_secs(120) }
}
