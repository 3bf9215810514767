//! Sends the requests of hollow nodes over HTTP/2, one connection for each identity or one for several nodes.
//!
//! Mirrors client-go's transport (k8s.io/apimachinery pkg/util/net/http.go, v1.34): HTTP/2, a ping after 30 s without a
//! frame, 15 s for its answer, a dial that fails after 30 s. Inputs: commands of the engine. Outputs: messages for it;
//! the core decides what a failed request means. Invariant: each request is answered once, by an answer or by an error,
//! unless it was cancelled.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use nodeproof_core::network::{
    Answer, Call, ClientId, Content, Identity, PODS, RequestId, Target, ToClient, TransportError, Verb,
};
use nodeproof_core::objects::Text;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::Shared;
use super::credentials::{CredentialsError, Server, Signer};
use super::wire::{self, Head};
use crate::live::timing::{AUTHORISER_LAG, AUTHORISER_LAG_MAX, DIAL_TIMEOUT, PING_TIMEOUT, READ_IDLE, REQUEST_TIMEOUT};

/// How many nodes share a connection: each has two watches open and a request now and then, and a server allows 100
/// streams on one connection. Source: k8s.io/apiserver pkg/server/secure_serving.go (v1.34), `MaxConcurrentStreams:
/// 100`.
const NODES_PER_CONNECTION: u32 = 40;

type Sender = SendRequest<Full<Bytes>>;

/// The connections of a process.
#[derive(Debug)]
pub(super) struct Transport {
    server: Server,
    signer: Signer,
    links: Mutex<BTreeMap<ClientId, Arc<Link>>>,
    /// The connections that several nodes use. Key: the number of the node divided by the nodes for each connection.
    shared: Mutex<BTreeMap<u32, Arc<Connection>>>,
    /// The TLS settings of connections by user; the empty user stands for shared connections.
    proofs: Mutex<BTreeMap<Text, Arc<rustls::ClientConfig>>>,
}

/// The connection of one client and its open requests.
#[derive(Debug)]
struct Link {
    identity: Arc<Identity>,
    head: Head,
    connection: Arc<Connection>,
    under_way: Mutex<BTreeMap<RequestId, AbortHandle>>,
    /// How many milliseconds the last answer took.
    latency: AtomicU64,
    /// The last error, for people.
    trouble: Mutex<Option<String>>,
}

/// A connection that is made when it is needed.
#[derive(Debug)]
struct Connection {
    identity: Arc<Identity>,
    is_shared: bool,
    open: tokio::sync::Mutex<Option<(Sender, AbortHandle)>>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some((_, task)) = self.open.get_mut() {
            task.abort();
        }
    }
}

