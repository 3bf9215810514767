//! Approves and signs requests for the certificates of kubelets, and removes old requests.
//!
//! Mirrors kube-controller-manager's certificate controllers (pkg/controller/certificates/{approver/sarapprove.go,
//! signer/signer.go,cleaner/cleaner.go,certificate_controller.go}, v1.34). The approver knows the requests of kubelets
//! for client certificates, and asks the API server whether the requester may have one. The signer signs what is
//! approved for the four signers of Kubernetes. The cleaner looks once an hour.
//! Inputs: CertificateSigningRequests, answers, time. Outputs: reviews, approvals, certificates, deletions.
//! Left out on purpose: signatures; a flag for each signer's files; ClusterTrustBundles.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Because;
use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, LoopInfo,
    Reconciler, Retries, Watched, failure,
};
use crate::chance::Chance;
use crate::json;
use crate::network::{Answer, CERTIFICATE_REQUESTS, Call, Resource, Verb};
use crate::objects::lifecycle::condition;
use crate::objects::time::{parse, to_time};
use crate::objects::x509::{self, CertificateRequest};
use crate::objects::{Json, Object, ObjectKey, base64};

const REVIEWS: Resource = Resource::of("authorization.k8s.io", "v1", "subjectaccessreviews");
/// Source: k8s.io/api certificates/v1/types.go (v1.34), `KubeAPIServerClientKubeletSignerName`.
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
/// Source: as above, `KubeletServingSignerName`.
const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
/// Source: as above, `KubeAPIServerClientSignerName`.
const API_CLIENT: &str = "kubernetes.io/kube-apiserver-client";
/// Source: pkg/apis/certificates/types.go (v1.34), `LegacyUnknownSignerName`.
const LEGACY: &str = "kubernetes.io/legacy-unknown";

/// By how much a certificate is valid before it was signed. Source: signer/signer.go (v1.34), `sign`.
const BACKDATE: SignedDuration = SignedDuration::from_mins(5);
/// Below this the end of a certificate is not earlier by [`BACKDATE`]. Source: as above.
const SHORT: SignedDuration = SignedDuration::from_hours(8);
/// The shortest time that a request may ask for. Source: signer/signer.go (v1.34), `duration`.
const SHORTEST: SignedDuration = SignedDuration::from_mins(10);

/// Pause between two rounds of the cleaner. Source: cleaner/cleaner.go (v1.34), `pollingInterval`.
const CLEANER_PERIOD: SignedDuration = SignedDuration::from_hours(1);
/// How long an approved, denied or failed request stays. Source: cleaner/cleaner.go (v1.34), `approvedExpiration`,
/// `deniedExpiration`.
const DECIDED_STAYS: SignedDuration = SignedDuration::from_hours(1);
/// How long a request stays that nobody decides about, or nobody signs. Source: cleaner/cleaner.go (v1.34),
/// `pendingExpiration`.
const PENDING_STAYS: SignedDuration = SignedDuration::from_hours(24);

/// Source: certificate_controller.go (v1.34), `NewCertificateController`; five workers as cmd/kube-controller-manager/
/// app/certificates.go has them.
const CONFIG: ControllerConfig = ControllerConfig {
    queue: "certificate",
    workers: 5,
    retries: Retries { first: SignedDuration::from_millis(200), ..Retries::ENDLESS },
    watched: &[Watched::with(CERTIFICATE_REQUESTS, None)],
};

/// A kind of request that the approver knows: the subresource whose creation the requester needs, and the message.
type Recognizer = (&'static str, &'static str);

/// The kinds in the order in which they are tried. Source: approver/sarapprove.go (v1.34), `recognizers`.
const RECOGNIZERS: [Recognizer; 2] = [
    ("selfnodeclient", "Auto approving self kubelet client certificate after SubjectAccessReview."),
    ("nodeclient", "Auto approving kubelet client certificate after SubjectAccessReview."),
];

