//! The variables of a container, and the parts of volumes that it mounts by paths with variables in them.
//!
//! Mirrors third_party/forked/golang/expansion/expand.go, `ExpandContainerVolumeMounts` of
//! pkg/kubelet/container/helpers.go and `makeMounts` of pkg/kubelet/kubelet_pods.go (v1.34). Pure. Inputs: variables, a
//! container. Output: why a mount cannot be made. Left out on purpose: values of secrets and of what is known of a pod
//! only while it runs; each of them counts as a name that can be a part of a path.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};

use crate::objects::Json;

/// The variables of a container by name; `None` for a value that is not known here.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Option<String>>);

impl Variables {
    /// Adds a variable.
    pub(super) fn set(&mut self, name: &str, value: Option<String>) {
        self.0.insert(name.to_string(), value);
    }

    /// Adds a variable whose value may name those before it.
    pub(super) fn set_expanded(&mut self, name: &str, value: &str) {
        let mut is_known = true;
        let expanded = expand(value, |other| match self.get(other) {
            Some(Some(value)) => value.to_string(),
            Some(None) => {
                is_known = false;
                String::new()
            }
            None => format!("$({other})"),
        });
        self.set(name, is_known.then_some(expanded));
    }

    /// Looks a variable up; those of Services are there without being told.
    fn get(&self, name: &str) -> Option<Option<&str>> {
        let parts = ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"];
        let is_of_service = || parts.iter().any(|part| name.contains(part));
        self.0.get(name).map(Option::as_deref).or_else(|| is_of_service().then_some(None))
    }

    /// Tells why a mount of a container cannot be made.
    pub(super) fn mount_error(&self, container: &Json) -> Option<String> {
        let mounts = container.get("volumeMounts").items().iter();
        mounts.filter_map(|mount| mount.get("subPathExpr").as_str()).find_map(|path| self.path_error(path))
    }

    fn path_error(&self, path: &str) -> Option<String> {
        let mut missing: BTreeSet<String> = BTreeSet::new();
        let path = expand(path, |name| match self.get(name) {
            Some(None) => String::from("value"),
            Some(Some(value)) if !value.is_empty() => value.to_string(),
            _ => {
                missing.insert(name.to_string());
                String::new()
            }
        });
        if !missing.is_empty() {
            let names: alloc::vec::Vec<String> = missing.into_iter().collect();
            return Some(format!("missing value for {}", names.join(", ")));
        }
        if path.starts_with('/') {
            return Some(format!("error SubPath `{path}` must not be an absolute path"));
        }
        let goes_back = path.split('/').any(|part| part == "..");
        goes_back.then(|| format!("unable to provision SubPath `{path}`: must not contain '..'"))
    }
}

/// Puts values in the places of `$(NAME)`; `$$` is a dollar sign.
fn expand(text: &str, mut value_of: impl FnMut(&str) -> String) -> String {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some((name, after)) = after.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            expanded.push_str(&value_of(name));
            rest = after;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    expanded
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::{Variables, expand};
    use crate::json;

    #[test]
    fn paths_are_made_of_variables_that_have_values() {
        let mut variables = Variables::default();
        variables.set("A", Some("a".to_string()));
        variables.set("EMPTY", Some(alloc::string::String::new()));
        variables.set("SECRET", None);
        variables.set_expanded("ROOT", "/$(A)");
        variables.set_expanded("BACK", "../$(A)");
        variables.set_expanded("KEPT", "$(NONE)");
        variables.set_expanded("HIDDEN", "/$(SECRET)");
        for (path, error) in [
            ("$(A)", None),
            ("x/$(SECRET)/$(WEB_SERVICE_HOST)", None),
            ("$(HIDDEN)", None),
            ("$(KEPT)", None),
            ("$$(NONE)", None),
            ("$(NONE)$(B)$(EMPTY)$(A)", Some("missing value for B, EMPTY, NONE")),
            ("$(ROOT)", Some("error SubPath `/a` must not be an absolute path")),
            ("$(BACK)", Some("unable to provision SubPath `../a`: must not contain '..'")),
        ] {
            let container =
                json!({"volumeMounts": [{"name": "v", "subPath": "x"}, {"name": "v", "subPathExpr": path}]});
            assert_eq!(variables.mount_error(&container).as_deref(), error, "{path}");
        }
    }

    #[test]
    fn what_is_no_reference_stays() {
        for (text, expanded) in
            [("$(a)$$(a)$$", "<a>$(a)$"), ("$", "$"), ("x$y", "x$y"), ("$(a", "$(a"), ("$()", "<>"), ("$$$(a)", "$<a>")]
        {
            assert_eq!(expand(text, |name| alloc::format!("<{name}>")), expanded, "{text}");
        }
    }
}
