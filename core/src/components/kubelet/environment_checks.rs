//! What a kubelet finds wrong after its settings were checked: with the machine that it runs on, and with what it
//! builds from them.
//!
//! Mirrors cmd/kubelet/app/server.go, pkg/kubelet/sysctl/allowlist.go and pkg/kubelet/cm (v1.34). Pure. Inputs: the
//! merged configuration, the machine's first one, the version of cgroups. Outputs: the kubelet's message.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::config::{KubeletConfig, cloud_provider, credentials, node_ips, node_name};
use super::decoder::not_loaded;
use super::reservation::Reservations;
use super::thresholds::EvictionConfig;
use super::topology::TopologySettings;
use super::{logging, swap, sysctls, thresholds};
use crate::components::host::{Hardware, KUBECONFIG, MachineSpec, type_of};
use crate::objects::time::parse_duration;
use crate::objects::{Json, Text};
use crate::profile::{Profile, Settings};

/// Source: k8s.io/component-base cli/flag/ciphersuites_flag.go (v1.34), `versions`.
const TLS_VERSIONS: [&str; 4] = ["VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"];
/// Source: k8s.io/component-base cli/flag/ciphersuites_flag.go (v1.34), with Go's crypto/tls.
const CIPHER_SUITES: &str = "TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 \
    TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 \
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA \
    TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305 \
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 TLS_ECDHE_ECDSA_WITH_RC4_128_SHA \
    TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 \
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 \
    TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305 TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 TLS_ECDHE_RSA_WITH_RC4_128_SHA \
    TLS_RSA_WITH_3DES_EDE_CBC_SHA TLS_RSA_WITH_AES_128_CBC_SHA TLS_RSA_WITH_AES_128_CBC_SHA256 \
    TLS_RSA_WITH_AES_128_GCM_SHA256 TLS_RSA_WITH_AES_256_CBC_SHA TLS_RSA_WITH_AES_256_GCM_SHA384 \
    TLS_RSA_WITH_RC4_128_SHA";
/// The certificates of the clients' authority on a machine.
/// Source: cmd/kubeadm/app/componentconfigs/kubelet.go (v1.34).
const CLIENT_CA: &str = "/etc/kubernetes/pki/ca.crt";
/// The controllers that a cgroup of version 1 needs.
/// Source: pkg/kubelet/cm/cgroup_v1_manager_linux.go (v1.34), `Validate`.
const CONTROLLERS: [&str; 6] = ["cpu", "cpuacct", "cpuset", "memory", "pids", "systemd"];
/// Where runtimes listen; `/var/run` is `/run`. Source: defaults of containerd, CRI-O and cri-dockerd.
const SOCKETS: [(&str, &str); 3] = [
    ("containerd", "/run/containerd/containerd.sock"),
    ("cri-o", "/run/crio/crio.sock"),
    ("docker", "/run/cri-dockerd.sock"),
];
/// The cgroups that a service manager makes by itself. Source: systemd.special(7).
const KNOWN_CGROUPS: [&str; 4] = ["/system.slice", "/user.slice", "/machine.slice", "/init.scope"];
/// Checks what the dependencies of a kubelet are built from.
///
/// Source: cmd/kubelet/app/server.go (v1.34), `InitializeTLS`.
///
/// # Errors
/// The kubelet's message.
fn dependencies(merged: &Json) -> Result<(), String> {
    let failed = |why: String| Err(format!("failed to construct kubelet dependencies: {why}"));
    let text = |path: &[&str]| merged.at(path).as_str().unwrap_or_default();
    let suites = merged.get("tlsCipherSuites").items().iter().filter_map(Json::as_str);
    if let Some(unknown) = suites.clone().find(|suite| !CIPHER_SUITES.split(' ').any(|known| known == *suite)) {
        return failed(format!("Cipher suite {unknown} not supported or doesn't exist"));
    }
    let version = text(&["tlsMinVersion"]);
    if !version.is_empty() && !TLS_VERSIONS.contains(&version) {
        return failed(format!("unknown tls version {version:?}"));
    }
    let authority = text(&["authentication", "x509", "clientCAFile"]);
    if !authority.is_empty() && authority != CLIENT_CA {
        return failed(format!(
            "unable to load client CA file {authority}: open {authority}: no such file or directory"
        ));
    }
    Ok(())
}

