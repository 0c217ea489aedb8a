//! Reads bodies of requests up to their limit, and skips the bodies of refused requests.

use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::{Request, StatusCode, header};
use lehr_services::{Code, Fault};
use tokio::time::timeout;

use crate::edge::Edge;
use crate::refusal::Refused;

/// Reads a body, up to the size limit of the node.
pub(crate) async fn read(edge: &Edge, body: &mut Incoming) -> Result<Vec<u8>, Refused> {
    let limits = edge.limits();
    let too_large = || Fault::new(Code::TooLarge, format!("a body has at most {} bytes here", limits.body_bytes));
    if hyper::body::Body::size_hint(body).lower() > limits.body_bytes as u64 {
        return Err(too_large().into());
    }
    match timeout(limits.body_time, Limited::new(body, limits.body_bytes).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large().into()),
        Ok(Err(_)) => {
            let fault = Fault::new(Code::MessageNotSupported, "the body ended too early");
            Err(Refused::with(StatusCode::BAD_REQUEST, fault))
        }
        Err(_) => {
            let fault = Fault::new(Code::ResponseTimeout, format!("the body took longer than {:?}", limits.body_time));
            Err(Refused::with(StatusCode::REQUEST_TIMEOUT, fault))
        }
    }
}

/// The time limit for reading the rest of a body whose request was refused.
const PASS_OVER_TIME: Duration = Duration::from_secs(5);

/// Reads and discards the rest of a body, up to the limit. Many clients read the answer only after they have sent
/// everything, and report an error if the stream closes earlier. A client that sent `Expect` waits for the answer, so
/// nothing is read.
pub(crate) async fn pass_over(edge: &Edge, request: &Request<()>, body: &mut Incoming) {
    if hyper::body::Body::is_end_stream(body) || request.headers().contains_key(header::EXPECT) {
        return;
    }
    let mut left = edge.limits().body_bytes;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            match left.checked_sub(frame.data_ref().map_or(0, Bytes::len)) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = timeout(PASS_OVER_TIME, reading).await;
}
