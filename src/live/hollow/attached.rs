//! Hollow nodes on a cluster that exists already: its context was allowed by name, or it is a kind cluster's.
//!
//! Inputs: a kubeconfig and a context. Outputs: environments that share the cluster, each with Nodes, namespaces and
//! zones of its own; their kubelets have certificates that the cluster has signed. Invariants: nothing is written to a
//! context that is not permitted; what an environment creates is in the journal before, so that the guard or
//! `nodeproof clean` can remove it if the run cannot.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nodeproof_core::network::{Call, LEASES, NAMESPACES, NODE_LEASES, NODES, PODS, Resource, Target as Address, Verb};
use nodeproof_core::objects::time::seconds;
use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::scenario::Capabilities;

use super::backend::{ALL_ARE_BEGUN, of_hollow_nodes};
use super::environment::{HollowEnvironment, Plane};
use crate::live::answers::latency;
use crate::live::cleanup::deletion::gone;
use crate::live::cleanup::guard::Guard;
use crate::live::cleanup::journal::{Journal, UndoableChange};
use crate::live::cleanup::op::Op;
use crate::live::client::Caller;
use crate::live::kind::{KindOptions, NoCluster, header, is_kind, run_id};
use crate::live::kubelets::{HollowNodes, Server, Signer};
use crate::live::read_only_run::release_of;
use crate::live::safety::{ClusterSummary, Permission, permission};
use crate::live::{
    Access, Clock, Environment, EnvironmentFuture, LiveBackend, Permit, Permits, ScenarioPlan, TimingTolerance,
    expected_length,
};
use crate::state_dir::state_dir;

/// How many scenarios run at a time: the cluster's controllers may write 20 times a second for all of them together.
///
/// Source: k8s.io/kube-controller-manager config/v1alpha1 (v1.34), `--kube-api-qps` 20.
const TOGETHER_MAX: usize = 8;

/// A cluster that is there already.
#[derive(Debug)]
pub struct Attached {
    cluster: Arc<AttachedCluster>,
    permits: Arc<Permits>,
}

/// What all environments on a cluster share.
#[derive(Debug)]
pub(super) struct AttachedCluster {
    access: Access,
    target: ClusterSummary,
    release: Release,
    kubeconfig: Option<std::path::PathBuf>,
    journal: Mutex<Option<Journal>>,
    /// Ends after the journal does: it undoes what the journal then still holds.
    guard: Option<Guard>,
}

impl Attached {
    /// Attaches to the cluster of the context that is named.
    ///
    /// # Errors
    /// It must not be touched, or does not answer.
    pub fn open(options: &KindOptions) -> Result<Self, NoCluster> {
        let cluster = NoCluster::unless(AttachedCluster::open(options))?;
        Ok(Self { cluster: Arc::new(cluster), permits: Permits::of(TOGETHER_MAX) })
    }
}

impl LiveBackend for Attached {
    fn capabilities(&self) -> Capabilities {
        of_hollow_nodes()
    }

    fn obstacle(&self, plan: &ScenarioPlan) -> Option<String> {
        let (own, wanted) = (self.cluster.release, plan.settings.profile().release());
        (own.minor != wanted.minor).then(|| {
            format!("the cluster runs Kubernetes {}: --k8s {} fits", self.cluster.target.version, own.minor_name())
        })
    }

    fn announcement(&self) -> Option<String> {
        let settings = Settings::of(self.cluster.release);
        let flag = |name: &str| format!("--{name} {}", seconds(settings.duration(name)));
        Some(format!(
            "hollow nodes in {}; taken for granted: {}, {}",
            self.cluster.target,
            flag("node-monitor-grace-period"),
            flag("node-monitor-period")
        ))
    }

    fn concurrency(&self) -> NonZeroUsize {
        ALL_ARE_BEGUN
    }

    fn room(&self, plan: &ScenarioPlan) -> Option<Permit> {
        Some(self.permits.take(expected_length(&plan.scenario)))
    }

