//! The cells of what makes, scales and spares Pods, whose columns are in `workload_columns`.
//!
//! Mirrors pkg/printers/internalversion/printers.go (v1.34). Inputs: an object. Outputs: one cell for each
//! column behind the name; `None` for kinds of other files.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::TableContext;
use super::cell_values::{
    NONE, UNSET, age, containers, containers_of, count, labels, number, replicas, selector, text,
};
use crate::objects::lifecycle::controller_of;
use crate::objects::time::human_duration;
use crate::objects::{Json, NULL, time};

/// Returns the cells of an object of a kind.
pub(super) fn of(plural: &str, object: &Json, age: Json, view: TableContext<'_>) -> Option<Vec<Json>> {
    Some(match plural {
        "daemonsets" => daemon_set(object, age),
        "deployments" => deployment(object, age),
        "replicasets" => replicas(object, age, selector(object.at(&["spec", "selector"]))),
        "statefulsets" => stateful_set(object, age),
        "jobs" => job(object, age, view),
        "priorityclasses" => priority_class(object, age),
        "poddisruptionbudgets" => budget(object, age),
        "scales" => Vec::from([count(object, &["spec", "replicas"]), count(object, &["status", "replicas"]), age]),
        "replicationcontrollers" => replicas(object, age, Json::from(labels(object.at(&["spec", "selector"])))),
        "cronjobs" => cron_job(object, age, view),
        "controllerrevisions" => Vec::from([controller(object), object.get("revision").clone(), age]),
        "podtemplates" => {
            let [names, images] = containers_of(object.at(&["template", "spec", "containers"]));
            Vec::from([names, images, Json::from(labels(object.at(&["template", "metadata", "labels"])))])
        }
        "horizontalpodautoscalers" => autoscaler(object, age),
        _ => return None,
    })
}

fn daemon_set(set: &Json, age: Json) -> Vec<Json> {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let mut cells: Vec<Json> = counts.iter().map(|field| count(set, &["status", field])).collect();
    cells.push(Json::from(labels(set.at(&["spec", "template", "spec", "nodeSelector"]))));
    cells.push(age);
    cells.extend(containers(set));
    cells.push(selector(set.at(&["spec", "selector"])));
    cells
}

fn ready_of_wanted(object: &Json) -> Json {
    Json::from(format!("{}/{}", number(object, &["status", "readyReplicas"]), number(object, &["spec", "replicas"])))
}

fn deployment(deployment: &Json, age: Json) -> Vec<Json> {
    let mut cells = Vec::from([
        ready_of_wanted(deployment),
        count(deployment, &["status", "updatedReplicas"]),
        count(deployment, &["status", "availableReplicas"]),
        age,
    ]);
    cells.extend(containers(deployment));
    cells.push(selector(deployment.at(&["spec", "selector"])));
    cells
}

fn stateful_set(set: &Json, age: Json) -> Vec<Json> {
    let mut cells = Vec::from([ready_of_wanted(set), age]);
    cells.extend(containers(set));
    cells
}

