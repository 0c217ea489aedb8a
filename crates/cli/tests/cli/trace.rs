//! `--trace`: a file for a viewer of traces, and what is not lost to it.

use super::sandbox::Sandbox;
use super::trace_file::{Track, expect_nested, tracks};

fn points() -> Sandbox {
    let rows: String = (0..2000).map(|row| format!("{},{}\n", row % 3 * 10 + row % 7, row % 5 * 4)).collect();
    Sandbox::with("points.csv", format!("x,y\n{rows}"))
}

#[test]
fn a_trace_has_every_rank_with_its_computing_waiting_and_communicating() {
    let sandbox = points();
    for engine in ["ranks", "map-reduce"] {
        let line = ["cluster", "points.csv", "-k", "3", "-q", "--threads", "2", "--ranks", "3", "--engine", engine];
        sandbox.lehr(&[&line[..], &["--trace", "trace.json"]].concat()).succeeded();
        let tracks = tracks(&sandbox.read("trace.json"));
        assert_eq!(tracks.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
        for track in tracks.values() {
            expect_nested(track);
            let has = |category: &str, name: &str| track.iter().any(|span| span.0 == category && span.1 == name);
            assert!(has("phase", "annealing") && has("phase", "labelling"), "{engine}");
            assert!(has("compute", "soft assignment") && has("compute", "labels"), "{engine}");
            let call = if engine == "ranks" { "all_reduce_leaves" } else { "all_to_all_v" };
            assert!(has("communication", call) && has("wait", call), "{engine}: {track:?}");
        }
        // The same rounds on all ranks.
        let calls = |track: &Track| track.iter().filter(|span| span.0 == "communication").count();
        assert!(tracks.values().all(|track| calls(track) == calls(&tracks[&0])));
    }
}

#[test]
fn timers_over_ranks_are_in_the_summary_and_on_the_page() {
    let sandbox = points();
    let line = ["cluster", "points.csv", "-k", "3", "-q", "--threads", "2"];
    sandbox.lehr(&[&line[..], &["--ranks", "3"]].concat()).succeeded();
    let summary = sandbox.summary("lehr-out");
    let timers = summary["seconds"]["ranks"].as_array().unwrap();
    let names: Vec<&str> = timers.iter().map(|timer| timer["timer"].as_str().unwrap()).collect();
    for name in ["annealing", "labelling", "computing", "communicating", "waiting"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    for timer in timers {
        let number = |field: &str| timer[field].as_f64().unwrap();
        assert_eq!(timer["ranks"], 3);
        // The mean of equal numbers may be off in its last digit.
        assert!(number("min") <= number("mean") + 1e-12 && number("mean") <= number("max") + 1e-12, "{timer}");
        assert!(timer["slowest"].as_u64().unwrap() < 3);
    }
    assert!(sandbox.read("lehr-out/report.html").contains("<td>waiting</td>"));
    sandbox.lehr(&[&line[..], &["--engine", "loop"]].concat()).succeeded();
    assert_eq!(sandbox.summary("lehr-out")["seconds"]["ranks"].as_array().unwrap().len(), 0);
    assert!(!sandbox.read("lehr-out/report.html").contains("<td>waiting</td>"));
}

#[test]
fn a_trace_replaces_traces_and_nothing_else() {
    let sandbox = points();
    let run = |more: &[&str]| sandbox.lehr(&[&["cluster", "points.csv", "-k", "2", "-q"], more].concat());
    sandbox.write("mine.json", "{}");
    let refused = run(&["--trace", "mine.json"]);
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.starts_with("error: mine.json: is there and is no trace of lehr\n"), "{}", refused.stderr);
    assert_eq!((sandbox.read("mine.json").as_str(), sandbox.list("lehr-out").len()), ("{}", 0));
    run(&["--trace", "mine.json", "--force"]).succeeded();
    run(&["--trace", "mine.json"]).succeeded();
    tracks(&sandbox.read("mine.json"));
    for place in ["lehr-out/labels.csv", "lehr-out/checkpoint"] {
        let refused = run(&["--trace", place]);
        assert_eq!(refused.code, 4, "{}", refused.stderr);
        assert!(refused.stderr.contains("the trace would replace a result"), "{}", refused.stderr);
    }
    let before = sandbox.read("points.csv");
    let refused = run(&["--trace", "points.csv", "--force"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert!(refused.stderr.contains("the input would be overwritten"), "{}", refused.stderr);
    assert_eq!(sandbox.read("points.csv"), before);
    assert_eq!(run(&["--trace", "nowhere/trace.json"]).code, 4);
    run(&["--trace", "lehr-out/trace.json"]).succeeded();
    assert!(sandbox.list("lehr-out").contains(&"trace.json".to_owned()));
}
