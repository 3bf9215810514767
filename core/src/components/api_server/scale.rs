//! The subresource `scale`: how many replicas an object has and should have, in the form that all kinds share.
//!
//! Mirrors pkg/registry/apps/deployment/storage/storage.go (`ScaleREST`) and k8s.io/apiextensions-apiserver
//! pkg/registry/customresource/etcd.go (v1.34); the managers of its one field: k8s.io/apimachinery
//! pkg/util/managedfields/scalehandler.go. Inputs: an object, or a Scale that was sent. Outputs: the Scale, and
//! the object with another number of replicas.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::body_kinds::SCALE;
use super::call::RequestInfo;
use super::custom::shown_path;
use super::managers::{Managers, put_managers};
use super::naming::{check_name, check_patched_name};
use super::options::RequestOptions;
use super::strategy::storage_key;
use super::validation::{FieldError, meta, worded};
use super::write::{Read, answer, uid_precondition};
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::kinds::Kind;
use crate::network::{Answer, Body, Resource, Verb};
use crate::objects::ownership::FieldSet;
use crate::objects::selector::selector_text;
use crate::objects::{Json, NULL, Object, Text};

impl ApiServer {
    /// Returns the Scale of an object.
    pub(super) fn scale_of(&self, info: &RequestInfo, object: &Object) -> Json {
        let tree = object.json();
        let mut scale = json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {}, "status": {"replicas": 0}});
        for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            let value = tree.at(&["metadata", field]);
            if !value.is_null() {
                scale.set(&["metadata", field], value.clone());
            }
        }
        let paths = self.custom_scale(info.kind);
        let at = |path: &[Text]| tree.at(&path.iter().map(Text::as_str).collect::<Vec<_>>());
        let wanted = paths.map_or_else(|| tree.at(&["spec", "replicas"]), |paths| at(&paths.spec));
        if let Some(wanted) = wanted.as_i64().filter(|wanted| *wanted != 0) {
            scale.set(&["spec", "replicas"], wanted);
        }
        let found = paths.map_or_else(|| tree.at(&["status", "replicas"]), |paths| at(&paths.status));
        scale.set(&["status", "replicas"], found.as_i64().unwrap_or(0));
        let selector = match paths {
            Some(paths) if paths.selector.is_empty() => String::new(),
            Some(paths) => at(&paths.selector).as_str().map(String::from).unwrap_or_default(),
            None => selector_text(tree.at(&["spec", "selector"])),
        };
        if !selector.is_empty() {
            scale.set(&["status", "selector"], selector);
        }
        scale
    }

    /// Returns the Scale of an object with the managers of its fields.
    pub(super) fn managed_scale_of(&self, info: &RequestInfo, object: &Object) -> Json {
        let mut scale = self.scale_of(info, object);
        put_managers(&mut scale, &self.scale_managers(info, object));
        scale
    }

    /// Refuses the Scale of a custom object that lacks the number of replicas.
    ///
    /// Source: k8s.io/apiextensions-apiserver pkg/registry/customresource/etcd.go (v1.34), `Get` of `ScaleREST`.
    pub(super) fn check_replicas(&self, kind: &Kind, object: &Object) -> Result<(), Answer> {
        let Some(paths) = self.custom_scale(kind) else { return Ok(()) };
        let steps: Vec<&str> = paths.spec.iter().map(Text::as_str).collect();
        if object.stable().at(&steps).is_null() {
            let path = shown_path(&paths.spec);
            return Err(status::internal(&format!("the spec replicas field {path:?} does not exist")));
        }
        Ok(())
    }

    /// Reads a PUT of a Scale.
    pub(super) fn update_scale(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        body: Body,
    ) -> Result<Answer, Answer> {
        let mut read = self.read_body(&SCALE, options, body, &NULL)?;
        check_name(info.kind, &mut read.tree, info)?;
        let current = self.tables[info.kind_index].store.get(&info.namespace, &info.name).cloned();
        let current = current.ok_or_else(|| status::not_found(&info.kind.resource, &info.name))?;
        self.write_scale(info, options, origin, &current, read, None)
    }

    /// Applies a configuration to the Scale of an object.
    pub(super) fn apply_scale(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        (current, wanted): (&Object, &Json),
    ) -> Result<Answer, Answer> {
        let live = self.managed_scale_of(info, current);
        let of_scale = RequestInfo { kind: &SCALE, ..info.clone() };
        let (read, managers) = self.read_applied(&of_scale, options, origin, &live, wanted)?;
        check_patched_name(&read.tree, info)?;
        self.write_scale(info, options, origin, current, read, Some(managers))
    }

    /// Gives an object the number of replicas of a Scale; its managers are those of an update unless given.
    pub(super) fn write_scale(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        current: &Object,
        read: Read,
        managers: Option<Managers>,
    ) -> Result<Answer, Answer> {
        let scale = read.tree;
        let uid = scale.at(&["metadata", "uid"]).as_str().unwrap_or("");
        let is_other = !uid.is_empty() && uid != current.uid();
        // The store compares it before anything else if the request is the whole object.
        if is_other && origin.verb == Verb::Update {
            let why = uid_precondition(options, &storage_key(info.kind, info), uid, current.uid());
            return Err(status::conflict(&info.kind.resource, &info.name, &why));
        }
        let replicas = scale.at(&["spec", "replicas"]).as_i64().unwrap_or(0);
        let mut errors = meta::validate(&SCALE, &scale, meta::wording(&self.settings));
        // The number of a custom kind is checked with the object.
        if replicas < 0 && self.custom_scale(info.kind).is_none() {
            let detail = "must be greater than or equal to 0";
            errors.push(FieldError::invalid("spec.replicas", &Json::Int(replicas), detail));
        }
        if !errors.is_empty() {
            return Err(status::invalid(&SCALE, &info.name, &worded(errors, &self.settings)));
        }
        if is_other {
            let resource = Resource {
                plural: format!("{}/scale", info.kind.resource.plural).into(),
                ..info.kind.resource.clone()
            };
            let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", current.uid());
            return Err(status::conflict(&resource, &info.name, &why));
        }
        let mut tree = current.json();
        let path = self.replicas_path(info.kind);
        tree.set(&path.iter().map(Text::as_str).collect::<Vec<_>>(), replicas);
        let sent = scale.at(&["metadata", "resourceVersion"]);
        if !sent.is_null() {
            tree.set(&["metadata", "resourceVersion"], sent.clone());
        }
        let managers = managers.unwrap_or_else(|| {
            let known = self.scale_managers(info, current);
            let before = self.scale_of(info, current);
            self.note_scale(info, options, origin, known, (&before, &scale))
        });
        let parent = Managers::read(tree.at(&["metadata", "managedFields"]));
        let version = Text::from(info.kind.resource.api_version());
        put_managers(
            &mut tree,
            &parent.with_subresource(managers, &FieldSet::at(&path), &replicas_of_scale(), &version),
        );
        let whole = RequestInfo { subresource: Text::of(""), ..info.clone() };
        // The managers are those above.
        let options = RequestOptions { applies: true, ..options.clone() };
        let (object, warnings) = self.update_tree(&whole, &options, origin, current, (tree, &NULL))?;
        let scale = self.scale_of(info, &object);
        Ok(answer(200, Object::as_received(scale), [read.warnings, warnings].concat()))
    }

    fn replicas_path(&self, kind: &Kind) -> Vec<Text> {
        match self.custom_scale(kind) {
            Some(paths) => paths.spec.clone(),
            None => Vec::from([Text::of("spec"), Text::of("replicas")]),
        }
    }

    /// Returns the managers of the Scale of an object: those who own its number of replicas.
    fn scale_managers(&self, info: &RequestInfo, object: &Object) -> Managers {
        let parent = Managers::read(object.stable().at(&["metadata", "managedFields"]));
        let version = Text::from(SCALE.resource.api_version());
        parent.of_subresource(&FieldSet::at(&self.replicas_path(info.kind)), &replicas_of_scale(), &version)
    }
}

fn replicas_of_scale() -> FieldSet {
    FieldSet::of(&[&["spec", "replicas"]])
}
