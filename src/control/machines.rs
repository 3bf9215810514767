//! The calls about machines and what runs on them.

use nodeproof_core::objects::Json;

use super::calls::missing;
use super::route::Call;
use super::{Control, Refusal, Reply};

impl Control {
    pub(super) fn add_machine(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let name = self.power_on(call.body)?;
        self.shown(&name).map(|body| Reply::json(201, body))
    }

    pub(super) fn machines(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let now = self.sim.now();
        Ok(Reply::ok(self.sim.machines().map(|machine| machine.describe(now)).collect()))
    }

    pub(super) fn machine(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        self.shown(&call.names[0]).map(Reply::ok)
    }

    pub(super) fn machine_do(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        self.shown(&call.names[0])?;
        Err(Refusal::not_there("POST machines/NAME/do"))
    }

    pub(super) fn behave(&mut self, _call: &Call<'_>) -> Result<Reply, Refusal> {
        Err(Refusal::not_there("POST pods/NS/NAME/behave"))
    }

    fn shown(&self, name: &str) -> Result<Json, Refusal> {
        let names: Vec<String> = self.sim.machines().map(|machine| machine.name().to_string()).collect();
        let machine = self.sim.machine(name).ok_or_else(|| missing("machine", name, &names))?;
        Ok(machine.describe(self.sim.now()))
    }
}
