//! Calls from the network to a machine: its kubelet's server, and the servers in containers.
//!
//! Mirrors what Go's net/http and crypto/tls (1.24) say about each. A container serves on the ports that its Pod names,
//! over TLS if the port's name begins with `https`. Inputs: calls. Outputs: why there is no answer, an answer, or
//! nothing while the kubelet looks.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::Timestamp;

use super::{FreezeScope, Machine};
use crate::components::kubelet::KubeletContext;
use crate::network::{DialError, HttpAnswer, HttpCall, HttpOutcome};
use crate::objects::{Json, ObjectKey, Text};

/// Nothing listens at the address.
pub fn refused(call: &HttpCall) -> DialError {
    format!("dial tcp {}: connect: connection refused", call.address())
}

/// Nothing answers at the address.
pub fn unreachable(call: &HttpCall) -> DialError {
    format!("dial tcp {}: i/o timeout", call.address())
}

impl Machine {
    /// Returns the addresses under which the machine is found.
    fn addresses(&self) -> impl Iterator<Item = Text> {
        let given = self.host.spec.hardware.addresses.iter().flatten().map(|own| own.address.clone());
        let own = [self.host.default_ip(false), self.host.default_ip(true)].map(Text::from);
        let flagged = self.kubelet.iter().flat_map(|kubelet| kubelet.config().node_ips.clone());
        given.chain(own).chain(flagged)
    }

    /// Tells whether an address or a name is this machine's.
    #[must_use]
    pub fn has_address(&self, host: &str) -> bool {
        *self.node_name() == *host || self.addresses().any(|own| *own == *host)
    }

    /// Returns the pod, by uid, whose address it is.
    #[must_use]
    pub fn pod_at(&self, host: &str) -> Option<Text> {
        let mut sandboxes = self.host.runtime.sandboxes();
        sandboxes.find(|(_, sandbox)| !sandbox.ip.is_empty() && *sandbox.ip == *host).map(|(uid, _)| uid.clone())
    }

    /// Returns namespace and name of a pod of the machine.
    #[must_use]
    pub fn pod_key(&self, uid: &Text) -> Option<ObjectKey> {
        self.host.runtime.sandbox(uid).map(|sandbox| sandbox.key.clone())
    }

    /// Tells whether a container of one of these pods runs, as an agent does.
    #[must_use]
    pub fn runs_one_of(&self, uids: &[Text]) -> bool {
        let runs = |uid: &Text| self.host.runtime.sandbox(uid).is_some_and(|sandbox| sandbox.is_running());
        !self.is_dead() && uids.iter().any(runs)
    }

    /// Tells whether nothing on the machine answers: it has no power, or stands still.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        !self.is_powered || self.is_paused() || !self.host.is_connected
    }

    /// Tells whether the kubelet's server takes a call.
    ///
    /// # Errors
    /// It does not.
    pub fn check_call(&self, call: &HttpCall) -> Result<(), DialError> {
        if self.is_dead() {
            return Err(unreachable(call));
        }
        let port = self.kubelet.as_ref().map(|kubelet| kubelet.config().port);
        if port != Some(i64::from(call.dialled())) {
            return Err(refused(call));
        }
        if self.frozen.as_ref().is_some_and(|frozen| frozen.scope == FreezeScope::Kubelet) {
            return Err(String::from("net/http: TLS handshake timeout"));
        }
        Ok(())
    }

    /// Takes a call to the machine itself; `Ok(None)` while its kubelet looks into it.
    ///
    /// # Errors
    /// There is no answer.
    pub fn handle_call(&mut self, call: HttpCall, now: Timestamp) -> Result<Option<HttpAnswer>, DialError> {
        self.check_call(&call)?;
        if !call.is_tls {
            return Ok(Some(HttpAnswer::text(400, "Client sent an HTTP request to an HTTPS server.\n")));
        }
        self.check_certificate(&call, now)?;
        if let Some(kubelet) = &mut self.kubelet {
            kubelet.handle_call(call, &mut KubeletContext { host: &mut self.host, outbox: &mut self.outbox, now });
        }
        Ok(None)
    }

    /// Fails a call whose caller does not trust the kubelet's server.
    fn check_certificate(&self, call: &HttpCall, now: Timestamp) -> Result<(), DialError> {
        let is_signed = self.kubelet.as_ref().is_some_and(|kubelet| kubelet.config().serves_with_signed_certificate);
        let certificate = self.host.serving_certificate.as_ref().filter(|_| is_signed);
        // Source: pkg/kubelet/certificate/kubelet.go (v1.34): without a certificate the server has none to show.
        if is_signed && certificate.is_none() {
            return Err(String::from("remote error: tls: internal error"));
        }
        if !call.verifies {
            return Ok(());
        }
        let failed = |why: &str| Err(format!("tls: failed to verify certificate: x509: {why}"));
        let Some(certificate) = certificate else { return failed("certificate signed by unknown authority") };
        if now > certificate.not_after {
            return failed("certificate has expired or is not yet valid");
        }
        if certificate.names.iter().any(|own| *own == *call.host) {
            return Ok(());
        }
        let is_address = |name: &str| name.parse::<IpAddr>().is_ok();
        let alike = certificate.names.iter().filter(|own| is_address(own) == is_address(&call.host));
        let alike = alike.map(String::as_str).collect::<Vec<_>>().join(", ");
        match (alike.as_str(), is_address(&call.host)) {
            ("", true) => {
                failed(&format!("cannot validate certificate for {} because it doesn't contain any IP SANs", call.host))
            }
            (valid, _) => failed(&format!("certificate is valid for {valid}, not {}", call.host)),
        }
    }

    /// Answers a call to a pod.
    ///
    /// # Errors
    /// There is no answer.
    pub fn answer_of_pod(&self, uid: &Text, spec: &Json, call: &HttpCall) -> HttpOutcome {
        if self.is_dead() {
            return Err(unreachable(call));
        }
        let sandbox = self.host.runtime.sandbox(uid);
        let runs = |name: &str| sandbox.and_then(|own| own.container(name)).is_some_and(|own| own.is_running());
        let port = spec.get("containers").items().iter().find_map(|container| {
            let name = container.get("name").as_str().unwrap_or("");
            let ports = container.get("ports").items();
            let is_dialled = |port: &&Json| port.get("containerPort").as_i64() == Some(i64::from(call.dialled()));
            ports.iter().find(is_dialled).filter(|_| runs(name))
        });
        let Some(port) = port else { return Err(refused(call)) };
        let is_tls = port.get("name").as_str().is_some_and(|name| name.starts_with("https"));
        match (call.is_tls, is_tls) {
            (true, false) => Err(String::from("http: server gave HTTP response to HTTPS client")),
            (false, true) => Ok(HttpAnswer::text(400, "Client sent an HTTP request to an HTTPS server.\n")),
            _ => Ok(HttpAnswer::text(200, format!("{} {}\n", call.method, call.path))),
        }
    }
}
