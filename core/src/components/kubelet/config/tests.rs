//! Tests what a kubelet reads at its start, and its messages about invalid settings.

use alloc::string::String;
use alloc::sync::Arc;

use super::KubeletConfig;
use crate::components::host::{KubeletSpec, MachineSpec};
use crate::json;
use crate::objects::Json;
use crate::profile::{Release, Settings};

fn resolve(flags: Json, config: Json) -> Result<KubeletConfig, String> {
    let spec = KubeletSpec::from_json(&json!({}), "kubelet").unwrap();
    let mut body = json!({});
    body.set(&["flags"], flags);
    body.set(&["config"], config);
    let kubelet = Arc::new(KubeletSpec::from_json(&body, "kubelet").unwrap());
    assert_eq!(spec.version, None);
    let machine = MachineSpec { name: "W1".into(), kubelet: kubelet.clone(), ..MachineSpec::default() };
    let config = KubeletConfig::resolve(&machine, &kubelet, &Settings::default())?;
    config.late_failure.clone().map_or(Ok(config), Err)
}

#[test]
fn without_flags_everything_has_its_default() {
    let config = resolve(json!({}), json!({})).unwrap();
    assert_eq!(config.node_name, "w1");
    assert_eq!((config.status_update.as_secs(), config.status_report.as_secs()), (10, 300));
    assert_eq!((config.lease_duration_seconds, config.max_pods), (40, 110));
    assert_eq!(config.reservations.memory.value(), 100 << 20);
}

#[test]
fn flags_win_and_the_report_frequency_follows_the_update_frequency_of_the_file() {
    let config = resolve(
        json!({"node-status-update-frequency": "4s", "max-pods": 30,
            "register-with-taints": "a=b:NoSchedule,c:NoExecute"}),
        json!({"nodeStatusUpdateFrequency": "20s", "maxPods": 50}),
    )
    .unwrap();
    assert_eq!((config.status_update.as_secs(), config.status_report.as_secs()), (4, 20));
    assert_eq!(config.max_pods, 30);
    assert_eq!(
        Json::array(config.taints),
        json!([{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "c", "effect": "NoExecute"}])
    );
}

#[test]
fn a_flag_has_the_effect_of_the_field_of_its_name() {
    let config = resolve(
        json!({"rotate-certificates": true, "rotate-server-certificates": "true", "pod-manifest-path": "/etc/pods",
            "volume-stats-agg-period": "20s"}),
        json!({"rotateCertificates": false, "volumeStatsAggPeriod": "5m"}),
    )
    .unwrap();
    assert!(config.rotates_certificates && config.serves_with_signed_certificate && config.has_static_pods);
    assert_eq!(config.eviction.volume_measures.as_secs(), 20);
    let config = resolve(json!({"pod-manifest-path": ""}), json!({"staticPodPath": "/etc/pods"})).unwrap();
    assert!(!config.has_static_pods);
    assert!(resolve(json!({}), json!({})).unwrap().has_static_pods);
    let static_cpus = json!({"cpuManagerPolicy": "static", "kubeReserved": {"cpu": "1"}});
    let options = |text: &str| resolve(json!({"cpu-manager-policy-options": text}), static_cpus.clone());
    assert!(options("full-pcpus-only=true").unwrap().not_modelled.is_empty());
    // The flag is one pair each time (cmd/kubelet/app/options/options.go, v1.34, NewMapStringStringNoSplit).
    let refused = options("full-pcpus-only=true,strict-cpu-reservation=true").unwrap_err();
    assert!(refused.contains("parsing \"true,strict-cpu-reservation=true\": invalid syntax"), "{refused}");
    let config = options("distribute-cpus-across-numa=true").unwrap();
    assert_eq!(config.not_modelled, ["cpuManagerPolicyOptions distribute-cpus-across-numa"]);
}

