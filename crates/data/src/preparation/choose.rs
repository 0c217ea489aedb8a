//! Chooses which columns are used and how: as requested, or as the table suggests.

use super::{ColumnUse, DatePart, EXCLUDED, Feature, FeatureValue, Missing, Preparation, Wishes, month_of, weekday_of};
use crate::describe::{ColumnAccount, Facts, NumberFacts, Role, describe_columns};
use crate::error::Error;
use crate::frame::{Categories, DataFrame, FrameColumn, Values};
use crate::points::Points;
use crate::scale::{Scale, Scaling};

/// The skewness above which a column is replaced by its logarithm, if this at least halves the skewness.
const SKEWED: f64 = 1.5;
/// The share of equal values at or above which a column is left out.
const SAME: f64 = 0.95;
/// The maximum number of different values in a column of whole numbers that may be a class.
const FEW_VALUES: usize = 5;
/// The share of rows below which a text gets no feature of its own.
const RARE: f64 = 0.01;
/// The interquartile range of a normal distribution with standard deviation 1.
const NORMAL_RANGE: f64 = 1.349;
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Preparation {
    /// Decides how each column of a table is used.
    ///
    /// # Errors
    /// - [`Error::NoSuchColumns`] if a named column does not exist.
    /// - [`Error::Shape`] if a column cannot be used as requested, or if no column is left to use.
    pub fn new(frame: &DataFrame, wishes: &Wishes) -> Result<Self, Error> {
        Self::of_accounts(frame, &describe_columns(frame), wishes)
    }

    /// Decides how each column is used, from existing descriptions of the columns.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn of_accounts(frame: &DataFrame, accounts: &[ColumnAccount], wishes: &Wishes) -> Result<Self, Error> {
        check_names(frame, wishes)?;
        let auto = wishes.is_auto;
        let scale = wishes.scale.unwrap_or(if auto { Scale::Robust } else { Scale::None });
        let missing = wishes.gaps();
        let mut chosen = Vec::new();
        let mut uses = Vec::new();
        for (column, account) in frame.columns().iter().zip(accounts) {
            match decided(column, account, (frame, accounts), wishes) {
                Ok(how) => {
                    uses.push(ColumnUse { column: column.name.clone(), is_used: true, how: how.words.clone() });
                    chosen.push((column, account, how));
                }
                Err(why) => uses.push(ColumnUse { column: column.name.clone(), is_used: false, how: why }),
            }
        }
        refused(frame, wishes, &uses)?;
        if let Some(order) = &wishes.columns {
            chosen.sort_by_key(|(column, ..)| order.iter().position(|name| *name == column.name));
        }
        let mut features = Vec::new();
        for (column, account, how) in chosen {
            features.extend(features_of(column, account, &how, (scale, missing), &wishes.date_parts)?);
        }
        if features.is_empty() {
            let why: Vec<String> = uses.iter().map(|used| format!("{} ({})", used.column, used.how)).collect();
            return Err(Error::Shape {
                what: frame.name().into(),
                expected: "a column to compute with".into(),
                found: why.join(", "),
            });
        }
        Ok(Self { features, missing, scale, uses })
    }
}

/// How a column is used.
struct How {
    log_offset: Option<f64>,
    words: String,
}

/// Checks that every named column exists.
fn check_names(frame: &DataFrame, wishes: &Wishes) -> Result<(), Error> {
    frame.expect_columns(wishes.columns.iter().flatten().chain(&wishes.exclude).chain(&wishes.log))
}

/// Checks that every chosen column can be used.
fn refused(frame: &DataFrame, wishes: &Wishes, uses: &[ColumnUse]) -> Result<(), Error> {
    let is_asked_for = |name: &String| wishes.columns.iter().flatten().chain(&wishes.log).any(|asked| asked == name);
    let refused = uses.iter().find(|used| !used.is_used && is_asked_for(&used.column));
    refused.map_or(Ok(()), |used| {
        Err(Error::Shape {
            what: format!("{}, column {:?}", frame.name(), used.column),
            expected: "a column that can be used".into(),
            found: used.how.clone(),
        })
    })
}

