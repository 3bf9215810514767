//! A simulated cluster over HTTPS: the Kubernetes API for kubectl and client-go, and the control calls below
//! `/nodeproof/v1/`.
//!
//! Inputs: connections, and real time where the clock runs. Outputs: answers, watches as streams. One lock holds the
//! cluster, so requests are answered one after the other, each at the present instant of the virtual clock. Invariants:
//! what is due before a request is done before it is answered; a caller from another machine has a certificate or a
//! token. Left out on purpose: connections that are upgraded (exec, port-forward), and requests that wait for a rule.

mod answer;
mod kubeconfig;
mod shared;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

pub use kubeconfig::write as write_kubeconfig;

use self::answer::{Caller, answer};
use self::shared::ServedCluster;
use self::tls::{acceptor, user_of};
use super::{Control, Rate};
use crate::live::{Authority, Certified};

/// How long a client may take to set up TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long the server waits after it could not accept a connection, as when there are no more file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct ApiServerSocket {
    listener: TcpListener,
    address: SocketAddr,
    authority: Authority,
    certificate: Certified,
}

impl ApiServerSocket {
    /// Begins to listen at `HOST:PORT`; port 0 means any that is free. Certificates are made anew each time.
    ///
    /// # Errors
    /// The address cannot be had.
    pub async fn bind(listen: &str) -> Result<Self, String> {
        let unheard = |error: std::io::Error| format!("cannot listen at {listen}: {error}");
        let listener = TcpListener::bind(listen).await.map_err(unheard)?;
        let address = listener.local_addr().map_err(unheard)?;
        let authority = Authority::new()?;
        let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host).trim_matches(['[', ']']);
        let own = address.ip().to_string();
        let mut names = vec!["localhost", "127.0.0.1", "::1", "kubernetes.default.svc", own.as_str()];
        if !names.contains(&host) {
            names.push(host);
        }
        let certificate = authority.server(&names)?;
        Ok(Self { listener, address, authority, certificate })
    }

    /// Returns the address for clients. A server on all interfaces is reached by this machine over loopback.
    #[must_use]
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            });
        }
        format!("https://{address}")
    }

    /// Tells whether only this machine reaches the server.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// Returns a kubeconfig whose user is a cluster administrator.
    ///
    /// # Errors
    /// No certificate can be made.
    pub fn kubeconfig(&self) -> Result<serde_json::Value, String> {
        let admin = self.authority.client("kubernetes-admin", Some("system:masters"))?;
        Ok(kubeconfig::of(&self.url(), self.authority.pem(), &admin))
    }

    /// Answers until `ended` is done.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub async fn serve(self, mut control: Control, rate: Rate, ended: impl Future<Output = ()>) -> Result<(), String> {
        control.rate = Some(rate);
        let acceptor = acceptor(&self.authority, &self.certificate)?;
        let shared = ServedCluster::new(control);
        let is_local = self.is_local();
        let accept = async {
            loop {
                match self.listener.accept().await {
                    Ok((stream, _)) => drop(tokio::spawn(attend(stream, acceptor.clone(), shared.clone(), is_local))),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = shared.run_clock() => {}
            () = ended => {}
        }
        Ok(())
    }
}

/// Answers the requests of one connection.
async fn attend(stream: TcpStream, acceptor: TlsAcceptor, shared: ServedCluster, is_local: bool) {
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await else { return };
    let user = stream.get_ref().1.peer_certificates().and_then(|chain| user_of(chain.first()?));
    let caller = Caller { user, is_local };
    let service = service_fn(|request| answer(shared.clone(), caller.clone(), request));
    // The client has gone, or spoke no HTTP: nobody is left to be told.
    drop(Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await);
}
