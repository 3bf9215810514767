//! Tells kubelets how long they may cache Secrets and ConfigMaps: the annotation `node.alpha.kubernetes.io/ttl`.
//!
//! Mirrors kube-controller-manager's `ttl-controller` (pkg/controller/ttl/ttl_controller.go, v1.34). The seconds follow
//! the number of Nodes, with hysteresis. Inputs: Node events, answers, time. Outputs: patches of the annotation.
//! Left out on purpose: the limit of five workers, since the client's rate limit is narrower.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::Because;
use super::client::CacheEvent;
use super::controller::{
    Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler, Retries, Watched,
};
use crate::json;
use crate::network::{Call, NODES};
use crate::objects::{Object, ObjectKey};

/// The annotation. Source: k8s.io/api core/v1/annotation_key_constants.go (v1.34), `ObjectTTLAnnotationKey`.
const ANNOTATION: &str = "node.alpha.kubernetes.io/ttl";

/// Smallest and largest number of Nodes of a step, and its seconds.
///
/// Source: pkg/controller/ttl/ttl_controller.go (v1.34), `ttlBoundaries`.
const STEPS: [(usize, usize, i64); 5] =
    [(0, 100, 0), (90, 500, 15), (450, 1000, 30), (900, 2000, 60), (1800, usize::MAX, 300)];

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "ttl_controller",
    workers: usize::MAX,
    retries: Retries::ENDLESS,
    watched: &[Watched::with(NODES, None)],
};

/// Starts the controller with an empty cache.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    KeyedController::new(Ttl::default(), &CONFIG, context, now)
}

/// What the controller knows; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct Ttl {
    count: usize,
    step: usize,
}

impl Ttl {
    fn follow_count(&mut self, event: &CacheEvent) {
        match (&event.before, &event.after) {
            (None, Some(_)) => {
                self.count += 1;
                if self.count > STEPS[self.step].1 {
                    self.step += 1;
                }
            }
            (Some(_), None) => {
                self.count -= 1;
                if self.count < STEPS[self.step].0 {
                    self.step -= 1;
                }
            }
            _ => {}
        }
    }

    const fn seconds(&self) -> i64 {
        STEPS[self.step].2
    }

    fn is_due(&self, node: &Object) -> bool {
        annotated(node) != Some(self.seconds())
    }
}

/// Returns the annotation's value; `None` for an absent one or one that is no number.
fn annotated(node: &Object) -> Option<i64> {
    node.stable().at(&["metadata", "annotations", ANNOTATION]).as_str()?.parse().ok()
}

impl Reconciler for Ttl {
    type Purpose = ();

    fn handle_event(&mut self, _: usize, event: &CacheEvent, runtime: &mut KeyedRuntime<()>, _: Timestamp) {
        self.follow_count(event);
        // While the first list comes in the step still changes, so that each new Node is looked at afterwards.
        if let Some(node) = event.after.as_ref().filter(|node| event.before.is_none() || self.is_due(node)) {
            runtime.add(node.key());
        }
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut KeyedRuntime<()>, now: Timestamp) -> Flow {
        let seconds = self.seconds();
        let Some(node) = runtime.cache(0).get(key).filter(|node| self.is_due(node)) else { return Flow::Done };
        let before = annotated(node).map_or_else(|| String::from("none"), |seconds| format!("{seconds}"));
        let because = runtime.decide(
            format!("node/{}", key.name),
            format!("annotation {ANNOTATION}: {before} -> {seconds}"),
            Vec::from([Because::Fact(format!("the cluster has {} nodes", self.count))]),
        );
        let patch = json!({"metadata": {"annotations": {ANNOTATION: format!("{seconds}")}}});
        runtime.send(key, (), Call::strategic_patch(NODES, "", &key.name, patch), Some(because), now);
        Flow::Done
    }
}
