//! Tests of snapshots: written on request, always compared, explained when they differ.

use std::process::Command;

use super::world::{Answer, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("snapshots::are_written_as_insta_is_told", written),
    ("snapshots::that_differ_show_how_and_what_to_do", differ),
    ("snapshots::that_nobody_uses_are_named", orphans),
    ("snapshots::of_a_release_apply_to_the_next_ones", of_releases),
    ("snapshots::that_cannot_be_written_are_named", unwritable),
    ("snapshots::of_a_history_without_a_change_are_refused", empty),
];

const SCENARIO: &str = "\
Feature: A kubelet stops
  Scenario: It is killed
    Given a ready Node \"worker-1\"
    When the kubelet on \"worker-1\" is killed
    Then Node \"worker-1\" has condition Ready=Unknown within 60s
    And the history of Node \"worker-1\" matches its snapshot
";

const FILE: &str = "snapshots/a/b/it_is_killed.history.snap";

fn tree() -> World {
    let world = World::new();
    world.write("features/a/b.feature", SCENARIO);
    world
}

fn door(world: &World, update: &str) -> Command {
    let mut door = world.door(&[]);
    door.env("INSTA_UPDATE", update);
    door
}

fn written() -> Result<(), String> {
    let world = tree();
    let is = |files: &[&str]| {
        let found = world.files("snapshots");
        require(found == files, || format!("{found:?}, not {files:?}"))
    };
    Answer::of(&mut door(&world, "no")).ends(101)?.says("there is no a/b/it_is_killed.history.snap")?.says("remedy")?;
    is(&[])?;
    world.call(&["run"]).ends(1)?.says("there is no a/b/it_is_killed.history.snap")?;
    is(&[])?;
    let new = format!("{FILE}.new");
    Answer::of(&mut door(&world, "new")).ends(101)?;
    is(&[&new])?;
    std::fs::remove_file(world.path(&new)).map_err(|error| error.to_string())?;
    Answer::of(&mut door(&world, "auto")).ends(101)?;
    is(&[&new])?;
    Answer::of(&mut door(&world, "always")).ends(0)?;
    require(world.read(FILE).contains("status.conditions[Ready].status: True -> Unknown"), || world.read(FILE))?;
    Answer::of(&mut door(&world, "no")).ends(0)?;
    world.call(&["run"]).ends(0)?;
    Answer::of(door(&world, "no").env("NODEPROOF_SEED", "5")).ends(0)?;
    Ok(())
}

fn differ() -> Result<(), String> {
    let world = tree();
    Answer::of(&mut door(&world, "always")).ends(0)?;
    let accepted = world.read(FILE);
    let edited = accepted.replace("NodeStatusUnknown", "NodeStatusNobodyKnows");
    world.write(FILE, &edited);
    for answer in [world.call(&["run"]).ends(1)?, Answer::of(&mut door(&world, "no")).ends(101)?] {
        let answer = answer.says("differs")?.says("NodeStatusNobodyKnows")?.says("remedy")?;
        answer.says("b.feature:6: And the history of Node \"worker-1\" matches its snapshot")?.says("replay")?;
    }
    require(world.read(FILE) == edited && world.files("snapshots") == [FILE], || "something was written".to_owned())?;
    world.write(FILE, accepted.replacen("---\n", "", 1));
    world.call(&["run"]).ends(1)?.says("is damaged")?.says("restore it from version control")?;
    Answer::of(&mut door(&world, "no")).ends(101)?.says("is damaged")?;
    world.write(FILE, b"\xff\xfe\x00");
    world.call(&["run"]).ends(1)?.says("cannot be used")?.says("delete it and accept it anew")?;
    std::fs::remove_file(world.path(FILE)).map_err(|error| error.to_string())?;
    Answer::of(&mut door(&world, "always")).ends(0)?;
    require(world.read(FILE) == accepted, || "it is not restored".to_owned())
}

fn orphans() -> Result<(), String> {
    let world = tree();
    Answer::of(&mut door(&world, "always")).ends(0)?;
    world.write("snapshots/a/b/long_gone.history.snap", world.read(FILE));
    let named = "snapshots/a/b/long_gone.history.snap: is used by no scenario";
    Answer::of(&mut door(&world, "no")).ends(101)?.says(named)?;
    world.call(&["lint"]).ends(2)?.says(named)?.says("delete it")?;
    world.call(&["run"]).ends(2)?.says(named)?;
    // A file that was broken may use it.
    let feature = world.read("features/a/b.feature");
    world.write("features/a/b.feature", format!("{feature}\n    Then nobody knows this\n"));
    world.call(&["run", "--accept"]).ends(2)?;
    require(world.files("snapshots").len() == 2, || "a snapshot of a broken file was deleted".to_owned())?;
    world.write("features/a/b.feature", feature);
    world.call(&["run", "--accept"]).ends(0)?.says("deleted: snapshots/a/b/long_gone.history.snap")?;
    require(world.files("snapshots") == [FILE], || "it is still there, or too much is gone".to_owned())
}

fn of_releases() -> Result<(), String> {
    let world = tree();
    Answer::of(&mut door(&world, "always")).ends(0)?;
    let edited = world.read(FILE).replace("NodeStatusUnknown", "NodeStatusNobodyKnows");
    world.write("snapshots/a/b/it_is_killed.history@1.35.snap", edited);
    for (release, code) in [("1.34", 0), ("1.35", 1), ("1.36", 1)] {
        world.call(&["run", "--k8s", release]).ends(code)?;
    }
    world.call(&["run", "--k8s", "1.36", "--accept"]).ends(0)?;
    world.call(&["run", "--k8s", "1.36"]).ends(0)?;
    world.call(&["run", "--k8s", "1.35"]).ends(1)?;
    Ok(())
}

fn unwritable() -> Result<(), String> {
    let world = tree();
    world.write("snapshots", "no directory");
    let answer = Answer::of(&mut door(&world, "always")).ends(101)?;
    answer.says("remedy")?;
    require(world.read("snapshots") == "no directory", || "it was overwritten".to_owned())
}

fn empty() -> Result<(), String> {
    let world = World::new();
    let history = SCENARIO.replace("history of Node \"worker-1\"", "history of Namespace \"default\"");
    world.write("features/a/b.feature", history);
    world.call(&["run", "--accept"]).ends(1)?.says("nothing of the object has changed since the first act")?;
    require(world.files("snapshots").is_empty(), || "an empty history is stored".to_owned())
}
