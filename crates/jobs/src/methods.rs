//! The methods that come with this crate, by the names of their contracts.

use lehr_sync::Arc;

use crate::declared::Declared;
use crate::distances::Distances;
use crate::method::AnyMethod;

/// The one that is not declared in `lehr-methods`, and all that are.
fn all() -> Vec<Arc<dyn AnyMethod>> {
    let own: [Arc<dyn AnyMethod>; 1] = [Arc::new(Distances::default())];
    let declared = lehr_methods::ALL.iter().map(|method| Arc::new(Declared::of(*method)) as Arc<dyn AnyMethod>);
    own.into_iter().chain(declared).collect()
}

/// The names of their contracts.
pub(crate) fn contracts() -> Vec<&'static str> {
    all().iter().map(|method| method.facts().name).collect()
}

/// The method of a contract. Nothing for another contract.
pub(crate) fn named(contract: &str) -> Option<Arc<dyn AnyMethod>> {
    all().into_iter().find(|method| method.facts().name == contract)
}
