//! The criteria that compare numbers of components. They combine how well a mixture fits its rows with a penalty for
//! the number of its parameters.

use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use super::parameters::Covariance;

/// The criteria of one mixture. Lower values of BIC, AIC and ICL are better.
///
/// The three criteria use the effective sample size `n = (sum w)^2 / sum w^2` (Kish 1965) as the number of rows, and
/// multiply the log-likelihood by `n / sum w`. Therefore the unit of the weights does not affect which mixture is
/// chosen. Without weights, `n` is the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// The log-likelihood `sum w ln p(x)`, in the input's units.
    pub log_likelihood: f64,
    /// The entropy of the memberships, `- sum w sum_k m ln m`. The entropy is 0 if every row belongs to one component
    /// with certainty.
    pub entropy: f64,
    /// The number of free parameters of the mixture ([`super::Covariance::free_parameters`]).
    pub free_parameters: usize,
    /// Bayes' information criterion `-2 L n / sum w + p ln n` (Schwarz 1978).
    pub bic: f64,
    /// Akaike's information criterion `-2 L n / sum w + 2 p`.
    pub aic: f64,
    /// The integrated completed likelihood `BIC + 2 E n / sum w`, where E is the entropy (Biernacki, Celeux and Govaert
    /// 2000). This criterion prefers well-separated components.
    pub icl: f64,
}

impl Criteria {
    /// Computes the criteria of a mixture from its log-likelihood and the entropy of its memberships. `effective` is
    /// the effective number of rows, and `row_weight` is the weight that counts as one row.
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

/// The result of a fit for one number of components.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The requested number of components.
    pub asked: usize,
    /// The number of components found. It is smaller than requested if the rows have fewer distinct positions, or if a
    /// component lost all its rows.
    pub components: usize,
    /// The covariance type of the intermediate mixture that led to the best fit; `None` if the best fit started
    /// directly from the clusters.
    pub through: Option<Covariance>,
    /// Whether the fit converged before it reached the maximum number of sweeps.
    pub is_converged: bool,
    /// The criteria of the best fit.
    pub criteria: Criteria,
}
