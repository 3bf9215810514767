//! A problem of a feature file: where it is, what is wrong, and what to do about it.

use std::fmt;

use serde::Serialize;

/// A problem of a feature file.
///
/// `Display` gives `file:line:column: message` with the line and a caret below the place.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file's path.
    pub file: String,
    /// The line, from 1; 0 if the file as a whole is meant.
    pub line: usize,
    /// The column, from 1, in characters; 0 if the file as a whole is meant.
    pub column: usize,
    /// How many characters are meant, at least 1.
    #[serde(skip)]
    pub width: usize,
    /// What is wrong, without a full stop.
    pub message: String,
    /// The values of the row, if an outline's row is meant: `type=Ready, status=False`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
    /// What to do about it, most likely first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
    /// The line as it stands in the file.
    #[serde(skip)]
    pub excerpt: String,
}

impl Problem {
    /// Makes a problem of a file as a whole.
    #[must_use]
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), message: message.into(), ..Self::default() }
    }

    /// Adds a piece of advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Returns `file:line:column`, or the file alone.
    #[must_use]
    pub fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}:{}", self.file, self.line, self.column) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place(), self.message)?;
        let indent = self.line.to_string().len();
        if self.line > 0 {
            let (excerpt, column) = window(&self.excerpt, self.column);
            let gap: String = excerpt.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            let rest = excerpt.chars().count().saturating_sub(column - 1).max(1);
            write!(f, "\n {:indent$} | {excerpt}", self.line)?;
            write!(f, "\n {:indent$} | {gap}{}", "", "^".repeat(self.width.clamp(1, rest)))?;
        }
        if let Some(row) = &self.row {
            write!(f, "\n {:indent$} = row: {row}", "")?;
        }
        for help in &self.help {
            let mut lines = help.lines();
            write!(f, "\n {:indent$} = help: {}", "", lines.next().unwrap_or_default())?;
            for line in lines {
                write!(f, "\n {:indent$}         {line}", "")?;
            }
        }
        Ok(())
    }
}

/// Shortens a long line to the part around a column, and drops characters that a terminal cannot show.
fn window(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 160;
    let start = if column > WIDTH { column - WIDTH / 2 } else { 0 };
    let shown: String = line
        .chars()
        .skip(start)
        .take(WIDTH)
        .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
        .collect();
    (shown, (column - start).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_place() {
        let problem = Problem {
            file: "features/a/b.feature".into(),
            line: 12,
            column: 5,
            width: 4,
            message: "there is no keyword \"Givn\"".into(),
            row: Some("type=Ready".into()),
            help: vec!["did you mean \"Given\"?".into()],
            excerpt: "    Givn a ready Node".into(),
        };
        assert_eq!(
            problem.to_string(),
            "features/a/b.feature:12:5: there is no keyword \"Givn\"\n 12 |     Givn a ready Node\n    |     ^^^^\n    \
            = row: type=Ready\n    = help: did you mean \"Given\"?"
        );
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let excerpt = format!("{}x{}", "a".repeat(10_000), "b".repeat(10_000));
        let problem = Problem { line: 1, column: 10_001, width: 30_000, excerpt, ..Problem::default() };
        assert!(problem.to_string().len() < 600);
    }
}
