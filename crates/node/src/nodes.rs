//! The other nodes that this node knows, with their services while their leases last.
//!
//! A node that knows the address of another node follows that node's directory, and asks it for a sign of life three
//! times per lease. Every answer renews the lease. A node that does not answer is *silent*. When the lease of a node
//! has expired, the node and its services are *gone*. When the node answers again, it is *up*, with its services at
//! that time. Times come from the host's clock, which never goes back. If the clock jumps, the node asks again before
//! it declares any lease expired.
//!
//! A node reports only facts that it has itself learnt from another node; there is no agreement between nodes. If the
//! network is partitioned, each side keeps its own nodes and loses the nodes of the other side.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use lehr_runtime::{Clock, Overflow, Port, Task};
use lehr_services::{
    Announce, Call, Code, Concurrent, Contract, DIRECTORY, Directory, End, Event, Exclusive, Fault, Handlers, Host,
    Operation, Phase, Record, Reference, Service, Starting, Stop, Subscribe, Subscription, Version, Withdraw,
};
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::client::{Client, HttpLink};

/// The path of the service that lists the known nodes.
pub const NODES: &str = "/nodes";

/// The maximum number of nodes that one node follows.
const NODES_MAX: usize = 256;

/// The number of times per lease that a node is asked for a sign of life.
const ASKED_IN_A_LEASE: u32 = 3;

/// The nodes that a node knows, by address.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nodes {
    /// The other nodes, by address.
    pub nodes: BTreeMap<String, Joined>,
}

/// The known facts about another node.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    /// Whether the node answers.
    pub reach: Reach,
    /// The node's services, by path; empty if the node is gone.
    pub services: BTreeMap<String, Record>,
    /// The reason why the node does not answer; `None` if it answers or was not yet asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

/// Whether a node answers.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The node has not answered yet.
    #[default]
    Joining,
    /// The node answers.
    Up,
    /// The node does not answer, but its lease has not expired.
    Silent,
    /// The node has not answered for longer than its lease.
    Gone,
}

impl Contract for Nodes {
    const NAME: &'static str = "lehr/nodes";
    const VERSION: Version = Version::new(1, 0);
}

/// Follows another node from now on. Returns the node's address in the form that the other operations take. Returns
/// [`Code::DuplicateEntry`] for a node that is followed already, and [`Code::InsufficientResources`] beyond 256 nodes.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Nodes, verb = Insert, name = "join", reply = String, key = address)]
pub struct Join {
    /// The address that the node listens on, `http://host:port` or `https://host:port`.
    pub address: String,
}

/// Stops following a node. Returns [`Code::UnknownEntry`] for a node that is not followed.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Nodes, verb = Delete, name = "leave", key = address)]
pub struct Leave {
    /// The address of the node.
    pub address: String,
}

/// Asks a node at once for a sign of life, instead of at its next turn. Returns [`Code::UnknownEntry`] for a node that
/// is not followed.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Nodes, verb = Submit, name = "refresh")]
pub struct Refresh {
    /// The address of the node.
    pub address: String,
}

/// Returns the addresses of all ready services with a contract. The services of this node come first, as paths. Then
/// come the services of other nodes whose leases have not expired, as URLs.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Nodes, verb = Query, name = "find", reply = Vec<String>)]
pub struct FindService {
    /// The contract's name.
    pub contract: String,
}

/// Records the latest facts about a node. Only this node itself may send this operation.
///
/// # Example
/// See [`Joining`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Nodes, verb = Upsert, name = "heard", key = address)]
pub struct Heard {
    /// The address of the node.
    pub address: String,
    /// The state of the node.
    pub node: Joined,
}

/// The service that follows other nodes.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_node::{Client, FindService, Join, Joining, NODES, Node, Settings};
/// use lehr_services::{Directory, Contract, Event, Fault, Host, Subscribe};
///
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let settings = || Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
/// let other = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let joining = Joining::new(Client::new(None)?, Duration::from_secs(30));
///     let nodes = host.start(NODES, move || joining.clone()).await?;
///     let mut changes = nodes.subscribe(Subscribe::default().operations(["heard"])).await.unwrap();
///     let address = nodes.call(Join { address: format!("http://{}", other.address()) }).await?;
///     while nodes.get().await?.nodes[&address].services.is_empty() {
///         changes.next().await.unwrap();
///     }
///     let found = nodes.call(FindService { contract: Directory::NAME.to_owned() }).await?;
///     assert_eq!(found, ["/directory".to_owned(), format!("{address}/directory")]);
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Joining {
    nodes: Nodes,
    client: Client,
    lease: Duration,
    advertised: Option<String>,
    followed: Arc<Mutex<BTreeMap<String, Followed>>>,
}

