//! Compares an answer with the recorded one, except for ids, resourceVersions and instants.
//!
//! Inputs: the two answers to each request of a case. Outputs: differences. State: pairs of recorded and own ids, built
//! while a case runs; where the recorded side repeats an id, the model must repeat its own. Instants that a request of
//! the case has named must be equal. Not compared are: the order of causes over a map's keys, which the real server
//! does not fix; cells of tables that show an instant as the time since; and how a server was built, as `/version`
//! reports it. Answers in YAML are compared by their content.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use nodeproof_core::objects::schema::Schema;
use nodeproof_core::objects::{Json, base64, protobuf};
use regex::Regex;
use std::sync::LazyLock;

use super::report::AnswerDifference;

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|",
        r"kube-api-access-[a-z0-9]{5}|",
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z|\d+"
    ))
    .expect("a fixed pattern")
});

static AGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?<before>^|\()\d+[smhdy](?:\d+[smhd])?(?<after>$| ago\))").expect("a fixed pattern")
});

/// Numbers from this one on may be revisions of the recorded store.
const LEAST_REVISION: usize = 1000;

/// How many characters the server adds to a generated name.
const GENERATED: usize = 5;

/// Reads an answer in YAML, without the fields that recordings of JSON leave out too; `None` if it has another form.
fn read_yaml(answer: &Json) -> Option<Json> {
    let is_yaml = answer.at(&["headers", "Content-Type"]).as_str() == Some("application/yaml");
    let text = answer.get("bodyText").as_str().filter(|_| is_yaml)?;
    let value: serde_json::Value = serde_yaml::from_str(text).ok()?;
    let mut body = Json::parse(&value.to_string()).ok()?;
    body.remove(&["metadata", "managedFields"]);
    if !body.get("items").is_null() {
        for item in body.entry(&["items"]).make_array() {
            item.remove(&["metadata", "managedFields"]);
        }
    }
    Some(body)
}

/// Reads an answer in protobuf; `None` if it has another form.
fn read_protobuf(answer: &Json) -> Option<Json> {
    let bytes = base64::decode(answer.get("bodyBase64").as_str()?)?;
    protobuf::decode(&bytes, None).ok()
}

/// Pairs of recorded and own values.
#[derive(Debug, Default)]
struct Pairs {
    to_sim: BTreeMap<String, String>,
    to_real: BTreeMap<String, String>,
}

impl Pairs {
    fn knows(&self, real: &str, sim: &str) -> bool {
        self.to_sim.contains_key(real) || self.to_real.contains_key(sim)
    }

    /// Tells whether two values are a pair, and pairs them if neither has a partner.
    fn unite(&mut self, real: &str, sim: &str) -> bool {
        if self.knows(real, sim) {
            return self.to_sim.get(real).is_some_and(|partner| partner == sim);
        }
        self.to_sim.insert(real.to_owned(), sim.to_owned());
        self.to_real.insert(sim.to_owned(), real.to_owned());
        true
    }
}

/// The comparison of one case.
#[derive(Debug)]
pub(super) struct Comparison {
    /// All requests of the case as text: values that they contain must be equal.
    sent: String,
    /// Instants that the real server set before any request contained them: clients may send them back.
    set_by_server: BTreeSet<String>,
    uids: Pairs,
    versions: Pairs,
    names: Pairs,
    found: Vec<(String, Json, Json)>,
    schema: Schema,
}

impl Comparison {
    pub(super) fn of(line: &Json, schema: Schema) -> Self {
        let mut sent = String::new();
        let mut set_by_server = BTreeSet::new();
        for step in line.get("given").items() {
            sent.push_str(&step.get("request").to_string());
            let answer = step.get("response").to_string();
            let times = TOKEN.find_iter(&answer).map(|found| found.as_str()).filter(|text| text.contains('T'));
            set_by_server.extend(times.filter(|text| !sent.contains(text)).map(str::to_owned));
        }
        sent.push_str(&line.get("request").to_string());
        for entry in line.at(&["response", "timeline"]).items() {
            sent.push_str(&entry.at(&["do", "request"]).to_string());
        }
        let (uids, versions, names) = (Pairs::default(), Pairs::default(), Pairs::default());
        Self { sent, set_by_server, uids, versions, names, found: Vec::new(), schema }
    }

