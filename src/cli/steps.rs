//! `nodeproof steps`: prints the sentences that scenarios are made of, for people, pages and editors.

use std::process::ExitCode;
use std::sync::LazyLock;

use regex::Regex;

use super::terminal::{line, text};
use crate::harness::built_in_features;
use crate::picture::PAGE_STYLE;
use crate::steps::{Sentence, catalogue, with_examples};

/// Options of `nodeproof steps`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof steps                      how to write a scenario, and all sentences
  nodeproof steps taint keeps          the sentences that hold both words
  nodeproof steps --markdown > sentences.md
  nodeproof steps --html > sentences.html      a page with a search
  nodeproof steps --index > .vscode/nodeproof_steps.js
  nodeproof steps --json | jq -r '.[] | \"\\(.source) \\(.pattern)\"'

--index is an index for the Cucumber plug-ins of editors, as a file of JavaScript: docs/editors.md says how VS Code \
takes it. --json is one for other tools: keywords, pattern (with {parameters}), regex, parameters (name, type, \
optional, and values where it is one of some words), says, part, examples (steps of the features that say it), source \
(file:line).")]
pub struct StepsArgs {
    /// Print only sentences that hold all of these words
    words: Vec<String>,
    /// Print a JSON array, for editors and tools
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a page of Markdown
    #[arg(long, conflicts_with = "html")]
    markdown: bool,
    /// Print one HTML file with a search
    #[arg(long, conflicts_with = "json")]
    html: bool,
    /// Print an index that the Cucumber plug-ins of editors read
    #[arg(long, conflicts_with_all = ["json", "markdown", "html"])]
    index: bool,
}

/// How to write a scenario, above the sentences.
const GUIDE: &str = "\
A scenario stands in features/<area>/<topic>.feature and is run by the next `cargo test` or `nodeproof run`:

  @core @req:NC-03 @since:1.32
  Feature: A node that stops reporting becomes unreachable
    Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.34), tryUpdateNodeHealth

    Rule: Without heartbeats for the grace period, the conditions that the kubelet owns become Unknown

      Scenario: The kubelet is killed
        Given a ready Node \"worker-1\"
        When the kubelet on \"worker-1\" is killed
        Then Node \"worker-1\" keeps condition Ready=True for 39s
        And Node \"worker-1\" has condition Ready=Unknown, reason \"NodeStatusUnknown\", between 39s and 56s

An act is one or more When lines and the Then lines up to the next When. Its Then lines are one timeline; their order
means nothing. Zero is when the last of its When lines has taken effect: with `And 2m pass` the lines above lie two
minutes before zero. What is timed from a line wants that line to be the last of its act: When, Then, When, Then.
Give a `has … within` a `keeps … for` beside it, or it proves nothing about when. Say what must not change as well.
  {bound}     within 60s · between 40s and 55s · at 60s · at 60s after Node \"x\" has taint \"…\" · after … · at once
              none in a Given or When: it waits until it is so
              what is true already does not become so: what comes back is told in an act of its own
  {for}       for 25s
              a limit may be told by --node-monitor-grace-period, so that it fits each release and each flag:
              between the grace period less 11s and the grace period and 6s
  {duration}  40s, 5m, 1m30s, 200ms          {condition}  Ready=Unknown          {taint}  key=value:NoExecute
  {object}    Node \"worker-1\", Pod \"web\" or Pod \"ns/web\", the Lease of Node \"worker-1\"; in sentences about
              conditions, fields, Events and snapshots any kind, as PersistentVolumeClaim \"data\", and
              the EndpointSlice of Service \"web\"
Beside the Nodes that a scenario names there is one healthy Node \"bystander\", unless it says `no other Node`.
Tags: @core @extended @provisional @read-only @slow @req:ID @since:1.32 @until:1.31 @gate:Name @custom:NAME \
@sim-only:why @live-only:why
";

/// Prints the sentences that scenarios are made of.
#[must_use]
pub fn run(args: &StepsArgs) -> ExitCode {
    let mut sentences = catalogue();
    let wanted = |sentence: &Sentence| {
        let text = format!("{} {} {}", sentence.keywords.join(" "), sentence.pattern, sentence.says).to_lowercase();
        args.words.iter().all(|word| text.contains(&word.to_lowercase()))
    };
    sentences.retain(wanted);
    if args.index {
        text(&index(&sentences));
        return ExitCode::SUCCESS;
    }
    if sentences.is_empty() && !args.json {
        return super::misuse(format!("no sentence holds {}", args.words.join(" and ")));
    }
    if args.json || args.markdown || args.html {
        sentences = with_examples(sentences, &built_in_features());
    }
    if args.json {
        line(serde_json::to_string_pretty(&sentences).expect("sentences are JSON"));
    } else if args.markdown {
        text(&page(&sentences));
    } else if args.html {
        text(&html(&sentences));
    } else {
        if args.words.is_empty() {
            line(GUIDE);
        }
        print(&sentences);
    }
    ExitCode::SUCCESS
}

