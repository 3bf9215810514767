//! Counts what the objects of a namespace use of its ResourceQuotas.
//!
//! Mirrors kube-controller-manager's `resourcequota-controller`
//! (pkg/controller/resourcequota/resource_quota_controller.go and pkg/quota/v1/install/update_filter.go, v1.34). The
//! API server takes what is new from a quota; this controller counts again when a quota is new or its limits change,
//! when an object that counts is gone or uses less, and every five minutes. Inputs: ResourceQuotas, what they count,
//! answers, time. Outputs: the statuses of quotas. A kind is watched once a quota counts it; upstream watches all from
//! the start. Left out on purpose: custom kinds, the queue of quotas without a status, and discovery.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Because;
use super::client::CacheEvent;
use super::controller::{
    Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, LoopInfo, Reconciler,
    Retries, Watched,
};
use super::pod_resources::{PodLevel, Quantities, Tally, quantities};
use super::quota_usage::{Evaluator, QUOTAS, as_json, is_charged, is_terminating, listed};
use crate::chance::Chance;
use crate::json;
use crate::network::kinds::{KINDS, Trait};
use crate::network::{Call, Resource, Verb};
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Object, ObjectKey};

/// Source: pkg/controller/resourcequota/config/v1alpha1/defaults.go (v1.34), `ResourceQuotaSyncPeriod`.
const PERIOD: SignedDuration = SignedDuration::from_mins(5);
const LOOP: &str = "resync";
const QUOTA_CACHE: usize = 0;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "resourcequota_primary",
    // Source: as `PERIOD`, `ConcurrentResourceQuotaSyncs`.
    workers: 5,
    retries: Retries::ENDLESS,
    watched: &[Watched::with(QUOTAS, None)],
};

/// Starts the controller with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let own = QuotaCounter {
        level: PodLevel::of(context.settings.profile()),
        follows_scopes: context.settings.profile().is("quotas-follow-changed-scopes"),
        chance: context.chance.clone(),
        kinds: Vec::new(),
        began: None,
        is_held: false,
        next: None,
    };
    KeyedController::new(own, &CONFIG, context, now)
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug)]
struct QuotaCounter {
    level: PodLevel,
    follows_scopes: bool,
    chance: Chance,
    /// The kinds that quotas count, by the places of their caches behind that of the quotas.
    kinds: Vec<(Resource, Evaluator)>,
    began: Option<Timestamp>,
    /// Whether the driver has the clock of the loop.
    is_held: bool,
    /// The next round; `None` while there is no quota, since a round would do nothing.
    next: Option<Timestamp>,
}

/// Returns the kinds that count for a resource of a quota.
fn counted(name: &str) -> impl Iterator<Item = (Resource, Evaluator)> {
    let kinds = KINDS.iter().filter(|kind| kind.is_namespaced() && !kind.is(Trait::Review));
    let of = |resource: &Resource| Some((resource.clone(), Evaluator::of(resource)?));
    kinds.filter_map(move |kind| of(&kind.resource).filter(|(resource, own)| own.matches(resource, name)))
}

impl QuotaCounter {
    fn watch_counted(&mut self, quota: &Object, runtime: &mut KeyedRuntime<()>) {
        let names = quota.stable().at(&["spec", "hard"]).fields().map(|(name, _)| name.clone());
        for (resource, evaluator) in names.collect::<Vec<_>>().iter().flat_map(|name| counted(name)) {
            // Quotas that are counted have a cache already.
            if self.kinds.iter().all(|(known, _)| *known != resource) {
                runtime.watch(&Watched::of(resource.clone()).with_stream("counted"), &self.chance);
                self.kinds.push((resource, evaluator));
            }
        }
    }

    fn queue_all(runtime: &mut KeyedRuntime<()>) {
        let keys: Vec<ObjectKey> = runtime.cache(QUOTA_CACHE).objects().map(Object::key).collect();
        keys.into_iter().for_each(|key| runtime.add(key));
    }

    /// Returns what the objects of a namespace use of a quota.
    ///
    /// Source: k8s.io/apiserver pkg/quota/v1/resources.go (v1.34), `CalculateUsage`.
    fn count(&self, quota: &Object, runtime: &KeyedRuntime<()>, now: Timestamp) -> Quantities {
        let hard = quota.stable().at(&["spec", "hard"]);
        let namespace = quota.key().namespace;
        let mut sum = Quantities::new();
        for (at, (resource, evaluator)) in self.kinds.iter().enumerate() {
            let names = hard.fields().filter(|(name, _)| evaluator.matches(resource, name));
            let mut used: Quantities =
                names.map(|(name, _)| (name.clone(), Quantity::whole(0, Format::DecimalSi))).collect();
            if used.is_empty() {
                continue;
            }
            for object in runtime.cache(at + 1).objects() {
                if object.key().namespace == namespace && evaluator.is_in_scope(quota.stable(), object.stable()) {
                    used.add_all(&evaluator.usage(resource, object.stable(), self.level, now));
                }
            }
            sum.add_all(&used);
        }
        sum
    }
}

