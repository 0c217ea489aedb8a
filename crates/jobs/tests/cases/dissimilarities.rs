//! Jobs that lead from items to clusters and a map: distances, pairwise clustering and embedding, one after the other.

use std::collections::BTreeMap;

use lehr_data::dissimilarities::{Dissimilarities, Element, Form as MatrixForm, Values};
use lehr_data::sequences::{Alphabet, Sequences};
use lehr_distances::sequence::{Aligned, Parameters};
use lehr_distances::{Silent as Unwatched, all_pairs};
use lehr_jobs::datasets::{Begin, Datasets, Remove, Take};
use lehr_jobs::jobs::{Cancel, Input, Jobs, Order, Record, ResultOf, Resume, Rows, State};
use lehr_jobs::{DatasetService, Distances, Form, Handle, Method, RowFormat, Setup, Table, distances};
use lehr_methods::{embed, pairwise};
use lehr_mining::anneal::Silent;
use lehr_mining::{Execution, smacof};
use lehr_services::{Code, Host, Reference};

use super::restarts::life;
use super::samples::*;
use crate::{on_hosts, on_one_host};

/// The services of an application.
struct Services {
    datasets: Reference<Datasets>,
    distances: Reference<Jobs>,
    pairwise: Reference<Jobs>,
    embedding: Reference<Jobs>,
}

impl Services {
    async fn on(host: &Host) -> Self {
        Self {
            datasets: host.start("/datasets", DatasetService::in_memory).await.unwrap(),
            distances: Setup::default().start_method(host, "/distances", Distances::default()).await.unwrap(),
            pairwise: Setup::default().start_declared(host, "/pairwise", &pairwise::Pairwise).await.unwrap(),
            embedding: Setup::default().start_declared(host, "/embedding", &embed::Embedding).await.unwrap(),
        }
    }

    async fn kept(host: &Host, setup: &Setup) -> Self {
        Self {
            datasets: setup.start_datasets(host, "/datasets").await.unwrap(),
            distances: setup.start_method(host, "/distances", Distances::default()).await.unwrap(),
            pairwise: setup.start_declared(host, "/pairwise", &pairwise::Pairwise).await.unwrap(),
            embedding: setup.start_declared(host, "/embedding", &embed::Embedding).await.unwrap(),
        }
    }

    async fn table(&self, name: &str) -> Table {
        self.datasets.call(Take { name: name.into() }).await.unwrap().0
    }
}

/// Returns descendants of three related sequences, and the same sequences as FASTA.
fn genes(count: usize) -> (Sequences, String) {
    let mut state = 17u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut changed = |of: &[u8], percent: u64| -> Vec<u8> {
        of.iter().map(|&letter| if next(100) < percent { b"ACGT"[next(4) as usize] } else { letter }).collect()
    };
    let first = changed(&[b'A'; 120], 100);
    let ancestors = [20, 20, 20].map(|percent| changed(&first, percent));
    let texts: Vec<Vec<u8>> = (0..count).map(|item| changed(&ancestors[item % 3], 6)).collect();
    let ids: Vec<String> = (0..count).map(|item| format!("g{item}")).collect();
    let lines = texts.iter().zip(&ids).map(|(text, id)| format!(">{id}\n{}\n", String::from_utf8_lossy(text)));
    let fasta = lines.collect();
    (Sequences::new(&texts, Alphabet::Dna).unwrap().with_ids(ids).unwrap(), fasta)
}

/// Returns the input that consists of a matrix and its items.
fn of(matrix: &str, items: &str) -> Input {
    Input::Named(BTreeMap::from([("matrix".into(), matrix.into()), ("items".into(), items.into())]))
}

async fn done(jobs: &Reference<Jobs>, order: Order) -> Record {
    let job = run(jobs, order).await.unwrap();
    let record = wait(jobs, &job).await;
    assert_eq!((record.state, record.fault.as_ref()), (State::Done, None), "{job}");
    record
}

async fn reason(jobs: &Reference<Jobs>, order: Order) -> String {
    let job = run(jobs, order).await.unwrap();
    let record = wait(jobs, &job).await;
    assert_eq!(record.state, State::Failed, "{job}");
    record.fault.unwrap().reason().to_owned()
}

fn clustered(clusters: usize) -> pairwise::Options {
    pairwise::Options { clusters: Some(clusters), ..pairwise::Options::default() }
}

