//! A backend that is not available: every scenario is skipped with the reason.

use nodeproof_core::scenario::Capabilities;

use super::{EnvironmentFuture, LiveBackend, ScenarioPlan};

/// A backend that is not available.
#[derive(Debug, Clone)]
pub struct Unavailable {
    why: String,
}

impl Unavailable {
    /// Makes it with the reason and what would help.
    #[must_use]
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl LiveBackend for Unavailable {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    fn obstacle(&self, _plan: &ScenarioPlan) -> Option<String> {
        Some(self.why.clone())
    }

    fn environment<'a>(&'a self, _plan: &'a ScenarioPlan) -> EnvironmentFuture<'a> {
        Box::pin(async { Err(self.why.clone().into()) })
    }
}
