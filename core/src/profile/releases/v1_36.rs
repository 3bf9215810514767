//! Kubernetes 1.36: what is first true in it.

use super::*;

const SINCE: Release = Release::new(36, 0);

pub(super) const DATA: ReleaseData = ReleaseData {
    minor: 36,
    patch: Some(3),
    rows: &[
        row(SINCE, "lengths-in-bytes", YES, "k8s.io/apimachinery pkg/util/validation/validation.go (v1.36)"),
        row(SINCE, "ambiguous-cidrs-warn", NO, ""),
        row(SINCE, "strict-cidrs", YES, "pkg/features/kube_features.go (v1.36), StrictIPCIDRValidation"),
        row(
            SINCE,
            "bad-delete-options-are-bad-requests",
            YES,
            "k8s.io/apiserver pkg/endpoints/handlers/delete.go (v1.36)",
        ),
        row(SINCE, "scheme-name", Value::Text("pkg/runtime/scheme.go:111"), ""),
        row(SINCE, "health-has-storage-readiness", YES, "k8s.io/apiserver pkg/server/config.go (v1.36)"),
        row(SINCE, "volume-attachments-are-checked-once", YES, "pkg/apis/storage/validation/validation.go (v1.36)"),
        row(
            SINCE,
            "stateful-set-events-capitalised",
            YES,
            "pkg/controller/statefulset/stateful_pod_control.go (v1.34, v1.36), recordPodEvent",
        ),
        row(
            SINCE,
            "declared-features",
            Value::Text(
                "ExtendWebSocketsToKubelet,InPlacePodLevelResourcesVerticalScaling,\
                 InPlacePodVerticalScalingInitContainers,RestartAllContainersOnContainerExits",
            ),
            "k8s.io/component-helpers/nodedeclaredfeatures/features/registry.go (v1.36), gate NodeDeclaredFeatures",
        ),
        row(
            SINCE,
            "impersonation-is-constrained",
            YES,
            "k8s.io/apiserver pkg/features/kube_features.go (v1.36), ConstrainedImpersonation; KEP-5284",
        ),
        row(
            SINCE,
            "scheduler-preempted-event-relates-preemptor",
            NO,
            "pkg/scheduler/framework/preemption/executor.go (v1.34, v1.36)",
        ),
        row(SINCE, "scheduler-bound-nominee-frees-others", NO, ""),
        row(SINCE, "node-table-tells-architecture", YES, "pkg/printers/internalversion/printers.go (v1.36), printNode"),
    ],
    gates: &[
        gate(SINCE, "DisableNodeKubeProxyVersion", LOCKED),
        gate(SINCE, "ExtendWebSocketsToKubelet", BETA),
        gate(SINCE, "KubeletFineGrainedAuthz", LOCKED),
        gate(SINCE, "NodeDeclaredFeatures", BETA),
        gate(SINCE, "StaleControllerConsistencyDaemonSet", BETA),
        gate(SINCE, "StaleControllerConsistencyJob", BETA),
        gate(SINCE, "StaleControllerConsistencyReplicaSet", BETA),
        gate(SINCE, "StaleControllerConsistencyStatefulSet", BETA),
        gate(SINCE, "UserNamespacesSupport", LOCKED),
    ],
    roles: "\
kube-system/system::leader-locking-kube-controller-manager: watch configmaps | get,update configmaps \
    #kube-controller-manager =>\n\
kube-system/system::leader-locking-kube-scheduler: watch configmaps | get,update configmaps #kube-scheduler =>\n\
system:aggregate-to-edit: create,delete,deletecollection,patch,update configmaps,events,persistentvolumeclaims,\
    replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy => create,\
    delete,deletecollection,patch,update configmaps,persistentvolumeclaims,replicationcontrollers,\
    replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy\n\
system:aggregate-to-edit: create serviceaccounts/token => create serviceaccounts/token | create,delete,\
    deletecollection,patch,update events @core,events.k8s.io\n\
system:aggregate-to-view: get,list,watch bindings,events,limitranges,namespaces/status,pods/log,pods/status,\
    replicationcontrollers/status,resourcequotas,resourcequotas/status => get,list,watch bindings,limitranges,\
    namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status\n\
system:aggregate-to-view: get,list,watch namespaces => get,list,watch namespaces | get,list,watch events @core,\
    events.k8s.io\n\
system:controller:device-taint-eviction-controller = delete,get,list,watch pods | patch,update pods/status | get,\
    list,watch resourceclaims @resource.k8s.io | get,list,watch resourceslices @resource.k8s.io | get,list,watch \
    deviceclasses @resource.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:controller:expand-controller: get services =>\n\
system:controller:persistent-volume-binder: get services =>\n\
system:controller:pvc-protection-controller: get,list,update,watch persistentvolumeclaims => get,list,update,watch \
    persistentvolumeclaims | update persistentvolumeclaims/status\n\
system:controller:resource-claim-controller: => patch,update resourceclaims/binding @resource.k8s.io\n\
system:kube-scheduler: => create,delete resourceclaims @resource.k8s.io | patch,update resourceclaims/binding \
    @resource.k8s.io\n\
system:monitoring: get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* => get /flagz,\
    /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz\n\
system:node: create,patch,update events => create,patch,update events @core,events.k8s.io\n\
",
    ..NOTHING
};
