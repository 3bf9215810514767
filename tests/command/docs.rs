//! Tests of README and docs/: each command in them is run, each block of code is read, each link leads somewhere.
//!
//! A command that needs a cluster, or minutes, is only read by the program: `--help` is added to it. Commands of cargo
//! are looked up in a list.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::world::{GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("docs::each_command_is_run", commands),
    ("docs::the_failure_in_the_readme_is_a_real_one", failure),
    ("docs::each_block_of_code_is_read", blocks),
    ("docs::each_link_leads_somewhere", links),
    ("docs::the_readme_is_a_door", door),
    ("docs::the_limits_name_each_controller", controllers),
    ("docs::the_action_runs_what_it_says", action),
    ("docs::the_new_workflow_uses_what_the_action_has", workflow),
];

/// Commands that are only read: they need a cluster, a repository, or programs that may not be here, or
/// minutes. The pages of `behaviour` are all written by its own tests.
const READ_ONLY: [&str; 15] = [
    "nodeproof behaviour",
    "--watch",
    "--context ",
    "--from-context ",
    "--backend ",
    "--with hollow",
    "--create",
    "clean",
    "hollow --nodes",
    "record ",
    "serve",
    "ctl ",
    "--release",
    "diff main",
    "diff HEAD",
];
/// What cargo is asked for; the same things are what this suite and the developers do all the time.
const CARGO: [&str; 9] = [
    "cargo run -- run",
    "cargo test",
    "cargo install --path .",
    "cargo insta review",
    "cargo run --release -- bench --nodes 5000 --for 1h",
    "cargo test --test conformance -- --list",
    "INSTA_UPDATE=always cargo test --test conformance",
    "NODEPROOF_HTML=run.html cargo test --test conformance",
    "INSTA_UPDATE=always cargo test",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns README and the pages in docs/ with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let mut paths = vec![root().join("README.md"), root().join("examples/own-steps/README.md")];
    let docs = fs::read_dir(root().join("docs")).expect("there are docs");
    paths.extend(docs.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|it| it == "md")));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).expect("it can be read"))).collect()
}

/// A block of code: its language, and its text.
fn blocks_of(text: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        match line.strip_prefix("```") {
            Some(_) if is_open => is_open = false,
            Some(language) => {
                blocks.push((language.to_owned(), String::new()));
                is_open = true;
            }
            None if is_open => {
                let (_, block) = blocks.last_mut().expect("one is open");
                block.push_str(line);
                block.push('\n');
            }
            None => {}
        }
    }
    blocks
}

/// Returns the commands of a page: the lines with a prompt, and what stands in backquotes and begins with a program.
fn commands_of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (language, block) in blocks_of(text) {
        let lines = block.lines().filter(|_| language == "console").filter_map(|line| line.strip_prefix("$ "));
        found.extend(lines.map(|line| line.split("  #").next().unwrap_or(line).trim().to_owned()));
    }
    let mut is_code = false;
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let spans = line.split('`').skip(1).step_by(2).filter(|_| !is_code);
        let is_command =
            |span: &&str| ["nodeproof ", "cargo ", "INSTA_UPDATE"].iter().any(|program| span.starts_with(program));
        found.extend(spans.filter(is_command).map(str::to_owned));
    }
    found
}

/// Returns a tree with what the commands name: the features, fixtures and recordings of this repository.
fn tree() -> World {
    let world = World::new();
    for name in ["features", "fixtures", "snapshots"] {
        std::os::unix::fs::symlink(root().join(name), world.path(name)).expect("a link can be made");
    }
    world
}

