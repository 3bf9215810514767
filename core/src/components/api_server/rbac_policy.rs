//! The roles and bindings that every cluster starts with.
//!
//! Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/{policy,controller_policy,namespace_policy}.go (v1.31.0, v1.34.4,
//! v1.36.3). One role a line: `name = rule | rule`. A rule is its verbs, its resources (or paths, which begin with `/` or
//! `urls=`), `@groups` if other than the core group (which is `core` among others), and `#names`. `>1.34` says since which
//! release a role or rule is there, `<1.36` from which on it is not. `admin`, `edit` and `view` gather the rules of others,
//! as clusterrole-aggregation-controller leaves them. Inputs: a release. Outputs: rules, or whole objects.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::rbac::{Rule, Words};
use crate::json;
use crate::network::Resource;
use crate::objects::{Json, Release, Text};

/// `roles` of RBAC.
pub(super) const ROLES: Resource = Resource::of("rbac.authorization.k8s.io", "v1", "roles");
/// `clusterroles` of RBAC.
pub(super) const CLUSTER_ROLES: Resource = Resource::of("rbac.authorization.k8s.io", "v1", "clusterroles");
/// `rolebindings` of RBAC.
pub(super) const ROLE_BINDINGS: Resource = Resource::of("rbac.authorization.k8s.io", "v1", "rolebindings");
/// `clusterrolebindings` of RBAC.
pub(super) const CLUSTER_ROLE_BINDINGS: Resource =
    Resource::of("rbac.authorization.k8s.io", "v1", "clusterrolebindings");

/// Who gets which ClusterRole: subjects are `u:` users, `g:` groups, `s:` service accounts of `kube-system`.
const BINDINGS: &str = r"
cluster-admin = g:system:masters
system:basic-user = g:system:authenticated
system:discovery = g:system:authenticated
system:kube-controller-manager = u:system:kube-controller-manager
system:kube-dns = s:kube-dns
system:kube-scheduler = u:system:kube-scheduler
system:monitoring = g:system:monitoring
system:node =
system:node-proxier = u:system:kube-proxy
system:public-info-viewer = g:system:authenticated g:system:unauthenticated
system:service-account-issuer-discovery = g:system:serviceaccounts
system:volume-scheduler = u:system:kube-scheduler
";

/// Who gets which Role in a namespace: binding, role, subjects.
const NAMESPACE_BINDINGS: &str = r"
kube-public/system:controller:bootstrap-signer = system:controller:bootstrap-signer s:bootstrap-signer
kube-system/system::extension-apiserver-authentication-reader = extension-apiserver-authentication-reader u:system:kube-controller-manager u:system:kube-scheduler
kube-system/system::leader-locking-kube-controller-manager = system::leader-locking-kube-controller-manager u:system:kube-controller-manager s:kube-controller-manager s:leader-election-controller
kube-system/system::leader-locking-kube-scheduler = system::leader-locking-kube-scheduler u:system:kube-scheduler s:kube-scheduler
kube-system/system:controller:bootstrap-signer = system:controller:bootstrap-signer s:bootstrap-signer
kube-system/system:controller:cloud-provider = system:controller:cloud-provider s:cloud-provider
kube-system/system:controller:token-cleaner = system:controller:token-cleaner s:token-cleaner
";

