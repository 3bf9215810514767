//! The texts of values and of changes of fields. Pure.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use crate::objects::Json;
use crate::objects::canonical::masked;
use crate::objects::diff::FieldChange;
use crate::objects::list_keys::list_keys;

/// Prints a changed field: its path and `old -> new`, or the list and `+ item` or `- item`.
pub(super) fn change_text(change: &FieldChange, zero: Option<Timestamp>) -> (String, String) {
    let print = |value: &Json| {
        let last = change.path.segments().last().map_or("", |part| part.name().as_str());
        let masked = |zero| masked(last, value, zero).or_else(|| addresses(last, value));
        zero.and_then(masked).unwrap_or_else(|| plain(value))
    };
    let comes_or_goes = change.old.is_null() || change.new.is_null();
    let (item, sign) = if change.old.is_null() { (&change.new, '+') } else { (&change.old, '-') };
    match change.path.parent() {
        Some((list, name)) if comes_or_goes && item.is_object() => {
            let text = match list.segments().last().map(|part| part.name().as_str()) {
                Some("taints") => taint_text(item),
                Some("conditions") => condition_text(item),
                list => zero
                    .zip(list)
                    .and_then(|(zero, list)| key_text(list, item, zero))
                    .unwrap_or_else(|| name.to_string()),
            };
            (list.to_string(), format!("{sign} {text}"))
        }
        _ if comes_or_goes => (change.path.to_string(), format!("{sign} {}", print(item))),
        _ => (change.path.to_string(), format!("{} -> {}", print(&change.old), print(&change.new))),
    }
}

/// Prints the key of a list's item as a placeholder if it is random, as a uid or an address.
fn key_text(list: &str, item: &Json, zero: Timestamp) -> Option<String> {
    let [key] = list_keys(list)? else { return None };
    masked(key, item.get(key), zero)
}

/// Prints the address blocks of a Node as a placeholder, since they depend on the other Nodes of a cluster.
fn addresses(field: &str, value: &Json) -> Option<String> {
    let blocks: Vec<&str> = value.items().iter().map(|_| "[address]").collect();
    (field == "podCIDRs").then(|| blocks.join(", "))
}

fn condition_text(condition: &Json) -> String {
    let word = |field| condition.get(field).as_str().unwrap_or("");
    let reason = if word("reason").is_empty() { String::new() } else { format!(" ({})", word("reason")) };
    format!("{}={}{reason}", word("type"), word("status"))
}

/// Prints a value for people: strings without quotes.
pub(super) fn plain(value: &Json) -> String {
    match value {
        Json::Str(text) => text.to_string(),
        Json::Null => String::from("absent"),
        other => other.to_string(),
    }
}

/// Prints a taint as people write it: `key[=value]:Effect`.
pub(super) fn taint_text(taint: &Json) -> String {
    let word = |field| taint.get(field).as_str().unwrap_or("");
    let value = if word("value").is_empty() { String::new() } else { format!("={}", word("value")) };
    format!("{}{value}:{}", word("key"), word("effect"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use crate::objects::diff::diff;

    #[test]
    fn a_history_does_not_say_which_addresses_and_uids_there_were_and_an_explanation_does() {
        let before = json!({"metadata": {}, "spec": {}, "status": {}});
        let after = json!({"metadata": {"ownerReferences": [{"uid": "70873bd9-e16d-4dba-8439-74d6cf039299"}]},
            "spec": {"podCIDR": "10.244.1.0/24", "podCIDRs": ["10.244.1.0/24", "fd00::/64"]},
            "status": {"hostIPs": [{"ip": "172.18.0.2"}], "podIP": "10.244.1.2", "podIPs": [{"ip": "10.244.1.2"}]}});
        let texts = |zero| -> Vec<String> {
            let changes = diff(&before, &after);
            changes
                .iter()
                .map(|change| change_text(change, zero))
                .map(|(path, text)| format!("{path}: {text}"))
                .collect()
        };
        assert_eq!(
            texts(Some(Timestamp::UNIX_EPOCH)),
            [
                "metadata.ownerReferences: + [uid]",
                "spec.podCIDR: + [address]",
                "spec.podCIDRs: + [address], [address]",
                "status.hostIPs: + [address]",
                "status.podIP: + [address]",
                "status.podIPs: + [address]",
            ]
        );
        assert_eq!(texts(None)[3], "status.hostIPs: + 172.18.0.2");
    }
}
