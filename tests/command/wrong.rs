//! Tests of wrong inputs that a first user makes: each is an error with its place and a way out, and none passes.

use super::world::{GOOD, Named, World};

pub(crate) const TRIALS: &[Named] = &[
    ("wrong::options_of_the_command", options),
    ("wrong::lines_of_a_scenario", lines),
    ("wrong::settings_and_fixtures", files),
    ("wrong::what_no_line_speaks_of", unjudged),
    ("wrong::lines_that_would_hold_of_nothing", nothing),
];

fn options() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--junit", "features"], "features: the JUnit report cannot be written"),
        (&["run", "--summary", "features/a"], "features/a: the summary cannot be written"),
        (&["run", "--only", ""], "there is no scenario without a name: --list names them"),
        (&["run", "--only", "zzz"], "there is no scenario zzz: --list names them"),
        (&["run", "--list", "--accept"], "cannot be used with"),
        (&["run", "--failed", "--only", "x"], "cannot be used with"),
        (&["run", "features/a/good.feature:x"], "`nodeproof run FILE:LINE` takes one line, a number"),
        (&["run", "features/a/good.feature:5:3"], "`nodeproof run FILE:LINE` takes one line, a number"),
        (&["lint", "features/a/good.feature:3"], "others take whole files"),
        (&["run", "--fixtures", "nowhere"], "nowhere: there is no such directory"),
        (&["run", "--requirements", "features/a/good.feature"], "no file of requirements"),
        (&["run", "--set", "kubelet.=3"], "FLAG=VALUE is needed"),
        (&["run", "--set", "node-monitor-grace-period="], "a duration with a unit is needed, as \"40s\""),
        (&["run", "--set", "node-monitor-period=-5s"], "it must be greater than zero"),
        (&["run", "--set", "feature-gates=NodeSwop=true"], "did you mean \"NodeSwap\"?"),
        (&["run", "--seeds", "..5"], "is no seed: a whole number"),
        (&["explain", ""], "the ids begin with "),
        (&["control", "--start", "yesterday"], "an instant of RFC 3339 is needed, as 2026-01-01T00:00:00Z"),
        (&["new", "features/a/good.feature"], "this is no directory"),
        (&["compare", "--with", "sim", "features"], "[possible values: hollow, kind]"),
        (&["run", "--summary", "-"], "invalid value '-' for '--summary <FILE>': no file is named so"),
        (&["run", "--html", "-"], "no file is named so: name one, or /dev/stdout"),
        (&["plan", "--down", "zone-a", "--html", "-"], "no file is named so"),
        (&["run", "--k8s", "1.34,1.34"], "1.34 is there twice"),
        (&["run", "--context", "kind-a"], "--context is for a live backend: say --backend hollow or --backend kind"),
        (&["run", "--backend", "kind", "--create", "--dry-run"], "cannot be used with"),
        (&["run", "--create"], "--create is for a live backend"),
        (&["run", "--assets", "."], "--assets is for a live backend"),
        (&["run", "--snapshots", "nowhere"], "--snapshots names the directory of the stored snapshots"),
    ];
    cases.iter().try_for_each(|(arguments, words)| world.call(arguments).ends(2)?.says(words).map(drop))
}

