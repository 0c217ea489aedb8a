//! What a viewer of traces takes for granted of its file.

use std::collections::BTreeMap;

/// The events of a rank: category, name, start and end in microseconds.
pub type Track = Vec<(String, String, f64, f64)>;

/// The tracks of a trace by rank; every event has what a viewer needs.
pub fn tracks(text: &str) -> BTreeMap<u64, Track> {
    let json: serde_json::Value = serde_json::from_str(text).expect("a trace is JSON");
    let mut tracks = BTreeMap::<u64, Track>::new();
    for event in json["traceEvents"].as_array().unwrap() {
        let text = |field: &str| event[field].as_str().unwrap().to_owned();
        match event["ph"].as_str().unwrap() {
            "M" if event["name"] == "thread_name" => {
                let rank = event["tid"].as_u64().unwrap();
                assert_eq!(event["args"]["name"], format!("rank {rank}"));
                assert!(tracks.insert(rank, Vec::new()).is_none(), "a rank has one track");
            }
            "M" => assert_eq!(event["name"], "process_name"),
            "X" => {
                let (start, duration) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
                assert!(event["pid"].is_u64() && duration >= 0.0, "{event}");
                let track = tracks.get_mut(&event["tid"].as_u64().unwrap()).expect("a track is named first");
                track.push((text("cat"), text("name"), start, start + duration));
            }
            other => panic!("an event of kind {other}"),
        }
    }
    tracks
}

/// Sees that any two spans lie apart or one in the other.
pub fn expect_nested(track: &Track) {
    let mut spans: Vec<(f64, f64)> = track.iter().map(|span| (span.2, span.3)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    // The ends of those that are open. Sums of microseconds are rounded in the last digit of a double.
    let mut open: Vec<f64> = Vec::new();
    for (start, end) in spans {
        while open.last().is_some_and(|&outer| outer <= start + 1e-4) {
            open.pop();
        }
        assert!(open.last().is_none_or(|&outer| end <= outer + 1e-4), "a span from {start} to {end} in {open:?}");
        open.push(end);
    }
}
