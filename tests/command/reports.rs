//! Tests of `run --messages` against Cucumber's own schema, and of the directory that `run --report` makes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use super::schema::Schema;
use super::world::{FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("reports::messages_are_as_cucumber_says", messages),
    ("reports::messages_refer_to_what_was_told_before", references),
    ("reports::messages_tell_the_verdict_of_each_line", verdicts),
    ("reports::one_directory_has_all_forms", directory),
    ("reports::a_directory_keeps_its_limit", limit),
];

/// A background, a rule, tables, a doc string, tags on every level, and an outline one of whose rows has a mistake.
const MANY: &str = "\
@core
Feature: Nodes that go away
  Why: Pods leave late.

  Background:
    Given kube-controller-manager runs with:
      | node-monitor-grace-period | 45s |
    And a ready Node \"w\"

  # a remark
  Rule: It takes the grace period

    @slow
    Scenario: Two lines are wrong
      Given the object:
        \"\"\"yaml
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: x}
        \"\"\"
      When the kubelet on \"w\" is killed
      Then Node \"w\" has condition Ready=Unknown within 20s
      And Node \"w\" keeps condition Ready=True for 20s
      And Node \"w\" has taint \"node.kubernetes.io/unreachable:NoExecute\" within 30s

    Scenario Outline: It is <what>
      When the kubelet on \"w\" is <what>
      Then Node \"w\" has condition Ready=Unknown within 60s

      @custom:late
      Examples:
        | what     |
        | killed   |
        | exploded |
";

fn world() -> World {
    let world = World::new();
    world.write("features/a/many.feature", MANY);
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/old.feature", format!("@until:1.31\n{GOOD}"));
    world.write("features/a/torn.feature", "Feature x\n  Scenario: y\n");
    world
}

fn envelopes(world: &World, name: &str) -> Result<Vec<Value>, String> {
    let text = world.read(name);
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))).collect()
}

fn kind(envelope: &Value) -> &str {
    envelope.as_object().and_then(|own| own.keys().next()).map_or("", String::as_str)
}

fn messages() -> Result<(), String> {
    let world = world();
    world.call(&["run", "--messages", "run.ndjson", "--seeds", "1..2"]).ends(2)?;
    let schema = Schema::read("fixtures/cucumber/messages.schema.json")?;
    require(schema.problem(&serde_json::json!({"pickle": {"id": 1}})).is_some(), || {
        "the schema refuses nothing".to_owned()
    })?;
    let told = envelopes(&world, "run.ndjson")?;
    for envelope in &told {
        if let Some(error) = schema.problem(envelope) {
            return Err(format!("{error}: {envelope}"));
        }
    }
    let kinds: BTreeSet<&str> = told.iter().map(kind).collect();
    let expected = [
        "attachment",
        "gherkinDocument",
        "meta",
        "parseError",
        "pickle",
        "source",
        "stepDefinition",
        "testCase",
        "testCaseFinished",
        "testCaseStarted",
        "testRunFinished",
        "testRunStarted",
        "testStepFinished",
        "testStepStarted",
    ];
    require(kinds == BTreeSet::from(expected), || format!("{kinds:?}"))?;
    world.call(&["run", "--messages", "again.ndjson", "--seeds", "1..2", "--jobs", "1"]).ends(2)?;
    require(world.read("run.ndjson") == world.read("again.ndjson"), || "two runs differ".to_owned())?;
    let refused = world.call(&["run", "--messages", "no/such/file"]).ends(2)?;
    refused.says("the messages cannot be written").map(drop)
}

