//! `--spill` of `lehr cluster`, `lehr mixture` and `lehr gtm`: a table larger than memory has the results, byte for
//! byte, that it has where there is memory for it.

use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

use super::nodes::Disk;
use super::sandbox::{Outcome, Sandbox};

/// 16,384 rows of 512 columns: 64 MiB as 64-bit numbers, and as much again as a method keeps them.
const SHAPE: [usize; 2] = [16_384, 512];
/// What a run may have beside its files: three quarters of the table, and three eighths of what it takes in memory. A
/// run of little data takes half of it, most of that for threads and the picture of the page. On a busy machine, the
/// allocator takes a little more than on an idle one.
const LIMIT_KIB: usize = 48 << 10;

/// Three groups, told apart by 30 columns each; the rest is the same noise for all.
fn write_table(sandbox: &Sandbox) {
    let [rows, columns] = SHAPE;
    let mut file = BufWriter::new(std::fs::File::create(sandbox.path("large.npy")).unwrap());
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}\n");
    file.write_all(b"\x93NUMPY\x01\x00").unwrap();
    file.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            let noise = ((row * 31 + column * 17) * 2_654_435_761 % 4_294_967_296) as f64 / 4_294_967_296.0;
            let own = if column / 30 == row % 3 { 8.0 } else { 0.0 };
            file.write_all(&(own + noise).to_le_bytes()).unwrap();
        }
    }
    file.flush().unwrap();
}

/// Runs the command with no more memory of its own than [`LIMIT_KIB`]. Maps of files do not count: the system drops
/// what it needs the room of.
fn within_limit(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    let limited = format!("ulimit -d {LIMIT_KIB} && exec \"$0\" \"$@\"");
    let line = ["-c", &limited, env!("CARGO_BIN_EXE_lehr")];
    let mut command = Command::new("sh");
    command.args(line).args(arguments).current_dir(sandbox.path(".")).stdin(Stdio::null());
    Outcome::new(arguments, &command.output().unwrap())
}

