//! Figures of a report: an element in the page, and the data from which the report's script draws the figure.
//! The script and its style come from the viewer (`web/src/report.tsx`). So a figure looks the same in a report and in
//! a node's viewer.

use std::io::{self, Write};

use lehr_mining::anneal::{Split, Step};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use crate::packed;

/// The figures of a report, by the ids of their elements.
#[derive(Debug, Default)]
pub struct Figures(Map<String, Value>);

impl Figures {
    /// Adds a figure and returns its element.
    pub fn add(&mut self, id: &str, figure: Value) -> Markup {
        self.0.insert(id.to_owned(), figure);
        html! { div.figure id=(id) {} }
    }

    /// Returns all figures as JSON that cannot end its script element. The JSON may take megabytes, so this function
    /// copies it only if necessary.
    pub(crate) fn json(self) -> String {
        let figures = Value::Object(Map::from_iter([("figures".to_owned(), Value::Object(self.0))]));
        // Measure first, because a growing string may need twice the memory.
        let mut length = Length(0);
        serde_json::to_writer(&mut length, &figures).expect("numbers and texts are JSON");
        let mut text = Vec::with_capacity(length.0);
        serde_json::to_writer(&mut text, &figures).expect("numbers and texts are JSON");
        drop(figures);
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        harmless(text)
    }
}

/// Escapes JSON so that it cannot end its script element.
pub(crate) fn harmless(json: String) -> String {
    if json.contains('<') { json.replace('<', "\\u003c") } else { json }
}

/// A writer that counts the bytes written to it.
struct Length(usize);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a figure of one or two curves side by side.
pub fn lines(lines: Vec<Value>) -> Value {
    json!({ "kind": "lines", "lines": lines })
}

/// Returns a figure that replays an annealing. `command` is the command as typed, without the number of clusters.
pub fn anneal(history: &[Step], splits: &[Split], unit: &str, command: Option<&str>) -> Value {
    let steps: Vec<Value> =
        history.iter().map(|step| json!([step.temperature, step.clusters, step.free_energy])).collect();
    let splits: Vec<Value> = splits
        .iter()
        .map(|split| json!([split.temperature, split.parent, split.merged_at, split.merged_into]))
        .collect();
    json!({ "kind": "anneal", "steps": steps, "splits": splits, "unit": unit, "command": command })
}

/// Returns a figure of how often pairs of two quantities occur, in `bins` by `bins` cells. The first quantity increases
/// along a row, the second from row to row.
pub fn density(title: &str, bins: usize, counts: &[u64], names: [&str; 2], ends: [f64; 2]) -> Value {
    json!({ "kind": "density", "title": title, "bins": bins, "counts": counts, "names": names, "ends": ends })
}

/// Returns a figure of the columns of a table over a topographic map with `columns` by `rows` nodes. A plane has the
/// name of a column and a value for each node.
pub fn planes<'a>(columns: usize, rows: usize, planes: impl Iterator<Item = (&'a str, Vec<f64>)>) -> Value {
    let plane =
        |(name, values): (&str, Vec<f64>)| json!({ "name": name, "values": packed::floats(values.into_iter()) });
    json!({ "kind": "planes", "title": "columns", "columns": columns, "rows": rows, "planes": planes.map(plane).collect::<Vec<_>>() })
}
