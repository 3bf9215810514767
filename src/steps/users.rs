//! Sentences about what people do with kubectl and the API: objects, cordons, taints, labels, single requests.

use std::sync::Arc;

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::components::drain::DrainCommand;
use nodeproof_core::json;
use nodeproof_core::network::{
    APPLY_PATCH, Body, Call, HttpCall, HttpCredentials, Identity, MERGE_PATCH, NODES, PODS, Target, Verb,
};
use nodeproof_core::objects::{Json, ObjectKey, Text};
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
        Ok(mut found) => {
            draft.place_custom(&mut found);
            draft.have(found);
        }
        Err((line, message)) => draft.problem(&fixture, format!("line {line}: {message}")),
    }
}

/// A user creates objects, as YAML in a doc string; several are parted by `---`. Or applies them, made or changed, as
/// `kubectl apply --server-side --force-conflicts` does.
#[given(regex = r"^the user (?P<what>creates|applies):$")]
#[when(regex = r"^the user (?P<what>creates|applies):$")]
fn user_creates(draft: &mut Draft, what: String, step: &Step) {
    let found = draft.objects(step.docstring.as_ref());
    let actions: Vec<ScenarioAction> = found
        .into_iter()
        .map(|object| {
            if what == "creates" || !draft.is_declared(&object.name) {
                draft.know(&object);
            }
            let call = if what == "creates" {
                Call::new(Verb::Create, object.resource, object.namespace, "")
            } else {
                Call::new(Verb::Patch, object.resource, object.namespace, object.name)
                    .header("content-type", Text::of(APPLY_PATCH))
                    .query("fieldManager", Text::of("kubectl"))
                    .query("force", Text::of("true"))
            };
            Action::Api { identity: Identity::admin(), call: call.body(object.body) }.into()
        })
        .collect();
    draft.actions(actions);
}

/// `kubectl cordon`, `uncordon`, `drain`, `describe` and `delete`, which takes objects of any kind, and the eviction of
/// a Pod; a Pod goes with its own grace period. `the user drains Nodes "a" and "b" with:` has rows of flags:
/// `| ignore-daemonsets | true |`. A drain goes on in the following lines, which say what kubectl prints.
#[given(
    regex = r#"^the user (?P<what>cordons|uncordons|drains|describes|evicts|deletes) (?P<kind>Nodes?|Pods?|[A-Z][A-Za-z]*) (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*)(?P<with> with:)?$"#
)]
#[when(
    regex = r#"^the user (?P<what>cordons|uncordons|drains|describes|evicts|deletes) (?P<kind>Nodes?|Pods?|[A-Z][A-Za-z]*) (?P<names>"[^"]*"(?:(?:, | and )"[^"]*")*)(?P<with> with:)?$"#
)]
fn user_deletes(draft: &mut Draft, what: String, kind: String, names: String, with: String, step: &Step) {
    let Some(names) = draft.take(&names, words::names(&names)) else { return };
    if what != "drains" && !with.is_empty() {
        draft.problem("with:", "only `drains` has flags".to_owned());
        return;
    }
    match kind.as_str() {
        "Pod" | "Pods" => return draft.remove_pods(&what, &names),
        "Node" | "Nodes" => {}
        _ if what == "deletes" => {
            let objects: Vec<_> = names.iter().filter_map(|name| draft.named_object(&kind, name)).collect();
            // What `kubectl delete` sends: without it the server would leave the Pods of a Job.
            let options = json!({"propagationPolicy": "Background"});
            return draft.user_asks_all(objects.into_iter().map(|object| {
                Call::new(Verb::Delete, object.resource, object.key.namespace, object.key.name).body(options.clone())
            }));
        }
        _ => return draft.problem(&kind, format!("nobody {what} a {kind}: only `deletes` takes any kind")),
    }
    let nodes: Vec<Text> = names.iter().filter_map(|name| draft.node(name)).collect();
    let patch =
        |node: Text, value: Json| Call::strategic_patch(NODES, "", node, json!({"spec": {"unschedulable": value}}));
    match what.as_str() {
        "drains" => draft.drain(nodes, !with.is_empty(), step),
        "describes" => draft.action(Action::Describe(nodes)),
        "evicts" => draft.problem(&what, "nobody evicts a Node: a Node is drained, a Pod is evicted".to_owned()),
        "deletes" => draft.user_asks_all(nodes.into_iter().map(|node| Call::new(Verb::Delete, NODES, "", node))),
        "cordons" => draft.user_asks_all(nodes.into_iter().map(|node| patch(node, Json::Bool(true)))),
        _ => draft.user_asks_all(nodes.into_iter().map(|node| patch(node, Json::Null))),
    }
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
    } else if let Some((key, value)) = draft.take(&value, words::new_label(&value)) {
        draft.patch_label(node, &key, Json::text(value));
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
/// credentials in the file that its `--kubeconfig` names, or `Pod "web"`, with the token of its service account.
/// `CONNECT` opens a stream, as `kubectl exec` does. With a URL,
/// `https://worker-1:10250/pods`, the request goes to the server of a kubelet.
#[given(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on|Pod) "[^"]*") sends (?P<method>[A-Za-z]+) (?P<path>\S*[^\s:])$"#
)]
#[when(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on|Pod) "[^"]*") sends (?P<method>[A-Za-z]+) (?P<path>\S*[^\s:])$"#
)]
fn user_sends(draft: &mut Draft, who: String, method: String, path: String) {
    if path.contains("://") {
        if let Some(call) = draft.take(&path, manifest::call(&method, &path)) {
            draft.calls(&who, call);
        }
        return;
    }
    // A stream is a GET that asks for an upgrade.
    if method == "CONNECT" {
        if let Some(call) = draft.take(&path, manifest::request("GET", &path)) {
            draft.asks(&who, call.header("upgrade", Text::of("SPDY/3.1")));
        }
        return;
    }
    let read = manifest::request(&method, &path);
    if let Some(call) = draft.take(method_or_path(&method, &path), read) {
        draft.asks(&who, call);
    }
}

