//! Tests of `run --conformance` and `verify`.

use serde_json::Value;

use super::world::{FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("conformance::a_report_counts_and_is_repeated", repeated),
    ("conformance::a_report_that_says_something_else_is_found", tampered),
    ("conformance::what_is_no_report_is_said", unreadable),
];

const REQUIREMENTS: &str = "\
group:
- {id: AA-01, says: one}
- {id: AA-02, says: two}
- {id: AA-03, says: three}
";

fn world() -> World {
    let world = World::new();
    world.write("features/requirements.yaml", REQUIREMENTS);
    world.write("features/a/good.feature", format!("@core @req:AA-01\n{GOOD}"));
    world.write("features/a/failing.feature", format!("@req:AA-02\n{FAILING}"));
    world
}

fn report(world: &World, name: &str) -> Result<Value, String> {
    serde_json::from_str(&world.read(name)).map_err(|error| error.to_string())
}

fn repeated() -> Result<(), String> {
    let world = world();
    for name in ["one.json", "two.json"] {
        world.call(&["run", "--conformance", name, "--set", "node-monitor-grace-period=45s"]).ends(1)?;
    }
    require(world.read("one.json") == world.read("two.json"), || world.read("one.json"))?;
    let report = report(&world, "one.json")?;
    let results: Vec<&str> =
        report["requirements"].as_array().into_iter().flatten().filter_map(|own| own["result"].as_str()).collect();
    require(results == ["passed", "failed", "notShown"], || format!("{report:#}"))?;
    let (core, extended) = (&report["profiles"]["core"], &report["profiles"]["extended"]);
    require(core["conformant"] == true && extended["conformant"] == false, || format!("{report:#}"))?;
    require(report["scenarios"]["failed"] == 1 && report["run"]["set"][0] == "node-monitor-grace-period=45s", || {
        format!("{report:#}")
    })?;
    let answer = world.call(&["verify", "one.json"]).ends(0)?;
    require(answer.out.contains("one.json: the same holds"), || answer.out.clone())
}

fn tampered() -> Result<(), String> {
    let world = world();
    world.call(&["run", "--conformance", "report.json"]).ends(1)?;
    world.write("lie.json", world.read("report.json").replace("\"failed\"", "\"passed\""));
    let answer = world.call(&["verify", "lie.json"]).ends(1)?;
    require(answer.out.contains("AA-02: passed {\"passed\":1} in the report, failed {\"failed\":1} now"), || {
        answer.out.clone()
    })?;
    world.write("features/a/good.feature", GOOD);
    let answer = world.call(&["verify", "report.json"]).ends(2)?;
    require(answer.err.contains("the report is of other feature files: sha256:"), || answer.err.clone())
}

fn unreadable() -> Result<(), String> {
    let world = world();
    for (text, why) in [
        ("", "this is no JSON"),
        ("{}", "it has no field \"schema\""),
        ("{\"schema\": \"other/v9\"}", "it has the form \"other/v9\""),
        ("{\"schema\": \"nodeproof.conformance/v1\"}", "run that version"),
    ] {
        world.write("report.json", text);
        let answer = world.call(&["verify", "report.json"]).ends(2)?;
        require(answer.err.contains(why), || format!("{text}: {}", answer.err))?;
    }
    let answer = world.call(&["verify", "nothing.json"]).ends(2)?;
    require(answer.err.contains("cannot read nothing.json"), || answer.err.clone())
}
