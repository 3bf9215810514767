//! Requests of containers to the API server, with the token that their Pod was given.
//!
//! Mirrors what client-go does in a container (rest.InClusterConfig, v1.34). The kubelet asks for the token when the
//! Pod first uses it, and not before its containers start. Inputs: a Pod and a request. Outputs: the answer, or why
//! there is none.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

use super::Simulation;
use crate::json;
use crate::network::{Call, Identity, PODS, SERVICE_ACCOUNTS, Verb};
use crate::objects::{Json, ObjectKey, Text};
use crate::scenario::{ActionId, AnswerSeen, Observation};

/// The tokens of Pods, by uid.
pub(super) type PodTokens = BTreeMap<Text, Text>;

impl Simulation {
    /// Sends a request from a container of a Pod.
    pub(super) fn ask_from_pod(&mut self, id: ActionId, pod: &ObjectKey, call: Call) -> Observation {
        let Some(object) = self.api().object(&PODS, pod) else {
            return Observation::Refused(id, format!("there is no Pod {}", pod.name));
        };
        let uid = Text::from(object.uid());
        let runs = self.machines().find(|machine| machine.runs_one_of(core::slice::from_ref(&uid)));
        let Some(machine) = runs.map(|machine| (machine.name().clone(), machine.node_name())) else {
            return Observation::Refused(id, format!("no container of Pod {} runs", pod.name));
        };
        let spec = object.stable().get("spec").clone();
        let token = match self.token_of(&uid, pod, &spec, &machine.1) {
            Ok(token) => token,
            Err(why) => return Observation::Refused(id, why),
        };
        let end = format!("machine/{}", machine.0);
        if let Some(rule) = self.cut("api", core::slice::from_ref(&end)) {
            self.count_rule(rule, call.verb.method());
            let address = crate::components::api_server::ADDRESS;
            let port = crate::components::api_server::PORT;
            let message = format!("dial tcp {address}:{port}: i/o timeout");
            return Observation::Answer(id, AnswerSeen { message, ..AnswerSeen::default() });
        }
        let call = match token {
            Some(token) => call.header("authorization", format!("Bearer {token}")),
            None => call,
        };
        Observation::Answer(id, AnswerSeen::of(&self.request(Identity::anonymous("pod"), call)))
    }

    /// Returns the token that is mounted into a Pod; none if no volume of it holds one.
    fn token_of(&mut self, uid: &Text, pod: &ObjectKey, spec: &Json, node: &Text) -> Result<Option<Text>, String> {
        if let Some(token) = self.pod_tokens.get(uid) {
            return Ok(Some(token.clone()));
        }
        let sources = spec.get("volumes").items().iter().flat_map(|own| own.at(&["projected", "sources"]).items());
        let mut tokens = sources.map(|source| source.get("serviceAccountToken")).filter(|own| own.is_object());
        let Some(wanted) = tokens.next() else { return Ok(None) };
        let mut body = json!({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1"});
        body.set(&["spec", "expirationSeconds"], wanted.get("expirationSeconds").clone());
        let bound = json!({"kind": "Pod", "apiVersion": "v1", "name": pod.name.as_str(), "uid": uid.as_str()});
        body.set(&["spec", "boundObjectRef"], bound);
        let account = spec.get("serviceAccountName").as_text().cloned().unwrap_or_default();
        let call =
            Call::new(Verb::Create, SERVICE_ACCOUNTS, pod.namespace.clone(), account).subresource("token").body(body);
        let answer = self.request(Identity::kubelet(node), call).map_err(|error| error.to_string())?;
        let token = answer.body().at(&["status", "token"]).as_text().cloned();
        let token =
            token.ok_or_else(|| format!("the kubelet gets no token for Pod {}: {}", pod.name, answer.message()))?;
        self.pod_tokens.insert(uid.clone(), token.clone());
        Ok(Some(token))
    }
}
