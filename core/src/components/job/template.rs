//! The pods that a Job makes.
//!
//! Mirrors `manageJob` of pkg/controller/job/job_controller.go and pkg/controller/job/indexed_job_utils.go (v1.34).
//! Inputs: a Job, an index, the failed pod that is replaced. Output: a pod.

use alloc::format;
use alloc::string::String;

use super::FINALIZER;
use super::indexes::{FAILURES, IGNORED_FAILURES, INDEX, count_of, name_prefix};
use super::policies::failure_match;
use crate::components::workload::pods::pod_of;
use crate::json;
use crate::objects::{Json, Object};

/// The variable with a pod's index.
/// Source: pkg/controller/job/indexed_job_utils.go (v1.34), `completionIndexEnvName`.
const VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// Makes a pod without index, or with one; `replaced` is the failed pod of the index where its failures are limited.
pub(super) fn new_pod(job: &Object, index: Option<i64>, replaced: Option<Option<&Object>>) -> Json {
    let mut template = job.stable().at(&["spec", "template"]).clone();
    let finalizers = template.entry(&["metadata", "finalizers"]).make_array();
    if !finalizers.iter().any(|known| known.as_str() == Some(FINALIZER)) {
        finalizers.push(Json::from(FINALIZER));
    }
    let Some(index) = index else { return pod_of(job, &template, "batch/v1", "Job") };
    for list in ["initContainers", "containers"] {
        if !template.at(&["spec", list]).is_empty() {
            template.entry(&["spec", list]).make_array().iter_mut().for_each(add_variable);
        }
    }
    let text = format!("{index}");
    template.set(&["metadata", "annotations", INDEX], text.as_str());
    template.set(&["metadata", "labels", INDEX], text.as_str());
    template.set(&["spec", "hostname"], format!("{}-{index}", job.name()));
    if let Some(replaced) = replaced {
        add_failures(job, &mut template, replaced);
    }
    let mut pod = pod_of(job, &template, "batch/v1", "Job");
    pod.set(&["metadata", "generateName"], name_prefix(job.name(), index));
    pod
}

fn add_variable(container: &mut Json) {
    let variables = container.entry(&["env"]).make_array();
    if !variables.iter().any(|known| known.get("name").as_str() == Some(VARIABLE)) {
        let path = format!("metadata.labels['{INDEX}']");
        variables.push(json!({"name": VARIABLE, "valueFrom": {"fieldRef": {"fieldPath": path}}}));
    }
}

/// Notes on a pod how often those of its index failed before.
fn add_failures(job: &Object, template: &mut Json, replaced: Option<&Object>) {
    let (mut counted, mut ignored) = (0, 0);
    if let Some(pod) = replaced {
        (counted, ignored) = (count_of(pod, FAILURES), count_of(pod, IGNORED_FAILURES));
        if failure_match(job, pod).counts {
            counted += 1;
        } else {
            ignored += 1;
        }
    }
    let text: String = format!("{counted}");
    template.set(&["metadata", "annotations", FAILURES], text);
    if ignored > 0 {
        template.set(&["metadata", "annotations", IGNORED_FAILURES], format!("{ignored}"));
    }
}

#[cfg(test)]
mod tests {
    use super::new_pod;
    use crate::json;
    use crate::objects::{Json, Object};

    fn job(policy: Json) -> Object {
        let container = json!({"name": "main", "env": [{"name": "A", "value": "b"}]});
        let template = json!({"metadata": {"labels": {"job-name": "work"}}, "spec": {"containers": [container]}});
        let mut job = json!({"metadata": {"name": "work", "namespace": "ns", "uid": "u"}});
        job.set(&["spec", "template"], template);
        job.set(&["spec", "podFailurePolicy"], policy);
        Object::new(job, 1)
    }

    #[test]
    fn a_pod_has_the_finalizer_and_one_of_an_index_tells_it_in_five_places() {
        let plain = new_pod(&job(json!(null)), None, None);
        assert_eq!(plain.at(&["metadata", "finalizers"]).items(), [json!("batch.kubernetes.io/job-tracking")]);
        assert_eq!(plain.at(&["metadata", "generateName"]).as_str(), Some("work-"));
        assert!(plain.at(&["metadata", "annotations"]).is_null());
        let indexed = new_pod(&job(json!(null)), Some(3), None);
        let index = "batch.kubernetes.io/job-completion-index";
        for (path, expected) in [
            (&["metadata", "annotations", index][..], "3"),
            (&["metadata", "labels", index], "3"),
            (&["metadata", "labels", "job-name"], "work"),
            (&["metadata", "generateName"], "work-3-"),
            (&["spec", "hostname"], "work-3"),
        ] {
            assert_eq!(indexed.at(path).as_str(), Some(expected), "{path:?}");
        }
        let variables = indexed.at(&["spec", "containers"]).items()[0].get("env").items();
        let field = json!("metadata.labels['batch.kubernetes.io/job-completion-index']");
        assert_eq!(*variables[1].at(&["valueFrom", "fieldRef", "fieldPath"]), field);
        assert_eq!(variables.len(), 2);
    }

    #[test]
    fn a_pod_knows_how_often_its_index_failed() {
        let (counted, ignored) =
            ("batch.kubernetes.io/job-index-failure-count", "batch.kubernetes.io/job-index-ignored-failure-count");
        let ignore = json!({"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]});
        let mut failed = json!({"metadata": {"annotations": {}}});
        failed.set(&["metadata", "annotations", counted], "1");
        failed.set(&["status", "containerStatuses"], json!([{"state": {"terminated": {"exitCode": 1}}}]));
        let failed = Object::new(failed, 1);
        for (policy, replaced, expected) in [
            (json!(null), None, ("0", None)),
            (json!(null), Some(&failed), ("2", None)),
            (ignore, Some(&failed), ("1", Some("1"))),
        ] {
            let pod = new_pod(&job(policy), Some(0), Some(replaced));
            let of = |name| pod.at(&["metadata", "annotations", name]).as_str();
            assert_eq!((of(counted), of(ignored)), (Some(expected.0), expected.1));
        }
    }
}
