//! Checks that code asks a profile for a behaviour and never for a version.
//!
//! Inputs: a path and the text of a file. Output: the lines that construct a release, read its number or compare it.
//! Tests may do that, and the modules where a version enters or leaves the program.

/// Where a version enters or leaves the program, and why.
const EDGES: [(&str, &str); 6] = [
    ("core/src/profile/", "turns a version into behaviours"),
    ("core/src/components/api_server/paths.rs", "/version tells it"),
    ("core/src/scenario/run/node_invariants.rs", "the policy of version skew is about versions"),
    ("src/load/tags.rs", "@since and @until name releases"),
    ("src/live/", "real servers and programs have versions"),
    ("src/tidy/", "names what it looks for"),
];

/// Finds code that asks for a version.
pub(super) fn versions(path: &str, text: &str) -> Vec<String> {
    let is_test = ["tests/", "examples/", "fuzz/"].iter().any(|start| path.starts_with(start))
        || path.ends_with("tests.rs")
        || path.contains("/tests/");
    if is_test || EDGES.iter().any(|(edge, _)| path.starts_with(edge)) {
        return Vec::new();
    }
    let code = super::code(text).take_while(|line| line.trim() != "#[cfg(test)]");
    let wrong = code.enumerate().filter(|(_, line)| asks_for_version(line));
    wrong.map(|(at, _)| format!("{path}:{}: code asks for a behaviour, never for a version", at + 1)).collect()
}

fn asks_for_version(line: &str) -> bool {
    let is_word = |next: char| next == '_' || next.is_alphanumeric();
    let behind = |word: &'static str| line.match_indices(word).map(move |(at, _)| &line[at + word.len()..]);
    let looks_inside = behind(".minor").any(|rest| !rest.starts_with(is_word));
    let compares = behind("release").any(|rest| {
        let rest = rest.strip_prefix("()").unwrap_or(rest);
        [" < ", " <= ", " > ", " >= "].iter().any(|sign| rest.starts_with(sign))
    });
    line.contains("Release::new(") || looks_inside || compares
}

#[test]
fn each_way_to_ask_for_a_version_is_found() {
    for text in [
        "if view.release < Release::new(35, 0) {",
        "if settings.profile().release() >= other {",
        "let is_new = release.minor > 33;",
        "let known = Release::new(34, 4);",
    ] {
        assert_eq!(versions("core/src/components/api_server/content_negotiation/cells.rs", text).len(), 1, "{text}");
        assert!(versions("src/live/assets.rs", text).is_empty() && versions("core/src/sim/tests.rs", text).is_empty());
        assert!(versions("src/steps/cluster.rs", &format!("#[cfg(test)]\nmod tests {{\n{text}\n")).is_empty());
    }
    for text in [
        "let release = self.settings.profile().release();",
        "release.minor_name()",
        "fn at_release(&self, release: Release) -> Self {",
        "let x: Option<Release> = None;",
        "let text = \"release < 1.34\"; // release.minor",
        "let is_default = release == DEFAULT_RELEASE;",
    ] {
        assert_eq!(versions("src/steps/cluster.rs", text), Vec::<String>::new(), "{text}");
    }
}
