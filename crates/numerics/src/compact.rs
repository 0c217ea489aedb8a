//! Rows of dissimilarities in the compact form in which they are stored, and their products with columns of numbers.
//!
//! A matrix of N x N is read once for each iteration, and takes most of the memory. So kernels read it in its stored
//! form: numbers of 64 or 32 bits, or 16-bit whole numbers, which are widened in registers. An [`Entry`] is the value
//! of a pair in a product: the dissimilarity, its square, 1 if present, or a weight computed from it. Columns
//! (memberships, positions, directions of conjugate gradients) are stored as lines, one column after another. So a line
//! of a row is multiplied with a line of each column.
//!
//! Sums are in the rows' precision within a strip of columns, and in `f64` beyond it. Their order depends only on the
//! number of items. [`crate::guttman`] is the other kernel over such rows.

use crate::dispatch::kernel;
use crate::guttman::{Configuration, Weighing};
use crate::lanes::{Lanes, Line, Real};

/// The number of lines in a strip. Sums are converted to `f64` after each strip, and strips of a few columns stay in
/// the first-level cache.
pub(crate) const STRIP: usize = 128;

/// Numbers in their stored form, row after row.
#[derive(Clone, Copy, Debug)]
pub enum Stored<'a, T> {
    /// Floating-point numbers.
    Numbers(&'a [T]),
    /// 16-bit whole numbers.
    Fixed(&'a [u16]),
}

/// A few whole rows of a matrix.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T> {
    /// The stored numbers, rows x `columns`.
    pub stored: Stored<'a, T>,
    /// The length of a row, which is the number of items of the matrix.
    pub columns: usize,
    /// The factor by which a stored number is multiplied to give a dissimilarity.
    pub factor: f64,
    /// The limit at which a stored number counts as missing, as NaN does; infinite for matrices without missing values.
    pub limit: f64,
}

impl<T> Block<'_, T> {
    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self.stored {
            Stored::Numbers(numbers) => numbers.len() / self.columns.max(1),
            Stored::Fixed(numbers) => numbers.len() / self.columns.max(1),
        }
    }
}

/// The value of a block's entry in a product. Missing entries count as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Entry {
    /// The dissimilarity.
    Value,
    /// The squared dissimilarity.
    Square,
    /// 1 if the dissimilarity is present.
    Present,
    /// 1 divided by the dissimilarity, or by `floor` if `floor` is larger.
    Inverse {
        /// The smallest divisor, above 0.
        floor: f64,
    },
    /// 1 divided by the square of the dissimilarity, or of `floor` if `floor` is larger.
    InverseSquare {
        /// The smallest divisor before squaring, above 0.
        floor: f64,
    },
}

/// Columns of numbers over the items of a matrix, each in whole lines that are padded with zeros.
///
/// # Example
/// ```
/// use lehr_numerics::compact::Columns;
/// let mut columns = Columns::<f64>::new(3, 2);
/// columns.fill(|item, column| (10 * column + item) as f64);
/// assert_eq!((columns.get(2, 0), columns.get(2, 1)), (2.0, 12.0));
/// ```
#[derive(Clone, Debug)]
pub struct Columns<T: Real> {
    items: usize,
    count: usize,
    values: Vec<T::Line>,
}

impl<T: Real> Columns<T> {
    /// Creates `count` columns of zeros over `items` items.
    pub fn new(items: usize, count: usize) -> Self {
        Self { items, count, values: vec![T::Line::default(); count * items.div_ceil(T::Line::COUNT)] }
    }

    /// Sets all numbers, and rounds them to the precision of the columns.
    pub fn fill(&mut self, value: impl Fn(usize, usize) -> f64) {
        let lines = self.lines();
        for (column, values) in self.values.chunks_exact_mut(lines.max(1)).enumerate() {
            for item in 0..self.items {
                values[item / T::Line::COUNT].lanes_mut()[item % T::Line::COUNT] = T::from_f64(value(item, column));
            }
        }
    }

