//! TLS of the network edge: the certificate that a node presents, and the client certificates that it requires.

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

/// The certificates that a node presents and requires at the beginning of a connection.
///
/// With a file of authorities, every client must present a certificate that one of them signed (mutual TLS). The DNS
/// names in the certificate identify the caller of the [`Policy`](crate::Policy); a certificate without a caller grants
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
/// Changed files are read again at the beginning of a connection, so you renew a certificate by replacing the file.
/// Open connections keep their certificate. A file that cannot be used is reported in the node's log, and the earlier
/// certificate stays in use.
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
    /// Reads PEM files: the node's certificate with its chain up to the authority, its private key, and the authorities
    /// of clients.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`](lehr_services::Code) with the file if it cannot be read, has no certificate or
    /// key, or if the key does not match the certificate.
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

    /// Returns whether clients must present a certificate.
    pub(crate) fn asks(&self) -> bool {
        self.asks
    }

    /// Returns the acceptor for a connection that begins now, and how the files have changed since the last connection.
    pub(crate) fn acceptor(&self) -> (TlsAcceptor, News) {
        let (config, news) = self.config.look();
        (TlsAcceptor::from(config), news)
    }
}

/// Configures TLS for a node, with its certificate and its key. If there is a third file, it has the authorities of
/// clients.
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

/// Returns the DNS names in a certificate whose signature has been checked.
pub(crate) fn names(certificate: &CertificateDer<'_>) -> Vec<String> {
    match webpki::EndEntityCert::try_from(certificate) {
        Ok(certificate) => certificate.valid_dns_names().map(str::to_owned).collect(),
        Err(_) => Vec::new(),
    }
}
