//! The annotation by which a Deployment asks for an older template.
//!
//! Mirrors pkg/controller/deployment/rollback.go (v1.34). Inputs: a Deployment with the annotation, its ReplicaSets.
//! Outputs: the Deployment with the template of one of them and without the annotation, and an Event.

use alloc::format;

use jiff::Timestamp;

use super::sets::revision_of;
use super::{DEPLOYMENTS, DeploymentPurpose, DeploymentStage, DeploymentSync, Deployments, about, bare};
use crate::components::Because;
use crate::components::controller::{Flow, KeyedRuntime};
use crate::components::events::EventType;
use crate::network::{Call, Verb};
use crate::objects::{Object, ObjectKey};

/// Source: k8s.io/api apps/v1/types.go (v1.34), `DeprecatedRollbackTo`.
const ROLL_BACK_TO: &str = "deprecated.deployment.rollback.to";

/// Returns the revision that a Deployment asks for; 0 is the last before its own.
pub(super) fn asked(deployment: &Object) -> Option<i64> {
    let text = deployment.stable().at(&["metadata", "annotations", ROLL_BACK_TO]).as_str()?;
    text.parse().ok()
}

/// Returns the second largest revision; 0 for none.
///
/// Source: pkg/controller/deployment/util/deployment_util.go (v1.34), `LastRevision`.
fn last_revision(work: &DeploymentSync) -> i64 {
    let (mut most, mut second) = (0, 0);
    for revision in work.all().map(revision_of) {
        if revision >= most {
            (most, second) = (revision, most);
        } else if revision > second {
            second = revision;
        }
    }
    second
}

impl Deployments {
    /// Writes the Deployment with the template that it asks for, and without the annotation.
    pub(super) fn roll_back(
        &self,
        key: &ObjectKey,
        work: &mut DeploymentSync,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        work.stage = DeploymentStage::End(Flow::Done);
        let wanted = asked(&work.deployment).unwrap_or(0);
        let revision = if wanted == 0 { last_revision(work) } else { wanted };
        let set = work.all().find(|set| revision != 0 && revision_of(set) == revision).cloned();
        let mut body = work.tree.clone();
        body.remove(&["metadata", "annotations", ROLL_BACK_TO]);
        let about = about(&work.deployment);
        let Some(set) = set else {
            let text = if revision == 0 {
                "Unable to find last revision."
            } else {
                "Unable to find the revision to rollback to."
            };
            runtime.emit(&about, EventType::Warning, "DeploymentRollbackRevisionNotFound", text, now);
            return Self::write(key, work, body, None, runtime, now);
        };
        let template = bare(set.stable().at(&["spec", "template"]));
        if bare(work.deployment.stable().at(&["spec", "template"])) == template {
            let name = work.deployment.name();
            let text = format!("The rollback revision contains the same template as current deployment \"{name}\"");
            runtime.emit(&about, EventType::Warning, "DeploymentRollbackTemplateUnchanged", &text, now);
            return Self::write(key, work, body, None, runtime, now);
        }
        body.set(&["spec", "template"], template);
        super::sets::take_annotations(&mut body, &set);
        let fact = format!("its annotation asks for revision {revision}");
        let what = format!("take the template of {}", set.name());
        work.because = Some(runtime.decide(format!("deployment/{key}"), what, [Because::Fact(fact)].into()));
        Self::write(key, work, body, Some(revision), runtime, now);
    }

    fn write(
        key: &ObjectKey,
        work: &DeploymentSync,
        body: crate::objects::Json,
        revision: Option<i64>,
        runtime: &mut KeyedRuntime<DeploymentPurpose>,
        now: Timestamp,
    ) {
        let call = Call::new(Verb::Update, DEPLOYMENTS, &key.namespace, &key.name).body(body);
        runtime.send(key, DeploymentPurpose::RollBack(revision), call, work.because, now);
    }
}
