//! Tests of scenarios that use what is not modelled: neither passed nor failed, and said by name.

use super::world::{Answer, Named, World};

pub(crate) const TRIALS: &[Named] = &[
    ("unsupported::is_what_needs_something_that_is_not_modelled", by_name),
    ("unsupported::is_what_writes_an_object_whose_effect_is_not_modelled", without_effect),
    ("unsupported::is_a_change_of_containers_that_run", of_containers),
    ("unsupported::is_counted_beside_the_others", counted),
    ("unsupported::alone_is_no_success", alone),
    ("unsupported::is_no_excuse_for_a_wrong_value", wrong),
];

fn scenario(name: &str, given: &str) -> String {
    format!(
        "  Scenario: {name}\n    {given}\n    When the kubelet on \"worker-1\" is killed\n    \
         Then Node \"worker-1\" has condition Ready=Unknown within 60s\n"
    )
}

fn kubelet(rows: &str) -> String {
    format!("Given a ready Node \"worker-1\"\n    And whose kubelet runs with:\n      {rows}")
}

/// Each setting with what is said of it.
fn by_name() -> Result<(), String> {
    let component = |rows: &str| format!("Given {rows}\n    And a ready Node \"worker-1\"");
    for (given, what) in [
        (kubelet("| kernelMemcgNotification | true |"), "kernelMemcgNotification"),
        (
            kubelet(
                "| cpuManagerPolicy | static |\n      | kubeReserved | {\"cpu\": \"1\"} |\n      \
                 | cpuManagerPolicyOptions | {\"distribute-cpus-across-numa\": \"true\"} |",
            ),
            "cpuManagerPolicyOptions distribute-cpus-across-numa",
        ),
        (kubelet("| --kernel-memcg-notification | true |"), "kernelMemcgNotification"),
        (kubelet("| featureGates | {\"MemoryQoS\": true} |"), "feature gate MemoryQoS=true of one kubelet"),
        (
            component("kube-controller-manager runs with:\n      | leader-elect-resource-name | mine |"),
            "leader-elect-resource-name",
        ),
        (
            component("kube-controller-manager runs with:\n      | concurrent-gc-syncs | 5 |"),
            "flag kube-controller-manager.concurrent-gc-syncs",
        ),
        (
            component("kube-apiserver runs with:\n      | feature-gates | MemoryQoS=true |"),
            "feature gate MemoryQoS=true",
        ),
    ] {
        let world = World::new();
        let sound = scenario("It is killed", "Given a ready Node \"worker-1\"");
        world.write("features/a/b.feature", format!("Feature: F\n{sound}\n{}", scenario("Not modelled", &given)));
        let answer = world.call(&["run"]).ends(0)?.says("1 passed, 1 unsupported")?;
        answer.says("unsupported 1: ")?.says(&format!("{what} is not modelled yet"))?;
    }
    Ok(())
}

/// What a user writes that would change other objects.
fn without_effect() -> Result<(), String> {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i, \
               resources: {claims: [{name: d}]}}], resourceClaims: [{name: d, resourceClaimName: d}]}}";
    for (object, what) in [
        (
            "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: w}}",
            "what ValidatingWebhookConfiguration \"w\" does to other objects",
        ),
        (pod, "a Pod with claims of devices"),
    ] {
        let world = World::new();
        let written = format!(
            "Given the object:\n      \"\"\"yaml\n      {object}\n      \"\"\"\n    And a ready Node \"worker-1\""
        );
        let sound = scenario("It is killed", "Given a ready Node \"worker-1\"");
        world.write("features/a/b.feature", format!("Feature: F\n{sound}\n{}", scenario("Not modelled", &written)));
        let answer = world.call(&["run"]).ends(0)?.says("1 passed, 1 unsupported")?;
        answer.says(&format!("unsupported 1: {what} is not modelled yet"))?;
    }
    Ok(())
}

/// What a kubelet would do with it shows in the Pod; what the server answers is modelled.
fn of_containers() -> Result<(), String> {
    let scenario = |subresource: &str, body: &str, line: &str| {
        format!(
            "Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    And a Pod \"web\" on Node \"w\"\n    \
             When the user sends strategic PATCH /api/v1/namespaces/default/pods/web/{subresource}:\n      \
             \"\"\"\n      {{\"spec\": {body}}}\n      \"\"\"\n    Then {line}\n"
        )
    };
    let (subresource, body) =
        ("ephemeralcontainers", "{\"ephemeralContainers\": [{\"name\": \"d\", \"image\": \"i\"}]}");
    let world = World::new();
    let stays = "Pod \"web\" keeps field status.phase \"Running\" for 5s";
    world.write("features/a/b.feature", scenario(subresource, body, stays));
    let what = format!("what a kubelet does when {subresource} of a Pod is written is not modelled yet");
    world.call(&["run"]).says(&what)?.says("0 passed, 1 unsupported")?;
    world.write("features/a/b.feature", scenario(subresource, body, "the request is answered with 200"));
    world.call(&["run"]).ends(0)?.says("1 passed")?;
    Ok(())
}

fn counted() -> Result<(), String> {
    let world = World::new();
    let sound = scenario("It is killed", "Given a ready Node \"worker-1\"");
    let other = scenario("Not modelled", &kubelet("| kernelMemcgNotification | true |"));
    world.write("features/a/b.feature", format!("@req:NC-03\nFeature: F\n{sound}\n{other}"));
    let answer = world.call(&["run", "--json"]).ends(0)?;
    answer.says("\"reason\":\"kernelMemcgNotification is not modelled yet\"")?.says("\"result\":\"unsupported\"")?;
    let answer = Answer::of(&mut world.door(&[])).ends(0)?;
    answer.says("1 ignored")?.says("unsupported: kernelMemcgNotification is not modelled yet")?;
    world.call(&["explain", "NC-03", "--coverage"]).ends(0)?.says("unsupported  sim::a::b::not_modelled")?;
    world.write("features/a/b.feature", format!("@req:NC-03\nFeature: F\n{other}"));
    world.call(&["explain", "NC-03", "--coverage"]).ends(0)?.says("0 of 1 requirements")?;
    Ok(())
}

fn alone() -> Result<(), String> {
    let world = World::new();
    let other = scenario("Not modelled", &kubelet("| kernelMemcgNotification | true |"));
    world.write("features/a/b.feature", format!("Feature: F\n{other}"));
    world.call(&["run"]).ends(2)?.says("nothing was run")?.says("kernelMemcgNotification is not modelled yet")?;
    Ok(())
}

/// What the kubelet refuses is refused, and a default that is said is no setting.
fn wrong() -> Result<(), String> {
    let world = World::new();
    for (rows, verdict) in [
        ("| evictionHard | {\"foo\": \"1Gi\"} |", "1 failed"),
        ("| evictionHard | foo |", "1 failed"),
        ("| evictionHard | {\"memory.available\": \"8Gi\"} |", "1 passed"),
        ("| cpuManagerPolicy | none |", "1 passed"),
    ] {
        world.write("features/a/b.feature", format!("Feature: F\n{}", scenario("S", &kubelet(rows))));
        let code = if verdict == "1 failed" { 1 } else { 0 };
        world.call(&["run"]).ends(code)?.says(verdict)?;
    }
    Ok(())
}
