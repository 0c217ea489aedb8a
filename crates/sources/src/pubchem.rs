//! A service for PubChem, the public database of chemical compounds. The service finds compounds by name, structure or
//! similarity, and returns their properties as a table, or their fingerprints. The service uses PubChem's documented
//! PUG REST interface over a [`Getter`], and makes at most five requests a second. When PubChem is busy, the service
//! tries again after a pause; when a search is still running, it waits. Paper 002 links its services to PubChem in this
//! way.

use std::time::Duration;

use hyper::header::RETRY_AFTER;
use lehr_runtime::Clock;
use lehr_services::{Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Service, Version};
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fingerprint::fingerprint_bits;
use crate::transfer::{Getter, TransferRequest};

/// The path of the service for PubChem.
pub const PUBCHEM: &str = "/pubchem";

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
    const VERSION: Version = Version::new(1, 0);
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

/// Returns properties of compounds as CSV: a header line that begins with `CID`, then a line for each compound, in the
/// order of `cids`.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = PubChemState, verb = Query, name = "csv", reply = String)]
pub struct Csv {
    /// The CIDs of the compounds, at most 20,000.
    pub cids: Vec<u64>,
    /// PubChem's names of the properties, such as `MolecularWeight` and `XLogP`.
    pub properties: Vec<String>,
}

/// Returns the substructure fingerprints of compounds, in the order of `cids`.
///
/// # Example
/// See [`PubChem`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = PubChemState, verb = Query, name = "fingerprints", reply = Vec<Fingerprint>)]
pub struct Fingerprints {
    /// The CIDs of the compounds, at most 20,000.
    pub cids: Vec<u64>,
}

/// The fingerprint of a compound.
///
/// # Example
/// See [`fingerprint_bits`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// The CID of the compound.
    pub cid: u64,
    /// The numbers of the questions that are answered with yes, from 0 to 880, in ascending order.
    pub bits: Vec<u16>,
}

/// The service that queries PubChem.
///
/// # Example
/// ```no_run
/// use lehr_sources::{Allowed, Bounds, By, Csv, Find, Getter, PUBCHEM, PubChem};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// let pubchem = PubChem::public()?;
/// lehr_runtime::block_on(async {
///     let pubchem = host.start(PUBCHEM, move || pubchem.clone()).await?;
///     let cids = pubchem.call(Find { by: By::Name, text: "aspirin".to_owned() }).await?;
///     let table = pubchem.call(Csv { cids, properties: vec!["MolecularWeight".to_owned()] }).await?;
///     assert_eq!(table, "\"CID\",\"MolecularWeight\"\n2244,180.16\n");
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
}

impl PubChem {
    /// Queries the public PubChem server.
    ///
    /// # Errors
    /// Returns the errors of [`Getter::new`].
    ///
    /// # Example
    /// See [`PubChem`].
    pub fn public() -> Result<Self, Fault> {
        let host = "pubchem.ncbi.nlm.nih.gov";
        let getter = Getter::new(crate::Allowed::new([host])?, crate::Bounds::default(), None)?;
        Self::at(getter, &format!("https://{host}/rest/pug"))
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
        Ok(Self { state: PubChemState { base }, getter, turn: Arc::default() })
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
            let asked = TransferRequest { url: format!("{}{path}", self.state.base), form: form.clone(), from: None };
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

    /// Requests data about many compounds, in batches.
    async fn each(&self, clock: &Clock, cids: &[u64], path: &str) -> Result<Vec<String>, Fault> {
        let mut answers = Vec::new();
        for some in cids.chunks(COMPOUNDS_EACH) {
            let list: Vec<String> = some.iter().map(u64::to_string).collect();
            let form = format!("cid={}", list.join(","));
            answers.push(self.ask(clock, path, Some(form)).await?.1);
        }
        Ok(answers)
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
        on.concurrent::<Find>().concurrent::<Similar>().concurrent::<Csv>().concurrent::<Fingerprints>();
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

impl Concurrent<Csv> for PubChem {
    async fn handle(&self, Csv { cids, properties }: Csv, call: &Call) -> Result<String, Fault> {
        named(&cids)?;
        let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if properties.is_empty() || !properties.iter().all(is_name) {
            let reason = format!("properties: expected names of letters and digits, found {properties:?}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let clock = call.host()?.clock().clone();
        let path = format!("/compound/cid/property/{}/CSV", properties.join(","));
        let mut table = String::new();
        for part in self.each(&clock, &cids, &path).await? {
            let (names, rows) = part.split_once('\n').ok_or_else(|| strange(&part))?;
            if !names.trim_start_matches('"').starts_with("CID") {
                return Err(strange(&part));
            }
            // Every batch has a header line.
            if table.is_empty() {
                table.push_str(&format!("{}\n", names.trim_end()));
            }
            table.push_str(rows.trim_end());
            table.push('\n');
        }
        Ok(table)
    }
}

impl Concurrent<Fingerprints> for PubChem {
    async fn handle(&self, Fingerprints { cids }: Fingerprints, call: &Call) -> Result<Vec<Fingerprint>, Fault> {
        named(&cids)?;
        let clock = call.host()?.clock().clone();
        let mut found = Vec::new();
        for part in self.each(&clock, &cids, "/compound/cid/property/Fingerprint2D/JSON").await? {
            let document = document(&part)?;
            let rows = document["PropertyTable"]["Properties"].as_array().ok_or_else(|| strange(&part))?;
            for row in rows {
                let bits = row["Fingerprint2D"].as_str().and_then(fingerprint_bits);
                let (Some(cid), Some(bits)) = (row["CID"].as_u64(), bits) else {
                    return Err(strange(&row.to_string()));
                };
                found.push(Fingerprint { cid, bits });
            }
        }
        Ok(found)
    }
}
