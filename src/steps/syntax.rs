//! Parses the pattern of a sentence, and prints it as a sentence.
//!
//! Input: a regular expression of an attribute. Output: the sentence as people write it, or a group of it. Pure
//! functions.

/// Turns a pattern into the sentence that people write: `(?P<node>[^"]*)` becomes `{node}`.
pub(super) fn render(pattern: &str) -> String {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let pattern = pattern.strip_suffix('$').unwrap_or(pattern);
    let mut shown = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '(' {
            let (group, tail) = group(rest);
            let (optional, tail) = match tail.strip_prefix('?') {
                Some(tail) => (true, tail),
                None => (false, tail.strip_prefix('*').unwrap_or(tail)),
            };
            let inner = render_group(group);
            shown += &match group {
                group if is_bound(group) => format!("{}{}", if shown.ends_with(' ') { "" } else { " " }, inner.trim()),
                _ if optional => format!("[{inner}]"),
                _ => inner,
            };
            rest = tail;
        } else if c == '\\' {
            shown.extend(rest.chars().nth(1));
            rest = &rest[1 + rest[1..].chars().next().map_or(0, char::len_utf8)..];
        } else {
            let tail = &rest[c.len_utf8()..];
            match tail.strip_prefix('?') {
                Some(tail) if c == '"' => rest = tail,
                Some(tail) => {
                    shown += &format!("[{c}]");
                    rest = tail;
                }
                None => {
                    shown.push(c);
                    rest = tail;
                }
            }
        }
    }
    shown
}

/// Splits a pattern that begins with a parenthesis into the content of the group and the rest.
pub(super) fn group(pattern: &str) -> (&str, &str) {
    let mut depth = 0;
    let mut in_class = false;
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => {}
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => {
                depth -= 1;
                if depth == 0 {
                    return (&pattern[1..at], &pattern[at + 1..]);
                }
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    (&pattern[1..], "")
}

fn render_group(group: &str) -> String {
    if let Some(inner) = group.strip_prefix("?:") {
        return render(inner);
    }
    let Some((name, inner)) = group.strip_prefix("?P<").and_then(|rest| rest.split_once('>')) else {
        return format!("{{{group}}}");
    };
    let words = words(inner);
    if words.is_empty() { format!("{{{name}}}") } else { words.join("|") }
}

/// Returns the words of a group that is a choice of words, `stops|is killed`, with those of the choices in it,
/// `to (?:a|b)`; none for another group.
pub(super) fn words(group: &str) -> Vec<String> {
    let Some((before, choice)) = group.split_once("(?:") else {
        let is_of_words = group.chars().all(|c| c.is_alphanumeric() || " -|':".contains(c));
        return if is_of_words { group.split('|').map(str::to_owned).collect() } else { Vec::new() };
    };
    let Some((inner, after)) = choice.split_once(')').filter(|(_, after)| !after.starts_with(['?', '*', '+'])) else {
        return Vec::new();
    };
    let (first, begin) = before.rsplit_once('|').map_or(("", before), |(first, begin)| (first, begin));
    let (end, last) = after.split_once('|').map_or((after, ""), |(end, last)| (end, last));
    let spelt = inner.split('|').map(|word| format!("{begin}{word}{end}"));
    let parts = [first.to_owned()].into_iter().chain(spelt).chain([last.to_owned()]);
    words(&parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("|"))
}

/// Tells whether a group is the bound, which only a `Given` may leave out.
fn is_bound(group: &str) -> bool {
    group.starts_with("?P<bound>") || group.starts_with("?P<for>")
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn patterns_are_shown_as_people_write_them() {
        for (pattern, words) in [
            (r#"^a ready Node "(?P<node>[^"]*)"$"#, r#"a ready Node "{node}""#),
            (r#"^the kubelet on "(?P<n>[^"]*)" (?P<what>stops|is killed)$"#, r#"the kubelet on "{n}" stops|is killed"#),
            (r"^(?P<time>\S+) pass(?:es)?$", "{time} pass[es]"),
            (r"^a cloud(?P<with> with the instances:)?$", "a cloud[ with the instances:]"),
            (r"^it (?P<what>is gone|becomes:)$", "it is gone|becomes:"),
            (r"^(?P<list>(?:a|b) [^)]*) \(x\)$", "{list} (x)"),
            (r"^it is (?P<bound>within .*)$", "it is {bound}"),
            (r"^its (?P<part>way (?:to|from) it|net)$", "its way to it|way from it|net"),
            (r#"^it has "?(?P<word>[^"]*)"?(?P<also> too)?(?P<bound>,? .*)?$"#, "it has {word}[ too] {bound}"),
        ] {
            assert_eq!(render(pattern), words);
        }
    }
}
