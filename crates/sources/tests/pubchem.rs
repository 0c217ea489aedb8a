//! Tests with PubChem's PUG REST interface as its documentation describes it: paths, forms, searches that take time,
//! and errors.

use std::time::Duration;

use lehr_jobs::datasets::Datasets;
use lehr_jobs::{Setup, fetch};
use lehr_runtime::{Clock, block_on};
use lehr_services::{Code, Fault, Host, Reference};
use lehr_sources::{Bounds, By, Find, Load, Loaded, PUBCHEM, PubChem, PubChemState, Similar};
use serde_json::json;

use crate::stand_in::{StandIn, TransferRequest, answer};
use crate::{while_time_passes, workers};

const JSON: &str = "content-type: application/json\r\n";

/// Returns a packed fingerprint in which the first, the ninth and the last bit are set.
fn packed() -> String {
    format!("AAADcYCA{}gA==", "A".repeat(144))
}

fn fault(code: &str, message: &str) -> Vec<u8> {
    json!({ "Fault": { "Code": code, "Message": message, "Details": ["..."] } }).to_string().into_bytes()
}

/// Returns PubChem's answer to a request of these tests.
fn documented(number: usize, asked: &TransferRequest) -> Vec<u8> {
    let ok = |document: serde_json::Value| answer("200 OK", JSON, document.to_string().as_bytes());
    let cids = || -> Vec<u64> {
        asked.body.strip_prefix("cid=").unwrap().split(',').map(|cid| cid.parse().unwrap()).collect()
    };
    match asked.line.as_str() {
        "POST /rest/pug/compound/name/cids/JSON" if asked.body == "name=aspirin" => {
            ok(json!({ "IdentifierList": { "CID": [2244] } }))
        }
        "POST /rest/pug/compound/name/cids/JSON" => {
            answer("404 PUGREST.NotFound", JSON, &fault("PUGREST.NotFound", "No CID found"))
        }
        "POST /rest/pug/compound/smiles/cids/JSON" if asked.body == "smiles=C%2FC%3DC%5CC" => {
            ok(json!({ "IdentifierList": { "CID": [0] } }))
        }
        "POST /rest/pug/compound/smiles/cids/JSON" => answer(
            "400 PUGREST.BadRequest",
            JSON,
            &fault("PUGREST.BadRequest", "Unable to standardize the given structure"),
        ),
        "GET /rest/pug/compound/fastsimilarity_2d/cid/2244/cids/JSON?Threshold=95&MaxRecords=10" => answer(
            "202 Accepted",
            JSON,
            json!({ "Waiting": { "ListKey": "123456", "Message": "Your request is running" } }).to_string().as_bytes(),
        ),
        // The search is still running at the first check.
        "GET /rest/pug/compound/listkey/123456/cids/JSON" if number < 3 => {
            answer("202 Accepted", JSON, json!({ "Waiting": { "ListKey": "123456" } }).to_string().as_bytes())
        }
        "GET /rest/pug/compound/listkey/123456/cids/JSON" => ok(json!({ "IdentifierList": { "CID": [2244, 5161] } })),
        // PubChem writes weights as texts, and has no compound 99.
        "POST /rest/pug/compound/cid/property/Fingerprint2D,SMILES,Title,MolecularWeight/JSON" => {
            let known = |cid: &u64| {
                json!({ "CID": cid, "Fingerprint2D": packed(), "SMILES": "C".repeat(*cid as usize % 5 + 1),
                    "Title": format!("compound {cid}"), "MolecularWeight": format!("{cid}.5") })
            };
            let row = |cid: &u64| if *cid == 99 { json!({ "CID": cid }) } else { known(cid) };
            ok(json!({ "PropertyTable": { "Properties": cids().iter().map(row).collect::<Vec<_>>() } }))
        }
        "POST /rest/pug/compound/cid/property/Fingerprint2D,SMILES,Title/JSON" => {
            answer("404 PUGREST.NotFound", JSON, &fault("PUGREST.NotFound", "No CID found"))
        }
        line => panic!("nobody asks for {line}"),
    }
}

