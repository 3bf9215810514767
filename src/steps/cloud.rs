//! Sentences about the cloud that a cluster runs in: its instances, and what becomes of them.
//!
//! An instance is described as in `PUT cloud/instances/NAME` of the control interface. Each change says the whole
//! instance anew, so the draft remembers what was said of it before.

use cucumber::{given, when};
use gherkin::Step;
use nodeproof_core::components::cloud::{CloudAction, Instance};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::Action;

use super::draft::Draft;
use super::words;

/// The cluster runs in a cloud, so that cloud-controller-manager runs, with these instances or none. The first row of
/// the table names the fields, as `PUT cloud/instances/NAME` has them, `name` among them; an empty cell says nothing.
#[given(regex = r"^a cloud(?P<with> with the instances:)?$")]
fn a_cloud(draft: &mut Draft, with: String, step: &Step) {
    draft.action(Action::Cloud(CloudAction::Appear));
    if with.is_empty() {
        return;
    }
    let rows = step.table.as_ref().map(|table| table.rows.as_slice()).unwrap_or_default();
    let (Some(heading), false) = (rows.first(), rows.len() < 2) else {
        let help = vec!["| name     | zone | type     |".to_owned(), "| worker-1 | a    | m5.large |".to_owned()];
        return draft.problem_with("", "the table of instances is missing".to_owned(), help);
    };
    for (number, row) in rows.iter().enumerate().skip(1) {
        let mut body = Json::object();
        let mut name = "";
        for (field, cell) in heading.iter().zip(row) {
            match field.as_str() {
                "name" => name = cell,
                _ if cell.is_empty() => {}
                _ => set(&mut body, field, cell),
            }
        }
        if name.is_empty() {
            draft.problem_in_row(number, None, "an instance has a name".to_owned(), Vec::new());
        } else {
            draft.put_instance(name, body);
        }
    }
}

/// The cloud changes an instance, or gets one: a row for each field of `PUT cloud/instances/NAME`; the others stay as
/// they were. `errors.instanceExists` and the like say what calls are answered with. With `is gone` it has the instance
/// no more.
#[given(regex = r#"^the cloud's instance "(?P<name>[^"]*)" (?P<what>is gone|becomes:)$"#)]
#[when(regex = r#"^the cloud's instance "(?P<name>[^"]*)" (?P<what>is gone|becomes:)$"#)]
fn instance_becomes(draft: &mut Draft, name: String, what: String, step: &Step) {
    if what == "is gone" {
        if draft.instances.remove(&name).is_none() {
            let known: Vec<String> = draft.instances.keys().cloned().collect();
            let help =
                if known.is_empty() { Vec::new() } else { vec![format!("the instances are {}", known.join(", "))] };
            return draft.problem_with(&name, format!("the cloud has no instance {name:?}"), help);
        }
        return draft.action(Action::Cloud(CloudAction::Remove(Text::from(name))));
    }
    let mut body = draft.instances.get(&name).cloned().unwrap_or_default();
    body = if body.is_null() { Json::object() } else { body };
    for (_, field, value) in draft.flag_rows(step) {
        set(&mut body, &field, &value);
    }
    draft.put_instance(&name, body);
}

/// Sets a field, or a part of one behind a dot; an empty value takes it away.
fn set(body: &mut Json, field: &str, value: &str) {
    let (outer, inner) = field.split_once('.').unwrap_or((field, ""));
    let path: Vec<&str> = [outer, inner].into_iter().filter(|part| !part.is_empty()).collect();
    if value.is_empty() {
        body.remove(&path);
    } else {
        let is_text = matches!(outer, "providerID" | "type" | "zone" | "region" | "labels" | "errors" | "delay");
        body.set(&path, if is_text && !inner.is_empty() { Json::text(value) } else { words::value(value) });
    }
}

impl Draft {
    fn put_instance(&mut self, name: &str, body: Json) {
        let Some(instance) = self.field(Instance::from_json(&body)) else { return };
        self.instances.insert(name.to_owned(), body);
        self.action(Action::Cloud(CloudAction::Put(Text::from(name), Box::new(instance))));
    }
}
