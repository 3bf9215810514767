//! The certificates of a kubelet: its client certificate by a bootstrap token, and the one of its server.
//!
//! Mirrors pkg/kubelet/certificate/{bootstrap/bootstrap.go,kubelet.go} and k8s.io/client-go
//! util/certificate/certificate_manager.go (v1.34): a request is posted, watched until it is signed, and posted anew
//! after a back-off if it is refused. With `rotateCertificates` the kubelet does not wait for it, and is anonymous
//! meanwhile; it asks for the next one between 70 and 90 % of the lifetime. Without `rotateCertificates` the first
//! request is named by the machine's key, so that a later process finds it again: one that gets no certificate ends.
//! Without a valid certificate a kubelet's requests are not authenticated. Inputs: answers, watch events, time.
//! Outputs: CertificateSigningRequests, and the identity of the kubelet's requests. Left out on purpose: keys, and that
//! a kubelet ends five minutes after its certificate did.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::{SignedDuration, Timestamp};

use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::chance::Chance;
use crate::components::Because;
use crate::components::client::Reflector;
use crate::components::host::uuid;
use crate::json;
use crate::network::{Ask, CERTIFICATE_REQUESTS, Call, Identity, ToClient, Verb};
use crate::objects::x509::{self, Certificate, DistinguishedName};
use crate::objects::{Json, Object, Text, base64};

/// Pause before a request is posted again, doubled each time.
/// Source: certificate_manager.go (v1.34), `rotateCerts`: `wait.Backoff{Duration: 2s, Factor: 2, Jitter: 0.1, Steps:
/// 5}`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(2);
/// The longest such pause: that of the last step. Source: as above.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(32);
/// By how much such a pause is longer at most. Source: as above.
const BACKOFF_JITTER: f64 = 0.1;
/// How long it is waited until a request is signed.
/// Source: certificate_manager.go (v1.34), `certificateWaitTimeout`.
const SIGNED_WITHIN: SignedDuration = SignedDuration::from_mins(15);
/// The same for the request of a kubelet that has nothing else to do.
/// Source: bootstrap.go (v1.34), `requestNodeCertificate`.
const FIRST_SIGNED_WITHIN: SignedDuration = SignedDuration::from_hours(1);
/// How long such a kubelet waits for the API server, and how often it asks for it.
/// Source: bootstrap.go (v1.34), `LoadClientCert`, `waitForServer`.
const SERVER_WITHIN: SignedDuration = SignedDuration::from_mins(1);
const SERVER_PAUSE: SignedDuration = SignedDuration::from_secs(2);
const SERVER_JITTER: f64 = 0.2;
/// How often the manager of the server's certificate looks whether the addresses are known.
/// Source: certificate_manager.go (v1.34), `Start`: `wait.PollUntilContextCancel(.., time.Second, ..)`.
const TEMPLATE_PERIOD: SignedDuration = SignedDuration::from_secs(1);

/// The share of a lifetime after which a certificate is renewed, and by how much of it that varies.
/// Source: certificate_manager.go (v1.34), `jitteryDuration`.
const RENEWED_FROM: f64 = 0.7;
/// Source: as above.
const RENEWAL_JITTER: f64 = 0.2;

/// Source: bootstrap.go (v1.34), `digestedName`, which uses SHA-512/256.
const DIGEST_BYTES: usize = 32;

/// What a certificate is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CertificateUse {
    /// The kubelet's requests.
    Client,
    /// The kubelet's server.
    Server,
}

/// DNS names and addresses, each in order.
type ServedNames = (Vec<String>, Vec<IpAddr>);

/// A request for a certificate.
#[derive(Clone, Debug)]
struct Requested {
    purpose: CertificateUse,
    watch: Reflector,
    /// When that is given up.
    until: Timestamp,
}

/// The certificates.
#[derive(Clone, Debug)]
pub(super) struct Certificates {
    chance: Chance,
    requested: Vec<Requested>,
    pause: SignedDuration,
    /// What the last request for the server's certificate named.
    served: Option<ServedNames>,
    /// Whether the process waits for its certificate before it does anything else.
    pub(super) holds_up: bool,
}

impl Certificates {
    pub(super) const fn new(chance: Chance) -> Self {
        Self { chance, requested: Vec::new(), pause: BACKOFF_FIRST, served: None, holds_up: false }
    }

