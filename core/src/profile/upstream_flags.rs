//! The flags of the control plane's programs whose effect is not modelled.
//!
//! Input: a flag with its program. Output: whether the program has it. Source: `--help` of kube-apiserver,
//! kube-controller-manager and kube-scheduler 1.34.4. A flag that a row of the profiles has is not looked up here.

/// The programs with the names of their flags.
const FLAGS: [(&str, &str); 3] = [
    (
        "kube-apiserver",
        "admission-control admission-control-config-file advertise-address aggregator-reject-forwarding-redirect \
         allow-metric-labels allow-metric-labels-manifest allow-privileged anonymous-auth api-audiences \
         audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-max-wait audit-log-batch-throttle-burst \
         audit-log-batch-throttle-enable audit-log-batch-throttle-qps audit-log-compress audit-log-format \
         audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-mode audit-log-path \
         audit-log-truncate-enabled audit-log-truncate-max-batch-size audit-log-truncate-max-event-size \
         audit-log-version audit-policy-file audit-webhook-batch-buffer-size audit-webhook-batch-max-size \
         audit-webhook-batch-max-wait audit-webhook-batch-throttle-burst audit-webhook-batch-throttle-enable \
         audit-webhook-batch-throttle-qps audit-webhook-config-file audit-webhook-initial-backoff audit-webhook-mode \
         audit-webhook-truncate-enabled audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size \
         audit-webhook-version authentication-config authentication-token-webhook-cache-ttl \
         authentication-token-webhook-config-file authentication-token-webhook-version authorization-config \
         authorization-mode authorization-policy-file authorization-webhook-cache-authorized-ttl \
         authorization-webhook-cache-unauthorized-ttl authorization-webhook-config-file authorization-webhook-version \
         bind-address cert-dir client-ca-file contention-profiling coordinated-leadership-lease-duration \
         coordinated-leadership-renew-deadline coordinated-leadership-retry-period cors-allowed-origins \
         debug-socket-path default-not-ready-toleration-seconds default-unreachable-toleration-seconds \
         delete-collection-workers disable-admission-plugins disable-http2-serving disabled-metrics \
         egress-selector-config-file emulated-version emulation-forward-compatible enable-admission-plugins \
         enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler \
         enable-priority-and-fairness encryption-provider-config encryption-provider-config-automatic-reload \
         endpoint-reconciler-type etcd-cafile etcd-certfile etcd-compaction-interval etcd-count-metric-poll-period \
         etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-keyfile etcd-prefix etcd-readycheck-timeout \
         etcd-servers etcd-servers-overrides event-ttl external-hostname goaway-chance \
         http2-max-streams-per-connection kubelet-certificate-authority kubelet-client-certificate kubelet-client-key \
         kubelet-preferred-address-types kubelet-timeout kubernetes-service-node-port lease-reuse-duration-seconds \
         livez-grace-period log-flush-frequency log-json-info-buffer-size log-json-split-stream \
         log-text-info-buffer-size log-text-split-stream logging-format max-connection-bytes-per-sec \
         max-mutating-requests-inflight max-requests-inflight min-request-timeout oidc-ca-file oidc-client-id \
         oidc-groups-claim oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-signing-algs \
         oidc-username-claim oidc-username-prefix peer-advertise-ip peer-advertise-port peer-ca-file \
         permit-address-sharing permit-port-sharing profiling proxy-client-cert-file proxy-client-key-file \
         request-timeout requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix \
         requestheader-group-headers requestheader-uid-headers requestheader-username-headers runtime-config \
         runtime-config-emulation-forward-compatible secure-port service-account-extend-token-expiration \
         service-account-issuer service-account-jwks-uri service-account-key-file service-account-lookup \
         service-account-max-token-expiration service-account-signing-endpoint service-account-signing-key-file \
         service-cluster-ip-range service-node-port-range show-hidden-metrics-for-version shutdown-delay-duration \
         shutdown-send-retry-after shutdown-watch-termination-grace-period storage-backend \
         storage-initialization-timeout storage-media-type strict-transport-security-directives tls-cert-file \
         tls-cipher-suites tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v \
         vmodule watch-cache watch-cache-sizes",
    ),
    (
        "kube-controller-manager",
        "allocate-node-cidrs allow-metric-labels allow-metric-labels-manifest attach-detach-reconcile-sync-period \
         authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl \
         authentication-tolerate-lookup-failure authorization-always-allow-paths authorization-kubeconfig \
         authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl bind-address cert-dir \
         cidr-allocator-type client-ca-file cloud-config cloud-provider cluster-cidr cluster-name \
         cluster-signing-cert-file cluster-signing-duration cluster-signing-key-file \
         cluster-signing-kube-apiserver-client-cert-file cluster-signing-kube-apiserver-client-key-file \
         cluster-signing-kubelet-client-cert-file cluster-signing-kubelet-client-key-file \
         cluster-signing-kubelet-serving-cert-file cluster-signing-kubelet-serving-key-file \
         cluster-signing-legacy-unknown-cert-file cluster-signing-legacy-unknown-key-file concurrent-cron-job-syncs \
         concurrent-daemonset-syncs concurrent-deployment-syncs concurrent-endpoint-syncs \
         concurrent-ephemeralvolume-syncs concurrent-gc-syncs concurrent-horizontal-pod-autoscaler-syncs \
         concurrent-job-syncs concurrent-namespace-syncs concurrent-rc-syncs concurrent-replicaset-syncs \
         concurrent-resource-quota-syncs concurrent-service-endpoint-syncs concurrent-service-syncs \
         concurrent-serviceaccount-token-syncs concurrent-statefulset-syncs concurrent-ttl-after-finished-syncs \
         concurrent-validating-admission-policy-status-syncs configure-cloud-routes contention-profiling \
         controller-start-interval controllers disable-attach-detach-reconcile-sync disable-force-detach-on-timeout \
         disable-http2-serving disabled-metrics emulated-version enable-dynamic-provisioning enable-garbage-collector \
         enable-hostpath-provisioner enable-leader-migration endpoint-updates-batch-period \
         endpointslice-updates-batch-period external-cloud-volume-plugin flex-volume-plugin-dir \
         horizontal-pod-autoscaler-cpu-initialization-period horizontal-pod-autoscaler-downscale-stabilization \
         horizontal-pod-autoscaler-initial-readiness-delay horizontal-pod-autoscaler-sync-period \
         horizontal-pod-autoscaler-tolerance http2-max-streams-per-connection kube-api-burst kube-api-content-type \
         kube-api-qps kubeconfig large-cluster-size-threshold leader-elect leader-elect-lease-duration \
         leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name \
         leader-elect-resource-namespace leader-elect-retry-period leader-migration-config \
         legacy-service-account-token-clean-up-period log-flush-frequency log-json-info-buffer-size \
         log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format master \
         max-endpoints-per-slice min-resync-period mirroring-concurrent-service-endpoint-syncs \
         mirroring-endpointslice-updates-batch-period mirroring-max-endpoints-per-subset namespace-sync-period \
         node-cidr-mask-size node-cidr-mask-size-ipv4 node-cidr-mask-size-ipv6 node-eviction-rate \
         node-monitor-grace-period node-monitor-period node-startup-grace-period permit-address-sharing \
         permit-port-sharing profiling pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath \
         pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath \
         pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath pvclaimbinder-sync-period \
         requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix \
         requestheader-group-headers requestheader-uid-headers requestheader-username-headers \
         resource-quota-sync-period root-ca-file route-reconciliation-period secondary-node-eviction-rate secure-port \
         service-account-private-key-file service-cluster-ip-range show-hidden-metrics-for-version \
         terminated-pod-gc-threshold tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file \
         tls-sni-cert-key unhealthy-zone-threshold use-service-account-credentials v vmodule",
    ),
    (
        "kube-scheduler",
        "allow-metric-labels allow-metric-labels-manifest authentication-kubeconfig authentication-skip-lookup \
         authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure \
         authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl \
         authorization-webhook-cache-unauthorized-ttl bind-address cert-dir client-ca-file config contention-profiling \
         disable-http2-serving disabled-metrics emulated-version http2-max-streams-per-connection kube-api-burst \
         kube-api-content-type kube-api-qps kubeconfig leader-elect leader-elect-lease-duration \
         leader-elect-renew-deadline leader-elect-resource-lock leader-elect-resource-name \
         leader-elect-resource-namespace leader-elect-retry-period log-flush-frequency log-json-info-buffer-size \
         log-json-split-stream log-text-info-buffer-size log-text-split-stream logging-format master \
         permit-address-sharing permit-port-sharing pod-max-in-unschedulable-pods-duration profiling \
         requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix \
         requestheader-group-headers requestheader-uid-headers requestheader-username-headers secure-port \
         show-hidden-metrics-for-version tls-cert-file tls-cipher-suites tls-min-version tls-private-key-file \
         tls-sni-cert-key v vmodule write-config-to",
    ),
];

