//! Tests of how jobs begin and end.

use crate::Test;
use crate::job::{run, run_alone};

pub const TESTS: &[Test] = &[
    ("lifetime::processes_meet_and_part", processes_meet_and_part),
    ("lifetime::a_process_started_by_hand_is_alone", a_process_started_by_hand_is_alone),
    (
        "lifetime::one_of_several_without_a_library_says_where_it_looked",
        one_of_several_without_a_library_says_where_it_looked,
    ),
    ("lifetime::a_single_process_needs_no_library", a_single_process_needs_no_library),
    ("lifetime::a_library_of_another_launcher_is_found_out", a_library_of_another_launcher_is_found_out),
    ("lifetime::an_abort_ends_all_with_its_code", an_abort_ends_all_with_its_code),
    ("lifetime::a_process_that_is_dropped_ends_all", a_process_that_is_dropped_ends_all),
    ("lifetime::a_killed_process_ends_all", a_killed_process_ends_all),
    ("lifetime::a_keeper_says_who_was_killed", a_keeper_says_who_was_killed),
    ("lifetime::a_keeper_says_who_ended_in_the_middle", a_keeper_says_who_ended_in_the_middle),
    ("lifetime::a_keeper_changes_no_other_end", a_keeper_changes_no_other_end),
];

fn processes_meet_and_part() {
    for processes in 1..=4 {
        let ended = run(processes, &["meet"], &[]).expect_success();
        let expected: Vec<String> = (0..processes).map(|number| format!("{number} of {processes}")).collect();
        assert_eq!(ended.sorted(), expected);
    }
}

fn a_process_started_by_hand_is_alone() {
    assert_eq!(run_alone(&["meet"], &[]).expect_success().lines, ["alone"]);
}

fn one_of_several_without_a_library_says_where_it_looked() {
    let ended = run(2, &["meet"], &[("LEHR_MPI_LIBRARY", "nowhere/libmpi_abi.so.1")]);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    let text = ended.lines.join("\n");
    assert!(text.contains("no MPI library with the standard ABI") && text.contains("LEHR_MPI_LIBRARY"), "{text}");
    assert!(!text.contains("alone"), "{text}");
}

fn a_single_process_needs_no_library() {
    let ended = run(1, &["meet"], &[("LEHR_MPI_LIBRARY", "nowhere/libmpi_abi.so.1")]).expect_success();
    assert_eq!(ended.lines, ["alone"]);
}

fn a_library_of_another_launcher_is_found_out() {
    // The variables are those of a launcher, but the connections to the launcher are missing, so the library starts as
    // the only process.
    let launched = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("LEHR_MPI_LIBRARY", &library())];
    let ended = run_alone(&["meet"], &launched);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.lines.join("\n").contains("launcher and library do not belong together"), "{ended:?}");
}

fn an_abort_ends_all_with_its_code() {
    for processes in [1, 2, 4] {
        let ended = run(processes, &["abort", "7"], &[]);
        assert_eq!(ended.code, Some(7), "{ended:?}");
    }
}

fn a_process_that_is_dropped_ends_all() {
    let ended = run(2, &["drop"], &[]);
    assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    assert!(!ended.lines.join("\n").contains("still there"), "{ended:?}");
}

fn a_killed_process_ends_all() {
    for processes in [1, 2, 3] {
        let ended = run(processes, &["kill"], &[]);
        assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
    }
}

fn a_keeper_says_who_was_killed() {
    for processes in [2, 3] {
        let ended = run(processes, &["kept-kill"], &[]);
        // The launcher's exit code is the supervisor's, or the exit code of a process that the launcher then killed.
        assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
        let told: Vec<_> = ended.lines.iter().filter(|line| line.contains("was ended by signal 9")).collect();
        let expected = format!("process {} of {processes} (process ID ", processes - 1);
        assert!(told.len() == 1 && told[0].starts_with(&expected), "{ended:?}");
    }
}

fn a_keeper_says_who_ended_in_the_middle() {
    for processes in [2, 3] {
        let ended = run(processes, &["kept-exit"], &[]);
        assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
        let told: Vec<_> =
            ended.lines.iter().filter(|line| line.contains("ended with exit code 3 in the middle")).collect();
        assert!(
            told.len() == 1 && told[0].starts_with(&format!("process {} of {processes} ", processes - 1)),
            "{ended:?}"
        );
    }
}

fn a_keeper_changes_no_other_end() {
    assert_eq!(run(2, &["kept-meet"], &[]).expect_success().sorted(), ["0 of 2", "1 of 2"]);
    assert_eq!(run(2, &["kept-abort", "7"], &[]).code, Some(7));
}

/// Returns the library that belongs to the launcher of the tests.
fn library() -> String {
    if let Ok(chosen) = std::env::var("LEHR_MPI_LIBRARY") {
        return chosen;
    }
    let launcher = std::path::PathBuf::from(crate::job::launcher()).canonicalize().expect("LEHR_MPIEXEC is a file");
    let prefix = launcher.parent().and_then(|bin| bin.parent()).expect("mpiexec stands in a bin folder");
    prefix.join("lib/libmpi_abi.so.1").display().to_string()
}