    /// Returns the value of an item in a column.
    ///
    /// # Panics
    /// Panics if the item or the column does not exist.
    pub fn get(&self, item: usize, column: usize) -> f64 {
        self.number(item, column).to_f64()
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns the number of columns.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of lines in a column.
    pub(crate) fn lines(&self) -> usize {
        self.items.div_ceil(T::Line::COUNT)
    }

    #[inline(always)]
    pub(crate) fn number(&self, item: usize, column: usize) -> T {
        self.values[column * self.lines() + item / T::Line::COUNT].lanes()[item % T::Line::COUNT]
    }

    #[inline(always)]
    pub(crate) fn column(&self, column: usize) -> &[T::Line] {
        let lines = self.lines();
        &self.values[column * lines..][..lines]
    }
}

/// The kernels of both precisions. They are compiled only here, because they are large and every crate that calls them
/// with its own `T` would compile them again.
pub(crate) trait PairKernels: Sized {
    fn add_products(
        block: &Block<'_, Self>,
        entry: Entry,
        is_plain: bool,
        columns: &Columns<Self>,
        from: usize,
        to: usize,
        out: &mut [f64],
    ) where
        Self: Real;

    fn guttman(
        block: &Block<'_, Self>,
        weighing: &Weighing<'_, Self>,
        at: &Configuration<'_, Self>,
        strip: usize,
        out: &mut [f64],
    ) where
        Self: Real;
}

macro_rules! kernels {
    ($($number:ty),*) => {$(
        impl PairKernels for $number {
            fn add_products(
                block: &Block<'_, Self>,
                entry: Entry,
                is_plain: bool,
                columns: &Columns<Self>,
                from: usize,
                to: usize,
                out: &mut [f64],
            ) {
                let run = match (block.stored, is_plain) {
                    (Stored::Numbers(_), true) => product_kernel::<Self, 0, COMPLETE>,
                    (Stored::Numbers(_), false) => product_kernel::<Self, 0, ANY>,
                    (Stored::Fixed(_), true) => product_kernel::<Self, 1, COMPLETE>,
                    (Stored::Fixed(_), false) => product_kernel::<Self, 1, ANY>,
                };
                run(block, entry, columns, from, to, out);
            }

            fn guttman(
                block: &Block<'_, Self>,
                weighing: &Weighing<'_, Self>,
                at: &Configuration<'_, Self>,
                strip: usize,
                out: &mut [f64],
            ) {
                crate::guttman::dispatched(block, weighing, at, strip, out);
            }
        }
    )*};
}

kernels!(f32, f64);

/// Prefetches line `line` of a row while other lines are processed. The strip of the next row is elsewhere in memory,
/// where the processor's own prefetching does not look. Without this prefetch, passes over a large matrix would mostly
/// wait for memory.
#[inline(always)]
pub(crate) fn prefetch<T: Real, V: Lanes<Number = T>>(stored: Stored<'_, T>, row: usize, columns: usize, line: usize) {
    let place = row * columns + line * T::Line::COUNT;
    match stored {
        Stored::Numbers(numbers) => V::prefetch(numbers, place),
        Stored::Fixed(numbers) => V::prefetch(numbers, place),
    }
}

/// Loads a line of numbers, beginning at index `start`.
#[inline(always)]
fn load_whole<T: Real, V: Lanes<Number = T>, const FIXED: usize>(stored: Stored<'_, T>, start: usize) -> V {
    match stored {
        Stored::Numbers(numbers) if FIXED == 0 => V::load_at(&numbers[start..]),
        Stored::Fixed(numbers) if FIXED == 1 => V::load_u16(&numbers[start..]),
        _ => unreachable!("the kernel was chosen by how the numbers are stored"),
    }
}

/// Loads line `line` of a row, padded with zeros.
#[inline(always)]
pub(crate) fn load<T: Real, V: Lanes<Number = T>, const FIXED: usize>(
    stored: Stored<'_, T>,
    row: usize,
    columns: usize,
    line: usize,
) -> V {
    let (start, end) = (row * columns + line * T::Line::COUNT, (row + 1) * columns);
    if start + T::Line::COUNT <= end {
        return load_whole::<T, V, FIXED>(stored, start);
    }
    match stored {
        Stored::Numbers(numbers) if FIXED == 0 => {
            let mut padded = T::Line::default();
            let lanes = padded.lanes_mut();
            let mut lane = 0;
            while start + lane < end {
                lanes[lane] = numbers[start + lane];
                lane += 1;
            }
            V::load(&padded)
        }
        Stored::Fixed(numbers) if FIXED == 1 => {
            let mut padded = [0u16; 16];
            let mut lane = 0;
            while start + lane < end {
                padded[lane] = numbers[start + lane];
                lane += 1;
            }
            V::load_u16(&padded)
        }
        _ => unreachable!("the kernel was chosen by how the numbers are stored"),
    }
}

/// The cases that are compiled: dissimilarities of a complete matrix, and any other [`Entry`] of any matrix.
const COMPLETE: usize = 0;
const ANY: usize = 1;

/// Returns the values of one line of a row.
#[inline(always)]
fn value_of<V: Lanes, const KIND: usize>(raw: V, entry: Entry, factor: V, limit: V, floor: V) -> V {
    let dissimilarity = raw.mul(factor);
    if KIND == COMPLETE {
        return dissimilarity;
    }
    let one = V::splat(V::Number::from_f64(1.0));
    let value = match entry {
        Entry::Value => dissimilarity,
        Entry::Square => dissimilarity.mul(dissimilarity),
        Entry::Present => one,
        Entry::Inverse { .. } => one.div(dissimilarity.max(floor)),
        Entry::InverseSquare { .. } => {
            let inverse = one.div(dissimilarity.max(floor));
            inverse.mul(inverse)
        }
    };
    V::select_less(raw, limit, value, V::splat(V::Number::default()))
}

/// Multiplies `R` rows with `C` columns over a strip of lines.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn tile<T: Real, V: Lanes<Number = T>, const R: usize, const C: usize, const FIXED: usize, const KIND: usize>(
    block: &Block<'_, T>,
    entry: Entry,
    columns: &Columns<T>,
    row: usize,
    column: usize,
    from: usize,
    to: usize,
    out: &mut [f64],
) {
    let floor = match entry {
        Entry::Inverse { floor } | Entry::InverseSquare { floor } => floor,
        _ => 1.0,
    };
    let constants = [block.factor, block.limit, floor].map(T::from_f64);
    let constants = [V::splat(constants[0]), V::splat(constants[1]), V::splat(constants[2])];
    // Only the last line of a row may be padded. The loop over whole lines does not check for that.
    let whole = (block.columns / T::Line::COUNT).clamp(from, to);
    let mut lines: [&[T::Line]; C] = [&[]; C];
    let mut c = 0;
    while c < C {
        lines[c] = &columns.column(column + c)[..to];
        c += 1;
    }
    let is_first = column == 0;
    let mut sums = [[V::splat(T::default()); C]; R];
    let mut line = from;
    while line < whole {
        step::<T, V, R, C, FIXED, KIND, true>(block, entry, constants, row, &lines, line, is_first, &mut sums);
        line += 1;
    }
    while line < to {
        step::<T, V, R, C, FIXED, KIND, false>(block, entry, constants, row, &lines, line, is_first, &mut sums);
        line += 1;
    }
    let mut r = 0;
    while r < R {
        let mut c = 0;
        while c < C {
            out[(row + r) * columns.count + column + c] += sums[r][c].sum();
            c += 1;
        }
        r += 1;
    }
}

