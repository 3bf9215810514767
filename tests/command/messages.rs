//! Tests of single messages: each says what is wrong, where, and what to write.

use super::world::{GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("messages::about_the_object_of_a_sentence", objects),
    ("messages::about_a_sentence_to_add", snippet),
    ("messages::about_an_answer", answers),
    ("messages::about_flags_and_requirements", suggestions),
    ("messages::show_durations_as_written", durations),
    ("messages::of_explain_have_no_empty_fields", explain),
    ("messages::of_control_help", control),
    ("messages::about_pods_that_are_not_named", pods),
    ("messages::about_the_grace_period", grace_period),
    ("messages::of_lint_say_where_zero_is_and_what_is_there_twice", zero),
    ("messages::about_faults", faults),
    ("messages::about_what_a_given_waits_for", given),
    ("messages::about_what_is_not_there", not_there),
    ("messages::stand_under_the_words_that_are_wrong", places),
    ("messages::say_what_would_fit", remedies),
];

/// Returns what lint says of a Then line.
fn of(line: &str) -> Result<String, String> {
    of_lines("the user cordons Node \"w\"", line)
}

/// Returns what lint says of a When line and a Then line.
fn of_lines(when: &str, then: &str) -> Result<String, String> {
    let world = World::new();
    let feature =
        format!("Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    When {when}\n    Then {then}\n");
    world.write("features/a/b.feature", feature);
    Ok(world.call(&["lint"]).ends(2)?.out)
}

fn says(line: &str, words: &[&str]) -> Result<(), String> {
    let out = of(line)?;
    words.iter().try_for_each(|words| require(out.contains(words), || format!("{words:?} is missing in\n{out}")))
}

fn objects() -> Result<(), String> {
    says(
        "Deployment \"web\" has taint \"a/b:NoExecute\" within 5s",
        &[
            "b.feature:5:10: Deployment has no such sentence; Node has it\n",
            "= help: these take it:\n",
            "Deployment \"web\" field {path} is {value}",
        ],
    )?;
    says(
        "worker has taint \"a/b:NoExecute\" within 5s",
        &["b.feature:5:10: \"worker\" is no object\n", "Node \"NAME\""],
    )?;
    says("\"w\" keeps condition Ready=True for 5s", &["is no object", "Node \"NAME\""])?;
    says("the node w has condition Ready=True within 5s", &["\"the node w\" is no object"])?;
    says("nobody knows this", &["there is no sentence \"Then nobody knows this\""])?;
    says(
        "Pod \"web\" has phase Running within 5s",
        &["= help: write `Pod \"web\" field status.phase is \"Running\" within 5s`\n"],
    )?;
    says("Pod \"web\" has reason \"Evicted\", within 5s", &["status.reason is \"Evicted\", within 5s`\n"])?;
    says(
        "the Pods are evicted within 5s",
        &["no sentence about one Pod reads \"is evicted within 5s\"\n", "= help: did you mean\n", "{object} is"],
    )
}

fn snippet() -> Result<(), String> {
    says("3 cats see \"w\"", &["fn step_3_cats_see(draft: &mut Draft, first: String) { todo!() }"])?;
    says("match", &["fn match_(draft: &mut Draft) { todo!() }"])?;
    says("\u{1f600}", &["fn step(draft: &mut Draft) { todo!() }"])
}

fn answers() -> Result<(), String> {
    says("the request is answered with 400", &["400 is a refusal", "= help: write `the request is refused with 400`"])?;
    says("the request is refused with 200", &["200 is no refusal", "= help: write `the request is answered with 200`"])
}

fn pods() -> Result<(), String> {
    says(
        "0 Pods with label \"app=wbe\" keep running for 5s",
        &["b.feature:5:29: nothing in the scenario has label \"app=wbe\"\n", "= help: a Pod gets it from its object"],
    )?;
    says("0 Pods keep running on Nodes of zone \"z\" for 5s", &["no Node is in zone \"z\"", "3 ready Nodes in zone"])?;
    says("the Pods on Node \"v\" are gone within 5s", &["no Node \"v\" is declared", "did you mean \"w\"?"])?;
    says("the Pods with label \"a==b\" are gone within 5s", &["\"a==b\" is no label"])?;
    says("0 Pods of \"web\" keep running for 5s", &["no workload \"web\" is declared"])?;
    says("0 Pods of DaemonSet \"web\" keep running for 5s", &["declare it: Given a DaemonSet \"web\" of 3 Pods"])
}

