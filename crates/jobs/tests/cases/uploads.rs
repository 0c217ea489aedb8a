//! Uploads and downloads of data sets.

use std::fs;
use std::num::NonZeroU64;

use lehr_jobs::datasets::{
    Append, Begin, Finish, Grow, Offset, Open, Put, Read, Remove, Rename, Source, Take, UploadFile, UploadState,
};
use lehr_jobs::{Bytes, DatasetService, Form, Handle, Kind, Limits, RowFormat, Table};
use lehr_services::Code;

use super::samples::{clouds, upload, upload_csv};
use crate::{on_hosts, on_one_host};

fn append(name: &str, offset: u64, data: &[u8]) -> Append {
    Append { name: name.into(), offset, data: Bytes::from(data.to_vec()) }
}

#[test]
fn an_upload_goes_on_where_it_was_interrupted() {
    on_hosts(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let bytes = b"lon,lat\n8.5,47.4\n6.1,46.2\n";
        let begin = || Begin { bytes: Some(bytes.len() as u64), ..Begin::new("sites", Form::Csv) };
        assert_eq!(datasets.call(begin()).await.unwrap().offset, 0);
        assert_eq!(datasets.call(append("sites", 0, &bytes[..10])).await.unwrap().offset, 10);
        // A client that begins the upload again gets the offset at which to continue. A piece that was already stored
        // changes nothing.
        assert_eq!(datasets.call(begin()).await.unwrap().offset, 10);
        assert_eq!(datasets.call(append("sites", 0, &bytes[..10])).await.unwrap().offset, 10);
        let gap = datasets.call(append("sites", 12, b"x")).await.unwrap_err();
        assert_eq!(gap.code(), Code::PreconditionFailed);
        assert_eq!(gap.reason(), "expected a piece at offset 10, found one at 12");
        let early = datasets.call(Finish { name: "sites".into() }).await.unwrap_err();
        assert_eq!(early.reason(), "expected 26 bytes, found 10: continue there");
        let long = datasets.call(append("sites", 10, &[b'1'; 17])).await.unwrap_err();
        assert_eq!(long.code(), Code::TooLarge);
        datasets.call(append("sites", 10, &bytes[10..])).await.unwrap();
        let sites = datasets.call(Finish { name: "sites".into() }).await.unwrap();
        let columns: Vec<(&str, Kind)> =
            sites.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
        assert_eq!((sites.rows, sites.bytes), (2, 32));
        assert_eq!(columns, [("lon", Kind::Number), ("lat", Kind::Number)]);
        // A client that lost the answer sends the request again.
        assert_eq!(datasets.call(Finish { name: "sites".into() }).await.unwrap(), sites);
        assert!(datasets.get().await.unwrap().uploads.is_empty());
    });
}

#[test]
fn a_wrong_checksum_is_found_and_the_upload_can_begin_anew() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let begin = |sha256: &str| Begin { sha256: Some(sha256.into()), ..Begin::new("x", Form::Csv) };
        let fault = upload(&datasets, begin(&"0".repeat(64)), b"x\n1\n2\n").await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidValue);
        assert!(fault.reason().starts_with("the SHA-256 of what has come is aea28487"), "{fault}");
        let state = datasets.get().await.unwrap();
        assert_eq!(state.uploads["x"].state, UploadState::Failed);
        drop(state);
        let right = fault.reason().split_whitespace().nth(7).unwrap().trim_end_matches(',').to_owned();
        assert_eq!(upload(&datasets, begin(&right), b"x\n1\n2\n").await.unwrap().rows, 2);
        assert_eq!(datasets.call(begin("12")).await.unwrap_err().code(), Code::InvalidValue);
    });
}

#[test]
fn a_data_set_keeps_the_description_of_its_upload() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let begin = |text: &str| Begin { description: Some(text.to_owned()), ..Begin::new("part", Form::Csv) };
        let fault = datasets.call(begin(&"é".repeat(2001))).await.unwrap_err();
        assert_eq!(fault.reason(), "description: expected at most 2000 characters, found 2001");
        let part = upload(&datasets, begin("2 of 9 rows of all: box"), b"x\n1\n2\n").await.unwrap();
        let expected = Source::Upload { format: Form::Csv, description: Some("2 of 9 rows of all: box".to_owned()) };
        assert_eq!(part.source, expected);
        let file = UploadFile {
            description: Some("é".repeat(2000)),
            ..UploadFile::new("file", "text/csv", b"x\n1\n".to_vec())
        };
        let Source::Upload { description, .. } = datasets.call(file).await.unwrap().source else { panic!() };
        assert_eq!(description.unwrap().chars().count(), 2000);
    });
}

