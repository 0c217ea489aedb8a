//! TLS of a client: the authorities that it trusts, and the certificate that it presents.

use std::fmt;
use std::path::{Path, PathBuf};

use lehr_services::{Code, Fault};
use lehr_sync::Arc;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::certificate::{authorities, certificates, key, mismatch, provider, reason, reason_within};
use crate::renewed::Renewed;

/// The authorities that a client trusts, and its own certificate.
///
/// # Example
/// ```
/// use std::path::{Path, PathBuf};
/// use lehr_node::{Client, Trust};
/// let fault = Trust::from_files(Some(Path::new("no/such.pem")), None).unwrap_err();
/// assert!(fault.reason().starts_with("no/such.pem: "));
/// # if let Ok(trust) = Trust::from_files(None, None) {
/// let client = Client::trusting(None, trust)?; // whom the machine trusts
/// assert!(client.link("https://example.org/notes").is_ok());
/// # }
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone)]
pub struct Trust {
    config: Arc<Renewed<Arc<ClientConfig>>>,
}

impl fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Trust").finish_non_exhaustive()
    }
}

impl Trust {
    /// Trusts the authorities of a PEM file or, without a file, the authorities that the machine trusts. Presents a
    /// certificate, with its private key, to nodes that require one. Changed files are read again at the beginning of a
    /// connection; if they cannot be used, the earlier certificates stay in use.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] with the file that cannot be used; [`Code::InsufficientResources`] if the machine
    /// trusts no authority.
    ///
    /// # Example
    /// See [`Trust`].
    pub fn from_files(authority: Option<&Path>, identity: Option<(&Path, &Path)>) -> Result<Self, Fault> {
        let identity = identity.map(|(certificate, private)| [certificate, private]);
        let files = authority.into_iter().chain(identity.into_iter().flatten());
        let files: Vec<PathBuf> = files.map(Into::into).collect();
        let (named, has_authority) = (files.clone(), authority.is_some());
        let config = Renewed::new(files, move |texts| config(&named, texts, has_authority).map(Arc::new))?;
        Ok(Self { config: Arc::new(config) })
    }

    /// Starts TLS on a connection to a host, with these application protocols, in order of preference.
    ///
    /// # Errors
    /// Returns the reason of a failure, in words.
    pub async fn connect(
        &self,
        host: &str,
        stream: TcpStream,
        protocols: &[&str],
    ) -> Result<TlsStream<TcpStream>, String> {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(bare).map_err(|_| format!("{host:?} is no name of a host"))?;
        // A fault in changed files is not reported here. It shows when the earlier certificates are no longer accepted.
        let mut config = ClientConfig::clone(&self.config.look().0);
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        connected.map_err(|error| reason_within(&error).unwrap_or_else(|| error.to_string()))
    }
}

/// Configures TLS for a client: the authorities that it trusts, and its certificate and key, if it has any. The first
/// file has the authorities if `has_authority`.
fn config(files: &[PathBuf], texts: &[Vec<u8>], has_authority: bool) -> Result<ClientConfig, Fault> {
    let mut given = files.iter().zip(texts);
    let roots = match given.next().filter(|_| has_authority) {
        Some((file, text)) => authorities(file, text)?,
        None => {
            given = files.iter().zip(texts);
            of_this_machine()?
        }
    };
    let scarce = |error: rustls::Error| Fault::new(Code::InsufficientResources, reason(&error));
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(scarce)?
        .with_root_certificates(roots);
    match given.next().zip(given.next()) {
        None => Ok(builder.with_no_client_auth()),
        Some(((certificate, chain), (private, secret))) => builder
            .with_client_auth_cert(certificates(certificate, chain)?, key(private, secret)?)
            .map_err(|error| mismatch(certificate, private, &error)),
    }
}

/// Returns the authorities that this machine trusts.
fn of_this_machine() -> Result<RootCertStore, Fault> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Some stores contain unusable certificates; the usable certificates suffice.
    let (usable, _) = roots.add_parsable_certificates(found.certs);
    if usable == 0 {
        let why = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        let reason = format!("this machine has no list of authorities that it trusts (name one with --ca){why}");
        return Err(Fault::new(Code::InsufficientResources, reason));
    }
    Ok(roots)
}
