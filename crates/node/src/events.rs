//! Changes as server-sent events, and the options of subscribers.
//!
//! `seed` has the whole state, `change` an operation, `gap` says that changes are missing and a seed follows, `end`
//! says why a subscription ends. A line that begins with a colon is a heartbeat.

use hyper::body::Bytes;
use lehr_services::{Code, End, Events, Fault, Format, LinkEvent, Subscribe};
use lehr_sync::Arc;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{Mutex, OwnedSemaphorePermit};
use tokio::time::timeout;

use crate::edge::{Edge, Peer};
use crate::unsent::Shared;
use crate::write_timeout::PIECE;

/// The maximum number of services in one stream; each service takes one subscription.
const SERVICES_MAX: usize = 64;

/// Reads subscription options from the query string of a URL: the fields of [`Subscribe`]. Items of lists are separated
/// by commas, or the field is repeated.
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
        .map_err(|error| Fault::new(Code::InvalidValue, format!("the options of a subscription: {error}")))?;
    wishes.check()?;
    Ok(wishes)
}

/// Reads the services of one stream from `services`, and the options for all of them as [`wishes`] does.
pub(crate) fn wishes_of_many(query: &str) -> Result<(Vec<String>, Subscribe), Fault> {
    let (mut services, mut rest) = (Vec::new(), form_urlencoded::Serializer::new(String::new()));
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name == "services" {
            services.extend(value.split(',').filter(|path| !path.is_empty()).map(str::to_owned));
        } else {
            rest.append_pair(&name, &value);
        }
    }
    services.sort_unstable();
    services.dedup();
    if services.is_empty() || services.len() > SERVICES_MAX {
        let reason = format!("services: expected 1 to {SERVICES_MAX} paths, found {}", services.len());
        return Err(Fault::new(Code::InvalidValue, reason));
    }
    Ok((services, wishes(&rest.finish())?))
}

/// A subscription whose events a stream sends.
pub(crate) struct Source<Still> {
    /// The path of the service, if the stream has several services. Each event then contains this path.
    pub(crate) service: Option<String>,
    pub(crate) events: Box<dyn Events>,
    pub(crate) place: OwnedSemaphorePermit,
    /// Checks whether the policy still allows the subscription.
    pub(crate) still: Still,
}

/// Writes the events of all sources as they happen, after `end` events for refused subscriptions. Ends when the client
/// disconnects or stops reading, or when no source is left.
pub(crate) fn stream<Still>(
    refused: Vec<(String, Fault)>,
    sources: Vec<Source<Still>>,
    edge: &Arc<Edge>,
    peer: &Peer,
) -> Receiver<Bytes>
where
    Still: Fn() -> Result<(), Fault> + Send + 'static,
{
    // The channel holds one event. Further events wait in the bounded queues of the subscribers, which handle overflow.
    let (sender, receiver) = channel(1);
    let ends: Vec<u8> =
        refused.into_iter().flat_map(|(service, fault)| last(&End::Lost(fault), &naming(&service))).collect();
    if !ends.is_empty() {
        // The channel is empty, so there is room.
        let _ = sender.try_send(ends.into());
    }
    // A long event is sent in parts, and no other event may come between them.
    let line = Arc::new(Mutex::new(sender));
    for source in sources {
        tokio::spawn(tell(source, edge.clone(), peer.clone(), line.clone()));
    }
    receiver
}

/// Returns the first field of an event's data, which names a service.
fn naming(service: &str) -> String {
    format!("\"service\":{},", Value::from(service))
}

async fn tell<Still>(source: Source<Still>, edge: Arc<Edge>, peer: Peer, line: Arc<Mutex<Sender<Bytes>>>)
where
    Still: Fn() -> Result<(), Fault> + Send + 'static,
{
    let Source { service, mut events, place: _place, still } = source;
    let (heartbeat, mut policies) = (edge.limits().heartbeat, edge.policies());
    // The policy may have been replaced after the request was allowed and before this task listens for changes, so it
    // checks now.
    policies.mark_changed();
    let from = service.map_or(String::new(), |service| naming(&service));
    let gone = line.lock().await.clone();
    loop {
        let next = tokio::select! {
            // The branches are polled in this order, so that a client that lost its right does not receive an event
            // that is also ready.
            biased;
            // The network edge has the sender, so this does not fail.
            _ = policies.changed() => match still() {
                Ok(()) => continue,
                Err(fault) => Ok(Err(End::Lost(fault))),
            },
            () = gone.closed() => return,
            next = timeout(heartbeat, events.next()) => next,
        };
        let (parts, is_last) = match next {
            Err(_) => (vec![Bytes::from_static(b": here\n\n")], false),
            Ok(Ok(told)) => match written(&told, &from, |body| edge.counted(&peer, body)) {
                Ok(parts) => (parts, false),
                Err(fault) => (vec![last(&End::Lost(fault), &from)], true),
            },
            Ok(Err(end)) => (vec![last(&end, &from)], true),
        };
        let Ok(sender) = timeout(heartbeat, line.lock()).await else { return };
        for part in parts {
            if !matches!(timeout(heartbeat, sender.send(part)).await, Ok(Ok(()))) {
                return;
            }
        }
        drop(sender);
        if is_last {
            return;
        }
    }
}

/// Returns the last event of a subscription. `from` names its service, as the first field of the data.
fn last(end: &End, from: &str) -> Bytes {
    let (why, text) = (json!(end), Value::from(end.to_string()));
    format!("event: end\ndata: {{{from}\"text\":{text},\"why\":{why}}}\n\n").into()
}

/// Returns an event in parts. A long document is a separate part, which all its subscribers share.
fn written(
    told: &LinkEvent,
    from: &str,
    counted: impl Fn(Shared) -> Result<Bytes, Fault>,
) -> Result<Vec<Bytes>, Fault> {
    // `Format::Json` writes no line breaks, which would end the field.
    let parts = |head: String, body: Shared| {
        let end = b"}\n\n";
        Ok(if body.as_ref().len() <= PIECE {
            // One frame, because clients treat a stream of tiny frames as an attack.
            vec![[head.as_bytes(), body.as_ref(), end].concat().into()]
        } else {
            vec![head.into(), counted(body)?, Bytes::from_static(end)]
        })
    };
    match told {
        LinkEvent::Seed { version, incarnation, format, body } => {
            let body = if *format == Format::Json {
                body.clone()
            } else {
                Arc::new(Format::Json.encode(&format.decode::<Value>(body)?)?)
            };
            let head = format!(
                "event: seed\nid: {incarnation:x}-{version}\ndata: {{{from}\"incarnation\":{incarnation},\"version\":{version},\"state\":"
            );
            parts(head, body.into())
        }
        LinkEvent::Change(change) => {
            let (incarnation, version) = (change.incarnation(), change.version());
            let head = format!(
                "event: change\nid: {incarnation:x}-{version}\ndata: {{{from}\"incarnation\":{incarnation},\"version\":{version},\"operation\":{},\"verb\":\"{}\",\"key\":{},\"body\":",
                Value::from(change.name()),
                change.verb(),
                change.key().map_or(Value::Null, Value::from),
            );
            parts(head, change.body(Format::Json)?.into())
        }
        LinkEvent::Gap { missed } => Ok(vec![format!("event: gap\ndata: {{{from}\"missed\":{missed}}}\n\n").into()]),
    }
}
