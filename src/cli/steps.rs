//! `nodeproof steps`: prints the sentences that scenarios are made of.

use std::process::ExitCode;

use super::terminal::line;
use crate::steps::{Sentence, catalogue};

/// Options of `nodeproof steps`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof steps                      how to write a scenario, and all sentences
  nodeproof steps taint keeps          the sentences that hold both words
  nodeproof steps --json | jq -r '.[].words'")]
pub struct Args {
    /// Print only sentences that hold all of these words
    words: Vec<String>,
    /// Print a JSON array, for editors and tools
    #[arg(long)]
    json: bool,
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

The Then lines are one timeline; zero is the instant of the When; their order means nothing. Give a `has … within` a
`keeps … for` beside it, or it proves nothing about when. Say what must not change as well.
  {bound}     within 60s · between 40s and 55s · at 60s · at 60s after Node \"x\" has taint \"…\" · after … · at once
  {for}       for 25s
  {duration}  40s, 5m, 1m30s, 200ms          {condition}  Ready=Unknown          {taint}  key=value:NoExecute
  {object}    Node \"worker-1\", Pod \"web\" or Pod \"ns/web\", the Lease of Node \"worker-1\"
Beside the Nodes that a scenario names there is one healthy Node \"bystander\", unless it says `no other Node`.
Tags: @core @extended @provisional @read-only @slow @req:ID @since:1.32 @until:1.31 @gate:Name @sim-only:why @live-only:why
";

/// Prints the sentences that scenarios are made of.
#[must_use]
pub fn run(args: Args) -> ExitCode {
    let mut sentences = catalogue();
    let wanted = |sentence: &Sentence| {
        let text = format!("{} {} {}", sentence.keywords.join(" "), sentence.words, sentence.says).to_lowercase();
        args.words.iter().all(|word| text.contains(&word.to_lowercase()))
    };
    sentences.retain(wanted);
    if args.json {
        line(serde_json::to_string_pretty(&sentences).expect("sentences are JSON"));
        return ExitCode::SUCCESS;
    }
    if sentences.is_empty() {
        return super::misuse(format!("no sentence holds {}", args.words.join(" and ")));
    }
    if args.words.is_empty() {
        line(GUIDE);
    }
    let mut part = "";
    for sentence in &sentences {
        if sentence.part != part {
            part = sentence.part;
            line(format_args!("{part}\n"));
        }
        line(format_args!("  {}\n    {}  ({})\n", sentence.words, sentence.says, sentence.keywords.join(", ")));
    }
    ExitCode::SUCCESS
}
