//! Tests of a run on several releases: counts for each, and what changes from one to the next.

use super::world::{Named, World};

pub(crate) const TRIALS: &[Named] =
    &[("releases::tell_what_changes_with_an_upgrade", changes), ("releases::go_without_what_is_of_one_run", alone)];

const FEATURE: &str = "Feature: F
  Scenario: The same everywhere
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown within 70s

  Scenario: Sooner before 1.32
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown within 46s

  @since:1.34
  Scenario: New
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown within 70s
";

fn changes() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", FEATURE);
    let answer = world.call(&["run", "--k8s", "1.31,1.33,1.34"]).ends(1)?;
    let answer = answer.says("Kubernetes 1.31: 2 passed, 1 skipped")?;
    let answer = answer.says("Kubernetes 1.33: 1 passed, 1 failed, 1 skipped")?;
    let answer = answer.says("From 1.31 to 1.33: 1 scenarios change")?;
    let answer = answer.says("sim::a::b::sooner_before_1_32\n      passed -> failed")?;
    let answer = answer.says("From 1.33 to 1.34: 1 scenarios change")?;
    answer.says("sim::a::b::new\n      skipped (since 1.34, and this is Kubernetes 1.33.13) -> passed")?;
    let answer = world.call(&["run", "--k8s", "1.33,1.34", "--json", "--only", "sim::a::b::new"]).ends(0)?;
    answer
        .says(r#"{"from":"1.33","name":"sim::a::b::new","snapshots":[],"to":"1.34","verdict":["skipped","passed"]}"#)?;
    world
        .call(&["run", "--k8s", "all", "--only", "sim::a::b::the_same_everywhere"])
        .ends(0)?
        .says("Kubernetes 1.36: 1")?;
    Ok(())
}

fn alone() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", FEATURE);
    world.call(&["run", "--k8s", "1.33,1.34", "--accept"]).ends(2)?.says("several releases go without")?;
    for option in ["--svg", "--html", "--junit", "--messages", "--conformance", "--summary", "--report"] {
        let said = format!("so take no {option}: run one release at a time");
        world.call(&["run", "--k8s", "1.33,1.34", option, "x"]).ends(2)?.says(&said)?;
    }
    world.call(&["run", "--k8s", "1.33,1.77"]).ends(2)?.says("1.77")?;
    Ok(())
}
