//! Messages of Python programs: the bytes of a value, and a *trailer* that says how to read them.
//!
//! | part | content |
//! | --- | --- |
//! | payload | the bytes of an array, or a pickle |
//! | trailer | what `_frames.py` needs to read the payload, padded with zeros to a multiple of eight bytes |
//! | last eight bytes | the length of the trailer without its padding |
//!
//! The trailer is at the end. So the array that the receiver gets begins where the message begins, and takes over the
//! memory of the message. A payload of whole words keeps the frame one of whole words, which fabrics can join in place.

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::not_contiguous;
use crate::errors;

/// The maximum number of bytes of a trailer; `_frames.py` pickles an array whose trailer would be longer.
const TRAILER_MAX: usize = 200;

/// The bytes of a value, before they are sent.
#[derive(FromPyObject)]
pub(super) enum Payload<'py> {
    /// A pickle.
    Pickle(PyBackedBytes),
    /// The bytes of an array.
    Array(PyReadonlyArray1<'py, u8>),
}

/// A value to send: its payload and its trailer.
pub(super) type Value<'py> = (Payload<'py>, PyBackedBytes);

/// A value that was received: its payload and its trailer.
pub(super) type Received<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyBytes>);

impl Payload<'_> {
    pub(super) fn bytes(&self) -> PyResult<&[u8]> {
        match self {
            Self::Pickle(bytes) => Ok(bytes),
            Self::Array(array) => array.as_slice().map_err(|_| not_contiguous()),
        }
    }
}

/// Returns the part of a frame that follows the payload.
pub(super) fn end(trailer: &[u8]) -> PyResult<Vec<u8>> {
    if trailer.len() > TRAILER_MAX {
        return Err(errors::value(format!("a trailer of {} bytes; the maximum is {TRAILER_MAX}", trailer.len())));
    }
    let mut end = trailer.to_vec();
    end.resize(trailer.len().next_multiple_of(size_of::<u64>()), 0);
    end.extend((trailer.len() as u64).to_le_bytes());
    Ok(end)
}

/// Returns a value as one frame.
pub(super) fn whole((payload, trailer): &Value<'_>) -> PyResult<Vec<u8>> {
    Ok([payload.bytes()?, &end(trailer)?].concat())
}

/// Divides a frame into its payload and its trailer; `None` if the bytes are no frame.
pub(super) fn divided(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = frame.split_last_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= TRAILER_MAX)?;
    let start = rest.len().checked_sub(length.next_multiple_of(size_of::<u64>()))?;
    Some((&rest[..start], &rest[start..start + length]))
}

/// Turns a frame into an array of its payload, which takes over the memory, and its trailer.
pub(super) fn opened(py: Python<'_>, mut frame: Vec<u8>) -> PyResult<Received<'_>> {
    let Some((payload, trailer)) = divided(&frame) else {
        return Err(errors::runtime("a message has come that no Python program sends"));
    };
    let (length, trailer) = (payload.len(), PyBytes::new(py, trailer));
    frame.truncate(length);
    Ok((frame.into_pyarray(py), trailer))
}
