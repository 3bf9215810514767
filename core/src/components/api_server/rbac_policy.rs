//! The roles and bindings that every cluster starts with.
//!
//! Source: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/{policy,controller_policy,namespace_policy}.go (v1.31.0):
//! the tables are those of the oldest release that is offered, and what has changed since stands in the files of the
//! releases (`profile/releases`). One role a line: `name = rule | rule`. A rule is its verbs, its resources (or paths,
//! which begin with `/` or `urls=`), `@groups` if other than the core group (which is `core` among others), and
//! `#names`. `admin`, `edit` and `view` gather the rules of others, as clusterrole-aggregation-controller leaves them.
//! Inputs: a profile. Outputs: rules, or whole objects.

use alloc::format;
use alloc::vec::Vec;

use super::rbac::{PolicyRule, Words};
use super::rbac_kubeadm::{self, Maker};
use crate::json;
use crate::network::Resource;
use crate::objects::{Json, Text};
use crate::profile::Profile;

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
const BINDINGS: &str = "\
cluster-admin = g:system:masters\n\
system:basic-user = g:system:authenticated\n\
system:cluster-trust-bundle-discovery = g:system:serviceaccounts\n\
system:discovery = g:system:authenticated\n\
system:kube-controller-manager = u:system:kube-controller-manager\n\
system:kube-dns = s:kube-dns\n\
system:kube-scheduler = u:system:kube-scheduler\n\
system:monitoring = g:system:monitoring\n\
system:node =\n\
system:node-proxier = u:system:kube-proxy\n\
system:public-info-viewer = g:system:authenticated g:system:unauthenticated\n\
system:service-account-issuer-discovery = g:system:serviceaccounts\n\
system:volume-scheduler = u:system:kube-scheduler\n\
";

/// Who gets which Role in a namespace: binding, role, subjects.
const NAMESPACE_BINDINGS: &str = "\
kube-public/system:controller:bootstrap-signer = system:controller:bootstrap-signer s:bootstrap-signer\n\
kube-system/system::extension-apiserver-authentication-reader = extension-apiserver-authentication-reader \
    u:system:kube-controller-manager u:system:kube-scheduler\n\
kube-system/system::leader-locking-kube-controller-manager = system::leader-locking-kube-controller-manager \
    u:system:kube-controller-manager s:kube-controller-manager s:leader-election-controller\n\
kube-system/system::leader-locking-kube-scheduler = system::leader-locking-kube-scheduler u:system:kube-scheduler \
    s:kube-scheduler\n\
kube-system/system:controller:bootstrap-signer = system:controller:bootstrap-signer s:bootstrap-signer\n\
kube-system/system:controller:cloud-provider = system:controller:cloud-provider s:cloud-provider\n\
kube-system/system:controller:token-cleaner = system:controller:token-cleaner s:token-cleaner\n\
";

