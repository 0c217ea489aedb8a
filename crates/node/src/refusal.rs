//! Answers to refused requests: a fault, its status, and alternatives for the client.

use std::time::Duration;

use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use lehr_services::{Code, Fault};
use serde_json::{Value, json};

use crate::body::Answer;
use crate::encode::{problem, status};
use crate::response::response;

/// A fault with its status, which may differ from the usual status of the fault's code.
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) fault: Fault,
    pub(crate) allow: Option<String>,
    /// The services that the client may see instead.
    pub(crate) services: Option<Vec<String>>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        let status = StatusCode::from_u16(status(fault.code())).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, fault, allow: None, services: None }
    }
}

impl Refused {
    pub(crate) fn with(status: StatusCode, fault: Fault) -> Self {
        Self { status, ..Self::from(fault) }
    }
}

pub(crate) fn refuse(refused: Refused) -> Response<Answer> {
    let mut body = problem(&refused.fault, refused.status);
    if let Some(services) = refused.services
        && let Ok(Value::Object(mut document)) = serde_json::from_slice(&body)
    {
        document.insert("services".to_owned(), json!(services));
        body = Value::Object(document).to_string().into_bytes();
    }
    let mut response = response(refused.status, "application/problem+json", Answer::whole(body));
    let headers = response.headers_mut();
    if let Some(after) = refused.fault.retry_hint() {
        // The header has whole seconds, rounded up.
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_millis().div_ceil(1000).max(1) as u64));
    } else if matches!(refused.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(1));
    }
    if let Some(allow) = refused.allow {
        headers.insert(header::ALLOW, HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("")));
    }
    if refused.status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lehr\""));
    }
    response
}

/// Returns the fault for requests that arrive while the services are ending.
pub(crate) fn stopping() -> Fault {
    Fault::new(Code::ServiceStopping, "the node is stopping").retry_after(Duration::from_secs(1))
}
