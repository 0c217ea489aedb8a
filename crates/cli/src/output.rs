//! The only file that prints. Results go to standard output, everything else to standard error.
//!
//! A reader that goes away (`lehr … | head`) ends the printing quietly; other failures to print are the environment's.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use lehr_data::LeftOut;

use crate::exit::{Failure, Kind};
use crate::folder;
use lehr_methods::numbers::{amount, column, counted, duration, grouped, quantity, share};

/// Rows of the table beyond which people are sent to `centers.csv`.
const ROWS_MAX: usize = 40;

/// Columns of centres beyond which people are sent to `centers.csv`.
const COLUMNS_MAX: usize = 6;

/// Columns that are told one by one when they are left out.
const LEFT_OUT_MAX: usize = 10;

/// Writes `text` to standard output.
///
/// # Errors
/// [`Kind::Environment`] if it cannot be written, except for a closed pipe, which is no error.
pub fn result(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Kind::Environment, format!("cannot write to standard output: {cause}")))
        }
        _ => Ok(()),
    }
}

/// Something the user should know, on standard error.
pub fn warning(message: &str) {
    say("warning", message);
}

/// Something that happened, on standard error.
pub fn note(message: &str) {
    say("note", message);
}

/// By which columns a method goes that nobody chose, and which it leaves out because they are none of numbers.
pub fn columns_taken(what: &str, taken: &[String], left_out: &[LeftOut]) {
    note(&columns_told(what, taken, left_out));
}

fn columns_told(what: &str, taken: &[String], left_out: &[LeftOut]) -> String {
    let mut text = format!("{what} {}; --columns chooses others", taken.join(", "));
    if !left_out.is_empty() {
        let told: Vec<String> = left_out.iter().take(LEFT_OUT_MAX).map(ToString::to_string).collect();
        let more = left_out.len() - told.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("\nleft out, without a number: {}{more}", told.join(", ")));
    }
    text
}

/// Why there is no result, and what to do about it, on standard error.
pub fn failure(label: &str, message: &str, hint: Option<&str>) {
    say(label, message);
    if let Some(hint) = hint {
        say("hint", hint);
    }
}

/// A line of progress, on standard error.
pub fn progress(line: &str) {
    // Nobody to tell that nobody listens: progress has no other channel.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// A line of a node's log, a document of JSON, with the time in seconds since 1970 as its first field; on standard error.
#[allow(clippy::disallowed_methods, reason = "the wall clock stamps what people read")]
pub fn log(line: &str) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (time, rest) = (since.as_secs_f64(), line.strip_prefix('{').unwrap_or(line));
    // Nobody to tell that nobody listens.
    let _ = writeln!(io::stderr().lock(), "{{\"time\":{time:.6},{rest}");
}

/// Whether a person watches standard error.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn say(label: &str, message: &str) {
    let mut lines = message.lines();
    let mut text = format!("{label}: {}\n", lines.next().unwrap_or_default());
    for line in lines {
        text.push_str(&format!("{:width$}{line}\n", "", width = label.len() + 2));
    }
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// What the table at the end of a run shows.
pub struct ClusterTable<'a> {
    /// Names of the columns that centres have.
    pub columns: &'a [String],
    /// The clusters, by falling weight.
    pub rows: Vec<ClusterRow>,
    /// The unit of spreads.
    pub unit: &'a str,
}

/// One cluster as people see it.
pub struct ClusterRow {
    /// How many input rows it has.
    pub rows: u64,
    /// The sum of their weights.
    pub weight: f64,
    /// Its centre, in the columns' units.
    pub center: Vec<f64>,
    /// Root mean square distance.
    pub spread: f64,
}