fn commands() -> Result<(), String> {
    let mut count = 0;
    let world = tree();
    let mut seen = BTreeSet::new();
    for (path, text) in pages() {
        for command in commands_of(&text) {
            let place = format!("{}: {command}", path.display());
            count += 1;
            if !seen.insert(command.clone()) {
                continue;
            }
            if command.contains("cargo ") {
                require(CARGO.contains(&command.as_str()), || format!("{place}: it is not in the list"))?;
                continue;
            }
            if command.starts_with("cat ") || command.contains("late.feature") {
                continue;
            }
            let command = command.replace("DIR", "mine");
            let is_read = READ_ONLY.iter().any(|part| command.contains(part))
                || ["nodeproof replay", "nodeproof lint"].contains(&command.as_str());
            // One area stands for all, which would take half a minute in a development build.
            let is_of_all =
                command.starts_with("nodeproof run") && !command.contains("features") && !command.contains("mine");
            let line = match (is_read, is_of_all) {
                (true, _) => format!("{command} --help"),
                (false, true) => command.replacen("nodeproof run", "nodeproof run features/health", 1),
                (false, false) => command.clone(),
            };
            // A suite that was made before is there; every other command succeeds.
            if command.contains("nodeproof new") && world.path("mine").exists() {
                continue;
            }
            if command.contains(" mine") && !command.contains(" new ") && !world.path("mine").exists() {
                world.call(&["new", "mine"]).ends(0)?;
            }
            if command.contains("--failed") {
                world.write("failing/a.feature", GOOD.replace("39s", "2m"));
                world.call(&["run", "failing"]).ends(1)?;
                let again = command.replace("--failed", "--failed failing");
                world.paste(&again).ends(1).map_err(|why| format!("{place}: {why}"))?;
                continue;
            }
            world.paste(&line).ends(0).map_err(|why| format!("{place}: {why}"))?;
        }
    }
    require(count > 50, || format!("only {count} commands were found"))
}

/// Spaces and line ends apart, and the time that it took.
fn words(text: &str) -> String {
    let text: Vec<&str> = text.split_whitespace().collect();
    let text = text.join(" ");
    text.split(" failed in ").next().map_or(text.clone(), |before| {
        if before.len() < text.len() { format!("{before} failed") } else { text.clone() }
    })
}

fn failure() -> Result<(), String> {
    let (_, readme) = pages().into_iter().find(|(path, _)| *path == root().join("README.md")).expect("there is one");
    let (_, block) = blocks_of(&readme).into_iter().next().expect("it begins with one");
    let (shown, output) = block.split_once("$ nodeproof run features/health/late.feature\n").expect("it is run");
    let feature = shown.split_once('\n').map_or("", |(_, feature)| feature);
    let world = World::new();
    world.write("features/health/late.feature", feature);
    let answer = world.call(&["run", "features/health/late.feature"]).ends(1)?;
    require(words(&answer.out) == words(output), || format!("README shows\n{output}\nand it is\n{}", answer.out))
}

fn blocks() -> Result<(), String> {
    let example: String = ["Cargo.toml", "tests/scenarios.rs", "tests/steps/mod.rs"]
        .map(|name| fs::read_to_string(root().join("examples/own-steps").join(name)).expect("it is there"))
        .concat()
        .replace("path = \"../..\"", "path = \"../nodeproof\"");
    for (path, text) in pages() {
        for (language, block) in blocks_of(&text) {
            let is_fine = match language.as_str() {
                "console" => true,
                "js" => fs::read_to_string(root().join("fixtures/cucumber/page.mjs")).is_ok_and(|text| text == block),
                "yaml" => serde_yaml::from_str::<Value>(&block).is_ok(),
                "json" => serde_json::from_str::<Value>(&block).is_ok(),
                "rust" => block.split("\n\n").all(|part| example.contains(part.trim_end())),
                "toml" => block.lines().all(|line| example.contains(line)),
                "gherkin" => {
                    let world = tree();
                    world.write("own/block.feature", &block);
                    world.call(&["run", "own", "--requirements", "features/requirements.yaml"]).ends(0).is_ok()
                }
                other => return Err(format!("{}: a block of {other:?} is not tested", path.display())),
            };
            require(is_fine, || {
                format!("{}: this is no {language}, or not what the example has\n{block}", path.display())
            })?;
        }
    }
    Ok(())
}