/// Starts the approver.
pub(super) fn start_approver(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Approver, &CONFIG, context, now)
}

/// Starts the signers.
pub(super) fn start_signer(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let own = Signer {
        lifetime: context.settings.duration("cluster-signing-duration"),
        chance: context.chance.fork("serials"),
    };
    KeyedController::new(own, &CONFIG, context, now)
}

/// Starts the cleaner.
pub(super) fn start_cleaner(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let removes_unissued = context.settings.profile().is("unissued-requests-are-removed");
    KeyedController::new(Cleaner { removes_unissued, next: None, began: false }, &CONFIG, context, now)
}

/// Tells whether a request has a condition, whatever its status.
fn has_condition(object: &Object, kind: &str) -> bool {
    !condition(object, kind).is_null()
}

fn is_issued(object: &Object) -> bool {
    !object.stable().at(&["status", "certificate"]).is_empty()
}

fn signer_name(object: &Object) -> &str {
    object.stable().at(&["spec", "signerName"]).as_str().unwrap_or("")
}

fn request_of(object: &Object) -> Option<CertificateRequest> {
    x509::read_request(object.stable().at(&["spec", "request"]).as_str().unwrap_or("")).ok()
}

fn usages(object: &Object) -> Vec<&str> {
    object.stable().at(&["spec", "usages"]).items().iter().filter_map(Json::as_str).collect()
}

/// Compares usages with those that are needed; `key encipherment` may be there or not.
/// Source: pkg/apis/certificates/helpers.go (v1.34), `kubeletClientRequiredUsages`, `kubeletServingRequiredUsages`.
fn has_usages(found: &[&str], purpose: &str) -> bool {
    let mut found: Vec<&str> = found.iter().copied().filter(|usage| *usage != "key encipherment").collect();
    found.sort_unstable();
    found.dedup();
    let mut wanted = ["digital signature", purpose];
    wanted.sort_unstable();
    found == wanted
}

/// Says why a request is none for a kubelet's client certificate.
/// Source: pkg/apis/certificates/helpers.go (v1.34), `ValidateKubeletClientCSR`.
fn check_client(request: &CertificateRequest, usages: &[&str]) -> Result<(), &'static str> {
    if request.subject.organizations != ["system:nodes"] {
        return Err("subject organization is not system:nodes");
    }
    if !request.dns_names.is_empty() {
        return Err("DNS subjectAltNames are not allowed");
    }
    if request.emails > 0 {
        return Err("Email subjectAltNames are not allowed");
    }
    if !request.ip_addresses.is_empty() {
        return Err("IP subjectAltNames are not allowed");
    }
    if request.uris > 0 {
        return Err("URI subjectAltNames are not allowed");
    }
    if !request.subject.common_name.starts_with("system:node:") {
        return Err("subject common name does not begin with system:node:");
    }
    if !has_usages(usages, "client auth") {
        return Err("usages did not match [client auth digital signature key encipherment]");
    }
    Ok(())
}

/// Says why a request is none for the certificate of a kubelet's server.
/// Source: pkg/apis/certificates/helpers.go (v1.34), `ValidateKubeletServingCSR`.
fn check_serving(request: &CertificateRequest, usages: &[&str]) -> Result<(), &'static str> {
    if request.subject.organizations != ["system:nodes"] {
        return Err("subject organization is not system:nodes");
    }
    if request.dns_names.is_empty() && request.ip_addresses.is_empty() {
        return Err("DNS or IP subjectAltName is required");
    }
    if request.emails > 0 {
        return Err("Email subjectAltNames are not allowed");
    }
    if request.uris > 0 {
        return Err("URI subjectAltNames are not allowed");
    }
    if !has_usages(usages, "server auth") {
        return Err("usages did not match [digital signature key encipherment server auth]");
    }
    if !request.subject.common_name.starts_with("system:node:") {
        return Err("subject common name does not begin with system:node:");
    }
    Ok(())
}

