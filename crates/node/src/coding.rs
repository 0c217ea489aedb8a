//! Compresses answers with gzip, for clients that accept it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use crate::body::Answer;
use crate::conditions::GZIP;
use crate::edge::{Edge, Peer};

/// The lengths of answers to compress, in bytes. Shorter answers are faster to send than to compress; longer answers
/// would keep a worker busy for seconds.
const LENGTHS: std::ops::Range<usize> = 1 << 10..64 << 20;

/// Returns whether a client accepts gzip: the header names `gzip` or `*`, with a quality other than 0.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let (mut named, mut any) = (None, None);
    for line in headers.get_all(header::ACCEPT_ENCODING) {
        for wish in line.to_str().unwrap_or_default().split(',') {
            let mut parts = wish.split(';').map(str::trim);
            let coding = parts.next().unwrap_or_default();
            let quality =
                parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0, |text| text.parse().unwrap_or(0.0));
            match coding.to_ascii_lowercase().as_str() {
                "gzip" | "x-gzip" => named = Some(quality > 0.0),
                "*" => any = Some(quality > 0.0),
                _ => {}
            }
        }
    }
    named.or(any).unwrap_or(false)
}

/// Compresses an answer if the client accepts gzip and the length of the answer is in [`LENGTHS`]. A worker compresses
/// the answer, because the thread of the network edge has other clients to serve.
pub(crate) async fn packed(
    edge: &Edge,
    peer: &Peer,
    asked: &HeaderMap,
    mut response: Response<Answer>,
) -> Response<Answer> {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_text = kind.starts_with("text/") && kind != "text/event-stream" || kind.starts_with("application/json");
    let Answer::Whole(Some(bytes)) = response.body() else { return response };
    if !is_text || response.status() != StatusCode::OK {
        return response;
    }
    let bytes = bytes.clone();
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !LENGTHS.contains(&bytes.len()) || asked.contains_key(header::RANGE) || !takes_gzip(asked) {
        return response;
    }
    let (done, packed) = tokio::sync::oneshot::channel();
    let _task = edge.host.spawn("gzip", async move {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let written = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        // If the client has gone, nothing waits for the result.
        let _ = done.send(written);
    });
    // If the node is stopping, or if a second copy of the answer would exceed a limit, the answer is sent uncompressed.
    let Ok(Ok(packed)) = packed.await else { return response };
    let Ok(packed) = edge.counted(peer, packed) else { return response };
    *response.body_mut() = Answer::whole(packed);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    // The bytes differ, so the tag must differ; it denotes the same version.
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()?.strip_suffix('"').map(str::to_owned));
    if let Some(tag) = tag.and_then(|tag| HeaderValue::try_from(format!("{tag}{GZIP}\"")).ok()) {
        headers.insert(header::ETAG, tag);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_for_who_takes_it() {
        let takes = |text: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(text))]))
        };
        assert!(["gzip", "br, GZIP;q=0.5", "*", "deflate, x-gzip"].into_iter().all(takes));
        assert!(!["", "br", "gzip;q=0", "*;q=0", "gzip;q=0, *", "identity"].into_iter().any(takes));
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