#[test]
fn genes_become_a_matrix_clusters_and_a_map_with_the_bits_of_the_library() {
    let (sequences, fasta) = genes(60);
    let execution = Execution::default();
    let half =
        all_pairs::<f32>(&Aligned::new(&sequences, &Parameters::default()).unwrap(), &execution, None, &mut Unwatched)
            .unwrap();
    let pairs = (0..60).flat_map(|i| (i + 1..60).map(move |j| (i, j)));
    let values: Vec<f32> = pairs.map(|(i, j)| half.get(i, j) as f32).collect();
    let matrix = Dissimilarities::new(60, MatrixForm::Condensed, Values::F32(values.clone()), 1.0).unwrap();
    let parameters = lehr_mining::pairwise::Parameters { clusters: Some(3), ..Default::default() };
    let model = lehr_mining::pairwise::cluster(&matrix, None, &parameters, &execution, &mut Silent).unwrap();
    let parameters = smacof::Parameters { dimension: 3, ..Default::default() };
    let map = smacof::embed(&smacof::Input::new(&matrix), &parameters, &execution, &mut Silent).unwrap();

    on_hosts(async |host| {
        let services = Services::on(&host).await;
        let read = upload(&services.datasets, Begin::new("genes", Form::Fasta), fasta.as_bytes()).await.unwrap();
        assert_eq!((read.rows, read.id.as_deref()), (60, Some("id")));
        let compared = done(&services.distances, Order::new("genes", &distances::Options::default())).await;
        let found = services.table(&compared.outputs["matrix"]).await;
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
        assert_eq!(bits(found.singles("dissimilarity").unwrap()), bits(&values));
        let missing = values.iter().filter(|value| value.is_nan()).count() as f64;
        assert_eq!((compared.figures["pairs"], compared.figures["missing_pairs"]), (1770.0, missing));

        let input = of(&compared.outputs["matrix"], &compared.outputs["items"]);
        let order = Order { input: input.clone(), ..Order::new("", &clustered(3)) };
        let clusters = done(&services.pairwise, order).await;
        let labels = services.table(&clusters.outputs["labels"]).await;
        let expected: Vec<u64> = model.labels.iter().map(|&label| u64::from(label)).collect();
        assert_eq!(labels.counts("cluster").unwrap(), expected);
        assert_eq!(*labels.numbers("probability").unwrap(), model.probabilities);
        assert_eq!(labels.texts("id").unwrap(), sequences.ids());
        let table = services.table(&clusters.outputs["clusters"]).await;
        assert_eq!(table.texts("medoid").unwrap()[0], sequences.ids()[model.clusters[0].medoid]);
        assert_eq!(clusters.figures["cost"], model.cost);
        let history = services.table(&clusters.outputs["history"]).await;
        assert_eq!(history.rows(), model.history.len());
        assert_eq!(services.table(&clusters.outputs["splits"]).await.rows(), model.splits.len());

        let options = embed::Options { dimensions: 3, ..Default::default() };
        let mapped = done(&services.embedding, Order { input, ..Order::new("", &options) }).await;
        let positions = services.table(&mapped.outputs["positions"]).await;
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let expected: Vec<f64> = (0..60).map(|item| map.position(item)[axis]).collect();
            assert_eq!(*positions.numbers(name).unwrap(), expected, "{name}");
        }
        assert_eq!(*positions.numbers("stress").unwrap(), map.item_stress);
        assert_eq!((mapped.figures["stress"], mapped.figures["converged"]), (map.stress, 1.0));
        let shepard = services.table(&mapped.outputs["shepard"]).await;
        let missing = values.iter().filter(|value| value.is_nan()).count() as u64;
        assert_eq!(shepard.counts("pairs").unwrap().iter().sum::<u64>(), 1770 - missing);
    });
}

