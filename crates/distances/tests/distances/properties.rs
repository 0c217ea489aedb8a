//! Tests properties that hold for any data, and every measure against its formula.

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::alignment::{Counted, Mode, reference};
use lehr_distances::correction::{SATURATED, jukes_cantor, kimura};
use lehr_distances::scoring::Scoring;
use lehr_distances::{Metric, columns, rows, sequence, tanimoto};
use proptest::prelude::*;

use super::data;

fn value(metric: &dyn Metric, i: usize, j: usize) -> f64 {
    let mut value = [f64::MAX];
    metric.tile(i..i + 1, j..j + 1, &mut value);
    value[0]
}

fn texts(letters: &'static str) -> impl Strategy<Value = Vec<String>> {
    let letter = proptest::sample::select(letters.chars().collect::<Vec<_>>());
    let text = proptest::collection::vec(letter, 1..30).prop_map(|letters| letters.into_iter().collect());
    proptest::collection::vec(text, 2..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn dissimilarities_of_sequences_are_symmetric_and_not_negative(texts in texts("ACGTACGTN")) {
        // The second half of the sequences are copies of the first half.
        let genes = Sequences::new(&[&texts[..], &texts[..]].concat(), Alphabet::Dna).unwrap();
        for measure in sequence::Measure::ALL {
            for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
                let parameters = sequence::Parameters { measure, mode, ..Default::default() };
                let metric = sequence::Aligned::new(&genes, &parameters).unwrap();
                for i in 0..texts.len() {
                    for j in (0..genes.len()).filter(|j| *j != i) {
                        let d = value(&metric, i, j);
                        prop_assert_eq!(d.to_bits(), value(&metric, j, i).to_bits());
                        prop_assert!(d.is_nan() || d >= 0.0, "{} {}: {}", measure, mode, d);
                    }
                    let copy = value(&metric, i, texts.len() + i);
                    prop_assert!(texts[i].contains('N') || copy == 0.0, "{} {} of an item and its copy: {}", measure, mode, copy);
                }
            }
        }
    }
}

#[test]
fn every_measure_of_aligned_pairs_is_its_formula() {
    let genes = data::genes(20, 40, Alphabet::Dna, 8);
    let scoring = Scoring::usual(Alphabet::Dna);
    for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
        for (i, j) in [(0, 1), (0, 3), (5, 8), (19, 2), (7, 10)] {
            let align = |i: usize, j: usize, counted| {
                reference::align(genes.sequence(i), genes.sequence(j), &scoring, mode, counted)
            };
            let (all, letters, kinds) =
                (align(i, j, Counted::Columns), align(i, j, Counted::Letters), align(i, j, Counted::Transitions));
            let score = |i, j| align(i, j, Counted::Score).score as f64;
            let (ab, aa, bb) = (score(i, j), score(i, i), score(j, j));
            let share = |part: usize, whole: usize| part as f64 / whole as f64;
            let transversions = kinds.columns - kinds.matches - kinds.transitions;
            for (measure, expected) in [
                (sequence::Measure::Identity, 1.0 - share(all.matches, all.columns)),
                (sequence::Measure::IdentityWithoutGaps, 1.0 - share(letters.matches, letters.columns)),
                (
                    sequence::Measure::JukesCantor,
                    jukes_cantor(share(letters.columns - letters.matches, letters.columns)),
                ),
                (
                    sequence::Measure::Kimura,
                    kimura(share(kinds.transitions, kinds.columns), share(transversions, kinds.columns)),
                ),
                (sequence::Measure::ScoreOverSmaller, (1.0 - ab / aa.min(bb)).max(0.0)),
                (sequence::Measure::ScoreOverLarger, (1.0 - ab / aa.max(bb)).max(0.0)),
                (sequence::Measure::ScoreOverMean, (1.0 - ab / (aa * bb).sqrt()).max(0.0)),
            ] {
                let parameters = sequence::Parameters { measure, mode, overlap_min: 0.0, ..Default::default() };
                let metric = sequence::Aligned::new(&genes, &parameters).unwrap();
                assert_eq!(value(&metric, i, j), expected, "{measure} {mode} of ({i}, {j})");
            }
        }
    }
}

