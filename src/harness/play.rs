//! Runs a scenario on the backend that was chosen, or tells why that backend cannot.
//!
//! Inputs: a scenario and the options of the run. Output: its outcome. State: a setup cache for each thread, which
//! changes no outcome.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::time::Duration;

use nodeproof_core::scenario::Outcome;
use nodeproof_core::sim::{self, SetupCache};

use super::options::SuiteOptions;
use super::planned::Planned;
#[cfg(feature = "live")]
use super::runner::Live;
use super::runner::{Backend, Runner};
use super::suite::Suite;
#[cfg(feature = "live")]
use crate::live::{self, ScenarioPlan};

thread_local! {
    /// The setups of scenarios that this thread has run.
    static SETUP_CACHE: RefCell<SetupCache> = RefCell::default();
}

impl Runner {
    /// Tells whether a scenario has to wait until no other runs.
    #[must_use]
    pub fn runs_alone(&self, planned: &Planned, options: &SuiteOptions) -> bool {
        #[cfg(feature = "live")]
        return self.live.as_ref().is_some_and(|live| live.runs_alone(planned, options));
        #[cfg(not(feature = "live"))]
        {
            let _ = (planned, options);
            false
        }
    }

    /// Returns by what scenarios are ordered: whether they run alone, and in real time the longest first.
    #[must_use]
    pub fn turn(&self, planned: &Planned, options: &SuiteOptions) -> (bool, Reverse<Duration>) {
        #[cfg(feature = "live")]
        if self.live.is_some() {
            let length = live::expected_length(&planned.compiled.scenario).unsigned_abs();
            return (self.runs_alone(planned, options), Reverse(length));
        }
        (self.runs_alone(planned, options), Reverse(Duration::ZERO))
    }

    /// Describes what a scenario would do to which machine of a real cluster, one line each.
    #[must_use]
    pub fn dry_run(&self, planned: &Planned, options: &SuiteOptions) -> Vec<String> {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            return live.plan(planned, options).map_or_else(|why| vec![why], |plan| live.live_backend.dry_run(&plan));
        }
        let _ = (planned, options);
        Vec::new()
    }

    /// Returns why a scenario cannot be judged on this backend.
    pub(super) fn obstacle(&self, planned: &Planned, options: &SuiteOptions) -> Option<String> {
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
    pub(super) fn play(&self, planned: &Planned, options: &SuiteOptions, suite: &Suite) -> Outcome {
        #[cfg(feature = "live")]
        if let Some(live) = &self.live {
            return live.play(planned, options);
        }
        let settings = options.settings(planned.release(options)).with_race(options.race);
        let options = sim::SimulationOptions {
            settings,
            seed: options.seed,
            trace: options.trace,
            renewals: options.renewals,
            ..sim::SimulationOptions::default()
        };
        // Taken out of the thread-local meanwhile: an action of the user's own may run scenarios itself, or panic.
        let mut cache = SETUP_CACHE.take();
        let own = suite.own.functions();
        let outcome = sim::run_scenario_with(&planned.compiled.scenario, options, own, &mut cache);
        SETUP_CACHE.set(cache);
        outcome
    }
}

#[cfg(feature = "live")]
impl Live {
    fn plan(&self, planned: &Planned, options: &SuiteOptions) -> Result<ScenarioPlan, String> {
        let settings = options.settings(planned.release(options));
        ScenarioPlan::of(self.live_backend.as_ref(), &planned.compiled.scenario, &settings, options.seed)
    }

    fn obstacle(&self, planned: &Planned, options: &SuiteOptions) -> Option<String> {
        // A flag with a wrong value is a failure of the scenario, not a reason to skip it.
        self.plan(planned, options).ok()?.obstacle(self.live_backend.as_ref(), self.time_limit)
    }

    fn runs_alone(&self, planned: &Planned, options: &SuiteOptions) -> bool {
        !self.live_backend.has_dedicated_control_planes()
            && self.plan(planned, options).is_ok_and(|plan| plan.alone.is_some())
    }

    fn play(&self, planned: &Planned, options: &SuiteOptions) -> Outcome {
        match self.plan(planned, options) {
            Ok(plan) => live::run_scenario(self.live_backend.as_ref(), &plan),
            Err(why) => live::unplayable(&planned.compiled.scenario, why),
        }
    }
}
