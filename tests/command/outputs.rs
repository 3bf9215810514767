//! Tests of what `run` writes for programs: JSON records against their schema, JUnit, annotations, the job summary; and
//! of the options that choose what is run.

use std::fs;
use std::io::Cursor;

use junit_parser::{TestCase, TestStatus};
use serde_json::Value;

use super::schema::Schema;
use super::world::{Answer, FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("outputs::json_is_as_its_schema_says", json),
    ("outputs::of_files_that_do_not_load", not_loaded),
    ("outputs::junit_is_read_by_another_project", junit),
    ("outputs::annotations_stand_at_the_lines", annotations),
    ("outputs::a_summary_is_markdown", summary),
    ("outputs::that_cannot_be_written", unwritable),
    ("outputs::every_wrong_line_of_an_act_is_told", every_wrong_line),
    ("outputs::a_given_says_what_it_waited_for", given),
    ("outputs::why_and_where_of_the_pods_of_an_owner", of_an_owner),
    ("outputs::a_bad_sentence_disables_its_scenario", bad_sentence),
    ("choice::list_names_and_runs_nothing", list),
    ("choice::fail_fast_begins_no_other", fail_fast),
    ("choice::failed_runs_again_what_failed", failed),
    ("choice::verbose_shows_each_step", verbose),
];

/// Two scenarios, the second of which has a sentence that nobody knows.
const HALF: &str = "\
@req:NC-03
Feature: Two
  Scenario: Sound
    Given a ready Node \"w\"
    When the kubelet on \"w\" is killed
    Then Node \"w\" keeps condition Ready=True for 39s

  Scenario: Broken
    Given a ready Node \"w\"
    When the kubelet on \"w\" explodes
    Then Node \"w\" keeps condition Ready=True for 39s
";

/// Three lines, two of which do not hold.
const TWICE: &str = "\
Feature: A, 100%: \"x\"
  Scenario: Two lines are wrong
    Given a ready Node \"w\"
    When the kubelet on \"w\" is killed
    Then Node \"w\" has condition Ready=Unknown within 20s
    And Node \"w\" keeps condition Ready=True for 20s
    And Node \"w\" has taint \"node.kubernetes.io/unreachable:NoExecute\" within 30s
";

fn tree() -> World {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/twice.feature", TWICE);
    world.write("features/a/old.feature", format!("@until:1.31\n{GOOD}"));
    world
}

fn records(answer: &Answer) -> Result<Vec<Value>, String> {
    let schema = Schema::read("docs/run.schema.json")?;
    let mut records = Vec::new();
    for line in answer.out.lines() {
        let record: Value = serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
        if let Some(error) = schema.problem(&record) {
            return Err(format!("{line}\nis not as the schema says: {error}"));
        }
        records.push(record);
    }
    let mut wrong = records.last().cloned().unwrap_or_default();
    wrong["surprise"] = Value::Null;
    require(schema.problem(&wrong).is_some(), || "the schema takes anything".to_owned())?;
    Ok(records)
}

