//! Ranges of answers (RFC 9110, section 14), with which a client continues an interrupted download.

use std::ops::Range;

use hyper::StatusCode;
use hyper::header::{self, HeaderMap, HeaderValue};

use crate::body::Answer;

/// The part of an answer that a client requests.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// The whole answer, because the request asks for it, or because its range cannot be read.
    Whole,
    Part(Range<usize>),
    /// A part that does not exist.
    Nothing,
}

fn wanted(text: &str, length: usize) -> Wanted {
    // Several ranges would need a multipart answer; a server may answer with the whole instead.
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.trim().split_once('-')) else {
        return Wanted::Whole;
    };
    match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first > last => Wanted::Whole,
        (Ok(first), _) if first >= length && (last.is_empty() || last.parse::<usize>().is_ok()) => Wanted::Nothing,
        (Ok(first), Ok(last)) => Wanted::Part(first..last.saturating_add(1).min(length)),
        (Ok(first), Err(_)) if last.is_empty() => Wanted::Part(first..length),
        (Err(_), Ok(0)) if first.is_empty() => Wanted::Nothing,
        (Err(_), Ok(count)) if first.is_empty() => Wanted::Part(length.saturating_sub(count)..length),
        _ => Wanted::Whole,
    }
}

/// Cuts an answer to the range that the request asks for.
pub(crate) fn cut(asked: &HeaderMap, mut response: hyper::Response<Answer>) -> hyper::Response<Answer> {
    if response.status() != StatusCode::OK {
        return response;
    }
    let Answer::Whole(Some(bytes)) = response.body() else { return response };
    let bytes = bytes.clone();
    response.headers_mut().insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let Some(range) = asked.get(header::RANGE).and_then(|range| range.to_str().ok()) else { return response };
    // Parts of two versions do not fit together.
    if asked.get(header::IF_RANGE).is_some_and(|tag| response.headers().get(header::ETAG) != Some(tag)) {
        return response;
    }
    let length = bytes.len();
    let (status, part, place) = match wanted(range, length) {
        Wanted::Whole => return response,
        Wanted::Part(part) => {
            let place = format!("bytes {}-{}/{length}", part.start, part.end - 1);
            (StatusCode::PARTIAL_CONTENT, Answer::Whole(Some(bytes.slice(part))), place)
        }
        Wanted::Nothing => (StatusCode::RANGE_NOT_SATISFIABLE, Answer::Whole(None), format!("bytes */{length}")),
    };
    *response.status_mut() = status;
    *response.body_mut() = part;
    if let Ok(place) = HeaderValue::try_from(place) {
        response.headers_mut().insert(header::CONTENT_RANGE, place);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_the_part_that_is_there() {
        let part = |range| Wanted::Part(range);
        assert_eq!(wanted("bytes=0-4", 10), part(0..5));
        assert_eq!(wanted("bytes=5-", 10), part(5..10));
        assert_eq!(wanted("bytes=5-99", 10), part(5..10));
        assert_eq!(wanted("bytes=-3", 10), part(7..10));
        assert_eq!(wanted("bytes=-30", 10), part(0..10));
        assert_eq!(
            ["bytes=10-", "bytes=10-12", "bytes=-0"].map(|text| wanted(text, 10)),
            [Wanted::Nothing, Wanted::Nothing, Wanted::Nothing]
        );
        for whole in ["lines=1-2", "bytes=4-2", "bytes=1-2,4-5", "bytes=-", "bytes=a-b", "bytes=5-b", ""] {
            assert_eq!(wanted(whole, 10), Wanted::Whole, "{whole}");
        }
    }
}
