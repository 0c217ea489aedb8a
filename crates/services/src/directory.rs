//! The directory: the services of a host. The directory is a service too, so clients call and watch it like any other
//! service.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::contract::{Contract, Version};
use crate::fault::{Code, Fault};
use crate::handlers::Handlers;
use crate::lifecycle::Phase;
use crate::operation::Operation;
use crate::service::{Concurrent, Exclusive, Service};

/// The path of a host's directory.
pub const DIRECTORY: &str = "/directory";

/// The services of a host, by path.
///
/// # Example
/// ```
/// # use lehr_services::*;
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
/// # struct Note { text: String }
/// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
/// # impl Service for Note {
/// #     type Document = Self;
/// #     fn document(&self) -> &Self { self }
/// #     fn document_mut(&mut self) -> &mut Self { self }
/// #     fn handlers(on: &mut Handlers<Self>) { on.replaceable(); }
/// # }
/// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
/// # let host = Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// host.start("/note", Note::default).await?;
/// let directory = host.reference::<Directory>(DIRECTORY)?;
/// let notes = directory.call(ByContract { contract: "example.org/note".to_owned() }).await?;
/// assert_eq!(notes, ["/note"]);
/// # Ok::<(), Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Directory {
    /// The services by path.
    pub services: BTreeMap<String, Record>,
}

/// A service in the directory.
///
/// # Example
/// See [`Directory`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The name of the service's contract.
    pub contract: String,
    /// The version of the contract.
    pub version: Version,
    /// The incarnation of the service.
    pub incarnation: u64,
    /// The phase of the service in its present incarnation.
    pub phase: Phase,
    /// Problems at the start, such as a state that had to be restored from its copy. The service works, but needs
    /// attention.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
}

impl Contract for Directory {
    const NAME: &'static str = "lehr/directory";
    const VERSION: Version = Version::new(1, 0);
}

/// Enters a service or its new phase in the directory. Only the host may send this operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Directory, verb = Upsert, name = "announce", key = path)]
pub struct Announce {
    /// The path of the service.
    pub path: String,
    /// The entry of the service.
    pub record: Record,
}

/// Removes a service that no longer exists from the directory. Only the host may send this operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Directory, verb = Delete, name = "withdraw", key = path)]
pub struct Withdraw {
    /// The former path of the service.
    pub path: String,
    /// The reason why the service is gone, if it was not ended on request.
    pub fault: Option<Fault>,
}

/// Lists the paths of all services that have the given contract, sorted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Directory, verb = Query, name = "by_contract", reply = Vec<String>)]
pub struct ByContract {
    /// The contract's name.
    pub contract: String,
}

impl Service for Directory {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<ByContract>().exclusive::<Announce>().exclusive::<Withdraw>().permanent();
    }
}

impl Concurrent<ByContract> for Directory {
    async fn handle(&self, query: ByContract, _: &Call) -> Result<Vec<String>, Fault> {
        let found = self.services.iter().filter(|(_, record)| record.contract == query.contract);
        Ok(found.map(|(path, _)| path.clone()).collect())
    }
}

/// Refuses requests that have a caller, because they came from a client over a network edge.
fn of_this_host(call: &Call) -> Result<(), Fault> {
    match call.caller() {
        None => Ok(()),
        Some(caller) => {
            Err(Fault::new(Code::PermissionDenied, "the directory is kept by its node")
                .log(format!("asked by {caller}")))
        }
    }
}

impl Exclusive<Announce> for Directory {
    async fn handle(&mut self, Announce { path, record }: Announce, call: &Call) -> Result<(), Fault> {
        of_this_host(call)?;
        self.services.insert(path, record);
        Ok(())
    }
}

impl Exclusive<Withdraw> for Directory {
    async fn handle(&mut self, Withdraw { path, .. }: Withdraw, call: &Call) -> Result<(), Fault> {
        of_this_host(call)?;
        match self.services.remove(&path) {
            Some(_) => Ok(()),
            None => Err(Fault::new(Code::UnknownEntry, format!("no service at {path}"))),
        }
    }
}
