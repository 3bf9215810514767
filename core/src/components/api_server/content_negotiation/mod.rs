//! Content negotiation: answers as objects, tables or metadata alone, in JSON or YAML.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/{response,get}.go and pkg/endpoints/handlers/negotiation (v1.34).
//! Inputs: the Accept header, `includeObject`, what the server would answer. Outputs: the same as `Table`,
//! `PartialObjectMetadata` or `PartialObjectMetadataList` of `meta.k8s.io`. A Status stays what it is.
//! A client that prefers YAML or protobuf gets it, failures included.
//! Left out on purpose: watches in protobuf, and kinds that only custom resources have; both are JSON.

mod accept;
mod cell_values;
mod cells;
mod column_forms;
mod columns;
mod lines;
mod network_cells;
mod network_columns;
mod pods;
mod policy_cells;
mod policy_columns;
pub(super) mod printed;
mod storage_cells;
mod storage_columns;
mod v1_37_cells;
mod v1_37_columns;
mod workload_cells;
mod workload_columns;

pub(crate) use lines::kubectl_lines;

use alloc::format;
use alloc::vec::Vec;

use jiff::Timestamp;

use super::status;
use super::workloads::TEMPLATE_GENERATION;
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, Call, Content, PROTOBUF, Target, Verb, WatchType};
use crate::objects::schema::Schema;
use crate::objects::{Json, Object, Text, protobuf, yaml};
use crate::profile::Profile;
use accept::Clause;
use printed::PrinterColumn;

/// The annotation of the bookmark behind what was there when a watch began.
/// Source: k8s.io/apimachinery pkg/apis/meta/v1/types.go (v1.34), `InitialEventsAnnotationKey`.
pub(super) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";
/// The forms of a body that are understood. Source: k8s.io/apimachinery pkg/runtime/serializer (v1.34).
const BODY_TYPES: [&str; 3] = ["application/json", "application/yaml", PROTOBUF];

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

const STREAMS: [&str; 2] = ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// Checks that a client takes a form that a resource is answered in, as the web service compares them: whole media
/// types, without parameters.
///
/// Source: github.com/emicklei/go-restful route.go (v3.12), `matchesAccept`; k8s.io/apiserver
/// pkg/endpoints/installer.go (v1.34), what routes produce.
///
/// # Errors
/// 406: it does not.
pub(super) fn check_route(call: &Call) -> Result<(), Answer> {
    let is_log = matches!(&call.target, Target::Resource { subresource, .. } if *subresource == *"log");
    let mut types: Vec<&str> = if is_log { Vec::from(["text/plain"]) } else { Vec::new() };
    types.extend(BODY_TYPES);
    if matches!(call.verb, Verb::List | Verb::Watch) {
        types.extend(STREAMS);
    }
    if takes(call, &types) { Ok(()) } else { Err(not_acceptable(&types)) }
}

fn takes(call: &Call, types: &[&str]) -> bool {
    let Some(accept) = call.header_value("accept").filter(|accept| !accept.is_empty()) else { return true };
    accept.split(',').any(|clause| {
        let media = clause.split(';').next().unwrap_or("").trim();
        media == "*/*" || types.contains(&media)
    })
}

/// Finds the first form that client and server have in common.
///
/// # Errors
/// 406: there is none.
pub(super) fn negotiate(call: &Call) -> Result<Representation, Answer> {
    let Some(clauses) = Clause::all(call) else { return Ok(Representation::Plain) };
    let found = clauses.iter().find_map(Clause::form).map(|(_, representation)| representation);
    found.ok_or_else(|| status::failure(406, "NotAcceptable", ACCEPTED, None))
}

/// Checks that the form that a client prefers can be a stream.
///
/// # Errors
/// 406: it cannot.
pub(super) fn check_stream(call: &Call) -> Result<(), Answer> {
    let media = Clause::all(call).and_then(|clauses| clauses.iter().find_map(Clause::form)).map(|(media, _)| media);
    if media != Some("application/yaml") {
        return Ok(());
    }
    let message = format!("only the following media types are accepted: {}", STREAMS.join(", "));
    Err(status::failure(406, "NotAcceptable", &message, None))
}

/// Refuses a body in a form that is not understood.
///
/// # Errors
/// 415.
pub(super) fn check_media_type(media_type: &str) -> Result<(), Answer> {
    if media_type.is_empty() || BODY_TYPES.contains(&media_type) { Ok(()) } else { Err(unknown_form(&BODY_TYPES)) }
}

/// Refuses protobuf of a kind whose messages are not known here: what they hold would be lost.
///
/// # Errors
/// 415.
pub(super) fn check_readable(media_type: &str, kind: &Kind) -> Result<(), Answer> {
    let is_readable = media_type != PROTOBUF || protobuf::has_kind(kind.name, &kind.resource.api_version());
    if is_readable { Ok(()) } else { Err(unknown_form(&BODY_TYPES[..2])) }
}

