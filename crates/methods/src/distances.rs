//! The options for dissimilarities of all pairs of items, declared once for all front ends.
//!
//! The arguments of `lehr distances` and `lehr place` are derived from [`Options`]. So are the options of the service
//! `lehr.distances` and the parameters of `lehr.pairwise_distances`. [`Items::compared`] turns options into a
//! metric of `lehr-distances`. The engine of the page in the browser does not use it, because it only
//! compares rows. With alignments and fingerprints, the page would be heavier.

mod items;
mod stated;
mod words;

pub use items::{ALPHABET, COLUMN_NAMES, ItemKind, Items, STANDARDISED};
pub use stated::Differs;
pub use words::{Alignment, Ambiguous, Element, Letters, Metric, MoleculeBits};

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::options::{self, OptionOf};

/// The heading of options about the stored matrix, as opposed to the comparison of items.
pub const MATRIX: &str = "The matrix";
/// The heading of options for sequences.
const SEQUENCES: &str = "Sequences";
/// The heading of options for molecules.
const MOLECULES: &str = "Molecules";
/// The heading of options for tables.
pub const TABLES: &str =
    "Tables (empty fields, NA and the like are missing, and a pair is compared in the columns that both have)";

/// How items are compared, and how their dissimilarities are stored.
///
/// By default, sequences are aligned pair by pair, and the dissimilarity is the share of different letters.
/// Fingerprints are compared by Tanimoto similarity, and rows by Euclidean distance.
///
/// # Example
/// ```
/// use lehr_methods::distances::{Element, Metric, Options};
/// let options: Options = serde_json::from_str(r#"{ "metric": "manhattan", "standardize": true }"#).unwrap();
/// assert_eq!((options.metric, options.element), (Some(Metric::Manhattan), Element::F32));
/// // The former names of options are still accepted.
/// let old: Options = serde_json::from_str(r#"{ "measure": "kimura", "scores": "5/-4", "bits": 16 }"#).unwrap();
/// assert_eq!((old.metric, old.matrix.as_deref(), old.element), (Some(Metric::Kimura), Some("5/-4"), Element::U16));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = with_former_names)]
pub struct Options {
    /// Use this metric
    #[serde(alias = "measure")]
    #[schemars(extend(
        "x-short" = "m",
        "x-value" = "NAME",
        "x-formerly" = { "measure": {} },
        "x-default" = "identity, hamming, tanimoto or euclidean"
    ))]
    pub metric: Option<Metric>,
    /// Align sequences in this way; or compare them position by position as given
    #[schemars(extend("x-heading" = SEQUENCES, "x-default" = "local, or given by the metric"))]
    pub alignment: Option<Alignment>,
    /// Read the letters of sequences in this alphabet
    #[schemars(extend("x-advanced" = true, "x-heading" = SEQUENCES, "x-default" = "found out"))]
    pub alphabet: Option<Letters>,
    /// Score pairs of letters by this matrix: ednafull, blosum62, or EQUAL/DIFFERENT such as 5/-4
    #[serde(alias = "scores")]
    #[schemars(extend(
        "x-advanced" = true,
        "x-heading" = SEQUENCES,
        "x-value" = "NAME",
        "x-formerly" = { "scores": {} },
        "x-default" = "ednafull, or blosum62 for proteins"
    ))]
    pub matrix: Option<String>,
    /// Let the first letter in a gap cost this much
    #[schemars(
        range(min = 0, max = 10_000),
        extend("x-advanced" = true, "x-heading" = SEQUENCES, "x-value" = "COST", "x-default" = "14, or 10 for proteins")
    )]
    pub gap_open: Option<i32>,
    /// Let each further letter in a gap cost this much
    #[schemars(
        range(min = 0, max = 10_000),
        extend("x-advanced" = true, "x-heading" = SEQUENCES, "x-value" = "COST", "x-default" = "4, or 1 for proteins")
    )]
    pub gap_extend: Option<i32>,
    /// Leave out pairs whose local alignment covers less than this share of the shorter sequence
    #[schemars(range(min = 0.0, max = 1.0), extend("x-advanced" = true, "x-heading" = SEQUENCES, "x-value" = "SHARE", "x-default" = "0.7"))]
    pub overlap: Option<f64>,
    /// Treat positions of aligned nucleotides in this way if a letter means several, such as N
    #[schemars(extend("x-advanced" = true, "x-heading" = SEQUENCES, "x-default" = "skip"))]
    pub ambiguous: Option<Ambiguous>,
    /// Make these fingerprints of molecules; in a data set, of the structures in its column smiles
    #[schemars(extend("x-advanced" = true, "x-heading" = MOLECULES, "x-default" = "morgan, or the data set's own fingerprints"))]
    pub fingerprint: Option<MoleculeBits>,
    /// Use these columns; by name, of a file also by 0-based index
    #[schemars(extend("x-heading" = TABLES, "x-value" = "A,B,…", "x-default" = "all numeric columns; of gower all measures, categories and dates"))]
    pub columns: Option<Vec<String>>,
    /// Use this column as ids
    #[schemars(extend(
        "x-advanced" = true,
        "x-heading" = TABLES,
        "x-value" = "COLUMN",
        "x-default" = "the data set's, or the 0-based row"
    ))]
    pub id: Option<String>,
    /// Scale columns to mean 0 and standard deviation 1 first; so that columns of large numbers do not decide alone
    #[serde(alias = "standardise")]
    #[schemars(extend("x-heading" = TABLES, "x-formerly" = { "standardise": {} }))]
    pub standardize: bool,
    /// Store each dissimilarity as a number of this type
    #[serde(alias = "bits")]
    #[schemars(extend(
        "x-heading" = MATRIX,
        "x-python" = "dtype",
        "x-formerly" = { "bits": { "16": "u16", "32": "f32", "64": "f64" } }
    ))]
    pub element: Element,
    /// Compare only this many items, drawn evenly over the input; lehr place puts the others on a map of them
    #[schemars(range(min = 2), extend("x-heading" = MATRIX, "x-value" = "N", "x-default" = "all items"))]
    pub sample: Option<u64>,
    /// Merge equal items; the number of them becomes the weight, and members.csv lists them
    #[schemars(extend("x-advanced" = true, "x-heading" = MATRIX))]
    pub collapse: bool,
}

