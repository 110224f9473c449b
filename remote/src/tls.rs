//! TLS 1.3 for TCP. A client knows the worker's certificate itself: no names, no authorities, no dates.

use crate::error::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, ServerConfig, ServerConnection, SignatureScheme, version,
};
use std::path::Path;
use std::sync::Arc;

/// A worker's certificate and key.
#[derive(Clone)]
pub struct Identity(Arc<ServerConfig>);

impl Identity {
    /// Reads PEM files.
    ///
    /// # Errors
    /// A file cannot be read, holds something else, or they do not belong together.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, Error> {
        let wrong = |file: &Path, error: &dyn ToString| Error::File {
            file: file.display().to_string(),
            reason: format!("{}; give a PEM file with a certificate, and one with its key", error.to_string()),
        };
        let chain = vec![read_certificate(certificate)?];
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&version::TLS13])
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| wrong(certificate, &error))?;
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn accept(&self) -> Result<rustls::Connection, Error> {
        let mut connection = ServerConnection::new(self.0.clone()).map_err(refused)?;
        connection.set_buffer_limit(None);
        Ok(connection.into())
    }
}

/// Reads the first certificate of a PEM file, as DER.
///
/// # Errors
/// The file cannot be read, or holds none.
pub fn read_certificate(file: &Path) -> Result<CertificateDer<'static>, Error> {
    CertificateDer::from_pem_file(file).map_err(|error| Error::File {
        file: file.display().to_string(),
        reason: format!("{error}; give a PEM file with the worker's certificate"),
    })
}

/// Begins TLS with the worker that has this certificate (DER).
pub(crate) fn connect(certificate: &[u8]) -> Result<rustls::Connection, Error> {
    let pinned = Pinned { certificate: certificate.to_vec(), provider: provider() };
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&version::TLS13])
        .map_err(refused)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    let name = ServerName::try_from("symm-worker").map_err(|error| Error::Refused(error.to_string()))?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(refused)?;
    connection.set_buffer_limit(None);
    Ok(connection.into())
}

pub(crate) fn refused(error: rustls::Error) -> Error {
    match error {
        rustls::Error::InvalidCertificate(_) => {
            Error::Refused("the worker shows another certificate than the one expected".into())
        }
        error => Error::Refused(format!("TLS: {error}")),
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    provider().secure_random.fill(&mut bytes).map_err(|_| Error::Lost("no random numbers".into()))?;
    Ok(bytes)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Trusts one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if end_entity.as_ref() == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not spoken here".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
