//! The flags and the configuration with which the kubelet of a kind node is started: the cluster's own, overridden by a
//! scenario's.
//!
//! Mirrors what kubeadm leaves on a node: `/var/lib/kubelet/config.yaml` and `/var/lib/kubelet/kubeadm-flags.env`,
//! which the unit reads (kubernetes/release cmd/krel/templates/latest/kubeadm/10-kubeadm.conf). Inputs: the text of the
//! cluster's own files, a `KubeletSpec`. Outputs: the texts to write, and the plan that writes them. Invariant: the
//! original files are saved once, before they are first overwritten.

use std::net::IpAddr;

use nodeproof_core::components::machine::KubeletSpec;
use serde_json::{Map, Value};

use super::fault::FaultPlan;
use crate::live::cleanup::node_fault::{DROP_IN, KUBELET_ASIDE, NodeFault};
use crate::live::cleanup::op::{Op, quoted};

/// The kubelet's configuration.
const CONFIG: &str = "/var/lib/kubelet/config.yaml";
/// The kubelet's flags, in an environment variable for its unit.
const FLAGS: &str = "/var/lib/kubelet/kubeadm-flags.env";
/// That variable.
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `KubeletEnvFileVariableName`.
const VARIABLE: &str = "KUBELET_KUBEADM_ARGS";

/// The hard eviction threshold of memory. kind removes all thresholds, since its nodes share the disk of their host;
/// but memory belongs to the node, and its threshold is part of what is allocatable.
/// Source: pkg/kubelet/apis/config/v1beta1/defaults_linux.go (v1.34), `DefaultEvictionHard`.
const MEMORY_THRESHOLD: (&str, &str) = ("memory.available", "100Mi");

/// Prints both files of a node, flags first.
pub(crate) const READING_SCRIPT: &str =
    "cat /var/lib/kubelet/kubeadm-flags.env; echo; cat /var/lib/kubelet/config.yaml";

/// The settings of a kubelet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KubeletSettings {
    /// The `KubeletConfiguration`.
    config: Map<String, Value>,
    /// Flags without dashes, in order; the last of a name wins.
    flags: Vec<(String, String)>,
}

impl KubeletSettings {
    /// Reads the configuration of a cluster, as kubeadm keeps it.
    ///
    /// # Errors
    /// It is no object in YAML.
    pub(crate) fn of_cluster(config: &str) -> Result<Self, String> {
        let value: Value = serde_yaml::from_str(config).map_err(|error| format!("kubelet-config: {error}"))?;
        let Value::Object(mut config) = value else { return Err("kubelet-config is no object".to_owned()) };
        config.retain(|_, value| !is_empty(value));
        if let Some(Value::Object(thresholds)) = config.get_mut("evictionHard") {
            let (signal, value) = MEMORY_THRESHOLD;
            thresholds.entry(signal).or_insert_with(|| value.into());
        }
        Ok(Self { config, flags: Vec::new() })
    }

    /// Takes away what kind sets because its nodes share the disk of their host: the thresholds and the collection of
    /// images are then those of every kubelet. The images that a node has from the beginning stay: a containerd before
    /// 1.7 does not tell that it needs one of them.
    pub(crate) fn watch_the_disk(&mut self) {
        for field in ["evictionHard", "imageGCHighThresholdPercent"] {
            self.config.remove(field);
        }
        self.config.insert("imageMinimumGCAge".to_owned(), "24h".into());
    }

    /// Reads the settings of a node, as [`READING_SCRIPT`] prints them.
    ///
    /// # Errors
    /// The configuration is no object in YAML.
    pub(crate) fn of_node(files: &str) -> Result<Self, String> {
        let (flags, config) = files.split_once('\n').unwrap_or(("", files));
        let value: Value = serde_yaml::from_str(config).map_err(|error| format!("{CONFIG}: {error}"))?;
        let Value::Object(config) = value else { return Err(format!("{CONFIG} is no object")) };
        let flags = flags.trim().trim_start_matches(VARIABLE).trim_start_matches('=').trim_matches('"');
        let flags = flags.split_whitespace().filter_map(|flag| flag.trim_start_matches('-').split_once('='));
        Ok(Self { config, flags: flags.map(|(name, value)| (name.to_owned(), value.to_owned())).collect() })
    }

    /// Returns these settings overridden by a scenario's.
    ///
    /// # Errors
    /// A flag's value cannot pass through the unit's variable.
    pub(crate) fn with(&self, spec: &KubeletSpec) -> Result<Self, String> {
        let mut settings = self.clone();
        let text = spec.config.to_string();
        if let Ok(Value::Object(own)) = serde_json::from_str::<Value>(&text) {
            merge(&mut settings.config, own);
        }
        for (name, value) in &spec.flags {
            settings.set_flag(name.as_str(), value.as_str())?;
        }
        Ok(settings)
    }

