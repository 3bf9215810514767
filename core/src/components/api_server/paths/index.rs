//! The paths that tell what else is served: the list of all paths, and how to verify tokens of service accounts.
//!
//! Mirrors k8s.io/apiserver pkg/server/routes/index.go and pkg/routes/openidmetadata.go (v1.34). Inputs: a path and its
//! request. Outputs: the answer. Left out on purpose: keys, since tokens have no signature here.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::super::{content_negotiation, health, status};
use super::groups;
use crate::json;
use crate::network::kinds::Kinds;
use crate::network::{Answer, Call, Verb};
use crate::objects::{Json, Text};
use crate::profile::Profile;

/// The paths that no group and no health check has. Source: what `/` lists (v1.31, v1.34, v1.36).
const OTHERS: [&str; 14] = [
    "/.well-known/openid-configuration",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/",
    "/healthz",
    "/livez",
    "/metrics",
    "/metrics/slis",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/",
    "/openid/v1/jwks",
    "/readyz",
];

/// Source: cmd/kube-apiserver, `--service-account-issuer` as kubeadm sets it.
const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// What a component tells of itself; what stands there is not modelled.
const PAGES: [&str; 2] = ["/flagz", "/statusz"];

/// Lists all paths.
pub(super) fn list(profile: &Profile, kinds: &Kinds) -> Answer {
    let mut paths: Vec<String> = OTHERS.iter().map(|path| String::from(*path)).collect();
    paths.push(String::from("/version"));
    if profile.is("component-pages-are-served") {
        paths.extend(PAGES.map(String::from));
    }
    for (group, versions) in groups(profile, kinds) {
        paths.push(format!("/apis/{group}"));
        paths.extend(versions.iter().map(|version| format!("/apis/{group}/{version}")));
    }
    paths.extend(health::paths(profile));
    paths.sort();
    let mut list = Json::object();
    list.set(&["paths"], paths.into_iter().map(Json::from).collect::<Json>());
    Answer::json(200, list)
}

pub(super) fn is_component_page(path: &str, profile: &Profile) -> bool {
    PAGES.contains(&path) && profile.is("component-pages-are-served")
}

pub(super) fn is_open_id(path: &str) -> bool {
    matches!(path, "/.well-known/openid-configuration" | "/openid/v1/jwks")
}

/// Answers the paths of OpenID; `None` for any other path.
pub(super) fn open_id(path: &str, call: &Call) -> Option<Result<Answer, Answer>> {
    let (media, body) = match path {
        "/.well-known/openid-configuration" => (
            "application/json",
            json!({"issuer": ISSUER, "jwks_uri": "https://127.0.0.1:6443/openid/v1/jwks",
                "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"]}),
        ),
        "/openid/v1/jwks" => ("application/jwk-set+json", json!({"keys": []})),
        _ => return None,
    };
    if call.verb != Verb::Get {
        return Some(Err(status::method_not_allowed()));
    }
    if let Err(refusal) = content_negotiation::check_produced(call, media) {
        return Some(Err(refusal));
    }
    let mut answer = Answer::json(200, body);
    answer.headers.push((Text::of("Cache-Control"), Text::of("public, max-age=3600")));
    answer.headers.push((Text::of("Content-Type"), Text::of(media)));
    Some(Ok(answer))
}

#[cfg(test)]
mod tests {
    use super::{list, open_id};
    use crate::network::Call;
    use crate::network::kinds::Kinds;
    use crate::profile::Settings;

    #[test]
    fn paths_are_listed_in_order_each_once() {
        let body = list(Settings::default().profile(), &Kinds::default()).body();
        let paths: alloc::vec::Vec<&str> = body.get("paths").items().iter().filter_map(|path| path.as_str()).collect();
        assert!(paths.is_sorted_by(|own, next| own < next), "{paths:?}");
        for path in ["/apis/apps/v1", "/livez/poststarthook/rbac/bootstrap-roles", "/readyz/shutdown", "/version"] {
            assert!(paths.contains(&path), "{path}");
        }
        assert!(!paths.contains(&"/livez/shutdown") && !paths.contains(&"/flagz"));
    }

    #[test]
    fn open_id_is_told_to_those_who_take_its_form() {
        let code = |method: &str, path: &str, accept: &str| {
            let call = Call::from_http(method, path, &[("Accept", accept)], "").unwrap();
            open_id(path, &call).map(|answer| answer.unwrap_or_else(|refusal| refusal).code)
        };
        assert_eq!(code("GET", "/openid/v1/jwks", "*/*"), Some(200));
        assert_eq!(code("GET", "/openid/v1/jwks", "application/json"), Some(406));
        assert_eq!(code("GET", "/.well-known/openid-configuration", "application/json"), Some(200));
        assert_eq!(code("POST", "/.well-known/openid-configuration", "*/*"), Some(405));
        assert_eq!(code("GET", "/openid", "*/*"), None);
    }
}
