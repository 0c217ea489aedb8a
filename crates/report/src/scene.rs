//! The points of a report: the name, the values and the position of each point.

use lehr_data::frame::{Values, date};
use lehr_methods::Rows;
use lehr_methods::cluster::merges::Joined;
use serde_json::{Map, Value, json};

use crate::packed;
use crate::picture::Picture;

/// The maximum sizes of the values and of the names in a report, in bytes; the result tables have all values and names.
const VALUES_BYTES: usize = 3 << 20;
const NAMES_BYTES: usize = 3 << 20;
/// The maximum number of columns in a report.
const COLUMNS_MAX: usize = 60;

/// A set of points to draw.
pub struct Scene {
    rows: usize,
    fields: Map<String, Value>,
    columns: Vec<Value>,
    groupings: Vec<Value>,
    layouts: Vec<Value>,
}

impl Scene {
    /// Creates a scene of `rows` points for the data set `name`.
    pub fn new(name: &str, rows: usize) -> Self {
        let fields = Map::from_iter([("name".to_owned(), json!(name)), ("isEqual".to_owned(), json!(false))]);
        Self { rows, fields, columns: Vec::new(), groupings: Vec::new(), layouts: Vec::new() }
    }

    /// Creates a scene for some rows of a table, with their names and values.
    pub fn of_rows(name: &str, space: &Rows, weights: Option<&str>, rows: &[usize]) -> Self {
        let mut scene = Self::new(name, rows.len());
        if let Some(ids) = space.ids() {
            scene.name_rows(rows.iter().map(|&row| ids[row].clone()).collect());
        }
        if rows.len() < space.len() {
            scene.fields.insert("numbers".into(), json!(packed::rows(rows.iter().copied())));
        }
        let room = VALUES_BYTES / (4 * rows.len().max(1));
        let room = room.clamp(2, COLUMNS_MAX);
        if let Some(origin) = space.origin() {
            for column in origin.frame.columns().iter().take(room) {
                match &column.values {
                    Values::Numbers(values) => {
                        scene.column(&column.name, rows.iter().map(|&row| values[row]));
                    }
                    Values::Times(values) => {
                        let text = |value: f64| if value.is_nan() { String::new() } else { date(value) };
                        scene.texts(&column.name, rows.iter().map(|&row| text(values[row])));
                    }
                    Values::Categories(texts) => {
                        let text = |row: &usize| texts.text(*row).unwrap_or_default().to_owned();
                        scene.texts(&column.name, rows.iter().map(text));
                    }
                }
            }
        } else if !space.has_many_columns() {
            // Rows are read one by one because they may be in a file. Only the columns of the report are kept, because
            // all columns may exceed the memory.
            let names = &space.columns()[..room.min(space.columns().len())];
            let mut columns: Vec<Vec<f32>> = names.iter().map(|_| Vec::with_capacity(rows.len())).collect();
            for &row in rows {
                let values = space.row(row);
                columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value as f32));
            }
            for (name, values) in names.iter().zip(columns) {
                scene.column(name, values.into_iter().map(f64::from));
            }
        }
        if let Some(smiles) = space.smiles() {
            scene.texts("smiles", rows.iter().map(|&row| smiles[row].clone()));
        }
        if let (Some(column), Some(values)) = (weights, space.weights()) {
            scene.column(column, rows.iter().map(|&row| values[row]));
        }
        scene
    }

    /// Sets the names of the points, unless the names take too many bytes.
    pub fn name_rows(&mut self, ids: Vec<String>) {
        if ids.iter().map(String::len).sum::<usize>() <= NAMES_BYTES {
            self.fields.insert("ids".into(), Value::Array(ids.into_iter().map(Value::String).collect()));
        }
    }

    /// Adds a column of numbers.
    pub fn column(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.columns.push(named(name, "values", Value::String(packed::floats(values))));
    }

    /// Adds a column of texts.
    pub fn texts(&mut self, name: &str, texts: impl Iterator<Item = String>) {
        self.columns.push(named(name, "texts", Value::Array(texts.map(Value::String).collect())));
    }

    /// Adds a grouping of the points: the group of each point ([`u32::MAX`] for none), and the names of the groups if
    /// they have names.
    pub fn grouping(&mut self, title: &str, of: impl Iterator<Item = u32>, names: Option<&[String]>) {
        let mut grouping = json!({ "title": title, "of": packed::labels(of) });
        if let Some(names) = names {
            grouping["names"] = json!(names);
        }
        self.groupings.push(grouping);
    }

    /// Adds a short description of each group in the last grouping.
    pub fn about_groups(&mut self, about: Vec<&str>) {
        if let Some(grouping) = self.groupings.last_mut() {
            grouping["about"] = json!(about);
        }
    }

    /// Adds the probability of each point's group in the last grouping.
    pub fn probabilities(&mut self, probabilities: impl Iterator<Item = f64>) {
        if let Some(grouping) = self.groupings.last_mut() {
            grouping["probability"] = Value::String(packed::probabilities(probabilities));
        }
    }

    /// Adds to the last grouping the mean probability of each group over all rows. If known, also adds the groups with
    /// which each group merges first.
    pub fn certainty_of_groups(&mut self, means: Vec<f64>, partners: &[String]) {
        if let Some(grouping) = self.groupings.last_mut() {
            grouping["means"] = json!(means);
            if !partners.is_empty() {
                grouping["partners"] = json!(partners);
            }
        }
    }

    /// Adds to the last grouping how the groups merge as the number of groups falls. For each group, `joined` has the
    /// group that absorbs it, and the number of groups that remain after this merge.
    pub fn joined_groups(&mut self, joined: &[Option<Joined>]) {
        if let Some(grouping) = self.groupings.last_mut()
            && joined.iter().any(Option::is_some)
        {
            let pair = |joined: &Option<Joined>| joined.map(|joined| [joined.into, joined.left]);
            grouping["joins"] = json!(joined.iter().map(pair).collect::<Vec<_>>());
        }
    }

    /// Sets the column by which the points are coloured at first if they have no groups.
    pub fn coloured_by(&mut self, column: &str) {
        self.fields.insert("colour".into(), json!(format!("column:{column}")));
    }

    /// Sets the id of the table whose rows describe the groups.
    pub fn with_table(&mut self, id: &str) {
        self.fields.insert("table".into(), json!(id));
    }

    /// Adds the layout of a picture. `beyond` has further fields of the layout.
    pub fn picture(&mut self, picture: &Picture, beyond: Value) {
        let of = |axis| picture.points.iter().map(move |point| if axis == 0 { point.0 } else { point.1 });
        let axes = [0, 1].map(|axis| self.axis(of(axis)));
        let mut layout = json!({
            "key": "picture",
            "title": picture.title,
            "names": picture.names,
            "axes": axes,
            "isEqual": picture.is_equal,
            "note": picture.note,
        });
        if picture.degrees {
            layout["degrees"] = json!({ "breaks": picture.breaks });
            layout["stretch"] = json!([picture.narrowing, 1.0]);
        }
        merge(&mut layout, beyond);
        self.layouts.push(layout);
    }

    /// Packs the positions along an axis. If a column has the same values, returns the column's index in place of them.
    fn axis(&self, values: impl Iterator<Item = f64>) -> Value {
        let packed = Value::String(packed::floats(values));
        let same = self.columns.iter().position(|column| column.get("values") == Some(&packed));
        same.map_or(packed, |column| json!(column))
    }

    /// Adds a layout of positions with two or three coordinates in the same unit. `beyond` has further fields of the
    /// layout.
    pub fn places(&mut self, title: &str, names: &[&str], places: &[Vec<f64>], beyond: Value) {
        let axes: Vec<Value> = (0..names.len()).map(|axis| self.axis(places.iter().map(|place| place[axis]))).collect();
        let mut layout = json!({ "key": "places", "title": title, "names": names, "axes": axes, "isEqual": true });
        merge(&mut layout, beyond);
        self.layouts.push(layout);
    }

    /// Returns the scene as JSON, in the form that the script draws.
    pub fn figure(self) -> Value {
        let Self { rows, mut fields, columns, groupings, layouts } = self;
        fields.insert("kind".into(), json!("scene"));
        fields.insert("rows".into(), json!(rows));
        fields.insert("columns".into(), Value::Array(columns));
        fields.insert("groupings".into(), Value::Array(groupings));
        fields.insert("layouts".into(), Value::Array(layouts));
        Value::Object(fields)
    }
}

/// Returns a column as JSON, without copying the values as the macro `json!` would.
fn named(name: &str, key: &str, values: Value) -> Value {
    Value::Object(Map::from_iter([("name".to_owned(), json!(name)), (key.to_owned(), values)]))
}

fn merge(layout: &mut Value, beyond: Value) {
    if let (Value::Object(layout), Value::Object(beyond)) = (layout, beyond) {
        layout.extend(beyond);
    }
}
