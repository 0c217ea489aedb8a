//! Fingerprints and packed arrays as rows of columns: the clusters of the same table, what the results say of a
//! thousand bits, `lehr predict`, and what is refused.

use std::fmt::Write as _;

use lehr_data::Fingerprints;
use lehr_data::synthetic::bit_templates;

use super::sandbox::Sandbox;

const BITS: usize = 70;

fn rows() -> Fingerprints {
    bit_templates(3, 40, BITS, 0.3, 0.05, 2).0
}

fn bit(rows: &Fingerprints, row: usize, j: usize) -> u8 {
    (rows.row(row)[j / 64] >> (j % 64) & 1) as u8
}

/// The same rows as FPS, as a table of numbers and as a packed array.
fn sandbox() -> Sandbox {
    let rows = rows();
    let (mut fps, mut table) = (format!("#FPS1\n#num_bits={BITS}\n"), String::from("id"));
    (0..BITS).for_each(|j| write!(table, ",bit{j}").unwrap());
    table.push('\n');
    let mut packed = Vec::new();
    for row in 0..rows.len() {
        let bytes: Vec<u8> = rows.row(row).iter().flat_map(|word| word.to_le_bytes()).take(BITS.div_ceil(8)).collect();
        bytes.iter().for_each(|byte| write!(fps, "{byte:02x}").unwrap());
        writeln!(fps, "\tc{row}").unwrap();
        packed.extend(bytes.iter().map(|byte| byte.reverse_bits()));
        let fields: String = (0..BITS).map(|j| format!(",{}", bit(&rows, row, j))).collect();
        writeln!(table, "c{row}{fields}").unwrap();
    }
    let sandbox = Sandbox::with("compounds.fps", fps);
    sandbox.write("table.csv", table);
    let width = BITS.div_ceil(8);
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}, {width}), }}\n", rows.len());
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend(packed);
    sandbox.write("packed.npy", npy);
    sandbox
}

fn column(text: &str, at: usize) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

#[test]
fn fingerprints_packed_arrays_and_tables_of_the_same_rows_have_the_same_clusters() {
    let sandbox = sandbox();
    let line = ["cluster", "compounds.fps", "-k", "3", "--out", "f"];
    let outcome = sandbox.lehr(&line).succeeded();
    assert!(!outcome.stderr.contains("clustering by"), "seventy names of bits are no help: {}", outcome.stderr);
    assert!(outcome.stdout.contains("bits set"), "{}", outcome.stdout);
    sandbox.lehr(&["cluster", "packed.npy", "--bits", "70", "-k", "3", "--out", "p", "--quiet"]).succeeded();
    sandbox.lehr(&["cluster", "table.csv", "--id", "id", "-k", "3", "--out", "t", "--quiet"]).succeeded();
    let labels = ["f", "p", "t"].map(|folder| column(&sandbox.read(&format!("{folder}/labels.csv")), 1));
    assert_eq!(labels[0], labels[1]);
    assert_eq!(labels[0], labels[2]);
    assert_eq!(column(&sandbox.read("f/labels.csv"), 0)[5], "c5");
    assert_eq!(column(&sandbox.read("p/labels.csv"), 0)[5], "5");
    let read = |name: &str| sandbox.read(&format!("{name}/centers.csv"));
    assert_eq!(read("f"), read("p"));
    assert!(read("f").starts_with("cluster,bit0,bit1,"));
    // A centre is how frequent each bit is among the rows of the cluster.
    let rows = rows();
    for cluster in 0..3 {
        let members: Vec<usize> = (0..rows.len()).filter(|row| labels[0][*row] == cluster.to_string()).collect();
        let set = members.iter().filter(|row| bit(&rows, **row, 69) == 1).count();
        let frequency: f64 = column(&read("f"), 1 + 69)[cluster].parse().unwrap();
        assert!((frequency - set as f64 / members.len() as f64).abs() < 1e-12, "{frequency}");
    }
    let (f, t) = (sandbox.summary("f"), sandbox.summary("t"));
    let squares = |summary: &serde_json::Value| summary["result"]["sum_of_squares"].as_f64().unwrap();
    assert!((squares(&f) - squares(&t)).abs() < 1e-10 * squares(&t));
    let line = ["cluster", "compounds.fps", "--method", "kmeans", "-k", "3", "--out", "m", "--quiet"];
    sandbox.lehr(&line).succeeded();
    let m = sandbox.summary("m");
    assert!((squares(&m) - squares(&t)).abs() < 1e-10 * squares(&t), "k-means comes to the same optimum");
    assert_eq!((&f["input"]["rows"], f["input"]["columns"].as_array().unwrap().len()), (&120.into(), BITS));
}