fn print(sentences: &[Sentence]) {
    let mut part = "";
    for sentence in sentences {
        if sentence.part != part {
            part = sentence.part;
            line(format_args!("{part}\n"));
        }
        line(format_args!("  {}\n    {}  ({})\n", sentence.pattern, sentence.says, sentence.keywords.join(", ")));
    }
}

/// Writes the reference as a page.
fn page(sentences: &[Sentence]) -> String {
    let mut page = String::from("# The sentences of scenarios\n\n");
    let code = |text: &str| format!("```text\n{}\n```\n", text.trim_end());
    page += &code(GUIDE);
    let mut part = "";
    for sentence in sentences {
        if sentence.part != part {
            part = sentence.part;
            page += &format!("\n## {part}\n");
        }
        let source = &sentence.source;
        page += &format!("\n### `{}`\n\n", sentence.pattern);
        page += &format!("{} ({}; {source})\n", sentence.says, sentence.keywords.join(", "));
        for parameter in &sentence.parameters {
            let optional = if parameter.optional { ", may be left out" } else { "" };
            let values: Vec<String> = parameter.values.iter().map(|value| format!("`{value}`")).collect();
            let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
            page += &format!("- `{}`: {}{values}{optional}\n", parameter.name, parameter.kind);
        }
        if !sentence.examples.is_empty() {
            page += &format!("\n{}", code(&sentence.examples.join("\n")));
        }
    }
    page
}

/// Writes the reference as one HTML file with a search.
fn html(sentences: &[Sentence]) -> String {
    let mut parts: Vec<(&str, Vec<minijinja::Value>)> = Vec::new();
    for (number, sentence) in sentences.iter().enumerate() {
        let parameters = sentence.parameters.iter().map(|parameter| {
            minijinja::context! {
                name => &parameter.name, kind => parameter.kind.to_string(), values => &parameter.values,
                optional => parameter.optional,
            }
        });
        let shown = minijinja::context! {
            id => format!("sentence-{}", number + 1), pattern => &sentence.pattern, says => &sentence.says,
            keywords => &sentence.keywords, examples => &sentence.examples, source => &sentence.source,
            parameters => parameters.collect::<Vec<_>>(),
        };
        match parts.last_mut() {
            Some((part, own)) if *part == sentence.part => own.push(shown),
            _ => parts.push((sentence.part, vec![shown])),
        }
    }
    let parts: Vec<_> = parts
        .into_iter()
        .map(|(name, sentences)| minijinja::context! { name => name, sentences => sentences })
        .collect();
    let mut environment = minijinja::Environment::new();
    environment.add_template("steps.html", include_str!("steps.html")).expect("the template is well-formed");
    let template = environment.get_template("steps.html").expect("it was added");
    let context = minijinja::context! {
        style => PAGE_STYLE, guide => GUIDE, version => env!("CARGO_PKG_VERSION"), sentences => sentences.len(),
        parts => parts,
    };
    template.render(context).expect("the template asks for what it gets")
}

/// Writes the sentences as step definitions of Cucumber.js, which plug-ins of editors look for: they read them and
/// never run them. JavaScript names no groups as Rust does.
fn index(sentences: &[Sentence]) -> String {
    let mut index = String::from("// Written by `nodeproof steps --index`: for editors, and never run.\n");
    index += "const { Given, When, Then } = require('@cucumber/cucumber');\n";
    for sentence in sentences {
        let regex = NAMED.replace_all(&sentence.regex, "(").replace('/', "\\/");
        let keyword = match sentence.keywords.first().copied() {
            Some("when") => "When",
            Some("then") => "Then",
            _ => "Given",
        };
        let says = sentence.says.lines().next().unwrap_or_default().replace("*/", "* /");
        index += &format!("\n/** {says} */\n{keyword}(/{regex}/, () => {{}});\n");
    }
    index
}

/// The names of groups.
static NAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\(\?P<[^>]*>").expect("the pattern is well-formed"));
