//! The hollow backend: control planes of real programs, one that scenarios share, and others for scenarios that need
//! one alone.
//!
//! Inputs: the programs, prepared scenarios. Outputs: environments with a running control plane. Invariant: as many
//! control planes run at a time as cores and memory allow; all of them end with the backend.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
use nodeproof_core::components::volumes::DRIVERS;
use nodeproof_core::objects::Text;
use nodeproof_core::objects::time::seconds;
use nodeproof_core::profile::Release;
use nodeproof_core::scenario::{Capabilities, Capability, Scenario};

use super::environment::{HollowEnvironment, Plane, Recording};
use super::{ControlPlane, Logging};
use crate::live::answers::latency;
use crate::live::assets::Assets;
use crate::live::record::{OPTIONAL_KINDS, Privacy, REQUIRED_KINDS, Recorder, Title};
use crate::live::{
    Clock, Environment, EnvironmentFuture, LiveBackend, NoEnvironment, Permit, Permits, ScenarioPlan, TimingTolerance,
    expected_length, interrupt,
};

/// How many scenarios share a control plane at a time. With two or three Nodes each they stay below about 100 Nodes.
/// From there on the TTL controller treats the cluster as a larger one and changes an annotation of all Nodes; 48
/// scenarios reached that.
/// Source: pkg/controller/ttl/ttl_controller.go (v1.34), `ttlBoundaries`.
const TOGETHER_MAX: usize = 32;
/// The memory of a control plane, in KiB.
const MEMORY: u64 = 700 << 10;

/// Control planes of real programs.
#[derive(Debug)]
pub struct Hollow {
    assets: Assets,
    shared: Arc<Mutex<Option<Arc<ControlPlane>>>>,
    /// Permits of scenarios on the shared control plane.
    together: Arc<Permits>,
    /// Permits of scenarios with a control plane of their own.
    alone: Arc<Permits>,
    /// Permits of control planes that start: one for each core, of which a start uses half.
    starts: Arc<Permits>,
    /// Where recordings of all scenarios are written; `None` for no recordings.
    recordings: Option<PathBuf>,
}

impl Hollow {
    /// Looks for the programs; nothing is started before a scenario needs it.
    ///
    /// # Errors
    /// A program is missing or unfit; the text says what helps.
    pub fn find(assets: Option<&Path>) -> Result<Self, String> {
        Ok(Self {
            assets: Assets::find(assets)?,
            shared: Arc::default(),
            together: Permits::of(TOGETHER_MAX),
            alone: Permits::of(alone_max()),
            starts: Permits::of(cores()),
            recordings: None,
        })
    }

    /// Records each scenario into a directory below this one, with the audit log of its API server.
    #[must_use]
    pub fn recording_into(self, recordings: Option<PathBuf>) -> Self {
        Self { recordings, ..self }
    }

    /// Begins the recording of a scenario, if scenarios are recorded.
    async fn record(&self, plan: &ScenarioPlan, plane: &ControlPlane) -> Result<Option<Recording>, String> {
        let Some(root) = &self.recordings else { return Ok(None) };
        let release = self.assets.release().to_string();
        let name = recording_name(&plan.scenario);
        let kinds = REQUIRED_KINDS.iter().chain(OPTIONAL_KINDS.iter()).cloned().collect();
        let caller = plane.access().caller().await?;
        let recorder = Recorder::begin(kinds, &caller, Clock::new(), Privacy::Ours).await?;
        let directory = root.join(&release).join(&name);
        let shows = format!("{}: {}", plan.scenario.feature, plan.scenario.name);
        let title = Title { name, shows, kubernetes: release, flags: plane.flags() };
        Ok(Some(Recording { recorder, title, directory }))
    }

    /// Returns the release of the programs.
    #[must_use]
    pub const fn release(&self) -> Release {
        self.assets.release()
    }
}

/// Enough threads for all scenarios: permits limit those that run, and let the longest of each kind go first.
pub(super) const ALL_ARE_BEGUN: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

/// Returns the capabilities of hollow nodes on any control plane.
pub(super) fn of_hollow_nodes() -> Capabilities {
    Capabilities::from([
        Capability::KubeletFlags,
        Capability::HandFedNodes,
        Capability::Machines,
        Capability::Connections,
        Capability::Requests,
    ])
}

