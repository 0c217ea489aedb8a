//! The applications of `lehr demo`: built-in items, their metric, and their known classes.
//!
//! An application is a workflow over services ([`Subject::workflow`]). A user can do the same with three commands:
//! `lehr distances`, `lehr pairwise` and `lehr embed`. A test checks that the workflow and the commands give the same
//! bytes. An application adds domain knowledge: the known classes, and the features that mark each cluster.

pub mod found;
pub mod page;
pub mod services;

use std::collections::HashMap;
use std::path::Path;

use lehr_data::dissimilarities::{Dissimilarities, Form, Header, Values};
use lehr_data::read;
use lehr_data::sequences::Alphabet;
use lehr_data::{Fingerprints, Incomplete, Sequences, datasets};
use lehr_distances::Half;
use lehr_methods::Classes;
use lehr_methods::distances::{Items, Options};
use lehr_mining::enrichment::Enrichment;
use lehr_mining::{pairwise, smacof};

use crate::Error;

/// The name of the method in the summary of an application.
pub const METHOD: &str =
    "dissimilarities of all pairs, pairwise deterministic annealing, multidimensional scaling by majorisation";

/// The default number of items.
const ITEMS: usize = 1500;
/// The default number of clusters of patients. With many features, no number of clusters stands out.
const PATIENT_GROUPS: usize = 6;
/// The default number of clusters of compounds.
const COMPOUND_GROUPS: usize = 10;
/// The maximum number of features that are named as marks of a cluster.
const MARKS: usize = 6;
/// The smallest share of a cluster's members that must have a value for a feature to mark the cluster.
const PRESENT_MIN: f64 = 0.5;

/// The options of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApplicationOptions {
    /// The number of items, evenly spaced over all items. Default: 1500, or all if there are fewer.
    pub items: Option<usize>,
    /// The number of clusters. Default: 3 for genes, 6 for patients, 10 for compounds.
    pub clusters: Option<usize>,
    /// The number of dimensions of the map.
    pub dimension: usize,
    /// The random seed.
    pub seed: u64,
}

/// An application of `lehr demo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `lehr demo genes`.
    Genes,
    /// `lehr demo patients`.
    Patients,
    /// `lehr demo chemistry`.
    Compounds,
}

impl Subject {
    /// Returns the command, which summaries give as the source of the items.
    pub fn source(self) -> &'static str {
        match self {
            Subject::Genes => "demo genes",
            Subject::Patients => "demo patients",
            Subject::Compounds => "demo chemistry",
        }
    }

    /// Returns the workflow's file name and its text.
    pub fn workflow(self) -> (&'static str, &'static str) {
        match self {
            Subject::Genes => ("genes.toml", include_str!("../workflows/genes.toml")),
            Subject::Patients => ("patients.toml", include_str!("../workflows/patients.toml")),
            Subject::Compounds => ("chemistry.toml", include_str!("../workflows/chemistry.toml")),
        }
    }

    /// Returns the noun for one item.
    pub fn item(self) -> &'static str {
        match self {
            Subject::Genes => "sequence",
            Subject::Patients => "patient",
            Subject::Compounds => "compound",
        }
    }

    /// Returns the default folder for results.
    pub fn out(self) -> &'static str {
        match self {
            Subject::Genes => "lehr-genes",
            Subject::Patients => "lehr-patients",
            Subject::Compounds => "lehr-chemistry",
        }
    }

    /// Returns the kind and the source of the items, for the report.
    pub fn about(self) -> &'static str {
        match self {
            Subject::Genes => {
                "Full-length Alu repeats of the human genome (Locus Reference Genomic), aligned pair by pair, clustered by pairwise annealing, mapped by SMACOF"
            }
            Subject::Patients => {
                "Adults of the US National Health and Nutrition Examination Survey, 2009 to 2012: 113 standardised features with gaps, clustered by pairwise annealing, mapped by SMACOF"
            }
            Subject::Compounds => {
                "Compounds of an antiviral screen by their fingerprints (the NCI's AIDS screen and 1,047 structural keys, unless others were given), compared by Tanimoto, clustered by pairwise annealing, mapped by SMACOF"
            }
        }
    }

    /// Returns the options of the metric.
    pub fn options(self) -> Options {
        Options { standardize: self == Subject::Patients, ..Options::default() }
    }

    /// Returns the settings of the clustering and of the map for a given number of items.
    pub fn methods(self, asked: ApplicationOptions, items: usize) -> (pairwise::Parameters, smacof::Parameters) {
        let groups = match self {
            Subject::Genes => FAMILIES.len(),
            Subject::Patients => PATIENT_GROUPS,
            Subject::Compounds => COMPOUND_GROUPS,
        };
        let ApplicationOptions { clusters, dimension, seed, .. } = asked;
        let clusters = clusters.or(Some(groups.min(items)));
        (
            pairwise::Parameters { clusters, seed, ..pairwise::Parameters::default() },
            smacof::Parameters { dimension, seed, ..smacof::Parameters::default() },
        )
    }
}

