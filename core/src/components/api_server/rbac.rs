//! The RBAC authoriser: what the roles bound to an identity allow.
//!
//! Mirrors plugin/pkg/auth/authorizer/rbac/rbac.go, pkg/registry/rbac/validation/rule.go and
//! pkg/apis/rbac/v1/evaluation_helpers.go (v1.34). Inputs: the stored roles and bindings. They are put in the store
//! with the first request for one; until then the tables of `rbac_policy` are read, which say the same. Invariant: an
//! identity's rules are gathered once and forgotten with the next write to a role or binding. Outputs: allowed, or what
//! RBAC says about the refusal.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use super::ApiServer;
use super::attributes::Attributes;
use super::rbac_kubeadm::Maker;
use super::rbac_policy::{
    self, Binding, CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, Subject, cluster_rules, namespace_rules,
};
use crate::network::kinds::{self, KindIndex};
use crate::network::{Identity, Resource};
use crate::objects::{Json, Object, ObjectKey, Text, time};

/// Most identities whose rules are remembered.
const REMEMBERED_MAX: usize = 64;

/// What a role allows: verbs on resources of groups, perhaps on some names alone; or verbs on paths.
#[derive(Clone, Debug, Default)]
pub(super) struct PolicyRule {
    pub(super) verbs: Words,
    pub(super) groups: Words,
    pub(super) resources: Words,
    pub(super) names: Words,
    pub(super) urls: Words,
}

/// A list of words of a rule.
#[derive(Clone, Debug)]
pub(super) enum Words {
    /// As the tables have it, with commas between them; `core` stands for the group without a name.
    Fixed(&'static str),
    Given(Vec<Text>),
}

impl Default for Words {
    fn default() -> Self {
        Self::Fixed("")
    }
}

impl Words {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.parts().map(|word| core::str::from_utf8(word).expect("a text that is parted at commas"))
    }

