//! A stand-in for the attachers of CSI drivers: it attaches what a VolumeAttachment asks for, and lets go what is
//! deleted.
//!
//! Mirrors what others see of kubernetes-csi/external-attacher (pkg/controller/csi_handler.go, v4.8): a finalizer, then
//! `status.attached`; after a deletion the finalizer is taken off. No node is asked, so that a dead one changes
//! nothing. How a driver behaves is data, in annotations of its CSIDriver: `nodeproof.dev/attach-after` and
//! `detach-after` (a duration, or `never`), `attach-error` and `detach-error` (what the driver says instead).
//! Inputs: attachments, drivers, answers, time. Outputs: patches of attachments. It writes no Events.
//! Left out on purpose: finalizers of volumes, the check of CSINodes, retries after a driver's error.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use jiff::{SignedDuration, Timestamp};

use super::Because;
use super::client::{CacheEvent, Client};
use super::controller::{
    ApiResult, Controller, ControllerConfig, ControllerContext, Flow, KeyedController, KeyedRuntime, Reconciler,
    Retries, Watched, failure,
};
use super::host::BEHAVIOUR_PREFIX;
use super::volumes::{ATTACHMENTS, DRIVERS};
use crate::json;
use crate::network::{Call, Identity, MERGE_PATCH, Verb};
use crate::objects::lifecycle::{has_finalizer, is_ending};
use crate::objects::time::{parse_duration, to_time};
use crate::objects::{Json, Object, ObjectKey, Text};

/// How long a driver takes that says nothing else.
const TAKES: SignedDuration = SignedDuration::from_millis(100);

const ATTACHMENT_CACHE: usize = 0;
const DRIVER_CACHE: usize = 1;

const CONFIG: ControllerConfig = ControllerConfig {
    queue: "attachments",
    workers: 10,
    retries: Retries::ENDLESS,
    watched: &[Watched::of(ATTACHMENTS), Watched::of(DRIVERS)],
};

/// Starts the attacher with empty caches.
pub(super) fn start(context: &ControllerContext, now: Timestamp) -> impl Controller + use<> {
    let client = Client::new(Identity::driver(context.user), &context.settings, now);
    KeyedController::with_client(CsiAttacher::default(), &CONFIG, client, context)
}

/// What a request is for.
#[derive(Clone, Copy, Debug)]
enum AttacherPurpose {
    /// The finalizer was set; `status.attached` follows.
    Finalizer,
    /// The last write of a sync.
    Last,
}

/// The attacher; it keeps the contract of [`Component`](super::Component).
#[derive(Clone, Debug, Default)]
struct CsiAttacher {
    /// When the work on an attachment began: attaching, or, with `true`, detaching.
    since: BTreeMap<ObjectKey, (bool, Timestamp)>,
}

type AttacherRuntime = KeyedRuntime<AttacherPurpose>;

/// Returns the finalizer of a driver. Source: external-attacher pkg/controller/util.go (v4.8), `GetFinalizerName`.
fn finalizer(driver: &str) -> String {
    let plain: String = driver.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect();
    format!("external-attacher/{plain}")
}

/// How a driver does one of its two tasks.
struct Manner {
    /// How long it takes; `None` if it never answers.
    takes: Option<SignedDuration>,
    /// What it says instead of doing it.
    error: Option<Text>,
}

fn manner(driver: Option<&Object>, task: &str) -> Manner {
    let said = |what: &str| {
        let name = format!("{BEHAVIOUR_PREFIX}{task}-{what}");
        driver.and_then(|driver| driver.stable().at(&["metadata", "annotations", &name]).as_text().cloned())
    };
    let takes = match said("after") {
        Some(word) if word == *"never" => None,
        Some(word) => Some(parse_duration(&word).filter(|span| !span.is_negative()).unwrap_or(TAKES)),
        None => Some(TAKES),
    };
    Manner { takes, error: said("error") }
}

fn driver_of(attachment: &Object) -> &str {
    attachment.stable().at(&["spec", "attacher"]).as_str().unwrap_or("")
}

fn patch(key: &ObjectKey, body: Json) -> Call {
    Call::new(Verb::Patch, ATTACHMENTS, "", key.name.clone()).header("content-type", Text::of(MERGE_PATCH)).body(body)
}

impl CsiAttacher {
    fn attached(key: &ObjectKey, runtime: &mut AttacherRuntime, now: Timestamp) {
        let body = json!({"status": {"attached": true, "attachError": null}});
        runtime.send(key, AttacherPurpose::Last, patch(key, body).subresource("status"), None, now);
    }