/// Each id is told once, and before it is referred to.
fn references() -> Result<(), String> {
    let world = world();
    world.call(&["run", "--messages", "run.ndjson", "--seeds", "1..2"]).ends(2)?;
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    for envelope in envelopes(&world, "run.ndjson")? {
        let kind = kind(&envelope).to_owned();
        let mut refers = Vec::new();
        look(&envelope, &mut |key, value| {
            let of = match key {
                "astNodeIds" | "astNodeId" => "node",
                "pickleId" => "pickle",
                "pickleStepId" => "pickleStep",
                "stepDefinitionIds" => "stepDefinition",
                "testCaseId" => "testCase",
                "testStepId" => "testStep",
                "testCaseStartedId" => "testCaseStarted",
                "testRunStartedId" => "testRunStarted",
                _ => return,
            };
            refers.push((of.to_owned(), value.to_owned()));
        });
        let mut doubled = None;
        look(&envelope, &mut |key, value| {
            if key == "id" {
                let of = match kind.as_str() {
                    "gherkinDocument" => "node",
                    "pickle" if value.contains('/') => "pickleStep",
                    "testCase" if value.contains('/') => "testStep",
                    other => other,
                };
                if !known.insert((of.to_owned(), value.to_owned())) {
                    doubled = Some(format!("{of} {value} is there twice"));
                }
            }
        });
        if let Some(doubled) = doubled {
            return Err(doubled);
        }
        for (of, id) in refers {
            require(known.contains(&(of.clone(), id.clone())), || format!("{kind} refers to {of} {id}"))?;
        }
    }
    Ok(())
}

/// Calls a function with each text of a tree and the key below which it stands.
fn look(tree: &Value, found: &mut impl FnMut(&str, &str)) {
    fn inner(key: &str, tree: &Value, found: &mut impl FnMut(&str, &str)) {
        match tree {
            Value::String(text) => found(key, text),
            Value::Array(values) => values.iter().for_each(|value| inner(key, value, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| inner(key, value, found)),
            _ => {}
        }
    }
    inner("", tree, found);
}

fn verdicts() -> Result<(), String> {
    let world = world();
    world.call(&["run", "--messages", "run.ndjson"]).ends(2)?;
    let told = envelopes(&world, "run.ndjson")?;
    let mut texts: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let pickles = told.iter().map(|envelope| &envelope["pickle"]).filter(|pickle| !pickle.is_null());
    for pickle in pickles.clone() {
        for step in pickle["steps"].as_array().into_iter().flatten() {
            let name = pickle["name"].as_str().unwrap_or_default();
            texts.insert(step["id"].as_str().unwrap_or_default(), (name, step["text"].as_str().unwrap_or_default()));
        }
    }
    let finished = told.iter().map(|envelope| &envelope["testStepFinished"]).filter(|step| !step.is_null());
    let mut given: BTreeMap<(&str, &str), &Value> = BTreeMap::new();
    for step in finished {
        let id = step["testStepId"].as_str().unwrap_or_default();
        given.insert(texts[id], &step["testStepResult"]);
    }
    let result = |name: &str, step: &str| given.get(&(name, step)).copied().cloned().unwrap_or_default();
    let wrong = result("Two lines are wrong", "Node \"w\" has condition Ready=Unknown within 20s");
    require(wrong["status"] == "FAILED", || wrong.to_string())?;
    let text = wrong["message"].as_str().unwrap_or_default();
    require(text.contains("late") && text.contains("replay    nodeproof run"), || text.to_owned())?;
    require(wrong["duration"]["seconds"].as_u64().is_some_and(|own| (39..=56).contains(&own)), || wrong.to_string())?;
    let also =
        result("Two lines are wrong", "Node \"w\" has taint \"node.kubernetes.io/unreachable:NoExecute\" within 30s");
    require(also["status"] == "FAILED", || also.to_string())?;
    let held = result("Two lines are wrong", "Node \"w\" keeps condition Ready=True for 20s");
    require(held["status"] == "PASSED" && held["duration"]["seconds"] == 20, || held.to_string())?;
    let unknown = result("It is exploded", "the kubelet on \"w\" is exploded");
    require(unknown["status"] == "UNDEFINED", || unknown.to_string())?;
    let other = result("It is exploded", "Node \"w\" has condition Ready=Unknown within 60s");
    require(other["status"] == "SKIPPED", || other.to_string())?;
    let tags = |name: &str| {
        let own = pickles.clone().find(|pickle| pickle["name"] == name);
        own.map(|own| own["tags"].as_array().map_or(0, Vec::len)).unwrap_or_default()
    };
    require(tags("It is exploded") == 2 && tags("Two lines are wrong") == 2, || "tags are missing".to_owned())?;
    let end = told.last().map(|envelope| envelope["testRunFinished"]["success"].clone());
    require(end == Some(Value::Bool(false)), || format!("{end:?}"))
}

fn directory() -> Result<(), String> {
    let world = world();
    world.write("features/b/failing.feature", FAILING);
    world.write("out/scenarios/of/somebody.else", "kept");
    world.call(&["run", "--report", "out"]).ends(2)?;
    let page = world.read("out/index.html");
    let mut links = 0;
    for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        links += 1;
        let link = link.replace("&#x2f;", "/");
        require(world.path(&format!("out/{link}")).is_file(), || format!("{link} leads nowhere"))?;
    }
    require(links > 10, || page.clone())?;
    for form in ["run.html", "summary.md", "junit.xml", "messages.ndjson", "conformance.json", "run.jsonl"] {
        require(page.contains(&format!("href=\"{form}\"")), || format!("{form} is not named: {page}"))?;
    }
    let place = |text: &str| page.find(text).ok_or_else(|| format!("{text} is missing: {page}"));
    let (failed, passed) = (place("sim::b::failing")?, place("sim::a::good")?);
    require(failed < passed, || page.clone())?;
    require(page.contains("problems in feature files") && !page.contains("To stay below"), || page.clone())?;
    require(world.read("out/scenarios/of/somebody.else") == "kept", || "a strange file is gone".to_owned())?;
    let old = "out/scenarios/b/failing/its_gone_at_home.trace.jsonl";
    require(world.path(old).is_file(), || format!("{:?}", world.files("out/scenarios")))?;
    world.call(&["run", "--report", "out", "features/a/good.feature"]).ends(0)?;
    require(!world.path(old).exists(), || "a file of the run before is there".to_owned())?;
    require(world.read("out/index.html").contains("<p>None.</p>"), || world.read("out/index.html"))
}

