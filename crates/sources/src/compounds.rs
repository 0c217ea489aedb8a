//! Compounds as PubChem describes them, and the data set that is made of them.

use std::collections::{BTreeMap, BTreeSet};

use lehr_jobs::Table;
use lehr_services::{Code, Fault};
use serde_json::{Map, Value};

use crate::fingerprint::fingerprint_digits;

/// PubChem's names of the properties that every data set has.
pub const FINGERPRINT: &str = "Fingerprint2D";
pub const SMILES: &str = "SMILES";
pub const TITLE: &str = "Title";

/// The properties of compounds, by CID.
#[derive(Debug, Default)]
pub struct Found(BTreeMap<u64, Map<String, Value>>);

impl Found {
    /// Adds the properties of one compound. Returns `None` if PubChem's documentation does not describe them so.
    pub fn add(&mut self, row: Value) -> Option<()> {
        let Value::Object(row) = row else { return None };
        let cid = row.get("CID")?.as_u64()?;
        // A compound may have no fingerprint, but no other text may take its place.
        row.get(FINGERPRINT).map_or(Some(()), |packed| fingerprint_digits(packed.as_str()?).map(drop))?;
        self.0.insert(cid, row);
        Some(())
    }

    /// Returns the data set of these compounds, in this order, and the CIDs that it cannot have.
    ///
    /// # Errors
    /// Returns [`Code::UnknownEntry`] if it would have no rows.
    pub fn table(&self, cids: &[u64], properties: &[String]) -> Result<(Table, Vec<u64>), Fault> {
        let mut seen = BTreeSet::new();
        let (mut rows, mut unknown) = (Vec::new(), Vec::new());
        for cid in cids.iter().filter(|cid| seen.insert(**cid)) {
            let row = self.0.get(cid);
            let digits = row.and_then(|row| fingerprint_digits(row.get(FINGERPRINT)?.as_str()?));
            match row.zip(digits) {
                Some((row, digits)) => rows.push((cid, row, digits)),
                None => unknown.push(*cid),
            }
        }
        if rows.is_empty() {
            let reason = format!("PubChem has none of the {} compounds with a fingerprint", unknown.len());
            return Err(Fault::new(Code::UnknownEntry, reason));
        }
        let of = |name: &str| rows.iter().map(|(_, row, _)| row.get(name)).collect::<Vec<_>>();
        let texts = |name: &str| of(name).into_iter().map(text).collect();
        let mut table = Table::builder()
            .texts("id", rows.iter().map(|(cid, ..)| cid.to_string()).collect())
            .texts("title", texts(TITLE))
            .texts("smiles", texts(SMILES))
            .texts("fingerprint", rows.iter().map(|(.., digits)| digits.clone()).collect())
            .id(Some("id".to_owned()));
        let mut has_gaps = false;
        for property in properties {
            let values = of(property);
            table = match values.iter().map(|value| value.map_or(Some(f64::NAN), number)).collect::<Option<Vec<f64>>>()
            {
                Some(numbers) if values.iter().any(Option::is_some) => {
                    has_gaps |= numbers.iter().any(|number| number.is_nan());
                    table.numbers(property.clone(), numbers)
                }
                _ => table.texts(property.clone(), texts(property)),
            };
        }
        Ok((table.gaps(has_gaps).build()?, unknown))
    }
}

/// Returns a value as a number. PubChem writes some numbers as texts, such as molecular weights.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.parse().ok()?,
        value => value.as_f64()?,
    };
    f64::is_finite(number).then_some(number)
}

/// Returns a value as text; a missing value is empty.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn packed() -> String {
        format!("AAADcYCA{}gA==", "A".repeat(144))
    }

    #[test]
    fn rows_stand_in_the_order_asked_for_and_unknown_compounds_are_named() {
        let mut found = Found::default();
        let aspirin = json!({ "CID": 2244, "Fingerprint2D": packed(), "SMILES": "CC(=O)OC1=CC=CC=C1C(=O)O",
            "Title": "Aspirin", "MolecularWeight": "180.16", "XLogP": 1.2, "IUPACName": "2-acetyloxybenzoic acid" });
        let water = json!({ "CID": 962, "Fingerprint2D": packed(), "SMILES": "O", "Title": "Water", "MolecularWeight": "18.015" });
        let none = json!({ "CID": 7, "SMILES": "C", "Title": "no fingerprint" });
        for row in [aspirin, water, none] {
            found.add(row).unwrap();
        }
        let properties = ["MolecularWeight", "XLogP", "IUPACName", "Charge"].map(str::to_owned);
        let (table, unknown) = found.table(&[962, 2244, 7, 962, 99], &properties).unwrap();
        assert_eq!(unknown, [7, 99]);
        assert_eq!(table.id(), Some("id"));
        assert_eq!(table.texts("id").unwrap(), ["962", "2244"]);
        assert_eq!(table.texts("title").unwrap(), ["Water", "Aspirin"]);
        assert_eq!(table.texts("smiles").unwrap()[0], "O");
        assert_eq!(table.texts("fingerprint").unwrap()[0].len(), 222);
        assert_eq!(*table.numbers("MolecularWeight").unwrap(), [18.015, 180.16]);
        assert!(table.has_gaps() && table.numbers("XLogP").unwrap()[0].is_nan());
        assert_eq!(table.texts("IUPACName").unwrap(), ["", "2-acetyloxybenzoic acid"]);
        // A property that no compound has is a column of empty texts.
        assert_eq!(table.texts("Charge").unwrap(), ["", ""]);
    }

    #[test]
    fn a_set_without_compounds_and_answers_of_another_form_are_refused() {
        let mut found = Found::default();
        assert_eq!(
            found.table(&[1, 2], &[]).unwrap_err().reason(),
            "PubChem has none of the 2 compounds with a fingerprint"
        );
        for row in [
            json!([]),
            json!({ "CID": "1" }),
            json!({ "CID": 1, "Fingerprint2D": "AAAA" }),
            json!({ "CID": 1, "Fingerprint2D": 3 }),
        ] {
            assert_eq!(found.add(row.clone()), None, "{row}");
        }
    }
}
