//! The other services that a service needs, and how they are found.

use std::fmt;
use std::time::Duration;

use lehr_sync::Arc;

use crate::contract::{Contract, Description, Version};
use crate::fault::{Code, Fault};
use crate::host::Host;
use crate::info::Info;
use crate::lifecycle::Phase;
use crate::link::{Link, Options};
use crate::placement::{Placement, is_address};
use crate::service::Service;

/// The pause before the host looks again for a missing partner on another node. The pause doubles each time, from the
/// first value up to the second.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The partners that a service needs, each with its own name; see [`Service::partners`](crate::Service::partners).
///
/// A binding in the placement overrides these settings, and may name a service of another node. A partner is found
/// again after it has been restarted, or when its node comes back. While a partner is away, requests to it fail with
/// [`Code::Unavailable`](crate::Code).
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Note { text: String }
/// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Diary { pages: u32 }
/// # impl Contract for Diary { const NAME: &'static str = "example.org/diary"; const VERSION: Version = Version::new(1, 0); }
/// #[derive(Clone)]
/// struct Writer {
///     diary: Diary,
///     note: Option<Reference<Note>>,
/// }
///
/// impl Service for Writer {
///     type Document = Diary;
///     fn document(&self) -> &Diary { &self.diary }
///     fn document_mut(&mut self) -> &mut Diary { &mut self.diary }
///     fn handlers(_: &mut Handlers<Self>) {}
///     fn partners(needs: &mut Partners) {
///         needs.existing::<Note>("note").optional();
///     }
///     async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
///         self.note = starting.find_partner("note")?;
///         Ok(())
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct Partners {
    pub(crate) needs: Vec<Need>,
}

/// One partner that a service needs.
///
/// # Example
/// See [`Partners`].
#[derive(Clone, Copy)]
pub struct Need {
    pub(crate) name: &'static str,
    pub(crate) contract: &'static str,
    pub(crate) version: Version,
    /// Returns whether a service with this description is suitable.
    speaks: fn(&Description) -> bool,
    pub(crate) policy: Policy,
    pub(crate) is_optional: bool,
}

impl fmt::Debug for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Need")
            .field("name", &self.name)
            .field("contract", &self.contract)
            .finish_non_exhaustive()
    }
}

/// The way in which the host finds or creates a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// An existing service; if there are several, the service whose path comes first.
    Existing,
    /// An existing service, or else a new one.
    ExistingOrCreate,
    /// A new service in every case, used only by this service.
    Create,
    /// The service that the placement names.
    Bound,
}

impl Partners {
    /// Uses an existing service; if there are several, the service whose path comes first. If there is none, the start
    /// waits for one, at most for the time that [`Placement::patience`](crate::Placement::patience) sets.
    pub fn existing<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Existing)
    }

    /// Uses an existing service, or else creates one below the path of this service.
    pub fn existing_or_create<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::ExistingOrCreate)
    }

    /// Creates a service below the path of this service, unless the placement binds this partner. The host must know
    /// its kind. It does not end with this service, so a later start at the same path fails.
    pub fn create<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Create)
    }

    /// Uses the service that the placement names ([`Placement::bind`](crate::Placement::bind)), here or on another
    /// node.
    pub fn bound<D: Contract>(&mut self, name: &'static str) -> &mut Need {
        self.add::<D>(name, Policy::Bound)
    }

    fn add<D: Contract>(&mut self, name: &'static str, policy: Policy) -> &mut Need {
        let index = self.needs.len();
        let speaks = Description::speaks::<D>;
        self.needs.push(Need { name, contract: D::NAME, version: D::VERSION, speaks, policy, is_optional: false });
        &mut self.needs[index]
    }
}

impl Need {
    /// Lets the service start without this partner.
    pub fn optional(&mut self) -> &mut Self {
        self.is_optional = true;
        self
    }
}

/// The place where a partner was found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// The partner is at a path of this host.
    Here(String),
    /// The partner is on another node.
    There(Arc<dyn Link>),
}

