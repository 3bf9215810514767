//! A worker that lives as long as a scenario: a container of the cluster's own node image, joined without kubeadm.
//!
//! Mirrors what `kubeadm join` leaves on a node, but writes it directly: only the kubelet talks to the API server, and
//! each flag and field of its configuration can be chosen. testcontainers starts the container and removes it when it
//! is dropped. It can pass everything that kind passes to Docker (privileged, tmpfs, cgroup namespace, security
//! options, anonymous volume) except the terminal, which systemd does not need. Inputs: the scenario's description of
//! the machine, what all workers of a cluster have in common. Outputs: a running kubelet. Left out on purpose: parts of
//! a machine that a container shares with its host; they are refused with the reason.

use nodeproof_core::components::machine::{Credentials, Hardware, KUBECONFIG, MachineSpec};
use testcontainers::core::{CgroupnsMode, Mount};
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{ContainerAsync, GenericImage, ImageExt as _};

use super::behaviour;
use super::fault::{BOOT_ID, NEXT_BOOT_ID};
use super::settings::KubeletSettings;
use super::sizes;
use crate::live::cleanup::docker::{CLUSTER_LABEL, Docker, DockerError, ROLE_LABEL, RUN_LABEL};
use crate::live::cleanup::op::{NETWORK, quoted};
use crate::live::timing::BOOT_WAIT;

/// Where a kubelet finds its first credentials.
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `KubeletBootstrapKubeConfigFileName`.
const BOOTSTRAP: &str = "/etc/kubernetes/bootstrap-kubelet.conf";

/// Tags the pause image of the node with the name that scenarios use: nodes may have no access to a registry.
const PAUSE_SCRIPT: &str = "own=$(ctr -n k8s.io images ls -q | grep -m1 '^registry.k8s.io/pause:' || true); \
    [ -z \"$own\" ] || ctr -n k8s.io images tag \"$own\" registry.k8s.io/pause:3.10 >/dev/null 2>&1 || true";
/// The directory of additions to the kubelet's unit.
const UNIT: &str = "/etc/systemd/system/kubelet.service.d";
/// The script that the unit runs before the kubelet.
const BOOT_SCRIPT: &str = "/etc/nodeproof-boot.sh";

/// What is added to that unit. A kubelet that refuses to start is started again as seldom as on a node that kubeadm has
/// joined: kind has systemd do it each second, and a few such nodes keep a core busy.
///
/// Source: kubernetes/release cmd/krel/templates/latest/kubelet/kubelet.service, `RestartSec`.
fn unit_addition() -> String {
    format!("[Service]\nExecStartPre=/bin/sh {BOOT_SCRIPT}\nRestartSec=10\n")
}

/// What all workers of a cluster have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    /// The cluster.
    pub(crate) cluster: String,
    /// The run, for the label.
    pub(crate) run: String,
    /// The node image's id, `sha256:…`.
    pub(crate) image: String,
    /// The container of the control plane; its name is also the name of its server.
    pub(crate) control_plane: String,
    /// The certificate of the cluster's authority, as PEM.
    pub(crate) authority: String,
    /// The release of the cluster's kubelets, as `v1.34.4`.
    pub(crate) version: String,
    /// The settings of this cluster's kubelets.
    pub(crate) settings: KubeletSettings,
}

/// What a scenario wants of its workers before their kubelets start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Preparation {
    /// Whether containers behave as their Pods' annotations say.
    pub(crate) is_behaving: bool,
    /// Whether a worker has sizes of its own, and not those of its host.
    pub(crate) is_sized: bool,
}

impl Preparation {
    fn script(self, hardware: &Hardware) -> String {
        let behaviour = if self.is_behaving { behaviour::script() } else { String::new() };
        if self.is_sized { behaviour + &sizes::script(hardware) } else { behaviour }
    }
}

/// A worker.
#[derive(Debug)]
pub(crate) struct Worker {
    /// The container, removed when this is dropped.
    container: ContainerAsync<GenericImage>,
    /// The settings of its kubelet, without the scenario's.
    pub(crate) settings: KubeletSettings,
}

