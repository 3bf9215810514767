//! Placeholders for values that differ from run to run and do not matter: uids, addresses, a machine's identities, the
//! hash in the name of a ReplicaSet, the release of a run. Pure.

use alloc::format;
use alloc::string::String;

use super::Json;

/// Fields of `status.nodeInfo` and of containers that identify one machine, boot or process.
const IDENTITIES: [&str; 4] = ["bootID", "containerID", "machineID", "systemUUID"];
/// Fields of `status.nodeInfo` that repeat the release.
const RELEASES: [&str; 2] = ["kubeProxyVersion", "kubeletVersion"];
/// Fields that hold an address of the network.
const ADDRESSES: [&str; 4] = ["hostIP", "ip", "podIP", "podCIDR"];

/// Returns what is printed in place of a field; `None` for one that is printed as it is.
///
/// `name_of` names the object behind a uid.
#[must_use]
pub(super) fn placeholder(field: &str, value: &Json, name_of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    if field == "uid" {
        return Some(name_of(text).map_or_else(|| String::from("[uid]"), |name| format!("[uid:{name}]")));
    }
    if IDENTITIES.contains(&field) {
        return Some(format!("[{field}]"));
    }
    if RELEASES.contains(&field) && text.starts_with("v1.") {
        return Some(String::from("[release]"));
    }
    if field == "message" {
        return without_hash(text);
    }
    ADDRESSES.contains(&field).then(|| String::from("[address]"))
}

/// Takes the hash of its template out of the name of a ReplicaSet in the condition of a Deployment: it is that of Go's
/// print of the template, which differs between releases.
///
/// Source: pkg/controller/deployment/progress.go (v1.34), `syncRolloutStatus`.
fn without_hash(text: &str) -> Option<String> {
    let (before, rest) = ["ReplicaSet \"", "replica set \""].into_iter().find_map(|words| {
        let end = text.find(words)? + words.len();
        Some(text.split_at(end))
    })?;
    let (name, after) = rest.split_once('"')?;
    let (deployment, _) = name.rsplit_once('-')?;
    Some(format!("{before}{deployment}-[hash]\"{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_replica_set_is_left_out_of_a_message() {
        let of = |field, text: &str| placeholder(field, &Json::text(text), &|_| None);
        let progressing = of("message", "ReplicaSet \"web-84d96c4cdc\" is progressing.");
        assert_eq!(progressing.as_deref(), Some("ReplicaSet \"web-[hash]\" is progressing."));
        let created = of("message", "Created new replica set \"my-web-84d96c4cdc\"");
        assert_eq!(created.as_deref(), Some("Created new replica set \"my-web-[hash]\""));
        assert_eq!(of("message", "kubelet is posting ready status"), None);
        assert_eq!(of("reason", "ReplicaSet \"web-84d96c4cdc\" is progressing."), None);
    }
}
