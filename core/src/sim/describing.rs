//! Runs of `kubectl describe node` on the simulated cluster.
//!
//! Mirrors k8s.io/kubectl pkg/cmd/describe/describe.go (v1.34): the requests that it makes, and what it prints. Inputs:
//! names of Nodes. Outputs: what a scenario sees of the command.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Simulation;
use crate::components::describe::DescribedNode;
use crate::network::{Answer, Call, EVENTS, Identity, LEASES, NODE_LEASES, NODES, PODS, Resource, Verb};
use crate::objects::{Json, Text};
use crate::scenario::Observation;

const RESOURCE_SLICES: Resource = Resource::of("resource.k8s.io", "v1", "resourceslices");

impl Simulation {
    /// Describes Nodes, one after the other, with the administrator's rights.
    pub fn describe_nodes(&mut self, names: &[Text]) -> Vec<Observation> {
        let mut news = Vec::from([Observation::Started]);
        let mut code = 0;
        for (at, name) in names.iter().enumerate() {
            let node = match self.read(Call::new(Verb::Get, NODES, "", name.clone())) {
                Ok(node) => node,
                Err(why) => {
                    news.push(Observation::Printed(format!("Error from server ({}): {}", why.0, why.1)));
                    code = 1;
                    continue;
                }
            };
            if at > 0 {
                news.extend(["", ""].map(|line| Observation::Printed(String::from(line))));
            }
            let lines = self.described(name, &node);
            news.extend(lines.into_iter().map(Observation::Printed));
        }
        news.push(Observation::Exited(code));
        news
    }

    fn described(&mut self, name: &Text, node: &Json) -> Vec<String> {
        let selected = |call: Call, fields: String| call.query("fieldSelector", fields);
        let pods = selected(
            Call::new(Verb::List, PODS, "", ""),
            format!("spec.nodeName={name},status.phase!=Succeeded,status.phase!=Failed"),
        );
        let pods = self.read(pods).unwrap_or_default();
        // Old kubelets name a Node by its name where its uid belongs.
        let mut events = Vec::new();
        for uid in [node.at(&["metadata", "uid"]).as_str().unwrap_or(""), name.as_str()] {
            let fields = format!("involvedObject.kind=Node,involvedObject.name={name},involvedObject.uid={uid}");
            let found = self.read(selected(Call::new(Verb::List, EVENTS, "", ""), fields)).unwrap_or_default();
            events.extend(found.get("items").items().iter().cloned());
        }
        let lease = self.read(Call::new(Verb::Get, LEASES, NODE_LEASES, name.clone()));
        let lists_slices = self.settings.profile().is("kubectl-lists-resource-slices");
        let slices = selected(Call::new(Verb::List, RESOURCE_SLICES, "", ""), format!("spec.nodeName={name}"));
        let slices = if lists_slices { self.read(slices).unwrap_or_default() } else { Json::Null };
        let described = DescribedNode {
            node,
            lease: lease.as_ref().map_err(|(_, message)| message.as_str()),
            pods: pods.get("items").items(),
            events: Some(&events),
            slices: slices.get("items").items(),
            profile: self.settings.profile(),
            now: self.now,
        };
        described.lines()
    }

    /// Returns the body of an answer, or reason and message of a refusal.
    fn read(&mut self, call: Call) -> Result<Json, (String, String)> {
        let answer: Answer =
            self.request(Identity::admin(), call).map_err(|error| (String::from("Timeout"), error.to_string()))?;
        if answer.is_success() {
            return Ok(answer.body());
        }
        let reason = answer.body().get("reason").as_str().map(String::from).unwrap_or_default();
        Err((reason, answer.message()))
    }
}