impl Worker {
    /// Makes the container and starts its kubelet. The container has the machine's name, and so has the host unless the
    /// machine has another host name.
    ///
    /// # Errors
    /// Docker or a script in the container fails; the container is then removed.
    pub(crate) async fn start(
        docker: &Docker,
        common: &Common,
        spec: &MachineSpec,
        token: &str,
        preparation: Preparation,
    ) -> Result<Self, String> {
        let name = spec.name.as_str();
        let (own, all) = settings(common, name, spec, preparation)?;
        let host_name = spec.node_name.as_ref().map_or(name, |own| own.as_str());
        let image = common.image.split_once(':').unwrap_or(("sha256", &common.image));
        let request = GenericImage::new(image.0, image.1)
            .with_container_name(name)
            .with_hostname(host_name)
            .with_network(NETWORK)
            .with_labels([
                (CLUSTER_LABEL, common.cluster.as_str()),
                (ROLE_LABEL, "worker"),
                (RUN_LABEL, common.run.as_str()),
            ])
            .with_privileged(true)
            .with_security_opt("seccomp=unconfined")
            .with_security_opt("apparmor=unconfined")
            .with_cgroupns_mode(CgroupnsMode::Private)
            .with_mount(Mount::tmpfs_mount("/tmp"))
            .with_mount(Mount::tmpfs_mount("/run"))
            .with_host_config_modifier(|host| {
                host.binds = Some(vec!["/lib/modules:/lib/modules:ro".to_owned(), "/var".to_owned()]);
                host.init = Some(false);
                host.publish_all_ports = Some(false);
            })
            .with_startup_timeout(BOOT_WAIT);
        let container = request.start().await.map_err(|error| format!("container {name}: {error}"))?;
        let script = joining_script(common, &all, spec, token, &preparation.script(&spec.hardware));
        let join = async {
            docker.wait_until_up(name, BOOT_WAIT).await?;
            docker.run(name, &script).await
        };
        match join.await {
            Ok(_) => Ok(Self { container, settings: own }),
            Err(error) => {
                drop(container.rm().await);
                Err(error.to_string())
            }
        }
    }

    /// Removes the container and its volume.
    ///
    /// # Errors
    /// Docker does not answer.
    pub(crate) async fn remove(self) -> Result<(), DockerError> {
        self.container.rm().await.map_err(|error| DockerError::Gone(error.to_string()))
    }
}

/// Returns why a container cannot be such a machine.
pub(crate) fn obstacle(spec: &MachineSpec, version: &str) -> Option<String> {
    let usual = Hardware::default();
    let own = &*spec.hardware;
    let shared = [
        ("cpu", own.cpu == usual.cpu),
        ("pods", own.pods.is_none()),
        ("extended resources", own.extended.is_empty()),
        ("addresses", own.addresses.is_none()),
        ("swap", own.swap == usual.swap && own.swap_controller == usual.swap_controller),
        ("cgroupVersion", own.cgroup_version == usual.cgroup_version),
        ("images", own.images.is_empty()),
        ("osImage", own.os_image == usual.os_image),
        ("kernelVersion", own.kernel_version == usual.kernel_version),
        ("containerRuntimeVersion", own.container_runtime == usual.container_runtime),
        ("numa", own.numa.is_empty()),
        ("attachLimits", own.attach_limits.is_empty()),
        ("failing", own.failing.is_empty()),
        ("systemUuid", spec.system_uuid.is_none()),
        ("clockSkew", spec.clock_skew.is_zero()),
    ];
    if let Some((what, _)) = shared.iter().find(|(_, is_usual)| !is_usual) {
        return Some(format!("a container shares its {what} with the host or its image"));
    }
    if let Some(why) = sizes::obstacle(own) {
        return Some(why);
    }
    if !spec.powered {
        return Some("a worker of kind is made when it is started".to_owned());
    }
    let release = spec.kubelet.version.map(|release| release.to_string());
    match release {
        Some(release) if !version.trim_start_matches('v').starts_with(&release) => {
            Some(format!("the node image holds a kubelet {version}, and not {release}"))
        }
        _ => None,
    }
}

/// Returns the settings of the worker's kubelet: without and with the scenario's.
fn settings(
    common: &Common,
    name: &str,
    spec: &MachineSpec,
    preparation: Preparation,
) -> Result<(KubeletSettings, KubeletSettings), String> {
    let mut own = common.settings.clone();
    if preparation.is_sized {
        own.watch_the_disk();
    }
    own.set_flag("provider-id", &format!("kind://docker/{}/{name}", common.cluster))?;
    own.set_flag("boot-id-file", BOOT_ID)?;
    for (label, value) in [("topology.kubernetes.io/zone", &spec.zone), ("topology.kubernetes.io/region", &spec.region)]
    {
        if let Some(value) = value {
            own.set_flag("node-labels", &format!("{label}={value}"))?;
        }
    }
    let all = own.with(&spec.kubelet)?;
    Ok((own, all))
}

