//! The metrics of components, as they would show them at `/metrics`.
//!
//! Inputs: the name of a component, as `kubelet/w1` or `node-lifecycle-controller`. Output: Prometheus' text. Only
//! what the model knows is there. Sources (v1.34): pkg/controller/nodelifecycle/metrics.go,
//! pkg/kubelet/metrics/metrics.go, k8s.io/component-base metrics/prometheus/workqueue/metrics.go.

use std::fmt::Write as _;

use nodeproof_core::components::controller::{Histogram, Measure, MeasuredValue};
use nodeproof_core::components::kubelet::Kubelet;
use nodeproof_core::components::registry::{canonical, controllers_of};
use nodeproof_core::objects::Json;

use super::calls::{missing, running_controller};
use super::route::Call;
use super::{Content, Control, Refusal, Reply};

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
        controller.measures().iter().for_each(|measure| write_measure(&mut text, measure));
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
        let _ = writeln!(text, "# HELP {name} [ALPHA] {help}\n# TYPE {name} gauge\n{name} {}", go_float(seconds(at)));
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds since the epoch, far below what a float holds exactly")]
const fn seconds(at: i64) -> f64 {
    at as f64
}

/// Prints a number as Go prints a float: with an exponent from a million on, and below a ten-thousandth.
fn go_float(number: f64) -> String {
    let scientific = format!("{number:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    match exponent.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => number.to_string(),
    }
}

/// Writes a measure of a controller; one without values is left out.
fn write_measure(text: &mut String, measure: &Measure) {
    let Measure { name, help, is_stable, values } = measure;
    let Some((_, first)) = values.first() else { return };
    let kind = match first {
        MeasuredValue::Counter(_) => "counter",
        MeasuredValue::Gauge(_) => "gauge",
        MeasuredValue::Histogram(_) => "histogram",
    };
    let stability = if *is_stable { "STABLE" } else { "ALPHA" };
    let _ = writeln!(text, "# HELP {name} [{stability}] {help}\n# TYPE {name} {kind}");
    for (labels, value) in values {
        let own: Vec<_> = labels.iter().map(|(label, value)| (*label, value.as_str().to_owned())).collect();
        match value {
            MeasuredValue::Counter(count) => {
                let _ = writeln!(text, "{name}{} {count}", braced(&own));
            }
            MeasuredValue::Gauge(number) => {
                let _ = writeln!(text, "{name}{} {}", braced(&own), go_float(*number));
            }
            MeasuredValue::Histogram(spread) => write_histogram(text, name, &own, spread),
        }
    }
}

fn write_histogram(text: &mut String, name: &str, labels: &[(&str, String)], spread: &Histogram) {
    let bounds = spread.bounds.iter().map(|bound| go_float(*bound));
    let ranges = bounds.zip(spread.counts.iter().copied()).chain([("+Inf".to_owned(), spread.count)]);
    for (bound, count) in ranges {
        let labels: Vec<_> = labels.iter().cloned().chain([("le", bound)]).collect();
        let _ = writeln!(text, "{name}_bucket{} {count}", braced(&labels));
    }
    let labels = braced(labels);
    let _ = writeln!(text, "{name}_sum{labels} {}\n{name}_count{labels} {}", go_float(spread.sum), spread.count);
}

/// Writes labels as Prometheus' text has them.
fn braced(labels: &[(&str, String)]) -> String {
    let each = labels.iter().map(|(label, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{label}=\"{value}\"")
    });
    let labels: Vec<String> = each.collect();
    if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) }
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
        let _ = writeln!(text, "{name}{} {value}", braced(labels));
    }
}

#[cfg(test)]
mod tests {
    use super::go_float;

    #[test]
    fn numbers_are_printed_as_go_prints_floats() {
        for (number, text) in [
            (0.0, "0"),
            (999_999.0, "999999"),
            (1_000_000.0, "1e+06"),
            (1_795_254_448.0, "1.795254448e+09"),
            (-7.0, "-7"),
            (0.003_906_25, "0.00390625"),
            (0.000_01, "1e-05"),
            (200.0 / 3.0, "66.66666666666667"),
        ] {
            assert_eq!(go_float(number), text);
        }
    }
}