    pub(super) fn finish(self, topic: &str, name: &str) -> Vec<AnswerDifference> {
        let make = |(path, real, sim)| AnswerDifference {
            topic: topic.to_owned(),
            name: name.to_owned(),
            path,
            real,
            sim,
            ledger: None,
        };
        self.found.into_iter().map(make).collect()
    }

    pub(super) fn only_real(&mut self, path: &str, real: &Json) {
        self.found.push((path.to_owned(), real.clone(), Json::Null));
    }

    pub(super) fn only_sim(&mut self, path: &str, sim: &Json) {
        self.found.push((path.to_owned(), Json::Null, sim.clone()));
    }

    /// Pairs the ids of a step that prepares a case; a code that differs is a difference.
    pub(super) fn bind(&mut self, path: &str, real: &Json, sim: &Json) {
        let before = self.found.len();
        self.body(path, real.get("body"), sim.get("body"));
        self.found.truncate(before);
        self.code(path, real, sim);
    }

    pub(super) fn code(&mut self, path: &str, real: &Json, sim: &Json) {
        if real.get("code") != sim.get("code") {
            let shown = |answer: &Json| match answer.at(&["body", "message"]) {
                Json::Null => answer.get("code").clone(),
                message => Json::text(format!("{} {message}", answer.get("code"))),
            };
            self.found.push((join(path, "code"), shown(real), shown(sim)));
        }
    }

    /// Compares code, relevant headers and body.
    pub(super) fn answer(&mut self, path: &str, real: &Json, sim: &Json) {
        self.code(path, real, sim);
        let warnings = |answer: &Json| {
            let mut list = match answer.at(&["headers", "Warning"]) {
                Json::Null => Vec::new(),
                Json::Array(items) => items.to_vec(),
                one => vec![one.clone()],
            };
            list.sort_by_key(ToString::to_string);
            list
        };
        let (theirs, ours) = (warnings(real), warnings(sim));
        if theirs != ours {
            self.found.push((join(path, "headers.Warning"), Json::array(theirs), Json::array(ours)));
        }
        let retry = |answer: &Json| answer.at(&["headers", "Retry-After"]).clone();
        if retry(real) != retry(sim) {
            self.found.push((join(path, "headers.Retry-After"), retry(real), retry(sim)));
        }
        // Whether there is a hash, not which: it is that of all groups, of which the model has a part.
        let hash = |answer: &Json| !answer.at(&["headers", "Etag"]).is_null();
        let is_document = real.at(&["headers", "Accept-Ranges"]).is_null();
        if is_document && hash(real) != hash(sim) {
            let told = |answer: &Json| answer.at(&["headers", "Etag"]).clone();
            self.found.push((join(path, "headers.Etag"), told(real), told(sim)));
        }
        if !real.get("bodyOmitted").is_null() {
            return;
        }
        if let (Some(theirs), Some(ours)) = (read_yaml(real), read_yaml(sim)) {
            return self.body(path, &theirs, &ours);
        }
        if let (Some(theirs), Some(ours)) = (read_protobuf(real), read_protobuf(sim)) {
            return self.protobuf(path, real, (&theirs, &ours));
        }
        if real.get("itemsReducedToNames").is_null() {
            self.body(path, real.get("body"), sim.get("body"));
        } else {
            let names = |answer: &Json| -> Json {
                let items = answer.at(&["body", "items"]).items();
                items.iter().map(|item| item.at(&["metadata", "name"]).clone()).collect()
            };
            self.body(&join(path, "items"), &names(real), &names(sim));
        }
        for form in ["bodyText", "bodyBase64"] {
            if real.get(form) != sim.get(form) {
                self.found.push((join(path, form), real.get(form).clone(), sim.get(form).clone()));
            }
        }
    }

