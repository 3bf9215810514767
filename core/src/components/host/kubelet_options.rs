//! What a kubelet can be started with, by name: its flags and the fields of its `KubeletConfiguration`.
//!
//! Inputs: names and values from users. Outputs: names and values in one form, or an error with the nearest name. The
//! kubelet itself checks the values.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::objects::{FieldError, Json, Text, nearest};

/// The flag of which each use reserves the memory of one NUMA node.
pub(super) const RESERVED_MEMORY: &str = "reserved-memory";
/// What stands between the uses of `--reserved-memory` in its text: commas stand within one.
pub const BETWEEN_USES: char = '\n';

/// The flags that matter here, with the field of the configuration that each sets; empty for a flag of its own.
///
/// Source: cmd/kubelet/app/options/options.go (v1.34), `AddFlags` and `AddKubeletConfigFlags`.
pub const FLAGS: &[(&str, &str)] = &[
    ("anonymous-auth", ""),
    ("authentication-token-webhook", ""),
    ("authorization-mode", ""),
    ("cgroups-per-qos", "cgroupsPerQOS"),
    ("cloud-provider", ""),
    ("container-runtime-endpoint", "containerRuntimeEndpoint"),
    ("cpu-manager-policy", "cpuManagerPolicy"),
    ("cpu-manager-policy-options", "cpuManagerPolicyOptions"),
    ("enable-controller-attach-detach", "enableControllerAttachDetach"),
    ("enforce-node-allocatable", "enforceNodeAllocatable"),
    ("eviction-hard", "evictionHard"),
    ("eviction-max-pod-grace-period", "evictionMaxPodGracePeriod"),
    ("eviction-minimum-reclaim", "evictionMinimumReclaim"),
    ("eviction-pressure-transition-period", "evictionPressureTransitionPeriod"),
    ("eviction-soft", "evictionSoft"),
    ("eviction-soft-grace-period", "evictionSoftGracePeriod"),
    ("fail-cgroupv1", "failCgroupV1"),
    ("fail-swap-on", "failSwapOn"),
    ("hostname-override", ""),
    ("image-gc-high-threshold", "imageGCHighThresholdPercent"),
    ("image-gc-low-threshold", "imageGCLowThresholdPercent"),
    ("kube-reserved", "kubeReserved"),
    ("kube-reserved-cgroup", "kubeReservedCgroup"),
    ("kubeconfig", ""),
    ("local-storage-capacity-isolation", "localStorageCapacityIsolation"),
    ("logging-format", ""),
    ("max-pods", "maxPods"),
    ("memory-manager-policy", "memoryManagerPolicy"),
    ("minimum-image-ttl-duration", "imageMinimumGCAge"),
    ("node-ip", ""),
    ("node-labels", ""),
    ("node-status-max-images", "nodeStatusMaxImages"),
    ("node-status-update-frequency", "nodeStatusUpdateFrequency"),
    ("pod-manifest-path", "staticPodPath"),
    ("pods-per-core", "podsPerCore"),
    ("port", "port"),
    ("provider-id", "providerID"),
    ("register-node", "registerNode"),
    ("register-schedulable", ""),
    ("register-with-taints", "registerWithTaints"),
    ("reserved-cpus", "reservedSystemCPUs"),
    (RESERVED_MEMORY, "reservedMemory"),
    ("rotate-certificates", "rotateCertificates"),
    ("rotate-server-certificates", "serverTLSBootstrap"),
    ("system-reserved", "systemReserved"),
    ("system-reserved-cgroup", "systemReservedCgroup"),
    ("topology-manager-policy", "topologyManagerPolicy"),
    ("topology-manager-policy-options", "topologyManagerPolicyOptions"),
    ("topology-manager-scope", "topologyManagerScope"),
    ("v", ""),
    ("vmodule", ""),
    ("volume-stats-agg-period", "volumeStatsAggPeriod"),
];

