//! Reads a directory of exchanges: the lines of the topics, and the objects that each case starts from.
//!
//! Inputs: `TOPIC.jsonl` or `TOPIC.jsonl.gz`; `given.yaml` in the directory or in one of the same release series beside
//! it. Outputs: cases in order of topic and line. A line that is no JSON is an error with file and line.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use nodeproof_core::objects::{Json, WrittenJson};
use nodeproof_core::profile::Release;
use regex::Regex;

use crate::replay::load::LoadError;

static NOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"of (\d+) letters (\w)").expect("a fixed pattern"));
static REPEATED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<the letter (\w) (\d+) times>").expect("a fixed pattern"));
/// The limit of a text that is written out: longer than any body that the server accepts.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;

/// A line of a topic.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) topic: String,
    pub(super) line: Json,
}

/// The contents of a directory.
#[derive(Clone, Debug)]
pub(super) struct Exchanges {
    pub(super) name: String,
    pub(super) release: Release,
    pub(super) given: Vec<Json>,
    pub(super) cases: Vec<Case>,
}

pub(super) fn is_here(dir: &Path) -> bool {
    // A recording of controllers has these files, even if others are missing.
    let has = |name: &str| dir.join(name).is_file() || dir.join(format!("{name}.gz")).is_file();
    !has("about.yaml") && !has("writes.jsonl") && !has("actions.jsonl") && topics(dir).next().is_some()
}

/// Finds the topics' files, in order of their names.
pub(super) fn topics(dir: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<(String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.path();
            let name = path.file_name().and_then(OsStr::to_str)?;
            let topic = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".jsonl.gz"))?;
            Some((topic.to_owned(), path))
        })
        .collect();
    found.sort();
    found.into_iter()
}

impl Exchanges {
    pub(super) fn load(dir: &Path, release: Option<Release>, topic: Option<&str>) -> Result<Self, LoadError> {
        let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let name = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let last = name.rsplit('-').next().unwrap_or_default();
        if release.is_none() && !last.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(LoadError::NotARecording { dir: dir.to_owned(), missing: "about.yaml" });
        }
        let release = match release {
            Some(release) => release,
            None => last.parse().map_err(|why| LoadError::Release { file: dir.to_owned(), why })?,
        };
        let mut cases = Vec::new();
        let mut known = Vec::new();
        for (name, path) in topics(dir) {
            if topic.is_none_or(|topic| topic == name) {
                read_topic(&name, &path, &mut cases)?;
            }
            known.push(name);
        }
        if let Some(topic) = topic.filter(|topic| !known.iter().any(|name| name == topic)) {
            let why = format!("there is no topic {topic:?}; there are {}", known.join(", "));
            return Err(LoadError::BadAbout { file: dir.to_owned(), why });
        }
        Ok(Self { name, release, given: given(&whole)?, cases })
    }
}

fn read(path: &Path) -> Result<String, LoadError> {
    let unreadable = |why| LoadError::Unreadable { file: path.to_owned(), why };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    if path.extension() == Some(OsStr::new("gz")) {
        GzDecoder::new(file).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        file.read_to_string(&mut text).map_err(unreadable)?;
    }
    Ok(text)
}

fn read_topic(topic: &str, path: &Path, cases: &mut Vec<Case>) -> Result<(), LoadError> {
    for (at, text) in read(path)?.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let text = written_out(text);
        let line = match Json::parse(&text) {
            Ok(line) => with_sent_texts(line, &text),
            // A body that is nested deeper than any parser accepts, on purpose: counted, not judged.
            Err(error) if error.to_string().starts_with("recursion limit exceeded") => Json::object(),
            Err(error) => {
                let why = format!("the line is no JSON at column {}", error.column());
                return Err(LoadError::BadLine { file: path.to_owned(), line: at + 1, why });
            }
        };
        cases.push(Case { topic: topic.to_owned(), line });
    }
    Ok(())
}

/// Adds to each request of a line its body as it was written, which a tree does not keep, as `bodySent`.
fn with_sent_texts(mut line: Json, text: &str) -> Json {
    let Some(written) = WrittenJson::parse(text) else { return line };
    add_sent_text(line.entry(&["request"]), written.get("request"));
    if !line.get("given").is_null() {
        let sent = written.get("given").map_or(&[][..], WrittenJson::items);
        for (step, sent) in line.entry(&["given"]).make_array().iter_mut().zip(sent) {
            add_sent_text(step.entry(&["request"]), sent.get("request"));
        }
    }
    if !line.at(&["response", "timeline"]).is_null() {
        let sent = written.get("response").and_then(|response| response.get("timeline"));
        let entries = line.entry(&["response", "timeline"]).make_array();
        for (entry, sent) in entries.iter_mut().zip(sent.map_or(&[][..], WrittenJson::items)) {
            if entry.get("do").is_object() {
                add_sent_text(entry.entry(&["do", "request"]), sent.get("do").and_then(|step| step.get("request")));
            }
        }
    }
    line
}

fn add_sent_text(request: &mut Json, written: Option<&WrittenJson>) {
    if let Some(body) = written.and_then(|request| request.get("body")) {
        request.set(&["bodySent"], body.to_string());
    } else if let Some(found) = NOTED.captures(request.get("bodyNote").as_str().unwrap_or_default()) {
        let count = found[1].parse::<usize>().unwrap_or(0).min(LONGEST_TEXT);
        let mut object = Json::object();
        object.set(&["metadata", "annotations", "a"], found[2].repeat(count));
        request.set(&["bodySent"], object.to_string());
    }
}

/// Expands abbreviations of a recording, as `<the letter x 262144 times>`.
fn written_out(text: &str) -> std::borrow::Cow<'_, str> {
    REPEATED.replace_all(text, |found: &regex::Captures<'_>| {
        found[1].repeat(found[2].parse::<usize>().unwrap_or(0).min(LONGEST_TEXT))
    })
}

/// Reads the objects of `given.yaml`; a directory with the differences of a release uses that of its series.
fn given(dir: &Path) -> Result<Vec<Json>, LoadError> {
    let series = dir.file_name().and_then(OsStr::to_str).and_then(|name| name.rsplit_once('-')).map(|(name, _)| name);
    let mut places = vec![dir.join("given.yaml")];
    let beside = dir.parent().and_then(|parent| std::fs::read_dir(parent).ok());
    let mut others: Vec<PathBuf> = beside
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            name.to_str().and_then(|name| name.rsplit_once('-')).map(|(name, _)| name) == series
        })
        .map(|entry| entry.path().join("given.yaml"))
        .collect();
    others.sort();
    places.extend(others);
    let Some(file) = places.into_iter().find(|path| path.is_file()) else { return Ok(Vec::new()) };
    let bad = |why: String| LoadError::BadAbout { file: file.clone(), why };
    let list: serde_json::Value = serde_yaml::from_str(&read(&file)?).map_err(|error| bad(error.to_string()))?;
    let list = Json::parse(&list.to_string()).map_err(|error| bad(error.to_string()))?;
    Ok(list.get("items").items().to_vec())
}
