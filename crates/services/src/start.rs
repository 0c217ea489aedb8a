//! The incarnations of one service: each is created, prepared, run and ended, and perhaps followed by another.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_runtime::{
    Builder, Dispatcher, Handle, Handlers as Branches, Interleave, Reply, Settings, Snapshot, blocking,
};
use lehr_sync::Arc;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::contract::{Contract, Description, OperationDescription};
use crate::fault::{Code, Fault};
use crate::handlers::{Handlers, Held, port, text_of};
use crate::host::{Host, Occupant, WeakHost};
use crate::lifecycle::{Phase, Restarts, Stop};
use crate::main_port::{Ask, Local, MainPort, Whole};
use crate::measures::Measures;
use crate::partner::{Found, Need, find_partners};
use crate::placement::Placement;
use crate::reference::{Reference, State};
use crate::service::Service;
use crate::shared::{Shared, StopRequest};
use crate::store::Load;

/// The access of a service to its host, partners and configuration while it starts; see [`Service::start`].
///
/// # Example
/// See [`Partners`](crate::Partners).
pub struct Starting {
    host: Host,
    path: String,
    partners: Vec<(Need, Option<Found>)>,
    configuration: Option<Value>,
    cores: Vec<usize>,
    beginning: Beginning,
    shared: Arc<Shared>,
}

/// The origin of a service's document at the start.
///
/// # Example
/// See [`Starting::report`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The initial document, which is not kept on disk and is lost when the service ends.
    Volatile,
    /// The initial document, which will be kept on disk: no file existed.
    New,
    /// The document that an earlier incarnation kept.
    Kept,
    /// The kept document, restored from its copy: the file was damaged or gone.
    Restored,
    /// The initial document in the place of a kept one that is gone with its copy. Only services that
    /// [rebuild](crate::Service::rebuilds) their documents start like this.
    Lost,
}

/// Reports the problems that a service finds while it runs, such as a damaged file. Clones report for the same service.
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Loom { picks: u64 }
/// # impl Contract for Loom { const NAME: &'static str = "loom"; const VERSION: Version = Version::new(1, 0); }
/// # #[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
/// # #[operation(contract = Loom, verb = Query, name = "weave", reply = ())]
/// # struct Weave;
/// #[derive(Clone, Default)]
/// struct Weaver {
///     document: Loom,
///     reporter: Option<Reporter>,
/// }
/// # impl Service for Weaver {
/// #     type Document = Loom;
/// #     fn document(&self) -> &Loom { &self.document }
/// #     fn document_mut(&mut self) -> &mut Loom { &mut self.document }
/// #     fn handlers(on: &mut Handlers<Self>) { on.concurrent::<Weave>(); }
/// #     async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
/// #         self.reporter = Some(starting.reporter());
/// #         Ok(())
/// #     }
/// # }
/// impl Concurrent<Weave> for Weaver {
///     async fn handle(&self, _: Weave, _: &Call) -> Result<(), Fault> {
///         self.reporter.iter().for_each(|reporter| reporter.report("a thread is torn"));
///         Ok(())
///     }
/// }
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let loom = host.start("/loom", Weaver::default).await?;
/// loom.call(Weave).await?;
/// loom.call(Weave).await?;
/// assert_eq!(host.reports()["/loom"], ["a thread is torn"]);
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Reporter(Arc<Shared>);

impl Reporter {
    /// Reports a problem, unless it was reported before. The directory, `/ready` and the log show the text as long as the
    /// service lives.
    pub fn report(&self, text: impl Into<String>) {
        if self.0.report(text.into())
            && let Some(host) = self.0.host()
        {
            host.announce_reports(&self.0);
        }
    }
}

impl fmt::Debug for Starting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Starting")
            .field("path", &self.path)
            .field("partners", &self.partners)
            .finish_non_exhaustive()
    }
}

impl Starting {
    /// Returns the path that the service will have.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the configuration from the placement, if it has one.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the configuration is not a `C`.
    ///
    /// # Example
    /// See [`Placement::configuration`].
    pub fn configuration<C: DeserializeOwned>(&self) -> Result<Option<C>, Fault> {
        let told = self.configuration.clone().map(serde_json::from_value).transpose();
        told.map_err(|error| Fault::new(Code::InvalidValue, format!("the configuration of {}: {error}", self.path)))
    }

    /// Returns the cores that the placement reserves for the service; empty if it runs on the host's workers.
    pub fn cores(&self) -> &[usize] {
        &self.cores
    }

