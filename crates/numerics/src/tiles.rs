//! Rows in the layout in which kernels read them.
//!
//! A *tile* is as many rows as a line has lanes (8 of `f64`, 16 of `f32`), stored coordinate by coordinate. Lane `l` of
//! line `j` is coordinate `j` of row `l`. So a kernel handles a tile's rows side by side without shuffling, in any
//! dimension. If the last tile is not full, it is padded with rows of weight 0, which add exactly 0 to any sum.
//!
//! In more than [`DIRECT_DIMENSION`] dimensions, the rows of a *small* block are also stored row by row, as sums over
//! rows need. A block of many tiles has enough rows to sum lane by lane instead, so large data are stored and read only
//! once.
//!
//! Lines may be in a file instead of memory ([`Tiles::write`]); kernels then see the same slices of the same lines.

use lehr_spill::{Error, Slab, Storage, Writer};

use crate::lanes::{Line, Real};

/// The maximum dimension in which squared distances are computed from differences; above it, they are computed from
/// products. Products take half the work. They lose digits only if a row is much longer than its distance to a centre;
/// rows are relative to the mean.
pub const DIRECT_DIMENSION: usize = 16;

/// The number of tiles at which sums over rows are computed lane by lane, and the lanes are added up at the end.
const MANY_TILES: usize = 12;

/// A block of weighted rows, stored tile by tile.
#[derive(Clone, Debug)]
pub struct Tiles<T: Real> {
    rows: usize,
    dimension: usize,
    values: Storage<T::Line>,
    weights: Storage<T::Line>,
    row_major: Storage<T::Line>,
    square: f64,
}

/// The position of tiles in a file that is not complete yet. It gives access to the tiles when the file is complete.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    rows: usize,
    dimension: usize,
    square: f64,
    /// The file position of the first line, and the numbers of lines of values, of weights and of rows.
    start: usize,
    lines: [usize; 3],
}

impl Written {
    /// Returns the tiles, given the lines of the whole file.
    ///
    /// # Panics
    /// Panics if the file is a different, shorter file.
    pub fn tiles<T: Real>(&self, file: &Slab<T::Line>) -> Tiles<T> {
        let mut start = self.start;
        let [values, weights, row_major] = self.lines.map(|lines| {
            start += lines;
            Storage::File(file.part(start - lines..start))
        });
        let Self { rows, dimension, square, .. } = *self;
        Tiles { rows, dimension, values, weights, row_major, square }
    }
}

/// Returns the number of tiles for this many rows, and the number of lines of a row if rows are also stored row by row.
fn shape<T: Real>(rows: usize, dimension: usize) -> (usize, usize) {
    let lanes = T::Line::COUNT;
    let tiles = rows.div_ceil(lanes);
    let is_twice = dimension > DIRECT_DIMENSION && tiles < MANY_TILES;
    (tiles, if is_twice { dimension.div_ceil(lanes) } else { 0 })
}

impl<T: Real> Tiles<T> {
    /// Returns a line with the same number in every lane.
    pub fn line_of(number: f64) -> T::Line {
        let mut line = T::Line::default();
        line.lanes_mut().fill(T::from_f64(number));
        line
    }

    /// Returns the number of lines in the tiles of this many rows, for callers that reserve space.
    pub fn lines(rows: usize, dimension: usize) -> usize {
        let (tiles, lines_per_row) = shape::<T>(rows, dimension);
        tiles * (dimension + 1 + T::Line::COUNT * lines_per_row)
    }

