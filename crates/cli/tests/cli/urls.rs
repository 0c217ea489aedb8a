//! Data at URLs: the results of the files, without the secrets of the URL, and of one version.

#[path = "../../../stores/tests/stand_in.rs"]
#[allow(dead_code, reason = "the tests of lehr-stores need more of it")]
mod stand_in;

use stand_in::{Answer, StandIn};

use super::sandbox::Sandbox;

fn table() -> Vec<u8> {
    let rows = (0..300).map(|row| format!("{},{}\n", row % 3 * 100 + row % 7, row % 5));
    "x,y\n".to_owned().into_bytes().into_iter().chain(rows.flat_map(String::into_bytes)).collect()
}

#[test]
fn what_follows_a_question_mark_stands_in_no_file_and_no_message() {
    let sandbox = Sandbox::with("points.csv", table());
    let server = StandIn::of_folder(sandbox.path(""));
    let url = server.url("/points.csv?signature=s3cr3tw0rd");
    let of_file = sandbox.lehr(&["cluster", "points.csv", "-k", "3", "--out", "file"]).succeeded();
    let of_url = sandbox.lehr(&["cluster", &url, "-k", "3", "--out", "url"]).succeeded();
    assert_eq!(of_file.stdout.lines().next(), of_url.stdout.lines().next());
    assert!(!of_url.stdout.contains("s3cr3tw0rd") && !of_url.stderr.contains("s3cr3tw0rd"), "{}", of_url.stderr);
    assert_eq!(sandbox.list("url"), sandbox.list("file"));
    for name in sandbox.list("url") {
        let text = sandbox.read(&format!("url/{name}"));
        assert!(!text.contains("s3cr3tw0rd"), "{name}");
        if name.ends_with(".csv") {
            assert_eq!(text, sandbox.read(&format!("file/{name}")));
        }
    }
    assert_eq!(sandbox.summary("url")["input"]["source"], server.url("/points.csv"));
    let wrong = sandbox.lehr(&["cluster", &server.url("/none.csv?signature=s3cr3tw0rd")]);
    assert_eq!(
        wrong.stderr,
        format!("error: {}: cannot be opened: there is no such object\n", server.url("/none.csv"))
    );
    let with_password = sandbox.lehr(&["cluster", "http://me:s3cr3tw0rd@127.0.0.1:1/x.csv"]);
    assert!(!with_password.stderr.contains("s3cr3tw0rd"), "{}", with_password.stderr);
    assert!(with_password.stderr.contains("must not follow a user name or a password"), "{}", with_password.stderr);
}

#[test]
fn a_matrix_at_a_url_has_the_items_and_weights_beside_it() {
    let sandbox = Sandbox::with("points.csv", table());
    sandbox.lehr(&["distances", "points.csv", "--collapse", "--out", "d", "-q"]).succeeded();
    let server = StandIn::of_folder(sandbox.path(""));
    for file in ["d/dissimilarities.json", "d/dissimilarities.npy"] {
        sandbox.lehr(&["pairwise", file, "-k", "3", "--out", "file", "-q", "--force"]).succeeded();
        sandbox
            .lehr(&["pairwise", &server.url(&format!("/{file}")), "-k", "3", "--out", "url", "-q", "--force"])
            .succeeded();
        assert_eq!(sandbox.read("url/labels.csv"), sandbox.read("file/labels.csv"), "{file}");
        assert!(sandbox.read("url/labels.csv").starts_with("id,"));
    }
    let refused = sandbox.lehr(&["cluster", &server.url("/d/dissimilarities.npy"), "-k", "3"]);
    let of_file = sandbox.lehr(&["cluster", "d/dissimilarities.npy", "-k", "3"]);
    assert_eq!(refused.stderr.replace(&server.url("/"), ""), of_file.stderr);
}

#[test]
fn a_command_that_opens_its_data_twice_sees_one_version() {
    let sandbox = Sandbox::with("points.csv", table());
    sandbox.lehr(&["cluster", "points.csv", "-k", "3", "--out", "model", "-q"]).succeeded();
    let predict = |server: &StandIn| {
        let url = server.url("/points.csv");
        sandbox.lehr(&["predict", "model", &url, "--append", "--out", "new.csv"])
    };
    let same = StandIn::new(table(), |_, _| Answer::Content("a"));
    predict(&same).succeeded();
    let openings = same.asked().len();
    assert!(openings > 1, "the command opens its data several times");
    let changing =
        StandIn::new(table(), move |number, _| Answer::Content(if number + 1 < openings { "a" } else { "b" }));
    let refused = predict(&changing);
    assert!(refused.stderr.contains("the object changed while it was read; start again"), "{}", refused.stderr);
    assert_eq!(refused.code, 4);
}
