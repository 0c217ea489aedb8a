//! The methods that come with this crate, by the names of their contracts.

use crate::clustering::Clustering;
use crate::distances::Distances;
use crate::embedding::Embedding;
use crate::gtm::Gtm;
use crate::method::{AnyMethod, Method};
use crate::mixture::Mixture;
use crate::pairwise::Pairwise;
use crate::sync::Arc;

/// Makes a method.
type Make = fn() -> Arc<dyn AnyMethod>;

/// A new method joins here.
const METHODS: [(&str, Make); 6] = [
    (Clustering::NAME, || Arc::new(Clustering)),
    (Distances::NAME, || Arc::new(Distances::default())),
    (Embedding::NAME, || Arc::new(Embedding)),
    (Gtm::NAME, || Arc::new(Gtm)),
    (Mixture::NAME, || Arc::new(Mixture)),
    (Pairwise::NAME, || Arc::new(Pairwise)),
];

/// The method of a contract. Nothing for another contract.
pub(crate) fn named(contract: &str) -> Option<Arc<dyn AnyMethod>> {
    METHODS.iter().find(|(name, _)| *name == contract).map(|(_, make)| make())
}
