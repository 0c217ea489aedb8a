//! Data at the edge of what can be clustered: an answer with what there is, a warning, and success.

use super::sandbox::Sandbox;

#[test]
fn one_point_is_one_cluster() {
    let sandbox = Sandbox::with("points.csv", "x,y\n3,4\n");
    let outcome = sandbox.lehr(&["cluster", "points.csv", "--clusters", "1", "--quiet"]).succeeded();
    assert_eq!(sandbox.read("lehr-out/labels.csv"), "id,cluster,probability,distance\n0,0,1,0\n");
    assert_eq!(
        sandbox.read("lehr-out/centers.csv"),
        "cluster,x,y,weight,spread,probability,name\n0,3,4,1,0,1,all rows\n"
    );
    let summary = sandbox.summary("lehr-out");
    assert_eq!((&summary["result"]["objective"], &summary["result"]["clusters"]), (&0.0.into(), &1.into()));
    assert_eq!(summary["warnings"].as_array().unwrap().len(), outcome.stderr.matches("warning: ").count());
}

#[test]
fn equal_points_are_one_cluster_and_a_warning() {
    let sandbox = Sandbox::with("points.csv", "x,y\n".to_owned() + &"1.5,-2\n".repeat(40));
    let outcome = sandbox.lehr(&["cluster", "points.csv", "--clusters", "3", "--quiet", "--threads", "2"]).succeeded();
    assert!(outcome.stderr.starts_with("warning: "), "{}", outcome.stderr);
    assert_eq!(
        sandbox.read("lehr-out/centers.csv"),
        "cluster,x,y,weight,spread,probability,name\n0,1.5,-2,40,0,1,all rows\n"
    );
    assert!(sandbox.read("lehr-out/labels.csv").lines().skip(1).all(|line| line.ends_with(",0,1,0")));
    assert!(sandbox.read("lehr-out/report.html").contains("40 rows in 1 cluster"));
}

#[test]
fn more_clusters_than_distinct_rows_gives_the_distinct_rows_and_a_warning() {
    let sandbox = Sandbox::with("points.csv", "x\n".to_owned() + &"0\n5\n5\n5\n9\n9\n".repeat(5));
    let outcome = sandbox.lehr(&["cluster", "points.csv", "--clusters", "7", "--quiet", "--threads", "2"]).succeeded();
    assert!(outcome.stderr.starts_with("warning: "), "{}", outcome.stderr);
    let centers = sandbox.read("lehr-out/centers.csv");
    assert_eq!(
        centers.lines().map(|line| line.rsplit_once(',').unwrap().0).collect::<Vec<_>>(),
        [
            "cluster,x,weight,spread,probability,silhouette,merges_with,joins,joins_at",
            "0,5,15,0,1,1,2,,",
            "1,9,10,0,1,1,0+2,0,1",
            "2,0,5,0,1,1,0,0,2"
        ]
    );
}

#[test]
fn raw_degrees_are_clustered_with_a_warning() {
    let sandbox = Sandbox::with("points.csv", "lon,lat\n-117.5,39.9\n-117.4,39.8\n-80.1,38.2\n-80.2,38.3\n");
    let outcome = sandbox.lehr(&["cluster", "points.csv", "-k", "2", "--quiet", "--threads", "1"]).succeeded();
    assert!(outcome.stderr.contains("--lonlat"), "{}", outcome.stderr);
    let centers = sandbox.read("lehr-out/centers.csv");
    assert!(centers.starts_with("cluster,lon,lat,weight,spread,probability,"), "{centers}");
    assert_eq!(centers.lines().count(), 3);
}
