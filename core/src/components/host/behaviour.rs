//! How the processes in a pod's containers behave: when they start, become ready and crash, and how they react to
//! SIGTERM.
//!
//! Inputs: the body of `POST pods/NS/NAME/behave` or, for clients that only use the Kubernetes API, annotations of the
//! pod: `nodeproof.dev/<container>.stops-after: 5s`.

use alloc::format;
use alloc::string::String;

use jiff::SignedDuration;

use super::usage::{USES, check_uses, fill_uses};
use crate::objects::time::parse_duration;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// From the moment at which a container may start until its process runs.
const STARTS_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// From SIGTERM to the end of a process that reacts to it.
const STOPS_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// From the start of an init container until it ends with success.
const INIT_RUNS: SignedDuration = SignedDuration::from_secs(1);
/// Prefix of the annotations that say how a Pod's containers behave.
pub const BEHAVIOUR_PREFIX: &str = "nodeproof.dev/";

/// When a process does something, if it ever does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// After this long.
    Delay(SignedDuration),
    /// Never.
    Never,
}

impl After {
    /// Returns after how long; `None` for never.
    #[must_use]
    pub const fn delay(self) -> Option<SignedDuration> {
        match self {
            Self::Delay(delay) => Some(delay),
            Self::Never => None,
        }
    }
}

/// How the process of a container behaves; what is `None` is left at its default.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ContainerBehaviour {
    /// Until the process runs. Default 1 s.
    pub starts_after: Option<SignedDuration>,
    /// From the start until it is ready; until then startup and readiness probes fail. Default 0.
    pub ready_after: Option<After>,
    /// From the start until it is not ready any more: its readiness probe fails. Default never.
    pub fails_readiness_after: Option<After>,
    /// From the start until its liveness probe fails. Default never.
    pub fails_liveness_after: Option<After>,
    /// From SIGTERM to the end. Default 1 s.
    pub stops_after: Option<After>,
    /// The exit code of its own end. Default 0 after SIGTERM and for an init container, 1 after a crash.
    pub exit_code: Option<i64>,
    /// From the start until it ends by itself. Default never; of an init container that is no sidecar 1 s.
    pub crashes_after: Option<After>,
    /// What it uses, as it was given; what is not named stays as it was.
    pub uses: Json,
}

/// How one container or all containers of a pod behave.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PodBehaviour {
    /// The container; `None` for all.
    pub container: Option<Text>,
    /// How its process behaves.
    pub process: ContainerBehaviour,
}

impl PodBehaviour {
    /// Reads the body of `POST pods/NS/NAME/behave`.
    ///
    /// # Errors
    /// A field is unknown, or has a value that cannot be.
    pub fn from_json(body: &Json) -> Result<Self, FieldError> {
        let mut reader = FieldReader::new(body, "")?;
        let mut after = |field| -> Result<Option<After>, FieldError> {
            match reader.any(field).and_then(Json::as_str) {
                Some("never") => Ok(Some(After::Never)),
                _ => Ok(reader.duration(field)?.map(After::Delay)),
            }
        };
        let (ready_after, stops_after, crashes_after) =
            (after("readyAfter")?, after("stopsAfter")?, after("crashesAfter")?);
        let (fails_readiness_after, fails_liveness_after) =
            (after("failsReadinessAfter")?, after("failsLivenessAfter")?);
        let mut uses = Json::Null;
        if let Some(used) = reader.object("uses")? {
            check_uses(used)?;
            uses = body.get("uses").clone();
        }
        let process = ContainerBehaviour {
            starts_after: reader.duration("startsAfter")?,
            ready_after,
            fails_readiness_after,
            fails_liveness_after,
            stops_after,
            exit_code: reader.integer("exitCode", 0, 255)?,
            crashes_after,
            uses,
        };
        let container = reader.text("container")?.cloned();
        reader.finish()?;
        Ok(Self { container, process })
    }
}

impl ContainerBehaviour {
    /// Reads the annotations of a pod about one of its containers; values that cannot be read are ignored.
    #[must_use]
    pub fn from_annotations(annotations: &Json, container: &str) -> Self {
        // Most pods have none, and each look at a container asks.
        if !annotations.fields().any(|(name, _)| name.starts_with(BEHAVIOUR_PREFIX)) {
            return Self::default();
        }
        let read = |what: &str| annotations.get(&format!("{BEHAVIOUR_PREFIX}{container}.{what}")).as_str();
        let span = |what| read(what).and_then(parse_duration).filter(|span: &SignedDuration| !span.is_negative());
        let after = |what| match read(what) {
            Some("never") => Some(After::Never),
            _ => span(what).map(After::Delay),
        };
        Self {
            starts_after: span("starts-after"),
            ready_after: after("ready-after"),
            fails_readiness_after: after("fails-readiness-after"),
            fails_liveness_after: after("fails-liveness-after"),
            stops_after: after("stops-after"),
            exit_code: read("exit-code").and_then(|text| text.parse().ok()),
            crashes_after: after("crashes-after"),
            uses: uses_from_annotations(annotations, container),
        }
    }

