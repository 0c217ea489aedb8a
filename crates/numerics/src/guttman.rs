//! Computes one pass of SMACOF over rows of dissimilarities: distances, the moments of the Guttman transform, and the
//! stress.
//!
//! For each row i at position `z_i`, over all j with target `t_ij = max(0, delta_ij - shift)` and weight `w_ij` (de
//! Leeuw 1977):
//!
//! ```text
//! moment_i = sum_j w_ij t_ij / d_ij (z_i - z_j)        stress_i = sum_j w_ij (d_ij - t_ij)^2        d_ij = |z_i - z_j|
//! ```
//!
//! Neither distances nor B(Z) are stored. A line of dissimilarities is read once and used for both, so that an
//! iteration reads the matrix once. If two points coincide, the moment is 0, as in B(Z): the difference is 0, and the
//! quotient is kept finite.

use crate::compact::{Block, Columns, STRIP, Stored, load, prefetch};
use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};

/// The number of lines whose quotients are stored at a time, for maps with more dimensions than `direct` handles.
const KEPT: usize = 32;

/// The weights of pairs, in addition to the items' own weights.
#[derive(Clone, Copy, Debug)]
pub enum Weighing<'a, T> {
    /// All pairs have equal weights, no pair is missing, and items have no weights.
    Equal,
    /// The items' weights; missing pairs have no influence.
    Items,
    /// The items' weights, divided by the dissimilarity, or by `floor` if `floor` is larger.
    Inverse {
        /// The smallest divisor, above 0.
        floor: f64,
    },
    /// The items' weights, divided by the square of the dissimilarity, or of `floor` if `floor` is larger.
    InverseSquare {
        /// The smallest divisor before squaring, above 0.
        floor: f64,
    },
    /// The items' weights times the weights in a matrix, of which this is the block with the same rows. Pairs with a
    /// missing weight have no influence.
    Matrix(Block<'a, T>),
}

/// The positions of all items.
#[derive(Clone, Copy, Debug)]
pub struct Configuration<'a, T: Real> {
    /// The positions, in one column of N numbers for each dimension.
    pub positions: &'a Columns<T>,
    /// The items' weights, in one column.
    pub weights: &'a Columns<T>,
    /// The amount to subtract from each dissimilarity to get its target; 0 for plain SMACOF.
    pub shift: f64,
    /// The item of the block's first row.
    pub first: usize,
}

/// The cases that are compiled: equal pairs, and any other [`Weighing`].
const EQUAL: usize = 0;
const WEIGHTED: usize = 1;

/// The constants of a kernel.
struct Constants<V> {
    factor: V,
    limit: V,
    floor: V,
    shift: V,
    tiny: V,
    weight_factor: V,
    weight_limit: V,
    inside: V,
}

/// Returns the weighted quotients of a line, and adds its weighted squared errors to the stress.
#[inline(always)]
fn compare<V: Lanes, const WEIGHING: usize>(
    constants: &Constants<V>,
    weighing: &Weighing<'_, V::Number>,
    raw: V,
    square: V,
    weight: V,
    raw_weight: V,
    stress: V,
) -> (V, V) {
    let zero = V::splat(V::Number::default());
    let inverse = square.max(constants.tiny).inverse_root();
    let distance = square.mul(inverse);
    let dissimilarity = raw.mul(constants.factor);
    let target = dissimilarity.sub(constants.shift).max(zero);
    let quotient = target.mul(inverse);
    let error = distance.sub(target);
    if WEIGHING == EQUAL {
        return (quotient, error.mul_add(error, stress));
    }
    let inverse = V::splat(V::Number::from_f64(1.0)).div(dissimilarity.max(constants.floor));
    let weight = match weighing {
        Weighing::Equal | Weighing::Items => weight,
        Weighing::Inverse { .. } => weight.mul(inverse),
        Weighing::InverseSquare { .. } => weight.mul(inverse.mul(inverse)),
        Weighing::Matrix(_) => {
            let own = raw_weight.mul(constants.weight_factor);
            weight.mul(V::select_less(raw_weight, constants.weight_limit, own, zero))
        }
    };
    let weight = V::select_less(raw, constants.limit, weight, zero);
    // A missing value may be NaN, and its error must not enter the sum.
    let error = V::select_less(raw, constants.limit, error, zero);
    (quotient.mul(weight), error.mul(error).mul_add(weight, stress))
}

