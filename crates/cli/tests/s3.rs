//! The command reads objects of an S3 server as it reads files: `make s3` starts a server and runs these tests.
//!
//! The buckets `private` and `public` have the same objects, which are files of this repository.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `lehr` with the server of the environment; `without_key` removes the key.
fn lehr(folder: &Path, without_key: bool, line: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
    if without_key {
        command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    }
    command.args(line).current_dir(folder).output().unwrap()
}

fn own(file: &str) -> String {
    format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn clusters(folder: &Path, without_key: bool, input: &str, more: &[&str], out: &str) -> [Vec<u8>; 2] {
    let done = lehr(folder, without_key, &[&["cluster", input, "-q", "--out", out], more].concat());
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    ["labels.csv", "centers.csv"].map(|name| std::fs::read(folder.join(out).join(name)).unwrap())
}

#[test]
#[ignore = "needs an S3 server: make s3"]
fn clusters_of_an_object_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let census = ["--columns", "lon,lat", "--lonlat", "--weights", "pop", "--id", "geoid", "-k", "20"];
    for (name, file, more) in [
        ("iris.csv", "datasets/iris/iris.csv", &["-k", "3"][..]),
        ("with space.csv", "datasets/iris/iris.csv", &["-k", "3"]),
        ("blocks.csv.gz", "datasets/census/blocks_nv_ut_wv_2020.csv.gz", &census),
        ("penguins.csv", "datasets/penguins/penguins.csv", &["--auto"]),
        ("folder/pandas.parquet", "crates/data/tests/data/parquet/pandas.parquet", &["-k", "2"]),
    ] {
        let expected = clusters(folder.path(), false, &own(file), more, "file");
        for (bucket, without_key) in [("private", false), ("public", false), ("public", true)] {
            let out = format!("{bucket}-{without_key}");
            let found = clusters(folder.path(), without_key, &format!("s3://{bucket}/{name}"), more, &out);
            assert!(found == expected, "{bucket}/{name}");
            std::fs::remove_dir_all(folder.path().join(out)).unwrap();
        }
        std::fs::remove_dir_all(folder.path().join("file")).unwrap();
    }
}

#[test]
#[ignore = "needs an S3 server: make s3"]
fn what_the_server_refuses_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |without_key: bool, input: &str| {
        let done = lehr(folder.path(), without_key, &["cluster", input, "-k", "2", "--out", "out"]);
        assert_eq!(done.status.code(), Some(4), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(!folder.path().join("out").exists());
        String::from_utf8(done.stderr).unwrap()
    };
    let said = refused(false, "s3://private/none.csv");
    assert!(said.contains("s3://private/none.csv: cannot be opened: there is no such object"), "{said}");
    let said = refused(false, "s3://nowhere/iris.csv");
    assert!(said.contains("s3://nowhere/iris.csv: cannot be opened: there is no such object"), "{said}");
    let said = refused(true, "s3://private/iris.csv");
    assert!(said.contains("s3://private/iris.csv: cannot be opened: access is denied"), "{said}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
    let wrong =
        command.env("AWS_SECRET_ACCESS_KEY", "wrong").args(["cluster", "s3://private/iris.csv"]).output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("access is denied; check the credentials"), "{said}");
}

/// A workflow that fetches an object and clusters it.
const FETCHING: &str = r#"
name = "fetched"
output = "${centers.csv}"

[services."/fetch"]
contract = "lehr/fetch"
configuration = { from = ["s3://BUCKET"], private = true }

[services."/datasets"]
contract = "lehr.datasets"

[services."/clustering"]
contract = "lehr.clustering"
after = ["/datasets"]

[steps.get]
service = "/fetch"
operation = "get_file"
with = { name = "iris.csv", url = "s3://private/iris.csv" }
job = true

[steps.read]
service = "/datasets"
operation = "open"
with = { name = "iris", path = "fetched/${get.file}", columns = ["petal_length", "petal_width"] }

[steps.cluster]
service = "/clustering"
operation = "run"
with = { input = "iris", options = { clusters = 3 } }
job = true
after = ["read"]

[steps.centers]
service = "/datasets"
operation = "read"
with = { name = "${cluster.outputs.centers}", format = "csv" }
"#;

#[test]
#[ignore = "needs an S3 server: make s3"]
fn a_workflow_fetches_objects_of_listed_buckets() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("fetched.toml"), FETCHING.replace("BUCKET", "private")).unwrap();
    let done = lehr(folder.path(), false, &["run", "fetched.toml"]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let centers = String::from_utf8(done.stdout).unwrap();
    assert_eq!(centers.lines().count(), 4, "{centers}");
    std::fs::write(folder.path().join("other.toml"), FETCHING.replace("BUCKET", "public")).unwrap();
    let refused = lehr(folder.path(), false, &["run", "other.toml"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("s3://private is not among the hosts that may be asked: s3://public"), "{said}");
}