#[test]
fn a_short_perfect_match_of_strangers_is_no_similarity() {
    // The sequences share ten of forty letters: they are identical there, and different elsewhere.
    let genes = Sequences::new(
        &[format!("{}ACGTCAGTCA", "A".repeat(30)), format!("ACGTCAGTCA{}", "C".repeat(30))],
        Alphabet::Dna,
    )
    .unwrap();
    let with = |overlap_min| {
        let parameters = sequence::Parameters { overlap_min, ..Default::default() };
        value(&sequence::Aligned::new(&genes, &parameters).unwrap(), 0, 1)
    };
    assert_eq!(with(0.0), 0.0);
    assert!(with(0.7).is_nan(), "missing, not 0");
}

#[test]
fn aligned_places_are_counted_as_defined() {
    let genes = data::aligned(40, 131, 6);
    let certain = |letter: u8| b"ACGT".contains(&letter);
    let purine = |letter: u8| b"AG".contains(&letter);
    for (i, j) in (0..40).map(|i| (i, (i * 7 + 3) % 40)).filter(|(i, j)| i != j) {
        let pairs: Vec<(u8, u8)> = genes.sequence(i).iter().copied().zip(genes.sequence(j).iter().copied()).collect();
        let letters: Vec<(u8, u8)> = pairs.iter().copied().filter(|(x, y)| *x != b'-' && *y != b'-').collect();
        let both: Vec<(u8, u8)> = letters.iter().copied().filter(|(x, y)| certain(*x) && certain(*y)).collect();
        let n = both.len() as f64;
        let equal = both.iter().filter(|(x, y)| x == y).count() as f64;
        let transitions =
            both.iter().filter(|(x, y)| x != y && certain(*x) && certain(*y) && purine(*x) == purine(*y)).count()
                as f64;
        let hamming = pairs.iter().filter(|(x, y)| x != y).count() as f64 / pairs.len() as f64;
        for (measure, expected) in [
            (columns::Measure::Hamming, hamming),
            (columns::Measure::Mismatches, (n - equal) / n),
            (columns::Measure::JukesCantor, jukes_cantor((n - equal) / n)),
            (columns::Measure::Kimura, kimura(transitions / n, (n - equal - transitions) / n)),
        ] {
            let metric = columns::Compared::new(&genes, measure).unwrap();
            assert_eq!(value(&metric, i, j), expected, "{} of ({i}, {j})", measure.name());
        }
        let (n, equal) = (letters.len() as f64, letters.iter().filter(|(x, y)| x == y).count() as f64);
        for (measure, expected) in [
            (columns::Measure::Hamming, hamming),
            (columns::Measure::Mismatches, (n - equal) / n),
            (columns::Measure::JukesCantor, jukes_cantor((n - equal) / n)),
            (columns::Measure::Kimura, kimura(transitions / n, (n - equal - transitions) / n)),
        ] {
            let metric = columns::Compared::with_ambiguous(&genes, measure, columns::Ambiguous::Differ).unwrap();
            assert_eq!(value(&metric, i, j), expected, "{} of ({i}, {j}), ambiguous letters too", measure.name());
        }
    }
}

#[test]
fn without_a_place_in_common_there_is_no_distance_and_saturation_is_one() {
    let genes = Sequences::new(&["ACG---", "---ACG", "TTTTTT", "AAAAAA"], Alphabet::Dna).unwrap();
    let metric = columns::Compared::new(&genes, columns::Measure::JukesCantor).unwrap();
    assert!(value(&metric, 0, 1).is_nan());
    assert_eq!(value(&metric, 2, 3), SATURATED);
}

#[test]
fn tanimoto_is_its_formula() {
    let prints = data::fingerprints(50, 1047, 2);
    let metric = tanimoto::Tanimoto::new(&prints);
    for (i, j) in (0..50).map(|i| (i, (i * 11 + 5) % 50)).filter(|(i, j)| i != j) {
        let both = prints.row(i).iter().zip(prints.row(j)).map(|(x, y)| (x & y).count_ones()).sum::<u32>();
        let either = prints.count(i) + prints.count(j) - both;
        assert_eq!(value(&metric, i, j), 1.0 - f64::from(both) / f64::from(either));
    }
}

