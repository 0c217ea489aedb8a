//! HTTP answers: pages, documents, streams of events.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use lehr_services::Format;
use serde_json::Value;
use tokio::sync::mpsc::Receiver;

use crate::body::Answer;
use crate::edge::{Edge, Peer};
use crate::refusal::Refused;

/// Returns a response with a body of this type.
pub(crate) fn response(status: StatusCode, media_type: &'static str, body: Answer) -> Response<Answer> {
    let has_content = !matches!(body, Answer::Whole(None));
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if has_content {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Returns the answer that lists the allowed methods.
pub(crate) fn methods(allow: &str) -> Response<Answer> {
    let mut response = response(StatusCode::NO_CONTENT, Format::Json.media_type(), Answer::Whole(None));
    response.headers_mut().insert(header::ALLOW, HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("")));
    response
}

/// Returns a page of the node itself.
pub(crate) fn page(
    edge: &Edge,
    peer: &Peer,
    media_type: &'static str,
    text: String,
) -> Result<Response<Answer>, Refused> {
    Ok(response(StatusCode::OK, media_type, Answer::whole(edge.counted(peer, text.into_bytes())?)))
}

/// Returns a document as JSON.
pub(crate) fn document(edge: &Edge, peer: &Peer, value: &Value) -> Result<Response<Answer>, Refused> {
    page(edge, peer, Format::Json.media_type(), value.to_string())
}

/// Returns an answer that streams events.
pub(crate) fn event_stream(events: Receiver<Bytes>) -> Response<Answer> {
    let mut response = response(StatusCode::OK, "text/event-stream", Answer::Events(events));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // By default, nginx buffers an answer until it has some kilobytes.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