/// ClusterRoles.
const CLUSTER: &str = r"
admin =
cluster-admin = * * @* | * urls=*
edit =
system:aggregate-to-admin = create localsubjectaccessreviews @authorization.k8s.io | create,delete,deletecollection,get,list,patch,update,watch rolebindings,roles @rbac.authorization.k8s.io
system:aggregate-to-edit = get,list,watch pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy | impersonate serviceaccounts | create,delete,deletecollection,patch,update pods,pods/attach,pods/exec,pods/portforward,pods/proxy | create pods/eviction | <1.36 create,delete,deletecollection,patch,update configmaps,events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy | >1.36 create,delete,deletecollection,patch,update configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy | create serviceaccounts/token | >1.36 create,delete,deletecollection,patch,update events @core,events.k8s.io | create,delete,deletecollection,patch,update daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale @apps | create,delete,deletecollection,patch,update horizontalpodautoscalers @autoscaling | create,delete,deletecollection,patch,update cronjobs,jobs @batch | create,delete,deletecollection,patch,update daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale @extensions | create,delete,deletecollection,patch,update poddisruptionbudgets @policy | create,delete,deletecollection,patch,update ingresses,networkpolicies @networking.k8s.io | create,delete,deletecollection,get,list,patch,update,watch leases @coordination.k8s.io | >1.34 create,delete,deletecollection,patch,update resourceclaims,resourceclaimtemplates @resource.k8s.io
system:aggregate-to-view = get,list,watch configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status | <1.36 get,list,watch bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status | >1.36 get,list,watch bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status | get,list,watch namespaces | >1.36 get,list,watch events @core,events.k8s.io | get,list,watch endpointslices @discovery.k8s.io | get,list,watch controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status @apps | get,list,watch horizontalpodautoscalers,horizontalpodautoscalers/status @autoscaling | get,list,watch cronjobs,cronjobs/status,jobs,jobs/status @batch | get,list,watch daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale @extensions | get,list,watch poddisruptionbudgets,poddisruptionbudgets/status @policy | get,list,watch ingresses,ingresses/status,networkpolicies @networking.k8s.io | >1.34 get,list,watch resourceclaims,resourceclaims/status,resourceclaimtemplates @resource.k8s.io
system:auth-delegator = create tokenreviews @authentication.k8s.io | create subjectaccessreviews @authorization.k8s.io
system:basic-user = create selfsubjectaccessreviews,selfsubjectrulesreviews @authorization.k8s.io | create selfsubjectreviews @authentication.k8s.io
system:certificates.k8s.io:certificatesigningrequests:nodeclient = create certificatesigningrequests/nodeclient @certificates.k8s.io
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient = create certificatesigningrequests/selfnodeclient @certificates.k8s.io
system:certificates.k8s.io:kube-apiserver-client-approver = approve signers @certificates.k8s.io #kubernetes.io/kube-apiserver-client
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver = approve signers @certificates.k8s.io #kubernetes.io/kube-apiserver-client-kubelet
system:certificates.k8s.io:kubelet-serving-approver = approve signers @certificates.k8s.io #kubernetes.io/kubelet-serving
system:certificates.k8s.io:legacy-unknown-approver = approve signers @certificates.k8s.io #kubernetes.io/legacy-unknown
system:discovery = get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
system:heapster = get,list,watch events,namespaces,nodes,pods | get,list,watch deployments @extensions
system:kube-aggregator = get,list,watch endpoints,services
system:kube-controller-manager = create,patch,update events @core,events.k8s.io | create leases @coordination.k8s.io | get,update leases @coordination.k8s.io #kube-controller-manager | create secrets,serviceaccounts | delete secrets | get configmaps,namespaces,secrets,serviceaccounts | update secrets,serviceaccounts | create tokenreviews @authentication.k8s.io | create subjectaccessreviews @authorization.k8s.io | list,watch * @* | create serviceaccounts/token
system:kube-dns = list,watch endpoints,services
system:kube-scheduler = create,patch,update events @core,events.k8s.io | create leases @coordination.k8s.io | get,list,update,watch leases @coordination.k8s.io #kube-scheduler | create,delete,deletecollection,get,list,patch,update,watch leasecandidates @coordination.k8s.io | get,list,watch nodes | delete,get,list,watch pods | create bindings,pods/binding | patch,update pods/status | get,list,watch replicationcontrollers,services | get,list,watch replicasets @apps,extensions | get,list,watch statefulsets @apps | get,list,watch poddisruptionbudgets @policy | get,list,watch persistentvolumeclaims,persistentvolumes | create tokenreviews @authentication.k8s.io | create subjectaccessreviews @authorization.k8s.io | get,list,watch csinodes @storage.k8s.io | >1.34 get,list,watch volumeattachments @storage.k8s.io | get,list,watch namespaces | get,list,watch csidrivers @storage.k8s.io | get,list,watch csistoragecapacities @storage.k8s.io | >1.34 get,list,watch deviceclasses @resource.k8s.io | >1.34 get,list,patch,update,watch resourceclaims @resource.k8s.io | >1.34 get,list,patch,update,watch resourceclaims/status @resource.k8s.io | >1.34 update pods/finalizers | >1.34 get,list,watch resourceslices @resource.k8s.io | >1.36 create,delete resourceclaims @resource.k8s.io | >1.36 patch,update resourceclaims/binding @resource.k8s.io
system:kubelet-api-admin = get,list,watch nodes | proxy nodes | * nodes/log,nodes/metrics,nodes/proxy,nodes/stats | >1.34 * nodes/configz,nodes/healthz,nodes/pods
system:monitoring = <1.36 get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/* | >1.36 get /flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz | >1.34 get nodes/metrics
system:node = create tokenreviews @authentication.k8s.io | create localsubjectaccessreviews,subjectaccessreviews @authorization.k8s.io | get,list,watch services | create,get,list,watch nodes | patch,update nodes/status | patch,update nodes | <1.36 create,patch,update events | >1.36 create,patch,update events @core,events.k8s.io | get,list,watch pods | create,delete pods | patch,update pods/status | create pods/eviction | get,list,watch configmaps,secrets | get persistentvolumeclaims,persistentvolumes | get endpoints | create,get,list,watch certificatesigningrequests @certificates.k8s.io | create,delete,get,patch,update leases @coordination.k8s.io | get volumeattachments @storage.k8s.io | create serviceaccounts/token | get,patch,update persistentvolumeclaims/status | get,list,watch csidrivers @storage.k8s.io | create,delete,get,patch,update csinodes @storage.k8s.io | get,list,watch runtimeclasses @node.k8s.io | >1.34 get resourceclaims @resource.k8s.io | >1.34 deletecollection resourceslices @resource.k8s.io | >1.34 get serviceaccounts
system:node-bootstrapper = create,get,list,watch certificatesigningrequests @certificates.k8s.io
system:node-problem-detector = get nodes | patch nodes/status | create,patch,update events @core,events.k8s.io
system:node-proxier = list,watch endpoints,services | get,list,watch nodes | create,patch,update events @core,events.k8s.io | >1.34 list,watch servicecidrs @networking.k8s.io | list,watch endpointslices @discovery.k8s.io
system:persistent-volume-provisioner = create,delete,get,list,watch persistentvolumes | get,list,update,watch persistentvolumeclaims | get,list,watch storageclasses @storage.k8s.io | watch events | create,patch,update events @core,events.k8s.io
system:public-info-viewer = get /healthz,/livez,/readyz,/version,/version/
system:service-account-issuer-discovery = get /.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
system:volume-scheduler = get,list,patch,update,watch persistentvolumes | get,list,watch storageclasses @storage.k8s.io | get,list,patch,update,watch persistentvolumeclaims
view =
";

/// The ClusterRoles of controllers, `system:controller:NAME`, each bound to the service account NAME of `kube-system`.
const CONTROLLERS: &str = r"
attachdetach-controller = list,watch persistentvolumeclaims,persistentvolumes | get,list,watch nodes | patch,update nodes/status | list,watch pods | create,patch,update events @core,events.k8s.io | create,delete,get,list,watch volumeattachments @storage.k8s.io | get,list,watch csidrivers @storage.k8s.io | get,list,watch csinodes @storage.k8s.io
certificate-controller = delete,get,list,watch certificatesigningrequests @certificates.k8s.io | update certificatesigningrequests/approval,certificatesigningrequests/status @certificates.k8s.io | approve signers @certificates.k8s.io #kubernetes.io/kube-apiserver-client-kubelet | sign signers @certificates.k8s.io #kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown | create subjectaccessreviews @authorization.k8s.io | create,patch,update events @core,events.k8s.io
clusterrole-aggregation-controller = escalate,get,list,patch,update,watch clusterroles @rbac.authorization.k8s.io
cronjob-controller = get,list,update,watch cronjobs @batch | create,delete,get,list,patch,update,watch jobs @batch | update cronjobs/status @batch | update cronjobs/finalizers @batch | <1.34 delete,list pods | >1.34 delete,list,watch pods | create,patch,update events @core,events.k8s.io
daemon-set-controller = get,list,watch daemonsets @apps,extensions | update daemonsets/status @apps,extensions | update daemonsets/finalizers @apps,extensions | list,watch nodes | create,delete,list,patch,watch pods | create pods/binding | create,delete,get,list,patch,update,watch controllerrevisions @apps | create,patch,update events @core,events.k8s.io
deployment-controller = get,list,update,watch deployments @apps,extensions | update deployments/status @apps,extensions | update deployments/finalizers @apps,extensions | create,delete,get,list,patch,update,watch replicasets @apps,extensions | get,list,update,watch pods | create,patch,update events @core,events.k8s.io
device-taint-eviction-controller >1.36 = delete,get,list,watch pods | patch,update pods/status | get,list,watch resourceclaims @resource.k8s.io | get,list,watch resourceslices @resource.k8s.io | get,list,watch deviceclasses @resource.k8s.io | create,patch,update events @core,events.k8s.io
disruption-controller = get,list,watch deployments @apps,extensions | get,list,watch replicasets @apps,extensions | get,list,watch replicationcontrollers | get,list,watch poddisruptionbudgets @policy | get,list,watch statefulsets @apps | update poddisruptionbudgets/status @policy | patch,update pods/status | get */scale @* | create,patch,update events @core,events.k8s.io
endpoint-controller = get,list,watch pods,services | <1.34 create,delete,get,list,update endpoints | >1.34 create,delete,get,list,update,watch endpoints | create endpoints/restricted | create,patch,update events @core,events.k8s.io
endpointslice-controller = get,list,watch nodes,pods,services | update services/finalizers | <1.34 create,delete,get,list,update endpointslices @discovery.k8s.io | >1.34 create,delete,get,list,update,watch endpointslices @discovery.k8s.io | create,patch,update events @core,events.k8s.io
endpointslicemirroring-controller = get,list,watch endpoints,services | update services/finalizers | update endpoints/finalizers | <1.34 create,delete,get,list,update endpointslices @discovery.k8s.io | >1.34 create,delete,get,list,update,watch endpointslices @discovery.k8s.io | create,patch,update events @core,events.k8s.io
ephemeral-volume-controller = get,list,watch pods | update pods/finalizers | create,get,list,watch persistentvolumeclaims | create,patch,update events @core,events.k8s.io
expand-controller = get,list,patch,update,watch persistentvolumes | patch,update persistentvolumeclaims/status | get,list,watch persistentvolumeclaims | <1.34 get,list,watch storageclasses @storage.k8s.io | <1.34 get endpoints,services | <1.34 get secrets | create,patch,update events @core,events.k8s.io | >1.34<1.36 get services
generic-garbage-collector = delete,get,list,patch,update,watch * @* | create,patch,update events @core,events.k8s.io
horizontal-pod-autoscaler = get,list,watch horizontalpodautoscalers @autoscaling | update horizontalpodautoscalers/status @autoscaling | get,update */scale @* | <1.34 list pods | <1.34 list pods @metrics.k8s.io | <1.34 get,list * @custom.metrics.k8s.io | <1.34 get,list * @external.metrics.k8s.io | >1.34 list,watch pods | >1.34 list,watch pods @metrics.k8s.io | >1.34 get,list,watch * @custom.metrics.k8s.io | >1.34 get,list,watch * @external.metrics.k8s.io | create,patch,update events @core,events.k8s.io
job-controller = get,list,patch,update,watch jobs @batch | update jobs/status @batch | update jobs/finalizers @batch | create,delete,list,patch,watch pods | create,patch,update events @core,events.k8s.io
legacy-service-account-token-cleaner = get configmaps #kube-apiserver-legacy-service-account-token-tracking | delete,patch secrets
namespace-controller = delete,get,list,watch namespaces | update namespaces/finalize,namespaces/status | <1.34 delete,deletecollection,get,list * @* | >1.34 delete,deletecollection,get,list,watch * @*
node-controller = <1.34 delete,get,list,patch,update nodes | >1.34 delete,get,list,patch,update,watch nodes | patch,update nodes/status | patch,update pods/status | <1.34 delete,get,list pods | >1.34 delete,get,list,watch pods | create,patch,update events @core,events.k8s.io
persistent-volume-binder = create,delete,get,list,update,watch persistentvolumes | update persistentvolumes/status | get,list,update,watch persistentvolumeclaims | update persistentvolumeclaims/status | create,delete,get,list,watch pods | get,list,watch storageclasses @storage.k8s.io | <1.34 create,delete,get,update endpoints | <1.34 create,delete,get services | <1.34 get secrets | <1.34 get,list nodes | >1.34 list,watch nodes | create,patch,update events @core,events.k8s.io | watch events | >1.34<1.36 get services
pod-garbage-collector = delete,list,watch pods | <1.34 get,list nodes | >1.34 get,list,watch nodes | patch pods/status
pv-protection-controller = get,list,update,watch persistentvolumes | create,patch,update events @core,events.k8s.io
pvc-protection-controller = get,list,update,watch persistentvolumeclaims | >1.36 update persistentvolumeclaims/status | get,list,watch pods | create,patch,update events @core,events.k8s.io
replicaset-controller = get,list,update,watch replicasets @apps,extensions | update replicasets/status @apps,extensions | update replicasets/finalizers @apps,extensions | create,delete,list,patch,watch pods | create,patch,update events @core,events.k8s.io
replication-controller = get,list,update,watch replicationcontrollers | update replicationcontrollers/status | update replicationcontrollers/finalizers | create,delete,list,patch,watch pods | create,patch,update events @core,events.k8s.io
resource-claim-controller >1.34 = get,list,watch pods | update pods/finalizers | create,delete,get,list,watch resourceclaims @resource.k8s.io | patch,update resourceclaims,resourceclaims/status @resource.k8s.io | patch,update pods/status | create,patch,update events @core,events.k8s.io | >1.36 patch,update resourceclaims/binding @resource.k8s.io
resourcequota-controller = list,watch * @* | update resourcequotas/status | create,patch,update events @core,events.k8s.io
root-ca-cert-publisher = create,update configmaps | create,patch,update events @core,events.k8s.io
route-controller = list,watch nodes | patch nodes/status | create,patch,update events @core,events.k8s.io
selinux-warning-controller >1.34 = create,patch,update events @core,events.k8s.io | get,list,watch persistentvolumes | get,list,watch persistentvolumeclaims | get,list,watch pods | get,list,watch csidrivers @storage.k8s.io
service-account-controller = create serviceaccounts | create,patch,update events @core,events.k8s.io
service-cidrs-controller >1.34 = get,list,patch,update,watch servicecidrs @networking.k8s.io | patch,update servicecidrs/finalizers @networking.k8s.io | patch,update servicecidrs/status @networking.k8s.io | get,list,watch ipaddresses @networking.k8s.io | create,patch,update events @core,events.k8s.io
service-controller = get,list,watch services | patch,update services/status | list,watch nodes | create,patch,update events @core,events.k8s.io
statefulset-controller = list,watch pods | get,list,watch statefulsets @apps | update statefulsets/status @apps | update statefulsets/finalizers @apps | create,delete,get,patch,update pods | create,delete,get,list,patch,update,watch controllerrevisions @apps | <1.34 create,get persistentvolumeclaims | >1.34 create,get,list,watch persistentvolumeclaims | create,patch,update events @core,events.k8s.io | delete,update persistentvolumeclaims | >1.34 update pods/finalizers
ttl-after-finished-controller = delete,get,list,watch jobs @batch | create,patch,update events @core,events.k8s.io
ttl-controller = list,patch,update,watch nodes | create,patch,update events @core,events.k8s.io
validatingadmissionpolicy-status-controller = get,list,watch validatingadmissionpolicies @admissionregistration.k8s.io | get,patch,update validatingadmissionpolicies/status @admissionregistration.k8s.io | create,patch,update events @core,events.k8s.io
volumeattributesclass-protection-controller >1.34 = get,list,watch persistentvolumeclaims | get,list,watch persistentvolumes | get,list,update,watch volumeattributesclasses @storage.k8s.io | create,patch,update events @core,events.k8s.io
";

