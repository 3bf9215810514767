//! The resources of a pod as a whole, in releases that show them in its status.
//!
//! Mirrors `convertToAPIPodLevelResourcesStatus` of pkg/kubelet/kubelet_pods.go, and cm/helpers_linux.go (v1.36).
//! Inputs: the pod's worker, the version of cgroups. Outputs: `status.resources` and `status.allocatedResources`.
//! Invariant: what the cgroup holds is read only once the API had the phase Running when the pod was synced.

use alloc::format;
use alloc::vec::Vec;

use super::Worker;
use super::status_context::StatusContext;
use crate::components::pod_resources::{Amounts, PodLevel, limits, requests};
use crate::objects::quantity::{Format, Quantity};
use crate::objects::{Json, Text};
use crate::profile::Settings;

/// The limit that a cgroup of version 1 holds if none was set: the largest number of bytes in whole pages of 4 KiB.
const UNLIMITED: &str = "9007199254740988Ki";
/// What a cgroup holds at least, in thousandths of a CPU: smaller requests and limits are not read back.
/// Source: pkg/kubelet/cm/helpers_linux.go (v1.34 and v1.36), `MinShares` and `MinMilliCPULimit`.
pub(super) const MIN_REQUEST: i64 = 2;
pub(super) const MIN_LIMIT: i64 = 10;
/// The most shares that a cgroup holds. Source: as above, `MaxShares`.
const MAX_SHARES: i64 = 262_144;
/// The period over which the time of a CPU is limited, in microseconds, and the least share of it.
/// Source: as above, `QuotaPeriod` and `MinQuotaPeriod`.
const PERIOD: i64 = 100_000;
const QUOTA_MIN: i64 = 1_000;

/// Tells whether the status shows what pods have as a whole.
pub(super) fn is_shown(settings: &Settings) -> bool {
    settings.profile().text("declared-features").contains("InPlacePodLevelResourcesVerticalScaling")
}

/// Sets what a pod has as a whole.
pub(super) fn set_resources(status: &mut Json, worker: &Worker, view: &StatusContext<'_>) {
    if !is_shown(view.settings) {
        return;
    }
    let (spec, level) = (worker.object.stable().get("spec"), PodLevel::of(view.settings.profile()));
    let (requested, limited) = (requests(spec, level), limits(spec, level));
    // Until the kubelet has seen what it changed, what the cgroup had before stays.
    if !worker.resizing.is_unseen() {
        let own = if worker.synced_phase == *"Running" {
            let is_old = view.host.spec.hardware.cgroup_version == 1;
            let keeps_requests = view.settings.profile().is("pod-level-requests-are-as-written");
            let before = status.get("resources");
            read_back(spec, (&requested, &limited), (is_old, keeps_requests), before)
        } else {
            resources(list(spec, "requests", &requested), list(spec, "limits", &limited))
        };
        status.set(&["resources"], own);
    }
    if requested.iter().next().is_some() {
        status.set(&["allocatedResources"], list(spec, "requests", &requested));
    }
}

fn resources(requests: Json, limits: Json) -> Json {
    let mut own = Json::object();
    for (name, list) in [("requests", requests), ("limits", limits)] {
        if !list.is_empty() {
            own.set(&[name], list);
        }
    }
    own
}

/// Prints sums as the first of their parts is written: the pod's own, or else the first container's that has any.
///
/// Source: k8s.io/apimachinery pkg/api/resource/quantity.go (v1.36), `Add`, which keeps the form of what is added to.
fn list(spec: &Json, kind: &str, amounts: &Amounts) -> Json {
    let all = ["containers", "initContainers"].into_iter().flat_map(|list| spec.get(list).items());
    let lists: Vec<&Json> = core::iter::once(spec).chain(all).map(|own| own.at(&["resources", kind])).collect();
    let text = |name: &Text, amount| {
        let mut written = lists.iter().filter_map(|list| Quantity::from_json(list.get(name)));
        match written.find(|quantity| !quantity.is_zero()) {
            Some(first) if *name != *"cpu" => Text::from(format!("{}", Quantity::whole(amount, first.format()))),
            _ => text_of(name, amount),
        }
    };
    amounts.iter().map(|(name, amount)| (name.clone(), Json::text(text(name, amount)))).collect()
}

/// Prints an amount as a cgroup's is printed.
fn text_of(name: &str, amount: i64) -> Text {
    let quantity = match name {
        "cpu" => Quantity::milli(amount),
        "memory" => Quantity::whole(amount, Format::BinarySi),
        _ => Quantity::whole(amount, Format::DecimalSi),
    };
    Text::from(format!("{quantity}"))
}

