//! Objects give the values, notes and faults of files, whatever happens on the way.

mod stand_in;

use std::io::{self, Read, Write};
use std::path::Path;

use lehr_data::Points;
use lehr_data::frame::DataFrame;
use lehr_data::read::{self, Selection, TableForm};
use lehr_sync::Arc;
use parquet::data_type::DoubleType;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use stand_in::{Answer, StandIn};

/// A table of about a megabyte.
fn table() -> Vec<u8> {
    let mut text = "name,x,y\n".to_owned();
    for row in 0..40_000_u32 {
        text += &format!("row {row},{}.5,{}\n", row.wrapping_mul(2_654_435_761) >> 8, row % 977);
    }
    text.into_bytes()
}

/// A Parquet file with twenty columns in two groups, not compressed.
fn columns() -> Vec<u8> {
    let fields: String = (0..20).map(|column| format!("required double c{column};")).collect();
    let schema = Arc::new(parse_message_type(&format!("message m {{ {fields} }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    for group in 0..2_u32 {
        let mut rows = writer.next_row_group().unwrap();
        for column in 0..20_u32 {
            let values: Vec<f64> = (0..2500).map(|row| f64::from(row * 7 + column + group) / 3.0).collect();
            let mut writer = rows.next_column().unwrap().unwrap();
            writer.typed::<DoubleType>().write_batch(&values, None, None).unwrap();
            writer.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn read_to_end(url: &str) -> io::Result<Vec<u8>> {
    let object = lehr_stores::open(url)?;
    let mut bytes = Vec::new();
    object.read(0..object.bytes(), 1 << 20).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn fault_of(url: &str) -> String {
    read_to_end(url).unwrap_err().to_string()
}

#[test]
fn an_object_is_read_as_a_file() {
    lehr_stores::install(lehr_stores::Versions::Latest);
    let folder = tempfile::tempdir().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&table()).unwrap();
    for (name, content) in [
        ("points.csv", table()),
        ("points.csv.gz", packed.finish().unwrap()),
        ("wrong.csv", b"x,y\n1,2\n3,four\n".to_vec()),
        ("empty.csv", Vec::new()),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, &content).unwrap();
        let server = StandIn::new(content, |_, _| Answer::Content("a"));
        let url = server.url(&format!("/{name}"));
        let form = TableForm::default();
        let (of_file, of_object) = (read::data_frame(&file, &form), read::data_frame(Path::new(&url), &form));
        let told = |error: lehr_data::Error, path: &str| error.to_string().replace(path, "it");
        let file_name = file.to_str().unwrap();
        let parts = |frame: DataFrame| (frame.columns().to_vec(), frame.notes().to_vec());
        assert_eq!(
            of_object.map(parts).map_err(|error| told(error, &url)),
            of_file.map(parts).map_err(|error| told(error, file_name)),
            "{name}"
        );
        let chosen = Selection { columns: Some(vec!["x".into(), "y".into()]), ..Selection::default() };
        let (of_file, of_object) = (read::points(&file, &chosen), read::points(Path::new(&url), &chosen));
        let parts = |points: Points| (points.values().to_vec(), points.columns().to_vec());
        assert_eq!(
            of_object.map(parts).map_err(|error| told(error, &url)),
            of_file.map(parts).map_err(|error| told(error, file_name)),
            "{name}"
        );
    }
}

#[test]
fn only_the_chosen_columns_travel() {
    lehr_stores::install(lehr_stores::Versions::Latest);
    let folder = tempfile::tempdir().unwrap();
    let (path, content) = (folder.path().join("columns.parquet"), columns());
    std::fs::write(&path, &content).unwrap();
    let all = content.len();
    let server = StandIn::new(content, |_, _| Answer::Content("a"));
    let chosen = Selection { columns: Some(vec!["c7".into()]), ..Selection::default() };
    let of_object = read::points(Path::new(&server.url("/columns.parquet")), &chosen).unwrap();
    assert_eq!(of_object.values(), read::points(&path, &chosen).unwrap().values());
    // One of twenty columns, the footer, and the first bytes, which are asked for each time that the object is opened.
    assert!(server.bytes() < all / 4, "{} of {all} bytes", server.bytes());
}

#[test]
fn an_array_in_columns_is_read_in_parts() {
    lehr_stores::install(lehr_stores::Versions::Latest);
    let header = "{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }";
    let mut content = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    content.extend_from_slice(format!("{header:<117}\n").as_bytes());
    [1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0].iter().for_each(|value| content.extend_from_slice(&value.to_le_bytes()));
    let server = StandIn::new(content, |_, _| Answer::Content("a"));
    let points = read::points(Path::new(&server.url("/a.npy")), &Selection::default()).unwrap();
    assert_eq!(points.values(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
}

#[test]
fn connections_are_kept() {
    let server = StandIn::new(table(), |_, _| Answer::Content("a"));
    for _ in 0..5 {
        assert_eq!(read_to_end(&server.url("/points.csv")).unwrap(), table());
    }
    // Three pieces are on their way at a time.
    assert!(server.asked().len() >= 15);
    assert!(server.connections() <= 10, "{} for {}", server.connections(), server.asked().len());
}

#[test]
fn a_broken_connection_goes_on_where_it_broke() {
    let server = StandIn::new(table(), |number, _| match number {
        1 | 3 => Answer::Broken("a", 100_000),
        _ => Answer::Content("a"),
    });
    assert_eq!(read_to_end(&server.url("/points.csv")).unwrap(), table());
    let server = StandIn::new(table(), |number, _| match number {
        0 | 2 => Answer::Status("503 Service Unavailable", String::new()),
        3 => Answer::Broken("a", 0),
        _ => Answer::Content("a"),
    });
    assert_eq!(read_to_end(&server.url("/points.csv")).unwrap(), table());
}

#[test]
fn a_change_meanwhile_is_an_error() {
    let server = StandIn::new(table(), |number, _| Answer::Content(if number < 2 { "a" } else { "b" }));
    assert_eq!(fault_of(&server.url("/points.csv")), "the object changed while it was read; start again");
    // A broken piece is not completed from another version.
    let server = StandIn::new(table(), |number, _| match number {
        0 => Answer::Content("a"),
        1 => Answer::Broken("a", 1000),
        _ => Answer::Content("b"),
    });
    assert!(read_to_end(&server.url("/points.csv")).is_err());
}

#[test]
fn a_server_may_send_only_whole_files() {
    lehr_stores::install(lehr_stores::Versions::Latest);
    let server = StandIn::new(table(), |_, _| Answer::Whole);
    let url = server.url("/points.csv");
    assert_eq!(read_to_end(&url).unwrap(), table());
    let server = StandIn::new(columns(), |_, _| Answer::Whole);
    let url = server.url("/columns.parquet");
    let error = read::points(Path::new(&url), &Selection::default()).unwrap_err().to_string();
    assert!(
        error.contains("the server sends only whole files") && error.contains("download the file first"),
        "{error}"
    );
}

#[test]
fn redirections_are_followed_but_not_for_ever() {
    let server = StandIn::new(table(), |_, asked| match &*asked.path {
        "/old?x=1" => Answer::Status("302 Found", "location: /new?y=2\r\n".into()),
        "/loop" => Answer::Status("302 Found", "location: /loop\r\n".into()),
        "/new?y=2" => Answer::Content("a"),
        _ => Answer::Status("404 Not Found", String::new()),
    });
    assert_eq!(read_to_end(&server.url("/old?x=1")).unwrap(), table());
    assert!(fault_of(&server.url("/loop")).contains("redirects more than 5 times"));
    assert_eq!(fault_of(&server.url("/none")), "there is no such object");
}

#[test]
fn what_a_store_says_is_told() {
    let server = StandIn::new(table(), |_, _| Answer::Status("403 Forbidden", String::new()));
    assert!(fault_of(&server.url("/points.csv")).starts_with("access is denied; check the credentials"));
    let closed = { std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let fault = fault_of(&format!("http://{closed}/x"));
    assert!(fault.contains("127.0.0.1 cannot be reached"), "{fault}");
    for url in ["s3://bucket", "s3:///key", "s3://bucket/"] {
        assert_eq!(fault_of(url), "expected s3://BUCKET/KEY, a bucket and the name of an object");
    }
    assert_eq!(fault_of("gs://bucket/key"), "expected a URL that begins with s3://, https:// or http://");
}