    /// Compares answers in protobuf: what they hold, and whether the model writes the real content in the real bytes.
    fn protobuf(&mut self, path: &str, real: &Json, (theirs, ours): (&Json, &Json)) {
        self.body(path, theirs, ours);
        let again = protobuf::encode(&self.schema, theirs).map(|bytes| base64::encode(&bytes));
        if again.as_deref() != real.get("bodyBase64").as_str() {
            self.found.push((
                join(path, "bodyBase64"),
                real.get("bodyBase64").clone(),
                again.map(Json::from).unwrap_or_default(),
            ));
        }
    }

    /// Compares a body, or an event of a watch.
    pub(super) fn body(&mut self, path: &str, real: &Json, sim: &Json) {
        for place in [["metadata", "name"], ["details", "name"]] {
            if let (Some(name), Some(own)) = (real.at(&place).as_str(), sim.at(&place).as_str())
                && self.is_generated(name)
                && self.is_generated(own)
            {
                self.names.unite(name, own);
            }
        }
        self.value(path, real, sim);
    }

    /// Tells whether a name is one that the server generated from a prefix in the case.
    fn is_generated(&self, name: &str) -> bool {
        let base = name.len().checked_sub(GENERATED).and_then(|length| name.get(..length));
        base.is_some_and(|base| self.sent.contains(&format!("\"generateName\":\"{base}")))
    }

    /// Replaces the recorded generated names by those of this run.
    pub(super) fn translated(&self, request: &Json) -> Json {
        let mut text = request.to_string();
        for (real, own) in &self.names.to_sim {
            text = text.replace(real, own);
        }
        Json::parse(&text).unwrap_or_else(|_| request.clone())
    }

    fn value(&mut self, path: &str, real: &Json, sim: &Json) {
        match (real, sim) {
            (Json::Object(_), Json::Object(_)) => {
                let is_list = real.get("kind").as_str().is_some_and(|kind| kind.ends_with("List"));
                let mut names: Vec<&str> = real.fields().map(|(name, _)| name.as_str()).collect();
                names.extend(sim.fields().map(|(name, _)| name.as_str()));
                names.sort_unstable();
                names.dedup();
                let absent = |side: &Json, name: &str| !side.fields().any(|(own, _)| *own == *name);
                let is_of_the_build = |name: &str| {
                    !real.get("gitVersion").is_null() && ["gitCommit", "buildDate", "goVersion"].contains(&name)
                };
                for name in names.into_iter().filter(|name| !is_of_the_build(name)) {
                    let place = join(path, name);
                    match name {
                        // The recorder left them out where the case is not about them.
                        "managedFields" if absent(real, name) => {}
                        _ if absent(real, name) || absent(sim, name) => {
                            let shown = |side: &Json| {
                                if absent(side, name) { Json::Null } else { printed(side.get(name)) }
                            };
                            let (theirs, ours) = (shown(real), shown(sim));
                            self.found.push((place, theirs, ours));
                        }
                        "metadata" if is_list => self.list_metadata(&place, real.get(name), sim.get(name)),
                        "causes" => self.causes(&place, real.get(name), sim.get(name)),
                        _ => self.value(&place, real.get(name), sim.get(name)),
                    }
                }
            }
            (Json::Array(theirs), Json::Array(ours)) => {
                for (at, pair) in theirs.iter().zip(ours.iter()).enumerate() {
                    self.value(&format!("{path}[{at}]"), pair.0, pair.1);
                }
                if theirs.len() > ours.len() {
                    self.only_real(&format!("{path}[{}]", ours.len()), &theirs[ours.len()]);
                } else if ours.len() > theirs.len() {
                    self.only_sim(&format!("{path}[{}]", theirs.len()), &ours[theirs.len()]);
                }
            }
            (Json::Str(theirs), Json::Str(ours)) if self.same_text(path, theirs, ours) => {}
            _ if real != sim => self.found.push((path.to_owned(), printed(real), printed(sim))),
            _ => {}
        }
    }

