//! The settings of a cluster: the profile's defaults, and the flags and feature gates that were set.
//!
//! Inputs: flags and values as texts. Outputs: values in force, or an error. Invariant: a refused flag changes nothing.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::SignedDuration;

use super::{GateStage, Profile, Release, Row, Value, gates, kubelet_gates, rows, upstream_flags};
use crate::objects::time::parse_duration;
use crate::objects::{Json, NOT_MODELLED, Text, nearest};

/// Two events of one instant of which either may come first on a real cluster. The model has a fixed order, unless the
/// other one is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Race {
    /// A pass of the pod garbage collector comes before the end of a Node's quarantine, which is two periods long, so
    /// the Pods wait for the next pass.
    /// Source: pkg/controller/podgc/gc_controller.go (v1.34), `gcCheckPeriod` and `quarantineTime`.
    PassBeforeQuarantineEnds,
    /// The first NoExecute pass of the node lifecycle controller comes before its first checks, and finds no node: both
    /// begin at one instant.
    /// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), `Run`.
    TaintPassBeforeChecks,
    /// The watch tells of the end of an evicted Pod before the controller that deletes it has the answer, so the
    /// deletion is told to be cancelled.
    /// Source: pkg/controller/tainteviction/timed_workers.go (v1.34), `getWrappedWorkerFunc` and `CancelWork`.
    EndBeforeAnswer,
    /// The watch tells of an EndpointSlice before the controller that wrote it has the answer, so the Service is synced
    /// again.
    /// Source: pkg/controller/endpointslice/endpointslice_controller.go (v1.34), `onEndpointSliceUpdate`.
    SliceBeforeAnswer,
    /// A Service is synced again before the watch tells of the EndpointSlice that the controller just wrote for it, so
    /// it finds its cache behind: 43 of 239 syncs that began within 0.1 ms of the last one's end (v1.34.4).
    /// Source: pkg/controller/endpointslice/endpointslice_controller.go (v1.34), `syncService`;
    /// k8s.io/endpointslice util/endpointslice_tracker.go (v1.34), `StaleSlices`.
    SyncBeforeSlice,
    /// The checks of a health pass, which eight workers share, end in the reverse order of the Nodes' names.
    /// Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), `monitorNodeHealth`.
    NodesInReverse,
}

impl Race {
    /// All there are.
    pub const ALL: [Self; 6] = [
        Self::PassBeforeQuarantineEnds,
        Self::TaintPassBeforeChecks,
        Self::EndBeforeAnswer,
        Self::SliceBeforeAnswer,
        Self::SyncBeforeSlice,
        Self::NodesInReverse,
    ];

    /// Says which event came first.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::PassBeforeQuarantineEnds => {
                "a pass of the pod garbage collector came just before the end of a Node's quarantine of 40 s, and the \
                 next one 20 s later"
            }
            Self::TaintPassBeforeChecks => {
                "the first NoExecute pass of the node lifecycle controller came before its first checks, and the next \
                 one 0.1 s later"
            }
            Self::EndBeforeAnswer => {
                "the watch told of the end of an evicted Pod before the answer to its deletion came, so the deletion \
                 was told to be cancelled"
            }
            Self::SliceBeforeAnswer => {
                "the watch told of each EndpointSlice before the answer to its write came, so each Service was looked \
                 at again 1 s later"
            }
            Self::SyncBeforeSlice => {
                "a Service was looked at again before the watch told of the EndpointSlice that had just been written, \
                 so the next try came 1 s later"
            }
            Self::NodesInReverse => {
                "the checks of Nodes, which workers of the node lifecycle controller share, ended in the reverse order \
                 of the names"
            }
        }
    }
}

/// A profile with the flags and feature gates of one cluster.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Settings {
    profile: Profile,
    flags: BTreeMap<&'static str, Value>,
    texts: BTreeMap<&'static str, Text>,
    gates: BTreeMap<&'static str, bool>,
    kubelet_flags: BTreeMap<Text, Text>,
    kubelet_fields: BTreeMap<Text, Json>,
    race: Option<Race>,
}

/// A setting that is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// No component has the flag.
    #[error("unknown flag {flag:?}{}",
        did_you_mean.as_ref().map(|near| alloc::format!(": did you mean {near:?}?")).unwrap_or_default())]
    UnknownFlag {
        /// The flag as it was given.
        flag: String,
        /// The nearest flag that there is.
        did_you_mean: Option<String>,
    },
    /// Other releases have the flag: which release, which flag, and where it is.
    #[error("Kubernetes {0} has no flag {1:?}: it is there {2}")]
    OtherRelease(String, String, String),
    /// The flag is one of Kubernetes', and its effect is not modelled.
    #[error("flag {flag}{NOT_MODELLED}")]
    NotModelled {
        /// The flag as it was given.
        flag: String,
    },
    /// The value does not fit the flag.
    #[error("flag {flag:?} cannot be {value:?}: {why}")]
    BadValue {
        /// The flag.
        flag: String,
        /// The value as it was given.
        value: String,
        /// What is wrong with it, and what would fit.
        why: String,
    },
}

