//! Tests of replay lines: the line below a failure, pasted into a shell, shows the same failure.

use super::world::{Answer, FAILING, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("lines::of_the_command", of_the_command),
    ("lines::of_the_test_harness", of_the_test_harness),
    ("lines::say_what_a_person_needs", failure),
];

const NAME: &str = "sim::its_a_n_ew::odd_one::its_gone_at_home";

/// A tree with paths that a shell would split.
fn tree() -> World {
    let world = World::new();
    world.write("features/it's a \"n $ew/odd one.feature", FAILING);
    world
}

fn failure_of(text: &str) -> Result<(Vec<&str>, &str), String> {
    let start = text.lines().position(|line| line.contains("odd one.feature:5:"));
    let lines: Vec<&str> = text.lines().skip(start.ok_or_else(|| format!("no failure in {text}"))?).collect();
    let end = lines.iter().position(|line| line.trim_start().starts_with("replay"));
    let end = end.ok_or_else(|| format!("no replay line in {text}"))?;
    Ok((lines[..end].to_vec(), lines[end].trim_start().trim_start_matches("replay").trim_start()))
}

/// Pastes the line of a failure and compares what it shows.
fn pasted(world: &World, first: &Answer, code: i32) -> Result<(), String> {
    let (failure, line) = failure_of(&first.out)?;
    let again = world.paste(line).ends(code)?;
    let (same, _) = failure_of(&again.out)?;
    require(failure == same, || format!("{line}\n{failure:#?}\n{same:#?}"))
}

fn of_the_command() -> Result<(), String> {
    let world = tree();
    pasted(&world, &world.call(&["run"]).ends(1)?, 1)?;
    pasted(&world, &world.call(&["run", "--seed", "3", "--k8s", "1.31"]).ends(1)?, 1)
}

fn of_the_test_harness() -> Result<(), String> {
    let world = tree();
    pasted(&world, &Answer::of(&mut world.door(&[])).ends(101)?, 101)?;
    let seeded = Answer::of(world.door(&[]).env("NODEPROOF_SEED", "3").env("NODEPROOF_K8S", "1.31")).ends(101)?;
    let seeded = seeded.says("NODEPROOF_SEED=3 NODEPROOF_K8S=1.31 cargo test")?.says(NAME)?;
    pasted(&world, &seeded, 101)
}

fn failure() -> Result<(), String> {
    let world = tree();
    let answer = world.call(&["run"]).ends(1)?;
    let (lines, _) = failure_of(&answer.out)?;
    for word in ["expected", "observed", "why", "last"] {
        let is_there = lines.iter().any(|line| line.trim_start().starts_with(word));
        require(is_there, || format!("{word} is missing: {lines:#?}"))?;
    }
    Ok(())
}