/// A node that is followed until this value is dropped.
#[derive(Debug)]
struct Followed {
    /// A message on this port makes the follower ask the node at once.
    turn: Port<()>,
    _task: Task<()>,
}

impl Joining {
    /// Creates a `Joining` that follows no node yet. The `Joining` reaches other nodes through `client`. A node that
    /// has not answered for the time `lease` counts as gone.
    ///
    /// # Panics
    /// Panics if `lease` is shorter than a millisecond.
    pub fn new(client: Client, lease: Duration) -> Self {
        assert!(lease >= Duration::from_millis(1), "a lease of {lease:?} has passed before it can be renewed");
        Self { nodes: Nodes::default(), client, lease, advertised: None, followed: Arc::default() }
    }

    /// Follows the node at this address from the start.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if `address` is not the address of a node; [`Code::DuplicateEntry`] if the node
    /// is named twice.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_node::{Client, Joining};
    /// let joining = || Joining::new(Client::new(None).unwrap(), Duration::from_secs(30));
    /// assert!(joining().with("http://127.0.0.1:8421").is_ok());
    /// assert!(joining().with("127.0.0.1").is_err());
    /// ```
    pub fn with(mut self, address: &str) -> Result<Self, Fault> {
        let (address, _) = self.link(address)?;
        if self.nodes.nodes.insert(address.clone(), Joined::default()).is_some() {
            return Err(Fault::new(Code::DuplicateEntry, format!("{address} is named twice")));
        }
        Ok(self)
    }

    /// Asks each node that this node follows to follow this node too, at this address. This node also follows nodes
    /// that have no service `/nodes` or that refuse the request.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if `address` is not the address of a node.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_node::{Client, Joining};
    /// let joining = || Joining::new(Client::new(None).unwrap(), Duration::from_secs(30));
    /// // Behind a proxy a node may stand under a path.
    /// assert!(joining().advertise("https://nodes.example/lehr").is_ok());
    /// assert!(joining().advertise("192.0.2.7").is_err());
    /// ```
    pub fn advertise(mut self, address: &str) -> Result<Self, Fault> {
        self.advertised = Some(self.link(address)?.0);
        Ok(self)
    }

    /// Returns the address of a node in canonical form, and the link to its directory.
    fn link(&self, address: &str) -> Result<(String, HttpLink), Fault> {
        // A path is the prefix under which a proxy has put the node.
        let address = self.client.link(address)?.address();
        let link = self.client.link(&format!("{address}{DIRECTORY}"))?;
        Ok((address, link))
    }

    /// Starts to follow a node.
    fn follow(&self, host: &Host, own: Reference<Nodes>, address: &str) -> Result<(), Fault> {
        let (address, link) = self.link(address)?;
        let turn = Port::builder().name(format!("turn of {address}")).capacity(1, Overflow::DropNewest).build();
        let back = match &self.advertised {
            Some(mine) => {
                let other = Reference::<Nodes>::over(self.client.link(&format!("{address}{NODES}"))?);
                Some((other, Join { address: mine.clone() }))
            }
            None => None,
        };
        let (clock, lease) = (host.clock().clone(), self.lease);
        let follower = Follower { own, address: address.clone(), link, back, clock, lease, turn: turn.clone() };
        let task = host.spawn(&format!("follow {address}"), follower.run());
        let before = self.followed.lock().insert(address, Followed { turn, _task: task });
        drop(before);
        Ok(())
    }
}

impl Service for Joining {
    type Document = Nodes;

    fn document(&self) -> &Nodes {
        &self.nodes
    }

    fn document_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Join>().exclusive::<Leave>().exclusive::<Heard>();
        on.concurrent::<Refresh>().concurrent::<FindService>().permanent();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        // The list comes from an earlier incarnation, possibly from disk, so the states in it no longer count.
        self.followed.lock().clear();
        for node in self.nodes.nodes.values_mut() {
            *node = Joined::default();
        }
        let own = starting.own::<Nodes>()?;
        self.nodes.nodes.keys().try_for_each(|address| self.follow(starting.host(), own.clone(), address))
    }

    async fn stop(self, _: Stop) {
        let followed = std::mem::take(&mut *self.followed.lock());
        drop(followed);
    }
}