impl LiveBackend for Hollow {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = of_hollow_nodes();
        capabilities.extend([Capability::ControlPlaneFlags, Capability::Kubectl]);
        capabilities
    }

    fn obstacle(&self, plan: &ScenarioPlan) -> Option<String> {
        let needs_kubectl = || plan.scenario.needs().contains(&Capability::Kubectl);
        let without_kubectl = || self.assets.kubectl().err().filter(|_| needs_kubectl());
        self.assets.obstacle(plan.settings.profile().release()).or_else(without_kubectl)
    }

    fn announcement(&self) -> Option<String> {
        let release = self.assets.release();
        Some(format!("hollow nodes on control planes of our own, Kubernetes {release} at 127.0.0.1"))
    }

    fn has_dedicated_control_planes(&self) -> bool {
        true
    }

    fn isolates_all(&self) -> Option<&'static str> {
        self.recordings.as_ref().map(|_| "it is recorded")
    }

    fn concurrency(&self) -> NonZeroUsize {
        ALL_ARE_BEGUN
    }

    fn room(&self, plan: &ScenarioPlan) -> Option<Permit> {
        let permits = if plan.alone.is_some() { &self.alone } else { &self.together };
        Some(permits.take(expected_length(&plan.scenario)))
    }

    fn dry_run(&self, plan: &ScenarioPlan) -> Vec<String> {
        let length = seconds(expected_length(&plan.scenario));
        let place = plan.alone.map_or_else(|| "shared".to_owned(), |why| format!("of its own: {why}"));
        vec![format!("{length} on a control plane {place}")]
    }

    fn environment<'a>(&'a self, plan: &'a ScenarioPlan) -> EnvironmentFuture<'a> {
        Box::pin(async move {
            let starts = Arc::clone(&self.starts);
            let plane = if plan.alone.is_some() {
                let assets = self.assets.clone();
                let flags = plan.scenario.cluster.flags.clone();
                let logging = if self.recordings.is_some() { Logging::Recorded } else { Logging::Usual };
                let made = aside(move || {
                    let _start = starts.take(SignedDuration::ZERO);
                    // The run may have been interrupted while it waited for its turn.
                    if interrupt::is_asked() {
                        return Err(interrupt::SAID.to_owned());
                    }
                    ControlPlane::start(&assets, &flags, logging)
                });
                Arc::new(made.await.map_err(|why| {
                    // The text of an error begins with the program's name.
                    let program = |flag: &'a str| flag.split('.').next().unwrap_or(flag);
                    let is_asked_for =
                        plan.scenario.cluster.flags.iter().any(|(flag, _)| why.starts_with(program(flag)));
                    NoEnvironment { why, is_asked_for }
                })?)
            } else {
                let (assets, shared) = (self.assets.clone(), Arc::clone(&self.shared));
                aside(move || share(&assets, &shared, &starts)).await?
            };
            let timing_tolerance = TimingTolerance::of(latency(plane.access()).await?, &plan.settings);
            let nodes = plane.nodes(&plan.settings, plan.seed)?;
            if plan.scenario.objects_made().any(|(resource, _)| *resource == DRIVERS) {
                nodes.start_attacher().await.map_err(|error| error.to_string())?;
            }
            let recording = self.record(plan, &plane).await?;
            let environment: Box<dyn Environment> =
                Box::new(HollowEnvironment::new(Plane::Own(plane), nodes, timing_tolerance, recording));
            Ok(environment)
        })
    }
}

/// Names the recording of a scenario: its area, topic and name, as a directory.
fn recording_name(scenario: &Scenario) -> String {
    let text = format!("{}-{}-{}", scenario.area, scenario.topic, scenario.name).to_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join("-")
}

/// Returns the control plane that scenarios share; one that broke down is replaced.
fn share(
    assets: &Assets,
    shared: &Mutex<Option<Arc<ControlPlane>>>,
    starts: &Arc<Permits>,
) -> Result<Arc<ControlPlane>, String> {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plane) = shared.as_ref().filter(|plane| plane.trouble().is_none()) {
        return Ok(Arc::clone(plane));
    }
    // Before all others, since most scenarios wait for this control plane.
    let _start = starts.take(SignedDuration::MAX);
    let plane = Arc::new(ControlPlane::start(assets, &for_many(), Logging::Usual)?);
    *shared = Some(Arc::clone(&plane));
    Ok(plane)
}

/// Returns how many control planes for single scenarios run at a time. An idle one takes a tenth of a core; together
/// they take at most half of the free memory.
fn alone_max() -> usize {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = free.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    let fitting = free.map_or(1, |free| usize::try_from(free / 2 / MEMORY).unwrap_or(usize::MAX));
    (6 * cores()).min(fitting).max(1)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns the flags of a control plane that many scenarios share. The default write rate of controllers is meant for
/// one cluster; with it one scenario would wait for another.
fn for_many() -> Vec<(Text, Text)> {
    ["kube-controller-manager", "kube-scheduler"]
        .into_iter()
        .flat_map(|program| [(program, "kube-api-qps", "1000"), (program, "kube-api-burst", "2000")])
        .map(|(program, flag, value)| (Text::from(format!("{program}.{flag}")), Text::of(value)))
        .collect()
}

/// Runs blocking work in a thread beside the runtime.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        // The receiver may be gone.
        let _ = sender.send(work());
    });
    receiver.await.unwrap_or_else(|_| Err("the control plane's start broke down".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_named_after_its_scenario() {
        let scenario = Scenario {
            area: "health".into(),
            topic: "unreachable".into(),
            name: "Silence of any kind counts: machine \"w-1\" freezes".into(),
            ..Scenario::default()
        };
        assert_eq!(recording_name(&scenario), "health-unreachable-silence-of-any-kind-counts-machine-w-1-freezes");
    }
}
