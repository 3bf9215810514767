//! The paths that are no resources: version, health, discovery.
//!
//! Mirrors k8s.io/apiserver pkg/{server/routes,endpoints/discovery} (v1.34). A web
//! service upstream takes GET only and refuses other media types; a plain handler, as of `/apis`, takes any method.
//! Inputs: a path and its request. Outputs: the answer.

mod aggregated;
mod index;
mod openapi;
mod schemas;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{ApiServer, content_negotiation, health, status};
use crate::json;
use crate::network::kinds::{Kind, Kinds, Trait, has_subresource, is_served};
use crate::network::{Answer, Call, Content, Verb};
use crate::objects::{Json, Text, base64, digest};
use crate::profile::Profile;

const FULL: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// How many bytes of a hash of a storage version are told.
const HASHED: usize = 8;

impl ApiServer {
    /// Answers a path without resource.
    pub(super) fn path(&self, call: &Call, path: &str) -> Result<Answer, Answer> {
        let (path, _query) = path.split_once('?').unwrap_or((path, ""));
        let trimmed = path.trim_end_matches('/');
        if trimmed.is_empty() {
            return Ok(index::list(self.settings.profile(), &self.kinds));
        }
        if let Some(answer) = self.aggregated(trimmed, call) {
            return answer;
        }
        if index::is_component_page(trimmed, self.settings.profile()) {
            return Err(status::failure(501, "NotImplemented", &format!("{trimmed} is not modelled yet"), None));
        }
        let is_head = *call.method == *"HEAD";
        if is_head && index::is_open_id(trimmed) {
            return Err(status::method_not_allowed());
        }
        if let Some(answer) = index::open_id(trimmed, call) {
            return answer;
        }
        if let Some(answer) = health::path(path, call, self.settings.profile()) {
            return answer;
        }
        if trimmed == "/openapi/v2" && call.verb == Verb::Get {
            return Ok(openapi::version_2(call, &format!("v{}", self.settings.profile().release())));
        }
        // Its handler takes any method and looks at no media type.
        if path.starts_with("/openapi/v3/") || path == "/openapi/v3" {
            let empty = Answer { code: 404, headers: Vec::new(), content: Content::Text(Text::of("")) };
            let document =
                openapi::document(path, &self.kinds, &self.schema).map(|document| Answer::json(200, document));
            return document.ok_or(empty);
        }
        let answer = self.discovered(trimmed)?;
        if (call.verb != Verb::Get || is_head) && !takes_any_method(trimmed) {
            return Err(status::method_not_allowed());
        }
        match trimmed {
            "/version" => content_negotiation::check_path(call, content_negotiation::Served::Json)?,
            "/apis" => content_negotiation::check_path(call, content_negotiation::Served::Negotiated)?,
            _ => content_negotiation::check_path(call, content_negotiation::Served::All)?,
        }
        Ok(answer)
    }

    /// Answers a client that asks for discovery in one document; `None` if it takes another form first.
    fn aggregated(&self, trimmed: &str, call: &Call) -> Option<Result<Answer, Answer>> {
        let profile = self.settings.profile();
        let is_list = matches!(trimmed, "/api" | "/apis");
        let has_beta = profile.is("discovery-has-beta-form");
        let version = is_list.then(|| content_negotiation::discovery_version(call, has_beta)).flatten()?;
        if trimmed == "/apis" {
            return Some(Ok(aggregated::answer(call, version, groups(profile, &self.kinds), (profile, &self.kinds))));
        }
        let core = Vec::from([("", Vec::from(["v1"]))]);
        let is_read = call.verb == Verb::Get;
        Some(if is_read {
            Ok(aggregated::answer(call, version, core, (profile, &self.kinds)))
        } else {
            Err(status::method_not_allowed())
        })
    }

    fn discovered(&self, trimmed: &str) -> Result<Answer, Answer> {
        match trimmed {
            "/version" => Ok(Answer::json(200, self.version())),
            "/api" => Ok(Answer::json(
                200,
                json!({"kind": "APIVersions", "versions": ["v1"],
                    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]}),
            )),
            "/apis" => Ok(Answer::json(200, group_list(self.settings.profile(), &self.kinds))),
            "/api/v1" => Ok(Answer::json(200, resource_list(("", "v1"), self.settings.profile(), &self.kinds))),
            _ => group_path(trimmed, self.settings.profile(), &self.kinds),
        }
    }

    fn version(&self) -> Json {
        let release = self.settings.profile().release();
        let mut version = json!({"major": format!("{}", release.major), "minor": format!("{}", release.minor)});
        if self.settings.profile().is("version-tells-emulation") {
            version.set(&["emulationMajor"], format!("{}", release.major));
            version.set(&["emulationMinor"], format!("{}", release.minor));
            version.set(&["minCompatibilityMajor"], format!("{}", release.major));
            version.set(&["minCompatibilityMinor"], format!("{}", release.predecessor().minor));
        }
        version.set(&["gitVersion"], format!("v{release}"));
        for (field, value) in [("gitCommit", ""), ("gitTreeState", "clean"), ("buildDate", ""), ("goVersion", "")] {
            version.set(&[field], value);
        }
        version.set(&["compiler"], "gc");
        version.set(&["platform"], "linux/amd64");
        version
    }
}

