//! GET, LIST and WATCH.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/get.go and pkg/storage/cacher (v1.34). Inputs: a request that was
//! routed, and its options. Outputs: the answer; a watch is registered, and its first events are queued behind the
//! answer. The store is never changed.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::call::RequestInfo;
use super::content_negotiation::{INITIAL_EVENTS_END, Representation, TableContext};
use super::options::{RequestOptions, is_true_in_query};
use super::paging::{WatchList, is_cached};
use super::validation::meta;
use super::watch::{Selection, Watcher};
use super::{ApiServer, Origin, ServerOutput, status};
use crate::network::kinds::{Kind, KindIndex, Trait};
use crate::network::{Answer, Content, List, RequestId, ToClient, WatchType};
use crate::objects::names::Wording;
use crate::objects::selector::{FieldSelector, Selector};
use crate::objects::{Object, Text};

/// Longest time that a watch can ask for, in seconds: what Go's `time.Duration` holds, about 292 years. No simulation
/// reaches an instant from which that is beyond the calendar.
const WATCH_SECONDS_MAX: i64 = i64::MAX / 1_000_000_000;
/// Shortest time after which the server ends a watch that asked for none; the longest is twice as long.
/// Source: kube-apiserver `--min-request-timeout`, default 1800.
const WATCH_MIN: SignedDuration = SignedDuration::from_secs(1800);

impl ApiServer {
    pub(super) fn get(&self, info: &RequestInfo, options: &RequestOptions) -> Result<Answer, Answer> {
        let kind = info.kind;
        if options.parameter("export").is_some_and(|export| !export.is_empty() && is_true_in_query(export)) {
            let why = "the export parameter, deprecated since v1.14, is no longer supported";
            return Err(status::bad_request(why));
        }
        if let Some(asked) =
            options.version().map_err(|why| bad_version(kind, &why))?.filter(|asked| *asked > self.revision)
        {
            return Err(status::too_large_version(asked, self.revision));
        }
        let found = self.tables[info.kind_index].store.get(&info.namespace, &info.name);
        if let (Some(object), false) = (found, ["", "status", "scale"].contains(&info.subresource.as_str())) {
            return connect(kind, &info.subresource, object);
        }
        if let Some(object) = found.filter(|_| info.subresource == *"scale") {
            self.check_replicas(kind, object)?;
            return Ok(Answer::json(200, self.scale_of(info, object)));
        }
        found
            .map(|object| Answer::object(200, object.clone()))
            .ok_or_else(|| status::not_found(&kind.resource, &info.name))
    }

    pub(super) fn list(&self, info: &RequestInfo, options: &RequestOptions) -> Result<Answer, Answer> {
        let kind = info.kind;
        let selection = selection(info, options, self.wording())?;
        let page = self.page(info.kind_index, &selection, options)?;
        let content = Content::List(Box::new(List {
            kind: self.list_kind(kind),
            says_types: kind.is(Trait::Custom),
            api_version: Text::from(kind.resource.api_version()),
            resource_version: page.revision,
            items: page.items,
            next: Text::from(page.next),
            remaining: page.remaining,
        }));
        Ok(Answer { code: 200, headers: Vec::new(), content })
    }

    pub(super) fn selected(&self, kind_index: KindIndex, selection: &Selection) -> Vec<Object> {
        let plural = &self.kinds.at(kind_index).resource.plural;
        let store = &self.tables[kind_index].store;
        if let Some(name) = selection.fields.exactly("metadata.name")
            && (!selection.namespace.is_empty() || !self.kinds.at(kind_index).is_namespaced())
        {
            let found = store.get(&selection.namespace, name).into_iter();
            return found.filter(|object| selection.matches(plural, object)).cloned().collect();
        }
        let node = selection.fields.exactly("spec.nodeName").filter(|node| !node.is_empty());
        if let Some(own) = node.and_then(|node| store.on_node(node)) {
            return own.filter(|object| selection.matches(plural, object)).cloned().collect();
        }
        store.iter(&selection.namespace).filter(|object| selection.matches(plural, object)).cloned().collect()
    }

