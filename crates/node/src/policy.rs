//! The rights of callers: callers with tokens or certificates, and rights by path, contract and verb. A rule that
//! denies takes precedence over all rules that allow.

use std::collections::BTreeMap;
use std::fmt;

use lehr_services::{Code, Fault, Verb};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Callers and their rights. A policy denies everything that no rule allows.
///
/// # Example
/// ```
/// use lehr_node::Policy;
/// use lehr_services::Verb;
/// let policy: Policy = serde_json::from_str(r#"{
///     "callers": { "ada": { "token": "correct-horse-battery" } },
///     "rules": [
///         { "callers": ["ada"], "verbs": ["get", "update"], "paths": ["/counter"] },
///         { "effect": "deny", "callers": ["ada"], "verbs": ["update"] }
///     ]
/// }"#).unwrap();
/// let ada = policy.caller(Some("correct-horse-battery")).unwrap();
/// assert!(policy.check(ada, Verb::Get, "/counter", "example.org/counter").is_ok());
/// assert!(policy.check(ada, Verb::Update, "/counter", "example.org/counter").is_err()); // denied goes before allowed
/// assert!(policy.caller(Some("guess")).is_err());
/// ```
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    callers: BTreeMap<String, Caller>,
    rules: Vec<Rule>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Tokens must not get into a log.
        formatter.debug_struct("Policy").field("callers", &self.callers.keys()).field("rules", &self.rules).finish()
    }
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Caller {
    /// The token that the caller sends with each request.
    token: Option<String>,
    /// The token's SHA-256 in hexadecimal digits, if the file should not contain the token itself.
    token_sha256: Option<String>,
    /// A DNS name in the certificate that the caller presents.
    certificate: Option<String>,
}

impl Caller {
    /// Returns the SHA-256 of the caller's token, if it has one.
    fn shown(&self) -> Option<[u8; 32]> {
        match &self.token {
            Some(token) => Some(Sha256::digest(token.as_bytes()).into()),
            None => self.token_sha256.as_deref().and_then(digest),
        }
    }
}

/// Returns the bytes of a SHA-256 in hexadecimal digits.
fn digest(text: &str) -> Option<[u8; 32]> {
    let digits: Vec<u32> = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | *digit as u8)).collect();
    (digits.len() == 64).then(|| bytes.try_into().ok())?
}

/// The minimum number of characters in a token.
const TOKEN_MIN: usize = 16;

/// The name of a caller without a token.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// A rule that allows or denies access; a part that is left out matches everything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Rule {
    effect: Effect,
    callers: Vec<String>,
    verbs: Vec<Verb>,
    /// The paths that the rule applies to, each with all paths below it.
    paths: Vec<String>,
    contracts: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    #[default]
    Allow,
    Deny,
}

impl Rule {
    fn speaks_of(&self, caller: &str, verb: Verb, path: &str, contract: &str) -> bool {
        let has = |list: &[String], name: &str| list.is_empty() || list.iter().any(|entry| entry == name);
        let below = |prefix: &String| {
            let prefix = prefix.trim_end_matches('/');
            path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        has(&self.callers, caller)
            && (self.verbs.is_empty() || self.verbs.contains(&verb))
            && (self.paths.is_empty() || self.paths.iter().any(below))
            && has(&self.contracts, contract)
    }
}

impl Policy {
    /// Reads a policy from JSON and checks it.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] with every fault.
    ///
    /// # Example
    /// ```
    /// use lehr_node::Policy;
    /// let text = r#"{ "callers": { "ada": { "token": "short" } }, "rules": [{ "callers": ["bob"] }] }"#;
    /// let fault = Policy::from_json(text).unwrap_err();
    /// assert_eq!(
    ///     fault.reason(),
    ///     "caller \"ada\": a token has at least 16 characters, this one has 5; rule 1: no caller is called \"bob\""
    /// );
    /// ```
    pub fn from_json(text: &str) -> Result<Self, Fault> {
        let policy: Self =
            serde_json::from_str(text).map_err(|error| Fault::new(Code::InvalidValue, error.to_string()))?;
        let mut faults = Vec::new();
        for (name, caller) in &policy.callers {
            if caller.token.is_some() && caller.token_sha256.is_some() {
                faults.push(format!("caller {name:?}: expected a token or the SHA-256 of one, not both"));
            }
            if caller.token_sha256.as_ref().is_some_and(|hash| digest(hash).is_none()) {
                faults.push(format!("caller {name:?}: token_sha256 has 64 hexadecimal digits"));
            }
            if caller.token.is_none() && caller.token_sha256.is_none() && caller.certificate.is_none() {
                faults.push(format!("caller {name:?}: expected a token, or a name in a certificate"));
            }
            let token = caller.token.as_deref().unwrap_or_default();
            let length = token.chars().count();
            if caller.token.is_some() && length < TOKEN_MIN {
                faults.push(format!(
                    "caller {name:?}: a token has at least {TOKEN_MIN} characters, this one has {length}"
                ));
            }
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                faults.push(format!("caller {name:?}: a token is of visible ASCII characters"));
            }
            if caller.certificate.as_ref().is_some_and(|name| name.is_empty() || !name.is_ascii()) {
                faults.push(format!("caller {name:?}: a name in a certificate is of ASCII characters"));
            }
            if name == ANONYMOUS {
                faults.push(format!("caller {name:?}: this name means callers without a token"));
            }
            let others = || policy.callers.iter().filter(|(other, _)| *other != name).map(|(_, other)| other);
            let shown = caller.shown();
            if shown.is_some() && others().any(|other| other.shown() == shown) {
                faults.push(format!("caller {name:?}: another caller has the same token"));
            }
            if caller.certificate.is_some() && others().any(|other| other.certificate == caller.certificate) {
                faults.push(format!("caller {name:?}: another caller has the same certificate"));
            }
        }
        for (index, rule) in policy.rules.iter().enumerate() {
            let known = |name: &String| name == ANONYMOUS || policy.callers.contains_key(name);
            faults.extend(
                rule.callers
                    .iter()
                    .filter(|name| !known(name))
                    .map(|name| format!("rule {}: no caller is called {name:?}", index + 1)),
            );
        }
        if faults.is_empty() { Ok(policy) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }

