//! Computes the origin and the units in which rows are stored, and converts between stored numbers and numbers of the
//! input.
//!
//! The origin is the weighted mean of the rows. The unit of length is a power of two near the largest deviation from
//! the mean. Subtracting the mean keeps the digits that would be lost to large offsets. Dividing by a power of two is
//! exact, and prevents overflow of squares.

use lehr_data::Sparse;
use lehr_numerics::compensated::Sum;

use super::input::Input;
use super::sparse::entries;
use crate::Error;
use crate::round::{LeafCells, on_threads};

/// The upper limit for the distance of a coordinate from the mean. The squares of larger distances, multiplied by
/// weights, may overflow.
pub(crate) const FARTHEST: f64 = 1e140;

/// The number of rows that one thread surveys at a time.
const SECTION: usize = 1 << 16;

/// The origin and the units that relate stored numbers to numbers of the input.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    /// The origin in the unit of the input. A stored `x` represents `origin + length * x` in the input.
    pub origin: Vec<f64>,
    pub length: f64,
    /// 1 divided by `length`. This number is exact, because `length` is a power of two.
    pub per_length: f64,
    /// The origin in stored units.
    pub scaled_origin: Vec<f64>,
    /// The power of two by which the input's weights are divided.
    pub weight: f64,
}

impl Units {
    /// Creates units for coordinates that are relative to `origin` and divided by `length`.
    pub fn new(origin: Vec<f64>, length: f64, weight: f64) -> Self {
        let scaled_origin = origin.iter().map(|zero| zero / length).collect();
        Self { origin, length, per_length: 1.0 / length, scaled_origin, weight }
    }

    /// The columns and stored values of a sparse row of the input. The values are not relative to the origin.
    pub fn entries<'a>(&self, input: &'a Sparse, row: u32) -> impl Iterator<Item = (usize, f64)> + 'a {
        entries(input, row as usize, self.length)
    }

    /// Converts moments of sparse rows to moments about the origin. `sums` begins with the mass, which stays the same.
    pub fn subtract_origin(&self, sums: &mut [f64]) {
        if let Some((mass, moments)) = sums.split_first_mut() {
            moments.iter_mut().zip(&self.scaled_origin).for_each(|(sum, zero)| *sum -= zero * *mass);
        }
    }

    /// Converts a position in the unit of the input to a stored position.
    pub fn store(&self, position: &mut [f64]) {
        position.iter_mut().zip(&self.origin).for_each(|(value, zero)| *value = (*value - zero) * self.per_length);
    }

    /// Copies row `row` of the input to `out` as a stored position, in double precision.
    pub fn read_stored(&self, input: Input<'_>, row: u32, out: &mut [f64]) {
        if let Input::Numbers(points) = input {
            let row = points.row(row as usize);
            for ((out, value), zero) in out.iter_mut().zip(row).zip(&self.origin) {
                *out = (value - zero) * self.per_length;
            }
            return;
        }
        input.read(row as usize, out);
        self.store(out);
    }

    /// The stored weight of row `row` of the input.
    pub fn stored_weight(&self, input: Input<'_>, row: u32) -> f64 {
        input.weight(row as usize) / self.weight
    }

    /// Converts the moments of bits to moments of stored positions. `sums` begins with the mass, which stays the same.
    pub fn store_moments(&self, sums: &mut [f64]) {
        if let Some((mass, moments)) = sums.split_first_mut() {
            moments.iter_mut().zip(&self.origin).for_each(|(sum, zero)| *sum = (*sum - zero * *mass) / self.length);
        }
    }

    /// Computes the weighted sum of squared distances of rows of bits from a stored position. `sums` has the rows' mass
    /// and moments, as [`store_moments`](Self::store_moments) leaves them. A column adds the mass of its ones times
    /// `(1 - y)^2` and the mass of its zeros times `y^2`, so no digits cancel.
    pub fn cost_of_moments(&self, position: &[f64], sums: &[f64]) -> f64 {
        let Some((mass, moments)) = sums.split_first() else { return 0.0 };
        let columns = moments.iter().zip(position).zip(&self.origin).map(|((moment, x), zero)| {
            let (ones, y) = (zero * mass + moment * self.length, zero + self.length * x);
            ones * (1.0 - y) * (1.0 - y) + (mass - ones) * y * y
        });
        columns.sum::<f64>() / (self.length * self.length)
    }

    /// Computes the sum `sum w |x|^2` of stored positions from the mass and the first moments of bits. First moments
    /// are enough, because the square of a bit is the bit itself.
    pub fn square_of_moments(&self, mass: f64, moments: &[f64]) -> f64 {
        let columns = moments.iter().zip(&self.origin);
        columns.map(|(sum, zero)| sum * (1.0 - 2.0 * zero) + mass * zero * zero).sum::<f64>()
            / self.length
            / self.length
    }

    /// Converts a stored position to the unit of the input.
    pub fn position(&self, stored: &[f64]) -> Vec<f64> {
        stored.iter().zip(&self.origin).map(|(x, zero)| zero + self.length * x).collect()
    }

    /// Converts a squared length, such as a temperature or a cost, to the unit of the input. A cost in nats stays the
    /// same.
    pub fn squared(&self, stored: f64) -> f64 {
        stored * self.length * self.length
    }
}