/// Why a dial failed.
enum DialError {
    Credentials(CredentialsError),
    Io(io::Error),
    Http(hyper::Error),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Transport {
    pub(super) fn new(server: Server, signer: Signer) -> Self {
        Self { server, signer, links: Mutex::default(), shared: Mutex::default(), proofs: Mutex::default() }
    }

    /// Returns the last error of a client's connection.
    pub(super) fn trouble(&self, client: ClientId) -> Option<String> {
        let link = locked(&self.links).get(&client).cloned()?;
        locked(&link.trouble).clone()
    }

    /// Returns the link of a client; a new one if its identity has changed.
    fn link(&self, client: ClientId, identity: &Arc<Identity>) -> Arc<Link> {
        let mut links = locked(&self.links);
        if let Some(link) = links.get(&client).filter(|link| link.identity == *identity) {
            return link.clone();
        }
        let fresh = |is_shared| {
            Arc::new(Connection { identity: identity.clone(), is_shared, open: tokio::sync::Mutex::new(None) })
        };
        let connection = if self.signer.shares_connections() && identity.is_known() {
            let mut shared = locked(&self.shared);
            shared.entry(client.0 / NODES_PER_CONNECTION).or_insert_with(|| fresh(true)).clone()
        } else {
            fresh(false)
        };
        let agent = HeaderValue::from_str(&format!("{}/nodeproof", identity.agent));
        let head = Head {
            origin: self.server.origin.clone(),
            agent: agent.unwrap_or_else(|_| HeaderValue::from_static("nodeproof")),
            identity: self.signer.headers(identity),
        };
        let link = Arc::new(Link {
            identity: identity.clone(),
            head,
            connection,
            under_way: Mutex::default(),
            latency: AtomicU64::new(0),
            trouble: Mutex::default(),
        });
        links.insert(client, link.clone());
        link
    }

    /// Gets the TLS settings of an identity; `None` for a server without TLS.
    pub(super) async fn prove(
        &self,
        identity: &Identity,
    ) -> Result<Option<Arc<rustls::ClientConfig>>, CredentialsError> {
        let Some(tls) = &self.server.tls else { return Ok(None) };
        let key = if self.signer.shares_connections() { Text::of("") } else { identity.user.clone() };
        let known = locked(&self.proofs).get(&key).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let config = tls.client(self.signer.prove(identity).await?)?;
        Ok(Some(locked(&self.proofs).entry(key).or_insert(config).clone()))
    }

    async fn dial(&self, connection: &Connection) -> Result<(Sender, AbortHandle), DialError> {
        let tls = self.prove(&connection.identity).await.map_err(DialError::Credentials)?;
        let stream = TcpStream::connect((self.server.host.as_str(), self.server.port)).await.map_err(DialError::Io)?;
        stream.set_nodelay(true).map_err(DialError::Io)?;
        match (tls, &self.server.tls) {
            (Some(config), Some(tls)) => {
                let connector = tokio_rustls::TlsConnector::from(config);
                let stream = connector.connect(tls.name.clone(), stream).await.map_err(DialError::Io)?;
                shake_hands(stream).await
            }
            _ => shake_hands(stream).await,
        }
        .map_err(DialError::Http)
    }

    /// Returns a sender of an open connection, and connects if there is none.
    async fn sender(&self, link: &Link) -> Result<Sender, TransportError> {
        let mut open = link.connection.open.lock().await;
        if let Some((sender, _)) = open.as_ref().filter(|(sender, _)| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        let dialled = tokio::time::timeout(DIAL_TIMEOUT, self.dial(&link.connection)).await;
        let (trouble, error) = match dialled {
            Ok(Ok((sender, task))) => {
                *open = Some((sender.clone(), task));
                *locked(&link.trouble) = None;
                return Ok(sender);
            }
            Err(_) => (String::from("no connection within 30 s"), TransportError::Unreachable),
            Ok(Err(DialError::Credentials(error))) => (error.to_string(), TransportError::Unreachable),
            Ok(Err(DialError::Http(error))) => (error.to_string(), TransportError::ConnectionLost),
            Ok(Err(DialError::Io(error))) => {
                let refused = error.kind() == io::ErrorKind::ConnectionRefused;
                (error.to_string(), if refused { TransportError::Refused } else { TransportError::Unreachable })
            }
        };
        *locked(&link.trouble) = Some(trouble);
        Err(error)
    }
}

async fn shake_hands<S>(stream: S) -> hyper::Result<(Sender, AbortHandle)>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(READ_IDLE)
        .keep_alive_timeout(PING_TIMEOUT)
        .handshake(TokioIo::new(stream))
        .await?;
    // The requests on the connection notice how it ends.
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok((sender, task.abort_handle()))
}

impl Link {
    /// Returns how long news of Pods are held: a server whose answers take long also hears late of what it stored.
    fn authoriser_lag(&self) -> Duration {
        let latency = Duration::from_millis(self.latency.load(Ordering::Relaxed));
        latency.saturating_mul(2).clamp(AUTHORISER_LAG, AUTHORISER_LAG_MAX)
    }

    /// Closes the connection, unless others use it too.
    fn close(&self) {
        if !self.connection.is_shared
            && let Ok(mut open) = self.connection.open.try_lock()
            && let Some((_, task)) = open.take()
        {
            task.abort();
        }
    }

    fn abandon(&self) {
        for task in std::mem::take(&mut *locked(&self.under_way)).into_values() {
            task.abort();
        }
    }
}

impl Shared {
    /// Sends a request in a task of its own.
    pub(super) fn send(
        self: &Arc<Self>,
        (client, id): (ClientId, RequestId),
        identity: &Arc<Identity>,
        call: Box<Call>,
        patience: Option<jiff::SignedDuration>,
    ) {
        let link = self.transport.link(client, identity);
        let mut under_way = locked(&link.under_way);
        let task = {
            let (shared, link) = (self.clone(), link.clone());
            let patience = patience.and_then(|patience| Duration::try_from(patience).ok()).unwrap_or(REQUEST_TIMEOUT);
            self.runtime.spawn(async move {
                if call.verb == Verb::Watch {
                    shared.watch(&link, client, id, &call).await;
                } else {
                    let outcome = tokio::time::timeout(patience, shared.exchange(&link, &call)).await;
                    let result = outcome.unwrap_or(Err(TransportError::Timeout));
                    locked(&link.under_way).remove(&id);
                    shared.deliver(client, ToClient::Response { id, result });
                }
            })
        };
        under_way.insert(id, task.abort_handle());
    }

