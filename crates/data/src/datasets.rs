//! The data sets in the folder `datasets/`, inside the program: for demonstrations, examples and tests.
//!
//! Where each comes from and under which terms stands in its folder (`SOURCE.md`, `LICENCE.md`). Labels are classes known
//! beforehand, counted from 0; they are not part of the points. The census blocks (2.1 MiB) are linked only with the feature `census`.

use crate::points::Points;
use crate::read::{Selection, csv_points};

/// 150 iris flowers, 4 lengths in cm; labels: 0 setosa, 1 versicolor, 2 virginica, 50 of each.
///
/// # Example
/// ```
/// let (points, labels) = lehr_data::datasets::iris();
/// assert_eq!((points.len(), points.dimension()), (150, 4));
/// assert_eq!(points.row(0), [5.1, 3.5, 1.4, 0.2]);
/// assert_eq!(labels[149], 2);
/// ```
pub fn iris() -> (Points, Vec<u32>) {
    labelled(include_bytes!("../../../datasets/iris/iris.csv"), "iris.csv")
}

/// 178 wines, 13 chemical measurements in units of their own; labels: 3 growers with 59, 71 and 48 wines.
///
/// # Example
/// ```
/// let (points, _) = lehr_data::datasets::wine();
/// assert_eq!((points.len(), points.dimension()), (178, 13));
/// assert_eq!(points.columns()[12], "proline");
/// ```
pub fn wine() -> (Points, Vec<u32>) {
    labelled(include_bytes!("../../../datasets/wine/wine.csv"), "wine.csv")
}

/// 569 breast masses, 30 measurements of cell nuclei; labels: 0 malignant (212), 1 benign (357).
///
/// # Example
/// ```
/// let (points, labels) = lehr_data::datasets::breast_cancer();
/// assert_eq!((points.len(), points.dimension()), (569, 30));
/// assert_eq!(labels.iter().sum::<u32>(), 357);
/// ```
pub fn breast_cancer() -> (Points, Vec<u32>) {
    labelled(include_bytes!("../../../datasets/breast_cancer/breast_cancer.csv.gz"), "breast_cancer.csv.gz")
}

/// 1,797 handwritten digits, 8 × 8 pixels from 0 to 16; labels: the digits.
///
/// # Example
/// ```
/// let (points, labels) = lehr_data::datasets::digits();
/// assert_eq!((points.len(), points.dimension()), (1797, 64));
/// assert_eq!(labels[..3], [0, 1, 2]);
/// ```
pub fn digits() -> (Points, Vec<u32>) {
    labelled(include_bytes!("../../../datasets/digits/digits.csv.gz"), "digits.csv.gz")
}

/// The name that [`census_blocks`] goes by in messages and summaries.
#[cfg(feature = "census")]
pub const CENSUS_NAME: &str = "blocks_nv_ut_wv_2020.csv.gz";

/// 201,174 census blocks of Nevada, Utah and West Virginia: `lon` and `lat` in degrees, inhabitants as weights, block codes as ids.
///
/// A third of the blocks has no inhabitants and so weight 0. Cost: about a tenth of a second to unpack and read.
///
/// # Example
/// ```
/// let blocks = lehr_data::datasets::census_blocks();
/// assert_eq!((blocks.len(), blocks.dimension()), (201_174, 2));
/// assert_eq!(blocks.total_weight(), 8_169_946.0);
/// assert_eq!(blocks.ids().unwrap()[0], "320019501001000");
/// ```
#[cfg(feature = "census")]
pub fn census_blocks() -> Points {
    let bytes = include_bytes!("../../../datasets/census/blocks_nv_ut_wv_2020.csv.gz");
    let selection = Selection {
        columns: Some(vec!["lon".into(), "lat".into()]),
        weights: Some("pop".into()),
        id: Some("geoid".into()),
        ..Selection::default()
    };
    csv_points(&bytes[..], CENSUS_NAME, &selection).expect("the file inside the program is sound, as a test shows")
}

/// All numeric columns but the last, `label`, which is read as the id and turned into numbers.
fn labelled(bytes: &[u8], name: &str) -> (Points, Vec<u32>) {
    let selection = Selection { id: Some("label".into()), header: Some(true), ..Selection::default() };
    let points = csv_points(bytes, name, &selection).expect("the file inside the program is sound, as a test shows");
    let (points, labels) = points.without_ids();
    let label = |text: &String| text.parse().expect("labels inside the program are numbers, as a test shows");
    let labels = labels.iter().flatten().map(label).collect();
    (points, labels)
}
