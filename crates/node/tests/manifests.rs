//! Manifests on a node: they are planned, applied as a group, and taken back as a group.

use std::collections::BTreeMap;

use lehr_node::manifest::{Action, Apply, MANIFEST, Manifest, ManifestState, ManifestText, Manifests, Plan, Review};
use lehr_node::{Client, Insert, Node, Records};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Host, Operation, Partners, Reference, Service, Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A kind with a configuration and a partner, whose start fails if the configuration says so.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Picky {
    told: Settings,
    cores: Vec<usize>,
    /// What its partner had noted when it started.
    noted: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Settings {
    #[serde(default)]
    fails: bool,
    #[schemars(range(min = 1, max = 9))]
    level: u32,
}

impl Contract for Picky {
    const NAME: &'static str = "example.org/picky";
    const VERSION: Version = Version::new(1, 0);
}

/// Asks for the names of the threads on which the service runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Picky, verb = Query, name = "where", reply = String)]
struct WhereAreYou {}

impl Service for Picky {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<WhereAreYou>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Records>("notes").optional();
    }

    fn configuration() -> Option<Value> {
        Some(schemars::schema_for!(Settings).to_value())
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.told = starting.configuration()?.unwrap_or_default();
        self.cores = starting.cores().to_vec();
        if let Some(notes) = starting.find_partner::<Records>("notes")? {
            self.noted = notes.get().await?.records.keys().cloned().collect();
        }
        match self.told.fails {
            true => Err(Fault::new(Code::InsufficientResources, "it was told to fail")),
            false => Ok(()),
        }
    }
}

impl Concurrent<WhereAreYou> for Picky {
    async fn handle(&self, _: WhereAreYou, _: &Call) -> Result<String, Fault> {
        Ok(std::thread::current().name().unwrap_or_default().to_owned())
    }
}

struct World {
    host: Host,
    manifests: Reference<ManifestState>,
    _dispatcher: Dispatcher,
}

impl World {
    fn new() -> Self {
        Self::with(Manifests::new(None, 2))
    }

    fn with(manifests: Manifests) -> Self {
        let dispatcher = Dispatcher::new(2).unwrap();
        let host = Host::new(dispatcher.handle());
        host.register(Records::default);
        host.register(Picky::default);
        let manifests = block_on(host.start(MANIFEST, move || manifests.clone())).unwrap();
        Self { host, manifests, _dispatcher: dispatcher }
    }

    fn apply(&self, text: &str) -> Result<Plan, Fault> {
        block_on(self.manifests.call(Apply { files: files(&[("node.toml", text)]) }))
    }

    /// Returns the running services, except the node's own.
    fn runs(&self) -> Vec<String> {
        let own = [MANIFEST, lehr_services::DIRECTORY];
        self.host.paths().into_iter().filter(|path| !own.contains(&path.as_str())).collect()
    }

    fn lives(&self) -> BTreeMap<String, u64> {
        self.runs().into_iter().map(|path| (path.clone(), self.host.endpoint(&path).unwrap().incarnation())).collect()
    }
}

fn files(files: &[(&str, &str)]) -> Vec<ManifestText> {
    files.iter().map(|(file, text)| ManifestText { file: (*file).to_owned(), text: (*text).to_owned() }).collect()
}

fn actions(plan: &Plan) -> Vec<(&str, Action)> {
    plan.changes.iter().map(|change| (change.path.as_str(), change.action)).collect()
}

const TWO: &str = "
[services.'/a']
contract = 'example.org/picky'
configuration = { level = 3 }
partners = { notes = '/z' }

[services.'/z']
contract = 'lehr/records'
";

