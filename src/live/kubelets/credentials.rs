//! The identity with which a hollow node comes to the API server, and how it gets its proof.
//!
//! Inputs: an identity and a [`Signer`]. Outputs: TLS settings and headers of its requests. With the cluster's CA key a
//! client certificate is signed here. Without it a certificate is requested, as a kubelet's bootstrap does
//! (certificates.k8s.io/v1, signer `kubernetes.io/kube-apiserver-client-kubelet`), and approved; or an administrator
//! impersonates the node. Invariant: in all three the API server sees the user `system:node:NAME` of the group
//! `system:nodes`, so that NodeRestriction and the Node authoriser apply. Left out on purpose: renewal of certificates,
//! since no run lasts as long as they do.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use nodeproof_core::json;
use nodeproof_core::network::Identity;
use nodeproof_core::objects::{Json, Text, base64};
use rcgen::KeyPair;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};

use crate::live::certificates::{Authority, named};
use crate::live::timing::{CERTIFICATE_LOOKS, CERTIFICATE_PERIOD};

/// Source: k8s.io/api certificates/v1 types.go (v1.34), `KubeAPIServerClientKubeletSignerName`.
const KUBELET_SIGNER: &str = "kubernetes.io/kube-apiserver-client-kubelet";

/// What is wrong with an address, a certificate or a key; the text never has its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CredentialsError(String);

fn wrong(what: impl std::fmt::Display) -> CredentialsError {
    CredentialsError(what.to_string())
}

/// The API server: its address, and the authority that signed its certificate.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) origin: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Option<Tls>,
}

/// What is needed to trust the server.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub(super) name: ServerName<'static>,
    verifier: Arc<WebPkiServerVerifier>,
}

impl Server {
    /// Takes an address, `https://HOST:PORT`, and the certificates of the authorities to trust (DER).
    ///
    /// `http://HOST:PORT` means HTTP/2 without TLS, as with a stub in tests. `name` is the name in the server's
    /// certificate, if it is not the host.
    ///
    /// # Errors
    /// The address is not valid, or no authority can be read.
    pub fn new(address: &str, authorities: &[Vec<u8>], name: Option<&str>) -> Result<Self, CredentialsError> {
        let uri: http::Uri = address.parse().map_err(|error| wrong(format_args!("address {address:?}: {error}")))?;
        let host = uri.host().ok_or_else(|| wrong(format_args!("address {address:?} has no host")))?;
        let host = host.trim_matches(['[', ']']).to_string();
        let is_plain = uri.scheme_str() == Some("http");
        let port = uri.port_u16().unwrap_or(if is_plain { 80 } else { 443 });
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        let origin = format!("{}://{authority}", if is_plain { "http" } else { "https" });
        let tls = if is_plain {
            None
        } else {
            if authorities.is_empty() {
                return Err(wrong(
                    "the kubeconfig names no authority of the cluster, and kubelets talk only to an API server that \
                     they can check: give it certificate-authority-data in place of insecure-skip-tls-verify",
                ));
            }
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(authorities.iter().map(|der| CertificateDer::from(der.as_slice())));
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
            let verifier = verifier.map_err(|error| wrong(format_args!("the cluster's authority: {error}")))?;
            let name = name.unwrap_or(&host).to_string();
            let name = ServerName::try_from(name).map_err(|error| wrong(format_args!("server name: {error}")))?;
            Some(Tls { name, verifier })
        };
        Ok(Self { origin, host, port, tls })
    }

    /// Returns the address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.origin
    }
}

/// A certificate with its key, or none.
pub(super) enum Proof {
    None,
    Certificate(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>),
}

impl Proof {
    /// Reads PEM.
    fn read(certificate: &[u8], key: &[u8]) -> Result<Self, CredentialsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
        let chain = chain.map_err(|_| wrong("the certificate cannot be read"))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("the key cannot be read"))?;
        Ok(Self::Certificate(chain, key))
    }
}

impl Tls {
    /// Returns the TLS settings of a client with this certificate.
    pub(super) fn client(&self, proof: Proof) -> Result<Arc<ClientConfig>, CredentialsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = versions.map_err(wrong)?.with_webpki_verifier(self.verifier.clone());
        let mut config = match proof {
            Proof::None => builder.with_no_client_auth(),
            Proof::Certificate(chain, key) => builder.with_client_auth_cert(chain, key).map_err(wrong)?,
        };
        config.alpn_protocols = vec![b"h2".to_vec()];
        // A node connects rarely: resumed sessions would save less than thousands of session stores cost.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Arc::new(config))
    }
}

fn sign(authority: &Authority, identity: &Identity) -> Result<Proof, CredentialsError> {
    let signed = authority.client(&identity.user, group(identity)).map_err(wrong)?;
    Proof::read(signed.certificate.as_bytes(), signed.key.as_bytes())
}

/// Returns the group of an identity; the server itself adds `system:authenticated`.
fn group(identity: &Identity) -> Option<&str> {
    identity.groups.iter().map(Text::as_str).find(|group| *group != "system:authenticated")
}

/// How nodes get their credentials.
pub enum Signer {
    /// Certificates, signed here with the cluster's own authority.
    Authority(Arc<Authority>),
    /// Certificates, requested and approved as an administrator.
    Requests(kube::Client),
    /// An administrator impersonates the node: nodes share connections, which costs least.
    Impersonation(Administrator),
    /// Nothing: for a server that does not check, as a stub in tests.
    Nobody,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Authority(_) => "Authority(..)",
            Self::Requests(_) => "Requests(..)",
            Self::Impersonation(_) => "Impersonation(..)",
            Self::Nobody => "Nobody",
        })
    }
}

