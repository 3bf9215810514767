//! Tests of `mutate`, and of the lines that `explain` names as proof.

use super::world::{Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("mutants::that_survive_are_told_with_their_line", survive),
    ("mutants::that_are_known_have_a_reason_and_are_needed", known),
    ("mutants::of_a_scenario_that_fails_are_not_made", failing),
    ("mutants::tell_which_lines_prove_a_requirement", proof),
];

/// A line that is true before, an act that changes nothing that a line sees, a controller that is not needed.
const HOLLOW: &str = "\
Feature: A kubelet stops
  Scenario: True before
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=True within 60s
    And Node \"worker-1\" has condition Ready=Unknown within 60s

  Scenario: Nothing is done
    Given a ready Node \"worker-1\"
    When the user labels Node \"worker-1\" with \"disk=ssd\"
    Then Node \"worker-1\" keeps condition Ready=True for 60s

  Scenario: A step that is not needed
    Given a ready Node \"worker-1\"
    When the user labels Node \"worker-1\" with \"disk=ssd\"
    And the user cordons Node \"worker-1\"
    Then Node \"worker-1\" field spec.unschedulable is true at once
";

const SOUND: &str = "\
@req:NC-03
Feature: A kubelet stops
  Scenario: It is killed
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" keeps condition Ready=True for 39s
    And Node \"worker-1\" has condition Ready=Unknown between 39s and 56s
";

fn survive() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", HOLLOW);
    world
        .call(&["mutate"])
        .ends(1)?
        .says("features/a/b.feature:5: true before: Then Node \"worker-1\" has condition Ready=True within 60s")?
        .says("features/a/b.feature:10: without act 1: When the user labels Node")?
        .says("features/a/b.feature:15: without step: When the user labels Node")?
        .says("Finished")
        .and_then(|answer| require(!answer.out.contains("b.feature:6:"), || answer.out.clone()))?;
    world.write("features/a/b.feature", SOUND);
    world.call(&["mutate"]).ends(0)?.says("0 survive")?.says("NC-03  1 scenario, 4 of 4 mutants noticed")?;
    Ok(())
}

fn known() -> Result<(), String> {
    let world = World::new();
    let scenario = HOLLOW.split("\n\n").nth(1).unwrap_or_default();
    world.write("features/a/b.feature", format!("Feature: F\n{scenario}\n"));
    let mutate = ["mutate", "--known", "known.yaml"];
    let entry = "- {scenario: 'a::b::nothing_is_done', mutant: without act 1, reason: a label changes nothing}\n";
    world.write("known.yaml", entry);
    world.call(&mutate).ends(0)?.says("0 survive, 1 known")?;
    world.call(&["mutate", "--known", "known.yaml", "--at-most", "0"]).ends(1)?.says("it may not grow")?;
    world.write("known.yaml", format!("{entry}{}", entry.replace("without act 1", "negated")));
    world.call(&mutate).ends(1)?.says("noticed by now: a::b::nothing_is_done (negated)")?;
    world.write("known.yaml", entry.replace("a label changes nothing", "''"));
    world.call(&mutate).ends(2)?.says("has no reason")?;
    world.write("known.yaml", entry.replace("mutant:", "mutnt:"));
    world.call(&mutate).ends(2)?.says("mutnt")?;
    world.call(&["mutate", "--known", "absent.yaml"]).ends(2)?.says("absent.yaml: cannot be read")?;
    Ok(())
}

fn failing() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", SOUND.replace("39s and 56s", "1s and 2s"));
    world.call(&["mutate"]).ends(1)?.says("fails by itself")?.says("0 mutants of 1 scenario")?;
    world.write("features/a/b.feature", "Feature: F\n  Scenario: S\n    When it rains\n");
    world.call(&["mutate"]).ends(2)?.says("it rains")?;
    Ok(())
}

fn proof() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", SOUND);
    let answer = world.call(&["explain", "NC-03"]).ends(0)?;
    let answer = answer.says("7: And Node \"worker-1\" has condition Ready=Unknown between 39s and 56s")?;
    let answer = answer.says("fails without act 1, node-lifecycle-controller")?;
    require(!answer.out.contains("keeps condition Ready=True"), || answer.out.clone())?;
    world.call(&["explain", "NC-03", "--json"]).ends(0)?.says("\"failsWithout\":[\"act 1\",")?;
    Ok(())
}