/// Checks that a container runtime listens where the kubelet looks for it.
///
/// Source: k8s.io/cri-client pkg/util/util_unix.go (v1.34), `GetAddressAndDialer`.
///
/// # Errors
/// The kubelet's message.
fn runtime_endpoint(merged: &Json, runtime: &str) -> Result<(), String> {
    let endpoint = merged.get("containerRuntimeEndpoint").as_str().unwrap_or_default();
    let whole = if endpoint.contains("://") { endpoint.to_string() } else { format!("unix://{endpoint}") };
    let failed = |why: String| Err(format!("failed to run Kubelet: {why}"));
    if let Some(why) = logging::url_error(&whole) {
        return failed(format!("parse {whole:?}: {why}"));
    }
    let (scheme, rest) = whole.split_once("://").unwrap_or(("unix", ""));
    match scheme {
        "unix" => {}
        "tcp" => return failed("only support unix socket endpoint".to_string()),
        other => return failed(format!("protocol {other:?} not supported")),
    }
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let name = runtime.split("://").next().unwrap_or_default();
    let is_there = SOCKETS.iter().any(|(own, socket)| {
        (*own == name || name.is_empty()) && (*socket == path || path.strip_prefix("/var") == Some(*socket))
    });
    if endpoint.is_empty() || is_there {
        return Ok(());
    }
    let why = if path.is_empty() {
        "dial unix: missing address".to_string()
    } else {
        format!("dial unix {path}: connect: no such file or directory")
    };
    failed(format!(
        "validate service connection: validate CRI v1 runtime API for endpoint {endpoint:?}: rpc error: code = \
         Unavailable desc = connection error: desc = \"transport: Error while dialing: {why}\""
    ))
}

/// Checks the cgroup below which pods run: the one of the machine's first configuration is there, no other.
///
/// # Errors
/// The kubelet's message.
fn cgroup_root(merged: &Json, first: &Json, version: i64) -> Result<(), String> {
    let root = merged.get("cgroupRoot").as_str().unwrap_or_default();
    let is_there = matches!(root, "" | "/") || first.get("cgroupRoot").as_str() == Some(root);
    if is_there || KNOWN_CGROUPS.contains(&root) {
        return Ok(());
    }
    Err(format!("failed to run Kubelet: invalid configuration: {}", missing_cgroup(root, merged, version)))
}

/// Checks the cgroups to which reservations are enforced, as the container manager does at its start.
///
/// # Errors
/// The kubelet's message.
fn reserved_cgroups(merged: &Json, version: i64) -> Result<(), String> {
    let enforced = merged.get("enforceNodeAllocatable");
    for (kind, title) in [("system", "System"), ("kube", "Kube")] {
        let own = format!("{kind}-reserved");
        let is_enforced = |value: &Json| {
            value.as_str().is_some_and(|value| value.strip_suffix("-compressible").unwrap_or(value) == own)
        };
        let name = merged.get(&format!("{kind}ReservedCgroup")).as_str().unwrap_or_default();
        if enforced.items().iter().any(is_enforced) && !KNOWN_CGROUPS.contains(&name) {
            return Err(format!(
                "Failed to start ContainerManager: Failed to enforce {title} Reserved Cgroup Limits on {name:?}: {}",
                missing_cgroup(name, merged, version)
            ));
        }
    }
    Ok(())
}

/// Says that a cgroup is not there.
fn missing_cgroup(name: &str, merged: &Json, version: i64) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    let has_systemd = merged.get("cgroupDriver").as_str() == Some("systemd");
    let path = match parts.as_slice() {
        [one] if has_systemd && !one.ends_with(".slice") => format!("{one}.slice"),
        parts => parts.join("/"),
    };
    let shown = format!("[\"{}\"]", parts.join("\" \""));
    if version == 1 {
        let paths: Vec<String> =
            CONTROLLERS.iter().map(|controller| format!("/sys/fs/cgroup/{controller}/{path}")).collect();
        format!("cgroup {shown} has some missing paths: {}", paths.join(", "))
    } else {
        format!(
            "could not read controllers for cgroup {shown}: open /sys/fs/cgroup/{path}/cgroup.controllers: no such \
             file or directory"
        )
    }
}