#[test]
fn the_page_shows_axes_and_marks_and_not_seventy_columns() {
    let sandbox = sandbox();
    sandbox.lehr(&["cluster", "compounds.fps", "-k", "3", "--quiet"]).succeeded();
    let page = sandbox.read("lehr-out/report.html");
    for words in ["rows of 70 bits", ">bits set<", ">marks<", "% (of all "] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains(">bit0<"));
    let (_, figures) = sandbox.page("lehr-out/report.html");
    let note = figures["picture"]["layouts"][0]["note"].as_str().unwrap();
    assert!(note.contains("two directions in which the 70 columns vary most"), "{note}");
}

#[test]
fn a_model_says_of_fingerprints_what_it_says_of_the_table() {
    let sandbox = sandbox();
    sandbox.lehr(&["cluster", "compounds.fps", "-k", "3", "--quiet"]).succeeded();
    let predict = |rest: &[&str]| {
        sandbox.lehr(&[&["predict", "lehr-out/model.json"][..], rest, &["--memberships"]].concat()).succeeded().stdout
    };
    let of_fps = predict(&["compounds.fps"]);
    assert_eq!(of_fps, predict(&["table.csv", "--id", "id"]));
    assert_eq!(column(&of_fps, 1), column(&sandbox.read("lehr-out/labels.csv"), 1));
    assert_eq!(column(&predict(&["packed.npy", "--bits", "70"]), 3), column(&of_fps, 3));
}

#[test]
fn a_row_that_is_like_no_other_is_an_outlier_of_fingerprints_as_of_the_table() {
    let sandbox = sandbox();
    // The others are some three from their centre at most, this one six from each.
    let all = format!("{}{}3f\tall\n", sandbox.read("compounds.fps"), "ff".repeat(8));
    sandbox.write("more.fps", all);
    sandbox.write("more.csv", format!("{}all{}\n", sandbox.read("table.csv"), ",1".repeat(BITS)));
    let cluster = |rest: &[&str]| {
        sandbox
            .lehr(&[&["cluster", "-k", "3", "--outlier-radius", "4", "--quiet"][..], rest].concat())
            .succeeded()
            .stdout
    };
    let told = cluster(&["more.fps", "--out", "f"]);
    assert!(told.contains("\n1 row (0.8 %) in no cluster, labelled -1\n"), "{told}");
    cluster(&["more.csv", "--id", "id", "--out", "t"]);
    let labels = ["f", "t"].map(|folder| column(&sandbox.read(&format!("{folder}/labels.csv")), 1));
    assert_eq!(labels[0], labels[1]);
    let outside: Vec<usize> = (0..labels[0].len()).filter(|row| labels[0][*row] == "-1").collect();
    assert_eq!(outside, [120]);
    assert_eq!(sandbox.summary("f")["result"]["outliers"], serde_json::json!({ "rows": 1, "weight": 1.0 }));
    assert!(sandbox.read("f/report.html").contains("<dt>Outliers</dt>"));
    let predicted = sandbox.lehr(&["predict", "f/model.json", "more.fps"]).succeeded().stdout;
    assert_eq!(column(&predicted, 1), labels[0]);
}

