//! How the processes in a pod's containers behave: when they start, become ready and crash, and how they react to
//! SIGTERM.
//!
//! Inputs: the body of `POST pods/NS/NAME/behave` or, for clients that only use the Kubernetes API, annotations of the
//! pod: `nodeproof.dev/<container>.stops-after: 5s`.

use alloc::format;
use alloc::string::String;

use jiff::SignedDuration;

use crate::objects::time::parse_duration;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// From the moment at which a container may start until its process runs.
const STARTS_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// From SIGTERM to the end of a process that reacts to it.
const STOPS_AFTER: SignedDuration = SignedDuration::from_secs(1);
/// Prefix of the annotations that say how a Pod's containers behave.
pub const BEHAVIOUR_PREFIX: &str = "nodeproof.dev/";

/// How a process reacts to SIGTERM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopsAfter {
    /// It ends after this long.
    Delay(SignedDuration),
    /// It ignores the signal.
    Never,
}

/// How the process of a container behaves; what is `None` is left at its default.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ContainerBehaviour {
    /// Until the process runs. Default 1 s.
    pub starts_after: Option<SignedDuration>,
    /// From the start until it is ready. Default 0.
    pub ready_after: Option<SignedDuration>,
    /// From SIGTERM to the end. Default 1 s.
    pub stops_after: Option<StopsAfter>,
    /// The exit code of its own end. Default 0 after SIGTERM, 1 after a crash.
    pub exit_code: Option<i64>,
    /// From the start until it ends by itself. Default never.
    pub crashes_after: Option<SignedDuration>,
    /// What it uses, as it was given.
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
        let stops_after = match reader.any("stopsAfter").and_then(Json::as_str) {
            Some("never") => Some(StopsAfter::Never),
            _ => reader.duration("stopsAfter")?.map(StopsAfter::Delay),
        };
        let mut uses = Json::Null;
        if let Some(mut used) = reader.object("uses")? {
            for resource in ["cpu", "memory", "ephemeral-storage", "pids", "swap"] {
                used.quantity(resource)?;
            }
            used.finish()?;
            uses = body.get("uses").clone();
        }
        let process = ContainerBehaviour {
            starts_after: reader.duration("startsAfter")?,
            ready_after: reader.duration("readyAfter")?,
            stops_after,
            exit_code: reader.integer("exitCode", 0, 255)?,
            crashes_after: reader.duration("crashesAfter")?,
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
        let read = |what: &str| annotations.get(&format!("{BEHAVIOUR_PREFIX}{container}.{what}")).as_str();
        let span = |what| read(what).and_then(parse_duration).filter(|span: &SignedDuration| !span.is_negative());
        let stops_after = match read("stops-after") {
            Some("never") => Some(StopsAfter::Never),
            _ => span("stops-after").map(StopsAfter::Delay),
        };
        Self {
            starts_after: span("starts-after"),
            ready_after: span("ready-after"),
            stops_after,
            exit_code: read("exit-code").and_then(|text| text.parse().ok()),
            crashes_after: span("crashes-after"),
            uses: read("uses").map(String::from).and_then(|text| Json::parse(&text).ok()).unwrap_or_default(),
        }
    }

    /// Fills the fields that are `None` from another behaviour.
    pub fn fill(&mut self, other: &Self) {
        self.starts_after = self.starts_after.or(other.starts_after);
        self.ready_after = self.ready_after.or(other.ready_after);
        self.stops_after = self.stops_after.or(other.stops_after);
        self.exit_code = self.exit_code.or(other.exit_code);
        self.crashes_after = self.crashes_after.or(other.crashes_after);
        if self.uses.is_null() {
            self.uses = other.uses.clone();
        }
    }

    /// Returns how long the start takes.
    #[must_use]
    pub fn start_delay(&self) -> SignedDuration {
        self.starts_after.unwrap_or(STARTS_AFTER)
    }

    /// Returns how it reacts to SIGTERM.
    #[must_use]
    pub fn stop(&self) -> StopsAfter {
        self.stops_after.unwrap_or(StopsAfter::Delay(STOPS_AFTER))
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::{ContainerBehaviour, PodBehaviour, StopsAfter};
    use crate::json;

    #[test]
    fn a_call_and_annotations_say_the_same() {
        let called = PodBehaviour::from_json(&json!({"container": "main", "stopsAfter": "5s", "exitCode": 3})).unwrap();
        let annotated = ContainerBehaviour::from_annotations(
            &json!({"nodeproof.dev/main.stops-after": "5s", "nodeproof.dev/main.exit-code": "3",
                "nodeproof.dev/other.ready-after": "1s"}),
            "main",
        );
        assert_eq!(called.process, annotated);
        assert_eq!(annotated.stop(), StopsAfter::Delay(SignedDuration::from_secs(5)));
    }

    #[test]
    fn a_process_may_ignore_sigterm_and_a_duration_needs_its_unit() {
        let never = PodBehaviour::from_json(&json!({"stopsAfter": "never"})).unwrap();
        assert_eq!(never.process.stop(), StopsAfter::Never);
        assert_eq!(PodBehaviour::from_json(&json!({"stopsAfter": "5"})).unwrap_err().field, "stopsAfter");
        assert_eq!(
            PodBehaviour::from_json(&json!({"stopAfter": "5s"})).unwrap_err().did_you_mean.as_deref(),
            Some("stopsAfter")
        );
    }
}
