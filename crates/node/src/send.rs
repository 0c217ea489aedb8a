//! Sends a request as a message to a service, and returns the service's answer.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context as Polling, Waker};

use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use lehr_services::{Action, Answered, Code, Endpoint, Fault, Format, Link, Message, OperationDescription, Verb};
use lehr_sync::{Arc, spin_loop, thread::yield_now};
use serde_json::Value;

use crate::body::Answer;
use crate::conditions::{Tags, tag};
use crate::connection::Ticket;
use crate::edge::{Edge, Looks, Peer};
use crate::encode::{Sent, accepted, page_of, sent_as, takes_page};
use crate::form::Form;
use crate::headers::{INCARNATION, options};
use crate::incoming::read;
use crate::query::{bytes_as, query};
use crate::refusal::{Refused, stopping};
use crate::response::response;
use crate::tables::Rows;
use crate::viewer::page_of_service;
use crate::{shapes, tables};

/// The maximum number of tags in one `If-Match`; the number is limited because each wrong tag costs a message.
const TAGS_MAX: usize = 16;

/// Sends the request to the service.
pub(crate) async fn send(
    (edge, peer): (&Arc<Edge>, &Peer),
    endpoint: &Endpoint,
    (action, verb): (Action, Verb),
    mut turn: Ticket,
    caller: String,
    (request, incoming): (&Request<()>, &mut Incoming),
) -> Result<Response<Answer>, Refused> {
    let rows = match &action {
        Action::Operation(name) => {
            endpoint.operation(name).and_then(|operation| Rows::wanted(request.headers(), operation))
        }
        _ => None,
    };
    let is_page = match &action {
        Action::Operation(name) => {
            endpoint.operation(name).and_then(page_of).is_some() && takes_page(request.headers())
        }
        _ => false,
    };
    let accept = match rows {
        // The service answers with a document, from which the rows are taken.
        Some(_) => tables::FORM,
        None if is_page => Format::Json,
        None => accepted(request.headers()).map_err(|fault| Refused::with(StatusCode::NOT_ACCEPTABLE, fault))?,
    };
    let options = options(edge, request, caller)?;
    let known = Tags::known(request.headers());
    let changes = request.method() != Method::GET && request.method() != Method::HEAD && verb != Verb::Query;
    // A condition must not hide that there is no such operation (RFC 9110, 13.2.1).
    let is_there = match &action {
        Action::Operation(name) => endpoint.operation(name).is_some(),
        Action::Drop => !endpoint.info().is_permanent,
        Action::Get | Action::Lookup => true,
    };
    if is_there && changes && known.is_some() {
        let reason = match known {
            Some(Tags::Any) => "If-None-Match: * requires that there is no state, and a service always has one",
            _ => "If-None-Match goes with reading; a change takes If-Match with the tag that it starts from",
        };
        return Err(Fault::new(Code::PreconditionFailed, reason).into());
    }
    let demanded = if is_there { demanded(request.headers())? } else { vec![None] };
    let (format, body) = match &action {
        Action::Operation(name) => said(edge, endpoint.operation(name), rows.is_some(), request, incoming).await?,
        _ => (Format::Json, Vec::new()),
    };
    // Earlier requests on this connection go first.
    turn.come().await;
    let mut message = Message { action, verb, body, format, accept, options };
    if let Some(rows) = rows {
        (message.format, message.body) = (Format::Json, rows.asked(message.format, &message.body, None)?);
    }
    let for_more = rows.map(|rows| (rows, message.clone()));
    // All readers of a state share its bytes, which are counted when they are sent.
    let operation = match &message.action {
        Action::Operation(name) => Some(format!("{}:{name}", request.uri().path())),
        _ => None,
    };
    let ledgers = [&edge.unsent, &peer.place.unsent];
    let reserved = operation.as_deref().map(|operation| edge.sizes.reserve(operation, ledgers)).transpose()?;
    let answered = tried(edge, endpoint, message, &demanded, turn).await?;
    if let Some(operation) = operation {
        edge.sizes.remember(operation, answered.body.len());
    }
    drop(reserved);
    if let Some((rows, message)) = for_more {
        return table(edge, peer, endpoint, rows, message, &answered.body).await;
    }
    if is_page {
        let text: String = accept.decode(&answered.body)?;
        return Ok(page_of_service(edge.counted(peer, text.into_bytes())?));
    }
    let version = answered.version.map(|version| (answered.incarnation, version));
    let is_known = known.zip(version).is_some_and(|(known, version)| known.contain(version));
    let (status, body) = if is_known {
        (StatusCode::NOT_MODIFIED, Answer::Whole(None))
    } else {
        (StatusCode::OK, Answer::whole(edge.counted(peer, answered.body)?))
    };
    let mut response = response(status, accept.media_type(), body);
    let headers = response.headers_mut();
    headers.insert(INCARNATION, HeaderValue::from(answered.incarnation));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    if let Some(version) = answered.version
        && let Ok(tag) = HeaderValue::try_from(tag(answered.incarnation, version))
    {
        headers.insert(header::ETAG, tag);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    Ok(response)
}

/// Returns the versions that the state may have, as incarnation and version, to be tried in turn; `None` allows any
/// version.
fn demanded(headers: &HeaderMap) -> Result<Vec<Option<(u64, u64)>>, Fault> {
    match Tags::demanded(headers) {
        None | Some(Tags::Any) => Ok(vec![None]),
        Some(Tags::These(tags)) if tags.is_empty() => {
            let reason = "If-Match has no tag of a version of this service: read it, and use the ETag of the answer";
            Err(Fault::new(Code::PreconditionFailed, reason))
        }
        Some(Tags::These(tags)) if tags.len() > TAGS_MAX => {
            Err(Fault::new(Code::TooLarge, format!("If-Match has more than {TAGS_MAX} tags")))
        }
        Some(Tags::These(tags)) => Ok(tags.into_iter().map(Some).collect()),
    }
}

/// Returns the document of an operation: from the query string, from the body, or from both if the body is bytes.
/// `is_json` says that the document must be JSON.
async fn said(
    edge: &Edge,
    operation: Option<&OperationDescription>,
    is_json: bool,
    request: &Request<()>,
    incoming: &mut Incoming,
) -> Result<(Format, Vec<u8>), Refused> {
    let address = request.uri().query().unwrap_or_default();
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let fields = query(address, operation)?;
        let body = if fields.is_empty() { Vec::new() } else { Value::Object(fields).to_string().into_bytes() };
        return Ok((Format::Json, body));
    }
    match sent_as(request.headers(), operation) {
        Ok(Sent::Document(format)) => {
            let body = read(edge, incoming).await?;
            if let Some(operation) = operation {
                shapes::check(format, &body, &operation.body)?;
            }
            Ok((format, body))
        }
        Ok(Sent::Bytes(media_type)) => {
            let fields = query(address, operation)?;
            Ok(bytes_as(is_json, fields, &media_type, &read(edge, incoming).await?)?)
        }
        Ok(Sent::Form(boundary)) => {
            let body = read(edge, incoming).await?;
            let form = Form::read(&body, &boundary)?;
            // Fields of the form override the fields in the query string.
            let mut said = form_urlencoded::Serializer::new(String::new());
            for (name, text) in form_urlencoded::parse(address.as_bytes()) {
                if !form.fields.iter().any(|(field, _)| *field == name) {
                    said.append_pair(&name, &text);
                }
            }
            said.extend_pairs(&form.fields);
            let fields = query(&said.finish(), operation)?;
            let media_type = form.media_type.unwrap_or("application/octet-stream");
            Ok(bytes_as(is_json, fields, media_type, form.file)?)
        }
        Err(fault) => Err(Refused::with(StatusCode::UNSUPPORTED_MEDIA_TYPE, fault)),
    }
}

