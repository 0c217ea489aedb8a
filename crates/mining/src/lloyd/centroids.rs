//! Assigns new rows to the clusters of a fit. For each row, finds the nearest centre, the probability of its cluster,
//! and the distance.

use lehr_data::{Incomplete, Sparse};
use lehr_numerics::elementary::exp;
use lehr_numerics::nearest::{HardCenters, HardScratch, Kind, nearest_sums};
use lehr_numerics::sparse::{HardSparseCenters, SparseRows, SparseScratch, sparse_distances};
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};
use serde::{Deserialize, Serialize};

use super::label::nearest_of;
use super::noise::{self, OUTLIER};
use crate::Error;
use crate::borders::{Borders, Neighbourhoods};
use crate::rows::bernoulli::Costs;
use crate::rows::{Input, RowMajor, SparseDistance, entries};

/// The number of rows that are processed together.
const BLOCK: usize = 256;

/// The lower limit of accurate squared distances. A smaller sum of squares may have lost digits to underflow.
const TINY: f64 = 1e-280;

/// The largest difference from the origin along a column for which squared distances are used. The squares of larger
/// differences may overflow.
const VAST: f64 = 1e150;

/// Centres that divide the whole space into clusters, and give the probability that a row belongs to each cluster.
///
/// The centroids of a fit include the borders between neighbouring clusters, from which the probability of each label
/// is computed (docs/design/certainty.md). Centroids that are created from coordinates have no borders; their
/// probabilities are memberships at a temperature.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::vector::Centroids;
/// let centroids = Centroids::new(1, vec![0.0, 10.0], 20.0)?;
/// let found = centroids.assign(&Points::new(vec![1.0, 5.0, 12.0], 1)?)?;
/// assert_eq!((found.labels, found.distances), (vec![0, 0, 1], vec![1.0, 5.0, 2.0]));
/// // A row half way between two centres belongs to each with the same probability.
/// assert!((found.probabilities[1] - 0.5).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Centroids {
    dimension: usize,
    /// The coordinates, K x D.
    centers: Vec<f64>,
    /// The temperature, in the squared unit of the points. It determines the noise component's share, and memberships
    /// if there are no borders.
    temperature: f64,
    /// The outlier radius. A row farther than this from every centre belongs to no cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sponge: Option<f64>,
    /// Whether centres are frequencies of bits. The nearest centre of a row is then the centre for which the row is
    /// most likely.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bernoulli: bool,
    /// The borders between neighbouring clusters.
    #[serde(default, skip_serializing_if = "Borders::is_empty")]
    borders: Borders,
}

/// The clusters of rows, in the order of the input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assignment {
    /// The nearest centre of each row; the first if several are equally near. [`OUTLIER`] if no centre is within the
    /// outlier radius.
    pub labels: Vec<u32>,
    /// The probability that each row belongs to its cluster, from the borders with neighbouring clusters. Without
    /// borders, the probability is the membership at the temperature, with equal priors. For an outlier, the
    /// probability is the noise component's share. All probabilities are in [0, 1].
    pub probabilities: Vec<f64>,
    /// The distance between each row, even an outlier, and its nearest centre, in the unit of the points. With a
    /// Bernoulli cost ([`Centroids::with_bernoulli`]), this is the cost of the row in nats.
    pub distances: Vec<f64>,
}

