//! Content negotiation: answers as objects, tables or metadata alone, in JSON or YAML.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/{response,get}.go and pkg/endpoints/handlers/negotiation (v1.34).
//! Inputs: the Accept header, `includeObject`, what the server would answer. Outputs: the same as `Table`,
//! `PartialObjectMetadata` or `PartialObjectMetadataList` of `meta.k8s.io`. A Status stays what it is.
//! A client that prefers YAML or protobuf gets it, failures included.
//! Left out on purpose: watches in protobuf, and kinds that only custom resources have; both are JSON.

mod cells;
mod columns;
mod lines;
mod pods;
pub(super) mod printed;

pub(crate) use lines::kubectl_lines;

use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::status;
use super::workloads::TEMPLATE_GENERATION;
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, Call, Content, PROTOBUF, Verb, WatchType};
use crate::objects::schema::Schema;
use crate::objects::{Json, Object, Text, protobuf, yaml};
use crate::profile::Profile;
use printed::PrinterColumn;

/// The forms of a body that are understood. Source: k8s.io/apimachinery pkg/runtime/serializer (v1.34).
pub(super) const BODY_TYPES: [&str; 3] = ["application/json", "application/yaml", PROTOBUF];

/// The form in which a client wants its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Representation {
    /// The objects themselves.
    Plain,
    /// A table, in a version of `meta.k8s.io`, and what each row holds of its object.
    Table(&'static str, Include),
    /// The metadata of one object.
    Metadata(&'static str),
    /// The metadata of a list of objects.
    MetadataList(&'static str),
}

/// What a row of a table holds of its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Include {
    Metadata,
    Object,
    Nothing,
}

const ACCEPTED: &str = "only the following media types are accepted: application/json, application/yaml, \
                        application/vnd.kubernetes.protobuf";

/// Finds the first form that client and server have in common.
///
/// # Errors
/// 406: there is none.
pub(super) fn negotiate(call: &Call) -> Result<Representation, Answer> {
    let Some(accept) = call.header_value("accept").filter(|accept| !accept.is_empty()) else {
        return Ok(Representation::Plain);
    };
    let watches = call.verb == Verb::Watch;
    let mut clauses: Vec<Clause> = accept.split(',').map(Clause::read).collect();
    clauses.sort_by_key(|clause| core::cmp::Reverse(clause.quality));
    let of_call = |representation: Representation| match representation {
        Representation::Table(version, _) => included(call).map(|include| Representation::Table(version, include)),
        other => Ok(other),
    };
    if let Some(representation) = clauses.iter().find_map(|clause| clause.representation(watches)) {
        return of_call(representation);
    }
    if watches && clauses.iter().all(|clause| clause.parameter("as").is_none()) {
        let message = "only the following media types are accepted: application/json;stream=watch, \
                       application/vnd.kubernetes.protobuf;stream=watch";
        return Err(status::failure(406, "NotAcceptable", message, None));
    }
    if clauses.iter().any(|clause| clause.parameter("as").is_some()) {
        return Err(status::failure(406, "NotAcceptable", ACCEPTED, None));
    }
    Err(not_acceptable(&BODY_TYPES))
}

/// Which media types a path without resource serves, and which part of the server refuses the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Served {
    /// JSON alone.
    Json,
    /// All forms, checked by the web service.
    All,
    /// All forms, checked by the handler.
    Negotiated,
}

/// Returns the version of aggregated discovery that a client prefers to all other forms of discovery; `None` if it
/// prefers another.
pub(super) fn discovery_version(call: &Call, has_beta: bool) -> Option<&'static str> {
    let accept = call.header_value("accept")?;
    let mut clauses: Vec<Clause> = accept.split(',').map(Clause::read).collect();
    clauses.sort_by_key(|clause| core::cmp::Reverse(clause.quality));
    for clause in clauses.iter().filter(|clause| BODY_TYPES.contains(&clause.media) || clause.media == "*/*") {
        let group = clause.parameter("g");
        match (clause.parameter("as"), clause.parameter("v")) {
            (None, _) => return None,
            (Some("APIGroupDiscoveryList"), Some("v2")) if group == Some("apidiscovery.k8s.io") => return Some("v2"),
            (Some("APIGroupDiscoveryList"), Some("v2beta1")) if has_beta && group == Some("apidiscovery.k8s.io") => {
                return Some("v2beta1");
            }
            _ => {}
        }
    }
    None
}

