//! Finds feature files and reads them as text.
//!
//! Inputs: paths, or bytes. Outputs: [`Source`]s and the problems with their paths. A file's area and topic are the
//! last two parts of its path below the directory `features`; the names of its trials and snapshots begin with them.
//! Invariant: nothing but regular files of limited size is read.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::{Problem, slug};

/// Size limit of a feature file in bytes: a hundred times what a person reads.
const BYTES_MAX: u64 = 1 << 20;
/// Limit of the lines of a feature file; the parser's time grows with their square.
const LINES_MAX: usize = 5_000;

/// A feature file before the check.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its path as printed in problems.
    pub path: String,
    /// `area::topic`.
    pub id: String,
    /// The bytes, or why they cannot be read.
    pub bytes: Result<Cow<'static, [u8]>, String>,
}

/// The sources that were found, and the problems with the paths that were searched.
pub type Sources = (Vec<Source>, Vec<Problem>);

impl Source {
    /// Makes a source from bytes.
    #[must_use]
    pub fn new(path: &str, bytes: impl Into<Cow<'static, [u8]>>) -> Self {
        Self { path: path.to_owned(), id: identify(Path::new(path)), bytes: Ok(bytes.into()) }
    }

    /// Reads a file.
    #[must_use]
    pub fn read(path: &Path, shown: &str) -> Self {
        let bytes = read_limited(path).map(Cow::Owned);
        Self { path: shown.to_owned(), id: identify(path), bytes }
    }

    /// Returns the area: the directory below `features/`.
    #[must_use]
    pub fn area(&self) -> &str {
        self.id.rsplit_once("::").map_or("", |(area, _)| area)
    }

    /// Returns the topic: the file's name.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.id.rsplit_once("::").map_or(&*self.id, |(_, topic)| topic)
    }

    /// Checks the bytes and returns them as text: UTF-8, line feeds only, no control characters, limited in size.
    pub(super) fn text(&self) -> Result<Text, Box<Problem>> {
        let whole = |message: String| Box::new(Problem::of_file(&self.path, message));
        let bytes = self.bytes.as_ref().map_err(|why| whole(why.clone()))?;
        if bytes.len() as u64 > BYTES_MAX {
            return Err(whole(too_large(bytes.len() as u64)));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(Box::new(whole("the file is UTF-16".to_owned()).help("save it as UTF-8")));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let decoded = match std::str::from_utf8(bytes) {
            Ok(text) => text.replace("\r\n", "\n"),
            Err(error) => {
                let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]).replace("\r\n", "\n");
                let rest = &bytes[error.valid_up_to()..];
                let line_rest = &rest[..rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()).min(200)];
                let (line, column) = (good.matches('\n').count() + 1, last_line(&good).chars().count() + 1);
                let excerpt = format!("{}{}", last_line(&good), String::from_utf8_lossy(line_rest));
                let message = format!("the byte 0x{:02x} is not UTF-8", rest[0]);
                let file = self.path.clone();
                let problem = Problem { file, line, column, width: 1, message, excerpt, ..Problem::default() };
                return Err(Box::new(problem.help("save the file as UTF-8")));
            }
        };
        let text = Text::new(self, decoded);
        if text.lines.len() > LINES_MAX {
            let message = format!("the file has {} lines, more than the {LINES_MAX} that are read", text.lines.len());
            return Err(Box::new(Problem::of_file(&self.path, message).help("one feature a file")));
        }
        if let Some((line, column, c)) = text.control_character() {
            let problem = text.problem(line, column, 1, format!("the control character U+{:04X}", u32::from(c)));
            let help = if c == '\r' { "end lines with a line feed" } else { "a feature file is plain text" };
            return Err(Box::new(problem.help(help)));
        }
        if text.lines.iter().all(|line| line.trim().is_empty()) {
            return Err(Box::new(
                Problem::of_file(&self.path, "the file is empty").help("a feature file begins with `Feature: …`"),
            ));
        }
        Ok(text)
    }
}

/// The text of a feature file, line by line.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// The file's path.
    pub(super) path: String,
    /// The whole, ending with a line feed.
    pub(super) whole: String,
    /// The lines without line feeds.
    pub(super) lines: Vec<String>,
}