fn unknown(address: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("{address} has not been joined"))
}

impl Exclusive<Join> for Joining {
    async fn handle(&mut self, Join { address }: Join, call: &Call) -> Result<String, Fault> {
        let (address, _) = self.link(&address)?;
        if self.nodes.nodes.contains_key(&address) {
            return Err(Fault::new(Code::DuplicateEntry, format!("{address} has been joined")));
        }
        if self.nodes.nodes.len() >= NODES_MAX {
            return Err(Fault::new(Code::InsufficientResources, format!("a node follows at most {NODES_MAX} others")));
        }
        self.follow(&call.host()?, call.own()?, &address)?;
        self.nodes.nodes.insert(address.clone(), Joined::default());
        Ok(address)
    }
}

impl Exclusive<Leave> for Joining {
    async fn handle(&mut self, Leave { address }: Leave, _: &Call) -> Result<(), Fault> {
        if self.nodes.nodes.remove(&address).is_none() {
            return Err(unknown(&address));
        }
        let followed = self.followed.lock().remove(&address);
        drop(followed);
        Ok(())
    }
}

impl Concurrent<Refresh> for Joining {
    async fn handle(&self, Refresh { address }: Refresh, _: &Call) -> Result<(), Fault> {
        let followed = self.followed.lock();
        let followed = followed.get(&address).ok_or_else(|| unknown(&address))?;
        // A message that is already waiting has the same effect.
        let _ = followed.turn.post(());
        Ok(())
    }
}

impl Concurrent<FindService> for Joining {
    async fn handle(&self, FindService { contract }: FindService, call: &Call) -> Result<Vec<String>, Fault> {
        let directory = call.host()?.reference::<Directory>(DIRECTORY)?.get().await?;
        let is_it = |record: &Record| record.contract == contract && record.phase == Phase::Ready;
        let here = directory.services.iter().filter(|(_, record)| is_it(record)).map(|(path, _)| path.clone());
        let there = self.nodes.nodes.iter().flat_map(|(address, node)| {
            let found = node.services.iter().filter(|(_, record)| is_it(record));
            found.map(move |(path, _)| format!("{address}{path}"))
        });
        Ok(here.chain(there).collect())
    }
}

impl Exclusive<Heard> for Joining {
    async fn handle(&mut self, Heard { address, node }: Heard, call: &Call) -> Result<(), Fault> {
        if let Some(caller) = call.caller() {
            let fault = Fault::new(Code::PermissionDenied, "what is heard of nodes is written by their node");
            return Err(fault.log(format!("asked by {caller}")));
        }
        match self.nodes.nodes.get_mut(&address) {
            Some(known) => {
                *known = node;
                Ok(())
            }
            None => Err(unknown(&address)),
        }
    }
}

/// Follows one node.
struct Follower {
    own: Reference<Nodes>,
    address: String,
    link: HttpLink,
    /// The other node's list of nodes, and the request that asks it to follow this node.
    back: Option<(Reference<Nodes>, Join)>,
    clock: Clock,
    lease: Duration,
    turn: Port<()>,
}

/// The event that came first.
enum First {
    Told(Box<Result<Event<Directory>, End>>),
    Turn,
}

impl Follower {
    async fn run(mut self) {
        let directory = Reference::<Directory>::over(self.link.clone());
        let mut node = Joined::default();
        let mut told = node.clone();
        let mut renewed = self.clock.now();
        loop {
            let asked = self.within(|| directory.subscribe(Subscribe::default())).await;
            let why = match asked {
                Ok(changes) => {
                    renewed = self.clock.now();
                    self.ask_back().await;
                    self.listen(&directory, changes, (&mut node, &mut told), &mut renewed).await
                }
                Err(fault) => fault,
            };
            // The current connection may be stuck, so the next attempt opens a new one.
            self.link.reconnect();
            let is_past = self.clock.now().saturating_sub(renewed) >= self.lease;
            node.reach = if is_past { Reach::Gone } else { Reach::Silent };
            node.fault = Some(why);
            if is_past {
                node.services.clear();
            }
            self.tell(&node, &mut told).await;
            self.wait_for_turn().await;
        }
    }

