//! A `kube::Client` whose API server is a simulated cluster in the same process.
//!
//! For tests of controllers written with kube-rs. There is no socket and no thread; the clock moves only within
//! [`SimulatedCluster::with`]. Inputs: HTTP requests of the client. Outputs: the answers of the simulated API server; a
//! watch streams its events as the simulation makes them. Left out on purpose: upgrades (exec, attach, port-forward).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use kube::client::Body;
use nodeproof_core::network::{Call, ClientId, Identity, RequestId, Verb};
use nodeproof_core::sim::{Simulation, WatchInbox};

use super::streams::{Response, WatchSource, response, watch_response};

/// A simulated cluster shared by clients in this process.
#[derive(Clone, Debug)]
pub struct SimulatedCluster(Arc<Mutex<Shared>>);

#[derive(Debug)]
struct Shared {
    sim: Simulation,
    /// The tasks that wait for events of a watch.
    waiting: Vec<Waker>,
}

impl SimulatedCluster {
    /// Shares a simulation.
    #[must_use]
    pub fn new(sim: Simulation) -> Self {
        Self(Arc::new(Mutex::new(Shared { sim, waiting: Vec::new() })))
    }

    /// Calls a function on the simulation, for example to let time pass, and wakes the watches.
    pub fn with<T>(&self, act: impl FnOnce(&mut Simulation) -> T) -> T {
        let mut shared = self.lock();
        let done = act(&mut shared.sim);
        shared.waiting.drain(..).for_each(Waker::wake);
        done
    }

    /// Returns a client that acts as this user; it has to be made within a tokio runtime.
    #[must_use]
    pub fn client(&self, identity: Arc<Identity>) -> kube::Client {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let (cluster, identity) = (cluster.clone(), identity.clone());
            async move { cluster.answer(identity, request).await }
        });
        kube::Client::new(service, "default")
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(self, identity: Arc<Identity>, request: http::Request<Body>) -> Result<Response, tower::BoxError> {
        let (head, body) = request.into_parts();
        let bytes = body.collect_bytes().await?;
        let pairs: Vec<(&str, &str)> =
            head.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
        let call = match Call::from_http_bytes(head.method.as_str(), target, &pairs, &bytes) {
            Ok(call) => call,
            Err(answer) => return Ok(response(&answer)),
        };
        if call.verb != Verb::Watch {
            return match self.with(|sim| sim.request(identity, call)) {
                Ok(answer) => Ok(response(&answer)),
                Err(error) => Err(error.to_string().into()),
            };
        }
        match self.with(|sim| sim.watch(identity, call)) {
            Ok((client, id)) => Ok(watch_response(self, client, id)),
            Err(answer) => Ok(response(&answer)),
        }
    }
}

impl WatchSource for SimulatedCluster {
    fn look(&self, client: ClientId, id: RequestId, waker: &Waker) -> Option<WatchInbox> {
        let mut shared = self.lock();
        let inbox = shared.sim.take_watch(client, id);
        if inbox.as_ref().is_some_and(|inbox| inbox.events.is_empty() && !inbox.ended) {
            shared.waiting.push(waker.clone());
        }
        inbox
    }

    fn close(&self, client: ClientId, id: RequestId) {
        self.with(|sim| sim.close_watch(client, id));
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt as _;
    use k8s_openapi::api::core::v1::{Node, Pod};
    use kube::api::{Api, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams};
    use nodeproof_core::json;
    use nodeproof_core::network::Identity;
    use nodeproof_core::sim::{Simulation, SimulationOptions};

    use super::SimulatedCluster;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn node(name: &str) -> Node {
        let json = json!({"metadata": {"name": name, "labels": {"zone": "a"}}, "spec": {"podCIDR": "10.0.0.0/24"}});
        serde_json::from_str(&json.to_string()).unwrap()
    }

    #[test]
    fn the_real_client_reads_what_the_simulated_server_answers() {
        let cluster = SimulatedCluster::new(Simulation::new(SimulationOptions::default()));
        block_on(async {
            let client = cluster.client(Identity::admin());
            let nodes: Api<Node> = Api::all(client.clone());
            let made = nodes.create(&PostParams::default(), &node("w1")).await.unwrap();
            assert!(made.metadata.uid.is_some() && made.metadata.creation_timestamp.is_some());
            nodes.create(&PostParams::default(), &node("w2")).await.unwrap();
            let patch = serde_json::json!({"spec": {"unschedulable": true}});
            nodes.patch("w2", &PatchParams::default(), &Patch::Strategic(patch)).await.unwrap();
            let listed = nodes.list(&ListParams::default().labels("zone=a")).await.unwrap();
            let cordoned: Vec<_> =
                listed.iter().map(|node| node.spec.as_ref().and_then(|spec| spec.unschedulable)).collect();
            assert_eq!(cordoned, [None, Some(true)]);
            let missing = nodes.get("w3").await.unwrap_err();
            assert!(missing.to_string().contains("nodes \"w3\" not found"), "{missing}");
            let pods: Api<Pod> = Api::default_namespaced(client);
            assert!(pods.list(&ListParams::default()).await.unwrap().items.is_empty());
        });
    }

    #[test]
    fn a_watch_streams_what_happens_while_time_passes() {
        let cluster = SimulatedCluster::new(Simulation::new(SimulationOptions::default()));
        block_on(async {
            let nodes: Api<Node> = Api::all(cluster.client(Identity::admin()));
            let mut events = Box::pin(nodes.watch(&WatchParams::default(), "0").await.unwrap());
            // It tells the end of what was there at first.
            let Some(Ok(WatchEvent::Bookmark(_))) = events.next().await else { panic!("no bookmark") };
            nodes.create(&PostParams::default(), &node("w1")).await.unwrap();
            let Some(Ok(WatchEvent::Added(added))) = events.next().await else { panic!("no event") };
            assert_eq!(added.metadata.name.as_deref(), Some("w1"));
            cluster.with(|sim| sim.advance_until(sim.now() + jiff::SignedDuration::from_mins(5)));
            let Some(Ok(WatchEvent::Modified(changed))) = events.next().await else { panic!("no event") };
            assert_ne!(changed.metadata.resource_version, added.metadata.resource_version);
        });
    }
}
