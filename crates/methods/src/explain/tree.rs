//! A small decision tree that predicts a row's cluster from one column at a time.
//!
//! Source: classification trees (Breiman et al. 1984) with Gini impurity. The next leaf to be split is the leaf whose
//! split lowers the impurity most. The tree is complete when it reproduces nearly all labels, or when it has as many
//! leaves as a reader can follow.

use lehr_data::frame::Values;
use lehr_mining::drawn::drawn;
use serde::Serialize;

use super::columns::Shown;

/// The maximum number of rows from which the tree is grown.
const GROWN_ON: usize = 10_000;
/// The maximum number of leaves for each cluster.
const LEAVES_A_CLUSTER: usize = 3;
/// The maximum number of leaves in total.
const LEAVES_MOST: usize = 40;
/// The share of reproduced labels at which the tree stops growing.
const GOOD: f64 = 0.98;

/// Rules that reproduce the labels of the clusters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tree {
    /// The share of rows whose cluster the rules reproduce, among all rows that belong to a cluster.
    pub accuracy: f64,
    /// The rules; exactly one applies to each row.
    pub rules: Vec<Rule>,
}

/// The condition that the rows of a leaf meet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// The conditions in words, such as `revenue > 812`. All of them hold for the rows of the rule.
    pub conditions: Vec<String>,
    /// The cluster to which most rows of the rule belong.
    pub cluster: usize,
    /// The number of rows to which the rule applies.
    pub rows: usize,
    /// The share of these rows that belong to the cluster.
    pub purity: f64,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// The value is at most this number.
    AtMost(f64),
    /// The text has this index.
    Is(usize),
}

struct Split {
    column: usize,
    test: Test,
    /// Whether rows without a value pass the test.
    takes_gaps: bool,
    gain: f64,
}

/// One step from the root to a leaf.
#[derive(Clone)]
struct Condition {
    column: usize,
    test: Test,
    /// Whether the rows of the leaf pass the test.
    holds: bool,
    /// Whether rows without a value also belong to the leaf.
    takes_gaps: bool,
}

struct Leaf {
    rows: Vec<u32>,
    conditions: Vec<Condition>,
    best: Option<Split>,
}

impl Tree {
    /// Grows a tree on some columns for the labels of the rows, ignoring rows without a label. Returns `None` if there
    /// are fewer than two clusters, no columns, or no labelled rows.
    pub(super) fn grow(columns: &[Shown<'_>], labels: &[Option<usize>], clusters: usize) -> Option<Self> {
        let labelled: Vec<u32> = (0..labels.len()).filter(|row| labels[*row].is_some()).map(|row| row as u32).collect();
        if clusters < 2 || columns.is_empty() || labelled.is_empty() {
            return None;
        }
        let rows: Vec<u32> = drawn(labelled.len(), GROWN_ON).into_iter().map(|place| labelled[place]).collect();
        let grower = Grower { columns, labels, clusters };
        let total = rows.len() as f64;
        let mut leaves = vec![grower.leaf(rows, Vec::new())];
        let most = (LEAVES_A_CLUSTER * clusters).clamp(4, LEAVES_MOST);
        while leaves.len() < most {
            let repeated: usize = leaves.iter().map(|leaf| grower.majority(&leaf.rows).1).sum();
            let gain = |leaf: &Leaf| leaf.best.as_ref().map_or(0.0, |split| split.gain);
            let next = (0..leaves.len()).max_by(|a, b| gain(&leaves[*a]).total_cmp(&gain(&leaves[*b])).then(b.cmp(a)));
            let Some(at) = next.filter(|at| gain(&leaves[*at]) > 1e-9 * total) else { break };
            if repeated as f64 >= GOOD * total {
                break;
            }
            let leaf = leaves.swap_remove(at);
            leaves.extend(grower.divide(leaf));
        }
        leaves.sort_by_cached_key(|leaf| grower.majority(&leaf.rows).0);
        let majorities: Vec<usize> = leaves.iter().map(|leaf| grower.majority(&leaf.rows).0).collect();
        let mut counts = vec![(0usize, 0usize); leaves.len()];
        for row in &labelled {
            let at = leaves.iter().position(|leaf| grower.belongs(leaf, *row)).expect("each row has one leaf");
            counts[at].0 += 1;
            counts[at].1 += usize::from(labels[*row as usize] == Some(majorities[at]));
        }
        let repeated: usize = counts.iter().map(|(_, right)| right).sum();
        let rule = |((leaf, cluster), (rows, right)): ((&Leaf, &usize), &(usize, usize))| Rule {
            conditions: grower.words(&leaf.conditions),
            cluster: *cluster,
            rows: *rows,
            purity: *right as f64 / (*rows).max(1) as f64,
        };
        let rules = leaves.iter().zip(&majorities).zip(&counts).map(rule).collect();
        Some(Self { accuracy: repeated as f64 / labelled.len() as f64, rules })
    }
}

struct Grower<'a> {
    columns: &'a [Shown<'a>],
    labels: &'a [Option<usize>],
    clusters: usize,
}

