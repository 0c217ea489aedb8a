//! Runs a kernel a given number of times on a problem from a file, so that `tools/instructions.py` can count its
//! instructions.
//!
//! `numerics_steps PROBLEM soft|nearest|products f32|f64 STEPS`. The file has little-endian doubles: n, d, K,
//! temperature, then n x d points, n weights, K x d centres, K logarithms of shares. `products` uses the points as the
//! rows of a matrix of n x d dissimilarities, and the centres as K columns.
#![allow(clippy::disallowed_macros, reason = "an example prints")]

use lehr_numerics::compact::{Block, Columns, Entry, Stored, add_products};
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::{HardCenters, HardScratch, nearest_labels};
use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};
use lehr_numerics::tiles::Tiles;

struct Problem {
    rows: usize,
    dimension: usize,
    clusters: usize,
    temperature: f64,
    values: Vec<f64>,
}

impl Problem {
    fn read(path: &str) -> std::io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let numbers: Vec<f64> = bytes.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect();
        let [rows, dimension, clusters] = [0, 1, 2].map(|place| numbers[place] as usize);
        Ok(Self { rows, dimension, clusters, temperature: numbers[3], values: numbers[4..].to_vec() })
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimension..][..self.dimension]
    }

    fn weight(&self, row: usize) -> f64 {
        self.values[self.rows * self.dimension + row]
    }

    fn center(&self, center: usize) -> &[f64] {
        &self.values[self.rows * (self.dimension + 1) + center * self.dimension..][..self.dimension]
    }

    fn share(&self, center: usize) -> f64 {
        self.values[self.rows * (self.dimension + 1) + self.clusters * self.dimension + center]
    }

    fn tiles<T: Real>(&self) -> Tiles<T> {
        Tiles::new(self.rows, self.dimension, &vec![0.0; self.dimension], |i| self.row(i), |i| self.weight(i))
    }

    fn soft<T: Real>(&self, steps: usize) -> f64 {
        let tiles = self.tiles::<T>();
        let mut centers = SoftCenters::default();
        centers.begin(self.dimension, self.temperature);
        (0..self.clusters).for_each(|k| centers.push(self.center(k), self.share(k)));
        let mut scratch = SoftScratch::default();
        let mut sums = vec![0.0; self.clusters * (1 + self.dimension)];
        (0..steps).map(|_| soft_sums(&tiles, &centers, Sums::First, &mut scratch, &mut sums).free_energy).sum()
    }

    fn nearest<T: Real>(&self, steps: usize) -> f64 {
        let tiles = self.tiles::<T>();
        let mut centers = HardCenters::default();
        centers.begin(self.dimension);
        (0..self.clusters).for_each(|k| centers.push(self.center(k)));
        let mut scratch = HardScratch::default();
        (0..steps).for_each(|_| nearest_labels(&tiles, &centers, &mut scratch));
        (0..self.rows).map(|row| scratch.nearest(row) as f64).sum()
    }

    fn products<T: Real>(&self, steps: usize) -> f64 {
        let rows: Vec<T> = self.values[..self.rows * self.dimension].iter().map(|value| T::from_f64(*value)).collect();
        let stored = Stored::Numbers(&rows);
        let block = Block { stored, columns: self.dimension, factor: 1.0, limit: f64::INFINITY };
        let mut columns = Columns::<T>::new(self.dimension, self.clusters);
        columns.fill(|item, column| self.center(column)[item]);
        let mut out = vec![0.0; self.rows * self.clusters];
        (0..steps).for_each(|_| add_products(&block, &columns, &mut [(Entry::Value, &mut out)]));
        out.iter().sum()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, path, kernel, precision, steps] = words.as_slice() else {
        return Err("usage: numerics_steps PROBLEM soft|nearest|products f32|f64 STEPS".into());
    };
    let (problem, steps) = (Problem::read(path)?, steps.parse()?);
    let answer = match (kernel.as_str(), precision.as_str()) {
        ("soft", "f32") => problem.soft::<f32>(steps),
        ("soft", _) => problem.soft::<f64>(steps),
        ("nearest", "f32") => problem.nearest::<f32>(steps),
        ("nearest", _) => problem.nearest::<f64>(steps),
        (_, "f32") => problem.products::<f32>(steps),
        _ => problem.products::<f64>(steps),
    };
    println!("{answer}");
    Ok(())
}