#[test]
fn equal_items_become_one_that_weighs_as_much_and_gaps_are_missing_values() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let csv = Begin { gaps: true, id: Some("name".into()), ..Begin::new("records", Form::Csv) };
        let text = "name,a,b\np,1,\nq,1,\nr,4,2\ns,,6\n";
        upload(&services.datasets, csv, text.as_bytes()).await.unwrap();
        let options = distances::Options {
            metric: Some(distances::Metric::Manhattan),
            collapse: true,
            element: distances::Element::F64,
            ..Default::default()
        };
        let compared = done(&services.distances, Order::new("records", &options)).await;
        let items = services.table(&compared.outputs["items"]).await;
        assert_eq!(
            (items.texts("id").unwrap(), items.counts("weight").unwrap()),
            (["p", "r", "s"].map(String::from).to_vec(), &[2, 1, 1][..])
        );
        let members = services.table(&compared.outputs["members"]).await;
        assert_eq!(members.counts("item").unwrap(), [0, 0, 1, 2]);
        let sample = distances::Options { sample: Some(2), collapse: false, ..options.clone() };
        let sample = done(&services.distances, Order::new("records", &sample)).await;
        let items = services.table(&sample.outputs["items"]).await;
        let drawn = distances::Options { sample: Some(2), ..Default::default() }.drawn(4).unwrap();
        assert_eq!(items.texts("id").unwrap(), drawn.iter().map(|row| ["p", "q", "r", "s"][*row]).collect::<Vec<_>>());
        assert_eq!(sample.figures["pairs"], 1.0);
        // Nothing is known of p and s together: their pair has no value, here and after a way through bytes.
        let matrix = services.table(&compared.outputs["matrix"]).await;
        assert!(matrix.has_gaps() && matrix.numbers("dissimilarity").unwrap()[1].is_nan());
        let text = serde_json::to_string(&Handle(matrix.clone())).unwrap();
        let read = serde_json::from_str::<Handle>(&text).unwrap().0;
        assert_eq!(read.checksum(), matrix.checksum());
        assert_eq!(compared.figures["missing_pairs"], 1.0);
        let clusters = done(
            &services.pairwise,
            Order {
                input: of(&compared.outputs["matrix"], &compared.outputs["items"]),
                ..Order::new("", &clustered(2))
            },
        )
        .await;
        let weights = services.table(&clusters.outputs["clusters"]).await.numbers("weight").unwrap().into_owned();
        assert_eq!(weights.iter().sum::<f64>(), 4.0);
        // Points must not have missing values, whichever service reads them.
        let fault = services.datasets.call(Take { name: "records".into() }).await.unwrap().0;
        let fault = fault.points("records", &lehr_jobs::Columns::default()).unwrap_err().to_string();
        assert!(fault.starts_with("records, row 1, column 3 (\"b\"): expected a finite number, found NaN"), "{fault}");
    });
}

#[test]
fn columns_of_numbers_and_of_words_are_compared_together_by_gower() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let text = "name;age;city\nA;20;Bern\nB;30;Basel\nC;60;Bern\nD;;Basel\nE;20;Bern\nF;60;Basel\n";
        upload(&services.datasets, Begin::new("people", Form::Table), text.as_bytes()).await.unwrap();
        let options = distances::Options {
            metric: Some(distances::Metric::Gower),
            id: Some("name".into()),
            element: distances::Element::F64,
            ..Default::default()
        };
        let compared = done(&services.distances, Order::new("people", &options)).await;
        let items = services.table(&compared.outputs["items"]).await;
        assert_eq!(items.texts("id").unwrap(), ["A", "B", "C", "D", "E", "F"]);
        let matrix = services.table(&compared.outputs["matrix"]).await;
        assert_eq!(matrix.numbers("dissimilarity").unwrap()[..5], [(0.25 + 1.0) / 2.0, 0.5, 1.0, 0.0, 1.0]);
        let wrong = distances::Options { columns: Some(vec!["height".into()]), ..options };
        let fault = reason(&services.distances, Order::new("people", &wrong)).await;
        assert!(fault.contains("height"), "{fault}");
    });
}

#[test]
fn molecules_of_an_sd_file_have_their_fields_as_columns() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let entry = |title: &str, end: &str, fields: &str| {
            format!(
                "{title}\n\n\n  2  1  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    \
                 1.4000    0.0000    0.0000 {end}   0  0\n  1  2  1  0\nM  END\n{fields}$$$$\n"
            )
        };
        let text = entry("methanol", "O", "> <boils>\n64.7\n\n> <id>\nM1\n\n")
            + &entry("methylamine", "N", "> <boils>\n-6.0\n\n> <use>\nfumigant\n\n")
            + &entry("fluoromethane", "F", "");
        let begin = Begin { fingerprint: Some(distances::MoleculeBits::Maccs), ..Begin::new("gases", Form::Sdf) };
        let read = upload(&services.datasets, begin, text.as_bytes()).await.unwrap();
        let names: Vec<&str> = read.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "smiles", "fingerprint", "boils", "id_field", "use"]);
        let table = services.table("gases").await;
        assert_eq!(table.texts("id").unwrap(), ["methanol", "methylamine", "fluoromethane"]);
        assert_eq!(table.texts("smiles").unwrap(), ["CO", "CN", "CF"]);
        assert_eq!(table.texts("use").unwrap(), ["", "fumigant", ""]);
        let boils = table.numbers("boils").unwrap();
        assert!(boils[..2] == [64.7, -6.0] && boils[2].is_nan());
        // Bits 93, 139, 157, 160 and 164: byte by byte, the lowest bit first.
        let digits = &table.texts("fingerprint").unwrap()[0];
        assert_eq!(digits, &format!("{}20{}08{}20{}", "00".repeat(11), "00".repeat(5), "00", "11"), "{digits}");
        // The request chooses other fingerprints of the same structures.
        for (bits, value) in [(None, 7.0 / 9.0), (Some(distances::MoleculeBits::Morgan), 0.8)] {
            let options = distances::Options { fingerprint: bits, ..Default::default() };
            let compared = done(&services.distances, Order::new("gases", &options)).await;
            let matrix = services.table(&compared.outputs["matrix"]).await;
            let found = matrix.numbers("dissimilarity").unwrap()[0];
            assert!((found - value).abs() < 1e-6, "{bits:?}: {found}");
        }
        let begin = Begin { fingerprint: Some(distances::MoleculeBits::Maccs), ..Begin::new("keys", Form::Fps) };
        let fault = upload(&services.datasets, begin, b"#FPS1\n0f\ta\n").await.unwrap_err();
        assert!(fault.reason().starts_with("fingerprint: expected with molecules only"), "{fault}");
    });
}

