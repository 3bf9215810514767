//! The files of a recording of kubelets.
//!
//! Input: a directory. Outputs: typed lines, or the first mistake with file and line.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use nodeproof_core::network::{Verb, WatchType};
use nodeproof_core::objects::{Json, Object, time};
use nodeproof_core::profile::Release;

use crate::replay::load::{self, LoadError, Micros, text};
use crate::replay::writers::WriteTarget;

/// A line of `watch.jsonl`.
#[derive(Clone, Debug)]
pub(super) struct WatchedLine {
    /// When the observer saw it.
    pub(super) t: Micros,
    /// Whether it is the state before the recording.
    pub(super) initial: bool,
    pub(super) event: WatchType,
    pub(super) kind: String,
    pub(super) object: Object,
    /// The newest field manager.
    pub(super) manager: String,
}

/// A line of `requests.jsonl`.
#[derive(Clone, Debug)]
pub(super) struct RequestLine {
    pub(super) t: Micros,
    pub(super) end: Micros,
    pub(super) user: String,
    pub(super) verb: Verb,
    pub(super) place: WriteTarget,
    pub(super) code: u16,
    pub(super) message: String,
    pub(super) body: Json,
}

/// A line of `verbs.jsonl`.
#[derive(Clone, Debug)]
pub(super) struct VerbLine {
    pub(super) t: Micros,
    pub(super) machine: String,
    /// The whole line: `do`, `call` with `body`, `rule` or `outcome`.
    pub(super) line: Json,
}

/// A machine of `machine.yaml`.
#[derive(Clone, Debug)]
pub(super) struct MachineEntry {
    pub(super) name: String,
    pub(super) node: String,
    /// The body of `POST machines`.
    pub(super) body: Json,
    pub(super) started: Micros,
    /// What was known of a kubelet that ran before the recording.
    pub(super) running: Json,
    /// The instant of the first Node that it wrote.
    pub(super) first_node: Json,
}

/// What `about.yaml` says of any recording of kubelets.
#[derive(Clone, Debug)]
pub(super) struct KubeletAbout {
    pub(super) name: String,
    pub(super) kubernetes: String,
    pub(super) release: Release,
    /// The first node of the list.
    pub(super) node: Option<String>,
    /// All of the file.
    pub(super) about: Json,
}

impl KubeletAbout {
    /// Reads the file of a directory.
    pub(super) fn load(dir: &Path, release: Option<Release>) -> Result<Self, LoadError> {
        let about = yaml(dir, "about.yaml")?;
        let file = dir.join("about.yaml");
        let bad = |why: String| LoadError::BadAbout { file: file.clone(), why };
        let kubernetes = text(&about, "kubernetes").map_err(bad)?.trim_start_matches('v').to_owned();
        let release = match release {
            Some(release) => release,
            None => kubernetes.parse().map_err(|why| LoadError::Release { file: file.clone(), why })?,
        };
        let node = about.get("nodes").items().first().and_then(Json::as_str).map(str::to_owned);
        Ok(Self { name: text(&about, "name").map_err(bad)?, kubernetes, release, node, about })
    }
}

/// Tells whether a directory has a file, plain or packed.
pub(super) fn has(dir: &Path, name: &str) -> bool {
    dir.join(name).is_file() || dir.join(format!("{name}.gz")).is_file()
}

/// A recording of kubelets.
#[derive(Clone, Debug)]
pub(super) struct KubeletRecording {
    pub(super) name: String,
    pub(super) kubernetes: String,
    pub(super) release: Release,
    pub(super) started: Timestamp,
    pub(super) ended: Micros,
    pub(super) machines: Vec<MachineEntry>,
    pub(super) verbs: Vec<VerbLine>,
    pub(super) watch: Vec<WatchedLine>,
    pub(super) requests: Vec<RequestLine>,
    /// The results of starts, if there are any: `case`, and `last words` of a process that did not go on.
    pub(super) results: Vec<Json>,
}

