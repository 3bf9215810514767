//! Names, namespaces and uids: those that requests give, and those that the server makes.
//!
//! Mirrors k8s.io/apiserver pkg/{registry/rest/create.go,storage/names/generate.go} (v1.34). Inputs: objects and where
//! a request puts them. Outputs: objects with a name, or the refusal.

use alloc::format;
use alloc::string::String;

use jiff::Timestamp;

use super::call::RequestInfo;
use super::{ApiServer, Origin, status, strategy};
use crate::network::kinds::Kind;
use crate::network::{Answer, ClientId, Identity, Resource, Verb};
use crate::objects::{Json, Object, Text};

/// How many generated names the server tries. Source: store.go (v1.34), `maxNameGenerationCreateAttempts`.
const NAME_ATTEMPTS: u32 = 8;

impl ApiServer {
    /// Gives a new object without a name one from its base; tells whether it did.
    pub(super) fn name_new(&mut self, info: &RequestInfo, tree: &mut Json) -> bool {
        let of = |field: &str| tree.at(&["metadata", field]).as_text().cloned().unwrap_or_default();
        let base = of("generateName");
        if !of("name").is_empty() {
            return false;
        }
        if base.is_empty() {
            // Source: pkg/registry/core/limitrange/strategy.go (v1.34), `PrepareForCreate`.
            if info.kind.name == "LimitRange" {
                let name = self.new_uid();
                tree.set(&["metadata", "name"], name);
            }
            return false;
        }
        self.generate_name(info, &base, tree);
        strategy::default(info.kind, tree, &self.settings);
        true
    }

    /// Returns the tree of a copy of an object, as a request that made another from the same base would name it.
    #[must_use]
    pub fn named_copy(&mut self, resource: &Resource, pattern: &Object) -> Option<Json> {
        let kind_index = self.kinds.find(resource)?;
        let mut tree = pattern.json();
        let base = tree.at(&["metadata", "generateName"]).as_text().cloned()?;
        let info = RequestInfo {
            kind_index,
            kind: self.kinds.at(kind_index),
            namespace: pattern.key().namespace,
            name: Text::default(),
            subresource: Text::default(),
        };
        self.generate_name(&info, &base, &mut tree);
        tree.set(&["metadata", "uid"], self.new_uid());
        Some(tree)
    }

    /// Stores an object that nobody checks, as if its request and those that followed had been long ago.
    pub fn put_copy(&mut self, resource: &Resource, tree: Json, client: ClientId, now: Timestamp) {
        let Some(kind_index) = self.kinds.find(resource) else { return };
        let (verb, subresource) = (Verb::Create, Text::default());
        let origin = Origin { client, identity: Identity::admin(), verb, subresource, because: None, now };
        self.commit(kind_index, &origin, tree);
        self.outputs.append(&mut self.events);
    }

    fn generate_name(&mut self, info: &RequestInfo, base: &str, tree: &mut Json) {
        for _ in 0..NAME_ATTEMPTS {
            let name = format!("{}{}", truncated(base), self.random_suffix());
            tree.set(&["metadata", "name"], name.as_str());
            if self.tables[info.kind_index].store.find(&info.namespace, &name).is_none() {
                return;
            }
        }
    }

    /// Returns five random characters. Source: k8s.io/apimachinery pkg/util/rand/rand.go (v1.34), `alphanums`.
    pub(super) fn random_suffix(&mut self) -> String {
        const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..5).map(|_| char::from(ALPHABET[usize::try_from(self.chance.below(27)).unwrap_or(0)])).collect()
    }

    /// Returns a random uid (RFC 4122, version 4).
    pub(super) fn new_uid(&mut self) -> String {
        let (high, low) = (self.chance.bits(), self.chance.bits());
        let high = (high & !0xf000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }
}

fn truncated(base: &str) -> &str {
    // Source: k8s.io/apiserver pkg/storage/names/generate.go (v1.34), `MaxGeneratedNameLength` = 63 - 5.
    base.get(..58).unwrap_or(base)
}

/// Makes the object's namespace that of the URL, or refuses.
pub(super) fn fix_namespace(kind: &Kind, tree: &mut Json, namespace: &Text) -> Result<(), Answer> {
    let sent = tree.at(&["metadata", "namespace"]).as_text().cloned().unwrap_or_default();
    if !kind.is_namespaced() {
        tree.remove(&["metadata", "namespace"]);
    } else if sent.is_empty() {
        tree.set(&["metadata", "namespace"], namespace);
    } else if sent != *namespace {
        return Err(other_namespace());
    }
    Ok(())
}

/// Refuses the body of a subresource that names another namespace than the path.
pub(super) fn check_sent_namespace(tree: &Json, info: &RequestInfo) -> Result<(), Answer> {
    let sent = tree.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    if sent.is_empty() || sent == info.namespace.as_str() { Ok(()) } else { Err(other_namespace()) }
}

pub(super) fn no_name(info: &RequestInfo) -> Answer {
    status::bad_request(&format!(
        "the name of the object ({} based on URL) was undeterminable: name must be provided",
        info.name
    ))
}

pub(super) fn check_name(kind: &Kind, tree: &mut Json, info: &RequestInfo) -> Result<(), Answer> {
    fix_namespace(kind, tree, &info.namespace)?;
    match tree.at(&["metadata", "name"]).as_str() {
        None | Some("") => Err(no_name(info)),
        Some(name) if name != info.name.as_str() => Err(other_name(name, info)),
        Some(_) => Ok(()),
    }
}

fn other_name(name: &str, info: &RequestInfo) -> Answer {
    let wanted = &info.name;
    status::bad_request(&format!("the name of the object ({name}) does not match the name on the URL ({wanted})"))
}

fn other_namespace() -> Answer {
    status::bad_request("the namespace of the provided object does not match the namespace sent on the request")
}

/// Checks that the outcome of a patch is still the object of the URL.
pub(super) fn check_patched_name(tree: &Json, info: &RequestInfo) -> Result<(), Answer> {
    // One that is left out is that of the URL, and one of an object of the whole cluster is none.
    let namespace = tree.at(&["metadata", "namespace"]).as_str().unwrap_or("");
    let is_other = !namespace.is_empty() && namespace != info.namespace.as_str() && info.kind.is_namespaced();
    let name = tree.at(&["metadata", "name"]).as_str().unwrap_or("");
    if is_other {
        return Err(other_namespace());
    }
    if name.is_empty() {
        return Err(no_name(info));
    }
    if name != info.name.as_str() {
        return Err(other_name(name, info));
    }
    Ok(())
}
