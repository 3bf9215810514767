//! `nodeproof profiles --diff FROM TO`: what changes for somebody who upgrades, in words, with sources.
//!
//! Inputs: two releases, and the suite. Outputs: behaviours, feature gates, API fields, roles and columns that differ,
//! and the scenarios whose tags say that they hold only from, or up to, a release between the two.

use std::fmt::Write as _;

use nodeproof_core::json;
use nodeproof_core::objects::Json;
use nodeproof_core::profile::releases::{ColumnChange, ReleaseData, after, all};
use nodeproof_core::profile::{GateStage, Release, Settings, Value, gates, rows};

use crate::control::setup::shown;
use crate::harness::Suite;

/// Something that differs.
struct Difference {
    name: String,
    before: String,
    after: String,
    since: String,
    /// What it means; empty if the name says it.
    says: String,
    source: String,
}

/// The differences of two releases.
pub(super) struct Differences {
    from: Release,
    to: Release,
    behaviours: Vec<Difference>,
    gates: Vec<Difference>,
    /// Texts by release: fields, roles, columns.
    api: Vec<(String, String)>,
    scenarios: Vec<(String, String)>,
}

impl Differences {
    /// Compares two releases.
    ///
    /// # Errors
    /// The second is not newer than the first.
    pub(super) fn of(from: Release, to: Release, suite: &Suite) -> Result<Self, String> {
        if to <= from {
            return Err(format!("--diff goes from an older release to a newer one, not from {from} to {to}"));
        }
        Ok(Self {
            from,
            to,
            behaviours: behaviours(from, to),
            gates: gate_changes(from, to),
            api: after(from, to).flat_map(api).collect(),
            scenarios: scenarios(suite, from, to),
        })
    }

    /// Prints them for people.
    pub(super) fn text(&self) -> String {
        let mut text = format!("From Kubernetes {} to {}:\n", self.from, self.to);
        for (heading, all) in [("Behaviours", &self.behaviours), ("Feature gates", &self.gates)] {
            let _ = writeln!(text, "\n{heading}: {}", all.len());
            for one in all {
                let _ = writeln!(text, "  {}: {} -> {} (since {})", one.name, one.before, one.after, one.since);
                for (word, what) in [("", &one.says), ("source ", &one.source)] {
                    if !what.is_empty() {
                        let _ = writeln!(text, "      {word}{what}");
                    }
                }
            }
        }
        let _ = writeln!(text, "\nFields, roles and columns of the API: {}", self.api.len());
        for (release, change) in &self.api {
            let _ = writeln!(text, "  {release}: {change}");
        }
        let _ =
            writeln!(text, "\nScenarios that hold only on one side, or with other limits: {}", self.scenarios.len());
        for (name, tag) in &self.scenarios {
            let _ = writeln!(text, "  {name} ({tag})");
        }
        text
    }

    /// Returns them as JSON.
    pub(super) fn json(&self) -> Json {
        let list = |all: &[Difference]| -> Json {
            let one = |one: &Difference| {
                json!({"name": one.name.as_str(), "from": one.before.as_str(), "to": one.after.as_str(),
                    "since": one.since.as_str(), "says": one.says.as_str(), "source": one.source.as_str()})
            };
            all.iter().map(one).collect()
        };
        let pairs = |names: [&str; 2], all: &[(String, String)]| -> Json {
            let pair = |(one, other): &(String, String)| {
                let mut pair = Json::object();
                pair.set(&[names[0]], one.as_str());
                pair.set(&[names[1]], other.as_str());
                pair
            };
            all.iter().map(pair).collect()
        };
        let mut json = json!({"from": self.from.to_string(), "to": self.to.to_string()});
        json.set(&["behaviours"], list(&self.behaviours));
        json.set(&["featureGates"], list(&self.gates));
        json.set(&["api"], pairs(["since", "change"], &self.api));
        json.set(&["scenarios"], pairs(["name", "tag"], &self.scenarios));
        json
    }
}

fn behaviours(from: Release, to: Release) -> Vec<Difference> {
    let told = |value: Option<Value>| match value {
        None => "not known".to_owned(),
        Some(Value::Gone) => "gone".to_owned(),
        Some(Value::Bool(value)) => if value { "yes" } else { "no" }.to_owned(),
        Some(value) => {
            let value = shown(value);
            value
                .as_str()
                .map_or_else(|| value.to_string(), |text| if text.is_empty() { "\"\"".into() } else { text.into() })
        }
    };
    let changed = rows().filter(|row| row.value_at(from) != row.value_at(to));
    let difference = |row: &nodeproof_core::profile::Row| {
        let since = row.values().iter().rev().find(|(since, _)| *since <= to).map(|(since, _)| since.to_string());
        let flag = if row.flag.is_empty() { String::new() } else { format!(" (flag {})", row.flag) };
        Difference {
            name: row.name.to_owned(),
            before: told(row.value_at(from)),
            after: told(row.value_at(to)),
            since: since.unwrap_or_default(),
            says: format!("{}{flag}", row.says),
            source: row.sources(),
        }
    };
    changed.map(difference).collect()
}

