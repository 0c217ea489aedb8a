//! `lehr --help` and the help of the commands.

use super::sandbox::Sandbox;

/// Commands whose help people see.
const COMMANDS: [&str; 38] = [
    "cluster",
    "minibatch",
    "mixture",
    "gtm",
    "kmedoids",
    "hierarchy",
    "hdbscan",
    "pairwise",
    "embed",
    "predict",
    "evaluate",
    "export",
    "distances",
    "place",
    "demo",
    "demo genes",
    "demo patients",
    "demo chemistry",
    "demo demography",
    "serve",
    "check-policy",
    "keep",
    "keep export",
    "keep import",
    "keep verify",
    "run",
    "job",
    "apply",
    "ls",
    "get",
    "query",
    "submit",
    "watch",
    "drop",
    "upload",
    "completions",
    "man",
    "",
];

/// Two screens of a terminal.
const LINES: usize = 48;
const COLUMNS: usize = 80;

fn help(of: &str, more: &[&str]) -> super::sandbox::Outcome {
    let words: Vec<&str> = of.split_whitespace().chain(["--help"]).chain(more.iter().copied()).collect();
    Sandbox::new().lehr(&words)
}

#[test]
fn help_of_every_command_fits_on_two_screens_and_begins_with_examples() {
    for command in COMMANDS {
        let shown = help(command, &[]).succeeded().stdout;
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.len() <= LINES, "lehr {command} --help has {} lines", lines.len());
        for line in &lines {
            assert!(line.chars().count() <= COLUMNS, "lehr {command} --help: {line}");
        }
        assert!(shown.contains("\nExit codes: 0 done"), "{shown}");
        let (examples, usage) = (shown.find("\nExamples:\n"), shown.find("\nUsage:").unwrap());
        assert!(examples.is_none_or(|examples| examples < usage), "{shown}");
    }
}

#[test]
fn help_is_as_recorded() {
    for command in COMMANDS {
        let name = format!("help {command}");
        help(command, &[]).matches_golden(&name.trim_end().replace([' ', '-'], "_"));
    }
}

#[test]
fn all_help_is_as_recorded() {
    for command in ["cluster", "distances", "serve"] {
        help(command, &["all"]).matches_golden(&format!("help_all_{command}"));
    }
}

#[test]
fn help_is_asked_for_in_several_ways() {
    let expected = help("cluster", &[]).succeeded().stdout;
    for words in [&["cluster", "-h"][..], &["help", "cluster"], &["cluster", "--auto", "-h"]] {
        assert_eq!(Sandbox::new().lehr(words).succeeded().stdout, expected, "{words:?}");
    }
    let all = help("cluster", &["all"]).succeeded().stdout;
    assert_eq!(Sandbox::new().lehr(&["help", "cluster", "all"]).succeeded().stdout, all);
    assert!(all.contains("--engine <ENGINE>") && !expected.contains("--engine"));
}

#[test]
fn no_arguments_show_the_help_and_are_a_usage_error() {
    Sandbox::new().lehr(&[]).matches_golden("no_arguments");
}

#[test]
fn version() {
    let outcome = Sandbox::new().lehr(&["--version"]).succeeded();
    assert_eq!(outcome.stdout, format!("lehr {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn all_help_has_every_option_of_the_short_one() {
    for command in COMMANDS {
        let (short, all) = (help(command, &[]).succeeded().stdout, help(command, &["all"]).succeeded().stdout);
        let options = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
            lines
                .filter_map(|line| line.split([' ', ',', '[']).find(|word| word.starts_with("--")))
                .map(str::to_owned)
                .collect()
        };
        let known = options(&all);
        for option in options(&short) {
            assert!(known.contains(&option), "lehr {command} --help all lacks {option}");
        }
    }
}