impl Text {
    fn new(source: &Source, mut whole: String) -> Self {
        if !whole.ends_with('\n') {
            whole.push('\n');
        }
        let lines = whole.lines().map(str::to_owned).collect();
        Self { path: source.path.clone(), whole, lines }
    }

    /// Returns a line, counted from 1; empty beyond the end.
    pub(super) fn line(&self, line: usize) -> &str {
        line.checked_sub(1).and_then(|index| self.lines.get(index)).map_or("", String::as_str)
    }

    /// Makes a problem at a place.
    pub(super) fn problem(&self, line: usize, column: usize, width: usize, message: impl Into<String>) -> Problem {
        Problem {
            file: self.path.clone(),
            line,
            column,
            width,
            message: message.into(),
            row: None,
            help: Vec::new(),
            excerpt: self.line(line).to_owned(),
        }
    }

    /// Makes a problem about a whole line.
    pub(super) fn problem_at_line(&self, line: usize, message: impl Into<String>) -> Problem {
        let text = self.line(line);
        let width = text.trim().chars().count();
        self.problem(line, indent(text) + 1, width, message)
    }

    /// Makes a problem about some words of a line, or about the line if they do not stand there.
    pub(super) fn problem_at_words(&self, line: usize, words: &str, message: impl Into<String>) -> Problem {
        match self.line(line).find(words) {
            Some(at) if !words.is_empty() => {
                let column = self.line(line)[..at].chars().count() + 1;
                self.problem(line, column, words.chars().count(), message)
            }
            _ => self.problem_at_line(line, message),
        }
    }

    fn control_character(&self) -> Option<(usize, usize, char)> {
        self.lines.iter().enumerate().find_map(|(index, line)| {
            let (column, c) = line.chars().enumerate().find(|(_, c)| c.is_control() && *c != '\t')?;
            Some((index + 1, column + 1, c))
        })
    }
}

/// Returns how many characters of space begin a line.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}

fn last_line(text: &str) -> &str {
    text.rsplit('\n').next().unwrap_or_default()
}

fn too_large(bytes: u64) -> String {
    format!("the file has {bytes} bytes, more than the {BYTES_MAX} that are read")
}

/// Reads a regular file of limited size. A directory, a pipe or a disk image is refused before it is read.
fn read_limited(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("the file cannot be read: {error}");
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err("this is no file".to_owned());
    }
    if metadata.len() > BYTES_MAX {
        return Err(too_large(metadata.len()));
    }
    std::fs::read(path).map_err(cannot)
}

/// Returns `area::topic` of a path: what stands below `features`, or else its last directory and its name.
#[must_use]
pub fn identify(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let stem = absolute.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let directories: Vec<String> = absolute
        .parent()
        .map(|parent| parent.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect())
        .unwrap_or_default();
    let below = match directories.iter().rposition(|part| part == "features") {
        Some(at) if at + 1 < directories.len() => &directories[at + 1..],
        _ => &directories[directories.len().saturating_sub(1)..],
    };
    let parts = below.iter().map(|part| slug(part)).chain([slug(&stem)]);
    parts.map(|part| if part.is_empty() { "unnamed".to_owned() } else { part }).collect::<Vec<_>>().join("::")
}

/// Finds the feature files of some paths: files, or directories with everything below them.
///
/// A path that does not exist, a file that is no feature and a directory without features are problems.
#[must_use]
pub fn find_sources(paths: &[PathBuf]) -> Sources {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        let shown = path.to_string_lossy();
        if path.is_dir() {
            let before = files.len();
            walk(path, &mut BTreeSet::new(), &mut files, &mut problems);
            if files.len() == before {
                problems.push(
                    Problem::of_file(&shown, "the directory holds no feature files")
                        .help("a feature file ends in `.feature`: features/<area>/<topic>.feature"),
                );
            }
        } else if !path.exists() {
            let problem = Problem::of_file(&shown, "there is no such file or directory");
            let is_place =
                shown.split_once(".feature:").is_some_and(|(file, _)| Path::new(&format!("{file}.feature")).is_file());
            problems.push(match is_place {
                true => problem.help("`nodeproof run FILE:LINE` takes one line, a number; others take whole files"),
                false => problem,
            });
        } else if path.extension().is_none_or(|extension| extension != "feature") {
            problems
                .push(Problem::of_file(&shown, "this is no feature file").help("a feature file ends in `.feature`"));
        } else {
            files.push(path.clone());
        }
    }
    files.sort();
    files.dedup();
    (files.iter().map(|path| Source::read(path, &path.to_string_lossy())).collect(), problems)
}