fn enqueue<S>(event: &CacheEvent, runtime: &mut KeyedRuntime<S>) {
    // What has a certificate needs nothing more. Source: certificate_controller.go (v1.34), `syncFunc`.
    if let Some(object) = event.after.as_ref().filter(|object| !is_issued(object)) {
        runtime.add(object.key());
    }
}

/// The approver; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Approver;

/// What a request of the approver is for.
#[derive(Clone, Copy, Debug)]
enum ApproverPurpose {
    /// The review for a recognizer, by its place.
    Review(usize),
    Approval,
}

impl Approver {
    /// Reviews whether the requester may have what it asks for, as the first recognizer from a place says.
    fn review(key: &ObjectKey, from: usize, runtime: &mut KeyedRuntime<ApproverPurpose>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(0).get(key).cloned() else { return Flow::Done };
        let decided = has_condition(&object, "Approved") || has_condition(&object, "Denied");
        if is_issued(&object) || decided {
            return Flow::Done;
        }
        let Some(request) = request_of(&object) else { return Flow::Retry };
        let spec = object.stable().get("spec");
        let is_client = signer_name(&object) == KUBELET_CLIENT && check_client(&request, &usages(&object)).is_ok();
        let is_own = spec.get("username").as_str() == Some(request.subject.common_name.as_str());
        let fits = |at: usize| is_client && (is_own || at > 0);
        let Some(at) = (from..RECOGNIZERS.len()).find(|at| fits(*at)) else {
            // A request that is recognized and not allowed is tried again: roles may change.
            return if is_client { Flow::Retry } else { Flow::Done };
        };
        let mut review = json!({"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "metadata": {}, "spec": {"resourceAttributes": {"group": "certificates.k8s.io", "version": "*",
                "resource": "certificatesigningrequests", "verb": "create", "subresource": RECOGNIZERS[at].0}}});
        for (field, from) in [("user", "username"), ("uid", "uid"), ("groups", "groups"), ("extra", "extra")] {
            if !spec.get(from).is_empty() {
                review.set(&["spec", field], spec.get(from).clone());
            }
        }
        let call = Call::new(Verb::Create, REVIEWS, "", "").body(review);
        runtime.send(key, ApproverPurpose::Review(at), call, None, now);
        Flow::Next
    }

    fn approve(key: &ObjectKey, at: usize, runtime: &mut KeyedRuntime<ApproverPurpose>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(0).get(key).cloned() else { return Flow::Done };
        let (subresource, message) = RECOGNIZERS[at];
        let user = object.stable().at(&["spec", "username"]).as_str().unwrap_or("");
        let because = runtime.decide(
            format!("certificatesigningrequest/{}", key.name),
            String::from("approved"),
            Vec::from([Because::Fact(format!("{user} may create certificatesigningrequests/{subresource}"))]),
        );
        let condition = json!({"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message});
        let mut body = object.json();
        body.entry(&["status", "conditions"]).make_array().push(condition);
        let call =
            Call::new(Verb::Update, CERTIFICATE_REQUESTS, "", key.name.clone()).subresource("approval").body(body);
        runtime.send(key, ApproverPurpose::Approval, call, Some(because), now);
        Flow::Next
    }
}

impl Reconciler for Approver {
    type Purpose = ApproverPurpose;

    fn handle_event(
        &mut self,
        _: usize,
        event: &CacheEvent,
        runtime: &mut KeyedRuntime<ApproverPurpose>,
        _: Timestamp,
    ) {
        enqueue(event, runtime);
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<ApproverPurpose>, now: Timestamp) -> Flow {
        Self::review(key, 0, runtime, now)
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: ApproverPurpose,
        reply: &ApiResult,
        runtime: &mut KeyedRuntime<ApproverPurpose>,
        now: Timestamp,
    ) -> Flow {
        if failure(reply).is_some() {
            return Flow::Retry;
        }
        let ApproverPurpose::Review(at) = step else { return Flow::Done };
        let allowed = reply.as_ref().map(Answer::body).unwrap_or_default();
        if allowed.at(&["status", "allowed"]).as_bool() == Some(true) {
            Self::approve(key, at, runtime, now)
        } else {
            Self::review(key, at + 1, runtime, now)
        }
    }
}

/// The signers; they keep the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Signer {
    lifetime: SignedDuration,
    chance: Chance,
}

