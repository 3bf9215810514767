//! Tests of `run --html` and `run --svg`: the files, and what a real browser makes of them.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::world::{Answer, FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("pictures::those_of_the_docs_are_what_the_program_draws", documented),
    ("pictures::one_scenario_is_drawn", one),
    ("pictures::the_page_shows_what_failed_first", page),
    ("pictures::faults_turns_and_strangers_are_drawn", strangers),
    ("pictures::cargo_test_writes_the_page_of_the_command", of_cargo_test),
    ("pictures::a_plan_is_drawn_with_the_instants_that_it_tells", plan),
];

/// Trials that need a browser.
pub(crate) const IN_A_BROWSER: &[Named] = &[("pictures::a_browser_opens_the_page", browser)];

/// The pictures of the documentation, each with its scenario.
const DOCUMENTED: [(&str, &str); 2] = [
    ("docs/pictures/a-node-dies.svg", "features/eviction/unreachable_pods.feature:9"),
    ("docs/pictures/nodes-wait-for-their-turn.svg", "features/zones/partial_disruption.feature:19"),
];

/// Returns the browser, or why there is none.
pub(crate) fn chromium() -> Result<&'static str, String> {
    let found = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    found.into_iter().find(|path| Path::new(path).exists()).ok_or_else(|| "there is no Chromium".to_owned())
}

fn documented() -> Result<(), String> {
    let world = World::new();
    let drawn = world.path("drawn.svg");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, scenario) in DOCUMENTED {
        let mut command = world.command(&["run", scenario, "--svg", &drawn.display().to_string()]);
        let output = command.current_dir(root).output().map_err(|error| error.to_string())?;
        require(output.status.success(), || format!("{output:?}"))?;
        let stored = fs::read_to_string(root.join(file)).unwrap_or_default();
        require(stored == world.read("drawn.svg"), || format!("it differs: nodeproof run {scenario} --svg {file}"))?;
    }
    Ok(())
}

fn one() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/failing.feature", FAILING);
    let answer = world.call(&["run", "--svg", "two.svg"]).ends(2)?;
    require(
        answer.err.contains("--svg draws one run of one scenario, and this would be 2: name it with --only"),
        || answer.err.clone(),
    )?;
    require(!world.path("two.svg").exists(), || "an empty file is left".to_owned())?;
    let seeds = world.call(&["run", "features/a/failing.feature", "--svg", "two.svg", "--seeds", "1..3"]).ends(2)?;
    require(seeds.err.contains("this would be 3: name one, with one --seed"), || seeds.err.clone())?;
    world.call(&["run", "features/a/failing.feature", "--svg", "one.svg"]).ends(1)?;
    let drawn = world.read("one.svg");
    require(drawn.contains("Ready=Unknown within 20s") && drawn.contains("age of the Lease"), || drawn.clone())?;
    let answer = world.call(&["run", "--html", "no/such/directory.html"]).ends(2)?;
    require(answer.err.contains("it cannot be written"), || answer.err.clone())
}

fn page() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/b/failing.feature", FAILING);
    world.write("features/b/wrong.feature", "Feature: x\n  Scenario: y\n    Given nonsense\n");
    world.call(&["run", "--html", "run.html"]).ends(2)?;
    let html = world.read("run.html");
    let place = |text: &str| html.find(text).ok_or_else(|| format!("{text:?} is missing:\n{html}"));
    let (failed, passed) = (place("sim::b::failing")?, place("sim::a::good")?);
    require(failed < passed, || html.clone())?;
    place("there is no sentence")?;
    place("replay    nodeproof run")?;
    require(!html.contains("http://") || !html.contains("src="), || "it asks for something outside".to_owned())
}

fn of_cargo_test() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/old.feature", format!("@until:1.31\n{GOOD}"));
    world.write("features/b/good.feature", GOOD);
    world.call(&["run", "--html", "run.html"]).ends(0)?;
    Answer::of(world.door(&[]).env("NODEPROOF_HTML", "tests.html")).ends(0)?;
    // The time that it took stands in two lines.
    let same = |name: &str| -> Vec<String> {
        world.read(name).lines().filter(|line| !line.contains("Kubernetes 1.34 on sim: ")).map(str::to_owned).collect()
    };
    require(same("run.html").iter().filter(|line| line.contains("<svg")).count() == 2, || world.read("run.html"))?;
    require(same("run.html") == same("tests.html"), || format!("it differs: {}", world.read("tests.html")))?;
    let counts = "2 passed, 0 failed, 1 skipped; 3 scenarios in ";
    require(world.read("tests.html").contains(counts), || world.read("tests.html"))?;

    world.write("features/b/failing.feature", FAILING);
    Answer::of(world.door(&[]).env("NODEPROOF_HTML", "tests.html")).ends(101)?;
    let html = world.read("tests.html");
    require(html.contains("1 failed, 1 skipped; 4 scenarios") && html.contains("Ready=Unknown within 20s"), || {
        html.clone()
    })?;
    Answer::of(world.door(&["--list"]).env("NODEPROOF_HTML", "list.html")).ends(0)?;
    require(!world.path("list.html").exists(), || "a list is no run".to_owned())?;
    let unwritable = Answer::of(world.door(&[]).env("NODEPROOF_HTML", "no/such/file.html")).ends(2)?;
    unwritable.says("NODEPROOF_HTML: no/such/file.html: it cannot be written")?;
    Answer::of(world.door(&[]).env("NODEPROOF_HTM", "x")).ends(101)?.says("did you mean NODEPROOF_HTML?").map(drop)
}

