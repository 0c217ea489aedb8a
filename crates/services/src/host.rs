//! A host: the services of one process, by path. A host starts services, finds them, restarts them and ends them.
//!
//! A host has no network interface; the crate `lehr-node` adds one. A process may have several hosts, for example in
//! tests.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher};
use std::task::{Poll, Waker};
use std::time::Duration;

use lehr_runtime::{Clock, Context, Handle, Inspector, Port, Reply, Task};
use lehr_sync::{Arc, Mutex, Weak};
use serde_json::Value;

use crate::contract::{Contract, Description};
use crate::directory::{Announce, DIRECTORY, Directory, Record, Withdraw};
use crate::dynamic::{AnyDocument, Outline, Program};
use crate::endpoint::Endpoint;
use crate::fault::{Code, Fault};
use crate::info::Info;
use crate::lifecycle::{Phase, Stop};
use crate::link::{Link, Pending};
use crate::main_port::{Local, settled};
use crate::partner::Partners;
use crate::placement::{Placement, is_address};
use crate::reference::Reference;
use crate::service::Service;
use crate::shared::{Counts, Shared, StopRequest};
use crate::start::{Form, supervise};

/// The services of one process. Clones share the host; when the last clone is dropped, its services end at once.
///
/// # Example
/// See the page of the crate.
#[derive(Clone)]
pub struct Host {
    inner: Arc<Inner>,
}

/// A reference to a host that may have ended.
#[derive(Clone)]
pub(crate) struct WeakHost(Weak<Inner>);

impl fmt::Debug for WeakHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("WeakHost")
    }
}

impl WeakHost {
    pub(crate) fn upgrade(&self) -> Option<Host> {
        self.0.upgrade().map(|inner| Host { inner })
    }
}

type Constructor = Arc<dyn Fn(Host, Placement) -> Pending<'static, Result<(), Fault>> + Send + Sync>;

/// A function that makes a link to a service of another node.
type Reach = Arc<dyn Fn(&str) -> Result<Arc<dyn Link>, Fault> + Send + Sync>;

/// The facts about a kind of service that are needed to place a service of this kind.
///
/// # Example
/// See [`Host::kind`].
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The JSON schema of the configuration; `None` if the kind takes no configuration.
    pub configuration: Option<Value>,
    /// The names of the partners, with the contract of each.
    pub partners: BTreeMap<String, String>,
    /// Settings that the kind decides itself, and that a placement may not set: "queue", "restart", "keep", "cores".
    pub fixed: Vec<String>,
}

struct Inner {
    dispatcher: Handle,
    clock: Clock,
    inspector: Inspector,
    table: Mutex<Table>,
    /// The function that reaches services of other nodes; `None` if the host reaches no other nodes.
    reach: Mutex<Option<Reach>>,
    /// The news for the directory, in order. A sender may wait for the reply, which says that the directory has
    /// received the news.
    news: Port<(News, Reply<()>)>,
    /// The task that forwards the news.
    _messenger: Mutex<Option<Task<()>>>,
}

#[derive(Default)]
struct Table {
    places: BTreeMap<String, Slot>,
    constructors: BTreeMap<String, (Kind, Constructor)>,
    /// The tasks to wake when a service becomes ready or ends.
    waiting: Vec<Waker>,
    incarnation: u64,
    /// Whether the directory has received its own entry.
    is_listed: bool,
    is_closed: bool,
}

/// The service at a path.
struct Slot {
    what: Occupant,
    /// The position of the service's start among all starts; services end in the reverse order.
    order: u64,
    supervisor: Option<Task<()>>,
}

pub(crate) enum Occupant {
    /// The service is starting. If the service already has a port, requests wait there.
    Starting(Option<Arc<Local>>),
    Ready(Arc<Local>),
    Restarting,
    Failed(Fault),
}

enum News {
    Announce(Announce),
    Withdraw(Withdraw),
}

impl fmt::Debug for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Host").field("services", &self.paths()).finish_non_exhaustive()
    }
}

