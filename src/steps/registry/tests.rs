//! Tests of compilation: what sentences become, and the problems of steps that are none.

use gherkin::{Step, StepType};
use nodeproof_core::scenario::{Bound, Predicate, ScenarioAction, Setup};

use super::*;
use crate::load::{Requirements, Source, check_one};
use crate::steps::catalogue::catalogue;

fn read(steps: &str) -> (Vec<Compiled>, Vec<Problem>) {
    let lines: String = steps.lines().map(|line| format!("    {}\n", line.trim())).collect();
    let text = format!("Feature: x\n  Scenario: y\n{lines}");
    compile(&check_one(&Source::new("features/a/b.feature", text.into_bytes()), &Requirements::default()))
}

#[track_caller]
fn scenario(steps: &str) -> Scenario {
    let (mut compiled, problems) = read(steps);
    assert!(problems.is_empty(), "{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    compiled.remove(0).scenario
}

/// Compiles a step among valid ones and checks its problem: column, message and help.
#[track_caller]
fn check(step: &str, column: usize, message: &str, help: &str) {
    let steps = format!("Given a ready Node \"worker-1\"\n{step}\nThen Node \"worker-1\" exists at once");
    let steps = if step.starts_with("Then") { steps.replacen("\nThen", "\nWhen 1s passes\nThen", 1) } else { steps };
    let (_, problems) = read(&steps);
    let [problem] = problems.as_slice() else {
        panic!("one problem wanted: {}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    };
    assert!(problem.message.contains(message), "{problem}");
    assert!(problem.to_string().contains(help), "{problem}");
    assert_eq!(problem.column, column + 4, "{problem}");
}

#[test]
fn the_sample_of_the_language_is_understood() {
    let scenario = scenario(
        r#"Given a ready Node "worker-1"
        When the kubelet on "worker-1" is killed
        Then Node "worker-1" keeps condition Ready=True for 39s
        And Node "worker-1" has condition Ready=Unknown, reason "NodeStatusUnknown", between 39s and 56s
        And Node "worker-1" has taint "node.kubernetes.io/unreachable:NoExecute" within 66s
        But Node "worker-1" keeps condition NetworkUnavailable unchanged for 120s
        And nothing else about Node "worker-1" changes
        And the history of Node "worker-1" matches its snapshot"#,
    );
    assert_eq!(scenario.given.len(), 1);
    let [act] = scenario.acts.as_slice() else { panic!("one act") };
    assert_eq!((act.when.len(), act.expectations.len()), (1, 6));
    assert_eq!(act.length().as_secs(), 120);
    assert_eq!(act.expectations[1].bound, Bound::Between("39s".parse().unwrap(), "56s".parse().unwrap()));
    assert_eq!(
        &*act.expectations[3].position.text,
        "But Node \"worker-1\" keeps condition NetworkUnavailable unchanged for 120s"
    );
}

#[test]
fn an_exact_instant_depends_on_another_line() {
    let scenario = scenario(
        r#"Given a ready Node "w"
        And a Pod "p" on Node "w" that tolerates "node.kubernetes.io/unreachable:NoExecute" for 60s
        When the kubelet on "w" is killed
        Then Pod "p" is deleted at 60s after Node "w" has taint "node.kubernetes.io/unreachable:NoExecute"
        And Event TaintManagerEviction about Pod "p" after Node "w" has condition Ready=Unknown within 5m"#,
    );
    let bounds: Vec<&Bound> = scenario.acts[0].expectations.iter().map(|expectation| &expectation.bound).collect();
    let Bound::At { after: Some(fact), .. } = bounds[0] else { panic!("{bounds:?}") };
    assert!(matches!(&fact.predicate, Predicate::Taint(taint) if &*taint.effect == "NoExecute"));
    assert!(matches!(bounds[1], Bound::After { within: Some(limit), .. } if limit.as_secs() == 300));
}

#[test]
fn a_field_is_one_of_several_values() {
    let scenario = scenario(
        r#"Given a ready Node "w"
        When 1s passes
        Then Node "w" field spec.podCIDR is "10.0.0.0/24" or "10.0.1.0/24" or "or" within 1s
        And Node "w" keeps field spec.podCIDR at "a or b" for 10s
        And Node "w" keeps field spec.podCIDR at "a" or "b" for 10s"#,
    );
    let shown: Vec<String> = scenario.acts[0].expectations.iter().map(|line| line.fact.predicate.to_string()).collect();
    assert_eq!(
        shown,
        [
            r#"spec.podCIDR "10.0.0.0/24" or "10.0.1.0/24" or "or""#,
            r#"spec.podCIDR "a or b""#,
            r#"spec.podCIDR "a" or "b""#,
        ]
    );
}

#[test]
fn a_network_is_lost_and_never_refused() {
    let (_, problems) =
        read("Given a ready Node \"w\"\nWhen machine \"w\" is refused its network\nThen Node \"w\" exists at once");
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].message, "nobody refuses a machine its network: it loses it");
}

#[test]
fn what_is_true_in_a_given_is_waited_for() {
    let scenario = scenario(
        r#"Given a hand-fed Node "w"
        And Node "w" falls silent
        And Node "w" has condition Ready=Unknown
        When Node "w" is fed again
        Then Node "w" has condition Ready=True within 10s"#,
    );
    assert!(matches!(scenario.given[1].setup, Setup::Do(ScenarioAction::Feed { .. })));
    assert!(matches!(scenario.given[2].setup, Setup::Until(_)));
}

#[test]
fn each_node_of_a_zone_gets_a_line_of_its_own() {
    let scenario = scenario(
        r#"Given 3 ready Nodes in zone "a"
        And a Pod on each Node of zone "a"
        When zone "a" loses its connection to the API server
        Then each Node of zone "a" has condition Ready=Unknown within 60s
        And each Pod of zone "a" stays for 60s"#,
    );
    assert_eq!(scenario.acts[0].expectations.len(), 6);
    assert_eq!(scenario.acts[0].when[0].actions.len(), 3);
}

#[test]
fn nodes_are_counted_and_some_of_a_zone_are_fed() {
    let scenario = scenario(concat!(
        r#"Given 3 hand-fed Nodes in zone "a"
        When the first 2 Nodes of zone "a" post condition Ready=False
        Then 1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute" within 6s
        And 2 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" between 10s and 11s after "#,
        r#"1 Node of zone "a" has taint "node.kubernetes.io/not-ready:NoExecute"
        And never 3 Nodes have taint "node.kubernetes.io/not-ready:NoExecute" for 60s"#
    ));
    let act = &scenario.acts[0];
    assert_eq!(act.when[0].actions.len(), 2);
    assert!(matches!(&act.expectations[1].bound, Bound::Apart { from, .. } if from.as_secs() == 10));
    assert!(matches!(&act.expectations[2].fact.predicate, Predicate::Not(_)));
    for (step, column, message) in [
        (r#"When the first 4 Nodes of zone "a" fall silent"#, 16, "zone \"a\" has 3 Nodes"),
        (
            r#"Then 4 Nodes of zone "a" have taint "node.kubernetes.io/not-ready:NoExecute" within 5s"#,
            6,
            "one of 1 to 3",
        ),
    ] {
        let steps = match step.strip_prefix("Then") {
            Some(_) => format!("Given 3 hand-fed Nodes in zone \"a\"\nWhen 1s passes\n{step}"),
            None => format!("Given 3 hand-fed Nodes in zone \"a\"\n{step}\nThen Node \"a-1\" exists at once"),
        };
        let (_, problems) = read(&steps);
        assert!(problems.len() == 1 && problems[0].message.contains(message), "{problems:?}");
        assert_eq!(problems[0].column, column + 4, "{}", problems[0]);
    }
}

#[test]
fn an_unknown_sentence_shows_the_nearest_and_a_snippet() {
    check(
        r#"When the kublet on "worker-1" gets killed"#,
        6,
        "there is no sentence",
        "the kubelet on \"{node}\" stops|is killed",
    );
    let (_, problems) = read("Given Node \"w\" shines\nWhen 1s passes\nThen nothing");
    assert_eq!(problems.len(), 2);
    let text = problems[0].to_string();
    assert!(text.contains("#[given(regex = r#\"^Node \"(?P<first>[^\"]*)\" shines$\"#)]"), "{text}");
    assert!(text.matches("\n").count() >= 6, "three sentences: {text}");
}

#[test]
fn what_is_not_understood_leads_to_no_further_problems() {
    let (_, problems) = read(
        "Given one fine Node \"w\" with Pod \"p\"\nWhen the kubelet on \"w\" stops\nThen Pod \"p\" stays for 5s\nAnd \
            Node \"v\" exists at noon",
    );
    let messages: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[1].contains("no Node \"v\"") && messages[2].contains("noon"), "{messages:?}");
}

#[test]
fn wrong_words_have_their_place() {
    check(r#"When the kubelet on "worker-2" stops"#, 22, "no Node \"worker-2\"", "\"worker-1\"?");
    check(r#"Then PersistentVolumClaim "d" field status.phase is "Bound" within 5s"#, 6, "no kind", "Claim?");
    check(r#"Then ConfigMap "d" field data.a is "b" within 5s"#, 17, "no ConfigMap \"d\"", "");
    check("When 40 passes", 6, "unit is missing", "40s");
    check(r#"Then Node "worker-1" has condition Ready within 5s"#, 36, "status is missing", "Ready=True");
    check(r#"Then Node "worker-1" has condition Ready=Maybe within 5s"#, 36, "no status", "True, False and Unknown");
    check(r#"Then Node "worker-1" has taint "x:NoExecut" within 5s"#, 33, "no effect", "NoExecute?");
    check(r#"Then Node "worker-1" has taint "x:NoExecute""#, 1, "bound is missing", "within 60s");
    check(r#"Then Node "worker-1" has taint "x:NoExecute" for 5s"#, 46, "belongs to `keeps`", "never");
    check(r#"Then Node "worker-1" keeps taint "x:NoExecute" within 5s"#, 48, "no bound here", "for 25s");
    check(r#"Then Node "worker-1" has condition Ready=True between 9s and 5s"#, 47, "later than", "");
    check(r#"Then Pod "p" is deleted within 5s"#, 11, "no Pod \"p\"", "Given a Pod");
    check(
        r#"Then Node "worker-1" has condition Ready=True at 5s after it rains"#,
        59,
        "nothing that can become true",
        "",
    );
    check(r#"Then the request is refused with 200"#, 34, "200 is no refusal", "");
    check("When ttl-controler restarts", 6, "there is no", "");
    check("When tl-controller restarts", 6, "no controller", "ttl-controller?");
    check("When the user sends GET nodes", 25, "no path", "");
}

#[test]
fn wrong_rows_and_texts_have_their_line() {
    let (_, problems) = read(
        "Given a ready Node \"w\"\nAnd kube-controller-manager runs with:\n| node-monitor-grace-perod | 20s |\nWhen \
            1s passes\nThen Node \"w\" exists at once",
    );
    assert_eq!((problems.len(), problems[0].line), (1, 5), "{}", problems[0]);
    let (_, problems) = read(
        "Given the object:\n\"\"\"yaml\napiVersion: v1\nkind: [\n\"\"\"\nWhen 1s passes\nThen the request is answered \
            with 200",
    );
    assert!(problems.len() == 1 && problems[0].line >= 6, "{}", problems[0]);
    let (_, problems) = read(
        "Given the object:\n\"\"\"yaml\napiVersion: v1\nkind: Pod\nspec:\n  nodeName: a\n  hostname: b\n  nodeName: \
            c\n\"\"\"\nWhen 1s passes\nThen the request is answered with 200",
    );
    assert!(problems[0].message.contains("duplicate"), "{}", problems[0]);
    assert!(problems[0].excerpt.contains("nodeName: c"), "{}", problems[0]);
    let (_, problems) = read(
        "Given a machine \"w\"\nAnd whose kubelet runs with:\n| node-status-update-frequency | fast |\nWhen 1s \
            passes\nThen Node \"w\" exists at once",
    );
    assert!(problems.len() <= 1);
}

#[test]
fn steps_have_an_order() {
    for (steps, message) in [
        ("Given a ready Node \"w\"\nThen Node \"w\" exists at once", "a Then follows"),
        (
            "Given a ready Node \"w\"\nWhen 1s passes\nGiven no other Node\nThen Node \"w\" exists at once",
            "before the first When",
        ),
        ("Given a ready Node \"w\"\nWhen 1s passes", "proves nothing"),
        ("Given a ready Node \"w\"", "proves nothing"),
        ("Given a ready Node \"w\"\nAnd a ready Node \"w\"\nWhen 1s passes\nThen Node \"w\" exists at once", "already"),
        (
            "Given a ready Node \"w\"\nWhen machine \"w\" regains its network\nThen Node \"w\" exists at once",
            "w has lost nothing that it could regain",
        ),
    ] {
        let (_, problems) = read(steps);
        assert!(problems.iter().any(|problem| problem.message.contains(message)), "{steps}: {problems:?}");
    }
}

#[test]
fn a_connection_that_is_broken_is_not_broken_again() {
    for (first, between, second, is_refused) in [
        ("loses its network", "", "loses its network", true),
        ("loses its network", "", "loses its connection to the API server", true),
        ("loses its network", "When 5s pass", "loses its network for 30s", true),
        ("loses its network", "When 5s pass", "is refused its connection to the API server", true),
        ("loses its network for 30s", "", "loses its network for 30s", true),
        ("loses its network for 30s", "When 40s pass", "loses its network for 30s", false),
        ("loses its network", "When machine \"w\" regains its network", "loses its network", false),
        ("loses its connection to the API server", "", "loses its network", false),
        ("is refused its connection to the API server", "", "loses its connection to the API server", false),
    ] {
        let steps = format!(
            "Given a ready Node \"w\"\nWhen machine \"w\" {first}\n{between}\nWhen machine \"w\" {second}\nThen Node \
             \"w\" exists at once"
        );
        let (_, problems) = read(&steps);
        let is_found = problems.iter().any(|problem| problem.message.contains("has broken this"));
        assert_eq!((is_found, problems.len()), (is_refused, usize::from(is_refused)), "{steps}: {problems:?}");
    }
}

#[test]
fn a_mistake_disables_its_scenario_and_no_other() {
    let good = "  Scenario: good\n    When 1s passes\n    Then Node \"w\" exists at once\n";
    let steps = "When 1s passes\n    Then Node \"w\" exists at once\n";
    let rows = "    Examples:\n      | time |\n";
    for (line, bad) in [
        (7, "  Scenario: bad\n".to_owned()),
        (7, format!("  @since:9.9\n  Scenario: bad\n    {steps}")),
        (7, format!("  @sinc:1.32\n  Scenario: bad\n    {steps}")),
        (8, format!("  Scenario Outline: bad\n    When <tme> passes\n    {steps}{rows}      | 5s |\n")),
        (10, format!("  Scenario Outline: bad\n    {steps}{rows}")),
        (7, format!("  Scenario: good\n    {steps}")),
        (8, format!("  Scenario: bad\n    Whenever the kubelet on \"w\" is killed\n    {steps}")),
        (7, format!("  @sinc:1.32\n  Rule: bad\n  Scenario: in it\n    {steps}")),
    ] {
        let text = format!("Feature: x\n  Background:\n    Given a ready Node \"w\"\n{good}{bad}");
        let file = check_one(&Source::new("features/a/b.feature", text.as_bytes().to_vec()), &Requirements::default());
        let (compiled, problems) = compile(&file);
        let flawed: Vec<bool> = compiled.iter().map(|compiled| compiled.flaw.is_some()).collect();
        assert_eq!(flawed, [false, true], "{text}: {problems:?}");
        assert_eq!(problems.iter().map(|problem| problem.line).min(), Some(line), "{text}: {problems:?}");
        assert!(bad.contains("<tme>") || problems.len() == 1, "{text}: {problems:?}");
        assert_ne!(compiled[0].id, compiled[1].id);
    }
    let text = format!("@sinc:1.32\nFeature: x\n{good}");
    let file = check_one(&Source::new("features/a/b.feature", text.as_bytes().to_vec()), &Requirements::default());
    assert!(compile(&file).0.iter().all(|compiled| compiled.flaw.is_some()));
}

#[test]
fn a_problem_of_an_outline_names_its_row_and_comes_once() {
    let text = "Feature: x\n  Scenario Outline: y\n    Given a ready Node \"w\"\n    When it rains\n    And <time> \
        passes\n    Then Node \"w\" exists at once\n    Examples:\n      | time |\n      | 5s |\n      | 5x |\n";
    let file = check_one(&Source::new("features/a/b.feature", text.as_bytes().to_vec()), &Requirements::default());
    let (_, problems) = compile(&file);
    let [unknown, unit] = problems.as_slice() else { panic!("{problems:?}") };
    assert!(unknown.message.contains("it rains"));
    assert_eq!((unit.line, unit.row.as_deref()), (5, Some("time=5x")), "{unit}");
}

#[test]
fn a_step_that_lost_its_keyword_is_found() {
    let text = "Feature: x\n  Whenever the kubelet on \"worker-1\" is killed\n  Scenario: y\n    Given a ready \
        Node \"w\"\n    When 1s passes\n    Then Node \"w\" exists at once\n";
    let file = check_one(&Source::new("features/a/b.feature", text.as_bytes().to_vec()), &Requirements::default());
    let (_, problems) = compile(&file);
    assert_eq!((problems.len(), problems[0].line), (1, 2));
}

#[test]
fn no_two_sentences_fit_the_examples_of_the_reference() {
    let words = ["worker-1", "a", "Ready=True", "within 5s"];
    for sentence in catalogue() {
        let filled = sentence.pattern.split('{').fold(String::new(), |text, part| {
            let tail = part.split_once('}').map_or(part, |(_, tail)| tail);
            if text.is_empty() && !sentence.pattern.starts_with('{') {
                part.to_owned()
            } else {
                format!("{text}{}{tail}", words[0])
            }
        });
        let filled = filled.replace(['[', ']'], "");
        for ty in [StepType::Given, StepType::When, StepType::Then] {
            let step = Step::builder().keyword(String::new()).ty(ty).value(filled.clone()).build();
            assert!(patterns::find(&step).is_ok(), "{filled}");
        }
    }
}

/// Compiles a scenario with tags.
fn tagged(tags: &str, steps: &str) -> Vec<Problem> {
    let lines: String = steps.lines().map(|line| format!("    {}\n", line.trim())).collect();
    let text = format!("{tags}\nFeature: x\n  Scenario: y\n{lines}");
    compile(&check_one(&Source::new("features/a/b.feature", text.into_bytes()), &Requirements::default())).1
}

#[test]
fn a_read_only_scenario_touches_nothing() {
    let look =
        "Given the cluster as it is\nWhen nothing is done\nThen each Node of the cluster has its addresses at once";
    assert_eq!(tagged("@read-only", look), []);
    for (line, step) in [
        (4, "Given the cluster as it is\nAnd a ready Node \"w\""),
        (4, "Given the cluster as it is\nAnd a cluster of Kubernetes 1.34"),
        (4, "Given the cluster as it is\nAnd kube-scheduler stops"),
        (5, "Given the cluster as it is\nWhen 1s passes\nAnd the user sends DELETE /api/v1/nodes/w"),
    ] {
        let rest = if step.contains("When") { "" } else { "\nWhen nothing is done" };
        let problems =
            tagged("@read-only", &format!("{step}{rest}\nThen each Node of the cluster has its addresses at once"));
        let [problem] = problems.as_slice() else { panic!("{step}: {problems:?}") };
        assert!(problem.message.contains("does nothing to the cluster"), "{problem}");
        assert_eq!((problem.line, problem.column), (line + 1, 5), "{problem}");
    }
    let [problem] = &tagged("@read-only", &look.replace("the cluster as it is", "no other Node"))[..] else { panic!() };
    assert!(problem.message.contains("takes the cluster as it is"), "{problem}");
}

#[test]
fn of_every_node_is_said_what_can_be_told_of_each() {
    let said = |rest: &str| {
        let then = format!("Then each Node of the cluster {rest}");
        tagged("@core", &format!("Given the cluster as it is\nWhen nothing is done\n{then}"))
    };
    for rest in [
        "has label \"kubernetes.io/os\" at once",
        "keeps condition Ready=True for 5s",
        "never has taint \"node.kubernetes.io/not-ready:NoExecute\" for 5s",
    ] {
        assert_eq!(said(rest), [], "{rest}");
    }
    for rest in ["matches its snapshot", "is gone within 5s"] {
        let problems = said(rest);
        assert!(problems.iter().any(|problem| problem.message.contains("cannot be said of each Node")), "{problems:?}");
    }
    let problems = tagged("@core", "Given the cluster as it is\nWhen nothing is done\nThen Node \"*\" exists at once");
    assert!(problems.iter().any(|problem| problem.message.contains("no Node \"*\" is declared")), "{problems:?}");
}