fn lines() -> Result<(), String> {
    const GIVEN: &str = "Given a ready Node \"w\"";
    const WHEN: &str = "When the kubelet on \"w\" is killed";
    let then = "Then Node \"w\" exists at once";
    let cases: &[(&[&str], &str)] = &[
        (&[GIVEN, WHEN, "Then Node \"w\" exists between 50s and 40s"], "feature:5:26: 50s is later than 40s"),
        (
            &[GIVEN, WHEN, "Then Node \"w\" never has condition Ready=Unknown, reason \"KubeletNotReady\" for 2m"],
            "the reason KubeletNotReady comes with Ready=False, and never with Ready=Unknown",
        ),
        (&[GIVEN, "When 0s pass", then], "feature:4:10: 0s is no time that could pass"),
        (&[GIVEN, "When 400d pass", then], "there is no unit \"d\"; the units are h, m, s and ms"),
        (&[GIVEN, GIVEN, WHEN, then], "feature:4:25: there is a Node \"w\" already"),
        (&["Given a ready Node \"w\" in zone \"\"", WHEN, then], "feature:3:36: the zone has no name"),
        (&["Given 3 ready Nodes in zone \"\"", "When 1s passes", then], "the zone has no name"),
        (&[GIVEN, "And the objects in \"\"", WHEN, then], "\"\" is no file below fixtures/"),
        (&[GIVEN, "And the objects in \"rack.yml\"", WHEN, then], "did you mean \"rack.yaml\"?"),
        (&[GIVEN, "And the objects in \"nothing-like-it.yaml\"", WHEN, then], "--fixtures says where such files are"),
        (&[GIVEN, "And the objects in \"../features/a/x.feature\"", WHEN, then], "is no file below fixtures/"),
        (&[GIVEN, WHEN, "Then Node \"w\" field spec..x is 3 within 5s"], "a field's name is missing at column 6"),
        (&[GIVEN, "When the user sends FETCH /api/v1/nodes", then], "\"FETCH\": it is GET to read, POST, PUT"),
        (&[GIVEN, WHEN, "Then Node \"w\" exists between 50s and 40s"], "stands first: between 40s and 50s"),
        (&[GIVEN, GIVEN, WHEN, then], "with a row `| hostname-override |` of its kubelet's flags"),
        (&[GIVEN, "When kube-apiserver stops", then], "4:10: kube-apiserver cannot be stopped: without it nothing"),
        (&[GIVEN, "When etcd restarts", then], "say who does not reach it: `kube-controller-manager loses"),
        (&["Given a machine \"w\" with:", WHEN, then], "each name and its value stands below: | memory | 16Gi |"),
        (&["Given a machine \"w\" with:", "  | cpu | 0 |", WHEN, then], "more than 0 is needed: there is no machine"),
        (
            &["Given a machine \"w\" with:", "  | cpu | 2 |", "  | memory |", WHEN, then],
            "an empty cell has its bars too, as in `| memory | |`",
        ),
        (
            &[
                GIVEN,
                "And a PodDisruptionBudget \"b\" that keeps 1 of \"app=web\"",
                "And a Deployment \"web\" of 2 Pods",
                WHEN,
                then,
            ],
            "the workload of that name comes below: put it above this line",
        ),
        (
            &[
                GIVEN,
                "And a Pod \"p\" on Node \"w\"",
                WHEN,
                "Then container \"mian\" of Pod \"p\" stops on machine \"w\" within 5s",
            ],
            "did you mean main?",
        ),
        (&[GIVEN, WHEN, "Then the Lease of Node \"w\" is renewed every 0s for 1m"], "nothing is written every 0s"),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps condition Ready=True for the grace period less 90s"],
            "nothing is left of it",
        ),
        (
            &[GIVEN, "When the user sends GET /api", "Then the request is refused with 999"],
            "no server answers with 999",
        ),
        (&[GIVEN, "When requests to nodez from \"w\" are lost", then], "did you mean nodes?"),
        (&[GIVEN, WHEN, "Then Node \"w\" exists at once # soon"], "is no duration"),
        (
            &[GIVEN, "When the user creates:", "  \"\"\"", "  kind: Pod", "  spec: [1", "  \"\"\"", then],
            "feature:7:7: this is no YAML: did not find expected ',' or ']', while parsing a flow sequence\n",
        ),
        (&["Given a ready Node \"w\"", "  | cpu | 7 |", WHEN, then], "feature:3:5: this sentence takes no table"),
        (&["Given a machine \"w\"", "  | cpu | 7 |", WHEN, then], "`a machine \"w\" with:` reads one"),
        (&[GIVEN, WHEN, "  \"\"\"", "  hello", "  \"\"\"", then], "feature:4:5: this sentence takes no doc string"),
        (&[GIVEN, WHEN, "Then nothing else about Node \"w\" changes"], "feature:5:5: the act has no bound"),
        (&["Given a Deployment \"w\" of 500000 Pods", WHEN, then], "500000 Pods are too many: at most 150000"),
        (&[GIVEN, WHEN, "Then Node \"w\" has these fields within 5s:"], "the fields are missing: a table, or YAML"),
        (
            &[GIVEN, WHEN, "Then Node \"w\" has these fields within 5s:", "  | spec.unschedulable | yes |"],
            "feature:6:30: spec.unschedulable is true or false, and no text \"yes\"",
        ),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps these fields for 5s:", "\"\"\"", "- spec", "\"\"\""],
            "feature:7:5: this is no part of an object",
        ),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps these fields for 5s:", "\"\"\"", "spec: {taints: []}", "\"\"\""],
            "feature:7:12: spec.taints is an empty list, which the server leaves out",
        ),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps these fields for 5s:", "\"\"\"", "spec: {podCIDRz: [a]}", "\"\"\""],
            "feature:7:12: there is no field of NodeSpec \"podCIDRz\"",
        ),
        (
            &[
                GIVEN,
                WHEN,
                "Then Node \"w\" has these fields at once:",
                "\"\"\"",
                "status: {conditions: [{type: Ready, status: False}]}",
                "\"\"\"",
            ],
            "status.conditions[Ready].status is a text, and no truth value false",
        ),
    ];
    for (steps, words) in cases {
        let world = World::new();
        world.write("fixtures/rack.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rack}\n");
        world.write("features/a/x.feature", format!("Feature: F\n  Scenario: S\n    {}\n", steps.join("\n    ")));
        for command in ["lint", "run"] {
            world.call(&[command]).ends(2)?.says(words)?;
        }
    }
    Ok(())
}

