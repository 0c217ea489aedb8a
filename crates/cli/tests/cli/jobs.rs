//! Nodes that are killed while they compute, take data in, and write their state; and what is there afterwards.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use lehr_jobs::datasets::{Append, Begin, Datasets, Finish, Open, Read};
use lehr_jobs::jobs::{Jobs, Order, Progressed, Record, Run, State, Wait, WaitFor};
use lehr_jobs::{Bytes, Distances, Form, Method, RowFormat};
use lehr_methods::cluster::Options;
use lehr_node::Client;
use lehr_runtime::block_on;
use lehr_services::{Event, Reference, Subscribe, Version};

use super::sandbox::Sandbox;
use super::services::Served;

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(3000);

fn serve(keep: &Path, root: &Path) -> Served {
    Served::start(&["--keep", keep.to_str().unwrap(), "--data-root", root.to_str().unwrap()])
}

pub fn datasets(client: &Client, node: &Served) -> Reference<Datasets> {
    Reference::over(client.link(&node.at("/datasets")).unwrap()).within(LONG)
}

pub fn clustering(client: &Client, node: &Served) -> Reference<Jobs> {
    let jobs = Reference::over(client.link(&node.at("/clustering")).unwrap()).within(LONG);
    jobs.of_contract("lehr.clustering", Version::new(1, 0)).unwrap()
}

/// Rows in a dozen clouds, so many that clustering them takes some time.
pub fn clouds(rows: usize) -> String {
    let mut text = String::from("x,y\n");
    let mut state = 11u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 0..rows {
        let (x, y) = ((row % 4) as f64 * 3.0, (row % 3) as f64 * 4.0);
        text.push_str(&format!("{:.6},{:.6}\n", x + next() + next(), y + next() + next()));
    }
    text
}

fn order() -> Order {
    let options: Options = serde_json::from_str(r#"{ "clusters": 25 }"#).unwrap();
    Order { output: Some("regions".into()), ..Order::new("clouds", &options) }
}

pub async fn wait(jobs: &Reference<Jobs>, job: &str) -> Record {
    jobs.call(Wait::of(WaitFor::new(job))).await.unwrap()
}

pub async fn all_of(datasets: &Reference<Datasets>, name: &str) -> String {
    let (mut text, mut from) = (String::new(), 0);
    loop {
        let read = Read { name: name.to_owned(), format: RowFormat::Csv, from, ..Read::default() };
        let piece = datasets.call(read).await.unwrap();
        text += &piece.csv.unwrap();
        from = piece.to;
        if from == piece.rows {
            return text;
        }
    }
}

#[test]
fn a_job_whose_node_is_killed_goes_on_by_itself_to_the_same_bytes() {
    let sandbox = Sandbox::with("root/clouds.csv", clouds(20_000));
    let client = Client::new(None).unwrap();
    let root = sandbox.path("root");
    let whole = serve(&sandbox.path("whole"), &root);
    let expected = block_on(async {
        let (datasets, jobs) = (datasets(&client, &whole), clustering(&client, &whole));
        datasets.call(Open::new("clouds", "clouds.csv")).await.unwrap();
        let job = jobs.call(Run::of(order())).await.unwrap().job;
        assert_eq!(wait(&jobs, &job).await.state, State::Done);
        [all_of(&datasets, "regions/labels").await, all_of(&datasets, "regions/centers").await]
    });
    drop(whole);

    let keep = sandbox.path("killed");
    let mut node = serve(&keep, &root);
    block_on(async {
        let (datasets, jobs) = (datasets(&client, &node), clustering(&client, &node));
        datasets.call(Open::new("clouds", "clouds.csv")).await.unwrap();
        jobs.call(Run::of(order())).await.unwrap();
    });
    for _ in 0..3 {
        block_on(async {
            let jobs = clustering(&client, &node);
            let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed", "ended"])).await.unwrap();
            let Ok(Event::Seed(state)) = changes.next().await else { panic!("no state") };
            if state.jobs["clustering-1"].state != State::Done {
                // Until something has happened; what, does not matter.
                let _ = changes.next().await;
            }
        });
        node.process.kill().unwrap();
        node.process.wait().unwrap();
        node = serve(&keep, &root);
    }
    block_on(async {
        let (datasets, jobs) = (datasets(&client, &node), clustering(&client, &node));
        let done = wait(&jobs, "clustering-1").await;
        assert_eq!((done.state, done.fault), (State::Done, None));
        assert_eq!(all_of(&datasets, "regions/labels").await, expected[0]);
        assert_eq!(all_of(&datasets, "regions/centers").await, expected[1]);
    });
}

#[test]
fn an_upload_whose_node_is_killed_goes_on_at_an_offset_that_was_acknowledged_or_later() {
    let sandbox = Sandbox::new();
    let (keep, root) = (sandbox.path("keep"), sandbox.path("root"));
    std::fs::create_dir(&root).unwrap();
    let client = Client::new(None).unwrap();
    let text = clouds(2_000);
    let bytes = text.as_bytes();
    let begin = || Begin { bytes: Some(bytes.len() as u64), ..Begin::new("clouds", Form::Csv) };
    let mut acknowledged = 0;
    for kill_after in [1, 4, 9] {
        let mut node = serve(&keep, &root);
        let datasets = datasets(&client, &node);
        let (tell, told) = channel();
        let process = &mut node.process;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = told.recv();
                process.kill().unwrap();
                process.wait().unwrap();
            });
            block_on(async {
                let mut offset = datasets.call(begin()).await.unwrap().offset;
                assert!(offset >= acknowledged, "{offset} of {acknowledged}");
                for piece in 0.. {
                    if piece == kill_after {
                        tell.send(()).unwrap();
                    }
                    let end = (offset as usize + 500).min(bytes.len());
                    let data = Bytes::from(bytes[offset as usize..end].to_vec());
                    match datasets.call(Append { name: "clouds".into(), offset, data }).await {
                        Ok(next) => offset = next.offset,
                        Err(_) => break,
                    }
                    acknowledged = offset;
                    if offset == bytes.len() as u64 {
                        break;
                    }
                }
            });
        });
    }
    let node = serve(&keep, &root);
    block_on(async {
        let datasets = datasets(&client, &node);
        let offset = datasets.call(begin()).await.unwrap().offset;
        assert!(offset >= acknowledged, "{offset} of {acknowledged}");
        if offset < bytes.len() as u64 {
            let data = Bytes::from(bytes[offset as usize..].to_vec());
            datasets.call(Append { name: "clouds".into(), offset, data }).await.unwrap();
        }
        assert_eq!(datasets.call(Finish { name: "clouds".into() }).await.unwrap().rows, 2_000);
        let read: Vec<f64> = numbers(&all_of(&datasets, "clouds").await);
        assert_eq!(read, numbers(&text));
    });
}