/// Tells whether a program has a flag, `PROGRAM.FLAG`; without a program, whether any has it.
pub(super) fn is_flag(flag: &str) -> bool {
    let (program, name) = flag.split_once('.').unwrap_or(("", flag));
    let mut of = FLAGS.iter().filter(|(own, _)| program.is_empty() || *own == program);
    of.any(|(_, names)| names.split(' ').any(|known| known == name))
}

/// Returns the names of all flags, without their programs.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FLAGS.iter().flat_map(|(_, names)| names.split(' '))
}

#[cfg(test)]
mod tests {
    use super::{is_flag, names};

    #[test]
    fn a_flag_is_of_its_program() {
        for (flag, known) in [
            ("kube-controller-manager.concurrent-gc-syncs", true),
            ("concurrent-gc-syncs", true),
            ("kube-scheduler.concurrent-gc-syncs", false),
            ("kube-apiserver.etcd-servers", true),
            ("kube-apiserver.token-auth-file", true),
            ("kube-apiserver.token-auth-", false),
            ("kube-apiserver.etcd-server", false),
            ("", false),
        ] {
            assert_eq!(is_flag(flag), known, "{flag}");
        }
    }

    #[test]
    fn no_name_is_cut_in_two() {
        assert!(names().all(|name| !name.is_empty() && !name.starts_with('-') && !name.ends_with('-')));
    }
}