/// Returns how a column is used, or why it is not used.
fn decided(
    column: &FrameColumn,
    account: &ColumnAccount,
    (frame, all): (&DataFrame, &[ColumnAccount]),
    wishes: &Wishes,
) -> Result<How, String> {
    let name = &column.name;
    if wishes.reserved.contains(name) {
        return Err("it names or weighs the rows".to_owned());
    }
    if wishes.exclude.contains(name) {
        return Err(EXCLUDED.to_owned());
    }
    let is_asked_for = wishes.columns.as_ref().map(|columns| columns.contains(name));
    if is_asked_for == Some(false) {
        return Err("not requested".to_owned());
    }
    let is_asked_for = is_asked_for == Some(true) || wishes.log.contains(name);
    match (&account.role, &account.facts) {
        (Role::Empty, _) => return Err("it has no value in any row".to_owned()),
        (Role::Text, _) => return Err(told("text", account)),
        _ if is_asked_for => {}
        (Role::Measure, _) => {
            if let Some(why) = too_little(column, account).filter(|_| wishes.is_auto) {
                return Err(why);
            }
        }
        (Role::Category, _) if has_no_measure(frame, all, wishes) => {}
        (Role::Category, _) => {
            return Err("a category: it explains the clusters; --columns makes it part of the distances".to_owned());
        }
        (Role::Date, Facts::Numbers(_)) => {
            return Err("a time of day: --columns makes it part of the distances, in seconds".to_owned());
        }
        (Role::Date, _) => return Err("a date: --columns makes it part of the distances, in days".to_owned()),
        (Role::Id, _) => return Err(told("identifiers", account)),
        (Role::Constant, _) => return Err("it has one value in all rows".to_owned()),
        (Role::Duplicate { of }, _) => return Err(format!("the same values as {of}")),
    }
    match (&column.values, &account.facts) {
        (Values::Numbers(_), Facts::Numbers(facts)) => {
            let mut how = logged(name, facts, wishes, account.rows)?;
            // A class written as 1, 2, 3 looks like a measure.
            if facts.is_whole && (3..=FEW_VALUES).contains(&account.distinct) && account.rows > 10 * FEW_VALUES {
                how.words = format!("{}; {} values only: --as-text makes it a category", how.words, account.distinct);
            }
            Ok(how)
        }
        (Values::Times(_), _) if wishes.log.contains(name) => Err("a date has no logarithm".to_owned()),
        (Values::Times(_), _) => Ok(How { log_offset: None, words: date_words(&wishes.date_parts) }),
        (Values::Categories(_), _) if wishes.log.contains(name) => Err("texts, which have no logarithm".to_owned()),
        (Values::Categories(_), _) => {
            Ok(How { log_offset: None, words: "a feature for each text; together they weigh as one column".to_owned() })
        }
        _ => Err("it has no value in any row".to_owned()),
    }
}

/// Returns the reason why a numeric column is not informative enough for distances: most of its values are missing, or
/// nearly all are equal.
///
/// Otherwise, filled values would make up most of a distance, and the few rows that differ would become clusters of
/// their own.
fn too_little(column: &FrameColumn, account: &ColumnAccount) -> Option<String> {
    let Values::Numbers(values) = &column.values else { return None };
    if 2 * account.missing > account.rows {
        let share = 100.0 * account.missing as f64 / account.rows as f64;
        return Some(format!("{share:.0} % of its values are missing; --columns uses it all the same"));
    }
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let longest = sorted.chunk_by(|a, b| a == b).max_by_key(|run| run.len())?;
    let share = longest.len() as f64 / sorted.len() as f64;
    (share >= SAME).then(|| {
        format!("{:.0} % of its values are {}; --columns uses it all the same", (100.0 * share).floor(), longest[0])
    })
}