fn json() -> Result<(), String> {
    let world = tree();
    world.write("features/a/half.feature", HALF);
    let answer = world.call(&["run", "--json", "--summary", "sum.md"]).ends(2)?;
    let records = records(&answer)?;
    let results: Vec<&str> =
        records.iter().map(|it| it["result"].as_str().unwrap_or(it["record"].as_str().unwrap_or(""))).collect();
    let expected = ["problem", "broken", "passed", "passed", "skipped", "failed", "summary"];
    require(results == expected, || format!("{results:?}"))?;
    let failed = &records[5];
    let place = (failed["file"].as_str(), failed["line"].as_u64(), failed["seed"].as_u64());
    require(place == (Some("features/a/twice.feature"), Some(2), Some(1)), || format!("{place:?}"))?;
    let failure = &failed["failure"];
    for (field, words) in [
        ("expected", "Ready=Unknown within 20s"),
        ("observed", "Ready=True (KubeletReady) until "),
        ("step", "Then Node \"w\" has condition Ready=Unknown within 20s"),
        ("replay", "nodeproof run features/a/twice.feature"),
    ] {
        require(failure[field].as_str().is_some_and(|text| text.contains(words)), || format!("{field}: {failure}"))?;
    }
    require(failure["line"] == 5 && failure["also"][0]["line"] == 7, || format!("{failure}"))?;
    let summary = &records[6];
    for (field, count) in
        [("passed", 2), ("failed", 1), ("skipped", 1), ("broken", 1), ("problems", 1), ("notBegun", 0), ("exitCode", 2)]
    {
        require(summary[field] == count, || format!("{field}: {summary}"))?;
    }
    let broken = &records[1];
    require(broken["requirements"][0] == "NC-03" && broken["tags"][0] == "@req:NC-03", || format!("{broken}"))?;
    self::records(&world.call(&["run", "--json", "--list", "features/a/old.feature"]).ends(0)?)?;
    self::records(&world.call(&["run", "--json", "--k8s", "1.31", "features/a/old.feature"]).ends(0)?)?;
    Ok(())
}

/// Nothing can be run, and all forms say so.
fn not_loaded() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/prose.feature", "hello\n");
    let arguments = ["run", "--json", "--junit", "junit.xml", "--summary", "sum.md", "--annotations", "github"];
    let answer = world.call(&arguments).ends(2)?.says("::error file=features/a/prose.feature,")?;
    let records = records(&answer)?;
    require(records.len() == 2 && records[0]["record"] == "problem", || format!("{records:?}"))?;
    require(records[1]["exitCode"] == 2 && records[1]["problems"] == 1, || format!("{records:?}"))?;
    let cases = cases(&world)?;
    let errors = cases.iter().filter(|case| case.status.is_error()).count();
    require(cases.len() == 1 && errors == 1, || format!("{cases:?}"))?;
    let summary = world.read("sum.md");
    require(summary.contains("❌") && summary.contains("| `features/a/prose.feature"), || summary.clone())
}

fn cases(world: &World) -> Result<Vec<TestCase>, String> {
    let text = world.read("junit.xml");
    let suites = junit_parser::from_reader(Cursor::new(&text)).map_err(|error| format!("{error}\n{text}"))?;
    Ok(suites.suites.into_iter().flat_map(|suite| suite.cases).collect())
}

fn junit() -> Result<(), String> {
    let world = tree();
    world.write("features/a/half.feature", HALF);
    world.call(&["run", "--junit", "junit.xml"]).ends(2)?;
    let cases = cases(&world)?;
    let of = |name: &str| cases.iter().find(|case| case.original_name.contains(name)).ok_or(format!("{cases:#?}"));
    require(of("good::it_is_killed")?.status.is_success(), || format!("{cases:#?}"))?;
    let wrong = of("two_lines_are_wrong")?;
    let TestStatus::Failure(failure) = &wrong.status else { return Err(format!("{wrong:#?}")) };
    require(failure.text.contains("observed  Ready=True") && failure.message.contains("twice.feature:5"), || {
        format!("{failure:#?}")
    })?;
    let place = (wrong.file.as_deref(), wrong.line);
    require(place == (Some("features/a/twice.feature"), Some(2)), || format!("{place:?}"))?;
    let has = |name: &str, value: &str| wrong.properties.vec.contains(&(name.to_owned(), value.to_owned()));
    require(has("k8s", "1.34") && has("seed", "1") && has("backend", "sim"), || format!("{wrong:#?}"))?;
    require(of("old::it_is_killed")?.status.is_skipped(), || format!("{cases:#?}"))?;
    require(of("half::broken")?.status.is_error(), || format!("{cases:#?}"))?;
    require(of("half.feature:10:10")?.status.is_error(), || format!("{cases:#?}"))?;
    world.call(&["run", "--junit", "junit.xml", "--seeds", "1..2", "features/a/good.feature"]).ends(0)?;
    let names: Vec<String> = self::cases(&world)?.into_iter().map(|case| case.original_name).collect();
    require(names == ["sim::a::good::it_is_killed", "sim::a::good::it_is_killed (seed 2)"], || format!("{names:?}"))
}

