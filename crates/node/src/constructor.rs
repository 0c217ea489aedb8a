//! The constructor: makes services of the kinds that its host knows, on request.

use std::collections::BTreeMap;

use lehr_services::{
    Call, Concurrent, Contract, Fault, Handlers, Operation, Placement, Service, Starting, Version, verb,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the constructor of a node stands.
pub const CONSTRUCTOR: &str = "/constructor";

/// The kinds of services that a node can make.
///
/// # Example
/// ```
/// use lehr_node::{CONSTRUCTOR, Constructor, Create, Records};
/// use lehr_services::{Contract, Fault, Host};
///
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// host.register(Records::default);
/// lehr_runtime::block_on(async {
///     let constructor = host.start(CONSTRUCTOR, Constructor::default).await?;
///     constructor.call(Create::new(Records::NAME, "/notes")).await?;
///     assert!(host.reference::<Records>("/notes").is_ok());
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Constructor {
    /// Their contracts, as they were when the node started.
    pub contracts: Vec<String>,
}

impl Contract for Constructor {
    const NAME: &'static str = "lehr/constructor";
    const VERSION: Version = Version::new(1, 0);
}

/// Makes a service. The answer is its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Create {
    /// The contract of the kind.
    pub contract: String,
    /// Where it is to stand.
    pub path: String,
    /// Which service stands for which of its partners.
    #[serde(default)]
    pub partners: BTreeMap<String, String>,
}

impl Create {
    /// A service of this kind at this path, with the partners that it finds by itself.
    ///
    /// # Example
    /// See [`Constructor`].
    pub fn new(contract: impl Into<String>, path: impl Into<String>) -> Self {
        Self { contract: contract.into(), path: path.into(), partners: BTreeMap::new() }
    }
}

impl Operation for Create {
    type Contract = Constructor;
    type Verb = verb::Submit;
    type Reply = String;
    const NAME: &'static str = "make";
}

impl Service for Constructor {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Create>().permanent();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.contracts = starting.host().constructors();
        Ok(())
    }
}

impl Concurrent<Create> for Constructor {
    async fn handle(&self, Create { contract, path, partners }: Create, call: &Call) -> Result<String, Fault> {
        let placement = partners.into_iter().fold(Placement::at(path), |place, (partner, at)| place.bind(partner, at));
        call.host()?.create(&contract, placement).await.map(|info| info.path)
    }
}
