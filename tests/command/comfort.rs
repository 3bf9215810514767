//! Tests of what makes the command handy: completions, manual pages, the reference as a page and an index, `--watch`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use regex::Regex;

use super::world::{GOOD, Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("comfort::completions_and_manual_pages_name_each_command", shell),
    ("comfort::sentences_are_a_page_with_a_search", page),
    ("comfort::sentences_are_an_index_for_editors", index),
    ("comfort::a_file_is_run_again_when_it_is_saved", watch),
];

fn shell() -> Result<(), String> {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let answer = world.call(&["completions", shell]).ends(0)?;
        answer.says("verify")?.says("report-limit")?;
    }
    world.write("complete.bash", world.call(&["completions", "bash"]).ends(0)?.out);
    // The shell itself takes it, and it completes.
    let script = ". ./complete.bash; COMP_WORDS=(nodeproof pl); COMP_CWORD=1; _nodeproof nodeproof pl nodeproof; \
                  echo \"${COMPREPLY[*]}\"";
    let bash = std::process::Command::new("bash").args(["-c", script]).current_dir(world.path("")).output();
    let said = bash.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    require(said.trim() == "plan", || format!("it completes to {said:?}"))?;
    world.call(&["completions", "tcsh"]).ends(2)?;
    let page = world.call(&["man"]).ends(0)?.out;
    require(page.contains(".TH nodeproof 1") && page.contains("behaviour"), || page.clone())?;
    world.call(&["man", "--write", "man1"]).ends(0)?;
    require(world.files("man1").contains(&"man1/nodeproof-run.1".to_owned()), || format!("{:?}", world.files("man1")))
}

fn page() -> Result<(), String> {
    let world = World::new();
    let page = world.call(&["steps", "--html"]).ends(0)?.out;
    let count = page.matches("<article").count();
    require(count > 80 && page.contains(&format!("{count} sentences")), || format!("{count} sentences"))?;
    require(page.contains("default-src &#x27;none&#x27;") || page.contains("default-src 'none'"), || page.clone())?;
    let few = world.call(&["steps", "--html", "taint"]).ends(0)?.out;
    require(few.matches("<article").count() < count, || few.clone())
}

/// Each sentence is there once, as an expression that finds the examples of the reference.
fn index() -> Result<(), String> {
    let world = World::new();
    let index = world.call(&["steps", "--index"]).ends(0)?.out;
    let json: serde_json::Value =
        serde_json::from_str(&world.call(&["steps", "--json"]).ends(0)?.out).map_err(|error| error.to_string())?;
    let sentences = json.as_array().ok_or("no array")?;
    let lines = index.lines().filter_map(|line| line.split_once("(/")?.1.strip_suffix("/, () => {});"));
    let expressions: Vec<String> = lines.map(|text| text.replace("\\/", "/")).collect();
    require(expressions.len() == sentences.len(), || format!("{} of {}", expressions.len(), sentences.len()))?;
    require(!index.contains("?P<"), || "it names groups as Rust does".to_owned())?;
    for (expression, sentence) in expressions.iter().zip(sentences) {
        let regex = Regex::new(expression).map_err(|error| error.to_string())?;
        for example in sentence["examples"].as_array().into_iter().flatten().filter_map(|own| own.as_str()) {
            require(regex.is_match(example), || format!("{expression} does not find {example}"))?;
        }
    }
    Ok(())
}

fn watch() -> Result<(), String> {
    let world = World::new();
    world.write("features/a/good.feature", GOOD);
    world.write("features/a/other.feature", GOOD);
    let mut command = world.command(&["run", "--watch", "features/a/good.feature"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let lines = lines_of(&mut child);
    let outcome = watched(&world, &lines);
    drop(child.kill());
    drop(child.wait());
    outcome
}

fn watched(world: &World, lines: &Receiver<String>) -> Result<(), String> {
    until(lines, &["1 passed", "Watching"])?;
    // A file that was not named does not count.
    world.write("features/a/other.feature", GOOD.replace("39s", "2m"));
    let quiet = lines.recv_timeout(Duration::from_millis(600));
    require(quiet.is_err(), || format!("it ran for another file: {quiet:?}"))?;
    world.write("features/a/good.feature", GOOD.replace("39s", "2m"));
    until(lines, &["1 failed", "Watching"])?;
    // As many editors do: a new file takes the place of the old one.
    world.write("features/a/good.feature~", GOOD);
    let renamed = std::fs::rename(world.path("features/a/good.feature~"), world.path("features/a/good.feature"));
    renamed.map_err(|error| error.to_string())?;
    until(lines, &["1 passed"])
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let other = sender.clone();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::spawn(move || {
        out.map(|out| BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)))
    });
    std::thread::spawn(move || {
        err.map(|err| BufReader::new(err).lines().map_while(Result::ok).try_for_each(|line| other.send(line)))
    });
    lines
}

/// Waits for lines with these texts, in any order: they come from two streams.
fn until(lines: &Receiver<String>, texts: &[&str]) -> Result<(), String> {
    let mut left = texts.to_vec();
    let mut seen = Vec::new();
    while !left.is_empty() {
        let line =
            lines.recv_timeout(Duration::from_secs(20)).map_err(|_| format!("{left:?} did not come: {seen:?}"))?;
        left.retain(|text| !line.contains(text));
        seen.push(line);
    }
    Ok(())
}
