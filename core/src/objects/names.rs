//! The syntax of names, label keys and label values, and the API server's messages about violations. Pure.
//!
//! Mirrors k8s.io/apimachinery pkg/util/validation/validation.go (v1.34; v1.36 for the later wording).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
    '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const SEARCH_DOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', \
    '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation \
    is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
    alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
    validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
    'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const QUALIFIED: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
    '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
    used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// How a release words its messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wording {
    /// `characters`, `a qualified name` (to 1.34).
    #[default]
    Characters,
    /// `bytes`, `a valid label key`, for labels and what is checked as they are (from 1.35).
    Bytes,
    /// As [`Self::Bytes`]; handwritten checks say what rules declared with the types say (from 1.37).
    Declared,
}

impl Wording {
    /// Tells whether of a name that is missing nothing more is said.
    #[must_use]
    pub const fn tells_missing_once(self) -> bool {
        self.is_in_bytes()
    }

    /// Tells whether checks use the words of rules that are declared with the types.
    #[must_use]
    pub const fn is_declared(self) -> bool {
        matches!(self, Self::Declared)
    }

    const fn is_in_bytes(self) -> bool {
        !matches!(self, Self::Characters)
    }

    fn too_long(self, limit: usize) -> String {
        let unit = if self.is_in_bytes() { "bytes" } else { "characters" };
        format!("must be no more than {limit} {unit}")
    }
}

fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_qualified(text: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    ends(text.bytes().next())
        && ends(text.bytes().last())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Says what is wrong with a whole number in its only accepted form: no sign but `-`, no leading zero.
///
/// Source: k8s.io/apimachinery pkg/api/validate/content/decimal_int.go (v1.36), `IsDecimalInteger`.
#[must_use]
pub fn decimal_integer(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec![String::from("must be non-empty")];
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = text == "0"
        || digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty() && !digits.starts_with('0');
    if is_canonical { Vec::new() } else { vec![String::from("must be a valid decimal integer in canonical form")] }
}

/// Says why Go's strconv does not take a number.
#[must_use]
pub fn why_no_number(text: &str) -> &'static str {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { "value out of range" } else { "invalid syntax" }
}

/// Says what is wrong with a DNS-1123 subdomain: the name of most objects. All releases word it in the same way.
/// Source: k8s.io/apimachinery pkg/util/validation/validation.go (v1.34, v1.36), `MaxLenError`.
#[must_use]
pub fn subdomain(name: &str, _wording: Wording) -> Vec<String> {
    domain(name, Wording::Characters)
}

/// Says what is wrong with a search domain, which may have underscores. Worded as subdomains are.
#[must_use]
pub fn subdomain_with_underscores(name: &str) -> Vec<String> {
    let plain: String = name.replace('_', "a");
    let mut problems = domain(&plain, Wording::Characters);
    let ends_well =
        |label: &str| !label.ends_with('_') && label.strip_prefix('_').is_none_or(|rest| !rest.starts_with(['_', '-']));
    if problems.is_empty() && !name.split('.').all(ends_well) {
        problems.push(String::new());
    }
    for problem in &mut problems {
        if problem.is_empty() || *problem == SUBDOMAIN {
            *problem = SEARCH_DOMAIN.to_string();
        }
    }
    problems
}

/// Says what keeps a name from being a part of a path. Source: k8s.io/apimachinery pkg/api/validation/path/name.go
/// (v1.34), `IsValidPathSegmentName`.
#[must_use]
pub fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return Vec::from([format!("may not be '{name}'")]);
    }
    let has = |part: &&str| name.contains(*part);
    ["/", "%"].iter().filter(|part| has(part)).map(|part| format!("may not contain '{part}'")).collect()
}

/// Says what is wrong with a subdomain, which is worded as keys of labels are where it is the prefix of one.
fn domain(name: &str, wording: Wording) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > 253 {
        problems.push(wording.too_long(253));
    }
    if !name.split('.').all(is_label) {
        problems.push(SUBDOMAIN.to_string());
    }
    problems
}

/// Says what is wrong with a DNS-1123 label: the name of a namespace or a container. Worded as subdomains are.
#[must_use]
pub fn label(name: &str, _wording: Wording) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > 63 {
        problems.push(Wording::Characters.too_long(63));
    }
    if !is_label(name) {
        let only_dots = name.contains('.') && name.split('.').all(is_label);
        problems.push(if only_dots { "must not contain dots".to_string() } else { LABEL.to_string() });
    }
    problems
}

/// Says what is wrong with a DNS-1035 label, which begins with a letter: the name of a Service.
#[must_use]
pub fn label_1035(name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if name.len() > 63 {
        problems.push(Wording::Characters.too_long(63));
    }
    if !is_label(name) || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        problems.push(LABEL_1035.to_string());
    }
    problems
}

/// Says what is wrong with a key of a ConfigMap or a Secret.
#[must_use]
pub fn config_key(key: &str) -> Vec<String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let mut problems = Vec::new();
    if key.len() > 253 {
        problems.push(Wording::Characters.too_long(253));
    }
    if key.is_empty() || !key.bytes().all(is_letter) {
        problems.push(CONFIG_KEY.to_string());
    }
    match key {
        "." | ".." => problems.push(format!("must not be '{key}'")),
        key if key.starts_with("..") => problems.push("must not start with '..'".to_string()),
        _ => {}
    }
    problems
}