fn annotations() -> Result<(), String> {
    let world = tree();
    world.write("features/a/half.feature", HALF);
    let call = |arguments: &[&str]| {
        let mut command = world.command(arguments);
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", world.path(""));
        Answer::of(&mut command)
    };
    let answer = call(&["run"]).ends(2)?;
    let shown: Vec<&str> = answer.out.lines().filter(|line| line.starts_with("::error ")).collect();
    let expected = [
        "::error file=features/a/half.feature,line=10,col=10,title=a problem in the text::there is no \
            sentence \"When the kubelet on \"w\" explodes\"%0Ahelp: did you mean",
        "::error file=features/a/twice.feature,line=5,col=5,title=sim%3A%3Aa%3A%3Atwice%3A%3Atwo_lines_are_wrong\
            ::expected  Ready=Unknown within 20s%0Aobserved  Ready=True",
        "::error file=features/a/twice.feature,line=7,col=5,title=sim%3A%3Aa%3A%3Atwice%3A%3Atwo_lines_are_wrong::",
    ];
    require(shown.len() == 3, || format!("{shown:#?}"))?;
    for (shown, expected) in shown.iter().zip(expected) {
        require(shown.starts_with(expected), || format!("{shown}\nis not\n{expected}"))?;
    }
    let json = call(&["run", "--json"]).ends(2)?;
    require(!json.out.contains("::error"), || "an annotation is between the records".to_owned())?;
    let none = call(&["run", "--annotations", "none"]).ends(2)?;
    require(!none.out.contains("::error") && !none.err.contains("::error"), || "there are some".to_owned())
}

fn summary() -> Result<(), String> {
    let world = tree();
    world.write("before.md", "before\n");
    let run = |features: &str| {
        let mut command = world.command(&["run", features]);
        Answer::of(command.env("GITHUB_STEP_SUMMARY", world.path("before.md")))
    };
    run("features/a/twice.feature").ends(1)?;
    run("features/a/good.feature").ends(0)?;
    let text = world.read("before.md");
    for words in [
        "before\n## ❌ nodeproof: 0 passed, 1 failed\n",
        "<details><summary><code>sim::a::twice::two_lines_are_wrong</code></summary>\n\n```text\nfeatures/a/twice",
        "## ✅ nodeproof: 1 passed\n",
        "Kubernetes 1.34, backend sim, ",
    ] {
        require(text.contains(words), || format!("{words:?} is missing in\n{text}"))?;
    }
    world.call(&["run", "features/a/old.feature", "--summary", "own.md"]).ends(2)?.says("nothing was run")?;
    let own = world.read("own.md");
    require(own.contains("### Skipped") && own.contains("until 1.31"), || own.clone())
}

fn unwritable() -> Result<(), String> {
    let world = tree();
    for (option, words) in [("--junit", "the JUnit report cannot be written"), ("--summary", "the summary cannot")] {
        let answer = world.call(&["run", option, "nowhere/file"]).ends(2)?.says(words)?;
        require(!answer.out.contains("Finished"), || "it ran".to_owned())?;
    }
    // A report of a run that did not come to its end is no success.
    world.call(&["run", "--junit", "junit.xml", "--only", "nobody"]).ends(2)?;
    let cases = cases(&world)?;
    require(cases.len() == 1 && cases[0].status.is_error(), || format!("{cases:?}"))?;
    world.call(&["run", "--annotations", "gitlab"]).ends(2)?.says("possible values: github, none")?;
    Ok(())
}