fn links() -> Result<(), String> {
    for (path, text) in pages() {
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.starts_with("http")) {
            let file = path.parent().unwrap_or(Path::new("")).join(target.split('#').next().unwrap_or(target));
            require(file.exists(), || format!("{}: {target} is not there", path.display()))?;
        }
    }
    Ok(())
}

fn door() -> Result<(), String> {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is one");
    require(readme.lines().count() < 160, || "the README has 160 lines or more".to_owned())?;
    for page in ["authoring", "backends", "snapshots", "embedding", "control", "limits", "ci"] {
        require(readme.contains(&format!("(docs/{page}.md)")), || format!("the README does not name docs/{page}.md"))?;
    }
    Ok(())
}

fn controllers() -> Result<(), String> {
    let limits = fs::read_to_string(root().join("docs/limits.md")).expect("it is there");
    let readme = fs::read_to_string(root().join("README.md")).expect("there is one");
    let world = World::new();
    let defaults = world.call(&["profiles", "--defaults", "--json"]).ends(0)?.out;
    let names: Vec<&str> = defaults.split('"').filter(|word| word.ends_with("-controller")).collect();
    for name in &names {
        require(limits.contains(&format!("`{name}`")), || format!("docs/limits.md does not name {name}"))?;
    }
    let count = format!("{} of the controllers", names.len());
    require(readme.contains(&count), || format!("the README does not say {count}"))
}

fn action() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/bad.feature", GOOD.replace("39s", "2m"));
    let action = root().join("ci/action");
    let run = |inputs: &str| world.paste(&format!("{inputs} {}", action.display()));
    let line = |inputs: &str| format!("{inputs} PATH=\"$(dirname \"$COMMAND\"):$PATH\"");
    let answer =
        run(&line("INPUT_PATHS='features/a/good.feature features/a/bad.feature' INPUT_JUNIT=junit.xml")).ends(1)?;
    answer.says("::error file=features/a/bad.feature,line=5,")?.says("Finished 1 passed, 1 failed")?;
    require(world.read("junit.xml").contains("<testsuites"), || "there is no report".to_owned())?;
    run(&line("INPUT_PATHS=features INPUT_TAGS='@slow'")).ends(2)?.says("@slow selects no scenario")?;
    run(&line("INPUT_K8S=1.33 INPUT_OPTIONS='--list --json'")).ends(0)?.says("\"record\":\"listed\"")?;
    run(&line("INPUT_PATHS='nowhere'")).ends(2)?.says("nowhere: there is no such file")?;
    Ok(())
}

fn workflow() -> Result<(), String> {
    let world = World::new();
    world.call(&["new", "."]).ends(0)?;
    let read = |text: &str| serde_yaml::from_str::<Value>(text).map_err(|error| error.to_string());
    let workflow = read(&world.read(".github/workflows/nodeproof.yml"))?;
    let action = read(&fs::read_to_string(root().join("action.yml")).expect("it is there"))?;
    let steps = workflow["jobs"]["scenarios"]["steps"].as_array().cloned().unwrap_or_default();
    let own = steps.iter().find(|step| step["uses"].as_str().is_some_and(|uses| uses.starts_with("nodeproof/")));
    let given = own.and_then(|step| step["with"].as_object()).ok_or("no step uses the action")?;
    for name in given.keys() {
        require(action["inputs"].get(name).is_some(), || format!("the action has no input {name}"))?;
    }
    let script = fs::read_to_string(root().join("ci/action")).expect("it is there");
    for name in action["inputs"].as_object().into_iter().flat_map(|inputs| inputs.keys()) {
        let variable = format!("INPUT_{}", name.to_uppercase());
        require(script.contains(&variable), || format!("ci/action does not read {variable}"))?;
    }
    // In a repository that begins further up, GitHub would not find it.
    world.write("outer/.git/HEAD", "");
    world.call(&["new", "outer/inner"]).ends(0)?.says("GitHub takes workflows from")?;
    world.write("kept/.gitignore", "mine\n");
    world.call(&["new", "kept"]).ends(0)?;
    require(world.read("kept/.gitignore") == "mine\n", || "it was overwritten".to_owned())
}