/// Further flags of a kubelet: of none of them an effect is modelled.
/// Source: cmd/kubelet/app/options (v1.34).
const NOT_MODELLED: &str = "address allowed-unsafe-sysctls \
    application-metrics-count-limit \
    authentication-token-webhook-cache-ttl \
    authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl \
    boot-id-file bootstrap-kubeconfig cert-dir cgroup-driver cgroup-root client-ca-file cluster-dns \
    cluster-domain config config-dir container-hints container-log-max-files container-log-max-size \
    contention-profiling cpu-cfs-quota cpu-cfs-quota-period \
    cpu-manager-reconcile-period enable-debugging-handlers enable-load-reader enable-server \
    event-burst event-qps event-storage-age-limit event-storage-event-limit exit-on-lock-contention \
    experimental-allocatable-ignore-eviction experimental-mounter-path feature-gates \
    file-check-frequency global-housekeeping-interval hairpin-mode healthz-bind-address healthz-port \
    http-check-frequency image-credential-provider-bin-dir image-credential-provider-config \
    image-service-endpoint kernel-memcg-notification kube-api-burst kube-api-content-type kube-api-qps \
    kubelet-cgroups lock-file log-cadvisor-usage machine-id-file make-iptables-util-chains \
    manifest-url manifest-url-header max-open-files maximum-dead-containers \
    maximum-dead-containers-per-container minimum-container-ttl-duration oom-score-adj pod-cidr \
    pod-infra-container-image pod-max-pids protect-kernel-defaults qos-reserved read-only-port \
    registry-burst registry-qps resolv-conf root-dir runonce runtime-cgroups runtime-request-timeout \
    seccomp-default serialize-image-pulls show-hidden-metrics-for-version \
    streaming-connection-idle-timeout sync-frequency system-cgroups tls-cert-file tls-cipher-suites \
    tls-min-version tls-private-key-file version volume-plugin-dir";

/// The fields of `KubeletConfiguration`. Source: k8s.io/kubelet config/v1beta1 types.go (v1.34 and v1.36).
const CONFIG_FIELDS: &[&str] = &[
    "address",
    "allowedUnsafeSysctls",
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupDriver",
    "cgroupRoot",
    "cgroupsPerQOS",
    "clusterDNS",
    "clusterDomain",
    "configMapAndSecretChangeDetectionStrategy",
    "containerLogMaxFiles",
    "containerLogMaxSize",
    "containerLogMaxWorkers",
    "containerLogMonitorInterval",
    "containerRuntimeEndpoint",
    "contentType",
    "cpuCFSQuota",
    "cpuCFSQuotaPeriod",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "cpuManagerReconcilePeriod",
    "crashLoopBackOff",
    "enableContentionProfiling",
    "enableControllerAttachDetach",
    "enableDebugFlagsHandler",
    "enableDebuggingHandlers",
    "enableProfilingHandler",
    "enableServer",
    "enableSystemLogHandler",
    "enableSystemLogQuery",
    "enforceNodeAllocatable",
    "eventBurst",
    "eventRecordQPS",
    "evictionHard",
    "evictionMaxPodGracePeriod",
    "evictionMinimumReclaim",
    "evictionPressureTransitionPeriod",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "failCgroupV1",
    "failSwapOn",
    "featureGates",
    "fileCheckFrequency",
    "hairpinMode",
    "healthzBindAddress",
    "healthzPort",
    "httpCheckFrequency",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "imageMaximumGCAge",
    "imageMinimumGCAge",
    "imagePullCredentialsVerificationPolicy",
    "imageServiceEndpoint",
    "iptablesDropBit",
    "iptablesMasqueradeBit",
    "kernelMemcgNotification",
    "kind",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "kubeReserved",
    "kubeReservedCgroup",
    "kubeletCgroups",
    "localStorageCapacityIsolation",
    "logging",
    "makeIPTablesUtilChains",
    "maxOpenFiles",
    "maxParallelImagePulls",
    "maxPods",
    "memoryManagerPolicy",
    "memoryReservationPolicy",
    "memorySwap",
    "memoryThrottlingFactor",
    "mergeDefaultEvictionSettings",
    "nodeLeaseDurationSeconds",
    "nodeStatusMaxImages",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "oomScoreAdj",
    "podCIDR",
    "podLogsDir",
    "podPidsLimit",
    "podsPerCore",
    "port",
    "preloadedImagesVerificationAllowlist",
    "protectKernelDefaults",
    "providerID",
    "qosReserved",
    "readOnlyPort",
    "registerNode",
    "registerWithTaints",
    "registryBurst",
    "registryPullQPS",
    "reservedMemory",
    "reservedSystemCPUs",
    "resolvConf",
    "rotateCertificates",
    "runOnce",
    "runtimeRequestTimeout",
    "seccompDefault",
    "serializeImagePulls",
    "serverTLSBootstrap",
    "showHiddenMetricsForVersion",
    "shutdownGracePeriod",
    "shutdownGracePeriodByPodPriority",
    "shutdownGracePeriodCriticalPods",
    "singleProcessOOMKill",
    "staticPodPath",
    "staticPodURL",
    "staticPodURLHeader",
    "streamingConnectionIdleTimeout",
    "syncFrequency",
    "systemCgroups",
    "systemReserved",
    "systemReservedCgroup",
    "tlsCertFile",
    "tlsCipherSuites",
    "tlsMinVersion",
    "tlsPrivateKeyFile",
    "topologyManagerPolicy",
    "topologyManagerPolicyOptions",
    "topologyManagerScope",
    "tracing",
    "userNamespaces",
    "volumePluginDir",
    "volumeStatsAggPeriod",
];

