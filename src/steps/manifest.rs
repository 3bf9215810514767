//! Reads the objects and requests of scenarios: YAML in doc strings and fixtures, paths of the API.
//!
//! Inputs: texts. Outputs: objects with their resource and namespace, requests, or the line that is wrong. Pure, except
//! that [`fixture`] reads a file.

use std::path::{Component, Path};

use nodeproof_core::network::http::WHOLE_PATH;
use nodeproof_core::network::{Call, HttpCall, Resource, Target, Verb};
use nodeproof_core::objects::{Json, Text};
use serde::Deserialize as _;

use super::functions::Fixtures;
use crate::load::yaml_error::without_places;

/// Kinds without a namespace.
///
/// Source: discovery of kube-apiserver v1.34.
const CLUSTER_SCOPED: [&str; 16] = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PriorityClass",
    "RuntimeClass",
    "StorageClass",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
];

/// An object with its place in the API.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    pub(super) resource: Resource,
    pub(super) kind: String,
    pub(super) namespace: Text,
    pub(super) name: Text,
    pub(super) body: Json,
}

/// A line of a text and what is wrong with it.
pub(crate) type WrongAt = (usize, String);

/// Reads the objects of a YAML text, separated by `---`.
pub(crate) fn manifests(text: &str) -> Result<Vec<Manifest>, WrongAt> {
    let mut found = Vec::new();
    for document in serde_yaml::Deserializer::from_str(text) {
        let body = yaml(text, serde_yaml::Value::deserialize(document))?;
        if !body.is_null() {
            found.push(manifest(body).map_err(|message| (1, message))?);
        }
    }
    if found.is_empty() {
        return Err((1, "there is no object in it".to_owned()));
    }
    Ok(found)
}

/// Reads the values of a YAML text, separated by `---`, each with the line where it begins.
///
/// # Errors
/// The text is no YAML; the line, and why.
#[cfg(feature = "cli")]
pub(crate) fn documents(text: &str) -> Result<Vec<(usize, Json)>, WrongAt> {
    let starts = std::iter::once(1).chain(
        text.lines()
            .enumerate()
            .filter(|(_, line)| line.trim_end() == "---" || line.starts_with("--- "))
            .map(|(at, _)| at + 2),
    );
    let mut found = Vec::new();
    // A separator in the first line begins the first document.
    let mut starts: Vec<usize> = starts.collect();
    if text.trim_start().starts_with("---") {
        starts.remove(0);
    }
    for (document, line) in serde_yaml::Deserializer::from_str(text).zip(starts.into_iter().chain(std::iter::repeat(1)))
    {
        let body = yaml(text, serde_yaml::Value::deserialize(document))?;
        if !body.is_null() {
            found.push((line, body));
        }
    }
    if found.is_empty() { Err((1, "there is no object in it".to_owned())) } else { Ok(found) }
}

/// Reads one value of YAML or JSON.
pub(super) fn body(text: &str) -> Result<Json, WrongAt> {
    yaml(text, serde_yaml::from_str(text))
}

/// Returns the line of a key that is there twice: the parser tells that of the mapping's first key.
fn repeated_key(text: &str, line: usize, why: &str) -> Option<usize> {
    let key = why.split_once("duplicate entry with key \"")?.1.strip_suffix('"')?;
    let mapping = || text.lines().enumerate().skip(line.saturating_sub(1));
    let indent = |line: &str| line.chars().take_while(|c| matches!(c, ' ' | '-')).count();
    let first = indent(mapping().next()?.1);
    let is_it = |line: &str| {
        let rest = line.trim_start_matches([' ', '-']).trim_start_matches(['"', '\'']).strip_prefix(key);
        indent(line) == first && rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).starts_with(':'))
    };
    mapping().filter(|(_, line)| is_it(line)).nth(1).map(|(at, _)| at + 1)
}

/// Converts a YAML value to JSON. Merge keys are resolved; the parser has refused duplicate keys.
fn yaml(text: &str, value: Result<serde_yaml::Value, serde_yaml::Error>) -> Result<Json, WrongAt> {
    let at = |error: serde_yaml::Error| {
        let line = error.location().map_or(1, |place| place.line());
        let why = without_places(&error);
        (repeated_key(text, line, &why).unwrap_or(line), format!("this is no YAML: {why}"))
    };
    let mut value = value.map_err(at)?;
    value.apply_merge().map_err(at)?;
    let text = serde_json::to_string(&value).map_err(|error| (1, format!("this has no form in JSON: {error}")))?;
    Json::parse(&text).map_err(|error| (1, format!("this has no form in JSON: {error}")))
}

fn manifest(body: Json) -> Result<Manifest, String> {
    let field = |path: &[&str]| body.at(path).as_str().map(str::to_owned).filter(|text| !text.is_empty());
    let kind = field(&["kind"]).ok_or("the object has no kind")?;
    let api_version = field(&["apiVersion"]).ok_or("the object has no apiVersion")?;
    let name = field(&["metadata", "name"]).ok_or("the object has no metadata.name")?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let namespace = if CLUSTER_SCOPED.contains(&kind.as_str()) {
        String::new()
    } else {
        field(&["metadata", "namespace"]).unwrap_or_else(|| "default".to_owned())
    };
    let resource =
        Resource { group: Text::from(group), version: Text::from(version), plural: Text::from(plural(&kind)) };
    Ok(Manifest { resource, kind, namespace: Text::from(namespace), name: Text::from(name), body })
}

