//! TLS of the served cluster: certificates of clients are asked for and not demanded.
//!
//! Inputs: the cluster's authority, the certificate that a client showed. Outputs: the acceptor of connections; the
//! user and the groups that a certificate names.

use std::sync::Arc;

use nodeproof_core::objects::{Text, x509};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::live::{Authority, Certified};

/// Returns the acceptor of connections, which offers HTTP/2 and HTTP/1.1.
pub(super) fn acceptor(authority: &Authority, own: &Certified) -> Result<TlsAcceptor, String> {
    let unfit = |what: &dyn std::fmt::Display| format!("the certificate of the server: {what}");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(authority.der())).map_err(|error| unfit(&error))?;
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone());
    let verifier = verifier.allow_unauthenticated().build().map_err(|error| unfit(&error))?;
    let chain = vec![CertificateDer::from_pem_slice(own.certificate.as_bytes()).map_err(|error| unfit(&error))?];
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).map_err(|error| unfit(&error))?;
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| unfit(&error))?.with_client_cert_verifier(verifier);
    let mut config = config.with_single_cert(chain, key).map_err(|error| unfit(&error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Returns the user and the groups of a certificate: its common name and its organisations.
///
/// Source: k8s.io/apiserver pkg/authentication/request/x509/x509.go (v1.34), `CommonNameUserConversion`.
pub(super) fn user_of(certificate: &CertificateDer<'_>) -> Option<(Text, Vec<Text>)> {
    let subject = x509::read_subject(certificate).filter(|subject| !subject.common_name.is_empty())?;
    Some((Text::from(subject.common_name), subject.organizations.into_iter().map(Text::from).collect()))
}
