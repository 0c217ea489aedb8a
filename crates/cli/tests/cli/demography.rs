//! `lehr demo demography`: regions by attributes, by where a subgroup lives, and by both; profiles and maps.

use super::sandbox::Sandbox;

/// Two towns of forty regions each, 300 km apart; in either half of the regions are rich. The few of the subgroup live
/// in two places of the east.
fn towns() -> String {
    let mut text = String::from("code,lon,lat,people,few,income\n");
    for region in 0..80 {
        let (town, n) = (region / 40, region % 40);
        let rich = n % 2;
        let (lon, lat) = (10.0 + 4.0 * f64::from(town) + 0.01 * f64::from(n % 7), 48.0 + 0.01 * f64::from(n % 5));
        let few = if town == 1 { if n < 20 { 90 } else { 10 } } else { 0 };
        let apart = if town == 1 && n >= 20 { 1.0 } else { 0.0 };
        text.push_str(&format!("r{region},{lon},{},{},{few},{}\n", lat + apart, 100 + n, 10 + 50 * rich + n % 3));
    }
    text
}

const LINE: [&str; 17] = [
    "demo",
    "demography",
    "towns.csv",
    "--id",
    "code",
    "--people",
    "people",
    "--attributes",
    "income",
    "--position",
    "lon,lat",
    "--subgroup",
    "few",
    "-k",
    "2",
    "--quiet",
    "--out=found",
];

/// The column of `labels.csv` with that name.
fn labels(text: &str, name: &str) -> Vec<String> {
    let at = text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

/// Whether two rows are in one cluster if and only if they are of one kind.
fn divides(labels: &[String], kind: impl Fn(usize) -> bool) -> bool {
    (0..labels.len()).all(|row| (labels[row] == labels[0]) == (kind(row) == kind(0)))
}

#[test]
fn each_view_divides_regions_by_what_it_looks_at() {
    let sandbox = Sandbox::with("towns.csv", towns());
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(sandbox.list("found"), ["labels.csv", "profiles.csv", "report.html", "summary.json"]);
    let text = sandbox.read("found/labels.csv");
    assert_eq!(text.lines().next(), Some("id,attributes,position,both"));
    assert!(text.lines().nth(1).unwrap().starts_with("r0,"));
    assert!(divides(&labels(&text, "attributes"), |row| row % 2 == 1));
    // The subgroup lives in the east alone, in two places: by position the west belongs to the nearer of them.
    let by_position = labels(&text, "position");
    assert!((40..80).all(|row| (by_position[row] == by_position[40]) == (row < 60)));
    let summary = sandbox.summary("found");
    let views: Vec<&str> =
        summary["views"].as_array().unwrap().iter().map(|view| view["view"].as_str().unwrap()).collect();
    assert_eq!(views, ["attributes", "position", "both"]);
    assert_eq!(summary["input"]["people"], 9560.0);
    assert_eq!(summary["input"]["subgroup"]["people"], 2000.0);
    let clusters = summary["views"][0]["clusters"].as_array().unwrap();
    let income = |cluster: &serde_json::Value| cluster["means"]["income"].as_f64().unwrap();
    assert!((income(&clusters[0]) - income(&clusters[1])).abs() > 45.0);
    assert_eq!(clusters.iter().map(|cluster| cluster["regions"].as_u64().unwrap()).sum::<u64>(), 80);
    let profiles = sandbox.read("found/profiles.csv");
    assert_eq!(profiles.lines().next(), Some("view,cluster,regions,people,subgroup,lon,lat,income"));
    assert_eq!(profiles.lines().count(), 7);
    let (page, figures) = sandbox.page("found/report.html");
    assert!(page.contains("position, weighted by few"));
    // Nobody lives between the towns: the map has degrees, and a gutter in place of what is empty.
    // By position only the regions of one town count, where the few live.
    for (view, gutters) in [("attributes", 1), ("position", 0), ("both", 1)] {
        let map = &figures[format!("picture-{view}")]["layouts"][0];
        assert_eq!(map["degrees"]["breaks"].as_array().unwrap().len(), gutters, "{view}");
    }
    assert!(outcome.stdout.starts_with("80 regions of 9,560 people\n"), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains("attributes and position agree by an adjusted Rand index of"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn the_share_of_positions_decides_what_both_together_divide() {
    let sandbox = Sandbox::with("towns.csv", towns());
    for (mix, by_town) in [("0.95", true), ("0.05", false)] {
        sandbox.lehr(&[&LINE[..], &["--mix", mix]].concat()).succeeded();
        let both = labels(&sandbox.read("found/labels.csv"), "both");
        assert!(divides(&both, |row| if by_town { row >= 40 } else { row % 2 == 1 }), "{mix}");
    }
}

#[test]
fn regions_without_positions_are_clustered_by_attributes_alone() {
    let sandbox = Sandbox::with("towns.csv", towns());
    let line = ["demo", "demography", "towns.csv", "--attributes", "income", "-k", "2", "--quiet", "--json"];
    let outcome = sandbox.lehr(&line).succeeded();
    let summary: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((summary["views"].as_array().unwrap().len(), &summary["input"]["people"]), (1, &80.0.into()));
    assert_eq!(sandbox.read("lehr-demography/labels.csv").lines().next(), Some("id,attributes"));
    assert!(!sandbox.page("lehr-demography/report.html").0.contains("class=\"figure\""));
}

#[test]
fn the_tracts_that_are_built_in_have_everybody_and_the_same_bytes_on_any_layout() {
    let sandbox = Sandbox::new();
    let line = ["demo", "demography", "--quiet"];
    let outcome = sandbox.lehr(&line).succeeded();
    assert!(outcome.stdout.contains(" census tracts of 8,169,946 people\n"), "{}", outcome.stdout);
    sandbox.lehr(&[&line[..], &["--threads", "3", "--out", "three"]].concat()).succeeded();
    for file in ["labels.csv", "profiles.csv"] {
        assert!(sandbox.read(&format!("lehr-demography/{file}")) == sandbox.read(&format!("three/{file}")), "{file}");
    }
    // Las Vegas, Salt Lake City and the others: by both together the views have something of either.
    let summary = sandbox.summary("lehr-demography");
    assert_eq!(summary["agreement"].as_array().unwrap().len(), 3);
    let people: f64 = summary["views"][1]["clusters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cluster| cluster["people"].as_f64().unwrap())
        .sum();
    assert_eq!(people, 8_169_946.0);
}

#[test]
fn what_cannot_be_meant_is_refused_in_words() {
    let sandbox = Sandbox::with("towns.csv", towns());
    for (line, code, expected) in [
        (&["demo", "demography", "towns.csv", "--quiet"][..], 2, "name them with --attributes"),
        (&["demo", "demography", "--attributes", "income"], 2, "<TABLE>"),
        (&["demo", "demography", "towns.csv", "--attributes", "height", "--quiet"], 3, "expected a column \"height\""),
        (
            &["demo", "demography", "towns.csv", "--attributes", "income", "--position", "lon,people", "--quiet"],
            3,
            "a latitude of -90 to 90 degrees",
        ),
        (
            &["demo", "demography", "towns.csv", "--attributes", "income", "-k", "81", "--quiet"],
            3,
            "you requested 81 clusters, but only 80 rows",
        ),
        (&["demo", "demography", "--mix", "1.5"], 2, "expected a number from 0 to 1"),
    ] {
        let refused = sandbox.lehr(line);
        assert_eq!(refused.code, code, "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
    }
    assert_eq!(sandbox.list("."), ["towns.csv"], "nothing is left behind");
}
