//! The applications of `lehr demo`: items that are built in, how they are compared, what is known of them.
//!
//! An application is a workflow over services ([`Subject::workflow`]), and what a user would do with three commands, `lehr distances`, `lehr pairwise` and `lehr embed`; a test sees that both come to the same bytes.
//! What it adds is what only somebody who knows the data can say: the classes beside the clusters, and the features that mark them.

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::read::Selection;
use lehr_data::read::fasta::Expected;
use lehr_data::sequences::Alphabet;
use lehr_data::{Incomplete, Sequences, datasets};
use lehr_distances::alignment::Mode;
use lehr_distances::{Half, rows, sequence};
use lehr_mining::{pairwise, smacof};

use crate::arguments::ApplicationArguments;
use crate::exit::{Failure, Kind};
use crate::items::Items;
use crate::matrix::Classes;
use crate::plan::distances::{SequencePlan, What};

/// Items that are compared unless the user says how many.
const ITEMS: usize = 1500;
/// Clusters of patients unless the user says how many: among so many features no number stands out.
const PATIENT_GROUPS: usize = 6;
/// Features named as marks of a cluster.
const MARKS: usize = 6;
/// A feature marks a cluster only where at least this share of its members have a value.
const PRESENT_MIN: f64 = 0.5;

/// Which application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// `lehr demo genes`.
    Genes,
    /// `lehr demo patients`.
    Patients,
}

impl Subject {
    /// The command, as summaries name their source.
    pub fn source(self) -> &'static str {
        match self {
            Subject::Genes => "demo genes",
            Subject::Patients => "demo patients",
        }
    }

    /// The workflow, as people can read it: its name, and what it says.
    pub fn workflow(self) -> (&'static str, &'static str) {
        match self {
            Subject::Genes => ("genes.toml", include_str!("../workflows/genes.toml")),
            Subject::Patients => ("patients.toml", include_str!("../workflows/patients.toml")),
        }
    }

    /// What one item is.
    pub fn item(self) -> &'static str {
        match self {
            Subject::Genes => "sequence",
            Subject::Patients => "patient",
        }
    }

    /// The folder for results when none is named.
    pub fn out(self) -> &'static str {
        match self {
            Subject::Genes => "lehr-genes",
            Subject::Patients => "lehr-patients",
        }
    }

    /// What the items are and where they come from, in the report's words.
    pub fn about(self) -> &'static str {
        match self {
            Subject::Genes => {
                "Full-length Alu repeats of the human genome (Locus Reference Genomic), aligned pair by pair, clustered by pairwise annealing, mapped by SMACOF"
            }
            Subject::Patients => {
                "Adults of the US National Health and Nutrition Examination Survey, 2009 to 2012: 113 standardised features with gaps, clustered by pairwise annealing, mapped by SMACOF"
            }
        }
    }
}

/// Items, and what is done with them.
pub struct Application {
    /// Which.
    pub subject: Subject,
    /// The items.
    pub items: Items,
    /// The name of each.
    pub ids: Vec<String>,
    /// How many were to choose from.
    pub from: usize,
    /// Their classes, if any are known.
    pub known: Option<Classes>,
    /// The names of the features, if the items are rows of them.
    pub features: Vec<String>,
    /// How they are clustered.
    pub clustering: pairwise::Parameters,
    /// How they are mapped.
    pub embedding: smacof::Parameters,
}

impl Application {
    /// Chooses the items, and says how they are compared and what is done with them.
    ///
    /// # Errors
    /// [`Kind::Usage`] for another number of items than there can be; [`Kind::BadData`] for more clusters than items.
    pub fn new(subject: Subject, arguments: &ApplicationArguments) -> Result<(Self, What), Failure> {
        let (items, ids, from, what, known, features, clusters) = match subject {
            Subject::Genes => {
                let (all, subfamilies) = datasets::alu_repeats();
                let rows = asked(arguments.items, all.len())?;
                let texts: Vec<&[u8]> = rows.iter().map(|row| all.sequence(*row)).collect();
                let ids: Vec<String> = rows.iter().map(|row| all.ids()[*row].clone()).collect();
                let genes = Sequences::new(&texts, Alphabet::Dna)?.with_ids(ids.clone())?;
                let plan = SequencePlan {
                    measure: sequence::Measure::Identity,
                    mode: Mode::Local,
                    matrix: None,
                    gap: None,
                    overlap: None,
                };
                let what = What::Sequences(Expected { alphabet: Some(Alphabet::Dna), is_aligned: false }, plan);
                let known = families(rows.iter().map(|row| subfamilies[*row].as_str()));
                let clusters = arguments.clusters.or(Some(known.classes.len().min(rows.len())));
                (Items::Sequences(genes), ids, all.len(), what, Some(known), Vec::new(), clusters)
            }
            Subject::Patients => {
                let all = datasets::patients();
                let rows = asked(arguments.items, all.len())?;
                let values = rows.iter().flat_map(|row| all.row(*row)).copied().collect();
                let ids = all.ids().unwrap_or_default();
                let ids: Vec<String> = rows.iter().map(|row| ids[*row].clone()).collect();
                let patients = Incomplete::new(values, all.dimension())?.standardised();
                let measure = rows::Measure::Euclidean;
                let what = What::Rows { selection: Selection::default(), standardise: true, measure };
                let features = all.columns().to_vec();
                let clusters = arguments.clusters.or(Some(PATIENT_GROUPS.min(rows.len())));
                (Items::Records(patients), ids, all.len(), what, None, features, clusters)
            }
        };
        if let Some(clusters) = clusters.filter(|clusters| *clusters > items.len()) {
            return Err(lehr_mining::Error::TooManyClusters { clusters, points: items.len() }.into());
        }
        let clustering = pairwise::Parameters { clusters, seed: arguments.seed, ..pairwise::Parameters::default() };
        let (dimension, seed) = (arguments.dimension, arguments.seed);
        let embedding = smacof::Parameters { dimension, seed, ..smacof::Parameters::default() };
        Ok((Self { subject, items, ids, from, known, features, clustering, embedding }, what))
    }

