//! The source files of the vocabulary: their order in the reference, and the text at a position.
//!
//! Input: the position of an attribute. Output: the source from there on, or the comment above it. The sources of other
//! crates are read from their files, if these are available.

use std::sync::LazyLock;

use cucumber::step::Location;

/// The files of the vocabulary in the order of the reference, with their headings.
const FILES: [(&str, &str, &str); 10] = [
    ("cluster.rs", "The cluster", include_str!("cluster.rs")),
    ("nodes.rs", "Nodes", include_str!("nodes.rs")),
    ("machines.rs", "Machines and their kubelets", include_str!("machines.rs")),
    ("pods.rs", "Pods", include_str!("pods.rs")),
    ("workloads.rs", "Workloads", include_str!("workloads.rs")),
    ("network.rs", "The network", include_str!("network.rs")),
    ("cloud.rs", "What a cloud does", include_str!("cloud.rs")),
    ("users.rs", "What users do", include_str!("users.rs")),
    ("expect.rs", "What follows", include_str!("expect.rs")),
    ("observe.rs", "What holds of any Node", include_str!("observe.rs")),
];

/// Returns the index of the file of this crate in which an attribute stands, and its heading in the reference.
pub(super) fn file_of(place: Location) -> Option<(usize, &'static str)> {
    number_of(place.path).map(|number| (number, FILES[number].1))
}

/// Tells whether an attribute stands in a file of the vocabulary.
pub(super) fn is_of_vocabulary(path: &str) -> bool {
    number_of(path).is_some()
}

fn number_of(path: &str) -> Option<usize> {
    let ours = file!().trim_end_matches("sources.rs");
    FILES.iter().position(|(name, ..)| path.strip_prefix(ours) == Some(name))
}

/// Returns the source of this crate from an attribute on.
pub(super) fn source_at(place: Location) -> Option<&'static str> {
    let file = number_of(place.path)?;
    let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
    LINES[file].get(line).map(|at| &FILES[file].2[*at..])
}

/// The offsets of the lines of the files.
static LINES: LazyLock<Vec<Vec<usize>>> = LazyLock::new(|| FILES.iter().map(|(.., source)| lines(source)).collect());

fn lines(source: &str) -> Vec<usize> {
    std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

/// Reads a source file of another crate, for its comments. The compiler names it relative to the root of the workspace,
/// which is this directory or above it. Empty if it is not available.
fn source_of(path: &str) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().find_map(|up| std::fs::read_to_string(up.join(path)).ok()).unwrap_or_default()
}

/// Returns the comment above an attribute.
pub(super) fn comment_above(place: Location) -> String {
    match number_of(place.path) {
        Some(file) => comment_in(FILES[file].2, &LINES[file], place.line),
        None => {
            let source = source_of(place.path);
            comment_in(&source, &lines(&source), place.line)
        }
    }
}

fn comment_in(source: &str, lines: &[usize], line: u32) -> String {
    let line = usize::try_from(line).unwrap_or_default().saturating_sub(1);
    let end = lines.get(line).copied().unwrap_or(0);
    let mut comment: Vec<&str> = source[..end]
        .lines()
        .rev()
        .map(str::trim)
        .skip_while(|line| line.starts_with("#["))
        .take_while(|line| line.starts_with("///"))
        .map(|line| line.trim_start_matches("///").trim())
        .collect();
    comment.reverse();
    comment.join(" ")
}
