//! What nodes may do, as reviews of access and the requests of kubelets tell it.

use super::Fixture;
use crate::json;
use crate::network::{Ask, Call, Identity, PODS, Resource, Verb};
use crate::objects::Json;
use crate::profile::Release;

const DRIVERS: Resource = Resource::of("storage.k8s.io", "v1", "csidrivers");
const REVIEWS: Resource = Resource::of("authorization.k8s.io", "v1", "subjectaccessreviews");
const SERVICE_ACCOUNTS: Resource = Resource::of("", "v1", "serviceaccounts");

#[test]
fn a_review_counts_the_fields_by_which_a_list_selects() {
    let allows = |fixture: &mut Fixture, selector: &Json| {
        let what = json!({"verb": "list", "resource": "pods", "fieldSelector": selector.clone()});
        let spec = json!({"user": "system:node:n1", "groups": ["system:nodes"], "resourceAttributes": what});
        let body = json!({"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "spec": spec});
        fixture.post(&REVIEWS, "", body).body().at(&["status", "allowed"]).as_bool()
    };
    let requirement = |operator: &str, values: Json| {
        let of_node = json!({"key": "spec.nodeName", "operator": operator, "values": values});
        json!({"requirements": [of_node]})
    };
    let mut fixture = Fixture::of(Release::new(34, 0));
    for (selector, allowed) in [
        (requirement("In", json!(["n1"])), true),
        (json!({"rawSelector": "spec.nodeName=n1"}), true),
        (requirement("In", json!(["n2"])), false),
        (requirement("NotIn", json!(["n1"])), false),
        (requirement("In", json!(["n1", "n2"])), false),
    ] {
        assert_eq!(allows(&mut fixture, &selector), Some(allowed), "{selector}");
    }
}

#[test]
fn a_volume_that_was_built_in_counts_as_one_of_its_driver() {
    let mut fixture = Fixture::of(Release::new(34, 0));
    fixture.post(&SERVICE_ACCOUNTS, "default", json!({"metadata": {"name": "default"}}));
    let driver = json!({"metadata": {"name": "file.csi.azure.com"},
        "spec": {"tokenRequests": [{"audience": "foo"}], "attachRequired": false}});
    assert_eq!(fixture.post(&DRIVERS, "", driver).code, 201);
    fixture.create_node("n1");
    let pod = json!({"metadata": {"name": "p"}, "spec": {"nodeName": "n1",
        "containers": [{"name": "c", "image": "i"}],
        "volumes": [{"name": "v", "azureFile": {"secretName": "s", "shareName": "t"}}]}});
    let pod = fixture.post(&PODS, "default", pod).body();
    let mut ask = |audience: &str| {
        let bound = json!({"kind": "Pod", "apiVersion": "v1", "name": "p", "uid": pod.at(&["metadata", "uid"])});
        let body = json!({"spec": {"audiences": [audience], "boundObjectRef": bound}});
        let mut call = Call::new(Verb::Create, SERVICE_ACCOUNTS, "default", "default").body(body);
        call = call.subresource("token");
        let (answer, _) = fixture.ask_as(Identity::kubelet("n1"), Ask::Call(call.into()));
        answer.code
    };
    assert_eq!((ask("foo"), ask("bar")), (201, 403));
}
