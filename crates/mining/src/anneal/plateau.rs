//! Measures how long each number of clusters persists while the temperature falls, and suggests the number that
//! persists longest.

use lehr_numerics::elementary::{exp, ln};
use serde::{Deserialize, Serialize};

/// A number of clusters is clear if it persists while the temperature halves. The first division of an isotropic cloud
/// persists for a sixth of that range.
const CLEAR: f64 = std::f64::consts::LN_2;

/// The persistence of a number of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// The number of components.
    pub clusters: usize,
    /// The temperature at which this number was first reached.
    pub from: f64,
    /// The temperature at which the number first changed, or down to which it persists. `None` if the run ended at the
    /// maximum number of clusters. Also `None` if it ended with fewer than two rows for each cluster, because any small
    /// data set does.
    pub to: Option<f64>,
}

impl Plateau {
    /// The natural logarithm of the ratio of `from` to `to`; 0 if the plateau has no end.
    pub fn width(&self) -> f64 {
        self.to.map_or(0.0, |to| ln(self.from / to))
    }
}

/// The number of clusters that the data suggest, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The number that persisted over the widest range of temperatures.
    pub clusters: usize,
    /// All plateaus, in the order in which they were reached.
    pub plateaus: Vec<Plateau>,
}

impl Suggestion {
    /// Suggests the number of the widest plateau that has an end; `found` if no plateau has one.
    pub(crate) fn new(plateaus: Vec<Plateau>, found: usize) -> Self {
        Self { clusters: widest(&plateaus).map_or(found, |plateau| plateau.clusters), plateaus }
    }

    /// The widest plateau that has an end, which suggests the number; `None` if no plateau has an end.
    pub fn plateau(&self) -> Option<&Plateau> {
        widest(&self.plateaus)
    }

    /// The warning that no number is clearly better, if the suggested number persists too briefly.
    pub(crate) fn warning(&self) -> Option<String> {
        let plateau = widest(&self.plateaus).filter(|plateau| plateau.width() < CLEAR)?;
        Some(format!(
            "no number of clusters is clearly better: {} is the best guess, but it lasted only while the temperature fell by a factor of {:.2}; you can give the number",
            plateau.clusters,
            exp(plateau.width())
        ))
    }
}

/// Returns the widest plateau of several components that has an end; the first if several are equally wide.
pub(crate) fn widest(plateaus: &[Plateau]) -> Option<&Plateau> {
    let mut widest: Option<&Plateau> = None;
    for plateau in plateaus.iter().filter(|plateau| plateau.clusters > 1 && plateau.to.is_some()) {
        if widest.is_none_or(|best| plateau.width() > best.width()) {
            widest = Some(plateau);
        }
    }
    widest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plateau(clusters: usize, from: f64, to: Option<f64>) -> Plateau {
        Plateau { clusters, from, to }
    }

    #[test]
    fn the_widest_closed_plateau_of_several_components_is_suggested_and_the_first_of_equals() {
        let plateaus = vec![
            plateau(1, 512.0, Some(32.0)),
            plateau(2, 32.0, Some(8.0)),
            plateau(3, 8.0, Some(2.0)),
            plateau(4, 2.0, None),
        ];
        let suggestion = Suggestion::new(plateaus, 4);
        assert_eq!((suggestion.clusters, suggestion.warning()), (2, None));
    }

    #[test]
    fn a_number_that_comes_back_is_suggested_by_its_widest_plateau() {
        let (short, wide) = (plateau(2, 7.6, Some(6.5)), plateau(2, 5.9, Some(2.9)));
        let suggestion =
            Suggestion::new(vec![short, plateau(3, 6.5, Some(5.9)), wide.clone(), plateau(3, 2.9, None)], 3);
        assert_eq!((suggestion.clusters, suggestion.plateau()), (2, Some(&wide)));
    }

    #[test]
    fn a_short_plateau_is_warned_of_and_without_a_closed_one_what_was_found_counts() {
        let short = Suggestion::new(vec![plateau(2, 3.0, Some(2.0))], 5);
        assert_eq!(short.clusters, 2);
        assert!(
            short
                .warning()
                .unwrap()
                .contains("2 is the best guess, but it lasted only while the temperature fell by a factor of 1.50")
        );
        let none = Suggestion::new(vec![plateau(1, 3.0, None)], 5);
        assert_eq!((none.clusters, none.warning()), (5, None));
    }
}
