//! Annotations of GitHub Actions: `::error file=…,line=…,title=…::message` puts a message beside a line of a pull
//! request.
//!
//! Form and escapes: "Workflow commands for GitHub Actions" (docs.github.com) and `escapeData`, `escapeProperty` of
//! actions/toolkit, packages/core/src/command.ts. GitHub shows the first ten of a step.

use std::path::Path;

use nodeproof_core::scenario::Position;

use super::JudgedScenario;
use crate::load::Problem;

/// Returns the annotation of a problem of a file.
pub(super) fn of_problem(problem: &Problem) -> String {
    let mut message = problem.message.clone();
    problem.help.iter().for_each(|help| message += &format!("\nhelp: {help}"));
    command(&problem.file, problem.line, problem.column, "a problem in the text", &message)
}

/// Returns the annotations of a verdict: one for each line that did not hold.
pub(super) fn of_verdict(entry: &JudgedScenario<'_>) -> Vec<String> {
    let Some(failure) = &entry.judged.failure else { return Vec::new() };
    let at = |step: &Position, message: String| {
        let (line, column) = (step.line as usize, step.column as usize);
        command(&step.file, line, column, entry.name, &message)
    };
    let mut message = format!("expected  {}\nobserved  {}", failure.expected, failure.observed);
    failure.why.iter().for_each(|why| message += &format!("\nwhy       {why}"));
    if !failure.replay.is_empty() {
        message += &format!("\nreplay    {}", failure.replay);
    }
    let also = failure.also.iter();
    let also = also.map(|it| at(&it.step, format!("expected  {}\nobserved  {}", it.expected, it.observed)));
    std::iter::once(at(&failure.step, message)).chain(also).collect()
}

fn command(file: &str, line: usize, column: usize, title: &str, message: &str) -> String {
    let mut properties = vec![format!("file={}", property(&in_repository(file)))];
    if line > 0 {
        properties.push(format!("line={line}"));
    }
    if column > 0 {
        properties.push(format!("col={column}"));
    }
    properties.push(format!("title={}", property(title)));
    format!("::error {}::{}", properties.join(","), data(message))
}

/// Returns a path as seen from the root of the repository, where GITHUB_WORKSPACE says what that is.
fn in_repository(file: &str) -> String {
    let root = std::env::var("GITHUB_WORKSPACE").ok().filter(|root| !root.is_empty());
    let inside = root.and_then(|root| {
        let absolute = std::path::absolute(Path::new(file)).ok()?;
        Some(absolute.strip_prefix(root).ok()?.to_string_lossy().into_owned())
    });
    inside.unwrap_or_else(|| file.to_owned())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        let problem = Problem {
            file: "features/a,b/50%:1.feature".into(),
            line: 4,
            column: 5,
            message: "100 %, and\r\nmore: x".into(),
            ..Problem::default()
        };
        assert_eq!(
            of_problem(&problem),
            "::error file=features/a%2Cb/50%25%3A1.feature,line=4,col=5,title=a problem in the text::100 %25, \
                and%0D%0Amore: x"
        );
        let whole = Problem::of_file("x.feature", "no").help("yes");
        assert_eq!(of_problem(&whole), "::error file=x.feature,title=a problem in the text::no%0Ahelp: yes");
    }
}
