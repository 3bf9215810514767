//! Sentences about what follows an action. An `{object}` is `Node "…"`, `Pod "…"` or `the Lease of Node "…"`; in
//! sentences about conditions, fields, Events and snapshots also any other kind with a name, as `Deployment "…"`, or
//! `the EndpointSlice of Service "…"`; a `{bound}` is `within 60s`, `between 40s and 55s`, `at 60s`, `at 60s after …`,
//! `between 10s and 11s after …`, `after …` or `at once`; `{for}` is `for 25s`.

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use nodeproof_core::network::{NODES, PODS, kind_of};
use nodeproof_core::objects::{ObjectKey, Text};
use nodeproof_core::scenario::{Bound, Cost, FieldTest, ObjectRef, Predicate, SnapshotKind, Subject};

use super::draft::Draft;
use super::words;

/// A condition becomes this; `reason` and `message` are compared whole where they are named. In a Given or When the
/// scenario waits for it.
#[given(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*") has condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?(?P<bound>,? .*)?$"#
)]
#[when(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*") has condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*") has condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?(?P<bound>,? .*)?$"#
)]
fn has_condition(draft: &mut Draft, object: String, condition: String, reason: String, message: String, bound: String) {
    let predicate = draft.condition(&condition, &reason, &message);
    draft.object_becomes(&object, predicate, &bound);
}

/// A condition is and stays this, or stays as it was at the start of the act: `keeps condition Ready unchanged for
/// 60s`.
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*") keeps condition (?P<condition>[^ ,]+)(?P<unchanged> unchanged)?(?:, reason "(?P<reason>[^"]*)")?(?P<for>,? .*)?$"#
)]
fn keeps_condition(
    draft: &mut Draft,
    object: String,
    condition: String,
    unchanged: String,
    reason: String,
    bound: String,
) {
    let predicate = if unchanged.is_empty() {
        draft.condition(&condition, &reason, "")
    } else {
        let path = nodeproof_core::objects::Path::of(&["status", "conditions"]).item(condition.as_str());
        Some(Predicate::Field { path, test: FieldTest::Unchanged })
    };
    draft.object_lasts(&object, predicate, &bound);
}

/// A condition is never this.
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*") never has condition (?P<condition>[^ ,]+)(?:, reason "(?P<reason>[^"]*)")?(?P<for>,? .*)?$"#
)]
fn never_condition(draft: &mut Draft, object: String, condition: String, reason: String, bound: String) {
    let predicate = draft.condition(&condition, &reason, "").map(Predicate::negated);
    draft.object_lasts(&object, predicate, &bound);
}

/// A taint, `key[=value]:Effect`, is there, or is not; in a Given or When the scenario waits for it.
#[given(regex = r#"^(?P<object>Node "[^"]*") has (?P<no>no )?taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#)]
#[when(regex = r#"^(?P<object>Node "[^"]*") has (?P<no>no )?taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#)]
#[then(regex = r#"^(?P<object>Node "[^"]*") has (?P<no>no )?taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#)]
fn has_taint(draft: &mut Draft, object: String, no: String, taint: String, bound: String) {
    let predicate = draft.take(&taint, words::taint(&taint)).map(Predicate::Taint);
    draft.object_becomes(&object, unless(!no.is_empty(), predicate), &bound);
}

/// A taint is there all the time, where the Node comes later from its first object on; or at no time.
#[then(regex = r#"^(?P<object>Node "[^"]*") (?P<how>keeps|never has) taint "(?P<taint>[^"]*)"(?P<for>,? .*)?$"#)]
fn keeps_taint(draft: &mut Draft, object: String, how: String, taint: String, bound: String) {
    let predicate = draft.take(&taint, words::taint(&taint)).map(Predicate::Taint);
    draft.object_lasts(&object, unless(how == "never has", predicate), &bound);
}

/// A label, `key=value` or `key` with any value, is there, or is not.
#[then(regex = r#"^(?P<object>(?:Node|Pod) "[^"]*") has (?P<no>no )?label "(?P<label>[^"]*)"(?P<bound>,? .*)?$"#)]
fn has_label(draft: &mut Draft, object: String, no: String, label: String, bound: String) {
    let predicate = draft.label(&label);
    draft.object_becomes(&object, unless(!no.is_empty(), predicate), &bound);
}

