//! Tests of fetching from hosts that break off, change the file, send too much, or redirect to other hosts.

use std::path::Path;
use std::time::Duration;

use lehr_runtime::block_on;
use lehr_services::{Code, Fault, Host, Placement, Reference, Subscribe};
use lehr_sources::{
    Allowed, Bounds, Cancel, FETCH, Fetch, Fetched, Get, Getter, Progress, Remove, State, Transfer, Wait,
};

use crate::stand_in::{StandIn, TransferRequest, answer};
use crate::{while_time_passes, workers};

/// The content to fetch: 100,000 bytes with a long period.
fn content() -> Vec<u8> {
    (0..100_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

const SUM: &str = "e24ae9cbcc7500392dfa5d018f63f0bf87232dc30ae5996d8ca6b25c2ae4b665";

fn get(url: &str, sha256: Option<&str>) -> Get {
    Get { sha256: sha256.map(str::to_owned), ..Get::new("points.csv", url) }
}

/// Returns the names and contents of the files in a folder.
type Files = Vec<(String, Vec<u8>)>;

/// Fetches one file with a separate service; returns the outcome and the content of the folder.
fn bring(getter: &Getter, wanted: Get) -> (Result<Transfer, Fault>, Files) {
    let (workers, clock) = workers(2);
    let host = Host::new(workers.handle());
    let folder = tempfile::tempdir().unwrap();
    let outcome = block_on(async {
        let fetch = Fetch::new(getter.clone(), folder.path()).unwrap();
        let fetch = host.start(FETCH, move || fetch.clone()).await.unwrap();
        let name = wanted.name.clone();
        fetch.call(wanted).await?;
        Ok(while_time_passes(&clock, ended(&fetch, &name)).await)
    });
    (outcome, files(folder.path()))
}

async fn ended(fetch: &Reference<Fetched>, name: &str) -> Transfer {
    let mut changes = fetch.subscribe(Subscribe::default()).await.unwrap();
    loop {
        let transfer = fetch.get().await.unwrap().files[name].clone();
        if transfer.state != State::Running {
            return transfer;
        }
        changes.next().await.unwrap();
    }
}

fn files(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

fn whole() -> Files {
    vec![("points.csv".to_owned(), content())]
}

/// Returns a partial response with the bytes from `from` on, of the version `tag`.
fn part(from: usize, tag: &str) -> Vec<u8> {
    let range = format!("content-range: bytes {from}-99999/100000\r\netag: {tag}\r\n");
    answer("206 Partial Content", &range, &content()[from..])
}

#[test]
fn a_file_is_brought_whole_and_its_checksum_is_told() {
    let host = StandIn::new(|_, _| answer("200 OK", "", &content()));
    for sha256 in [None, Some(SUM), Some(&*SUM.to_uppercase())] {
        let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/points.csv"), sha256));
        let transfer = transfer.unwrap();
        assert_eq!((transfer.state, transfer.bytes, transfer.bytes_all), (State::Done, 100_000, Some(100_000)));
        assert_eq!(transfer.sha256.as_deref(), Some(SUM));
        assert_eq!(files, whole());
    }
    let asked = &host.requests()[0];
    assert_eq!((asked.line.as_str(), asked.header("accept-encoding")), ("GET /points.csv", Some("identity")));
}

#[test]
fn a_request_is_a_job_with_progress_whose_end_is_waited_for() {
    // The first part of the file arrives; the rest only after the host has been asked again.
    let host = StandIn::new(|number, asked| match (asked.line.as_str(), number) {
        ("GET /missing.csv", _) => answer("404 Not Found", "", b""),
        (_, 0) => answer("200 OK", "etag: \"a\"\r\n", &content())[..50_000].to_vec(),
        _ => part(begin_of(asked), "\"a\""),
    });
    let getter = host.getter(Bounds::default());
    let (workers, clock) = workers(2);
    let services = Host::new(workers.handle());
    let folder = tempfile::tempdir().unwrap();
    block_on(async {
        let fetch = Fetch::new(getter, folder.path()).unwrap();
        let fetch = services.start(FETCH, move || fetch.clone()).await.unwrap();
        let wanted = Get { key: Some("run-1/get".into()), ..Get::new("points.csv", host.url("/points.csv")) };
        let job = fetch.call(wanted.clone()).await.unwrap().job;
        assert_eq!(job, "points.csv");
        // The same request again begins nothing; another one finds the file taken.
        assert_eq!(fetch.call(wanted.clone()).await.unwrap().job, job);
        let other = Get { key: Some("run-2/get".into()), ..wanted.clone() };
        assert_eq!(fetch.call(other.clone()).await.unwrap_err().code(), Code::DuplicateEntry);
        let wait = |timeout_ms| fetch.call(Wait { job: job.clone(), timeout_ms });
        // The clock stands, so the host is not asked again before the timeout.
        let begun = while_time_passes(&clock, wait(Some(10))).await.unwrap();
        assert_eq!((begun.file.as_str(), begun.transfer.state), ("points.csv", State::Running));
        let ended = while_time_passes(&clock, wait(None)).await.unwrap();
        assert_eq!((ended.transfer.state, ended.progress.unwrap().fraction), (State::Done, 1.0));
        assert_eq!(files(folder.path()), whole());
        // A file that is there is fetched again only on request, and stays until then.
        assert_eq!(fetch.call(other.clone()).await.unwrap_err().code(), Code::DuplicateEntry);
        let again = Get { replace: true, url: host.url("/missing.csv"), ..other };
        fetch.call(again).await.unwrap();
        let failed = while_time_passes(&clock, wait(None)).await.unwrap();
        assert_eq!(failed.transfer.fault.unwrap().code(), Code::UnknownEntry);
        assert_eq!((failed.transfer.state, files(folder.path())), (State::Failed, whole()));
        let unknown = fetch.call(Wait { job: "other".into(), timeout_ms: None }).await.unwrap_err();
        assert_eq!(unknown.code(), Code::UnknownEntry);
    });
}

/// Returns the first byte that a request asks for.
fn begin_of(asked: &TransferRequest) -> usize {
    asked.header("range").unwrap().strip_prefix("bytes=").unwrap().trim_end_matches('-').parse().unwrap()
}

#[test]
fn a_wrong_checksum_leaves_nothing_and_names_both() {
    let host = StandIn::new(|_, _| answer("200 OK", "", &content()));
    let expected = "0".repeat(64);
    let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), Some(&expected)));
    let transfer = transfer.unwrap();
    let fault = transfer.fault.unwrap();
    assert_eq!((transfer.state, fault.code()), (State::Failed, Code::InvalidValue));
    assert!(fault.reason().contains(&expected) && fault.reason().contains(SUM), "{fault}");
    assert_eq!(files, []);
}