#[test]
fn weights_in_a_table_beside_are_those_of_the_rows() {
    let sandbox = sandbox();
    let rows: usize = rows().len();
    let weight = |row: usize| (row % 4) as f64 / 2.0;
    // By id in another order, with rows that are of no compound; and row by row.
    let by_id: String = (0..rows + 5).rev().map(|row| format!("c{row},{}\n", weight(row))).collect();
    sandbox.write("screen.csv", format!("compound,potency\n{by_id}"));
    let in_order: String = (0..rows).map(|row| format!("{}\n", weight(row))).collect();
    sandbox.write("weights.txt", format!("potency\n{in_order}"));
    let table: String = sandbox
        .read("table.csv")
        .lines()
        .enumerate()
        .map(|(line, text)| match line {
            0 => format!("{text},potency\n"),
            _ => format!("{text},{}\n", weight(line - 1)),
        })
        .collect();
    sandbox.write("heavy.csv", table);
    let cluster = |rest: &[&str], out: &str| {
        sandbox
            .lehr(&[&["cluster", "-k", "3", "--weights", "potency", "--quiet", "--out", out][..], rest].concat())
            .succeeded();
    };
    cluster(&["compounds.fps", "--weights-from", "screen.csv", "--id", "compound"], "f");
    cluster(&["packed.npy", "--bits", "70", "--weights-from", "weights.txt"], "p");
    cluster(&["heavy.csv", "--id", "id"], "t");
    let [f, p, t] = ["f", "p", "t"].map(|folder| sandbox.summary(folder));
    let number = |summary: &serde_json::Value, part: &str, name: &str| summary[part][name].as_f64().unwrap();
    for summary in [&f, &p, &t] {
        assert_eq!(number(summary, "input", "total_weight"), (0..rows).map(weight).sum::<f64>());
        assert_eq!(number(summary, "input", "rows_of_weight_zero"), 30.0);
        let (found, expected) = (number(summary, "result", "sum_of_squares"), number(&t, "result", "sum_of_squares"));
        assert!((found - expected).abs() < 1e-10 * expected, "{found} for {expected}");
    }
    let labels = ["f", "p", "t"].map(|folder| column(&sandbox.read(&format!("{folder}/labels.csv")), 1));
    assert_eq!(labels[0], labels[1]);
    assert_eq!(labels[0], labels[2]);
    let told = sandbox.lehr(&["cluster", "compounds.fps", "-k", "3", "--weights", "potency"]);
    assert!(told.code == 2 && told.stderr.contains("--weights-from names a table"), "{}", told.stderr);
    let told =
        sandbox.lehr(&["cluster", "table.csv", "-k", "3", "--weights", "potency", "--weights-from", "screen.csv"]);
    assert!(told.code == 2 && told.stderr.contains("--weights-from: for rows of bits"), "{}", told.stderr);
    let line = ["cluster", "compounds.fps", "-k", "3", "--weights", "potency", "--weights-from", "screen.csv"];
    let told = sandbox.lehr(&line);
    assert!(
        told.code == 3 && told.stderr.contains("expected 120 rows, one for each that is clustered, found 125"),
        "{}",
        told.stderr
    );
}