/// Tells whether an object may use less of a quota than before, or something else.
///
/// Source: update_filter.go (v1.34), `DefaultUpdateFilter`.
fn may_use_less(evaluator: Evaluator, follows_scopes: bool, [before, after]: [&Json; 2], now: Timestamp) -> bool {
    let service_type = |of: &Json| {
        let of = of.at(&["spec", "type"]).as_text().cloned();
        of.filter(|of| matches!(of.as_str(), "NodePort" | "LoadBalancer"))
    };
    let resources = |pod: &Json| -> Vec<Json> {
        let lists = ["containerStatuses", "initContainerStatuses"].into_iter();
        lists.flat_map(|list| pod.at(&["status", list]).items()).map(|own| own.get("resources").clone()).collect()
    };
    match evaluator {
        Evaluator::Pods => {
            let is_known = !resources(before).is_empty();
            is_known && resources(before) != resources(after)
                || follows_scopes && is_terminating(before) != is_terminating(after)
                || is_charged(before, now) && !is_charged(after, now)
        }
        Evaluator::Services => service_type(before) != service_type(after),
        // Upstream compares the places of two amounts in memory, which always differ.
        Evaluator::Claims => true,
        Evaluator::Count => false,
    }
}

impl Reconciler for QuotaCounter {
    type Purpose = ();

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        if source == QUOTA_CACHE {
            if let Some(quota) = &event.after {
                self.watch_counted(quota, runtime);
                let hard = |of: &Object| quantities(of.stable().at(&["spec", "hard"]));
                if event.before.as_ref().is_none_or(|before| hard(before) != hard(quota)) {
                    runtime.add(quota.key());
                }
            }
            return;
        }
        let Some(before) = &event.before else { return };
        let (resource, evaluator) = &self.kinds[source - 1];
        let is_same =
            |after: &Object| !may_use_less(*evaluator, self.follows_scopes, [before.stable(), after.stable()], now);
        if event.after.as_ref().is_some_and(is_same) {
            return;
        }
        let namespace = before.key().namespace;
        let quotas = runtime.cache(QUOTA_CACHE).objects().filter(|quota| {
            let mut names = quota.stable().at(&["status", "hard"]).fields();
            quota.key().namespace == namespace && names.any(|(name, _)| evaluator.matches(resource, name))
        });
        let keys: Vec<ObjectKey> = quotas.map(Object::key).collect();
        keys.into_iter().for_each(|key| runtime.add(key));
    }

    /// Source: resource_quota_controller.go (v1.34), `syncResourceQuota`.
    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let Some(quota) = runtime.cache(QUOTA_CACHE).get(key).cloned() else { return Flow::Done };
        let (spec, status) = (quota.stable().get("spec"), quota.stable().get("status"));
        let hard = quantities(spec.get("hard"));
        let mut used = quantities(status.get("used"));
        used.extend(self.count(&quota, runtime, now));
        used.retain(|name, _| hard.contains_key(name));
        let is_new = status.get("hard").is_null() || status.get("used").is_null();
        if !is_new && quantities(status.get("hard")) == hard && quantities(status.get("used")) == used {
            return Flow::Done;
        }
        let what = format!("used: {}", listed(&used));
        let why = if is_new { String::from("nothing was counted yet") } else { String::from("the count has changed") };
        let about = format!("resourcequota/{}/{}", key.namespace, key.name);
        let because = runtime.decide(about, what, Vec::from([Because::Fact(why)]));
        let mut body = quota.json();
        body.set(&["status"], json!({"hard": spec.get("hard").clone(), "used": as_json(&used)}));
        let call = Call::new(Verb::Update, QUOTAS, key.namespace.clone(), key.name.clone());
        runtime.send(key, (), call.subresource("status").body(body), Some(because), now);
        Flow::Next
    }

    fn loops(&self) -> Vec<LoopInfo> {
        Vec::from([LoopInfo { name: LOOP, period: PERIOD, next: self.next }])
    }

    fn begin(&mut self, now: Timestamp) {
        let began = *self.began.get_or_insert(now);
        if self.next.is_none() && !self.is_held && !self.kinds.is_empty() {
            let rounds = now.duration_since(began).as_secs() / PERIOD.as_secs();
            self.next = Some(began + PERIOD * i32::try_from(rounds + 1).unwrap_or(i32::MAX));
        }
    }

    fn handle_due(&mut self, runtime: &mut KeyedRuntime<()>, now: Timestamp) {
        if self.next.is_some_and(|at| at <= now) {
            self.next = Some(now + PERIOD);
            Self::queue_all(runtime);
        }
    }

    fn hold_loops(&mut self) {
        self.is_held = true;
        self.next = None;
    }

    fn run_once(&mut self, name: &str, runtime: &mut KeyedRuntime<()>, _: Timestamp) -> bool {
        if name == LOOP {
            Self::queue_all(runtime);
        }
        name == LOOP
    }
}