/// Returns a number that no other process is likely to have drawn.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The report on the shutdown of a host.
///
/// # Example
/// See [`Host::shutdown`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostReport {
    /// The services that have ended, in the order in which they ended.
    pub stopped: Vec<String>,
    /// The running services that did not end within the limit and were cut off. Services that were starting, restarting
    /// or failed are cut off too, but not listed.
    pub cut_off: Vec<String>,
}

impl Host {
    /// Creates a host with only its directory, on the workers and the clock of a dispatcher.
    ///
    /// # Example
    /// See the page of the crate.
    pub fn new(dispatcher: &Handle) -> Self {
        // Incarnations begin at a random number, so that they are unlikely to repeat after a restart of the process.
        // They are below 2^53, so that every JSON parser reads them exactly.
        let table = Table { incarnation: (random() >> 12) & !0xf_ffff, ..Table::default() };
        let inspector = Inspector::remembering(dispatcher.clock());
        inspector.watch_dispatcher("services", dispatcher);
        let inner = Arc::new(Inner {
            inspector,
            dispatcher: dispatcher.clone(),
            clock: dispatcher.clock().clone(),
            table: Mutex::new(table),
            reach: Mutex::default(),
            news: Port::named("news for the directory"),
            _messenger: Mutex::new(None),
        });
        let host = Self { inner };
        let reserved = host.reserve(DIRECTORY);
        debug_assert!(reserved.is_ok(), "a new host is empty");
        let (weak, news) = (host.weak(), host.inner.news.clone());
        let messenger = host.spawn("directory", async move { tell_directory(weak, news).await });
        *host.inner._messenger.lock() = Some(messenger);
        host
    }

    pub(crate) fn weak(&self) -> WeakHost {
        WeakHost(Arc::downgrade(&self.inner))
    }

    /// Returns the dispatcher whose workers run the services that have no cores of their own.
    pub fn dispatcher(&self) -> &Handle {
        &self.inner.dispatcher
    }

    pub(crate) fn inspector(&self) -> &Inspector {
        &self.inner.inspector
    }

    /// Returns the clock for deadlines, leases and restarts.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Spawns a task on the workers of the host, in its own context, so that the task outlives the request that started
    /// it. Dropping the returned handle ends the task.
    ///
    /// # Example
    /// ```
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = lehr_services::Host::new(dispatcher.handle());
    /// let (port, inbox) = (lehr_runtime::Port::new(), lehr_runtime::Port::new());
    /// # let outbox = port.clone();
    /// # inbox.post(()).unwrap();
    /// let task = host.spawn("errand", async move { inbox.receive().await.map(|()| outbox.post(7).unwrap()).unwrap() });
    /// assert_eq!(lehr_runtime::block_on(port.receive()), Ok(7));
    /// # drop(task);
    /// ```
    #[must_use = "dropping the task ends it"]
    pub fn spawn(&self, name: &str, future: impl Future<Output = ()> + Send + 'static) -> Task<()> {
        self.spawn_boxed(name, Box::pin(future))
    }

    /// Spawns a boxed future, so that the code of a task is compiled only once.
    fn spawn_boxed(&self, name: &str, future: Pending<'static, ()>) -> Task<()> {
        Context::named(name).detached().build().run(|| self.inner.dispatcher.spawn(future))
    }

    /// Waits until the directory answers and is itself listed. [`start`](Self::start) also waits until the directory is
    /// listed.
    ///
    /// # Example
    /// See [`Directory`].
    pub async fn ready(&self) {
        self.until(|host| (host.is_ready(DIRECTORY) && host.inner.table.lock().is_listed).then_some(())).await;
    }