/// Checks `allowedUnsafeSysctls`.
///
/// # Errors
/// The kubelet's message.
fn unsafe_sysctls(merged: &Json, profile: &Profile) -> Result<(), String> {
    let patterns = merged.get("allowedUnsafeSysctls").items().iter().filter_map(Json::as_str);
    for pattern in patterns {
        if let Some(why) = sysctls::wrong_pattern(pattern, profile) {
            return Err(format!("failed to run Kubelet: failed to create kubelet: {why}"));
        }
    }
    Ok(())
}

/// Checks the address on which the server listens, which shows only when it does.
fn address(merged: &Json) -> Option<String> {
    let text = merged.get("address").as_str().filter(|text| !text.is_empty())?;
    let is_address = text.parse::<core::net::IpAddr>().is_ok();
    (!is_address).then(|| "Failed to listen and serve: listen tcp: lookup <nil>: no such host".to_string())
}

/// Checks the kind of the file.
///
/// # Errors
/// The kubelet's message.
pub(super) fn kind(given: &Json) -> Result<(), String> {
    const VERSION: &str = "kubelet.config.k8s.io/v1beta1";
    const OTHERS: [&str; 2] = ["CredentialProviderConfig", "SerializedNodeConfigSource"];
    for field in ["apiVersion", "kind"] {
        let value = given.get(field);
        if !value.is_null() && value.as_str().is_none() {
            return Err(not_loaded(&format!(
                "failed to decode: couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go \
                 struct field .{field} of type string",
                type_of(value)
            )));
        }
    }
    let text = |field: &str| given.get(field).as_str().filter(|text| !text.is_empty());
    let (kind, version) = (text("kind").unwrap_or("KubeletConfiguration"), text("apiVersion").unwrap_or(VERSION));
    if version.matches('/').count() > 1 {
        return Err(not_loaded(&format!("failed to decode: unexpected GroupVersion string: {version}")));
    }
    if version == VERSION && OTHERS.contains(&kind) {
        return Err(not_loaded(&format!(
            "failed to cast object to KubeletConfiguration, unexpected type: {version}, Kind={kind}"
        )));
    }
    if version == VERSION && kind == "KubeletConfiguration" {
        return Ok(());
    }
    Err(not_loaded(&format!(
        "failed to decode: no kind {kind:?} is registered for version {version:?} in scheme \
         \"pkg/runtime/scheme.go:110\""
    )))
}

/// Checks `--config-dir`: no machine has such a folder.
///
/// # Errors
/// The kubelet's message.
pub(super) fn drop_ins(folder: &str) -> Result<(), String> {
    if folder.is_empty() {
        return Ok(());
    }
    Err(format!(
        "failed to merge kubelet configs: failed to walk through kubelet dropin directory {folder:?}: lstat {folder}: \
         no such file or directory"
    ))
}

/// Checks what is looked at only when the kubelet is made.
///
/// Source: pkg/kubelet/kubelet.go (v1.34), `NewMainKubelet`.
fn sync_frequency(merged: &Json) -> Result<(), String> {
    let wrong = merged.get("syncFrequency").as_str().and_then(parse_duration).filter(|span| span.is_negative());
    let say = |span: SignedDuration| {
        format!("failed to run Kubelet: failed to create kubelet: invalid sync frequency {}", span.as_nanos())
    };
    wrong.map_or(Ok(()), |span| Err(say(span)))
}

impl KubeletConfig {
    /// Reads and checks what depends on the machine, in the order in which the kubelet does.
    pub(super) fn check_environment(
        &mut self,
        merged: &Json,
        flag: &dyn Fn(&str) -> Option<Text>,
        machine: &MachineSpec,
        settings: &Settings,
    ) -> Result<(), String> {
        let hardware = &machine.hardware;
        dependencies(merged)?;
        self.take_name(flag, machine)?;
        self.server.check(merged, self.is_standalone)?;
        runtime_endpoint(merged, &hardware.container_runtime)?;
        cgroup_root(merged, &machine.kubelet.config, hardware.cgroup_version)?;
        let [node_ip, cloud] = ["node-ip", "cloud-provider"].map(|name| flag(name).unwrap_or_default());
        self.read_resources(merged, hardware, (&node_ip, &cloud), settings)
    }

