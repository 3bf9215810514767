//! Restarts the programs of a control plane with the flags of a scenario, and later with their own flags. Only for a
//! cluster that a run has created.
//!
//! kubeadm starts them as static Pods, so a flag is a line of a manifest: the kubelet sees that the file has changed
//! and restarts the program. A program is restarted for each scenario with flags, even with the same flags as before:
//! it must not know Nodes that are gone. Inputs: flags. Outputs: programs that run with them and answer, or the
//! program's own message why it does not. Invariant: a scenario that shares the cluster finds the programs as kubeadm
//! has started them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_yaml::{Mapping, Value};

use crate::live::NoEnvironment;
use crate::live::cleanup::docker::{Docker, DockerError};
use crate::live::cleanup::op::quoted;
use crate::live::flags::{Flags, of_program};

/// The programs, and the address where each reports its health.
///
/// Source: cmd/kubeadm/app/phases/controlplane/manifests.go (v1.34), the probes of the static Pods.
const PROGRAMS: [(&str, &str); 3] = [
    ("kube-apiserver", "https://localhost:6443/readyz"),
    ("kube-controller-manager", "https://127.0.0.1:10257/healthz"),
    ("kube-scheduler", "https://127.0.0.1:10259/readyz"),
];
/// Where the manifests are.
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `ManifestsSubDirName`.
const MANIFESTS: &str = "/etc/kubernetes/manifests";
/// The annotation that changes a manifest whose flags are the same.
const COUNT: &str = "nodeproof.dev/start";

/// How long a program may take to become healthy, in seconds: on a quiet machine it takes 3 to 15.
const START_WAIT: u32 = 120;
/// How long the script takes at most that waits for it: it says itself what is wrong.
const START_TIMEOUT: Duration = Duration::from_secs(START_WAIT as u64 + 30);
/// The exit code for a program that has started and ended, as one that refuses a flag does.
const HAS_ENDED: i64 = 3;

/// The flags with which the programs of a control plane run.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// The manifests of kubeadm, for the programs that run with other flags.
    changed: BTreeMap<&'static str, String>,
    /// How often a manifest was written.
    count: u32,
}

impl Programs {
    /// Runs the programs with these flags beside those of kubeadm, and waits until they are healthy.
    ///
    /// # Errors
    /// Docker does not answer, or a program does not run with the flags that were asked for.
    pub(super) async fn run_with(
        &mut self,
        docker: &Docker,
        control_plane: &str,
        flags: &Flags,
    ) -> Result<(), NoEnvironment> {
        for (program, health) in PROGRAMS {
            let own: Vec<(&str, &str)> = of_program(program, flags).collect();
            let manifest = if own.is_empty() {
                let Some(of_kubeadm) = self.changed.get(program) else { continue };
                of_kubeadm.clone()
            } else {
                let of_kubeadm =
                    self.of_kubeadm(docker, control_plane, program).await.map_err(|why| why.to_string())?;
                self.count += 1;
                with_flags(&of_kubeadm, &own, self.count)?
            };
            let started = docker.run_within(control_plane, &script(program, health, &manifest), START_TIMEOUT).await;
            match started {
                Ok(_) => {}
                Err(DockerError::Script { code: HAS_ENDED, said, .. }) => {
                    let why = format!("{program} does not run with these flags: {}", said.trim());
                    return Err(NoEnvironment { why, is_asked_for: !own.is_empty() });
                }
                Err(DockerError::Script { said, .. }) => {
                    return Err(format!("{program} is not in order after {START_WAIT}s: {}", said.trim()).into());
                }
                Err(why) => return Err(why.to_string().into()),
            }
            if own.is_empty() {
                self.changed.remove(program);
            }
        }
        Ok(())
    }

    /// Returns a manifest as kubeadm has written it, and notes that it will be changed.
    async fn of_kubeadm(
        &mut self,
        docker: &Docker,
        control_plane: &str,
        program: &'static str,
    ) -> Result<String, DockerError> {
        if let Some(known) = self.changed.get(program) {
            return Ok(known.clone());
        }
        let text = docker.run(control_plane, &format!("cat {}", path(program))).await?;
        self.changed.insert(program, text.clone());
        Ok(text)
    }
}