    /// Starts a service and waits until it is ready. `make` is called for each incarnation.
    ///
    /// If you drop the future while it waits, the start continues.
    ///
    /// # Errors
    /// Returns [`Code::DuplicateEntry`] if the path is in use, and [`Code::InvalidValue`] if the placement is invalid.
    /// Returns [`Code::ServiceStopping`] if the host is shutting down. Returns [`Code::StartFailed`] with the reason if
    /// the start fails; then nothing of the service remains.
    pub async fn start<S: Service>(
        &self,
        placement: impl Into<Placement>,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<Reference<S::Document>, Fault> {
        self.launch(placement.into(), Form::of(make)).await
    }

    /// Starts a service whose contract is named at run time: `describe` changes the description that was derived from
    /// the types. In everything else, this method behaves like [`start`](Self::start).
    ///
    /// The document type should be [shared](Contract::IS_SHARED), so that references of its type also find the service
    /// through a link.
    ///
    /// # Errors
    /// Fails as [`start`](Self::start) does.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// // What an instrument shows, whichever it is.
    /// #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// struct Reading { value: f64 }
    ///
    /// impl Contract for Reading {
    ///     const NAME: &'static str = "example.org/reading";
    ///     const VERSION: Version = Version::new(1, 0);
    ///     const IS_SHARED: bool = true;
    /// }
    /// # impl Service for Reading {
    /// #     type Document = Self;
    /// #     fn document(&self) -> &Self { self }
    /// #     fn document_mut(&mut self) -> &mut Self { self }
    /// #     fn handlers(_: &mut Handlers<Self>) {}
    /// # }
    ///
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// let named = |name: &'static str| move |typed| Description { name: name.to_owned(), ..typed };
    /// host.start_as("/loom", named("example.org/loom"), Reading::default).await?;
    /// host.start_as("/kiln", named("example.org/kiln"), || Reading { value: 1200.0 }).await?;
    ///
    /// let kiln: Reference<Reading> = host.reference("/kiln")?;
    /// assert_eq!((kiln.lookup().await?.contract.name.as_str(), kiln.get().await?.value), ("example.org/kiln", 1200.0));
    /// assert!(kiln.of_contract("example.org/loom", Version::new(1, 0)).is_err());
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub async fn start_as<S: Service>(
        &self,
        placement: impl Into<Placement>,
        describe: impl Fn(Description) -> Description + Send + Sync + 'static,
        make: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<Reference<S::Document>, Fault> {
        self.launch(placement.into(), Form::of(make).described(describe)).await
    }

    /// Starts a service whose contract is known only at run time, and waits until it is ready. The service begins with
    /// this document, or with the document that was kept on disk.
    ///
    /// If you drop the future while it waits, the start continues.
    ///
    /// # Errors
    /// Fails as [`start`](Self::start) does.
    ///
    /// # Example
    /// See [`Outline`].
    pub async fn start_dynamic(
        &self,
        placement: impl Into<Placement>,
        outline: Outline,
        document: Value,
        program: impl Program,
    ) -> Result<Reference<AnyDocument>, Fault> {
        self.launch(placement.into(), outline.form(document, program)).await
    }

    async fn launch<S: Service>(&self, placement: Placement, form: Form<S>) -> Result<Reference<S::Document>, Fault> {
        placement.check()?;
        let path = placement.path.clone();
        let order = self.reserve(&path)?;
        let (started, answer) = Reply::new();
        let supervisor = self.spawn(&path, supervise::<S>(self.weak(), placement, form, started));
        {
            let mut table = self.inner.table.lock();
            match table.places.get_mut(&path) {
                Some(place) if place.order == order => place.supervisor = Some(supervisor),
                // The service has ended already.
                _ => supervisor.detach(),
            }
        }
        let local = settled(answer.await)?;
        Ok(Reference::local(local, self.weak()))
    }

    /// Registers a kind of service by the name of its contract, for [`create`](Self::create), partners and manifests.
    pub fn register<S: Service>(&self, make: impl Fn() -> S + Clone + Send + Sync + 'static) {
        let constructor = move |host: Host, placement: Placement| -> Pending<'static, Result<(), Fault>> {
            let make = make.clone();
            Box::pin(async move { host.start(placement, make).await.map(|_| ()) })
        };
        let mut needs = Partners::default();
        S::partners(&mut needs);
        let partners = needs.needs.iter().map(|need| (need.name.to_owned(), need.contract.to_owned())).collect();
        let kind = Kind { configuration: S::configuration(), partners, fixed: Vec::new() };
        let name = <S::Document as Contract>::NAME.to_owned();
        let _replaced = self.inner.table.lock().constructors.insert(name, (kind, Arc::new(constructor)));
    }

    /// Registers a function that starts services of a contract. The function gets the placement, for kinds that must
    /// know their path.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = Host::new(dispatcher.handle());
    /// let kind = Kind { configuration: None, partners: Default::default(), fixed: vec![] };
    /// host.register_kind("example.org/never", kind, |_, placement| {
    ///     Box::pin(async move { Err(Fault::new(Code::StartFailed, format!("nothing comes to {}", placement.path()))) })
    /// });
    /// assert_eq!(host.constructors(), ["example.org/never"]);
    /// ```
    pub fn register_kind(
        &self,
        contract: impl Into<String>,
        kind: Kind,
        make: impl Fn(Self, Placement) -> Pending<'static, Result<(), Fault>> + Send + Sync + 'static,
    ) {
        let _replaced = self.inner.table.lock().constructors.insert(contract.into(), (kind, Arc::new(make)));
    }

    /// Returns the facts for placing a service of this contract; `None` if no such kind is registered.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// assert_eq!(Host::new(dispatcher.handle()).kind("example.org/counter"), None);
    /// ```
    pub fn kind(&self, contract: &str) -> Option<Kind> {
        self.inner.table.lock().constructors.get(contract).map(|(kind, _)| kind.clone())
    }

    /// Creates a service of a kind that is [registered](Self::register).
    ///
    /// # Errors
    /// Returns [`Code::UnknownEntry`] if no kind has this contract. Otherwise fails as [`start`](Self::start) does.
    pub async fn create(&self, contract: &str, placement: impl Into<Placement>) -> Result<Info, Fault> {
        let placement = placement.into();
        let path = placement.path.clone();
        let constructor = self.inner.table.lock().constructors.get(contract).map(|(_, make)| make.clone());
        let constructor = constructor.ok_or_else(|| {
            Fault::new(Code::UnknownEntry, format!("no service with the contract {contract:?} can be made here"))
        })?;
        constructor(self.clone(), placement).await?;
        Ok(Info::of(&*self.find(&path)?))
    }

    /// Returns the contracts whose services can be created here.
    pub fn constructors(&self) -> Vec<String> {
        self.inner.table.lock().constructors.keys().cloned().collect()
    }

    /// Sets how this host reaches services of other nodes. From then on a partner may be [bound](Placement::bind) to an
    /// address, and [`reference`](Self::reference) accepts addresses. `link` is called with each address; the crate
    /// `lehr-node` has a client that makes links.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::{DIRECTORY, Directory, Fault, Host};
    /// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let (here, there) = (Host::new(dispatcher.handle()), Host::new(dispatcher.handle()));
    /// let far = there.clone();
    /// here.reach_by(move |address| far.endpoint(address.trim_start_matches("test://there")));
    /// # lehr_runtime::block_on(async {
    /// there.ready().await;
    /// let directory = here.reference::<Directory>(&format!("test://there{DIRECTORY}"))?;
    /// assert_eq!(directory.lookup().await?.path, DIRECTORY);
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub fn reach_by<L: Link + 'static>(&self, link: impl Fn(&str) -> Result<L, Fault> + Send + Sync + 'static) {
        let reach: Reach = Arc::new(move |address| link(address).map(|link| Arc::new(link) as Arc<dyn Link>));
        let before = self.inner.reach.lock().replace(reach);
        drop(before);
    }

