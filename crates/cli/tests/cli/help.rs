//! What the command says about itself.

use super::sandbox::Sandbox;

#[test]
fn help_of_the_program() {
    Sandbox::new().lehr(&["--help"]).matches_golden("help");
}

#[test]
fn help_of_cluster() {
    Sandbox::new().lehr(&["cluster", "--help"]).matches_golden("help_cluster");
}

#[test]
fn help_of_distances() {
    Sandbox::new().lehr(&["distances", "--help"]).matches_golden("help_distances");
}

#[test]
fn help_of_pairwise() {
    Sandbox::new().lehr(&["pairwise", "--help"]).matches_golden("help_pairwise");
}

#[test]
fn help_of_kmedoids() {
    Sandbox::new().lehr(&["kmedoids", "--help"]).matches_golden("help_kmedoids");
}

#[test]
fn help_of_embed() {
    Sandbox::new().lehr(&["embed", "--help"]).matches_golden("help_embed");
}

#[test]
fn help_of_demo_genes() {
    Sandbox::new().lehr(&["demo", "genes", "--help"]).matches_golden("help_demo_genes");
}

#[test]
fn help_of_demo_patients() {
    Sandbox::new().lehr(&["demo", "patients", "-h"]).matches_golden("help_demo_patients");
}

#[test]
fn help_of_demo_chemistry() {
    Sandbox::new().lehr(&["demo", "chemistry", "--help"]).matches_golden("help_demo_chemistry");
}

#[test]
fn help_of_demo_demography() {
    Sandbox::new().lehr(&["demo", "demography", "--help"]).matches_golden("help_demo_demography");
}

#[test]
fn help_of_gtm() {
    Sandbox::new().lehr(&["gtm", "--help"]).matches_golden("help_gtm");
}

#[test]
fn help_of_predict() {
    Sandbox::new().lehr(&["predict", "--help"]).matches_golden("help_predict");
}

#[test]
fn help_of_mixture() {
    Sandbox::new().lehr(&["mixture", "--help"]).matches_golden("help_mixture");
}

#[test]
fn help_of_demo() {
    Sandbox::new().lehr(&["demo", "--help"]).matches_golden("help_demo");
}

#[test]
fn help_of_place() {
    Sandbox::new().lehr(&["place", "--help"]).matches_golden("help_place");
}

#[test]
fn help_of_the_commands_of_services() {
    for command in ["serve", "ls", "get", "query", "submit", "watch", "drop", "upload", "run", "apply"] {
        Sandbox::new().lehr(&[command, "--help"]).matches_golden(&format!("help_{command}"));
    }
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
