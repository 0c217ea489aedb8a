//! Why an object cannot be read, in words: the library's errors repeat addresses and retries, and nest.

use std::error::Error;
use std::io;

/// The maximum number of characters of a store's own words.
const WORDS: usize = 300;

/// Returns the error for an object that cannot be read.
pub fn fault(error: &object_store::Error) -> io::Error {
    use object_store::Error as Of;
    let (kind, words) = match error {
        Of::NotFound { .. } => (io::ErrorKind::NotFound, "there is no such object".to_owned()),
        Of::PermissionDenied { .. } | Of::Unauthenticated { .. } => {
            let keys = "for S3, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            let words = format!("access is denied; check the credentials ({keys}): {}", words(error));
            (io::ErrorKind::PermissionDenied, words)
        }
        _ if innermost(error).contains("incorrectly configured region") => {
            (io::ErrorKind::Other, "the bucket is in another region; set AWS_REGION to it".to_owned())
        }
        _ => (io::ErrorKind::Other, words(error)),
    };
    io::Error::new(kind, words)
}

/// Returns the innermost reason, on one line and not too long.
fn words(error: &object_store::Error) -> String {
    let text = innermost(error);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Returns whether a store refuses a range, because the object is empty or because it sends only whole objects.
pub fn is_of_range(error: &object_store::Error) -> bool {
    let text = innermost(error);
    matches!(error, object_store::Error::NotSupported { .. })
        || text.contains("416 Range")
        || text.contains("non-partial")
}

fn innermost(error: &object_store::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
