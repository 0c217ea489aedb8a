//! A service for PubChem, the public database of chemical compounds. It finds compounds by name, structure or
//! similarity, and makes data sets of their properties, structures and fingerprints.
//!
//! It uses PubChem's documented PUG REST interface over a [`Getter`], and makes at most five requests a second. When
//! PubChem is busy, it tries again after a pause; when a search is still running, it waits. Paper 002 links its
//! services to PubChem in this way.

use std::time::Duration;

use hyper::header::RETRY_AFTER;
use lehr_jobs::Handle;
use lehr_jobs::datasets::{Datasets, Put};
use lehr_runtime::Clock;
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Host, Kind, Operation, Partners, Reference, Service, Starting,
    Version,
};
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::allowed::Allowed;
use crate::compounds::{FINGERPRINT, Found, SMILES, TITLE};
use crate::transfer::{Bounds, Getter, Post, TransferRequest};

/// The path of the service for PubChem.
pub const PUBCHEM: &str = "/pubchem";

/// The base URL of PubChem's public interface.
pub const PUBLIC: &str = "https://pubchem.ncbi.nlm.nih.gov/rest/pug";

/// The minimum time between two requests. PubChem asks its users to send at most five requests a second.
const BETWEEN: Duration = Duration::from_millis(200);

/// The maximum time that a request may wait for its turn.
const TURN_MAX: Duration = Duration::from_secs(30);

/// The maximum number of attempts of a request when PubChem is busy, and of checks whether a search has ended.
const TRIES: u32 = 5;
const LOOKS: u32 = 60;

/// The maximum number of compounds in one request to PubChem.
const COMPOUNDS_EACH: usize = 200;

/// The maximum number of compounds in one operation.
const COMPOUNDS_MAX: usize = 20_000;

/// The maximum length of a response, in bytes.
const ANSWER_BYTES: usize = 64 << 20;

/// The state of [`PubChem`].
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PubChemState {
    /// The base URL of the requests to PubChem.
    pub base: String,
}

impl Contract for PubChemState {
    const NAME: &'static str = "lehr/pubchem";
    const VERSION: Version = Version::new(2, 0);
}

/// The kind of key by which to find a compound.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// A name, such as `aspirin`.
    Name,
    /// A structure as SMILES.
    Smiles,
    /// The InChIKey, a hash of the structure.
    InchiKey,
}

impl By {
    fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Smiles => "smiles",
            Self::InchiKey => "inchikey",
        }
    }
}

/// Finds the CIDs (PubChem's numbers) of the compounds with a given name, structure or hash.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = PubChemState, verb = Query, name = "find", reply = Vec<u64>)]
pub struct Find {
    /// The kind of key.
    pub by: By,
    /// The name, structure or hash.
    pub text: String,
}

/// Finds the CIDs of compounds whose fingerprints are similar to the fingerprint of a given compound.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = PubChemState, verb = Query, name = "similar", reply = Vec<u64>)]
pub struct Similar {
    /// The CID of the compound to compare with.
    pub cid: u64,
    /// The minimum Tanimoto similarity, in percent: 0 to 100.
    pub percent: u32,
    /// The maximum number of results.
    pub count: u32,
}

/// Makes a data set of compounds, with one row for each compound in the order of `cids`.
///
/// The columns are `id` (the CID as text), `title`, `smiles` and `fingerprint`: 881 bits in hexadecimal digits, as in
/// FPS files. Each of `properties` is a further column. A property has numbers if all its values are numbers, and texts
/// otherwise. A compound without a number has a gap there, and a compound without a text has an empty text.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = PubChemState, verb = Submit, name = "load", reply = Loaded)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The CIDs of the compounds: 1 to 20,000, counting repeats. A repeated CID gives one row.
    pub cids: Vec<u64>,
    /// PubChem's names of further properties, such as `MolecularWeight` and `XLogP`. Default: none.
    #[serde(default)]
    pub properties: Vec<String>,
    /// The name of the new data set.
    pub name: String,
    /// Whether to replace an existing data set of this name. Default: no.
    #[serde(default)]
    pub replace: bool,
}

