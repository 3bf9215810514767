//! Whether a toleration tolerates a taint, and how long a pod may stay on a node with NoExecute taints. Pure.
//!
//! Mirrors `ToleratesTaint` (k8s.io/api core/v1/toleration.go, v1.36) and `getMinTolerationTime`,
//! `GetMatchingTolerations` (pkg/controller/tainteviction/taint_eviction.go, pkg/apis/core/v1/helper/helpers.go,
//! v1.34).
//! Left out on purpose: the gate of the operators `Lt` and `Gt`; while it is off the API server accepts no Pod with
//! them.

use alloc::vec::Vec;

use jiff::SignedDuration;

use crate::objects::{Json, names};

/// How long a pod may stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stay {
    /// Some taint is not tolerated.
    NotTolerated,
    /// All are tolerated for this long; zero is at once.
    For(SignedDuration),
    /// All are tolerated without a limit.
    Forever,
}

/// Tells whether a toleration tolerates a taint.
#[must_use]
pub fn tolerates(toleration: &Json, taint: &Json) -> bool {
    let own = |field| toleration.get(field).as_str().unwrap_or("");
    let its = |field| taint.get(field).as_str().unwrap_or("");
    if !own("effect").is_empty() && own("effect") != its("effect") {
        return false;
    }
    if !own("key").is_empty() && own("key") != its("key") {
        return false;
    }
    match own("operator") {
        "" | "Equal" => own("value") == its("value"),
        "Exists" => true,
        "Lt" => number(its("value")).zip(number(own("value"))).is_some_and(|(taint, bound)| taint < bound),
        "Gt" => number(its("value")).zip(number(own("value"))).is_some_and(|(taint, bound)| taint > bound),
        _ => false,
    }
}

fn number(text: &str) -> Option<i64> {
    names::decimal_integer(text).is_empty().then(|| text.parse().ok()).flatten()
}

/// Returns how long a pod with these tolerations may stay beside these taints.
///
/// For each taint the first matching toleration in the list counts, even if a later one is longer.
#[must_use]
pub fn stay(tolerations: &[Json], taints: &[Json]) -> Stay {
    let mut used: Vec<&Json> = Vec::new();
    for taint in taints {
        match tolerations.iter().find(|toleration| tolerates(toleration, taint)) {
            Some(toleration) => used.push(toleration),
            None => return Stay::NotTolerated,
        }
    }
    used.iter().filter_map(|toleration| toleration.get("tolerationSeconds").as_i64()).min().map_or(
        Stay::Forever,
        |seconds| match seconds.max(0).checked_mul(1_000_000_000) {
            Some(nanos) => Stay::For(SignedDuration::from_nanos(nanos)),
            // Longer than Go's durations can be: 292 years.
            None => Stay::Forever,
        },
    )
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::{Stay, stay, tolerates};
    use crate::json;

    #[test]
    fn empty_parts_of_a_toleration_match_anything() {
        let taint = json!({"key": "k", "value": "v", "effect": "NoExecute"});
        for (toleration, expected) in [
            (json!({"operator": "Exists"}), true),
            (json!({"key": "k", "value": "v"}), true),
            (json!({"key": "k", "operator": "Equal"}), false),
            (json!({"key": "k", "operator": "Exists", "effect": "NoSchedule"}), false),
            (json!({"key": "other", "operator": "Exists"}), false),
            (json!({"key": "k", "operator": "Gt", "value": "v"}), false),
        ] {
            assert_eq!(tolerates(&toleration, &taint), expected, "{toleration}");
        }
    }

    #[test]
    fn numbers_are_compared_where_both_are_whole_and_written_plainly() {
        for (operator, own, taint, expected) in [
            ("Gt", "949", "950", true),
            ("Gt", "950", "950", false),
            ("Lt", "950", "949", true),
            ("Lt", "-1", "-2", true),
            ("Gt", "9", "10", true),
            ("Gt", "0949", "950", false),
            ("Gt", "1", "x", false),
            ("Gt", "0", "", false),
            ("Gt", "1", "9223372036854775808", false),
        ] {
            let toleration = json!({"key": "k", "operator": operator, "value": own});
            let taint = json!({"key": "k", "value": taint, "effect": "NoSchedule"});
            assert_eq!(tolerates(&toleration, &taint), expected, "{toleration} {taint}");
        }
    }

    #[test]
    fn the_first_match_of_each_taint_counts_and_the_shortest_of_them_wins() {
        let taint = |key| json!({"key": key, "effect": "NoExecute"});
        let until = |key, seconds| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        let always = |key| json!({"key": key, "operator": "Exists"});
        let secs = |seconds| Stay::For(SignedDuration::from_secs(seconds));
        for (tolerations, taints, expected) in [
            (json!([until("a", 20), always("a")]), json!([taint("a")]), secs(20)),
            (json!([always("a"), until("a", 20)]), json!([taint("a")]), Stay::Forever),
            (json!([until("a", 30), until("b", 20)]), json!([taint("a"), taint("b")]), secs(20)),
            (json!([always("a"), until("b", 25)]), json!([taint("a"), taint("b")]), secs(25)),
            (json!([until("a", 30)]), json!([taint("a"), taint("b")]), Stay::NotTolerated),
            (json!([until("a", -5)]), json!([taint("a")]), secs(0)),
            (json!([]), json!([]), Stay::Forever),
        ] {
            assert_eq!(stay(tolerations.items(), taints.items()), expected, "{tolerations} {taints}");
        }
    }
}