/// Roles: those of the whole cluster, those of controllers, `system:controller:NAME`, each bound to the service account
/// NAME of `kube-system`, and those in namespaces.
const ROLES_AT_FIRST: &str = "\
admin =\n\
cluster-admin = * * @* | * urls=*\n\
edit =\n\
system:aggregate-to-admin = create localsubjectaccessreviews @authorization.k8s.io | create,delete,deletecollection,\
    get,list,patch,update,watch rolebindings,roles @rbac.authorization.k8s.io\n\
system:aggregate-to-edit = get,list,watch pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy | \
    impersonate serviceaccounts | create,delete,deletecollection,patch,update pods,pods/attach,pods/exec,\
    pods/portforward,pods/proxy | create pods/eviction | create,delete,deletecollection,patch,update configmaps,\
    events,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,\
    services,services/proxy | create serviceaccounts/token | create,delete,deletecollection,patch,update daemonsets,\
    deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale \
    @apps | create,delete,deletecollection,patch,update horizontalpodautoscalers @autoscaling | create,delete,\
    deletecollection,patch,update cronjobs,jobs @batch | create,delete,deletecollection,patch,update daemonsets,\
    deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,\
    replicationcontrollers/scale @extensions | create,delete,deletecollection,patch,update poddisruptionbudgets \
    @policy | create,delete,deletecollection,patch,update ingresses,networkpolicies @networking.k8s.io | create,\
    delete,deletecollection,get,list,patch,update,watch leases @coordination.k8s.io\n\
system:aggregate-to-view = get,list,watch configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,\
    pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status | get,list,\
    watch bindings,events,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,\
    resourcequotas,resourcequotas/status | get,list,watch namespaces | get,list,watch endpointslices \
    @discovery.k8s.io | get,list,watch controllerrevisions,daemonsets,daemonsets/status,deployments,\
    deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,\
    statefulsets/scale,statefulsets/status @apps | get,list,watch horizontalpodautoscalers,\
    horizontalpodautoscalers/status @autoscaling | get,list,watch cronjobs,cronjobs/status,jobs,jobs/status @batch | \
    get,list,watch daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,\
    ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale \
    @extensions | get,list,watch poddisruptionbudgets,poddisruptionbudgets/status @policy | get,list,watch \
    ingresses,ingresses/status,networkpolicies @networking.k8s.io\n\
system:auth-delegator = create tokenreviews @authentication.k8s.io | create subjectaccessreviews \
    @authorization.k8s.io\n\
system:basic-user = create selfsubjectaccessreviews,selfsubjectrulesreviews @authorization.k8s.io | create \
    selfsubjectreviews @authentication.k8s.io\n\
system:certificates.k8s.io:certificatesigningrequests:nodeclient = create certificatesigningrequests/nodeclient \
    @certificates.k8s.io\n\
system:certificates.k8s.io:certificatesigningrequests:selfnodeclient = create \
    certificatesigningrequests/selfnodeclient @certificates.k8s.io\n\
system:certificates.k8s.io:kube-apiserver-client-approver = approve signers @certificates.k8s.io \
    #kubernetes.io/kube-apiserver-client\n\
system:certificates.k8s.io:kube-apiserver-client-kubelet-approver = approve signers @certificates.k8s.io \
    #kubernetes.io/kube-apiserver-client-kubelet\n\
system:certificates.k8s.io:kubelet-serving-approver = approve signers @certificates.k8s.io \
    #kubernetes.io/kubelet-serving\n\
system:certificates.k8s.io:legacy-unknown-approver = approve signers @certificates.k8s.io \
    #kubernetes.io/legacy-unknown\n\
system:discovery = get /api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/\n\
system:heapster = get,list,watch events,namespaces,nodes,pods | get,list,watch deployments @extensions\n\
system:kube-aggregator = get,list,watch endpoints,services\n\
system:kube-controller-manager = create,patch,update events @core,events.k8s.io | create leases @coordination.k8s.io \
    | get,update leases @coordination.k8s.io #kube-controller-manager | create secrets,serviceaccounts | delete \
    secrets | get configmaps,namespaces,secrets,serviceaccounts | update secrets,serviceaccounts | create \
    tokenreviews @authentication.k8s.io | create subjectaccessreviews @authorization.k8s.io | list,watch * @* | \
    create serviceaccounts/token\n\
system:kube-dns = list,watch endpoints,services\n\
system:kube-scheduler = create,patch,update events @core,events.k8s.io | create leases @coordination.k8s.io | get,\
    list,update,watch leases @coordination.k8s.io #kube-scheduler | create,delete,deletecollection,get,list,patch,\
    update,watch leasecandidates @coordination.k8s.io | get,list,watch nodes | delete,get,list,watch pods | create \
    bindings,pods/binding | patch,update pods/status | get,list,watch replicationcontrollers,services | get,list,\
    watch replicasets @apps,extensions | get,list,watch statefulsets @apps | get,list,watch poddisruptionbudgets \
    @policy | get,list,watch persistentvolumeclaims,persistentvolumes | create tokenreviews @authentication.k8s.io | \
    create subjectaccessreviews @authorization.k8s.io | get,list,watch csinodes @storage.k8s.io | get,list,watch \
    namespaces | get,list,watch csidrivers @storage.k8s.io | get,list,watch csistoragecapacities @storage.k8s.io\n\
system:kubelet-api-admin = get,list,watch nodes | proxy nodes | * nodes/log,nodes/metrics,nodes/proxy,nodes/stats\n\
system:monitoring = get /healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*\n\
system:node = create tokenreviews @authentication.k8s.io | create localsubjectaccessreviews,subjectaccessreviews \
    @authorization.k8s.io | get,list,watch services | create,get,list,watch nodes | patch,update nodes/status | \
    patch,update nodes | create,patch,update events | get,list,watch pods | create,delete pods | patch,update \
    pods/status | create pods/eviction | get,list,watch configmaps,secrets | get persistentvolumeclaims,\
    persistentvolumes | get endpoints | create,get,list,watch certificatesigningrequests @certificates.k8s.io | \
    create,delete,get,patch,update leases @coordination.k8s.io | get volumeattachments @storage.k8s.io | create \
    serviceaccounts/token | get,patch,update persistentvolumeclaims/status | get,list,watch csidrivers \
    @storage.k8s.io | create,delete,get,patch,update csinodes @storage.k8s.io | get,list,watch runtimeclasses \
    @node.k8s.io\n\
system:node-bootstrapper = create,get,list,watch certificatesigningrequests @certificates.k8s.io\n\
system:node-problem-detector = get nodes | patch nodes/status | create,patch,update events @core,events.k8s.io\n\
system:node-proxier = list,watch endpoints,services | get,list,watch nodes | create,patch,update events @core,\
    events.k8s.io | list,watch endpointslices @discovery.k8s.io\n\
system:persistent-volume-provisioner = create,delete,get,list,watch persistentvolumes | get,list,update,watch \
    persistentvolumeclaims | get,list,watch storageclasses @storage.k8s.io | watch events | create,patch,update \
    events @core,events.k8s.io\n\
system:public-info-viewer = get /healthz,/livez,/readyz,/version,/version/\n\
system:service-account-issuer-discovery = get /.well-known/openid-configuration,/.well-known/openid-configuration/,\
    /openid/v1/jwks,/openid/v1/jwks/\n\
system:volume-scheduler = get,list,patch,update,watch persistentvolumes | get,list,watch storageclasses \
    @storage.k8s.io | get,list,patch,update,watch persistentvolumeclaims\n\
view =\n\
system:controller:attachdetach-controller = list,watch persistentvolumeclaims,persistentvolumes | get,list,watch \
    nodes | patch,update nodes/status | list,watch pods | create,patch,update events @core,events.k8s.io | create,\
    delete,get,list,watch volumeattachments @storage.k8s.io | get,list,watch csidrivers @storage.k8s.io | get,list,\
    watch csinodes @storage.k8s.io\n\
system:controller:certificate-controller = delete,get,list,watch certificatesigningrequests @certificates.k8s.io | \
    update certificatesigningrequests/approval,certificatesigningrequests/status @certificates.k8s.io | approve \
    signers @certificates.k8s.io #kubernetes.io/kube-apiserver-client-kubelet | sign signers @certificates.k8s.io \
    #kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,\
    kubernetes.io/legacy-unknown | create subjectaccessreviews @authorization.k8s.io | create,patch,update events \
    @core,events.k8s.io\n\
system:controller:clusterrole-aggregation-controller = escalate,get,list,patch,update,watch clusterroles \
    @rbac.authorization.k8s.io\n\
system:controller:cronjob-controller = get,list,update,watch cronjobs @batch | create,delete,get,list,patch,update,\
    watch jobs @batch | update cronjobs/status @batch | update cronjobs/finalizers @batch | delete,list pods | \
    create,patch,update events @core,events.k8s.io\n\
system:controller:daemon-set-controller = get,list,watch daemonsets @apps,extensions | update daemonsets/status \
    @apps,extensions | update daemonsets/finalizers @apps,extensions | list,watch nodes | create,delete,list,patch,\
    watch pods | create pods/binding | create,delete,get,list,patch,update,watch controllerrevisions @apps | create,\
    patch,update events @core,events.k8s.io\n\
system:controller:deployment-controller = get,list,update,watch deployments @apps,extensions | update \
    deployments/status @apps,extensions | update deployments/finalizers @apps,extensions | create,delete,get,list,\
    patch,update,watch replicasets @apps,extensions | get,list,update,watch pods | create,patch,update events @core,\
    events.k8s.io\n\
system:controller:disruption-controller = get,list,watch deployments @apps,extensions | get,list,watch replicasets \
    @apps,extensions | get,list,watch replicationcontrollers | get,list,watch poddisruptionbudgets @policy | get,\
    list,watch statefulsets @apps | update poddisruptionbudgets/status @policy | patch,update pods/status | get \
    */scale @* | create,patch,update events @core,events.k8s.io\n\
system:controller:endpoint-controller = get,list,watch pods,services | create,delete,get,list,update endpoints | \
    create endpoints/restricted | create,patch,update events @core,events.k8s.io\n\
system:controller:endpointslice-controller = get,list,watch nodes,pods,services | update services/finalizers | \
    create,delete,get,list,update endpointslices @discovery.k8s.io | create,patch,update events @core,events.k8s.io\n\
system:controller:endpointslicemirroring-controller = get,list,watch endpoints,services | update services/finalizers \
    | update endpoints/finalizers | create,delete,get,list,update endpointslices @discovery.k8s.io | create,patch,\
    update events @core,events.k8s.io\n\
system:controller:ephemeral-volume-controller = get,list,watch pods | update pods/finalizers | create,get,list,watch \
    persistentvolumeclaims | create,patch,update events @core,events.k8s.io\n\
system:controller:expand-controller = get,list,patch,update,watch persistentvolumes | patch,update \
    persistentvolumeclaims/status | get,list,watch persistentvolumeclaims | get,list,watch storageclasses \
    @storage.k8s.io | get endpoints,services | get secrets | create,patch,update events @core,events.k8s.io\n\
system:controller:generic-garbage-collector = delete,get,list,patch,update,watch * @* | create,patch,update events \
    @core,events.k8s.io\n\
system:controller:horizontal-pod-autoscaler = get,list,watch horizontalpodautoscalers @autoscaling | update \
    horizontalpodautoscalers/status @autoscaling | get,update */scale @* | list pods | list pods @metrics.k8s.io | \
    get,list * @custom.metrics.k8s.io | get,list * @external.metrics.k8s.io | create,patch,update events @core,\
    events.k8s.io\n\
system:controller:job-controller = get,list,patch,update,watch jobs @batch | update jobs/status @batch | update \
    jobs/finalizers @batch | create,delete,list,patch,watch pods | create,patch,update events @core,events.k8s.io\n\
system:controller:legacy-service-account-token-cleaner = get configmaps \
    #kube-apiserver-legacy-service-account-token-tracking | delete,patch secrets\n\
system:controller:namespace-controller = delete,get,list,watch namespaces | update namespaces/finalize,\
    namespaces/status | delete,deletecollection,get,list * @*\n\
system:controller:node-controller = delete,get,list,patch,update nodes | patch,update nodes/status | patch,update \
    pods/status | delete,get,list pods | create,patch,update events @core,events.k8s.io\n\
system:controller:persistent-volume-binder = create,delete,get,list,update,watch persistentvolumes | update \
    persistentvolumes/status | get,list,update,watch persistentvolumeclaims | update persistentvolumeclaims/status | \
    create,delete,get,list,watch pods | get,list,watch storageclasses @storage.k8s.io | create,delete,get,update \
    endpoints | create,delete,get services | get secrets | get,list nodes | create,patch,update events @core,\
    events.k8s.io | watch events\n\
system:controller:pod-garbage-collector = delete,list,watch pods | get,list nodes | patch pods/status\n\
system:controller:pv-protection-controller = get,list,update,watch persistentvolumes | create,patch,update events \
    @core,events.k8s.io\n\
system:controller:pvc-protection-controller = get,list,update,watch persistentvolumeclaims | get,list,watch pods | \
    create,patch,update events @core,events.k8s.io\n\
system:controller:replicaset-controller = get,list,update,watch replicasets @apps,extensions | update \
    replicasets/status @apps,extensions | update replicasets/finalizers @apps,extensions | create,delete,list,patch,\
    watch pods | create,patch,update events @core,events.k8s.io\n\
system:controller:replication-controller = get,list,update,watch replicationcontrollers | update \
    replicationcontrollers/status | update replicationcontrollers/finalizers | create,delete,list,patch,watch pods | \
    create,patch,update events @core,events.k8s.io\n\
system:controller:resourcequota-controller = list,watch * @* | update resourcequotas/status | create,patch,update \
    events @core,events.k8s.io\n\
system:controller:root-ca-cert-publisher = create,update configmaps | create,patch,update events @core,events.k8s.io\n\
system:controller:route-controller = list,watch nodes | patch nodes/status | create,patch,update events @core,\
    events.k8s.io\n\
system:controller:service-account-controller = create serviceaccounts | create,patch,update events @core,\
    events.k8s.io\n\
system:controller:service-controller = get,list,watch services | patch,update services/status | list,watch nodes | \
    create,patch,update events @core,events.k8s.io\n\
system:controller:statefulset-controller = list,watch pods | get,list,watch statefulsets @apps | update \
    statefulsets/status @apps | update statefulsets/finalizers @apps | create,delete,get,patch,update pods | create,\
    delete,get,list,patch,update,watch controllerrevisions @apps | create,get persistentvolumeclaims | create,patch,\
    update events @core,events.k8s.io | delete,update persistentvolumeclaims\n\
system:controller:ttl-after-finished-controller = delete,get,list,watch jobs @batch | create,patch,update events \
    @core,events.k8s.io\n\
system:controller:ttl-controller = list,patch,update,watch nodes | create,patch,update events @core,events.k8s.io\n\
system:controller:validatingadmissionpolicy-status-controller = get,list,watch validatingadmissionpolicies \
    @admissionregistration.k8s.io | get,patch,update validatingadmissionpolicies/status \
    @admissionregistration.k8s.io | create,patch,update events @core,events.k8s.io\n\
kube-public/system:controller:bootstrap-signer = get,list,watch configmaps | update configmaps #cluster-info | \
    create,patch,update events @core,events.k8s.io\n\
kube-system/extension-apiserver-authentication-reader = get,list,watch configmaps \
    #extension-apiserver-authentication\n\
kube-system/system::leader-locking-kube-controller-manager = watch configmaps | get,update configmaps \
    #kube-controller-manager | create,get,list,update,watch leases @coordination.k8s.io | create,get,list,update,\
    watch leasecandidates @coordination.k8s.io\n\
kube-system/system::leader-locking-kube-scheduler = watch configmaps | get,update configmaps #kube-scheduler | \
    create,get,list,update,watch leases @coordination.k8s.io | create,get,list,update,watch leasecandidates \
    @coordination.k8s.io\n\
kube-system/system:controller:bootstrap-signer = get,list,watch secrets\n\
kube-system/system:controller:cloud-provider = create,get,list,watch configmaps\n\
kube-system/system:controller:token-cleaner = delete,get,list,watch secrets | create,patch,update events @core,\
    events.k8s.io\n\
";