/// Returns why a scenario's flags cannot be given to the programs of a kind cluster.
pub(super) fn obstacle(flags: &Flags) -> Option<String> {
    let is_known =
        |flag: &str| PROGRAMS.iter().any(|(program, _)| flag.split_once('.').is_some_and(|(own, _)| own == *program));
    if let Some((flag, _)) = flags.iter().find(|(flag, _)| !is_known(flag)) {
        return Some(format!("{flag} cannot be given to a cluster that kubeadm has made"));
    }
    if of_program("kube-apiserver", flags).any(|flag| flag == ("anonymous-auth", "false")) {
        return Some("the probes with which kubeadm watches the API server are anonymous".to_owned());
    }
    let value = |name: &str| {
        let mut own = of_program("kube-controller-manager", flags);
        own.find_map(|(flag, value)| (flag == name).then_some(value))
    };
    let is_without = value("allocate-node-cidrs") == Some("false")
        || value("cluster-cidr").is_some() && value("allocate-node-cidrs").is_none();
    is_without.then(|| "without a block of addresses no Node of kind gets ready".to_owned())
}

/// Describes how the programs of a control plane are started for a scenario.
pub(super) fn dry_run(flags: &Flags) -> Vec<String> {
    let lines = PROGRAMS.iter().filter_map(|(program, _)| {
        let own: Vec<String> = of_program(program, flags).map(|(flag, value)| format!(" --{flag}={value}")).collect();
        (!own.is_empty()).then(|| format!("{program} starts anew with{}, and without it afterwards", own.concat()))
    });
    lines.collect()
}

fn path(program: &str) -> String {
    format!("{MANIFESTS}/{program}.yaml")
}

/// Returns a manifest in which flags replace its own flags of the same names. There is one instance of each program, so
/// leader election is off: it need not wait until the lease of the one before has expired.
fn with_flags(manifest: &str, flags: &[(&str, &str)], count: u32) -> Result<String, String> {
    let odd = || "a manifest of the control plane is not as kubeadm writes it".to_owned();
    let mut pod: Value = serde_yaml::from_str(manifest).map_err(|error| format!("{}: {error}", odd()))?;
    let command = pod.get_mut("spec").and_then(|spec| spec.get_mut("containers")?.get_mut(0)?.get_mut("command"));
    let command = command.and_then(Value::as_sequence_mut).ok_or_else(odd)?;
    let alone = ("leader-elect", "false");
    let is_elected = |argument: &Value| argument.as_str().is_some_and(|text| text.starts_with("--leader-elect="));
    let alone = command.iter().any(is_elected).then_some(alone);
    let flags: Vec<(&str, &str)> = alone.into_iter().chain(flags.iter().copied()).collect();
    command.retain(|argument| {
        let name = argument.as_str().and_then(|text| text.strip_prefix("--")?.split('=').next());
        !flags.iter().any(|(flag, _)| name == Some(flag))
    });
    command.extend(flags.iter().map(|(flag, value)| Value::from(format!("--{flag}={value}"))));
    let metadata = pod.get_mut("metadata").and_then(Value::as_mapping_mut).ok_or_else(odd)?;
    let annotations = metadata.entry("annotations".into()).or_insert_with(|| Mapping::new().into());
    annotations.as_mapping_mut().ok_or_else(odd)?.insert(COUNT.into(), count.to_string().into());
    serde_yaml::to_string(&pod).map_err(|error| error.to_string())
}

