//! Tests the kernels over dissimilarities against scalar loops on every instruction set of this machine.

use crate::compact::{Block, Columns, Entry, Stored, add_products};
use crate::guttman::{Configuration, Weighing, guttman, guttman_in_strips};
use crate::lanes::Real;
use crate::oracle::on_all_sets;
use crate::random::Stream;

/// Rows of a matrix in each stored form, with some values missing.
struct Rows {
    columns: usize,
    numbers: Vec<f64>,
    fixed: Vec<u16>,
    weights: Vec<f64>,
}

const SCALE: f64 = 1.0 / 4096.0;

impl Rows {
    fn new(rows: usize, columns: usize, has_gaps: bool) -> Self {
        let stream = Stream::new((rows * 1000 + columns) as u64, "pairs oracle");
        let fixed: Vec<u16> = (0..rows * columns)
            .map(|at| match stream.bits(at as u64) {
                bits if has_gaps && bits % 5 == 0 => u16::MAX,
                bits => (bits >> 20) as u16 % 4097,
            })
            .collect();
        // Single precision represents all these numbers exactly.
        let numbers =
            fixed.iter().map(|&raw| if raw == u16::MAX { f64::NAN } else { f64::from(raw) * SCALE }).collect();
        let weights =
            (0..rows * columns).map(|at| f64::from(stream.bits(1_000_000 + at as u64) as u8) / 64.0).collect();
        Rows { columns, numbers, fixed, weights }
    }

    fn fixed<T>(&self) -> Block<'_, T> {
        Block { stored: Stored::Fixed(&self.fixed), columns: self.columns, factor: SCALE, limit: 65534.5 }
    }

    fn value(&self, row: usize, column: usize) -> Option<f64> {
        Some(self.numbers[row * self.columns + column]).filter(|value| !value.is_nan())
    }
}

fn of<T: Real>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|&number| T::from_f64(number)).collect()
}

#[track_caller]
fn near(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-300f64, |most, value| most.max(value.abs()));
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * largest, "{what}, place {at}: {found}, not {expected}");
    }
}

fn products_agree<T: Real>(rows: usize, columns: usize, count: usize, has_gaps: bool, entry: Entry) {
    let data = Rows::new(rows, columns, has_gaps);
    let stream = Stream::new(1, "columns");
    let u = |item: usize, column: usize| f64::from(stream.normal((column * 10_000 + item) as u64) as f32);
    let mut lines = Columns::<T>::new(columns, count);
    lines.fill(u);
    let numbers = of::<T>(&data.numbers);
    let limit = if has_gaps { T::from_f64(1e30).to_f64() } else { f64::INFINITY };
    let block = Block { stored: Stored::Numbers(&numbers), columns, factor: 1.0, limit };
    let what = format!("{entry:?}, {rows} x {columns} x {count}, gaps {has_gaps}");
    let run = |block: &Block<'_, T>| {
        let mut out = vec![0.0; rows * count];
        add_products(block, &lines, &mut [(entry, &mut out)]);
        out
    };
    let found = on_all_sets(&what, || run(&block));
    let same =
        on_all_sets(&what, || run(&Block { limit: if has_gaps { 65534.5 } else { f64::INFINITY }, ..data.fixed() }));
    near(&what, &same, &found, 4.0 * T::EPSILON * columns as f64);
    let expected: Vec<f64> = (0..rows * count)
        .map(|at| {
            (0..columns)
                .map(|j| {
                    data.value(at / count, j).map_or(0.0, |value| {
                        u(j, at % count)
                            * match entry {
                                Entry::Value => value,
                                Entry::Square => value * value,
                                Entry::Present => 1.0,
                                Entry::Inverse { floor } => 1.0 / value.max(floor),
                                Entry::InverseSquare { floor } => 1.0 / value.max(floor).powi(2),
                            }
                    })
                })
                .sum()
        })
        .collect();
    near(&what, &found, &expected, 4.0 * T::EPSILON * columns as f64);
}