/// A label is there all the time, where the object comes later from its first version on; or at no time.
#[then(
    regex = r#"^(?P<object>(?:Node|Pod) "[^"]*") (?P<how>keeps|never has) label "(?P<label>[^"]*)"(?P<for>,? .*)?$"#
)]
fn keeps_label(draft: &mut Draft, object: String, how: String, label: String, bound: String) {
    let predicate = draft.label(&label);
    draft.object_lasts(&object, unless(how == "never has", predicate), &bound);
}

/// Returns the opposite of a predicate where a sentence says `no` or `never`.
fn unless(is_negative: bool, predicate: Option<Predicate>) -> Option<Predicate> {
    if is_negative { predicate.map(Predicate::negated) } else { predicate }
}

/// A field has this value, written as JSON or in quotes, or one of several, `"a" or "b"`, or is `set`, `absent` or
/// `changed` (it is another than when the act began), or has another value: `not 0`. A path leads to it:
/// `status.conditions[Ready].message`, `metadata.labels["a.b/c"]`. Of a machine it leads into what `GET machines/NAME`
/// shows: `containers[web/main].limits["memory.swap.max"]`.
#[given(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") field (?P<path>\S+) is (?P<value>not (?:"(?:[^"\\]|\\.)*"|[^ ,"]+)|set|absent|"(?:[^"\\]|\\.)*"(?: or "(?:[^"\\]|\\.)*")*|\{.*\}|\[.*\]|[^ ,"]+)(?P<bound>,? .*)?$"#
)]
#[when(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") field (?P<path>\S+) is (?P<value>not (?:"(?:[^"\\]|\\.)*"|[^ ,"]+)|set|absent|"(?:[^"\\]|\\.)*"(?: or "(?:[^"\\]|\\.)*")*|\{.*\}|\[.*\]|[^ ,"]+)(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") field (?P<path>\S+) is (?P<value>not (?:"(?:[^"\\]|\\.)*"|[^ ,"]+)|set|absent|"(?:[^"\\]|\\.)*"(?: or "(?:[^"\\]|\\.)*")*|\{.*\}|\[.*\]|[^ ,"]+)(?P<bound>,? .*)?$"#
)]
fn field_is(draft: &mut Draft, object: String, path: String, value: String, bound: String) {
    let predicate = draft.field_test(&path, &value);
    draft.object_becomes(&object, predicate, &bound);
}

/// A field has this value all the time, or stays `unchanged`, `set` or `absent`.
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") keeps field (?P<path>\S+?)(?: at)? (?P<value>unchanged|set|absent|"(?:[^"\\]|\\.)*"(?: or "(?:[^"\\]|\\.)*")*|\{.*\}|\[.*\]|[^ ,"]+)(?P<for>,? .*)?$"#
)]
fn keeps_field(draft: &mut Draft, object: String, path: String, value: String, bound: String) {
    if value == "not" {
        let help = vec![
            format!("{object} keeps field {path} unchanged for 60s"),
            format!("{object} field {path} is not … within 60s"),
        ];
        return draft.problem_with("not", "`keeps` takes no `not`".to_owned(), help);
    }
    let predicate = draft.field_test(&path, &value);
    draft.object_lasts(&object, predicate, &bound);
}

/// Several fields have these values at one instant, or keep them all the time: a table of paths and values, each as in
/// the sentence about one field, or a part of the object as YAML in a doc string. Of a list with keys, as conditions by
/// `type`, the items that are named; any other list as a whole; `null` for absent. A failure names the first field that
/// is different.
#[given(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") (?P<how>has|keeps) these fields(?P<bound>,? .*)?:$"#
)]
#[when(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") (?P<how>has|keeps) these fields(?P<bound>,? .*)?:$"#
)]
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*"|machine "[^"]*") (?P<how>has|keeps) these fields(?P<bound>,? .*)?:$"#
)]
fn has_fields(draft: &mut Draft, object: String, how: String, bound: String, step: &Step) {
    let predicate = draft.fields(step);
    if how == "has" {
        draft.object_becomes(&object, predicate, &bound);
    } else if draft.is_then(&how) {
        draft.object_lasts(&object, predicate, &bound);
    }
}

/// A Node's Lease is renewed at this pace; a quarter of it is allowed for jitter, unless the longest pause is named:
/// `is renewed every 10s to 10.5s`.
#[then(
    regex = r#"^(?P<object>the Lease of Node "[^"]*") is renewed every (?P<every>\S+)(?: to (?P<longest>\S+))?(?P<for> .*)?$"#
)]
fn lease_is_renewed(draft: &mut Draft, object: String, every: String, longest: String, bound: String) {
    draft.renewals(&object, &every, &longest, &bound);
}

