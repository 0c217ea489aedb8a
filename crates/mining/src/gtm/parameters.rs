//! The parameters of a map, and their validation.

use std::fmt;

use lehr_data::error::number;
use serde::{Deserialize, Serialize};

use super::basis::Grid;
use crate::Error;
use crate::input::Input;

/// The number of rows from which a two-dimensional map has the finer grid by default.
const MANY_ROWS: usize = 2000;
/// The maximum number of nodes of a map.
const MOST_NODES: usize = 10_000;
/// The maximum number of basis functions, without the constant. In every sweep, every rank factors a matrix with one
/// row for each function.
const MOST_FUNCTIONS: usize = 400;

/// The start of a fit. Neither start is better on all data (`docs/design/gtm.md` has figures).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Start from a point at the mean, which unfolds while it cools.
    #[default]
    Annealed,
    /// Start from the plane of the principal axes, at temperature 1.
    Plane,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Start::Annealed => "annealed from a point",
            Start::Plane => "begun as the principal plane",
        })
    }
}

/// The parameters of a topographic map. The default lays out a plane of 15 x 15 nodes, or 20 x 20 from 2,000 rows on.
/// By default, both starts are followed, and the fit with the higher likelihood is kept.
///
/// # Example
/// ```
/// use lehr_mining::gtm::{Parameters, Start};
/// let parameters = Parameters { latent: 1, nodes: Some(30), start: Some(Start::Annealed), ..Parameters::default() };
/// assert_eq!((parameters.regularisation, parameters.cooling), (0.1, 0.95));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of dimensions of the map, 1 to 3 and at most the number of columns. Default: 2.
    pub latent: usize,
    /// The number of nodes along each axis, at least 2, with at most 10,000 nodes in all. Default: none, which means 50
    /// in one dimension, 15 in two (20 from 2,000 rows on), and 8 in three.
    pub nodes: Option<usize>,
    /// The number of basis functions along each axis: at least 2. In all, there must be at most 400 functions, and
    /// fewer than nodes. Default: none, which means 8 in one dimension, 5 in two, and 3 in three.
    pub basis: Option<usize>,
    /// The width (standard deviation) of a basis function, divided by the distance to the next one, 0.1 to 10. With
    /// narrower functions, the map follows the rows more closely. Default: 1.
    pub width: f64,
    /// The precision of the prior on the basis weights, in units of 1 over the mean variance of a column, 0 to 1e6.
    /// Default: 0.1. A higher precision makes a stiffer map.
    pub regularisation: f64,
    /// The start of the fit. Default: none, which means both starts, one after the other. The fit with the higher
    /// likelihood is kept ([`super::Model::candidates`] has both).
    pub start: Option<Start>,
    /// The factor from one temperature to the next, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// The tolerance: the fit ends when, by Aitken's estimate, the objective per unit of weight can rise by no more
    /// than this; 1e-12 to 1e-2. Default: 1e-6.
    pub tolerance: f64,
    /// The maximum number of passes over the rows at temperature 1, at least 1. Default: 1000.
    pub max_sweeps: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            latent: 2,
            nodes: None,
            basis: None,
            width: 1.0,
            regularisation: 0.1,
            start: None,
            cooling: 0.95,
            tolerance: 1e-6,
            max_sweeps: 1000,
        }
    }
}

impl Parameters {
    /// Returns the grid of a map for this many rows.
    pub(crate) fn grid(&self, rows: usize) -> Grid {
        let (nodes, basis) = match self.latent {
            1 => (50, 8),
            2 => (if rows < MANY_ROWS { 15 } else { 20 }, 5),
            _ => (8, 3),
        };
        Grid {
            latent: self.latent,
            nodes: self.nodes.unwrap_or(nodes),
            basis: self.basis.unwrap_or(basis),
            width: self.width,
        }
    }