/// The roles that gather the rules of others: the label's last part, with what carries it.
const GATHERED: [(&str, &[&str]); 3] = [
    ("admin", &["edit", "system:aggregate-to-admin"]),
    ("edit", &["system:aggregate-to-edit", "view"]),
    ("view", &["system:aggregate-to-view"]),
];

/// Reads a line of a table: a name and the text after the equals sign.
fn entry(line: &'static str) -> Option<(&'static str, &'static str)> {
    let (name, text) = line.split_once(" =")?;
    Some((name, text.trim()))
}

/// Reads rules, one behind the other.
fn rules_in(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.split('|').map(str::trim).filter(|rule| !rule.is_empty())
}

/// Lists the names of all roles: of the whole cluster, of controllers, in namespaces, each in order.
fn role_names(profile: &Profile) -> Vec<&'static str> {
    let new = profile.role_changes().filter(|line| !is_change(line));
    let mut names: Vec<&str> = ROLES_AT_FIRST.lines().chain(new).filter_map(entry).map(|(name, _)| name).collect();
    names.sort_by_key(|name| (name.contains('/'), name.starts_with(CONTROLLER), *name));
    names
}

/// What the names of controllers' roles begin with.
const CONTROLLER: &str = "system:controller:";

/// Tells whether a line of a release changes a role that is there.
fn is_change(line: &str) -> bool {
    line.split(' ').next().is_some_and(|name| name.ends_with(':'))
}

