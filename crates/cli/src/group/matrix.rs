//! The request of a method on a matrix: the task and the matrix.
//!
//! | part of a request | bytes |
//! | --- | --- |
//! | head | the length of the JSON in 8 bytes; the JSON ([`Head`]) |
//! | matrix | its numbers as they are stored, the lowest byte first |
//! | weights | 8 bytes an item, if there are weights |

use lehr_data::dissimilarities::{Dissimilarities, Element, Form, Values};
use lehr_methods::Matrix;
use serde::{Deserialize, Serialize};

use super::Request;
use crate::exit::{Failure, Kind};

/// The head of a request.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    request: Request,
    items: usize,
    form: Form,
    element: Element,
    scale: f64,
    has_weights: bool,
}

/// Returns the request as bytes.
pub(super) fn encode(request: Request, matrix: &Matrix) -> Result<Vec<u8>, Failure> {
    let Matrix { dissimilarities: matrix, weights, .. } = matrix;
    let element = match matrix.values() {
        Values::F64(_) => Element::F64,
        Values::F32(_) => Element::F32,
        Values::U16(_) => Element::U16,
    };
    let (items, form, scale) = (matrix.items(), matrix.form(), matrix.scale());
    let head = Head { request, items, form, element, scale, has_weights: weights.is_some() };
    let head = serde_json::to_vec(&head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("a request cannot be written as JSON: {cause}")))?;
    let weights = weights.as_deref().unwrap_or_default();
    let bytes = form.numbers(items) * element.bytes() + size_of_val(weights);
    let mut request = Vec::with_capacity(size_of::<u64>() + head.len() + bytes);
    request.extend_from_slice(&(head.len() as u64).to_le_bytes());
    request.extend_from_slice(&head);
    match matrix.values() {
        Values::F64(values) => values.iter().for_each(|value| request.extend_from_slice(&value.to_le_bytes())),
        Values::F32(values) => values.iter().for_each(|value| request.extend_from_slice(&value.to_le_bytes())),
        Values::U16(values) => values.iter().for_each(|value| request.extend_from_slice(&value.to_le_bytes())),
    }
    weights.iter().for_each(|weight| request.extend_from_slice(&weight.to_le_bytes()));
    Ok(request)
}

/// Returns the task and its data. The names of the items and their classes stay with the lead.
pub(super) fn decode(request: &[u8]) -> Result<(Request, Matrix), Failure> {
    let misread =
        |cause: &str| Failure::new(Kind::NoResult, format!("the request of process 0 cannot be read: {cause}"));
    let (length, rest) = request.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, rest) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let bytes = head.form.numbers(head.items) * head.element.bytes();
    let (numbers, rest) = rest.split_at_checked(bytes).ok_or_else(|| misread("its matrix is cut"))?;
    let doubles = |bytes: &[u8]| -> Vec<f64> { bytes.as_chunks().0.iter().map(|n| f64::from_le_bytes(*n)).collect() };
    let values = match head.element {
        Element::F64 => Values::F64(doubles(numbers)),
        Element::F32 => Values::F32(numbers.as_chunks().0.iter().map(|n| f32::from_le_bytes(*n)).collect()),
        Element::U16 | Element::I16be => {
            Values::U16(numbers.as_chunks().0.iter().map(|n| u16::from_le_bytes(*n)).collect())
        }
    };
    let dissimilarities = Dissimilarities::new(head.items, head.form, values, head.scale)?;
    let expected = if head.has_weights { size_of::<f64>() * head.items } else { 0 };
    if rest.len() != expected {
        return Err(misread("its weights are cut"));
    }
    let weights = head.has_weights.then(|| doubles(rest));
    Ok((head.request, Matrix { dissimilarities, ids: Vec::new(), weights, classes: Vec::new(), smiles: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let options = [("tolerance".to_owned(), (0.1 + 0.2 * 1e-9).into())].into_iter().collect();
        let told = Request {
            method: "embed".to_owned(),
            options,
            checkpoint: Some("{\"state\":1}".to_owned()),
            is_traced: true,
        };
        let all = [
            (Form::Condensed, Values::F64(vec![0.1, f64::MAX, 1e-300]), 1.0, None),
            (Form::Condensed, Values::F32(vec![0.1, 0.5, 1e-30]), 1.0, Some(vec![1.0, 0.0, 0.1])),
            (Form::Full, Values::U16(vec![0, 1, 65535, 1, 0, 7, 65535, 7, 0]), 1.0 / 3.0, Some(vec![3.0, 2.0, 1.0])),
        ];
        for (form, values, scale, weights) in all {
            let dissimilarities = Dissimilarities::new(3, form, values, scale).unwrap();
            let matrix = Matrix { dissimilarities, ids: Vec::new(), weights, classes: Vec::new(), smiles: None };
            let request = encode(told.clone(), &matrix).unwrap();
            let (read, other) = decode(&request).unwrap();
            assert_eq!(
                (&read, &other.dissimilarities, &other.weights),
                (&told, &matrix.dissimilarities, &matrix.weights)
            );
            assert_eq!(other.dissimilarities.scale().to_bits(), scale.to_bits());
            for end in [0, 7, 9, request.len() / 2, request.len() - 1] {
                assert!(decode(&request[..end]).is_err(), "cut at {end} of {}", request.len());
            }
        }
    }
}
