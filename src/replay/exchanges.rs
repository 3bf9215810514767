//! Replays recordings of single requests: sends each to the model's API server and compares the answer.
//!
//! A directory `api-RELEASE` holds one file a topic (`nodes-crud.jsonl`) and one case a line: requests that prepare it,
//! the request, its answer or the stream of a watch. Each case gets a server of its own that holds the objects of
//! `given.yaml`. Inputs: the directory. Outputs: an [`ExchangeReport`]. Invariant: ids, resourceVersions and instants
//! may differ between the two sides, but within a case they must map one to one; everything else must be equal. Lines
//! of other forms (a session of kubectl or of an informer) are counted and not judged.

mod compare;
mod files;
mod report;
mod server;

use std::path::Path;

use nodeproof_core::objects::Json;
use nodeproof_core::profile::{Release, Settings};

pub use report::{AnswerDifference, ExchangeReport};

use super::load::LoadError;
use super::{Ledger, report as writers_report};
use compare::Comparison;
use files::{Case, Exchanges};
use server::ModelServer;

/// Tells whether a directory holds exchanges and not a recording of controllers.
#[must_use]
pub fn is_here(dir: &Path) -> bool {
    files::is_here(dir)
}

/// Returns the topics of a directory, in order of their names.
#[must_use]
pub fn topics(dir: &Path) -> Vec<String> {
    files::topics(dir).map(|(topic, _)| topic).collect()
}

/// Replays the exchanges of a directory, all or those of one topic, under its own release or another.
///
/// # Errors
/// A file cannot be read or understood, or there is no such topic.
pub fn replay(
    dir: &Path,
    release: Option<Release>,
    topic: Option<&str>,
    ledger: &Ledger,
) -> Result<ExchangeReport, LoadError> {
    let exchanges = Exchanges::load(dir, release, topic)?;
    let mut report = ExchangeReport { recording: exchanges.name.clone(), ..ExchangeReport::default() };
    for case in &exchanges.cases {
        let judged = is_judged(&case.line);
        let mut differences = if judged { judge(&exchanges, case) } else { Vec::new() };
        for difference in &mut differences {
            difference.ledger = explain(ledger, &exchanges.name, difference);
        }
        report.count(&case.topic, judged, differences);
    }
    Ok(report)
}

/// Tells whether a line is one request with its answer.
fn is_judged(line: &Json) -> bool {
    !line.get("response").is_null() && !line.get("request").is_null()
}

fn explain(ledger: &Ledger, recording: &str, difference: &AnswerDifference) -> Option<String> {
    let asked = writers_report::WriteDifference {
        t: 0,
        writer: "kube-apiserver",
        object: format!("{}/{}", difference.topic, difference.name),
        path: difference.path.clone(),
        real: difference.real.clone(),
        sim: difference.sim.clone(),
        ledger: None,
    };
    ledger.explain(recording, &asked).map(|entry| entry.why.clone())
}

/// Plays one case and compares its answers.
fn judge(exchanges: &Exchanges, case: &Case) -> Vec<AnswerDifference> {
    let line = &case.line;
    let mut world = ModelServer::new(exchanges.release, &exchanges.given);
    let schema = Settings::of(exchanges.release).profile().schema();
    let mut comparison = Comparison::of(line, schema);
    let mut answered: Vec<Json> = Vec::new();
    for (at, step) in line.get("given").items().iter().enumerate() {
        // A note is about a compaction of etcd, which does not affect the watch cache.
        if step.get("request").is_null() {
            answered.push(Json::Null);
            continue;
        }
        let request = comparison.translated(&substituted(step.get("request"), line, &answered));
        let answer = world.ask(step.get("user").as_str().unwrap_or_default(), &request);
        comparison.bind(&format!("given[{at}]"), step.get("response"), &answer);
        answered.push(answer.get("body").clone());
    }
    let mut request = comparison.translated(&substituted(line.get("request"), line, &answered));
    let user = line.get("user").as_str().unwrap_or_default();
    let response = line.get("response");
    send_back_hash(&mut world, user, &mut request, response);
    if response.get("timeline").is_null() || !world.would_watch(&request) {
        let answer = world.ask(user, &request);
        if response.get("timeline").is_null() {
            comparison.answer("", response, &answer);
        } else {
            let body = response.get("timeline").items().first().map_or(&Json::Null, |entry| entry.get("event"));
            comparison.body("", body, answer.get("body"));
        }
    } else {
        watch(&mut world, &mut comparison, user, &request, response);
    }
    comparison.finish(&case.topic, line.get("name").as_str().unwrap_or_default())
}

