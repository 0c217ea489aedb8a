//! A service with the built-in data, for the first step of a workflow that needs no input.
//!
//! `load` makes a data set from a sample, or from evenly spaced items of the sample. Known facts about the items are in
//! a separate column, which methods do not read.

use std::collections::BTreeMap;

use lehr_data::datasets;
use lehr_jobs::datasets::{Datasets, Put};
use lehr_jobs::{Handle, Table};
use lehr_runtime::blocking;
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Partners, Reference, Service, Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::{chosen, family};

/// A built-in sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// Full-length Alu repeats of the human genome: `id`, `sequence`, `family`.
    AluRepeats,
    /// Adults of a health survey: `id` and 113 features. One value in five is missing.
    Patients,
    /// Compounds of an antiviral screen: `id`, `fingerprint`, `smiles`, `activity`.
    Compounds,
    /// Census blocks of three states: `id`, `lon`, `lat`, and the number of inhabitants as `weight`.
    CensusBlocks,
}

impl Sample {
    const ALL: [Self; 4] = [Self::AluRepeats, Self::Patients, Self::Compounds, Self::CensusBlocks];

    fn about(self) -> &'static str {
        match self {
            Self::AluRepeats => "9,892 full-length Alu repeats of the human genome: id, sequence, family",
            Self::Patients => "2,944 adults of a health survey: id and 113 features, some of which are missing",
            Self::Compounds => {
                "10,280 compounds of an antiviral screen: id, fingerprint of 1,047 keys, smiles, activity"
            }
            Self::CensusBlocks => {
                "201,174 census blocks of Nevada, Utah and West Virginia: id, lon, lat, and inhabitants as weights"
            }
        }
    }

    /// Returns the given number of items as a table, and the size of the sample.
    fn table(self, items: Option<usize>) -> Result<(Table, usize), Fault> {
        let invalid = |reason| Fault::new(Code::InvalidValue, format!("items: {reason}"));
        match self {
            Self::AluRepeats => {
                let (all, subfamilies) = datasets::alu_repeats();
                let rows = chosen(items.unwrap_or(all.len()), all.len()).map_err(invalid)?;
                let letters = |row: &usize| String::from_utf8_lossy(all.sequence(*row)).into_owned();
                let table = Table::builder()
                    .texts("id", rows.iter().map(|row| all.ids()[*row].clone()).collect())
                    .texts("sequence", rows.iter().map(letters).collect())
                    .texts("family", rows.iter().map(|row| family(&subfamilies[*row]).to_owned()).collect())
                    .id(Some("id".to_owned()));
                Ok((table.build()?, all.len()))
            }
            Self::Patients => {
                let all = datasets::patients();
                let rows = chosen(items.unwrap_or(all.len()), all.len()).map_err(invalid)?;
                let ids = all.ids().unwrap_or_default();
                let mut table = Table::builder().gaps(true).id(Some("id".to_owned()));
                table = table.texts("id", rows.iter().map(|row| ids[*row].clone()).collect());
                for (column, name) in all.columns().iter().enumerate() {
                    table = table.numbers(name.clone(), rows.iter().map(|row| all.row(*row)[column]).collect());
                }
                Ok((table.build()?, all.len()))
            }
            Self::Compounds => {
                let (keys, compounds) = datasets::compounds();
                let rows = chosen(items.unwrap_or(keys.len()), keys.len()).map_err(invalid)?;
                // FPS puts the lowest bits in the first byte.
                let digits = |row: &usize| {
                    let bytes = keys.row(*row).iter().flat_map(|word| word.to_le_bytes());
                    bytes.take(keys.bits().div_ceil(8)).map(|byte| format!("{byte:02x}")).collect::<String>()
                };
                let table = Table::builder()
                    .texts("id", rows.iter().map(|row| keys.ids()[*row].clone()).collect())
                    .texts("fingerprint", rows.iter().map(digits).collect())
                    .texts("smiles", rows.iter().map(|row| compounds[*row].smiles.clone()).collect())
                    .texts("activity", rows.iter().map(|row| compounds[*row].activity.clone()).collect())
                    .id(Some("id".to_owned()));
                Ok((table.build()?, keys.len()))
            }
            Self::CensusBlocks => {
                let all = datasets::census_blocks();
                let rows = chosen(items.unwrap_or(all.len()), all.len()).map_err(invalid)?;
                let ids = all.ids().unwrap_or_default();
                let place = |column: usize| rows.iter().map(|row| all.row(*row)[column]).collect::<Vec<f64>>();
                let table = Table::builder()
                    .texts("id", rows.iter().map(|row| ids[*row].clone()).collect())
                    .numbers("lon", place(0))
                    .numbers("lat", place(1))
                    .numbers("weight", rows.iter().map(|row| all.weight(*row)).collect())
                    .id(Some("id".to_owned()))
                    .weights(Some("weight".to_owned()));
                Ok((table.build()?, all.len()))
            }
        }
    }
}