#[test]
fn molecules_keep_their_structures_from_the_file_to_the_items_and_the_reports() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let smiles = b"CCCCO butanol\nOCCCC same\nc1ccccc1O phenol\nc1ccccc1N aniline\n";
        let read = upload(&services.datasets, Begin::new("compounds", Form::Smiles), smiles).await.unwrap();
        let names: Vec<&str> = read.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "smiles", "fingerprint"]);
        let options = distances::Options { collapse: true, ..Default::default() };
        let compared = done(&services.distances, Order::new("compounds", &options)).await;
        let items = services.table(&compared.outputs["items"]).await;
        assert_eq!(items.texts("id").unwrap(), ["butanol", "phenol", "aniline"]);
        assert_eq!(items.texts("smiles").unwrap(), ["CCCCO", "c1ccccc1O", "c1ccccc1N"]);
        let input = of(&compared.outputs["matrix"], &compared.outputs["items"]);
        let clusters = done(&services.pairwise, Order { input: input.clone(), ..Order::new("", &clustered(2)) }).await;
        let page = services.table(&clusters.outputs["report"]).await.texts("report").unwrap();
        assert!(page[0].contains("data-smiles=\"CCCCO\""));
        // A map takes the clusters as classes.
        let Input::Named(mut input) = input else { panic!("expected inputs with names") };
        input.insert("labels".into(), clusters.outputs["labels"].clone());
        let options = embed::Options::default();
        let order = Order { input: Input::Named(input), ..Order::new("", &options) };
        let mapped = done(&services.embedding, order).await;
        let positions = services.table(&mapped.outputs["positions"]).await;
        let labels = services.table(&clusters.outputs["labels"]).await;
        assert_eq!(positions.texts("cluster").unwrap(), labels.texts("cluster").unwrap());
    });
}

#[test]
fn fingerprints_and_matrices_that_are_brought_in_are_taken_too() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let fps = b"#FPS1\n#num_bits=12\n0b01\tone\n0b00\ttwo\nf00f\tthree\n";
        let read = upload(&services.datasets, Begin::new("compounds", Form::Fps), fps).await.unwrap();
        assert_eq!(read.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(), ["id", "fingerprint"]);
        let options = distances::Options { element: distances::Element::F64, ..Default::default() };
        let compared = done(&services.distances, Order::new("compounds", &options)).await;
        let matrix = services.table(&compared.outputs["matrix"]).await;
        assert_eq!(matrix.numbers("dissimilarity").unwrap()[0], 0.25);
        // A square matrix in the form that other programs write.
        upload_csv(&services.datasets, "square", "a,b,c,d\n0,1,9,9\n1,0,9,9\n9,9,0,1\n9,9,1,0\n").await.unwrap();
        let clusters = done(&services.pairwise, Order::new("square", &clustered(2))).await;
        let labels = services.table(&clusters.outputs["labels"]).await;
        assert_eq!(labels.counts("cluster").unwrap(), [0, 0, 1, 1]);
        let rows = Rows { job: "pairwise-1".into(), table: "labels".into(), format: RowFormat::Csv, from: 0, to: None };
        let csv = services.pairwise.call(ResultOf::of(rows)).await.unwrap().csv.unwrap();
        assert!(csv.starts_with("id,cluster,probability\n0,0,"), "{csv}");
        // The matrix as an array, which becomes a data set again when it is uploaded.
        let options = embed::Options::default();
        let mapped = done(&services.embedding, Order::new("square", &options)).await;
        let rows =
            Rows { job: "embedding-1".into(), table: "positions".into(), format: RowFormat::Npy, from: 1, to: Some(4) };
        let npy = services.embedding.call(ResultOf::of(rows)).await.unwrap().npy.unwrap();
        let array = upload(&services.datasets, Begin::new("array", Form::Npy), npy.as_slice()).await.unwrap();
        assert_eq!((array.rows, array.columns.len()), (3, 3));
        let (array, all) =
            (services.table("array").await, services.table(&mapped.outputs["positions"]).await.slice(1, 3));
        let columns = array.columns().map(|(name, _)| array.numbers(name).unwrap().into_owned());
        let expected = ["x", "y", "stress"].map(|name| all.numbers(name).unwrap().into_owned());
        assert_eq!(columns.collect::<Vec<_>>(), expected);
    });
}

