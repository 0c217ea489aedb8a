//! Steps on another node, and data sets that are brought there.

use std::time::Duration;

use lehr_node::{Client, Node, Settings};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{Call, Code, Concurrent, Contract, Fault, Handlers, Host, Operation, Service, Version, verb};
use lehr_workflow::{Begin, Resume, RunState, WORKFLOWS, Wait, Workflows};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bench::{Bench, step};

/// What `/datasets` is to a workflow: tables by name, whatever a table is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Tables {}

impl Contract for Tables {
    const NAME: &'static str = "example.org/tables";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Take {
    name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Put {
    name: String,
    replace: bool,
    table: Vec<f64>,
}

impl Operation for Take {
    type Contract = Tables;
    type Verb = verb::Query;
    type Reply = Vec<f64>;
    const NAME: &'static str = "take";
}

impl Operation for Put {
    type Contract = Tables;
    type Verb = verb::Submit;
    type Reply = usize;
    const NAME: &'static str = "put";
}

#[derive(Clone)]
struct TableService {
    document: Tables,
    kept: lehr_runtime::Port<(String, Vec<f64>)>,
}

impl Service for TableService {
    type Document = Tables;

    fn document(&self) -> &Tables {
        &self.document
    }

    fn document_mut(&mut self) -> &mut Tables {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Take>().concurrent::<Put>();
    }
}

impl Concurrent<Take> for TableService {
    async fn handle(&self, Take { name }: Take, _: &Call) -> Result<Vec<f64>, Fault> {
        match self.kept.try_receive() {
            Some((found, table)) if found == name => Ok(table),
            _ => Err(Fault::new(Code::UnknownEntry, format!("no data set {name:?}"))),
        }
    }
}

impl Concurrent<Put> for TableService {
    async fn handle(&self, Put { name, replace, table }: Put, _: &Call) -> Result<usize, Fault> {
        assert!(replace);
        let rows = table.len();
        self.kept.post((name, table)).unwrap();
        Ok(rows)
    }
}

/// A node with a bench and tables.
struct Served {
    node: Node,
    bench: Bench,
    tables: TableService,
    _dispatcher: Dispatcher,
}

impl Served {
    fn new() -> Self {
        let dispatcher = Dispatcher::new(2).unwrap();
        let host = Host::new(dispatcher.handle());
        let (bench, tables) = (Bench::new(), TableService { document: Tables {}, kept: lehr_runtime::Port::new() });
        block_on(async {
            let (made, kept, client) = (bench.clone(), tables.clone(), Client::new(None).unwrap());
            host.start("/bench", move || made.clone()).await.unwrap();
            host.start("/datasets", move || kept.clone()).await.unwrap();
            host.start(WORKFLOWS, move || Workflows::new(Some(client.clone()))).await.unwrap();
        });
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        Self { node: Node::start(host, settings).unwrap(), bench, tables, _dispatcher: dispatcher }
    }

    fn url(&self) -> String {
        format!("http://{}", self.node.address())
    }
}

#[test]
fn a_step_on_another_node_takes_its_data_along() {
    let (near, far) = (Served::new(), Served::new());
    let table = vec![0.5, f64::MIN_POSITIVE, -1e300];
    near.tables.kept.post(("blocks/2020".to_owned(), table.clone())).unwrap();
    let more = "node = '${parameters.compute}'\nfetch = [{ dataset = '${here.name}/2020' }]";
    let text = [
        "name = 'two'\noutput = '${there.value}'\n[parameters]\ncompute = { type = 'string' }\n".to_owned(),
        "[steps.here]\nservice = '/bench'\noperation = 'say'\nwith = { name = 'blocks' }\n".to_owned(),
        step("there", "say", "value = 'done with ${here.name}'", more),
    ]
    .concat();
    let mut begin = Begin::new("two.toml", text);
    begin.parameters.insert("compute".to_owned(), far.url().into());
    // Asked over HTTP as well.
    let link = Client::new(None).unwrap().link(&format!("{}{WORKFLOWS}", near.url())).unwrap();
    let workflows = lehr_services::Reference::over(link).within(Duration::from_secs(3600));
    let ended = block_on(async {
        let run = workflows.call(begin).await.unwrap().run;
        workflows.call(Wait::for_run(run)).await.unwrap()
    });
    assert_eq!((ended.state, ended.output), (RunState::Done, "done with blocks".into()), "{:?}", ended.fault);
    assert_eq!((near.bench.asked(), far.bench.asked()), (vec!["blocks".to_owned()], vec!["there".to_owned()]));
    assert_eq!(far.tables.kept.try_receive(), Some(("blocks/2020".to_owned(), table)));
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

    // The same address, another node.
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
