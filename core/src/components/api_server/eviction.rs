//! Eviction: deletes a Pod if the PodDisruptionBudgets allow it.
//!
//! Mirrors pkg/registry/core/pod/storage/eviction.go (v1.34). Inputs: an Eviction. Outputs: the condition
//! DisruptionTarget on the Pod, its deletion, a smaller budget; or 429 with the budget's name. Left out on purpose:
//! retries on conflicts, which a single server does not have.

use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::call::RequestInfo;
use super::delete::{DeleteOptions, check_preconditions};
use super::options::RequestOptions;
use super::{ApiServer, Origin, admission, status};
use crate::json;
use crate::network::kinds;
use crate::network::{Answer, Content, Resource};
use crate::objects::lifecycle::{condition_of, is_ready, put_condition};
use crate::objects::selector::selects;
use crate::objects::{Json, Object, Text, time};

const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");
/// Source: eviction.go (v1.34), `MaxDisruptedPodSize`.
const DISRUPTED_MAX: usize = 2000;
/// How long a client waits for a budget that is not processed yet, in seconds. Source: eviction.go (v1.34).
const RETRY_AFTER: i64 = 10;
const VIOLATES: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

impl ApiServer {
    /// Answers an Eviction of a Pod.
    pub(super) fn evict(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: &Json,
    ) -> Result<Answer, Answer> {
        let kind = info.kind;
        let text = |field: &str| body.get(field).as_str().unwrap_or("");
        if !["", "Eviction"].contains(&text("kind")) {
            let version = text("apiVersion").rsplit('/').next().unwrap_or("");
            return Err(status::bad_request(&format!(
                "{0} in version {version:?} cannot be handled as a Eviction: converting ({version}.{0}) to \
                 (policy.Eviction): unknown conversion",
                text("kind")
            )));
        }
        admission::connect(self, info, origin, body)?;
        if body.at(&["metadata", "name"]).as_str().unwrap_or("") != info.name.as_str() {
            return Err(status::bad_request("name in URL does not match name in Eviction object"));
        }
        let mut delete = DeleteOptions::of_eviction(body, options)?;
        let Some(pod) = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned() else {
            return Err(status::not_found(&kind.resource, &info.name));
        };
        if !ignores_budgets(&pod) {
            self.take_from_budget(&pod, origin, delete.dry_run)?;
        }
        if delete.dry_run {
            delete.check(&self.settings)?;
        }
        check_preconditions(kind, &pod, &delete)?;
        // The condition below is a write of its own, after which another version would no longer match. It stays, as
        // what the budget lost, if the deletion is refused for its options.
        delete.resource_version = None;
        if !delete.dry_run && self.settings.profile().is("disruptions-are-told") {
            let mut tree = pod.json();
            mark_target(&mut tree, origin.now);
            if tree != pod.json() {
                self.commit(info.kind_index, origin, tree);
            }
        }
        delete.check(&self.settings)?;
        let whole = RequestInfo {
            subresource: Text::of(""),
            namespace: info.namespace.clone(),
            name: info.name.clone(),
            ..*info
        };
        self.delete_with(&whole, origin, &delete)?;
        Ok(status::created())
    }

    fn take_from_budget(&mut self, pod: &Object, origin: &Origin, dry_run: bool) -> Result<(), Answer> {
        let budgets = kinds::find(&BUDGETS).expect("a kind of the table");
        let labels = pod.stable().at(&["metadata", "labels"]);
        let namespace = pod.key().namespace;
        let found: Vec<Object> = self.tables[budgets]
            .store
            .iter(&namespace)
            .filter(|budget| selects(budget.stable().at(&["spec", "selector"]), labels))
            .cloned()
            .collect();
        let budget = match found.as_slice() {
            [] => return Ok(()),
            [budget] => budget,
            _ => {
                let why =
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(status::untyped(why));
            }
        };
        let mut tree = budget.json();
        if !is_ready(pod) && lets_unready_go(&tree) {
            return Ok(());
        }
        self.check_budget(budget.name(), &tree)?;
        let left = tree.at(&["status", "disruptionsAllowed"]).as_i64().unwrap_or(0) - 1;
        tree.set(&["status", "disruptionsAllowed"], left);
        let now = time::to_time(origin.now);
        tree.set(&["status", "disruptedPods", pod.name()], now.as_str());
        if left == 0 {
            let generation = tree.at(&["status", "observedGeneration"]).as_i64().unwrap_or(0);
            let condition = json!({"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
                "message": "", "lastTransitionTime": now, "observedGeneration": generation});
            put_condition(tree.entry(&["status", "conditions"]).make_array(), condition);
        }
        if !dry_run {
            self.commit(budgets, origin, tree);
        }
        Ok(())
    }

    /// Refuses an eviction for the state of a budget. Source: eviction.go (v1.37), `checkAndDecrement`.
    fn refused_by_budget(&self, name: &str, why: &str, cause: &str) -> Answer {
        let mut answer = status::forbidden(&BUDGETS, name, why);
        if self.settings.profile().is("eviction-refusals-have-causes")
            && let Content::Json(body) = &mut answer.content
        {
            let message = format!("The disruption budget {name} does not allow evicting pods currently: {cause}");
            body.set(&["details", "causes"], json!([{"reason": "DisruptionBudget", "message": message}]));
        }
        answer
    }

