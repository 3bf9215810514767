//! The graph of imports between files, from which layers and cycles are computed.
//!
//! Inputs: the files of the two crates. Output: [`Import`]s, each from a `use` or from a path in an expression or type.
//! A re-export is followed to the file that defines the item. Neither `mod x;` nor a re-export that its own file does
//! not use is an import. Left out on purpose: methods, and code that macros write.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{SourceFile, SourceToken};

/// A file that uses a name of another file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Import {
    /// Index of the file that uses the name.
    pub(super) from: usize,
    /// Index of the file that defines the item.
    pub(super) to: usize,
    /// The path as it is written, from the root of its crate.
    pub(super) written: Vec<String>,
    pub(super) line: usize,
    pub(super) test: bool,
}

/// One name that a `use` brings in.
struct Used {
    path: Vec<String>,
    alias: String,
    line: usize,
    test: bool,
    public: bool,
}

/// The contents of one file.
#[derive(Default)]
struct Contents {
    uses: Vec<Used>,
    /// Paths of two or more words outside of `use`.
    paths: Vec<(Vec<String>, usize, bool)>,
    /// Words outside of `use`.
    words: BTreeSet<String>,
    /// Items that it defines.
    items: BTreeSet<String>,
}

struct Graph<'a> {
    modules: BTreeMap<Vec<String>, usize>,
    contents: Vec<Contents>,
    sources: &'a [SourceFile<'a>],
}

/// Finds all imports between the files of the two crates, once each.
pub(super) fn imports(sources: &[SourceFile]) -> Vec<Import> {
    let modules = sources.iter().enumerate().filter(|(_, source)| !source.module.is_empty());
    let modules = modules.map(|(at, source)| (owned(&source.module), at)).collect();
    let contents: Vec<Contents> = sources.iter().map(contents).collect();
    let graph = Graph { modules, contents, sources };
    let mut found = BTreeSet::new();
    for (from, own) in graph.contents.iter().enumerate() {
        let uses = own.uses.iter().filter(|used| !used.public || own.words.contains(&used.alias));
        let uses = uses.map(|used| (&used.path, used.line, used.test));
        for (path, line, test) in uses.chain(own.paths.iter().map(|(path, line, test)| (path, *line, *test))) {
            let Some(mut written) = graph.absolute(from, path) else { continue };
            let Some(to) = graph.owner(&written, 0) else { continue };
            written.truncate(graph.depth(&written) + 1);
            if to != from {
                found.insert(Import { from, to, written, line, test: test || sources[from].test });
            }
        }
    }
    found.into_iter().collect()
}

impl Graph<'_> {
    /// Returns a path from the root of its crate, if it leads into one of the two.
    fn absolute(&self, from: usize, path: &[String]) -> Option<Vec<String>> {
        let own = owned(&self.sources[from].module);
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" if !own.is_empty() => vec![own[0].clone()],
            "self" if !own.is_empty() => own,
            "super" if own.len() > 1 => {
                let up = path.iter().take_while(|word| *word == "super").count();
                let start = own[..own.len().checked_sub(up)?].to_vec();
                return Some([start, path[up..].to_vec()].concat());
            }
            "nodeproof_core" => vec![String::from("core")],
            "nodeproof" => vec![String::from("nodeproof")],
            _ => {
                let child = [own, vec![first.clone()]].concat();
                if self.modules.contains_key(&child) {
                    child
                } else {
                    let used = self.contents[from].uses.iter().find(|used| used.alias == *first)?;
                    if used.path.first() == Some(first) {
                        return None;
                    }
                    self.absolute(from, &used.path)?
                }
            }
        };
        Some([start, rest.to_vec()].concat())
    }

    /// Returns how many words of a path are modules.
    fn depth(&self, path: &[String]) -> usize {
        (1..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth])).unwrap_or(0)
    }

    /// Returns the file that defines what a path leads to; a path to a module alone is no import.
    fn owner(&self, path: &[String], hops: usize) -> Option<usize> {
        let depth = self.depth(path);
        let file = *self.modules.get(&path[..depth])?;
        let Some(name) = path.get(depth).filter(|name| *name != "*") else {
            return (path.len() > depth).then_some(file);
        };
        if hops > 8 || self.contents[file].items.contains(name) {
            return Some(file);
        }
        let uses = &self.contents[file].uses;
        let named = uses.iter().filter(|used| used.alias == *name).find_map(|used| self.absolute(file, &used.path));
        let named = named.or_else(|| {
            let all = uses.iter().filter(|used| used.path.last().is_some_and(|last| last == "*"));
            let mut all = all.filter_map(|used| self.absolute(file, &used.path[..used.path.len() - 1]));
            all.find_map(|module| {
                let contents = &self.contents[*self.modules.get(&module)?];
                let has = contents.items.contains(name) || contents.uses.iter().any(|used| used.alias == *name);
                has.then(|| [module, vec![name.clone()]].concat())
            })
        });
        match named {
            // Items and modules of elsewhere that a file names belong to their own files.
            Some(at) => self.owner(&[at.as_slice(), &path[depth + 1..]].concat(), hops + 1),
            None => Some(file),
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| String::from(*word)).collect()
}