    /// Tells whether a message belongs to a watch of a request.
    pub(super) fn owns(&self, id: crate::network::RequestId) -> bool {
        self.requested.iter().any(|requested| requested.watch.owns(id))
    }

    pub(super) fn next_deadline(&self) -> Option<crate::components::Deadline> {
        let waits = self.requested.iter().map(|requested| requested.until);
        let waits = waits.map(|at| Some(crate::components::Deadline { at, reason: "certificate request" }));
        let watches = self.requested.iter().map(|requested| requested.watch.next_deadline());
        crate::components::earliest(watches.chain(waits))
    }
}

/// The sender that a client certificate makes of a kubelet.
/// Source: k8s.io/apiserver pkg/authentication/request/x509/x509.go (v1.34), `CommonNameUserConversion`.
pub(super) fn identity_of(certificate: &Certificate) -> Arc<Identity> {
    let groups = certificate.subject.organizations.iter().map(|group| Text::from(group.clone()));
    Arc::new(Identity {
        user: Text::from(certificate.subject.common_name.clone()),
        groups: groups.chain([Text::of("system:authenticated")]).collect(),
        agent: Text::of("kubelet"),
        details: None,
    })
}

/// Returns the client certificate of a machine, unless it has expired.
pub(super) fn valid_certificate<'a>(context: &'a KubeletContext<'_>) -> Option<&'a Certificate> {
    context.host.client_certificate.as_ref().filter(|certificate| context.now < certificate.not_after)
}

impl Kubelet {
    /// Posts the request for the client certificate.
    pub(super) fn request_client_certificate(&mut self, context: &mut KubeletContext<'_>) {
        let Some(requester) = self.requester(CertificateUse::Client, context) else { return };
        let mut body = self.signing_request(CertificateUse::Client);
        if self.certificates.holds_up {
            body.set(&["metadata"], json!({"name": self.first_request(context)}));
        }
        self.post_request(CertificateUse::Client, requester, body, context);
    }

    /// Returns the name of the first request: a digest of the machine's key and of what it asks for.
    ///
    /// Source: bootstrap.go (v1.34), `digestedName`.
    fn first_request(&self, context: &KubeletContext<'_>) -> String {
        let part = |at: u8| uuid(&format!("{at}/{}/{}", context.host.machine_id(), self.config.node_name));
        let digest = format!("{}{}", part(0), part(1)).replace('-', "");
        let byte = |at: usize| u8::from_str_radix(digest.get(2 * at..2 * at + 2).unwrap_or("0"), 16).unwrap_or(0);
        let digest: Vec<u8> = (0..DIGEST_BYTES).map(byte).collect();
        format!("node-csr-{}", base64::encode_for_url(&digest))
    }

    /// Returns who asks for a certificate: the user of the bootstrap token for a first one, else the kubelet itself.
    fn requester(&self, purpose: CertificateUse, context: &KubeletContext<'_>) -> Option<Arc<Identity>> {
        match valid_certificate(context) {
            None if purpose == CertificateUse::Client => context.host.spec.bootstrap.clone(),
            _ => Some(self.identity.clone()),
        }
    }

    /// Schedules the renewal of the client certificate and its end, for a machine that has one.
    pub(super) fn keep_client_certificate(&mut self, context: &KubeletContext<'_>) {
        let Some(certificate) = valid_certificate(context).cloned() else { return };
        self.set(Timer::CertificateEnd, certificate.not_after);
        if self.config.rotates_certificates {
            let at = self.renewal_of(&certificate, context);
            self.set(Timer::Certificate, at);
        }
    }

    /// Source: certificate_manager.go (v1.34), `nextRotationDeadline`.
    fn renewal_of(&mut self, certificate: &Certificate, context: &KubeletContext<'_>) -> Timestamp {
        let lifetime = certificate.not_after.duration_since(certificate.not_before);
        let jitter = self.certificates.chance.up_to(lifetime.mul_f64(RENEWAL_JITTER));
        (certificate.not_before + lifetime.mul_f64(RENEWED_FROM) + jitter).max(context.now)
    }

    /// Continues without a valid client certificate: nobody knows its requests.
    pub(super) fn client_certificate_ended(&mut self, context: &mut KubeletContext<'_>) {
        self.log(String::from("Part of the existing bootstrap client certificate is expired"), context);
        self.act_as(Identity::unknown("kubelet"));
    }

    fn act_as(&mut self, identity: Arc<Identity>) {
        self.identity = identity;
        self.nodes.act_as(&self.identity);
        if let Some(source) = &mut self.pods.source {
            source.act_as(&self.identity);
        }
        self.objects.act_as(&self.identity);
    }

