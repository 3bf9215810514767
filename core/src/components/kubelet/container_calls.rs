//! What the kubelet's server answers about containers: logs, commands, streams, forwarded ports.
//!
//! Mirrors pkg/kubelet/server/server.go, `getContainerLogs`, `getRun`, `getExec`, `getAttach` and `getPortForward`, and
//! what they call of pkg/kubelet/kubelet_pods.go and pkg/kubelet/kuberuntime (v1.34; v1.31 and v1.37 do the same).
//! Inputs: calls that were let in. Outputs: answers. A log depends on the status that the kubelet knows, all else on
//! what the runtime tells. Left out on purpose: contents of logs and streams, and how long a runtime is waited for.

use alloc::format;
use alloc::string::String;

use super::runtime_state::runtime_error;
use super::{Kubelet, KubeletContext};
use crate::components::host::runtime::Sandbox;
use crate::network::{HttpAnswer, HttpCall};
use crate::objects::{Json, ObjectKey, Text};

/// What stands before an id in a status. Source: pkg/kubelet/container/runtime.go (v1.34), `ContainerID.String`.
const ID_SCHEME: &str = "containerd://";

impl Kubelet {
    /// Answers a call whose path has these parts, the first of which says what is wanted.
    pub(super) fn about_container(&self, call: &HttpCall, parts: &[&str], context: &KubeletContext<'_>) -> HttpAnswer {
        let (what, namespace, pod, rest) = match *parts {
            [what, namespace, pod, ref rest @ ..] => (what, namespace, pod, rest),
            _ => return HttpAnswer::text(404, "404: Page Not Found"),
        };
        let (uid, container) = match (what, rest) {
            ("portForward", []) => (None, ""),
            ("portForward", [uid]) => (Some(*uid), ""),
            ("containerLogs" | "run" | "exec" | "attach", [container]) => (None, *container),
            ("run" | "exec" | "attach", [uid, container]) => (Some(*uid), *container),
            _ => return HttpAnswer::text(404, "404: Page Not Found"),
        };
        let is_served = match what {
            "containerLogs" => call.method == *"GET",
            "run" => call.method == *"POST",
            _ => ["GET", "POST"].contains(&call.method.as_str()),
        };
        if !is_served {
            return HttpAnswer::text(405, "405: Method Not Allowed");
        }
        let key = ObjectKey::namespaced(namespace, pod);
        match what {
            "containerLogs" => self.log_of(&key, container, call, context),
            "portForward" => self.forward(&key, uid, call, context),
            _ => self.stream(what, &key, container, call, context),
        }
    }

    fn log_of(&self, key: &ObjectKey, container: &str, call: &HttpCall, context: &KubeletContext<'_>) -> HttpAnswer {
        let pod = key.name.as_str();
        let Some(uid) = self.pods.uid_of(key) else {
            return HttpAnswer::text(404, format!("pod {pod:?} does not exist"));
        };
        let spec = self.pods.object(&uid).map(|object| object.stable().get("spec").clone()).unwrap_or_default();
        let lists = ["initContainers", "containers", "ephemeralContainers"];
        let mut named = lists.iter().flat_map(|list| spec.get(list).items());
        if !named.any(|own| own.get("name").as_str() == Some(container)) {
            return HttpAnswer::text(404, format!("container {container:?} not found in pod {pod:?}"));
        }
        let status = self.known_status(&uid, context);
        let id = match run_with_log(&status, pod, container, has(call, "previous", "true")) {
            Ok(id) => id,
            Err(why) => return HttpAnswer::text(400, why),
        };
        // A first write of nothing has sent 200 before the runtime is asked: what it says then is taken for the log.
        let bare = id.strip_prefix(ID_SCHEME).unwrap_or(&id);
        if runtime_error(context.host).is_some() || !self.has_run(&uid, bare, context) {
            return HttpAnswer::text(200, format!("unable to retrieve container logs for {id}"));
        }
        HttpAnswer::text(200, "")
    }

    fn stream(
        &self,
        what: &str,
        key: &ObjectKey,
        container: &str,
        call: &HttpCall,
        context: &KubeletContext<'_>,
    ) -> HttpAnswer {
        // Source: k8s.io/kubelet pkg/cri/streaming/remotecommand/httpstream.go (v1.34), `NewOptions`.
        let takes_errors = has(call, "error", "1") && !has(call, "tty", "1");
        if what != "run" && !has(call, "input", "1") && !has(call, "output", "1") && !takes_errors {
            return HttpAnswer::text(400, "you must specify at least 1 of stdin, stdout, stderr");
        }
        let Some(uid) = self.pods.uid_of(key) else {
            return HttpAnswer::text(404, "pod does not exist");
        };
        if let Some(error) = runtime_error(context.host) {
            return HttpAnswer::text(500, error);
        }
        if !context.host.runtime.container(&uid, container).is_some_and(|own| own.is_running()) {
            return HttpAnswer::text(
                500,
                match what {
                    "attach" => format!("container {container} not found in pod {}", full_name(key)),
                    _ => format!("container not found ({container:?})"),
                },
            );
        }
        if what == "run" { HttpAnswer::text(200, "") } else { handed_over(call) }
    }