/// The results of the stages.
pub struct Outcome {
    /// The header of the dissimilarities.
    pub header: Header,
    /// The dissimilarities of all pairs.
    pub matrix: Dissimilarities,
    /// The clusters.
    pub model: pairwise::Model,
    /// The map.
    pub map: smacof::Map,
}

/// An application's items and settings.
pub struct Application {
    /// The application's subject.
    pub subject: Subject,
    /// The items.
    pub items: Items,
    /// The name of each item.
    pub ids: Vec<String>,
    /// The number of items from which these items were chosen.
    pub from: usize,
    /// Whether the items are built in.
    pub is_built_in: bool,
    /// A description of each item for readers, such as a compound's structure, if there is one.
    pub structures: Option<Vec<String>>,
    /// The known classes of the items, if there are any.
    pub known: Option<Classes>,
    /// The names of the features, if the items are rows of a table.
    pub features: Vec<String>,
    /// The settings of the clustering.
    pub clustering: pairwise::Parameters,
    /// The settings of the map.
    pub embedding: smacof::Parameters,
}

impl Application {
    /// Chooses the items and settings of an application.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the number of items is out of range; [`Error::Method`] if there are more clusters
    /// than items.
    pub fn new(subject: Subject, asked: ApplicationOptions) -> Result<Self, Error> {
        let application = match subject {
            Subject::Genes => {
                let (all, subfamilies) = datasets::alu_repeats();
                let rows = rows_asked(asked.items, all.len())?;
                let texts: Vec<&[u8]> = rows.iter().map(|row| all.sequence(*row)).collect();
                let ids: Vec<String> = rows.iter().map(|row| all.ids()[*row].clone()).collect();
                let genes = Sequences::new(&texts, Alphabet::Dna)?.with_ids(ids.clone())?;
                let known = families(rows.iter().map(|row| subfamilies[*row].as_str()));
                Self { known: Some(known), ..Self::of(subject, asked, Items::Sequences(genes), all.len()) }
            }
            Subject::Patients => {
                let all = datasets::patients();
                let rows = rows_asked(asked.items, all.len())?;
                let values = rows.iter().flat_map(|row| all.row(*row)).copied().collect();
                let ids = all.ids().unwrap_or_default();
                let ids: Vec<String> = rows.iter().map(|row| ids[*row].clone()).collect();
                let patients = Incomplete::new(values, all.dimension())?.standardised();
                let features = all.columns().to_vec();
                Self { ids, features, ..Self::of(subject, asked, Items::Records(patients), all.len()) }
            }
            Subject::Compounds => {
                let (keys, compounds) = datasets::compounds();
                let rows = rows_asked(asked.items, keys.len())?;
                let known = activity(rows.iter().map(|row| compounds[*row].activity != "CI"));
                let structures = rows.iter().map(|row| compounds[*row].smiles.clone()).collect();
                let items = Items::Fingerprints(some(&keys, &rows)?);
                let (known, structures) = (Some(known), Some(structures));
                Self { known, structures, ..Self::of(subject, asked, items, keys.len()) }
            }
        };
        application.checked()
    }