impl Settings {
    /// Returns the defaults of a release.
    #[must_use]
    pub const fn of(release: Release) -> Self {
        Self::with_profile(Profile::of(release))
    }

    /// Returns the defaults of a profile.
    #[must_use]
    pub const fn with_profile(profile: Profile) -> Self {
        Self {
            profile,
            flags: BTreeMap::new(),
            texts: BTreeMap::new(),
            gates: BTreeMap::new(),
            kubelet_flags: BTreeMap::new(),
            kubelet_fields: BTreeMap::new(),
            race: None,
        }
    }

    /// Returns the same settings with a race that has the other outcome; `None` for the usual outcomes.
    #[must_use]
    pub fn with_race(self, race: Option<Race>) -> Self {
        Self { race, ..self }
    }

    /// Tells whether a race has the other outcome.
    #[must_use]
    pub fn is_lost(&self, race: Race) -> bool {
        self.race == Some(race)
    }

    /// Returns the same flags and gates with the defaults of another release, for a component of another version.
    #[must_use]
    pub fn at_release(&self, release: Release) -> Self {
        Self { profile: self.profile.at_release(release), ..self.clone() }
    }

    /// Returns the profile.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns the value in force of a row that has a flag.
    #[must_use]
    pub fn value(&self, name: &str) -> Value {
        self.flags.get(name).copied().unwrap_or_else(|| self.profile.value(name))
    }

    /// Returns a duration in force.
    #[must_use]
    pub fn duration(&self, name: &str) -> SignedDuration {
        match self.value(name) {
            Value::Duration(duration) => duration,
            _ => self.profile.duration(name),
        }
    }

