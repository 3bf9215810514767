//! Roles and bindings may not give more than their writer has.
//!
//! Mirrors pkg/registry/rbac/{escalation_check,helpers}.go, pkg/registry/rbac/{role,clusterrole,rolebinding,
//! clusterrolebinding}/policybased/storage.go, pkg/registry/rbac/validation/{rule,policy_compact}.go and
//! k8s.io/component-helpers auth/rbac/validation/policy_comparator.go (v1.34). Inputs: a role or binding that is
//! written, who writes it. Outputs: nothing, or 403; 404 for a role that a binding names and that is not there.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::attributes::Attributes;
use super::call::RequestInfo;
use super::rbac::{PolicyRule, Words};
use super::rbac_policy::{CLUSTER_ROLES, ROLES};
use super::{ApiServer, Origin, authorisation, status};
use crate::network::Answer;
use crate::objects::{Json, ObjectKey};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The smallest part of a rule: one verb on one resource, perhaps of one name, or on one path.
#[derive(Clone, Copy, Debug)]
enum Right<'a> {
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str>, verb: &'a str },
    Path { url: &'a str, verb: &'a str },
}

impl ApiServer {
    /// Refuses a role or a binding that gives rights which its writer does not have.
    pub(super) fn check_escalation(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        tree: &Json,
        old: Option<&Json>,
    ) -> Result<(), Answer> {
        let kind = info.kind;
        let is_role = matches!(kind.rules(), "Role" | "ClusterRole");
        let is_policy = is_role || matches!(kind.rules(), "RoleBinding" | "ClusterRoleBinding");
        if kind.resource.group != *GROUP || !is_policy || authorisation::is_master(&origin.identity) {
            return Ok(());
        }
        if !is_role {
            return self.check_binding(info, origin, tree, old);
        }
        let asked = Attributes {
            verb: "escalate",
            group: GROUP,
            resource: &kind.resource.plural,
            namespace: &info.namespace,
            name: &info.name,
            ..Attributes::default()
        };
        if self.authorise(&origin.identity, &asked).is_ok() || old.is_some_and(|old| changes_only_owners(tree, old)) {
            return Ok(());
        }
        self.confirm(info, origin, tree, &rules_of(tree))?;
        let gathers = |tree: &Json| !tree.at(&["aggregationRule", "clusterRoleSelectors"]).items().is_empty();
        if kind.rules() == "ClusterRole" && (gathers(tree) || old.is_some_and(gathers)) {
            let all = || Words::Fixed("*");
            let whole = [
                PolicyRule { verbs: all(), groups: all(), resources: all(), ..PolicyRule::default() },
                PolicyRule { verbs: all(), urls: all(), ..PolicyRule::default() },
            ];
            self.confirm(info, origin, tree, &whole).map_err(|_| {
                let why = "must have cluster-admin privileges to use the aggregationRule";
                status::forbidden(&kind.resource, name_of(tree), why)
            })?;
        }
        Ok(())
    }

    fn check_binding(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        tree: &Json,
        old: Option<&Json>,
    ) -> Result<(), Answer> {
        let role = |field: &str| tree.at(&["roleRef", field]).as_str().unwrap_or("");
        if old.is_some_and(|old| changes_only_owners(tree, old)) {
            return Ok(());
        }
        let place = match role("kind") {
            "ClusterRole" => Some((&CLUSTER_ROLES, ObjectKey::cluster(role("name")))),
            "Role" => Some((&ROLES, ObjectKey::namespaced(info.namespace.clone(), role("name")))),
            _ => None,
        };
        if let Some((resource, _)) = &place {
            let asked = Attributes {
                verb: "bind",
                group: role("apiGroup"),
                resource: &resource.plural,
                namespace: &info.namespace,
                name: role("name"),
                ..Attributes::default()
            };
            if self.authorise(&origin.identity, &asked).is_ok() {
                return Ok(());
            }
        }
        let Some((resource, key)) = place else {
            return Err(status::untyped(&format!("unsupported role reference kind: {:?}", role("kind"))));
        };
        if *resource == ROLES && info.namespace.is_empty() {
            return Err(status::bad_request("Namespace parameter required."));
        }
        // The registry names the resource of the request, which is the binding's.
        let found = self.object(resource, &key).ok_or_else(|| status::not_found(&info.kind.resource, role("name")))?;
        let rules = rules_of(found.stable());
        self.confirm(info, origin, tree, &rules)
    }

    /// Refuses rules of which the writer lacks some.
    fn confirm(
        &mut self,
        info: &RequestInfo,
        origin: &Origin,
        tree: &Json,
        rules: &[PolicyRule],
    ) -> Result<(), Answer> {
        let identity = &origin.identity;
        let own = self.rules_for(identity, &info.namespace);
        let lacks = |right: &Right<'_>| !own.iter().any(|rule| covers(rule, right));
        let missing: Vec<Right<'_>> = rules.iter().flat_map(rights).filter(lacks).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let groups: Vec<String> = identity.groups.iter().map(|group| format!("{:?}", group.as_str())).collect();
        let mut why = format!(
            "user {:?} (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
            identity.user.as_str(),
            groups.join(" "),
            described(&missing)
        );
        let unresolved = self.unresolved_roles(identity, &info.namespace);
        match unresolved.as_slice() {
            [] => {}
            [one] => why.push_str(&format!("; resolution errors: [{one}]")),
            several => why.push_str(&format!("; resolution errors: [[{}]]", several.join(", "))),
        }
        Err(status::forbidden(&info.kind.resource, name_of(tree), &why))
    }
}

