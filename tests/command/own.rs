//! Tests of suites of the user's own: made by `nodeproof new`, or any directory with its own requirements, fixtures and
//! snapshots.

use nodeproof_core::profile::RELEASES;
use serde_json::Value;

use super::world::{Answer, FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("own::a_new_suite_passes_at_once", new),
    ("own::a_new_suite_overwrites_nothing", new_among_others),
    ("own::files_beside_the_features_are_found", beside),
    ("own::files_elsewhere_are_named", elsewhere),
    ("own::snapshots_are_accepted", accepted),
    ("own::many_seeds_run_at_once", seeds),
    ("own::the_sentences_are_an_index", sentences),
];

const FIXTURE: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: rack}\n";

const SUITE: &str = "\
@req:OWN-01
Feature: A fixture
  Scenario: It is there
    Given a ready Node \"worker-1\"
    And the objects in \"rack.yaml\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown between 25s and 60s
    And the history of Node \"worker-1\" matches its snapshot
";

const REQUIREMENTS: &str = "own:\n- {id: OWN-01, says: it is so}\n";

fn new() -> Result<(), String> {
    let world = World::new();
    world.call(&["new", "mine"]).ends(0)?.says("Created mine/tests/scenarios.rs")?.says("nodeproof run mine")?;
    let files = world.files("mine");
    let expected = [
        "mine/.github/workflows/nodeproof.yml",
        "mine/.gitignore",
        "mine/Cargo.toml",
        "mine/features/nodes/lost.feature",
        "mine/features/requirements.yaml",
        "mine/snapshots/nodes/lost/the_kubelet_is_killed.history.snap",
        "mine/tests/scenarios.rs",
    ];
    require(files == expected, || format!("{files:?}"))?;
    world.call(&["lint", "mine"]).ends(0)?.says("1 scenario compiled, 0 problems")?;
    world.call(&["run", "mine"]).ends(0)?.says("1 passed")?;
    world.call(&["explain", "OWN-01", "--coverage", "--features", "mine"]).ends(0)?.says("1 of 1 requirements")?;
    world.call(&["new", "mine"]).ends(2)?.says("mine/features is there already: nothing was written")?;
    require(world.files("mine") == expected, || "something was written".to_owned())?;
    // The grace period was shorter.
    world
        .call(&["run", "mine", "--k8s", "1.31"])
        .ends(1)?
        .says("+44.213s")?
        .says("nodeproof run --k8s 1.31 --accept")?;
    for accept in [&["--accept"][..], &[]] {
        for release in RELEASES {
            let name = release.minor_name();
            world.call(&[&["run", "mine", "--k8s", &name], accept].concat()).ends(0)?.says("1 passed")?;
        }
    }
    Ok(())
}

fn new_among_others() -> Result<(), String> {
    let world = World::new();
    world.write("crate/Cargo.toml", "[package]\nname = \"x\"\n");
    world.call(&["new", "crate"]).ends(0)?.says("[[test]]")?.says("harness = false")?;
    require(world.read("crate/Cargo.toml") == "[package]\nname = \"x\"\n", || "Cargo.toml was changed".to_owned())?;
    world.write("half/tests", "a file");
    world.call(&["new", "half"]).ends(2)?.says("half/tests")?.says("nothing was written")?;
    require(world.files("half") == ["half/tests"], || format!("{:?}", world.files("half")))?;
    world.call(&["new", "half/tests"]).ends(2)?.says("this is no directory")?;
    world.call(&["new", "half/tests/x"]).ends(2)?.says("nothing was written")?;
    world.call(&["new"]).ends(2)?.says("<DIR>")?;
    Ok(())
}

fn beside() -> Result<(), String> {
    let world = World::new();
    for root in ["flat", "tree/features"] {
        world.write(&format!("{root}/a/b.feature"), SUITE);
        world.write(&format!("{root}/requirements.yaml"), REQUIREMENTS);
    }
    world.write("flat/fixtures/rack.yaml", FIXTURE);
    world.write("tree/fixtures/rack.yaml", FIXTURE);
    for root in ["flat", "tree"] {
        world.call(&["lint", root]).ends(0)?;
        world.call(&["run", root]).ends(1)?.says("there is no a/b/it_is_there.history.snap in ")?.says("--accept")?;
        world.call(&["run", root, "--accept"]).ends(0)?;
        require(
            world.files(root).iter().any(|name| name == &format!("{root}/snapshots/a/b/it_is_there.history.snap")),
            || format!("{:?}", world.files(root)),
        )?;
        world.call(&["run", root]).ends(0)?;
    }
    world.call(&["run", "flat/a/b.feature"]).ends(0)?;
    world.write("flat/requirements.yaml", "own:\n- {id: OWN-02}\n");
    world.call(&["lint", "flat"]).ends(2)?.says("there is no requirement \"OWN-01\"")?.says("did you mean OWN-02?")?;
    world.write("flat/requirements.yaml", "own: [");
    world.call(&["run", "flat"]).ends(2)?.says("requirements.yaml: no file of requirements")?;
    Ok(())
}

