//! Changes as server-sent events, and the wishes of who wants them.
//!
//! `seed` has the whole state, `change` an operation, `gap` says that some are missing and a seed follows, `end` why there are no
//! more. A line with a colon is a sign of life.

use hyper::body::Bytes;
use lehr_services::{Code, End, Events, Fault, Format, Subscribe, Told};
use lehr_sync::Arc;
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;

use crate::edge::{Edge, Peer};
use crate::taking::PIECE;
use crate::unsent::Shared;

/// Wishes in the query of an address: the fields of [`Subscribe`], lists with commas or by repetition.
pub(crate) fn wishes(query: &str) -> Result<Subscribe, Fault> {
    let mut fields = Map::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let value = match &*name {
            "operations" | "keys" => {
                let entries = fields.get(&*name).and_then(Value::as_array).cloned().unwrap_or_default();
                let more = value.split(',').filter(|entry| !entry.is_empty()).map(Value::from);
                Value::Array(entries.into_iter().chain(more).collect())
            }
            "capacity" | "count" | "expires_ms" => {
                serde_json::from_str(&value).unwrap_or_else(|_| Value::from(&*value))
            }
            _ => Value::from(&*value),
        };
        fields.insert(name.into_owned(), value);
    }
    let wishes: Subscribe = serde_json::from_value(Value::Object(fields))
        .map_err(|error| Fault::new(Code::InvalidValue, format!("the wishes of a subscription: {error}")))?;
    wishes.check()?;
    Ok(wishes)
}

/// Writes events as they come. Ends when the client goes, or does not take what is sent to it, or may no more have it by the policy.
pub(crate) fn stream(
    mut events: Box<dyn Events>,
    edge: Arc<Edge>,
    peer: Peer,
    place: OwnedSemaphorePermit,
    still: impl Fn() -> Result<(), Fault> + Send + 'static,
) -> Receiver<Bytes> {
    // One ahead: what waits beyond that waits in the bounded queue of the subscriber, which knows what to do when it is full.
    let (sender, receiver) = channel(1);
    let (heartbeat, mut policies) = (edge.limits().heartbeat, edge.policies());
    tokio::spawn(async move {
        let _place = place;
        loop {
            let next = tokio::select! {
                next = timeout(heartbeat, events.next()) => next,
                // The edge has the sender, so this does not fail.
                _ = policies.changed() => match still() {
                    Ok(()) => continue,
                    Err(fault) => Ok(Err(End::Lost(fault))),
                },
                () = sender.closed() => return,
            };
            let (parts, is_last) = match next {
                Err(_) => (vec![Bytes::from_static(b": here\n\n")], false),
                Ok(Ok(told)) => match written(&told, |body| edge.counted(&peer, body)) {
                    Ok(parts) => (parts, false),
                    Err(fault) => (vec![last(&End::Lost(fault))], true),
                },
                Ok(Err(end)) => (vec![last(&end)], true),
            };
            for part in parts {
                if !matches!(timeout(heartbeat, sender.send(part)).await, Ok(Ok(()))) {
                    return;
                }
            }
            if is_last {
                return;
            }
        }
    });
    receiver
}

fn last(end: &End) -> Bytes {
    format!("event: end\ndata: {}\n\n", json!({ "why": end, "text": end.to_string() })).into()
}

/// An event in parts. A long document is a part of its own, which all its subscribers share.
fn written(told: &Told, counted: impl Fn(Shared) -> Result<Bytes, Fault>) -> Result<Vec<Bytes>, Fault> {
    // What `Format::Json` writes has no line breaks, which would end the field.
    let parts = |head: String, body: Shared| {
        let end = b"}\n\n";
        Ok(if body.as_ref().len() <= PIECE {
            // One frame: clients take a stream of tiny ones for an attack.
            vec![[head.as_bytes(), body.as_ref(), end].concat().into()]
        } else {
            vec![head.into(), counted(body)?, Bytes::from_static(end)]
        })
    };
    match told {
        Told::Seed { version, incarnation, format, body } => {
            let body = if *format == Format::Json {
                body.clone()
            } else {
                Arc::new(Format::Json.encode(&format.decode::<Value>(body)?)?)
            };
            let head = format!(
                "event: seed\nid: {incarnation:x}-{version}\ndata: {{\"incarnation\":{incarnation},\"version\":{version},\"state\":"
            );
            parts(head, body.into())
        }
        Told::Change(change) => {
            let (incarnation, version) = (change.incarnation(), change.version());
            let head = format!(
                "event: change\nid: {incarnation:x}-{version}\ndata: {{\"incarnation\":{incarnation},\"version\":{version},\"operation\":{},\"verb\":\"{}\",\"key\":{},\"body\":",
                Value::from(change.name()),
                change.verb(),
                change.key().map_or(Value::Null, Value::from),
            );
            parts(head, change.body(Format::Json)?.into())
        }
        Told::Gap { missed } => Ok(vec![format!("event: gap\ndata: {{\"missed\":{missed}}}\n\n").into()]),
    }
}