#[test]
fn what_is_no_matrix_and_what_cannot_be_compared_is_a_fault_that_says_so() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        upload_csv(&services.datasets, "points", "x,y\n0,1\n2,3\n4,5\n").await.unwrap();
        let found = reason(&services.pairwise, Order::new("points", &clustered(2))).await;
        assert!(found.starts_with("points: expected dissimilarities of all pairs"), "{found}");
        let found = reason(&services.embedding, Order::new("points", &embed::Options::default())).await;
        assert!(found.ends_with("found 3 rows, 2 columns of numbers"), "{found}");
        let options = distances::Options { metric: Some(distances::Metric::Identity), ..Default::default() };
        let found = reason(&services.distances, Order::new("points", &options)).await;
        assert_eq!(found, "points: metric: expected one of rows, found identity, which is one of sequences");
        upload_csv(&services.datasets, "pairs", "d\n1\n9\n9\n").await.unwrap();
        let found = reason(&services.pairwise, Order::new("pairs", &clustered(4))).await;
        assert_eq!(found, "pairs: you requested 4 clusters, but only 3 rows have a weight above 0: request 3 or fewer");
        let named = Order { input: of("pairs", "points"), ..Order::new("", &clustered(2)) };
        done(&services.pairwise, named).await;
        upload_csv(&services.datasets, "negative", "d\n1\n-9\n9\n").await.unwrap();
        let found = reason(&services.embedding, Order::new("negative", &embed::Options::default())).await;
        assert!(found.contains("found -9"), "{found}");
        let fasta = b">a\nAC-GT\n>b\nACGGT\n";
        upload(&services.datasets, Begin::new("aligned", Form::Fasta), fasta).await.unwrap();
        let found = reason(&services.distances, Order::new("aligned", &distances::Options::default())).await;
        assert!(found.contains("\"alignment\": \"given\""), "{found}");
        // The names of these options in version 1.0, which stored jobs of that version contain.
        let given = serde_json::json!({ "measure": "hamming", "bits": 16 });
        let options = done(&services.distances, Order::new("aligned", &given)).await.options::<distances::Options>();
        let expected = (Some(distances::Metric::Hamming), distances::Element::U16);
        assert_eq!(options.map(|options| (options.metric, options.element)).unwrap(), expected);
        let wrong = Begin { columns: Some(vec!["sequence".into()]), ..Begin::new("more", Form::Fasta) };
        let fault = services.datasets.call(wrong).await.unwrap_err();
        assert!(fault.reason().contains("expected with tables only"), "{fault}");
        let wrong = Begin { gaps: true, weights: Some("d".into()), ..Begin::new("more", Form::Csv) };
        assert!(
            services.datasets.call(wrong).await.unwrap_err().reason().starts_with("gaps: expected without weights")
        );
        // These options are refused before the job is queued.
        let wrong = serde_json::json!({ "metric": "hamming", "alignment": "local", "element": "i16be" });
        let fault = run(&services.distances, Order::new("aligned", &wrong)).await;
        assert_eq!(fault.unwrap_err().reason().split("; ").count(), 2);
        let wrong = embed::Options { dimensions: 0, ..Default::default() };
        assert!(
            run(&services.embedding, Order::new("pairs", &wrong)).await.unwrap_err().reason().starts_with("dimensions")
        );
    });
}