impl Centroids {
    /// Creates centroids from K x D coordinates and a temperature. At temperature 0, memberships are hard.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    pub fn new(dimension: usize, centers: Vec<f64>, temperature: f64) -> Result<Self, Error> {
        let borders = Borders::default();
        let centroids = Self { dimension, centers, temperature, sponge: None, bernoulli: false, borders };
        centroids.check()?;
        Ok(centroids)
    }

    /// Adds a column in which all centres are 0.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    ///
    /// # Example
    /// ```
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(1, vec![3.0, 10.0], 0.0)?.with_zero_column()?;
    /// assert_eq!([centroids.center(0), centroids.center(1)], [[3.0, 0.0], [10.0, 0.0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_zero_column(&self) -> Result<Self, Error> {
        let centers = self.centers.chunks_exact(self.dimension);
        let centers = centers.flat_map(|center| center.iter().copied().chain([0.0])).collect();
        let centroids = Self { dimension: self.dimension + 1, centers, ..self.clone() };
        centroids.check()?;
        Ok(centroids)
    }

    /// Returns some of the centres, without an outlier radius and borders: each row belongs to the nearest of them.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    ///
    /// # Panics
    /// Panics if there is no such centre.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Points;
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(1, vec![0.0, 10.0, 99.0], 0.0)?.with_sponge(2.0)?.only(&[0, 2])?;
    /// assert_eq!(centroids.assign(&Points::new(vec![11.0, 60.0], 1)?)?.labels, [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only(&self, clusters: &[usize]) -> Result<Self, Error> {
        let centers = clusters.iter().flat_map(|k| self.center(*k)).copied().collect();
        Ok(Self { bernoulli: self.bernoulli, ..Self::new(self.dimension, centers, self.temperature)? })
    }

    /// Sets an outlier radius: rows farther than `radius` from every centre are in no cluster.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    ///
    /// # Example
    /// ```
    /// use lehr_data::Points;
    /// use lehr_mining::vector::{Centroids, OUTLIER};
    /// let centroids = Centroids::new(1, vec![0.0, 10.0], 0.0)?.with_sponge(2.0)?;
    /// assert_eq!(centroids.assign(&Points::new(vec![1.0, 5.0, 12.0], 1)?)?.labels, [0, OUTLIER, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_sponge(mut self, radius: f64) -> Result<Self, Error> {
        self.sponge = Some(radius);
        self.check()?;
        Ok(self)
    }

    /// Declares that the centres are frequencies of bits. A row of bits then belongs to the centre with the lowest cost
    /// `-ln p(x)`, in nats like the temperature.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    ///
    /// # Example
    /// ```
    /// use lehr_data::Fingerprints;
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(2, vec![0.5, 0.5, 0.9, 0.1], 1.0)?.with_bernoulli()?;
    /// let found = centroids.assign(&Fingerprints::new(vec![0b00, 0b01], 2)?)?;
    /// assert_eq!(found.labels, [0, 1]);
    /// assert!((found.distances[1] + 2.0 * 0.9f64.ln()).abs() < 1e-12);
    /// assert!((found.probabilities[1] - 0.81 / (0.81 + 0.25)).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_bernoulli(mut self) -> Result<Self, Error> {
        self.bernoulli = true;
        self.check()?;
        Ok(self)
    }

    /// Sets the borders that a fit found.
    ///
    /// # Errors
    /// Returns the errors of [`Centroids::check`].
    pub fn with_borders(mut self, borders: Borders) -> Result<Self, Error> {
        self.borders = borders;
        self.check()?;
        Ok(self)
    }

    /// The borders between neighbouring clusters.
    pub fn borders(&self) -> &Borders {
        &self.borders
    }

    /// Whether centres are frequencies of bits ([`with_bernoulli`](Self::with_bernoulli)).
    pub fn is_bernoulli(&self) -> bool {
        self.bernoulli
    }

    /// The outlier radius, if there is one.
    pub fn sponge(&self) -> Option<f64> {
        self.sponge
    }

    /// Checks centres that come from outside, for example from a file.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if there is no centre, lengths disagree, a number is not finite, or the temperature
    /// is negative. Also returns this error if frequencies are outside 0 to 1 or combined with an outlier radius, or if
    /// borders do not match the clusters.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let length = self.centers.len();
        if self.dimension == 0 || length == 0 || !length.is_multiple_of(self.dimension) {
            let found = format!("{length} in rows of {}", self.dimension);
            return wrong("centers", "at least one centre, with a coordinate for each column", found);
        }
        if !self.centers.iter().all(|x| x.is_finite()) {
            return wrong("centers", "finite numbers", "one that is not".into());
        }
        if self.bernoulli && !self.centers.iter().all(|y| (0.0..=1.0).contains(y)) {
            return wrong("centers", "frequencies of bits, 0 to 1", "one that is not".into());
        }
        if self.bernoulli
            && let Some(radius) = self.sponge
        {
            return wrong("sponge", "none where centres are frequencies of bits", radius.to_string());
        }
        if !(self.temperature.is_finite() && self.temperature >= 0.0) {
            return wrong("temperature", "a finite number from 0 on", self.temperature.to_string());
        }
        if let Some(radius) = self.sponge
            && !(radius > 0.0 && (radius * radius).is_normal())
        {
            return wrong("sponge", "a positive radius whose square a number can hold", radius.to_string());
        }
        self.borders.check(self.len())
    }

    /// The number of centres, at least 1.
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> usize {
        self.centers.len() / self.dimension
    }

    /// The number of columns of the points.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The coordinates of centre `k`.
    ///
    /// # Panics
    /// Panics if there is no centre `k`.
    pub fn center(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.centers, self.dimension).row(k)
    }

    /// The coordinates of all centres, K x D.
    pub(super) fn positions(&self) -> &[f64] {
        &self.centers
    }

    /// The temperature of memberships, in the squared unit of the points.
    pub fn temperature(&self) -> f64 {
        self.temperature
    }

    /// Finds the nearest centre of each row. The rows' weights have no effect.
    ///
    /// Cost: N x K x D multiply-adds, and D more for each row and neighbouring cluster, on the caller's thread.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the points and the centres have different numbers of columns. Also returns this
    /// error if centres are frequencies of bits and the points are not bits.
    pub fn assign<'a>(&self, input: impl Into<Input<'a>>) -> Result<Assignment, Error> {
        let (mut found, shares) = (Assignment::default(), self.shares());
        self.for_each_row(input.into(), &mut |nearest, excess, distance| {
            self.put(nearest, shares.probability(nearest, excess, |_, _| ()), distance, &mut found);
        })?;
        Ok(found)
    }

    /// Calls `each` for every row, with its nearest centre, the excess cost of the other centres, and the distance to
    /// the nearest centre.
    fn for_each_row(&self, input: Input<'_>, each: &mut Each<'_>) -> Result<(), Error> {
        self.fits(input)?;
        if let (Input::Bits(rows), true) = (input, self.bernoulli) {
            let of_centers = Costs::new(self.dimension, &self.centers);
            let mut costs = Vec::new();
            for row in 0..rows.len() {
                of_centers.of(rows.row(row), &mut costs);
                let nearest = nearest_of(&costs);
                each(nearest, &|k| costs[k] - costs[nearest], costs[nearest]);
            }
            return Ok(());
        }
        if let Input::Sparse(rows) = input
            && self.dimension > DIRECT_DIMENSION
        {
            self.for_each_sparse(rows, each);
            return Ok(());
        }
        let (origin, dimension) = (self.origin(), self.dimension);
        let is_vast = self.has_vast_centers(&origin);
        let mut hard = HardCenters::default();
        hard.begin(dimension);
        for k in 0..self.len() {
            let center: Vec<f64> = self.center(k).iter().zip(&origin).map(|(x, origin)| x - origin).collect();
            hard.push(&center);
        }
        let mut sums = vec![0.0; self.len() * Kind::Centers.len(dimension)];
        let mut scratch = HardScratch::default();
        let mut values = Vec::new();
        for first in (0..input.len()).step_by(BLOCK) {
            let tiles = self.tiles(input, &origin, first, &mut values);
            nearest_sums(&tiles, &hard, Kind::Centers, &mut scratch, &mut sums);
            for row in 0..tiles.rows() {
                let coordinates = RowMajor::new(&values, dimension).row(row);
                if is_vast || self.is_vast(coordinates, &origin) {
                    self.without_squares(coordinates, each);
                    continue;
                }
                let nearest = scratch.nearest(row);
                let own = squared(coordinates, self.center(nearest));
                let excess = |k| squared(coordinates, self.center(k)) - own;
                each(nearest, &excess, distance(coordinates, self.center(nearest)));
            }
        }
        Ok(())
    }

    /// Does the same as [`for_each_row`](Self::for_each_row) for one row whose squared distances overflow.
    fn without_squares(&self, row: &[f64], each: &mut Each<'_>) {
        let distances: Vec<f64> = (0..self.len()).map(|k| distance(row, self.center(k))).collect();
        let nearest = nearest_of(&distances);
        let least = distances[nearest];
        // The difference of equal distances is 0, even if they are infinite.
        let excess = |k: usize| match distances[k] == least {
            true => 0.0,
            false => (distances[k] - least) * (distances[k] + least),
        };
        each(nearest, &excess, least);
    }

    fn shares(&self) -> Shares<'_> {
        let neighbours = (!self.borders.is_empty()).then(|| self.borders.neighbourhoods(self.len()));
        Shares { neighbours, temperature: self.temperature, clusters: self.len() }
    }

    /// Finds the nearest centre of each row, from the columns in which the row has values. The squared distance over
    /// these columns is scaled up to all columns, so that rows with few values do not seem nearer. Rows without missing
    /// values get the same result as from [`assign`](Self::assign).
    ///
    /// Cost: the same as for [`assign`](Self::assign), on the caller's thread.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the rows and the centres have different numbers of columns, or if a row has no
    /// value.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Incomplete;
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(2, vec![0.0, 0.0, 10.0, 10.0], 0.0)?;
    /// let found = centroids.assign_incomplete(&Incomplete::new(vec![f64::NAN, 7.0, 3.0, 4.0], 2)?)?;
    /// assert_eq!((found.labels, found.distances), (vec![1, 0], vec![18f64.sqrt(), 5.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assign_incomplete(&self, rows: &Incomplete) -> Result<Assignment, Error> {
        let (mut found, shares) = (Assignment::default(), self.shares());
        self.for_each_incomplete(rows, &mut |nearest, excess, distance| {
            self.put(nearest, shares.probability(nearest, excess, |_, _| ()), distance, &mut found);
        })?;
        Ok(found)
    }

    /// Returns the memberships of rows with missing values, as [`memberships`](Self::memberships) does for complete
    /// rows.
    ///
    /// # Errors
    /// Returns the same errors as [`assign_incomplete`](Self::assign_incomplete).
    pub fn memberships_incomplete(&self, rows: &Incomplete) -> Result<Vec<f64>, Error> {
        let (mut all, shares) = (Vec::with_capacity(rows.len() * self.len()), self.shares());
        self.for_each_incomplete(rows, &mut |nearest, excess, distance| {
            self.put_all(&shares, nearest, excess, distance, &mut all);
        })?;
        Ok(all)
    }

    /// Does the same as [`for_each_row`](Self::for_each_row) for rows with missing values.
    fn for_each_incomplete(&self, rows: &Incomplete, each: &mut Each<'_>) -> Result<(), Error> {
        if rows.dimension() != self.dimension {
            return Err(Error::Parameter {
                name: "rows",
                expected: "as many columns as the centres have",
                found: format!("{} columns, where the centres have {}", rows.dimension(), self.dimension),
            });
        }
        let mut distances = vec![0.0; self.len()];
        for index in 0..rows.len() {
            let row = rows.row(index);
            let present = row.iter().filter(|value| !value.is_nan()).count();
            if present == 0 {
                let expected = "a value in one column of each row at least";
                return Err(Error::Parameter { name: "rows", expected, found: format!("none in row {}", index + 1) });
            }
            if present == self.dimension {
                self.without_squares(row, each);
                continue;
            }
            let whole = self.dimension as f64 / present as f64;
            for (k, squared) in distances.iter_mut().enumerate() {
                let there = row.iter().zip(self.center(k)).filter(|(x, _)| !x.is_nan());
                *squared = whole * there.map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
            }
            let nearest = nearest_of(&distances);
            each(nearest, &|k| distances[k] - distances[nearest], distances[nearest].sqrt());
        }
        Ok(())
    }

    /// Appends the label, probability and distance of a row. `share` is the row's membership in its nearest centre.
    fn put(&self, nearest: usize, share: f64, distance: f64, found: &mut Assignment) {
        let (label, share) = match self.within(distance) {
            Ok(left) => (nearest as u32, left * share),
            Err(outside) => (OUTLIER, outside),
        };
        found.labels.push(label);
        found.probabilities.push(share);
        found.distances.push(distance);
    }

    /// Appends the memberships of a row in all clusters.
    fn put_all(&self, shares: &Shares<'_>, nearest: usize, excess: &Excess<'_>, distance: f64, all: &mut Vec<f64>) {
        let first = all.len();
        all.resize(first + self.len(), 0.0);
        let own = shares.probability(nearest, excess, |k, odds| all[first + k] = odds);
        all[first + nearest] = 1.0;
        let left = own * self.within(distance).unwrap_or_else(|outside| 1.0 - outside);
        all[first..].iter_mut().for_each(|share| *share *= left);
    }

    /// Does the same as [`for_each_row`](Self::for_each_row) for sparse rows.
    fn for_each_sparse(&self, rows: &Sparse, each: &mut Each<'_>) {
        let (origin, dimension, count) = (self.origin(), self.dimension, self.len());
        let is_vast = self.has_vast_centers(&origin) || self.is_vast(&vec![0.0; dimension], &origin);
        let mut centers = HardSparseCenters::default();
        centers.begin(dimension, count);
        let mut exact = Vec::with_capacity(count);
        for k in 0..count {
            let center: Vec<f64> = self.center(k).iter().zip(&origin).map(|(x, origin)| x - origin).collect();
            centers.set(k, &center, &origin);
            exact.push(SparseDistance::to(&origin, &center));
        }
        let from_origin = SparseDistance::to(&origin, &vec![0.0; dimension]);
        let (mut scratch, mut distances) = (SparseScratch::default(), Vec::new());
        let mut full = Vec::new();
        for first in (0..rows.len()).step_by(BLOCK) {
            let block_rows = BLOCK.min(rows.len() - first);
            let length = |i: usize| from_origin.of(entries(rows, first + i, 1.0));
            let block = SparseRows::<f64>::new(block_rows, dimension, 1.0, |i| rows.row(first + i), length, |_| 1.0);
            distances.resize(block_rows * count, 0.0);
            sparse_distances(&block, &centers, &mut scratch, &mut distances);
            for (row, distances) in distances.chunks_exact(count).enumerate() {
                let row = first + row;
                let has_vast = || entries(rows, row, 1.0).any(|(j, x)| (x - origin[j]).abs() > VAST);
                if is_vast || has_vast() {
                    full.resize(dimension, 0.0);
                    rows.read(row, &mut full);
                    self.without_squares(&full, each);
                    continue;
                }
                let nearest = nearest_of(distances);
                let squared = exact[nearest].of(entries(rows, row, 1.0));
                let length = if squared == 0.0 || squared > TINY {
                    squared.sqrt()
                } else {
                    full.resize(dimension, 0.0);
                    rows.read(row, &mut full);
                    distance(&full, self.center(nearest))
                };
                each(nearest, &|k| distances[k] - distances[nearest], length);
            }
        }
    }

    /// Returns the probability that each row belongs to each cluster, from the borders of the row's nearest centre.
    /// Without borders, the probability is the membership at the temperature, with equal priors. The result is N x K,
    /// row-major. The probabilities of a row add up to 1. If there is an outlier radius, this sum includes the noise
    /// component's share, which is not in the result.
    ///
    /// Cost: the same as for [`assign`](Self::assign), and memory for N x K numbers.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the points and the centres have different numbers of columns. Also returns this
    /// error if centres are frequencies of bits and the points are not bits.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Points;
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(1, vec![0.0, 10.0], 20.0)?;
    /// let memberships = centroids.memberships(&Points::new(vec![4.0], 1)?)?;
    /// // exp(-16 / 20) and exp(-36 / 20)
    /// assert!((memberships[0] / memberships[1] - 1f64.exp()).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memberships<'a>(&self, input: impl Into<Input<'a>>) -> Result<Vec<f64>, Error> {
        let input = input.into();
        let (mut all, shares) = (Vec::with_capacity(input.len() * self.len()), self.shares());
        self.for_each_row(input, &mut |nearest, excess, distance| {
            self.put_all(&shares, nearest, excess, distance, &mut all);
        })?;
        Ok(all)
    }

    /// Returns the share of a row that the noise component leaves to the clusters. `distance` is the row's distance to
    /// its nearest centre. If the row is an outlier, returns `Err` with the noise component's share.
    fn within(&self, distance: f64) -> Result<f64, f64> {
        match self.sponge {
            None => Ok(1.0),
            Some(radius) if self.temperature > 0.0 => {
                noise::within(radius * radius, distance * distance, self.temperature)
            }
            Some(radius) if distance > radius => Err(1.0),
            Some(_) => Ok(1.0),
        }
    }

    fn has_vast_centers(&self, origin: &[f64]) -> bool {
        (0..self.len()).any(|k| self.is_vast(self.center(k), origin))
    }

    /// Whether squared distances between this row and the origin may overflow.
    fn is_vast(&self, row: &[f64], origin: &[f64]) -> bool {
        row.iter().zip(origin).any(|(x, origin)| (x - origin).abs() > VAST)
    }

    fn fits(&self, input: Input<'_>) -> Result<(), Error> {
        let bits = matches!(input, Input::Bits(_));
        if self.bernoulli && !bits {
            return Err(Error::Parameter {
                name: "points",
                expected: "rows of bits, as those of the clustering, whose centres are frequencies of bits",
                found: "others".into(),
            });
        }
        if input.dimension() == self.dimension {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "points",
            expected: "as many columns as the centres have",
            found: format!("{} columns, where the centres have {}", input.dimension(), self.dimension),
        })
    }

    /// The mean of the centres, which is subtracted from rows before distances are computed.
    fn origin(&self) -> Vec<f64> {
        let count = self.len() as f64;
        (0..self.dimension).map(|j| self.centers[j..].iter().step_by(self.dimension).map(|x| x / count).sum()).collect()
    }

    /// Reads a block of rows. Returns the rows as tiles, and writes them unchanged to `values`.
    fn tiles(&self, input: Input<'_>, origin: &[f64], first: usize, values: &mut Vec<f64>) -> Tiles<f64> {
        let (rows, dimension) = (BLOCK.min(input.len() - first), self.dimension);
        values.resize(rows * dimension, 0.0);
        values.chunks_exact_mut(dimension).enumerate().for_each(|(i, values)| input.read(first + i, values));
        Tiles::new(rows, dimension, origin, |i| RowMajor::new(values, dimension).row(i), |_| 1.0)
    }
}

