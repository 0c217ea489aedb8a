//! The persistence of each number of clusters while the temperature falls, and the number that this suggests.

use lehr_numerics::elementary::{exp, ln};
use serde::{Deserialize, Serialize};

/// A number of clusters that lasts while the temperature halves is a clear one; an isotropic cloud's first division
/// lasts a sixth of that.
const CLEAR: f64 = std::f64::consts::LN_2;

/// The persistence of a number of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plateau {
    /// The number of components.
    pub clusters: usize,
    /// The temperature at which this number was first reached.
    pub from: f64,
    /// The temperature at which there were first more clusters, or down to which there are no more. `None` if the run
    /// ended with the most clusters allowed, or with less than two rows a cluster, because any few rows end so.
    pub to: Option<f64>,
}

impl Plateau {
    /// The natural logarithm of the range of temperatures.
    pub fn width(&self) -> f64 {
        self.to.map_or(0.0, |to| ln(self.from / to))
    }
}

/// The number of clusters that the data suggest, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The number that persisted over the widest range of temperatures.
    pub clusters: usize,
    /// Every number in turn, with its range.
    pub plateaus: Vec<Plateau>,
}

impl Suggestion {
    /// The suggestion of plateaus; `found` clusters if none of them has an end.
    pub(crate) fn new(plateaus: Vec<Plateau>, found: usize) -> Self {
        Self { clusters: widest(&plateaus).map_or(found, |plateau| plateau.clusters), plateaus }
    }

    /// The plateau that suggests the number: the widest that has an end. Nothing if none has.
    pub fn plateau(&self) -> Option<&Plateau> {
        widest(&self.plateaus)
    }

    /// The warning that no number stands out, if that is so.
    pub(crate) fn warning(&self) -> Option<String> {
        let plateau = widest(&self.plateaus).filter(|plateau| plateau.width() < CLEAR)?;
        Some(format!(
            "no number of clusters is clearly better: {} is the best guess, but it lasted only while the temperature fell by a factor of {:.2}; you can give the number",
            plateau.clusters,
            exp(plateau.width())
        ))
    }
}

/// The widest closed plateau of more than one component, the first of equals.
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
