//! Tests with made-up exchanges: which answers count as equal and which do not.

use std::path::PathBuf;

use super::{Ledger, is_here, replay};

const CREATE: &str =
    r#"{"method":"POST","path":"/api/v1/nodes","body":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}}"#;

fn dir(test: &str, line: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("nodeproof-{test}-{}-1.34.4", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("topic.jsonl"), format!("{line}\n")).unwrap();
    dir
}

fn paths(test: &str, line: &str) -> Vec<String> {
    let dir = dir(test, line);
    assert!(is_here(&dir));
    let report = replay(&dir, None, None, &Ledger::default()).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
    assert_eq!(report.total().cases, 1);
    report.differences.into_iter().map(|difference| difference.path).collect()
}

fn refusal(given: &str, message: &str) -> String {
    format!(
        r#"{{"name":"x","given":[{given}],"user":"admin","request":{CREATE},
        "response":{{"code":409,"headers":{{}},"body":
        {{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure","message":"{message}",
        "reason":"AlreadyExists","details":{{"name":"n1","kind":"nodes"}},"code":409}}}}}}"#
    )
    .replace('\n', "")
}

#[test]
fn an_answer_that_is_the_same_has_no_difference() {
    let given = format!(r#"{{"user":"admin","request":{CREATE},"response":{{"code":201,"body":{{}}}}}}"#);
    assert!(paths("same", &refusal(&given, "nodes \\\"n1\\\" already exists")).is_empty());
}

#[test]
fn another_text_and_another_code_are_differences() {
    let given = format!(r#"{{"user":"admin","request":{CREATE},"response":{{"code":201,"body":{{}}}}}}"#);
    assert_eq!(paths("text", &refusal(&given, "no")), ["message"]);
    assert!(paths("code", &refusal("", "no")).contains(&"code".to_owned()));
}

#[test]
fn a_topic_that_is_not_there_is_named() {
    let dir = dir("topic", &refusal("", ""));
    let error = replay(&dir, None, Some("nothing"), &Ledger::default()).unwrap_err().to_string();
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(error.ends_with("there is no topic \"nothing\"; there are topic"), "{error}");
}