/// Processes `R` rows in `D` dimensions over a strip of lines.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn direct<T: Real, V: Lanes<Number = T>, const R: usize, const D: usize, const FIXED: usize, const WEIGHING: usize>(
    block: &Block<'_, T>,
    weighing: &Weighing<'_, T>,
    at: &Configuration<'_, T>,
    constants: &Constants<V>,
    row: usize,
    from: usize,
    to: usize,
    out: &mut [f64],
) {
    let zero = V::splat(T::default());
    let mut own = [[zero; D]; R];
    let mut r = 0;
    while r < R {
        let mut k = 0;
        while k < D {
            own[r][k] = V::splat(at.positions.number(at.first + row + r, k));
            k += 1;
        }
        r += 1;
    }
    let (mut moments, mut stress) = ([[zero; D]; R], [zero; R]);
    let last = at.positions.lines() - 1;
    let mut line = from;
    while line < to {
        let mut others = [zero; D];
        let mut k = 0;
        while k < D {
            others[k] = V::load(&at.positions.column(k)[line]);
            k += 1;
        }
        let weight = if WEIGHING == EQUAL { zero } else { V::load(&at.weights.column(0)[line]) };
        let mut r = 0;
        while r < R {
            prefetch::<T, V>(block.stored, row + R + r, block.columns, line);
            let raw = load::<T, V, FIXED>(block.stored, row + r, block.columns, line);
            let raw_weight = match weighing {
                Weighing::Matrix(weights) if WEIGHING == WEIGHTED => match weights.stored {
                    Stored::Numbers(_) => load::<T, V, 0>(weights.stored, row + r, weights.columns, line),
                    Stored::Fixed(_) => load::<T, V, 1>(weights.stored, row + r, weights.columns, line),
                },
                _ => zero,
            };
            let mut apart = [zero; D];
            let mut square = zero;
            let mut k = 0;
            while k < D {
                apart[k] = own[r][k].sub(others[k]);
                if line == last {
                    // Padding after the last item has the row's own position and a dissimilarity of 0.
                    apart[k] = apart[k].mul(constants.inside);
                }
                square = apart[k].mul_add(apart[k], square);
                k += 1;
            }
            let (quotient, sum) =
                compare::<V, WEIGHING>(constants, weighing, raw, square, weight, raw_weight, stress[r]);
            stress[r] = sum;
            let mut k = 0;
            while k < D {
                moments[r][k] = quotient.mul_add(apart[k], moments[r][k]);
                k += 1;
            }
            r += 1;
        }
        line += 1;
    }
    let mut r = 0;
    while r < R {
        let mut k = 0;
        while k < D {
            out[(row + r) * (D + 1) + k] += moments[r][k].sum();
            k += 1;
        }
        out[(row + r) * (D + 1) + D] += stress[r].sum();
        r += 1;
    }
}

/// Processes one row in any number of dimensions over a strip: first the quotients of some lines, then the moments of
/// one dimension after another.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn by_dimension<T: Real, V: Lanes<Number = T>, const FIXED: usize, const WEIGHING: usize>(
    block: &Block<'_, T>,
    weighing: &Weighing<'_, T>,
    at: &Configuration<'_, T>,
    constants: &Constants<V>,
    row: usize,
    from: usize,
    to: usize,
    out: &mut [f64],
) {
    let zero = V::splat(T::default());
    let dimension = at.positions.count();
    let last = at.positions.lines() - 1;
    let item = at.first + row;
    let mut quotients = [T::Line::default(); KEPT];
    let mut stress = zero;
    let mut start = from;
    while start < to {
        let end = if start + KEPT < to { start + KEPT } else { to };
        let mut line = start;
        while line < end {
            prefetch::<T, V>(block.stored, row + 1, block.columns, line);
            let raw = load::<T, V, FIXED>(block.stored, row, block.columns, line);
            let raw_weight = match weighing {
                Weighing::Matrix(weights) if WEIGHING == WEIGHTED => match weights.stored {
                    Stored::Numbers(_) => load::<T, V, 0>(weights.stored, row, weights.columns, line),
                    Stored::Fixed(_) => load::<T, V, 1>(weights.stored, row, weights.columns, line),
                },
                _ => zero,
            };
            let weight = if WEIGHING == EQUAL { zero } else { V::load(&at.weights.column(0)[line]) };
            let mut square = zero;
            let mut k = 0;
            while k < dimension {
                let mut apart = V::splat(at.positions.number(item, k)).sub(V::load(&at.positions.column(k)[line]));
                if line == last {
                    apart = apart.mul(constants.inside);
                }
                square = apart.mul_add(apart, square);
                k += 1;
            }
            let (quotient, sum) = compare::<V, WEIGHING>(constants, weighing, raw, square, weight, raw_weight, stress);
            stress = sum;
            quotient.store(&mut quotients[line - start]);
            line += 1;
        }
        let mut k = 0;
        while k < dimension {
            let own = V::splat(at.positions.number(item, k));
            let mut moment = zero;
            let mut line = start;
            while line < end {
                let mut apart = own.sub(V::load(&at.positions.column(k)[line]));
                if line == last {
                    apart = apart.mul(constants.inside);
                }
                moment = V::load(&quotients[line - start]).mul_add(apart, moment);
                line += 1;
            }
            out[row * (dimension + 1) + k] += moment.sum();
            k += 1;
        }
        start = end;
    }
    out[row * (dimension + 1) + dimension] += stress.sum();
}