#[test]
fn measures_of_rows_are_their_formulas_with_gaps_and_without() {
    // The sums have up to 9 terms in another order. This gives 9 roundings of half a unit each, on values of a few
    // units, and two more for the quotient and the root.
    const TOLERANCE: f64 = 40.0 * f64::EPSILON;
    for gap_in in [0, 3] {
        let records = data::records(30, 9, gap_in, 7);
        for (i, j) in (0..30).map(|i| (i, (i * 7 + 2) % 30)).filter(|(i, j)| i != j) {
            let both: Vec<(f64, f64)> = (0..9)
                .map(|column| (records.row(i)[column], records.row(j)[column]))
                .filter(|(x, y)| !x.is_nan() && !y.is_nan())
                .collect();
            let (n, d) = (both.len() as f64, 9.0);
            let squares: f64 = both.iter().map(|(x, y)| (x - y).powi(2)).sum();
            let absolute: f64 = both.iter().map(|(x, y)| (x - y).abs()).sum();
            let unlike = |center: (f64, f64)| {
                let dot = |f: &dyn Fn(&(f64, f64)) -> f64| both.iter().map(f).sum::<f64>();
                let (x, y) = (|p: &(f64, f64)| p.0 - center.0, |p: &(f64, f64)| p.1 - center.1);
                1.0 - dot(&|p| x(p) * y(p)) / (dot(&|p| x(p) * x(p)) * dot(&|p| y(p) * y(p))).sqrt()
            };
            let means = (both.iter().map(|p| p.0).sum::<f64>() / n, both.iter().map(|p| p.1).sum::<f64>() / n);
            for (measure, expected) in [
                (rows::Measure::Euclidean, (squares * d / n).sqrt()),
                (rows::Measure::SquaredEuclidean, squares * d / n),
                (rows::Measure::Manhattan, absolute * d / n),
                (rows::Measure::Cosine, unlike((0.0, 0.0))),
                (rows::Measure::Correlation, unlike(means)),
                (rows::Measure::Gower, both.iter().map(|(x, y)| (x - y).abs().min(1.0)).sum::<f64>() / n),
            ] {
                let found = value(&rows::Compared::new(&records, measure).unwrap(), i, j);
                let is_angle = matches!(measure, rows::Measure::Cosine | rows::Measure::Correlation);
                if both.is_empty() {
                    assert!(found.is_nan(), "{measure} of ({i}, {j}), which have no column in common");
                    continue;
                }
                // Two points always correlate, and a single point has no correlation. With so few columns, compare only
                // differences.
                if is_angle && both.len() < 3 {
                    continue;
                }
                // Correlations over few columns divide by differences of sums. They lose precision by the ratio of the
                // two, which is below 100 here.
                let scale = if is_angle { 100.0 } else { expected.max(1.0) };
                assert!(
                    (found - expected).abs() <= TOLERANCE * scale,
                    "{measure} of ({i}, {j}): {found} for {expected}"
                );
            }
        }
    }
}

#[test]
fn rows_without_a_column_in_common_or_a_direction_have_no_value() {
    use lehr_data::Incomplete;
    let nan = f64::NAN;
    let apart = Incomplete::new(vec![1.0, nan, nan, 2.0, 0.0, 1.0], 2).unwrap();
    for measure in rows::Measure::ALL {
        assert!(value(&rows::Compared::new(&apart, measure).unwrap(), 0, 1).is_nan(), "{measure}");
    }
}

#[test]
fn a_row_of_zeros_is_at_cosine_distance_1_of_all_others_with_gaps_and_without_28() {
    use lehr_data::Incomplete;
    for last in [4.0, f64::NAN] {
        let rows = Incomplete::new(vec![0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 3.0, last], 2).unwrap();
        let metric = rows::Compared::new(&rows, rows::Measure::Cosine).unwrap();
        for other in 1..4 {
            assert_eq!((value(&metric, 0, other), value(&metric, other, 0)), (1.0, 1.0), "{other}");
        }
    }
}

#[test]
fn angles_do_not_depend_on_how_large_the_numbers_are_28() {
    use lehr_data::Incomplete;
    let of = |factor: f64, measure| {
        let values = [1.0, 2.0, 4.0, 3.0, -1.0, 2.0].map(|value| value * factor).to_vec();
        value(&rows::Compared::new(&Incomplete::new(values, 3).unwrap(), measure).unwrap(), 0, 1)
    };
    for measure in [rows::Measure::Cosine, rows::Measure::Correlation] {
        for exponent in [-1060, -600, 600, 1020] {
            assert_eq!(of(2f64.powi(exponent / 2) * 2f64.powi(exponent / 2), measure), of(1.0, measure), "{exponent}");
        }
    }
}