/// The groups in the order in which the server lists them, each with its versions, the preferred one first.
/// Source: pkg/controlplane/instance.go and the aggregator's priorities (v1.31, v1.34, v1.36).
const GROUPS: [(&str, &[&str]); 21] = [
    ("apiregistration.k8s.io", &["v1"]),
    ("apps", &["v1"]),
    ("events.k8s.io", &["v1"]),
    ("authentication.k8s.io", &["v1"]),
    ("authorization.k8s.io", &["v1"]),
    ("autoscaling", &["v2", "v1"]),
    ("batch", &["v1"]),
    ("certificates.k8s.io", &["v1"]),
    ("networking.k8s.io", &["v1"]),
    ("policy", &["v1"]),
    ("rbac.authorization.k8s.io", &["v1"]),
    ("storage.k8s.io", &["v1"]),
    ("admissionregistration.k8s.io", &["v1"]),
    ("apiextensions.k8s.io", &["v1"]),
    ("scheduling.k8s.io", &["v1"]),
    ("coordination.k8s.io", &["v1"]),
    ("node.k8s.io", &["v1"]),
    ("discovery.k8s.io", &["v1"]),
    ("resource.k8s.io", &["v1"]),
    ("flowcontrol.apiserver.k8s.io", &["v1", "v1beta3"]),
    ("storagemigration.k8s.io", &["v1"]),
];

/// Returns the groups of a release with their versions, and behind them those of custom kinds in the order of their
/// names.
fn groups(profile: &Profile, kinds: &Kinds) -> Vec<(&'static str, Vec<&'static str>)> {
    let is_there = |group: &str, version: &str| match (group, version) {
        ("resource.k8s.io", _) => profile.is("dynamic-resources-are-served"),
        ("storagemigration.k8s.io", _) => profile.is("trust-and-migration-kinds-are-served"),
        ("flowcontrol.apiserver.k8s.io", "v1beta3") => profile.is("flow-control-v1beta3-is-served"),
        _ => true,
    };
    let own = GROUPS.iter().filter_map(|(group, versions)| {
        let versions: Vec<&str> = versions.iter().copied().filter(|version| is_there(group, version)).collect();
        (!versions.is_empty()).then_some((*group, versions))
    });
    let mut custom: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for kind in kinds.iter().filter(|kind| kind.is(Trait::Custom)) {
        let versions = custom.entry(kind.resource.group.as_str()).or_default();
        if !versions.contains(&kind.resource.version.as_str()) {
            versions.push(kind.resource.version.as_str());
        }
    }
    own.chain(custom).collect()
}

fn group(name: &str, versions: &[&str]) -> Json {
    let shown = |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": *version});
    let mut group = json!({"name": name});
    group.set(&["versions"], versions.iter().map(shown).collect::<Json>());
    group.set(&["preferredVersion"], versions.first().map(shown).unwrap_or_default());
    group
}

fn group_list(profile: &Profile, kinds: &Kinds) -> Json {
    let mut list = json!({"kind": "APIGroupList", "apiVersion": "v1"});
    list.set(
        &["groups"],
        groups(profile, kinds).iter().map(|(name, versions)| group(name, versions)).collect::<Json>(),
    );
    list
}

fn group_path(path: &str, profile: &Profile, kinds: &Kinds) -> Result<Answer, Answer> {
    let Some(rest) = path.strip_prefix("/apis/") else {
        let is_below = ["/api/", "/version/"].iter().any(|service| path.starts_with(service));
        return Err(if is_below { status::no_such_resource() } else { status::page_not_found() });
    };
    let mut parts = rest.split('/');
    let (name, version) = (parts.next().unwrap_or(""), parts.next());
    let mut groups = groups(profile, kinds).into_iter();
    let (name, versions) = groups.find(|(group, _)| *group == name).ok_or_else(status::page_not_found)?;
    match version {
        None => {
            let mut found = group(name, &versions);
            found.set(&["kind"], "APIGroup");
            found.set(&["apiVersion"], "v1");
            Ok(Answer::json(200, found))
        }
        Some(version) if versions.contains(&version) && parts.next().is_none() => {
            Ok(Answer::json(200, resource_list((name, version), profile, kinds)))
        }
        Some(_) => Err(status::no_such_resource()),
    }
}