kernel! {
    fn pass[T; V; const D: usize; const FIXED: usize; const WEIGHING: usize](
        block: &Block<'_, T>,
        weighing: &Weighing<'_, T>,
        at: &Configuration<'_, T>,
        strip: usize,
        out: &mut [f64],
    ) {
        let (weight_factor, weight_limit) = match weighing {
            Weighing::Matrix(weights) => (weights.factor, weights.limit),
            _ => (1.0, 0.0),
        };
        let floor = match weighing {
            Weighing::Inverse { floor } | Weighing::InverseSquare { floor } => *floor,
            _ => 1.0,
        };
        let mut inside = T::Line::default();
        let rest = block.columns % T::Line::COUNT;
        let mut lane = 0;
        while lane < T::Line::COUNT {
            if rest == 0 || lane < rest {
                inside.lanes_mut()[lane] = T::from_f64(1.0);
            }
            lane += 1;
        }
        let constants = Constants {
            factor: V::splat(T::from_f64(block.factor)),
            limit: V::splat(T::from_f64(block.limit)),
            floor: V::splat(T::from_f64(floor)),
            shift: V::splat(T::from_f64(at.shift)),
            tiny: V::splat(T::from_f64(1e-30)),
            weight_factor: V::splat(T::from_f64(weight_factor)),
            weight_limit: V::splat(T::from_f64(weight_limit)),
            inside: V::load(&inside),
        };
        let (rows, lines) = (block.rows(), at.positions.lines());
        let mut from = 0;
        while from < lines {
            let to = if from + strip < lines { from + strip } else { lines };
            let mut row = 0;
            if D > 0 && V::IN_ONE_REGISTER {
                while row + 4 <= rows {
                    direct::<T, V, 4, D, FIXED, WEIGHING>(block, weighing, at, &constants, row, from, to, out);
                    row += 4;
                }
            }
            while row < rows {
                if D > 0 {
                    direct::<T, V, 1, D, FIXED, WEIGHING>(block, weighing, at, &constants, row, from, to, out);
                } else {
                    by_dimension::<T, V, FIXED, WEIGHING>(block, weighing, at, &constants, row, from, to, out);
                }
                row += 1;
            }
            from = to;
        }
    }
}

