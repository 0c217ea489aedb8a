//! The parameters of an embedding, and their validation.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_data::error::number;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The maximum number of dimensions of a map.
const MOST_DIMENSIONS: usize = 64;

/// The start of an embedding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Start {
    /// Classical scaling (Torgerson): the leading eigenvectors of the centred squares.
    #[default]
    Classical,
    /// Normal random positions.
    Random,
}

/// The weight of a pair as a function of its dissimilarity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Weighting {
    /// All pairs have equal weights.
    #[default]
    Equal,
    /// The weight is 1 over the dissimilarity, as in Sammon's mapping. Dissimilarities below a thousandth of the mean
    /// are treated as a thousandth of it.
    Sammon,
    /// The weight is 1 over the squared dissimilarity, so that relative errors count equally. Dissimilarities below
    /// three hundredths of the mean are treated as three hundredths of it.
    InverseSquare,
}

/// The parameters of an embedding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of dimensions of the map, 1 to 64. Default: 2.
    pub dimension: usize,
    /// The start, used unless the input has positions. Default: classical scaling.
    pub start: Start,
    /// The number of random starts, of which the best is kept, 1 to 10,000. Default: 4. Starts that are not random are
    /// tried once.
    pub starts: usize,
    /// The weights of pairs. Default: equal.
    pub weighting: Weighting,
    /// Whether to anneal the targets (DA-SMACOF). Default: no.
    pub annealed: bool,
    /// The factor from one temperature to the next while annealing, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// The tolerance: the embedding ends when an iteration lowers the stress by less than this share, 1e-15 to 0.1.
    /// Default: 1e-6.
    pub tolerance: f64,
    /// The maximum number of iterations of each start, at least 1. If a start does not reach the tolerance, Lehr
    /// reports this, but it is not an error. Default: 1,000. With annealing, this is the maximum at each temperature.
    pub most_iterations: u64,
    /// Whether to lengthen steps if that lowers the stress, which about halves the iterations. Default: yes.
    pub relaxed: bool,
    /// The random seed. It draws the random starts, and the first vectors of classical scaling. Default: 0.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            dimension: 2,
            start: Start::Classical,
            starts: 4,
            weighting: Weighting::Equal,
            annealed: false,
            cooling: 0.95,
            tolerance: 1e-6,
            most_iterations: 1000,
            relaxed: true,
            seed: 0,
        }
    }
}

/// The input of an embedding.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// N items and the dissimilarities between them; pairs without a value have no influence.
    pub dissimilarities: &'a Dissimilarities,
    /// The weight of each item, 0 or more. An item of weight 3 counts as three items at the same position. An item of
    /// weight 0 is placed, but has no influence.
    pub weights: Option<&'a [f64]>,
    /// The weight of each pair, 0 or more; cannot be combined with [`Parameters::weighting`].
    pub pair_weights: Option<&'a Dissimilarities>,
    /// Initial positions, N x dimension.
    pub positions: Option<&'a [f64]>,
    /// Items that keep their `positions`.
    pub fixed: &'a [usize],
}

impl<'a> Input<'a> {
    /// An input with only dissimilarities.
    pub fn new(dissimilarities: &'a Dissimilarities) -> Self {
        Self { dissimilarities, weights: None, pair_weights: None, positions: None, fixed: &[] }
    }
}

impl Parameters {
    /// Checks each value, and the values against the input.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] for the first invalid value, and [`Error::Data`] if there are fewer than two items.
    /// It does not check the items' weights.
    pub fn check(&self, input: &Input<'_>) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let items = input.dissimilarities.items();
        if !(1..=MOST_DIMENSIONS).contains(&self.dimension) {
            return wrong("dimension", "1 to 64", self.dimension.to_string());
        }
        if !(1..=10_000).contains(&self.starts) {
            return wrong("starts", "1 to 10000", self.starts.to_string());
        }
        if !(0.5..=0.999).contains(&self.cooling) {
            return wrong("cooling", "0.5 to 0.999", number(self.cooling));
        }
        if !(1e-15..=0.1).contains(&self.tolerance) {
            return wrong("tolerance", "1e-15 to 0.1", number(self.tolerance));
        }
        if self.most_iterations == 0 {
            return wrong("most_iterations", "at least 1", "0".into());
        }
        if items < 2 {
            return Err(Error::Data(lehr_data::Error::Shape {
                what: input.dissimilarities.name().into(),
                expected: "at least 2 items, which make a pair".into(),
                found: items.to_string(),
            }));
        }
        if self.weighting != Weighting::Equal && input.pair_weights.is_some() {
            return wrong("weighting", "one of weighting and pair_weights", "both".into());
        }
        if let Some(positions) = input.positions {
            if positions.len() != items * self.dimension {
                let found = format!("{} numbers for {items} items in {} dimensions", positions.len(), self.dimension);
                return wrong("positions", "as many numbers as items times dimensions", found);
            }
            if let Some(place) = positions.iter().position(|x| !x.is_finite()) {
                return wrong(
                    "positions",
                    "finite numbers",
                    format!("{} for item {} (counted from 0)", positions[place], place / self.dimension),
                );
            }
        }
        if !input.fixed.is_empty() && input.positions.is_none() {
            return wrong("fixed", "items with positions", "no positions".into());
        }
        if let Some(item) = input.fixed.iter().find(|&&item| item >= items) {
            return wrong("fixed", "items, counted from 0", format!("{item} of {items}"));
        }
        Ok(())
    }
}