/// Returns the excess cost of a centre: its cost minus the cost of the nearest centre.
type Excess<'a> = dyn Fn(usize) -> f64 + 'a;

/// Receives the nearest centre of a row, the excess cost of the other centres, and the distance to the nearest centre.
type Each<'a> = dyn FnMut(usize, &Excess<'_>, f64) + 'a;

/// Computes a row's memberships, from borders or at a temperature.
struct Shares<'c> {
    /// The borders of each cluster, if there are any.
    neighbours: Option<Neighbourhoods<'c>>,
    /// The temperature of memberships, if there are no borders.
    temperature: f64,
    clusters: usize,
}

impl Shares<'_> {
    /// Returns a row's membership in its nearest centre. `each` receives the odds of other centres against the nearest
    /// centre. Odds that `each` does not receive are 0.
    fn probability(&self, nearest: usize, excess: &Excess<'_>, mut each: impl FnMut(usize, f64)) -> f64 {
        if let Some(neighbours) = &self.neighbours {
            return neighbours.probability(nearest, neighbours.all(nearest), |_, other| excess(other), each);
        }
        if self.temperature == 0.0 {
            return 1.0;
        }
        let mut sum = 0.0;
        for k in (0..self.clusters).filter(|k| *k != nearest) {
            let odds = exp(-excess(k) / self.temperature);
            // At very low temperatures, exponents may overflow. The row then certainly belongs to its nearest centre.
            let odds = if odds.is_nan() { 0.0 } else { odds };
            each(k, odds);
            sum += odds;
        }
        1.0 / (1.0 + sum)
    }
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// The distance between two points, computed without its square, which may overflow.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |length: f64, (x, y)| libm::hypot(length, x - y))
}