    /// Writes what the driver says of its failure, if that is new.
    fn fail(
        key: &ObjectKey,
        own: &Object,
        field: &str,
        why: &Text,
        runtime: &mut AttacherRuntime,
        now: Timestamp,
    ) -> Flow {
        if own.stable().at(&["status", field, "message"]).as_text() == Some(why) {
            return Flow::Done;
        }
        let mut body = Json::object();
        body.set(&["status", field], json!({"message": why.as_str(), "time": to_time(now)}));
        runtime.send(key, AttacherPurpose::Last, patch(key, body).subresource("status"), None, now);
        Flow::Next
    }
}

impl Reconciler for CsiAttacher {
    type Purpose = AttacherPurpose;

    fn handle_event(&mut self, source: usize, event: &CacheEvent, runtime: &mut AttacherRuntime, _: Timestamp) {
        if source == ATTACHMENT_CACHE {
            let key = event.object().key();
            match &event.after {
                Some(_) => runtime.add(key),
                None => {
                    self.since.remove(&key);
                }
            }
            return;
        }
        let driver = event.object().name();
        let own = runtime.cache(ATTACHMENT_CACHE).objects().filter(|own| driver_of(own) == driver);
        let keys: Vec<ObjectKey> = own.map(Object::key).collect();
        keys.into_iter().for_each(|key| runtime.add(key));
    }

    fn sync(&mut self, key: &ObjectKey, runtime: &mut AttacherRuntime, now: Timestamp) -> Flow {
        let Some(own) = runtime.cache(ATTACHMENT_CACHE).get(key).cloned() else { return Flow::Done };
        let finalizer = finalizer(driver_of(&own));
        let finalizers = own.stable().at(&["metadata", "finalizers"]).items();
        let has_finalizer = has_finalizer(&own, &finalizer);
        let leaves = is_ending(&own);
        let is_attached = own.stable().at(&["status", "attached"]).as_bool() == Some(true);
        let is_done = if leaves { !has_finalizer } else { is_attached };
        if is_done {
            return Flow::Done;
        }
        let driver = runtime.cache(DRIVER_CACHE).cache().get("", driver_of(&own));
        let manner = manner(driver, if leaves { "detach" } else { "attach" });
        let known = self.since.get(key).filter(|(leaving, _)| *leaving == leaves).map(|(_, since)| *since);
        let since = known.unwrap_or(now);
        self.since.insert(key.clone(), (leaves, since));
        let Some(takes) = manner.takes else { return Flow::Done };
        if now < since + takes {
            runtime.add_after(key.clone(), (since + takes).duration_since(now), now);
            return Flow::Done;
        }
        if let Some(why) = &manner.error {
            let field = if leaves { "detachError" } else { "attachError" };
            return Self::fail(key, &own, field, why, runtime, now);
        }
        let node = own.stable().at(&["spec", "nodeName"]).as_str().unwrap_or("");
        let (what, list): (_, Vec<Json>) = if leaves {
            let rest = finalizers.iter().filter(|item| item.as_str() != Some(&*finalizer)).cloned();
            ("detached from", rest.collect())
        } else {
            ("attached to", finalizers.iter().cloned().chain([Json::from(finalizer.as_str())]).collect())
        };
        let fact = Because::Fact(format!("the driver {} says so", driver_of(&own)));
        runtime.decide(format!("volumeattachment/{}", key.name), format!("{what} Node {node}"), [fact].into());
        if !leaves && has_finalizer {
            Self::attached(key, runtime, now);
            return Flow::Next;
        }
        let mut body = Json::object();
        body.set(&["metadata", "finalizers"], if list.is_empty() { Json::Null } else { Json::array(list) });
        let step = if leaves { AttacherPurpose::Last } else { AttacherPurpose::Finalizer };
        runtime.send(key, step, patch(key, body), None, now);
        Flow::Next
    }

    fn handle_reply(
        &mut self,
        key: &ObjectKey,
        step: AttacherPurpose,
        reply: &ApiResult,
        runtime: &mut AttacherRuntime,
        now: Timestamp,
    ) -> Flow {
        match step {
            _ if failure(reply).is_some() => Flow::Retry,
            AttacherPurpose::Finalizer => {
                Self::attached(key, runtime, now);
                Flow::Next
            }
            AttacherPurpose::Last => Flow::Done,
        }
    }
}