/// Checks that a client takes the one form in which a path is answered.
///
/// # Errors
/// 406: it does not.
pub(super) fn check_produced(call: &Call, media: &str) -> Result<(), Answer> {
    let Some(accept) = call.header_value("accept").filter(|accept| !accept.is_empty()) else { return Ok(()) };
    let takes = accept.split(',').map(Clause::read).any(|clause| clause.media == media || clause.media == "*/*");
    if takes { Ok(()) } else { Err(not_acceptable(&[media])) }
}

/// Checks that a client takes what a path without resource is answered with.
///
/// # Errors
/// 406: it does not.
pub(super) fn check_path(call: &Call, served: Served) -> Result<(), Answer> {
    let Some(accept) = call.header_value("accept").filter(|accept| !accept.is_empty()) else { return Ok(()) };
    let types = if served == Served::Json { &BODY_TYPES[..1] } else { &BODY_TYPES[..] };
    let mut refused = served == Served::Negotiated;
    for clause in accept.split(',').map(Clause::read) {
        if (types.contains(&clause.media) || clause.media == "*/*") && clause.parameter("as").is_none() {
            return Ok(());
        }
        refused |= clause.parameter("as").is_some();
    }
    if refused {
        return Err(status::failure(406, "NotAcceptable", ACCEPTED, None));
    }
    Err(not_acceptable(types))
}

fn not_acceptable(types: &[&str]) -> Answer {
    let message = format!("406: Not Acceptable\n\nAvailable representations: {}", types.join(", "));
    status::failure(406, "NotAcceptable", &message, Some(Json::object()))
}

/// The form in which bodies are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BodyForm {
    Json,
    Yaml,
    Protobuf,
}

/// Returns the form that a client prefers of those that the server has.
pub(super) fn body_form(call: &Call) -> BodyForm {
    let is_told = |accept: &&Text| accept.contains("yaml") || accept.contains("protobuf");
    let Some(accept) = call.header_value("accept").filter(is_told) else { return BodyForm::Json };
    let mut clauses: Vec<Clause> = accept.split(',').map(Clause::read).collect();
    clauses.sort_by_key(|clause| core::cmp::Reverse(clause.quality));
    // A watch that is refused is refused in this form, too; its events are lines of JSON for every client.
    match clauses.iter().find(|clause| clause.representation(false).is_some()).map(|clause| clause.media) {
        Some("application/yaml") => BodyForm::Yaml,
        Some(PROTOBUF) => BodyForm::Protobuf,
        _ => BodyForm::Json,
    }
}

/// Puts an answer into protobuf; one with fields that protobuf does not have stays JSON, as its header says.
pub(super) fn in_protobuf(schema: &Schema, mut answer: Answer) -> Answer {
    let is_tree = matches!(answer.content, Content::Json(_) | Content::Object(_) | Content::List(_));
    if let Some(bytes) = is_tree.then(|| protobuf::encode(schema, &answer.body())).flatten() {
        answer.headers.retain(|(name, _)| *name != "Content-Type");
        answer.headers.push((Text::of("Content-Type"), Text::of(PROTOBUF)));
        answer.content = Content::Bytes(bytes);
    }
    answer
}