impl KubeletRecording {
    /// Reads the recording of a directory.
    pub(super) fn load(dir: &Path, release: Option<Release>) -> Result<Self, LoadError> {
        let KubeletAbout { name, kubernetes, release, about, .. } = KubeletAbout::load(dir, release)?;
        let machines = yaml(dir, "machine.yaml")?;
        let file = dir.join("about.yaml");
        let bad = |why: String| LoadError::BadAbout { file: file.clone(), why };
        let started = text(&about, "started").map_err(bad)?;
        let started = started.parse().map_err(|_| bad(format!("`started` must be an instant, not {started:?}")))?;
        let place = dir.join("machine.yaml");
        let entries = machines.get("machines").items().iter().map(machine_entry).collect::<Result<Vec<_>, String>>();
        let machines = entries.map_err(|why| LoadError::BadAbout { file: place, why })?;
        Ok(Self {
            name,
            kubernetes,
            release,
            started,
            ended: load::seconds(&about, "seconds").map_err(bad)?,
            machines,
            verbs: load::load_lines(dir, "verbs.jsonl", "verbs.jsonl (or verbs.jsonl.gz)", verb_line)
                .or_else(no_verbs)?,
            watch: load::load_lines(dir, "watch.jsonl", "watch.jsonl (or watch.jsonl.gz)", watched_line)?,
            requests: load::load_lines(dir, "requests.jsonl", "requests.jsonl (or requests.jsonl.gz)", request_line)?,
            results: if has(dir, "results.jsonl") {
                load::load_lines(dir, "results.jsonl", "results.jsonl (or .gz)", |line| Ok(line.clone()))?
            } else {
                Vec::new()
            },
        })
    }

    /// Returns the instant of an offset.
    pub(super) fn at(&self, t: Micros) -> Timestamp {
        self.started + SignedDuration::from_micros(t)
    }

    /// Returns the outcomes of a machine from a verb until something is done to it again.
    pub(super) fn outcomes_of(&self, at: usize) -> impl Iterator<Item = &Json> {
        let machine = self.verbs[at].machine.as_str();
        let later = self.verbs[at + 1..].iter().filter(move |verb| verb.machine == machine);
        later.map(|verb| &verb.line).take_while(|line| line.get("do").is_null()).map(|line| line.get("outcome"))
    }

    /// Returns when something is done to the machine of a verb again.
    pub(super) fn next_act(&self, at: usize) -> Micros {
        let machine = self.verbs[at].machine.as_str();
        let mut later = self.verbs[at + 1..].iter().filter(|verb| verb.machine == machine);
        later.find(|verb| !verb.line.get("do").is_null()).map_or(self.ended, |verb| verb.t)
    }

    /// Returns the last words of the processes that a verb started, if the recording has them.
    pub(super) fn last_words(&self, at: usize) -> &[Json] {
        let note = self.verbs[at].line.get("note").as_str().unwrap_or_default();
        let is_meant = |result: &&Json| result.get("case").as_str().is_some_and(|case| note.ends_with(case));
        self.results.iter().find(is_meant).map_or(&[], |result| result.get("last words").items())
    }

    /// Tells whether a machine's connection was out shortly before an instant.
    pub(super) fn follows_outage(&self, t: Micros) -> bool {
        const SHORTLY: Micros = 15_000_000;
        let mut machines = self.machines.iter();
        machines.any(|entry| outages(self, &entry.name).iter().any(|end| *end <= t && t - end <= SHORTLY))
    }

    /// Returns the offset of an instant, rounded up.
    pub(super) fn offset(&self, at: Timestamp) -> Micros {
        let down = i64::try_from(at.duration_since(self.started).as_micros()).unwrap_or(Micros::MAX);
        if self.at(down) < at { down + 1 } else { down }
    }
}