#[test]
fn a_matrix_of_16_bits_takes_half_the_memory_and_is_what_the_methods_read() {
    on_one_host(async |host| {
        let services = Services::on(&host).await;
        let (_, fasta) = genes(60);
        upload(&services.datasets, Begin::new("genes", Form::Fasta), fasta.as_bytes()).await.unwrap();
        let stored = |element| distances::Options { element, ..Default::default() };
        let wide = done(&services.distances, Order::new("genes", &stored(distances::Element::F32))).await;
        let narrow = done(&services.distances, Order::new("genes", &stored(distances::Element::U16))).await;
        let (wide_matrix, matrix) =
            (services.table(&wide.outputs["matrix"]).await, services.table(&narrow.outputs["matrix"]).await);
        assert_eq!((matrix.bytes(), wide_matrix.bytes()), (2 * 1770, 4 * 1770));
        let (_, scale) = matrix.fixed("dissimilarity").unwrap();
        assert_eq!(scale, narrow.figures["largest"] / 65534.0);
        let numbers = |matrix: &Table| matrix.numbers("dissimilarity").unwrap().into_owned();
        for (near, value) in numbers(&matrix).into_iter().zip(numbers(&wide_matrix)) {
            let is_missing = near.is_nan() && value.is_nan();
            assert!(is_missing || (near - value).abs() <= 0.5000001 * scale, "{near} for {value}");
        }
        // Convert the handle to bytes and back.
        let text = serde_json::to_string(&Handle(matrix.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Handle>(&text).unwrap().0.checksum(), matrix.checksum());
        // The results are bit-identical to the library's results for the same numbers.
        let expected = matrix.dissimilarities("matrix").unwrap();
        assert!(matches!(expected.values(), Values::U16(_)) && expected.scale() == scale);
        let (parameters, execution) = (clustered(3).parameters(), Execution::default());
        let model = lehr_mining::pairwise::cluster(&expected, None, &parameters, &execution, &mut Silent).unwrap();
        let input = of(&narrow.outputs["matrix"], &narrow.outputs["items"]);
        let clusters = done(&services.pairwise, Order { input, ..Order::new("", &clustered(3)) }).await;
        assert_eq!(clusters.figures["cost"], model.cost);
        let labels = services.table(&clusters.outputs["labels"]).await;
        assert_eq!(*labels.numbers("probability").unwrap(), model.probabilities);
    });
}

/// Returns the header and the array in the form that `lehr distances` writes.
fn written(form: MatrixForm, element: Element, scale: f64) -> (String, Vec<u8>) {
    let header = lehr_data::dissimilarities::Header {
        format: lehr_data::dissimilarities::FORMAT.into(),
        array: "d.npy".into(),
        items: 3,
        collapsed_from: None,
        sampled_from: None,
        form,
        element,
        scale,
        missing: "65535".into(),
        missing_pairs: 1,
        largest: 3.0,
        mean: 2.0,
        metric: "identity".into(),
        parameters: serde_json::Map::new(),
        source: "genes.fasta".into(),
        fingerprint: "0".into(),
        checksum: None,
    };
    let value = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        (0, 1) => 1.0,
        (0, 2) => 3.0,
        (1, 2) => f64::NAN,
        _ => 0.0,
    };
    let mut array = Vec::new();
    let row = |i: usize, row: &mut [f64]| (0..3).for_each(|j| row[j] = value(i, j));
    lehr_data::write::dissimilarities::numbers(&mut array, 3, form, element, element.scale(3.0), row).unwrap();
    (lehr_data::write::dissimilarities::header(&header), array)
}

