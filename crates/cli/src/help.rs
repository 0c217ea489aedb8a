//! Help in two lengths: `--help` shows the examples and the most used options, on at most two screens; `--help all`
//! shows everything.
//!
//! The part of a help text before its first `; ` fits on a line. Only `--help all` shows the rest.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::arguments::Arguments;
use crate::exit::Kind;
use crate::output;

/// The name of the switch behind `--help all`.
const ALL: &str = "help-all";

/// The maximum number of examples in short help.
const EXAMPLES: usize = 3;

/// The commands that the program's short help describes, in the order in which a newcomer needs them.
const FIRST: [&str; 5] = ["demo", "cluster", "predict", "mixture", "serve"];

/// Returns the command line's definition with its help: long for `--help all` and manual pages, otherwise short.
pub fn command(is_long: bool) -> Command {
    described(Arguments::command(), "", is_long)
}

/// Rewrites a command line so that `--help all` is one word, and `help COMMAND` is `COMMAND --help`.
pub fn rewritten(mut typed: Vec<OsString>) -> Vec<OsString> {
    if typed.get(1).is_some_and(|word| word == "help") {
        typed.remove(1);
        let at = typed.iter().position(|word| word == "all").unwrap_or(typed.len());
        typed.insert(at, "--help".into());
    }
    let is_help = |word: &OsString| word == "--help" || word == "-h";
    // The words that follow belong to another program, or are file names.
    let own = match typed.get(1) {
        Some(word) if word == "lab" => 1,
        _ => typed.iter().position(|word| word == "--").unwrap_or(typed.len()),
    };
    if let Some(at) = typed[..own].iter().position(is_help)
        && typed.get(at + 1).map(OsString::as_os_str) == Some(OsStr::new("all"))
    {
        typed.splice(at..=at + 1, [format!("--{ALL}").into()]);
    }
    typed
}

/// Whether a [`rewritten`] command line asks for the long form.
pub fn is_long(typed: &[OsString]) -> bool {
    typed.iter().any(|word| word.to_str().and_then(|word| word.strip_prefix("--")) == Some(ALL))
}

/// Whether the help of the program itself is requested, rather than that of a command.
pub fn is_of_program(typed: &[OsString]) -> bool {
    matches!(typed, [_]) || matches!(typed, [_, word] if word == "--help" || word == "-h")
}

/// Returns the help of the program: the first commands to type, and where to find the rest.
fn of_program() -> String {
    let all = Arguments::command();
    let line = |name: &str| {
        let found = all.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
        format!("  {name:<9} {}\n", found.unwrap_or_default())
    };
    let others = all.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let others: Vec<&str> = others.filter(|name| !FIRST.contains(name)).collect();
    format!(
        "{}\n\n\
         Examples:\n  \
         lehr demo census\n      \
         cluster 201,174 census blocks on the globe; open lehr-out/report.html\n\n  \
         lehr cluster customers.csv --auto\n      \
         find and explain the groups of an ordinary table\n\n\
         Usage: lehr <COMMAND>\n\n\
         Commands to begin with:\n{}\n\
         More commands:\n{}\n\
         lehr COMMAND --help shows examples and the options that most people use.\n\
         lehr COMMAND --help all shows all options; lehr --help all, all commands.\n\
         {EXIT_CODES}\n",
        all.get_about().map(ToString::to_string).unwrap_or_default(),
        FIRST.map(line).concat(),
        filled(&others.join(", "), WIDTH - 4).iter().map(|line| format!("  {line}\n")).collect::<String>(),
    )
}

/// Prints the help of the program: on standard output if it was requested, otherwise as an error of the command line.
pub fn show(is_asked: bool) -> ExitCode {
    if !is_asked {
        output::usage(&of_program());
        return ExitCode::from(Kind::Usage.code());
    }
    match output::result(&of_program()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::failure(&failure),
    }
}

/// The end of each help text.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment, 130 stopped.";

