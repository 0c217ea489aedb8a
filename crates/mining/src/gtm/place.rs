//! Places rows on the map: the posterior over nodes, its mean, mode and entropy, and the density of the row.
//!
//! The same function places the rows of the fit and new rows, so a row of the fit gets the same position again.

use std::cell::RefCell;

use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::gaussian::{Components, GaussianScratch, Whitening, posterior};
use lehr_numerics::tiles::Tiles;

use super::basis::Grid;
use super::table::Table;
use crate::mixture::likeliest;
use crate::round::{LeafCells, Round};

#[derive(Debug, Default)]
struct Scratch {
    gaussian: GaussianScratch<f64>,
    memberships: Vec<f64>,
    log_densities: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A sheet prepared for placing rows.
#[derive(Debug)]
pub(crate) struct Placing<'a> {
    grid: Grid,
    dimension: usize,
    images: &'a [f64],
    noise: f64,
    components: Components<f64>,
}

/// Placed rows, in some order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Placed {
    /// The posterior means, N x L.
    pub positions: Vec<f64>,
    /// The most likely node of each row; the first if several are equally likely.
    pub modes: Vec<u32>,
    /// The posterior probability of the most likely node.
    pub probabilities: Vec<f64>,
    /// The entropy of the posterior, in nats.
    pub entropies: Vec<f64>,
    /// The log-density `ln p(x)` over the cells that are present.
    pub log_densities: Vec<f64>,
}

impl<'a> Placing<'a> {
    /// Prepares a sheet. `images` is K x D and `noise` is a variance, both in the unit of the rows to place.
    pub fn new(grid: Grid, dimension: usize, images: &'a [f64], noise: f64) -> Self {
        let mut components = Components::new(dimension, Whitening::Diagonal, 1.0);
        let matrix = vec![1.0 / noise.sqrt(); dimension];
        let log_factor = -ln(grid.len() as f64) - 0.5 * dimension as f64 * ln(std::f64::consts::TAU * noise);
        images.chunks_exact(dimension).for_each(|image| components.push(image, &matrix, log_factor));
        Self { grid, dimension, images, noise, components }
    }

    /// Places the rows of a block. `observed` marks the cells that are present; `None` if all are. Returns `sum w ln p`
    /// over the rows of positive weight.
    pub fn add(&self, tiles: &Tiles<f64>, observed: Option<&Tiles<f64>>, placed: &mut Placed) -> f64 {
        let (rows, count) = (tiles.rows(), self.grid.len());
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { gaussian, memberships, log_densities } = scratch;
            memberships.resize(rows * count, 0.0);
            log_densities.resize(rows, 0.0);
            let (memberships, log_densities) = (&mut memberships[..rows * count], &mut log_densities[..rows]);
            match observed {
                None => posterior(tiles, &self.components, gaussian, memberships, log_densities),
                Some(observed) => self.posterior_of_cells(tiles, observed, memberships, log_densities),
            }
            let mut sum = 0.0;
            for (row, memberships) in memberships.chunks_exact(count).enumerate() {
                let log_density = log_densities[row];
                self.place(memberships, log_density, placed);
                let weight = tiles.weight(row);
                if weight > 0.0 {
                    sum += weight * log_density;
                }
            }
            sum
        })
    }

    /// Computes memberships and densities over the present cells, row by row. Tables with missing cells are placed only
    /// once, at the end.
    fn posterior_of_cells(
        &self,
        tiles: &Tiles<f64>,
        observed: &Tiles<f64>,
        memberships: &mut [f64],
        log_densities: &mut [f64],
    ) {
        let (dimension, count) = (self.dimension, self.grid.len());
        let (mut row, mut there) = (vec![0.0; dimension], vec![0.0; dimension]);
        for (index, scores) in memberships.chunks_exact_mut(count).enumerate() {
            tiles.read_row(index, &mut row);
            observed.read_row(index, &mut there);
            let mut most = f64::NEG_INFINITY;
            for (score, image) in scores.iter_mut().zip(self.images.chunks_exact(dimension)) {
                let cells = row.iter().zip(image).zip(&there);
                let square: f64 = cells.map(|((x, y), there)| there * ((x - y) * (x - y))).sum();
                *score = -0.5 * square / self.noise;
                most = most.max(*score);
            }
            let mut sum = 0.0;
            for score in scores.iter_mut() {
                *score = exp(*score - most);
                sum += *score;
            }
            scores.iter_mut().for_each(|score| *score /= sum);
            let cells: f64 = there.iter().sum();
            log_densities[index] =
                most + ln(sum) - ln(count as f64) - 0.5 * cells * ln(std::f64::consts::TAU * self.noise);
        }
    }

    fn place(&self, memberships: &[f64], log_density: f64, placed: &mut Placed) {
        let latent = self.grid.latent;
        let (mode, probability) = likeliest(memberships);
        placed.modes.push(mode as u32);
        // A row of weight 0 may be so far away that its squares overflow. Then the row's position is unknown.
        if !log_density.is_finite() {
            placed.positions.extend(std::iter::repeat_n(0.0, latent));
            placed.probabilities.push(1.0 / self.grid.len() as f64);
            placed.entropies.push(ln(self.grid.len() as f64));
            placed.log_densities.push(f64::NEG_INFINITY);
            return;
        }
        let (mut position, mut entropy) = ([0.0; 3], 0.0);
        for (k, &membership) in memberships.iter().enumerate().filter(|(_, membership)| **membership > 0.0) {
            let node = self.grid.node(k);
            position.iter_mut().zip(node).for_each(|(sum, z)| *sum += membership * z);
            entropy -= membership * ln(membership);
        }
        placed.positions.extend_from_slice(&position[..latent]);
        placed.probabilities.push(probability);
        placed.entropies.push(entropy.max(0.0));
        placed.log_densities.push(log_density);
    }
}

