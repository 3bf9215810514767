//! Who wrote a change, as far as `managedFields` tell: the manager and the subresource, never the user.
//!
//! A write renews the time of its manager's entry, in whole seconds, and usually what stands in it. One that changes
//! nothing of its entry, within a second of the last, is told as that of whoever has most of the fields that changed.

use nodeproof_core::objects::diff::{FieldChange, diff};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::scenario::Writer;

/// Returns who made `after` of `before`.
pub(super) fn writer_of(before: Option<&Json>, after: Option<&Json>) -> Writer {
    let Some(after) = after else { return Writer::default() };
    let old = before.map(entries).unwrap_or_default();
    let new = entries(after);
    let changed = new.iter().filter(|entry| !old.contains(entry)).max_by_key(|entry| time(entry));
    let touched = before.map(|before| touched(before, after)).unwrap_or_default();
    let owner = || new.iter().max_by_key(|entry| (owned(entry, &touched), time(entry)));
    let entry = changed.or_else(owner);
    let word = |field: &str| entry.and_then(|entry| entry.get(field).as_text()).cloned().unwrap_or_default();
    Writer { manager: word("manager"), subresource: word("subresource"), user: Text::default() }
}

fn entries(object: &Json) -> &[Json] {
    object.at(&["metadata", "managedFields"]).items()
}

/// Returns the first two names of the way to each field that changed.
fn touched(before: &Json, after: &Json) -> Vec<(String, String)> {
    let place = |change: FieldChange| {
        let mut names = change.path.segments().iter().map(|segment| segment.name().to_string());
        (names.next().unwrap_or_default(), names.next().unwrap_or_default())
    };
    diff(before, after).into_iter().map(place).collect()
}

/// Returns how many of these fields an entry has.
fn owned(entry: &Json, touched: &[(String, String)]) -> usize {
    let has = |(first, second): &&(String, String)| {
        !entry.at(&["fieldsV1", &format!("f:{first}"), &format!("f:{second}")]).is_null()
    };
    touched.iter().filter(has).count()
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

    #[test]
    fn within_a_second_the_fields_tell_the_writer() {
        let object = |taint: &str| {
            json!({"metadata": {"managedFields": [
                {"manager": "m", "time": "t", "fieldsV1": {"f:spec": {"f:taints": {}}}},
                {"manager": "m", "time": "t", "subresource": "status", "fieldsV1": {"f:status": {"f:conditions": {}}}},
            ]}, "spec": {"taints": [{"key": taint, "effect": "NoExecute"}]}})
        };
        let writer = writer_of(Some(&object("a")), Some(&object("b")));
        assert_eq!((writer.manager.as_str(), writer.subresource.as_str()), ("m", ""));
    }
}
