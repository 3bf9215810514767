//! Names of images: as pods write them, as a runtime knows them, and the digests behind them.
//!
//! Pure.

use alloc::format;
use alloc::string::String;

use crate::components::host::uuid;

/// Returns the name under which a runtime knows an image; the status shows it once there is a container.
///
/// Source: github.com/distribution/reference normalize.go (v0.6), `ParseDockerRef`; `docker.io/nodeproof/busybox:1` was
/// recorded for a container of `nodeproof/busybox:1` (v1.34.4).
pub(super) fn full_name(image: &str) -> String {
    let (first, rest) = image.split_once('/').unwrap_or(("", image));
    let is_host = first.contains(['.', ':']) || first == "localhost";
    let mut name = match (first, is_host) {
        (_, true) => String::from(image),
        ("", false) => format!("docker.io/library/{rest}"),
        (_, false) => format!("docker.io/{image}"),
    };
    if repository(&name) == name {
        name.push_str(":latest");
    }
    name
}

/// Returns the name of an image without its tag or digest.
fn repository(name: &str) -> &str {
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    let path = name.rfind('/').map_or(0, |slash| slash + 1);
    name[path..].find(':').map_or(name, |colon| &name[..path + colon])
}

/// Returns the digest by which a runtime knows an image: the same on all nodes, for all containers of it.
pub(super) fn image_id(name: &str) -> String {
    if name.contains("@sha256:") {
        let digest = name.split_once('@').map_or("", |(_, digest)| digest);
        return format!("{}@{digest}", repository(name));
    }
    let digest = format!("{}{}", uuid(name), uuid(&format!("digest of {name}"))).replace('-', "");
    format!("{}@sha256:{digest}", repository(name))
}

#[cfg(test)]
mod tests {
    use super::{full_name, image_id, repository};

    #[test]
    fn an_image_is_known_by_its_full_name_and_one_digest() {
        let cases = [
            ("pause", "docker.io/library/pause:latest", "docker.io/library/pause"),
            ("nodeproof/busybox:1", "docker.io/nodeproof/busybox:1", "docker.io/nodeproof/busybox"),
            ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10", "registry.k8s.io/pause"),
            ("localhost:5000/a/b", "localhost:5000/a/b:latest", "localhost:5000/a/b"),
            ("localhost/a@sha256:ab", "localhost/a@sha256:ab", "localhost/a"),
        ];
        for (image, name, bare) in cases {
            assert_eq!((full_name(image).as_str(), repository(&full_name(image))), (name, bare));
        }
        assert_eq!(image_id(&full_name("localhost/a:1@sha256:ab")), "localhost/a@sha256:ab");
        let id = image_id(&full_name("pause"));
        let digest = id.strip_prefix("docker.io/library/pause@sha256:").unwrap();
        assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        assert_ne!(image_id("a:1"), image_id("a:2"));
    }
}
