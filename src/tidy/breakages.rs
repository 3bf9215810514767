//! Whether each breakage of ci/breakages still says what stands in the sources.
//!
//! Pure. Inputs: the files of the tree. Output: the breakages whose text does not stand once in its file, however it is
//! broken into lines.

const LIST: &str = "ci/breakages";

/// Finds the breakages that cannot be put into the sources.
pub(super) fn breakages(files: &[(&str, &str)]) -> Vec<String> {
    let text_of = |wanted: &str| files.iter().find(|(path, _)| *path == wanted).map(|(_, text)| *text);
    let list = text_of(LIST).unwrap_or_default();
    let plain: String = list.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect();
    let mut problems = Vec::new();
    for entry in plain.split("\n\n") {
        let mut lines = entry.lines().filter(|line| !line.is_empty());
        let (Some(head), Some(file)) = (lines.next(), lines.next()) else { continue };
        let text = packed(lines.filter_map(|line| line.strip_prefix('-')).flat_map(str::chars));
        let source = text_of(&format!("core/src/{file}")).unwrap_or_default();
        let times = packed(source.chars()).matches(text.as_str()).count();
        if times != 1 {
            problems.push(format!("{LIST}: {head}: core/src/{file} has its text {times} times, not once"));
        }
    }
    problems
}

/// Returns a text without white space and without the marks of the part that a breakage replaces.
fn packed(text: impl Iterator<Item = char>) -> String {
    text.filter(|own| !own.is_whitespace() && !matches!(own, '«' | '»')).collect()
}
