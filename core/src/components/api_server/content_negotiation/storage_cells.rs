//! The cells of volumes and devices, whose columns are in `storage_columns`.
//!
//! Mirrors pkg/printers/internalversion/printers.go and pkg/apis/core/helper/helpers.go (v1.34). Inputs: an
//! object. Outputs: one cell for each column behind the name; `None` for kinds of other files.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cell_values::{NONE, UNSET, joined, length, text, text_or};
use crate::objects::Json;

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, age: Json) -> Option<Vec<Json>> {
    Some(match plural {
        "volumeattachments" => Vec::from([
            text(object, &["spec", "attacher"]),
            text(object, &["spec", "source", "persistentVolumeName"]),
            text(object, &["spec", "nodeName"]),
            Json::Bool(object.at(&["status", "attached"]).as_bool().unwrap_or(false)),
            age,
        ]),
        "csinodes" => Vec::from([Json::from(length(object.at(&["spec", "drivers"]))), age]),
        "csidrivers" => csi_driver(object, age),
        "persistentvolumes" => volume(object, age),
        "persistentvolumeclaims" => claim(object, age),
        "storageclasses" => Vec::from([
            text(object, &["provisioner"]),
            text_or(object, &["reclaimPolicy"], "Delete"),
            text_or(object, &["volumeBindingMode"], "Immediate"),
            truth(object, &["allowVolumeExpansion"], false),
            age,
        ]),
        "volumeattributesclasses" => Vec::from([text(object, &["driverName"]), age]),
        "deviceclasses" | "resourceclaimtemplates" => Vec::from([age]),
        "csistoragecapacities" => {
            Vec::from([text(object, &["storageClassName"]), text_or(object, &["capacity"], UNSET)])
        }
        "resourceclaims" => Vec::from([Json::from(claim_state(object)), age]),
        "resourceslices" => Vec::from([
            text(object, &["spec", "nodeName"]),
            text(object, &["spec", "driver"]),
            text(object, &["spec", "pool", "name"]),
            age,
        ]),
        _ => return None,
    })
}

fn csi_driver(driver: &Json, age: Json) -> Vec<Json> {
    let spec = driver.get("spec");
    let modes = joined(spec.get("volumeLifecycleModes"), None);
    let tokens = spec.get("tokenRequests");
    let tokens = if tokens.is_null() { String::from(UNSET) } else { joined(tokens, Some("audience")) };
    Vec::from([
        truth(spec, &["attachRequired"], true),
        truth(spec, &["podInfoOnMount"], false),
        truth(spec, &["storageCapacity"], false),
        Json::from(tokens),
        truth(spec, &["requiresRepublish"], false),
        Json::from(if modes.is_empty() { String::from(NONE) } else { modes }),
        age,
    ])
}

fn truth(object: &Json, path: &[&str], otherwise: bool) -> Json {
    Json::Bool(object.at(path).as_bool().unwrap_or(otherwise))
}

/// Shows access modes by their short names (`RWO`).
fn modes(list: &Json) -> Json {
    const SHORT: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let has = |mode: &str| list.items().iter().any(|item| item.as_str() == Some(mode));
    let shown = SHORT.iter().filter(|(mode, _)| has(mode)).map(|(_, short)| *short);
    Json::from(shown.collect::<Vec<&str>>().join(","))
}

fn phase(object: &Json) -> Json {
    let is_ending = !object.at(&["metadata", "deletionTimestamp"]).is_null();
    if is_ending { Json::from("Terminating") } else { text(object, &["status", "phase"]) }
}

/// Shows the class of a volume or a claim: an annotation comes before the field.
fn class(object: &Json) -> Json {
    let noted = object.at(&["metadata", "annotations", "volume.beta.kubernetes.io/storage-class"]);
    if noted.is_null() { text(object, &["spec", "storageClassName"]) } else { noted.clone() }
}

fn volume(volume: &Json, age: Json) -> Vec<Json> {
    let reference = volume.at(&["spec", "claimRef"]);
    let part = |field: &str| reference.get(field).as_str().unwrap_or("");
    let claim = if reference.is_null() { String::new() } else { format!("{}/{}", part("namespace"), part("name")) };
    Vec::from([
        text_or(volume, &["spec", "capacity", "storage"], "0"),
        modes(volume.at(&["spec", "accessModes"])),
        text(volume, &["spec", "persistentVolumeReclaimPolicy"]),
        phase(volume),
        Json::from(claim),
        class(volume),
        text_or(volume, &["spec", "volumeAttributesClassName"], UNSET),
        text(volume, &["status", "reason"]),
        age,
        text_or(volume, &["spec", "volumeMode"], UNSET),
    ])
}

fn claim(claim: &Json, age: Json) -> Vec<Json> {
    let is_bound = !claim.at(&["spec", "volumeName"]).is_empty();
    let bound = |cell: Json| if is_bound { cell } else { Json::from("") };
    Vec::from([
        phase(claim),
        text(claim, &["spec", "volumeName"]),
        bound(text_or(claim, &["status", "capacity", "storage"], "0")),
        bound(modes(claim.at(&["status", "accessModes"]))),
        class(claim),
        text_or(claim, &["spec", "volumeAttributesClassName"], UNSET),
        age,
        text_or(claim, &["spec", "volumeMode"], UNSET),
    ])
}

fn claim_state(claim: &Json) -> String {
    let is_deleted = !claim.at(&["metadata", "deletionTimestamp"]).is_null();
    let is_allocated = !claim.at(&["status", "allocation"]).is_null();
    let is_reserved = is_allocated && !claim.at(&["status", "reservedFor"]).is_empty();
    let states = [
        (is_deleted, "deleted"),
        (!is_allocated && !is_deleted, "pending"),
        (is_allocated, "allocated"),
        (is_reserved, "reserved"),
    ];
    states.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{claim_state, modes};
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn a_claim_of_devices_shows_its_states() {
        let state = |deleted: bool, status: Json| {
            let mut claim = json!({"metadata": {}});
            claim.set(&["status"], status);
            if deleted {
                claim.set(&["metadata", "deletionTimestamp"], "2026-01-01T00:00:00Z");
            }
            claim_state(&claim)
        };
        assert_eq!(state(false, json!({})), "pending");
        assert_eq!(state(true, json!({})), "deleted");
        assert_eq!(state(false, json!({"allocation": {}})), "allocated");
        let reserved = json!({"allocation": {}, "reservedFor": [{"name": "p"}]});
        assert_eq!(state(true, reserved), "deleted,allocated,reserved");
    }

    #[test]
    fn access_modes_are_shown_in_a_fixed_order() {
        let list = json!(["ReadWriteOncePod", "ReadWriteOnce", "ReadWriteOnce"]);
        assert_eq!(modes(&list), json!("RWO,RWOP"));
    }
}
