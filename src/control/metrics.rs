//! The metrics of components, as they would show them at `/metrics`.
//!
//! Inputs: the name of a component, as `kubelet/w1` or `node-lifecycle-controller`. Output: Prometheus' text. Only
//! what the model knows is there. Sources (v1.34): pkg/controller/nodelifecycle/metrics.go,
//! pkg/kubelet/metrics/metrics.go, k8s.io/component-base metrics/prometheus/workqueue/metrics.go.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use nodeproof_core::components::kubelet::Kubelet;
use nodeproof_core::components::registry::{canonical, controllers_of};
use nodeproof_core::objects::Json;

use super::calls::{missing, running_controller};
use super::route::Call;
use super::{Content, Control, Refusal, Reply};

/// What separates the region of a zone from its name in the label of a metric.
/// Source: k8s.io/component-helpers node/topology/helpers.go (v1.34), `GetZoneKey`.
const IN_ZONE: &str = ":\0:";

impl Control {
    pub(super) fn metrics(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let text = match call.names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["kubelet", machine] => self.of_kubelet(machine)?,
            [program] if !controllers_of(program).is_empty() => self.of_program(program)?,
            ["api" | "kube-apiserver"] => return Err(Refusal::not_there("what kube-apiserver measures")),
            [name] => self.of_controller(canonical(name))?,
            names => return Err(missing("component", &names.join("/"), &[])),
        };
        Ok(Reply { body: Content::Raw(text), ..Reply::ok(Json::Null) })
    }

    /// Returns what a scrape of a kubelet gets.
    fn of_kubelet(&mut self, name: &str) -> Result<String, Refusal> {
        let now = self.sim.now();
        self.sim.reach_kubelet(name).map_err(|why| Refusal::new(503, why))?;
        let Some(machine) = self.sim.machine(name) else { return Err(missing("machine", name, &[])) };
        let shown = machine.describe(now);
        let (running_pods, running_containers) = running(&shown);
        let mut text = String::new();
        let node = [(vec![("node", name.to_owned())], 1)];
        gauge(&mut text, "kubelet_node_name", "The node's name. The count is always 1.", &node);
        let containers = [(vec![("container_state", "running".to_owned())], running_containers)];
        gauge(&mut text, "kubelet_running_containers", "Number of containers currently running", &containers);
        let help = "Number of pods that have a running pod sandbox";
        gauge(&mut text, "kubelet_running_pods", help, &[(Vec::new(), running_pods)]);
        if let Some(kubelet) = machine.kubelet() {
            let evictions = kubelet.evictions().iter();
            let evictions: Vec<_> =
                evictions.map(|(signal, count)| (vec![("eviction_signal", (*signal).to_owned())], *count)).collect();
            let help = "Cumulative number of pod evictions by eviction signal";
            metric(&mut text, "counter", "kubelet_evictions", help, &evictions);
            let rejections = kubelet.rejections().into_iter().flatten();
            let rejections: Vec<_> =
                rejections.map(|(reason, count)| (vec![("reason", (*reason).to_owned())], *count)).collect();
            let help = "Cumulative number pod admission rejections by the Kubelet.";
            metric(&mut text, "counter", "kubelet_admission_rejections_total", help, &rejections);
            of_shutdown(&mut text, kubelet);
        }
        Ok(text)
    }

    /// Returns the metrics of a program: those of its controllers that run, each metric once.
    fn of_program(&self, program: &str) -> Result<String, Refusal> {
        let mut metrics: Vec<(String, String)> = Vec::new();
        let mut does_run = false;
        for name in controllers_of(program) {
            let Ok(text) = self.of_controller(name) else { continue };
            does_run = true;
            for block in text.split("# HELP ").filter(|block| !block.is_empty()) {
                let end = block.match_indices('\n').nth(1).map_or(block.len(), |(at, _)| at + 1);
                let (head, values) = block.split_at(end);
                let own = values.lines().map(|line| format!("{line}\n"));
                match metrics.iter_mut().find(|(known, _)| known == head) {
                    Some((_, all)) => own
                        .filter(|line| !all.contains(line))
                        .collect::<Vec<_>>()
                        .iter()
                        .for_each(|line| all.push_str(line)),
                    None => metrics.push((head.to_owned(), own.collect())),
                }
            }
        }
        if !does_run {
            return Err(Refusal::new(503, format!("{program} does not run")));
        }
        Ok(metrics.iter().map(|(head, values)| format!("# HELP {head}{values}")).collect())
    }

    fn of_controller(&self, name: &str) -> Result<String, Refusal> {
        let Some((_, controller)) = self.sim.controllers().find(|(own, _)| *own == name) else {
            return Err(running_controller(name).err().unwrap_or_else(|| missing("component", name, &[])));
        };
        let Some(controller) = controller else { return Err(Refusal::new(503, format!("{name} does not run"))) };
        let mut text = String::new();
        for (field, zones) in controller.details(self.sim.now()) {
            match field {
                "zones" => of_zones(&mut text, &zones),
                "attachments" => of_attachments(&mut text, &zones),
                "forcedDetaches" => of_forced(&mut text, &zones),
                _ => {}
            }
        }
        let queues = controller.queues();
        let depths: Vec<_> = queues.iter().map(|(name, depth)| (vec![("name", (*name).to_owned())], *depth)).collect();
        gauge(&mut text, "workqueue_depth", "Current depth of workqueue", &depths);
        Ok(text)
    }
}