/// Returns the plural as Kubernetes forms it.
///
/// Source: apimachinery pkg/api/meta/restmapper.go (v1.34), `UnsafeGuessKindToResource`.
fn plural(kind: &str) -> String {
    let singular = kind.to_lowercase();
    if singular.ends_with('s') || singular.ends_with("ch") || singular.ends_with('x') {
        format!("{singular}es")
    } else if let Some(stem) = singular.strip_suffix('y') {
        format!("{stem}ies")
    } else {
        format!("{singular}s")
    }
}

/// Reads a call to another server than the API server: a method and a URL.
///
/// # Errors
/// The URL is none.
pub(crate) fn call(method: &str, url: &str) -> Result<HttpCall, String> {
    let wrong = || format!("{url:?} is no URL, as https://worker-1:10250/pods");
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    if !["https", "http"].contains(&scheme) {
        return Err(wrong());
    }
    let (address, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    // The colons of an IPv6 address stand in brackets.
    let (host, port) = match address.strip_prefix('[').map(|rest| rest.split_once(']').ok_or_else(wrong)) {
        Some(parts) => parts?,
        None => address.split_at(address.find(':').unwrap_or(address.len())),
    };
    let port = match port.strip_prefix(':') {
        Some(port) => Some(port.parse::<u16>().map_err(|_| wrong())?),
        None if port.is_empty() => None,
        None => return Err(wrong()),
    };
    if host.is_empty() {
        return Err(wrong());
    }
    let (upgrades, method) = if method == "CONNECT" { (true, "GET") } else { (false, method) };
    let path = if path.is_empty() { "/" } else { path };
    Ok(HttpCall { upgrades, ..HttpCall::new((scheme, host, port), method, path) })
}

/// The methods of requests.
pub(super) const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Reads a request, as in `PATCH /api/v1/nodes/worker-1/status`.
pub(crate) fn request(method: &str, target: &str) -> Result<Call, String> {
    if !METHODS.contains(&method) {
        return Err(format!("there is no method {method:?}: it is GET to read, POST, PUT, PATCH or DELETE to write"));
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    // What follows `proxy` is somebody else's path.
    let own = parts.iter().take_while(|part| **part != "proxy");
    if !path.starts_with('/') || own.clone().any(|part| part.is_empty()) {
        return Err(format!("{target:?} is no path of the API, as in /api/v1/nodes/worker-1"));
    }
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
        _ if method == "GET" => {
            let target = Target::Path(Text::from(decoded(path)?));
            return with_query(Call { target, ..Call::new(Verb::Get, Resource::of("", "", ""), "", "") }, query);
        }
        _ => return Err(format!("{path:?} names no resource, as /api/v1/nodes does")),
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if rest.len() > 1 || !matches!(rest, [] | ["status" | "finalize"]) => {
            (*namespace, rest)
        }
        rest => ("", rest),
    };
    let [plural, rest @ ..] = rest else { return Err(format!("{path:?} names no resource")) };
    let (name, subresource) = match rest {
        [] => ("", ""),
        [name] => (*name, ""),
        [name, subresource] => (*name, *subresource),
        [name, "proxy", ..] => (*name, "proxy"),
        _ => return Err(format!("{path:?} has more parts than a path of the API")),
    };
    let verb = match method {
        "GET" if name.is_empty() => Verb::List,
        "GET" => Verb::Get,
        "POST" => Verb::Create,
        "PUT" => Verb::Update,
        "PATCH" => Verb::Patch,
        "DELETE" if name.is_empty() => Verb::DeleteCollection,
        _ => Verb::Delete,
    };
    let resource = Resource { group: Text::from(group), version: Text::from(version), plural: Text::from(*plural) };
    let mut call = Call::new(verb, resource, decoded(namespace)?, decoded(name)?);
    if let Target::Resource { subresource: place, .. } = &mut call.target {
        *place = Text::from(subresource);
    }
    if subresource == "proxy" {
        call = call.header(WHOLE_PATH, Text::from(target));
    }
    with_query(call, query)
}

/// Adds the parameters of a query, where a `+` is a blank.
fn with_query(call: Call, query: &str) -> Result<Call, String> {
    query.split('&').filter(|pair| !pair.is_empty()).try_fold(call, |call, pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok(call.query(decoded(name)?, decoded(&value.replace('+', " "))?))
    })
}

/// Decodes the escapes of a part of an address: `%3D` is `=`.
fn decoded(text: &str) -> Result<String, String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(|| format!("{text:?}: behind % stand two hexadecimal digits, as in %3D"))?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| format!("{text:?} is no UTF-8 when its escapes are decoded"))
}