/// Runs a test with the service and a stand-in for PubChem, on a virtual clock that advances by itself.
fn on(
    answer: impl Fn(usize, &TransferRequest) -> Vec<u8> + Send + 'static,
    behaviour: impl AsyncFn(Reference<PubChemState>, StandIn, Clock),
) {
    with_datasets(answer, async |pubchem, _, stand_in, clock| behaviour(pubchem, stand_in, clock).await);
}

/// The same with the service of the data sets.
fn with_datasets(
    answer: impl Fn(usize, &TransferRequest) -> Vec<u8> + Send + 'static,
    behaviour: impl AsyncFn(Reference<PubChemState>, Reference<Datasets>, StandIn, Clock),
) {
    let stand_in = StandIn::new(answer);
    let pubchem = PubChem::at(stand_in.getter(Bounds::default()), &stand_in.url("/rest/pug")).unwrap();
    let (workers, clock) = workers(2);
    let host = Host::new(workers.handle());
    block_on(async {
        let datasets = Setup::default().start_datasets(&host, "/datasets").await.unwrap();
        let pubchem = host.start(PUBCHEM, move || pubchem.clone()).await.unwrap();
        while_time_passes(&clock, behaviour(pubchem, datasets, stand_in, clock.clone())).await;
    });
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Fault>) -> Code {
    outcome.unwrap_err().code()
}

#[test]
fn compounds_are_found_by_name_and_structure() {
    on(documented, async |pubchem, _, _| {
        let find = |by, text: &str| pubchem.call(Find { by, text: text.to_owned() });
        assert_eq!(find(By::Name, "aspirin").await.unwrap(), [2244]);
        // No match is a valid answer, and the CID 0 means no match.
        assert_eq!(find(By::Name, "a name/that nobody has").await.unwrap(), [0_u64; 0]);
        assert_eq!(find(By::Smiles, "C/C=C\\C").await.unwrap(), [0_u64; 0]);
        let refused = find(By::Smiles, "not a structure").await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidValue);
        assert_eq!(refused.reason(), "PubChem: Unable to standardize the given structure (PUGREST.BadRequest)");
        assert_eq!(code(find(By::Name, "").await), Code::InvalidValue);
    });
}

#[test]
fn a_search_that_runs_is_waited_for() {
    on(documented, async |pubchem, stand_in, _| {
        let found = pubchem.call(Similar { cid: 2244, percent: 95, count: 10 }).await.unwrap();
        assert_eq!(found, [2244, 5161]);
        assert_eq!(stand_in.requests().len(), 4);
        assert_eq!(code(pubchem.call(Similar { cid: 2244, percent: 101, count: 10 }).await), Code::InvalidValue);
    });
}

/// A request for a data set of these compounds.
fn load(cids: impl IntoIterator<Item = u64>, properties: &[&str]) -> Load {
    let properties = properties.iter().map(|name| (*name).to_owned()).collect();
    Load { cids: cids.into_iter().collect(), properties, name: "compounds".to_owned(), replace: false }
}

#[test]
fn a_data_set_has_the_compounds_in_the_order_asked_for_however_many_there_are() {
    with_datasets(documented, async |pubchem, datasets, stand_in, _| {
        let loaded = pubchem.call(load((1..=450).rev(), &["MolecularWeight"])).await.unwrap();
        assert_eq!(loaded, Loaded { dataset: "compounds".to_owned(), items: 449, unknown: vec![99] });
        assert_eq!(stand_in.requests().len(), 3);
        let table = fetch(&datasets, "compounds").await.unwrap();
        assert_eq!(table.texts("id").unwrap()[..2], ["450", "449"]);
        assert_eq!(table.texts("title").unwrap()[448], "compound 1");
        assert_eq!(table.texts("smiles").unwrap()[0], "C");
        assert_eq!(table.texts("fingerprint").unwrap()[0], format!("0101{}01", "00".repeat(108)));
        assert_eq!(table.numbers("MolecularWeight").unwrap()[448], 1.5);
        // A name that is taken is kept, unless the request replaces it.
        assert_eq!(code(pubchem.call(load([3], &["MolecularWeight"])).await), Code::DuplicateEntry);
        let again = Load { replace: true, ..load([3], &["MolecularWeight"]) };
        assert_eq!(pubchem.call(again).await.unwrap().items, 1);
    });
}

