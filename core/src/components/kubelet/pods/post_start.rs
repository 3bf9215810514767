//! The hook `postStart`: the sync that starts a container waits for its end, and nothing is told of the pod before.
//!
//! Mirrors `startContainer` of pkg/kubelet/kuberuntime/kuberuntime_container.go (v1.34). Inputs: containers that have
//! started, time. Outputs: when the sync goes on; of a hook that fails Events and the end of its container.

use super::probing::{address, refused_request};
use super::worker::PostStart;
use super::*;
use crate::components::host::runtime::{Hook, port_error};

impl Kubelet {
    /// Begins the hook of a container that has just started; false if the sync does not have to wait for it.
    pub(super) fn begin_post_start(&mut self, uid: &Text, at: usize, context: &KubeletContext<'_>) -> bool {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return false };
        let name = &worker.plans[at].name;
        let found = ContainerRole::find(&worker.object, name).filter(|_| !context.host.runtime.is_scripted());
        let listens = worker.plans[at].probes.as_ref().is_some_and(|probes| probes.listens(context.now));
        let hook = found.map(|(_, own)| Hook::read(own, "postStart", listens)).unwrap_or_default();
        if hook.takes.is_zero() && !hook.fails {
            return false;
        }
        let ends_at = Some(context.now.checked_add(hook.takes).unwrap_or(Timestamp::MAX));
        worker.post_start = Some(PostStart { container: name.clone(), ends_at, fails: hook.fails });
        true
    }

    /// Goes on with a sync whose hook has ended.
    pub(super) fn end_post_start(&mut self, uid: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let is_due = |hook: &mut PostStart| hook.ends_at.is_some_and(|at| at <= context.now);
        let Some(hook) = worker.post_start.take_if(is_due) else { return };
        if hook.fails {
            worker.post_start = Some(PostStart { ends_at: None, ..hook.clone() });
            self.fail_post_start(uid, &hook.container, context);
            return;
        }
        worker.note_sync(context.now);
        worker.is_dirty = !worker.is_gone;
        self.settle_in_sync(uid, context);
        self.probe_at_once(uid, context);
    }

    /// Tells a container to end whose hook has failed.
    fn fail_post_start(&mut self, uid: &Text, name: &Text, context: &mut KubeletContext<'_>) {
        let Some(worker) = self.pods.workers.get_mut(uid) else { return };
        let pod = worker.object.clone();
        let error = ContainerRole::find(&pod, name).map(|(_, own)| failure(&pod, own, &address(worker, context.host)));
        if let Some(plan) = worker.plans.iter_mut().find(|plan| plan.name == *name) {
            plan.hook_error = error;
        }
        for (kind, reason, message) in [
            (EventType::Warning, "FailedPostStartHook", "PostStartHook failed"),
            (EventType::Normal, "Killing", "FailedPostStartHook"),
        ] {
            self.pod_event(&pod, Some(name), (kind, reason, String::from(message)), context);
        }
        let grace = pod.stable().at(&["spec", "terminationGracePeriodSeconds"]).as_i64().unwrap_or(30);
        let grace = SignedDuration::from_secs(grace.max(STOP_MIN_SECONDS));
        context.host.runtime.stop(uid, (Some(&pod), Some(name)), grace, context.now);
        self.tell_failed_hooks(uid, context);
    }
}

/// Returns what the kubelet says of the hook of a container that fails.
///
/// Source: pkg/kubelet/lifecycle/handlers.go (v1.34), `Run`; k8s.io/cri-client pkg/remote_runtime.go, `ExecSync`.
fn failure(pod: &Object, container: &Json, ip: &str) -> Text {
    let hook = container.at(&["lifecycle", "postStart"]);
    let key = pod.key();
    let of_container = format!(
        "for Container {:?} in Pod \"{}_{}({})\" failed - error:",
        container.get("name").as_str().unwrap_or_default(),
        key.name,
        key.namespace,
        pod.uid()
    );
    let (request, socket) = (hook.get("httpGet"), hook.get("tcpSocket"));
    if request.is_object() {
        let error = port_error(container, request.get("port"));
        let error = error.unwrap_or_else(|| refused_request(container, request, ip));
        let path = request.get("path").as_str().unwrap_or_default();
        return Text::from(format!("HTTP lifecycle hook ({path}) {of_container} {error}"));
    }
    if socket.is_object() {
        return Text::from(format!("Cannot run handler: invalid handler: {}", printed(socket)));
    }
    let command = hook.at(&["exec", "command"]).items();
    let command: Vec<&str> = command.iter().filter_map(Json::as_str).collect();
    let command = command.join(" ");
    Text::from(format!(
        "Exec lifecycle hook ([{command}]) {of_container} command '{command}' exited with 1: , message: \"\""
    ))
}

/// Prints the handler of a socket, which is none for hooks, as Go does.
///
/// Source: k8s.io/api core/v1/generated.pb.go (v0.34), `LifecycleHandler.String`.
fn printed(socket: &Json) -> String {
    let port = socket.get("port");
    // The type of the port, its number, its name.
    let port = port.as_str().map_or_else(|| format!("{{0 {port} }}"), |name| format!("{{1 0 {name}}}"));
    let host = socket.get("host").as_str().unwrap_or_default();
    format!(
        "&LifecycleHandler{{Exec:nil,HTTPGet:nil,TCPSocket:&TCPSocketAction{{Port:{port},Host:{host},}},Sleep:nil,}}"
    )
}

#[cfg(test)]
mod tests {
    use super::failure;
    use crate::json;
    use crate::objects::Object;

    #[test]
    fn a_hook_that_fails_is_told_as_its_handler_tells_it() {
        let pod = Object::new(json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}}), 1);
        for (hook, said) in [
            (
                json!({"exec": {"command": ["sh", "-c", "exit 1"]}}),
                "Exec lifecycle hook ([sh -c exit 1]) for Container \"main\" in Pod \"web_shop(u1)\" failed - error: \
                 command 'sh -c exit 1' exited with 1: , message: \"\"",
            ),
            (
                json!({"httpGet": {"path": "/up", "port": 80, "scheme": "HTTPS"}}),
                "HTTP lifecycle hook (/up) for Container \"main\" in Pod \"web_shop(u1)\" failed - error: Get \
                 \"https://10.0.0.9:80/up\": dial tcp 10.0.0.9:80: connect: connection refused",
            ),
            (
                json!({"httpGet": {"path": "/up", "port": "web"}}),
                "HTTP lifecycle hook (/up) for Container \"main\" in Pod \"web_shop(u1)\" failed - error: \
                 strconv.Atoi: parsing \"web\": invalid syntax",
            ),
            (
                json!({"tcpSocket": {"port": 80}}),
                "Cannot run handler: invalid handler: &LifecycleHandler{Exec:nil,HTTPGet:nil,\
                 TCPSocket:&TCPSocketAction{Port:{0 80 },Host:,},Sleep:nil,}",
            ),
        ] {
            let container = json!({"name": "main", "lifecycle": {"postStart": hook}});
            assert_eq!(failure(&pod, &container, "10.0.0.9"), *said);
        }
    }
}