/// Roles in namespaces.
const NAMESPACED: &str = r"
kube-public/system:controller:bootstrap-signer = get,list,watch configmaps | update configmaps #cluster-info | create,patch,update events @core,events.k8s.io
kube-system/extension-apiserver-authentication-reader = get,list,watch configmaps #extension-apiserver-authentication
kube-system/system::leader-locking-kube-controller-manager = <1.36 watch configmaps | <1.36 get,update configmaps #kube-controller-manager | create,get,list,update,watch leases @coordination.k8s.io | create,get,list,update,watch leasecandidates @coordination.k8s.io
kube-system/system::leader-locking-kube-scheduler = <1.36 watch configmaps | <1.36 get,update configmaps #kube-scheduler | create,get,list,update,watch leases @coordination.k8s.io | create,get,list,update,watch leasecandidates @coordination.k8s.io
kube-system/system:controller:bootstrap-signer = get,list,watch secrets
kube-system/system:controller:cloud-provider = create,get,list,watch configmaps
kube-system/system:controller:token-cleaner = delete,get,list,watch secrets | create,patch,update events @core,events.k8s.io
";

/// The roles that gather the rules of others: the label's last part, with what carries it.
const GATHERED: [(&str, &[&str]); 3] = [
    ("admin", &["edit", "system:aggregate-to-admin"]),
    ("edit", &["system:aggregate-to-edit", "view"]),
    ("view", &["system:aggregate-to-view"]),
];

