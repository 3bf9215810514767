//! The rows of what controllers, the scheduler and kubectl do.

use super::release::{OLDEST, Release};
use super::row::{Row, off, on};
use super::value::Value;

/// Of controllers, the scheduler and kubectl.
pub(super) static OF_CONTROLLERS: &[Row] = &[
    off("stateful-set-history-limit-may-change", "revisionHistoryLimit of a StatefulSet may be changed"),
    off("stateful-set-service-is-a-label", "the name of the Service of a new StatefulSet is checked"),
    off("stateful-set-templates-are-checked", "the templates of a StatefulSet's Pods and claims are checked"),
    off("stateful-set-events-capitalised", "Events of a StatefulSet begin with Create and Delete, not create, delete"),
    off("stateful-sets-wait-for-available", "a StatefulSet waits for pods that are available, not only ready"),
    off("stateful-sets-take-gone-pods-for-deleted", "a StatefulSet takes a pod that is gone already for deleted"),
    off("stateful-sets-plan-availability", "a StatefulSet looks at a pod again just as it becomes available"),
    off("endpoints-name-their-manager", "Endpoints have a label that says that their controller keeps them"),
    off("endpoint-ports-sorted-by-fnv", "the order in which ports of endpoints are written is that of another digest"),
    off(
        "scheduler-tells-victims",
        "the message about a Pod for which others are preempted ends with the node and their number",
    ),
    on(
        "scheduler-wakes-for-any-taint",
        "a change of a node's taints lets Pods try again that were rejected for other reasons",
    ),
    off(
        "scheduler-anti-affinity-hint-heeds-any-term",
        "a Pod with several terms of anti-affinity tries again after a change that concerns one of them",
    ),
    on(
        "scheduler-turns-unstarted-victims-round",
        "of Pods that were not started, those that come later on their node are preempted last",
    ),
    off(
        "stateful-sets-replace-unavailable-first",
        "a rolling update of a StatefulSet without order deletes all old pods that are not available at once",
    ),
    off(
        "stateful-set-status-is-carried-on",
        "a StatefulSet keeps conditions of its status, and with OnDelete gets a new current revision",
    ),
    Row {
        name: "taint-eviction-event-source",
        says: "of whom the Events about evictions for NoExecute taints are",
        first: &[
            (OLDEST, Value::Text("taint-controller")),
            (Release::new(29, 0), Value::Text("taint-eviction-controller")),
        ],
        flag: "",
        source: "pkg/controller/nodelifecycle/scheduler/taint_manager.go (v1.28), NewNoExecuteTaintManager; \
                 pkg/controller/tainteviction/taint_eviction.go (v1.34), New",
    },
    Row {
        name: "taken-volume-event",
        says: "how the Event about a volume that is attached elsewhere begins",
        first: &[(OLDEST, Value::Text("Multi-Attach error"))],
        flag: "",
        source: "pkg/controller/volume/attachdetach/reconciler/reconciler.go (v1.34), reportMultiAttachError",
    },
    Row {
        name: "taken-volume-nobody-uses",
        says: "how that Event ends where no Pod uses the volume",
        first: &[(OLDEST, Value::Text(" and can't be attached to another"))],
        flag: "",
        source: "pkg/controller/volume/attachdetach/reconciler/reconciler.go (v1.34), reportMultiAttachError",
    },
    off(
        "recreating-deployments-follow-each-pod",
        "a Deployment with the strategy Recreate is synced for each pod that is gone, and not for the last one alone",
    ),
    off(
        "drain-does-not-wait-for-tries",
        "a drain that deletes Pods as a dry run of the server ends without a look whether they are gone",
    ),
    off(
        "scheduler-retries-bindings",
        "a binding that the server could not take for the moment is tried four times before it has failed",
    ),
    off("claims-tell-whether-they-are-used", "a bound claim says in its condition Unused whether a Pod names it"),
    off(
        "silent-nodes-leases-are-read",
        "the node lifecycle controller reads the Lease of a silent node from the server before it believes its cache",
    ),
    off("scheduler-leaves-ending-victims", "victims of a preemption that are being deleted, or gone, are left alone"),
    off("scheduler-preempts-in-memory", "a victim of a preemption whose volumes are being bound is not deleted"),
    off(
        "scheduler-ignores-failures-of-replaced-pods",
        "nothing is told of a failed binding if another pod of that name is there",
    ),
    off(
        "scheduler-affinity-hint-heeds-both-sides",
        "a pod that another one's anti-affinity keeps away tries again when that one goes, or its own labels change",
    ),
    off("scheduler-hints-count-nominated-pods", "a nominated pod that goes helps pods rejected for their neighbours"),
    off("scheduler-heeds-gone-nominations", "a Pod that is not nominated for a node any more lets others try again"),
    off("scheduler-queueing-hints", "a plugin of the scheduler says whether a change helps a pod that it rejected"),
    off("scheduler-pops-from-backoff", "a pod that pauses is tried when no other is to be tried"),
    off("scheduler-preempts-beside-attempts", "victims of a preemption are deleted beside further attempts"),
    on("scheduler-names-untolerated-taint", "the scheduler names the taint that keeps a pod away"),
    off(
        "scheduler-request-above-allocatable-is-unresolvable",
        "preemption is not tried on a node that is too small for a pod",
    ),
    off("scheduler-names-volume-affinity", "the scheduler says that a node did not match a volume's node affinity"),
    off(
        "scheduler-looks-for-resource-claims",
        "the scheduler has a plugin that looks for resource claims to deallocate",
    ),
    on("scheduler-tells-of-no-claims", "that plugin says of a Pod without claims that there are none to deallocate"),
    off("scheduler-counts-unnamed-nodes", "nodes that a pod leaves out by name are counted in the message"),
    off(
        "scheduler-failure-always-clears-nomination",
        "an attempt that fails by an error takes a nomination back with gate NominatedNodeNameForExpectation too",
    ),
    Row {
        name: "scheduler-balance-score",
        says: "how the balance of CPU and memory on a node is scored",
        first: &[(OLDEST, Value::Text("always"))],
        source: "pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go (v1.31, v1.34, v1.36)",
        flag: "",
    },
    off(
        "scheduler-victim-gets-preemptors-status",
        "a preempted pod gets the status of the pod that preempts it, by mistake",
    ),
    on("scheduler-preempted-event-relates-preemptor", "the Event Preempted refers to the pod that preempts"),
    Row {
        name: "scheduler-bound-nominee-frees-others",
        says: "a nominated pod that is bound lets waiting pods be tried again",
        first: &[(OLDEST, Value::Bool(false))],
        source: "pkg/scheduler/eventhandlers.go (v1.34, v1.36), deletePodFromSchedulingQueue",
        flag: "",
    },
    off("unissued-requests-are-removed", "a request for a certificate that was approved and never signed is removed"),
    off("volume-binder-retries", "a volume or claim that could not be written is tried again after a short pause"),
    off("jobs-count-pods-in-pauses", "a Job that waits before it makes the next pod counts the active ones"),
    off("cron-jobs-know-jobs-by-uid", "the Jobs of a CronJob are those that name its UID, not those that name it"),
    off("cron-jobs-find-job-of-name", "a CronJob whose Job is there already looks for it in its own namespace"),
    off("drain-ends-at-its-timeout", "a drain ends when its time is over, not at its next look at a pod"),
    off("drain-knows-daemon-sets-by-group", "a drain takes an owner for a DaemonSet by its group too, not by its kind"),
    off("drain-reads-refused-pods-again", "a drain reads a pod again before it repeats a refused eviction"),
    off("drain-says-cannot-delete-once", "a drain that refuses unmanaged pods does not say `cannot delete` twice"),
];
