//! Finds files that import each other in a cycle.
//!
//! Inputs: the files and their imports, without tests. Output: problems. A cycle that spans two folders is a problem;
//! inside one folder a cycle has at most four files. A file `x.rs` beside a folder `x` is the root of that folder.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Import;
use super::source::SourceFile;

const LONGEST: usize = 4;

pub(super) fn cycles(sources: &[SourceFile], imports: &[Import]) -> Vec<String> {
    let counts = |import: &&Import| {
        let (from, to) = (&sources[import.from], &sources[import.to]);
        !import.test && !(from.module.starts_with(&to.module))
    };
    let imports: Vec<&Import> = imports.iter().filter(counts).collect();
    let mut problems = Vec::new();
    for cycle in connected(sources.len(), &imports) {
        let folders: BTreeSet<&str> = cycle.iter().map(|file| folder(sources, *file)).collect();
        if folders.len() < 2 && cycle.len() <= LONGEST {
            continue;
        }
        let folders = folders.into_iter().collect::<Vec<_>>().join(", ");
        let arrows = arrows(sources, &imports, &cycle);
        problems.push(format!("a cycle of {} files in {folders}:\n{arrows}", cycle.len()));
    }
    problems
}

/// Returns the folder that a file belongs to.
fn folder<'a>(sources: &'a [SourceFile], file: usize) -> &'a str {
    let path = sources[file].path;
    let own = path.trim_end_matches(".rs");
    let is_root = |source: &SourceFile| {
        !source.test && source.path.strip_prefix(own).is_some_and(|inside| inside.starts_with('/'))
    };
    if sources.iter().any(is_root) { own } else { path.rsplit_once('/').map_or("", |(folder, _)| folder) }
}

fn arrows(sources: &[SourceFile], imports: &[&Import], cycle: &BTreeSet<usize>) -> String {
    let inside = imports.iter().filter(|import| cycle.contains(&import.from) && cycle.contains(&import.to));
    let mut arrows = BTreeMap::<_, BTreeSet<&str>>::new();
    for import in inside {
        let name = import.written.last().map_or("", String::as_str);
        arrows.entry((sources[import.from].path, sources[import.to].path)).or_default().insert(name);
    }
    let lines = arrows
        .into_iter()
        .map(|((from, to), names)| format!("  {from} -> {to}: {}", names.into_iter().collect::<Vec<_>>().join(", ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// Finds the strongly connected sets of two and more files.
fn connected(files: usize, imports: &[&Import]) -> Vec<BTreeSet<usize>> {
    let mut forth = vec![Vec::new(); files];
    let mut back = vec![Vec::new(); files];
    for import in imports {
        forth[import.from].push(import.to);
        back[import.to].push(import.from);
    }
    let mut done = BTreeSet::<usize>::new();
    let mut found = Vec::new();
    for file in 0..files {
        if !done.contains(&file) {
            let behind = reached(file, &back);
            let cycle: BTreeSet<usize> = reached(file, &forth).intersection(&behind).copied().collect();
            done.extend(&cycle);
            if cycle.len() > 1 {
                found.push(cycle);
            }
        }
    }
    found
}

fn reached(from: usize, arrows: &[Vec<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        next.extend(arrows[file].iter().filter(|to| reached.insert(**to)));
    }
    reached
}
