//! Carries out the actions of a scenario on a real cluster, and creates what they need first: a namespace with its
//! service account.
//!
//! Input: a task with the names of the cluster. Output: the observation that it ends with, and the revisions that it
//! has written. Invariant: no request is awaited on a cluster that is known to have broken down.

use nodeproof_core::network::{Body, Call, Identity, NAMESPACES, NODES, Resource, Target, Verb, is_namespaced};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::objects::{Json, ObjectKey, Text};
use nodeproof_core::scenario::{
    Action, ActionId, AnswerSeen, Observation, ScenarioAction, Taint, Task, Writer, taints_patch,
};

use super::Driver;
use super::live_run::Performed;
use crate::live::backend::Environment;
use crate::live::cache::revision_of;
use crate::live::client::is_success;
use crate::live::timing::{ACCOUNT_PAUSE, ACCOUNT_WAIT, TROUBLE_PERIOD};

impl Driver {
    pub(super) async fn perform(&mut self, id: ActionId, task: Task) -> Performed {
        let mut written = Vec::new();
        let mut writer = None;
        let done = match task {
            Task::Feed(node) => {
                writer = Some(Writer::default());
                match self.note_creation(&NODES, &node.name) {
                    Ok(()) => {
                        let start = self.heartbeat_tasks.start(node, &self.caller, self.clock);
                        let started = unless_broken(self.environment.as_ref(), start).await.and_then(|own| own);
                        started.map(|own| written = own)
                    }
                    Err(why) => Err(why),
                }
            }
            Task::Action(ScenarioAction::Action(action)) => match *action {
                Action::Api { identity, call } if call.verb == Verb::Watch => {
                    let answer = self.watches.open_own(&self.caller, &identity, &call, id).await;
                    return Performed::of(Observation::Answer(id, self.home_answer(answer)));
                }
                Action::Api { identity, call } => return self.request(id, &identity, &call).await,
                Action::AddMachine(spec) => self.environment.add_machine(spec).await,
                Action::Machine { name, action } => self.environment.machine_do(&name, action).await,
                Action::AddRule(fault) => self.environment.add_rule(id, fault).await,
                Action::RemoveRule(rule) => self.environment.remove_rule(rule).await,
                Action::Controller { name, action } => self.environment.controller_do(&name, action).await,
                Action::FromPod { .. } => Err("Pods send requests on the simulator only".to_owned()),
                Action::Http(_) => Err("the servers of kubelets are called on the simulator only".to_owned()),
                ref command @ (Action::Drain(_) | Action::Describe(_)) => {
                    let arguments = command.kubectl_arguments().unwrap_or_default();
                    let command = self.environment.kubectl(&arguments);
                    command.and_then(|command| self.watches.run_command(command, id))
                }
                Action::Cloud(_) => Err("the cloud of a real cluster cannot be changed".to_owned()),
                Action::Custom { name, .. } => Err(format!("{name:?} is a step of the simulator's only")),
            },
            Task::Action(ScenarioAction::Heal(endpoint)) => self.environment.heal(endpoint).await,
            Task::Action(ScenarioAction::Feed { node, feed }) => {
                writer = Some(Writer::default());
                self.heartbeat_tasks.change(&node, feed)
            }
            Task::Action(ScenarioAction::Taint { node, add, remove }) => {
                return self.taint(id, &node, &add, &remove).await;
            }
            Task::Action(ScenarioAction::Pass(_) | ScenarioAction::Until(_)) => Ok(()),
        };
        let observation = match done {
            Ok(()) => Observation::Done(id),
            Err(why) => Observation::Refused(id, self.aliases.home_text(&why)),
        };
        Performed { written, writer, ..Performed::of(observation) }
    }

    /// Reads the Node and patches the whole list, as `kubectl taint` does.
    async fn taint(&mut self, id: ActionId, node: &Text, add: &[Taint], remove: &[Taint]) -> Performed {
        let admin = Identity::admin();
        let found = self.answer(self.caller.send(&admin, &Call::new(Verb::Get, NODES, "", node.clone()))).await;
        if !is_success(&found) {
            return Performed::of(Observation::Answer(id, self.home_answer(found)));
        }
        match taints_patch(&found.body, node, add, remove) {
            Ok(call) => self.request(id, &admin, &call).await,
            Err(why) => Performed::of(Observation::Refused(id, why)),
        }
    }

    async fn request(&mut self, id: ActionId, identity: &Identity, call: &Call) -> Performed {
        if call.verb == Verb::Create
            && let Err(why) = self.prepare(call).await
        {
            return Performed::of(Observation::Refused(id, why));
        }
        let answer = self.answer(self.caller.send(identity, call)).await;
        self.made.extend(made_by(call, &answer));
        let (mut written, mut writer) = (Vec::new(), None);
        if !matches!(call.verb, Verb::Get | Verb::List | Verb::Watch) && is_success(&answer) {
            let mut asked = Writer { user: identity.user.clone(), ..Writer::default() };
            if let Target::Resource { resource, subresource, .. } = &call.target
                && revision_of(&answer.body) > 0
            {
                let named = call.parameter("fieldManager").map(Text::from);
                asked.manager = named.unwrap_or_else(|| identity.agent.clone());
                asked.subresource = subresource.clone();
                written.push((resource.clone(), revision_of(&answer.body)));
            }
            writer = Some(asked);
        }
        // Pods that follow would be refused before a controller has made the account of their namespace.
        if let (true, Target::Resource { resource, .. }) =
            (call.verb == Verb::Create && is_success(&answer), &call.target)
            && *resource == NAMESPACES
            && let Some(name) = answer.body.at(&["metadata", "name"]).as_text()
        {
            // Without that controller there will be none, and what follows shows it.
            let _ = self.await_service_account(name).await;
        }
        let removed = removed_by(call, &answer.body);
        Performed { observation: Observation::Answer(id, self.home_answer(answer)), written, removed, writer }
    }