    /// Schedules the request for the server's certificate.
    pub(super) fn start_serving(&mut self, context: &KubeletContext<'_>) {
        if !self.config.serves_with_signed_certificate {
            return;
        }
        let valid = context.host.serving_certificate.clone().filter(|own| context.now < own.not_after);
        let at = match valid {
            Some(certificate) => self.renewal_of(&certificate, context),
            None => context.now + TEMPLATE_PERIOD,
        };
        self.set(Timer::Serving, at);
    }

    /// Posts the request for the server's certificate, once the Node's addresses are known.
    pub(super) fn request_serving_certificate(&mut self, context: &mut KubeletContext<'_>) {
        let Some(served) = self.served_names() else {
            self.set(Timer::Serving, context.now + TEMPLATE_PERIOD);
            return;
        };
        self.certificates.requested.retain(|requested| requested.purpose != CertificateUse::Server);
        self.certificates.served = Some(served);
        let body = self.signing_request(CertificateUse::Server);
        self.post_request(CertificateUse::Server, self.identity.clone(), body, context);
    }

    fn signing_request(&self, purpose: CertificateUse) -> Json {
        let name = &self.config.node_name;
        let (signer, usage) = match purpose {
            CertificateUse::Client => ("kubernetes.io/kube-apiserver-client-kubelet", "client auth"),
            CertificateUse::Server => ("kubernetes.io/kubelet-serving", "server auth"),
        };
        let subject = DistinguishedName {
            common_name: format!("system:node:{name}"),
            organizations: Vec::from([String::from("system:nodes")]),
        };
        let (names, addresses) = match purpose {
            CertificateUse::Client => Default::default(),
            CertificateUse::Server => self.certificates.served.clone().unwrap_or_default(),
        };
        let request = x509::request_pem(&subject, &names, &addresses);
        json!({
            "kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
            "metadata": {"generateName": "csr-"},
            "spec": {"request": base64::encode(request.as_bytes()), "signerName": signer,
                "usages": ["digital signature", usage]},
            "status": {},
        })
    }

    /// Returns the names and addresses under which the kubelet's server can be reached, as the Node has them; `None`
    /// without an address.
    ///
    /// Source: pkg/kubelet/certificate/kubelet.go (v1.34), `newGetTemplateFn`.
    fn served_names(&self) -> Option<ServedNames> {
        let (names, ips) = if self.settings.profile().is("serving-names-are-the-nodes") {
            names_of(self.cached_node()?.stable().at(&["status", "addresses"]))
        } else {
            names_of(&self.status.addresses)
        };
        let is_enough = !ips.is_empty() || !names.is_empty() && self.settings.is_gate_on("AllowDNSOnlyNodeCSR");
        is_enough.then_some((names, ips))
    }

    /// Asks for another certificate of the server where the present one lacks a name that the Node has got meanwhile.
    ///
    /// Source: certificate_manager.go (v1.34), `run`, `dynamicTemplate`, and `certSatisfiesTemplateLocked`.
    pub(super) fn note_served_names(&mut self, context: &KubeletContext<'_>) {
        if !self.config.serves_with_signed_certificate {
            return;
        }
        let Some(served) = self.served_names() else { return };
        let own = context.host.serving_certificate.as_ref().filter(|own| context.now < own.not_after);
        let has = |name: &String| own.is_some_and(|own| own.names.contains(name));
        let is_complete = served.0.iter().all(has) && served.1.iter().all(|ip| has(&format!("{ip}")));
        if !is_complete && self.certificates.served.as_ref() != Some(&served) {
            self.set(Timer::Serving, context.now + TEMPLATE_PERIOD);
        }
    }

    fn post_request(
        &mut self,
        purpose: CertificateUse,
        identity: Arc<Identity>,
        body: Json,
        context: &mut KubeletContext<'_>,
    ) {
        let call = Call::new(Verb::Create, CERTIFICATE_REQUESTS, "", "").body(body);
        self.ask_as(identity, call, purpose, context);
    }

    fn ask_as(
        &mut self,
        identity: Arc<Identity>,
        call: Call,
        purpose: CertificateUse,
        context: &mut KubeletContext<'_>,
    ) {
        let own = core::mem::replace(&mut self.identity, identity);
        self.send(Ask::Call(call.into()), None, None, Purpose::Certificate(purpose), context);
        self.identity = own;
    }