fn job(job: &Json, age: Json, view: TableContext<'_>) -> Vec<Json> {
    let succeeded = number(job, &["status", "succeeded"]);
    let completions = match (job.at(&["spec", "completions"]).as_i64(), number(job, &["spec", "parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{wanted}"),
        (None, side_by_side) if side_by_side > 1 => format!("{succeeded}/1 of {side_by_side}"),
        _ => format!("{succeeded}/1"),
    };
    let instant = |field: &str| job.at(&["status", field]).as_str().and_then(time::parse);
    let duration = match (instant("startTime"), instant("completionTime")) {
        (None, _) => String::new(),
        (Some(from), to) => human_duration(to.unwrap_or(view.now).duration_since(from)),
    };
    let is = |kind: &str| {
        let conditions = job.at(&["status", "conditions"]).items();
        conditions.iter().any(|it| it.get("type").as_str() == Some(kind) && it.get("status").as_str() == Some("True"))
    };
    let status = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if !job.at(&["metadata", "deletionTimestamp"]).is_null() {
        "Terminating"
    } else {
        let tells_success = view.profile.is("job-table-tells-success-criteria");
        let mut kinds = ["Suspended", "FailureTarget"].into_iter().chain(tells_success.then_some("SuccessCriteriaMet"));
        kinds.find(|kind| is(kind)).unwrap_or("Running")
    };
    let mut cells = Vec::from([Json::from(status), Json::from(completions), Json::from(duration), age]);
    cells.extend(containers(job));
    cells.push(selector(job.at(&["spec", "selector"])));
    cells
}

fn cron_job(object: &Json, own_age: Json, view: TableContext<'_>) -> Vec<Json> {
    let last = object.at(&["status", "lastScheduleTime"]);
    let template = object.at(&["spec", "jobTemplate", "spec"]);
    let active = i64::try_from(object.at(&["status", "active"]).items().len()).unwrap_or(i64::MAX);
    let mut cells = Vec::from([
        text(object, &["spec", "schedule"]),
        object.at(&["spec", "timeZone"]).as_text().map_or_else(|| Json::from(NONE), Json::from),
        Json::from(match object.at(&["spec", "suspend"]).as_bool() {
            None => UNSET,
            Some(true) => "True",
            Some(false) => "False",
        }),
        Json::Int(active),
        if last.is_null() { Json::from(NONE) } else { age(last, view) },
        own_age,
    ]);
    cells.extend(containers_of(template.at(&["template", "spec", "containers"])));
    cells.push(selector(template.get("selector")));
    cells
}

/// Shows the controller of an object as `kind.group/name`.
fn controller(object: &Json) -> Json {
    let Some(owner) = controller_of(object) else { return Json::from(NONE) };
    let part = |field: &str| owner.get(field).as_str().unwrap_or("");
    let group = part("apiVersion").split_once('/').map(|(group, _)| format!(".{group}")).unwrap_or_default();
    Json::from(format!("{}{group}/{}", part("kind").to_lowercase(), part("name")))
}

fn autoscaler(own: &Json, age: Json) -> Vec<Json> {
    let target = own.at(&["spec", "scaleTargetRef"]);
    let part = |field: &str| target.get(field).as_str().unwrap_or("");
    let least = own.at(&["spec", "minReplicas"]).as_i64().map_or(Json::from("<unset>"), |own| format!("{own}").into());
    let shown = Json::from(format!("{}/{}", part("kind"), part("name")));
    let [most, current] = [["spec", "maxReplicas"], ["status", "currentReplicas"]].map(|path| count(own, &path));
    Vec::from([shown, Json::from(metrics(own)), least, most, current, age])
}

/// Source: pkg/printers/internalversion/printers.go (v1.34), `formatHPAMetrics`.
fn metrics(own: &Json) -> String {
    const MOST: usize = 2;
    let found = own.at(&["status", "currentMetrics"]).items();
    let specs = own.at(&["spec", "metrics"]).items();
    let shown: Vec<String> = specs.iter().enumerate().map(|(at, spec)| metric(spec, found.get(at))).collect();
    let more = shown.len().saturating_sub(MOST);
    match (shown.is_empty(), more) {
        (true, _) => String::from(NONE),
        (false, 0) => shown.join(", "),
        (false, _) => format!("{} + {more} more...", shown[..MOST].join(", ")),
    }
}

/// Shows what a metric is and what it should be.
fn metric(spec: &Json, found: Option<&Json>) -> String {
    let (field, is_resource) = match spec.get("type").as_str() {
        Some("Resource") => ("resource", true),
        Some("ContainerResource") => ("containerResource", true),
        Some("Pods") => ("pods", false),
        Some("Object") => ("object", false),
        Some("External") => ("external", false),
        _ => return String::from("<unknown type>"),
    };
    let (part, target) = (spec.get(field), spec.at(&[field, "target"]));
    let now = |name: &str| found.map_or(&NULL, |found| found.at(&[field, "current", name]));
    let amount = |value: &Json| value.as_str().map(String::from);
    let percent = |value: &Json| value.as_i64().map(|value| format!("{value}%"));
    let (now, wanted, end) = if !target.get("averageValue").is_null() || field == "pods" {
        let end = if matches!(field, "object" | "external") { " (avg)" } else { "" };
        (amount(now("averageValue")), amount(target.get("averageValue")), end)
    } else if is_resource {
        let wanted = percent(target.get("averageUtilization")).or_else(|| Some(String::from("<auto>")));
        (percent(now("averageUtilization")), wanted, "")
    } else {
        (amount(now("value")), amount(target.get("value")), "")
    };
    let name = if is_resource { format!("{}: ", part.get("name").as_str().unwrap_or("")) } else { String::new() };
    let now = now.unwrap_or_else(|| String::from("<unknown>"));
    format!("{name}{now}/{}{end}", wanted.unwrap_or_default())
}

fn budget(budget: &Json, age: Json) -> Vec<Json> {
    let share = |field: &str| match budget.at(&["spec", field]) {
        Json::Null => Json::from("N/A"),
        Json::Int(number) => Json::from(number.to_string()),
        other => other.clone(),
    };
    Vec::from([share("minAvailable"), share("maxUnavailable"), count(budget, &["status", "disruptionsAllowed"]), age])
}

fn priority_class(class: &Json, age: Json) -> Vec<Json> {
    let is_default = class.get("globalDefault").as_bool().unwrap_or(false);
    Vec::from([count(class, &["value"]), Json::Bool(is_default), age, text(class, &["preemptionPolicy"])])
}

#[cfg(test)]
mod tests {
    use super::metrics;
    use crate::json;
    use crate::objects::Json;

    #[test]
    fn a_metric_shows_what_is_and_what_should_be() {
        let of = |name: &str, target: Json| json!({"type": "Resource", "resource": {"name": name, "target": target}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "5"}}});
        let mut own = json!({"spec": {"metrics": [of("cpu", json!({"averageUtilization": 80})),
            of("memory", json!({"averageValue": "1Gi"}))]}});
        assert_eq!(metrics(&own), "cpu: <unknown>/80%, memory: <unknown>/1Gi");
        own.entry(&["spec", "metrics"]).make_array().push(pods);
        let current = json!({"resource": {"current": {"averageUtilization": 7}}});
        own.set(&["status", "currentMetrics"], json!([current]));
        assert_eq!(metrics(&own), "cpu: 7%/80%, memory: <unknown>/1Gi + 1 more...");
        assert_eq!(metrics(&json!({})), "<none>");
    }
}
