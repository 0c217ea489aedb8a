//! Data with known classes: mixtures, lattices, uniform points, rings, bit templates, and word topics.
//!
//! Every number is drawn by (seed, purpose, index), independent of the order ([`lehr_numerics::random`]), so the same
//! arguments give the same points. A larger set with the same seed begins with the rows of the smaller one, unless
//! values depend on the number of rows. Each row comes with the label of the class that it was drawn from. Arguments
//! out of range are bugs of the caller, so the functions panic; they never get users' data.

use lehr_numerics::random::Stream;

use crate::fingerprints::Fingerprints;
use crate::points::Points;
use crate::sparse::Sparse;

/// A component of a mixture: a round Gaussian cloud.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// The centre.
    pub center: Vec<f64>,
    /// The standard deviation along each axis, at least 0.
    pub deviation: f64,
    /// The share of the rows, relative to the other components; at least 0.
    pub weight: f64,
}

/// Draws `rows` points from a mixture of round Gaussians, with the index of each point's component.
///
/// Each row draws its component, so that counts vary as in a sample.
///
/// # Panics
/// Panics if there are no rows or components, if the dimensions of centres differ, or if weights are negative or all 0.
///
/// # Example
/// ```
/// use lehr_data::synthetic::{gaussian_mixture, Component};
/// let component = |x: f64, weight: f64| Component { center: vec![x, 0.0], deviation: 0.1, weight };
/// let (points, labels) = gaussian_mixture(1000, &[component(-5.0, 1.0), component(5.0, 3.0)], 7);
/// assert_eq!((points.len(), points.dimension()), (1000, 2));
/// assert!((0..1000).all(|row| (points.row(row)[0] > 0.0) == (labels[row] == 1)));
/// assert!((700..800).contains(&labels.iter().sum::<u32>()));
/// ```
pub fn gaussian_mixture(rows: usize, components: &[Component], seed: u64) -> (Points, Vec<u32>) {
    assert!(!components.is_empty(), "a mixture of no components");
    let dimension = components[0].center.len();
    assert!(components.iter().all(|component| component.center.len() == dimension), "centres of one dimension");
    assert!(
        components.iter().all(|component| component.weight >= 0.0 && component.deviation >= 0.0),
        "weights and deviations >= 0"
    );
    let total: f64 = components.iter().map(|component| component.weight).sum();
    assert!(total > 0.0 && total.is_finite(), "a mixture with weight");
    let (choice, noise) = (Stream::new(seed, "mixture component"), Stream::new(seed, "mixture noise"));
    let mut labels = Vec::with_capacity(rows);
    let mut values = Vec::with_capacity(rows * dimension);
    for row in 0..rows as u64 {
        let mut left = choice.uniform(row) * total;
        let mut chosen = 0;
        for (index, component) in components.iter().enumerate().filter(|(_, component)| component.weight > 0.0) {
            chosen = index;
            left -= component.weight;
            if left < 0.0 {
                break;
            }
        }
        let Component { center, deviation, .. } = &components[chosen];
        let index = row * dimension as u64;
        values.extend(center.iter().zip(index..).map(|(middle, index)| middle + deviation * noise.normal(index)));
        labels.push(chosen as u32);
    }
    (checked(values, dimension), labels)
}

/// Returns components of equal weight and deviation, with centres drawn uniformly from a cube from 0 to `side`.
///
/// Centres may be close together: with many components some overlap, as in real data.
///
/// # Example
/// ```
/// let components = lehr_data::synthetic::random_components(20, 3, 10.0, 0.5, 1);
/// assert_eq!(components.len(), 20);
/// assert!(components.iter().flat_map(|component| &component.center).all(|x| (0.0..10.0).contains(x)));
/// ```
pub fn random_components(count: usize, dimension: usize, side: f64, deviation: f64, seed: u64) -> Vec<Component> {
    let stream = Stream::new(seed, "mixture centres");
    (0..count)
        .map(|component| {
            let center =
                (0..dimension).map(|axis| side * stream.uniform((component * dimension + axis) as u64)).collect();
            Component { center, deviation, weight: 1.0 }
        })
        .collect()
}

/// Draws Gaussian blobs at the points of an integer grid, `rows_each` rows per blob, one blob after another.
///
/// `sides` gives the number of blobs along each axis; the last axis runs fastest. The label is the number of the blob.
/// The 7 × 7 lattice with deviation 0.18 and 60 rows each is a hard case: single runs of k-means hardly ever find its
/// 49 blobs.
///
/// # Panics
/// Panics if there are no axes, no blobs or no rows.
///
/// # Example
/// ```
/// let (points, labels) = lehr_data::synthetic::lattice(&[7, 7], 60, 0.18, 1);
/// assert_eq!((points.len(), points.dimension()), (49 * 60, 2));
/// assert_eq!(labels[60 * 48], 48);
/// assert!((points.row(60 * 48)[0] - 6.0).abs() < 1.0);
/// ```
pub fn lattice(sides: &[usize], rows_each: usize, deviation: f64, seed: u64) -> (Points, Vec<u32>) {
    let noise = Stream::new(seed, "lattice noise");
    let blobs: usize = sides.iter().product();
    let mut values = Vec::with_capacity(blobs * rows_each * sides.len());
    let mut labels = Vec::with_capacity(blobs * rows_each);
    for blob in 0..blobs {
        let mut rest = blob;
        let mut center = vec![0.0; sides.len()];
        for (middle, side) in center.iter_mut().zip(sides).rev() {
            *middle = (rest % side) as f64;
            rest /= side;
        }
        for _ in 0..rows_each {
            labels.push(blob as u32);
            for middle in &center {
                values.push(middle + deviation * noise.normal(values.len() as u64));
            }
        }
    }
    (checked(values, sides.len()), labels)
}

