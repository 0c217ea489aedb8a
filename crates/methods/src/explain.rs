//! Explains the differences between clusters. It gives the columns in which each cluster differs from all rows, a name,
//! a typical row, and rules that reproduce the labels.
//!
//! All columns of the table may explain clusters, even columns that the clustering did not use: such a category may be
//! the most informative column. Each difference has a test value ([`Mark::test_value`]), which shows whether the
//! difference could be chance. Its effect size ([`Mark::effect`]) shows whether the difference matters. With many rows,
//! nearly every difference is significant.

mod columns;
mod significance;
mod tree;

use lehr_data::describe::ColumnAccount;
use lehr_data::frame::{Categories, DataFrame, Values};
use lehr_numerics::compensated::Sum;
use lehr_numerics::elementary;
use serde::Serialize;

pub use tree::{Rule, Tree};

use crate::numbers::significant;
use columns::Shown;

/// The significance level for a whole table: one in twenty tables without groups shows a difference by chance.
const CHANCE: f64 = 0.05;
/// The smallest effect that appears in a name. Cohen (1988) calls an effect of 0.5 medium.
const MEDIUM: f64 = 0.5;
/// The effect below which a difference is left out.
const SMALL: f64 = 0.2;
/// The smallest ratio at which a text appears in a name: its frequency in the cluster, divided by its frequency in all
/// rows.
const LIFT: f64 = 1.5;
/// The maximum number of columns in a name. Clusters that would share a name get one more.
const NAMED_BY: usize = 2;
/// The maximum number of texts of a category that are examined; the most frequent texts come first.
const LEVELS: usize = 30;

/// The differences between the clusters of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The clusters, in the order of their numbers.
    pub clusters: Vec<Portrait>,
    /// Rules that reproduce the labels, if there are at least two clusters and a column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// The number of differences that were examined, by which probabilities are multiplied.
    pub comparisons: usize,
}

/// How one cluster differs from the rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Portrait {
    /// A suggested name, such as `high revenue, low visits`.
    pub name: String,
    /// The number of rows in the cluster.
    pub rows: usize,
    /// The marks of the cluster, largest effect first.
    pub marks: Vec<Mark>,
    /// The row nearest to the centre of the cluster.
    pub typical_row: usize,
    /// Up to three rows farthest from the centre of the cluster, farthest first.
    pub extreme_rows: Vec<usize>,
}

/// A column, or a text of a category, in which a cluster differs from all rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The column.
    pub column: String,
    /// The text, if the column is a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The mean in the cluster. It is the geometric mean if logarithms are used, in seconds since 1970 for dates, and
    /// the share of the rows for a text.
    pub inside: f64,
    /// The corresponding value over all rows that belong to a cluster.
    pub overall: f64,
    /// The significance of the difference, in standard deviations of a normal distribution; positive if the value is
    /// larger inside.
    pub test_value: f64,
    /// The probability that chance alone makes a difference of this size anywhere in the table. It is two-sided and
    /// multiplied by the number of comparisons, up to 1.
    pub probability: f64,
    /// The effect size. For numbers, it is the difference from the other rows in standard deviations (Cohen's d); for
    /// shares, the difference of their arcsines (Cohen's h). The values 0.2, 0.5 and 0.8 are small, medium and large.
    pub effect: f64,
    /// The difference in words: `revenue 1,200 (all 310)`.
    pub words: String,
}

/// The clusters to explain, and their table.
pub struct Question<'a> {
    /// The table with all its columns.
    pub frame: &'a DataFrame,
    /// The descriptions of the columns; `None` if all columns are numeric.
    pub accounts: Option<&'a [ColumnAccount]>,
    /// Returns the number added to a column before its logarithm, if the clustering used its logarithm.
    pub log_offset: &'a dyn Fn(&str) -> Option<f64>,
    /// The cluster of each row; `None` for rows without a cluster.
    pub labels: &'a [Option<usize>],
    /// The distance of each row from the centre of its cluster.
    pub distances: &'a [f64],
    /// The number of clusters.
    pub clusters: usize,
    /// Columns that do not appear in names, such as columns that the user excluded. They still appear in marks.
    pub unnamed: &'a [&'a str],
}

