//! Rows of bits in the form in which they are stored, and the positions of their set bits.

/// A block of weighted rows of bits. Bit b of a row is bit `b % 64` of word `b / 64`; bits beyond the last are 0.
#[derive(Clone, Debug)]
pub struct BitRows {
    pub(super) bits: usize,
    /// The words of all rows, row after row, `bits.div_ceil(64)` words each.
    pub(super) words: Vec<u64>,
    /// The number of set bits in all rows.
    pub(super) set: usize,
    /// The largest number of set bits in a row.
    pub(super) most: usize,
    pub(super) weights: Vec<f64>,
}

impl BitRows {
    /// Copies rows: `row(i)` returns the words of the i-th of `rows` rows, and `weight(i)` its weight.
    ///
    /// # Panics
    /// Panics if there is no row or no bit. Also panics if a row does not have `bits.div_ceil(64)` words, or has a bit
    /// beyond the last.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::bits::BitRows;
    /// let words = [[0b101], [0b011]];
    /// let rows = BitRows::new(2, 3, |i| &words[i], |_| 1.0);
    /// assert_eq!((rows.rows(), rows.bits(), rows.row(1)), (2, 3, &[0b011][..]));
    /// ```
    pub fn new<'a>(rows: usize, bits: usize, row: impl Fn(usize) -> &'a [u64], weight: impl Fn(usize) -> f64) -> Self {
        assert!(rows > 0 && bits > 0);
        let width = bits.div_ceil(64);
        let beyond = if bits.is_multiple_of(64) { 0 } else { !0 << (bits % 64) };
        let mut words = Vec::with_capacity(rows * width);
        for index in 0..rows {
            let row = row(index);
            assert!(row.len() == width && row[width - 1] & beyond == 0, "rows of {bits} bits");
            words.extend_from_slice(row);
        }
        let set = words.iter().map(|word: &u64| word.count_ones() as usize).sum();
        let set_in = |row: &[u64]| row.iter().map(|word| word.count_ones() as usize).sum();
        let most = words.chunks_exact(width).map(set_in).max().unwrap_or(0);
        Self { bits, words, set, most, weights: (0..rows).map(weight).collect() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Returns the number of bits in a row.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// Returns the words of a row.
    ///
    /// # Panics
    /// Panics if `index` is not below [`BitRows::rows`].
    pub fn row(&self, index: usize) -> &[u64] {
        let width = self.bits.div_ceil(64);
        &self.words[index * width..][..width]
    }

    /// Returns the weight of a row.
    ///
    /// # Panics
    /// Panics if `index` is not below [`BitRows::rows`].
    pub fn weight(&self, index: usize) -> f64 {
        self.weights[index]
    }
}

/// Calls `each` with the position of every set bit, in ascending order.
#[inline(always)]
pub fn for_each_set_bit(words: &[u64], mut each: impl FnMut(usize)) {
    for (word, &bits) in words.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            each(64 * word + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

/// The spare capacity after the positions of a row: up to seven invalid positions may be written after a word's last
/// position.
pub(super) const SLACK: usize = 64;

/// Writes the positions of the set bits, in ascending order, and returns their number. Entries after these positions
/// may be overwritten.
///
/// It writes eight positions at a time, even if fewer bits are left. A loop that ended at a word's last bit would be
/// mispredicted for almost every word, which is slower.
#[inline(always)]
pub(super) fn places_of(words: &[u64], places: &mut [u32]) -> usize {
    let mut at = 0;
    for (index, &word) in words.iter().enumerate() {
        let (base, count) = (64 * index as u32, word.count_ones() as usize);
        let (mut left, mut done) = (word, 0);
        loop {
            let out = places[at + done..].first_chunk_mut::<8>().expect("room for a word's places");
            for place in out {
                *place = base + left.trailing_zeros();
                left &= left.wrapping_sub(1);
            }
            done += 8;
            if done >= count {
                break;
            }
        }
        at += count;
    }
    at
}
