//! Tests of docs/behaviour: the pages are what the program writes now, and their links lead somewhere.

use std::fs;
use std::path::Path;

use super::world::{Named, World, require};

pub(crate) const TRIALS: &[Named] = &[
    ("behaviour::the_pages_are_what_the_program_writes", pages),
    ("behaviour::each_link_of_the_pages_leads_somewhere", links),
    ("behaviour::a_page_that_is_not_there", unknown),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Result<(), String> {
    let world = World::new();
    let written = world.path("written");
    let mut command = world.command(&["behaviour", "--write", &written.display().to_string()]);
    let output = command.current_dir(root()).output().map_err(|error| error.to_string())?;
    require(output.status.success(), || format!("{output:?}"))?;
    let stored = root().join("docs/behaviour");
    let mut names: Vec<_> = fs::read_dir(&stored).map_err(|error| error.to_string())?.flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    require(names.len() == world.files("written").len(), || {
        "a page is there of which the program knows nothing".into()
    })?;
    for entry in names {
        let name = entry.file_name().display().to_string();
        let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
        require(text == world.read(&format!("written/{name}")), || {
            format!("{name} differs: nodeproof behaviour --write docs/behaviour")
        })?;
    }
    Ok(())
}

/// Links lead to files, to lines that begin a scenario, and to headings that are there.
fn links() -> Result<(), String> {
    let directory = root().join("docs/behaviour");
    let mut count = 0;
    for entry in fs::read_dir(&directory).map_err(|error| error.to_string())?.flatten() {
        let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = if file.is_empty() { entry.path() } else { directory.join(file) };
            require(path.exists(), || format!("{link} leads nowhere"))?;
            let target = if path.is_file() { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
            if let Some(line) = anchor.strip_prefix('L').and_then(|line| line.parse::<usize>().ok()) {
                let found = target.lines().nth(line - 1).unwrap_or_default().trim();
                require(found.starts_with("Scenario") || found.starts_with('|'), || format!("{link}: {found:?}"))?;
            } else if !anchor.is_empty() {
                let is_heading = |line: &str| {
                    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-');
                    let slug: String =
                        line.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect();
                    line.starts_with("##") && slug.replace(' ', "-") == anchor
                };
                require(target.lines().any(is_heading), || format!("{link}: there is no such heading"))?;
            }
        }
    }
    require(count > 80, || format!("only {count} links"))
}

fn unknown() -> Result<(), String> {
    let world = World::new();
    let answer = world.call(&["behaviour", "a-node-sleeps"]).ends(2)?;
    require(answer.err.contains("the pages are a-node-dies, a-node-is-drained"), || answer.err.clone())?;
    world.call(&["behaviour"]).ends(0)?.says("What happens when a node dies?").map(drop)
}