/// The data set that was made from compounds.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Loaded {
    /// The name of the data set.
    pub dataset: String,
    /// The number of compounds in the data set.
    pub items: usize,
    /// The CIDs that PubChem does not have, or whose compounds have no fingerprint. The data set is without them.
    pub unknown: Vec<u64>,
}

/// The service that queries PubChem.
///
/// # Example
/// ```no_run
/// use lehr_jobs::Setup;
/// use lehr_services::{Fault, Host};
/// use lehr_sources::{By, Find, Load, PUBCHEM, PubChem};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// let pubchem = PubChem::public()?;
/// lehr_runtime::block_on(async {
///     Setup::default().start_datasets(&host, "/datasets").await?;
///     let pubchem = host.start(PUBCHEM, move || pubchem.clone()).await?;
///     let cids = pubchem.call(Find { by: By::Name, text: "aspirin".to_owned() }).await?;
///     let properties = vec!["MolecularWeight".to_owned()];
///     let load = Load { cids, properties, name: "aspirin".to_owned(), replace: false };
///     assert_eq!(pubchem.call(load).await?.items, 1);
///     Ok::<(), Fault>(())
/// })
/// # ?; Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct PubChem {
    state: PubChemState,
    getter: Getter,
    /// The earliest time of the next request.
    turn: Arc<Mutex<Duration>>,
    datasets: Option<Reference<Datasets>>,
}

impl PubChem {
    /// Queries the public PubChem server.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if no thread can be started, as [`Getter::new`] does.
    ///
    /// # Example
    /// See [`PubChem`].
    pub fn public() -> Result<Self, Fault> {
        let getter = Getter::new(Allowed::new(["pubchem.ncbi.nlm.nih.gov"])?, Bounds::default(), None)?;
        Self::at(getter, PUBLIC)
    }

    /// Lets manifests and workflows create the service by its contract, for a server at this base URL. A server other
    /// than [`PUBLIC`] may be in a private network, because the operator names it.
    ///
    /// # Example
    /// ```
    /// use lehr_sources::{PUBLIC, PubChem};
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = lehr_services::Host::new(dispatcher.handle());
    /// PubChem::register(&host, PUBLIC);
    /// assert_eq!(host.constructors(), ["lehr/pubchem"]);
    /// ```
    pub fn register(host: &Host, base: &str) {
        let base = base.to_owned();
        let kind = Kind {
            configuration: None,
            partners: [("datasets".to_owned(), Datasets::NAME.to_owned())].into(),
            fixed: Vec::new(),
        };
        host.register_kind(PubChemState::NAME, kind, move |host, placement| {
            let base = base.clone();
            Box::pin(async move {
                let service = if base == PUBLIC { Self::public()? } else { Self::private(&base)? };
                host.start(placement, move || service.clone()).await.map(drop)
            })
        });
    }

    /// Queries a server that the operator names, which may be in a private network.
    fn private(base: &str) -> Result<Self, Fault> {
        let invalid = || Fault::new(Code::InvalidValue, format!("{base:?}: expected an address such as {PUBLIC}"));
        let address: hyper::Uri = base.parse().map_err(|_| invalid())?;
        let host = address.authority().ok_or_else(invalid)?.as_str();
        let getter = Getter::new(Allowed::new([host])?.private(), Bounds::default(), None)?;
        Self::at(getter, base)
    }

    /// Queries another server with the same interface. `base` is its base URL.
    ///
    /// # Errors
    /// Returns an error if the getter may not contact this server.
    ///
    /// # Example
    /// ```
    /// use lehr_sources::{Allowed, Bounds, Getter, PubChem};
    /// let getter = Getter::new(Allowed::new(["mirror.example.org"])?, Bounds::default(), None)?;
    /// assert!(PubChem::at(getter.clone(), "https://mirror.example.org/rest/pug").is_ok());
    /// assert!(PubChem::at(getter, "https://elsewhere.example.org/rest/pug").is_err());
    /// # Ok::<(), lehr_services::Fault>(())
    /// ```
    pub fn at(getter: Getter, base: &str) -> Result<Self, Fault> {
        let base = base.trim_end_matches('/').to_owned();
        getter.allowed().check(&base)?;
        Ok(Self { state: PubChemState { base }, getter, turn: Arc::default(), datasets: None })
    }

