//! The control interface: a simulated cluster, driven from outside by calls in JSON.
//!
//! A [`Control`] owns one simulation and answers calls: control calls (`POST clock/advance`) and requests of the
//! Kubernetes API (`GET /api/v1/nodes`). [`Session`] offers it as JSON lines. Time passes only within
//! `POST clock/advance`. Every other call is answered at the present instant; what is due at that instant is done
//! before and after it. Invariant: a call that is refused changes nothing.

mod api;
mod calls;
mod clock;
mod cloud;
mod cluster;
mod drains;
#[cfg(feature = "live")]
mod hollow;
mod machines;
mod metrics;
mod rate;
mod reference;
mod route;
#[cfg(feature = "live")]
pub mod serve;
#[cfg(feature = "cli")]
pub mod service;
mod session;
pub(crate) mod setup;
#[cfg(feature = "cli")]
mod streams;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nodeproof_core::components::api_server::Tap;
use nodeproof_core::components::machine::{MachineAction, MachineError};
use nodeproof_core::network::{ClientId, RequestId};
use nodeproof_core::objects::{FieldError, Json, is_not_modelled};
use nodeproof_core::sim::Simulation;

#[cfg(feature = "live")]
pub use hollow::HollowSession;
pub use rate::Rate;
pub use reference::page as reference;
pub use session::Session;
pub use setup::Setup;

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The HTTP status code.
    pub code: u16,
    /// Headers, if the Kubernetes API answered.
    pub headers: Option<Json>,
    /// The name of the watch, if the call opened one.
    pub watch: Option<String>,
    /// The body.
    pub body: Content,
}

/// The body of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// None.
    Empty,
    /// JSON.
    Json(Json),
    /// Text of another media type.
    Raw(String),
    /// Many objects, one a line.
    Lines(Vec<Json>),
}

/// Writes objects one a line.
fn lines(objects: &[Json]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

impl Reply {
    /// Makes a reply with a JSON body.
    #[must_use]
    pub const fn json(code: u16, body: Json) -> Self {
        Self { code, headers: None, watch: None, body: Content::Json(body) }
    }

    /// Makes a successful reply.
    #[must_use]
    pub const fn ok(body: Json) -> Self {
        Self::json(200, body)
    }
}

/// A call that is refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status code: 400 for a mistake, 404 for something that does not exist, 405 for a wrong method, 409 for
    /// a machine that cannot do this now, 422 for a kubelet that refuses to start, 500 for a bug of the simulator, 501
    /// for what is not modelled.
    pub code: u16,
    /// What is wrong.
    pub error: FieldError,
}

impl Refusal {
    /// Refuses with a message that is about no field.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, error: FieldError::new("", message) }
    }

    /// Says that something is not modelled yet.
    #[must_use]
    pub fn not_there(what: &str) -> Self {
        Self::new(501, format!("{what} is not modelled yet"))
    }
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Self {
        let code = if is_not_modelled(&error.message) { 501 } else { 400 };
        Self { code, error }
    }
}

impl From<MachineError> for Refusal {
    fn from(error: MachineError) -> Self {
        let message = error.to_string();
        match error {
            MachineError::Misuse(_) => Self::new(409, message),
            MachineError::KubeletRefuses(_) => Self::new(422, message),
            MachineError::NotModelled(_) => FieldError::new("action", message).into(),
        }
    }
}

impl From<Refusal> for Reply {
    fn from(mut refusal: Refusal) -> Self {
        if refusal.error.field.is_empty() {
            refusal.error.field = String::from("call");
        }
        let mut body = Json::object();
        body.set(&["error"], refusal.error.json());
        Self::json(refusal.code, body)
    }
}

/// A simulated cluster and the watches that are open on it.
#[derive(Debug)]
pub struct Control {
    /// The set-up that the control interface was started with; a reset starts from it.
    initial: Setup,
    /// The set-up in force.
    setup: Setup,
    sim: Simulation,
    /// The watches by number; `None` for one that a reset ended.
    watches: BTreeMap<u64, Option<(ClientId, RequestId)>>,
    last_watch: u64,
    /// How pods behave that were on no machine when it was said: machines that are added learn it too.
    for_later_machines: Vec<MachineAction>,
    /// How fast the clock runs; `None` where nothing moves it but `POST clock/advance`.
    rate: Option<Rate>,
    /// How often the cluster was reset: what was opened before is gone.
    resets: u64,
}

/// Catches a bug of the simulator: after a panic only a reset is accepted.
#[derive(Debug, Default)]
struct PanicGuard {
    broken: bool,
}

impl PanicGuard {
    /// Does something. A panic is answered with 500.
    fn run<T>(&mut self, resets: bool, act: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        if self.broken && !resets {
            return Err(Refusal::new(500, "the simulator met a bug before: only POST reset helps now"));
        }
        let outcome = catch_unwind(AssertUnwindSafe(act));
        self.broken = match &outcome {
            Ok(outcome) => self.broken && outcome.is_err(),
            Err(_) => true,
        };
        outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            Err(Refusal::new(500, format!("the simulator met a bug, please report it: {text}")))
        })
    }
}

impl Control {
    /// Starts a cluster.
    ///
    /// # Errors
    /// A machine or an object of the set-up is refused.
    pub fn new(setup: Setup) -> Result<Self, Refusal> {
        let (sim, initial) = (start(&setup), setup.clone());
        let mut control = Self {
            initial,
            setup,
            sim,
            watches: BTreeMap::new(),
            last_watch: 0,
            for_later_machines: Vec::new(),
            rate: None,
            resets: 0,
        };
        control.populate()?;
        Ok(control)
    }

    /// Returns the simulation.
    #[must_use]
    pub const fn simulation(&self) -> &Simulation {
        &self.sim
    }
}

fn start(setup: &Setup) -> Simulation {
    let mut sim = Simulation::new(setup.options());
    sim.tap(Tap::Everything);
    sim.finish_instant();
    sim
}

#[cfg(test)]
mod tests;
