//! Finds the largest eigenvalue of a symmetric operator of which only products with vectors are known.
//!
//! Each step takes the best vector in the span of the present vector, its residual and the last step (Knyazev 2001,
//! without a preconditioner). It climbs to the algebraically largest eigenvalue, even if others are large and negative.
//! If the largest eigenvalues lie close together, it takes about a tenth of the steps of power iteration. Each product
//! costs a pass over all rows or over a matrix, so the number of steps matters. Many operators climb side by side,
//! because one pass computes a product for each of them.

use lehr_numerics::factor::eigenpairs;

/// A vector and its image under the operator.
#[derive(Clone, Debug)]
struct Pair {
    vector: Vec<f64>,
    image: Vec<f64>,
}

impl Pair {
    /// Removes the component along another unit vector. The image changes accordingly, because the operator is linear.
    fn part_from(&mut self, other: &Pair) {
        let along = dot(&self.vector, &other.vector);
        add(&mut self.vector, -along, &other.vector);
        add(&mut self.image, -along, &other.image);
    }

    /// Scales the vector to length 1. Returns false if its length is negligible compared with `before`.
    fn normalise(&mut self, before: f64) -> bool {
        let length = dot(&self.vector, &self.vector).sqrt();
        if length.is_nan() || length <= 1e-9 * before || length == 0.0 {
            return false;
        }
        self.vector.iter_mut().for_each(|x| *x /= length);
        self.image.iter_mut().for_each(|x| *x /= length);
        true
    }
}

/// The climb to the largest eigenvalue of one operator.
pub(crate) struct Climb {
    now: Pair,
    step: Option<Pair>,
    /// The Rayleigh quotient of the present vector: never above the largest eigenvalue, and never falling.
    pub value: f64,
    /// The change of `value` in the last step; infinite before the first step.
    pub change: f64,
}

impl Climb {
    /// Starts at a vector of length 1, given with its image.
    pub fn begin(vector: Vec<f64>, image: Vec<f64>) -> Self {
        let value = dot(&vector, &image);
        Self { now: Pair { vector, image }, step: None, value, change: f64::INFINITY }
    }

    /// The present vector, of length 1.
    pub fn vector(&self) -> &[f64] {
        &self.now.vector
    }

    /// Writes the residual to `out`: the present image without its component along the present vector. Scale it with
    /// [`unit`], compute its image, and pass both to [`Climb::take`].
    pub fn residual(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.now.image);
        add(out, -self.value, &self.now.vector);
    }

    /// Moves to the best vector in the span of the present vector, the residual and the last step. `image` is the
    /// residual's image.
    pub fn take(&mut self, residual: Vec<f64>, image: Vec<f64>) {
        let mut residual = Pair { vector: residual, image };
        let mut basis = vec![self.now.clone()];
        residual.part_from(&self.now);
        residual.part_from(&self.now);
        if residual.normalise(1.0) {
            basis.push(residual);
        }
        if let Some(mut step) = self.step.take() {
            let before = dot(&step.vector, &step.vector).sqrt();
            for _ in 0..2 {
                basis.iter().for_each(|other| step.part_from(other));
            }
            if step.normalise(before) {
                basis.push(step);
            }
        }
        let n = basis.len();
        let projected: Vec<f64> = (0..n * n).map(|at| dot(&basis[at / n].vector, &basis[at % n].image)).collect();
        let Some(mut pairs) = eigenpairs(n, &projected) else {
            self.change = 0.0;
            return;
        };
        let (value, parts) = pairs.swap_remove(0);
        let combine = |from: usize| {
            let mut sum = Pair { vector: vec![0.0; self.now.vector.len()], image: vec![0.0; self.now.vector.len()] };
            for (part, pair) in parts.iter().zip(&basis).skip(from) {
                add(&mut sum.vector, *part, &pair.vector);
                add(&mut sum.image, *part, &pair.image);
            }
            sum
        };
        let (now, step) = (combine(0), combine(1));
        self.change = (value - self.value).abs();
        self.value = value;
        self.step = (n > 1).then_some(step);
        self.now = now;
    }
}

/// Scales a vector to length 1; leaves the zero vector unchanged.
pub(crate) fn unit(vector: &mut [f64]) {
    let length = dot(vector, vector).sqrt();
    let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter_mut().for_each(|x| *x *= scale);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, other: &[f64]) {
    to.iter_mut().zip(other).for_each(|(to, other)| *to += factor * other);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Climbs on a diagonal matrix from `start`. Returns the value after each product, and the climb.
    fn climbed(diagonal: &[f64], mut start: Vec<f64>, products: usize) -> (Vec<f64>, Climb) {
        let image = |v: &[f64]| v.iter().zip(diagonal).map(|(x, d)| x * d).collect::<Vec<f64>>();
        unit(&mut start);
        let first = image(&start);
        let mut climb = Climb::begin(start, first);
        let mut values = vec![climb.value];
        for _ in 1..products {
            let mut residual = vec![0.0; diagonal.len()];
            climb.residual(&mut residual);
            unit(&mut residual);
            let product = image(&residual);
            climb.take(residual, product);
            values.push(climb.value);
        }
        (values, climb)
    }

    #[test]
    fn it_climbs_to_the_largest_whatever_lies_below() {
        let diagonal = [-50.0, 3.0, 1.0, 0.0];
        let (values, climb) = climbed(&diagonal, vec![1.0; 4], 12);
        assert!(values.windows(2).all(|pair| pair[1] >= pair[0] - 1e-12), "{values:?}");
        assert!((climb.value - 3.0).abs() < 1e-12, "{values:?}");
        assert!((climb.vector()[1].abs() - 1.0).abs() < 1e-6, "{:?}", climb.vector());
    }

    #[test]
    fn close_eigenvalues_take_a_tenth_of_the_steps_of_power_iteration() {
        // A thousand eigenvalues are spread evenly from 0.9 to 1, like the eigenvalues of noise in many columns.
        let diagonal: Vec<f64> = (0..1000).map(|i| 0.9 + 0.1 * i as f64 / 999.0).collect();
        let wanted = 0.999;
        let (values, _) = climbed(&diagonal, vec![1.0; 1000], 60);
        let steps = values.iter().position(|&value| value > wanted).unwrap();
        let mut vector = vec![1.0; 1000];
        unit(&mut vector);
        let mut powers = 0;
        while vector.iter().zip(&diagonal).map(|(x, d)| x * x * d).sum::<f64>() <= wanted {
            vector.iter_mut().zip(&diagonal).for_each(|(x, d)| *x *= d);
            unit(&mut vector);
            powers += 1;
        }
        assert!(10 * steps < powers, "{steps} and {powers}");
    }

    #[test]
    fn an_eigenvector_and_an_operator_that_makes_nothing_stay() {
        let (values, climb) = climbed(&[2.0, 1.0], vec![1.0, 0.0], 3);
        assert_eq!((values, climb.change), (vec![2.0; 3], 0.0));
        let (values, climb) = climbed(&[0.0, 0.0], vec![1.0, 2.0], 3);
        assert_eq!((values, climb.change), (vec![0.0; 3], 0.0));
    }
}
