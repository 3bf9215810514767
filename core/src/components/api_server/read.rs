//! GET, LIST and WATCH.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/handlers/get.go and pkg/storage/cacher (v1.34).

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::call::Aim;
use super::options::Options;
use super::resources::KINDS;
use super::validation::meta;
use super::watch::{Selection, Watcher};
use super::{ApiServer, Origin, ServerOutput, status};
use crate::network::{Answer, Content, RequestId, ToClient, WatchType};
use crate::objects::names::Wording;
use crate::objects::selector::{FieldSelector, Selector};
use crate::objects::{Object, Text};

/// Shortest time after which the server ends a watch that asked for none; the longest is twice as long.
/// Source: kube-apiserver `--min-request-timeout`, default 1800.
const WATCH_LEAST: SignedDuration = SignedDuration::from_secs(1800);

impl ApiServer {
    pub(super) fn get(&self, aim: &Aim, _options: &Options) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        self.tables[aim.kind]
            .store
            .get(&aim.namespace, &aim.name)
            .map(|object| Answer::object(200, object.clone()))
            .ok_or_else(|| status::not_found(&kind.resource, &aim.name))
    }

    pub(super) fn list(&self, aim: &Aim, options: &Options) -> Result<Answer, Answer> {
        let kind = &KINDS[aim.kind];
        let selection = selection(aim, options, meta::wording(&self.settings))?;
        options.version()?;
        let items = self.selected(aim.kind, &selection);
        let content = Content::List {
            kind: Text::from(format!("{}List", kind.name)),
            api_version: Text::from(kind.api_version()),
            resource_version: self.revision,
            items,
            next: Text::of(""),
        };
        Ok(Answer { code: 200, headers: Vec::new(), content })
    }

    pub(super) fn selected(&self, kind: usize, selection: &Selection) -> Vec<Object> {
        let plural = &KINDS[kind].resource.plural;
        let store = &self.tables[kind].store;
        if let Some(name) = selection.fields.exactly("metadata.name")
            && (!selection.namespace.is_empty() || !KINDS[kind].is_namespaced())
        {
            let found = store.get(&selection.namespace, name).into_iter();
            return found.filter(|object| selection.matches(plural, object)).cloned().collect();
        }
        store.iter(&selection.namespace).filter(|object| selection.matches(plural, object)).cloned().collect()
    }

    pub(super) fn watch(
        &mut self,
        aim: &Aim,
        options: &Options,
        origin: &Origin,
        id: RequestId,
    ) -> Result<Answer, Answer> {
        let selection = selection(aim, options, meta::wording(&self.settings))?;
        let from = options.version()?.filter(|version| *version > 0);
        let send = |message| ServerOutput::ToClient { client: origin.client, message };
        let opened = Answer { code: 200, headers: Vec::new(), content: Content::Watching };
        let kind = &KINDS[aim.kind];
        match from {
            None => {
                for object in self.selected(aim.kind, &selection) {
                    self.events.push_back(send(ToClient::Watch { id, event: WatchType::Added, object }));
                }
            }
            Some(from) => {
                let oldest = self.tables[aim.kind].history.oldest();
                if from < oldest {
                    let expired = status::expired(&format!("too old resource version: {from} ({oldest})"));
                    let object = Object::as_received(expired.body());
                    self.events.push_back(send(ToClient::Watch { id, event: WatchType::Error, object }));
                    self.events.push_back(send(ToClient::WatchEnded { id }));
                    return Ok(opened);
                }
            }
        }
        let lasts = match options.timeout_seconds {
            Some(seconds) if seconds > 0 => SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX / 2)),
            _ => WATCH_LEAST + self.chance.up_to(WATCH_LEAST),
        };
        let ends = origin.now.checked_add(lasts).unwrap_or(jiff::Timestamp::MAX);
        let mut watcher = Watcher {
            client: origin.client,
            id,
            kind: aim.kind,
            selection,
            bookmarks: options.bookmarks,
            omits_heartbeats: options.parameter("omitHeartbeats").is_some(),
            ends,
            wakes: ends,
        };
        if watcher.bookmarks {
            watcher.wakes = watcher.next_bookmark(origin.now).min(ends);
        }
        if let Some(from) = from {
            for past in self.tables[aim.kind].history.after(from) {
                let Some(seen) = watcher.sees(&kind.resource.plural, past.event, &past.object, past.before.as_ref())
                else {
                    continue;
                };
                let object = match (seen, &past.before) {
                    (WatchType::Deleted, Some(before)) if past.event != WatchType::Deleted => {
                        Object::new(before.json(), past.object.resource_version())
                    }
                    _ => past.object.clone(),
                };
                self.events.push_back(send(ToClient::Watch { id, event: seen, object }));
            }
        }
        self.open_watch(watcher);
        Ok(opened)
    }

    fn open_watch(&mut self, watcher: Watcher) {
        let place = self.free_watchers.pop().unwrap_or_else(|| {
            self.watchers.push(None);
            u32::try_from(self.watchers.len() - 1).expect("fewer than 2^32 watches")
        });
        self.tables[watcher.kind].watches.add(&watcher.selection, place);
        self.watcher_ids.insert((watcher.client, watcher.id), place);
        self.timers.insert((watcher.wakes, place));
        self.watchers[place as usize] = Some(watcher);
    }
}

/// Reads the selectors of a request.
pub(super) fn selection(aim: &Aim, options: &Options, wording: Wording) -> Result<Selection, Answer> {
    let kind = &KINDS[aim.kind];
    let labels = Selector::parse(&options.label_selector, wording).map_err(|message| status::bad_request(&message))?;
    let mut fields = FieldSelector::parse(&options.field_selector).map_err(|message| status::bad_request(&message))?;
    check_fields(&kind.resource.plural, &mut fields)?;
    if !aim.name.is_empty() {
        let own = FieldSelector::parse(&format!("metadata.name={}", aim.name)).unwrap_or_default();
        fields = fields.and(own);
    }
    Ok(Selection { namespace: aim.namespace.clone(), labels, fields })
}

/// Refuses fields that objects of a kind cannot be selected by. Source: pkg/apis/core/v1/conversion.go (v1.34).
fn check_fields(plural: &str, fields: &mut FieldSelector) -> Result<(), Answer> {
    let own: &[&str] = match plural {
        "nodes" => &["metadata.name", "spec.unschedulable"],
        "pods" => {
            fields.rename(|field| (*field == "spec.host").then(|| Text::of("spec.nodeName")));
            &[
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
            ]
        }
        "events" => &[
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
        ],
        "namespaces" => &["metadata.name", "status.phase"],
        _ => &["metadata.name", "metadata.namespace"],
    };
    let special = matches!(plural, "nodes" | "pods" | "events" | "namespaces");
    for field in fields.fields() {
        if !own.contains(&field.as_str()) {
            let message = if special {
                format!("field label not supported: {field}")
            } else {
                format!(
                    "{:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                    field.as_str()
                )
            };
            return Err(status::bad_request(&message.to_string()));
        }
    }
    Ok(())
}