/// The state: the samples that can be loaded, with descriptions.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SampleState {
    samples: BTreeMap<Sample, String>,
}

impl Contract for SampleState {
    const NAME: &'static str = "lehr/samples";
    const VERSION: Version = Version::new(1, 0);
}

/// Makes a data set from a sample.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = SampleState, verb = Submit, name = "load", reply = Loaded)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The sample to load.
    sample: Sample,
    /// The number of items to use, evenly spaced, at least 2. Default: all.
    #[serde(default)]
    items: Option<usize>,
    /// The name of the new data set.
    name: String,
    /// Whether to replace an existing data set of this name.
    #[serde(default)]
    replace: bool,
}

/// The data set that was made from a sample.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The name of the data set.
    dataset: String,
    /// The number of items in the data set.
    items: usize,
    /// The number of items in the sample.
    chosen_from: usize,
}

/// The service of the built-in data.
#[derive(Clone)]
pub struct Samples {
    document: SampleState,
    datasets: Option<Reference<Datasets>>,
}

impl Default for Samples {
    fn default() -> Self {
        let samples = Sample::ALL.map(|sample| (sample, sample.about().to_owned())).into();
        Self { document: SampleState { samples }, datasets: None }
    }
}

impl Service for Samples {
    type Document = SampleState;

    fn document(&self) -> &SampleState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut SampleState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Load>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.datasets = Some(starting.partner::<Datasets>("datasets")?);
        Ok(())
    }
}

impl Concurrent<Load> for Samples {
    async fn handle(&self, Load { sample, items, name, replace }: Load, _: &Call) -> Result<Loaded, Fault> {
        let datasets = self.datasets.as_ref();
        let datasets =
            datasets.ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))?;
        let (table, chosen_from) = blocking("data that are built in", || sample.table(items))?;
        let items = table.rows();
        datasets.call(Put { name: name.clone(), table: Handle(table), replace }).await?;
        Ok(Loaded { dataset: name, items, chosen_from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_as_large_as_they_say_and_so_many_items_of_them_are_chosen_evenly() {
        for (sample, columns) in
            [(Sample::AluRepeats, 3), (Sample::Patients, 114), (Sample::Compounds, 4), (Sample::CensusBlocks, 4)]
        {
            let (all, from) = sample.table(None).unwrap();
            assert_eq!((all.rows(), all.columns().count()), (from, columns));
            let thousands = format!("{},{:03} ", from / 1000, from % 1000);
            assert!(sample.about().starts_with(&thousands), "{from}: {}", sample.about());
            let (some, _) = sample.table(Some(4)).unwrap();
            let ids = |table: &Table| table.texts("id").unwrap();
            let expected: Vec<String> = (0..4).map(|item| ids(&all)[item * from / 4].clone()).collect();
            assert_eq!(ids(&some), expected);
            let fault = sample.table(Some(1)).unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue);
            assert!(fault.reason().starts_with("items: expected 2 to "), "{fault}");
        }
    }

    #[test]
    fn the_families_of_repeats_stand_beside_them_and_missing_values_are_said_to_be_there() {
        let (genes, _) = Sample::AluRepeats.table(Some(300)).unwrap();
        let families = genes.texts("family").unwrap();
        assert!(["AluJ", "AluS", "AluY"].iter().all(|family| families.iter().any(|found| found == family)));
        let (patients, _) = Sample::Patients.table(Some(300)).unwrap();
        assert!(patients.has_gaps() && !genes.has_gaps());
    }
}
