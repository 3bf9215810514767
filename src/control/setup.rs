//! The set-up of a cluster of the control interface: release, flags, seed, start, machines and objects.
//!
//! Inputs: command line options, or the body of `POST reset`. Output: a checked [`Setup`], or the field that is wrong.

use std::sync::Arc;

use jiff::Timestamp;
use nodeproof_core::components::api_server::Egress;
use nodeproof_core::components::api_server::plugins::Plugins;
use nodeproof_core::components::host::{FLAGS, check_field_names, read_flag};
use nodeproof_core::components::kubelet::config::{KubeletConfig, settings_of};
use nodeproof_core::components::machine::{KubeletSpec, MachineSpec};
use nodeproof_core::components::node_ipam;
use nodeproof_core::components::registry::{CONTROLLERS, enabled, processes_without_cloud};
use nodeproof_core::json;
use nodeproof_core::objects::{FieldError, FieldReader, Json, NOT_MODELLED, Text, nearest};
use nodeproof_core::profile::{Release, Row, Settings, SettingsError, Value, gates, rows};
use nodeproof_core::sim::{DEFAULT_START, SimulationOptions};

/// The first and the last instant that a simulation may reach. Instants that components compute from them do not
/// overflow.
const EARLIEST: Timestamp = Timestamp::UNIX_EPOCH;
pub(super) const LATEST: Timestamp = Timestamp::constant(95_617_584_000, 0);

/// The set-up of a cluster.
#[derive(Clone, Debug)]
pub struct Setup {
    release: Release,
    seed: u64,
    start: Timestamp,
    /// Flags with their values, in the order in which they were given.
    flags: Vec<(String, String)>,
    settings: Settings,
    /// The controllers that start with the control plane.
    controllers: Vec<&'static str>,
    /// Machines and objects: `{"machines": [...], "objects": [...]}`.
    cluster: Json,
}

impl Default for Setup {
    fn default() -> Self {
        let settings = Settings::default();
        Self {
            release: settings.profile().release(),
            seed: SimulationOptions::default().seed,
            start: DEFAULT_START,
            flags: Vec::new(),
            settings,
            controllers: processes_without_cloud().collect(),
            cluster: Json::object(),
        }
    }
}

