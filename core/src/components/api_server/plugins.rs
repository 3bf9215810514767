//! Which admission plugins run: those that kubeadm turns on, less what a flag turns off.
//!
//! Mirrors pkg/kubeapiserver/options/plugins.go and k8s.io/apiserver pkg/server/options/admission.go (v1.34),
//! `Validate`.
//! Inputs: the flags. Outputs: the set of plugins that are off, or the flag that is refused. Left out on purpose:
//! turning on a plugin that is off by default, and turning off `NamespaceLifecycle`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::profile::Settings;

/// The flag whose value is refused, and why.
pub type FlagError = (&'static str, String);

const ENABLE: &str = "enable-admission-plugins";
const DISABLE: &str = "disable-admission-plugins";

/// What turning a plugin on or off means here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PluginMode {
    /// It runs unless it is turned off.
    Switched,
    /// It runs.
    Fixed,
    /// It is on and has nothing to do: what it looks at is not modelled.
    Idle,
    /// It is off.
    Off,
}

/// The plugins by name. Source: pkg/kubeapiserver/options/plugins.go (v1.34), `AllOrderedPlugins`,
/// `DefaultOffAdmissionPlugins`; kubeadm turns `NodeRestriction` on, cmd/kubeadm/app/phases/controlplane/manifests.go
/// (v1.34).
const PLUGINS: &[(&str, PluginMode)] = &[
    ("AlwaysAdmit", PluginMode::Off),
    ("NamespaceAutoProvision", PluginMode::Off),
    ("NamespaceLifecycle", PluginMode::Fixed),
    ("NamespaceExists", PluginMode::Off),
    ("LimitRanger", PluginMode::Switched),
    ("ServiceAccount", PluginMode::Switched),
    ("NodeRestriction", PluginMode::Switched),
    ("TaintNodesByCondition", PluginMode::Switched),
    ("AlwaysPullImages", PluginMode::Off),
    ("ImagePolicyWebhook", PluginMode::Off),
    ("PodSecurity", PluginMode::Switched),
    ("PodNodeSelector", PluginMode::Off),
    ("Priority", PluginMode::Switched),
    ("DefaultTolerationSeconds", PluginMode::Switched),
    ("PodTolerationRestriction", PluginMode::Off),
    ("EventRateLimit", PluginMode::Off),
    ("ExtendedResourceToleration", PluginMode::Off),
    ("DefaultStorageClass", PluginMode::Switched),
    ("PersistentVolumeClaimResize", PluginMode::Switched),
    ("StorageObjectInUseProtection", PluginMode::Switched),
    ("OwnerReferencesPermissionEnforcement", PluginMode::Off),
    ("RuntimeClass", PluginMode::Switched),
    ("CertificateApproval", PluginMode::Switched),
    ("CertificateSigning", PluginMode::Switched),
    ("ClusterTrustBundleAttest", PluginMode::Idle),
    ("CertificateSubjectRestriction", PluginMode::Switched),
    ("DefaultIngressClass", PluginMode::Switched),
    ("DenyServiceExternalIPs", PluginMode::Off),
    ("PodTopologyLabels", PluginMode::Switched),
    ("MutatingAdmissionPolicy", PluginMode::Idle),
    ("MutatingAdmissionWebhook", PluginMode::Idle),
    ("ValidatingAdmissionPolicy", PluginMode::Idle),
    ("ValidatingAdmissionWebhook", PluginMode::Idle),
    ("ResourceQuota", PluginMode::Switched),
    ("AlwaysDeny", PluginMode::Off),
];

/// The plugins that are turned off.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plugins {
    off: Vec<&'static str>,
}

impl Plugins {
    /// Reads the flags.
    ///
    /// # Errors
    /// A plugin is unknown, is both turned on and off, or is not modelled in the state asked for. kube-apiserver
    /// refuses to start in the first two cases.
    pub fn of(settings: &Settings) -> Result<Self, FlagError> {
        let on = read(settings, ENABLE)?;
        let off = read(settings, DISABLE)?;
        if let Some((name, _)) = off.iter().find(|own| on.contains(own)) {
            return Err((DISABLE, format!("[{name}] in {ENABLE} and {DISABLE} overlapped")));
        }
        if let Some((name, _)) = on.iter().find(|(_, kind)| *kind == PluginMode::Off) {
            return Err((ENABLE, format!("admission plugin {name} is not modelled yet")));
        }
        if let Some((name, _)) = off.iter().find(|(_, kind)| *kind == PluginMode::Fixed) {
            return Err((DISABLE, format!("a cluster without {name} is not modelled yet")));
        }
        Ok(Self { off: off.into_iter().map(|(name, _)| name).collect() })
    }

    /// Tells whether a plugin runs.
    #[must_use]
    pub fn runs(&self, name: &str) -> bool {
        !self.off.contains(&name)
    }
}

fn read(settings: &Settings, flag: &'static str) -> Result<Vec<(&'static str, PluginMode)>, FlagError> {
    let names = settings.text(flag).split(',').map(str::trim).filter(|name| !name.is_empty());
    let known = |name: &str| PLUGINS.iter().find(|(own, _)| *own == name).copied();
    names.map(|name| known(name).ok_or_else(|| (flag, format!("{flag} plugin {name:?} is unknown")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugins(flags: &[(&str, &str)]) -> Result<Plugins, String> {
        let mut settings = Settings::default();
        for (flag, value) in flags {
            settings.set(flag, value).unwrap();
        }
        Plugins::of(&settings).map_err(|(_, why)| why)
    }

    #[test]
    fn all_run_but_those_that_are_turned_off() {
        let own = plugins(&[(DISABLE, "TaintNodesByCondition, LimitRanger"), (ENABLE, "NodeRestriction")]).unwrap();
        assert!(!own.runs("TaintNodesByCondition") && own.runs("DefaultTolerationSeconds"));
        assert!(plugins(&[]).unwrap().runs("TaintNodesByCondition"));
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        for (flags, why) in [
            (vec![(DISABLE, "Prioritie")], "disable-admission-plugins plugin \"Prioritie\" is unknown"),
            (
                vec![(DISABLE, "Priority"), (ENABLE, "Priority")],
                "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped",
            ),
            (vec![(ENABLE, "AlwaysPullImages")], "admission plugin AlwaysPullImages is not modelled yet"),
            (vec![(DISABLE, "NamespaceLifecycle")], "a cluster without NamespaceLifecycle is not modelled yet"),
        ] {
            assert_eq!(plugins(&flags), Err(String::from(why)));
        }
    }

    use alloc::vec;
}