    /// Returns a link to the service at an address. Nothing is sent yet.
    pub(crate) fn link(&self, address: &str) -> Result<Arc<dyn Link>, Fault> {
        let reach = self.inner.reach.lock().clone();
        let reach = reach.ok_or_else(|| {
            let reason = format!("this host reaches no other nodes, and {address} is a service of one");
            Fault::new(Code::InvalidValue, reason)
        })?;
        reach(address)
    }

    /// Returns a reference to the service at a path, or at an address of another node. Whether a service exists at the
    /// address shows only with the first request.
    ///
    /// # Errors
    /// Returns [`Code::UnknownService`] if no service has this path. Returns [`Code::Unavailable`] while the service
    /// looks for its partners or restarts. Once it prepares itself, requests wait. Returns [`Code::StartFailed`] if the
    /// service has failed for good, and [`Code::ContractMismatch`] if it has another contract. A contract with the same
    /// name and major version from another build is accepted; the requests are then encoded. Returns
    /// [`Code::InvalidValue`] for an invalid address, or if the host cannot reach [other nodes](Self::reach_by).
    pub fn reference<D: Contract>(&self, path: &str) -> Result<Reference<D>, Fault> {
        if is_address(path) {
            return self.link(path).map(Reference::linked);
        }
        let found = self.find(path)?;
        if !found.is_of::<D>() && !found.shared().description.speaks::<D>() {
            return Err(crate::main_port::other_contract::<D>(found.shared()));
        }
        Ok(Reference::local(found, self.weak()))
    }

