//! Steps on another node, and data sets that are copied to it.

use std::time::Duration;

use lehr_jobs::datasets::{Datasets, Put};
use lehr_jobs::{DatasetService, Handle, Table};
use lehr_node::{Client, Node, Settings};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Code, Host, Reference};
use lehr_workflow::{Begin, Resume, RunState, WORKFLOWS, Wait, Workflows};

use super::bench::{Bench, step};

/// A node with a bench and data sets that is served over HTTP.
struct Served {
    node: Node,
    bench: Bench,
    datasets: Reference<Datasets>,
    _dispatcher: Dispatcher,
}

impl Served {
    fn new() -> Self {
        let dispatcher = Dispatcher::new(2).unwrap();
        let host = Host::new(dispatcher.handle());
        let bench = Bench::new();
        let datasets = block_on(async {
            let (made, client) = (bench.clone(), Client::new(None).unwrap());
            host.start("/bench", move || made.clone()).await.unwrap();
            host.start(WORKFLOWS, move || Workflows::new(Some(client.clone()))).await.unwrap();
            host.start("/datasets", DatasetService::in_memory).await.unwrap()
        });
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        Self { node: Node::start(host, settings).unwrap(), bench, datasets, _dispatcher: dispatcher }
    }

    fn url(&self) -> String {
        format!("http://{}", self.node.address())
    }
}

#[test]
fn a_step_on_another_node_takes_its_data_along_once() {
    let (near, far) = (Served::new(), Served::new());
    let numbers = Table::builder().numbers("x", vec![0.5, f64::MIN_POSITIVE, -1e300]).counts("n", vec![0, 1, u64::MAX]);
    let table =
        numbers.texts("id", ["a", "b", "c"].map(str::to_owned).to_vec()).id(Some("id".to_owned())).build().unwrap();
    let put = Put { name: "blocks/2020".to_owned(), table: Handle(table.clone()), replace: false };
    block_on(near.datasets.call(put)).unwrap();
    let more = "node = '${parameters.compute}'\nfetch = [{ dataset = '${here.name}/2020' }]";
    let text = [
        "name = 'two'\noutput = '${there.value}'\n[parameters]\ncompute = { type = 'string' }\n".to_owned(),
        "[steps.here]\nservice = '/bench'\noperation = 'say'\nwith = { name = 'blocks' }\n".to_owned(),
        step("there", "say", "value = 'done with ${here.name}'", more),
    ]
    .concat();
    let mut begin = Begin::new("two.toml", text);
    begin.parameters.insert("compute".to_owned(), far.url().into());
    // The same request over HTTP.
    let link = Client::new(None).unwrap().link(&format!("{}{WORKFLOWS}", near.url())).unwrap();
    let workflows = Reference::over(link).within(Duration::from_secs(3600));
    let mut versions = Vec::new();
    for _ in 0..2 {
        let ended = block_on(async {
            let run = workflows.call(begin.clone()).await.unwrap().run;
            workflows.call(Wait::for_run(run)).await.unwrap()
        });
        assert_eq!((ended.state, ended.output), (RunState::Done, "done with blocks".into()), "{:?}", ended.fault);
        assert_eq!((near.bench.asked(), far.bench.asked()), (vec!["blocks".to_owned()], vec!["there".to_owned()]));
        assert_eq!(block_on(lehr_jobs::fetch(&far.datasets, "blocks/2020")).unwrap(), table);
        versions.push(block_on(far.datasets.get()).unwrap().version());
    }
    // The second run has found the data set on the node.
    assert_eq!(versions[0], versions[1]);
}

