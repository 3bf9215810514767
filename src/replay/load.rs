//! Reads the files of a recording: `about.yaml`, `watch.jsonl`, `writes.jsonl`, `actions.jsonl`, each also as `.gz`.
//!
//! Input: a directory. Outputs: typed lines in the order of the files, or the first mistake with file and line.
//! Invariant: an invalid line is an error and is never skipped. `log.jsonl` and `summary.md` are for people and not
//! read.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::WatchType;
use nodeproof_core::objects::{Json, Object};
use nodeproof_core::profile::{Release, UnknownRelease};
use serde::Deserialize;

use super::watched;

/// Microseconds since the beginning of a recording: the unit of recorded instants.
pub type Micros = i64;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The directory holds no recording.
    #[error("{dir} is not a recording: {why}", dir = dir.display(), why = why_not(dir, missing))]
    NotARecording {
        /// The directory.
        dir: PathBuf,
        /// The file that is missing.
        missing: &'static str,
    },
    /// The watches of the recording delivered nothing.
    #[error("{dir}: watch.jsonl holds no line, so there is nothing to replay: copy the recording again",
        dir = dir.display())]
    Empty {
        /// The directory.
        dir: PathBuf,
    },
    /// A file cannot be read.
    #[error("{file}: {why}", file = file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        why: std::io::Error,
    },
    /// A line is not valid.
    #[error("{file}:{line}: {why}", file = file.display())]
    BadLine {
        /// The file.
        file: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// What is wrong, and what to do about it.
        why: String,
    },
    /// `about.yaml` is not valid.
    #[error("{file}: {why}", file = file.display())]
    BadAbout {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The release is not modelled.
    #[error("{file}: {why}; `--k8s` replays it under another release", file = file.display())]
    Release {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: UnknownRelease,
    },
}

/// The source of the writes of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteSource {
    /// The API server's audit log: the user of each request, refused requests included.
    #[default]
    Audit,
    /// The watches: the changes, as far as they show the writer.
    Watch,
}

/// The contents of `about.yaml`.
#[derive(Clone, Debug)]
pub struct About {
    /// The recording's name.
    pub name: String,
    /// The release as it is written, as `1.34.4`.
    pub kubernetes: String,
    /// The release of the profile to replay under.
    pub release: Release,
    /// The instant that all times count from.
    pub started: Timestamp,
    /// When the recording ended.
    pub ended: Micros,
    /// The flags of each component.
    pub flags: BTreeMap<String, Vec<String>>,
    /// The source of the writes.
    pub writes: WriteSource,
    /// The starts of health passes that the controller manager logged.
    pub health_passes_seen: Vec<Micros>,
    /// The starts of the passes of the pod garbage collector, as it logged them.
    pub podgc_passes: Vec<Micros>,
}

/// A line of `watch.jsonl`.
#[derive(Clone, Debug)]
pub struct WatchLine {
    /// When the recorder had parsed the event.
    pub t: Micros,
    /// Whether the object was there before the recording began.
    pub listed: bool,
    /// How it changed (`Added` for a listed one).
    pub event: WatchType,
    /// The object's kind, as `Node`.
    pub kind: String,
    /// The object.
    pub object: Object,
    /// The writer: `kubelet/worker-1`, `ttl-controller`; empty if it is not known.
    pub actor: String,
    /// The verb of the write.
    pub verb: String,
    /// Its subresource.
    pub subresource: String,
    /// The field manager that wrote, and its subresource; empty if managedFields do not show it.
    pub manager: (String, String),
}

/// A line of `writes.jsonl`.
#[derive(Clone, Debug)]
pub struct WriteLine {
    /// When the server received the request.
    pub t: Micros,
    /// When it had answered.
    pub end: Micros,
    /// The user, as `system:serviceaccount:kube-system:ttl-controller`.
    pub user: String,
    /// The verb.
    pub verb: String,
    /// Path and query.
    pub uri: String,
    /// The code of the answer.
    pub code: u16,
    /// The revision that the write made; 0 where it is not recorded.
    pub resource_version: u64,
    /// The body, as far as it is recorded.
    pub body: Json,
    /// The message of a refusal.
    pub message: String,
}