/// Returns which of a request's words is wrong, if one is.
fn method_or_path<'a>(method: &'a str, path: &'a str) -> &'a str {
    if manifest::METHODS.contains(&method) { path } else { method }
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
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on|Pod) "[^"]*") sends (?P<strategic>strategic )?(?P<method>[A-Za-z]+) (?P<path>\S+):$"#
)]
#[when(
    regex = r#"^(?P<who>the user|(?:user|service account|the kubelet on|Pod) "[^"]*") sends (?P<strategic>strategic )?(?P<method>[A-Za-z]+) (?P<path>\S+):$"#
)]
fn user_sends_body(draft: &mut Draft, who: String, strategic: String, method: String, path: String, step: &Step) {
    let read = manifest::request(&method, &path);
    let Some(mut call) = draft.take(method_or_path(&method, &path), read) else { return };
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
        Err((line, message)) => draft.problem_in_text(line, "", message),
    }
}

/// How many Pods of a StatefulSet sentences may name.
const PODS_NAMED: usize = 100;

impl Draft {
    fn user_asks(&mut self, call: Call) {
        self.action(Action::Api { identity: Identity::admin(), call });
    }

    fn user_asks_all(&mut self, calls: impl Iterator<Item = Call>) {
        let admin = Identity::admin();
        self.actions(calls.map(|call| Action::Api { identity: admin.clone(), call }.into()).collect());
    }

