//! Access to the services that a workflow calls: on the host of the run, or on another node.

use std::collections::BTreeMap;

use lehr_jobs::datasets::Datasets;
use lehr_node::{Client, HttpLink};
use lehr_services::{Action, Code, Fault, Format, Host, Info, Link, Message, Options, Reference, Verb};

/// The path of the service of data sets on a node.
pub(crate) const DATASETS: &str = "/datasets";

/// The services that a node can reach outside of its host.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    /// The client for other nodes; `None` if the node asks no others.
    pub(crate) client: Option<Client>,
    /// The addresses of services that steps name by a path of the host, but that other nodes have.
    pub(crate) elsewhere: BTreeMap<String, String>,
}

/// The host of the run, and the client for other nodes.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    host: Host,
    reach: Reach,
}

impl Surroundings {
    pub(crate) fn new(host: Host, reach: Reach) -> Self {
        Self { host, reach }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Returns a link to a service: on this host, or on the node with this address.
    pub(crate) fn link(&self, node: Option<&str>, path: &str) -> Result<Box<dyn Link>, Fault> {
        match (node, self.reach.elsewhere.get(path)) {
            (None, None) => Ok(Box::new(self.host.endpoint(path)?)),
            (None, Some(address)) => Ok(Box::new(self.at(address)?)),
            (Some(node), _) => Ok(Box::new(self.remote(node, path)?)),
        }
    }

    fn at(&self, address: &str) -> Result<HttpLink, Fault> {
        let client = self.reach.client.as_ref().ok_or_else(|| {
            Fault::new(Code::Unavailable, format!("{address} cannot be reached: this node asks no others"))
        })?;
        client.link(address)
    }

    fn remote(&self, node: &str, path: &str) -> Result<HttpLink, Fault> {
        self.at(&format!("{}{path}", node.trim_end_matches('/')))
    }

    /// Returns the service of data sets of this host, which passes tables by their handles, or of another node.
    pub(crate) fn datasets(&self, node: Option<&str>) -> Result<Reference<Datasets>, Fault> {
        match node {
            None => self.host.reference(DATASETS),
            Some(node) => Ok(Reference::over(self.remote(node, DATASETS)?)),
        }
    }

    /// Returns the description of a service.
    pub(crate) async fn lookup(&self, node: Option<&str>, path: &str) -> Result<Info, Fault> {
        let format = Format::MessagePack;
        let message = Message {
            action: Action::Lookup,
            verb: Verb::Lookup,
            body: Vec::new(),
            format,
            accept: format,
            options: Options::default(),
        };
        format.decode(&self.link(node, path)?.send(message).await?.body)
    }
}

/// The descriptions of a workflow's services, by node and path.
pub(crate) type Known = BTreeMap<(Option<String>, String), Result<Info, Fault>>;
