//! `/healthz`, `/livez` and `/readyz`, whole and check by check. A server that answers is healthy.
//!
//! Mirrors k8s.io/apiserver pkg/server/healthz/healthz.go (v1.34), `InstallPathHandler`, and the checks that
//! kube-apiserver and its aggregator install. Inputs: path, query. Outputs: plain text.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::status;
use crate::network::{Answer, Call, Content};
use crate::objects::Text;
use crate::profile::Profile;

/// A check; the paths that have it (h: healthz, l: livez, r: readyz); and the row of the profile that says whether the
/// release has it, empty for all.
struct Check(&'static str, &'static str, &'static str);

/// The checks in the order in which they are shown. Source: k8s.io/apiserver pkg/server/{config,healthz}.go and
/// cmd/kube-apiserver/app/server.go (v1.31, v1.34, v1.36).
const CHECKS: [Check; 37] = [
    Check("ping", "hlr", ""),
    Check("log", "hlr", ""),
    Check("loopback-serving-certificate", "hl", "health-has-storage-readiness"),
    Check("etcd", "hlr", ""),
    Check("etcd-readiness", "r", ""),
    Check("informer-sync", "r", ""),
    Check("poststarthook/start-apiserver-admission-initializer", "hlr", ""),
    Check("poststarthook/generic-apiserver-start-informers", "hlr", ""),
    Check("poststarthook/priority-and-fairness-config-consumer", "hlr", ""),
    Check("poststarthook/priority-and-fairness-filter", "hlr", ""),
    Check("poststarthook/storage-object-count-tracker-hook", "hlr", ""),
    Check("poststarthook/start-apiextensions-informers", "hlr", ""),
    Check("poststarthook/start-apiextensions-controllers", "hlr", ""),
    Check("poststarthook/crd-informer-synced", "hlr", ""),
    Check("poststarthook/start-system-namespaces-controller", "hlr", ""),
    Check("poststarthook/peer-endpoint-reconciler-controller", "hlr", "health-has-storage-readiness"),
    Check("poststarthook/start-cluster-authentication-info-controller", "hlr", ""),
    Check("poststarthook/start-kube-apiserver-identity-lease-controller", "hlr", ""),
    Check("poststarthook/start-kube-apiserver-identity-lease-garbage-collector", "hlr", ""),
    Check("poststarthook/storage-readiness", "hlr", "health-has-storage-readiness"),
    Check("poststarthook/start-legacy-token-tracking-controller", "hlr", ""),
    Check("poststarthook/start-service-ip-repair-controllers", "hlr", ""),
    Check("poststarthook/rbac/bootstrap-roles", "hlr", ""),
    Check("poststarthook/scheduling/bootstrap-system-priority-classes", "hlr", ""),
    Check("poststarthook/priority-and-fairness-config-producer", "hlr", ""),
    Check("poststarthook/bootstrap-controller", "hlr", ""),
    Check("poststarthook/start-kubernetes-service-cidr-controller", "hlr", "health-has-service-cidrs"),
    Check("poststarthook/start-kube-aggregator-informers", "hlr", ""),
    Check("poststarthook/apiservice-status-local-available-controller", "hlr", ""),
    Check("poststarthook/apiservice-status-remote-available-controller", "hlr", ""),
    Check("poststarthook/apiservice-registration-controller", "hlr", ""),
    Check("poststarthook/apiservice-discovery-controller", "hlr", ""),
    Check("poststarthook/kube-apiserver-autoregistration", "hlr", ""),
    Check("autoregister-completion", "hlr", ""),
    Check("poststarthook/apiservice-openapi-controller", "hlr", ""),
    Check("poststarthook/apiservice-openapiv3-controller", "hlr", ""),
    Check("shutdown", "r", ""),
];

/// Returns the paths of all checks.
pub(super) fn paths(profile: &Profile) -> Vec<String> {
    let mut paths = Vec::new();
    for door in ["healthz", "livez", "readyz"] {
        let is_there = |check: &&Check| check.1.contains(&door[..1]) && (check.2.is_empty() || profile.is(check.2));
        paths.extend(CHECKS.iter().filter(is_there).map(|check| format!("/{door}/{}", check.0)));
    }
    paths
}

/// Answers a health path; `None` for any other path. A slash at its end makes it another one.
pub(super) fn path(path: &str, call: &Call, profile: &Profile) -> Option<Result<Answer, Answer>> {
    let (door, check) = ["healthz", "livez", "readyz"].into_iter().find_map(|door| {
        let rest = path.strip_prefix('/')?.strip_prefix(door)?;
        let check = if rest.is_empty() { rest } else { rest.strip_prefix('/').filter(|rest| !rest.is_empty())? };
        Some((door, check))
    })?;
    let is_there = |check: &&Check| check.1.contains(&door[..1]) && (check.2.is_empty() || profile.is(check.2));
    let text = |text: Text| Answer { code: 200, headers: Vec::new(), content: Content::Text(text) };
    if !check.is_empty() {
        let found = CHECKS.iter().filter(is_there).any(|own| own.0 == check);
        return Some(if found { Ok(text(Text::of("ok"))) } else { Err(status::page_not_found()) });
    }
    if call.parameter("verbose").is_none() {
        return Some(Ok(text(Text::of("ok"))));
    }
    let is_excluded = |name: &str| call.query.iter().any(|(key, value)| *key == "exclude" && *value == name);
    let mut shown = String::new();
    let excluded = call.query.iter().filter(|(key, _)| *key == "exclude").map(|(_, value)| value);
    let mut unknown: Vec<&Text> =
        excluded.filter(|name| !CHECKS.iter().filter(is_there).any(|check| **name == *check.0)).collect();
    unknown.sort();
    unknown.dedup();
    for Check(name, ..) in CHECKS.iter().filter(is_there) {
        shown.push_str(&format!("[+]{name}{} ok\n", if is_excluded(name) { " excluded:" } else { "" }));
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| format!("{name:?}")).collect();
        shown.push_str(&format!("warn: some health checks cannot be excluded: no matches for {}\n", names.join(",")));
    }
    shown.push_str(&format!("{door} check passed\n"));
    Some(Ok(text(Text::from(shown))))
}

#[cfg(test)]
mod tests {
    use super::path;
    use crate::network::Call;
    use crate::profile::Settings;

    fn answer(url: &str) -> alloc::string::String {
        let call = Call::from_http("GET", url, &[], "").unwrap();
        let answer = path(url.split('?').next().unwrap_or(""), &call, Settings::default().profile()).unwrap();
        answer.unwrap_or_else(|refusal| refusal).body().as_str().unwrap_or_default().into()
    }

    #[test]
    fn health_is_told_whole_and_by_its_checks() {
        assert_eq!(answer("/livez"), "ok");
        assert_eq!(answer("/readyz/shutdown"), "ok");
        assert_eq!(answer("/livez/shutdown"), "404 page not found\n");
        assert!(answer("/readyz?verbose").starts_with("[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n"));
        assert!(answer("/readyz?verbose").ends_with("[+]shutdown ok\nreadyz check passed\n"));
        assert!(answer("/healthz?verbose&exclude=etcd").contains("[+]etcd excluded: ok\n"));
    }
}