fn told(what: &str, account: &ColumnAccount) -> String {
    account.reason.as_ref().map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"))
}

/// Returns whether a table has no informative measure, so that only its categories can be used.
fn has_no_measure(frame: &DataFrame, accounts: &[ColumnAccount], wishes: &Wishes) -> bool {
    wishes.is_auto
        && !frame.columns().iter().zip(accounts).any(|(column, account)| {
            let is_free = !wishes.reserved.contains(&account.name) && !wishes.exclude.contains(&account.name);
            is_free && account.role == Role::Measure && too_little(column, account).is_none()
        })
}

/// Returns whether a numeric column is replaced by its logarithm.
fn logged(name: &str, facts: &NumberFacts, wishes: &Wishes, rows: usize) -> Result<How, String> {
    if wishes.log.iter().any(|log| log == name) {
        if facts.low < 0.0 {
            return Err(format!("values below 0 (down to {}), which have no logarithm", facts.low));
        }
        return Ok(How { log_offset: Some(facts.log_offset), words: log_words(facts) });
    }
    match log_reason(facts, rows) {
        Some(reason) if wishes.is_auto => {
            Ok(How { log_offset: Some(facts.log_offset), words: format!("{}: {reason}", log_words(facts)) })
        }
        _ => Ok(How { log_offset: None, words: "unchanged".to_owned() }),
    }
}

fn date_words(parts: &[DatePart]) -> String {
    let word = |part: &DatePart| match part {
        DatePart::Days => "days",
        DatePart::Weekday => "day of the week",
        DatePart::Month => "month",
    };
    let words: Vec<&str> = parts.iter().map(word).collect();
    if words.is_empty() { "days".to_owned() } else { words.join(", ") }
}

fn log_words(facts: &NumberFacts) -> String {
    match facts.log_offset {
        0.0 => "logarithm".to_owned(),
        offset => format!("logarithm of {offset} + x"),
    }
}

/// Returns the reason why a column should be replaced by its logarithm, if it should.
///
/// # Example
/// ```
/// use lehr_data::describe::{Facts, describe_columns};
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_data::preparation::log_reason;
/// let incomes: Vec<f64> = (0..1000).map(|row| (f64::from(row) / 100.0).exp()).collect();
/// let accounts = describe_columns(&DataFrame::new("t", vec![FrameColumn::numbers("income", incomes)])?);
/// let Facts::Numbers(facts) = &accounts[0].facts else { unreachable!() };
/// assert!(log_reason(facts, 1000).is_some());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn log_reason(facts: &NumberFacts, rows: usize) -> Option<String> {
    let in_logs = facts.log_skewness?;
    if facts.skewness < SKEWED || in_logs.abs() > facts.skewness / 2.0 {
        return None;
    }
    Some(match facts.dominant {
        Some(dominant) => dominant.words(rows),
        None => format!("its skewness is {:.1}, of the logarithms {in_logs:.1}", facts.skewness),
    })
}

