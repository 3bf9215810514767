//! The cells of a Pod's row: its containers summed up in one word, as `Running` or `CrashLoopBackOff`.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34), `printPod`. Later rules override earlier ones: the phase,
//! the reason of the status, the first init container that is not finished, the containers from last to first, the
//! deletion. Inputs: a Pod. Outputs: its cells after the name, and the conditions of its row.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::TableContext;
use super::cell_values::text_or;
use crate::json;
use crate::objects::lifecycle::{condition_of, is_condition_true, is_sidecar};
use crate::objects::time::human_duration;
use crate::objects::{Json, time};
use crate::profile::Profile;

/// The containers summed up.
#[derive(Clone, Debug, Default)]
struct Sum {
    word: String,
    ready: usize,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

impl Sum {
    fn count(&mut self, status: &Json) {
        self.restarts += status.get("restartCount").as_i64().unwrap_or(0);
        let at = status.at(&["lastState", "terminated", "finishedAt"]).as_str().and_then(time::parse);
        self.last_restart = self.last_restart.max(at);
    }
}

/// Returns the cells after the name.
pub(super) fn cells(pod: &Json, age: Json, view: TableContext<'_>) -> Vec<Json> {
    let sidecars = pod.at(&["spec", "initContainers"]).items().iter().filter(|container| is_sidecar(container)).count();
    let total = pod.at(&["spec", "containers"]).items().len() + sidecars;
    let sum = summary(pod, view.profile);
    let restarts = match sum.last_restart {
        Some(at) if sum.restarts != 0 => {
            format!("{} ({} ago)", sum.restarts, human_duration(view.now.duration_since(at)))
        }
        _ => sum.restarts.to_string(),
    };
    let gates = pod.at(&["spec", "readinessGates"]).items();
    let open =
        gates.iter().filter(|gate| is_condition_true(pod, gate.get("conditionType").as_str().unwrap_or(""))).count();
    let gates = if gates.is_empty() { String::from("<none>") } else { format!("{open}/{}", gates.len()) };
    let address = pod.at(&["status", "podIPs"]).items().first().cloned().unwrap_or_default();
    Vec::from([
        Json::from(format!("{}/{total}", sum.ready)),
        Json::from(sum.word),
        Json::from(restarts),
        age,
        text_or(&address, &["ip"], "<none>"),
        text_or(pod, &["spec", "nodeName"], "<none>"),
        text_or(pod, &["status", "nominatedNodeName"], "<none>"),
        Json::from(gates),
    ])
}

/// Returns the conditions of the table row of a Pod that has ended.
pub(super) fn conditions(pod: &Json) -> Json {
    let (reason, message) = match pod.at(&["status", "phase"]).as_str() {
        Some("Succeeded") => ("Succeeded", "The pod has completed successfully."),
        Some("Failed") => ("Failed", "The pod failed."),
        _ => return Json::Null,
    };
    let condition = json!({"type": "Completed", "status": "True", "reason": reason, "message": message});
    Json::array(Vec::from([condition]))
}

fn summary(pod: &Json, profile: &Profile) -> Sum {
    let status = |field: &str| pod.at(&["status", field]).as_str().unwrap_or("");
    let mut sum = Sum { word: String::from(status("phase")), ..Sum::default() };
    if !status("reason").is_empty() {
        sum.word = String::from(status("reason"));
    }
    let scheduled = condition_of(pod, "PodScheduled").get("reason").as_str();
    if scheduled == Some("SchedulingGated") {
        sum.word = String::from("SchedulingGated");
    }
    let (initializing, sidecars) = init_containers(pod, &mut sum);
    if !initializing || is_condition_true(pod, "Initialized") {
        (sum.restarts, sum.last_restart) = (sidecars.restarts, sidecars.last_restart);
        containers(pod, &mut sum, profile);
    }
    let is_over = ["Succeeded", "Failed"].contains(&status("phase"));
    let is_deleted = !pod.at(&["metadata", "deletionTimestamp"]).is_null();
    if is_deleted && status("reason") == "NodeLost" {
        sum.word = String::from("Unknown");
    } else if is_deleted && !is_over {
        sum.word = String::from("Terminating");
    }
    sum
}

/// Counts the init containers up to the first that is not finished. Returns whether there is such a one, and the counts
/// of the sidecars alone.
fn init_containers(pod: &Json, sum: &mut Sum) -> (bool, Sum) {
    let mut sidecars = Sum::default();
    let specs = pod.at(&["spec", "initContainers"]).items();
    for (at, status) in pod.at(&["status", "initContainerStatuses"]).items().iter().enumerate() {
        sum.count(status);
        let name = status.get("name");
        let stays = specs.iter().any(|spec| spec.get("name") == name && is_sidecar(spec));
        if stays {
            sidecars.count(status);
        }
        let (ended, delayed_reads) = (status.at(&["state", "terminated"]), status.at(&["state", "waiting", "reason"]));
        if !ended.is_null() && ended.get("exitCode").as_i64().unwrap_or(0) == 0 {
            continue;
        }
        if stays && status.get("started").as_bool() == Some(true) {
            sum.ready += usize::from(status.get("ready").as_bool() == Some(true));
            continue;
        }
        sum.word = match delayed_reads.as_str() {
            _ if !ended.is_null() => format!("Init:{}", end(ended)),
            Some(reason) if !reason.is_empty() && reason != "PodInitializing" => format!("Init:{reason}"),
            _ => format!("Init:{at}/{}", specs.len()),
        };
        return (true, sidecars);
    }
    (false, sidecars)
}

fn containers(pod: &Json, sum: &mut Sum, profile: &Profile) {
    let mut is_running = false;
    let mut failure = None;
    for status in pod.at(&["status", "containerStatuses"]).items().iter().rev() {
        sum.count(status);
        let (ended, delayed_reads) = (status.at(&["state", "terminated"]), status.at(&["state", "waiting", "reason"]));
        let runs = !status.at(&["state", "running"]).is_null();
        match delayed_reads.as_str() {
            Some(reason) if !reason.is_empty() => sum.word = String::from(reason),
            _ if !ended.is_null() => {
                sum.word = end(ended);
                if ended.get("exitCode").as_i64().unwrap_or(0) != 0 {
                    failure = Some(sum.word.clone());
                }
            }
            _ if runs && status.get("ready").as_bool() == Some(true) => {
                is_running = true;
                sum.ready += 1;
            }
            _ => {}
        }
    }
    if sum.word != "Completed" {
        return;
    }
    let failure = failure.filter(|_| profile.is("pod-table-tells-failed-containers"));
    if is_running && is_condition_true(pod, "Ready") {
        sum.word = String::from("Running");
    } else if let Some(failure) = failure {
        sum.word = failure;
    } else if is_running {
        sum.word = String::from("NotReady");
    }
}

/// Says how a container ended.
fn end(ended: &Json) -> String {
    let number = |field: &str| ended.get(field).as_i64().unwrap_or(0);
    match ended.get("reason").as_str() {
        Some(reason) if !reason.is_empty() => String::from(reason),
        _ if number("signal") != 0 => format!("Signal:{}", number("signal")),
        _ => format!("ExitCode:{}", number("exitCode")),
    }
}
