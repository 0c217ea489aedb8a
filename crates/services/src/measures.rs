//! Numbers that a service adds to its node's `/metrics`, such as its jobs by state.
//!
//! These numbers are not part of the document. The numbers have no subscribers, are not kept on disk, and start from
//! zero in each incarnation of the service.

use std::collections::BTreeMap;

use lehr_sync::{Arc, Mutex};

/// The name and meaning of a number, and whether it only grows.
///
/// Names follow Prometheus: lower case with `_`, the unit last, and `_total` for counters.
///
/// # Example
/// See [`Measures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure {
    /// The name of the measure.
    pub name: &'static str,
    /// The meaning of the measure, as a sentence.
    pub help: &'static str,
    /// Whether the number only grows.
    pub is_counter: bool,
}

/// The numbers of a service; [`Starting::measures`](crate::Starting::measures) returns them. Clones share the numbers.
///
/// # Example
/// ```
/// use lehr_services::{Measure, Measures};
/// const LOOMS: Measure = Measure { name: "looms", help: "Looms by what they do.", is_counter: false };
/// const PICKS: Measure = Measure { name: "picks_total", help: "Threads that were woven in.", is_counter: true };
/// let measures = Measures::default();
/// measures.set(LOOMS, Some(("state", "weaving")), 2.0);
/// measures.set(LOOMS, Some(("state", "weaving")), 3.0);
/// measures.add(PICKS, None, 40.0);
/// measures.add(PICKS, None, 2.0);
/// assert_eq!(measures.all(), [(LOOMS, Some(("state", "weaving")), 3.0), (PICKS, None, 42.0)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Measures(Arc<Mutex<BTreeMap<(Measure, MeasureLabel), f64>>>);

/// The label that distinguishes the numbers of one measure: a name and a value, such as `("state", "running")`.
pub type MeasureLabel = Option<(&'static str, &'static str)>;

impl Measures {
    /// Sets the present value of a number.
    pub fn set(&self, measure: Measure, label: MeasureLabel, value: f64) {
        self.0.lock().insert((measure, label), value);
    }

    /// Adds to a number.
    pub fn add(&self, measure: Measure, label: MeasureLabel, value: f64) {
        *self.0.lock().entry((measure, label)).or_default() += value;
    }

    /// Returns all numbers, grouped by measure.
    pub fn all(&self) -> Vec<(Measure, MeasureLabel, f64)> {
        self.0.lock().iter().map(|((measure, label), value)| (*measure, *label, *value)).collect()
    }
}
