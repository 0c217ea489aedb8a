//! The E-step of a map: computes the memberships of a leaf's rows in the nodes, and sums over these rows. This file
//! does not use ranks.
//!
//! With noise `1 / beta` and temperature T, the memberships are those of annealed clustering with equal priors at `2 T
//! / beta` (paper 004, section 7). So this file uses the kernels of annealed clustering. A partial sum holds [`TOTALS`]
//! numbers, then the mass and the first moment of each node. If cells are missing, each node has a mass for each column
//! instead of a single mass.

use std::cell::RefCell;

use lehr_numerics::observed::{ObservedScratch, observed_sums};
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};

use super::table::Table;
use crate::round::Round;

/// The number of sums over all nodes: `-2 T / beta sum w ln sum exp` and `sum w (1 - max m)`.
pub(crate) const TOTALS: usize = 2;

thread_local! {
    static SOFT: RefCell<SoftScratch<f64>> = RefCell::default();
    static OBSERVED: RefCell<ObservedScratch<f64>> = RefCell::default();
}

/// A pass over all rows with a fixed sheet.
pub(crate) struct SheetRound<'a> {
    table: &'a Table,
    /// The nodes' images, K x D, in stored units.
    images: &'a [f64],
    /// The temperature `2 T / beta`, in stored squared units.
    temperature: f64,
    /// The nodes, prepared once for all leaves; empty if cells are missing.
    centers: SoftCenters<f64>,
}

impl<'a> SheetRound<'a> {
    /// Prepares a pass at `temperature = 2 T / beta`, in stored squared units.
    pub fn new(table: &'a Table, images: &'a [f64], temperature: f64) -> Self {
        let dimension = table.rows.dimension;
        let mut centers = SoftCenters::default();
        if table.observed.is_none() {
            centers.begin(dimension, temperature);
            images.chunks_exact(dimension).for_each(|image| centers.push(image, 0.0));
        }
        Self { table, images, temperature, centers }
    }
}

/// The number of sums for each node in a partial.
pub(crate) fn per_node(table: &Table) -> usize {
    let dimension = table.rows.dimension;
    if table.observed.is_some() { 2 * dimension } else { 1 + dimension }
}

impl Round for SheetRound<'_> {
    fn len(&self) -> usize {
        TOTALS + self.images.len() / self.table.rows.dimension * per_node(self.table)
    }

    fn key_len(&self) -> usize {
        per_node(self.table)
    }

    fn name(&self) -> &'static str {
        "map"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let tiles = self.table.rows.leaves[leaf].store.numbers();
        let (totals, sums) = partial.split_at_mut(TOTALS);
        let found = match &self.table.observed {
            None => SOFT.with_borrow_mut(|scratch| soft_sums(tiles, &self.centers, Sums::First, scratch, sums)),
            Some(observed) => OBSERVED.with_borrow_mut(|scratch| {
                observed_sums(tiles, &observed[leaf].tiles, self.images, self.temperature, scratch, sums)
            }),
        };
        totals[0] = found.free_energy;
        totals[1] = found.softness;
    }
}