fn every_wrong_line() -> Result<(), String> {
    let world = tree();
    let answer = world.call(&["run", "features/a/twice.feature"]).ends(1)?;
    let also = "\n  also      features/a/twice.feature:7: And Node \"w\" has taint \
        \"node.kubernetes.io/unreachable:NoExecute\" within 30s: ";
    answer.says("features/a/twice.feature:5: Then Node \"w\" has condition Ready=Unknown within 20s\n")?.says(also)?;
    world.write("features/a/one.feature", FAILING);
    let one = world.call(&["run", "features/a/one.feature"]).ends(1)?;
    require(!one.out.contains("  also "), || one.out.clone())
}

fn given() -> Result<(), String> {
    let world = World::new();
    world.write(
        "features/a/b.feature",
        "Feature: F\n  Scenario: S\n    Given a ready Node \"w\"\n    And a Pod \"p\" on Node \"w\"\n    And \
            Node \"w\" has condition Ready=False\n    When 1s passes\n    Then Node \"w\" exists at once\n",
    );
    let answer = world.call(&["run"]).ends(1)?;
    answer
        .says(
            "b.feature:5: And Node \"w\" has condition Ready=False\n  expected  Node \"w\": Ready=False within 600s\n",
        )?
        .says("  observed  Ready=True (KubeletReady)\n  why       d")?
        .says("kubelet/w at +10.8s: Ready False -> True")?
        .says("  last      +612.172s Lease w renewed")?;
    world.write(
        "features/a/b.feature",
        "Feature: F\n  Scenario: S\n    Given no other Node\n    And a ready Node \"w\"\n    And the user cordons Node \
            \"w\"\n    And a Deployment \"web\" of 2 Pods\n    When 1s passes\n    Then Node \"w\" exists at once\n",
    );
    world
        .call(&["run"])
        .ends(1)?
        .says("  observed  0 Pods, and 2 other, as web-")?
        .says(", Pending, without a Node\n  why       d")?
        .says("no Node for it: 0/1 nodes are available: 1 node(s) were unschedulable.")?;
    world.write(
        "features/a/b.feature",
        "Feature: F\n  Scenario: S\n    Given a machine \"w\" with:\n      | swap | 1Gi |\n    When 1s passes\n    \
            Then Node \"w\" exists at once\n",
    );
    let refused = "is not supported, please disable swap or set --fail-swap-on flag to false\n  replay";
    world.call(&["run"]).ends(1)?.says(refused)?;
    Ok(())
}

/// Decisions about another owner's Pods whose names begin alike are no reason.
fn of_an_owner() -> Result<(), String> {
    let world = World::new();
    world.write(
        "features/a/b.feature",
        "Feature: F\n  Scenario: S\n    Given ready Nodes \"a\" and \"b\"\n    And a Deployment \"web\" of 2 Pods\n    \
            And a Deployment \"web-api\" of 2 Pods\n    When the kubelet on \"a\" is killed\n    Then 0 Pods of \
            \"web\" are running on Node \"a\" within 3m\n",
    );
    let answer = world.call(&["run"]).ends(1)?.says("within 3m\n  observed  1 Pod (web-")?.says(" on a) up to +")?;
    let record = world.call(&["run", "--json"]).ends(1)?;
    let records = records(&record)?;
    let why = records[0]["failure"]["why"].as_array().cloned().unwrap_or_default();
    let of_other = why.iter().any(|why| why.as_str().is_some_and(|why| why.contains("web-api")));
    require(!why.is_empty() && !of_other, || answer.out.clone())
}