/// A line of `actions.jsonl`.
#[derive(Clone, Debug)]
pub struct ActionLine {
    /// When it was sent.
    pub t: Micros,
    /// The sender: `kubelet/worker-1`, `user`, `cloud`, `operator`.
    pub actor: String,
    /// The action, as `renew-lease`.
    pub action: String,
    /// What the script says about it.
    pub note: String,
    /// Method, path and body of the request; `Null` for compact lines.
    pub request: Json,
    /// The answer; `Null` for compact lines.
    pub response: Json,
}

/// A recording as its files contain it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its description.
    pub about: About,
    /// What the watches delivered.
    pub watch: Vec<WatchLine>,
    /// What controllers and the scheduler wrote and read.
    pub writes: Vec<WriteLine>,
    /// The actions of the script.
    pub actions: Vec<ActionLine>,
}

impl ActionLine {
    /// Returns when the request was answered; when it was sent, if the answer is not recorded.
    #[must_use]
    pub fn answered(&self) -> Micros {
        seconds(&self.response, "t").unwrap_or(self.t)
    }
}

impl Recording {
    /// Reads the recording of a directory, under its own release or under `release`.
    ///
    /// # Errors
    /// The directory holds no recording, or a file is not valid: the first mistake.
    pub fn load(dir: &Path, release: Option<Release>) -> Result<Self, LoadError> {
        let about = load_about(dir, release)?;
        let watch = load_lines(dir, "watch.jsonl", "watch.jsonl (or watch.jsonl.gz)", watch_line)?;
        let writes = load_lines(dir, "writes.jsonl", "writes.jsonl (or writes.jsonl.gz)", write_line)?;
        let actions = load_lines(dir, "actions.jsonl", "actions.jsonl (or actions.jsonl.gz)", action_line)?;
        Self::of(dir, about, watch, writes, actions)
    }

    /// Reads a recording from the texts of its files.
    ///
    /// # Errors
    /// A text is not valid: the first mistake.
    pub fn parse(about: &str, watch: &[u8], writes: &[u8], actions: &[u8]) -> Result<Self, LoadError> {
        let about = read_about(Path::new("about.yaml"), about, None)?;
        let watch = read_lines(Path::new("watch.jsonl"), watch, watch_line)?;
        let writes = read_lines(Path::new("writes.jsonl"), writes, write_line)?;
        let actions = read_lines(Path::new("actions.jsonl"), actions, action_line)?;
        Self::of(Path::new("the recording"), about, watch, writes, actions)
    }

    fn of(
        dir: &Path,
        mut about: About,
        watch: Vec<WatchLine>,
        mut writes: Vec<WriteLine>,
        actions: Vec<ActionLine>,
    ) -> Result<Self, LoadError> {
        if about.writes == WriteSource::Watch {
            writes = watched::writes(&watch);
        }
        if watch.is_empty() {
            return Err(LoadError::Empty { dir: dir.to_owned() });
        }
        if about.ended == 0 {
            let ends = writes.iter().map(|line: &WriteLine| line.end.max(line.t));
            about.ended = ends.chain(watch.iter().map(|line: &WatchLine| line.t)).max().unwrap_or(0);
        }
        Ok(Self { about, watch, writes, actions })
    }

    /// Returns the instant of an offset.
    #[must_use]
    pub fn at(&self, t: Micros) -> Timestamp {
        self.about.started + SignedDuration::from_micros(t)
    }

    /// Returns the offset of an instant, rounded up, so that a deadline at the instant has been reached.
    #[must_use]
    pub fn offset_after(&self, at: Timestamp) -> Micros {
        let down = self.offset(at);
        if self.at(down) < at { down + 1 } else { down }
    }

    /// Returns the offset of an instant.
    #[must_use]
    pub fn offset(&self, at: Timestamp) -> Micros {
        i64::try_from(at.duration_since(self.about.started).as_micros()).unwrap_or(Micros::MAX)
    }
}

#[derive(Deserialize)]
struct AboutFile {
    name: String,
    kubernetes: serde_yaml::Value,
    started: String,
    #[serde(default)]
    ended: f64,
    #[serde(default)]
    flags: BTreeMap<String, Option<Vec<String>>>,
    #[serde(default)]
    writes: WriteSource,
    #[serde(default, rename = "healthPassesSeen")]
    health_passes_seen: Vec<f64>,
    #[serde(default, rename = "podgcPasses")]
    podgc_passes: Vec<f64>,
}