/// Explains clusters.
///
/// Cost: a pass over each numeric column, and a pass for each text that is examined. The tree is grown on at most
/// 10,000 rows.
///
/// # Panics
/// Panics if the number of labels or distances differs from the number of rows.
///
/// # Example
/// ```
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_methods::explain::{Question, explain};
/// let revenue: Vec<f64> = (0..40).map(|row| if row < 10 { 900.0 + f64::from(row) } else { 100.0 + f64::from(row) }).collect();
/// let frame = DataFrame::new("t", vec![FrameColumn::numbers("revenue", revenue)])?;
/// let labels: Vec<Option<usize>> = (0..40).map(|row| Some(usize::from(row < 10))).collect();
/// let question = Question { frame: &frame, accounts: None, log_offset: &|_| None, labels: &labels, distances: &[0.0; 40], clusters: 2, unnamed: &[] };
/// let explained = explain(&question);
/// assert_eq!(explained.clusters[1].name, "high revenue");
/// assert_eq!(explained.tree.unwrap().rules[1].conditions, ["revenue > 500"]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn explain(question: &Question<'_>) -> Explanation {
    let Question { frame, accounts, log_offset, labels, distances, clusters, unnamed } = *question;
    assert!(labels.len() == frame.rows() && distances.len() == frame.rows(), "one label and one distance a row");
    let columns = Shown::of(frame, accounts, log_offset);
    let mut marks: Vec<Vec<Mark>> = vec![Vec::new(); clusters];
    let mut comparisons = 0;
    for shown in &columns {
        let of_clusters = match &shown.column.values {
            Values::Numbers(values) | Values::Times(values) => of_numbers(shown, values, question),
            Values::Categories(texts) => of_texts(shown, texts, question),
        };
        comparisons += of_clusters.len();
        for (cluster, mark) in of_clusters {
            marks[cluster].push(mark);
        }
    }
    let rows = rows_of(labels, distances, clusters);
    let portraits = marks.into_iter().zip(rows).map(|(mut marks, (rows, typical_row, extreme_rows))| {
        for mark in &mut marks {
            mark.probability = (significance::two_sided(mark.test_value) * comparisons as f64).min(1.0);
        }
        marks.retain(|mark| mark.probability < CHANCE && mark.effect.abs() >= SMALL);
        marks.sort_by(|a, b| b.effect.abs().total_cmp(&a.effect.abs()));
        Portrait { name: String::new(), rows, marks, typical_row, extreme_rows }
    });
    let mut portraits: Vec<Portrait> = portraits.collect();
    name(&mut portraits, unnamed);
    Explanation { clusters: portraits, tree: Tree::grow(&columns, labels, clusters), comparisons }
}

/// Returns, for each cluster, the number of its rows, the row nearest to its centre, and the farthest rows.
fn rows_of(labels: &[Option<usize>], distances: &[f64], clusters: usize) -> Vec<(usize, usize, Vec<usize>)> {
    const EXTREMES: usize = 3;
    let mut of_clusters = vec![Vec::new(); clusters];
    for (row, label) in labels.iter().enumerate() {
        if let Some(cluster) = label {
            of_clusters[*cluster].push(row);
        }
    }
    let of_cluster = |mut rows: Vec<usize>| {
        let count = rows.len();
        let nearest = rows.iter().copied().min_by(|a, b| distances[*a].total_cmp(&distances[*b]));
        rows.sort_by(|a, b| distances[*b].total_cmp(&distances[*a]).then(a.cmp(b)));
        rows.truncate(EXTREMES.min(count.saturating_sub(1)));
        (count, nearest.unwrap_or(0), rows)
    };
    of_clusters.into_iter().map(of_cluster).collect()
}