/// Adds the former names to the schema, so that workflows, which check options against it, accept what the service
/// accepts.
fn with_former_names(schema: &mut Schema) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        options::add_former_names(properties);
    }
}

/// Returns all options, in the order of their declaration.
///
/// # Example
/// ```
/// let overlap = lehr_methods::distances::options().into_iter().find(|option| option.name == "overlap").unwrap();
/// assert_eq!(overlap.range().as_deref(), Some("0 to 1"));
/// ```
pub fn options() -> Vec<OptionOf> {
    options::of::<Options>()
}

/// Returns the options for comparing items with the items of a map, without the options for the stored matrix. By
/// default, they have the values of the map: [`Options::completed`].
///
/// # Example
/// ```
/// assert!(lehr_methods::distances::of_comparison().iter().all(|option| option.name != "element"));
/// ```
pub fn of_comparison() -> Vec<OptionOf> {
    let mut compared = options();
    compared.retain(|option| option.heading.as_deref() != Some(MATRIX));
    for option in compared.iter_mut().filter(|option| option.default_text.is_some()) {
        option.default_text = Some("as for the map".to_owned());
    }
    compared
}

impl Options {
    /// Returns the rows of the sample, in ascending order. Returns `None` if all items are compared.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::distances::Options;
    /// let options = Options { sample: Some(3), ..Options::default() };
    /// assert_eq!((options.drawn(3), options.drawn(100).map(|rows| rows.len())), (None, Some(3)));
    /// ```
    pub fn drawn(&self, count: usize) -> Option<Vec<usize>> {
        let sample = usize::try_from(self.sample?).ok().filter(|&sample| sample < count)?;
        Some(lehr_mining::drawn::drawn(count, sample))
    }

