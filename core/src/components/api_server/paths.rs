//! The paths that are no resources: version, health, discovery.
//!
//! Mirrors k8s.io/apiserver pkg/{server/routes,endpoints/discovery} (v1.34), in the legacy form of discovery.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::resources::{KINDS, Kind, Trait};
use super::{ApiServer, status};
use crate::json;
use crate::network::{Answer, Content, Verb};
use crate::objects::{Json, Text};

const FULL: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl ApiServer {
    /// Answers a path without resource.
    pub(super) fn path(&self, _verb: Verb, path: &str) -> Result<Answer, Answer> {
        let (path, _query) = path.split_once('?').unwrap_or((path, ""));
        let trimmed = path.trim_end_matches('/');
        match trimmed {
            "/version" => Ok(Answer::json(200, self.version())),
            "/healthz" | "/livez" | "/readyz" | "/healthz/ping" | "/livez/ping" | "/readyz/ping" => {
                Ok(Answer { code: 200, headers: Vec::new(), content: Content::Text(Text::of("ok")) })
            }
            "/api" => Ok(Answer::json(
                200,
                json!({"kind": "APIVersions", "versions": ["v1"],
                    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]}),
            )),
            "/apis" => Ok(Answer::json(200, group_list())),
            "/api/v1" => Ok(Answer::json(200, resource_list("", "v1"))),
            _ => group_path(trimmed),
        }
    }

    fn version(&self) -> Json {
        let release = self.settings.profile().release();
        json!({"major": format!("{}", release.major), "minor": format!("{}", release.minor),
            "gitVersion": format!("v{release}"), "gitCommit": "", "gitTreeState": "clean", "buildDate": "",
            "goVersion": "", "compiler": "gc", "platform": "linux/amd64"})
    }
}

fn groups() -> Vec<(&'static str, &'static str)> {
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for kind in KINDS {
        let group = (kind.resource.group.as_str(), kind.resource.version.as_str());
        if !group.0.is_empty() && !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn group(name: &str, version: &str) -> Json {
    let version = json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let mut group = json!({"name": name});
    group.set(&["versions"], Vec::from([version.clone()]));
    group.set(&["preferredVersion"], version);
    group
}

fn group_list() -> Json {
    let mut list = json!({"kind": "APIGroupList", "apiVersion": "v1"});
    list.set(&["groups"], groups().into_iter().map(|(name, version)| group(name, version)).collect::<Json>());
    list
}

fn group_path(path: &str) -> Result<Answer, Answer> {
    let Some(rest) = path.strip_prefix("/apis/") else {
        return Err(if path.starts_with("/api/v1/") { status::no_such_resource() } else { status::page_not_found() });
    };
    let mut parts = rest.split('/');
    let (name, version) = (parts.next().unwrap_or(""), parts.next());
    let known = groups().into_iter().find(|(group, _)| *group == name).ok_or_else(status::page_not_found)?;
    match version {
        None => {
            let mut found = group(known.0, known.1);
            found.set(&["kind"], "APIGroup");
            found.set(&["apiVersion"], "v1");
            Ok(Answer::json(200, found))
        }
        Some(version) if version == known.1 && parts.next().is_none() => {
            Ok(Answer::json(200, resource_list(known.0, known.1)))
        }
        Some(_) => Err(status::no_such_resource()),
    }
}

fn resource_list(group: &str, version: &str) -> Json {
    let mut resources: Vec<Json> = Vec::new();
    for kind in KINDS.iter().filter(|kind| kind.resource.group == *group && kind.resource.version == *version) {
        resources.push(resource(kind));
        for sub in kind.subresources {
            let mut entry = json!({"name": format!("{}/{}", kind.resource.plural, sub.name), "singularName": "",
                "namespaced": kind.is_namespaced(), "kind": sub.kind, "verbs": sub.verbs});
            if !sub.version.is_empty() {
                entry.set(&["group"], sub.group);
                entry.set(&["version"], sub.version);
            }
            resources.push(entry);
        }
    }
    let group_version = if group.is_empty() { String::from(version) } else { format!("{group}/{version}") };
    let mut list = json!({"kind": "APIResourceList", "groupVersion": group_version});
    if !group.is_empty() {
        list.set(&["apiVersion"], "v1");
    }
    list.set(&["resources"], resources);
    list
}

fn resource(kind: &Kind) -> Json {
    let verbs: Vec<&str> = if kind.is(Trait::Review) {
        Vec::from(["create"])
    } else {
        FULL.into_iter().filter(|verb| *verb != "deletecollection" || !kind.is(Trait::NoDeleteCollection)).collect()
    };
    let mut entry = json!({"name": kind.resource.plural.as_str(), "singularName": kind.singular,
        "namespaced": kind.is_namespaced(), "kind": kind.name, "verbs": verbs});
    if !kind.short_names.is_empty() {
        entry.set(&["shortNames"], json!(kind.short_names));
    }
    if !kind.categories.is_empty() {
        entry.set(&["categories"], json!(kind.categories));
    }
    entry
}
