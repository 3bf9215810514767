//! Keeps in each namespace what its Pods need to talk to the API server: a service account and the root certificate.
//!
//! Mirrors kube-controller-manager's `serviceaccount-controller` (pkg/controller/serviceaccount/
//! serviceaccounts_controller.go, v1.34) and `root-ca-certificate-publisher-controller`
//! (pkg/controller/certificates/rootcacertpublisher/publisher.go, v1.34). Inputs: Namespaces, the objects of one name,
//! answers, time. Outputs: the service account `default`, and the ConfigMap `kube-root-ca.crt`, which is also restored
//! when somebody changes it. Left out on purpose: the content of the certificate.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::client::CacheEvent;
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, code, failure, is_namespace_ending,
};
use super::{Because, ROOT_CERTIFICATE};
use crate::json;
use crate::network::{CONFIG_MAPS, Call, NAMESPACES, Resource, SERVICE_ACCOUNTS, Verb};
use crate::objects::{Json, Object, ObjectKey, Text};

/// Source: serviceaccounts_controller.go (v1.34), `DefaultServiceAccountsControllerOptions`.
const ACCOUNT: &str = "default";
/// Source: publisher.go (v1.34), `DescriptionAnnotation`.
const DESCRIPTION_KEY: &str = "kubernetes.io/description";
/// Source: publisher.go (v1.34), `Description`.
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
    endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
    distributions of Kubernetes clusters.";
/// Stands for the certificate of the cluster's authority.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nbm9kZXByb29m\n-----END CERTIFICATE-----\n";

const OWN_CACHE: usize = 0;
const NAMESPACE_CACHE: usize = 1;

const OF_ACCOUNTS: ControllerConfig = ControllerConfig {
    queue: "serviceaccount",
    workers: 1,
    retries: Retries::ENDLESS,
    watched: &[Watched::with(SERVICE_ACCOUNTS, None), Watched::with(NAMESPACES, None)],
};
const OF_CERTIFICATES: ControllerConfig = ControllerConfig {
    queue: "root_ca_cert_publisher_queue",
    workers: 1,
    retries: Retries::ENDLESS,
    watched: &[
        Watched::with(CONFIG_MAPS, Some(("fieldSelector", "metadata.name=kube-root-ca.crt"))),
        Watched::with(NAMESPACES, None),
    ],
};

/// What is kept in each namespace; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kept {
    Account,
    RootCertificate,
}

impl Kept {
    const fn resource(self) -> Resource {
        match self {
            Self::Account => SERVICE_ACCOUNTS,
            Self::RootCertificate => CONFIG_MAPS,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Account => ACCOUNT,
            Self::RootCertificate => ROOT_CERTIFICATE,
        }
    }

    fn object(self, namespace: &Text) -> Json {
        let mut tree = match self {
            Self::Account => json!({"kind": "ServiceAccount", "apiVersion": "v1"}),
            Self::RootCertificate => {
                json!({"kind": "ConfigMap", "apiVersion": "v1", "data": {"ca.crt": CERTIFICATE}})
            }
        };
        tree.set(&["metadata", "name"], self.name());
        tree.set(&["metadata", "namespace"], namespace);
        if self == Self::RootCertificate {
            tree.set(&["metadata", "annotations", DESCRIPTION_KEY], DESCRIPTION);
        }
        tree
    }

    /// Returns the object as it has to be, if it is not.
    fn restored(self, found: &Object) -> Option<Json> {
        if self == Self::Account {
            return None;
        }
        let wanted = json!({"ca.crt": CERTIFICATE});
        let described = found.stable().at(&["metadata", "annotations", DESCRIPTION_KEY]).as_str() == Some(DESCRIPTION);
        if *found.stable().get("data") == wanted && described {
            return None;
        }
        let mut tree = found.json();
        tree.set(&["data"], wanted);
        tree.set(&["metadata", "annotations", DESCRIPTION_KEY], DESCRIPTION);
        Some(tree)
    }
}

/// Starts the controller of service accounts with empty caches.
pub(super) fn start_accounts(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Kept::Account, &OF_ACCOUNTS, context, now)
}

/// Starts the publisher of the root certificate with empty caches.
pub(super) fn start_certificates(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Kept::RootCertificate, &OF_CERTIFICATES, context, now)
}

fn is_active(namespace: &Object) -> bool {
    namespace.stable().at(&["status", "phase"]).as_str() == Some("Active")
}

impl Reconciler for Kept {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        if source == NAMESPACE_CACHE {
            if let Some(namespace) = &event.after {
                runtime.add(namespace.key());
            }
            return;
        }
        // A new object is this controller's own, or has to be looked at only if somebody changes it.
        let key = event.object().key();
        if key.name == *self.name() && (event.after.is_none() || event.before.is_some()) {
            runtime.add(ObjectKey::cluster(key.namespace));
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        if !runtime.cache(NAMESPACE_CACHE).get(key).is_some_and(is_active) {
            return Flow::Done;
        }
        let own = ObjectKey::namespaced(key.name.clone(), Text::of(self.name()));
        let (verb, body, what, why) = match runtime.cache(OWN_CACHE).get(&own) {
            None => (Verb::Create, self.object(&key.name), "created", "the namespace has none"),
            Some(found) => match self.restored(found) {
                None => return Flow::Done,
                Some(body) => (Verb::Update, body, "restored", "somebody has changed it"),
            },
        };
        let about = format!("{}/{}/{}", self.resource().plural.trim_end_matches('s'), own.namespace, own.name);
        let because = runtime.decide(about, String::from(what), Vec::from([Because::Fact(String::from(why))]));
        let name = if verb == Verb::Create { Text::of("") } else { own.name.clone() };
        let call = Call::new(verb, self.resource(), own.namespace, name).body(body);
        runtime.send(key, (), call, Some(because), now);
        Flow::Next
    }

    /// An object that is there already is well; one that cannot be made in a namespace that ends need not be.
    fn handle_reply(
        &mut self,
        _: &ObjectKey,
        (): (),
        reply: &ApiResult,
        _: &mut KeyedRuntime<()>,
        _: Timestamp,
    ) -> Flow {
        if failure(reply).is_some() && code(reply) != 409 && !is_namespace_ending(reply) {
            Flow::Retry
        } else {
            Flow::Done
        }
    }
}