#[test]
fn what_is_wrong_with_a_file_comes_back_with_its_places() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        for (name, text, expected) in [
            (
                "ragged",
                "a,b\n1,2\n3\n4,5,6\n",
                "ragged, line 3: expected 2 fields, found 1\nragged, line 4: expected 2 fields, found 3\nragged: 2 faults in all",
            ),
            ("gap", "a,b\n1,2\n3,NaN\n", "gap, line 3, column 2 (\"b\"): expected a finite number, found \"NaN\""),
            ("empty", "", "empty: expected rows of numbers, found an empty file"),
        ] {
            let fault = upload_csv(&datasets, name, text).await.unwrap_err();
            assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, expected), "{name}");
            assert_eq!(datasets.call(Finish { name: name.into() }).await.unwrap_err().reason(), expected);
        }
        let many: String = std::iter::once("a,b\n".to_owned()).chain((0..30).map(|_| "1,x\n".to_owned())).collect();
        let many = Begin { columns: Some(vec!["a".into(), "b".into()]), ..Begin::new("many", Form::Csv) }.named(many);
        let fault = upload(&datasets, many.0, many.1.as_bytes()).await.unwrap_err();
        assert!(fault.reason().ends_with("many: 30 faults in all; the first 10 are shown"), "{fault}");
        for form in [Form::Npy, Form::Parquet, Form::Arrow] {
            let fault = upload(&datasets, Begin::new("bytes", form), &[0x93, b'N', b'U', 1, 2, 3]).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "{form:?}: {fault}");
        }
    });
}

trait NamedText {
    fn named(self, text: String) -> (Begin, String);
}

impl NamedText for Begin {
    fn named(self, text: String) -> (Begin, String) {
        (self, text)
    }
}

#[test]
fn the_same_content_has_the_same_checksum_whatever_it_came_from() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let csv = upload_csv(&datasets, "csv", "x,y\n1,2.5\n3,4\n").await.unwrap();
        let tsv = upload(&datasets, Begin::new("tsv", Form::Tsv), b"x\ty\n1\t2.5\n3\t4\n").await.unwrap();
        let piece = Read { name: "csv".into(), format: RowFormat::Arrow, ..Read::default() };
        let arrow = datasets.call(piece).await.unwrap().arrow.unwrap();
        let arrow = upload(&datasets, Begin::new("arrow", Form::Arrow), arrow.as_slice()).await.unwrap();
        assert_eq!([&tsv.checksum, &arrow.checksum], [&csv.checksum; 2]);
        let other = upload_csv(&datasets, "other", "x,y\n1,2.5\n3,5\n").await.unwrap();
        assert_ne!(other.checksum, csv.checksum);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.npy");
        let points = lehr_data::Points::new(vec![1.0, 2.5, 3.0, 4.0], 2).unwrap();
        lehr_data::write::npy::points(&path, &points).unwrap();
        let npy = upload(&datasets, Begin::new("npy", Form::Npy), &fs::read(&path).unwrap()).await.unwrap();
        assert_eq!(npy.columns[0].name, "x0");
        // With missing values, the requested columns and ids are kept in the same way as without them.
        for gaps in [false, true] {
            let name = format!("chosen-{gaps}");
            let (columns, id) = (Some(vec!["1".to_owned()]), Some("x0".to_owned()));
            let begin = Begin { columns, id, gaps, ..Begin::new(&name, Form::Npy) };
            upload(&datasets, begin, &fs::read(&path).unwrap()).await.unwrap();
            let table = datasets.call(Take { name }).await.unwrap().0;
            assert_eq!((table.texts("x0").unwrap(), table.id()), (vec!["1".to_owned(), "3".into()], Some("x0")));
            assert_eq!((&*table.numbers("x1").unwrap(), table.columns().count()), (&[2.5, 4.0][..], 2));
        }
        // The handle is the table itself, not a copy.
        let table = datasets.call(Take { name: "csv".into() }).await.unwrap().0;
        let again = datasets.call(Take { name: "csv".into() }).await.unwrap().0;
        let at = |table: &Table| table.numbers("x").unwrap().as_ptr();
        assert_eq!(at(&table), at(&again));
    });
}