    /// Takes the answer to a request that was posted.
    pub(super) fn handle_signing_request(
        &mut self,
        purpose: CertificateUse,
        outcome: ApiResult,
        context: &mut KubeletContext<'_>,
    ) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        let why = failure(&outcome);
        let object = outcome.ok().and_then(|answer| answer.as_object().cloned());
        match (why, object) {
            (None, Some(posted)) => self.await_certificate(purpose, &posted, context),
            (_, _) if self.certificates.holds_up && code == 409 => {
                let call = Call::new(Verb::Get, CERTIFICATE_REQUESTS, "", self.first_request(context));
                let identity = self.requester(purpose, context).unwrap_or_else(|| Identity::anonymous("kubelet"));
                self.ask_as(identity, call, purpose, context);
            }
            (_, _) if self.certificates.holds_up && code == 0 && context.now < self.started + SERVER_WITHIN => {
                let pause = self.certificates.chance.jitter(SERVER_PAUSE, SERVER_JITTER);
                self.set(Timer::Certificate, context.now + pause);
            }
            (why, _) => {
                let why = format!("cannot create certificate signing request: {}", why.unwrap_or_default());
                self.retry_signing_request(purpose, &why, context);
            }
        }
    }

    /// Watches a request until it is signed.
    fn await_certificate(&mut self, purpose: CertificateUse, posted: &Object, context: &mut KubeletContext<'_>) {
        let signed = posted.stable().at(&["status", "certificate"]).as_str().and_then(x509::read_certificate);
        if let Some(expired) = signed.filter(|own| own.not_after < context.now) {
            let end = expired.not_after.strftime("%Y-%m-%d %H:%M:%S +0000 UTC");
            let why = "retrieved csr is not compatible: one of the certificates for the CSR has expired:";
            return self.retry_signing_request(purpose, &format!("{why} {end}"), context);
        }
        let selector = (Text::of("fieldSelector"), Text::from(format!("metadata.name={}", posted.name())));
        let identity = self.requester(purpose, context).unwrap_or_else(|| Identity::anonymous("kubelet"));
        let chance = self.certificates.chance.fork(posted.name());
        let selectors = Vec::from([selector]);
        let watch = Reflector::new(identity, CERTIFICATE_REQUESTS, "", selectors, chance, context.outbox);
        let span = if self.certificates.holds_up { FIRST_SIGNED_WITHIN } else { SIGNED_WITHIN };
        self.certificates.requested.push(Requested { purpose, watch, until: context.now + span });
    }

    /// Asks for another certificate later; a process that waits for its first one ends.
    fn retry_signing_request(&mut self, purpose: CertificateUse, why: &str, context: &mut KubeletContext<'_>) {
        if self.certificates.holds_up {
            self.fatal = Some(format!("failed to run Kubelet: {why}"));
            return;
        }
        self.log(format!("Reached backoff limit, still unable to rotate certs: {why}"), context);
        let pause = self.certificates.chance.jitter(self.certificates.pause, BACKOFF_JITTER);
        self.certificates.pause = (self.certificates.pause * 2).min(BACKOFF_MAX);
        let timer = match purpose {
            CertificateUse::Client => Timer::Certificate,
            CertificateUse::Server => Timer::Serving,
        };
        self.set(timer, context.now + pause);
    }

    /// Takes a message of the watch of a request.
    pub(super) fn handle_certificate_watch(&mut self, message: ToClient, context: &mut KubeletContext<'_>) {
        let id = message.id();
        let Some(at) = self.certificates.requested.iter().position(|requested| requested.watch.owns(id)) else {
            return;
        };
        let requested = &mut self.certificates.requested[at];
        let changes = requested.watch.handle_message(message, context.outbox, context.now);
        let purpose = requested.purpose;
        for change in changes {
            let Some(object) = change.after else {
                self.certificates.requested.remove(at);
                let name = change.before.map(|before| String::from(before.name())).unwrap_or_default();
                let why = format!("{NOT_WATCHED} csr {name:?} was deleted");
                return self.retry_signing_request(purpose, &why, context);
            };
            let tree = object.stable();
            if let Some(why) = tree.at(&["status", "conditions"]).items().iter().find_map(refusal) {
                self.certificates.requested.remove(at);
                return self.retry_signing_request(purpose, &why, context);
            }
            let signed = tree.at(&["status", "certificate"]);
            if !signed.is_empty() {
                self.certificates.requested.remove(at);
                let Some(certificate) = x509::read_certificate(signed.as_str().unwrap_or("")) else {
                    let why = String::from("tls: failed to find any PEM data in certificate input");
                    return self.retry_signing_request(purpose, &why, context);
                };
                return self.certificate_signed(purpose, certificate, context);
            }
        }
    }

    /// Continues the pauses of the watches.
    pub(super) fn handle_certificate_timeout(&mut self, context: &mut KubeletContext<'_>) {
        for requested in &mut self.certificates.requested {
            requested.watch.handle_timeout(context.outbox, context.now);
        }
        let now = context.now;
        let is_late = |requested: &Requested| requested.until <= now;
        while let Some(at) = self.certificates.requested.iter().position(is_late) {
            let late = self.certificates.requested.remove(at);
            self.retry_signing_request(late.purpose, "timed out waiting for the condition", context);
        }
    }

    fn certificate_signed(
        &mut self,
        purpose: CertificateUse,
        certificate: Certificate,
        context: &mut KubeletContext<'_>,
    ) {
        let fact = Because::Fact(String::from("its CertificateSigningRequest was approved and signed"));
        let what = match purpose {
            CertificateUse::Client => "has its client certificate",
            CertificateUse::Server => "has its server certificate",
        };
        context.outbox.decide(self.about_node(), what, Vec::from([fact]));
        self.certificates.pause = BACKOFF_FIRST;
        if purpose == CertificateUse::Server {
            context.host.serving_certificate = Some(certificate);
            return self.start_serving(context);
        }
        let identity = identity_of(&certificate);
        context.host.client_certificate = Some(certificate);
        self.act_as(identity);
        self.keep_client_certificate(context);
        if core::mem::take(&mut self.certificates.holds_up) && self.timers[Timer::Begin as usize].is_none() {
            self.begin(context);
        }
    }
}

