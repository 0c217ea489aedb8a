//! Opens the object of a URL.

use std::io;
use std::time::Duration;

use hyper::Method;
use hyper::body::Bytes;
use lehr_data::object::{Object, install as install_opener};
use lehr_node::TokioThread;
use lehr_sync::{Arc, OnceLock};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{BackoffConfig, Error, GetOptions, GetRange, ObjectStore, RetryConfig};
use tokio::runtime::Handle;

use crate::environment::has_credentials;
use crate::fault::fault;
use crate::http::Http;
use crate::pieces::{Stored, Version, collected};

/// The number of bytes that the first request asks for. They are kept, because a reader looks at the first bytes
/// several times.
const HEAD: u64 = 64 * 1024;
/// The beginning of the URL of an object in S3.
const S3: &str = "s3://";
/// The time for which a signed URL can be used.
const SIGNED: Duration = Duration::from_secs(60 * 60);

/// Lets all readers of `lehr-data` in this process take the URL of an object for a path.
///
/// # Example
/// ```
/// lehr_stores::install();
/// let error = lehr_data::read::points("ftp://host/x.csv".as_ref(), &Default::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "ftp://host/x.csv: cannot be opened: expected a URL that begins with s3://, https:// or http://"
/// );
/// ```
pub fn install() {
    install_opener(open);
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
    let client = client()?;
    let (answer, answered) = tokio::sync::oneshot::channel();
    let (handle, http) = (client.thread.handle().clone(), client.http.clone());
    let url = url.to_owned();
    client.thread.handle().spawn(async move { answer.send(find(&url, &http, handle).await) });
    let stored = answered.blocking_recv().map_err(|_| io::Error::other("the thread of the stores has ended"))??;
    Ok(Arc::new(stored))
}

/// The thread and the connections of all objects of this process.
struct Client {
    thread: TokioThread,
    http: Http,
}

/// Starts the thread of the stores when it is first needed. It lives as long as the process.
fn client() -> io::Result<&'static Client> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    let thread = TokioThread::start("lehr-stores")?;
    Ok(CLIENT.get_or_init(|| Client { thread, http: Http::default() }))
}

async fn find(url: &str, http: &Http, handle: Handle) -> io::Result<Stored> {
    if url.starts_with(S3) {
        let (bucket, path) = bucket_and_path(url)?;
        let is_signed = has_credentials();
        let store = Arc::new(s3(bucket, http, is_signed)?);
        let first = begin(store, &path, &handle).await;
        return match first {
            Err(error @ (Error::PermissionDenied { .. } | Error::Unauthenticated { .. })) if !is_signed => {
                // The bucket is not public. The machine may have a role that may read it.
                begin(Arc::new(s3(bucket, http, true)?), &path, &handle).await.map_err(|_| fault(&error))
            }
            other => other.map_err(|error| fault(&error)),
        };
    }
    if url.starts_with("https://") || url.starts_with("http://") {
        let builder = HttpBuilder::new().with_url(url).with_retry(retry()).with_http_connector(http.clone());
        let store = Arc::new(builder.build().map_err(|error| fault(&error))?);
        return begin(store, &Path::default(), &handle).await.map_err(|error| fault(&error));
    }
    Err(io::Error::other("expected a URL that begins with s3://, https:// or http://"))
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
    let (bucket, path) = bucket_and_path(url)?;
    let client = client()?;
    let store = s3(bucket, &client.http, true)?;
    // The role of a machine is found over HTTP, which takes the thread of the stores.
    let signing = client.thread.handle().spawn(async move { store.signed_url(Method::GET, &path, SIGNED).await });
    let signed = signing.await.map_err(io::Error::other)?;
    signed.map(|url| url.to_string()).map_err(|error| fault(&error))
}

fn bucket_and_path(url: &str) -> io::Result<(&str, Path)> {
    let parts = url.strip_prefix(S3).and_then(|rest| rest.split_once('/'));
    let (bucket, key) = parts
        .filter(|(bucket, key)| !bucket.is_empty() && !key.is_empty())
        .ok_or_else(|| io::Error::other("expected s3://BUCKET/KEY, a bucket and the name of an object"))?;
    Ok((bucket, Path::parse(key).map_err(io::Error::other)?))
}

fn s3(bucket: &str, http: &Http, is_signed: bool) -> io::Result<AmazonS3> {
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry());
    let builder = if is_signed { builder } else { builder.with_skip_signature(true) };
    builder.with_allow_http(true).with_http_connector(http.clone()).build().map_err(|error| fault(&error))
}

/// Requests the first bytes of an object, which also tells its length and its version.
async fn begin(store: Arc<dyn ObjectStore>, path: &Path, handle: &Handle) -> Result<Stored, Error> {
    let options = GetOptions { range: Some(GetRange::Bounded(0..HEAD)), ..GetOptions::default() };
    let made = |version, head, has_ranges| Stored {
        store: store.clone(),
        path: path.clone(),
        handle: handle.clone(),
        version,
        head,
        has_ranges,
    };
    match store.get_opts(path, options).await {
        Ok(got) => {
            let version = Version::of(&got.meta);
            Ok(made(version, collected(got).await?, true))
        }
        Err(error @ (Error::Generic { .. } | Error::NotSupported { .. })) => {
            // An empty object has no first byte, and some servers send only whole files.
            let Ok(got) = store.get_opts(path, GetOptions::default()).await else { return Err(error) };
            Ok(made(Version::of(&got.meta), Bytes::new(), false))
        }
        Err(error) => Err(error),
    }
}

/// Returns how failed requests are repeated: five times within some seconds.
fn retry() -> RetryConfig {
    let backoff =
        BackoffConfig { init_backoff: Duration::from_millis(200), max_backoff: Duration::from_secs(5), base: 2.0 };
    RetryConfig { backoff, max_retries: 5, retry_timeout: Duration::from_secs(60) }
}
