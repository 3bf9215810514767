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

/// The most characters of a repository's name, and of a tag.
/// Source: github.com/distribution/reference reference.go and regexp.go (v0.6), `RepositoryNameTotalLengthMax`, `tag`.
const REPOSITORY_LENGTH_MAX: usize = 255;
const TAG_LENGTH_MAX: usize = 128;
/// The fewest digits of a digest. Source: as above, `digestPat`.
const DIGEST_LENGTH_MIN: usize = 32;

/// Returns what is wrong with the name of an image that cannot be read.
///
/// Source: github.com/distribution/reference normalize.go, reference.go and regexp.go (v0.6), `ParseNormalizedNamed`.
pub(super) fn name_error(image: &str) -> Option<String> {
    const FORMAT: &str = "invalid reference format";
    if image.len() == 64 && image.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return Some(format!("invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"));
    }
    let (first, rest) = image.split_once('/').unwrap_or(("", image));
    let is_domain = first == "localhost" || first.contains(['.', ':']) || first.chars().any(char::is_uppercase);
    let (domain, path) = match is_domain && first != "index.docker.io" {
        true => (first, String::from(rest)),
        false if first == "index.docker.io" => ("docker.io", String::from(rest)),
        false => ("docker.io", String::from(image)),
    };
    let path = if domain == "docker.io" && !path.contains('/') { format!("library/{path}") } else { path };
    let remote = path.split(':').next().unwrap_or_default();
    if remote.chars().any(char::is_uppercase) {
        return Some(format!("{FORMAT}: repository name ({remote}) must be lowercase"));
    }
    let (named, digest) = path.split_once('@').map_or((path.as_str(), None), |(name, own)| (name, Some(own)));
    let (name, tag) = named.split_once(':').map_or((named, None), |(name, own)| (name, Some(own)));
    let is_read = is_domain_name(domain)
        && name.split('/').all(is_component)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    if !is_read {
        return Some(String::from(FORMAT));
    }
    let is_long = domain.len() + 1 + name.len() > REPOSITORY_LENGTH_MAX;
    is_long.then(|| format!("repository name must not be more than {REPOSITORY_LENGTH_MAX} characters"))
}

fn is_domain_name(domain: &str) -> bool {
    let (host, port) = domain.rsplit_once(':').filter(|_| !domain.ends_with(']')).unwrap_or((domain, "0"));
    let is_label = |label: &str| {
        let is_inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_address = |host: &str| host.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b':');
    let is_host = inner.map_or_else(|| host.split('.').all(is_label), |own| !own.is_empty() && is_address(own));
    is_host && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Tells whether a part of a path is lowercase letters and digits, with a dot, one or two underscores or dashes
/// between.
fn is_component(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let between = part.split(|letter: char| letter.is_ascii() && is_plain(letter as u8));
    let is_separator = |own: &str| matches!(own, "" | "." | "_" | "__") || own.bytes().all(|byte| byte == b'-');
    let bytes = part.as_bytes();
    bytes.first().is_some_and(|byte| is_plain(*byte))
        && bytes.last().is_some_and(|byte| is_plain(*byte))
        && between.into_iter().all(is_separator)
}

fn is_tag(tag: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    tag.len() <= TAG_LENGTH_MAX
        && tag.bytes().next().is_some_and(is_word)
        && tag.bytes().all(|byte| is_word(byte) || byte == b'.' || byte == b'-')
}

fn is_digest(digest: &str) -> bool {
    let Some((algorithm, digits)) = digest.split_once(':') else { return false };
    let is_part = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_part)
        && digits.len() >= DIGEST_LENGTH_MIN
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
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
    use super::{full_name, image_id, name_error, repository};

    #[test]
    fn a_name_that_cannot_be_read_is_refused() {
        const FORMAT: &str = "invalid reference format";
        for (image, error) in [
            ("pause", ""),
            ("a/b-c__d.e:V1_x.y", ""),
            ("localhost:5000/a", ""),
            ("[::1]:5000/a", ""),
            ("a@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", ""),
            ("Name", "invalid reference format: repository name (library/Name) must be lowercase"),
            ("BAD/Name:x", "invalid reference format: repository name (Name) must be lowercase"),
            ("a:", FORMAT),
            ("a b", FORMAT),
            ("a/", FORMAT),
            ("a___b", FORMAT),
            ("-a", FORMAT),
            ("a:b:c", FORMAT),
            ("a@sha256:12", FORMAT),
        ] {
            assert_eq!(name_error(image).unwrap_or_default(), error, "{image}");
        }
        assert!(name_error(&"ab".repeat(32)).unwrap().ends_with("cannot specify 64-byte hexadecimal strings"));
        assert!(name_error(&"ab/".repeat(99)[..296]).unwrap().starts_with("repository name must not be more than"));
    }

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
