//! A file of the tree, and its Rust code as tokens without comments and the contents of strings.
//!
//! Inputs: a path below the root and a text. Output: a [`SourceFile`], whose tokens have their line and say whether
//! they belong to a test. Invariant: text in a comment or a string is no token.

/// A word, a `::`, an empty string for a literal, or any other sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceToken<'a> {
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
    /// Whether it stands behind `#[cfg(test)]`.
    pub(super) test: bool,
}

impl SourceToken<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(is_of_a_word)
    }
}

/// One file.
pub(super) struct SourceFile<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
    /// Empty unless it is Rust.
    pub(super) tokens: Vec<SourceToken<'a>>,
    /// Its module path, the crate first: `core`, `objects`, `json`. Empty outside of the two crates.
    pub(super) module: Vec<&'a str>,
    /// Whether its parent declares it for tests alone.
    pub(super) test: bool,
}

impl<'a> SourceFile<'a> {
    pub(super) fn new(path: &'a str, text: &'a str) -> Self {
        let mut tokens = if path.ends_with(".rs") { tokens(text) } else { Vec::new() };
        mark_tests(&mut tokens);
        SourceFile { path, text, tokens, module: module(path), test: false }
    }

    /// Returns the tokens outside of tests.
    pub(super) fn product(&self) -> impl Iterator<Item = &SourceToken<'a>> {
        self.tokens.iter().filter(|token| !self.test && !token.test)
    }
}

/// Reads files, and marks those that a parent declares for tests.
pub(super) fn tree<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<SourceFile<'a>> {
    let mut sources: Vec<SourceFile> = files.into_iter().map(|(path, text)| SourceFile::new(path, text)).collect();
    let mut tests = Vec::new();
    for source in sources.iter().filter(|source| !source.module.is_empty()) {
        for pair in source.tokens.windows(3) {
            if pair[0].test && pair[0].text == "mod" && pair[2].text == ";" {
                tests.push([source.module.as_slice(), &[pair[1].text]].concat());
            }
        }
    }
    for source in &mut sources {
        source.test = source.path.starts_with("tests/") || tests.iter().any(|test| source.module.starts_with(test));
    }
    sources
}

fn module(path: &str) -> Vec<&str> {
    let (crate_name, inside) = match (path.strip_prefix("core/src/"), path.strip_prefix("src/")) {
        (Some(inside), _) => ("core", inside),
        (_, Some(inside)) if inside != "main.rs" && inside != "conformance.rs" => ("nodeproof", inside),
        _ => return Vec::new(),
    };
    let inside = inside.trim_end_matches(".rs");
    let mut module = vec![crate_name];
    module.extend(inside.split('/').filter(|name| *name != "mod" && *name != "lib"));
    module
}

fn is_of_a_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn tokens(text: &str) -> Vec<SourceToken<'_>> {
    let words = pieces(text).into_iter().filter_map(|(_, word, line)| Some((word?, line)));
    words.map(|(text, line)| SourceToken { text, line, test: false }).collect()
}

/// Returns the lines without comments and the contents of strings.
pub(super) fn code(text: &str) -> impl Iterator<Item = String> {
    let mut code = String::new();
    for (piece, word, _) in pieces(text) {
        match word.filter(|word| !word.is_empty()) {
            Some(word) => code.push_str(word),
            None if piece.trim().is_empty() => code.push_str(piece),
            None => code.extend(piece.matches('\n')),
        }
    }
    let lines: Vec<String> = code.lines().map(String::from).collect();
    lines.into_iter()
}

/// Splits a text into pieces: each with its token, if it is one, and its line. A literal is an empty token.
fn pieces(text: &str) -> Vec<(&str, Option<&str>, usize)> {
    let mut pieces = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        let (length, seen) = match letter {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), None),
            '/' if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |end| end + 2), None),
            '"' => (quoted(rest), Some("")),
            'r' | 'b' if raw(rest).is_some() => (raw(rest).unwrap_or(1), Some("")),
            '\'' => match letter_literal(rest) {
                Some(length) => (length, Some("")),
                None => (1, Some("'")),
            },
            ':' if rest.starts_with("::") => (2, Some("::")),
            _ if is_of_a_word(letter) => {
                let length = rest.find(|letter| !is_of_a_word(letter)).unwrap_or(rest.len());
                (length, Some(&rest[..length]))
            }
            _ if letter.is_whitespace() => (letter.len_utf8(), None),
            _ => (letter.len_utf8(), Some(&rest[..letter.len_utf8()])),
        };
        pieces.push((&rest[..length], seen, line));
        line += rest[..length].matches('\n').count();
        at += length;
    }
    pieces
}

/// Returns the length of the string that `rest` begins with.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns the length of the raw string that `rest` begins with, if it is one.
fn raw(rest: &str) -> Option<usize> {
    let start = rest.trim_start_matches('b').strip_prefix('r')?;
    let marks = start.len() - start.trim_start_matches('#').len();
    let inside = start[marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(rest.len() - inside.len() + length)
}

/// Returns the length of the literal of one letter that `rest` begins with; a lifetime is none.
fn letter_literal(rest: &str) -> Option<usize> {
    let inside = &rest[1..];
    match inside.strip_prefix('\\') {
        Some(escape) => Some(4 + escape[1..].find('\'')?),
        None => {
            let length = inside.chars().next()?.len_utf8();
            inside[length..].starts_with('\'').then_some(length + 2)
        }
    }
}

fn mark_tests(tokens: &mut [SourceToken]) {
    let mut at = 0;
    while at < tokens.len() {
        let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
        if tokens[at..].iter().map(|token| token.text).take(attribute.len()).eq(attribute) {
            let end = at + attribute.len() + item(&tokens[at + attribute.len()..]);
            tokens[at..end].iter_mut().for_each(|token| token.test = true);
            at = end;
        } else {
            at += 1;
        }
    }
}

/// Returns how many tokens the first item takes: to the end of its braces, or to a `;` or `,` outside of all brackets.
fn item(tokens: &[SourceToken]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return at;
        }
        if depth == 0 && matches!(token.text, ";" | "," | "}") {
            return at + 1;
        }
    }
    tokens.len()
}
