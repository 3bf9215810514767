//! Certificate signing requests and certificates (RFC 2986, RFC 5280), as far as Kubernetes looks at them.
//!
//! Pure: bytes and texts. Mirrors pkg/apis/certificates/v1/helpers.go and
//! pkg/controller/certificates/authority/policies.go (v1.34). Left out on purpose: keys and signatures. All keys are
//! the same point of the curve, no signature is true, and none is checked.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;

use jiff::Timestamp;
use x509_cert::certificate::{CertificateInner, TbsCertificateInner, Version};
use x509_cert::der::asn1::{BitString, Ia5String, ObjectIdentifier, OctetString, SetOfVec, UtcTime};
use x509_cert::der::pem::LineEnding;
use x509_cert::der::{self, Any, Decode, Encode, EncodePem, Tag};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName};
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};
use x509_cert::request::{CertReq, CertReqInfo, ExtensionReq};
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::time::{Time, Validity};
use x509_cert::{attr::AttributeTypeAndValue, certificate::Rfc5280};

use super::base64;

/// The attribute `commonName` (RFC 5280, appendix A.1).
const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// The attribute `organizationName` (as above).
const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
const KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.15");
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
const BASIC_CONSTRAINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.19");
const EXTENDED_KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37");
/// `id-ecPublicKey` (RFC 5480).
const EC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
/// `secp256r1` (RFC 5480), the curve of the keys that a kubelet makes.
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
/// `ecdsa-with-SHA256` (RFC 5758).
const ECDSA_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2");
const SERVER_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const CLIENT_AUTH: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");

/// The base point of the curve (FIPS 186-4, D.1.2.3), not compressed: it stands for every key.
const POINT: [u8; 65] = [
    4, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03,
    0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe,
    0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce,
    0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
];
/// A signature in form only: two numbers (RFC 3279, 2.2.3).
const NO_SIGNATURE: [u8; 8] = [0x30, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01];

/// The name of the cluster's authority. Source: cmd/kubeadm/app/phases/certs/certlist.go (v1.34), `KubeadmCertRootCA`.
const AUTHORITY: &str = "kubernetes";

/// Why a text is no certificate signing request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RequestError {
    /// Source: pkg/apis/certificates/v1/helpers.go (v1.34), `ParseCSR`.
    #[error("PEM block type must be CERTIFICATE REQUEST")]
    NoPem,
    /// Go names the place in the ASN.1; that text is not mirrored.
    #[error("asn1: structure error: not a PKCS #10 certificate request")]
    NoRequest,
}

/// Whom a certificate names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DistinguishedName {
    /// `CN`: the user.
    pub common_name: String,
    /// `O`: the groups.
    pub organizations: Vec<String>,
}

/// What a certificate signing request asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateRequest {
    /// The subject.
    pub subject: DistinguishedName,
    /// DNS names among the alternative names.
    pub dns_names: Vec<String>,
    /// Addresses among the alternative names, 4 or 16 bytes each.
    pub ip_addresses: Vec<Vec<u8>>,
    /// How many e-mail addresses there are among the alternative names.
    pub emails: usize,
    /// How many URIs there are among the alternative names.
    pub uris: usize,
    info: CertReqInfo,
}

/// What is read of a certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The subject.
    pub subject: DistinguishedName,
    /// From when it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
    /// The DNS names and addresses that it is for.
    pub names: Vec<String>,
}

/// Writes a request as PEM.
#[must_use]
pub fn request_pem(subject: &DistinguishedName, dns_names: &[String], ip_addresses: &[IpAddr]) -> String {
    write_request(subject, dns_names, ip_addresses).unwrap_or_default()
}

fn write_request(subject: &DistinguishedName, dns_names: &[String], ip_addresses: &[IpAddr]) -> der::Result<String> {
    let mut attributes = SetOfVec::new();
    let mut names = Vec::new();
    for name in dns_names {
        names.push(GeneralName::DnsName(Ia5String::new(name)?));
    }
    for address in ip_addresses {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        names.push(GeneralName::IpAddress(OctetString::new(bytes)?));
    }
    if !names.is_empty() {
        let extension = extension(ALTERNATIVE_NAMES, false, &SubjectAltName(names))?;
        attributes.insert(ExtensionReq(Vec::from([extension])).try_into()?)?;
    }
    let info = CertReqInfo {
        version: x509_cert::request::Version::V1,
        subject: name_of(subject)?,
        public_key: public_key()?,
        attributes,
    };
    CertReq { info, algorithm: algorithm(), signature: BitString::from_bytes(&NO_SIGNATURE)? }.to_pem(LineEnding::LF)
}