/// Writes a manifest and waits until a new process of the program is healthy; prints its last message if it does not
/// become healthy. The kubelet uses another directory of logs for another manifest; in it a container that has ended is
/// followed by 1.log.
///
/// Source: pkg/kubelet/kuberuntime/helpers.go (v1.34), `BuildContainerLogsDirectory` and `containerLogFileName`.
fn script(program: &str, health: &str, manifest: &str) -> String {
    let (path, text, tries) = (path(program), quoted(manifest), START_WAIT * 5);
    format!(
        "own() {{ pgrep -fo '^{program} ' || true; }}\n\
         logs() {{ ls -d /var/log/pods/kube-system_{program}-*/{program} 2>/dev/null; }}\n\
         last() {{ tail -qn 3 $(ls -t $@ 2>/dev/null | head -1) | cut -d ' ' -f 4- >&2; }}\n\
         was=$(own); before=$(logs)\n\
         umask 077; printf %s {text} > /etc/kubernetes/nodeproof.yaml && mv /etc/kubernetes/nodeproof.yaml {path} || \
         exit 1\n\
         for i in $(seq {tries}); do\n\
           is=$(own)\n\
           [ -n \"$is\" ] && [ \"$is\" != \"$was\" ] && curl -fskm1 -o /dev/null {health} && exit 0\n\
           for new in $(logs | grep -vxF \"$before\"); do [ -e $new/1.log ] && {{ last $new/0.log; exit {HAS_ENDED}; \
           }}; done\n\
           sleep 0.2\n\
         done\n\
         last $(logs | sed 's|$|/*.log|')\n\
         exit 4"
    )
}

#[cfg(test)]
mod tests {
    use nodeproof_core::objects::Text;

    use super::*;

    const MANIFEST: &str = "
apiVersion: v1
kind: Pod
metadata: {name: kube-controller-manager, namespace: kube-system}
spec:
  containers:
  - command: [kube-controller-manager, --cluster-cidr=10.244.0.0/16, --leader-elect=true, --controllers=*]
    image: m
";

    fn flags(own: &[(&str, &str)]) -> Vec<(Text, Text)> {
        own.iter().map(|(flag, value)| (Text::from(*flag), Text::from(*value))).collect()
    }

    #[test]
    fn flags_of_a_scenario_take_the_place_of_kubeadms() {
        let changed =
            with_flags(MANIFEST, &[("cluster-cidr", "10.1.0.0/16"), ("node-monitor-period", "2s")], 7).unwrap();
        let pod: Value = serde_yaml::from_str(&changed).unwrap();
        let command = serde_yaml::to_string(&pod["spec"]["containers"][0]["command"]).unwrap();
        assert_eq!(
            command.lines().map(|line| line.trim_start_matches("- ").trim_matches('\'')).collect::<Vec<_>>(),
            [
                "kube-controller-manager",
                "--controllers=*",
                "--leader-elect=false",
                "--cluster-cidr=10.1.0.0/16",
                "--node-monitor-period=2s"
            ]
        );
        assert_eq!(pod["metadata"]["annotations"][COUNT], Value::from("7"));
        assert!(with_flags("kind: Pod", &[], 1).is_err());
    }

    #[test]
    fn what_cannot_be_given_to_a_kind_cluster_is_named() {
        for (own, why) in [
            (&[("kube-controller-manager.node-monitor-period", "2s")][..], None),
            (&[("kube-apiserver.default-unreachable-toleration-seconds", "20")], None),
            (
                &[("feature-gates", "NodeSwap=true")],
                Some("feature-gates cannot be given to a cluster that kubeadm has made"),
            ),
            (
                &[("kube-apiserver.anonymous-auth", "false")],
                Some("the probes with which kubeadm watches the API server are anonymous"),
            ),
            (
                &[("kube-controller-manager.cluster-cidr", "10.1.0.0/16")],
                Some("without a block of addresses no Node of kind gets ready"),
            ),
            (
                &[
                    ("kube-controller-manager.allocate-node-cidrs", "true"),
                    ("kube-controller-manager.cluster-cidr", "10.1.0.0/16"),
                ],
                None,
            ),
        ] {
            assert_eq!(obstacle(&flags(own)).as_deref(), why);
        }
    }

    #[test]
    fn a_dry_run_tells_what_starts_anew() {
        assert_eq!(
            dry_run(&flags(&[("kube-scheduler.v", "4"), ("kube-controller-manager.node-monitor-period", "2s")])),
            [
                "kube-controller-manager starts anew with --node-monitor-period=2s, and without it afterwards",
                "kube-scheduler starts anew with --v=4, and without it afterwards",
            ]
        );
    }
}
