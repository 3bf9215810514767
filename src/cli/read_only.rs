//! `nodeproof run --read-only`: judges the scenarios tagged `@read-only` on an existing cluster.
//!
//! Inputs: feature files, a context. Outputs: verdicts on standard output; on standard error the cluster and the rights
//! that are used, before any object is read. Invariant: nothing is written to the cluster.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use jiff::SignedDuration;
use nodeproof_core::network::Resource;
use nodeproof_core::objects::time::seconds;
use nodeproof_core::scenario::Outcome;

use super::count::Ended;
use super::live::LiveArgs;
use super::outputs::{Closing, JudgedScenario, Outputs};
use super::selection_args::named;
use super::tally::Tally;
use super::terminal::{Colour, line, note};
use super::{MISUSE, misuse};
use crate::harness::{Judged, Planned, Selection, Suite, Verdict};
use crate::live::{Access, ReadOnlyRun, kinds_of, rights};
use crate::load::Problem;

/// Options of a look.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Options of a look at a cluster as it is")]
pub(super) struct ReadOnlyArgs {
    /// Run the scenarios tagged @read-only on the cluster of a context: they look, and nothing is ever written. Needs
    /// get, list and watch of Nodes, and of Leases in the namespace kube-node-lease
    #[arg(long, requires = "context")]
    pub(super) read_only: bool,
    /// What the flag of the cluster's kube-controller-manager is; default: that of its release
    #[arg(long, value_name = "DURATION", requires = "read_only")]
    node_monitor_grace_period: Option<SignedDuration>,
    /// The same
    #[arg(long, value_name = "DURATION", requires = "read_only")]
    node_monitor_period: Option<SignedDuration>,
}

/// The command `run --read-only`.
pub(super) struct ReadOnlyCommand<'a> {
    /// Its options.
    pub(super) args: &'a ReadOnlyArgs,
    /// Which cluster.
    pub(super) live: &'a LiveArgs,
    /// The scenarios.
    pub(super) suite: &'a Suite,
    /// Which of them.
    pub(super) selection: &'a Selection,
    /// The name of the only scenario to judge, if one was named.
    pub(super) only: Option<&'a str>,
    /// Whether one JSON object a line is printed for each scenario.
    pub(super) json: bool,
}

/// The first part of the names of scenarios judged this way.
const LOOK: &str = "look";

