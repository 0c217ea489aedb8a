//! Objects outside the file system: data that a URL names, such as `s3://bucket/points.parquet`.
//!
//! A path that begins with a scheme and `://` is such a URL. The readers open it as they open a file, so each format
//! and each option works for both. This crate has no network: the program [installs](install) a function that opens
//! objects (`lehr-stores`).

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::error::Error;

/// The bytes of an object, of which any range can be read.
///
/// # Example
/// ```
/// use std::io::{self, Read};
/// use std::ops::Range;
/// use lehr_data::object::Object;
/// #[derive(Debug)]
/// struct Constant(&'static [u8]);
/// impl Object for Constant {
///     fn bytes(&self) -> u64 {
///         self.0.len() as u64
///     }
///     fn read(&self, range: Range<u64>, _piece: usize) -> Box<dyn Read + Send> {
///         Box::new(&self.0[range.start as usize..range.end as usize])
///     }
/// }
/// assert_eq!(io::read_to_string(Constant(b"x,y\n1,2\n").read(4..7, 64))?, "1,2");
/// # Ok::<(), io::Error>(())
/// ```
pub trait Object: fmt::Debug + Send + Sync {
    /// Returns the length in bytes.
    fn bytes(&self) -> u64;

    /// Returns a reader of a range. It requests about `piece` bytes at a time, and may request some pieces before they
    /// are read. All ranges belong to one version of the object: if it changes, reading fails.
    fn read(&self, range: Range<u64>, piece: usize) -> Box<dyn Read + Send>;
}

/// A function that opens the object of a URL.
pub type Opener = fn(url: &str) -> io::Result<Arc<dyn Object>>;

static OPENER: OnceLock<Opener> = OnceLock::new();

/// Sets the function that opens objects for all readers of this process. The first call wins; later calls change
/// nothing.
///
/// # Example
/// ```
/// use std::io;
/// lehr_data::object::install(|url| Err(io::Error::other(format!("no store has {url}"))));
/// let error = lehr_data::read::points("s3://b/x.csv".as_ref(), &Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "s3://b/x.csv: cannot be opened: no store has s3://b/x.csv");
/// ```
pub fn install(opener: Opener) {
    // A second program part that installs the same function loses nothing.
    let _ = OPENER.set(opener);
}

/// Returns the text of a path that is a URL. A scheme has at least two letters, so `C://x` is a file.
///
/// # Example
/// ```
/// use lehr_data::object::url;
/// assert_eq!(url("s3://bucket/points.csv".as_ref()), Some("s3://bucket/points.csv"));
/// assert_eq!(url("HTTPS://host/points.csv".as_ref()), Some("HTTPS://host/points.csv"));
/// assert_eq!(url("points.csv".as_ref()), None);
/// ```
pub fn url(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(text)
}

/// Returns the name of a file or an object for messages and results. Of a URL, it leaves out everything before an `@`
/// in the host, which often has a key. It leaves out the query and the fragment only of `http` and `https` URLs. The
/// name's ending tells the format.
///
/// # Example
/// ```
/// use lehr_data::object::shown;
/// assert_eq!(shown("https://me:word@host/x.csv?signature=1#a".as_ref()), "https://host/x.csv");
/// assert_eq!(shown("s3://bucket/a b.csv".as_ref()), "s3://bucket/a b.csv");
/// assert_eq!(shown("what?.csv".as_ref()), "what?.csv");
/// ```
pub fn shown(path: &Path) -> String {
    let Some(text) = url(path) else { return path.display().to_string() };
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let rest = if is_web(scheme) { rest.split(['?', '#']).next().unwrap_or_default() } else { rest };
    let (host, place) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{place}")
}

/// Returns whether URLs of a scheme have queries. The key of an object in S3 may have a question mark.
fn is_web(scheme: &str) -> bool {
    ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web))
}

/// Returns whether there is a regular file or an object. An object takes a request.
///
/// # Errors
/// Returns [`Error::Open`] if a server does not tell whether it has the object. If this counted as absence, the weights
/// beside a matrix might be lost.
pub fn exists(path: &Path) -> Result<bool, Error> {
    if url(path).is_none() {
        return Ok(path.is_file());
    }
    match Opened::open(path) {
        Ok(_) => Ok(true),
        Err(Error::Open { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Refuses a URL with a query. Data in several files have URLs without queries, because a query belongs to one file.
pub(crate) fn refuse_query(path: &Path) -> Result<(), Error> {
    match url(path) {
        Some(url) if shown(path) != url => {
            let cause = io::Error::other("dissimilarities have files beside them; give a URL without a query");
            Err(Error::Open { path: shown(path), cause })
        }
        _ => Ok(()),
    }
}

/// Returns whether a reader may open the path several times: it is a regular file or the URL of an object.
pub fn is_lasting(path: &Path) -> bool {
    url(path).is_some() || std::fs::metadata(path).is_ok_and(|about| about.is_file())
}

/// An open file or object, at whose bytes several readers may look.
#[derive(Clone, Debug)]
pub struct Opened {
    bytes: Bytes,
}

#[derive(Clone, Debug)]
enum Bytes {
    File(Arc<File>),
    Object(Arc<dyn Object>),
}

impl From<File> for Opened {
    fn from(file: File) -> Self {
        Self { bytes: Bytes::File(Arc::new(file)) }
    }
}

impl Opened {
    /// Opens a file that is not a folder, or the object of a URL.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |cause| Error::Open { path: shown(path), cause };
        if let Some(url) = url(path) {
            let opener = OPENER.get().ok_or_else(|| failed(io::Error::other("this program reads files only")))?;
            return opener(url).map(|object| Self { bytes: Bytes::Object(object) }).map_err(failed);
        }
        if std::fs::metadata(path).map_err(failed)?.is_dir() {
            return Err(Error::Directory { path: path.display().to_string() });
        }
        File::open(path).map(Self::from).map_err(failed)
    }

    /// Returns the length, unless the file is a pipe or a device.
    pub(crate) fn length(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::File(file) => file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len()),
            Bytes::Object(object) => Some(object.bytes()),
        }
    }

    /// Returns a reader of all bytes. Only one reader of a file may be used at a time, because they share its position.
    pub(crate) fn whole(&self, piece: usize) -> Box<dyn Read + Send> {
        match &self.bytes {
            Bytes::File(file) => Box::new(Shared(Arc::clone(file))),
            Bytes::Object(object) => object.read(0..object.bytes(), piece),
        }
    }

    /// Returns a reader of a range. The reader ends where the bytes end. You may use several readers alternately, from
    /// one thread at a time.
    pub(crate) fn range(&self, range: Range<u64>, piece: usize) -> Box<dyn Read + Send> {
        // A damaged file may name a range that it does not have.
        let end = self.length().map_or(range.end, |length| length.min(range.end));
        let range = range.start.min(end)..end;
        match &self.bytes {
            Bytes::File(file) => {
                Box::new(At { file: Arc::clone(file), place: range.start }.take(range.end.saturating_sub(range.start)))
            }
            Bytes::Object(object) => object.read(range, piece),
        }
    }
}

/// A reader that moves the position of a file.
struct Shared(Arc<File>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

/// A reader with its own offset into a shared file. It seeks before each read, because the file has only one position.
struct At {
    file: Arc<File>,
    place: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.place))?;
        let read = file.read(buffer)?;
        self.place += read as u64;
        Ok(read)
    }
}
