//! The Service `kubernetes`, by which Pods find the API server, with its endpoints.
//!
//! Mirrors pkg/controlplane/controller/kubernetesservice/controller.go and pkg/controlplane/reconcilers (v1.34): the
//! server keeps it itself. Inputs: none. Outputs: objects that are there from the start. Left out on purpose: that they
//! are restored when somebody changes them.

use alloc::vec::Vec;

use jiff::Timestamp;

use super::ApiServer;
use super::history::History;
use super::rbac_kubeadm::Maker;
use crate::json;
use crate::network::kinds::{self, KindIndex};
use crate::network::{ENDPOINT_SLICES, Resource, SERVICE_NAME, SERVICES};
use crate::objects::Json;

const ENDPOINTS: Resource = Resource::of("", "v1", "endpoints");
/// The first address of `--service-cluster-ip-range` as kubeadm sets it. Source:
/// cmd/kubeadm/app/apis/kubeadm/v1beta4/defaults.go (v1.34), `DefaultServicesSubnet`.
const CLUSTER_IP: &str = "10.96.0.1";
/// Where the server listens; an address for documentation (RFC 5737).
pub const ADDRESS: &str = "192.0.2.1";
/// Source: cmd/kubeadm/app/constants/constants.go (v1.34), `KubeAPIServerPort`.
pub const PORT: i64 = 6443;

fn objects() -> [(Resource, Json); 3] {
    let service = json!({"kind": "Service", "apiVersion": "v1",
        "metadata": {"name": "kubernetes", "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {"ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": PORT}],
            "clusterIP": CLUSTER_IP, "clusterIPs": [CLUSTER_IP], "type": "ClusterIP", "sessionAffinity": "None",
            "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster"},
        "status": {"loadBalancer": {}}});
    let endpoints = json!({"kind": "Endpoints", "apiVersion": "v1",
        "metadata": {"name": "kubernetes", "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}},
        "subsets": [{"addresses": [{"ip": ADDRESS}],
            "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}]}]});
    let slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1",
        "metadata": {"name": "kubernetes", "namespace": "default", "generation": 1,
            "labels": {SERVICE_NAME: "kubernetes"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [ADDRESS], "conditions": {"ready": true}}],
        "ports": [{"name": "https", "port": PORT, "protocol": "TCP"}]});
    [(SERVICES, service), (ENDPOINTS, endpoints), (ENDPOINT_SLICES, slice)]
}

impl ApiServer {
    /// Makes a server that has just been started that of a cluster which kubeadm has made: with its bindings, and with
    /// the server's own Service.
    #[must_use]
    pub fn of_kubeadm(mut self, now: Timestamp) -> Self {
        self.rbac.maker = Maker::Kubeadm;
        let known: Vec<(KindIndex, Json)> =
            objects().into_iter().filter_map(|(resource, object)| Some((kinds::find(&resource)?, object))).collect();
        for (index, object) in known {
            self.put_initial(index, object, now);
        }
        self.first_revision = self.revision;
        for table in self.tables.iter_mut() {
            table.history = History::new(self.revision);
        }
        self
    }
}