fn grace_period() -> Result<(), String> {
    let ready = "Node \"w\" has condition Ready=Unknown";
    says(&format!("{ready} within the grace period or so"), &["is no limit: as in the grace period and 6s"])?;
    says(&format!("{ready} within the grace period and soon"), &["\"soon\" is no duration"])?;
    says(&format!("{ready} between the grace period and"), &["`between` has two limits"])?;
    says(&format!("{ready} between the grace period and 6s and 40s"), &["is later than 40s"])
}

fn zero() -> Result<(), String> {
    let world = World::new();
    let feature = |second: &str| {
        format!(
            "Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    When the kubelet on \"w\" is killed\n    \
             And {second}\n    Then Node \"w\" stays for 5s\n"
        )
    };
    world.write("features/a/b.feature", feature("2m pass"));
    let out = world.call(&["lint"]).ends(0)?.out;
    let note = "features/a/b.feature:5: note: zero is when this line has taken effect, later than line 4";
    require(out.contains(note), || format!("{note:?} is missing in\n{out}"))?;
    world.write("features/a/b.feature", feature("the user cordons Node \"w\""));
    let out = world.call(&["lint"]).ends(0)?.out;
    require(!out.contains("note"), || format!("a note too many in\n{out}"))?;
    let twice = feature("the user cordons Node \"w\"") + "    And Node \"w\" stays for 5s\n";
    world.write("features/a/b.feature", twice);
    world.call(&["lint"]).ends(0)?.says("features/a/b.feature:7: note: line 6 says the same\n").map(drop)
}

fn faults() -> Result<(), String> {
    let leases = "requests to leases from \"w\"";
    for (line, words) in [
        (
            format!("{leases} are lost with probability 1.5"),
            "b.feature:4:64: \"1.5\" is no probability: above 0, and at",
        ),
        (format!("{leases} are lost with probability half"), "\"half\" is no probability"),
        (format!("{leases} take 5s to 1s"), "5s is longer than 1s"),
        (format!("{leases} are lost for 0s"), "0s is no time"),
        (format!("{leases} are lost 0 times"), "0 times is no number of requests"),
        (format!("{leases} are answered 418 3 times"), "no request is answered with 418"),
        ("requests to leases from kube-contoller-manager are lost".to_owned(), "there is no controller"),
        ("ttl-controler loses its connection to the API server".to_owned(), "did you mean ttl-controller?"),
        ("ttl-controller loses its network".to_owned(), "has its connection to the API server alone"),
        ("machine \"w\" regains its network for 5s".to_owned(), "what is regained is not for a time"),
    ] {
        let out = of_lines(&line, "Node \"w\" stays for 5s")?;
        require(out.contains(words), || format!("{words:?} is missing in\n{out}"))?;
    }
    Ok(())
}

/// Returns what lint says of the steps of a scenario; the first step stands in line 3.
fn of_steps(steps: &str) -> Result<String, String> {
    let world = World::new();
    world.write("features/a/b.feature", format!("Feature: F\n  Scenario: S\n{steps}"));
    Ok(world.call(&["lint"]).ends(2)?.out)
}

fn wants(steps: &str, words: &[&str]) -> Result<(), String> {
    let out = of_steps(steps)?;
    words.iter().try_for_each(|words| require(out.contains(words), || format!("{words:?} is missing in\n{out}")))
}

