//! Messages of Python programs: the bytes of a value, and a *trailer* that says how to read them.
//!
//! | part | content |
//! | --- | --- |
//! | payload | the bytes of an array, or a pickle |
//! | trailer | the type and the lengths of an array, such as `<f8 3 4`; nothing for a pickle. Zeros pad it to a multiple of eight bytes |
//! | last eight bytes | the length of the trailer without its padding |
//!
//! The trailer is at the end. So the array that the receiver gets begins where the message begins, and can take over the
//! memory of the message. A payload of whole words keeps the frame one of whole words, which fabrics can join in place.
//!
//! This module handles arrays of the common types ([`Number`]), which takes no call of Python. `_frames.py` handles all
//! other values.

use bytemuck::{cast_slice, cast_slice_mut};
use numpy::{
    IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArrayDyn, PyReadwriteArray1,
    PyReadwriteArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyBytes;

use super::arithmetic::Number;
use super::{not_contiguous, not_lent};
use crate::errors;

/// The maximum number of bytes of a trailer; `_frames.py` pickles an array whose trailer would be longer.
const TRAILER_MAX: usize = 200;
/// The maximum number of bytes of a payload that is copied into an array of its type. A longer payload becomes the
/// memory of the array.
const COPIED_MAX: usize = 1 << 16;

/// The name of a type in a trailer, by NumPy's rules: the order of bytes, the kind and the size.
fn name<T: Number>() -> String {
    let order = match (size_of::<T>(), cfg!(target_endian = "little")) {
        (1, _) => '|',
        (_, true) => '<',
        (_, false) => '>',
    };
    format!("{order}{}{}", T::KIND, size_of::<T>())
}

fn trailer<T: Number>(shape: &[usize]) -> Vec<u8> {
    let mut trailer = name::<T>();
    for length in shape {
        trailer.push(' ');
        trailer.push_str(&length.to_string());
    }
    trailer.into_bytes()
}

/// Calls a generic function with an array, if it is an array of one of the common types.
macro_rules! try_types {
    ($array:expr => $function:ident) => { try_types!($array => $function for f64 i64 f32 i32 u8 u64 u32 u16 i16 i8) };
    ($array:expr => $function:ident for $($type:ident)*) => {
        $(if let Ok(array) = $array.cast::<PyArrayDyn<$type>>()
            && let Some(found) = $function(&array)
        {
            return Ok(found);
        })*
    };
}

/// The bytes of a value, before they are sent.
enum Payload<'py> {
    /// A pickle.
    Pickle(PyBackedBytes),
    /// The bytes of an array of any type.
    Bytes(PyReadonlyArray1<'py, u8>),
    /// An array of one of the common types.
    Numbers(Box<dyn Numbers + 'py>),
}

trait Numbers {
    fn bytes(&self) -> Option<&[u8]>;
}

impl<T: Number> Numbers for PyReadonlyArrayDyn<'_, T> {
    fn bytes(&self) -> Option<&[u8]> {
        self.as_slice().ok().map(cast_slice)
    }
}

/// A value to send: its payload and its trailer.
pub(super) struct Value<'py> {
    payload: Payload<'py>,
    trailer: Vec<u8>,
}

fn numbers<'py, T: Number>(array: &Bound<'py, PyArrayDyn<T>>) -> Option<Value<'py>> {
    let trailer = trailer::<T>(array.shape());
    if !array.is_c_contiguous() || trailer.len() > TRAILER_MAX {
        return None;
    }
    Some(Value { payload: Payload::Numbers(Box::new(array.try_readonly().ok()?)), trailer })
}

impl<'py> FromPyObject<'_, 'py> for Value<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = value.py();
        // A subclass of `ndarray` may have more than numbers.
        if value.get_type().is(PyUntypedArray::type_object(py)) {
            try_types!(value => numbers);
        }
        static PACKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let packed = PACKED.import(py, "lehr._frames", "packed")?.call1((value,))?;
        let (payload, trailer): (Bound<'py, PyAny>, PyBackedBytes) = packed.extract()?;
        let payload = match payload.cast::<PyArray1<u8>>() {
            Ok(array) => Payload::Bytes(array.try_readonly().map_err(not_lent)?),
            Err(_) => Payload::Pickle(payload.extract()?),
        };
        Ok(Self { payload, trailer: trailer.to_vec() })
    }
}

impl Value<'_> {
    pub(super) fn payload(&self) -> PyResult<&[u8]> {
        match &self.payload {
            Payload::Pickle(bytes) => Ok(bytes),
            Payload::Bytes(array) => array.as_slice().map_err(|_| not_contiguous()),
            Payload::Numbers(array) => array.bytes().ok_or_else(not_contiguous),
        }
    }

    /// Returns the part of the frame that follows the payload.
    pub(super) fn end(&self) -> PyResult<Vec<u8>> {
        end(&self.trailer)
    }

    /// Returns the value as one frame.
    pub(super) fn whole(&self) -> PyResult<Vec<u8>> {
        Ok([self.payload()?, &self.end()?].concat())
    }
}