fn load_about(dir: &Path, release: Option<Release>) -> Result<About, LoadError> {
    let file = dir.join("about.yaml");
    if !file.is_file() {
        return Err(LoadError::NotARecording { dir: dir.to_owned(), missing: "about.yaml" });
    }
    let text = std::fs::read_to_string(&file).map_err(|why| LoadError::Unreadable { file: file.clone(), why })?;
    read_about(&file, &text, release)
}

fn read_about(file: &Path, text: &str, release: Option<Release>) -> Result<About, LoadError> {
    let bad = |why: String| LoadError::BadAbout { file: file.to_owned(), why };
    let about: AboutFile = serde_yaml::from_str(text).map_err(|error| bad(error.to_string()))?;
    let kubernetes = match about.kubernetes {
        serde_yaml::Value::String(text) => text,
        serde_yaml::Value::Number(number) => number.to_string(),
        _ => return Err(bad("`kubernetes` must be a release, as 1.34.4".to_owned())),
    };
    let release = match release {
        Some(release) => release,
        None => kubernetes
            .trim_start_matches('v')
            .parse()
            .map_err(|why| LoadError::Release { file: file.to_owned(), why })?,
    };
    let started: Timestamp = about.started.parse().map_err(|_| {
        bad(format!("`started` must be an instant, as 2026-01-01T00:00:00.000000Z, not {:?}", about.started))
    })?;
    let is_far = |seconds: &f64| !(-FARTHEST..=FARTHEST).contains(&micros(*seconds));
    if [about.ended].iter().chain(&about.health_passes_seen).any(is_far) {
        return Err(bad("`ended` and `healthPassesSeen` must be seconds since the start".to_owned()));
    }
    let farthest = SignedDuration::from_micros(2 * FARTHEST);
    if started.checked_add(farthest).and(started.checked_sub(farthest)).is_err() {
        return Err(bad(format!("`started` must be an instant of these times, not {:?}", about.started)));
    }
    Ok(About {
        name: about.name,
        kubernetes,
        release,
        started,
        ended: micros(about.ended),
        flags: about.flags.into_iter().map(|(component, flags)| (component, flags.unwrap_or_default())).collect(),
        writes: about.writes,
        health_passes_seen: about.health_passes_seen.into_iter().map(micros).collect(),
        podgc_passes: about.podgc_passes.into_iter().map(micros).collect(),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a recording lasts hours, not 290,000 years")]
fn micros(seconds: f64) -> Micros {
    (seconds * 1e6).round() as Micros
}

/// Opens a plain or a packed file.
fn open(dir: &Path, name: &str, missing: &'static str) -> Result<(PathBuf, Box<dyn Read>), LoadError> {
    let plain = dir.join(name);
    let packed = dir.join(format!("{name}.gz"));
    let open = |file: &Path| File::open(file).map_err(|why| LoadError::Unreadable { file: file.to_owned(), why });
    if plain.is_file() {
        Ok((plain.clone(), Box::new(open(&plain)?)))
    } else if packed.is_file() {
        Ok((packed.clone(), Box::new(GzDecoder::new(open(&packed)?))))
    } else {
        Err(LoadError::NotARecording { dir: dir.to_owned(), missing })
    }
}

pub(super) fn load_lines<T>(
    dir: &Path,
    name: &str,
    missing: &'static str,
    read: fn(&Json) -> Result<T, String>,
) -> Result<Vec<T>, LoadError> {
    let (file, reader) = open(dir, name, missing)?;
    read_lines(&file, reader, read)
}

fn read_lines<T>(file: &Path, reader: impl Read, read: fn(&Json) -> Result<T, String>) -> Result<Vec<T>, LoadError> {
    let mut reader = BufReader::new(reader);
    let mut lines = Vec::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes).map_err(|why| bad_read(file, line, why))?;
        if length == 0 {
            break;
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let bad = |why: String| LoadError::BadLine { file: file.to_owned(), line, why };
        let text =
            std::str::from_utf8(&bytes).map_err(|_| bad("the line is not UTF-8: copy the file again".to_owned()))?;
        let json = Json::parse(text).map_err(|error| bad(explain(&error)))?;
        lines.push(read(&json).map_err(bad)?);
    }
    Ok(lines)
}

fn bad_read(file: &Path, line: usize, why: std::io::Error) -> LoadError {
    match why.kind() {
        std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
            LoadError::BadLine {
                file: file.to_owned(),
                line,
                why: format!("{why}: the packed file is damaged or cut off, copy it again"),
            }
        }
        _ => LoadError::Unreadable { file: file.to_owned(), why },
    }
}

fn explain(error: &serde_json::Error) -> String {
    if error.is_eof() {
        "the line is cut off: copy the file again, or delete the line if the recording was interrupted there".to_owned()
    } else {
        format!("the line is no JSON at column {}: {error}", error.column())
    }
}

/// How far from its start a recorded instant may be: 30 years, so that sums of instants do not overflow.
const FARTHEST: Micros = 1_000_000_000_000_000;

pub(super) fn seconds(json: &Json, field: &str) -> Result<Micros, String> {
    let found = match json.get(field) {
        Json::Int(seconds) => Some(seconds.saturating_mul(1_000_000)),
        Json::Float(seconds) => Some(micros(*seconds)),
        _ => None,
    };
    let found = found.filter(|t| (-FARTHEST..=FARTHEST).contains(t));
    found.ok_or_else(|| format!("`{field}` must be seconds since the start, not {}", json.get(field)))
}

pub(super) fn text(json: &Json, field: &str) -> Result<String, String> {
    json.get(field).as_str().map(str::to_owned).ok_or_else(|| format!("`{field}` is missing or no text"))
}

fn optional(json: &Json, path: &[&str]) -> String {
    json.at(path).as_str().unwrap_or_default().to_owned()
}

fn watch_line(json: &Json) -> Result<WatchLine, String> {
    let word = text(json, "type")?;
    let event = match word.as_str() {
        "LISTED" | "ADDED" => WatchType::Added,
        "MODIFIED" => WatchType::Modified,
        "DELETED" => WatchType::Deleted,
        "INITIAL" => return Err("INITIAL stands in recordings of kubelets: give one of a control plane".to_owned()),
        other => return Err(format!("`type` must be LISTED, ADDED, MODIFIED or DELETED, not {other:?}")),
    };
    let kind = text(json, "kind")?;
    let mut object = json.get("object").clone();
    if !object.at(&["metadata"]).is_object() {
        return Err("`object` must be an object with metadata".to_owned());
    }
    if object.get("kind").is_null() {
        object.set(&["kind"], kind.as_str());
    }
    Ok(WatchLine {
        t: seconds(json, "t")?,
        listed: word == "LISTED",
        event,
        kind,
        object: Object::as_received(object),
        actor: optional(json, &["by", "actor"]),
        verb: optional(json, &["by", "verb"]),
        subresource: optional(json, &["by", "subresource"]),
        manager: (optional(json, &["writer", "manager"]), optional(json, &["writer", "subresource"])),
    })
}

fn write_line(json: &Json) -> Result<WriteLine, String> {
    let t = seconds(json, "t")?;
    let end = if json.get("end").is_null() { t } else { seconds(json, "end")? };
    let code = json
        .get("code")
        .as_i64()
        .and_then(|code| u16::try_from(code).ok())
        .ok_or("`code` must be an HTTP status code")?;
    Ok(WriteLine {
        t,
        end,
        user: text(json, "user")?,
        verb: text(json, "verb")?,
        uri: text(json, "uri")?,
        code,
        resource_version: json.get("resourceVersion").as_str().and_then(|text| text.parse().ok()).unwrap_or(0),
        body: json.get("body").clone(),
        message: optional(json, &["message"]),
    })
}

fn action_line(json: &Json) -> Result<ActionLine, String> {
    Ok(ActionLine {
        t: seconds(json, "t")?,
        actor: text(json, "actor")?,
        action: text(json, "do")?,
        note: optional(json, &["note"]),
        request: json.get("request").clone(),
        response: json.get("response").clone(),
    })
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (Kubernetes {})", self.about.name, self.about.kubernetes)
    }
}

