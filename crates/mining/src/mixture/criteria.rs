//! The criteria that compare numbers of components: the fit of a mixture to its rows, and its penalty.

use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use super::parameters::Covariance;

/// Figures of one mixture. Lower BIC, AIC and ICL are better.
///
/// The three criteria count rows by the effective sample size `n = (sum w)^2 / sum w^2` (Kish 1965), and the
/// log-likelihood as `n / sum w` times its value. So weights in another unit choose the same mixture. Without weights n
/// is the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// `sum w ln p(x)`, in the input's units.
    pub log_likelihood: f64,
    /// `- sum w sum_k m ln m` of the memberships: 0 where every row is surely in one component.
    pub entropy: f64,
    /// Numbers that are free in the mixture ([`super::Covariance::free_parameters`]).
    pub free_parameters: usize,
    /// Bayes' information criterion `-2 L n / sum w + p ln n` (Schwarz 1978).
    pub bic: f64,
    /// Akaike's information criterion `-2 L n / sum w + 2 p`.
    pub aic: f64,
    /// The integrated completed likelihood: BIC plus twice the entropy, times `n / sum w` (Biernacki, Celeux and
    /// Govaert 2000). It prefers components that are apart.
    pub icl: f64,
}

impl Criteria {
    /// From a log-likelihood and an entropy, for rows of which `effective` count and of which one weighs `row_weight`.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::mixture::Criteria;
    /// let criteria = Criteria::new(3, 1.0, 1.0, -10.0, 0.5);
    /// assert_eq!((criteria.bic, criteria.aic, criteria.icl), (20.0, 26.0, 21.0));
    /// // The same rows with weights of 4.
    /// let heavier = Criteria::new(3, 1.0, 4.0, -40.0, 2.0);
    /// assert_eq!((heavier.bic, heavier.aic, heavier.icl), (20.0, 26.0, 21.0));
    /// ```
    pub fn new(free_parameters: usize, effective: f64, row_weight: f64, log_likelihood: f64, entropy: f64) -> Self {
        let (fit, doubt) = (2.0 * log_likelihood / row_weight, 2.0 * entropy / row_weight);
        let bic = free_parameters as f64 * ln(effective) - fit;
        let aic = 2.0 * free_parameters as f64 - fit;
        Self { log_likelihood, entropy, free_parameters, bic, aic, icl: bic + doubt }
    }
}

/// A number of components that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The number that was tried.
    pub asked: usize,
    /// The number of components found: fewer only if the rows have no more distinct positions.
    pub components: usize,
    /// The form of the mixture that the best fit came through on its way from clusters; nothing if it came straight.
    pub through: Option<Covariance>,
    /// Whether the fit ended with nothing left to gain, rather than with the most sweeps allowed.
    pub is_converged: bool,
    /// Its figures.
    pub criteria: Criteria,
}