impl Signer {
    /// Source: signer/signer.go (v1.34), `duration`.
    fn lifetime(&self, object: &Object) -> SignedDuration {
        match object.stable().at(&["spec", "expirationSeconds"]).as_i64() {
            None => self.lifetime,
            Some(seconds) => SignedDuration::from_secs(seconds).max(SHORTEST).min(self.lifetime),
        }
    }

    fn sign(&mut self, object: &Object, request: &CertificateRequest, now: Timestamp) -> String {
        let lifetime = self.lifetime(object);
        let end = if lifetime < SHORT { now + lifetime } else { now + (lifetime - BACKDATE) };
        let mut serial = [0; 16];
        for byte in &mut serial {
            *byte = u8::try_from(self.chance.below(256)).unwrap_or(0);
        }
        x509::issue(request, &usages(object), (now - BACKDATE, end), serial)
    }
}

/// Says why a request is none for the certificate of a client.
/// Source: signer/signer.go (v1.34), `validAPIServerClientUsages`.
fn check_api_client(usages: &[&str]) -> Result<(), String> {
    let known = ["client auth", "digital signature", "key encipherment"];
    if let Some(other) = usages.iter().find(|usage| !known.contains(usage)) {
        return Err(format!("invalid usage for client certificate: {other}"));
    }
    if !usages.contains(&"client auth") {
        return Err(String::from("missing required usage for client certificate: client auth"));
    }
    Ok(())
}

/// Says why a signer refuses a request, or that it is none for the signers here.
/// Source: signer/signer.go (v1.34), `isKubeletServing` and the functions beside it.
fn check_for_signer(object: &Object, request: &CertificateRequest) -> Option<Result<(), String>> {
    let usages = usages(object);
    match signer_name(object) {
        KUBELET_SERVING => Some(check_serving(request, &usages).map_err(String::from)),
        KUBELET_CLIENT => Some(check_client(request, &usages).map_err(String::from)),
        API_CLIENT => Some(check_api_client(&usages)),
        LEGACY => Some(Ok(())),
        _ => None,
    }
}

impl Reconciler for Signer {
    type Purpose = ();

    fn handle_event(&mut self, _: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        enqueue(event, runtime);
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(0).get(key).cloned() else { return Flow::Done };
        let refused = has_condition(&object, "Denied") || has_condition(&object, "Failed");
        if is_issued(&object) || !has_condition(&object, "Approved") || refused {
            return Flow::Done;
        }
        let Some(request) = request_of(&object) else { return Flow::Retry };
        let mut body = object.json();
        let (what, because) = match check_for_signer(&object, &request) {
            None => return Flow::Done,
            Some(Err(why)) => {
                let mut condition = json!({"type": "Failed", "status": "True", "reason": "SignerValidationFailure"});
                condition.set(&["message"], why.as_str());
                condition.set(&["lastUpdateTime"], to_time(now));
                body.entry(&["status", "conditions"]).make_array().push(condition);
                ("refused by the signer", why)
            }
            Some(Ok(())) => {
                let certificate = self.sign(&object, &request, now);
                body.set(&["status", "certificate"], base64::encode(certificate.as_bytes()));
                ("signed", String::from("it is approved"))
            }
        };
        let about = format!("certificatesigningrequest/{}", key.name);
        let because = runtime.decide(about, String::from(what), Vec::from([Because::Fact(because)]));
        let call = Call::new(Verb::Update, CERTIFICATE_REQUESTS, "", key.name.clone()).subresource("status").body(body);
        runtime.send(key, (), call, Some(because), now);
        Flow::Next
    }
}

