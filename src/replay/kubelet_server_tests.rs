//! Holds the kubelet's own API against the recorded answers of a real kubelet's server.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::sync::Arc;

use flate2::read::GzDecoder;
use jiff::SignedDuration;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::network::{
    Call, HttpAnswer, HttpCall, HttpCredentials, HttpOutcome, Identity, PODS, Resource, Verb,
};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::sim::{Simulation, SimulationOptions};

const ACCOUNTS: Resource = Resource::of("", "v1", "serviceaccounts");
const REQUESTS: Resource = Resource::of("certificates.k8s.io", "v1", "certificatesigningrequests");

/// A cluster with a ready machine and a Pod on it.
fn cluster(flags: &[(&str, &str)], machine: Json) -> Simulation {
    let mut options = SimulationOptions::default();
    for (flag, value) in flags {
        options.settings.set(flag, value).unwrap();
    }
    let mut sim = Simulation::new(options);
    sim.add_machine(MachineSpec::from_json(&machine).unwrap()).unwrap();
    pass(&mut sim, 30);
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "srv-1-quick"},
        "spec": {"nodeName": "srv-1", "containers": [{"name": "main", "image": "i"}]}});
    ask(&mut sim, Call::new(Verb::Create, PODS, "default", "").body(pod));
    pass(&mut sim, 30);
    sim
}

fn pass(sim: &mut Simulation, seconds: i64) {
    sim.advance_until(sim.now() + SignedDuration::from_secs(seconds));
}

fn ask(sim: &mut Simulation, call: Call) -> Json {
    let answer = sim.request(Identity::admin(), call).unwrap();
    assert!(answer.is_success(), "{}", answer.message());
    answer.body()
}

fn call(sim: &mut Simulation, method: &str, path: &str, credentials: HttpCredentials) -> HttpOutcome {
    sim.call_http(HttpCall { credentials, ..HttpCall::new(("https", "srv-1", Some(10250)), method, path) })
}

#[test]
fn a_kubelet_answers_as_a_real_one_does() {
    let mut sim = cluster(&[], json!({"name": "srv-1"}));
    let account = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "nobody"}});
    ask(&mut sim, Call::new(Verb::Create, ACCOUNTS, "default", "").body(account));
    let wanted = json!({"spec": {"expirationSeconds": 3600}});
    let token = Call::new(Verb::Create, ACCOUNTS, "default", "nobody").subresource("token").body(wanted);
    let token = ask(&mut sim, token).at(&["status", "token"]).as_text().unwrap().clone();
    let groups = vec![Text::of("kubeadm:cluster-admins")];
    let own = Arc::new(Identity { user: Text::of("kube-apiserver-kubelet-client"), groups, agent: Text::of("") });

    let path = "fixtures/recorded/kubelet-1.34.4/kubelet-server/responses.jsonl.gz";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let mut count = 0;
    for line in BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines() {
        let case = Json::parse(&line.unwrap()).unwrap();
        let text = |field: &str| case.get(field).as_str().unwrap_or("");
        let credentials = match text("as") {
            "none" => HttpCredentials::None,
            "bad-token" => HttpCredentials::Token(Text::of("bad")),
            "serviceaccount" => HttpCredentials::Token(token.clone()),
            _ => HttpCredentials::Certificate(own.clone()),
        };
        let HttpAnswer { code, media_type, body } = call(&mut sim, text("method"), text("path"), credentials).unwrap();
        let about = format!("{} {} as {}", text("method"), text("path"), text("as"));
        assert_eq!(code.to_string(), text("code"), "{about}");
        // What is served without a refusal has contents that are not modelled.
        if code >= 400 {
            assert_eq!(body, *text("body"), "{about}");
            assert_eq!(media_type.split(';').next(), text("contentType").split(';').next(), "{about}");
        }
        count += 1;
    }
    assert!(count > 100, "{count}");
}

#[test]
fn an_approved_certificate_is_trusted_under_its_own_address_alone() {
    let machine = json!({"name": "srv-1", "addresses": [{"type": "InternalIP", "address": "10.9.8.7"}],
        "kubelet": {"config": {"serverTLSBootstrap": true}}});
    let flags = [("kubelet-certificate-authority", "/ca.crt"), ("kubelet-preferred-address-types", "InternalIP")];
    let mut sim = cluster(&flags, machine);
    let log = || Call::new(Verb::Get, PODS, "default", "srv-1-quick").subresource("log");
    let refused = sim.request(Identity::admin(), log()).unwrap();
    assert!(refused.message().ends_with("remote error: tls: internal error"), "{}", refused.message());

    let list = ask(&mut sim, Call::new(Verb::List, REQUESTS, "", ""));
    let name = list.get("items").items()[0].at(&["metadata", "name"]).as_text().unwrap().clone();
    let approval = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "ByHand"}]}});
    let approve = Call::strategic_patch(REQUESTS, "", name, approval).subresource("approval");
    ask(&mut sim, approve);
    pass(&mut sim, 1);
    assert_eq!(sim.request(Identity::admin(), log()).unwrap().code, 200);

    // The Node's address is that of somebody else, whose certificate is for another.
    let impostor = json!({"name": "other", "addresses": [{"type": "InternalIP", "address": "10.6.5.4"}]});
    sim.add_machine(MachineSpec::from_json(&impostor).unwrap()).unwrap();
    let addresses = json!({"status": {"addresses": [{"type": "InternalIP", "address": "10.6.5.4"}]}});
    let moved = Call::strategic_patch(nodeproof_core::network::NODES, "", "srv-1", addresses).subresource("status");
    ask(&mut sim, moved);
    let refused = sim.request(Identity::admin(), log()).unwrap().message();
    assert!(refused.ends_with("x509: certificate signed by unknown authority"), "{refused}");
}
