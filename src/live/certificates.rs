//! Makes the certificates of a control plane: an authority, and a certificate for each client and server.
//!
//! Inputs: names. Outputs: keys and certificates as PEM, in memory or as files that only their owner can read.

use std::path::{Path, PathBuf};
use std::{fmt, fs};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// An authority that signs certificates of one control plane.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    der: Vec<u8>,
    pem: String,
    key_pem: String,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority(..)")
    }
}

/// A certificate with its key, both as PEM.
#[derive(Clone)]
pub struct Certified {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl fmt::Debug for Certified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Certified(..)")
    }
}

impl Authority {
    /// Makes a new authority.
    ///
    /// # Errors
    /// No key can be made.
    pub fn new() -> Result<Self, String> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "nodeproof");
        let key = KeyPair::generate().map_err(unmade)?;
        let certificate = params.self_signed(&key).map_err(unmade)?;
        let (pem, key_pem) = (certificate.pem(), key.serialize_pem());
        let der = certificate.der().to_vec();
        Ok(Self { issuer: Issuer::new(params, key), der, pem, key_pem })
    }

    /// Returns the authority's own certificate as DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns the authority's own certificate as PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the authority's key as PEM.
    #[must_use]
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    /// Signs the certificate of a server.
    ///
    /// # Errors
    /// A name cannot stand in a certificate.
    pub fn server(&self, names: &[&str]) -> Result<Certified, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).map_err(unmade)?;
        params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// Signs the certificate of a client that authenticates as this user in this group.
    ///
    /// # Errors
    /// A name cannot stand in a certificate.
    pub fn client(&self, user: &str, group: Option<&str>) -> Result<Certified, String> {
        let mut params = named(user, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<Certified, String> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(unmade)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(unmade)?;
        Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

/// Returns the subject of a certificate for a user and its group.
pub(crate) fn named(user: &str, group: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, user);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params
}

impl Certified {
    /// Writes `NAME.crt` and `NAME.key` into a directory that only its owner can read.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub(in crate::live) fn write(&self, directory: &Path, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let files = (directory.join(format!("{name}.crt")), directory.join(format!("{name}.key")));
        write(&files.0, &self.certificate)?;
        write(&files.1, &self.key)?;
        Ok(files)
    }
}

/// Writes a file.
pub(in crate::live) fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn unmade(error: rcgen::Error) -> String {
    format!("a certificate cannot be made: {error}")
}