    /// Returns whether the document is kept on disk, so that a later incarnation begins with it, even in another
    /// process.
    pub fn is_kept(&self) -> bool {
        self.beginning != Beginning::Volatile
    }

    /// Returns the origin of the service's document at the start.
    pub fn beginning(&self) -> Beginning {
        self.beginning
    }

    /// Reports a problem that has been dealt with, such as unknown files. The service starts; the directory, `/ready`
    /// and the log show the text as long as the service lives.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::{Beginning, Fault, Starting};
    /// async fn start(starting: &Starting, strangers: usize) -> Result<(), Fault> {
    ///     // Without a document nobody can say whose files these are: keep them.
    ///     if starting.beginning() == Beginning::New && strangers > 0 {
    ///         starting.report(format!("{strangers} files without an owner were kept"));
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn report(&self, text: impl Into<String>) {
        self.shared.report(text.into());
    }

    /// Returns the value with which the service reports problems that it finds later.
    ///
    /// # Example
    /// See [`Reporter`].
    pub fn reporter(&self) -> Reporter {
        Reporter(self.shared.clone())
    }

    /// Returns the numbers that the service publishes in its node's metrics. The service keeps the returned value and
    /// sets the numbers in it.
    ///
    /// # Example
    /// See [`Measures`].
    pub fn measures(&self) -> Measures {
        self.shared.measures.clone()
    }

    /// Returns a reference to the service itself. Requests to the service wait until it is ready, so don't wait for an
    /// answer while it starts.
    ///
    /// # Errors
    /// Returns [`Code::ContractMismatch`] if `D` is not the service's document.
    pub fn own<D: Contract>(&self) -> Result<Reference<D>, Fault> {
        self.host.reference(&self.path)
    }

    /// Returns a partner that the service needs.
    ///
    /// # Errors
    /// Returns [`Code::StartFailed`] if the service has not declared a partner of this name, and
    /// [`Code::ContractMismatch`] if the partner has another contract.
    pub fn partner<D: Contract>(&self, name: &str) -> Result<Reference<D>, Fault> {
        let found = self.find_partner(name)?;
        found.ok_or_else(|| Fault::new(Code::StartFailed, format!("partner {name:?} of {} does not exist", self.path)))
    }

    /// Returns a partner if it exists.
    ///
    /// # Errors
    /// Fails as [`partner`](Self::partner) does.
    pub fn find_partner<D: Contract>(&self, name: &str) -> Result<Option<Reference<D>>, Fault> {
        let declared = self.partners.iter().find(|(need, _)| need.name == name);
        let Some((need, found)) = declared else {
            let reason = format!("{} has declared no partner {name:?}", self.path);
            return Err(Fault::new(Code::StartFailed, reason));
        };
        let reference = |found: &Found| match found {
            Found::Here(path) => self.host.reference::<D>(path),
            // The partner's contract was looked up before, and is the declared one.
            Found::There(link) if need.contract == D::NAME && need.version.major == D::VERSION.major => {
                Ok(Reference::linked(link.clone()))
            }
            Found::There(link) => {
                let (expected, version) = (need.contract, need.version);
                let reason = format!("{link:?} speaks {expected} {version}; {} {} is required", D::NAME, D::VERSION);
                Err(Fault::new(Code::ContractMismatch, reason))
            }
        };
        found.as_ref().map(|found| reference(found).map(Reference::into_partner)).transpose()
    }
}

/// The form of a service: how to create one, its handlers, and its description.
pub(crate) struct Form<S: Service> {
    /// The function that creates the service, called for each incarnation.
    pub(crate) make: Box<dyn Fn() -> S + Send + Sync>,
    pub(crate) handlers: Box<dyn Fn() -> Result<Handlers<S>, Fault> + Send + Sync>,
    pub(crate) describe: Box<dyn Fn(BTreeMap<String, OperationDescription>) -> Description + Send + Sync>,
}

impl<S: Service> Form<S> {
    /// Creates the form of a service from its types.
    pub(crate) fn of(make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self {
            make: Box::new(make),
            handlers: Box::new(Handlers::of_service),
            describe: Box::new(Description::of::<S::Document>),
        }
    }

    /// Changes the description of the form by `describe`.
    pub(crate) fn described(self, describe: impl Fn(Description) -> Description + Send + Sync + 'static) -> Self {
        let typed = self.describe;
        let describe = move |operations| {
            let Description { name, version, state, operations, .. } = describe(typed(operations));
            // This computes the hash of the changed description.
            Description::new(&name, version, state, operations)
        };
        Self { describe: Box::new(describe), ..self }
    }
}