/// Statistics of the rows of positive weight, computed before the rows are laid out.
pub(super) struct Survey {
    /// The power of two near the mean weight.
    pub weight_unit: f64,
    /// The sum of the weights, divided by `weight_unit`.
    pub total_weight: f64,
    /// The weight that counts as one row ([`Rows::row_weight`](super::Rows::row_weight)), divided by `weight_unit`.
    pub row_weight: f64,
    /// The weighted mean of each column.
    pub means: Vec<f64>,
    /// The largest distance of a coordinate from the mean.
    pub deviation: f64,
}

impl Survey {
    /// Computes the statistics of some rows. The deviation includes further positions, which `others` contains one
    /// after another.
    ///
    /// # Errors
    /// Returns [`Error::TooFar`] if squared distances would overflow, and the errors of the threads.
    pub fn new(input: Input<'_>, rows: &[u32], others: &[f64], threads: usize) -> Result<Self, Error> {
        let weight_sum = Sum::of(rows.iter().map(|&row| input.weight(row as usize)));
        let weight_unit = power_of_two_near(weight_sum / rows.len() as f64);
        let total_weight = weight_sum / weight_unit;
        let squares = Sum::of(rows.iter().map(|&row| (input.weight(row as usize) / weight_unit).powi(2)));
        let row_weight = squares / total_weight;
        let (least, most) = extremes_of_all(input, rows, threads)?;
        let largest = least.iter().chain(&most).fold(0.0f64, |largest, value| largest.max(value.abs()));
        // Values are divided by `guard`, because numbers of about 1 cannot overflow when they are weighted and added.
        let guard = power_of_two_near(largest.max(f64::MIN_POSITIVE));
        // The guard is a power of two, so multiplying by its inverse gives the same result as dividing.
        let per_guard = 1.0 / guard;
        let of_sections = by_section(rows, threads, |rows| {
            let mut sums = vec![Sum::default(); input.dimension()];
            for &row in rows {
                let weight = input.weight(row as usize) / weight_unit;
                if let Input::Numbers(points) = input {
                    for (sum, value) in sums.iter_mut().zip(points.row(row as usize)) {
                        sum.add(weight * (value * per_guard));
                    }
                    continue;
                }
                input.for_each_value(row as usize, |j, value| sums[j].add(weight * (value * per_guard)));
            }
            sums
        })?;
        let mut sums = vec![Sum::default(); input.dimension()];
        for of_section in of_sections {
            sums.iter_mut().zip(of_section).for_each(|(sum, part)| sum.join(part));
        }
        // Rounding may put a mean just below the smallest or just above the largest value, even if all rows are equal.
        let mean = |sum: &Sum| sum.value() / total_weight * guard;
        let ends = least.iter().zip(&most);
        let means: Vec<f64> =
            sums.iter().zip(ends).map(|(sum, (least, most))| mean(sum).clamp(*least, *most)).collect();
        // The value that is farthest from the mean is the smallest or the largest value.
        let ends = least.iter().zip(&most).zip(&means);
        let deviation = ends.fold(0.0f64, |far, ((least, most), zero)| far.max(zero - least).max(most - zero));
        let others = others.iter().zip(means.iter().cycle()).map(|(x, zero)| (x - zero).abs());
        let deviation = others.fold(deviation, f64::max);
        if deviation >= FARTHEST || deviation.is_nan() {
            return Err(Error::TooFar { distance: deviation, most: FARTHEST });
        }
        Ok(Self { weight_unit, total_weight, row_weight, means, deviation })
    }