fn places() -> Result<(), String> {
    let flag = |component: &str, row: &str| format!("    Given {component} runs with:\n      {row}\n");
    wants(
        &flag("kube-controller-manager", "| node-monitor-grace-periode | 20s |"),
        &["b.feature:4:9: unknown flag", "\n 4 |       | node-monitor-grace-periode | 20s |\n   |         ^^^"],
    )?;
    wants(&flag("kube-controller-manager", "| node-monitor-grace-period | 20 |"), &["b.feature:4:37: flag"])?;
    wants(
        &flag("kube-controler-manager", "| node-monitor-grace-period | 20s |"),
        &["b.feature:3:11: there is no component", "= help: did you mean kube-controller-manager?"],
    )?;
    wants(
        "    Given a ready Node \"w\"\n    And whose kubelet runs with:\n      | version | 1.99 |\n",
        &["b.feature:5:19: kubelet.version"],
    )?;
    wants(
        "    Given the object:\n      \"\"\"yaml\n      apiVersion: v1\n      kind: Pood\n      \
         metadata: {name: p}\n      \"\"\"\n",
        &["b.feature:6:13: there is no kind \"Pood\"", "\n 6 |       kind: Pood\n   |             ^^^^\n"],
    )?;
    let feature = "Feature: F\n  Scenari: S\n    Given a ready Node \"w\"\n  Scenario: T\n    \
        Given a ready Node \"w\"\n    When the user cordons Node \"w\"\n    Then Node \"w\" stays for 5s\n";
    let world = World::new();
    world.write("features/a/b.feature", feature);
    world.call(&["lint"]).ends(2)?.says("b.feature:3:5: this would be a description, and no step")?;
    let json = world.call(&["lint", "--json"]).ends(2)?.out;
    require(json.contains("\"column\":5") || json.contains("\"column\": 5"), || json.clone())?;
    let sends = |words: &str| of_lines(&format!("the user sends {words}"), "Node \"w\" stays for 5s");
    for (words, place) in
        [("FETCH /api/v1/nodes", "b.feature:4:25: there is no method"), ("GET nodes", "b.feature:4:29:")]
    {
        let out = sends(words)?;
        require(out.contains(place), || format!("{place:?} is missing in\n{out}"))?;
    }
    Ok(())
}

fn remedies() -> Result<(), String> {
    says("Node \"w\" exists within 60s.", &["\"60s.\" is no duration: the \".\" at its end is too much: 60s\n"])?;
    says(
        "Node \"w\" has taint \"a/b:NoExecute\" within 5s after Node \"w\" is gone",
        &["`within` counts from zero, and takes no `after`", "= help: between 0s and 5s after Node \"w\" is gone\n"],
    )?;
    wants(
        "    Given a machine \"w\" with:\n      | memmory | 4Gi |\n",
        &[
            "b.feature:4:9: memmory: unknown field",
            "cpu, memory, ephemeral-storage, pods, ",
            "did you mean \"memory\"?",
        ],
    )?;
    let pod = "    Given a ready Node \"w\"\n    And a Pod \"web\" on Node \"w\"\n    When 1s passes\n";
    wants(
        &format!("{pod}    Then Pod \"nosuchns/web\" exists within 5s\n"),
        &["no Pod \"nosuchns/web\" is declared", "did you mean \"web\", which is in the namespace \"default\"?"],
    )?;
    let phase = "    Then Pod \"web\" keeps field status.phase not \"Faild\" for 60s\n";
    wants(&format!("{pod}{phase}"), &["b.feature:6:45: `keeps` takes no `not`"])?;
    says(
        "Node \"w\" field spec.unschedulable is \"true\" within 5s",
        &["spec.unschedulable is true or false, and no text \"true\"", "= help: write true or false, without quotes"],
    )?;
    let never = of("Pod \"web\" never appears for 5s")?;
    require(!never.contains("declare it") && never.contains("no Pod \"web\" is declared"), || never.clone())?;
    let out = of_lines("node-lifecycle-controler stops", "Node \"w\" stays for 5s")?;
    require(out.contains("did you mean node-lifecycle-controller?"), || out.clone())
}