/// Returns the marks of each cluster in a numeric column.
fn of_numbers(shown: &Shown<'_>, values: &[f64], question: &Question<'_>) -> Vec<(usize, Mark)> {
    let clusters = question.clusters;
    let taken = |row: usize| match shown.log_offset {
        Some(offset) => elementary::ln(values[row] + offset),
        None => values[row],
    };
    let back = |value: f64| shown.log_offset.map_or(value, |offset| elementary::exp(value) - offset);
    let there =
        || (0..values.len()).filter_map(|row| Some((question.labels[row]?, taken(row)))).filter(|(_, x)| x.is_finite());
    let mut sums = vec![(0.0f64, Sum::default()); clusters];
    for (cluster, value) in there() {
        sums[cluster].0 += 1.0;
        sums[cluster].1.add(value);
    }
    let all: f64 = sums.iter().map(|(count, _)| count).sum();
    let mean = sums.iter().map(|(_, sum)| sum.value()).sum::<f64>() / all;
    let means: Vec<f64> = sums.iter().map(|(count, sum)| sum.value() / count).collect();
    let mut squares = (Sum::default(), vec![Sum::default(); clusters]);
    for (cluster, value) in there() {
        squares.0.add((value - mean).powi(2));
        squares.1[cluster].add((value - means[cluster]).powi(2));
    }
    let total = squares.0.value();
    let of_cluster = |(cluster, (count, _)): (usize, &(f64, Sum))| {
        let (inside, outside) = (*count, all - count);
        if inside == 0.0 || outside == 0.0 || total <= 0.0 {
            return None;
        }
        let rest = (mean * all - means[cluster] * inside) / outside;
        // The spread of the other rows about the mean of these rows.
        let within = squares.1[cluster].value();
        let scatter =
            (total - within - inside * (means[cluster] - mean).powi(2) - outside * (rest - mean).powi(2)).max(0.0);
        let pooled = ((within + scatter) / all).sqrt();
        let difference = means[cluster] - rest;
        let far = 1e3 * difference.signum();
        let effect = if pooled * 1e3 > difference.abs() { difference / pooled } else { far };
        let (inside_mean, overall) = (back(means[cluster]), back(mean));
        // The word `typically` marks a geometric mean, which readers would not expect.
        let typically = if shown.log_offset.is_some() { " typically" } else { "" };
        let words = format!("{}{typically} {} (all {})", shown.name(), shown.value(inside_mean), shown.value(overall));
        let test_value = significance::of_mean(means[cluster], inside, mean, total / all, all);
        let column = shown.name().to_owned();
        Some((
            cluster,
            Mark { column, level: None, inside: inside_mean, overall, test_value, probability: 1.0, effect, words },
        ))
    };
    sums.iter().enumerate().filter_map(of_cluster).collect()
}

/// Returns the marks of each cluster in the texts of a category.
fn of_texts(shown: &Shown<'_>, texts: &Categories, question: &Question<'_>) -> Vec<(usize, Mark)> {
    let (levels, clusters) = (texts.levels().len(), question.clusters);
    let mut counts = vec![vec![0u64; clusters]; levels];
    for (row, label) in question.labels.iter().enumerate() {
        if let (Some(cluster), Some(code)) = (label, texts.code(row)) {
            counts[code][*cluster] += 1;
        }
    }
    let inside: Vec<u64> = (0..clusters).map(|cluster| counts.iter().map(|level| level[cluster]).sum()).collect();
    let all: u64 = inside.iter().sum();
    let mut order: Vec<usize> = (0..levels).collect();
    let of_level = |level: &usize| counts[*level].iter().sum::<u64>();
    order.sort_by(|a, b| of_level(b).cmp(&of_level(a)).then(a.cmp(b)));
    order.truncate(LEVELS);
    let mut marks = Vec::new();
    for level in order {
        let hits = of_level(&level);
        for cluster in 0..clusters {
            if inside[cluster] == 0 || inside[cluster] == all || hits == 0 || hits == all {
                continue;
            }
            let share = |hits: u64, of: u64| hits as f64 / of as f64;
            let here = counts[level][cluster];
            let (within, overall) = (share(here, inside[cluster]), share(hits, all));
            let outside = share(hits - here, all - inside[cluster]);
            let arc = |share: f64| 2.0 * libm::asin(share.sqrt());
            let per_cent = |share: f64| format!("{:.0} %", 100.0 * share);
            let name = format!("{} = {}", shown.name(), shown.level(level));
            let words = format!("{name} {} (all {})", per_cent(within), per_cent(overall));
            let mark = Mark {
                column: shown.name().to_owned(),
                level: Some(shown.level(level).to_owned()),
                inside: within,
                overall,
                test_value: significance::of_share(here, inside[cluster], hits, all),
                probability: 1.0,
                effect: arc(within) - arc(outside),
                words,
            };
            marks.push((cluster, mark));
        }
    }
    marks
}

