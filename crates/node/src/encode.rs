//! Encodes faults and documents for the wire: statuses, problem documents, media types, tags of versions.

use hyper::StatusCode;
use hyper::header::HeaderMap;
use lehr_services::{Code, Fault, Format, OperationDescription};
use serde_json::{Map, Value};

use crate::form::boundary;

/// The status of a fault. One table, for the edge and for its documentation.
///
/// # Example
/// ```
/// use lehr_services::Code;
/// assert_eq!(lehr_node::status(Code::UnknownEntry), 404);
/// assert_eq!(lehr_node::status(Code::QueuingLimitExceeded), 429);
/// ```
pub fn status(code: Code) -> u16 {
    match code {
        Code::ActionNotSupported => 405,
        Code::MessageNotSupported => 400,
        Code::ContractMismatch | Code::DuplicateEntry => 409,
        Code::UnknownEntry | Code::UnknownService => 404,
        Code::InvalidValue => 422,
        Code::PreconditionFailed => 412,
        Code::TooLarge => 413,
        Code::InsufficientResources => 507,
        Code::Unauthenticated => 401,
        Code::PermissionDenied => 403,
        Code::QueuingLimitExceeded => 429,
        Code::ResponseTimeout => 504,
        Code::WouldDeadlock => 508,
        Code::StaleReference => 410,
        Code::OperationCancelled | Code::ServiceStopping | Code::Unavailable | Code::StartFailed => 503,
        // What is added later is a failure until it has a line here.
        _ => 500,
    }
}

/// A fault as a problem document, RFC 9457.
pub(crate) fn problem(fault: &Fault, status: StatusCode) -> Vec<u8> {
    let mut document = match serde_json::to_value(fault) {
        Ok(Value::Object(document)) => document,
        _ => Map::new(),
    };
    let reason = document.remove("reason").unwrap_or(Value::Null);
    document.insert("detail".to_owned(), reason);
    document.insert("type".to_owned(), Value::from(format!("urn:lehr:fault:{}", fault.code())));
    document.insert("title".to_owned(), Value::from(fault.code().as_str().replace('_', " ")));
    document.insert("status".to_owned(), Value::from(status.as_u16()));
    Value::Object(document).to_string().into_bytes()
}

/// The fault of a problem document. One of another program's is an answer that says nothing but its status.
pub(crate) fn fault(status: StatusCode, body: &[u8]) -> Fault {
    let document = serde_json::from_slice::<Map<String, Value>>(body).ok().and_then(|mut document| {
        let detail = document.remove("detail")?;
        document.insert("reason".to_owned(), detail);
        serde_json::from_value(Value::Object(document)).ok()
    });
    document.unwrap_or_else(|| {
        let code = match status.as_u16() {
            // Nothing that speaks as a node does has understood it.
            400 => Code::Unavailable,
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            404 => Code::UnknownService,
            413 => Code::TooLarge,
            429 => Code::QueuingLimitExceeded,
            502..=504 => Code::Unavailable,
            _ => Code::OperationFailed,
        };
        // Proxies answer with pages, and a node that speaks TLS with a line to who does not.
        let text = std::str::from_utf8(body).ok().filter(|text| text.len() < 300 && !text.contains('<'));
        let why = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("without saying why");
        Fault::new(code, format!("the node answered {status}: {why}"))
    })
}

/// The body of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A document in one of the forms.
    Document(Format),
    /// Bytes of this media type, which the operation takes as they are.
    Bytes(String),
    /// A form with a file of such bytes, by its boundary.
    Form(String),
}

/// The format of the body of a request for an operation.
///
/// # Errors
/// The status 415, as a fault, for a form that is not known, and for one that is packed.
pub(crate) fn sent_as(headers: &HeaderMap, operation: Option<&OperationDescription>) -> Result<Sent, Fault> {
    let raw = operation.map_or(&[][..], |operation| operation.raw.as_slice());
    let refuse = |what: &str| {
        let others: String = raw.iter().map(|media_type| format!(", {media_type}")).collect();
        let reason = format!("{what}; expected application/json or application/msgpack{others}");
        Err(Fault::new(Code::MessageNotSupported, reason))
    };
    if headers.get(hyper::header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return refuse("packed bodies are not accepted");
    }
    let Some(value) = headers.get(hyper::header::CONTENT_TYPE) else { return Ok(Sent::Document(Format::Json)) };
    let text = value.to_str().unwrap_or("\u{fffd}");
    match essence(text) {
        "application/json" | "" => Ok(Sent::Document(Format::Json)),
        // What curl calls any text that it sends, unless told otherwise. Where files are taken too, it may well be one.
        "application/x-www-form-urlencoded" if raw.is_empty() => Ok(Sent::Document(Format::Json)),
        "application/msgpack" | "application/x-msgpack" | "application/vnd.msgpack" => {
            Ok(Sent::Document(Format::MessagePack))
        }
        _ if !raw.is_empty() && boundary(text).is_some() => {
            Ok(Sent::Form(boundary(text).unwrap_or_default().to_owned()))
        }
        other => match raw.iter().find(|media_type| media_type.eq_ignore_ascii_case(other)) {
            Some(media_type) => Ok(Sent::Bytes(media_type.clone())),
            None => refuse(&format!("the body is {text:?}")),
        },
    }
}

/// A media type without its parameters.
fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