    /// Deletes or evicts Pods.
    fn remove_pods(&mut self, what: &str, names: &[String]) {
        if !matches!(what, "deletes" | "evicts") {
            self.problem(what, format!("nobody {what} a Pod: Nodes are cordoned and drained"));
            return;
        }
        let pods: Vec<_> = names.iter().filter_map(|name| self.pod(name)).collect();
        self.user_asks_all(pods.into_iter().map(|pod| {
            if what == "deletes" {
                return Call::new(Verb::Delete, PODS, pod.namespace, pod.name);
            }
            let body = json!({"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": pod.name.as_str(), "namespace": pod.namespace.as_str()}});
            Call::new(Verb::Create, PODS, pod.namespace, pod.name).subresource("eviction").body(body)
        }));
    }

    /// Starts `kubectl drain` with the flags of the step's table.
    fn drain(&mut self, nodes: Vec<Text>, has_flags: bool, step: &Step) {
        let mut command = DrainCommand::of(nodes);
        let rows = if has_flags { self.flag_rows(step) } else { Vec::new() };
        for (row, flag, value) in rows {
            if let Err(message) = command.set(&flag, &value) {
                let cell = usize::from(!message.contains("has no flag"));
                self.problem_unless_not_modelled(&message, |draft| {
                    draft.problem_in_row(row, Some(cell), message.clone(), Vec::new());
                });
            }
        }
        self.action(Action::Drain(command));
    }

    /// Tells whether a step before starts a command of kubectl, or notes that none does.
    pub(super) fn has_command(&mut self) -> bool {
        let is_one = |action: &ScenarioAction| match action {
            ScenarioAction::Action(action) => action.is_command(),
            _ => false,
        };
        let has_one = self.scenario.actions().any(is_one);
        if !has_one {
            let help = vec!["the user drains Node \"worker-1\"".to_owned()];
            self.problem_with("kubectl", "no step before starts a command of kubectl".to_owned(), help);
        }
        has_one
    }

    /// Adds a request of somebody as an action.
    fn asks(&mut self, who: &str, call: Call) {
        if let Some(pod) = who.strip_prefix("Pod ") {
            if let Some(pod) = self.pod(pod.trim_matches('"')) {
                self.action(Action::FromPod { pod: ObjectKey::namespaced(pod.namespace, pod.name), call });
            }
            return;
        }
        if let Some(identity) = self.identity(who) {
            self.action(Action::Api { identity, call });
        }
    }

    /// Adds a call to the server of a kubelet as an action.
    fn calls(&mut self, who: &str, call: HttpCall) {
        if who.starts_with("Pod ") {
            return self.problem(who, "a Pod sends requests to the API server only".to_owned());
        }
        let Some(identity) = self.identity(who) else { return };
        let credentials =
            if identity.is_anonymous() { HttpCredentials::None } else { HttpCredentials::Certificate(identity) };
        self.action(Action::Http(HttpCall { credentials, ..call }));
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
            "user" if name == Identity::ANONYMOUS => Some(Identity::anonymous(agent)),
            "user" => {
                Some(Arc::new(Identity { user: Text::from(name), groups: vec![authenticated], agent, details: None }))
            }
            "service account" => {
                let Some((namespace, account)) = name.split_once('/') else {
                    self.problem(name, "a namespace and a name are needed, as \"default/robot\"".to_owned());
                    return None;
                };
                let user = Text::from(format!("system:serviceaccount:{namespace}:{account}"));
                let all = Text::of("system:serviceaccounts");
                let own = Text::from(format!("system:serviceaccounts:{namespace}"));
                Some(Arc::new(Identity { user, groups: vec![all, own, authenticated], agent, details: None }))
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

    /// Tells whether a Node, a Pod or a workload has a name.
    fn is_declared(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| *node.name == *name)
            || self.pods.iter().any(|pod| *pod.name == *name)
            || self.owners.iter().any(|(_, owner)| **owner == *name)
    }

    /// Declares the Nodes, Pods and workloads among the objects, so that later sentences may name them.
    fn know(&mut self, object: &Manifest) {
        self.note_name(&object.name);
        match object.kind.as_str() {
            "Node" => drop(self.declare_node(&object.name, NodeKind::Object, None)),
            "Pod" => {
                let node = object.body.at(&["spec", "nodeName"]).as_text().cloned();
                let _ = self.declare_pod(&format!("{}/{}", object.namespace, object.name), node.as_ref());
            }
            "StatefulSet" => {
                self.owners.push((Text::from(object.kind.as_str()), object.name.clone()));
                let ordinals = usize::try_from(object.body.at(&["spec", "replicas"]).as_i64().unwrap_or(1));
                for ordinal in 0..ordinals.unwrap_or(0).min(PODS_NAMED) {
                    let _ = self.declare_pod(&format!("{}/{}-{ordinal}", object.namespace, object.name), None);
                }
            }
            "Deployment" | "DaemonSet" | "Job" | "ReplicaSet" | "ReplicationController" => {
                self.owners.push((Text::from(object.kind.as_str()), object.name.clone()));
            }
            _ => {}
        }
    }
}
