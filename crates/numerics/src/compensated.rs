//! Sums with compensated rounding errors.

/// A sum of numbers in any order. It is accurate to the last digit of the largest number, however many numbers there
/// are (Neumaier 1974).
///
/// # Example
/// ```
/// use lehr_numerics::compensated::Sum;
/// assert_eq!(Sum::of([1e16, 1.0, -1e16]), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    sum: f64,
    carry: f64,
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        let next = self.sum + value;
        self.carry += if self.sum.abs() >= value.abs() { (self.sum - next) + value } else { (value - next) + self.sum };
        self.sum = next;
    }

    /// Adds all numbers of another sum.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::compensated::Sum;
    /// let (mut large, mut small) = (Sum::default(), Sum::default());
    /// [1e16, 1.0].into_iter().for_each(|value| large.add(value));
    /// [1.0, -1e16].into_iter().for_each(|value| small.add(value));
    /// large.join(small);
    /// assert_eq!(large.value(), 2.0);
    /// ```
    pub fn join(&mut self, other: Self) {
        self.add(other.sum);
        self.carry += other.carry;
    }

    /// Returns the sum of the numbers.
    pub fn value(&self) -> f64 {
        self.sum + self.carry
    }

    /// Sums some numbers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = Self::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum.value()
    }
}
