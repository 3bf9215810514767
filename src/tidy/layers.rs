//! Checks which module may use which: among the modules of a crate, and inside some folders.
//!
//! Inputs: the files and their imports. Output: problems. Tests must respect the layers of the crates, but not those
//! inside a folder, since they may set up neighbours. The root file of a folder belongs to no layer: a name that it
//! re-exports belongs to the module that defines it.

use super::imports::Import;
use super::source::SourceFile;

/// The modules of one folder. A module that is not listed is a problem.
enum Layers {
    /// From the lowest: a module may use those of the rows before its own.
    Rows(&'static [&'static [&'static str]]),
    /// Each module with those that it may use.
    Table(&'static [(&'static str, &'static [&'static str])]),
}

use Layers::{Rows, Table};

#[rustfmt::skip]
const FOLDERS: [(&[&str], Layers); 5] = [
    (&["core"], Rows(&[
        &["objects"],
        &["chance", "profile"],
        &["network"],
        &["components"],
        &["event_loop", "scenario"],
        &["sim"],
    ])),
    (&["core", "components"], Rows(&[
        &["client", "cloud", "cloud_calls", "host", "node_affinity", "pod_references", "pod_resources", "pod_status",
            "record", "tolerations", "volumes"],
        &["events", "quota_usage", "volume_matching"],
        &["controller"],
        &["api_server", "workload"],
        // A kubelet checks static Pods with the packages of the API.
        &["kubelet"],
        &["attach_detach", "certificates", "cloud_node", "cloud_node_lifecycle", "cron_job", "csi_attacher",
            "daemonset", "deployment", "describe", "disruption", "drain", "endpointslice", "ephemeral_volumes",
            "garbage_collector", "job", "leader_election", "machine", "namespace", "node_ipam", "node_lifecycle",
            "node_route", "pod_gc",
            "replicaset", "resource_quota", "scheduler", "service_accounts", "statefulset", "storage_protection",
            "taint_eviction", "ttl", "ttl_after_finished", "volume_binder"],
        &["registry"],
    ])),
    (&["core", "scenario"], Rows(&[
        &["action", "capability", "grace", "pods", "position", "words"],
        &["expectation"],
        &["definition"],
        &["shared_requests", "heartbeat_writer", "observation"],
        &["history"],
        &["outcome"],
        &["run", "sentence"],
    ])),
    // All of the shell may use the core; `live` must not use its simulator.
    (&["nodeproof"], Table(&[
        ("load", &[]),
        ("state_dir", &[]),
        ("steps", &["load"]),
        ("live", &["load", "state_dir", "steps"]),
        ("harness", &["load", "steps", "live"]),
        ("control", &["load", "steps", "live"]),
        ("replay", &["load", "steps", "live"]),
        ("plan", &["replay", "picture"]),
        ("picture", &["harness"]),
        ("behaviour", &["load", "harness", "picture"]),
        ("compare", &["load", "steps", "live", "harness", "replay"]),
        ("mutation", &["steps", "harness"]),
        ("cli", &[
            "load", "state_dir", "steps", "live", "harness", "control", "replay", "compare", "mutation", "picture",
            "behaviour", "plan", "cargo_test",
        ]),
        ("untrusted", &["load", "steps", "harness", "control", "replay"]),
        ("main", &["cli"]),
        ("cargo_test", &["load", "steps", "live", "harness", "picture"]),
        ("conformance", &["cargo_test", "replay"]),
        ("tests", &["cargo_test"]),
        ("examples", &["steps", "cargo_test"]),
        ("fuzz", &["untrusted"]),
        ("tidy", &[]),
        ("build", &[]),
    ])),
    (&["nodeproof", "live"], Rows(&[
        &["aliases", "assets", "cache", "certificates", "clock", "flags", "interrupt", "permits", "read_only_client",
            "request", "safety", "timing", "writer"],
        &["client", "kubectl", "kubelets", "tolerance"],
        &["answers", "cleanup", "heartbeat_tasks", "backend", "watches"],
        &["driver", "kind", "record"],
        &["read_only_run"],
        &["hollow"],
    ])),
];

pub(super) fn layers(sources: &[SourceFile], imports: &[Import]) -> Vec<String> {
    let mut problems = Vec::new();
    for (folder, layers) in &FOLDERS {
        for source in sources.iter().filter(|source| source.path.ends_with(".rs")) {
            if let Some(own) = place(source, folder).filter(|own| !layers.has(own)) {
                let path = source.path;
                problems.push(format!("{path}: module {own} has no place among the layers: give it one in src/tidy"));
            }
        }
        for import in imports.iter().filter(|import| folder.len() == 1 || !import.test) {
            let (from, to) = (&sources[import.from], &sources[import.to]);
            let inside = import.written.iter().map(String::as_str).take(folder.len()).eq(folder.iter().copied());
            let Some(own) = place(from, folder).filter(|_| inside) else { continue };
            let named = import.written.get(folder.len()).map(String::as_str).filter(|name| layers.has(name));
            let Some(used) = named.or_else(|| place(to, folder)) else { continue };
            if used != own && !layers.allow(own, used) {
                problems.push(format!("{}:{}: {own} must not use {used}", from.path, import.line));
            }
        }
    }
    for import in imports {
        if sources[import.from].module.starts_with(&["nodeproof", "live"]) && import.written[..2] == ["core", "sim"] {
            let path = sources[import.from].path;
            problems.push(format!("{path}:{}: live must not see the simulator", import.line));
        }
    }
    problems
}

impl Layers {
    fn has(&self, name: &str) -> bool {
        match self {
            Rows(rows) => rows.iter().any(|row| row.contains(&name)),
            Table(table) => table.iter().any(|(own, _)| *own == name),
        }
    }

    fn allow(&self, own: &str, used: &str) -> bool {
        match self {
            Rows(rows) => rows.iter().take_while(|row| !row.contains(&own)).any(|row| row.contains(&used)),
            Table(table) => table.iter().any(|(name, allowed)| *name == own && allowed.contains(&used)),
        }
    }
}

/// Returns the module of a folder that a file belongs to. The folder's root belongs to none.
fn place<'a>(source: &SourceFile<'a>, folder: &[&'static str]) -> Option<&'a str> {
    if source.module.is_empty() && folder == ["nodeproof"] {
        return source.path.trim_start_matches("src/").split(['/', '.']).next();
    }
    source.module.strip_prefix(folder)?.first().copied()
}