/// Runs the incarnations of a service. `started` is answered when the first incarnation is ready, or has failed.
pub(crate) async fn supervise<S: Service>(
    host: WeakHost,
    placement: Placement,
    form: Form<S>,
    started: Reply<Result<Arc<Local>, Fault>>,
) {
    let path = placement.path.clone();
    let (mut started, mut restarts) = (Some(started), Restarts::default());
    // The service's own workers, for all its incarnations.
    let mut own: Option<Own> = None;
    loop {
        let Some(strong) = host.upgrade() else { return };
        let begun = match own_workers(&mut own, &strong, &placement) {
            Ok(workers) => begin(&strong, &placement, &form, &workers).await,
            Err(fault) => Err(fault),
        };
        // `life` is dropped at the end of this incarnation, after the interleave, which is declared later.
        let (life, interleave) = match begun {
            Ok(begun) => begun,
            Err(fault) => {
                let Some(started) = started.take() else {
                    if restarts.allow(placement.restart, strong.clock().now()) {
                        continue;
                    }
                    return give_up(&strong, &path, fault).await;
                };
                strong.vacate(&path);
                strong.withdraw(&path, Some(fault.clone())).await;
                let _ = started.answer(Err(fault));
                return;
            }
        };
        let local = life.0.clone();
        local.shared().set_phase(Phase::Ready);
        strong.occupy(&path, Occupant::Ready(local.clone()));
        announce(&strong, &local, Phase::Ready).await;
        if let Some(started) = started.take() {
            let _ = started.answer(Ok(local.clone()));
        }
        // The host may be dropped while the service runs.
        drop(strong);
        let _ = interleave.ended().await;
        drop(interleave);
        local.end();
        let (why, reply) = match local.shared().take_end() {
            Some(StopRequest { why, reply }) => (why, Some(reply)),
            None => (Stop::Shutdown, None),
        };
        let Some(strong) = host.upgrade() else { return };
        if let Stop::Crashed { message } = why {
            let fault =
                Fault::new(Code::StartFailed, "it has crashed too often").log(format!("{path} panicked: {message}"));
            if !restarts.allow(placement.restart, strong.clock().now()) {
                return give_up(&strong, &path, fault).await;
            }
            strong.occupy(&path, Occupant::Restarting);
            announce(&strong, &local, Phase::Restarting).await;
            continue;
        }
        if path != crate::directory::DIRECTORY {
            strong.withdraw(&path, None).await;
        }
        strong.vacate(&path);
        if let Some(reply) = reply {
            let _ = reply.answer(Ok(()));
        }
        return;
    }
}

/// The workers of a service on its own cores. A thread that may block ends them, because the workers must be joined and
/// the supervisor is a task, which must not block.
struct Own(Option<Dispatcher>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(workers) = self.0.take() {
            blocking("the workers of a service", move || drop(workers));
        }
    }
}

/// Returns the dispatcher for the handlers of a service.
fn own_workers(own: &mut Option<Own>, host: &Host, placement: &Placement) -> Result<Handle, Fault> {
    let cores = &placement.cores;
    if cores.is_empty() {
        return Ok(host.dispatcher().clone());
    }
    if own.is_none() {
        let builder = Builder::new().name(&placement.path).threads(cores.len()).cores(cores.iter().copied());
        let workers = builder.clock(host.clock().clone()).start().map_err(|error| {
            Fault::new(Code::StartFailed, format!("{} cannot have its cores: {error}", placement.path))
        })?;
        *own = Some(Own(Some(workers)));
    }
    let workers = own.as_ref().and_then(|own| own.0.as_ref()).map(Dispatcher::handle);
    Ok(workers.unwrap_or_else(|| host.dispatcher()).clone())
}

/// Sends a phase of the service to the directory. For the directory itself, the host's messenger sends the phase before
/// all other news.
async fn announce(host: &Host, local: &Local, phase: Phase) {
    if local.shared().path != crate::directory::DIRECTORY {
        host.announce(local, phase).await;
    }
}

async fn give_up(host: &Host, path: &str, fault: Fault) {
    host.occupy(path, Occupant::Failed(fault.clone()));
    host.withdraw(path, Some(fault)).await;
}