#[test]
fn a_manifest_is_applied_in_order_of_need_and_again_changes_nothing() {
    let world = World::new();
    let plan = world.apply(TWO).unwrap();
    assert_eq!(actions(&plan), [("/z", Action::Start), ("/a", Action::Start)]);
    assert_eq!(world.runs(), ["/a", "/z"]);
    let told = block_on(world.host.reference::<Picky>("/a").unwrap().get()).unwrap();
    assert_eq!(told.told.level, 3);
    let lives = world.lives();
    let again = world.apply(TWO).unwrap();
    assert!(again.is_empty());
    assert_eq!(world.lives(), lives);

    // With another level, only that service is started again. Without its record, the other service is stopped.
    let plan = world.apply(&TWO.replace("level = 3", "level = 4")).unwrap();
    assert_eq!(actions(&plan), [("/z", Action::Leave), ("/a", Action::Replace)]);
    assert_eq!(plan.changes[1].because, ["configuration"]);
    assert_eq!((world.lives()["/z"], world.lives()["/a"] == lives["/a"]), (lives["/z"], false));
    let plan = world.apply("[services.'/z']\ncontract = 'lehr/records'").unwrap();
    assert_eq!(actions(&plan), [("/z", Action::Leave), ("/a", Action::Stop)]);
    assert_eq!(world.runs(), ["/z"]);
    world.apply("").unwrap();
    assert!(world.runs().is_empty());
}

#[test]
fn a_review_says_what_would_happen_and_does_nothing() {
    let world = World::new();
    let plan = block_on(world.manifests.call(Review { files: files(&[("node.toml", TWO)]) })).unwrap();
    assert_eq!(plan.changes.len(), 2);
    assert!(world.runs().is_empty() && !block_on(world.manifests.get()).unwrap().is_applying);
}

// Catalogue: 113
#[test]
fn two_manifests_with_one_service_merge_or_fail_naming_both() {
    let world = World::new();
    let notes = "[services.'/notes']\ncontract = 'lehr/records'\n";
    let other = "# another\n[services.'/notes']\ncontract = 'lehr/records'\nqueue = 5\n[services.'/more']\ncontract = 'lehr/records'\n";
    let fault =
        block_on(world.manifests.call(Apply { files: files(&[("a.toml", notes), ("b.toml", other)]) })).unwrap_err();
    assert_eq!(
        fault.reason(),
        "b.toml, line 2, services.\"/notes\": expected what a.toml, line 1 says of it, found another queue"
    );
    assert!(world.runs().is_empty());
    let same = format!("{notes}[services.'/more']\ncontract = 'lehr/records'\n");
    let plan = block_on(world.manifests.call(Apply { files: files(&[("a.toml", notes), ("b.toml", &same)]) })).unwrap();
    assert_eq!(actions(&plan), [("/more", Action::Start), ("/notes", Action::Start)]);
}

// Catalogue: 114
#[test]
fn a_manifest_that_fails_half_way_is_taken_back_and_says_what() {
    let world = World::new();
    world.apply(TWO).unwrap();
    let before = block_on(world.manifests.get()).unwrap().services.clone();
    let text = "
[services.'/a']
contract = 'example.org/picky'
configuration = { level = 5 }

[services.'/b']
contract = 'lehr/records'

[services.'/c']
contract = 'example.org/picky'
configuration = { level = 1, fails = true }
after = ['/a', '/b']
";
    let fault = world.apply(text).unwrap_err();
    assert_eq!(
        (fault.code(), fault.reason()),
        (Code::StartFailed, "the manifest is not applied: /c failed; taken back: /b, /a")
    );
    assert!(fault.causes().iter().any(|cause| cause.reason == "it was told to fail"), "{fault}");
    // `/z`, which the new manifest does not contain, still runs, and `/a` has its previous configuration again.
    assert_eq!(world.runs(), ["/a", "/z"]);
    let told = block_on(world.host.reference::<Picky>("/a").unwrap().get()).unwrap();
    assert_eq!(told.told.level, 3);
    assert_eq!(block_on(world.manifests.get()).unwrap().services, before);

    // A service whose own replacement fails comes back too.
    let fault = world.apply(&TWO.replace("level = 3", "level = 3, fails = true")).unwrap_err();
    assert_eq!(fault.reason(), "the manifest is not applied: /a failed; taken back: /a");
    assert_eq!(world.runs(), ["/a", "/z"]);
    assert!(world.apply(TWO).unwrap().is_empty());
}