/// Returns the service's answer for the first of these versions that matches.
async fn tried(
    edge: &Edge,
    endpoint: &Endpoint,
    mut message: Message,
    demanded: &[Option<(u64, u64)>],
    turn: Ticket,
) -> Result<Answered, Refused> {
    let mut turn = Some(turn);
    let last = demanded.len() - 1;
    let mut tried = 0;
    loop {
        if let Some((incarnation, version)) = demanded[tried] {
            message.options.incarnation = Some(incarnation);
            message.options.if_version = Some(version);
        }
        // The message is kept for the next tag, if there is one. It may be sent again, because a request for another
        // version changes nothing.
        let next = (tried < last).then(|| message.clone());
        let verb = message.verb;
        let sent = endpoint.send(message);
        drop(turn.take());
        match (looked_for(sent, edge.looks, || edge.has_one_request(), gives_up(edge, verb)).await, next) {
            (Ok(answered), _) => return Ok(answered),
            (Err(fault), next) => {
                let is_other = matches!(fault.code(), Code::StaleReference | Code::PreconditionFailed);
                match next {
                    Some(next) if is_other => (message, tried) = (next, tried + 1),
                    // A tag of an earlier incarnation names a version that no longer exists.
                    _ if demanded[tried].is_some() && fault.code() == Code::StaleReference => {
                        return Err(Refused::with(StatusCode::PRECONDITION_FAILED, fault));
                    }
                    _ => return Err(fault.into()),
                }
            }
        }
    }
}