    /// Sets a flag; `node-labels` are added to the existing ones.
    ///
    /// # Errors
    /// Its value cannot pass through the unit's variable.
    pub(crate) fn set_flag(&mut self, name: &str, value: &str) -> Result<(), String> {
        if value.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | '$')) {
            return Err(format!("the value {value:?} of --{name} cannot pass through {FLAGS}"));
        }
        match self.flags.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) if name == "node-labels" && !own.is_empty() => *own = format!("{own},{value}"),
            Some((_, own)) => value.clone_into(own),
            None => self.flags.push((name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Returns the script that gives the machine the addresses of `--node-ip`: a kubelet reports none that its host
    /// lacks.
    /// Source: pkg/kubelet/kubelet_node_status.go (v1.34), `validateNodeIP`.
    fn addresses_script(&self) -> String {
        let given = self.flags.iter().filter(|(name, _)| name == "node-ip").flat_map(|(_, value)| value.split(','));
        let addresses = given.filter_map(|text| text.trim().parse::<IpAddr>().ok());
        addresses
            .filter(|address| !address.is_unspecified())
            .map(|address| {
                let length = if address.is_ipv4() { 32 } else { 128 };
                format!("{{ ip -o addr | grep -qwF {address} || ip addr add {address}/{length} dev eth0; }} && ")
            })
            .collect()
    }

    /// Returns the script that writes both files.
    pub(crate) fn writing_script(&self) -> String {
        let config = Value::Object(self.config.clone()).to_string();
        let flags = self.flags.iter().map(|(name, value)| format!("--{name}={value}")).collect::<Vec<_>>().join(" ");
        format!(
            "{}mkdir -p /var/lib/kubelet && printf %s {} > {CONFIG} && printf %s {} > {FLAGS}",
            self.addresses_script(),
            quoted(&config),
            quoted(&format!("{VARIABLE}=\"{flags}\"\n"))
        )
    }
}

/// Plans the restart of a kubelet with other settings.
pub(crate) fn restart(settings: &KubeletSettings, container: &str) -> FaultPlan {
    let aside =
        format!("[ -d {KUBELET_ASIDE} ] || {{ mkdir -p {KUBELET_ASIDE} && cp -a {CONFIG} {FLAGS} {KUBELET_ASIDE}/; }}");
    let script = format!(
        "{aside} && {} && rm -f {DROP_IN} && systemctl daemon-reload && systemctl restart kubelet",
        settings.writing_script()
    );
    FaultPlan {
        makes: Some(NodeFault::KubeletChanged),
        ends: vec![NodeFault::KubeletDown],
        ops: vec![Op::exec(container, script)],
    }
}

/// Tells whether kubeadm has written a field only because Go prints empty fields: `0s` and empty objects mean the
/// default.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty() || text == "0s",
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Null => true,
        _ => false,
    }
}

fn merge(own: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (own.get_mut(&name), value) {
            (Some(Value::Object(own)), Value::Object(over)) => merge(own, over),
            (_, value) => drop(own.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use nodeproof_core::components::machine::KubeletSpec;
    use nodeproof_core::json;

    use super::{KubeletSettings, restart};

    const OF_KUBEADM: &str = "
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {cacheTTL: 0s}}
evictionHard: {imagefs.available: 0%}
imageGCHighThresholdPercent: 100
nodeStatusUpdateFrequency: 0s
cgroupDriver: systemd
";

    #[test]
    fn a_scenarios_settings_lie_over_those_of_the_cluster() {
        let spec = json!({
            "flags": {"node-labels": "a=b", "register-node": false},
            "config": {"nodeStatusUpdateFrequency": "4s", "authentication": {"anonymous": {"enabled": true}}},
        });
        let spec = KubeletSpec::from_json(&spec, "kubelet").unwrap();
        let mut base = KubeletSettings::of_cluster(OF_KUBEADM).unwrap();
        base.set_flag("node-labels", "zone=a").unwrap();
        let script = base.with(&spec).unwrap().writing_script();
        assert_eq!(
            script,
            "mkdir -p /var/lib/kubelet && printf %s \
                '{\"authentication\":{\"anonymous\":{\"enabled\":true},\"webhook\":{\"cacheTTL\":\"0s\"}},\
             \"cgroupDriver\":\"systemd\",\"evictionHard\":{\"imagefs.available\":\"0%\",\
             \"memory.available\":\"100Mi\"},\"imageGCHighThresholdPercent\":100,\
             \"kind\":\"KubeletConfiguration\",\"nodeStatusUpdateFrequency\":\"4s\"}' > \
             /var/lib/kubelet/config.yaml && printf %s 'KUBELET_KUBEADM_ARGS=\"--node-labels=zone=a,a=b \
             --register-node=false\"\n' > /var/lib/kubelet/kubeadm-flags.env"
        );
    }

    #[test]
    fn the_settings_of_a_node_are_read_as_they_are() {
        let files = "KUBELET_KUBEADM_ARGS=\"--node-ip=172.18.0.3 --node-labels= --provider-id=kind://docker/np/w\"\n\n\
                     cgroupRoot: /kubelet\nstaticPodPath: /x\n";
        let mut own = KubeletSettings::of_node(files).unwrap();
        own.set_flag("node-labels", "a=b").unwrap();
        let script = own.writing_script();
        assert!(script.starts_with("{ ip -o addr | grep -qwF 172.18.0.3 || ip addr add 172.18.0.3/32 dev eth0; } && "));
        assert!(script.contains("--node-ip=172.18.0.3 --node-labels=a=b --provider-id=kind://docker/np/w"), "{script}");
        assert!(script.contains("{\"cgroupRoot\":\"/kubelet\",\"staticPodPath\":\"/x\"}"), "{script}");
    }

    #[test]
    fn a_value_that_a_unit_would_tear_apart_is_refused() {
        for value in ["a b", "a\"b", "$HOME", "a\\b"] {
            assert!(KubeletSettings::default().set_flag("hostname-override", value).is_err(), "{value}");
        }
    }

    #[test]
    fn what_is_overwritten_is_put_aside_once() {
        let plan = restart(&KubeletSettings::default(), "np-worker");
        assert!(plan.ops[0].to_string().contains("[ -d /var/lib/nodeproof/kubelet ] || { mkdir -p"));
    }
}
