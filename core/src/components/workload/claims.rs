//! Which objects a controller owns, lets go and takes.
//!
//! Mirrors `ClaimObject` (pkg/controller/controller_ref_manager.go, v1.34). Inputs: an owner, what belongs to it and
//! what belongs to nobody. Outputs: what it keeps, what it releases because its selector no longer matches, and what it
//! may adopt. An owner that is being deleted neither releases nor adopts.

use alloc::vec::Vec;

use crate::components::workload::pods::{controller_of, labels};
use crate::objects::lifecycle::is_ending;
use crate::objects::selector::selects;
use crate::objects::{Json, Object};

/// What an owner keeps, releases and may adopt.
#[derive(Clone, Debug, Default)]
pub(in crate::components) struct Claims {
    pub(in crate::components) own: Vec<Object>,
    pub(in crate::components) lost: Vec<Object>,
    pub(in crate::components) wanted: Vec<Object>,
}

impl Claims {
    /// Sorts what belongs to an owner, and what belongs to nobody.
    pub(in crate::components) fn of<'a>(
        owner: &Object,
        own: impl Iterator<Item = &'a Object>,
        orphans: impl Iterator<Item = &'a Object>,
    ) -> Self {
        let is_selected = |object: &&Object| selected(owner, object);
        let (own, mut lost): (Vec<&Object>, Vec<&Object>) = own.partition(is_selected);
        let mut wanted: Vec<Object> = orphans.filter(is_selected).cloned().collect();
        if is_ending(owner) {
            lost.clear();
            wanted.clear();
        }
        Self { own: own.into_iter().cloned().collect(), lost: lost.into_iter().cloned().collect(), wanted }
    }
}

/// Tells whether an owner's `spec.selector` matches the labels of an object.
pub(in crate::components) fn selected(owner: &Object, object: &Object) -> bool {
    selects(owner.stable().at(&["spec", "selector"]), labels(object))
}

/// Tells whether an object without owner is there that was not before, or whose labels or owner changed.
pub(in crate::components) fn is_offered(before: Option<&Object>, after: Option<&Object>) -> bool {
    let same = |before: &Object, after: &Object| labels(before) == labels(after) && controller_of(before).is_none();
    after.is_some_and(|after| {
        !is_ending(after) && controller_of(after).is_none() && !before.is_some_and(|before| same(before, after))
    })
}

/// Tells whether an answer says that an owner is there still, so that it may adopt.
///
/// Source: pkg/controller/controller_ref_manager.go (v1.34), `RecheckDeletionTimestamp`.
pub(in crate::components) fn may_adopt(owner: &Object, fresh: Option<&Object>) -> bool {
    fresh.is_some_and(|fresh| fresh.uid() == owner.uid() && !is_ending(fresh))
}

/// Tells whether an owner's selector asks for anything.
pub(in crate::components) fn has_selector(owner: &Object) -> bool {
    let selector: &Json = owner.stable().at(&["spec", "selector"]);
    !selector.get("matchLabels").is_empty() || !selector.get("matchExpressions").is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Claims, is_offered};
    use crate::json;
    use crate::objects::{Json, Object};

    fn object(name: &str, app: &str) -> Object {
        let labels = json!({"app": app});
        Object::new(json!({"metadata": {"name": name, "namespace": "ns", "labels": labels}}), 1)
    }

    fn owner(deleted: Json) -> Object {
        let mut owner = json!({"metadata": {"name": "o", "namespace": "ns", "uid": "u"}});
        owner.set(&["metadata", "deletionTimestamp"], deleted);
        owner.set(&["spec", "selector"], json!({"matchLabels": {"app": "x"}}));
        Object::new(owner, 1)
    }

    #[test]
    fn an_owner_that_is_being_deleted_neither_releases_nor_adopts() {
        let own = [object("a", "x"), object("b", "y")];
        let orphans = [object("c", "x"), object("d", "y")];
        for (deleted, expected) in [(Json::Null, (1, 1, 1)), (json!("2026-01-01T00:00:00Z"), (1, 0, 0))] {
            let claims = Claims::of(&owner(deleted), own.iter(), orphans.iter());
            assert_eq!((claims.own.len(), claims.lost.len(), claims.wanted.len()), expected);
        }
    }

    #[test]
    fn an_orphan_is_offered_when_it_appears_and_when_its_labels_change() {
        let (one, other) = (object("a", "x"), object("a", "y"));
        assert!(is_offered(None, Some(&one)));
        assert!(is_offered(Some(&other), Some(&one)));
        assert!(!is_offered(Some(&one), Some(&one)));
        assert!(!is_offered(Some(&one), None));
    }
}