impl Grower<'_> {
    fn leaf(&self, rows: Vec<u32>, conditions: Vec<Condition>) -> Leaf {
        let best = self.best(&rows);
        Leaf { rows, conditions, best }
    }

    fn label(&self, row: u32) -> usize {
        self.labels[row as usize].expect("rows without a label are left out")
    }

    /// Returns the most frequent cluster, with the lowest number if several are equally frequent, and the number of its
    /// rows.
    fn majority(&self, rows: &[u32]) -> (usize, usize) {
        let mut counts = vec![0; self.clusters];
        rows.iter().for_each(|row| counts[self.label(*row)] += 1);
        let most = (0..self.clusters).max_by_key(|k| (counts[*k], self.clusters - k)).unwrap_or(0);
        (most, counts[most])
    }

    /// Returns whether a row passes a test; `None` if it has no value.
    fn goes(&self, column: usize, test: &Test, row: u32) -> Option<bool> {
        let row = row as usize;
        match (test, &self.columns[column].column.values) {
            (Test::AtMost(bound), Values::Numbers(values) | Values::Times(values)) => {
                (!values[row].is_nan()).then(|| values[row] <= *bound)
            }
            (Test::Is(level), Values::Categories(texts)) => texts.code(row).map(|code| code == *level),
            _ => None,
        }
    }

    /// Returns whether a row is in a leaf.
    fn belongs(&self, leaf: &Leaf, row: u32) -> bool {
        leaf.conditions.iter().all(|Condition { column, test, holds, takes_gaps }| {
            self.goes(*column, test, row).map_or(*takes_gaps, |goes| goes == *holds)
        })
    }

    fn divide(&self, leaf: Leaf) -> [Leaf; 2] {
        let Split { column, test, takes_gaps, .. } = leaf.best.expect("a leaf that can be divided");
        let (yes, no): (Vec<u32>, Vec<u32>) =
            leaf.rows.iter().partition(|row| self.goes(column, &test, **row).unwrap_or(takes_gaps));
        let with = |holds: bool| {
            let mut conditions = leaf.conditions.clone();
            conditions.push(Condition { column, test: test.clone(), holds, takes_gaps: holds == takes_gaps });
            conditions
        };
        let (if_yes, if_no) = (with(true), with(false));
        [self.leaf(yes, if_yes), self.leaf(no, if_no)]
    }

    /// Returns the split that lowers the impurity most. If several are equal, returns the first.
    fn best(&self, rows: &[u32]) -> Option<Split> {
        let splits = (0..self.columns.len()).filter_map(|column| match &self.columns[column].column.values {
            Values::Numbers(values) | Values::Times(values) => self.best_bound(column, values, rows),
            Values::Categories(texts) => self.best_level(column, texts.levels().len(), rows),
        });
        splits.reduce(|best, split| if split.gain > best.gain { split } else { best })
    }

    fn counts<'r>(&self, rows: impl IntoIterator<Item = &'r u32>) -> Vec<f64> {
        let mut counts = vec![0.0; self.clusters];
        rows.into_iter().for_each(|row| counts[self.label(*row)] += 1.0);
        counts
    }

    fn best_bound(&self, column: usize, values: &[f64], rows: &[u32]) -> Option<Split> {
        let value = |row: &u32| values[*row as usize];
        let mut sorted: Vec<u32> = rows.iter().copied().filter(|row| !value(row).is_nan()).collect();
        sorted.sort_unstable_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
        let all = self.counts(&sorted);
        let mut left = vec![0.0; self.clusters];
        let whole = purity(&all);
        let mut best: Option<(f64, f64, usize)> = None;
        for (index, pair) in sorted.windows(2).enumerate() {
            left[self.label(pair[0])] += 1.0;
            let (low, high) = (value(&pair[0]), value(&pair[1]));
            if low == high {
                continue;
            }
            let right: Vec<f64> = all.iter().zip(&left).map(|(all, left)| all - left).collect();
            let gain = purity(&left) + purity(&right) - whole;
            if best.is_none_or(|(best, ..)| gain > best) {
                best = Some((gain, between(low, high), index + 1));
            }
        }
        let (gain, bound, count) = best?;
        Some(Split { column, test: Test::AtMost(bound), takes_gaps: 2 * count > sorted.len(), gain })
    }

    fn best_level(&self, column: usize, levels: usize, rows: &[u32]) -> Option<Split> {
        let Values::Categories(texts) = &self.columns[column].column.values else { return None };
        let mut of_levels = vec![vec![0.0; self.clusters]; levels];
        let mut all = vec![0.0; self.clusters];
        for row in rows {
            if let Some(code) = texts.code(*row as usize) {
                of_levels[code][self.label(*row)] += 1.0;
                all[self.label(*row)] += 1.0;
            }
        }
        let (total, whole) = (all.iter().sum::<f64>(), purity(&all));
        let gains = of_levels.iter().enumerate().filter_map(|(level, inside)| {
            let count: f64 = inside.iter().sum();
            let outside: Vec<f64> = all.iter().zip(inside).map(|(all, inside)| all - inside).collect();
            let gain = purity(inside) + purity(&outside) - whole;
            (count > 0.0 && count < total).then_some((gain, level, 2.0 * count > total))
        });
        let (gain, level, takes_gaps) = gains.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        Some(Split { column, test: Test::Is(level), takes_gaps, gain })
    }

    /// Describes conditions in words. If a column has several bounds, describes only the tightest.
    fn words(&self, conditions: &[Condition]) -> Vec<String> {
        let mut words = Vec::new();
        for (column, shown) in self.columns.iter().enumerate() {
            let of_column = || conditions.iter().filter(move |condition| condition.column == column);
            let bound = |wanted: bool| {
                of_column().filter_map(move |condition| match condition.test {
                    Test::AtMost(bound) if condition.holds == wanted => Some(bound),
                    _ => None,
                })
            };
            let or_missing = match shown.column.missing() > 0 && of_column().all(|condition| condition.takes_gaps) {
                true => " or missing",
                false => "",
            };
            let low = bound(false).reduce(f64::max);
            let high = bound(true).reduce(f64::min);
            let name = shown.name();
            match (low, high) {
                (Some(low), Some(high)) => {
                    words.push(format!("{} < {name} <= {}{or_missing}", shown.value(low), shown.value(high)));
                }
                (Some(low), None) => words.push(format!("{name} > {}{or_missing}", shown.value(low))),
                (None, Some(high)) => words.push(format!("{name} <= {}{or_missing}", shown.value(high))),
                (None, None) => {}
            }
            let levels = of_column().filter_map(|condition| match condition.test {
                Test::Is(level) => Some((level, condition.holds)),
                Test::AtMost(_) => None,
            });
            let levels: Vec<(usize, bool)> = levels.collect();
            match levels.iter().find(|(_, holds)| *holds) {
                Some((level, _)) => words.push(format!("{name} is {}{or_missing}", shown.level(*level))),
                None => words.extend(levels.iter().map(|(level, _)| format!("{name} is not {}", shown.level(*level)))),
            }
        }
        words
    }
}