/// Finds or creates each partner that the service needs.
pub(crate) async fn find_partners<S: Service>(
    host: &Host,
    placement: &Placement,
) -> Result<Vec<(Need, Option<Found>)>, Fault> {
    let contract = <S::Document as Contract>::NAME;
    if let Some(first) = placement.made_for.iter().position(|name| name == contract) {
        let mut circle = placement.made_for[first..].to_vec();
        circle.push(contract.to_owned());
        let reason = format!("partners that always make new ones go round in a circle: {}", circle.join(" -> "));
        return Err(Fault::new(Code::StartFailed, reason));
    }
    let mut needs = Partners::default();
    S::partners(&mut needs);
    let mut unknown: Vec<&String> = placement.bindings.keys().collect();
    unknown.retain(|name| !needs.needs.iter().any(|need| need.name == **name));
    if let Some(name) = unknown.first() {
        return Err(Fault::new(Code::StartFailed, format!("{} has no partner {name:?} to bind", placement.path)));
    }
    let mut found = Vec::new();
    let until = host.clock().now() + placement.patience;
    for need in needs.needs {
        let patience = until.saturating_sub(host.clock().now());
        let is_elsewhere = placement.bindings.get(need.name).is_some_and(|at| is_address(at));
        match find_partner(host, placement, contract, &need, patience).await {
            Ok(partner) => found.push((need, Some(partner))),
            // An optional partner for which the placement gives an address may be away, but it must not have another
            // contract.
            Err(fault) if need.is_optional && (!is_elsewhere || fault.code() == Code::Unavailable) => {
                found.push((need, None));
            }
            Err(fault) => {
                let reason =
                    format!("partner {:?} ({}) of {} does not exist", need.name, need.contract, placement.path);
                return Err(Fault::new(Code::StartFailed, reason).caused_by(&fault));
            }
        }
    }
    Ok(found)
}

async fn find_partner(
    host: &Host,
    placement: &Placement,
    contract: &str,
    need: &Need,
    patience: Duration,
) -> Result<Found, Fault> {
    let path = &placement.path;
    let create = || async {
        let mut inner = Placement::at(format!("{path}/{}", need.name)).patience(patience);
        inner.made_for = placement.made_for.clone();
        inner.made_for.push(contract.to_owned());
        let made = inner.path.clone();
        host.create(need.contract, inner).await.map(|_| Found::Here(made))
    };
    let late = || Fault::new(Code::Unavailable, format!("looked for it for {patience:?}"));
    if let Some(bound) = placement.bindings.get(need.name) {
        if is_address(bound) {
            return find_there(host, bound, need, patience).await;
        }
        let there = host.until(|host| host.is_ready(bound).then(|| Found::Here(bound.clone())));
        return host.clock().timeout(patience, there).await.map_err(|_| late());
    }
    match need.policy {
        Policy::Create => create().await,
        Policy::ExistingOrCreate => match host.find_contract(need.contract) {
            Some(path) => Ok(Found::Here(path)),
            None => create().await,
        },
        Policy::Existing => {
            let there = host.until(|host| host.find_contract(need.contract).map(Found::Here));
            host.clock().timeout(patience, there).await.map_err(|_| late())
        }
        Policy::Bound => Err(Fault::new(Code::UnknownEntry, "the placement binds no service to it")),
    }
}

/// Requests the description of a service on another node again and again, until that service is ready or `patience` is
/// over.
async fn find_there(host: &Host, address: &str, need: &Need, patience: Duration) -> Result<Found, Fault> {
    let link = host.link(address)?;
    let mut last = None;
    let asked = async {
        let mut pause = PAUSES.0;
        loop {
            match Info::over(&*link, Options { within: Some(patience), ..Options::default() }).await {
                Ok(info) => {
                    let found = &info.contract;
                    if !(need.speaks)(found) {
                        let (name, version) = (need.contract, need.version);
                        let reason =
                            format!("{address} speaks {} {}; expected {name} {version}", found.name, found.version);
                        return Err(Fault::new(Code::ContractMismatch, reason));
                    }
                    if info.phase == Phase::Ready {
                        return Ok(());
                    }
                }
                Err(fault) if is_away(fault.code()) => last = Some(fault),
                Err(fault) => return Err(fault),
            }
            host.clock().sleep(pause).await;
            pause = (2 * pause).min(PAUSES.1);
        }
    };
    let asked = host.clock().timeout(patience, asked).await;
    asked.map_or_else(
        |_| {
            let late = Fault::new(Code::Unavailable, format!("looked for {address} for {patience:?}"));
            Err(match &last {
                Some(last) => late.caused_by(last),
                None => late,
            })
        },
        |asked| asked.map(|()| Found::There(link.clone())),
    )
}

/// Returns whether a fault with this code may pass, so that the service can be found later.
fn is_away(code: Code) -> bool {
    code.may_pass() || matches!(code, Code::UnknownService | Code::ResponseTimeout | Code::StartFailed)
}