#[test]
fn a_transfer_that_breaks_off_goes_on_where_it_was() {
    let host = StandIn::new(|number, asked| match number {
        // The host announces 100,000 bytes and sends fewer.
        0 => answer("200 OK", "etag: \"a\"\r\n", &content())[..40_000].to_vec(),
        // The host is busy.
        1 => answer("503 Service Unavailable", "retry-after: 7\r\n", b""),
        2 => part(begin_of(asked), "\"a\"")[..30_000].to_vec(),
        _ => part(begin_of(asked), "\"a\""),
    });
    let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), Some(SUM)));
    let transfer = transfer.unwrap();
    assert_eq!((transfer.state, transfer.resumed), (State::Done, 3), "{:?}", transfer.fault);
    assert_eq!(files, whole());
    let requests = host.requests();
    assert_eq!(requests[0].header("range"), None);
    assert!(requests[1..].iter().all(|asked| asked.header("if-range") == Some("\"a\"")));
}

#[test]
fn another_version_or_a_host_without_parts_is_brought_anew() {
    // The transfer of the first version breaks off. Then the host sends the whole second version with its validator.
    let host = StandIn::new(|number, _| match number {
        0 => answer("200 OK", "etag: \"old\"\r\n", &[b'x'; 100_000])[..50_000].to_vec(),
        _ => answer("200 OK", "etag: \"new\"\r\n", &content()),
    });
    let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), Some(SUM)));
    assert_eq!((transfer.unwrap().state, files), (State::Done, whole()));
    // A weak validator, or none, does not promise the same bytes, so Lehr requests the whole file.
    for headers in ["etag: W/\"a\"\r\n", ""] {
        let host = StandIn::new(move |number, _| {
            let all = answer("200 OK", headers, &content());
            if number == 0 { all[..50_000].to_vec() } else { all }
        });
        let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), None));
        assert_eq!((transfer.unwrap().state, files), (State::Done, whole()));
        assert!(host.requests().iter().all(|asked| asked.header("range").is_none()));
    }
    // A part that Lehr did not request is not written into the file.
    let host = StandIn::new(|number, _| match number {
        0 => answer("200 OK", "etag: \"a\"\r\n", &content())[..50_000].to_vec(),
        1 => part(10, "\"a\""),
        _ => answer("200 OK", "etag: \"a\"\r\n", &content()),
    });
    let (transfer, files) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), None));
    assert_eq!((transfer.unwrap().state, files), (State::Done, whole()));
}

