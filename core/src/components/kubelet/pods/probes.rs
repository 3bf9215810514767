//! When the probes of a container first succeed, for a process that is well from some instant on.
//!
//! Mirrors pkg/kubelet/prober/worker.go and prober_manager.go (v1.34). Pure. Inputs: the container's specification, the
//! instants at which its pod was first synced, its process started and is well. Outputs: instants. Left out on purpose:
//! probes that fail later, and so the restarts of a liveness probe.

use jiff::{SignedDuration, Timestamp};

use crate::objects::Json;

/// What a container starts from.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeContext {
    /// When its pod was first synced: from then on its probes tick.
    pub(super) seen_at: Timestamp,
    /// When its process started.
    pub(super) started_at: Timestamp,
    /// From when on its process answers.
    pub(super) well_at: Timestamp,
}

/// Returns when a container has started by its startup probe, `None` without one, and when it is ready.
pub(super) fn instants(container: &Json, context: ProbeContext) -> (Option<Timestamp>, Timestamp) {
    let startup = container.get("startupProbe");
    let startup = startup.is_object().then(|| success(startup, context.started_at, false, context));
    let from = startup.unwrap_or(context.started_at);
    let readiness = container.get("readinessProbe");
    let ready = match readiness.is_object() {
        true => success(readiness, from, true, context),
        false => from.max(context.well_at),
    };
    (startup, ready)
}

/// Returns when a probe has succeeded often enough that may run from an instant on. A readiness probe also runs at once
/// when the status of a container that has started is written.
///
/// Source: pkg/kubelet/prober/worker.go (v1.34), `doProbe`; pkg/apis/core/v1/defaults.go, `SetDefaults_Probe`.
fn success(probe: &Json, from: Timestamp, runs_at_once: bool, context: ProbeContext) -> Timestamp {
    let number = |field: &str, default: i64| probe.get(field).as_i64().filter(|number| *number > 0).unwrap_or(default);
    let period = SignedDuration::from_secs(number("periodSeconds", 10));
    let delay = SignedDuration::from_secs(number("initialDelaySeconds", 0));
    let tick = |at: Timestamp| {
        let late = at.duration_since(context.seen_at).as_nanos().rem_euclid(period.as_nanos());
        let late = SignedDuration::from_nanos(i64::try_from(late).unwrap_or(0));
        if late.is_zero() { at } else { at - late + period }
    };
    let earliest = from.max(context.started_at + delay).max(context.well_at);
    let first = if runs_at_once && earliest == from { from } else { tick(earliest) };
    match i32::try_from(number("successThreshold", 1)).unwrap_or(i32::MAX) {
        1 => first,
        times => {
            let second = tick(first + SignedDuration::from_nanos(1));
            let rest = period.checked_mul(times - 2);
            rest.and_then(|rest| second.checked_add(rest).ok()).unwrap_or(Timestamp::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{ProbeContext, instants};
    use crate::json;
    use crate::objects::Json;

    fn seconds(container: &Json, started: i64, well: i64) -> (Option<i64>, i64) {
        let at = |seconds: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds);
        let context = ProbeContext { seen_at: at(0), started_at: at(started), well_at: at(started + well) };
        let (startup, ready) = instants(container, context);
        (startup.map(Timestamp::as_second), ready.as_second())
    }

    #[test]
    fn a_probe_succeeds_at_its_ticks() {
        let probed = |startup: Json, readiness: Json| json!({"startupProbe": startup, "readinessProbe": readiness});
        assert_eq!(seconds(&json!({}), 3, 4), (None, 7));
        // At once, if the process is well; else with the next tick.
        assert_eq!(seconds(&probed(Json::Null, json!({})), 3, 0), (None, 3));
        assert_eq!(seconds(&probed(Json::Null, json!({})), 3, 1), (None, 10));
        assert_eq!(
            seconds(&probed(Json::Null, json!({"initialDelaySeconds": 5, "periodSeconds": 3})), 3, 0),
            (None, 9)
        );
        assert_eq!(seconds(&probed(Json::Null, json!({"periodSeconds": 4, "successThreshold": 3})), 3, 0), (None, 8));
        // As many as never come.
        let never = json!({"periodSeconds": i32::MAX, "successThreshold": i32::MAX});
        assert_eq!(seconds(&probed(Json::Null, never), 3, 0), (None, Timestamp::MAX.as_second()));
        // Until the startup probe has succeeded no other runs.
        assert_eq!(seconds(&probed(json!({"periodSeconds": 5}), json!({})), 3, 4), (Some(10), 10));
        assert_eq!(
            seconds(&probed(json!({"periodSeconds": 5}), json!({"initialDelaySeconds": 9})), 3, 4),
            (Some(10), 20)
        );
        assert_eq!(seconds(&probed(json!({}), Json::Null), 3, 0), (Some(10), 10));
    }
}