/// What the kubelet's writes of the Node's status and of its Lease come to, in bytes of JSON per minute: as they are
/// sent, or as each version is stored. The figure stands in the report.
#[then(
    regex = r#"^the heartbeats of (?P<object>Node "[^"]*") (?P<what>send|store) (?P<least>\d+) to (?P<most>\d+) bytes a minute(?P<for> .*)?$"#
)]
fn heartbeats_cost(draft: &mut Draft, object: String, what: String, least: String, most: String, bound: String) {
    let (Ok(least), Ok(most)) = (least.parse(), most.parse()) else {
        draft.problem(&most, "a smaller number is needed".to_owned());
        return;
    };
    let what = if what == "send" { Cost::Sent } else { Cost::Stored };
    let Some(Subject::Object(node)) = draft.object(&object) else { return };
    let lease = ObjectRef::lease(node.key.name.clone());
    let called = Text::from(format!("the heartbeats of Node {}", node.key.name));
    let subject = Subject::Several { called, of: vec![node, lease] };
    draft.expect_lasts(Some((subject, Predicate::Costs { what, bytes: (least, most) })), &bound);
}

/// The kubelet's conditions get a new heartbeat time at this pace, whether anything else changes or not; a quarter of
/// it is allowed for jitter, unless the longest pause is named: `is written every 5m to 5m11s`.
#[then(
    regex = r#"^the status of (?P<object>Node "[^"]*") is written every (?P<every>\S+)(?: to (?P<longest>\S+))?(?P<for> .*)?$"#
)]
fn status_is_written(draft: &mut Draft, object: String, every: String, longest: String, bound: String) {
    draft.renewals(&object, &every, &longest, &bound);
}

/// A Node's Lease is renewed for the first time since the act began.
#[then(regex = r#"^(?P<object>the Lease of Node "[^"]*") is renewed (?P<bound>(?:within|between|at|after) .*)$"#)]
fn lease_is_renewed_once(draft: &mut Draft, object: String, bound: String) {
    let predicate = draft.field_test("spec.renewTime", "unchanged").map(Predicate::negated);
    draft.object_becomes(&object, predicate, &bound);
}

/// An object is there; somebody asks for its deletion, so that it is terminating or gone at once; or it is there no
/// more.
#[given(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*") (?P<what>exists|is deleted|is gone)(?P<bound>,? .*)?$"#
)]
#[when(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*") (?P<what>exists|is deleted|is gone)(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*") (?P<what>exists|is deleted|is gone)(?P<bound>,? .*)?$"#
)]
fn exists_or_goes(draft: &mut Draft, object: String, what: String, bound: String) {
    let predicate = match what.as_str() {
        "exists" => Predicate::Exists,
        "is deleted" => Predicate::Deleted,
        _ => Predicate::Gone,
    };
    draft.object_becomes(&object, Some(predicate), &bound);
}

/// An object is there all the time, not even terminating; or there is none at any time.
#[then(
    regex = r#"^(?P<object>(?:Node|Pod) "[^"]*"|the Lease of Node "[^"]*") (?P<what>stays|never appears)(?P<for> for .*)?$"#
)]
fn stays(draft: &mut Draft, object: String, what: String, bound: String) {
    let predicate = if what == "stays" { Predicate::Deleted } else { Predicate::Exists };
    let problems = draft.problems.len();
    draft.object_lasts(&object, Some(predicate.negated()), &bound);
    if what == "never appears" {
        // A declared object is there, which is the contrary of what the line says.
        let remedies = draft.problems[problems..].iter_mut().flat_map(|problem| &mut problem.help);
        remedies.filter(|help| help.starts_with("declare it")).for_each(|help| {
            *help = "a name that no step says never appears anyway: name what a When line creates".to_owned();
        });
    }
}

/// A Pod becomes terminating, or it is there and has a deletionTimestamp all the time, since nobody ends it: `stays
/// terminating for 10m`.
#[then(regex = r#"^(?P<object>Pod "[^"]*") (?P<what>is|stays) terminating(?P<bound>,? .*)?$"#)]
fn is_terminating(draft: &mut Draft, object: String, what: String, bound: String) {
    if what == "stays" {
        draft.object_lasts(&object, Some(Predicate::Terminating), &bound);
    } else {
        draft.object_becomes(&object, Some(Predicate::Terminating), &bound);
    }
}

