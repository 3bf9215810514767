//! What `GET machines/NAME` shows of a machine.
//!
//! Inputs: a machine, an instant. Output: JSON, whose fields docs/control.md promises; a field that says nothing is
//! left out.

use alloc::string::ToString;

use jiff::Timestamp;

use super::Machine;
use crate::components::host::{Assignment, NumaNode};
use crate::components::kubelet::swaps_volumes;
use crate::json;
use crate::objects::cpu_set::print_cpu_set;
use crate::objects::quantity::{Format, Quantity};
use crate::objects::time::{exact_seconds, to_micro_time};
use crate::objects::{Json, Text};

impl Machine {
    /// Shows the machine as `GET machines/NAME` does.
    #[must_use]
    pub fn describe(&self, now: Timestamp) -> Json {
        let host = self.host();
        let hardware = &host.spec.hardware;
        let state = if !self.is_powered {
            "off"
        } else if self.is_paused() {
            "paused"
        } else {
            "running"
        };
        let mut shown = json!({
            "name": self.name().as_str(), "nodeName": self.node_name().as_str(), "state": state,
            "powered": self.is_powered, "bootId": host.boot_id.as_str(), "boots": host.boots,
            "machineId": host.machine_id().as_str(), "systemUuid": host.system_uuid().as_str(),
            "clock": to_micro_time(host.wall(now)), "clockSkew": exact_seconds(host.spec.clock_skew),
            "capacity": {
                "cpu": hardware.cpu.to_string(), "memory": hardware.memory.to_string(),
                "ephemeral-storage": hardware.ephemeral_storage.to_string(),
            },
            "osImage": hardware.os_image.as_str(), "kernelVersion": hardware.kernel_version.as_str(),
            "processes": {
                "containerRuntime": {"version": hardware.container_runtime.as_str(),
                    "running": self.is_powered && host.is_runtime_up},
            },
            "cni": if host.is_cni_installed { "installed" } else { "removed" },
        });
        if !hardware.swap.is_zero() {
            shown.set(&["swap", "capacity"], hardware.swap.to_string());
        }
        if hardware.swap_controller && hardware.cgroup_version == 2 {
            // What is not a pod's is not the kubelet's to limit.
            shown.set(&["cgroups", "system.slice", "memory.swap.max"], "max");
        }
        if !host.is_connected {
            shown.set(&["network"], "disconnected");
        }
        if host.runtime.is_frozen() {
            shown.set(&["processes", "containerRuntime", "frozen"], true);
        }
        for (field, value) in [("zone", &host.spec.zone), ("region", &host.spec.region)] {
            if let Some(value) = value {
                shown.set(&[field], value);
            }
        }
        for (name, amount, _) in &hardware.extended {
            shown.set(&["capacity", name], amount.to_string());
        }
        shown.set(&["logind"], self.describe_logind());
        if !hardware.numa.is_empty() {
            let node = |own: &NumaNode| {
                json!({"id": i64::from(own.id), "cpus": print_cpu_set(&own.cpus),
                    "memory": Quantity::whole(own.memory, Format::BinarySi).to_string()})
            };
            shown.set(&["numa"], hardware.numa.iter().map(node).collect::<Json>());
        }
        if !host.assignments.is_empty() {
            shown.set(&["assignments"], host.assignments.iter().map(Assignment::describe).collect::<Json>());
        }
        shown.set(&["processes", "kubelet"], self.describe_kubelet());
        shown.set(&["containers"], self.describe_containers(now));
        shown
    }

    /// Shows the containers, as [`Self::describe`] does.
    #[must_use]
    pub fn describe_containers(&self, now: Timestamp) -> Json {
        let host = self.host();
        host.runtime.describe(now, |at| host.wall(at))
    }

    fn describe_kubelet(&self) -> Json {
        let version = self.settings.profile().release();
        let mut shown = json!({"running": self.kubelet.is_some(), "starts": self.starts});
        if self.frozen.is_some() && !self.is_paused() {
            shown.set(&["frozen"], true);
        }
        shown.set(&["version"], Text::from(alloc::format!("v{version}")));
        let instant = |at: Option<Timestamp>| at.map_or(Json::Null, |at| Json::from(to_micro_time(at)));
        match self.kubelet() {
            Some(kubelet) => {
                let (lease, status) = kubelet.heartbeats();
                shown.set(&["startedAt"], to_micro_time(kubelet.started()));
                shown.set(&["leaseRenewedAt"], instant(lease));
                shown.set(&["statusPostedAt"], instant(status));
                shown.set(&["lastLog"], kubelet.last_log());
                let shutdown = kubelet.describe_shutdown();
                if !shutdown.is_null() {
                    shown.set(&["gracefulShutdown"], shutdown);
                }
                if !self.host.spec.hardware.swap.is_zero() {
                    let is_kept = kubelet.mounts_with_noswap() && !swaps_volumes(&self.host.spec.hardware);
                    shown.set(&["tmpfsNoswap"], is_kept);
                }
                for (name, at) in kubelet.shutdown_metrics() {
                    shown.set(&["metrics", name], at);
                }
                let not_modelled: Json =
                    kubelet.config().all_not_modelled().map(|what| Json::from(what.as_str())).collect();
                if !not_modelled.is_empty() {
                    shown.set(&["notModelled"], not_modelled);
                }
            }
            None => shown.set(&["lastLog"], self.last_log.as_str()),
        }
        shown
    }
}