/// Reads `spec.request`: PEM in base64.
///
/// # Errors
/// It is something else.
pub fn read_request(request: &str) -> Result<CertificateRequest, RequestError> {
    let bytes = block(request, "CERTIFICATE REQUEST").ok_or(RequestError::NoPem)?;
    let info = CertReq::from_der(&bytes).map_err(|_| RequestError::NoRequest)?.info;
    let mut read = CertificateRequest {
        subject: subject_of(&info.subject),
        dns_names: Vec::new(),
        ip_addresses: Vec::new(),
        emails: 0,
        uris: 0,
        info,
    };
    for name in alternative_names(&read.info).map(|names| names.0).unwrap_or_default() {
        match name {
            GeneralName::DnsName(name) => read.dns_names.push(name.to_string()),
            GeneralName::IpAddress(bytes) => read.ip_addresses.push(bytes.as_bytes().to_vec()),
            GeneralName::Rfc822Name(_) => read.emails += 1,
            GeneralName::UniformResourceIdentifier(_) => read.uris += 1,
            _ => {}
        }
    }
    Ok(read)
}

/// Issues a certificate for a request, as PEM.
///
/// Source: pkg/controller/certificates/authority/{authority,policies}.go (v1.34), `Sign`, `PermissiveSigningPolicy`.
#[must_use]
pub fn issue(
    request: &CertificateRequest,
    usages: &[&str],
    (not_before, not_after): (Timestamp, Timestamp),
    serial: [u8; 16],
) -> String {
    write_certificate(request, usages, (not_before, not_after), serial).unwrap_or_default()
}

fn write_certificate(
    request: &CertificateRequest,
    usages: &[&str],
    (not_before, not_after): (Timestamp, Timestamp),
    mut serial: [u8; 16],
) -> der::Result<String> {
    // A serial number is positive.
    serial[0] = serial[0] & 0x7f | 0x01;
    let mut key_usages = der::flagset::FlagSet::default();
    let mut purposes = Vec::new();
    for usage in usages {
        match *usage {
            "digital signature" => key_usages |= KeyUsages::DigitalSignature,
            "key encipherment" => key_usages |= KeyUsages::KeyEncipherment,
            "server auth" => purposes.push(SERVER_AUTH),
            "client auth" => purposes.push(CLIENT_AUTH),
            _ => {}
        }
    }
    let mut extensions = Vec::from([extension(KEY_USAGE, true, &KeyUsage(key_usages))?]);
    if !purposes.is_empty() {
        extensions.push(extension(EXTENDED_KEY_USAGE, false, &ExtendedKeyUsage(purposes))?);
    }
    let constraints = BasicConstraints { ca: false, path_len_constraint: None };
    extensions.push(extension(BASIC_CONSTRAINTS, true, &constraints)?);
    if let Some(names) = alternative_names(&request.info) {
        extensions.push(extension(ALTERNATIVE_NAMES, false, &names)?);
    }
    let issuer = DistinguishedName { common_name: String::from(AUTHORITY), organizations: Vec::new() };
    let tbs_certificate = TbsCertificateInner::<Rfc5280> {
        version: Version::V3,
        serial_number: SerialNumber::new(&serial)?,
        signature: algorithm(),
        issuer: name_of(&issuer)?,
        validity: Validity { not_before: time(not_before)?, not_after: time(not_after)? },
        subject: request.info.subject.clone(),
        subject_public_key_info: request.info.public_key.clone(),
        issuer_unique_id: None,
        subject_unique_id: None,
        extensions: Some(extensions),
    };
    let signature = BitString::from_bytes(&NO_SIGNATURE)?;
    CertificateInner { tbs_certificate, signature_algorithm: algorithm(), signature }.to_pem(LineEnding::LF)
}

/// Reads the first certificate of `status.certificate`: PEM in base64.
#[must_use]
pub fn read_certificate(certificate: &str) -> Option<Certificate> {
    let bytes = block(certificate, "CERTIFICATE")?;
    let read = x509_cert::Certificate::from_der(&bytes).ok()?.tbs_certificate;
    let instant = |time: &Time| Timestamp::from_second(i64::try_from(time.to_unix_duration().as_secs()).ok()?).ok();
    let extensions = read.extensions.unwrap_or_default();
    let alternative = extensions.iter().find(|extension| extension.extn_id == ALTERNATIVE_NAMES);
    let alternative = alternative.and_then(|found| SubjectAltName::from_der(found.extn_value.as_bytes()).ok());
    let names = alternative.map(|names| names.0.iter().filter_map(written).collect()).unwrap_or_default();
    Some(Certificate {
        subject: subject_of(&read.subject),
        not_before: instant(&read.validity.not_before)?,
        not_after: instant(&read.validity.not_after)?,
        names,
    })
}

/// Reads whom a certificate names: the bytes of DER.
#[must_use]
pub fn read_subject(der: &[u8]) -> Option<DistinguishedName> {
    Some(subject_of(&x509_cert::Certificate::from_der(der).ok()?.tbs_certificate.subject))
}

/// Returns the bytes of the first PEM block of a kind; letters around it are skipped.
fn block(encoded: &str, kind: &str) -> Option<Vec<u8>> {
    let pem = base64::decode(encoded).and_then(|bytes| String::from_utf8(bytes).ok())?;
    let begin = alloc::format!("-----BEGIN {kind}-----");
    let end = alloc::format!("-----END {kind}-----");
    let (_, rest) = pem.split_once(&begin)?;
    base64::decode(rest.split_once(&end)?.0)
}

