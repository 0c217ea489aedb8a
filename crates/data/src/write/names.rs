//! Names the columns of a table of results that has columns of the data in addition to computed ones.
//!
//! Computed columns keep their names, because programs look for them; columns of the data are renamed if necessary. All
//! names of a table are distinct.

use std::collections::HashSet;

/// Returns the names of data columns in a table whose computed columns are called `ours`. A name stays unchanged if it
/// is distinct; otherwise `_` is appended until it is.
///
/// For each column, the table also has columns with one of `prefixes` before its name. These names are distinct from
/// all others too. A data column that clashes with such a name is renamed, as if it clashed with `ours`. If data
/// columns have the same name, the first of them keeps it.
///
/// # Example
/// ```
/// use lehr_data::write::names;
/// let columns = ["weight", "x", "sd_x"].map(String::from);
/// assert_eq!(names::beside(&["component", "weight"], &columns, &["sd_"]), ["weight_", "x", "sd_x_"]);
/// ```
pub fn beside(ours: &[&str], columns: &[String], prefixes: &[&str]) -> Vec<String> {
    let after = |name: &str| -> Vec<String> { prefixes.iter().map(|prefix| format!("{prefix}{name}")).collect() };
    let ours: HashSet<String> = ours.iter().map(|&name| name.to_owned()).collect();
    let derived: HashSet<String> = columns.iter().flat_map(|column| after(column)).collect();
    // Columns without a clash come first, so that no column must give way to a renamed one.
    let mut taken = ours.clone();
    let mut names: Vec<Option<String>> = Vec::with_capacity(columns.len());
    for column in columns {
        let is_free = !derived.contains(column)
            && !taken.contains(column)
            && !after(column).iter().any(|name| ours.contains(name));
        if is_free {
            taken.insert(column.clone());
            taken.extend(after(column));
        }
        names.push(is_free.then(|| column.clone()));
    }
    let named = columns.iter().zip(names).map(|(column, name)| {
        name.unwrap_or_else(|| {
            let mut name = column.clone();
            while taken.contains(&name) || after(&name).iter().any(|name| taken.contains(name)) {
                name.push('_');
            }
            taken.extend(after(&name));
            taken.insert(name.clone());
            name
        })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(ours: &[&str], columns: &[&str], expected: &[&str]) {
        let columns: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
        let names = beside(ours, &columns, &["sd_"]);
        assert_eq!(names, expected, "{columns:?}");
        let derived = names.iter().map(|name| format!("sd_{name}"));
        let all = names.iter().cloned().chain(derived).chain(ours.iter().map(|&name| name.to_owned()));
        let mut seen = HashSet::new();
        assert!(all.clone().all(|name| seen.insert(name)), "{:?}", all.collect::<Vec<_>>());
    }

    #[test]
    fn columns_of_the_data_give_way_to_names_of_results() {
        distinct(&["weight"], &["x", "y"], &["x", "y"]);
        distinct(&["weight"], &["weight", "x"], &["weight_", "x"]);
        distinct(&["weight"], &["weight_", "weight"], &["weight_", "weight__"]);
    }

    #[test]
    fn a_column_called_as_one_computed_of_another_gives_way_in_either_order() {
        distinct(&[], &["x", "sd_x"], &["x", "sd_x_"]);
        distinct(&[], &["sd_x", "x"], &["sd_x_", "x"]);
        distinct(&["sd_x"], &["x"], &["x_"]);
        distinct(&[], &["", "sd_", "sd_sd_"], &["", "sd__", "sd_sd_"]);
    }

    #[test]
    fn of_columns_of_one_name_the_first_keeps_it() {
        distinct(&[], &["x", "x", "x"], &["x", "x_", "x__"]);
        distinct(&[], &["x", "x", "x_"], &["x", "x__", "x_"]);
    }
}
