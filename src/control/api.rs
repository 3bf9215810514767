//! Requests of the Kubernetes API, and watches held on it.

use nodeproof_core::objects::{Json, Text};

use super::route::Call;
use super::{Control, Refusal, Reply};

/// What a request of the Kubernetes API says beside its method and path.
#[derive(Debug)]
pub(super) struct Extras<'a> {
    pub(super) identity: Option<&'a Json>,
    pub(super) headers: Option<&'a Json>,
    pub(super) body: Option<&'a Json>,
    pub(super) raw: Option<&'a Text>,
}

impl Control {
    pub(super) fn request(&mut self, method: &str, target: &str, _extras: &Extras<'_>) -> Result<Reply, Refusal> {
        Err(Refusal::not_there(&format!("{method} {target}")))
    }

    pub(super) fn look_at_watch(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        Err(self.no_watch(&call.names[0]))
    }

    pub(super) fn close_watch(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        Err(self.no_watch(&call.names[0]))
    }

    fn no_watch(&self, name: &str) -> Refusal {
        Refusal::new(404, format!("there is no watch {name:?}"))
    }
}