fn suggestions() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/b.feature", format!("@req:NC-3\n{GOOD}"));
    world.call(&["lint"]).ends(2)?.says("there is no requirement \"NC-3\"")?.says("= help: did you mean NC-")?;
    world.call(&["explain", "NC-999"]).ends(2)?.says("there is no requirement \"NC-999\": there are NC-01 to NC-")?;
    world.call(&["explain", "ZZZ"]).ends(2)?.says("the ids begin with ")?;
    world.call(&["run", "--sumary", "x"]).ends(2)?.says("a similar argument exists: '--summary'")?;
    world.call(&["stpes"]).ends(2)?.says("a similar subcommand exists: 'steps'")?;
    world.call(&["run", "--set", "kubelet.maxPod=3"]).ends(2)?.says("did you mean \"maxPods\"?")?;
    let flag =
        "Given kube-controller-manager runs with:\n      | node-monitor-grace-perod | 9s |\n    And a ready Node";
    world.write("features/a/b.feature", GOOD.replacen("Given a ready Node", flag, 1));
    let near = "perod\": did you mean \"kube-controller-manager.node-monitor-grace-period\"?";
    world.call(&["run"]).ends(2)?.says("b.feature:4:9: unknown flag")?.says(near)?;
    Ok(())
}

fn durations() -> Result<(), String> {
    let world = World::new();
    let late = GOOD.replace("keeps condition Ready=True for 39s", "keeps condition Ready=True for 1m30s");
    world.write("features/a/b.feature", late);
    world.call(&["run"]).ends(1)?.says("  expected  Ready=True for 1m30s\n")?.says(" short of 1m30s\n")?;
    Ok(())
}

fn explain() -> Result<(), String> {
    let world = World::new();
    world.write("features/requirements.yaml", "own:\n- {id: OWN-01, says: it is so}\n- {id: OWN-02}\n");
    world.write("features/a/b.feature", format!("@req:OWN-01\n{GOOD}"));
    let answer = world.call(&["explain", "OWN"]).ends(0)?;
    let expected = "OWN-01  it is so\n    sim::a::b::it_is_killed\n\nOWN-02\n    no scenario\n\n";
    require(answer.out.starts_with(expected), || answer.out.clone())?;
    let json = world.call(&["explain", "OWN-01", "--json"]).ends(0)?;
    require(!json.out.contains("\"observe\"") && !json.out.contains("\"versions\""), || json.out.clone())
}

fn control() -> Result<(), String> {
    let world = World::new();
    world.call(&["control", "help"]).ends(0)?.says("### `POST clock/advance`\n\nLets time pass")?;
    world.call(&["control", "halp"]).ends(2)?.says("possible values: help")?;
    Ok(())
}

fn given() -> Result<(), String> {
    let world = World::new();
    let feature = "Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    \
                   And Node \"w\" has condition Ready=True within 10s\n    \
                   When nothing is done\n    Then an Event NodeReady about Node \"w\" within 5s\n";
    world.write("features/a/b.feature", feature);
    let out = world.call(&["lint"]).ends(2)?.out;
    let place = "b.feature:4:43: a Given waits until it is true and has no bound";
    for words in [place, "leave \"within 10s\" out: it waits"] {
        require(out.contains(words), || format!("{words:?} is missing in\n{out}"))?;
    }
    require(!out.contains("b.feature:6"), || format!("the Event is a sentence:\n{out}"))
}

fn not_there() -> Result<(), String> {
    let then = "Node \"w\" keeps condition Ready=True for 5s";
    for (when, words) in [
        ("the user deletes PodDisruptionBudge \"web\"", "did you mean PodDisruptionBudget?"),
        ("the user drains Deployment \"web\"", "nobody drains a Deployment: only `deletes` takes any kind"),
    ] {
        let out = of_lines(when, then)?;
        require(out.contains(words), || format!("{words:?} is missing in\n{out}"))?;
    }
    let world = World::new();
    let feature = "Feature: F\n  Scenario: S\n    Given a Pod \"p\" on Node \"w\"\n    \
                   When the kubelet on \"w\" is killed\n    \
                   Then container \"nope\" of Pod \"p\" stops on machine \"w\" within 5s\n";
    world.write("features/a/b.feature", feature.replace("Given", "Given a ready Node \"w\"\n    And"));
    world.call(&["lint"]).ends(2)?.says("b.feature:6:21: no container \"nope\" is declared")?;
    Ok(())
}