    /// Fills the fields that are `None` from another behaviour.
    pub fn fill(&mut self, other: &Self) {
        self.starts_after = self.starts_after.or(other.starts_after);
        self.ready_after = self.ready_after.or(other.ready_after);
        self.fails_readiness_after = self.fails_readiness_after.or(other.fails_readiness_after);
        self.fails_liveness_after = self.fails_liveness_after.or(other.fails_liveness_after);
        self.stops_after = self.stops_after.or(other.stops_after);
        self.exit_code = self.exit_code.or(other.exit_code);
        self.crashes_after = self.crashes_after.or(other.crashes_after);
        if self.uses.is_null() {
            self.uses = other.uses.clone();
        } else {
            fill_uses(&mut self.uses, &other.uses);
        }
    }

    /// Returns how long the start takes.
    #[must_use]
    pub fn start_delay(&self) -> SignedDuration {
        self.starts_after.unwrap_or(STARTS_AFTER)
    }

    /// Returns how long it takes from its start until it is ready; `None` if it never is.
    #[must_use]
    pub fn ready_delay(&self) -> Option<SignedDuration> {
        self.ready_after.map_or(Some(SignedDuration::ZERO), After::delay)
    }

    /// Returns after what time it ends by itself, and with which exit code.
    #[must_use]
    pub fn own_end(&self, is_init: bool) -> Option<(SignedDuration, i64)> {
        match self.crashes_after {
            Some(after) => after.delay().map(|after| (after, self.exit_code.unwrap_or(1))),
            None => is_init.then(|| (INIT_RUNS, self.exit_code.unwrap_or(0))),
        }
    }

    /// Returns how it reacts to SIGTERM.
    #[must_use]
    pub fn stop(&self) -> After {
        self.stops_after.unwrap_or(After::Delay(STOPS_AFTER))
    }
}

/// Reads `nodeproof.dev/<container>.uses`, an object in JSON, and `nodeproof.dev/<container>.uses.<resource>`, which is
/// stronger; for a volume `nodeproof.dev/<container>.uses.volumes.<name>`.
fn uses_from_annotations(annotations: &Json, container: &str) -> Json {
    let prefix = format!("{BEHAVIOUR_PREFIX}{container}.uses");
    let mut told = Json::Null;
    for (name, value) in annotations.fields() {
        let Some(resource) = name.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('.')) else {
            continue;
        };
        match resource.strip_prefix("volumes.") {
            Some(volume) => told.set(&["volumes", volume], value.clone()),
            None if USES.contains(&resource) => told.set(&[resource], value.clone()),
            None => {}
        }
    }
    let whole = annotations.get(&prefix).as_str().map(String::from).and_then(|text| Json::parse(&text).ok());
    match whole.filter(Json::is_object) {
        Some(whole) if told.is_null() => whole,
        Some(whole) => {
            fill_uses(&mut told, &whole);
            told
        }
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::{After, ContainerBehaviour, PodBehaviour};
    use crate::json;

    #[test]
    fn a_call_and_annotations_say_the_same() {
        let called = PodBehaviour::from_json(&json!({"container": "main", "stopsAfter": "5s", "exitCode": 3,
            "failsLivenessAfter": "never"}))
        .unwrap();
        let annotated = ContainerBehaviour::from_annotations(
            &json!({"nodeproof.dev/main.stops-after": "5s", "nodeproof.dev/main.exit-code": "3",
                "nodeproof.dev/main.fails-liveness-after": "never", "nodeproof.dev/other.ready-after": "1s"}),
            "main",
        );
        assert_eq!(called.process, annotated);
        assert_eq!(annotated.stop(), After::Delay(SignedDuration::from_secs(5)));
    }

    #[test]
    fn what_a_container_uses_is_told_whole_or_by_resource() {
        let annotations = json!({"nodeproof.dev/main.uses": "{\"memory\": \"1Gi\", \"pids\": 3}",
            "nodeproof.dev/main.uses.memory": "2Gi", "nodeproof.dev/main.uses.volumes.data": "5Mi",
            "nodeproof.dev/main2.uses.memory": "9Gi", "nodeproof.dev/main.uses.unknown": "1"});
        let told = ContainerBehaviour::from_annotations(&annotations, "main").uses;
        assert_eq!(told, json!({"memory": "2Gi", "pids": 3, "volumes": {"data": "5Mi"}}));
        for (body, field) in [
            (json!({"uses": {"memory": "-1"}}), "uses.memory"),
            (json!({"uses": {"pids": "1.5"}}), "uses.pids"),
            (json!({"uses": {"memroy": "1"}}), "uses.memroy"),
            (json!({"uses": {"volumes": {"a": "x"}}}), "uses.volumes.a"),
        ] {
            assert_eq!(PodBehaviour::from_json(&body).unwrap_err().field, field);
        }
    }

    #[test]
    fn a_process_may_ignore_sigterm_and_a_duration_needs_its_unit() {
        let never = PodBehaviour::from_json(&json!({"stopsAfter": "never"})).unwrap();
        assert_eq!(never.process.stop(), After::Never);
        assert_eq!(PodBehaviour::from_json(&json!({"stopsAfter": "5"})).unwrap_err().field, "stopsAfter");
        assert_eq!(
            PodBehaviour::from_json(&json!({"stopAfter": "5s"})).unwrap_err().did_you_mean.as_deref(),
            Some("stopsAfter")
        );
    }
}