/// A line of a table that holds at a release: its name and its text.
fn lines(table: &'static str, release: Release) -> impl Iterator<Item = (&'static str, &'static str)> {
    table.lines().filter_map(move |line| entry(line, release))
}

/// Reads a line of a table, unless it is empty or for other releases.
fn entry(line: &'static str, release: Release) -> Option<(&'static str, &'static str)> {
    let (name, text) = line.split_once('=')?;
    let mut words = name.split_whitespace();
    let (name, marks) = (words.next()?, words.next().unwrap_or(""));
    holds(marks, release).then_some((name, text.trim()))
}

/// Tells whether marks as `>1.34<1.36` hold at a release.
fn holds(marks: &str, release: Release) -> bool {
    let minor = |text: &str| text.split(['<', '>']).next().and_then(|text| text.trim_start_matches("1.").parse().ok());
    let since: Option<u16> = marks.split_once('>').and_then(|(_, text)| minor(text));
    let until: Option<u16> = marks.split_once('<').and_then(|(_, text)| minor(text));
    since.is_none_or(|since| release.minor >= since) && until.is_none_or(|until| release.minor < until)
}

fn rules_of(text: &'static str, release: Release) -> Vec<Rule> {
    text.split(" | ")
        .map(str::trim)
        .filter(|rule| !rule.is_empty())
        .filter_map(|rule| match rule.split_once(' ') {
            Some((marks, rest)) if marks.starts_with(['<', '>']) => holds(marks, release).then(|| rule_of(rest)),
            _ => Some(rule_of(rule)),
        })
        .collect()
}