/// A container runs on its machine all the time, whatever the API says of its Pod; or it does not run any more.
#[then(
    regex = r#"^container "(?P<container>[^"]*)" of Pod "(?P<pod>[^"]*)" (?P<what>keeps running|stops) on machine "(?P<node>[^"]*)"(?P<bound>,? .*)?$"#
)]
fn container_does(draft: &mut Draft, container: String, pod: String, what: String, node: String, bound: String) {
    let runs = draft.container(&container, &pod, &node);
    if what == "stops" {
        draft.expect_becomes(runs.map(|(subject, predicate)| (subject, predicate.negated())), &bound);
    } else {
        draft.expect_lasts(runs, &bound);
    }
}

/// An Event about an object is recorded; its message is compared whole where it is named, quotation marks in it written
/// as `\"`. `3 Events …` counts them.
#[then(
    regex = r#"^(?:(?:an|(?P<times>\d+)) )?Events? (?P<reason>"[^"]*"|\S+) about (?P<object>[A-Z][A-Za-z]* "[^"]*")(?:, message "(?P<message>(?:[^"\\]|\\.)*)")?(?P<bound>,? .*)?$"#
)]
fn event(draft: &mut Draft, times: String, reason: String, object: String, message: String, bound: String) {
    let predicate = event_predicate(&reason, &message, times.parse().ok());
    draft.object_becomes(&object, Some(predicate), &bound);
}

/// No such Event about an object is recorded.
#[then(regex = r#"^no Event (?P<reason>"[^"]*"|\S+) about (?P<object>[A-Z][A-Za-z]* "[^"]*")(?P<for>,? .*)?$"#)]
fn no_event(draft: &mut Draft, reason: String, object: String, bound: String) {
    let predicate = event_predicate(&reason, "", None).negated();
    draft.object_lasts(&object, Some(predicate), &bound);
}

/// The last request of the act is answered with this code; of the message, a part is enough. A call that finds nobody
/// is refused with `no answer`, and the message is Go's.
#[then(
    regex = r#"^the request is (?P<what>refused|answered) with (?P<code>\d{3}|no answer)(?:,? "?(?P<text>.*?)"?)?$"#
)]
fn request_answered(draft: &mut Draft, what: String, code: String, text: String) {
    let code = code.parse::<u16>().unwrap_or_default();
    if code != 0 && !(100..600).contains(&code) {
        let help = vec!["200, 201, 403, 404, 409, 422, 429 and 500 are frequent".to_owned()];
        draft.problem_with(&code.to_string(), format!("no server answers with {code}"), help);
        return;
    }
    let refused = code == 0 || code >= 400;
    if refused != (what == "refused") {
        let (is, says) = if refused { ("a", "refused") } else { ("no", "answered") };
        let help = vec![format!("write `the request is {says} with {code}`")];
        draft.problem_with(&code.to_string(), format!("{code} is {is} refusal"), help);
        return;
    }
    let text = Some(text).filter(|text| !text.is_empty()).map(Text::from);
    draft.expect(Subject::Answer, Predicate::Answered { code: Some(code), text }, Some(Bound::AtOnce));
}

/// The last request of the act is answered with a list of exactly these objects, in this order: `the answer lists "a"
/// and "b"`, `the answer lists "default/web", "kube-system/dns"`, or `nothing`.
#[then(regex = r#"^the answer lists (?P<names>nothing|"[^"]*"(?:(?:, | and )"[^"]*")*)$"#)]
fn answer_lists(draft: &mut Draft, names: String) {
    let names = if names == "nothing" { Some(Vec::new()) } else { draft.take(&names, words::names(&names)) };
    let Some(names) = names else { return };
    let names = names.into_iter().map(Text::from).collect();
    draft.expect(Subject::Answer, Predicate::Lists(names), Some(Bound::AtOnce));
}