/// Multiplies one line of `R` rows with one line of `C` columns.
#[inline(always)]
#[expect(clippy::too_many_arguments)]
fn step<
    T: Real,
    V: Lanes<Number = T>,
    const R: usize,
    const C: usize,
    const FIXED: usize,
    const KIND: usize,
    const WHOLE: bool,
>(
    block: &Block<'_, T>,
    entry: Entry,
    [factor, limit, floor]: [V; 3],
    row: usize,
    lines: &[&[T::Line]; C],
    line: usize,
    is_first: bool,
    sums: &mut [[V; C]; R],
) {
    let mut others = [V::splat(T::default()); C];
    let mut c = 0;
    while c < C {
        others[c] = V::load(&lines[c][line]);
        c += 1;
    }
    let mut r = 0;
    while r < R {
        if is_first {
            prefetch::<T, V>(block.stored, row + R + r, block.columns, line);
        }
        let raw = if WHOLE {
            load_whole::<T, V, FIXED>(block.stored, (row + r) * block.columns + line * T::Line::COUNT)
        } else {
            load::<T, V, FIXED>(block.stored, row + r, block.columns, line)
        };
        let value = value_of::<V, KIND>(raw, entry, factor, limit, floor);
        let mut c = 0;
        while c < C {
            sums[r][c] = value.mul_add(others[c], sums[r][c]);
            c += 1;
        }
        r += 1;
    }
}