/// Draws `rows` uniform points in a box, given by the lower (inclusive) and upper end of each axis.
///
/// # Panics
/// Panics if there are no rows or axes, or if an end is not finite.
///
/// # Example
/// ```
/// let points = lehr_data::synthetic::uniform(9, &[(0.0, 1.0), (-1.0, 1.0)], 3);
/// assert_eq!((points.len(), points.dimension()), (9, 2));
/// assert!(points.column(1).all(|y| (-1.0..1.0).contains(&y)));
/// ```
pub fn uniform(rows: usize, ranges: &[(f64, f64)], seed: u64) -> Points {
    let stream = Stream::new(seed, "uniform");
    let axes = (0..rows).flat_map(|_| ranges);
    let values = axes.zip(0..).map(|((low, high), index)| low + (high - low) * stream.uniform(index)).collect();
    checked(values, ranges.len())
}

/// Draws `rows_each` points on each of several circles about the origin, with Gaussian noise of deviation `noise` in
/// both directions.
///
/// The label is the number of the circle. Concentric circles have the same centre, so no method that represents a
/// cluster by one centre can distinguish them.
///
/// # Panics
/// Panics if there are no circles or no rows.
///
/// # Example
/// ```
/// let (points, labels) = lehr_data::synthetic::rings(&[1.0, 3.0], 100, 0.0, 5);
/// let radius = |row: usize| points.row(row)[0].hypot(points.row(row)[1]);
/// assert!((radius(0) - 1.0).abs() < 1e-12 && labels[0] == 0);
/// assert!((radius(100) - 3.0).abs() < 1e-12 && labels[100] == 1);
/// ```
pub fn rings(radii: &[f64], rows_each: usize, noise: f64, seed: u64) -> (Points, Vec<u32>) {
    let (place, blur) = (Stream::new(seed, "ring place"), Stream::new(seed, "ring noise"));
    let mut values = Vec::with_capacity(2 * radii.len() * rows_each);
    let mut labels = Vec::with_capacity(radii.len() * rows_each);
    for (ring, radius) in radii.iter().enumerate() {
        for _ in 0..rows_each {
            let row = labels.len() as u64;
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * place.uniform(row));
            values
                .extend([radius * cos + noise * blur.normal(2 * row), radius * sin + noise * blur.normal(2 * row + 1)]);
            labels.push(ring as u32);
        }
    }
    (checked(values, 2), labels)
}

/// Draws rows of bits: each is one of `templates` random templates with some bits flipped, labelled with its template.
/// Row r has the template `r % templates`.
///
/// Each bit of a template is set with probability `density`, and each bit of a row is flipped with probability `flip`.
///
/// # Panics
/// Panics if there are no templates, rows or bits, or if a probability is invalid.
///
/// # Example
/// ```
/// let (rows, labels) = lehr_data::synthetic::bit_templates(10, 500, 1052, 0.15, 0.05, 1);
/// assert_eq!((rows.len(), rows.bits(), labels[4999]), (5000, 1052, 9));
/// let share = f64::from((0..5000).map(|row| rows.count(row)).sum::<u32>()) / (5000.0 * 1052.0);
/// assert!((share - 0.185).abs() < 0.01); // 0.15 * 0.95 + 0.85 * 0.05
/// ```
pub fn bit_templates(
    templates: usize,
    rows_each: usize,
    bits: usize,
    density: f64,
    flip: f64,
    seed: u64,
) -> (Fingerprints, Vec<u32>) {
    assert!(templates > 0 && rows_each > 0 && bits > 0, "templates, rows and bits");
    assert!((0.0..=1.0).contains(&density) && (0.0..=1.0).contains(&flip), "probabilities");
    let (set, noise) = (Stream::new(seed, "template bits"), Stream::new(seed, "flipped bits"));
    let (width, rows) = (bits.div_ceil(64), templates * rows_each);
    let mut words = vec![0u64; rows * width];
    for (row, words) in words.chunks_exact_mut(width).enumerate() {
        for j in 0..bits {
            let is_set = set.uniform((row % templates * bits + j) as u64) < density;
            let is_flipped = noise.uniform((row * bits + j) as u64) < flip;
            words[j / 64] |= u64::from(is_set != is_flipped) << (j % 64);
        }
    }
    let rows = Fingerprints::new(words, bits).expect("rows of bits");
    let labels = (0..rows.len()).map(|row| (row % templates) as u32).collect();
    (rows, labels)
}