    /// Returns the service at a path, for network edges.
    ///
    /// # Errors
    /// Fails as [`reference`](Self::reference) does.
    pub fn endpoint(&self, path: &str) -> Result<Endpoint, Fault> {
        Ok(Endpoint::new(self.find(path)?, self.weak()))
    }

    /// Returns the paths in use, sorted.
    pub fn paths(&self) -> Vec<String> {
        self.inner.table.lock().places.keys().cloned().collect()
    }

    /// Returns the counts of a service's requests.
    ///
    /// # Errors
    /// Fails as [`reference`](Self::reference) does.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// assert_eq!(host.counts("/nobody").unwrap_err().code(), Code::UnknownService);
    /// ```
    pub fn counts(&self, path: &str) -> Result<Counts, Fault> {
        self.find(path).map(|found| found.shared().counts())
    }

    /// Returns the phase of the service at a path; `None` if there is no service.
    pub fn phase(&self, path: &str) -> Option<Phase> {
        let table = self.inner.table.lock();
        table.places.get(path).map(|place| match &place.what {
            Occupant::Starting(_) => Phase::Starting,
            Occupant::Ready(local) => local.shared().phase(),
            Occupant::Restarting => Phase::Restarting,
            Occupant::Failed(_) => Phase::Failed,
        })
    }

    /// Returns the problems that services have reported, by path. The services work, but need attention.
    ///
    /// # Example
    /// See [`Starting::report`](crate::Starting::report).
    pub fn reports(&self) -> BTreeMap<String, Vec<String>> {
        let table = self.inner.table.lock();
        let reports = table.places.iter().filter_map(|(path, place)| match &place.what {
            Occupant::Ready(local) => Some((path.clone(), local.shared().reports())),
            Occupant::Starting(_) | Occupant::Restarting | Occupant::Failed(_) => None,
        });
        reports.filter(|(_, reports)| !reports.is_empty()).collect()
    }

    pub(crate) fn find(&self, path: &str) -> Result<Arc<Local>, Fault> {
        let table = self.inner.table.lock();
        let fault = match table.places.get(path).map(|place| &place.what) {
            Some(Occupant::Ready(local) | Occupant::Starting(Some(local))) => return Ok(local.clone()),
            Some(Occupant::Starting(None)) => Fault::new(Code::Unavailable, format!("{path} is starting")),
            Some(Occupant::Restarting) => Fault::new(Code::Unavailable, format!("{path} is restarting")),
            Some(Occupant::Failed(fault)) => Fault::new(Code::StartFailed, format!("{path} is down")).caused_by(fault),
            None => Fault::new(Code::UnknownService, format!("there is no service at {path}")),
        };
        drop(table);
        let may_pass = fault.code() == Code::Unavailable;
        Err(if may_pass { fault.retry_after(Duration::from_secs(1)) } else { fault }.here())
    }

    /// Returns the path of the first ready service with this contract.
    pub(crate) fn find_contract(&self, contract: &str) -> Option<String> {
        let table = self.inner.table.lock();
        let mut ready = table.places.iter().filter_map(|(path, place)| match &place.what {
            Occupant::Ready(local) => Some((path, local)),
            _ => None,
        });
        ready.find(|(_, local)| local.shared().description.name == contract).map(|(path, _)| path.clone())
    }