    /// Returns the name of the caller with this token; without a token, the name of the anonymous caller.
    ///
    /// # Errors
    /// Returns [`Code::Unauthenticated`] for an unknown token.
    ///
    /// # Example
    /// See [`Policy`].
    pub fn caller(&self, token: Option<&str>) -> Result<&str, Fault> {
        let Some(token) = token else { return Ok(ANONYMOUS) };
        // The token is compared with all known tokens in constant time, so that the time does not show how close a
        // guess was.
        let mut found = None;
        let shown = Sha256::digest(token.as_bytes());
        for (name, caller) in &self.callers {
            let is_token = caller.token.as_ref().is_some_and(|known| is_same(token.as_bytes(), known.as_bytes()));
            let hash = caller.token_sha256.as_deref().and_then(digest);
            if is_token || hash.is_some_and(|known| is_same(&shown, &known)) {
                found = Some(name.as_str());
            }
        }
        found.ok_or_else(|| Fault::new(Code::Unauthenticated, "the token is not known"))
    }

    /// Returns warnings about valid rules that are probably mistakes: callers that no rule allows anything, and rules
    /// that allow every client everything.
    ///
    /// # Example
    /// ```
    /// use lehr_node::Policy;
    /// let text = r#"{ "callers": { "ada": { "token": "correct-horse-battery" } }, "rules": [{ "callers": ["anonymous"] }] }"#;
    /// let warnings = Policy::from_json(text).unwrap().warnings();
    /// assert_eq!(warnings[0], "caller \"ada\": no rule allows anything");
    /// assert!(warnings[1].starts_with("rule 1: anyone who reaches the node may do everything"));
    /// ```
    pub fn warnings(&self) -> Vec<String> {
        let allows = |rule: &&Rule| rule.effect == Effect::Allow;
        let is_named = |rule: &Rule, name: &String| rule.callers.is_empty() || rule.callers.contains(name);
        let idle =
            self.callers.keys().filter(|name| !self.rules.iter().filter(allows).any(|rule| is_named(rule, name)));
        let mut warnings: Vec<String> = idle.map(|name| format!("caller {name:?}: no rule allows anything")).collect();
        for (index, rule) in self.rules.iter().enumerate().filter(|(_, rule)| rule.effect == Effect::Allow) {
            let is_open = rule.verbs.is_empty() && rule.paths.is_empty() && rule.contracts.is_empty();
            if is_open && is_named(rule, &ANONYMOUS.to_owned()) {
                let number = index + 1;
                warnings
                    .push(format!("rule {number}: anyone who reaches the node may do everything that no rule denies"));
            }
        }
        warnings
    }

    /// Returns the name of the caller with a certificate for these DNS names.
    ///
    /// # Errors
    /// Returns [`Code::PermissionDenied`] if the policy names no such caller, or more than one. A signature alone
    /// grants no rights.
    ///
    /// # Example
    /// ```
    /// use lehr_node::Policy;
    /// let policy = Policy::from_json(r#"{ "callers": { "worker": { "certificate": "worker.example.org" } } }"#).unwrap();
    /// assert_eq!(policy.holder(&["worker.example.org".to_owned()]).unwrap(), "worker");
    /// assert!(policy.holder(&["other.example.org".to_owned()]).is_err());
    /// ```
    pub fn holder(&self, names: &[String]) -> Result<&str, Fault> {
        let has = |wanted: &String| names.iter().any(|name| name.eq_ignore_ascii_case(wanted));
        let mut holders = self.callers.iter().filter(|(_, caller)| caller.certificate.as_ref().is_some_and(has));
        match (holders.next(), holders.next()) {
            (Some((name, _)), None) => Ok(name),
            (None, _) => {
                let reason = format!("no caller has a certificate for {}", names.join(", "));
                Err(Fault::new(Code::PermissionDenied, reason))
            }
            (Some(_), Some(_)) => {
                let reason = format!("a certificate for {} is that of more than one caller", names.join(", "));
                Err(Fault::new(Code::PermissionDenied, reason))
            }
        }
    }

    /// Checks whether a caller may use this verb at this path.
    ///
    /// # Errors
    /// If no rule allows this, or if a rule denies it, returns [`Code::PermissionDenied`], or [`Code::Unauthenticated`]
    /// for a caller without a token.
    ///
    /// # Example
    /// See [`Policy`].
    pub fn check(&self, caller: &str, verb: Verb, path: &str, contract: &str) -> Result<(), Fault> {
        let mut speaking = self.rules.iter().filter(|rule| rule.speaks_of(caller, verb, path, contract)).peekable();
        if speaking.peek().is_some() && speaking.all(|rule| rule.effect == Effect::Allow) {
            return Ok(());
        }
        if caller == ANONYMOUS {
            return Err(Fault::new(Code::Unauthenticated, format!("a token is required to {verb} {path}")));
        }
        Err(Fault::new(Code::PermissionDenied, format!("{caller} may not {verb} {path}")))
    }
}

/// Compares two byte sequences in constant time.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let mut difference = left.len() ^ right.len();
    for (index, byte) in left.iter().enumerate() {
        difference |= usize::from(byte ^ right.get(index).copied().unwrap_or(0));
    }
    difference == 0
}