#[test]
fn products_are_those_of_a_plain_loop_for_every_length_and_entry() {
    for columns in (1..=67).chain([2100]) {
        let entry = [
            Entry::Value,
            Entry::Square,
            Entry::Present,
            Entry::Inverse { floor: 0.01 },
            Entry::InverseSquare { floor: 0.1 },
        ][columns % 5];
        for has_gaps in [false, true] {
            products_agree::<f64>(1 + columns % 6, columns, 1 + columns % 7, has_gaps, entry);
            products_agree::<f32>(1 + columns % 6, columns, 1 + columns % 7, has_gaps, entry);
            products_agree::<f32>(5, columns, 3, has_gaps, Entry::Value);
        }
    }
}

fn passes_agree<T: Real>(columns: usize, dimension: usize, kind: usize) {
    let (rows, first) = (columns.min(6), columns / 2 - columns.min(6) / 2);
    let has_gaps = kind > 0;
    let data = Rows::new(rows, columns, has_gaps);
    let stream = Stream::new(dimension as u64, "positions");
    let at = |item: usize, k: usize| f64::from(stream.normal((item / 2 * 8 + k) as u64) as f32);
    let item_weight = |item: usize| if kind == 0 { 1.0 } else { (item % 4) as f64 / 2.0 };
    let (mut positions, mut weights) = (Columns::<T>::new(columns, dimension), Columns::<T>::new(columns, 1));
    positions.fill(at);
    weights.fill(|item, _| item_weight(item));
    let pair_weights = of::<T>(&data.weights);
    let weight_block = Block { stored: Stored::Numbers(&pair_weights), columns, factor: 1.0, limit: f64::INFINITY };
    let (floor, shift) = (0.05, 0.125);
    let weighing = match kind {
        0 => Weighing::Equal,
        1 => Weighing::Items,
        2 => Weighing::Inverse { floor },
        3 => Weighing::InverseSquare { floor },
        _ => Weighing::Matrix(weight_block),
    };
    let what = format!("{weighing:.0?}, {columns} columns, {dimension} dimensions");
    let numbers = of::<T>(&data.numbers);
    let limit = if has_gaps { T::from_f64(1e30).to_f64() } else { f64::INFINITY };
    let configuration = Configuration { positions: &positions, weights: &weights, shift, first };
    let run = |block: &Block<'_, T>| {
        let mut out = vec![1.0; rows * (dimension + 1)];
        guttman(block, &weighing, &configuration, &mut out);
        out
    };
    let block = Block { stored: Stored::Numbers(&numbers), columns, factor: 1.0, limit };
    let found = on_all_sets(&what, || run(&block));
    let fixed = on_all_sets(&what, || run(&data.fixed()));
    near(&what, &fixed, &found, 8.0 * T::EPSILON * columns as f64);
    let mut in_strips = vec![1.0; found.len()];
    for strip in [1, 16, 64, usize::MAX] {
        guttman_in_strips(&block, &weighing, &configuration, strip, &mut in_strips);
        near(&format!("{what}, in strips of {strip}"), &in_strips, &found, 16.0 * T::EPSILON * columns as f64);
    }
    let mut expected = vec![0.0; rows * (dimension + 1)];
    for row in 0..rows {
        for j in 0..columns {
            let Some(value) = data.value(row, j) else { continue };
            let item = first + row;
            let apart: Vec<f64> = (0..dimension).map(|k| at(item, k) - at(j, k)).collect();
            let d = apart.iter().map(|a| a * a).sum::<f64>().sqrt();
            let target = (value - shift).max(0.0);
            let w = item_weight(j)
                * match kind {
                    0 | 1 => 1.0,
                    2 => 1.0 / value.max(floor),
                    3 => 1.0 / value.max(floor).powi(2),
                    _ => data.weights[row * columns + j],
                };
            for k in (0..dimension).filter(|_| d > 0.0) {
                expected[row * (dimension + 1) + k] += w * target / d * apart[k];
            }
            expected[row * (dimension + 1) + dimension] += w * (d - target).powi(2);
        }
    }
    near(&what, &found, &expected, 16.0 * T::EPSILON * columns as f64);
}

#[test]
fn a_pass_of_smacof_is_that_of_a_plain_loop_for_every_length_dimension_and_weighing() {
    for columns in (2..=67).chain([2100]) {
        for kind in 0..5 {
            let dimension = 1 + (columns + kind) % 5;
            passes_agree::<f64>(columns, dimension, kind);
            passes_agree::<f32>(columns, dimension, kind);
        }
    }
}