#[test]
fn rows_come_in_pieces_in_each_form() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let begin =
            Begin { weights: Some("people".into()), id: Some("site".into()), ..Begin::new("clouds", Form::Csv) };
        let text = clouds();
        upload(&datasets, begin, text.as_bytes()).await.unwrap();
        let read = |format, from, to| Read { name: "clouds".into(), format, from, to, ..Read::default() };
        let (mut whole, mut from) = (String::new(), 0);
        while from < 300 {
            let piece = datasets.call(read(RowFormat::Csv, from, Some((from + 70).min(300)))).await.unwrap();
            whole += &piece.csv.unwrap();
            from = piece.to;
        }
        assert_eq!(whole, text);
        let json = datasets.call(read(RowFormat::Json, 1, Some(2))).await.unwrap().json.unwrap().objects();
        assert_eq!((json.len(), json[0]["site"].as_str(), json[0]["people"].as_f64()), (1, Some("s1"), Some(1.0)));
        let fault = datasets.call(read(RowFormat::Json, 5, Some(301))).await.unwrap_err();
        assert_eq!(fault.reason(), "rows 5 to 301: expected a part of the 300 rows there are, counted from 0");
        assert_eq!(datasets.call(read(RowFormat::Csv, 300, None)).await.unwrap().csv.unwrap(), "");
    });
}

#[test]
fn some_columns_and_every_so_many_th_row_are_read() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let names = (0..150_000).map(|row| format!("r{row}")).collect();
        let table = Table::builder().texts("name", names).counts("n", (0..150_000).collect());
        let table =
            table.numbers("x", vec![0.5; 150_000]).singles("s", (0..150_000u32).map(|row| row as f32).collect());
        let table = table.id(Some("name".into())).build().unwrap();
        datasets.call(Put { name: "long".into(), table: Handle(table), replace: false }).await.unwrap();
        let read = |columns: &[&str], format, from, to, every| {
            let columns = Some(columns.iter().map(|&column| column.to_owned()).collect());
            Read { name: "long".into(), columns, format, from, to, every: NonZeroU64::new(every) }
        };
        let piece = datasets.call(read(&["s", "name", "n"], RowFormat::Csv, 0, Some(7), 3)).await.unwrap();
        assert_eq!((piece.csv.as_deref(), piece.to), (Some("s,name,n\n0,r0,0\n3,r3,3\n6,r6,6\n"), 7));
        // A thinned piece has as many rows as an ordinary one, and the next piece continues with the same rows.
        let piece = datasets.call(read(&["n"], RowFormat::Csv, 0, None, 2)).await.unwrap();
        assert_eq!((piece.to, piece.csv.unwrap().lines().count()), (131_072, 65_537));
        let piece = datasets.call(read(&["n", "x"], RowFormat::Csv, piece.to, None, 2)).await.unwrap();
        let text = piece.csv.unwrap();
        assert_eq!(
            (piece.to, text.lines().next(), text.lines().last()),
            (150_000, Some("131072,0.5"), Some("149998,0.5"))
        );
        // A column keeps its role.
        let piece = datasets.call(read(&["name"], RowFormat::Arrow, 0, Some(1), 1)).await.unwrap();
        assert_eq!(piece.arrow.unwrap().as_slice().windows(7).filter(|found| found == b"lehr.id").count(), 1);
        let piece = datasets.call(read(&["x"], RowFormat::Arrow, 0, Some(1), 1)).await.unwrap();
        assert_eq!(piece.arrow.unwrap().as_slice().windows(7).filter(|found| found == b"lehr.id").count(), 0);
        let fault = datasets.call(read(&["n", "y"], RowFormat::Csv, 0, None, 1)).await.unwrap_err();
        assert_eq!((fault.code(), fault.reason().contains("\"y\"")), (Code::InvalidValue, true), "{}", fault.reason());
        let fault = datasets.call(read(&["n", "n"], RowFormat::Csv, 0, None, 1)).await.unwrap_err();
        assert_eq!(fault.reason(), "column \"n\" is there twice");
        let fault = datasets.call(read(&[], RowFormat::Csv, 0, None, 1)).await.unwrap_err();
        assert_eq!(fault.reason(), "a table has at least one column");
    });
}

