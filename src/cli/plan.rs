//! `nodeproof plan`: when Pods leave lost nodes, and when they come back.

#[cfg(feature = "live")]
mod context;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use jiff::SignedDuration;
use nodeproof_core::objects::{Json, Text};
use nodeproof_core::profile::{DEFAULT_RELEASE, Release};
use nodeproof_core::sim::DEFAULT_START;

use super::control::setting;
use super::progress::Progress;
use super::terminal::{line, text};
use super::{duration, misuse, output_file};
use crate::control::Setup;
use crate::harness::{Seeds, parse_release, parse_seed};
use crate::picture::{Page, Shown, page, svg};
use crate::plan::{self, Down, How, LeftOut, Node, Question, Workloads};
use crate::steps::documents;

/// How long at most is waited after the return.
const PATIENCE: SignedDuration = SignedDuration::from_mins(30);
/// How many nodes a cluster has at most: twice the 5,000 for which Kubernetes is made, which take minutes.
const NODES_MAX: usize = 10_000;
/// How long a loss lasts at most: the simulation steps through each heartbeat of the other nodes.
const LASTS_MAX: SignedDuration = SignedDuration::from_hours(24 * 31);

/// Options of `nodeproof plan`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nodeproof plan --down zone-a                              a zone of three loses its network for 20 minutes
  nodeproof plan --nodes 40 --zones 4 --down zone-a --down zone-b --for 1h
  nodeproof plan --down 2 --how power-off --for 10m         two nodes lose power
  nodeproof plan --down zone-a --how upgrade                drained, rebooted, uncordoned in turn
  nodeproof plan --down a-1 --set node-monitor-grace-period=20s
  nodeproof plan --down zone-a --pods deployment.yaml --compare 1.31,1.34
  nodeproof plan --down zone-a --json | jq .pods
  nodeproof plan --down zone-a --compare 1.31,1.34 --html plan.html
  nodeproof plan --from-context prod --down eu-central-1a   for the cluster of a context, which is only read

The cluster is simulated: docs/plan.md says what runs on it, and what the answer leaves out.")]
pub struct PlanArgs {
    /// Number of nodes, spread over the zones: a-1 in zone-a, b-1 in zone-b and so on
    #[arg(long, value_name = "N", default_value_t = 12)]
    nodes: usize,
    /// Number of zones
    #[arg(long, value_name = "N", default_value_t = 3)]
    zones: usize,
    #[cfg(feature = "live")]
    #[command(flatten)]
    context: context::ContextArgs,
    /// What is lost: a zone, a node, or a number of nodes; can be repeated
    #[arg(long, value_name = "WHAT", required = true)]
    down: Vec<String>,
    /// How it is lost, or taken away on purpose
    #[arg(long, value_enum, default_value_t = How::Partition)]
    how: How,
    /// For how long, as 20m or 90s
    #[arg(
        long = "for", value_name = "DURATION", default_value = "20m", value_parser = duration,
        allow_hyphen_values = true
    )]
    lasts: SignedDuration,
    /// Release of Kubernetes, as 1.34 or 1.34.4; default: that of the cluster of --from-context, or else 1.34
    #[arg(long, value_name = "RELEASE", value_parser = parse_release)]
    k8s: Option<Release>,
    /// Releases to compare, as 1.31,1.34
    #[arg(long, value_name = "RELEASES", value_parser = parse_release, value_delimiter = ',', conflicts_with = "k8s")]
    compare: Vec<Release>,
    /// Setting of the control plane or of each kubelet, as node-monitor-grace-period=40s; can be repeated
    #[arg(long, value_name = "[COMPONENT.]FLAG=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// File with what runs on the cluster, YAML: Deployments, StatefulSets, Pods, budgets; can be repeated
    #[arg(long, value_name = "FILE")]
    pods: Vec<PathBuf>,
    /// Seed of all free choices
    #[arg(long, value_name = "N", value_parser = parse_seed, default_value_t = 1)]
    seed: u64,
    /// Answer under each of these seeds, and print the range of each figure
    #[arg(long, value_name = "A..B", value_parser = Seeds::parse, conflicts_with_all = ["seed", "html", "svg"])]
    seeds: Option<Seeds>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the answer as one HTML file as well: a picture for each release
    #[arg(long, value_name = "FILE", value_parser = output_file())]
    html: Option<PathBuf>,
    /// Draw the answer as well: when Nodes are lost and Pods leave
    #[arg(long, value_name = "FILE", value_parser = output_file(), conflicts_with = "compare")]
    svg: Option<PathBuf>,
}

/// Asks, and prints the answer.
#[must_use]
pub fn run(args: &PlanArgs) -> ExitCode {
    match answer(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misuse(message),
    }
}

/// What a question is about.
#[derive(Clone)]
struct AskedCluster {
    nodes: Vec<Node>,
    workloads: Workloads,
    left_out: Vec<LeftOut>,
    /// The release unless options say otherwise.
    release: Release,
}