    fn check_budget(&self, name: &str, budget: &Json) -> Result<(), Answer> {
        let number = |path: &[&str]| budget.at(path).as_i64().unwrap_or(0);
        if number(&["status", "observedGeneration"]) < number(&["metadata", "generation"]) {
            let why = format!("The disruption budget {name} is still being processed by the server.");
            return Err(too_many(&why, Some(RETRY_AFTER)));
        }
        let allowed = number(&["status", "disruptionsAllowed"]);
        if allowed < 0 {
            let why = "pdb disruptions allowed is negative";
            return Err(self.refused_by_budget(name, why, why));
        }
        if budget.at(&["status", "disruptedPods"]).fields().count() > DISRUPTED_MAX {
            let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
            let cause = "too many pending evictions not confirmed by PDB controller";
            return Err(self.refused_by_budget(name, why, cause));
        }
        if allowed > 0 {
            return Ok(());
        }
        let (desired, current) = (number(&["status", "desiredHealthy"]), number(&["status", "currentHealthy"]));
        let needs = format!("The disruption budget {name} needs {desired} healthy pods and has {current} currently");
        if !self.settings.profile().is("eviction-tells-sync") {
            return Err(too_many(&needs, None));
        }
        // A condition without a message, as the disruption controller writes it, tells nothing. Source: eviction.go
        // (v1.35), `checkAndDecrement`.
        let condition = budget.at(&["status", "conditions"]).items().iter().find(|condition| {
            condition.get("type").as_str() == Some("DisruptionAllowed")
                && condition.get("status").as_str() == Some("False")
                && condition.get("message").as_str().is_some_and(|message| !message.is_empty())
        });
        let text = |field: &str| condition.map_or("", |condition| condition.get(field).as_str().unwrap_or(""));
        let begin = format!("The disruption budget {name} does not allow evicting pods currently");
        let why = if text("reason") == "SyncFailed" {
            format!("{begin} because it failed sync: {}", text("message"))
        } else if current <= desired {
            needs
        } else if text("reason").is_empty() {
            begin
        } else {
            format!("{begin} ({}): {}", text("reason"), text("message"))
        };
        Err(too_many(&why, None))
    }
}

/// Tells whether a Pod needs no budget: it has ended, has not started, or is being deleted already.
fn ignores_budgets(pod: &Object) -> bool {
    let phase = pod.stable().at(&["status", "phase"]).as_str();
    matches!(phase, Some("Succeeded" | "Failed" | "Pending"))
        || !pod.stable().at(&["metadata", "deletionTimestamp"]).is_null()
}

/// Tells whether a budget allows the eviction of Pods that are not ready: always, or while enough others are healthy.
fn lets_unready_go(budget: &Json) -> bool {
    let number = |field: &str| budget.at(&["status", field]).as_i64().unwrap_or(0);
    let (desired, current) = (number("desiredHealthy"), number("currentHealthy"));
    budget.at(&["spec", "unhealthyPodEvictionPolicy"]).as_str() == Some("AlwaysAllow")
        || desired > 0 && current >= desired
}

/// Makes DisruptionTarget True; of a Pod whose disruption something else began, the instant and the generation stay.
/// Source: pkg/api/pod/util.go (v1.34), `UpdatePodCondition`; pkg/registry/core/pod/strategy.go,
/// `preserveOldObservedGeneration`.
fn mark_target(pod: &mut Json, now: Timestamp) {
    let mut condition = json!({"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null, "lastTransitionTime": time::to_time(now)});
    let generation = condition_of(pod, "DisruptionTarget").get("observedGeneration");
    if !generation.is_null() {
        condition.set(&["observedGeneration"], generation.clone());
    }
    put_condition(pod.entry(&["status", "conditions"]).make_array(), condition);
}

fn too_many(why: &str, retry_after: Option<i64>) -> Answer {
    let mut details = json!({"causes": [{"reason": "DisruptionBudget", "message": why}]});
    if let Some(seconds) = retry_after {
        details.set(&["retryAfterSeconds"], seconds);
    }
    let mut answer = status::failure(429, "TooManyRequests", VIOLATES, Some(details));
    if let Some(seconds) = retry_after {
        answer.headers.push((Text::of("Retry-After"), Text::from(format!("{seconds}"))));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::mark_target;
    use crate::json;
    use crate::objects::time;

    #[test]
    fn a_pod_whose_disruption_began_before_keeps_its_instant_and_generation() {
        let now = time::parse("2026-01-01T00:00:09Z").unwrap();
        for (before, instant) in [("True", "2026-01-01T00:00:00Z"), ("False", "2026-01-01T00:00:09Z")] {
            let mut pod = json!({"status": {"conditions": [{"type": "DisruptionTarget", "status": before,
                "reason": "DeletionByTaintManager", "message": "m", "observedGeneration": 1, "lastProbeTime": null,
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
            mark_target(&mut pod, now);
            let condition = &pod.at(&["status", "conditions"]).items()[0];
            assert_eq!(condition.get("reason"), &json!("EvictionByEvictionAPI"));
            assert_eq!(condition.get("observedGeneration"), &json!(1));
            assert_eq!(condition.get("lastTransitionTime"), &json!(instant));
        }
    }
}