fn unknown_form(accepted: &[&str]) -> Answer {
    let accepted = accepted.join(", ");
    let message =
        format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
    status::failure(415, "UnsupportedMediaType", &message, None)
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
    let clauses = Clause::all(call)?;
    for clause in clauses.iter().filter(|clause| BODY_TYPES.iter().any(|media| clause.covers(media))) {
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
pub(super) fn check_produced(call: &Call, media: &'static str) -> Result<(), Answer> {
    if takes(call, &[media]) { Ok(()) } else { Err(not_acceptable(&[media])) }
}

/// Checks that a client takes what a path without resource is answered with.
///
/// # Errors
/// 406: it does not.
pub(super) fn check_path(call: &Call, served: Served) -> Result<(), Answer> {
    let types = if served == Served::Json { &BODY_TYPES[..1] } else { &BODY_TYPES[..] };
    if served != Served::Negotiated && !takes(call, types) {
        return Err(not_acceptable(types));
    }
    if served == Served::Json || has_plain_form(call) {
        return Ok(());
    }
    Err(status::failure(406, "NotAcceptable", ACCEPTED, None))
}

/// Tells whether a client takes an answer that is not transformed.
fn has_plain_form(call: &Call) -> bool {
    Clause::all(call).is_none_or(|clauses| clauses.iter().any(|clause| clause.plain_form().is_some()))
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

/// Returns the forms that a client prefers of those that the server has: of a success, and of a failure, which is never
/// transformed.
///
/// Source: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/writers.go (v1.34), `ErrorNegotiated`.
pub(super) fn body_forms(call: &Call) -> (BodyForm, BodyForm) {
    let is_told = |accept: &&Text| accept.contains("yaml") || accept.contains("protobuf");
    let told = call.header_value("accept").filter(is_told);
    let Some(clauses) = told.and_then(|_| Clause::all(call)) else { return (BodyForm::Json, BodyForm::Json) };
    let form = |media: Option<&str>| match media {
        Some("application/yaml") => BodyForm::Yaml,
        Some(PROTOBUF) => BodyForm::Protobuf,
        _ => BodyForm::Json,
    };
    let failure = clauses.iter().find_map(Clause::plain_form);
    let success = match &call.target {
        Target::Path(path) if path.starts_with("/api") => failure,
        // What is beside discovery has one form.
        Target::Path(_) => None,
        Target::Resource { .. } => clauses.iter().find_map(Clause::form).map(|(media, _)| media),
    };
    (form(success), form(failure))
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

/// What the cells of a table depend on beside the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableContext<'a> {
    pub(super) profile: &'a Profile,
    pub(super) now: Timestamp,
    /// The columns of a custom kind.
    pub(super) printed: Option<&'a [PrinterColumn]>,
}

impl Representation {
    /// Reads what the rows of a table are to hold.
    ///
    /// # Errors
    /// 400: it is none of the three.
    pub(super) fn including(self, call: &Call) -> Result<Self, Answer> {
        match self {
            Self::Table(version, _) => Ok(Self::Table(version, included(call)?)),
            other => Ok(other),
        }
    }

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
        let mut body = answer.body();
        if body.at(&["metadata", "continue"]).as_str() == Some("") {
            body.remove(&["metadata", "continue"]);
        }
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
                // An empty list is none at all in Go.
                let shown = items.iter().map(|item| metadata(item, version)).collect::<Json>();
                list.set(&["items"], if items.is_empty() { Json::Null } else { shown });
                list
            }
            Self::Table(version, include) => {
                let mut table = table((&items, is_list), kind, (version, include), view);
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

    /// Tells whether only lists have this form: a watch in it ends with its first event, which cannot be shown.
    pub(super) const fn is_of_lists(self) -> bool {
        matches!(self, Self::MetadataList(_))
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
                let mut table = table((core::slice::from_ref(&tree), false), kind, (version, include), view);
                table.set(&["metadata", "resourceVersion"], tree.at(&["metadata", "resourceVersion"]).clone());
                if !is_first {
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

fn table(
    (items, is_list): (&[Json], bool),
    kind: &Kind,
    (version, include): (&'static str, Include),
    view: TableContext<'_>,
) -> Json {
    let plural = kind.resource.plural.as_str();
    let defaults = cells::default_classes(plural, (items, is_list), view.profile);
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
            let cells = cells::of(plural, item, view, &defaults);
            let known = columns.iter().filter_map(|(place, _)| cells.get(*place).cloned());
            row.set(&["cells"], known.chain(printed.iter().map(|column| column.cell(item, view))).collect::<Json>());
            let conditions = if plural == "pods" { pods::conditions(item) } else { Json::Null };
            if !conditions.is_null() {
                row.set(&["conditions"], conditions);
            }
            let object = match include {
                Include::Metadata => metadata(item, version),
                Include::Object => item.clone(),
                Include::Nothing if !item.at(&["metadata", "annotations", INITIAL_EVENTS_END]).is_null() => {
                    metadata(item, version)
                }
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
