//! How the services of a workflow are reached: on the host of the run, or on another node.

use std::collections::BTreeMap;

use lehr_node::Client;
use lehr_services::{Action, Code, Fault, Format, Host, Info, Link, Message, Options, Verb};

/// Where services stand.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    host: Host,
    client: Option<Client>,
}

impl Places {
    pub(crate) fn new(host: Host, client: Option<Client>) -> Self {
        Self { host, client }
    }

    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// A way to a service: of this host, or of the node with this address.
    pub(crate) fn link(&self, node: Option<&str>, path: &str) -> Result<Box<dyn Link>, Fault> {
        let Some(node) = node else { return Ok(Box::new(self.host.endpoint(path)?)) };
        let client = self.client.as_ref().ok_or_else(|| {
            Fault::new(Code::Unavailable, format!("{node} cannot be reached: this node asks no others"))
        })?;
        Ok(Box::new(client.link(&format!("{}{path}", node.trim_end_matches('/')))?))
    }

    /// What a service is.
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

/// What is known of the services of a workflow: by node and path.
pub(crate) type Known = BTreeMap<(Option<String>, String), Result<Info, Fault>>;