    pub(crate) fn is_ready(&self, path: &str) -> bool {
        let table = self.inner.table.lock();
        table.places.get(path).is_some_and(|place| matches!(place.what, Occupant::Ready(_)))
    }

    /// Waits until `found` returns something. Calls `found` again whenever a service has become ready or has ended.
    pub(crate) async fn until<T>(&self, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        poll_fn(|polling| {
            // The waker is registered before the check, so that no event is missed in between.
            self.inner.table.lock().waiting.push(polling.waker().clone());
            found(self).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Records that the directory has received its own entry, and wakes the waiters.
    fn list(&self) {
        let waiting = {
            let mut table = self.inner.table.lock();
            table.is_listed = true;
            std::mem::take(&mut table.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn reserve(&self, path: &str) -> Result<u64, Fault> {
        let mut table = self.inner.table.lock();
        if table.is_closed {
            return Err(Fault::new(Code::ServiceStopping, "the node is stopping").here());
        }
        // A failed service gives up its path.
        if table.places.get(path).is_some_and(|place| !matches!(place.what, Occupant::Failed(_))) {
            drop(table);
            return Err(Fault::new(Code::DuplicateEntry, format!("a service exists at {path}")).here());
        }
        table.incarnation += 1;
        let order = table.incarnation;
        let place = Slot { what: Occupant::Starting(None), order, supervisor: None };
        let _failed = table.places.insert(path.to_owned(), place);
        Ok(order)
    }

    /// Returns the number of the next incarnation.
    pub(crate) fn next_incarnation(&self) -> u64 {
        let mut table = self.inner.table.lock();
        table.incarnation += 1;
        table.incarnation
    }

    /// Replaces the occupant of a path, and wakes the tasks that wait for a service.
    pub(crate) fn occupy(&self, path: &str, what: Occupant) {
        let (waiting, _before) = {
            let mut table = self.inner.table.lock();
            let before = table.places.get_mut(path).map(|place| std::mem::replace(&mut place.what, what));
            (std::mem::take(&mut table.waiting), before)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Frees a path. The supervisor of the service calls this as its last step.
    pub(crate) fn vacate(&self, path: &str) {
        let (place, waiting) = {
            let mut table = self.inner.table.lock();
            (table.places.remove(path), std::mem::take(&mut table.waiting))
        };
        waiting.into_iter().for_each(Waker::wake);
        if let Some(supervisor) = place.and_then(|place| place.supervisor) {
            supervisor.detach();
        }
    }

    /// Sends the present record of a service to the directory, and waits until the directory has it.
    pub(crate) async fn announce(&self, local: &Local, phase: Phase) {
        let announce = Announce { path: local.shared().path.clone(), record: record(local, phase) };
        self.tell(News::Announce(announce)).await;
    }

    /// Sends the present record of a service to the directory, if the service is ready. Does not wait for the directory.
    pub(crate) fn announce_reports(&self, shared: &Shared) {
        let local = match self.inner.table.lock().places.get(&shared.path).map(|place| &place.what) {
            Some(Occupant::Ready(local)) if local.shared().incarnation == shared.incarnation => local.clone(),
            _ => return,
        };
        let announce = Announce { path: shared.path.clone(), record: record(&local, shared.phase()) };
        // The port refuses news only at the end of the host, when nobody uses the directory any more.
        let _unawaited = self.inner.news.ask(|reply| (News::Announce(announce), reply));
    }

    /// Tells the directory that a service has ended.
    pub(crate) async fn withdraw(&self, path: &str, fault: Option<Fault>) {
        self.tell(News::Withdraw(Withdraw { path: path.to_owned(), fault })).await;
    }

    async fn tell(&self, news: News) {
        // The port refuses news only at the end of the host, when nobody uses the directory any more.
        if let Ok(told) = self.inner.news.ask(|reply| (news, reply)) {
            let _ = told.await;
        }
    }

    /// Ends all services one after the other, the most recently started first and the directory last. From then on, the
    /// host accepts no new services.
    ///
    /// Returns when all services have ended, or after `limit` on the host's clock. Services that have not ended by then
    /// are cut off, which drops the futures of their handlers. The report names the services that were cut off.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// use std::time::Duration;
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = Host::new(dispatcher.handle());
    /// let report = lehr_runtime::block_on(host.shutdown(Duration::from_secs(60)));
    /// assert!(report.cut_off.is_empty());
    /// ```
    pub async fn shutdown(&self, limit: Duration) -> HostReport {
        let mut places: Vec<(u64, String)> = {
            let mut table = self.inner.table.lock();
            table.is_closed = true;
            let places = table.places.iter().filter(|(path, _)| *path != DIRECTORY);
            places.map(|(path, place)| (place.order, path.clone())).collect()
        };
        places.sort_unstable();
        let until = self.clock().now() + limit;
        let mut report = HostReport::default();
        for (_, path) in places.into_iter().rev() {
            let Ok(local) = self.find(&path) else {
                self.cut_off(&path);
                continue;
            };
            let asked = local.shared().stop.ask(|reply| StopRequest { why: Stop::Shutdown, reply });
            // The request is refused if the service is ending already; then the supervisor of the service removes it.
            let ended = async {
                match asked {
                    Ok(answer) => drop(answer.await),
                    Err(_) => self.gone(&path).await,
                }
            };
            let left = until.saturating_sub(self.clock().now());
            match self.clock().timeout(left, ended).await {
                Ok(()) => report.stopped.push(path),
                Err(_) => {
                    self.cut_off(&path);
                    report.cut_off.push(path);
                }
            }
        }
        // The directory has nothing to clean up, and receives news about the other services until the end.
        self.cut_off(DIRECTORY);
        report
    }

    /// Waits until a path is free.
    async fn gone(&self, path: &str) {
        self.until(|host| (!host.inner.table.lock().places.contains_key(path)).then_some(())).await;
    }

    /// Ends the service at a path at once: drops its supervisor, and thus its interleave and its ports.
    fn cut_off(&self, path: &str) {
        let place = self.inner.table.lock().places.remove(path);
        drop(place);
    }
}

/// Starts the directory, and then forwards the news to it one by one.
async fn tell_directory(host: WeakHost, news: Port<(News, Reply<()>)>) {
    let Some(strong) = host.upgrade() else { return };
    // The directory's own announcement waits in the port until the directory is ready.
    let (started, directory) = Reply::new();
    let placement = Placement::at(DIRECTORY).queue(usize::MAX >> 1);
    let supervisor = strong.spawn(DIRECTORY, supervise(host, placement, Form::of(Directory::default), started));
    if let Some(place) = strong.inner.table.lock().places.get_mut(DIRECTORY) {
        place.supervisor = Some(supervisor);
    }
    let weak = strong.weak();
    drop(strong);
    let Ok(Ok(directory)) = directory.await else { return };
    let itself = News::Announce(Announce { path: DIRECTORY.to_owned(), record: record(&directory, Phase::Ready) });
    let directory = Reference::<Directory>::local(directory, weak.clone());
    let (unread, _) = Reply::new();
    let mut next = Some((itself, unread));
    let mut host = Some(weak);
    while let Some((news_item, reply)) = next {
        // Two failures are expected: withdrawing a service that was never announced, and the end of the directory
        // itself.
        let _ = match news_item {
            News::Announce(announce) => directory.call(announce).await,
            News::Withdraw(withdraw) => directory.call(withdraw).await,
        };
        let _ = reply.answer(());
        // The first announcement is the directory's own.
        if let Some(host) = host.take().and_then(|host| host.upgrade()) {
            host.list();
        }
        next = news.receive().await.ok();
    }
}

/// Returns the record of a service for the directory.
fn record(local: &Local, phase: Phase) -> Record {
    let (shared, description) = (local.shared(), &local.shared().description);
    let (contract, version) = (description.name.clone(), description.version);
    Record { contract, version, incarnation: shared.incarnation, phase, reports: shared.reports() }
}