#[test]
fn every_fault_is_told_with_line_and_field() {
    let world = World::new();
    block_on(world.host.start("/taken", Records::default)).unwrap();
    let text = "
[services.'/a']
contract = 'example.org/picky'
configuration = { level = 12, levle = 1 }
partners = { notes = '/b', book = '/z' }
cores = [0, 7]
keep = true

[services.'/b']
contract = 'lehr/nothing'
after = ['/nowhere']

[services.'/taken']
contract = 'lehr/records'
configuration = { x = 1 }

[services.'/A']
contract = 'lehr/records'
";
    let fault = world.apply(text).unwrap_err();
    let expected = "\
node.toml, line 4, services.\"/a\".configuration.level: expected at most 9, found 12
node.toml, line 4, services.\"/a\".configuration.levle: expected one of the fields fails, level, found an unknown one
node.toml, line 5, services.\"/a\".partners.book: expected a partner of example.org/picky (it has notes), found \"book\"
node.toml, line 5, services.\"/a\".partners.notes: expected a service with the contract lehr/records, found /b with lehr/nothing
node.toml, line 6, services.\"/a\".cores[1]: expected a core from 0 to 1, found 7
node.toml, line 7, services.\"/a\".keep: expected a node with a folder to keep states in (--keep FOLDER), found none
node.toml, line 10, services.\"/b\".contract: expected a kind of service that can be made here (example.org/picky, lehr/records), found \"lehr/nothing\"
node.toml, line 11, services.\"/b\".after[0]: expected a service of the manifest or the node, found \"/nowhere\"
node.toml, line 13, services.\"/taken\": expected a path that is free, found a service of this node (lehr/records)
node.toml, line 15, services.\"/taken\".configuration: expected nothing (lehr/records has no configuration), found a table";
    let mut found: Vec<&str> = fault.reason().lines().collect();
    assert_eq!(found.pop(), Some("11 faults in all; the first 10 are shown"));
    assert_eq!(found, expected.lines().collect::<Vec<_>>());
    assert_eq!(world.runs(), ["/taken"]);
    let circle = "[services.'/a']\ncontract = 'lehr/records'\nafter = ['/b']\n[services.'/b']\ncontract = 'lehr/records'\nafter = ['/a']\n";
    let fault = world.apply(circle).unwrap_err();
    assert_eq!(
        fault.reason(),
        "node.toml, line 1, services.\"/a\": expected services that need each other in no circle, found /a -> /b -> /a"
    );
}

#[test]
fn a_partner_may_stand_on_another_node() {
    let (world, workers) = (World::new(), Dispatcher::new(1).unwrap());
    let settings = lehr_node::Settings { address: ([127, 0, 0, 1], 0).into(), ..lehr_node::Settings::new() };
    let far = Node::start(Host::new(workers.handle()), settings).unwrap();
    let notes = block_on(far.host().start("/notes", Records::default)).unwrap();
    block_on(notes.call(Insert { key: "loom".to_owned(), value: json!(8) })).unwrap();
    let client = Client::new(None).unwrap();
    world.host.reach_by(move |address| client.link(address));
    let text = |at: &str| format!("[services.'/a']\ncontract = 'example.org/picky'\npartners = {{ notes = '{at}' }}\n");
    let plan = world.apply(&text(&format!("http://{}/notes", far.address()))).unwrap();
    assert_eq!(actions(&plan), [("/a", Action::Start)]);
    let a = block_on(world.host.reference::<Picky>("/a").unwrap().get()).unwrap();
    assert_eq!(a.noted, ["loom"]);
    // An invalid address is found before any change. An address of another kind of service is found when the node tries
    // it.
    let fault = world.apply(&text("http://node")).unwrap_err();
    assert_eq!(
        fault.reason(),
        "node.toml, line 3, services.\"/a\".partners.notes: partner \"notes\": expected an address such as http://node:8420/notes, found \"http://node\""
    );
    let life = world.lives()["/a"];
    let fault = world.apply(&text(&format!("http://{}/directory", far.address()))).unwrap_err();
    assert!(fault.reason().ends_with("/a failed; taken back: /a"), "{fault}");
    assert_ne!(world.lives()["/a"], life);
}