#[test]
fn what_bits_cannot_be_asked_is_told_and_nothing_is_left_behind() {
    let sandbox = sandbox();
    sandbox.write("short.fps", "#FPS1\n#num_bits=16\n00ff\ta\n0f\tb\n");
    for (line, code, words) in [
        (
            &["cluster", "compounds.fps", "-k", "2", "--scale", "std"][..],
            2,
            "--scale: for tables of numbers; an FPS file has rows of bits",
        ),
        (&["cluster", "compounds.fps", "-k", "2", "--weights", "w"][..], 2, "--weights: for tables of numbers"),
        (&["cluster", "packed.npy", "--bits", "72", "-k", "2", "--id", "x"][..], 2, "--bits has rows of bits"),
        (
            &["cluster", "packed.npy", "--bits", "80", "-k", "2"][..],
            3,
            "packed.npy: expected rows of 10 bytes, for 80 packed bits, found rows of 9 bytes",
        ),
        (&["cluster", "packed.npy", "--bits", "65", "-k", "2"][..], 3, "expected 65 bits, found a bit beyond the last"),
        (&["cluster", "table.csv", "--bits", "8", "-k", "2"][..], 3, "expected an NPY file"),
        (
            &["cluster", "short.fps", "-k", "2"][..],
            3,
            "short.fps, line 4: expected 4 hexadecimal digits, for 16 bits, found 2",
        ),
        (&["cluster", "compounds.fps", "-k", "121"][..], 3, "you requested 121 clusters, but only 120 rows"),
        (
            &["mixture", "compounds.fps", "-k", "2"][..],
            3,
            "compounds.fps: expected a table of text, an NPY or a Parquet file, found fingerprints in FPS, which are rows of bits",
        ),
        (&["gtm", "compounds.fps"][..], 3, "found fingerprints in FPS"),
    ] {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
        assert!(!sandbox.path("lehr-out").exists(), "{line:?}");
    }
    sandbox.lehr(&["cluster", "table.csv", "--id", "id", "-k", "2", "--scale", "std", "--quiet"]).succeeded();
    let outcome = sandbox.lehr(&["predict", "lehr-out/model.json", "compounds.fps"]);
    assert_eq!(outcome.code, 3);
    assert!(
        outcome.stderr.contains("expected a table of the columns that the model scales, found rows of bits"),
        "{}",
        outcome.stderr
    );
    sandbox.lehr(&["cluster", "compounds.fps", "-k", "2", "--quiet", "--out", "b"]).succeeded();
    let outcome = sandbox.lehr(&["predict", "b/model.json", "short.fps"]);
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    sandbox.write("other.fps", "00ff\ta\n");
    let outcome = sandbox.lehr(&["predict", "b/model.json", "other.fps"]);
    assert!(
        outcome.stderr.contains("other.fps: expected 70 bits, as the model has columns, found 16"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn by_likelihood_results_are_in_nats_and_a_model_says_what_rows_cost() {
    let sandbox = sandbox();
    let line = ["cluster", "compounds.fps", "-k", "3", "--cost", "bernoulli", "--prior", "0.25", "--quiet"];
    let told = sandbox.lehr(&line).succeeded().stdout;
    assert!(told.contains("a row costs ") && told.contains(" nats on average: -ln of its probability"), "{told}");
    let summary = sandbox.summary("lehr-out");
    assert_eq!(summary["parameters"]["cost"], serde_json::json!({ "bernoulli": { "prior": 0.25 } }));
    assert_eq!((&summary["unit"]["temperature"], &summary["temperature_convention"]), (&"nats".into(), &"nats".into()));
    assert!(summary["result"]["last_length"].is_null());
    // The three templates in turns, as squared distances find them too.
    let labels = column(&sandbox.read("lehr-out/labels.csv"), 1);
    assert!(labels.iter().zip(labels[..3].iter().cycle()).all(|(label, first)| label == first), "{labels:?}");
    // A centre has the prior in it: a bit that no row of a cluster has is 0.25 of 40.5.
    let center: Vec<f64> =
        (0..BITS).map(|j| column(&sandbox.read("lehr-out/centers.csv"), 1 + j)[0].parse().unwrap()).collect();
    assert!(center.iter().all(|y| *y >= 0.25 / 40.5 && *y <= 40.25 / 40.5), "{center:?}");
    let page = sandbox.read("lehr-out/report.html");
    assert!(page.contains("Mean cost of a row") && page.contains("Hardened to temperature") && !page.contains("{{"));
    let predicted = sandbox.lehr(&["predict", "lehr-out/model.json", "compounds.fps"]).succeeded().stdout;
    assert!(predicted.starts_with("id,cluster,probability,cost\n"), "{predicted}");
    assert_eq!(column(&predicted, 1), labels);
    let costs: Vec<f64> = column(&predicted, 3).iter().map(|cost| cost.parse().unwrap()).collect();
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    assert!((mean - summary["result"]["objective"].as_f64().unwrap()).abs() < 1e-9 * mean, "{mean}");
    let refused = sandbox.lehr(&["predict", "lehr-out/model.json", "table.csv", "--id", "id"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("table.csv: expected rows of bits"), "{}", refused.stderr);
}

#[test]
fn by_likelihood_only_bits_are_clustered_and_nothing_is_left_where_it_is_refused() {
    let sandbox = sandbox();
    for (rest, expected) in [
        (
            &["table.csv", "--id", "id", "--cost", "bernoulli"][..],
            "cost: expected rows of bits for the cost bernoulli, found rows of numbers",
        ),
        (&["compounds.fps", "--prior", "1"], "--prior: expected none without the cost bernoulli"),
        (
            &["compounds.fps", "--cost", "bernoulli", "--outlier-radius", "3"],
            "--outlier-radius: expected none with the cost bernoulli, which is no distance",
        ),
        (&["compounds.fps", "--cost", "bernoulli", "--prior", "-1"], "expected 0 to 1000"),
        (&["compounds.fps", "--cost", "bernoulli", "--method", "kmeans"], "--cost: expected none with method kmeans"),
    ] {
        let refused = sandbox.lehr(&[&["cluster", "-k", "3", "--quiet"][..], rest].concat());
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert!(!sandbox.path("lehr-out").exists());
    }
}

#[test]
fn molecules_go_from_smiles_to_clusters_and_a_map_with_their_structures() {
    let sandbox = Sandbox::new();
    let alkane = |length: usize| format!("{}\talkane {length}\n", "C".repeat(length));
    let arene = |tail: usize| format!("c1ccccc1{}O\tarene {tail}\n", "C".repeat(tail));
    let text: String = (4..10).map(alkane).chain((0..6).map(arene)).collect();
    sandbox.write("compounds.smi", &text);
    sandbox.lehr(&["distances", "compounds.smi", "--out", "d", "-q"]).succeeded();
    assert!(sandbox.read("d/ids.csv").starts_with("item,id,smiles\n0,alkane 4,CCCC\n"));
    assert!(sandbox.read("d/ids.csv").ends_with("\n11,arene 5,c1ccccc1CCCCCO\n"));
    sandbox.lehr(&["pairwise", "d", "-k", "2", "--out", "p", "-q"]).succeeded();
    let labels = sandbox.read("p/labels.csv");
    let of = |name: &str| -> Vec<&str> {
        let rows = labels.lines().filter(|line| line.starts_with(name));
        rows.map(|line| line.split(',').nth(1).unwrap()).collect()
    };
    let (alkanes, arenes) = (of("alkane"), of("arene"));
    assert!(alkanes.iter().all(|cluster| cluster == &alkanes[0]) && arenes.iter().all(|cluster| cluster == &arenes[0]));
    assert_ne!(alkanes[0], arenes[0]);
    assert!(sandbox.read("p/report.html").contains("data-smiles=\"CC"));
    sandbox.lehr(&["embed", "d", "--labels", "p/labels.csv", "--out", "e", "-q"]).succeeded();
    assert!(sandbox.page("e/report.html").1.to_string().contains("c1ccccc1CCCCCO"));
    // The same fingerprints, by their bits.
    let told = sandbox.lehr(&["cluster", "compounds.smi", "-k", "2", "-q"]).succeeded().stdout;
    assert!(told.starts_with("12 rows in 2 clusters; "), "{told}");
    // Merged compounds keep the structure of the first one.
    sandbox.write("twice.smi", "CCO a\nOCC b\nCCN c\n");
    sandbox.lehr(&["distances", "twice.smi", "--collapse", "--out", "t", "-q"]).succeeded();
    assert_eq!(sandbox.read("t/ids.csv"), "item,id,weight,smiles\n0,a,2,CCO\n1,c,1,CCN\n");
    let refused = sandbox.lehr(&["cluster", "bad.smi"]);
    assert_ne!(refused.code, 0);
    sandbox.write("bad.smi", "CCO a\nC1CC b\n");
    let refused = sandbox.lehr(&["cluster", "bad.smi"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.stderr.contains("bad.smi, line 2: expected SMILES with the ring number 1 at two atoms"),
        "{}",
        refused.stderr
    );
}

/// Returns an entry of an SD file with a chain of atoms.
fn chain(title: &str, elements: &[&str]) -> String {
    let atom = |(x, element): (usize, &&str)| format!("{x:>5}.0000    0.0000    0.0000 {element:<3} 0  0\n");
    let atoms: String = elements.iter().enumerate().map(atom).collect();
    let bonds: String = (1..elements.len()).map(|first| format!("{first:>3}{:>3}  1  0\n", first + 1)).collect();
    let (count, between) = (elements.len(), elements.len() - 1);
    format!(
        "{title}\n\n\n{count:>3}{between:>3}  0  0  0  0            999 V2000\n{atoms}{bonds}M  END\n> <X>\n1\n\n$$$$\n"
    )
}

#[test]
fn molecules_of_an_sd_file_have_the_fingerprints_of_the_same_smiles() {
    let sandbox = Sandbox::new();
    let (mut smiles, mut entries) = (String::new(), String::new());
    for length in 1..7 {
        let carbons = "C".repeat(length);
        smiles.push_str(&format!("{carbons}O\talcohol {length}\n{carbons}N\tamine {length}\n"));
        for (end, name) in [("O", "alcohol"), ("N", "amine")] {
            let mut elements = vec!["C"; length];
            elements.push(end);
            entries.push_str(&chain(&format!("{name} {length}"), &elements));
        }
    }
    sandbox.write("compounds.smi", &smiles);
    sandbox.write("compounds.sdf", &entries);
    for kind in ["morgan", "maccs"] {
        let mut outputs = Vec::new();
        for file in ["compounds.smi", "compounds.sdf"] {
            let out = format!("{kind} {file}");
            sandbox.lehr(&["distances", file, "--fingerprint", kind, "--out", &out, "-q"]).succeeded();
            outputs.push((
                std::fs::read(sandbox.path(&format!("{out}/dissimilarities.npy"))).unwrap(),
                sandbox.read(&format!("{out}/ids.csv")),
            ));
        }
        assert_eq!(outputs[0], outputs[1], "{kind}");
        assert!(outputs[0].1.contains("\n11,amine 6,CCCCCCN\n"), "{}", outputs[0].1);
        let stated = sandbox.read(&format!("{kind} compounds.sdf/dissimilarities.json"));
        assert!(stated.contains(&format!("\"{kind}\"")), "{stated}");
    }
    // A model says by its number of bits which fingerprints it needs, and a map states their kind.
    sandbox.lehr(&["cluster", "compounds.sdf", "--fingerprint", "maccs", "-k", "2", "--out", "k", "-q"]).succeeded();
    let told = sandbox.lehr(&["predict", "k/model.json", "compounds.smi", "-q"]).succeeded().stdout;
    assert_eq!(told.lines().count(), 13, "{told}");
    sandbox.lehr(&["embed", "maccs compounds.smi", "--out", "e", "-q"]).succeeded();
    let placed = ["place", "compounds.sdf", "--map", "e", "--among", "compounds.smi", "-q", "--out", "p"];
    sandbox.lehr(&placed).succeeded();
    let other = sandbox.lehr(&[&placed[..], &["--fingerprint", "morgan"]].concat());
    assert!(other.code == 2 && other.stderr.contains("--fingerprint"), "{}", other.stderr);
    // The contents show an SD file without its ending, even if its first title begins as FASTA does.
    sandbox.write("compounds", entries.replacen("alcohol 1", ">alcohol 1", 1));
    let renamed = sandbox.lehr(&["predict", "k/model.json", "compounds", "-q"]).succeeded().stdout;
    assert_eq!(renamed, told.replace("\nalcohol 1", "\n>alcohol 1"));
    sandbox.lehr(&["distances", "compounds", "--fingerprint", "maccs", "--out", "d", "-q"]).succeeded();
    // A file of fingerprints can be placed on the map of molecules, if it has the bits of the map's kind.
    let prints = |bits: usize| {
        let row = |name: String| format!("{}\t{name}\n", "0".repeat(bits.div_ceil(8) * 2 - 4) + "0f00");
        let names = (1..7).flat_map(|length| ["alcohol", "amine"].map(|name| format!("{name} {length}")));
        format!("#FPS1\n#num_bits={bits}\n{}", names.map(row).collect::<String>())
    };
    sandbox.write("same.fps", prints(167));
    sandbox.write("other.fps", prints(166));
    let place = ["place", "same.fps", "--map", "e", "-q", "--force", "--out", "p", "--among"];
    sandbox.lehr(&[&place[..], &["same.fps"]].concat()).succeeded();
    let other = sandbox.lehr(&[&place[..], &["other.fps"]].concat());
    let fault = "other.fps: expected 167 bits, as the map in e has (maccs), found 166";
    assert!(other.code == 3 && other.stderr.contains(fault), "{}", other.stderr);
    // Other files have no molecules to make fingerprints of.
    sandbox.write("keys.fps", "#FPS1\n0f\ta\nf0\tb\n");
    for command in ["cluster", "distances"] {
        let refused = sandbox.lehr(&[command, "keys.fps", "--fingerprint", "maccs", "-q"]);
        assert_eq!(refused.code, 3, "{}", refused.stderr);
        assert!(refused.stderr.contains("keys.fps: expected molecules (.smi or .sdf)"), "{}", refused.stderr);
    }
    sandbox.write("bad.sdf", entries.replacen(" N  ", " Xx ", 2));
    let refused = sandbox.lehr(&["cluster", "bad.sdf"]);
    assert_eq!(refused.code, 3);
    let faults = "bad.sdf, line 18: expected an element, * or R, found \"Xx\"\n";
    assert!(refused.stderr.contains(faults) && refused.stderr.contains("2 faults in all"), "{}", refused.stderr);
}