#[test]
fn large_tables_come_in_pieces_of_bounded_size() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let table = Table::builder().numbers("x", (0..200_000).map(f64::from).collect()).build().unwrap();
        datasets.call(Put { name: "long".into(), table: Handle(table), replace: false }).await.unwrap();
        let read = |from| Read { name: "long".into(), format: RowFormat::Arrow, from, ..Read::default() };
        let (mut from, mut pieces) = (0, 0);
        while from < 200_000 {
            let piece = datasets.call(read(from)).await.unwrap();
            assert!(piece.from == from && piece.to > from && piece.arrow.unwrap().as_slice().len() < 8 << 20);
            (from, pieces) = (piece.to, pieces + 1);
        }
        assert!(pieces > 1);
    });
}

#[test]
fn names_are_renamed_replaced_and_removed_and_never_become_paths() {
    on_one_host(async |host| {
        let folder = tempfile::tempdir().unwrap();
        let service = DatasetService::new(Limits { keep: Some(folder.path().into()), ..Limits::default() }).unwrap();
        let datasets = host.start("/datasets", move || service.clone()).await.unwrap();
        for name in ["../x", "/x", "", "a//b", "a b", "..", "a/..", "é"] {
            let fault = datasets.call(Begin::new(name, Form::Csv)).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "{name:?}");
        }
        upload_csv(&datasets, "a", "x\n1\n").await.unwrap();
        let again = datasets.call(Begin::new("a", Form::Csv)).await.unwrap_err();
        assert_eq!(again.code(), Code::DuplicateEntry);
        let replaced = upload(&datasets, Begin { replace: true, ..Begin::new("a", Form::Csv) }, b"x\n2\n3\n").await;
        assert_eq!(replaced.unwrap().rows, 2);
        datasets.call(Rename { name: "a".into(), to: "b/c".into() }).await.unwrap();
        assert_eq!(datasets.call(Take { name: "a".into() }).await.unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(datasets.call(Take { name: "b/c".into() }).await.unwrap().0.rows(), 2);
        datasets.call(Remove { name: "b/c".into() }).await.unwrap();
        assert_eq!(datasets.call(Remove { name: "b/c".into() }).await.unwrap_err().code(), Code::UnknownEntry);
        // The next change removes contents that are no longer named.
        datasets.call(Begin::new("new", Form::Csv)).await.unwrap();
        let files: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "lock")
            .collect();
        // The files with the bytes of the new upload and their checksums.
        let is_of_upload = |name: &String| name.ends_with(".part") || name.ends_with(".sums");
        assert!(files.len() == 2 && files.iter().all(is_of_upload), "{files:?}");
    });
}

#[test]
fn limits_are_kept_and_what_is_full_says_so() {
    on_one_host(async |host| {
        let limits = Limits { uploads: 1, datasets: 1, memory_bytes: 100, upload_bytes: 1000, ..Limits::default() };
        let service = DatasetService::new(limits).unwrap();
        let datasets = host.start("/datasets", move || service.clone()).await.unwrap();
        let large = Begin { bytes: Some(1001), ..Begin::new("a", Form::Csv) };
        assert_eq!(datasets.call(large).await.unwrap_err().code(), Code::TooLarge);
        datasets.call(Begin::new("a", Form::Csv)).await.unwrap();
        let second = datasets.call(Begin::new("b", Form::Csv)).await.unwrap_err();
        assert_eq!(second.code(), Code::QueuingLimitExceeded);
        assert!(second.retry_hint().is_some());
        datasets.call(Remove { name: "a".into() }).await.unwrap();
        let table = |rows: usize| Handle(Table::builder().numbers("x", vec![0.0; rows]).build().unwrap());
        let put = |name: &str, rows| Put { name: name.into(), table: table(rows), replace: true };
        let full = datasets.call(put("a", 13)).await.unwrap_err();
        assert_eq!(full.code(), Code::InsufficientResources);
        datasets.call(put("a", 12)).await.unwrap();
        assert_eq!(datasets.call(put("b", 1)).await.unwrap_err().code(), Code::InsufficientResources);
    });
}

