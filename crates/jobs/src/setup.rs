//! Sets up data sets and methods on a node: the folders for their data, and the services that can be created.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lehr_services::{Code, Contract, Fault, Host, Kind, Placement, Reference, Restart, in_words};
use lehr_sync::Arc;

use crate::datasets::{DatasetService, Datasets, Limits};
use crate::declared::{Declared, Fits};
use crate::jobs::Jobs;
use crate::method::{AnyMethod, Method};
use crate::methods;
use crate::neighbors::Neighbors;
use crate::predictions::{self, PredictionService, Predictions};
use crate::reports::Reports;
use crate::service::{MethodService, described};
use crate::settings::Settings;

/// A node's settings for data sets and methods.
///
/// # Example
/// ```
/// use lehr_jobs::Setup;
/// use lehr_methods::pairwise::Pairwise;
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let setup = Setup::default();
///     setup.start_datasets(&host, "/datasets").await?;
///     setup.start_declared(&host, "/pairwise", &Pairwise).await?;
///     assert!(host.paths().contains(&"/pairwise".to_owned()));
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The folder for all data. Default: none, so all data are lost when the process ends.
    pub keep: Option<PathBuf>,
    /// The folder whose files clients may open. Default: none.
    pub data_root: Option<PathBuf>,
    /// The settings for the jobs of the methods at these paths.
    pub settings: BTreeMap<String, Settings>,
    /// The limits of the services of predictions at these paths.
    pub predictions: BTreeMap<String, predictions::Settings>,
    /// The program that starts the processes of layouts, unless settings name another. Default: `mpiexec`.
    pub launcher: Option<PathBuf>,
}

impl Setup {
    /// Creates the folder of a service, and adds the file for its document to the placement, if data are kept on disk.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if the folder cannot be created.
    fn kept(&self, placement: Placement) -> Result<Placement, Fault> {
        // Check the path before it becomes the name of a folder.
        placement.check()?;
        let Some(folder) = self.folder(placement.path()) else { return Ok(placement) };
        std::fs::create_dir_all(&folder)
            .map_err(|error| Fault::new(Code::StartFailed, format!("the folder {}: {error}", folder.display())))?;
        Ok(placement.keep(folder.join("document.json")))
    }

    /// Returns the folder of the service at a path. A path has no `+`, so no two services share a folder, and no folder
    /// is inside another.
    fn folder(&self, path: &str) -> Option<PathBuf> {
        Some(self.keep.as_ref()?.join(path.trim_start_matches('/').replace('/', "+")))
    }

    /// Starts the service of data sets at a path or with a placement. The folder always comes from this setup.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if its folders cannot be used; [`Code::DuplicateEntry`] if the path is in use.
    ///
    /// # Example
    /// See [`Setup`].
    pub async fn start_datasets(&self, host: &Host, at: impl Into<Placement>) -> Result<Reference<Datasets>, Fault> {
        let placement = self.kept(at.into())?;
        let keep = self.folder(placement.path()).map(|folder| folder.join("contents"));
        let limits = Limits { keep, root: self.data_root.clone(), ..Limits::default() };
        // Report unusable folders here, before the first request.
        let service = DatasetService::new(limits)?;
        host.start(placement, move || service.clone()).await
    }

    /// Starts a service of predictions at a path or with a placement. The folder always comes from this setup.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if its folder or the data root cannot be used, or if there is no service of data
    /// sets. Returns [`Code::InvalidValue`] if its limits are invalid.
    ///
    /// # Example
    /// See [`Predictions`].
    pub async fn start_predictions(
        &self,
        host: &Host,
        at: impl Into<Placement>,
    ) -> Result<Reference<Predictions>, Fault> {
        let placement = self.kept(at.into())?;
        let settings = self.predictions.get(placement.path()).cloned().unwrap_or_default();
        let service = PredictionService::new(settings, self.data_root.clone())?;
        host.start(placement, move || service.clone()).await
    }

    /// Starts the service of a method at a path or with a placement. The folder always comes from this setup.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if its folder cannot be used, or if there is no service of data sets;
    /// [`Code::InvalidValue`] if its settings are invalid.
    ///
    /// # Example
    /// See [`Setup`].
    pub async fn start_method<M: Method>(
        &self,
        host: &Host,
        at: impl Into<Placement>,
        method: M,
    ) -> Result<Reference<Jobs>, Fault> {
        self.start_any(host, at.into(), Arc::new(method)).await
    }

    /// Starts the service of a method that `lehr-methods` declares, as [`start_method`](Self::start_method) does.
    ///
    /// # Errors
    /// Returns the errors of [`start_method`](Self::start_method).
    ///
    /// # Example
    /// ```
    /// # use lehr_jobs::{DatasetService, Setup};
    /// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// # let host = lehr_services::Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// host.start("/datasets", DatasetService::in_memory).await?;
    /// let gtm = Setup::default().start_declared(&host, "/gtm", &lehr_methods::gtm::Gtm).await?;
    /// assert_eq!(gtm.lookup().await?.contract.name, "lehr.gtm");
    /// # Ok::<(), lehr_services::Fault>(())
    /// # }).unwrap();
    /// ```
    pub async fn start_declared(
        &self,
        host: &Host,
        at: impl Into<Placement>,
        method: &'static dyn lehr_methods::Method,
    ) -> Result<Reference<Jobs>, Fault> {
        self.start_any(host, at.into(), Arc::new(Declared::of(method))).await
    }

