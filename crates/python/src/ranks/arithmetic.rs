//! Reductions of arrays of numbers: the types of elements, the operations, and the collectives that combine.

use lehr_ranks::Plain;
use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::{Rank, not_contiguous, not_lent};
use crate::errors;

/// A numeric type of array elements.
pub(super) trait Number: Element + Plain + Default + PartialOrd {
    /// The name of the type in NumPy.
    const NAME: &'static str;
    /// The kind of the type in NumPy: a float, or a whole number with or without a sign.
    const KIND: char;
    /// Whether there are bitwise operations on the type.
    const HAS_BITS: bool;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// Returns whether this value is NaN. The minimum and the maximum of NaN and a number are NaN.
    fn is_none(self) -> bool;
}

macro_rules! integers {
    ($($type:ident $kind:literal $name:literal)*) => {$(
        impl Number for $type {
            const NAME: &'static str = $name;
            const KIND: char = $kind;
            const HAS_BITS: bool = true;
            // Integers wrap around, as in NumPy.
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn and(self, other: Self) -> Self { self & other }
            fn or(self, other: Self) -> Self { self | other }
            fn xor(self, other: Self) -> Self { self ^ other }
            fn is_none(self) -> bool { false }
        }
    )*};
}

macro_rules! floats {
    ($($type:ident $name:literal)*) => {$(
        impl Number for $type {
            const NAME: &'static str = $name;
            const KIND: char = 'f';
            // `Operation::of` refuses bitwise operations, so the three functions are never called.
            const HAS_BITS: bool = false;
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn and(self, other: Self) -> Self { Self::from_bits(self.to_bits() & other.to_bits()) }
            fn or(self, other: Self) -> Self { Self::from_bits(self.to_bits() | other.to_bits()) }
            fn xor(self, other: Self) -> Self { Self::from_bits(self.to_bits() ^ other.to_bits()) }
            fn is_none(self) -> bool { self.is_nan() }
        }
    )*};
}

floats! { f64 "float64" f32 "float32" }
integers! {
    i64 'i' "int64" i32 'i' "int32" i16 'i' "int16" i8 'i' "int8"
    u64 'u' "uint64" u32 'u' "uint32" u16 'u' "uint16" u8 'u' "uint8"
}

/// Calls a generic function with an array, cast to its type, and with a tuple of the remaining arguments.
macro_rules! by_array {
    ($array:expr => $function:ident $rest:tt) => {
        by_array!($array => $function $rest for f64 f32 i64 i32 i16 i8 u64 u32 u16 u8)
    };
    ($array:expr => $function:ident $rest:tt for $($type:ident)*) => {{
        $(if let Ok(array) = $array.cast::<PyArrayDyn<$type>>() {
            return $function(array, $rest);
        })*
        Err(no_array($array))
    }};
}

fn no_array(found: &Bound<'_, PyAny>) -> PyErr {
    errors::type_error(format!("expected a NumPy array of numbers, found {}", found.get_type()))
}

/// The operation that combines values.
#[derive(Clone, Copy)]
enum Operation {
    Sum,
    Product,
    Least,
    Largest,
    And,
    Or,
    Xor,
}

impl Operation {
    fn of<T: Number>(name: &str) -> PyResult<Self> {
        Ok(match name {
            "sum" => Self::Sum,
            "prod" => Self::Product,
            "min" => Self::Least,
            "max" => Self::Largest,
            "and" if T::HAS_BITS => Self::And,
            "or" if T::HAS_BITS => Self::Or,
            "xor" if T::HAS_BITS => Self::Xor,
            _ => return Err(errors::value(format!("there is no operation '{name}' on arrays of {}", T::NAME))),
        })
    }

    /// Returns a function that combines two slices element by element, and writes the result into the left slice.
    fn combine<T: Number>(self) -> impl Fn(&mut [T], &[T]) + Send + Sync {
        let each = |left: &mut [T], right: &[T], combined: fn(T, T) -> T| {
            left.iter_mut().zip(right).for_each(|(left, right)| *left = combined(*left, *right));
        };
        move |left: &mut [T], right: &[T]| match self {
            Self::Sum => each(left, right, T::plus),
            Self::Product => each(left, right, T::times),
            Self::Least => each(left, right, |a, b| if a.is_none() || a < b { a } else { b }),
            Self::Largest => each(left, right, |a, b| if a.is_none() || a > b { a } else { b }),
            Self::And => each(left, right, T::and),
            Self::Or => each(left, right, T::or),
            Self::Xor => each(left, right, T::xor),
        }
    }
}

/// Returns the values of an array for writing, row by row.
fn written<'a, T: Number>(array: &'a mut PyReadwriteArrayDyn<'_, T>) -> PyResult<&'a mut [T]> {
    if !array.is_c_contiguous() {
        return Err(not_contiguous());
    }
    array.as_slice_mut().map_err(|_| not_contiguous())
}

fn lent<'py, T: Number>(array: &Bound<'py, PyArrayDyn<T>>) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    array.try_readwrite().map_err(not_lent)
}

/// The collective that combines.
#[derive(Clone, Copy)]
pub(super) enum Reduction {
    AllReduce,
    Reduce { root: usize },
    Scan { exclusive: bool },
}

/// Combines the arrays of all ranks, and overwrites the array with the result. `call` describes the call.
pub(super) fn reduce(
    rank: &mut Rank,
    array: &Bound<'_, PyAny>,
    (call, op, reduction): (&str, &str, Reduction),
) -> PyResult<()> {
    by_array!(array => reduce_as (rank, call, op, reduction))
}

fn reduce_as<T: Number>(
    array: &Bound<'_, PyArrayDyn<T>>,
    (rank, call, op, reduction): (&mut Rank, &str, &str, Reduction),
) -> PyResult<()> {
    let py = array.py();
    let operation = Operation::of::<T>(op)?;
    let mut array = lent(array)?;
    let values = written(&mut array)?;
    rank.agree(py, call)?;
    rank.wait(py, async move |comm| match reduction {
        Reduction::AllReduce => comm.all_reduce_elementwise(values, operation.combine()).await,
        Reduction::Reduce { root } => comm.reduce(root, values, operation.combine()).await,
        Reduction::Scan { exclusive: false } => comm.scan(values, operation.combine()).await,
        Reduction::Scan { exclusive: true } => comm.exclusive_scan(values, operation.combine()).await,
    })
}

/// Combines the arrays of all ranks, and writes this rank's part of the result into `part`.
pub(super) fn reduce_scatter(
    rank: &mut Rank,
    array: &Bound<'_, PyAny>,
    (call, op, part): (&str, &str, &Bound<'_, PyAny>),
) -> PyResult<()> {
    by_array!(array => reduce_scatter_as (rank, call, op, part))
}

fn reduce_scatter_as<T: Number>(
    array: &Bound<'_, PyArrayDyn<T>>,
    (rank, call, op, part): (&mut Rank, &str, &str, &Bound<'_, PyAny>),
) -> PyResult<()> {
    let py = array.py();
    let operation = Operation::of::<T>(op)?;
    let array = array.try_readonly().map_err(|_| errors::value("the array is being written by another call"))?;
    let values = array.as_slice().map_err(|_| not_contiguous())?;
    let mut part = lent(part.cast::<PyArrayDyn<T>>()?)?;
    let part = written(&mut part)?;
    if values.len() != part.len() * rank.size {
        return Err(errors::value(format!(
            "{} values have no equal part for each of {} ranks",
            values.len(),
            rank.size
        )));
    }
    rank.agree(py, call)?;
    rank.wait(py, async move |comm| comm.reduce_scatter(values, part, operation.combine()).await)
}