/// Returns the rules of a role: those that it had at first, as the releases since have changed them.
fn rules_of(name: &str, profile: &Profile) -> Option<Vec<PolicyRule>> {
    let lines = || ROLES_AT_FIRST.lines().chain(profile.role_changes());
    // Most lines are passed over by their first word.
    let own = lines().filter(|line| line.starts_with(name)).filter(|line| !is_change(line)).filter_map(entry);
    let mut rules: Vec<&str> = rules_in(own.into_iter().find(|(own, _)| *own == name)?.1).collect();
    for line in profile.role_changes().filter(|line| line.starts_with(name)) {
        if let Some(change) = line[name.len()..].strip_prefix(": ") {
            apply(&mut rules, change);
        }
    }
    Some(rules.into_iter().map(rule_of).collect())
}

/// Puts the rules on the right of a change in the place of those on its left, or at the end.
fn apply(rules: &mut Vec<&'static str>, change: &'static str) {
    let (old, new) = change.split_once("=>").unwrap_or((change, ""));
    let old: Vec<&str> = rules_in(old).collect();
    match rules.windows(old.len().max(1)).position(|window| window == old) {
        Some(at) => drop(rules.splice(at..at + old.len(), rules_in(new))),
        None if old.is_empty() => rules.extend(rules_in(new)),
        None => panic!("{}", format!("no role has {change:?}")),
    }
}

