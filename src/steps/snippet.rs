//! A function to paste for a sentence that does not exist; whatever the step says, it is valid Rust.

use gherkin::Step;

use super::catalogue::keyword_name;

/// Words that cannot name a function (The Rust Reference, "Keywords": strict and reserved, edition 2024).
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_", "Self",
];
/// The names of the first arguments.
const ARGUMENTS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

/// Returns a function for a step; each text in quotes is an argument.
pub(super) fn snippet(step: &Step) -> String {
    let (mut pattern, mut arguments, mut words) = (String::new(), String::new(), String::new());
    let parts: Vec<&str> = step.value.split('"').collect();
    for (index, part) in parts.iter().enumerate() {
        // The last text has no end where a quotation mark is missing.
        let is_quoted = index % 2 == 1 && index + 1 < parts.len();
        if is_quoted {
            let number = index / 2;
            let argument = ARGUMENTS.get(number).map_or_else(|| format!("text_{}", number + 1), |it| (*it).to_owned());
            pattern += &format!("\"(?P<{argument}>[^\"]*)\"");
            arguments += &format!(", {argument}: String");
        } else {
            let quote = if index % 2 == 1 { "\"" } else { "" };
            pattern += &format!("{quote}{}", regex::escape(part));
            words = format!("{words} {part}");
        }
    }
    let (keyword, name) = (keyword_name(step.ty), function_name(&words));
    format!("#[{keyword}(regex = r#\"^{pattern}$\"#)]\nfn {name}(draft: &mut Draft{arguments}) {{ todo!() }}")
}

fn function_name(words: &str) -> String {
    let ascii: String = words.chars().map(|c| if c.is_ascii() { c } else { ' ' }).collect();
    let name = crate::load::slug(&ascii);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("step_{name}").trim_end_matches('_').to_owned();
    }
    if KEYWORDS.contains(&name.as_str()) { format!("{name}_") } else { name }
}

#[cfg(test)]
mod tests {
    use gherkin::StepType;

    use super::*;

    fn of(value: &str) -> String {
        snippet(&Step {
            keyword: "When ".to_owned(),
            ty: StepType::When,
            value: value.to_owned(),
            docstring: None,
            table: None,
            span: gherkin::Span { start: 0, end: 0 },
            position: gherkin::LineCol { line: 1, col: 1 },
        })
    }

    #[test]
    fn the_function_is_valid_rust() {
        for (value, name) in [
            ("the operator replaces \"w\"", "the_operator_replaces"),
            ("3 Nodes go", "step_3_nodes_go"),
            ("match", "match_"),
            ("\"w\"", "step"),
            ("der Knoten f\u{e4}llt aus", "der_knoten_f_llt_aus"),
            ("\u{b9}\u{bd}", "step"),
        ] {
            assert!(of(value).contains(&format!("\nfn {name}(draft: &mut Draft")), "{}", of(value));
        }
        let many = of(r#""1" "2" "3" "4" "5" "6" "7""#);
        assert!(many.contains("fifth: String, text_6: String, text_7: String) { todo!() }"), "{many}");
        let open = of("a \"b");
        assert!(open.contains("r#\"^a \"b$\"#)]\nfn a_b(draft: &mut Draft)"), "{open}");
        let marked = of("a \"b\"# c");
        assert!(marked.contains("r#\"^a \"(?P<first>[^\"]*)\"\\# c$\"#"), "{marked}");
    }
}
