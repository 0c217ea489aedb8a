//! The named choices among the options of distances.

use lehr_data::FingerprintKind;
use lehr_data::dissimilarities;
use lehr_data::sequences::Alphabet;
use lehr_distances::alignment::Mode;
use lehr_distances::columns;
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Deserialize as FromWord, Serialize};
use serde_json::Value;

use super::ItemKind;

/// The metric to compute.
///
/// # Example
/// ```
/// use lehr_methods::distances::Metric;
/// assert_eq!(serde_json::to_string(&Metric::PDistance).unwrap(), "\"p_distance\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromWord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Sequences: 1 less the share of equal letters among all columns of their alignment
    Identity,
    /// Sequences: the same among columns with two letters
    IdentityWithoutGaps,
    /// Sequences: substitutions per position, corrected by Jukes and Cantor
    JukesCantor,
    /// Sequences: the same, corrected by Kimura from transitions and transversions
    Kimura,
    /// Sequences: 1 less their score over the smaller of their own scores
    ScoreOverSmaller,
    /// Sequences: 1 less their score over the larger of their own scores
    ScoreOverLarger,
    /// Sequences: 1 less their score over the geometric mean of their own scores
    ScoreOverMean,
    /// Aligned sequences: the share of positions that differ, gaps included
    Hamming,
    /// Aligned sequences: the share of positions that differ, of those where both have a letter
    PDistance,
    /// Fingerprints: 1 less the share of common bits among the bits of either
    Tanimoto,
    /// Rows: the root of the sum of squared differences
    Euclidean,
    /// Rows: its square
    SquaredEuclidean,
    /// Rows: the sum of absolute differences
    Manhattan,
    /// Rows: 1 less the cosine of their angle
    Cosine,
    /// Rows: 1 less their correlation
    Correlation,
    /// Rows of numbers and categories: the mean over columns of the difference as a share of the range, or 1 for categories that differ (Gower)
    Gower,
}

impl Metric {
    /// Returns the kind of items that the metric compares.
    pub(super) fn of(self) -> ItemKind {
        match self {
            Self::Tanimoto => ItemKind::Fingerprints,
            Self::Euclidean
            | Self::SquaredEuclidean
            | Self::Manhattan
            | Self::Cosine
            | Self::Correlation
            | Self::Gower => ItemKind::Rows,
            _ => ItemKind::Sequences,
        }
    }

    /// Returns the name of the metric in headers and on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::IdentityWithoutGaps => "identity-without-gaps",
            Self::JukesCantor => "jukes-cantor",
            Self::Kimura => "kimura",
            Self::ScoreOverSmaller => "score-over-smaller",
            Self::ScoreOverLarger => "score-over-larger",
            Self::ScoreOverMean => "score-over-mean",
            Self::Hamming => "hamming",
            Self::PDistance => "p-distance",
            Self::Tanimoto => "tanimoto",
            Self::Euclidean => "euclidean",
            Self::SquaredEuclidean => "squared-euclidean",
            Self::Manhattan => "manhattan",
            Self::Cosine => "cosine",
            Self::Correlation => "correlation",
            Self::Gower => "gower",
        }
    }
}

/// The part of two sequences that is aligned.
///
/// # Example
/// ```
/// use lehr_methods::distances::Alignment;
/// assert_eq!(serde_json::to_string(&Alignment::SemiGlobal).unwrap(), "\"semi_global\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromWord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    /// The part of each that is worth most (Smith and Waterman)
    Local,
    /// Both sequences in full (Needleman and Wunsch)
    Global,
    /// Both sequences in full, without a penalty for gaps at the ends
    SemiGlobal,
    /// None: the sequences are already aligned and have the same length
    Given,
}

impl Alignment {
    /// Returns the name of the alignment on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
            Self::SemiGlobal => "semi-global",
            Self::Given => "given",
        }
    }

    /// Returns the library's alignment mode, if the alignment is computed.
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Global => Mode::Global,
            Self::SemiGlobal => Mode::SemiGlobal,
            Self::Local | Self::Given => Mode::Local,
        }
    }
}

