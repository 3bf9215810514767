//! Tests of the command on kind clusters: what is refused, what `clean` prints, and what is left when a run is killed.
//!
//! Trials that need Docker are ignored with a reason where it is missing; they do not count as passed.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::world::{Named, World, require};

/// Trials that need no cluster.
pub(crate) const TRIALS: &[Named] = &[
    ("kind::refuses_a_context_that_is_not_kinds", refused),
    ("kind::clean_without_docker_goes_by_the_journals", clean_without_docker),
    ("kind::clean_leaves_a_torn_journal_readable", torn),
];

/// Trials that need a running kind cluster.
pub(crate) const LIVE: &[Named] = &[("kind::a_run_that_is_killed_leaves_the_cluster_healthy", killed)];

/// A socket on which no daemon listens.
const NO_DOCKER: &str = "unix:///nonexistent/docker.sock";

const KUBECONFIG: &str = "\
apiVersion: v1
kind: Config
clusters: [{name: prod, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: prod, user: {}}]
contexts: [{name: prod, context: {cluster: prod, user: prod}}, {name: kind-np, context: {cluster: prod, user: prod}}]
";

const JOURNAL: &str = concat!(
    r#"{"run":{"run":"r1","pid":1,"started":null,"#,
    r#""at":"2026-01-01T00:00:00Z","context":"kind-np","kubeconfig":null,"cluster":"np"}}
{"change":{"id":1,"what":"np-worker: it is paused","container":"np-worker","node_fault":"frozen","#,
    r#""undo":[{"do":"unpause","container":"np-worker"}]}}
"#
);

/// Returns the context of the kind cluster that the environment names, or why trials cannot run on one. A cluster that
/// merely exists belongs to somebody and is not used.
pub(crate) fn context() -> Result<String, String> {
    let context = std::env::var("NODEPROOF_CONTEXT").unwrap_or_default();
    if context.starts_with("kind-") {
        Ok(context)
    } else {
        Err("NODEPROOF_CONTEXT does not name the context of a kind cluster".to_owned())
    }
}

fn refused() -> Result<(), String> {
    let world = World::new();
    world.write("features/a.feature", super::world::GOOD);
    world.write("kubeconfig", KUBECONFIG);
    for (context, said) in [
        ("prod", "context prod is no kind cluster and was not allowed: nothing is written to it"),
        ("kind-np", "docker does not answer"),
        ("kind-other", "there is no context kind-other in the kubeconfig: it has prod, kind-np"),
    ] {
        let mut command =
            world.command(&["run", "--backend", "kind", "--context", context, "--kubeconfig", "kubeconfig"]);
        command.env("DOCKER_HOST", NO_DOCKER);
        let answer = super::world::Answer::of(&mut command);
        let all = format!("{}{}", answer.out, answer.err);
        require(all.contains(said), || format!("{said:?} is not in {all}"))?;
    }
    Ok(())
}

fn clean_without_docker() -> Result<(), String> {
    let world = World::new();
    let call = || {
        let mut command = world.command(&["clean", "--state-dir", "state"]);
        command.env("DOCKER_HOST", NO_DOCKER);
        super::world::Answer::of(&mut command)
    };
    let answer = call().ends(0)?;
    require(answer.out.starts_with("nothing to clean by the journals"), || answer.out.clone())?;
    world.write("state/runs/r1.jsonl", JOURNAL);
    let answer = call().ends(1)?;
    require(answer.err.contains("run r1 on kind-np has left 1 change"), || answer.err.clone())?;
    require(answer.err.contains("docker does not answer"), || answer.err.clone())
}

fn torn() -> Result<(), String> {
    let world = World::new();
    world.write("state/runs/r1.jsonl", format!("{JOURNAL}{{\"undone\":1}}\n{{\"change\":{{\"id\":2,\"wh"));
    let mut command = world.command(&["clean", "--state-dir", "state"]);
    command.env("DOCKER_HOST", NO_DOCKER);
    let answer = super::world::Answer::of(&mut command).ends(0)?;
    require(answer.out.starts_with("nothing to clean by the journals"), || answer.out.clone())
}

const CUT: &str = "\
Feature: A machine is cut off
  Scenario: It loses its connection
    Given a ready Node \"worker-1\"
    When machine \"worker-1\" loses its connection to the API server
    Then Node \"worker-1\" keeps condition Ready=True for 100s
";

/// Kills a run while a node is cut off, and waits until nothing of it is left.
fn killed() -> Result<(), String> {
    let context = context()?;
    let world = World::new();
    world.write("features/cut.feature", CUT);
    let mut command =
        world.command(&["run", "--backend", "kind", "--context", &context, "--state-dir", "state", "features"]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let is_cut = || world.files("state").iter().any(|file| world.read(file).contains("\"node_fault\":\"cut\""));
    let cut = wait(Duration::from_secs(120), is_cut);
    run.kill().map_err(|error| error.to_string())?;
    drop(run.wait());
    require(cut, || "the machine was never cut off".to_owned())?;
    let clean = || world.call(&["clean", "--state-dir", "state", "--dry-run"]).out;
    require(wait(Duration::from_secs(60), || clean().starts_with("0 remnants")), || format!("left: {}", clean()))?;
    let nodes = Command::new("kubectl").args(["--context", &context, "get", "nodes", "--no-headers"]).output();
    let nodes = nodes.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let is_well = |line: &str| line.split_whitespace().nth(1) == Some("Ready");
    require(!nodes.is_empty() && nodes.lines().all(is_well), || nodes.clone())
}

fn wait(limit: Duration, is_so: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < limit {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(300));
    }
    is_so()
}
