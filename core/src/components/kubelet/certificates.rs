//! The certificates of a kubelet: its client certificate by a bootstrap token, and the one of its server.
//!
//! Mirrors pkg/kubelet/certificate/{bootstrap/bootstrap.go,kubelet.go} and k8s.io/client-go
//! util/certificate/certificate_manager.go (v1.34): a request is posted, watched until it is signed, and posted anew
//! after a back-off if it is refused. With `rotateCertificates` the kubelet does not wait for it, and is anonymous
//! meanwhile. Inputs: answers, watch events, time. Outputs: CertificateSigningRequests, and the identity of the
//! kubelet's requests. Left out on purpose: keys, expiry and rotation.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::chance::Chance;
use crate::components::Because;
use crate::components::client::Reflector;
use crate::json;
use crate::network::{Ask, CERTIFICATE_REQUESTS, Call, Identity, ToClient, Verb};
use crate::objects::{Json, Text, base64};

/// Pause before a request is posted again, doubled each time.
/// Source: certificate_manager.go (v1.34), `rotateCerts`: `wait.Backoff{Duration: 2s, Factor: 2, Jitter: 0.1, Steps:
/// 5}`.
const BACKOFF_FIRST: SignedDuration = SignedDuration::from_secs(2);
/// The longest such pause: that of the last step. Source: as above.
const BACKOFF_MAX: SignedDuration = SignedDuration::from_secs(32);
/// By how much such a pause is longer at most. Source: as above.
const BACKOFF_JITTER: f64 = 0.1;
/// How often the manager of the server's certificate looks whether the addresses are known.
/// Source: certificate_manager.go (v1.34), `Start`: `wait.PollUntilContextCancel(.., time.Second, ..)`.
const TEMPLATE_PERIOD: SignedDuration = SignedDuration::from_secs(1);

/// What a certificate is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CertificateUse {
    /// The kubelet's requests.
    Client,
    /// The kubelet's server.
    Server,
}

/// A request for a certificate.
#[derive(Clone, Debug)]
struct Requested {
    purpose: CertificateUse,
    watch: Reflector,
}

/// The certificates.
#[derive(Clone, Debug)]
pub(super) struct Certificates {
    chance: Chance,
    requested: Vec<Requested>,
    pause: SignedDuration,
    /// Whether the process waits for its certificate before it does anything else.
    pub(super) holds_up: bool,
}

impl Certificates {
    pub(super) const fn new(chance: Chance) -> Self {
        Self { chance, requested: Vec::new(), pause: BACKOFF_FIRST, holds_up: false }
    }

    /// Tells whether a message belongs to a watch of a request.
    pub(super) fn owns(&self, id: crate::network::RequestId) -> bool {
        self.requested.iter().any(|requested| requested.watch.owns(id))
    }

    pub(super) fn next_deadline(&self) -> Option<crate::components::Deadline> {
        crate::components::earliest(self.requested.iter().map(|requested| requested.watch.next_deadline()))
    }
}

/// Who comes without credentials.
pub(super) fn anonymous() -> Arc<Identity> {
    Arc::new(Identity {
        user: Text::of("system:anonymous"),
        groups: Vec::from([Text::of("system:unauthenticated")]),
        agent: Text::of("kubelet"),
    })
}

impl Kubelet {
    /// Posts the request for the client certificate.
    pub(super) fn request_client_certificate(&mut self, context: &mut KubeletContext<'_>) {
        let Some(bootstrap) = context.host.spec.bootstrap.clone() else { return };
        let body = self.signing_request(CertificateUse::Client);
        self.post_request(CertificateUse::Client, bootstrap, body, context);
    }

    /// Schedules the request for the server's certificate.
    pub(super) fn start_serving(&mut self, context: &KubeletContext<'_>) {
        if self.config.serves_with_signed_certificate && !context.host.has_serving_certificate {
            self.set(Timer::Serving, context.now + TEMPLATE_PERIOD);
        }
    }

    /// Posts the request for the server's certificate, once the Node's addresses are known.
    pub(super) fn request_serving_certificate(&mut self, context: &mut KubeletContext<'_>) {
        if !self.status.has_addresses() {
            self.set(Timer::Serving, context.now + TEMPLATE_PERIOD);
            return;
        }
        let body = self.signing_request(CertificateUse::Server);
        self.post_request(CertificateUse::Server, self.identity.clone(), body, context);
    }

