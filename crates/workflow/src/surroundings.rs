//! Access to the services that a workflow calls: on the host of the run, or on another node.

use std::collections::BTreeMap;

use lehr_jobs::datasets::Datasets;
use lehr_node::{Client, HttpLink};
use lehr_services::{Action, Code, Fault, Format, Host, Info, Link, Message, Options, Reference, Verb};

/// The path of the service of data sets on a node.
pub(crate) const DATASETS: &str = "/datasets";

/// The host of the run, and the client for other nodes.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    host: Host,
    client: Option<Client>,
}

impl Surroundings {
    pub(crate) fn new(host: Host, client: Option<Client>) -> Self {
        Self { host, client }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Returns a link to a service: on this host, or on the node with this address.
    pub(crate) fn link(&self, node: Option<&str>, path: &str) -> Result<Box<dyn Link>, Fault> {
        match node {
            None => Ok(Box::new(self.host.endpoint(path)?)),
            Some(node) => Ok(Box::new(self.remote(node, path)?)),
        }
    }

    fn remote(&self, node: &str, path: &str) -> Result<HttpLink, Fault> {
        let client = self.client.as_ref().ok_or_else(|| {
            Fault::new(Code::Unavailable, format!("{node} cannot be reached: this node asks no others"))
        })?;
        client.link(&format!("{}{path}", node.trim_end_matches('/')))
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
