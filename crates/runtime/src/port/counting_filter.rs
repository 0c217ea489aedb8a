//! The counting filter that a watcher leaves at its port while it waits for items of certain classes. It says which
//! class an item is of, and which are lacking.
//!
//! The owner counts the items when it looks, under the port's lock, and writes down how many are missing. Each item
//! that arrives takes one off. The owner is woken when nothing lacks any more: at the earliest moment at which a look
//! can succeed, and not before. Items that others take meanwhile are not counted back; then the look finds them missing
//! and notes them again. So the owner may look once without success, but is never forgotten: of a class that is noted
//! nothing has arrived since.

use super::predicate::caught;

type Closure<T> = Box<dyn Fn(&T) -> Option<usize> + Send>;

/// Gives the class of an item, or none if the item is of no interest. Called under the port's lock.
pub(crate) enum Classify<T> {
    /// A filter of Lehr, which looks only at the item.
    Function(fn(&T) -> Option<usize>),
    /// A filter that calls user code.
    Closure(Closure<T>),
}

/// See the module's page.
pub(crate) struct CountingFilter<T> {
    classify: Classify<T>,
    /// For each class, how many items the owner lacks.
    lacking: Vec<usize>,
    /// The number of classes that lack anything.
    open: usize,
}

impl<T> CountingFilter<T> {
    /// For this many classes, none of which lacks anything yet.
    pub(crate) fn new(classes: usize, classify: Classify<T>) -> Self {
        Self { classify, lacking: vec![0; classes], open: 0 }
    }

    /// Writes down how many items of each class are lacking.
    pub(crate) fn lacks(&mut self, lacking: impl IntoIterator<Item = usize>) {
        self.open = 0;
        for (count, now) in self.lacking.iter_mut().zip(lacking) {
            *count = now;
            self.open += usize::from(now > 0);
        }
    }

    /// Counts an item that has arrived: true if with it nothing is lacking any more.
    ///
    /// # Errors
    /// The text of the classifier's panic.
    pub(crate) fn arrives(&mut self, item: &T) -> Result<bool, String> {
        let class = caught(|| match &self.classify {
            Classify::Function(class) => class(item),
            Classify::Closure(class) => class(item),
        });
        let Some(class) = class? else { return Ok(false) };
        if self.lacking[class] == 0 {
            return Ok(false);
        }
        self.lacking[class] -= 1;
        self.open -= usize::from(self.lacking[class] == 0);
        Ok(self.open == 0)
    }
}
