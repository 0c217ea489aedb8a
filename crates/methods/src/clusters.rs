//! Clusters with centres in files and messages, for any method.

use lehr_data::write::names;

use crate::numbers::{aligned, amount, column, counted, grouped, quantity, share};
use crate::table::Table;

/// The maximum number of rows in the displayed table; `centers.csv` has all rows.
const ROWS_MAX: usize = 40;

/// The maximum number of columns of displayed centres; `centers.csv` has all columns.
const COLUMNS_MAX: usize = 6;

/// The maximum number of left-out columns that are named.
const NAMED_MAX: usize = 12;

/// Returns a line for each cluster: `cluster`, the columns, `weight`, `spread`. Centres are in the units of the
/// columns, and `facts` has the weight and the spread of each cluster. A column is renamed if its name is in `more`,
/// the columns that the caller adds.
pub(crate) fn table(
    columns: &[String],
    centers: &[Vec<f64>],
    facts: impl Iterator<Item = (f64, f64)>,
    more: &[&str],
) -> Table<'static> {
    let mut table = Table::new("centers").counts("cluster", (0..centers.len() as u64).collect());
    let own = [&["cluster", "weight", "spread"], more].concat();
    for (index, name) in names::beside(&own, columns, &[]).into_iter().enumerate() {
        table = table.numbers(name, centers.iter().map(|center| center[index]).collect());
    }
    let (weights, spreads) = facts.unzip();
    table.weights("weight", weights).numbers("spread", spreads)
}

/// Returns the result in one sentence.
pub(crate) fn headline(rows: u64, clusters: u64, root_mean_square: f64, unit: &str) -> String {
    format!(
        "{} in {}; root mean square distance to the centre {}",
        counted(rows, "row"),
        counted(clusters, "cluster"),
        quantity(root_mean_square, unit)
    )
}

/// The clusters as they are shown at the end of a run.
pub(crate) struct ClusterTable<'a> {
    /// The names of the centres' columns.
    pub columns: &'a [String],
    /// The clusters, by decreasing weight.
    pub rows: Vec<ClusterRow>,
    /// The unit of the spreads.
    pub unit: &'a str,
}

/// A cluster in the form in which it is shown.
pub(crate) struct ClusterRow {
    /// The number of rows in the cluster.
    pub rows: u64,
    /// The sum of the weights of these rows.
    pub weight: f64,
    /// The centre of the cluster, in the units of the columns.
    pub center: Vec<f64>,
    /// The root mean square distance of the cluster's rows from the centre.
    pub spread: f64,
}

impl ClusterTable<'_> {
    /// Returns the table as aligned lines of text.
    pub fn text(&self) -> String {
        let shown = self.columns.len().min(COLUMNS_MAX);
        let total: f64 = self.rows.iter().map(|row| row.weight).sum();
        let spread = if self.unit.is_empty() { "spread".to_owned() } else { format!("spread ({})", self.unit) };
        let rows = &self.rows[..self.rows.len().min(ROWS_MAX)];
        let texts = |of: &dyn Fn(&ClusterRow) -> String| rows.iter().map(of).collect::<Vec<String>>();
        let values = |of: &dyn Fn(&ClusterRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let mut columns = vec![
            ("cluster", (0..rows.len()).map(|cluster| cluster.to_string()).collect()),
            ("rows", texts(&|row| grouped(row.rows))),
            ("weight", texts(&|row| amount(row.weight))),
            ("share", texts(&|row| share(row.weight, total))),
        ];
        let named = self.columns[..shown].iter().enumerate();
        columns.extend(named.map(|(place, name)| (name.as_str(), column(&values(&|row| row.center[place]), 5))));
        columns.push((&spread, column(&values(&|row| row.spread), 4)));
        let mut text = aligned(&columns);
        let mut left = Vec::new();
        if self.rows.len() > ROWS_MAX {
            left.push(counted((self.rows.len() - ROWS_MAX) as u64, "more cluster"));
        }
        if self.columns.len() > COLUMNS_MAX {
            left.push(more_columns(&self.columns[COLUMNS_MAX..]));
        }
        if !left.is_empty() {
            text.push_str(&format!("{} in centers.csv\n", left.join(" and ")));
        }
        text
    }
}

/// Returns the number of columns that a table leaves out, and their names if there are few: `2 more columns (hue,
/// proline)`.
pub(crate) fn more_columns(left: &[String]) -> String {
    let more = counted(left.len() as u64, "more column");
    if left.len() > NAMED_MAX { more } else { format!("{more} ({})", left.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_says_what_it_leaves_out() {
        let columns: Vec<String> = (0..8).map(|column| format!("c{column}")).collect();
        let row = |weight| ClusterRow { rows: 1200, weight, center: vec![0.5; 8], spread: 2.0 };
        let table = ClusterTable { columns: &columns, rows: vec![row(3.0), row(1.0)], unit: "km" };
        let expected = "\
cluster   rows  weight   share       c0       c1       c2       c3       c4       c5  spread (km)
      0  1,200       3  75.0 %  0.50000  0.50000  0.50000  0.50000  0.50000  0.50000            2
      1  1,200       1  25.0 %  0.50000  0.50000  0.50000  0.50000  0.50000  0.50000            2
2 more columns (c6, c7) in centers.csv
";
        assert_eq!(table.text(), expected);
    }
}
