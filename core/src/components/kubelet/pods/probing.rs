//! What follows from the findings of probes: Events, another status, and the end of a container that has to run anew.
//!
//! Mirrors pkg/kubelet/prober/prober.go and `computePodActions` of pkg/kubelet/kuberuntime/kuberuntime_manager.go
//! (v1.34). Inputs: probes that are due, syncs. Outputs: Events, containers told to end, statuses to write. Left out on
//! purpose: probes while a pod ends, errors of a probe itself, time-outs: a process answers at once or not at all.

use super::probe_starts::{FoundAs, ProbeStart};
use super::probes::{Health, ProbeFinding, ProbeKind, Probes, is_too_slow, timeout_seconds};
use super::*;
use crate::components::host::runtime::CommandEnd;
use crate::objects::NULL;
use crate::objects::go_duration::go_duration;
use crate::objects::lifecycle::is_ending;

impl Kubelet {
    /// Lets the probes of a pod ask whose tick has come.
    pub(super) fn probe_due(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let found = self.probe(uid, context, |probes, now| probes.run_due(now));
        self.tell_findings(uid, found, context);
    }

    /// Lets the readiness probes of a pod ask that has just been synced, where it is not ready.
    pub(super) fn probe_at_once(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let restarts_period = self.settings.profile().is("probe-at-once-restarts-period");
        if self.pods.workers.get(uid).is_none_or(|worker| worker.stage != WorkerStage::Active) {
            return;
        }
        let ask = |probes: &mut Probes, now| probes.run_at_once(restarts_period, now).into_iter().collect();
        let found = self.probe(uid, context, ask);
        self.tell_findings(uid, found, context);
    }

    /// Asks; returns what was found of the container at which place.
    fn probe(
        &mut self,
        uid: &Text,
        context: &KubeletContext<'_>,
        ask: impl Fn(&mut Probes, Timestamp) -> Vec<ProbeFinding>,
    ) -> Vec<(usize, ProbeFinding)> {
        let Some(worker) = self.pods.workers.get_mut(uid).filter(|own| own.is_probed()) else { return Vec::new() };
        let mut found = Vec::new();
        for (at, plan) in worker.plans.iter_mut().enumerate() {
            let Some(probes) = plan.probes.as_mut().filter(|_| plan.killed_for.is_none()) else { continue };
            found.extend(ask(probes, context.now).into_iter().map(|finding| (at, finding)));
        }
        found
    }

    /// Tells what probes have found; what is something else than before is a reason to sync the pod.
    fn tell_findings(&mut self, uid: &Text, found: Vec<(usize, ProbeFinding)>, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get(uid).filter(|_| !found.is_empty()) else { return };
        let pod = worker.object.clone();
        let failed = found.iter().filter(|(_, finding)| finding.has_failed);
        let failed: Vec<(Text, String)> = failed
            .filter_map(|(at, finding)| {
                let plan = worker.plans.get(*at)?;
                let listens = plan.probes.as_ref().is_some_and(|probes| probes.listens(context.now));
                let (_, container) = ContainerRole::find(&pod, &plan.name)?;
                let output = failure(container, finding.kind, (&address(worker, context.host), listens));
                Some((plan.name.clone(), format!("{} probe failed: {output}", finding.kind.name())))
            })
            .collect();
        for (name, message) in failed {
            self.pod_event(&pod, Some(&name), (EventType::Warning, "Unhealthy", message), context);
        }
        if !found.iter().any(|(_, finding)| finding.changes()) {
            return;
        }
        for (at, finding) in &found {
            if finding.kind != ProbeKind::Readiness && finding.verdict == Some(false) {
                self.end_unhealthy(uid, *at, finding.kind, context);
            }
        }
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let is_active = worker.stage == WorkerStage::Active;
        if is_active {
            worker.note_sync(context.now);
        }
        let stays = |plan: &ContainerPlan| !context.host.runtime.is_about_to_end(uid, &plan.name, context.now);
        worker.is_dirty |= found.iter().filter_map(|(at, _)| worker.plans.get(*at)).any(stays);
        if is_active {
            self.settle_in_sync(uid, context);
        }
        self.read_again(uid, context);
        self.probe_at_once(uid, context);
    }

