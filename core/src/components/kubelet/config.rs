//! The configuration of a kubelet: its flags and its `KubeletConfiguration`, checked as the kubelet checks them.
//!
//! Mirrors cmd/kubelet/app/options/options.go and pkg/kubelet/apis/config/validation/validation.go (v1.34): flags
//! override the file, and an invalid setting is refused with the kubelet's own message. Inputs: the specification of
//! machine and kubelet, the settings of the cluster. Outputs: a resolved configuration, or that message; then the
//! kubelet does not start. Left out on purpose: fields whose effects the API server cannot see; they are accepted by
//! name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;

use jiff::SignedDuration;

use super::decoder::{Decoder, not_loaded, parse_bool};
use super::environment_checks;
use super::image_gc::ImageGcPolicy;
use super::not_modelled::{not_modelled, release_not_modelled};
use super::pods::CrashPauses;
use super::reservation::Reservations;
use super::server_settings::ServerSettings;
use super::setters::is_huge_page;
use super::shutdown::{self, ShutdownBand};
use super::swap::{self, SwapBehaviour};
use super::thresholds::EvictionConfig;
use super::topology::TopologySettings;
use super::{flags, logging, validation};
use crate::components::host::{Credentials, FLAGS, Hardware, Host, KubeletSpec, MachineSpec, check_types};
use crate::network::Identity;
use crate::objects::quantity::Quantity;
use crate::objects::{Json, Text};
use crate::profile::{Release, Settings};

/// The resolved configuration of a kubelet.
#[derive(Clone, Debug, PartialEq)]
pub struct KubeletConfig {
    /// The kubelet's release.
    pub release: Release,
    /// The machine as the kubelet found it: CPUs, memory, huge pages, swap space and the disk's size are read once.
    /// Source: pkg/kubelet/kubelet_getters.go (v1.34), `GetCachedMachineInfo`;
    /// pkg/kubelet/cm/container_manager_linux.go, `Start`.
    pub hardware: Arc<Hardware>,
    /// The name of the Node.
    pub node_name: Text,
    /// The identity of the kubelet's requests, from `--kubeconfig`.
    pub identity: Arc<Identity>,
    /// Whether `--kubeconfig` is empty, so that the kubelet knows of no API server.
    pub is_standalone: bool,
    /// Whether the kubelet creates its Node. Default true.
    pub register_node: bool,
    /// `--register-schedulable`, which only releases before 1.34 have; false creates the Node cordoned.
    pub register_schedulable: bool,
    /// The taints that the Node is created with, as JSON.
    pub taints: Vec<Json>,
    /// `--node-labels`, sorted by key, with the machine's zone and region.
    pub node_labels: Vec<(Text, Text)>,
    /// `--node-ip`: none, one, or a pair of both families.
    pub node_ips: Vec<Text>,
    /// Whether `--cloud-provider=external`.
    pub external_cloud: bool,
    /// `providerID`; empty for none.
    pub provider_id: Text,
    /// `maxPods`. Default 110.
    pub max_pods: i64,
    /// `podsPerCore`; 0 for no limit.
    pub pods_per_core: i64,
    /// `nodeStatusUpdateFrequency`. Default 10 s.
    pub status_update: SignedDuration,
    /// `nodeStatusReportFrequency`. Default 5 min, or the update frequency where the file sets only that.
    pub status_report: SignedDuration,
    /// `nodeLeaseDurationSeconds`. Default 40.
    pub lease_duration_seconds: i64,
    /// The port of the kubelet's server. Default 10250.
    pub port: i64,
    /// Who may use the kubelet's server.
    pub server: ServerSettings,
    /// `enableControllerAttachDetach`. Default true.
    pub attach_detach: bool,
    /// `nodeStatusMaxImages`; -1 for all. Default 50.
    pub max_images: i64,
    /// `allowedUnsafeSysctls`: names, or beginnings that end in `*`.
    pub unsafe_sysctls: Vec<Text>,
    /// The bands of priority in which pods end before the machine shuts down, the lowest first. Default none: a
    /// shutdown does not wait for the kubelet.
    pub shutdown_bands: Vec<ShutdownBand>,
    /// What containers may swap.
    pub swap: SwapBehaviour,
    /// `cpuCFSQuota`: limits of CPU time hold. Default true.
    pub limits_cpu: bool,
    /// The difference between capacity and allocatable.
    pub reservations: Reservations,
    /// `localStorageCapacityIsolation`: the disk is a resource of the Node, and limits of its use hold. Default true.
    pub isolates_local_storage: bool,
    /// `podCIDR`: from where the addresses of pods are until the Node says it; empty for not known.
    pub pod_cidr: Text,
    /// When pods are evicted.
    pub eviction: EvictionConfig,
    /// After which pauses ended containers are started again.
    pub(super) crash_pauses: CrashPauses,
    /// When unused images are deleted.
    pub image_gc: ImageGcPolicy,
    /// Where resources for containers alone come from.
    pub topology: TopologySettings,
    /// `rotateCertificates`: the kubelet does not wait for its first certificate. Default false.
    pub rotates_certificates: bool,
    /// `serverTLSBootstrap`: its server's certificate is asked for. Default false.
    pub serves_with_signed_certificate: bool,
    /// Whether `staticPodPath` names a folder. Default: kubeadm's.
    /// Source: cmd/kubeadm/app/componentconfigs/kubelet.go (v1.34).
    pub has_static_pods: bool,
    /// Why the process ends once its container manager starts.
    pub late_failure: Option<String>,
    /// What it was told that is accepted and whose effect is not modelled.
    pub not_modelled: Vec<String>,
    /// Its release, if not all that such a kubelet does is modelled.
    pub release_not_modelled: Option<String>,
}