impl Placed {
    /// Appends the rows as bytes: their number, then their modes and numbers.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&(self.modes.len() as u64).to_le_bytes());
        self.modes.iter().for_each(|mode| bytes.extend_from_slice(&mode.to_le_bytes()));
        let numbers =
            self.probabilities.iter().chain(&self.entropies).chain(&self.log_densities).chain(&self.positions);
        numbers.for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    }

    /// Reads the bytes of [`write`](Self::write).
    pub fn read(&mut self, bytes: &[u8]) {
        let (rows, rest) = bytes.split_first_chunk::<8>().expect("a number of rows");
        let rows = u64::from_le_bytes(*rows) as usize;
        let (modes, numbers) = rest.split_at(rows * size_of::<u32>());
        self.modes = modes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        self.probabilities = numbers.by_ref().take(rows).collect();
        self.entropies = numbers.by_ref().take(rows).collect();
        self.log_densities = numbers.by_ref().take(rows).collect();
        self.positions = numbers.collect();
    }
}

/// The last pass, which places each row, including rows of weight 0.
pub(crate) struct PlaceRound<'a> {
    pub table: &'a Table,
    pub placing: &'a Placing<'a>,
    pub cells: &'a LeafCells<Placed>,
}

impl Round for PlaceRound<'_> {
    /// A partial has only one number, the log-likelihood.
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "places"
    }

    fn map(&self, index: usize, partial: &mut [f64]) {
        let leaf = &self.table.rows.leaves[index];
        let observed = self.table.observed.as_ref().map(|observed| &observed[index]);
        self.cells.with(index, |placed| {
            *placed = Placed::default();
            partial[0] = self.placing.add(leaf.store.numbers(), observed.map(|observed| &observed.tiles), placed);
            if let Some(bystanders) = &leaf.bystanders {
                self.placing.add(
                    bystanders.numbers(),
                    observed.and_then(|observed| observed.bystanders.as_ref()),
                    placed,
                );
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { latent: 1, nodes: 3, basis: 2, width: 1.0 };

    /// Images -1, 0 and 1 in each of two columns.
    const IMAGES: [f64; 6] = [-1.0, -1.0, 0.0, 0.0, 1.0, 1.0];

    fn tiles(rows: &[[f64; 2]]) -> Tiles<f64> {
        Tiles::new(rows.len(), 2, &[0.0; 2], |i| &rows[i], |_| 1.0)
    }

    #[test]
    fn a_row_in_the_middle_is_placed_there_and_its_density_is_the_closed_form() {
        let placing = Placing::new(GRID, 2, &IMAGES, 0.5);
        let mut placed = Placed::default();
        let sum = placing.add(&tiles(&[[0.0, 0.0]]), None, &mut placed);
        let side = (-2.0f64).exp();
        let total = 1.0 + 2.0 * side;
        assert_eq!(placed.modes, [1]);
        assert!(placed.positions[0].abs() < 1e-15);
        assert!((placed.probabilities[0] - 1.0 / total).abs() < 1e-14);
        let entropy = total.ln() + 2.0 * side / total * 2.0;
        assert!((placed.entropies[0] - entropy).abs() < 1e-13, "{} for {entropy}", placed.entropies[0]);
        let density = (total / 3.0).ln() - std::f64::consts::PI.ln();
        assert!((sum - density).abs() < 1e-13 && placed.log_densities == [sum], "{sum} for {density}");
    }

    #[test]
    fn a_missing_cell_is_as_if_the_column_were_not_there() {
        let both = Placing::new(GRID, 2, &IMAGES, 0.5);
        let first: Vec<f64> = IMAGES.iter().step_by(2).copied().collect();
        let one = Placing::new(GRID, 1, &first, 0.5);
        let (mut missing, mut without) = (Placed::default(), Placed::default());
        both.add(&tiles(&[[0.7, 1e6]]), Some(&tiles(&[[1.0, 0.0]])), &mut missing);
        one.add(&Tiles::new(1, 1, &[0.0], |_| &[0.7], |_| 1.0), None, &mut without);
        assert_eq!(missing.modes, without.modes);
        for (a, b) in [
            (missing.positions[0], without.positions[0]),
            (missing.entropies[0], without.entropies[0]),
            (missing.log_densities[0], without.log_densities[0]),
        ] {
            assert!((a - b).abs() < 1e-13, "{a} for {b}");
        }
    }

    #[test]
    fn places_are_read_back_as_they_were_written() {
        let placed = Placed {
            positions: vec![0.5, -0.5, 1.0, 0.0],
            modes: vec![3, u32::MAX],
            probabilities: vec![1.0, 0.5],
            entropies: vec![0.0, 0.7],
            log_densities: vec![-1.5, f64::NEG_INFINITY],
        };
        let mut bytes = Vec::new();
        placed.write(&mut bytes);
        let mut read = Placed::default();
        read.read(&bytes);
        assert_eq!(read, placed);
    }
}
