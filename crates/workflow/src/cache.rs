//! The cache: a step whose request, data and versions are unchanged takes the answer of an earlier run.
//!
//! The answers are those in the document of the runs, so there is no second place that keeps them. An answer counts only
//! while the data sets that it names have the contents of that time.

use std::collections::BTreeMap;

use lehr_jobs::datasets::Datasets;
use lehr_services::{Code, Fault, Info, Reference};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::run::{CachedAnswer, Run, StepState};

/// The checksums of a node's data sets, by name.
pub(crate) type Checksums = BTreeMap<String, String>;

/// A request of a step.
pub(crate) struct Request<'a> {
    pub(crate) node: Option<&'a str>,
    pub(crate) service: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) body: &'a Value,
    pub(crate) is_job: bool,
}

impl Request<'_> {
    /// Returns a hash of everything on which the answer depends. The contract's hash covers the source of services in
    /// Python.
    pub(crate) fn fingerprint(&self, info: &Info, checksums: &Checksums) -> String {
        let contract = &info.contract;
        let parts = json!([
            self.node,
            self.service,
            self.operation,
            self.is_job,
            self.body,
            named(self.body, checksums),
            [&contract.name, &contract.hash, env!("CARGO_PKG_VERSION")],
        ]);
        // Maps are sorted by name, so equal requests have equal texts.
        format!("{:032x}", xxh3_128(parts.to_string().as_bytes()))
    }
}

/// Returns the data sets whose names are texts in a value, with their checksums.
pub(crate) fn named(value: &Value, checksums: &Checksums) -> Checksums {
    let mut found = Checksums::new();
    collect(value, checksums, &mut found);
    found
}

fn collect(value: &Value, checksums: &Checksums, found: &mut Checksums) {
    match value {
        Value::String(text) => {
            if let Some((name, checksum)) = checksums.get_key_value(text) {
                found.insert(name.clone(), checksum.clone());
            }
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, checksums, found)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, checksums, found)),
        _ => {}
    }
}

/// Returns the checksums of a node's data sets; none if the node has no service of data sets.
///
/// # Errors
/// Fails if the service cannot be asked, because a fingerprint without checksums would stand for other data.
pub(crate) async fn checksums(datasets: Result<Reference<Datasets>, Fault>) -> Result<Checksums, Fault> {
    let asked = match datasets {
        Ok(datasets) => datasets.get().await,
        Err(fault) => Err(fault),
    };
    match asked {
        Ok(state) => Ok(state.datasets.iter().map(|(name, found)| (name.clone(), found.checksum.clone())).collect()),
        Err(fault) if fault.code() == Code::UnknownService => Ok(Checksums::new()),
        Err(fault) => Err(fault),
    }
}

/// An answer of an earlier run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Recalled {
    pub(crate) output: Value,
    pub(crate) cached: CachedAnswer,
}

/// The places of the latest answers in the runs, by fingerprint. An entry may be out of date: its run may be gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(BTreeMap<String, (String, String, usize)>);

impl Answers {
    /// Lists the answers in the runs.
    pub(crate) fn of(runs: &BTreeMap<String, Run>) -> Self {
        let mut answers = Self::default();
        let mut in_order: Vec<(&String, &Run)> = runs.iter().collect();
        in_order.sort_by_key(|(_, run)| run.number);
        for (id, run) in in_order {
            for (step, record) in &run.steps {
                for (item, found) in record.items.iter().flatten().enumerate() {
                    if let Some(cached) = &found.cached {
                        answers.add(&cached.fingerprint, id, step, item);
                    }
                }
            }
        }
        answers
    }

    /// Adds the answer for an item.
    pub(crate) fn add(&mut self, fingerprint: &str, run: &str, step: &str, item: usize) {
        self.0.insert(fingerprint.to_owned(), (run.to_owned(), step.to_owned(), item));
    }

    /// Finds the latest answer to a request with this fingerprint.
    pub(crate) fn find(&self, runs: &BTreeMap<String, Run>, fingerprint: &str) -> Option<Recalled> {
        let (id, step, item) = self.0.get(fingerprint)?;
        let item = runs.get(id)?.steps.get(step)?.items.as_ref()?.get(*item)?;
        let cached = item.cached.as_ref().filter(|cached| cached.fingerprint == fingerprint)?;
        if item.state != StepState::Done {
            return None;
        }
        let from = cached.from.clone().or_else(|| Some(id.clone()));
        Some(Recalled { output: item.output.clone(), cached: CachedAnswer { from, ..cached.clone() } })
    }

    /// Forgets the answers of a run.
    pub(crate) fn forget(&mut self, run: &str) {
        self.0.retain(|_, (id, ..)| id != run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_names_the_data_sets_in_it() {
        let checksums: Checksums = [("sites", "1"), ("sites/2", "2"), ("other", "3")]
            .map(|(name, sum)| (name.to_owned(), sum.to_owned()))
            .into();
        let value = json!({ "input": "sites", "more": [{ "matrix": "sites/2" }, "none", 3], "other": true });
        let found: Vec<(String, String)> = named(&value, &checksums).into_iter().collect();
        assert_eq!(found, [("sites", "1"), ("sites/2", "2")].map(|(name, sum)| (name.to_owned(), sum.to_owned())));
    }
}