fn contents(source: &SourceFile) -> Contents {
    let mut own = Contents::default();
    let tokens = &source.tokens;
    // How deep the braces are, and where each module within the file began.
    let (mut depth, mut inner) = (0_usize, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let behind = |by: usize| at.checked_sub(by).map_or("", |at| tokens[at].text);
        match token.text {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inner.last() == Some(&depth) {
                    inner.pop();
                }
            }
            "use" if tokens.get(at + 1).is_some_and(|next| next.text != "<") => {
                let end = tokens[at..].iter().position(|token| token.text == ";").map_or(tokens.len(), |end| at + end);
                let public = behind(1) == "pub" || (behind(1) == ")" && (2..8).any(|by| behind(by) == "pub"));
                let mut names = Vec::new();
                branches(&tokens[at + 1..end], &[], &mut names);
                for (path, alias) in names {
                    let path = seen_from_the_file(path, inner.len());
                    own.uses.push(Used { path, alias, line: token.line, test: token.test, public });
                }
                at = end;
            }
            "mod" if tokens.get(at + 2).is_some_and(|next| next.text == "{") => inner.push(depth),
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "macro_rules" => {
                let name = tokens[at + 1..].iter().find(|next| next.is_word());
                own.items.extend(name.map(|name| String::from(name.text)));
            }
            _ if token.is_word() && !matches!(behind(1), "::" | "." | "$" | "'") => {
                own.words.insert(String::from(token.text));
                let mut path = vec![String::from(token.text)];
                let mut last = at;
                while tokens.get(last + 1).is_some_and(|next| next.text == "::") {
                    let Some(next) = tokens.get(last + 2).filter(|next| next.is_word()) else { break };
                    path.push(String::from(next.text));
                    last += 2;
                }
                if path.len() > 1 {
                    own.paths.push((seen_from_the_file(path, inner.len()), token.line, token.test));
                }
                at = last;
            }
            _ => {}
        }
        at += 1;
    }
    own
}

/// Takes away what leads out of modules within the file.
fn seen_from_the_file(mut path: Vec<String>, inner: usize) -> Vec<String> {
    for _ in 0..inner {
        if path.first().is_some_and(|first| first == "super") {
            path[0] = String::from("self");
            if path.get(1).is_some_and(|second| second == "super") {
                path.remove(0);
            }
        }
    }
    path
}

/// Takes the tree of one `use` apart into paths and the names they go by.
fn branches(tokens: &[SourceToken], before: &[String], names: &mut Vec<(Vec<String>, String)>) {
    let mut path = before.to_vec();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "{" => {
                let (mut start, mut depth) = (at + 1, 0);
                for (end, token) in tokens.iter().enumerate().skip(at) {
                    match token.text {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    if (token.text == "," && depth == 1) || depth == 0 {
                        if start < end {
                            branches(&tokens[start..end], &path, names);
                        }
                        start = end + 1;
                    }
                    if depth == 0 {
                        return;
                    }
                }
                return;
            }
            "as" => {
                let alias = tokens.get(at + 1).map_or("", |alias| alias.text);
                names.push((path, String::from(alias)));
                return;
            }
            "::" => {}
            // `a::{self}` is `a`.
            "self" if !path.is_empty() => {}
            word => path.push(String::from(word)),
        }
        at += 1;
    }
    let alias = path.last().cloned().unwrap_or_default();
    names.push((path, alias));
}
