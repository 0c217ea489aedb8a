//! The help texts of the lab.

use super::sandbox::Sandbox;

fn help_of(subject: &str) {
    Sandbox::new().lab(&[subject, "--help"]).matches_golden(&format!("help_{subject}"));
}

#[test]
fn help_of_the_program() {
    Sandbox::new().lab(&["--help"]).matches_golden("help");
}

#[test]
fn help_of_ports() {
    help_of("ports");
}

#[test]
fn help_of_ranks() {
    help_of("ranks");
}

#[test]
fn help_of_services() {
    help_of("services");
}

#[test]
fn help_of_overhead() {
    help_of("overhead");
}

#[test]
fn help_of_scale() {
    help_of("scale");
}

#[test]
fn help_of_growth() {
    help_of("growth");
}

#[test]
fn help_of_chemistry() {
    help_of("chemistry");
}

#[test]
fn help_of_bench() {
    help_of("bench");
}

#[test]
fn help_of_quality() {
    help_of("quality");
}
