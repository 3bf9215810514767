//! Tests evictions and the budgets that they take from.

use alloc::format;

use super::Fixture;
use crate::json;
use crate::network::{Answer, Call, PODS, Resource, Verb};
use crate::objects::lifecycle::condition;
use crate::objects::{Json, Object, ObjectKey};
use crate::profile::Release;

const BUDGETS: Resource = Resource::of("policy", "v1", "poddisruptionbudgets");

/// Makes two ready Pods, and a budget that allows this many disruptions of them.
fn with_budget(allowed: i64) -> Fixture {
    with_budget_at(Fixture::new(), allowed)
}

fn with_budget_at(mut fixture: Fixture, allowed: i64) -> Fixture {
    for name in ["p1", "p2"] {
        let mut body = json!({"metadata": {"labels": {"app": "x"}}, "spec": {"nodeName": "w1",
            "containers": [{"name": "c", "image": "i:1"}]}});
        body.set(&["metadata", "name"], name);
        fixture.call(Call::new(Verb::Create, PODS, "default", "").body(body));
        let status = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        fixture.call(Call::strategic_patch(PODS, "default", name, status).subresource("status"));
    }
    let body =
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}});
    fixture.call(Call::new(Verb::Create, BUDGETS, "default", "").body(body));
    let mut status = json!({"status": {"observedGeneration": 1, "desiredHealthy": 1, "currentHealthy": 2}});
    status.set(&["status", "disruptionsAllowed"], allowed);
    fixture.call(Call::strategic_patch(BUDGETS, "default", "b", status).subresource("status"));
    fixture
}

fn evict(fixture: &mut Fixture, name: &'static str, options: Json, query: Option<&'static str>) -> Answer {
    let mut body = json!({"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {}});
    body.set(&["metadata", "name"], name);
    body.set(&["deleteOptions"], options);
    let call = Call::new(Verb::Create, PODS, "default", name).subresource("eviction").body(body);
    fixture.call(query.into_iter().fold(call, |call, value| call.query("dryRun", value)))
}

fn pod(fixture: &Fixture, name: &str) -> Object {
    fixture.server.object(&PODS, &ObjectKey::namespaced("default", name)).unwrap()
}

fn allowed(fixture: &Fixture) -> Option<i64> {
    let budget = fixture.server.object(&BUDGETS, &ObjectKey::namespaced("default", "b")).unwrap();
    budget.stable().at(&["status", "disruptionsAllowed"]).as_i64()
}

#[test]
fn an_eviction_takes_from_the_budget_until_there_is_none() {
    let mut fixture = with_budget(1);
    assert_eq!(evict(&mut fixture, "p1", Json::Null, None).code, 201);
    let refused = evict(&mut fixture, "p2", Json::Null, None);
    assert_eq!(refused.code, 429);
    assert_eq!(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
    assert!(!pod(&fixture, "p1").stable().at(&["metadata", "deletionTimestamp"]).is_null());
    assert_eq!(allowed(&fixture), Some(0));
}

/// The options are looked at when the Pod is deleted, after the writes that an eviction makes before.
#[test]
fn an_eviction_with_options_that_no_deletion_takes_has_been_counted_and_told() {
    let mut fixture = with_budget(1);
    let refused = evict(&mut fixture, "p1", json!({"propagationPolicy": "Nope"}), None);
    assert_eq!(refused.code, 422);
    let own = pod(&fixture, "p1");
    assert!(own.stable().at(&["metadata", "deletionTimestamp"]).is_null());
    assert_eq!(condition(&own, "DisruptionTarget").get("status"), &json!("True"));
    assert_eq!(allowed(&fixture), Some(0));
}

#[test]
fn a_dry_run_is_asked_for_by_the_query_or_the_options_and_by_both_alike() {
    let mut fixture = with_budget(1);
    let all = || json!({"dryRun": ["All"]});
    for (options, query) in [(all(), None), (Json::Null, Some("All")), (all(), Some("All"))] {
        assert_eq!(evict(&mut fixture, "p1", options, query).code, 201);
    }
    let refused = evict(&mut fixture, "p1", json!({"dryRun": ["Some"]}), Some("All"));
    assert_eq!(refused.code, 500);
    assert_eq!(refused.message(), "Non-matching dry-run options in request and content: [All] and [Some]");
    assert_eq!(evict(&mut fixture, "p1", json!({"dryRun": ["Some"]}), None).code, 422);
    assert_eq!(allowed(&fixture), Some(1));
    assert!(condition(&pod(&fixture, "p1"), "DisruptionTarget").is_null());
}

#[test]
fn an_eviction_that_a_budget_forbids_tells_its_cause_from_1_37_on() {
    for minor in [36, 37] {
        let mut fixture = with_budget_at(Fixture::of(Release::new(minor, 0)), 1);
        let mut status = json!({"status": {}});
        for at in 0..=2000 {
            status.set(&["status", "disruptedPods", &format!("p{at}")], "2026-01-01T00:00:00Z");
        }
        fixture.call(Call::strategic_patch(BUDGETS, "default", "b", status).subresource("status"));
        let refused = evict(&mut fixture, "p1", Json::Null, None);
        assert_eq!(refused.code, 403);
        let message = "The disruption budget b does not allow evicting pods currently: too many pending evictions not \
                       confirmed by PDB controller";
        let causes = json!([{"reason": "DisruptionBudget", "message": message}]);
        let expected = if minor == 36 { Json::Null } else { causes };
        assert_eq!(refused.body().at(&["details", "causes"]), &expected, "{minor}");
    }
}
