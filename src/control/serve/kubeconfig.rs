//! The kubeconfig of the served cluster.
//!
//! Inputs: the address and the certificates. Output: a file that only its owner can read. Invariant: a kubeconfig of
//! other clusters is never overwritten.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nodeproof_core::objects::base64;
use serde_json::{Value, json};

use crate::live::Certified;

/// The name of the cluster, its user and its context.
const NAME: &str = "nodeproof";

/// Returns the kubeconfig of a cluster at an address.
pub(super) fn of(url: &str, authority: &str, user: &Certified) -> Value {
    let data = |pem: &str| base64::encode(pem.as_bytes());
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": {"server": url, "certificate-authority-data": data(authority)}}],
        "users": [{"name": NAME, "user": {
            "client-certificate-data": data(&user.certificate), "client-key-data": data(&user.key),
        }}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
    })
}

/// Writes a kubeconfig.
///
/// # Errors
/// The file cannot be written, or holds something else than what an earlier call wrote.
pub fn write(path: &Path, kubeconfig: &Value) -> Result<(), String> {
    let shown = path.display();
    match fs::read_to_string(path) {
        Ok(text) if is_ours(&text) => {}
        Ok(_) => {
            return Err(format!("{shown} is there and is not of nodeproof serve: name another file with --kubeconfig"));
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    }
    let text = serde_yaml::to_string(kubeconfig).map_err(|error| error.to_string())?;
    // A file made beside it and renamed: a reader sees the old one or the new one, and its mode is set from the start.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let beside = path.with_file_name(name);
    let file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes())).and_then(|()| fs::rename(&beside, path));
    written.map_err(|error| {
        drop(fs::remove_file(&beside));
        format!("cannot write {shown}: {error}")
    })
}

/// Tells whether a file is empty or holds the served cluster alone.
fn is_ours(text: &str) -> bool {
    let Ok(value) = serde_yaml::from_str::<Value>(text) else { return false };
    let clusters = value["clusters"].as_array().map(Vec::as_slice).unwrap_or_default();
    value.is_null() || (clusters.len() == 1 && clusters[0]["name"] == NAME)
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn only_the_own_cluster_alone_is_overwritten() {
        assert!(is_ours("") && is_ours("clusters: [{name: nodeproof}]"));
        for other in ["clusters: [{name: prod}]", "clusters: [{name: nodeproof}, {name: prod}]", "a: [", "text"] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
