//! The metrics of components, as they would show them at `/metrics`.
//!
//! Inputs: the name of a component, as `kubelet/w1` or `node-lifecycle-controller`. Output: Prometheus' text. Only
//! what the model knows is there. Sources (v1.34): pkg/controller/nodelifecycle/metrics.go,
//! k8s.io/component-base metrics/prometheus/workqueue/metrics.go.

use nodeproof_core::components::controller::Measure;
use nodeproof_core::components::registry::{canonical, controllers_of};
use nodeproof_core::objects::{Json, Text};

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
        self.sim.reach_kubelet(name).map_err(|why| Refusal::new(503, why))?;
        let Some(machine) = self.sim.machine(name) else { return Err(missing("machine", name, &[])) };
        let kubelet = machine.kubelet().into_iter();
        Ok(kubelet.flat_map(|own| own.measures(machine.host())).map(|own| own.to_string()).collect())
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
        let depths = controller.queues();
        let depths = depths.iter().map(|(name, depth)| (vec![("name", Text::from(*name))], *depth)).collect();
        let depths = Measure::gauge("workqueue_depth", "Current depth of workqueue", depths);
        Ok(controller.measures().iter().chain([&depths]).map(ToString::to_string).collect())
    }
}