fn elsewhere() -> Result<(), String> {
    let world = World::new();
    world.write("suite/b.feature", SUITE);
    world.write("other/own.yaml", REQUIREMENTS);
    world.write("other/files/rack.yaml", FIXTURE);
    let all = ["--requirements", "other/own.yaml", "--fixtures", "other/files", "--snapshots", "other/snaps"];
    let call = |first: &[&str]| world.call(&[first, &all].concat());
    call(&["run", "suite", "--accept"]).ends(0)?;
    call(&["run", "suite"]).ends(0)?;
    call(&["lint", "suite"]).ends(0)?;
    require(world.files("suite") == ["suite/b.feature"], || format!("{:?}", world.files("suite")))?;
    world
        .call(&["lint", "suite", "--requirements", "nowhere.yaml"])
        .ends(2)?
        .says("nowhere.yaml: no file of requirements")?;
    world
        .call(&["lint", "suite", "--snapshots", "other/own.yaml"])
        .ends(2)?
        .says("this is a file, and no directory")?;
    let missing = world.call(&["lint", "suite", "--requirements", "other/own.yaml"]).ends(2)?;
    missing.says("rack.yaml")?.says("b.feature:5:")?;
    Ok(())
}

fn accepted() -> Result<(), String> {
    let world = World::new();
    world.call(&["new", "mine"]).ends(0)?;
    let file = "mine/snapshots/nodes/lost/the_kubelet_is_killed.history.snap";
    let accepted = world.read(file);
    world.write(file, accepted.replace("NodeStatusUnknown", "Nobody"));
    world.call(&["run", "mine"]).ends(1)?.says("differs")?;
    world.call(&["run", "mine", "--accept", "--seed", "2"]).ends(2)?.says("at the default seed")?;
    world.call(&["run", "mine", "--accept"]).ends(0)?;
    require(world.read(file) == accepted, || world.read(file))?;
    // The snapshot of a scenario that fails is not stored.
    world.write("mine/features/nodes/late.feature", FAILING);
    world.call(&["run", "mine", "--accept"]).ends(1)?;
    require(world.files("mine/snapshots") == [file], || format!("{:?}", world.files("mine/snapshots")))
}

fn seeds() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    let answer =
        world.call(&["run", "--seeds", "3..6", "--jobs", "2", "--json"]).ends(0)?.says("4 seeds, 0 with a failure")?;
    let scenarios = answer.out.lines().filter(|line| line.contains("\"record\":\"scenario\""));
    let seeds: Vec<u64> = scenarios.map(|line| field(line, "seed").as_u64().unwrap_or_default()).collect();
    require(seeds == [3, 4, 5, 6], || answer.out.clone())?;
    world.write("features/a/failing.feature", FAILING);
    let answer = world.call(&["run", "--seeds", "3..6"]).ends(1)?.says("4 seeds, 4 with a failure")?;
    require(answer.out.matches("  replay  ").count() == 1, || answer.out.clone())?;
    answer.says("--seed 3 --only sim::a::failing::")?.says("under seeds 3, 4, 5, 6")?;
    for (arguments, words) in [
        (&["--seeds", "6..3"] as &[&str], "comes before the first"),
        (&["--seeds", "5"], "as in 1..1000"),
        (&["--seeds", "1..2", "--seed", "1"], "cannot be used with"),
        (&["--jobs", "0"], "--jobs"),
    ] {
        world.call(&[&["run"], arguments].concat()).ends(2)?.says(words)?;
    }
    Ok(())
}

fn sentences() -> Result<(), String> {
    let world = World::new();
    let index = world.call(&["steps", "--json"]).ends(0)?;
    let index: Vec<Value> = serde_json::from_str(&index.out).map_err(|error| error.to_string())?;
    for sentence in &index {
        let has = |name: &str| sentence.get(name).is_some_and(|value| !value.is_null());
        let all = ["keywords", "pattern", "regex", "parameters", "says", "part", "examples", "source"].iter();
        require(all.clone().all(|name| has(name)), || sentence.to_string())?;
        let (file, line) = sentence["source"].as_str().and_then(|text| text.rsplit_once(':')).unwrap_or_default();
        require(file.ends_with(".rs") && line.parse::<u32>().is_ok(), || sentence.to_string())?;
    }
    let with_example =
        index.iter().filter(|sentence| sentence["examples"].as_array().is_some_and(|all| !all.is_empty()));
    require(with_example.count() * 10 > index.len() * 8, || "most sentences have an example".to_owned())?;
    world.call(&["steps", "--markdown"]).ends(0)?.says("# The sentences of scenarios")?.says("- `node`: Node name")?;
    Answer::of(&mut world.command(&["steps", "--markdown", "--json"])).ends(2)?;
    Ok(())
}

fn field(line: &str, name: &str) -> Value {
    serde_json::from_str::<Value>(line).map(|value| value[name].clone()).unwrap_or_default()
}
