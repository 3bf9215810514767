//! Makes trees share their equal parts.
//!
//! The revisions of one object differ in a few places, and the Nodes of a cluster in little more than their names. A
//! tree that was read from a request shares nothing; before it is stored, its parts that equal those of an older tree
//! are replaced by these. Invariant (tested): the tree stays equal to what it was.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::json::Fields;
use super::{Json, Text};

impl Json {
    /// Replaces each part that equals the same part of another tree by that; returns whether the trees are equal.
    pub fn share(&mut self, other: &Self) -> bool {
        let same = match (&mut *self, other) {
            (Self::Object(own), Self::Object(other)) => {
                if Arc::ptr_eq(own, other) {
                    return true;
                }
                if let Some(own) = Arc::get_mut(own) {
                    share_fields(own, other)
                } else {
                    own == other || has_part_of(own, other) && share_fields(Arc::make_mut(own), other)
                }
            }
            (Self::Array(own), Self::Array(other)) => {
                if Arc::ptr_eq(own, other) {
                    return true;
                }
                if let Some(own) = Arc::get_mut(own) {
                    share_items(own, other)
                } else {
                    let has_part = || own.iter().zip(other.iter()).any(|(own, other)| is_part(own, other));
                    own == other || has_part() && share_items(Arc::make_mut(own), other)
                }
            }
            (Self::Str(own), Self::Str(other)) => return share_text(own, other),
            (own, other) => return own == other,
        };
        if same {
            self.clone_from(other);
        }
        same
    }
}

fn share_fields(own: &mut Fields, other: &Fields) -> bool {
    own.shrink();
    let mut others = other.iter().peekable();
    let mut same = own.len() == other.len();
    for (name, value) in own.iter_mut() {
        while others.next_if(|(other, _)| *other < &*name).is_some() {}
        match others.next_if(|(other, _)| *other == &*name) {
            Some((known, other)) => {
                share_text(name, known);
                same &= value.share(other);
            }
            None => same = false,
        }
    }
    same
}

fn share_items(own: &mut Vec<Json>, other: &[Json]) -> bool {
    own.shrink_to_fit();
    let same = own.len() == other.len();
    own.iter_mut().zip(other.iter()).fold(same, |same, (own, other)| own.share(other) && same)
}

/// Tells whether shared fields are worth copying, because a part of them equals the other's.
fn has_part_of(own: &Fields, other: &Fields) -> bool {
    own.iter().any(|(name, part)| other.get(name).is_some_and(|other| is_part(part, other)))
}

fn is_part(own: &Json, other: &Json) -> bool {
    matches!(own, Json::Object(_) | Json::Array(_)) && !own.is_same_allocation(other) && own == other
}

fn share_text(own: &mut Text, other: &Text) -> bool {
    let same = own == other;
    if same && matches!(own, Text::Shared(_)) {
        own.clone_from(other);
    }
    same
}

#[cfg(test)]
mod tests {
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn equal_parts_become_one_allocation_and_the_tree_stays_what_it_was() {
        let old = json!({"a": {"b": [1, {"c": "a text of its own"}], "x": "y"}, "d": {"e": 1}, "z": {"f": [2]}});
        let text = r#"{"a":{"b":[1,{"c":"a text of its own"}],"x":"n"},"d":{"e":1},"m":{},"z":{"f":[2,3]}}"#;
        let mut new = Json::parse(text).unwrap();
        let before = Json::parse(text).unwrap();
        assert!(!new.share(&old));
        assert_eq!(new, before);
        assert!(new.at(&["a", "b"]).is_same_allocation(old.at(&["a", "b"])));
        assert!(new.get("d").is_same_allocation(old.get("d")));
        assert!(!new.at(&["z", "f"]).is_same_allocation(old.at(&["z", "f"])));
        let mut copy = Json::parse(&alloc::string::ToString::to_string(&old)).unwrap();
        assert!(copy.share(&old) && copy.is_same_allocation(&old));
    }

    #[test]
    fn a_tree_that_somebody_else_holds_is_copied_for_the_sake_of_equal_parts_alone() {
        let old = json!({"a": {"b": 1}, "c": 1});
        for (new, is_copied) in [(json!({"a": {"b": 1}, "c": 2}), true), (json!({"a": {"b": 2}, "c": 1}), false)] {
            let (mut shared, held) = (new.clone(), new.clone());
            assert!(!shared.share(&old));
            assert_eq!((&shared, !shared.is_same_allocation(&held)), (&held, is_copied));
            assert_eq!(shared.get("a").is_same_allocation(old.get("a")), is_copied);
        }
        let mut equal = json!({"a": {"b": 1}, "c": 1});
        let _held = equal.clone();
        assert!(equal.share(&old) && equal.is_same_allocation(&old));
    }
}
