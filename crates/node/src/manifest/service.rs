//! The service that applies manifests to a node.

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

/// The service that applies manifests, and remembers the services that they name.
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
    /// Creates the service for a node on a machine with this many cores, whose services keep their states below
    /// `folder`.
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
    /// Whether a manifest is being applied.
    pub is_applying: bool,
}

impl Contract for ManifestState {
    const NAME: &'static str = "lehr/manifest";
    const VERSION: Version = Version::new(1, 0);
}

/// The name and text of a manifest file, which the client reads and sends to the node.
///
/// # Example
/// See [`Manifests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ManifestText {
    /// The file's name in messages.
    pub file: String,
    /// The file's text.
    pub text: String,
}

/// Plans the changes that applying these manifests together would make. Changes nothing.
///
/// # Example
/// See [`Apply`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Submit, name = "review", reply = Plan)]
pub struct Review {
    /// The manifests.
    pub files: Vec<ManifestText>,
}

/// Makes the node run the services of these manifests together. If one cannot be started, the node undoes its changes
/// as far as it can. Replaced services then lose state that was not kept on disk. Ends services of earlier manifests
/// that these manifests do not name. Leaves alone services that no manifest ever named.
///
/// # Example
/// See [`Manifests`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Submit, name = "apply", reply = Plan)]
pub struct Apply {
    /// The manifests.
    pub files: Vec<ManifestText>,
}

/// Claims the right to apply a manifest. Only the node itself may call this operation.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ManifestState, verb = Update, name = "claim", reply = Claimed)]
struct Claim {}

/// The data needed to apply a manifest.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Claimed {
    services: BTreeMap<String, ServiceRecord>,
    folder: Option<PathBuf>,
    cores: usize,
}

/// Records the services of the manifests that are now applied. Only the node itself may call this operation.
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

/// Refuses calls by clients over the network edge, for operations that only the node itself may call.
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

// The handler is independent, because it calls its own service while it runs.
impl Independent<Apply> for Manifests {
    async fn handle(Apply { files }: Apply, call: &Call) -> Result<Plan, Fault> {
        let wanted = read(&files)?;
        let (host, own) = (call.host()?, call.own::<ManifestState>()?);
        let (reply, answer) = Reply::new();
        // A separate task applies the manifests, so that a client that leaves, or a deadline that passes, does not
        // leave them half applied.
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