#[test]
fn what_is_too_large_is_not_brought_whether_it_says_so_or_not() {
    let bounds = || Bounds { bytes: 50_000, ..Bounds::default() };
    let says = StandIn::new(|_, _| answer("200 OK", "", &content()));
    let hides = StandIn::new(|_, _| [b"HTTP/1.0 200 OK\r\n\r\n".as_slice(), &content()].concat());
    for host in [says, hides] {
        let (transfer, files) = bring(&host.getter(bounds()), get(&host.url("/x"), None));
        let transfer = transfer.unwrap();
        assert_eq!((transfer.state, transfer.fault.unwrap().code()), (State::Failed, Code::TooLarge));
        assert_eq!((files, host.requests().len()), (vec![], 1));
    }
}

#[test]
fn a_host_that_fails_again_and_again_is_given_up() {
    let host = StandIn::new(|_, _| answer("500 Internal Server Error", "", b""));
    let (transfer, files) = bring(&host.getter(Bounds { tries: 3, ..Bounds::default() }), get(&host.url("/x"), None));
    let transfer = transfer.unwrap();
    assert_eq!((transfer.state, transfer.fault.unwrap().code()), (State::Failed, Code::Unavailable));
    assert_eq!((host.requests().len(), files), (3, vec![]));
    let host = StandIn::new(|_, _| answer("404 Not Found", "", b"gone"));
    let (transfer, _) = bring(&host.getter(Bounds::default()), get(&host.url("/x"), None));
    assert_eq!((transfer.unwrap().fault.unwrap().code(), host.requests().len()), (Code::UnknownEntry, 1));
}

#[test]
fn redirections_are_followed_only_to_where_one_may_ask() {
    let to = |location: String| answer("302 Found", &format!("location: {location}\r\n"), b"");
    let host = StandIn::new(move |_, asked| match asked.line.as_str() {
        "GET /here" => to("/there?x=1".to_owned()),
        "GET /there?x=1" => answer("200 OK", "", &content()),
        "GET /round" => to("/round".to_owned()),
        "GET /inside" => to("http://169.254.169.254/latest/meta-data".to_owned()),
        "GET /file" => to("file:///etc/passwd".to_owned()),
        "GET /nowhere" => answer("302 Found", "", b""),
        _ => to("http://elsewhere.example.org/".to_owned()),
    });
    let getter = host.getter(Bounds::default());
    let (transfer, files) = bring(&getter, get(&host.url("/here"), None));
    assert_eq!((transfer.unwrap().state, files), (State::Done, whole()));
    for path in ["/round", "/inside", "/file", "/nowhere", "/else"] {
        let (transfer, files) = bring(&getter, get(&host.url(path), None));
        let transfer = transfer.unwrap();
        let fault = transfer.fault.unwrap();
        assert_eq!((transfer.state, fault.code(), files), (State::Failed, Code::PermissionDenied, vec![]), "{path}");
    }
}