fn rule_of(text: &'static str) -> Rule {
    let list = Words::Fixed;
    let mut rule = Rule::default();
    for (at, word) in text.split(' ').enumerate() {
        match word.split_at(1) {
            _ if at == 0 => rule.verbs = list(word),
            ("@", groups) => rule.groups = list(groups),
            ("#", names) => rule.names = list(names),
            ("/", _) => rule.urls = list(word),
            _ => match word.strip_prefix("urls=") {
                Some(urls) => rule.urls = list(urls),
                None => rule.resources = list(word),
            },
        }
    }
    if rule.urls.is_empty() && rule.groups.is_empty() {
        rule.groups = list("core");
    }
    rule
}

/// Returns the rules of a ClusterRole that every cluster has.
pub(super) fn cluster_rules(name: &str, release: Release) -> Option<Vec<Rule>> {
    if let Some((_, parts)) = GATHERED.iter().find(|(gathered, _)| *gathered == name) {
        return Some(parts.iter().filter_map(|part| cluster_rules(part, release)).flatten().collect());
    }
    let (table, short) = match name.strip_prefix("system:controller:") {
        Some(short) => (CONTROLLERS, short),
        None => (CLUSTER, name),
    };
    // Most lines are passed over by their first word.
    let own = table.lines().filter(|line| line.starts_with(short));
    own.filter_map(|line| entry(line, release)).find(|(own, _)| *own == short).map(|(_, text)| rules_of(text, release))
}

