//! Custom kinds: CustomResourceDefinitions add kinds to the server, and their objects go the way of all others.
//!
//! Mirrors k8s.io/apiextensions-apiserver (v1.34): pkg/registry/customresourcedefinition, pkg/registry/customresource,
//! and the controllers in pkg/controller/{status,establish,finalizer}, which run in the process of the API server and
//! here within the request that gives them work. Inputs: definitions as they are written, objects of their kinds.
//! Outputs: kinds that are served, and the conditions of their definitions. Invariant: a definition that is gone leaves
//! no object behind. Left out on purpose: more than one served version, and what [`schema`] leaves out.

mod definition;
mod rules;
mod scale_paths;
mod schema;

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::call::RequestInfo;
use super::content_negotiation::printed::PrinterColumns;
use super::fields::{mark, put};
use super::validation::FieldError;
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::kinds::{self, Kind, KindIndex, Trait};
use crate::network::{Answer, DEFINITIONS, Identity, Resource, ToClient, WatchType};
use crate::objects::lifecycle::{has_finalizer, is_condition_true, is_ending, is_established, put_condition};
use crate::objects::ownership::Typed;
use crate::objects::schema::{DecodeError, Decoded};
use crate::objects::{Json, Object, ObjectKey, Text, time};
use definition::Defined;
pub(super) use definition::{check, check_change, default, prepare};
pub(super) use scale_paths::{ScalePaths, shown as shown_path};

/// The finalizer of a definition whose objects are still there.
/// Source: pkg/apis/apiextensions/types.go (v1.34), `CustomResourceCleanupFinalizer`.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// A custom kind that is served.
#[derive(Clone, Debug)]
pub(super) struct CustomKind {
    /// The name of its definition.
    definition: Text,
    defined: Defined,
}

/// Keeps an empty list of managers, which asks to forget them.
fn with_emptied_managers(mut decoded: Decoded, tree: &Json) -> Decoded {
    let managers = tree.at(&["metadata", "managedFields"]);
    if managers.is_array() && managers.is_empty() {
        decoded.object.set(&["metadata", "managedFields"], managers.clone());
    }
    decoded
}

impl ApiServer {
    /// Finds a kind that is served by a name that kubectl takes. Returns with it whether its objects live in
    /// namespaces.
    #[must_use]
    pub fn find_kind(&self, name: &str) -> Option<(Resource, bool)> {
        kinds::named(name, self.kinds.iter())
    }