impl KubeletConfig {
    /// Reads flags and configuration as a kubelet does at its start.
    ///
    /// # Errors
    /// The kubelet's message.
    pub fn resolve(machine: &MachineSpec, spec: &KubeletSpec, settings: &Settings) -> Result<Self, String> {
        let spec = with_flags_of_cluster(spec, settings);
        let flag = |name: &str| spec.flags.iter().rev().find(|(own, _)| *own == *name).map(|(_, value)| value.clone());
        let of_flags = flags::read(&spec, settings.profile())?;
        validation::gates_of_flags(&of_flags, settings)?;
        let node_labels = parse_labels(flag("node-labels").as_deref().unwrap_or_default());
        validation::node_labels(&node_labels).map_err(|error| format!("failed to validate kubelet flags: {error}"))?;
        environment_checks::kind(&spec.config)?;
        check_types(&spec.config).map_err(|why| not_loaded(&format!("failed to decode: {why}")))?;
        validation::gates(spec.config.get("featureGates"), settings)?;
        environment_checks::drop_ins(flag("config-dir").as_deref().unwrap_or_default())?;
        let file = flags::file(&spec);
        // A flag comes after the defaults: those of the file alone depend on each other.
        let update_in_file = Decoder(&file).duration("nodeStatusUpdateFrequency");
        let merged = flags::merge(file, of_flags);
        logging::check(&merged, settings)?;
        let read = Decoder(&merged);
        let status_update = read.duration("nodeStatusUpdateFrequency");
        let status_update = status_update.unwrap_or_else(|| settings.duration("node-status-update-frequency"));
        let status_report = read.duration("nodeStatusReportFrequency");
        let default_report = settings.duration("node-status-report-frequency");
        let default_lease = count(settings, "node-lease-duration-seconds");
        let hardware = &machine.hardware;
        let default_pods = hardware.pods.unwrap_or_else(|| count(settings, "max-pods"));
        let mut config = Self {
            release: settings.profile().release(),
            hardware: machine.hardware.clone(),
            node_name: Text::default(),
            identity: Identity::unknown("kubelet"),
            is_standalone: flag("kubeconfig").is_some_and(|path| path.is_empty()),
            register_node: read.bool("registerNode").unwrap_or(true),
            register_schedulable: register_schedulable(flag("register-schedulable").as_deref(), settings)?,
            taints: read.list("registerWithTaints").to_vec(),
            node_labels: Vec::new(),
            node_ips: Vec::new(),
            external_cloud: false,
            provider_id: read.text("providerID").unwrap_or_default(),
            max_pods: read.int("maxPods").unwrap_or(default_pods),
            pods_per_core: read.int("podsPerCore").unwrap_or_default(),
            status_update,
            status_report: status_report.or(update_in_file).unwrap_or(default_report),
            lease_duration_seconds: read.int("nodeLeaseDurationSeconds").unwrap_or(default_lease),
            port: read.int("port").unwrap_or(10250),
            server: ServerSettings::read(&merged),
            attach_detach: read.bool("enableControllerAttachDetach").unwrap_or(true),
            max_images: read.int("nodeStatusMaxImages").unwrap_or(50),
            unsafe_sysctls: read.list("allowedUnsafeSysctls").iter().filter_map(Json::as_text).cloned().collect(),
            shutdown_bands: shutdown::bands(&read, settings),
            swap: swap::behaviour(&merged, settings),
            limits_cpu: read.bool("cpuCFSQuota").unwrap_or(true),
            reservations: Reservations::default(),
            isolates_local_storage: read.bool("localStorageCapacityIsolation").unwrap_or(true),
            pod_cidr: read.text("podCIDR").unwrap_or_default(),
            eviction: EvictionConfig::default(),
            crash_pauses: CrashPauses::read(&merged, settings),
            image_gc: ImageGcPolicy::read(&read),
            topology: TopologySettings::default(),
            rotates_certificates: read.bool("rotateCertificates").unwrap_or(false),
            serves_with_signed_certificate: read.bool("serverTLSBootstrap").unwrap_or(false),
            has_static_pods: read.text("staticPodPath").is_none_or(|path| !path.is_empty()),
            late_failure: None,
            not_modelled: not_modelled(&merged, settings),
            release_not_modelled: release_not_modelled(hardware, settings),
        };
        let cgroup_version = hardware.cgroup_version;
        validation::configuration(&validation::Checked { merged: &merged, settings, cgroup_version })?;
        config.check_environment(&merged, &flag, machine, settings)?;
        config.node_labels = if config.external_cloud { node_labels } else { with_topology(node_labels, machine) };
        Ok(config)
    }