/// Returns the rules of a Role that every cluster has.
pub(super) fn namespace_rules(namespace: &str, name: &str, release: Release) -> Option<Vec<Rule>> {
    let wanted = format!("{namespace}/{name}");
    lines(NAMESPACED, release).find(|(own, _)| *own == wanted).map(|(_, text)| rules_of(text, release))
}

/// A binding of the tables.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// Where it holds; empty for the whole cluster.
    pub(super) namespace: &'static str,
    pub(super) name: Text,
    pub(super) role: Text,
    pub(super) subjects: Vec<Subject>,
}

/// Somebody whom a binding names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Subject {
    User(Text),
    Group(Text),
    /// A service account with its namespace.
    ServiceAccount(Text, Text),
}

fn subjects(text: &'static str) -> Vec<Subject> {
    text.split_whitespace()
        .filter_map(|word| {
            let (kind, name) = word.split_once(':')?;
            Some(match kind {
                "u" => Subject::User(Text::of(name)),
                "g" => Subject::Group(Text::of(name)),
                _ => Subject::ServiceAccount(Text::of("kube-system"), Text::of(name)),
            })
        })
        .collect()
}

/// Returns the bindings that every cluster has, in order of their names, those of the whole cluster first.
pub(super) fn bindings(release: Release) -> Vec<Binding> {
    let mut all: Vec<Binding> = lines(BINDINGS, release)
        .map(|(name, text)| Binding {
            namespace: "",
            name: Text::of(name),
            role: Text::of(name),
            subjects: subjects(text),
        })
        .collect();
    all.extend(lines(CONTROLLERS, release).map(|(short, _)| {
        let name = Text::from(format!("system:controller:{short}"));
        let account = Subject::ServiceAccount(Text::of("kube-system"), Text::of(short));
        Binding { namespace: "", role: name.clone(), name, subjects: Vec::from([account]) }
    }));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.extend(lines(NAMESPACE_BINDINGS, release).filter_map(|(path, text)| {
        let (namespace, name) = path.split_once('/')?;
        let (role, who) = text.split_once(' ')?;
        Some(Binding { namespace, name: Text::of(name), role: Text::of(role), subjects: subjects(who) })
    }));
    all
}