    pub(super) fn wording(&self) -> Wording {
        meta::wording(&self.settings)
    }

    pub(super) fn watch_list(&self) -> WatchList {
        if self.settings.profile().is("watch-list") { WatchList::On } else { WatchList::Off }
    }

    pub(super) fn watch(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        (id, representation): (RequestId, Result<Representation, Answer>),
    ) -> Result<Answer, Answer> {
        let begun = self.events.len();
        let selection = selection(info, options, self.wording())?;
        let from = options.version().map_err(|why| status::untyped(&why))?.filter(|version| *version > 0);
        let representation = representation?;
        let send = |message| ServerOutput::ToClient { client: origin.client, message };
        let kind = info.kind;
        let streams = options.send_initial_events == Some(true);
        // The time of such a watch was over before it began.
        if options.timeout_seconds.is_some_and(|seconds| seconds < 0) {
            let error = streams.then(|| status::untyped("context deadline exceeded"));
            return Ok(self.end_at_once(origin, id, error));
        }
        match from {
            Some(asked) if streams && asked > self.revision => {
                let error = status::too_large_version(asked, self.revision);
                return Ok(self.end_at_once(origin, id, Some(error)));
            }
            None if options.send_initial_events == Some(false) => {}
            _ if streams || from.is_none() => {
                for object in self.selected(info.kind_index, &selection) {
                    self.events.push_back(send(ToClient::Watch { id, event: WatchType::Added, object }));
                }
                if streams && options.bookmarks {
                    let mut tree = self.bookmark(info.kind_index).json();
                    tree.set(&["metadata", "annotations", INITIAL_EVENTS_END], "true");
                    let object = Object::as_received(tree);
                    self.events.push_back(send(ToClient::Watch { id, event: WatchType::Bookmark, object }));
                }
            }
            Some(from) => {
                let oldest = self.tables[info.kind_index].history.oldest();
                if from < oldest {
                    let expired = status::expired(&format!("too old resource version: {from} ({oldest})"));
                    return Ok(self.end_at_once(origin, id, Some(expired)));
                }
            }
            None => {}
        }
        let lasts = match options.timeout_seconds {
            Some(seconds) => SignedDuration::from_secs(seconds.min(WATCH_SECONDS_MAX)),
            None => WATCH_MIN + self.chance.up_to(WATCH_MIN),
        };
        let ends = origin.now + lasts;
        let mut watcher = Watcher {
            client: origin.client,
            id,
            kind_index: info.kind_index,
            kind: info.kind,
            printed: self.printed(info.kind_index),
            selection,
            after: from.unwrap_or(0),
            bookmarks: options.bookmarks,
            representation,
            has_columns: false,
            omits_heartbeats: options.parameter("omitHeartbeats").is_some(),
            ends,
            timers: ends,
        };
        if watcher.bookmarks {
            watcher.timers = watcher.next_bookmark(origin.now).min(ends);
        }
        if let Some(from) = from.filter(|_| !streams) {
            let is_current = self.is_current(&watcher, from);
            let table = &self.tables[info.kind_index];
            for past in table.history.after(from, &table.store).filter(|_| !is_current) {
                let namespace = past.object.stable().at(&["metadata", "namespace"]).as_str().unwrap_or_default();
                let plural = &kind.resource.plural;
                let before = past.before;
                let Some(seen) = watcher.sees(plural, namespace, past.watch_type, &past.object, before.as_ref()) else {
                    continue;
                };
                let object = match (seen, &before) {
                    (WatchType::Deleted, Some(before)) if past.watch_type != WatchType::Deleted => {
                        Object::new(before.json(), past.object.resource_version())
                    }
                    _ => past.object,
                };
                self.events.push_back(send(ToClient::Watch { id, event: seen, object }));
            }
        }
        if !self.shape_first(&mut watcher, begun, origin.now) {
            return Ok(self.end_at_once(origin, id, None));
        }
        self.open_watch(watcher);
        Ok(opened())
    }