/// Puts an answer into YAML; plain text and watches stay what they are.
pub(super) fn in_yaml(mut answer: Answer) -> Answer {
    if !matches!(answer.content, Content::Text(_) | Content::Bytes(_) | Content::Watching) {
        answer.headers.retain(|(name, _)| *name != "Content-Type");
        answer.headers.push((Text::of("Content-Type"), Text::of("application/yaml")));
        answer.content = Content::Text(Text::from(yaml::print(&answer.body())));
    }
    answer
}

/// Reads `includeObject`.
fn included(call: &Call) -> Result<Include, Answer> {
    match call.parameter("includeObject").map_or("", Text::as_str) {
        "" | "Metadata" => Ok(Include::Metadata),
        "Object" => Ok(Include::Object),
        "None" => Ok(Include::Nothing),
        other => Err(status::bad_request(&format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be 'Metadata', \
             'Object', 'None', or empty"
        ))),
    }
}

/// A media type with its parameters.
struct Clause<'a> {
    media: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    /// Thousandths.
    quality: u32,
}

impl<'a> Clause<'a> {
    fn read(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or("");
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(name, _)| *name == "q").and_then(|(_, value)| value.parse::<f32>().ok());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share from 0 to 1")]
        let quality = (quality.unwrap_or(1.0).clamp(0.0, 1.0) * 1000.0) as u32;
        Self { media, parameters, quality }
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    fn representation(&self, watches: bool) -> Option<Representation> {
        let known = BODY_TYPES.contains(&self.media) && !(watches && self.media == "application/yaml");
        let Some(kind) = self.parameter("as") else {
            return (known || self.media == "*/*").then_some(Representation::Plain);
        };
        let version = match (self.parameter("g"), self.parameter("v")) {
            (Some("meta.k8s.io"), Some("v1")) => "meta.k8s.io/v1",
            (Some("meta.k8s.io"), Some("v1beta1")) => "meta.k8s.io/v1beta1",
            _ => return None,
        };
        match kind {
            // Cells have values of any type, for which protobuf has no form.
            "Table" if known && self.media != PROTOBUF => Some(Representation::Table(version, Include::Metadata)),
            "PartialObjectMetadata" if known => Some(Representation::Metadata(version)),
            "PartialObjectMetadataList" if known => Some(Representation::MetadataList(version)),
            _ => None,
        }
    }
}

/// What the cells of a table depend on beside the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableContext<'a> {
    pub(super) profile: &'a Profile,
    pub(super) now: Timestamp,
    /// The columns of a custom kind.
    pub(super) printed: Option<&'a [PrinterColumn]>,
}

impl Representation {
    /// Puts an answer into this form.
    ///
    /// # Errors
    /// 406: a list was asked for as one object, or the other way round.
    pub(super) fn shape(self, answer: Answer, kind: &Kind, view: TableContext<'_>) -> Result<Answer, Answer> {
        let is_status = matches!(&answer.content, Content::Json(body) if body.get("kind").as_str() == Some("Status"));
        let carries = matches!(answer.content, Content::Object(_) | Content::List(_) | Content::Json(_));
        if self == Self::Plain || is_status || !carries || answer.code >= 300 {
            return Ok(answer);
        }
        let is_list = matches!(answer.content, Content::List(_));
        let refuse = |wanted: &str, is: &str| {
            let list = if is_list { "List" } else { "" };
            let group = kind.resource.group.split('.').next().unwrap_or("");
            let package = if group.is_empty() { "core" } else { group };
            let message =
                format!("you requested {wanted}, but the requested object {is} (*{package}.{}{list})", kind.name);
            status::failure(406, "NotAcceptable", &message, None)
        };
        let body = answer.body();
        let items: Vec<Json> = match &answer.content {
            Content::List(list) => list.items.iter().map(Object::json).collect(),
            _ => Vec::from([body.clone()]),
        };
        let shaped = match self {
            Self::Plain => body,
            Self::Metadata(_) if is_list => return Err(refuse("PartialObjectMetadata", "is a list")),
            Self::MetadataList(_) if !is_list => return Err(refuse("PartialObjectMetadataList", "is not a list")),
            Self::Metadata(version) => metadata(&body, version),
            Self::MetadataList(version) => {
                let mut list = json!({"kind": "PartialObjectMetadataList", "apiVersion": version});
                list.set(&["metadata"], body.get("metadata").clone());
                list.set(&["items"], items.iter().map(|item| metadata(item, version)).collect::<Json>());
                list
            }
            Self::Table(version, include) => {
                let mut table = table(&items, kind, (version, include), view);
                let mut about = Json::object();
                for field in ["resourceVersion", "continue", "remainingItemCount"] {
                    let value = body.at(&["metadata", field]);
                    if !value.is_null() {
                        about.set(&[field], value.clone());
                    }
                }
                table.set(&["metadata"], about);
                table
            }
        };
        Ok(Answer { content: Content::Json(shaped), ..answer })
    }

