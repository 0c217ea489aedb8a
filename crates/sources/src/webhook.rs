//! A service that posts JSON to a web address: to tell a chat, a pager or another system about the end of a run.

use std::time::Duration;

use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Host, Kind, Operation, Service, Version, in_words,
};
use lehr_sync::Arc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allowed::Allowed;

use crate::transfer::{Bounds, Getter, Post, TransferRequest};

/// The path of the service that `lehr serve` starts.
pub const WEBHOOK: &str = "/webhook";

/// The maximum time without an answer.
const SILENCE: Duration = Duration::from_secs(15);

/// The maximum number of bytes of an answer that a message shows.
const SHOWN: usize = 80;

/// The state of [`Webhook`].
///
/// # Example
/// See [`Webhook`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookState {
    /// The host to which the service posts. The rest of the address is often a secret.
    pub host: String,
}

impl Contract for WebhookState {
    const NAME: &'static str = "lehr/webhook";
    const VERSION: Version = Version::new(1, 0);
}

/// Posts a JSON value to the web address.
///
/// # Errors
/// Returns [`Code::Unavailable`] if the host cannot be reached, is busy (429) or has failed (5xx). Returns
/// [`Code::OperationFailed`] if it refuses the request, and [`Code::PermissionDenied`] if it redirects.
///
/// # Example
/// See [`Webhook`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(transparent)]
#[operation(contract = WebhookState, verb = Submit, name = "post", reply = ())]
pub struct PostJson(pub Value);

/// The configuration of [`Webhook`] in a workflow: the address, or the environment variable that has it.
///
/// # Example
/// ```
/// let settings: lehr_sources::WebhookSettings = serde_json::from_str(r#"{ "variable": "CHAT_URL" }"#).unwrap();
/// assert_eq!(settings.variable.as_deref(), Some("CHAT_URL"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// The address.
    #[serde(default)]
    pub url: Option<String>,
    /// The environment variable that has the address, so that a file with a secret address need not be shared.
    #[serde(default)]
    pub variable: Option<String>,
}

/// Returns the value of an environment variable, if it is set.
type Variables = dyn Fn(&str) -> Option<String> + Send + Sync;

impl WebhookSettings {
    fn address(&self, variables: &Variables) -> Result<String, Fault> {
        let refuse = |text: String| Fault::new(Code::InvalidValue, text);
        match (&self.url, &self.variable) {
            (Some(url), None) => Ok(url.clone()),
            (None, Some(name)) => variables(name)
                .ok_or_else(|| refuse(format!("variable: expected the environment variable {name}, which is not set"))),
            _ => Err(refuse("expected either url or variable".to_owned())),
        }
    }
}

/// The service that posts to one web address.
///
/// # Example
/// ```no_run
/// use lehr_services::{Fault, Host};
/// use lehr_sources::{PostJson, WEBHOOK, Webhook};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// let webhook = Webhook::new("https://chat.example.org/hooks/3f9")?;
/// lehr_runtime::block_on(async {
///     let webhook = host.start(WEBHOOK, move || webhook.clone()).await?;
///     webhook.call(PostJson(serde_json::json!({ "text": "the run is done" }))).await
/// })
/// # ?; Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Webhook {
    state: WebhookState,
    url: String,
    getter: Getter,
}

impl Webhook {
    /// Creates a service that posts to this address. The address may be in a private network, because the operator or
    /// the user names it. Redirects are refused.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if it is no URL of HTTP or HTTPS.
    ///
    /// # Example
    /// See [`Webhook`].
    pub fn new(url: &str) -> Result<Self, Fault> {
        let invalid = || {
            Fault::new(Code::InvalidValue, "expected the URL of a webhook, such as https://chat.example.org/hooks/3f9")
        };
        let address: hyper::Uri = url.trim().parse().map_err(|_| invalid())?;
        let host = address.authority().ok_or_else(invalid)?.as_str();
        let bounds = Bounds { silence: SILENCE, redirects: 0, ..Bounds::default() };
        let getter = Getter::new(Allowed::new([host]).map_err(|_| invalid())?.private(), bounds, None)?;
        getter.allowed().check(url.trim()).map_err(|_| invalid())?;
        Ok(Self { state: WebhookState { host: host.to_owned() }, url: url.trim().to_owned(), getter })
    }

    /// Lets workflows create the service by its contract. The configuration of the service has the address: see
    /// [`WebhookSettings`]. `variables` looks up environment variables.
    ///
    /// Only a process that runs its user's own workflows may do this. On a node, the operator names the address.
    ///
    /// # Example
    /// ```
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = lehr_services::Host::new(dispatcher.handle());
    /// lehr_sources::Webhook::register(&host, |_| None);
    /// assert_eq!(host.constructors(), ["lehr/webhook"]);
    /// ```
    pub fn register(host: &Host, variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static) {
        let variables: Arc<Variables> = Arc::new(variables);
        let configuration = Some(schemars::schema_for!(WebhookSettings).to_value());
        let kind = Kind { configuration, partners: Default::default(), fixed: Vec::new() };
        host.register_kind(WebhookState::NAME, kind, move |host, placement| {
            let variables = variables.clone();
            Box::pin(async move {
                let told = placement.told().cloned().unwrap_or_else(|| serde_json::json!({}));
                let settings: WebhookSettings = serde_json::from_value(told)
                    .map_err(|error| Fault::new(Code::InvalidValue, in_words(&error.to_string())))?;
                let service = Self::new(&settings.address(&*variables)?)?;
                host.start(placement, move || service.clone()).await.map(drop)
            })
        });
    }
}

impl Service for Webhook {
    type Document = WebhookState;

    fn document(&self) -> &WebhookState {
        &self.state
    }

    fn document_mut(&mut self) -> &mut WebhookState {
        &mut self.state
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<PostJson>();
    }
}

impl Concurrent<PostJson> for Webhook {
    async fn handle(&self, PostJson(value): PostJson, _: &Call) -> Result<(), Fault> {
        let host = &self.state.host;
        let asked = TransferRequest { url: self.url.clone(), from: None, post: Some(Post::Json(value.to_string())) };
        let mut answered = self.getter.ask(asked).await?;
        let status = answered.status;
        if status.is_success() {
            return Ok(());
        }
        // Shows the beginning of the answer, which often says what is wrong. But some servers repeat the path, which is
        // often a secret.
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = answered.bytes.recv().await {
            bytes.extend_from_slice(&piece);
            if bytes.len() > SHOWN {
                break;
            }
        }
        let text: String = String::from_utf8_lossy(&bytes).chars().take(SHOWN).collect();
        let shown = if self.is_told_in(&text) { String::new() } else { format!(": {:?}", text.trim()) };
        let is_temporary = status.is_server_error() || status.as_u16() == 429;
        let code = if is_temporary { Code::Unavailable } else { Code::OperationFailed };
        Err(Fault::new(code, format!("{host} answers {}{shown}", status.as_u16())))
    }
}

impl Webhook {
    /// Returns whether a text has a part of the address after the host.
    fn is_told_in(&self, text: &str) -> bool {
        let (_, rest) = self.url.split_once("://").unwrap_or_default();
        let parts = rest.split(['/', '?', '&', '=']).skip(1).filter(|part| part.len() > 2);
        parts.into_iter().any(|part| text.contains(part))
    }
}
