//! Tests that the included data sets agree with their SOURCE.md.

use lehr_data::datasets;

fn counts(labels: &[u32]) -> Vec<usize> {
    let classes = labels.iter().max().unwrap() + 1;
    (0..classes).map(|class| labels.iter().filter(|label| **label == class).count()).collect()
}

#[test]
fn classes_have_the_sizes_that_are_published() {
    assert_eq!(counts(&datasets::iris().1), [50, 50, 50]);
    assert_eq!(counts(&datasets::wine().1), [59, 71, 48]);
    assert_eq!(counts(&datasets::breast_cancer().1), [212, 357]);
    assert_eq!(counts(&datasets::digits().1), [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
}

#[test]
fn values_have_the_means_that_are_published() {
    let mean = |points: &lehr_data::Points, name: &str| {
        let column = points.columns().iter().position(|column| column == name).unwrap();
        points.column(column).sum::<f64>() / points.len() as f64
    };
    let (iris, _) = datasets::iris();
    assert!((mean(&iris, "sepal_length") - 5.843_333).abs() < 1e-6);
    assert!((mean(&iris, "petal_width") - 1.199_333).abs() < 1e-6);
    let (wine, _) = datasets::wine();
    assert!((mean(&wine, "alcohol") - 13.0).abs() < 0.05 && (mean(&wine, "proline") - 746.0).abs() < 1.0);
    let (cancer, _) = datasets::breast_cancer();
    assert!((cancer.column(0).fold(0.0, f64::max) - 28.11).abs() < 1e-9);
    assert!((cancer.column(23).fold(0.0, f64::max) - 4254.0).abs() < 1e-9);
    let (digits, _) = datasets::digits();
    assert!(digits.values().iter().all(|pixel| (0.0..=16.0).contains(pixel) && pixel.fract() == 0.0));
    assert_eq!((digits.columns()[0].as_str(), digits.columns()[63].as_str()), ("pixel_0_0", "pixel_7_7"));
}

/// The known optimum of three clusters on iris is 78.851441426, the best of a few runs of k-means. A wrong digit
/// anywhere in the data would change it.
#[test]
fn three_means_of_iris_have_the_known_optimum() {
    let (points, _) = datasets::iris();
    let best = (0..50).map(|first| k_means(&points, [first, first + 50, first + 100])).min_by(f64::total_cmp).unwrap();
    assert!((best - 78.851_441_426).abs() < 1e-8, "{best}");
}

/// Returns the sum of squares at which Lloyd's iteration ends, if it starts at these rows.
fn k_means(points: &lehr_data::Points, starts: [usize; 3]) -> f64 {
    let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut centers = starts.map(|row| points.row(row).to_vec());
    let mut last = f64::INFINITY;
    loop {
        let mut sums = [[0.0; 5]; 3];
        let mut cost = 0.0;
        for row in 0..points.len() {
            let distances = centers.each_ref().map(|center| squared(points.row(row), center));
            let nearest = (0..3).min_by(|a, b| distances[*a].total_cmp(&distances[*b])).unwrap();
            cost += distances[nearest];
            for (sum, value) in sums[nearest].iter_mut().zip(points.row(row).iter().chain([&1.0])) {
                *sum += value;
            }
        }
        if cost >= last {
            return cost;
        }
        last = cost;
        for (center, sum) in centers.iter_mut().zip(&sums) {
            center.iter_mut().zip(sum).for_each(|(value, total)| *value = total / sum[4]);
        }
    }
}

#[test]
fn breast_cancer_deserves_a_warning_about_scales_and_iris_does_not() {
    assert!(lehr_data::scale::Spreads::of(&datasets::breast_cancer().0).differ().is_some());
    assert_eq!(lehr_data::scale::Spreads::of(&datasets::iris().0).differ(), None);
}

#[cfg(feature = "census")]
#[test]
fn census_blocks_are_those_of_three_states() {
    use lehr_data::geography;
    let blocks = datasets::census_blocks();
    assert_eq!((blocks.len(), blocks.columns()), (201_174, &["lon".to_string(), "lat".into()][..]));
    let ids = blocks.ids().unwrap();
    let people = |state: &str| {
        (0..blocks.len()).filter(|row| ids[*row].starts_with(state)).map(|row| blocks.weight(row)).sum::<f64>()
    };
    assert_eq!([people("32"), people("49"), people("54")], [3_104_614.0, 3_271_616.0, 1_793_716.0]);
    assert_eq!(blocks.weights().unwrap().iter().filter(|weight| **weight == 0.0).count(), 67_283);
    assert!(geography::looks_like_degrees(&blocks));
    let sphere = geography::on_sphere(&blocks).unwrap();
    assert_eq!((sphere.dimension(), sphere.weights(), sphere.ids()), (3, blocks.weights(), blocks.ids()));
}

/// A count of the headers gives 1,808 AluJ, 6,728 AluS and 1,356 AluY.
#[cfg(feature = "genes")]
#[test]
fn alu_repeats_have_the_lengths_and_families_that_are_said() {
    let (repeats, subfamilies) = datasets::alu_repeats();
    let count = |family: &str| subfamilies.iter().filter(|subfamily| subfamily.starts_with(family)).count();
    assert_eq!(["AluJ", "AluS", "AluY"].map(count), [1808, 6728, 1356]);
    let mut lengths: Vec<usize> = (0..repeats.len()).map(|row| repeats.sequence(row).len()).collect();
    lengths.sort_unstable();
    assert_eq!((lengths[0], lengths[repeats.len() / 2], lengths[repeats.len() - 1]), (245, 282, 319));
    assert!(!repeats.has_gaps() && repeats.distinct().0.len() == 9886);
}

#[cfg(feature = "compounds")]
#[test]
fn compounds_have_the_keys_and_activities_that_a_count_of_the_file_gives() {
    let (keys, compounds) = datasets::compounds();
    let count = |activity: &str| compounds.iter().filter(|compound| compound.activity == activity).count();
    assert_eq!(["CI", "CM", "CA"].map(count), [9885, 288, 107]);
    let set: u32 = (0..keys.len()).map(|row| keys.count(row)).sum();
    assert!((f64::from(set) / keys.len() as f64 - 175.2).abs() < 0.05);
    assert_eq!(keys.distinct().0.len(), 10_244);
    assert_eq!((keys.ids()[0].as_str(), compounds[1].smiles.as_str()), ("DTP00001", "O=S(=O)(O)CCS(=O)(=O)O"));
}

#[cfg(feature = "patients")]
#[test]
fn patients_have_the_gaps_and_means_that_a_count_of_the_file_gives() {
    let patients = datasets::patients();
    assert_eq!(patients.missing(), 62_554);
    let column = |name: &str| {
        let at = patients.columns().iter().position(|column| column == name).unwrap();
        (0..patients.len()).map(|row| patients.row(row)[at]).filter(|value| !value.is_nan()).collect::<Vec<f64>>()
    };
    let ages = column("Age");
    assert!((ages.iter().sum::<f64>() / ages.len() as f64 - 48.8916).abs() < 5e-5);
    assert!(ages.iter().all(|age| (20.0..=80.0).contains(age)));
    assert!(column("Gender=female").iter().all(|answer| *answer == 0.0 || *answer == 1.0));
    assert_eq!((patients.ids().unwrap()[0].as_str(), patients.ids().unwrap()[2943].as_str()), ("4", "11776"));
}