    /// Checks each value, and the values against the rows.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] for the first value that is out of its range.
    pub fn check<'a>(&self, input: impl Into<Input<'a>>) -> Result<(), Error> {
        self.check_with(Some(&input.into()))
    }

    /// Checks the values as far as possible without rows. [`check`](Self::check) includes these checks, with the same
    /// messages.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] for the first value that is out of its range, whatever the rows.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::gtm::Parameters;
    /// assert!(Parameters { latent: 4, ..Parameters::default() }.check_alone().is_err());
    /// // Too many functions for the nodes that few rows have by default, but not for those of many rows.
    /// assert!(Parameters { basis: Some(16), ..Parameters::default() }.check_alone().is_ok());
    /// ```
    pub fn check_alone(&self) -> Result<(), Error> {
        self.check_with(None)
    }

    fn check_with(&self, input: Option<&Input<'_>>) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if !(1..=3).contains(&self.latent) {
            return wrong("latent", "1, 2 or 3", self.latent.to_string());
        }
        if let Some(input) = input
            && self.latent > input.dimension()
        {
            return Err(Error::TooManyDimensions { dimensions: self.latent, columns: input.dimension() });
        }
        // The default number of nodes of a plane depends on the number of rows.
        let (few, many) = (self.grid(1), self.grid(MANY_ROWS));
        let is_known = input.is_some() || few == many;
        let grid = input.map_or(few, |input| self.grid(input.len()));
        let axis = grid.latent as u32;
        if grid.nodes < 2 || grid.nodes.checked_pow(axis).is_none_or(|nodes| nodes > MOST_NODES) {
            return wrong("nodes", "at least 2 along an axis, and at most 10000 in all", grid.nodes.to_string());
        }
        if grid.basis < 2 || grid.basis.checked_pow(axis).is_none_or(|functions| functions > MOST_FUNCTIONS) {
            return wrong("basis", "at least 2 along an axis, and at most 400 in all", grid.basis.to_string());
        }
        if is_known && grid.functions() > grid.len() {
            let found = format!("{} functions, the constant one included, for {} nodes", grid.functions(), grid.len());
            return wrong("basis", "at most as many functions as there are nodes", found);
        }
        if !(0.1..=10.0).contains(&self.width) {
            return wrong("width", "0.1 to 10", number(self.width));
        }
        if !(0.0..=1e6).contains(&self.regularisation) {
            return wrong("regularisation", "0 to 1000000", number(self.regularisation));
        }
        if !(0.5..=0.999).contains(&self.cooling) {
            return wrong("cooling", "0.5 to 0.999", number(self.cooling));
        }
        if !(1e-12..=1e-2).contains(&self.tolerance) {
            return wrong("tolerance", "1e-12 to 0.01", number(self.tolerance));
        }
        if self.max_sweeps == 0 {
            return wrong("max_sweeps", "at least 1", "0".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::Points;

    use super::*;

    #[test]
    fn what_is_out_of_range_is_named() {
        let points = Points::new(vec![0.0, 1.0, 2.0, 5.0, 4.0, 4.0], 2).unwrap();
        let default = Parameters::default();
        default.check(&points).unwrap();
        let cases = [
            (Parameters { latent: 0, ..default.clone() }, "latent"),
            (Parameters { nodes: Some(1), ..default.clone() }, "nodes"),
            (Parameters { nodes: Some(101), ..default.clone() }, "nodes"),
            (Parameters { nodes: Some(usize::MAX), ..default.clone() }, "nodes"),
            (Parameters { basis: Some(1), ..default.clone() }, "basis"),
            (Parameters { basis: Some(21), ..default.clone() }, "basis"),
            (Parameters { nodes: Some(4), basis: Some(4), ..default.clone() }, "basis"),
            (Parameters { width: 0.0, ..default.clone() }, "width"),
            (Parameters { regularisation: -0.1, ..default.clone() }, "regularisation"),
            (Parameters { cooling: 1.0, ..default.clone() }, "cooling"),
            (Parameters { tolerance: f64::NAN, ..default.clone() }, "tolerance"),
            (Parameters { max_sweeps: 0, ..default.clone() }, "max_sweeps"),
        ];
        for (parameters, expected) in cases {
            let error = parameters.check(&points).unwrap_err();
            assert!(matches!(error, Error::Parameter { name, .. } if name == expected), "{expected}: {error}");
            assert_eq!(parameters.check_alone().unwrap_err().to_string(), error.to_string());
        }
        // Whether three dimensions are too many depends on the rows.
        let three = Parameters { latent: 3, ..default };
        three.check_alone().unwrap();
        assert!(matches!(three.check(&points), Err(Error::TooManyDimensions { dimensions: 3, columns: 2 })));
    }

    #[test]
    fn how_many_functions_nodes_by_default_can_have_is_for_the_rows_to_say() {
        let rows = |count: usize| Points::new((0..2 * count).map(|at| (at * at % 17) as f64).collect(), 2).unwrap();
        let (few, many) = (rows(MANY_ROWS - 1), rows(MANY_ROWS));
        // There are 225 or 400 nodes. The constant is one function more than the basis has.
        for (basis, is_for_few, is_for_many) in
            [(14, true, true), (15, false, true), (19, false, true), (20, false, false)]
        {
            let parameters = Parameters { basis: Some(basis), ..Parameters::default() };
            parameters.check_alone().unwrap();
            assert_eq!(parameters.check(&few).is_ok(), is_for_few, "{basis}");
            assert_eq!(parameters.check(&many).is_ok(), is_for_many, "{basis}");
            let parameters = Parameters { nodes: Some(15), ..parameters };
            assert_eq!(parameters.check_alone().is_ok(), is_for_few, "{basis}");
        }
    }
}