/// Returns the features of a column.
fn features_of(
    column: &FrameColumn,
    account: &ColumnAccount,
    how: &How,
    (scale, missing): (Scale, Missing),
    date_parts: &[DatePart],
) -> Result<Vec<Feature>, Error> {
    let feature = |name: String, value: FeatureValue| Feature {
        name,
        column: column.name.clone(),
        read_as: column.read_as.clone(),
        value,
        log_offset: how.log_offset,
        shift: 0.0,
        divisor: 1.0,
        fill: 0.0,
    };
    // Makes the features of a category from the name and the number of rows of each level.
    let of_levels = |levels: Vec<(String, FeatureValue, usize)>| -> Vec<Feature> {
        let present = (account.rows - account.missing).max(1) as f64;
        let shares: Vec<f64> = levels.iter().map(|(.., count)| *count as f64 / present).collect();
        let variance: f64 = shares.iter().map(|share| share * (1.0 - share)).sum();
        let divisor = match scale {
            Scale::None => 1.0,
            Scale::Std => variance.sqrt(),
            // With robust scaling, a column of numbers has about the same variance.
            Scale::Robust => variance.sqrt() * NORMAL_RANGE,
        };
        let divisor = if divisor > 0.0 { divisor } else { 1.0 };
        let most = levels.iter().enumerate().max_by_key(|(index, (.., count))| (*count, usize::MAX - index));
        let mode = most.map_or(0, |(index, _)| index);
        let of_level = |(index, (name, value, _)): (usize, (String, FeatureValue, usize))| {
            let fill = match missing {
                Missing::Mode => f64::from(u8::from(index == mode)),
                _ => shares[index],
            };
            let shift = if scale == Scale::None { 0.0 } else { shares[index] };
            Feature { shift, divisor, fill, ..feature(format!("{} = {name}", column.name), value) }
        };
        levels.into_iter().enumerate().map(of_level).collect()
    };
    Ok(match &column.values {
        Values::Numbers(_) => vec![scaled(feature(column.name.clone(), FeatureValue::Number), column, scale, missing)?],
        Values::Times(times) => {
            let counted = |names: &[&str], part_of: fn(f64) -> u8, value: fn(u8) -> FeatureValue| {
                let count = |part: u8| times.iter().filter(|time| !time.is_nan() && part_of(**time) == part).count();
                let parts = (1u8..).zip(names);
                parts.map(|(part, name)| ((*name).to_owned(), value(part), count(part))).collect()
            };
            let mut features = Vec::new();
            let days = [DatePart::Days];
            for part in if date_parts.is_empty() { &days } else { date_parts } {
                match part {
                    DatePart::Days => {
                        let days = feature(column.name.clone(), FeatureValue::Days);
                        features.push(scaled(days, column, scale, missing)?);
                    }
                    DatePart::Weekday => {
                        features.extend(of_levels(counted(&WEEKDAYS, weekday_of, FeatureValue::Weekday)));
                    }
                    DatePart::Month => features.extend(of_levels(counted(&MONTHS, month_of, FeatureValue::Month))),
                }
            }
            features
        }
        Values::Categories(texts) => {
            let levels = kept_levels(texts);
            let named: Vec<String> = levels.iter().filter_map(|(level, _)| level.clone()).collect();
            let value = |(level, count): (Option<String>, usize)| match level {
                Some(level) => (level.clone(), FeatureValue::Level(level), count),
                None => ("other".to_owned(), FeatureValue::OtherThan(named.clone()), count),
            };
            of_levels(levels.into_iter().map(value).collect())
        }
    })
}

/// Returns the texts of a category that get a feature, by decreasing count. The last entry has no text, and stands for
/// all rare texts together.
fn kept_levels(texts: &Categories) -> Vec<(Option<String>, usize)> {
    let counts = texts.counts();
    let present: usize = counts.iter().sum();
    let is_rare = |count: usize| (count as f64) < RARE * present as f64;
    let mut levels: Vec<(Option<String>, usize)> = texts.levels().iter().cloned().map(Some).zip(counts).collect();
    levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rare: usize = levels.iter().filter(|(_, count)| is_rare(*count)).map(|(_, count)| count).sum();
    levels.retain(|(_, count)| !is_rare(*count));
    if rare > 0 {
        levels.push((None, rare));
    }
    levels
}

/// Returns a numeric feature with the shift, divisor and filling that follow from the values of its column.
fn scaled(feature: Feature, column: &FrameColumn, scale: Scale, missing: Missing) -> Result<Feature, Error> {
    let rows = 0..column.values.len();
    let mut present: Vec<f64> =
        rows.map(|row| feature.of(&column.values, row)).filter(|value| !value.is_nan()).collect();
    let logs = present.iter().map(|value| feature.forward(*value)).collect();
    let scaling = Scaling::fit(&Points::new(logs, 1)?, scale);
    present.sort_unstable_by(f64::total_cmp);
    let fill = match missing {
        Missing::Mode => mode_of_sorted(&present),
        _ => crate::describe::median_of_sorted(&present),
    };
    Ok(Feature { shift: scaling.shifts()[0], divisor: scaling.divisors()[0], fill, ..feature })
}