#[test]
fn data_sets_follow_the_answers_that_name_them_and_keep_apart_though_their_names_are_equal() {
    let (near, first, second) = (Served::new(), Served::new(), Served::new());
    let table = |value: f64| Table::builder().numbers("x", vec![value]).build().unwrap();
    for (node, value) in [(&near, 0.0), (&first, 1.0), (&second, 2.0)] {
        let put = Put { name: "x".to_owned(), table: Handle(table(value)), replace: false };
        block_on(node.datasets.call(put)).unwrap();
    }
    let text = [
        "name = 'three'\noutput = { both = '${both.value}', each = '${each.*.value}', here = '${here.value}' }\n\
         [parameters]\nfirst = { type = 'string' }\nsecond = { type = 'string' }\n"
            .to_owned(),
        step("one", "say", "value = 'x'", "node = '${parameters.first}'"),
        step("two", "say", "value = { set = 'x', title = 'x of two' }", "node = '${parameters.second}'"),
        step("all", "say", "value = ['x', 'none']", "node = '${parameters.first}'"),
        step(
            "both",
            "say",
            "value = { name = 'x', left = '${one.value}', right = '${two.value}', text = 'x is ${one.value}' }",
            "",
        ),
        step("each", "say", "value = '${item}'", "map = '${all.value}'"),
        step("here", "say", "value = '${one.value}'", "node = '${parameters.first}'"),
    ]
    .concat();
    let mut begin = Begin::new("three.toml", text);
    begin.parameters.insert("first".to_owned(), first.url().into());
    begin.parameters.insert("second".to_owned(), second.url().into());
    let link = Client::new(None).unwrap().link(&format!("{}{WORKFLOWS}", near.url())).unwrap();
    let workflows = Reference::over(link).within(Duration::from_secs(3600));
    let ended = block_on(async {
        let run = workflows.call(begin).await.unwrap().run;
        workflows.call(Wait::for_run(run)).await.unwrap()
    });
    assert_eq!(ended.state, RunState::Done, "{:?}", ended.fault);
    let brought = |value: f64| format!("brought/{}/x", &table(value).checksum()[..16]);
    let expected = serde_json::json!({
        "both": { "name": "x", "left": brought(1.0), "right": { "set": brought(2.0), "title": "x of two" }, "text": "x is x" },
        "each": [brought(1.0), "none"],
        "here": "x",
    });
    assert_eq!(ended.output, expected);
    // The data set of that name here is as it was, and the others have their contents.
    for (name, value) in [("x".to_owned(), 0.0), (brought(1.0), 1.0), (brought(2.0), 2.0)] {
        assert_eq!(block_on(lehr_jobs::fetch(&near.datasets, &name)).unwrap(), table(value), "{name}");
    }
}

#[test]
fn data_that_cannot_be_brought_are_told_before_anything_is_done() {
    let (near, far) = (Served::new(), Served::new());
    block_on(far.datasets.drop_service()).unwrap();
    let more = format!("node = '{}'\nfetch = [{{ dataset = 'blocks' }}]", far.url());
    let text = ["name = 'two'\n".to_owned(), step("there", "say", "", &more)].concat();
    let workflows = near.node.host().reference::<lehr_workflow::WorkflowState>(WORKFLOWS).unwrap();
    let fault = block_on(workflows.call(Begin::new("two.toml", text))).unwrap_err();
    let expected = format!(
        "two.toml, line 7, steps.there.fetch[0]: expected data sets at {} (/datasets with lehr.datasets), found none",
        far.url()
    );
    assert!(fault.reason().contains(&expected), "{fault}");
    // If the node is not there when it is needed, the run ends.
    let far = Served::new();
    let more = format!("node = '{}'\nfetch = [{{ dataset = 'blocks' }}]", far.url());
    let text = ["name = 'two'\n".to_owned(), step("there", "say", "", &more)].concat();
    let ended = block_on(async {
        let run = workflows.call(Begin::new("two.toml", text)).await.unwrap().run;
        workflows.call(Wait::for_run(run)).await.unwrap()
    });
    assert_eq!((ended.state, ended.fault.unwrap().code()), (RunState::Failed, Code::UnknownEntry));
    assert!(far.bench.asked().is_empty());
}

#[test]
fn a_node_that_is_not_there_is_told_before_anything_is_done_and_one_that_goes_ends_the_run_until_it_comes_back() {
    let near = Served::new();
    let far = Served::new();
    let text = [
        "name = 'gone'\n[parameters]\ncompute = { type = 'string' }\n".to_owned(),
        step("here", "hold", "", ""),
        step("there", "say", "value = '${here.name}'", "node = '${parameters.compute}'"),
    ]
    .concat();
    let workflows = near.node.host().reference::<lehr_workflow::WorkflowState>(WORKFLOWS).unwrap();
    let mut begin = Begin::new("gone.toml", text);
    begin.parameters.insert("compute".to_owned(), far.url().into());
    let run = block_on(workflows.call(begin.clone())).unwrap().run;
    block_on(near.bench.log.receive()).unwrap();
    let address = far.node.address();
    let Served { node, .. } = far;
    block_on(node.shutdown(Duration::from_secs(3600)));
    near.bench.gate.post(()).unwrap();
    let ended = block_on(workflows.call(Wait::for_run(&run))).unwrap();
    assert_eq!((ended.state, ended.fault.map(|fault| fault.code())), (RunState::Failed, Some(Code::Unavailable)));

    let fault = block_on(workflows.call(begin)).unwrap_err();
    assert!(fault.reason().contains("steps.there.service: expected a service, found none"), "{fault}");
    assert!(fault.reason().contains("cannot be reached"), "{fault}");

    // Another node starts at the same address.
    let dispatcher = Dispatcher::new(2).unwrap();
    let host = Host::new(dispatcher.handle());
    let bench = Bench::new();
    let made = bench.clone();
    block_on(host.start("/bench", move || made.clone())).unwrap();
    let _node = Node::start(host, Settings { address, ..Settings::new() }).unwrap();
    block_on(workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    assert_eq!(block_on(workflows.call(Wait::for_run(&run))).unwrap().state, RunState::Done);
    assert_eq!((bench.asked(), near.bench.asked()), (vec!["there".to_owned()], vec![]));
}
