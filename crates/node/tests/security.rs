//! TLS: the identities of node and client, and the reports if they cannot be verified.

use std::net::SocketAddr;
use std::path::PathBuf;

use lehr_node::{Client, Log, Node, Policy, Settings, Tls, Trust};
use lehr_runtime::{Port, block_on};
use lehr_services::{Code, Fault, Host, Reference};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

use crate::behaviours::samples::*;
use crate::raw::ask;
use crate::{FOR_EVER, dispatcher, settings};

/// A certificate authority with a folder for the certificates that it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let (key, mut params) = (KeyPair::generate().unwrap(), CertificateParams::new(Vec::new()).unwrap());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = tempfile::tempdir().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
        Self { issuer: Issuer::new(params, key), folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Signs a certificate for `names`. Returns the paths of its files, `name.pem` and `name.key`.
    fn sign(&self, name: &str, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> (PathBuf, PathBuf) {
        let key = KeyPair::generate().unwrap();
        let mut params =
            CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let (public, private) = (self.file(&format!("{name}.pem")), self.file(&format!("{name}.key")));
        std::fs::write(&public, certificate.pem()).unwrap();
        std::fs::write(&private, key.serialize_pem()).unwrap();
        (public, private)
    }

    fn trust(&self, shown: Option<&(PathBuf, PathBuf)>) -> Trust {
        let shown = shown.map(|(public, private)| (public.as_path(), private.as_path()));
        Trust::from_files(Some(&self.file("ca.pem")), shown).unwrap()
    }
}

const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

/// Runs a behaviour on a node that has a certificate for this machine.
fn on_tls(authority: &Authority, clients: bool, policy: Option<Policy>, behaviour: impl AsyncFn(&Node)) {
    let (public, private) = authority.sign("node", &HERE, |_| ());
    let clients = clients.then(|| authority.file("ca.pem"));
    let tls = Some(Tls::from_files(&public, &private, clients.as_deref()).unwrap());
    let (workers, _) = dispatcher(2);
    let node = Node::start(Host::new(workers.handle()), Settings { tls, policy, ..settings() }).unwrap();
    block_on(async {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        behaviour(&node).await;
    });
    block_on(node.shutdown(FOR_EVER));
}

fn books(client: &Client, scheme: &str, at: SocketAddr) -> Reference<Ledger> {
    Reference::over(client.link(&format!("{scheme}://{at}/books")).unwrap()).within(FOR_EVER)
}

async fn asked(trust: Trust, at: SocketAddr) -> Result<i64, Fault> {
    books(&Client::trusting(None, trust).unwrap(), "https", at).call(Sum {}).await
}

#[test]
fn nodes_speak_tls_and_nothing_else_where_they_have_a_certificate() {
    let authority = Authority::new();
    on_tls(&authority, false, None, async |node| {
        let client = Client::trusting(None, authority.trust(None)).unwrap();
        let far = books(&client, "https", node.address());
        far.call(put("ada", 5)).await.unwrap();
        assert_eq!(far.call(Sum {}).await.unwrap(), 5);
        let mut heard = far.subscribe(lehr_services::Subscribe::default()).await.unwrap();
        assert!(matches!(heard.next().await, Ok(lehr_services::Event::Seed(seed)) if seed.entries["ada"] == 5));
        let plain = ask(node.address(), "GET /books", "", "");
        assert_eq!(plain.status, 400);
        assert!(String::from_utf8(plain.body).unwrap().contains("https://"));
        let plain = books(&client, "http", node.address()).call(Sum {}).await.unwrap_err();
        assert_eq!(plain.code(), Code::Unavailable);
    });
}

#[test]
fn what_is_wrong_with_a_certificate_is_said_in_words() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    on_tls(&authority, false, None, async |node| {
        let fault = asked(stranger.trust(None), node.address()).await.unwrap_err();
        assert!(fault.reason().contains("signed by no authority that is known here (name one with --ca)"), "{fault}");
    });
    let cases = [
        ("old", HERE.as_slice(), true, "its certificate has expired"),
        ("other", &["elsewhere.example.org"], false, "its certificate is for another name"),
    ];
    for (name, names, is_old, expected) in cases {
        let (public, private) = authority.sign(name, names, |params| {
            if is_old {
                params.not_after = date_time_ymd(2001, 1, 1);
            }
        });
        let tls = Some(Tls::from_files(&public, &private, None).unwrap());
        let (workers, _) = dispatcher(1);
        let node = Node::start(Host::new(workers.handle()), Settings { tls, ..settings() }).unwrap();
        let fault = block_on(asked(authority.trust(None), node.address())).unwrap_err();
        assert!(fault.reason().contains(expected), "{fault}");
    }
    let (workers, _) = dispatcher(1);
    let plain = Node::start(Host::new(workers.handle()), settings()).unwrap();
    let fault = block_on(asked(authority.trust(None), plain.address())).unwrap_err();
    assert!(fault.reason().contains("http:// instead of https://"), "{fault}");
}