    /// Waits until the next request may be sent.
    async fn turn(&self, clock: &Clock) -> Result<(), Fault> {
        let wait = {
            let (mut next, now) = (self.turn.lock(), clock.now());
            let at = (*next).max(now);
            if at - now > TURN_MAX {
                let fault = Fault::new(Code::QueuingLimitExceeded, "too many requests wait for PubChem");
                return Err(fault.retry_after(TURN_MAX));
            }
            *next = at + BETWEEN;
            at - now
        };
        if !wait.is_zero() {
            clock.sleep(wait).await;
        }
        Ok(())
    }

    /// Requests a path, and tries again if PubChem is busy. Returns the status and the response.
    async fn ask(&self, clock: &Clock, path: &str, form: Option<String>) -> Result<(u16, String), Fault> {
        let mut pause = Duration::from_secs(1);
        let mut tries = 0;
        loop {
            self.turn(clock).await?;
            tries += 1;
            let asked = TransferRequest {
                url: format!("{}{path}", self.state.base),
                from: None,
                post: form.clone().map(Post::Form),
            };
            let fault = match self.once(asked).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            if tries >= TRIES || fault.code() != Code::Unavailable {
                return Err(fault);
            }
            clock.sleep(fault.retry_hint().unwrap_or(pause)).await;
            pause *= 2;
        }
    }

    async fn once(&self, asked: TransferRequest) -> Result<(u16, String), Fault> {
        let mut answered = self.getter.ask(asked).await?;
        let broken = |why: String| Fault::new(Code::Unavailable, format!("PubChem: {why}"));
        let mut bytes = Vec::new();
        while let Some(piece) = answered.bytes.recv().await {
            bytes.extend_from_slice(&piece.map_err(broken)?);
            if bytes.len() > ANSWER_BYTES {
                return Err(Fault::new(Code::TooLarge, "PubChem's answer is too long"));
            }
        }
        let status = answered.status.as_u16();
        let text =
            String::from_utf8(bytes).map_err(|_| Fault::new(Code::OperationFailed, "PubChem's answer is no text"))?;
        if matches!(status, 200 | 202) {
            return Ok((status, text));
        }
        let after = answered.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        Err(refused(status, &text, after))
    }

    /// Requests a path that starts a search, waits until the search has ended, and returns the CIDs that it found.
    async fn numbers(&self, clock: &Clock, path: &str, form: Option<String>) -> Result<Vec<u64>, Fault> {
        let (mut status, mut text) = match self.ask(clock, path, form).await {
            // No match is a valid answer.
            Err(fault) if fault.code() == Code::UnknownEntry => return Ok(Vec::new()),
            answer => answer?,
        };
        for _ in 0..LOOKS {
            let document = document(&text)?;
            if status == 200 {
                let found = document["IdentifierList"]["CID"].as_array();
                // PubChem returns the CID 0 for a structure that it does not have.
                let found = found.into_iter().flatten().filter_map(Value::as_u64).filter(|cid| *cid > 0);
                return Ok(found.collect());
            }
            let key = document["Waiting"]["ListKey"].as_str().ok_or_else(|| strange(&text))?;
            if !key.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(strange(&text));
            }
            clock.sleep(Duration::from_secs(1)).await;
            (status, text) = self.ask(clock, &format!("/compound/listkey/{key}/cids/JSON"), None).await?;
        }
        Err(Fault::new(Code::ResponseTimeout, "PubChem's search has not ended"))
    }
}

fn document(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| strange(text).log(error.to_string()))
}

/// Returns the fault for a response that contradicts PubChem's documentation.
fn strange(text: &str) -> Fault {
    let beginning: String = text.chars().take(80).collect();
    Fault::new(Code::OperationFailed, format!("PubChem has answered something else than expected: {beginning:?}"))
}

/// Converts an error of PubChem to a fault.
fn refused(status: u16, text: &str, after: Option<u64>) -> Fault {
    let fault = serde_json::from_str::<Value>(text).unwrap_or_default();
    let said = |name: &str| fault["Fault"][name].as_str().map(str::to_owned);
    let reason = match (said("Code"), said("Message")) {
        (Some(code), Some(message)) => format!("PubChem: {message} ({code})"),
        _ => format!("PubChem has answered {status}"),
    };
    let code = match status {
        400 | 405 => Code::InvalidValue,
        404 => Code::UnknownEntry,
        429 | 500 | 503 | 504 => Code::Unavailable,
        _ => Code::OperationFailed,
    };
    let fault = Fault::new(code, reason);
    match after.filter(|seconds| code == Code::Unavailable && *seconds <= 60) {
        Some(seconds) => fault.retry_after(Duration::from_secs(seconds)),
        None => fault,
    }
}

