//! The CSINode of a node: created with the Node as its owner, before the node can be ready.
//!
//! Mirrors pkg/volume/csi/csi_plugin.go and pkg/volume/csi/nodeinfomanager/nodeinfomanager.go (v1.34): wait for the API
//! server, then up to six tries of four quick attempts each. Inputs: answers, time. Outputs: requests for the CSINode,
//! and why the node is not ready for storage. After the last failed try the kubelet's process ends.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::{ApiResult, Kubelet, KubeletContext, Purpose, Timer, failure};
use crate::chance::{Chance, Jitter};
use crate::components::Because;
use crate::json;
use crate::network::{CSI_NODES, Call, Verb};
use crate::objects::{Json, Object, Text};

/// How often the API server is asked whether it is there. Source: csi_plugin.go (v1.34), `waitForAPIServerForever`.
const PROBE_PERIOD: SignedDuration = SignedDuration::from_secs(1);
/// Pauses after the attempts of one try. Source: nodeinfomanager.go (v1.34), `updateBackoff`: 10 ms, factor 5, 4 steps.
const ATTEMPT_PAUSES: [SignedDuration; 3] =
    [SignedDuration::from_millis(10), SignedDuration::from_millis(50), SignedDuration::from_millis(250)];
/// Pauses after the tries. Source: csi_plugin.go (v1.34), `initBackoff`: 30 ms, factor 8, 6 steps.
const TRY_PAUSES: [SignedDuration; 5] = [
    SignedDuration::from_millis(30),
    SignedDuration::from_millis(240),
    SignedDuration::from_millis(1_920),
    SignedDuration::from_millis(15_360),
    SignedDuration::from_millis(122_880),
];
/// By how much a pause is longer at most. Source: as [`ATTEMPT_PAUSES`] and [`TRY_PAUSES`], `Jitter: 0.1`.
const PAUSE_JITTER: f64 = 0.1;
/// Source: nodeinfomanager.go (v1.34), the plug-ins whose volumes CSI drivers serve.
const MIGRATED_PLUGINS: &str = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,\
     kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume";
const MIGRATED_ANNOTATION: &str = "storage.alpha.kubernetes.io/migrated-plugins";

/// The state of the initialisation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CsiPurpose {
    Probe,
    Get,
    Owner,
    Create,
    Update,
    /// What the drivers of the machine say was added.
    Drivers,
}

/// The initialisation of the CSINode.
#[derive(Clone, Debug)]
pub(super) struct Csi {
    chance: Chance,
    is_probing: bool,
    is_done: bool,
    tries: usize,
    attempts: usize,
    failed: Option<Text>,
}

impl Csi {
    /// Begins with nothing done.
    pub(super) const fn new(chance: Chance) -> Self {
        Self { chance, is_probing: false, is_done: false, tries: 0, attempts: 0, failed: None }
    }

    /// Returns why the node is not ready for storage.
    pub(super) fn error(&self) -> Option<&str> {
        if self.is_done { None } else { Some(self.failed.as_deref().unwrap_or("CSINode is not yet initialized")) }
    }
}

impl Kubelet {
    /// Starts the initialisation.
    pub(super) fn start_csi(&mut self, context: &mut KubeletContext<'_>) {
        self.csi.is_probing = true;
        self.continue_csi(context);
    }

    /// Makes the next attempt.
    pub(super) fn continue_csi(&mut self, context: &mut KubeletContext<'_>) {
        let get = Call::new(Verb::Get, CSI_NODES, "", &self.config.node_name);
        if self.csi.is_probing {
            self.call(get.query("resourceVersion", "0"), Purpose::Csi(CsiPurpose::Probe), context);
        } else {
            self.call(get, Purpose::Csi(CsiPurpose::Get), context);
        }
    }

