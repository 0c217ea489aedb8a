//! Changes as server-sent events, and the wishes of who wants them.
//!
//! `seed` has the whole state, `change` an operation, `gap` says that some are missing and a seed follows, `end` why there are no
//! more. A line with a colon is a sign of life.

use std::time::Duration;

use hyper::body::Bytes;
use lehr_services::{Code, End, Events, Fault, Format, Subscribe, Told};
use serde_json::{Map, Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::timeout;

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

/// Writes events as they come. Ends when the client goes, or does not take what is sent to it.
pub(crate) fn stream(mut events: Box<dyn Events>, heartbeat: Duration, place: OwnedSemaphorePermit) -> Receiver<Bytes> {
    // One ahead: what waits beyond that waits in the bounded queue of the subscriber, which knows what to do when it is full.
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        let _place = place;
        loop {
            let next = tokio::select! {
                next = timeout(heartbeat, events.next()) => next,
                () = sender.closed() => return,
            };
            let (text, is_last) = match next {
                Err(_) => (": here\n\n".to_owned(), false),
                Ok(Ok(told)) => match written(&told) {
                    Ok(text) => (text, false),
                    Err(fault) => (last(&End::Lost(fault)), true),
                },
                Ok(Err(end)) => (last(&end), true),
            };
            let is_taken = matches!(timeout(heartbeat, sender.send(Bytes::from(text))).await, Ok(Ok(())));
            if is_last || !is_taken {
                return;
            }
        }
    });
    receiver
}

fn last(end: &End) -> String {
    format!("event: end\ndata: {}\n\n", json!({ "why": end, "text": end.to_string() }))
}

fn written(told: &Told) -> Result<String, Fault> {
    // What `Format::Json` writes has no line breaks, which would end the field.
    let text = |body: &[u8]| {
        String::from_utf8(body.to_vec())
            .map_err(|error| Fault::new(Code::OperationFailed, "no JSON").log(error.to_string()))
    };
    Ok(match told {
        Told::Seed { version, incarnation, format, body } => {
            let body = if *format == Format::Json {
                body.clone()
            } else {
                Format::Json.encode(&format.decode::<Value>(body)?)?
            };
            let state = text(&body)?;
            format!(
                "event: seed\nid: {incarnation:x}-{version}\ndata: {{\"incarnation\":{incarnation},\"version\":{version},\"state\":{}}}\n\n",
                state
            )
        }
        Told::Change(change) => {
            let body = text(&change.body(Format::Json)?)?;
            let (incarnation, version) = (change.incarnation(), change.version());
            format!(
                "event: change\nid: {incarnation:x}-{version}\ndata: {{\"incarnation\":{incarnation},\"version\":{version},\"operation\":{},\"verb\":\"{}\",\"key\":{},\"body\":{}}}\n\n",
                Value::from(change.name()),
                change.verb(),
                change.key().map_or(Value::Null, Value::from),
                body
            )
        }
        Told::Gap { missed } => format!("event: gap\ndata: {{\"missed\":{missed}}}\n\n"),
    })
}