    /// Reads what the machine's resources are for, and checks them in the order in which the kubelet does.
    fn read_resources(
        &mut self,
        merged: &Json,
        hardware: &Hardware,
        (node_ip, cloud): (&str, &str),
        settings: &Settings,
    ) -> Result<(), String> {
        self.reservations = Reservations::read(merged, hardware, settings.profile())?;
        if !self.isolates_local_storage {
            self.reservations.ephemeral_storage = Reservations::default().ephemeral_storage;
        }
        swap::check(merged, hardware, settings)?;
        let kept = [self.reservations.cpu, self.reservations.memory];
        self.topology = TopologySettings::read(merged, hardware, kept, settings)?;
        cloud_provider(cloud)?;
        self.node_ips = node_ips(node_ip)?;
        sync_frequency(merged)?;
        thresholds::check(merged).map_err(|why| format!("failed to run Kubelet: failed to create kubelet: {why}"))?;
        self.eviction = EvictionConfig::read(merged, settings.profile())?;
        unsafe_sysctls(merged, settings.profile())?;
        let reserved = self.reservations.check(hardware).err();
        let cgroups = || reserved_cgroups(merged, hardware.cgroup_version).err();
        self.late_failure = reserved.or_else(cgroups).or_else(|| address(merged));
        Ok(())
    }

    /// Takes what flags say about the Node's name and about who the kubelet is.
    fn take_name(&mut self, flag: &dyn Fn(&str) -> Option<Text>, machine: &MachineSpec) -> Result<(), String> {
        self.external_cloud = flag("cloud-provider").as_deref() == Some("external");
        self.node_name = node_name(flag("hostname-override").as_ref(), machine)?;
        if !self.is_standalone {
            let path = flag("kubeconfig");
            let credentials = credentials(path.as_deref().unwrap_or(KUBECONFIG), &machine.hardware)?;
            self.identity = credentials.identity(&self.node_name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{address, cgroup_root, dependencies, kind, reserved_cgroups};
    use crate::json;

    #[test]
    fn a_cgroup_that_nobody_made_is_missing() {
        let config = json!({"cgroupRoot": "/nope", "cgroupDriver": "systemd"});
        let why = cgroup_root(&config, &json!({}), 1).unwrap_err();
        assert!(
            why.starts_with(
                "failed to run Kubelet: invalid configuration: cgroup [\"nope\"] has some missing paths: \
                 /sys/fs/cgroup/cpu/nope.slice, "
            ),
            "{why}"
        );
        assert!(cgroup_root(&config, &config, 1).is_ok());
        assert!(cgroup_root(&json!({"cgroupRoot": "/"}), &json!({}), 2).is_ok());
        let why = cgroup_root(&json!({"cgroupRoot": "/a/b"}), &json!({}), 2).unwrap_err();
        assert!(
            why.ends_with(
                "cgroup [\"a\" \"b\"]: open /sys/fs/cgroup/a/b/cgroup.controllers: no such file or directory"
            )
        );
        let enforced =
            |cgroup: &str| json!({"enforceNodeAllocatable": ["pods", "kube-reserved"], "kubeReservedCgroup": cgroup});
        assert!(reserved_cgroups(&enforced("/system.slice"), 2).is_ok());
        assert!(
            reserved_cgroups(&enforced("/nope"), 1).unwrap_err().contains("Kube Reserved Cgroup Limits on \"/nope\"")
        );
    }

    #[test]
    fn versions_addresses_and_kinds_are_known_ones() {
        assert!(dependencies(&json!({"tlsMinVersion": "VersionTLS12"})).is_ok());
        assert_eq!(
            dependencies(&json!({"tlsMinVersion": "VersionTLS09"})).unwrap_err(),
            "failed to construct kubelet dependencies: unknown tls version \"VersionTLS09\""
        );
        assert_eq!(address(&json!({"address": "0.0.0.0"})), None);
        assert!(address(&json!({"address": "300.1.1.1"})).is_some());
        assert!(kind(&json!({"kind": "KubeletConfiguration"})).is_ok());
        assert!(kind(&json!({"kind": "KubeConfig"})).unwrap_err().contains("no kind \"KubeConfig\" is registered"));
    }
}
