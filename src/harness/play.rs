//! What a stage does with a scenario: plays it, or tells why it cannot.

use std::cell::RefCell;

use nodeproof_core::profile::Settings;
use nodeproof_core::scenario::Outcome;
use nodeproof_core::sim::{self, SetupCache};

use super::options::Options;
use super::planned::Planned;
#[cfg(feature = "live")]
use super::stage::Live;
use super::stage::{Backend, Stage};
use super::suite::Suite;
#[cfg(feature = "live")]
use crate::live::{self, Plan};

thread_local! {
    /// What scenarios of this thread began with.
    static SETUP_CACHE: RefCell<SetupCache> = RefCell::default();
}

impl Stage {
    /// Tells whether a scenario has to wait until no other runs.
    #[must_use]
    pub fn runs_alone(&self, planned: &Planned, options: &Options) -> bool {
        #[cfg(feature = "live")]
        return self.live.as_ref().is_some_and(|live| live.runs_alone(planned, options));
        #[cfg(not(feature = "live"))]
        {
            let _ = (planned, options);
            false
        }
    }

    /// Says what a scenario would do to which machine of a real cluster, a line each.
    #[must_use]
    pub fn rehearse(&self, planned: &Planned, options: &Options) -> Vec<String> {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            return live.plan(planned, options).map_or_else(|why| vec![why], |plan| live.ground.rehearse(&plan));
        }
        let _ = (planned, options);
        Vec::new()
    }

    /// Tells why a scenario cannot be judged here.
    pub(super) fn obstacle(&self, planned: &Planned, options: &Options) -> Option<String> {
        let tags = planned.tags();
        if self.backend() == Backend::Sim {
            return tags.live_only.as_ref().map(|why| format!("live only: {why}"));
        }
        if let Some(why) = &tags.sim_only {
            return Some(format!("sim only: {why}"));
        }
        #[cfg(feature = "live")]
        return self.live.as_ref().and_then(|live| live.obstacle(planned, options));
        #[cfg(not(feature = "live"))]
        {
            let _ = options;
            Some("this program was built without live backends".to_owned())
        }
    }

    /// Runs a scenario.
    pub(super) fn play(&self, planned: &Planned, options: &Options, suite: &Suite) -> Outcome {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            return live.play(planned, options);
        }
        let settings = Settings::of(planned.release(options)).with_race(options.race);
        let options = sim::Options { settings, seed: options.seed, trace: options.trace, ..sim::Options::default() };
        // Out of its place meanwhile: an action of the user's own may run scenarios itself, or break down.
        let mut cache = SETUP_CACHE.take();
        let own = suite.own.functions();
        let outcome = sim::run_scenario_with(&planned.compiled.scenario, options, own, &mut cache);
        SETUP_CACHE.set(cache);
        outcome
    }
}

#[cfg(feature = "live")]
impl Live {
    fn plan(&self, planned: &Planned, options: &Options) -> Result<Plan, String> {
        let settings = Settings::of(planned.release(options));
        Plan::of(self.ground.as_ref(), &planned.compiled.scenario, &settings, options.seed)
    }

    fn obstacle(&self, planned: &Planned, options: &Options) -> Option<String> {
        // A flag that cannot be is a failure of the scenario, not a reason to skip it.
        self.plan(planned, options).ok()?.obstacle(self.ground.as_ref(), self.patience)
    }

    fn runs_alone(&self, planned: &Planned, options: &Options) -> bool {
        !self.ground.gives_control_planes() && self.plan(planned, options).is_ok_and(|plan| plan.alone.is_some())
    }

    fn play(&self, planned: &Planned, options: &Options) -> Outcome {
        match self.plan(planned, options) {
            Ok(plan) => live::run_scenario(self.ground.as_ref(), &plan),
            Err(why) => live::unplayable(&planned.compiled.scenario, why),
        }
    }
}
