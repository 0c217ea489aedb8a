//! Runs every target on its seeds, and on seeds that are changed at random in the same way on every machine. It needs
//! no fuzzer.

use std::path::Path;

use lehr_fuzz::{Chance, TARGETS};

#[test]
fn no_seed_and_no_mangled_seed_breaks_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for (name, target) in TARGETS {
        let entries = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.collect();
        files.sort();
        let seeds: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        seeds.iter().for_each(|seed| target(seed));
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
        (0..3000).for_each(|_| target(&chance.mangled(&seeds)));
    }
}

/// Checks that no reader refuses a seed, because a refused seed reaches little code.
#[test]
fn the_seeds_of_files_are_good_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let texts = |name: &str| {
        let entries = std::fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(|path| std::fs::read_to_string(path).unwrap()).collect::<Vec<_>>()
    };
    for text in texts("manifest") {
        lehr_node::manifest::Manifest::read("seed.toml", &text).unwrap();
    }
    for text in texts("workflow") {
        lehr_workflow::Workflow::read("seed.toml", &text).unwrap();
    }
}
