//! HTTP calls between the API server, the servers of kubelets, and containers: who dials whom, and what came back.
//!
//! Pure data. A call is answered at once or not at all; contents of streams are not carried.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;

use super::Identity;
use crate::objects::Text;

/// Numbers the calls of one caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct HttpId(pub u64);

/// What a caller shows of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HttpCredentials {
    /// Nothing.
    None,
    /// A bearer token.
    Token(Text),
    /// A client certificate of the cluster's authority.
    Certificate(Arc<Identity>),
}

/// A call to a server beside the API server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpCall {
    /// Its number.
    pub id: HttpId,
    /// Whether it goes over TLS.
    pub is_tls: bool,
    /// Whether the caller verifies the server's certificate.
    pub verifies: bool,
    /// The address or name in the URL.
    pub host: Text,
    /// The address that a name in the URL stands for, once it is looked up.
    pub resolved: Option<Text>,
    /// The port; `None` for the default of the scheme, which the URL leaves out.
    pub port: Option<u16>,
    /// The method.
    pub method: Text,
    /// Path and query.
    pub path: Text,
    /// Whether it asks for a stream: `Upgrade`.
    pub upgrades: bool,
    /// Who calls.
    pub credentials: HttpCredentials,
}

impl HttpCall {
    /// Makes a call without credentials that verifies nothing and asks for no stream. `to` is scheme, host and port.
    #[must_use]
    pub fn new(to: (&str, impl Into<Text>, Option<u16>), method: impl Into<Text>, path: impl Into<Text>) -> Self {
        let (scheme, host, port) = to;
        Self {
            id: HttpId(0),
            is_tls: scheme == "https",
            verifies: false,
            host: host.into(),
            resolved: None,
            port,
            method: method.into(),
            path: path.into(),
            upgrades: false,
            credentials: HttpCredentials::None,
        }
    }

    /// Returns the port that is dialled.
    #[must_use]
    pub fn dialled(&self) -> u16 {
        self.port.unwrap_or(if self.is_tls { 443 } else { 80 })
    }

    /// Returns address and port.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", in_brackets(self.resolved.as_ref().unwrap_or(&self.host)), self.dialled())
    }

    /// Returns the URL.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        let host = in_brackets(&self.host);
        match self.port {
            Some(port) => format!("{scheme}://{host}:{port}{}", self.path),
            None => format!("{scheme}://{host}{}", self.path),
        }
    }
}

/// Writes a host as it stands before a port: an IPv6 address in brackets.
fn in_brackets(host: &str) -> String {
    if host.contains(':') { format!("[{host}]") } else { String::from(host) }
}

/// What a server answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpAnswer {
    /// The status code; 101 for a stream.
    pub code: u16,
    /// `Content-Type`.
    pub media_type: Text,
    /// The body.
    pub body: Text,
}

impl HttpAnswer {
    /// Makes an answer of plain text.
    #[must_use]
    pub fn text(code: u16, body: impl Into<Text>) -> Self {
        Self { code, media_type: Text::of("text/plain; charset=utf-8"), body: body.into() }
    }

    /// Makes an answer of JSON.
    #[must_use]
    pub fn json(body: impl Into<Text>) -> Self {
        Self { code: 200, media_type: Text::of("application/json"), body: body.into() }
    }
}

/// Why a call got no answer, in Go's words.
pub type DialError = String;

/// What came of a call.
pub type HttpOutcome = Result<HttpAnswer, DialError>;
