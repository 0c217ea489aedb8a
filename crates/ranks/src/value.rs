//! Messages that hold one value of any serialisable type, such as control messages. Messages with slices of plain
//! values are faster.
//!
//! The sender and the receiver come from the same build. So the encoding (`postcard`) needs no type descriptions: the
//! receiver reads a value as the type that was sent.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::group::Traffic;
use crate::point_to_point::{Status, Wanted};

impl Communicator {
    /// Sends a value to rank `to`; otherwise like [`send`](Self::send).
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] if the value cannot be serialised; [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if there is no rank `to`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     comm.send_value(0, 1, &("points.csv".to_owned(), vec![3_u64])).await?; // to itself
    ///     comm.receive_value::<(String, Vec<u64>)>(0, 1).await
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(("points.csv".to_owned(), vec![3]))]);
    /// ```
    pub async fn send_value<V: Serialize + ?Sized>(&self, to: usize, tag: u32, value: &V) -> Result<(), Error> {
        self.assert_rank("receiver", to);
        let bytes = postcard::to_stdvec(value)
            .map_err(|error| Error::Invalid { message: format!("a value that cannot be serialised: {error}") })?;
        self.post(Traffic::Messages, to, tag, Cow::Owned(bytes))
    }

    /// Waits for a value from rank `from` with this tag; otherwise like [`receive`](Self::receive).
    ///
    /// # Errors
    /// Returns the same errors as [`receive`](Self::receive); [`Error::Decoding`] if the message does not hold a value
    /// of type `V`.
    ///
    /// # Panics
    /// Panics if there is no rank `from`.
    ///
    /// # Example
    /// See [`send_value`](Self::send_value).
    pub async fn receive_value<V: DeserializeOwned>(&self, from: usize, tag: u32) -> Result<V, Error> {
        let wanted = Wanted { source: Some(from), tag: Some(tag) };
        self.receive_value_any(wanted).await.map(|(value, _)| value)
    }

    /// Waits for the first value that matches; otherwise like [`receive_any`](Self::receive_any).
    ///
    /// # Errors
    /// Returns the same errors as [`receive_value`](Self::receive_value).
    ///
    /// # Panics
    /// Panics if there is no rank `wanted.source`.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::{Layout, Wanted, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let heard = run(&dispatcher, Layout::threads(1), |comm| async move {
    ///     comm.send_value(0, 1, "done").await?;
    ///     comm.receive_value_any::<String>(Wanted::ANY).await.map(|(value, status)| (value, status.source))
    /// });
    /// assert_eq!(heard.unwrap(), [Ok(("done".to_owned(), 0))]);
    /// ```
    pub async fn receive_value_any<V: DeserializeOwned>(&self, wanted: Wanted) -> Result<(V, Status), Error> {
        let message = self.take(Traffic::Messages, wanted, "receive_value").await?;
        let status = self.status(&message);
        match postcard::take_from_bytes(&message.bytes) {
            Ok((value, [])) => Ok((value, status)),
            Ok((_, rest)) => {
                let message = format!("{} bytes are left behind the value", rest.len());
                Err(Error::Decoding { source: status.source, message })
            }
            Err(error) => Err(Error::Decoding { source: status.source, message: error.to_string() }),
        }
    }
}
