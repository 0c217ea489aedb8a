//! Reads certificates and keys from files, and describes their faults.

use std::error::Error;
use std::path::Path;

use lehr_services::{Code, Fault};
use lehr_sync::Arc;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{AlertDescription as Alert, CertificateError, RootCertStore};

/// Returns the cryptography provider. For the reasons for this choice, see `docs/design/node.md`.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Returns a fault that names a file and what is wrong with it.
pub(crate) fn bad(file: &Path, what: impl std::fmt::Display) -> Fault {
    Fault::new(Code::InvalidValue, format!("{}: {what}", file.display()))
}

/// Reads the bytes of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, Fault> {
    std::fs::read(file).map_err(|error| bad(file, error))
}

/// Returns the certificates in the PEM text of a file; the first is the holder's certificate.
pub(crate) fn certificates(file: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, Fault> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let found = found.map_err(|error| bad(file, format!("expected certificates in PEM, found {error}")))?;
    if found.is_empty() {
        return Err(bad(file, "expected \"-----BEGIN CERTIFICATE-----\", found no certificate"));
    }
    Ok(found)
}

/// Returns the private key in the PEM text of a file.
pub(crate) fn key(file: &Path, text: &[u8]) -> Result<PrivateKeyDer<'static>, Fault> {
    PrivateKeyDer::from_pem_slice(text).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => {
            bad(file, "expected \"-----BEGIN PRIVATE KEY-----\", found no private key")
        }
        other => bad(file, format!("expected a private key in PEM, found {other}")),
    })
}

/// Returns the trusted authorities in the PEM text of a file.
pub(crate) fn authorities(file: &Path, text: &[u8]) -> Result<RootCertStore, Fault> {
    let mut roots = RootCertStore::empty();
    for (index, certificate) in certificates(file, text)?.into_iter().enumerate() {
        let refuse = |error| bad(file, format!("certificate {}: {}", index + 1, reason(&error)));
        roots.add(certificate).map_err(refuse)?;
    }
    Ok(roots)
}

/// Returns the reason why a certificate and its key cannot be used together.
pub(crate) fn mismatch(certificate: &Path, private: &Path, error: &rustls::Error) -> Fault {
    match error {
        rustls::Error::InconsistentKeys(_) => {
            bad(private, format!("this key is not the one of the certificate in {}", certificate.display()))
        }
        other => bad(certificate, reason(other)),
    }
}

/// Returns the reason of a TLS refusal, with advice for fixing it.
pub(crate) fn reason(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // The second case is an authority of the same name with another key.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "its certificate is signed by no authority that is known here (name one with --ca)".to_owned()
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "its certificate has expired".to_owned()
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "its certificate is not valid yet, or the clock of this machine is wrong".to_owned()
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "its certificate is for another name".to_owned()
            }
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
                "its certificate is for another purpose".to_owned()
            }
            CertificateError::BadEncoding => "what should be a certificate cannot be read as one".to_owned(),
            other => format!("its certificate cannot be used: {other:?}"),
        },
        rustls::Error::AlertReceived(Alert::CertificateRequired | Alert::HandshakeFailure) => {
            "it asks for a certificate (show one with --cert and --key)".to_owned()
        }
        rustls::Error::AlertReceived(Alert::UnknownCA) => {
            "it does not know the authority that signed the certificate it was shown".to_owned()
        }
        rustls::Error::AlertReceived(Alert::CertificateExpired) => {
            "the certificate that it was shown has expired".to_owned()
        }
        rustls::Error::AlertReceived(Alert::BadCertificate | Alert::CertificateUnknown | Alert::AccessDenied) => {
            "it does not take the certificate that it was shown".to_owned()
        }
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS: http:// instead of https:// may be meant".to_owned()
        }
        other => other.to_string(),
    }
}

/// Returns the TLS reason inside another error, if it has one.
pub(crate) fn reason_within(error: &(dyn Error + 'static)) -> Option<String> {
    let mut next = Some(error);
    let mut last = String::new();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<rustls::Error>() {
            return Some(reason(found));
        }
        // The `source` of an I/O error skips the error inside it, so look at the inner error first.
        if let Some(inner) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            return reason_within(inner);
        }
        last = error.to_string();
        next = error.source();
    }
    // Above HTTP/2, only the text of the error that broke the connection is left.
    let alerts = [
        Alert::CertificateRequired,
        Alert::HandshakeFailure,
        Alert::UnknownCA,
        Alert::CertificateExpired,
        Alert::BadCertificate,
        Alert::CertificateUnknown,
        Alert::AccessDenied,
    ];
    let alert = alerts.into_iter().find(|alert| last.contains(&format!("{alert:?}")))?;
    Some(reason(&rustls::Error::AlertReceived(alert)))
}
