//! Tests of docs/behaviour: the pages hold for what the program does now, and their links lead somewhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;

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
    // These runs are among those of the pages, which took minutes.
    let mut command = world.command(&["behaviour", "--runs", "2", "--write", &written.display().to_string()]);
    let output = command.current_dir(root()).output().map_err(|error| error.to_string())?;
    require(output.status.success(), || format!("{output:?}"))?;
    let stored = root().join("docs/behaviour");
    let mut names: Vec<_> = fs::read_dir(&stored).map_err(|error| error.to_string())?.flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    require(names.len() == world.files("written").len(), || {
        "a page is there of which the program knows nothing".into()
    })?;
    let (mut count, mut rows) = (0, 0);
    for entry in names {
        let name = entry.file_name().display().to_string();
        let text = fs::read_to_string(entry.path()).map_err(|error| error.to_string())?;
        let (same, all) = held(&text, &world.read(&format!("written/{name}")))
            .map_err(|why| format!("{name}: {why}: nodeproof behaviour --write docs/behaviour"))?;
        (count, rows) = (count + same, rows + all);
    }
    require(4 * count > 3 * rows, || format!("only {count} of {rows} rows are the same"))
}

/// A table: for each row, by its words and its writer, what stands below each release.
type Table = BTreeMap<(String, String), BTreeMap<u32, String>>;

/// Compares a page with what a few of its runs give: the words are the same, and each instant lies within the page's.
/// Returns how many rows were compared, and how many there are: those that came at one instant in few runs may stand
/// apart in many.
fn held(page: &str, few: &str) -> Result<(usize, usize), String> {
    let ((words, tables), (own, few)) = (parts(page), parts(few));
    if let Some((line, other)) = words.iter().zip(&own).find(|(line, other)| line != other) {
        return Err(format!("{line:?} is {other:?} now"));
    }
    require(words.len() == own.len() && tables.len() == few.len(), || "it has another length".into())?;
    let mut count = 0;
    for (table, few) in tables.iter().zip(&few) {
        for (row, cells) in few {
            let Some(stored) = table.get(row) else { continue };
            count += 1;
            for (release, cell) in cells {
                let held = stored.get(release).is_some_and(|of| is_within(cell, of));
                require(held, || format!("{row:?} on 1.{release} is {cell:?} now, and not {:?}", stored.get(release)))?;
            }
        }
    }
    Ok((count, tables.iter().map(Table::len).sum()))
}

/// Splits a page into its lines, without instants, and its tables.
fn parts(page: &str) -> (Vec<String>, Vec<Table>) {
    let instant = Regex::new(r"\*\*[^*]+\*\*(?: \([^()]* on 1\.[^()]*\))?|\d+ times,").unwrap();
    let (mut words, mut tables): (Vec<String>, Vec<Table>) = Default::default();
    let mut releases: Vec<Vec<u32>> = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        match cells.as_slice() {
            ["what happens", columns @ .., "by"] => {
                releases = columns.iter().map(|column| minors(column)).collect();
                tables.push(Table::new());
            }
            [what, cells @ .., by] if line.starts_with("| ") && cells.len() == releases.len() && !tables.is_empty() => {
                let below = releases.iter().zip(cells);
                let below = below.flat_map(|(own, cell)| own.iter().map(|minor| (*minor, (*cell).to_owned())));
                let key = ((*what).to_owned(), (*by).to_owned());
                tables.last_mut().unwrap().insert(key, below.collect());
            }
            _ if line.starts_with("|---") => {}
            _ => words.push(instant.replace_all(line, "…").into_owned()),
        }
    }
    (words, tables)
}

/// Reads `1.31`, `1.32 and 1.33`, `1.34 to 1.36`.
fn minors(column: &str) -> Vec<u32> {
    let named: Vec<u32> = column.split(' ').filter_map(|word| word.strip_prefix("1.")?.parse().ok()).collect();
    match named.as_slice() {
        [first, last] => (*first..=*last).collect(),
        _ => named,
    }
}

/// Tells whether all instants of a cell are among those of another; each is rounded.
fn is_within(cell: &str, of: &str) -> bool {
    const ROUNDED: f64 = 1.0;
    match (span(cell), span(of)) {
        (None, None) => true,
        (None, Some(_)) => of.contains('%'),
        (Some(_), None) => false,
        (Some((from, to)), Some((first, last))) => from >= first - ROUNDED && to <= last + ROUNDED,
    }
}

/// Reads `–`, `at once`, `within 1 s`, `4.2 s`, `41 to 55 s`, `5 min 41 s to 6 min`.
fn span(cell: &str) -> Option<(f64, f64)> {
    let cell = cell.split(" (in ").next()?;
    match cell {
        "–" => return None,
        "at once" => return Some((0.0, 0.0)),
        "within 1 s" => return Some((0.0, 1.0)),
        _ => {}
    }
    let (from, to) = cell.split_once(" to ").unwrap_or((cell, cell));
    let seconds = |text: &str| {
        let words: Vec<&str> = text.split(' ').collect();
        words.chunks(2).fold(0.0, |sum, pair| {
            let unit = match pair.get(1) {
                Some(&"h") => 3600.0,
                Some(&"min") => 60.0,
                _ => 1.0,
            };
            sum + unit * pair[0].parse::<f64>().unwrap_or(f64::NAN)
        })
    };
    Some((seconds(from), seconds(to)))
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
