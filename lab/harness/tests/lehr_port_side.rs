//! Tests our own runner by the line protocol of a peer, as the lab uses it.

use std::path::Path;

use lehr_lab::bench::peers::Peer;

fn ours() -> Peer {
    Peer::start(Path::new(env!("CARGO_BIN_EXE_lehr_port_side"))).unwrap()
}

#[test]
fn it_names_its_engines_and_answers_what_they_do() {
    let mut ours = ours();
    assert!(ours.is_ours() && ours.name().starts_with("lehr_port_side"));
    assert!(ours.engines.len() >= 3 && ours.engines.iter().all(|name| name.starts_with("lehr")), "{:?}", ours.engines);
    for (engine, name) in ours.engines.clone().iter().enumerate() {
        if name.contains("receive") {
            let names = ["bytes", "create_seconds", "complete_seconds"];
            let [_, create, complete] = ours.numbers(&format!("{engine} pending 1000"), &names).unwrap().unwrap()[..]
            else {
                panic!("three numbers")
            };
            assert!(create > 0.0 && complete > 0.0, "{name}");
        }
    }
    let allocations = ours.numbers("2 allocations 1000", &["allocations"]).unwrap().unwrap();
    assert!(allocations[0] >= 0.0);
}

#[test]
fn what_it_does_not_do_is_absent_and_it_goes_on() {
    let mut ours = ours();
    for request in ["0 pattern rendezvous shift 2 2 0 10", "9 pending 10", "0 regions 2 10 0 0", "", "hello"] {
        assert_eq!(ours.ask(request).unwrap(), None, "{request:?}");
    }
    assert!(ours.numbers("0 pending 10", &["bytes"]).unwrap().is_some());
}
