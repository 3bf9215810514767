//! Plays the conversations of `fixtures/control`: each line is sent, and its answer must contain what the file says.
//!
//! `> LINE` is sent as it stands; `< JSON` is a part of its answer. In it `"*"` matches anything that is there,
//! `"~text"` a text that contains it, a list a list of the same length, and a list that begins with `"..."` a list that
//! contains the other items in this order.

use nodeproof_core::objects::Json;

use super::super::{Session, Setup};

/// Tells whether an answer contains the wanted part.
fn fits(wanted: &Json, got: &Json) -> bool {
    match wanted {
        Json::Str(word) if **word == *"*" => !got.is_null(),
        Json::Str(word) if word.starts_with('~') => got.as_str().is_some_and(|text| text.contains(&word[1..])),
        Json::Object(_) => got.is_object() && wanted.fields().all(|(name, value)| fits(value, got.get(name))),
        Json::Array(_) => {
            let (wanted, items) = (wanted.items(), got.items());
            if let Some(("...", wanted)) =
                wanted.split_first().map(|(first, rest)| (first.as_str().unwrap_or(""), rest))
            {
                let mut left = items.iter();
                return wanted.iter().all(|wanted| left.any(|got| fits(wanted, got)));
            }
            got.is_array()
                && wanted.len() == items.len()
                && wanted.iter().zip(items).all(|(wanted, got)| fits(wanted, got))
        }
        _ => wanted == got,
    }
}

fn hold(name: &str, text: &str) {
    let mut session = Session::new(Setup::default()).unwrap();
    let mut answer = Json::Null;
    let mut wrong = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if let Some(line) = line.strip_prefix('>') {
            answer = Json::parse(&session.answer(line.trim().as_bytes())).unwrap();
        } else if let Some(line) = line.strip_prefix("< ") {
            let wanted = Json::parse(line).unwrap_or_else(|error| panic!("{name}:{}: {error}", at + 1));
            if !fits(&wanted, &answer) {
                let shown: String = answer.to_string().chars().take(1500).collect();
                wrong.push(format!("fixtures/control/{name}:{}\n  wanted {wanted}\n  got    {shown}", at + 1));
            }
        } else {
            assert!(line.starts_with('#'), "{name}:{}: a line begins with >, < or #", at + 1);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! conversations {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        fn $name() {
            let file = concat!(stringify!($name), ".jsonl");
            hold(file, include_str!(concat!("../../../fixtures/control/", stringify!($name), ".jsonl")));
        }
    )+};
}

conversations!(
    behave,
    cascade,
    claims,
    clock,
    cloud,
    custom_kinds,
    delete_options,
    describe,
    drains,
    eviction,
    failure,
    kubelet_admission,
    kubelet_events,
    kubelet_settings,
    label_keys,
    lines,
    machines,
    newer_releases,
    old_releases,
    pressure,
    rule_ends,
    rule_targets,
    rules,
    sandbox_failures,
    scheduler_volumes,
    settings,
    streams,
    topology,
    watches,
);

/// The answers depend on the lines alone.
#[test]
fn the_same_lines_after_a_reset_give_the_same_bytes() {
    let lines = [
        r#"{"call": "POST machines", "body": {"name": "w1"}}"#,
        r#"{"call": "POST machines", "body": {"name": "w2"}}"#,
        r#"{"call": "GET /api/v1/nodes?watch=true"}"#,
        concat!(
            r#"{"call": "POST network/rules", "#,
            r#""body": {"from": "machine/w2", "to": "api", "#,
            r#""effect": {"delay": "1s", "jitter": "2s"}, "probability": 0.5}}"#
        ),
        r#"{"call": "POST clock/advance", "body": {"by": "60s"}}"#,
        r#"{"call": "POST machines/w1/do", "body": {"action": "reboot"}}"#,
        r#"{"call": "POST clock/advance", "body": {"by": "100s"}}"#,
        r#"{"call": "GET watches/x1"}"#,
        r#"{"call": "GET machines"}"#,
        r#"{"call": "GET /api/v1/events"}"#,
        r#"{"call": "GET decisions"}"#,
        r#"{"call": "GET trace"}"#,
    ];
    let mut session = Session::new(Setup::default()).unwrap();
    let mut all = || lines.map(|line| session.answer(line.as_bytes()));
    let first = all();
    assert!(first.iter().all(|answer| answer.contains("\"code\":20")), "{first:?}");
    session.answer(br#"{"call": "POST reset"}"#);
    let mut all = || lines.map(|line| session.answer(line.as_bytes()));
    assert_eq!(all(), first);
}

#[test]
fn a_body_is_sent_as_it_is_written() {
    let call = r#""call": "POST /api/v1/nodes?fieldValidation=Strict""#;
    let body = r#"{"zzz": 1, "metadata": {"name": "a", "name": "b"}, "spec": {"foo": 1, "bar": 2}}"#;
    let mut session = Session::new(Setup::default()).unwrap();
    let as_body = session.answer(format!("{{{call}, \"body\": {body}}}").as_bytes());
    let raw = serde_json::to_string(body).unwrap();
    let header = r#""headers": {"Content-Type": "application/json"}"#;
    assert_eq!(as_body, session.answer(format!("{{{call}, {header}, \"raw\": {raw}}}").as_bytes()));
    assert!(as_body.contains(r#"\"spec.foo\", unknown field \"spec.bar\""#), "{as_body}");
}
