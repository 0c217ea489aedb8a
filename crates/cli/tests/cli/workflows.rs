//! `lehr run` and `lehr apply`: the guide's examples, bad files, stopping and going on.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Command;

use super::jobs::clouds;
use super::sandbox::Sandbox;
use super::services::Served;

/// The blocks of code of the guide after `<!-- kind: name -->`, with the name.
fn blocks(kind: &str) -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/workflows.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut found = Vec::new();
    for part in page.split(&format!("<!-- {kind}: ")).skip(1) {
        let (name, rest) = part.split_once(" -->\n```").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        found.push((name.to_owned(), rest.split_once("\n```").unwrap().0.to_owned() + "\n"));
    }
    assert!(!found.is_empty());
    found
}

fn guide() -> Sandbox {
    let sandbox = Sandbox::new();
    for (name, text) in blocks("example") {
        sandbox.write(&name, text);
    }
    sandbox
}

#[test]
fn the_examples_of_the_guide_do_what_it_says() {
    for (name, session) in blocks("run") {
        let sandbox = guide();
        let (line, expected) = session.split_once('\n').unwrap();
        let words: Vec<&str> = line.strip_prefix("$ lehr ").unwrap().split(' ').collect();
        assert!(words.contains(&name.as_str()));
        assert_eq!(sandbox.lehr(&words).succeeded().stdout, expected, "{line}");
    }
}

#[test]
fn a_workflow_runs_twice_and_reads_its_file_again() {
    let sandbox = guide();
    let first = sandbox.lehr(&["run", "regions.toml"]).succeeded();
    assert!(first.stderr.contains("kept in lehr-run"), "{}", first.stderr);
    sandbox.write("sites.csv", sandbox.read("sites.csv").replace("10,", "30,"));
    let second = sandbox.lehr(&["run", "regions.toml"]).succeeded();
    let centers = |text: &str| text.lines().map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",")).collect();
    let (before, after): (Vec<String>, Vec<String>) = (centers(&first.stdout), centers(&second.stdout));
    assert!(before.contains(&"1,10,1,2,1".to_owned()), "{before:?}");
    assert_eq!(after, before.iter().map(|line| line.replace("1,10,1", "1,30,1")).collect::<Vec<_>>());
    // Another file under that name is another data set.
    sandbox.write("other.csv", sandbox.read("sites.csv"));
    sandbox.write("regions.toml", sandbox.read("regions.toml").replace("path = \"sites.csv\"", "path = \"other.csv\""));
    let failed = sandbox.lehr(&["run", "regions.toml"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("there is a data set \"sites\""), "{}", failed.stderr);
    assert!(failed.stderr.contains("to start again, remove the folder lehr-run"), "{}", failed.stderr);
}

/// Serves one file by HTTP, over and over, on the returned port.
fn host_of(path: &'static str, content: String) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head: Vec<String> =
                BufReader::new(&stream).lines().map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
            let is_known = head[0].starts_with(&format!("GET {path} "));
            let (status, body) = if is_known { ("200 OK", &*content) } else { ("404 Not Found", "") };
            let answer =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    port
}