    /// Reads the user's own compounds. Fingerprints come from an FPS file. A table with the compounds' ids says which
    /// compounds are active (column `active`, 1 or 0). It may also have their structures (column `smiles`).
    ///
    /// # Errors
    /// Returns the errors of [`Application::new`] and of the files, and an error if a compound has no class.
    pub fn of_files(fingerprints: &Path, activities: &Path, asked: ApplicationOptions) -> Result<Self, Error> {
        let keys = read::fps::fingerprints(fingerprints)?;
        let rows = rows_asked(asked.items, keys.len())?;
        let keys_chosen = some(&keys, &rows)?;
        let are_active = read::classes::flags(activities, "id", "active", keys_chosen.ids())?;
        let structures = match read::classes::classes(activities, "id", "smiles") {
            Ok(known) => {
                let known: HashMap<String, String> = known.into_iter().collect();
                Some(keys_chosen.ids().iter().map(|id| known.get(id).cloned().unwrap_or_default()).collect())
            }
            Err(lehr_data::Error::NoSuchColumns { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        let known = Some(activity(are_active.into_iter()));
        let items = Items::Fingerprints(keys_chosen);
        let of = Self::of(Subject::Compounds, asked, items, keys.len());
        Self { known, structures, is_built_in: false, ..of }.checked()
    }

    /// Creates an application from items without classes, structures or feature names.
    fn of(subject: Subject, asked: ApplicationOptions, items: Items, from: usize) -> Self {
        let (clustering, embedding) = subject.methods(asked, items.len());
        let ids = items.ids();
        let (known, structures, features) = (None, None, Vec::new());
        Self { subject, items, ids, from, is_built_in: true, structures, known, features, clustering, embedding }
    }

    fn checked(self) -> Result<Self, Error> {
        let items = self.items.len();
        if let Some(clusters) = self.clustering.clusters.filter(|clusters| *clusters > items) {
            return Err(lehr_mining::Error::TooManyClusters { clusters, points: items }.into());
        }
        Ok(self)
    }

    /// Returns how the active compounds are spread over the clusters, if the items are compounds.
    pub fn enrichment(&self, labels: &[u32], clusters: usize) -> Option<Enrichment> {
        let known = self.known.as_ref().filter(|_| self.subject == Subject::Compounds)?;
        Some(Enrichment::new(labels, clusters, |item| known.of[item] == ACTIVE))
    }

    /// Returns the features that mark each cluster, largest difference first. The difference is between the feature's
    /// mean in the cluster and its mean over all items, in standard deviations. Returns an empty vector if the items
    /// have no features.
    pub fn marks(&self, labels: &[u32], clusters: usize) -> Vec<Vec<(&str, f64)>> {
        let Items::Records(records) = &self.items else { return Vec::new() };
        let mut members = vec![0.0; clusters];
        let mut sums = vec![(0.0, 0.0); clusters * self.features.len()];
        for (row, label) in labels.iter().enumerate() {
            members[*label as usize] += 1.0;
            let sums = &mut sums[*label as usize * self.features.len()..][..self.features.len()];
            for (sum, value) in sums.iter_mut().zip(records.row(row)).filter(|(_, value)| !value.is_nan()) {
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
        let marks = |cluster: usize| {
            let sums = &sums[cluster * self.features.len()..][..self.features.len()];
            let mut marks: Vec<(&str, f64)> = self
                .features
                .iter()
                .zip(sums)
                .filter(|(_, (_, present))| *present > 0.0 && *present >= PRESENT_MIN * members[cluster])
                .map(|(name, (sum, present))| (name.as_str(), sum / present))
                .collect();
            marks.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            marks.truncate(MARKS);
            marks
        };
        (0..clusters).map(marks).collect()
    }
}

/// Returns the rows of the items that the options request.
fn rows_asked(items: Option<usize>, from: usize) -> Result<Vec<usize>, Error> {
    let chosen = chosen(items.unwrap_or(ITEMS.min(from)), from);
    chosen.map_err(|reason| Error::Usage(format!("--items: {reason}")))
}

/// Returns the indices of evenly spaced items.
///
/// # Errors
/// Returns a message with the allowed numbers and the number found.
pub fn chosen(items: usize, from: usize) -> Result<Vec<usize>, String> {
    if !(2..=from).contains(&items) {
        return Err(format!("expected 2 to {from}, as many as there are, found {items}"));
    }
    Ok((0..items).map(|item| item * from / items).collect())
}

/// Copies some of the fingerprints. They are padded to whole bytes, as the services store them, so that a job
/// recognises its cached results.
fn some(keys: &Fingerprints, rows: &[usize]) -> Result<Fingerprints, Error> {
    let words = rows.iter().flat_map(|row| keys.row(*row)).copied().collect();
    let ids = rows.iter().map(|row| keys.ids()[*row].clone()).collect();
    Ok(Fingerprints::new(words, keys.bits().next_multiple_of(8))?.with_ids(ids)?)
}

/// The class of active compounds.
const ACTIVE: u32 = 1;

fn activity(are_active: impl Iterator<Item = bool>) -> Classes {
    let of = are_active.map(u32::from).collect();
    Classes { name: "activity".into(), classes: vec!["inactive".into(), "active".into()], of }
}

/// The families of Alu repeats, from old to young. The letter after `Alu` is the family.
const FAMILIES: [&str; 3] = ["AluJ", "AluS", "AluY"];

/// Returns the family of a subfamily.
///
/// # Panics
/// Panics if the name is not the name of an Alu repeat.
pub fn family(subfamily: &str) -> &'static str {
    FAMILIES[family_number(subfamily)]
}

fn family_number(subfamily: &str) -> usize {
    FAMILIES.iter().position(|family| subfamily.starts_with(family)).expect("J, S or Y, as a test shows")
}

fn families<'a>(subfamilies: impl Iterator<Item = &'a str>) -> Classes {
    let of = subfamilies.map(|subfamily| family_number(subfamily) as u32).collect();
    Classes { name: "family".into(), classes: FAMILIES.map(str::to_owned).to_vec(), of }
}

/// Copies all pairs into a full matrix, which the methods read.
///
/// # Errors
/// Never fails for the values of a metric.
pub fn whole(half: &Half<f32>) -> Result<Dissimilarities, Error> {
    let items = half.items();
    let mut values = vec![0.0f32; items * items];
    let mut row = vec![0.0; items];
    for (item, values) in values.chunks_exact_mut(items).enumerate() {
        half.row(item, &mut row);
        values.iter_mut().zip(&row).for_each(|(value, d)| *value = *d as f32);
    }
    Ok(Dissimilarities::new(items, Form::Full, Values::F32(values), 1.0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(items: Option<usize>, clusters: Option<usize>) -> ApplicationOptions {
        ApplicationOptions { items, clusters, dimension: 3, seed: 0 }
    }

    #[test]
    fn items_are_chosen_evenly_and_no_more_than_there_are() {
        assert_eq!(chosen(4, 10).unwrap(), [0, 2, 5, 7]);
        assert_eq!(rows_asked(None, 3).unwrap(), [0, 1, 2]);
        assert_eq!(rows_asked(None, 9892).unwrap().len(), ITEMS);
        for wrong in [1, 11] {
            assert!(matches!(rows_asked(Some(wrong), 10), Err(Error::Usage(_))));
        }
    }

    #[test]
    fn every_repeat_has_a_family() {
        let genes = Application::new(Subject::Genes, asked(Some(9892), None)).unwrap();
        let known = genes.known.unwrap();
        let count = |class: u32| known.of.iter().filter(|of| **of == class).count();
        assert_eq!((0..3).map(count).sum::<usize>(), 9892);
        assert!((0..3).all(|class| count(class) > 500), "{:?}", [0, 1, 2].map(count));
        assert_eq!(genes.clustering.clusters, Some(3));
    }

    #[test]
    fn marks_are_the_furthest_means_of_what_most_members_have() {
        let mut patients = Application::new(Subject::Patients, asked(Some(4), None)).unwrap();
        let gap = f64::NAN;
        let values = vec![1.0, -3.0, 9.0, 2.0, -3.0, gap, 0.5, 0.0, gap, -3.5, gap, gap];
        patients.items = Items::Records(Incomplete::new(values, 3).unwrap());
        patients.features = ["a", "b", "c"].map(str::to_owned).to_vec();
        let marks = patients.marks(&[0, 0, 0, 1], 2);
        assert_eq!(marks[0], [("b", -2.0), ("a", 3.5 / 3.0)]);
        assert_eq!(marks[1], [("a", -3.5)]);
    }

    #[test]
    fn compounds_of_files_are_active_as_their_table_says_and_each_must_be_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let keys = write("k.fps", "#FPS1\n#num_bits=8\n01\ta\n03\tb\nf0\tc\n");
        let read = |table: &str| Application::of_files(&keys, &write("t.tsv", table), asked(None, Some(2)));
        let found = read("id\tsmiles\tactive\nc\tCO\t1\na\tC\t0\nb\tCC\t0\nd\tO\t1\n").unwrap();
        assert_eq!(found.known.as_ref().unwrap().of, [0, 0, 1]);
        assert_eq!((found.structures.as_ref().unwrap()[2].as_str(), found.from, found.is_built_in), ("CO", 3, false));
        let enrichment = found.enrichment(&[0, 0, 1], 2).unwrap();
        assert_eq!((enrichment.clusters[1].active, enrichment.clusters[1].factor), (1, 3.0));
        assert_eq!(read("id\tactive\na\t0\nb\t0\nc\t1\n").unwrap().structures, None);
        for (table, words) in [
            ("id\tactive\na\t0\nb\t1\n", "expected a row for each item, found none for c"),
            ("id\tactive\na\t0\nb\t1\nc\tyes\n", "expected 0 or 1 in the column active for c, found \"yes\""),
            ("id\tactivity\na\t0\n", "active"),
        ] {
            let error = read(table).err().unwrap();
            assert!(matches!(error, Error::Data(_)) && error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn more_clusters_than_items_are_refused_before_anything_is_compared() {
        let error = Application::new(Subject::Genes, asked(Some(5), Some(6))).err().unwrap();
        assert!(
            matches!(error, Error::Method(_)) && error.to_string().contains("you requested 6 clusters, but only 5"),
            "{error}"
        );
    }
}