    /// The unit of length: the power of two near the deviation.
    pub fn length(&self) -> f64 {
        if self.deviation > 0.0 { power_of_two_near(self.deviation) } else { 1.0 }
    }
}

/// Calls `of_section` for each section of the rows on several threads. The sections are the same for any number of
/// threads.
fn by_section<R: Default + Send>(
    rows: &[u32],
    threads: usize,
    of_section: impl Fn(&[u32]) -> R + Sync,
) -> Result<impl Iterator<Item = R>, Error> {
    let found = LeafCells::new(rows.len().div_ceil(SECTION), |_| R::default());
    on_threads(threads, found.len(), |section| {
        let rows = &rows[section * SECTION..rows.len().min((section + 1) * SECTION)];
        found.with(section, |found| *found = of_section(rows));
    })?;
    Ok(found.into_values())
}

/// The smallest and the largest value of each column, on several threads.
fn extremes_of_all(input: Input<'_>, rows: &[u32], threads: usize) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut of_sections = by_section(rows, threads, |rows| extremes(input, rows))?;
    let (mut least, mut most) = of_sections.next().unwrap_or_else(|| extremes(input, rows));
    for (lower, upper) in of_sections {
        least.iter_mut().zip(lower).for_each(|(least, value)| *least = least.min(value));
        most.iter_mut().zip(upper).for_each(|(most, value)| *most = most.max(value));
    }
    Ok((least, most))
}

/// The smallest and the largest value of each column over some rows.
fn extremes(input: Input<'_>, rows: &[u32]) -> (Vec<f64>, Vec<f64>) {
    let dimension = input.dimension();
    if let Input::Bits(bits) = input {
        let (mut all, mut any) = (vec![!0u64; bits.width()], vec![0u64; bits.width()]);
        for &row in rows {
            for ((word, all), any) in bits.row(row as usize).iter().zip(&mut all).zip(&mut any) {
                *all &= word;
                *any |= word;
            }
        }
        let of = |words: &[u64]| (0..dimension).map(|j| (words[j / 64] >> (j % 64) & 1) as f64).collect();
        return (of(&all), of(&any));
    }
    let (mut least, mut most) = (vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]);
    if let Input::Numbers(points) = input {
        for &row in rows {
            for ((least, most), &value) in least.iter_mut().zip(&mut most).zip(points.row(row as usize)) {
                *least = least.min(value);
                *most = most.max(value);
            }
        }
        return (least, most);
    }
    let mut present = vec![0; dimension];
    for &row in rows {
        input.for_each_value(row as usize, |j, value| {
            least[j] = least[j].min(value);
            most[j] = most[j].max(value);
            present[j] += 1;
        });
    }
    // If a row does not list a column, its value in this column is 0.
    for j in (0..dimension).filter(|j| present[*j] < rows.len()) {
        least[j] = least[j].min(0.0);
        most[j] = most[j].max(0.0);
    }
    (least, most)
}

/// Returns the largest power of two that is not above `value`, which must be positive.
fn power_of_two_near(value: f64) -> f64 {
    2f64.powi(libm::log2(value).floor().clamp(-1000.0, 1000.0) as i32)
}