/// Says what is wrong with the name of a port.
#[must_use]
pub fn port_name(name: &str) -> Vec<String> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let problems = [
        (name.len() > 15, Wording::Characters.too_long(15)),
        (
            name.is_empty() || !name.bytes().all(is_letter),
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_string(),
        ),
        (!name.bytes().any(|byte| byte.is_ascii_lowercase()), "must contain at least one letter (a-z)".to_string()),
        (name.contains("--"), "must not contain consecutive hyphens".to_string()),
        (name.starts_with('-') || name.ends_with('-'), "must not begin or end with a hyphen".to_string()),
    ];
    problems.into_iter().filter(|(holds, _)| *holds).map(|(_, problem)| problem).collect()
}

/// Says what is wrong with a label key, an annotation key or a taint key.
#[must_use]
pub fn qualified(key: &str, wording: Wording) -> Vec<String> {
    let mut problems = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                problems.push("prefix part must be non-empty".to_string());
            } else {
                problems.extend(domain(prefix, wording).into_iter().map(|problem| format!("prefix part {problem}")));
            }
            name
        }
        _ => {
            let what = if wording.is_in_bytes() { "a valid label key" } else { "a qualified name" };
            problems.push(format!(
                "{what} {QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
            return problems;
        }
    };
    if name.is_empty() {
        problems.push("name part must be non-empty".to_string());
    } else if name.len() > 63 {
        problems.push(format!("name part {}", wording.too_long(63)));
    }
    if !is_qualified(name) {
        problems.push(format!("name part {QUALIFIED}"));
    }
    problems
}

/// Says what is wrong with a label value.
#[must_use]
pub fn label_value(value: &str, wording: Wording) -> Vec<String> {
    let mut problems = Vec::new();
    if value.len() > 63 {
        problems.push(wording.too_long(63));
    }
    if !value.is_empty() && !is_qualified(value) {
        problems.push(LABEL_VALUE.to_string());
    }
    problems
}

/// Tells whether a resource is one of Kubernetes' own, by its name.
///
/// Source: pkg/apis/core/v1/helper/helpers.go (v1.34), `IsNativeResource`.
#[must_use]
pub fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Tells whether a resource of Kubernetes' own is one that a container may ask for, by its name.
///
/// Source: pkg/apis/core/helper/helpers.go (v1.34), `IsStandardContainerResourceName`.
#[must_use]
pub fn is_container_resource(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
}

/// Tells whether a resource is an extended one, by its name, and its quota has a name too.
///
/// Source: pkg/apis/core/v1/helper/helpers.go (v1.34), `IsExtendedResourceName`.
#[must_use]
pub fn is_extended_resource(name: &str) -> bool {
    !is_native_resource(name)
        && !name.starts_with("requests.")
        && qualified(&format!("requests.{name}"), Wording::Characters).is_empty()
}

/// The sysctls of the namespace of processes that talk to each other, besides those of message queues; a pattern may
/// begin with one of them. Source: k8s.io/component-helpers node/util/sysctl/namespace.go (v1.34), `nameToNamespace`.
const IPC_SYSCTLS: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// Sysctls that any Pod may set, in the order in which kubelets and levels of Pod security came to allow them.
///
/// Source: pkg/kubelet/sysctl/safe_sysctls.go and k8s.io/pod-security-admission policy/check_sysctls.go (v1.37).
pub const SAFE_SYSCTLS: [&str; 14] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
];

/// Tells whether a sysctl belongs to the namespace of processes that talk to each other.
#[must_use]
pub fn is_ipc_sysctl(name: &str) -> bool {
    IPC_SYSCTLS.contains(&name) || name.starts_with("fs.mqueue.")
}

/// Returns the name of a sysctl with dots between its parts: one whose first separator is a slash has them the other
/// way round. Source: k8s.io/component-helpers node/util/sysctl/sysctl.go (v1.34), `NormalizeName`.
#[must_use]
pub fn sysctl_with_dots(name: &str) -> String {
    if !name.find(['.', '/']).is_some_and(|at| name[at..].starts_with('/')) {
        return String::from(name);
    }
    let turned = |letter| match letter {
        '/' => '.',
        '.' => '/',
        letter => letter,
    };
    name.chars().map(turned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Wording, label, label_value, qualified, subdomain};

    #[test]
    fn good_names_have_no_problem() {
        for name in ["a", "n1", "1.2.3.4", "a-b.c"] {
            assert!(subdomain(name, Wording::Characters).is_empty(), "{name}");
        }
        for key in ["a", "A_b.c", "example.com/Name"] {
            assert!(qualified(key, Wording::Characters).is_empty(), "{key}");
        }
        assert!(label_value("", Wording::Characters).is_empty());
    }

    #[test]
    fn bad_names_are_told_in_the_words_of_their_release() {
        assert_eq!(subdomain(&"a".repeat(254), Wording::Characters), ["must be no more than 253 characters"]);
        assert_eq!(subdomain(&"a".repeat(254), Wording::Bytes), ["must be no more than 253 characters"]);
        let key = "a".repeat(254) + "/b";
        assert_eq!(qualified(&key, Wording::Bytes), ["prefix part must be no more than 253 bytes"]);
        assert_eq!(label_value(&"a".repeat(64), Wording::Bytes), ["must be no more than 63 bytes"]);
        assert_eq!(label("a.b", Wording::Characters), ["must not contain dots"]);
        assert_eq!(qualified("/a", Wording::Characters), ["prefix part must be non-empty"]);
        assert_eq!(qualified("a/", Wording::Characters).len(), 2);
        assert!(qualified("a/b/c", Wording::Characters)[0].starts_with("a qualified name must consist"));
        assert!(qualified("a/b/c", Wording::Bytes)[0].starts_with("a valid label key must consist"));
    }
}