/// The tables, the model, and what of the summary says nothing of the clock.
fn results(sandbox: &Sandbox, folder: &str) -> (Vec<(String, String)>, serde_json::Value) {
    let names = sandbox.list(folder).into_iter().filter(|name| !["report.html", "summary.json"].contains(&&**name));
    let files: Vec<(String, String)> =
        names.map(|name| (name.clone(), sandbox.read(&format!("{folder}/{name}")))).collect();
    assert!(files.len() >= 3, "two tables and a model");
    let mut summary = sandbox.summary(folder);
    summary.as_object_mut().unwrap().retain(|key, _| !["execution", "seconds"].contains(&&**key));
    (files, summary)
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_larger_than_the_memory_of_a_run_has_the_same_results() {
    let sandbox = Sandbox::new();
    write_table(&sandbox);
    let common = ["large.npy", "--threads", "2", "--quiet"];
    for (name, command) in [
        ("kmeans", &["cluster", "-k", "3", "--method", "kmeans", "--n-init", "2"][..]),
        ("da", &["cluster", "-k", "3", "--method", "da", "--outlier-radius", "20"][..]),
        ("mixture", &["mixture", "-k", "3", "--covariance", "diagonal"][..]),
        ("map", &["gtm", "--dimensions", "1", "--nodes", "4", "--basis", "2", "--init", "plane"][..]),
    ] {
        let line = [command, &common[..], &["--out", name]].concat();
        let refused = within_limit(&sandbox, &line);
        assert_eq!(refused.code, 4, "the limit holds: {}", refused.stderr);
        let words =
            "error: large.npy: expected rows that fit in memory, found 64.0 MiB of numbers\nhint: with --spill FOLDER";
        assert!(refused.stderr.starts_with(words), "{}", refused.stderr);
        sandbox.lehr(&line).succeeded();
        let spilled = format!("{name}-spilled");
        let line = [command, &common[..], &["--spill", ".", "--out", &spilled]].concat();
        within_limit(&sandbox, &line).succeeded();
        assert!(results(&sandbox, name) == results(&sandbox, &spilled), "{name}");
    }
    for clusters in ["kmeans", "da"] {
        assert_eq!(sandbox.summary(clusters)["result"]["clusters"].as_u64(), Some(3));
    }
    // Nothing but the table and the results is left.
    let found = [
        "da",
        "da-spilled",
        "kmeans",
        "kmeans-spilled",
        "large.npy",
        "map",
        "map-spilled",
        "mixture",
        "mixture-spilled",
    ];
    assert_eq!(sandbox.list("."), found);
}

#[test]
fn a_table_of_text_with_weights_ids_and_a_scale_may_be_spilled_too() {
    let rows: String = (0..300).map(|row| format!("r{row},{},{},{}\n", row % 3 * 10, row % 7, row % 2)).collect();
    let sandbox = Sandbox::with("t.csv", format!("name,x,y,w\n{rows}"));
    let table = ["t.csv", "--id", "name", "--weights", "w", "--scale", "std", "--quiet"];
    for (command, of_rows) in [
        (&["cluster", "-k", "3"][..], "labels.csv"),
        (&["mixture", "-k", "3"][..], "labels.csv"),
        (&["gtm", "--nodes", "3", "--basis", "2"][..], "places.csv"),
    ] {
        let [plain, spilled] = ["plain", "spilled"].map(|kind| format!("{}-{kind}", command[0]));
        sandbox.lehr(&[command, &table[..], &["--out", &plain]].concat()).succeeded();
        sandbox.lehr(&[command, &table[..], &["--out", &spilled, "--spill", "."]].concat()).succeeded();
        assert!(results(&sandbox, &plain) == results(&sandbox, &spilled), "{}", command[0]);
        assert!(sandbox.read(&format!("{spilled}/{of_rows}")).contains("\nr299,"));
    }
}

#[test]
fn where_rows_cannot_be_spilled_nothing_is_begun() {
    let sandbox = Sandbox::with("t.csv", "x,y\n1,2\n3,4\n");
    sandbox.write("f.fps", "#FPS1\n0f\tone\nf0\ttwo\n");
    sandbox.write("s.svm", "1 2:0.5\n0 3:1\n");
    for (input, folder, code, words) in [
        ("t.csv", "nowhere", 4, "error: nowhere: cannot hold what memory should not: no such directory\n"),
        ("t.csv", "t.csv", 4, "error: t.csv: cannot hold what memory should not: not a directory\n"),
        (
            "f.fps",
            ".",
            2,
            "error: --spill: for tables of numbers; an FPS file has rows of bits, which are kept in memory\n",
        ),
        (
            "s.svm",
            ".",
            2,
            "error: --spill: for tables of numbers; the file has sparse rows, which are kept in memory\n",
        ),
    ] {
        let outcome = sandbox.lehr(&["cluster", input, "-k", "2", "--spill", folder]);
        assert_eq!((outcome.code, &*outcome.stderr), (code, words));
        assert!(!sandbox.path("lehr-out").exists());
    }
    for command in ["mixture", "gtm"] {
        let outcome = sandbox.lehr(&[command, "t.csv", "--missing", "--spill", "."]);
        let words = "error: --spill: for tables of numbers; --missing has rows with gaps, which are kept in memory\n";
        assert_eq!((outcome.code, &*outcome.stderr), (2, words));
    }
}

#[test]
#[ignore = "mounts a file system, which takes the rights of root; make isolation runs it"]
fn isolated_a_disk_without_room_is_told_in_one_line() {
    let rows: String = (0..20_000).map(|row| format!("{},{}\n", row % 3 * 10, row % 7)).collect();
    let sandbox = Sandbox::with("t.csv", format!("x,y\n{rows}"));
    let line = ["cluster", "t.csv", "-k", "3", "--quiet", "--spill", "disk"];
    // 312 KiB are the rows, and as much again, with weights, what is made of them: room for less than the first, then
    // for the first alone.
    for kilobytes in [200, 500] {
        let _disk = Disk::new(&sandbox.path("disk"), kilobytes);
        let outcome = sandbox.lehr(&line);
        let words = "error: disk: cannot hold what memory should not: no space left on the disk\n";
        assert_eq!((outcome.code, &*outcome.stderr), (4, words), "{kilobytes} KiB");
        assert!(!sandbox.path("lehr-out").exists());
    }
    let _disk = Disk::new(&sandbox.path("disk"), 1000);
    sandbox.lehr(&line).succeeded();
}
