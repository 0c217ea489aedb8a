//! The cost of a row in a cluster.

use serde::{Deserialize, Serialize};

use super::input::Input;
use crate::Error;

/// The cost of a row in a cluster.
///
/// # Example
/// ```
/// use lehr_mining::vector::{Cost, Parameters};
/// let parameters = Parameters { clusters: Some(10), cost: Cost::bernoulli(), ..Parameters::default() };
/// assert_eq!(parameters.cost, Cost::Bernoulli { prior: 0.5 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// The squared distance of the row from the centre of the cluster.
    #[default]
    Squared,
    /// For rows of bits: the negative log-likelihood of the row, `-ln p(x)` in nats, if each bit is set independently
    /// with its frequency in the cluster. With this cost, rare bits count as much as frequent bits. Temperatures, costs
    /// and free energies are in nats too.
    Bernoulli {
        /// The number of rows that are added to the ones and to the zeros of every column before a cluster's
        /// frequencies are computed: `(ones + prior) / (weight + 2 prior)`. Each added row weighs `sum w^2 / sum w`,
        /// which is 1 without weights. From 0 to 1000.
        prior: f64,
    },
}

impl Cost {
    /// The default prior: half a row.
    pub const PRIOR: f64 = 0.5;

    /// The Bernoulli cost with the default prior, 0.5.
    pub const fn bernoulli() -> Self {
        Cost::Bernoulli { prior: Self::PRIOR }
    }

    /// Whether the cost is the squared distance, the default.
    pub fn is_squared(&self) -> bool {
        *self == Cost::Squared
    }

    /// Checks that the prior is in its range, and that the rows are bits if the cost is Bernoulli.
    pub(crate) fn check(&self, input: Input<'_>) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let Cost::Bernoulli { prior } = self else { return Ok(()) };
        if !(0.0..=1000.0).contains(prior) {
            return wrong("prior", "0 to 1000", prior.to_string());
        }
        match input {
            Input::Bits(_) => Ok(()),
            Input::Numbers(_) => wrong("cost", "rows of bits for the cost bernoulli", "rows of numbers".into()),
            Input::Sparse(_) => wrong("cost", "rows of bits for the cost bernoulli", "sparse rows".into()),
        }
    }
}