impl AskedCluster {
    fn of(args: &PlanArgs) -> Result<Self, String> {
        #[cfg(feature = "live")]
        if let Some(context) = &args.context.from_context {
            return args.context.read(context);
        }
        if args.nodes == 0 || args.zones == 0 {
            return Err("--nodes and --zones must be more than nothing".to_owned());
        }
        if args.nodes > NODES_MAX {
            return Err(format!("a cluster has at most {NODES_MAX} nodes, not {}", args.nodes));
        }
        if args.zones > args.nodes {
            return Err(format!("{} zones need as many nodes, not {}", args.zones, args.nodes));
        }
        let workloads = workloads(&args.pods)?;
        let nodes = plan::spread(args.nodes, args.zones);
        Ok(Self { nodes, workloads, left_out: Vec::new(), release: DEFAULT_RELEASE })
    }
}

fn answer(args: &PlanArgs) -> Result<(), String> {
    if args.lasts.is_zero() {
        return Err("--for must be more than nothing".to_owned());
    }
    if args.lasts > LASTS_MAX {
        return Err(format!("--for can be {} at most", plan::length(LASTS_MAX)));
    }
    let cluster = AskedCluster::of(args)?;
    let releases =
        if args.compare.is_empty() { vec![args.k8s.unwrap_or(cluster.release)] } else { args.compare.clone() };
    let seeds = args.seeds.unwrap_or(Seeds::one(args.seed));
    let asked = releases.into_iter().flat_map(|release| seeds.iter().map(move |seed| (release, seed)));
    let questions = asked.map(|(release, seed)| question(args, release, seed, cluster.clone()));
    let questions = questions.collect::<Result<Vec<Question>, String>>()?;
    questions.iter().try_for_each(|question| question.lost().map(drop))?;
    let progress = Progress::new(questions.len());
    let mut answers = Vec::new();
    for question in &questions {
        let name = format!("Kubernetes {}, seed {}", question.release, question.seed);
        progress.begin(&name);
        let answer = plan::answer(question);
        progress.done(&name, answer.is_err());
        answers.push(answer?);
    }
    drop(progress);
    draw(args, &answers)?;
    match answers.as_slice() {
        [answer] if args.json => line(answer.json()),
        answers if args.json => line(answers.iter().map(plan::Answer::json).collect::<Json>()),
        [answer] => text(&plan::text(answer)),
        answers => text(&plan::compared(answers)),
    }
    Ok(())
}

/// Writes the files that were asked for.
fn draw(args: &PlanArgs, answers: &[plan::Answer]) -> Result<(), String> {
    let write = |path: &Path, text: String| {
        std::fs::write(path, text).map_err(|error| format!("{}: it cannot be written: {error}", path.display()))
    };
    if let (Some(path), Some(answer)) = (&args.svg, answers.first()) {
        write(path, svg(&plan::picture(answer)) + "\n")?;
    }
    let Some(path) = &args.html else { return Ok(()) };
    let shown = |answer: &plan::Answer| Shown {
        name: plan::picture(answer).title,
        verdict: "answer",
        is_failure: true,
        text: plan::text(answer),
        pictures: vec![(String::new(), plan::picture(answer))],
        ..Shown::default()
    };
    let mut shown: Vec<Shown> = answers.iter().map(shown).collect();
    if answers.len() > 1 {
        let (name, text) = (String::from("side by side"), plan::compared(answers));
        shown.insert(0, Shown { name, verdict: "answer", is_failure: true, text, ..Shown::default() });
    }
    let about = format!("plan: {} for {}", args.down.join(", "), plan::length(args.lasts));
    write(path, page(&Page { about, problems: Vec::new(), scenarios: shown }))
}

fn question(args: &PlanArgs, release: Release, seed: u64, cluster: AskedCluster) -> Result<Question, String> {
    let setup = Setup::new(release, seed, DEFAULT_START, args.set.clone(), Json::object());
    let setup = setup.map_err(|error| error.to_string())?;
    Ok(Question {
        release,
        settings: setup.options().settings,
        seed,
        down: args.down.iter().map(|what| down(what, &cluster.nodes)).collect(),
        nodes: cluster.nodes,
        how: args.how,
        lasts: args.lasts,
        heals: true,
        patience: PATIENCE,
        workloads: cluster.workloads,
        left_out: cluster.left_out,
    })
}

/// Reads what is lost: a number, a zone, or else a node.
fn down(what: &str, nodes: &[Node]) -> Down {
    match what.parse() {
        Ok(count) => Down::Count(count),
        Err(_) if nodes.iter().any(|node| node.name == *what) => Down::Node(Text::from(what)),
        Err(_) => Down::Zone(Text::from(what)),
    }
}

fn workloads(files: &[PathBuf]) -> Result<Workloads, String> {
    if files.is_empty() {
        return Ok(Workloads::Default);
    }
    let mut objects = Vec::new();
    for file in files {
        objects.extend(objects_in(file)?);
    }
    Ok(Workloads::Given(objects))
}

/// Reads the objects of a file, each with its place.
fn objects_in(file: &Path) -> Result<Vec<(String, Json)>, String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let found = documents(&text).map_err(|(line, message)| format!("{shown}:{line}: {message}"))?;
    let mut objects = Vec::new();
    for (line, object) in found {
        let place = format!("{shown}:{line}");
        // What `kubectl get -o yaml` prints of several objects.
        if object.get("kind").as_str() == Some("List") {
            objects.extend(object.get("items").items().iter().map(|item| (place.clone(), item.clone())));
        } else {
            objects.push((place, object));
        }
    }
    Ok(objects)
}
