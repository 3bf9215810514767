//! `nodeproof serve`: a simulated cluster over HTTPS, until it is told to end.
//!
//! Inputs: the options of the cluster, an address, requests. Outputs: one line on standard output once the server
//! answers, and a kubeconfig. Invariant: without an address of another interface only this machine reaches it.

use std::path::PathBuf;
use std::process::ExitCode;

use super::control::ClusterArgs;
use super::misuse;
use super::terminal::{line, note};
use crate::control::serve::{ApiServerSocket, write_kubeconfig};
use crate::control::{Control, Rate};
use crate::live::interrupt::signalled;

/// Options of `nodeproof serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The Kubernetes API, and below /nodeproof/v1/ the control calls of `nodeproof control help`:

  $ nodeproof serve --clock 60x --kubeconfig np.kubeconfig
  $ nodeproof ctl --kubeconfig np.kubeconfig call 'POST machines' '{\"name\": \"w1\"}'
  $ kubectl --kubeconfig np.kubeconfig get nodes")]
pub struct ServeArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
    /// Address to listen at; port 0 means any that is free
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,
    /// File that the kubeconfig of a cluster administrator is written to
    #[arg(long, value_name = "FILE", default_value = "nodeproof.kubeconfig")]
    kubeconfig: PathBuf,
    /// How fast the clock runs: paused, real, max, or a number of times as 60x
    #[arg(long, value_name = "RATE", default_value_t = Rate::Paused)]
    clock: Rate,
}

/// Serves the cluster until SIGINT or SIGTERM.
#[must_use]
pub fn run(args: ServeArgs) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = match runtime {
        Ok(runtime) => runtime.block_on(serve(args)),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misuse(message),
    }
}

async fn serve(args: ServeArgs) -> Result<(), String> {
    let control = Control::new(args.cluster.setup()?).map_err(|refusal| refusal.error.to_string())?;
    let socket = ApiServerSocket::bind(&args.listen).await?;
    write_kubeconfig(&args.kubeconfig, &socket.kubeconfig()?)?;
    if !socket.is_local() {
        note("other machines reach this server: they need a certificate or a token");
    }
    line(format_args!("serving {} kubeconfig {}", socket.url(), args.kubeconfig.display()));
    socket.serve(control, args.clock, signalled()).await
}
