//! The options and the signal handling that the subcommands with live backends share.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::terminal::note;
use crate::harness::{LiveOptions, Runner};

/// Lets a signal end a run in real time in order.
pub(super) fn handle_signals(runner: &Runner) {
    runner.handle_signals(|| note("interrupted: what runs is ended and put back; once more ends this at once"));
}

/// Returns the exit code of a run in real time that was interrupted.
pub(super) fn interrupted(runner: &Runner) -> Option<ExitCode> {
    #[cfg(feature = "live")]
    return runner.is_interrupted().then(|| ExitCode::from(crate::live::interrupt::EXIT));
    #[cfg(not(feature = "live"))]
    {
        let _ = runner;
        None
    }
}

/// Options of live backends.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Options of live backends")]
pub(super) struct LiveArgs {
    /// The directory with etcd, kube-apiserver, kube-controller-manager and kube-scheduler; default:
    /// KUBEBUILDER_ASSETS, then PATH
    #[arg(long, value_name = "DIR")]
    assets: Option<PathBuf>,
    /// Run scenarios that take up to ten minutes, beside those of up to two
    #[arg(long)]
    slow: bool,
    /// The context of the kind cluster to run on, as kind-NAME, of the cluster to look at with --read-only, or of the
    /// one on which hollow nodes are to live; default: NODEPROOF_CONTEXT
    #[arg(long, value_name = "NAME", conflicts_with = "create")]
    pub(super) context: Option<String>,
    /// The kubeconfig that has the context; default: KUBECONFIG, or else ~/.kube/config
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,
    /// A context that may be written to though it is not named kind-…: say it exactly
    #[arg(long, value_name = "NAME")]
    allow_context: Vec<String>,
    /// Create a kind cluster, and remove it at the end
    #[arg(long)]
    create: bool,
    /// The node image of the cluster to create; default: that of the installed kind
    #[arg(long, value_name = "IMAGE", requires = "create")]
    image: Option<String>,
    /// The configuration of the cluster to create; default: ci/cluster.yaml, a control plane, and with --own-workers
    /// two workers
    #[arg(long, value_name = "FILE", requires = "create")]
    config: Option<PathBuf>,
    /// How many kind clusters to create: one is shared, on the others scenarios run that need one for themselves;
    /// default: 1
    #[arg(long, value_name = "N", requires = "create", conflicts_with = "own_workers")]
    clusters: Option<std::num::NonZeroUsize>,
    /// Let the kind cluster's own workers stand in for a scenario's machines where they can, one scenario at a time
    #[arg(long)]
    own_workers: bool,
    /// Say what would be done to which node of a cluster that is there, and do nothing
    #[arg(long, conflicts_with = "create")]
    pub(super) dry_run: bool,
    /// Where is kept what failed, for --failed, and the journal of a run, for `nodeproof clean`; default:
    /// NODEPROOF_STATE_DIR, or else nodeproof/ in the user's state directory
    #[arg(long, value_name = "DIR")]
    state_dir: Option<PathBuf>,
}

impl LiveArgs {
    /// Returns the directory of the state, if it is named.
    pub(super) fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref()
    }

    /// Refuses the options that mean nothing on the simulator: the run would be of another thing than was asked for.
    ///
    /// # Errors
    /// One of them was given.
    pub(super) fn refuse_for_simulator(&self) -> Result<(), String> {
        let given = [
            ("--assets", self.assets.is_some()),
            ("--context", self.context.is_some()),
            ("--kubeconfig", self.kubeconfig.is_some()),
            ("--allow-context", !self.allow_context.is_empty()),
            ("--create", self.create),
            ("--own-workers", self.own_workers),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(format!("{name} is for a live backend: say --backend hollow or --backend kind")),
            None => Ok(()),
        }
    }

    /// Returns what is asked for.
    pub(super) fn options(&self) -> LiveOptions {
        let context = self.context.clone().or_else(|| std::env::var("NODEPROOF_CONTEXT").ok()).filter(|_| !self.create);
        #[cfg(feature = "live")]
        let kind = crate::harness::KindOptions {
            context,
            kubeconfig: self.kubeconfig.clone(),
            allowed: self.allow_context.clone(),
            create: self.create,
            image: self.image.clone(),
            config: self.config.clone(),
            state_dir: self.state_dir.clone(),
            own_workers: self.own_workers,
            clusters: self.clusters,
        };
        #[cfg(not(feature = "live"))]
        let kind = drop(context);
        LiveOptions { assets: self.assets.clone(), slow: self.slow, recordings: None, kind }
    }
}