impl ClusterTable<'_> {
    /// The table as aligned lines of text.
    pub fn text(&self) -> String {
        let shown = self.columns.len().min(COLUMNS_MAX);
        let total: f64 = self.rows.iter().map(|row| row.weight).sum();
        let spread = if self.unit.is_empty() { "spread".to_owned() } else { format!("spread ({})", self.unit) };
        let mut lines = vec![vec!["cluster".to_owned(), "rows".to_owned(), "weight".to_owned(), "share".to_owned()]];
        lines[0].extend(self.columns[..shown].iter().cloned());
        lines[0].push(spread);
        let rows = &self.rows[..self.rows.len().min(ROWS_MAX)];
        let values = |of: &dyn Fn(&ClusterRow) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let mut columns: Vec<Vec<String>> = vec![
            (0..rows.len()).map(|cluster| cluster.to_string()).collect(),
            rows.iter().map(|row| grouped(row.rows)).collect(),
            rows.iter().map(|row| amount(row.weight)).collect(),
            rows.iter().map(|row| share(row.weight, total)).collect(),
        ];
        columns.extend((0..shown).map(|place| column(&values(&|row| row.center[place]), 5)));
        columns.push(column(&values(&|row| row.spread), 4));
        for cluster in 0..rows.len() {
            lines.push(columns.iter().map(|column| column[cluster].clone()).collect());
        }
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let mut text = String::new();
        for line in lines {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, &width)| format!("{cell:>width$}")).collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        let mut left = Vec::new();
        if self.rows.len() > ROWS_MAX {
            left.push(counted((self.rows.len() - ROWS_MAX) as u64, "more cluster"));
        }
        if self.columns.len() > COLUMNS_MAX {
            left.push(counted((self.columns.len() - COLUMNS_MAX) as u64, "more column"));
        }
        if !left.is_empty() {
            text.push_str(&format!("{} in centers.csv\n", left.join(" and ")));
        }
        text
    }
}

/// The line above the table: what came out, in one sentence.
pub fn headline(rows: u64, clusters: u64, root_mean_square: f64, unit: &str) -> String {
    format!(
        "{} in {}; root mean square distance to the centre {}",
        counted(rows, "row"),
        counted(clusters, "cluster"),
        quantity(root_mean_square, unit)
    )
}

/// The line below the headline where the cost of a row is none of distance.
pub fn nats(cost: f64) -> String {
    format!("by the frequencies of its cluster's bits a row has {} on average", quantity(cost, "nats"))
}

/// The line below the headline where there is a sponge: how many rows are in it.
pub fn outside(rows: u64, all: u64) -> String {
    format!("{} ({}) in no cluster, labelled -1", counted(rows, "row"), share(rows as f64, all as f64))
}

/// The line below the headline where the number of clusters was not given: which, and on what evidence.
pub fn suggested(clusters: u64, from: f64, to: f64, unit: &str) -> String {
    format!(
        "{} suggested: of all numbers it lasted over the widest range of temperatures, {} to {}",
        counted(clusters, "cluster"),
        quantity(from, unit),
        quantity(to, unit)
    )
}

/// The lines below the table: where the results are, and how long it took.
pub fn whereabouts(folder: &Path, seconds: f64) -> String {
    format!(
        "{} and {} in {} after {}\nreport: {}",
        [folder::LABELS, folder::CENTERS].join(", "),
        folder::SUMMARY,
        folder.display(),
        duration(seconds),
        folder.join(folder::REPORT).display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_left_out_are_told_with_an_example_as_far_as_they_are_few() {
        let taken = ["x".to_owned(), "y".to_owned()];
        assert_eq!(columns_told("by", &taken, &[]), "by x, y; --columns chooses others");
        let left = |column: usize| LeftOut {
            column: format!("c{column}"),
            example: "a".into(),
            has_commas: false,
            kind: None,
        };
        let left: Vec<LeftOut> = (0..12).map(left).collect();
        let told = columns_told("by", &taken, &left);
        assert!(
            told.ends_with(
                "\nleft out, without a number: c0 (\"a\"), c1 (\"a\"), c2 (\"a\"), c3 (\"a\"), c4 (\"a\"), \
            c5 (\"a\"), c6 (\"a\"), c7 (\"a\"), c8 (\"a\"), c9 (\"a\") and 2 more"
            ),
            "{told}"
        );
    }

    #[test]
    fn a_table_is_aligned_and_says_what_it_leaves_out() {
        let columns: Vec<String> = (0..8).map(|column| format!("c{column}")).collect();
        let row = |weight| ClusterRow { rows: 1200, weight, center: vec![0.5; 8], spread: 2.0 };
        let table = ClusterTable { columns: &columns, rows: vec![row(3.0), row(1.0)], unit: "km" };
        expect_test::expect![[r#"
            cluster   rows  weight   share       c0       c1       c2       c3       c4       c5  spread (km)
                  0  1,200       3  75.0 %  0.50000  0.50000  0.50000  0.50000  0.50000  0.50000            2
                  1  1,200       1  25.0 %  0.50000  0.50000  0.50000  0.50000  0.50000  0.50000            2
            2 more columns in centers.csv
        "#]]
        .assert_eq(&table.text());
    }
}
