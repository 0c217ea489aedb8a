//! The constructor: creates services of the kinds that its host knows, on request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Placement, Restart, Service, Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path of a node's constructor.
pub const CONSTRUCTOR: &str = "/constructor";

/// The kinds of services that a node can create.
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
    /// The contracts of the kinds that the node could create when it started.
    pub contracts: Vec<String>,
    /// The folder for the documents of the services that the constructor creates.
    #[serde(skip)]
    folder: Option<PathBuf>,
    /// Whether to restart a service after a crash.
    #[serde(skip)]
    restart: Restart,
}

impl Constructor {
    /// Creates a constructor that restarts its services after a crash, as `restart` says. If a folder is given, the
    /// document of each new service is kept in a file of the folder, which is created if necessary. The next service
    /// with the same path starts from this document.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the folder cannot be created.
    ///
    /// # Example
    /// ```
    /// use lehr_node::{CONSTRUCTOR, Constructor, Create, Insert, Records};
    /// use lehr_services::{Contract, Fault, Host, Restart};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let folder = folder.path().to_owned();
    /// for life in 0..2 {
    ///     let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    ///     let host = Host::new(dispatcher.handle());
    ///     host.register(Records::default);
    ///     let constructor = Constructor::new(Some(folder.clone()), Restart::Never)?;
    ///     lehr_runtime::block_on(async {
    ///         let constructor = host.start(CONSTRUCTOR, move || constructor.clone()).await?;
    ///         constructor.call(Create::new(Records::NAME, "/notes")).await?;
    ///         let notes = host.reference::<Records>("/notes")?;
    ///         assert_eq!(notes.get().await?.records.len(), life);
    ///         notes.call(Insert { key: format!("life {life}"), value: true.into() }).await
    ///     })?;
    /// }
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn new(folder: Option<PathBuf>, restart: Restart) -> Result<Self, Fault> {
        if let Some(folder) = &folder {
            let refuse = |error| Fault::new(Code::InsufficientResources, format!("{}: {error}", folder.display()));
            std::fs::create_dir_all(folder).map_err(refuse)?;
        }
        Ok(Self { contracts: Vec::new(), folder, restart })
    }
}

/// Returns the file of a service. Paths contain no `+`, so no two services share a file.
fn file(folder: &Path, path: &str) -> PathBuf {
    folder.join(format!("{}.json", path.trim_start_matches('/').replace('/', "+")))
}

impl Contract for Constructor {
    const NAME: &'static str = "lehr/constructor";
    const VERSION: Version = Version::new(1, 0);
}

/// Creates a service. Returns its path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Constructor, verb = Submit, name = "make", reply = String)]
pub struct Create {
    /// The contract of the service's kind.
    pub contract: String,
    /// The path of the new service.
    #[schemars(extend("pattern" = r"^(/\.*[a-z0-9_-][a-z0-9._-]*)+$", "maxLength" = 200))]
    pub path: String,
    /// The services to use as partners, by the partner's name: a path, or an address on another node
    /// (http://node:8420/notes).
    #[serde(default)]
    pub partners: BTreeMap<String, String>,
}

impl Create {
    /// Requests a service of this kind at this path, which finds its partners itself.
    ///
    /// # Example
    /// See [`Constructor`].
    pub fn new(contract: impl Into<String>, path: impl Into<String>) -> Self {
        Self { contract: contract.into(), path: path.into(), partners: BTreeMap::new() }
    }
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
        let place = Placement::at(&path).restart(self.restart);
        // The path is checked before it becomes the name of a file.
        place.check()?;
        let place = match &self.folder {
            Some(folder) => place.keep(file(folder, &path)),
            None => place,
        };
        let placement = partners.into_iter().fold(place, |place, (partner, at)| place.bind(partner, at));
        call.host()?.create(&contract, placement).await.map(|info| info.path)
    }
}