    /// Ends a watch as soon as it is open, after an error if there is one.
    fn end_at_once(&mut self, origin: &Origin, id: RequestId, error: Option<Answer>) -> Answer {
        let send = |message| ServerOutput::ToClient { client: origin.client, message };
        if let Some(error) = error {
            let object = Object::as_received(error.body());
            self.events.push_back(send(ToClient::Watch { id, event: WatchType::Error, object }));
        }
        self.events.push_back(send(ToClient::WatchEnded { id, lost: false }));
        opened()
    }

    /// Puts the first events of a watch, those from a place on, into the form that its client takes; false if there
    /// are some that cannot have it.
    fn shape_first(&mut self, watcher: &mut Watcher, begun: usize, now: Timestamp) -> bool {
        if watcher.representation.is_of_lists() && self.events.len() > begun {
            self.events.truncate(begun);
            return false;
        }
        if watcher.representation == Representation::Plain {
            return true;
        }
        let view = TableContext { profile: self.settings.profile(), now, printed: None };
        for output in self.events.iter_mut().skip(begun) {
            if let ServerOutput::ToClient { message: ToClient::Watch { event, object, .. }, .. } = output {
                *object = watcher.shaped(*event, object.clone(), view);
            }
        }
        true
    }

    /// Tells whether a watch of one object by its name has missed nothing since a revision: the object exists, and its
    /// last write is not newer. It spares each of many kubelets a search through the whole history.
    fn is_current(&self, watcher: &Watcher, from: u64) -> bool {
        let selection = &watcher.selection;
        selection.fields.exactly("metadata.name").is_some_and(|name| {
            (!selection.namespace.is_empty() || !self.kinds.at(watcher.kind_index).is_namespaced())
                && self.tables[watcher.kind_index]
                    .store
                    .get(&selection.namespace, name)
                    .is_some_and(|object| object.resource_version() <= from)
        })
    }

    fn open_watch(&mut self, watcher: Watcher) {
        let place = self.free_watchers.pop().unwrap_or_else(|| {
            self.watchers.push(None);
            u32::try_from(self.watchers.len() - 1).expect("fewer than 2^32 watches")
        });
        self.tables[watcher.kind_index].watches.add(&watcher.selection, place);
        self.watcher_ids.insert((watcher.client, watcher.id), place);
        self.timers.insert((watcher.timers, place));
        self.watchers[place as usize] = Some(watcher);
    }
}

const fn opened() -> Answer {
    Answer { code: 200, headers: Vec::new(), content: Content::Watching }
}

/// Answers for a subresource that is no part of the object.
fn connect(kind: &Kind, subresource: &str, object: &Object) -> Result<Answer, Answer> {
    match subresource {
        "ephemeralcontainers" | "resize" | "approval" => Ok(Answer::object(200, object.clone())),
        _ => {
            let message = format!("{}/{subresource} is not modelled yet", kind.resource.plural);
            Err(status::failure(501, "NotImplemented", &message, None))
        }
    }
}

/// Refuses a revision that is no number; the store words it in its own way.
fn bad_version(kind: &Kind, why: &str) -> Answer {
    if is_cached(kind) {
        status::untyped(why)
    } else {
        status::bad_request(&format!("invalid resource version: {why}"))
    }
}

/// Reads the selectors of a request.
pub(super) fn selection(info: &RequestInfo, options: &RequestOptions, wording: Wording) -> Result<Selection, Answer> {
    let kind = info.kind;
    let labels = Selector::parse(&options.label_selector, wording).map_err(|message| status::bad_request(&message))?;
    let mut fields = FieldSelector::parse(&options.field_selector).map_err(|message| status::bad_request(&message))?;
    check_fields(kind, &mut fields)?;
    if !info.name.is_empty() {
        let own = FieldSelector::parse(&format!("metadata.name={}", info.name)).unwrap_or_default();
        fields = fields.and(own);
    }
    Ok(Selection { namespace: info.namespace.clone(), labels, fields })
}