impl Setup {
    /// Makes a set-up; flags are `[COMPONENT.]FLAG` with their values.
    ///
    /// # Errors
    /// A flag is unknown, a value does not fit, or the cluster is not `{"machines"?: [...], "objects"?: [...]}`.
    pub fn new(
        release: Release,
        seed: u64,
        start: Timestamp,
        flags: Vec<(String, String)>,
        cluster: Json,
    ) -> Result<Self, FieldError> {
        if start < EARLIEST || start > LATEST {
            let message = format!("an instant from {EARLIEST} to {LATEST} is needed, not {start}");
            return Err(FieldError::new("start", message));
        }
        let mut settings = Settings::of(release);
        let mut controllers: Vec<&'static str> = processes_without_cloud().collect();
        let any_machine = MachineSpec { name: Text::of("machine"), ..MachineSpec::default() };
        for (flag, value) in &flags {
            let field = || format!("settings.{flag}");
            if matches!(flag.as_str(), "controllers" | "kube-controller-manager.controllers") {
                controllers = enabled(value).map_err(|error| FieldError::new(field(), error))?;
                controllers.extend(processes_without_cloud().filter(|name| !CONTROLLERS.contains(name)));
            } else if let Some(flag) = kubelet_flag(flag) {
                if flag.contains(char::is_uppercase) {
                    let mut config = Json::object();
                    config.set(&[flag], Json::parse(value).unwrap_or_else(|_| Json::from(value.as_str())));
                    check_field_names(&config, "settings.kubelet")?;
                    settings.set_kubelet_field(Text::from(flag), config.get(flag).clone());
                } else {
                    let (flag, value) = read_flag(&Text::from(flag), &Json::from(value.as_str()), "settings.kubelet")?;
                    settings.set_kubelet_flag(flag, value);
                }
                let config = KubeletConfig::resolve(&any_machine, &KubeletSpec::default(), &settings);
                let config = config.map_err(|error| FieldError::new(field(), error))?;
                all_modelled(config.not_modelled.into_iter(), field())?;
            } else {
                settings.set(flag, value).map_err(|error| about_flag(flag, error))?;
            }
        }
        all_modelled(settings.not_modelled(), "settings.feature-gates".into())?;
        let unfit = |(flag, why): (&'static str, String)| FieldError::new(format!("settings.{flag}"), why);
        node_ipam::sets(&settings).map_err(unfit)?;
        Plugins::of(&settings).map_err(unfit)?;
        Egress::of(&settings).map_err(unfit)?;
        let mut reader = FieldReader::new(&cluster, "cluster")?;
        reader.list("machines")?;
        reader.list("objects")?;
        reader.finish()?;
        Ok(Self { release, seed, start, flags, settings, controllers, cluster })
    }

    /// Reads the body of `POST reset` over this set-up: what is left out stays, and flags are added.
    ///
    /// # Errors
    /// As for [`Self::new`], and for a release, seed or start that cannot be had.
    pub fn changed(&self, body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let release = match reader.text("k8s")? {
            Some(text) => Release::of_cluster(text).map_err(|error| reader.error("k8s", error.to_string()))?,
            None => self.release,
        };
        let seed = reader.integer("seed", 0, i64::MAX)?.map_or(self.seed, i64::unsigned_abs);
        let start = reader.instant("start")?.unwrap_or(self.start);
        let mut flags = self.flags.clone();
        let settings = reader.any("settings").cloned().unwrap_or_else(Json::object);
        FieldReader::new(&settings, "settings")?;
        for (flag, value) in settings.fields() {
            let value = match value {
                Json::Str(text) => text.to_string(),
                Json::Bool(_) | Json::Int(_) | Json::Float(_) => value.to_string(),
                Json::Object(_) if flag.ends_with("feature-gates") => gates_text(value),
                Json::Array(_) if flag.ends_with("controllers") => {
                    value.items().iter().map(|item| item.as_str().unwrap_or("null")).collect::<Vec<_>>().join(",")
                }
                _ => {
                    return Err(FieldError::new(
                        format!("settings.{flag}"),
                        "a text, a number or a truth value is needed",
                    ));
                }
            };
            flags.retain(|(other, _)| **other != **flag);
            flags.push((flag.to_string(), value));
        }
        let cluster = reader.any("cluster").cloned().unwrap_or_else(Json::object);
        reader.finish()?;
        Self::new(release, seed, start, flags, cluster)
    }

    /// Returns the flags of the control plane, `COMPONENT.FLAG`; feature gates without a component are those of each.
    #[must_use]
    pub fn control_plane_flags(&self) -> Vec<(Text, Text)> {
        const COMPONENTS: [&str; 3] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];
        let mut flags = Vec::new();
        for (flag, value) in self.flags.iter().filter(|(flag, _)| kubelet_flag(flag).is_none()) {
            let value = Text::from(value.as_str());
            if flag == "feature-gates" {
                flags.extend(COMPONENTS.map(|own| (Text::from(format!("{own}.{flag}")), value.clone())));
                continue;
            }
            let is_it = |row: &&Row| row.flag.split_once('.').is_some_and(|(_, short)| short == flag);
            let full = rows().find(is_it).map_or(flag.as_str(), |row| row.flag);
            flags.push((Text::from(full), value));
        }
        flags
    }

    /// Returns the flags with their values, in the order in which they were given.
    #[must_use]
    pub fn flags(&self) -> &[(String, String)] {
        &self.flags
    }

    /// Returns the options of the simulation.
    #[must_use]
    pub fn options(&self) -> SimulationOptions {
        let (settings, controllers) = (self.settings.clone(), self.controllers.clone());
        SimulationOptions {
            settings,
            seed: self.seed,
            start: self.start,
            tracks_managers: true,
            controllers,
            ..SimulationOptions::default()
        }
    }

    /// Checks that what a kubelet is told is modelled; it checks the rest at its start. What is not known of an older
    /// release is told where the machine is shown, unless next to nothing is.
    ///
    /// # Errors
    /// It would accept something whose effect is not modelled.
    pub fn check_kubelet(&self, machine: &MachineSpec, kubelet: &KubeletSpec) -> Result<(), FieldError> {
        let settings = settings_of(kubelet, &Arc::new(self.settings.clone()));
        let config = KubeletConfig::resolve(machine, kubelet, &settings);
        let too_old = settings.profile().release().is_before_kubelets();
        let told = config
            .into_iter()
            .flat_map(|config| config.release_not_modelled.filter(|_| too_old).into_iter().chain(config.not_modelled));
        all_modelled(told, "kubelet".into())
    }

    /// Returns machines and objects that are there from the start.
    #[must_use]
    pub const fn cluster(&self) -> &Json {
        &self.cluster
    }

