//! Tests of scenarios as trials: what libtest's users and nextest expect of a test program.

use super::world::{Answer, FAILING, GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("trials::are_listed_as_nextest_wants_them", listed),
    ("trials::are_chosen_as_libtest_does", chosen),
    ("trials::of_other_releases_are_ignored_with_the_reason", ignored),
    ("trials::give_the_same_bytes_twice", same_bytes),
];

fn tree() -> World {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/old.feature", format!("@until:1.31\n{GOOD}"));
    world.write("features/b/failing.feature", FAILING);
    world
}

const ALL: &str = "\
meta::snapshots_are_used: test
sim::a::good::it_is_killed: test
sim::a::old::it_is_killed: test
sim::b::failing::its_gone_at_home: test
";

fn listed() -> Result<(), String> {
    let world = tree();
    let list = |arguments: &[&str]| Answer::of(&mut world.door(arguments)).ends(0);
    let all = list(&["--list", "--format", "terse"])?.out;
    require(all == ALL, || format!("all: {all}"))?;
    let ignored = list(&["--list", "--format", "terse", "--ignored"])?.out;
    require(ignored == "sim::a::old::it_is_killed: test\n", || format!("ignored: {ignored}"))
}

fn chosen() -> Result<(), String> {
    let world = tree();
    let run = |arguments: &[&str]| Answer::of(&mut world.door(arguments));
    run(&["--exact", "sim::a::good::it_is_killed", "--nocapture"]).ends(0)?.says("1 passed")?;
    run(&["sim::a", "--skip", "old", "--test-threads", "1"]).ends(0)?.says("1 passed")?;
    run(&["--format", "terse", "sim::a::good"]).ends(0)?.says("1 passed")?;
    run(&["--exact", "sim::b::failing::its_gone_at_home"]).ends(101)?.says("1 failed")?;
    run(&["--exact", "sim::a::good::it_is_kiled"]).ends(101)?.says("did you mean sim::a::good::it_is_killed?")?;
    run(&["--no-such-flag"]).ends(2)?;
    Ok(())
}

fn ignored() -> Result<(), String> {
    let world = tree();
    Answer::of(&mut world.door(&["sim::a"]))
        .ends(0)?
        .says("ignored")?
        .says("until 1.31, and this is Kubernetes 1.34.4")?;
    Answer::of(world.door(&["sim::a::old"]).env("NODEPROOF_K8S", "1.31")).ends(0)?.says("1 passed")?;
    let skipped = world.call(&["run", "features/a", "--json"]).ends(0)?;
    skipped.says("\"result\":\"skipped\"")?.says("until 1.31, and this is Kubernetes 1.34.4")?;
    Ok(())
}

fn same_bytes() -> Result<(), String> {
    let world = tree();
    for report in ["first", "second"] {
        world.call(&["run", "--report", report]).ends(1)?;
    }
    let files = |report: &str| world.files(&format!("{report}/scenarios"));
    let (first, second) = (files("first"), files("second"));
    require(first.len() == 6 && second.len() == 6, || format!("{first:?} {second:?}"))?;
    let messages = ["first/messages.ndjson".to_owned()].into_iter().zip(["second/messages.ndjson".to_owned()]);
    for (one, other) in first.into_iter().zip(second).chain(messages) {
        require(world.read(&one) == world.read(&other), || format!("{one} and {other} differ"))?;
        require(!world.read(&one).is_empty(), || format!("{one} is empty"))?;
    }
    Ok(())
}
