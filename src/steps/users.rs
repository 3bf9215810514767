//! Sentences about what people do with kubectl and the API: objects, cordons, taints, labels, single requests.

use std::sync::Arc;

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::json;
use nodeproof_core::network::{Body, Call, Identity, MERGE_PATCH, NODES, PODS, Target, Verb};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::{Action, ScenarioAction, Setup};

use super::draft::{Draft, NodeKind};
use super::manifest::{self, Manifest};
use super::words;

/// Objects of any kind, as YAML in a doc string; several are parted by `---`.
#[given(regex = r"^the objects?:$")]
fn objects(draft: &mut Draft, step: &Step) {
    let found = draft.objects(step.docstring.as_ref());
    draft.have(found);
}

/// Objects in a YAML file below `fixtures/`.
#[given(regex = r#"^the objects in "(?P<fixture>[^"]*)"$"#)]
fn objects_in(draft: &mut Draft, fixture: String) {
    let read = manifest::fixture(&draft.compile_context.fixtures, &fixture);
    let Some(text) = draft.take(&fixture, read) else { return };
    match manifest::manifests(&text) {
        Ok(found) => draft.have(found),
        Err((line, message)) => draft.problem(&fixture, format!("line {line}: {message}")),
    }
}

/// A user creates objects, as YAML in a doc string; several are parted by `---`.
#[given(regex = r"^the user creates:$")]
#[when(regex = r"^the user creates:$")]
fn user_creates(draft: &mut Draft, step: &Step) {
    let found = draft.objects(step.docstring.as_ref());
    let actions: Vec<ScenarioAction> = found
        .into_iter()
        .map(|object| {
            draft.know(&object);
            let call = Call::new(Verb::Create, object.resource, object.namespace, "").body(object.body);
            Action::Api { identity: Identity::admin(), call }.into()
        })
        .collect();
    draft.actions(actions);
}

/// `kubectl cordon`, `uncordon` and `delete`; a Pod is deleted with its own grace period.
#[given(regex = r#"^the user (?P<what>cordons|uncordons|deletes) (?P<kind>Node|Pod) "(?P<name>[^"]*)"$"#)]
#[when(regex = r#"^the user (?P<what>cordons|uncordons|deletes) (?P<kind>Node|Pod) "(?P<name>[^"]*)"$"#)]
fn user_deletes(draft: &mut Draft, what: String, kind: String, name: String) {
    if kind == "Pod" {
        if what != "deletes" {
            draft.problem(&what, format!("nobody {what} a Pod: Nodes are cordoned"));
        } else if let Some(pod) = draft.pod(&name) {
            draft.user_asks(Call::new(Verb::Delete, PODS, pod.namespace, pod.name));
        }
        return;
    }
    let Some(node) = draft.node(&name) else { return };
    let call = match what.as_str() {
        "deletes" => Call::new(Verb::Delete, NODES, "", node),
        "cordons" => Call::strategic_patch(NODES, "", node, json!({"spec": {"unschedulable": true}})),
        _ => Call::strategic_patch(NODES, "", node, json!({"spec": {"unschedulable": Json::Null}})),
    };
    draft.user_asks(call);
}

/// `kubectl taint` and `kubectl label --overwrite`: `key[=value]:Effect`, which replaces one of the same key and
/// effect, or `key=value`.
#[given(regex = r#"^the user (?P<what>taints|labels) Node "(?P<node>[^"]*)" with "(?P<value>[^"]*)"$"#)]
#[when(regex = r#"^the user (?P<what>taints|labels) Node "(?P<node>[^"]*)" with "(?P<value>[^"]*)"$"#)]
fn user_marks(draft: &mut Draft, what: String, node: String, value: String) {
    let Some(node) = draft.node(&node) else { return };
    if what == "taints" {
        if let Some(taint) = draft.take(&value, words::taint(&value)) {
            draft.action(ScenarioAction::Taint { node, add: vec![taint], remove: Vec::new() });
        }
    } else if let Some((key, value)) = draft.take(&value, words::label(&value)) {
        draft.patch_label(node, &key, Json::text(value.unwrap_or_default()));
    }
}

/// `kubectl taint` and `kubectl label` with a `-` at the end: a taint is taken off whatever its value.
#[given(regex = r#"^the user removes (?P<what>taint|label) "(?P<value>[^"]*)" from Node "(?P<node>[^"]*)"$"#)]
#[when(regex = r#"^the user removes (?P<what>taint|label) "(?P<value>[^"]*)" from Node "(?P<node>[^"]*)"$"#)]
fn user_unmarks(draft: &mut Draft, what: String, value: String, node: String) {
    let Some(node) = draft.node(&node) else { return };
    if what == "taint" {
        if let Some(taint) = draft.take(&value, words::taint(&value)) {
            draft.action(ScenarioAction::Taint { node, add: Vec::new(), remove: vec![taint] });
        }
    } else if let Some((key, _)) = draft.take(&value, words::label(&value)) {
        draft.patch_label(node, &key, Json::Null);
    }
}

/// A request to the API server: `the user sends GET /api/v1/nodes/worker-1`. Who sends it is `the user`, who may do
/// everything, `user "jane"`, `service account "namespace/name"` or `the kubelet on "worker-1"`, that is the
/// credentials in the file that its `--kubeconfig` names.
#[given(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") sends (?P<method>[A-Za-z]+) (?P<path>\S*[^\s:])$"#
)]
#[when(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") sends (?P<method>[A-Za-z]+) (?P<path>\S*[^\s:])$"#
)]
fn user_sends(draft: &mut Draft, who: String, method: String, path: String) {
    if let Some(call) = draft.take(&path, manifest::request(&method, &path)) {
        draft.asks(&who, call);
    }
}