    /// Copies rows into tiles; subtracts `origin` from each row in `f64` before rounding to `T`.
    ///
    /// `row(i)` returns the i-th of `rows` rows (`dimension` numbers), and `weight(i)` its weight.
    ///
    /// # Panics
    /// Panics if there is no row, or if a row or `origin` does not have `dimension` numbers.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::tiles::Tiles;
    /// let rows = [[1.0, 2.0], [3.0, 4.0]];
    /// let tiles = Tiles::<f64>::new(2, 2, &[1.0, 1.0], |i| &rows[i], |_| 1.0);
    /// assert_eq!(tiles.rows(), 2);
    /// let mut row = [0.0; 2];
    /// tiles.read_row(1, &mut row);
    /// assert_eq!(row, [2.0, 3.0]);
    /// ```
    pub fn new<'a>(
        rows: usize,
        dimension: usize,
        origin: &[f64],
        row: impl Fn(usize) -> &'a [f64],
        weight: impl Fn(usize) -> f64,
    ) -> Self {
        assert!(rows > 0 && origin.len() == dimension);
        let lanes = T::Line::COUNT;
        let (tiles, lines_per_row) = shape::<T>(rows, dimension);
        let mut values = vec![T::Line::default(); tiles * dimension];
        let mut weights = vec![T::Line::default(); tiles];
        let mut row_major = vec![T::Line::default(); tiles * lanes * lines_per_row];
        let mut square = 0.0;
        for index in 0..tiles * lanes {
            // Padding repeats the last row, so that it cannot be an outlier in a bound or a maximum.
            let source = row(index.min(rows - 1));
            assert_eq!(source.len(), dimension);
            let (tile, lane) = (index / lanes, index % lanes);
            let weight = if index < rows { weight(index) } else { 0.0 };
            weights[tile].lanes_mut()[lane] = T::from_f64(weight);
            for (j, (&value, &zero)) in source.iter().zip(origin).enumerate() {
                let value = T::from_f64(value - zero);
                values[tile * dimension + j].lanes_mut()[lane] = value;
                if lines_per_row > 0 {
                    row_major[index * lines_per_row + j / lanes].lanes_mut()[j % lanes] = value;
                }
                square += weight * value.to_f64() * value.to_f64();
            }
        }
        let (values, weights, row_major) = (values.into(), weights.into(), row_major.into());
        Self { rows, dimension, values, weights, row_major, square }
    }

    /// Moves the lines from memory to the end of a file. [`Written::tiles`] returns the tiles when the file is
    /// complete.
    ///
    /// # Errors
    /// Returns [`Error`] if writing fails.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::tiles::Tiles;
    /// use lehr_spill::Spill;
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path();
    /// let tiles = || Tiles::<f64>::new(2, 1, &[0.0], |i| [&[1.0], &[2.0]][i], |_| 1.0);
    /// let mut file = Spill::new(folder).writer(2 * Tiles::<f64>::lines(2, 1))?;
    /// let written = [tiles().write(&mut file)?, tiles().write(&mut file)?];
    /// let file = file.finish()?;
    /// let mut row = [0.0];
    /// written[1].tiles::<f64>(&file).read_row(1, &mut row);
    /// assert_eq!((row, file.len()), ([2.0], 2 * Tiles::<f64>::lines(2, 1)));
    /// # Ok::<(), lehr_spill::Error>(())
    /// ```
    pub fn write(self, file: &mut Writer<T::Line>) -> Result<Written, Error> {
        let Self { rows, dimension, square, .. } = self;
        let start = file.len();
        let parts = [&self.values, &self.weights, &self.row_major];
        for lines in parts {
            file.extend(lines)?;
        }
        Ok(Written { rows, dimension, square, start, lines: parts.map(|lines| lines.len()) })
    }

    /// Returns the number of rows, without padding.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of coordinates of a row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns all lines: tile after tile, `dimension` lines each.
    pub fn values(&self) -> &[T::Line] {
        &self.values
    }

    /// Returns the weights, one line for each tile; 0 in the padding.
    pub fn weights(&self) -> &[T::Line] {
        &self.weights
    }

    /// Returns the rows row by row, each padded with zeros to whole lines. Empty in up to [`DIRECT_DIMENSION`]
    /// dimensions, and in blocks of many tiles.
    pub fn row_major(&self) -> &[T::Line] {
        &self.row_major
    }

    /// Returns the weighted sum of the rows' squared lengths, relative to the origin.
    pub fn square(&self) -> f64 {
        self.square
    }

    /// Copies row `index` to `out`, relative to the origin as it is stored.
    ///
    /// # Panics
    /// Panics if `index` is not below [`Tiles::rows`], or if `out` does not have the length of a row.
    pub fn read_row(&self, index: usize, out: &mut [f64]) {
        assert!(index < self.rows && out.len() == self.dimension);
        let (tile, lane) = (index / T::Line::COUNT, index % T::Line::COUNT);
        for (number, line) in out.iter_mut().zip(&self.values[tile * self.dimension..][..self.dimension]) {
            *number = line.lanes()[lane].to_f64();
        }
    }

    /// Returns the stored weight of row `index`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`Tiles::rows`].
    pub fn weight(&self, index: usize) -> f64 {
        assert!(index < self.rows);
        self.weights[index / T::Line::COUNT].lanes()[index % T::Line::COUNT].to_f64()
    }

    /// Returns the smallest values of all coordinates over the rows, followed by the largest: `dimension` numbers each.
    pub fn bounds(&self) -> Vec<f64> {
        let mut bounds = vec![f64::INFINITY; 2 * self.dimension];
        bounds[self.dimension..].fill(f64::NEG_INFINITY);
        for (line, values) in self.values.iter().enumerate() {
            let j = line % self.dimension;
            for value in values.lanes() {
                bounds[j] = bounds[j].min(value.to_f64());
                bounds[self.dimension + j] = bounds[self.dimension + j].max(value.to_f64());
            }
        }
        bounds
    }
}