fn numbers(text: &str) -> Vec<f64> {
    text.lines().skip(1).flat_map(|line| line.split(',')).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn orders_that_were_acknowledged_are_there_after_a_kill_in_the_middle_of_others() {
    let sandbox = Sandbox::with("root/line.csv", "x\n0\n1\n5\n");
    let (keep, root) = (sandbox.path("keep"), sandbox.path("root"));
    let client = Client::new(None).unwrap();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..6 {
        let mut node = serve(&keep, &root);
        let jobs = clustering(&client, &node);
        block_on(async {
            if round == 0 {
                datasets(&client, &node).call(Open::new("line", "line.csv")).await.unwrap();
            }
            let state = jobs.get().await.unwrap();
            for job in &acknowledged {
                assert!(state.jobs.contains_key(job), "{job} of {:?}", state.jobs.keys());
            }
        });
        let (tell, told) = channel();
        let process = &mut node.process;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let _ = told.recv();
                process.kill().unwrap();
                process.wait().unwrap();
            });
            block_on(async {
                for number in 0.. {
                    if number == round + 1 {
                        tell.send(()).unwrap();
                    }
                    let options: Options = serde_json::from_str(r#"{ "clusters": 2 }"#).unwrap();
                    match jobs.call(Run::of(Order::new("line", &options))).await {
                        Ok(named) => acknowledged.push(named.job),
                        Err(fault) if fault.retry_hint().is_some() && number <= round => {}
                        Err(_) => break,
                    }
                }
            });
        });
    }
    let node = serve(&keep, &root);
    let jobs = clustering(&client, &node);
    block_on(async {
        for job in &acknowledged {
            let ended = wait(&jobs, job).await;
            assert_eq!((ended.state, ended.fault), (State::Done, None), "{job}");
        }
    });
}

