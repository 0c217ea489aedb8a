//! The service through which a node is given a manifest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lehr_runtime::Reply;
use lehr_services::{
    Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Independent, Operation, Reference, Service,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Plan, Setting};
use super::{Manifest, ServiceRecord, apply};

/// The path of the service that takes manifests.
pub const MANIFEST: &str = "/manifest";

/// The services that a node runs by its manifests.
///
/// # Example
/// ```
/// use lehr_node::Records;
/// use lehr_node::manifest::{Apply, MANIFEST, ManifestText, Manifests};
/// use lehr_services::{Fault, Host};
///
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// host.register(Records::default);
/// lehr_runtime::block_on(async {
///     let manifests = host.start(MANIFEST, Manifests::default).await?;
///     let text = "[services.\"/notes\"]\ncontract = 'lehr/records'".to_owned();
///     let plan = manifests.call(Apply { files: vec![ManifestText { file: "node.toml".to_owned(), text }] }).await?;
///     assert_eq!(plan.changes.len(), 1);
///     assert!(host.phase("/notes").is_some());
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Manifests {
    document: ManifestState,
    folder: Option<PathBuf>,
    cores: usize,
}

impl Manifests {
    /// A node whose services keep their states below `folder`, on a machine with this many cores.
    ///
    /// # Example
    /// See [`Manifests`].
    pub fn new(folder: Option<PathBuf>, cores: usize) -> Self {
        Self { document: ManifestState::default(), folder, cores }
    }
}

/// The document of [`Manifests`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestState {
    /// The services of the manifest that was applied last, by path.
    pub services: BTreeMap<String, ServiceRecord>,
    /// Whether another is being applied.
    pub is_applying: bool,
}

impl Contract for ManifestState {
    const NAME: &'static str = "lehr/manifest";
    const VERSION: Version = Version::new(1, 0);
}

/// A manifest file, for a node that cannot read it itself.
///
/// # Example
/// See [`Manifests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestText {
    /// Its name in messages.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// Plans the changes if these manifests were applied together. Nothing happens.
///
/// # Example
/// See [`Apply`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Submit, name = "review", reply = Plan)]
pub struct Review {
    /// The manifests.
    pub files: Vec<ManifestText>,
}

/// Makes the node run the services of these manifests together, or changes nothing. Services of earlier manifests that they do not name are ended; services
/// that no manifest ever named are left alone.
///
/// # Example
/// See [`Manifests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Submit, name = "apply", reply = Plan)]
pub struct Apply {
    /// The manifests.
    pub files: Vec<ManifestText>,
}

/// Claims the right to apply a manifest. The operation is the node's own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Update, name = "claim", reply = Claimed)]
struct Claim {}

/// The facts for applying a manifest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Claimed {
    services: BTreeMap<String, ServiceRecord>,
    folder: Option<PathBuf>,
    cores: usize,
}

/// Records the manifests applied now. The operation is the node's own.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Update, name = "note")]
struct Note {
    services: BTreeMap<String, ServiceRecord>,
}

impl Service for Manifests {
    type Document = ManifestState;

    fn document(&self) -> &ManifestState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut ManifestState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Review>().independent::<Apply>().exclusive::<Claim>().exclusive::<Note>().permanent();
    }
}

/// Clients over the edge cannot call the node's own operations.
fn of_the_node(call: &Call) -> Result<(), Fault> {
    match call.caller() {
        None => Ok(()),
        Some(_) => Err(Fault::new(Code::PermissionDenied, "the node alone says what is applied; send it a manifest")),
    }
}

impl Exclusive<Claim> for Manifests {
    async fn handle(&mut self, _: Claim, call: &Call) -> Result<Claimed, Fault> {
        of_the_node(call)?;
        if self.document.is_applying {
            let fault = Fault::new(Code::Unavailable, "another manifest is being applied");
            return Err(fault.retry_after(std::time::Duration::from_secs(1)));
        }
        self.document.is_applying = true;
        let (services, folder) = (self.document.services.clone(), self.folder.clone());
        Ok(Claimed { services, folder, cores: self.cores })
    }
}

impl Exclusive<Note> for Manifests {
    async fn handle(&mut self, Note { services }: Note, call: &Call) -> Result<(), Fault> {
        of_the_node(call)?;
        self.document = ManifestState { services, is_applying: false };
        Ok(())
    }
}

fn read(files: &[ManifestText]) -> Result<Manifest, Fault> {
    let (mut read, mut findings) = (Vec::new(), super::Findings::default());
    for ManifestText { file, text } in files {
        match Manifest::read(file, text) {
            Ok(manifest) => read.push(manifest),
            Err(found) => findings.extend(found),
        }
    }
    findings.into_result()?;
    Ok(Manifest::merge(read)?)
}

fn plan(host: &Host, wanted: &Manifest, applied: &Manifest, keeps: bool, cores: usize) -> Result<Plan, Fault> {
    let running = host.paths().into_iter().filter_map(|path| {
        let contract = host.endpoint(&path).ok()?.contract().to_owned();
        Some((path, contract))
    });
    let setting = Setting {
        kind: &|contract| host.kind(contract),
        contracts: host.constructors(),
        running: running.collect(),
        cores: cores.max(1),
        keeps,
    };
    Ok(Plan::new(wanted, applied, &setting)?)
}

impl Concurrent<Review> for Manifests {
    async fn handle(&self, Review { files }: Review, call: &Call) -> Result<Plan, Fault> {
        let applied = Manifest::new(self.document.services.clone());
        plan(&call.host()?, &read(&files)?, &applied, self.folder.is_some(), self.cores)
    }
}

// Independent: it asks its own service for changes while it goes on.
impl Independent<Apply> for Manifests {
    async fn handle(Apply { files }: Apply, call: &Call) -> Result<Plan, Fault> {
        let wanted = read(&files)?;
        let (host, own) = (call.host()?, call.own::<ManifestState>()?);
        let (reply, answer) = Reply::new();
        // A task of its own: a client that goes away, or a deadline that passes, must not leave a group half applied.
        let dispatcher = host.dispatcher().clone();
        let task = async move {
            let _unheard = reply.answer(apply_claimed(&host, &own, wanted).await);
        };
        lehr_runtime::Context::named("apply a manifest").detached().build().run(|| dispatcher.spawn(task)).detach();
        answer.await?
    }
}

async fn apply_claimed(host: &Host, own: &Reference<ManifestState>, wanted: Manifest) -> Result<Plan, Fault> {
    let Claimed { services, folder, cores } = own.call(Claim {}).await?;
    let before = Manifest::new(services);
    let applied = match plan(host, &wanted, &before, folder.is_some(), cores) {
        Ok(plan) => apply(host, &plan, &wanted, &before, folder.as_deref()).await.map(|()| plan),
        Err(fault) => Err(fault),
    };
    let now = if applied.is_ok() { &wanted } else { &before };
    own.call(Note { services: now.services().clone() }).await?;
    applied
}
