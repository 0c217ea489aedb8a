//! The guide for readers who know MPI has a line for every function of the standard.

const GUIDE: &str = include_str!("../../../../docs/guide/mpi.md");
const FUNCTIONS: &str = include_str!("../functions_of_mpi.txt");

/// Whether `pattern`, in which `*` stands for any letters, matches `name`.
fn means(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, rest)) => {
            name.strip_prefix(head).is_some_and(|tail| (0..=tail.len()).any(|start| means(rest, &tail[start..])))
        }
    }
}

#[test]
fn the_guide_has_a_line_for_every_function_of_mpi_and_for_no_other() {
    let functions: Vec<&str> =
        FUNCTIONS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    assert!(functions.len() > 400, "{}", functions.len());
    // The names in code in the first column of a table, without constants, which are in capitals.
    let patterns: Vec<&str> = GUIDE
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter_map(|code| code.strip_prefix("MPI_"))
        .filter(|name| name.chars().any(|letter| letter.is_lowercase() || letter == '*'))
        .collect();
    let without: Vec<_> =
        functions.iter().filter(|name| !patterns.iter().any(|pattern| means(pattern, name))).collect();
    assert!(without.is_empty(), "no line for {without:?}");
    let idle: Vec<_> = patterns.iter().filter(|pattern| !functions.iter().any(|name| means(pattern, name))).collect();
    assert!(idle.is_empty(), "no function of MPI: {idle:?}");
}

#[test]
fn a_star_stands_for_any_letters() {
    assert!(means("Comm_*_attr", "Comm_set_attr") && means("Info_*", "Info_") && means("*", ""));
    assert!(!means("Comm_*_attr", "Comm_set_attribute") && !means("Info_*", "Inf") && !means("Ibcast", "Ibcast_c"));
}