#[test]
fn files_are_opened_under_the_data_root_only() {
    on_one_host(async |host| {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("sites.csv"), "lon,lat\n8.5,47.4\n").unwrap();
        fs::write(root.join("sites"), "lon,lat\n8.5,x\n6.1,46.2\n").unwrap();
        fs::write(outer.path().join("secret.csv"), "x\n1\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret.csv", root.join("link.csv")).unwrap();
        let service = DatasetService::new(Limits { root: Some(root), ..Limits::default() }).unwrap();
        let datasets = host.start("/datasets", move || service.clone()).await.unwrap();
        assert_eq!(datasets.call(Open::new("sites", "sites.csv")).await.unwrap().rows, 1);
        for path in ["../secret.csv", "/etc/passwd.csv", "./../secret.csv"] {
            let fault = datasets.call(Open::new("secret", path)).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "{path}");
        }
        #[cfg(unix)]
        assert_eq!(datasets.call(Open::new("x", "link.csv")).await.unwrap_err().code(), Code::PermissionDenied);
        assert_eq!(datasets.call(Open::new("x", "none.csv")).await.unwrap_err().code(), Code::UnknownEntry);
        let unknown = datasets.call(Open::new("x", "sites")).await.unwrap_err();
        assert!(
            unknown.reason().starts_with(
                "format: expected csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities"
            ),
            "{unknown}"
        );
        let wrong = datasets.call(Open { format: Some(Form::Csv), ..Open::new("x", "sites") }).await.unwrap_err();
        assert!(wrong.reason().starts_with("sites, line 2, column 2 (\"lat\")"), "{wrong}");
        assert!(!datasets.get().await.unwrap().datasets.contains_key("x"));
        let rootless = host.start("/rootless", DatasetService::in_memory).await.unwrap();
        let fault = rootless.call(Open::new("x", "sites.csv")).await.unwrap_err();
        assert_eq!(fault.code(), Code::PermissionDenied);
    });
}

#[test]
fn the_data_of_one_node_are_not_anothers() {
    let folder = tempfile::tempdir().unwrap();
    let limits = || Limits { keep: Some(folder.path().into()), ..Limits::default() };
    let one = DatasetService::new(limits()).unwrap();
    let fault = DatasetService::new(limits()).unwrap_err();
    assert!(fault.reason().ends_with("another node keeps its data there"), "{fault}");
    drop(one);
    assert!(DatasetService::new(limits()).is_ok());
}

#[test]
fn pieces_without_their_bytes_are_refused() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        datasets.call(Begin::new("a", Form::Csv)).await.unwrap();
        let grow: Grow = serde_json::from_str(r#"{"name": "a", "offset": 0, "bytes": 7}"#).unwrap();
        assert_eq!(datasets.call(grow).await.unwrap_err().code(), Code::InvalidValue);
        let there: Offset = datasets.call(Begin::new("a", Form::Csv)).await.unwrap();
        assert_eq!(there.offset, 0);
    });
}

/// Returns the bytes compressed with gzip.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn an_upload_is_answered_with_what_the_command_would_warn_of() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let text = "a,b,share,note\n\"1,234\",5,1%,x\n\"2,590\",6,2%,y\n";
        let set = datasets.call(UploadFile::new("s", "text/csv", text.as_bytes().to_vec())).await.unwrap();
        assert_eq!(
            set.warnings,
            [
                "s: left out, without a number: note (\"x\"); format \"table\" keeps all columns",
                "s: \"a\" is ambiguous: the mark in \"1,234\" may separate thousands or a fraction, and no column shows which; read as thousands",
                "s: \"a\" is read as number, thousands ',', ambiguous",
                "s: \"share\" is read as number, per cent",
            ]
        );
        assert_eq!(serde_json::to_value(&set).unwrap()["warnings"][1], set.warnings[1]);
        let fasta = UploadFile {
            format: Some(Form::Fasta),
            ..UploadFile::new("f", "", b">a\nACGT\n>b\nACG\n>a\nAC\n".to_vec())
        };
        let set = datasets.call(fasta).await.unwrap();
        let warning = "f: 1 id occurs for several items, which results tell apart by their order alone, counted from 0: \"a\" (items 0 and 2)";
        assert_eq!(set.warnings, [warning]);
        let chosen = UploadFile {
            columns: Some(vec!["b".into()]),
            ..UploadFile::new("c", "text/csv", text.as_bytes().to_vec())
        };
        assert!(datasets.call(chosen).await.unwrap().warnings.is_empty());
        assert_eq!(datasets.get().await.unwrap().datasets["s"].warnings.len(), 4, "they stay with the data set");
    });
}