/// Finds the feature files below a directory. A directory that a link leads to is entered only once.
fn walk(directory: &Path, seen: &mut BTreeSet<PathBuf>, files: &mut Vec<PathBuf>, problems: &mut Vec<Problem>) {
    let place = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    if !seen.insert(place) {
        return;
    }
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) => {
            let shown = directory.to_string_lossy();
            problems.push(Problem::of_file(&shown, format!("the directory cannot be read: {error}")));
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    // A file comes before a link that leads to it.
    paths.sort_by_key(|path| (path.is_symlink(), path.clone()));
    for path in paths {
        if path.is_dir() {
            if !is_of_a_tool(&path) {
                walk(&path, seen, files, problems);
            }
        } else if path.extension().is_some_and(|extension| extension == "feature") {
            files.push(path);
        }
    }
}

/// Tells whether a directory belongs to a tool: hidden, or a cache such as cargo's `target`.
fn is_of_a_tool(directory: &Path) -> bool {
    let is_hidden = directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    is_hidden || directory.join("CACHEDIR.TAG").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(bytes: &[u8]) -> Problem {
        *Source::new("features/a/b.feature", bytes.to_vec()).text().expect_err("a problem")
    }

    #[test]
    fn area_and_topic_are_the_path_below_features() {
        for (path, expected) in [
            ("features/health/unreachable.feature", "health::unreachable"),
            ("/x/features/a/b/C d.feature", "a::b::c_d"),
            ("/x/mine/own.feature", "mine::own"),
            ("/x/features/own.feature", "features::own"),
        ] {
            assert_eq!(identify(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_a_problem_with_its_place() {
        let cases: [(&[u8], &str, (usize, usize)); 7] = [
            (b"", "empty", (0, 0)),
            (b" \n\t\n", "empty", (0, 0)),
            (b"\xff\xfeF\0", "UTF-16", (0, 0)),
            (b"Feature: x\n  \xc3(", "0xc3 is not UTF-8", (2, 3)),
            (b"Feature: x\nab\0", "control character U+0000", (2, 3)),
            (b"Feature: x\rScenario: y\r", "control character U+000D", (1, 11)),
            (b"\x1b[31m", "control character U+001B", (1, 1)),
        ];
        for (bytes, message, place) in cases {
            let problem = problem(bytes);
            assert!(problem.message.contains(message), "{problem}");
            assert_eq!((problem.line, problem.column), place, "{problem}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_windows_line_ends_do_no_harm() {
        let text = Source::new("a/b.feature", b"\xef\xbb\xbfFeature: x\r\nScenario: y\r\n".to_vec()).text().unwrap();
        assert_eq!(text.whole, "Feature: x\nScenario: y\n");
    }

    #[test]
    fn huge_files_are_refused() {
        assert!(problem(&vec![b'a'; 2 << 20]).message.contains("bytes"));
        assert!(problem(&b"x\n".repeat(6_000)).message.contains("lines"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_upwards_ends() {
        let root = std::env::temp_dir().join(format!("nodeproof-links-{}", std::process::id()));
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::write(root.join("a/b.feature"), "Feature: x\n").unwrap();
        std::os::unix::fs::symlink("..", root.join("a/up")).unwrap();
        let (sources, problems) = find_sources(std::slice::from_ref(&root));
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!((sources.len(), problems.len()), (1, 0), "{sources:?} {problems:?}");
    }

    #[test]
    fn a_path_that_is_no_feature_is_a_problem() {
        let (sources, problems) = find_sources(&["no/such".into(), "Cargo.toml".into(), "src/load".into()]);
        assert!(sources.is_empty());
        assert_eq!(problems.len(), 3);
    }
}