#[test]
fn an_option_of_the_cpu_manager_needs_the_gate_of_its_stage() {
    let machine = MachineSpec { name: "w1".into(), ..MachineSpec::default() };
    let static_cpus = json!({"config": {"cpuManagerPolicy": "static", "kubeReserved": {"cpu": "1"},
        "cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}});
    let kubelet = Arc::new(KubeletSpec::from_json(&static_cpus, "kubelet").unwrap());
    let refusal = |minor| {
        KubeletConfig::resolve(&machine, &kubelet, &Settings::of(Release::new(minor, 0))).err().unwrap_or_default()
    };
    assert!(refusal(31).ends_with("unknown CPU Manager Policy option: \"strict-cpu-reservation\""), "{}", refusal(31));
    let off = "CPU Manager Policy Alpha-level Options not enabled, but option \"strict-cpu-reservation\" provided";
    assert!(refusal(32).ends_with(off), "{}", refusal(32));
    assert_eq!([refusal(33), refusal(34), refusal(35)], ["", "", ""]);
}

#[test]
fn each_use_of_the_flag_for_memory_is_for_one_numa_node() {
    let config = json!({"memoryManagerPolicy": "Static", "kubeReserved": {"memory": "924Mi"}});
    let by_field = json!([{"numaNode": 0, "limits": {"memory": "1Gi"}}]);
    let mut with_field = config.clone();
    with_field.set(&["reservedMemory"], by_field);
    let by_flag = resolve(json!({"reserved-memory": "0:memory=1Gi"}), config.clone()).unwrap();
    assert_eq!(by_flag.topology, resolve(json!({}), with_field).unwrap().topology);
    let invalid = "failed to parse kubelet flag: invalid argument";
    for (text, why) in [
        (
            "memory=1Gi",
            "the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got \
             memory=1Gi",
        ),
        ("a:memory=1Gi", "failed to convert the NUMA node ID, exptected integer, got a"),
        ("0:memory", "the reserved limit has incorrect value, expected type=quantatity, got memory"),
        ("0:cpu=1", "memory type conversion error, unknown type: \"cpu\""),
        ("0:memory=1Gb", "failed to parse the quantatity, expected quantatity, got 1Gb"),
    ] {
        let refused = resolve(json!({"reserved-memory": text}), config.clone()).unwrap_err();
        assert_eq!(refused, alloc::format!("{invalid} \"{text}\" for \"--reserved-memory\" flag: {why}"));
    }
    let both = json!(["0:memory=1Gi", "1:memory=1Gi"]);
    let refused = resolve(json!({"reserved-memory": both}), config).unwrap_err();
    assert!(refused.contains("references a NUMA node 1 that does not exist on this machine"), "{refused}");
}

#[test]
fn without_a_kubeconfig_a_kubelet_stands_alone() {
    let alone = json!({"authentication": {"webhook": {"enabled": false}}, "authorization": {"mode": "AlwaysAllow"}});
    assert!(resolve(json!({"kubeconfig": ""}), alone).unwrap().is_standalone);
    assert_eq!(
        resolve(json!({"kubeconfig": ""}), json!({"authentication": {"webhook": {"enabled": false}}})).unwrap_err(),
        "failed to run Kubelet: no client provided, cannot use webhook authorization"
    );
    assert!(!resolve(json!({}), json!({})).unwrap().is_standalone);
}

fn resolve_at(minor: u16, body: &Json) -> Result<KubeletConfig, String> {
    let kubelet = Arc::new(KubeletSpec::from_json(body, "kubelet").unwrap());
    let machine = MachineSpec { name: "w1".into(), kubelet: kubelet.clone(), ..MachineSpec::default() };
    KubeletConfig::resolve(&machine, &kubelet, &Settings::of(Release::new(minor, 0)))
}

#[test]
fn a_node_is_registered_cordoned_only_where_there_is_the_flag() {
    let flags = json!({"flags": {"register-schedulable": false}});
    assert!(!resolve_at(31, &flags).unwrap().register_schedulable);
    let refused = "failed to parse kubelet flag: unknown flag: --register-schedulable";
    assert_eq!(resolve_at(34, &flags).unwrap_err(), refused);
}

#[test]
fn flags_of_cadvisor_and_of_the_pause_image_are_gone() {
    for flag in ["boot-id-file", "containerd-namespace", "storage-driver-db"] {
        let mut body = json!({});
        body.set(&["flags", flag], "x");
        assert!(resolve_at(36, &body).is_ok(), "{flag}");
        let refused = alloc::format!("failed to parse kubelet flag: unknown flag: --{flag}");
        assert_eq!(resolve_at(37, &body).unwrap_err(), refused);
    }
    assert!(resolve_at(37, &json!({"flags": {"housekeeping-interval": "10s"}})).is_ok());
    let body = json!({"flags": {"pod-infra-container-image": "pause"}});
    assert!(resolve_at(34, &body).is_ok());
    let refused = "failed to parse kubelet flag: unknown flag: --pod-infra-container-image";
    assert_eq!(resolve_at(35, &body).unwrap_err(), refused);
}

#[test]
fn reserved_cpu_is_rounded_to_thousandths_in_newer_releases() {
    let body = json!({"config": {"kubeReserved": {"cpu": "100500u"}}});
    for (minor, kept) in [(36, "100500u"), (37, "101m")] {
        assert_eq!(alloc::format!("{}", resolve_at(minor, &body).unwrap().reservations.cpu), kept);
    }
}

#[test]
fn a_kubelet_refuses_in_its_own_words() {
    for (flags, config, message) in [
        (
            json!({"node-labels": "node-role.kubernetes.io/worker=,foo.k8s.io/x=y"}),
            json!({}),
            "failed to validate kubelet flags: unknown 'kubernetes.io' or 'k8s.io' labels specified with \
                --node-labels: [foo.k8s.io/x node-role.kubernetes.io/worker]\n--node-labels in the 'kubernetes.io' \
                namespace must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io) or be in the \
                specifically allowed set (beta.kubernetes.io/arch, beta.kubernetes.io/instance-type, \
                beta.kubernetes.io/os, failure-domain.beta.kubernetes.io/region, \
                failure-domain.beta.kubernetes.io/zone, kubernetes.io/arch, kubernetes.io/hostname, kubernetes.io/os, \
                node.kubernetes.io/instance-type, topology.kubernetes.io/region, topology.kubernetes.io/zone)",
        ),
        (
            json!({"node-labels": "a/b/c=d"}),
            json!({}),
            "failed to validate kubelet flags: invalid node labels: 'a/b/c' - a qualified name must consist of \
                alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
                'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. \
                'example.com/MyName')",
        ),
        (
            json!({"max-pods": -5}),
            json!({}),
            "failed to validate kubelet configuration, error: invalid configuration: maxPods (--max-pods) -5 must not \
                be a negative number, path: &TypeMeta{Kind:,APIVersion:,}",
        ),
        (
            json!({}),
            json!({"shutdownGracePeriod": "-5s"}),
            "failed to validate kubelet configuration, error: [invalid configuration: shutdownGracePeriodCriticalPods \
                {0s} must be <= shutdownGracePeriod {-5s}, invalid configuration: shutdownGracePeriod {-5s} must be \
                either zero or otherwise >= 1 sec], path: &TypeMeta{Kind:,APIVersion:,}",
        ),
        (
            json!({}),
            json!({"registerWithTaints": [{"key": "a", "value": "b", "effect": "Never"}]}),
            "failed to validate kubelet configuration, error: invalid taint: {a b Never <nil>}, path: \
                &TypeMeta{Kind:,APIVersion:,}",
        ),
        (
            json!({"register-with-taints": ":NoSchedule"}),
            json!({}),
            "failed to parse kubelet flag: invalid argument \":NoSchedule\" for \"--register-with-taints\" flag: \
                invalid taint spec: :NoSchedule, name part must be non-empty; name part must consist of alphanumeric \
                characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  \
                or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        (
            json!({"register-with-taints": "dedicated"}),
            json!({}),
            "failed to parse kubelet flag: invalid argument \"dedicated\" for \"--register-with-taints\" flag: \
                invalid taint spec: dedicated",
        ),
        (
            json!({"register-with-taints": "a=b:NoSchedule,a=c:NoSchedule"}),
            json!({}),
            "failed to parse kubelet flag: invalid argument \"a=b:NoSchedule,a=c:NoSchedule\" \
                for \"--register-with-taints\" flag: duplicated taints with the same key and effect: {a c NoSchedule \
                <nil>}",
        ),
        (
            json!({"node-status-update-frequency": "10"}),
            json!({}),
            "failed to parse kubelet flag: invalid argument \"10\" for \"--node-status-update-frequency\" flag: time: \
                missing unit in duration \"10\"",
        ),
        (
            json!({}),
            json!({"nodeStatusUpdateFrequency": "1d"}),
            "failed to load kubelet config file, path: /var/lib/kubelet/config.yaml, error: failed to load Kubelet \
                config file /var/lib/kubelet/config.yaml, error failed to decode: time: unknown unit \"d\" in \
                duration \"1d\"",
        ),
        (
            json!({"node-ip": "1.2.3.4,1.2.3.5"}),
            json!({}),
            "failed to run Kubelet: bad --node-ip \"1.2.3.4,1.2.3.5\": must contain either a single IP or a \
                dual-stack pair of IPs",
        ),
        (
            json!({"hostname-override": " "}),
            json!({}),
            "failed to construct kubelet dependencies: empty hostname is invalid",
        ),
        (
            json!({"kubeconfig": "/nowhere"}),
            json!({}),
            "failed to run Kubelet: invalid kubeconfig: stat /nowhere: no such file or directory",
        ),
        (
            json!({"cloud-provider": "aws"}),
            json!({}),
            "failed to run Kubelet: cloud provider \"aws\" was specified, but built-in cloud providers are disabled. \
                Please set --cloud-provider=external and migrate to an external cloud provider",
        ),
        (
            json!({}),
            json!({"kubeReserved": {"gpu": "1"}}),
            "failed to run Kubelet: --kube-reserved value failed to parse: cannot reserve \"gpu\" resource",
        ),
        (
            json!({}),
            json!({"evictionHard": {"nodefs.available": "110%"}}),
            "failed to run Kubelet: eviction percentage threshold nodefs.available must be <= 100%: 110%",
        ),
        (
            json!({"eviction-soft": "memory.available<1Gi"}),
            json!({}),
            "failed to run Kubelet: failed to create kubelet: grace period must be specified for the soft eviction \
                threshold memory.available",
        ),
        (
            json!({}),
            json!({"kubeReserved": {"cpu": "3"}, "systemReserved": {"cpu": "2", "memory": "17Gi"}}),
            "Failed to start ContainerManager: invalid Node Allocatable configuration. Resource \"cpu\" has a \
                reservation of {{5000 -3} {<nil>}  DecimalSI} but capacity of {{4000 -3} {<nil>}  DecimalSI}. Expected \
                capacity >= reservation. Resource \"memory\" has a reservation of {{18358468608 0} {<nil>}  BinarySI} \
                but capacity of {{17179869184 0} {<nil>}  BinarySI}. Expected capacity >= reservation.",
        ),
        (
            json!({}),
            json!({"reservedSystemCPUs": "0-x"}),
            "failed to validate kubelet configuration, error: invalid configuration: unable to parse \
                reservedSystemCPUs (--reserved-cpus) 0-x, error: strconv.Atoi: parsing \"x\": invalid syntax, path: \
                &TypeMeta{Kind:,APIVersion:,}",
        ),
        (
            json!({"reserved-cpus": "0-7"}),
            json!({}),
            "failed to run Kubelet: reserved-cpus: 0-7 is not a subset of online-cpus: 0-3",
        ),
        (
            json!({}),
            json!({"cgroupsPerQOS": false}),
            "failed to validate kubelet configuration, error: invalid configuration: cgroupsPerQOS \
                (--cgroups-per-qos) must be set to true when \"pods\" contained in enforceNodeAllocatable \
                (--enforce-node-allocatable), path: &TypeMeta{Kind:,APIVersion:,}",
        ),
        (
            json!({}),
            json!({"featureGates": {"NodeSwap": false}}),
            "panic: failed to merge global and in-flight KubeletConfiguration while setting defaults, error: cannot \
                set feature gate NodeSwap to false, feature is locked to true",
        ),
        (
            json!({}),
            json!({"nodeLeaseDurationSeconds": -1}),
            "failed to validate kubelet configuration, error: invalid configuration: nodeLeaseDurationSeconds must be \
                greater than 0, path: &TypeMeta{Kind:,APIVersion:,}",
        ),
    ] {
        assert_eq!(resolve(flags, config).unwrap_err(), message);
    }
}
