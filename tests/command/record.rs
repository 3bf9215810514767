//! Tests of `nodeproof record --feature`: recordings of real clusters as scenarios that the simulator passes.

use std::path::Path;

use super::world::{Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("record::a_recording_becomes_a_feature_that_passes", becomes),
    ("record::what_cannot_become_a_feature_is_refused", refused),
];

fn recorded(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/1.34.4").join(name).display().to_string()
}

/// Recordings, each with lines that its feature must have: what was done, and what followed.
const TOLD: [(&str, &[&str]); 4] = [
    (
        "node-silent-evict-return",
        &[
            "When machine \"worker-2\" loses its connection to the API server",
            "And Pod \"tolerates-60s\" is deleted between ",
            "And Pod \"tolerates-forever\" stays for ",
            "When machine \"worker-2\" regains its connection to the API server",
            "And Pod \"db-2\" is gone within ",
            "And Node \"worker-2\" has no taint \"node.kubernetes.io/unreachable:NoExecute\" within ",
        ],
    ),
    (
        "kubelet-posts-not-ready",
        &[
            "When Node \"worker-2\" posts condition Ready=False, reason \"KubeletNotReady\"",
            "And Node \"worker-2\" has taint \"node.kubernetes.io/not-ready:NoExecute\" within ",
            "When the user creates:",
            "When Node \"worker-2\" falls silent",
            "When Node \"worker-2\" is fed again",
        ],
    ),
    (
        "zone-1-of-4",
        &["And a ready Node \"b3\" in zone \"zone-b\"", "When machine \"b3\" loses its connection to the API server"],
    ),
    ("out-of-service", &["the user taints Node \"worker-2\" with \"node.kubernetes.io/out-of-service"]),
];

fn becomes() -> Result<(), String> {
    let world = World::new();
    for (name, lines) in TOLD {
        let file = format!("features/seen/{}.feature", name.replace('-', "_"));
        let told = world.call(&["record", "--from", &recorded(name), "--feature", &file]).ends(0)?;
        told.says("the simulator passes it")?;
        let text = world.read(&file);
        for line in lines {
            require(text.contains(line), || format!("{name}: {line:?} is missing:\n{text}"))?;
        }
        require(text.contains("# Inferred: ") && text.contains("matches its snapshot"), || text.clone())?;
        world.call(&["lint", &file]).ends(0)?;
        world.call(&["run", &file]).ends(0)?.says("1 passed")?;
    }
    require(world.files("snapshots").len() == TOLD.len(), || format!("{:?}", world.files("snapshots")))?;
    // The bounds tell the cluster that was recorded from another one.
    let other = ["run", "features/seen/zone_1_of_4.feature", "--set", "node-monitor-grace-period=3m"];
    world.call(&other).ends(1)?.says("has condition MemoryPressure=Unknown between").map(drop)
}

fn refused() -> Result<(), String> {
    let world = World::new();
    let from = recorded("zone-1-of-4");
    world.write("mine.feature", "Feature: mine\n");
    world.call(&["record", "--from", &from, "--feature", "mine.feature"]).ends(2)?.says("is there already")?;
    require(world.read("mine.feature") == "Feature: mine\n", || "it was overwritten".to_owned())?;
    world.call(&["record", "--from", &from, "--feature", "mine.txt"]).ends(2)?.says("ends in .feature")?;
    world.call(&["record", "--from", &from]).ends(2)?.says("--feature")?;
    world.call(&["record", "--from", &from, "--feature", "a.feature", "--context", "x"]).ends(2)?.says("--context")?;
    world.call(&["record", "--feature", "a.feature"]).ends(2)?.says("--context")?;
    let nothing = world.call(&["record", "--from", &recorded("lease-or-status"), "--feature", "a.feature"]).ends(2)?;
    nothing.says("there is nothing to tell")?;
    // Only a Pod came and went, on no Node that was seen.
    let about = Path::new(&recorded("registration")).join("about.yaml");
    world.write("pods/about.yaml", std::fs::read(about).map_err(|error| error.to_string())?);
    let line = |at, what| {
        format!(
            "{{\"t\": {at}, \"type\": \"{what}\", \"kind\": \"Pod\", \"object\": {{\"apiVersion\": \"v1\", \"kind\": \
             \"Pod\", \"metadata\": {{\"name\": \"web\", \"namespace\": \"default\", \"uid\": \"u\", \
             \"resourceVersion\": \"{at}\"}}, \"spec\": {{\"nodeName\": \"w\"}}, \"status\": {{\"phase\": \
             \"Running\"}}}}}}\n"
        )
    };
    world.write("pods/watch.jsonl", line(1, "ADDED") + &line(2, "DELETED"));
    ["pods/writes.jsonl", "pods/actions.jsonl"].iter().for_each(|name| world.write(name, ""));
    let nothing = world.call(&["record", "--from", "pods", "--feature", "a.feature"]).ends(2)?;
    nothing.says("there is nothing to tell")?;
    world.call(&["record", "--context", "x", "--for", "0s"]).ends(2)?.says("--for must be more than nothing")?;
    require(!world.path("a.feature").exists(), || "a feature of nothing was written".to_owned())
}
