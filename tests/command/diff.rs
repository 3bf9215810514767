//! Tests of `diff`: what changed snapshots say, in words.

use std::process::Command;

use super::world::{Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("diff::what_comes_later_is_said_once_for_all_scenarios", later),
    ("diff::what_cannot_be_compared_is_said", wrong),
];

const SNAPSHOT: &str = "---\nsource: x\n---\n- at: +50.2s\n  by: kcm/status\n  changed:\n    \
    status.conditions[Ready].status: True -> Unknown\n- at: +51s\n  by: kcm\n  changed:\n    \
    spec.taints: + a/b:NoExecute\n";

fn git(world: &World, words: &[&str]) -> Result<(), String> {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
    let mut command = Command::new("git");
    command.args(settings).args(words).current_dir(world.path("."));
    let output = command.output().map_err(|error| error.to_string())?;
    require(output.status.success(), || format!("{words:?}: {output:?}"))
}

fn world() -> Result<World, String> {
    let world = World::new();
    for name in ["one", "two", "three"] {
        world.write(&format!("snapshots/a/{name}.history.snap"), SNAPSHOT);
    }
    git(&world, &["init", "--quiet"])?;
    git(&world, &["add", "."])?;
    git(&world, &["commit", "--quiet", "-m", "first"])?;
    Ok(world)
}

fn later() -> Result<(), String> {
    let world = world()?;
    let answer = world.call(&["diff"]).ends(0)?;
    require(answer.out.contains("0 snapshots changed") && answer.out.contains("is the same"), || answer.out.clone())?;
    for name in ["one", "two"] {
        world.write(&format!("snapshots/a/{name}.history.snap"), SNAPSHOT.replace("+50.2s", "+60.2s"));
    }
    std::fs::remove_file(world.path("snapshots/a/three.history.snap")).map_err(|error| error.to_string())?;
    world.write("snapshots/a/four.history.snap", SNAPSHOT);
    let expected = "2 snapshots changed, 1 added, 1 removed\n  Ready=Unknown 10s later; 1 other write as before\n    \
        in 2 scenarios: a/one.history, a/two.history\n  added: a/four.history\n  removed: a/three.history\n";
    let answer = world.call(&["diff"]).ends(0)?;
    require(answer.out == expected, || answer.out.clone())?;
    git(&world, &["add", "."])?;
    git(&world, &["commit", "--quiet", "-m", "second"])?;
    let answer = world.call(&["diff", "HEAD~1..HEAD", "--markdown"]).ends(0)?;
    require(answer.out.starts_with("### 2 snapshots changed") && answer.out.contains("`a/one.history`"), || {
        answer.out.clone()
    })
}

fn wrong() -> Result<(), String> {
    let world = world()?;
    for (given, why) in [
        ("nope..HEAD", "git diff: fatal:"),
        ("HEAD..", "revisions are needed, as main..HEAD"),
        ("--output=x..HEAD", "unexpected argument"),
    ] {
        let answer = world.call(&["diff", given]).ends(2)?;
        require(answer.err.contains(why), || format!("{given}: {}", answer.err))?;
    }
    let empty = World::new();
    let answer = empty.call(&["diff"]).ends(2)?;
    require(answer.err.contains("not a git repository"), || answer.err.clone())
}