fn rules_of(role: &Json) -> Vec<PolicyRule> {
    role.get("rules").items().iter().map(PolicyRule::read).collect()
}

fn name_of(tree: &Json) -> &str {
    tree.at(&["metadata", "name"]).as_str().unwrap_or("")
}

/// Tells whether a change touches what the garbage collector writes, and nothing else.
fn changes_only_owners(tree: &Json, old: &Json) -> bool {
    let bare = |tree: &Json| {
        let mut tree = tree.clone();
        for field in ["ownerReferences", "finalizers", "managedFields"] {
            tree.remove(&["metadata", field]);
        }
        tree
    };
    bare(tree) == bare(old)
}

/// Takes a rule apart.
fn rights(rule: &PolicyRule) -> Vec<Right<'_>> {
    let mut found = Vec::new();
    for group in rule.groups.iter() {
        for resource in rule.resources.iter() {
            for verb in rule.verbs.iter() {
                let right = |name| Right::Resource { group, resource, name, verb };
                if rule.names.is_empty() {
                    found.push(right(None));
                }
                found.extend(rule.names.iter().map(|name| right(Some(name))));
            }
        }
    }
    for url in rule.urls.iter() {
        found.extend(rule.verbs.iter().map(|verb| Right::Path { url, verb }));
    }
    found
}

fn covers(rule: &PolicyRule, right: &Right<'_>) -> bool {
    match *right {
        Right::Resource { group, resource, name, verb } => {
            let part = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
            let covers_resource =
                rule.resources.has(resource) || part.is_some_and(|part| rule.resources.iter().any(|own| own == part));
            let covers_name =
                rule.names.is_empty() || name.is_some_and(|name| rule.names.iter().any(|own| own == name));
            rule.verbs.has(verb) && rule.groups.has(group) && covers_resource && covers_name
        }
        Right::Path { url, verb } => {
            let covers_url = |own: &str| own == url || own.ends_with('*') && url.starts_with(own.trim_end_matches('*'));
            rule.verbs.has(verb) && rule.names.is_empty() && rule.urls.iter().any(covers_url)
        }
    }
}

/// Describes rights: those on one resource together, in the order of the texts.
fn described(rights: &[Right<'_>]) -> String {
    let mut verbs: BTreeMap<(&str, &str, Option<&str>), Vec<&str>> = BTreeMap::new();
    let mut lines: BTreeSet<String> = BTreeSet::new();
    let list = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        format!("[{}]", words.join(" "))
    };
    for right in rights {
        match *right {
            Right::Resource { group, resource, name, verb } => {
                verbs.entry((group, resource, name)).or_default().push(verb);
            }
            Right::Path { url, verb } => {
                lines.insert(format!("{{NonResourceURLs:{}, Verbs:{}}}", list(&[url]), list(&[verb])));
            }
        }
    }
    for ((group, resource, name), verbs) in verbs {
        let names = name.map(|name| format!(", ResourceNames:{}", list(&[name]))).unwrap_or_default();
        let (group, resource, verbs) = (list(&[group]), list(&[resource]), list(&verbs));
        lines.insert(format!("{{APIGroups:{group}, Resources:{resource}{names}, Verbs:{verbs}}}"));
    }
    lines.into_iter().collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::{covers, described, rights};
    use crate::components::api_server::rbac::PolicyRule;
    use crate::json;

    #[test]
    fn what_is_held_is_taken_from_what_is_given() {
        let own = PolicyRule::read(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "*/status"]}));
        let given = PolicyRule::read(&json!({"verbs": ["get", "list"], "apiGroups": ["", "apps"],
            "resources": ["pods", "nodes/status"], "resourceNames": ["a"]}));
        let missing: Vec<_> = rights(&given).into_iter().filter(|right| !covers(&own, right)).collect();
        assert_eq!(
            described(&missing),
            "{APIGroups:[\"\"], Resources:[\"nodes/status\"], ResourceNames:[\"a\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"list\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"nodes/status\"], ResourceNames:[\"a\"], Verbs:[\"get\" \"list\"]}\n\
             {APIGroups:[\"apps\"], Resources:[\"pods\"], ResourceNames:[\"a\"], Verbs:[\"get\" \"list\"]}"
        );
    }

    #[test]
    fn a_name_is_covered_by_all_names_and_not_the_other_way_round() {
        let all = PolicyRule::read(&json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}));
        let one = PolicyRule::read(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"],
            "resourceNames": ["a"]}));
        assert!(rights(&one).iter().all(|right| covers(&all, right)));
        let whole = PolicyRule::read(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}));
        assert!(!rights(&whole).iter().any(|right| covers(&one, right)));
        let paths = PolicyRule::read(&json!({"verbs": ["get"], "nonResourceURLs": ["/api/*"]}));
        let path = PolicyRule::read(&json!({"verbs": ["get", "post"], "nonResourceURLs": ["/api/v1"]}));
        assert_eq!(rights(&path).iter().filter(|right| covers(&paths, right)).count(), 1);
    }
}
