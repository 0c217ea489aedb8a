//! `lehr distances`: what it writes, what it refuses, and that going on after Ctrl-C gives the same bytes.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Output};

use super::sandbox::{Outcome, Sandbox};

const GENES: &str = ">a first\nACGTACGTAC\n>b\nACGTACCTAC\n>c,d\nTTGTACCTAC\n";

const RESULTS: [&str; 3] = ["dissimilarities.json", "dissimilarities.npy", "ids.csv"];

/// The numbers of an NPY file.
fn numbers<const N: usize>(sandbox: &Sandbox, name: &str) -> Vec<[u8; N]> {
    let bytes = std::fs::read(sandbox.path(name)).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let start = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[start..].as_chunks::<N>().0.to_vec()
}

fn header(sandbox: &Sandbox, folder: &str) -> serde_json::Value {
    serde_json::from_str(&sandbox.read(&format!("{folder}/dissimilarities.json"))).unwrap()
}

#[test]
fn three_genes_become_nine_numbers_and_a_header() {
    let sandbox = Sandbox::with("genes.fasta", GENES);
    let outcome = sandbox.lehr(&["distances", "genes.fasta", "--out", "d", "--element", "f64", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("d"), RESULTS);
    let d: Vec<f64> = numbers(&sandbox, "d/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    let (ab, ac, bc) = (1.0 - 9.0 / 10.0, 1.0 - 7.0 / 8.0, 0.0);
    assert_eq!(d, [0.0, ab, ac, ab, 0.0, bc, ac, bc, 0.0]);
    assert_eq!(sandbox.read("d/ids.csv"), "item,id\n0,a\n1,b\n2,\"c,d\"\n");
    expect_test::expect![[r#"
        {
          "format": "lehr dissimilarities 1",
          "array": "dissimilarities.npy",
          "items": 3,
          "form": "full",
          "element": "f64",
          "scale": 1.0,
          "missing": "NaN",
          "missing_pairs": 0,
          "largest": 0.125,
          "mean": 0.075,
          "metric": "identity",
          "parameters": {
            "alignment": "local",
            "alphabet": "dna",
            "gap_extend": 4,
            "gap_open": 14,
            "matrix": "EDNAFULL",
            "overlap_min": 0.7
          },
          "source": "genes.fasta",
          "fingerprint": "20b4e83b7767bf88",
          "checksum": "51b4fb675d2dac78"
        }
    "#]]
    .assert_eq(&sandbox.read("d/dissimilarities.json"));
    assert!(
        outcome.stdout.starts_with(
            "3 sequences (DNA), identity (local alignment, EDNAFULL) of 3 pairs; mean 0.07500, largest 0.1250\n"
        ),
        "{}",
        outcome.stdout
    );
}

#[test]
fn every_form_and_element_says_the_same() {
    let sandbox = Sandbox::with("genes.fasta", GENES);
    let run = |line: &[&str]| {
        let arguments: Vec<&str> =
            ["distances", "genes.fasta", "--quiet"].into_iter().chain(line.iter().copied()).collect();
        sandbox.lehr(&arguments).succeeded();
    };
    run(&["--out", "f32", "--form", "condensed"]);
    let condensed: Vec<f32> =
        numbers(&sandbox, "f32/dissimilarities.npy").into_iter().map(f32::from_le_bytes).collect();
    assert_eq!(condensed, [0.1f64, 0.125, 0.0].map(|value| (1.0 - (1.0 - value)) as f32));
    run(&["--out", "u16", "--element", "u16"]);
    let fixed: Vec<u16> = numbers(&sandbox, "u16/dissimilarities.npy").into_iter().map(u16::from_le_bytes).collect();
    assert_eq!(fixed, [0, 52427, 65534, 52427, 0, 0, 65534, 0, 0]);
    let scale = header(&sandbox, "u16")["scale"].as_f64().unwrap();
    assert!((scale * 52427.0 - 0.1).abs() < scale);
    // Big-endian rows, and back again; an earlier matrix in the folder is replaced, its array too.
    run(&["--out", "raw", "--element", "i16be"]);
    assert_eq!(sandbox.list("raw"), ["dissimilarities.bin", "dissimilarities.json", "ids.csv"]);
    let raw = std::fs::read(sandbox.path("raw/dissimilarities.bin")).unwrap();
    let rows: Vec<i16> = raw.as_chunks().0.iter().map(|bytes| i16::from_be_bytes(*bytes)).collect();
    assert_eq!(rows, [0, 3277, 4096, 3277, 0, 0, 4096, 0, 0]);
    std::fs::copy(sandbox.path("raw/dissimilarities.bin"), sandbox.path("group.bin")).unwrap();
    let outcome = sandbox.lehr(&["distances", "group.bin", "--out", "raw", "--element", "f64", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("raw"), RESULTS);
    assert!(outcome.stderr.contains("replaced the results of an earlier run"), "{}", outcome.stderr);
    let back: Vec<f64> = numbers(&sandbox, "raw/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(back[1], 3277.0 * (1.0 / 32767.0));
}

#[test]
fn fingerprints_and_records_with_gaps_are_recognised() {
    let sandbox = Sandbox::with("compounds.fps", "#FPS1\n#num_bits=8\n07\tx\n03\ty\n80\tz\n");
    sandbox.write("records.csv", "who,age,weight\nann,0,0\nbob,3,4\ncy,,4\ndee,NA,\n");
    sandbox.lehr(&["distances", "compounds.fps", "--out", "c", "--form", "condensed", "--element", "f64"]).succeeded();
    let d: Vec<f64> = numbers(&sandbox, "c/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(d, [1.0 - 2.0 / 3.0, 1.0, 1.0]);
    let outcome = sandbox
        .lehr(&["distances", "records.csv", "--id", "who", "--out", "r", "--form", "condensed", "--element", "f64"])
        .succeeded();
    let d: Vec<f64> = numbers(&sandbox, "r/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!((d[0], d[1], d[3]), (5.0, 32f64.sqrt(), 0.0));
    assert!(d[2].is_nan() && d[4].is_nan() && d[5].is_nan());
    assert!(outcome.stderr.contains("warning: 3 pairs without a value (50 % of all)"), "{}", outcome.stderr);
    assert_eq!(sandbox.read("r/ids.csv"), "item,id\n0,ann\n1,bob\n2,cy\n3,dee\n");
}

#[test]
fn equal_items_become_one_with_a_weight() {
    let reads = ">a\nACGTACGTAC\n>b\nTTGTACCTAC\n>c\nacgtacgtac\n>d,e\nACGTACGTAC\n>f\nACGTACCTAC\n";
    let sandbox = Sandbox::with("reads.fasta", reads);
    let run = ["distances", "reads.fasta", "--collapse", "--out", "d", "--form", "condensed", "--element", "f64"];
    let outcome = sandbox.lehr(&run).succeeded();
    assert!(
        outcome
            .stdout
            .starts_with("3 distinct sequences (DNA) of 5, identity (local alignment, EDNAFULL) of 3 pairs; "),
        "{}",
        outcome.stdout
    );
    assert_eq!(sandbox.list("d"), ["dissimilarities.json", "dissimilarities.npy", "ids.csv", "members.csv"]);
    let d: Vec<f64> = numbers(&sandbox, "d/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(d, [1.0 - 7.0 / 8.0, 1.0 - 9.0 / 10.0, 0.0]);
    assert_eq!(sandbox.read("d/ids.csv"), "item,id,weight\n0,a,3\n1,b,1\n2,f,1\n");
    assert_eq!(sandbox.read("d/members.csv"), "id,item\na,0\nb,1\nc,0\n\"d,e\",0\nf,2\n");
    assert_eq!(header(&sandbox, "d")["collapsed_from"], 5);
    // The same folder without: what only the earlier matrix had is gone.
    sandbox.lehr(&["distances", "reads.fasta", "--out", "d", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("d"), RESULTS);
    assert_eq!(header(&sandbox, "d")["items"], 5);
}

#[test]
fn a_matrix_is_written_in_another_form_with_its_items() {
    let sandbox = Sandbox::with("reads.fasta", ">a\nACGTACGTAC\n>b\nTTGTACCTAC\n>c\nACGTACGTAC\n>d\nACGTACCTAC\n");
    sandbox.lehr(&["distances", "reads.fasta", "--collapse", "--out", "d", "--element", "f64", "-q"]).succeeded();
    let tables = |folder: &str| ["ids.csv", "members.csv"].map(|name| sandbox.read(&format!("{folder}/{name}")));
    for input in ["d/dissimilarities.npy", "d/dissimilarities.json"] {
        sandbox.lehr(&["distances", input, "--out", "c", "--element", "f64", "--form", "condensed", "-q"]).succeeded();
        let d: Vec<f64> = numbers(&sandbox, "c/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
        assert_eq!(d, [1.0 - 7.0 / 8.0, 1.0 - 9.0 / 10.0, 0.0]);
        assert!(tables("c") == tables("d"));
        let (before, after) = (header(&sandbox, "d"), header(&sandbox, "c"));
        for key in ["items", "collapsed_from", "metric", "parameters", "largest", "mean", "fingerprint"] {
            assert_eq!(before[key], after[key], "{key}");
        }
    }
    // The input is never written over.
    let refused = sandbox.lehr(&["distances", "d/dissimilarities.npy", "--out", "d", "--form", "condensed"]);
    assert_eq!(refused.code, 4, "{}", refused.stderr);
    assert_eq!(header(&sandbox, "d")["form"], "full");
}

#[test]
fn an_array_with_another_byte_than_was_written_is_refused_28() {
    let sandbox = Sandbox::with("genes.fasta", GENES);
    let elements = ["f64", "f32", "u16"];
    for (element, form) in elements.into_iter().flat_map(|element| [(element, "full"), (element, "condensed")]) {
        let _ = std::fs::remove_dir_all(sandbox.path("d"));
        let asked = ["distances", "genes.fasta", "--element", element, "--form", form, "--out", "d", "-q"];
        sandbox.lehr(&asked).succeeded();
        let cluster =
            |input: &str| sandbox.lehr(&["pairwise", input, "--clusters", "1", "--out", "p", "-q", "--force"]);
        cluster("d/dissimilarities.json").succeeded();
        let array = sandbox.path("d/dissimilarities.npy");
        let mut bytes = std::fs::read(&array).unwrap();
        // The last number changes by its lowest bit.
        let at =
            bytes.len() - if form == "full" { 2 } else { 1 } * (bytes.len() - 128) / if form == "full" { 9 } else { 3 };
        bytes[at] ^= 1;
        std::fs::write(&array, bytes).unwrap();
        for input in ["d/dissimilarities.json", "d/dissimilarities.npy"] {
            let outcome = cluster(input);
            assert_eq!(outcome.code, 3, "{element} {form}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("as its header says, found"), "{}", outcome.stderr);
            assert!(outcome.stderr.contains("the file was damaged or changed"), "{}", outcome.stderr);
        }
        // A header without a checksum, as earlier versions wrote it, fits any numbers.
        let mut header = header(&sandbox, "d");
        header.as_object_mut().unwrap().remove("checksum").unwrap();
        sandbox.write("d/dissimilarities.json", header.to_string());
        cluster("d/dissimilarities.json").succeeded();
    }
}

#[test]
fn rows_and_fingerprints_collapse_too() {
    let sandbox = Sandbox::with("compounds.fps", "#FPS1\n#num_bits=8\n07\tx\n03\ty\n07\tz\n");
    sandbox.write("records.csv", "age,weight\n0,\n3,4\n0,NA\n3,4\n1,1\n");
    sandbox.lehr(&["distances", "compounds.fps", "--collapse", "--out", "c", "-q"]).succeeded();
    assert_eq!(sandbox.read("c/ids.csv"), "item,id,weight\n0,x,2\n1,y,1\n");
    sandbox.lehr(&["distances", "records.csv", "--collapse", "--out", "r", "-q"]).succeeded();
    assert_eq!(sandbox.read("r/ids.csv"), "item,id,weight\n0,0,2\n1,1,2\n2,4,1\n");
    assert_eq!(sandbox.read("r/members.csv"), "id,item\n0,0\n1,1\n2,0\n3,1\n4,2\n");
}

#[test]
fn a_column_that_begins_with_gaps_is_compared_and_text_behind_gaps_is_not() {
    let row = |row: usize| match row {
        0..150 => format!("{row},,,\n"),
        150 => "150,5,,\n".to_owned(),
        _ => format!("{row},7,word,\n"),
    };
    let body: String = (0..160).map(row).collect();
    let sandbox = Sandbox::with("records.csv", format!("x,late,text,nothing\n{body}"));
    let outcome = sandbox.lehr(&["distances", "records.csv", "--out", "d", "--json"]).succeeded();
    assert!(outcome.stderr.contains("comparing by x, late; "), "{}", outcome.stderr);
    assert_eq!(header(&sandbox, "d")["parameters"]["columns"], 2);
    let d: Vec<f32> = numbers(&sandbox, "d/dissimilarities.npy").into_iter().map(f32::from_le_bytes).collect();
    // Rows 150 and 151 differ by 1 and by 2; rows 0 and 151 have one column of two in common.
    assert_eq!((d[150 * 160 + 151], d[151]), (5f32.sqrt(), (2.0 * 151f64 * 151.0).sqrt() as f32));
}

#[test]
fn columns_of_numbers_and_of_words_are_compared_together_by_gower() {
    // Ages range over 40 years. The ids and the one country take no part.
    let text =
        "name;age;city;country\nA;20;Bern;CH\nB;30;Basel;CH\nC;60;Bern;CH\nD;;Basel;CH\nE;20;Bern;CH\nF;60;Basel;CH\n";
    let sandbox = Sandbox::with("people.csv", text);
    let line = ["distances", "people.csv", "--metric", "gower", "--id", "name", "--element", "f64", "--out", "d"];
    let outcome = sandbox.lehr(&line).succeeded();
    assert!(outcome.stderr.contains("comparing by age, city; "), "{}", outcome.stderr);
    let d: Vec<f64> = numbers(&sandbox, "d/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(d[..6], [0.0, (0.25 + 1.0) / 2.0, 0.5, 1.0, 0.0, 1.0]);
    // Of the fourth only the city is known.
    assert_eq!(d[18..24], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(
        (&header(&sandbox, "d")["metric"], header(&sandbox, "d")["parameters"]["columns"].as_u64()),
        (&"gower".into(), Some(2))
    );
    // The methods of dissimilarities take it as any other.
    for method in ["pairwise", "kmedoids"] {
        sandbox.lehr(&[method, "d/dissimilarities.json", "-k", "2", "-q", "--out", method]).succeeded();
        assert!(sandbox.read(&format!("{method}/labels.csv")).starts_with("id,cluster"), "{method}");
    }
    let refused = sandbox.lehr(&[&line[..], &["--standardize"]].concat());
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("gower divides each column by its range"), "{}", refused.stderr);
}

/// Runs on `content`, compares with the golden file, sees that nothing is left.
fn refuses(name: &str, file: &str, content: impl AsRef<[u8]>, options: &[&str], code: i32) {
    let sandbox = Sandbox::with(file, content);
    let arguments: Vec<&str> = ["distances", file].into_iter().chain(options.iter().copied()).collect();
    let outcome = sandbox.lehr(&arguments);
    outcome.matches_golden(name);
    assert_eq!(outcome.code, code, "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty(), "nothing on standard output: {}", outcome.stdout);
    assert!(!sandbox.path("lehr-distances").exists(), "no folder for a matrix that does not exist");
}

#[test]
fn wrong_letters_are_told_all_at_once() {
    let body: String = (0..12).map(|row| format!(">s{row}\nACGTACGTACGTACGTACGTACGTACGT{}\n", row % 10)).collect();
    refuses("distances_wrong_letters", "genes.fasta", body, &[], 3);
}

#[test]
fn empty_sequences_and_ids() {
    refuses("distances_empty_sequence", "genes.fasta", ">a\nACGT\n>b\n>\nACGT\n", &[], 3);
}

#[test]
fn gaps_where_sequences_are_to_be_aligned() {
    refuses("distances_gaps", "genes.fasta", ">a\nACGTACGTAC\n>b\nACG-ACGTAC\n", &[], 3);
}

#[test]
fn aligned_sequences_of_unlike_length() {
    refuses("distances_unlike_lengths", "genes.fasta", ">a\nACG-T\n>b\nACG\n", &["--metric", "hamming"], 3);
}

#[test]
fn no_fasta() {
    refuses("distances_no_fasta", "genes.fasta", "a,b\n1,2\n", &[], 3);
}

#[test]
fn one_item() {
    refuses("distances_one_item", "genes.fasta", ">a\nACGT\n", &[], 3);
}

#[test]
fn items_that_are_all_equal() {
    refuses("distances_all_equal", "genes.fasta", ">a\nACGT\n>b\nacgt\n>c\nACGT\n", &["--collapse"], 3);
}

#[test]
fn pairs_that_hardly_match_are_reported_with_what_gives_them_a_value() {
    let sandbox = Sandbox::with("genes.fasta", ">a\nAAAAAAAAAAAA\n>b\nAAAAAAAAAAAC\n>c\nCCCCCCCCCCCC\n");
    let outcome = sandbox.lehr(&["distances", "genes.fasta", "--out", "d"]).succeeded();
    let expected = "warning: 2 pairs without a value (67 % of all): the alignment covers less than 0.7 of the shorter sequence; --alignment semi-global";
    assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    // No mean of nothing.
    sandbox.write("two.fasta", ">a\nAAAAAAAAAAAA\n>c\nCCCCCCCCCCCC\n");
    let none = sandbox.lehr(&["distances", "two.fasta", "--out", "n"]).succeeded().stdout;
    assert!(
        none.starts_with("2 sequences (DNA), identity (local alignment, EDNAFULL) of 1 pair; no pair has a value\n"),
        "{none}"
    );
    let none = sandbox.lehr(&["distances", "two.fasta", "--out", "n", "--json", "--quiet"]).succeeded().stdout;
    let none: serde_json::Value = serde_json::from_str(&none).unwrap();
    assert!(none["mean"].is_null() && none["largest"].is_null() && none["missing_pairs"] == 1, "{none}");
    // A matrix without a value is read and converted all the same.
    sandbox.lehr(&["distances", "n/dissimilarities.json", "--form", "condensed", "--out", "c", "--quiet"]).succeeded();
    assert!(header(&sandbox, "c")["mean"].is_null());
    let outcome = sandbox.lehr(&["distances", "genes.fasta", "--alignment", "global", "--out", "s"]).succeeded();
    assert!(!outcome.stderr.contains("without a value"), "{}", outcome.stderr);
}

#[test]
fn an_odd_sequence_is_named_where_the_matrix_is_used_32() {
    let gene = "ACGTTGCAACGGTTACAGCATTAGCCATGACT";
    let odd = "CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC";
    let text = format!(">a\n{gene}\n>b\n{gene}A\n>rev\n{odd}\n>c\nT{gene}\n");
    let sandbox = Sandbox::with("genes.fasta", text);
    sandbox.lehr(&["distances", "genes.fasta", "--out", "d", "--quiet"]).succeeded();
    for method in ["embed", "pairwise"] {
        let outcome = sandbox.lehr(&[method, "d/dissimilarities.json", "--out", "m", "--quiet"]);
        let said = "error: 1 item has no dissimilarity to any other item: rev; leave it out, or give values to the pairs \
                    (items of weight 0 do not count)\n\
                    hint: lehr distances gives every pair of sequences a value with --alignment global; \
                    or leave these sequences out of its input\n";
        assert_eq!((outcome.code, outcome.stderr.as_str()), (3, said), "{method}");
    }
    // As it says.
    sandbox.lehr(&["distances", "genes.fasta", "--overlap", "0", "--out", "e", "--quiet"]).succeeded();
    sandbox.lehr(&["embed", "e/dissimilarities.json", "--out", "m", "--quiet"]).succeeded();
}

#[test]
fn the_alphabet_that_was_found_is_printed_and_kept_32() {
    let protein = "MKVLAAGIVGMKVLWWRSTMKVLAAGIVGMKVL";
    let sandbox = Sandbox::with("p.fasta", format!(">p\n{protein}\n>q\n{protein}A\n"));
    let said = sandbox.lehr(&["distances", "p.fasta", "--out", "p"]).succeeded().stdout;
    assert!(said.starts_with("2 sequences (protein), identity (local alignment, BLOSUM62) of 1 pair; "), "{said}");
    assert_eq!(header(&sandbox, "p")["parameters"]["alphabet"], "protein");
    // Two alphabets in one file: one line, with the name of the record.
    sandbox.write("mixed.fasta", format!(">p\n{protein}\n>d\n{}\n", "ACGTTGCA".repeat(4)));
    let outcome = sandbox.lehr(&["distances", "mixed.fasta", "--out", "m"]);
    let said = "error: mixed.fasta, line 3: expected one alphabet in all records, found record \"d\", which looks like DNA, \
                among proteins; if all are proteins, name the alphabet\n";
    assert_eq!((outcome.code, outcome.stderr.as_str()), (3, said));
    sandbox.lehr(&["distances", "mixed.fasta", "--alphabet", "protein", "--out", "m"]).succeeded();
}

#[test]
fn more_values_than_the_memory_that_is_allowed() {
    // 100 bytes.
    refuses("distances_too_large", "genes.fasta", many(), &["--memory", "9.3132257462e-8"], 4);
}

#[test]
fn a_matrix_has_no_items_to_collapse() {
    refuses("distances_collapse_matrix", "d.bin", [0u8; 8], &["--collapse"], 2);
}

#[test]
fn faults_of_a_table_with_gaps_are_told_ten_at_a_time() {
    let body: String = (0..14).map(|row| format!("{row},{}\n", if row % 7 == 3 { "" } else { "inf" })).collect();
    refuses("distances_infinite_rows", "records.csv", format!("x,y\n{body}"), &["--columns", "x,y"], 3);
}

#[test]
fn a_table_whose_rows_have_too_few_fields() {
    refuses("distances_short_rows", "records.csv", "x,y\n1,2\n3\n4,5,6\n7,8\n", &[], 3);
}

#[test]
fn fingerprints_that_are_none() {
    let body = "#FPS1\n#num_bits=8\n07\tx\n0\ty\nzz\tz\n0102\tw\n";
    refuses("distances_wrong_fingerprints", "compounds.fps", body, &[], 3);
}

#[test]
fn a_metric_for_something_else() {
    refuses("distances_wrong_metric", "genes.fasta", GENES, &["--metric", "euclidean"], 2);
}

#[test]
fn options_for_something_else() {
    refuses("distances_wrong_options", "rows.csv", "x,y\n1,2\n3,4\n", &["--gap", "14/4"], 2);
}

#[test]
fn proteins_have_no_transitions() {
    refuses(
        "distances_kimura_of_proteins",
        "p.fasta",
        ">a\nMKVLAAGIVGW\n>b\nMKVLAEGIVGW\n",
        &["--metric", "kimura"],
        3,
    );
}

#[test]
fn costs_that_make_no_sense() {
    refuses("distances_gap_costs", "genes.fasta", GENES, &["--gap", "1/4"], 2);
}

#[test]
fn a_file_that_is_no_square_of_16_bit_rows() {
    refuses("distances_no_square", "d.bin", [0u8; 10], &[], 3);
}

/// Relatives of one sequence, long and many enough to be stopped in the middle.
pub fn many() -> String {
    let letter = |at: usize| char::from(b"ACGT"[at.wrapping_mul(2_654_435_761) >> 7 & 3]);
    (0..640)
        .map(|row| {
            let text: String =
                (0..300).map(|at| letter(if (row * 31 + at) % 11 == 0 { row * 1000 + at } else { at })).collect();
            format!(">s{row}\n{text}\n")
        })
        .collect()
}

#[test]
fn ctrl_c_keeps_what_is_finished_and_going_on_gives_the_same_bytes() {
    let sandbox = Sandbox::with("many.fasta", many());
    let line = ["distances", "many.fasta", "--out", "d"];
    let mut child = sandbox.start(&line);
    let mut reader = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    assert!(reader.read_line(&mut first).unwrap() > 0, "the run ended before it was stopped");
    assert!(first.contains(" of 204,480 pairs"), "{first}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    let said: String = rest.lines().filter(|line| !line.contains(" %, ")).map(|line| format!("{line}\n")).collect();
    let outcome = Outcome::new(&line, &Output { status, stdout, stderr: said.into_bytes() });
    outcome.matches_golden("distances_stopped");
    assert_eq!((outcome.code, sandbox.list("d")), (130, vec!["checkpoint".to_owned()]));

    // In the way of another run; of no use for another dissimilarity; gone on with, whoever computes.
    assert_eq!(sandbox.lehr(&line).code, 4);
    let other = sandbox.lehr(&["distances", "many.fasta", "--resume", "d", "--alignment", "global"]);
    assert_eq!(other.code, 3, "{}", other.stderr);
    sandbox.lehr(&["distances", "many.fasta", "--resume", "d", "--engine", "loop", "--quiet"]).succeeded();
    assert_eq!(sandbox.list("d"), RESULTS);
    sandbox.lehr(&["distances", "many.fasta", "--out", "whole", "--threads", "3", "--quiet"]).succeeded();
    for name in RESULTS {
        let read = |folder: &str| std::fs::read(sandbox.path(&format!("{folder}/{name}"))).unwrap();
        assert!(read("d") == read("whole"), "{name}");
    }
    let nothing = sandbox.lehr(&["distances", "many.fasta", "--resume", "d"]);
    assert_eq!(nothing.code, 4, "{}", nothing.stderr);
}

#[test]
fn a_dissimilarity_that_its_element_cannot_hold_is_refused_with_the_pair() {
    let sandbox = Sandbox::with("large.csv", "x\n1e20\n-1e20\n0\n");
    sandbox.write("huge.csv", "x\n1\n1e308\n-1e308\n");
    sandbox.write("far.csv", "x\n1e200\n-1e200\n0\n");
    let squared = ["distances", "large.csv", "--metric", "squared-euclidean", "--out", "d"];
    for element in ["f32", "u16", "i16be"] {
        let outcome = sandbox.lehr(&[&squared[..], &["--element", element]].concat());
        assert_eq!(outcome.code, 3, "{element}: {}", outcome.stderr);
        let expected = "items 0 and 1, counted from 0, are further apart than f32 can store; so are 2 other pairs";
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("--element f64 stores larger ones"), "{}", outcome.stderr);
        assert!(!sandbox.path("d/dissimilarities.npy").exists());
    }
    sandbox.lehr(&[&squared[..], &["--element", "f64", "--quiet"]].concat()).succeeded();
    let d: Vec<f64> = numbers(&sandbox, "d/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert!((d[1] / 4e40 - 1.0).abs() < 1e-12, "{d:?}");
    // As numbers of 32 bits it has no place there either.
    let narrowed = sandbox.lehr(&["distances", "d/dissimilarities.json", "--element", "f32", "--out", "e"]);
    assert_eq!(narrowed.code, 3, "{}", narrowed.stderr);
    assert!(narrowed.stderr.contains("expected dissimilarities that fit into f32, found 4e40"), "{}", narrowed.stderr);
    let huge = sandbox.lehr(&["distances", "huge.csv", "--element", "f64", "--out", "h"]);
    assert!(huge.code == 3 && huge.stderr.contains("further apart than f64 can store"), "{}", huge.stderr);
    // Smaller numbers than the smallest that has all its digits would be 0, as if the items were equal.
    sandbox.write("near.csv", "x\n1e-25\n2e-25\n4e-25\n");
    sandbox.write("equal.csv", "x\n1e-25\n1e-25\n1e-25\n");
    let squared = |file: &'static str, element| {
        let metric = ["--metric", "squared-euclidean", "--element", element];
        sandbox.lehr(&[&["distances", file, "--out", "n", "--force"][..], &metric].concat())
    };
    for element in ["f32", "u16", "i16be"] {
        let near = squared("near.csv", element);
        assert_eq!(near.code, 3, "{}", near.stderr);
        assert!(near.stderr.contains("all items are nearer to each other than f32 can store"), "{}", near.stderr);
        assert!(near.stderr.contains("--element f64 stores smaller ones"), "{}", near.stderr);
        squared("equal.csv", element).succeeded();
    }
    squared("near.csv", "f64").succeeded();
    let n: Vec<f64> = numbers(&sandbox, "n/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert!((n[1] / 1e-50 - 1.0).abs() < 1e-12, "{n:?}");
    let narrowed = sandbox.lehr(&["distances", "n/dissimilarities.json", "--element", "f32", "--out", "m"]);
    assert_eq!(narrowed.code, 3, "{}", narrowed.stderr);
    assert!(narrowed.stderr.contains("expected dissimilarities that fit into f32, found 9"), "{}", narrowed.stderr);
    // Not the distance but its square is beyond the largest number.
    sandbox.lehr(&["distances", "far.csv", "--element", "f64", "--out", "g", "--quiet"]).succeeded();
    let g: Vec<f64> = numbers(&sandbox, "g/dissimilarities.npy").into_iter().map(f64::from_le_bytes).collect();
    assert_eq!(g[1..3], [2e200, 1e200]);
}
