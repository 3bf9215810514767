//! Replays recordings of a kubelet's own server: each call of `responses.jsonl` is made to the model's, too.
//!
//! Inputs: `about.yaml` and `responses.jsonl`. Output: a report with a difference for each answer that is another one.
//! The contents of what is served without a refusal are the machine's own, and are not compared. Port 10248 answers on
//! the machine itself alone, from which nobody calls here: its lines are counted and not judged.

use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;
use nodeproof_core::components::machine::MachineSpec;
use nodeproof_core::json;
use nodeproof_core::network::{
    Call, HttpAnswer, HttpCall, HttpCredentials, HttpOutcome, Identity, PODS, Resource, Verb,
};
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{Release, Settings};
use nodeproof_core::sim::{Simulation, SimulationOptions};

use super::files::{self, KubeletAbout};
use super::{KUBELET, difference};
use crate::replay::load::{self, LoadError};
use crate::replay::report::ReplayReport;
use crate::replay::report::Unjudged;
use crate::replay::{Ledger, finish};

/// The file with the answers.
const FILE: &str = "responses.jsonl";
/// The port of the kubelet's server, and its name and Pod in these recordings.
const PORT: i64 = 10250;

/// Tells whether a directory holds answers of a kubelet's server.
pub(super) fn is_here(dir: &Path) -> bool {
    files::has(dir, FILE)
}

/// Replays the calls of a directory.
pub(super) fn replay(dir: &Path, release: Option<Release>, ledger: &Ledger) -> Result<ReplayReport, LoadError> {
    let about = KubeletAbout::load(dir, release)?;
    let cases = load::load_lines(dir, FILE, "responses.jsonl (or responses.jsonl.gz)", |line| Ok(line.clone()))?;
    let file = dir.join("about.yaml");
    let bad = |why: String| LoadError::BadAbout { file: file.clone(), why };
    let node = about.node.clone().ok_or_else(|| bad("`nodes` must name the node that answers".to_owned()))?;
    let mut cluster = Cluster::new(about.release, &node).map_err(bad)?;
    let mut report = ReplayReport {
        recording: format!("kubelet-{}/{}", about.kubernetes, about.name),
        writes: cases.len(),
        ..ReplayReport::default()
    };
    for case in &cases {
        if case.get("port").as_i64().unwrap_or(PORT) != PORT {
            report.unjudged += 1;
            *report.unjudged_by.entry(Unjudged::new(KUBELET, "its port answers on the machine alone")).or_default() +=
                1;
            continue;
        }
        let found = cluster.compare(case);
        report.judged += 1;
        report.matched += usize::from(found.is_empty());
        let text = |field: &str| case.get(field).as_str().unwrap_or_default().to_owned();
        let call = format!("{} {} as {}", text("method"), text("path"), text("as"));
        report
            .differences
            .extend(found.into_iter().map(|(what, real, sim)| difference(0, call.clone(), what.to_owned(), real, sim)));
    }
    report.by_writer.insert(KUBELET, (report.judged, report.matched));
    finish(&mut report, ledger);
    Ok(report)
}

/// A cluster with a ready machine, a Pod on it and an account without rights.
struct Cluster {
    sim: Simulation,
    node: String,
    token: Text,
}

impl Cluster {
    fn new(release: Release, node: &str) -> Result<Self, String> {
        let options = SimulationOptions { settings: Settings::of(release), ..SimulationOptions::default() };
        let mut sim = Simulation::new(options);
        let machine = MachineSpec::from_json(&json!({"name": node})).map_err(|error| error.to_string())?;
        sim.add_machine(machine).map_err(|error| error.to_string())?;
        let mut cluster = Self { sim, node: node.to_owned(), token: Text::default() };
        cluster.pass(30);
        let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": format!("{node}-quick")},
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "i"}]}});
        cluster.ask(Call::new(Verb::Create, PODS, "default", "").body(pod))?;
        cluster.pass(30);
        let accounts = Resource::of("", "v1", "serviceaccounts");
        let account = json!({"kind": "ServiceAccount", "apiVersion": "v1", "metadata": {"name": "nobody"}});
        cluster.ask(Call::new(Verb::Create, accounts.clone(), "default", "").body(account))?;
        let wanted = json!({"spec": {"expirationSeconds": 3600}});
        let token = Call::new(Verb::Create, accounts, "default", "nobody").subresource("token").body(wanted);
        cluster.token = cluster.ask(token)?.at(&["status", "token"]).as_text().cloned().unwrap_or_default();
        Ok(cluster)
    }

    fn pass(&mut self, seconds: i64) {
        self.sim.advance_until(self.sim.now() + SignedDuration::from_secs(seconds));
    }

    fn ask(&mut self, call: Call) -> Result<Json, String> {
        let answer = self.sim.request(Identity::admin(), call).map_err(|error| format!("{error:?}"))?;
        if answer.is_success() { Ok(answer.body()) } else { Err(answer.message()) }
    }

    /// Makes a call; returns what of the answer differs: what, recorded and simulated.
    fn compare(&mut self, case: &Json) -> Vec<(&'static str, Json, Json)> {
        let text = |field: &str| case.get(field).as_str().unwrap_or_default();
        let outcome = self.call(text("method"), text("path"), text("as"));
        let answer = match outcome {
            Ok(answer) => answer,
            Err(why) => return Vec::from([("code", case.get("code").clone(), Json::text(why))]),
        };
        let HttpAnswer { code, media_type, body } = answer;
        let mut found = Vec::new();
        let mut hold = |what: &'static str, real: &str, sim: &str| {
            if real != sim {
                found.push((what, Json::text(real), Json::text(sim)));
            }
        };
        hold("code", text("code"), &code.to_string());
        if code >= 400 {
            let kind = |full: &str| full.split(';').next().unwrap_or_default().to_owned();
            hold("body", text("body"), &body);
            hold("contentType", &kind(text("contentType")), &kind(&media_type));
        }
        found
    }

    fn call(&mut self, method: &str, path: &str, caller: &str) -> HttpOutcome {
        let credentials = match caller {
            "none" => HttpCredentials::None,
            "bad-token" => HttpCredentials::Token(Text::of("bad")),
            "serviceaccount" => HttpCredentials::Token(self.token.clone()),
            _ => {
                let groups = Vec::from([Text::of("kubeadm:cluster-admins")]);
                let user = Text::of("kube-apiserver-kubelet-client");
                HttpCredentials::Certificate(Arc::new(Identity { user, groups, agent: Text::of(""), details: None }))
            }
        };
        let place = ("https", self.node.as_str(), Some(10250));
        self.sim.call_http(HttpCall { credentials, ..HttpCall::new(place, method, path) })
    }
}
