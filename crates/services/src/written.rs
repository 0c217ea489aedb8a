//! The encoded state, kept while it is being sent to clients, so that many slow readers share one copy.

use lehr_sync::{Arc, Mutex, Weak};

use crate::contract::Contract;
use crate::fault::Fault;
use crate::format::Format;
use crate::reference::State;

/// The last version of the state that was encoded, in each format.
#[derive(Default)]
pub(crate) struct Written {
    last: Mutex<[Option<Last>; 2]>,
}

struct Last {
    /// The incarnation and the version of the state.
    of: (u64, u64),
    /// A weak reference, so that the bytes are freed when they are not being sent to any client.
    body: Weak<Vec<u8>>,
}

impl Written {
    /// Returns the encoded state. Requests for the same version share the bytes as long as one of them holds them.
    pub(crate) fn body<D: Contract>(&self, state: &State<D>, format: Format) -> Result<Arc<Vec<u8>>, Fault> {
        let of = (state.incarnation(), state.version());
        let place = usize::from(format == Format::MessagePack);
        let known = |last: &[Option<Last>; 2]| {
            last[place].as_ref().filter(|last| last.of == of).and_then(|last| last.body.upgrade())
        };
        if let Some(body) = known(&self.last.lock()) {
            return Ok(body);
        }
        // The state is encoded without the lock, because encoding runs the author's code. Two requests that begin at
        // the same time both encode the state, and share the bytes of the first.
        let body = Arc::new(format.encode(&**state)?);
        let mut last = self.last.lock();
        if let Some(body) = known(&last) {
            return Ok(body);
        }
        last[place] = Some(Last { of, body: Arc::downgrade(&body) });
        Ok(body)
    }
}