/// Reads a flag of `POST machines`: its name with or without dashes, and its value as text.
///
/// # Errors
/// The flag is unknown, or its value is neither text, number nor truth value.
pub fn read_flag(name: &Text, value: &Json, path: &str) -> Result<(Text, Text), FieldError> {
    let field = format!("{path}.{name}");
    let short = name.trim_start_matches('-');
    let Some((known, _)) = FLAGS.iter().find(|(known, _)| *known == short) else {
        if NOT_MODELLED.split(' ').any(|known| known == short) {
            return Err(FieldError::new(field, format!("--{short} is not modelled yet")));
        }
        let near = nearest(short, FLAGS.iter().map(|(known, _)| *known)).map(String::from);
        let message = format!("failed to parse kubelet flag: unknown flag: --{short}");
        return Err(FieldError { field, message, did_you_mean: near });
    };
    let text = match value {
        Json::Str(text) => text.clone(),
        Json::Bool(_) | Json::Int(_) | Json::Float(_) => Text::from(value.to_string()),
        Json::Array(items) if items.iter().all(|item| item.as_str().is_some()) => {
            let between = if short == RESERVED_MEMORY { BETWEEN_USES } else { ',' };
            Text::from(items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(&between.to_string()))
        }
        _ => return Err(FieldError::new(field, "a text, a number, true or false is needed")),
    };
    Ok((Text::of(known), text))
}

/// Checks that a `KubeletConfiguration` has no unknown field.
///
/// # Errors
/// The first unknown field.
pub fn check_field_names(config: &Json, path: &str) -> Result<(), FieldError> {
    if !config.is_object() {
        return Err(FieldError::new(path, "an object is needed"));
    }
    match config.fields().find(|(name, _)| !CONFIG_FIELDS.contains(&name.as_str())) {
        Some((name, _)) => {
            let near = nearest(name, CONFIG_FIELDS.iter().copied()).map(String::from);
            let message = format!("unknown field {name:?} of KubeletConfiguration");
            Err(FieldError { field: format!("{path}.{name}"), message, did_you_mean: near })
        }
        None => Ok(()),
    }
}