    /// Returns what is not modelled of a kubelet of this release, told what this one is.
    pub fn all_not_modelled(&self) -> impl Iterator<Item = &String> {
        self.not_modelled.iter().chain(&self.release_not_modelled)
    }

    /// Returns the huge pages of each size, and what a machine has now that device plugins tell: name, capacity, and
    /// how much of it is healthy.
    pub(super) fn extended<'a>(&'a self, host: &'a Host) -> impl Iterator<Item = &'a (Text, Quantity, Quantity)> {
        let others = host.spec.hardware.extended.iter().filter(|(name, ..)| !is_huge_page(name));
        self.huge_pages().chain(others)
    }

    /// Returns the huge pages of each size: name, capacity, and the same once more.
    pub(super) fn huge_pages(&self) -> impl Iterator<Item = &(Text, Quantity, Quantity)> {
        self.hardware.extended.iter().filter(|(name, ..)| is_huge_page(name))
    }

    /// Returns how long a heartbeat waits for its answer.
    ///
    /// Source: cmd/kubelet/app/server.go (v1.34): the smaller of update frequency and lease duration.
    #[must_use]
    pub fn heartbeat_timeout(&self) -> SignedDuration {
        self.status_update.min(SignedDuration::from_secs(self.lease_duration_seconds))
    }

    /// Returns the number of pods that fit: `maxPods`, or less by `podsPerCore`.
    #[must_use]
    pub fn pods(&self) -> i64 {
        if self.pods_per_core > 0 {
            let cores = self.hardware.cpu.milli_value() / 1000;
            self.max_pods.min(cores * self.pods_per_core)
        } else {
            self.max_pods
        }
    }
}

/// Returns the settings of a kubelet: those of the cluster, with the kubelet's own release and feature gates. Gates
/// that cannot be stay out, and the kubelet refuses them at its start.
#[must_use]
pub fn settings_of(spec: &KubeletSpec, cluster: &Arc<Settings>) -> Arc<Settings> {
    let version = spec.version.filter(|version| *version != cluster.profile().release());
    let gates = spec.config.get("featureGates");
    let has_flag = spec.flags.iter().any(|(name, _)| *name == *"feature-gates");
    if version.is_none() && gates.is_null() && !has_flag {
        return cluster.clone();
    }
    let mut settings = version.map_or_else(|| (**cluster).clone(), |version| cluster.at_release(version));
    drop(settings.set_own_gates(gates));
    let of_flags = flags::read(spec, settings.profile()).unwrap_or_default();
    for (_, gates) in of_flags.iter().filter(|(field, _)| *field == "featureGates") {
        drop(settings.set_own_gates(gates));
    }
    Arc::new(settings)
}

/// Returns a setting that is a whole number.
#[expect(clippy::cast_possible_truncation, reason = "a count of seconds or pods")]
fn count(settings: &Settings, name: &str) -> i64 {
    settings.number(name) as i64
}

/// Adds the flags and fields that every kubelet of the cluster runs with, unless its own say otherwise.
fn with_flags_of_cluster(spec: &KubeletSpec, settings: &Settings) -> KubeletSpec {
    let mut spec = spec.clone();
    for (flag, value) in settings.kubelet_flags() {
        let field = FLAGS.iter().find(|(known, _)| *known == flag.as_str()).map_or("", |(_, field)| *field);
        let path: Vec<&str> = field.split('.').collect();
        if spec.config.at(&path).is_null() && !spec.flags.iter().any(|(own, _)| own == flag) {
            spec.flags.push((flag.clone(), value.clone()));
        }
    }
    for (field, value) in settings.kubelet_fields() {
        let of_field =
            |(flag, _): &(Text, Text)| FLAGS.iter().any(|(name, own)| *name == flag.as_str() && *own == field.as_str());
        if spec.config.get(field).is_null() && !spec.flags.iter().any(of_field) {
            if !spec.config.is_object() {
                spec.config = Json::object();
            }
            spec.config.set(&[field.as_str()], value.clone());
        }
    }
    spec
}