    fn dry_run(&self, plan: &ScenarioPlan) -> Vec<String> {
        let length = seconds(expected_length(&plan.scenario));
        vec![format!("{length} with Nodes, namespaces and zones whose names end in {}", plan.aliases.suffix())]
    }

    fn environment<'a>(&'a self, plan: &'a ScenarioPlan) -> EnvironmentFuture<'a> {
        Box::pin(async move {
            let cluster = Arc::clone(&self.cluster);
            let timing_tolerance = TimingTolerance::of(latency(&cluster.access).await?, &plan.settings);
            let nodes = cluster.nodes(&plan.settings, plan.seed).await?;
            let plane = Plane::Attached { cluster, made: Vec::new(), machines: Vec::new() };
            let environment: Box<dyn Environment> =
                Box::new(HollowEnvironment::new(plane, nodes, timing_tolerance, None));
            Ok(environment)
        })
    }
}

impl AttachedCluster {
    async fn open(options: &KindOptions) -> Result<Self, NoCluster> {
        let refused = NoCluster::Refused;
        let context = options.context.as_deref().unwrap_or_default();
        let permitted = permission(context, None, &options.allowed).map_err(|refusal| refused(refusal.to_string()))?;
        let access = Access::of_context(options.kubeconfig.as_deref(), context).map_err(refused)?;
        if let Permission::Kind { cluster } = permitted {
            // A name alone does not prove a kind cluster.
            is_kind(&cluster, &access).await?;
        }
        let (target, release) = examine(&access, context).await.map_err(NoCluster::Absent)?;
        let kubeconfig = options.kubeconfig.as_deref().map(absolute);
        let state = state_dir(options.state_dir.as_deref()).map_err(refused)?;
        let header = header(&run_id(), context, kubeconfig.clone(), context);
        let unwritten = |error: std::io::Error| refused(format!("the journal cannot be written: {error}"));
        let journal = Journal::begin(&state, &header).map_err(unwritten)?;
        let guard = Guard::start(journal.path())
            .map_err(|error| NoCluster::Refused(format!("the guard cannot be started: {error}")))?;
        Ok(Self { access, target, release, kubeconfig, journal: Mutex::new(Some(journal)), guard: Some(guard) })
    }

    pub(super) const fn access(&self) -> &Access {
        &self.access
    }

    /// Prepares hollow nodes whose certificates the cluster signs; they live on the current runtime.
    async fn nodes(&self, settings: &Settings, seed: u64) -> Result<HollowNodes, String> {
        let config = self.access.config().await?;
        let authorities = config.root_cert.clone().unwrap_or_default();
        let server = Server::new(&config.cluster_url.to_string(), &authorities, config.tls_server_name.as_deref());
        let server = server.map_err(|error| error.to_string())?;
        let signer = Signer::Requests(self.access.caller().await?.client().clone());
        Ok(HollowNodes::new(server, signer, settings.clone(), seed, Clock::new()))
    }

    /// Records in the journal that an object is about to be created, and how it is removed.
    pub(super) fn note_creation(&self, resource: &Resource, name: &str) -> Result<u32, String> {
        let calls = removal(resource, name);
        let delete = |call: &Call| Op::Delete {
            kubeconfig: self.kubeconfig.clone(),
            context: self.target.context.clone(),
            path: call.path_and_query(),
        };
        let what = format!("{} {name} was made in {}", resource.plural.trim_end_matches('s'), self.target.context);
        let change = UndoableChange {
            what,
            container: None,
            node_fault: None,
            undo: calls.iter().map(delete).collect(),
            until: None,
        };
        self.with_journal(|journal| journal.record_change(change))
    }

    /// Records in the journal that it is removed.
    pub(super) fn undone(&self, id: u32) -> Result<(), String> {
        self.with_journal(|journal| journal.undone(id))
    }

    /// Removes the Node of a removed machine, and its Lease.
    pub(super) async fn remove_node(&self, caller: &Caller, name: &str) -> Result<(), String> {
        for call in removal(&NODES, name) {
            gone(&caller.ask(&call).await)?;
        }
        Ok(())
    }

