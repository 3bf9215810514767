//! The lines that `kubectl get` prints of objects.
//!
//! Source: k8s.io/cli-runtime pkg/printers/tableprinter.go and tabwriter.go (v1.34). Inputs: objects of a kind, the
//! instant. Outputs: a heading and a line for each object. Left out on purpose: ages, which tell when somebody looked,
//! and the random ends of generated names.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jiff::Timestamp;

use super::{TableContext, cells, columns};
use crate::network::{Resource, is_namespaced};
use crate::objects::Json;
use crate::profile::Profile;

/// Source: tabwriter.go (v1.34), `tabwriterMinWidth` and `tabwriterPadding`.
const WIDTH_MIN: usize = 6;
const PADDING: usize = 3;

/// Returns the heading and a line for each object, in order of their names.
#[must_use]
pub(crate) fn kubectl_lines(resource: &Resource, objects: &[Json], profile: &Profile, now: Timestamp) -> Vec<String> {
    let view = TableContext { profile, now, printed: None };
    let columns = columns::of(&resource.plural, profile);
    let shown = columns.iter().filter(|(_, column)| column.priority == 0 && column.name != "Age");
    let shown: Vec<_> = shown.collect();
    let namespace = |object: &Json| text(object.at(&["metadata", "namespace"]));
    let has_namespaces = is_namespaced(resource) && objects.iter().any(|object| namespace(object) != "default");
    let mut rows: Vec<Vec<String>> = objects
        .iter()
        .map(|object| {
            let cells = cells::of(&resource.plural, object, view, &[]);
            let cell = |place: &usize| cells.get(*place).map(text).unwrap_or_default();
            let own = shown.iter().map(|(place, column)| match column.name {
                "Name" => fixed_name(object),
                // How long ago the last restart was is an age.
                "Restarts" => String::from(cell(place).split(" (").next().unwrap_or_default()),
                _ => cell(place),
            });
            has_namespaces.then(|| namespace(object)).into_iter().chain(own).collect()
        })
        .collect();
    rows.sort();
    let heading = shown.iter().map(|(_, column)| column.name.to_uppercase());
    rows.insert(0, has_namespaces.then(|| String::from("NAMESPACE")).into_iter().chain(heading).collect());
    let width = |column: usize| {
        let longest = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        (longest + PADDING).max(WIDTH_MIN)
    };
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| -> String {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        String::from(padded.collect::<String>().trim_end())
    };
    rows.iter().map(line).collect()
}

/// Returns the name; of a generated one the part that is not random, and a star.
fn fixed_name(object: &Json) -> String {
    let generated = text(object.at(&["metadata", "generateName"]));
    if generated.is_empty() { text(object.at(&["metadata", "name"])) } else { generated + "*" }
}

fn text(cell: &Json) -> String {
    match cell {
        Json::Null => String::new(),
        cell => cell.as_str().map_or_else(|| cell.to_string(), String::from),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::kubectl_lines;
    use crate::json;
    use crate::network::{NODES, PODS};
    use crate::profile::Profile;

    #[test]
    fn nodes_are_shown_as_kubectl_shows_them() {
        let nodes = [
            json!({"metadata": {"name": "worker-1"}, "spec": {"unschedulable": true}, "status": {
                "conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.34.4"}}}),
            json!({"metadata": {"name": "a", "labels": {"node-role.kubernetes.io/control-plane": ""}}, "status": {
                "conditions": [{"type": "Ready", "status": "Unknown"}], "nodeInfo": {"kubeletVersion": "v1.34.4"}}}),
        ];
        let lines = kubectl_lines(&NODES, &nodes, &Profile::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(
            lines,
            [
                "NAME       STATUS                     ROLES           VERSION",
                "a          NotReady                   control-plane   v1.34.4",
                "worker-1   Ready,SchedulingDisabled   <none>          v1.34.4",
            ]
        );
    }

    #[test]
    fn generated_names_and_ages_are_left_out() {
        let pods = [json!({"metadata": {"name": "web-x7k2p", "generateName": "web-", "namespace": "shop"},
            "spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Running", "containerStatuses": [
                {"name": "main", "ready": true, "restartCount": 2, "state": {"running": {}}, "lastState": {
                    "terminated": {"finishedAt": "1970-01-01T00:00:00Z"}}}]}})];
        let lines = kubectl_lines(&PODS, &pods, &Profile::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(
            lines,
            ["NAMESPACE   NAME    READY   STATUS    RESTARTS", "shop        web-*   1/1     Running   2",]
        );
    }
}
