//! The options that the subcommands with live backends share.

use std::path::PathBuf;

use crate::harness::LiveOptions;

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
}

impl LiveArgs {
    /// Returns what is asked for.
    pub(super) fn options(&self) -> LiveOptions {
        LiveOptions { assets: self.assets.clone(), slow: self.slow }
    }
}