impl ReadOnlyCommand<'_> {
    /// Judges the scenarios and prints the verdicts: exit code 0 if all held, 1 if not, 2 if the cluster could not be
    /// read.
    pub(super) fn run(&self, mut outputs: Outputs) -> ExitCode {
        let started = Instant::now();
        let problems: Vec<Problem> = self.suite.problems().cloned().collect();
        outputs.load(&problems, self.suite);
        let looked =
            Access::of_context(self.live.kubeconfig.as_deref(), self.live.context.as_deref().unwrap_or_default())
                .and_then(|access| self.read_only(&access, &mut outputs));
        let (tally, k8s) = match looked {
            Ok(looked) => looked,
            Err(message) => return misuse(message),
        };
        let ended = Ended { seconds: started.elapsed().as_secs_f64(), ..Ended::of(self.suite, problems.len()) };
        let code = match (problems.is_empty(), tally.failures()) {
            (false, _) => MISUSE,
            (true, 0) => 0,
            (true, _) => 1,
        };
        if let Err(message) =
            outputs.close(&Closing { backend: LOOK, k8s, told: serde_json::Value::Null }, &tally, &ended, code)
        {
            return misuse(message);
        }
        let text = format!("    Finished {tally} in {:.0}s", ended.seconds);
        if self.json {
            note(text)
        } else {
            line(text)
        }
        ExitCode::from(code)
    }

    fn read_only(&self, access: &Access, outputs: &mut Outputs) -> Result<(Tally, String), String> {
        let run = ReadOnlyRun::open(access)?;
        let context = self.live.context.as_deref().unwrap_or_default();
        say_cluster(context, access, &run);
        let mut tally = Tally::default();
        let mut chosen: Vec<&Planned> = Vec::new();
        for planned in self.meant()? {
            match planned.tags().other_release(run.release) {
                None => chosen.push(planned),
                Some(why) => {
                    tally.add(Verdict::Skipped, &why);
                    self.say(planned, &run, &Judged::skipped(why), outputs);
                }
            }
        }
        if chosen.is_empty() {
            return Err("there is no scenario tagged @read-only to run".to_owned());
        }
        let scenarios: Vec<_> = chosen.iter().map(|planned| planned.compiled.scenario.clone()).collect();
        let kinds = kinds_of(&scenarios);
        say_rights(&kinds);
        let mut measures = run.defaults();
        measures.grace_period = self.args.node_monitor_grace_period.unwrap_or(measures.grace_period);
        measures.health_period = self.args.node_monitor_period.unwrap_or(measures.health_period);
        let (grace, period, tolerance) =
            (seconds(measures.grace_period), seconds(measures.health_period), seconds(measures.tolerance));
        note(format_args!(
            "measures  --node-monitor-grace-period {grace}, --node-monitor-period {period}; bounds may be missed by \
                {tolerance}"
        ));
        run.check_rights(&kinds)?;
        for (planned, outcome) in chosen.iter().zip(run.judge(&scenarios, &measures)?) {
            let (verdict, text) = (Verdict::from(outcome.verdict), self.explain(planned, &outcome));
            tally.add(verdict, &text);
            self.say(planned, &run, &Judged::seen(verdict, text, outcome), outputs);
        }
        Ok((tally, run.release.minor_name()))
    }

    /// Returns the selected scenarios.
    fn meant(&self) -> Result<Vec<&Planned>, String> {
        let all = self.suite.planned.iter().filter(|planned| planned.tags().read_only).collect();
        let mut meant = match self.only {
            Some(only) => named(all, only.strip_prefix("look::").unwrap_or(only))
                .map_err(|why| format!("{why}; only those tagged @read-only look"))?,
            None => all,
        };
        meant.retain(|planned| self.selection.meets(planned.tags()));
        Ok(meant)
    }

    /// Returns what was observed in place of what was expected; the reasons are known to the cluster alone.
    fn explain(&self, planned: &Planned, outcome: &Outcome) -> String {
        let Some(mismatch) = &outcome.mismatch else { return String::new() };
        let step = &mismatch.step;
        let kubeconfig = self.live.kubeconfig.as_ref().map(|file| format!(" --kubeconfig {}", file.display()));
        let context = self.live.context.as_deref().unwrap_or_default();
        format!(
            "{}:{}: {}\n  expected  {}\n  observed  {}\n  replay    nodeproof run --read-only --context {context}{} \
                --only {LOOK}::{}",
            step.file,
            step.line,
            step.text,
            mismatch.expected,
            mismatch.observed,
            kubeconfig.unwrap_or_default(),
            planned.compiled.id
        )
    }

    fn say(&self, planned: &Planned, run: &ReadOnlyRun, judged: &Judged, outputs: &mut Outputs) {
        let (name, text) = (format!("{LOOK}::{}", planned.compiled.id), &judged.text);
        let (context, k8s) = (self.live.context.as_deref(), run.release.minor_name());
        let entry =
            JudgedScenario { planned, name: &name, backend: LOOK, context, k8s, seed: None, judged, is_news: true };
        outputs.verdict(&entry);
        if self.json {
            return;
        }
        let colour = Colour::of(&std::io::stdout());
        match judged.verdict {
            Verdict::Passed => line(format_args!("{} {name}", colour.good("      passed"))),
            Verdict::Skipped => line(format_args!("{} {name} ({text})", colour.note("     skipped"))),
            verdict => line(format_args!("{} {name}\n{text}\n", colour.bad(&format!("{:>12}", verdict.word())))),
        }
    }
}

/// Prints which cluster is read.
pub(super) fn say_cluster(context: &str, access: &Access, run: &ReadOnlyRun) {
    note(format_args!("cluster   {context}, {}: Kubernetes {}", access.server(), run.version));
}

/// Prints which rights are used.
pub(super) fn say_rights(kinds: &BTreeSet<Resource>) {
    note(format_args!("reads     {}; nothing is written", rights(kinds)));
}