/// Names clusters by their strongest marks. Clusters with the same name get one more column in the name, or otherwise a
/// number.
fn name(portraits: &mut [Portrait], unnamed: &[&str]) {
    let one = portraits.len() == 1;
    for index in 0..portraits.len() {
        portraits[index].name =
            if one { "all rows".to_owned() } else { named_by(&portraits[index].marks, NAMED_BY, unnamed) };
    }
    // Clusters that share a name get one more column in the name, or a number.
    for index in 0..portraits.len() {
        let shares =
            |name: &str, portraits: &[Portrait]| portraits.iter().filter(|other| other.name == name).count() > 1;
        let common = portraits[index].name.clone();
        if !shares(&common, portraits) {
            continue;
        }
        let same: Vec<usize> = (0..portraits.len()).filter(|other| portraits[*other].name == common).collect();
        for other in &same {
            portraits[*other].name = named_by(&portraits[*other].marks, NAMED_BY + 1, unnamed);
        }
        for (place, other) in same.iter().enumerate().skip(1) {
            if same[..place].iter().any(|before| portraits[*before].name == portraits[*other].name) {
                portraits[*other].name = format!("{} ({})", portraits[*other].name, place + 1);
            }
        }
    }
}

/// Returns a name from the columns with the largest effects. Uses each column once. For a category, only a text that is
/// clearly more frequent in the cluster than elsewhere is used. A rare text is uninformative, and so is a common text
/// that is only slightly more frequent.
fn named_by(marks: &[Mark], most: usize, unnamed: &[&str]) -> String {
    let mut columns: Vec<&str> = Vec::new();
    let mut words = Vec::new();
    let with =
        |least: f64| marks.iter().filter(move |mark| mark.effect.abs() >= least && !unnamed.contains(&&*mark.column));
    let candidates: Vec<&Mark> =
        if with(MEDIUM).next().is_some() { with(MEDIUM).collect() } else { with(SMALL).take(1).collect() };
    for mark in candidates {
        let is_common_text = mark.level.is_some() && mark.inside < LIFT * mark.overall;
        if is_common_text || columns.contains(&&*mark.column) {
            continue;
        }
        columns.push(&mark.column);
        words.push(match &mark.level {
            Some(level) => format!("{} {level}", mark.column),
            None if mark.effect > 0.0 => format!("high {}", mark.column),
            None => format!("low {}", mark.column),
        });
        if words.len() == most {
            break;
        }
    }
    if words.is_empty() { "like the average".to_owned() } else { words.join(", ") }
}

impl Portrait {
    /// Returns the marks of the cluster in one line.
    pub fn line(&self, most: usize) -> String {
        let marks: Vec<&str> = self.marks.iter().take(most).map(|mark| &*mark.words).collect();
        if marks.is_empty() { "nothing sets it apart".to_owned() } else { marks.join("; ") }
    }
}