/// Forty traces do not fit in a megabyte; what failed is kept.
fn limit() -> Result<(), String> {
    let world = World::new();
    let mut text = String::from("Feature: Many\n");
    for number in 0..40 {
        text += &format!(
            "  Scenario: Number {number}\n    Given a ready Node \"w\"\n    When 60s pass\n    \
             Then Node \"w\" keeps condition Ready={} for \
             60s\n",
            if number == 39 { "Unknown" } else { "True" }
        );
    }
    world.write("features/a/many.feature", text);
    world.call(&["run", "--report", "out", "--report-limit", "2"]).ends(1)?;
    let size = |name: &str| fs::metadata(world.path(name)).map_or(0, |found| found.len());
    let files = world.files("out");
    let total: u64 = files.iter().map(|name| size(name)).sum();
    require(total < 2_000_000, || format!("{total} bytes: {files:?}"))?;
    let page = world.read("out/index.html");
    require(page.contains("To stay below 2 MB: the trace of ") && page.contains("--report-limit none"), || {
        page.clone()
    })?;
    let kept = |end: &str| world.path(&format!("out/scenarios/a/many/number_39.{end}")).is_file();
    require(kept("history.yaml") && kept("decisions.jsonl") && kept("trace.jsonl"), || format!("{files:?}"))?;
    world.call(&["run", "--report", "whole", "--report-limit", "none"]).ends(1)?;
    let traces = world.files("whole").iter().filter(|name| name.ends_with(".trace.jsonl")).count();
    require(traces == 40, || format!("{traces} traces"))?;
    world
        .call(&["run", "--report", "out", "--report-limit", "0"])
        .ends(2)?
        .says("a number of MB from 1 on, or none")?;
    world.call(&["run", "--report-limit", "1"]).ends(2)?.says("--report <DIR>").map(drop)
}