    /// Returns the JSON of `GET settings`.
    #[must_use]
    pub fn json(&self) -> Json {
        let profile = self.settings.profile();
        let mut flags = Json::object();
        let mut behaviours = Json::object();
        for row in rows() {
            let Some(default) = row.value_at(profile.release()).filter(|value| *value != Value::Gone) else { continue };
            let (in_force, default) = (in_force(&self.settings, row), shown(default));
            let mut entry = json!({
                "value": in_force, "default": default, "set": in_force != default,
                "says": row.says, "source": row.sources(),
            });
            if let Some((since, _)) = row.values().iter().rev().find(|(since, _)| *since <= profile.release()) {
                entry.set(&["since"], since.to_string());
            }
            let place = if row.flag.is_empty() { &mut behaviours } else { &mut flags };
            place.set(&[if row.flag.is_empty() { row.name } else { row.flag }], entry);
        }
        for (flag, field) in FLAGS {
            let own = format!("kubelet.{flag}");
            if flags.get(&own).is_null() {
                let value = self.settings.kubelet_flags().get(*flag).map_or(Json::Null, Json::from);
                let is_set = !value.is_null();
                let mut entry = json!({"source": "cmd/kubelet/app/options/options.go (v1.34)", "set": is_set});
                entry.set(&["value"], value);
                if !field.is_empty() {
                    entry.set(&["field"], *field);
                }
                flags.set(&[own.as_str()], entry);
            }
        }
        let mut json = json!({"profile": profile.release().to_string(), "seed": self.seed});
        json.set(&["controllers"], self.controllers.iter().map(|name| Json::from(*name)).collect::<Json>());
        json.set(&["featureGates"], self.gates_json());
        json.set(&["start"], nodeproof_core::objects::time::to_micro_time(self.start));
        json.set(&["flags"], flags);
        json.set(&["behaviours"], behaviours);
        json
    }

    fn gates_json(&self) -> Json {
        let mut shown = Json::object();
        for gate in gates() {
            let stage = gate.stage_at(self.release);
            let Some(default) = stage.default_value() else { continue };
            let value = self.settings.is_gate_on(gate.name);
            let set = self.settings.gates().contains_key(gate.name);
            let is_modelled = gate.is_modelled();
            let mut entry = json!({"value": value, "default": default, "set": set, "modelled": is_modelled});
            entry.set(&["stage"], if stage.name().is_empty() { "GA" } else { stage.name() });
            shown.set(&[gate.name], entry);
        }
        shown
    }
}

/// Refuses what is not modelled, by name.
fn all_modelled(mut not_modelled: impl Iterator<Item = String>, field: String) -> Result<(), FieldError> {
    not_modelled.next().map_or(Ok(()), |what| Err(FieldError::new(field, format!("{what}{NOT_MODELLED}"))))
}

/// Returns a row's value as JSON: durations as text.
#[must_use]
pub(crate) fn shown(value: Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(value),
        Value::Duration(duration) => Json::from(nodeproof_core::objects::time::exact_seconds(duration)),
        #[expect(clippy::cast_possible_truncation, reason = "counts of flags are small")]
        Value::Number(number) if number.fract() == 0.0 => Json::Int(number as i64),
        Value::Number(number) => Json::Float(number),
        Value::Text(text) => Json::from(text),
        Value::Gone => Json::Null,
    }
}

/// Returns the value in force of a row as JSON.
fn in_force(settings: &Settings, row: &Row) -> Json {
    match settings.value(row.name) {
        Value::Text(_) => Json::from(settings.text(row.name)),
        value => shown(value),
    }
}

/// Finds the kubelet flag that a name means, if it is no row of the profile; `None` for a flag of another component.
fn kubelet_flag(flag: &str) -> Option<&str> {
    let (component, short) = flag.split_once('.').unwrap_or(("", flag));
    let is_row = |row: &nodeproof_core::profile::Row| row.flag.split_once('.').is_some_and(|(_, own)| own == short);
    let is_kubelets = match component {
        "kubelet" => short != "feature-gates" && !rows().any(|row| row.flag == flag),
        "" => FLAGS.iter().any(|(own, _)| *own == short) && !rows().any(is_row),
        _ => false,
    };
    is_kubelets.then_some(short)
}

fn gates_text(gates: &Json) -> String {
    gates.fields().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

fn about_flag(flag: &str, error: SettingsError) -> FieldError {
    let mut about = FieldError::new(format!("settings.{flag}"), error.to_string());
    if let SettingsError::UnknownFlag { did_you_mean, .. } = error {
        let names = rows().filter(|row| !row.flag.is_empty()).flat_map(|row| {
            let short = row.flag.split_once('.').map_or(row.flag, |(_, short)| short);
            [row.flag, short].into_iter().filter(|name| *name != flag)
        });
        let names = names.chain(["feature-gates", "controllers"]).chain(FLAGS.iter().map(|(flag, _)| *flag));
        // A flag that several programs have needs the name of one.
        let has_name = |row: &&Row| row.flag.split_once('.').is_some_and(|(_, short)| short == flag);
        let whole = rows().find(has_name).map(|row| String::from(row.flag));
        about.did_you_mean = whole.or(did_you_mean).or_else(|| nearest(flag, names).map(String::from));
        about.message = format!("unknown flag {flag:?}");
    }
    about
}
