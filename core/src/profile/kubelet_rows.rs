//! The rows of what newer kubelets do.

use super::release::OLDEST;
use super::row::{PLAIN, Row, off, on};
use super::value::Value;

/// Of kubelets.
pub(super) static OF_KUBELETS: &[Row] = &[
    off("user-namespace-in-status", "nodeInfo.runningInUserNamespace says whether the kubelet is in a user namespace"),
    off("unready-sandbox-is-explained", "PodReadyToStartContainers has reason and message while it is False"),
    off("node-events-have-uid", "a kubelet's own Events about its Node have the uid of the Node once it is known"),
    off("pod-level-requests-are-as-written", "status.resources keeps the CPU that a pod as a whole requests"),
    off("pods-wait-for-their-node", "a kubelet watches pods once its cache has the Node, not once it is filled"),
    off("sidecars-have-storage-limits", "a sidecar that writes more than its own limit ends its pod"),
    off(
        "users-have-sysctls",
        "a pod has user.* and kernel.domainname for itself, and two more sysctls of TCP are safe",
    ),
    off("throttling-factor-needs-its-gate", "a memoryThrottlingFactor other than 0.9 is refused without MemoryQoS"),
    off("default-sysctls-are-checked", "kubelets know the field defaultPodSysctls, and refuse it without its gate"),
    off("reserved-cpu-in-thousandths", "a reserved amount of CPU is rounded to thousandths, half of one up"),
    on("kubelet-has-infra-image-flag", "kubelets take --pod-infra-container-image"),
    on("kubelet-has-flags-of-cadvisor", "kubelets take --boot-id-file, --storage-driver-host and others of cAdvisor"),
    off(
        "exited-containers-count-as-initialized",
        "a container that has ended in this sandbox shows that all init ones did",
    ),
    off(
        "static-pods-are-checked-by-gates",
        "what a gate allows a Pod, as nearly any name of a variable, it allows a static Pod too",
    ),
    Row {
        name: "static-pods-have-no-claims",
        says: "a static Pod with claims of devices is refused, whatever the gate of references says",
        first: &[(OLDEST, Value::Bool(false))],
        source: "pkg/kubelet/config/common.go (v1.32.5, v1.32.6, v1.33.1, v1.33.2)",
        ..PLAIN
    },
    off("resize-has-conditions", "kubelets change the resources of pods that run, and say so in their conditions"),
    off(
        "resizes-are-queued",
        "a resize that has to wait is tried in the order of a queue, not in each sync of its pod",
    ),
    off("resize-refusals-name-policies", "exclusive CPUs or memory refuse a resize only if their own resource changes"),
    off("resize-checks-container-memory", "no memory limit goes below what is used, of a container or of its pod"),
    off("resize-completion-is-told", "the Event ResizeCompleted"),
    off("resize-steps-are-told", "the Events ResizeStarted, ResizeDeferred, ResizeInfeasible and ResizeError"),
    off("resize-beyond-node-is-infeasible", "a resize to more than the node has is Infeasible, and not Deferred"),
    off("ended-pods-free-resizes", "resizes that wait are tried again as soon as a pod has succeeded or failed"),
    off("memory-limits-stay-or-grow", "no resize lowers or adds a memory limit, unless the container starts anew"),
    off("crash-back-off-is-waited-out", "a pod with a container in back-off is synced when that ends, not each 10 s"),
    off("init-containers-are-resized", "CPU and memory of init containers that are no sidecars change too"),
];