/// Breaks a text into lines of at most `width` characters; returns at least one line.
fn filled(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is a line");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// Adds help to a command and its subcommands, with examples before the usage: short for `--help`, long for
/// `--help all`.
fn described(command: Command, within: &str, is_long: bool) -> Command {
    if command.is_disable_help_flag_set() {
        return command;
    }
    let (examples, notes) = divided(command.get_after_help());
    let has_more = command.get_arguments().any(Arg::is_hide_short_help_set) || examples.len() > EXAMPLES;
    let path = format!("{within}{} ", command.get_name());
    let more = if has_more { format!("\nAll options: {path}--help all") } else { String::new() };
    let few = examples.iter().take(EXAMPLES).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    let examples = examples.join("\n\n");
    let notes = if notes.is_empty() { EXIT_CODES.to_owned() } else { notes };
    let last = notes.lines().last().unwrap_or_default().to_owned();
    let styles = command.get_styles().clone();
    let header = styles.get_header();
    let titled = |text: &str| format!("{header}Examples:{header:#}\n{text}");
    let options = if is_long {
        "{all-args}".to_owned()
    } else {
        listed(command.clone().disable_help_flag(true).disable_help_subcommand(true)).trim_end().to_owned()
    };
    let command = command
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .max_term_width(if is_long { 100 } else { WIDTH })
        .help_template(format!(
            "{{about-with-newline}}\n{{before-help}}{{usage-heading}} {{usage}}\n\n{options}{{after-help}}\n"
        ))
        .after_help(format!("{last}{more}"))
        .after_long_help(notes)
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::HelpShort)
                .hide(!is_long)
                .help("Print the examples and the options that most people use; --help all prints everything"),
        )
        .arg(Arg::new(ALL).long(ALL).action(ArgAction::HelpLong).hide(true));
    let command = if examples.is_empty() {
        command
    } else {
        command.before_help(titled(&few)).before_long_help(titled(&examples))
    };
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, |sub| described(sub, &path, is_long)))
}

/// The widths, in characters, of the first column of short help and of a whole line.
const NAMES: usize = 28;
const WIDTH: usize = 80;

/// Returns the arguments and options that short help shows, each on one line if possible.
fn listed(mut command: Command) -> String {
    // Clap knows what values an argument takes only once its command is built.
    command.build();
    let header = command.get_styles().get_header();
    let shown =
        command.get_arguments().filter(|argument| !argument.is_hide_set() && !argument.is_hide_short_help_set());
    let (positional, options): (Vec<&Arg>, Vec<&Arg>) = shown.partition(|argument| argument.is_positional());
    let commands: Vec<String> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| line(command.get_name(), &command.get_about().map(ToString::to_string).unwrap_or_default()))
        .collect();
    let section = |title: &str, lines: Vec<String>| match lines.concat() {
        lines if lines.is_empty() => lines,
        lines => format!("{header}{title}:{header:#}\n{lines}\n"),
    };
    section("Arguments", positional.into_iter().map(described_line).collect())
        + &section("Commands", commands)
        + &section("Options", options.into_iter().map(described_line).collect())
}

fn described_line(argument: &Arg) -> String {
    line(&name(argument), &brief(argument))
}

/// Returns a name and its purpose: next to each other or, if the name is long, one below the other.
fn line(name: &str, text: &str) -> String {
    let mut lines = filled(text, WIDTH - NAMES);
    let first = if name.chars().count() + 4 > NAMES { String::new() } else { lines.remove(0) };
    let lines = lines.iter().map(|line| format!("{:NAMES$}{line}\n", "")).collect::<String>();
    format!("{}\n{lines}", format!("  {name:<width$}{first}", width = NAMES - 2).trim_end())
}

/// Returns an argument as it is typed: `-k, --clusters <K>`.
fn name(argument: &Arg) -> String {
    let styled = argument.to_string();
    match argument.get_short() {
        Some(short) => format!("-{short}, {styled}"),
        None if argument.is_positional() => styled,
        None => format!("    {styled}"),
    }
}

/// Returns the first part of an argument's help, with its values and its default.
fn brief(argument: &Arg) -> String {
    let text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let (text, default) = text.split_once(" [default: ").unwrap_or((&text, ""));
    let first = text.split_once("; ").map_or(text, |(first, _)| first);
    if !argument.get_action().takes_values() {
        return first.to_owned();
    }
    let words: Vec<String> = argument.get_possible_values().iter().map(|word| word.get_name().to_owned()).collect();
    let words = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    // Some defaults are in the text; clap knows the others.
    let known = argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect::<Vec<_>>().join(",");
    let default = if default.is_empty() { &known } else { default.trim_end_matches(']') };
    let default = if default.is_empty() { String::new() } else { format!(" [default: {default}]") };
    format!("{first}{words}{default}")
}

/// Splits the text after a command's options into examples and notes.
fn divided(after: Option<&StyledStr>) -> (Vec<String>, String) {
    let text = after.map(ToString::to_string).unwrap_or_default();
    let text = text.strip_prefix("Example:\n").unwrap_or(&text);
    let (examples, notes): (Vec<&str>, Vec<&str>) =
        text.split("\n\n").filter(|block| !block.is_empty()).partition(|block| block.starts_with("  "));
    (examples.into_iter().map(str::to_owned).collect(), notes.join("\n\n"))
}