    fn journal(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_journal<T>(&self, work: impl FnOnce(&mut Journal) -> std::io::Result<T>) -> Result<T, String> {
        let mut journal = self.journal();
        let journal = journal.as_mut().ok_or("the run is over")?;
        work(journal).map_err(|error| format!("the journal cannot be written: {error}"))
    }
}

impl Drop for AttachedCluster {
    fn drop(&mut self) {
        let journal = self.journal().take();
        drop(journal.map(Journal::end));
        drop(self.guard.take());
    }
}

/// Returns the requests that remove a Node with its Lease, or a namespace with its Pods.
fn removal(resource: &Resource, name: &str) -> Vec<Call> {
    let delete = |resource: Resource, namespace: &str, name: &str| {
        Call::new(Verb::Delete, resource, namespace.to_owned(), name.to_owned())
    };
    if *resource == NAMESPACES {
        let pods = Call::new(Verb::DeleteCollection, PODS, name.to_owned(), "").query("gracePeriodSeconds", "0");
        return vec![pods, delete(NAMESPACES, "", name)];
    }
    // A Lease without an owner stays when its Node goes.
    vec![delete(NODES, "", name), delete(LEASES, NODE_LEASES, name)]
}

async fn examine(access: &Access, context: &str) -> Result<(ClusterSummary, Release), String> {
    let caller = access.caller().await?;
    let call = Call { target: Address::Path("/version".into()), ..Call::new(Verb::Get, NODES, "", "") };
    let answer = caller.ask(&call).await;
    let version = answer.body.get("gitVersion").as_str().unwrap_or_default().to_owned();
    let release = release_of(&version);
    let release = release.ok_or_else(|| silence(context, &access.server(), &answer))?;
    let nodes = caller.ask(&Call::new(Verb::List, NODES, "", "")).await.body.get("items").items().len();
    Ok((ClusterSummary { context: context.to_owned(), server: access.server(), version, nodes }, release))
}

/// Returns the error text for a server that did not tell its version: what was asked, and what it answered.
fn silence(context: &str, server: &str, answer: &nodeproof_core::scenario::AnswerSeen) -> String {
    let asked = format!("GET {server}/version");
    if answer.code == 0 {
        return format!("the cluster of context {context} does not answer: {asked}: {}", answer.message);
    }
    format!("context {context} does not say what it is: {asked}: {} {}", answer.code, answer.message)
}

fn absolute(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_can_be_removed_by_others() {
        let shown = |resource: &Resource, name: &str| -> Vec<String> {
            removal(resource, name).iter().map(Call::path_and_query).collect()
        };
        assert_eq!(
            shown(&NODES, "w-np"),
            ["/api/v1/nodes/w-np", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w-np"]
        );
        assert_eq!(
            shown(&NAMESPACES, "default-np"),
            ["/api/v1/namespaces/default-np/pods?gracePeriodSeconds=0", "/api/v1/namespaces/default-np"]
        );
    }

    #[test]
    fn a_cluster_that_does_not_answer_is_told_from_one_that_answers_something_else() {
        let answer = |code, message: &str| nodeproof_core::scenario::AnswerSeen {
            code,
            message: message.to_owned(),
            ..nodeproof_core::scenario::AnswerSeen::default()
        };
        let server = "https://10.0.0.1:6443";
        assert_eq!(
            silence("prod", server, &answer(0, "Connection refused")),
            "the cluster of context prod does not answer: GET https://10.0.0.1:6443/version: Connection refused"
        );
        assert_eq!(
            silence("prod", server, &answer(401, "Unauthorized")),
            "context prod does not say what it is: GET https://10.0.0.1:6443/version: 401 Unauthorized"
        );
    }

    #[test]
    fn a_context_that_was_not_allowed_is_refused() {
        for (context, why) in [("", "no context was named"), ("prod", "was not allowed")] {
            let options = KindOptions { context: Some(context.to_owned()), ..KindOptions::default() };
            let refusal = Attached::open(&options).unwrap_err();
            assert!(matches!(&refusal, NoCluster::Refused(text) if text.contains(why)), "{refusal}");
        }
    }
}