    /// Returns a number in force.
    #[must_use]
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Number(number) => number,
            _ => self.profile.number(name),
        }
    }

    /// Returns the text in force of a row whose values are texts.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match (self.texts.get(name), self.profile.value(name)) {
            (Some(text), _) => text,
            (None, Value::Text(text)) => text,
            (None, _) => "",
        }
    }

    /// Returns the feature gates that were set.
    #[must_use]
    pub const fn gates(&self) -> &BTreeMap<&'static str, bool> {
        &self.gates
    }

    /// Tells whether the feature of a gate is on, which one that is gone may have left on; false for an unknown gate.
    #[must_use]
    pub fn is_gate_on(&self, name: &str) -> bool {
        let release = self.profile.release();
        let set = self.gates.get(name).copied().or_else(|| self.default_of_gate(name));
        set.or_else(|| gates::gate(name)?.last_default(release)).unwrap_or(false)
    }

    /// Returns the default of a gate at the release, where it knows the gate.
    fn default_of_gate(&self, name: &str) -> Option<bool> {
        let release = self.profile.release();
        let own = gates::gate(name).and_then(|gate| gate.stage_at(release).default_value());
        own.or_else(|| self.gate_of_kubelets(name)?.1.default_value())
    }

    /// Finds a gate in the table of kubelets' gates. Before the table begins, what the files of the releases say of a
    /// gate holds.
    fn gate_of_kubelets(&self, name: &str) -> Option<(&'static str, GateStage)> {
        let release = self.profile.release();
        let is_told = release.is_before_offered() && gates::gate(name).is_some();
        kubelet_gates::find(name, release).filter(|_| !is_told)
    }

    /// Tells whether the release has a feature gate.
    #[must_use]
    pub fn knows_gate(&self, name: &str) -> bool {
        let release = self.profile.release();
        gates::gate(name).is_some_and(|gate| gate.stage_at(release).default_value().is_some())
    }

    /// Returns each gate, as `feature gate NAME=BOOL`, that was set to another value than its default and whose feature
    /// is not modelled.
    pub fn not_modelled(&self) -> impl Iterator<Item = String> + '_ {
        let is_other =
            |(name, on): &(&&str, &bool)| self.default_of_gate(name) != Some(**on) && !gates::is_modelled(name);
        self.gates.iter().filter(is_other).map(|(name, on)| alloc::format!("feature gate {name}={on}"))
    }

    /// Returns the flags that every kubelet of the cluster runs with, unless its own say otherwise.
    #[must_use]
    pub const fn kubelet_flags(&self) -> &BTreeMap<Text, Text> {
        &self.kubelet_flags
    }

    /// Sets a flag that every kubelet of the cluster runs with. The kubelet checks flag and value at its start.
    pub fn set_kubelet_flag(&mut self, flag: Text, value: Text) {
        self.kubelet_flags.insert(flag, value);
    }

    /// Returns the fields of the KubeletConfiguration that every kubelet of the cluster runs with, unless its own say
    /// otherwise.
    #[must_use]
    pub const fn kubelet_fields(&self) -> &BTreeMap<Text, Json> {
        &self.kubelet_fields
    }

    /// Sets a field of the KubeletConfiguration that every kubelet of the cluster runs with. The kubelet checks it at
    /// its start.
    pub fn set_kubelet_field(&mut self, field: Text, value: Json) {
        self.kubelet_fields.insert(field, value);
    }

    /// Sets a flag, `[COMPONENT.]FLAG`, from its text; the component may be left out where only one has the flag, those
    /// of cloud-controller-manager aside, which most clusters do not have. `feature-gates` may be set again: gates that
    /// it does not name stay.
    ///
    /// # Errors
    /// The flag is unknown, or the value does not fit; nothing is changed then.
    pub fn set(&mut self, flag: &str, value: &str) -> Result<(), SettingsError> {
        let bad = |why: String| SettingsError::BadValue { flag: String::from(flag), value: String::from(value), why };
        if is_feature_gates(flag) {
            return self.set_gates(value).map_err(bad);
        }
        let rows: Vec<_> = rows()
            .filter(|row| {
                let is_short = |component: &str, short| short == flag && component != "cloud-controller-manager";
                row.flag == flag
                    || row.flag.split_once('.').is_some_and(|(component, short)| is_short(component, short))
            })
            .collect();
        if let [row] = rows.as_slice()
            && self.profile.value(row.name) == Value::Gone
        {
            let release = self.profile.release().minor_name();
            return Err(SettingsError::OtherRelease(release, String::from(flag), row.when_known()));
        }
        let [row] = rows.as_slice() else {
            // A flag that is modelled of another program alone is one that wants the program's name.
            let is_of_another = || self::rows().any(|row| row.flag.split_once('.').is_some_and(|(_, own)| own == flag));
            if rows.is_empty() && upstream_flags::is_flag(flag) && !is_of_another() {
                return Err(SettingsError::NotModelled { flag: String::from(flag) });
            }
            let did_you_mean = nearest(flag, flag_names(&self.profile)).map(String::from);
            return Err(SettingsError::UnknownFlag { flag: String::from(flag), did_you_mean });
        };
        if matches!(self.profile.value(row.name), Value::Text(_)) {
            self.texts.insert(row.name, Text::from(value));
            return Ok(());
        }
        let parsed = parse(row, self.profile.value(row.name), value).map_err(|why| bad(String::from(why)))?;
        self.flags.insert(row.name, parsed);
        Ok(())
    }

    fn set_gates(&mut self, text: &str) -> Result<(), String> {
        self.take_gates(text).map_err(|error| {
            let name = error.strip_prefix("unrecognized feature gate: ").unwrap_or_default();
            match nearest(name, gates::gates().map(|gate| gate.name).chain(kubelet_gates::names())) {
                Some(near) => alloc::format!("{error}: did you mean {near:?}?"),
                None => error,
            }
        })
    }

    /// Sets the feature gates of one component's own configuration, `{"NAME": true}`.
    ///
    /// # Errors
    /// A gate is unknown, locked or neither true nor false, in the component's words; nothing is changed then.
    pub fn set_own_gates(&mut self, given: &Json) -> Result<(), String> {
        let mut text = String::new();
        for (name, value) in given.fields() {
            text.push_str(&alloc::format!("{name}={},", value.as_bool().unwrap_or_default()));
        }
        self.take_gates(&text)
    }

    /// Sets gates, if each is known and has the others that it needs; otherwise nothing is changed.
    fn take_gates(&mut self, text: &str) -> Result<(), String> {
        let release = self.profile.release();
        let of_files = |name: &str| gates::gate(name).filter(|_| self.knows_gate(name));
        let stage_of = |name: &str| match of_files(name) {
            Some(gate) => Some((gate.name, gate.stage_at(release))),
            None => self.gate_of_kubelets(name),
        };
        let read = gates::parse(text, stage_of)?;
        let gates: BTreeMap<_, _> =
            self.gates.iter().map(|(name, on)| (*name, *on)).chain(read.iter().copied()).collect();
        let is_on = |name: &str| gates.get(name).copied().or_else(|| self.default_of_gate(name)).unwrap_or(false);
        let errors = kubelet_gates::unmet_needs(release, is_on);
        if !errors.is_empty() {
            return Err(gates::told_together(&errors));
        }
        self.gates = gates;
        let driven = read.into_iter().filter_map(|(name, on)| Some((gates::gate(name)?, on)));
        for (row, value) in driven.flat_map(|(gate, on)| gate.row_values(on).collect::<Vec<_>>()) {
            self.profile = core::mem::take(&mut self.profile).with(row, value);
        }
        Ok(())
    }
}

