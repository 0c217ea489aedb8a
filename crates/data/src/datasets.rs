//! The data sets of the folder `datasets/`, included in the program for demonstrations, examples and tests.
//!
//! Each folder names the source and the licence of its data set (`SOURCE.md`, `LICENCE.md`). Labels are known classes,
//! counted from 0; they are not part of the points. Four sets are included only with their features: `census` (blocks,
//! 2.1 MiB), `compounds` (0.8 MiB), `genes` (Alu repeats, 0.5 MiB) and `patients` (0.2 MiB).

#[cfg(feature = "compounds")]
use crate::Fingerprints;
#[cfg(feature = "patients")]
use crate::Incomplete;
use crate::points::Points;
use crate::read::{Selection, csv_points};
#[cfg(feature = "genes")]
use crate::sequences::{Alphabet, Sequences};

/// Returns 150 iris flowers with 4 lengths in cm; labels: 0 setosa, 1 versicolor, 2 virginica, 50 of each.
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

/// Returns 178 wines with 13 chemical measurements in different units; labels: 3 growers with 59, 71 and 48 wines.
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

/// Returns 569 breast masses with 30 measurements of cell nuclei; labels: 0 malignant (212), 1 benign (357).
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

/// Returns 1,797 handwritten digits with 8 × 8 pixels from 0 to 16; labels: the digits.
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

/// The name of [`census_blocks`] in messages and summaries.
#[cfg(feature = "census")]
pub const CENSUS_NAME: &str = "blocks_nv_ut_wv_2020.csv.gz";

/// Returns 201,174 census blocks of Nevada, Utah and West Virginia: `lon` and `lat` in degrees, inhabitants as weights,
/// and block codes as ids.
///
/// A third of the blocks have no inhabitants and thus weight 0. Cost: about a tenth of a second to decompress and read.
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

/// The name of [`alu_repeats`] in messages.
#[cfg(feature = "genes")]
pub const ALU_NAME: &str = "alu_human.fasta.gz";

/// Returns 9,892 full-length Alu repeats of the human genome, 245 to 319 bases long, and the subfamily of each, such as
/// `AluSx1`. The letter after `Alu` is the family: J, S or Y, from old to young.
///
/// Cost: a few hundredths of a second to decompress and read the file twice.
///
/// # Example
/// ```
/// let (repeats, subfamilies) = lehr_data::datasets::alu_repeats();
/// assert_eq!((repeats.len(), subfamilies.len()), (9892, 9892));
/// assert_eq!((repeats.ids()[0].as_str(), subfamilies[0].as_str()), ("ALU00001", "AluSg"));
/// ```
#[cfg(feature = "genes")]
pub fn alu_repeats() -> (Sequences, Vec<String>) {
    use std::io::{BufRead, BufReader};

    use crate::read::fasta::{Expected, sequences_from};
    const SOUND: &str = "the file inside the program is sound, as a test shows";

    let bytes = include_bytes!("../../../datasets/alu/alu_human.fasta.gz");
    let expected = Expected { alphabet: Some(Alphabet::Dna), is_aligned: false };
    let sequences = sequences_from(&bytes[..], ALU_NAME, expected).expect(SOUND);
    let text = BufReader::new(crate::read::unpacked(&bytes[..]).expect(SOUND));
    // `>ALU00001 AluSg`: the reader of sequences leaves out the second word.
    let heads = text.lines().map(|line| line.expect(SOUND)).filter(|line| line.starts_with('>'));
    let subfamilies = heads.map(|head| head.split_whitespace().nth(1).expect(SOUND).to_owned()).collect();
    (sequences, subfamilies)
}

/// The name of [`compounds`] in messages.
#[cfg(feature = "compounds")]
pub const COMPOUNDS_NAME: &str = "nci_aids_keys1047.fps.gz";

/// A compound's data from the screen, in addition to its fingerprint.
#[cfg(feature = "compounds")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compound {
    /// The structure, in SMILES.
    pub smiles: String,
    /// The result of the screen: `CI` inactive, `CM` moderately active, `CA` active.
    pub activity: String,
}

/// Returns 10,280 compounds of the NCI's antiviral screen: 1,047 structural keys each, and their structures and
/// activities. 395 are active or moderately active.
///
/// # Example
/// ```
/// let (keys, compounds) = lehr_data::datasets::compounds();
/// assert_eq!((keys.len(), keys.bits(), compounds.len()), (10_280, 1047, 10_280));
/// assert_eq!((keys.ids()[1].as_str(), compounds[1].activity.as_str()), ("DTP00005", "CI"));
/// ```
#[cfg(feature = "compounds")]
pub fn compounds() -> (Fingerprints, Vec<Compound>) {
    use crate::read::{classes::classes_from, fps::fingerprints_from};
    const SOUND: &str = "the file inside the program is sound, as a test shows";

    let keys = include_bytes!("../../../datasets/compounds/nci_aids_keys1047.fps.gz");
    let keys = fingerprints_from(&keys[..], COMPOUNDS_NAME).expect(SOUND);
    let table = include_bytes!("../../../datasets/compounds/nci_aids.tsv.gz");
    let column = |name| classes_from(&table[..], "nci_aids.tsv", "id", name).expect(SOUND);
    let rows = column("smiles").into_iter().zip(column("activity"));
    (keys, rows.map(|((_, smiles), (_, activity))| Compound { smiles, activity }).collect())
}

/// The name of [`patients`] in messages.
#[cfg(feature = "patients")]
pub const PATIENTS_NAME: &str = "nhanes_2009_2012_sample.csv.gz";

/// Returns 2,944 adults of a health survey with 113 features; one value in five is missing. Of the features, 34 are
/// measurements in different units, and 79 are 1 or 0 for whether an answer was given.
///
/// # Example
/// ```
/// let patients = lehr_data::datasets::patients();
/// assert_eq!((patients.len(), patients.dimension()), (2944, 113));
/// assert_eq!(patients.columns()[0], "Age");
/// ```
#[cfg(feature = "patients")]
pub fn patients() -> Incomplete {
    let bytes = include_bytes!("../../../datasets/patients/nhanes_2009_2012_sample.csv.gz");
    let selection = Selection { id: Some("row".into()), header: Some(true), ..Selection::default() };
    let read = crate::read::incomplete_from(&bytes[..], PATIENTS_NAME, &selection);
    read.expect("the file inside the program is sound, as a test shows")
}

/// Reads all numeric columns as points, and the column `label` as class numbers.
fn labelled(bytes: &[u8], name: &str) -> (Points, Vec<u32>) {
    let selection = Selection { id: Some("label".into()), header: Some(true), ..Selection::default() };
    let points = csv_points(bytes, name, &selection).expect("the file inside the program is sound, as a test shows");
    let (points, labels) = points.without_ids();
    let label = |text: &String| text.parse().expect("labels inside the program are numbers, as a test shows");
    let labels = labels.iter().flatten().map(label).collect();
    (points, labels)
}