    fn forward(
        &self,
        key: &ObjectKey,
        wanted: Option<&str>,
        call: &HttpCall,
        context: &KubeletContext<'_>,
    ) -> HttpAnswer {
        let Some(uid) = self.pods.uid_of(key) else {
            return HttpAnswer::text(404, "pod does not exist");
        };
        if wanted.is_some_and(|wanted| uid != *wanted) {
            return HttpAnswer::text(404, "pod not found");
        }
        if let Some(error) = runtime_error(context.host) {
            return HttpAnswer::text(500, error);
        }
        // The sandbox of a pod that has ended is stopped with it.
        let is_up = |own: &Sandbox| own.is_running() || own.is_ready && !self.pods.has_ended(&uid);
        if !context.host.runtime.sandbox(&uid).is_some_and(is_up) {
            return HttpAnswer::text(500, format!("pod not found ({:?})", full_name(key)));
        }
        handed_over(call)
    }
}

/// Returns the id of the run whose log is wanted.
///
/// # Errors
/// Why there is none.
///
/// Source: pkg/kubelet/kubelet_pods.go (v1.34), `validateContainerLogStatus`.
fn run_with_log(status: &Json, pod: &str, container: &str, previous: bool) -> Result<Text, String> {
    let lists = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];
    let mut named = lists.iter().flat_map(|list| status.get(list).items());
    let Some(own) = named.find(|own| own.get("name").as_str() == Some(container)) else {
        return Err(format!("container {container:?} in pod {pod:?} is not available"));
    };
    let of = |tree: &Json| tree.get("containerID").as_text().filter(|id| !id.is_empty()).cloned();
    let last = own.at(&["lastState", "terminated"]);
    if previous {
        return of(last).ok_or_else(|| format!("previous terminated container {container:?} in pod {pod:?} not found"));
    }
    let state = own.get("state");
    let terminated = state.get("terminated");
    if !state.get("running").is_null() {
        return Ok(of(own).unwrap_or_default());
    }
    if !terminated.is_null() || !last.is_null() {
        let id = of(terminated).or_else(|| of(last));
        return id.ok_or_else(|| format!("container {container:?} in pod {pod:?} is terminated"));
    }
    let waiting = state.get("waiting");
    let start = format!("container {container:?} in pod {pod:?} is waiting to start");
    Err(match waiting.get("reason").as_str().unwrap_or_default() {
        _ if waiting.is_null() => format!("{start} - no logs yet"),
        "ErrImagePull" => format!("{start}: image can't be pulled"),
        "ImagePullBackOff" => format!("{start}: trying and failing to pull image"),
        reason => format!("{start}: {reason}"),
    })
}

/// Source: pkg/kubelet/server/server.go (v1.34), `proxyStream`, and `Error` of its responder.
fn handed_over(call: &HttpCall) -> HttpAnswer {
    if call.upgrades { HttpAnswer::text(101, "") } else { HttpAnswer::text(500, "Upgrade request required\n") }
}

fn has(call: &HttpCall, name: &str, value: &str) -> bool {
    let query = call.path.split_once('?').map_or("", |(_, query)| query);
    query.split('&').any(|pair| pair.split_once('=') == Some((name, value)))
}

/// Source: pkg/kubelet/container/helpers.go (v1.34), `BuildPodFullName`.
fn full_name(key: &ObjectKey) -> String {
    format!("{}_{}", key.name, key.namespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[track_caller]
    fn check(own: Json, previous: bool, wanted: Result<&str, &str>) {
        let mut own = own;
        own.set(&["name"], "c");
        let found = run_with_log(&json!({"initContainerStatuses": [own]}), "p", "c", previous);
        let found = found.as_ref().map(Text::as_str).map_err(String::as_str);
        assert_eq!(found, wanted);
    }

    #[test]
    fn each_state_has_a_log_or_a_reason() {
        let ended = json!({"terminated": {"containerID": "containerd://old"}});
        let lost = json!({"terminated": {"exitCode": 137}});
        let running = json!({"running": {}});
        let waiting = |reason: &str| json!({"waiting": {"reason": reason}});
        check(
            json!({"containerID": "containerd://new", "state": running, "lastState": ended}),
            false,
            Ok("containerd://new"),
        );
        check(
            json!({"containerID": "containerd://new", "state": running, "lastState": ended}),
            true,
            Ok("containerd://old"),
        );
        let no_run_before = Err(r#"previous terminated container "c" in pod "p" not found"#);
        check(json!({"state": running, "lastState": {}}), true, no_run_before);
        check(json!({"state": running, "lastState": lost}), true, no_run_before);
        check(json!({"state": ended}), false, Ok("containerd://old"));
        check(json!({"state": lost, "lastState": ended}), false, Ok("containerd://old"));
        let is_terminated = Err(r#"container "c" in pod "p" is terminated"#);
        check(json!({"state": lost, "lastState": {}}), false, is_terminated);
        check(json!({"state": waiting("CrashLoopBackOff"), "lastState": lost}), false, is_terminated);
        check(json!({"state": waiting("CrashLoopBackOff"), "lastState": ended}), false, Ok("containerd://old"));
        let cases = [
            ("ErrImagePull", "image can't be pulled"),
            ("ImagePullBackOff", "trying and failing to pull image"),
            ("PodInitializing", "PodInitializing"),
        ];
        for (reason, why) in cases {
            let wanted = format!(r#"container "c" in pod "p" is waiting to start: {why}"#);
            check(json!({"state": waiting(reason), "lastState": {}}), false, Err(&wanted));
        }
        check(json!({"state": {}}), false, Err(r#"container "c" in pod "p" is waiting to start - no logs yet"#));
        let none = run_with_log(&json!({}), "p", "c", false);
        assert_eq!(none.unwrap_err(), r#"container "c" in pod "p" is not available"#);
    }
}