/// Overwrites `out` with each row's moments (one for each dimension) and stress, before multiplication by the weight of
/// the row's own item.
///
/// Positions, targets and the shift have the same unit, and should be about 1 in this unit, because distances below
/// 1e-15 count as zero. The relative error of a distance is 3 rounding units of `T`. Cost: 5 dimensions + 20 operations
/// for each row and item; the rows are read once.
///
/// # Panics
/// Panics if shapes disagree. Positions and weights must have the block's items, and a matrix of weights must have the
/// block's rows. `out` must have dimension + 1 numbers for each row.
///
/// # Example
/// ```
/// use lehr_numerics::compact::{Block, Columns, Stored};
/// use lehr_numerics::guttman::{Configuration, Weighing, guttman};
/// // Two points 2 apart on a line that should be 1 apart: pulled by 1 each, with a stress of 1.
/// let block = Block { stored: Stored::Numbers(&[0.0, 1.0]), columns: 2, factor: 1.0, limit: f64::INFINITY };
/// let (mut positions, weights) = (Columns::<f64>::new(2, 1), Columns::new(2, 1));
/// positions.fill(|item, _| 2.0 * item as f64);
/// let mut out = [0.0; 2];
/// guttman(&block, &Weighing::Equal, &Configuration { positions: &positions, weights: &weights, shift: 0.0, first: 0 }, &mut out);
/// assert_eq!(out, [-1.0, 1.0]);
/// ```
pub fn guttman<T: Real>(block: &Block<'_, T>, weighing: &Weighing<'_, T>, at: &Configuration<'_, T>, out: &mut [f64]) {
    guttman_in_strips(block, weighing, at, STRIP * T::Line::COUNT, out);
}

/// Works like [`guttman`], but converts sums to `f64` after `columns` columns, rounded up to whole lines. [`guttman`]
/// converts them after 1,024 columns (2,048 in single precision). Each block of the product then has the rows of
/// `block` and this many columns. The example `matrix_speed -- ITEMS blocks` compares this function with the 64 x 64
/// blocks of paper 003, section 5.1. This function is slower than [`guttman`], and gives other bits.
///
/// # Panics
/// Panics as [`guttman`] does, and if `columns` is 0.
///
/// # Example
/// ```
/// use lehr_numerics::compact::{Block, Columns, Stored};
/// use lehr_numerics::guttman::{Configuration, Weighing, guttman_in_strips};
/// let block = Block { stored: Stored::Numbers(&[0.0, 1.0]), columns: 2, factor: 1.0, limit: f64::INFINITY };
/// let (mut positions, weights) = (Columns::<f64>::new(2, 1), Columns::new(2, 1));
/// positions.fill(|item, _| 2.0 * item as f64);
/// let mut out = [0.0; 2];
/// guttman_in_strips(&block, &Weighing::Equal, &Configuration { positions: &positions, weights: &weights, shift: 0.0, first: 0 }, 64, &mut out);
/// assert_eq!(out, [-1.0, 1.0]);
/// ```
pub fn guttman_in_strips<T: Real>(
    block: &Block<'_, T>,
    weighing: &Weighing<'_, T>,
    at: &Configuration<'_, T>,
    columns: usize,
    out: &mut [f64],
) {
    assert!(columns > 0, "a strip has columns");
    let (items, dimension) = (at.positions.items(), at.positions.count());
    assert!(items == block.columns && at.weights.items() == items && items > 0, "positions and weights over the items");
    assert_eq!(out.len(), block.rows() * (dimension + 1), "moments and a stress for each row");
    if let Weighing::Matrix(weights) = weighing {
        assert!(weights.columns == items && weights.rows() == block.rows(), "a weight for each dissimilarity");
    }
    out.fill(0.0);
    T::guttman(block, weighing, at, columns.div_ceil(T::Line::COUNT), out);
}

/// Calls the kernel that is compiled for the stored form, the weights and the number of dimensions.
pub(crate) fn dispatched<T: Real>(
    block: &Block<'_, T>,
    weighing: &Weighing<'_, T>,
    at: &Configuration<'_, T>,
    strip: usize,
    out: &mut [f64],
) {
    // Maps usually have two or three dimensions; without weights, such maps have their own register layout.
    let run = match (at.positions.count(), block.stored, matches!(weighing, Weighing::Equal)) {
        (2, Stored::Numbers(_), true) => pass::<T, 2, 0, EQUAL>,
        (2, Stored::Fixed(_), true) => pass::<T, 2, 1, EQUAL>,
        (3, Stored::Numbers(_), true) => pass::<T, 3, 0, EQUAL>,
        (3, Stored::Fixed(_), true) => pass::<T, 3, 1, EQUAL>,
        (_, Stored::Numbers(_), true) => pass::<T, 0, 0, EQUAL>,
        (_, Stored::Fixed(_), true) => pass::<T, 0, 1, EQUAL>,
        (_, Stored::Numbers(_), false) => pass::<T, 0, 0, WEIGHTED>,
        (_, Stored::Fixed(_), false) => pass::<T, 0, 1, WEIGHTED>,
    };
    run(block, weighing, at, strip, out);
}
