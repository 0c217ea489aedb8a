//! What shifts and exchanges are made of, between threads: messages over lanes.
//!
//! A call is a [`Talk`]: it begins, tells, hears and finishes. One that is dropped before it has finished is given up, and what still comes of it is thrown away.

use std::future::poll_fn;

use lehr_runtime::Elapsed;

use crate::communicator::{Call, Communicator};
use crate::error::Error;
use crate::fabric::threads::exchange::Endpoint;
use crate::trace::{Activity, Noting};

pub(crate) use crate::fabric::threads::exchange::Besides;

/// One rank's part in a call under way.
pub(crate) struct Talk<'a> {
    communicator: &'a mut Communicator,
    call: Call,
    _noting: Option<Noting>,
}

impl Communicator {
    /// Begins a call with neighbours, between threads. `number` must be the same on all ranks.
    pub(crate) fn talk(&mut self, call: Call, number: usize) -> Talk<'_> {
        let _noting = self.noting(Activity::Communication, call.name());
        let mut talk = Talk { communicator: self, call, _noting };
        talk.endpoint().begin(call as u64, number as u64);
        talk
    }
}

impl Talk<'_> {
    fn endpoint(&mut self) -> &mut Endpoint {
        self.communicator.exchange.as_mut().expect("asked for only where there is one")
    }

    /// Sends a message made of these parts.
    pub(crate) fn tell(&mut self, to: usize, parts: &[&[u8]]) {
        self.endpoint().tell(to, parts);
    }

    /// Waits for the message of a rank, and shows its bytes to `read`.
    pub(crate) async fn hear(
        &mut self,
        from: usize,
        besides: Besides,
        mut read: impl FnMut(&[u8]),
    ) -> Result<(), Error> {
        let (call, patience) = (self.call, self.communicator.settings.patience.clone());
        let _waiting = self.communicator.noting(Activity::Wait, call.name());
        let endpoint = self.endpoint();
        let heard = poll_fn(|context| endpoint.poll_hear(from, besides, context, &mut read));
        let heard = match patience {
            None => heard.await,
            Some((clock, limit)) => match clock.timeout(limit, heard).await {
                Ok(heard) => heard,
                Err(Elapsed) => {
                    let rank = Some(self.communicator.group.world(from));
                    return Err(self.communicator.failed(Error::Late { rank, waiting_in: call.name(), limit }));
                }
            },
        };
        heard.map_err(|trouble| self.communicator.troubled(call, trouble))
    }

    /// As [`hear`](Self::hear), into memory that the message should fill.
    pub(crate) async fn hear_exactly(&mut self, from: usize, besides: Besides, memory: &mut [u8]) -> Result<(), Error> {
        let (mut sent, room) = (0, memory.len());
        let read = |bytes: &[u8]| {
            sent = bytes.len();
            if sent == room {
                memory.copy_from_slice(bytes);
            }
        };
        self.hear(from, besides, read).await?;
        fits(from, sent, room)
    }

    /// Ends the call.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.endpoint().finish();
        Ok(())
    }
}

/// Says so if a neighbour's message has another length than expected.
pub(crate) fn fits(source: usize, sent: usize, room: usize) -> Result<(), Error> {
    if sent == room { Ok(()) } else { Err(Error::Truncated { source, sent, room }) }
}