/// Answers with rows as a file: the rows of the first piece, and of as many more pieces as requested.
async fn table(
    edge: &Edge,
    peer: &Peer,
    endpoint: &Endpoint,
    rows: Rows,
    message: Message,
    first: &[u8],
) -> Result<Response<Answer>, Refused> {
    let mut answered = tables::Answered::first(rows, first)?;
    let to = message.format.decode::<Value>(&message.body)?["to"].as_u64();
    while let Some(from) = answered.next(to)? {
        let body = rows.asked(message.format, &message.body, Some(from))?;
        let piece = endpoint.send(Message { body, ..message.clone() }).await?;
        answered.add(&piece.body)?;
    }
    let (bytes, mut response) = answered.into_response();
    *response.body_mut() = Answer::whole(edge.counted(peer, bytes)?);
    Ok(response)
}

/// Waits until the services are ending, then ends the request if it changes nothing. The request might take longer than
/// the time that is left.
async fn gives_up<T>(edge: &Edge, verb: Verb) -> Result<T, Fault> {
    if !matches!(verb, Verb::Query | Verb::Get | Verb::Lookup) {
        std::future::pending::<()>().await;
    }
    edge.closed().await;
    Err(stopping())
}

/// Waits for an answer, or for the future `instead`, if it is ready first. If `is_alone` says that this thread has
/// nothing else to do, it spins for some microseconds at most. Most handlers take less time than falling asleep and
/// waking up.
async fn looked_for<T>(
    answer: impl Future<Output = T>,
    most: Looks,
    is_alone: impl Fn() -> bool,
    instead: impl Future<Output = T>,
) -> T {
    let (mut answer, mut instead) = (pin!(answer), pin!(instead));
    let mut looks = 0;
    poll_fn(move |polling| {
        loop {
            let is_last = looks >= most.spinning + most.yielding || !is_alone();
            // While this thread looks, the worker must not wake it. That would cost the worker a system call, and this
            // task an unnecessary turn.
            let mut looking = Polling::from_waker(Waker::noop());
            let polled = answer.as_mut().poll(if is_last { &mut *polling } else { &mut looking });
            if polled.is_ready() {
                return polled;
            }
            if is_last {
                return instead.as_mut().poll(polling);
            }
            looks += 1;
            if looks <= most.spinning {
                (0..8).for_each(|_| spin_loop());
            } else {
                yield_now();
            }
        }
    })
    .await
}
