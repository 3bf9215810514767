//! What a kubelet can be started with, by name: its flags and the fields of its `KubeletConfiguration`.
//!
//! Inputs: names and values from users. Outputs: names and values in one form, or an error with the nearest name. The
//! kubelet itself checks the values.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::config_types::{field_names, field_type};
use crate::objects::{FieldError, Json, Text, nearest};

/// The flag of which each use reserves the memory of one NUMA node.
pub(super) const RESERVED_MEMORY: &str = "reserved-memory";
/// What stands between the uses of `--reserved-memory` in its text: commas stand within one.
pub const BETWEEN_USES: char = '\n';

/// The flags that matter here, with the field of the configuration that each sets; empty for a flag of its own.
///
/// Source: cmd/kubelet/app/options/options.go (v1.34), `AddFlags` and `AddKubeletConfigFlags`.
pub const FLAGS: &[(&str, &str)] = &[
    ("anonymous-auth", "authentication.anonymous.enabled"),
    ("authentication-token-webhook", "authentication.webhook.enabled"),
    ("authorization-mode", "authorization.mode"),
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
    ("logging-format", "logging.format"),
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
    ("vmodule", "logging.vmodule"),
    ("volume-stats-agg-period", "volumeStatsAggPeriod"),
];

/// Flags whose effect the API server cannot see, or that are known by their fields, with the field that each sets; for
/// a flag of its own the type of its value after a colon. A type that begins with `go` is one of Go's own flags.
///
/// Source: as [`FLAGS`], and cmd/kubelet/app/options/globalflags_linux.go.
const UNSEEN: &str = "address:address allowed-unsafe-sysctls:allowedUnsafeSysctls \
    application-metrics-count-limit::goint \
    authentication-token-webhook-cache-ttl:authentication.webhook.cacheTTL \
    authorization-webhook-cache-authorized-ttl:authorization.webhook.cacheAuthorizedTTL \
    authorization-webhook-cache-unauthorized-ttl:authorization.webhook.cacheUnauthorizedTTL boot-id-file::string \
    cert-dir::string cgroup-driver:cgroupDriver cgroup-root:cgroupRoot \
    client-ca-file:authentication.x509.clientCAFile cluster-dns:clusterDNS cluster-domain:clusterDomain \
    config-dir::string container-hints::string container-log-max-files:containerLogMaxFiles \
    container-log-max-size:containerLogMaxSize containerd::string containerd-namespace::string \
    contention-profiling:enableContentionProfiling cpu-cfs-quota:cpuCFSQuota cpu-cfs-quota-period:cpuCFSQuotaPeriod \
    cpu-manager-reconcile-period:cpuManagerReconcilePeriod enable-debugging-handlers:enableDebuggingHandlers \
    enable-load-reader::gobool enable-server:enableServer event-burst:eventBurst event-qps:eventRecordQPS \
    event-storage-age-limit::string event-storage-event-limit::string experimental-mounter-path::string \
    feature-gates:featureGates file-check-frequency:fileCheckFrequency global-housekeeping-interval::goduration \
    hairpin-mode:hairpinMode healthz-bind-address:healthzBindAddress healthz-port:healthzPort \
    housekeeping-interval::goduration http-check-frequency:httpCheckFrequency \
    image-credential-provider-bin-dir::string image-credential-provider-config::string \
    image-service-endpoint:imageServiceEndpoint kernel-memcg-notification:kernelMemcgNotification \
    kube-api-burst:kubeAPIBurst kube-api-content-type:contentType kube-api-qps:kubeAPIQPS \
    kubelet-cgroups:kubeletCgroups log-cadvisor-usage::gobool log-flush-frequency:logging.flushFrequency \
    log-json-info-buffer-size:logging.options.json.infoBufferSize \
    log-json-split-stream:logging.options.json.splitStream \
    log-text-info-buffer-size:logging.options.text.infoBufferSize \
    log-text-split-stream:logging.options.text.splitStream machine-id-file::string \
    make-iptables-util-chains:makeIPTablesUtilChains manifest-url:staticPodURL manifest-url-header:staticPodURLHeader \
    max-open-files:maxOpenFiles maximum-dead-containers::int32 maximum-dead-containers-per-container::int32 \
    minimum-container-ttl-duration::duration oom-score-adj:oomScoreAdj pod-cidr:podCIDR \
    pod-infra-container-image::string pod-max-pids:podPidsLimit protect-kernel-defaults:protectKernelDefaults \
    qos-reserved:qosReserved read-only-port:readOnlyPort registry-burst:registryBurst registry-qps:registryPullQPS \
    resolv-conf:resolvConf root-dir::string runonce:runOnce runtime-cgroups::string \
    runtime-request-timeout:runtimeRequestTimeout seccomp-default:seccompDefault \
    serialize-image-pulls:serializeImagePulls \
    storage-driver-buffer-duration::goduration storage-driver-db::string storage-driver-host::string \
    storage-driver-password::string storage-driver-secure::gobool storage-driver-table::string \
    storage-driver-user::string streaming-connection-idle-timeout:streamingConnectionIdleTimeout \
    sync-frequency:syncFrequency system-cgroups:systemCgroups tls-cert-file:tlsCertFile \
    tls-cipher-suites:tlsCipherSuites tls-min-version:tlsMinVersion tls-private-key-file:tlsPrivateKeyFile \
    volume-plugin-dir:volumePluginDir";

/// Further flags of a kubelet: of none of them the effect is modelled. Source: as [`FLAGS`].
const NOT_MODELLED: &str = "bootstrap-kubeconfig config exit-on-lock-contention \
    experimental-allocatable-ignore-eviction lock-file version";

/// Finds a flag, as its name is spelled, with the field that it sets and the type of its value.
///
/// Underscores are dashes. Source: k8s.io/component-base cli/flag/flags.go (v1.34), `WordSepNormalizeFunc`.
#[must_use]
pub fn find_flag(name: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let name = name.replace('_', "-");
    if let Some((known, field)) = FLAGS.iter().find(|(known, _)| *known == name) {
        let of_its_own = if *known == "v" { "level" } else { "string" };
        return Some((*known, *field, field_type(field).unwrap_or(of_its_own)));
    }
    UNSEEN.split(' ').find_map(|flag| {
        let (known, field) = flag.split_once(':').filter(|(known, _)| *known == name)?;
        Some(match field.strip_prefix(':') {
            Some(own) => (known, "", own),
            None => (known, field, field_type(field).unwrap_or("string")),
        })
    })
}

/// Reads a flag of `POST machines`: its name with or without dashes, and its value as text.
///
/// # Errors
/// The flag is unknown, or its value is neither text, number nor truth value.
pub fn read_flag(name: &Text, value: &Json, path: &str) -> Result<(Text, Text), FieldError> {
    let field = format!("{path}.{name}");
    let short = name.trim_start_matches('-');
    let Some((known, ..)) = find_flag(short) else {
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
    match config.fields().find(|(name, _)| !field_names().any(|own| own == name.as_str())) {
        Some((name, _)) => {
            let near = nearest(name, field_names()).map(String::from);
            let message = format!("unknown field {name:?} of KubeletConfiguration");
            Err(FieldError { field: format!("{path}.{name}"), message, did_you_mean: near })
        }
        None => Ok(()),
    }
}