/// Source: k8s.io/client-go util/certificate/csr/csr.go (v1.34), `WaitForCertificate`.
const NOT_WATCHED: &str = "cannot watch on the certificate signing request:";

/// Tells how a condition refuses a request, if it does. Source: as above.
fn refusal(condition: &Json) -> Option<String> {
    let text = |field: &str| condition.get(field).as_str().unwrap_or_default();
    let what = match text("type") {
        "Denied" => "is denied",
        "Failed" => "failed",
        _ => return None,
    };
    let (reason, message) = (text("reason"), text("message"));
    Some(format!("{NOT_WATCHED} certificate signing request {what}, reason: {reason}, message: {message}"))
}

/// Returns the names and addresses among those of a Node.
///
/// Source: pkg/kubelet/certificate/kubelet.go (v1.34), `addressesToHostnamesAndIPs`.
fn names_of(addresses: &Json) -> ServedNames {
    let (mut names, mut ips) = (Vec::new(), Vec::new());
    for address in addresses.items() {
        let text = address.get("address").as_str().unwrap_or("");
        match (address.get("type").as_str(), text.parse::<IpAddr>()) {
            (Some("Hostname" | "ExternalIP" | "InternalIP"), Ok(ip)) => ips.push(ip),
            (Some("Hostname"), Err(_)) | (Some("ExternalDNS" | "InternalDNS"), _) if !text.is_empty() => {
                names.push(String::from(text));
            }
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    ips.sort_by_key(|ip| format!("{ip}"));
    ips.dedup();
    (names, ips)
}

#[cfg(test)]
mod tests {
    use super::names_of;
    use crate::json;

    #[test]
    fn a_hostname_may_be_an_address_and_a_dns_name_is_none() {
        let own = |kind: &str, address: &str| json!({"type": kind, "address": address});
        let addresses = json!([
            own("Hostname", "10.0.0.9"),
            own("InternalIP", "10.0.0.7"),
            own("ExternalIP", "none"),
            own("InternalDNS", "w1.internal"),
            own("ExternalDNS", "10.0.0.8"),
            own("Hostname", "w1"),
            own("InternalIP", "10.0.0.7"),
            own("ExternalDNS", "")
        ]);
        let (names, ips) = names_of(&addresses);
        assert_eq!(names, ["10.0.0.8", "w1", "w1.internal"]);
        assert_eq!(
            ips.iter().map(|ip| alloc::format!("{ip}")).collect::<alloc::vec::Vec<_>>(),
            ["10.0.0.7", "10.0.0.9"]
        );
    }
}
