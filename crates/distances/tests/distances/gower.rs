//! Tests Gower's dissimilarity against its definition, and against values computed by hand.

use lehr_data::frame::{Categories, DataFrame, FrameColumn, ReadAs, Values};
use lehr_data::gower;
use lehr_distances::Metric;
use lehr_distances::rows::{Compared, Measure};
use lehr_numerics::random::Stream;

fn value(rows: &Compared, i: usize, j: usize) -> f64 {
    let mut value = [f64::MAX];
    rows.tile(i..i + 1, j..j + 1, &mut value);
    value[0]
}

fn texts(name: &str, texts: &[&str]) -> FrameColumn {
    FrameColumn { name: name.into(), values: Values::Categories(Categories::of(texts)), read_as: ReadAs::Text }
}

fn all(frame: &DataFrame) -> Vec<String> {
    frame.columns().iter().map(|column| column.name.clone()).collect()
}

#[test]
fn four_people_are_as_unlike_as_on_paper() {
    // Ages have a range of 40 years, and incomes a range of 80.
    let frame = DataFrame::new(
        "people",
        vec![
            FrameColumn::numbers("age", vec![20.0, 30.0, 60.0, f64::NAN]),
            FrameColumn::numbers("income", vec![10.0, 90.0, 50.0, 10.0]),
            texts("city", &["Bern", "Basel", "Bern", ""]),
        ],
    )
    .unwrap();
    let rows = Compared::new(&gower::rows(&frame, Some(&all(&frame)), None).unwrap(), Measure::Gower).unwrap();
    for (i, j, expected) in [
        (0, 1, (10.0 / 40.0 + 1.0 + 1.0) / 3.0),
        (0, 2, (1.0 + 40.0 / 80.0 + 0.0) / 3.0),
        (1, 2, (30.0 / 40.0 + 0.5 + 1.0) / 3.0),
        // The fourth row has only an income.
        (0, 3, 0.0),
        (1, 3, 1.0),
        (2, 3, 0.5),
    ] {
        assert!((value(&rows, i, j) - expected).abs() < 1e-15, "{i} {j}: {} for {expected}", value(&rows, i, j));
        assert_eq!(value(&rows, i, j), value(&rows, j, i));
    }
}

#[test]
fn random_tables_are_compared_by_the_definition() {
    const ROWS: usize = 60;
    let stream = Stream::new(11, "gower");
    for gap_in in [0, 4] {
        let is_gap = |at: u64| gap_in > 0 && stream.bits(1 << 40 | at).is_multiple_of(gap_in);
        let number = |column: u64, row: usize| {
            let at = column * 1000 + row as u64;
            if is_gap(at) { f64::NAN } else { (stream.bits(at) % 10_007) as f64 / 7.0 - 300.0 }
        };
        let text = |column: u64, row: usize| {
            let at = column * 1000 + row as u64;
            if is_gap(at) { "" } else { ["a", "b", "c", "d", "e", "f", "g"][(stream.bits(at) % 7) as usize] }
        };
        let numbers: Vec<Vec<f64>> = (0..3).map(|column| (0..ROWS).map(|row| number(column, row)).collect()).collect();
        let words: Vec<Vec<&str>> = (3..6).map(|column| (0..ROWS).map(|row| text(column, row)).collect()).collect();
        let of_numbers =
            numbers.iter().enumerate().map(|(at, values)| FrameColumn::numbers(&format!("n{at}"), values.clone()));
        let of_words = words.iter().enumerate().map(|(at, values)| texts(&format!("t{at}"), values));
        let frame = DataFrame::new("t", of_numbers.chain(of_words).collect()).unwrap();
        let rows = Compared::new(&gower::rows(&frame, Some(&all(&frame)), None).unwrap(), Measure::Gower).unwrap();
        let range = |values: &[f64]| {
            let known = values.iter().copied().filter(|value| !value.is_nan());
            known.clone().fold(f64::MIN, f64::max) - known.fold(f64::MAX, f64::min)
        };
        for i in 0..ROWS {
            for j in 0..i {
                let (mut sum, mut weight) = (0.0, 0.0);
                for values in &numbers {
                    if !values[i].is_nan() && !values[j].is_nan() {
                        sum += (values[i] - values[j]).abs() / range(values);
                        weight += 1.0;
                    }
                }
                for values in &words {
                    if !values[i].is_empty() && !values[j].is_empty() {
                        sum += f64::from(u8::from(values[i] != values[j]));
                        weight += 1.0;
                    }
                }
                let found = value(&rows, i, j);
                if weight == 0.0 {
                    assert!(found.is_nan(), "{i} {j}");
                } else {
                    // The error is a few roundings of numbers below 1, and of shares of a range of about 1,400 with
                    // values up to 1,100.
                    assert!((found - sum / weight).abs() < 1e-14, "{i} {j}: {found} for {}", sum / weight);
                }
            }
        }
    }
}