#[test]
fn a_service_has_its_cores_and_the_others_do_not() {
    let world = World::new();
    let text = "[services.'/own']\ncontract = 'example.org/picky'\ncores = [0]\nconfiguration = { level = 1 }\n[services.'/shared']\ncontract = 'example.org/picky'\n";
    world.apply(text).unwrap();
    let at = |path: &str| {
        let service = world.host.reference::<Picky>(path).unwrap();
        let state = block_on(service.get()).unwrap();
        (state.cores.clone(), block_on(service.call(WhereAreYou {})).unwrap())
    };
    let (own, shared) = (at("/own"), at("/shared"));
    assert_eq!((own.0, shared.0), (vec![0], vec![]));
    assert!(own.1.contains("/own") && !shared.1.contains("/own"), "{} and {}", own.1, shared.1);
    // The workers of its own cores end with the service.
    world.apply("").unwrap();
    world.apply(text).unwrap();
    assert_eq!(at("/own").0, [0]);
}

#[test]
fn what_is_kept_is_there_when_a_node_starts_anew() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[services.'/deep/notes']\ncontract = 'lehr/records'\nkeep = true\n";
    let kept = || World::with(Manifests::new(Some(folder.path().to_path_buf()), 2));
    let world = kept();
    world.apply(text).unwrap();
    let notes = world.host.reference::<Records>("/deep/notes").unwrap();
    block_on(notes.call(Insert { key: "loom".to_owned(), value: json!(8) })).unwrap();
    drop((notes, world));
    let world = kept();
    world.apply(text).unwrap();
    let notes = world.host.reference::<Records>("/deep/notes").unwrap();
    assert_eq!(block_on(notes.call(lehr_node::Find { key: "loom".to_owned() })).unwrap(), 8);
}

#[test]
fn the_schema_is_that_of_the_golden_file() {
    let text = serde_json::to_string_pretty(&Manifest::schema()).unwrap() + "\n";
    expect_test::expect_file!["golden/manifest.schema.json"].assert_eq(&text);
}

/// Changes bytes of a good manifest at random. Any file is either read or refused.
#[test]
fn no_file_makes_reading_panic() {
    let good = format!("{TWO}cores = [0, 1]\nrestart = {{ crashes = 1, within_seconds = 1.5 }}\nafter = ['/a']\n");
    assert!(Manifest::read("good.toml", &good).is_ok());
    let mut state = 1_u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % limit as u64).unwrap()
    };
    let pieces = [
        "[",
        "]",
        "{",
        "}",
        "=",
        "'",
        "\"",
        "\n",
        ".",
        "-",
        "9",
        "e",
        "é",
        "\0",
        "[[",
        "true",
        "nan",
        "0x",
        "1979-05-27",
        "\\u00",
    ];
    let (mut read, mut refused) = (0, 0);
    for _ in 0..1000 {
        let mut text: Vec<char> = good.chars().collect();
        for _ in 0..=random(4) {
            let at = random(text.len().max(1)).min(text.len());
            match random(3) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.truncate(at.max(1)),
                _ => drop(text.splice(at..at, pieces[random(pieces.len())].chars()).count()),
            }
        }
        match Manifest::read("changed.toml", &text.iter().collect::<String>()) {
            Ok(_) => read += 1,
            Err(findings) => {
                assert!(!findings.shown().is_empty() && !findings.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(read > 10 && refused > 300, "{read} and {refused}");
}