#[test]
fn a_file_of_another_host_is_a_step_and_hosts_that_are_not_named_are_not_contacted() {
    let sandbox = guide();
    let sites = sandbox.read("sites.csv");
    std::fs::remove_file(sandbox.path("sites.csv")).unwrap();
    let port = host_of("/sites.csv", sites.clone());
    let text = sandbox.read("fetched.toml");
    let here = text.replace("https://data.example.org", &format!("http://127.0.0.1:{port}"));
    sandbox.write(
        "fetched.toml",
        here.replace("[\"data.example.org\"]", &format!("[\"127.0.0.1:{port}\"], private = true")),
    );
    for _ in 0..2 {
        let told = sandbox.lehr(&["run", "fetched.toml"]).succeeded().stdout;
        assert!(told.starts_with("cluster,x,y,weight,") && told.contains("\n1,10,1,2,1,"), "{told}");
        assert_eq!(sandbox.read("fetched/sites.csv"), sites);
    }
    let missing = sandbox.read("fetched.toml").replace("/sites.csv\", replace", "/other.csv\", replace");
    sandbox.write("missing.toml", missing);
    let failed = sandbox.lehr(&["run", "missing.toml", "--keep", "missing"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("job sites.csv has failed: GET http://127.0.0.1"), "{}", failed.stderr);
    sandbox.write("elsewhere.toml", here);
    let refused = sandbox.lehr(&["run", "elsewhere.toml", "--keep", "elsewhere"]);
    assert_eq!(refused.code, 1);
    let told = format!("127.0.0.1:{port} is not among the hosts that may be asked: data.example.org");
    assert!(refused.stderr.contains(&told), "{}", refused.stderr);
    // A wrong setting is reported before anything runs.
    sandbox.write("slip.toml", text.replace("{ from = [\"data.example.org\"] }", "{ form = [\"data.example.org\"] }"));
    let slip = sandbox.lehr(&["run", "slip.toml", "--dry-run"]);
    assert_eq!(slip.code, 3);
    assert!(slip.stderr.contains("form"), "{}", slip.stderr);
}

#[test]
fn a_mixture_and_a_map_are_steps_with_the_bytes_of_their_commands() {
    let sandbox = guide();
    let (output, places) = ("order along the line: ${map.figures.order}", "${places.csv}");
    let text = sandbox.read("landscape.toml");
    assert!(text.contains(output));
    sandbox.write("landscape.toml", text.replace(output, places) + PLACES);
    let run = sandbox.lehr(&["run", "landscape.toml", "--json"]).succeeded();
    let run: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let rows = ["bend.csv", "--id", "item", "--quiet"];
    sandbox.lehr(&[&["mixture"], &rows[..], &["-k", "2", "--covariance", "diagonal"]].concat()).succeeded();
    sandbox.lehr(&[&["gtm"], &rows[..], &["--dimensions", "1", "--nodes", "5", "--basis", "3"]].concat()).succeeded();
    let expected = sandbox.read("lehr-mixture/components.csv") + &sandbox.read("lehr-gtm/places.csv");
    assert_eq!(run["output"], expected.as_str());
}

/// One more step of the guide's workflow: all places of its map.
const PLACES: &str = "
[steps.places]
service = '/datasets'
operation = 'read'
with = { name = '${map.outputs.places}', format = 'csv' }
";

#[test]
fn a_workflow_runs_on_a_node_as_it_does_without_one() {
    let (node, sandbox) = (Served::start(&["--start", "lehr/records=/notes"]), guide());
    let asked = sandbox.lehr(&["run", "greeting.toml", "--node", &node.at("")]).succeeded();
    assert_eq!(asked.stdout, "hello, world, 3 times\n");
    let lines: Vec<&str> = asked.stderr.lines().map(|line| line.split(" after ").next().unwrap()).collect();
    assert_eq!(lines, ["note: begun", "note: done", "read: begun", "read: done", "greeting-1: done"]);
    let kept = sandbox.lehr(&["get", &node.at("/workflows")]).succeeded().stdout;
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(
        (&kept["runs"]["greeting-1"]["state"], &kept["runs"]["greeting-1"]["output"]),
        (&"done".into(), &"hello, world, 3 times".into())
    );
    // Nothing is kept here.
    assert!(sandbox.list("lehr-run").is_empty());
}

#[test]
fn everything_that_is_wrong_with_a_workflow_is_told_and_nothing_is_done() {
    let sandbox = guide();
    let text = blocks("example")[0].1.replace("operation = \"find\"", "operation = \"fnd\"").replace("whom}", "who}");
    sandbox.write("wrong.toml", &text);
    let refused = sandbox.lehr(&["run", "wrong.toml"]);
    assert_eq!(
        (refused.code, refused.stderr.as_str()),
        (
            3,
            "error: wrong.toml, line 16, steps.note.with.value.text: expected a parameter (times, whom), found ${parameters.who}\n"
        )
    );
    sandbox.write("wrong.toml", text.replace("who}", "whom}"));
    let refused = sandbox.lehr(&["run", "wrong.toml", "--set", "times=often"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.stderr.contains("wrong.toml, line 7, parameters.times: expected a whole number, found \"often\""),
        "{}",
        refused.stderr
    );
    let refused = sandbox.lehr(&["run", "wrong.toml"]);
    assert_eq!(refused.code, 3);
    let expected = "wrong.toml, line 20, steps.read.operation: expected an operation of lehr/records (delete, find, insert, replace, update, upsert), found \"fnd\"";
    assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    let mut left: Vec<String> = blocks("example").into_iter().map(|(name, _)| name).collect();
    left.push("wrong.toml".to_owned());
    left.sort();
    assert_eq!(sandbox.list("."), left);
    let missing = sandbox.lehr(&["run", "nowhere.toml"]);
    assert_eq!((missing.code, missing.stderr.as_str()), (4, "error: nowhere.toml: no such file\n"));
    let nothing = sandbox.lehr(&["run", "greeting.toml", "--resume"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (4, "error: there is no run of greeting to continue\n"));
}

/// A step that fails until a record is there.
const WAITING: &str = "
name = 'waiting'
output = '${read.value}'

[services.'/notes']
contract = 'lehr/records'
keep = true

[steps.first]
service = '/notes'
operation = 'insert'
with = { key = 'first', value = 1 }

[steps.read]
service = '/notes'
operation = 'find'
with = { key = '${parameters.key}' }
after = ['first']
RETRY
[parameters]
key = 'absent'
";

#[test]
fn a_run_that_failed_goes_on_where_it_was() {
    let sandbox = Sandbox::with("waiting.toml", WAITING.replace("RETRY", ""));
    let failed = sandbox.lehr(&["run", "waiting.toml"]);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("step read: no record \"absent\" (unknown_entry)"), "{}", failed.stderr);
    assert!(
        failed.stderr.contains("hint: finished steps are kept; continue with: lehr run waiting.toml --resume"),
        "{}",
        failed.stderr
    );
    // The record comes from elsewhere; the first step, which would fail if it were done again, is not.
    sandbox.write("note.toml", "name = 'note'\n[services.'/notes']\ncontract = 'lehr/records'\nkeep = true\n[steps.note]\nservice = '/notes'\noperation = 'insert'\nwith = { key = 'absent', value = { value = 'found' } }\n");
    sandbox.lehr(&["run", "note.toml"]).succeeded();
    let resumed = sandbox.lehr(&["run", "waiting.toml", "--resume"]).succeeded();
    assert_eq!(resumed.stdout, "found\n");
    assert!(resumed.stderr.starts_with("waiting-1: continues; done before: first\n"), "{}", resumed.stderr);
    let again = sandbox.lehr(&["run", "waiting.toml", "--from", "read", "--json"]).succeeded();
    let run: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&run["state"], &run["part"], &run["steps"]["first"]["items"][0]["attempts"]),
        (&"done".into(), &3.into(), &1.into())
    );
}

