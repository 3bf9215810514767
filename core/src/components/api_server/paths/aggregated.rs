//! Discovery in one document: all groups with their versions and resources, and the hash by which clients know it.
//!
//! Mirrors k8s.io/apiserver pkg/endpoints/discovery/aggregated/{handler,etag,negotiation,wrapper}.go (v1.34). Inputs:
//! the resources of each version, in the form of single lists. Outputs: the document, or that the client has it
//! already. The hash is that of the JSON as Go prints it, without kind and version, so that it is the real server's as
//! far as the resources are.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::resource_list;
use crate::network::kinds::Kinds;
use crate::network::{Answer, Call, Content};
use crate::objects::{Json, Text, WrittenJson, digest};
use crate::profile::Profile;

const KIND: &str = "APIGroupDiscoveryList";
const GROUP: &str = "apidiscovery.k8s.io";

/// Returns the document of these groups.
pub(super) fn answer(
    call: &Call,
    version: &str,
    groups: Vec<(&'static str, Vec<&'static str>)>,
    served: (&Profile, &Kinds),
) -> Answer {
    let items = groups.iter().map(|(name, versions)| group(name, versions, served)).collect();
    let body = Vec::from([("metadata", WrittenJson::Fields(Vec::new())), ("items", WrittenJson::List(items))]);
    let hash = format!("\"{}\"", digest::sha512_upper_hex(fields(body.clone()).to_string().as_bytes()));
    let is_known = call.header_value("if-none-match").is_some_and(|known| **known == *hash);
    let mut headers = Vec::from([
        (Text::of("Cache-Control"), Text::of("public")),
        (Text::of("Etag"), Text::from(hash)),
        (Text::of("Vary"), Text::of("Accept")),
    ]);
    if is_known {
        return Answer { code: 304, headers, content: Content::Text(Text::of("")) };
    }
    let media = format!("application/json;g={GROUP};v={version};as={KIND}");
    headers.push((Text::of("Content-Type"), Text::from(media)));
    let head = [("kind", text(KIND)), ("apiVersion", text(&format!("{GROUP}/{version}")))];
    let document = fields(head.into_iter().chain(body).collect());
    let content = Content::Json(Json::parse(&document.to_string()).unwrap_or_default());
    Answer { code: 200, headers, content }
}

fn text(text: &str) -> WrittenJson {
    WrittenJson::Str(text.to_string())
}

fn fields(fields: Vec<(&str, WrittenJson)>) -> WrittenJson {
    WrittenJson::Fields(fields.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
}

fn group(name: &str, versions: &[&str], (profile, kinds): (&Profile, &Kinds)) -> WrittenJson {
    let mut metadata = Vec::new();
    if !name.is_empty() {
        metadata.push(("name", text(name)));
    }
    if profile.is("prints-null-creation-timestamp") {
        metadata.push(("creationTimestamp", WrittenJson::Null));
    }
    let shown = versions.iter().map(|version| {
        let list = resource_list((name, version), profile, kinds);
        let mut shown = Vec::from([("version", text(version))]);
        let resources = resources(list.get("resources").items());
        if !resources.is_empty() {
            shown.push(("resources", WrittenJson::List(resources)));
        }
        shown.push(("freshness", text("Current")));
        fields(shown)
    });
    fields(Vec::from([("metadata", fields(metadata)), ("versions", WrittenJson::List(shown.collect()))]))
}

/// Turns the entries of a list into resources that hold their subresources.
fn resources(entries: &[Json]) -> Vec<WrittenJson> {
    let name = |entry: &Json| String::from(entry.get("name").as_str().unwrap_or(""));
    let is_below = |entry: &Json, parent: &str| name(entry).split_once('/').is_some_and(|(own, _)| own == parent);
    let roots = entries.iter().filter(|entry| !name(entry).contains('/'));
    let shown = roots.map(|entry| {
        let own = name(entry);
        let scope = if entry.get("namespaced").as_bool() == Some(true) { "Namespaced" } else { "Cluster" };
        let mut shown = Vec::from([
            ("resource", text(&own)),
            ("responseKind", response_kind(entry)),
            ("scope", text(scope)),
            ("singularResource", WrittenJson::from(entry.get("singularName"))),
            ("verbs", WrittenJson::from(entry.get("verbs"))),
        ]);
        for field in ["shortNames", "categories"] {
            if !entry.get(field).is_null() {
                shown.push((field, WrittenJson::from(entry.get(field))));
            }
        }
        let subresources: Vec<WrittenJson> = entries
            .iter()
            .filter(|entry| is_below(entry, &own))
            .map(|entry| {
                let below = name(entry);
                let below = below.split_once('/').map_or("", |(_, below)| below);
                fields(Vec::from([
                    ("subresource", text(below)),
                    ("responseKind", response_kind(entry)),
                    ("verbs", WrittenJson::from(entry.get("verbs"))),
                ]))
            })
            .collect();
        if !subresources.is_empty() {
            shown.push(("subresources", WrittenJson::List(subresources)));
        }
        fields(shown)
    });
    shown.collect()
}

/// Group and version are told only where they are not those of the list.
fn response_kind(entry: &Json) -> WrittenJson {
    let told = |field: &str| text(entry.get(field).as_str().unwrap_or(""));
    fields(Vec::from([("group", told("group")), ("version", told("version")), ("kind", told("kind"))]))
}

#[cfg(test)]
mod tests {
    use super::super::super::ApiServer;
    use crate::chance::Chance;
    use crate::components::controller::Context;
    use crate::network::{Answer, Call};
    use crate::profile::Settings;

    const BOTH: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                        application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

    fn get(path: &str, headers: &[(&str, &str)]) -> Answer {
        let context = Context { settings: Settings::default().into(), chance: Chance::new(1) };
        let server = ApiServer::new(context, "2026-01-01T00:00:00Z".parse().unwrap());
        let call = Call::from_http("GET", path, headers, "").unwrap();
        server.path(&call, path).unwrap_or_else(|refusal| refusal)
    }

    #[test]
    fn a_client_that_has_the_document_gets_it_once() {
        for (path, first) in [("/api", ""), ("/apis", "apiregistration.k8s.io")] {
            let answer = get(path, &[("Accept", BOTH)]);
            let body = answer.body();
            assert_eq!(body.get("apiVersion").as_str(), Some("apidiscovery.k8s.io/v2"));
            assert_eq!(body.get("items").items()[0].at(&["metadata", "name"]).as_str().unwrap_or(""), first);
            let (_, hash) = answer.headers.iter().find(|(name, _)| *name == "Etag").unwrap();
            assert_eq!(get(path, &[("Accept", BOTH), ("If-None-Match", hash)]).code, 304);
            assert_eq!(get(path, &[("Accept", BOTH), ("If-None-Match", "\"A\"")]).code, 200);
        }
    }

    #[test]
    fn another_form_that_comes_first_is_served() {
        let versions = |accept: &str| get("/api", &[("Accept", accept)]).body().get("kind").as_str().map(str::len);
        assert_eq!(
            versions("application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
            Some("APIVersions".len())
        );
        assert_eq!(
            versions("application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,*/*"),
            Some("APIVersions".len())
        );
        let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
        assert_eq!(get("/api", &[("Accept", beta)]).code, 406);
    }
}