/// Returns the names of all flags, with and without their component.
fn flag_names(profile: &Profile) -> impl Iterator<Item = &'static str> {
    let both = |row: &'static Row| [row.flag, row.flag.split_once('.').map_or(row.flag, |(_, short)| short)];
    let is_known = |row: &&Row| !row.flag.is_empty() && profile.value(row.name) != Value::Gone;
    rows().filter(is_known).flat_map(both).chain(upstream_flags::names())
}

/// The components that have `--feature-gates`.
const GATED: [&str; 5] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "cloud-controller-manager"];

fn is_feature_gates(flag: &str) -> bool {
    match flag.split_once('.') {
        None => flag == "feature-gates",
        Some((component, flag)) => flag == "feature-gates" && GATED.contains(&component),
    }
}

/// Reads the text of a flag's value as the flag's component does, and refuses values that would stop its loops.
fn parse(row: &Row, default: Value, text: &str) -> Result<Value, &'static str> {
    let range = row.flag.split_once('.').map_or(row.flag, |(_, short)| short);
    match default {
        Value::Bool(_) => text.parse().map(Value::Bool).map_err(|_| "true or false is needed"),
        Value::Text(_) => Err("it is a text"),
        Value::Gone => Err("the flag is gone"),
        Value::Duration(_) => match parse_duration(text) {
            // Source: cmd/kube-controller-manager/app/core.go (v1.34), startPersistentVolumeAttachDetachController.
            Some(duration)
                if range == "attach-detach-reconcile-sync-period" && duration < SignedDuration::from_secs(1) =>
            {
                Err("duration time must be greater than one second as set via command line option \
                    reconcile-sync-loop-period")
            }
            // A Node whose grace is over at once is found silent by the next pass.
            // Source: cmd/kube-controller-manager/app/options/nodelifecyclecontroller.go (v1.34), `Validate`.
            Some(duration) if range.ends_with("-grace-period") => Ok(Value::Duration(duration)),
            // What is to be done after no time, or less, is done at once.
            Some(duration) if range == "endpointslice-updates-batch-period" => Ok(Value::Duration(duration)),
            Some(duration) if duration > SignedDuration::ZERO => Ok(Value::Duration(duration)),
            Some(_) => Err("it must be greater than zero"),
            None => Err("a duration with a unit is needed, as \"40s\" or \"5m\""),
        },
        Value::Number(_) => {
            let number: f64 = text.parse().map_err(|_| "a number is needed")?;
            let is_whole = || text.parse::<i32>().is_ok();
            match range {
                _ if !number.is_finite() => Err("a number is needed"),
                "node-eviction-rate" | "secondary-node-eviction-rate" | "unhealthy-zone-threshold" | "kube-api-qps" => {
                    Ok(Value::Number(number))
                }
                "default-not-ready-toleration-seconds" | "default-unreachable-toleration-seconds" => {
                    text.parse::<i64>().map(|_| Value::Number(number)).map_err(|_| "a whole number is needed")
                }
                _ if !is_whole() => Err("a whole number is needed"),
                "node-lease-duration-seconds" if number < 1.0 => Err("it must be greater than zero"),
                // Zero and less turn the collection off, or make each zone a large one.
                "terminated-pod-gc-threshold" | "large-cluster-size-threshold" => Ok(Value::Number(number)),
                // Source: cmd/kube-controller-manager/app/options/endpointslicecontroller.go (v1.34), `Validate`.
                "max-endpoints-per-slice" if number < 1.0 => Err("it must not be less than 1"),
                "max-endpoints-per-slice" if number > 1000.0 => Err("it must not be more than 1000"),
                _ if number < 0.0 => Err("it must not be negative"),
                _ => Ok(Value::Number(number)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::Settings;
    use crate::profile::{Release, Value};

    #[test]
    fn what_would_stop_a_loop_or_is_no_value_is_refused() {
        let mut settings = Settings::default();
        for (flag, value) in [
            ("node-monitor-period", "0s"),
            ("node-monitor-period", "-5s"),
            ("node-monitor-period", "5"),
            ("node-monitor-period", "5 seconds"),
            ("node-monitor-grace-period", ""),
            ("node-eviction-rate", "NaN"),
            ("node-eviction-rate", "inf"),
            ("large-cluster-size-threshold", "2.5"),
            ("kube-api-qps", "many"),
            ("kube-api-burst", "-1"),
            ("kubelet.max-pods", "-1"),
            ("node-lease-duration-seconds", "0"),
            ("max-endpoints-per-slice", "0"),
            ("max-endpoints-per-slice", "1001"),
            ("default-not-ready-toleration-seconds", "ten"),
            ("feature-gates", "NodeSwap=false"),
            ("kubectl.feature-gates", "NodeSwap=true"),
            ("kube-apiserver.node-monitor-period", "5s"),
        ] {
            assert!(settings.set(flag, value).is_err(), "{flag}={value}");
        }
        assert_eq!(settings, Settings::default());
        for (flag, value) in [
            ("node-monitor-period", "2s"),
            ("terminated-pod-gc-threshold", "-1"),
            ("kube-controller-manager.node-monitor-grace-period", "1m30s"),
            ("node-eviction-rate", "0"),
            ("node-eviction-rate", "-0.1"),
            ("node-monitor-grace-period", "0s"),
            ("node-startup-grace-period", "-1s"),
            ("max-endpoints-per-slice", "1000"),
            ("endpointslice-updates-batch-period", "0s"),
            ("unhealthy-zone-threshold", "0.3"),
            ("unhealthy-zone-threshold", "1.1"),
            ("large-cluster-size-threshold", "-1"),
            ("default-not-ready-toleration-seconds", "0"),
        ] {
            assert_eq!(settings.set(flag, value), Ok(()), "{flag}={value}");
        }
    }

    #[test]
    fn a_flag_that_is_gone_is_one_of_other_releases() {
        let set = |minor, value| Settings::of(Release::new(minor, 0)).set("pod-eviction-timeout", value);
        assert_eq!(set(26, "1m"), Ok(()));
        assert!(set(26, "0s").is_err());
        let told = "Kubernetes 1.27 has no flag \"pod-eviction-timeout\": it is there before 1.27";
        assert_eq!(set(27, "1m").unwrap_err().to_string(), told);
    }

    #[test]
    fn a_gate_is_off_with_those_that_need_it_from_1_35_on() {
        let of = |minor, text| {
            let mut settings = Settings::of(Release::new(minor, 0));
            let result = settings.set("feature-gates", text);
            assert!(result.is_ok() || settings == Settings::of(Release::new(minor, 0)), "{text}");
            result.map_err(|error| error.to_string())
        };
        assert_eq!(of(34, "GracefulNodeShutdown=false"), Ok(()));
        let told = of(35, "GracefulNodeShutdown=false").unwrap_err();
        let why = "GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: \
            [GracefulNodeShutdown]";
        assert!(told.contains(why), "{told}");
        let all = ["GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority", "WindowsGracefulNodeShutdown"];
        assert_eq!(of(35, &all.map(|gate| alloc::format!("{gate}=false")).join(",")), Ok(()));
    }

    #[test]
    fn a_gate_that_kubernetes_knows_is_no_unknown_one() {
        let mut settings = Settings::of(Release::new(34, 0));
        assert_eq!(settings.set("feature-gates", "WatchList=true,StorageVersionAPI=true"), Ok(()));
        let told = settings.set("feature-gates", "PodSchedulingReadiness=false").unwrap_err().to_string();
        assert!(told.contains("cannot set feature gate PodSchedulingReadiness to false"), "{told}");
        let told = settings.set("feature-gates", "WatchLst=true").unwrap_err().to_string();
        assert!(told.ends_with("unrecognized feature gate: WatchLst: did you mean \"WatchList\"?"), "{told}");
    }

    #[test]
    fn a_gate_switches_the_rows_that_it_drives() {
        let mut settings = Settings::of(Release::new(34, 4));
        settings.set("feature-gates", "PodObservedGenerationTracking=false").unwrap();
        settings.set("kubelet.feature-gates", "MemoryQoS=true").unwrap();
        assert_eq!(settings.value("pod-observed-generation"), Value::Bool(false));
        assert!(settings.is_gate_on("MemoryQoS") && settings.is_gate_on("NodeSwap"));
        assert!(!settings.is_gate_on("PodObservedGenerationTracking") && !settings.is_gate_on("NoSuchGate"));
    }
}