/// The others of its file are run; exit code 2 stays, in the harness the file's trial fails.
fn bad_sentence() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/half.feature", HALF);
    let answer = world.call(&["run"]).ends(2)?;
    answer.says("Finished 1 passed, 1 not run; 1 problem in feature files in ")?.says("there is no sentence")?;
    world.call(&["lint"]).ends(2)?.says("1 scenario compiled, 1 not; 1 problem in 1 file")?;
    let door = Answer::of(&mut world.door(&[])).ends(101)?;
    door.says("sim::a::half::sound")?.says("sim::a::half::feature_file")?;
    Answer::of(&mut world.door(&["--exact", "sim::a::half::sound"])).ends(0)?.says("1 passed")?;
    Answer::of(&mut world.door(&["--exact", "sim::a::half::broken"])).ends(101)?.says("there is no sentence")?;
    world.call(&["run", "--only", "sim::a::half::broken"]).ends(2)?.says("0 passed, 1 not run")?;
    // A line outside the steps may concern every scenario.
    world.write("features/a/half.feature", HALF.replace("@req", "@rec"));
    world.call(&["run"]).ends(2)?.says("Finished 0 passed, 2 not run")?;
    Ok(())
}

fn list() -> Result<(), String> {
    let world = tree();
    let answer = world.call(&["run", "--list"]).ends(0)?;
    let expected = "\
sim::a::good::it_is_killed features/a/good.feature:2
sim::a::old::it_is_killed features/a/old.feature:3 (skipped: until 1.31, and this is Kubernetes 1.34.4)
sim::a::twice::two_lines_are_wrong features/a/twice.feature:2
";
    require(answer.out == expected, || answer.out.clone())?;
    let one = world.call(&["run", "--list", "features/a/good.feature:4"]).ends(0)?;
    require(one.out.lines().count() == 1, || one.out.clone())?;
    world.write("features/a/half.feature", HALF);
    world.call(&["run", "--list"]).ends(2)?.says("sim::a::half::sound")?.says("there is no sentence")?;
    Ok(())
}

fn fail_fast() -> Result<(), String> {
    let world = World::new();
    for number in 1..=9 {
        world.write(&format!("features/a/n{number}.feature"), if number == 3 { FAILING } else { GOOD });
    }
    let answer = world.call(&["run", "--fail-fast", "--json"]).ends(1)?;
    require(answer.err.contains("2 passed, 1 failed, 6 not begun"), || answer.err.clone())?;
    require(records(&answer)?.len() == 4, || answer.out.clone())
}

fn failed() -> Result<(), String> {
    let world = tree();
    world.call(&["run", "--failed"]).ends(2)?.says("no scenario here is remembered as failed with --backend sim")?;
    world.call(&["run"]).ends(1)?;
    world.call(&["run", "--failed"]).ends(1)?.says("Finished 0 passed, 1 failed")?;
    world.call(&["run", "--failed", "features/a/good.feature"]).ends(2)?.says("not here any more, or not selected")?;
    world.call(&["run", "--failed", "--k8s", "1.33"]).ends(2)?.says("with --backend sim --k8s 1.34: 1")?;
    // One that is not judged stays.
    world.call(&["run", "features/a/good.feature"]).ends(0)?;
    world.write("features/a/twice.feature", GOOD.replace("It is killed", "Two lines are wrong"));
    world.call(&["run", "--failed"]).ends(0)?.says("Finished 1 passed")?;
    world.call(&["run", "--failed"]).ends(2)?.says("no scenario here is remembered")?;
    let files = world.state_files();
    require(files.is_empty(), || format!("{files:?}"))?;
    world.write("features/a/twice.feature", TWICE);
    world.call(&["run"]).ends(1)?;
    let files = world.state_files();
    require(files.len() == 1, || format!("{files:?}"))?;
    fs::write(&files[0], "{}").map_err(|error| error.to_string())?;
    world.call(&["run", "--failed"]).ends(2)?.says("delete it, and run without --failed")?;
    world.call(&["run"]).ends(1)?;
    Ok(())
}

fn verbose() -> Result<(), String> {
    let world = tree();
    let answer = world.call(&["run", "-v", "features/a/good.feature", "features/a/old.feature"]).ends(0)?;
    answer
        .says("      passed sim::a::good::it_is_killed\n")?
        .says("passed features/a/good.feature:3: Given a ready Node \"worker-1\": there after ")?
        .says("     skipped sim::a::old::it_is_killed (until 1.31")?;
    Ok(())
}
