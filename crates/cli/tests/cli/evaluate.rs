//! `lehr evaluate`: figures that scikit-learn gives too, tables by identifier or in the order of rows, and what it
//! refuses.

use std::path::Path;

use super::sandbox::Sandbox;

/// The adjusted Rand index, the adjusted mutual information, homogeneity, completeness, V-measure, silhouette, and the
/// indices of Davies and Bouldin, and of Calinski and Harabasz.
const EXPECTED: [f64; 8] = [
    0.731_198_556_770_774_6,
    0.767_166_961_571_311_1,
    0.760_800_846_971_872_3,
    0.779_595_800_559_114_4,
    0.770_083_661_648_786_9,
    0.554_323_661_129_641_9,
    0.656_256_454_064_202_1,
    558.058_040_812_830_7,
];
const COLUMNS: &str = "sepal_length,sepal_width,petal_length,petal_width";

/// Iris, and three clusters of it by Ward's linkage in the folder `tree`.
fn flowers() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    let sandbox = Sandbox::with("iris.csv", std::fs::read(path).unwrap());
    let measure = ["distances", "iris.csv", "--columns", COLUMNS, "--element", "f64", "--out", "d", "--quiet"];
    sandbox.lehr(&measure).succeeded();
    let join = ["hierarchy", "d/dissimilarities.json", "--linkage", "ward", "-k", "3", "--out", "tree", "--quiet"];
    sandbox.lehr(&join).succeeded();
    sandbox
}