#[test]
fn what_is_not_allowed_is_not_asked() {
    let host = StandIn::new(|_, _| answer("200 OK", "", &content()));
    // The hosts are listed, but addresses of this machine are not allowed.
    let listed = Allowed::new([host.address.to_string(), format!("localhost:{}", host.address.port())]).unwrap();
    let getter = Getter::new(listed, Bounds::default(), None).unwrap();
    for url in [host.url("/x"), format!("http://localhost:{}/x", host.address.port())] {
        let (transfer, _) = bring(&getter, get(&url, None));
        let fault = transfer.unwrap().fault.unwrap();
        assert!(fault.code() == Code::PermissionDenied && fault.reason().contains("private network"), "{fault}");
    }
    let getter = Getter::new(Allowed::default(), Bounds::default(), None).unwrap();
    let (transfer, _) = bring(&getter, get(&host.url("/x"), None));
    assert_eq!(transfer.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(host.requests(), []);
}

#[test]
fn names_and_checksums_that_cannot_be_meant_are_refused() {
    let host = StandIn::new(|_, _| answer("200 OK", "", b""));
    let getter = host.getter(Bounds::default());
    for name in ["", "..", ".hidden", ".partial-x", "a/b", "a\\b", "a b", "é", &"x".repeat(101)] {
        let (transfer, _) = bring(&getter, Get { name: name.to_owned(), ..get(&host.url("/x"), None) });
        assert_eq!(transfer.unwrap_err().code(), Code::InvalidValue, "{name:?}");
    }
    let (transfer, _) = bring(&getter, get(&host.url("/x"), Some("abc")));
    assert!(transfer.unwrap_err().reason().contains("64 hexadecimal digits"));
}

#[test]
fn a_file_can_be_given_up_removed_and_asked_for_again() {
    let host = StandIn::new(|number, _| match number {
        // The response never ends.
        0 => [b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n".as_slice(), &content()[..10]].concat(),
        _ => answer("200 OK", "", &content()),
    });
    let (workers, clock) = workers(2);
    let node = Host::new(workers.handle());
    let folder = tempfile::tempdir().unwrap();
    // The service removes the incomplete files of an earlier process when it starts.
    std::fs::write(folder.path().join(".partial-old"), "half").unwrap();
    block_on(async {
        let fetch = Fetch::new(host.getter(Bounds { tries: u32::MAX, ..Bounds::default() }), folder.path()).unwrap();
        let fetch = node.start(FETCH, move || fetch.clone()).await.unwrap();
        assert_eq!(files(folder.path()), []);
        let name = || "points.csv".to_owned();
        fetch.call(get(&host.url("/x"), None)).await.unwrap();
        // The first transfer is running. The host answers the next request completely.
        let _ = host.asked.receive().await;
        assert_eq!(fetch.call(get(&host.url("/x"), None)).await.unwrap_err().code(), Code::DuplicateEntry);
        assert_eq!(fetch.call(Remove { name: name() }).await.unwrap_err().code(), Code::InvalidValue);
        fetch.call(Cancel { job: name() }).await.unwrap();
        assert_eq!(fetch.get().await.unwrap().files["points.csv"].state, State::Cancelled);
        assert_eq!(files(folder.path()), []);
        fetch.call(get(&host.url("/x"), Some(SUM))).await.unwrap();
        let transfer = while_time_passes(&clock, ended(&fetch, "points.csv")).await;
        assert_eq!(transfer.state, State::Done, "{:?}", transfer.fault);
        assert_eq!(files(folder.path()), whole());
        let forged = Progress { name: name(), transfer };
        assert_eq!(fetch.call(forged).await.unwrap_err().code(), Code::UnknownEntry);
        fetch.call(Remove { name: name() }).await.unwrap();
        assert_eq!(files(folder.path()), []);
        assert_eq!(fetch.call(Cancel { job: name() }).await.unwrap_err().code(), Code::UnknownEntry);
    });
}

/// Begins a transfer that breaks off after 40,000 bytes. Ends its node when the state shows these bytes: in an orderly
/// way, or at once.
fn broken_off(getter: &Getter, host: &StandIn, folder: &Path, is_orderly: bool) {
    let (workers, _clock) = workers(2);
    let node = Host::new(workers.handle());
    block_on(async {
        let fetch = Fetch::new(getter.clone(), folder.join("files")).unwrap();
        let place = Placement::at(FETCH).keep(folder.join("fetch.json"));
        let fetch = node.start(place, move || fetch.clone()).await.unwrap();
        let mut changes = fetch.subscribe(Subscribe::default()).await.unwrap();
        fetch.call(get(&host.url("/x"), Some(SUM))).await.unwrap();
        while fetch.get().await.unwrap().files.get("points.csv").is_none_or(|transfer| transfer.bytes < 40_000) {
            changes.next().await.unwrap();
        }
        if is_orderly {
            node.shutdown(Duration::from_secs(86_400)).await;
        }
    });
}

/// Restarts the service and returns the outcome of the transfer.
fn next_life(getter: &Getter, folder: &Path) -> Transfer {
    let (workers, clock) = workers(2);
    let node = Host::new(workers.handle());
    block_on(async {
        let fetch = Fetch::new(getter.clone(), folder.join("files")).unwrap();
        let place = Placement::at(FETCH).keep(folder.join("fetch.json"));
        let fetch = node.start(place, move || fetch.clone()).await.unwrap();
        while_time_passes(&clock, ended(&fetch, "points.csv")).await
    })
}

/// Returns a host that breaks off its first response, and then sends the requested bytes.
fn breaking() -> StandIn {
    StandIn::new(|number, asked| {
        let all = answer("200 OK", "etag: \"a\"\r\n", &content());
        let from =
            asked.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        match (number, from) {
            (0, _) => all[..all.len() - 60_000].to_vec(),
            (_, Some(from)) => part(from, "\"a\""),
            _ => all,
        }
    })
}

/// A change of an incomplete file between the end of the service and its restart.
type Meanwhile<'a> = &'a dyn Fn(&Path);

#[test]
fn a_transfer_goes_on_in_the_next_life_of_its_node() {
    let lengthened = |file: &Path| {
        let whole = [std::fs::read(file).unwrap(), b"written, and not told".to_vec()].concat();
        std::fs::write(file, whole).unwrap();
    };
    let shortened = |file: &Path| std::fs::write(file, [0_u8; 100]).unwrap();
    let gone = |file: &Path| std::fs::remove_file(file).unwrap();
    let nothing = |_: &Path| ();
    let cases: [(bool, Meanwhile<'_>, Option<&str>); 5] = [
        (true, &nothing, Some("bytes=40000-")),
        (false, &nothing, Some("bytes=40000-")),
        (false, &lengthened, Some("bytes=40000-")),
        (false, &shortened, None),
        (true, &gone, None),
    ];
    for (is_orderly, meanwhile, range) in cases {
        let (host, folder) = (breaking(), tempfile::tempdir().unwrap());
        let getter = host.getter(Bounds::default());
        broken_off(&getter, &host, folder.path(), is_orderly);
        meanwhile(&folder.path().join("files/.partial-points.csv"));
        let transfer = next_life(&getter, folder.path());
        assert_eq!((transfer.state, transfer.bytes), (State::Done, 100_000), "{:?}", transfer.fault);
        assert_eq!(files(&folder.path().join("files")), whole());
        let requests = host.requests();
        assert_eq!((requests.len(), requests[1].header("range")), (2, range));
        // A complete file is not fetched again.
        assert_eq!(next_life(&getter, folder.path()).state, State::Done);
        assert_eq!(host.requests(), []);
    }
}

#[test]
fn a_transfer_from_a_host_that_is_not_allowed_any_more_ends_with_the_life_of_its_node() {
    let (host, folder) = (breaking(), tempfile::tempdir().unwrap());
    broken_off(&host.getter(Bounds::default()), &host, folder.path(), true);
    let nobody = Getter::new(Allowed::default(), Bounds::default(), None).unwrap();
    let transfer = next_life(&nobody, folder.path());
    assert_eq!((transfer.state, transfer.fault.unwrap().code()), (State::Failed, Code::PermissionDenied));
    assert_eq!((files(&folder.path().join("files")), host.requests().len()), (vec![], 1));
}