/// Encodes a text as the value of a form.
fn encoded(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes()
        .map(|byte| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn named(cids: &[u64]) -> Result<(), Fault> {
    if (1..=COMPOUNDS_MAX).contains(&cids.len()) && cids.iter().all(|cid| *cid > 0) {
        return Ok(());
    }
    let reason = format!("cids: expected 1 to {COMPOUNDS_MAX} numbers above 0, found {} numbers", cids.len());
    Err(Fault::new(Code::InvalidValue, reason))
}

impl Service for PubChem {
    type Document = PubChemState;

    fn document(&self) -> &PubChemState {
        &self.state
    }

    fn document_mut(&mut self) -> &mut PubChemState {
        &mut self.state
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Find>().concurrent::<Similar>().concurrent::<Load>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.datasets = Some(starting.partner::<Datasets>("datasets")?);
        Ok(())
    }
}

impl Concurrent<Find> for PubChem {
    async fn handle(&self, Find { by, text }: Find, call: &Call) -> Result<Vec<u64>, Fault> {
        if text.is_empty() || text.len() > 10_000 {
            return Err(Fault::new(
                Code::InvalidValue,
                format!("text: expected 1 to 10,000 bytes, found {}", text.len()),
            ));
        }
        let (clock, word) = (call.host()?.clock().clone(), by.word());
        // Sent as a form, because names and structures may contain slashes and other characters that have a meaning in
        // a URL.
        self.numbers(&clock, &format!("/compound/{word}/cids/JSON"), Some(format!("{word}={}", encoded(&text)))).await
    }
}

impl Concurrent<Similar> for PubChem {
    async fn handle(&self, Similar { cid, percent, count }: Similar, call: &Call) -> Result<Vec<u64>, Fault> {
        if percent > 100 || count == 0 || cid == 0 {
            let reason =
                format!("expected cid above 0, percent 0 to 100, count above 0; found {cid}, {percent}, {count}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let clock = call.host()?.clock().clone();
        let path = format!("/compound/fastsimilarity_2d/cid/{cid}/cids/JSON?Threshold={percent}&MaxRecords={count}");
        self.numbers(&clock, &path, None).await
    }
}

impl Concurrent<Load> for PubChem {
    async fn handle(&self, Load { cids, properties, name, replace }: Load, call: &Call) -> Result<Loaded, Fault> {
        let datasets = self.datasets.as_ref();
        let datasets =
            datasets.ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))?;
        named(&cids)?;
        let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !properties.iter().all(is_name) {
            let reason = format!("properties: expected names of letters and digits, found {properties:?}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let wanted: Vec<&str> =
            [FINGERPRINT, SMILES, TITLE].into_iter().chain(properties.iter().map(String::as_str)).collect();
        let path = format!("/compound/cid/property/{}/JSON", wanted.join(","));
        let clock = call.host()?.clock().clone();
        let mut found = Found::default();
        for some in cids.chunks(COMPOUNDS_EACH) {
            let list: Vec<String> = some.iter().map(u64::to_string).collect();
            let text = match self.ask(&clock, &path, Some(format!("cid={}", list.join(",")))).await {
                Ok((_, text)) => text,
                // PubChem has none of these compounds.
                Err(fault) if fault.code() == Code::UnknownEntry => continue,
                Err(fault) => return Err(fault),
            };
            let mut document = document(&text)?;
            let Value::Array(rows) = document["PropertyTable"]["Properties"].take() else {
                return Err(strange(&text));
            };
            for row in rows {
                let text = row.to_string();
                found.add(row).ok_or_else(|| strange(&text))?;
            }
        }
        let (table, unknown) = found.table(&cids, &properties)?;
        let items = table.rows();
        datasets.call(Put { name: name.clone(), table: Handle(table), replace }).await?;
        Ok(Loaded { dataset: name, items, unknown })
    }
}
