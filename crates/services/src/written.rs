//! The state as bytes, kept while it is being sent to a client: a hundred slow readers share one copy.

use lehr_sync::{Arc, Mutex, Weak};

use crate::contract::Contract;
use crate::fault::Fault;
use crate::format::Format;
use crate::reference::State;

/// The last version of the state that was written, in each format.
#[derive(Default)]
pub(crate) struct Written {
    last: Mutex<[Option<Last>; 2]>,
}

struct Last {
    /// The life and the version of the state.
    of: (u64, u64),
    /// Weak: it costs no memory when it is not being sent.
    body: Weak<Vec<u8>>,
}

impl Written {
    /// Returns the state in a format. Requests for one version share the bytes, as long as one of them holds these.
    pub(crate) fn body<D: Contract>(&self, state: &State<D>, format: Format) -> Result<Arc<Vec<u8>>, Fault> {
        let of = (state.incarnation(), state.version());
        let place = usize::from(format == Format::MessagePack);
        let known = |last: &[Option<Last>; 2]| {
            last[place].as_ref().filter(|last| last.of == of).and_then(|last| last.body.upgrade())
        };
        if let Some(body) = known(&self.last.lock()) {
            return Ok(body);
        }
        // Without the lock: how a document is written is its author's code. Two who begin at once write it twice, and
        // share the first.
        let body = Arc::new(format.encode(&**state)?);
        let mut last = self.last.lock();
        if let Some(body) = known(&last) {
            return Ok(body);
        }
        last[place] = Some(Last { of, body: Arc::downgrade(&body) });
        Ok(body)
    }
}
