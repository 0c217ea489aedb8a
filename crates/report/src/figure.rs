//! Figures of a page, as its script draws them: a place in the page and the data for it.
//!
//! The script and its style are the viewer's (`web/src/report.tsx`), so that a report and a node show things in one way.

use lehr_mining::anneal::{Split, Step};
use serde_json::{Map, Value, json};

use crate::packed;

/// The figures of a page by the id of their place.
#[derive(Debug, Default)]
pub struct Figures(Map<String, Value>);

impl Figures {
    /// Adds a figure; the answer is its place in the page.
    pub fn add(&mut self, id: &str, figure: Value) -> String {
        self.0.insert(id.to_owned(), figure);
        format!("<div class=\"figure\" id=\"{id}\"></div>")
    }

    /// All of them as JSON that cannot end the script element in which it stands.
    pub(crate) fn json(&self) -> String {
        json!({ "figures": self.0 }).to_string().replace('<', "\\u003c")
    }
}

/// One or two curves beside each other.
pub fn lines(lines: Vec<Value>) -> Value {
    json!({ "kind": "lines", "lines": lines })
}

/// An annealing, to be replayed. `command` is what was typed, without the number of clusters.
pub fn anneal(history: &[Step], splits: &[Split], unit: &str, command: Option<&str>) -> Value {
    let steps: Vec<Value> =
        history.iter().map(|step| json!([step.temperature, step.clusters, step.free_energy])).collect();
    let splits: Vec<Value> =
        splits.iter().map(|split| json!([split.temperature, split.parent, split.clusters])).collect();
    json!({ "kind": "anneal", "steps": steps, "splits": splits, "unit": unit, "command": command })
}

/// How often two quantities came together, `bins` a side, the second rising with the row.
pub fn density(title: &str, bins: usize, counts: &[u64], names: [&str; 2], ends: [f64; 2]) -> Value {
    json!({ "kind": "density", "title": title, "bins": bins, "counts": counts, "names": names, "ends": ends })
}

/// Columns across a topographic map of that many nodes each way: a name and a value for each node.
pub fn planes<'a>(columns: usize, rows: usize, planes: impl Iterator<Item = (&'a str, Vec<f64>)>) -> Value {
    let plane =
        |(name, values): (&str, Vec<f64>)| json!({ "name": name, "values": packed::floats(values.into_iter()) });
    json!({ "kind": "planes", "title": "columns", "columns": columns, "rows": rows, "planes": planes.map(plane).collect::<Vec<_>>() })
}
