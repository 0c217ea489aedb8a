//! Encodes faults and documents for the wire: statuses, problem documents, media types.

use hyper::StatusCode;
use hyper::header::HeaderMap;
use lehr_services::{Code, Fault, Format, OperationDescription};
use serde_json::{Map, Value};

use crate::form::boundary;

/// Returns the HTTP status of a fault's code. The network edge and its documentation use this one table.
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
        // Codes that are added later count as failures until they have a line here.
        _ => 500,
    }
}

/// Encodes a fault as a problem document (RFC 9457).
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

/// Returns the fault in a problem document. If Lehr did not write the body, the status alone determines the fault.
pub(crate) fn fault(status: StatusCode, body: &[u8]) -> Fault {
    let document = serde_json::from_slice::<Map<String, Value>>(body).ok().and_then(|mut document| {
        let detail = document.remove("detail")?;
        document.insert("reason".to_owned(), detail);
        serde_json::from_value(Value::Object(document)).ok()
    });
    document.unwrap_or_else(|| {
        let code = match status.as_u16() {
            // The server did not understand the request, so it is not a node.
            400 => Code::Unavailable,
            401 => Code::Unauthenticated,
            403 => Code::PermissionDenied,
            404 => Code::UnknownService,
            413 => Code::TooLarge,
            429 => Code::QueuingLimitExceeded,
            502..=504 => Code::Unavailable,
            _ => Code::OperationFailed,
        };
        // Proxies answer with pages. A node with TLS answers a client without TLS with a line of text.
        let text = std::str::from_utf8(body).ok().filter(|text| text.len() < 300 && !text.contains('<'));
        let why = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("without saying why");
        Fault::new(code, format!("the node answered {status}: {why}"))
    })
}

/// The kind of a request's body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// A document in this format.
    Document(Format),
    /// Bytes of this media type, which the operation receives unchanged.
    Bytes(String),
    /// A form that contains a file; the text is the form's boundary.
    Form(String),
}

/// Returns the kind of the body of a request for an operation.
///
/// # Errors
/// Returns a fault, for the status 415, if the media type is unknown or the body is compressed.
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
        // Curl sends this type for any text, unless told otherwise. If the operation takes files too, the text may well
        // be a file.
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

/// Returns a media type without its parameters.
fn essence(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}

/// Returns the known format that the client prefers for the answer.
///
/// # Errors
/// Returns a fault, for the status 406, if the client accepts no known format.
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

/// Returns the form that a client prefers among the forms that `known` finds by media type. If the client prefers
/// several equally, returns the first.
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

/// Returns the media type of an operation's reply, if the reply is sent unchanged. A reply is sent unchanged if the
/// operation's schema says that it is an HTML page.
pub(crate) fn page_of(operation: &OperationDescription) -> Option<&'static str> {
    (operation.reply["contentMediaType"] == HTML).then_some(HTML)
}

const HTML: &str = "text/html";

/// Returns whether a client gets the page itself, and not a document that contains the page's text. The client gets the
/// page if it sends no `Accept` header, or if the header prefers HTML or any type to a document.
pub(crate) fn takes_page(headers: &HeaderMap) -> bool {
    let is_page = preferred(headers, |media_type| match media_type {
        "text/html" | "text/*" | "*/*" => Some(true),
        "application/json" | "application/msgpack" | "application/x-msgpack" | "application/vnd.msgpack" => Some(false),
        _ => None,
    });
    is_page.unwrap_or(!headers.contains_key(hyper::header::ACCEPT))
}

/// Returns whether the answer is for a person: browsers accept HTML, and list it before JSON.
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