/// Adds the labels of the machine's zone and region, unless they are set.
fn with_topology(mut labels: Vec<(Text, Text)>, machine: &MachineSpec) -> Vec<(Text, Text)> {
    for (key, value) in
        [("topology.kubernetes.io/zone", &machine.zone), ("topology.kubernetes.io/region", &machine.region)]
    {
        if let Some(value) = value
            && !labels.iter().any(|(own, _)| *own == *key)
        {
            labels.push((Text::of(key), value.clone()));
        }
    }
    labels
}

/// Reads `--node-labels`: a pair without `=` is a label with an empty value.
fn parse_labels(text: &str) -> Vec<(Text, Text)> {
    let mut labels: Vec<(Text, Text)> = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        labels.retain(|(own, _)| *own != *key.trim());
        labels.push((Text::from(key.trim()), Text::from(value.trim())));
    }
    labels.sort();
    labels
}

pub(super) fn cloud_provider(name: &str) -> Result<(), String> {
    match name {
        "" | "external" => Ok(()),
        other => Err(format!(
            "failed to run Kubelet: cloud provider \"{other}\" was specified, but built-in cloud providers are \
                disabled. Please set --cloud-provider=external and migrate to an external cloud provider"
        )),
    }
}

/// Returns the name of a kubelet's Node: its `--hostname-override`, or else the machine's own.
///
/// Source: pkg/util/node/node.go (v1.34), `GetHostname`: trimmed and in lower case.
///
/// # Errors
/// The trimmed name is empty.
pub fn node_name(hostname_override: Option<&Text>, machine: &MachineSpec) -> Result<Text, String> {
    let given = hostname_override.filter(|name| !name.is_empty());
    let name = given.or(machine.node_name.as_ref()).unwrap_or(&machine.name).trim().to_lowercase();
    if name.is_empty() {
        return Err("failed to construct kubelet dependencies: empty hostname is invalid".to_string());
    }
    Ok(if name == machine.name.as_str() { machine.name.clone() } else { Text::from(name) })
}

/// Reads `--register-schedulable`, in releases that have it. Source: cmd/kubelet/app/options/options.go (v1.33).
fn register_schedulable(text: Option<&str>, settings: &Settings) -> Result<bool, String> {
    let Some(text) = text else { return Ok(true) };
    if !settings.profile().is("kubelet-registers-cordoned") {
        return Err("failed to parse kubelet flag: unknown flag: --register-schedulable".to_string());
    }
    parse_bool(text).ok_or_else(|| {
        format!(
            "failed to parse kubelet flag: invalid argument \"{text}\" for \"--register-schedulable\" flag: \
             strconv.ParseBool: parsing \"{text}\": invalid syntax"
        )
    })
}

/// Source: cmd/kubelet/app/server.go (v1.34), `buildKubeletClientConfig`.
pub(super) fn credentials<'a>(path: &str, hardware: &'a Hardware) -> Result<&'a Credentials, String> {
    let found = hardware.kubeconfigs.iter().find(|(own, _)| *own == *path);
    found
        .map(|(_, credentials)| credentials)
        .ok_or_else(|| format!("failed to run Kubelet: invalid kubeconfig: stat {path}: no such file or directory"))
}

/// Source: k8s.io/component-helpers/node/util/ips.go (v1.34), `ParseNodeIPArgument`: what is no address is ignored.
pub(super) fn node_ips(text: &str) -> Result<Vec<Text>, String> {
    let bad = |why: &str| Err(format!("failed to run Kubelet: bad --node-ip \"{text}\": {why}"));
    let read = text.split(',').filter_map(|ip| ip.trim().parse::<IpAddr>().ok());
    let ips: Vec<IpAddr> = read.map(|ip| ip.to_canonical()).collect();
    match ips.as_slice() {
        [] | [_] => {}
        [one, other] if one.is_ipv4() != other.is_ipv4() => {
            if ips.iter().any(IpAddr::is_unspecified) {
                return bad("dual-stack node IP cannot include '0.0.0.0' or '::'");
            }
        }
        _ => return bad("must contain either a single IP or a dual-stack pair of IPs"),
    }
    Ok(ips.iter().map(|ip| Text::from(ip.to_string())).collect())
}

#[cfg(test)]
mod tests;