/// The watch shows such an event in this act: `the watch shows DELETED "worker-1" within 1s`; of the object, a field
/// may be named: `the watch shows MODIFIED "worker-1" with spec.unschedulable true within 1s`. Without a name it is any
/// object's. Or it never does: `the watch never shows MODIFIED "worker-1" for 10s`; `never shows anything` is without
/// any event.
#[then(
    regex = r#"^the watch (?P<never>never )?shows (?P<event>anything|ADDED|MODIFIED|DELETED)(?: "(?P<name>[^"]*)")?(?: with (?P<path>\S+) (?P<value>set|absent|"[^"]*"|\{.*\}|\[.*\]|[^ ,"]+))?(?P<bound>,? (?:within|between|at|after|for) .*)?$"#
)]
fn watch_shows(
    draft: &mut Draft,
    never: String,
    event: String,
    name: String,
    path: String,
    value: String,
    bound: String,
) {
    let Some(resource) = draft.watched.clone() else {
        let help = vec!["the user watches /api/v1/nodes".to_owned()];
        return draft.problem_with("the watch", "no step before opens a watch".to_owned(), help);
    };
    if event == "anything" && (never.is_empty() || !name.is_empty()) {
        return draft.problem(&event, "`never shows anything`, or an event: ADDED \"worker-1\"".to_owned());
    }
    // Of one that nobody names, nothing is ever shown.
    if !never.is_empty() && !name.is_empty() && !draft.may_be_there(&name) {
        let help = vec![format!("name one of a step, or say with the tag @custom:{name} that it may come")];
        return draft.problem_with(&name, format!("no step says an object {name:?}"), help);
    }
    let field = if path.is_empty() {
        None
    } else {
        let Some((path, test)) = draft.field_of(&path, &value) else { return };
        let kind = Text::of(kind_of(&resource).unwrap_or_default());
        let object = Subject::Object(ObjectRef { kind, resource, key: ObjectKey::cluster(name.as_str()) });
        if draft.has_unknown_name(&object, &Predicate::Field { path: path.clone(), test: test.clone() }) {
            return;
        }
        Some((path, test))
    };
    let shows = Predicate::Shows {
        event: Some(event).filter(|event| event != "anything").map(Text::from),
        name: Some(name).filter(|name| !name.is_empty()).map(Text::from),
        field,
    };
    if never.is_empty() {
        draft.expect_becomes(Some((Subject::Watch, shows)), &bound);
    } else {
        draft.expect_lasts(Some((Subject::Watch, shows.negated())), &bound);
    }
}

/// The kubelet that was started in this act ends at once; of what it prints, a part is enough.
#[then(regex = r#"^the kubelet refuses to start with "(?P<text>.*)"$"#)]
fn kubelet_refuses(draft: &mut Draft, text: String) {
    let predicate = Predicate::Refused { text: Some(Text::from(text)) };
    draft.expect(Subject::Answer, predicate, Some(Bound::AtOnce));
}

/// No field of the object changes that no other line of the act names; heartbeat times apart.
#[then(regex = r#"^nothing else about (?P<object>(?:Node|Pod) "[^"]*") changes$"#)]
fn nothing_else(draft: &mut Draft, object: String) {
    if let Some(subject) = draft.object(&object) {
        draft.expect(subject, Predicate::NothingElseChanges, Some(Bound::Act));
    }
}

/// The object at the end of the act equals the stored one, file `<scenario>.<name>.snap`.
#[then(
    regex = r#"^(?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*") matches its snapshot$"#
)]
fn matches_snapshot(draft: &mut Draft, object: String) {
    draft.snapshot(&object, SnapshotKind::Object);
}

/// What changed of the object since the first act, when, and who wrote it, equals what is stored; where there are
/// several acts, with a line before what changed in each.
#[then(
    regex = r#"^the history of (?P<object>[A-Z][A-Za-z]* "[^"]*"|the (?:Lease of Node|EndpointSlice of Service) "[^"]*") matches its snapshot$"#
)]
fn history_matches(draft: &mut Draft, object: String) {
    draft.snapshot(&object, SnapshotKind::History);
}

/// What `kubectl get` prints of them at the end of the act equals what is stored, ages and random names apart; or what
/// the command of kubectl has printed in the act.
#[then(regex = r"^the (?P<kind>table of nodes|table of pods|output of kubectl) matches its snapshot$")]
fn table_matches(draft: &mut Draft, kind: String) {
    let (subject, snapshot) = match kind.as_str() {
        "table of nodes" => (Subject::Table(NODES), SnapshotKind::Table),
        "table of pods" => (Subject::Table(PODS), SnapshotKind::Table),
        _ if !draft.has_command() => return,
        _ => (Subject::Command, SnapshotKind::Output),
    };
    draft.expect(subject, Predicate::MatchesSnapshot(snapshot), Some(Bound::Act));
}

