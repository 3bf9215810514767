//! The columns that tables of many kinds have, and how columns are written down. Pure.

use crate::profile::releases::Column;

pub(super) const fn column(name: &'static str, about: &'static str) -> Column {
    Column { name, kind: "string", format: "", priority: 0, about }
}

pub(super) const fn wide(name: &'static str, about: &'static str) -> Column {
    Column { priority: 1, ..column(name, about) }
}

pub(super) const fn integer(name: &'static str, about: &'static str) -> Column {
    Column { kind: "integer", ..column(name, about) }
}

pub(super) const fn boolean(name: &'static str, about: &'static str) -> Column {
    Column { kind: "boolean", ..column(name, about) }
}

pub(super) const fn named(name: &'static str, about: &'static str) -> Column {
    Column { format: "name", ..column(name, about) }
}

const NAME_ABOUT: &str = "Name must be unique within a namespace. Is required when creating resources, although some \
                          resources may allow a client to request the generation of an appropriate name \
                          automatically. Name is primarily intended for creation idempotence and configuration \
                          definition. Cannot be updated. More info: \
                          https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
pub(super) const NAME: Column = named("Name", NAME_ABOUT);
pub(super) const AGE_ABOUT: &str = "CreationTimestamp is a timestamp representing the server time when this object \
    was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may \
    not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. \
    Null for lists. More info: \
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
pub(super) const AGE: Column = column("Age", AGE_ABOUT);
pub(super) const CONTAINERS: Column = wide("Containers", "Names of each container in the template.");
pub(super) const IMAGES: Column = wide("Images", "Images referenced by each container in the template.");
/// The Pods of a Job, or of those of a CronJob.
pub(super) const JOB_SELECTOR: Column = wide(
    "Selector",
    "A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: \
     https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
);