#[test]
fn a_request_that_cannot_be_met_makes_no_data_set() {
    with_datasets(documented, async |pubchem, datasets, _, _| {
        for (request, expected) in [
            (load([], &[]), Code::InvalidValue),
            (load([0], &[]), Code::InvalidValue),
            (load([1], &["../../x"]), Code::InvalidValue),
            (load([99], &["MolecularWeight"]), Code::UnknownEntry),
            // PubChem knows none of these compounds.
            (load([1, 2], &[]), Code::UnknownEntry),
        ] {
            assert_eq!(code(pubchem.call(request.clone()).await), expected, "{request:?}");
        }
        assert!(datasets.get().await.unwrap().datasets.is_empty());
    });
}

#[test]
fn no_more_than_five_requests_a_second_are_sent() {
    on(documented, async |pubchem, stand_in, clock| {
        let began = clock.now();
        for _ in 0..11 {
            pubchem.call(Find { by: By::Name, text: "aspirin".to_owned() }).await.unwrap();
        }
        assert!(clock.now() - began >= Duration::from_secs(2), "{:?}", clock.now() - began);
        assert_eq!(stand_in.requests().len(), 11);
    });
}

#[test]
fn a_pubchem_that_is_busy_is_asked_again_and_then_given_up() {
    let busy = |number: usize, asked: &TransferRequest| {
        let refused =
            answer("503 PUGREST.ServerBusy", "retry-after: 3\r\n", &fault("PUGREST.ServerBusy", "Too many requests"));
        if number < 2 { refused } else { documented(number, asked) }
    };
    on(busy, async |pubchem, stand_in, clock| {
        let began = clock.now();
        assert_eq!(pubchem.call(Find { by: By::Name, text: "aspirin".to_owned() }).await.unwrap(), [2244]);
        assert!(clock.now() - began >= Duration::from_secs(6));
        assert_eq!(stand_in.requests().len(), 3);
    });
    let always = |_: usize, _: &TransferRequest| {
        answer("504 PUGREST.Timeout", JSON, &fault("PUGREST.Timeout", "The request timed out"))
    };
    on(always, async |pubchem, stand_in, _| {
        let refused = pubchem.call(Find { by: By::Name, text: "aspirin".to_owned() }).await.unwrap_err();
        assert_eq!((refused.code(), stand_in.requests().len()), (Code::Unavailable, 5));
    });
}

#[test]
fn answers_that_are_not_as_documented_are_faults_and_no_panics() {
    let bodies = [
        "",
        "<html>",
        "{}",
        "{\"Waiting\":{\"ListKey\":\"../../x\"}}",
        "{\"PropertyTable\":{\"Properties\":[{\"CID\":1,\"Fingerprint2D\":\"AAAA\"}]}}",
        "no table",
    ];
    for body in bodies {
        for status in ["200 OK", "202 Accepted"] {
            on(
                move |_, _| answer(status, JSON, body.as_bytes()),
                async |pubchem, _, _| {
                    let find = pubchem.call(Find { by: By::Name, text: "x".to_owned() }).await;
                    assert!(find.is_err() || find == Ok(Vec::new()), "{body:?}: {find:?}");
                    assert_eq!(code(pubchem.call(load([1], &[])).await), Code::OperationFailed, "{body:?}");
                },
            );
        }
    }
}