/// Returns the most frequent value; of equally frequent ones, the smallest.
fn mode_of_sorted(sorted: &[f64]) -> f64 {
    let mut best = (0, f64::NAN);
    for run in sorted.chunk_by(|a, b| a == b) {
        if run.len() > best.0 {
            best = (run.len(), run[0]);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> DataFrame {
        let rows = 0..200usize;
        // From 1 to e^10, so that a few rows dominate the variance, while the logarithms are evenly spread.
        let revenue = rows.clone().map(|row| libm::exp(row as f64 / 20.0)).collect();
        let age = rows.clone().map(|row| if row % 10 == 3 { f64::NAN } else { 20.0 + (row % 50) as f64 }).collect();
        let city = rows.clone().map(|row| ["Bern", "Basel", "Chur"][if row == 7 { 2 } else { row % 2 }]);
        let id = rows.map(|row| row as f64).collect();
        let columns = vec![
            FrameColumn::numbers("id", id),
            FrameColumn::numbers("revenue", revenue),
            FrameColumn::numbers("age", age),
            FrameColumn::texts("city", city),
        ];
        DataFrame::new("t", columns).unwrap()
    }

    fn auto(missing_of_method: Missing) -> Wishes {
        Wishes { is_auto: true, missing_of_method, ..Wishes::default() }
    }

    #[test]
    fn all_is_chosen_with_a_reason() {
        let frame = frame();
        let preparation = Preparation::new(&frame, &auto(Missing::Nearest)).unwrap();
        assert_eq!(preparation.columns(), ["revenue", "age"]);
        assert_eq!((preparation.scale, preparation.missing), (Scale::Robust, Missing::Nearest));
        let how: Vec<&str> = preparation.uses.iter().map(|used| &*used.how).collect();
        assert!(how[0].starts_with("identifiers: "), "{how:?}");
        assert!(how[1].starts_with("logarithm: its skewness is"), "{how:?}");
        assert_eq!(how[2], "unchanged");
        assert!(how[3].starts_with("a category: "), "{how:?}");
        let prepared = preparation.apply(&frame).unwrap();
        assert_eq!((prepared.filled, prepared.table.len()), (20, 400));
        assert!(prepared.features.iter().all(|value| value.is_finite()));
    }

    #[test]
    fn columns_that_are_mostly_missing_or_one_value_are_left_out_unless_asked_for() {
        let rows = 0..200usize;
        let mostly = |gaps: usize| {
            rows.clone().map(move |row| if row < gaps { f64::NAN } else { (row * 7 % 50) as f64 }).collect()
        };
        let rain = |wet: usize| rows.clone().map(move |row| if row < wet { 1.0 + row as f64 } else { 0.0 }).collect();
        let frame = DataFrame::new(
            "t",
            vec![
                FrameColumn::numbers("half", mostly(100)),
                FrameColumn::numbers("less", mostly(101)),
                FrameColumn::numbers("rain", rain(11)),
                FrameColumn::numbers("snow", rain(10)),
            ],
        );
        let frame = frame.unwrap();
        let preparation = Preparation::new(&frame, &auto(Missing::Nearest)).unwrap();
        assert_eq!(preparation.columns(), ["half", "rain"]);
        assert!(preparation.uses[1].how.starts_with("50 % of its values are missing"), "{:?}", preparation.uses);
        assert!(preparation.uses[3].how.starts_with("95 % of its values are 0"), "{:?}", preparation.uses);
        let wishes = Wishes { columns: Some(vec!["snow".into()]), ..auto(Missing::Nearest) };
        assert_eq!(Preparation::new(&frame, &wishes).unwrap().columns(), ["snow"]);
        // Without informative measures, only the categories are used.
        let columns = vec![
            FrameColumn::numbers("snow", rain(10)),
            FrameColumn::texts("city", rows.map(|row| ["Bern", "Basel"][row % 2])),
        ];
        let preparation = Preparation::new(&DataFrame::new("t", columns).unwrap(), &auto(Missing::Nearest)).unwrap();
        assert_eq!(preparation.columns(), ["city"]);
    }

    #[test]
    fn what_was_asked_for_is_done_and_nothing_else() {
        let frame = frame();
        let wishes = Wishes { columns: Some(vec!["city".into(), "revenue".into()]), ..Wishes::default() };
        let preparation = Preparation::new(&frame, &wishes).unwrap();
        let names: Vec<&str> = preparation.features.iter().map(|feature| &*feature.name).collect();
        assert_eq!(names, ["city = Bern", "city = Basel", "city = other", "revenue"]);
        assert!(preparation.features.iter().all(|feature| feature.divisor == 1.0 && feature.log_offset.is_none()));
        let gaps = Wishes { columns: Some(vec!["age".into()]), ..Wishes::default() };
        let error = Preparation::new(&frame, &gaps).unwrap().apply(&frame).unwrap_err().to_string();
        assert!(error.contains("row 4, column 3 (\"age\"): expected a value, found none"), "{error}");
        let wrong = Wishes { log: vec!["revenu".into()], ..Wishes::default() };
        assert!(matches!(Preparation::new(&frame, &wrong), Err(Error::NoSuchColumns { .. })));
    }

    #[test]
    fn a_date_is_days_or_its_weekday_and_month() {
        // 35 days from Thursday, 1970-01-01, each twice, and one missing.
        let times: Vec<f64> =
            (0..71).map(|row| if row == 70 { f64::NAN } else { f64::from(row / 2) * 86_400.0 + 7.0 }).collect();
        let column = FrameColumn {
            name: "day".into(),
            values: Values::Times(times),
            read_as: crate::frame::ReadAs::Date { form: "year-month-day".into(), has_time: true },
        };
        let frame = DataFrame::new("t", vec![column]).unwrap();
        let prepared = |date_parts: &[DatePart], scale: Scale| {
            let wishes = Wishes {
                columns: Some(vec!["day".into()]),
                date_parts: date_parts.to_vec(),
                scale: Some(scale),
                missing: Some(Missing::Mode),
                ..Wishes::default()
            };
            let preparation = Preparation::new(&frame, &wishes).unwrap();
            let table = preparation.apply(&frame).unwrap().table;
            (preparation, table)
        };
        let (days, _) = prepared(&[], Scale::None);
        assert_eq!((days.features.len(), &*days.uses[0].how), (1, "days"));
        let (both, table) = prepared(&[DatePart::Weekday, DatePart::Month], Scale::None);
        assert_eq!((both.features.len(), &*both.uses[0].how), (19, "day of the week, month"));
        assert_eq!(both.features[3].name, "day = Thursday");
        assert_eq!(
            (both.features[7].name.as_str(), both.features[18].name.as_str()),
            ("day = January", "day = December")
        );
        let ones = |row: usize| (0..19).filter(|at| table[row * 19 + at] == 1.0).collect::<Vec<_>>();
        // A Thursday in January, a Friday, and Sunday the first of February.
        assert_eq!((ones(0), ones(2), ones(62)), (vec![3, 7], vec![4, 7], vec![6, 8]));
        // The missing date gets the most frequent parts: the first weekday that occurs five times, and January.
        assert_eq!(ones(70), [0, 7]);
        // Each part has the same influence as one column of numbers.
        let (of_month, _) = prepared(&[DatePart::Month], Scale::Std);
        let rows = of_month.apply(&frame).unwrap().features;
        let variance: f64 = (0..12)
            .map(|at| {
                let values: Vec<f64> = rows.iter().skip(at).step_by(12).copied().collect();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
            })
            .sum();
        assert!((variance - 1.0).abs() < 0.05, "{variance}");
        // Times before 1970 work too.
        assert_eq!((weekday_of(-1.0), month_of(-1.0)), (3, 12));
    }

    #[test]
    fn a_category_weighs_as_one_column_of_numbers() {
        let frame = frame();
        for (scale, variance) in [(Scale::Std, 1.0), (Scale::Robust, 1.0 / (NORMAL_RANGE * NORMAL_RANGE))] {
            let wishes = Wishes { columns: Some(vec!["city".into()]), scale: Some(scale), ..Wishes::default() };
            let preparation = Preparation::new(&frame, &wishes).unwrap();
            let features = preparation.apply(&frame).unwrap().features;
            let all: f64 = features.iter().map(|value| value * value).sum();
            assert!((all / 200.0 - variance).abs() < 1e-12, "{all}");
        }
    }

    #[test]
    fn features_go_back_to_the_units_of_their_columns() {
        let frame = frame();
        let preparation = Preparation::new(&frame, &auto(Missing::Median)).unwrap();
        let prepared = preparation.apply(&frame).unwrap();
        let mut back = prepared.features[2..4].to_vec();
        preparation.back(&mut back);
        for (back, value) in back.iter().zip(&prepared.table[2..4]) {
            assert!((back - value).abs() < 1e-12 * value.abs(), "{back} {value}");
        }
        let text = serde_json::to_string(&preparation).unwrap();
        assert_eq!(serde_json::from_str::<Preparation>(&text).unwrap(), preparation);
    }

    #[test]
    fn rows_with_gaps_are_filled_or_left_out_as_asked() {
        let frame = frame();
        let with = |missing| {
            let wishes = Wishes { columns: Some(vec!["age".into()]), missing: Some(missing), ..Wishes::default() };
            Preparation::new(&frame, &wishes).unwrap().apply(&frame).unwrap()
        };
        let kept = with(Missing::Drop);
        assert_eq!((kept.table.len(), kept.kept.unwrap().len()), (180, 180));
        assert!(kept.notes[0].starts_with("left out 20 of 200 rows"));
        assert_eq!(with(Missing::Median).table[3], 45.0);
        assert_eq!(with(Missing::Mode).table[3], 20.0);
        assert!(with(Missing::Skip).table[3].is_nan());
    }

    #[test]
    fn next_months_table_goes_the_same_way_and_what_is_new_is_told() {
        let frame = frame();
        let wishes = Wishes {
            columns: Some(vec!["age".into(), "city".into()]),
            missing: Some(Missing::Median),
            ..Wishes::default()
        };
        let mut preparation = Preparation::new(&frame, &wishes).unwrap();
        preparation.features.retain(|feature| !matches!(feature.value, FeatureValue::OtherThan(_)));
        let next =
            vec![FrameColumn::texts("city", ["Bern", "Genf"]), FrameColumn::numbers("age", vec![f64::NAN, 30.0])];
        let next = DataFrame::new("next", next).unwrap();
        let prepared = preparation.apply(&next).unwrap();
        assert_eq!(prepared.table, [45.0, 1.0, 0.0, 30.0, 0.0, 0.0]);
        assert_eq!(prepared.notes.len(), 1);
        assert!(
            prepared.notes[0].starts_with("city: texts that were not there before, such as \"Genf\", in 1 of 2 rows")
        );
        let other = DataFrame::new("next", vec![FrameColumn::texts("age", ["old"])]).unwrap();
        let error = preparation.apply(&other).unwrap_err().to_string();
        assert!(error.contains("\"city\""), "{error}");
        let other = vec![FrameColumn::texts("age", ["old"]), FrameColumn::texts("city", ["Bern"])];
        let error = preparation.apply(&DataFrame::new("next", other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("expected numbers, as before (number), found text"), "{error}");
    }
}
