//! The largest eigenvalue of a symmetric operator known only by its product with a vector.
//!
//! Each step takes the best vector of the span of the present one, its residual and the last step (Knyazev 2001,
//! without a preconditioner). It climbs to the algebraically largest eigenvalue whatever is below. If the largest
//! eigenvalues lie close together it takes some tenth of the steps of power iteration. A product costs a pass over all
//! rows or a reading of a matrix, so steps must be saved. This is also the reason why many operators climb side by
//! side: one pass gives a product to each.

use lehr_numerics::factor::eigenpairs;

/// A vector with its image.
#[derive(Clone, Debug)]
struct Pair {
    vector: Vec<f64>,
    image: Vec<f64>,
}

impl Pair {
    /// Removes its part along another unit vector. The image follows, because the operator is linear.
    fn part_from(&mut self, other: &Pair) {
        let along = dot(&self.vector, &other.vector);
        add(&mut self.vector, -along, &other.vector);
        add(&mut self.image, -along, &other.image);
    }

    /// To length 1; false if there is nothing of it.
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

/// One operator's climb.
pub(crate) struct Climb {
    now: Pair,
    step: Option<Pair>,
    /// The Rayleigh quotient of the present vector: never above the largest eigenvalue, and never falling.
    pub value: f64,
    /// By how much the last step raised it; infinite before the first.
    pub change: f64,
}

impl Climb {
    /// At a vector of length 1 and its image.
    pub fn begin(vector: Vec<f64>, image: Vec<f64>) -> Self {
        let value = dot(&vector, &image);
        Self { now: Pair { vector, image }, step: None, value, change: f64::INFINITY }
    }

    /// The present vector, of length 1.
    pub fn vector(&self) -> &[f64] {
        &self.now.vector
    }

    /// The part of the present image beside its part along the vector, into `out`. Made [`unit`], its image is the
    /// input of [`Climb::take`].
    pub fn residual(&self, out: &mut [f64]) {
        out.copy_from_slice(&self.now.image);
        add(out, -self.value, &self.now.vector);
    }

    /// Goes to the best vector of the span of the present one, a residual with its image, and the last step.
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

/// Scales to length 1. With nothing it leaves nothing, the image of which is nothing.
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

    /// Climbs on a diagonal matrix from `start`; returns the value after each product.
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
        // A thousand eigenvalues spread evenly over 0.9 to 1, as those of noise in many columns are.
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