fn gate_changes(from: Release, to: Release) -> Vec<Difference> {
    let told = |stage: GateStage| {
        let default = match stage.default_value() {
            None => return "no such gate".to_owned(),
            Some(on) => {
                if on {
                    "on"
                } else {
                    "off"
                }
            }
        };
        match (stage.name(), stage) {
            ("", GateStage::Stable { locked: true }) => "GA, locked on".to_owned(),
            (name, GateStage::Retired(_)) => format!("{}, locked {default}", name.to_lowercase()),
            ("", _) => format!("GA, {default}"),
            (name, _) => format!("{}, {default}", name.to_lowercase()),
        }
    };
    let since = |name: &str| {
        let changes = all().iter().flat_map(|data| data.gates);
        let mut own = changes.filter(|change| change.gate == name && change.since <= to);
        own.next_back().map(|change| change.since.to_string())
    };
    let changed = gates().filter(|gate| gate.stage_at(from) != gate.stage_at(to));
    let difference = |gate: nodeproof_core::profile::Gate| Difference {
        name: gate.name.to_owned(),
        before: told(gate.stage_at(from)),
        after: told(gate.stage_at(to)),
        since: since(gate.name).unwrap_or_default(),
        says: if gate.is_modelled() { String::new() } else { "its feature is not modelled".to_owned() },
        source: String::new(),
    };
    changed.map(difference).collect()
}

/// Returns what a release changes of the API's types, roles and tables.
fn api(data: &'static ReleaseData) -> Vec<(String, String)> {
    let release = data.minor_name();
    let mut changes: Vec<String> = Vec::new();
    changes.extend(data.fields.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("type {line}")));
    changes.extend(data.roles.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("role {line}")));
    changes.extend(data.columns.iter().map(|change| match change {
        ColumnChange::Added(table, column) => format!("table of {table}: + {}", column.name),
        ColumnChange::Described(table, column, _) => format!("table of {table}: {column} has another description"),
        ColumnChange::Gone(table, column) => format!("table of {table}: - {column}"),
        ColumnChange::Last(table, column) => format!("table of {table}: {column} is the last"),
    }));
    changes.into_iter().map(|change| (release.clone(), change)).collect()
}

/// Finds the scenarios that apply to one of the releases and not to the other, and those whose limits move with the
/// grace period where it differs.
fn scenarios(suite: &Suite, from: Release, to: Release) -> Vec<(String, String)> {
    let grace_period = |release| Settings::of(release).duration("node-monitor-grace-period");
    let moves = grace_period(from) != grace_period(to);
    let one_side = suite.planned.iter().filter_map(|planned| {
        let tags = planned.tags();
        match (tags.other_release(from), tags.other_release(to)) {
            (Some(why), None) | (None, Some(why)) => {
                let why = why.split(", and this is").next().unwrap_or_default().to_owned();
                Some((planned.name.clone(), why))
            }
            (None, None) if moves && planned.compiled.scenario.expectations().any(|line| line.in_grace.to) => {
                Some((planned.name.clone(), "its limits move with the grace period".to_owned()))
            }
            _ => None,
        }
    });
    one_side.collect()
}

#[cfg(test)]
mod tests {
    use nodeproof_core::profile::{RELEASES, Release};

    use super::Differences;
    use crate::harness::{Suite, SuitePaths};

    #[test]
    fn neighbours_differ_and_each_change_has_its_release() {
        let suite = Suite::default();
        for pair in RELEASES.windows(2) {
            let found = Differences::of(pair[0], pair[1], &suite).unwrap();
            assert!(!found.behaviours.is_empty() && !found.gates.is_empty(), "{pair:?}");
            for one in found.behaviours.iter().chain(&found.gates) {
                assert!(one.before != one.after && !one.since.is_empty(), "{pair:?}: {}", one.name);
            }
            assert!(found.behaviours.iter().all(|one| !one.source.is_empty() && !one.says.is_empty()), "{pair:?}");
        }
        let [oldest, .., newest] = RELEASES;
        let error = Differences::of(newest, oldest, &suite).err().unwrap();
        assert!(error.contains("from an older release to a newer one"), "{error}");
    }

    #[test]
    fn the_grace_period_is_told_in_words_and_by_its_scenarios() {
        let suite = Suite::load(&SuitePaths::default());
        let text = Differences::of(Release::new(31, 0), Release::new(32, 0), &suite).unwrap().text();
        assert!(text.contains("  node-monitor-grace-period: 40s -> 50s (since 1.32.0)\n      how long"), "{text}");
        let moves = "the_kubelet_is_killed_and_stays_away_up_to_1_33 (its limits move with the grace period)\n";
        assert!(text.contains(moves), "{text}");
        assert!(text.contains("up_to_1_31_the_end_is_written_into_the_metric_of_the_start (until 1.31)\n"), "{text}");
    }
}
