//! `nodeproof plan --from-context`: the cluster of the question is one that runs.
//!
//! Inputs: a context. Outputs: nodes and what runs on them; on standard error what is read, before it is, and how much
//! there was. Invariant: nothing is written to the cluster, and Secrets are not read.

use std::path::PathBuf;

use nodeproof_core::network::{NODES, PODS, kind_of};
use nodeproof_core::profile::{RELEASES, Release};

use super::AskedCluster;
use crate::cli::read_only::say_cluster;
use crate::cli::terminal::note;
use crate::live::{Access, ReadOnlyRun};
use crate::plan::{CARRIED_KINDS, Carried, LeftOut, Workloads};

/// Options of a question about a cluster that runs.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ContextArgs {
    /// Take Nodes, Pods, their owners and budgets from the cluster of a context; it is read, and nothing is written
    #[arg(long, value_name = "NAME", conflicts_with_all = ["nodes", "zones", "pods"])]
    pub(super) from_context: Option<String>,
    /// The kubeconfig that has the context; default: KUBECONFIG, or else ~/.kube/config
    #[arg(long, value_name = "FILE", requires = "from_context")]
    kubeconfig: Option<PathBuf>,
}

impl ContextArgs {
    /// Reads the cluster of a context.
    pub(super) fn read(&self, context: &str) -> Result<AskedCluster, String> {
        let access = Access::of_context(self.kubeconfig.as_deref(), context)?;
        let run = ReadOnlyRun::open(&access)?;
        say_cluster(context, &access, &run);
        let kinds: Vec<String> = CARRIED_KINDS.iter().map(|kind| kind.qualified()).collect();
        note(format_args!("reads     lists of {}; nothing is written", kinds.join(", ")));
        let (mut lists, mut left_out) = (Vec::new(), Vec::new());
        for kind in &CARRIED_KINDS {
            match run.list(kind) {
                Ok(items) => lists.push((kind.clone(), items)),
                Err(why) if *kind == NODES || *kind == PODS => return Err(why),
                Err(what) => left_out.push(LeftOut { what, names: [].into() }),
            }
        }
        let counts: Vec<String> = lists
            .iter()
            .map(|(kind, items)| format!("{} {}", items.len(), kind_of(kind).unwrap_or_default()))
            .collect();
        note(format_args!("read      {}", counts.join(", ")));
        let release = modelled(run.release);
        if release.minor_name() != run.release.minor_name() {
            let what = format!("Kubernetes {} is not modelled: the answer is one of {release}", run.version);
            left_out.push(LeftOut { what, names: [].into() });
        }
        let flags =
            "flags of its control plane and kubelets cannot be read: say those that are not the default by --set";
        left_out.push(LeftOut { what: flags.to_owned(), names: [].into() });
        let carried = Carried::of(&lists, run.release);
        if carried.nodes.is_empty() {
            return Err(format!("the cluster of {context} has no Nodes"));
        }
        left_out.extend(carried.left_out);
        Ok(AskedCluster { nodes: carried.nodes, workloads: Workloads::Running(carried.objects), left_out, release })
    }
}

/// Returns the release itself, or the nearest one that is modelled.
fn modelled(release: Release) -> Release {
    let [oldest, .., newest] = RELEASES;
    let is_known = RELEASES.iter().any(|known| known.minor_name() == release.minor_name());
    if is_known { release } else { release.clamp(oldest, newest) }
}