/// Multiplies `R` rows with all columns over a strip.
#[inline(always)]
fn band<T: Real, V: Lanes<Number = T>, const R: usize, const FIXED: usize, const KIND: usize>(
    block: &Block<'_, T>,
    entry: Entry,
    columns: &Columns<T>,
    row: usize,
    from: usize,
    to: usize,
    out: &mut [f64],
) {
    let mut column = 0;
    if V::IN_ONE_REGISTER {
        while column + 4 <= columns.count {
            tile::<T, V, R, 4, FIXED, KIND>(block, entry, columns, row, column, from, to, out);
            column += 4;
        }
    }
    while column + 2 <= columns.count && !V::IN_ONE_REGISTER {
        tile::<T, V, R, 2, FIXED, KIND>(block, entry, columns, row, column, from, to, out);
        column += 2;
    }
    while column < columns.count {
        tile::<T, V, R, 1, FIXED, KIND>(block, entry, columns, row, column, from, to, out);
        column += 1;
    }
}

kernel! {
    fn product_kernel[T; V; const FIXED: usize; const KIND: usize](
        block: &Block<'_, T>,
        entry: Entry,
        columns: &Columns<T>,
        from: usize,
        to: usize,
        out: &mut [f64],
    ) {
        let rows = block.rows();
        let mut row = 0;
        if V::IN_ONE_REGISTER {
            while row + 4 <= rows {
                band::<T, V, 4, FIXED, KIND>(block, entry, columns, row, from, to, out);
                row += 4;
            }
        } else {
            while row + 2 <= rows {
                band::<T, V, 2, FIXED, KIND>(block, entry, columns, row, from, to, out);
                row += 2;
            }
        }
        while row < rows {
            band::<T, V, 1, FIXED, KIND>(block, entry, columns, row, from, to, out);
            row += 1;
        }
    }
}

/// Adds the products of a block's rows with columns to `out`: rows x columns numbers for each of `entries`, row after
/// row.
///
/// ```text
/// out[e][i][k] += sum_j entry_e(D_ij) columns[k][j]
/// ```
///
/// The rows are read once for all entries, in strips that stay in the cache. Cost: rows x items x columns multiply-adds
/// for each entry.
///
/// # Panics
/// Panics if the columns do not have the block's items, or if `out` does not have rows x columns numbers for each
/// entry.
///
/// # Example
/// ```
/// use lehr_numerics::compact::{Block, Columns, Entry, Stored, add_products};
/// let block = Block { stored: Stored::Fixed(&[0, 2, 65535]), columns: 3, factor: 0.5, limit: 65534.5 };
/// let mut ones = Columns::<f32>::new(3, 1);
/// ones.fill(|_, _| 1.0);
/// let (mut sums, mut counts) = ([0.0], [0.0]);
/// add_products(&block, &ones, &mut [(Entry::Value, &mut sums), (Entry::Present, &mut counts)]);
/// assert_eq!((sums, counts), ([1.0], [2.0]));
/// ```
pub fn add_products<T: Real>(block: &Block<'_, T>, columns: &Columns<T>, entries: &mut [(Entry, &mut [f64])]) {
    assert_eq!(columns.items(), block.columns, "columns over the items");
    let lines = columns.lines();
    for from in (0..lines).step_by(STRIP) {
        let to = lines.min(from + STRIP);
        for (entry, out) in entries.iter_mut() {
            assert_eq!(out.len(), block.rows() * columns.count(), "a number for each row and column");
            let is_plain = *entry == Entry::Value && block.limit == f64::INFINITY;
            T::add_products(block, *entry, is_plain, columns, from, to, out);
        }
    }
}