#[test]
fn a_file_that_is_no_certificate_or_not_the_right_one_is_named() {
    let authority = Authority::new();
    let ((public, private), (_, other)) = (authority.sign("a", &HERE, |_| ()), authority.sign("b", &HERE, |_| ()));
    let ca = authority.file("ca.pem");
    let reason = |outcome: Result<Tls, Fault>| outcome.unwrap_err().reason().to_owned();
    let missing = authority.file("missing.pem");
    assert!(reason(Tls::from_files(&missing, &private, None)).starts_with(&format!("{}: ", missing.display())));
    let mixed = reason(Tls::from_files(&public, &other, None));
    assert_eq!(
        mixed,
        format!("{}: this key is not the one of the certificate in {}", other.display(), public.display())
    );
    let swapped = reason(Tls::from_files(&private, &public, None));
    assert!(swapped.contains("found no certificate"), "{swapped}");
    assert!(reason(Tls::from_files(&public, &public, None)).contains("found no private key"));
    let text = authority.file("text.pem");
    std::fs::write(&text, "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n").unwrap();
    assert!(
        reason(Tls::from_files(&text, &private, None))
            .starts_with(&format!("{}: expected certificates in PEM", text.display()))
    );
    assert!(reason(Tls::from_files(&public, &private, Some(&text))).starts_with(&text.display().to_string()));
    // Client certificates without a policy are refused, because every client with a certificate could then do
    // everything.
    let tls = Some(Tls::from_files(&public, &private, Some(&ca)).unwrap());
    let fault = Settings { tls, ..settings() }.check().unwrap_err();
    assert_eq!(fault.code(), Code::PermissionDenied);
}

// Catalogue: 123
#[test]
fn a_certificate_without_a_grant_opens_nothing() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let policy = Policy::from_json(
        r#"{
            "callers": {
                "worker": { "certificate": "worker.example.org" },
                "reader": { "certificate": "reader.example.org" },
                "ada": { "token": "ada-has-this-token" }
            },
            "rules": [
                { "callers": ["worker", "ada"], "paths": ["/books"] },
                { "callers": ["reader"], "verbs": ["get"], "paths": ["/books"] }
            ]
        }"#,
    );
    on_tls(&authority, true, Some(policy.unwrap()), async |node| {
        let at = node.address();
        let show = |name: &str| authority.sign(name, &[&format!("{name}.example.org")], |_| ());
        let (worker, reader, nobody) = (show("worker"), show("reader"), show("nobody"));
        assert_eq!(asked(authority.trust(Some(&worker)), at).await.unwrap(), 0);
        let who =
            books(&Client::trusting(None, authority.trust(Some(&worker))).unwrap(), "https", at).call(Who {}).await;
        assert_eq!(who.unwrap().as_deref(), Some("worker"));
        let code = async |trust, path: &str| {
            let client = Client::trusting(None, trust).unwrap();
            let link = client.link(&format!("https://{at}{path}")).unwrap();
            Reference::<lehr_services::Directory>::over(link).within(FOR_EVER).get().await.unwrap_err().code()
        };
        // A right on one service gives no rights on system services. A signed certificate alone gives no rights.
        assert_eq!(code(authority.trust(Some(&worker)), "/directory").await, Code::PermissionDenied);
        assert_eq!(code(authority.trust(Some(&nobody)), "/directory").await, Code::PermissionDenied);
        assert_eq!(asked(authority.trust(Some(&nobody)), at).await.unwrap_err().code(), Code::PermissionDenied);
        assert_eq!(asked(authority.trust(Some(&reader)), at).await.unwrap_err().code(), Code::PermissionDenied);
        // A token takes precedence over the client certificate.
        let ada = Client::trusting(Some("ada-has-this-token"), authority.trust(Some(&nobody))).unwrap();
        assert_eq!(books(&ada, "https", at).call(Who {}).await.unwrap().as_deref(), Some("ada"));
        // A client without a certificate, or with a certificate from another authority, gets no connection.
        let fault = asked(authority.trust(None), at).await.unwrap_err();
        assert!(fault.code() == Code::Unavailable && fault.reason().contains("asks for a certificate"), "{fault}");
        let foreign = stranger.sign("worker", &["worker.example.org"], |_| ());
        let fault = asked(authority.trust(Some(&foreign)), at).await.unwrap_err();
        assert_eq!(fault.code(), Code::Unavailable, "{fault}");
    });
}