impl Tree {
    /// Returns the rules, one per line, and the share of rows for which they hold.
    pub fn text(&self) -> String {
        let rule = |rule: &Rule| {
            let conditions =
                if rule.conditions.is_empty() { "always".to_owned() } else { rule.conditions.join(" and ") };
            format!("{conditions}: cluster {} ({} rows, {:.0} %)", rule.cluster, rule.rows, 100.0 * rule.purity)
        };
        let rules: Vec<String> = self.rules.iter().map(rule).collect();
        format!("{}\nthese rules repeat {} % of the labels\n", rules.join("\n"), significant(100.0 * self.accuracy, 3))
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::describe::describe_columns;
    use lehr_data::frame::FrameColumn;

    use super::*;

    fn asked(frame: &DataFrame, labels: &[Option<usize>], clusters: usize, logs: bool) -> Explanation {
        let distances: Vec<f64> = (0..frame.rows()).map(|row| row as f64).collect();
        let accounts = describe_columns(frame);
        let log_offset = move |_: &str| logs.then_some(0.0);
        explain(&Question {
            frame,
            accounts: Some(&accounts),
            log_offset: &log_offset,
            labels,
            distances: &distances,
            clusters,
            unnamed: &[],
        })
    }

    fn shop() -> (DataFrame, Vec<Option<usize>>) {
        let rows = 0..300usize;
        let group = |row: usize| row / 100;
        let revenue =
            rows.clone().map(|row| [1.0, 10.0, 100.0][group(row)] * (1.0 + (row % 7) as f64 / 10.0)).collect();
        let visits = rows.clone().map(|row| [9.0, 2.0, 9.0][group(row)] + (row % 3) as f64).collect();
        let noise = rows.clone().map(|row| (row * 37 % 101) as f64).collect();
        let plan = rows.clone().map(|row| if group(row) == 2 && row % 10 != 0 { "gold" } else { "basic" });
        let id = rows.clone().map(|row| format!("c{row}"));
        let columns = vec![
            FrameColumn::texts("id", id),
            FrameColumn::numbers("revenue", revenue),
            FrameColumn::numbers("visits", visits),
            FrameColumn::numbers("noise", noise),
            FrameColumn::texts("plan", plan),
        ];
        (DataFrame::new("shop", columns).unwrap(), rows.map(|row| Some(group(row))).collect())
    }

    #[test]
    fn clusters_are_named_by_what_sets_them_apart() {
        let (frame, labels) = shop();
        let explained = asked(&frame, &labels, 3, false);
        let names: Vec<&str> = explained.clusters.iter().map(|portrait| &*portrait.name).collect();
        assert_eq!(names, ["low revenue, high visits", "low visits, low revenue", "high revenue, plan gold"]);
        let gold = &explained.clusters[2];
        assert!(gold.marks.iter().any(|mark| mark.words == "plan = gold 90 % (all 30 %)"), "{:?}", gold.marks);
        assert!(
            explained
                .clusters
                .iter()
                .all(|portrait| portrait.marks.iter().all(|mark| mark.column != "noise" && mark.column != "id"))
        );
        assert_eq!((gold.rows, gold.typical_row, &gold.extreme_rows[..]), (100, 200, &[299, 298, 297][..]));
        assert_eq!(explained.tree.unwrap().accuracy, 1.0);
    }

    #[test]
    fn columns_that_were_excluded_name_no_cluster() {
        let (frame, labels) = shop();
        let distances = vec![0.0; frame.rows()];
        let accounts = describe_columns(&frame);
        let (clusters, labels) = (3, &labels[..]);
        let (accounts, unnamed): (_, &[&str]) = (Some(&accounts[..]), &["revenue"]);
        let question = Question {
            frame: &frame,
            accounts,
            log_offset: &|_| None,
            labels,
            distances: &distances,
            clusters,
            unnamed,
        };
        let explained = explain(&question);
        assert!(explained.clusters.iter().all(|portrait| !portrait.name.contains("revenue")), "{explained:?}");
        assert!(explained.clusters.iter().all(|portrait| portrait.marks.iter().any(|mark| mark.column == "revenue")));
    }

    #[test]
    fn logarithms_are_told_as_geometric_means() {
        let (frame, labels) = shop();
        let explained = asked(&frame, &labels, 3, true);
        let mark = explained.clusters[2].marks.iter().find(|mark| mark.column == "revenue").unwrap();
        assert!((100.0..160.0).contains(&mark.inside) && (10.0..16.0).contains(&mark.overall), "{mark:?}");
    }

    #[test]
    fn chance_sets_nothing_apart() {
        let (frame, _) = shop();
        let noise = DataFrame::new("noise", vec![frame.column("noise").unwrap().clone()]).unwrap();
        let labels: Vec<Option<usize>> = (0..300).map(|row| (row % 5 != 4).then_some(row % 2)).collect();
        let explained = asked(&noise, &labels, 2, false);
        assert!(explained.clusters.iter().all(|portrait| portrait.marks.is_empty()));
        assert_eq!(explained.clusters[0].name, "like the average");
        assert_eq!(explained.clusters[1].name, "like the average (2)");
        assert_eq!(explained.clusters.iter().map(|portrait| portrait.rows).sum::<usize>(), 240);
    }

    #[test]
    fn a_column_that_says_all_has_a_finite_effect() {
        let frame = DataFrame::new("t", vec![FrameColumn::numbers("x", vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0])]).unwrap();
        let labels: Vec<Option<usize>> = (0..6).map(|row| Some(row / 3)).collect();
        let question = Question {
            frame: &frame,
            accounts: None,
            log_offset: &|_| None,
            labels: &labels,
            distances: &[0.0; 6],
            clusters: 2,
            unnamed: &[],
        };
        let numbers = of_numbers(&Shown::plain(&frame.columns()[0]), &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], &question);
        assert_eq!(numbers.iter().map(|(_, mark)| mark.effect).collect::<Vec<_>>(), [-1e3, 1e3]);
    }
}
