//! Completions and manual pages: made from the command line's definition, so that they have what help has.

use super::sandbox::Sandbox;

#[test]
fn shells_complete_options_of_declared_methods() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = Sandbox::new().lehr(&["completions", shell]).succeeded().stdout;
        for word in ["minibatch", "half-life", "temperature"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn each_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    sandbox.lehr(&["man", "pages"]).succeeded();
    for command in ["lehr", "lehr-cluster", "lehr-kmedoids", "lehr-serve", "lehr-demo-genes"] {
        let page = sandbox.path(&format!("pages/{command}.1"));
        assert!(page.is_file(), "no page of {command}");
    }
    let page = sandbox.read("pages/lehr-minibatch.1");
    assert!(page.contains("half\\-life"), "{page}");
    // Nobody types it.
    assert!(!sandbox.path("pages/lehr-part.1").exists());
}