    /// Tells a container to end whose probe has failed for good. The last one that would run, and is not started again,
    /// takes its pod with it.
    fn end_unhealthy(&mut self, uid: &Text, at: usize, kind: ProbeKind, context: &mut KubeletContext<'_>) {
        let is_free = |own: &&mut Worker| own.stage == WorkerStage::Active && !own.ends_after_sync;
        let Some(worker) = self.pods.workers.get_mut(uid).filter(is_free) else { return };
        if !context.host.is_runtime_up {
            worker.plans[at].ends_for = Some(kind);
            return;
        }
        let restarts = worker.is_replaced(&worker.plans[at]);
        let runs =
            |plan: &ContainerPlan| context.host.runtime.container(uid, &plan.name).is_some_and(Container::is_running);
        let others = worker.plans.iter().enumerate().filter(|(other, plan)| *other != at && !plan.role.is_initial());
        let is_last = !restarts && !others.map(|(_, plan)| plan).any(|plan| runs(plan) && plan.killed_for.is_none());
        if is_last {
            self.stop_pod(uid, context);
            return;
        }
        let name = worker.plans[at].name.clone();
        let Some((role, container)) = ContainerRole::find(&worker.object, &name) else { return };
        let probe = kind.name().to_lowercase();
        let message = match role {
            ContainerRole::Regular if restarts => format!("Container {name} failed {probe} probe, will be restarted"),
            ContainerRole::Regular => format!("Container {name} failed {probe} probe"),
            _ => format!("Init container {name} failed {probe} probe"),
        };
        let grace = container.at(&[kind.field(), "terminationGracePeriodSeconds"]).as_i64();
        self.end_container(uid, at, (KilledFor::Probe, message), grace, context);
    }

    /// Tells one container of a pod to end, with a grace period of its own or that of the pod.
    ///
    /// Source: pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34), `setTerminationGracePeriod`.
    pub(super) fn end_container(
        &mut self,
        uid: &Text,
        at: usize,
        (why, message): (KilledFor, String),
        own_grace: Option<i64>,
        context: &mut KubeletContext<'_>,
    ) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        worker.plans[at].killed_for = Some(why);
        let (pod, name) = (worker.object.clone(), worker.plans[at].name.clone());
        let facts = Vec::from([Because::Fact(message.clone())]);
        context.outbox.decide(decided_about(&pod.key()), "container told to end", facts);
        self.pod_event(&pod, Some(&name), (EventType::Normal, "Killing", message), context);
        let of_pod = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64();
        let grace = own_grace.or(of_pod).unwrap_or(30).max(STOP_MIN_SECONDS);
        context.host.runtime.stop(uid, (Some(&pod), Some(&name)), SignedDuration::from_secs(grace), context.now);
        self.tell_failed_hooks(uid, context);
    }

    /// Syncs the pods of which a device has become healthy or unhealthy.
    ///
    /// Source: pkg/kubelet/kubelet.go (v1.31, v1.34, v1.37), `syncLoopIteration`, `containerManager.Updates`.
    pub(in crate::components::kubelet) fn note_device_health(&mut self, context: &mut KubeletContext<'_>) {
        if context.host.assignments.is_empty() || !self.settings.is_gate_on("ResourceHealthStatus") {
            return;
        }
        for uid in self.pods.workers.active_uids() {
            let Some(worker) = self.pods.workers.get_mut(&uid).filter(|worker| !worker.is_over()) else { continue };
            let statuses = worker.object.stable().at(&["status", "containerStatuses"]).items().iter();
            let is_new = statuses.into_iter().any(|status| {
                let name = status.get("name").as_str().unwrap_or_default();
                let devices = context.host.device_health(&uid, name);
                !devices.is_empty() && devices != *status.get("allocatedResourcesStatus")
            });
            if is_new {
                worker.is_dirty = true;
                self.sync_pod(&uid, context);
            }
        }
        self.pods.recompute_deadline(context.now);
    }

    /// Tells the containers of a pod to end whose probes have failed while there was no runtime.
    pub(super) fn end_awaited(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let awaited = worker.plans.iter_mut().enumerate();
        let awaited: Vec<_> = awaited.filter_map(|(at, plan)| Some((at, plan.ends_for.take()?))).collect();
        // What the runtime was to end before it stopped it is asked to end once more.
        let of_pod = worker.object.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64();
        let grace = SignedDuration::from_secs(of_pod.unwrap_or(30).max(STOP_MIN_SECONDS));
        for plan in worker.plans.iter().filter(|plan| plan.killed_for.is_some()) {
            context.host.runtime.stop(uid, (Some(&worker.object), Some(&plan.name)), grace, context.now);
        }
        for (at, kind) in awaited {
            let is_there = |own: &Worker| own.plans.get(at).is_some_and(|plan| plan.probes.is_some());
            if self.pods.workers.get(uid).is_some_and(is_there) {
                self.end_unhealthy(uid, at, kind, context);
            }
        }
    }

    /// Notes how well the processes of a pod are by what was said last.
    pub(super) fn note_health(&mut self, uid: &Text, host: &Host, now: Timestamp) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        for plan in &mut worker.plans {
            let container = host.runtime.container(uid, &plan.name);
            if let (Some(probes), Some(container)) = (&mut plan.probes, container) {
                probes.note_health(health(&worker.object, &plan.name, container.started_at, host), now);
            }
        }
    }
}

