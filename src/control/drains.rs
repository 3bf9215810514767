//! The calls about commands of kubectl: `drain`, which goes on while time passes, and `describe node`.

use nodeproof_core::components::drain::{Drain, DrainCommand};
use nodeproof_core::json;
use nodeproof_core::objects::{FieldError, FieldReader, Json, Text};
use nodeproof_core::scenario::Observation;

use super::calls::missing;
use super::route::Call;
use super::{Control, Refusal, Reply};

impl Control {
    /// Starts `kubectl drain` of a Node with `"flags"`, and of others in `"also"`.
    pub(super) fn drain(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let mut nodes = vec![Text::from(call.names[0].as_str())];
        let none = Json::object();
        let mut reader = FieldReader::new(if call.body.is_null() { &none } else { call.body }, "")?;
        for (at, node) in reader.list("also")?.unwrap_or_default().iter().enumerate() {
            let node = node.as_text().filter(|node| !node.is_empty());
            nodes.push(node.cloned().ok_or_else(|| reader.error(&format!("also[{at}]"), "a string is needed"))?);
        }
        let flags = reader.any("flags").cloned().unwrap_or_else(Json::object);
        reader.finish()?;
        FieldReader::new(&flags, "flags")?;
        let mut command = DrainCommand::of(nodes);
        for (flag, value) in flags.fields() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            command.set(flag, &value).map_err(|message| FieldError::new(format!("flags.{flag}"), message))?;
        }
        let number = self.sim.drain(command);
        self.sim.finish_instant();
        let drain = self.sim.drains().nth(number - 1);
        Ok(Reply::json(201, drain.map_or(Json::Null, |drain| shown(number, drain))))
    }

    /// Returns what `kubectl describe node` prints of a Node now, and its exit code.
    pub(super) fn describe(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        if !call.body.is_null() {
            return Err(FieldError::new("body", "this call takes no body").into());
        }
        let mut shown = json!({"printed": [], "exit": null});
        let mut printed = Vec::new();
        for observation in self.sim.describe_nodes(&[Text::from(call.names[0].as_str())]) {
            match observation {
                Observation::Printed(line) => printed.push(Json::from(line)),
                Observation::Exited(code) => shown.set(&["exit"], i64::from(code)),
                _ => {}
            }
        }
        shown.set(&["printed"], printed);
        Ok(Reply::ok(shown))
    }

    /// Returns what a drain has printed so far, and its exit code once it has ended.
    pub(super) fn drain_so_far(&mut self, call: &Call<'_>) -> Result<Reply, Refusal> {
        call.parameters(&[])?;
        let found = self.sim.drains().enumerate().find(|(at, _)| name(at + 1) == call.names[0]);
        let Some((at, drain)) = found else {
            let names: Vec<String> = (1..=self.sim.drains().count()).map(name).collect();
            return Err(missing("drain", &call.names[0], &names));
        };
        Ok(Reply::ok(shown(at + 1, drain)))
    }
}

fn name(number: usize) -> String {
    format!("drain-{number}")
}

fn shown(number: usize, drain: &Drain) -> Json {
    let mut shown = json!({"id": name(number)});
    shown.set(&["printed"], drain.printed().iter().map(|line| Json::from(line.as_str())).collect::<Json>());
    shown.set(&["exit"], drain.exit().map_or(Json::Null, |code| Json::from(i64::from(code))));
    shown
}
