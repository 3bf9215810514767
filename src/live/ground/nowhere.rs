//! The ground of a backend that is not to be had: every scenario is skipped, with the reason.

use nodeproof_core::scenario::Capabilities;

use super::{Ground, Plan, Siting};

/// A backend that is not to be had.
#[derive(Debug, Clone)]
pub struct Nowhere {
    why: String,
}

impl Nowhere {
    /// Says why the backend is not to be had, and what would help.
    #[must_use]
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl Ground for Nowhere {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new()
    }

    fn obstacle(&self, _plan: &Plan) -> Option<String> {
        Some(self.why.clone())
    }

    fn site<'a>(&'a self, _plan: &'a Plan) -> Siting<'a> {
        Box::pin(async { Err(self.why.clone().into()) })
    }
}