    /// Returns a third of the lease.
    fn period(&self) -> Duration {
        self.lease / ASKED_IN_A_LEASE
    }

    /// Calls the node, and waits up to one period for the answer.
    ///
    /// If the clock has advanced by much more than a period, the machine slept or the process was stopped. The node had
    /// no time to answer, so it is asked once more.
    async fn within<T, F: Future<Output = Result<T, Fault>>>(&self, ask: impl Fn() -> F) -> Result<T, Fault> {
        let began = self.clock.now();
        let answer = self.once(ask()).await;
        let has_jumped = self.clock.now().saturating_sub(began) >= 2 * self.period();
        match answer {
            Err(fault) if has_jumped && fault.code() == Code::ResponseTimeout => self.once(ask()).await,
            answer => answer,
        }
    }

    async fn once<T>(&self, asked: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let late = || Fault::new(Code::ResponseTimeout, format!("{} has not answered", self.address));
        self.clock.timeout(self.period(), asked).await.unwrap_or_else(|_| Err(late()))
    }

    /// Asks the other node to follow this node. The request is sent each time that this node has subscribed to the
    /// other node.
    async fn ask_back(&mut self) {
        if let Some((other, join)) = &self.back {
            // The other node may already follow this node, have no such service, or refuse.
            let _ = self.within(|| other.call(join.clone())).await;
        }
    }

    /// Follows the node's services until the node no longer answers; returns the reason.
    async fn listen(
        &self,
        directory: &Reference<Directory>,
        mut changes: Subscription<Directory>,
        (node, told_before): (&mut Joined, &mut Joined),
        renewed: &mut Duration,
    ) -> Fault {
        loop {
            match self.first(&mut changes).await {
                First::Turn => match self.within(|| directory.lookup()).await {
                    Ok(_) => *renewed = self.clock.now(),
                    Err(fault) => return fault,
                },
                First::Told(told) => match *told {
                    Ok(event) => {
                        *renewed = self.clock.now();
                        if apply(event, node) {
                            (node.reach, node.fault) = (Reach::Up, None);
                            self.tell(node, told_before).await;
                        }
                    }
                    Err(End::Lost(fault)) => return fault,
                    Err(end) => return Fault::new(Code::Unavailable, format!("{}: {end}", self.address)),
                },
            }
        }
    }

    /// Waits for the first event: a change, the next turn, or a request to ask at once.
    async fn first(&self, changes: &mut Subscription<Directory>) -> First {
        let (mut next, mut tick, mut wish) =
            (pin!(changes.next()), pin!(self.clock.sleep(self.period())), pin!(self.turn.receive()));
        poll_fn(|polling| {
            if let Poll::Ready(told) = next.as_mut().poll(polling) {
                return Poll::Ready(First::Told(Box::new(told)));
            }
            if tick.as_mut().poll(polling).is_ready() || wish.as_mut().poll(polling).is_ready() {
                return Poll::Ready(First::Turn);
            }
            Poll::Pending
        })
        .await
    }

    async fn wait_for_turn(&self) {
        let (mut tick, mut wish) = (pin!(self.clock.sleep(self.period())), pin!(self.turn.receive()));
        poll_fn(|polling| {
            let is_now = tick.as_mut().poll(polling).is_ready() || wish.as_mut().poll(polling).is_ready();
            if is_now { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Reports the node's state if it has changed since the last report.
    async fn tell(&self, node: &Joined, told: &mut Joined) {
        if node == told {
            return;
        }
        // The service refuses this if the node is no longer followed, or if the service stops. It then drops this task.
        let _ = self.own.call(Heard { address: self.address.clone(), node: node.clone() }).await;
        told.clone_from(node);
    }
}

/// Applies an event to the known state; returns whether it changed.
fn apply(event: Event<Directory>, node: &mut Joined) -> bool {
    match event {
        Event::Seed(seed) => node.services.clone_from(&seed.services),
        Event::Gap { .. } => return false,
        Event::Change(change) => {
            if let Ok(announced) = change.operation::<Announce>() {
                node.services.insert(announced.path.clone(), announced.record.clone());
            } else if let Ok(withdrawn) = change.operation::<Withdraw>() {
                node.services.remove(&withdrawn.path);
            }
        }
    }
    true
}
