//! The calls about the cloud: `PUT` and `DELETE cloud/instances/NAME`, and a look at what there is.
//!
//! The first call that puts an instance makes the cluster one in a cloud: cloud-controller-manager starts.

use nodeproof_core::components::cloud::{CloudAction, Instance};
use nodeproof_core::objects::{Json, Text};

use super::calls::missing;
use super::route::Call;
use super::{Control, Refusal, Reply};

impl Control {
    pub(super) fn put_instance(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let none = Json::object();
        let instance = Instance::from_json(if call.body.is_null() { &none } else { call.body })?;
        let shown = shown(&call.names[0], &instance);
        self.sim.cloud_do(CloudAction::Put(Text::from(call.names[0].as_str()), Box::new(instance)));
        self.sim.finish_instant();
        Ok(Reply::ok(shown))
    }

    pub(super) fn remove_instance(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        let removed = self.instance(call)?;
        self.sim.cloud_do(CloudAction::Remove(Text::from(call.names[0].as_str())));
        self.sim.finish_instant();
        Ok(removed)
    }

    pub(super) fn instance(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = &call.names[0];
        match self.sim.cloud().instance(name) {
            Some(instance) => Ok(Reply::ok(shown(name, instance))),
            None => {
                let names: Vec<String> = self.sim.cloud().names().map(|own| own.as_str().to_owned()).collect();
                Err(missing("instance", name, &names))
            }
        }
    }
}

fn shown(name: &str, instance: &Instance) -> Json {
    let mut shown = instance.json();
    shown.set(&["name"], name);
    shown
}