/// A watch of a list, which lasts to the end of the scenario: `the user watches /api/v1/nodes?labelSelector=a%3Db`. It
/// begins with what is there. `the watch` in later lines is the one that was opened last.
#[given(regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") watches (?P<path>\S*[^\s:])$"#)]
#[when(regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") watches (?P<path>\S*[^\s:])$"#)]
fn user_watches(draft: &mut Draft, who: String, path: String) {
    let Some(call) = draft.take(&path, manifest::request("GET", &path)) else { return };
    if call.verb != Verb::List {
        draft.problem(&path, "a watch is of a list, as /api/v1/nodes".to_owned());
        return;
    }
    if let Target::Resource { resource, .. } = &call.target {
        draft.watched = Some(resource.clone());
    }
    draft.asks(&who, Call { verb: Verb::Watch, ..call });
}

/// A request with a body, as YAML or JSON in a doc string. A PATCH is a merge patch unless the body is a list, which is
/// a JSON patch, or `strategic` stands before PATCH.
#[given(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") sends (?P<strategic>strategic )?(?P<method>[A-Za-z]+) (?P<path>\S+):$"#
)]
#[when(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on) "[^"]*") sends (?P<strategic>strategic )?(?P<method>[A-Za-z]+) (?P<path>\S+):$"#
)]
fn user_sends_body(draft: &mut Draft, who: String, strategic: String, method: String, path: String, step: &Step) {
    let Some(mut call) = draft.take(&path, manifest::request(&method, &path)) else { return };
    let Some(text) = &step.docstring else {
        draft.problem("", "the body is missing: a doc string below the step".to_owned());
        return;
    };
    match manifest::body(text) {
        Ok(body) => {
            if call.verb == Verb::Patch {
                let media_type = match () {
                    () if !strategic.is_empty() => nodeproof_core::network::STRATEGIC_MERGE_PATCH,
                    () if body.is_array() => nodeproof_core::network::JSON_PATCH,
                    () => MERGE_PATCH,
                };
                call = call.header("content-type", Text::of(media_type));
            }
            call.body = Body::Json(body);
            draft.asks(&who, call);
        }
        Err((line, message)) => draft.problem_in_text(line, message),
    }
}

/// How many Pods of a StatefulSet sentences may name.
const PODS_NAMED: usize = 100;

impl Draft {
    fn user_asks(&mut self, call: Call) {
        self.action(Action::Api { identity: Identity::admin(), call });
    }

    /// Adds a request of somebody as an action.
    fn asks(&mut self, who: &str, call: Call) {
        if let Some(identity) = self.identity(who) {
            self.action(Action::Api { identity, call });
        }
    }

    /// Reads the user who sends a request.
    fn identity(&mut self, who: &str) -> Option<Arc<Identity>> {
        let (kind, name) = who.trim_end_matches('"').split_once(" \"").unwrap_or((who, ""));
        let agent = Text::of("kubectl");
        let authenticated = Text::of("system:authenticated");
        match kind {
            "the kubelet on" => {
                let machine = self.node(name)?;
                self.kubelet_identity(&machine)
            }
            "user" if name == "system:anonymous" => {
                let groups = vec![Text::of("system:unauthenticated")];
                Some(Arc::new(Identity { user: Text::from(name), groups, agent }))
            }
            "user" => Some(Arc::new(Identity { user: Text::from(name), groups: vec![authenticated], agent })),
            "service account" => {
                let Some((namespace, account)) = name.split_once('/') else {
                    self.problem(name, "a namespace and a name are needed, as \"default/robot\"".to_owned());
                    return None;
                };
                let user = Text::from(format!("system:serviceaccount:{namespace}:{account}"));
                let all = Text::of("system:serviceaccounts");
                let own = Text::from(format!("system:serviceaccounts:{namespace}"));
                Some(Arc::new(Identity { user, groups: vec![all, own, authenticated], agent }))
            }
            _ => Some(Identity::admin()),
        }
    }

    fn patch_label(&mut self, node: Text, key: &str, value: Json) {
        let mut patch = json!({});
        patch.set(&["metadata", "labels", key], value);
        self.user_asks(Call::strategic_patch(NODES, "", node, patch));
    }

    /// Adds objects to the setup.
    fn have(&mut self, objects: Vec<Manifest>) {
        objects.iter().for_each(|object| self.know(object));
        let objects: Vec<_> = objects.into_iter().map(|object| (object.resource, object.body)).collect();
        if !objects.is_empty() {
            self.given(Setup::Objects(objects));
        }
    }

    /// Declares the Nodes, Pods and workloads among the objects, so that later sentences may name them.
    fn know(&mut self, object: &Manifest) {
        match object.kind.as_str() {
            "Node" => drop(self.declare_node(&object.name, NodeKind::Object, None)),
            "Pod" => {
                let node = object.body.at(&["spec", "nodeName"]).as_text().cloned();
                let _ = self.declare_pod(&format!("{}/{}", object.namespace, object.name), node.as_ref());
            }
            "StatefulSet" => {
                self.owners.push(object.name.clone());
                let ordinals = usize::try_from(object.body.at(&["spec", "replicas"]).as_i64().unwrap_or(1));
                for ordinal in 0..ordinals.unwrap_or(0).min(PODS_NAMED) {
                    let _ = self.declare_pod(&format!("{}/{}-{ordinal}", object.namespace, object.name), None);
                }
            }
            "Deployment" | "DaemonSet" | "ReplicaSet" | "ReplicationController" => {
                self.owners.push(object.name.clone())
            }
            _ => {}
        }
    }
}