    /// What marks each cluster: the features whose means in it are furthest from those of all, in standard deviations, the furthest first. Nothing where items have no features.
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

/// The items that a command line means.
fn asked(items: Option<usize>, from: usize) -> Result<Vec<usize>, Failure> {
    let chosen = chosen(items.unwrap_or(ITEMS.min(from)), from);
    chosen.map_err(|reason| Failure::new(Kind::Usage, format!("--items: {reason}")))
}

/// Evenly chosen numbers of items.
///
/// # Errors
/// What is expected, and what was found.
pub fn chosen(items: usize, from: usize) -> Result<Vec<usize>, String> {
    if !(2..=from).contains(&items) {
        return Err(format!("expected 2 to {from}, which are built in, found {items}"));
    }
    Ok((0..items).map(|item| item * from / items).collect())
}

/// The families of Alu repeats: the letter behind `Alu`, from old to young.
const FAMILIES: [&str; 3] = ["AluJ", "AluS", "AluY"];

/// The family of a subfamily.
///
/// # Panics
/// If it is none of Alu repeats.
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

/// All pairs in whole rows, as methods read them.
///
/// # Errors
/// None that values of a metric can bring about.
pub fn whole(half: &Half<f32>) -> Result<Dissimilarities, Failure> {
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
    use crate::arguments::{Arguments, Command, DemoApplication, DemoArguments};
    use clap::Parser;

    fn arguments(line: &[&str]) -> ApplicationArguments {
        let line = ["lehr", "demo", "patients"].into_iter().chain(line.iter().copied());
        match Arguments::try_parse_from(line).unwrap().command {
            Command::Demo(DemoArguments { application: Some(DemoApplication::Patients(arguments)), .. }) => *arguments,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn items_are_chosen_evenly_and_no_more_than_there_are() {
        assert_eq!(chosen(4, 10).unwrap(), [0, 2, 5, 7]);
        assert_eq!(asked(None, 3).unwrap(), [0, 1, 2]);
        assert_eq!(asked(None, 9892).unwrap().len(), ITEMS);
        for wrong in [1, 11] {
            assert_eq!(asked(Some(wrong), 10).unwrap_err().kind, Kind::Usage);
        }
    }

    #[test]
    fn every_repeat_has_a_family() {
        let (genes, _) = Application::new(Subject::Genes, &arguments(&["--items", "9892"])).unwrap();
        let known = genes.known.unwrap();
        let count = |class: u32| known.of.iter().filter(|of| **of == class).count();
        assert_eq!((0..3).map(count).sum::<usize>(), 9892);
        assert!((0..3).all(|class| count(class) > 500), "{:?}", [0, 1, 2].map(count));
        assert_eq!(genes.clustering.clusters, Some(3));
    }

    #[test]
    fn marks_are_the_furthest_means_of_what_most_members_have() {
        let (mut patients, _) = Application::new(Subject::Patients, &arguments(&["--items", "4"])).unwrap();
        let gap = f64::NAN;
        let values = vec![1.0, -3.0, 9.0, 2.0, -3.0, gap, 0.5, 0.0, gap, -3.5, gap, gap];
        patients.items = Items::Records(Incomplete::new(values, 3).unwrap());
        patients.features = ["a", "b", "c"].map(str::to_owned).to_vec();
        let marks = patients.marks(&[0, 0, 0, 1], 2);
        assert_eq!(marks[0], [("b", -2.0), ("a", 3.5 / 3.0)]);
        assert_eq!(marks[1], [("a", -3.5)]);
    }

    #[test]
    fn more_clusters_than_items_are_refused_before_anything_is_compared() {
        let failure = Application::new(Subject::Genes, &arguments(&["--items", "5", "-k", "6"])).err().unwrap();
        assert_eq!((failure.kind, failure.message.contains("6 clusters of 5")), (Kind::BadData, true));
    }
}