    /// Waits for an answer. If the cluster turns out to have broken down meanwhile, the reason is the answer.
    async fn answer(&self, answer: impl Future<Output = AnswerSeen>) -> AnswerSeen {
        let answered = unless_broken(self.environment.as_ref(), answer).await;
        answered.unwrap_or_else(|message| AnswerSeen { message, ..AnswerSeen::default() })
    }

    /// Notes what a request creates, and creates the namespace that it needs.
    async fn prepare(&mut self, call: &Call) -> Result<(), String> {
        let Target::Resource { resource, namespace, .. } = &call.target else { return Ok(()) };
        if let (false, Body::Json(body)) = (is_namespaced(resource), &call.body) {
            let name = body.at(&["metadata", "name"]).as_str().unwrap_or_default();
            // A name without the suffix may be that of an object that is there already.
            if self.aliases.has_made(&ObjectKey::cluster(name)) {
                self.note_creation(resource, name)?;
            }
        }
        self.make_real_namespace(&namespace.clone()).await
    }

    /// Notes that an object is about to be created that others could find. On a control plane of the scenario's own
    /// this is not needed: the object goes with the control plane.
    fn note_creation(&mut self, resource: &Resource, name: &str) -> Result<(), String> {
        if self.aliases.is_none() || name.is_empty() { Ok(()) } else { self.environment.note_creation(resource, name) }
    }

    fn home_answer(&self, answer: AnswerSeen) -> AnswerSeen {
        AnswerSeen {
            code: answer.code,
            message: self.aliases.home_text(&answer.message),
            body: self.aliases.home(&answer.body),
            unmodelled: None,
        }
    }

    /// Creates the scenario's own namespace for one that every cluster has.
    pub(super) async fn make_namespace(&mut self, alias: &str) -> Result<(), String> {
        self.make_real_namespace(&self.aliases.namespace(alias)).await
    }

    async fn make_real_namespace(&mut self, name: &Text) -> Result<(), String> {
        let is_ours = !self.aliases.is_none() && name.ends_with(self.aliases.suffix());
        if !is_ours || self.namespaces.contains(name) {
            return Ok(());
        }
        self.environment.note_creation(&NAMESPACES, name)?;
        self.namespaces.insert(name.clone());
        let mut namespace = nodeproof_core::json!({"kind": "Namespace", "apiVersion": "v1"});
        namespace.set(&["metadata", "name"], name.clone());
        let call = Call::new(Verb::Create, NAMESPACES, "", "").body(namespace);
        let answer = self.answer(self.caller.ask(&call)).await;
        if !is_success(&answer) && answer.code != 409 {
            return Err(format!("namespace {name} cannot be made: {}", answer.message));
        }
        self.await_service_account(name).await
    }

    /// Waits for the service account of a namespace: Pods are refused until a controller has created it.
    async fn await_service_account(&self, namespace: &Text) -> Result<(), String> {
        let accounts = Resource::of("", "v1", "serviceaccounts");
        let call = Call::new(Verb::Get, accounts, namespace.clone(), "default");
        let since = self.clock.now();
        while self.clock.now().duration_since(since) < ACCOUNT_WAIT {
            if is_success(&self.answer(self.caller.ask(&call)).await) {
                return Ok(());
            }
            if let Some(why) = self.environment.trouble() {
                return Err(why);
            }
            tokio::time::sleep(ACCOUNT_PAUSE).await;
        }
        Err(format!("namespace {namespace} gets no service account within {}", seconds(ACCOUNT_WAIT)))
    }
}

/// Waits for what is under way on a cluster.
///
/// # Errors
/// The cluster has broken down meanwhile, with the reason.
async fn unless_broken<T>(environment: &dyn Environment, work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = std::pin::pin!(work);
    loop {
        if let Ok(done) = tokio::time::timeout(TROUBLE_PERIOD.unsigned_abs(), &mut work).await {
            return Ok(done);
        }
        if let Some(why) = environment.trouble() {
            return Err(why);
        }
    }
}

/// Returns the object of the whole cluster that a request has created, Nodes aside. A review has no uid: it is
/// not kept.
fn made_by(call: &Call, answer: &AnswerSeen) -> Option<(Resource, Text)> {
    let Target::Resource { resource, .. } = &call.target else { return None };
    let is_kept = call.verb == Verb::Create && is_success(answer) && !is_namespaced(resource) && *resource != NODES;
    let metadata = answer.body.get("metadata");
    let name = metadata.get("name").as_text().filter(|_| is_kept && !metadata.get("uid").is_null())?;
    Some((resource.clone(), name.clone()))
}

/// Returns the object that a deletion has removed, if the answer says that nothing of it is left.
fn removed_by(call: &Call, answer: &Json) -> Option<(Resource, ObjectKey, Text)> {
    let Target::Resource { resource, namespace, name, .. } = &call.target else { return None };
    let uid = answer.at(&["details", "uid"]).as_text().filter(|_| call.verb == Verb::Delete)?;
    Some((resource.clone(), ObjectKey { namespace: namespace.clone(), name: name.clone() }, uid.clone()))
}