/// How a position of aligned nucleotides counts if a letter means several of them.
///
/// # Example
/// ```
/// use lehr_methods::distances::Ambiguous;
/// assert_eq!(serde_json::to_string(&Ambiguous::Skip).unwrap(), "\"skip\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, FromWord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ambiguous {
    /// Nothing: the pair leaves the position out, as if one had a gap
    #[default]
    Skip,
    /// A difference, unless both have the same letter
    Differ,
}

impl From<Ambiguous> for columns::Ambiguous {
    fn from(ambiguous: Ambiguous) -> Self {
        match ambiguous {
            Ambiguous::Skip => Self::Skip,
            Ambiguous::Differ => Self::Differ,
        }
    }
}

/// The kind of fingerprints that are made of molecules.
///
/// # Example
/// ```
/// use lehr_data::FingerprintKind;
/// use lehr_methods::distances::MoleculeBits;
/// assert_eq!(serde_json::to_string(&MoleculeBits::Maccs).unwrap(), "\"maccs\"");
/// assert_eq!(FingerprintKind::from(MoleculeBits::Maccs), FingerprintKind::Maccs);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromWord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoleculeBits {
    /// Circular fingerprints (Morgan, ECFP) of radius 2, with 2,048 bits
    Morgan,
    /// The 166 MACCS keys
    Maccs,
}

impl From<MoleculeBits> for FingerprintKind {
    fn from(bits: MoleculeBits) -> Self {
        match bits {
            MoleculeBits::Morgan => Self::Morgan,
            MoleculeBits::Maccs => Self::Maccs,
        }
    }
}

/// The letters of sequences.
///
/// # Example
/// ```
/// use lehr_methods::distances::Letters;
/// assert_eq!(serde_json::to_string(&Letters::Dna).unwrap(), "\"dna\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, FromWord, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Letters {
    /// Nucleotides
    Dna,
    /// Amino acids
    Protein,
}

impl Letters {
    /// Returns the name of the alphabet on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dna => "dna",
            Self::Protein => "protein",
        }
    }
}

impl From<Alphabet> for Letters {
    fn from(alphabet: Alphabet) -> Self {
        match alphabet {
            Alphabet::Dna => Self::Dna,
            Alphabet::Protein => Self::Protein,
        }
    }
}

impl From<Letters> for Alphabet {
    fn from(letters: Letters) -> Self {
        match letters {
            Letters::Dna => Self::Dna,
            Letters::Protein => Self::Protein,
        }
    }
}

/// The type of a stored dissimilarity.
///
/// # Example
/// ```
/// use lehr_methods::distances::Element;
/// // Services accepted this form before.
/// assert_eq!(serde_json::from_str::<Element>("16").unwrap(), Element::U16);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Element {
    /// 64-bit floating point
    F64,
    /// 32-bit floating point
    #[default]
    F32,
    /// 16-bit fixed point, to 8e-6 of the largest
    U16,
    /// Big-endian 16-bit rows, full, as the papers' group stores them; files only
    I16be,
}

impl From<Element> for dissimilarities::Element {
    fn from(element: Element) -> Self {
        match element {
            Element::F64 => Self::F64,
            Element::F32 => Self::F32,
            Element::U16 => Self::U16,
            Element::I16be => Self::I16be,
        }
    }
}

impl<'de> Deserialize<'de> for Element {
    /// Reads a type by its name, or by its number of bits, which earlier versions of services accepted.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        Ok(match (given.as_str(), given.as_u64()) {
            (Some("f64"), _) | (_, Some(64)) => Self::F64,
            (Some("f32"), _) | (_, Some(32)) => Self::F32,
            (Some("u16"), _) | (_, Some(16)) => Self::U16,
            (Some("i16be"), _) => Self::I16be,
            _ => return Err(D::Error::custom(format!("expected f64, f32, u16 or i16be, found {given}"))),
        })
    }
}