    /// Cancels a request or a watch.
    pub(super) fn cancel(&self, client: ClientId, id: RequestId) {
        let link = locked(&self.transport.links).get(&client).cloned();
        if let Some(task) = link.and_then(|link| locked(&link.under_way).remove(&id)) {
            task.abort();
        }
    }

    /// Closes a client's connection; answers to its requests are not needed.
    pub(super) fn forget(&self, client: ClientId) {
        if let Some(link) = locked(&self.transport.links).remove(&client) {
            link.abandon();
            link.close();
        }
    }

    async fn exchange(&self, link: &Link, call: &Call) -> Result<Answer, TransportError> {
        let asked = Instant::now();
        let response = self.ask(link, call).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|_| TransportError::ConnectionLost)?.to_bytes();
        link.latency.store(asked.elapsed().as_millis().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(wire::answer(head.status.as_u16(), &head.headers, &body))
    }

    /// Sends a request; over a new connection if the old one has just closed.
    async fn ask(&self, link: &Link, call: &Call) -> Result<http::Response<Incoming>, TransportError> {
        let mut request = wire::request(call, &link.head).map_err(|_| TransportError::ConnectionLost)?;
        for is_last in [false, true] {
            let mut sender = self.transport.sender(link).await?;
            match sender.try_send_request(request).await {
                Ok(response) => return Ok(response),
                Err(mut refused) => match refused.take_message() {
                    Some(unsent) if !is_last => request = unsent,
                    _ => {
                        *locked(&link.trouble) = Some(refused.error().to_string());
                        break;
                    }
                },
            }
        }
        Err(TransportError::ConnectionLost)
    }

    async fn watch(self: &Arc<Self>, link: &Link, client: ClientId, id: RequestId, call: &Call) {
        let outcome = self.ask(link, call).await;
        let response = match outcome {
            Ok(response) if response.status().is_success() => response,
            other => {
                let result = match other {
                    Ok(response) => {
                        let (head, body) = response.into_parts();
                        let body = body.collect().await.map_err(|_| TransportError::ConnectionLost);
                        body.map(|body| wire::answer(head.status.as_u16(), &head.headers, &body.to_bytes()))
                    }
                    Err(error) => Err(error),
                };
                locked(&link.under_way).remove(&id);
                return self.deliver(client, ToClient::Response { id, result });
            }
        };
        let answer = Answer { code: response.status().as_u16(), headers: Vec::new(), content: Content::Watching };
        self.deliver(client, ToClient::Response { id, result: Ok(answer) });
        let is_of_pods = matches!(&call.target, Target::Resource { resource, .. } if *resource == PODS);
        let mut body = response.into_body();
        let (mut buffer, mut held, mut is_open) = (Vec::new(), VecDeque::new(), true);
        while is_open || !held.is_empty() {
            let due = held.front().map(|(due, _)| *due);
            tokio::select! {
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    for (event, object) in held.pop_front().map(|(_, events)| events).unwrap_or_default() {
                        self.deliver(client, ToClient::Watch { id, event, object });
                    }
                }
                frame = body.frame(), if is_open => match frame {
                    Some(Ok(frame)) => {
                        let mut events = Vec::new();
                        let chunk = frame.into_data().unwrap_or_default();
                        wire::lines(&mut buffer, &chunk, |line| events.extend(wire::event(line)));
                        let lag = if is_of_pods { link.authoriser_lag() } else { Duration::ZERO };
                        held.push_back((Instant::now() + lag, events));
                    }
                    _ => is_open = false,
                },
            }
        }
        locked(&link.under_way).remove(&id);
        self.deliver(client, ToClient::WatchEnded { id, lost: false });
    }
}

#[cfg(test)]
mod tests;