    /// Takes an answer.
    pub(super) fn handle_csi(&mut self, step: CsiPurpose, outcome: ApiResult, context: &mut KubeletContext<'_>) {
        let code = outcome.as_ref().map_or(0, |answer| answer.code);
        match (step, code) {
            (CsiPurpose::Probe, 200 | 404) => {
                self.csi.is_probing = false;
                self.continue_csi(context);
            }
            (CsiPurpose::Probe, _) => self.set(Timer::Csi, context.now + PROBE_PERIOD),
            (CsiPurpose::Get, 200) => {
                let found = outcome.ok().and_then(|answer| answer.as_object().cloned());
                match found {
                    Some(found) if found.stable().at(&["metadata", "annotations", MIGRATED_ANNOTATION]).is_null() => {
                        let mut body = found.json();
                        body.set(&["metadata", "annotations", MIGRATED_ANNOTATION], MIGRATED_PLUGINS);
                        let call = Call::new(Verb::Update, CSI_NODES, "", &self.config.node_name).body(body);
                        self.call(call, Purpose::Csi(CsiPurpose::Update), context);
                    }
                    Some(found) => self.finish_csi(&found, context),
                    None => self.fail_csi(String::from("the answer holds no CSINode"), context),
                }
            }
            (CsiPurpose::Get, 404) => self.call(self.get_node(), Purpose::Csi(CsiPurpose::Owner), context),
            (CsiPurpose::Owner, 200) => {
                let owner = outcome.ok().and_then(|answer| answer.as_object().cloned());
                let uid = owner.as_ref().map_or("", |node| node.uid());
                let body = self.csi_node(uid);
                let call = Call::new(Verb::Create, CSI_NODES, "", "").body(body);
                self.call(call, Purpose::Csi(CsiPurpose::Create), context);
            }
            (CsiPurpose::Create | CsiPurpose::Update, 200 | 201) => {
                match outcome.ok().and_then(|answer| answer.as_object().cloned()) {
                    Some(own) => self.finish_csi(&own, context),
                    None => self.fail_csi(String::from("the answer holds no CSINode"), context),
                }
            }
            (CsiPurpose::Drivers, _) => {
                if let Some(why) = failure(&outcome) {
                    self.log(format!("error updating CSINode with the new driver: {why}"), context);
                }
            }
            _ => self.fail_csi(failure(&outcome).unwrap_or_default(), context),
        }
    }

    fn csi_node(&self, owner: &str) -> Json {
        let name = self.config.node_name.as_str();
        json!({
            "kind": "CSINode", "apiVersion": "storage.k8s.io/v1",
            "metadata": {
                "name": name, "annotations": {MIGRATED_ANNOTATION: MIGRATED_PLUGINS},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": owner}],
            },
            "spec": {"drivers": null},
        })
    }

    fn finish_csi(&mut self, own: &Object, context: &mut KubeletContext<'_>) {
        self.register_drivers(own, context);
        self.csi.is_done = true;
        self.generation += 1;
        let because = Because::Fact(String::from("the API server has the CSINode of this Node"));
        context.outbox.decide(self.about_node(), "storage is ready: CSINode is there", Vec::from([because]));
    }

    fn csi_pause(&mut self, pause: SignedDuration, now: Timestamp) -> SignedDuration {
        let jitter = Jitter::of(pause, PAUSE_JITTER);
        let led = self.led_csi(now, jitter);
        led.unwrap_or_else(|| self.csi.chance.pause(jitter))
    }

    /// Adds the drivers of the machine that limit its volumes.
    ///
    /// Source: nodeinfomanager.go (v1.34), `installDriverToCSINode`; a driver calls the node by its name.
    fn register_drivers(&mut self, own: &Object, context: &mut KubeletContext<'_>) {
        let limits = context.host.spec.hardware.attach_limits.clone();
        let mut drivers = own.stable().at(&["spec", "drivers"]).items().to_vec();
        let before = drivers.clone();
        for (driver, limit) in &limits {
            drivers.retain(|known| known.get("name").as_text() != Some(driver));
            drivers.push(json!({"name": driver.as_str(), "nodeID": self.config.node_name.as_str(),
                "topologyKeys": null, "allocatable": {"count": *limit}}));
        }
        let is_known = |one: &Json| {
            let same = |other: &&Json| ["name", "allocatable"].iter().all(|field| other.get(field) == one.get(field));
            before.iter().any(|other| same(&other))
        };
        if drivers.iter().all(is_known) {
            return;
        }
        let mut body = own.json();
        body.set(&["spec", "drivers"], drivers);
        let call = Call::new(Verb::Update, CSI_NODES, "", &self.config.node_name).body(body);
        self.call(call, Purpose::Csi(CsiPurpose::Drivers), context);
    }

    fn fail_csi(&mut self, why: String, context: &mut KubeletContext<'_>) {
        if let Some(pause) = ATTEMPT_PAUSES.get(self.csi.attempts) {
            self.csi.attempts += 1;
            let pause = self.csi_pause(*pause, context.now);
            self.set(Timer::Csi, context.now + pause);
            return;
        }
        self.csi.attempts = 0;
        let text = format!(
            "failed to initialize CSINode: error updating CSINode annotation: timed out waiting for the condition; \
                caused by: {why}"
        );
        self.log(text.clone(), context);
        self.csi.failed = Some(Text::from(text));
        self.generation += 1;
        match TRY_PAUSES.get(self.csi.tries) {
            Some(pause) => {
                self.csi.tries += 1;
                let pause = self.csi_pause(*pause, context.now);
                self.set(Timer::Csi, context.now + pause);
            }
            None => {
                self.fatal = Some(String::from(
                    "failed to initialize CSINode after retrying: timed out waiting for the condition",
                ));
            }
        }
    }
}
