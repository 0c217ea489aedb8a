//! The table from which prepared rows were made, and the descriptions of its columns: the role and the use of each.

use lehr_data::describe::{ColumnAccount, Facts, NumberFacts, Role};
use lehr_data::frame::{DataFrame, date};
use lehr_data::preparation::{ColumnUse, Preparation};
use serde::Serialize;

use crate::numbers::{counted, left_aligned, significant};

/// The table from which prepared rows were made.
#[derive(Clone, Debug)]
pub struct Origin {
    /// All columns of the table, without the rows that were left out.
    pub frame: DataFrame,
    /// The descriptions of the columns.
    pub accounts: Vec<ColumnAccount>,
    /// The use of the columns.
    pub preparation: Preparation,
    /// The rows without a value in any used column, in ascending order, if missing values were filled. They have the
    /// weight 0 and get no label.
    pub without_values: Vec<usize>,
    /// The decisions about the table and its rows, each as a sentence.
    pub notes: Vec<String>,
}

/// The facts about a column for `summary.json`.
#[derive(Serialize)]
pub(crate) struct ColumnFacts<'a> {
    #[serde(flatten)]
    account: &'a ColumnAccount,
    is_used: bool,
    how: &'a str,
}

impl Origin {
    /// Returns a header, and a line for each column: name, role, notation, missing values, range, use.
    pub fn lines(&self) -> Vec<[String; 6]> {
        account_lines(&self.accounts, Some(&self.preparation.uses))
    }

    /// Returns the facts about each column and its use.
    pub(crate) fn column_facts(&self) -> Vec<ColumnFacts<'_>> {
        let uses = self.accounts.iter().zip(&self.preparation.uses);
        uses.map(|(account, used)| ColumnFacts { account, is_used: used.is_used, how: &used.how }).collect()
    }
}

/// Describes the columns of a table, one per line, with their use if it is decided.
///
/// # Panics
/// Panics if the numbers of uses and descriptions differ.
///
/// # Example
/// ```
/// use lehr_data::describe::describe_columns;
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_methods::origin::account_text;
/// let frame = DataFrame::new("t", vec![FrameColumn::numbers("height", vec![1.7, 1.8, f64::NAN, 1.6])])?;
/// let text = account_text(&describe_columns(&frame), None);
/// assert!(text.lines().nth(1).unwrap().contains("25 %"), "{text}");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn account_text(accounts: &[ColumnAccount], uses: Option<&[ColumnUse]>) -> String {
    left_aligned(&account_lines(accounts, uses))
}

/// Returns a header, and a line for each column: name, role, notation, missing values, range, use.
fn account_lines(accounts: &[ColumnAccount], uses: Option<&[ColumnUse]>) -> Vec<[String; 6]> {
    let mut lines = vec![["column", "role", "read as", "missing", "range", "use"].map(str::to_owned)];
    for (index, account) in accounts.iter().enumerate() {
        let missing = match account.missing {
            0 => "-".to_owned(),
            missing => format!("{} %", significant(100.0 * missing as f64 / account.rows as f64, 2)),
        };
        let how = uses.map(|uses| &uses[index].how).or(account.reason.as_ref()).cloned().unwrap_or_default();
        let (role, read_as) = (account.role.to_string(), account.read_as.to_string());
        lines.push([account.name.clone(), role, read_as, missing, range(account), how]);
    }
    lines
}

/// Returns the smallest and the largest value of a column; for a column of texts, the number of different texts.
pub fn range(account: &ColumnAccount) -> String {
    match &account.facts {
        Facts::None => String::new(),
        Facts::Numbers(NumberFacts { low, high, .. }) => {
            format!("{} to {}", significant(*low, 3), significant(*high, 3))
        }
        Facts::Times { low, high } => format!("{} to {}", date(*low), date(*high)),
        Facts::Levels(levels) if account.role == Role::Constant => {
            levels.first().map(|(text, _)| text.clone()).unwrap_or_default()
        }
        Facts::Levels(_) => counted(account.distinct as u64, "text"),
    }
}