/// The fields of Events. Source: pkg/registry/core/event/strategy.go (v1.34), `ToSelectableFields`.
const EVENT_FIELDS: [&str; 13] = [
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
    "metadata.namespace",
    "metadata.name",
];
/// The same by their names in events.k8s.io.
const NEW_EVENT_FIELDS: [&str; 12] = [
    "regarding.kind",
    "regarding.namespace",
    "regarding.name",
    "regarding.uid",
    "regarding.apiVersion",
    "regarding.resourceVersion",
    "regarding.fieldPath",
    "reason",
    "reportingController",
    "type",
    "metadata.namespace",
    "metadata.name",
];

/// Refuses fields that objects of a kind cannot be selected by. Source: the conversions in pkg/apis (v1.34),
/// `AddFieldLabelConversionsFor…`, and k8s.io/apimachinery pkg/runtime/converter.go for all other kinds.
fn check_fields(kind: &Kind, fields: &mut FieldSelector) -> Result<(), Answer> {
    let own: Option<&[&str]> = match (kind.resource.group.as_str(), kind.resource.plural.as_str()) {
        ("", "nodes") => Some(&["metadata.name", "spec.unschedulable"]),
        ("", "pods") => {
            fields.rename(|field| (*field == "spec.host").then(|| Text::of("spec.nodeName")));
            Some(&[
                "metadata.name",
                "metadata.namespace",
                "spec.nodeName",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.serviceAccountName",
                "spec.hostNetwork",
                "status.phase",
                "status.podIP",
                "status.podIPs",
                "status.nominatedNodeName",
            ])
        }
        ("", "events") => Some(&EVENT_FIELDS),
        ("events.k8s.io", "events") => Some(&NEW_EVENT_FIELDS),
        ("", "namespaces") => Some(&["metadata.name", "status.phase"]),
        ("", "secrets") => Some(&["type", "metadata.namespace", "metadata.name"]),
        ("", "services") => Some(&["spec.clusterIP", "spec.type", "metadata.namespace", "metadata.name"]),
        ("", "replicationcontrollers") => Some(&["status.replicas", "metadata.namespace", "metadata.name"]),
        ("batch", "jobs") => Some(&["status.successful", "metadata.namespace", "metadata.name"]),
        ("certificates.k8s.io", plural) => Some(certificate_fields(plural)),
        ("resource.k8s.io", "resourceslices") => Some(&["metadata.name", "spec.nodeName", "spec.driver"]),
        _ => None,
    };
    let own = own.or_else(|| kind.is(Trait::Custom).then(|| custom_fields(kind)));
    for field in fields.fields().map(Text::as_str) {
        let message = match own {
            Some(own) if own.contains(&field) => continue,
            Some(_) => unsupported_field(kind, field),
            None if ["metadata.name", "metadata.namespace"].contains(&field) => continue,
            None => {
                format!("{field:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
            }
        };
        return Err(status::bad_request(&message));
    }
    Ok(())
}

/// Source: k8s.io/apiextensions-apiserver pkg/apiserver/conversion/converter.go (v1.34), `ConvertFieldLabel`.
fn custom_fields(kind: &Kind) -> &'static [&'static str] {
    if kind.is_namespaced() { &["metadata.name", "metadata.namespace"] } else { &["metadata.name"] }
}

/// Returns what is said of a field that objects of a kind with fields of its own are not selected by.
fn unsupported_field(kind: &Kind, field: &str) -> String {
    match kind.resource.group.as_str() {
        "batch" => format!("field label {field:?} not supported for Job"),
        "resource.k8s.io" => {
            format!("field label not supported for {}, Kind={}: {field}", kind.resource.api_version(), kind.name)
        }
        _ => format!("field label not supported: {field}"),
    }
}

/// Source: pkg/apis/certificates/v1/conversion.go (v1.34, v1.37), `addFieldLabelConversionFuncs`.
fn certificate_fields(plural: &str) -> &'static [&'static str] {
    match plural {
        "podcertificaterequests" => {
            &["spec.signerName", "spec.podName", "spec.nodeName", "metadata.namespace", "metadata.name"]
        }
        _ => &["spec.signerName", "metadata.name"],
    }
}