/// Says why a place is no recording, and what would be one.
fn why_not(dir: &Path, missing: &str) -> String {
    let below = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = below(dir).flat_map(|path| below(&path).chain([path])).filter(|path| path.join("about.yaml").exists());
    match found.min().filter(|_| missing == "about.yaml") {
        _ if !dir.is_dir() => "no directory is there".to_owned(),
        Some(path) => format!("it has no {missing}, but holds others, as {}", path.display()),
        None => {
            format!("it has no {missing}; a recording holds about.yaml, watch.jsonl, writes.jsonl and actions.jsonl")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};

    use super::{LoadError, Recording};

    const ABOUT: &str = "name: tiny\nkubernetes: 1.34.4\nstarted: '2026-01-01T00:00:00Z'\nended: 9.5\n";

    fn dir(name: &str, about: &str, watch: &[u8]) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("nodeproof-load-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("about.yaml"), about).unwrap();
        std::fs::write(dir.join("watch.jsonl"), watch).unwrap();
        std::fs::write(dir.join("writes.jsonl"), "").unwrap();
        std::fs::write(dir.join("actions.jsonl"), "{\"t\":1,\"actor\":\"user\",\"do\":\"stop\"}\n").unwrap();
        dir
    }

    fn failure(name: &str, about: &str, watch: &[u8]) -> String {
        let dir = dir(name, about, watch);
        let error = Recording::load(&dir, None).unwrap_err().to_string();
        std::fs::remove_dir_all(&dir).unwrap();
        error.replace(&*dir.to_string_lossy(), "DIR")
    }

    #[test]
    fn a_mistake_is_told_with_file_and_line_and_what_to_do() {
        let good = br#"{"t":1,"type":"ADDED","kind":"Node","object":{"metadata":{"name":"n"}}}"#;
        let lines = |tail: &[u8]| [good.as_slice(), b"\n", tail].concat();
        let cases: [(&str, &str, Vec<u8>, &str); 6] = [
            ("cut", ABOUT, lines(br#"{"t":2,"type":"ADD"#), "DIR/watch.jsonl:2: the line is cut off"),
            ("broken", ABOUT, lines(b"{nonsense}\n"), "DIR/watch.jsonl:2: the line is no JSON at column 2"),
            ("type", ABOUT, lines(br#"{"t":2,"type":"GONE","kind":"Node","object":{}}"#), "not \"GONE\""),
            ("bytes", ABOUT, lines(b"\xff\xfe\n"), "DIR/watch.jsonl:2: the line is not UTF-8"),
            (
                "release",
                "name: x\nkubernetes: 1.99.0\nstarted: '2026-01-01T00:00:00Z'\n",
                Vec::new(),
                "no profile for Kubernetes \"1.99.0\"",
            ),
            ("yaml", "name: [\n", Vec::new(), "DIR/about.yaml: "),
        ];
        for (name, about, watch, expected) in cases {
            let error = failure(name, about, &watch);
            assert!(error.contains(expected), "{name}: {error}");
        }
    }

    #[test]
    fn a_directory_without_the_files_is_named() {
        let error = Recording::load(&std::env::temp_dir().join("nodeproof-nowhere"), None).unwrap_err();
        assert!(matches!(error, LoadError::NotARecording { missing: "about.yaml", .. }), "{error}");
        assert!(error.to_string().ends_with("nodeproof-nowhere is not a recording: no directory is there"), "{error}");
        let why = |path: &str| Recording::load(Path::new(path), None).unwrap_err().to_string();
        assert_eq!(why("Cargo.toml"), "Cargo.toml is not a recording: no directory is there");
        let found = why("fixtures/recorded");
        assert!(found.contains("it has no about.yaml, but holds others, as fixtures/recorded/1.31.0/"), "{found}");
        let other = why("features");
        assert!(other.contains("it has no about.yaml; a recording holds about.yaml, watch"), "{other}");
    }

    #[test]
    fn packed_files_read_like_plain_ones() {
        let dir = dir("packed", ABOUT, b"\n");
        assert!(Recording::load(&dir, None).unwrap_err().to_string().contains("nothing to replay"));
        let line = b"{\"t\":0.5,\"type\":\"LISTED\",\"kind\":\"Node\",\
            \"object\":{\"metadata\":{\"name\":\"n\",\"resourceVersion\":\"7\"}}}\n";
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(line).unwrap();
        std::fs::remove_file(dir.join("watch.jsonl")).unwrap();
        let packed = packer.finish().unwrap();
        std::fs::write(dir.join("watch.jsonl.gz"), &packed).unwrap();
        let recording = Recording::load(&dir, None).unwrap();
        assert_eq!(
            (recording.watch.len(), recording.watch[0].t, recording.watch[0].object.resource_version()),
            (1, 500_000, 7)
        );
        std::fs::write(dir.join("watch.jsonl.gz"), &packed[..packed.len() - 9]).unwrap();
        let error = Recording::load(&dir, None).unwrap_err().to_string();
        assert!(error.contains("cut off"), "{error}");
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