/// Returns a DNS name or an address as it is written.
fn written(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(name.to_string()),
        GeneralName::IpAddress(bytes) => match bytes.as_bytes().len() {
            4 => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.as_bytes()).ok()?).to_string()),
            _ => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_bytes()).ok()?).to_string()),
        },
        _ => None,
    }
}

fn extension(id: ObjectIdentifier, critical: bool, value: &impl Encode) -> der::Result<Extension> {
    Ok(Extension { extn_id: id, critical, extn_value: OctetString::new(value.to_der()?)? })
}

fn alternative_names(info: &CertReqInfo) -> Option<SubjectAltName> {
    let requested =
        info.attributes.iter().find(|attribute| attribute.oid == <ExtensionReq as der::oid::AssociatedOid>::OID)?;
    let extensions = requested.values.iter().next()?.decode_as::<Vec<Extension>>().ok()?;
    let found = extensions.into_iter().find(|extension| extension.extn_id == ALTERNATIVE_NAMES)?;
    SubjectAltName::from_der(found.extn_value.as_bytes()).ok()
}

fn algorithm() -> AlgorithmIdentifierOwned {
    AlgorithmIdentifierOwned { oid: ECDSA_SHA256, parameters: None }
}

fn public_key() -> der::Result<SubjectPublicKeyInfoOwned> {
    let algorithm = AlgorithmIdentifierOwned { oid: EC_KEY, parameters: Some(Any::from(P256)) };
    Ok(SubjectPublicKeyInfoOwned { algorithm, subject_public_key: BitString::from_bytes(&POINT)? })
}

/// Writes a name as Go does: the organisations, then the common name. Source: Go's crypto/x509/pkix (1.24),
/// `ToRDNSequence`.
fn name_of(subject: &DistinguishedName) -> der::Result<Name> {
    let mut parts = Vec::new();
    let organizations = subject.organizations.iter().map(|value| (ORGANIZATION, value));
    for (oid, value) in organizations.chain([(COMMON_NAME, &subject.common_name)]) {
        let tag = if value.bytes().all(is_printable) { Tag::PrintableString } else { Tag::Utf8String };
        let value = Any::new(tag, value.as_bytes())?;
        let mut set = SetOfVec::new();
        set.insert(AttributeTypeAndValue { oid, value })?;
        parts.push(RelativeDistinguishedName(set));
    }
    Ok(RdnSequence(parts))
}

/// Tells whether a PrintableString may hold a letter (X.680, 41.4).
const fn is_printable(letter: u8) -> bool {
    letter.is_ascii_alphanumeric()
        || matches!(letter, b' ' | b'\'' | b'(' | b')' | b'+' | b',' | b'-'..=b'/' | b':' | b'=' | b'?')
}

fn subject_of(name: &Name) -> DistinguishedName {
    let mut subject = DistinguishedName::default();
    for attribute in name.0.iter().flat_map(|part| part.0.iter()) {
        let value = String::from_utf8_lossy(attribute.value.value()).into_owned();
        match attribute.oid {
            COMMON_NAME => subject.common_name = value,
            ORGANIZATION => subject.organizations.push(value),
            _ => {}
        }
    }
    subject
}

fn time(at: Timestamp) -> der::Result<Time> {
    let seconds = Duration::from_secs(u64::try_from(at.as_second()).unwrap_or(0));
    UtcTime::from_unix_duration(seconds).map(Time::UtcTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> DistinguishedName {
        DistinguishedName {
            common_name: String::from("system:node:w1"),
            organizations: Vec::from([String::from("system:nodes")]),
        }
    }

    #[test]
    fn a_request_is_written_and_read_and_anything_else_refused() {
        let addresses = ["10.0.0.1".parse().unwrap(), "fd00::1".parse().unwrap()];
        let pem = request_pem(&node(), &[String::from("w1")], &addresses);
        let read = read_request(&base64::encode(pem.as_bytes())).unwrap();
        assert_eq!((read.subject, read.dns_names), (node(), Vec::from([String::from("w1")])));
        assert_eq!(read.ip_addresses.iter().map(Vec::len).collect::<Vec<_>>(), [4, 16]);
        assert_eq!(read_request("YQ=="), Err(RequestError::NoPem));
        assert_eq!(read_request("*"), Err(RequestError::NoPem));
        let broken = pem.replace("MI", "MA");
        assert_eq!(read_request(&base64::encode(broken.as_bytes())), Err(RequestError::NoRequest));
    }

    #[test]
    fn a_certificate_names_the_subject_of_its_request() {
        let pem = request_pem(&node(), &[], &[]);
        let request = read_request(&base64::encode(pem.as_bytes())).unwrap();
        let instants: (Timestamp, Timestamp) =
            ("2026-01-01T00:00:00Z".parse().unwrap(), "2027-01-01T00:00:00Z".parse().unwrap());
        let pem = issue(&request, &["digital signature", "client auth"], instants, [0xff; 16]);
        let read = read_certificate(&base64::encode(pem.as_bytes())).unwrap();
        assert_eq!(
            read,
            Certificate { subject: node(), not_before: instants.0, not_after: instants.1, names: Vec::new() }
        );
        assert_eq!(read_certificate("YQ=="), None);
    }
}