/// What can only be seen when it runs.
fn unjudged() -> Result<(), String> {
    for (steps, words) in [
        (
            ["And a Pod \"p\" on Node \"w\"", "When the user drains Node \"w\"", "Then Node \"w\" exists at once"],
            "expected  kubectl succeeds\n  observed  kubectl ends with 1: ",
        ),
        (
            [
                "And a Pod \"p\" on Node \"w\"",
                "When the kubelet on \"w\" stops",
                "Then container \"main\" of Pod \"p\" stops on machine \"bystander\" within 5s",
            ],
            "container main of Pod default/p not there",
        ),
    ] {
        let world = World::new();
        let steps = steps.join("\n    ");
        let text = format!("Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    {steps}\n");
        world.write("features/a/x.feature", text);
        world.call(&["run"]).ends(1)?.says(words)?;
    }
    Ok(())
}

fn nothing() -> Result<(), String> {
    const GIVEN: &str = "Given a ready Node \"w\"";
    const WHEN: &str = "When the kubelet on \"w\" is killed";
    let cases: &[(&[&str], &str)] = &[
        (
            &[GIVEN, WHEN, "Then Node \"w\" never has condition Ready=Unknown, reason \"NodeStatusUnknwon\", for 5s"],
            "feature:5:62: there is no reason of a condition of the kind Node \"NodeStatusUnknwon\"",
        ),
        (
            &[GIVEN, WHEN, "Then no Event TaintManagerEviction about Node \"w\" for 5s"],
            "feature:5:19: an Event TaintManagerEviction is about a Pod, and never about a Node",
        ),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps field status.conditions[Redy] absent for 5s"],
            "feature:5:49: there is no condition of Nodes \"Redy\"",
        ),
        (
            &[GIVEN, WHEN, "Then Node \"w\" keeps field metadata.labels[\"kubernetes.io/hostnaem\"] absent for 5s"],
            "did you mean kubernetes.io/hostname?",
        ),
        (
            &[GIVEN, "And the user watches /api/v1/nodes", WHEN, "Then the watch never shows DELETED \"v\" for 5s"],
            ": no step says an object \"v\"",
        ),
        (
            &[
                "Given a Deployment \"web\" of 2 Pods",
                "And a PodDisruptionBudget \"b\" that keeps 1 of \"app=wbe\"",
                "When the user cordons Node \"bystander\"",
                "Then Node \"bystander\" exists at once",
            ],
            ": nothing in the scenario has label \"app=wbe\"",
        ),
    ];
    let of_taint = "Then Node \"w\" never has taint \"node.kubernetes.io/unreachable=true:NoExecute\" for 5s";
    let of_pod = "Then kubectl never prints \"evicting pod default/wbe\" for 60s";
    let more: [(&[&str], &str); 2] = [
        (&[GIVEN, WHEN, of_taint], "its own form is node.kubernetes.io/unreachable:NoExecute"),
        (&[GIVEN, "When the user drains Node \"w\"", of_pod], "5:53: nothing in the scenario is called \"wbe\""),
    ];
    for (steps, words) in cases.iter().chain(&more) {
        let world = World::new();
        world.write("features/a/x.feature", format!("Feature: F\n  Scenario: S\n    {}\n", steps.join("\n    ")));
        world.call(&["run"]).ends(2)?.says(words)?;
    }
    Ok(())
}

fn files() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    for (text, words) in [
        ("- node-monitor-grace-period", "settings are FLAG: VALUE, a line each"),
        ("a: b: c", "mapping values are not allowed"),
        ("# mine\nfoo: bar\nnode-monitor-period: 5s\nbar: foo\n", "mine.yaml:2: settings.foo: unknown flag \"foo\"\n"),
        ("# mine\nfoo: bar\nnode-monitor-period: 5s\nbar: foo\n", "mine.yaml:4: settings.bar: unknown flag \"bar\""),
        ("node-monitor-grace-perod: 40s", "did you mean \"node-monitor-grace-period\"?"),
        ("node-monitor-grace-period: {}", "a duration with a unit is needed"),
        ("kubelet.maxPods: [3]", "cannot unmarshal"),
    ] {
        world.write("mine.yaml", text);
        world.call(&["run", "--settings", "mine.yaml"]).ends(2)?.says(words).map_err(|why| format!("{text}: {why}"))?;
    }
    world.write("mine.yaml", "a:\n- {id: X}\nb:\n- {id: X}\n");
    let answer = world.call(&["run", "--requirements", "mine.yaml"]).ends(2)?;
    answer.says("mine.yaml:4:1: no file of requirements: the id \"X\" is there twice")?;
    for (text, words) in [
        ("machines: 3", "machines"),
        ("machine: []", "did you mean \"machines\"?"),
        ("objects: [{kind: Node}]", "objects[0]"),
        ("\u{0}", "cluster.yaml"),
    ] {
        world.write("cluster.yaml", text);
        let answer = world.call(&["control", "--cluster", "cluster.yaml"]).ends(2)?;
        answer.says(words).map_err(|why| format!("{text}: {why}"))?;
    }
    Ok(())
}