/// Returns how well the process of a container is that started at an instant. Of a recorded one the recording tells.
fn health(pod: &Object, container: &str, started_at: Timestamp, host: &Host) -> Health {
    let since = if host.runtime.is_scripted() { Timestamp::MIN } else { started_at };
    Health::of(&host.runtime.behaviour(pod, container), since)
}

/// Makes the probes of a container whose process starts now.
pub(super) fn new_probes(
    pod: &Object,
    container: &str,
    start: &ProbeStart<'_>,
    (now, host): (Timestamp, &Host),
) -> Probes {
    Probes::new(probed(pod, container), health(pod, container, now, host), start, now)
}

/// Makes the probes of a container whose process this kubelet finds running, and may let be what it was.
pub(super) fn adopted_probes(
    pod: &Object,
    container: &Container,
    (start, keeps): (&ProbeStart<'_>, bool),
    host: &Host,
) -> Probes {
    let health = health(pod, &container.name, container.started_at, host);
    let found = FoundAs::of(pod, container, (start.started, keeps), host);
    Probes::new(probed(pod, &container.name), health, start, container.started_at)
        .adopted((found, is_ending(pod)), start.seen_at)
}

/// Returns the specification with a container's probes. Init containers have none.
///
/// Source: pkg/kubelet/prober/prober_manager.go (v1.34), `AddPod`.
fn probed<'a>(pod: &'a Object, container: &str) -> &'a Json {
    let own = ContainerRole::find(pod, container);
    own.filter(|(role, _)| *role != ContainerRole::Init).map_or(&NULL, |(_, own)| own)
}

/// Returns the address at which a pod is asked by its probes and hooks.
pub(super) fn address(worker: &Worker, host: &Host) -> Text {
    let sandbox = host.runtime.sandbox(&worker.uid).filter(|_| worker.needs_network());
    sandbox.map_or_else(|| worker.host_ip.clone(), |sandbox| sandbox.ip.clone())
}