/// Returns the script that writes what kubeadm would write, and starts the kubelet.
fn joining_script(
    common: &Common,
    settings: &KubeletSettings,
    spec: &MachineSpec,
    token: &str,
    preparation: &str,
) -> String {
    let mut script = format!(
        "set -e; {PAUSE_SCRIPT}; {preparation}mkdir -p /etc/kubernetes/pki /etc/kubernetes/manifests; \
         printf %s {} > /etc/kubernetes/pki/ca.crt; printf %s {} > {BOOTSTRAP}; ",
        quoted(&common.authority),
        quoted(&kubeconfig(&common.control_plane, token)),
    );
    for (path, credentials) in &spec.hardware.kubeconfigs {
        if *credentials == Credentials::Node && path.as_str() == KUBECONFIG {
            continue;
        }
        // A token that nobody has: these credentials are refused, and the kubelet has no others.
        let content = kubeconfig(&common.control_plane, "abcdef.0123456789abcdef");
        script += &format!("printf %s {} > {}; ", quoted(&content), quoted(path.as_str()));
    }
    if let Some(id) = &spec.machine_id {
        script += &format!("echo {} > /etc/machine-id; ", quoted(id.as_str()));
    }
    if let Some(id) = &spec.boot_id {
        script += &format!("echo {} > {NEXT_BOOT_ID}; ", quoted(id.as_str()));
    }
    format!(
        "{script}mkdir -p {UNIT}; printf %s {} > {UNIT}/80-nodeproof.conf; printf %s {} > {BOOT_SCRIPT}; \
         systemctl daemon-reload; {}; systemctl start --no-block kubelet",
        quoted(&unit_addition()),
        quoted(&boot_script()),
        settings.writing_script()
    )
}

/// Returns the script that gives the machine a new boot id at each boot: containers share that of their host.
fn boot_script() -> String {
    format!(
        "[ -e /run/nodeproof-boot ] && exit 0\n\
         if [ -e {NEXT_BOOT_ID} ]; then mv {NEXT_BOOT_ID} {BOOT_ID}; else cat /proc/sys/kernel/random/uuid > \
         {BOOT_ID}; fi\n\
         touch /run/nodeproof-boot\n"
    )
}

fn kubeconfig(server: &str, token: &str) -> String {
    let config = serde_json::json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "kubelet",
        "clusters": [{"name": "kind", "cluster": {
            "server": format!("https://{server}:6443"), "certificate-authority": "/etc/kubernetes/pki/ca.crt"}}],
        "users": [{"name": "kubelet", "user": {"token": token}}],
        "contexts": [{"name": "kubelet", "context": {"cluster": "kind", "user": "kubelet"}}],
    });
    config.to_string()
}

#[cfg(test)]
mod tests {
    use nodeproof_core::components::machine::MachineSpec;
    use nodeproof_core::json;

    use super::{Common, Preparation, joining_script, obstacle, settings};
    use crate::live::kind::settings::KubeletSettings;

    fn common() -> Common {
        Common {
            cluster: "np".to_owned(),
            control_plane: "np-control-plane".to_owned(),
            authority: "PEM".to_owned(),
            settings: KubeletSettings::of_cluster("{cgroupRoot: /kubelet}").unwrap(),
            ..Common::default()
        }
    }

    #[test]
    fn a_worker_joins_by_files_alone() {
        let spec = MachineSpec::from_json(&json!({
            "name": "w", "zone": "a", "bootId": "b1",
            "kubelet": {"flags": {"node-labels": "x=y", "register-with-taints": "a=b:NoSchedule"}},
        }))
        .unwrap();
        let (own, all) = settings(&common(), "np-w", &spec, Preparation::default()).unwrap();
        let script = joining_script(&common(), &all, &spec, "t.k", "");
        for part in [
            "printf %s 'PEM' > /etc/kubernetes/pki/ca.crt",
            "\"server\":\"https://np-control-plane:6443\"",
            "\"token\":\"t.k\"",
            "echo 'b1' > /etc/nodeproof-next-boot-id",
            "{\"cgroupRoot\":\"/kubelet\"}",
            "KUBELET_KUBEADM_ARGS=\"--provider-id=kind://docker/np/np-w --boot-id-file=/etc/nodeproof-boot-id \
             --node-labels=topology.kubernetes.io/zone=a,x=y --register-with-taints=a=b:NoSchedule\"",
        ] {
            assert!(script.contains(part), "{part} is not in {script}");
        }
        assert!(script.contains("RestartSec=10"));
        assert!(script.ends_with("systemctl start --no-block kubelet"));
        assert!(!own.writing_script().contains("register-with-taints"));
    }

    #[test]
    fn what_a_container_cannot_be_is_named() {
        for (body, why) in [
            (json!({"name": "w"}), None),
            (json!({"name": "w", "zone": "a", "machineId": "m"}), None),
            (
                json!({"name": "w", "capacity": {"cpu": 8}}),
                Some("a container shares its cpu with the host or its image"),
            ),
            (
                json!({"name": "w", "clockSkew": "3s"}),
                Some("a container shares its clockSkew with the host or its image"),
            ),
            (json!({"name": "w", "powered": false}), Some("a worker of kind is made when it is started")),
            (
                json!({"name": "w", "kubelet": {"version": "1.31"}}),
                Some("the node image holds a kubelet v1.34.4, and not 1.31.0"),
            ),
        ] {
            let spec = MachineSpec::from_json(&body).unwrap();
            assert_eq!(obstacle(&spec, "v1.34.4").as_deref(), why);
        }
    }
}
