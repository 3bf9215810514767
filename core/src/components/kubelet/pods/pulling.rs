//! Images that a container lacks: those whose names cannot be read or that must not be pulled, and pulls that fail.
//!
//! Mirrors pkg/kubelet/images/image_manager.go (v1.34). Pure. Inputs: the pod, the images of the machine, whether its
//! pulls fail. Outputs: why a container cannot start, and what Events say of it. A machine of which no image is known
//! has them all, unless its pulls fail. Left out on purpose: pulls that succeed, which take no time and are not told.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::changes::image_of;
use super::worker::{ContainerPlan, FailedPull};
use crate::components::host::Host;
use crate::components::host::runtime::ContainerRole;
use crate::components::kubelet::events::EventType;
use crate::components::kubelet::image_names::{full_name, name_error};
use crate::objects::{Json, Object, Text};

/// The errors of an image whose name cannot be read or that must not be pulled, of a pull that failed, and of one that
/// waits. Source: pkg/kubelet/images/types.go (v1.34).
const INVALID_NAME: &str = "InvalidImageName";
const NEVER_PULL: &str = "ErrImageNeverPull";
const PULL: &str = "ErrImagePull";
const BACK_OFF: &str = "ImagePullBackOff";
/// The first pause after a pull that failed, and the longest.
/// Source: pkg/kubelet/kubelet.go (v1.34), `imageBackOffPeriod`, `MaxImageBackOff`.
const PAUSE_FIRST: SignedDuration = SignedDuration::from_secs(10);
const PAUSE_MAX: SignedDuration = SignedDuration::from_secs(300);

/// An Event that is to be told.
pub(super) type Said = (EventType, &'static str, String);

/// Returns the image that a container lacks, and whether it may be pulled.
pub(super) fn lacking<'a>(pod: &'a Object, container: &str, host: &Host) -> Option<(&'a str, bool)> {
    let (_, own) = ContainerRole::find(pod, container)?;
    let (image, policy) = (own.get("image").as_str()?, own.get("imagePullPolicy").as_str());
    let fails = host.fails("image-pull");
    let names = || host.images.iter().flat_map(|own| own.get("names").items()).filter_map(Json::as_str);
    let is_there = || names().any(|name| full_name(name) == full_name(image));
    match policy {
        Some("Never") => (!host.images.is_empty() && !is_there()).then_some((image, false)),
        Some("Always") => fails.then_some((image, true)),
        _ => (fails && !is_there()).then_some((image, true)),
    }
}

impl ContainerPlan {
    /// Tries to have the image of a container on the machine; if that fails, its start has failed, and Events say so.
    pub(super) fn fetch_image(&mut self, pod: &Object, host: &Host, tells_why: bool, now: Timestamp) -> Vec<Said> {
        self.start_error = None;
        let image = image_of(pod, &self.name);
        if let Some(why) = name_error(image) {
            let message =
                format!("Failed to apply default image tag \"{image}\": couldn't parse image name \"{image}\": {why}");
            self.start_error = Some((INVALID_NAME, Text::from(message.as_str())));
            return Vec::from([(EventType::Warning, "InspectFailed", message)]);
        }
        let Some((image, may_pull)) = lacking(pod, &self.name, host) else {
            self.failed_pull = None;
            return Vec::new();
        };
        if !may_pull {
            let message = format!("Container image \"{image}\" is not present with pull policy of Never");
            self.start_error = Some((NEVER_PULL, Text::from(message.as_str())));
            return Vec::from([(EventType::Warning, NEVER_PULL, message)]);
        }
        let before = self.failed_pull.take();
        if let Some(failed) = before.as_ref().filter(|failed| now.duration_since(failed.at) < failed.pause) {
            let said = format!("Back-off pulling image \"{image}\"");
            let why = if tells_why { format!("{said}: {PULL}: {}", failed.error) } else { said.clone() };
            self.start_error = Some((BACK_OFF, Text::from(why)));
            self.failed_pull = before;
            return Vec::from([(EventType::Normal, "BackOff", said)]);
        }
        let known = before.filter(|failed| now.duration_since(failed.at) <= PAUSE_MAX * 2);
        let pause = known.map_or(PAUSE_FIRST, |failed| (failed.pause * 2).min(PAUSE_MAX));
        let error = refusal(image);
        let failed = format!("Failed to pull image \"{image}\": {error}");
        self.start_error = Some((PULL, error.clone()));
        self.failed_pull = Some(FailedPull { at: now, pause, error });
        Vec::from([
            (EventType::Normal, "Pulling", format!("Pulling image \"{image}\"")),
            (EventType::Warning, "Failed", failed),
        ])
    }
}

/// Returns what containerd says of an image that the registry does not have.
///
/// Source: github.com/containerd/containerd client/pull.go (v2.0), `fetch`, as printed in
/// kubernetes-sigs/provider-aws-test-infra#281.
fn refusal(image: &str) -> Text {
    let name = full_name(image);
    Text::from(format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image \"{name}\": failed to resolve reference \
         \"{name}\": {name}: not found"
    ))
}