fn facts(sandbox: &Sandbox, line: &[&str]) -> serde_json::Value {
    let outcome = sandbox.lehr(&[&["evaluate"][..], line, &["--json"]].concat()).succeeded();
    assert_eq!(outcome.stderr, "", "{line:?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

/// Asserts that a figure is the expected one to ten digits.
fn is_near(facts: &serde_json::Value, name: &str, expected: f64) {
    let found = facts[name].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-10 * expected.abs(), "{name}: {found} beside {expected}");
}

#[test]
fn the_figures_are_those_of_scikit_learn() {
    let sandbox = flowers();
    // sklearn.metrics on AgglomerativeClustering(3).fit(load_iris().data).
    let found = facts(
        &sandbox,
        &["tree", "--by", "label", "--classes", "iris.csv", "--rows", "iris.csv", "--columns", COLUMNS],
    );
    let agreement = &found["agreement"];
    is_near(agreement, "adjusted_rand", EXPECTED[0]);
    is_near(agreement, "adjusted_mutual_information", EXPECTED[1]);
    is_near(agreement, "homogeneity", EXPECTED[2]);
    is_near(agreement, "completeness", EXPECTED[3]);
    is_near(agreement, "v_measure", EXPECTED[4]);
    let validity = &found["validity"];
    is_near(validity, "silhouette", EXPECTED[5]);
    is_near(validity, "davies_bouldin", EXPECTED[6]);
    is_near(validity, "calinski_harabasz", EXPECTED[7]);
    assert_eq!((&found["items"], &found["clusters"], &validity["drawn"]), (&150.into(), &3.into(), &150.into()));
    // The same silhouettes from the dissimilarities.
    let of_pairs = facts(&sandbox, &["tree/labels.csv", "--matrix", "d"]);
    is_near(&of_pairs["validity"], "silhouette", EXPECTED[5]);
    assert!(of_pairs["agreement"].is_null() && of_pairs["validity"]["davies_bouldin"].is_null());
    // A sample of the rows has an error.
    let some =
        facts(&sandbox, &["tree", "--rows", "iris.csv", "--columns", COLUMNS, "--sample", "50", "--threads", "1"]);
    let error = some["validity"]["silhouette_error"].as_f64().unwrap();
    assert!((some["validity"]["silhouette"].as_f64().unwrap() - EXPECTED[5]).abs() < 4.0 * error);
}

#[test]
fn people_read_the_figures_and_the_common_items() {
    let sandbox = flowers();
    let told = sandbox.lehr(&["evaluate", "tree", "--by", "label", "--classes", "iris.csv"]).succeeded().stdout;
    for line in
        ["150 items in 3 clusters", "agreement with 3 classes of label", "  adjusted Rand index          0.7312"]
    {
        assert!(told.contains(line), "{line}: {told}");
    }
    let table: Vec<Vec<&str>> = told.lines().rev().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(table, [["2", "0", "1", "35"], ["1", "50", "0", "0"], ["0", "0", "49", "15"]], "{told}");
    let rows = sandbox.lehr(&["evaluate", "tree", "--rows", "iris.csv", "--scale", "std", "--columns", COLUMNS]);
    assert!(rows.succeeded().stdout.contains("Calinski-Harabasz index"));
}

#[test]
fn items_are_found_by_their_identifiers_and_those_without_a_cluster_are_left_out() {
    let sandbox = Sandbox::with("labels.csv", "id,cluster,kind\na,0,x\nb,0,x\nc,1,y\nd,-1,y\ne,1,y\nf,,x\n");
    sandbox.write("table.csv", "name,id,x\n1,e,10\n2,c,12\n3,b,1\n4,a,0\n5,z,99\n");
    let own = facts(&sandbox, &["labels.csv", "--by", "kind"]);
    assert_eq!((&own["items"], &own["without_cluster"]), (&4.into(), &2.into()));
    assert_eq!(own["agreement"]["adjusted_rand"], 1.0);
    // The clusters are {0, 1} and {12, 10}.
    let rows = facts(&sandbox, &["labels.csv", "--rows", "table.csv", "--columns", "x"]);
    assert_eq!(rows["validity"]["sum_of_squares"], 2.5);
    let told = sandbox.lehr(&["evaluate", "labels.csv", "--by", "kind"]).succeeded().stdout;
    assert!(told.starts_with("4 items in 2 clusters; 2 without a cluster left out"), "{told}");
    // A run without identifiers numbers its rows: then the order of a table counts, not its column of identifiers.
    sandbox.write("numbered.csv", "id,cluster\n0,0\n1,0\n2,1\n3,1\n");
    sandbox.write("shuffled.csv", "id,kind,x\n2,k,0\n3,k,1\n0,l,9\n1,l,9\n");
    let line =
        ["numbered.csv", "--by", "kind", "--classes", "shuffled.csv", "--rows", "shuffled.csv", "--columns", "x"];
    let in_order = facts(&sandbox, &line);
    assert_eq!(
        (&in_order["agreement"]["adjusted_rand"], &in_order["validity"]["sum_of_squares"]),
        (&1.0.into(), &0.5.into())
    );
    // The order distinguishes items that share an identifier. The column of identifiers may have another name.
    sandbox.write("shared.csv", "id,cluster\na,0\na,1\nb,0\nb,1\n");
    sandbox.write("twice.csv", "name,x\na,0\na,9\nb,1\nb,9\n");
    let shared = facts(&sandbox, &["shared.csv", "--rows", "twice.csv", "--columns", "x", "--id", "name"]);
    assert_eq!(shared["validity"]["sum_of_squares"], 0.5);
    // An outlier may be written as a number with a fraction.
    sandbox.write("floats.csv", "id,cluster,kind\na,0.0,x\nb,1.0,y\nc,-1.0,y\n");
    assert_eq!(facts(&sandbox, &["floats.csv", "--by", "kind"])["without_cluster"], 1);
    // Components of a mixture.
    sandbox.write("mixture.csv", "id,component,kind\n0,0,x\n1,1,y\n2,1,y\n");
    assert_eq!(facts(&sandbox, &["mixture.csv", "--by", "kind"])["agreement"]["v_measure"], 1.0);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let sandbox = flowers();
    sandbox.write("few.csv", "label\na\nb\n");
    sandbox.write("named.csv", "id,cluster\na,0\nb,1\nc,1\n");
    sandbox.write("other.csv", "id,kind,x\na,k,1\nb,k,2\n");
    sandbox.write("one.csv", "id,cluster,x\n0,0,1\n1,0,2\n");
    sandbox.write("none.csv", "id,cluster\n0,-1\n1,\n");
    sandbox.write("again.csv", "id,kind,x\na,k,1\nb,k,2\nc,k,2\nb,l,3\n");
    sandbox.write("far.csv", "id,x\na,1\nb,2\nc,1e200\n");
    for (line, code, words) in [
        (&["tree"][..], 2, "expected --by, --rows or --matrix"),
        (&["tree", "--by", "label"], 3, "label"),
        (&["tree", "--by", "label", "--classes", "few.csv"], 3, "expected 150 rows, as tree/labels.csv has, found 2"),
        (
            &["named.csv", "--by", "kind", "--classes", "other.csv"],
            3,
            "expected kind for each item, found none for 1 item: c",
        ),
        (
            &["named.csv", "--rows", "other.csv", "--columns", "x"],
            3,
            "expected a row for each item, found none for 1 item: c",
        ),
        (
            &["named.csv", "--by", "kind", "--classes", "again.csv"],
            3,
            "expected kind for each item, found several for 1 item: b",
        ),
        (&["named.csv", "--rows", "far.csv", "--columns", "x"], 3, "expected numbers below 1e140, found 1e200"),
        (&["named.csv", "--matrix", "d"], 3, "expected dissimilarities for each item, found none for 3 items: a, b, c"),
        (
            &["one.csv", "--rows", "one.csv", "--columns", "x"],
            1,
            "expected at least two clusters, and fewer than items, found 1 of 2 items",
        ),
        (&["none.csv", "--by", "cluster"], 3, "expected items with a cluster, found none"),
        (&["tree", "--cluster", "group", "--by", "label"], 3, "group"),
        (&["nowhere.csv", "--by", "x"], 4, "nowhere.csv"),
        (&["tree", "--classes", "iris.csv"], 2, "--by"),
        (&["tree", "--rows", "iris.csv", "--matrix", "d"], 2, "cannot be used with"),
    ] {
        let outcome = sandbox.lehr(&[&["evaluate"][..], line].concat());
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words) && outcome.stdout.is_empty(), "{line:?}: {}", outcome.stderr);
    }
}
