//! The methods that come with this crate, by the names of their contracts.

use crate::clustering::Clustering;
use crate::declared::{Gtm, KMedoids, Mixture};
use crate::distances::Distances;
use crate::embedding::Embedding;
use crate::method::Method;
use crate::pairwise::Pairwise;

/// What is done with a method, whichever it is.
pub(crate) trait With {
    /// What comes of it.
    type Output;

    /// Does it.
    fn with<M: Method>(self, method: M) -> Self::Output;
}

/// Does something with the method of a contract. Nothing for another contract.
pub(crate) fn with_method<W: With>(contract: &str, with: W) -> Option<W::Output> {
    Some(match contract {
        Clustering::NAME => with.with(Clustering),
        Distances::NAME => with.with(Distances::default()),
        Embedding::NAME => with.with(Embedding),
        Gtm::NAME => with.with(Gtm::default()),
        KMedoids::NAME => with.with(KMedoids::default()),
        Mixture::NAME => with.with(Mixture::default()),
        Pairwise::NAME => with.with(Pairwise),
        _ => return None,
    })
}
