//! How a cluster of the control interface begins: release, flags, seed, start and what is in it.

use jiff::Timestamp;
use nodeproof_core::json;
use nodeproof_core::objects::{FieldError, Json, Reader};
use nodeproof_core::profile::{ROWS, Release, Settings, SettingsError, Value};
use nodeproof_core::sim::{DEFAULT_START, Options};

/// How a cluster begins.
#[derive(Clone, Debug)]
pub struct Setup {
    release: Release,
    seed: u64,
    start: Timestamp,
    /// Flags with their values, in the order in which they were given.
    flags: Vec<(String, String)>,
    settings: Settings,
    /// Machines and objects: `{"machines": [...], "objects": [...]}`.
    cluster: Json,
}

impl Default for Setup {
    fn default() -> Self {
        let settings = Settings::default();
        Self {
            release: settings.profile().release(),
            seed: Options::default().seed,
            start: DEFAULT_START,
            flags: Vec::new(),
            settings,
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
        let mut settings = Settings::of(release);
        for (flag, value) in &flags {
            settings.set(flag, value).map_err(|error| about_flag(flag, error))?;
        }
        let mut reader = Reader::new(&cluster, "cluster")?;
        reader.list("machines")?;
        reader.list("objects")?;
        reader.finish()?;
        Ok(Self { release, seed, start, flags, settings, cluster })
    }

    /// Reads the body of `POST reset` over this set-up: what is left out stays, and flags are added.
    ///
    /// # Errors
    /// As for [`Self::new`], and for a release, seed or start that cannot be had.
    pub fn changed(&self, body: &Json) -> Result<Self, FieldError> {
        let mut reader = Reader::new(body, "")?;
        let release = match reader.text("k8s")? {
            Some(text) => text.parse::<Release>().map_err(|error| reader.error("k8s", error.to_string()))?,
            None => self.release,
        };
        let seed = reader.integer("seed", 0, i64::MAX)?.map_or(self.seed, i64::unsigned_abs);
        let start = reader.instant("start")?.unwrap_or(self.start);
        let mut flags = self.flags.clone();
        let settings = reader.any("settings").cloned().unwrap_or_else(Json::object);
        Reader::new(&settings, "settings")?;
        for (flag, value) in settings.fields() {
            let value = match value {
                Json::Str(text) => text.to_string(),
                Json::Bool(_) | Json::Int(_) | Json::Float(_) => value.to_string(),
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
        let cluster = reader.any("cluster").cloned().unwrap_or_else(|| self.cluster.clone());
        reader.finish()?;
        Self::new(release, seed, start, flags, cluster)
    }

    /// Returns the options of the simulation.
    #[must_use]
    pub fn options(&self) -> Options {
        Options { settings: self.settings.clone(), seed: self.seed, start: self.start, ..Options::default() }
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
        for row in ROWS {
            let Some(default) = row.value_at(profile.release()) else { continue };
            let in_force = self.settings.value(row.name);
            let mut entry = json!({
                "value": shown(in_force), "default": shown(default), "set": in_force != default,
                "says": row.says, "source": row.source,
            });
            if let Some((since, _)) = row.values.iter().rev().find(|(since, _)| *since <= profile.release()) {
                entry.set(&["since"], since.to_string());
            }
            let place = if row.flag.is_empty() { &mut behaviours } else { &mut flags };
            place.set(&[if row.flag.is_empty() { row.name } else { row.flag }], entry);
        }
        let mut json = json!({"profile": profile.release().to_string(), "seed": self.seed});
        json.set(&["start"], nodeproof_core::objects::time::to_micro_time(self.start));
        json.set(&["flags"], flags);
        json.set(&["behaviours"], behaviours);
        json
    }
}

/// Returns a row's value as JSON: durations as text.
#[must_use]
pub(crate) fn shown(value: Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(value),
        Value::Duration(duration) => Json::from(nodeproof_core::objects::time::exact_seconds(duration)),
        Value::Number(number) => Json::Float(number),
        Value::Text(text) => Json::from(text),
    }
}

fn about_flag(flag: &str, error: SettingsError) -> FieldError {
    let mut about = FieldError::new(format!("settings.{flag}"), error.to_string());
    if let SettingsError::UnknownFlag { did_you_mean, .. } = error {
        let names = ROWS.iter().filter(|row| !row.flag.is_empty()).flat_map(|row| {
            let short = row.flag.split_once('.').map_or(row.flag, |(_, short)| short);
            [row.flag, short]
        });
        about.did_you_mean = did_you_mean.or_else(|| nodeproof_core::objects::nearest(flag, names).map(String::from));
        about.message = format!("unknown flag {flag:?}");
    }
    about
}
