//! The subresource `scale`: how many replicas an object has and should have, in the form that all kinds share.
//!
//! Mirrors pkg/registry/apps/deployment/storage/storage.go (`ScaleREST`) and k8s.io/apiextensions-apiserver
//! pkg/registry/customresource/etcd.go (v1.34). Inputs: an object, or a Scale that was sent. Outputs: the Scale, and
//! the object with another number of replicas.

use alloc::string::String;
use alloc::vec::Vec;

use super::call::RequestInfo;
use super::options::RequestOptions;
use super::validation::FieldError;
use super::write::answer;
use super::{ApiServer, Origin, status};
use crate::json;
use crate::network::Answer;
use crate::objects::selector::selector_text;
use crate::objects::{Json, Object, Text};

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
        let paths = self.custom_scale(info.of);
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

    /// Gives an object the number of replicas of a Scale.
    pub(super) fn write_scale(
        &mut self,
        info: &RequestInfo,
        options: &RequestOptions,
        origin: &Origin,
        current: &Object,
        scale: &Json,
    ) -> Result<Answer, Answer> {
        let replicas = scale.at(&["spec", "replicas"]).as_i64().unwrap_or(0);
        if replicas < 0 {
            let detail = "must be greater than or equal to 0";
            let error = FieldError::invalid("spec.replicas", &Json::Int(replicas), detail);
            return Err(status::invalid_of("Scale", "autoscaling", &info.name, &[error]));
        }
        let mut tree = current.json();
        let path = match self.custom_scale(info.of) {
            Some(paths) => paths.spec.clone(),
            None => Vec::from([Text::of("spec"), Text::of("replicas")]),
        };
        tree.set(&path.iter().map(Text::as_str).collect::<Vec<_>>(), replicas);
        let sent = scale.at(&["metadata", "resourceVersion"]);
        if !sent.is_null() {
            tree.set(&["metadata", "resourceVersion"], sent.clone());
        }
        let whole = RequestInfo {
            subresource: Text::of(""),
            namespace: info.namespace.clone(),
            name: info.name.clone(),
            ..*info
        };
        let (object, warnings) = self.update_tree(&whole, options, origin, current, tree)?;
        let scale = self.scale_of(info, &object);
        Ok(answer(200, Object::as_received(scale), warnings))
    }
}