/// Returns the part of a frame that follows the payload.
pub(super) fn end(trailer: &[u8]) -> PyResult<Vec<u8>> {
    if trailer.len() > TRAILER_MAX {
        return Err(errors::value(format!("a trailer of {} bytes; the maximum is {TRAILER_MAX}", trailer.len())));
    }
    let padded = trailer.len().next_multiple_of(size_of::<u64>());
    let mut end = Vec::with_capacity(padded + size_of::<u64>());
    end.extend_from_slice(trailer);
    end.resize(padded, 0);
    end.extend((trailer.len() as u64).to_le_bytes());
    Ok(end)
}

/// An array that is to be overwritten with the payload of a message, if the message has this trailer.
pub(super) struct Room<'py> {
    memory: Memory<'py>,
    pub(super) trailer: Vec<u8>,
}

enum Memory<'py> {
    Bytes(PyReadwriteArray1<'py, u8>),
    Numbers(Box<dyn NumbersMut + 'py>),
}

trait NumbersMut {
    fn bytes(&mut self) -> Option<&mut [u8]>;
}

impl<T: Number> NumbersMut for PyReadwriteArrayDyn<'_, T> {
    fn bytes(&mut self) -> Option<&mut [u8]> {
        self.as_slice_mut().ok().map(cast_slice_mut)
    }
}

fn numbers_mut<'py, T: Number>(array: &Bound<'py, PyArrayDyn<T>>) -> Option<Room<'py>> {
    if !array.is_c_contiguous() {
        return None;
    }
    let trailer = trailer::<T>(array.shape());
    Some(Room { memory: Memory::Numbers(Box::new(array.try_readwrite().ok()?)), trailer })
}

impl<'py> FromPyObject<'_, 'py> for Room<'py> {
    type Error = PyErr;

    fn extract(out: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let py = out.py();
        if out.get_type().is(PyUntypedArray::type_object(py)) {
            try_types!(out => numbers_mut);
        }
        static ROOM: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let room = ROOM.import(py, "lehr._frames", "room")?.call1((out,))?;
        let (memory, trailer): (Bound<'py, PyAny>, PyBackedBytes) = room.extract()?;
        let memory = memory.cast::<PyArray1<u8>>()?.try_readwrite().map_err(not_lent)?;
        Ok(Self { memory: Memory::Bytes(memory), trailer: trailer.to_vec() })
    }
}

impl Room<'_> {
    pub(super) fn bytes(&mut self) -> PyResult<&mut [u8]> {
        match &mut self.memory {
            Memory::Bytes(array) => array.as_slice_mut().map_err(|_| not_contiguous()),
            Memory::Numbers(array) => array.bytes().ok_or_else(not_contiguous),
        }
    }
}

/// Divides a frame into its payload and its trailer; `None` if the bytes are no frame.
pub(super) fn divided(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let (rest, length) = frame.split_last_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|length| *length <= TRAILER_MAX)?;
    let start = rest.len().checked_sub(length.next_multiple_of(size_of::<u64>()))?;
    Some((&rest[..start], &rest[start..start + length]))
}

/// Copies a payload into a new array of the common type with this name.
fn copied<'py>(py: Python<'py>, payload: &[u8], trailer: &[u8]) -> Option<PyResult<Bound<'py, PyAny>>> {
    fn array<'py, T: Number>(py: Python<'py>, payload: &[u8], shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
        let flat = bytemuck::pod_collect_to_vec::<u8, T>(payload).into_pyarray(py);
        if shape.len() == 1 { Ok(flat.into_any()) } else { flat.reshape(shape.to_vec()).map(Bound::into_any) }
    }
    let mut words = std::str::from_utf8(trailer).ok()?.split(' ');
    let dtype = words.next()?;
    let shape = words.map(|length| length.parse().ok()).collect::<Option<Vec<usize>>>()?;
    macro_rules! of_types {
        ($($type:ident)*) => {
            $(if dtype == name::<$type>() {
                return Some(array::<$type>(py, payload, &shape));
            })*
        };
    }
    of_types!(f64 i64 f32 i32 u8 u64 u32 u16 i16 i8);
    None
}

/// Returns the value of a frame.
pub(super) fn opened(py: Python<'_>, mut frame: Vec<u8>) -> PyResult<Bound<'_, PyAny>> {
    let Some((payload, trailer)) = divided(&frame) else {
        return Err(errors::runtime("a message has come that no Python program sends"));
    };
    if payload.len() <= COPIED_MAX
        && !trailer.is_empty()
        && let Some(array) = copied(py, payload, trailer)
    {
        return array;
    }
    let (length, trailer) = (payload.len(), PyBytes::new(py, trailer));
    frame.truncate(length);
    // The message may have had more memory, of a longer message before or of padding.
    if frame.capacity() / 5 > length / 4 {
        frame.shrink_to_fit();
    }
    static OPENED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    OPENED.import(py, "lehr._frames", "opened")?.call1((frame.into_pyarray(py), trailer))
}
