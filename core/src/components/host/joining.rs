//! What a machine has of network and credentials before its kubelet first starts.
//!
//! Inputs: the fields `cni` and `credentials` of `POST machines`. Outputs: typed values, or an error that names the
//! field.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::network::Identity;
use crate::objects::{FieldError, FieldReader, Json, Text};

/// Where the configuration of the container network comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CniSource {
    /// It is there when the machine is made.
    #[default]
    Installed,
    /// There is none until it is installed.
    None,
    /// The runtime writes it when the kubelet tells it the Node's `podCIDR`.
    WithPodCidr,
}

impl CniSource {
    const WORDS: [(&str, Self); 3] =
        [("installed", Self::Installed), ("none", Self::None), ("with-pod-cidr", Self::WithPodCidr)];

    pub(super) fn read(reader: &mut FieldReader<'_>) -> Result<Self, FieldError> {
        let names = const { &["installed", "none", "with-pod-cidr"] };
        let word = reader.word("cni", "source of the network's configuration", names)?;
        let found = Self::WORDS.into_iter().find(|(name, _)| Some(*name) == word);
        Ok(found.map_or_else(Self::default, |(_, source)| source))
    }
}

/// Reads `credentials`: the user of the bootstrap token, `None` for a client certificate that is there already.
pub(super) fn read_credentials(reader: &mut FieldReader<'_>) -> Result<Option<Arc<Identity>>, FieldError> {
    let path = reader.path("credentials");
    let Some(value) = reader.any("credentials") else { return Ok(None) };
    if let Some(word) = value.as_str() {
        return match word {
            "client-certificate" => Ok(None),
            other => Err(FieldError::unknown(path, "credentials", other, ["client-certificate"])),
        };
    }
    let mut given = FieldReader::new(value, path.as_str())?;
    let Some(mut token) = given.object("bootstrapToken")? else {
        return Err(given.error("bootstrapToken", "a bootstrap token is needed: {\"user\", \"groups\"}"));
    };
    let user = token.needed_text("user")?.clone();
    let listed = token.list("groups")?.unwrap_or_default();
    let mut groups: Vec<Text> = listed.iter().filter_map(Json::as_text).cloned().collect();
    if groups.len() < listed.len() {
        return Err(token.error("groups", "names of groups are needed"));
    }
    token.finish()?;
    given.finish()?;
    if groups.is_empty() {
        // As those of kubeadm's tokens. Source: cmd/kubeadm/app/constants/constants.go (v1.34).
        groups.push(Text::of("system:bootstrappers"));
        groups.push(Text::of("system:bootstrappers:kubeadm:default-node-token"));
    }
    groups.push(Text::of("system:authenticated"));
    Ok(Some(Arc::new(Identity { user, groups, agent: Text::of("kubelet"), details: None })))
}
