//! Holds discovery against what a real `kubectl api-resources` listed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use flate2::read::GzDecoder;
use nodeproof_core::json;
use nodeproof_core::objects::Json;

use super::{Session, call, session};

/// Returns a line as kubectl prints it for each kind of a list of resources, words apart by one space.
fn lines(list: &Json, is_wide: bool) -> Vec<String> {
    let words = |kind: &Json, field: &str| {
        let mut words: Vec<String> =
            kind.get(field).items().iter().map(|word| word.as_str().unwrap().to_string()).collect();
        if field == "verbs" {
            words.sort();
        }
        words.join(",")
    };
    let reads = |kind: &&Json| ["list", "get"].iter().all(|verb| kind.get("verbs").to_string().contains(verb));
    let kinds = list.get("resources").items().iter().filter(|kind| !kind.get("name").to_string().contains('/'));
    let kinds = kinds.filter(|kind| !is_wide || reads(kind));
    let line = |kind: &Json| {
        let text = |field: &str| kind.get(field).as_str().unwrap().to_string();
        let version = list.get("groupVersion").as_str().unwrap().to_string();
        let is_namespaced = kind.get("namespaced").as_bool().unwrap().to_string();
        let mut parts = vec![text("name"), words(kind, "shortNames"), version, is_namespaced, text("kind")];
        if is_wide {
            parts.extend([words(kind, "verbs"), words(kind, "categories")]);
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    };
    kinds.map(line).collect()
}

fn all_lines(session: &mut Session, is_wide: bool) -> BTreeSet<String> {
    let mut get = |path: String| call(session, &format!("GET {path}"), Json::Null).get("body").clone();
    let groups = get("/apis".into());
    let preferred = groups.get("groups").items().iter();
    let preferred =
        preferred.map(|group| group.at(&["preferredVersion", "groupVersion"]).as_str().unwrap().to_string());
    let paths: Vec<String> = preferred.map(|version| format!("/apis/{version}")).chain(["/api/v1".into()]).collect();
    paths.into_iter().flat_map(|path| lines(&get(path), is_wide)).collect()
}

#[test]
fn each_release_lists_the_resources_that_a_real_kubectl_listed() {
    for release in ["1.31.0", "1.34.4", "1.36.3"] {
        let path = format!("fixtures/recorded/kubectl-{release}/api-resources.jsonl.gz");
        let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let mut session = session();
        assert_eq!(call(&mut session, "POST reset", json!({"k8s": release})).get("code").as_i64(), Some(200));
        let mut count = 0;
        for line in BufReader::new(GzDecoder::new(file)).lines() {
            let case = Json::parse(&line.unwrap()).unwrap();
            let is_wide = case.get("name").as_str().unwrap().ends_with("wide");
            let printed = case.get("stdout").as_str().unwrap().lines().skip(1);
            let real: BTreeSet<String> =
                printed.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
            let own = all_lines(&mut session, is_wide);
            assert_eq!(own, real, "{release}: {}", case.get("name"));
            count += 1;
        }
        assert_eq!(count, 2);
    }
}

#[test]
fn what_is_listed_is_served() {
    for release in ["1.31.0", "1.34.4", "1.36.3"] {
        let mut session = session();
        call(&mut session, "POST reset", json!({"k8s": release}));
        for line in all_lines(&mut session, false) {
            let parts: Vec<&str> = line.split(' ').collect();
            let version = parts[parts.len() - 3];
            let root = if version.contains('/') { "apis" } else { "api" };
            let is_review = parts[0].ends_with("reviews");
            let path = format!("GET /{root}/{version}/{}", parts[0]);
            let code = call(&mut session, &path, Json::Null).get("code").as_i64().unwrap();
            // What is created in a namespace and never read has no path across namespaces.
            let expected = match parts[0] {
                "bindings" | "localsubjectaccessreviews" => 404,
                _ if is_review => 405,
                _ => 200,
            };
            assert_eq!(code, expected, "{release}: {path}");
        }
    }
}