/// Returns how many Pods and how many containers run on a machine, as it is shown.
pub(super) fn running(shown: &Json) -> (usize, usize) {
    let running: Vec<&Json> =
        shown.get("containers").items().iter().filter(|one| one.get("state").as_str() == Some("running")).collect();
    let mut pods: Vec<String> =
        running.iter().map(|one| format!("{}/{}", one.get("namespace"), one.get("pod"))).collect();
    pods.sort_unstable();
    pods.dedup();
    (pods.len(), running.len())
}

/// Writes when the last graceful shutdown began and ended.
fn of_shutdown(text: &mut String, kubelet: &Kubelet) {
    for (name, at) in kubelet.shutdown_metrics() {
        // Releases without a metric of its own for the end describe it as the start.
        let is_end = name.contains("_end_") && kubelet.tells_end_of_shutdown();
        let help =
            format!("Last graceful shutdown {} time since unix epoch in seconds", if is_end { "end" } else { "start" });
        let _ = writeln!(text, "# HELP {name} [ALPHA] {help}\n# TYPE {name} gauge\n{name} {}", go_float(at));
    }
}

/// Prints a whole number as Go prints a float: from a million on with an exponent.
fn go_float(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    if digits.len() <= 6 {
        return number.to_string();
    }
    let (first, rest) = digits.split_at(1);
    let rest = rest.trim_end_matches('0');
    let sign = if number < 0 { "-" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}e+{:02}", digits.len() - 1)
}

/// Source: pkg/controller/volume/attachdetach/metrics/metrics.go (v1.34).
fn of_attachments(text: &mut String, attachments: &Json) {
    let mut drivers: BTreeMap<String, usize> = BTreeMap::new();
    for own in attachments.items() {
        let unique = own.get("volume").as_str().unwrap_or_default();
        let driver = unique.trim_start_matches("kubernetes.io/csi/").split('^').next().unwrap_or_default();
        *drivers.entry(format!("kubernetes.io/csi:{driver}")).or_default() += 1;
    }
    let state = || ("state", "actual_state_of_world".to_owned());
    let each = drivers.into_iter().map(|(plugin, count)| (vec![("plugin_name", plugin), state()], count));
    let help = "Number of volumes in A/D Controller";
    gauge(text, "attachdetach_controller_total_volumes", help, &each.collect::<Vec<_>>());
}

fn of_forced(text: &mut String, forced: &Json) {
    let name = "attach_detach_controller_attachdetach_controller_forced_detaches";
    let help = "Number of times the A/D Controller performed a forced detach";
    let _ = writeln!(text, "# HELP {name} [ALPHA] {help}\n# TYPE {name} counter");
    for reason in ["out-of-service", "timeout"] {
        let _ = writeln!(text, "{name}{{reason=\"{reason}\"}} {}", forced.get(reason).as_i64().unwrap_or(0));
    }
}

fn of_zones(text: &mut String, zones: &Json) {
    let word = |zone: &Json, field: &str| zone.get(field).as_str().unwrap_or_default().to_owned();
    let count = |zone: &Json, field: &str| usize::try_from(zone.get(field).as_i64().unwrap_or(0)).unwrap_or(0);
    let key = |zone: &Json| {
        let (region, name) = (word(zone, "region"), word(zone, "zone"));
        if region.is_empty() && name.is_empty() { String::new() } else { format!("{region}{IN_ZONE}{name}") }
    };
    let each = |value: &dyn Fn(usize, usize) -> usize| -> Vec<_> {
        let values = zones
            .items()
            .iter()
            .map(|zone| (vec![("zone", key(zone))], value(count(zone, "nodes"), count(zone, "notReady"))));
        values.collect()
    };
    let help = "Gauge measuring number of not Ready Nodes per zones.";
    gauge(text, "node_collector_unhealthy_nodes_in_zone", help, &each(&|_, unready| unready));
    let healthy = |all: usize, unready: usize| (100 * (all - unready)).checked_div(all).unwrap_or(100);
    let help = "Gauge measuring percentage of healthy nodes per zone.";
    gauge(text, "node_collector_zone_health", help, &each(&healthy));
    let help = "Gauge measuring number of registered Nodes per zones.";
    gauge(text, "node_collector_zone_size", help, &each(&|all, _| all));
}

/// Writes a gauge with its values; one without values is left out.
fn gauge(text: &mut String, name: &str, help: &str, values: &[(Vec<(&str, String)>, usize)]) {
    metric(text, "gauge", name, help, values);
}

fn metric(text: &mut String, kind: &str, name: &str, help: &str, values: &[(Vec<(&str, String)>, usize)]) {
    if values.is_empty() {
        return;
    }
    let _ = writeln!(text, "# HELP {name} [ALPHA] {help}\n# TYPE {name} {kind}");
    for (labels, value) in values {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| {
                let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                format!("{label}=\"{value}\"")
            })
            .collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(text, "{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::go_float;

    #[test]
    fn numbers_are_printed_as_go_prints_floats() {
        for (number, text) in
            [(0, "0"), (999_999, "999999"), (1_000_000, "1e+06"), (1_795_254_448, "1.795254448e+09"), (-7, "-7")]
        {
            assert_eq!(go_float(number), text);
        }
    }
}