    /// Returns the faults that are visible without items, one per line.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::distances::{Metric, Options};
    /// let options = Options { metric: Some(Metric::Tanimoto), standardize: true, ..Options::default() };
    /// assert_eq!(options.faults(), ["standardize: expected with rows, found fingerprints"]);
    /// ```
    pub fn faults(&self) -> Vec<String> {
        let Ok(Value::Object(given)) = serde_json::to_value(self) else {
            unreachable!("options are an object of JSON");
        };
        let mut faults = options::faults(&options(), &given);
        if self.columns.as_ref().is_some_and(Vec::is_empty) {
            faults.push("columns: expected at least one, found none".to_owned());
        }
        let metric = self.metric.map(Metric::word);
        match (self.metric, self.alignment) {
            (Some(Metric::Hamming | Metric::PDistance), Some(found)) if found != Alignment::Given => {
                let (metric, found) = (metric.unwrap_or_default(), found.word());
                faults.push(format!("alignment: expected given, as {metric} compares place by place, found {found}"));
            }
            (Some(measured), Some(Alignment::Given))
                if !self.compares_places() && measured.of() == ItemKind::Sequences =>
            {
                let expected = "one that compares place by place (hamming, p-distance, jukes-cantor, kimura)";
                let found = metric.unwrap_or_default();
                faults.push(format!("metric: expected {expected}, as the alignment is given, found {found}"));
            }
            _ => {}
        }
        let of_alignments = [
            (self.matrix.is_some(), "matrix"),
            (self.gap_open.is_some(), "gap_open"),
            (self.gap_extend.is_some(), "gap_extend"),
            (self.overlap.is_some(), "overlap"),
        ];
        if self.compares_places() {
            let given = of_alignments.iter().filter(|(is_given, _)| *is_given);
            faults.extend(given.map(|(_, option)| {
                format!("{option}: expected with alignments that are computed, found sequences compared place by place")
            }));
        }
        if self.ambiguous.is_some()
            && self.metric.is_none_or(|metric| metric.of() == ItemKind::Sequences)
            && (!self.compares_places() || matches!(self.metric, None | Some(Metric::Hamming)))
        {
            let found = self.metric.map_or("none of them", Metric::word);
            faults.push(format!(
                "ambiguous: expected with p-distance, or jukes-cantor or kimura of a given alignment, found {found}"
            ));
        }
        if self.overlap.is_some()
            && let Some(found @ (Alignment::Global | Alignment::SemiGlobal)) = self.alignment
        {
            faults.push(format!("overlap: expected with local alignments, found alignment {}", found.word()));
        }
        if let (Some(open), Some(extend)) = (self.gap_open, self.gap_extend)
            && extend > open
        {
            faults.push(format!("gap_extend: expected at most the cost of opening a gap ({open}), found {extend}"));
        }
        if self.standardize && self.metric == Some(Metric::Gower) {
            let expected = "another metric, as gower divides each column by its range";
            faults.push(format!("standardize: expected with {expected}, found gower"));
        }
        faults.extend(self.metric.and_then(|metric| self.suits(metric.of()).err()));
        faults
    }

    /// Checks whether the options suit a kind of items.
    ///
    /// # Errors
    /// Returns the expected value and the value found, in words that follow the name of the option.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::distances::{ItemKind, Metric, Options};
    /// let options = Options { metric: Some(Metric::Cosine), ..Options::default() };
    /// let fault = options.suits(ItemKind::Sequences).unwrap_err();
    /// assert_eq!(fault, "metric: expected one of sequences, found cosine, which is one of rows");
    /// ```
    pub fn suits(&self, kind: ItemKind) -> Result<(), String> {
        if let Some(metric) = self.metric.filter(|metric| metric.of() != kind) {
            let (found, of) = (metric.word(), metric.of().name());
            return Err(format!("metric: expected one of {}, found {found}, which is one of {of}", kind.name()));
        }
        let of_sequences = [
            (self.alignment.is_some(), "alignment"),
            (self.alphabet.is_some(), "alphabet"),
            (self.matrix.is_some(), "matrix"),
            (self.gap_open.is_some(), "gap_open"),
            (self.gap_extend.is_some(), "gap_extend"),
            (self.overlap.is_some(), "overlap"),
            (self.ambiguous.is_some(), "ambiguous"),
        ];
        let of_fingerprints = [(self.fingerprint.is_some(), "fingerprint")];
        let of_rows = [(self.columns.is_some(), "columns"), (self.standardize, "standardize")];
        let of_others = [
            (ItemKind::Sequences, &of_sequences[..]),
            (ItemKind::Fingerprints, &of_fingerprints[..]),
            (ItemKind::Rows, &of_rows[..]),
        ];
        for (of, given) in of_others.into_iter().filter(|(of, _)| *of != kind) {
            if let Some((_, option)) = given.iter().find(|(is_given, _)| *is_given) {
                return Err(format!("{option}: expected with {}, found {}", of.name(), kind.name()));
            }
        }
        Ok(())
    }

