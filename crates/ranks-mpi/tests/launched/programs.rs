//! The programs that each process of a job runs. Each prints its results on standard output, and the test compares
//! them.

use std::process::ExitCode;

use lehr_ranks_mpi::{Process, Supervised, keep};

use crate::{conformance, faults};

/// Runs the program with the given name.
pub fn run(name: &str, words: &[String]) -> ExitCode {
    let number = |index: usize| words.get(index).map_or(0, |word| word.parse().expect("a number"));
    // Programs whose names begin with `kept-` have a supervisor, as the command has.
    if name.starts_with("kept-") {
        match keep(|| ()).expect("this program starts again") {
            Supervised::GoOn => {}
            Supervised::Ended { code } => return ExitCode::from(code),
            Supervised::Killed(killed) => {
                println!("{}", killed.message());
                killed.follow();
            }
        }
    }
    let name = name.trim_start_matches("kept-");
    let process = match Process::join() {
        Ok(Some(process)) => process,
        Ok(None) => {
            println!("alone");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            println!("{error}");
            return ExitCode::from(4);
        }
    };
    let is_last = process.number() + 1 == process.count();
    match name {
        "meet" => println!("{} of {}", process.number(), process.count()),
        "abort" if is_last => process.abort(number(0) as u8),
        "drop" if is_last => {
            drop(process);
            println!("still there after the end of the job");
            return ExitCode::SUCCESS;
        }
        "kill" if is_last => kill_this_process(),
        "exit" if is_last => std::process::exit(3),
        "conformance" => conformance::all_cases(&process, number(0), number(1)),
        "long" => conformance::long_messages(&process),
        "floods" => conformance::floods(&process),
        "runs" => conformance::runs_do_not_mix(&process),
        "fault" => {
            let outcome = faults::fault(&process, number(0), &words[1], number(2));
            process.finish().expect("all processes finish in order");
            return outcome;
        }
        "lateness" => {
            let outcome = faults::lateness(&process, number(0), number(1));
            process.finish().expect("all processes finish in order");
            return outcome;
        }
        // The other processes wait for the last process, which never comes. Only the end of the job ends this wait.
        "abort" | "drop" | "kill" | "exit" => {}
        _ => panic!("no program {name}"),
    }
    process.finish().expect("all processes finish");
    ExitCode::SUCCESS
}

/// Ends this process as the system does when memory runs out: without a message, and without a chance to clean up.
pub fn kill_this_process() -> ! {
    let this = std::process::id().to_string();
    let _ = std::process::Command::new("kill").args(["-KILL", &this]).status();
    unreachable!("the signal cannot be caught")
}