/// Returns when each outage of a machine's connection ended.
pub(super) fn outages(recording: &KubeletRecording, machine: &str) -> Vec<Micros> {
    let own = recording.verbs.iter().filter(|verb| verb.machine == machine);
    own.filter_map(|verb| {
        let lasts = verb.line.at(&["rule", "for"]).as_str().and_then(time::parse_duration);
        let is_back =
            matches!(verb.line.at(&["do", "action"]).as_str(), Some("network-connect" | "kubelet-thaw" | "resume"));
        let lasts = lasts.and_then(|lasts| i64::try_from(lasts.as_micros()).ok());
        lasts.map(|lasts| verb.t + lasts).or(is_back.then_some(verb.t))
    })
    .collect()
}

/// A recording in which nothing happened to the machine has no such file.
fn no_verbs(error: LoadError) -> Result<Vec<VerbLine>, LoadError> {
    match error {
        LoadError::NotARecording { .. } => Ok(Vec::new()),
        other => Err(other),
    }
}

fn yaml(dir: &Path, name: &'static str) -> Result<Json, LoadError> {
    let file = dir.join(name);
    if !file.is_file() {
        return Err(LoadError::NotARecording { dir: dir.to_owned(), missing: name });
    }
    let text = std::fs::read_to_string(&file).map_err(|why| LoadError::Unreadable { file: file.clone(), why })?;
    let bad = |why: String| LoadError::BadAbout { file: file.clone(), why };
    let value: serde_json::Value = serde_yaml::from_str(&text).map_err(|error| bad(error.to_string()))?;
    Json::parse(&value.to_string()).map_err(|error| bad(error.to_string()))
}

fn machine_entry(entry: &Json) -> Result<MachineEntry, String> {
    Ok(MachineEntry {
        name: text(entry, "name")?,
        node: text(entry, "node")?,
        body: entry.get("body").clone(),
        started: load::seconds(entry, "started")?,
        running: entry.get("running").clone(),
        first_node: entry.get("firstNode").clone(),
    })
}

fn verb_line(json: &Json) -> Result<VerbLine, String> {
    Ok(VerbLine { t: load::seconds(json, "t")?, machine: text(json, "machine")?, line: json.clone() })
}

fn watched_line(json: &Json) -> Result<WatchedLine, String> {
    let word = text(json, "type")?;
    let event = match word.as_str() {
        "INITIAL" | "ADDED" => WatchType::Added,
        "MODIFIED" => WatchType::Modified,
        "DELETED" => WatchType::Deleted,
        other => return Err(format!("`type` must be INITIAL, ADDED, MODIFIED or DELETED, not {other:?}")),
    };
    let kind = text(json, "kind")?;
    let mut object = json.get("object").clone();
    if !object.get("metadata").is_object() {
        return Err("`object` must be an object with metadata".to_owned());
    }
    if object.get("kind").is_null() {
        object.set(&["kind"], kind.as_str());
    }
    Ok(WatchedLine {
        t: load::seconds(json, "t")?,
        initial: word == "INITIAL",
        event,
        kind,
        object: Object::as_received(object),
        manager: json.at(&["writer", "manager"]).as_str().unwrap_or_default().to_owned(),
    })
}

fn request_line(json: &Json) -> Result<RequestLine, String> {
    let t = load::seconds(json, "t")?;
    let verb = text(json, "verb")?;
    let path = text(json, "path")?;
    let code = json.get("code").as_i64().and_then(|code| u16::try_from(code).ok());
    Ok(RequestLine {
        t,
        end: t + load::seconds(json, "took").unwrap_or_default(),
        user: text(json, "user")?,
        verb: Verb::from_name(&verb).ok_or_else(|| format!("`verb` must be one of the API, not {verb:?}"))?,
        place: WriteTarget::parse(&path).ok_or_else(|| format!("`path` must be one of the API, not {path:?}"))?,
        code: code.ok_or("`code` must be an HTTP status code")?,
        message: json.get("message").as_str().unwrap_or_default().to_owned(),
        body: json.get("body").clone(),
    })
}
