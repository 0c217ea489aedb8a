//! The methods of this crate, by the names of their contracts.

use lehr_sync::Arc;

use crate::declared::Declared;
use crate::distances::Distances;
use crate::method::AnyMethod;

/// Returns all methods: [`Distances`], the only method that `lehr-methods` does not declare, and all declared methods.
fn all() -> Vec<Arc<dyn AnyMethod>> {
    let own: [Arc<dyn AnyMethod>; 1] = [Arc::new(Distances::default())];
    let declared = lehr_methods::ALL.iter().map(|method| Arc::new(Declared::of(*method)) as Arc<dyn AnyMethod>);
    own.into_iter().chain(declared).collect()
}

/// Returns the names of the methods' contracts.
pub(crate) fn contracts() -> Vec<&'static str> {
    all().iter().map(|method| method.facts().name).collect()
}

/// Returns the method with this contract, if there is one.
pub(crate) fn named(contract: &str) -> Option<Arc<dyn AnyMethod>> {
    all().into_iter().find(|method| method.facts().name == contract)
}