    fn signing_request(&self, purpose: CertificateUse) -> Json {
        let name = &self.config.node_name;
        let (signer, usage) = match purpose {
            CertificateUse::Client => ("kubernetes.io/kube-apiserver-client-kubelet", "client auth"),
            CertificateUse::Server => ("kubernetes.io/kubelet-serving", "server auth"),
        };
        // Nobody here reads keys; what a signer looks at is the subject.
        let request = format!(
            "-----BEGIN CERTIFICATE REQUEST-----\nO=system:nodes,CN=system:node:{name}\n\
             -----END CERTIFICATE REQUEST-----\n"
        );
        json!({
            "kind": "CertificateSigningRequest", "apiVersion": "certificates.k8s.io/v1",
            "metadata": {"generateName": "csr-"},
            "spec": {"request": base64::encode(request.as_bytes()), "signerName": signer,
                "usages": ["digital signature", usage]},
            "status": {},
        })
    }

    fn post_request(
        &mut self,
        purpose: CertificateUse,
        identity: Arc<Identity>,
        body: Json,
        context: &mut KubeletContext<'_>,
    ) {
        let call = Call::new(Verb::Create, CERTIFICATE_REQUESTS, "", "").body(body);
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
        let why = failure(&outcome);
        let object = outcome.ok().and_then(|answer| answer.as_object().cloned());
        match (why, object) {
            (None, Some(posted)) => {
                let selector = (Text::of("fieldSelector"), Text::from(format!("metadata.name={}", posted.name())));
                let identity = match purpose {
                    CertificateUse::Client => context.host.spec.bootstrap.clone(),
                    CertificateUse::Server => Some(self.identity.clone()),
                };
                let identity = identity.unwrap_or_else(anonymous);
                let chance = self.certificates.chance.fork(posted.name());
                let selectors = Vec::from([selector]);
                let watch = Reflector::new(identity, CERTIFICATE_REQUESTS, "", selectors, chance, context.outbox);
                self.certificates.requested.push(Requested { purpose, watch });
            }
            (why, _) => self.retry_signing_request(purpose, &why.unwrap_or_default(), context),
        }
    }

    fn retry_signing_request(&mut self, purpose: CertificateUse, why: &str, context: &mut KubeletContext<'_>) {
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
        for object in changes.into_iter().filter_map(|change| change.after) {
            let tree = object.stable();
            let refused = tree
                .at(&["status", "conditions"])
                .items()
                .iter()
                .any(|condition| matches!(condition.get("type").as_str(), Some("Denied" | "Failed")));
            if refused {
                self.certificates.requested.remove(at);
                let why = String::from("certificate signing request was refused");
                return self.retry_signing_request(purpose, &why, context);
            }
            if !tree.at(&["status", "certificate"]).is_empty() {
                self.certificates.requested.remove(at);
                return self.certificate_signed(purpose, context);
            }
        }
    }

    /// Continues the pauses of the watches.
    pub(super) fn handle_certificate_timeout(&mut self, context: &mut KubeletContext<'_>) {
        for requested in &mut self.certificates.requested {
            requested.watch.handle_timeout(context.outbox, context.now);
        }
    }

    fn certificate_signed(&mut self, purpose: CertificateUse, context: &mut KubeletContext<'_>) {
        let fact = Because::Fact(String::from("its CertificateSigningRequest was approved and signed"));
        let what = match purpose {
            CertificateUse::Client => "has its client certificate",
            CertificateUse::Server => "has its server certificate",
        };
        context.outbox.decide(self.about_node(), what, Vec::from([fact]));
        if purpose == CertificateUse::Server {
            context.host.has_serving_certificate = true;
            return;
        }
        context.host.has_certificate = true;
        self.identity = self.config.identity.clone();
        self.nodes.act_as(&self.identity);
        if let Some(source) = &mut self.pods.source {
            source.act_as(&self.identity);
        }
        if core::mem::take(&mut self.certificates.holds_up) && self.timers[Timer::Begin as usize].is_none() {
            self.begin(context);
        }
    }
}