    /// Starts the service of a declared method, and stores full results for the owner of the process: see [`Fits`].
    ///
    /// # Errors
    /// Returns the errors of [`start_method`](Self::start_method).
    pub async fn start_keeping(
        &self,
        host: &Host,
        at: impl Into<Placement>,
        method: &'static dyn lehr_methods::Method,
        fits: &Fits,
    ) -> Result<Reference<Jobs>, Fault> {
        self.start_any(host, at.into(), Arc::new(Declared::keeping(method, fits))).await
    }

    async fn start_any(
        &self,
        host: &Host,
        placement: Placement,
        method: Arc<dyn AnyMethod>,
    ) -> Result<Reference<Jobs>, Fault> {
        let mut settings = self.settings.get(placement.path()).cloned().unwrap_or_default();
        settings.check()?;
        if settings.layout.is_some() && settings.launcher.is_none() {
            settings.launcher.clone_from(&self.launcher);
        }
        let placement = self.kept(placement)?;
        let keep = self.folder(placement.path()).map(|folder| folder.join("checkpoints"));
        let speaks = method.clone();
        let describe = move |shared| described(&*speaks, shared);
        let make = move || MethodService::new(method.clone(), settings.clone(), keep.clone());
        host.start_as(placement, describe, make).await
    }

    /// Starts a service by the name of its contract: data sets, predictions, or one of the methods of this crate. Returns `false`
    /// for another contract.
    ///
    /// # Errors
    /// Returns the errors of [`start_datasets`](Self::start_datasets) and [`start_method`](Self::start_method).
    ///
    /// # Example
    /// ```
    /// # use lehr_jobs::Setup;
    /// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// # let host = lehr_services::Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// assert!(Setup::default().start(&host, "lehr.datasets", "/datasets").await?);
    /// assert!(!Setup::default().start(&host, "example.org/other", "/other").await?);
    /// # Ok::<(), lehr_services::Fault>(())
    /// # }).unwrap();
    /// ```
    pub async fn start(&self, host: &Host, contract: &str, at: impl Into<Placement>) -> Result<bool, Fault> {
        let at = at.into();
        if contract == Datasets::NAME {
            return self.start_datasets(host, at).await.map(|_| true);
        }
        if contract == Predictions::NAME {
            return self.start_predictions(host, at).await.map(|_| true);
        }
        match methods::named(contract) {
            Some(method) => self.start_any(host, at, method).await.map(|_| true),
            None => Ok(false),
        }
    }

    /// Lets [`Host::create`], manifests and workflows create these services by the names of their contracts, with this
    /// setup.
    ///
    /// A placement may set the partners, the settings, the cores (for handlers and jobs alike) and the number of
    /// waiting requests. This setup decides which state is kept. The services are not restarted after a crash, because
    /// jobs that started before the crash may still be computing.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Setup;
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let host = lehr_services::Host::new(dispatcher.handle());
    /// Setup::default().register(&host);
    /// lehr_runtime::block_on(async {
    ///     host.create("lehr.datasets", "/datasets").await?;
    ///     let heavy = lehr_services::Placement::at("/heavy").configuration(serde_json::json!({ "concurrency": 2 }));
    ///     assert_eq!(host.create("lehr.clustering", heavy).await?.contract.name, "lehr.clustering");
    ///     Ok::<(), lehr_services::Fault>(())
    /// })
    /// .unwrap();
    /// ```
    pub fn register(&self, host: &Host) {
        let fixed = || ["keep", "restart"].map(str::to_owned).to_vec();
        let datasets = Kind { configuration: None, partners: BTreeMap::new(), fixed: fixed() };
        let method = Kind {
            configuration: Some(Settings::schema_of_manifests()),
            partners: [("datasets".to_owned(), Datasets::NAME.to_owned())].into(),
            fixed: fixed(),
        };
        let predictions =
            Kind { configuration: Some(schemars::schema_for!(predictions::Settings).to_value()), ..method.clone() };
        host.register(Reports::default);
        host.register(Neighbors::default);
        for contract in Self::contracts() {
            let kind = match contract {
                Datasets::NAME => datasets.clone(),
                Predictions::NAME => predictions.clone(),
                _ => method.clone(),
            };
            let setup = self.clone();
            host.register_kind(contract, kind, move |host, placement| {
                let setup = setup.clone();
                Box::pin(async move { setup.make(&host, contract, placement).await })
            });
        }
    }

    async fn make(mut self, host: &Host, contract: &str, placement: Placement) -> Result<(), Fault> {
        if contract == Predictions::NAME {
            if let Some(told) = placement.told() {
                let settings = serde_json::from_value(told.clone())
                    .map_err(|error| Fault::new(Code::InvalidValue, in_words(&error.to_string())))?;
                self.predictions.insert(placement.path().to_owned(), settings);
            }
        } else if let Some(settings) = Settings::of_placement(&placement)? {
            self.settings.insert(placement.path().to_owned(), settings);
        }
        self.start(host, contract, placement.restart(Restart::Never)).await.map(|_| ())
    }

    /// Returns the contracts that [`start`](Self::start) knows.
    ///
    /// # Example
    /// ```
    /// for contract in ["lehr.datasets", "lehr.clustering", "lehr.mixture", "lehr.gtm", "lehr.kmedoids", "lehr.hierarchy", "lehr.hdbscan", "lehr.distances", "lehr.pairwise", "lehr.embedding", "lehr.predictions"] {
    ///     assert!(lehr_jobs::Setup::contracts().contains(&contract));
    /// }
    /// ```
    pub fn contracts() -> Vec<&'static str> {
        [Datasets::NAME, Predictions::NAME].into_iter().chain(methods::contracts()).collect()
    }
}