#[test]
fn a_header_and_its_array_are_one_data_set_in_the_bits_that_they_have() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let table = async |name: &str| datasets.call(Take { name: name.into() }).await.unwrap().0;
        for (name, element) in
            [("u16", Element::U16), ("f32", Element::F32), ("f64", Element::F64), ("i16be", Element::I16be)]
        {
            let mut sums = Vec::new();
            for form in [MatrixForm::Condensed, MatrixForm::Full] {
                if (form, element) == (MatrixForm::Condensed, Element::I16be) {
                    continue;
                }
                let (header, array) = written(form, element, element.scale(3.0));
                let name = format!("{name}-{form}");
                let bytes = [header.as_bytes(), &array].concat();
                let read = upload(&datasets, Begin::new(&name, Form::Dissimilarities), &bytes).await.unwrap();
                assert_eq!((read.rows, read.columns[0].name.as_str()), (3, "dissimilarity"));
                sums.push(read.checksum);
                let table = table(&name).await;
                assert!(table.has_gaps());
                let values = table.numbers("dissimilarity").unwrap();
                assert!((values[0] - 1.0).abs() < 1e-4 && (values[1] - 3.0).abs() < 1e-12 && values[2].is_nan());
                let is_fixed = matches!(element, Element::U16 | Element::I16be);
                assert_eq!((table.fixed("dissimilarity").is_some(), table.bytes()), (is_fixed, 3 * element.bytes()));
            }
            sums.dedup();
            assert_eq!(sums.len(), 1, "{name}: either form is the same data set");
        }
        let (header, array) = written(MatrixForm::Condensed, Element::U16, 3.0 / 65534.0);
        let refused = async |header: &str, array: &[u8]| {
            let bytes = [header.as_bytes(), array].concat();
            let begin = Begin { replace: true, ..Begin::new("m", Form::Dissimilarities) };
            let fault = upload(&datasets, begin, &bytes).await.unwrap_err();
            datasets.call(Remove { name: "m".into() }).await.unwrap();
            assert_eq!(fault.code(), Code::InvalidValue, "{fault}");
            fault.reason().to_owned()
        };
        let scale = serde_json::to_string(&(3.0 / 65534.0)).unwrap();
        for (from, to, reason) in [
            (scale.as_str(), "0", "m: expected a scale that is finite and above 0, found 0"),
            (scale.as_str(), "-1", "m: expected a scale that is finite and above 0, found -1"),
            (scale.as_str(), "1e305", "m, row 1, column 2: expected a finite number"),
            ("\"items\": 3", "\"items\": 4", "m: expected items 4, as its header says, found 3"),
            ("condensed", "full", "m: expected form full, as its header says, found condensed"),
            ("u16", "f32", "m: expected f32 numbers, as its header says, found another element type"),
            ("dissimilarities 1", "dissimilarities 9", "m: expected a header \"lehr dissimilarities 1\", found"),
            (
                "\"scale\"",
                "\"scales\"",
                "m: expected a header \"lehr dissimilarities 1\", found unknown field `scales`",
            ),
        ] {
            assert!(header.contains(from), "{from} in {header}");
            let found = refused(&header.replace(from, to), &array).await;
            assert!(found.starts_with(reason), "{found}");
        }
        assert!(refused(&header, &array[..array.len() - 1]).await.starts_with("m"));
        assert!(refused("", &array).await.starts_with("m: expected a header"));
        assert!(refused(&header, b"").await.starts_with("m"));
        let wrong = Begin { gaps: true, ..Begin::new("m", Form::Dissimilarities) };
        let fault = datasets.call(wrong).await.unwrap_err();
        assert!(fault.reason().contains("expected with tables only"), "{fault}");
    });
}

held! {
    Pairwise "lehr.pairwise" pairwise::Pairwise, &["matrix"], &["items"];
    Embedding "lehr.embedding" embed::Embedding, &["matrix"], &["items"];
}

/// Cancels a job of a method when it begins, resumes it, and returns its results. `is_kept` says that compared pairs
/// are kept. An annealing run has not saved anything at that point, so it begins again.
async fn cancelled_and_resumed<M: Method + Default>(host: &Host, path: &str, order: Order, is_kept: bool) -> Record {
    let method = Held::<M>::default();
    let held = Setup::default().start_method(host, path, method.clone()).await.unwrap();
    method.holds.post(()).unwrap();
    let job = run(&held, order).await.unwrap();
    assert_eq!(method.begun.receive().await.unwrap(), (job.clone(), false));
    held.call(Cancel::of(named(&job))).await.unwrap();
    assert_eq!(wait(&held, &job).await.state, State::Cancelled);
    held.call(Resume::of(named(&job))).await.unwrap();
    assert_eq!(method.begun.receive().await.unwrap(), (job.clone(), is_kept));
    let record = wait(&held, &job).await;
    assert_eq!((record.state, record.fault.as_ref()), (State::Done, None), "{job}");
    record
}

#[test]
fn what_is_cancelled_as_it_begins_is_done_to_the_same_bits_later() {
    on_hosts(async |host| {
        let services = Services::on(&host).await;
        let (_, fasta) = genes(150);
        upload(&services.datasets, Begin::new("genes", Form::Fasta), fasta.as_bytes()).await.unwrap();
        let order = || Order::new("genes", &distances::Options::default());
        let whole = done(&services.distances, order()).await;
        let resumed = cancelled_and_resumed::<Distances>(&host, "/held-distances", order(), true).await;
        let checksum = async |name: &str| services.table(name).await.checksum();
        assert_eq!(checksum(&resumed.outputs["matrix"]).await, checksum(&whole.outputs["matrix"]).await);

        let input = of(&whole.outputs["matrix"], &whole.outputs["items"]);
        let order = || Order { input: input.clone(), ..Order::new("", &clustered(5)) };
        let clusters = done(&services.pairwise, order()).await;
        let resumed = cancelled_and_resumed::<Pairwise>(&host, "/held-pairwise", order(), false).await;
        for table in ["clusters", "history", "labels", "splits"] {
            assert_eq!(checksum(&resumed.outputs[table]).await, checksum(&clusters.outputs[table]).await, "{table}");
        }
        let options = || embed::Options { init: embed::Start::Random, ..Default::default() };
        let order = || Order { input: input.clone(), ..Order::new("", &options()) };
        let map = done(&services.embedding, order()).await;
        let resumed = cancelled_and_resumed::<Embedding>(&host, "/held-embedding", order(), false).await;
        for table in ["history", "positions", "shepard", "starts"] {
            assert_eq!(checksum(&resumed.outputs[table]).await, checksum(&map.outputs[table]).await, "{table}");
        }
    });
}