/// The command of kubectl that was started last prints a line, compared whole, with quotation marks in it written as
/// `\"`; or it ends well, or with an error; or it never does: `kubectl keeps running for 60s`.
#[then(
    regex = r#"^kubectl (?P<what>prints|never prints|succeeds|fails|keeps running)(?: "(?P<message>(?:[^"\\]|\\.)*)")?(?P<bound>,? (?:within|between|at|after|for) .*)?$"#
)]
fn kubectl_does(draft: &mut Draft, what: String, message: String, bound: String) {
    if !draft.has_command() {
        return;
    }
    if what.ends_with("prints") == message.is_empty() {
        draft.problem(&what, "the line stands behind `prints`, as in: kubectl prints \"node/a drained\"".to_owned());
        return;
    }
    if let Some(name) = objects_in(&message).find(|name| !draft.may_be_there(name)) {
        let help = vec!["a line is compared whole, so this one would be about nothing".to_owned()];
        draft.problem_with(name, format!("nothing in the scenario is called {name:?}"), help);
        return;
    }
    let line = Predicate::Prints(Text::from(words::unquoted(&message)));
    match what.as_str() {
        "prints" => draft.expect_becomes(Some((Subject::Command, line)), &bound),
        "never prints" => draft.expect_lasts(Some((Subject::Command, line.negated())), &bound),
        "keeps running" => {
            let runs = Predicate::Ended { success: None }.negated();
            draft.expect_lasts(Some((Subject::Command, runs)), &bound);
        }
        how => {
            let ended = Predicate::Ended { success: Some(how == "succeeds") };
            draft.expect_becomes(Some((Subject::Command, ended)), &bound);
        }
    }
}

/// Finds the names of objects in a line of kubectl: `node/worker-1`, `pod/web`, `pod default/web`.
fn objects_in(line: &str) -> impl Iterator<Item = &str> {
    let named = line.split_whitespace().filter_map(|word| {
        let word = word.trim_end_matches([',', ':', '.']);
        let name = word.strip_prefix("node/").or_else(|| word.strip_prefix("pod/"))?;
        Some(name)
    });
    let after_pod = line.split("pod ").skip(1).filter_map(|rest| {
        let word = rest.split_whitespace().next()?.trim_end_matches([',', ':', '.']);
        word.split_once('/').map(|(_, name)| name)
    });
    named.chain(after_pod)
}

/// Any of the sentences about one Node or Pod, for each Node of a zone, or for each Pod that the scenario has put on
/// one of them: `each Node of zone "a" keeps condition Ready=True for 60s`.
#[then(regex = r#"^each (?P<kind>Node|Pod) of zone "(?P<zone>[^"]*)" (?P<rest>.+)$"#)]
fn each_of_zone(draft: &mut Draft, kind: String, zone: String, rest: String) {
    let nodes = draft.zone(&zone);
    if kind == "Node" {
        nodes.iter().for_each(|node| draft.of_one(&format!("Node \"{}\"", node.name), &rest));
        return;
    }
    let on_it = |pod: &super::draft::PodEntry| nodes.iter().any(|node| pod.node.as_ref() == Some(&node.name));
    let pods: Vec<_> = draft.pods.iter().filter(|pod| on_it(pod)).cloned().collect();
    if pods.is_empty() && !nodes.is_empty() {
        draft.problem(&zone, format!("no Pod is on a Node of zone {zone:?}"));
    }
    for pod in pods {
        draft.of_one(&format!("Pod \"{}/{}\"", pod.namespace, pod.name), &rest);
    }
}

/// So many Nodes of a zone, or of all that the scenario names, have a taint: exactly so many, whichever; or they never
/// have. Where they get it one by one, there are never more either.
#[given(
    regex = r#"^(?P<never>never )?(?P<count>\d+) Nodes?(?: of zone "(?P<zone>[^"]*)")? (?:has|have) taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#
)]
#[when(
    regex = r#"^(?P<never>never )?(?P<count>\d+) Nodes?(?: of zone "(?P<zone>[^"]*)")? (?:has|have) taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#
)]
#[then(
    regex = r#"^(?P<never>never )?(?P<count>\d+) Nodes?(?: of zone "(?P<zone>[^"]*)")? (?:has|have) taint "(?P<taint>[^"]*)"(?P<bound>,? .*)?$"#
)]
fn nodes_have_taint(draft: &mut Draft, never: String, count: String, zone: String, taint: String, bound: String) {
    let what = draft.tainted(&count, &zone, &taint);
    if never.is_empty() {
        draft.expect_becomes(what, &bound);
    } else if draft.is_then(&never) {
        draft.expect_lasts(what.map(|(subject, predicate)| (subject, predicate.negated())), &bound);
    }
}

fn event_predicate(reason: &str, message: &str, times: Option<u32>) -> Predicate {
    let message = Some(message).filter(|message| !message.is_empty());
    let message = message.map(|message| Text::from(words::unquoted(message)));
    Predicate::Event { reason: Text::from(reason.trim_matches('"')), message, times }
}
