//! The methods that come with this crate, by the names of their contracts.

use crate::clustering::Clustering;
use crate::declared::{Gtm, KMedoids, Mixture};
use crate::distances::Distances;
use crate::embedding::Embedding;
use crate::method::{AnyMethod, Method};
use crate::pairwise::Pairwise;
use crate::sync::Arc;

/// Makes a method.
type Make = fn() -> Arc<dyn AnyMethod>;

/// A new method joins here.
const METHODS: [(&str, Make); 7] = [
    (Clustering::NAME, || Arc::new(Clustering)),
    (Distances::NAME, || Arc::new(Distances::default())),
    (Embedding::NAME, || Arc::new(Embedding)),
    (Gtm::NAME, || Arc::new(Gtm::default())),
    (KMedoids::NAME, || Arc::new(KMedoids::default())),
    (Mixture::NAME, || Arc::new(Mixture::default())),
    (Pairwise::NAME, || Arc::new(Pairwise)),
];

/// The method of a contract. Nothing for another contract.
pub(crate) fn named(contract: &str) -> Option<Arc<dyn AnyMethod>> {
    METHODS.iter().find(|(name, _)| *name == contract).map(|(_, make)| make())
}