/// The cleaner; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct Cleaner {
    /// Whether what was approved and never signed is removed.
    removes_unissued: bool,
    /// When it looks next; `None` before the first list.
    next: Option<Timestamp>,
    began: bool,
}

/// Says why a request is removed. Source: cleaner/cleaner.go (v1.34, v1.35), `handle` and the functions below it.
fn outdated(object: &Object, removes_unissued: bool, now: Timestamp) -> Option<&'static str> {
    let older =
        |at: &Json, than: SignedDuration| at.as_str().and_then(parse).is_some_and(|at| now.duration_since(at) >= than);
    let tree = object.stable();
    let conditions = tree.at(&["status", "conditions"]).items();
    let has_for = |kind: &str, than: SignedDuration| {
        let mut own = conditions.iter().filter(|condition| condition.get("type").as_str() == Some(kind));
        own.any(|condition| older(condition.get("lastUpdateTime"), than))
    };
    let has = |kind: &str| has_for(kind, DECIDED_STAYS);
    let certificate = tree.at(&["status", "certificate"]).as_str().and_then(x509::read_certificate);
    if has_condition(object, "Approved") && certificate.is_some_and(|certificate| now > certificate.not_after) {
        return Some("its certificate has expired");
    }
    if conditions.is_empty() && older(tree.at(&["metadata", "creationTimestamp"]), PENDING_STAYS) {
        return Some("nobody has decided about it for a day");
    }
    if has("Denied") {
        return Some("it was denied an hour ago");
    }
    if has("Failed") {
        return Some("it failed an hour ago");
    }
    if is_issued(object) && has("Approved") {
        return Some("it was approved an hour ago");
    }
    if removes_unissued && !is_issued(object) && has_for("Approved", PENDING_STAYS) {
        return Some("it was approved a day ago, and nobody has signed it");
    }
    None
}

impl Cleaner {
    fn look(runtime: &mut KeyedRuntime<()>) {
        let keys: Vec<ObjectKey> = runtime.cache(0).objects().map(Object::key).collect();
        keys.into_iter().for_each(|key| runtime.add(key));
    }
}

impl Reconciler for Cleaner {
    type Purpose = ();

    fn handle_event(&mut self, _: usize, _: &CacheEvent, _: &mut KeyedRuntime<()>, _: Timestamp) {}

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(object) = runtime.cache(0).get(key) else { return Flow::Done };
        let Some(why) = outdated(object, self.removes_unissued, now) else { return Flow::Done };
        let about = format!("certificatesigningrequest/{}", key.name);
        let because = runtime.decide(about, String::from("removed"), Vec::from([Because::Fact(String::from(why))]));
        let call = Call::new(Verb::Delete, CERTIFICATE_REQUESTS, "", key.name.clone());
        runtime.send(key, (), call, Some(because), now);
        Flow::Next
    }

    /// A deletion that fails is tried in the next round.
    fn handle_reply(&mut self, _: &ObjectKey, (): (), _: &ApiResult, _: &mut KeyedRuntime<()>, _: Timestamp) -> Flow {
        Flow::Done
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: "cleanup", period: CLEANER_PERIOD, next: self.next }])
    }

    fn begin(&mut self, now: Timestamp) {
        if !self.began {
            self.began = true;
            self.next = Some(now);
        }
    }

    fn handle_due(&mut self, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        if self.next.is_some_and(|at| at <= now) {
            self.next = Some(now + CLEANER_PERIOD);
            Self::look(runtime);
        }
    }

    fn hold_loops(&mut self) {
        self.began = true;
        self.next = None;
    }

    fn run_once(&mut self, name: &str, runtime: &mut KeyedRuntime<()>, _: Timestamp) -> bool {
        if name == "cleanup" {
            Self::look(runtime);
        }
        name == "cleanup"
    }
}