/// The credentials of an administrator who may impersonate users and groups.
#[derive(Clone, Default)]
pub struct Administrator {
    /// The certificates (PEM), if there are any.
    pub certificate: Option<Vec<u8>>,
    /// Its key (PEM).
    pub key: Option<Vec<u8>>,
    /// A bearer token, if there is one.
    pub token: Option<String>,
}

impl std::fmt::Debug for Administrator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Administrator(..)")
    }
}

impl Administrator {
    /// Reads the credentials of a kubeconfig's user.
    ///
    /// # Errors
    /// They are made anew for each call, as by a program or an OIDC provider, or cannot be read.
    pub fn of(user: &kube::config::AuthInfo) -> Result<Self, String> {
        // Serialised because the fields have stable names in a kubeconfig only.
        let user = serde_json::to_value(user).map(Json::from).map_err(|error| error.to_string())?;
        let text = |field: &str| user.get(field).as_str().map(String::from);
        let read = |data: &str, file: &str| match (text(data), text(file)) {
            (Some(data), _) => base64::decode(&data).map(Some).ok_or_else(|| String::from("credentials: no base64")),
            (None, Some(file)) => std::fs::read(&file).map(Some).map_err(|error| format!("{file}: {error}")),
            (None, None) => Ok(None),
        };
        let administrator = Self {
            certificate: read("client-certificate-data", "client-certificate")?,
            key: read("client-key-data", "client-key")?,
            token: text("token"),
        };
        if administrator.certificate.is_none() && administrator.token.is_none() {
            return Err(String::from(
                "the kubeconfig's user has neither a certificate nor a token to impersonate nodes with: \
                 use --identity certificate",
            ));
        }
        Ok(administrator)
    }

    fn proof(&self) -> Result<Proof, CredentialsError> {
        match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Proof::read(certificate, key),
            _ => Ok(Proof::None),
        }
    }
}

impl Signer {
    /// Tells whether several nodes may use one connection.
    pub(super) const fn shares_connections(&self) -> bool {
        matches!(self, Self::Impersonation(_))
    }

    /// Returns the headers that carry the identity, if the connection does not.
    pub(super) fn headers(&self, identity: &Identity) -> HeaderMap {
        const UNKNOWN: HeaderValue = HeaderValue::from_static("Bearer of-nobody");
        let mut headers = HeaderMap::new();
        if !identity.is_known() {
            headers.insert(header::AUTHORIZATION, UNKNOWN);
            return headers;
        }
        if let Self::Impersonation(administrator) = self {
            let value = |text: &str| HeaderValue::from_str(text).unwrap_or(UNKNOWN);
            if let Some(token) = &administrator.token {
                let mut token = value(&format!("Bearer {token}"));
                token.set_sensitive(true);
                headers.insert(header::AUTHORIZATION, token);
            }
            headers.insert(HeaderName::from_static("impersonate-user"), value(&identity.user));
            for group in identity.groups.iter().filter(|group| **group != *"system:authenticated") {
                headers.append(HeaderName::from_static("impersonate-group"), value(group));
            }
        }
        headers
    }

    /// Returns the proof for connections of an identity.
    pub(super) async fn prove(&self, identity: &Identity) -> Result<Proof, CredentialsError> {
        match self {
            Self::Impersonation(administrator) => administrator.proof(),
            _ if !identity.is_known() || identity.is_anonymous() => Ok(Proof::None),
            Self::Authority(authority) => sign(authority, identity),
            Self::Requests(client) => ask(client, identity).await,
            Self::Nobody => Ok(Proof::None),
        }
    }
}

/// Requests a certificate, approves the request, waits for the answer and deletes the request.
async fn ask(client: &kube::Client, identity: &Identity) -> Result<Proof, CredentialsError> {
    let key = KeyPair::generate().map_err(wrong)?;
    let request = named(&identity.user, group(identity))
        .serialize_request(&key)
        .and_then(|request| request.pem())
        .map_err(wrong)?;
    const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let mut body = json!({
        "kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"generateName": "nodeproof-", "labels": {"nodeproof.dev/hollow": "true"}},
        "spec": {"signerName": KUBELET_SIGNER, "usages": ["digital signature", "client auth"]},
    });
    body.set(&["spec", "request"], base64::encode(request.as_bytes()));
    let mut made = call(client, "POST", PATH, Some(&body)).await?;
    let name = made.at(&["metadata", "name"]).as_str().unwrap_or_default().to_string();
    let path = format!("{PATH}/{name}");
    // Without the revision, since an approving controller may write in between; both write the same.
    made.remove(&["metadata", "resourceVersion"]);
    made.set(
        &["status", "conditions"],
        json!([{"type": "Approved", "status": "True", "reason": "Hollow", "message": "a hollow node of nodeproof"}]),
    );
    call(client, "PUT", &format!("{path}/approval"), Some(&made)).await?;
    let mut certificate = None;
    for _ in 0..CERTIFICATE_LOOKS {
        let found = call(client, "GET", &path, None).await?;
        certificate = found.at(&["status", "certificate"]).as_str().and_then(base64::decode);
        if certificate.is_some() {
            break;
        }
        tokio::time::sleep(CERTIFICATE_PERIOD).await;
    }
    call(client, "DELETE", &path, None).await?;
    let certificate = certificate.ok_or_else(|| {
        wrong("the certificate was not signed within 30 s: does kube-controller-manager have the CA's key?")
    })?;
    Proof::read(&certificate, key.serialize_pem().as_bytes())
}

async fn call(client: &kube::Client, method: &str, path: &str, body: Option<&Json>) -> Result<Json, CredentialsError> {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let request = http::Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
    let request = request.body(body).map_err(wrong)?;
    let text = client.request_text(request).await.map_err(|error| wrong(format_args!("{method} {path}: {error}")))?;
    Json::parse(&text).map_err(wrong)
}