/// Tells whether a path of discovery is answered by the aggregator, which looks at no method: the list of groups, and
/// all groups but its own. Source: k8s.io/kube-aggregator pkg/apiserver/{apiserver,handler_apis}.go (v1.34).
fn takes_any_method(path: &str) -> bool {
    let group = path.strip_prefix("/apis/").filter(|rest| !rest.contains('/'));
    path == "/apis" || group.is_some_and(|group| group != "apiregistration.k8s.io")
}

fn resource_list((group, version): (&str, &str), profile: &Profile, kinds: &Kinds) -> Json {
    let mut resources: Vec<Json> = Vec::new();
    let of_group = |kind: &Kind| kind.resource.group == *group && kind.resource.version == *version;
    for kind in kinds.iter().filter(|kind| of_group(kind) && is_served(&kind.resource, profile)) {
        let mut entry = resource(kind);
        if !kind.is(Trait::Review) && kind.rules() != "Binding" {
            entry.set(&["storageVersionHash"], storage_hash(group, version, kind.name, profile));
        }
        resources.push(entry);
        for sub in kind.subresources.iter().filter(|sub| has_subresource(kind, sub.name, profile)) {
            let mut entry = json!({"name": format!("{}/{}", kind.resource.plural, sub.name), "singularName": "",
                "namespaced": kind.is_namespaced(), "kind": sub.kind, "verbs": sub.verbs});
            if !sub.version.is_empty() {
                entry.set(&["group"], sub.group);
                entry.set(&["version"], sub.version);
            }
            resources.push(entry);
        }
    }
    // What is not stored.
    if (group, version) == ("", "v1") {
        resources.push(json!({"name": "componentstatuses", "singularName": "componentstatus", "namespaced": false,
            "kind": "ComponentStatus", "verbs": ["get", "list"], "shortNames": ["cs"]}));
    }
    resources.sort_by(|own, other| own.get("name").as_str().cmp(&other.get("name").as_str()));
    let group_version = if group.is_empty() { String::from(version) } else { format!("{group}/{version}") };
    let mut list = json!({"kind": "APIResourceList", "groupVersion": group_version});
    if !group.is_empty() {
        list.set(&["apiVersion"], "v1");
    }
    list.set(&["resources"], resources);
    list
}

/// Returns the hash of group, version and kind in which objects are stored. Source: k8s.io/apiserver
/// pkg/endpoints/discovery/storageversionhash.go (v1.34). What is new in a version is stored in the one before it until
/// the next release: pkg/server/storage/resource_encoding_config.go (v1.34). Events are stored as those of the core
/// group, and definitions as the server of extensions tells it: kube-apiserver v1.37.2 answers so.
fn storage_hash(group: &str, version: &str, kind: &str, profile: &Profile) -> String {
    let group = if kind == "Event" { "" } else { group };
    let version = match (group, kind) {
        (_, "CustomResourceDefinition") => "v1beta1",
        ("resource.k8s.io", _) if !profile.is("first-v1-of-1.34-is-stored") => "v1beta2",
        (_, "VolumeAttributesClass") if !profile.is("first-v1-of-1.34-is-stored") => "v1beta1",
        (_, "IPAddress" | "ServiceCIDR") if !profile.is("first-v1-of-1.33-is-stored") => "v1beta1",
        (_, "MutatingAdmissionPolicy" | "MutatingAdmissionPolicyBinding")
            if !profile.is("trust-and-migration-kinds-are-served") =>
        {
            "v1beta1"
        }
        (_, "ClusterTrustBundle" | "PodCertificateRequest" | "StorageVersionMigration") => "v1beta1",
        (_, "DeviceTaintRule") => "v1beta2",
        _ => version,
    };
    let digest = digest::sha256(format!("{group}/{version}/{kind}").as_bytes());
    base64::encode(&digest[..HASHED])
}

fn resource(kind: &Kind) -> Json {
    let verbs: Vec<&str> = if kind.is(Trait::Review) {
        Vec::from(["create"])
    } else if kind.is(Trait::Custom) {
        // Source: k8s.io/apiextensions-apiserver pkg/apiserver/customresource_discovery_controller.go (v1.34).
        Vec::from(["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"])
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
