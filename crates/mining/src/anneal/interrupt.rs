//! A stop within a step: whoever adds up a leaf asks first whether anybody still wants the step.

use std::fmt;
use std::sync::Arc;

/// Says whether a run is to be given up at once, in the middle of a pass over its rows.
///
/// An observer is asked between steps, and a step over very many rows may take minutes. One that has an interrupt
/// ([`Observer::interrupt`](super::Observer::interrupt)) is heard before each leaf of rows (some hundreds to thousands of them): what is left of the pass is left out, the step counts as never
/// begun, and the observer is handed the checkpoint of where it would have begun. A run that goes on from there comes to the same bits. Before the first step, while a run finds out where it begins, there is nothing
/// to go on from: it is given up all the same, and the observer is handed nothing.
///
/// # Example
/// ```
/// use std::sync::{Arc, OnceLock};
/// use lehr_data::Points;
/// use lehr_mining::anneal::{Checkpoint, Control, Interrupt, Observer, Progress};
/// use lehr_mining::{Error, Execution, vector};
///
/// struct Impatient(Arc<OnceLock<()>>, Option<Checkpoint>);
/// impl Observer for Impatient {
///     fn progress(&mut self, _: &Progress<'_>) -> Control {
///         // After the first step; from another thread it might come at any time.
///         let _ = self.0.set(());
///         Control::Continue
///     }
///     fn interrupt(&self) -> Option<Interrupt> {
///         let said = self.0.clone();
///         Some(Interrupt::when(move || said.get().is_some()))
///     }
///     fn interrupted(&mut self, checkpoint: &Checkpoint) {
///         self.1 = Some(checkpoint.clone());
///     }
/// }
/// let points = Points::new(vec![0.0, 1.0, 2.0, 10.0, 12.0, 14.0], 1)?;
/// let parameters = vector::Parameters { clusters: Some(2), ..Default::default() };
/// let mut observer = Impatient(Arc::default(), None);
/// let execution = Execution::default();
/// assert!(matches!(vector::cluster(&points, &parameters, &execution, &mut observer), Err(Error::Stopped)));
/// let model = vector::resume(&points, observer.1.unwrap(), &execution, &mut lehr_mining::anneal::Silent)?;
/// assert_eq!(model.clusters.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Interrupts from the moment that `is_asked` says so. It is called by all threads of a run, before each leaf, and should return at once; what it has said once it must not take back.
    pub fn when(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    pub(crate) fn is_asked(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Interrupt").field("is_asked", &self.is_asked()).finish()
    }
}
