//! Prints JSON as the YAML of snapshots: fields in the order given, one line for each value, quotes where YAML wants
//! them.

use nodeproof_core::objects::Json;

/// Prints a value; the text ends with a line feed.
pub(crate) fn print(value: &Json) -> String {
    let mut text = String::new();
    match value {
        value if is_block(value) => block(value, 0, &mut text),
        value => text = format!("{}\n", scalar(value)),
    }
    text
}

/// Tells whether a value takes lines of its own.
fn is_block(value: &Json) -> bool {
    (value.is_object() || value.is_array()) && !value.is_empty()
}

fn block(value: &Json, indent: usize, text: &mut String) {
    if value.is_array() {
        for item in value.items() {
            text.push_str(&" ".repeat(indent));
            text.push_str("- ");
            if is_block(item) {
                let start = text.len();
                block(item, indent + 2, text);
                text.replace_range(start..start + indent + 2, "");
            } else {
                text.push_str(&scalar(item));
                text.push('\n');
            }
        }
        return;
    }
    for (name, value) in value.fields() {
        text.push_str(&" ".repeat(indent));
        text.push_str(&quoted(name));
        text.push(':');
        if is_block(value) {
            text.push('\n');
            block(value, if value.is_array() { indent } else { indent + 2 }, text);
        } else {
            text.push(' ');
            text.push_str(&scalar(value));
            text.push('\n');
        }
    }
}

fn scalar(value: &Json) -> String {
    match value.as_str() {
        Some(text) => quoted(text),
        None => value.to_string(),
    }
}

/// Puts a text in quotes unless every YAML parser reads it as this text.
fn quoted(text: &str) -> String {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "~"];
    let starts_badly = text.starts_with(|c: char| "-?:,[]{}#&*!|>'\"%@`= ".contains(c));
    let is_number = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || "+-.eExXoabcdefABCDEF_:".contains(c));
    let is_time = text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    if text.is_empty()
        || starts_badly
        || is_number
        || is_time
        || words.contains(&text.to_lowercase().as_str())
        || text.contains(": ")
        || text.contains(" #")
        || text.ends_with([':', ' '])
        || text.chars().any(char::is_control)
    {
        return serde_json::to_string(text).expect("a text is JSON");
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    #[test]
    fn a_history_is_printed_as_people_write_it() {
        let value = json!([{
            "at": "+46.251s",
            "by": "kube-controller-manager/status",
            "changed": {
                "status.conditions[Ready].status": "True -> Unknown",
                "spec.taints": "+ node.kubernetes.io/unreachable:NoSchedule",
            },
        }]);
        let expected = "- at: +46.251s\n  by: kube-controller-manager/status\n  changed:\n    \
            status.conditions[Ready].status: True -> Unknown\n    spec.taints: + \
            node.kubernetes.io/unreachable:NoSchedule\n";
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(lines(&print(&value)), lines(expected));
    }

    #[test]
    fn what_is_printed_is_read_as_what_it_was() {
        let value = json!({
            "a": ["1", "true", "", "x: y", "- z", "on", "2026-01-01T00:00:00Z", "a #b", "0x1f", "1e5", "\n", "é", "+1"],
            "b": {"c.d/e": [], "f": {}, "g": [[1, [2]], {"h": null}]},
            "i": -1.5,
        });
        let read: serde_json::Value = serde_yaml::from_str(&print(&value)).unwrap();
        assert_eq!(Json::parse(&read.to_string()).unwrap(), value);
    }
}