    /// Returns the names of all kinds that are served.
    pub fn kind_names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.kinds.iter().map(|kind| kind.name)
    }

    /// Tells whether a kind that is served has a plural name.
    #[must_use]
    pub fn has_plural(&self, plural: &str) -> bool {
        self.kinds.iter().any(|kind| kind.resource.plural == *plural)
    }

    fn custom_of(&self, kind: &Kind) -> Option<&CustomKind> {
        let index = kind.is(Trait::Custom).then(|| self.kinds.find(&kind.resource))??;
        self.custom.get(&index).map(Arc::as_ref)
    }

    /// Reads an object of a kind; parts that it shares with the known one are not read again.
    pub(super) fn decode(&self, kind: &Kind, tree: &Json, known: &Json) -> Result<Decoded, DecodeError> {
        self.decode_custom(kind, tree, true).unwrap_or_else(|| {
            let decoded = self.schema.decode_change(kind.type_name(), tree, known)?;
            Ok(with_emptied_managers(decoded, tree))
        })
    }

    /// Reads an object of a kind as [`Self::decode`] does, but from the unstructured form.
    pub(super) fn decode_converted(&self, kind: &Kind, tree: &Json, known: &Json) -> Result<Decoded, DecodeError> {
        self.decode_custom(kind, tree, false).unwrap_or_else(|| {
            let decoded = self.schema.decode_converted(kind.type_name(), tree, known)?;
            Ok(with_emptied_managers(decoded, tree))
        })
    }

    fn decode_custom(&self, kind: &Kind, tree: &Json, drops_nulls: bool) -> Option<Result<Decoded, DecodeError>> {
        let custom = self.custom_of(kind)?;
        let read = || {
            let metadata = self.schema.decode("ObjectMeta", tree.get("metadata"))?;
            let mut unknown: Vec<String> = metadata.unknown.iter().map(|field| format!("metadata.{field}")).collect();
            let mut object = custom.defined.schema.prune(tree, "", &mut unknown);
            custom.defined.schema.fill(&mut object, drops_nulls);
            if !metadata.object.is_null() {
                object.set(&["metadata"], metadata.object);
            }
            Ok(with_emptied_managers(Decoded { object, unknown }, tree))
        };
        Some(read())
    }

    /// Says what the schema of a custom kind does not allow.
    ///
    /// Source: pkg/registry/customresource/{strategy,status_strategy,validator}.go (v1.34).
    pub(super) fn check_schema(&self, info: &RequestInfo, tree: &Json, old: &Json, errors: &mut Vec<FieldError>) {
        let Some(custom) = self.custom_of(info.kind) else { return };
        let Defined { schema, scale, .. } = &custom.defined;
        let is_status = info.subresource == *"status";
        if is_status {
            schema.check_status(tree, old, errors);
        } else {
            schema.check(tree, Some(old).filter(|old| !old.is_null()), errors);
        }
        if let Some(scale) = scale {
            if !is_status {
                scale.check_spec(tree, errors);
            }
            scale.check_status(tree, errors);
        }
        let (mut repeated, mut before) = (Vec::new(), Vec::new());
        schema.repeated(tree, "", &mut repeated);
        schema.repeated(old, "", &mut before);
        errors.extend(repeated.into_iter().filter(|_| before.is_empty()));
    }

    /// Refuses a new object of a kind whose definition is going away.
    ///
    /// Source: pkg/apiserver/customresource_handler.go (v1.34), `forbidCreateAdmission`.
    pub(super) fn check_definition(&self, kind: &Kind, tree: &Json) -> Result<(), Answer> {
        let Some(custom) = self.custom_of(kind) else { return Ok(()) };
        let definition = self.object(&DEFINITIONS, &ObjectKey::cluster(&custom.definition));
        if definition.is_some_and(|own| is_condition_true(own.stable(), "Terminating")) {
            let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
            let why = "create not allowed while custom resource definition is terminating";
            let resource = (kind.resource.group.as_str(), kind.resource.plural.as_str());
            return Err(status::forbidden_by_authorisation(resource, name, why));
        }
        Ok(())
    }

    /// Returns where the objects of a custom kind have what a Scale shows.
    pub(super) fn custom_scale(&self, kind: &Kind) -> Option<&ScalePaths> {
        self.custom_of(kind)?.defined.scale.as_ref()
    }

    /// Returns how the fields of a kind are known to their owners.
    pub(super) fn typed(&self, kind: &Kind) -> Typed<'_> {
        match self.custom_of(kind) {
            Some(custom) => Typed::custom(&self.schema, &custom.defined.form),
            None => Typed::of(&self.schema, kind.type_name()),
        }
    }

    /// Returns the kind of the lists of a kind.
    pub(super) fn list_kind(&self, kind: &Kind) -> Text {
        let own = self.custom_of(kind).map(|custom| custom.defined.list_kind.clone());
        own.unwrap_or_else(|| Text::from(format!("{}List", kind.name)))
    }

    /// Returns what each answer about a custom kind warns of.
    pub(super) fn custom_warning(&self, kind: &Kind) -> Option<&str> {
        self.custom_of(kind)?.defined.warning.as_deref()
    }

    /// Returns the columns of a custom kind by its place.
    pub(super) fn printed(&self, index: KindIndex) -> Option<PrinterColumns> {
        self.custom.get(&index).map(|custom| custom.defined.printed.clone())
    }

    /// Does what the controllers of definitions do once something was written.
    pub(super) fn follow_definitions(&mut self, index: KindIndex, origin: &Origin, event: WatchType, object: &Object) {
        if index == self.definitions {
            match event {
                WatchType::Deleted => {
                    self.retire(object.name());
                    self.reconsider(origin);
                }
                _ if is_ending(object) => self.clean_up(origin, object),
                _ => self.establish(origin, object),
            }
        } else if event == WatchType::Deleted
            && let Some(custom) = self.custom.get(&index).cloned()
            && let Some(definition) = self.object(&DEFINITIONS, &ObjectKey::cluster(&custom.definition))
            && is_ending(&definition)
        {
            self.clean_up(origin, &definition);
        }
    }

    /// Accepts the names of a definition that are free, and serves its kind once they all are.
    fn establish(&mut self, origin: &Origin, object: &Object) {
        const MESSAGE: &str = "the initial names have been accepted";
        let mut tree = object.json();
        let all: Vec<Json> = self.objects(&DEFINITIONS).iter().map(Object::json).collect();
        let (names, conflict) = definition::accepted(&tree, all.iter());
        let is_accepted = conflict.is_none();
        let condition = match &conflict {
            None => ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
            Some((reason, message)) => ("NamesAccepted", "False", *reason, message.as_str()),
        };
        let has_names = *tree.at(&definition::ACCEPTED) != names;
        tree.set(&definition::ACCEPTED, names);
        let has_changed = set_condition(&mut tree, condition, origin) || has_names;
        if has_changed && !is_established(&tree) {
            let (reason, message) =
                if is_accepted { ("Installing", MESSAGE) } else { ("NotAccepted", "not all names are accepted") };
            set_condition(&mut tree, ("Established", "False", reason, message), origin);
        }
        let kind = self.definitions;
        if has_changed {
            // The commit leads here again, with nothing left to accept.
            self.commit(kind, &by_server(origin), tree);
        } else if is_accepted
            && set_condition(&mut tree, ("Established", "True", "InitialNamesAccepted", MESSAGE), origin)
        {
            self.commit(kind, &by_server(origin), tree);
        } else if is_established(&tree) {
            self.serve(&tree);
        }
    }

    /// Looks again at the names of the definitions that lack some, since one has gone.
    fn reconsider(&mut self, origin: &Origin) {
        let all: Vec<Object> = self.objects(&DEFINITIONS);
        for other in all.iter().filter(|other| !is_ending(other) && !is_condition_true(other.stable(), "NamesAccepted"))
        {
            self.establish(origin, other);
        }
    }

    /// Serves the kind that a definition defines now, in place of what it defined before.
    fn serve(&mut self, tree: &Json) {
        let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
        let Some(defined) = definition::defined(tree, &self.schema) else { return self.retire(&name) };
        let index = self.kinds.define(&defined.names);
        let former = self.index_of(&name).filter(|former| *former != index);
        self.tables.make_room(index, self.revision);
        self.custom.insert(index, Arc::new(CustomKind { definition: name, defined }));
        if let Some(former) = former {
            let table = core::mem::replace(&mut self.tables[former], super::tables::Table::new(self.revision));
            self.tables[index].store = table.store;
            self.forget_kind(former);
        }
    }

    fn index_of(&self, definition: &str) -> Option<KindIndex> {
        self.custom.iter().find(|(_, custom)| custom.definition == *definition).map(|(index, _)| *index)
    }

    fn retire(&mut self, definition: &str) {
        if let Some(index) = self.index_of(definition) {
            self.forget_kind(index);
        }
    }

    /// Ends the watches of a kind that is served no more.
    fn forget_kind(&mut self, index: KindIndex) {
        self.kinds.retire(index);
        self.custom.remove(&index);
        let open = self.watchers.iter().enumerate().filter_map(|(id, watcher)| Some((id, watcher.as_ref()?)));
        let ended: Vec<_> =
            open.filter(|(_, own)| own.kind_index == index).map(|(id, own)| (id, own.client, own.id)).collect();
        for (watcher, client, id) in ended {
            let message = ToClient::WatchEnded { id, lost: false };
            self.events.push_back(super::ServerOutput::ToClient { client, message });
            self.close_watch(u32::try_from(watcher).unwrap_or(u32::MAX));
        }
    }

    /// Removes the objects of a definition that is going away, and then the definition.
    fn clean_up(&mut self, origin: &Origin, object: &Object) {
        let mut tree = object.json();
        if !has_finalizer(object, CLEANUP) {
            return;
        }
        let origin = by_server(origin);
        let begins = ("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
        if set_condition(&mut tree, begins, &origin) {
            // The commit leads here again.
            self.commit(self.definitions, &origin, tree);
            return;
        }
        let index = self.index_of(object.name());
        let left: Vec<Object> =
            index.map_or_else(Vec::new, |index| self.tables[index].store.iter("").cloned().collect());
        let Some(index) = index.filter(|_| !left.is_empty()) else {
            let done = ("Terminating", "False", "InstanceDeletionCompleted", "removed all instances");
            set_condition(&mut tree, done, &origin);
            tree.entry(&["metadata", "finalizers"]).make_array().retain(|item| item.as_str() != Some(CLEANUP));
            let key = object.key();
            if tree.at(&["metadata", "finalizers"]).is_empty() {
                self.commit_removal(self.definitions, &origin, &key);
            } else {
                self.commit(self.definitions, &origin, tree);
            }
            return;
        };
        for own in left.iter().filter(|own| !is_ending(own)) {
            if own.stable().at(&["metadata", "finalizers"]).is_empty() {
                // The last removal leads here again, with nothing left.
                self.commit_removal(index, &origin, &own.key());
            } else {
                let mut tree = own.json();
                mark(&mut tree, origin.now, 0);
                self.commit(index, &origin, tree);
            }
        }
    }
}