    /// Returns whether sequences are compared position by position, without alignment.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::distances::{Metric, Options};
    /// assert!(Options { metric: Some(Metric::Hamming), ..Options::default() }.compares_places());
    /// ```
    pub fn compares_places(&self) -> bool {
        match self.metric {
            Some(Metric::Hamming | Metric::PDistance) => true,
            None | Some(Metric::JukesCantor | Metric::Kimura) => self.alignment == Some(Alignment::Given),
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(json: &str) -> Vec<String> {
        serde_json::from_str::<Options>(json).unwrap().faults()
    }

    #[test]
    fn words_that_do_not_go_together_are_all_named() {
        for right in [
            "{}",
            r#"{ "metric": "kimura", "alignment": "given" }"#,
            r#"{ "alignment": "given" }"#,
            r#"{ "metric": "hamming" }"#,
            r#"{ "metric": "p_distance", "ambiguous": "differ" }"#,
            r#"{ "metric": "kimura", "alignment": "given", "ambiguous": "skip" }"#,
            r#"{ "gap_open": 3 }"#,
            r#"{ "standardize": true, "columns": ["x"], "element": "u16", "collapse": true }"#,
        ] {
            assert_eq!(faults(right), Vec::<String>::new(), "{right}");
        }
        let all = r#"{ "metric": "hamming", "alignment": "local", "overlap": 2, "gap_open": 20000, "columns": [] }"#;
        let found = faults(all);
        assert_eq!(
            found,
            [
                "gap_open: expected 0 to 10000, found 20000",
                "overlap: expected 0 to 1, found 2",
                "columns: expected at least one, found none",
                "alignment: expected given, as hamming compares place by place, found local",
                "gap_open: expected with alignments that are computed, found sequences compared place by place",
                "overlap: expected with alignments that are computed, found sequences compared place by place",
                "columns: expected with rows, found sequences",
            ]
        );
        for (told, expected) in [
            (
                r#"{ "metric": "kimura", "ambiguous": "skip" }"#,
                "ambiguous: expected with p-distance, or jukes-cantor or",
            ),
            (
                r#"{ "metric": "hamming", "ambiguous": "skip" }"#,
                "ambiguous: expected with p-distance, or jukes-cantor or",
            ),
            (r#"{ "metric": "identity", "alignment": "given" }"#, "metric: expected one that compares place by place"),
            (r#"{ "metric": "gower", "standardize": true }"#, "standardize: expected with another metric, as gower"),
            (
                r#"{ "metric": "tanimoto", "alignment": "given" }"#,
                "alignment: expected with sequences, found fingerprints",
            ),
            (r#"{ "alignment": "semi_global", "overlap": 0.5 }"#, "overlap: expected with local alignments, found"),
            (
                r#"{ "gap_open": 1, "gap_extend": 4 }"#,
                "gap_extend: expected at most the cost of opening a gap (1), found 4",
            ),
        ] {
            let found = faults(told);
            assert!(found.len() == 1 && found[0].starts_with(expected), "{told}: {found:?}");
        }
    }

    #[test]
    fn what_options_were_called_before_is_read() {
        let old: Options = serde_json::from_str(r#"{ "measure": "kimura", "scores": "blosum62" }"#).unwrap();
        assert_eq!((old.metric, old.matrix.as_deref()), (Some(Metric::Kimura), Some("blosum62")));
        let properties = &options::schema_of::<Options>()["properties"];
        for former in ["measure", "scores", "bits", "standardise"] {
            assert_eq!(properties[former]["deprecated"], true, "{former}");
        }
        let of = |told: &str| {
            serde_json::from_str::<Options>(told).map(|options| options.element).map_err(|error| error.to_string())
        };
        assert_eq!(of(r#"{ "bits": 64 }"#), Ok(Element::F64));
        assert_eq!(of(r#"{ "element": "i16be" }"#), Ok(Element::I16be));
        assert!(of(r#"{ "bits": 8 }"#).unwrap_err().starts_with("expected f64, f32, u16 or i16be, found 8"));
    }
}