/// What was broken is shaded, Nodes wait for their turns, and what no line looks at has a lane.
fn strangers() -> Result<(), String> {
    let world = World::new();
    let text = "\
Feature: A zone
  Scenario: Two Nodes of it go
    Given ready Nodes \"a\", \"b\", \"c\", \"d\" and \"e\"
    And a Deployment \"web\" of 5 Pods
    When machine \"a\" loses power
    And machine \"b\" loses power
    Then Node \"a\" has taint \"node.kubernetes.io/unreachable:NoExecute\" within 2m
    And Node \"c\" keeps condition Ready=True for 8m
    When machine \"a\" gets power
    Then Node \"a\" has condition Ready=True within 2m
";
    world.write("features/a/zone.feature", text);
    world.call(&["run", "--svg", "zone.svg"]).ends(0)?;
    let drawn = world.read("zone.svg");
    let has = |text: &str| require(drawn.contains(text), || format!("{text:?} is missing: {drawn}"));
    // Node c is well, and no line looks at its Lease: it does not seem to age.
    let lane = drawn.split(">Node c<").nth(1).and_then(|rest| rest.split(">Node ").next()).unwrap_or_default();
    let ages = |lane: &str| lane.contains("age of the Lease").then(|| lane.matches('L').count());
    require(lane.contains("data-row=\"Ready\"") && ages(lane).is_some_and(|steps| steps > 90), || lane.to_owned())?;
    has("<title>a: no power from +0s to +8m0")?;
    has("<title>b: no power from +0s to +")?;
    has(">Node b<")?;
    has(">Pod web-")?;
    has(">waits for its turn<")?;
    has(">turns<")?;
    has("data-state=\"b (0.1 nodes per second)\"")
}

/// The picture of a plan has the instants of its JSON.
fn plan() -> Result<(), String> {
    let world = World::new();
    let asked =
        ["plan", "--nodes", "6", "--zones", "2", "--down", "zone-a", "--json", "--svg", "p.svg", "--html", "p.html"];
    let answer = world.call(&asked).ends(0)?;
    let json: serde_json::Value = serde_json::from_str(&answer.out).map_err(|error| error.to_string())?;
    let drawn = world.read("p.svg");
    for node in json["nodes"].as_array().ok_or("no nodes")? {
        let name = node["name"].as_str().unwrap_or_default();
        for (row, field) in [("Ready", "notReady"), ("taint", "tainted")] {
            let at = node[field].as_f64().ok_or_else(|| format!("{field} of {name} is missing"))?;
            let is_own = |part: &&str| part.contains(&format!("data-row=\"{name} {row}\""));
            let found =
                drawn.split("<rect ").filter(is_own).any(|part| part.contains(&format!("data-from=\"{at:.3}\"")));
            require(found, || format!("{name} {row} does not begin at {at}: {drawn}"))?;
        }
    }
    let page = world.read("p.html");
    require(page.contains("Kubernetes 1.34") && page.contains("<svg") && page.contains("Of "), || page.clone())?;
    require(!page.contains("Whole objects"), || String::from("there are no objects to choose from"))?;
    let compared = ["plan", "--nodes", "6", "--zones", "2", "--down", "zone-a", "--compare", "1.33,1.34", "--html"];
    let printed = world.call(&[&compared[..], &["c.html"]].concat()).ends(0)?.out;
    require(world.read("c.html").contains(printed.trim_end()), || format!("it is not in the page: {printed}"))?;
    world
        .call(&["plan", "--down", "zone-a", "--svg", "no/such/file.svg"])
        .ends(2)?
        .says("it cannot be written")
        .map(drop)
}

/// The page's own script runs, and the browser has nothing to say against it.
fn browser() -> Result<(), String> {
    let world = World::new();
    world.write("features/b/failing.feature", FAILING);
    world.call(&["run", "--html", "run.html"]).ends(1)?;
    let profile = world.path("profile");
    let output = Command::new(chromium()?)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}#at=980", world.path("run.html").display()))
        .output()
        .map_err(|error| error.to_string())?;
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    // Near the end of the run, as the fragment asks, the slider tells the state of the Node, and the whole of it.
    require(dom.contains("<li>Node worker-1: Ready=Unknown"), || dom.clone())?;
    require(dom.contains("<option>Node worker-1</option>") && dom.contains("as written at +"), || dom.clone())?;
    let marked = "<mark>    message: Kubelet stopped posting node status.\n</mark>";
    require(dom.contains("<span>  name: worker-1\n</span>") && dom.contains(marked), || dom.clone())
}
