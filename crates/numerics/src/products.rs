//! Products of tiles of rows with several vectors: the matrix product in the kernels for many dimensions.

use crate::lanes::{Lanes, Real};

/// Writes `offset_k + x . vector_k` to `out[k][tile]`, for the rows `x` of up to G tiles and all K vectors (K x D).
/// `values` has D lines for each tile.
///
/// The terms of a product are always added in the order of the coordinates, so blocking does not change the bits.
#[inline(always)]
pub(crate) fn products<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    dimension: usize,
    vectors: &[T],
    offsets: &[T],
    out: &mut [[T::Line; G]],
) {
    let tiles = values.len() / dimension;
    let mut at = 0;
    if V::IN_ONE_REGISTER {
        // 5 x 4 sums, 4 lines of rows and one line of a vector fit into 32 registers, and each load serves 4 or 5
        // multiply-adds.
        let mut tile = 0;
        while tile + 4 <= tiles {
            for_centers::<T, V, 5, 4, G>(values, dimension, vectors, offsets, out, tile);
            tile += 4;
        }
        at = tile;
    }
    for tile in at..tiles {
        for_centers::<T, V, 5, 1, G>(values, dimension, vectors, offsets, out, tile);
    }
}

/// Multiplies N tiles with all vectors: K vectors at a time, then the remaining vectors together.
#[inline(always)]
fn for_centers<T: Real, V: Lanes<Number = T>, const K: usize, const N: usize, const G: usize>(
    values: &[T::Line],
    dimension: usize,
    vectors: &[T],
    offsets: &[T],
    out: &mut [[T::Line; G]],
    tile: usize,
) {
    let mut at = 0;
    while at + K <= offsets.len() {
        block::<T, V, K, N, G>(values, dimension, vectors, offsets, out, tile, at);
        at += K;
    }
    match offsets.len() - at {
        1 => block::<T, V, 1, N, G>(values, dimension, vectors, offsets, out, tile, at),
        2 => block::<T, V, 2, N, G>(values, dimension, vectors, offsets, out, tile, at),
        3 => block::<T, V, 3, N, G>(values, dimension, vectors, offsets, out, tile, at),
        4 => block::<T, V, 4, N, G>(values, dimension, vectors, offsets, out, tile, at),
        _ => {}
    }
}

#[inline(always)]
fn block<T: Real, V: Lanes<Number = T>, const K: usize, const N: usize, const G: usize>(
    values: &[T::Line],
    dimension: usize,
    vectors: &[T],
    offsets: &[T],
    out: &mut [[T::Line; G]],
    tile: usize,
    at: usize,
) {
    let rows: [&[T::Line]; N] = std::array::from_fn(|n| &values[(tile + n) * dimension..][..dimension]);
    let y: [&[T]; K] = std::array::from_fn(|k| &vectors[(at + k) * dimension..][..dimension]);
    let mut sum = [[V::splat(T::default()); N]; K];
    for k in 0..K {
        sum[k] = [V::splat(offsets[at + k]); N];
    }
    for j in 0..dimension {
        let mut x = [V::splat(T::default()); N];
        for n in 0..N {
            x[n] = V::load(&rows[n][j]);
        }
        for k in 0..K {
            let y = V::splat(y[k][j]);
            for n in 0..N {
                sum[k][n] = x[n].mul_add(y, sum[k][n]);
            }
        }
    }
    for k in 0..K {
        for n in 0..N {
            sum[k][n].store(&mut out[at + k][tile + n]);
        }
    }
}
