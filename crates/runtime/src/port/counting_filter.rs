//! The counting filter that a watcher leaves at its port while it waits for items of certain classes. The filter
//! determines the class of each item, and counts how many items of each class are missing.
//!
//! When the owner looks at the port, it counts the items under the lock and notes how many are missing. Each item that
//! arrives reduces the number for its class by one. The port wakes the owner when no item is missing any more, because
//! only then can the owner succeed. Items that other receivers take meanwhile are not added back. The owner then finds
//! these items missing when it looks, and notes them again. So the owner may be woken and look without success. But the
//! port never forgets to wake the owner, because the filter counts every item that arrives after the owner's last look.

use super::predicate::caught;

type Closure<T> = Box<dyn Fn(&T) -> Option<usize> + Send>;

/// A function that returns the class of an item, or `None` if the item is of no interest. Called under the port's lock.
pub(crate) enum Classify<T> {
    /// A function of Lehr, which looks only at the item.
    Function(fn(&T) -> Option<usize>),
    /// A closure that calls user code.
    Closure(Closure<T>),
}

/// A count of the missing items of each class; see the documentation of this module.
pub(crate) struct CountingFilter<T> {
    classify: Classify<T>,
    /// For each class, the number of missing items.
    lacking: Vec<usize>,
    /// The number of classes with missing items.
    open: usize,
}

impl<T> CountingFilter<T> {
    /// Creates a filter for this many classes, with no missing items.
    pub(crate) fn new(classes: usize, classify: Classify<T>) -> Self {
        Self { classify, lacking: vec![0; classes], open: 0 }
    }

    /// Notes how many items of each class are missing.
    pub(crate) fn lacks(&mut self, lacking: impl IntoIterator<Item = usize>) {
        self.open = 0;
        for (count, now) in self.lacking.iter_mut().zip(lacking) {
            *count = now;
            self.open += usize::from(now > 0);
        }
    }

    /// Counts an item that has arrived; returns true if nothing is missing any more.
    ///
    /// # Errors
    /// Returns the text of the classifier's panic.
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