#[test]
fn a_certificate_is_renewed_while_connections_go_on() {
    let (before, after) = (Authority::new(), Authority::new());
    let (public, private) = before.sign("node", &HERE, |_| ());
    let tls = Some(Tls::from_files(&public, &private, None).unwrap());
    let told = Port::new();
    let lines = told.clone();
    let log = Log::new("info", move |line| lines.post(line.to_owned()).unwrap()).unwrap();
    let (workers, _) = dispatcher(2);
    let node = Node::start(Host::new(workers.handle()), Settings { tls, log: Some(log), ..settings() }).unwrap();
    let told = || -> Vec<String> {
        let lines = told.drain().into_iter().map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
        let of_certificates = lines.filter(|line| line["event"] == "certificate");
        of_certificates
            .map(|line| format!("{}: {}", line["level"].as_str().unwrap(), line["reason"].as_str().unwrap()))
            .collect()
    };
    block_on(async {
        node.host().start("/books", Bookkeeper::new).await.unwrap();
        let at = node.address();
        let old = books(&Client::trusting(None, before.trust(None)).unwrap(), "https", at);
        old.call(put("ada", 5)).await.unwrap();
        assert_eq!(told(), Vec::<String>::new());

        // Only the certificate is new and it does not match the key. New connections get the previous certificate, and
        // the log gives the reason once.
        let (new_public, new_private) = after.sign("node", &HERE, |_| ());
        std::fs::copy(&new_public, &public).unwrap();
        for _ in 0..2 {
            assert_eq!(asked(before.trust(None), at).await.unwrap(), 5);
        }
        let why = format!("{}: this key is not the one of the certificate in {}", private.display(), public.display());
        assert_eq!(told(), [format!("error: the one before is still shown, since {why}")]);

        std::fs::copy(&new_private, &private).unwrap();
        assert_eq!(asked(after.trust(None), at).await.unwrap(), 5);
        assert_eq!(told(), ["info: connections are shown the new one from now on"]);
        let fault = asked(before.trust(None), at).await.unwrap_err();
        assert!(fault.reason().contains("signed by no authority that is known here"), "{fault}");
        // An older connection continues, although its client would not accept the new certificate.
        assert_eq!(old.call(Sum {}).await.unwrap(), 5);
    });
    block_on(node.shutdown(FOR_EVER));
}

#[test]
fn a_client_shows_the_certificate_that_its_files_have_when_it_connects() {
    let authority = Authority::new();
    let policy = Policy::from_json(
        r#"{
            "callers": {
                "worker": { "certificate": "worker.example.org" },
                "reader": { "certificate": "reader.example.org" }
            },
            "rules": [{ "callers": ["worker", "reader"], "paths": ["/books"] }]
        }"#,
    );
    on_tls(&authority, true, Some(policy.unwrap()), async |node| {
        let worker = authority.sign("worker", &["worker.example.org"], |_| ());
        let reader = authority.sign("reader", &["reader.example.org"], |_| ());
        let trust = authority.trust(Some(&worker));
        let who = async |trust: &Trust| {
            let client = Client::trusting(None, trust.clone()).unwrap();
            books(&client, "https", node.address()).call(Who {}).await.unwrap()
        };
        assert_eq!(who(&trust).await.as_deref(), Some("worker"));
        std::fs::copy(&reader.0, &worker.0).unwrap();
        // The certificate without its key is not used, and the client keeps the previous pair.
        assert_eq!(who(&trust).await.as_deref(), Some("worker"));
        std::fs::copy(&reader.1, &worker.1).unwrap();
        assert_eq!(who(&trust).await.as_deref(), Some("reader"));
    });
}