/// A launcher that is a script, and starts one process; real ones are in `launched/services.rs`. Whoever waits at the
/// other end of `alive` hears when that has ended.
#[cfg(unix)]
fn launcher(sandbox: &Sandbox) -> String {
    use std::os::unix::fs::PermissionsExt;

    let (alive, launcher) = (sandbox.path("alive"), sandbox.path("launcher"));
    assert!(std::process::Command::new("mkfifo").arg(&alive).status().unwrap().success());
    sandbox.write("launcher", format!("#!/bin/sh\nshift 2\nexec \"$@\" 7<>'{}'\n", alive.display()));
    std::fs::set_permissions(&launcher, std::fs::Permissions::from_mode(0o755)).unwrap();
    launcher.display().to_string()
}

#[cfg(unix)]
#[test]
fn the_processes_of_a_job_end_with_a_node_that_is_killed() {
    let sandbox = Sandbox::with("root/clouds.csv", clouds(5_000));
    let settings = format!("lehr.clustering=/clustering,layout=1x1x1,mpiexec={}", launcher(&sandbox));
    let (keep, root) = (sandbox.path("keep"), sandbox.path("root"));
    let options = ["--keep", keep.to_str().unwrap(), "--data-root", root.to_str().unwrap(), "--start", &settings];
    let mut node = Served::start(&options);
    let client = Client::new(None).unwrap();
    block_on(async {
        let (datasets, jobs) = (datasets(&client, &node), clustering(&client, &node));
        datasets.call(Open::new("clouds", "clouds.csv")).await.unwrap();
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        // One that lasts until it is stopped.
        let options: Options = serde_json::from_str(r#"{ "stop_length": 1e-9 }"#).unwrap();
        jobs.call(Run::of(Order::new("clouds", &options))).await.unwrap();
        while !matches!(changes.next().await.unwrap(), Event::Change(_)) {}
    });
    let mut alive = std::fs::File::open(sandbox.path("alive")).unwrap();
    node.kill();
    assert_eq!(std::io::Read::read_to_end(&mut alive, &mut Vec::new()).unwrap(), 0);
}

/// What is too large to be saved anew each second is a log, which the next try takes over.
#[cfg(unix)]
#[test]
fn distances_in_processes_whose_node_is_killed_go_on_to_the_same_bytes() {
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    let text = |row: usize| -> String {
        (0..200).map(|at| letter(if (row * 31 + at).is_multiple_of(11) { row * 1000 + at } else { at })).collect()
    };
    // Some seconds of work in eleven steps.
    let genes: String = (0..640).map(|row| format!(">s{row}\n{}\n", text(row))).collect();
    let sandbox = Sandbox::with("root/genes.fasta", genes);
    let settings = format!("lehr.distances=/spread,layout=1x1x1,mpiexec={}", launcher(&sandbox));
    let (keep, root) = (sandbox.path("keep"), sandbox.path("root"));
    let options = [
        "--keep",
        keep.to_str().unwrap(),
        "--data-root",
        root.to_str().unwrap(),
        "--start",
        &settings,
        "--start",
        "lehr.distances=/here",
    ];
    let client = Client::new(None).unwrap();
    let jobs = |node: &Served, path: &str| {
        let jobs = Reference::<Jobs>::over(client.link(&node.at(path)).unwrap()).within(LONG);
        jobs.of_contract(Distances::NAME, Distances::VERSION).unwrap()
    };
    let order = |output: &str| Order {
        output: Some(output.to_owned()),
        ..Order::new("genes", &lehr_jobs::distances::Options::default())
    };
    // The next report, and how much had been done by then.
    let reported = async |jobs: &Reference<Jobs>, least: f64| {
        let mut changes = jobs.subscribe(Subscribe::default().operations(["progressed"])).await.unwrap();
        loop {
            if let Event::Change(change) = changes.next().await.unwrap() {
                let fraction = change.operation::<Progressed>().unwrap().body.progress.fraction;
                if fraction >= least {
                    return fraction;
                }
            }
        }
    };
    let mut node = Served::start(&options);
    block_on(async {
        let spread = jobs(&node, "/spread");
        datasets(&client, &node).call(Open::new("genes", "genes.fasta")).await.unwrap();
        spread.call(Run::of(order("spread"))).await.unwrap();
        reported(&spread, 0.3).await;
    });
    node.kill();
    let node = Served::start(&options);
    block_on(async {
        let (spread, here) = (jobs(&node, "/spread"), jobs(&node, "/here"));
        // Not from the beginning.
        assert!(reported(&spread, 0.0).await > 0.25);
        assert_eq!(spread.call(Wait::of(WaitFor::new("spread-1"))).await.unwrap().state, State::Done);
        let job = here.call(Run::of(order("here"))).await.unwrap().job;
        assert_eq!(here.call(Wait::of(WaitFor::new(job))).await.unwrap().state, State::Done);
        let state = datasets(&client, &node).get().await.unwrap();
        for table in ["items", "matrix", "members"] {
            let checksum = |output: &str| state.datasets[&format!("{output}/{table}")].checksum.clone();
            assert_eq!(checksum("spread"), checksum("here"), "{table}");
        }
    });
    assert_eq!(sandbox.list("keep/spread/checkpoints"), Vec::<String>::new());
}

#[test]
fn the_first_steps_of_the_guide() {
    let sandbox = Sandbox::with("root/iris/iris.csv", "x,y\n1,2\n1,3\n8,9\n");
    sandbox.write("sites.csv.txt", "site,x\na,0\nb,1\nc,10\nd,11\n");
    sandbox.write("broken.csv", "a,b\n1,2\n3\n4,x\n");
    let node = serve(&sandbox.path("keep"), &sandbox.path("root"));
    let (datasets, clustering) = (node.at("/datasets"), node.at("/clustering"));
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "3000"]].concat());
    let uploaded = ask(&["upload", "sites.csv.txt", &datasets, "--id", "site", "--format", "csv"]).succeeded();
    assert_eq!(uploaded.stdout, "sites: 4 rows of site, x\n");
    let again = ask(&["upload", "sites.csv.txt", &datasets]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("there is a data set \"sites\""), "{}", again.stderr);
    let broken = ask(&["upload", "broken.csv", &datasets]);
    assert_eq!(broken.code, 3);
    assert!(broken.stderr.contains("broken, line 3: expected 2 fields, found 1"), "{}", broken.stderr);
    assert!(broken.stderr.contains("broken: 2 faults in all"), "{}", broken.stderr);
    let nameless = ask(&["upload", "root/iris", &datasets]);
    assert_eq!(nameless.code, 2);
    ask(&["submit", &datasets, "open", r#"{"name": "flowers", "path": "iris/iris.csv"}"#]).succeeded();
    let order = r#"{"input": "sites", "options": {"clusters": 2}, "output": "regions"}"#;
    let run = ask(&["submit", &clustering, "run", order]).succeeded();
    assert_eq!(run.stdout, "{\n  \"job\": \"clustering-1\"\n}\n");
    let done = ask(&["query", &clustering, "wait", r#"{"job": "clustering-1"}"#]).succeeded().stdout;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&done).unwrap()["state"], "done");
    let rows = r#"{"job": "clustering-1", "table": "labels", "format": "csv"}"#;
    let labels = ask(&["query", &clustering, "result", rows]).succeeded().stdout;
    let labels: serde_json::Value = serde_json::from_str(&labels).unwrap();
    let lines: Vec<&str> = labels["csv"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "id,cluster,probability,distance,second_cluster,second_distance");
    assert!(lines[1].starts_with("a,1,") && lines[4].starts_with("d,0,"), "{lines:?}");
    let slip = ask(&["submit", &clustering, "run", r#"{"input": "sites", "options": {"cluster": 2}}"#]);
    assert_eq!(slip.code, 3);
    assert!(slip.stderr.contains("unknown field `cluster`"), "{}", slip.stderr);
}

#[test]
fn sequences_fingerprints_and_tables_with_gaps_are_uploaded_and_compared() {
    let sandbox = Sandbox::with("genes.fasta", ">a one\nACGTACGTAC\n>b\nACGTACCTAC\n>c\nTTGTACCTAC\n");
    // Sequences under another name, which says nothing of them.
    sandbox.write("genes.seq", sandbox.read("genes.fasta"));
    sandbox.write("drugs.fps", "#FPS1\n#num_bits=12\n0b01\tone\n0b00\ttwo\nf00f\tthree\n");
    sandbox.write("survey.csv", "person,a,b\np,1,\nq,,2\nr,4,2\n");
    let node = Served::start(&["--start", "lehr.distances=/distances"]);
    let (datasets, distances) = (node.at("/datasets"), node.at("/distances"));
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "3000"]].concat());
    for (words, said) in [
        (&["genes.fasta"][..], "genes: 3 rows of id, sequence\n"),
        (&["genes.seq", "--name", "again", "--format", "fasta"], "again: 3 rows of id, sequence\n"),
        (&["drugs.fps"], "drugs: 3 rows of id, fingerprint\n"),
        (&["survey.csv", "--id", "person", "--missing"], "survey: 3 rows of person, a, b\n"),
    ] {
        let line = [&["upload", words[0], &datasets], &words[1..]].concat();
        assert_eq!(ask(&line).succeeded().stdout, said);
    }
    let matrix = |input: &str| {
        let order = serde_json::json!({ "input": input, "options": {}, "output": format!("{input}-compared") });
        ask(&["submit", &distances, "run", &order.to_string()]).succeeded();
        let state: serde_json::Value = serde_json::from_str(&ask(&["get", &distances]).succeeded().stdout).unwrap();
        let job = format!("distances-{}", state["count"]);
        let wait = serde_json::json!({ "job": job });
        assert!(ask(&["query", &distances, "wait", &wait.to_string()]).succeeded().stdout.contains("\"done\""));
        let rows = serde_json::json!({ "job": job, "table": "matrix", "format": "csv" });
        let piece = ask(&["query", &distances, "result", &rows.to_string()]).succeeded().stdout;
        serde_json::from_str::<serde_json::Value>(&piece).unwrap()["csv"].as_str().unwrap().to_owned()
    };
    // One letter in ten differs.
    let genes = matrix("genes");
    assert!(genes.starts_with(&format!("dissimilarity\n{}\n", f64::from(0.1f32))), "{genes}");
    assert_eq!(matrix("again"), genes);
    // Of four bits three are common, of eleven one, of eleven none.
    assert_eq!(matrix("drugs"), format!("dissimilarity\n0.25\n{}\n1\n", f64::from(10.0f32 / 11.0)));
    // Over the columns that both have, scaled up to all of them; the first two have none in common.
    assert_eq!(matrix("survey"), format!("dissimilarity\nNaN\n{}\n0\n", f64::from(18f32.sqrt())));

    // An ordinary table, with what the reader would decide otherwise.
    sandbox.write("shop.csv", "code,since,note\n00042,03.04.2021,\n00007,05.06.2021,new\n");
    let table = ["upload", "shop.csv", &datasets, "--format", "table"];
    let found = ask(&table).succeeded();
    assert_eq!(found.stdout, "shop: 2 rows of code, since, note\n");
    assert!(found.stderr.contains("\"code\" is read as text"), "{}", found.stderr);
    assert!(found.stderr.contains("dates in \"since\" are ambiguous"), "{}", found.stderr);
    let dialect = r#"{ "as_number": ["code"], "dates": "month_first" }"#;
    let asked = ask(&[&table[..], &["--replace", "--dialect", dialect]].concat()).succeeded();
    assert_eq!(asked.stderr, "");
    let slip = ask(&[&table[..], &["--replace", "--dialect", r#"{ "date": "month_first" }"#]].concat());
    assert!(slip.code == 2 && slip.stderr.contains("unknown field `date`"), "{}", slip.stderr);

    let refused = ask(&["upload", "survey.csv", &datasets, "--id", "person", "--replace"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("survey, line 2, column 3"), "{}", refused.stderr);
    let refused = ask(&["upload", "genes.fasta", &datasets, "--id", "id", "--replace"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("expected with tables only"), "{}", refused.stderr);
    let refused = ask(&["upload", "survey.csv", &datasets, "--gaps", "--weights", "a"]);
    assert_eq!(refused.code, 2);
    let refused = ask(&["upload", "genes.seq", &datasets]);
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("--format table, csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_matrix_of_16_bits_is_the_one_of_the_command_wherever_it_comes_from() {
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    let text = |row: usize| -> String {
        (0..80).map(|at| letter(if (row * 31 + at).is_multiple_of(11) { row % 35 * 1000 + at } else { at })).collect()
    };
    let genes: String = (0..40).map(|row| format!(">s{row}\n{}\n", text(row))).collect();
    let sandbox = Sandbox::with("genes.fasta", genes);
    for (form, out) in [("condensed", "half"), ("full", "whole")] {
        let line = ["distances", "genes.fasta", "--element", "u16", "--form", form, "-q", "--out", out];
        sandbox.lehr(&line).succeeded();
    }
    sandbox.lehr(&["pairwise", "half/dissimilarities.json", "-k", "3", "-q", "--out", "clusters"]).succeeded();
    sandbox.lehr(&["embed", "half/dissimilarities.json", "-q", "--out", "map"]).succeeded();
    let root = sandbox.path("").display().to_string();
    let node = Served::start(&[
        "--data-root",
        &root,
        "--start",
        "lehr.distances=/distances",
        "--start",
        "lehr.pairwise=/pairwise",
        "--start",
        "lehr.embedding=/embedding",
    ]);
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "3000"]].concat());
    let datasets = node.at("/datasets");
    let uploaded = ask(&["upload", "half/dissimilarities.json", &datasets, "--name", "half"]).succeeded();
    assert_eq!(uploaded.stdout, "half: 780 rows of dissimilarity\n");
    // Header and array in one file.
    let both = ["json", "npy"].map(|end| std::fs::read(sandbox.path(&format!("whole/dissimilarities.{end}"))).unwrap());
    sandbox.write("one", both.concat());
    ask(&["upload", "one", &datasets, "--format", "dissimilarities"]).succeeded();
    // Under the data root, with the array beside it.
    let open = r#"{"name": "opened", "path": "whole/dissimilarities.json"}"#;
    ask(&["submit", &datasets, "open", open]).succeeded();
    ask(&["upload", "genes.fasta", &datasets]).succeeded();
    let run = |service: &str, order: serde_json::Value| {
        let at = node.at(service);
        let job = ask(&["submit", &at, "run", &order.to_string()]).succeeded().stdout;
        let done = ask(&["query", &at, "wait", &job]).succeeded().stdout;
        assert!(done.contains("\"done\""), "{done}");
        serde_json::from_str::<serde_json::Value>(&job).unwrap()["job"].as_str().unwrap().to_owned()
    };
    let compared = run("/distances", serde_json::json!({ "input": "genes", "options": { "bits": 16 } }));
    let state: serde_json::Value = serde_json::from_str(&ask(&["get", &datasets]).succeeded().stdout).unwrap();
    let checksum = |name: &str| state["datasets"][name]["checksum"].as_str().unwrap();
    for name in ["half", "opened", &format!("{compared}/matrix")] {
        assert_eq!(checksum(name), checksum("one"), "{name}");
    }
    // The rows that the commands write, but for names that are not in a matrix.
    let behind_id =
        |csv: &str| -> Vec<String> { csv.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect() };
    let of_job = |service: &str, table: &str, options: serde_json::Value| {
        let job = run(service, serde_json::json!({ "input": "half", "options": options }));
        let rows = serde_json::json!({ "job": job, "table": table, "format": "csv" });
        let piece = ask(&["query", &node.at(service), "result", &rows.to_string()]).succeeded().stdout;
        behind_id(serde_json::from_str::<serde_json::Value>(&piece).unwrap()["csv"].as_str().unwrap())
    };
    let labels = of_job("/pairwise", "labels", serde_json::json!({ "clusters": 3 }));
    assert_eq!(labels, behind_id(&sandbox.read("clusters/labels.csv")));
    let positions = of_job("/embedding", "positions", serde_json::json!({}));
    assert_eq!(positions, behind_id(&sandbox.read("map/positions.csv")));

    // What is wrong is said: an array that is not there, a name that leads elsewhere, a header that is none.
    let header = sandbox.read("half/dissimilarities.json");
    sandbox.write("alone/dissimilarities.json", &header);
    sandbox.write("away/dissimilarities.json", header.replace("dissimilarities.npy", "../half/dissimilarities.npy"));
    sandbox.write("none/dissimilarities.json", "{}");
    for (path, uploading, opening) in [
        ("alone", "alone/dissimilarities.npy: it cannot be read", "no such file under the data root"),
        ("away", "expected the name of a file in the same folder", "expected the name of a file in the same folder"),
        ("none", "expected a header \"lehr dissimilarities 1\"", "expected a header \"lehr dissimilarities 1\""),
    ] {
        let path = format!("{path}/dissimilarities.json");
        let refused = ask(&["upload", &path, &datasets, "--name", "wrong"]);
        assert!(refused.code != 0 && refused.stderr.contains(uploading), "{}", refused.stderr);
        let open = serde_json::json!({ "name": path.replace('/', "-"), "path": path });
        let refused = ask(&["submit", &datasets, "open", &open.to_string()]);
        assert!(refused.code != 0 && refused.stderr.contains(opening), "{}", refused.stderr);
    }
}