#[test]
fn a_manifest_is_applied_to_a_node_that_runs() {
    let (node, sandbox) = (Served::start(&[]), guide());
    let url = node.at("");
    let table = "\
path      contract      action  because
/notes    lehr/records  start
/archive  lehr/records  start
";
    let review = sandbox.lehr(&["apply", "node.toml", "--node", &url, "--dry-run"]).succeeded();
    assert_eq!(review.stdout, table);
    assert!(!sandbox.lehr(&["ls", &url]).succeeded().stdout.contains("/notes"));
    assert_eq!(sandbox.lehr(&["apply", "node.toml", "--node", &url]).succeeded().stdout, table);
    assert!(sandbox.lehr(&["ls", &url]).succeeded().stdout.contains("/archive      lehr/records"));
    sandbox.write("node.toml", "[services.'/notes']\ncontract = 'lehr/recrods'\n");
    let refused = sandbox.lehr(&["apply", "node.toml", "--node", &url]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.stderr.contains("node.toml, line 2, services.\"/notes\".contract: expected a kind of service"),
        "{}",
        refused.stderr
    );
}

/// Methods have cores and settings of their own; what they keep, and which programs run, a manifest does not say.
#[test]
fn a_manifest_places_methods_with_cores_and_settings() {
    let (node, sandbox) = (Served::start(&[]), Sandbox::with("sites.csv", "x\n0\n1\n10\n11\n"));
    let url = node.at("");
    // For machines with one core, too.
    let (_, heavy) = blocks("example").into_iter().find(|(name, _)| name == "heavy.toml").unwrap();
    sandbox.write("node.toml", heavy.replace("cores = [0, 1]", "cores = [0]"));
    let applied = sandbox.lehr(&["apply", "node.toml", "--node", &url, "--timeout", "86400"]).succeeded();
    assert!(applied.stdout.contains("/heavy  lehr.clustering  start"), "{}", applied.stdout);
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "86400"]].concat()).succeeded().stdout;
    ask(&["upload", "sites.csv", &node.at("/datasets")]);
    ask(&["submit", &node.at("/heavy"), "run", r#"{"input": "sites", "options": {"clusters": 2}}"#]);
    assert!(ask(&["query", &node.at("/heavy"), "wait", r#"{"job": "heavy-1"}"#]).contains("\"state\": \"done\""));

    let wrong = "[services.'/heavy']\ncontract = 'lehr.clustering'\nkeep = true\nrestart = { crashes = 1, within_seconds = 1 }\n\
                 configuration = { program = '/bin/true', concurrency = 0 }\n";
    sandbox.write("node.toml", wrong);
    let refused = sandbox.lehr(&["apply", "node.toml", "--node", &url]);
    assert_eq!(refused.code, 3);
    for expected in [
        "node.toml, line 3, services.\"/heavy\".keep: expected nothing (lehr.clustering decides that for itself)",
        "node.toml, line 4, services.\"/heavy\".restart: expected nothing",
        "node.toml, line 5, services.\"/heavy\".configuration.program: expected one of the fields",
    ] {
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    assert!(ask(&["ls", &url]).contains("/heavy"));
}

#[test]
fn a_node_starts_with_a_manifest_or_not_at_all() {
    let sandbox = guide();
    let manifest = sandbox.path("node.toml");
    let node = Served::start(&["--manifest", manifest.to_str().unwrap()]);
    assert!(sandbox.lehr(&["ls", &node.at("")]).succeeded().stdout.contains("/archive"));
    sandbox.write("wrong.toml", "[services.'/a']\ncontract = 5\n[services.'/b']\nkeeps = true\n");
    let refused = sandbox.lehr(&["serve", "--listen", "127.0.0.1:0", "--manifest", "wrong.toml"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.stderr.contains("wrong.toml, line 2, services.\"/a\".contract: expected a text, found 5"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("line 3, services.\"/b\": expected the field contract (a text), found none"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("line 4, services.\"/b\".keeps: expected one of the fields"), "{}", refused.stderr);
}

/// Used by tests that stop a run half-way.
#[cfg(unix)]
pub fn signal(process: &std::process::Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_run_without_a_node_is_stopped_by_ctrl_c_or_killed_and_goes_on() {
    let node = Served::start(&[]);
    // Runs on the node that wait for themselves, until they are cancelled: something to wait for.
    let hold = |number: usize| {
        let text = format!(
            "name = 'hold'\n[steps.wait]\nservice = '/workflows'\noperation = 'wait'\nwith = {{ run = 'hold-{number}' }}\n"
        );
        serde_json::json!({ "file": "hold.toml", "definition": text }).to_string()
    };
    for (number, how, code) in [(1, "-INT", Some(130)), (2, "-KILL", None)] {
        let text = format!(
            "name = 'far'\noutput = '${{wait.state}}'\n[services.'/notes']\ncontract = 'lehr/records'\nkeep = true\n\
             [steps.first]\nservice = '/notes'\noperation = 'insert'\nwith = {{ key = 'first', value = 1 }}\n\
             [steps.wait]\nnode = '{}'\nservice = '/workflows'\noperation = 'wait'\nwith = {{ run = 'hold-{number}' }}\nafter = ['first']\n",
            node.at("")
        );
        let sandbox = Sandbox::with("far.toml", text);
        let asked = |operation: &str, body: &str| {
            sandbox.lehr(&["submit", &node.at("/workflows"), operation, body, "--timeout", "86400"]).succeeded()
        };
        asked("run", &hold(number));
        let mut running = sandbox.start(&["run", "far.toml"]);
        let mut lines = BufReader::new(running.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "wait: begun"));
        signal(&running, how);
        let rest: Vec<String> = lines.collect();
        assert_eq!(running.wait().unwrap().code(), code, "{rest:?}");
        if code.is_some() {
            assert!(rest.contains(&"hint: continue with: lehr run far.toml --resume".to_owned()), "{rest:?}");
        }
        asked("cancel", &format!(r#"{{"run": "hold-{number}"}}"#));
        // The first step would fail if it were done again.
        let resumed = sandbox.lehr(&["run", "far.toml", "--resume"]).succeeded();
        assert_eq!(resumed.stdout, "cancelled\n", "{}", resumed.stderr);
    }
}

/// Data of this machine, clustered in this process.
const REGIONS: &str = "
name = 'regions'
output = '${cluster.figures}'

[services.'/datasets']
contract = 'lehr.datasets'

[services.'/clustering']
contract = 'lehr.clustering'
after = ['/datasets']

[steps.read]
service = '/datasets'
operation = 'open'
with = { name = 'clouds', path = 'clouds.csv' }

[steps.cluster]
service = '/clustering'
operation = 'run'
with = { input = 'clouds', options = { clusters = 25 } }
job = true
after = ['read']
";

#[cfg(unix)]
#[test]
fn a_job_of_a_run_that_is_stopped_or_killed_goes_on_to_the_same_result() {
    let sandbox = |name: &str| {
        let sandbox = Sandbox::with("clouds.csv", clouds(8_000));
        sandbox.write(name, REGIONS);
        sandbox
    };
    let whole = sandbox("regions.toml").lehr(&["run", "regions.toml"]).succeeded().stdout;
    assert!(whole.contains("\"clusters\": 25.0"), "{whole}");
    for (how, code) in [("-INT", Some(130)), ("-KILL", None)] {
        let sandbox = sandbox("regions.toml");
        let mut running = sandbox.start(&["run", "regions.toml"]);
        let mut lines = BufReader::new(running.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "cluster: job clustering-1"));
        signal(&running, how);
        let rest: Vec<String> = lines.collect();
        let ended = running.wait().unwrap().code();
        // On a fast machine the job may be done before the signal is there.
        assert!(ended == code || ended == Some(0), "{rest:?}");
        let words: &[&str] = if ended == Some(0) { &["--from", "cluster"] } else { &["--resume"] };
        let resumed = sandbox.lehr(&[&["run", "regions.toml", "--json"][..], words].concat()).succeeded();
        let run: serde_json::Value = serde_json::from_str(&resumed.stdout).unwrap();
        assert_eq!(format!("{:#}\n", run["output"]), whole, "{}", resumed.stderr);
        assert_eq!(run["steps"]["read"]["items"][0]["attempts"], 1);
        if ended != Some(0) {
            assert_eq!(run["steps"]["cluster"]["items"][0]["job"], "clustering-1");
        }
    }
}

/// The data on one node, the clustering on another, the run on neither.
#[test]
fn data_of_one_node_are_clustered_on_another() {
    let sandbox = Sandbox::with("root/clouds.csv", clouds(600));
    let data = Served::start(&["--data-root", sandbox.path("root").to_str().unwrap()]);
    let compute = Served::start(&[]);
    let nodes = "[parameters]\ndata = { type = 'string' }\ncompute = { type = 'string' }\n";
    let text = REGIONS
        .replace("[services.'/datasets']\ncontract = 'lehr.datasets'\n", nodes)
        .replace("[services.'/clustering']\ncontract = 'lehr.clustering'\nafter = ['/datasets']\n", "")
        .replace("[steps.read]\n", "[steps.read]\nnode = '${parameters.data}'\n")
        .replace(
            "[steps.cluster]\n",
            "[steps.cluster]\nnode = '${parameters.compute}'\nfetch = [{ dataset = 'clouds', from = '${parameters.data}' }]\n",
        );
    sandbox.write("regions.toml", text);
    let (here, there) = (format!("data={}", data.at("")), format!("compute={}", compute.at("")));
    let apart = sandbox.lehr(&["run", "regions.toml", "--set", &here, "--set", &there]).succeeded();
    sandbox.write("together.toml", REGIONS);
    let together = sandbox.lehr(&["run", "together.toml", "--keep", "together", "--data-root", "root"]).succeeded();
    assert_eq!(apart.stdout, together.stdout);
    let state = |node: &Served| -> serde_json::Value {
        serde_json::from_str(&sandbox.lehr(&["get", &node.at("/datasets")]).succeeded().stdout).unwrap()
    };
    let (near, far) = (state(&data), state(&compute));
    assert_eq!(near["datasets"]["clouds"]["checksum"], far["datasets"]["clouds"]["checksum"]);
    assert_eq!(far["datasets"]["clustering-1/labels"]["rows"], 600);
    assert_eq!(near["datasets"].as_object().unwrap().len(), 1);
}
