//! The parameters of a mixture, and their validation.

use std::fmt;

use serde::{Deserialize, Serialize};

use lehr_data::error::number;

use crate::Error;
use crate::input::Input;

/// The maximum number of columns for tied and full covariances, which are matrices.
pub(crate) const MOST_FORMED: usize = 512;
/// The maximum number of components that are tried by default, unless the rows have more groups.
const MOST_TRIED: usize = 10;
/// If rows have many groups, numbers of components up to this far below and above the number of groups are tried.
const AROUND: usize = 3;
/// The maximum number of components that can be requested.
const MOST_COMPONENTS: usize = 65_536;

/// The covariance type of components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// A variance for each component, the same in every direction.
    Spherical,
    /// A variance for each component and column; columns are independent within a component.
    Diagonal,
    /// One covariance matrix for all components.
    Tied,
    /// A covariance matrix for each component.
    #[default]
    Full,
}

impl Covariance {
    /// All types, the simplest first.
    pub const ALL: [Covariance; 4] = [Covariance::Spherical, Covariance::Diagonal, Covariance::Tied, Covariance::Full];

    /// The name of the covariance type in commands and files.
    pub const fn name(self) -> &'static str {
        match self {
            Covariance::Spherical => "spherical",
            Covariance::Diagonal => "diagonal",
            Covariance::Tied => "tied",
            Covariance::Full => "full",
        }
    }

    /// The number of free parameters of a mixture with this many components: all weights but one, the means and the
    /// covariances.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::mixture::Covariance;
    /// assert_eq!(Covariance::Full.free_parameters(4, 3), 44); // 2 weights, 12 of means, 3 x 10 of covariances
    /// ```
    pub const fn free_parameters(self, dimension: usize, components: usize) -> usize {
        let covariances = match self {
            Covariance::Spherical => components,
            Covariance::Diagonal => components * dimension,
            Covariance::Tied => dimension * (dimension + 1) / 2,
            Covariance::Full => components * dimension * (dimension + 1) / 2,
        };
        components - 1 + components * dimension + covariances
    }
}

impl fmt::Display for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The parameters of a mixture. The default chooses the number of components by BIC.
///
/// # Example
/// ```
/// use lehr_mining::mixture::{Covariance, Parameters};
/// let parameters = Parameters { components: Some(3), covariance: Covariance::Tied, ..Parameters::default() };
/// assert_eq!(parameters.regularisation, 1e-6);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of components, at least 1. Default: none, so the number with the lowest BIC is chosen.
    pub components: Option<usize>,
    /// The maximum number of components that are tried if `components` is none, at least 1. Default: 10, or the number
    /// of rows if that is smaller. By default, if valleys in the density ([`number`](mod@crate::number)) separate eight
    /// groups or more, numbers up to three above that are tried too. This needs rows without missing cells.
    pub max_components: Option<usize>,
    /// The covariance type. Default: full. In more than 512 columns, tied and full covariances are errors: choose
    /// spherical or diagonal ones.
    pub covariance: Covariance,
    /// Each row counts as a small cloud, whose variance along a column is this share of the column's variance.
    /// Therefore no component becomes narrower than a cloud. From 0 to 0.1. Default: 1e-6, so that a cloud is as wide
    /// as a thousandth of the column's standard deviation.
    pub regularisation: f64,
    /// The tolerance, 1e-12 to 1e-2. The fit ends when, by Aitken's estimate, the log-likelihood per unit of weight can
    /// rise by no more than the tolerance. Default: 1e-8.
    pub tolerance: f64,
    /// The maximum number of passes over the rows in one fit, at least 1. Default: 2000.
    pub max_sweeps: u64,
    /// The factor from each temperature to the next in the annealing that finds the starts, 0.5 to 0.999. Default:
    /// 0.95.
    pub cooling: f64,
    /// The random seed, which only breaks ties in the annealing ([`crate::vector::Parameters::seed`]). Default: 0.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            components: None,
            max_components: None,
            covariance: Covariance::Full,
            regularisation: 1e-6,
            tolerance: 1e-8,
            max_sweeps: 2000,
            cooling: 0.95,
            seed: 0,
        }
    }
}

impl Parameters {
    /// Whether the number of groups in the rows decides which numbers of components are tried.
    pub(crate) fn is_open(&self) -> bool {
        self.components.is_none() && self.max_components.is_none()
    }

    /// Returns the numbers of components to try, in ascending order. `rows` is the number of rows of positive weight,
    /// and `groups` is the number of groups, if known.
    pub(crate) fn candidates(&self, rows: usize, groups: Option<usize>) -> Vec<usize> {
        if let Some(components) = self.components {
            return vec![components];
        }
        let most = self.max_components.unwrap_or(MOST_TRIED).min(rows);
        let around = groups.map(|groups| groups.saturating_sub(AROUND).max(most + 1)..=(groups + AROUND).min(rows));
        let beyond = groups.filter(|groups| *groups + AROUND > most).and(around);
        (1..=most).chain(beyond.into_iter().flatten()).collect()
    }

    /// Checks that each parameter is in its range and suits the rows.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if a parameter is outside its range. Returns [`Error::TooManyComponents`] if there
    /// are more components than rows, and [`Error::TooManyPoints`] if there are too many rows.
    pub fn check<'a>(&self, input: impl Into<Input<'a>>) -> Result<(), Error> {
        let points = input.into();
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        for (name, value) in [("components", self.components), ("max_components", self.max_components)] {
            match value {
                Some(0) => return wrong(name, "at least 1", "0".into()),
                Some(value) if value > MOST_COMPONENTS => return wrong(name, "at most 65536", value.to_string()),
                _ => {}
            }
        }
        if let Some(components) = self.components
            && components > points.len()
        {
            return Err(Error::TooManyComponents { components, points: points.len() });
        }
        if !(0.0..=0.1).contains(&self.regularisation) {
            return wrong("regularisation", "0 to 0.1", number(self.regularisation));
        }
        if !(1e-12..=1e-2).contains(&self.tolerance) {
            return wrong("tolerance", "1e-12 to 1e-2", number(self.tolerance));
        }
        if self.max_sweeps == 0 {
            return wrong("max_sweeps", "at least 1", "0".into());
        }
        if !(0.5..=0.999).contains(&self.cooling) {
            return wrong("cooling", "0.5 to 0.999", number(self.cooling));
        }
        let is_matrix = matches!(self.covariance, Covariance::Tied | Covariance::Full);
        if is_matrix && points.dimension() > MOST_FORMED {
            return wrong(
                "covariance",
                "spherical or diagonal in more than 512 columns",
                format!("{} in {}", self.covariance, points.dimension()),
            );
        }
        if u32::try_from(points.len()).is_err() {
            return Err(Error::TooManyPoints { points: points.len() });
        }
        Ok(())
    }
}