/// Returns the checksums of all results of the application.
/// Reports are left out, because they contain the duration of the job.
async fn made(services: &Services) -> Vec<(String, String)> {
    let state = services.datasets.get().await.unwrap();
    let made = state.datasets.iter().filter(|(name, _)| name.contains('/') && !name.ends_with("/report"));
    made.map(|(name, dataset)| (name.clone(), dataset.checksum.clone())).collect()
}

/// Begins each stage whose previous stage is done.
async fn go_on(services: &Services) {
    let state = services.datasets.get().await.unwrap();
    let has = |name: &str| state.datasets.contains_key(name);
    let key = |name: &str| Some(name.to_owned());
    if !has("genes") {
        upload(&services.datasets, Begin::new("genes", Form::Fasta), genes(150).1.as_bytes()).await.unwrap();
    }
    let order = Order { output: key("d"), key: key("d"), ..Order::new("genes", &distances::Options::default()) };
    run(&services.distances, order).await.unwrap();
    if has("d/matrix") {
        let input = of("d/matrix", "d/items");
        let order = Order { input: input.clone(), output: key("c"), key: key("c"), ..Order::new("", &clustered(5)) };
        run(&services.pairwise, order).await.unwrap();
        let options = embed::Options { init: embed::Start::Random, ..Default::default() };
        let order = Order { input, output: key("m"), key: key("m"), ..Order::new("", &options) };
        run(&services.embedding, order).await.unwrap();
    }
}

#[test]
fn an_application_whose_node_ends_again_and_again_has_the_same_bits() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let undisturbed = std::cell::RefCell::new(Vec::new());
    life(whole.path(), 2, async |host, setup| {
        let services = Services::kept(&host, &setup).await;
        go_on(&services).await;
        assert_eq!(wait(&services.distances, "distances-1").await.state, State::Done);
        go_on(&services).await;
        assert_eq!(wait(&services.pairwise, "pairwise-1").await.state, State::Done);
        assert_eq!(wait(&services.embedding, "embedding-1").await.state, State::Done);
        *undisturbed.borrow_mut() = made(&services).await;
    });
    // The checkpoints are gone.
    for service in ["distances", "pairwise", "embedding"] {
        let kept = std::fs::read_dir(whole.path().join(service).join("checkpoints")).unwrap();
        assert_eq!(kept.count(), 0, "{service}");
    }
    // Each life of the node ends when a job has reported something, or at once.
    for end in 0..6 {
        life(parts.path(), 2, async |host, setup| {
            let services = Services::kept(&host, &setup).await;
            let mut changes = services.distances.subscribe(lehr_services::Subscribe::default()).await.unwrap();
            go_on(&services).await;
            let _ = changes.next().await;
            let ended = services.distances.get().await.unwrap().jobs["distances-1"].state.has_ended();
            let more = if ended { 0 } else { end };
            for _ in 0..more {
                let _ = changes.next().await;
                if services.distances.get().await.unwrap().jobs["distances-1"].state.has_ended() {
                    break;
                }
            }
        });
    }
    life(parts.path(), 2, async |host, setup| {
        let services = Services::kept(&host, &setup).await;
        assert_eq!(wait(&services.distances, "distances-1").await.state, State::Done);
        go_on(&services).await;
    });
    for _ in 0..2 {
        life(parts.path(), 2, async |host, setup| {
            let services = Services::kept(&host, &setup).await;
            let mut changes = services.embedding.subscribe(lehr_services::Subscribe::default()).await.unwrap();
            let _ = changes.next().await;
            if !services.embedding.get().await.unwrap().jobs["embedding-1"].state.has_ended() {
                let _ = changes.next().await;
            }
        });
    }
    life(parts.path(), 2, async |host, setup| {
        let services = Services::kept(&host, &setup).await;
        assert_eq!(wait(&services.pairwise, "pairwise-1").await.state, State::Done);
        assert_eq!(wait(&services.embedding, "embedding-1").await.state, State::Done);
        assert_eq!(made(&services).await, *undisturbed.borrow());
    });
}