/// Replaces the hash of a document that the client has, as the real server told it, by the one that the model tells.
fn send_back_hash(world: &mut ModelServer, user: &str, request: &mut Json, response: &Json) {
    let place = ["headers", "If-None-Match"];
    let told = response.at(&["headers", "Etag"]);
    if told.is_null() || told != request.at(&place) {
        return;
    }
    let known = request.entry(&["headers"]).make_object().remove("If-None-Match").unwrap_or_default();
    let own = world.ask(user, request).at(&["headers", "Etag"]).clone();
    request.set(&place, if own.is_null() { known } else { own });
}

/// Plays a watch: the recorded events in order, with the writes that were made between them.
fn watch(world: &mut ModelServer, comparison: &mut Comparison, user: &str, request: &Json, response: &Json) {
    let answer = world.open_watch(user, request);
    comparison.code("", response, &answer);
    let until = world.after(response.get("seconds"));
    for (at, entry) in response.get("timeline").items().iter().enumerate() {
        let path = format!("timeline[{at}]");
        if entry.get("do").is_object() {
            let step = entry.get("do");
            let request = comparison.translated(step.get("request"));
            let answer = world.ask(step.get("user").as_str().unwrap_or_default(), &request);
            comparison.bind(&path, step.get("response"), &answer);
            continue;
        }
        let real = entry.get("event");
        // A bookmark may come at any instant, except the one that ends the initial events.
        let optional = is_bookmark(real) && !ends_initial_events(real);
        let sim = loop {
            match world.next_event(until) {
                Some(event) if is_bookmark(&event) && !is_bookmark(real) => {}
                Some(event) if optional && !is_bookmark(&event) => {
                    world.put_back(event);
                    break None;
                }
                other => break other,
            }
        };
        match sim {
            Some(sim) => comparison.body(&path, real, &sim),
            None if optional => {}
            None => comparison.only_real(&path, real),
        }
    }
    while let Some(event) = world.next_event(until) {
        if !is_bookmark(&event) {
            comparison.only_sim("timeline", &event);
        }
    }
    if response.get("ended").as_str() == Some("server") && !world.is_over() {
        comparison.only_real("ended", response.get("ended"));
    }
}

fn is_bookmark(event: &Json) -> bool {
    event.get("type").as_str() == Some("BOOKMARK")
}

fn ends_initial_events(event: &Json) -> bool {
    !event.at(&["object", "metadata", "annotations", "k8s.io/initial-events-end"]).is_null()
}

/// Replaces the recorded ids and versions in a request by those of this run.
fn substituted(request: &Json, line: &Json, answered: &[Json]) -> Json {
    let mut text = request.to_string();
    for reference in line.get("refs").items() {
        let from = reference.get("from").as_i64().and_then(|from| usize::try_from(from).ok());
        let Some(body) = from.and_then(|from| answered.get(from)) else { continue };
        let path: Vec<&str> = reference.get("path").as_str().unwrap_or_default().split('.').collect();
        let (Some(real), Some(ours)) = (reference.get("value").as_str(), body.at(&path).as_str()) else { continue };
        text = text.replace(real, ours);
    }
    Json::parse(&text).unwrap_or_else(|_| request.clone())
}

#[cfg(test)]
mod tests;