    /// Puts an event of a watch into this form; a table names its columns in the first event only.
    pub(super) fn event(
        self,
        event: WatchType,
        object: Object,
        kind: &Kind,
        view: TableContext<'_>,
        is_first: bool,
    ) -> Object {
        if self == Self::Plain || event == WatchType::Error {
            return object;
        }
        let tree = object.json();
        Object::as_received(match self {
            Self::Plain => tree,
            Self::Metadata(version) | Self::MetadataList(version) => metadata(&tree, version),
            Self::Table(version, include) => {
                let mut table = table(core::slice::from_ref(&tree), kind, (version, include), view);
                table.set(&["metadata", "resourceVersion"], tree.at(&["metadata", "resourceVersion"]).clone());
                if !is_first || event == WatchType::Bookmark {
                    table.set(&["columnDefinitions"], Json::Null);
                }
                table
            }
        })
    }
}

fn metadata(object: &Json, version: &'static str) -> Json {
    let mut partial = json!({"kind": "PartialObjectMetadata", "apiVersion": version});
    partial.set(&["metadata"], object.get("metadata").clone());
    if object.get("kind").as_str() == Some("DaemonSet") {
        // The annotation is a field of the internal form, from which metadata is taken.
        partial.remove(&["metadata", "annotations", TEMPLATE_GENERATION]);
        if partial.at(&["metadata", "annotations"]).is_empty() {
            partial.remove(&["metadata", "annotations"]);
        }
    }
    partial
}

fn table(items: &[Json], kind: &Kind, (version, include): (&'static str, Include), view: TableContext<'_>) -> Json {
    let plural = kind.resource.plural.as_str();
    let mut columns = columns::of(plural, view.profile);
    // Of a custom kind the name alone is known here.
    columns.truncate(if view.printed.is_some() { 1 } else { columns.len() });
    let printed = view.printed.unwrap_or_default();
    let known = columns.iter().map(|(_, column)| {
        json!({"name": column.name, "type": column.kind, "format": column.format, "description": column.about,
            "priority": column.priority})
    });
    let definitions: Json = known.chain(printed.iter().map(PrinterColumn::definition)).collect();
    let rows: Json = items
        .iter()
        .map(|item| {
            let mut row = Json::object();
            let cells = cells::of(plural, item, view);
            let known = columns.iter().filter_map(|(place, _)| cells.get(*place).cloned());
            row.set(&["cells"], known.chain(printed.iter().map(|column| column.cell(item, view))).collect::<Json>());
            let conditions = if plural == "pods" { pods::conditions(item) } else { Json::Null };
            if !conditions.is_null() {
                row.set(&["conditions"], conditions);
            }
            let object = match include {
                Include::Metadata => metadata(item, version),
                Include::Object => item.clone(),
                Include::Nothing => Json::Null,
            };
            row.set(&["object"], object);
            row
        })
        .collect();
    let mut table = json!({"kind": "Table", "apiVersion": version, "metadata": {}});
    table.set(&["columnDefinitions"], definitions);
    table.set(&["rows"], rows);
    table
}