/// Reads a file of the fixtures; a path that leads outside is refused.
pub(super) fn fixture(fixtures: &Fixtures, name: &str) -> Result<String, String> {
    const BYTES_MAX: u64 = 1 << 20;
    let path = Path::new(name);
    if name.is_empty() || !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{name:?} is no file below fixtures/"));
    }
    let directory = match fixtures {
        Fixtures::Directory(directory) => directory,
        Fixtures::BuiltIn(read) => return read(name).ok_or_else(|| format!("the program has no file {name:?}")),
    };
    let path = directory.join(path);
    let missing = |error: std::io::Error| match nearest_file(&path) {
        Some(near) => format!("{}: {error}; did you mean {near:?}?", path.display()),
        None => format!("{}: {error}; --fixtures says where such files are", path.display()),
    };
    let size = std::fs::metadata(&path).map_err(missing)?.len();
    if size > BYTES_MAX {
        return Err(format!("{} has {size} bytes, more than the {BYTES_MAX} that are read", path.display()));
    }
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the name of the file beside a path that is most like it.
fn nearest_file(path: &Path) -> Option<String> {
    let beside = std::fs::read_dir(path.parent()?).ok()?;
    let mut names: Vec<String> =
        beside.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    let name = path.file_name()?.to_string_lossy();
    crate::load::near::nearest(&name, names.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_find_their_place_in_the_api() {
        let text = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: networking.k8s.io/v1\nkind: \
            NetworkPolicy\nmetadata: {name: b}\n";
        let found = manifests(text).unwrap();
        assert_eq!((found[0].resource.path(&found[0].namespace)), "/api/v1/nodes");
        assert_eq!(
            found[1].resource.path(&found[1].namespace),
            "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies"
        );
    }

    #[test]
    fn a_url_is_parted_into_host_port_and_path() {
        for (url, host, port, path) in [
            ("https://worker-1:10250/pods", "worker-1", Some(10250), "/pods"),
            ("https://worker-1", "worker-1", None, "/"),
            ("https://[::1]/x", "::1", None, "/x"),
            ("http://[fd00::1:2]:8080/a:b", "fd00::1:2", Some(8080), "/a:b"),
        ] {
            let (scheme, _) = url.split_once(':').unwrap();
            let expected = HttpCall::new((scheme, host, port), "GET", path);
            assert_eq!(call("GET", url), Ok(expected), "{url}");
        }
        for url in
            ["worker-1", "ftp://a/b", "https://", "https://:1/", "https://a:b/", "https://[::1/x", "https://[]/x"]
                .into_iter()
                .chain(["https://[::1]1/x", "https://a:1:2/"])
        {
            assert!(call("GET", url).is_err(), "{url}");
        }
    }

    #[test]
    fn yaml_that_is_wrong_is_refused_with_its_line() {
        for (text, line, words) in [
            ("a: 1\nb: [", 2, "no YAML"),
            ("a: 1\na: 2\n", 1, "duplicate"),
            ("kind: Node", 1, "apiVersion"),
            ("", 1, "no object"),
            ("{{{{", 1, "no YAML"),
        ] {
            let (at, message) = manifests(text).unwrap_err();
            assert!(message.contains(words) && at >= line, "{text}: {at} {message}");
        }
        assert!(manifests(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn requests_are_paths_of_the_api() {
        for (method, path, shown) in [
            ("GET", "/api/v1/nodes?limit=5", "LIST nodes?limit=5"),
            ("PATCH", "/api/v1/nodes/w/status", "PATCH nodes/w/status"),
            ("POST", "/api/v1/namespaces/default/pods", "POST pods/default"),
            ("PUT", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w", "PUT leases/kube-node-lease/w"),
            ("GET", "/api/v1/namespaces/default", "GET namespaces/default"),
            ("GET", "/version", "GET /version"),
            ("GET", "/api/v1/nodes?labelSelector=a%3Db%2Cc%21%3Dd", "LIST nodes?labelSelector=a=b,c!=d"),
            ("GET", "/api/v1/nodes?labelSelector=a+in+%28b,c)", "LIST nodes?labelSelector=a in (b,c)"),
            ("GET", "/api/v1/nodes?labelSelector=a=b=c", "LIST nodes?labelSelector=a=b=c"),
            ("GET", "/api/v1/nodes/a%2Bb+c", "GET nodes/a+b+c"),
        ] {
            assert_eq!(request(method, path).unwrap().to_string(), shown);
        }
        for (method, path) in [
            ("GET", "nodes"),
            ("FETCH", "/api/v1/nodes"),
            ("POST", "/api"),
            ("GET", "/api/v1//x"),
            ("GET", "/api/v1/nodes?a=%3"),
            ("GET", "/api/v1/nodes?a=%zz"),
            ("GET", "/api/v1/nodes?a=%ff"),
        ] {
            assert!(request(method, path).is_err(), "{method} {path}");
        }
    }

    #[test]
    fn fixtures_stay_below_their_directory() {
        for name in ["../Cargo.toml", "/etc/passwd", "no/such.yaml"] {
            assert!(fixture(&Fixtures::Directory("fixtures".into()), name).is_err(), "{name}");
        }
    }
}