fn rule_of(text: &'static str) -> PolicyRule {
    let list = Words::Fixed;
    let mut rule = PolicyRule::default();
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
pub(super) fn cluster_rules(name: &str, profile: &Profile) -> Option<Vec<PolicyRule>> {
    if let Some((_, parts)) = GATHERED.iter().find(|(gathered, _)| *gathered == name) {
        return Some(parts.iter().filter_map(|part| cluster_rules(part, profile)).flatten().collect());
    }
    rules_of(name, profile)
}

/// Returns the rules of a Role that every cluster has.
pub(super) fn namespace_rules(namespace: &str, name: &str, profile: &Profile) -> Option<Vec<PolicyRule>> {
    rules_of(&format!("{namespace}/{name}"), profile)
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

/// A subject of a binding.
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
pub(super) fn bindings(profile: &Profile, maker: Maker) -> Vec<Binding> {
    let roles = role_names(profile);
    let mut all: Vec<Binding> = BINDINGS
        .lines()
        .filter_map(entry)
        .filter(|(name, _)| roles.contains(name))
        .map(|(name, text)| Binding {
            namespace: "",
            name: Text::of(name),
            role: Text::of(name),
            subjects: subjects(text),
        })
        .collect();
    all.extend(roles.into_iter().filter_map(|name| {
        let account = Subject::ServiceAccount(Text::of("kube-system"), Text::of(name.strip_prefix(CONTROLLER)?));
        Some(Binding { namespace: "", role: Text::of(name), name: Text::of(name), subjects: Vec::from([account]) })
    }));
    all.extend(rbac_kubeadm::bindings().into_iter().filter(|_| maker == Maker::Kubeadm));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.extend(NAMESPACE_BINDINGS.lines().filter_map(entry).filter_map(|(path, text)| {
        let (namespace, name) = path.split_once('/')?;
        let (role, who) = text.split_once(' ')?;
        Some(Binding { namespace, name: Text::of(name), role: Text::of(role), subjects: subjects(who) })
    }));
    all
}

/// Returns all roles and bindings as the objects that the server stores.
pub(super) fn objects(profile: &Profile, maker: Maker) -> Vec<(Resource, Json)> {
    let mut all = Vec::new();
    for path in role_names(profile) {
        if let Some((namespace, name)) = path.split_once('/') {
            let mut role = head("Role", namespace, name);
            set_rules(&mut role, &rules_of(path, profile).unwrap_or_default());
            all.push((ROLES, role));
        } else {
            all.push((CLUSTER_ROLES, cluster_role(path, profile)));
        }
    }
    for binding in bindings(profile, maker) {
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

fn cluster_role(name: &str, profile: &Profile) -> Json {
    let mut role = head("ClusterRole", "", name);
    for (gathering, parts) in GATHERED {
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{gathering}");
        if parts.contains(&name) {
            role.set(&["metadata", "labels", &label], "true");
        }
        if gathering == name {
            let mut labels = Json::object();
            labels.set(&["matchLabels", &label], "true");
            role.set(&["aggregationRule", "clusterRoleSelectors"], Vec::from([labels]));
        }
    }
    set_rules(&mut role, &cluster_rules(name, profile).unwrap_or_default());
    role
}

fn head(kind: &str, namespace: &str, name: &str) -> Json {
    let mut tree = json!({"kind": kind, "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}});
    if !name.starts_with(rbac_kubeadm::PREFIX) {
        tree.set(&["metadata", "labels", "kubernetes.io/bootstrapping"], "rbac-defaults");
        tree.set(&["metadata", "annotations", "rbac.authorization.kubernetes.io/autoupdate"], "true");
    }
    if !namespace.is_empty() {
        tree.set(&["metadata", "namespace"], namespace);
    }
    tree
}

fn set_rules(role: &mut Json, rules: &[PolicyRule]) {
    role.set(&["rules"], if rules.is_empty() { Json::Null } else { rules.iter().map(PolicyRule::json).collect() });
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
    use alloc::vec::Vec;

    use super::{Maker, PolicyRule, apply, bindings, cluster_rules, objects, role_names};
    use crate::profile::{Profile, RELEASES};

    #[test]
    fn every_binding_names_a_role_that_is_there() {
        for release in RELEASES {
            let profile = Profile::of(release);
            for binding in bindings(&profile, Maker::Kubeadm) {
                let found = match binding.namespace {
                    "" => cluster_rules(&binding.role, &profile),
                    namespace => super::namespace_rules(namespace, &binding.role, &profile),
                };
                assert!(found.is_some_and(|rules| !rules.is_empty()), "{} at {release}", binding.name);
            }
        }
    }

    #[test]
    fn every_change_is_about_a_role_that_is_there() {
        for release in RELEASES {
            let profile = Profile::of(release);
            let names = role_names(&profile);
            for line in profile.role_changes() {
                let name = line.split(' ').next().unwrap_or_default();
                assert!(names.contains(&name.strip_suffix(':').unwrap_or(name)), "{line}");
            }
            assert!(objects(&profile, Maker::Nobody).len() > 120);
        }
    }

    #[test]
    fn rules_are_replaced_added_and_taken_away() {
        let mut rules = Vec::from(["a", "b", "c"]);
        for (change, expected) in [
            ("a | b => x", &["x", "c"][..]),
            ("=> d", &["x", "c", "d"]),
            ("c => c | e", &["x", "c", "e", "d"]),
            ("x | c =>", &["e", "d"]),
        ] {
            apply(&mut rules, change);
            assert_eq!(rules, expected, "{change}");
        }
    }

    #[test]
    fn the_garbage_collector_of_pods_watches_nodes_since_it_may() {
        let [oldest, ..] = RELEASES;
        let has_watch = |profile: &Profile| {
            let rules = cluster_rules("system:controller:pod-garbage-collector", profile).unwrap();
            let is_of_nodes = |rule: &PolicyRule| rule.resources.iter().eq(["nodes"]);
            rules.iter().any(|rule| is_of_nodes(rule) && rule.verbs.iter().any(|verb| verb == "watch"))
        };
        assert!(!has_watch(&Profile::of(oldest)) && has_watch(&Profile::default()));
        assert!(cluster_rules("system:controller:resource-claim-controller", &Profile::of(oldest)).is_none());
    }
}