/// Returns the shares that a cgroup of version 2 holds: it has a weight from 1 to 10000 in the place of shares from
/// 2 to 262144.
///
/// Source: pkg/kubelet/cm/helpers_linux.go (v1.37), `CPUSharesEqualAfterV2RoundTrip`.
const fn through_weight(shares: i64) -> i64 {
    (shares - 2) * 9_999 / 262_142 * 262_142 / 9_999 + 2
}

/// Returns what the cgroup of a pod says, over what its specification does; whether that is of version 1, and whether
/// requests of CPU that agree with it and all requests of memory stay as they are written.
fn read_back(
    spec: &Json,
    (requested, limited): (&Amounts, &Amounts),
    (is_old, keeps_requests): (bool, bool),
    before: &Json,
) -> Json {
    let own = |kind: &str| {
        let list = spec.at(&["resources", kind]);
        if list.is_object() { list.clone() } else { Json::object() }
    };
    let (mut requests, mut limits) = (own("requests"), own("limits"));
    let shares_of = |milli: i64| (milli * 1024 / 1000).clamp(MIN_REQUEST, MAX_SHARES);
    let shares = shares_of(requested.get("cpu"));
    let shares = if is_old { shares } else { through_weight(shares) };
    let cpu = (shares * 1000 + 1023) / 1024;
    let written = Amounts::of(&requests).get("cpu");
    let is_kept = keeps_requests && through_weight(shares_of(written)) == shares;
    if !is_kept && (cpu > MIN_REQUEST || written > MIN_REQUEST) {
        requests.set(&["cpu"], text_of("cpu", cpu));
    }
    if requests.get("memory").is_null() && requested.get("memory") > 0 {
        requests.set(&["memory"], text_of("memory", requested.get("memory")));
    }
    if !keeps_requests && !before.at(&["requests", "memory"]).is_null() {
        requests.set(&["memory"], before.at(&["requests", "memory"]).clone());
    }
    // The cgroup of a pod is limited only if each of its containers is.
    let is_limited = |name: &str| {
        let of_pod = !spec.at(&["resources", "limits", name]).is_null();
        let mut containers = ["containers", "initContainers"].iter().flat_map(|list| spec.get(list).items());
        of_pod || containers.all(|item| !item.at(&["resources", "limits", name]).is_null())
    };
    if is_limited("cpu") {
        let quota = (limited.get("cpu") * PERIOD / 1000).max(QUOTA_MIN);
        let cpu = quota * 1000 / PERIOD;
        if cpu > MIN_LIMIT || Amounts::of(&limits).get("cpu") > MIN_LIMIT {
            limits.set(&["cpu"], text_of("cpu", cpu));
        }
    } else if !before.at(&["limits", "cpu"]).is_null() {
        limits.set(&["cpu"], before.at(&["limits", "cpu"]).clone());
    }
    if is_limited("memory") {
        limits.set(&["memory"], text_of("memory", limited.get("memory")));
    } else if is_old {
        limits.set(&["memory"], UNLIMITED);
    } else if !before.at(&["limits", "memory"]).is_null() {
        limits.set(&["memory"], before.at(&["limits", "memory"]).clone());
    }
    resources(requests, limits)
}

#[cfg(test)]
mod tests {
    use super::read_back;
    use crate::components::pod_resources::{Amounts, PodLevel, limits, requests};
    use crate::json;
    use crate::objects::Json;
    use crate::profile::{Profile, Release};

    fn shown(spec: &Json, keeps_requests: bool) -> Json {
        let level = PodLevel::of(&Profile::default().at_release(Release::new(37, 2)));
        let (requested, limited): (Amounts, Amounts) = (requests(spec, level), limits(spec, level));
        let before = json!({"requests": {"memory": "8Mi"}});
        read_back(spec, (&requested, &limited), (false, keeps_requests), &before)
    }

    #[test]
    fn only_what_a_whole_pod_requests_is_kept() {
        let amounts = json!({"cpu": "100m", "memory": "16Mi"});
        let whole = json!({"resources": {"requests": amounts.clone()}, "containers": [{"name": "a"}]});
        let parts = json!({"containers": [{"name": "a", "resources": {"requests": amounts}}]});
        for (spec, keeps_requests, cpu, memory) in [
            (&whole, false, "79m", "8Mi"),
            (&whole, true, "100m", "16Mi"),
            (&parts, false, "79m", "8Mi"),
            (&parts, true, "79m", "16Mi"),
        ] {
            let requests = shown(spec, keeps_requests).get("requests").clone();
            assert_eq!(requests, json!({"cpu": cpu, "memory": memory}), "{spec} {keeps_requests}");
        }
    }
}