#[cfg(test)]
mod tests {
    use lehr_data::Points;

    use super::*;

    #[test]
    fn rows_of_a_clustering_are_given_what_they_were_given() {
        use crate::anneal::Silent;
        use crate::vector::{Parameters, cluster};
        let (points, _) = lehr_data::datasets::iris();
        let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
        let model = cluster(&points, &parameters, &crate::Execution::default(), &mut Silent).unwrap();
        let centroids = model.centroids();
        let found = centroids.assign(&points).unwrap();
        assert_eq!(found.labels, model.labels);
        let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
        assert!(found.probabilities.iter().zip(&model.probabilities).all(close));
        let square: f64 = found.distances.iter().map(|distance| distance * distance).sum();
        assert!((square - model.sum_of_squares).abs() < 1e-9 * square, "{square} for {}", model.sum_of_squares);
        // The membership of a row in its label's cluster is the probability that `assign` returned.
        let memberships = centroids.memberships(&points).unwrap();
        for (row, memberships) in memberships.chunks_exact(3).enumerate() {
            assert!((memberships.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let told = memberships[found.labels[row] as usize];
            assert!((told - found.probabilities[row]).abs() < 1e-12, "row {row}: {told}");
        }
    }

    #[test]
    fn at_temperature_0_and_far_away_a_row_is_surely_of_its_nearest() {
        let points = Points::new(vec![1.0, 7.0, 1e200], 1).unwrap();
        for temperature in [0.0, 1e-320, 1e-9] {
            let centroids = Centroids::new(1, vec![0.0, 6.0], temperature).unwrap();
            let found = centroids.assign(&points).unwrap();
            assert_eq!(found.labels[..2], [0, 1]);
            // The last row is so far away that both centres are equally near. At temperature 0, the row belongs to the
            // first centre.
            let last = if temperature > 0.0 { 0.5 } else { 1.0 };
            assert_eq!(found.probabilities, [1.0, 1.0, last], "{temperature}");
            assert_eq!(found.distances, [1.0, 1.0, 1e200]);
            let memberships = centroids.memberships(&points).unwrap();
            // The membership in the farther centre may be a tiny number, and not exactly 0.
            let close = |(found, expected): (&f64, f64)| (found - expected).abs() < 1e-300;
            assert!(memberships[..4].iter().zip([1.0, 0.0, 0.0, 1.0]).all(close), "{temperature}: {memberships:?}");
            assert_eq!(memberships[4] + memberships[5], 1.0);
        }
        // The squares overflow, but the nearest centre is still found.
        for temperature in [0.0, 1.0] {
            let centroids = Centroids::new(2, vec![0.0, 0.0, 9e199, -1e200, 1.0, 1.0], temperature).unwrap();
            let points = Points::new(vec![1e200, -1e200, 0.1, 0.0, 2.0, 2.0], 2).unwrap();
            assert_eq!(centroids.assign(&points).unwrap().labels, [1, 0, 2]);
            let memberships = centroids.memberships(&points).unwrap();
            let other = if temperature > 0.0 { 1.0 / (1.0 + 1.8f64.exp()) } else { 0.0 };
            let third = if temperature > 0.0 { 1.0 / (1.0 + 6f64.exp()) } else { 0.0 };
            let expected = [0.0, 1.0, 0.0, 1.0 - other, 0.0, other, third, 0.0, 1.0 - third];
            let close = |(found, expected): (&f64, f64)| (found - expected).abs() < 1e-12;
            assert!(memberships.iter().zip(expected).all(close), "{temperature}: {memberships:?}");
        }
    }

    #[test]
    fn blocks_make_no_difference_and_what_cannot_be_centres_is_refused() {
        let points = Points::new((0..1000).map(|i| f64::from(i % 37)).collect(), 2).unwrap();
        let centroids = Centroids::new(2, vec![3.0, 30.0, 20.0, 8.0, 35.0, 1.0], 50.0).unwrap();
        let (whole, all) = (centroids.assign(&points).unwrap(), centroids.memberships(&points).unwrap());
        for row in [0, 255, 256, 499] {
            let one = Points::new(points.row(row).to_vec(), 2).unwrap();
            let found = centroids.assign(&one).unwrap();
            assert_eq!((found.labels[0], found.probabilities[0]), (whole.labels[row], whole.probabilities[row]));
            assert_eq!(centroids.memberships(&one).unwrap(), *RowMajor::new(&all, 3).row(row));
        }
        assert!(Centroids::new(2, vec![1.0, 2.0, 3.0], 1.0).is_err());
        assert!(Centroids::new(1, vec![f64::NAN], 1.0).is_err());
        assert!(Centroids::new(1, vec![1.0], -1.0).is_err());
        let refused = centroids.assign(&Points::new(vec![1.0], 1).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("1 columns, where the centres have 2"), "{refused}");
    }
}
