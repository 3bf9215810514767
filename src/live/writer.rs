//! Who wrote a change, as far as `managedFields` tell: the manager and the subresource, never the user.
//!
//! A write renews the time of its manager's entry, in whole seconds, and usually what stands in it. Left out on purpose:
//! writes that change nothing of their entry within a second of the last one, which is told as the latest entry's.

use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::Writer;

/// Returns who made `after` of `before`.
pub(super) fn writer_of(before: Option<&Json>, after: Option<&Json>) -> Writer {
    let Some(after) = after else { return Writer::default() };
    let old = before.map(entries).unwrap_or_default();
    let new = entries(after);
    let changed = new.iter().filter(|entry| !old.contains(entry)).max_by_key(|entry| time(entry));
    let entry = changed.or_else(|| new.iter().max_by_key(|entry| time(entry)));
    let word = |field: &str| entry.and_then(|entry| entry.get(field).as_text()).cloned().unwrap_or_default();
    Writer { manager: word("manager"), subresource: word("subresource"), user: Text::default() }
}

fn entries(object: &Json) -> &[Json] {
    object.at(&["metadata", "managedFields"]).items()
}

fn time(entry: &Json) -> &str {
    entry.get("time").as_str().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use nodeproof_core::json;

    use super::*;

    #[test]
    fn the_entry_that_changed_is_the_writers() {
        let entry = |manager: &str, time: &str, subresource: &str| json!({"manager": manager, "time": time, "subresource": subresource});
        let object = |entries: Vec<Json>| json!({"metadata": {"managedFields": Json::array(entries)}});
        let old =
            object(vec![entry("kubelet", "2026-01-01T00:00:09Z", "status"), entry("a", "2026-01-01T00:00:01Z", "")]);
        let new =
            object(vec![entry("kubelet", "2026-01-01T00:00:09Z", "status"), entry("a", "2026-01-01T00:00:02Z", "")]);
        assert_eq!(writer_of(Some(&old), Some(&new)).manager.as_str(), "a");
        assert_eq!(writer_of(Some(&old), Some(&old)).subresource.as_str(), "status");
        assert_eq!(writer_of(Some(&old), None), Writer::default());
    }
}