/// Returns all roles and bindings as the objects that the server stores.
pub(super) fn objects(release: Release) -> Vec<(Resource, Json)> {
    let mut all = Vec::new();
    let cluster = lines(CLUSTER, release).map(|(name, _)| name.to_string());
    let controllers = lines(CONTROLLERS, release).map(|(short, _)| format!("system:controller:{short}"));
    for name in cluster.chain(controllers) {
        let mut role = head("ClusterRole", "", &name);
        for (gathering, parts) in GATHERED {
            let label = format!("rbac.authorization.k8s.io/aggregate-to-{gathering}");
            if parts.contains(&name.as_str()) {
                role.set(&["metadata", "labels", &label], "true");
            }
            if gathering == name {
                let selector = [(label, Json::from("true"))];
                let mut labels = Json::object();
                for (key, value) in selector {
                    labels.set(&["matchLabels", &key], value);
                }
                role.set(&["aggregationRule", "clusterRoleSelectors"], Vec::from([labels]));
            }
        }
        set_rules(&mut role, &cluster_rules(&name, release).unwrap_or_default());
        all.push((CLUSTER_ROLES, role));
    }
    for (path, text) in lines(NAMESPACED, release) {
        let (namespace, name) = path.split_once('/').unwrap_or(("", path));
        let mut role = head("Role", namespace, name);
        set_rules(&mut role, &rules_of(text, release));
        all.push((ROLES, role));
    }
    for binding in bindings(release) {
        let (kind, role_kind, resource) = if binding.namespace.is_empty() {
            ("ClusterRoleBinding", "ClusterRole", CLUSTER_ROLE_BINDINGS)
        } else {
            ("RoleBinding", "Role", ROLE_BINDINGS)
        };
        let mut tree = head(kind, binding.namespace, &binding.name);
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": binding.role.as_str()});
        tree.set(&["roleRef"], role);
        if !binding.subjects.is_empty() {
            tree.set(&["subjects"], binding.subjects.iter().map(subject_json).collect::<Json>());
        }
        all.push((resource, tree));
    }
    all
}