#[test]
fn files_that_were_cut_are_faults_of_the_data() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let packed = gzip(b"x,y\n1,2\n3,4\n5,6\n");
        for end in [3, 12, packed.len() / 2, packed.len() - 5, packed.len() - 1] {
            let cut = UploadFile::new("cut", "text/csv", packed[..end].to_vec());
            let fault = datasets.call(cut).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "cut at {end}: {fault}");
            assert!(fault.reason().contains("expected the rest of a gzip file"), "cut at {end}: {fault}");
        }
        // The last eight bytes are the checksum and the length of what was compressed.
        for (at, gaps) in [(8, false), (8, true), (1, false), (1, true)] {
            let mut flipped = packed.clone();
            let end = flipped.len() - at;
            flipped[end] ^= 1;
            for media in ["text/csv", "text/tab-separated-values", "application/octet-stream"] {
                let upload = UploadFile { gaps, ..UploadFile::new("flipped.csv.gz", media, flipped.clone()) };
                let fault = datasets.call(upload).await.unwrap_err();
                assert_eq!(fault.code(), Code::InvalidValue, "{media}, {at} from the end: {fault}");
            }
        }
        let array =
            b"\x93NUMPY\x01\x00\x46\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }            \n";
        for (media, bytes) in
            [("application/x-npy", &array[..]), ("application/vnd.apache.parquet", b"PAR1\0\0\0\0\0\0\0\0\0")]
        {
            let fault = datasets.call(UploadFile::new("cut", media, bytes.to_vec())).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "{media}: {fault}");
        }
        assert!(datasets.get().await.unwrap().datasets.is_empty());
    });
}

#[test]
fn what_an_upload_becomes_is_bounded_by_what_it_is() {
    on_one_host(async |host| {
        let folder = tempfile::tempdir().unwrap();
        let limits = || Limits { keep: Some(folder.path().into()), expanded_bytes: 100_000, ..Limits::default() };
        let service = DatasetService::new(limits()).unwrap();
        let datasets = host.start("/datasets", move || service.clone()).await.unwrap();
        let bomb = gzip(&[&b"x,y\n"[..], &b"1,2\n".repeat(500_000)].concat());
        assert!(bomb.len() < 10_000);
        // Compressed twice, the file would be even smaller.
        let nested = datasets.call(UploadFile::new("nested", "text/csv", gzip(&bomb))).await.unwrap_err();
        assert!(nested.reason().contains("a gzip file within a gzip file"), "{nested}");
        let size = bomb.len() as u64;
        let fault = datasets.call(UploadFile::new("bomb", "text/csv", bomb)).await.unwrap_err();
        assert_eq!(fault.code(), Code::TooLarge);
        let most = 100_000.max(size * 100);
        let rule = format!("an upload of {size} bytes may become {most}: 100 times its size, and 100000 in any case");
        assert!(fault.reason().ends_with(&rule), "{fault}");
        assert!(datasets.get().await.unwrap().datasets.is_empty());
        // A file whose uncompressed size is below the limit for all uploads is read, however well it compresses.
        let small = gzip(&[&b"x,y\n"[..], &b"1,2\n".repeat(5_000)].concat());
        assert_eq!(datasets.call(UploadFile::new("small", "text/csv", small)).await.unwrap().rows, 5_000);
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(!left.into_iter().any(|name| name.ends_with(".tmp")));
    });
}