/// Begins one incarnation, up to the point where it handles requests.
async fn begin<S: Service>(
    host: &Host,
    placement: &Placement,
    form: &Form<S>,
    workers: &Handle,
) -> Result<(Gone, Interleave<Held<S>>), Fault> {
    let path = &placement.path;
    let failed = |fault: Fault| match fault.code() {
        Code::StartFailed => fault,
        _ => Fault::new(Code::StartFailed, format!("{path} cannot start")).caused_by(&fault),
    };
    let panicked = |payload: Box<dyn std::any::Any + Send>| {
        let log = format!("{path} panicked while it started: {}", text_of(payload.as_ref()));
        Fault::new(Code::StartFailed, format!("{path} cannot start")).log(log)
    };
    let handlers = (form.handlers)()?;
    let partners = find_partners::<S>(host, placement).await.map_err(failed)?;
    // Unwind safety: everything that a panic here could leave inconsistent is dropped.
    let mut service = catch_unwind(AssertUnwindSafe(&form.make)).map_err(panicked)?;

    let description = (form.describe)(handlers.describe());
    let shared = Arc::new(Shared::new(placement, host.next_incarnation(), description, host.weak()));
    let mut beginning = Beginning::Volatile;
    if let Some(store) = &shared.store {
        beginning = Beginning::New;
        match blocking("the state of a service", || store.load::<S::Document>())? {
            Load::New => {}
            Load::Lost(_) if S::rebuilds() => beginning = Beginning::Lost,
            Load::Lost(fault) => return Err(fault),
            Load::Kept(document) => {
                *service.document_mut() = document;
                beginning = Beginning::Kept;
            }
            Load::Restored(document, report) => {
                *service.document_mut() = document;
                beginning = Beginning::Restored;
                shared.report(report);
            }
        }
    }
    let mut settings = Settings::new().named(path.clone()).order(handlers.order).refuse_pending();
    if let Some(count) = handlers.max_concurrent {
        settings = settings.max_concurrent(count);
    }
    let is_permanent = handlers.is_permanent;
    let mut main = MainPort::default();
    let branches = handlers.install(&shared, placement.queue, Branches::new(), &mut main);
    let asks = port::<Ask<S::Document>>(&shared, "get", placement.queue);
    let (whole, last) = (shared.clone(), shared.clone());
    let branches = branches
        .concurrent(&asks, move |held: Snapshot<Held<S>>, ask: Ask<S::Document>| {
            answer_whole(&whole, held, ask);
            std::future::ready(())
        })
        .teardown(&shared.stop, |held: Held<S>, request: StopRequest| async move {
            last.set_phase(Phase::Stopping);
            let why = request.why.clone();
            // The request is stored before the author's code runs, because this code may panic.
            last.leave_end(request);
            held.service.stop(why).await;
        });
    let (incarnation, document) = (shared.incarnation, Whole::new(asks));
    let (held, told) = (shared.clone(), shared.clone());
    let local = Arc::new(Local::new::<S::Document>(shared, main, document.clone(), is_permanent));
    let unfinished = Gone(local.clone());
    host.occupy(path, Occupant::Starting(Some(local.clone())));
    announce(host, &local, Phase::Starting).await;

    let (configuration, cores) = (placement.configuration.clone(), placement.cores.clone());
    let starting =
        Starting { host: host.clone(), path: path.clone(), partners, configuration, cores, beginning, shared: told };
    let prepared = workers.spawn(async move {
        let prepared = service.start(&starting).await;
        (service, prepared)
    });
    let (service, prepared) = prepared.await.map_err(|error| {
        Fault::new(Code::StartFailed, format!("{path} cannot start")).log(format!("{path}, while it started: {error}"))
    })?;
    prepared.map_err(failed)?;
    let interleave = settings.start(workers, Held::new(service, held), branches);
    let shown = interleave.handle().clone();
    document.show(move || shown.glance().map(|held| State::of::<S>(held, incarnation)));
    Ok((unfinished, interleave))
}

/// Ends an incarnation when this value is dropped. Tasks that wait for the end, or ask later, learn that the
/// incarnation has ended.
struct Gone(Arc<Local>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Answers a request for the whole state. No change happens meanwhile.
fn answer_whole<S: Service>(shared: &Shared, held: Snapshot<Held<S>>, ask: Ask<S::Document>) {
    let state = State::of::<S>(held, shared.incarnation);
    // The request is counted first, so that the receiver of the answer sees the new count.
    shared.counters.handled.add(1);
    let _unwanted = match ask {
        Ask::Get(reply) => reply.answer(state),
        Ask::Subscribe(subscriber, reply) => {
            if subscriber.begin() {
                shared.publisher.add(subscriber);
            } else {
                subscriber.resume();
            }
            reply.answer(state)
        }
    };
}