fn head(kind: &str, namespace: &str, name: &str) -> Json {
    let mut tree = json!({"kind": kind, "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name,
        "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"}}});
    if !namespace.is_empty() {
        tree.set(&["metadata", "namespace"], namespace);
    }
    tree
}

fn set_rules(role: &mut Json, rules: &[Rule]) {
    role.set(&["rules"], if rules.is_empty() { Json::Null } else { rules.iter().map(Rule::json).collect() });
}

fn subject_json(subject: &Subject) -> Json {
    const GROUP: &str = "rbac.authorization.k8s.io";
    match subject {
        Subject::User(name) => json!({"apiGroup": GROUP, "kind": "User", "name": name.as_str()}),
        Subject::Group(name) => json!({"apiGroup": GROUP, "kind": "Group", "name": name.as_str()}),
        Subject::ServiceAccount(namespace, name) => {
            json!({"kind": "ServiceAccount", "name": name.as_str(), "namespace": namespace.as_str()})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rule, bindings, cluster_rules, objects};
    use crate::objects::RELEASES;

    #[test]
    fn every_binding_names_a_role_that_is_there() {
        for release in RELEASES {
            for binding in bindings(release) {
                let found = match binding.namespace {
                    "" => cluster_rules(&binding.role, release),
                    namespace => super::namespace_rules(namespace, &binding.role, release),
                };
                assert!(found.is_some_and(|rules| !rules.is_empty()), "{} at {release}", binding.name);
            }
        }
    }

    #[test]
    fn releases_differ_as_their_marks_say() {
        let has_watch = |release| {
            let rules = cluster_rules("system:controller:pod-garbage-collector", release).unwrap();
            let is_of_nodes = |rule: &Rule| rule.resources.iter().eq(["nodes"]);
            rules.iter().any(|rule| is_of_nodes(rule) && rule.verbs.iter().any(|verb| verb == "watch"))
        };
        assert_eq!(RELEASES.map(has_watch), [false, true, true]);
        assert!(cluster_rules("system:controller:resource-claim-controller", RELEASES[0]).is_none());
        assert_eq!(RELEASES.map(|release| objects(release).len()).map(|count| count > 120), [true; 3]);
    }
}