#[test]
fn a_constant_row_has_no_correlation_and_is_named_28() {
    use lehr_data::Incomplete;
    // The mean of three times 0.1 is not 0.1 in binary.
    for value in [0.1, 0.0, 3.0] {
        let rows = Incomplete::new(vec![1.0, 2.0, 4.0, value, value, value], 3).unwrap();
        let error = rows::Compared::new(&rows, rows::Measure::Correlation).unwrap_err().to_string();
        assert!(error.contains("one value alone in row 1 (counted from 0)"), "{error}");
    }
    // In the common columns, the first row is constant, so only this pair is missing.
    let nan = f64::NAN;
    let rows = Incomplete::new(vec![0.1, 0.1, 0.1, 7.0, 1.0, 2.0, 4.0, nan, 1.0, 5.0, 4.0, 2.0], 4).unwrap();
    let metric = rows::Compared::new(&rows, rows::Measure::Correlation).unwrap();
    assert!(value(&metric, 0, 1).is_nan() && value(&metric, 0, 2).is_finite());
}

#[test]
fn equal_masked_sequences_are_at_0_28() {
    let genes = Sequences::new(&["ACGNNRA", "ACGNNRA"], Alphabet::Dna).unwrap();
    for measure in [columns::Measure::Hamming, columns::Measure::Mismatches, columns::Measure::Kimura] {
        for ambiguous in [columns::Ambiguous::Skip, columns::Ambiguous::Differ] {
            let metric = columns::Compared::with_ambiguous(&genes, measure, ambiguous).unwrap();
            assert_eq!(value(&metric, 0, 1), 0.0, "{measure:?} {ambiguous:?}");
        }
    }
}

/// Any local alignment of masked letters scores below 0, and half of these sequences is masked.
#[test]
fn equal_sequences_are_at_0_by_every_measure_and_alignment_28() {
    use lehr_distances::{
        alignment::Mode,
        sequence::{Aligned, Measure, Parameters},
    };
    let of = |texts: &[&str], alphabet| Sequences::new(texts, alphabet).unwrap();
    let dna = of(&["NNNN", "NNNN", "NNNNNNNNNNACGT", "NNNNNNNNNNACGT", "ACGT"], Alphabet::Dna);
    let protein = of(&["XXUU", "XXUU", "MKXXXXXXXXXXUU*", "MKXXXXXXXXXXUU*", "MKLV"], Alphabet::Protein);
    for (sequences, is_dna) in [(&dna, true), (&protein, false)] {
        for measure in Measure::ALL {
            if !is_dna && matches!(measure, Measure::JukesCantor | Measure::Kimura) {
                continue;
            }
            for mode in [Mode::Local, Mode::SemiGlobal, Mode::Global] {
                let parameters = Parameters { measure, mode, ..Parameters::default() };
                let metric = Aligned::new(sequences, &parameters).unwrap();
                let mut values = [1.0; 25];
                metric.tile(0..5, 0..5, &mut values);
                // Two pairs are equal: 0 and 1, 2 and 3.
                assert_eq!([values[1], values[13]], [0.0; 2], "{measure} {mode}: {values:?}");
                assert!(measure != Measure::Identity || values[4] != 0.0, "{mode}: {values:?}");
            }
        }
    }
}

#[test]
fn fingerprints_without_a_bit_are_at_0_of_each_other_and_at_1_of_others_28() {
    let prints = lehr_data::Fingerprints::new(vec![0, 0, 0b11], 4).unwrap();
    let metric = tanimoto::Tanimoto::new(&prints);
    assert_eq!([value(&metric, 0, 1), value(&metric, 0, 2)], [0.0, 1.0]);
}

#[test]
fn a_distance_does_not_depend_on_whether_a_number_holds_its_square_28() {
    use lehr_data::Incomplete;
    for power in [-1000, -600, 0, 600, 1000] {
        let unit = 2f64.powi(power);
        for gap in [0.0, f64::NAN] {
            let rows = vec![0.0, 0.0, gap, 3.0 * unit, -4.0 * unit, 0.0, 3.0 * unit, -4.0 * unit, 0.0];
            let rows = Incomplete::new(rows, 3).unwrap();
            let compared = rows::Compared::new(&rows, rows::Measure::Euclidean).unwrap();
            let scale = if gap.is_nan() { 1.5f64.sqrt() } else { 1.0 };
            let (found, back) = (value(&compared, 0, 1), value(&compared, 1, 0));
            assert!((found / (5.0 * unit * scale) - 1.0).abs() < 1e-15, "2^{power}: {found:e}");
            assert_eq!(found.to_bits(), back.to_bits());
            assert_eq!(value(&compared, 1, 2), 0.0);
        }
    }
    // If the difference itself exceeds the largest number, the distance does too.
    let apart = Incomplete::new(vec![1e308, -1e308], 1).unwrap();
    assert_eq!(value(&rows::Compared::new(&apart, rows::Measure::Euclidean).unwrap(), 0, 1), f64::INFINITY);
}