    /// Compares the metadata of a list: its revision is that of the whole store, and its token is not compared.
    fn list_metadata(&mut self, path: &str, real: &Json, sim: &Json) {
        let shape = |metadata: &Json| {
            let mut shape = metadata.clone();
            for field in ["resourceVersion", "continue"] {
                if shape.get(field).as_str().is_some_and(|text| !text.is_empty()) {
                    shape.set(&[field], "given");
                }
            }
            shape
        };
        self.value(path, &shape(real), &shape(sim));
    }

    fn causes(&mut self, path: &str, real: &Json, sim: &Json) {
        let sorted = |list: &Json| {
            let mut items = list.items().to_vec();
            items.sort_by_key(|item| format!("{} {}", item.get("field"), item.get("message")));
            Json::array(items)
        };
        self.value(path, &sorted(real), &sorted(sim));
    }

    fn same_text(&mut self, path: &str, real: &str, sim: &str) -> bool {
        if path.ends_with("resourceVersion") && sim.bytes().all(|byte| byte.is_ascii_digit()) {
            return real == sim || self.versions.unite(real, sim);
        }
        if path.ends_with(".uid") && TOKEN.find(sim).is_some() {
            return real == sim || self.uids.unite(real, sim);
        }
        if real == sim || path.contains(".cells[") && without_ages(real) == without_ages(sim) {
            return true;
        }
        let mut real = real.to_owned();
        for (name, own) in &self.names.to_sim {
            real = real.replace(name, own);
        }
        // Of a table as of a list: where the next page begins is not compared.
        if path.ends_with("metadata.continue") {
            return !real.is_empty() && !sim.is_empty();
        }
        // The recorder left tokens out.
        if real == "<a JWT>" && path.ends_with("token") {
            return true;
        }
        // Clients send back the instants that the server has set.
        let server_time = path.ends_with("creationTimestamp") || path.ends_with("deletionTimestamp");
        if self.same_tokens(&real, sim, server_time) {
            return true;
        }
        // Errors over the keys of a map come in any order.
        for (uid, own) in &self.uids.to_sim {
            real = real.replace(uid, own);
        }
        path.ends_with("message") && sorted_parts(&real) == sorted_parts(sim)
    }

    fn same_tokens(&mut self, real: &str, sim: &str, server_time: bool) -> bool {
        let parts = |text: &str| -> (Vec<String>, Vec<String>) {
            let between = TOKEN.split(text).map(str::to_owned).collect();
            (between, TOKEN.find_iter(text).map(|found| found.as_str().to_owned()).collect())
        };
        let ((their_text, theirs), (our_text, ours)) = (parts(real), parts(sim));
        their_text == our_text
            && theirs.len() == ours.len()
            && theirs.iter().zip(&ours).all(|(real, sim)| self.same_token(real, sim, server_time))
    }

    fn same_token(&mut self, real: &str, sim: &str, server_time: bool) -> bool {
        if real == sim {
            return true;
        }
        if real.starts_with("kube-api-access-") {
            return self.names.unite(real, sim);
        }
        if real.contains('T') {
            return real.len() == sim.len()
                && (server_time || self.set_by_server.contains(real) || !self.sent.contains(real));
        }
        if real.contains('-') {
            return self.uids.unite(real, sim);
        }
        let could_be = real.parse::<usize>().is_ok_and(|number| number >= LEAST_REVISION);
        (self.versions.knows(real, sim) || could_be) && self.versions.unite(real, sim)
    }
}

/// Masks the cells of tables that show an instant as the time since.
fn without_ages(cell: &str) -> Cow<'_, str> {
    AGE.replace_all(cell, "${before}AGE${after}")
}

fn sorted_parts(message: &str) -> Vec<&str> {
    let list = message.find('[').map_or(message, |at| message[at + 1..].trim_end_matches(']'));
    let mut parts: Vec<&str> = list.split(", ").collect();
    parts.sort_unstable();
    parts
}

/// Returns an empty value as it is printed, so that it differs from an absent one.
fn printed(value: &Json) -> Json {
    if value.is_null() { Json::text("null") } else { value.clone() }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
