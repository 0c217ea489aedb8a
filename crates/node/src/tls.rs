//! TLS at the edge: the certificate that a node shows, and whose certificates it asks clients for.

use std::fmt;
use std::path::{Path, PathBuf};

use lehr_services::Fault;
use lehr_sync::Arc;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

use crate::certificate::{authorities, bad, certificates, key, mismatch, provider, reason};
use crate::renewed::{News, Renewed};

/// The certificates that a node shows and asks for when a connection begins.
///
/// With a file of authorities every client has to show a certificate that one of them has signed (mutual TLS). The DNS
/// names in it say which caller of the [`Policy`](crate::Policy) that is; a certificate that is no caller's opens
/// nothing.
///
/// # Example
/// ```
/// use std::path::{Path, PathBuf};
/// use lehr_node::Tls;
/// let fault = Tls::from_files(Path::new("no/such.pem"), Path::new("no/such.key"), None).unwrap_err();
/// assert!(fault.reason().starts_with("no/such.pem: "));
/// ```
///
/// Changed files are read again when a connection begins, so you renew a certificate by replacing the file. Connections
/// that have begun keep their certificate. A file that cannot be used is reported in the node's log, and the
/// certificate before it stays.
#[derive(Clone)]
pub struct Tls {
    config: Arc<Renewed<Arc<ServerConfig>>>,
    asks: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Tls").field("asks_for_certificates", &self.asks).finish_non_exhaustive()
    }
}

impl Tls {
    /// From files in PEM: the node's certificate with those between it and its authority, its private key, and the
    /// authorities of clients.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`](lehr_services::Code), naming the file: it cannot be read, has no certificate or
    /// key, or the key is not the certificate's.
    ///
    /// # Example
    /// See [`Tls`].
    pub fn from_files(certificate: &Path, private: &Path, clients: Option<&Path>) -> Result<Self, Fault> {
        let files: Vec<PathBuf> =
            [Some(certificate), Some(private), clients].into_iter().flatten().map(Into::into).collect();
        let named = files.clone();
        let config = Renewed::new(files, move |texts| config(&named, texts).map(Arc::new))?;
        Ok(Self { config: Arc::new(config), asks: clients.is_some() })
    }

    /// Whether clients have to show a certificate.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// For a connection that begins now, and the changes of the files since the last one.
    pub(crate) fn acceptor(&self) -> (TlsAcceptor, News) {
        let (config, news) = self.config.look();
        (TlsAcceptor::from(config), news)
    }
}

/// Configures TLS for a node: its certificate and its key. If a third file exists, it names the authorities of clients.
fn config(files: &[PathBuf], texts: &[Vec<u8>]) -> Result<ServerConfig, Fault> {
    let (certificate, private) = (&files[0], &files[1]);
    let (chain, secret) = (certificates(certificate, &texts[0])?, key(private, &texts[1])?);
    let unusable = |error: &rustls::Error| bad(certificate, reason(error));
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?;
    let builder = match files.get(2) {
        None => builder.with_no_client_auth(),
        Some(file) => {
            let roots = Arc::new(authorities(file, &texts[2])?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider()).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| bad(file, error))?)
        }
    };
    let mut config = builder.with_single_cert(chain, secret).map_err(|error| mismatch(certificate, private, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The DNS names in a certificate whose signature has been checked.
pub(crate) fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    match webpki::EndEntityCert::try_from(certificate) {
        Ok(certificate) => certificate.valid_dns_names().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}