    /// Returns the words as bytes, since bytes are split faster: each request is compared with dozens of rules.
    fn parts(&self) -> impl Iterator<Item = &[u8]> {
        let (fixed, given) = match self {
            Self::Fixed(text) => (*text, &[][..]),
            Self::Given(list) => ("", list.as_slice()),
        };
        let fixed = fixed.as_bytes().split(|byte| *byte == b',').filter(|word| !word.is_empty());
        fixed.map(|word| if word == b"core" { b"" } else { word }).chain(given.iter().map(|word| word.as_bytes()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Tells whether a word is among them, or `*`.
    pub(super) fn has(&self, wanted: &str) -> bool {
        self.parts().any(|own| own == b"*" || own == wanted.as_bytes())
    }
}

impl PolicyRule {
    pub(super) fn read(json: &Json) -> Self {
        let list =
            |field: &str| Words::Given(json.get(field).items().iter().filter_map(Json::as_text).cloned().collect());
        Self {
            verbs: list("verbs"),
            groups: list("apiGroups"),
            resources: list("resources"),
            names: list("resourceNames"),
            urls: list("nonResourceURLs"),
        }
    }

    /// Returns the rule as a role holds it; empty lists are left out.
    pub(super) fn json(&self) -> Json {
        let mut rule = Json::object();
        let fields = [
            ("verbs", &self.verbs),
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.urls),
        ];
        for (field, list) in fields.into_iter().filter(|(_, list)| !list.is_empty()) {
            rule.set(&[field], list.iter().map(Json::from).collect::<Json>());
        }
        rule
    }

    /// Tells whether the rule allows a request.
    pub(super) fn allows(&self, asked: &Attributes<'_>) -> bool {
        if !self.verbs.has(asked.verb) {
            return false;
        }
        if let Some(path) = asked.path {
            return self.urls.iter().any(|url| matches_path(url, path));
        }
        self.groups.has(asked.group)
            && self.resources.parts().any(|resource| matches_resource(resource, asked))
            && (self.names.is_empty() || self.names.iter().any(|name| name == asked.name))
    }
}

fn matches_path(url: &str, path: &str) -> bool {
    url == "*" || url == path || url.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

fn matches_resource(rule: &[u8], asked: &Attributes<'_>) -> bool {
    let resource = if asked.subresource.is_empty() {
        Some(rule)
    } else {
        rule.strip_suffix(asked.subresource.as_bytes()).and_then(|rest| rest.strip_suffix(b"/"))
    };
    let is_named = resource.is_some_and(|resource| resource == asked.resource.as_bytes());
    rule == b"*" || is_named || !asked.subresource.is_empty() && resource == Some(b"*")
}

/// Rules that apply to an identity.
#[derive(Clone, Debug)]
struct Held {
    /// The namespace in which they apply; empty for all.
    place: Text,
    rules: Arc<[PolicyRule]>,
    by: By,
}

/// The binding by which rules hold.
#[derive(Clone, Debug)]
struct By {
    name: Text,
    /// Kind and name of the role.
    role: (Text, Text),
    subject: Subject,
}

/// What one identity may do.
#[derive(Clone, Debug, Default)]
struct Access {
    rules: Vec<Held>,
    /// The roles that bindings name and that are not there, with the namespace of the binding.
    missing: Vec<(Text, String)>,
}

/// What the authoriser remembers.
#[derive(Clone, Debug)]
pub(super) struct Rbac {
    known: Vec<(Arc<Identity>, Arc<Access>)>,
    /// The bindings of the tables, read on first use.
    bindings: Vec<Binding>,
    /// The rules of the tables' ClusterRoles that were needed so far.
    roles: BTreeMap<Text, Arc<[PolicyRule]>>,
    /// Whether roles and bindings are in the store.
    stored: bool,
    /// Whose bindings there are beside those of every cluster.
    pub(super) maker: Maker,
    /// The rules of the Node authoriser, read on first use.
    pub(super) node_rules: Option<Arc<[PolicyRule]>>,
    /// The places of roles and bindings in the table of kinds, which follow each other there.
    kinds: RangeInclusive<KindIndex>,
}

impl Rbac {
    pub(super) fn new() -> Self {
        let place = |resource: &Resource| kinds::find(resource).expect("a kind of the table");
        let kinds = place(&CLUSTER_ROLE_BINDINGS)..=place(&ROLES);
        Self {
            known: Vec::new(),
            bindings: Vec::new(),
            roles: BTreeMap::new(),
            stored: false,
            maker: Maker::default(),
            node_rules: None,
            kinds,
        }
    }

    /// Forgets what was gathered if a role or a binding has changed.
    pub(super) fn forget_if_policy(&mut self, index: KindIndex) {
        if self.kinds.contains(&index) {
            self.known.clear();
        }
    }
}

impl ApiServer {
    /// Tells whether the roles of an identity allow a request; the error is what RBAC adds to the refusal, mostly
    /// nothing.
    pub(super) fn rbac_allows(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>) -> Result<(), String> {
        let access = self.access_of(identity);
        let here = |place: &Text| place.is_empty() || place.as_str() == asked.namespace && asked.path.is_none();
        if access.rules.iter().any(|held| here(&held.place) && held.rules.iter().any(|rule| rule.allows(asked))) {
            return Ok(());
        }
        let missing: Vec<&str> =
            access.missing.iter().filter(|(place, _)| here(place)).map(|(_, why)| why.as_str()).collect();
        Err(match missing.as_slice() {
            [] => String::new(),
            [one] => format!("RBAC: {one}"),
            several => format!("RBAC: [{}]", several.join(", ")),
        })
    }

    /// Returns the rules that hold for an identity in a namespace.
    pub(super) fn rules_for(&mut self, identity: &Arc<Identity>, namespace: &str) -> Vec<PolicyRule> {
        let access = self.access_of(identity);
        let here = |place: &Text| place.is_empty() || place.as_str() == namespace;
        access.rules.iter().filter(|held| here(&held.place)).flat_map(|held| held.rules.iter().cloned()).collect()
    }

    /// Says which roles bindings of an identity name that are not there.
    pub(super) fn unresolved_roles(&mut self, identity: &Arc<Identity>, namespace: &str) -> Vec<String> {
        let access = self.access_of(identity);
        let here = |place: &Text| place.is_empty() || place.as_str() == namespace;
        access.missing.iter().filter(|(place, _)| here(place)).map(|(_, why)| why.clone()).collect()
    }

    /// Says by which binding a request is allowed.
    pub(super) fn rbac_reason(&mut self, identity: &Arc<Identity>, asked: &Attributes<'_>) -> Option<String> {
        let access = self.access_of(identity);
        let here = |place: &Text| place.is_empty() || place.as_str() == asked.namespace && asked.path.is_none();
        let mut held = access.rules.iter().filter(|held| here(&held.place));
        let held = held.find(|held| held.rules.iter().any(|rule| rule.allows(asked)))?;
        Some(format!("RBAC: allowed by {}", describe(&held.place, &held.by)))
    }

    fn access_of(&mut self, identity: &Arc<Identity>) -> Arc<Access> {
        let known = &mut self.rbac.known;
        if let Some((_, access)) = known.iter().find(|(own, _)| Arc::ptr_eq(own, identity)) {
            return access.clone();
        }
        if let Some((_, access)) =
            known.iter().find(|(own, _)| own.user == identity.user && own.groups == identity.groups)
        {
            return access.clone();
        }
        if known.len() >= REMEMBERED_MAX {
            known.remove(0);
        }
        let access =
            Arc::new(if self.rbac.stored { self.stored_access(identity) } else { self.initial_access(identity) });
        self.rbac.known.push((identity.clone(), access.clone()));
        access
    }

    fn initial_access(&mut self, identity: &Identity) -> Access {
        let profile = self.settings.profile();
        let mut access = Access::default();
        let Rbac { bindings, roles, maker, .. } = &mut self.rbac;
        if bindings.is_empty() {
            *bindings = rbac_policy::bindings(profile, *maker);
        }
        for binding in bindings.iter() {
            let Some(subject) = binding.subjects.iter().find(|subject| is_meant(subject, identity)) else { continue };
            let rules = match binding.namespace {
                "" => match roles.get(&binding.role) {
                    Some(rules) => rules.clone(),
                    None => {
                        let rules: Arc<[PolicyRule]> = cluster_rules(&binding.role, profile).unwrap_or_default().into();
                        roles.insert(binding.role.clone(), rules.clone());
                        rules
                    }
                },
                namespace => namespace_rules(namespace, &binding.role, profile).unwrap_or_default().into(),
            };
            let place = Text::of(binding.namespace);
            let kind = Text::of(if place.is_empty() { "ClusterRole" } else { "Role" });
            let by = By { name: binding.name.clone(), role: (kind, binding.role.clone()), subject: subject.clone() };
            access.rules.push(Held { place, rules, by });
        }
        access
    }

    fn stored_access(&self, identity: &Identity) -> Access {
        let mut access = Access::default();
        let bindings = [CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS].map(|resource| self.objects(&resource));
        for binding in bindings.iter().flatten() {
            let place = binding.key().namespace;
            let tree = binding.stable();
            let mut named = tree.get("subjects").items().iter().filter_map(|subject| read_subject(subject, &place));
            let Some(subject) = named.find(|subject| is_meant(subject, identity)) else { continue };
            let role = tree.at(&["roleRef", "name"]).as_text().cloned().unwrap_or_default();
            let (kind, found) = if tree.at(&["roleRef", "kind"]).as_str() == Some("Role") {
                ("role", self.object(&ROLES, &ObjectKey::namespaced(place.clone(), role.clone())))
            } else {
                ("clusterrole", self.object(&CLUSTER_ROLES, &ObjectKey::cluster(role.clone())))
            };
            match found {
                Some(found) => {
                    let kind = tree.at(&["roleRef", "kind"]).as_text().cloned().unwrap_or_default();
                    let by = By { name: binding.key().name, role: (kind, role), subject };
                    let rules = found.stable().get("rules").items().iter().map(PolicyRule::read).collect();
                    access.rules.push(Held { place: place.clone(), rules, by });
                }
                None => {
                    let why = format!("{kind}.rbac.authorization.k8s.io {:?} not found", role.as_str());
                    access.missing.push((place, why));
                }
            }
        }
        access
    }

    /// Puts the roles and bindings of every cluster in the store, as if they had stood there from the start.
    pub(super) fn store_policy(&mut self) {
        if self.rbac.stored {
            return;
        }
        self.rbac.stored = true;
        for (resource, mut tree) in rbac_policy::objects(self.settings.profile(), self.rbac.maker) {
            let index = kinds::find(&resource).expect("a kind of the table");
            let name = tree.at(&["metadata", "name"]).as_text().cloned().unwrap_or_default();
            tree.set(&["metadata", "uid"], uid_of(&resource, &name));
            tree.set(&["metadata", "creationTimestamp"], time::to_time(self.started));
            self.own_initial(index, &mut tree);
            let object = Object::new(tree, self.first_revision);
            let key = object.key();
            self.tables[index].store.insert(key.namespace, key.name, object);
        }
    }
}

/// Names a binding. Source: pkg/registry/rbac/validation/rule.go (v1.34), `describeSubject` and the describers.
fn describe(place: &str, By { name, role: (kind, role), subject }: &By) -> String {
    let (name, role) = (name.as_str(), role.as_str());
    let subject = match subject {
        Subject::User(name) => format!("User {:?}", name.as_str()),
        Subject::Group(name) => format!("Group {:?}", name.as_str()),
        Subject::ServiceAccount(namespace, name) => format!("ServiceAccount {:?}", format!("{name}/{namespace}")),
    };
    if place.is_empty() {
        format!("ClusterRoleBinding {name:?} of {kind} {role:?} to {subject}")
    } else {
        format!("RoleBinding {:?} of {kind} {role:?} to {subject}", format!("{name}/{place}"))
    }
}

/// Makes a uid (RFC 4122, version 4) from a name, so that it does not depend on when the object is put in the store.
fn uid_of(resource: &Resource, name: &str) -> String {
    let mut sum: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in resource.plural.bytes().chain(name.bytes()) {
        sum = (sum ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    let text = format!("{:032x}", sum & !(0xf << 76 | 0b11 << 62) | (0x4 << 76 | 0b10 << 62));
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

fn read_subject(subject: &Json, place: &Text) -> Option<Subject> {
    let name = subject.get("name").as_text().cloned()?;
    match subject.get("kind").as_str()? {
        "User" => Some(Subject::User(name)),
        "Group" => Some(Subject::Group(name)),
        "ServiceAccount" => {
            let namespace = subject.get("namespace").as_text().filter(|namespace| !namespace.is_empty()).cloned();
            let namespace = namespace.unwrap_or_else(|| place.clone());
            (!namespace.is_empty()).then_some(Subject::ServiceAccount(namespace, name))
        }
        _ => None,
    }
}

fn is_meant(subject: &Subject, identity: &Identity) -> bool {
    match subject {
        Subject::User(name) => identity.user == *name,
        Subject::Group(name) => identity.groups.contains(name),
        Subject::ServiceAccount(namespace, name) => {
            let account = identity.user.strip_prefix("system:serviceaccount:");
            account.and_then(|rest| rest.split_once(':')) == Some((namespace.as_str(), name.as_str()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PolicyRule, Words, matches_path, uid_of};
    use crate::components::api_server::attributes::Attributes;
    use crate::json;
    use crate::network::PODS;

    fn asked<'a>(verb: &'a str, resource: &'a str, subresource: &'a str, name: &'a str) -> Attributes<'a> {
        Attributes { verb, resource, subresource, name, ..Attributes::default() }
    }

    #[test]
    fn a_rule_allows_what_it_names_and_nothing_else() {
        let rule = PolicyRule::read(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/status"],
            "resourceNames": ["p"]}));
        let cases = [
            (asked("get", "pods", "", "p"), true),
            (asked("get", "pods", "", "q"), false),
            (asked("get", "pods", "", ""), false),
            (asked("list", "pods", "", "p"), false),
            (asked("get", "pods", "log", "p"), false),
            (asked("get", "nodes", "status", "p"), true),
        ];
        for (asked, allowed) in cases {
            assert_eq!(rule.allows(&asked), allowed, "{asked:?}");
        }
        assert!(!rule.allows(&Attributes { group: "apps", ..asked("get", "pods", "", "p") }));
    }

    #[test]
    fn paths_match_whole_or_by_their_beginning() {
        let cases = [("/api", "/api", true), ("/api/*", "/api/v1", true), ("/api/*", "/api", false), ("*", "/x", true)];
        for (url, path, matches) in cases {
            assert_eq!(matches_path(url, path), matches, "{url} {path}");
        }
        let rule = PolicyRule { verbs: Words::Fixed("get"), urls: Words::Fixed("/healthz"), ..PolicyRule::default() };
        assert!(rule.allows(&Attributes { verb: "get", path: Some("/healthz"), ..Attributes::default() }));
        assert!(!rule.allows(&asked("get", "pods", "", "")));
    }

    #[test]
    fn a_uid_is_that_of_its_name() {
        let uid = uid_of(&PODS, "view");
        assert_eq!((uid.len(), uid.as_bytes()[14]), (36, b'4'), "{uid}");
        assert_eq!(uid, uid_of(&PODS, "view"));
        assert_ne!(uid, uid_of(&PODS, "edit"));
    }
}