/// Marks a definition whose deletion begins.
///
/// Source: pkg/registry/customresourcedefinition/etcd.go (v1.34), `Delete`.
pub(super) fn begin_end(tree: &mut Json, origin: &Origin) {
    let finalizers = tree.entry(&["metadata", "finalizers"]).make_array();
    if !finalizers.iter().any(|item| item.as_str() == Some(CLEANUP)) {
        finalizers.push(Json::from(CLEANUP));
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set_condition(tree, ("Terminating", "True", "InstanceDeletionPending", message), origin);
    tree.set(&["metadata", "deletionTimestamp"], time::to_time(origin.now));
}

/// Refuses a definition with something that is not modelled.
pub(super) fn refuse_not_modelled(kind: &Kind, tree: &Json) -> Result<(), Answer> {
    match definition::not_modelled(tree).filter(|_| kind.resource == DEFINITIONS) {
        Some(what) => Err(status::failure(501, "NotImplemented", &format!("{what} is not modelled yet"), None)),
        None => Ok(()),
    }
}

/// Lets a write of the status change nothing else.
pub(super) fn keep_all_but_status(tree: &mut Json, old: &Json) {
    let mut kept = old.clone();
    put(&mut kept, &["status"], tree.get("status"));
    put(&mut kept, &["metadata", "managedFields"], tree.at(&["metadata", "managedFields"]));
    *tree = kept;
}

/// Sets a condition: type, status, reason and message. Returns whether that changed anything.
fn set_condition(tree: &mut Json, condition: (&str, &str, &str, &str), origin: &Origin) -> bool {
    let (kind, status, reason, message) = condition;
    let conditions = tree.entry(&["status", "conditions"]).make_array();
    let new = json!({"type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": time::to_time(origin.now)});
    let is_same =
        |old: &Json| ["type", "status", "reason", "message"].iter().all(|name| old.get(name) == new.get(name));
    !conditions.iter().any(is_same) && put_condition(conditions, new)
}

/// Returns whom the server's own controllers write as.
pub(super) fn server_identity() -> Arc<Identity> {
    let (user, agent) = (Text::of("system:apiserver"), Text::of("kube-apiserver"));
    Arc::new(Identity { user, agent, ..Identity::clone(&Identity::admin()) })
}

/// Returns the origin of what the server's own controllers write of an object's status.
pub(super) fn by_server(origin: &Origin) -> Origin {
    Origin { identity: server_identity(), subresource: Text::of("status"), ..origin.clone() }
}
