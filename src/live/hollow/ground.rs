//! What scenarios stand on: control planes, one that they share and some for those that need one alone.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Instant;

use jiff::SignedDuration;
use nodeproof_core::components::controllers::ControllerAction;
use nodeproof_core::network::{Call, NODES, Verb};
use nodeproof_core::profile::Release;
use nodeproof_core::scenario::{Capabilities, Capability};

use super::ControlPlane;
use crate::live::assets::Assets;
use crate::live::{Access, Doing, Ground, Pace, Plan, Site};

/// How many control planes for single scenarios run at a time: each takes half a GiB and a core while it starts.
const ALONE_MAX: usize = 2;

/// Control planes of real programs.
#[derive(Debug)]
pub struct Hollow {
    assets: Assets,
    shared: Arc<OnceLock<Result<Arc<ControlPlane>, String>>>,
    alone: Arc<Places>,
}

impl Hollow {
    /// Looks for the programs; nothing is started before a scenario needs it.
    ///
    /// # Errors
    /// A program is missing or unfit; the text says what helps.
    pub fn find(assets: Option<&Path>) -> Result<Self, String> {
        Ok(Self { assets: Assets::find(assets)?, shared: Arc::default(), alone: Arc::default() })
    }

    /// Returns the release of the programs.
    #[must_use]
    pub const fn release(&self) -> Release {
        self.assets.release()
    }
}

impl Ground for Hollow {
    fn capabilities(&self) -> Capabilities {
        Capabilities::from([Capability::ControlPlaneFlags, Capability::HandFedNodes])
    }

    fn obstacle(&self, plan: &Plan) -> Option<String> {
        self.assets.obstacle(plan.settings.profile().release())
    }

    fn greeting(&self) -> Option<String> {
        let release = self.assets.release();
        Some(format!("hollow nodes on control planes of our own, Kubernetes {release} at 127.0.0.1"))
    }

    fn gives_control_planes(&self) -> bool {
        true
    }

    fn site<'a>(&'a self, plan: &'a Plan) -> Doing<'a, Box<dyn Site>> {
        Box::pin(async move {
            let (plane, place) = if plan.alone.is_some() {
                let (assets, alone) = (self.assets.clone(), Arc::clone(&self.alone));
                let flags = plan.scenario.cluster.flags.clone();
                let made = aside(move || {
                    let place = Places::take(alone);
                    ControlPlane::start(&assets, &flags).map(|plane| (Arc::new(plane), place))
                });
                let (plane, place) = made.await?;
                (plane, Some(place))
            } else {
                let (assets, shared) = (self.assets.clone(), Arc::clone(&self.shared));
                let start = move || shared.get_or_init(|| ControlPlane::start(&assets, &[]).map(Arc::new)).clone();
                (aside(start).await?, None)
            };
            let latency = latency(plane.access()).await?;
            let site: Box<dyn Site> =
                Box::new(HollowSite { pace: Pace::of(latency, &plan.settings), plane, _place: place });
            Ok(site)
        })
    }
}

/// Does something that blocks beside the runtime.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // Whoever waits may have gone.
        let _ = sender.send(work());
    });
    receiver.await.unwrap_or_else(|_| Err("the control plane's start broke down".to_owned()))
}

/// Measures how long an answer takes: the slowest of a few.
async fn latency(access: &Access) -> Result<SignedDuration, String> {
    const TIMES: u32 = 5;
    let caller = access.caller().await?;
    let mut slowest = SignedDuration::ZERO;
    for time in 0..TIMES {
        let asked = Instant::now();
        caller.ask(&Call::new(Verb::List, NODES, "", "").query("limit", "1")).await;
        // The first connects.
        if time > 0 {
            slowest = slowest.max(SignedDuration::try_from(asked.elapsed()).unwrap_or_default());
        }
    }
    Ok(slowest)
}

/// Places for control planes of single scenarios.
#[derive(Debug, Default)]
struct Places {
    taken: Mutex<usize>,
    free: Condvar,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
struct Place(Arc<Places>);

impl Places {
    /// Waits for a place.
    fn take(places: Arc<Self>) -> Place {
        let taken = places.taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let waited = places.free.wait_while(taken, |taken| *taken >= ALONE_MAX);
        *waited.unwrap_or_else(std::sync::PoisonError::into_inner) += 1;
        Place(places)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(std::sync::PoisonError::into_inner) -= 1;
        self.0.free.notify_one();
    }
}

/// A scenario's place on a control plane.
struct HollowSite {
    pace: Pace,
    /// Before the place: the control plane ends first.
    plane: Arc<ControlPlane>,
    _place: Option<Place>,
}

impl Site for HollowSite {
    fn access(&self) -> &Access {
        self.plane.access()
    }

    fn pace(&self) -> Pace {
        self.pace.clone()
    }

    fn controller_do<'a>(&'a mut self, name: &'a str, action: ControllerAction) -> Doing<'a, ()> {
        Box::pin(async move { Err(format!("{action:?} of {name} alone cannot be had from kube-controller-manager")) })
    }

    fn leave(self: Box<Self>) -> Doing<'static, ()> {
        let trouble = self.plane.trouble();
        Box::pin(async move { trouble.map_or(Ok(()), Err) })
    }
}