/// Returns what a probe of a process prints that does not listen, or listens and is not well. What a command prints is
/// not modelled.
///
/// Source: pkg/probe/http/http.go, pkg/probe/http/request.go, pkg/probe/tcp/tcp.go, pkg/probe/grpc/grpc.go (v1.34);
/// k8s.io/cri-client pkg/remote_runtime.go (v0.34), `ErrCommandTimedOut`.
fn failure(container: &Json, kind: ProbeKind, (ip, listens): (&str, bool)) -> String {
    let probe = container.get(kind.field());
    let of = |handler: &str| asked_at(container, probe.get(handler), ip);
    if probe.get("httpGet").is_object() && listens {
        String::from("HTTP probe failed with statuscode: 500")
    } else if probe.get("httpGet").is_object() {
        refused_request(container, probe.get("httpGet"), ip)
    } else if probe.get("tcpSocket").is_object() {
        refused(&of("tcpSocket"))
    } else if probe.get("grpc").is_object() && listens {
        String::from("service unhealthy (responded with \"NOT_SERVING\")")
    } else if probe.get("grpc").is_object() {
        let within = go_duration(SignedDuration::from_secs(timeout_seconds(probe)));
        format!("timeout: failed to connect service {:?} within {within}: context deadline exceeded", of("grpc"))
    } else if CommandEnd::of_handler(probe).is_some_and(|end| is_too_slow(probe, end)) {
        let words = probe.at(&["exec", "command"]).items().iter().filter_map(Json::as_str);
        let command = words.collect::<Vec<_>>().join(" ");
        format!("command timed out: {command:?} timed out after {}s", timeout_seconds(probe))
    } else {
        String::new()
    }
}

/// Returns the error of a request to a process that does not listen.
pub(super) fn refused_request(container: &Json, request: &Json, ip: &str) -> String {
    let path = request.get("path").as_str().unwrap_or("/");
    let slash = if path.is_empty() || path.starts_with(['/', '?']) { "" } else { "/" };
    let scheme = request.get("scheme").as_str().unwrap_or("http").to_lowercase();
    let at = asked_at(container, request, ip);
    format!("Get \"{scheme}://{at}{slash}{path}\": {}", refused(&at))
}

fn refused(at: &str) -> String {
    format!("dial tcp {at}: connect: connection refused")
}

/// Returns host and port to which a handler of a container connects.
fn asked_at(container: &Json, handler: &Json, ip: &str) -> String {
    let host = handler.get("host").as_str().filter(|host| !host.is_empty()).unwrap_or(ip);
    let host = if host.contains(':') { format!("[{host}]") } else { String::from(host) };
    format!("{host}:{}", port(container, handler.get("port")))
}

/// Returns a port by its number, or by its name in the container.
fn port(container: &Json, port: &Json) -> i64 {
    let named = |name: &str| {
        let ports = container.get("ports").items().iter();
        let mut own = ports.filter(|own| own.get("name").as_str() == Some(name));
        own.next().and_then(|own| own.get("containerPort").as_i64())
    };
    let read = || port.as_str().and_then(|name| named(name).or_else(|| name.parse().ok()));
    port.as_i64().or_else(read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ProbeKind, failure};
    use crate::json;

    #[test]
    fn a_failure_is_told_as_the_handler_of_the_probe_tells_it() {
        let ports = json!([{"name": "web", "containerPort": 8080}]);
        for (handler, listens, said) in [
            (json!({"httpGet": {"path": "/ok", "port": 80}}), true, "HTTP probe failed with statuscode: 500"),
            (
                json!({"httpGet": {"path": "ok", "port": "web", "scheme": "HTTPS"}}),
                false,
                "Get \"https://10.0.0.9:8080/ok\": dial tcp 10.0.0.9:8080: connect: connection refused",
            ),
            (
                json!({"tcpSocket": {"port": "web", "host": "fd00::1"}}),
                true,
                "dial tcp [fd00::1]:8080: connect: connection refused",
            ),
            (json!({"grpc": {"port": 9}}), true, "service unhealthy (responded with \"NOT_SERVING\")"),
            (
                json!({"grpc": {"port": 9}, "timeoutSeconds": 2}),
                false,
                "timeout: failed to connect service \"10.0.0.9:9\" within 2s: context deadline exceeded",
            ),
            (json!({"exec": {"command": ["check"]}}), true, ""),
            (json!({"exec": {"command": ["false"]}}), true, ""),
            (
                json!({"exec": {"command": ["sh", "-c", "sleep 10"]}, "timeoutSeconds": 3}),
                true,
                "command timed out: \"sh -c sleep 10\" timed out after 3s",
            ),
        ] {
            let container = json!({"ports": ports.clone(), "livenessProbe": handler});
            assert_eq!(failure(&container, ProbeKind::Liveness, ("10.0.0.9", listens)), said);
        }
    }
}
