//! Placeholders for values that differ from run to run and do not matter: uids, addresses, a machine's identities, the
//! release of a run. Pure.

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
    ADDRESSES.contains(&field).then(|| String::from("[address]"))
}