/// The format of the answer: the first known one that the client takes, in its order of preference.
///
/// # Errors
/// The status 406, as a fault, if it takes none that is known.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<Format, Fault> {
    let Some(value) = headers.get(hyper::header::ACCEPT) else { return Ok(Format::Json) };
    let format = preferred(headers, |media_type| match media_type {
        "application/json" | "application/*" | "*/*" | "text/html" => Some(Format::Json),
        "application/msgpack" | "application/x-msgpack" | "application/vnd.msgpack" => Some(Format::MessagePack),
        _ => None,
    });
    format.ok_or_else(|| {
        let text = value.to_str().unwrap_or_default();
        let reason = format!("no answer in {text:?}: expected application/json or application/msgpack");
        Fault::new(Code::MessageNotSupported, reason)
    })
}

/// The form that a client prefers among those that `known` finds by their media types: of equals the first.
pub(crate) fn preferred<T>(headers: &HeaderMap, known: impl Fn(&str) -> Option<T>) -> Option<T> {
    let text = headers.get(hyper::header::ACCEPT)?.to_str().unwrap_or_default();
    let (mut best, mut most) = (None, 0.0);
    for wish in text.split(',') {
        let quality = wish.split(';').skip(1).find_map(|part| part.trim().strip_prefix("q="));
        let quality = quality.map_or(1.0, |quality| quality.trim().parse::<f32>().unwrap_or(0.0));
        if quality > most
            && let Some(found) = known(essence(wish))
        {
            (best, most) = (Some(found), quality);
        }
    }
    best
}

/// The media type of an operation's answer that is sent unchanged, if it has one. Its schema says that the reply is a
/// text of this type, such as a page.
pub(crate) fn page_of(operation: &OperationDescription) -> Option<&'static str> {
    (operation.reply["contentMediaType"] == HTML).then_some(HTML)
}

const HTML: &str = "text/html";

/// Whether a client that may have a page takes it rather than a document with its text: it does, unless it likes a
/// document better.
pub(crate) fn takes_page(headers: &HeaderMap) -> bool {
    let is_page = preferred(headers, |media_type| match media_type {
        "text/html" | "text/*" | "*/*" => Some(true),
        "application/json" | "application/msgpack" | "application/x-msgpack" | "application/vnd.msgpack" => Some(false),
        _ => None,
    });
    is_page.unwrap_or(!headers.contains_key(hyper::header::ACCEPT))
}

/// Whether the answer is for people: a browser names HTML, and before JSON if it names that at all.
pub(crate) fn is_for_people(headers: &HeaderMap) -> bool {
    let text = headers.get(hyper::header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let wish = text.split(',').map(essence).find(|wish| matches!(*wish, "text/html" | "application/json"));
    wish == Some("text/html")
}

#[cfg(test)]
mod tests {
    use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
    use lehr_services::Verb;

    use super::*;

    #[test]
    fn the_client_is_answered_in_the_form_it_likes_best() {
        let accept = |text: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(text))]);
            accepted(&headers).map_err(|fault| fault.code())
        };
        assert_eq!(accept("application/msgpack"), Ok(Format::MessagePack));
        assert_eq!(accept("application/msgpack;q=0.5, application/json"), Ok(Format::Json));
        assert_eq!(accept("text/html,application/xhtml+xml,*/*;q=0.8"), Ok(Format::Json));
        assert_eq!(accept("application/json;q=0, application/msgpack;q=0.1"), Ok(Format::MessagePack));
        assert_eq!(accept("image/png"), Err(Code::MessageNotSupported));
    }

    #[test]
    fn a_page_is_taken_unless_a_document_is_liked_better() {
        let takes = |text: &'static str| takes_page(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(text))]));
        assert!(takes_page(&HeaderMap::new()) && takes("*/*") && takes("text/html,application/xml;q=0.9,*/*;q=0.8"));
        assert!(!takes("application/json") && !takes("application/msgpack") && !takes("application/json, */*;q=0.1"));
        assert!(!takes("image/png") && takes("application/json;q=0.5, text/html"));
    }

    #[test]
    fn a_fault_is_the_same_on_the_other_side() {
        let disk = Fault::new(Code::InsufficientResources, "the disk is full");
        let sent = Fault::new(Code::OperationFailed, "not stored").caused_by(&disk).log("not for clients");
        let body = problem(&sent, StatusCode::INTERNAL_SERVER_ERROR);
        let read = fault(StatusCode::INTERNAL_SERVER_ERROR, &body);
        assert_eq!((read.code(), read.reason(), read.causes()), (sent.code(), sent.reason(), sent.causes()));
        assert_eq!(read.log_text(), None);
        assert_eq!(fault(StatusCode::NOT_FOUND, b"<html>").code(), Code::UnknownService);
    }

    #[test]
    fn a_form_that_is_not_known_is_refused() {
        let of = |text: &'static str| HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(text))]);
        let fault = sent_as(&of("text/xml"), None).unwrap_err();
        assert_eq!(fault.reason(), "the body is \"text/xml\"; expected application/json or application/msgpack");
        let raw = vec!["text/csv".to_owned(), "text/plain".to_owned()];
        let operation = OperationDescription { verb: Verb::Insert, body: Value::Null, reply: Value::Null, raw };
        let sent = sent_as(&of("Text/CSV; charset=utf-8"), Some(&operation)).unwrap();
        assert_eq!(sent, Sent::Bytes("text/csv".to_owned()));
        assert_eq!(sent_as(&of("application/json"), Some(&operation)).unwrap(), Sent::Document(Format::Json));
        let fault = sent_as(&of("text/xml"), Some(&operation)).unwrap_err();
        assert!(fault.reason().ends_with("application/msgpack, text/csv, text/plain"), "{fault}");
    }
}