/// Draws sparse rows like word counts, with the number of each row's topic. A row has some words of its topic and some
/// that all topics share. Row r has the topic `r % topics`.
///
/// A row draws `words` words, with repetition: a word drawn twice counts 2. Three in four words are from the
/// `columns / (2 topics)` columns of its topic. The other words are from the second half of the columns, which all
/// topics share. Low columns of either part are drawn more often, like frequent words.
///
/// # Panics
/// Panics if there are no topics, rows or words, or if there are fewer than four columns for each topic.
///
/// # Example
/// ```
/// let (rows, labels) = lehr_data::synthetic::topics(5, 200, 4000, 40, 1);
/// assert_eq!((rows.len(), rows.dimension(), labels[7]), (1000, 4000, 2));
/// assert!(rows.density() < 0.01);
/// ```
pub fn topics(topics: usize, rows_each: usize, columns: usize, words: usize, seed: u64) -> (Sparse, Vec<u32>) {
    assert!(topics > 0 && rows_each > 0 && words > 0, "topics, rows and words");
    assert!(columns >= 4 * topics, "columns for each topic");
    let (whose, which) = (Stream::new(seed, "words of topics"), Stream::new(seed, "which words"));
    let (own, shared) = (columns / 2 / topics, columns - columns / 2);
    let mut triplets = Vec::with_capacity(topics * rows_each * words);
    for row in 0..topics * rows_each {
        let mut drawn: Vec<u32> = (0..words)
            .map(|word| {
                let index = (row * words + word) as u64;
                // The product of two uniform numbers is small more often.
                let place = which.uniform(index) * which.uniform(index);
                let (from, count) =
                    if whose.uniform(index) < 0.75 { (row % topics * own, own) } else { (columns / 2, shared) };
                (from + (place * count as f64) as usize) as u32
            })
            .collect();
        drawn.sort_unstable();
        for same in drawn.chunk_by(|a, b| a == b) {
            triplets.push((row, same[0], same.len() as f64));
        }
    }
    let rows = Sparse::from_triplets(triplets, topics * rows_each, columns).expect("rows of counts");
    let labels = (0..rows.len()).map(|row| (row % topics) as u32).collect();
    (rows.with_name("synthetic"), labels)
}

fn checked(values: Vec<f64>, dimension: usize) -> Points {
    Points::new(values, dimension)
        .expect("synthetic points have rows, columns and finite values")
        .with_name("synthetic")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_sample_begins_with_the_smaller_one() {
        let components = random_components(3, 2, 1.0, 0.1, 9);
        let (small, small_labels) = gaussian_mixture(10, &components, 4);
        let (large, large_labels) = gaussian_mixture(25, &components, 4);
        assert_eq!(small.values(), &large.values()[..20]);
        assert_eq!(small_labels, large_labels[..10]);
        assert_eq!(uniform(3, &[(0.0, 1.0)], 1).values(), &uniform(5, &[(0.0, 1.0)], 1).values()[..3]);
    }

    #[test]
    fn seeds_differ() {
        assert_ne!(uniform(3, &[(0.0, 1.0)], 1), uniform(3, &[(0.0, 1.0)], 2));
        assert_ne!(lattice(&[2], 3, 0.1, 1).0, lattice(&[2], 3, 0.1, 2).0);
        assert_ne!(rings(&[1.0], 3, 0.1, 1).0, rings(&[1.0], 3, 0.1, 2).0);
    }

    #[test]
    fn moments_are_those_that_were_asked_for() {
        let component = Component { center: vec![3.0], deviation: 2.0, weight: 1.0 };
        let (points, _) = gaussian_mixture(20_000, &[component], 11);
        let mean = points.column(0).sum::<f64>() / 20_000.0;
        let variance = points.column(0).map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
        // Five standard errors: 2 / sqrt(n) for the mean, 4 sqrt(2 / n) for the variance.
        assert!((mean - 3.0).abs() < 5.0 * 0.0142, "{mean}");
        assert!((variance - 4.0).abs() < 5.0 * 0.04, "{variance}");
    }

    #[test]
    fn a_component_without_weight_has_no_rows() {
        let component = |weight: f64| Component { center: vec![0.0], deviation: 1.0, weight };
        let (_, labels) = gaussian_mixture(500, &[component(0.0), component(1.0), component(0.0)], 3);
        assert!(labels.iter().all(|label| *label == 1));
    }

    #[test]
    fn a_lattice_counts_its_last_axis_fastest() {
        let (points, labels) = lattice(&[2, 3], 1, 0.0, 0);
        assert_eq!(points.values(), [0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0, 1.0, 2.0]);
        assert_eq!(labels, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_numbers_are_the_same_for_ever() {
        // Uniform numbers are exact on any machine; normal ones use the platform's logarithm and cosine.
        assert_eq!(format!("{:016x}", uniform(100, &[(0.0, 1.0), (5.0, 6.0)], 42).fingerprint()), "e890d354f387dc6c");
    }
}
