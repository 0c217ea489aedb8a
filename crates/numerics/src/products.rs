//! Products of a tile of rows with several vectors: the matrix product inside the many-dimensional kernels.

use crate::lanes::{Lanes, Real};

/// Vectors multiplied at a time, so that a coordinate of the rows is loaded once for all of them.
const AT_ONCE: usize = 8;

/// Writes `offset_k + x . vector_k` for the rows `x` of one tile (`values`: D lines) to `out[k][tile]`, for all K vectors (K x D).
#[inline(always)]
pub(crate) fn products<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    vectors: &[T],
    offsets: &[T],
    out: &mut [[T::Line; G]],
    tile: usize,
) {
    let dimension = values.len();
    let mut at = 0;
    while at + AT_ONCE <= offsets.len() {
        let mut sum = [V::splat(T::default()); AT_ONCE];
        let y: [&[T]; AT_ONCE] = std::array::from_fn(|k| &vectors[(at + k) * dimension..][..dimension]);
        for k in 0..AT_ONCE {
            sum[k] = V::splat(offsets[at + k]);
        }
        for (j, line) in values.iter().enumerate() {
            let x = V::load(line);
            for k in 0..AT_ONCE {
                sum[k] = x.mul_add(V::splat(y[k][j]), sum[k]);
            }
        }
        for k in 0..AT_ONCE {
            sum[k].store(&mut out[at + k][tile]);
        }
        at += AT_ONCE;
    }
    for k in at..offsets.len() {
        let y = &vectors[k * dimension..][..dimension];
        let mut sum = V::splat(offsets[k]);
        for (line, &y) in values.iter().zip(y) {
            sum = V::load(line).mul_add(V::splat(y), sum);
        }
        sum.store(&mut out[k][tile]);
    }
}