/// Returns the sum of squared counts divided by the sum of counts: a larger value means a purer leaf.
fn purity(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    if total > 0.0 { counts.iter().map(|count| count * count).sum::<f64>() / total } else { 0.0 }
}

/// Returns a number between two others with as few digits as possible.
fn between(low: f64, high: f64) -> f64 {
    let middle = low / 2.0 + high / 2.0;
    let short = (0..17).map(|digits| format!("{middle:.digits$e}").parse().unwrap_or(middle));
    short.into_iter().find(|bound| low <= *bound && *bound < high).unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use lehr_data::frame::FrameColumn;

    use super::*;

    #[test]
    fn rules_that_made_the_labels_are_found_again() {
        let rows = 0..600usize;
        let x: Vec<f64> = rows.clone().map(|row| (row % 100) as f64).collect();
        let city: Vec<&str> = rows.clone().map(|row| ["Bern", "Basel", "Chur"][row / 7 % 3]).collect();
        let labels: Vec<Option<usize>> = rows
            .map(|row| {
                Some(if x[row] > 41.0 {
                    0
                } else if city[row] == "Bern" {
                    1
                } else {
                    2
                })
            })
            .collect();
        let columns = [FrameColumn::texts("city", &city), FrameColumn::numbers("x", x)];
        let shown: Vec<Shown<'_>> = columns.iter().map(Shown::plain).collect();
        let tree = Tree::grow(&shown, &labels, 3).unwrap();
        assert_eq!(tree.accuracy, 1.0);
        let rules: Vec<(String, usize)> =
            tree.rules.iter().map(|rule| (rule.conditions.join(" and "), rule.cluster)).collect();
        assert_eq!(
            rules,
            [
                ("x > 41.5".to_owned(), 0),
                ("city is Bern and x <= 41.5".to_owned(), 1),
                ("city is not Bern and x <= 41.5".to_owned(), 2)
            ]
        );
        assert_eq!(tree.rules.iter().map(|rule| rule.rows).sum::<usize>(), 600);
    }

    #[test]
    fn rows_without_a_value_are_in_the_leaf_that_says_so() {
        // Half of the rows lack x, and these rows are in the larger cluster.
        let x: Vec<f64> = (0..300).map(|row| if row % 2 == 0 { f64::NAN } else { f64::from(row % 5) }).collect();
        let labels: Vec<Option<usize>> = x.iter().map(|x| Some(usize::from(*x < 1.5))).collect();
        let column = FrameColumn::numbers("x", x);
        let tree = Tree::grow(&[Shown::plain(&column)], &labels, 2).unwrap();
        let rules: Vec<(&str, usize, usize, f64)> =
            tree.rules.iter().map(|rule| (&*rule.conditions[0], rule.cluster, rule.rows, rule.purity)).collect();
        assert_eq!(rules, [("x > 1.5 or missing", 0, 240, 1.0), ("x <= 1.5", 1, 60, 1.0)]);
        assert_eq!(tree.accuracy, 1.0);
    }

    #[test]
    fn one_cluster_and_no_column_have_no_tree() {
        let column = FrameColumn::numbers("x", vec![1.0, 2.0]);
        assert!(Tree::grow(&[Shown::plain(&column)], &[Some(0), Some(0)], 1).is_none());
        assert!(Tree::grow(&[], &[Some(0), Some(1)], 2).is_none());
    }

    #[test]
    fn a_bound_has_few_digits_and_divides() {
        assert_eq!(between(3.0, 4.0), 3.5);
        assert_eq!(between(1234.0, 1901.0), 1600.0);
        assert_eq!(between(0.1, 0.1000001), 0.1);
    }
}