#[test]
fn an_arrow_stream_that_was_cut_anywhere_is_a_fault_of_the_data() {
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        datasets.call(UploadFile::new("whole", "text/csv", b"x,y\n1,2\n3,4\n".to_vec())).await.unwrap();
        let read = Read { name: "whole".into(), format: RowFormat::Arrow, ..Read::default() };
        let whole = datasets.call(read).await.unwrap().arrow.unwrap();
        let whole = whole.as_slice();
        let media = "application/vnd.apache.arrow.stream";
        let file = |bytes: &[u8]| UploadFile { replace: true, ..UploadFile::new("cut", media, bytes.to_vec()) };
        // The end mark is eight bytes: without it, the stream ends between two messages.
        let length = whole.len();
        for end in [8, length / 2, length - 9, length - 8, length - 7, length - 4, length - 1] {
            let fault = datasets.call(file(&whole[..end])).await.unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue, "cut at {end}: {fault}");
        }
        assert_eq!(datasets.call(file(whole)).await.unwrap().rows, 2);
    });
}

#[test]
fn truth_values_and_floating_point_in_16_bits_are_numbers_in_arrow_too() {
    use arrow_array::types::{ArrowPrimitiveType, Float16Type};
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    on_one_host(async |host| {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let truths = arrow_array::BooleanArray::from(vec![true, false]);
        let halves = arrow_array::Float16Array::from_iter_values([0x3c00, 0xc000].map(Half::from_bits));
        let columns: [(&str, arrow_array::ArrayRef); 2] =
            [("t", std::sync::Arc::new(truths)), ("h", std::sync::Arc::new(halves))];
        let batch = arrow_array::RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = arrow_ipc::writer::StreamWriter::try_new(&mut bytes, batch.schema_ref()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        datasets.call(UploadFile::new("a", "application/vnd.apache.arrow.stream", bytes)).await.unwrap();
        let read = Read { name: "a".into(), format: RowFormat::Csv, ..Read::default() };
        assert_eq!(datasets.call(read).await.unwrap().csv.unwrap(), "t,h\n1,1\n0,-2\n");
    });
}

#[test]
fn an_upload_that_ends_in_an_error_has_changed_nothing_28() {
    // Time passes on this host, unlike on the other hosts of these tests.
    let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    let host = lehr_services::Host::new(dispatcher.handle());
    lehr_runtime::block_on(async {
        let datasets = host.start("/datasets", DatasetService::in_memory).await.unwrap();
        let fault = datasets.call(UploadFile::new("wrong", "text/csv", b"x,y\n1\n".to_vec())).await.unwrap_err();
        assert_eq!(fault.code(), Code::InvalidValue);
        let mut changes = datasets.subscribe(lehr_services::Subscribe::default()).await.unwrap();
        let mut nothing_is_there = async || {
            loop {
                let state = datasets.get().await.unwrap();
                if state.uploads.is_empty() {
                    assert!(state.datasets.is_empty());
                    return;
                }
                drop(state);
                changes.next().await.unwrap();
            }
        };
        nothing_is_there().await;
        // The deadline may pass while the service computes the checksum, reads the bytes or reads the rows.
        let rows = b"1,2\n".repeat(4 << 20);
        let large = [&b"x,y\n"[..], &rows[..]].concat();
        let mut times_over = 0;
        for time in [1, 5, 20, 50, 100, 200, 400] {
            let hurried = datasets.clone().within(std::time::Duration::from_millis(time));
            match hurried.call(UploadFile::new("large", "text/csv", large.clone())).await {
                Ok(dataset) => {
                    assert_eq!(dataset.rows, 4 << 20);
                    datasets.call(Remove { name: "large".into() }).await.unwrap();
                }
                Err(fault) => {
                    // The deadline may also pass between two parts of the upload. The next request then finds no
                    // upload.
                    assert!(matches!(fault.code(), Code::ResponseTimeout | Code::UnknownEntry), "{fault}");
                    times_over += 1;
                }
            }
            nothing_is_there().await;
        }
        assert!(times_over > 0, "16 MiB were read within a millisecond");
    });
    lehr_runtime::block_on(host.shutdown(std::time::Duration::from_secs(3600)));
}
